//! Planning, solving and writing of Petrov's endgame tables.

mod kings;
mod slice;
mod solved;
mod summary;
mod unit;
mod values;
mod oracle_tests;
