//! Reading games one after the other.

use super::*;
use crate::spelling::shortened;

/// Longest word that is looked at as a move.
const LONGEST_WORD: usize = 512;
/// Legal moves that messages show.
const SHOWN_MOVES: usize = 8;

/// A place in the text.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    column: usize,
}

/// The rest of the text, and where it begins.
struct Cursor<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        if next == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(next)
    }

    /// The characters up to the first that is not `part` of it.
    fn run(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (run, _) = self.rest.split_at(end);
        for _ in run.chars() {
            self.next();
        }
        run
    }

    /// A line that is not part of the games begins here.
    fn at_escape(&self) -> bool {
        self.place.column == 1 && self.rest.starts_with('%')
    }

    fn skip_line(&mut self) -> &'a str {
        self.run(|c| c != '\n')
    }
}

/// Reads the games of a text one after the other. After an error there are no
/// more.
pub(crate) struct GameTextReader<'a, N: Notation> {
    notation: N,
    /// The start position of the rules.
    start: Option<Position<N>>,
    cursor: Cursor<'a>,
    /// Games begun.
    number: usize,
    length: usize,
    failed: bool,
}

/// A game under way.
struct Draft<N: Notation> {
    tags: Vec<(String, String)>,
    /// The position of the tag `FEN`.
    fen: Option<Position<N>>,
    /// The value of the tag `SetUp`, and where it is.
    setup: Option<(Place, String)>,
    opening: Vec<Remark>,
    moves: Vec<RecordedMove<Move<N>>>,
    /// The start and the position reached, once there is no doubt about them.
    played: Option<(Position<N>, Position<N>)>,
    /// A move, number or variation was there, so that a tag begins a new game.
    in_moves: bool,
    /// Anything but comments.
    begun: bool,
}

impl<N: Notation> Draft<N> {
    fn new() -> Self {
        Self {
            tags: Vec::new(),
            fen: None,
            setup: None,
            opening: Vec::new(),
            moves: Vec::new(),
            played: None,
            in_moves: false,
            begun: false,
        }
    }

    fn remark(&mut self, remark: Remark) {
        match self.moves.last_mut() {
            Some(last) => last.remarks.push(remark),
            None => self.opening.push(remark),
        }
    }
}

/// What is read, and what is wrong.
type Record<N> = RecordOf<<N as Notation>::Game>;
type Wrong<N> = GameTextError<FenError<N>>;

impl<N: Notation> Iterator for GameTextReader<'_, N> {
    type Item = Result<Record<N>, Wrong<N>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        self.number += 1;
        let read = if self.length > LONGEST_GAME_TEXT {
            Err(self.error(self.cursor.place, GameTextErrorKind::TooLong { length: self.length }))
        } else {
            self.read()
        };
        self.failed = read.is_err();
        read.transpose()
    }
}

impl<'a, N: Notation> GameTextReader<'a, N> {
    pub(crate) fn new(notation: N, text: &'a str) -> Self {
        Self {
            start: notation.game().start(),
            notation,
            cursor: Cursor {
                // A byte order mark is not part of the text.
                rest: text.strip_prefix('\u{feff}').unwrap_or(text),
                place: Place { line: 1, column: 1 },
            },
            number: 0,
            length: text.len(),
            failed: false,
        }
    }

    fn error(&self, place: Place, kind: GameTextErrorKind<FenError<N>>) -> Wrong<N> {
        GameTextError {
            line: place.line,
            column: place.column,
            game: self.number,
            kind: Box::new(kind),
        }
    }

    fn unexpected(&self, place: Place, found: &str) -> Wrong<N> {
        self.error(place, GameTextErrorKind::Unexpected { found: shown(found) })
    }

    /// The next game, if there is one.
    fn read(&mut self) -> Result<Option<Record<N>>, Wrong<N>> {
        let mut draft = Draft::new();
        while let Some(next) = self.cursor.peek() {
            let place = self.cursor.place;
            match next {
                c if c.is_whitespace() => {
                    self.cursor.next();
                    continue;
                }
                '%' if self.cursor.at_escape() => {
                    self.cursor.skip_line();
                    continue;
                }
                '{' => {
                    let text = self.comment()?;
                    draft.remark(Remark::Comment(words(text)));
                    continue;
                }
                ';' => {
                    self.cursor.next();
                    let text = self.cursor.skip_line();
                    draft.remark(Remark::Comment(words(text).replace('}', ")")));
                    continue;
                }
                '[' if draft.in_moves => break,
                '[' => self.tag(&mut draft)?,
                '*' => {
                    self.cursor.next();
                    return self.finish(draft, GameResult::Unknown, place).map(Some);
                }
                '(' => {
                    let remark = self.variation()?;
                    draft.remark(remark);
                    draft.in_moves = true;
                }
                '$' => {
                    self.cursor.next();
                    let digits = self.cursor.run(|c| c.is_ascii_digit());
                    let glyph = digits
                        .parse()
                        .map_err(|_| self.unexpected(place, &format!("${digits}")))?;
                    draft.remark(Remark::Nag(glyph));
                    draft.in_moves = true;
                }
                '!' | '?' => {
                    let marks = self.cursor.run(|c| c == '!' || c == '?');
                    let glyph = glyph(marks).ok_or_else(|| self.unexpected(place, marks))?;
                    draft.remark(Remark::Nag(glyph));
                    draft.in_moves = true;
                }
                '.' => {
                    // `...` for the move of the other side.
                    let dots = self.cursor.run(|c| c == '.');
                    if dots.len() == 1 && !N::LOOSE_NUMBERS {
                        return Err(self.unexpected(place, dots));
                    }
                    draft.in_moves = true;
                }
                c if c.is_ascii_alphanumeric() => {
                    let word = self.cursor.run(|c| !ends_word(c));
                    if let Some(result) = GameResult::ALL.into_iter().find(|result| result.text() == word) {
                        return self.finish(draft, result, place).map(Some);
                    }
                    draft.in_moves = true;
                    // Without a dot, zeros are a move that passes, not a number.
                    let told = self.cursor.peek() == Some('.') || N::LOOSE_NUMBERS && !word.starts_with('0');
                    if told && word.bytes().all(|byte| byte.is_ascii_digit()) {
                        self.cursor.run(|c| c == '.');
                    } else {
                        self.play(&mut draft, word, place)?;
                    }
                }
                other if ends_word(other) => return Err(self.unexpected(place, other.encode_utf8(&mut [0; 4]))),
                _ => {
                    let run = self.cursor.run(|c| !ends_word(c));
                    return Err(self.unexpected(place, run));
                }
            }
            draft.begun = true;
        }
        // Comments alone are no game.
        if !draft.begun {
            return Ok(None);
        }
        self.finish(draft, GameResult::Unknown, self.cursor.place).map(Some)
    }

    /// The game whose result, or end, is at `place`.
    fn finish(&self, mut draft: Draft<N>, result: GameResult, place: Place) -> Result<Record<N>, Wrong<N>> {
        let (start, _) = self.begin(&mut draft, place)?;
        Ok(GameRecord {
            tags: draft.tags,
            start,
            opening: draft.opening,
            moves: draft.moves,
            result,
        })
    }

    /// The start of the game and the position reached: before the first move,
    /// that which the tags tell.
    fn begin(&self, draft: &mut Draft<N>, place: Place) -> Result<(Position<N>, Position<N>), Wrong<N>> {
        if let Some(played) = draft.played {
            return Ok(played);
        }
        if let Some((place, value)) = &draft.setup {
            let contradicts = match value.as_str() {
                SET_UP => draft.fen.is_none(),
                // There are files that give the usual start.
                NOT_SET_UP => draft.fen.is_some() && draft.fen != self.start,
                _ => false,
            };
            if contradicts {
                let value = value.clone();
                return Err(self.error(*place, GameTextErrorKind::SetUp { value }));
            }
        }
        let start = draft.fen.or(self.start);
        let start = start.ok_or_else(|| self.error(place, GameTextErrorKind::NoStart))?;
        draft.played = Some((start, start));
        Ok((start, start))
    }

    /// Reads a comment in braces.
    fn comment(&mut self) -> Result<&'a str, Wrong<N>> {
        let place = self.cursor.place;
        self.cursor.next();
        let text = self.cursor.run(|c| c != '}');
        match self.cursor.next() {
            Some(_) => Ok(text),
            None => Err(self.error(
                place,
                GameTextErrorKind::Open {
                    what: "comment",
                    close: '}',
                },
            )),
        }
    }

    /// Reads a variation with those within it, or a glyph such as `(!)`.
    fn variation(&mut self) -> Result<Remark, Wrong<N>> {
        let opened = self.cursor.place;
        let mut depth = 0;
        let mut text = String::new();
        let word = |text: &mut String, word: &str| {
            if !text.is_empty() && !text.ends_with('(') && word != ")" {
                text.push(' ');
            }
            text.push_str(word);
        };
        loop {
            let place = self.cursor.place;
            let Some(next) = self.cursor.peek() else {
                return Err(self.error(
                    opened,
                    GameTextErrorKind::Open {
                        what: "variation",
                        close: ')',
                    },
                ));
            };
            match next {
                c if c.is_whitespace() => {
                    self.cursor.next();
                }
                '%' if self.cursor.at_escape() => {
                    self.cursor.skip_line();
                }
                '(' => {
                    self.cursor.next();
                    depth += 1;
                    if depth > DEEPEST {
                        return Err(self.error(place, GameTextErrorKind::TooDeep));
                    }
                    if depth > 1 {
                        word(&mut text, "(");
                    }
                }
                ')' => {
                    self.cursor.next();
                    depth -= 1;
                    if depth == 0 {
                        return Ok(glyph(&text).map_or(Remark::Variation(text), Remark::Nag));
                    }
                    word(&mut text, ")");
                }
                '{' => {
                    let comment = self.comment()?;
                    word(&mut text, &format!("{{{}}}", words(comment)));
                }
                ';' => {
                    self.cursor.next();
                    let comment = words(self.cursor.skip_line()).replace('}', ")");
                    word(&mut text, &format!("{{{comment}}}"));
                }
                // What would read differently on another line, or not at all.
                '}' | '[' | ']' | '%' | '"' => {
                    return Err(self.unexpected(place, next.encode_utf8(&mut [0; 4])));
                }
                _ => {
                    let run = self.cursor.run(|c| !c.is_whitespace() && !"(){};[]\"".contains(c));
                    word(&mut text, run);
                }
            }
        }
    }

    /// Reads `[Name "value"]`.
    fn tag(&mut self, draft: &mut Draft<N>) -> Result<(), Wrong<N>> {
        let opened = self.cursor.place;
        self.cursor.next();
        self.blanks();
        let place = self.cursor.place;
        let name = self.cursor.run(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(self.bad_tag(place, "a name of letters, digits and `_`"));
        }
        self.blanks();
        let place = self.cursor.place;
        if self.cursor.peek() != Some('"') {
            return Err(self.bad_tag(place, "a value in double quotes"));
        }
        self.cursor.next();
        let mut value = String::new();
        loop {
            let place = self.cursor.place;
            match self.cursor.peek() {
                Some('"') => break,
                Some('\\') => {
                    self.cursor.next();
                    // Elsewhere a backslash stands for itself.
                    value.push(match self.cursor.peek() {
                        Some(quoted @ ('"' | '\\')) => {
                            self.cursor.next();
                            quoted
                        }
                        _ => '\\',
                    });
                }
                Some(c) if c != '\n' && c != '\r' => {
                    self.cursor.next();
                    value.push(if c.is_control() { ' ' } else { c });
                }
                _ => return Err(self.bad_tag(place, "`\"` at the end of the value")),
            }
        }
        self.cursor.next();
        self.blanks();
        if self.cursor.peek() != Some(']') {
            return Err(self.bad_tag(self.cursor.place, "`]`"));
        }
        self.cursor.next();
        if draft.tags.len() == MOST_TAGS {
            return Err(self.error(opened, GameTextErrorKind::TooManyTags));
        }
        if name.eq_ignore_ascii_case(FEN_TAG) {
            if draft.fen.is_some() {
                return Err(self.error(opened, GameTextErrorKind::SecondStart));
            }
            let start = self.notation.game().parse_fen(&value);
            draft.fen = Some(start.map_err(|error| self.error(place, GameTextErrorKind::Start(error)))?);
        } else if N::SETUP_TAG.is_some_and(|tag| name.eq_ignore_ascii_case(tag)) {
            draft.setup = Some((place, value.clone()));
        }
        draft.tags.push((name.to_owned(), value));
        Ok(())
    }

    fn blanks(&mut self) {
        self.cursor.run(|c| c == ' ' || c == '\t');
    }

    fn bad_tag(&self, place: Place, expected: &'static str) -> Wrong<N> {
        let found = match self.cursor.peek() {
            None => "the end of the text".to_owned(),
            Some('\n' | '\r') => "the end of the line".to_owned(),
            Some(other) => format!("{other:?}"),
        };
        self.error(place, GameTextErrorKind::Tag { found, expected })
    }

    /// Plays the move that a word means.
    fn play(&mut self, draft: &mut Draft<N>, word: &str, place: Place) -> Result<(), Wrong<N>> {
        if word.len() > LONGEST_WORD {
            return Err(self.unexpected(place, word));
        }
        let (start, at) = self.begin(draft, place)?;
        let legal = self.notation.game().legal_moves(&at);
        let fitting = self
            .notation
            .fitting(word, &at, &legal)
            .map_err(|kind| self.error(place, kind))?
            .ok_or_else(|| self.unexpected(place, word))?;
        if draft.moves.len() == MOST_MOVES {
            return Err(self.error(place, GameTextErrorKind::TooManyMoves));
        }
        let [played] = fitting[..] else {
            return Err(self.error(place, self.not_one(word, &at, &legal, &fitting)));
        };
        draft.played = Some((start, self.notation.game().after(&at, &played)));
        draft.moves.push(RecordedMove {
            played,
            remarks: Vec::new(),
        });
        Ok(())
    }

    /// Why a word that fits none or several of the legal moves is wrong.
    fn not_one(
        &self,
        word: &str,
        at: &Position<N>,
        legal: &[Move<N>],
        fitting: &[Move<N>],
    ) -> GameTextErrorKind<FenError<N>> {
        let fen = self.notation.game().fen(at);
        let text = word.to_owned();
        let texts = |moves: &[Move<N>]| {
            let texts = moves.iter().map(|m| self.notation.move_text(at, m, legal));
            let shown = texts.take(SHOWN_MOVES).collect::<Vec<_>>().join(", ");
            let more = moves.len().saturating_sub(SHOWN_MOVES);
            if more > 0 {
                format!("{shown} and {more} more")
            } else {
                shown
            }
        };
        if !fitting.is_empty() {
            return GameTextErrorKind::Ambiguous {
                text,
                fen,
                fitting: texts(fitting),
                missing: N::TELLS_APART,
            };
        }
        let instead = match legal {
            [] => "the game is over there".to_owned(),
            [only] => format!("expected {}", texts(&[*only])),
            _ => format!("expected one of {}", texts(legal)),
        };
        GameTextErrorKind::Illegal { text, fen, instead }
    }
}

/// The glyph of a mark such as `!?`.
fn glyph(marks: &str) -> Option<u8> {
    ["!", "?", "!!", "??", "!?", "?!"]
        .iter()
        .zip(1..)
        .find_map(|(mark, glyph)| (*mark == marks).then_some(glyph))
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "(){}[];$!?.*\"".contains(c)
}

/// The words of a text with single spaces between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown(text: &str) -> String {
    format!("{:?}", shortened(text))
}
