//! What tables say to a claim.

use petrov_games::Colour;
use petrov_probe::{Metric, ProbeError};

use super::clock::Clock;
use super::line::LinePly;
use crate::plan::PlanError;

/// What comes of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimVerdict {
    /// True of every position asked about.
    Holds,
    /// False of fewer than half of them.
    HoldsExcept,
    /// False of half of them or more.
    Fails,
    /// No position was asked about.
    Empty,
    /// Tables of more pieces than allowed would be needed.
    NotEvaluated,
}

impl ClaimVerdict {
    /// The verdict on so many positions and exceptions.
    #[must_use]
    pub fn of(positions: u64, exceptions: u64) -> Self {
        match (positions, exceptions) {
            (0, _) => Self::Empty,
            (_, 0) => Self::Holds,
            _ if u128::from(exceptions) * 2 < u128::from(positions) => Self::HoldsExcept,
            _ => Self::Fails,
        }
    }

    /// `holds`, `holds-except`, `fails`, `empty` or `not-evaluated`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsExcept => "holds-except",
            Self::Fails => "fails",
            Self::Empty => "empty",
            Self::NotEvaluated => "not-evaluated",
        }
    }

    /// Whether there is an exception.
    #[must_use]
    pub fn is_negative(self) -> bool {
        matches!(self, Self::HoldsExcept | Self::Fails)
    }
}

/// The answer to a claim.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The claim's name.
    pub id: String,
    /// The game, or both games of a comparison.
    pub games: Vec<String>,
    /// What comes of it.
    pub verdict: ClaimVerdict,
    /// Positions asked about.
    pub positions: u64,
    /// Positions of which it is false.
    pub exceptions: u64,
    /// The longest win among the positions asked about; in a comparison that
    /// of the first game.
    pub worst: Option<Worst>,
    /// The longest win of the second game, where longest wins are compared.
    pub other_worst: Option<Worst>,
    /// What a rule that counts moves takes away.
    pub clock: Option<Clock>,
}

/// The longest win.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The game.
    pub game: String,
    /// The position; of several, the one whose FEN comes first in
    /// alphabetical order.
    pub fen: String,
    /// Its distance.
    pub plies: u16,
    /// To what the distance is.
    pub metric: Metric,
    /// The side to move.
    pub turn: Colour,
    /// The side that wins.
    pub winner: Colour,
    /// A best line, to the end or to the conversion.
    pub line: Vec<LinePly>,
}

/// Why a claim could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// A table is missing or cannot be used.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// A material has no table.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The claim was read for other games.
    #[error("claim {claim} names pieces or squares that {game} does not have")]
    Foreign {
        /// The claim.
        claim: String,
        /// The game.
        game: String,
    },
    /// An exception could not be written.
    #[error("cannot write an exception: {0}")]
    Write(std::io::Error),
    /// The system gave no threads.
    #[error("cannot start worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
