//! What has to be done for a request, before anything is done.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::Ordering::Relaxed;

use petrov_games::{Army, Bits, Game, Kind, Material, MaterialError, Rulebook, View, with_rulebook};
use petrov_probe::{
    DigitOrder, FormatError, Metric, MovingDigit, OpenError, SliceIndex, Table, TableError, Tables, table_path,
};

use crate::build::Progress;
use crate::count;
use crate::families::compiled_for_families;
use crate::pieces::PieceSets;
use crate::stored::MAX_TABULATED;
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
    /// What may well be a good table, or something else of value, stands where one is to be written: a file
    /// of another version of the format, or one that may not be read, or no regular file.
    #[error("{fault}; it is left as it is: choose another folder or move it")]
    LeftAlone {
        /// Why it cannot be used, with its path.
        fault: String,
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
    /// Positions, both sides to move for unlike armies, one for like ones: at
    /// first placements on distinct squares, which may be more than count (see
    /// [`Plan::count_positions`]).
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
fn excluded<R: Rulebook>(rulebook: &R, material: &Material) -> Option<&'static str> {
    let (white, black) = (material.white(), material.black());
    rulebook
        .no_table(&white, &black)
        .or_else(|| {
            positions(rulebook, material)
                .is_none()
                .then_some("there is no room for its pieces")
        })
        .or_else(|| {
            rulebook
                .key(&white, &black)
                .is_none()
                .then_some("it has more than 15 like pieces")
        })
}

/// Slices that one move can lead to from any position of a material, for
/// either side to move, without the material itself.
fn next_materials<R: Rulebook>(rulebook: &R, material: &Material) -> BTreeSet<Material> {
    let (white, black) = (material.white(), material.black());
    let next = rulebook.next_armies(&white, &black).into_iter();
    next.chain(rulebook.next_armies(&black, &white))
        .map(|(one, other)| Material::new(one, other))
        .filter(|next| next != material)
        .collect()
}

/// All materials of so many pieces with both sides present.
fn with_pieces<R: Rulebook>(rulebook: &R, pieces: u8) -> Vec<Material> {
    let mut all = Vec::new();
    for white in pieces.div_ceil(2)..pieces {
        for one in rulebook.armies(white) {
            for other in rulebook.armies(pieces - white) {
                let material = Material::new(one, other);
                if material.white() == one {
                    all.push(material);
                }
            }
        }
    }
    all
}

/// In the order in which slices can be solved: fewer pieces first, then fewer
/// standing ones.
fn by_order_of_work<R: Rulebook>(rulebook: &R, materials: &mut [Material]) {
    materials.sort_by_key(|material| {
        (
            material.pieces(),
            material.count(rulebook.standing_letter()),
            std::cmp::Reverse(*material),
        )
    });
}

compiled_for_families! {
    /// The slices of a request, with those they depend on, in the order in which
    /// they can be solved.
    ///
    /// # Errors
    /// [`PlanError::NoTable`] if the material asked for has no table.
    pub fn materials(game, what: What) -> Result<Vec<Material>, PlanError> = materials_of_game
}

fn materials_of_game<G: Game>(game: &G, what: What) -> Result<Vec<Material>, PlanError> {
    with_rulebook!(game, rulebook => materials_of(game, &**rulebook, what))
}

fn materials_of<G: Game, R: Rulebook>(game: &G, rulebook: &R, what: What) -> Result<Vec<Material>, PlanError> {
    let mut all: Vec<Material> = match what {
        What::Pieces(most) => (2..=most).flat_map(|pieces| with_pieces(rulebook, pieces)).collect(),
        What::Material(material) => {
            if let Some(why) = excluded(rulebook, &material) {
                let game = game.name().to_owned();
                return Err(PlanError::NoTable { game, material, why });
            }
            let mut set = BTreeSet::from([material]);
            let mut queue = vec![material];
            while let Some(material) = queue.pop() {
                for next in next_materials(rulebook, &material) {
                    if excluded(rulebook, &next).is_none() && set.insert(next) {
                        queue.push(next);
                    }
                }
            }
            set.into_iter().collect()
        }
    };
    all.retain(|material| excluded(rulebook, material).is_none());
    by_order_of_work(rulebook, &mut all);
    Ok(all)
}

/// Placements of a material on distinct squares, both sides to move for unlike
/// armies.
fn positions<R: Rulebook>(rulebook: &R, material: &Material) -> Option<u64> {
    material.views().iter().try_fold(0u64, |sum, view| {
        let (own, opp) = material.armies(*view);
        sum.checked_add(SliceIndex::unfolded_len(rulebook, &own, &opp)?)
    })
}

/// Processor seconds per position, compression included; measured on one core
/// of an AMD EPYC of 2023 with Russian draughts.
pub(crate) const SECONDS_PER_POSITION: [f64; 3] = [2.4e-7, 6e-7, 4e-7];

/// Bytes of a finished table per position; a little more than was measured,
/// so that a plan errs on the safe side.
const TABLE_BYTES_PER_POSITION: [f64; 3] = [0.035, 0.16, 0.08];

/// Bytes of a table's header and of the palette of its distances.
const TABLE_OVERHEAD_BYTES: u64 = 400;

/// Whether a table that cannot be used may be fine all the same.
fn may_be_good(fault: &TableError) -> bool {
    match fault {
        // Or a folder, a pipe, or a link to a disk that is not there now.
        TableError::Open { path, source } => {
            source.kind() == std::io::ErrorKind::PermissionDenied
                || !std::fs::metadata(path).is_ok_and(|at| at.is_file())
        }
        TableError::Format { source, .. } => matches!(source, FormatError::UnknownVersion { .. }),
        _ => false,
    }
}

/// Nothing, unless a path at which a table is to be written is that of a file which must not be replaced.
pub(crate) fn left_alone<G: Game>(game: &G, tables: &Tables, path: &Path) -> Result<(), PlanError> {
    let is_foreign = |table: &Table| table.header().parts().fingerprint != game.fingerprint().bytes();
    if tables.iter().any(|table| table.path() == path && is_foreign(table)) {
        return Err(PlanError::Foreign {
            path: path.to_owned(),
            game: game.name().to_owned(),
        });
    }
    match tables.faults().find(|(at, _)| *at == path) {
        Some((_, fault)) if may_be_good(fault) => Err(PlanError::LeftAlone {
            fault: fault.to_string(),
        }),
        _ => Ok(()),
    }
}

compiled_for_families! {
    /// Makes the plan for a request: looks which tables are there (and checks
    /// their checksums), and estimates what the others will take.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn plan(game, what: What, options: &BuildOptions) -> Result<Plan, PlanError> = plan_of_game
}

fn plan_of_game<G: Game>(game: &G, what: What, options: &BuildOptions) -> Result<Plan, PlanError> {
    with_rulebook!(game, rulebook => plan_of(game, &**rulebook, what, options))
}

fn plan_of<G: Game, R: Rulebook>(
    game: &G,
    rulebook: &R,
    what: What,
    options: &BuildOptions,
) -> Result<Plan, PlanError> {
    let materials = materials_of(game, rulebook, what)?;
    let tables = Tables::open(&options.dirs)?;
    let mut present = HashMap::new();
    let mut damaged = Vec::new();
    // Damaged where tables are written: as if there were no other copy, like one whose blocks are damaged.
    for material in &materials {
        for &metric in &options.metrics {
            let path = table_path(write_dir(options), game.name(), *material, metric);
            if tables.faults().any(|(at, fault)| at == path && !may_be_good(fault)) {
                present.insert((*material, metric), None);
            }
        }
    }
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
        // Of several copies the first is the one that is read.
        if let Entry::Vacant(first) = present.entry((material, parts.metric)) {
            let whole = table.verify_checksum();
            first.insert(whole.is_ok().then(|| table.path().to_owned()));
            damaged.extend(whole.err().map(|error| error.to_string()));
        }
    }
    let present: Present = present
        .into_iter()
        .filter_map(|(name, path)| Some((name, path?)))
        .collect();
    let mut plan = plan_for(game, rulebook, materials, options, &present);
    plan.damaged = damaged;
    let missing: Vec<(Material, Metric, PathBuf)> = plan
        .slices
        .iter()
        .flat_map(|slice| {
            slice
                .missing
                .iter()
                .map(|table| (slice.material, table.metric, table.path.clone()))
        })
        .collect();
    for (material, metric, path) in &missing {
        left_alone(game, &tables, path)?;
        // Whole, but not what its name says.
        let misnamed = tables.iter().find(|table| {
            let parts = table.header().parts();
            table.path() == path && (parts.material != material.to_string() || parts.metric != *metric)
        });
        if let Some(table) = misnamed {
            let parts = table.header().parts();
            plan.damaged
                .push(format!("{}: holds {}.{}", path.display(), parts.material, parts.metric));
        }
        if let Some((_, fault)) = tables.faults().find(|(at, _)| at == path) {
            plan.damaged.push(fault.to_string());
        }
    }
    Ok(plan)
}

/// Tables that are there and whole.
pub(crate) type Present = HashMap<(Material, Metric), PathBuf>;

/// The plan for a request, where these tables are there.
///
/// # Errors
/// [`PlanError::NoTable`] if the material asked for has no table.
pub(crate) fn plan_with<G: Game, R: Rulebook>(
    game: &G,
    rulebook: &R,
    what: What,
    options: &BuildOptions,
    present: &Present,
) -> Result<Plan, PlanError> {
    Ok(plan_for(
        game,
        rulebook,
        materials_of(game, rulebook, what)?,
        options,
        present,
    ))
}

/// The folder in which tables are written.
pub(crate) fn write_dir(options: &BuildOptions) -> &Path {
    options.dirs.first().map_or(Path::new("tables"), PathBuf::as_path)
}

fn plan_for<G: Game, R: Rulebook>(
    game: &G,
    rulebook: &R,
    materials: Vec<Material>,
    options: &BuildOptions,
    present: &Present,
) -> Plan {
    let mut slices = Vec::new();
    for material in &materials {
        let mut slice = PlannedSlice {
            material: *material,
            positions: positions(rulebook, material).unwrap_or(0),
            present: Vec::new(),
            missing: Vec::new(),
        };
        for metric in Metric::ALL
            .into_iter()
            .filter(|metric| options.metrics.contains(metric))
        {
            match present.get(&(*material, metric)) {
                Some(path) => slice.present.push(PlannedTable {
                    metric,
                    path: path.clone(),
                }),
                None => slice.missing.push(PlannedTable {
                    metric,
                    path: table_path(write_dir(options), game.name(), *material, metric),
                }),
            }
        }
        slices.push(slice);
    }
    let passes = passes(rulebook, &slices, &options.metrics);
    let mut plan = Plan {
        positions: 0,
        slices,
        memory_bytes: 0,
        disk_bytes: 0,
        cpu_seconds: 0.0,
        damaged: Vec::new(),
        passes,
    };
    plan.positions = plan.missing_positions();
    plan.estimate(rulebook, options);
    plan
}

/// Numbers of the slices of a plan that one move can lead to from a slice.
pub(crate) fn next_slices<R: Rulebook>(rulebook: &R, plan: &Plan, slice: usize) -> Vec<usize> {
    let next = next_materials(rulebook, &plan.slices[slice].material);
    let slices = plan.slices.iter().enumerate();
    slices
        .filter(|(_, slice)| next.contains(&slice.material))
        .map(|(number, _)| number)
        .collect()
}

/// Bytes of a slice's values once they are solved.
pub(crate) fn kept_bytes<R: Rulebook>(rulebook: &R, material: &Material, metric: Metric) -> u64 {
    values_bytes(rulebook, material, metric).1
}

/// Bytes in which one unit is solved.
pub(crate) fn unit_bytes<R: Rulebook>(rulebook: &R, material: &Material, metric: Metric) -> u64 {
    // The list of units is no part of a unit.
    let list = digits(rulebook, material).0.saturating_mul(8);
    scratch_bytes(rulebook, material, metric, 1).0.saturating_sub(list)
}

/// Which metrics are solved for, and which tables come from each: distances
/// tell the value, too.
fn passes<R: Rulebook>(rulebook: &R, slices: &[PlannedSlice], metrics: &[Metric]) -> Vec<Pass> {
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
        .map(|(metric, tables)| pass(rulebook, slices, metric, &tables))
        .filter(|pass| !pass.steps.is_empty())
        .collect()
}

fn pass<R: Rulebook>(rulebook: &R, slices: &[PlannedSlice], metric: Metric, tables: &[Metric]) -> Pass {
    let number: HashMap<_, _> = slices
        .iter()
        .enumerate()
        .map(|(n, slice)| (slice.material, n))
        .collect();
    let next: Vec<Vec<usize>> = slices
        .iter()
        .map(|slice| {
            next_materials(rulebook, &slice.material)
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
    /// Makes the numbers of positions exact where some placements do not count,
    /// because the side not to move would be in check. Takes about a tenth of a
    /// microsecond for as many placements as a piece has squares. `progress`
    /// tells how far it has come, in placements.
    pub fn count_positions<G: Game>(&mut self, game: &G, progress: &Progress) {
        progress
            .total
            .store(self.slices.iter().map(|slice| slice.positions).sum(), Relaxed);
        for slice in &mut self.slices {
            progress.set_step("counting", &slice.material);
            let placements = slice.positions;
            slice.positions = count::positions(game, &slice.material);
            progress.done.fetch_add(placements, Relaxed);
        }
        self.positions = self.missing_positions();
    }

    fn missing_positions(&self) -> u64 {
        let missing = self.slices.iter().filter(|slice| !slice.missing.is_empty());
        missing.map(|slice| slice.positions).sum()
    }

    /// True if every table is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.passes.is_empty()
    }

    fn estimate<R: Rulebook>(&mut self, rulebook: &R, options: &BuildOptions) {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        } as u64;
        // Program and buffers of the compressor for each thread.
        let base = (6 << 20) + threads * (8 << 20);
        for pass in &self.passes {
            let (mut kept, mut writing) = (0u64, 0u64);
            let mut held: HashMap<usize, u64> = HashMap::new();
            for step in &pass.steps {
                let slice = &self.slices[step.slice];
                let (making, keeping) = values_bytes(rulebook, &slice.material, pass.metric);
                let (solving, cells) = scratch_bytes(rulebook, &slice.material, pass.metric, threads);
                let orders = order_bytes(rulebook, &slice.material);
                // Values take no memory before they are kept. In a slice of one
                // unit that is when only its cells are still there.
                let stands = slice.material.count(rulebook.standing_letter()) > 0;
                let solving = if stands {
                    solving.saturating_add(making)
                } else {
                    solving.max(cells.saturating_add(making))
                };
                // Solving, with the tables before being written meanwhile if
                // there are threads for both, and then writing; what loading
                // takes is less.
                let working = solving.saturating_add(writing).max(making.saturating_add(orders));
                writing = if threads > 1 && !step.write.is_empty() {
                    orders
                } else {
                    0
                };
                self.memory_bytes = self.memory_bytes.max(base.saturating_add(kept).saturating_add(working));
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
        // What an allocator holds beyond what is asked of it, as measured; it
        // is the smaller part that is not in large arrays.
        self.memory_bytes += self.memory_bytes / 8;
    }
}

/// Bytes of a slice's values while they are made, and when only kept.
fn values_bytes<R: Rulebook>(rulebook: &R, material: &Material, metric: Metric) -> (u64, u64) {
    let fold = fold(rulebook, material);
    let mut sum = (0, 0);
    for view in material.views() {
        let (own, opp) = material.armies(*view);
        let len = SliceIndex::unfolded_len(rulebook, &own, &opp).unwrap_or(u64::MAX / 16);
        // Folded; a few sets that are their own images make it more, the fewer
        // pieces the more. KvK has 10 classes of a king, not 8.
        let pieces = own.pieces().min(opp.pieces());
        let len = if fold > 1 {
            len / fold + ((len / fold) >> (2 * pieces).min(63))
        } else {
            len
        };
        let (making, keeping) = Values::bytes(metric, len);
        sum = (sum.0 + making, sum.1 + keeping);
    }
    sum
}

/// Number of symmetries by which a material's slice is folded.
fn fold<R: Rulebook>(rulebook: &R, material: &Material) -> u64 {
    rulebook.symmetries(&material.white(), &material.black()).len() as u64
}

/// Placements of the standing pieces alone, and of the moving ones among the
/// squares they leave.
fn digits<R: Rulebook>(rulebook: &R, material: &Material) -> (u64, u64) {
    let (white, black) = (material.white(), material.black());
    let letter = rulebook.standing_letter();
    let standing = |army: &Army| Army::EMPTY.with(letter, army.count(letter));
    let ways = if material.count(letter) == 0 {
        1
    } else {
        SliceIndex::unfolded_len(rulebook, &standing(&white), &standing(&black)).unwrap_or(u64::MAX)
    };
    let [white, black] = [white, black].map(|army| MovingDigit::new(&rulebook.moving(&army)));
    let free = rulebook.squares().count().saturating_sub(material.count(letter).into());
    let left = free.saturating_sub(white.pieces().into());
    (ways, white.ways(free).saturating_mul(black.ways(left)))
}

/// Bytes of the tables by which values are put in another order.
fn order_bytes<R: Rulebook>(rulebook: &R, material: &Material) -> u64 {
    let (standing, moving) = digits(rulebook, material);
    let both = |has: &dyn Fn(&Army) -> bool| has(&material.white()) && has(&material.black());
    let standing = if both(&|army| rulebook.standing(army) > 0) {
        standing.saturating_mul(8)
    } else {
        0
    };
    let folded = if material.count(rulebook.standing_letter()) == 0 {
        fold(rulebook, material)
    } else {
        1
    };
    let moving = match moving / folded {
        _ if !both(&|army| !rulebook.moving(army).is_empty()) => 0,
        // Then each entry is worked out by itself.
        entries if folded > 1 && entries > MAX_TABULATED => 0,
        entries => entries.saturating_mul(4),
    };
    standing.saturating_add(moving)
}

/// Bytes in which units are solved, and of these the ones of cells.
fn scratch_bytes<R: Rulebook>(rulebook: &R, material: &Material, metric: Metric, threads: u64) -> (u64, u64) {
    let squares = rulebook.squares().count();
    let symmetries = fold(rulebook, material);
    let (white, black) = (material.white(), material.black());
    let sets = [&white, &black].map(|army| PieceSets::<R>::bytes(squares, &rulebook.moving(army), symmetries));
    let stands = material.count(rulebook.standing_letter()) > 0;
    let fold = if stands { 1 } else { symmetries };
    // A unit that is alone on its level is shared by the threads.
    let units = if stands { threads } else { 1 };
    // Where standing pieces move sideways, each can be on any square of its rank.
    let sideways = stands && rulebook.sideways();
    let files = u64::from(squares.div_ceil(rulebook.ranks().into()));
    let arrangements = |army: &Army| {
        if sideways {
            files.saturating_pow(rulebook.standing(army).into())
        } else {
            1
        }
    };
    let halves: &[View] = if !stands && material.is_even() {
        &[View::White]
    } else {
        &[View::White, View::Black]
    };
    let sizes = halves.iter().map(|view| {
        let (own, opp) = material.armies(*view);
        let [own_sets, opp_sets] = [&own, &opp].map(|army| MovingDigit::new(&rulebook.moving(army)).ways(squares));
        let rows = opp_sets.div_ceil(fold).saturating_mul(arrangements(&opp));
        let cells = own_sets.saturating_mul(arrangements(&own));
        let words = words(&rulebook.moving(&own), squares);
        let words = if words == 0 && sideways { 1 } else { words }.saturating_mul(arrangements(&own));
        let (all, cells) = UnitFrame::<R>::row_bytes(metric, cells, words);
        (rows.saturating_mul(all), rows.saturating_mul(cells))
    });
    let (unit, cells) = sizes.fold((0u64, 0u64), |sum, size| {
        (sum.0.saturating_add(size.0), sum.1.saturating_add(size.1))
    });
    // The list of units holds a number for each.
    let list = digits(rulebook, material).0.saturating_mul(8);
    let all = [sets[0], sets[1], list, unit.saturating_mul(units)];
    let sets = sets[0].saturating_add(sets[1]);
    (all.into_iter().fold(0, u64::saturating_add), cells.saturating_add(sets))
}

/// Words of the lanes of such pieces.
fn words(kinds: &[(Kind, u8)], squares: u32) -> u64 {
    (0..kinds.len()).fold(0, |sum, n| {
        let mut kinds = kinds.to_vec();
        kinds[n].1 -= 1;
        sum + MovingDigit::new(&kinds).ways(squares)
    })
}

/// The digit orders that differ for a pair of armies.
pub(crate) fn orders<R: Rulebook>(rulebook: &R, own: &Army, opp: &Army) -> Vec<DigitOrder> {
    let has_standing = [own, opp].map(|army| rulebook.standing(army) > 0);
    let has_moving = [own, opp].map(|army| !rulebook.moving(army).is_empty());
    let mut seen = BTreeSet::new();
    (0..DigitOrder::COUNT)
        .filter_map(DigitOrder::from_code)
        .filter(|order| {
            // Only what has more than one value counts: standing pieces are
            // one digit, and the order within it matters if both sides have some.
            let standing_first = has_standing[0] && has_standing[1] && order.own_standing_first;
            let first_is_own = order.own_moving_first;
            let first = usize::from(!first_is_own);
            let digits: Vec<(u8, bool)> = order
                .significance
                .iter()
                .filter_map(|digit| match digit {
                    petrov_probe::Digit::Standing => (has_standing[0] || has_standing[1]).then_some((0, false)),
                    petrov_probe::Digit::FirstMoving => has_moving[first].then_some((1, first_is_own)),
                    petrov_probe::Digit::LastMoving => has_moving[1 - first].then_some((1, !first_is_own)),
                })
                .collect();
            let both = has_moving[0] && has_moving[1];
            seen.insert((standing_first, both && first_is_own, digits))
        })
        .collect()
}
