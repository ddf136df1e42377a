//! Checking tables against the rules.
//!
//! Every value is derived again from the values of the positions that legal
//! moves lead to, by plain forward generation and the public prober. Nothing
//! is shared with the solver but the rules (move generation) and the index:
//! an error in those is not seen here.
//!
//! Distances prove themselves: if each win is one ply longer than its shortest
//! losing successor and each loss one longer than its longest winning one,
//! then every win and loss ends after as many plies as it says, and whatever
//! says neither cannot be won. A table of values alone can only be found
//! consistent: a circle of wins and losses can vouch for itself. It is proved
//! if it agrees with a proved table of distances, and is then compared with
//! that and with nothing else. And no table is proved unless
//! those are that its material can turn into, as its values lean on theirs.

use std::cell::LazyCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use petrov_games::{Colour, Game, Games, Material, Placement, Rulebook, View, with_rulebook};
use petrov_probe::format::SideParts;
use petrov_probe::{
    Backend, BlockCache, DigitOrder, EXTENSION, Metric, ProbeError, Prober, Score, SliceIndex, Table, TableError,
    Tables,
};
use rayon::prelude::*;

use crate::build::Progress;
use crate::checksums::{ReadingError, open_again, without_path};
use crate::families::compiled_for_families;
use crate::plan::{PlanError, What, materials};

/// How far a check goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Checksums of files and blocks only.
    Checksums,
    /// Checksums, and so many random positions of each table.
    Sample(u64),
    /// Checksums, and every position.
    Every,
}

/// Something wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The table.
    pub file: PathBuf,
    /// Its material, if it is known.
    pub material: Option<Material>,
    /// The position, if it is about one.
    pub fen: Option<String>,
    /// What the table says.
    pub stored: Option<Score>,
    /// What it should say.
    pub expected: Option<Score>,
    /// What is wrong, in words.
    pub what: String,
}

/// How sure a table is after a check without findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Something is wrong.
    Failed,
    /// Checksums are right; values were not looked at.
    Intact,
    /// The sampled positions are right.
    Sampled,
    /// Values agree with each other and with those of the tables they lean on; see the module on what that is
    /// worth.
    Consistent,
    /// Every value is right, if move generation and index are.
    Proved,
}

impl Verdict {
    /// One word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Intact => "intact",
            Self::Sampled => "sampled",
            Self::Consistent => "consistent",
            Self::Proved => "proved",
        }
    }
}

/// One table of a check.
#[derive(Clone, Debug)]
pub struct CheckedTable {
    /// The file.
    pub file: PathBuf,
    /// Its material.
    pub material: Material,
    /// Its metric.
    pub metric: Metric,
    /// Entries looked at.
    pub positions: u64,
    /// How sure it is.
    pub verdict: Verdict,
}

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct VerifyReport {
    /// The tables looked at, in the order in which they are solved.
    pub tables: Vec<CheckedTable>,
    /// Entries looked at in all.
    pub positions: u64,
    /// What is wrong, at most [`MOST_FINDINGS`] per table.
    pub findings: Vec<Finding>,
}

/// Findings reported of one table; a table with more is hopeless.
pub const MOST_FINDINGS: usize = 1000;

/// Why a check could not run.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Tables could not be looked for, or copies of one not be compared.
    #[error(transparent)]
    Reading(#[from] ReadingError),
    /// The request names what has no tables.
    #[error(transparent)]
    What(#[from] PlanError),
    /// The system gave no threads.
    #[error("cannot start worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What to check, and how.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// Which tables; all that are there if none are named.
    pub what: Option<What>,
    /// Folders of tables.
    pub dirs: Vec<PathBuf>,
    /// How files are read.
    pub backend: Backend,
    /// How far to go.
    pub depth: Depth,
    /// Worker threads; 0 for one for each processor.
    pub threads: usize,
}

/// Decoded blocks: more than a prober keeps, as everything is looked up.
const CACHE_BYTES: u64 = 1 << 28;

compiled_for_families! {
    /// Checks the tables of a game. Damaged, foreign and missing tables are findings.
    ///
    /// # Errors
    /// See [`VerifyError`]; nothing that a table holds is one.
    pub fn verify(game, options: &VerifyOptions, progress: &Progress) -> Result<VerifyReport, VerifyError> = verify_game
}

fn verify_game<G: Game>(game: &G, options: &VerifyOptions, progress: &Progress) -> Result<VerifyReport, VerifyError> {
    let tables =
        Tables::open_with(&options.dirs, BlockCache::new(CACHE_BYTES), options.backend).map_err(ReadingError::from)?;
    let wanted = options.what.map(|what| materials(game, what)).transpose()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    let depth = options.depth;
    pool.install(|| {
        let check = Check {
            game,
            tables: &tables,
            dirs: &options.dirs,
            depth,
            progress,
        };
        Ok(check.run(wanted)?)
    })
}

struct Check<'a, G> {
    game: &'a G,
    tables: &'a Tables,
    dirs: &'a [PathBuf],
    depth: Depth,
    progress: &'a Progress,
}

impl<G: Game> Check<'_, G> {
    fn run(&self, wanted: Option<Vec<Material>>) -> Result<VerifyReport, ReadingError> {
        let mut report = VerifyReport::default();
        let finding = |file: &Path, what: String| Finding {
            file: file.to_owned(),
            material: None,
            fen: None,
            stored: None,
            expected: None,
            what,
        };
        let mut found: BTreeMap<(u8, u8, String, Metric), (Material, &Table)> = BTreeMap::new();
        // Further tables of the same material and metric, each with the one that is probed.
        let mut copies: Vec<(Material, &Table, &Table)> = Vec::new();
        for table in self.tables.iter() {
            let parts = table.header().parts();
            let ours = parts.fingerprint == self.game.fingerprint().bytes();
            let in_our_folder = table.path().parent().is_some_and(|dir| dir.ends_with(self.game.name()));
            if !ours {
                if in_our_folder {
                    report
                        .findings
                        .push(finding(table.path(), "a table of other rules".to_owned()));
                }
                continue;
            }
            match parts.material.parse::<Material>() {
                Ok(material) => {
                    let name = format!("{material}.{}.{EXTENSION}", parts.metric);
                    if table.path().file_name().is_none_or(|file| file != name.as_str()) {
                        report.findings.push(finding(table.path(), format!("holds {name}")));
                    }
                    if wanted.as_ref().is_none_or(|wanted| wanted.contains(&material)) {
                        let key = (
                            material.pieces(),
                            self.standing(&material),
                            material.to_string(),
                            parts.metric,
                        );
                        match found.entry(key) {
                            Entry::Vacant(vacant) => {
                                vacant.insert((material, table));
                            }
                            Entry::Occupied(first) => copies.push((material, first.get().1, table)),
                        }
                    }
                }
                Err(error) => report.findings.push(finding(table.path(), error.to_string())),
            }
        }
        // What a damaged file holds, only its folder tells: any that is not another game's may be ours.
        let known = LazyCell::new(Games::built_in);
        let of_others = |path: &Path| {
            let folder = path.parent().and_then(Path::file_name).and_then(OsStr::to_str);
            folder.is_some_and(|folder| folder != self.game.name() && known.get(folder).is_ok())
        };
        let mut unreadable = BTreeSet::new();
        for (path, error) in self.tables.faults().filter(|(path, _)| !of_others(path)) {
            report.findings.push(finding(path, without_path(path, error)));
            unreadable.extend(path.file_name().and_then(OsStr::to_str));
        }
        if found.is_empty() && wanted.is_none() && report.findings.is_empty() {
            let dirs: Vec<String> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
            let what = format!("there is no table of this game in {}", dirs.join(", "));
            report.findings.push(finding(Path::new(self.game.name()), what));
        }
        if let Some(wanted) = &wanted {
            // Metrics of which there is any table; WLD if there is none at all.
            let mut metrics: Vec<Metric> = found.keys().map(|key| key.3).collect();
            metrics.sort_unstable();
            metrics.dedup();
            if metrics.is_empty() {
                metrics.push(Metric::Wld);
            }
            for material in wanted {
                for metric in &metrics {
                    let key = (
                        material.pieces(),
                        self.standing(material),
                        material.to_string(),
                        *metric,
                    );
                    let name = format!("{material}.{metric}.{EXTENSION}");
                    // One that is there and cannot be read has been named.
                    if !found.contains_key(&key) && !unreadable.contains(name.as_str()) {
                        let file = PathBuf::from(format!("{}/{material}.{metric}", self.game.name()));
                        report.findings.push(finding(&file, "the table is missing".to_owned()));
                    }
                }
            }
        }
        let entries = |table: &Table| -> u64 { table.header().sides().iter().map(|side| side.entries).sum() };
        let each = |table: &Table| match self.depth {
            Depth::Checksums => 0,
            Depth::Sample(positions) => positions.min(entries(table)),
            Depth::Every => entries(table),
        };
        let steps = |(_, table): &(Material, &Table)| entries(table) + each(table);
        let copied: u64 = copies.iter().map(|(_, _, copy)| entries(copy)).sum();
        self.progress
            .total
            .store(found.values().map(steps).sum::<u64>() + copied, Relaxed);
        for (material, first, copy) in copies {
            self.progress.set_step("comparing", &copy.path().display());
            let wrong = match self.intact(copy) {
                Err(damage) => Some(damage),
                Ok(()) => match same_bytes(open_again(first.path())?, open_again(copy.path())?) {
                    Ok(true) => None,
                    Ok(false) => Some(format!(
                        "a second table of the same, with other bytes than {}, which is the one that is probed and checked; check this one by itself",
                        first.path().display()
                    )),
                    Err(error) => Some(format!("cannot be read: {error}")),
                },
            };
            report.findings.extend(wrong.map(|what| Finding {
                material: Some(material),
                ..finding(copy.path(), what)
            }));
        }
        let mut unfit = None;
        let prober = match self.tables.prober(self.game) {
            Ok(prober) => Some(prober),
            Err(error) => {
                // One header does not fit, and nothing can be looked up: name it, and check what can be.
                let path = match &error {
                    ProbeError::Header { path, .. } => path.clone(),
                    _ => PathBuf::from(self.game.name()),
                };
                report.findings.push(finding(&path, error.to_string()));
                unfit = Some(path);
                None
            }
        };
        let mut proved: BTreeSet<(Material, Metric)> = BTreeSet::new();
        let mut slices: BTreeMap<(u8, u8, String), Slice> = BTreeMap::new();
        for ((pieces, standing, name, metric), (material, table)) in found {
            let slice = slices.entry((pieces, standing, name));
            slice.or_insert((material, Vec::new())).1.push((metric, table));
        }
        for ((_, _, name), (material, tables)) in slices {
            // Distances first, so that the values of the same slice can lean on them; and all of them at once,
            // as they need the same moves. A sample is one of each table.
            let (distances, values): (Vec<_>, Vec<_>) =
                tables.into_iter().partition(|(metric, _)| *metric != Metric::Wld);
            let distances = match self.depth {
                Depth::Every => vec![distances],
                Depth::Checksums | Depth::Sample(_) => distances.into_iter().map(|table| vec![table]).collect(),
            };
            for tables in distances.into_iter().chain([values]) {
                let metrics: Vec<&str> = tables.iter().map(|(metric, _)| metric.name()).collect();
                self.progress
                    .set_step("checking", &format_args!("{material}.{}", metrics.join(",")));
                let mut checked: Vec<(Metric, &Table, u64, Vec<Finding>)> = (tables.into_iter())
                    .map(|(metric, table)| {
                        let damage = self.intact(table).err().map(|what| Finding {
                            material: Some(material),
                            ..finding(table.path(), what)
                        });
                        (metric, table, 0, damage.into_iter().collect())
                    })
                    .collect();
                if let (true, Some(prober)) = (self.depth != Depth::Checksums, &prober) {
                    let mut sound: Vec<_> = (checked.iter_mut())
                        .filter(|(.., findings)| findings.is_empty())
                        .collect();
                    if !sound.is_empty() {
                        // Distances of the same slice that are known to be right.
                        let distances = [Metric::Dtw, Metric::Dtz]
                            .into_iter()
                            .find(|distances| proved.contains(&(material, *distances)))
                            .filter(|_| sound.iter().all(|(metric, ..)| *metric == Metric::Wld));
                        let tables = sound.iter().map(|(metric, table, ..)| (*metric, *table)).collect();
                        let results = with_rulebook!(self.game, rulebook => {
                            let slice = SliceCheck {
                                game: self.game, rulebook: &**rulebook, prober, tables, material, distances,
                            };
                            slice.run(self.depth, self.progress)
                        });
                        for ((_, _, positions, findings), result) in sound.iter_mut().zip(results) {
                            (*positions, *findings) = result;
                        }
                    }
                }
                for (metric, table, positions, mut findings) in checked {
                    let leans = || self.leans_on_proved(&name, metric, &proved);
                    let verdict = match self.depth {
                        _ if !findings.is_empty() || unfit.as_deref() == Some(table.path()) => Verdict::Failed,
                        _ if prober.is_none() => Verdict::Intact,
                        Depth::Checksums => Verdict::Intact,
                        Depth::Sample(_) => Verdict::Sampled,
                        Depth::Every if metric == Metric::Wld => {
                            // Without a finding they agree with distances that are proved, if any are.
                            let by =
                                [Metric::Dtw, Metric::Dtz].map(|distances| proved.contains(&(material, distances)));
                            if by[0] || by[1] {
                                Verdict::Proved
                            } else {
                                Verdict::Consistent
                            }
                        }
                        Depth::Every if leans() => Verdict::Proved,
                        Depth::Every => Verdict::Consistent,
                    };
                    if verdict == Verdict::Proved {
                        proved.insert((material, metric));
                    }
                    report.positions += positions;
                    report.findings.append(&mut findings);
                    report.tables.push(CheckedTable {
                        file: table.path().to_owned(),
                        material,
                        metric,
                        positions,
                        verdict,
                    });
                }
            }
        }
        Ok(report)
    }

    /// Whether the tables of all materials are proved that a material can turn into.
    fn leans_on_proved(&self, name: &str, metric: Metric, proved: &BTreeSet<(Material, Metric)>) -> bool {
        let below = name.parse().map(|what| materials(self.game, what));
        below.is_ok_and(|below| {
            let mut below = below.into_iter().flatten();
            below.all(|material| material.to_string() == name || proved.contains(&(material, metric)))
        })
    }

    /// Whether checksums of the file and of every block are right, and every code has a value.
    fn intact(&self, table: &Table) -> Result<(), String> {
        let fault = |error| without_path(table.path(), &error);
        table.verify_checksum().map_err(fault)?;
        let block_bytes = table.header().parts().block_bytes;
        for (number, side) in table.header().sides().iter().enumerate() {
            let blocks = side.block_count(block_bytes);
            (0..blocks)
                .into_par_iter()
                .try_for_each(|block| {
                    let mut codes: Vec<u16> = Vec::new();
                    table.read_codes(number, block, &mut codes)?;
                    self.progress.done.fetch_add(codes.len() as u64, Relaxed);
                    Ok::<(), TableError>(())
                })
                .map_err(fault)?;
            if blocks == 0 {
                self.progress.done.fetch_add(side.entries, Relaxed);
            }
        }
        Ok(())
    }

    /// Standing pieces of a material.
    fn standing(&self, material: &Material) -> u8 {
        with_rulebook!(self.game, rulebook => material.count(rulebook.standing_letter()))
    }
}

/// Whether two files hold the same.
fn same_bytes(one: File, other: File) -> std::io::Result<bool> {
    let [mut one, mut other] = [one, other].map(BufReader::new);
    loop {
        let (here, there) = (one.fill_buf()?, other.fill_buf()?);
        let length = here.len().min(there.len());
        if length == 0 || here[..length] != there[..length] {
            return Ok(here.is_empty() && there.is_empty());
        }
        one.consume(length);
        other.consume(length);
    }
}

/// The tables of one slice.
type Slice<'t> = (Material, Vec<(Metric, &'t Table)>);

/// Tables of one slice whose values are derived again.
struct SliceCheck<'a, G: Game, R> {
    game: &'a G,
    rulebook: &'a R,
    prober: &'a Prober<G>,
    tables: Vec<(Metric, &'a Table)>,
    material: Material,
    /// The metric of proved distances of the same slice. Values are then compared with these, which says
    /// all that their successors could.
    distances: Option<Metric>,
}

/// What the positions of a side are, by weight.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<u16, u64>,
    mated: u64,
}

impl Tally {
    fn count(&mut self, score: Score, weight: u64, mated: bool) {
        *self.counts.entry(score.to_bits()).or_default() += weight;
        self.mated += if mated { weight } else { 0 };
    }

    fn add(mut self, other: Self) -> Self {
        for (score, count) in other.counts {
            *self.counts.entry(score).or_default() += count;
        }
        self.mated += other.mated;
        self
    }
}

impl<G: Game, R: Rulebook<Position = G::Position>> SliceCheck<'_, G, R> {
    fn finding(&self, table: &Table, what: &str) -> Finding {
        Finding {
            file: table.path().to_owned(),
            material: Some(self.material),
            fen: None,
            stored: None,
            expected: None,
            what: what.to_owned(),
        }
    }

    /// Derives values again; gives, for each table, the entries looked at and what is wrong.
    fn run(&self, depth: Depth, progress: &Progress) -> Vec<(u64, Vec<Finding>)> {
        let found = Found {
            tables: self.tables.iter().map(|_| Mutex::default()).collect(),
        };
        let mut positions = vec![0; self.tables.len()];
        let views = self.material.views();
        let halves: Option<Vec<Half<R>>> = (views.iter().enumerate())
            .map(|(side, view)| Half::new(self.rulebook, &self.tables, self.material, side, *view))
            .collect();
        for (n, (_, table)) in self.tables.iter().enumerate() {
            let family = &table.header().parts().family;
            if family != G::FAMILY {
                found.add(n, || {
                    self.finding(
                        table,
                        &format!("its header says family {family} instead of {}", G::FAMILY),
                    )
                });
            }
        }
        let Some(halves) = halves else {
            // No prober has such a header.
            for (n, (_, table)) in self.tables.iter().enumerate() {
                found.add(n, || self.finding(table, "its header does not fit its material"));
            }
            return found.listed(positions);
        };
        let known = if depth == Depth::Every && self.distances.is_none() {
            self.look_up_all(&halves)
        } else {
            Vec::new()
        };
        for (number, half) in halves.iter().enumerate() {
            let check = HalfCheck {
                slice: self,
                half,
                next: &halves[halves.len() - 1 - number],
                known: known.get(number),
                known_next: known.get(halves.len() - 1 - number),
                found: &found,
            };
            let sides = views.len() as u64;
            let tallies = check.derive(depth, sides, progress);
            for (n, (metric, table)) in self.tables.iter().enumerate() {
                let side = &table.header().sides()[number];
                positions[n] += check.count(n, depth, sides);
                if !self.names_a_longest_win(*metric, side, &half.indexes[n], half.turn) {
                    found.add(n, || self.finding(table, "the longest win named in its header is none"));
                }
                if depth == Depth::Every && found.none(n) {
                    let said: BTreeMap<u16, u64> = (side.palette.iter())
                        .map(|entry| (entry.score().to_bits(), entry.count))
                        .collect();
                    if said != tallies[n].counts {
                        found.add(n, || {
                            self.finding(table, "the counts in its header are not those of its positions")
                        });
                    }
                    if side.mated != self.rulebook.has_mate().then_some(tallies[n].mated) {
                        found.add(n, || {
                            self.finding(table, "the count of mates in its header is not that of its positions")
                        });
                    }
                }
            }
        }
        found.listed(positions)
    }

    /// What the prober says of every position of both halves, so that the many moves that lead to one do not each
    /// look it up; nothing if that takes too much memory.
    fn look_up_all(&self, halves: &[Half<R>]) -> Vec<Known> {
        let bytes: u64 = halves.iter().map(|half| half.indexes[0].len()).sum::<u64>() * size_of::<[u16; 2]>() as u64;
        if bytes > MOST_KNOWN_BYTES || self.tables.len() > 2 {
            return Vec::new();
        }
        let look_up = |half: &Half<R>| {
            let mut known = vec![[NOT_KNOWN; 2]; half.indexes[0].len() as usize];
            known
                .par_chunks_mut(CHUNK as usize)
                .enumerate()
                .for_each(|(chunk, known)| {
                    for (known, entry) in known.iter_mut().zip(chunk as u64 * CHUNK..) {
                        let Some((_, position)) = half.position(self.rulebook, 0, entry) else {
                            continue;
                        };
                        for ((metric, _), known) in self.tables.iter().zip(known) {
                            // What cannot be looked up is told when it is asked for.
                            if let Ok(score) = self.prober.score(&position, *metric) {
                                *known = score.to_bits();
                            }
                        }
                    }
                });
            known
        };
        halves.iter().map(look_up).collect()
    }

    /// Whether the longest win that the header names is one, or it rightly names none.
    fn names_a_longest_win(&self, metric: Metric, side: &SideParts, index: &SliceIndex<R::Set>, turn: Colour) -> bool {
        let wins = side
            .palette
            .iter()
            .map(|entry| entry.score())
            .filter(|score| score.is_win());
        let longest = wins.map(Score::distance).max();
        let told = side
            .longest_win
            .map(|entry| self.rulebook.position(&index.unrank::<R::Placement>(entry), turn));
        match (told, longest) {
            (Some(position), Some(plies)) => match self.prober.score(&position, metric) {
                Ok(score) => score.is_win() && score.distance() == plies,
                Err(ProbeError::NoPosition { .. }) => false,
                // What cannot be looked up is told of the entries.
                Err(_) => true,
            },
            (told, longest) => told.is_none() && longest.is_none(),
        }
    }

    fn score(&self, position: &G::Position, metric: Metric) -> Result<Score, String> {
        let score = self.prober.score(position, metric);
        score.map_err(|error| error.to_string())
    }

    /// Whether an entry may hold `raw` where the value is `stored`, because captures decide.
    fn is_free(
        &self,
        table: &Table,
        placement: &R::Placement,
        position: &G::Position,
        raw: Score,
        stored: Score,
    ) -> Result<bool, String> {
        let metric = table.header().parts().metric;
        let free = table.header().parts().free_entries;
        if free.captures {
            return Ok(self.rulebook.has_capture(placement));
        }
        if !free.up_to_capture || !stored.is_win() && raw.preference() > stored.preference() {
            return Ok(false);
        }
        for played in self.game.legal_moves(position) {
            if !self.game.captured(&played).is_empty() {
                let after = self.score(&self.game.after(position, &played), metric)?;
                if after.before_move(metric, true) == stored {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Scores of the positions of a half in the order of the first table, of each table one, as bits.
type Known = Vec<[u16; 2]>;

/// Not the bits of a score.
const NOT_KNOWN: u16 = u16::MAX;

/// Most memory for the scores of a slice.
const MOST_KNOWN_BYTES: u64 = 1 << 30;

/// What a legal move leads to.
struct Reached<P> {
    after: P,
    conversion: bool,
    /// Its number in the other half, if it lies there.
    entry: Option<u64>,
}

/// The positions of a slice with one side to move.
struct Half<R: Rulebook> {
    /// The side in the tables.
    side: usize,
    /// The index of each table.
    indexes: Vec<SliceIndex<R::Set>>,
    /// The key of all placements.
    key: u128,
    turn: Colour,
}

impl<R: Rulebook> Half<R> {
    /// `None` if a header does not fit the material.
    fn new(rulebook: &R, tables: &[(Metric, &Table)], material: Material, side: usize, view: View) -> Option<Self> {
        let (own, opponent) = material.armies(view);
        let index = |table: &Table| {
            let order = DigitOrder::from_code(table.header().sides().get(side)?.order)?;
            SliceIndex::new(rulebook, &own, &opponent, order)
        };
        Some(Self {
            side,
            indexes: tables.iter().map(|(_, table)| index(table)).collect::<Option<_>>()?,
            key: rulebook.key(&own, &opponent)?,
            turn: match view {
                View::White => Colour::White,
                View::Black => Colour::Black,
            },
        })
    }

    /// The placement and position of an entry of a table, if it counts.
    fn position(&self, rulebook: &R, table: usize, entry: u64) -> Option<(R::Placement, R::Position)> {
        let placement: R::Placement = self.indexes[table].unrank(entry);
        let counts = !rulebook.has_gaps() || rulebook.is_placement(&placement);
        counts.then(|| (placement, rulebook.position(&placement, self.turn)))
    }

    /// Whether the entries of a table are those of the first.
    fn same_order(&self, table: usize) -> bool {
        self.indexes[table].order() == self.indexes[0].order()
    }
}

/// What is wrong with each of some tables.
struct Found {
    tables: Vec<Mutex<Vec<Finding>>>,
}

impl Found {
    fn add(&self, table: usize, finding: impl FnOnce() -> Finding) {
        let mut all = self.tables[table].lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST_FINDINGS {
            all.push(finding());
        }
    }

    /// The findings of each table, with something else of each.
    fn listed<T>(self, others: Vec<T>) -> Vec<(T, Vec<Finding>)> {
        let lists = self.tables.into_iter();
        let lists = lists.map(|list| list.into_inner().unwrap_or_else(PoisonError::into_inner));
        others.into_iter().zip(lists).collect()
    }

    fn none(&self, table: usize) -> bool {
        let all = self.tables[table].lock().unwrap_or_else(PoisonError::into_inner);
        all.is_empty()
    }
}

/// The check of one half of a slice.
struct HalfCheck<'a, G: Game, R: Rulebook> {
    slice: &'a SliceCheck<'a, G, R>,
    half: &'a Half<R>,
    /// The half in which the other side is to move.
    next: &'a Half<R>,
    /// Scores of both, if they have all been looked up.
    known: Option<&'a Known>,
    known_next: Option<&'a Known>,
    found: &'a Found,
}

/// Entries that one task looks at.
const CHUNK: u64 = 1 << 12;

impl<G: Game, R: Rulebook<Position = G::Position>> HalfCheck<'_, G, R> {
    /// Entries of a table to be looked at, of which it has so many sides.
    fn count(&self, table: usize, depth: Depth, sides: u64) -> u64 {
        let entries = self.half.indexes[table].len();
        match depth {
            Depth::Sample(wanted) => wanted.div_ceil(sides).min(entries),
            _ => entries,
        }
    }

    /// Derives the values of positions in the order of the first table, which are those of all tables, and looks at
    /// the mirror images of each. Gives what the positions of each table are.
    fn derive(&self, depth: Depth, sides: u64, progress: &Progress) -> Vec<Tally> {
        let tables = &self.slice.tables;
        let count = self.count(0, depth, sides);
        // What a missing or damaged table keeps from being looked up, once for each reason.
        let unknown: Vec<Mutex<BTreeMap<String, u64>>> = tables.iter().map(|_| Mutex::default()).collect();
        let not_known = |table: usize, error| {
            let mut unknown = unknown[table].lock().unwrap_or_else(PoisonError::into_inner);
            *unknown.entry(error).or_default() += 1;
        };
        let tallies = (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(count);
                let mut tallies: Vec<Tally> = tables.iter().map(|_| Tally::default()).collect();
                let mut moves = Vec::new();
                for n in range.clone() {
                    let entry = match depth {
                        Depth::Every => n,
                        _ => scattered(n, self.half.indexes[0].len()),
                    };
                    self.check_entry(entry, &mut moves, &mut tallies, &not_known);
                }
                progress.done.fetch_add(range.end - range.start, Relaxed);
                tallies
            })
            .reduce(
                || tables.iter().map(|_| Tally::default()).collect(),
                |these, those| {
                    these
                        .into_iter()
                        .zip(those)
                        .map(|(this, that)| this.add(that))
                        .collect()
                },
            );
        for table in 1..tables.len() {
            let entries = self.half.indexes[table].len();
            if !self.half.same_order(table) {
                (0..entries.div_ceil(CHUNK)).into_par_iter().for_each(|chunk| {
                    for entry in chunk * CHUNK..((chunk + 1) * CHUNK).min(entries) {
                        if let Err(error) = self.check_mirror(table, entry) {
                            not_known(table, error);
                        }
                    }
                });
            }
            progress.done.fetch_add(entries, Relaxed);
        }
        for (table, unknown) in unknown.into_iter().enumerate() {
            for (reason, count) in unknown.into_inner().unwrap_or_else(PoisonError::into_inner) {
                let what = format!("{count} entries cannot be checked: {reason}");
                self.found.add(table, || self.slice.finding(tables[table].1, &what));
            }
        }
        tallies
    }

    /// The image of a position whose entry a table holds: where its order is another than that of the first, another
    /// one may stand for the symmetric ones.
    fn as_stored(&self, table: usize, placement: &R::Placement, position: &G::Position) -> G::Position {
        if self.half.same_order(table) {
            return *position;
        }
        let index = &self.half.indexes[table];
        let stored: R::Placement = index.unrank(index.rank(placement));
        self.slice.rulebook.position(&stored, self.half.turn)
    }

    fn wrong(&self, table: usize, position: &G::Position, stored: Score, expected: Score, what: &str) {
        self.found.add(table, || Finding {
            fen: Some(self.slice.game.fen(position)),
            stored: Some(stored),
            expected: Some(expected),
            ..self.slice.finding(self.slice.tables[table].1, what)
        });
    }

    /// Compares what is stored of a position, by its number in the first table, with what its moves lead to.
    /// `not_known` is told what could not be looked up.
    fn check_entry(
        &self,
        entry: u64,
        moves: &mut Vec<Reached<G::Position>>,
        tallies: &mut [Tally],
        not_known: &impl Fn(usize, String),
    ) {
        let slice = self.slice;
        let (game, rulebook) = (slice.game, slice.rulebook);
        let Some((placement, position)) = self.half.position(rulebook, 0, entry) else {
            return;
        };
        let weight = self.half.indexes[0].weight(self.half.indexes[0].lead_of(entry));
        let legal = || game.legal_moves(&position);
        moves.clear();
        if slice.distances.is_none() {
            moves.extend(legal().iter().map(|played| {
                let after = game.after(&position, played);
                let stays = self.known_next.and_then(|_| {
                    let placement = rulebook.view(&after);
                    let stays = placement.key() == self.next.key && rulebook.without_right(&placement).is_none();
                    stays.then(|| self.next.indexes[0].rank(&placement))
                });
                Reached {
                    after,
                    conversion: game.is_conversion(played),
                    entry: stays,
                }
            }));
        }
        for (table, tally) in tallies.iter_mut().enumerate() {
            match self.check_one(table, entry, &placement, &position, moves) {
                // Without a move the game is over.
                Ok(Some((score, over))) => {
                    let mated = over && legal().is_empty() && rulebook.blocked(&placement).mated;
                    tally.count(score, weight, mated);
                }
                Ok(None) => {}
                Err(error) => not_known(table, error),
            }
            if self.half.same_order(table)
                && let Err(error) = self.check_raw(table, entry, &placement, &position)
            {
                not_known(table, error);
            }
        }
    }

    /// Compares what one table says of a position with what it must; gives the score and whether the game may be over,
    /// if it is right.
    fn check_one(
        &self,
        table: usize,
        entry: u64,
        placement: &R::Placement,
        position: &G::Position,
        moves: &[Reached<G::Position>],
    ) -> Result<Option<(Score, bool)>, String> {
        let slice = self.slice;
        let stored = self.score(self.known, table, Some(entry), position)?;
        if let Some(distances) = slice.distances {
            let distance = slice.score(position, distances)?;
            if distance.value() != stored.value() {
                let expected = Score::new(distance.value(), 0);
                self.wrong(
                    table,
                    position,
                    stored,
                    expected,
                    "not the value of the table of distances",
                );
                return Ok(None);
            }
            return Ok(Some((stored, !distance.is_draw() && distance.distance() == 0)));
        }
        let expected = if moves.is_empty() {
            let blocked = || slice.rulebook.blocked(placement).outcome;
            slice.rulebook.finished(placement).unwrap_or_else(blocked).into()
        } else {
            self.derived(table, moves)?
        };
        if stored != expected {
            self.wrong(
                table,
                &self.as_stored(table, placement, position),
                stored,
                expected,
                "not what its moves lead to",
            );
            return Ok(None);
        }
        Ok(Some((stored, moves.is_empty())))
    }

    /// The score of a position of this or the other half, or of another slice.
    fn score(
        &self,
        known: Option<&Known>,
        table: usize,
        entry: Option<u64>,
        position: &G::Position,
    ) -> Result<Score, String> {
        let known = known.zip(entry).and_then(|(known, entry)| known.get(entry as usize));
        match known {
            Some(known) if known[table] != NOT_KNOWN => Ok(Score::from_bits(known[table])),
            _ => self.slice.score(position, self.slice.tables[table].0),
        }
    }

    /// What the moves of a position make it worth.
    fn derived(&self, table: usize, moves: &[Reached<G::Position>]) -> Result<Score, String> {
        let metric = self.slice.tables[table].0;
        let fifty_moves = metric == Metric::Dtz && self.slice.rulebook.fifty_moves();
        let mut best: Option<Score> = None;
        for reached in moves {
            let score = self.score(self.known_next, table, reached.entry, &reached.after)?;
            let score = score.before_move(metric, reached.conversion);
            let score = if fifty_moves { score.within_fifty_moves() } else { score };
            best = Some(Score::better(best, score));
        }
        Ok(best.unwrap_or_default())
    }

    /// Looks at an entry that look-ups may not read, as they read that of a mirror image.
    fn check_raw(
        &self,
        table: usize,
        entry: u64,
        placement: &R::Placement,
        position: &G::Position,
    ) -> Result<(), String> {
        let (metric, file) = self.slice.tables[table];
        let index = &self.half.indexes[table];
        if index.rank(placement) == entry {
            return Ok(());
        }
        let stored = self.slice.score(position, metric)?;
        let raw = file.entry(self.half.side, entry).map_err(|error| error.to_string())?;
        if raw != stored && !self.slice.is_free(file, placement, position, raw, stored)? {
            self.wrong(
                table,
                position,
                raw,
                stored,
                "not what the entry of its mirror image says",
            );
        }
        Ok(())
    }

    /// As [`check_raw`](Self::check_raw), with the number of the entry alone.
    fn check_mirror(&self, table: usize, entry: u64) -> Result<(), String> {
        match self.half.position(self.slice.rulebook, table, entry) {
            Some((placement, position)) => self.check_raw(table, entry, &placement, &position),
            None => Ok(()),
        }
    }
}

/// The n-th of a fixed scatter of numbers below `len`.
fn scattered(n: u64, len: u64) -> u64 {
    // SplitMix64 (Steele, Lea and Flood 2014): the same numbers every time.
    let mut z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) % len
}
