//! `petrov probe` and `petrov line`.

use std::io::Write;

use petrov_games::{Colour, Game};
use petrov_probe::{BlockCache, Distance, Prober, RankedMove, RootProbe, Value50};
use serde::Serialize;

use crate::args::{LineOptions, PositionOptions};
use crate::board;
use crate::failure::Failure;
use crate::moves::move_cells;
use crate::output::Output;
use crate::setting::Setting;
use crate::stream::{STANDARD_INPUT, each_position, one_table_position};
use crate::words::{self, Columns, Judgement};

/// `null` for a draw, no key without a table.
type Plies = Option<Option<u16>>;

fn plies(distance: Distance) -> Plies {
    match distance {
        Distance::Unknown => None,
        Distance::Never => Some(None),
        Distance::Plies(plies) => Some(Some(plies)),
    }
}

/// What a position or a move is worth; what has no table has no key.
#[derive(Serialize)]
struct WorthDocument {
    value: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value50: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtw: Plies,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtz: Plies,
}

#[derive(Serialize)]
struct ProbeDocument<'a> {
    #[serde(flatten)]
    worth: WorthDocument,
    moves: Vec<MoveDocument<'a>>,
}

#[derive(Serialize)]
struct MoveDocument<'a> {
    #[serde(rename = "move")]
    text: &'a str,
    #[serde(flatten)]
    worth: WorthDocument,
}

impl<'a> ProbeDocument<'a> {
    fn new<G: Game>(root: &'a RootProbe<G>) -> Self {
        Self {
            worth: WorthDocument {
                value: root.value.name(),
                value50: root.value50.map(Value50::name),
                dtw: plies(root.dtw),
                dtz: plies(root.dtz),
            },
            moves: root.moves.iter().map(MoveDocument::new).collect(),
        }
    }
}

impl<'a> MoveDocument<'a> {
    fn new<G: Game>(ranked: &'a RankedMove<G>) -> Self {
        Self {
            text: &ranked.text,
            worth: WorthDocument {
                value: ranked.value.name(),
                value50: ranked.value50.map(Value50::name),
                dtw: plies(ranked.dtw),
                dtz: plies(ranked.dtz),
            },
        }
    }
}

/// Looks positions up.
pub(crate) fn probe<G: Game>(
    game: &G,
    options: &PositionOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    if options.fen == STANDARD_INPUT {
        let tables = setting.tables(BlockCache::default())?;
        let prober = tables.prober(game)?;
        return each_position(game, options.json, output, |position, output| {
            let root = prober.root(position)?;
            if options.json {
                return output.json(&ProbeDocument::new(&root));
            }
            let result = Judgement::of_root(game, &root).result(game.turn(position));
            writeln!(output, "{}  {result}", game.fen(position))?;
            Ok(())
        });
    }
    // A wrong position is said to be wrong whether or not there are tables.
    let position = one_table_position(game, &options.fen)?;
    let tables = setting.tables(BlockCache::default())?;
    let root = tables.prober(game)?.root(&position)?;
    if options.json {
        return output.json(&ProbeDocument::new(&root));
    }
    show_position(game, &position, output)?;
    write!(
        output,
        "{}",
        Judgement::of_root(game, &root).result(game.turn(&position))
    )?;
    if let Some(conversion) = words::conversion(root.dtz) {
        write!(output, "; {conversion}")?;
    }
    writeln!(output)?;
    if root.moves.is_empty() {
        writeln!(output, "no legal moves: the game is over")?;
        return Ok(());
    }
    let with_conversions = root.moves.iter().any(|ranked| ranked.dtz.plies().is_some());
    let played: Vec<G::Move> = root.moves.iter().map(|ranked| ranked.played).collect();
    let texts: Vec<String> = root.moves.iter().map(|ranked| ranked.text.clone()).collect();
    let (mut headings, rows) = move_cells(game, &position, &played, &texts);
    headings.push("value");
    if with_conversions {
        headings.push(" plies to conversion");
    }
    let mut columns = Columns::new(&headings);
    for (mut row, ranked) in rows.into_iter().zip(&root.moves) {
        row.push(Judgement::of_move(game, ranked).outcome());
        if with_conversions {
            row.push(ranked.dtz.plies().map_or("-".to_owned(), |plies| plies.to_string()));
        }
        columns.row(row);
    }
    write!(output, "\n{columns}")?;
    Ok(())
}

fn show_position<G: Game>(game: &G, position: &G::Position, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "{}", board::draw(game, position))?;
    let side = match game.turn(position) {
        Colour::White => "White",
        Colour::Black => "Black",
    };
    writeln!(output, "{side} to move: {}", game.fen(position))?;
    Ok(())
}

#[derive(Serialize)]
struct LineDocument<'a> {
    moves: Vec<&'a str>,
    result: &'static str,
}

/// Shows one best line to the end of the game.
pub(crate) fn line<G: Game>(
    game: &G,
    options: &LineOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    let position = one_table_position(game, &options.fen)?;
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
    let result = Judgement::of_root(game, &root).result(game.turn(&position));
    if moves.is_empty() {
        writeln!(output, "{result}")?;
        return Ok(());
    }
    write!(output, "\n{}", in_two_columns(game, &position, &moves))?;
    writeln!(output, "\n{result}")?;
    last_position(&prober, &moves, output)
}

/// The moves as people read them, White's left and Black's right.
fn in_two_columns<G: Game>(game: &G, position: &G::Position, moves: &[RankedMove<G>]) -> Columns {
    let first = game.turn(position);
    let mut at = *position;
    let mut cells: Vec<String> = Vec::with_capacity(moves.len());
    for ranked in moves {
        let shown = game
            .screen_texts(&at, &[ranked.played])
            .and_then(|mut texts| texts.pop());
        cells.push(shown.unwrap_or_else(|| ranked.text.clone()));
        at = ranked.after;
    }
    if first == Colour::Black {
        cells.insert(0, "...".to_owned());
    }
    let mut columns = Columns::new(&["", "White", "Black"]);
    for (number, pair) in cells.chunks(2).enumerate() {
        let mut row = vec![format!("{:>3}.", number + 1)];
        row.extend_from_slice(pair);
        columns.row(row);
    }
    columns
}

fn last_position<G: Game>(prober: &Prober<G>, moves: &[RankedMove<G>], output: &mut Output) -> Result<(), Failure> {
    if let Some(last) = moves.last() {
        writeln!(output, "final position: {}", prober.game().fen(&last.after))?;
    }
    Ok(())
}
