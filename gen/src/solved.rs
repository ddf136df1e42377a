//! The slices solved so far, for looking up where conversions lead.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use petrov_games::{Army, Material, Placement, Rulebook, View};
use petrov_probe::{DigitOrder, KeyMap, Metric, Score, SliceIndex};

use crate::values::Values;

/// One slice with one side to move.
#[derive(Debug)]
pub(crate) struct Side<B> {
    pub(crate) index: SliceIndex<B>,
    pub(crate) values: Values,
    /// Positions in which the mover is mated, no symmetry used; kept only
    /// until the table is written.
    pub(crate) mated: AtomicU64,
}

/// All slices in memory, by the pieces as the mover sees them.
pub(crate) struct Solved<R: Rulebook> {
    rulebook: Arc<R>,
    metric: Metric,
    sides: KeyMap<Arc<Side<R::Set>>>,
}

impl<R: Rulebook> Solved<R> {
    pub(crate) fn new(rulebook: Arc<R>, metric: Metric) -> Self {
        Self {
            rulebook,
            metric,
            sides: KeyMap::default(),
        }
    }

    /// Puts the sides of a slice there, in the order of its views, with room
    /// for their values: `values` gets a side's number and its length.
    pub(crate) fn insert_slice(
        &mut self,
        material: Material,
        mut values: impl FnMut(usize, &SliceIndex<R::Set>) -> Values,
    ) -> Vec<Arc<Side<R::Set>>> {
        let views = material.views().iter().enumerate();
        views
            .map(|(number, view)| {
                let (own, opp) = material.armies(*view);
                let index = SliceIndex::new(&*self.rulebook, &own, &opp, DigitOrder::SOLVING)
                    .expect("the plan holds only slices that have positions");
                let values = values(number, &index);
                let mated = AtomicU64::new(0);
                let side = Arc::new(Side { index, values, mated });
                self.insert(&own, &opp, side.clone());
                side
            })
            .collect()
    }

    pub(crate) fn insert(&mut self, own: &Army, opp: &Army, side: Arc<Side<R::Set>>) {
        if let Some(key) = self.rulebook.key(own, opp) {
            self.sides.insert(key, side);
        }
    }

    pub(crate) fn remove(&mut self, own: &Army, opp: &Army) -> Option<Arc<Side<R::Set>>> {
        self.sides.remove(&self.rulebook.key(own, opp)?)
    }

    /// The sides of a slice that is there, in the order of its views.
    pub(crate) fn slice(&self, material: Material) -> Vec<Arc<Side<R::Set>>> {
        let side = |view: &View| {
            let (own, opp) = material.armies(*view);
            self.get(&own, &opp).expect("the slice is there").clone()
        };
        material.views().iter().map(side).collect()
    }

    pub(crate) fn remove_slice(&mut self, material: Material) {
        for view in material.views() {
            let (own, opp) = material.armies(*view);
            self.remove(&own, &opp);
        }
    }

    /// Forgets which entries are free, of those slices that nobody else has in
    /// use; the others stay in the list.
    pub(crate) fn drop_free(&mut self, slices: &mut Vec<Material>) {
        slices.retain(|material| {
            let mut in_use = false;
            for view in material.views() {
                let (own, opp) = material.armies(*view);
                if let Some(mut side) = self.remove(&own, &opp) {
                    match Arc::get_mut(&mut side) {
                        Some(side) => side.values.drop_free(),
                        None => in_use = true,
                    }
                    self.insert(&own, &opp, side);
                }
            }
            in_use
        });
    }

    pub(crate) fn get(&self, own: &Army, opp: &Army) -> Option<&Arc<Side<R::Set>>> {
        self.sides.get(&self.rulebook.key(own, opp)?)
    }

    /// The best score of the mover's captures, if it has any.
    #[inline(always)]
    pub(crate) fn best_capture(&self, placement: &R::Placement) -> Option<Score> {
        let metric = self.metric;
        let mut best: Option<Score> = None;
        self.rulebook.captures(placement, |after| {
            let score = self.score(after).before_move(metric, true);
            best = Some(Score::better(best, score));
            // In WLD, nothing is better than a win.
            !(metric == Metric::Wld && score.is_win())
        });
        best
    }

    /// The score of a placement for its mover. Its slice must be there.
    #[inline(always)]
    pub(crate) fn score(&self, placement: &R::Placement) -> Score {
        if let Some(outcome) = self.rulebook.finished(placement) {
            return outcome.into();
        }
        if let Some(without) = self.rulebook.without_right(placement) {
            return self.score_with_right(placement, &without);
        }
        let side = self.side(placement.key());
        side.values.score(side.index.rank(placement))
    }

    /// The slice of placements with a key, which must be there.
    #[inline(always)]
    pub(crate) fn side(&self, key: u128) -> &Side<R::Set> {
        let side = self.sides.get(&key);
        side.expect("a slice is solved after all slices it converts into")
    }

    /// As [`Solved::score`] with a right that slices do not hold.
    #[cold]
    fn score_with_right(&self, placement: &R::Placement, without: &R::Placement) -> Score {
        let best = if self.rulebook.forced() && self.rulebook.has_capture(placement) {
            return self.best_capture(placement).unwrap_or_default();
        } else {
            let mut best: Option<Score> = None;
            let fifty_moves = self.metric == Metric::Dtz && self.rulebook.fifty_moves();
            let instead = self.rulebook.moves_instead(placement, |after, zeroing| {
                let score = self.score(after).before_move(self.metric, zeroing);
                let score = if fifty_moves { score.within_fifty_moves() } else { score };
                best = Some(Score::better(best, score));
            });
            if instead {
                return best.unwrap_or_default();
            }
            self.rulebook.right_moves(placement, |after| {
                let score = self.score(after).before_move(self.metric, true);
                best = Some(Score::better(best, score));
            });
            best
        };
        match best {
            // Without the right there would be no move.
            Some(score) if !self.rulebook.has_move(without) => score,
            best => Score::better(best, self.score(without)),
        }
    }
}
