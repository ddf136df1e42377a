//! One game: its rules with everything derived from them.

use super::board::Board;
use super::names::SquareNames;
use super::parse::RuleFile;
use super::position::{Colour, Position};
use super::rules::{Goal, Rules};
use crate::fingerprint::Fingerprint;

/// A draughts game: a rule file, its board, and the names of its squares.
#[derive(Clone, Debug)]
pub struct Game {
    file: RuleFile,
    board: Board,
    names: SquareNames,
    fingerprint: Fingerprint,
}

impl Game {
    /// The game of a rule file.
    #[must_use]
    pub fn new(file: RuleFile) -> Self {
        let board = Board::new(&file.rules);
        let names = SquareNames::new(&file.rules, &board);
        let fingerprint = file.rules.fingerprint();
        Self {
            file,
            board,
            names,
            fingerprint,
        }
    }

    /// The name by which it is asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// One line about the game; may be empty.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.file.description
    }

    /// Where the rules come from; may be empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.file.source
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.file.rules
    }

    /// The rule file, which can be written as TOML.
    #[must_use]
    pub fn rule_file(&self) -> &RuleFile {
        &self.file
    }

    /// The board.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The fingerprint of the rules.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The position in which the game starts.
    #[must_use]
    pub fn start(&self) -> Position {
        let rules = self.rules();
        let mut men = [0; 2];
        for row in rules.rows.0..=rules.rows.1 {
            men[Colour::White as usize] |= self.board.rank_set(row - 1);
            men[Colour::Black as usize] |= self.board.rank_set(rules.ranks - row);
        }
        Position {
            men,
            kings: [0; 2],
            turn: if rules.white_first {
                Colour::White
            } else {
                Colour::Black
            },
        }
    }

    /// The name of a square; empty if there is no such square.
    #[must_use]
    pub fn square_name(&self, square: u8) -> String {
        self.names.name(square).to_owned()
    }

    /// The square of a name, exactly as [`square_name`](Self::square_name)
    /// writes it.
    #[must_use]
    pub fn square_by_name(&self, name: &str) -> Option<u8> {
        self.names.square(name)
    }

    pub(crate) fn names(&self) -> &SquareNames {
        &self.names
    }

    /// The winner, if the pieces alone decide the game whoever is to move: a
    /// side is empty, has made a king (breakthrough) or is down to one piece
    /// (Ghanaian). Positions that are over because the mover is blocked are
    /// not among them.
    ///
    /// `None` also if both sides would have won, which no game comes to and
    /// [`parse_fen`](Self::parse_fen) refuses.
    #[must_use]
    pub fn finished(&self, position: &Position) -> Option<Colour> {
        match self.won(position) {
            [true, false] => Some(Colour::White),
            [false, true] => Some(Colour::Black),
            _ => None,
        }
    }

    /// Whether the pieces alone make White, and Black, the winner.
    pub(crate) fn won(&self, position: &Position) -> [bool; 2] {
        [Colour::White, Colour::Black].map(|colour| {
            let (own, other) = (position.side(colour), position.side(colour.other()));
            match self.rules().goal {
                Goal::Normal => other == 0,
                Goal::Misere => own == 0,
                Goal::Breakthrough => other == 0 || position.kings[colour as usize] != 0,
                Goal::Ghana => other.count_ones() <= 1,
            }
        })
    }
}

#[cfg(test)]
mod tests;
