//! Positions from the command line and, one a line, from standard input.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};

use petrov_games::Game;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// In place of a position: read them from standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// A line longer than any position is not kept whole: it is wrong either way.
const LONGEST_LINE: u64 = 1 << 12;

/// Reads the position given on the command line; an error shows it.
pub(crate) fn one_position<G: Game>(game: &G, fen: &str) -> Result<G::Position, Failure> {
    game.parse_fen(fen).map_err(|error| wrong(fen, &error))
}

/// As [`one_position`]; it must be one that tables are made for.
pub(crate) fn one_table_position<G: Game>(game: &G, fen: &str) -> Result<G::Position, Failure> {
    let position = one_position(game, fen)?;
    match game.not_in_tables(&position) {
        Some(why) => Err(wrong(fen, &why)),
        None => Ok(position),
    }
}

fn wrong(fen: &str, why: &dyn Display) -> Failure {
    const SHOWN: usize = 80;
    let shown: String = fen.chars().take(SHOWN).collect();
    let rest = if shown.len() < fen.len() { "..." } else { "" };
    Failure::Usage(format!("position {shown:?}{rest}: {why}"))
}

/// The answer to a line that has none.
#[derive(Serialize)]
struct ErrorDocument {
    error: String,
}

/// Answers each line of standard input in its order. A line without an answer
/// gets its error in its place, and the next follows.
///
/// Answers are written out when there is no further line to answer at once, so
/// that a program may wait for each and a long file still goes quickly.
pub(crate) fn each_position<G: Game>(
    game: &G,
    json: bool,
    output: &mut Output,
    mut answer: impl FnMut(&G::Position, &mut Output) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin());
    let mut line = Vec::new();
    loop {
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
        line.clear();
        if !read_line(&mut input, &mut line)? {
            return Ok(());
        }
        let position = game.parse_fen(&String::from_utf8_lossy(&line));
        match position
            .map_err(|error| Failure::Usage(error.to_string()))
            .and_then(|position| answer(&position, output))
        {
            Ok(()) => {}
            Err(Failure::Unread) => return Err(Failure::Unread),
            Err(failure) if json => output.json(&ErrorDocument {
                error: crate::words::one_line(&failure.to_string()),
            })?,
            Err(failure) => writeln!(output, "error: {}", crate::words::one_line(&failure.to_string()))?,
        }
    }
}

/// Reads a line without its end; false at the end of the input.
fn read_line(input: &mut BufReader<io::Stdin>, line: &mut Vec<u8>) -> Result<bool, Failure> {
    let failed = |error: io::Error| Failure::Broken(format!("cannot read standard input: {error}"));
    let read = input.take(LONGEST_LINE).read_until(b'\n', line).map_err(failed)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if read as u64 == LONGEST_LINE {
        // The rest of the line.
        input.skip_until(b'\n').map_err(failed)?;
    }
    Ok(read > 0)
}
