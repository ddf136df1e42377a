use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::rule_text::RuleErrorKind;

const RUSSIAN: &str = include_str!("../../../rules/russian.toml");
const THAI: &str = include_str!("../../../rules/thai.toml");
const TURKISH: &str = include_str!("../../../rules/turkish.toml");
const ENGLISH: &str = include_str!("../../../rules/english.toml");

/// The text and contents of every file in `rules/`.
pub(in crate::draughts) fn all_files() -> Vec<(String, RuleFile)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let mut files = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("family = \"draughts\"") {
            continue;
        }
        let file = RuleFile::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(path.file_stem().unwrap().to_str().unwrap(), file.name);
        files.push((text, file));
    }
    files.sort_by(|a, b| a.1.name.cmp(&b.1.name));
    files
}

/// The only rule set of a name.
pub(in crate::draughts) fn file(name: &str) -> RuleFile {
    all_files()
        .into_iter()
        .map(|(_, file)| file)
        .find(|file| file.name == name)
        .unwrap()
}

/// The text with the line of `key` replaced.
fn with(text: &str, key: &str, line: &str) -> String {
    let mut found = 0;
    let lines: Vec<&str> = text
        .lines()
        .map(|old| {
            let hit = old.starts_with(&format!("{key} ="));
            found += usize::from(hit);
            if hit { line } else { old }
        })
        .collect();
    assert_eq!(found, 1, "{key}");
    lines.join("\n")
}

fn error(text: &str) -> String {
    let message = RuleFile::parse(text).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn every_file_parses_and_round_trips() {
    let files = all_files();
    assert_eq!(files.len(), 30);
    for (text, file) in files {
        assert!(!file.description.is_empty() && !file.source.is_empty(), "{}", file.name);
        assert_eq!(RuleFile::parse(&file.to_toml()).unwrap(), file);
        // Void axes are left out, and the order of keys is that of the axes.
        assert_eq!(file.to_toml().trim(), text.trim());
        assert_eq!(
            file.rules.axes().iter().map(|(axis, _)| *axis).collect::<Vec<_>>(),
            AXES
        );
    }
}

#[test]
fn equal_tables_have_equal_fingerprints() {
    let mut by_fingerprint: HashMap<Fingerprint, BTreeSet<String>> = HashMap::new();
    for (_, file) in all_files() {
        by_fingerprint
            .entry(file.rules.fingerprint())
            .or_default()
            .insert(file.name);
    }
    let mut shared: Vec<Vec<String>> = by_fingerprint
        .into_values()
        .filter(|names| names.len() > 1)
        .map(|names| names.into_iter().collect())
        .collect();
    shared.sort();
    assert_eq!(shared, [["jamaican", "pool"], ["portuguese", "spanish"]]);
}

#[test]
fn the_fingerprint_is_part_of_the_table_format() {
    // A change here makes every table ever built foreign.
    assert_eq!(
        file("russian").rules.fingerprint().to_string(),
        "49e31a0dc9933ec6ad42fe2a21fd36a2"
    );
    assert_eq!(
        file("turkish").rules.fingerprint().to_string(),
        "9477f5327fefa9cd52f1b63176165eda"
    );
}

#[test]
fn every_axis_that_matters_changes_the_fingerprint() {
    // Each line replaces one of the file and must change the fingerprint.
    let changes: [(&str, &[&str]); 3] = [
        (
            RUSSIAN,
            &[
                "size = \"10x8\"",
                "size = \"8x10\"",
                "squares = \"all\"",
                "man_move = \"orth-fwd-side\"",
                "man_move = \"orth-fwd-side+diag-fwd\"",
                "man_leap_own = true",
                "man_capture = \"diag-fwd\"",
                "man_capture = \"all-8\"",
                "man_capture = \"orth-fwd-side\"",
                "man_capture = \"orth-all\"",
                "man_takes_king = false",
                "king_range = \"short\"",
                "king_move = \"orth\"",
                "king_move = \"all-8\"",
                "king_capture = \"orth\"",
                "king_capture = \"all-8\"",
                "king_land = \"adjacent\"",
                "king_land = \"adjacent-if-last-is-king\"",
                "king_must_extend = false",
                "forced = \"no\"",
                "priority = \"count\"",
                "priority = \"count,kings\"",
                "priority = \"count,kings,withking\"",
                "priority = \"italian\"",
                "priority = \"frisian\"",
                "priority = \"king-first\"",
                "promo_capture = \"stop\"",
                "promo_capture = \"pass\"",
                "goal = \"misere\"",
                "goal = \"breakthrough\"",
                "goal = \"ghana\"",
            ],
        ),
        (THAI, &["u_turn = \"forbidden\"", "removal = \"after\""]),
        (
            TURKISH,
            &["u_turn = \"allowed\"", "king_land = \"adjacent\"", "squares = \"dark\""],
        ),
    ];
    for (text, lines) in changes {
        let before = RuleFile::parse(text).unwrap().rules;
        let mut seen = BTreeSet::from([before.fingerprint()]);
        for line in lines {
            let key = line.split(' ').next().unwrap();
            let after = RuleFile::parse(&with(text, key, line)).unwrap().rules;
            assert!(seen.insert(after.fingerprint()), "{line}");
            assert_ne!(after.normalised(), before.normalised(), "{line}");
        }
    }
}

#[test]
fn names_start_and_void_axes_do_not_change_the_fingerprint() {
    let same = [
        (RUSSIAN, "names = \"num-top\""),
        (RUSSIAN, "names = \"num-br\""),
        (RUSSIAN, "first = \"B\""),
        (RUSSIAN, "rows = \"2..3\""),
        (RUSSIAN, "rows = 2"),
        (RUSSIAN, "squares = \"mirror\""),
        (RUSSIAN, "name = \"other\""),
        (RUSSIAN, "description = \"other\""),
        (RUSSIAN, "source = \"other\""),
        (RUSSIAN, "king_must_extend = \"yes\""),
        (RUSSIAN, "removal = \"after\"\nu_turn = \"allowed\""),
        (RUSSIAN, "removal = \"after\"\nu_turn = \"-\""),
        (THAI, "king_land = \"adjacent\"\nking_must_extend = true"),
        (THAI, "king_land = \"adjacent\"\nking_must_extend = \"no\""),
        (TURKISH, "king_land = \"any\"\nking_must_extend = true"),
        (
            ENGLISH,
            "king_range = \"short\"\nking_land = \"adjacent\"\nking_must_extend = \"-\"",
        ),
    ];
    for (text, line) in same {
        let key = line.split(' ').next().unwrap();
        let before = RuleFile::parse(text).unwrap().rules;
        let after = RuleFile::parse(&with(text, key, line)).unwrap().rules;
        assert_eq!(after.fingerprint(), before.fingerprint(), "{line}");
        assert_eq!(after.normalised(), before.normalised(), "{line}");
    }
}

#[test]
fn void_axes_set_by_hand_are_normalised() {
    let mut rules = file("english").rules;
    let before = rules.fingerprint();
    rules.king_land = KingLand::Adjacent;
    rules.king_must_extend = true;
    rules.u_turn = true;
    assert_eq!(rules.fingerprint(), before);
    assert_eq!(rules.normalised(), file("english").rules.normalised());
}

#[test]
fn errors_point_at_their_place() {
    let cases = [
        (
            with(RUSSIAN, "removal", "removal = \"later\""),
            "line 22, column 11: key `removal`: found \"later\", expected one of \"after\", \"at-once\"",
        ),
        (
            with(RUSSIAN, "forced", "forced = 1"),
            "line 20, column 10: key `forced`: found 1, expected one of \"yes\", \"no\", true, false",
        ),
        (
            with(RUSSIAN, "goal", "gaol = \"normal\""),
            "line 24, column 1: unknown key `gaol`; did you mean `goal`? known keys are `name`, `family`, `description`, `source`, `size`, \
             `squares`, `names`, `first`, `rows`, `man_move`, `man_leap_own`, `man_capture`, \
             `man_takes_king`, `king_range`, `king_move`, `king_capture`, `king_land`, `king_must_extend`, `forced`, \
             `priority`, `removal`, `u_turn`, `promo_capture`, `goal`",
        ),
        (
            with(RUSSIAN, "squares", "# none"),
            "key `squares` is missing; expected one of \"dark\", \"mirror\", \"all\"",
        ),
        (
            with(RUSSIAN, "king_must_extend", "# none"),
            "key `king_must_extend` is missing; expected one of \"yes\", \"no\", true, false",
        ),
        (
            with(THAI, "u_turn", "# none"),
            "key `u_turn` is missing; expected one of \"forbidden\", \"allowed\"",
        ),
        (
            with(THAI, "u_turn", "u_turn = \"-\""),
            "line 22, column 10: key `u_turn`: found \"-\", expected one of \"forbidden\", \"allowed\"",
        ),
        (
            with(RUSSIAN, "removal", "removal = \"after\"\nu_turn = \"never\""),
            "line 23, column 10: key `u_turn`: found \"never\", expected one of \"forbidden\", \"allowed\"",
        ),
        (
            with(RUSSIAN, "priority", "priority = [\"count\"]"),
            "line 21, column 12: key `priority`: found an array, expected one of \"free\", \"count\", \"count,kings\", \
             \"count,kings,withking\", \"italian\", \"frisian\", \"king-first\"",
        ),
        (
            with(RUSSIAN, "family", "family = \"chess\""),
            "line 2, column 10: key `family`: found \"chess\", expected \"draughts\"",
        ),
        (
            with(RUSSIAN, "description", "description = \"two\\nlines\""),
            "line 3, column 15: key `description`: found \"two\\nlines\", expected one line of text",
        ),
        (
            with(RUSSIAN, "size", "size = \"9x8\""),
            "line 6, column 8: key `size`: found \"9x8\", expected files x ranks such as \"8x8\", both even and from 4 to 12",
        ),
        (
            with(TURKISH, "size", "size = \"12x11\""),
            "line 6, column 8: key `size`: found \"12x11\", expected files x ranks such as \"8x8\", each from 4 to 12, \
             at most 128 squares",
        ),
        (
            with(RUSSIAN, "rows", "rows = 5"),
            "line 10, column 8: key `rows`: found 5, expected a number of ranks from 1 to 4, or ranks such as \"2..3\" \
             from 1 to 4 (the two sides must not overlap)",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(&text), message);
    }
    assert!(
        error("size == 3").starts_with("line 1, column "),
        "{}",
        error("size == 3")
    );
    assert!(error(&format!("{RUSSIAN}\ngoal = \"normal\"")).starts_with("line 26, column 1: not valid TOML: "));
    assert!(error("family = \"draughts\"\nzzzzzzz = 1").ends_with("`promo_capture`, `goal`"));
    assert_eq!(error(""), "key `family` is missing; expected \"draughts\"");
    assert!(error(&with(RUSSIAN, "goal", "goal.x = \"normal\"")).contains("found a table"));
    let long = "x".repeat(10_000);
    assert!(error(&with(RUSSIAN, "goal", &format!("goal = \"{long}\""))).len() < 300);
}

#[test]
fn an_error_can_be_told_apart_by_kind() {
    let error = RuleFile::parse(&with(RUSSIAN, "goal", "goal = \"fun\"")).unwrap_err();
    assert_eq!(error.place, Some((24, 8)));
    assert_eq!(error.key.as_deref(), Some("goal"));
    assert!(matches!(error.kind, RuleErrorKind::Value { .. }));
}

#[test]
fn bad_sizes_rows_and_names() {
    for size in [
        "8", "8x", "x8", "8x8x8", "08x8", "+8x8", "8X8", "2x8", "14x14", "8x7", "300x8", "", "8 x 8",
    ] {
        error(&with(RUSSIAN, "size", &format!("size = \"{size}\"")));
    }
    for size in ["3x4", "13x4", "12x11", "4x3"] {
        error(&with(TURKISH, "size", &format!("size = \"{size}\"")));
    }
    for size in ["5x7", "12x10", "11x11", "9x4"] {
        RuleFile::parse(&with(
            &with(TURKISH, "rows", "rows = 1"),
            "size",
            &format!("size = \"{size}\""),
        ))
        .unwrap();
    }
    for rows in [
        "0",
        "5",
        "-1",
        "99999999999999999999",
        "3.0",
        "true",
        "\"3..2\"",
        "\"0..2\"",
        "\"2..5\"",
        "\"2..\"",
        "\"+2..3\"",
    ] {
        error(&with(RUSSIAN, "rows", &format!("rows = {rows}")));
    }
    for (rows, read) in [
        ("1", (1, 1)),
        ("4", (1, 4)),
        ("\"2..4\"", (2, 4)),
        ("\"2\"", (1, 2)),
        ("\"1..3\"", (1, 3)),
    ] {
        assert_eq!(
            RuleFile::parse(&with(RUSSIAN, "rows", &format!("rows = {rows}")))
                .unwrap()
                .rules
                .rows,
            read
        );
    }
    for name in ["", "..", "a/b", "-x", "a b", "\u{e9}", &"a".repeat(65)] {
        error(&with(RUSSIAN, "name", &format!("name = \"{name}\"")));
    }
    error(&with(RUSSIAN, "name", "name = 7"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = RuleFile::parse(&text);
    }

    #[test]
    fn no_damaged_file_panics(at in 0usize..700, with in "\\PC{0,3}", drop in 0usize..5) {
        let chars: Vec<char> = RUSSIAN.chars().collect();
        let at = at.min(chars.len());
        let tail = chars.iter().skip(at + drop);
        let text: String = chars[..at].iter().copied().chain(with.chars()).chain(tail.copied()).collect();
        if let Err(error) = RuleFile::parse(&text) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
