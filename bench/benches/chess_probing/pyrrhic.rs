//! pyrrhic-rs, with the attacks of cozy-chess, as its documentation has it.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use cozy_chess::{
    BitBoard, Color, Square, get_bishop_moves, get_king_moves, get_knight_moves, get_pawn_attacks, get_rook_moves,
};
use pyrrhic_rs::{EngineAdapter, TableBases, WdlProbeResult};

use crate::positions::{Bitboards, Positions};
use crate::{Failure, Library};

#[derive(Clone)]
struct Attacks;

fn square(square: u64) -> Square {
    Square::index(square as usize)
}

impl EngineAdapter for Attacks {
    fn pawn_attacks(color: pyrrhic_rs::Color, from: u64) -> u64 {
        let color = match color {
            pyrrhic_rs::Color::Black => Color::Black,
            pyrrhic_rs::Color::White => Color::White,
        };
        get_pawn_attacks(square(from), color).0
    }

    fn knight_attacks(from: u64) -> u64 {
        get_knight_moves(square(from)).0
    }

    fn bishop_attacks(from: u64, occupied: u64) -> u64 {
        get_bishop_moves(square(from), BitBoard(occupied)).0
    }

    fn rook_attacks(from: u64, occupied: u64) -> u64 {
        get_rook_moves(square(from), BitBoard(occupied)).0
    }

    fn queen_attacks(from: u64, occupied: u64) -> u64 {
        Self::bishop_attacks(from, occupied) | Self::rook_attacks(from, occupied)
    }

    fn king_attacks(from: u64) -> u64 {
        get_king_moves(square(from)).0
    }
}

pub(crate) struct Pyrrhic {
    tables: TableBases<Attacks>,
    positions: Vec<Bitboards>,
}

impl Pyrrhic {
    pub(crate) fn new(syzygy: &Path, positions: &Positions) -> Result<Self, Failure> {
        let path = syzygy.to_str().ok_or("the folder's name is not text")?;
        let tables = TableBases::new(path).map_err(|error| format!("{path}: {error:?}"))?;
        Ok(Self {
            tables,
            positions: positions.bitboards(),
        })
    }
}

impl Library for Pyrrhic {
    fn name(&self) -> &'static str {
        "pyrrhic-rs"
    }

    fn pass(&mut self) -> Result<(Duration, Vec<i8>), Failure> {
        let mut values = Vec::with_capacity(self.positions.len());
        let start = Instant::now();
        for position in &self.positions {
            let [kings, queens, rooks, bishops, knights, pawns] = position.kinds;
            let result = self.tables.probe_wdl(
                position.white,
                position.black,
                kings,
                queens,
                rooks,
                bishops,
                knights,
                pawns,
                0,
                position.white_to_move,
            );
            values.push(match black_box(result) {
                Ok(WdlProbeResult::Loss | WdlProbeResult::BlessedLoss) => -1,
                Ok(WdlProbeResult::Draw) => 0,
                Ok(WdlProbeResult::CursedWin | WdlProbeResult::Win) => 1,
                Err(error) => return Err(format!("pyrrhic-rs: {error:?}").into()),
            });
        }
        Ok((start.elapsed(), values))
    }
}
