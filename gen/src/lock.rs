//! One build at a time in a folder.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a lock is asked for that somebody else has.
const PATIENCE: Duration = Duration::from_millis(200);

/// The folder cannot be made or opened.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot {action}: {source}", path.display())]
pub struct LockError {
    path: PathBuf,
    action: &'static str,
    source: io::Error,
}

/// A folder in which no other build of this program works, on this machine or on another that shares the folder.
///
/// It is an advisory lock of the folder itself (`flock`), which leaves nothing behind and ends with the process,
/// however that ends. On file systems without such locks builds run beside each other: that costs time, but
/// does no harm, as each table is written beside its place and then put there at one stroke.
#[derive(Debug)]
pub struct FolderLock {
    _folder: File,
}

impl FolderLock {
    /// Locks a folder; `None` if there is none. If another build has it, `waiting` is called once, and the
    /// lock is waited for.
    ///
    /// # Errors
    /// The folder is there but cannot be opened.
    pub fn of_existing(path: &Path, waiting: impl FnOnce()) -> Result<Option<Self>, LockError> {
        let folder = match File::open(path) {
            Ok(folder) => folder,
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(LockError {
                    path: path.to_owned(),
                    action: "open the folder",
                    source,
                });
            }
        };
        let mut waiting = Some(waiting);
        while let Err(TryLockError::WouldBlock) = folder.try_lock() {
            if let Some(waiting) = waiting.take() {
                waiting();
            }
            std::thread::sleep(PATIENCE);
        }
        Ok(Some(Self { _folder: folder }))
    }

    /// Locks a folder, made if it is missing.
    ///
    /// # Errors
    /// The folder cannot be made or opened.
    pub fn of(path: &Path, waiting: impl FnOnce()) -> Result<Self, LockError> {
        let failed = |source| LockError {
            path: path.to_owned(),
            action: "create the folder",
            source,
        };
        fs::create_dir_all(path).map_err(failed)?;
        let lock = Self::of_existing(path, waiting)?;
        // Somebody has removed it at once.
        lock.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }
}
