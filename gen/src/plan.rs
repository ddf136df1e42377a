//! What has to be done for a request, before anything is done.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use petrov_games::draughts::{Game, Goal, ManMove};
use petrov_probe::{
    Army, DigitOrder, Material, MaterialError, Metric, OpenError, SliceIndex, Tables, binomial, table_path,
};

use crate::kings::KingSets;
use crate::solved::Solved;
use crate::unit::UnitFrame;
use crate::values::Values;

/// What tables are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Every material with both sides present, up to so many pieces.
    Pieces(u8),
    /// One material and all that it can turn into.
    Material(Material),
}

impl FromStr for What {
    type Err = WhatError;

    fn from_str(text: &str) -> Result<Self, WhatError> {
        if text.chars().all(|c| c.is_ascii_digit()) {
            return match text.parse::<u8>() {
                Ok(pieces) if (2..=MAX_WHAT).contains(&pieces) => Ok(Self::Pieces(pieces)),
                _ => Err(WhatError::Pieces {
                    text: text.chars().take(40).collect(),
                }),
            };
        }
        Ok(Self::Material(text.parse()?))
    }
}

/// Most pieces that can be asked for; far more than can be built.
const MAX_WHAT: u8 = 12;

/// A text that does not say which tables are wanted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WhatError {
    /// A number out of range.
    #[error("`{text}` pieces; expected a number from 2 to {MAX_WHAT}, or one material such as KKMvKM")]
    Pieces {
        /// The text.
        text: String,
    },
    /// Not a material.
    #[error(transparent)]
    Material(#[from] MaterialError),
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The material has no table under these rules.
    #[error("{game} has no table of {material}: {why}")]
    NoTable {
        /// The game.
        game: String,
        /// The material.
        material: Material,
        /// The reason.
        why: &'static str,
    },
    /// Tables could not be looked for.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A valid table of other rules stands where one is to be written.
    #[error("{path}: holds a table of other rules than {game}'s; it is left as it is: choose another folder or move it", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The game.
        game: String,
    },
}

/// A table that has to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedTable {
    /// What it will say.
    pub metric: Metric,
    /// Where it will be.
    pub path: PathBuf,
}

/// One slice of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedSlice {
    /// The material.
    pub material: Material,
    /// Placements, both sides to move for unlike armies, one for like ones.
    pub positions: u64,
    /// Tables that exist already and are whole.
    pub present: Vec<PlannedTable>,
    /// Tables to write.
    pub missing: Vec<PlannedTable>,
}

/// What has to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All slices asked for with those they depend on, in the order of work.
    pub slices: Vec<PlannedSlice>,
    /// Positions of the slices with a missing table.
    pub positions: u64,
    /// Most anonymous memory at a time, in bytes: estimated.
    pub memory_bytes: u64,
    /// Size of the missing tables, in bytes: estimated.
    pub disk_bytes: u64,
    /// Seconds of processor time: estimated.
    pub cpu_seconds: f64,
    /// Tables that are damaged and will be built again.
    pub damaged: Vec<String>,
    pub(crate) passes: Vec<Pass>,
}

/// One run through the slices, solving one metric.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub(crate) metric: Metric,
    pub(crate) steps: Vec<Step>,
}

/// What a pass does with a slice.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Number of the slice in the plan.
    pub(crate) slice: usize,
    /// Read it from its table instead of solving it.
    pub(crate) load: Option<PathBuf>,
    /// Tables to write from it.
    pub(crate) write: Vec<PlannedTable>,
    /// Slices of the plan that nothing needs after this step.
    pub(crate) drop: Vec<usize>,
}

/// How tables are to be built.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// Metrics wanted.
    pub metrics: Vec<Metric>,
    /// Folders in which tables are looked for; the first is written to.
    pub dirs: Vec<PathBuf>,
    /// Worker threads; 0 for as many as there are processors.
    pub threads: usize,
    /// Most anonymous memory to use, in bytes; `None` for what is available.
    pub memory: Option<u64>,
}

/// Why a material has no table, if it has none.
pub(crate) fn excluded(game: &Game, material: Material) -> Option<&'static str> {
    match game.rules().goal {
        Goal::Breakthrough if material.white().kings + material.black().kings > 0 => {
            Some("a side with a king has won already")
        }
        Goal::Ghana if material.black().pieces() < 2 || material.white().pieces() < 2 => {
            Some("a side with a single piece has lost already")
        }
        _ => None,
    }
}

/// Slices that one move can lead to from any position of a material, for
/// either side to move, without the material itself.
pub(crate) fn next_materials(material: Material) -> BTreeSet<(u8, u8, u8, u8)> {
    let mut next = BTreeSet::new();
    for (own, opp) in [
        (material.white(), material.black()),
        (material.black(), material.white()),
    ] {
        for promoted in 0..=own.men.min(1) {
            for men in 0..=opp.men {
                for kings in 0..=opp.kings {
                    let (after, left) = (
                        Army {
                            men: own.men - promoted,
                            kings: own.kings + promoted,
                        },
                        Army { men, kings },
                    );
                    if left.pieces() > 0 && (promoted > 0 || left != opp) {
                        next.insert(numbers(Material::new(after, left)));
                    }
                }
            }
        }
    }
    next
}

fn numbers(material: Material) -> (u8, u8, u8, u8) {
    let (white, black) = (material.white(), material.black());
    (white.kings, white.men, black.kings, black.men)
}

/// The slices of a request, with those they depend on, in the order in which
/// they can be solved.
///
/// # Errors
/// [`PlanError::NoTable`] if the material asked for has no table.
pub fn materials(game: &Game, what: What) -> Result<Vec<Material>, PlanError> {
    let most = match what {
        What::Pieces(pieces) => pieces,
        What::Material(material) => material.pieces(),
    };
    let mut wanted: Option<BTreeSet<_>> = None;
    if let What::Material(material) = what {
        let why = excluded(game, material)
            .or_else(|| {
                positions(game, material)
                    .is_none()
                    .then_some("there is no room for its pieces")
            })
            .or_else(|| (!fits(material)).then_some("it has more than 15 like pieces"));
        if let Some(why) = why {
            let game = game.name().to_owned();
            return Err(PlanError::NoTable { game, material, why });
        }
        let mut set = BTreeSet::from([numbers(material)]);
        let mut queue = vec![material];
        while let Some(material) = queue.pop() {
            for next in next_materials(material) {
                if set.insert(next) {
                    let (a, b, c, d) = next;
                    queue.push(Material::new(Army { kings: a, men: b }, Army { kings: c, men: d }));
                }
            }
        }
        wanted = Some(set);
    }
    Ok((2..=most)
        .flat_map(Material::with_pieces)
        .filter(|material| wanted.as_ref().is_none_or(|set| set.contains(&numbers(*material))))
        .filter(|material| {
            excluded(game, *material).is_none() && positions(game, *material).is_some() && fits(*material)
        })
        .collect())
}

fn fits(material: Material) -> bool {
    Solved::<u64>::fits(material.white()) && Solved::<u64>::fits(material.black())
}

/// Placements of a material, both sides to move for unlike armies.
fn positions(game: &Game, material: Material) -> Option<u64> {
    let mut sum = 0u64;
    for view in material.views() {
        let (own, opp) = material.armies(*view);
        // The number of bits of a set does not matter for counting.
        let index = SliceIndex::<u128>::unfolded_len(game.rules(), game.board(), own, opp)?;
        sum = sum.checked_add(index)?;
    }
    Some(sum)
}

/// Processor seconds per position, compression included; measured on one core
/// of an AMD EPYC of 2023 with Russian draughts.
const SECONDS_PER_POSITION: [f64; 3] = [2.4e-7, 6e-7, 4e-7];

/// Bytes of a finished table per position; a little more than was measured,
/// so that a plan errs on the safe side.
const TABLE_BYTES_PER_POSITION: [f64; 3] = [0.035, 0.16, 0.08];

/// Bytes of a table's header and of the palette of its distances.
const TABLE_OVERHEAD_BYTES: u64 = 400;

/// Makes the plan for a request: looks which tables are there (and checks
/// their checksums), and estimates what the others will take.
///
/// # Errors
/// See [`PlanError`].
pub fn plan(game: &Game, what: What, options: &BuildOptions) -> Result<Plan, PlanError> {
    let materials = materials(game, what)?;
    let tables = Tables::open(&options.dirs)?;
    let mut present = HashMap::new();
    let mut damaged = Vec::new();
    for table in tables.iter() {
        let parts = table.header().parts();
        if parts.fingerprint != game.fingerprint().bytes() {
            continue;
        }
        let Ok(material) = parts.material.parse::<Material>() else {
            continue;
        };
        if !materials.contains(&material) || !options.metrics.contains(&parts.metric) {
            continue;
        }
        match table.verify_checksum() {
            Ok(()) => {
                present
                    .entry((material, parts.metric))
                    .or_insert_with(|| table.path().to_owned());
            }
            Err(error) => damaged.push(error.to_string()),
        }
    }
    let write_dir = options
        .dirs
        .first()
        .map_or_else(|| Path::new("tables").to_owned(), Clone::clone);
    let mut slices = Vec::new();
    for material in &materials {
        let mut slice = PlannedSlice {
            material: *material,
            positions: positions(game, *material).unwrap_or(0),
            present: Vec::new(),
            missing: Vec::new(),
        };
        for metric in Metric::ALL
            .into_iter()
            .filter(|metric| options.metrics.contains(metric))
        {
            if let Some(path) = present.get(&(*material, metric)) {
                slice.present.push(PlannedTable {
                    metric,
                    path: path.clone(),
                });
                continue;
            }
            let path = table_path(&write_dir, game.name(), *material, metric);
            let foreign = tables
                .iter()
                .any(|table| table.path() == path && table.header().parts().fingerprint != game.fingerprint().bytes());
            if foreign {
                return Err(PlanError::Foreign {
                    path,
                    game: game.name().to_owned(),
                });
            }
            // Whole, but not what its name says.
            let misnamed = tables.iter().find(|table| {
                let parts = table.header().parts();
                table.path() == path && (parts.material != material.to_string() || parts.metric != metric)
            });
            if let Some(table) = misnamed {
                let parts = table.header().parts();
                damaged.push(format!("{}: holds {}.{}", path.display(), parts.material, parts.metric));
            }
            if let Some((_, fault)) = tables.faults().find(|(at, _)| *at == path) {
                damaged.push(fault.to_string());
            }
            slice.missing.push(PlannedTable { metric, path });
        }
        slices.push(slice);
    }
    let passes = passes(&slices, &options.metrics);
    let mut plan = Plan {
        positions: slices
            .iter()
            .filter(|slice| !slice.missing.is_empty())
            .map(|slice| slice.positions)
            .sum(),
        slices,
        memory_bytes: 0,
        disk_bytes: 0,
        cpu_seconds: 0.0,
        damaged,
        passes,
    };
    plan.estimate(game, options);
    Ok(plan)
}

/// Which metrics are solved for, and which tables come from each: distances
/// tell the value, too.
fn passes(slices: &[PlannedSlice], metrics: &[Metric]) -> Vec<Pass> {
    let mut groups: Vec<(Metric, Vec<Metric>)> = Vec::new();
    for metric in [Metric::Dtw, Metric::Dtz] {
        if metrics.contains(&metric) {
            groups.push((metric, vec![metric]));
        }
    }
    if metrics.contains(&Metric::Wld) {
        match groups.first_mut() {
            Some((_, tables)) => tables.push(Metric::Wld),
            None => groups.push((Metric::Wld, vec![Metric::Wld])),
        }
    }
    groups
        .into_iter()
        .map(|(metric, tables)| pass(slices, metric, &tables))
        .filter(|pass| !pass.steps.is_empty())
        .collect()
}

fn pass(slices: &[PlannedSlice], metric: Metric, tables: &[Metric]) -> Pass {
    let number: HashMap<_, _> = slices
        .iter()
        .enumerate()
        .map(|(n, slice)| (numbers(slice.material), n))
        .collect();
    let next: Vec<Vec<usize>> = slices
        .iter()
        .map(|slice| {
            next_materials(slice.material)
                .iter()
                .filter_map(|next| number.get(next).copied())
                .collect()
        })
        .collect();
    // Backwards: what has a table to be written, and all that this needs.
    let mut needed = vec![false; slices.len()];
    for n in (0..slices.len()).rev() {
        needed[n] |= slices[n].missing.iter().any(|table| tables.contains(&table.metric));
        if needed[n] {
            for next in &next[n] {
                needed[*next] = true;
            }
        }
    }
    let mut last_use: Vec<usize> = (0..slices.len()).collect();
    for n in (0..slices.len()).filter(|n| needed[*n]) {
        for next in &next[n] {
            last_use[*next] = n;
        }
    }
    let steps = (0..slices.len())
        .filter(|n| needed[*n])
        .map(|n| Step {
            slice: n,
            load: slices[n]
                .present
                .iter()
                .find(|table| table.metric == metric)
                .map(|table| table.path.clone()),
            write: slices[n]
                .missing
                .iter()
                .filter(|table| tables.contains(&table.metric))
                .cloned()
                .collect(),
            drop: (0..slices.len())
                .filter(|other| needed[*other] && last_use[*other] == n)
                .collect(),
        })
        .collect();
    Pass { metric, steps }
}

impl Plan {
    /// True if every table is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.passes.is_empty()
    }

    fn estimate(&mut self, game: &Game, options: &BuildOptions) {
        let wide = game.board().bits() > 64;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        } as u64;
        // Program and buffers of the compressor for each thread.
        let base = (6 << 20) + threads * (6 << 20);
        for pass in &self.passes {
            let mut kept = 0u64;
            let mut held: HashMap<usize, u64> = HashMap::new();
            for step in &pass.steps {
                let slice = &self.slices[step.slice];
                let (making, keeping) = values_bytes(game, slice.material, pass.metric);
                let scratch = if wide {
                    scratch_bytes::<u128>(game, slice.material, threads)
                } else {
                    scratch_bytes::<u64>(game, slice.material, threads)
                };
                // Solving and then writing; what loading takes is less.
                let working = scratch.max(order_bytes(game, slice.material));
                self.memory_bytes = self
                    .memory_bytes
                    .max(base.saturating_add(kept).saturating_add(making).saturating_add(working));
                kept = kept.saturating_add(keeping);
                held.insert(step.slice, keeping);
                for drop in &step.drop {
                    kept -= held.remove(drop).unwrap_or(0);
                }
                if step.load.is_none() {
                    self.cpu_seconds += slice.positions as f64 * SECONDS_PER_POSITION[pass.metric as usize];
                }
                for table in &step.write {
                    let bytes = slice.positions as f64 * TABLE_BYTES_PER_POSITION[table.metric as usize];
                    self.disk_bytes += TABLE_OVERHEAD_BYTES + bytes as u64;
                }
            }
        }
        // What an allocator holds beyond what is asked of it, as measured.
        self.memory_bytes += self.memory_bytes / 4;
    }
}

/// Bytes of a slice's values while they are made, and when only kept.
fn values_bytes(game: &Game, material: Material, metric: Metric) -> (u64, u64) {
    let mut sum = (0, 0);
    for view in material.views() {
        let (own, opp) = material.armies(*view);
        let mut len = SliceIndex::<u128>::unfolded_len(game.rules(), game.board(), own, opp).unwrap_or(u64::MAX / 16);
        if material.men() == 0 {
            // Folded; a few sets that are their own images make it a little more.
            let fold = game.board().symmetries(game.rules(), false).len() as u64;
            len = len / fold + len / 16;
        }
        let (making, keeping) = Values::bytes(metric, len);
        sum = (sum.0 + making, sum.1 + keeping);
    }
    sum
}

/// Placements of the men alone, and of the kings among the squares they leave.
fn digits(game: &Game, material: Material) -> (u64, u64) {
    let (white, black) = (material.white(), material.black());
    let men = |army: Army| Army {
        men: army.men,
        kings: 0,
    };
    let ways = if material.men() == 0 {
        1
    } else {
        SliceIndex::<u128>::unfolded_len(game.rules(), game.board(), men(white), men(black)).unwrap_or(u64::MAX)
    };
    let free = game.board().squares().saturating_sub(material.men().into());
    let left = free.saturating_sub(white.kings.into());
    (
        ways,
        binomial(free, white.kings).saturating_mul(binomial(left, black.kings)),
    )
}

/// Bytes of the tables by which values are put in another order.
fn order_bytes(game: &Game, material: Material) -> u64 {
    let (men, kings) = digits(game, material);
    let (white, black) = (material.white(), material.black());
    let men = if white.men > 0 && black.men > 0 {
        men.saturating_mul(8)
    } else {
        0
    };
    let kings = if white.kings > 0 && black.kings > 0 {
        kings.saturating_mul(4)
    } else {
        0
    };
    men.saturating_add(kings)
}

/// Bytes in which units are solved.
fn scratch_bytes<B: petrov_games::Bits>(game: &Game, material: Material, threads: u64) -> u64 {
    let squares = game.board().squares();
    let symmetries = game.board().symmetries(game.rules(), false).len() as u64;
    let (white, black) = (material.white().kings, material.black().kings);
    let kings = [white, black].map(|count| KingSets::<B>::bytes(squares, count, symmetries));
    let fold = if material.men() == 0 { symmetries } else { 1 };
    // A unit that is alone on its level is shared by the threads.
    let units = if material.men() == 0 { 1 } else { threads };
    // Where men move sideways, each can stand on any square of its rank.
    let sideways = game.rules().man_move != ManMove::DiagonalForward;
    let stands = |men: u8| {
        if sideways {
            u64::from(game.board().files()).saturating_pow(men.into())
        } else {
            1
        }
    };
    let (one, other) = (material.white(), material.black());
    let halves: &[(Army, Army)] = if material.men() == 0 && material.is_even() {
        &[(one, other)]
    } else {
        &[(one, other), (other, one)]
    };
    let unit: u64 = halves
        .iter()
        .map(|(own, opp)| {
            let rows = binomial(squares, opp.kings)
                .div_ceil(fold)
                .saturating_mul(stands(opp.men));
            let cells = binomial(squares, own.kings).saturating_mul(stands(own.men));
            let words = match own.kings.checked_sub(1) {
                Some(others) => binomial(squares, others).saturating_mul(stands(own.men)),
                None if sideways => stands(own.men),
                None => 0,
            };
            // Arrivals of the first round: half of all positions, eight bytes each.
            let row = UnitFrame::<B>::row_bytes(cells, words).saturating_add(cells.saturating_mul(4));
            rows.saturating_mul(row)
        })
        .fold(0, u64::saturating_add);
    // The list of units holds a number for each.
    let list = digits(game, material).0.saturating_mul(8);
    [kings[0], kings[1], list, unit.saturating_mul(units)]
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// The digit orders that differ for a pair of armies.
pub(crate) fn orders(own: Army, opp: Army) -> Vec<DigitOrder> {
    let mut seen = BTreeSet::new();
    (0..DigitOrder::COUNT)
        .filter_map(DigitOrder::from_code)
        .filter(|order| {
            // Only what has more than one value counts: men are one digit,
            // and the order within it matters if both sides have men.
            let men_first = own.men > 0 && opp.men > 0 && order.own_men_first;
            let first_is_own = order.own_kings_first;
            let digits: Vec<(u8, bool)> = order
                .significance
                .iter()
                .filter_map(|digit| match digit {
                    petrov_probe::Digit::Men => (own.men + opp.men > 0).then_some((0, false)),
                    petrov_probe::Digit::FirstKings => {
                        let kings = if first_is_own { own.kings } else { opp.kings };
                        (kings > 0).then_some((1, first_is_own))
                    }
                    petrov_probe::Digit::LastKings => {
                        let kings = if first_is_own { opp.kings } else { own.kings };
                        (kings > 0).then_some((1, !first_is_own))
                    }
                })
                .collect();
            let both = own.kings > 0 && opp.kings > 0;
            seen.insert((men_first, both && first_is_own, digits))
        })
        .collect()
}
