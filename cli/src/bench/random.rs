//! Random positions.

use petrov_games::{Army, Bits, Colour, Kind, Placement, Rulebook, Side, View};
use petrov_probe::{Material, SliceIndex};

/// Draws placements of exactly so many pieces, each as likely as any other.
pub(super) struct Draw<'g, R: Rulebook> {
    rulebook: &'g R,
    slices: Vec<SliceSide>,
    squares: Vec<u8>,
    random: Random,
}

/// A material with one side to move.
struct SliceSide {
    turn: Colour,
    own: Army,
    opponent: Army,
    /// The placements of this and all before.
    up_to: u64,
}

impl<'g, R: Rulebook> Draw<'g, R> {
    pub(super) fn new(rulebook: &'g R, materials: &[Material]) -> Self {
        let mut total = 0u64;
        let mut slices = Vec::new();
        for material in materials {
            for view in material.views() {
                let (own, opponent) = material.armies(*view);
                let placements = SliceIndex::unfolded_len(rulebook, &own, &opponent);
                total = total.saturating_add(placements.unwrap_or(0));
                slices.push(SliceSide {
                    turn: match view {
                        View::White => Colour::White,
                        View::Black => Colour::Black,
                    },
                    own,
                    opponent,
                    up_to: total,
                });
            }
        }
        Self {
            rulebook,
            slices,
            squares: rulebook.squares().squares().collect(),
            random: Random(0x5045_5452_4f56),
        }
    }

    pub(super) fn positions(&mut self, count: usize) -> Vec<R::Position> {
        let total = self.slices.last().map_or(1, |slice| slice.up_to).max(1);
        let mut positions = Vec::with_capacity(count);
        while positions.len() < count {
            let number = self.random.below(total);
            let at = self.slices.partition_point(|slice| slice.up_to <= number);
            let Some(SliceSide {
                turn, own, opponent, ..
            }) = self.slices.get(at)
            else {
                break;
            };
            let (turn, own, opponent) = (*turn, *own, *opponent);
            let placement = loop {
                if let Some(placement) = self.placement(&own, &opponent) {
                    break placement;
                }
            };
            // Where not all placements count, another slice may be drawn, too.
            if self.rulebook.is_placement(&placement) {
                positions.push(self.rulebook.position(&placement, turn));
            }
        }
        positions
    }

    /// Puts each piece on a random free square; nothing if one came to stand
    /// where its kind cannot, which keeps all placements equally likely.
    fn placement(&mut self, own: &Army, opponent: &Army) -> Option<R::Placement> {
        let rulebook = self.rulebook;
        let mut placement = R::Placement::default();
        let mut free = self.squares.len();
        for (side, army) in [(Side::Own, own), (Side::Opponent, opponent)] {
            let standing = rulebook.standing_squares(side);
            for (kind, letter) in rulebook.kinds() {
                for _ in 0..army.count(*letter) {
                    let at = self.random.below(free as u64) as usize;
                    free -= 1;
                    self.squares.swap(at, free);
                    let square = self.squares[free];
                    if *kind == Kind::STANDING && !standing.has(square) {
                        return None;
                    }
                    placement.add(side, *kind, R::Set::bit(square));
                }
            }
        }
        Some(placement)
    }
}

/// SplitMix64: the same positions in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}
