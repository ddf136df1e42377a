//! A starter set of Petrov's endgame tables: all built-in games with two and three pieces, as far as two megabytes
//! go. `scripts/starter` makes it.
//!
//! The crate `petrov-probe` reads them with its feature `starter`; a folder of tables needs nothing of this crate.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// Every table of the set: its name below a folder of tables (`russian/KKvK.wld.petrov`), and its bytes.
pub static TABLES: &[(&str, &[u8])] = include!("tables.in");
