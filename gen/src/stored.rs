//! From the order in which values are solved to the order in which they are
//! stored.

use std::ops::Range;

use petrov_games::Bits;
use petrov_games::draughts::{Board, Pieces, Rules};
use petrov_probe::{Army, Digit, DigitOrder, SliceIndex, set_rank, set_unrank};

/// Finds the solving index of entries in stored order.
pub(crate) struct StoredOrder<'a, B> {
    solving: &'a SliceIndex<B>,
    stored: SliceIndex<B>,
    way: Way,
}

enum Way {
    /// Digit by digit.
    Digits {
        /// Start of a unit in solving order, by the stored men digit; empty
        /// if they are counted alike.
        men: Vec<u64>,
        /// Place within the unit by the stored digits of the kings; empty if
        /// they are counted alike.
        kings: Vec<u32>,
    },
    /// Both indices fold different digits: placement by placement.
    Placements,
}

impl<'a, B: Bits> StoredOrder<'a, B> {
    pub(crate) fn new(
        rules: &Rules,
        board: &Board,
        own: Army,
        opp: Army,
        solving: &'a SliceIndex<B>,
        order: DigitOrder,
    ) -> Option<Self> {
        let stored = SliceIndex::new(rules, board, own, opp, order)?;
        let kings_alike = order.own_kings_first == DigitOrder::SOLVING.own_kings_first;
        let folded = solving.len() != solving.unfolded();
        if stored.len() != solving.len() || folded && !kings_alike {
            let way = Way::Placements;
            return Some(Self { solving, stored, way });
        }
        let mut men = Vec::new();
        if order.own_men_first != DigitOrder::SOLVING.own_men_first && own.men > 0 && opp.men > 0 {
            men = (0..stored.range(Digit::Men))
                .map(|digit| {
                    let placed = stored.place([digit, 0, 0]);
                    let only_men = Pieces {
                        own_kings: B::ZERO,
                        opp_kings: B::ZERO,
                        ..placed
                    };
                    solving.digits(&only_men)[Digit::Men as usize] * solving.scale(Digit::Men)
                })
                .collect();
        }
        let mut kings = Vec::new();
        if !kings_alike && own.kings > 0 && opp.kings > 0 {
            // Kings are counted over the squares the men leave, so the map is
            // the same for all units and any set of as many squares will do.
            let free = board.squares() - u32::from(own.men + opp.men);
            let region = B::below(free as u8);
            let (first_range, last_range) = (stored.range(Digit::FirstKings), stored.range(Digit::LastKings));
            kings.reserve((first_range * last_range) as usize);
            for first in 0..first_range {
                let own_kings = set_unrank(first, own.kings, region);
                for last in 0..last_range {
                    let opp_kings = set_unrank(last, opp.kings, region & !own_kings);
                    let opp_digit = set_rank(opp_kings, region);
                    let own_digit = set_rank(own_kings, region & !opp_kings);
                    let place =
                        opp_digit * solving.scale(Digit::FirstKings) + own_digit * solving.scale(Digit::LastKings);
                    kings.push(place as u32);
                }
            }
        }
        let way = Way::Digits { men, kings };
        Some(Self { solving, stored, way })
    }

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
        let men_scale = self.solving.scale(Digit::Men);
        let (mut first_scale, mut last_scale) = (
            self.solving.scale(Digit::FirstKings),
            self.solving.scale(Digit::LastKings),
        );
        if stored.order().own_kings_first != DigitOrder::SOLVING.own_kings_first {
            // Only where one side has no kings: the other's are counted over
            // the same squares, whether they are called first or last.
            std::mem::swap(&mut first_scale, &mut last_scale);
        }
        let last_range = stored.range(Digit::LastKings);
        let mut left = range.end - range.start;
        while left > 0 {
            let run = (ranges[2] - digits[2]).min(left);
            for _ in 0..run {
                let unit = match men.get(digits[men_at] as usize) {
                    Some(start) => *start,
                    None => digits[men_at] * men_scale,
                };
                let within = if kings.is_empty() {
                    digits[first_at] * first_scale + digits[last_at] * last_scale
                } else {
                    u64::from(kings[(digits[first_at] * last_range + digits[last_at]) as usize])
                };
                visit(unit + within);
                digits[2] += 1;
            }
            left -= run;
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
