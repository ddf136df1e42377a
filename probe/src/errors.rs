//! What can be wrong with a table file.

use crate::format::VERSION;

/// Why bytes are not a table this crate can read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The file begins like no table.
    #[error("not a Petrov table: the first bytes are no table's")]
    NotATable,
    /// A table, but of another version of the format.
    #[error("table format version {found}, but this program reads version {VERSION}")]
    UnknownVersion {
        /// The version the file gives.
        found: u16,
    },
    /// The file ends too early.
    #[error("truncated: {have} bytes where {need} are needed")]
    Truncated {
        /// Bytes there are.
        have: u64,
        /// Bytes the part read so far asks for.
        need: u64,
    },
    /// A checksum differs, so the file was altered or damaged.
    #[error("the checksum of {part} differs: the file is damaged")]
    Checksum {
        /// What the checksum covers.
        part: &'static str,
    },
    /// A field holds what no table has.
    #[error("impossible {field}: {value}, expected {expected}")]
    Impossible {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: String,
        /// What it may hold.
        expected: String,
    },
}

/// Why codes could not be packed or unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// A code is not below the count of codes.
    #[error("code {code} where only codes below {limit} exist")]
    Code {
        /// The code met.
        code: u32,
        /// How many codes exist.
        limit: u32,
    },
    /// The packed bytes are not as many as the codes need.
    #[error("{have} packed bytes where {need} are needed")]
    Length {
        /// Bytes given.
        have: usize,
        /// Bytes needed.
        need: u64,
    },
}
