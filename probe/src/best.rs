//! The moves that an engine may play at the root.

use std::cmp::Ordering;

use petrov_games::{Game, Rulebook, with_rulebook};

use crate::prober::{Distance, ProbeError, Prober, RankedMove, RootProbe, material};
use crate::score::{Metric, Value, Value50};

/// By which distance moves of the same result are put in order: the shortest win and the longest loss first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ranking {
    /// Plies to the end of the game: wins in the fewest moves.
    Dtw,
    /// Plies to the next conversion: never further from a move that sets the count of a rule to nought than it
    /// needs to be.
    Dtz,
}

impl Ranking {
    /// The tables that it goes by.
    #[must_use]
    pub const fn metric(self) -> Metric {
        match self {
            Self::Dtw => Metric::Dtw,
            Self::Dtz => Metric::Dtz,
        }
    }
}

/// A rule that makes a draw of a game without conversions. A conversion is a capture or a move of a man or pawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CountRule {
    /// The game's own: the fifty-move rule, with the plies that the position tells of, in chess; none in games
    /// whose rule set has none.
    Game,
    /// None, whatever the game says.
    None,
    /// The game is a draw unless there is a conversion within so many plies, as in draughts, where such rules
    /// depend on the federation and the material: 30 for "fifteen moves of each side".
    Plies {
        /// Most plies from one conversion to the next, that one included, for a win to count.
        limit: u32,
        /// Plies without a conversion so far.
        counted: u32,
    },
}

/// What [`Prober::best_moves`] finds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BestMoves<G: Game> {
    /// The result for the side to move under the rule: a win or loss that the rule makes a draw is a cursed win or
    /// a blessed loss.
    ///
    /// A rule given as [`CountRule::Plies`] is applied up to the next conversion, and to the one after that if the
    /// move is itself a conversion; then the position is to be asked about anew. The fifty-move rule of chess is in its tables, for all conversions to come.
    pub result: Value50,
    /// The moves that keep this result, best first; none if the game is over.
    pub moves: Vec<RankedMove<G>>,
}

impl<G: Game> Prober<G> {
    /// The moves that keep the result of a position under a rule of counting, best first. Playing the first
    /// of them every time, with the count that the game has reached, wins what is won without such a rule and under the
    /// fifty-move rule of chess. Under [`CountRule::Plies`] it comes to the next conversion in time, to a position whose own
    /// next conversion can be reached in time if there is such a move; what is beyond that, tables of distances do not
    /// tell.
    ///
    /// ```
    /// use petrov_games::{Game as _, Games};
    /// use petrov_probe::{CountRule, Ranking, Tables, Value50};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tables/starter");
    /// let tables = Tables::open(&[folder])?;
    /// let prober = tables.prober(Games::built_in().draughts("russian")?)?;
    /// let position = prober.game().parse_fen("W:WKe1,Kc3:BKa5")?;
    /// let best = prober.best_moves(&position, Ranking::Dtw, CountRule::Game)?;
    /// assert_eq!(best.result, Value50::Win);
    /// println!("{}", best.moves[0].text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ProbeError::Missing`] names the table of distances that the ranking or the rule needs; others as
    /// [`Prober::value`].
    pub fn best_moves(
        &self,
        position: &G::Position,
        ranking: Ranking,
        rule: CountRule,
    ) -> Result<BestMoves<G>, ProbeError> {
        let RootProbe {
            value,
            value50,
            dtw,
            dtz,
            mut moves,
        } = self.root(position)?;
        let fifty_moves = with_rulebook!(self.game(), rulebook => rulebook.fifty_moves());
        let needs_dtz = match rule {
            CountRule::Game => fifty_moves,
            CountRule::None => false,
            CountRule::Plies { .. } => true,
        };
        for (metric, distance) in [(Metric::Dtw, dtw), (Metric::Dtz, dtz)] {
            let needed = metric == ranking.metric() || metric == Metric::Dtz && needs_dtz;
            if needed && distance == Distance::Unknown {
                return Err(self.missing(material(self.game(), position), metric));
            }
        }
        let judge = |value: Value, value50: Option<Value50>, dtz: Distance| match rule {
            CountRule::Game => value50.unwrap_or(Value50::new(value, false)),
            CountRule::None => Value50::new(value, false),
            CountRule::Plies { limit, counted } => {
                let late = |plies: u16| counted.saturating_add(plies.into()) > limit;
                Value50::new(value, dtz.plies().is_some_and(late))
            }
        };
        // A conversion sets the count to nought, and the next one must be in time as well.
        let next_is_late = |ranked: &RankedMove<G>| match rule {
            CountRule::Plies { limit, .. } if self.game().is_conversion(&ranked.played) => {
                match self.score(&ranked.after, Metric::Dtz) {
                    Ok(score) => Ok(!score.is_draw() && u32::from(score.distance()) > limit),
                    Err(ProbeError::Missing { .. }) => Ok(false),
                    Err(error) => Err(error),
                }
            }
            _ => Ok(false),
        };
        let mut judged: Vec<(Value50, RankedMove<G>)> = moves
            .drain(..)
            .map(|ranked| {
                let kept = match judge(ranked.value, ranked.value50, ranked.dtz) {
                    _ if next_is_late(&ranked)? => Value50::new(ranked.value, true),
                    kept => kept,
                };
                Ok((kept, ranked))
            })
            .collect::<Result<_, ProbeError>>()?;
        let result = judged
            .iter()
            .map(|(result, _)| *result)
            .max()
            .unwrap_or_else(|| judge(value, value50, dtz));
        judged.retain(|(kept, _)| *kept == result);
        let mut moves: Vec<RankedMove<G>> = judged.into_iter().map(|(_, ranked)| ranked).collect();
        moves.sort_by(|a, b| {
            let keys = |ranked: &RankedMove<G>| match ranking {
                Ranking::Dtw => [ranked.dtw, ranked.dtz],
                Ranking::Dtz => [ranked.dtz, ranked.dtw],
            };
            let order = keys(a).into_iter().zip(keys(b)).map(|(a_distance, b_distance)| {
                match (a_distance.plies(), b_distance.plies()) {
                    (Some(x), Some(y)) if a.value == Value::Win => x.cmp(&y),
                    (Some(x), Some(y)) => y.cmp(&x),
                    _ => Ordering::Equal,
                }
            });
            order
                .fold(Ordering::Equal, Ordering::then)
                .then_with(|| a.text.cmp(&b.text))
        });
        Ok(BestMoves { result, moves })
    }
}
