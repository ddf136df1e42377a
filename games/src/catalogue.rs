//! The known games of all families: those built in and those of the user's rule
//! files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::fingerprint::Fingerprint;
use crate::game::Game;
use crate::rule_file::{Axes, RuleFile};
use crate::rule_text::{RuleError, RuleText};
use crate::{chess, draughts, spelling};

/// The rule files that are part of the program, in the order of the list.
const BUILT_IN: [&str; 40] = [
    include_str!("../rules/russian.toml"),
    include_str!("../rules/russian-giveaway.toml"),
    include_str!("../rules/brazilian.toml"),
    include_str!("../rules/pool.toml"),
    include_str!("../rules/jamaican.toml"),
    include_str!("../rules/english.toml"),
    include_str!("../rules/english-giveaway.toml"),
    include_str!("../rules/italian.toml"),
    include_str!("../rules/spanish.toml"),
    include_str!("../rules/portuguese.toml"),
    include_str!("../rules/argentinian.toml"),
    include_str!("../rules/czech.toml"),
    include_str!("../rules/thai.toml"),
    include_str!("../rules/german-dame.toml"),
    include_str!("../rules/russian-stop.toml"),
    include_str!("../rules/german-lasker.toml"),
    include_str!("../rules/old-french.toml"),
    include_str!("../rules/myanmar.toml"),
    include_str!("../rules/spantsireti.toml"),
    include_str!("../rules/international.toml"),
    include_str!("../rules/international-giveaway.toml"),
    include_str!("../rules/breakthrough.toml"),
    include_str!("../rules/killer.toml"),
    include_str!("../rules/ghanaian.toml"),
    include_str!("../rules/frisian.toml"),
    include_str!("../rules/canadian.toml"),
    include_str!("../rules/malaysian.toml"),
    include_str!("../rules/turkish.toml"),
    include_str!("../rules/armenian.toml"),
    include_str!("../rules/ossetian.toml"),
    include_str!("../rules-chess/chess.toml"),
    include_str!("../rules-chess/e-chess.toml"),
    include_str!("../rules-chess/chess-pawns-capture-back.toml"),
    include_str!("../rules-chess/chess-no-first-capture.toml"),
    include_str!("../rules-chess/chess-promote-by-file.toml"),
    include_str!("../rules-chess/berolina.toml"),
    include_str!("../rules-chess/knight-relay.toml"),
    include_str!("../rules-chess/giveaway.toml"),
    include_str!("../rules-chess/shatranj.toml"),
    include_str!("../rules-chess/makruk.toml"),
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

/// A game of any family.
#[derive(Clone, Debug)]
pub enum AnyGame {
    /// A draughts game.
    Draughts(draughts::Game),
    /// A chess game.
    Chess(chess::Game),
}

/// Runs the same code with a game of either family:
/// `with_game!(any, game => ...)`, where `any` is an `&AnyGame` and `game` an
/// `&impl Game`.
#[macro_export]
macro_rules! with_game {
    ($any:expr, $game:ident => $body:expr) => {
        match $any {
            $crate::AnyGame::Draughts($game) => $body,
            $crate::AnyGame::Chess($game) => $body,
        }
    };
}

impl AnyGame {
    /// The game of a rule file.
    ///
    /// # Errors
    ///
    /// The first [`RuleError`] found; see [`RuleFile::parse`].
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        const CHESS: &str = chess::Rules::FAMILY;
        const DRAUGHTS: &str = draughts::Rules::FAMILY;
        let file = RuleText::read(text)?;
        let expected = format!("one of \"{DRAUGHTS}\", \"{CHESS}\"");
        let family = file.required("family", &expected)?;
        match family.string() {
            Some(DRAUGHTS) => RuleFile::of(&file).map(|file| Self::Draughts(draughts::Game::new(file))),
            Some(CHESS) => RuleFile::of(&file).map(|file| Self::Chess(chess::Game::new(file))),
            _ => Err(family.unexpected(expected)),
        }
    }

    /// The name by which it is asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        with_game!(self, game => Game::name(game))
    }

    /// The name of its family, as in rule files.
    #[must_use]
    pub fn family(&self) -> &'static str {
        fn family<G: Game>(_: &G) -> &'static str {
            G::FAMILY
        }
        with_game!(self, game => family(game))
    }

    /// The fingerprint of the rules.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        with_game!(self, game => Game::fingerprint(game))
    }

    /// The draughts game, if it is one.
    #[must_use]
    pub fn draughts(&self) -> Option<&draughts::Game> {
        match self {
            Self::Draughts(game) => Some(game),
            Self::Chess(_) => None,
        }
    }

    /// The chess game, if it is one.
    #[must_use]
    pub fn chess(&self) -> Option<&chess::Game> {
        match self {
            Self::Chess(game) => Some(game),
            Self::Draughts(_) => None,
        }
    }
}

/// The known games.
#[derive(Clone, Debug)]
pub struct Games {
    /// The built-in ones first, then in the order in which they were added.
    games: Vec<AnyGame>,
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
        let games: Vec<AnyGame> = BUILT_IN
            .iter()
            .map(|text| match AnyGame::parse(text) {
                Ok(game) => game,
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
    pub fn iter(&self) -> impl Iterator<Item = &AnyGame> {
        self.games.iter()
    }

    /// The game of a name.
    ///
    /// # Errors
    ///
    /// [`UnknownGame`], which suggests names near it.
    pub fn get(&self, name: &str) -> Result<&AnyGame, UnknownGame> {
        self.find(name, Some)
    }

    /// The draughts game of a name.
    ///
    /// # Errors
    ///
    /// [`UnknownGame`], which suggests names of draughts games near it.
    pub fn draughts(&self, name: &str) -> Result<&draughts::Game, UnknownGame> {
        self.find(name, AnyGame::draughts)
    }

    /// The chess game of a name.
    ///
    /// # Errors
    ///
    /// [`UnknownGame`], which suggests names of chess games near it.
    pub fn chess(&self, name: &str) -> Result<&chess::Game, UnknownGame> {
        self.find(name, AnyGame::chess)
    }

    /// The game of a name, looked for among those that `wanted` gives.
    fn find<'a, T>(&'a self, name: &str, wanted: impl Fn(&'a AnyGame) -> Option<T>) -> Result<T, UnknownGame> {
        if let Some(found) = self.iter().find(|game| game.name() == name).and_then(&wanted) {
            return Ok(found);
        }
        let known: Vec<&str> = self
            .iter()
            .filter(|game| wanted(game).is_some())
            .map(AnyGame::name)
            .collect();
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Err(UnknownGame {
            name: name.to_owned(),
            near: owned(&spelling::near(name, known.iter().copied())),
            known: owned(&known),
        })
    }

    /// Adds the game of a rule file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a rule file, or has the name of a
    /// known game.
    pub fn add_file(&mut self, path: &Path) -> Result<&AnyGame, AddGameError> {
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
    pub fn add_text(&mut self, text: &str, origin: &str) -> Result<&AnyGame, AddGameError> {
        let origin = origin.to_owned();
        let game = match AnyGame::parse(text) {
            Ok(game) => game,
            Err(error) => return Err(AddGameError::Rules { origin, error }),
        };
        let index = self.games.len();
        if let Some(known) = self.iter().position(|known| known.name() == game.name()) {
            let name = game.name().to_owned();
            return Err(if known < self.built_in {
                AddGameError::BuiltInName { origin, name }
            } else {
                AddGameError::Duplicate { origin, name }
            });
        }
        self.games.push(game);
        Ok(&self.games[index])
    }
}

#[cfg(test)]
mod tests;
