//! The first look at a block where every placement is looked at by itself.

use petrov_games::{Bits, Kind, Placement, Rulebook, Side};
use petrov_probe::{Metric, Score};

use super::{Free, Site, Task};
use crate::solved::Solved;

/// What looking one move ahead says of a position.
enum FirstLook {
    /// Nothing inside the unit can change it.
    Decided { score: Score, free: Free },
    /// Quiet moves matter, too; the best conversion, if there is one.
    Open { conversion: Option<Score>, free: Free },
    /// The mover has no move at all.
    Blocked,
}

impl<R: Rulebook> Task<'_, R> {
    pub(super) fn start_by_placement<const SIDEWAYS: bool>(&mut self, solved: &Solved<R>) {
        let (at, half) = (self.at, self.half);
        let rulebook = at.frame.rulebook;
        let (own, opp) = (at.frame.own[half], at.frame.opp[half]);
        for row in self.block.rows.clone() {
            let (opp_standing, opp_set) = at.frame.row_parts(half, at.standing, row);
            let opp_moving = opp.set(opp_set);
            if !(opp_standing & opp_moving).is_empty() {
                continue;
            }
            for (arrangement, own_standing) in at.standing.own[half].iter().enumerate() {
                let taken = opp_standing | opp_moving;
                if !(taken & *own_standing).is_empty() {
                    continue;
                }
                let taken = taken | *own_standing;
                let board = at.row_board(half, arrangement as u32, row);
                for set in 0..own.len() as u32 {
                    if !(own.set(set) & taken).is_empty() {
                        continue;
                    }
                    let mut placement = board;
                    if let Some(kind) = at.frame.only_kind(half) {
                        placement.add(Side::Own, kind, own.set(set));
                    } else {
                        own.add_set(set, Side::Own, &mut placement);
                    }
                    let place = (arrangement * own.len()) as u32 + set;
                    if rulebook.has_gaps() && !rulebook.is_placement(&placement) {
                        self.leave_out(row, place);
                        continue;
                    }
                    match first_look(at, solved, &placement) {
                        FirstLook::Decided { score, free } => self.settle(row, place, score, free),
                        FirstLook::Open { conversion, free } => {
                            self.open(row, place, conversion, free);
                        }
                        FirstLook::Blocked => {
                            let ending = rulebook.blocked(&placement);
                            if ending.mated {
                                self.block.mated += at.frame.row_weight(half, row);
                            }
                            self.settle(row, place, ending.outcome.into(), Free::No);
                        }
                    }
                }
            }
        }
    }
}

/// What a placement's captures, of which the best has this score, do for its
/// table entry in WLD.
#[inline(always)]
pub(super) fn freed_by(captures: Option<Score>) -> Free {
    match captures {
        Some(score) if score.is_win() => Free::Win,
        Some(score) if score.is_draw() => Free::Score,
        _ => Free::No,
    }
}

/// Whether a conversion of this score decides a position, whatever its quiet
/// moves do.
#[inline(always)]
pub(super) fn is_enough(score: Score, metric: Metric) -> bool {
    // In WLD nothing is better than a win, and no way to a conversion shorter
    // than a conversion.
    score.is_win() && (metric == Metric::Wld || metric == Metric::Dtz && !score.is_spoilt())
}

#[inline(always)]
fn first_look<R: Rulebook>(at: &Site<'_, R>, solved: &Solved<R>, placement: &R::Placement) -> FirstLook {
    let (rulebook, metric) = (at.frame.rulebook, at.frame.metric);
    // None if there is no capture; looking for them says so.
    let captures = solved.best_capture(placement);
    let mut free = Free::No;
    if let Some(score) = captures {
        if rulebook.forced() {
            let free = Free::Score;
            return FirstLook::Decided { score, free };
        }
        free = freed_by(captures);
    }
    let mut best = captures;
    if !best.is_some_and(|best| is_enough(best, metric)) && !placement.pieces(Side::Own, Kind::STANDING).is_empty() {
        rulebook.standing_moves(placement, |after| {
            let score = solved.score(after).before_move(metric, true);
            best = Some(Score::better(best, score));
            !(metric == Metric::Wld && score.is_win())
        });
    }
    match best {
        Some(score) if is_enough(score, metric) => {
            let free = if free == Free::Win { free } else { Free::No };
            FirstLook::Decided { score, free }
        }
        conversion if rulebook.has_quiet(placement) => FirstLook::Open { conversion, free },
        Some(score) => {
            let free = if score.is_win() && free != Free::Win {
                Free::No
            } else {
                free
            };
            FirstLook::Decided { score, free }
        }
        None => FirstLook::Blocked,
    }
}
