//! The known games: those built in and those of the user's rule files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::game::Game;
use super::parse::RuleFile;
use crate::rule_text::RuleError;
use crate::spelling;

/// The rule files that are part of the program, in the order of the list.
const BUILT_IN: [&str; 30] = [
    include_str!("../../rules/russian.toml"),
    include_str!("../../rules/russian-giveaway.toml"),
    include_str!("../../rules/brazilian.toml"),
    include_str!("../../rules/pool.toml"),
    include_str!("../../rules/jamaican.toml"),
    include_str!("../../rules/english.toml"),
    include_str!("../../rules/english-giveaway.toml"),
    include_str!("../../rules/italian.toml"),
    include_str!("../../rules/spanish.toml"),
    include_str!("../../rules/portuguese.toml"),
    include_str!("../../rules/argentinian.toml"),
    include_str!("../../rules/czech.toml"),
    include_str!("../../rules/thai.toml"),
    include_str!("../../rules/german-dame.toml"),
    include_str!("../../rules/russian-stop.toml"),
    include_str!("../../rules/german-lasker.toml"),
    include_str!("../../rules/old-french.toml"),
    include_str!("../../rules/myanmar.toml"),
    include_str!("../../rules/spantsireti.toml"),
    include_str!("../../rules/international.toml"),
    include_str!("../../rules/international-giveaway.toml"),
    include_str!("../../rules/breakthrough.toml"),
    include_str!("../../rules/killer.toml"),
    include_str!("../../rules/ghanaian.toml"),
    include_str!("../../rules/frisian.toml"),
    include_str!("../../rules/canadian.toml"),
    include_str!("../../rules/malaysian.toml"),
    include_str!("../../rules/turkish.toml"),
    include_str!("../../rules/armenian.toml"),
    include_str!("../../rules/ossetian.toml"),
];

/// Largest rule file read, in bytes.
const LARGEST_FILE: u64 = 1 << 16;

/// Why a rule file was not added. Each message is one line that names the file.
#[derive(Debug, thiserror::Error)]
pub enum AddGameError {
    /// The file cannot be read, or is not UTF-8 text.
    #[error("cannot read rule file {origin}: {error}")]
    Read {
        /// The file.
        origin: String,
        /// What went wrong.
        error: io::Error,
    },
    /// The file is too large to be a rule file.
    #[error("rule file {origin} is too large; expected at most {LARGEST_FILE} bytes")]
    TooLarge {
        /// The file.
        origin: String,
    },
    /// The text is not that of a rule file.
    #[error("rule file {origin}: {error}")]
    Rules {
        /// The file.
        origin: String,
        /// What is wrong, and where.
        error: RuleError,
    },
    /// The name is that of a built-in game.
    #[error("rule file {origin}: `{name}` is the name of a built-in game; expected another name")]
    BuiltInName {
        /// The file.
        origin: String,
        /// The name.
        name: String,
    },
    /// The name is that of a game added before.
    #[error("rule file {origin}: a game named `{name}` was added before; expected another name")]
    Duplicate {
        /// The file.
        origin: String,
        /// The name.
        name: String,
    },
}

/// No game has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown game {name:?}; {}", instead(.near, .known))]
pub struct UnknownGame {
    /// The name asked for.
    pub name: String,
    /// Known names near it.
    pub near: Vec<String>,
    /// All known names.
    pub known: Vec<String>,
}

/// The near names, or all if none is near.
fn instead(near: &[String], known: &[String]) -> String {
    if near.is_empty() {
        format!("known games are {}", known.join(", "))
    } else {
        format!("did you mean {}?", near.join(" or "))
    }
}

/// The known games.
#[derive(Clone, Debug)]
pub struct Games {
    /// The built-in ones first, then in the order in which they were added.
    games: Vec<Game>,
    built_in: usize,
}

impl Default for Games {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Games {
    /// The built-in games.
    #[must_use]
    pub fn built_in() -> Self {
        let games: Vec<Game> = BUILT_IN
            .iter()
            .map(|text| match RuleFile::parse(text) {
                Ok(file) => Game::new(file),
                // The texts are constants that the tests read.
                Err(error) => unreachable!("built-in rule file: {error}"),
            })
            .collect();
        Self {
            built_in: games.len(),
            games,
        }
    }

    /// All games, the built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = &Game> {
        self.games.iter()
    }

    /// The game of a name.
    ///
    /// # Errors
    ///
    /// [`UnknownGame`], which suggests names near it.
    pub fn get(&self, name: &str) -> Result<&Game, UnknownGame> {
        self.find(name).ok_or_else(|| UnknownGame {
            name: name.to_owned(),
            near: spelling::near(name, self.iter().map(Game::name))
                .into_iter()
                .map(str::to_owned)
                .collect(),
            known: self.iter().map(|game| game.name().to_owned()).collect(),
        })
    }

    fn find(&self, name: &str) -> Option<&Game> {
        self.iter().find(|game| game.name() == name)
    }

    /// Adds the game of a rule file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a rule file, or has the name of a
    /// known game.
    pub fn add_file(&mut self, path: &Path) -> Result<&Game, AddGameError> {
        let origin = path.display().to_string();
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_string(&mut text));
        match read {
            Err(error) => Err(AddGameError::Read { origin, error }),
            Ok(_) if text.len() as u64 > LARGEST_FILE => Err(AddGameError::TooLarge { origin }),
            Ok(_) => self.add_text(&text, &origin),
        }
    }

    /// Adds the game of the text of a rule file; `origin` names it in errors.
    ///
    /// # Errors
    ///
    /// If the text is not a rule file, or has the name of a known game.
    pub fn add_text(&mut self, text: &str, origin: &str) -> Result<&Game, AddGameError> {
        let origin = origin.to_owned();
        let file = match RuleFile::parse(text) {
            Ok(file) => file,
            Err(error) => return Err(AddGameError::Rules { origin, error }),
        };
        let index = self.games.len();
        if let Some(known) = self.games.iter().position(|game| game.name() == file.name) {
            let name = file.name;
            return Err(if known < self.built_in {
                AddGameError::BuiltInName { origin, name }
            } else {
                AddGameError::Duplicate { origin, name }
            });
        }
        self.games.push(Game::new(file));
        Ok(&self.games[index])
    }
}

#[cfg(test)]
mod tests;
