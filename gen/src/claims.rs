//! Statements about draw rules and endings, checked against tables.
//!
//! A [`Claim`] is data: games, materials, which of their positions are asked
//! about, and what is said of these. `docs/claims.md` has the file format. An
//! [`Entry`] is one answer: a claim for one game, or, where games are compared,
//! for both.
//!
//! Positions are all unfolded placements of a material in canonical colours,
//! with both sides to move, also where both sides have the same pieces. The
//! *strong* side is the one with more pieces; with equal numbers there is none,
//! and a position is *won* if either side wins. A length in own moves is that of
//! the strong side: (plies + 1) / 2, rounded down.

mod clock;
mod entry;
mod file;
mod header;
mod line;
mod places;
mod roots;
mod scan;
mod verdict;

use petrov_games::Material;
use petrov_probe::Metric;

pub use clock::{Clock, Standing};
pub use entry::Entry;
pub use file::{ClaimError, Claims};
pub use line::{LinePly, best_line};
pub use roots::roots;
pub use verdict::{Answer, ClaimVerdict, EvaluateError, Worst};

/// A statement that tables can check.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The name by which it is asked for: letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// What it is about, in a few words; may be empty.
    pub title: String,
    /// The games it is about.
    pub games: Vec<String>,
    /// What it says, in a sentence.
    pub statement: String,
    /// The rule behind it, in the words of the rule; may be empty.
    pub rule: String,
    /// What kind of source says so; may be empty.
    pub source: String,
    /// The materials it is about.
    pub materials: Materials,
    /// Which of their positions are asked about.
    pub asked: Asked,
    /// What is said of them.
    pub said: Said,
}

/// The materials of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Materials {
    /// These.
    Listed(Vec<Material>),
    /// Every material that has a table.
    Sized {
        /// Fewest pieces of both sides together.
        from: u8,
        /// Most pieces.
        to: u8,
        /// Letters of pieces of which each side has one at least.
        each_side: Vec<u8>,
    },
}

/// Which positions are asked about: those that meet every condition there is.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The side to move.
    pub to_move: Option<Party>,
    /// Whether the side to move has no capture.
    pub quiet: Option<bool>,
    /// Whether the strong side wins.
    pub won: Option<bool>,
    /// Whether the side to move is mated: in check, without a move.
    pub mated: Option<bool>,
    /// Pieces that stand on some square of a set.
    pub on: Vec<PieceOn>,
    /// Pieces of which none stands on a square of a set.
    pub off: Vec<PieceOn>,
    /// Two pieces that stand side by side.
    pub adjacent: Option<Adjacent>,
}

/// A side of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Party {
    /// The side with more pieces.
    Strong,
    /// The side with fewer pieces.
    Weak,
    /// White.
    White,
    /// Black.
    Black,
    /// Any of the two; not for [`Asked::to_move`].
    Either,
}

/// A piece on one of some squares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PieceOn {
    /// Whose.
    pub side: Party,
    /// Its letter.
    pub piece: u8,
    /// Names of squares, or of sets that a board has.
    pub squares: Vec<String>,
}

/// Two pieces of a side on squares that touch, diagonally or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adjacent {
    /// Whose.
    pub side: Party,
    /// Their letters.
    pub pieces: [u8; 2],
}

/// What is said of the positions asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// The strong side wins.
    Won,
    /// Neither side wins.
    Drawn,
    /// A side with this piece on one of the squares does not lose.
    DoesNotLose {
        /// The piece's letter.
        piece: u8,
        /// Names of squares, or of sets that a board has.
        squares: Vec<String>,
    },
    /// The strong side wins within so many moves.
    Dtw {
        /// The most that is allowed.
        limit: Limit,
        /// For a rule that counts moves: what ends the count.
        counts: Option<Counts>,
    },
    /// The strong side wins, and the next conversion or the end comes within
    /// so many moves.
    Dtz {
        /// The most that is allowed.
        limit: Limit,
    },
    /// Two games agree.
    Same {
        /// In values only, not in distances.
        values_only: bool,
    },
    /// The longest win of the first game is shorter than that of the second.
    ShorterLongestWin,
}

/// Most moves or plies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Moves of the strong side.
    OwnMoves(u16),
    /// Plies.
    Plies(u16),
}

/// What ends the count of a rule "drawn after so many moves".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counts {
    /// A capture or promotion ends it; another count may begin.
    UntilMaterialChanges,
    /// It ends when the position is none of those asked about.
    WhileAsked,
    /// It goes on to the end of the game.
    ToTheEnd,
}

impl Limit {
    /// The most plies that are within it.
    #[must_use]
    pub fn plies(self) -> u16 {
        match self {
            Self::OwnMoves(moves) => moves.saturating_mul(2),
            Self::Plies(plies) => plies,
        }
    }
}

/// A distance in own moves of the strong side.
#[must_use]
pub fn own_moves(plies: u16) -> u16 {
    plies.div_ceil(2)
}

impl Said {
    /// Whether two games are compared.
    #[must_use]
    pub fn compares(&self) -> bool {
        matches!(self, Self::Same { .. } | Self::ShorterLongestWin)
    }

    /// The metric of the tables that tell whether it is true.
    #[must_use]
    pub fn metric(&self) -> Metric {
        match self {
            Self::Dtz { .. } => Metric::Dtz,
            _ => Metric::Dtw,
        }
    }

    /// The limit of a distance, if it is about one.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Dtw { limit, .. } | Self::Dtz { limit } => Some(*limit),
            _ => None,
        }
    }
}
