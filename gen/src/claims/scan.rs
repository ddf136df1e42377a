//! Looking at every position of a material.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use petrov_games::{Colour, Game, Material, Rulebook, Side, View};
use petrov_probe::{DigitOrder, Metric, ProbeError, Prober, Score, SliceIndex};
use rayon::prelude::*;

use super::places::{Conditions, Unfolding};
use super::{Claim, EvaluateError, Party, Said};
use crate::build::Progress;

/// Takes the FEN of an exception.
pub(super) type Exceptions<'a> = &'a mut (dyn FnMut(&str) -> std::io::Result<()> + Send);

/// What the positions of a material say to a claim.
#[derive(Clone, Default, Debug)]
pub(super) struct Tally {
    /// Positions asked about.
    pub(super) positions: u64,
    /// Those for which the claim is false.
    pub(super) exceptions: u64,
    /// Those whose result the fifty-move rule spoils.
    pub(super) spoilt: u64,
    /// The longest distance of a win, and the first FEN in alphabetical order
    /// that has it.
    pub(super) worst: Option<(u16, String)>,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.positions += other.positions;
        self.exceptions += other.exceptions;
        self.spoilt += other.spoilt;
        if let Some((plies, fen)) = other.worst {
            self.offer(plies, || fen);
        }
    }

    fn offer(&mut self, plies: u16, fen: impl FnOnce() -> String) {
        match &mut self.worst {
            Some((most, _)) if *most > plies => {}
            Some((most, first)) if *most == plies => {
                let fen = fen();
                if fen < *first {
                    *first = fen;
                }
            }
            worst => *worst = Some((plies, fen())),
        }
    }
}

/// Whether the strong side wins: White, or either side where numbers are equal.
pub(super) fn is_won(score: Score, turn: Colour, material: &Material) -> bool {
    let winner = if score.is_win() { turn } else { turn.other() };
    !score.is_draw() && (winner == Colour::White || material.white().pieces() == material.black().pieces())
}

impl Said {
    /// Whether it is false of a position with such a score. What does not
    /// depend on the score alone is never false here.
    pub(super) fn is_false_of(&self, score: Score, turn: Colour, material: &Material) -> bool {
        match self {
            Self::Won => !is_won(score, turn, material),
            Self::Drawn => !score.is_draw(),
            Self::Dtw { limit, .. } | Self::Dtz { limit } => {
                !is_won(score, turn, material) || score.distance() > limit.plies()
            }
            Self::DoesNotLose { .. } | Self::Same { .. } | Self::ShorterLongestWin => false,
        }
    }
}

/// One claim on the tables of one game.
pub(super) struct Scan<'a, G: Game, R> {
    pub(super) game: &'a G,
    pub(super) rulebook: &'a R,
    pub(super) prober: &'a Prober<G>,
    /// The game that it is compared with.
    pub(super) other: Option<&'a Prober<G>>,
    pub(super) claim: &'a Claim,
    pub(super) progress: &'a Progress,
}

/// Entries that a thread looks at in one go.
const CHUNK: u64 = 1 << 12;
/// Chunks whose exceptions wait in memory to be written in order.
const BATCH: u64 = 1 << 8;

impl<G: Game, R: Rulebook<Position = G::Position>> Scan<'_, G, R> {
    /// Steps of progress that a material takes.
    pub(super) fn steps(&self, material: &Material) -> u64 {
        let views = [View::White, View::Black].into_iter();
        let indices = views.filter_map(|view| self.index(material, view));
        indices.map(|index| index.len()).sum()
    }

    fn index(&self, material: &Material, view: View) -> Option<SliceIndex<R::Set>> {
        let (own, opp) = material.armies(view);
        SliceIndex::new(self.rulebook, &own, &opp, DigitOrder::SOLVING)
    }

    /// Looks at every position of a material.
    pub(super) fn material(
        &self,
        material: Material,
        mut exceptions: Option<Exceptions<'_>>,
    ) -> Result<Tally, EvaluateError> {
        let mut all = Tally::default();
        for (view, turn) in [(View::White, Colour::White), (View::Black, Colour::Black)] {
            // Like armies have one view; Black's turn sees the same placements.
            let Some(index) = self.index(&material, view) else {
                continue;
            };
            let asked = match self.claim.asked.to_move {
                None | Some(Party::Either) => true,
                Some(Party::Strong | Party::White) => turn == Colour::White,
                Some(Party::Weak | Party::Black) => turn == Colour::Black,
            };
            if !asked {
                self.progress.done.fetch_add(index.len(), Relaxed);
                continue;
            }
            let conditions = Conditions::new(self.game, self.rulebook, &self.claim.asked, &self.claim.said, turn)
                .ok_or_else(|| EvaluateError::Foreign {
                    claim: self.claim.id.clone(),
                    game: self.game.name().to_owned(),
                })?;
            let (own, opp) = material.armies(view);
            let unfolding = Unfolding::new(self.rulebook, &index, self.rulebook.symmetries(&own, &opp));
            let slice = Slice {
                scan: self,
                turn,
                material,
                metric: self.claim.said.metric(),
                index: &index,
                conditions: &conditions,
                unfolding: &unfolding,
                listed: exceptions.is_some(),
                longest: AtomicU16::new(0),
            };
            let chunks = index.len().div_ceil(CHUNK);
            for batch in 0..chunks.div_ceil(BATCH) {
                let tallies: Vec<(Tally, Vec<String>)> = (batch * BATCH..((batch + 1) * BATCH).min(chunks))
                    .into_par_iter()
                    .map(|chunk| slice.chunk(chunk))
                    .collect::<Result<_, ProbeError>>()?;
                for (tally, listed) in tallies {
                    all.add(tally);
                    if let Some(take) = &mut exceptions {
                        listed
                            .iter()
                            .try_for_each(|fen| take(fen))
                            .map_err(EvaluateError::Write)?;
                    }
                }
            }
        }
        Ok(all)
    }
}

/// The positions of a material with one side to move.
struct Slice<'a, G: Game, R: Rulebook> {
    scan: &'a Scan<'a, G, R>,
    turn: Colour,
    material: Material,
    metric: Metric,
    index: &'a SliceIndex<R::Set>,
    conditions: &'a Conditions<R::Set>,
    unfolding: &'a Unfolding<'a, R>,
    /// Exceptions are to be listed.
    listed: bool,
    /// The longest distance that any thread has met.
    longest: AtomicU16,
}

impl<G: Game, R: Rulebook<Position = G::Position>> Slice<'_, G, R> {
    /// Looks at one chunk; also gives the exceptions, if they are listed.
    fn chunk(&self, chunk: u64) -> Result<(Tally, Vec<String>), ProbeError> {
        let (rulebook, asked) = (self.scan.rulebook, &self.scan.claim.asked);
        let end = ((chunk + 1) * CHUNK).min(self.index.len());
        let mut tally = Tally::default();
        let mut listed = Vec::new();
        let mut maps: (u64, Vec<&[u8]>) = (u64::MAX, Vec::new());
        for entry in chunk * CHUNK..end {
            let placement: R::Placement = self.index.unrank(entry);
            if rulebook.has_gaps() && !rulebook.is_placement(&placement) {
                continue;
            }
            if asked
                .quiet
                .is_some_and(|quiet| rulebook.has_capture(&placement) == quiet)
            {
                continue;
            }
            let is_mated = || rulebook.ending(&placement).is_some_and(|ending| ending.mated);
            if asked.mated.is_some_and(|mated| is_mated() != mated) || !self.conditions.are_adjacent(&placement) {
                continue;
            }
            let lead = self.index.lead_of(entry);
            if maps.0 != lead {
                maps = (lead, self.unfolding.maps(lead, &placement));
            }
            self.entry(&placement, &maps.1, &mut tally, &mut listed)?;
        }
        self.scan.progress.done.fetch_add(end - chunk * CHUNK, Relaxed);
        Ok((tally, listed))
    }

    /// Looks at the placements that one entry stands for.
    fn entry(
        &self,
        placement: &R::Placement,
        maps: &[&[u8]],
        tally: &mut Tally,
        listed: &mut Vec<String>,
    ) -> Result<(), ProbeError> {
        let rulebook = self.scan.rulebook;
        let position = |placement: &R::Placement| rulebook.position(placement, self.turn);
        let image = |map: &&[u8]| self.unfolding.mapped(placement, map);
        let each_differs = self.conditions.name_squares() || self.scan.other.is_some();
        // All images that are asked about, where it takes a look at each.
        let images: Vec<R::Placement> = if each_differs {
            maps.iter()
                .map(image)
                .filter(|image| self.conditions.hold(image))
                .collect()
        } else {
            Vec::new()
        };
        let count = if each_differs { images.len() } else { maps.len() } as u64;
        if count == 0 {
            return Ok(());
        }
        // Symmetric placements are worth the same.
        let score = self.scan.prober.score(&position(placement), self.metric)?;
        let asked = self.scan.claim.asked.won;
        if asked.is_some_and(|won| won != is_won(score, self.turn, &self.material)) {
            return Ok(());
        }
        let fen = |placement: &R::Placement| self.scan.game.fen(&position(placement));
        tally.positions += count;
        tally.spoilt += if score.is_spoilt() { count } else { 0 };
        let plies = score.distance();
        if !score.is_draw() && plies >= self.longest.load(Relaxed) {
            self.longest.fetch_max(plies, Relaxed);
            let fens: Option<String> = if each_differs {
                images.iter().map(fen).min()
            } else {
                maps.iter().map(|map| fen(&image(map))).min()
            };
            tally.offer(plies, || fens.unwrap_or_default());
        }
        let exceptions = match &self.scan.claim.said {
            Said::DoesNotLose { .. } | Said::Same { .. } => {
                let mut exceptions = 0;
                for image in &images {
                    if self.is_exception(image, score, &position(image))? {
                        exceptions += 1;
                        if self.listed {
                            listed.push(fen(image));
                        }
                    }
                }
                tally.exceptions += exceptions;
                return Ok(());
            }
            said if said.is_false_of(score, self.turn, &self.material) => count,
            _ => 0,
        };
        tally.exceptions += exceptions;
        if self.listed && exceptions > 0 {
            if each_differs {
                listed.extend(images.iter().map(fen));
            } else {
                listed.extend(maps.iter().map(|map| fen(&image(map))));
            }
        }
        Ok(())
    }

    /// Whether a placement is an exception, where symmetric ones may differ.
    fn is_exception(&self, image: &R::Placement, score: Score, position: &G::Position) -> Result<bool, ProbeError> {
        Ok(match (&self.scan.claim.said, self.scan.other) {
            (Said::DoesNotLose { .. }, _) => {
                let loser = if score.is_win() { Side::Opponent } else { Side::Own };
                !score.is_draw() && self.conditions.is_safe(image, loser)
            }
            (Said::Same { values_only }, Some(other)) => {
                let other = other.score(position, self.metric)?;
                let same = if *values_only {
                    other.value() == score.value()
                } else {
                    other == score
                };
                !same
            }
            _ => false,
        })
    }
}
