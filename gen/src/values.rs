//! Solved values of one slice with one side to move, in memory.

use std::sync::atomic::{AtomicU8, AtomicU16, Ordering::Relaxed};

use petrov_probe::{Metric, Score};

use crate::large_pages::zeros;

/// The outcome that stands for no position.
pub(crate) const GAP_OUTCOME: u8 = 3;

/// Values in solving order. Tasks write disjoint ranges and read ranges that
/// are complete; both only need relaxed atomics, which cost what plain loads
/// and stores do, because the end of a parallel loop orders everything.
#[derive(Debug)]
pub(crate) struct Values {
    /// Two bits a position: 0 draw, 1 win, 2 loss, 3 no position. Only for WLD.
    outcomes: Box<[AtomicU8]>,
    /// The score itself, or [`GAP`]. Only for distances.
    scores: Box<[AtomicU16]>,
    /// One bit a position: its entry in the table is free. Given back once
    /// the table is written.
    free: Box<[AtomicU8]>,
}

/// Stands in place of a score for a placement that is no position: both a win
/// and a loss.
pub(crate) const GAP: u16 = 3 << 14;

impl Values {
    pub(crate) fn new(metric: Metric, len: u64) -> Self {
        let wld = metric == Metric::Wld;
        Self {
            outcomes: zeros(if wld { len.div_ceil(4) as usize } else { 0 }),
            scores: zeros(if wld { 0 } else { len as usize }),
            free: zeros(len.div_ceil(8) as usize),
        }
    }

    /// Bytes of memory for `len` positions while their table is being made,
    /// and once only the values are kept.
    pub(crate) fn bytes(metric: Metric, len: u64) -> (u64, u64) {
        let values = if metric == Metric::Wld {
            len.div_ceil(4)
        } else {
            2 * len
        };
        (values + len.div_ceil(8), values)
    }

    /// Whether there are only outcomes, no distances.
    pub(crate) fn only_outcomes(&self) -> bool {
        self.scores.is_empty()
    }

    /// The outcome of a position, where there are only outcomes.
    #[inline(always)]
    pub(crate) fn outcome(&self, index: u64) -> u8 {
        self.outcomes[(index / 4) as usize].load(Relaxed) >> (index % 4 * 2) & 3
    }

    /// The score that an outcome stands for.
    #[inline(always)]
    pub(crate) fn score_of(outcome: u8) -> Score {
        match outcome {
            1 => Score::win(0),
            2 => Score::loss(0),
            _ => Score::DRAW,
        }
    }

    /// The score of a position.
    #[inline(always)]
    pub(crate) fn score(&self, index: u64) -> Score {
        if self.only_outcomes() {
            Self::score_of(self.outcome(index))
        } else {
            Score::from_bits(self.scores[index as usize].load(Relaxed))
        }
    }

    /// Whether the placement is no position.
    #[inline(always)]
    pub(crate) fn is_gap(&self, index: u64) -> bool {
        if self.only_outcomes() {
            self.outcome(index) == GAP_OUTCOME
        } else {
            self.scores[index as usize].load(Relaxed) == GAP
        }
    }

    /// Whether the mover's capture decides the position.
    #[inline(always)]
    pub(crate) fn is_free(&self, index: u64) -> bool {
        self.free[(index / 8) as usize].load(Relaxed) >> (index % 8) & 1 == 1
    }

    /// Forgets which entries are free.
    pub(crate) fn drop_free(&mut self) {
        self.free = Box::default();
    }

    /// Writes scores one after the other from an index on. Only one cursor
    /// may cover an index.
    pub(crate) fn cursor(&self, index: u64) -> Cursor<'_> {
        Cursor {
            values: self,
            next: index,
            outcomes: 0,
            free: 0,
            outcomes_from: index,
            free_from: index,
        }
    }
}

/// Writes consecutive positions; see [`Values::cursor`].
pub(crate) struct Cursor<'a> {
    values: &'a Values,
    next: u64,
    outcomes: u8,
    free: u8,
    outcomes_from: u64,
    free_from: u64,
}

impl Cursor<'_> {
    /// `score` are the bits of a score, or [`GAP`].
    #[inline(always)]
    pub(crate) fn push(&mut self, score: u16, free: bool) {
        let index = self.next;
        self.next += 1;
        if self.values.scores.is_empty() {
            // 1 for a win, 2 for a loss, both for neither.
            let code = (score >> 14) as u8;
            self.outcomes |= code << (index % 4 * 2);
            if index % 4 == 3 {
                self.flush_outcomes();
            }
        } else {
            self.values.scores[index as usize].store(score, Relaxed);
        }
        self.free |= u8::from(free) << (index % 8);
        if index % 8 == 7 {
            self.flush_free();
        }
    }

    #[inline(always)]
    fn flush_outcomes(&mut self) {
        let byte = &self.values.outcomes[((self.next - 1) / 4) as usize];
        if self.next - self.outcomes_from == 4 {
            byte.store(self.outcomes, Relaxed);
        } else {
            // The byte is shared with a neighbouring cursor.
            byte.fetch_or(self.outcomes, Relaxed);
        }
        self.outcomes = 0;
        self.outcomes_from = self.next;
    }

    #[inline(always)]
    fn flush_free(&mut self) {
        let byte = &self.values.free[((self.next - 1) / 8) as usize];
        if self.next - self.free_from == 8 {
            byte.store(self.free, Relaxed);
        } else {
            byte.fetch_or(self.free, Relaxed);
        }
        self.free = 0;
        self.free_from = self.next;
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        if self.values.scores.is_empty() && self.next > self.outcomes_from {
            self.flush_outcomes();
        }
        if self.next > self.free_from {
            self.flush_free();
        }
    }
}
