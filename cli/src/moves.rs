//! `petrov perft` and `petrov moves`.

use std::io::Write;

use petrov_games::Game;
use serde::Serialize;

use crate::args::{PerftOptions, PositionOptions};
use crate::failure::Failure;
use crate::output::Output;
use crate::stream::{STANDARD_INPUT, each_position, one_position};
use crate::words::{Columns, thousands};

#[derive(Serialize)]
struct PerftDocument {
    nodes: Vec<u64>,
}

/// Counts move sequences.
pub(crate) fn perft<G: Game>(game: &G, options: &PerftOptions, output: &mut Output) -> Result<(), Failure> {
    let depths = 1..=u32::from(options.depth);
    let count = |position: &G::Position, depth: u32| game.perft(position, depth);
    let position = match options.fen.as_deref() {
        Some(STANDARD_INPUT) => {
            return each_position(game, options.json, output, |position, output| {
                let nodes: Vec<u64> = depths.clone().map(|depth| count(position, depth)).collect();
                if options.json {
                    return output.json(&PerftDocument { nodes });
                }
                let nodes: Vec<String> = nodes.iter().map(u64::to_string).collect();
                writeln!(output, "{}", nodes.join(" "))?;
                Ok(())
            });
        }
        Some(fen) => one_position(game, fen)?,
        None => game.start().ok_or_else(|| {
            let name = game.name();
            Failure::Usage(format!(
                "{name} has no start position; expected a position to count from"
            ))
        })?,
    };
    if options.json {
        let nodes = depths.map(|depth| count(&position, depth)).collect();
        return output.json(&PerftDocument { nodes });
    }
    writeln!(output, "depth  nodes")?;
    for depth in depths {
        writeln!(output, "{depth:>5}  {}", thousands(count(&position, depth)))?;
        // Each depth takes several times as long as the one before.
        output.flush()?;
    }
    Ok(())
}

#[derive(Serialize)]
struct MoveDocument {
    #[serde(rename = "move")]
    text: String,
    from: String,
    to: String,
    captures: Vec<String>,
    fen: String,
}

fn documents<G: Game>(game: &G, position: &G::Position, legal: &[G::Move]) -> Vec<MoveDocument> {
    let texts = game.move_texts(position, legal);
    legal
        .iter()
        .zip(texts)
        .map(|(played, text)| {
            let [from, to] = game.ends(played).map(|square| game.square_name(square));
            let captured = game.captured(played);
            MoveDocument {
                text,
                from,
                to,
                captures: captured.iter().map(|&square| game.square_name(square)).collect(),
                fen: game.fen(&game.after(position, played)),
            }
        })
        .collect()
}

/// Lists legal moves.
pub(crate) fn moves<G: Game>(game: &G, options: &PositionOptions, output: &mut Output) -> Result<(), Failure> {
    if options.fen == STANDARD_INPUT {
        return each_position(game, options.json, output, |position, output| {
            let documents = documents(game, position, &game.legal_moves(position));
            if options.json {
                return output.json(&documents);
            }
            let texts: Vec<&str> = documents.iter().map(|played| played.text.as_str()).collect();
            writeln!(output, "{}", texts.join(" "))?;
            Ok(())
        });
    }
    let position = one_position(game, &options.fen)?;
    let legal = game.legal_moves(&position);
    let documents = documents(game, &position, &legal);
    if options.json {
        return output.json(&documents);
    }
    if documents.is_empty() {
        writeln!(output, "no legal moves: the game is over")?;
        return Ok(());
    }
    let takes = documents.iter().any(|played| !played.captures.is_empty());
    let texts: Vec<String> = documents.iter().map(|played| played.text.clone()).collect();
    let (mut headings, rows) = move_cells(game, &position, &legal, &texts);
    if takes {
        headings.push("takes");
    }
    headings.push("position after it");
    let mut columns = Columns::new(&headings);
    for (mut row, played) in rows.into_iter().zip(documents) {
        if takes {
            row.push(played.captures.join(","));
        }
        row.push(played.fen);
        columns.row(row);
    }
    write!(output, "{columns}")?;
    Ok(())
}

/// The first columns of a table of moves, headings and rows: how people read
/// each move and, if that is another text, how programs do.
pub(crate) fn move_cells<G: Game>(
    game: &G,
    position: &G::Position,
    played: &[G::Move],
    texts: &[String],
) -> (Vec<&'static str>, Vec<Vec<String>>) {
    match game.screen_texts(position, played) {
        Some(shown) => {
            let rows = shown
                .into_iter()
                .zip(texts)
                .map(|(shown, text)| vec![shown, text.clone()]);
            (vec!["move", "uci"], rows.collect())
        }
        None => (vec!["move"], texts.iter().map(|text| vec![text.clone()]).collect()),
    }
}
