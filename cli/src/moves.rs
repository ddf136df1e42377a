//! `petrov perft` and `petrov moves`.

use std::io::Write;

use petrov_games::draughts::{Game, Position};
use serde::Serialize;

use crate::args::{PerftOptions, PositionOptions};
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;
use crate::stream::{STANDARD_INPUT, each_position, one_position};
use crate::words::{Columns, thousands};

#[derive(Serialize)]
struct PerftDocument {
    nodes: Vec<u64>,
}

/// Counts move sequences.
pub(crate) fn perft(options: &PerftOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    let game = setting.game(&options.game)?;
    let depths = 1..=u32::from(options.depth);
    let count = |position: &Position, depth: u32| game.perft(position, depth);
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
        None => game.start(),
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

fn documents(game: &Game, position: &Position) -> Vec<MoveDocument> {
    let legal = game.legal_moves(position);
    let texts = game.move_texts(position, &legal);
    legal
        .iter()
        .zip(texts)
        .map(|(played, text)| MoveDocument {
            text,
            from: game.square_name(played.from),
            to: game.square_name(played.to),
            captures: game
                .squares_in_order()
                .iter()
                .filter(|&&square| played.captured >> square & 1 == 1)
                .map(|&square| game.square_name(square))
                .collect(),
            fen: game.format_fen(&game.after(position, played)),
        })
        .collect()
}

/// Lists legal moves.
pub(crate) fn moves(options: &PositionOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    let game = setting.game(&options.game)?;
    if options.fen == STANDARD_INPUT {
        return each_position(game, options.json, output, |position, output| {
            let documents = documents(game, position);
            if options.json {
                return output.json(&documents);
            }
            let texts: Vec<&str> = documents.iter().map(|played| played.text.as_str()).collect();
            writeln!(output, "{}", texts.join(" "))?;
            Ok(())
        });
    }
    let position = one_position(game, &options.fen)?;
    let documents = documents(game, &position);
    if options.json {
        return output.json(&documents);
    }
    if documents.is_empty() {
        writeln!(output, "no legal moves: the game is over")?;
        return Ok(());
    }
    let takes = documents.iter().any(|played| !played.captures.is_empty());
    let mut columns = Columns::new(if takes {
        &["move", "takes", "position after it"]
    } else {
        &["move", "position after it"]
    });
    for played in documents {
        let mut cells = vec![played.text, played.fen];
        if takes {
            cells.insert(1, played.captures.join(","));
        }
        columns.row(cells);
    }
    write!(output, "{columns}")?;
    Ok(())
}
