//! What the fuzz targets share. Each target takes bytes and must come to an end without a panic;
//! `scripts/fuzz` builds and runs them.

#![forbid(unsafe_code)]

use std::sync::LazyLock;

use petrov_games::{AnyGame, Game, Games};

static GAMES: LazyLock<Games> = LazyLock::new(Games::built_in);

/// The built-in game of a family that a byte chooses.
#[must_use]
pub fn game_of(family: &str, choice: u8) -> &'static AnyGame {
    static FAMILIES: LazyLock<[Vec<&'static AnyGame>; 2]> = LazyLock::new(|| {
        ["draughts", "chess"].map(|family| GAMES.iter().filter(|game| game.family() == family).collect())
    });
    let games = &FAMILIES[usize::from(family == "chess")];
    games[usize::from(choice) % games.len()]
}

/// A game that a byte chooses, and the rest as text.
#[must_use]
pub fn game_and_text<'a>(family: &str, bytes: &'a [u8]) -> Option<(&'static AnyGame, &'a str)> {
    let (&choice, rest) = bytes.split_first()?;
    Some((game_of(family, choice), std::str::from_utf8(rest).ok()?))
}

/// Reads a FEN. A position is written so that it reads back the same, and its moves lead to positions of
/// which the same is true.
///
/// # Panics
/// If it is not so.
pub fn read_position<G: Game>(game: &G, text: &str) {
    let Ok(position) = game.parse_fen(text) else {
        return;
    };
    let same = |position: &G::Position| {
        let fen = game.fen(position);
        match game.parse_fen(&fen) {
            Ok(again) => assert_eq!(game.fen(&again), fen, "{}", game.name()),
            Err(error) => panic!("{}: {fen}: {error}", game.name()),
        }
    };
    same(&position);
    let moves = game.legal_moves(&position);
    let texts = game.move_texts(&position, &moves);
    assert_eq!(texts.len(), moves.len());
    // One of them, so that long lists do not take all the time.
    if let Some(played) = moves.get(text.len() % moves.len().max(1)) {
        let after = game.after(&position, played);
        // A finished position is no FEN where both sides meet the condition.
        if !game.legal_moves(&after).is_empty() {
            same(&after);
        }
    }
}

/// Reads the games of a file; what is written of them reads back with the same moves.
///
/// # Panics
/// If it is not so.
pub fn read_games<G: Game>(game: &G, text: &str) {
    for record in game.read_games(text) {
        let Ok(record) = record else { return };
        let written = game.write_game(&record);
        let again = game.read_games(&written).next();
        let same = matches!(&again, Some(Ok(again))
            if again.moves.iter().map(|step| step.played).eq(record.moves.iter().map(|step| step.played)));
        assert!(same, "{}: {written}", game.name());
    }
}
