//! How a run ends: all ranks with the same exit status, soon, and with one of them saying why.

use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use mpi::environment::Universe;
use petrov_cli::failure::{BROKEN, Failure};
use petrov_cli::output::complain;
use petrov_gen::{SpreadError, Wire, stop_writing};

use crate::wire::MpiWire;
use crate::world::World;

/// What a rank has come to.
pub(crate) type Outcome<T> = Result<T, Stopped>;

/// Why a rank does not go on.
pub(crate) enum Stopped {
    /// Something happened to this rank.
    Here(Failure),
    /// All ranks have agreed that this one says why.
    Speaks(Failure),
    /// Something happened to another rank, which says what, and ends with this status.
    Elsewhere(u8),
}

impl Stopped {
    /// Says why, if that is for this rank to say; returns the exit status.
    pub(crate) fn say(&self) -> u8 {
        match self {
            Self::Here(failure) | Self::Speaks(failure) => failure.say(),
            Self::Elsewhere(status) => *status,
        }
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Here(failure)
    }
}

impl From<SpreadError> for Stopped {
    fn from(error: SpreadError) -> Self {
        match error {
            SpreadError::Usage(text) => Self::Speaks(Failure::Usage(text)),
            SpreadError::Broken(text) => Self::Speaks(Failure::Broken(text)),
            SpreadError::Elsewhere => Self::Elsewhere(BROKEN),
        }
    }
}

/// How long ranks that end wait for each other.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends the process if this is not dropped in time: a rank that fails must not wait for ever for one that is gone.
pub(crate) struct Watch(#[expect(dead_code, reason = "is there to be dropped")] Sender<()>);

impl Watch {
    /// From now on. `last_words` are said first, if it comes to that.
    pub(crate) fn new(status: u8, last_words: Option<String>) -> Self {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            if receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if let Some(words) = last_words {
                    complain(&words);
                }
                std::process::exit(status.into());
            }
        });
        Self(sender)
    }
}

/// How long a rank that has failed waits until what it has sent is received: what says so is short and leaves at once,
/// the rest nobody asks for any more.
const PARTING: Duration = Duration::from_secs(1);

/// Waits until what has been sent has left this rank, though not for ever. Returns `outcome`.
pub(crate) fn settle<T, E>(wire: &mut MpiWire, outcome: Result<T, E>) -> Result<T, E> {
    let patience = if outcome.is_ok() { PATIENCE } else { PARTING };
    let start = Instant::now();
    while wire.unsent() > 0 && start.elapsed() < patience {
        // Nobody waits for what still comes in.
        let _ = wire.receive();
    }
    outcome
}

/// Ends MPI. After a failure the process ends here, as worker threads may still be at work.
pub(crate) fn finalise(universe: Universe, world: World, status: u8) -> ExitCode {
    if status == 0 {
        drop(world);
        drop(universe);
        return ExitCode::SUCCESS;
    }
    stop_writing();
    let _watch = Watch::new(status, None);
    drop(world);
    drop(universe);
    std::process::exit(status.into());
}
