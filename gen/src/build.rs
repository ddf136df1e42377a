//! Building tables: solving or loading slices in order and writing files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use petrov_games::{Army, Colour, Engine, Game, Material, Rulebook, View};
use petrov_probe::format::{HeaderParts, PaletteEntry, SideParts};
use petrov_probe::pack::Packing;
use petrov_probe::{BlockCache, DigitOrder, Metric, Score, SliceIndex, Table, TableError, free_entries};
use rayon::prelude::*;

use crate::clock;
use crate::plan::{BuildOptions, Pass, Plan, PlannedTable, Step, orders};
use crate::slice::SliceSolver;
use crate::solved::{Side, Solved};
use crate::stored::{StoredOrder, StoredOrders};
use crate::summary::Summary;
use crate::values::{GAP, GAP_OUTCOME, Values};
use crate::write::{self, WriteError};

/// How far a build or a check has come; read it from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    pub(crate) total: AtomicU64,
    pub(crate) done: AtomicU64,
    step: Mutex<String>,
}

impl Progress {
    /// Steps of work in all: a position solved, written or checked counts as
    /// one.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Steps of work done.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// What is being done now, in a few words.
    #[must_use]
    pub fn step(&self) -> String {
        self.step.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_step(&self, verb: &str, what: &dyn std::fmt::Display) {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = format!("{verb} {what}");
    }
}

/// Why a build stopped. Tables finished before are kept.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Not enough memory.
    #[error("{} of memory needed, {} {}; ask for fewer pieces or allow more with --memory", size(*.needed), size(*.allowed), if *.limit { "allowed" } else { "available" })]
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes that may be used.
        allowed: u64,
        /// The user set the limit.
        limit: bool,
    },
    /// Not enough room for the tables.
    #[error("{path}: the tables need about {} of disk, {} free", size(*.needed), size(*.free), path = path.display())]
    Disk {
        /// The folder.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// A table could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A table that others depend on could not be read.
    #[error(transparent)]
    Read(#[from] TableError),
    /// A table that others depend on does not fit its material.
    #[error("{path}: its header does not fit its material", path = path.display())]
    Header {
        /// The file.
        path: PathBuf,
    },
    /// The system gave no threads.
    #[error("cannot start worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// A number of bytes in the unit that suits it.
fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        ..1e6 => format!("{:.1} kB", bytes / 1e3),
        ..1e9 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} GB", bytes / 1e9),
    }
}

/// One table of a build.
#[derive(Clone, Debug)]
pub struct TableReport {
    /// Its material.
    pub material: Material,
    /// Its metric.
    pub metric: Metric,
    /// False if it was there already.
    pub built: bool,
    /// Placements of the slice, both sides to move for unlike armies.
    pub positions: u64,
    /// Length of the file.
    pub bytes: u64,
    /// The file.
    pub path: PathBuf,
    /// Processor seconds for solving. 0 for a table that came from the values
    /// of another metric's.
    pub solve_cpu_seconds: f64,
    /// Processor seconds for ordering, compressing and writing.
    pub write_cpu_seconds: f64,
}

/// What a build did.
#[derive(Clone, Debug, Default)]
pub struct BuildReport {
    /// All tables asked for with those they depend on.
    pub tables: Vec<TableReport>,
    /// Placements of the slices of which a table was built.
    pub positions: u64,
    /// Processor seconds for solving.
    pub solve_cpu_seconds: f64,
    /// Processor seconds for ordering, compressing and writing.
    pub write_cpu_seconds: f64,
    /// Processor seconds in all, loading included.
    pub cpu_seconds: f64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// Most anonymous resident memory, in bytes.
    pub peak_memory_bytes: u64,
}

/// Builds what a plan says is missing.
///
/// # Errors
/// See [`BuildError`]; refusals for want of memory or disk come before
/// anything is written.
pub fn build<G: Game>(
    game: &G,
    plan: &Plan,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<BuildReport, BuildError> {
    let (start, start_cpu) = (Instant::now(), clock::cpu_seconds());
    check_room(plan, options)?;
    let total = plan
        .passes
        .iter()
        .flat_map(|pass| &pass.steps)
        .map(|step| (1 + step.write.len() as u64) * plan.slices[step.slice].positions);
    progress.total.store(total.sum(), Relaxed);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    let (report, peak) = clock::with_peak_memory(|| {
        pool.install(|| match game.engine() {
            Engine::Narrow(rulebook) => Builder::new(game, rulebook, plan, progress).run(),
            Engine::Wide(rulebook) => Builder::new(game, rulebook, plan, progress).run(),
        })
    });
    let mut report = report?;
    report.peak_memory_bytes = peak;
    report.cpu_seconds = clock::cpu_seconds() - start_cpu;
    report.wall_seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

fn check_room(plan: &Plan, options: &BuildOptions) -> Result<(), BuildError> {
    if plan.is_done() {
        return Ok(());
    }
    let needed = plan.memory_bytes;
    if let Some(allowed) = options.memory.or_else(clock::available_memory)
        && needed > allowed
    {
        let limit = options.memory.is_some();
        return Err(BuildError::Memory { needed, allowed, limit });
    }
    let dir = options.dirs.first().map_or(Path::new("tables"), PathBuf::as_path);
    let existing = dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() {
        Path::new(".")
    } else {
        existing
    };
    if let Ok(stat) = rustix::fs::statvfs(existing) {
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        if plan.disk_bytes > free {
            let path = dir.to_owned();
            return Err(BuildError::Disk {
                path,
                needed: plan.disk_bytes,
                free,
            });
        }
    }
    Ok(())
}

struct Builder<'a, G, R: Rulebook> {
    game: &'a G,
    plan: &'a Plan,
    progress: &'a Progress,
    rulebook: Arc<R>,
    solver: SliceSolver<R>,
    report: BuildReport,
}

impl<'a, G: Game, R: Rulebook> Builder<'a, G, R> {
    fn new(game: &'a G, rulebook: &Arc<R>, plan: &'a Plan, progress: &'a Progress) -> Self {
        Self {
            game,
            plan,
            progress,
            rulebook: rulebook.clone(),
            solver: SliceSolver::new(rulebook.clone()),
            report: BuildReport::default(),
        }
    }

    fn run(mut self) -> Result<BuildReport, BuildError> {
        for pass in &self.plan.passes {
            let mut solved = Solved::new(self.rulebook.clone(), pass.metric);
            for step in &pass.steps {
                self.step(pass, step, &mut solved)?;
            }
        }
        for slice in &self.plan.slices {
            for table in &slice.present {
                self.report.tables.push(TableReport {
                    material: slice.material,
                    metric: table.metric,
                    built: false,
                    positions: counted(&table.path)?,
                    bytes: std::fs::metadata(&table.path).map_or(0, |file| file.len()),
                    path: table.path.clone(),
                    solve_cpu_seconds: 0.0,
                    write_cpu_seconds: 0.0,
                });
            }
        }
        // A slice counts once, whatever the metrics.
        let mut built = BTreeMap::new();
        for table in self.report.tables.iter().filter(|table| table.built) {
            built.insert(table.material, table.positions);
        }
        self.report.positions = built.values().sum();
        let order: Vec<Material> = self.plan.slices.iter().map(|slice| slice.material).collect();
        self.report.tables.sort_by_key(|table| {
            (
                order.iter().position(|material| *material == table.material),
                table.metric,
            )
        });
        Ok(self.report)
    }

    fn step(&mut self, pass: &Pass, step: &Step, solved: &mut Solved<R>) -> Result<(), BuildError> {
        let slice = &self.plan.slices[step.slice];
        let material = slice.material;
        let start = clock::cpu_seconds();
        if let Some(path) = &step.load {
            self.progress.set_step("loading", &material);
            // Which entries captures free is asked for only if values are to be
            // written from the distances.
            let frees = step.write.iter().any(|table| table.metric == Metric::Wld);
            self.load(material, pass.metric, path, solved, frees)?;
            self.progress.done.fetch_add(slice.positions, Relaxed);
        } else {
            self.progress.set_step("solving", &material);
            self.solver.solve(material, pass.metric, solved, &self.progress.done);
        }
        let solve_seconds = if step.load.is_some() {
            0.0
        } else {
            clock::cpu_seconds() - start
        };
        self.report.solve_cpu_seconds += solve_seconds;
        let solved_here = step
            .write
            .iter()
            .map(|table| table.metric)
            .max_by_key(|metric| *metric == pass.metric);
        for table in &step.write {
            self.progress
                .set_step("writing", &format_args!("{material}.{}", table.metric));
            let start = clock::cpu_seconds();
            let (bytes, positions) = self.write(material, table, solved)?;
            let write_seconds = clock::cpu_seconds() - start;
            self.report.write_cpu_seconds += write_seconds;
            self.report.tables.push(TableReport {
                material,
                metric: table.metric,
                built: true,
                positions,
                bytes,
                path: table.path.clone(),
                // Counted once: for the metric that was solved, if it is written.
                solve_cpu_seconds: if solved_here == Some(table.metric) {
                    solve_seconds
                } else {
                    0.0
                },
                write_cpu_seconds: write_seconds,
            });
        }
        for view in material.views() {
            let (own, opp) = material.armies(*view);
            if let Some(mut side) = solved.remove(&own, &opp) {
                if let Some(side) = Arc::get_mut(&mut side) {
                    side.values.drop_free();
                }
                solved.insert(&own, &opp, side);
            }
        }
        for dropped in &step.drop {
            let material = self.plan.slices[*dropped].material;
            for view in material.views() {
                let (own, opp) = material.armies(*view);
                solved.remove(&own, &opp);
            }
        }
        Ok(())
    }

    /// Reads a slice from its table. Free entries are worked out again, as in
    /// solving.
    fn load(
        &self,
        material: Material,
        metric: Metric,
        path: &Path,
        solved: &mut Solved<R>,
        frees: bool,
    ) -> Result<(), BuildError> {
        let table = Table::open(path, &BlockCache::new(0))?;
        table.advise_sequential();
        let damaged = || BuildError::Header { path: path.to_owned() };
        let rulebook = &*self.rulebook;
        for (number, view) in material.views().iter().enumerate() {
            let (own, opp) = material.armies(*view);
            let parts = table.header().parts().sides.get(number).ok_or_else(damaged)?;
            let index = SliceIndex::new(rulebook, &own, &opp, DigitOrder::SOLVING).ok_or_else(damaged)?;
            let stored = DigitOrder::from_code(parts.order)
                .and_then(|order| SliceIndex::new(rulebook, &own, &opp, order))
                .filter(|stored| stored.len() == parts.entries)
                .ok_or_else(damaged)?;
            let (packing, places) = (parts.packing(), parts.places());
            let block_bytes = table.header().parts().block_bytes;
            let capacity = packing.capacity(block_bytes).max(1);
            let blocks: Vec<Vec<u8>> = (0..parts.block_count(block_bytes))
                .into_par_iter()
                .map(|block| table.read_block(number, block))
                .collect::<Result<_, TableError>>()?;
            let scores = table.scores(number);
            let values = Values::new(metric, index.len());
            let lookup = &*solved;
            let free = table.header().parts().free_entries;
            let by_captures = free.captures || free.up_to_capture || frees;
            // Where captures are optional they tell no distance.
            let told = free.captures || free.up_to_capture;
            // A multiple of what shares a byte.
            const CHUNK: u64 = 1 << 14;
            (0..index.len().div_ceil(CHUNK)).into_par_iter().try_for_each(|chunk| {
                let mut cursor = values.cursor(chunk * CHUNK);
                for entry in chunk * CHUNK..((chunk + 1) * CHUNK).min(index.len()) {
                    let placement: R::Placement = index.unrank(entry);
                    if rulebook.has_gaps() && !rulebook.is_placement(&placement) {
                        cursor.push(GAP, false);
                        continue;
                    }
                    let captures = if by_captures {
                        lookup.best_capture(&placement)
                    } else {
                        None
                    };
                    // What captures lead to says all, or that it is at least so good.
                    if let Some(score) = captures
                        && told
                        && (rulebook.forced() || score.is_win())
                    {
                        cursor.push(score.to_bits(), true);
                        continue;
                    }
                    let code = if packing.stores() {
                        let place = places.of(stored.rank(&placement));
                        let block = &blocks[(place / capacity) as usize];
                        packing.get(block, (place % capacity) as usize).ok_or_else(damaged)?
                    } else {
                        0
                    };
                    let score = *scores.get(usize::from(code)).ok_or_else(damaged)?;
                    let score = match captures {
                        Some(captures) if told && captures.preference() > score.preference() => captures,
                        _ => score,
                    };
                    let freed = captures.is_some_and(|best| best.is_win() || best.is_draw() && score.is_draw());
                    cursor.push(score.to_bits(), freed);
                }
                Ok::<(), BuildError>(())
            })?;
            let mated = AtomicU64::new(parts.mated.unwrap_or(0));
            solved.insert(&own, &opp, Arc::new(Side { index, values, mated }));
        }
        Ok(())
    }

    /// Writes a table; gives its bytes and its positions, no symmetry used.
    fn write(&self, material: Material, planned: &PlannedTable, solved: &Solved<R>) -> Result<(u64, u64), BuildError> {
        let metric = planned.metric;
        let views: Vec<ViewOfSide<'_, R>> = material
            .views()
            .iter()
            .map(|view| {
                let (own, opp) = material.armies(*view);
                let side = solved
                    .get(&own, &opp)
                    .expect("the slice has just been solved or loaded");
                ViewOfSide::new(&*self.rulebook, side, metric)
            })
            .collect();
        let mut parts = HeaderParts {
            family: G::FAMILY.to_owned(),
            metric,
            free_entries: free_entries(&*self.rulebook, metric),
            fingerprint: self.game.fingerprint().bytes(),
            game: self.game.name().to_owned(),
            material: material.to_string(),
            block_bytes: BLOCK_BYTES,
            dictionary: Vec::new(),
            sides: Vec::new(),
        };
        for (view, of_side) in material.views().iter().zip(&views) {
            parts.sides.push(SideParts {
                to_move: if *view == View::White {
                    Colour::White
                } else {
                    Colour::Black
                },
                order: DigitOrder::SOLVING.code(),
                entries: of_side.side.index.len(),
                row: 0,
                palette: of_side.palette.clone(),
                stored: of_side.stored,
                longest_win: None,
                mated: self.rulebook.has_mate().then(|| of_side.side.mated.load(Relaxed)),
            });
        }
        let mut stored = Vec::new();
        for (number, view) in material.views().iter().enumerate() {
            let order = self.best_order(material.armies(*view), &views[number], &parts, number, &planned.path)?;
            set_order(&mut parts.sides[number], order.index());
            parts.sides[number].longest_win = views[number].longest_win(&order);
            stored.push(order);
        }
        let source = |side: usize, range: Range<u64>, codes: &mut [u16]| {
            let length = range.end - range.start;
            views[side].codes(&stored[side], range, codes);
            self.progress.done.fetch_add(length, Relaxed);
        };
        let bytes = write::write_table(&planned.path, &parts, &source, LEVELS[metric as usize])?.bytes;
        let counts = views.iter().flat_map(|view| &view.palette).map(|entry| entry.count);
        Ok((bytes, counts.sum()))
    }

    /// The digit order in which a side compresses best, by trial on some of
    /// its blocks: of all orders on a few, then of the best ones on more.
    fn best_order<'s>(
        &'s self,
        armies: (Army, Army),
        of_side: &ViewOfSide<'s, R>,
        parts: &HeaderParts,
        number: usize,
        path: &Path,
    ) -> Result<StoredOrder<'s, R>, BuildError> {
        let (own, opp) = armies;
        let rulebook = &*self.rulebook;
        let stored = StoredOrders::new(rulebook, own, opp, &of_side.side.index);
        let order = |order: &DigitOrder| stored.get(*order).expect("the slice has positions in any order");
        let candidates = orders(rulebook, &own, &opp);
        if !parts.sides[number].packing().stores() || candidates.len() < 2 {
            return Ok(order(&DigitOrder::SOLVING));
        }
        // The first of equals, so that the choice is always the same.
        let mut candidates: Vec<_> = candidates.par_iter().map(order).enumerate().collect();
        for (kept, trial_blocks, level) in TRIALS {
            let bytes = candidates
                .par_iter()
                .map(|(_, order)| {
                    let mut parts = parts.clone();
                    set_order(&mut parts.sides[number], order.index());
                    let count = parts.sides[number].block_count(parts.block_bytes);
                    let step = count.div_ceil(trial_blocks).max(1);
                    // From the middle: first and last blocks are least like the others.
                    let blocks: Vec<u64> = (0..count).skip(step as usize / 2).step_by(step as usize).collect();
                    let source = |_: usize, range: Range<u64>, codes: &mut [u16]| of_side.codes(order, range, codes);
                    let tried = write::compressed_bytes(path, &parts, &source, number, &blocks, level)?;
                    // Orders differ in how much they pack, by folding and padding.
                    let side = &parts.sides[number];
                    let whole = side.packing().bytes(side.places().count());
                    let bytes = u128::from(tried.bytes) * u128::from(whole) / u128::from(tried.packed_bytes.max(1));
                    Ok(bytes)
                })
                .collect::<Result<Vec<u128>, WriteError>>()?;
            let mut ranked: Vec<_> = candidates.into_iter().zip(bytes).collect();
            ranked.sort_by_key(|((n, _), bytes)| (*bytes, *n));
            candidates = ranked.into_iter().map(|(candidate, _)| candidate).take(kept).collect();
        }
        Ok(candidates.swap_remove(0).1)
    }
}

/// The positions that a table holds, no symmetry used.
fn counted(path: &Path) -> Result<u64, BuildError> {
    let table = Table::open(path, &BlockCache::new(0))?;
    let counts = table
        .header()
        .sides()
        .iter()
        .flat_map(|side| &side.palette)
        .map(|entry| entry.count);
    Ok(counts.fold(0, u64::saturating_add))
}

/// Describes a side as stored by an index.
fn set_order<B: petrov_games::Bits>(side: &mut SideParts, index: &SliceIndex<B>) {
    side.order = index.order().code();
    side.entries = index.len();
    side.row = padded_row(side.packing(), index.row());
}

/// The row length to pad: 0 where that changes nothing, and where rows are so
/// few or so short that it brings nothing or costs much.
fn padded_row(packing: Packing, row: u64) -> u32 {
    let per_byte = u64::from(packing.per_byte());
    let pays = per_byte > 1 && PADDED_ROWS.contains(&row) && !row.is_multiple_of(per_byte);
    if pays { row as u32 } else { 0 }
}

/// Levels of compression by metric. For distances the highest takes three
/// times the work for one byte in a hundred.
const LEVELS: [i32; 3] = [write::DEFAULT_LEVEL, 16, 16];

/// Packed bytes of a block.
const BLOCK_BYTES: u32 = 1 << 16;

/// Lengths of rows that are padded.
const PADDED_ROWS: Range<u64> = 8..2000;

/// Trials of digit orders: how many the trial keeps, on how many blocks and
/// at which level. Orders that do well at a low level do well at the final one.
const TRIALS: [(usize, u64, i32); 2] = [(4, 2, 6), (1, 6, 6)];

/// One side of a slice as a table of one metric shows it.
struct ViewOfSide<'a, R: Rulebook> {
    side: &'a Side<R::Set>,
    palette: Vec<PaletteEntry>,
    stored: u32,
    /// For each score (distance times eight plus value) with and without free
    /// captures: its code, or which ones an entry may hold.
    codes: Vec<[u16; 2]>,
    /// Distances are left out: the values come from another metric's.
    only_value: bool,
}

fn slot(score: Score) -> usize {
    usize::from(score.distance()) << 3 | usize::from(score.to_bits() >> 13)
}

impl<'a, R: Rulebook> ViewOfSide<'a, R> {
    fn new(rulebook: &R, side: &'a Side<R::Set>, metric: Metric) -> Self {
        let only_value = metric == Metric::Wld;
        let free = free_entries(rulebook, metric);
        let mut counts: BTreeMap<(bool, i32), (Score, u64, u64)> = BTreeMap::new();
        let mut sums: BTreeMap<i32, (Score, u64, u64)> = BTreeMap::new();
        for (bits, count) in Summary::of(side, free).scores {
            let score = Score::from_bits(bits);
            let score = if only_value {
                Score::new(score.value(), 0)
            } else {
                score
            };
            let sum = sums.entry(score.preference()).or_insert((score, 0, 0));
            sum.1 += count.positions;
            sum.2 += count.stored;
        }
        for (preference, sum) in sums {
            counts.insert((sum.2 == 0, preference), sum);
        }
        let mut codes = Vec::new();
        let mut palette = Vec::new();
        for (code, (score, positions, _)) in counts.values().enumerate() {
            if codes.len() <= slot(*score) {
                codes.resize(slot(*score) + 1, 0);
            }
            codes[slot(*score)] = code as u16;
            palette.push(PaletteEntry {
                value: score.value50(),
                distance: score.distance(),
                count: *positions,
            });
        }
        let stored = counts.keys().filter(|(unused, _)| !unused).count() as u32;
        let loss = palette.iter().position(|entry| entry.score().is_loss());
        let loss = loss.filter(|code| (*code as u32) < stored);
        let codes = codes
            .iter()
            .enumerate()
            .map(|(slot, &code)| {
                let score = Score::from_bits((slot >> 3) as u16 | (slot as u16 & 7) << 13);
                let freed = match loss {
                    _ if free.frees(score) => write::FREE,
                    Some(loss) if free.up_to_capture && score.is_draw() => write::one_of(code, loss as u16),
                    _ => code,
                };
                [code, freed]
            })
            .collect();
        Self {
            side,
            palette,
            stored,
            codes,
            only_value,
        }
    }

    fn score(&self, entry: u64) -> Score {
        let score = self.side.values.score(entry);
        if self.only_value {
            Score::new(score.value(), 0)
        } else {
            score
        }
    }

    /// The code of a score, or which ones an entry may hold.
    #[inline(always)]
    fn code(&self, score: Score, free: bool) -> u16 {
        self.codes.get(slot(score)).map_or(0, |codes| codes[usize::from(free)])
    }

    fn codes(&self, order: &StoredOrder<'_, R>, range: Range<u64>, codes: &mut [u16]) {
        let values = &self.side.values;
        let mut codes = codes.iter_mut();
        let mut put = |code: u16| {
            if let Some(slot) = codes.next() {
                *slot = code;
            }
        };
        if values.only_outcomes() {
            let codes: [u16; 8] = std::array::from_fn(|n| match n as u8 {
                outcome if outcome & 3 == GAP_OUTCOME => write::FREE,
                outcome => self.code(Values::score_of(outcome & 3), outcome > 3),
            });
            order.for_each(range, |entry| {
                put(codes[usize::from(values.outcome(entry) | u8::from(values.is_free(entry)) << 2)]);
            });
        } else {
            // Looking is a load for each entry.
            let frees = self.codes.iter().any(|[own, freed]| own != freed);
            order.for_each(range, |entry| {
                put(if values.is_gap(entry) {
                    write::FREE
                } else {
                    self.code(self.score(entry), frees && values.is_free(entry))
                });
            });
        }
    }

    /// The lowest stored index with the longest win.
    fn longest_win(&self, order: &StoredOrder<'_, R>) -> Option<u64> {
        let wins = self
            .palette
            .iter()
            .map(PaletteEntry::score)
            .filter(|score| score.is_win());
        let longest = wins.max_by_key(|score| score.distance())?;
        const CHUNK: u64 = 1 << 16;
        let len = order.index().len();
        (0..len.div_ceil(CHUNK)).into_par_iter().find_map_first(|chunk| {
            let from = chunk * CHUNK;
            let (mut at, mut found) = (from, None);
            order.for_each(from..(from + CHUNK).min(len), |entry| {
                if found.is_none() && !self.side.values.is_gap(entry) && self.score(entry) == longest {
                    found = Some(at);
                }
                at += 1;
            });
            found
        })
    }
}
