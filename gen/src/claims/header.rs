//! What the headers of tables say to a claim without a look at positions.
//!
//! A header counts the unfolded positions of each score. Where a claim asks
//! about all positions, or all that are won, and about nothing but scores, that
//! is the answer; only the worst position has to be looked for.

use petrov_games::{Colour, Game, Material};
use petrov_probe::{Metric, Tables};

use super::scan::{Tally, is_won};
use super::{Asked, EvaluateError, Said};

/// Whether headers know all that a claim asks.
pub(super) fn suffices(asked: &Asked, said: &Said) -> bool {
    let only_scores = Asked {
        won: asked.won,
        ..Asked::default()
    };
    *asked == only_scores && !matches!(said, Said::DoesNotLose { .. } | Said::Same { .. })
}

/// The tally of a material, with the longest distance in place of the worst
/// position.
pub(super) fn tally<G: Game>(
    game: &G,
    tables: &Tables,
    (asked, said): (&Asked, &Said),
    metric: Metric,
    material: Material,
) -> Result<(Tally, Option<u16>), EvaluateError> {
    let (mut tally, mut longest) = (Tally::default(), None);
    let sides = tables.table(game, material, metric)?.header().sides();
    for (turn, side) in [(Colour::White, sides.first()), (Colour::Black, sides.last())] {
        for line in side
            .into_iter()
            .flat_map(|side| &side.palette)
            .filter(|line| line.count > 0)
        {
            let score = line.score();
            if asked.won.is_some_and(|won| won != is_won(score, turn, &material)) {
                continue;
            }
            tally.positions += line.count;
            tally.spoilt += if score.is_spoilt() { line.count } else { 0 };
            tally.exceptions += if said.is_false_of(score, turn, &material) {
                line.count
            } else {
                0
            };
            if !score.is_draw() {
                longest = longest.max(Some(score.distance()));
            }
        }
    }
    Ok((tally, longest))
}
