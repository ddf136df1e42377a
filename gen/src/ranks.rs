//! One build by many ranks: processes on one machine or on many that send each
//! other messages.
//!
//! Every rank runs the same plan. Small slices are each solved by one rank; in
//! large ones each unit is, or where even that is too large, its rows are
//! spread over all (see [`schedule`]). Values are in pages, each with a home
//! (see [`store`]), and whoever needs one that is not there yet waits for it. A rank
//! does its work in the order of the plan, in which every slice and unit
//! comes after all it leads to; so the first piece of work that is not done
//! never waits for another, and the waiting comes to an end.
//!
//! The bytes of tables do not depend on how many ranks there are.

mod checkpoint;
mod estimate;
mod finish;
mod keeper;
mod post;
mod run;
mod schedule;
mod start;
mod store;
mod team;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use petrov_games::Game;
use serde::{Deserialize, Serialize};

pub(crate) use checkpoint::forget as forget_checkpoints;
pub use estimate::{SpreadPlan, SpreadSlice, Way, spread_plan};
pub use post::Wire;

use crate::build::{BuildReport, Progress};
use crate::clock::{self, thread_seconds};
use crate::families::compiled_for_families;
use crate::message;
use crate::plan::{BuildOptions, What};
use keeper::Keeper;
use post::{Failure, Kind, Order, Post};
use store::Store;

/// How tables are to be built by many ranks.
#[derive(Clone, Debug)]
pub struct SpreadOptions {
    /// Metrics, folders, threads and memory, of each rank.
    pub build: BuildOptions,
    /// Units of at least so many positions are split by rows over all ranks;
    /// `None`: those that would take more than half of the memory, and those that are alone in a
    /// large slice.
    pub split_from: Option<u64>,
    /// Slices of at least so many positions are worked on by all ranks unit by
    /// unit; `None`: those that take more than some seconds.
    pub share_from: Option<u64>,
    /// How often unfinished work is kept on disk; `None` for never.
    pub checkpoint: Option<Duration>,
    /// Bring all tables together in the folder of rank 0, if ranks do not share it.
    pub collect: bool,
    /// Name of the machine.
    pub host: String,
    /// Version of the program. All ranks must have the same.
    pub identity: String,
}

/// What one rank has done so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RankReport {
    /// Its number.
    pub rank: usize,
    /// Its machine.
    pub host: String,
    /// Worker threads.
    pub threads: usize,
    /// Positions it has solved, read or written, symmetric ones once.
    pub steps: u64,
    /// Positions it has solved, no symmetry used.
    pub positions: u64,
    /// Processor seconds without the thread that sends and receives.
    pub cpu_seconds: f64,
    /// Processor seconds of the thread that sends and receives, waiting for
    /// messages included.
    pub communication_seconds: f64,
    /// Seconds for which its work waited for other ranks.
    pub waiting_seconds: f64,
    /// Bytes sent to other ranks.
    pub sent_bytes: u64,
    /// Bytes received from them.
    pub received_bytes: u64,
    /// Most anonymous resident memory, in bytes; 0 before the end.
    pub peak_memory_bytes: u64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// What it is doing, in a few words.
    pub step: String,
}

/// What all ranks have done.
#[derive(Clone, Debug, Default)]
pub struct SpreadReport {
    /// Tables of all ranks, and what they took together. While a run is going
    /// on only some sums are filled in.
    pub build: BuildReport,
    /// Rank by rank.
    pub ranks: Vec<RankReport>,
    /// Steps of work done by all.
    pub done: u64,
    /// Steps of work in all.
    pub total: u64,
    /// What rank 0 is doing, in a few words.
    pub step: String,
}

/// Why a run has ended.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpreadError {
    /// What was asked for cannot be had. Said by rank 0.
    #[error("{0}")]
    Usage(String),
    /// Something broke. Said by rank 0, whichever rank it was.
    #[error("{0}")]
    Broken(String),
    /// Rank 0 says why.
    #[error("rank 0 says why the run has ended")]
    Elsewhere,
}

impl SpreadError {
    /// Whether this is the rank that tells the user.
    #[must_use]
    pub fn speaks(&self) -> bool {
        *self != Self::Elsewhere
    }
}

compiled_for_families! {
    /// Builds tables together with all other ranks, which call it, too. Runs on the
    /// thread that owns the wire until all is done. On rank 0 `live` is called every other
    /// second, and `log` with lines for the log.
    ///
    /// After an error the work of this rank may still be going on in other threads:
    /// the process is expected to end.
    ///
    /// # Errors
    /// See [`SpreadError`].
    pub fn build_spread(
        game,
        what: What,
        options: &SpreadOptions,
        wire: &mut dyn Wire,
        live: &mut dyn FnMut(&SpreadReport),
        log: &dyn Fn(&str)
    ) -> Result<SpreadReport, SpreadError> = build_by_ranks
}

fn build_by_ranks<G: Game + 'static>(
    game: &G,
    what: What,
    options: &SpreadOptions,
    wire: &mut dyn Wire,
    live: &mut dyn FnMut(&SpreadReport),
    log: &dyn Fn(&str),
) -> Result<SpreadReport, SpreadError> {
    let (game, options) = (game.clone(), options.clone());
    let host = options.host.clone();
    let threads = run::threads(&options.build);
    let work = move |post: &Arc<Post>, keeper: &Arc<Keeper>, progress: &Progress| {
        run::build(&game, what, &options, post, keeper, progress)
    };
    serve(wire, host, threads, live, log, work)
}

compiled_for_families! {
    /// Brings the tables of a game that any rank has together in the folder of
    /// rank 0; gives their paths there.
    ///
    /// # Errors
    /// See [`SpreadError`].
    pub fn collect_spread(
        game,
        options: &SpreadOptions,
        wire: &mut dyn Wire,
        log: &dyn Fn(&str)
    ) -> Result<Vec<PathBuf>, SpreadError> = collect_by_ranks
}

fn collect_by_ranks<G: Game + 'static>(
    game: &G,
    options: &SpreadOptions,
    wire: &mut dyn Wire,
    log: &dyn Fn(&str),
) -> Result<Vec<PathBuf>, SpreadError> {
    let (game, options) = (game.clone(), options.clone());
    let host = options.host.clone();
    let work = move |post: &Arc<Post>, _: &Arc<Keeper>, _: &Progress| finish::collect(&game, &options, post);
    serve(wire, host, 1, &mut |_| (), log, work)
}

/// How often rank 0 hears how far the others have come.
const REPORTS: Duration = Duration::from_secs(2);

/// How long the thread with the wire sleeps when nothing is to be done: while
/// this rank waits for others, and while it works itself.
const NAP_WAITING: Duration = Duration::from_micros(20);
const NAP_WORKING: Duration = Duration::from_micros(200);

/// Looks in vain for messages before it sleeps.
const LOOKS: u32 = 200;

/// How long a rank that has failed waits for the others to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// Sends and receives while `work` is done on another thread.
fn serve<T: Send + 'static>(
    wire: &mut dyn Wire,
    host: String,
    threads: usize,
    live: &mut dyn FnMut(&SpreadReport),
    log: &dyn Fn(&str),
    work: impl FnOnce(&Arc<Post>, &Arc<Keeper>, &Progress) -> Result<T, Failure> + Send + 'static,
) -> Result<T, SpreadError> {
    let (rank, ranks) = (wire.rank(), wire.size());
    let (orders, taking) = channel();
    let post = Arc::new(Post::new(rank, ranks, orders, Store::default()));
    let keeper = Arc::new(Keeper::default());
    let progress = Arc::new(Progress::default());
    let (result, results) = channel();
    {
        let (post, keeper, progress) = (post.clone(), keeper.clone(), progress.clone());
        std::thread::spawn(move || {
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&post, &keeper, &progress)));
            match worked {
                Ok(Ok(value)) => {
                    let _ = result.send(value);
                    post.order(Order::Finished);
                }
                Ok(Err(failure)) => post.order(Order::Fail(failure)),
                Err(_) => post.order(Order::Fail(Failure {
                    usage: false,
                    text: "a bug: the message before this one says where".to_owned(),
                })),
            }
        });
    }
    let clerk = Clerk {
        wire,
        post: &post,
        keeper: &keeper,
        progress: &progress,
        host,
        threads,
        start: Instant::now(),
        reports: vec![RankReport::default(); ranks],
    };
    clerk.run(&taking, live, log)?;
    results.recv().map_err(|_| SpreadError::Elsewhere)
}

/// The thread that has the wire.
struct Clerk<'a> {
    wire: &'a mut dyn Wire,
    post: &'a Post,
    keeper: &'a Keeper,
    progress: &'a Progress,
    host: String,
    threads: usize,
    start: Instant,
    reports: Vec<RankReport>,
}

impl Clerk<'_> {
    fn run(
        mut self,
        orders: &Receiver<Order>,
        live: &mut dyn FnMut(&SpreadReport),
        log: &dyn Fn(&str),
    ) -> Result<(), SpreadError> {
        let mut next_report = Instant::now() + REPORTS;
        let mut idle = 0;
        let mut finished = false;
        loop {
            let mut busy = false;
            loop {
                let order = if finished || busy || idle < LOOKS {
                    orders.try_recv().map_err(|_| RecvTimeoutError::Timeout)
                } else {
                    orders.recv_timeout(if self.post.is_waiting() {
                        NAP_WAITING
                    } else {
                        NAP_WORKING
                    })
                };
                let Ok(order) = order else { break };
                busy = true;
                match order {
                    Order::Send(to, message) => {
                        self.post.sent.fetch_add(message.len() as u64, Relaxed);
                        self.wire.send(to, message);
                    }
                    Order::Say(text) => log(&text),
                    Order::Fail(failure) => return Err(self.fail(self.with_place(failure))),
                    Order::Finished => finished = true,
                }
            }
            while let Some((from, message)) = self.wire.receive() {
                busy = true;
                self.post.received.fetch_add(message.len() as u64, Relaxed);
                if let Some(end) = self.take(from, message) {
                    return Err(end);
                }
            }
            if finished && self.wire.unsent() == 0 {
                return Ok(());
            }
            if busy {
                idle = 0;
            } else {
                idle += 1;
                if self.post.is_waiting() || finished {
                    std::thread::yield_now();
                } else {
                    // Whoever works needs the processor more.
                    idle = LOOKS;
                }
            }
            if Instant::now() >= next_report {
                next_report = Instant::now() + REPORTS;
                let report = self.report();
                if self.post.rank == 0 {
                    self.reports[0] = report;
                    live(&SpreadReport {
                        step: self.progress.step(),
                        done: self.reports.iter().map(|report| report.steps).sum(),
                        total: self.progress.total(),
                        ranks: self.reports.clone(),
                        build: BuildReport::default(),
                    });
                } else {
                    let mut message = message::encode(&report, &[]);
                    message.push(Kind::Report as u8);
                    self.wire.send(0, message);
                }
            }
        }
    }

    /// What this rank has done so far.
    fn report(&self) -> RankReport {
        let own = thread_seconds();
        self.post.clerk_seconds.store(own.to_bits(), Relaxed);
        RankReport {
            rank: self.post.rank,
            host: self.host.clone(),
            threads: self.threads,
            steps: self.progress.done(),
            positions: self.post.positions.load(Relaxed),
            cpu_seconds: (clock::cpu_seconds() - own).max(0.0),
            communication_seconds: own,
            waiting_seconds: self.post.waited_seconds(),
            sent_bytes: self.post.sent.load(Relaxed),
            received_bytes: self.post.received.load(Relaxed),
            peak_memory_bytes: 0,
            wall_seconds: self.start.elapsed().as_secs_f64(),
            step: self.progress.step(),
        }
    }

    /// Takes a message; gives the error if it ends the run.
    fn take(&mut self, from: usize, mut message: Vec<u8>) -> Option<SpreadError> {
        let understood = match Kind::of(&mut message) {
            Some(kind @ (Kind::Part | Kind::LastPart)) => {
                self.post.take_part(from, message, kind == Kind::LastPart);
                Some(())
            }
            Some(Kind::Ask) => self.post.answer(from, &message),
            Some(Kind::Page) => self.post.take_page(&message),
            Some(Kind::Put) => self.post.take_put(&message),
            Some(Kind::Seal) => self.post.take_sealed(&message),
            Some(Kind::Passed) => {
                let steps = message::decode::<u64>(&message);
                steps.ok().map(|(steps, _)| self.post.passed(from, steps))
            }
            Some(Kind::Written) => {
                let slice = message::decode::<(u32, u32)>(&message);
                slice.ok().map(|((pass, slice), _)| self.keeper.close(pass, slice))
            }
            Some(Kind::Report) => {
                let report = message::decode::<RankReport>(&message);
                report.ok().map(|(report, _)| self.reports[from] = report)
            }
            Some(Kind::Failed) => {
                let failure = message::decode::<Failure>(&message).ok();
                let (failure, _) = failure?;
                return Some(self.fail(failure));
            }
            Some(Kind::Said) => String::from_utf8(message).ok().map(|text| self.post.say(text)),
            Some(Kind::Stop) => return Some(SpreadError::Elsewhere),
            None => None,
        };
        if understood.is_none() {
            let text = format!("rank {from} sent what is no message of this program");
            return Some(self.fail(Failure { usage: false, text }));
        }
        None
    }

    /// A failure of this rank, for those who do not see which it is.
    fn with_place(&self, failure: Failure) -> Failure {
        // What concerns another rank names it already.
        if self.post.ranks == 1 || failure.usage || failure.text.starts_with("rank ") {
            return failure;
        }
        Failure {
            text: format!("rank {} on {}: {}", self.post.rank, self.host, failure.text),
            ..failure
        }
    }

    /// Ends the run. Rank 0 tells the others; another rank tells rank 0 and
    /// waits until that is done.
    fn fail(&mut self, failure: Failure) -> SpreadError {
        let until = Instant::now() + FAREWELL;
        if self.post.rank == 0 {
            for to in 1..self.post.ranks {
                self.wire.send(to, vec![Kind::Stop as u8]);
            }
            while self.wire.unsent() > 0 && Instant::now() < until {
                // What others still say is of no interest, but has to be taken.
                self.wire.receive();
                std::thread::sleep(NAP_WORKING);
            }
            return match failure.usage {
                true => SpreadError::Usage(failure.text),
                false => SpreadError::Broken(failure.text),
            };
        }
        let mut message = message::encode(&failure, &[]);
        message.push(Kind::Failed as u8);
        self.wire.send(0, message);
        while Instant::now() < until {
            while let Some((_, mut message)) = self.wire.receive() {
                if Kind::of(&mut message) == Some(Kind::Stop) {
                    return SpreadError::Elsewhere;
                }
            }
            std::thread::sleep(NAP_WORKING);
        }
        // Rank 0 does not answer.
        SpreadError::Broken(failure.text)
    }
}
