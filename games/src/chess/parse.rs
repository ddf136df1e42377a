//! Rule files of the chess family: the words of each axis, which axes are
//! void for which values, and the text a fingerprint is taken of.

use std::fmt::Write as _;

use super::board::Kind;
use super::fen;
use super::generate::Generator;
use super::rays;
use super::rules::{Goal, PairKnight, PairLine, Pawn, Piece, PieceMoves, Promotion, Rules, Stalemate};
use crate::fingerprint::Fingerprint;
use crate::rule_file::{self, Axes, VOID, toml_string, write_axis};
use crate::rule_text::{Entry, RuleError, RuleText, Words, size_text, word};

const CASTLING: &Words<bool> = &[(false, "none"), (true, "orthodox")];
const PAWN: &Words<Pawn> = &[(Pawn::Orthodox, "orthodox"), (Pawn::Berolina, "berolina")];
const PAWN_GUARD: &Words<bool> = &[(false, "none"), (true, "aura")];
const DOUBLE_STEP: &Words<bool> = &[(false, "none"), (true, "start")];
const STALEMATE: &Words<Stalemate> = &[
    (Stalemate::Draw, "draw"),
    (Stalemate::Loses, "loses"),
    (Stalemate::Wins, "wins"),
    (Stalemate::FewerWins, "fewer-wins"),
];
const GOAL: &Words<Goal> = &[(Goal::Mate, "mate"), (Goal::LoseAll, "lose-all")];
const BARE_KING: &Words<bool> = &[(false, "none"), (true, "loses")];
const RELAY: &Words<bool> = &[(false, "none"), (true, "knight")];
const PAIR_BISHOP: &Words<bool> = &[(false, "none"), (true, "hop")];
const PAIR_ROOK: &Words<bool> = &[(false, "none"), (true, "slide")];
const PAIR_KNIGHT: &Words<PairKnight> = &[
    (PairKnight::None, "none"),
    (PairKnight::Add, "add"),
    (PairKnight::Instead, "instead"),
];
const PAIR_LINE: &Words<PairLine> = &[(PairLine::Path, "path"), (PairLine::Whole, "whole")];
const PAIR_PARTNER: &Words<bool> = &[(true, "passes"), (false, "blocks")];
/// The first two spellings are the catalogue's, the others the draughts
/// family's.
const TRUE_FALSE: &Words<bool> = &[(true, "true"), (false, "false"), (true, "yes"), (false, "no")];

/// Every axis, in the order in which they are written.
const AXES: [&str; 25] = [
    "board",
    "pieces",
    "start",
    "castling",
    "pawn_rank",
    "pawn",
    "pawn_backward_capture",
    "pawn_first_capture",
    "pawn_guard",
    "double_step",
    "en_passant",
    "promotion_rank",
    "promote_to",
    "stalemate",
    "goal",
    "capture_compulsory",
    "bare_king",
    "fifty_moves",
    "relay",
    "pair_bishop",
    "pair_rook",
    "pair_knight",
    "pair_line",
    "pair_partner",
    "pair_capture",
];

/// Keys of the table of a piece.
const PIECE_KEYS: [&str; 4] = ["leaps", "slides", "leaps_exact", "slides_exact"];

/// Boards are at most this long and wide.
const SIDE: std::ops::RangeInclusive<u8> = 3..=8;

/// A rule file of the chess family. Axes left out have chess's value where the
/// board and the other axes allow it.
pub type RuleFile = rule_file::RuleFile<Rules>;

impl Axes for Rules {
    const FAMILY: &'static str = "chess";
    const AXES: &'static [&'static str] = &AXES;
    const NOT_IN_TABLES: &'static [&'static str] = &["start", "castling"];

    fn read(file: &RuleText<'_>) -> Result<Self, RuleError> {
        parse_rules(file)
    }

    fn values(&self) -> Vec<(&'static str, String)> {
        self.axes()
    }

    fn normal(&self) -> Self {
        self.normalised()
    }

    fn write(&self, out: &mut String) {
        for (axis, value) in self.axes() {
            // Writing to a string cannot fail.
            let _ = match (axis, value.as_str()) {
                // Left out it could mean the standard position.
                ("start", VOID) => writeln!(out, "{axis} = {}", toml_string(VOID)),
                // The tables of pieces come last.
                ("pieces", _) => Ok(()),
                ("promote_to", _) => writeln!(out, "{axis} = {}", promotion_toml(&self.promote_to)),
                (_, value) => {
                    write_axis(out, axis, value);
                    Ok(())
                }
            };
        }
        for piece in &self.pieces {
            let _ = write!(out, "\n[pieces.{}]\n", piece.letter);
            for (key, steps) in piece.moves.lists() {
                if !steps.is_empty() {
                    let _ = writeln!(out, "{key} = {}", steps_text(steps));
                }
            }
            if piece.moves == PieceMoves::default() {
                // A piece that cannot move has to say so.
                out.push_str("leaps = []\n");
            }
        }
    }
}

impl PieceMoves {
    /// The lists with their keys.
    fn lists(&self) -> [(&'static str, &[(i8, i8)]); 4] {
        [
            ("leaps", &self.leaps),
            ("slides", &self.slides),
            ("leaps_exact", &self.leaps_exact),
            ("slides_exact", &self.slides_exact),
        ]
    }

    /// All leaps as White sees them, each once and in order.
    #[must_use]
    pub fn all_leaps(&self) -> Vec<(i8, i8)> {
        expanded(&self.leaps, &self.leaps_exact)
    }

    /// The directions of all slides as White sees them, each once and in
    /// order.
    #[must_use]
    pub fn all_slides(&self) -> Vec<(i8, i8)> {
        expanded(&self.slides, &self.slides_exact)
    }
}

fn expanded(eightfold: &[(i8, i8)], exact: &[(i8, i8)]) -> Vec<(i8, i8)> {
    let mut steps: Vec<(i8, i8)> = eightfold.iter().flat_map(|&step| rays::all_eight(step)).collect();
    steps.extend_from_slice(exact);
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn steps_text(steps: &[(i8, i8)]) -> String {
    let pairs: Vec<String> = steps.iter().map(|(dx, dy)| format!("[{dx}, {dy}]")).collect();
    format!("[{}]", pairs.join(", "))
}

fn promotion_toml(promotion: &Promotion) -> String {
    match promotion {
        Promotion::Any(letters) => {
            let letters: Vec<String> = letters.iter().map(|letter| format!("\"{letter}\"")).collect();
            format!("[{}]", letters.join(", "))
        }
        Promotion::ByFile(letters) => {
            let files: Vec<String> = ('a'..)
                .zip(letters)
                .map(|(file, letter)| format!("{file} = \"{letter}\""))
                .collect();
            format!("{{ {} }}", files.join(", "))
        }
    }
}

fn promotion_text(promotion: &Promotion) -> String {
    let (letters, join): (Vec<String>, &str) = match promotion {
        Promotion::Any(letters) => (letters.iter().map(char::to_string).collect(), ","),
        Promotion::ByFile(letters) => (
            ('a'..)
                .zip(letters)
                .map(|(file, letter)| format!("{file} {letter}"))
                .collect(),
            ", ",
        ),
    };
    letters.join(join)
}

fn parse_rules(file: &RuleText<'_>) -> Result<Rules, RuleError> {
    let chess = Rules::default();
    let (files, ranks) = parse_board(file)?;
    let standard = (files, ranks) == (8, 8);
    let goal = file.choice_or("goal", GOAL, None, chess.goal)?;
    let pieces = parse_pieces(file, chess.pieces)?;
    let pawn_rank = parse_rank(file, "pawn_rank", 1, ranks, chess.pawn_rank)?;
    let promotion_rank = parse_rank(file, "promotion_rank", 2, ranks, ranks)?;
    let pawn = file.choice_or("pawn", PAWN, None, chess.pawn)?;
    let mut rules = Rules {
        files,
        ranks,
        start: None,
        castling: file.choice_or("castling", CASTLING, None, standard && goal == Goal::Mate)?,
        pawn_rank,
        pawn,
        pawn_backward_capture: truth(file, "pawn_backward_capture", chess.pawn_backward_capture)?,
        pawn_first_capture: truth(file, "pawn_first_capture", chess.pawn_first_capture)?,
        pawn_guard: file.choice_or("pawn_guard", PAWN_GUARD, None, chess.pawn_guard)?,
        double_step: file.choice_or("double_step", DOUBLE_STEP, None, standard)?,
        en_passant: truth(file, "en_passant", chess.en_passant)?,
        promotion_rank,
        promote_to: parse_promotion(file, &pieces, files, goal)?,
        pieces,
        stalemate: file.choice_or("stalemate", STALEMATE, None, chess.stalemate)?,
        goal,
        capture_compulsory: truth(file, "capture_compulsory", chess.capture_compulsory)?,
        bare_king: file.choice_or("bare_king", BARE_KING, None, chess.bare_king)?,
        fifty_moves: truth(file, "fifty_moves", chess.fifty_moves)?,
        relay: file.choice_or("relay", RELAY, None, chess.relay)?,
        pair_bishop: file.choice_or("pair_bishop", PAIR_BISHOP, None, chess.pair_bishop)?,
        pair_rook: file.choice_or("pair_rook", PAIR_ROOK, None, chess.pair_rook)?,
        pair_knight: file.choice_or("pair_knight", PAIR_KNIGHT, None, chess.pair_knight)?,
        pair_line: choice_or_void(file, "pair_line", PAIR_LINE, chess.pair_line)?,
        pair_partner_passes: choice_or_void(file, "pair_partner", PAIR_PARTNER, chess.pair_partner_passes)?,
        pair_capture: match file.optional("pair_capture") {
            Some(entry) if entry.string() == Some(VOID) => chess.pair_capture,
            _ => truth(file, "pair_capture", chess.pair_capture)?,
        },
    };
    if let Some(entry) = file.optional("castling")
        && rules.castling
        && !(standard && goal == Goal::Mate)
    {
        return Err(entry.unexpected("\"none\", as orthodox castling needs an 8x8 board and goal \"mate\""));
    }
    if let Some(entry) = file.optional("bare_king")
        && rules.bare_king
        && goal == Goal::LoseAll
    {
        return Err(entry.unexpected("\"none\", as no king is royal under goal \"lose-all\""));
    }
    rules.reset_void();
    rules.start = parse_start(file, &rules)?;
    Ok(rules)
}

/// An axis that some values of others make void, so that it may be `-`.
fn choice_or_void<T: Copy + PartialEq>(
    file: &RuleText<'_>,
    key: &'static str,
    words: &'static Words<T>,
    default: T,
) -> Result<T, RuleError> {
    match file.optional(key) {
        Some(entry) if entry.string() == Some(VOID) => Ok(default),
        _ => file.choice_or(key, words, None, default),
    }
}

fn truth(file: &RuleText<'_>, key: &'static str, default: bool) -> Result<bool, RuleError> {
    let Some(entry) = file.optional(key) else {
        return Ok(default);
    };
    let named = || TRUE_FALSE.iter().find(|(_, word)| entry.string() == Some(word));
    entry
        .boolean()
        .or_else(|| named().map(|(value, _)| *value))
        .ok_or_else(|| entry.unexpected("true or false"))
}

fn parse_board(file: &RuleText<'_>) -> Result<(u8, u8), RuleError> {
    let Some(entry) = file.optional("board") else {
        return Ok((8, 8));
    };
    entry
        .size()
        .filter(|(files, ranks)| SIDE.contains(files) && SIDE.contains(ranks))
        .ok_or_else(|| entry.unexpected("files x ranks such as \"8x8\", each from 3 to 8"))
}

fn parse_rank(file: &RuleText<'_>, key: &'static str, least: u8, most: u8, default: u8) -> Result<u8, RuleError> {
    let Some(entry) = file.optional(key) else {
        return Ok(default);
    };
    let rank = entry.integer().and_then(|rank| u8::try_from(rank).ok());
    rank.filter(|rank| (least..=most).contains(rank))
        .ok_or_else(|| entry.unexpected(format!("a rank from {least} to {most}")))
}

fn parse_pieces(file: &RuleText<'_>, mut pieces: Vec<Piece>) -> Result<Vec<Piece>, RuleError> {
    let Some(entry) = file.optional("pieces") else {
        return Ok(pieces);
    };
    let expected = "a table for each piece, such as [pieces.x]";
    let predefined = pieces.len();
    for member in entry.members().ok_or_else(|| entry.unexpected(expected))? {
        let mut letters = member.name.chars();
        let letter = letters
            .next()
            .filter(|letter| letter.is_ascii_lowercase() && *letter != 'p' && letters.next().is_none())
            .ok_or_else(|| member.unexpected("one small letter from a to z other than p"))?;
        let lists = member.entry.members().filter(|lists| !lists.is_empty());
        let lists = lists.ok_or_else(|| {
            member
                .entry
                .unexpected(format!("a table with some of {}", PIECE_KEYS.join(", ")))
        })?;
        let mut moves = PieceMoves::default();
        for list in lists {
            let steps = match list.name {
                "leaps" => &mut moves.leaps,
                "slides" => &mut moves.slides,
                "leaps_exact" => &mut moves.leaps_exact,
                "slides_exact" => &mut moves.slides_exact,
                _ => return Err(list.unknown(&PIECE_KEYS)),
            };
            *steps = parse_steps(&list.entry)?;
        }
        match pieces.iter_mut().find(|piece| piece.letter == letter) {
            Some(piece) => piece.moves = moves,
            None => pieces.push(Piece { letter, moves }),
        }
    }
    // The pawn is the sixteenth.
    if pieces.len() >= Kind::COUNT {
        return Err(entry.unexpected("at most 16 letters, k, q, r, b, n and p among them"));
    }
    pieces[predefined..].sort_by_key(|piece| piece.letter);
    Ok(pieces)
}

fn parse_steps(entry: &Entry<'_>) -> Result<Vec<(i8, i8)>, RuleError> {
    const EXPECTED: &str = "a list of [dx, dy], each from -7 to 7 and not both 0";
    let elements = entry.elements().ok_or_else(|| entry.unexpected(EXPECTED))?;
    let step = |element: &Entry<'_>| {
        let numbers = element.elements()?;
        let number = |entry: &Entry<'_>| {
            let number = i8::try_from(entry.integer()?).ok()?;
            (-7..=7).contains(&number).then_some(number)
        };
        let [dx, dy] = numbers.as_slice() else {
            return None;
        };
        let step = (number(dx)?, number(dy)?);
        (step != (0, 0)).then_some(step)
    };
    let mut steps = Vec::new();
    for element in &elements {
        let found = step(element).ok_or_else(|| element.unexpected(EXPECTED))?;
        if !steps.contains(&found) {
            steps.push(found);
        }
    }
    Ok(steps)
}

fn parse_promotion(file: &RuleText<'_>, pieces: &[Piece], files: u8, goal: Goal) -> Result<Promotion, RuleError> {
    let chess = Rules::default().promote_to;
    let Some(entry) = file.optional("promote_to") else {
        return Ok(chess);
    };
    let letters: String = pieces
        .iter()
        .map(|piece| piece.letter)
        .filter(|letter| goal == Goal::LoseAll || *letter != 'k')
        .collect();
    let last = char::from(b'a' + files - 1);
    let expected = format!(
        "different letters out of {letters} such as [\"q\"], or one letter for each file from a to {last} such as {{ a = \"r\", ... }}"
    );
    let wrong = || entry.unexpected(expected.clone());
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|letter| chars.next().is_none() && letters.contains(*letter))
    };
    let by_file = |pairs: Vec<(&str, &str)>| {
        let mut found = vec![None; usize::from(files)];
        for (file, text) in pairs {
            let index = ('a'..=last).position(|name| file.len() == 1 && file.starts_with(name))?;
            if found[index].is_some() {
                return None;
            }
            found[index] = Some(letter(text)?);
        }
        found.into_iter().collect::<Option<Vec<char>>>()
    };
    if let Some(members) = entry.members() {
        let pairs = members.iter().map(|m| Some((m.name, m.entry.string()?)));
        let found = pairs.collect::<Option<Vec<_>>>().and_then(by_file);
        return found.map(Promotion::ByFile).ok_or_else(wrong);
    }
    if let Some(text) = entry.string().filter(|text| text.contains(' ')) {
        let pairs = text.split(',').map(|pair| pair.trim().split_once(' '));
        if let Some(found) = pairs.collect::<Option<Vec<_>>>().and_then(by_file) {
            return Ok(Promotion::ByFile(found));
        }
    }
    let found: Option<Vec<char>> = match (entry.elements(), entry.string()) {
        (Some(elements), _) => elements.iter().map(|element| letter(element.string()?)).collect(),
        (None, Some(text)) if text.contains([',', ' ']) => text
            .split([',', ' '])
            .filter(|part| !part.is_empty())
            .map(letter)
            .collect(),
        (None, Some(text)) => text
            .chars()
            .map(|found| letter(found.encode_utf8(&mut [0; 4])))
            .collect(),
        (None, None) => None,
    };
    let found = found.filter(|found| !found.is_empty()).ok_or_else(wrong)?;
    let mut list = found.clone();
    list.sort_by_key(|letter| pieces.iter().position(|piece| piece.letter == *letter));
    list.dedup();
    if list.len() == found.len() {
        Ok(canonical_list(list))
    } else if found.len() == usize::from(files) {
        // A letter that comes twice makes it one letter for each file.
        Ok(Promotion::ByFile(found))
    } else {
        Err(wrong())
    }
}

/// A list in the order in which promotions are listed: the king last.
fn canonical_list(mut list: Vec<char>) -> Promotion {
    list.sort_by_key(|letter| *letter == 'k');
    Promotion::Any(list)
}

fn parse_start(file: &RuleText<'_>, rules: &Rules) -> Result<Option<String>, RuleError> {
    let generator = Generator::new(rules);
    let Some(entry) = file.optional("start") else {
        // The standard position if these rules have one.
        let rights = if rules.castling { "KQkq" } else { "-" };
        let fen = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w {rights} - 0 1");
        return Ok(fen::parse(rules, &generator, &fen).ok().map(|_| fen));
    };
    let Some(text) = entry.string() else {
        return Err(entry.unexpected("a FEN"));
    };
    if text == VOID {
        return Ok(None);
    }
    match fen::parse(rules, &generator, text) {
        Ok(position) => Ok(Some(fen::text(rules, &generator, &position))),
        Err(error) => Err(entry.unexpected(format!("a FEN of these rules: {error}"))),
    }
}

impl Rules {
    fn has_line_pairs(&self) -> bool {
        self.pair_bishop || self.pair_rook
    }

    fn has_pair_captures(&self) -> bool {
        // Where the whole line must be empty there is nothing to capture.
        self.has_line_pairs() && self.pair_line == PairLine::Path || self.pair_knight != PairKnight::None
    }

    /// The same rules with void axes at chess's value and the moves of pieces
    /// in one spelling, start position and castling set aside: equal for two
    /// rule sets exactly if their tables are the same by construction.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let mut rules = self.clone();
        rules.reset_void();
        rules.start = None;
        rules.castling = false;
        for piece in &mut rules.pieces {
            let fits = |step: &(i8, i8)| step.0.unsigned_abs() < self.files && step.1.unsigned_abs() < self.ranks;
            let keep = |steps: Vec<(i8, i8)>| steps.into_iter().filter(fits).collect();
            piece.moves = PieceMoves {
                leaps_exact: keep(piece.moves.all_leaps()),
                slides_exact: keep(piece.moves.all_slides()),
                ..PieceMoves::default()
            };
        }
        rules.double_step = self.has_double_step();
        rules.en_passant = self.has_en_passant();
        rules
    }

    /// Gives void axes the values they have in chess.
    fn reset_void(&mut self) {
        let chess = Self::default();
        if !self.has_line_pairs() {
            self.pair_line = chess.pair_line;
            self.pair_partner_passes = chess.pair_partner_passes;
        }
        if !self.has_pair_captures() {
            self.pair_capture = chess.pair_capture;
        }
    }

    /// The hash of every axis that can change a table's values.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        rule_file::fingerprint(self)
    }

    /// Every axis and its value in the words of the rule files, in their
    /// order; `-` for a void axis.
    #[must_use]
    pub fn axes(&self) -> Vec<(&'static str, String)> {
        let unless = |void: bool, word: &'static str| if void { VOID } else { word }.to_owned();
        let truth = |value: bool| word(TRUE_FALSE, value).to_owned();
        let pieces: Vec<String> = self
            .pieces
            .iter()
            .map(|piece| {
                let lists: Vec<String> = piece
                    .moves
                    .lists()
                    .iter()
                    .filter(|(_, steps)| !steps.is_empty())
                    .map(|(key, steps)| format!(" {key} {}", steps_text(steps)))
                    .collect();
                format!("{}{}", piece.letter, lists.concat())
            })
            .collect();
        let lines = !self.has_line_pairs();
        vec![
            ("board", size_text(self.files, self.ranks)),
            ("pieces", pieces.join("; ")),
            ("start", self.start.clone().unwrap_or_else(|| VOID.to_owned())),
            ("castling", word(CASTLING, self.castling).to_owned()),
            ("pawn_rank", self.pawn_rank.to_string()),
            ("pawn", word(PAWN, self.pawn).to_owned()),
            ("pawn_backward_capture", truth(self.pawn_backward_capture)),
            ("pawn_first_capture", truth(self.pawn_first_capture)),
            ("pawn_guard", word(PAWN_GUARD, self.pawn_guard).to_owned()),
            ("double_step", word(DOUBLE_STEP, self.double_step).to_owned()),
            ("en_passant", truth(self.en_passant)),
            ("promotion_rank", self.promotion_rank.to_string()),
            ("promote_to", promotion_text(&self.promote_to)),
            ("stalemate", word(STALEMATE, self.stalemate).to_owned()),
            ("goal", word(GOAL, self.goal).to_owned()),
            ("capture_compulsory", truth(self.capture_compulsory)),
            ("bare_king", word(BARE_KING, self.bare_king).to_owned()),
            ("fifty_moves", truth(self.fifty_moves)),
            ("relay", word(RELAY, self.relay).to_owned()),
            ("pair_bishop", word(PAIR_BISHOP, self.pair_bishop).to_owned()),
            ("pair_rook", word(PAIR_ROOK, self.pair_rook).to_owned()),
            ("pair_knight", word(PAIR_KNIGHT, self.pair_knight).to_owned()),
            ("pair_line", unless(lines, word(PAIR_LINE, self.pair_line))),
            (
                "pair_partner",
                unless(lines, word(PAIR_PARTNER, self.pair_partner_passes)),
            ),
            (
                "pair_capture",
                unless(!self.has_pair_captures(), word(TRUE_FALSE, self.pair_capture)),
            ),
        ]
    }
}

#[cfg(test)]
mod tests;
