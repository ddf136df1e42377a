//! `petrov-cluster`: Petrov's generator over MPI ranks.
//!
//! Building tables over ranks is not part of it yet. What is here is what
//! every such run begins with: MPI is started so that worker threads may run
//! beside the one thread that speaks to it, and each rank says where it is and
//! what it has. Rows of a unit are owned by blocks, and blocks only exchange
//! arrivals (`unit.rs` of `petrov-gen`): that is where ranks will divide work.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mpi::Threading;
use mpi::traits::*;

/// Petrov's generator over MPI ranks.
#[derive(Parser)]
#[command(version, after_help = "Example:\n  mpirun -n 4 petrov-cluster ranks")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Says for each rank on which host it runs and how many threads it could use.
    Ranks,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Only the main thread calls MPI; workers are threads of rayon.
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("petrov-cluster: MPI was started before");
        return ExitCode::from(3);
    };
    if threading < Threading::Funneled {
        eprintln!("petrov-cluster: this MPI allows no threads beside the one that calls it (found {threading:?})");
        return ExitCode::from(3);
    }
    match arguments.command {
        Command::Ranks => ranks(&universe),
    }
    ExitCode::SUCCESS
}

/// Collects a line from every rank and prints them in order.
fn ranks(universe: &mpi::environment::Universe) {
    let world = universe.world();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let host = mpi::environment::processor_name().unwrap_or_else(|_| "unknown host".to_owned());
    let line = format!("rank {} of {}: {host}, {threads} threads\n", world.rank(), world.size());
    let root = world.process_at_rank(0);
    if world.rank() == 0 {
        print!("{line}");
        for rank in 1..world.size() {
            let (line, _) = world.process_at_rank(rank).receive_vec::<u8>();
            print!("{}", String::from_utf8_lossy(&line));
        }
    } else {
        root.send(line.as_bytes());
    }
}
