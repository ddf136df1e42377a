//! What threads of a rank say to other ranks, and hear from them.
//!
//! Only one thread calls the [`Wire`], and does nothing else for long: it
//! passes on what the others give it and answers what other ranks ask. Those
//! others wait here for answers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::store::Store;
use crate::message;

/// Carries messages between ranks. One thread calls it. Messages from one rank
/// to another arrive in the order in which they were sent.
pub trait Wire {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Sends a message without waiting for the receiver: at most 2^30 bytes.
    fn send(&mut self, to: usize, message: Vec<u8>);

    /// The next message that has arrived, if there is one, with its sender.
    /// Moves on what has been sent, too.
    fn receive(&mut self) -> Option<(usize, Vec<u8>)>;

    /// Bytes given to [`Wire::send`] that have not left yet.
    fn unsent(&self) -> u64;
}

/// What a message is about: its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    /// A part of what [`Post::exchange`] gives a rank, and the last part.
    Part = 1,
    LastPart,
    /// Asks for a page; the answer.
    Ask,
    Page,
    /// Values for a page.
    Put,
    /// A whole page.
    Seal,
    /// The sender needs the slices dropped at a step no more.
    Passed,
    /// The tables of a slice are written.
    Written,
    /// How far the sender has come.
    Report,
    /// The sender cannot go on, and why.
    Failed,
    /// The run ends here.
    Stop,
    /// A line for rank 0's log.
    Said,
}

impl Kind {
    const ALL: [Self; 12] = [
        Self::Part,
        Self::LastPart,
        Self::Ask,
        Self::Page,
        Self::Put,
        Self::Seal,
        Self::Passed,
        Self::Written,
        Self::Report,
        Self::Failed,
        Self::Stop,
        Self::Said,
    ];

    pub(super) fn of(message: &mut Vec<u8>) -> Option<Self> {
        let byte = message.pop()?;
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// What other threads ask of the one that has the wire.
pub(super) enum Order {
    Send(usize, Vec<u8>),
    /// For the log.
    Say(String),
    /// The work cannot be done.
    Fail(Failure),
    /// The work is done.
    Finished,
}

/// Why a rank cannot go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Failure {
    /// It is what was asked for that is wrong.
    pub(super) usage: bool,
    pub(super) text: String,
}

/// Bytes of an exchange that are sent as one message.
const PART_BYTES: usize = 1 << 26;

/// What the threads of a rank share.
pub(super) struct Post {
    pub(super) rank: usize,
    pub(super) ranks: usize,
    orders: Sender<Order>,
    /// For each rank, what it has given in exchanges not taken yet, and the parts
    /// of what is coming.
    exchanged: Mutex<Vec<Incoming>>,
    arrived: Condvar,
    pub(super) store: Store,
    drops: Mutex<Drops>,
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    /// Positions this rank has solved, no symmetry used.
    pub(super) positions: AtomicU64,
    /// Processor seconds of the thread with the wire, as bits of an `f64`.
    pub(super) clerk_seconds: AtomicU64,
    waited_ns: AtomicU64,
    waiting: AtomicU32,
}

/// Messages of an exchange from one rank, and the parts of the next.
type Incoming = (VecDeque<Vec<u8>>, Vec<u8>);

/// Slices that can be forgotten once all ranks are past a step.
struct Drops {
    /// Steps each rank has passed.
    passed: Vec<u64>,
    /// The step, the pass and the slice.
    queue: VecDeque<(u64, u32, u32)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Post {
    pub(super) fn new(rank: usize, ranks: usize, orders: Sender<Order>, store: Store) -> Self {
        Self {
            rank,
            ranks,
            orders,
            exchanged: Mutex::new((0..ranks).map(|_| Default::default()).collect()),
            arrived: Condvar::new(),
            store,
            drops: Mutex::new(Drops {
                passed: vec![0; ranks],
                queue: VecDeque::new(),
            }),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            positions: AtomicU64::new(0),
            clerk_seconds: AtomicU64::new(0),
            waited_ns: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
        }
    }

    pub(super) fn send(&self, to: usize, kind: Kind, mut message: Vec<u8>) {
        message.push(kind as u8);
        self.order(Order::Send(to, message));
    }

    /// What every rank says, or rank 0 alone: only rank 0's log is read.
    pub(super) fn say(&self, text: String) {
        self.order(Order::Say(text));
    }

    /// What is so on this rank, and is said on rank 0 whichever it is.
    pub(super) fn say_of_this_rank(&self, text: String) {
        if self.rank == 0 {
            self.say(text);
        } else {
            self.send(0, Kind::Said, format!("rank {}: {text}", self.rank).into_bytes());
        }
    }

    pub(super) fn order(&self, order: Order) {
        // If nobody takes orders any more, the run has ended.
        let _ = self.orders.send(order);
    }

    /// Gives each rank what is for it, and takes what is from each. Every rank
    /// calls it, one thread at a time.
    pub(super) fn exchange(&self, out: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        for (to, mut message) in out.into_iter().enumerate().filter(|(to, _)| *to != self.rank) {
            while message.len() > PART_BYTES {
                let rest = message.split_off(PART_BYTES);
                self.send(to, Kind::Part, message);
                message = rest;
            }
            self.send(to, Kind::LastPart, message);
        }
        self.wait(|| {
            let mut exchanged = lock(&self.exchanged);
            loop {
                let all = exchanged.iter().enumerate();
                if all
                    .filter(|(from, _)| *from != self.rank)
                    .all(|(_, (whole, _))| !whole.is_empty())
                {
                    break;
                }
                exchanged = self.arrived.wait(exchanged).unwrap_or_else(PoisonError::into_inner);
            }
            let take = |(whole, _): &mut Incoming| whole.pop_front().unwrap_or_default();
            exchanged.iter_mut().map(take).collect()
        })
    }

    /// Gives all ranks the same, and takes what is from each, its own
    /// included.
    pub(super) fn gather(&self, message: &[u8]) -> Vec<Vec<u8>> {
        let mut all = self.exchange(vec![message.to_vec(); self.ranks]);
        all[self.rank] = message.to_vec();
        all
    }

    /// Waits until all ranks have come here.
    pub(super) fn meet(&self) {
        self.exchange(vec![Vec::new(); self.ranks]);
    }

    /// Takes a part of an exchange that has arrived.
    pub(super) fn take_part(&self, from: usize, message: Vec<u8>, last: bool) {
        let mut exchanged = lock(&self.exchanged);
        let (whole, parts) = &mut exchanged[from];
        if parts.is_empty() {
            *parts = message;
        } else {
            parts.extend_from_slice(&message);
        }
        if last {
            whole.push_back(std::mem::take(parts));
            self.arrived.notify_all();
        }
    }

    /// This rank has passed so many steps, and at the last of them needs some
    /// slices of a pass no more.
    pub(super) fn pass(&self, steps: u64, pass: u32, slices: &[usize]) {
        if slices.is_empty() {
            return;
        }
        let new = slices.iter().map(|slice| (steps, pass, *slice as u32));
        lock(&self.drops).queue.extend(new);
        for to in (0..self.ranks).filter(|to| *to != self.rank) {
            self.send(to, Kind::Passed, message::encode(&steps, &[]));
        }
        self.passed(self.rank, steps);
    }

    /// A rank has passed so many steps.
    pub(super) fn passed(&self, rank: usize, steps: u64) {
        let mut drops = lock(&self.drops);
        drops.passed[rank] = steps;
        let all = drops.passed.iter().copied().min().unwrap_or(0);
        while let Some((step, pass, slice)) = drops.queue.front().copied()
            && step <= all
        {
            drops.queue.pop_front();
            self.store.forget(pass, slice);
        }
    }

    /// For a thread that has nothing more to do in a run that another ends.
    pub(super) fn wait_for_the_end(&self) -> ! {
        loop {
            std::thread::park();
        }
    }

    /// Counts the time of something that only waits.
    pub(super) fn wait<T>(&self, waiting: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        self.waiting.fetch_add(1, Relaxed);
        let result = waiting();
        self.waiting.fetch_sub(1, Relaxed);
        self.waited_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        result
    }

    /// Whether a thread waits for others.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    /// Seconds that threads have waited, all together.
    pub(super) fn waited_seconds(&self) -> f64 {
        self.waited_ns.load(Relaxed) as f64 * 1e-9
    }
}
