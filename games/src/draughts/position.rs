//! Positions: pieces and the side to move, nothing else.

use super::board::SquareSet;
pub use crate::piece::Colour;

/// A position: men and kings of both sides on distinct squares of the board's
/// own numbering (index 0 is White, 1 is Black), and the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    /// Men of White and of Black.
    pub men: [SquareSet; 2],
    /// Kings of White and of Black.
    pub kings: [SquareSet; 2],
    /// Side to move.
    pub turn: Colour,
}

impl Position {
    /// All pieces of one side.
    #[must_use]
    pub fn side(&self, colour: Colour) -> SquareSet {
        self.men[colour as usize] | self.kings[colour as usize]
    }

    /// All pieces.
    #[must_use]
    pub fn occupied(&self) -> SquareSet {
        self.side(Colour::White) | self.side(Colour::Black)
    }
}

/// A legal move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// Start square.
    pub from: u8,
    /// End square.
    pub to: u8,
    /// Squares of the pieces taken; empty for a quiet move.
    pub captured: SquareSet,
    /// True if the piece that moved was a man.
    pub by_man: bool,
    /// True if the piece is a king after the move.
    pub to_king: bool,
}
