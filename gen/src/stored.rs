//! From the order in which values are solved to the order in which they are
//! stored.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use petrov_games::{Army, Bits, Placement, Rulebook, Side};
use petrov_probe::{Digit, DigitOrder, SliceIndex};
use rayon::prelude::*;

/// The orders in which one side can be stored. They share what takes time to work out.
pub(crate) struct StoredOrders<'a, R: Rulebook> {
    rulebook: &'a R,
    own: Army,
    opp: Army,
    solving: &'a SliceIndex<R::Set>,
    standing: OnceLock<Arc<[u64]>>,
    moving: OnceLock<Arc<[u32]>>,
    /// An index for each choice of who is placed first; the rest of an order
    /// changes nothing that takes time.
    indices: [OnceLock<Option<SliceIndex<R::Set>>>; 4],
}

/// Finds the solving index of entries in stored order.
pub(crate) struct StoredOrder<'a, R: Rulebook> {
    solving: &'a SliceIndex<R::Set>,
    stored: SliceIndex<R::Set>,
    way: Way,
}

enum Way {
    /// Digit by digit.
    Digits {
        /// Start of a unit in solving order, by the stored digit of standing
        /// pieces; none if they are counted alike.
        standing: Option<Arc<[u64]>>,
        /// Place within the unit by the stored digits of the moving pieces;
        /// none if they are counted alike.
        moving: Option<Arc<[u32]>>,
    },
    /// Placement by placement.
    Placements,
}

/// Most placements of moving pieces alone that are tabulated where both
/// indices fold different digits.
pub(crate) const MAX_TABULATED: u64 = 1 << 22;

impl<'a, R: Rulebook> StoredOrders<'a, R> {
    pub(crate) fn new(rulebook: &'a R, own: Army, opp: Army, solving: &'a SliceIndex<R::Set>) -> Self {
        Self {
            rulebook,
            own,
            opp,
            solving,
            standing: OnceLock::new(),
            moving: OnceLock::new(),
            indices: [const { OnceLock::new() }; 4],
        }
    }

    /// Makes what several orders need, in parallel. Without it the first who
    /// asks makes it.
    pub(crate) fn prepare(&self, orders: &[DigitOrder]) {
        let mut choices: Vec<DigitOrder> = Vec::new();
        for order in orders {
            if choices.iter().all(|other| choice(other) != choice(order)) {
                choices.push(*order);
            }
        }
        choices.into_par_iter().for_each(|order| {
            self.index(order);
        });
    }

    fn index(&self, order: DigitOrder) -> Option<&SliceIndex<R::Set>> {
        let index = || SliceIndex::new(self.rulebook, &self.own, &self.opp, order);
        self.indices[choice(&order)].get_or_init(index).as_ref()
    }

    /// Not to be called from parallel loops: what it makes may take one, in
    /// which a thread that waits would come upon another call.
    pub(crate) fn get(&self, order: DigitOrder) -> Option<StoredOrder<'a, R>> {
        let solving = self.solving;
        let stored = self.index(order)?.with_significance(order.significance);
        let has_standing = [&self.own, &self.opp].map(|army| self.rulebook.standing(army) > 0);
        let has_moving = [&self.own, &self.opp].map(|army| !self.rulebook.moving(army).is_empty());
        let moving_alike = order.own_moving_first == DigitOrder::SOLVING.own_moving_first;
        let (mut standing, mut moving) = (None, None);
        if !has_standing[0] && !has_standing[1] && solving.len() != solving.unfolded() && !moving_alike {
            // Each folds what it places first.
            if stored.len() > MAX_TABULATED || solving.len() > u64::from(u32::MAX) {
                let way = Way::Placements;
                return Some(StoredOrder { solving, stored, way });
            }
            let table = || self.folded_table(&stored);
            moving = Some(self.moving.get_or_init(table).clone());
        } else {
            if order.own_standing_first != DigitOrder::SOLVING.own_standing_first && has_standing[0] && has_standing[1]
            {
                standing = Some(self.standing.get_or_init(|| self.standing_table(&stored)).clone());
            }
            if !moving_alike && has_moving[0] && has_moving[1] {
                moving = Some(self.moving.get_or_init(|| self.moving_table(&stored)).clone());
            }
        }
        let way = Way::Digits { standing, moving };
        Some(StoredOrder { solving, stored, way })
    }

    /// Places of moving pieces where nothing stands, and the stored index
    /// folds what the solving one places last.
    fn folded_table(&self, stored: &SliceIndex<R::Set>) -> Arc<[u32]> {
        let firsts = stored.range(Digit::FirstMoving);
        let [_, last] = stored.moving();
        let places: Vec<Vec<u32>> = (0..firsts)
            .into_par_iter()
            .map(|first| {
                let mut placement: R::Placement = stored.place([0, first, 0]);
                let own = placement.side(Side::Own);
                for square in placement.side(Side::Opponent).squares() {
                    placement.take(square);
                }
                let mut places = Vec::with_capacity(stored.range(Digit::LastMoving) as usize);
                last.each(
                    &placement,
                    Side::Opponent,
                    self.rulebook.squares() & !own,
                    &mut |all: &R::Placement| {
                        places.push(self.solving.rank(all) as u32);
                    },
                );
                places
            })
            .collect();
        places.concat().into()
    }

    fn standing_table(&self, stored: &SliceIndex<R::Set>) -> Arc<[u64]> {
        let starts: Vec<u64> = (0..stored.range(Digit::Standing))
            .into_par_iter()
            .map(|digit| {
                // Classes have the same representatives in all orders.
                let pieces: R::Placement = stored.standing(digit);
                self.solving.standing_class(&pieces).0 * self.solving.scale(Digit::Standing)
            })
            .collect();
        starts.into()
    }

    fn moving_table(&self, stored: &SliceIndex<R::Set>) -> Arc<[u32]> {
        // Moving pieces are counted over the squares that the standing ones
        // leave, so the map is the same for all units and any set of as many
        // squares will do.
        let standing = self.rulebook.standing(&self.own) + self.rulebook.standing(&self.opp);
        let free = self.rulebook.squares().count() - u32::from(standing);
        let region = R::Set::below(free as u8);
        let [own, opp] = stored.moving();
        let (first_range, last_range) = (stored.range(Digit::FirstMoving), stored.range(Digit::LastMoving));
        let (first_scale, last_scale) = (
            self.solving.scale(Digit::FirstMoving),
            self.solving.scale(Digit::LastMoving),
        );
        let places: Vec<Vec<u32>> = (0..first_range)
            .into_par_iter()
            .map(|first| {
                let mut pieces = R::Placement::default();
                own.place(first, &mut pieces, Side::Own, region);
                let mut places = Vec::with_capacity(last_range as usize);
                let rest = region & !pieces.side(Side::Own);
                opp.each(&pieces, Side::Opponent, rest, &mut |all: &R::Placement| {
                    let opp_digit = opp.rank(all, Side::Opponent, region);
                    let own_digit = own.rank(all, Side::Own, region & !all.side(Side::Opponent));
                    places.push((opp_digit * first_scale + own_digit * last_scale) as u32);
                });
                places
            })
            .collect();
        places.concat().into()
    }
}

/// Which index an order needs: orders of one choice differ in which digit
/// changes fastest.
fn choice(order: &DigitOrder) -> usize {
    usize::from(order.own_standing_first) * 2 + usize::from(order.own_moving_first)
}

impl<R: Rulebook> StoredOrder<'_, R> {
    /// The stored index.
    pub(crate) fn index(&self) -> &SliceIndex<R::Set> {
        &self.stored
    }

    /// Calls `visit` with the solving index of each entry of a range, in
    /// stored order.
    #[inline]
    pub(crate) fn for_each(&self, range: Range<u64>, mut visit: impl FnMut(u64)) {
        let Way::Digits { standing, moving } = &self.way else {
            for rank in range {
                visit(self.solving.rank::<R::Placement>(&self.stored.unrank(rank)));
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
        let (standing_at, first_at, last_at) = (at(Digit::Standing), at(Digit::FirstMoving), at(Digit::LastMoving));
        let (mut first_scale, mut last_scale) = (
            self.solving.scale(Digit::FirstMoving),
            self.solving.scale(Digit::LastMoving),
        );
        if stored.order().own_moving_first != DigitOrder::SOLVING.own_moving_first {
            // Only where one side has no moving pieces: the other's are counted over
            // the same squares, whether they are called first or last.
            std::mem::swap(&mut first_scale, &mut last_scale);
        }
        let scales = [self.solving.scale(Digit::Standing), first_scale, last_scale];
        let last_range = stored.range(Digit::LastMoving);
        let least = significance[2];
        let mut left = range.end - range.start;
        while left > 0 {
            let run = (ranges[2] - digits[2]).min(left);
            // In a run only the least significant digit changes.
            let standing_digit = digits[standing_at];
            let unit = match standing {
                Some(standing) => standing[standing_digit as usize],
                None => standing_digit * scales[0],
            };
            let moving_place = digits[first_at] * last_range + digits[last_at];
            let within = match moving {
                Some(moving) => u64::from(moving[moving_place as usize]),
                None => digits[first_at] * scales[1] + digits[last_at] * scales[2],
            };
            match (least, standing, moving) {
                (Digit::Standing, Some(standing), _) => {
                    let standing = &standing[standing_digit as usize..(standing_digit + run) as usize];
                    standing.iter().for_each(|unit| visit(unit + within));
                }
                (Digit::FirstMoving, _, Some(moving)) => {
                    let moving = moving[moving_place as usize..].iter().step_by(last_range as usize);
                    moving
                        .take(run as usize)
                        .for_each(|within| visit(unit + u64::from(*within)));
                }
                (Digit::LastMoving, _, Some(moving)) => {
                    let moving = &moving[moving_place as usize..(moving_place + run) as usize];
                    moving.iter().for_each(|within| visit(unit + u64::from(*within)));
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
