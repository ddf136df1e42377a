//! Counting what a slice holds.

use std::collections::BTreeMap;

use petrov_games::Bits;
use petrov_probe::format::FreeEntries;
use rayon::prelude::*;

use crate::clock::Meter;
use crate::solved::Side;

/// What one side to move of a slice holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// Unfolded positions of each score, free entries included, and entries
    /// of it that are not free.
    pub(crate) scores: BTreeMap<u16, Count>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) positions: u64,
    pub(crate) stored: u64,
}

impl Summary {
    pub(crate) fn of<B: Bits>(side: &Side<B>, free: FreeEntries, meter: &Meter) -> Self {
        let index = &side.index;
        let lead = index.lead();
        let (leads, width) = (index.range(lead), index.scale(lead));
        let chunk = (1 << 16) / width.max(1) + 1;
        let count = |from: u64| {
            let mut counts = [Count::default(); 8].to_vec();
            for lead in from..(from + chunk).min(leads) {
                let weight = index.weight(lead);
                for entry in lead * width..(lead + 1) * width {
                    if side.values.is_gap(entry) {
                        continue;
                    }
                    let score = side.values.score(entry);
                    let slot = usize::from(score.distance()) * 8 + usize::from(score.to_bits() >> 13);
                    if counts.len() <= slot {
                        counts.resize(slot + 8, Count::default());
                    }
                    counts[slot].positions += weight;
                    let freed = side.values.is_free(entry) && free.frees(score);
                    counts[slot].stored += u64::from(!freed);
                }
            }
            counts
        };
        let counts = (0..leads.div_ceil(chunk))
            .into_par_iter()
            .map(|n| meter.measure(|| count(n * chunk)))
            .reduce(Vec::new, |mut a, b| {
                if a.len() < b.len() {
                    a.resize(b.len(), Count::default());
                }
                for (a, b) in a.iter_mut().zip(b) {
                    a.positions += b.positions;
                    a.stored += b.stored;
                }
                a
            });
        let scores = counts
            .into_iter()
            .enumerate()
            .filter(|(_, count)| count.positions > 0)
            .map(|(slot, count)| ((slot / 8) as u16 | ((slot % 8) as u16) << 13, count))
            .collect();
        Self { scores }
    }
}
