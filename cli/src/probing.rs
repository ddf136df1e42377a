//! `petrov probe` and `petrov line`.

use std::io::Write;

use petrov_games::draughts::{Colour, Game, Position};
use petrov_probe::{BlockCache, Distance, Prober, RankedMove, RootProbe};
use serde::Serialize;

use crate::args::{LineOptions, PositionOptions};
use crate::board;
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;
use crate::stream::{STANDARD_INPUT, each_position, one_position};
use crate::words::{self, Columns};

/// `null` for a draw, no key without a table.
type Plies = Option<Option<u16>>;

fn plies(distance: Distance) -> Plies {
    match distance {
        Distance::Unknown => None,
        Distance::Never => Some(None),
        Distance::Plies(plies) => Some(Some(plies)),
    }
}

#[derive(Serialize)]
struct ProbeDocument<'a> {
    value: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtw: Plies,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtz: Plies,
    moves: Vec<MoveDocument<'a>>,
}

#[derive(Serialize)]
struct MoveDocument<'a> {
    #[serde(rename = "move")]
    text: &'a str,
    value: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtw: Plies,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtz: Plies,
}

impl<'a> ProbeDocument<'a> {
    fn new(root: &'a RootProbe) -> Self {
        Self {
            value: root.value.name(),
            dtw: plies(root.dtw),
            dtz: plies(root.dtz),
            moves: root
                .moves
                .iter()
                .map(|ranked| MoveDocument {
                    text: &ranked.text,
                    value: ranked.value.name(),
                    dtw: plies(ranked.dtw),
                    dtz: plies(ranked.dtz),
                })
                .collect(),
        }
    }
}

/// Looks positions up.
pub(crate) fn probe(options: &PositionOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    let game = setting.game(&options.game)?;
    if options.fen == STANDARD_INPUT {
        let tables = setting.tables(BlockCache::default())?;
        let prober = tables.prober(game)?;
        return each_position(game, options.json, output, |position, output| {
            let root = prober.root(position)?;
            if options.json {
                return output.json(&ProbeDocument::new(&root));
            }
            let result = words::result(root.value, root.dtw, position.turn);
            writeln!(output, "{}  {result}", game.format_fen(position))?;
            Ok(())
        });
    }
    // A wrong position is said to be wrong whether or not there are tables.
    let position = one_position(game, &options.fen)?;
    let tables = setting.tables(BlockCache::default())?;
    let root = tables.prober(game)?.root(&position)?;
    if options.json {
        return output.json(&ProbeDocument::new(&root));
    }
    show_position(game, &position, output)?;
    write!(output, "{}", words::result(root.value, root.dtw, position.turn))?;
    if let Some(conversion) = words::conversion(root.dtz) {
        write!(output, "; {conversion}")?;
    }
    writeln!(output)?;
    if root.moves.is_empty() {
        writeln!(output, "no legal moves: the game is over")?;
        return Ok(());
    }
    let with_conversions = root.moves.iter().any(|ranked| ranked.dtz.plies().is_some());
    let mut columns = Columns::new(if with_conversions {
        &["move", "value", " plies to conversion"]
    } else {
        &["move", "value"]
    });
    for ranked in &root.moves {
        let mut cells = vec![ranked.text.clone(), words::outcome(ranked.value, ranked.dtw)];
        if with_conversions {
            cells.push(ranked.dtz.plies().map_or("-".to_owned(), |plies| plies.to_string()));
        }
        columns.row(cells);
    }
    write!(output, "\n{columns}")?;
    Ok(())
}

fn show_position(game: &Game, position: &Position, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "{}", board::draw(game, position))?;
    let side = match position.turn {
        Colour::White => "White",
        Colour::Black => "Black",
    };
    writeln!(output, "{side} to move: {}", game.format_fen(position))?;
    Ok(())
}

#[derive(Serialize)]
struct LineDocument<'a> {
    moves: Vec<&'a str>,
    result: &'static str,
}

/// Shows one best line to the end of the game.
pub(crate) fn line(options: &LineOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    let game = setting.game(&options.game)?;
    let position = one_position(game, &options.fen)?;
    let tables = setting.tables(BlockCache::default())?;
    let prober = tables.prober(game)?;
    let root = prober.root(&position)?;
    let moves = prober.line(&position)?;
    if options.json {
        return output.json(&LineDocument {
            moves: moves.iter().map(|ranked| ranked.text.as_str()).collect(),
            result: root.value.name(),
        });
    }
    show_position(game, &position, output)?;
    let result = words::result(root.value, root.dtw, position.turn);
    if moves.is_empty() {
        writeln!(output, "{result}")?;
        return Ok(());
    }
    write!(output, "\n{}", in_two_columns(&moves, position.turn))?;
    writeln!(output, "\n{result}")?;
    last_position(&prober, &moves, output)
}

/// The moves, White's left and Black's right.
fn in_two_columns(moves: &[RankedMove], first: Colour) -> Columns {
    let mut cells: Vec<&str> = moves.iter().map(|ranked| ranked.text.as_str()).collect();
    if first == Colour::Black {
        cells.insert(0, "...");
    }
    let mut columns = Columns::new(&["", "White", "Black"]);
    for (number, pair) in cells.chunks(2).enumerate() {
        let mut row = vec![format!("{:>3}.", number + 1)];
        row.extend(pair.iter().map(|text| (*text).to_owned()));
        columns.row(row);
    }
    columns
}

fn last_position(prober: &Prober<'_>, moves: &[RankedMove], output: &mut Output) -> Result<(), Failure> {
    if let Some(last) = moves.last() {
        writeln!(output, "final position: {}", prober.game().format_fen(&last.after))?;
    }
    Ok(())
}
