//! What all commands share: known games, folders of tables, how much is said.

use std::path::PathBuf;

use petrov_games::{AnyGame, Games};
use petrov_probe::{Backend, BlockCache, Tables, default_folders};

use crate::failure::Failure;
use crate::options::Shared;
use crate::output::complain;

/// Known games, folders of tables, how much is said.
pub struct Setting {
    /// Built-in games and those of rule files.
    pub games: Games,
    /// Folders of tables; the first is written to.
    pub dirs: Vec<PathBuf>,
    /// How tables are read.
    pub backend: Backend,
    /// The starter set beside an installed program, if no folder was named on the command line.
    starter: Option<PathBuf>,
    quiet: bool,
    verbose: bool,
}

impl Setting {
    /// Reads the rule files and the environment.
    ///
    /// # Errors
    /// A rule file cannot be read or is wrong.
    pub fn new(shared: &Shared, backend: Backend) -> Result<Self, Failure> {
        let mut games = Games::built_in();
        for file in &shared.rules {
            games.add_file(file)?;
        }
        Ok(Self {
            games,
            dirs: dirs(&shared.tables),
            backend,
            starter: if shared.tables.is_empty() {
                installed_starter()
            } else {
                None
            },
            quiet: shared.quiet,
            verbose: shared.verbose,
        })
    }

    /// The game of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn game(&self, name: &str) -> Result<&AnyGame, Failure> {
        Ok(self.games.get(name)?)
    }

    /// Opens the tables. Those that cannot be used are reported when they are
    /// asked for, and with `-v` here.
    pub(crate) fn tables(&self, cache: BlockCache) -> Result<Tables, Failure> {
        let dirs: Vec<&PathBuf> = self.dirs.iter().chain(&self.starter).collect();
        let tables = Tables::open_with(&dirs, cache, self.backend)?;
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
    #[must_use]
    pub fn dirs_in_words(&self) -> String {
        let dirs: Vec<String> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
        dirs.join(", ")
    }

    /// True unless `-q` was given.
    #[must_use]
    pub fn talks(&self) -> bool {
        !self.quiet
    }

    /// From now on as if `-q` had been given.
    pub fn hush(&mut self) {
        self.quiet = true;
    }

    /// Something to know, on standard error; not with `-q`.
    pub fn note(&self, text: &str) {
        if self.talks() {
            complain(text);
        }
    }

    /// Something that only `-v` asks for, on standard error.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            self.note(text);
        }
    }
}

/// `PREFIX/share/petrov/tables` of a program that is `PREFIX/bin/petrov`, where `scripts/install` puts the starter set.
fn installed_starter() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let tables = program.parent()?.parent()?.join("share/petrov/tables");
    tables.is_dir().then_some(tables)
}

fn dirs(given: &[PathBuf]) -> Vec<PathBuf> {
    if given.is_empty() {
        default_folders()
    } else {
        given.to_vec()
    }
}
