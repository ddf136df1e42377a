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
//! if it agrees with a proved table of distances. And no table is proved unless
//! those are that its material can turn into, as its values lean on theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use petrov_games::{Colour, Game, Material, Outcome, Rulebook, View, with_rulebook};
use petrov_probe::format::SideParts;
use petrov_probe::{
    Backend, BlockCache, DigitOrder, EXTENSION, Metric, OpenError, ProbeError, Prober, Score, SliceIndex, Table,
    TableError, Tables,
};
use rayon::prelude::*;

use crate::build::Progress;
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
    /// Tables could not be looked for.
    #[error(transparent)]
    Open(#[from] OpenError),
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

/// Checks the tables of a game. Damaged, foreign and missing tables are findings.
///
/// # Errors
/// See [`VerifyError`]; nothing that a table holds is one.
pub fn verify<G: Game>(game: &G, options: &VerifyOptions, progress: &Progress) -> Result<VerifyReport, VerifyError> {
    let tables = Tables::open_with(&options.dirs, BlockCache::default(), options.backend)?;
    let wanted = options.what.map(|what| materials(game, what)).transpose()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    let depth = options.depth;
    Ok(pool.install(|| {
        Check {
            game,
            tables: &tables,
            depth,
            progress,
        }
        .run(wanted)
    }))
}

struct Check<'a, G> {
    game: &'a G,
    tables: &'a Tables,
    depth: Depth,
    progress: &'a Progress,
}

impl<G: Game> Check<'_, G> {
    fn run(&self, wanted: Option<Vec<Material>>) -> VerifyReport {
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
                        found.entry(key).or_insert((material, table));
                    }
                }
                Err(error) => report.findings.push(finding(table.path(), error.to_string())),
            }
        }
        for (path, error) in self.tables.faults() {
            if path.parent().is_some_and(|dir| dir.ends_with(self.game.name())) {
                report.findings.push(finding(path, error.to_string()));
            }
        }
        if found.is_empty() && wanted.is_none() && report.findings.is_empty() {
            let what = "there is no table of this game".to_owned();
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
                    if !found.contains_key(&key) {
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
        self.progress.total.store(found.values().map(steps).sum(), Relaxed);
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
        // Distances first, so that the values of the same slice can lean on them.
        let mut order: Vec<_> = found.into_iter().collect();
        order.sort_by_key(|((pieces, men, name, metric), _)| (*pieces, *men, name.clone(), *metric == Metric::Wld));
        for ((_, _, name, metric), (material, table)) in order {
            self.progress.set_step("checking", &format_args!("{material}.{metric}"));
            let mut findings: Vec<Finding> = self
                .intact(table)
                .err()
                .map(|what| Finding {
                    material: Some(material),
                    ..finding(table.path(), what)
                })
                .into_iter()
                .collect();
            // Distances of the same slice that are known to be right.
            let distances = [Metric::Dtw, Metric::Dtz]
                .into_iter()
                .find(|distances| proved.contains(&(material, *distances)))
                .filter(|_| metric == Metric::Wld);
            let mut positions = 0;
            if let (true, Some(prober)) = (findings.is_empty() && self.depth != Depth::Checksums, &prober) {
                (positions, findings) = with_rulebook!(self.game, rulebook => {
                    let slice = SliceCheck { game: self.game, rulebook: &**rulebook, prober, table, material, metric, distances };
                    slice.run(self.depth, self.progress)
                });
            }
            let verdict = match self.depth {
                _ if !findings.is_empty() || unfit.as_deref() == Some(table.path()) => Verdict::Failed,
                _ if prober.is_none() => Verdict::Intact,
                Depth::Checksums => Verdict::Intact,
                Depth::Sample(_) => Verdict::Sampled,
                Depth::Every if distances.is_some() => Verdict::Proved,
                Depth::Every if metric != Metric::Wld && self.leans_on_proved(&name, metric, &proved) => {
                    Verdict::Proved
                }
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
        report
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
        table.verify_checksum().map_err(|error| error.to_string())?;
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
                .map_err(|error| error.to_string())?;
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

/// One table whose values are derived again.
struct SliceCheck<'a, G: Game, R> {
    game: &'a G,
    rulebook: &'a R,
    prober: &'a Prober<G>,
    table: &'a Table,
    material: Material,
    metric: Metric,
    /// The metric of proved distances of the same slice.
    distances: Option<Metric>,
}

/// What the positions of a side are, by weight.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<u16, u64>,
    mated: u64,
}

impl Tally {
    fn add(mut self, other: Self) -> Self {
        for (score, count) in other.counts {
            *self.counts.entry(score).or_default() += count;
        }
        self.mated += other.mated;
        self
    }
}

impl<G: Game, R: Rulebook<Position = G::Position>> SliceCheck<'_, G, R> {
    fn finding(&self, what: &str) -> Finding {
        Finding {
            file: self.table.path().to_owned(),
            material: Some(self.material),
            fen: None,
            stored: None,
            expected: None,
            what: what.to_owned(),
        }
    }

    /// Derives values again; gives the entries looked at and what is wrong.
    fn run(&self, depth: Depth, progress: &Progress) -> (u64, Vec<Finding>) {
        let findings = Mutex::new(Vec::new());
        let report = |finding: Finding| {
            let mut all = findings.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() < MOST_FINDINGS {
                all.push(finding);
            }
        };
        let (material, rulebook) = (self.material, self.rulebook);
        let mut positions = 0;
        for (number, view) in material.views().iter().enumerate() {
            let side = &self.table.header().sides()[number];
            let (own, opp) = material.armies(*view);
            let Some(index) =
                DigitOrder::from_code(side.order).and_then(|order| SliceIndex::new(rulebook, &own, &opp, order))
            else {
                report(self.finding("its header does not fit its material"));
                continue;
            };
            let turn = if *view == View::White {
                Colour::White
            } else {
                Colour::Black
            };
            let every = depth == Depth::Every;
            let sides = material.views().len() as u64;
            let count = match depth {
                Depth::Sample(wanted) => wanted.div_ceil(sides).min(index.len()),
                _ => index.len(),
            };
            // What a missing or damaged table keeps from being looked up, once for each reason.
            let unknown: Mutex<BTreeMap<String, u64>> = Mutex::default();
            const CHUNK: u64 = 1 << 12;
            let tally = (0..count.div_ceil(CHUNK))
                .into_par_iter()
                .map(|chunk| {
                    let mut tally = Tally::default();
                    for n in chunk * CHUNK..((chunk + 1) * CHUNK).min(count) {
                        let entry = if every { n } else { scattered(n, index.len()) };
                        let placement: R::Placement = index.unrank(entry);
                        if rulebook.has_gaps() && !rulebook.is_placement(&placement) {
                            continue;
                        }
                        let position = rulebook.position(&placement, turn);
                        match self.check_entry(&placement, &position, number, entry) {
                            Ok(Checked::Right { score, mated }) => {
                                let weight = index.weight(index.lead_of(entry));
                                *tally.counts.entry(score.to_bits()).or_default() += weight;
                                tally.mated += if mated { weight } else { 0 };
                            }
                            Ok(Checked::Wrong { stored, expected, what }) => report(Finding {
                                fen: Some(self.game.fen(&position)),
                                stored: Some(stored),
                                expected: Some(expected),
                                ..self.finding(what)
                            }),
                            Err(error) => {
                                let mut unknown = unknown.lock().unwrap_or_else(PoisonError::into_inner);
                                *unknown.entry(error).or_default() += 1;
                            }
                        }
                    }
                    progress.done.fetch_add(CHUNK.min(count - chunk * CHUNK), Relaxed);
                    tally
                })
                .reduce(Tally::default, Tally::add);
            positions += count;
            for (reason, count) in unknown.into_inner().unwrap_or_else(PoisonError::into_inner) {
                report(self.finding(&format!("{count} entries cannot be checked: {reason}")));
            }
            if !self.names_a_longest_win(side, &index, turn) {
                report(self.finding("the longest win named in its header is none"));
            }
            let nothing_wrong = findings.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
            if every && nothing_wrong {
                let said: BTreeMap<u16, u64> = side
                    .palette
                    .iter()
                    .map(|entry| (entry.score().to_bits(), entry.count))
                    .collect();
                if said != tally.counts {
                    report(self.finding("the counts in its header are not those of its positions"));
                }
                if side.mated != rulebook.has_mate().then_some(tally.mated) {
                    report(self.finding("the count of mates in its header is not that of its positions"));
                }
            }
        }
        (positions, findings.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the longest win that the header names is one, or it rightly names none.
    fn names_a_longest_win(&self, side: &SideParts, index: &SliceIndex<R::Set>, turn: Colour) -> bool {
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
            (Some(position), Some(plies)) => self
                .prober
                .score(&position, self.metric)
                .is_ok_and(|score| score.is_win() && score.distance() == plies),
            (told, longest) => told.is_none() && longest.is_none(),
        }
    }

    /// Compares what is stored of a position with what its moves lead to. The error says what could not be
    /// looked up.
    fn check_entry(
        &self,
        placement: &R::Placement,
        position: &G::Position,
        side: usize,
        entry: u64,
    ) -> Result<Checked, String> {
        let (game, rulebook, metric) = (self.game, self.rulebook, self.metric);
        let score_of = |position: &G::Position, metric| {
            let score = self.prober.score(position, metric);
            score.map_err(|error| error.to_string())
        };
        let stored = score_of(position, metric)?;
        let wrong = |stored, expected, what| Ok(Checked::Wrong { stored, expected, what });
        let mut best: Option<Score> = None;
        for played in game.legal_moves(position) {
            let after = score_of(&game.after(position, &played), metric)?;
            let mut score = after.before_move(metric, game.is_conversion(&played));
            if metric == Metric::Dtz && rulebook.fifty_moves() {
                score = score.within_fifty_moves();
            }
            best = Some(Score::better(best, score));
        }
        // Without a move the game is over.
        let ending = best.is_none().then(|| rulebook.blocked(placement));
        let expected = best.unwrap_or_else(|| {
            let blocked = ending.map_or(Outcome::Draw, |ending| ending.outcome);
            rulebook.finished(placement).unwrap_or(blocked).into()
        });
        if stored != expected {
            return wrong(stored, expected, "not what its moves lead to");
        }
        if let Some(metric) = self.distances {
            let distance = score_of(position, metric)?;
            if distance.value() != stored.value() {
                return wrong(stored, distance, "not the value of the table of distances");
            }
        }
        let raw = self.table.entry(side, entry).map_err(|error| error.to_string())?;
        if raw != stored && !self.is_free(placement, position, raw, stored)? {
            // Probing looked at the entry of a mirror image.
            return wrong(raw, stored, "not what the entry of its mirror image says");
        }
        let mated = ending.is_some_and(|ending| ending.mated);
        Ok(Checked::Right { score: stored, mated })
    }

    /// Whether an entry may hold `raw` where the value is `stored`, because captures decide.
    fn is_free(
        &self,
        placement: &R::Placement,
        position: &G::Position,
        raw: Score,
        stored: Score,
    ) -> Result<bool, String> {
        let free = self.table.header().parts().free_entries;
        if free.captures {
            return Ok(self.rulebook.has_capture(placement));
        }
        if !free.up_to_capture || !stored.is_win() && raw.preference() > stored.preference() {
            return Ok(false);
        }
        for played in self.game.legal_moves(position) {
            if !self.game.captured(&played).is_empty() {
                let after = self.prober.score(&self.game.after(position, &played), self.metric);
                let after = after.map_err(|error| error.to_string())?;
                if after.before_move(self.metric, true) == stored {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// What was found out about an entry.
enum Checked {
    Right {
        score: Score,
        mated: bool,
    },
    Wrong {
        stored: Score,
        expected: Score,
        what: &'static str,
    },
}

/// The n-th of a fixed scatter of numbers below `len`.
fn scattered(n: u64, len: u64) -> u64 {
    // SplitMix64 (Steele, Lea and Flood 2014): the same numbers every time.
    let mut z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) % len
}
