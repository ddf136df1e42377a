//! The draughts family.

mod board;
mod game;
mod generate;
mod names;
mod notation;
mod parse;
mod pdn;
mod position;
mod rulebook;
mod rules;

pub use board::{Board, SquareSet};
pub use game::{Engine, Game};
pub use generate::{Generator, Pieces, Step};
pub use notation::FenError;
pub use parse::RuleFile;
pub use pdn::{PdnError, PdnErrorKind, PdnGame, PdnMove, PdnReader};
pub use position::{Colour, Move, Position};
pub use rules::{
    Goal, KingDirections, KingLand, ManCapture, ManMove, NameStyle, Priority, PromoCapture, Removal, Rules, SquareKind,
};
