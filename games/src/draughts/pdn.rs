//! Games in PDN, the portable draughts notation.
//!
//! [`Game::read_pdn`] reads the games of a text one after the other and
//! replays them, so that every move of a [`PdnGame`] is legal;
//! [`Game::write_pdn`] writes one that reads back the same.

mod read;

use std::fmt::Write as _;

use super::game::Game;
use super::notation::FenError;
use super::position::{Colour, Move, Position};

pub use read::PdnReader;

/// Longest text read, in bytes.
pub const LONGEST_PDN: usize = 1 << 26;

/// Most tags of a game.
const MOST_TAGS: usize = 256;
/// Most moves of a game.
const MOST_MOVES: usize = 10_000;
/// Variations within variations.
const DEEPEST: usize = 64;
/// Longest lines written, if no word is longer.
const WIDTH: usize = 80;
/// The tag of a start position.
const FEN_TAG: &str = "FEN";

/// A game: its tags, its start and its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PdnGame {
    /// Names and values in the order of the text.
    pub tags: Vec<(String, String)>,
    /// The start position: that of the tag `FEN`, else the game's own.
    pub start: Position,
    /// What is said before the first move.
    pub opening: Vec<Remark>,
    /// The moves.
    pub moves: Vec<PdnMove>,
    /// How it ended.
    pub result: PdnResult,
}

/// A move of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PdnMove {
    /// The move, legal in its position.
    pub played: Move,
    /// What is said after it.
    pub remarks: Vec<Remark>,
}

/// What stands between moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remark {
    /// The words of a comment, with single spaces between them.
    Comment(String),
    /// A numeric annotation glyph, such as 1 for `!`.
    Nag(u8),
    /// The text of a variation between its parentheses, not replayed.
    Variation(String),
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PdnResult {
    /// `1-0`.
    WhiteWins,
    /// `0-1`.
    BlackWins,
    /// `1/2-1/2`.
    Draw,
    /// `2-0`, with two points for a win.
    WhiteWinsTwo,
    /// `0-2`, with two points for a win.
    BlackWinsTwo,
    /// `1-1`, with two points for a win.
    DrawOne,
    /// `*`, or not said.
    Unknown,
}

impl PdnResult {
    const ALL: [Self; 7] = [
        Self::WhiteWins,
        Self::BlackWins,
        Self::Draw,
        Self::WhiteWinsTwo,
        Self::BlackWinsTwo,
        Self::DrawOne,
        Self::Unknown,
    ];

    /// As it is written.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::WhiteWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
            Self::WhiteWinsTwo => "2-0",
            Self::BlackWinsTwo => "0-2",
            Self::DrawOne => "1-1",
            Self::Unknown => "*",
        }
    }
}

/// Why a text is not PDN of a game's. Its message is one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column} (game {game}): {kind}")]
pub struct PdnError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The number of the game, from 1.
    pub game: usize,
    /// What is wrong there.
    pub kind: Box<PdnErrorKind>,
}

/// What is wrong with a PDN text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PdnErrorKind {
    /// The text is longer than [`LONGEST_PDN`].
    #[error("the text has {length} bytes; expected at most {LONGEST_PDN}")]
    TooLong {
        /// Its bytes.
        length: usize,
    },
    /// More tags than a game has.
    #[error("the game has too many tags; expected at most {MOST_TAGS}")]
    TooManyTags,
    /// More moves than a game has.
    #[error("the game is too long; expected at most {MOST_MOVES} moves")]
    TooManyMoves,
    /// Variations within variations without end.
    #[error("variations are nested too deeply; expected at most {DEEPEST} within each other")]
    TooDeep,
    /// Not the form of a tag.
    #[error("{found} in a tag; expected {expected}, as in `[Event \"Match\"]`")]
    Tag {
        /// What was found.
        found: String,
        /// What was expected there.
        expected: &'static str,
    },
    /// The tag `FEN` is given twice.
    #[error("a second tag `FEN`; expected one start position")]
    SecondStart,
    /// The tag `FEN` is no position of the game.
    #[error("start position: {0}")]
    Start(FenError),
    /// What opens here is never closed.
    #[error("this {what} is not closed; expected `{close}` before the end of the text")]
    Open {
        /// A comment or a variation.
        what: &'static str,
        /// What closes it.
        close: char,
    },
    /// Nothing in PDN looks like this.
    #[error("{found} is neither a move nor its number, a comment, a variation, a glyph such as `$1` or a result")]
    Unexpected {
        /// What was found.
        found: String,
    },
    /// Not the name of a square.
    #[error(
        "unknown square {found:?} in the move {text:?}; expected one of the {count} squares from {first} to {last}"
    )]
    Square {
        /// The move.
        text: String,
        /// What should be a square.
        found: String,
        /// Number of squares.
        count: usize,
        /// Name of the first square.
        first: String,
        /// Name of the last square.
        last: String,
    },
    /// No legal move is meant.
    #[error("{text:?} is not legal in {fen}; {instead}")]
    Illegal {
        /// The move.
        text: String,
        /// The position.
        fen: String,
        /// What is legal.
        instead: String,
    },
    /// Several legal moves may be meant.
    #[error("{text:?} may be any of {fitting} in {fen}; expected the squares on which the piece lands, written out")]
    Ambiguous {
        /// The move.
        text: String,
        /// The position.
        fen: String,
        /// The legal moves that fit.
        fitting: String,
    },
}

impl Game {
    /// Reads the games of a PDN text one after the other.
    ///
    /// Squares may have the game's own names; where those are numbers also
    /// letters with a digit, and in reverse numbers from the top left corner.
    /// A capture whose ends leave a choice is told by squares between them,
    /// landing squares in order or captured ones, as far as they are needed.
    /// Variations are kept as text.
    ///
    /// ```
    /// use petrov_games::draughts::Games;
    ///
    /// let games = Games::built_in();
    /// let russian = games.get("russian")?;
    /// for game in russian.read_pdn("1. c3-d4 d6-c5 {the exchange} 2. b2-c3 *") {
    ///     assert_eq!(game?.moves.len(), 3);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_pdn<'a>(&'a self, text: &'a str) -> PdnReader<'a> {
        PdnReader::new(self, text)
    }

    /// Writes a game: its tags, an empty line, and its moves on lines of up to
    /// 80 characters.
    ///
    /// A tag `FEN` says what `start` is, and is added if need be. Every move
    /// must be legal.
    #[must_use]
    pub fn write_pdn(&self, game: &PdnGame) -> String {
        let mut out = String::new();
        let fen = self.format_fen(&game.start);
        let is_start = |name: &str| name.eq_ignore_ascii_case(FEN_TAG);
        let added = (FEN_TAG.to_owned(), fen.clone());
        let needed = game.start != self.start() && !game.tags.iter().any(|(name, _)| is_start(name));
        for (name, value) in game.tags.iter().chain(needed.then_some(&added)) {
            let value = if is_start(name) { &fen } else { value };
            let value = value
                .replace(char::is_control, " ")
                .replace('\\', r"\\")
                .replace('"', "\\\"");
            // Writing to a string cannot fail.
            let _ = writeln!(out, "[{name} \"{value}\"]");
        }
        if !out.is_empty() {
            out.push('\n');
        }
        let mut lines = Lines::default();
        let mut at = game.start;
        let first = if self.rules().white_first {
            Colour::White
        } else {
            Colour::Black
        };
        let mut number = 1;
        let mut told = false;
        lines.remarks(&game.opening);
        for step in &game.moves {
            let legal = self.legal_moves(&at);
            let text = self.move_text(&step.played, &legal, |capture| self.route(&at, capture));
            // A line does not end between a number and its move.
            if at.turn == first {
                lines.word(&format!("{number}. {text}"));
            } else if told {
                lines.word(&text);
            } else {
                lines.word(&format!("{number}... {text}"));
            }
            lines.remarks(&step.remarks);
            // After a comment or a variation the number is said again.
            told = step.remarks.iter().all(|remark| matches!(remark, Remark::Nag(_)));
            number += usize::from(at.turn != first);
            at = self.after(&at, &step.played);
        }
        lines.word(game.result.text());
        out.push_str(&lines.text);
        out.push('\n');
        out
    }
}

/// Words set into lines.
#[derive(Default)]
struct Lines {
    text: String,
    width: usize,
}

impl Lines {
    fn word(&mut self, word: &str) {
        let length = word.chars().count();
        if self.width > 0 && self.width + 1 + length > WIDTH {
            self.text.push('\n');
            self.width = 0;
        } else if self.width > 0 {
            self.text.push(' ');
            self.width += 1;
        }
        self.text.push_str(word);
        self.width += length;
    }

    fn remarks(&mut self, remarks: &[Remark]) {
        for remark in remarks {
            match remark {
                Remark::Nag(glyph) => self.word(&format!("${glyph}")),
                // A comment ends at the first brace.
                Remark::Comment(text) => self.words(&format!("{{{}}}", text.replace('}', ")"))),
                Remark::Variation(text) => self.words(&format!("({text})")),
            }
        }
    }

    fn words(&mut self, text: &str) {
        for word in text.split_whitespace() {
            self.word(word);
        }
    }
}

#[cfg(test)]
mod tests;
