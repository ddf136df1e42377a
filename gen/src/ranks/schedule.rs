//! Which rank does what: worked out by every rank for itself, from the plan
//! alone, with the same outcome.

use petrov_games::Rulebook;
use petrov_probe::{Digit, DigitOrder, SliceIndex};

use super::SpreadOptions;
use crate::plan::{Pass, Plan, SECONDS_PER_POSITION, unit_bytes};

/// How a slice is worked on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// One rank reads its table.
    Load { rank: usize },
    /// One rank solves it.
    Whole { rank: usize },
    /// Its units are spread over all ranks; one writes the table.
    Units { writer: usize },
    /// The rows of each unit are spread over all ranks.
    Rows { writer: usize },
}

impl Way {
    /// The rank that has all values, if there is one from the start.
    pub(super) fn owner(self) -> Option<usize> {
        match self {
            Self::Load { rank } | Self::Whole { rank } => Some(rank),
            Self::Units { .. } | Self::Rows { .. } => None,
        }
    }

    /// The rank that writes the tables.
    pub(super) fn writer(self) -> usize {
        match self {
            Self::Load { rank } | Self::Whole { rank } => rank,
            Self::Units { writer } | Self::Rows { writer } => writer,
        }
    }
}

/// Slices of fewer positions are not worth spreading: seconds of work.
const SHARED_SLICE: u64 = 1 << 25;

/// Units of fewer positions take less time than asking for the units they lead
/// to.
const SHARED_UNIT: u64 = 1 << 12;

/// A unit of so many positions is split if it is the only one of its slice.
const SPLIT_UNIT: u64 = 1 << 25;

/// What is known of a slice before it is worked on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Positions of a unit, both sides to move.
    pub(super) unit: u64,
    pub(super) units: u64,
}

pub(super) fn shape<R: Rulebook>(rulebook: &R, material: &petrov_games::Material) -> Shape {
    let mut shape = Shape { unit: 0, units: 1 };
    for view in material.views() {
        let (own, opp) = material.armies(*view);
        if let Some(index) = SliceIndex::new(rulebook, &own, &opp, DigitOrder::SOLVING) {
            shape.unit += index.scale(Digit::Standing);
            shape.units = index.range(Digit::Standing);
        }
    }
    shape
}

/// Whether both sides have pieces whose moves can be taken back. If not, one
/// half of a unit has a single row, and there is little to divide.
fn has_rows<R: Rulebook>(rulebook: &R, material: &petrov_games::Material) -> bool {
    let moves = |army| !rulebook.moving(&army).is_empty();
    rulebook.sideways() || moves(material.white()) && moves(material.black())
}

/// The way of each step of a pass. `holders` are the ranks that can read the table of
/// a slice which is loaded.
pub(super) fn ways<R: Rulebook>(
    rulebook: &R,
    plan: &Plan,
    pass: &Pass,
    options: &SpreadOptions,
    ranks: usize,
    holders: &dyn Fn(usize) -> Vec<usize>,
) -> Vec<Way> {
    // When each rank has done what it has been given so far, in seconds, and
    // when each slice is there.
    let mut free = vec![0.0f64; ranks];
    let mut ready = vec![0.0f64; plan.slices.len()];
    let soonest = |free: &[f64], among: &mut dyn Iterator<Item = usize>| {
        among.min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap_or(0)
    };
    let mut ways = Vec::new();
    for step in &pass.steps {
        let slice = &plan.slices[step.slice];
        let next = crate::plan::next_slices(rulebook, plan, step.slice);
        let start = next.into_iter().map(|next| ready[next]).fold(0.0, f64::max);
        let seconds = slice.positions as f64 * SECONDS_PER_POSITION[pass.metric as usize];
        let way = if step.load.is_some() {
            let rank = soonest(&free, &mut holders(step.slice).into_iter());
            free[rank] = free[rank].max(start) + seconds / 4.0;
            ready[step.slice] = free[rank];
            Way::Load { rank }
        } else {
            let shape = shape(rulebook, &slice.material);
            let split = match options.split_from {
                Some(least) => shape.unit >= least && has_rows(rulebook, &slice.material),
                None => {
                    let bytes = unit_bytes(rulebook, &slice.material, pass.metric);
                    let too_large = options.build.memory.is_some_and(|memory| bytes > memory / 2);
                    (too_large || shape.units < 2 && shape.unit >= SPLIT_UNIT) && has_rows(rulebook, &slice.material)
                }
            };
            let shared = slice.positions >= options.share_from.unwrap_or(SHARED_SLICE)
                && (shape.unit >= SHARED_UNIT || options.share_from.is_some())
                && shape.units > 1;
            if split || shared {
                let writer = soonest(&free, &mut (0..ranks));
                let all = free.iter().copied().fold(start, f64::max) + seconds / ranks as f64;
                free.fill(all);
                ready[step.slice] = all;
                free[writer] += seconds / 2.0;
                if split {
                    Way::Rows { writer }
                } else {
                    Way::Units { writer }
                }
            } else {
                let rank = soonest(&free, &mut (0..ranks));
                free[rank] = free[rank].max(start) + seconds;
                ready[step.slice] = free[rank];
                Way::Whole { rank }
            }
        };
        ways.push(way);
    }
    ways
}
