//! A claim for one game, or for the two that it compares.

use std::sync::atomic::Ordering::Relaxed;

use petrov_games::{AnyGame, Game, Games, Material, UnknownGame, with_game, with_rulebook};
use petrov_probe::{Metric, Tables};

use super::clock::{clock, may_need_end};
use super::header;
use super::line::best_line;
use super::scan::{Exceptions, Scan, Tally};
use super::{Answer, Claim, ClaimVerdict, EvaluateError, Limit, Materials, Said, Worst};
use crate::build::Progress;
use crate::plan::{PlanError, What, materials};

/// A claim for one game, or for the two that it compares.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    claim: &'a Claim,
    game: &'a AnyGame,
    other: Option<&'a AnyGame>,
}

impl<'a> Entry<'a> {
    /// The entries of a claim, in the order of its games.
    ///
    /// # Errors
    /// If a game is not known.
    pub fn of(claim: &'a Claim, games: &'a Games) -> Result<Vec<Self>, UnknownGame> {
        let found = claim
            .games
            .iter()
            .map(|name| games.get(name))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(match found[..] {
            [game, other] if claim.said.compares() => vec![Self {
                claim,
                game,
                other: Some(other),
            }],
            _ => found
                .into_iter()
                .map(|game| Self {
                    claim,
                    game,
                    other: None,
                })
                .collect(),
        })
    }

    /// The claim.
    #[must_use]
    pub fn claim(&self) -> &'a Claim {
        self.claim
    }

    /// The game, or both that are compared.
    pub fn games(&self) -> impl Iterator<Item = &'a AnyGame> + use<'a> {
        std::iter::once(self.game).chain(self.other)
    }

    /// The metric of the tables that are needed.
    #[must_use]
    pub fn metric(&self) -> Metric {
        self.claim.said.metric()
    }

    /// Pieces of the largest material that it is about.
    ///
    /// # Errors
    /// As [`Entry::materials`].
    pub fn most_pieces(&self) -> Result<u8, PlanError> {
        let materials = self.materials()?;
        Ok(materials.iter().map(Material::pieces).max().unwrap_or(0))
    }

    /// The materials that it is about.
    ///
    /// # Errors
    /// If a material has no table.
    pub fn materials(&self) -> Result<Vec<Material>, PlanError> {
        match &self.claim.materials {
            Materials::Listed(listed) => Ok(listed.clone()),
            Materials::Sized { from, to, each_side } => {
                let mut all = with_game!(self.game, game => materials(game, What::Pieces(*to)))?;
                all.retain(|material| {
                    let has = |letter: &u8| material.white().count(*letter) > 0 && material.black().count(*letter) > 0;
                    material.pieces() >= *from && each_side.iter().all(has)
                });
                Ok(all)
            }
        }
    }

    /// Whether tables of distances to the end are needed, too: to tell which
    /// wins surely stand under a rule that counts from conversion to conversion.
    /// The tables of [`Self::metric`] must be there.
    ///
    /// # Errors
    /// A table that is missing or damaged.
    pub fn needs_dtw_too(&self, tables: &Tables) -> Result<bool, EvaluateError> {
        if self.claim.asked.won != Some(true) {
            return Ok(false);
        }
        let materials = self.materials()?;
        with_game!(self.game, game => may_need_end(game, tables, &self.claim.said, &materials))
    }

    /// Looks at every position, with a pool of so many threads (0 for one for
    /// each processor). Exceptions are given to `exceptions` one after the
    /// other, in an order that never changes.
    ///
    /// Tables of [`Self::metric`] must be there, and those of distances to the end
    /// if [`Self::needs_dtw_too`] says so.
    ///
    /// # Errors
    /// A table that is missing or damaged, or what `exceptions` returns.
    pub fn evaluate(
        &self,
        tables: &Tables,
        threads: usize,
        progress: &Progress,
        exceptions: Option<Exceptions<'_>>,
    ) -> Result<Answer, EvaluateError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        pool.install(|| match (self.game, self.other) {
            (AnyGame::Draughts(game), Some(AnyGame::Draughts(other))) => {
                self.compare(game, other, tables, progress, exceptions)
            }
            (AnyGame::Chess(game), Some(AnyGame::Chess(other))) => {
                self.compare(game, other, tables, progress, exceptions)
            }
            (game, _) => with_game!(game, game => self.ask(game, tables, progress, exceptions)),
        })
    }

    /// The answer of a claim that needs more pieces than allowed.
    #[must_use]
    pub fn not_evaluated(&self) -> Answer {
        Answer {
            id: self.claim.id.clone(),
            games: self.games().map(|game| game.name().to_owned()).collect(),
            verdict: ClaimVerdict::NotEvaluated,
            positions: 0,
            exceptions: 0,
            worst: None,
            other_worst: None,
            clock: None,
        }
    }

    fn answer(&self, tally: &Tally, worst: Option<Worst>) -> Answer {
        Answer {
            verdict: ClaimVerdict::of(tally.positions, tally.exceptions),
            positions: tally.positions,
            exceptions: tally.exceptions,
            worst,
            ..self.not_evaluated()
        }
    }

    fn ask<G: Game>(
        &self,
        game: &G,
        tables: &Tables,
        progress: &Progress,
        exceptions: Option<Exceptions<'_>>,
    ) -> Result<Answer, EvaluateError> {
        let tallies = self.scan(game, None, tables, progress, exceptions)?;
        let tally = sum(&tallies);
        let mut answer = self.answer(&tally, self.worst(game, tables, &tally)?);
        if self.claim.asked.won == Some(true) {
            let ends_within = |material, limit| self.ends_within(game, tables, progress, material, limit);
            answer.clock = clock(game, tables, &self.claim.said, &tallies, ends_within)?;
        }
        Ok(answer)
    }

    /// How many positions asked about of a material are won to the very end
    /// within a limit.
    fn ends_within<G: Game>(
        &self,
        game: &G,
        tables: &Tables,
        progress: &Progress,
        material: Material,
        limit: Limit,
    ) -> Result<u64, EvaluateError> {
        let claim = Claim {
            materials: Materials::Listed(vec![material]),
            said: Said::Dtw { limit, counts: None },
            ..self.claim.clone()
        };
        let entry = Entry { claim: &claim, ..*self };
        let tally = sum(&entry.scan(game, None, tables, progress, None)?);
        Ok(tally.positions - tally.exceptions)
    }

    fn compare<G: Game>(
        &self,
        game: &G,
        other: &G,
        tables: &Tables,
        progress: &Progress,
        exceptions: Option<Exceptions<'_>>,
    ) -> Result<Answer, EvaluateError> {
        if self.claim.said != Said::ShorterLongestWin {
            let tally = sum(&self.scan(game, Some(other), tables, progress, exceptions)?);
            return Ok(self.answer(&tally, self.worst(game, tables, &tally)?));
        }
        let [one, two] = [game, other].map(|game| -> Result<_, EvaluateError> {
            let tally = sum(&self.scan(game, None, tables, progress, None)?);
            self.worst(game, tables, &tally)
        });
        let (one, two) = (one?, two?);
        let plies = |worst: &Option<Worst>| worst.as_ref().map(|worst| worst.plies);
        // One statement, true or not; none if there is nothing to compare.
        let positions = u64::from(one.is_some() || two.is_some());
        let shorter = plies(&one) < plies(&two);
        let tally = Tally {
            positions,
            exceptions: positions * u64::from(!shorter),
            ..Tally::default()
        };
        let mut answer = self.answer(&tally, one);
        answer.other_worst = two;
        Ok(answer)
    }

    /// What the positions of each material say.
    fn scan<G: Game>(
        &self,
        game: &G,
        other: Option<&G>,
        tables: &Tables,
        progress: &Progress,
        mut exceptions: Option<Exceptions<'_>>,
    ) -> Result<Vec<(Material, Tally)>, EvaluateError> {
        let prober = tables.prober(game)?;
        let other = other.map(|other| tables.prober(other)).transpose()?;
        let materials = self.materials()?;
        with_rulebook!(game, rulebook => {
            let scan = Scan {
                game,
                rulebook: &**rulebook,
                prober: &prober,
                other: other.as_ref(),
                claim: self.claim,
                progress,
            };
            let steps: u64 = materials.iter().map(|material| scan.steps(material)).sum();
            progress.total.fetch_add(steps, Relaxed);
            let by_header = other.is_none() && header::suffices(&self.claim.asked, &self.claim.said);
            let mut told = Vec::new();
            for material in materials.iter().filter(|_| by_header) {
                let question = (&self.claim.asked, &self.claim.said);
                told.push(header::tally(game, tables, question, self.metric(), *material)?);
            }
            let longest = told.iter().filter_map(|(_, longest)| *longest).max();
            let mut tallies = Vec::new();
            for (number, material) in materials.into_iter().enumerate() {
                if let Some((tally, own)) = told.get(number) {
                    let has_worst = own.is_some() && *own == longest;
                    let has_exceptions = exceptions.is_some() && tally.exceptions > 0;
                    if !has_worst && !has_exceptions {
                        progress.done.fetch_add(scan.steps(&material), Relaxed);
                        tallies.push((material, tally.clone()));
                        continue;
                    }
                }
                progress.set_step("asking", &format_args!("{} of {material} ({})", self.claim.id, game.name()));
                // The same sink again for each material.
                let sink: Option<Exceptions<'_>> = match &mut exceptions {
                    Some(sink) => Some(&mut **sink),
                    None => None,
                };
                tallies.push((material, scan.material(material, sink)?));
            }
            Ok(tallies)
        })
    }

    fn worst<G: Game>(&self, game: &G, tables: &Tables, tally: &Tally) -> Result<Option<Worst>, EvaluateError> {
        let Some((plies, fen)) = &tally.worst else {
            return Ok(None);
        };
        let metric = self.metric();
        let prober = tables.prober(game)?;
        // It was written by the game itself.
        let Ok(position) = game.parse_fen(fen) else {
            return Ok(None);
        };
        let turn = game.turn(&position);
        let is_win = prober.score(&position, metric)?.is_win();
        Ok(Some(Worst {
            game: game.name().to_owned(),
            fen: fen.clone(),
            plies: *plies,
            metric,
            turn,
            winner: if is_win { turn } else { turn.other() },
            line: best_line(&prober, &position, metric)?,
        }))
    }
}

fn sum(tallies: &[(Material, Tally)]) -> Tally {
    let mut all = Tally::default();
    for (_, tally) in tallies {
        all.add(tally.clone());
    }
    all
}
