//! What is known of the positions of a half, packed.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering::Relaxed};

use petrov_probe::Metric;

use crate::large_pages::make_room;
use crate::values::GAP;

/// Cell bit: the mover's captures tell at least as much as the table's entry
/// has to. What they lead to is a win if the cell's score is one, else a draw
/// (where captures are compulsory: the score itself).
pub(super) const FREE: u16 = 1 << 12;

/// Cell bit where neither win nor loss is set: not decided yet. The distance is
/// that of the longest losing conversion, or [`CANNOT_LOSE`].
pub(super) const OPEN: u16 = 1 << 13;

/// As the distance of an open position: a conversion avoids losing, for now at
/// least. So it is, too, where the position is [`FREE`].
pub(super) const CANNOT_LOSE: u16 = 0x0fff;

/// As the distance of a position that is open and [`FREE`]: a capture wins.
pub(super) const CAPTURE_WINS: u16 = 1;

/// The cells of a half, row by row: the bits of a [`petrov_probe::Score`] or
/// of [`GAP`], with [`FREE`], or an [`OPEN`] position. Where there are only
/// outcomes a cell takes half a byte, else two.
///
/// A row's owner alone writes its cells; others may read them at the same
/// time, and what they then see of a cell being decided makes no difference.
/// Relaxed atomics say so and cost what plain loads and stores do.
#[derive(Default)]
pub(super) struct Cells {
    wide: Vec<AtomicU16>,
    narrow: Vec<AtomicU8>,
    is_wide: bool,
    rows: Range<u32>,
    /// From row to row, in cells. Even, so that no byte is shared.
    pitch: usize,
}

/// Narrow cells: the lowest bit is [`FREE`], two more are the score's highest
/// two (in an open position, whether it may lose), the last is [`OPEN`]. If it
/// is the last and the one before, the position has been decided in the unit,
/// at an odd ply if the next is set, and the lowest is set if it is a loss.
const NARROW_OPEN: u8 = 8;
const NARROW_MAY_LOSE: u8 = 2;
const NARROW_FRESH: u8 = 12;
const NARROW_ODD: u8 = 2;

/// For each narrow cell what [`Cells::each_decided_at`] gives: for what was
/// decided at the start, at an even ply and at an odd one.
const NARROW_DECIDED: [u32; 3] = [0b1010_0101_0000, 0b1001 << 24, 0b1001 << 28];

/// A position that has been won, to those who look for decided ones.
pub(super) const DECIDED_WON: u8 = 1;
/// One that has been lost.
#[cfg(test)]
const DECIDED_LOST: u8 = 2;

const fn widened(narrow: u8) -> u16 {
    let free = if narrow & 1 == 1 { FREE } else { 0 };
    if narrow & NARROW_FRESH == NARROW_FRESH {
        (1 + (narrow as u16 & 1)) << 14
    } else if narrow & NARROW_OPEN == 0 {
        (narrow as u16 >> 1 & 3) << 14 | free
    } else if narrow & NARROW_MAY_LOSE != 0 || free != 0 {
        OPEN | free
    } else {
        OPEN | CANNOT_LOSE
    }
}

const WIDENED: [u16; 16] = {
    let mut table = [0; 16];
    let mut narrow = 0;
    while narrow < 16 {
        table[narrow as usize] = widened(narrow);
        narrow += 1;
    }
    table
};

#[inline(always)]
fn narrowed(cell: u16) -> u8 {
    let free = (cell >> 12 & 1) as u8;
    if is_open(cell) {
        NARROW_OPEN | free | if may_lose(cell) { NARROW_MAY_LOSE } else { 0 }
    } else {
        ((cell >> 14) << 1) as u8 | free
    }
}

/// Whether a cell is that of a position not decided yet.
#[inline(always)]
pub(super) fn is_open(cell: u16) -> bool {
    cell & (GAP | OPEN) == OPEN
}

/// Whether an open position has no conversion that avoids losing.
#[inline(always)]
fn may_lose(cell: u16) -> bool {
    cell & FREE == 0 && cell & CANNOT_LOSE != CANNOT_LOSE
}

impl Cells {
    /// Room for some rows of so many positions, all of them draws.
    pub(super) fn clear(&mut self, metric: Metric, rows: Range<u32>, width: usize) {
        self.is_wide = metric != Metric::Wld;
        self.rows = rows.clone();
        self.pitch = width.next_multiple_of(2);
        let cells = rows.len() * self.pitch;
        let (wide, narrow) = if self.is_wide { (cells, 0) } else { (0, cells / 2) };
        make_room(&mut self.wide, wide);
        self.wide.resize_with(wide, AtomicU16::default);
        make_room(&mut self.narrow, narrow);
        self.narrow.resize_with(narrow, AtomicU8::default);
    }

    /// Bytes of a row.
    pub(super) fn row_bytes(metric: Metric, width: u64) -> u64 {
        if metric == Metric::Wld {
            width.div_ceil(2)
        } else {
            width.saturating_mul(2)
        }
    }

    #[inline(always)]
    pub(super) fn has_row(&self, row: u32) -> bool {
        self.rows.contains(&row)
    }

    /// What some rows hold.
    pub(super) fn bytes(&self, rows: Range<u32>) -> Vec<u8> {
        let cells = self.row(rows.start)..self.row(rows.end);
        if self.is_wide {
            let cells = self.wide[cells].iter();
            cells.flat_map(|cell| cell.load(Relaxed).to_le_bytes()).collect()
        } else {
            let cells = &self.narrow[cells.start / 2..cells.end / 2];
            cells.iter().map(|cell| cell.load(Relaxed)).collect()
        }
    }

    /// Makes some rows hold what [`Cells::bytes`] gave; false if that is not
    /// their size.
    pub(super) fn set_bytes(&self, rows: Range<u32>, bytes: &[u8]) -> bool {
        let cells = self.row(rows.start)..self.row(rows.end);
        if self.is_wide {
            let cells = &self.wide[cells];
            for (cell, bytes) in cells.iter().zip(bytes.chunks_exact(2)) {
                cell.store(u16::from_le_bytes([bytes[0], bytes[1]]), Relaxed);
            }
            bytes.len() == 2 * cells.len()
        } else {
            let cells = &self.narrow[cells.start / 2..cells.end / 2];
            for (cell, byte) in cells.iter().zip(bytes) {
                cell.store(*byte, Relaxed);
            }
            bytes.len() == cells.len()
        }
    }

    /// The first cell of a row.
    #[inline(always)]
    pub(super) fn row(&self, row: u32) -> usize {
        (row - self.rows.start) as usize * self.pitch
    }

    #[inline(always)]
    fn half_byte(&self, cell: usize) -> u8 {
        self.narrow[cell / 2].load(Relaxed) >> (cell % 2 * 4) & 15
    }

    #[inline(always)]
    pub(super) fn get(&self, cell: usize) -> u16 {
        if self.is_wide {
            self.wide[cell].load(Relaxed)
        } else {
            WIDENED[usize::from(self.half_byte(cell))]
        }
    }

    /// Only the row's owner may call it.
    #[inline(always)]
    pub(super) fn set(&self, cell: usize, bits: u16) {
        if self.is_wide {
            self.wide[cell].store(bits, Relaxed);
        } else {
            self.set_narrow(cell, narrowed(bits));
        }
    }

    #[inline(always)]
    fn set_narrow(&self, cell: usize, bits: u8) {
        let shift = cell % 2 * 4;
        let byte = &self.narrow[cell / 2];
        let kept = byte.load(Relaxed) & !(15 << shift);
        byte.store(kept | bits << shift, Relaxed);
    }

    /// Sets the score of a position that is decided at a ply. Only the row's
    /// owner may call it.
    #[inline(always)]
    pub(super) fn decide(&self, cell: usize, bits: u16, ply: u16) {
        if self.is_wide {
            self.wide[cell].store(bits, Relaxed);
        } else {
            debug_assert!(bits & FREE == 0, "captures decide outcomes at the start");
            let odd = (ply as u8 & 1) * NARROW_ODD;
            self.set_narrow(cell, NARROW_FRESH | odd | (bits >> 15) as u8);
        }
    }

    /// What rows have decided at the ply before the last is no longer looked
    /// for. It would do no harm, but takes time. Only the rows' owner may call
    /// it.
    pub(super) fn forget(&self, rows: Range<u32>, ply: u16) {
        if self.is_wide {
            return;
        }
        let fresh = NARROW_FRESH | ((ply as u8 & 1) * NARROW_ODD);
        let old = |cell: u8| {
            if cell & !1 == fresh { 2 << (cell & 1) } else { cell }
        };
        let table: Vec<u8> = (0..=255).map(|byte: u8| old(byte >> 4) << 4 | old(byte & 15)).collect();
        for byte in &self.narrow[self.row(rows.start) / 2..self.row(rows.end) / 2] {
            byte.store(table[usize::from(byte.load(Relaxed))], Relaxed);
        }
    }

    /// Whether a position is not decided yet.
    #[inline(always)]
    pub(super) fn is_open(&self, cell: usize) -> bool {
        if self.is_wide {
            is_open(self.wide[cell].load(Relaxed))
        } else {
            self.half_byte(cell) & NARROW_FRESH == NARROW_OPEN
        }
    }

    /// Whether a position is open and no conversion avoids losing.
    #[inline(always)]
    pub(super) fn may_lose(&self, cell: usize) -> bool {
        if self.is_wide {
            let bits = self.wide[cell].load(Relaxed);
            is_open(bits) && may_lose(bits)
        } else {
            self.half_byte(cell) == NARROW_OPEN | NARROW_MAY_LOSE
        }
    }

    /// Something that depends on a cell, for reading it early.
    #[inline(always)]
    pub(super) fn peek(&self, row: u32, place: u32) -> u16 {
        let cell = self.row(row) + place as usize;
        if self.is_wide {
            self.wide[cell].load(Relaxed)
        } else {
            self.narrow[cell / 2].load(Relaxed).into()
        }
    }

    /// For places of a row: [`DECIDED_WON`] or [`DECIDED_LOST`] where the
    /// position has been won or lost at a ply, else 0. `ply` is what the scores
    /// have below their highest two bits. Where there are only outcomes, those
    /// of two plies before may be among them, and so on; see
    /// [`Cells::forget`]. `put` gets each with one of `slots`.
    #[inline(always)]
    pub(super) fn each_decided_at<S>(
        &self,
        row: u32,
        places: impl Iterator<Item = u32>,
        ply: u16,
        slots: impl Iterator<Item = S>,
        put: impl Fn(S, u8),
    ) {
        let first = self.row(row);
        if self.is_wide {
            let cells = &self.wide[first..first + self.pitch];
            for (place, slot) in places.zip(slots) {
                let bits = cells[place as usize].load(Relaxed) & !FREE;
                let counts = bits & !GAP == ply && bits != GAP;
                put(slot, if counts { (bits >> 14) as u8 } else { 0 });
            }
        } else {
            let cells = &self.narrow[first / 2..(first + self.pitch) / 2];
            let decided = NARROW_DECIDED[if ply == 0 { 0 } else { 1 + usize::from(ply % 2) }];
            for (place, slot) in places.zip(slots) {
                let cell = cells[place as usize / 2].load(Relaxed) >> (place % 2 * 4) & 15;
                put(slot, (decided >> (2 * cell) & 3) as u8);
            }
        }
    }

    /// Scores of one row as bits, or [`GAP`], for every place (those that do
    /// not fit the row hold nothing), with whether they are free.
    #[inline(always)]
    pub(super) fn scores(&self, row: u32) -> impl Fn(u32) -> (u16, bool) + '_ {
        let first = self.row(row);
        move |place| {
            let cell = self.get(first + place as usize);
            // Open to the end is a draw.
            let score = if cell & GAP == 0 { 0 } else { cell & !FREE };
            (score, cell & FREE != 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use petrov_probe::Score;

    use super::*;

    fn decided_at(cells: &Cells, row: u32, place: u32, ply: u16) -> u8 {
        let found = Cell::new(9);
        cells.each_decided_at(row, [place].into_iter(), ply, [()].into_iter(), |(), code| {
            found.set(code)
        });
        found.get()
    }

    #[test]
    fn a_cell_holds_what_is_put_there() {
        let outcomes = [0, Score::win(0).to_bits(), Score::loss(0).to_bits(), GAP];
        let mut all: Vec<u16> = outcomes.iter().flat_map(|bits| [*bits, bits | FREE]).collect();
        all.extend([OPEN, OPEN | CANNOT_LOSE, OPEN | FREE]);
        for metric in Metric::ALL {
            let mut cells = Cells::default();
            cells.clear(metric, 0..2, all.len() * all.len());
            for (n, (first, second)) in all
                .iter()
                .flat_map(|one| all.iter().map(move |other| (one, other)))
                .enumerate()
            {
                let cell = cells.row(1) + n;
                cells.set(cell, *first);
                assert_eq!(cells.get(cell), *first);
                cells.set(cell, *second);
                assert_eq!(cells.get(cell), *second);
                assert_eq!(cells.is_open(cell), second & GAP == 0 && second & OPEN != 0);
                assert_eq!(cells.may_lose(cell), *second == OPEN);
                let decided = match second & GAP {
                    0x4000 => DECIDED_WON,
                    0x8000 => DECIDED_LOST,
                    _ => 0,
                };
                assert_eq!(decided_at(&cells, 1, n as u32, 0), decided);
            }
            assert!(
                (0..all.len()).all(|cell| cells.get(cell) == 0),
                "another row has changed"
            );
        }
    }

    #[test]
    fn narrow_cells_tell_odd_plies_from_even_ones() {
        let mut cells = Cells::default();
        cells.clear(Metric::Wld, 0..2, 5);
        let (win, loss) = (Score::win(0).to_bits(), Score::loss(0).to_bits());
        let row = cells.row(1);
        cells.set(row, win);
        for (place, bits, ply) in [(1, win, 1), (2, loss, 2), (3, loss, 3), (4, win, 4)] {
            cells.set(row + place, OPEN);
            cells.decide(row + place, bits, ply);
        }
        let at = |ply| [0, 1, 2, 3, 4].map(|place| decided_at(&cells, 1, place, ply));
        assert_eq!(at(0), [DECIDED_WON, 0, 0, 0, 0]);
        assert_eq!(at(3), [0, DECIDED_WON, 0, DECIDED_LOST, 0]);
        assert_eq!(at(4), [0, 0, DECIDED_LOST, 0, DECIDED_WON]);
        cells.forget(1..2, 5);
        assert_eq!(at(3), [0; 5]);
        assert_eq!(at(4), [0, 0, DECIDED_LOST, 0, DECIDED_WON]);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|place| cells.get(row + place)),
            [win, win, loss, loss, win]
        );
        assert!((0..5).all(|place| !cells.is_open(row + place)));
    }

    #[test]
    fn wide_cells_tell_plies_apart() {
        let mut cells = Cells::default();
        cells.clear(Metric::Dtz, 0..1, 4);
        let all = [Score::win(7), Score::loss(7).spoilt(), Score::loss(7), Score::win(8)];
        for (cell, score) in all.iter().enumerate() {
            cells.set(cell, score.to_bits() | if cell == 2 { FREE } else { 0 });
        }
        let at = |ply| [0, 1, 2, 3].map(|place| decided_at(&cells, 0, place, ply));
        assert_eq!(at(7), [DECIDED_WON, 0, DECIDED_LOST, 0]);
        assert_eq!(at(Score::loss(7).spoilt().to_bits() & !GAP), [0, DECIDED_LOST, 0, 0]);
        assert_eq!(at(8), [0, 0, 0, DECIDED_WON]);
    }
}
