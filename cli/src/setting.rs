//! What all commands share: known games, folders of tables, how much is said.

use std::path::PathBuf;

use petrov_games::{AnyGame, Games};
use petrov_probe::{Backend, BlockCache, Tables, default_folders};

use crate::args::Common;
use crate::failure::Failure;
use crate::output::complain;

/// Known games, folders of tables, how much is said.
pub(crate) struct Setting {
    pub(crate) games: Games,
    pub(crate) dirs: Vec<PathBuf>,
    /// How tables are read.
    pub(crate) backend: Backend,
    quiet: bool,
    verbose: bool,
}

impl Setting {
    /// Reads the rule files and the environment.
    pub(crate) fn new(common: &Common) -> Result<Self, Failure> {
        let mut games = Games::built_in();
        for file in &common.rules {
            games.add_file(file)?;
        }
        Ok(Self {
            games,
            dirs: dirs(&common.tables),
            backend: common.read.unwrap_or_default(),
            quiet: common.quiet,
            verbose: common.verbose,
        })
    }

    /// The game of a name.
    pub(crate) fn game(&self, name: &str) -> Result<&AnyGame, Failure> {
        Ok(self.games.get(name)?)
    }

    /// Opens the tables. Those that cannot be used are reported when they are
    /// asked for, and with `-v` here.
    pub(crate) fn tables(&self, cache: BlockCache) -> Result<Tables, Failure> {
        let tables = Tables::open_with(&self.dirs, cache, self.backend)?;
        if self.verbose {
            let count = tables.iter().count();
            self.detail(&format!("{count} tables in {}", self.dirs_in_words()));
            for (_, fault) in tables.faults() {
                self.detail(&format!("left out: {fault}"));
            }
        }
        Ok(tables)
    }

    /// The folders of tables, for messages.
    pub(crate) fn dirs_in_words(&self) -> String {
        let dirs: Vec<String> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
        dirs.join(", ")
    }

    /// True unless `-q` was given.
    pub(crate) fn talks(&self) -> bool {
        !self.quiet
    }

    /// Something to know, on standard error; not with `-q`.
    pub(crate) fn note(&self, text: &str) {
        if self.talks() {
            complain(text);
        }
    }

    /// Something that only `-v` asks for, on standard error.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            self.note(text);
        }
    }
}

fn dirs(given: &[PathBuf]) -> Vec<PathBuf> {
    if given.is_empty() {
        default_folders()
    } else {
        given.to_vec()
    }
}
