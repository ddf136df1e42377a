//! Games in PGN, the portable game notation.
//!
//! [`Game::read_pgn`] reads the games of a text one after the other and
//! replays them, so that every move of a [`PgnGame`] is legal;
//! [`Game::write_pgn`] writes one that reads back the same.

use super::fen::FenError;
use super::game::{Game, Move, Position};

use crate::game_text::{
    self, Fitting, GameRecord, GameTextError, GameTextErrorKind, GameTextReader, Notation, RecordedMove,
};
use crate::piece::Colour;

/// A game in PGN.
pub type PgnGame = GameRecord<Position, Move>;
/// A move of a game in PGN.
pub type PgnMove = RecordedMove<Move>;
/// Why a text is not PGN of a game's. Its message is one line.
pub type PgnError = GameTextError<FenError>;
/// What is wrong with a PGN text.
pub type PgnErrorKind = GameTextErrorKind<FenError>;

/// Reads the games of a PGN text one after the other; see
/// [`Game::read_pgn`]. After an error there are no more.
pub struct PgnReader<'a>(GameTextReader<'a, PgnNotation<'a>>);

impl Iterator for PgnReader<'_> {
    type Item = Result<PgnGame, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl Game {
    /// Reads the games of a PGN text one after the other.
    ///
    /// Moves are SAN as [`parse_san`](Self::parse_san) reads it, or UCI where
    /// a text means no move as SAN. A game starts from its tag `FEN`, with
    /// which a tag `SetUp` must agree, else from the start of the rules.
    /// Variations are kept as text.
    ///
    /// ```
    /// let games = petrov_games::Games::built_in();
    /// let chess = games.chess("chess")?;
    /// for game in chess.read_pgn("1. e4 e5 {the open game} 2. Nf3 *") {
    ///     assert_eq!(game?.moves.len(), 3);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_pgn<'a>(&'a self, text: &'a str) -> PgnReader<'a> {
        PgnReader(GameTextReader::new(PgnNotation(self), text))
    }

    /// Writes a game: its tags, an empty line, and its moves in SAN on lines
    /// of up to 80 characters. Moves are numbered from that of the start.
    ///
    /// A tag `FEN` says what `start` is, and is added if need be, with
    /// `SetUp`. Every move must be legal.
    #[must_use]
    pub fn write_pgn(&self, game: &PgnGame) -> String {
        game_text::write(&PgnNotation(self), game)
    }
}

/// Positions and moves of a chess game in PGN.
struct PgnNotation<'a>(&'a Game);

impl Notation for PgnNotation<'_> {
    type Game = Game;

    const SETUP_TAG: Option<&'static str> = Some("SetUp");
    const LOOSE_NUMBERS: bool = true;
    const TELLS_APART: &'static str = "fuller SAN, as in `Nbd2`";

    fn game(&self) -> &Game {
        self.0
    }

    fn move_text(&self, position: &Position, played: &Move, legal: &[Move]) -> String {
        self.0.san(position, played, legal)
    }

    fn fitting(&self, word: &str, _position: &Position, legal: &[Move]) -> Fitting<Self> {
        let san = self.0.fitting_san(word, legal);
        if san.as_ref().is_some_and(|fitting| !fitting.is_empty()) {
            return Ok(san);
        }
        Ok(self.0.fitting_uci(word, legal).or(san))
    }

    fn first_number(&self, start: &Position) -> u32 {
        start.fullmove
    }

    fn opener(&self) -> Colour {
        Colour::White
    }
}

#[cfg(test)]
mod tests;
