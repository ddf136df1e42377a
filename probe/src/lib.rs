//! Index, table format and probing of Petrov's endgame tables.

mod cache;
pub mod format;
mod index;
mod material;
pub mod pack;
mod prober;
mod score;
mod table;

pub use cache::{BlockCache, CacheStats, DEFAULT_CACHE_BYTES};
pub use format::FormatError;
pub use index::{Digit, DigitOrder, SliceIndex, binomial, set_rank, set_unrank};
pub use material::{Army, MAX_PIECES, Material, MaterialError, View};
pub use prober::{
    Distance, EXTENSION, OpenError, ProbeError, Prober, RankedMove, RootProbe, Tables, material, table_path,
};
pub use score::{Metric, Score, Value};
pub use table::{BlockFault, Table, TableError};
