//! Building tables: solving or loading slices in order and writing files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use petrov_games::{Engine, Game, Material, Rulebook};
use petrov_probe::{BlockCache, DigitOrder, Metric, SliceIndex, Table, TableError};
use rayon::prelude::*;

use crate::clock::{self, Meter};
use crate::families::compiled_for_families;
use crate::plan::{BuildOptions, Pass, Plan, PlannedTable, Step, write_dir};
use crate::ranks::forget_checkpoints;
use crate::slice::{OnlyRank, SliceSolver};
use crate::solved::{Side, Solved};
use crate::table_writer::TableWriter;
use crate::values::{GAP, Values};
use crate::write::{WriteError, remove_all_leftovers};

/// How far a build or a check has come; read it from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    pub(crate) total: AtomicU64,
    pub(crate) done: AtomicU64,
    /// Steps of what is under way and will be counted as a whole.
    under_way: AtomicU64,
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
        self.done.load(Relaxed).saturating_add(self.under_way.load(Relaxed))
    }

    /// What is being done now, in a few words.
    #[must_use]
    pub fn step(&self) -> String {
        self.step.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_total(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    pub(crate) fn count(&self, steps: u64) {
        self.done.fetch_add(steps, Relaxed);
    }

    /// A count of what is under way, for `work` to add to; gives what it came to. It counts as done until then, and no more
    /// afterwards.
    pub(crate) fn watch<T>(&self, work: impl FnOnce(&AtomicU64) -> T) -> (T, u64) {
        self.under_way.store(0, Relaxed);
        let outcome = work(&self.under_way);
        (outcome, self.under_way.swap(0, Relaxed))
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

impl TableReport {
    /// The report of a table that was there already.
    pub(crate) fn of_present(material: Material, planned: &PlannedTable) -> Result<Self, BuildError> {
        let table = Table::open(&planned.path, &BlockCache::new(0))?;
        let palettes = table.header().sides().iter().flat_map(|side| &side.palette);
        Ok(Self {
            material,
            metric: planned.metric,
            built: false,
            // What it holds, no symmetry used.
            positions: palettes.map(|entry| entry.count).fold(0, u64::saturating_add),
            bytes: std::fs::metadata(&planned.path).map_or(0, |file| file.len()),
            path: planned.path.clone(),
            solve_cpu_seconds: 0.0,
            write_cpu_seconds: 0.0,
        })
    }
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

compiled_for_families! {
    /// Builds what a plan says is missing.
    ///
    /// # Errors
    /// See [`BuildError`]; refusals for want of memory or disk come before
    /// anything is written.
    pub fn build(game, plan: &Plan, options: &BuildOptions, progress: &Progress) -> Result<BuildReport, BuildError> =
        build_tables
}

fn build_tables<G: Game>(
    game: &G,
    plan: &Plan,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<BuildReport, BuildError> {
    let (start, start_cpu) = (Instant::now(), clock::cpu_seconds());
    let folder = write_dir(options).join(game.name());
    // They take room.
    remove_all_leftovers(&folder);
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
    forget_checkpoints(&folder, plan, &options.metrics);
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
    check_disk(plan.disk_bytes, options)
}

/// Whether there is so much room where tables are written.
pub(crate) fn check_disk(needed: u64, options: &BuildOptions) -> Result<(), BuildError> {
    let dir = write_dir(options);
    let existing = dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() {
        Path::new(".")
    } else {
        existing
    };
    if let Ok(stat) = rustix::fs::statvfs(existing) {
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        if needed > free {
            let path = dir.to_owned();
            return Err(BuildError::Disk { path, needed, free });
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

/// Tables that are written while the next slice is solved.
#[derive(Default)]
pub(crate) struct Writing {
    /// Steps whose tables are being written.
    under_way: AtomicUsize,
    /// What has been written since the last look.
    written: Mutex<Vec<Result<TableReport, BuildError>>>,
}

/// Steps whose tables are written while the next slice is solved: one makes up
/// for what only one thread can do, more would need more memory.
const STEPS_WRITTEN_BESIDE: usize = 1;

impl Writing {
    /// Has the tables of a step written while the work goes on. The slice has
    /// just been solved or loaded; that took `solve_seconds`. `then` gets whether all went well.
    #[expect(clippy::too_many_arguments, reason = "what is written, and what is known of it")]
    pub(crate) fn spawn<'s, G: Game, R: Rulebook>(
        &'s self,
        scope: &rayon::Scope<'s>,
        writer: &'s TableWriter<'s, G, R>,
        pass: &Pass,
        step: &'s Step,
        material: Material,
        sides: Vec<Arc<Side<R::Set>>>,
        solve_seconds: f64,
        then: impl FnOnce(&Result<(), String>) + Send + 's,
    ) {
        // Counted once: for the metric that was solved, if it is written.
        let metrics = step.write.iter().map(|table| table.metric);
        let solved_here = metrics.max_by_key(|metric| *metric == pass.metric);
        self.under_way.fetch_add(1, Relaxed);
        scope.spawn(move |_| {
            let mut all = Ok(());
            for table in &step.write {
                let mut report = writer.write(material, table, &sides);
                match &mut report {
                    Ok(report) if solved_here == Some(table.metric) => report.solve_cpu_seconds = solve_seconds,
                    Ok(_) => (),
                    Err(error) => all = Err(error.to_string()),
                }
                self.written.lock().unwrap_or_else(PoisonError::into_inner).push(report);
            }
            drop(sides);
            then(&all);
            self.under_way.fetch_sub(1, Release);
        });
    }

    /// Waits until the next step may begin. A single thread does one thing
    /// after the other.
    pub(crate) fn wait_for_room(&self) {
        self.wait(if rayon::current_num_threads() > 1 {
            STEPS_WRITTEN_BESIDE
        } else {
            0
        });
    }

    /// Waits until no more than so many steps are under way; helps meanwhile.
    pub(crate) fn wait(&self, under_way: usize) {
        while self.under_way.load(Acquire) > under_way {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }

    /// What has been written.
    pub(crate) fn take(&self) -> Result<Vec<TableReport>, BuildError> {
        let written = std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        written.into_iter().collect()
    }
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
        let rulebook = self.rulebook.clone();
        let writer = TableWriter {
            game: self.game,
            rulebook: &*rulebook,
            progress: self.progress,
        };
        let writing = Writing::default();
        rayon::scope(|scope| {
            for pass in &self.plan.passes {
                let mut solved = Solved::new(self.rulebook.clone(), pass.metric);
                let mut with_free = Vec::new();
                for step in &pass.steps {
                    self.step(pass, step, &mut solved, scope, &writer, &writing)?;
                    with_free.push(self.plan.slices[step.slice].material);
                    self.take_written(&mut with_free, &mut solved, &writing)?;
                }
                writing.wait(0);
                self.take_written(&mut with_free, &mut solved, &writing)?;
            }
            Ok::<(), BuildError>(())
        })?;
        for slice in &self.plan.slices {
            for table in &slice.present {
                self.report.tables.push(TableReport::of_present(slice.material, table)?);
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

    /// Solves or loads a slice and has its tables written.
    fn step<'s>(
        &mut self,
        pass: &Pass,
        step: &'s Step,
        solved: &mut Solved<R>,
        scope: &rayon::Scope<'s>,
        writer: &'s TableWriter<'s, G, R>,
        writing: &'s Writing,
    ) -> Result<(), BuildError> {
        let slice = &self.plan.slices[step.slice];
        let material = slice.material;
        let meter = Meter::default();
        if let Some(path) = &step.load {
            self.progress.set_step("loading", &material);
            // Which entries captures free is asked for only if values are to be
            // written from the distances.
            let frees = step.write.iter().any(|table| table.metric == Metric::Wld);
            meter.measure(|| load_slice(&*self.rulebook, material, pass.metric, path, solved, frees, &meter))?;
            self.progress.done.fetch_add(slice.positions, Relaxed);
        } else {
            self.progress.set_step("solving", &material);
            let solve = || {
                self.solver
                    .solve(material, pass.metric, solved, &OnlyRank, &self.progress.done, &meter)
            };
            meter.measure(solve).expect("there is no state to go on from");
        }
        let solve_seconds = if step.load.is_some() { 0.0 } else { meter.seconds() };
        self.report.solve_cpu_seconds += solve_seconds;
        if !step.write.is_empty() {
            let sides = solved.slice(material);
            writing.spawn(scope, writer, pass, step, material, sides, solve_seconds, |_| ());
        }
        writing.wait_for_room();
        for dropped in &step.drop {
            solved.remove_slice(self.plan.slices[*dropped].material);
        }
        Ok(())
    }

    /// Takes note of what has been written, and forgets what only writing
    /// needs of the slices in `with_free` (which entries are free), as far as they are no longer in use.
    fn take_written(
        &mut self,
        with_free: &mut Vec<Material>,
        solved: &mut Solved<R>,
        writing: &Writing,
    ) -> Result<(), BuildError> {
        for table in writing.take()? {
            self.report.write_cpu_seconds += table.write_cpu_seconds;
            self.report.tables.push(table);
        }
        solved.drop_free(with_free);
        Ok(())
    }
}

/// Reads a slice from its table. Free entries are worked out again, as in
/// solving.
pub(crate) fn load_slice<R: Rulebook>(
    rulebook: &R,
    material: Material,
    metric: Metric,
    path: &Path,
    solved: &mut Solved<R>,
    frees: bool,
    meter: &Meter,
) -> Result<(), BuildError> {
    let table = Table::open(path, &BlockCache::new(0))?;
    table.advise_sequential();
    let damaged = || BuildError::Header { path: path.to_owned() };
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
            .map(|block| meter.measure(|| table.read_block(number, block)))
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
            meter.measure(|| {
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
            })
        })?;
        let mated = AtomicU64::new(parts.mated.unwrap_or(0));
        solved.insert(&own, &opp, Arc::new(Side { index, values, mated }));
    }
    Ok(())
}
