//! The program `petrov`: a thin layer over the crates.

mod annotate;
mod args;
mod bench;
mod board;
mod catalogue;
mod checksums;
mod claims;
mod failure;
mod games_page;
mod generate;
mod info;
mod limits;
mod moves;
mod output;
mod probing;
mod processor;
mod progress;
mod setting;
mod signals;
mod stats;
mod stream;
mod verify;
mod words;

use std::io::Write;
use std::process::ExitCode;

use petrov_games::with_game;
use petrov_probe::Backend;

use crate::args::{BenchCommand, Command};
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;

fn main() -> ExitCode {
    // Before anything else: what follows may use instructions that an older
    // processor does not have, and would end in a signal.
    if let Some(missing) = processor::missing_instructions() {
        output::complain(&format!(
            "this processor lacks {missing}; build for older ones with RUSTFLAGS=\"-C target-cpu=x86-64\" cargo build --release"
        ));
        return ExitCode::from(failure::BROKEN);
    }
    start()
}

#[inline(never)]
fn start() -> ExitCode {
    let arguments = match args::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    signals::survive_file_size_limit();
    if arguments.common.read == Some(Backend::Pread) {
        limits::open_as_many_files_as_allowed();
    }
    let mut output = Output::new();
    let outcome = Setting::new(&arguments.common).and_then(|setting| run(&arguments.command, &setting, &mut output));
    // A negative answer has to reach the reader as well.
    let answered = matches!(outcome, Ok(()) | Err(Failure::Negative));
    let flushed = if answered { output.flush() } else { Ok(()) };
    match (flushed.map_err(Failure::from), outcome) {
        // A negative answer stays one when nobody reads on.
        (Ok(()) | Err(Failure::Unread), Err(Failure::Negative)) => ExitCode::from(failure::NEGATIVE),
        (Ok(()), Ok(())) | (Err(Failure::Unread), Ok(())) | (_, Err(Failure::Unread)) => ExitCode::SUCCESS,
        (Err(failure), _) | (_, Err(failure)) => {
            output::complain(&failure.to_string());
            ExitCode::from(failure.status())
        }
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
        Command::Plan(options) => on_game!(&options.what.game, game => generate::plan(game, options, setting, output)),
        Command::Gen(options) => {
            on_game!(&options.plan.what.game, game => generate::gen_tables(game, options, setting, output))
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
