//! Which won positions a rule that counts moves turns into draws.
//!
//! Tables know distances, not counts. What follows from them depends on what
//! ends the count.
//!
//! * It goes on to the end of the game: a position is won under the rule if its
//!   distance to the end is within the count, and drawn if not.
//! * It ends when the material changes, or when the position is none of those
//!   asked about: within the count is *sufficient* for a win. A longer win is
//!   drawn if the material cannot change but for the end; else it may still be
//!   won by ending the count in time, which is not decided.
//! * It begins anew with each conversion: a distance to conversion above the
//!   count proves a draw, since the loser can hold out that long. One within the
//!   count proves a win only if no won position that a conversion can lead to,
//!   now or later, has one above: then every count can be kept. Otherwise it is
//!   *necessary only*, but for wins whose distance to the end is within the
//!   count: these no count can reach. Tables made under the fifty-move rule say more: their
//!   five values are exact for 100 plies.
//!
//! What conversions can lead to is judged by material: all positions of the
//! materials that a material can turn into, and its own if it has standing
//! pieces, whose moves are conversions.

use petrov_games::{Game, Material, Rulebook, with_rulebook};
use petrov_probe::{Metric, Score, Tables};

use super::scan::Tally;
use super::{Counts, EvaluateError, Limit, Said};
use crate::plan::{What, materials};

/// How far tables decide what a rule takes away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Every position is decided, by the distance to the end.
    ByDistance,
    /// Every position is decided, by five-valued tables.
    ByFiveValues,
    /// Every position is decided: no won position that conversions can lead to
    /// has a distance above the count, or the end itself comes within it.
    ByConversions,
    /// A distance within the count is sufficient for a win; longer wins are
    /// not decided where something can end the count.
    Sufficient,
    /// A distance above the count proves a draw; one within is necessary only
    /// where conversions can lead to a longer one and the end does not come
    /// within the count.
    NecessaryOnly,
}

impl Standing {
    /// One or two words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ByDistance | Self::ByFiveValues | Self::ByConversions => "exact",
            Self::Sufficient => "sufficient",
            Self::NecessaryOnly => "necessary only",
        }
    }

    /// What it means, in a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::ByDistance => {
                "exact: a position is won under the rule if its distance is within the count, else drawn"
            }
            Self::ByFiveValues => "exact: the tables were made under this very rule",
            Self::ByConversions => {
                "exact: a distance above the count is a draw under the rule; every other win can be kept, as its end comes within the count or no won position that a conversion can lead to has a longer distance"
            }
            Self::Sufficient => {
                "sufficient: a distance within the count is won under the rule; a longer win may be kept by what ends the count, such as a change of material"
            }
            Self::NecessaryOnly => {
                "necessary only: a distance above the count is a draw under the rule; one within it does not prove the win where a later count may be too long, unless the end comes within the count"
            }
        }
    }
}

/// What a rule that counts moves makes of the won positions asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// How far this is decided.
    pub standing: Standing,
    /// Positions that stay won, proved.
    pub won: u64,
    /// Positions that become draws, proved.
    pub drawn: u64,
    /// Positions that the tables do not decide.
    pub undecided: u64,
}

/// What a rule makes of the positions of each material. `None` if the claim is
/// no such rule, or asks about positions that are not won. `ends_within` counts
/// the positions of a material whose end comes within the limit.
pub(super) fn clock<G: Game>(
    game: &G,
    tables: &Tables,
    said: &Said,
    tallies: &[(Material, Tally)],
    mut ends_within: impl FnMut(Material, Limit) -> Result<u64, EvaluateError>,
) -> Result<Option<Clock>, EvaluateError> {
    let fifty_moves = with_rulebook!(game, rulebook => rulebook.fifty_moves());
    let mut clock = Clock {
        standing: Standing::ByDistance,
        won: 0,
        drawn: 0,
        undecided: 0,
    };
    for (material, tally) in tallies {
        let within = tally.positions - tally.exceptions;
        match said {
            Said::Dtw {
                counts: Some(Counts::ToTheEnd),
                ..
            } => {
                clock.won += within;
                clock.drawn += tally.exceptions;
            }
            Said::Dtw {
                counts: Some(counts), ..
            } => {
                clock.won += within;
                // Where every conversion ends the game nothing ends the count.
                let goes_on =
                    *counts == Counts::UntilMaterialChanges && materials(game, What::Material(*material))?.len() == 1;
                if goes_on {
                    clock.drawn += tally.exceptions;
                } else {
                    clock.standing = Standing::Sufficient;
                    clock.undecided += tally.exceptions;
                }
            }
            Said::Dtz { limit } if fifty_moves && limit.plies() == Score::FIFTY_MOVES => {
                clock.standing = Standing::ByFiveValues;
                clock.won += tally.positions - tally.spoilt;
                clock.drawn += tally.spoilt;
            }
            // Longer counts than that of the rule in the tables: the distances
            // of what it spoils are those of other play.
            Said::Dtz { limit } if fifty_moves && limit.plies() > Score::FIFTY_MOVES => return Ok(None),
            Said::Dtz { limit } => {
                if clock.standing == Standing::ByDistance {
                    clock.standing = Standing::ByConversions;
                }
                clock.drawn += tally.exceptions;
                if within > 0 && leads_above(game, tables, *material, *limit)? {
                    // The next conversion comes no later than the end, so these
                    // are among those within.
                    let safe = ends_within(*material, *limit)?;
                    clock.won += safe;
                    clock.undecided += within - safe;
                    if safe < within {
                        clock.standing = Standing::NecessaryOnly;
                    }
                } else {
                    clock.won += within;
                }
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(clock))
}

/// Whether a rule needs distances to the end for some of these materials. Only
/// tables of distances to conversions can tell.
pub(super) fn may_need_end<G: Game>(
    game: &G,
    tables: &Tables,
    said: &Said,
    materials: &[Material],
) -> Result<bool, EvaluateError> {
    let Said::Dtz { limit } = said else {
        return Ok(false);
    };
    let fifty_moves = with_rulebook!(game, rulebook => rulebook.fifty_moves());
    if fifty_moves && limit.plies() >= Score::FIFTY_MOVES {
        return Ok(false);
    }
    for material in materials {
        if leads_above(game, tables, *material, *limit)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether conversions can lead from a material to one in which a distance to
/// the next conversion is above a limit.
fn leads_above<G: Game>(game: &G, tables: &Tables, material: Material, limit: Limit) -> Result<bool, EvaluateError> {
    let stands = with_rulebook!(game, rulebook => material.count(rulebook.standing_letter()) > 0);
    for reached in materials(game, What::Material(material))? {
        if reached == material && !stands {
            continue;
        }
        let table = tables.table(game, reached, Metric::Dtz)?;
        let above = table
            .header()
            .sides()
            .iter()
            .flat_map(|side| &side.palette)
            .any(|entry| entry.count > 0 && !entry.score().is_draw() && entry.score().distance() > limit.plies());
        if above {
            return Ok(true);
        }
    }
    Ok(false)
}
