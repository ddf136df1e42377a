//! Index, table format and probing of Petrov's endgame tables.

mod cache;
pub mod format;
mod index;
mod keys;
pub mod pack;
mod prober;
mod score;
mod storage;
mod table;

pub use cache::{BlockCache, CacheStats, DEFAULT_CACHE_BYTES};
pub use format::FormatError;
pub use index::{Digit, DigitOrder, MovingDigit, SliceIndex, binomial, set_rank, set_unrank};
pub use keys::{KeyHasher, KeyMap};
pub use petrov_games::{Army, MAX_PIECES, Material, MaterialError, View};
pub use prober::{
    Distance, EXTENSION, OpenError, ProbeError, Prober, RankedMove, RootProbe, Tables, free_entries, material,
    table_path,
};
pub use score::{Metric, Score, Value, Value50};
pub use storage::Backend;
pub use table::{BlockFault, Table, TableError};
