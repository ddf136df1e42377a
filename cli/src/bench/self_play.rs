//! Positions as a search meets them.

use petrov_games::{Bits, Game, Kind, Placement, Rulebook, Side, with_rulebook};
use petrov_probe::{Material, Metric, Prober};

use super::random::{Draw, Random};

/// Plies that the player looks ahead.
const DEPTH: u32 = 2;
/// Games that go on longer are broken off.
const LONGEST_GAME: u32 = 120;
/// Every so many moves one is played at random, so that games differ.
const WHIM: u64 = 8;

/// Plays endings against itself, from random positions of `materials`, and gathers the positions that its search
/// comes to and that have at most `pieces` pieces and a table, in the order in which it comes to them.
pub(super) struct SelfPlay<'a, G: Game> {
    pub(super) game: &'a G,
    pub(super) prober: &'a Prober<G>,
    pub(super) metric: Metric,
    pub(super) pieces: u32,
}

impl<G: Game> SelfPlay<'_, G> {
    /// So many positions, or fewer if a hundred games in a row come to none.
    pub(super) fn positions(&self, materials: &[Material], count: usize) -> Vec<G::Position> {
        let mut random = Random(0x53_454c_4650);
        let mut found = Vec::with_capacity(count);
        let mut barren = 0;
        with_rulebook!(self.game, rulebook => {
            let mut draw = Draw::new(&**rulebook, materials);
            while found.len() < count && barren < 100 {
                let before = found.len();
                for start in draw.positions(1) {
                    self.play(start, count, &mut random, &mut found);
                }
                barren = if found.len() == before { barren + 1 } else { 0 };
            }
        });
        found
    }

    fn play(&self, start: G::Position, count: usize, random: &mut Random, found: &mut Vec<G::Position>) {
        let mut position = start;
        for _ in 0..LONGEST_GAME {
            let legal = self.game.legal_moves(&position);
            if legal.is_empty() || found.len() >= count {
                return;
            }
            let first = random.below(legal.len() as u64) as usize;
            let mut best = (i32::MIN, first);
            if random.below(WHIM) > 0 {
                for step in 0..legal.len() {
                    // From a random one on, so that the first of equal moves is a random one.
                    let number = (first + step) % legal.len();
                    let after = self.game.after(&position, &legal[number]);
                    let worth = -self.search(&after, DEPTH - 1, found);
                    if worth > best.0 {
                        best = (worth, number);
                    }
                }
            }
            position = self.game.after(&position, &legal[best.1]);
        }
    }

    /// What the material is worth to the side to move after the best of all moves.
    fn search(&self, position: &G::Position, depth: u32, found: &mut Vec<G::Position>) -> i32 {
        let (pieces, worth) = with_rulebook!(self.game, rulebook => {
            let placement = rulebook.view(position);
            let of = |side| {
                let all = placement.side(side).count() as i32;
                3 * all - 2 * placement.pieces(side, Kind::STANDING).count() as i32
            };
            (placement.occupied().count(), of(Side::Own) - of(Side::Opponent))
        });
        if pieces <= self.pieces && self.prober.score(position, self.metric).is_ok() {
            found.push(*position);
        }
        if depth == 0 {
            return worth;
        }
        let legal = self.game.legal_moves(position);
        let after = legal.iter().map(|played| self.game.after(position, played));
        after
            .map(|after| -self.search(&after, depth - 1, found))
            .max()
            .unwrap_or(worth)
    }
}
