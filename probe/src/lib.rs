//! Looking positions up in Petrov's endgame tables, for engines.
//!
//! ```
//! use petrov_games::Games;
//! use petrov_probe::{Metric, Tables, Value};
//!
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tables/starter");
//! let tables = Tables::open(&[folder])?;                       // once, for all games
//! let prober = tables.prober(Games::built_in().chess("chess")?)?; // once for each game
//! let limit = prober.limit(Metric::Wld);
//! let mut handle = prober.handle();                            // one for each thread
//!
//! let position = prober.game().parse_fen("8/8/8/8/8/2k5/8/K6Q w - - 0 1")?;
//! if limit.admits(2, 1) {
//!     assert_eq!(handle.value(&position)?, Some(Value::Win));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing is global: tables, probers and handles are values that can be had more than once. All are
//! [`Send`]; all but handles are shared between threads.
//!
//! Without default features (`mmap`) nothing is mapped into memory, and tables are read by positioned reads.

#![deny(missing_docs)]

mod best;
mod cache;
mod errors;
mod folders;
#[doc(hidden)]
pub mod format;
mod handle;
mod index;
mod keys;
mod limit;
#[doc(hidden)]
pub mod pack;
mod prober;
mod reader;
mod score;
mod storage;
mod table;
mod unpacked;

pub use best::{BestMoves, CountRule, Ranking};
pub use cache::{BlockCache, CacheStats, DEFAULT_CACHE_BYTES};
pub use errors::{FormatError, PackError};
pub use folders::default_folders;
pub use handle::{Handle, HandleStats, Node};
pub use limit::PieceLimit;
pub use petrov_games::{Army, MAX_PIECES, Material, MaterialError, View};
pub use prober::{
    Distance, EXTENSION, OpenError, ProbeError, Prober, RankedMove, RootProbe, Tables, material, table_path,
};
pub use score::{Metric, Score, Value, Value50};
pub use storage::Backend;
pub use table::{BlockFault, Table, TableError};
pub use unpacked::Filled;

// What builders of tables share with the prober. It may change with any version.
#[doc(hidden)]
pub use index::{Digit, DigitOrder, MovingDigit, SliceIndex, binomial, set_rank, set_unrank};
#[doc(hidden)]
pub use keys::{KeyHasher, KeyMap};
#[doc(hidden)]
pub use prober::free_entries;
