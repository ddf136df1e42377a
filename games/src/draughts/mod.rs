//! The draughts family.

mod board;
mod catalogue;
mod game;
mod generate;
mod names;
mod notation;
mod parse;
mod pdn;
mod position;
mod rules;

pub use board::{Board, SquareSet};
pub use catalogue::{AddGameError, Games, UnknownGame};
pub use game::{Engine, Game};
pub use generate::{Generator, Pieces, Step};
pub use notation::FenError;
pub use parse::RuleFile;
pub use pdn::{LONGEST_PDN, PdnError, PdnErrorKind, PdnGame, PdnMove, PdnReader, PdnResult, Remark};
pub use position::{Colour, Move, Position};
pub use rules::{
    Goal, KingDirections, KingLand, ManCapture, ManMove, NameStyle, Priority, PromoCapture, Removal, Rules, SquareKind,
};
