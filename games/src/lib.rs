//! Rules, positions, move generation and notation of board games whose
//! endings Petrov solves. Rules are data: a game is a set of axis values read
//! from a TOML file, never a name in the code.

mod bits;
pub mod chess;
pub mod draughts;
mod fingerprint;
mod rule_text;
mod spelling;

pub use bits::{Bits, Squares};
pub use fingerprint::Fingerprint;
pub use rule_text::{RuleError, RuleErrorKind};
