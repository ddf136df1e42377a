//! Planning, solving and writing of Petrov's endgame tables.

mod kings;
mod oracle_tests;
mod slice;
mod solved;
mod summary;
mod unit;
mod values;
