//! A rank's part in a slice that all ranks work on.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use petrov_probe::Metric;
use rayon::prelude::*;

use super::checkpoint::{self, Holds, KeptBlocks, Label};
use super::keeper::Keeper;
use super::post::{Failure, Order, Post};
use super::store::{PageName, Paged, Pages};
use crate::build::Progress;
use crate::message;
use crate::slice::Team;
use crate::unit::{Alone, Crew, KeptUnit, StateFrame, UnitState, owner};
use crate::values::Values;

/// A file with blocks of a unit that is in some rank's folder.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct StateFile {
    /// A rank that can read it.
    pub(super) rank: usize,
    pub(super) path: PathBuf,
    pub(super) label: Label,
}

/// The ranks that work on a slice.
pub(super) struct SliceTeam<'a> {
    pub(super) post: &'a Arc<Post>,
    pub(super) keeper: &'a Keeper,
    /// Its side and page are 0.
    pub(super) name: PageName,
    /// About its pages.
    pub(super) label: Label,
    /// Rows are shared, not units.
    pub(super) by_rows: bool,
    /// Pages that come from a checkpoint, as side and page.
    pub(super) restored: &'a HashSet<(u8, u64)>,
    /// All states kept of units of this slice.
    pub(super) states: Vec<StateFile>,
    /// How the pages of each side are cut.
    pub(super) pages: Mutex<Vec<Pages>>,
    pub(super) crew: RowCrew<'a>,
}

/// The ranks that share the rows of units.
pub(super) struct RowCrew<'a> {
    post: &'a Arc<Post>,
    keeper: &'a Keeper,
    progress: &'a Progress,
    label: Label,
    every: Option<Duration>,
    last: Mutex<Instant>,
    /// Rank 0 has said that it is time for a checkpoint.
    is_due: AtomicBool,
    unit: Mutex<u64>,
    /// Files of this unit that this rank has written, or read.
    files: Mutex<Vec<PathBuf>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> RowCrew<'a> {
    pub(super) fn new(
        post: &'a Arc<Post>,
        keeper: &'a Keeper,
        progress: &'a Progress,
        label: Label,
        every: Option<Duration>,
    ) -> Self {
        Self {
            post,
            keeper,
            progress,
            label,
            every,
            last: Mutex::new(Instant::now()),
            is_due: AtomicBool::new(false),
            unit: Mutex::new(0),
            files: Mutex::default(),
        }
    }

    /// What was kept is not to be read any more, so the run ends; this thread waits for that.
    fn fail(&self, text: String) -> ! {
        self.post.order(Order::Fail(Failure { usage: false, text }));
        self.post.wait_for_the_end();
    }
}

impl Crew for RowCrew<'_> {
    fn rank(&self) -> usize {
        self.post.rank
    }

    fn ranks(&self) -> usize {
        self.post.ranks
    }

    fn exchange(&self, mut out: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        // So that all agree when to keep the state, rank 0 says so along with
        // everything else.
        let due = self.post.rank == 0 && self.every.is_some_and(|every| lock(&self.last).elapsed() >= every);
        out.iter_mut().for_each(|message| message.push(u8::from(due)));
        let mut found = self.post.exchange(out);
        let flags: Vec<Option<u8>> = found.iter_mut().map(Vec::pop).collect();
        if due || flags.first() == Some(&Some(1)) {
            self.is_due.store(true, Relaxed);
        }
        found
    }

    fn at_ply(&self, ply: u16, spoilt: bool) {
        let plies = if spoilt { "spoilt ply" } else { "ply" };
        let step = format!("{}: unit {}, {plies} {ply}", self.label.material, lock(&self.unit));
        self.progress.set_step("solving", &step);
    }

    fn wants_state(&self) -> bool {
        let due = self.is_due.swap(false, Relaxed);
        if due {
            *lock(&self.last) = Instant::now();
        }
        due
    }

    fn keep_state(&self, state: UnitState) {
        let unit = *lock(&self.unit);
        let (mut written, mut whole) = (Vec::new(), true);
        for blocks in state.blocks.chunks(BLOCKS_TO_A_FILE) {
            let label = Label {
                holds: Holds::State {
                    unit,
                    frame: state.frame,
                    blocks: blocks.iter().map(|(half, number, _)| (*half, *number)).collect(),
                },
                ..self.label.clone()
            };
            let blocks: KeptBlocks = blocks
                .par_iter()
                .map(|(half, number, bytes)| {
                    let packed = zstd::bulk::compress(bytes, 1).expect("compressing in memory");
                    (*half, *number, packed)
                })
                .collect();
            match self.keeper.save_state(&label, &message::encode(&blocks, &[])) {
                Ok(path) => written.extend(path),
                Err(error) => {
                    self.keeper.say_not_kept(self.post, &error);
                    whole = false;
                    break;
                }
            }
        }
        // Only when every rank has kept its part is the one before needed no
        // more; and a part of one is of no use.
        let all = self.post.gather(&[u8::from(whole)]);
        if all.iter().all(|whole| whole == &[1]) {
            std::mem::swap(&mut *lock(&self.files), &mut written);
        }
        remove(&written);
    }
}

/// Blocks are of some megabytes, and a file is made in memory.
const BLOCKS_TO_A_FILE: usize = 64;

fn remove(files: &[PathBuf]) {
    for file in files {
        // Another rank that shares the folder may have been quicker.
        let _ = std::fs::remove_file(file);
    }
}

impl SliceTeam<'_> {
    /// Values of all sides.
    pub(super) fn entries(&self) -> u64 {
        lock(&self.pages).iter().map(|pages| pages.len).sum()
    }

    /// Whether a unit's values come from a checkpoint.
    fn is_restored(&self, outputs: &[(usize, u64)]) -> bool {
        let pages = lock(&self.pages);
        !self.restored.is_empty()
            && outputs.iter().all(|(side, digit)| {
                let mut all = pages[*side].of_unit(*digit);
                all.all(|page| self.restored.contains(&(*side as u8, page)))
            })
    }

    /// The latest state of a unit of which all blocks are there.
    fn latest(&self, unit: u64) -> Option<(StateFrame, Vec<&StateFile>)> {
        let of_unit =
            |file: &&StateFile| matches!(&file.label.holds, Holds::State { unit: other, .. } if *other == unit);
        let frames = self
            .states
            .iter()
            .filter(of_unit)
            .filter_map(|file| match &file.label.holds {
                Holds::State { frame, .. } => Some(*frame),
                Holds::Pages { .. } => None,
            });
        let mut frames: Vec<StateFrame> = frames.collect();
        frames.sort_by_key(|frame| std::cmp::Reverse(frame.progress()));
        frames.into_iter().find_map(|frame| {
            let (mut blocks, mut files) = (HashSet::new(), Vec::new());
            for file in self.states.iter().filter(of_unit) {
                if let Holds::State {
                    frame: other,
                    blocks: held,
                    ..
                } = &file.label.holds
                    && *other == frame
                {
                    blocks.extend(held.iter().copied());
                    files.push(file);
                }
            }
            let needed = frame.blocks.iter().map(|blocks| *blocks as usize).sum::<usize>();
            (blocks.len() == needed).then_some((frame, files))
        })
    }
}

impl Team for SliceTeam<'_> {
    fn values(&self, side: usize, metric: Metric, len: u64, unit: u64) -> Values {
        let pages = Pages::new(metric, len, unit, None, self.post.ranks);
        let name = PageName {
            side: side as u8,
            ..self.name
        };
        lock(&self.pages).push(pages);
        Values::elsewhere(Box::new(Paged::new(self.post.clone(), pages, name)))
    }

    fn takes(&self, unit: u64, outputs: &dyn Fn() -> Vec<(usize, u64)>) -> bool {
        if !self.by_rows && lock(&self.pages)[0].home_of_unit(unit) != self.post.rank {
            return false;
        }
        self.restored.is_empty() || !self.is_restored(&outputs())
    }

    fn crew(&self) -> &dyn Crew {
        if self.by_rows { &self.crew } else { &Alone }
    }

    fn shares_rows(&self) -> bool {
        self.by_rows
    }

    fn state_of(&self, unit: u64) -> Option<KeptUnit> {
        *lock(&self.crew.unit) = unit;
        let (frame, files) = self.latest(unit)?;
        let ranks = self.post.ranks;
        let mut out: Vec<KeptBlocks> = vec![Vec::new(); ranks];
        for file in files.iter().filter(|file| file.rank == self.post.rank) {
            lock(&self.crew.files).push(file.path.clone());
            let blocks = checkpoint::read(&file.path)
                .and_then(|(_, contents)| Ok(message::decode::<KeptBlocks>(&contents).map_err(|e| e.to_string())?.0));
            match blocks {
                Ok(blocks) => {
                    for (half, number, bytes) in blocks {
                        let all = frame.blocks[usize::from(half & 1)] as usize;
                        out[owner(number as usize, all.max(1), ranks)].push((half, number, bytes));
                    }
                }
                Err(fault) => self.crew.fail(format!("{}: {fault}", file.path.display())),
            }
        }
        let own = std::mem::take(&mut out[self.post.rank]);
        let found = self
            .post
            .exchange(out.iter().map(|blocks| message::encode(blocks, &[])).collect());
        let others = found.iter().enumerate().filter(|(from, _)| *from != self.post.rank);
        let others = others.filter_map(|(_, message)| message::decode::<KeptBlocks>(message).ok());
        let mut blocks = own;
        others.for_each(|(more, _)| blocks.extend(more));
        let unpacked = blocks.into_par_iter().map(|(half, number, bytes)| {
            let bytes = zstd::stream::decode_all(&bytes[..]).unwrap_or_default();
            ((half, number), bytes)
        });
        let blocks = unpacked.collect();
        self.post.say(format!(
            "{}: unit {unit} goes on from a checkpoint at ply {}",
            self.label.material,
            frame.progress()
        ));
        Some(KeptUnit { frame, blocks })
    }

    fn unit_done(&self, _: u64) {
        let any = !lock(&self.crew.files).is_empty();
        let anywhere = self.crew.exchange(vec![vec![u8::from(any)]; self.post.ranks]);
        if !(any || anywhere.iter().any(|message| message == &[1])) {
            return;
        }
        // What the unit has come to has to be on disk before its state goes.
        self.post.meet();
        if let Err(error) = self.keeper.save(self.post) {
            self.keeper.say_not_kept(self.post, &error);
        }
        self.post.meet();
        remove(&std::mem::take(&mut *lock(&self.crew.files)));
    }
}
