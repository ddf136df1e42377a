//! Solving one slice: all its units, in an order in which conversions lead to
//! units that are done.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use petrov_games::Bits;
use petrov_games::draughts::{Board, Generator, ManMove, Pieces, Rules};
use petrov_probe::{Digit, Material, Metric, SliceIndex, View, binomial, set_unrank};
use rayon::prelude::*;

use crate::kings::KingSets;
use crate::solved::{Side, Solved};
use crate::unit::{Men, Rows, Unit, UnitFrame};
use crate::values::Values;

/// Positions below which a task takes several units at a time.
const TASK_POSITIONS: u64 = 1 << 16;

/// Tasks per thread into which a level is cut at least, if it has the units.
const TASKS_PER_THREAD: usize = 4;

/// Blocks of rows per thread where one unit is solved by all threads.
const BLOCKS_PER_THREAD: usize = 8;

/// Solves the slices of one rule set.
pub(crate) struct SliceSolver<'a, B> {
    rules: &'a Rules,
    board: &'a Board,
    generator: Arc<Generator<B>>,
    symmetries: Vec<Vec<u8>>,
    /// Men move along their rank, too.
    sideways: bool,
    kings: HashMap<u8, Arc<KingSets<B>>>,
}

/// The number of men's steps made by both sides, from their own first rank.
fn advancement<B: Bits>(board: &Board, men: &Pieces<B>) -> u32 {
    let rank = |square: u8| u32::from(board.coordinates(square).1);
    let own: u32 = men.own_men.squares().map(rank).sum();
    let last = u32::from(board.ranks()) - 1;
    let opp: u32 = men.opp_men.squares().map(|square| last - rank(square)).sum();
    own + opp
}

/// Units that can be solved at the same time. There may be tens of millions
/// of one placement each, so they are kept as numbers.
enum Level {
    /// Men that stand still: values of the men digit, White to move.
    Still(Vec<u64>),
    /// Men that keep their ranks: how many of White's and of Black's stand on
    /// each rank, seen by White.
    Ranks(Vec<(Vec<u8>, Vec<u8>)>),
}

impl Level {
    fn len(&self) -> usize {
        match self {
            Self::Still(digits) => digits.len(),
            Self::Ranks(shares) => shares.len(),
        }
    }
}

impl<'a, B: Bits> SliceSolver<'a, B> {
    pub(crate) fn new(rules: &'a Rules, board: &'a Board, generator: Arc<Generator<B>>) -> Self {
        Self {
            rules,
            board,
            generator,
            symmetries: board.symmetries(rules, false),
            sideways: rules.man_move != ManMove::DiagonalForward,
            kings: HashMap::new(),
        }
    }

    fn kings(&mut self, count: u8) -> Arc<KingSets<B>> {
        let (board, generator, symmetries) = (self.board, &self.generator, &self.symmetries);
        self.kings
            .entry(count)
            .or_insert_with(|| Arc::new(KingSets::new(board, generator, symmetries, count)))
            .clone()
    }

    /// Solves a slice and leaves it in `solved`, which must hold every slice
    /// that this one converts into. `done` is counted up by the positions
    /// solved.
    pub(crate) fn solve(&mut self, material: Material, metric: Metric, solved: &mut Solved<B>, done: &AtomicU64) {
        let (white, black) = (material.white(), material.black());
        let own = [self.kings(white.kings), self.kings(black.kings)];
        let sides: Vec<Arc<Side<B>>> = material
            .views()
            .iter()
            .map(|view| {
                let (own, opp) = material.armies(*view);
                let index = SliceIndex::for_solving(self.rules, self.board, own, opp)
                    .expect("the plan holds only slices that have positions");
                let values = Values::new(metric, index.len());
                let side = Arc::new(Side { index, values });
                solved.insert(own, opp, side.clone());
                side
            })
            .collect();
        let single = material.men() == 0 && material.is_even();
        let rows = [View::White, View::Black].map(|view| {
            let side = &sides[sides.len().min(view as usize + 1) - 1];
            self.rows(material, &side.index, &own[1 - view as usize])
        });
        let generator = self.generator.clone();
        let frame = UnitFrame {
            generator: &generator,
            metric,
            own: [&own[0], &own[1]],
            opp: [&own[1], &own[0]],
            rows,
            single,
            sideways: self.sideways && material.men() > 0,
        };
        let solved = &*solved;
        let threads = rayon::current_num_threads();
        let unit_positions = sides
            .iter()
            .map(|side| side.index.scale(Digit::Men))
            .sum::<u64>()
            .max(1);
        for level in self.levels(material, &sides) {
            if threads > 1 && level.len() < 2 * threads && unit_positions > TASK_POSITIONS {
                let mut unit = Unit::new(threads * BLOCKS_PER_THREAD);
                for number in 0..level.len() {
                    let positions = self.solve_unit(&frame, solved, &mut unit, material, &sides, &level, number);
                    done.fetch_add(positions, Relaxed);
                }
            } else {
                let most = (TASK_POSITIONS / unit_positions) as usize;
                let each = most.min(level.len() / (TASKS_PER_THREAD * threads)).max(1);
                (0..level.len().div_ceil(each)).into_par_iter().for_each_init(
                    || Unit::new(1),
                    |unit, task| {
                        let units = task * each..((task + 1) * each).min(level.len());
                        let positions = units
                            .map(|number| self.solve_unit(&frame, solved, unit, material, &sides, &level, number))
                            .sum();
                        done.fetch_add(positions, Relaxed);
                    },
                );
            }
        }
    }

    fn rows(&self, material: Material, index: &SliceIndex<B>, opp: &KingSets<B>) -> Rows {
        if material.men() > 0 || self.symmetries.len() < 2 {
            return Rows::Plain;
        }
        let representatives: Vec<u32> = (0..index.range(Digit::FirstKings))
            .map(|digit| {
                let kings = index.place([0, digit, 0]).opp_kings;
                petrov_probe::set_rank(kings, self.generator.playable()) as u32
            })
            .collect();
        let classes = (0..opp.len() as u32)
            .map(|set| {
                let pieces = Pieces {
                    opp_kings: opp.set(set),
                    ..Pieces::default()
                };
                let row = index.digits(&pieces)[Digit::FirstKings as usize] as u32;
                let symmetries = (0..self.symmetries.len() as u8)
                    .filter(|symmetry| opp.image(*symmetry, set) == representatives[row as usize])
                    .collect();
                (row, symmetries)
            })
            .collect();
        Rows::Folded {
            classes,
            representatives,
        }
    }

    /// The units in groups that can be solved in turn: those in which the men
    /// have come further first, because men only go forward.
    fn levels(&self, material: Material, sides: &[Arc<Side<B>>]) -> Vec<Level> {
        if self.sideways && material.men() > 0 {
            let shares = by_level(self.rank_units(material));
            shares.into_iter().map(Level::Ranks).collect()
        } else {
            let digits = by_level(self.still_units(material, &sides[0].index));
            digits.into_iter().map(Level::Still).collect()
        }
    }

    /// Men alone, placed by a value of the men digit, White to move.
    fn men_at(&self, white: &SliceIndex<B>, digit: u64) -> Pieces<B> {
        Pieces {
            own_kings: B::ZERO,
            opp_kings: B::ZERO,
            ..white.place([digit, 0, 0])
        }
    }

    /// Units of men that stand still, by advancement: one for each way to place
    /// them, and only one of two that are turned images of each other in a
    /// slice whose sides are alike.
    fn still_units(&self, material: Material, white: &SliceIndex<B>) -> impl Iterator<Item = (u32, u64)> {
        let twins = material.is_even() && material.men() > 0;
        let level = move |digit: u64| {
            let men = self.men_at(white, digit);
            let twin = twins && white.digits(&self.generator.turned(&men))[0] < digit;
            (!twin).then(|| advancement(self.board, &men))
        };
        // In batches, as all at once would take more memory than the units.
        const BATCH: u64 = 1 << 20;
        let count = white.range(Digit::Men);
        (0..count.div_ceil(BATCH)).flat_map(move |batch| {
            let digits = batch * BATCH..((batch + 1) * BATCH).min(count);
            let levels: Vec<Option<u32>> = digits.clone().into_par_iter().map(level).collect();
            digits.zip(levels).filter_map(|(digit, level)| Some((level?, digit)))
        })
    }

    /// Units of men that keep their ranks with their advancement: one for each
    /// way to share them out among the ranks, turned images as above.
    fn rank_units(&self, material: Material) -> impl Iterator<Item = (u32, (Vec<u8>, Vec<u8>))> {
        let ranks = usize::from(self.board.ranks());
        let most = self.board.rank_set(0).count_ones() as u8;
        let white = shares(material.white().men, 0..ranks - 1, most, ranks);
        let black = shares(material.black().men, 1..ranks, most, ranks);
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

    /// All ways in which men can stand with so many on each rank.
    fn arrangements(&self, share: &[u8]) -> Vec<B> {
        let mut sets = vec![B::ZERO];
        for (rank, men) in share.iter().enumerate().filter(|(_, men)| **men > 0) {
            let region = B::narrow(self.board.rank_set(rank as u8));
            let ways = binomial(region.count(), *men);
            sets = (0..ways)
                .flat_map(|way| {
                    let on_rank = set_unrank(way, *men, region);
                    sets.iter().map(move |set| *set | on_rank).collect::<Vec<B>>()
                })
                .collect();
        }
        sets
    }

    /// Solves a unit of a level and keeps its values; gives the number of
    /// positions.
    #[expect(clippy::too_many_arguments, reason = "a unit, where it stands and where it goes")]
    fn solve_unit(
        &self,
        frame: &UnitFrame<'_, B>,
        solved: &Solved<B>,
        unit: &mut Unit<B>,
        material: Material,
        sides: &[Arc<Side<B>>],
        level: &Level,
        number: usize,
    ) -> u64 {
        // Of sides that are alike the second half is kept as the turned image
        // of another unit, if it is another.
        let (men, own_image) = match level {
            Level::Still(digits) => {
                let white = &sides[0].index;
                let men = self.men_at(white, digits[number]);
                let own_image = material.is_even() && self.generator.turned(&men) == men;
                (Men::still(&self.generator, men.own_men, men.opp_men), own_image)
            }
            Level::Ranks(shares) => {
                let (white, black) = &shares[number];
                let men = Men::sideways(&self.generator, self.arrangements(white), self.arrangements(black));
                let own_image = material.is_even() && turned_shares(white, black) == shares[number];
                (men, own_image)
            }
        };
        unit.solve(frame, solved, &men);
        let halves = if own_image { 1 } else { frame.halves() };
        (0..halves)
            .map(|half| {
                let side = &sides[half.min(sides.len() - 1)];
                self.keep(frame, unit, half, side, &men)
            })
            .sum()
    }

    /// Copies a solved half to its place among the slice's values. Sets of
    /// kings come in the same order in both: leaving out those that meet other
    /// pieces does not change the order of the rest.
    fn keep(&self, frame: &UnitFrame<'_, B>, unit: &Unit<B>, half: usize, side: &Side<B>, men: &Men<B>) -> u64 {
        let mut positions = 0;
        let (own, opp) = (frame.own[half], frame.opp[half]);
        let cells = unit.cells(half);
        let rows = frame.row_count(half) as u32;
        for (own_number, own_men) in men.own(half).iter().enumerate() {
            for (opp_number, opp_men) in men.opp(half).iter().enumerate() {
                if !(*own_men & *opp_men).is_empty() {
                    continue;
                }
                let pieces = Pieces {
                    own_men: *own_men,
                    opp_men: *opp_men,
                    ..Pieces::default()
                };
                let all_men = *own_men | *opp_men;
                let digit = if all_men.is_empty() {
                    0
                } else {
                    side.index.digits(&pieces)[Digit::Men as usize]
                };
                let mut cursor = side.values.cursor(digit * side.index.scale(Digit::Men));
                positions += side.index.scale(Digit::Men);
                for row in 0..rows {
                    let opp_kings = opp.set(frame.row_set(half, row));
                    if !(opp_kings & all_men).is_empty() {
                        continue;
                    }
                    let taken = opp_kings | all_men;
                    let cell = cells.row(opp_number as u32 * rows + row);
                    let first = (own_number * own.len()) as u32;
                    for set in 0..own.len() as u32 {
                        if (own.set(set) & taken).is_empty() {
                            let (score, free) = cell(first + set);
                            cursor.push(score, free);
                        }
                    }
                }
            }
        }
        positions
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

/// Steps made by men shared out among the ranks, from the first on.
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
