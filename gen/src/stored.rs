//! From the order in which values are solved to the order in which they are
//! stored.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use petrov_games::Bits;
use petrov_games::draughts::{Board, Pieces, Rules};
use petrov_probe::{Army, Digit, DigitOrder, SliceIndex, set_rank, set_unrank};
use rayon::prelude::*;

/// The orders in which one side can be stored. They share what takes time to work out.
pub(crate) struct StoredOrders<'a, B> {
    rules: &'a Rules,
    board: &'a Board,
    own: Army,
    opp: Army,
    solving: &'a SliceIndex<B>,
    men: OnceLock<Arc<[u64]>>,
    kings: OnceLock<Arc<[u32]>>,
}

/// Finds the solving index of entries in stored order.
pub(crate) struct StoredOrder<'a, B> {
    solving: &'a SliceIndex<B>,
    stored: SliceIndex<B>,
    way: Way,
}

enum Way {
    /// Digit by digit.
    Digits {
        /// Start of a unit in solving order, by the stored men digit; none
        /// if they are counted alike.
        men: Option<Arc<[u64]>>,
        /// Place within the unit by the stored digits of the kings; none if
        /// they are counted alike.
        kings: Option<Arc<[u32]>>,
    },
    /// Placement by placement.
    Placements,
}

/// Most placements of kings alone that are tabulated where both indices fold
/// different digits.
const MAX_TABULATED: u64 = 1 << 22;

impl<'a, B: Bits> StoredOrders<'a, B> {
    pub(crate) fn new(rules: &'a Rules, board: &'a Board, own: Army, opp: Army, solving: &'a SliceIndex<B>) -> Self {
        Self {
            rules,
            board,
            own,
            opp,
            solving,
            men: OnceLock::new(),
            kings: OnceLock::new(),
        }
    }

    pub(crate) fn get(&self, order: DigitOrder) -> Option<StoredOrder<'a, B>> {
        let (own, opp, solving) = (self.own, self.opp, self.solving);
        let stored = SliceIndex::new(self.rules, self.board, own, opp, order)?;
        let kings_alike = order.own_kings_first == DigitOrder::SOLVING.own_kings_first;
        let folded = solving.len() != solving.unfolded();
        let (mut men, mut kings) = (None, None);
        if stored.len() != solving.len() || folded && !kings_alike {
            if own.men + opp.men > 0 || stored.len() > MAX_TABULATED || solving.len() > u64::from(u32::MAX) {
                let way = Way::Placements;
                return Some(StoredOrder { solving, stored, way });
            }
            let place = |first| {
                let index = &stored;
                (0..index.range(Digit::LastKings)).map(move |last| solving.rank(&index.place([0, first, last])) as u32)
            };
            let table = || (0..stored.range(Digit::FirstKings)).flat_map(place).collect();
            kings = Some(self.kings.get_or_init(table).clone());
        } else {
            if order.own_men_first != DigitOrder::SOLVING.own_men_first && own.men > 0 && opp.men > 0 {
                men = Some(self.men.get_or_init(|| self.men_table(&stored)).clone());
            }
            if !kings_alike && own.kings > 0 && opp.kings > 0 {
                kings = Some(self.kings.get_or_init(|| self.kings_table(&stored)).clone());
            }
        }
        let way = Way::Digits { men, kings };
        Some(StoredOrder { solving, stored, way })
    }

    fn men_table(&self, stored: &SliceIndex<B>) -> Arc<[u64]> {
        let starts: Vec<u64> = (0..stored.range(Digit::Men))
            .into_par_iter()
            .map(|digit| {
                let placed = stored.place([digit, 0, 0]);
                let only_men = Pieces {
                    own_kings: B::ZERO,
                    opp_kings: B::ZERO,
                    ..placed
                };
                self.solving.digits(&only_men)[Digit::Men as usize] * self.solving.scale(Digit::Men)
            })
            .collect();
        starts.into()
    }

    fn kings_table(&self, stored: &SliceIndex<B>) -> Arc<[u32]> {
        // Kings are counted over the squares the men leave, so the map is
        // the same for all units and any set of as many squares will do.
        let free = self.board.squares() - u32::from(self.own.men + self.opp.men);
        let region = B::below(free as u8);
        let (first_range, last_range) = (stored.range(Digit::FirstKings), stored.range(Digit::LastKings));
        let (first_scale, last_scale) = (
            self.solving.scale(Digit::FirstKings),
            self.solving.scale(Digit::LastKings),
        );
        let mut kings = Vec::with_capacity((first_range * last_range) as usize);
        for first in 0..first_range {
            let own_kings = set_unrank(first, self.own.kings, region);
            for last in 0..last_range {
                let opp_kings = set_unrank(last, self.opp.kings, region & !own_kings);
                let opp_digit = set_rank(opp_kings, region);
                let own_digit = set_rank(own_kings, region & !opp_kings);
                kings.push((opp_digit * first_scale + own_digit * last_scale) as u32);
            }
        }
        kings.into()
    }
}

impl<B: Bits> StoredOrder<'_, B> {
    /// The stored index.
    pub(crate) fn index(&self) -> &SliceIndex<B> {
        &self.stored
    }

    /// Calls `visit` with the solving index of each entry of a range, in
    /// stored order.
    #[inline]
    pub(crate) fn for_each(&self, range: Range<u64>, mut visit: impl FnMut(u64)) {
        let Way::Digits { men, kings } = &self.way else {
            for rank in range {
                visit(self.solving.rank(&self.stored.unrank(rank)));
            }
            return;
        };
        let stored = &self.stored;
        let significance = stored.order().significance;
        let ranges = significance.map(|digit| stored.range(digit));
        // Digits from the most to the least significant.
        let mut digits = [0u64; 3];
        let mut rest = range.start;
        for (digit, range) in digits.iter_mut().zip(ranges).rev() {
            *digit = rest % range;
            rest /= range;
        }
        let at = |digit: Digit| significance.iter().position(|other| *other == digit).unwrap_or(0);
        let (men_at, first_at, last_at) = (at(Digit::Men), at(Digit::FirstKings), at(Digit::LastKings));
        let (mut first_scale, mut last_scale) = (
            self.solving.scale(Digit::FirstKings),
            self.solving.scale(Digit::LastKings),
        );
        if stored.order().own_kings_first != DigitOrder::SOLVING.own_kings_first {
            // Only where one side has no kings: the other's are counted over
            // the same squares, whether they are called first or last.
            std::mem::swap(&mut first_scale, &mut last_scale);
        }
        let scales = [self.solving.scale(Digit::Men), first_scale, last_scale];
        let last_range = stored.range(Digit::LastKings);
        let least = significance[2];
        let mut left = range.end - range.start;
        while left > 0 {
            let run = (ranges[2] - digits[2]).min(left);
            // In a run only the least significant digit changes.
            let men_digit = digits[men_at];
            let unit = match men {
                Some(men) => men[men_digit as usize],
                None => men_digit * scales[0],
            };
            let kings_place = digits[first_at] * last_range + digits[last_at];
            let within = match kings {
                Some(kings) => u64::from(kings[kings_place as usize]),
                None => digits[first_at] * scales[1] + digits[last_at] * scales[2],
            };
            match (least, men, kings) {
                (Digit::Men, Some(men), _) => {
                    let men = &men[men_digit as usize..(men_digit + run) as usize];
                    men.iter().for_each(|unit| visit(unit + within));
                }
                (Digit::FirstKings, _, Some(kings)) => {
                    let kings = kings[kings_place as usize..].iter().step_by(last_range as usize);
                    kings
                        .take(run as usize)
                        .for_each(|within| visit(unit + u64::from(*within)));
                }
                (Digit::LastKings, _, Some(kings)) => {
                    let kings = &kings[kings_place as usize..(kings_place + run) as usize];
                    kings.iter().for_each(|within| visit(unit + u64::from(*within)));
                }
                _ => {
                    let (mut entry, step) = (unit + within, scales[least as usize]);
                    for _ in 0..run {
                        visit(entry);
                        entry += step;
                    }
                }
            }
            left -= run;
            digits[2] += run;
            if digits[2] == ranges[2] {
                digits[2] = 0;
                digits[1] += 1;
                if digits[1] == ranges[1] {
                    digits[1] = 0;
                    digits[0] += 1;
                }
            }
        }
    }
}
