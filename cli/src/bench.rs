//! `petrov bench`: probing speed on random positions.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use petrov_games::draughts::{Colour, Game, Position};
use petrov_gen::{What, materials};
use petrov_probe::{BlockCache, Material, Metric, ProbeError, Prober, SliceIndex, Tables};
use serde::Serialize;

use crate::args::{BenchCommand, BenchProbeOptions};
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

/// Measures speed.
pub(crate) fn bench(command: &BenchCommand, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    match command {
        BenchCommand::Probe(options) => probe(options, setting, output),
    }
}

fn probe(options: &BenchProbeOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    let game = setting.game(&options.game)?;
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
    let positions = Draw::new(game, &materials).positions(POSITIONS);
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
fn materials_of(game: &Game, pieces: u8) -> Result<Vec<Material>, Failure> {
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
fn touch(game: &Game, tables: &Tables, metric: Metric, pieces: u8) -> Result<(), Failure> {
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
struct Draw<'g> {
    game: &'g Game,
    /// The armies of White and Black, who moves, and the placements of this
    /// and all before.
    sides: Vec<(Material, bool, u64)>,
    squares: Vec<u8>,
    random: Random,
}

impl<'g> Draw<'g> {
    fn new(game: &'g Game, materials: &[Material]) -> Self {
        let mut total = 0u64;
        let mut sides = Vec::new();
        for material in materials {
            for (number, view) in material.views().iter().enumerate() {
                let (own, opp) = material.armies(*view);
                let placements = SliceIndex::<u128>::unfolded_len(game.rules(), game.board(), own, opp);
                total = total.saturating_add(placements.unwrap_or(0));
                sides.push((*material, number == 1, total));
            }
        }
        Self {
            game,
            sides,
            squares: game.squares_in_order().to_vec(),
            random: Random(0x5045_5452_4f56),
        }
    }

    fn positions(&mut self, count: usize) -> Vec<Position> {
        let total = self.sides.last().map_or(1, |side| side.2).max(1);
        (0..count)
            .map(|_| {
                let number = self.random.below(total);
                let at = self
                    .sides
                    .partition_point(|side| side.2 <= number)
                    .min(self.sides.len() - 1);
                let (material, black_moves, _) = self.sides[at];
                loop {
                    if let Some(position) = self.placement(material, black_moves) {
                        break position;
                    }
                }
            })
            .collect()
    }

    /// Puts each piece on a random free square; nothing if a man came to stand
    /// on its promotion row, which keeps all placements equally likely.
    fn placement(&mut self, material: Material, black_moves: bool) -> Option<Position> {
        let mut position = Position {
            men: [0; 2],
            kings: [0; 2],
            turn: if black_moves { Colour::Black } else { Colour::White },
        };
        let board = self.game.board();
        let mut free = self.squares.len();
        for (colour, army) in [(Colour::White, material.white()), (Colour::Black, material.black())] {
            let promotion = match colour {
                Colour::White => board.ranks() - 1,
                Colour::Black => 0,
            };
            for piece in 0..army.pieces() {
                let at = self.random.below(free as u64) as usize;
                free -= 1;
                self.squares.swap(at, free);
                let square = self.squares[free];
                if piece >= army.men {
                    position.kings[colour as usize] |= 1 << square;
                } else if board.coordinates(square).1 == promotion {
                    return None;
                } else {
                    position.men[colour as usize] |= 1 << square;
                }
            }
        }
        Some(position)
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
struct Run<'a> {
    prober: &'a Prober<'a>,
    tables: &'a Tables,
    positions: &'a [Position],
    metric: Metric,
    batch: usize,
    time: Duration,
}

impl Run<'_> {
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
