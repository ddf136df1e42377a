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
//! if it agrees with a proved table of distances.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use petrov_games::{Colour, Game, Material, Rulebook, View, with_rulebook};
use petrov_probe::{DigitOrder, EXTENSION, Metric, OpenError, ProbeError, Prober, Score, SliceIndex, Table, Tables};
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
    /// Values agree with each other; see the module on what that is worth.
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

/// Checks the tables of a game below some folders: those of `what`, or all
/// that are there. Damaged, foreign and missing tables are findings.
///
/// # Errors
/// See [`VerifyError`]; nothing that a table holds is one.
pub fn verify<G: Game>(
    game: &G,
    what: Option<What>,
    dirs: &[PathBuf],
    depth: Depth,
    threads: usize,
    progress: &Progress,
) -> Result<VerifyReport, VerifyError> {
    let tables = Tables::open(dirs)?;
    let wanted = what.map(|what| materials(game, what)).transpose()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
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
        self.progress
            .total
            .store(found.values().map(|(_, table)| each(table)).sum(), Relaxed);
        let prober = match self.tables.prober(self.game) {
            Ok(prober) => Some(prober),
            Err(error) => {
                // One header does not fit: name it, and check what can be.
                report
                    .findings
                    .push(finding(Path::new(self.game.name()), error.to_string()));
                None
            }
        };
        let mut proved: BTreeMap<String, bool> = BTreeMap::new();
        // Distances first, so that the values of the same slice can lean on them.
        let mut order: Vec<_> = found.into_iter().collect();
        order.sort_by_key(|((pieces, men, name, metric), _)| (*pieces, *men, name.clone(), *metric == Metric::Wld));
        for ((_, _, name, metric), (material, table)) in order {
            self.progress.set_step("checking", &format_args!("{material}.{metric}"));
            let mut findings = intact(table)
                .err()
                .map(|what| finding(table.path(), what))
                .into_iter()
                .collect::<Vec<_>>();
            let mut positions = 0;
            if let (true, Some(prober)) = (findings.is_empty() && self.depth != Depth::Checksums, &prober) {
                let by_distance = proved.get(&name).copied().unwrap_or(false);
                (positions, findings) = with_rulebook!(self.game, rulebook => {
                    self.values(&**rulebook, prober, table, material, metric, by_distance)
                });
            }
            let leans = metric != Metric::Wld || proved.get(&name).copied().unwrap_or(false);
            let verdict = match self.depth {
                _ if !findings.is_empty() || prober.is_none() => Verdict::Failed,
                Depth::Checksums => Verdict::Intact,
                Depth::Sample(_) => Verdict::Sampled,
                Depth::Every if leans => Verdict::Proved,
                Depth::Every => Verdict::Consistent,
            };
            if metric == Metric::Dtw {
                proved.insert(name, verdict == Verdict::Proved);
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

    /// Standing pieces of a material.
    fn standing(&self, material: &Material) -> u8 {
        with_rulebook!(self.game, rulebook => material.count(rulebook.standing_letter()))
    }

    /// Derives values again; gives the entries looked at and what is wrong.
    fn values<R: Rulebook<Position = G::Position>>(
        &self,
        rulebook: &R,
        prober: &Prober<'_, G>,
        table: &Table,
        material: Material,
        metric: Metric,
        by_distance: bool,
    ) -> (u64, Vec<Finding>) {
        let findings = Mutex::new(Vec::new());
        let report = |finding: Finding| {
            let mut all = findings.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() < MOST_FINDINGS {
                all.push(finding);
            }
        };
        // What a missing or damaged table keeps from being looked up, once for
        // each reason.
        let unknown: Mutex<BTreeMap<String, u64>> = Mutex::default();
        let finding = |fen: Option<String>, stored, expected, what: String| Finding {
            file: table.path().to_owned(),
            fen,
            stored,
            expected,
            what,
        };
        let mut positions = 0;
        for (number, view) in material.views().iter().enumerate() {
            let side = &table.header().sides()[number];
            let (own, opp) = material.armies(*view);
            let Some(index) =
                DigitOrder::from_code(side.order).and_then(|order| SliceIndex::new(rulebook, &own, &opp, order))
            else {
                report(finding(
                    None,
                    None,
                    None,
                    "its header does not fit its material".to_owned(),
                ));
                continue;
            };
            let turn = if *view == View::White {
                Colour::White
            } else {
                Colour::Black
            };
            let every = self.depth == Depth::Every;
            let sides = material.views().len() as u64;
            let count = match self.depth {
                Depth::Sample(wanted) => wanted.div_ceil(sides).min(index.len()),
                _ => index.len(),
            };
            const CHUNK: u64 = 1 << 12;
            let sums = (0..count.div_ceil(CHUNK))
                .into_par_iter()
                .map(|chunk| {
                    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
                    for n in chunk * CHUNK..((chunk + 1) * CHUNK).min(count) {
                        let entry = if every { n } else { scattered(n, index.len()) };
                        let placement: R::Placement = index.unrank(entry);
                        if rulebook.has_gaps() && !rulebook.is_placement(&placement) {
                            continue;
                        }
                        let position = rulebook.position(&placement, turn);
                        match self.check_position(rulebook, prober, &position, metric, by_distance) {
                            Ok((stored, None)) => {
                                *counts.entry(stored.to_bits()).or_default() += index.weight(index.lead_of(entry));
                            }
                            Ok((stored, Some((expected, what)))) => {
                                let fen = self.game.fen(&position);
                                report(finding(Some(fen), Some(stored), Some(expected), what.to_owned()));
                            }
                            Err(error) => {
                                let mut unknown = unknown.lock().unwrap_or_else(PoisonError::into_inner);
                                *unknown.entry(error.to_string()).or_default() += 1;
                            }
                        }
                    }
                    self.progress.done.fetch_add(CHUNK.min(count - chunk * CHUNK), Relaxed);
                    counts
                })
                .reduce(BTreeMap::new, |mut all, counts| {
                    for (score, count) in counts {
                        *all.entry(score).or_default() += count;
                    }
                    all
                });
            positions += count;
            for (reason, count) in std::mem::take(&mut *unknown.lock().unwrap_or_else(PoisonError::into_inner)) {
                let what = format!("{count} entries cannot be checked: {reason}");
                report(finding(None, None, None, what));
            }
            let wins = side
                .palette
                .iter()
                .map(|entry| entry.score())
                .filter(|score| score.is_win());
            let longest = wins.map(Score::distance).max();
            let told = side
                .longest_win
                .map(|entry| rulebook.position(&index.unrank::<R::Placement>(entry), turn));
            let right = match (told, longest) {
                (Some(position), Some(plies)) => prober
                    .score(&position, metric)
                    .is_ok_and(|score| score.is_win() && score.distance() == plies),
                (told, longest) => told.is_none() && longest.is_none(),
            };
            if !right {
                let what = "the longest win named in its header is none".to_owned();
                report(finding(None, None, None, what));
            }
            let nothing_wrong = findings.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
            if every && nothing_wrong {
                let said: BTreeMap<u16, u64> = side
                    .palette
                    .iter()
                    .map(|entry| (entry.score().to_bits(), entry.count))
                    .collect();
                if said != sums {
                    report(finding(
                        None,
                        None,
                        None,
                        "the counts in its header are not those of its positions".to_owned(),
                    ));
                }
            }
        }
        (positions, findings.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The stored score of a position, and, if it is wrong, the right one and
    /// what is wrong.
    fn check_position<R: Rulebook<Position = G::Position>>(
        &self,
        rulebook: &R,
        prober: &Prober<'_, G>,
        position: &G::Position,
        metric: Metric,
        by_distance: bool,
    ) -> Result<(Score, Option<Fault>), ProbeError> {
        let stored = prober.score(position, metric)?;
        let mut best: Option<Score> = None;
        for played in self.game.legal_moves(position) {
            let after = prober.score(&self.game.after(position, &played), metric)?;
            let mut score = after.before_move(metric, self.game.is_conversion(&played));
            if metric == Metric::Dtz && rulebook.fifty_moves() {
                score = score.within_fifty_moves();
            }
            best = Some(Score::better(best, score));
        }
        let expected = best.unwrap_or_else(|| {
            // Without a move the game is over.
            let placement = rulebook.view(position);
            let ending = rulebook.blocked(&placement);
            rulebook.finished(&placement).unwrap_or(ending.outcome).into()
        });
        if stored != expected {
            return Ok((stored, Some((expected, "not what its moves lead to"))));
        }
        if metric == Metric::Wld && by_distance {
            let distance = prober.score(position, Metric::Dtw)?;
            if distance.value() != stored.value() {
                return Ok((stored, Some((distance, "not the value of the table of distances"))));
            }
        }
        Ok((stored, None))
    }
}

/// The right score of a position, and what is wrong with the stored one.
type Fault = (Score, &'static str);

/// Whether checksums of the file and of every block are right, and every code
/// has a value.
fn intact(table: &Table) -> Result<(), String> {
    table.verify_checksum().map_err(|error| error.to_string())?;
    let block_bytes = table.header().parts().block_bytes;
    for (number, side) in table.header().sides().iter().enumerate() {
        (0..side.block_count(block_bytes))
            .into_par_iter()
            .try_for_each(|block| table.read_codes::<u16>(number, block, &mut Vec::new()))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The n-th of a fixed scatter of numbers below `len`.
fn scattered(n: u64, len: u64) -> u64 {
    // SplitMix64 (Steele, Lea and Flood 2014): the same numbers every time.
    let mut z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) % len
}
