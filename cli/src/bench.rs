//! `petrov bench`: probing speed.

mod random;
mod self_play;

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use petrov_games::{Game, with_rulebook};
use petrov_gen::{What, materials};
use petrov_probe::{BlockCache, Handle, Material, Metric, ProbeError, Prober, Tables};
use rustix::fs::{Advice, fadvise};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::args::BenchProbeOptions;
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;
use crate::words::{self, Columns};

use random::Draw;
use self_play::SelfPlay;

#[derive(Serialize)]
struct ProbeSpeed {
    game: String,
    pieces: u8,
    metric: &'static str,
    threads: u16,
    warm: bool,
    probes_per_second: f64,
    p50_ns: u64,
    p99_ns: u64,
    hit_rate: f64,
    /// `random` or `games`.
    positions: &'static str,
    state: &'static str,
    /// Probes for each second of processor time: what a thread would do if it never had to wait for a processor.
    probes_per_cpu_second: f64,
    p90_ns: u64,
    p999_ns: u64,
    /// Blocks decoded while speed was measured.
    decoded: u64,
}

/// What is in memory before a probe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is decoded: every look-up decodes its block.
    Cold,
    /// Every block has been decoded, and as much as fits is in the cache.
    Warm,
    /// Values are unpacked.
    Unpacked,
    /// Nothing is decoded, and the files are not in the system's memory either.
    Disk,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::Unpacked => "unpacked",
            Self::Disk => "disk",
        }
    }

    const fn is_warm(self) -> bool {
        matches!(self, Self::Warm | Self::Unpacked)
    }

    /// Probes between two looks at the clock.
    const fn batch(self) -> usize {
        if self.is_warm() { 1 << 10 } else { 1 << 4 }
    }
}

/// Positions to probe: enough that a cold processor cache does not learn them.
const POSITIONS: usize = 1 << 20;
/// The same from games, which take longer to find.
const GAME_POSITIONS: usize = 1 << 17;
/// Pieces of the positions that games start from, besides those of the tables.
const MORE_PIECES: u8 = 2;
/// Most probes whose time is taken one by one.
const TIMED: usize = 1 << 18;
/// Probes after which files are taken out of the system's memory again.
const DISK_ROUND: usize = 32;
/// Most bytes of values that are unpacked.
const UNPACKED_BYTES: u64 = 1 << 30;

/// Measures probing speed.
pub(crate) fn probe<G: Game>(
    game: &G,
    options: &BenchProbeOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    if options.unpack && options.metric != Metric::Wld {
        return Err(Failure::Usage(format!(
            "--unpack goes with --metric wld only, not with {}",
            options.metric
        )));
    }
    let tables = setting.tables(BlockCache::new(options.cache << 20))?;
    let prober = tables.prober(game)?;
    let pieces = match options.pieces {
        Some(pieces) => pieces,
        None => prober.max_pieces(options.metric),
    };
    if pieces == 0 {
        return Err(Failure::Broken(format!(
            "no {} tables of {} in {}; `petrov gen` builds them",
            options.metric,
            game.name(),
            setting.dirs_in_words()
        )));
    }
    let exactly = materials_of(game, pieces)?;
    let random = with_rulebook!(game, rulebook => Draw::new(&**rulebook, &exactly).positions(POSITIONS));
    let games = match materials_of(game, pieces.saturating_add(MORE_PIECES)) {
        Ok(materials) if !options.random => {
            let (pieces, metric) = (u32::from(pieces), options.metric);
            let play = SelfPlay {
                game,
                prober: &prober,
                metric,
                pieces,
            };
            play.positions(&materials, GAME_POSITIONS)
        }
        _ => Vec::new(),
    };
    let mut rows = Vec::new();
    for (name, positions) in [("random", &random), ("games", &games)] {
        if positions.is_empty() {
            continue;
        }
        let bench = Bench {
            game,
            setting,
            options,
            pieces,
            name,
            positions,
        };
        for threads in &options.threads {
            rows.push(bench.row(State::Cold, &setting.tables(BlockCache::new(0))?, *threads)?);
            // As an engine would do it: what is small is kept, and what is left over has been met once.
            prober.warm(options.metric, pieces, (options.cache << 20) / 2)?;
            touch(game, &tables, options.metric, pieces)?;
            rows.push(bench.row(State::Warm, &tables, *threads)?);
            if options.unpack {
                rows.push(bench.row(State::Unpacked, &tables, *threads)?);
            }
        }
        rows.push(bench.disk_row()?);
    }
    if options.json {
        return output.json(&rows);
    }
    let mut columns = Columns::new(&[
        "game",
        " pieces",
        "metric",
        "positions",
        " threads",
        "state",
        " probes/s",
        " probes/CPU s",
        " median ns",
        " 90 % ns",
        " 99 % ns",
        " 99.9 % ns",
        " hits",
    ]);
    for row in rows {
        columns.row(vec![
            row.game,
            row.pieces.to_string(),
            row.metric.to_owned(),
            row.positions.to_owned(),
            row.threads.to_string(),
            row.state.to_owned(),
            words::thousands(row.probes_per_second as u64),
            words::thousands(row.probes_per_cpu_second as u64),
            words::thousands(row.p50_ns),
            words::thousands(row.p90_ns),
            words::thousands(row.p99_ns),
            words::thousands(row.p999_ns),
            format!("{:.1} %", row.hit_rate * 100.0),
        ]);
    }
    write!(output, "{columns}")?;
    Ok(())
}

/// The materials of exactly so many pieces that have tables.
fn materials_of<G: Game>(game: &G, pieces: u8) -> Result<Vec<Material>, Failure> {
    // Goes through the same check as any number of pieces on the command line.
    let what: What = pieces.to_string().parse()?;
    let mut found = materials(game, what)?;
    found.retain(|material| material.pieces() == pieces);
    if found.is_empty() {
        return Err(Failure::Usage(format!(
            "{} has no tables of {pieces} pieces",
            game.name()
        )));
    }
    Ok(found)
}

/// The tables of a game and metric of at most so many pieces.
fn tables_of<'t, G: Game>(game: &G, tables: &'t Tables, metric: Metric, pieces: u8) -> Vec<&'t petrov_probe::Table> {
    let of_game = tables.iter().filter(|table| {
        let parts = table.header().parts();
        let few = parts.material.chars().filter(|letter| *letter != 'v').count() <= pieces.into();
        parts.metric == metric && parts.fingerprint == game.fingerprint().bytes() && few
    });
    of_game.collect()
}

/// Reads one entry of every block that probing such positions can come to, so
/// that as much as fits is in the cache.
fn touch<G: Game>(game: &G, tables: &Tables, metric: Metric, pieces: u8) -> Result<(), Failure> {
    for table in tables_of(game, tables, metric, pieces) {
        for side in 0..table.header().parts().sides.len() {
            for block in 0..table.header().blocks(side).len() as u64 {
                table.entry(side, table.block_entries(side, block)?.start)?;
            }
        }
    }
    Ok(())
}

/// What all rows of some positions share.
struct Bench<'a, G: Game> {
    game: &'a G,
    setting: &'a Setting,
    options: &'a BenchProbeOptions,
    pieces: u8,
    name: &'static str,
    positions: &'a [G::Position],
}

impl<G: Game> Bench<'_, G> {
    fn row(&self, state: State, tables: &Tables, threads: u16) -> Result<ProbeSpeed, Failure> {
        let prober = tables.prober(self.game)?;
        if state == State::Unpacked {
            prober.unpack(self.pieces, UNPACKED_BYTES)?;
        }
        let run = Run {
            prober: &prober,
            positions: self.positions,
            metric: self.options.metric,
            batch: state.batch(),
            time: Duration::from_secs_f64(self.options.seconds),
        };
        let throughput = run.throughput(threads)?;
        Ok(self.speed(state, threads, throughput, run.latencies()?))
    }

    /// Each round opens the tables anew after their files were taken out of the system's memory.
    fn disk_row(&self) -> Result<ProbeSpeed, Failure> {
        let start = Instant::now();
        let (mut times, mut decoded, mut at) = (Vec::new(), 0, 0);
        let mut cpu = 0.0;
        while start.elapsed().as_secs_f64() < self.options.seconds && times.len() < TIMED {
            // Nothing may be mapped while the system is told to forget.
            let tables = self.setting.tables(BlockCache::default())?;
            let files: Vec<_> = tables_of(self.game, &tables, self.options.metric, self.pieces)
                .iter()
                .map(|table| table.path().to_owned())
                .collect();
            drop(tables);
            for path in files {
                // Advice only: where a system keeps the file all the same, the figures are those of a cold cache.
                if let Ok(file) = File::open(&path) {
                    let _ = fadvise(&file, 0, None, Advice::DontNeed);
                }
            }
            let tables = self.setting.tables(BlockCache::default())?;
            let mut handle = tables.prober(self.game)?.handle();
            let before_cpu = thread_seconds();
            for _ in 0..DISK_ROUND {
                // Far from one another, so that each meets another block.
                at = (at + self.positions.len() / 7 + 1) % self.positions.len();
                let before = Instant::now();
                black_box(probed(&mut handle, &self.positions[at], self.options.metric)?);
                times.push(before.elapsed().as_nanos() as u64);
            }
            cpu += thread_seconds() - before_cpu;
            decoded += handle.stats().decoded;
        }
        let seconds = times.iter().sum::<u64>() as f64 * 1e-9;
        let throughput = Throughput {
            probes: times.len() as u64,
            seconds,
            cpu_seconds: cpu,
            decoded,
        };
        Ok(self.speed(State::Disk, 1, throughput, Latencies::of(times)))
    }

    fn speed(&self, state: State, threads: u16, throughput: Throughput, latencies: Latencies) -> ProbeSpeed {
        let probes = throughput.probes as f64;
        ProbeSpeed {
            game: self.game.name().to_owned(),
            pieces: self.pieces,
            metric: self.options.metric.name(),
            threads,
            warm: state.is_warm(),
            probes_per_second: probes / throughput.seconds,
            p50_ns: latencies.at(500),
            p99_ns: latencies.at(990),
            hit_rate: (1.0 - throughput.decoded as f64 / probes).max(0.0),
            positions: self.name,
            state: state.name(),
            probes_per_cpu_second: probes / throughput.cpu_seconds,
            p90_ns: latencies.at(900),
            p999_ns: latencies.at(999),
            decoded: throughput.decoded,
        }
    }
}

/// One measurement.
struct Run<'a, G: Game> {
    prober: &'a Prober<G>,
    positions: &'a [G::Position],
    metric: Metric,
    batch: usize,
    time: Duration,
}

/// What all threads together did.
#[derive(Clone, Copy, Default)]
struct Throughput {
    probes: u64,
    seconds: f64,
    cpu_seconds: f64,
    decoded: u64,
}

/// Times of single probes in nanoseconds, with what reading the clock takes, in ascending order.
struct Latencies(Vec<u64>);

impl Latencies {
    fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The time that so many of a thousand probes do not exceed.
    fn at(&self, thousandths: usize) -> u64 {
        let at = self.0.len() * thousandths / 1000;
        self.0.get(at).copied().unwrap_or(0)
    }
}

/// Processor time of this thread so far.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Whether there was a value; that there is none is an error only where tables were expected.
fn probed<G: Game>(handle: &mut Handle<G>, position: &G::Position, metric: Metric) -> Result<u16, ProbeError> {
    match handle.score(position, metric)? {
        Some(score) => Ok(score.to_bits()),
        // Says which table is missing.
        None => handle
            .prober()
            .score(position, metric)
            .map(petrov_probe::Score::to_bits),
    }
}

impl<G: Game> Run<'_, G> {
    fn throughput(&self, threads: u16) -> Result<Throughput, Failure> {
        let start = Instant::now();
        let shares: Vec<Result<Throughput, ProbeError>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || self.probe_until_time(usize::from(thread), threads.into(), start)))
                .collect();
            workers
                .into_iter()
                .map(|worker| match worker.join() {
                    Ok(probes) => probes,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        });
        let mut all = Throughput {
            seconds: start.elapsed().as_secs_f64(),
            ..Throughput::default()
        };
        for share in shares {
            let share = share?;
            all.probes += share.probes;
            all.cpu_seconds += share.cpu_seconds;
            all.decoded += share.decoded;
        }
        Ok(all)
    }

    /// Each thread begins at another place and goes round.
    fn probe_until_time(&self, thread: usize, threads: usize, start: Instant) -> Result<Throughput, ProbeError> {
        let first = self.positions.len() / threads * thread;
        let mut round = self.positions.iter().cycle().skip(first);
        let mut handle = self.prober.handle();
        let before = thread_seconds();
        // At least once, however late the thread came to run.
        loop {
            for position in round.by_ref().take(self.batch) {
                black_box(probed(&mut handle, position, self.metric)?);
            }
            if start.elapsed() >= self.time {
                break;
            }
        }
        Ok(Throughput {
            probes: handle.stats().probes,
            seconds: 0.0,
            cpu_seconds: thread_seconds() - before,
            decoded: handle.stats().decoded,
        })
    }

    /// The time of single probes on one thread.
    fn latencies(&self) -> Result<Latencies, Failure> {
        let start = Instant::now();
        let mut handle = self.prober.handle();
        let mut times = Vec::with_capacity(TIMED);
        for position in self.positions.iter().take(TIMED) {
            let before = Instant::now();
            black_box(probed(&mut handle, position, self.metric)?);
            times.push(before.elapsed().as_nanos() as u64);
            if start.elapsed() >= self.time {
                break;
            }
        }
        Ok(Latencies::of(times))
    }
}
