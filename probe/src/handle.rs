//! Probing by one thread of a search.

use petrov_games::{Game, Rulebook};

use crate::ProbeError;
use crate::prober::{Fault, Prober, Told, Untold, with_lookup};
use crate::reader::Own;
use crate::score::{Metric, Score, Value};

/// What one look-up says of a position of a search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The value for the side to move.
    Value(Value),
    /// No table has the position: none of its material, or it has a right (castling) that tables do not hold.
    NotInTable,
    /// Captures decide: look at what they lead to, as the search does anyway, or ask [`Handle::value`].
    NeedsCaptureSearch,
}

/// What a handle has done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct HandleStats {
    /// Positions asked for.
    pub probes: u64,
    /// Positions, those on the way included, in which captures decided.
    pub searches: u64,
    /// Entries read.
    pub lookups: u64,
    /// Blocks decoded because neither the handle nor the cache held them. `1 - decoded / lookups` is the rate
    /// of hits.
    pub decoded: u64,
}

/// Probes positions of one game for one thread.
///
/// It owns what decoding takes and holds the last blocks that it came back to (16 of them, at most 64 KiB
/// each, besides the cache), so that a probe allocates nothing, and takes no lock where the handle or the kept
/// part of the cache has the block. Make one for each thread of a search, and keep it as long as the thread.
/// Values are those of the [`Prober`] it was made by.
///
/// ```
/// use petrov_games::Games;
/// use petrov_probe::{Metric, Node, Tables, Value};
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tables/starter");
/// let tables = Tables::open(&[folder])?;
/// let games = Games::built_in();
/// let game = games.draughts("english")?;
/// let mut handle = tables.prober(game)?.handle();
/// let position = game.parse_fen("B:W19:BK1,K2")?;
/// assert_eq!(handle.value(&position)?, Some(Value::Win));
/// // The start is in no table.
/// assert_eq!(handle.value(&game.start())?, None);
/// // Black can take: a single look-up does not tell.
/// let capture = game.parse_fen("B:W6:BK1,K32")?;
/// assert_eq!(handle.node(&capture)?, Node::NeedsCaptureSearch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Handle<G: Game> {
    prober: Prober<G>,
    own: Own,
    probes: u64,
}

impl<G: Game> std::fmt::Debug for Handle<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle")
            .field("prober", &self.prober)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl<G: Game> Handle<G> {
    pub(crate) fn new(prober: Prober<G>) -> Self {
        Self {
            prober,
            own: Own::default(),
            probes: 0,
        }
    }

    /// The prober that it was made by.
    #[must_use]
    pub fn prober(&self) -> &Prober<G> {
        &self.prober
    }

    /// The value of a position for the side to move; captures are searched. `None` if it is in no table, or if a
    /// capture leads to what is in none; never a guess.
    ///
    /// # Errors
    /// [`ProbeError::Table`] if a table is damaged, [`ProbeError::Foreign`] or [`ProbeError::Header`] if another table lies
    /// in its place, [`ProbeError::NoPosition`] if pieces stand where they cannot.
    #[inline]
    pub fn value(&mut self, position: &G::Position) -> Result<Option<Value>, ProbeError> {
        Ok(self.score(position, Metric::Wld)?.map(Score::value))
    }

    /// As [`Handle::value`], with the distance in a metric.
    ///
    /// # Errors
    /// As [`Handle::value`].
    #[inline]
    pub fn score(&mut self, position: &G::Position, metric: Metric) -> Result<Option<Score>, ProbeError> {
        match self.find(position, metric, true) {
            Ok(score) => Ok(Some(score)),
            Err(Fault::Missing(_)) => Ok(None),
            Err(fault) => Err(self.explain(fault)),
        }
    }

    /// What a single look-up in the WLD tables says, without any search of captures: the cheapest answer, for nodes
    /// whose moves are searched anyway. Unpacked tables ([`Prober::unpack`]) always have a value.
    ///
    /// # Errors
    /// As [`Handle::value`].
    #[inline]
    pub fn node(&mut self, position: &G::Position) -> Result<Node, ProbeError> {
        match self.find(position, Metric::Wld, false) {
            Ok(score) => Ok(Node::Value(score.value())),
            Err(Fault::Missing(_)) => Ok(Node::NotInTable),
            Err(Fault::Captures) => Ok(Node::NeedsCaptureSearch),
            Err(fault) => Err(self.explain(fault)),
        }
    }

    #[inline(always)]
    fn find(&mut self, position: &G::Position, metric: Metric, search: bool) -> Result<Score, Fault<Untold>> {
        self.probes += 1;
        if self.prober.game().not_in_tables(position).is_some() {
            return Err(Fault::Missing(Untold));
        }
        let own = &mut self.own;
        with_lookup!(self.prober, lookup => {
            let placement = lookup.rulebook.view(position);
            lookup.score_at_once(&placement, metric, true, own, search)
        })
    }

    #[cold]
    fn explain(&self, fault: Fault<Untold>) -> ProbeError {
        let fault: Fault<Told> = match fault {
            Fault::Table(error) => Fault::Table(error),
            Fault::Obstructed(material, metric) => Fault::Obstructed(material, metric),
            // Missing tables and captures are answers, not errors.
            Fault::NoPosition | Fault::Missing(_) | Fault::Captures => Fault::NoPosition,
        };
        with_lookup!(self.prober, lookup => lookup.explain(self.prober.game(), fault))
    }

    /// What the handle has done so far.
    #[must_use]
    pub fn stats(&self) -> HandleStats {
        HandleStats {
            probes: self.probes,
            searches: self.own.searches,
            lookups: self.own.lookups,
            decoded: self.own.misses,
        }
    }
}
