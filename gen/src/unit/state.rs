//! The state of a unit between two plies, block by block, so that another
//! number of ranks can go on from it.

use std::collections::HashMap;

use petrov_games::Bits;
use serde::{Deserialize, Serialize};

use super::block::KeptEvents;
use super::{Clock, Unit};
use crate::message::{self, MessageError};

/// What a rank keeps of a unit.
pub(crate) struct UnitState {
    pub(crate) frame: StateFrame,
    /// Half and number within it of each block, and what it holds.
    pub(crate) blocks: Vec<(u8, u32, Vec<u8>)>,
}

/// What all ranks' parts of a unit's state have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct StateFrame {
    row_bits: [u32; 2],
    /// Blocks of each half.
    pub(crate) blocks: [u32; 2],
    ply: u16,
    spoilt: bool,
}

impl StateFrame {
    /// How far the unit has come: later states have greater numbers.
    pub(crate) fn progress(self) -> u32 {
        u32::from(self.ply) | u32::from(self.spoilt) << 16
    }
}

/// The state of a unit as brought together from what the ranks have kept: at
/// least the blocks of this rank.
pub(crate) struct KeptUnit {
    pub(crate) frame: StateFrame,
    pub(crate) blocks: HashMap<(u8, u32), Vec<u8>>,
}

/// A state does not fit the unit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// It is not one.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// It lacks a block, or a block has another size.
    #[error("the state kept of a unit is of another unit")]
    Other,
}

impl KeptUnit {
    pub(super) fn row_bits(&self) -> [u32; 2] {
        self.frame.row_bits
    }
}

/// What is kept of a block besides its cells and words.
#[derive(Serialize, Deserialize)]
struct BlockState {
    events: KeptEvents,
    flood: bool,
    cells: u64,
    words: u64,
}

impl<B: Bits> Unit<B> {
    /// The state of the blocks of this rank, after an exchange.
    pub(super) fn state(&self, clock: Clock) -> UnitState {
        let word_bytes = B::WIDTH as usize / 8;
        let mut blocks = Vec::new();
        for (number, half) in self.halves.iter().enumerate() {
            let mut words = &half.won_there[..];
            let all = half.blocks.iter().zip(&half.floods.flags).enumerate();
            for (at, (block, flood)) in all {
                let (own, rest) = words.split_at(block.rows.len() * half.row_words);
                words = rest;
                let cells = half.cells.bytes(block.rows.clone());
                let words: Vec<u8> = own
                    .iter()
                    .flat_map(|word| word.widen().to_le_bytes().into_iter().take(word_bytes))
                    .collect();
                let state = BlockState {
                    events: block.kept(),
                    flood: *flood,
                    cells: cells.len() as u64,
                    words: words.len() as u64,
                };
                let place = half.floods.first_block + at;
                blocks.push((number as u8, place as u32, message::encode(&state, &[&cells, &words])));
            }
        }
        UnitState {
            frame: StateFrame {
                row_bits: self.owners.row_bits,
                blocks: self.owners.blocks.map(|blocks| blocks as u32),
                ply: clock.ply,
                spoilt: clock.spoilt,
            },
            blocks,
        }
    }

    /// Goes back to a state.
    pub(super) fn restore(&mut self, state: &KeptUnit) -> Result<Clock, StateError> {
        if state.frame.row_bits != self.owners.row_bits
            || state.frame.blocks != self.owners.blocks.map(|blocks| blocks as u32)
        {
            return Err(StateError::Other);
        }
        let word_bytes = B::WIDTH as usize / 8;
        for (number, half) in self.halves.iter_mut().enumerate() {
            let mut words = &mut half.won_there[..];
            for (at, block) in half.blocks.iter_mut().enumerate() {
                let (own, rest) = words.split_at_mut(block.rows.len() * half.row_words);
                words = rest;
                let place = (half.floods.first_block + at) as u32;
                let bytes = state.blocks.get(&(number as u8, place)).ok_or(StateError::Other)?;
                let (kept, raw) = message::decode::<BlockState>(bytes)?;
                let fits = kept.cells.checked_add(kept.words) == Some(raw.len() as u64)
                    && kept.words == (own.len() * word_bytes) as u64;
                if !fits || !half.cells.set_bytes(block.rows.clone(), &raw[..kept.cells as usize]) {
                    return Err(StateError::Other);
                }
                for (word, bytes) in own.iter_mut().zip(raw[kept.cells as usize..].chunks_exact(word_bytes)) {
                    let mut wide = [0; 16];
                    wide[..word_bytes].copy_from_slice(bytes);
                    *word = B::narrow(u128::from_le_bytes(wide));
                }
                block.restore(kept.events, kept.flood);
            }
        }
        Ok(Clock {
            ply: state.frame.ply,
            spoilt: state.frame.spoilt,
        })
    }
}
