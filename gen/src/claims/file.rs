//! Reading claim files. `docs/claims.md` describes them.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::Path;

use petrov_games::{
    AnyGame, Game, Games, Material, SQUARE_SETS, named_squares, near, square_by_name, with_game, with_rulebook,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::{Adjacent, Asked, Claim, Counts, Limit, Materials, Party, PieceOn, Said};
use crate::plan::{What, materials};

/// The claim files that are part of the program.
const BUILT_IN: [(&str, &str); 2] = [
    ("draughts.toml", include_str!("../../claims/draughts.toml")),
    ("chess.toml", include_str!("../../claims/chess.toml")),
];

/// Largest claim file read, in bytes.
const LARGEST_FILE: u64 = 1 << 20;
/// Most pieces of a claim; as for `gen`.
const MOST_PIECES: u8 = 12;

/// What is wrong with a claim file: one line that names the file, the place,
/// the key and what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimError {
    /// The file.
    pub origin: String,
    /// Line and column, both from 1; `None` if the file as a whole is meant.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "claim file {}: ", self.origin)?;
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for ClaimError {}

/// Claims in the order of their files.
#[derive(Clone, Default, Debug)]
pub struct Claims {
    claims: Vec<Claim>,
}

impl Claims {
    /// No claim.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The claims that are part of the program.
    #[must_use]
    pub fn built_in(games: &Games) -> Self {
        let mut all = Self::none();
        for (name, text) in BUILT_IN {
            if let Err(error) = all.add_text(text, name, games) {
                // The texts are constants that the tests read.
                unreachable!("{error}");
            }
        }
        all
    }

    /// All claims.
    pub fn iter(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter()
    }

    /// Adds the claims of a file.
    ///
    /// # Errors
    /// If it cannot be read or is no claim file, or names what is not known.
    pub fn add_file(&mut self, path: &Path, games: &Games) -> Result<(), ClaimError> {
        let origin = path.display().to_string();
        let broken = |what: String| ClaimError {
            origin: origin.clone(),
            place: None,
            what,
        };
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(LARGEST_FILE + 1).read_to_string(&mut text))
            .map_err(|error| broken(format!("cannot be read: {error}")))?;
        if text.len() as u64 > LARGEST_FILE {
            return Err(broken(format!("is too large; expected at most {LARGEST_FILE} bytes")));
        }
        self.add_text(&text, &origin, games)
    }

    /// Adds the claims of the text of a file; `origin` names it in errors.
    ///
    /// # Errors
    /// If it is no claim file, or names what is not known.
    pub fn add_text(&mut self, text: &str, origin: &str, games: &Games) -> Result<(), ClaimError> {
        let reader = Reader { text, origin, games };
        let claims = reader.claims()?;
        // Pictures are named after claims, and some file systems take upper and
        // lower case for the same.
        let mut ids: HashMap<String, String> = self
            .iter()
            .map(|claim| (claim.id.to_ascii_lowercase(), claim.id.clone()))
            .collect();
        for (claim, span) in claims {
            if let Some(known) = ids.insert(claim.id.to_ascii_lowercase(), claim.id.clone()) {
                let expected = if known == claim.id {
                    "another name"
                } else {
                    "a name that differs in more than case"
                };
                let what = format!("key `id`: there is a claim `{known}` before; expected {expected}");
                return Err(reader.error(&span, what));
            }
            self.claims.push(claim);
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    claim: Vec<Keyed<ClaimText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimText {
    id: Spanned<String>,
    title: Option<Spanned<String>>,
    games: Spanned<Vec<Spanned<String>>>,
    statement: Spanned<String>,
    rule: Option<Spanned<String>>,
    source: Option<Spanned<String>>,
    materials: Option<Spanned<Vec<Spanned<String>>>>,
    pieces: Option<Spanned<Keyed<RangeText>>>,
    each_side: Option<Spanned<String>>,
    #[serde(default)]
    positions: Keyed<AskedText>,
    says: Spanned<SaidText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeText {
    from: u8,
    to: u8,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct AskedText {
    to_move: Option<Spanned<TurnWord>>,
    quiet: Option<bool>,
    won: Option<bool>,
    mated: Option<bool>,
    on: Vec<Keyed<PieceOnText>>,
    off: Vec<Keyed<PieceOnText>>,
    adjacent: Option<Keyed<AdjacentText>>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum TurnWord {
    Strong,
    Weak,
    White,
    Black,
}

impl From<TurnWord> for Party {
    fn from(word: TurnWord) -> Self {
        match word {
            TurnWord::Strong => Self::Strong,
            TurnWord::Weak => Self::Weak,
            TurnWord::White => Self::White,
            TurnWord::Black => Self::Black,
        }
    }
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum PartyWord {
    Strong,
    Weak,
    White,
    Black,
    Either,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PieceOnText {
    side: Spanned<PartyWord>,
    piece: Spanned<String>,
    squares: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdjacentText {
    side: Spanned<PartyWord>,
    pieces: Spanned<Vec<Spanned<String>>>,
}

enum SaidText {
    Value(ValueWord),
    DoesNotLose(Keyed<SquaresText>),
    Dtw(Keyed<DtwText>),
    Dtz(Keyed<LimitText>),
    Same(Vec<SameWord>),
    LongestWin(LongestWord),
}

impl SaidText {
    const KEYS: [&str; 6] = ["value", "does_not_lose", "dtw", "dtz", "same", "longest_win"];
}

impl<'de> Deserialize<'de> for SaidText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SaidVisitor)
    }
}

/// Reads the one key of `says`, and says where another one belongs.
struct SaidVisitor;

impl<'de> Visitor<'de> for SaidVisitor {
    type Value = SaidText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table with one of the keys {}", SaidText::KEYS.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SaidText, A::Error> {
        let mut said = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "counts" {
                let place = "`counts` belongs into the braces of `dtw`: \
                             dtw = { own_moves = 15, counts = \"to-the-end\" }";
                return Err(A::Error::custom(place));
            }
            if said.is_some() {
                let keys = SaidText::KEYS.join(", ");
                return Err(A::Error::custom(format_args!(
                    "found `{key}` besides, expected only one of {keys}"
                )));
            }
            said = Some(match key.as_str() {
                "value" => SaidText::Value(map.next_value()?),
                "does_not_lose" => SaidText::DoesNotLose(map.next_value()?),
                "dtw" => SaidText::Dtw(map.next_value()?),
                "dtz" => SaidText::Dtz(map.next_value()?),
                "same" => SaidText::Same(map.next_value()?),
                "longest_win" => SaidText::LongestWin(map.next_value()?),
                _ => return Err(A::Error::unknown_field(&key, &SaidText::KEYS)),
            });
        }
        said.ok_or_else(|| A::Error::invalid_length(0, &self))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ValueWord {
    Won,
    Drawn,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SquaresText {
    piece: Spanned<String>,
    squares: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DtwText {
    own_moves: Option<u16>,
    plies: Option<u16>,
    counts: Option<CountsWord>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CountsWord {
    UntilMaterialChanges,
    WhileAsked,
    ToTheEnd,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitText {
    own_moves: Option<u16>,
    plies: Option<u16>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum SameWord {
    Value,
    Dtw,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum LongestWord {
    Shorter,
}

/// What is read from a table with keys alone: serde would also take a list of
/// the values in the order of the fields, which nobody means.
#[derive(Default)]
struct Keyed<T>(T);

impl<T> Deref for Keyed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Keyed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeyedVisitor(PhantomData))
    }
}

struct KeyedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for KeyedVisitor<T> {
    type Value = Keyed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of keys and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Keyed)
    }
}

/// A text with what its words are checked against.
struct Reader<'a> {
    text: &'a str,
    origin: &'a str,
    games: &'a Games,
}

impl Reader<'_> {
    fn claims(&self) -> Result<Vec<(Claim, Range<usize>)>, ClaimError> {
        let file: FileText = toml::from_str(self.text).map_err(|error| self.not_read(&error))?;
        file.claim
            .iter()
            .map(|claim| Ok((self.claim(claim)?, claim.id.span())))
            .collect()
    }

    fn error(&self, span: &Range<usize>, what: String) -> ClaimError {
        ClaimError {
            origin: self.origin.to_owned(),
            place: Some(self.place(span.start)),
            what,
        }
    }

    fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    }

    /// What the TOML reader says, with the key where it does not name it.
    fn not_read(&self, error: &toml::de::Error) -> ClaimError {
        let mut what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        let mut place = None;
        if let Some(span) = error.span() {
            place = Some(self.place(span.start));
            let line = self.text.get(..span.start).and_then(|before| before.lines().last());
            let key = line.and_then(|line| line.rsplit_once('=')).map(|(key, _)| {
                key.trim_end()
                    .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .next()
                    .unwrap_or("")
            });
            if let Some(key) = key.filter(|key| !key.is_empty() && !what.contains("field `")) {
                what = format!("key `{key}`: {what}");
            }
        }
        ClaimError {
            origin: self.origin.to_owned(),
            place,
            what,
        }
    }

    fn claim(&self, text: &ClaimText) -> Result<Claim, ClaimError> {
        let id = text.id.get_ref();
        if id.is_empty()
            || id.len() > 64
            || !id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            || id.starts_with('.')
        {
            let what = "key `id`: expected a name of up to 64 letters, digits, `-`, `_` and `.`".to_owned();
            return Err(self.error(&text.id.span(), what));
        }
        let mut games = Vec::new();
        for name in text.games.get_ref() {
            let game = self
                .games
                .get(name.get_ref())
                .map_err(|error| self.error(&name.span(), format!("key `games`: {error}")))?;
            if games.iter().any(|known: &&AnyGame| known.name() == game.name()) {
                return Err(self.error(&name.span(), format!("key `games`: `{}` is there twice", game.name())));
            }
            games.push(game);
        }
        let said = self.said(text, &games)?;
        if games.is_empty() {
            return Err(self.error(&text.games.span(), "key `games`: expected at least one game".to_owned()));
        }
        let materials = self.materials(text, &games)?;
        let asked = self.asked(&text.positions, &games)?;
        self.check_parties(text, &materials)?;
        Ok(Claim {
            id: id.clone(),
            title: self.words(text.title.as_ref(), "title")?,
            games: games.iter().map(|game| game.name().to_owned()).collect(),
            statement: self.words(Some(&text.statement), "statement")?,
            rule: self.words(text.rule.as_ref(), "rule")?,
            source: self.words(text.source.as_ref(), "source")?,
            materials,
            asked,
            said,
        })
    }

    /// A text of one line, for people: ends of lines become spaces, and there
    /// is nothing that a terminal would act on.
    fn words(&self, text: Option<&Spanned<String>>, key: &str) -> Result<String, ClaimError> {
        let Some(text) = text else {
            return Ok(String::new());
        };
        let is_control = |c: &char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
        if let Some(control) = text.get_ref().chars().find(is_control) {
            let what = format!(
                "key `{key}`: found the control character U+{:04X}, expected plain text",
                u32::from(control)
            );
            return Err(self.error(&text.span(), what));
        }
        Ok(text.get_ref().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn materials(&self, text: &ClaimText, games: &[&AnyGame]) -> Result<Materials, ClaimError> {
        let listed = match (&text.materials, &text.pieces) {
            (Some(listed), None) => listed,
            (None, Some(pieces)) => return self.sized(text, pieces, games),
            (Some(listed), Some(_)) => {
                let what = "key `materials`: expected either this or `pieces`, not both".to_owned();
                return Err(self.error(&listed.span(), what));
            }
            (None, None) => {
                let what = "key `materials` is missing; expected a list such as [\"KKKvK\"], or `pieces`".to_owned();
                return Err(self.error(&text.id.span(), what));
            }
        };
        if let Some(each_side) = &text.each_side {
            let what = "key `each_side`: expected only beside `pieces`".to_owned();
            return Err(self.error(&each_side.span(), what));
        }
        if listed.get_ref().is_empty() {
            return Err(self.error(&listed.span(), "key `materials`: expected at least one".to_owned()));
        }
        let mut all = Vec::new();
        for word in listed.get_ref() {
            let wrong = |what: &dyn fmt::Display| self.error(&word.span(), format!("key `materials`: {what}"));
            let material: Material = word.get_ref().parse().map_err(|error| wrong(&error))?;
            for game in games {
                with_game!(game, game => materials(game, What::Material(material))).map_err(|error| wrong(&error))?;
            }
            if material.pieces() > MOST_PIECES {
                let count = material.pieces();
                return Err(wrong(&format_args!(
                    "{material} has {count} pieces, expected at most {MOST_PIECES}"
                )));
            }
            if all.contains(&material) {
                return Err(wrong(&format_args!("{material} is there twice")));
            }
            all.push(material);
        }
        Ok(Materials::Listed(all))
    }

    fn sized(
        &self,
        text: &ClaimText,
        pieces: &Spanned<Keyed<RangeText>>,
        games: &[&AnyGame],
    ) -> Result<Materials, ClaimError> {
        let RangeText { from, to } = pieces.get_ref().0;
        if !(2..=to).contains(&from) || to > MOST_PIECES {
            let what = format!(
                "key `pieces`: found {from} to {to}, expected numbers from 2 to {MOST_PIECES}, `from` not above `to`"
            );
            return Err(self.error(&pieces.span(), what));
        }
        let mut each_side = Vec::new();
        if let Some(letters) = &text.each_side {
            for letter in letters.get_ref().chars() {
                each_side.push(self.letter(&letter.to_string(), &letters.span(), "each_side", games)?);
            }
        }
        Ok(Materials::Sized { from, to, each_side })
    }

    /// `strong` and `weak` mean nothing where numbers are equal.
    fn check_parties(&self, text: &ClaimText, materials: &Materials) -> Result<(), ClaimError> {
        let asked = &text.positions;
        let sides = asked.on.iter().chain(&asked.off).map(|on| &on.side);
        let sides = sides.chain(asked.adjacent.iter().map(|adjacent| &adjacent.side));
        let sides = sides.map(|side| (party(*side.get_ref()), side.span(), "`white`, `black` or `either`"));
        let turn = asked.to_move.iter();
        let turn = turn.map(|turn| ((*turn.get_ref()).into(), turn.span(), "`white` or `black`"));
        for (_, span, expected) in turn
            .chain(sides)
            .filter(|(side, ..)| matches!(side, Party::Strong | Party::Weak))
        {
            let even = match materials {
                Materials::Listed(all) => all
                    .iter()
                    .find(|material| material.white().pieces() == material.black().pieces())
                    .map(Material::to_string),
                Materials::Sized { .. } => Some("some material of so many pieces".to_owned()),
            };
            if let Some(material) = even {
                let what = format!(
                    "`strong` and `weak` need a side with more pieces, but in {material} numbers are equal; expected {expected}"
                );
                return Err(self.error(&span, what));
            }
        }
        Ok(())
    }

    fn asked(&self, text: &AskedText, games: &[&AnyGame]) -> Result<Asked, ClaimError> {
        let on = |all: &[Keyed<PieceOnText>]| -> Result<Vec<PieceOn>, ClaimError> {
            let one = |on: &Keyed<PieceOnText>| {
                Ok(PieceOn {
                    side: party(*on.side.get_ref()),
                    piece: self.letter(on.piece.get_ref(), &on.piece.span(), "piece", games)?,
                    squares: self.squares(&on.squares, games)?,
                })
            };
            all.iter().map(one).collect()
        };
        let adjacent = |text: &Keyed<AdjacentText>| -> Result<Adjacent, ClaimError> {
            let letter = |piece: &Spanned<String>| self.letter(piece.get_ref(), &piece.span(), "pieces", games);
            let [one, other] = text.pieces.get_ref().as_slice() else {
                let what = format!(
                    "key `pieces`: found {} pieces, expected two, such as [\"K\", \"P\"]",
                    text.pieces.get_ref().len()
                );
                return Err(self.error(&text.pieces.span(), what));
            };
            Ok(Adjacent {
                side: party(*text.side.get_ref()),
                pieces: [letter(one)?, letter(other)?],
            })
        };
        Ok(Asked {
            to_move: text.to_move.as_ref().map(|word| (*word.get_ref()).into()),
            quiet: text.quiet,
            won: text.won,
            mated: text.mated,
            on: on(&text.on)?,
            off: on(&text.off)?,
            adjacent: text.adjacent.as_ref().map(adjacent).transpose()?,
        })
    }

    fn said(&self, text: &ClaimText, games: &[&AnyGame]) -> Result<Said, ClaimError> {
        let span = text.says.span();
        let limit = |key: &str, own_moves: Option<u16>, plies: Option<u16>| match (own_moves, plies) {
            (Some(moves), None) => Ok(Limit::OwnMoves(moves)),
            (None, Some(plies)) => Ok(Limit::Plies(plies)),
            _ => {
                let what = format!("key `{key}`: expected either `own_moves` or `plies`, one of them");
                Err(self.error(&span, what))
            }
        };
        let said = match text.says.get_ref() {
            SaidText::Value(ValueWord::Won) => Said::Won,
            SaidText::Value(ValueWord::Drawn) => Said::Drawn,
            SaidText::DoesNotLose(which) => Said::DoesNotLose {
                piece: self.letter(which.piece.get_ref(), &which.piece.span(), "piece", games)?,
                squares: self.squares(&which.squares, games)?,
            },
            SaidText::Dtw(dtw) => Said::Dtw {
                limit: limit("dtw", dtw.own_moves, dtw.plies)?,
                counts: dtw.counts.as_ref().map(|word| match word {
                    CountsWord::UntilMaterialChanges => Counts::UntilMaterialChanges,
                    CountsWord::WhileAsked => Counts::WhileAsked,
                    CountsWord::ToTheEnd => Counts::ToTheEnd,
                }),
            },
            SaidText::Dtz(dtz) => Said::Dtz {
                limit: limit("dtz", dtz.own_moves, dtz.plies)?,
            },
            SaidText::Same(words) if words.contains(&SameWord::Value) || words.contains(&SameWord::Dtw) => Said::Same {
                values_only: !words.contains(&SameWord::Dtw),
            },
            SaidText::Same(_) => {
                let what = "key `same`: expected [\"value\"], [\"dtw\"] or both".to_owned();
                return Err(self.error(&span, what));
            }
            SaidText::LongestWin(LongestWord::Shorter) => Said::ShorterLongestWin,
        };
        if said.compares() {
            let comparable = match games {
                [AnyGame::Draughts(one), AnyGame::Draughts(other)] => same_board(one, other),
                [AnyGame::Chess(one), AnyGame::Chess(other)] => same_board(one, other),
                _ => false,
            };
            if !comparable {
                let what = "key `games`: a comparison needs two games of one family on boards of one size".to_owned();
                return Err(self.error(&text.games.span(), what));
            }
        }
        Ok(said)
    }

    /// The letter of a piece, which every game must have.
    fn letter(&self, word: &str, span: &Range<usize>, key: &str, games: &[&AnyGame]) -> Result<u8, ClaimError> {
        for game in games {
            let letters: Vec<String> = with_game!(game, game => with_rulebook!(game, rulebook => {
                petrov_games::Rulebook::kinds(&**rulebook).iter().map(|(_, letter)| char::from(*letter).to_string()).collect()
            }));
            if !letters.iter().any(|letter| letter == word) {
                let what = format!(
                    "key `{key}`: {} has no piece `{word}`; expected one of {}",
                    game.name(),
                    letters.join(", ")
                );
                return Err(self.error(span, what));
            }
        }
        Ok(word.bytes().next().unwrap_or(0))
    }

    fn squares(&self, words: &[Spanned<String>], games: &[&AnyGame]) -> Result<Vec<String>, ClaimError> {
        for word in words {
            for game in games {
                with_game!(game, game => squares_of(game, word.get_ref()))
                    .map_err(|what| self.error(&word.span(), format!("key `squares`: {what}")))?;
            }
        }
        Ok(words.iter().map(|word| word.get_ref().clone()).collect())
    }
}

/// Whether placements of one game mean the same in another.
fn same_board<G: Game>(one: &G, other: &G) -> bool {
    let squares = |game: &G| {
        let (files, ranks) = game.size();
        with_rulebook!(game, rulebook => {
            use petrov_games::{Bits, Rulebook};
            (files, ranks, rulebook.squares().widen())
        })
    };
    squares(one) == squares(other)
}

/// The squares of a name: of one square, or of a set that the board has.
pub(super) fn squares_of<G: Game>(game: &G, name: &str) -> Result<Vec<u8>, String> {
    if let Some(square) = square_by_name(game, name) {
        return Ok(vec![square]);
    }
    match named_squares(game, name) {
        Some(squares) if squares.is_empty() => Err(format!("the board of {} has no {name}", game.name())),
        Some(squares) => Ok(squares),
        None => {
            let has = |set: &&str| named_squares(game, set).is_some_and(|squares| !squares.is_empty());
            let own: Vec<&str> = SQUARE_SETS.into_iter().filter(has).collect();
            let sets = near(name, own.iter().copied());
            let sets = if sets.is_empty() { own } else { sets };
            Err(format!(
                "{} has no square `{}`; expected a square's name, or one of {}",
                game.name(),
                name.chars().take(40).collect::<String>(),
                sets.join(", ")
            ))
        }
    }
}

fn party(word: PartyWord) -> Party {
    match word {
        PartyWord::Strong => Party::Strong,
        PartyWord::Weak => Party::Weak,
        PartyWord::White => Party::White,
        PartyWord::Black => Party::Black,
        PartyWord::Either => Party::Either,
    }
}
