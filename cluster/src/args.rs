//! The command line of `petrov-cluster`.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use petrov_cli::options::{MOST_THREADS, Shared, TablesOptions, VERSION};
use petrov_cli::words;

/// Builds endgame tables of draughts and chess games on many machines at once. Started by mpirun.
#[derive(Parser)]
#[command(
    name = "petrov-cluster",
    version = VERSION.as_str(),
    max_term_width = 100,
    after_help = "Examples:
  mpirun -n 4 --bind-to none petrov-cluster gen russian 6 --threads 8
  mpirun -n 4 petrov-cluster ranks               see where ranks are and what they have
  petrov plan russian 8 --ranks 64 --memory 16G  what a build by 64 ranks would take

In the names of folders {rank} stands for the number of the rank and {host} for the name of its host:
with --tables /scratch/{host}/tables each host has a folder of its own.

Exit status, of every rank: 0 done; 2 wrong usage or input; 3 something broke."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Build the tables that are missing, with those they depend on
    #[command(after_help = "Examples:
  mpirun -n 4 --bind-to none petrov-cluster gen russian 6 --threads 8 --tables /shared/tables
  mpirun -n 16 petrov-cluster gen english KKKKvKKKK --metric wld --memory 30G
  mpirun -n 4 petrov-cluster gen chess 5 --tables /scratch/{host}/tables --checkpoint 60

The tables are those of `petrov gen`, byte for byte. Interrupted work goes on where it stopped, also
with another number of ranks: finished tables are kept, and checkpoints of what was not finished.")]
    Gen(GenOptions),
    /// Bring the tables of all ranks' folders together in the folder of rank 0
    #[command(after_help = "Examples:
  mpirun -n 4 petrov-cluster collect russian --tables /scratch/{host}/tables

`gen` does so at its end unless --no-collect is given.")]
    Collect(CollectOptions),
    /// Say for each rank on which host it runs and how many threads it could use
    #[command(after_help = "Examples:
  mpirun -n 4 petrov-cluster ranks")]
    Ranks,
}

impl Command {
    /// As it is called on the command line.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Gen(_) => "gen",
            Self::Collect(_) => "collect",
            Self::Ranks => "ranks",
        }
    }
}

#[derive(Args)]
pub(crate) struct GenOptions {
    #[command(flatten)]
    pub(crate) tables: TablesOptions,
    /// Worker threads of each rank [default: one for each processor that the rank may use, which is one
    /// in all unless mpirun is told otherwise, see --bind-to there]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Most memory of each rank, such as 16G: K, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024
    /// [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = words::parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Split units of at least so many positions by rows over all ranks; 0 splits all in which both
    /// sides have kings or pieces
    /// [default: those that need more memory than a rank has]
    #[arg(long, value_name = "POSITIONS")]
    pub(crate) split_from: Option<u64>,
    /// Spread the units of slices of at least so many positions over all ranks [default: of those that take
    /// more than some seconds]
    #[arg(long, value_name = "POSITIONS")]
    pub(crate) share_from: Option<u64>,
    /// Seconds between checkpoints of unfinished work; 0 for none
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = parse_seconds)]
    pub(crate) checkpoint: Duration,
    /// Leave tables in the folder of the rank that wrote them
    #[arg(long)]
    pub(crate) no_collect: bool,
}

#[derive(Args)]
pub(crate) struct CollectOptions {
    /// Name of a game, see `petrov games`
    pub(crate) game: String,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number of seconds, which need not be whole.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse::<f64>()
        .ok()
        .filter(|seconds| seconds.is_finite() && *seconds <= MOST_SECONDS);
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("expected a number of seconds from 0 to {MOST_SECONDS}, such as 60 or 0.5"))
}

/// A year.
const MOST_SECONDS: f64 = 366.0 * 86_400.0;
