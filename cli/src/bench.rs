//! `petrov bench`: probing speed on random positions.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use petrov_games::{Army, Bits, Colour, Game, Kind, Placement, Rulebook, Side, View, with_rulebook};
use petrov_gen::{What, materials};
use petrov_probe::{BlockCache, Material, Metric, ProbeError, Prober, SliceIndex, Tables};
use serde::Serialize;

use crate::args::BenchProbeOptions;
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;
use crate::words::{self, Columns};

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
}

/// Positions to probe: enough that a cold processor cache does not learn them.
const POSITIONS: usize = 1 << 20;
/// Most probes whose time is taken one by one.
const TIMED: usize = 1 << 18;
/// Probes between two looks at the clock, warm and cold.
const BATCH: [usize; 2] = [1 << 10, 1 << 4];

/// Measures probing speed.
pub(crate) fn probe<G: Game>(
    game: &G,
    options: &BenchProbeOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    let warm = setting.tables(BlockCache::default())?;
    let pieces = match options.pieces {
        Some(pieces) => pieces,
        None => warm.prober(game)?.max_pieces(options.metric),
    };
    if pieces == 0 {
        return Err(Failure::Broken(format!(
            "no {} tables of {} in {}; `petrov gen` builds them",
            options.metric,
            game.name(),
            setting.dirs_in_words()
        )));
    }
    let materials = materials_of(game, pieces)?;
    let positions = with_rulebook!(game, rulebook => Draw::new(&**rulebook, &materials).positions(POSITIONS));
    let mut rows = Vec::new();
    for is_warm in [false, true] {
        // With no room for blocks every probe decodes its own.
        let cold = (!is_warm).then(|| setting.tables(BlockCache::new(0))).transpose()?;
        let tables = cold.as_ref().unwrap_or(&warm);
        let prober = tables.prober(game)?;
        if is_warm {
            touch(game, tables, options.metric, pieces)?;
        }
        let run = Run {
            prober: &prober,
            tables,
            positions: &positions,
            metric: options.metric,
            batch: BATCH[usize::from(!is_warm)],
            time: Duration::from_secs_f64(options.seconds),
        };
        let (probes_per_second, hit_rate) = run.throughput(options.threads)?;
        let (p50_ns, p99_ns) = run.latencies()?;
        rows.push(ProbeSpeed {
            game: game.name().to_owned(),
            pieces,
            metric: options.metric.name(),
            threads: options.threads,
            warm: is_warm,
            probes_per_second,
            p50_ns,
            p99_ns,
            hit_rate,
        });
    }
    if options.json {
        return output.json(&rows);
    }
    let mut columns = Columns::new(&[
        "game",
        " pieces",
        "metric",
        " threads",
        "cache",
        " probes/s",
        " median ns",
        " 99 % ns",
        " hits",
    ]);
    for row in rows {
        columns.row(vec![
            row.game,
            row.pieces.to_string(),
            row.metric.to_owned(),
            row.threads.to_string(),
            if row.warm { "warm" } else { "cold" }.to_owned(),
            words::thousands(row.probes_per_second as u64),
            words::thousands(row.p50_ns),
            words::thousands(row.p99_ns),
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

/// Reads one entry of every block that probing such positions can come to, so
/// that as much as fits is in the cache.
fn touch<G: Game>(game: &G, tables: &Tables, metric: Metric, pieces: u8) -> Result<(), Failure> {
    for table in tables.iter() {
        let parts = table.header().parts();
        let few = parts.material.chars().filter(|letter| *letter != 'v').count() <= pieces.into();
        if parts.metric != metric || parts.fingerprint != game.fingerprint().bytes() || !few {
            continue;
        }
        for side in 0..parts.sides.len() {
            for block in 0..table.header().blocks(side).len() as u64 {
                table.entry(side, table.block_entries(side, block)?.start)?;
            }
        }
    }
    Ok(())
}

/// Draws placements of exactly so many pieces, each as likely as any other.
struct Draw<'g, R: Rulebook> {
    rulebook: &'g R,
    slices: Vec<SliceSide>,
    squares: Vec<u8>,
    random: Random,
}

/// A material with one side to move.
struct SliceSide {
    turn: Colour,
    own: Army,
    opponent: Army,
    /// The placements of this and all before.
    up_to: u64,
}

impl<'g, R: Rulebook> Draw<'g, R> {
    fn new(rulebook: &'g R, materials: &[Material]) -> Self {
        let mut total = 0u64;
        let mut slices = Vec::new();
        for material in materials {
            for view in material.views() {
                let (own, opponent) = material.armies(*view);
                let placements = SliceIndex::unfolded_len(rulebook, &own, &opponent);
                total = total.saturating_add(placements.unwrap_or(0));
                slices.push(SliceSide {
                    turn: match view {
                        View::White => Colour::White,
                        View::Black => Colour::Black,
                    },
                    own,
                    opponent,
                    up_to: total,
                });
            }
        }
        Self {
            rulebook,
            slices,
            squares: rulebook.squares().squares().collect(),
            random: Random(0x5045_5452_4f56),
        }
    }

    fn positions(&mut self, count: usize) -> Vec<R::Position> {
        let total = self.slices.last().map_or(1, |slice| slice.up_to).max(1);
        let mut positions = Vec::with_capacity(count);
        while positions.len() < count {
            let number = self.random.below(total);
            let at = self.slices.partition_point(|slice| slice.up_to <= number);
            let Some(SliceSide {
                turn, own, opponent, ..
            }) = self.slices.get(at)
            else {
                break;
            };
            let (turn, own, opponent) = (*turn, *own, *opponent);
            let placement = loop {
                if let Some(placement) = self.placement(&own, &opponent) {
                    break placement;
                }
            };
            // Where not all placements count, another slice may be drawn, too.
            if self.rulebook.is_placement(&placement) {
                positions.push(self.rulebook.position(&placement, turn));
            }
        }
        positions
    }

    /// Puts each piece on a random free square; nothing if one came to stand
    /// where its kind cannot, which keeps all placements equally likely.
    fn placement(&mut self, own: &Army, opponent: &Army) -> Option<R::Placement> {
        let rulebook = self.rulebook;
        let mut placement = R::Placement::default();
        let mut free = self.squares.len();
        for (side, army) in [(Side::Own, own), (Side::Opponent, opponent)] {
            let standing = rulebook.standing_squares(side);
            for (kind, letter) in rulebook.kinds() {
                for _ in 0..army.count(*letter) {
                    let at = self.random.below(free as u64) as usize;
                    free -= 1;
                    self.squares.swap(at, free);
                    let square = self.squares[free];
                    if *kind == Kind::STANDING && !standing.has(square) {
                        return None;
                    }
                    placement.add(side, *kind, R::Set::bit(square));
                }
            }
        }
        Some(placement)
    }
}

/// SplitMix64: the same positions in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

/// One measurement.
struct Run<'a, G: Game> {
    prober: &'a Prober<G>,
    tables: &'a Tables,
    positions: &'a [G::Position],
    metric: Metric,
    batch: usize,
    time: Duration,
}

impl<G: Game> Run<'_, G> {
    /// Probes a second of all threads together, and the part of them that
    /// found all their blocks decoded.
    fn throughput(&self, threads: u16) -> Result<(f64, f64), Failure> {
        let misses_before = self.tables.cache_stats().misses;
        let start = Instant::now();
        let probes: Vec<Result<u64, ProbeError>> = std::thread::scope(|scope| {
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
        let seconds = start.elapsed().as_secs_f64();
        let probes = probes.into_iter().sum::<Result<u64, _>>()? as f64;
        let misses = (self.tables.cache_stats().misses - misses_before) as f64;
        Ok((probes / seconds, (1.0 - misses / probes).max(0.0)))
    }

    /// Each thread begins at another place and goes round.
    fn probe_until_time(&self, thread: usize, threads: usize, start: Instant) -> Result<u64, ProbeError> {
        let first = self.positions.len() / threads * thread;
        let mut round = self.positions.iter().cycle().skip(first);
        let mut probes = 0;
        while start.elapsed() < self.time {
            for position in round.by_ref().take(self.batch) {
                black_box(self.prober.score(position, self.metric)?);
            }
            probes += self.batch as u64;
        }
        Ok(probes)
    }

    /// Median and 99th percentile of the time of one probe on one thread, in
    /// nanoseconds, with what reading the clock takes.
    fn latencies(&self) -> Result<(u64, u64), Failure> {
        let start = Instant::now();
        let mut times = Vec::with_capacity(TIMED);
        for position in self.positions.iter().take(TIMED) {
            let before = Instant::now();
            black_box(self.prober.score(position, self.metric)?);
            times.push(before.elapsed().as_nanos() as u64);
            if start.elapsed() >= self.time {
                break;
            }
        }
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(0);
        Ok((at(50), at(99)))
    }
}
