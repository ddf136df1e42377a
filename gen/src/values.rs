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
    /// Where the values are if they are not here.
    elsewhere: Option<Box<dyn Elsewhere>>,
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

/// Values that other ranks have, as a whole or in part.
pub(crate) trait Elsewhere: std::fmt::Debug + Send + Sync {
    /// The score of a position. Waits until it is known.
    fn score(&self, index: u64) -> Score;

    /// Takes what consecutive positions hold: the bits of their scores, or
    /// [`GAP`], with whether they are free.
    fn put(&self, from: u64, values: Vec<(u16, bool)>);
}

impl Values {
    pub(crate) fn new(metric: Metric, len: u64) -> Self {
        let wld = metric == Metric::Wld;
        Self {
            elsewhere: None,
            outcomes: zeros(if wld { len.div_ceil(4) as usize } else { 0 }),
            scores: zeros(if wld { 0 } else { len as usize }),
            free: zeros(len.div_ceil(8) as usize),
        }
    }

    /// Values of which nothing is held here.
    pub(crate) fn elsewhere(elsewhere: Box<dyn Elsewhere>) -> Self {
        Self {
            elsewhere: Some(elsewhere),
            outcomes: Box::default(),
            scores: Box::default(),
            free: Box::default(),
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
            match self.outcomes.get((index / 4) as usize) {
                Some(four) => Self::score_of(four.load(Relaxed) >> (index % 4 * 2) & 3),
                None => self.score_elsewhere(index),
            }
        } else {
            Score::from_bits(self.scores[index as usize].load(Relaxed))
        }
    }

    fn score_elsewhere(&self, index: u64) -> Score {
        let elsewhere = self.elsewhere.as_ref();
        elsewhere.expect("an index is below the number of values").score(index)
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
            from: index,
            kept: Vec::new(),
        }
    }

    /// The values from one index to another. Bits of neighbours may be among
    /// the last ones.
    pub(crate) fn page(&self, range: std::ops::Range<u64>) -> Page {
        let mut page = Page::new(self.only_outcomes(), (range.end - range.start) as usize);
        if self.only_outcomes() && range.start.is_multiple_of(8) {
            let copy = |from: &[AtomicU8], to: &mut [u8]| {
                from.iter().zip(to).for_each(|(from, to)| *to = from.load(Relaxed));
            };
            copy(&self.outcomes[(range.start / 4) as usize..], &mut page.values);
            copy(&self.free[(range.start / 8) as usize..], &mut page.free);
            return page;
        }
        for (at, index) in range.enumerate() {
            let bits = if self.only_outcomes() {
                u16::from(self.outcome(index)) << 14
            } else {
                self.scores[index as usize].load(Relaxed)
            };
            page.set(at, bits, self.is_free(index));
        }
        page
    }
}

/// Consecutive values, packed: two bits or two bytes each, and a bit for each that is free.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    only_outcomes: bool,
    pub(crate) values: Vec<u8>,
    pub(crate) free: Vec<u8>,
}

impl Page {
    /// So many draws.
    pub(crate) fn new(only_outcomes: bool, len: usize) -> Self {
        let values = if only_outcomes { len.div_ceil(4) } else { 2 * len };
        Self {
            only_outcomes,
            values: vec![0; values],
            free: vec![0; len.div_ceil(8)],
        }
    }

    /// Sets a value that has not been set before.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, bits: u16, free: bool) {
        if self.only_outcomes {
            self.values[at / 4] |= ((bits >> 14) as u8) << (at % 4 * 2);
        } else {
            self.values[2 * at..2 * at + 2].copy_from_slice(&bits.to_le_bytes());
        }
        self.free[at / 8] |= u8::from(free) << (at % 8);
    }

    /// The bits of a score among packed values, or [`GAP`].
    #[inline(always)]
    pub(crate) fn bits_in(values: &[u8], only_outcomes: bool, at: usize) -> u16 {
        if only_outcomes {
            u16::from(values[at / 4] >> (at % 4 * 2) & 3) << 14
        } else {
            u16::from_le_bytes([values[2 * at], values[2 * at + 1]])
        }
    }

    /// The bits of a score, or [`GAP`], and whether it is free.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> (u16, bool) {
        let free = self.free.get(at / 8).is_some_and(|free| free >> (at % 8) & 1 == 1);
        (Self::bits_in(&self.values, self.only_outcomes, at), free)
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
    from: u64,
    /// What is for elsewhere.
    kept: Vec<(u16, bool)>,
}

impl Cursor<'_> {
    /// `score` are the bits of a score, or [`GAP`].
    #[inline(always)]
    pub(crate) fn push(&mut self, score: u16, free: bool) {
        if self.values.elsewhere.is_some() {
            self.kept.push((score, free));
            return;
        }
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
        if let Some(elsewhere) = &self.values.elsewhere {
            elsewhere.put(self.from, std::mem::take(&mut self.kept));
            return;
        }
        if self.values.scores.is_empty() && self.next > self.outcomes_from {
            self.flush_outcomes();
        }
        if self.next > self.free_from {
            self.flush_free();
        }
    }
}
