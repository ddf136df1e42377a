//! What a thread has before it while it works on a block.

use std::ops::Range;

use petrov_games::{Bits, Rulebook};
use petrov_probe::Score;

use super::cells::Cells;
use super::crew::source_of;
use super::{Clock, Floods, Site};
use crate::large_pages::make_room;
use crate::values::GAP;

/// What has arrived and is not worked off. One is enough for a thread: it is
/// empty between two blocks.
#[derive(Default)]
pub(super) struct Workspace<B> {
    /// For each word of a block: new places where the opponent has lost, and
    /// where it has won.
    pub(super) news: Vec<[B; 2]>,
    /// Words with news.
    pub(super) is_dirty: Vec<u64>,
    pub(super) found: Found,
}

/// Where the opponent has won or lost, found by looking at its cells.
#[derive(Default)]
pub(super) struct Found {
    /// The first row looked at.
    first_row: u32,
    /// Bytes of a row: four places share one.
    row_bytes: usize,
    codes: Vec<u8>,
}

impl Found {
    pub(super) fn row(&self, row: u32) -> &[u8] {
        let start = (row - self.first_row) as usize * self.row_bytes;
        &self.codes[start..start + self.row_bytes]
    }

    /// Nothing found yet in rows of so many places.
    pub(super) fn clear(&mut self, rows: Range<u32>, places: usize) {
        self.first_row = rows.start;
        self.row_bytes = places.div_ceil(4);
        make_room(&mut self.codes, self.row_bytes * rows.len());
        self.codes.resize(self.row_bytes * rows.len(), 0);
    }

    /// What was found, row by row.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.codes)
    }

    /// Adds what another rank found, for rows from `first_row` on, two bits
    /// for each of these places.
    pub(super) fn merge(&mut self, rows: Range<u32>, first_row: u32, places: &[u32], codes: &[u8]) {
        let row_bytes = places.len().div_ceil(4);
        for row in rows {
            let start = (row - first_row) as usize * row_bytes;
            let Some(codes) = codes.get(start..start + row_bytes) else {
                continue;
            };
            let start = (row - self.first_row) as usize * self.row_bytes;
            let found = &mut self.codes[start..start + self.row_bytes];
            for (four, places) in codes.iter().zip(places.chunks(4)).filter(|(four, _)| **four != 0) {
                for (n, place) in places.iter().enumerate() {
                    let code = four >> (2 * n) & 3;
                    found[*place as usize / 4] |= code << (place % 4 * 2);
                }
            }
        }
    }
}

/// The places of a row to look for, and where what is found is put.
#[derive(Clone, Copy)]
pub(super) enum Places<'a> {
    /// All of so many.
    All(u32),
    /// These of so many.
    Some(&'a [u32], u32),
    /// These, one after the other.
    Packed(&'a [u32]),
}

impl Places<'_> {
    fn count(self) -> u32 {
        match self {
            Self::All(count) => count,
            Self::Some(list, _) | Self::Packed(list) => list.len() as u32,
        }
    }

    /// The place looked for at a number below the count, and its slot.
    #[inline(always)]
    fn get(self, number: u32) -> (u32, u32) {
        match self {
            Self::All(_) => (number, number),
            Self::Some(list, _) => (list[number as usize], list[number as usize]),
            Self::Packed(list) => (list[number as usize], number),
        }
    }

    fn slots(self) -> u32 {
        match self {
            Self::All(count) | Self::Some(_, count) => count,
            Self::Packed(list) => list.len() as u32,
        }
    }
}

impl<B: Bits> Workspace<B> {
    /// Looks at all positions of blocks in `floods` that moves from some rows
    /// could lead to, for those decided at the ply before. This is the inverse of [`super::Task::send`].
    ///
    /// What one place leads to is near for neighbouring rows, so that it is
    /// best to look for as many rows at once as there is room for.
    #[expect(clippy::too_many_arguments, reason = "what is looked for, where, and when")]
    pub(super) fn look<R: Rulebook<Set = B>>(
        &mut self,
        at: &Site<'_, R>,
        half: usize,
        rows: Range<u32>,
        theirs: &Cells,
        floods: &Floods,
        clock: Clock,
        places: Places<'_>,
    ) {
        let frame = at.frame;
        let (own, opp) = (frame.own[half], frame.opp[half]);
        let ply = clock.before();
        let found = &mut self.found;
        found.clear(rows.clone(), places.slots() as usize);
        if !frame.sideways && own.count() == 0 {
            return;
        }
        // Each row's set as its own side sees it, with what is added to its
        // number.
        let row_sets: Vec<(u32, u32)> = rows
            .map(|row| {
                let sets = opp.len() as u32;
                if frame.sideways {
                    (row / sets * sets, opp.turned(row % sets))
                } else {
                    (0, opp.turned(frame.row_set(half, row)))
                }
            })
            .collect();
        let row_bits = at.owners.row_bits[frame.other(half)];
        let source = |number: u32| {
            let (place, slot) = places.get(number);
            let (row, symmetry) = source_of(frame, half, place);
            let flood = floods.has((row >> row_bits) as usize);
            flood.then(|| (row, opp.images(symmetry), slot))
        };
        let count = places.count();
        for first in (0..count).step_by(PLACES_TOGETHER) {
            let numbers = first..count.min(first + PLACES_TOGETHER as u32);
            // So that the first reads from each row do not wait for each other.
            let near = numbers.clone().filter_map(source).fold(0, |near, (row, images, _)| {
                let ends = [row_sets.first(), row_sets.last()].into_iter().flatten();
                ends.fold(near, |near, (base, set)| {
                    near ^ theirs.peek(row, base + images[*set as usize])
                })
            });
            std::hint::black_box(near);
            for number in numbers {
                let Some((row, images, slot)) = source(number) else {
                    continue;
                };
                let (byte, shift) = ((slot / 4) as usize, slot % 4 * 2);
                let codes = found.codes[byte..].iter_mut().step_by(found.row_bytes);
                let numbers = row_sets.iter().map(|(base, set)| base + images[*set as usize]);
                theirs.each_decided_at(row, numbers, ply, codes, |codes, code| *codes |= code << shift);
            }
        }
    }
}

/// Places for which a thread looks at the other half's cells at once.
const PLACES_TOGETHER: usize = 16;

impl Clock {
    /// What the scores of positions decided at the ply before have below their
    /// highest two bits, where they tell distances.
    fn before(self) -> u16 {
        if self.is_turn() {
            return Score::FIFTY_MOVES;
        }
        let decided = Score::win(self.ply.saturating_sub(1));
        let decided = if self.spoilt { decided.spoilt() } else { decided };
        decided.to_bits() & !GAP
    }
}
