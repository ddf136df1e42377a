//! Names of squares.

use std::collections::HashMap;

use super::board::Board;
use super::rules::{NameStyle, Rules, SquareKind};

/// File letters in order. Boards of ten or more files leave out j, smaller
/// ones do not reach it.
const LETTERS: &[u8; 12] = b"abcdefghiklm";

/// The names of a board's squares and their order.
#[derive(Clone, Debug)]
pub(crate) struct SquareNames {
    /// By square number; empty where there is no square.
    by_square: Vec<String>,
    by_name: HashMap<String, u8>,
    /// The squares in the order of their names: by number, or rank by rank
    /// from a1.
    order: Vec<u8>,
}

impl SquareNames {
    pub(crate) fn new(rules: &Rules, board: &Board) -> Self {
        // The board keeps mirrored games reflected; names see them as they are.
        let seen = |square: u8| {
            let (file, rank) = board.coordinates(square);
            match rules.squares {
                SquareKind::Mirror => (board.files() - 1 - file, rank),
                SquareKind::Dark | SquareKind::All => (file, rank),
            }
        };
        let mut order: Vec<u8> = (0..board.bits())
            .filter(|square| board.playable() >> square & 1 == 1)
            .collect();
        order.sort_unstable_by_key(|&square| {
            let (file, rank) = seen(square);
            match rules.names {
                NameStyle::Algebraic => (rank, file),
                NameStyle::NumberTop => (board.ranks() - 1 - rank, file),
                NameStyle::NumberBottomRight => (rank, board.files() - 1 - file),
            }
        });
        let mut names = Self {
            by_square: vec![String::new(); board.bits().into()],
            by_name: HashMap::new(),
            order,
        };
        for (index, &square) in names.order.iter().enumerate() {
            let (file, rank) = seen(square);
            let name = match rules.names {
                NameStyle::Algebraic => format!("{}{}", char::from(LETTERS[usize::from(file)]), rank + 1),
                NameStyle::NumberTop | NameStyle::NumberBottomRight => (index + 1).to_string(),
            };
            names.by_square[usize::from(square)].clone_from(&name);
            names.by_name.insert(name, square);
        }
        names
    }

    /// The name of a square; empty if there is no such square.
    pub(crate) fn name(&self, square: u8) -> &str {
        self.by_square.get(usize::from(square)).map_or("", String::as_str)
    }

    /// The square of a name.
    pub(crate) fn square(&self, name: &str) -> Option<u8> {
        self.by_name.get(name).copied()
    }

    /// The squares in the order of their names.
    pub(crate) fn order(&self) -> &[u8] {
        &self.order
    }
}
