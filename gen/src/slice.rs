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

/// The men of a unit seen by White, and which halves are kept: a half that is
/// the turned image of another is not.
struct UnitPlace<B> {
    men: UnitMen<B>,
    keep: [bool; 2],
}

/// Where the men of a unit stand, White's and Black's, seen by White.
enum UnitMen<B> {
    Still(B, B),
    /// How many stand on each rank.
    Ranks(Vec<u8>, Vec<u8>),
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
            if threads > 1 && (level.len() < 2 * threads && unit_positions > TASK_POSITIONS) {
                let mut unit = Unit::new(threads * BLOCKS_PER_THREAD);
                for place in &level {
                    self.solve_unit(&frame, solved, &mut unit, &sides, place);
                    done.fetch_add(unit_positions, Relaxed);
                }
            } else {
                let units = (TASK_POSITIONS / unit_positions).max(1) as usize;
                level.par_chunks(units).for_each_init(
                    || Unit::new(1),
                    |unit, places| {
                        for place in places {
                            self.solve_unit(&frame, solved, unit, &sides, place);
                        }
                        done.fetch_add(unit_positions * places.len() as u64, Relaxed);
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
    fn levels(&self, material: Material, sides: &[Arc<Side<B>>]) -> Vec<Vec<UnitPlace<B>>> {
        let mut levels: Vec<Vec<UnitPlace<B>>> = Vec::new();
        let mut add = |level: u32, place: UnitPlace<B>| {
            let level = level as usize;
            if levels.len() <= level {
                levels.resize_with(level + 1, Vec::new);
            }
            levels[level].push(place);
        };
        if self.sideways && material.men() > 0 {
            self.rank_units(material, &mut add);
        } else {
            self.still_units(material, sides, &mut add);
        }
        levels.reverse();
        levels.retain(|level| !level.is_empty());
        levels
    }

    /// Units of men that stand still: one for each way to place them.
    fn still_units(&self, material: Material, sides: &[Arc<Side<B>>], add: &mut impl FnMut(u32, UnitPlace<B>)) {
        let white = &sides[0].index;
        for digit in 0..white.range(Digit::Men) {
            let mut men = white.place([digit, 0, 0]);
            (men.own_kings, men.opp_kings) = (B::ZERO, B::ZERO);
            let keep = if material.men() == 0 {
                [true, !material.is_even()]
            } else if material.is_even() {
                let image = white.digits(&self.generator.turned(&men))[0];
                if image < digit {
                    continue;
                }
                [true, image != digit]
            } else {
                [true, true]
            };
            let men_at = UnitMen::Still(men.own_men, men.opp_men);
            add(advancement(self.board, &men), UnitPlace { men: men_at, keep });
        }
    }

    /// Units of men that keep their ranks: one for each way to share them out
    /// among the ranks.
    fn rank_units(&self, material: Material, add: &mut impl FnMut(u32, UnitPlace<B>)) {
        let ranks = usize::from(self.board.ranks());
        let most = self.board.rank_set(0).count_ones() as u8;
        let white = shares(material.white().men, 0..ranks - 1, most, ranks);
        let black = shares(material.black().men, 1..ranks, most, ranks);
        let weight = |share: &[u8]| -> u32 {
            share
                .iter()
                .enumerate()
                .map(|(rank, men)| rank as u32 * u32::from(*men))
                .sum()
        };
        let turned = |share: &[u8]| -> Vec<u8> { share.iter().rev().copied().collect() };
        for white in &white {
            for black in &black {
                let image = (turned(black), turned(white));
                let keep = if material.is_even() {
                    if image < (white.clone(), black.clone()) {
                        continue;
                    }
                    [true, image != (white.clone(), black.clone())]
                } else {
                    [true, true]
                };
                let level = weight(white) + weight(&turned(black));
                add(
                    level,
                    UnitPlace {
                        men: UnitMen::Ranks(white.clone(), black.clone()),
                        keep,
                    },
                );
            }
        }
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

    fn solve_unit(
        &self,
        frame: &UnitFrame<'_, B>,
        solved: &Solved<B>,
        unit: &mut Unit<B>,
        sides: &[Arc<Side<B>>],
        place: &UnitPlace<B>,
    ) {
        let men = match &place.men {
            UnitMen::Still(white, black) => Men::still(&self.generator, *white, *black),
            UnitMen::Ranks(white, black) => {
                Men::sideways(&self.generator, self.arrangements(white), self.arrangements(black))
            }
        };
        unit.solve(frame, solved, &men);
        for half in 0..frame.halves() {
            if place.keep[half] {
                self.keep(frame, unit, half, &sides[half.min(sides.len() - 1)], &men);
            }
        }
    }

    /// Copies a solved half to its place among the slice's values. Sets of
    /// kings come in the same order in both: leaving out those that meet other
    /// pieces does not change the order of the rest.
    fn keep(&self, frame: &UnitFrame<'_, B>, unit: &Unit<B>, half: usize, side: &Side<B>, men: &Men<B>) {
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
    }
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
