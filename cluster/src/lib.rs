//! Petrov's table generator over MPI ranks: the program `petrov-cluster` and its messages.
//!
//! What is built, by which rank, and what ranks tell each other, is the business of `petrov_gen::build_spread`. Here is
//! what surrounds it: MPI, the command line, and what is said by which rank.

mod args;
mod collect;
mod end;
mod generate;
mod hosts;
mod posted;
mod report;
mod wire;
mod world;

use std::process::ExitCode;

use petrov_cli::options;

pub use wire::MpiWire;

use crate::args::Arguments;

/// The program `petrov-cluster`. Returns its exit status, the same on every rank.
#[inline(never)]
pub fn petrov_cluster() -> ExitCode {
    let arguments = options::parse::<Arguments>();
    if let Err(refusal) = &arguments
        && !world::launched()
    {
        // Nobody else is there to say it, too.
        return ExitCode::from(refusal.say());
    }
    let (universe, world) = match world::start() {
        Ok(started) => started,
        Err(failure) => return ExitCode::from(failure.say()),
    };
    let status = match world.begin(&arguments) {
        Err(stopped) => stopped.say(),
        Ok(()) => match arguments {
            Ok(arguments) => world.run(&arguments),
            Err(refusal) => world.refuse(&refusal),
        },
    };
    end::finalise(universe, world, status)
}
