//! The slices solved so far, for looking up where conversions lead.

use std::sync::Arc;

use petrov_games::Bits;
use petrov_games::draughts::{Generator, Pieces};
use petrov_probe::{Army, Metric, Score, SliceIndex};

use crate::values::Values;

/// One slice with one side to move.
#[derive(Debug)]
pub(crate) struct Side<B> {
    pub(crate) index: SliceIndex<B>,
    pub(crate) values: Values,
}

/// Counts of one kind of piece that the look-up can tell apart.
const KINDS: usize = 16;

/// All slices in memory, by the counts of pieces as the mover sees them.
pub(crate) struct Solved<B> {
    generator: Arc<Generator<B>>,
    sides: Vec<Option<Arc<Side<B>>>>,
}

fn key(own_men: u32, own_kings: u32, opp_men: u32, opp_kings: u32) -> usize {
    (((own_men as usize * KINDS) + own_kings as usize) * KINDS + opp_men as usize) * KINDS + opp_kings as usize
}

fn army_key(own: Army, opp: Army) -> usize {
    key(own.men.into(), own.kings.into(), opp.men.into(), opp.kings.into())
}

impl<B: Bits> Solved<B> {
    pub(crate) fn new(generator: Arc<Generator<B>>) -> Self {
        Self {
            generator,
            sides: vec![None; KINDS.pow(4)],
        }
    }

    /// Whether counts of this material can be looked up.
    pub(crate) fn fits(army: Army) -> bool {
        usize::from(army.men) < KINDS && usize::from(army.kings) < KINDS
    }

    pub(crate) fn insert(&mut self, own: Army, opp: Army, side: Arc<Side<B>>) {
        self.sides[army_key(own, opp)] = Some(side);
    }

    pub(crate) fn remove(&mut self, own: Army, opp: Army) -> Option<Arc<Side<B>>> {
        self.sides[army_key(own, opp)].take()
    }

    pub(crate) fn get(&self, own: Army, opp: Army) -> Option<&Arc<Side<B>>> {
        self.sides[army_key(own, opp)].as_ref()
    }

    /// The best score of the mover's captures, if it has any.
    #[inline(always)]
    pub(crate) fn best_capture(&self, pieces: &Pieces<B>, metric: Metric) -> Option<Score> {
        let generator = &*self.generator;
        let mut best: Option<Score> = None;
        generator.captures(pieces, |step| {
            let score = self.after(&generator.after(pieces, step)).before_move(metric, true);
            if best.is_none_or(|best| score.preference() > best.preference()) {
                best = Some(score);
            }
            // In WLD, nothing is better than a win.
            !(metric == Metric::Wld && score.is_win())
        });
        best
    }

    /// The score, for the side then to move, of the position after a move;
    /// `pieces` are still in the view of the side that moved. Its slice must
    /// be there.
    #[inline(always)]
    pub(crate) fn after(&self, pieces: &Pieces<B>) -> Score {
        let pieces = self.generator.turned(pieces);
        if let Some(won) = self.generator.finished(&pieces) {
            return if won { Score::win(0) } else { Score::loss(0) };
        }
        let side = self.sides[key(
            pieces.own_men.count(),
            pieces.own_kings.count(),
            pieces.opp_men.count(),
            pieces.opp_kings.count(),
        )]
        .as_ref()
        .expect("a slice is solved after all slices it converts into");
        side.values.score(side.index.rank(&pieces))
    }
}
