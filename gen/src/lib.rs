//! Planning, solving and writing of Petrov's endgame tables.
//!
//! ```no_run
//! use petrov_games::Games;
//! use petrov_gen::{BuildOptions, Progress, What, build, plan};
//! use petrov_probe::Metric;
//!
//! let games = Games::built_in();
//! let game = games.draughts("russian")?;
//! let options = BuildOptions {
//!     metrics: vec![Metric::Wld, Metric::Dtw],
//!     dirs: vec!["tables".into()],
//!     threads: 0,
//!     memory: None,
//! };
//! let plan = plan(game, What::Pieces(4), &options)?;
//! let report = build(game, &plan, &options, &Progress::default())?;
//! println!("{} positions", report.positions);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

mod build;
mod checksums;
pub mod claims;
mod clock;
mod count;
mod families;
mod large_pages;
mod lock;
mod message;
mod pieces;
mod plan;
mod ranks;
mod slice;
mod solved;
mod stored;
mod summary;
mod table_writer;
mod unit;
mod values;
mod verify;
mod write;

pub use build::{BuildError, BuildReport, Progress, TableReport, build};
pub use checksums::{
    ChecksumList, ChecksumOptions, Checksums, Difference, FileHash, HashedTable, ListError, ListedTable, ReadingError,
    checksums,
};
pub use lock::{FolderLock, LockError};
pub use plan::{BuildOptions, Plan, PlanError, PlannedSlice, PlannedTable, What, WhatError, materials, plan};
pub use ranks::{
    RankReport, SpreadError, SpreadOptions, SpreadPlan, SpreadReport, SpreadSlice, Way, Wire, build_spread,
    collect_spread, spread_plan,
};
pub use verify::{
    CheckedTable, Depth, Finding, MOST_FINDINGS, Verdict, VerifyError, VerifyOptions, VerifyReport, verify,
};
pub use write::{CodeSource, DEFAULT_LEVEL, FREE, WriteError, WriteReport, one_of, stop_writing, write_table};
