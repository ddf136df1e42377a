//! Where tables are if nobody says.

use std::path::PathBuf;

/// Names the folders of tables, separated as in `PATH`.
const VARIABLE: &str = "PETROV_TABLES";

/// Below the current folder.
const FOLDER: &str = "tables";

/// The folders in which tables are looked for if nobody says otherwise: those of the variable `PETROV_TABLES`,
/// separated as in `PATH`, else `tables` in the current folder. In a checkout of Petrov the latter has the starter
/// set.
#[must_use]
pub fn default_folders() -> Vec<PathBuf> {
    let named: Vec<PathBuf> = std::env::var_os(VARIABLE)
        .map(|list| {
            std::env::split_paths(&list)
                .filter(|folder| !folder.as_os_str().is_empty())
                .collect()
        })
        .unwrap_or_default();
    if named.is_empty() {
        vec![PathBuf::from(FOLDER)]
    } else {
        named
    }
}
