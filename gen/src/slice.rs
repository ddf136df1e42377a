//! Solving one slice: all its units, in an order in which conversions lead to
//! units that are done.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use petrov_games::{Army, Bits, Kind, Material, Placement, Rulebook, Side as Of, View};
use petrov_probe::{Digit, Metric, SliceIndex, binomial, set_unrank};
use rayon::prelude::*;

use crate::clock::Meter;
use crate::pieces::PieceSets;
use crate::solved::{Side, Solved};
use crate::unit::{Alone, Crew, KeptUnit, Rows, Standing, StateError, Unit, UnitFrame};
use crate::values::Values;

/// Positions below which a task takes several units at a time.
const TASK_POSITIONS: u64 = 1 << 16;

/// Tasks per thread into which a level is cut at least, if it has the units.
const TASKS_PER_THREAD: usize = 4;

/// Rows whose values a task copies at a time.
const ROWS_KEPT: usize = 8;

/// Blocks of rows per thread where one unit is solved by all threads.
const BLOCKS_PER_THREAD: usize = 4;

/// Positions of a block of rows, so that what arrives for it is near when it is
/// worked off. A block alone takes twice the time for a five-piece unit.
const BLOCK_POSITIONS: u64 = 1 << 21;

/// The ranks that work on a slice, as one of them sees them.
pub(crate) trait Team: Sync {
    /// Room for the values of a side: its number, how many it has in all and in
    /// each unit.
    fn values(&self, side: usize, metric: Metric, len: u64, unit: u64) -> Values;

    /// Whether this rank has a part in solving a unit, which has a number of
    /// its own. `outputs` are the sides and values of the standing digit for which
    /// it gives values.
    fn takes(&self, unit: u64, outputs: &dyn Fn() -> Vec<(usize, u64)>) -> bool;

    /// The ranks that share each unit's rows.
    fn crew(&self) -> &dyn Crew;

    /// Whether the rows of units are shared, if only by one rank.
    fn shares_rows(&self) -> bool;

    /// Called before a unit whose rows are shared: what was kept of it.
    fn state_of(&self, unit: u64) -> Option<KeptUnit>;

    /// Called after such a unit.
    fn unit_done(&self, unit: u64);
}

/// A rank that has all slices to itself.
pub(crate) struct OnlyRank;

impl Team for OnlyRank {
    fn values(&self, _: usize, metric: Metric, len: u64, _: u64) -> Values {
        Values::new(metric, len)
    }

    fn takes(&self, _: u64, _: &dyn Fn() -> Vec<(usize, u64)>) -> bool {
        true
    }

    fn crew(&self) -> &dyn Crew {
        &Alone
    }

    fn shares_rows(&self) -> bool {
        false
    }

    fn state_of(&self, _: u64) -> Option<KeptUnit> {
        None
    }

    fn unit_done(&self, _: u64) {}
}

/// Solves the slices of one rule set.
pub(crate) struct SliceSolver<R: Rulebook> {
    rulebook: Arc<R>,
    /// Sets of moving pieces with the symmetries that they have images under.
    sets: HashMap<SetsKey, Arc<PieceSets<R>>>,
}

/// Moving kinds with their counts, and the symmetries.
type SetsKey = (Vec<(Kind, u8)>, Arc<Vec<Vec<u8>>>);

/// One slice while it is solved.
struct Slice<'a, R: Rulebook> {
    rulebook: &'a R,
    material: Material,
    frame: UnitFrame<'a, R>,
    solved: &'a Solved<R>,
    sides: &'a [Arc<Side<R::Set>>],
    /// For each symmetry the one that undoes it.
    inverses: Vec<u8>,
    meter: &'a Meter,
    team: &'a dyn Team,
}

/// Units that can be solved at the same time. There may be tens of millions
/// of one placement each, so they are kept as numbers.
enum Level {
    /// Pieces that stand still: values of their digit, White to move.
    Still(Vec<u64>),
    /// Pieces that keep their ranks: how many of White's and of Black's stand
    /// on each rank, seen by White; with the unit's number.
    Ranks(Vec<(u64, Shares)>),
}

/// How many of White's and of Black's standing pieces are on each rank.
type Shares = (Vec<u8>, Vec<u8>);

impl Level {
    fn len(&self) -> usize {
        match self {
            Self::Still(digits) => digits.len(),
            Self::Ranks(shares) => shares.len(),
        }
    }

    /// The number that a unit has in the slice.
    fn unit(&self, number: usize) -> u64 {
        match self {
            Self::Still(digits) => digits[number],
            Self::Ranks(shares) => shares[number].0,
        }
    }
}

impl<R: Rulebook> SliceSolver<R> {
    pub(crate) fn new(rulebook: Arc<R>) -> Self {
        Self {
            rulebook,
            sets: HashMap::new(),
        }
    }

    fn sets(&mut self, army: &Army, symmetries: &Arc<Vec<Vec<u8>>>) -> Arc<PieceSets<R>> {
        let kinds = self.rulebook.moving(army);
        let sets = self.sets.entry((kinds.clone(), symmetries.clone()));
        let rulebook = &self.rulebook;
        let new = || Arc::new(PieceSets::new(&**rulebook, symmetries, &kinds));
        sets.or_insert_with(new).clone()
    }

    /// Solves a slice, or this rank's part of it, and leaves it in `solved`, which must hold every slice
    /// that this one converts into. `done` is counted up by the positions
    /// solved, `meter` by the time of all threads.
    ///
    /// # Errors
    /// What was kept of a unit is of another.
    pub(crate) fn solve(
        &mut self,
        material: Material,
        metric: Metric,
        solved: &mut Solved<R>,
        team: &dyn Team,
        done: &AtomicU64,
        meter: &Meter,
    ) -> Result<(), StateError> {
        let (white, black) = (material.white(), material.black());
        let symmetries = Arc::new(self.rulebook.symmetries(&white, &black));
        // Sets of pieces that are no longer asked for can be large.
        self.sets.retain(|_, sets| sets.len() < LARGE_SETS);
        let own = [self.sets(&white, &symmetries), self.sets(&black, &symmetries)];
        let shared = self.rulebook.clone();
        let rulebook: &R = &shared;
        let sides = solved.insert_slice(material, |side, index| {
            team.values(side, metric, index.len(), index.scale(Digit::Standing))
        });
        let standing = rulebook.standing(&white) + rulebook.standing(&black) > 0;
        let rows = [View::White, View::Black].map(|view| {
            let side = &sides[sides.len().min(view as usize + 1) - 1];
            if standing || symmetries.len() < 2 {
                Rows::Plain
            } else {
                folded_rows(rulebook, &side.index, &own[1 - view as usize], symmetries.len())
            }
        });
        let inverse = |map: &Vec<u8>| {
            let undoes = |back: &Vec<u8>| {
                let squares = rulebook.squares().squares();
                squares
                    .into_iter()
                    .all(|square| back[usize::from(map[usize::from(square)])] == square)
            };
            symmetries.iter().position(undoes).unwrap_or(0) as u8
        };
        let slice = Slice {
            rulebook,
            material,
            frame: UnitFrame {
                rulebook,
                metric,
                own: [&own[0], &own[1]],
                opp: [&own[1], &own[0]],
                rows,
                single: !standing && material.is_even(),
                meter,
                sideways: standing && rulebook.sideways(),
            },
            solved: &*solved,
            sides: &sides,
            inverses: symmetries.iter().map(inverse).collect(),
            meter,
            team,
        };
        slice.solve(done)
    }
}

/// Number of sets of moving pieces from which on they are not kept from slice
/// to slice: they take a hundred bytes each, and are made anew in a tenth of a
/// microsecond.
const LARGE_SETS: usize = 1 << 14;

/// Rows of a half without standing pieces, one for each class of placements
/// that symmetries lead into each other.
fn folded_rows<R: Rulebook>(rulebook: &R, index: &SliceIndex<R::Set>, opp: &PieceSets<R>, symmetries: usize) -> Rows {
    let [first, _] = index.moving();
    let number = |digit: u64| {
        let placement: R::Placement = index.place([0, digit, 0]);
        first.rank(&placement, Of::Opponent, rulebook.squares()) as u32
    };
    let rows = index.range(Digit::FirstMoving);
    let representatives: Vec<u32> = (0..rows).map(number).collect();
    let mut rows = vec![u32::MAX; opp.len()];
    let mut weights = Vec::with_capacity(representatives.len());
    for (row, representative) in representatives.iter().enumerate() {
        let mut members = 0;
        for symmetry in 0..symmetries as u8 {
            let image = opp.image(symmetry, *representative) as usize;
            members += u64::from(rows[image] == u32::MAX);
            rows[image] = row as u32;
        }
        weights.push(members);
    }
    let classes = (0..opp.len() as u32)
        .into_par_iter()
        .map(|set| {
            let set = opp.turned(set);
            let row = rows[set as usize];
            let leads = |symmetry: &u8| opp.image(*symmetry, set) == representatives[row as usize];
            let symmetries = (0..symmetries as u8).filter(leads);
            (row, symmetries.fold(0, |bits, symmetry| bits | 1 << symmetry))
        })
        .collect();
    Rows::Folded {
        classes,
        representatives,
        weights,
    }
}

impl<R: Rulebook> Slice<'_, R> {
    fn solve(&self, done: &AtomicU64) -> Result<(), StateError> {
        let threads = rayon::current_num_threads();
        let unit_positions = self
            .sides
            .iter()
            .map(|side| side.index.scale(Digit::Standing))
            .sum::<u64>()
            .max(1);
        let (ranks, by_rows) = (self.team.crew().ranks(), self.team.shares_rows());
        for level in self.levels() {
            let shared = threads > 1 && level.len() < 2 * threads && unit_positions > TASK_POSITIONS;
            let blocks = (unit_positions / BLOCK_POSITIONS) as usize;
            if shared || blocks > 1 || by_rows {
                let least = if shared { threads * BLOCKS_PER_THREAD } else { 1 };
                let least = if by_rows {
                    ranks * threads * BLOCKS_PER_THREAD
                } else {
                    least
                };
                let mut unit = Unit::new(blocks.max(least));
                for number in 0..level.len() {
                    let name = level.unit(number);
                    let state = if by_rows { self.team.state_of(name) } else { None };
                    done.fetch_add(self.solve_unit(&mut unit, &level, number, state.as_ref())?, Relaxed);
                    if by_rows {
                        self.team.unit_done(name);
                    }
                }
            } else {
                let most = (TASK_POSITIONS / unit_positions) as usize;
                let each = most.min(level.len() / (TASKS_PER_THREAD * threads)).max(1);
                (0..level.len().div_ceil(each)).into_par_iter().try_for_each_init(
                    || Unit::new(1),
                    |unit, task| {
                        let mut units = task * each..((task + 1) * each).min(level.len());
                        let solve = || {
                            units.try_fold(0, |sum, number| {
                                Ok::<_, StateError>(sum + self.solve_unit(unit, &level, number, None)?)
                            })
                        };
                        done.fetch_add(self.meter.measure(solve)?, Relaxed);
                        Ok::<_, StateError>(())
                    },
                )?;
            }
        }
        Ok(())
    }

    /// The units that this rank has a part in, in groups that can be solved in
    /// turn: those in which standing pieces have come further first, because they only go forward.
    fn levels(&self) -> Vec<Level> {
        if self.frame.sideways {
            let units = self
                .rank_units()
                .enumerate()
                .map(|(unit, (level, shares))| (level, (unit as u64, shares)));
            let taken = units.filter(|(_, (unit, shares))| {
                let outputs = || {
                    let (standing, own_image) = self.standing_of_ranks(shares);
                    self.outputs(&standing, own_image)
                };
                self.team.takes(*unit, &outputs)
            });
            by_level(taken).into_iter().map(Level::Ranks).collect()
        } else {
            let taken = self.still_units().filter(|(_, digit)| {
                let outputs = || {
                    let (standing, own_image) = self.standing_of_digit(*digit);
                    self.outputs(&standing, own_image)
                };
                self.team.takes(*digit, &outputs)
            });
            by_level(taken).into_iter().map(Level::Still).collect()
        }
    }

    /// The number of steps made by the standing pieces of both sides, from
    /// their own first rank.
    fn advancement(&self, standing: &R::Placement) -> u32 {
        let rank = |square: u8| u32::from(self.rulebook.rank(square));
        let last = u32::from(self.rulebook.ranks()) - 1;
        let pieces = |side| standing.pieces(side, Kind::STANDING).squares();
        let own: u32 = pieces(Of::Own).map(rank).sum();
        let opp: u32 = pieces(Of::Opponent).map(|square| last - rank(square)).sum();
        own + opp
    }

    /// Units of pieces that stand still, by advancement: one for each class
    /// of symmetric ways to place them, and only one of two that are turned
    /// images of each other in a slice whose sides are alike.
    fn still_units(&self) -> impl Iterator<Item = (u32, u64)> {
        let white = &self.sides[0].index;
        let standing = self.rulebook.standing(&self.material.white()) > 0;
        let twins = self.material.is_even() && standing;
        let level = move |digit: u64| {
            let pieces: R::Placement = white.standing(digit);
            let twin = twins && white.standing_class(&self.rulebook.turned(&pieces)).0 < digit;
            (!twin).then(|| self.advancement(&pieces))
        };
        // In batches, as all at once would take more memory than the units.
        const BATCH: u64 = 1 << 20;
        let count = white.range(Digit::Standing);
        (0..count.div_ceil(BATCH)).flat_map(move |batch| {
            let digits = batch * BATCH..((batch + 1) * BATCH).min(count);
            let levels: Vec<Option<u32>> = digits.clone().into_par_iter().map(level).collect();
            digits.zip(levels).filter_map(|(digit, level)| Some((level?, digit)))
        })
    }

    /// Units of pieces that keep their ranks with their advancement: one for
    /// each way to share them out among the ranks, turned images as above.
    fn rank_units(&self) -> impl Iterator<Item = (u32, Shares)> {
        let material = self.material;
        let ranks = usize::from(self.rulebook.ranks());
        let on_rank = |rank: u8| self.on_rank(rank).count() as u8;
        let most = (0..self.rulebook.ranks()).map(on_rank).max().unwrap_or(0);
        let white = shares(self.rulebook.standing(&material.white()), 0..ranks - 1, most, ranks);
        let black = shares(self.rulebook.standing(&material.black()), 1..ranks, most, ranks);
        white.into_iter().flat_map(move |white| {
            let units: Vec<_> = black
                .iter()
                .filter(|black| {
                    !material.is_even() || turned_shares(&white, black) >= (white.clone(), (*black).clone())
                })
                .map(|black| {
                    let level = weight(white.iter()) + weight(black.iter().rev());
                    (level, (white.clone(), black.clone()))
                })
                .collect();
            units
        })
    }

    fn on_rank(&self, rank: u8) -> R::Set {
        let squares = self.rulebook.squares().squares();
        squares
            .filter(|square| self.rulebook.rank(*square) == rank)
            .fold(R::Set::ZERO, |set, square| set | R::Set::bit(square))
    }

    /// All ways in which standing pieces can be with so many on each rank.
    fn arrangements(&self, share: &[u8]) -> Vec<R::Set> {
        let mut sets = vec![R::Set::ZERO];
        for (rank, pieces) in share.iter().enumerate().filter(|(_, pieces)| **pieces > 0) {
            let region = self.on_rank(rank as u8);
            let ways = binomial(region.count(), *pieces);
            sets = (0..ways)
                .flat_map(|way| {
                    let on_rank = set_unrank(way, *pieces, region);
                    sets.iter().map(move |set| *set | on_rank).collect::<Vec<R::Set>>()
                })
                .collect();
        }
        sets
    }

    /// The standing pieces of a unit in which they stand still, and whether it
    /// is its own turned image.
    fn standing_of_digit(&self, digit: u64) -> (Standing<R::Set>, bool) {
        let white = &self.sides[0].index;
        let pieces: R::Placement = white.standing(digit);
        let own_image = self.material.is_even() && white.standing_class(&self.rulebook.turned(&pieces)).0 == digit;
        let of = |side| pieces.pieces(side, Kind::STANDING);
        (Standing::still(self.rulebook, of(Of::Own), of(Of::Opponent)), own_image)
    }

    /// The same of a unit in which they keep their ranks.
    fn standing_of_ranks(&self, shares: &Shares) -> (Standing<R::Set>, bool) {
        let (white, black) = shares;
        let own_image = self.material.is_even() && turned_shares(white, black) == *shares;
        let (white, black) = (self.arrangements(white), self.arrangements(black));
        (Standing::sideways(self.rulebook, white, black), own_image)
    }

    /// Solves a unit of a level and keeps its values, or those of this rank's
    /// rows; gives their number.
    fn solve_unit(
        &self,
        unit: &mut Unit<R::Set>,
        level: &Level,
        number: usize,
        state: Option<&KeptUnit>,
    ) -> Result<u64, StateError> {
        let (standing, own_image) = match level {
            Level::Still(digits) => self.standing_of_digit(digits[number]),
            Level::Ranks(shares) => self.standing_of_ranks(&shares[number].1),
        };
        unit.solve(&self.frame, self.solved, &standing, self.team.crew(), state)?;
        // Where no unit of this size follows, the values get the room.
        let is_last = level.len() == 1;
        if is_last {
            unit.drop_all_but_cells();
        }
        let kept = (0..self.kept_halves(own_image)).map(|half| {
            let kept = self.keep(unit, half, &standing);
            if is_last {
                unit.drop_half(half);
            }
            kept
        });
        Ok(kept.sum())
    }

    /// Of sides that are alike the second half is kept as the turned image of
    /// another unit, if it is another.
    fn kept_halves(&self, own_image: bool) -> usize {
        if own_image { 1 } else { self.frame.halves() }
    }

    /// The sides and values of the standing digit for which a unit gives
    /// values.
    fn outputs(&self, standing: &Standing<R::Set>, own_image: bool) -> Vec<(usize, u64)> {
        let mut outputs = Vec::new();
        for half in 0..self.kept_halves(own_image) {
            let side = half.min(self.sides.len() - 1);
            self.each_arrangement(half, standing, |_, digit, _| outputs.push((side, digit)));
        }
        outputs
    }

    /// Calls `visit` for each pair of arrangements of a half that is kept, with the
    /// value of the standing digit and the symmetry that leads to it.
    fn each_arrangement(&self, half: usize, standing: &Standing<R::Set>, mut visit: impl FnMut((u32, u32), u64, u8)) {
        let side = &self.sides[half.min(self.sides.len() - 1)];
        for (own_number, own) in standing.own(half).iter().enumerate() {
            for (opp_number, opp) in standing.opp(half).iter().enumerate() {
                if !(*own & *opp).is_empty() {
                    continue;
                }
                let mut pieces = R::Placement::default();
                pieces.add(Of::Own, Kind::STANDING, *own);
                pieces.add(Of::Opponent, Kind::STANDING, *opp);
                let (digit, symmetry) = side.index.standing_class(&pieces);
                // Of arrangements that are images of each other one is kept.
                if self.frame.sideways && symmetry != 0 {
                    continue;
                }
                visit((own_number as u32, opp_number as u32), digit, symmetry);
            }
        }
    }

    /// Copies a solved half to its place among the slice's values. Sets of
    /// pieces come in the same order in both: leaving out those that meet
    /// other pieces does not change the order of the rest.
    fn keep(&self, unit: &Unit<R::Set>, half: usize, standing: &Standing<R::Set>) -> u64 {
        let side = &self.sides[half.min(self.sides.len() - 1)];
        let mut entries = 0;
        self.each_arrangement(half, standing, |arrangements, digit, symmetry| {
            entries += self.keep_arrangement(unit, half, side, arrangements, digit, symmetry);
        });
        let weight = if self.frame.sideways {
            1
        } else {
            self.unit_weight(side, half, standing)
        };
        side.mated.fetch_add(weight * unit.mated(half), Relaxed);
        entries
    }

    /// How many units the one that was solved stands for.
    fn unit_weight(&self, side: &Side<R::Set>, half: usize, standing: &Standing<R::Set>) -> u64 {
        let mut pieces = R::Placement::default();
        pieces.add(Of::Own, Kind::STANDING, standing.own(half)[0]);
        pieces.add(Of::Opponent, Kind::STANDING, standing.opp(half)[0]);
        if pieces.occupied().is_empty() {
            return 1;
        }
        side.index.weight(side.index.standing_class(&pieces).0)
    }

    /// Keeps one arrangement of a half under a value of the standing digit, as
    /// seen after a symmetry.
    fn keep_arrangement(
        &self,
        unit: &Unit<R::Set>,
        half: usize,
        side: &Side<R::Set>,
        (own_number, opp_number): (u32, u32),
        digit: u64,
        symmetry: u8,
    ) -> u64 {
        let (own, opp) = (self.frame.own[half], self.frame.opp[half]);
        let kept: R::Placement = side.index.standing(digit);
        let standing = kept.occupied();
        let rows = self.frame.row_count(half) as u32;
        let back = self.inverses[usize::from(symmetry)];
        let first = own_number * own.len() as u32;
        let fits = |row: &u32| (opp.set(self.frame.row_set(half, *row)) & standing).is_empty();
        let fitting: Vec<u32> = (0..rows).filter(fits).collect();
        let start = digit * side.index.scale(Digit::Standing);
        let width = side.index.scale(Digit::FirstMoving);
        let keep_rows = |(chunk, rows): (usize, &[u32])| {
            let start = start + (chunk * ROWS_KEPT) as u64 * width;
            let (mut entries, mut open) = (0, None);
            for (number, &row) in rows.iter().enumerate() {
                let opp_set = self.frame.row_set(half, row);
                let taken = opp.set(opp_set) | standing;
                // Rows are folded only where nothing stands.
                let source = if symmetry == 0 { row } else { opp.image(back, opp_set) };
                let source = opp_number * self.frame.row_count(half) as u32 + source;
                if !unit.has_row(half, source) {
                    open = None;
                    continue;
                }
                let cell = unit.row(half, source);
                let cursor = open.get_or_insert_with(|| side.values.cursor(start + number as u64 * width));
                for set in 0..own.len() as u32 {
                    if (own.set(set) & taken).is_empty() {
                        let source = if symmetry == 0 { set } else { own.image(back, set) };
                        let (score, free) = cell(first + source);
                        cursor.push(score, free);
                    }
                }
                entries += width;
            }
            entries
        };
        if side.index.scale(Digit::Standing) > 4 * TASK_POSITIONS {
            let chunks = fitting.par_chunks(ROWS_KEPT).enumerate();
            chunks.map(|chunk| self.meter.measure(|| keep_rows(chunk))).sum()
        } else {
            fitting.chunks(ROWS_KEPT).enumerate().map(keep_rows).sum()
        }
    }
}

/// Groups in the order of solving: the greatest advancement first.
fn by_level<T>(units: impl Iterator<Item = (u32, T)>) -> Vec<Vec<T>> {
    let mut levels: Vec<Vec<T>> = Vec::new();
    for (level, unit) in units {
        let level = level as usize;
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(unit);
    }
    levels.reverse();
    levels.retain(|level| !level.is_empty());
    levels
}

/// Steps made by standing pieces shared out among the ranks, from the first on.
fn weight<'a>(share: impl Iterator<Item = &'a u8>) -> u32 {
    share.enumerate().map(|(rank, men)| rank as u32 * u32::from(*men)).sum()
}

/// The shares as the other side sees them: colours and ranks turned.
fn turned_shares(white: &[u8], black: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let turned = |share: &[u8]| share.iter().rev().copied().collect();
    (turned(black), turned(white))
}

/// All ways to share `men` out among the ranks of `allowed` with at most
/// `most` to a rank, as counts for each of `ranks` ranks.
fn shares(men: u8, allowed: Range<usize>, most: u8, ranks: usize) -> Vec<Vec<u8>> {
    let mut ways: Vec<(Vec<u8>, u8)> = vec![(vec![0; ranks], men)];
    for rank in allowed {
        ways = ways
            .into_iter()
            .flat_map(|(share, left)| {
                (0..=left.min(most)).map(move |here| {
                    let mut share = share.clone();
                    share[rank] = here;
                    (share, left - here)
                })
            })
            .collect();
    }
    ways.into_iter()
        .filter(|(_, left)| *left == 0)
        .map(|(share, _)| share)
        .collect()
}
