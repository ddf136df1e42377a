//! `petrov plan` and `petrov gen`.

use std::collections::BTreeMap;
use std::io::Write;

use petrov_games::Game;
use petrov_gen::{
    BuildOptions, BuildReport, FolderLock, Plan, PlannedTable, Progress, SpreadPlan, SpreadSlice, Way, build,
    spread_plan, stop_writing,
};
use petrov_probe::{Backend, Metric};
use serde::Serialize;

use crate::args::{GenOptions, PlanOptions};
use crate::failure::Failure;
use crate::options::TablesOptions;
use crate::output::Output;
use crate::progress;
use crate::setting::Setting;
use crate::signals;
use crate::words::{self, Columns};

#[derive(Serialize)]
struct PlanDocument {
    positions: u64,
    memory_bytes: u64,
    disk_bytes: u64,
    cpu_seconds: f64,
    slices: Vec<SliceDocument>,
    damaged: Vec<String>,
    #[serde(flatten)]
    spread: Option<SpreadPlanDocument>,
}

/// What `--ranks` adds.
#[derive(Serialize)]
struct SpreadPlanDocument {
    ranks: usize,
    rank_threads: usize,
    rank_memory_bytes: u64,
    network_bytes: u64,
    wall_seconds: f64,
}

/// What `--ranks` adds to a slice with a missing table.
#[derive(Serialize)]
struct SpreadSliceDocument {
    way: &'static str,
    rank_memory_bytes: u64,
    network_bytes: u64,
    wall_seconds: f64,
}

#[derive(Serialize)]
struct SliceDocument {
    material: String,
    positions: u64,
    present: Vec<PlannedDocument>,
    missing: Vec<PlannedDocument>,
    #[serde(flatten)]
    spread: Option<SpreadSliceDocument>,
}

#[derive(Serialize)]
struct PlannedDocument {
    metric: &'static str,
    path: String,
}

fn planned(tables: &[PlannedTable]) -> Vec<PlannedDocument> {
    tables
        .iter()
        .map(|table| PlannedDocument {
            metric: table.metric.name(),
            path: table.path.display().to_string(),
        })
        .collect()
}

impl PlanDocument {
    fn new(plan: &Plan, spread: Option<&SpreadPlan>) -> Self {
        Self {
            positions: plan.positions,
            memory_bytes: plan.memory_bytes,
            disk_bytes: plan.disk_bytes,
            cpu_seconds: plan.cpu_seconds,
            slices: plan
                .slices
                .iter()
                .map(|slice| SliceDocument {
                    material: slice.material.to_string(),
                    positions: slice.positions,
                    present: planned(&slice.present),
                    missing: planned(&slice.missing),
                    spread: spread
                        .and_then(|spread| spread.slice(slice.material))
                        .map(|slice| SpreadSliceDocument {
                            way: way_name(slice.way),
                            rank_memory_bytes: slice.memory_bytes,
                            network_bytes: slice.network_bytes,
                            wall_seconds: slice.wall_seconds,
                        }),
                })
                .collect(),
            damaged: plan.damaged.clone(),
            spread: spread.map(|spread| SpreadPlanDocument {
                ranks: spread.ranks,
                rank_threads: spread.threads,
                rank_memory_bytes: spread.memory_bytes,
                network_bytes: spread.network_bytes,
                wall_seconds: spread.wall_seconds,
            }),
        }
    }
}

/// How ranks divide the work on a slice, in a word.
fn way_name(way: Way) -> &'static str {
    match way {
        Way::Whole => "whole",
        Way::Units => "units",
        Way::Split => "split",
    }
}

/// The options of the build, and the plan.
fn make_plan<G: Game>(
    game: &G,
    options: &TablesOptions,
    threads: Option<u16>,
    memory: Option<u64>,
    setting: &Setting,
) -> Result<(BuildOptions, Plan), Failure> {
    if setting.backend != Backend::Mmap {
        let how = setting.backend.name();
        return Err(Failure::Usage(format!(
            "plan and gen read tables by mmap only, not by {how}"
        )));
    }
    let what = options.what.what()?;
    let build_options = BuildOptions {
        metrics: options.metric.clone(),
        dirs: setting.dirs.clone(),
        threads: threads.unwrap_or(0).into(),
        memory,
    };
    let plan = petrov_gen::plan(game, what, &build_options)?;
    Ok((build_options, plan))
}

/// `wld`, `wld and dtw`, or `wld, dtw and dtz`.
fn metrics_in_words(metrics: &[Metric]) -> String {
    let names: Vec<&str> = Metric::ALL
        .into_iter()
        .filter(|metric| metrics.contains(metric))
        .map(Metric::name)
        .collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// What is to be done, whoever does it, in two lines or one.
fn work_in_words<G: Game>(game: &G, options: &BuildOptions, plan: &Plan, setting: &Setting) -> String {
    let tables: usize = plan.slices.iter().map(|slice| slice.missing.len()).sum();
    let present: usize = plan.slices.iter().map(|slice| slice.present.len()).sum();
    let metrics = metrics_in_words(&options.metrics);
    if plan.is_done() {
        return format!(
            "{}: nothing to build, {} of {metrics} complete in {}\n",
            game.name(),
            words::count(present as u64, "table", "tables"),
            setting.dirs_in_words()
        );
    }
    let slices = plan.slices.iter().filter(|slice| !slice.missing.is_empty()).count();
    let there = if present > 0 {
        format!(" ({} there already)", words::thousands(present as u64))
    } else {
        String::new()
    };
    format!(
        "{}: {} of {metrics} to build{there}\n\
         positions  {} in {}\n",
        game.name(),
        words::count(tables as u64, "table", "tables"),
        words::thousands(plan.positions),
        words::count(slices as u64, "slice", "slices"),
    )
}

/// What is to be done by one process, in a few lines.
pub(crate) fn plan_in_words<G: Game>(game: &G, options: &BuildOptions, plan: &Plan, setting: &Setting) -> String {
    let work = work_in_words(game, options, plan, setting);
    if plan.is_done() {
        return work;
    }
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    };
    format!(
        "{work}\
         memory     about {}\n\
         disk       about {}\n\
         time       roughly {} with {}\n",
        words::bytes(plan.memory_bytes),
        words::bytes(plan.disk_bytes),
        words::duration(plan.cpu_seconds / threads as f64),
        words::count(threads as u64, "thread", "threads"),
    )
}

/// What is to be done by several ranks, in a few lines.
fn spread_in_words<G: Game>(
    game: &G,
    options: &BuildOptions,
    plan: &Plan,
    spread: &SpreadPlan,
    setting: &Setting,
) -> String {
    let work = work_in_words(game, options, plan, setting);
    if plan.is_done() {
        return work;
    }
    let ranks = words::count(spread.ranks as u64, "rank", "ranks");
    let allowed = match options.memory {
        Some(memory) if memory < spread.memory_bytes => {
            format!(", but {} allowed: more ranks are needed", words::bytes(memory))
        }
        _ => String::new(),
    };
    format!(
        "{work}\
         memory     about {} for each of {ranks}{allowed}\n\
         disk       about {}\n\
         network    about {}, {} for each rank\n\
         time       roughly {} with {ranks} of {}\n",
        words::bytes(spread.memory_bytes),
        words::bytes(plan.disk_bytes),
        words::bytes(spread.network_bytes),
        words::bytes(spread.network_bytes / spread.ranks as u64),
        words::duration(spread.wall_seconds),
        words::count(spread.threads as u64, "thread", "threads"),
    )
}

/// How ranks divide a slice and what it takes.
fn spread_cells(slice: &SpreadSlice) -> [String; 4] {
    [
        way_name(slice.way).to_owned(),
        words::bytes(slice.memory_bytes),
        words::bytes(slice.network_bytes),
        words::duration(slice.wall_seconds),
    ]
}

/// Most placements of a material that are counted one by one: hours.
const MOST_COUNTED: u64 = 1 << 46;

/// Says what building would take.
pub(crate) fn plan<G: Game>(
    game: &G,
    options: &PlanOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    let (build_options, mut plan) = make_plan(game, &options.tables, options.threads, options.memory, setting)?;
    for fault in &plan.damaged {
        setting.note(&format!("warning: damaged table, would be built again: {fault}"));
    }
    // Where some placements are no positions, counting many pieces takes a while.
    let counting = Progress::default();
    if plan.slices.iter().map(|slice| slice.positions).max() > Some(MOST_COUNTED) {
        return Err(Failure::Usage(format!(
            "{} has far more positions than can be built or counted; ask for fewer pieces",
            options.tables.what.what
        )));
    }
    let plan = progress::watch(
        &counting,
        !setting.talks(),
        || (),
        || {
            plan.count_positions(game, &counting);
            Ok::<_, Failure>(plan)
        },
    )?;
    let spread = options
        .ranks
        .map(|ranks| spread_plan(game, &plan, &build_options, ranks as usize));
    if options.tables.what.json {
        return output.json(&PlanDocument::new(&plan, spread.as_ref()));
    }
    let mut headings = vec!["material", " positions", "to build", "there"];
    match &spread {
        Some(spread) => {
            write!(
                output,
                "{}",
                spread_in_words(game, &build_options, &plan, spread, setting)
            )?;
            headings.extend(["divided", " memory each", " network", " time"]);
        }
        None => write!(output, "{}", plan_in_words(game, &build_options, &plan, setting))?,
    }
    let mut columns = Columns::new(&headings);
    let names = |tables: &[PlannedTable]| -> String {
        let names: Vec<&str> = tables.iter().map(|table| table.metric.name()).collect();
        names.join(",")
    };
    for slice in &plan.slices {
        let mut cells = vec![
            slice.material.to_string(),
            words::thousands(slice.positions),
            names(&slice.missing),
            names(&slice.present),
        ];
        if let Some(slice) = spread.as_ref().and_then(|spread| spread.slice(slice.material)) {
            cells.extend(spread_cells(slice));
        }
        columns.row(cells);
    }
    write!(output, "\n{columns}")?;
    Ok(())
}

/// The answer of `gen --json`.
#[derive(Serialize)]
pub struct GenDocument {
    tables: Vec<TableDocument>,
    positions: u64,
    solve_cpu_seconds: f64,
    write_cpu_seconds: f64,
    cpu_seconds: f64,
    wall_seconds: f64,
    peak_memory_bytes: u64,
}

#[derive(Serialize)]
struct TableDocument {
    material: String,
    metric: &'static str,
    built: bool,
    positions: u64,
    bytes: u64,
    path: String,
    solve_cpu_seconds: f64,
    write_cpu_seconds: f64,
}

impl GenDocument {
    /// What a build did.
    #[must_use]
    pub fn new(report: &BuildReport) -> Self {
        Self {
            tables: report
                .tables
                .iter()
                .map(|table| TableDocument {
                    material: table.material.to_string(),
                    metric: table.metric.name(),
                    built: table.built,
                    positions: table.positions,
                    bytes: table.bytes,
                    path: table.path.display().to_string(),
                    solve_cpu_seconds: table.solve_cpu_seconds,
                    write_cpu_seconds: table.write_cpu_seconds,
                })
                .collect(),
            positions: report.positions,
            solve_cpu_seconds: report.solve_cpu_seconds,
            write_cpu_seconds: report.write_cpu_seconds,
            cpu_seconds: report.cpu_seconds,
            wall_seconds: report.wall_seconds,
            peak_memory_bytes: report.peak_memory_bytes,
        }
    }
}

/// Builds what is missing.
pub(crate) fn gen_tables<G: Game>(
    game: &G,
    options: &GenOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    let json = options.tables.what.json;
    // Another build in the same folder would do the same work. It may have
    // done it, so the plan comes after the lock.
    let folder = setting
        .dirs
        .first()
        .map(|dir| dir.join(game.name()))
        .unwrap_or_default();
    let waiting = || {
        setting.note(&format!(
            "another petrov builds tables in {}; waiting until it ends",
            folder.display()
        ));
    };
    let lock = FolderLock::of_existing(&folder, waiting)?;
    let mut planned = make_plan(game, &options.tables, options.threads, options.memory, setting)?;
    let _lock = match lock {
        Some(lock) => Some(lock),
        None if planned.1.is_done() => None,
        None => {
            let lock = FolderLock::of(&folder, waiting)?;
            planned = make_plan(game, &options.tables, options.threads, options.memory, setting)?;
            Some(lock)
        }
    };
    let (build_options, plan) = planned;
    for fault in &plan.damaged {
        setting.note(&format!("warning: damaged table, building it again: {fault}"));
    }
    let progress = Progress::default();
    // The plan goes to standard error: standard output is for the answer, and
    // stays empty if there is none.
    let announce = || {
        if setting.talks() && !json && !plan.is_done() {
            // Nobody reads it if it cannot be written.
            let _ = write!(
                std::io::stderr(),
                "{}",
                plan_in_words(game, &build_options, &plan, setting)
            );
        }
        for slice in &plan.slices {
            for table in &slice.missing {
                setting.detail(&format!("to build: {}", table.path.display()));
            }
        }
    };
    let farewell = "stopped; finished tables are kept, and the same command goes on from there";
    signals::end_with(stop_writing, setting.talks().then(|| farewell.to_owned()));
    let report = progress::watch(&progress, !setting.talks(), announce, || {
        build(game, &plan, &build_options, &progress)
    })?;
    if json {
        return output.json(&GenDocument::new(&report));
    }
    if !setting.talks() {
        return Ok(());
    }
    if plan.is_done() {
        write!(output, "{}", plan_in_words(game, &build_options, &plan, setting))?;
        return Ok(());
    }
    summary(&report, output)
}

/// Writes what was built, by number of pieces and metric.
///
/// # Errors
/// It cannot be written.
pub fn summary(report: &BuildReport, output: &mut Output) -> Result<(), Failure> {
    #[derive(Default)]
    struct Sum {
        tables: u64,
        positions: u64,
        bytes: u64,
        solve: f64,
        write: f64,
    }
    let mut sums: BTreeMap<(u8, Metric), Sum> = BTreeMap::new();
    for table in report.tables.iter().filter(|table| table.built) {
        let sum = sums.entry((table.material.pieces(), table.metric)).or_default();
        sum.tables += 1;
        sum.positions += table.positions;
        sum.bytes += table.bytes;
        sum.solve += table.solve_cpu_seconds;
        sum.write += table.write_cpu_seconds;
    }
    let mut columns = Columns::new(&[
        " pieces",
        "metric",
        " tables",
        " positions",
        " size",
        " bits each",
        " solving s",
        " writing s",
    ]);
    for ((pieces, metric), sum) in sums {
        columns.row(vec![
            pieces.to_string(),
            metric.to_string(),
            sum.tables.to_string(),
            words::thousands(sum.positions),
            words::bytes(sum.bytes),
            format!("{:.3}", sum.bytes as f64 * 8.0 / sum.positions.max(1) as f64),
            format!("{:.2}", sum.solve),
            format!("{:.2}", sum.write),
        ]);
    }
    write!(output, "{columns}")?;
    let built = report.tables.iter().filter(|table| table.built);
    let bytes = built.clone().map(|table| table.bytes).sum();
    writeln!(
        output,
        "\nbuilt {} ({}) of {} in {:.1} s ({:.1} s of processor time), at most {} of memory",
        words::count(built.count() as u64, "table", "tables"),
        words::bytes(bytes),
        words::count(report.positions, "position", "positions"),
        report.wall_seconds,
        report.cpu_seconds,
        words::bytes(report.peak_memory_bytes),
    )?;
    Ok(())
}
