//! The ranks that share the rows of one unit, and what they send each other.
//!
//! Every rank owns a range of each half's blocks. After each ply every rank
//! sends every other one message: whether it has work left, which halves it
//! has flooded, and the arrivals for the receiver's blocks. Where a half is
//! flooded the next ply begins in rounds: each rank looks through its own
//! cells for what some rows of the others could move to, and sends two bits
//! for each such place.

use std::ops::Range;

use petrov_games::Rulebook;

use super::block::Arrival;
use super::state::UnitState;
use super::{Owners, Rows, Standing, UnitFrame};

/// The ranks that share a unit.
pub(crate) trait Crew: Sync {
    /// Number of this rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn ranks(&self) -> usize;

    /// Gives each rank what is for it, and takes what is from each, by rank;
    /// what a rank has for itself is not looked at. Every rank calls it the
    /// same number of times.
    fn exchange(&self, out: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Called at the beginning of each ply, for those who watch.
    fn at_ply(&self, ply: u16, spoilt: bool);

    /// Called between two plies, by every rank: whether the unit's state is to
    /// be kept now. All ranks get the same answer.
    fn wants_state(&self) -> bool;

    /// Keeps the state of this rank's part.
    fn keep_state(&self, state: UnitState);
}

/// A rank that has a unit to itself.
pub(crate) struct Alone;

impl Crew for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        1
    }

    fn exchange(&self, _: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn at_ply(&self, _: u16, _: bool) {}

    fn wants_state(&self) -> bool {
        false
    }

    fn keep_state(&self, _: UnitState) {}
}

/// The items of `all` that a rank owns.
pub(super) fn share(all: usize, rank: usize, ranks: usize) -> Range<usize> {
    let start = |rank: usize| (all as u128 * rank as u128 / ranks as u128) as usize;
    start(rank)..start(rank + 1)
}

/// For one half: the places that moves from rows of each rank lead to, seen
/// from the rows they lead to.
#[derive(Default)]
pub(super) struct Sources {
    places: Vec<u32>,
    starts: Vec<usize>,
}

impl Sources {
    pub(super) fn of(&self, rank: usize) -> &[u32] {
        &self.places[self.starts[rank]..self.starts[rank + 1]]
    }

    pub(super) fn new<R: Rulebook>(
        frame: &UnitFrame<'_, R>,
        standing: &Standing<R::Set>,
        owners: &Owners,
        half: usize,
        ranks: usize,
    ) -> Self {
        let other = frame.other(half);
        let sets = frame.own[half].len() as u32;
        let width = sets * standing.own(half).len() as u32;
        let mut lists = vec![Vec::new(); ranks];
        for place in 0..width {
            let (row, _) = source_of(frame, half, place);
            let block = (row >> owners.row_bits[other]) as usize;
            lists[owner(block, owners.blocks[other], ranks)].push(place);
        }
        let mut starts = vec![0];
        starts.extend(lists.iter().scan(0, |sum, list| {
            *sum += list.len();
            Some(*sum)
        }));
        Self {
            places: lists.concat(),
            starts,
        }
    }
}

/// The row of the other half from which moves lead to a place of a half, and
/// the symmetry by which it is seen there.
#[inline(always)]
pub(super) fn source_of<R: Rulebook>(frame: &UnitFrame<'_, R>, half: usize, place: u32) -> (u32, u8) {
    let own = frame.own[half];
    let sets = own.len() as u32;
    let (arrangement, set) = (place / sets, place % sets);
    match &frame.rows[frame.other(half)] {
        Rows::Plain => (arrangement * sets + own.turned(set), 0),
        Rows::Folded { classes, .. } => {
            let (row, symmetries) = classes[set as usize];
            (row, symmetries.trailing_zeros() as u8)
        }
    }
}

/// The rank that owns a block of a half, of so many.
pub(crate) fn owner(block: usize, blocks: usize, ranks: usize) -> usize {
    // The inverse of `share`.
    ((block as u128 + 1) * ranks as u128).div_ceil(blocks as u128) as usize - 1
}

/// What a rank says to another after a ply.
pub(super) struct PlyMessage {
    /// Something is left to do.
    pub(super) busy: bool,
    /// Halves of which some block has decided more than it sent.
    pub(super) floods: [bool; 2],
    /// Arrivals by block.
    pub(super) arrivals: Vec<u8>,
}

impl PlyMessage {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let flags = u8::from(self.busy) | u8::from(self.floods[0]) << 1 | u8::from(self.floods[1]) << 2;
        let mut bytes = Vec::with_capacity(1 + self.arrivals.len());
        bytes.push(flags);
        bytes.extend_from_slice(&self.arrivals);
        bytes
    }

    pub(super) fn from_bytes(mut bytes: Vec<u8>) -> Self {
        let flags = bytes.first().copied().unwrap_or(0);
        let arrivals = bytes.split_off(bytes.len().min(1));
        Self {
            busy: flags & 1 != 0,
            floods: [flags & 2 != 0, flags & 4 != 0],
            arrivals,
        }
    }
}

/// Appends the arrivals for a block to a message.
pub(super) fn append(message: &mut Vec<u8>, block: usize, arrivals: &[Arrival]) {
    message.reserve(8 + 4 * arrivals.len());
    message.extend_from_slice(&(block as u32).to_le_bytes());
    message.extend_from_slice(&(arrivals.len() as u32).to_le_bytes());
    for arrival in arrivals {
        message.extend_from_slice(&arrival.to_le_bytes());
    }
}

/// Gives each block of a message with its arrivals.
pub(super) fn each_list(message: &[u8], mut put: impl FnMut(usize, &mut dyn Iterator<Item = Arrival>)) {
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let mut rest = message;
    while rest.len() >= 8 {
        let (block, count) = (word(rest), word(&rest[4..]) as usize);
        let (list, left) = rest[8..].split_at(4 * count);
        put(block as usize, &mut list.chunks_exact(4).map(word));
        rest = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_the_owner_whose_share_it_is_in() {
        for blocks in 1..40 {
            for ranks in 1..12 {
                for rank in 0..ranks {
                    for block in share(blocks, rank, ranks) {
                        assert_eq!(owner(block, blocks, ranks), rank, "{block} of {blocks}, {ranks} ranks");
                    }
                }
                assert_eq!(share(blocks, ranks - 1, ranks).end, blocks);
            }
        }
    }

    #[test]
    fn arrivals_are_read_as_written() {
        let mut arrivals = Vec::new();
        append(&mut arrivals, 7, &[1, 2, u32::MAX]);
        append(&mut arrivals, 9, &[]);
        append(&mut arrivals, 8, &[5]);
        let message = PlyMessage {
            busy: true,
            floods: [false, true],
            arrivals,
        };
        let read = PlyMessage::from_bytes(message.to_bytes());
        assert!(read.busy && read.floods == [false, true]);
        let mut lists = Vec::new();
        each_list(&read.arrivals, |block, list| {
            lists.push((block, list.collect::<Vec<_>>()))
        });
        assert_eq!(lists, [(7, vec![1, 2, u32::MAX]), (9, vec![]), (8, vec![5])]);
    }
}
