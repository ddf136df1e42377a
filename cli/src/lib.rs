//! The program `petrov`, a thin layer over the crates, and what `petrov-cluster` has in common with it: options, known
//! games and folders, words, what is said where, and exit statuses.

mod allocator;
mod annotate;
mod args;
mod bench;
mod board;
mod catalogue;
mod checksums;
mod claims;
pub mod failure;
mod games_page;
pub mod generate;
mod info;
mod limits;
mod moves;
pub mod options;
pub mod output;
mod probing;
mod processor;
mod progress;
pub mod setting;
pub mod signals;
mod stats;
mod stream;
mod verify;
pub mod words;

use std::process::ExitCode;

use petrov_games::with_game;
use petrov_probe::Backend;

use crate::args::{Arguments, BenchCommand, Command};
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;

/// Begins a program of this name: everything that it says on standard error begins with the name.
///
/// Before anything else the processor is asked whether it has the instructions that all of this is compiled for:
/// `start` may use them, and on an older processor would end in a signal. Returns the exit status.
pub fn begin(program: &'static str, start: fn() -> ExitCode) -> ExitCode {
    output::name_program(program);
    if let Some(missing) = processor::missing_instructions() {
        output::complain(&format!(
            "this processor lacks {missing}; build for older ones with RUSTFLAGS=\"-C target-cpu=x86-64\" cargo build --release"
        ));
        return ExitCode::from(failure::BROKEN);
    }
    allocator::give_large_arrays_back();
    signals::survive_file_size_limit();
    start()
}

/// The program `petrov`. Returns its exit status.
#[inline(never)]
pub fn petrov() -> ExitCode {
    let arguments = match options::parse::<Arguments>() {
        Ok(arguments) => arguments,
        Err(refusal) => return ExitCode::from(refusal.say()),
    };
    if arguments.common.read == Some(Backend::Pread) {
        limits::open_as_many_files_as_allowed();
    }
    let mut output = Output::new();
    let setting = Setting::new(&arguments.common.shared, arguments.common.read.unwrap_or_default());
    let outcome = setting.and_then(|setting| run(&arguments.command, &setting, &mut output));
    match output.end(outcome) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failure.say()),
    }
}

fn run(command: &Command, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    /// Runs a command on the game that it names, whatever its family.
    macro_rules! on_game {
        ($name:expr, $game:ident => $command:expr) => {
            with_game!(setting.game($name)?, $game => $command)
        };
    }
    match command {
        Command::Games(options) => catalogue::games(options, setting, output),
        Command::Rules(options) => on_game!(&options.game, game => catalogue::rules(game, options, output)),
        Command::Perft(options) => on_game!(&options.game, game => moves::perft(game, options, output)),
        Command::Moves(options) => on_game!(&options.game, game => moves::moves(game, options, output)),
        Command::Plan(options) => {
            on_game!(&options.tables.what.game, game => generate::plan(game, options, setting, output))
        }
        Command::Gen(options) => {
            on_game!(&options.tables.what.game, game => generate::gen_tables(game, options, setting, output))
        }
        Command::Stats(options) => on_game!(&options.game, game => stats::stats(game, options, setting, output)),
        Command::Probe(options) => on_game!(&options.game, game => probing::probe(game, options, setting, output)),
        Command::Line(options) => on_game!(&options.game, game => probing::line(game, options, setting, output)),
        Command::Annotate(options) => {
            on_game!(&options.game, game => annotate::annotate(game, options, setting, output))
        }
        Command::Verify(options) => on_game!(&options.game, game => verify::verify(game, options, setting, output)),
        Command::Claims(options) => claims::claims(options, setting, output),
        Command::Checksums(options) => checksums::checksums(options, setting, output),
        Command::Info(options) => info::info(options, setting, output),
        Command::Bench(BenchCommand::Probe(options)) => {
            on_game!(&options.game, game => bench::probe(game, options, setting, output))
        }
        Command::Completions(options) => args::completions(options, output),
    }
}
