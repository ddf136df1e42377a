//! Games as text: what PDN and PGN have in common.
//!
//! A game is its tags, its moves with their numbers, remarks between them and
//! a result. How a start position and a move are written is said by a
//! [`Notation`].

mod read;

use std::fmt::Write as _;

use crate::game::{Game, RecordOf};
use crate::piece::Colour;

pub(crate) use read::GameTextReader;

/// Longest text read, in bytes.
pub const LONGEST_GAME_TEXT: usize = 1 << 26;

/// Most tags of a game.
const MOST_TAGS: usize = 256;
/// Most moves of a game.
const MOST_MOVES: usize = 10_000;
/// Variations within variations.
pub(crate) const DEEPEST: usize = 64;
/// Longest lines written, if no word is longer.
const WIDTH: usize = 80;
/// The tag of a start position.
const FEN_TAG: &str = "FEN";
/// Values of the tag that says whether there is a start position.
const SET_UP: &str = "1";
const NOT_SET_UP: &str = "0";

/// A game: its tags, its start and its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameRecord<P, M> {
    /// Names and values in the order of the text.
    pub tags: Vec<(String, String)>,
    /// The start position: that of the tag `FEN`, else the game's own.
    pub start: P,
    /// What is said before the first move.
    pub opening: Vec<Remark>,
    /// The moves.
    pub moves: Vec<RecordedMove<M>>,
    /// How it ended.
    pub result: GameResult,
}

/// A move of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedMove<M> {
    /// The move, legal in its position.
    pub played: M,
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
pub enum GameResult {
    /// `1-0`.
    WhiteWins,
    /// `0-1`.
    BlackWins,
    /// `1/2-1/2`.
    Draw,
    /// `2-0`, with two points for a win, as in draughts.
    WhiteWinsTwo,
    /// `0-2`, with two points for a win, as in draughts.
    BlackWinsTwo,
    /// `1-1`, with two points for a win, as in draughts.
    DrawOne,
    /// `*`, or not said.
    Unknown,
}

impl GameResult {
    pub(crate) const ALL: [Self; 7] = [
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

/// Why a text is not one of games. Its message is one line. `F` says why a
/// FEN is not one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column} (game {game}): {kind}")]
pub struct GameTextError<F> {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The number of the game, from 1.
    pub game: usize,
    /// What is wrong there.
    pub kind: Box<GameTextErrorKind<F>>,
}

/// What is wrong with a text of games.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GameTextErrorKind<F> {
    /// The text is too long.
    #[error("the text has {length} bytes; expected at most {LONGEST_GAME_TEXT}")]
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
    Start(F),
    /// There is no tag `FEN`, and the rules have no start position.
    #[error("the game has no start position; expected a tag `FEN`, as these rules have no start of their own")]
    NoStart,
    /// The tag `SetUp` contradicts the tag `FEN`, or that there is none.
    #[error("the tag `SetUp` is {value:?}; expected \"1\" with a tag `FEN` and \"0\" without one")]
    SetUp {
        /// Its value.
        value: String,
    },
    /// What opens here is never closed.
    #[error("this {what} is not closed; expected `{close}` before the end of the text")]
    Open {
        /// A comment or a variation.
        what: &'static str,
        /// What closes it.
        close: char,
    },
    /// Nothing in a text of games looks like this.
    #[error("{found} is neither a move nor its number, a comment, a variation, a glyph such as `$1` or a result")]
    Unexpected {
        /// What was found.
        found: String,
    },
    /// Not the name of a square, in PDN.
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
    #[error("{text:?} may be any of {fitting} in {fen}; expected {missing}")]
    Ambiguous {
        /// The move.
        text: String,
        /// The position.
        fen: String,
        /// The legal moves that fit.
        fitting: String,
        /// What would tell them apart.
        missing: &'static str,
    },
}

type Position<N> = <<N as Notation>::Game as Game>::Position;
type Move<N> = <<N as Notation>::Game as Game>::Move;
type FenError<N> = <<N as Notation>::Game as Game>::FenError;

/// The legal moves that fit a word best, or `None` if it has not the form of a
/// move.
pub(crate) type Fitting<N> = Result<Option<Vec<Move<N>>>, GameTextErrorKind<FenError<N>>>;

/// How the moves of a game are written.
pub(crate) trait Notation {
    /// The family.
    type Game: Game;

    /// The tag that says whether there is a tag `FEN`, where there is such.
    const SETUP_TAG: Option<&'static str>;
    /// Whether dots may be away from the number of a move, or missing.
    const LOOSE_NUMBERS: bool;
    /// What tells moves apart that all fit a text.
    const TELLS_APART: &'static str;

    /// The game.
    fn game(&self) -> &Self::Game;
    /// The text of one of the legal moves.
    fn move_text(&self, position: &Position<Self>, played: &Move<Self>, legal: &[Move<Self>]) -> String;
    /// The legal moves that a word may mean.
    fn fitting(&self, word: &str, position: &Position<Self>, legal: &[Move<Self>]) -> Fitting<Self>;
    /// The number of a game's first move.
    fn first_number(&self, start: &Position<Self>) -> u32;
    /// The side whose moves have a new number.
    fn opener(&self) -> Colour;
}

/// Writes a game: its tags, an empty line, and its moves on lines of up to 80
/// characters.
pub(crate) fn write<N: Notation>(notation: &N, game: &RecordOf<N::Game>) -> String {
    let rules = notation.game();
    let mut out = String::new();
    write_tags(&mut out, notation, game);
    if !out.is_empty() {
        out.push('\n');
    }
    let mut lines = Lines::default();
    let mut at = game.start;
    let mut number = u64::from(notation.first_number(&at));
    let mut told = false;
    lines.remarks(&game.opening);
    for step in &game.moves {
        let legal = rules.legal_moves(&at);
        let text = notation.move_text(&at, &step.played, &legal);
        let opens = rules.turn(&at) == notation.opener();
        // A line does not end between a number and its move.
        if opens {
            lines.word(&format!("{number}. {text}"));
        } else if told {
            lines.word(&text);
        } else {
            lines.word(&format!("{number}... {text}"));
        }
        lines.remarks(&step.remarks);
        // After a comment or a variation the number is said again.
        told = step.remarks.iter().all(|remark| matches!(remark, Remark::Nag(_)));
        number += u64::from(!opens);
        at = rules.after(&at, &step.played);
    }
    lines.word(game.result.text());
    out.push_str(&lines.text);
    out.push('\n');
    out
}

/// Writes the tags, with those of the start position where they are needed.
fn write_tags<N: Notation>(out: &mut String, notation: &N, game: &RecordOf<N::Game>) {
    let is = |name: &str, tag: &str| name.eq_ignore_ascii_case(tag);
    let given = |tag: &str| game.tags.iter().any(|(name, _)| is(name, tag));
    let rules = notation.game();
    let fen = rules.fen(&game.start);
    let needed = rules.start() != Some(game.start);
    let told = given(FEN_TAG) || needed;
    let mut added = Vec::new();
    if needed && !given(FEN_TAG) {
        let setup = N::SETUP_TAG.filter(|tag| !given(tag));
        added.extend(setup.map(|tag| (tag.to_owned(), SET_UP.to_owned())));
        added.push((FEN_TAG.to_owned(), fen.clone()));
    }
    for (name, value) in game.tags.iter().chain(&added) {
        let value = if is(name, FEN_TAG) {
            // As it was written, if it is right.
            let right = rules.parse_fen(value).is_ok_and(|start| start == game.start);
            if right { value } else { &fen }
        } else if N::SETUP_TAG.is_some_and(|tag| is(name, tag)) {
            match value.as_str() {
                NOT_SET_UP if needed => SET_UP,
                SET_UP if !told => NOT_SET_UP,
                other => other,
            }
        } else {
            value
        };
        let value = value
            .replace(char::is_control, " ")
            .replace('\\', r"\\")
            .replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "[{name} \"{value}\"]");
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
pub(crate) mod tests;
