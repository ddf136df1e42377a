//! Solving one slice: all its units, in an order in which conversions lead to
//! units that are done.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use petrov_games::Bits;
use petrov_games::draughts::{Board, Generator, Pieces, Rules};
use petrov_probe::{Digit, Material, Metric, SliceIndex, View};
use rayon::prelude::*;

use crate::kings::KingSets;
use crate::solved::{Side, Solved};
use crate::unit::{Rows, Unit, UnitFrame};
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

/// A unit's men seen by White, and where its halves are kept.
struct UnitPlace<B> {
    men: [B; 2],
    /// Value of the men digit for each half; `None` if the half is the turned
    /// image of one that is kept.
    digits: [Option<u64>; 2],
}

impl<'a, B: Bits> SliceSolver<'a, B> {
    pub(crate) fn new(rules: &'a Rules, board: &'a Board, generator: Arc<Generator<B>>) -> Self {
        Self {
            rules,
            board,
            generator,
            symmetries: board.symmetries(rules, false),
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
                let mut unit = Unit::new(&frame, threads * BLOCKS_PER_THREAD);
                for place in &level {
                    self.solve_unit(&frame, solved, &mut unit, &sides, place);
                    done.fetch_add(unit_positions, Relaxed);
                }
            } else {
                let units = (TASK_POSITIONS / unit_positions).max(1) as usize;
                level.par_chunks(units).for_each_init(
                    || Unit::new(&frame, 1),
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
        let white = &sides[0].index;
        let mut levels: Vec<Vec<UnitPlace<B>>> = Vec::new();
        for digit in 0..white.range(Digit::Men) {
            let mut men = white.place([digit, 0, 0]);
            (men.own_kings, men.opp_kings) = (B::ZERO, B::ZERO);
            let turned = self.generator.turned(&men);
            let other = match sides.get(1) {
                Some(black) => Some(black.index.digits(&turned)[0]),
                None if material.men() == 0 => None,
                None => {
                    let image = white.digits(&turned)[0];
                    if image < digit {
                        continue;
                    }
                    (image != digit).then_some(image)
                }
            };
            let level = advancement(self.board, &men) as usize;
            if levels.len() <= level {
                levels.resize_with(level + 1, Vec::new);
            }
            levels[level].push(UnitPlace {
                men: [men.own_men, men.opp_men],
                digits: [Some(digit), other],
            });
        }
        levels.reverse();
        levels.retain(|level| !level.is_empty());
        levels
    }

    fn solve_unit(
        &self,
        frame: &UnitFrame<'_, B>,
        solved: &Solved<B>,
        unit: &mut Unit<B>,
        sides: &[Arc<Side<B>>],
        place: &UnitPlace<B>,
    ) {
        unit.solve(frame, solved, place.men);
        for half in 0..frame.halves() {
            if let Some(digit) = place.digits[half] {
                let side = &sides[half.min(sides.len() - 1)];
                let men = place.men[0] | place.men[1];
                let men = if half == 0 { men } else { self.generator.turned_set(men) };
                self.keep(frame, unit, half, side, men, digit);
            }
        }
    }

    /// Copies a solved half to its place among the slice's values. Sets of
    /// kings come in the same order in both: leaving out those that meet other
    /// pieces does not change the order of the rest.
    fn keep(&self, frame: &UnitFrame<'_, B>, unit: &Unit<B>, half: usize, side: &Side<B>, men: B, digit: u64) {
        let (own, opp) = (frame.own[half], frame.opp[half]);
        let mut cursor = side.values.cursor(digit * side.index.scale(Digit::Men));
        let cells = unit.cells(half);
        for row in 0..frame.row_count(half) as u32 {
            let opp_kings = opp.set(frame.row_set(half, row));
            if !(opp_kings & men).is_empty() {
                continue;
            }
            let taken = opp_kings | men;
            let cell = cells.row(row);
            for set in 0..own.len() as u32 {
                if (own.set(set) & taken).is_empty() {
                    let (score, free) = cell(set);
                    cursor.push(score, free);
                }
            }
        }
    }
}
