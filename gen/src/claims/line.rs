//! Best lines by one metric, whatever other tables are there.

use petrov_games::{Game, Rulebook, with_rulebook};
use petrov_probe::{Metric, ProbeError, Prober, Score};

/// One ply of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinePly {
    /// The move as people read it.
    pub text: String,
    /// The position after it.
    pub fen: String,
}

/// A best line by one metric, to the end of the game or, by distance to
/// conversion, to the next conversion; empty for a draw. Of equally good moves
/// the one whose text comes first is played.
///
/// # Errors
/// As [`Prober::score`].
pub fn best_line<G: Game>(
    prober: &Prober<G>,
    position: &G::Position,
    metric: Metric,
) -> Result<Vec<LinePly>, ProbeError> {
    let game = prober.game();
    let fifty_moves = metric == Metric::Dtz && with_rulebook!(game, rulebook => rulebook.fifty_moves());
    let mut line = Vec::new();
    let mut at = *position;
    loop {
        if prober.score(&at, metric)?.is_draw() {
            return Ok(line);
        }
        let legal = game.legal_moves(&at);
        let texts = game.move_texts(&at, &legal);
        let mut best: Option<(Score, usize)> = None;
        for (n, played) in legal.iter().enumerate() {
            let after = prober.score(&game.after(&at, played), metric)?;
            let mut score = after.before_move(metric, game.is_conversion(played));
            if fifty_moves {
                score = score.within_fifty_moves();
            }
            let is_better = best.is_none_or(|(most, first)| {
                (score.preference(), std::cmp::Reverse(&texts[n]))
                    > (most.preference(), std::cmp::Reverse(&texts[first]))
            });
            if is_better {
                best = Some((score, n));
            }
        }
        let Some((_, n)) = best else { return Ok(line) };
        let shown = game.screen_texts(&at, &legal[n..=n]).and_then(|mut texts| texts.pop());
        at = game.after(&at, &legal[n]);
        line.push(LinePly {
            text: shown.unwrap_or_else(|| texts[n].clone()),
            fen: game.fen(&at),
        });
        if metric == Metric::Dtz && game.is_conversion(&legal[n]) {
            return Ok(line);
        }
    }
}
