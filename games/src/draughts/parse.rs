//! Rule files of the draughts family: the words of each axis, which axes are
//! void for which values, and the text a fingerprint is taken of.

use super::rules::{
    Goal, KingDirections, KingLand, ManCapture, ManMove, NameStyle, Priority, PromoCapture, Removal, Rules, SquareKind,
};
use crate::fingerprint::Fingerprint;
use crate::rule_file::{self, Axes, VOID};
use crate::rule_text::{RuleError, RuleText, Words, YES_NO, size_text, word};

const SQUARES: &Words<SquareKind> = &[
    (SquareKind::Dark, "dark"),
    (SquareKind::Mirror, "mirror"),
    (SquareKind::All, "all"),
];
const NAMES: &Words<NameStyle> = &[
    (NameStyle::Algebraic, "alg"),
    (NameStyle::NumberTop, "num-top"),
    (NameStyle::NumberBottomRight, "num-br"),
];
/// Both spellings are read, the first is written.
const WHITE_FIRST: &Words<bool> = &[(true, "white"), (false, "black"), (true, "W"), (false, "B")];
const MAN_MOVE: &Words<ManMove> = &[
    (ManMove::DiagonalForward, "diag-fwd"),
    (ManMove::StraightForwardSide, "orth-fwd-side"),
    (ManMove::StraightForwardSideDiagonalForward, "orth-fwd-side+diag-fwd"),
];
const MAN_CAPTURE: &Words<ManCapture> = &[
    (ManCapture::DiagonalForward, "diag-fwd"),
    (ManCapture::DiagonalAll, "diag-all"),
    (ManCapture::AllEight, "all-8"),
    (ManCapture::StraightForwardSide, "orth-fwd-side"),
    (ManCapture::StraightAll, "orth-all"),
];
const FLYING: &Words<bool> = &[(false, "short"), (true, "flying")];
const DIRECTIONS: &Words<KingDirections> = &[
    (KingDirections::Diagonal, "diag"),
    (KingDirections::Straight, "orth"),
    (KingDirections::AllEight, "all-8"),
];
const KING_LAND: &Words<KingLand> = &[
    (KingLand::Any, "any"),
    (KingLand::Adjacent, "adjacent"),
    (KingLand::AdjacentIfLastIsKing, "adjacent-if-last-is-king"),
];
const PRIORITY: &Words<Priority> = &[
    (Priority::Free, "free"),
    (Priority::Count, "count"),
    (Priority::CountKings, "count,kings"),
    (Priority::CountKingsWithKing, "count,kings,withking"),
    (Priority::Italian, "italian"),
    (Priority::Frisian, "frisian"),
    (Priority::KingFirst, "king-first"),
];
const REMOVAL: &Words<Removal> = &[(Removal::After, "after"), (Removal::AtOnce, "at-once")];
const U_TURN: &Words<bool> = &[(false, "forbidden"), (true, "allowed")];
const PROMO_CAPTURE: &Words<PromoCapture> = &[
    (PromoCapture::Stop, "stop"),
    (PromoCapture::Pass, "pass"),
    (PromoCapture::Continue, "continue"),
];
const GOAL: &Words<Goal> = &[
    (Goal::Normal, "normal"),
    (Goal::Misere, "misere"),
    (Goal::Breakthrough, "breakthrough"),
    (Goal::Ghana, "ghana"),
];

/// Every axis, in the order in which they are written.
const AXES: [&str; 20] = [
    "size",
    "squares",
    "names",
    "first",
    "rows",
    "man_move",
    "man_leap_own",
    "man_capture",
    "man_takes_king",
    "king_range",
    "king_move",
    "king_capture",
    "king_land",
    "king_must_extend",
    "forced",
    "priority",
    "removal",
    "u_turn",
    "promo_capture",
    "goal",
];

/// Values of void axes after [`Rules::normalised`].
const FIXED_LAND: KingLand = KingLand::Any;
const FIXED_EXTEND: bool = false;
const FIXED_TURN: bool = false;

/// Boards are at most this long and wide, and fit into a `SquareSet`.
const SIDE: std::ops::RangeInclusive<u8> = 4..=12;
const MOST_SQUARES: u16 = 128;

/// A rule file of the draughts family.
pub type RuleFile = rule_file::RuleFile<Rules>;

impl Axes for Rules {
    const FAMILY: &'static str = "draughts";
    const AXES: &'static [&'static str] = &AXES;
    const NOT_IN_TABLES: &'static [&'static str] = &["names", "first", "rows"];

    fn read(file: &RuleText<'_>) -> Result<Self, RuleError> {
        parse_rules(file)
    }

    fn values(&self) -> Vec<(&'static str, String)> {
        self.axes()
    }

    fn normal(&self) -> Self {
        self.normalised()
    }
}

fn parse_rules(file: &RuleText<'_>) -> Result<Rules, RuleError> {
    let squares = file.choice("squares", SQUARES, None)?;
    let (files, ranks) = parse_size(file, squares)?;
    let king_flying = file.choice("king_range", FLYING, None)?;
    let land_void = land_is_void(king_flying);
    let king_land = file.choice("king_land", KING_LAND, land_void.then_some(FIXED_LAND))?;
    let priority = file.choice("priority", PRIORITY, None)?;
    let extend_void = extend_is_void(king_flying, king_land, priority);
    let removal = file.choice("removal", REMOVAL, None)?;
    let turn_void = turn_is_void(removal);
    Ok(Rules {
        files,
        ranks,
        squares,
        names: file.choice("names", NAMES, None)?,
        white_first: file.choice("first", WHITE_FIRST, None)?,
        rows: parse_rows(file, ranks)?,
        man_move: file.choice("man_move", MAN_MOVE, None)?,
        man_leap_own: file.yes_no("man_leap_own", None)?,
        man_capture: file.choice("man_capture", MAN_CAPTURE, None)?,
        man_takes_king: file.yes_no("man_takes_king", None)?,
        king_flying,
        king_move: file.choice("king_move", DIRECTIONS, None)?,
        king_capture: file.choice("king_capture", DIRECTIONS, None)?,
        king_land,
        king_must_extend: file.yes_no("king_must_extend", extend_void.then_some(FIXED_EXTEND))?,
        forced: file.yes_no("forced", None)?,
        priority,
        removal,
        u_turn: file.choice("u_turn", U_TURN, turn_void.then_some(FIXED_TURN))?,
        promo_capture: file.choice("promo_capture", PROMO_CAPTURE, None)?,
        goal: file.choice("goal", GOAL, None)?,
    })
}

fn parse_size(file: &RuleText<'_>, squares: SquareKind) -> Result<(u8, u8), RuleError> {
    let expected = match squares {
        SquareKind::All => "files x ranks such as \"8x8\", each from 4 to 12, at most 128 squares",
        SquareKind::Dark | SquareKind::Mirror => "files x ranks such as \"8x8\", both even and from 4 to 12",
    };
    let entry = file.required("size", expected)?;
    entry
        .size()
        .filter(|(files, ranks)| SIDE.contains(files) && SIDE.contains(ranks))
        .filter(|(files, ranks)| match squares {
            SquareKind::All => u16::from(*files) * u16::from(*ranks) <= MOST_SQUARES,
            SquareKind::Dark | SquareKind::Mirror => files % 2 == 0 && ranks % 2 == 0,
        })
        .ok_or_else(|| entry.unexpected(expected))
}

fn parse_rows(file: &RuleText<'_>, ranks: u8) -> Result<(u8, u8), RuleError> {
    let half = ranks / 2;
    let expected = format!(
        "a number of ranks from 1 to {half}, or ranks such as \"2..3\" from 1 to {half} (the two sides must not overlap)"
    );
    let entry = file.required("rows", &expected)?;
    let rows = match (entry.integer(), entry.string()) {
        (Some(last), _) => u8::try_from(last).ok().map(|last| (1, last)),
        // No signs, which `u8` would read.
        (None, Some(text)) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
            let (first, last) = text.split_once("..").unwrap_or(("1", text));
            first.parse().ok().zip(last.parse().ok())
        }
        (None, _) => None,
    };
    rows.filter(|&(first, last)| 1 <= first && first <= last && last <= half)
        .ok_or_else(|| entry.unexpected(expected))
}

fn rows_text((first, last): (u8, u8)) -> String {
    if first == 1 {
        last.to_string()
    } else {
        format!("{first}..{last}")
    }
}

fn land_is_void(king_flying: bool) -> bool {
    !king_flying
}

/// Under a counting rule stopping early takes less, so it is never legal.
fn extend_is_void(king_flying: bool, king_land: KingLand, priority: Priority) -> bool {
    let counts = match priority {
        Priority::Count
        | Priority::CountKings
        | Priority::CountKingsWithKing
        | Priority::Italian
        | Priority::Frisian => true,
        Priority::Free | Priority::KingFirst => false,
    };
    !king_flying || king_land == KingLand::Adjacent || counts
}

/// A piece that stays on the board is in the way of turning back.
fn turn_is_void(removal: Removal) -> bool {
    removal == Removal::After
}

impl Rules {
    /// The same rules with void axes at a fixed value, mirrored boards as
    /// their reflection, and names and start positions set aside: equal for
    /// two rule sets exactly if their tables are the same by construction.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let mut rules = self.clone();
        if rules.squares == SquareKind::Mirror {
            rules.squares = SquareKind::Dark;
        }
        rules.names = NameStyle::Algebraic;
        rules.white_first = true;
        rules.rows = (1, 1);
        if land_is_void(rules.king_flying) {
            rules.king_land = FIXED_LAND;
        }
        if extend_is_void(rules.king_flying, rules.king_land, rules.priority) {
            rules.king_must_extend = FIXED_EXTEND;
        }
        if turn_is_void(rules.removal) {
            rules.u_turn = FIXED_TURN;
        }
        rules
    }

    /// The hash of every axis that can change a table's values.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        rule_file::fingerprint(self)
    }

    /// Every axis and its value in the words of the rule files, in their
    /// order. `yes` and `no` stand for booleans, `-` for a void axis.
    #[must_use]
    pub fn axes(&self) -> Vec<(&'static str, String)> {
        let unless = |void: bool, word: &'static str| if void { VOID } else { word };
        let words = |word: &'static str| word.to_owned();
        let extend_void = extend_is_void(self.king_flying, self.king_land, self.priority);
        vec![
            ("size", size_text(self.files, self.ranks)),
            ("squares", words(word(SQUARES, self.squares))),
            ("names", words(word(NAMES, self.names))),
            ("first", words(word(WHITE_FIRST, self.white_first))),
            ("rows", rows_text(self.rows)),
            ("man_move", words(word(MAN_MOVE, self.man_move))),
            ("man_leap_own", words(word(YES_NO, self.man_leap_own))),
            ("man_capture", words(word(MAN_CAPTURE, self.man_capture))),
            ("man_takes_king", words(word(YES_NO, self.man_takes_king))),
            ("king_range", words(word(FLYING, self.king_flying))),
            ("king_move", words(word(DIRECTIONS, self.king_move))),
            ("king_capture", words(word(DIRECTIONS, self.king_capture))),
            (
                "king_land",
                words(unless(land_is_void(self.king_flying), word(KING_LAND, self.king_land))),
            ),
            (
                "king_must_extend",
                words(unless(extend_void, word(YES_NO, self.king_must_extend))),
            ),
            ("forced", words(word(YES_NO, self.forced))),
            ("priority", words(word(PRIORITY, self.priority))),
            ("removal", words(word(REMOVAL, self.removal))),
            (
                "u_turn",
                words(unless(turn_is_void(self.removal), word(U_TURN, self.u_turn))),
            ),
            ("promo_capture", words(word(PROMO_CAPTURE, self.promo_capture))),
            ("goal", words(word(GOAL, self.goal))),
        ]
    }
}

#[cfg(test)]
pub(in crate::draughts) mod tests;
