//! What a run keeps on disk of slices that are not finished: complete pages,
//! and the state of units whose rows are shared, between two plies.
//!
//! Files lie in `DIR/GAME/checkpoint`. Each begins with a checksum and with what it is
//! about; one that is damaged or of other rules is left out, and its work is
//! done again.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use petrov_probe::Metric;
use serde::{Deserialize, Serialize};

use super::store::{PageName, Sealed};
use crate::message;
use crate::plan::Plan;
use crate::unit::StateFrame;
use crate::write::{WriteError, write_file};

const MAGIC: &[u8; 16] = b"petrov state 1\r\n";
const CHECKSUM_BYTES: usize = 32;

/// The folder of checkpoints in that of a game.
pub(super) const NAME: &str = "checkpoint";

/// What a file is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Label {
    pub(super) fingerprint: [u8; 16],
    pub(super) material: String,
    /// Number of the metric.
    pub(super) metric: u8,
    pub(super) holds: Holds,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Holds {
    /// Complete pages of a slice, with values of each unit of a side as pages are cut.
    Pages { units: Vec<u64> },
    /// Some blocks of a unit.
    State {
        unit: u64,
        frame: StateFrame,
        /// Half and number within it.
        blocks: Vec<(u8, u32)>,
    },
}

/// Complete pages: side, page, contents.
pub(super) type KeptPages = Vec<(u8, u64, Sealed)>;

/// Blocks of a unit: half, number within it, contents.
pub(super) type KeptBlocks = Vec<(u8, u32, Vec<u8>)>;

/// The folder of checkpoints of one rank.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Tells the files of this rank and run from others.
    mark: String,
    files: AtomicU64,
}

/// A file that was read.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) label: Label,
}

impl Folder {
    pub(super) fn new(path: PathBuf, run: u64, rank: usize) -> Self {
        Self {
            path,
            mark: format!("{run:x}-{rank}"),
            files: AtomicU64::new(0),
        }
    }

    /// The beginning of the names of all files of a slice.
    fn prefix(material: &str, metric: Metric) -> String {
        format!("{material}.{metric}.")
    }

    /// Writes a file and gives its path.
    pub(super) fn write(&self, label: &Label, contents: &[u8]) -> Result<PathBuf, WriteError> {
        let metric = Metric::ALL[usize::from(label.metric)];
        let number = self.files.fetch_add(1, Relaxed);
        let name = Self::prefix(&label.material, metric) + &format!("{}-{number}", self.mark);
        let path = self.path.join(name);
        let mut body = message::encode(label, &[]);
        body.extend_from_slice(contents);
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(blake3::hash(&body).as_bytes());
        bytes.extend_from_slice(&body);
        write_file(&path, &bytes)?;
        Ok(path)
    }

    /// The files here that are whole and of these rules, and what is wrong with
    /// the others.
    pub(super) fn list(&self, fingerprint: [u8; 16]) -> (Vec<Found>, Vec<String>) {
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        let Ok(entries) = fs::read_dir(&self.path) else {
            return (found, faults);
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let hidden = path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if hidden {
                // What a killed run was writing.
                let _ = fs::remove_file(&path);
                continue;
            }
            match read(&path) {
                Ok((label, _)) if label.fingerprint == fingerprint => found.push(Found { path, label }),
                Ok(_) => faults.push(format!("{}: a checkpoint of other rules", path.display())),
                Err(fault) => faults.push(format!("{}: {fault}", path.display())),
            }
        }
        (found, faults)
    }

    /// Removes all files of some slices, of whatever run.
    pub(super) fn clear(&self, slices: &HashSet<(String, Metric)>) {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return;
        };
        let prefixes: HashSet<String> = (slices.iter())
            .map(|(material, metric)| Self::prefix(material, *metric))
            .collect();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // No material has a full stop.
            let prefix = name.match_indices('.').nth(1).and_then(|(at, _)| name.get(..=at));
            if prefix.is_some_and(|prefix| prefixes.contains(prefix)) {
                // Another rank that shares the folder may have been quicker.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes the folder if it is empty.
    pub(super) fn remove_if_empty(&self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// Removes what runs of several ranks have kept of tables that are finished in a game's folder.
pub(crate) fn forget(game_folder: &Path, plan: &Plan, metrics: &[Metric]) {
    let folder = Folder::new(game_folder.join(NAME), 0, 0);
    let slices = plan.slices.iter().map(|slice| slice.material.to_string());
    let tables = slices.flat_map(|material| metrics.iter().map(move |metric| (material.clone(), *metric)));
    folder.clear(&tables.collect());
    folder.remove_if_empty();
}

/// What a file is about, and what it holds.
pub(super) fn read(path: &Path) -> Result<(Label, Vec<u8>), String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let other = || "no checkpoint of this version, or a damaged one".to_owned();
    let about = fs::symlink_metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err("not a file".to_owned());
    }
    // Before anything is read that is not there.
    let mut file = fs::File::open(path).map_err(unreadable)?;
    let mut head = [0; MAGIC.len() + 8 + CHECKSUM_BYTES];
    file.read_exact(&mut head).map_err(|_| other())?;
    let length = head[MAGIC.len()..]
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if !head.starts_with(MAGIC) || length.checked_add(head.len() as u64) != Some(about.len()) {
        return Err(other());
    }
    let mut body = Vec::new();
    file.take(length).read_to_end(&mut body).map_err(unreadable)?;
    if blake3::hash(&body).as_bytes() != &head[MAGIC.len() + 8..] {
        return Err(other());
    }
    let (label, contents) = message::decode::<Label>(&body).map_err(|_| other())?;
    Ok((label, contents.to_vec()))
}

/// Pages as the contents of a file.
pub(super) fn pages(pages: &[(PageName, Sealed)]) -> Vec<u8> {
    let pages: KeptPages = pages
        .iter()
        .map(|(name, sealed)| (name.side, name.page, sealed.clone()))
        .collect();
    message::encode(&pages, &[])
}
