//! What a thread has before it while it works on a block.

use std::ops::Range;

use petrov_games::{Bits, Rulebook};
use petrov_probe::Score;

use super::cells::Cells;
use super::{Clock, Rows, Site};
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
}

impl<B: Bits> Workspace<B> {
    /// Looks at all positions of blocks in `floods` that moves from some rows
    /// could lead to, for those decided at the ply before. This is the inverse of [`super::Task::send`].
    ///
    /// What one place leads to is near for neighbouring rows, so that it is
    /// best to look for as many rows at once as there is room for.
    pub(super) fn look<R: Rulebook<Set = B>>(
        &mut self,
        at: &Site<'_, R>,
        half: usize,
        rows: Range<u32>,
        theirs: &Cells,
        floods: &[bool],
        clock: Clock,
    ) {
        let frame = at.frame;
        let (own, opp) = (frame.own[half], frame.opp[half]);
        let (sets, arrangements) = (own.len() as u32, at.standing.own[half].len() as u32);
        let width = sets * arrangements;
        let ply = clock.before();
        let found = &mut self.found;
        found.first_row = rows.start;
        found.row_bytes = width.div_ceil(4) as usize;
        make_room(&mut found.codes, found.row_bytes * rows.len());
        found.codes.resize(found.row_bytes * rows.len(), 0);
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
        let source = |place: u32| {
            let (arrangement, set) = (place / sets, place % sets);
            let (row, symmetry) = match &frame.rows[frame.other(half)] {
                Rows::Plain => (arrangement * sets + own.turned(set), 0),
                Rows::Folded { classes, .. } => {
                    let (row, symmetries) = classes[set as usize];
                    (row, symmetries.trailing_zeros() as u8)
                }
            };
            let flood = floods[(row >> at.owners.row_bits[frame.other(half)]) as usize];
            flood.then(|| (row, opp.images(symmetry)))
        };
        for first in (0..width).step_by(PLACES_TOGETHER) {
            let places = first..width.min(first + PLACES_TOGETHER as u32);
            // So that the first reads from each row do not wait for each other.
            let near = places.clone().filter_map(source).fold(0, |near, (row, images)| {
                let ends = [row_sets.first(), row_sets.last()].into_iter().flatten();
                ends.fold(near, |near, (base, set)| {
                    near ^ theirs.peek(row, base + images[*set as usize])
                })
            });
            std::hint::black_box(near);
            for place in places {
                let Some((row, images)) = source(place) else {
                    continue;
                };
                let (byte, shift) = ((place / 4) as usize, place % 4 * 2);
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
