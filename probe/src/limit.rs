//! Whether a look-up is worth trying.

/// The numbers of pieces that tables of a game and metric have. To be asked in a search before anything
/// else: an addition and three comparisons, nothing is looked up.
///
/// ```
/// # use petrov_games::Games;
/// # use petrov_probe::{Metric, Tables};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tables/starter");
/// # let tables = Tables::open(&[folder])?;
/// # let prober = tables.prober(Games::built_in().draughts("russian")?)?;
/// let limit = prober.limit(Metric::Wld);
/// assert!(limit.admits(2, 1));
/// assert!(!limit.admits(12, 12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PieceLimit {
    pub(crate) together: u32,
    pub(crate) of_a_side: u32,
}

impl PieceLimit {
    /// Whether there are tables of so many pieces of White and of Black. If not, no position with so many is in a
    /// table, though a capture may lead from it into one, which [`Handle::value`](crate::Handle::value) would
    /// find; if so, a look-up tells (a material may still be missing).
    #[inline(always)]
    #[must_use]
    pub const fn admits(self, white: u32, black: u32) -> bool {
        white.saturating_add(black) <= self.together && white <= self.of_a_side && black <= self.of_a_side
    }

    /// Most pieces of both sides together; 0 if there are no tables.
    #[must_use]
    pub const fn pieces(self) -> u32 {
        self.together
    }
}
