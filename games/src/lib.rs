//! Rules, positions, move generation and notation of board games whose
//! endings Petrov solves. Rules are data: a game is a set of axis values read
//! from a TOML file, never a name in the code.

#![forbid(unsafe_code)]

mod bits;
mod catalogue;
pub mod chess;
pub mod draughts;
mod fingerprint;
mod game;
mod game_text;
mod material;
mod piece;
mod rule_file;
mod rule_text;
mod spelling;
mod square_sets;

pub use bits::{Bits, Squares};
pub use catalogue::{AddGameError, AnyGame, Games, UnknownGame};
pub use fingerprint::Fingerprint;
pub use game::{Engine, Game, LaneRules, NO_KEY, NoLanes, OfFamily, Placement, RecordOf, Rulebook, key_of};
pub use game_text::{
    GameRecord, GameResult, GameTextError, GameTextErrorKind, LONGEST_GAME_TEXT, RecordedMove, Remark,
};
pub use material::{Army, MAX_PIECES, Material, MaterialError, View};
pub use piece::{Colour, Ending, Kind, Outcome, Side};
pub use rule_file::{Axes, RuleFile};
pub use rule_text::{RuleError, RuleErrorKind};
pub use spelling::near;
pub use square_sets::{SQUARE_SETS, named_squares, square_by_name};
