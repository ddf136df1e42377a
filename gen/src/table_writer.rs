//! Writing solved slices as tables: which codes, in which order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use petrov_games::{Army, Colour, Game, Material, Rulebook, View};
use petrov_probe::format::{HeaderParts, PaletteEntry, SideParts};
use petrov_probe::pack::Packing;
use petrov_probe::{DigitOrder, Metric, Score, SliceIndex, free_entries};
use rayon::prelude::*;

use crate::build::{BuildError, Progress, TableReport};
use crate::clock::Meter;
use crate::plan::{PlannedTable, orders};
use crate::solved::Side;
use crate::stored::{StoredOrder, StoredOrders};
use crate::summary::Summary;
use crate::values::{GAP_OUTCOME, Values};
use crate::write::{self, WriteError};

/// Writes tables of solved slices.
pub(crate) struct TableWriter<'a, G, R> {
    pub(crate) game: &'a G,
    pub(crate) rulebook: &'a R,
    pub(crate) progress: &'a Progress,
}

impl<G: Game, R: Rulebook> TableWriter<'_, G, R> {
    /// Writes a table of a slice, whose sides are those of the material's
    /// views.
    pub(crate) fn write(
        &self,
        material: Material,
        planned: &PlannedTable,
        sides: &[Arc<Side<R::Set>>],
    ) -> Result<TableReport, BuildError> {
        self.progress
            .set_step("writing", &format_args!("{material}.{}", planned.metric));
        let meter = Meter::default();
        let (bytes, positions) = meter.measure(|| self.write_measured(material, planned, sides, &meter))?;
        Ok(TableReport {
            material,
            metric: planned.metric,
            built: true,
            positions,
            bytes,
            path: planned.path.clone(),
            solve_cpu_seconds: 0.0,
            write_cpu_seconds: meter.seconds(),
        })
    }

    /// Gives the table's bytes and its positions, no symmetry used.
    fn write_measured(
        &self,
        material: Material,
        planned: &PlannedTable,
        sides: &[Arc<Side<R::Set>>],
        meter: &Meter,
    ) -> Result<(u64, u64), BuildError> {
        let metric = planned.metric;
        let views: Vec<ViewOfSide<'_, R>> = sides
            .iter()
            .map(|side| ViewOfSide::new(self.rulebook, side, metric, meter))
            .collect();
        let mut parts = HeaderParts {
            family: G::FAMILY.to_owned(),
            metric,
            free_entries: free_entries(self.rulebook, metric),
            fingerprint: self.game.fingerprint().bytes(),
            game: self.game.name().to_owned(),
            material: material.to_string(),
            block_bytes: BLOCK_BYTES,
            dictionary: Vec::new(),
            sides: Vec::new(),
        };
        for (view, of_side) in material.views().iter().zip(&views) {
            parts.sides.push(SideParts {
                to_move: if *view == View::White {
                    Colour::White
                } else {
                    Colour::Black
                },
                order: DigitOrder::SOLVING.code(),
                entries: of_side.side.index.len(),
                row: 0,
                palette: of_side.palette.clone(),
                stored: of_side.stored,
                longest_win: None,
                mated: self.rulebook.has_mate().then(|| of_side.side.mated.load(Relaxed)),
            });
        }
        let mut stored = Vec::new();
        for (number, view) in material.views().iter().enumerate() {
            let order = self.best_order(
                material.armies(*view),
                &views[number],
                &parts,
                number,
                &planned.path,
                meter,
            )?;
            set_order(&mut parts.sides[number], order.index());
            parts.sides[number].longest_win = views[number].longest_win(&order, meter);
            stored.push(order);
        }
        let source = |side: usize, range: Range<u64>, codes: &mut [u16]| {
            let length = range.end - range.start;
            views[side].codes(&stored[side], range, codes);
            self.progress.done.fetch_add(length, Relaxed);
        };
        let bytes = write::write_measured(&planned.path, &parts, &source, LEVELS[metric as usize], meter)?.bytes;
        let counts = views.iter().flat_map(|view| &view.palette).map(|entry| entry.count);
        Ok((bytes, counts.sum()))
    }

    /// The digit order in which a side compresses best, by trial on some of
    /// its blocks: of all orders on a few, then of the best ones on more.
    fn best_order<'s>(
        &'s self,
        armies: (Army, Army),
        of_side: &ViewOfSide<'s, R>,
        parts: &HeaderParts,
        number: usize,
        path: &Path,
        meter: &Meter,
    ) -> Result<StoredOrder<'s, R>, BuildError> {
        let (own, opp) = armies;
        let rulebook = self.rulebook;
        let stored = StoredOrders::new(rulebook, own, opp, &of_side.side.index);
        let order = |order: &DigitOrder| stored.get(*order).expect("the slice has positions in any order");
        let candidates = orders(rulebook, &own, &opp);
        if !parts.sides[number].packing().stores() || candidates.len() < 2 {
            return Ok(order(&DigitOrder::SOLVING));
        }
        stored.prepare(&candidates);
        // The first of equals, so that the choice is always the same.
        let mut candidates: Vec<_> = candidates.iter().map(order).enumerate().collect();
        for (kept, trial_blocks, level) in TRIALS {
            let bytes = candidates
                .par_iter()
                .map(|(_, order)| {
                    meter.measure(|| {
                        let mut parts = parts.clone();
                        set_order(&mut parts.sides[number], order.index());
                        let count = parts.sides[number].block_count(parts.block_bytes);
                        let step = count.div_ceil(trial_blocks).max(1);
                        // From the middle: first and last blocks are least like the others.
                        let blocks: Vec<u64> = (0..count).skip(step as usize / 2).step_by(step as usize).collect();
                        let source =
                            |_: usize, range: Range<u64>, codes: &mut [u16]| of_side.codes(order, range, codes);
                        let tried = write::compressed_bytes(path, &parts, &source, number, &blocks, level)?;
                        // Orders differ in how much they pack, by folding and padding.
                        let side = &parts.sides[number];
                        let whole = side.packing().bytes(side.places().count());
                        let bytes = u128::from(tried.bytes) * u128::from(whole) / u128::from(tried.packed_bytes.max(1));
                        Ok(bytes)
                    })
                })
                .collect::<Result<Vec<u128>, WriteError>>()?;
            let mut ranked: Vec<_> = candidates.into_iter().zip(bytes).collect();
            ranked.sort_by_key(|((n, _), bytes)| (*bytes, *n));
            candidates = ranked.into_iter().map(|(candidate, _)| candidate).take(kept).collect();
        }
        Ok(candidates.swap_remove(0).1)
    }
}

/// Describes a side as stored by an index.
fn set_order<B: petrov_games::Bits>(side: &mut SideParts, index: &SliceIndex<B>) {
    side.order = index.order().code();
    side.entries = index.len();
    side.row = padded_row(side.packing(), index.row());
}

/// The row length to pad: 0 where that changes nothing, and where rows are so
/// few or so short that it brings nothing or costs much.
fn padded_row(packing: Packing, row: u64) -> u32 {
    let per_byte = u64::from(packing.per_byte());
    let pays = per_byte > 1 && PADDED_ROWS.contains(&row) && !row.is_multiple_of(per_byte);
    if pays { row as u32 } else { 0 }
}

/// Levels of compression by metric. For distances the highest takes three
/// times the work for one byte in a hundred.
const LEVELS: [i32; 3] = [write::DEFAULT_LEVEL, 16, 16];

/// Packed bytes of a block.
const BLOCK_BYTES: u32 = 1 << 16;

/// Lengths of rows that are padded.
const PADDED_ROWS: Range<u64> = 8..2000;

/// Trials of digit orders: how many the trial keeps, on how many blocks and
/// at which level. Orders that do well at a low level do well at the final one.
const TRIALS: [(usize, u64, i32); 2] = [(4, 2, 6), (1, 6, 6)];

/// One side of a slice as a table of one metric shows it.
struct ViewOfSide<'a, R: Rulebook> {
    side: &'a Side<R::Set>,
    palette: Vec<PaletteEntry>,
    stored: u32,
    /// For each score (distance times eight plus value) with and without free
    /// captures: its code, or which ones an entry may hold.
    codes: Vec<[u16; 2]>,
    /// Distances are left out: the values come from another metric's.
    only_value: bool,
}

fn slot(score: Score) -> usize {
    usize::from(score.distance()) << 3 | usize::from(score.to_bits() >> 13)
}

impl<'a, R: Rulebook> ViewOfSide<'a, R> {
    fn new(rulebook: &R, side: &'a Side<R::Set>, metric: Metric, meter: &Meter) -> Self {
        let only_value = metric == Metric::Wld;
        let free = free_entries(rulebook, metric);
        let mut counts: BTreeMap<(bool, i32), (Score, u64, u64)> = BTreeMap::new();
        let mut sums: BTreeMap<i32, (Score, u64, u64)> = BTreeMap::new();
        for (bits, count) in Summary::of(side, free, meter).scores {
            let score = Score::from_bits(bits);
            let score = if only_value {
                Score::new(score.value(), 0)
            } else {
                score
            };
            let sum = sums.entry(score.preference()).or_insert((score, 0, 0));
            sum.1 += count.positions;
            sum.2 += count.stored;
        }
        for (preference, sum) in sums {
            counts.insert((sum.2 == 0, preference), sum);
        }
        let mut codes = Vec::new();
        let mut palette = Vec::new();
        for (code, (score, positions, _)) in counts.values().enumerate() {
            if codes.len() <= slot(*score) {
                codes.resize(slot(*score) + 1, 0);
            }
            codes[slot(*score)] = code as u16;
            palette.push(PaletteEntry {
                value: score.value50(),
                distance: score.distance(),
                count: *positions,
            });
        }
        let stored = counts.keys().filter(|(unused, _)| !unused).count() as u32;
        let loss = palette.iter().position(|entry| entry.score().is_loss());
        let loss = loss.filter(|code| (*code as u32) < stored);
        let codes = codes
            .iter()
            .enumerate()
            .map(|(slot, &code)| {
                let score = Score::from_bits((slot >> 3) as u16 | (slot as u16 & 7) << 13);
                let freed = match loss {
                    _ if free.frees(score) => write::FREE,
                    Some(loss) if free.up_to_capture && score.is_draw() => write::one_of(code, loss as u16),
                    _ => code,
                };
                [code, freed]
            })
            .collect();
        Self {
            side,
            palette,
            stored,
            codes,
            only_value,
        }
    }

    fn score(&self, entry: u64) -> Score {
        let score = self.side.values.score(entry);
        if self.only_value {
            Score::new(score.value(), 0)
        } else {
            score
        }
    }

    /// The code of a score, or which ones an entry may hold.
    #[inline(always)]
    fn code(&self, score: Score, free: bool) -> u16 {
        self.codes.get(slot(score)).map_or(0, |codes| codes[usize::from(free)])
    }

    fn codes(&self, order: &StoredOrder<'_, R>, range: Range<u64>, codes: &mut [u16]) {
        let values = &self.side.values;
        let mut codes = codes.iter_mut();
        let mut put = |code: u16| {
            if let Some(slot) = codes.next() {
                *slot = code;
            }
        };
        if values.only_outcomes() {
            let codes: [u16; 8] = std::array::from_fn(|n| match n as u8 {
                outcome if outcome & 3 == GAP_OUTCOME => write::FREE,
                outcome => self.code(Values::score_of(outcome & 3), outcome > 3),
            });
            order.for_each(range, |entry| {
                put(codes[usize::from(values.outcome(entry) | u8::from(values.is_free(entry)) << 2)]);
            });
        } else {
            // Looking is a load for each entry.
            let frees = self.codes.iter().any(|[own, freed]| own != freed);
            order.for_each(range, |entry| {
                put(if values.is_gap(entry) {
                    write::FREE
                } else {
                    self.code(self.score(entry), frees && values.is_free(entry))
                });
            });
        }
    }

    /// The lowest stored index with the longest win.
    fn longest_win(&self, order: &StoredOrder<'_, R>, meter: &Meter) -> Option<u64> {
        let wins = self
            .palette
            .iter()
            .map(PaletteEntry::score)
            .filter(|score| score.is_win());
        let longest = wins.max_by_key(|score| score.distance())?;
        const CHUNK: u64 = 1 << 16;
        let len = order.index().len();
        (0..len.div_ceil(CHUNK)).into_par_iter().find_map_first(|chunk| {
            meter.measure(|| {
                let from = chunk * CHUNK;
                let (mut at, mut found) = (from, None);
                order.for_each(from..(from + CHUNK).min(len), |entry| {
                    if found.is_none() && !self.side.values.is_gap(entry) && self.score(entry) == longest {
                        found = Some(at);
                    }
                    at += 1;
                });
                found
            })
        })
    }
}
