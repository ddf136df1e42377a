//! All ranks together: how they start, and what has to be the same on each of them.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use petrov_cli::failure::{BROKEN, Failure};
use petrov_cli::options::Refusal;
use petrov_cli::output::Output;
use petrov_cli::setting::Setting;
use petrov_games::with_game;
use petrov_probe::Backend;

use crate::args::{Arguments, Command};
use crate::end::{Outcome, Stopped, Watch};
use crate::{collect, generate, hosts};

/// Set for a process by the launchers of Open MPI, MPICH and Slurm.
const LAUNCHERS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// Whether a launcher has started this process, perhaps with others.
pub(crate) fn launched() -> bool {
    LAUNCHERS.iter().any(|variable| std::env::var_os(variable).is_some())
}

/// The ranks, seen from one of them.
pub(crate) struct World {
    pub(crate) communicator: SimpleCommunicator,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) host: String,
}

/// Starts MPI so that worker threads may run beside the one that calls it.
pub(crate) fn start() -> Result<(Universe, World), Failure> {
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return Err(Failure::Broken("MPI was started before".to_owned()));
    };
    if threading < Threading::Funneled {
        return Err(Failure::Broken(format!(
            "this MPI allows no threads beside the one that calls it (found {threading:?}); another build of it is needed"
        )));
    }
    let communicator = universe.world();
    let world = World {
        rank: usize::try_from(communicator.rank()).unwrap_or(0),
        size: usize::try_from(communicator.size()).unwrap_or(1),
        host: mpi::environment::processor_name().unwrap_or_else(|_| "unknown".to_owned()),
        communicator,
    };
    Ok((universe, world))
}

/// Processors that this process may use; a launcher that binds ranks leaves few.
pub(crate) fn usable_processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

impl World {
    /// Whether this is the rank that answers and reports.
    pub(crate) fn leads(&self) -> bool {
        self.rank == 0
    }

    /// Runs a command. Returns the exit status, which is the same on every rank.
    pub(crate) fn run(&self, arguments: &Arguments) -> u8 {
        let mut output = Output::new();
        let setting = Setting::new(&arguments.shared, Backend::Mmap).map(|setting| self.fit(setting));
        let outcome = self
            .agree(setting.map_err(Stopped::from))
            .and_then(|setting| self.command(&arguments.command, &setting, &mut output));
        // What stopped a rank is said by one of them; the others learn of it.
        let outcome = self.agree(outcome);
        let outcome = match outcome {
            Ok(()) => self.agree(output.end(Ok(())).map_err(Stopped::from)),
            stopped => stopped,
        };
        match outcome {
            Ok(()) => 0,
            Err(stopped) => stopped.say(),
        }
    }

    /// Makes sure that all ranks have been started with the same command, before any of them waits for another.
    pub(crate) fn begin(&self, arguments: &Result<Arguments, Refusal>) -> Outcome<()> {
        let fault = arguments.as_ref().err().and_then(Refusal::fault);
        self.agree(fault.map_or(Ok(()), |fault| Err(Stopped::Here(Failure::Usage(fault)))))?;
        let names = self.gather(match arguments {
            Ok(arguments) => arguments.command.name(),
            Err(_) => "--help or --version",
        });
        let mut others = names.iter().enumerate().skip(1);
        self.agree(match others.find(|(_, name)| **name != names[0]) {
            Some((rank, name)) => Err(Stopped::Speaks(Failure::Usage(format!(
                "rank {rank} was started with `{name}`, rank 0 with `{}`; start all ranks alike",
                names[0]
            )))),
            None => Ok(()),
        })
    }

    /// Puts this rank's number and host in the names of folders. Only rank 0 says what there is to know.
    fn fit(&self, mut setting: Setting) -> Setting {
        for dir in &mut setting.dirs {
            *dir = filled_in(dir, self.rank, &self.host);
        }
        if !self.leads() {
            setting.hush();
        }
        setting
    }

    fn command(&self, command: &Command, setting: &Setting, output: &mut Output) -> Outcome<()> {
        /// Runs a command on the game that it names, if every rank knows it.
        macro_rules! on_game {
            ($name:expr, $game:ident => $command:expr) => {
                with_game!(self.agree(setting.game($name).map_err(Stopped::from))?, $game => $command)
            };
        }
        match command {
            Command::Gen(options) => {
                on_game!(&options.tables.what.game, game => generate::gen_tables(game, options, setting, self, output))
            }
            Command::Collect(options) => {
                on_game!(&options.game, game => collect::collect(game, options, setting, self, output))
            }
            Command::Ranks => hosts::ranks(self, output),
        }
    }

    /// Says once for all ranks what is wrong with the command line, which all of them have read.
    pub(crate) fn refuse(&self, refusal: &Refusal) -> u8 {
        if self.leads() {
            refusal.say();
        }
        refusal.status()
    }

    /// Waits for all ranks and returns what this one has come to, unless another one has failed: of those that have,
    /// the one with the least number says why.
    pub(crate) fn agree<T>(&self, outcome: Outcome<T>) -> Outcome<T> {
        let _watch = match &outcome {
            Err(Stopped::Here(failure)) => Some(Watch::new(failure.status(), Some(self.with_place(failure)))),
            Err(Stopped::Speaks(failure)) => Some(Watch::new(failure.status(), Some(failure.to_string()))),
            Err(Stopped::Elsewhere(status)) => Some(Watch::new(*status, None)),
            Ok(_) => None,
        };
        // Ranks that only know of another's failure come after all that know why.
        let size = self.size as u64;
        let mine = match &outcome {
            Ok(_) => 2 * size,
            Err(Stopped::Here(_) | Stopped::Speaks(_)) => self.rank as u64,
            Err(Stopped::Elsewhere(_)) => size + self.rank as u64,
        };
        let mut first = mine;
        self.communicator
            .all_reduce_into(&mine, &mut first, SystemOperation::min());
        if first == 2 * size {
            return outcome;
        }
        let (failed, mut all_failed) = (u64::from(mine < size), 0);
        self.communicator
            .all_reduce_into(&failed, &mut all_failed, SystemOperation::sum());
        let mut status = match &outcome {
            Err(Stopped::Here(failure) | Stopped::Speaks(failure)) => failure.status(),
            Err(Stopped::Elsewhere(status)) => *status,
            Ok(_) => BROKEN,
        };
        let speaker = (first % size) as i32;
        self.communicator.process_at_rank(speaker).broadcast_into(&mut status);
        if first % size != self.rank as u64 {
            return Err(Stopped::Elsewhere(status));
        }
        Err(Stopped::Speaks(match outcome {
            Err(Stopped::Speaks(failure)) => failure,
            // What happens to all is nothing about this rank.
            Err(Stopped::Here(failure)) if all_failed == size => failure,
            Err(Stopped::Here(failure)) => match failure {
                Failure::Usage(_) => Failure::Usage(self.with_place(&failure)),
                Failure::Broken(_) => Failure::Broken(self.with_place(&failure)),
                failure => failure,
            },
            Ok(_) | Err(Stopped::Elsewhere(_)) => {
                Failure::Broken("stopped for another rank, which does not say why".to_owned())
            }
        }))
    }

    /// One text of each rank, in order, on rank 0; none on the others.
    pub(crate) fn gather(&self, text: &str) -> Vec<String> {
        if !self.leads() {
            self.communicator.process_at_rank(0).send(text.as_bytes());
            return Vec::new();
        }
        let mut texts = vec![text.to_owned()];
        for rank in 1..self.communicator.size() {
            let (text, _) = self.communicator.process_at_rank(rank).receive_vec::<u8>();
            texts.push(String::from_utf8_lossy(&text).into_owned());
        }
        texts
    }

    /// A failure with the rank that it happened to.
    fn with_place(&self, failure: &Failure) -> String {
        format!("rank {} on {}: {failure}", self.rank, self.host)
    }
}

/// A folder with `{rank}` and `{host}` filled in.
fn filled_in(dir: &Path, rank: usize, host: &str) -> PathBuf {
    // A name that is no text holds neither.
    match dir.to_str() {
        Some(text) => text.replace("{rank}", &rank.to_string()).replace("{host}", host).into(),
        None => dir.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_ranks() {
        for (dir, filled) in [
            ("/scratch/{host}/{rank}", "/scratch/n1/7"),
            ("tables", "tables"),
            ("{rank}{rank}-{other}", "77-{other}"),
        ] {
            assert_eq!(filled_in(Path::new(dir), 7, "n1"), Path::new(filled));
        }
    }
}
