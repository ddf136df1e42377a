//! Limits that the system sets.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Lets the process open as many files as it may at most: with `--read pread` each table is one.
pub(crate) fn open_as_many_files_as_allowed() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Refused, it stays as it was.
    let _ = setrlimit(Resource::Nofile, limit);
}
