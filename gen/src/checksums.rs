//! Lists of checksums, by which two people know that they have the same tables.
//!
//! A list has a line for each table, sorted by path: the BLAKE3 hash of the file in hexadecimal, two spaces, and
//! the path below the folder of tables with `/` between its parts. That is what `b3sum` writes and
//! `b3sum --check` reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::Ordering::Relaxed;

use petrov_probe::{Backend, BlockCache, OpenError, Table, TableError, Tables};
use rayon::prelude::*;

use crate::build::Progress;

/// The BLAKE3 hash of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileHash(blake3::Hash);

impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

/// One table of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedTable {
    /// Below the folder of tables, with `/` between its parts.
    pub path: String,
    /// What the file holds.
    pub hash: FileHash,
}

/// A line that is not one of a checksum list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ListError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// A checksum list, as read from a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChecksumList {
    tables: BTreeMap<String, FileHash>,
}

impl ChecksumList {
    /// The tables, in the order of their paths.
    pub fn tables(&self) -> impl Iterator<Item = ListedTable> {
        self.tables.iter().map(|(path, &hash)| ListedTable {
            path: path.clone(),
            hash,
        })
    }
}

impl FromStr for ChecksumList {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        let mut tables = BTreeMap::new();
        // Some editors put a byte order mark first.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (at, line) in text.lines().enumerate() {
            let wrong = |what| ListError { line: at + 1, what };
            let Some((hash, path)) = line.split_once("  ").filter(|(_, path)| !path.is_empty()) else {
                return Err(wrong("expected a hash, two spaces and a path"));
            };
            let hash = blake3::Hash::from_hex(hash).map_err(|_| wrong("expected a hash of 64 hexadecimal digits"))?;
            // As `find` names files.
            let path = path.strip_prefix("./").unwrap_or(path);
            if tables.insert(path.to_owned(), FileHash(hash)).is_some() {
                return Err(wrong("a path for the second time"));
            }
        }
        if tables.is_empty() {
            return Err(ListError {
                line: 1,
                what: "the list is empty",
            });
        }
        Ok(Self { tables })
    }
}

/// One table as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HashedTable {
    /// As [`ListedTable::path`].
    pub path: String,
    /// What the file holds.
    pub hash: FileHash,
    /// Its length.
    pub bytes: u64,
}

/// A table that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// As [`ListedTable::path`].
    pub path: String,
    /// What the list says, if it was compared with one.
    pub expected: Option<FileHash>,
    /// What the file holds, if it could be read.
    pub found: Option<FileHash>,
    /// What is wrong, in words.
    pub what: String,
    /// It is not there.
    pub missing: bool,
}

/// What was found in some folders.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checksums {
    /// The tables that could be read, in the order of their paths; compared with a list, those that stand in it.
    pub files: Vec<HashedTable>,
    /// Tables that are not as they should be.
    pub differ: Vec<Difference>,
    /// Tables that the list says nothing of.
    pub unlisted: Vec<String>,
}

/// How checksums are computed.
#[derive(Clone, Debug)]
pub struct ChecksumOptions {
    /// Folders of tables. Where several have the same path, the first one's is taken, as in probing.
    pub dirs: Vec<PathBuf>,
    /// How headers are read; files are always read from front to back.
    pub backend: Backend,
    /// Tables that are listed but not there are no difference.
    pub ignore_missing: bool,
}

/// Why checksums could not be computed or tables not compared. A table that is damaged or missing is no such
/// reason: that is an answer.
#[derive(Debug, thiserror::Error)]
pub enum ReadingError {
    /// Tables could not be looked for.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A table that could be opened cannot be opened for the second time, as when there are too few file descriptors:
    /// nothing is known to be wrong with it.
    #[error("{}: cannot be opened again: {source}", path.display())]
    Again {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Computes the checksums of all tables, or, with a list, of those that stand in it, and compares them. Without a
/// list each file is compared with the checksum at its own end, so that no list says of a damaged table
/// that it is right. Works on the current rayon pool.
///
/// # Errors
/// See [`ReadingError`]; nothing that a table holds is one.
pub fn checksums(
    options: &ChecksumOptions,
    list: Option<&ChecksumList>,
    progress: &Progress,
) -> Result<Checksums, ReadingError> {
    let tables = Tables::open_with(&options.dirs, BlockCache::new(0), options.backend)?;
    let mut found: BTreeMap<String, Result<&Table, String>> = BTreeMap::new();
    let mut report = Checksums::default();
    let all = (tables.iter().map(|table| (table.path(), Ok(table)))).chain(
        tables
            .faults()
            .map(|(path, error)| (path, Err(without_path(path, error)))),
    );
    for (path, table) in all {
        match listed_path(path, &options.dirs) {
            Some(path) => {
                found.entry(path).or_insert(table);
            }
            None => report.differ.push(Difference {
                path: path.display().to_string(),
                expected: None,
                found: None,
                what: "no list can hold this path: it is not plain UTF-8 text".to_owned(),
                missing: false,
            }),
        }
    }
    let mut listed: BTreeMap<String, FileHash> = BTreeMap::new();
    if let Some(list) = list {
        // A list is of a folder of tables, which may lie deeper here: GAME/TABLE is what tells a table.
        let line_of = |path: &str| {
            let end = path.rmatch_indices('/').nth(1).map_or(path, |(at, _)| &path[at + 1..]);
            [path, end].into_iter().find_map(|path| list.tables.get_key_value(path))
        };
        let mut seen = BTreeSet::new();
        found.retain(|path, table| {
            if let Some((name, hash)) = line_of(path) {
                seen.insert(name);
                listed.insert(path.clone(), *hash);
                return true;
            }
            match table {
                Ok(_) => report.unlisted.push(path.clone()),
                Err(what) => report.differ.push(Difference {
                    path: path.clone(),
                    expected: None,
                    found: None,
                    what: what.clone(),
                    missing: false,
                }),
            }
            false
        });
        for (path, hash) in &list.tables {
            if !options.ignore_missing && !seen.contains(path) {
                report.differ.push(Difference {
                    path: path.clone(),
                    expected: Some(*hash),
                    found: None,
                    what: "the table is missing".to_owned(),
                    missing: true,
                });
            }
        }
    }
    let bytes = |table: &Result<&Table, String>| table.as_ref().map_or(0, |table| table.header().file_bytes());
    progress.total.store(found.values().map(bytes).sum(), Relaxed);
    progress.set_step("reading", &"tables");
    let looks: Result<Vec<Look>, ReadingError> = found
        .into_par_iter()
        .map(|(path, table)| {
            let expected = listed.get(&path).copied();
            look_at(path, table, expected, progress)
        })
        .collect();
    for look in looks? {
        report.files.extend(look.file);
        report.differ.extend(look.difference);
    }
    report.differ.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(report)
}

/// A table's path as lists have it.
fn listed_path(path: &Path, dirs: &[PathBuf]) -> Option<String> {
    let below = dirs.iter().find_map(|dir| path.strip_prefix(dir).ok())?;
    let parts: Option<Vec<&str>> = below
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    // `b3sum` escapes such names, with other lines than ours.
    parts
        .map(|parts| parts.join("/"))
        .filter(|path| !path.contains(['\n', '\r', '\\']))
}

/// What is wrong with a table, without the path that stands beside it anyway.
pub(crate) fn without_path(path: &Path, error: &TableError) -> String {
    let text = error.to_string();
    let stripped = text.strip_prefix(&format!("{}: ", path.display())).map(str::to_owned);
    stripped.unwrap_or(text)
}

/// What was found of one table.
struct Look {
    file: Option<HashedTable>,
    difference: Option<Difference>,
}

/// Reads one table and says what it holds.
fn look_at(
    path: String,
    table: Result<&Table, String>,
    expected: Option<FileHash>,
    progress: &Progress,
) -> Result<Look, ReadingError> {
    let read = match table {
        Ok(table) => hash_of(&mut open_again(table.path())?, progress)
            .map(|read| (table, read))
            .map_err(|error| format!("cannot be read: {error}")),
        Err(what) => Err(what),
    };
    let (file, wrong) = match read {
        Err(what) => (None, Some(what)),
        Ok((table, (hash, bytes))) => {
            let file = HashedTable {
                path: path.clone(),
                hash,
                bytes,
            };
            match expected {
                Some(expected) if expected == hash => (Some(file), None),
                Some(_) => (Some(file), Some("not the table of the list".to_owned())),
                None => match table.verify_checksum() {
                    Ok(()) => (Some(file), None),
                    Err(error) => (None, Some(without_path(table.path(), &error))),
                },
            }
        }
    };
    let difference = wrong.map(|what| Difference {
        path,
        expected,
        found: file.as_ref().map(|file| file.hash),
        what,
        missing: false,
    });
    Ok(Look { file, difference })
}

/// Opens the file of a table that has been opened before, to read it from front to back.
pub(crate) fn open_again(path: &Path) -> Result<File, ReadingError> {
    File::open(path).map_err(|source| ReadingError::Again {
        path: path.to_owned(),
        source,
    })
}

/// The hash of a file and its length.
fn hash_of(file: &mut File, progress: &Progress) -> io::Result<(FileHash, u64)> {
    let mut hasher = blake3::Hasher::new();
    // Long enough for its widest vectors.
    let mut buffer = vec![0; 1 << 17];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&buffer[..count]);
                progress.done.fetch_add(count as u64, Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((FileHash(hasher.finalize()), hasher.count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        // The hash of no bytes at all, from the BLAKE3 paper's test vectors.
        let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        let list: ChecksumList = format!("\u{feff}{empty}  ./b/x.petrov\r\n{empty}  a/two  spaces.petrov\n")
            .parse()
            .unwrap();
        let paths: Vec<String> = list.tables().map(|table| table.path).collect();
        assert_eq!(paths, ["a/two  spaces.petrov", "b/x.petrov"]);
        assert_eq!(list.tables().next().unwrap().hash.to_string(), empty);
        for (text, line) in [
            (String::new(), 1),
            ("\n".to_owned(), 1),
            (format!("{empty} a\n"), 1),
            (format!("{empty}  a\n{empty}  \n"), 2),
            (format!("{empty}  a\n{empty}  a\n"), 2),
            (format!("{empty}  a\n{}  b\n", &empty[1..]), 2),
            (format!("{empty}  a\nx{}  b\n", &empty[1..]), 2),
        ] {
            assert_eq!(text.parse::<ChecksumList>().unwrap_err().line, line, "{text}");
        }
    }

    #[test]
    fn paths_are_those_below_the_folder() {
        let dirs = [PathBuf::from("tables"), PathBuf::from("/other/")];
        let path = |path: &str| listed_path(Path::new(path), &dirs);
        assert_eq!(path("tables/russian/a.petrov").unwrap(), "russian/a.petrov");
        assert_eq!(path("/other/a.petrov").unwrap(), "a.petrov");
        assert_eq!(path("tables/new\nline.petrov"), None);
        assert_eq!(path("elsewhere/a.petrov"), None);
    }
}
