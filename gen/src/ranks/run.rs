//! What one rank does, step by step.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use petrov_games::{Engine, Game, Material, Rulebook, with_rulebook};
use petrov_probe::{Metric, SliceIndex};
use rayon::prelude::*;

use super::checkpoint::{self, Folder, Holds, KeptPages, Label};
use super::finish::{bring_reports, bring_together};
use super::keeper::Keeper;
use super::post::{Failure, Kind, Order, Post};
use super::schedule::{self, Way};
use super::start::{Groups, Identity, Known, broken, game_folder, known, lock_folders, of_plan, run_number};
use super::store::{PageName, Paged, Pages, Sealed};
use super::team::{RowCrew, SliceTeam, StateFile};
use super::{RankReport, SpreadOptions, SpreadReport, spread_plan};
use crate::build::{BuildError, BuildReport, Progress, TableReport, Writing, check_disk, load_slice};
use crate::clock::{self, Meter};
use crate::message;
use crate::plan::{self, BuildOptions, Pass, Plan, Step, What};
use crate::slice::{OnlyRank, SliceSolver};
use crate::solved::{Side, Solved};
use crate::table_writer::TableWriter;
use crate::values::Values;

/// As on the command line.
fn in_words(what: What) -> String {
    match what {
        What::Pieces(pieces) => pieces.to_string(),
        What::Material(material) => material.to_string(),
    }
}

/// Worker threads that are meant.
pub(super) fn threads(options: &BuildOptions) -> usize {
    match options.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}

pub(super) fn build<G: Game + 'static>(
    game: &G,
    what: What,
    options: &SpreadOptions,
    post: &Arc<Post>,
    keeper: &Arc<Keeper>,
    progress: &Progress,
) -> Result<SpreadReport, Failure> {
    let (start, start_cpu) = (Instant::now(), clock::cpu_seconds());
    Identity::of(game, &in_words(what), options).check(post)?;
    let run = run_number(post);
    let folder = game_folder(game, &options.build);
    let groups = Groups::find(post, &folder, run)?;
    let _lock = lock_folders(post, &groups, &folder, &options.host)?;
    let checkpoints = Folder::new(folder.join(checkpoint::NAME), run, post.rank);
    let (known, kept_files) = known(game, what, options, post, &groups, &checkpoints)?;
    let plan = with_rulebook!(game, rulebook => {
        plan::plan_with(game, &**rulebook, what, &options.build, &known.present).map_err(of_plan)?
    });
    if !plan.is_done() {
        let needed = spread_plan(game, &plan, &options.build, post.ranks).memory_bytes;
        let limit = options.build.memory.is_some();
        if let Some(allowed) = options.build.memory.or_else(clock::available_memory)
            && needed > allowed
        {
            if limit && post.rank > 0 {
                // The same on all ranks, and rank 0 says it.
                post.wait_for_the_end();
            }
            return Err(BuildError::Memory { needed, allowed, limit }.into());
        }
        if groups.leads() {
            check_disk(plan.disk_bytes, &options.build)?;
        }
    }
    keeper.start(checkpoints);
    if let Some(every) = options.checkpoint {
        let (post, keeper) = (post.clone(), keeper.clone());
        std::thread::spawn(move || keeper.keep(&post, every));
    }
    let total = plan.passes.iter().flat_map(|pass| &pass.steps);
    let total = total.map(|step| (1 + step.write.len() as u64) * plan.slices[step.slice].positions);
    progress.set_total(total.sum());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.build.threads)
        .build()?;
    let (report, peak) = clock::with_peak_memory(|| {
        pool.install(|| match game.engine() {
            Engine::Narrow(rulebook) => {
                Runner::new(game, rulebook, &plan, options, post, keeper, progress, &groups, &known).run(&kept_files)
            }
            Engine::Wide(rulebook) => {
                Runner::new(game, rulebook, &plan, options, post, keeper, progress, &groups, &known).run(&kept_files)
            }
        })
    });
    let mut report = report?;
    report.peak_memory_bytes = peak;
    post.meet();
    if options.collect && !groups.are_one() {
        bring_together(game, options, post, &groups)?;
    }
    keeper.end();
    let clerk = f64::from_bits(post.clerk_seconds.load(Relaxed));
    let own = RankReport {
        rank: post.rank,
        host: options.host.clone(),
        threads: threads(&options.build),
        steps: progress.done(),
        positions: post.positions.load(Relaxed),
        cpu_seconds: (clock::cpu_seconds() - start_cpu - clerk).max(0.0),
        communication_seconds: clerk,
        waiting_seconds: post.waited_seconds(),
        sent_bytes: post.sent.load(Relaxed),
        received_bytes: post.received.load(Relaxed),
        peak_memory_bytes: peak,
        wall_seconds: start.elapsed().as_secs_f64(),
        step: String::new(),
    };
    let report = bring_reports(&plan, report, own, post, progress)?;
    post.meet();
    Ok(report)
}

/// A rank while it builds.
struct Runner<'a, G, R: Rulebook> {
    game: &'a G,
    plan: &'a Plan,
    options: &'a SpreadOptions,
    post: &'a Arc<Post>,
    keeper: &'a Keeper,
    progress: &'a Progress,
    groups: &'a Groups,
    known: &'a Known,
    rulebook: Arc<R>,
    solver: SliceSolver<R>,
    report: BuildReport,
    /// Steps of all passes so far.
    steps: u64,
    /// For each pass and slice the pages that come from checkpoints.
    restored: HashMap<(u32, u32), HashSet<(u8, u64)>>,
}

impl<'a, G: Game, R: Rulebook> Runner<'a, G, R> {
    #[expect(clippy::too_many_arguments, reason = "all that a run has")]
    fn new(
        game: &'a G,
        rulebook: &Arc<R>,
        plan: &'a Plan,
        options: &'a SpreadOptions,
        post: &'a Arc<Post>,
        keeper: &'a Keeper,
        progress: &'a Progress,
        groups: &'a Groups,
        known: &'a Known,
    ) -> Self {
        Self {
            game,
            plan,
            options,
            post,
            keeper,
            progress,
            groups,
            known,
            rulebook: rulebook.clone(),
            solver: SliceSolver::new(rulebook.clone()),
            report: BuildReport::default(),
            steps: 0,
            restored: HashMap::new(),
        }
    }

    fn ways(&self, pass: &Pass) -> Vec<Way> {
        let holders = |slice: usize| {
            let name = (self.plan.slices[slice].material, pass.metric);
            self.groups.with(self.known.holder.get(&name).copied().unwrap_or(0))
        };
        schedule::ways(
            &*self.rulebook,
            self.plan,
            pass,
            self.options,
            self.post.ranks,
            &holders,
        )
    }

    fn run(mut self, kept: &[(PathBuf, Label)]) -> Result<BuildReport, Failure> {
        let rulebook = self.rulebook.clone();
        let writer = TableWriter {
            game: self.game,
            rulebook: &*rulebook,
            progress: self.progress,
        };
        let ways: Vec<Vec<Way>> = self.plan.passes.iter().map(|pass| self.ways(pass)).collect();
        self.restore(&ways, kept)?;
        self.say_ways(&ways);
        let writing = Writing::default();
        rayon::scope(|scope| {
            for ((number, pass), ways) in (0..).zip(&self.plan.passes).zip(&ways) {
                let mut solved = Solved::new(self.rulebook.clone(), pass.metric);
                let mut with_free = Vec::new();
                for (step, way) in pass.steps.iter().zip(ways) {
                    self.step(number, pass, step, *way, &mut solved, scope, &writer, &writing)?;
                    with_free.push(self.plan.slices[step.slice].material);
                    self.take_written(&writing)?;
                    solved.drop_free(&mut with_free);
                }
                writing.wait(0);
                self.take_written(&writing)?;
            }
            Ok::<(), Failure>(())
        })?;
        for slice in &self.plan.slices {
            for table in &slice.present {
                if self.known.holder.get(&(slice.material, table.metric)) != Some(&self.post.rank) {
                    continue;
                }
                self.report.tables.push(TableReport::of_present(slice.material, table)?);
            }
        }
        Ok(self.report)
    }

    /// Says how slices are worked on.
    fn say_ways(&self, ways: &[Vec<Way>]) {
        if self.post.rank != 0 {
            return;
        }
        for (pass, ways) in self.plan.passes.iter().zip(ways) {
            let (mut whole, mut loaded) = (0, 0);
            for (step, way) in pass.steps.iter().zip(ways) {
                let material = self.plan.slices[step.slice].material;
                match way {
                    Way::Load { .. } => loaded += 1,
                    Way::Whole { .. } => whole += 1,
                    Way::Units { .. } => {
                        self.post
                            .say(format!("{material}.{}: units spread over all ranks", pass.metric));
                    }
                    Way::Rows { .. } => {
                        self.post.say(format!(
                            "{material}.{}: units split by rows over all ranks",
                            pass.metric
                        ));
                    }
                }
            }
            self.post.say(format!(
                "{}: slices solved by one rank each: {whole}, read from tables: {loaded}",
                pass.metric
            ));
        }
    }

    fn label(&self, pass: &Pass, step: &Step, units: Vec<u64>) -> Label {
        Label {
            fingerprint: self.game.fingerprint().bytes(),
            material: self.plan.slices[step.slice].material.to_string(),
            metric: pass.metric as u8,
            holds: Holds::Pages { units },
        }
    }

    /// Values of a unit of each side, as pages are cut.
    fn units(&self, step: &Step, way: Way) -> Vec<u64> {
        let material = self.plan.slices[step.slice].material;
        let unit = |view: &petrov_games::View| {
            let (own, opp) = material.armies(*view);
            let index = SliceIndex::<R::Set>::new(&*self.rulebook, &own, &opp, petrov_probe::DigitOrder::SOLVING);
            index.map_or(0, |index| match way.owner() {
                Some(_) => index.len(),
                None => index.scale(petrov_probe::Digit::Standing),
            })
        };
        material.views().iter().map(unit).collect()
    }

    /// The pages of a side.
    fn pages(&self, way: Way, metric: Metric, index: &SliceIndex<R::Set>) -> Pages {
        let unit = index.scale(petrov_probe::Digit::Standing);
        Pages::new(metric, index.len(), unit, way.owner(), self.post.ranks)
    }

    /// Gives pages from checkpoints to their homes, and takes note of them.
    fn restore(&mut self, ways: &[Vec<Way>], kept: &[(PathBuf, Label)]) -> Result<(), Failure> {
        let mut places = HashMap::new();
        for ((number, pass), ways) in (0u32..).zip(&self.plan.passes).zip(ways) {
            for (step, way) in pass.steps.iter().zip(ways).filter(|(step, _)| step.load.is_none()) {
                let material = self.plan.slices[step.slice].material.to_string();
                places.insert((material, pass.metric as u8), (number, step.slice as u32, step, *way));
            }
        }
        for holdings in &self.known.holdings {
            for there in &holdings.pages {
                if let Some((pass, slice, step, way)) = places.get(&(there.material.clone(), there.metric))
                    && self.units(step, *way) == there.units
                {
                    let restored = self.restored.entry((*pass, *slice)).or_default();
                    restored.extend(there.pages.iter().copied());
                }
            }
        }
        for (path, label) in kept {
            let name = (label.material.clone(), label.metric);
            let Some((pass, slice, step, way)) = places.get(&name) else {
                continue;
            };
            let (Holds::Pages { units }, Ok((_, contents))) = (&label.holds, checkpoint::read(path)) else {
                continue;
            };
            if self.units(step, *way) != *units {
                self.post.say_of_this_rank(format!(
                    "{}: kept with other options; its work is done again",
                    path.display()
                ));
                continue;
            }
            let material = self.plan.slices[step.slice].material;
            let indices: Vec<_> = material
                .views()
                .iter()
                .map(|view| {
                    let (own, opp) = material.armies(*view);
                    SliceIndex::<R::Set>::new(&*self.rulebook, &own, &opp, petrov_probe::DigitOrder::SOLVING)
                })
                .collect();
            let Ok((pages, _)) = message::decode::<KeptPages>(&contents) else {
                continue;
            };
            for (side, page, sealed) in pages {
                let Some(Some(index)) = indices.get(usize::from(side)) else {
                    continue;
                };
                let cut = self.pages(*way, self.plan.passes[*pass as usize].metric, index);
                // Whoever reads it later relies on that.
                if page >= cut.count() || sealed.page(&cut, cut.len_of(page)).is_none() {
                    return Err(broken(format!(
                        "{}: holds a page that does not fit; remove it",
                        path.display()
                    )));
                }
                let home = cut.home(page);
                let name = PageName {
                    pass: *pass,
                    slice: *slice,
                    side,
                    page,
                };
                self.post.send_sealed(home, name, sealed);
            }
        }
        for state in &self.known.holdings[self.post.rank].states {
            let place = places.get(&(state.label.material.clone(), state.label.metric));
            if place.is_some_and(|(.., way)| !matches!(way, Way::Rows { .. })) {
                self.post.say_of_this_rank(format!(
                    "{}: kept while units were split by rows; its work is done again",
                    state.path.display()
                ));
            }
        }
        // What is kept of slices that are in tables, or come from another metric's,
        // is of no use. Of metrics that were not asked for it may be.
        if self.groups.leads() {
            let folder = Folder::new(game_folder(self.game, &self.options.build).join(checkpoint::NAME), 0, 0);
            let materials = self.plan.slices.iter().map(|slice| slice.material.to_string());
            let tables = materials.flat_map(|material| {
                let metrics = self.options.build.metrics.iter();
                metrics.map(move |metric| (material.clone(), *metric))
            });
            let done = tables.filter(|(material, metric)| !places.contains_key(&(material.clone(), *metric as u8)));
            folder.clear(&done.collect());
        }
        self.post.meet();
        Ok(())
    }

    /// Has a part in a slice, and has its tables written if that is this rank's
    /// task.
    #[expect(clippy::too_many_arguments, reason = "where the step is, and what it needs")]
    fn step<'s>(
        &mut self,
        number: u32,
        pass: &Pass,
        step: &'s Step,
        way: Way,
        solved: &mut Solved<R>,
        scope: &rayon::Scope<'s>,
        writer: &'s TableWriter<'s, G, R>,
        writing: &'s Writing,
    ) -> Result<(), Failure>
    where
        'a: 's,
    {
        let slice = &self.plan.slices[step.slice];
        let material = slice.material;
        let slice_number = step.slice as u32;
        let name = PageName {
            pass: number,
            slice: slice_number,
            side: 0,
            page: 0,
        };
        let restored = self.restored.remove(&(number, slice_number)).unwrap_or_default();
        let label = self.label(pass, step, self.units(step, way));
        if step.load.is_none() {
            self.keeper.open(number, slice_number, label.clone(), restored.clone());
        }
        let meter = Meter::default();
        match way {
            Way::Load { rank } | Way::Whole { rank } if rank == self.post.rank => {
                self.whole(pass, step, name, way, solved, &restored, &meter)?;
            }
            Way::Load { .. } | Way::Whole { .. } => {
                let post = self.post;
                solved.insert_slice(material, |side, index| {
                    let pages = Pages::new(pass.metric, index.len(), index.len(), way.owner(), post.ranks);
                    let name = PageName {
                        side: side as u8,
                        ..name
                    };
                    Values::elsewhere(Box::new(Paged::new(post.clone(), pages, name)))
                });
            }
            Way::Units { .. } | Way::Rows { .. } => {
                self.progress.set_step("solving", &material);
                let states = self.known.holdings.iter().flat_map(|holdings| &holdings.states);
                let of_slice = |state: &&_| -> bool {
                    let state: &StateFile = state;
                    state.label.material == label.material && state.label.metric == label.metric
                };
                let by_rows = matches!(way, Way::Rows { .. });
                let team = SliceTeam {
                    post: self.post,
                    keeper: self.keeper,
                    name,
                    label: label.clone(),
                    by_rows,
                    restored: &restored,
                    states: states.filter(of_slice).cloned().collect(),
                    pages: Mutex::default(),
                    crew: RowCrew::new(self.post, self.keeper, self.progress, label, self.options.checkpoint),
                };
                let solve = |done: &AtomicU64| {
                    meter.measure(|| self.solver.solve(material, pass.metric, solved, &team, done, &meter))
                };
                let (outcome, done) = self.progress.watch(solve);
                outcome?;
                // Entries are counted, of which some stand for several positions.
                let entries: u64 = team.entries();
                let share = slice.positions as f64 * done as f64 / entries.max(1) as f64;
                self.post.positions.fetch_add(share as u64, Relaxed);
                self.progress.count(share as u64);
                self.gather_together(pass, name, way, material, solved, !restored.is_empty())?;
            }
        }
        let own_seconds = if step.load.is_some() { 0.0 } else { meter.seconds() };
        self.report.solve_cpu_seconds += own_seconds;
        // What all ranks have taken is the table's.
        let solve_seconds = match way {
            Way::Units { .. } | Way::Rows { .. } => {
                let all = self.post.gather(&own_seconds.to_le_bytes());
                let seconds = |message: &Vec<u8>| message.first_chunk().map_or(0.0, |bytes| f64::from_le_bytes(*bytes));
                all.iter().map(seconds).sum()
            }
            Way::Load { .. } | Way::Whole { .. } => own_seconds,
        };
        if !step.write.is_empty() && way.writer() == self.post.rank {
            let (post, keeper) = (self.post, self.keeper);
            let then = move |written: &Result<(), String>| match written {
                Ok(()) => {
                    for to in (0..post.ranks).filter(|to| *to != post.rank) {
                        post.send(to, Kind::Written, message::encode(&(number, slice_number), &[]));
                    }
                    keeper.close(number, slice_number);
                }
                // At once, as the others go on.
                Err(error) => post.order(Order::Fail(broken(error.clone()))),
            };
            let sides = solved.slice(material);
            writing.spawn(scope, writer, pass, step, material, sides, solve_seconds, then);
        }
        writing.wait_for_room();
        self.steps += 1;
        for dropped in &step.drop {
            solved.remove_slice(self.plan.slices[*dropped].material);
        }
        self.post.pass(self.steps, number, &step.drop);
        Ok(())
    }

    /// Reads or solves a slice that this rank has to itself, and gives its
    /// pages to whoever asks.
    #[expect(clippy::too_many_arguments, reason = "which slice, and where it goes")]
    fn whole(
        &mut self,
        pass: &Pass,
        step: &Step,
        name: PageName,
        way: Way,
        solved: &mut Solved<R>,
        restored: &HashSet<(u8, u64)>,
        meter: &Meter,
    ) -> Result<(), Failure> {
        let material = self.plan.slices[step.slice].material;
        let all: u64 = material
            .views()
            .iter()
            .zip(self.units(step, way))
            .map(|(_, len)| Pages::new(pass.metric, len, len, way.owner(), self.post.ranks).count())
            .sum();
        if let Some(path) = &step.load {
            self.progress.set_step("loading", &material);
            let frees = step.write.iter().any(|table| table.metric == Metric::Wld);
            meter.measure(|| load_slice(&*self.rulebook, material, pass.metric, path, solved, frees, meter))?;
            self.progress.count(self.plan.slices[step.slice].positions);
        } else if restored.len() as u64 == all {
            self.progress.set_step("restoring", &material);
            solved.insert_slice(material, |_, index| Values::new(pass.metric, index.len()));
            self.read_pages(pass, name, way, material, solved, true)?;
            self.progress.count(self.plan.slices[step.slice].positions);
            return Ok(());
        } else {
            self.progress.set_step("solving", &material);
            let solve = |done: &AtomicU64| {
                meter.measure(|| self.solver.solve(material, pass.metric, solved, &OnlyRank, done, meter))
            };
            self.progress.watch(solve).0?;
            let positions = self.plan.slices[step.slice].positions;
            self.post.positions.fetch_add(positions, Relaxed);
            self.progress.count(positions);
        }
        if self.post.ranks == 1 && self.options.checkpoint.is_none() {
            // Nobody asks.
            return Ok(());
        }
        for (side, view) in material.views().iter().enumerate() {
            let (own, opp) = material.armies(*view);
            let Some(values) = solved.get(&own, &opp) else { continue };
            let pages = self.pages(way, pass.metric, &values.index);
            (0..pages.count()).into_par_iter().for_each(|page| {
                meter.measure(|| {
                    let sealed = Sealed::new(&values.values.page(pages.range(page)));
                    let name = PageName {
                        side: side as u8,
                        page,
                        ..name
                    };
                    self.post.seal(name, sealed);
                });
            });
        }
        Ok(())
    }

    /// After a slice that all have worked on: its writer gets all of it.
    fn gather_together(
        &self,
        pass: &Pass,
        name: PageName,
        way: Way,
        material: Material,
        solved: &mut Solved<R>,
        recount: bool,
    ) -> Result<(), Failure> {
        let own: Vec<u64> = solved
            .slice(material)
            .iter()
            .map(|side| side.mated.load(Relaxed))
            .collect();
        let mut mated = vec![0; own.len()];
        for message in self.post.gather(&message::encode(&own, &[])) {
            let (counts, _) = message::decode::<Vec<u64>>(&message)?;
            mated.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        if way.writer() != self.post.rank {
            return Ok(());
        }
        solved.insert_slice(material, |_, index| Values::new(pass.metric, index.len()));
        self.read_pages(pass, name, way, material, solved, recount)?;
        if !recount {
            for (side, mated) in solved.slice(material).iter().zip(mated) {
                side.mated.store(mated, Relaxed);
            }
        }
        Ok(())
    }

    /// Fills a slice's values, which are all here, from its pages. Mates are
    /// counted where there is no other count of them.
    fn read_pages(
        &self,
        pass: &Pass,
        name: PageName,
        way: Way,
        material: Material,
        solved: &Solved<R>,
        count_mates: bool,
    ) -> Result<(), Failure> {
        for (number, side) in solved.slice(material).iter().enumerate() {
            let pages = self.pages(way, pass.metric, &side.index);
            (0..pages.count()).into_par_iter().try_for_each(|page| {
                let name = PageName {
                    side: number as u8,
                    page,
                    ..name
                };
                let sealed = self.post.fetch(&pages, name, true);
                let len = pages.len_of(page);
                let values = sealed.page(&pages, len);
                let values = values.ok_or_else(|| broken(format!("{material}: a damaged page of its values")))?;
                let mut cursor = side.values.cursor(pages.range(page).start);
                for at in 0..len {
                    let (bits, free) = values.get(at);
                    cursor.push(bits, free);
                }
                Ok::<(), Failure>(())
            })?;
            if count_mates && self.rulebook.has_mate() {
                side.mated.store(mates(&*self.rulebook, side), Relaxed);
            }
        }
        Ok(())
    }

    fn take_written(&mut self, writing: &Writing) -> Result<(), Failure> {
        for table in writing.take()? {
            self.report.write_cpu_seconds += table.write_cpu_seconds;
            self.report.tables.push(table);
        }
        Ok(())
    }
}

/// Positions of a side in which the mover is mated, no symmetry used.
fn mates<R: Rulebook>(rulebook: &R, side: &Side<R::Set>) -> u64 {
    let lead = side.index.lead();
    let (leads, width) = (side.index.range(lead), side.index.scale(lead));
    let of_lead = |lead: u64| {
        let entries = lead * width..(lead + 1) * width;
        let is_mate = |entry: &u64| {
            let score = side.values.score(*entry);
            if side.values.is_gap(*entry) || !score.is_loss() || score.distance() > 0 {
                return false;
            }
            let placement: R::Placement = side.index.unrank(*entry);
            !rulebook.has_move(&placement) && rulebook.blocked(&placement).mated
        };
        side.index.weight(lead) * entries.filter(is_mate).count() as u64
    };
    (0..leads).into_par_iter().map(of_lead).sum()
}
