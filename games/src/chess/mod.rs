//! The chess family: rule sets in which two sides with kings, pawns and
//! pieces of any make play on a rectangle of 3x3 to 8x8 squares.
//!
//! Squares are numbered `rank * 8 + file` whatever the board's size.

mod board;
mod fen;
mod game;
mod generate;
mod notation;
mod parse;
mod pgn;
mod rays;
mod rules;

pub use board::{Board, CastlingRight, Kind, Kinds, NO_SQUARE, Side, Symmetry};
pub use fen::FenError;
pub use game::{Game, Move, Position};
pub use generate::{Ending, Generator, Outcome, Step};
pub use notation::MoveTextError;
pub use parse::RuleFile;
pub use pgn::{PgnError, PgnErrorKind, PgnGame, PgnMove, PgnReader};
pub use rules::{Goal, PairKnight, PairLine, Pawn, Piece, PieceMoves, Promotion, Rules, Stalemate};
