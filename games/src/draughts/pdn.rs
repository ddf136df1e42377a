//! Games in PDN, the portable draughts notation.
//!
//! [`Game::read_pdn`] reads the games of a text one after the other and
//! replays them, so that every move of a [`PdnGame`] is legal;
//! [`Game::write_pdn`] writes one that reads back the same.

mod moves;

use super::game::Game;
use super::notation::FenError;
use super::position::{Move, Position};
use crate::game_text::{self, GameRecord, GameTextError, GameTextErrorKind, GameTextReader, RecordedMove};
use moves::PdnNotation;

/// A game in PDN.
pub type PdnGame = GameRecord<Position, Move>;
/// A move of a game in PDN.
pub type PdnMove = RecordedMove<Move>;
/// Why a text is not PDN of a game's. Its message is one line.
pub type PdnError = GameTextError<FenError>;
/// What is wrong with a PDN text.
pub type PdnErrorKind = GameTextErrorKind<FenError>;

/// Reads the games of a PDN text one after the other; see
/// [`Game::read_pdn`]. After an error there are no more.
pub struct PdnReader<'a>(GameTextReader<'a, PdnNotation<'a>>);

impl Iterator for PdnReader<'_> {
    type Item = Result<PdnGame, PdnError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl Game {
    /// Reads the games of a PDN text one after the other.
    ///
    /// Squares may have the game's own names; where those are numbers also
    /// letters with a digit, and in reverse numbers from the top left corner.
    /// A capture whose ends leave a choice is told by squares between them,
    /// landing squares in order or captured ones, as far as they are needed.
    /// Variations are kept as text.
    ///
    /// ```
    /// let games = petrov_games::Games::built_in();
    /// let russian = games.draughts("russian")?;
    /// for game in russian.read_pdn("1. c3-d4 d6-c5 {the exchange} 2. b2-c3 *") {
    ///     assert_eq!(game?.moves.len(), 3);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_pdn<'a>(&'a self, text: &'a str) -> PdnReader<'a> {
        PdnReader(GameTextReader::new(PdnNotation::new(self), text))
    }

    /// Writes a game: its tags, an empty line, and its moves on lines of up to
    /// 80 characters.
    ///
    /// A tag `FEN` says what `start` is, and is added if need be. Every move
    /// must be legal.
    #[must_use]
    pub fn write_pdn(&self, game: &PdnGame) -> String {
        game_text::write(&PdnNotation::new(self), game)
    }
}

#[cfg(test)]
mod tests;
