//! Whole-program and cross-crate tests of Petrov live in this package's `tests/` folder.
