//! Keeps on disk, from time to time, what is not in a table yet.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petrov_probe::Metric;

use super::checkpoint::{self, Folder, Holds, Label};
use super::post::Post;
use super::store::PageName;
use crate::write::WriteError;

/// A slice whose tables are not written yet.
struct OpenSlice {
    label: Label,
    /// Pages that are on disk, as side and page.
    kept: HashSet<(u8, u64)>,
}

/// Keeps complete pages of slices whose tables are not written.
#[derive(Default)]
pub(super) struct Keeper {
    slices: Mutex<BTreeMap<(u32, u32), OpenSlice>>,
    closed: Mutex<Vec<(u32, u32)>>,
    folder: Mutex<Option<Folder>>,
    /// It has been said that there is a checkpoint missing.
    warned: AtomicBool,
    ends: Mutex<bool>,
    ending: Condvar,
}

/// Pages are written in files of some hundred megabytes at most, as each is made
/// in memory.
const PAGES_TO_A_FILE: usize = 1024;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keeper {
    /// From now on files go to a folder.
    pub(super) fn start(&self, folder: Folder) {
        *lock(&self.folder) = Some(folder);
    }

    /// Whether anything is kept at all.
    pub(super) fn keeps(&self) -> bool {
        lock(&self.folder).is_some()
    }

    /// From now on the slice's pages are kept, except those that are on disk
    /// already.
    pub(super) fn open(&self, pass: u32, slice: u32, label: Label, kept: HashSet<(u8, u64)>) {
        if self.keeps() {
            lock(&self.slices).insert((pass, slice), OpenSlice { label, kept });
        }
    }

    /// The slice's tables are written.
    pub(super) fn close(&self, pass: u32, slice: u32) {
        lock(&self.closed).push((pass, slice));
    }

    /// Writes what is new, and removes what is needed no more.
    pub(super) fn save(&self, post: &Post) -> Result<(), WriteError> {
        let folder = lock(&self.folder);
        let Some(folder) = &*folder else { return Ok(()) };
        let mut slices = lock(&self.slices);
        self.tidy(folder, &mut slices);
        for ((pass, slice), open) in slices.iter_mut() {
            let is_new = |name: PageName| {
                (name.pass, name.slice) == (*pass, *slice) && !open.kept.contains(&(name.side, name.page))
            };
            let new = post.store.sealed(is_new);
            if new.is_empty() {
                continue;
            }
            // The table may have been finished meanwhile, which does no harm.
            for pages in new.chunks(PAGES_TO_A_FILE) {
                folder.write(&open.label, &checkpoint::pages(pages))?;
                open.kept.extend(pages.iter().map(|(name, _)| (name.side, name.page)));
            }
        }
        self.tidy(folder, &mut slices);
        Ok(())
    }

    fn tidy(&self, folder: &Folder, slices: &mut BTreeMap<(u32, u32), OpenSlice>) {
        for closed in std::mem::take(&mut *lock(&self.closed)) {
            if let Some(open) = slices.remove(&closed) {
                let metric = Metric::ALL[usize::from(open.label.metric)];
                folder.clear(&HashSet::from([(open.label.material, metric)]));
            }
        }
    }

    /// Writes the state of some blocks of a unit.
    pub(super) fn save_state(&self, label: &Label, contents: &[u8]) -> Result<Option<PathBuf>, WriteError> {
        debug_assert!(matches!(label.holds, Holds::State { .. }));
        let folder = lock(&self.folder);
        folder.as_ref().map(|folder| folder.write(label, contents)).transpose()
    }

    /// A checkpoint that cannot be kept costs work only if the run ends; it is no reason to end it.
    pub(super) fn say_not_kept(&self, post: &Post, error: &WriteError) {
        if !self.warned.swap(true, Relaxed) {
            post.say_of_this_rank(format!(
                "warning: no checkpoint of unfinished work: {error}; going on without"
            ));
        }
    }

    /// Saves every so often, until [`Keeper::end`] is called.
    pub(super) fn keep(&self, post: &Post, every: Duration) {
        let mut ends = lock(&self.ends);
        while !*ends {
            (ends, _) = self
                .ending
                .wait_timeout(ends, every)
                .unwrap_or_else(PoisonError::into_inner);
            if !*ends {
                drop(ends);
                if let Err(error) = self.save(post) {
                    self.say_not_kept(post, &error);
                }
                ends = lock(&self.ends);
            }
        }
    }

    /// Nothing more is to be kept: all tables are written.
    pub(super) fn end(&self) {
        *lock(&self.ends) = true;
        self.ending.notify_all();
        if let Some(folder) = &*lock(&self.folder) {
            self.tidy(folder, &mut lock(&self.slices));
            folder.remove_if_empty();
        }
    }
}
