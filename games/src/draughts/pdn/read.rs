//! Reading PDN.

use super::super::names::SquareNames;
use super::super::rules::{NameStyle, Rules, SquareKind};
use super::*;

/// Longest word that is looked at as a move.
const LONGEST_WORD: usize = 512;
/// Characters of the text and legal moves that messages show.
const SHOWN: usize = 40;
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

/// Reads the games of a PDN text one after the other; see
/// [`Game::read_pdn`]. After an error there are no more.
pub struct PdnReader<'a> {
    game: &'a Game,
    cursor: Cursor<'a>,
    /// The other way to name squares.
    other_names: Option<SquareNames>,
    /// Games begun.
    number: usize,
    length: usize,
    failed: bool,
}

/// A game under way.
struct Draft {
    game: PdnGame,
    at: Position,
    has_start: bool,
    /// A move, number or variation was there, so that a tag begins a new game.
    in_moves: bool,
    /// Anything but comments.
    begun: bool,
}

impl Draft {
    fn remark(&mut self, remark: Remark) {
        match self.game.moves.last_mut() {
            Some(last) => last.remarks.push(remark),
            None => self.game.opening.push(remark),
        }
    }
}

impl Iterator for PdnReader<'_> {
    type Item = Result<PdnGame, PdnError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        self.number += 1;
        let read = if self.length > LONGEST_PDN {
            Err(self.error(self.cursor.place, PdnErrorKind::TooLong { length: self.length }))
        } else {
            self.read()
        };
        self.failed = read.is_err();
        read.transpose()
    }
}

impl<'a> PdnReader<'a> {
    pub(super) fn new(game: &'a Game, text: &'a str) -> Self {
        let rules = game.rules();
        let other_style = match (rules.names, rules.squares) {
            (NameStyle::NumberTop | NameStyle::NumberBottomRight, _) => Some(NameStyle::Algebraic),
            (NameStyle::Algebraic, SquareKind::Dark | SquareKind::Mirror) => Some(NameStyle::NumberTop),
            (NameStyle::Algebraic, SquareKind::All) => None,
        };
        let named = |names| {
            let rules = Rules { names, ..rules.clone() };
            SquareNames::new(&rules, game.board())
        };
        Self {
            game,
            cursor: Cursor {
                // A byte order mark is not part of the text.
                rest: text.strip_prefix('\u{feff}').unwrap_or(text),
                place: Place { line: 1, column: 1 },
            },
            other_names: other_style.map(named),
            number: 0,
            length: text.len(),
            failed: false,
        }
    }

    fn error(&self, place: Place, kind: PdnErrorKind) -> PdnError {
        PdnError {
            line: place.line,
            column: place.column,
            game: self.number,
            kind: Box::new(kind),
        }
    }

    fn unexpected(&self, place: Place, found: &str) -> PdnError {
        self.error(place, PdnErrorKind::Unexpected { found: shown(found) })
    }

    /// The next game, if there is one.
    fn read(&mut self) -> Result<Option<PdnGame>, PdnError> {
        let start = self.game.start();
        let mut draft = Draft {
            game: PdnGame {
                tags: Vec::new(),
                start,
                opening: Vec::new(),
                moves: Vec::new(),
                result: PdnResult::Unknown,
            },
            at: start,
            has_start: false,
            in_moves: false,
            begun: false,
        };
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
                    return Ok(Some(draft.game));
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
                    if dots.len() == 1 {
                        return Err(self.unexpected(place, dots));
                    }
                    draft.in_moves = true;
                }
                c if c.is_ascii_alphanumeric() => {
                    let word = self.cursor.run(|c| !ends_word(c));
                    if let Some(result) = PdnResult::ALL.into_iter().find(|result| result.text() == word) {
                        draft.game.result = result;
                        return Ok(Some(draft.game));
                    }
                    draft.in_moves = true;
                    if word.bytes().all(|byte| byte.is_ascii_digit()) && self.cursor.peek() == Some('.') {
                        self.cursor.run(|c| c == '.');
                    } else {
                        self.play(&mut draft, word, place)?;
                    }
                }
                other => return Err(self.unexpected(place, other.encode_utf8(&mut [0; 4]))),
            }
            draft.begun = true;
        }
        // Comments alone are no game.
        Ok(draft.begun.then_some(draft.game))
    }

    /// Reads a comment in braces.
    fn comment(&mut self) -> Result<&'a str, PdnError> {
        let place = self.cursor.place;
        self.cursor.next();
        let text = self.cursor.run(|c| c != '}');
        match self.cursor.next() {
            Some(_) => Ok(text),
            None => Err(self.error(
                place,
                PdnErrorKind::Open {
                    what: "comment",
                    close: '}',
                },
            )),
        }
    }

    /// Reads a variation with those within it, or a glyph such as `(!)`.
    fn variation(&mut self) -> Result<Remark, PdnError> {
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
                    PdnErrorKind::Open {
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
                        return Err(self.error(place, PdnErrorKind::TooDeep));
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
    fn tag(&mut self, draft: &mut Draft) -> Result<(), PdnError> {
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
        if draft.game.tags.len() == MOST_TAGS {
            return Err(self.error(opened, PdnErrorKind::TooManyTags));
        }
        if name.eq_ignore_ascii_case(FEN_TAG) {
            if std::mem::replace(&mut draft.has_start, true) {
                return Err(self.error(opened, PdnErrorKind::SecondStart));
            }
            let start = self.game.parse_fen(&value);
            draft.game.start = start.map_err(|error| self.error(place, PdnErrorKind::Start(error)))?;
            draft.at = draft.game.start;
        }
        draft.game.tags.push((name.to_owned(), value));
        Ok(())
    }

    fn blanks(&mut self) {
        self.cursor.run(|c| c == ' ' || c == '\t');
    }

    fn bad_tag(&self, place: Place, expected: &'static str) -> PdnError {
        let found = match self.cursor.peek() {
            None => "the end of the text".to_owned(),
            Some('\n' | '\r') => "the end of the line".to_owned(),
            Some(other) => format!("{other:?}"),
        };
        self.error(place, PdnErrorKind::Tag { found, expected })
    }

    /// Plays the move that a word means.
    fn play(&mut self, draft: &mut Draft, word: &str, place: Place) -> Result<(), PdnError> {
        let Some(meant) = self.meant(word, place)? else {
            return Err(self.unexpected(place, word));
        };
        if draft.game.moves.len() == MOST_MOVES {
            return Err(self.error(place, PdnErrorKind::TooManyMoves));
        }
        let legal = self.game.legal_moves(&draft.at);
        let fitting = meant.choose(self.game, &draft.at, &legal);
        let [played] = fitting[..] else {
            let fen = self.game.format_fen(&draft.at);
            let text = word.to_owned();
            let texts = |moves: &[Move]| {
                let texts = moves.iter().map(|m| {
                    self.game
                        .move_text(m, &legal, |capture| self.game.route(&draft.at, capture))
                });
                let shown = texts.take(SHOWN_MOVES).collect::<Vec<_>>().join(", ");
                let more = moves.len().saturating_sub(SHOWN_MOVES);
                if more > 0 {
                    format!("{shown} and {more} more")
                } else {
                    shown
                }
            };
            let kind = if !fitting.is_empty() {
                PdnErrorKind::Ambiguous {
                    text,
                    fen,
                    fitting: texts(&fitting),
                }
            } else if legal.is_empty() {
                let instead = "the game is over there".to_owned();
                PdnErrorKind::Illegal { text, fen, instead }
            } else {
                let instead = format!(
                    "expected {}{}",
                    if legal.len() > 1 { "one of " } else { "" },
                    texts(&legal)
                );
                PdnErrorKind::Illegal { text, fen, instead }
            };
            return Err(self.error(place, kind));
        };
        draft.at = self.game.after(&draft.at, &played);
        draft.game.moves.push(PdnMove {
            played,
            remarks: Vec::new(),
        });
        Ok(())
    }

    /// The squares of a word that has the form of a move.
    fn meant(&self, word: &str, place: Place) -> Result<Option<Meant>, PdnError> {
        if word.len() > LONGEST_WORD {
            return Ok(None);
        }
        let (squares, crowned) = word.strip_suffix("=K").map_or((word, false), |squares| (squares, true));
        let names: Vec<&str> = squares.split(['-', 'x', 'X', ':']).collect();
        let quiet = squares.contains('-');
        if names.len() < 2 || quiet && names.len() > 2 || names.contains(&"") {
            return Ok(None);
        }
        let mut path = Vec::with_capacity(names.len());
        for name in names {
            path.push(self.square(name).ok_or_else(|| {
                let order = self.game.squares_in_order();
                let end =
                    |square: Option<&u8>| square.map_or_else(String::new, |&square| self.game.square_name(square));
                let kind = PdnErrorKind::Square {
                    text: shown_bare(word),
                    found: shown_bare(name),
                    count: order.len(),
                    first: end(order.first()),
                    last: end(order.last()),
                };
                self.error(place, kind)
            })?);
        }
        let from = path.remove(0);
        Ok(Some(Meant {
            from,
            path,
            quiet,
            crowned,
        }))
    }

    fn square(&self, name: &str) -> Option<u8> {
        // Numbers may have leading zeros: `05-10`.
        let name = match name.trim_start_matches('0') {
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => number,
            _ => name,
        };
        self.game
            .square_by_name(name)
            .or_else(|| self.other_names.as_ref()?.square(name))
    }
}

/// What a word says of a move.
struct Meant {
    from: u8,
    /// Squares after the first, the end last.
    path: Vec<u8>,
    quiet: bool,
    crowned: bool,
}

impl Meant {
    /// The legal moves that may be meant: those that fit best.
    fn choose(&self, game: &Game, position: &Position, legal: &[Move]) -> Vec<Move> {
        let ends = legal.iter().filter(|m| {
            let square = self.path.last() == Some(&m.to) && m.from == self.from;
            square && (m.captured == 0) == self.quiet && (m.to_king || !self.crowned)
        });
        let mut fitting: Vec<Move> = ends.copied().collect();
        if !self.quiet && (fitting.len() > 1 || self.path.len() > 1) {
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            for played in fitting {
                let (mut same, mut through) = (false, false);
                game.each_route(position, &played, |route| {
                    same |= route == self.path;
                    through |= self.goes_along(route, played.captured);
                    !same
                });
                if same {
                    whole.push(played);
                } else if through {
                    parts.push(played);
                }
            }
            fitting = if whole.is_empty() { parts } else { whole };
        }
        // Where only the piece's kind differs, a king is marked.
        if !self.crowned && fitting.len() > 1 {
            let men: Vec<Move> = fitting.iter().filter(|m| !m.to_king).copied().collect();
            let same_but_kind = fitting.iter().all(|m| m.captured == fitting[0].captured);
            if same_but_kind && men.len() == 1 {
                return men;
            }
        }
        fitting
    }

    /// Whether the squares in between are landing squares of a route, in its
    /// order, or those of captured pieces.
    fn goes_along(&self, route: &[u8], captured: u128) -> bool {
        let mut route = route.iter();
        let (_, between) = self.path.split_last().unwrap_or((&0, &[]));
        between
            .iter()
            .all(|square| captured >> square & 1 == 1 || route.any(|landing| landing == square))
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

/// A text for a message, without quotes, shortened if it would drown it.
fn shown_bare(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn shown(text: &str) -> String {
    format!("{:?}", shown_bare(text))
}
