//! Options that `petrov` and `petrov-cluster` have in common, and reading of the command line.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::error::{ContextKind, ErrorKind};
use clap::{Args, Parser};
use petrov_gen::What;
use petrov_probe::{Metric, format};

use crate::failure::{Failure, USAGE};
use crate::output;
use crate::words;

/// The version of the programs and of the table format, as `--version` prints it.
pub static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (table format {})", env!("CARGO_PKG_VERSION"), format::VERSION));

/// Heading of the options of every command.
pub const GLOBAL: &str = "Options of every command";

/// Options of every command of both programs.
#[derive(Args)]
pub struct Shared {
    /// Folder of tables; may be repeated, `gen` writes to the first [default: $PETROV_TABLES
    /// (separated by colons), else tables]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR")]
    pub tables: Vec<PathBuf>,
    /// Rule file of a game to know besides the built-in ones; may be repeated
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Say nothing but answers and errors
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    /// Say more about what is done
    #[arg(short, long, global = true, help_heading = GLOBAL, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// A game, and which of its materials.
#[derive(Args)]
pub struct WhatOptions {
    /// Name of a game, see `petrov games`
    pub game: String,
    /// Most pieces, or one material such as KKMvKM or KRPvKR
    #[arg(value_name = "WHAT")]
    pub what: String,
    /// Answer with one JSON document
    #[arg(long)]
    pub json: bool,
}

impl WhatOptions {
    /// Which tables are meant.
    ///
    /// # Errors
    /// The text is neither a number of pieces nor a material.
    pub fn what(&self) -> Result<What, Failure> {
        Ok(self.what.parse()?)
    }
}

/// Tables to build.
#[derive(Args)]
pub struct TablesOptions {
    /// The game and its materials.
    #[command(flatten)]
    pub what: WhatOptions,
    /// What tables say: wld (value), dtw (plies to the end), dtz (plies to the next conversion)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "wld,dtw", value_parser = metric)]
    pub metric: Vec<Metric>,
}

/// More threads than any machine has processors.
pub const MOST_THREADS: i64 = 1024;

/// Reads the name of a metric.
///
/// # Errors
/// Says what was expected.
pub fn metric(text: &str) -> Result<Metric, String> {
    Metric::ALL
        .into_iter()
        .find(|metric| metric.name() == text)
        .ok_or_else(|| "expected wld, dtw or dtz".to_owned())
}

/// A command line that does not say what is to be done: it is wrong, or asks for help or the version.
pub struct Refusal(clap::Error);

/// Reads the command line.
///
/// # Errors
/// [`Refusal`], of which nothing has been said yet.
pub fn parse<A: Parser>() -> Result<A, Refusal> {
    A::try_parse().map_err(Refusal)
}

impl Refusal {
    /// Says what `--help`, `--version` and errors have to say; returns the exit status.
    pub fn say(&self) -> u8 {
        match self.0.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                // Nobody reads it if it cannot be written.
                let _ = self.0.print();
            }
            _ => output::complain(&usage_message(&self.0)),
        }
        self.status()
    }

    /// What is wrong with the command line, in one line; none if help or the version was asked for, or nothing at all.
    pub fn fault(&self) -> Option<String> {
        match self.0.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => None,
            _ => Some(usage_message(&self.0)),
        }
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        match self.0.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => 0,
            _ => USAGE,
        }
    }
}

/// What clap says in several lines, in one.
fn usage_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = ["\n\nUsage:", "\n\nFor more information"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min();
    let said = words::one_line(&text[..end.unwrap_or(text.len())]);
    match error.get(ContextKind::Usage) {
        Some(usage) => format!("{said}; {}", words::one_line(&usage.to_string())),
        None => format!("{said}; see `{} --help`", output::program()),
    }
}
