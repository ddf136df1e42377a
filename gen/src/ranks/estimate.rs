//! What a build by several ranks will take.

use petrov_games::{Game, Material, Rulebook, with_rulebook};
use petrov_probe::Metric;

use super::schedule::{self, Shape, shape};
use super::{SpreadOptions, run};
use crate::families::compiled_for_families;
use crate::plan::{BuildOptions, Pass, Plan, SECONDS_PER_POSITION, kept_bytes, unit_bytes};

/// How ranks divide the work on a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// One rank has the whole slice.
    Whole,
    /// Each unit is one rank's.
    Units,
    /// The rows of each unit are divided among all ranks.
    Split,
}

/// What a build by several ranks will take: estimated.
#[derive(Clone, Debug)]
pub struct SpreadPlan {
    /// Number of ranks.
    pub ranks: usize,
    /// Worker threads of each rank.
    pub threads: usize,
    /// Most anonymous memory of a rank at a time, in bytes.
    pub memory_bytes: u64,
    /// Bytes that all ranks send.
    pub network_bytes: u64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// Slices with a missing table.
    pub slices: Vec<SpreadSlice>,
}

/// What a slice will take.
#[derive(Clone, Debug)]
pub struct SpreadSlice {
    /// The material.
    pub material: Material,
    /// How it is divided.
    pub way: Way,
    /// Most anonymous memory of a rank, in bytes.
    pub memory_bytes: u64,
    /// Bytes that all ranks send.
    pub network_bytes: u64,
    /// Seconds by the clock, if nothing else is worked on; without the writing,
    /// where other slices are worked on meanwhile.
    pub wall_seconds: f64,
}

impl SpreadPlan {
    /// The slice of a material, if a table of it is missing.
    #[must_use]
    pub fn slice(&self, material: Material) -> Option<&SpreadSlice> {
        self.slices.iter().find(|slice| slice.material == material)
    }
}

/// Bytes of a compressed page for each byte of values: as measured, of English
/// and Russian slices, with something to spare.
const COMPRESSED: f64 = 0.25;

/// Bytes of arrivals and of what is found by looking for each position of a split unit
/// that is sent to another rank, all plies together: KKKKvKKKK takes 1.4.
const EXCHANGED: f64 = 2.0;

/// Bytes of a rank's program, threads and buffers, MPI's included.
const RANK_BYTES: u64 = 48 << 20;
const THREAD_BYTES: u64 = 8 << 20;

/// Plies of a unit in which ranks wait for each other, and what a message
/// takes to be sent and taken, in seconds: Ethernet between hosts, as measured with
/// TCP.
const PLIES: f64 = 60.0;
const SECONDS_PER_MESSAGE: f64 = 4e-6;
const SECONDS_PER_PLY: f64 = 1e-4;

/// The part of the work that is writing, which one rank does for each table,
/// beside the work on the next slices.
const WRITING: f64 = 0.3;

/// Units of a level that one rank has to wait for on average where units are
/// spread, as a part of the work.
const IMBALANCE: f64 = 1.1;

compiled_for_families! {
    /// Estimates what a build by several ranks will take. Threads and memory of the
    /// options are those of a rank.
    #[must_use]
    pub fn spread_plan(game, plan: &Plan, options: &BuildOptions, ranks: usize) -> SpreadPlan = estimate
}

fn estimate<G: Game>(game: &G, plan: &Plan, options: &BuildOptions, ranks: usize) -> SpreadPlan {
    let ranks = ranks.max(1);
    let spread = SpreadOptions {
        build: options.clone(),
        split_from: None,
        share_from: None,
        checkpoint: None,
        collect: true,
        host: String::new(),
        identity: String::new(),
    };
    let mut whole = SpreadPlan {
        ranks,
        threads: run::threads(options),
        memory_bytes: 0,
        network_bytes: 0,
        wall_seconds: 0.0,
        slices: Vec::new(),
    };
    with_rulebook!(game, rulebook => {
        for pass in &plan.passes {
            whole.add_pass(&**rulebook, plan, pass, &spread);
        }
    });
    whole
}

impl SpreadPlan {
    fn add_pass<R: Rulebook>(&mut self, rulebook: &R, plan: &Plan, pass: &Pass, options: &SpreadOptions) {
        let everyone = |_: usize| (0..self.ranks).collect();
        let ways = schedule::ways(rulebook, plan, pass, options, self.ranks, &everyone);
        let fixed = RANK_BYTES + self.threads as u64 * THREAD_BYTES;
        // Values of slices that are still needed: at home, and read by a rank
        // that needs them all.
        let mut kept = vec![0u64; plan.slices.len()];
        // Slices of one rank each are worked on at the same time.
        let mut alone = 0.0;
        let (mut together, mut writing, mut longest) = (0.0, 0.0, 0.0f64);
        for (step, way) in pass.steps.iter().zip(ways) {
            let slice = &plan.slices[step.slice];
            let way = match way {
                schedule::Way::Load { .. } | schedule::Way::Whole { .. } => Way::Whole,
                schedule::Way::Units { .. } => Way::Units,
                schedule::Way::Rows { .. } => Way::Split,
            };
            let mut estimate = self.estimate(
                rulebook,
                slice.material,
                slice.positions,
                pass.metric,
                way,
                pass.steps.len(),
            );
            estimate.memory_bytes += fixed + kept.iter().sum::<u64>();
            let values = kept_bytes(rulebook, &slice.material, pass.metric);
            let home = (values as f64 * COMPRESSED / self.ranks as f64) as u64;
            kept[step.slice] = values.saturating_add(home);
            for dropped in &step.drop {
                kept[*dropped] = 0;
            }
            self.memory_bytes = self.memory_bytes.max(estimate.memory_bytes);
            self.network_bytes = self.network_bytes.saturating_add(estimate.network_bytes);
            match way {
                Way::Whole => alone += estimate.wall_seconds,
                Way::Units | Way::Split => {
                    let table = slice.positions as f64 * SECONDS_PER_POSITION[pass.metric as usize] * WRITING;
                    together += estimate.wall_seconds;
                    writing += table / self.threads as f64;
                    longest = longest.max(table / self.threads as f64);
                }
            }
            if step.load.is_none() {
                self.put(estimate);
            }
        }
        let spread = together + alone / self.ranks as f64;
        self.wall_seconds += spread.max(writing / self.ranks as f64).max(longest);
    }

    /// Adds a slice, or the metric of one that is there already.
    fn put(&mut self, new: SpreadSlice) {
        match self.slices.iter_mut().find(|slice| slice.material == new.material) {
            Some(slice) => {
                slice.way = new.way;
                slice.memory_bytes = slice.memory_bytes.max(new.memory_bytes);
                slice.network_bytes += new.network_bytes;
                slice.wall_seconds += new.wall_seconds;
            }
            None => self.slices.push(new),
        }
    }

    /// One slice by itself.
    fn estimate<R: Rulebook>(
        &self,
        rulebook: &R,
        material: Material,
        positions: u64,
        metric: Metric,
        way: Way,
        slices: usize,
    ) -> SpreadSlice {
        let (ranks, threads) = (self.ranks as f64, self.threads as f64);
        // No more than there are slices to be worked on.
        let readers = slices as f64;
        let Shape { unit, units } = shape(rulebook, &material);
        let entries = unit as f64 * units as f64;
        let values = kept_bytes(rulebook, &material, metric);
        // With what is free, as pages and writing have it.
        let full = values as f64 + entries / 8.0;
        let scratch = unit_bytes(rulebook, &material, metric);
        let work = positions as f64 * SECONDS_PER_POSITION[metric as usize];
        let elsewhere = (ranks - 1.0) / ranks;
        // Other ranks read it, and one writes its table.
        let read = full * COMPRESSED * (ranks - 1.0).min(readers);
        let (memory, network, seconds) = match way {
            Way::Whole => (scratch as f64 + full, read, work / threads),
            Way::Units => (
                // Each thread has a unit, and the writer the whole slice.
                (scratch as f64 * threads).max(full) + full,
                full * elsewhere + 2.0 * read,
                work * (1.0 - WRITING) * IMBALANCE / (ranks * threads),
            ),
            Way::Split => {
                let wait = SECONDS_PER_PLY + SECONDS_PER_MESSAGE * (ranks - 1.0);
                (
                    (scratch as f64 / ranks).max(full) + full / ranks,
                    entries * EXCHANGED * elsewhere + full * elsewhere + read,
                    work * (1.0 - WRITING) / (ranks * threads) + units as f64 * PLIES * wait,
                )
            }
        };
        SpreadSlice {
            material,
            way,
            memory_bytes: memory as u64,
            network_bytes: network as u64,
            wall_seconds: seconds,
        }
    }
}
