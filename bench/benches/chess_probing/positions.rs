//! The positions that all libraries are asked for.

use std::path::Path;

use petrov_games::Colour;
use petrov_games::chess::{Board, Game, Kind, Position, Side};

use crate::Failure;

/// Random legal positions without castling and en passant rights.
pub(crate) struct Positions {
    /// Their materials, as Syzygy names them.
    pub(crate) materials: Vec<String>,
    pub(crate) all: Vec<Position>,
    /// Orthodox chess.
    pub(crate) game: Game,
}

/// One position as Syzygy's readers take it.
#[derive(Clone, Copy)]
pub(crate) struct Bitboards {
    pub(crate) white: u64,
    pub(crate) black: u64,
    /// Kings, queens, rooks, bishops, knights and pawns of both sides.
    pub(crate) kinds: [u64; 6],
    pub(crate) white_to_move: bool,
}

impl Positions {
    /// So many positions; each has any of the materials of a folder's WDL
    /// tables of so many pieces, any colour as the stronger one and any side to
    /// move.
    pub(crate) fn random(syzygy: &Path, pieces: usize, count: usize, seed: u64) -> Result<Self, Failure> {
        let game = petrov_games::Games::built_in().chess("chess")?.clone();
        let mut materials = Vec::new();
        for entry in std::fs::read_dir(syzygy).map_err(|error| format!("{}: {error}", syzygy.display()))? {
            let path = entry?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path.extension().is_some_and(|ending| ending == "rtbw") && stem.len() == pieces + 1 {
                materials.push(stem.to_owned());
            }
        }
        materials.sort();
        if materials.is_empty() {
            return Err(format!("{}: no WDL table of {pieces} pieces", syzygy.display()).into());
        }

        let mut random = Random(seed);
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            let material = &materials[random.below(materials.len() as u64) as usize];
            let mut side = [Side::Own, Side::Opponent][random.below(2) as usize];
            let turn = [Colour::White, Colour::Black][random.below(2) as usize];
            let mut board = Board::EMPTY;
            for letter in material.chars() {
                let Some(kind) = game.rules().kind(letter.to_ascii_lowercase()) else {
                    // The `v` between the sides.
                    side = if side == Side::Own { Side::Opponent } else { Side::Own };
                    continue;
                };
                let square = random.below(64) as u8;
                let stands = kind != Kind::PAWN || (8..56).contains(&square);
                if stands && board.occupied() >> square & 1 == 0 {
                    board.put(kind, side, square);
                }
            }
            let position = Position {
                board,
                turn,
                halfmove: 0,
                fullmove: 1,
            };
            let generator = game.generator();
            // A collision leaves a piece out: drawn anew as a whole, so that
            // every placement is equally likely.
            if board.occupied().count_ones() as usize == pieces
                && !generator.opponent_in_check(&generator.view(&position))
            {
                all.push(position);
            }
        }
        Ok(Self { materials, all, game })
    }

    pub(crate) fn bitboards(&self) -> Vec<Bitboards> {
        let kinds = ['k', 'q', 'r', 'b', 'n', 'p'].map(|letter| self.game.rules().kind(letter));
        let bitboards = self.all.iter().map(|position| Bitboards {
            white: position.board.own,
            black: position.board.opponent,
            kinds: kinds.map(|kind| kind.map_or(0, |kind| position.board.of(kind))),
            white_to_move: position.turn == Colour::White,
        });
        bitboards.collect()
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    /// A number below `limit`, which is small: the bias does not matter.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
