//! Words that both families use: sides, kinds of pieces, results.

use std::fmt;

/// The two sides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Colour {
    /// Plays up the board.
    White,
    /// Plays down the board.
    Black,
}

impl Colour {
    /// The other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// One of the two sides as the side to move sees them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The side to move; its men or pawns go towards higher ranks.
    Own = 0,
    /// The other side.
    Opponent = 1,
}

/// A kind of piece by its number in a rule set. Kinds compare in the order in
/// which a material lists them; the last one is the standing kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Kind(u8);

impl Kind {
    /// Letter k: the king of chess and of draughts.
    pub const KING: Self = Self(0);
    /// The kind whose moves cannot be taken back, so that it stands still as
    /// long as nothing is converted: the man of draughts, the pawn of chess.
    pub const STANDING: Self = Self(15);
    /// Number of kinds there can be.
    pub const COUNT: usize = 16;

    /// The kind of an index; only the low four bits count.
    #[must_use]
    #[inline(always)]
    pub const fn new(index: u8) -> Self {
        Self(index & 15)
    }

    /// Index from 0 to 15.
    #[must_use]
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A result for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// The other side has won.
    Loss,
    /// Nobody has.
    Draw,
    /// The side to move has won.
    Win,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::Draw => "draw",
            Self::Win => "win",
        })
    }
}

/// How a game ended in which the side to move cannot move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ending {
    /// The result for the side to move.
    pub outcome: Outcome,
    /// The side to move is in check.
    pub mated: bool,
}
