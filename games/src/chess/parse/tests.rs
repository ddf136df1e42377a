use std::collections::HashMap;
use std::path::Path;

use super::*;
use crate::{AnyGame, Games};

fn parse(lines: &str) -> Result<RuleFile, RuleError> {
    RuleFile::parse(&format!("name = \"x\"\nfamily = \"chess\"\n{lines}"))
}

fn rules(lines: &str) -> Rules {
    parse(lines).unwrap_or_else(|error| panic!("{error}: {lines}")).rules
}

fn error(lines: &str) -> String {
    let message = parse(lines).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn built_in_files() {
    let games = Games::built_in();
    let files: Vec<RuleFile> = games
        .iter()
        .filter_map(AnyGame::chess)
        .map(|game| game.rule_file().clone())
        .collect();
    assert_eq!(files.len(), 10);
    for file in &files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("rules-chess/{}.toml", file.name));
        assert!(path.exists(), "{}", path.display());
        assert!(!file.description.is_empty() && !file.source.is_empty(), "{}", file.name);
        assert_eq!(RuleFile::parse(&file.to_toml()).as_ref(), Ok(file));
        let axes: Vec<&str> = file.rules.axes().iter().map(|(axis, _)| *axis).collect();
        assert_eq!(axes, AXES);
        for (axis, value) in file.rules.axes() {
            assert_ne!(value, "?", "{} {axis}", file.name);
        }
        assert!(file.rules.start.is_some());
    }
    assert_eq!(files[0].rules, Rules::default());
    let text = include_str!("../../../rules-chess/chess.toml");
    assert_eq!(files[0].to_toml(), text, "chess names every axis");
    assert_eq!(rules(""), Rules::default(), "a missing axis is chess's");
    let mut seen = HashMap::new();
    for file in &files {
        assert_eq!(seen.insert(file.rules.fingerprint(), &file.name), None);
    }
}

#[test]
fn other_boards() {
    let small = rules("board = \"5x4\"");
    assert_eq!((small.files, small.ranks, small.promotion_rank), (5, 4, 4));
    assert_eq!(
        (small.start.as_deref(), small.castling, small.double_step),
        (None, false, false)
    );
    assert_eq!(rules("board = \"3x3\"").pawn_rank, 2);
    assert!(rules("board = \"6x6\"\ndouble_step = \"start\"").has_double_step());
    // The target would lie in the promotion zone.
    assert!(!rules("board = \"6x4\"\ndouble_step = \"start\"").has_double_step());
    assert!(!rules("pawn_rank = 3\npromotion_rank = 5\ndouble_step = \"start\"").has_double_step());
    let start = rules("board = \"3x3\"\nstart = \"k2/3/2K w - - 0 1\"");
    assert_eq!(start.start.as_deref(), Some("k2/3/2K w - - 0 1"));
}

#[test]
fn spellings() {
    for (lines, axis, value) in [
        ("en_passant = \"false\"", "en_passant", "false"),
        ("en_passant = \"no\"", "en_passant", "false"),
        ("promote_to = [\"n\", \"q\"]", "promote_to", "q,n"),
        ("promote_to = \"nq\"", "promote_to", "q,n"),
        ("promote_to = \"n, q\"", "promote_to", "q,n"),
        (
            "promote_to = \"a r, b n, c b, d q, e q, f b, g n, h r\"",
            "promote_to",
            "a r, b n, c b, d q, e q, f b, g n, h r",
        ),
        (
            "promote_to = \"rnbqqbnr\"",
            "promote_to",
            "a r, b n, c b, d q, e q, f b, g n, h r",
        ),
        ("pair_line = \"-\"", "pair_line", "-"),
        ("pair_bishop = \"hop\"", "pair_line", "path"),
        ("pair_bishop = \"hop\"\npair_line = \"whole\"", "pair_capture", "-"),
        ("pair_knight = \"add\"", "pair_line", "-"),
    ] {
        let rules = rules(lines);
        let found = rules.axes().into_iter().find(|(name, _)| *name == axis);
        assert_eq!(found.unwrap().1, value, "{lines}");
    }
}

#[test]
fn errors_point_and_list() {
    for (lines, expected) in [
        (
            "stalemate = \"win\"",
            "line 3, column 13: key `stalemate`: found \"win\", expected one of \"draw\", \"loses\", \"wins\", \"fewer-wins\"",
        ),
        (
            "pawns = 1",
            "line 3, column 1: unknown key `pawns`; did you mean `pawn`?",
        ),
        ("board = \"9x8\"", "each from 3 to 8"),
        ("board = \"08x8\"", "each from 3 to 8"),
        ("pawn_rank = 9", "a rank from 1 to 8"),
        ("pawn_rank = \"2\"", "a rank from 1 to 8"),
        ("promotion_rank = 1", "a rank from 2 to 8"),
        ("en_passant = \"maybe\"", "true or false"),
        ("castling = \"orthodox\"\ngoal = \"lose-all\"", "expected \"none\""),
        ("castling = \"orthodox\"\nboard = \"8x7\"", "expected \"none\""),
        ("bare_king = \"loses\"\ngoal = \"lose-all\"", "expected \"none\""),
        ("promote_to = [\"k\"]", "different letters out of qrbn"),
        ("promote_to = [\"p\"]", "different letters out of qrbn"),
        ("promote_to = []", "different letters out of qrbn"),
        ("promote_to = [\"q\", \"q\"]", "different letters out of qrbn"),
        ("promote_to = { a = \"q\" }", "one letter for each file from a to h"),
        ("pieces = 3", "a table for each piece"),
        (
            "[pieces.p]\nleaps = []",
            "line 3, column 9: key `pieces.p`: found the key \"p\"",
        ),
        ("[pieces.X]\nleaps = []", "one small letter"),
        ("[pieces.xy]\nleaps = []", "one small letter"),
        ("[pieces.x]", "a table with some of leaps"),
        (
            "[pieces.x]\nleap = []",
            "line 4, column 1: unknown key `pieces.x.leap`; did you mean `leaps`",
        ),
        (
            "[pieces.x]\nleaps = [[0, 0]]",
            "key `pieces.x.leaps`: found an array, expected a list of [dx, dy]",
        ),
        ("[pieces.x]\nleaps = [[1, 8]]", "each from -7 to 7"),
        ("[pieces.x]\nleaps = [[1]]", "each from -7 to 7"),
        ("[pieces.x]\nleaps = 1", "each from -7 to 7"),
        ("start = 1", "a FEN"),
        ("start = \"8/8/8/8/8/8/8/8 w - - 0 1\"", "White has 0 kings, expected 1"),
        (
            "board = \"4x4\"\npawn_rank = 4\nstart = \"k3/P3/4/3K w - - 0 1\"",
            "leave no rank between",
        ),
    ] {
        let found = error(lines);
        assert!(found.contains(expected), "{lines}:\n{found}");
    }
    let many: String = ('a'..='o')
        .filter(|letter| !"kqrbnp".contains(*letter))
        .chain(['s'])
        .map(|letter| format!("[pieces.{letter}]\nleaps = [[1, 1]]\n"))
        .collect();
    assert!(error(&many).contains("at most 16 letters"), "{}", error(&many));
    let family = RuleFile::parse("name = \"x\"\nfamily = \"draughts\"").unwrap_err();
    assert!(family.to_string().contains("expected \"chess\""));
}

#[test]
fn most_letters() {
    let lines: String = "acdefghijl"
        .chars()
        .map(|letter| format!("[pieces.{letter}]\nleaps = [[1, 1]]\n"))
        .collect();
    let rules = rules(&lines);
    assert_eq!(rules.kinds().count(), Kind::COUNT);
    assert_eq!(rules.kind('L'), Some(Kind::new(14)));
    assert_eq!(rules.kind('p'), Some(Kind::PAWN));
    assert_eq!(rules.letter(Kind::new(5)), Some('a'));
}

#[test]
fn fingerprints() {
    let chess = Rules::default().fingerprint();
    for same in [
        "description = \"other\"",
        "castling = \"none\"",
        "start = \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"",
        "pair_line = \"whole\"",
        "pair_capture = false",
        "[pieces.n]\nleaps = [[-1, 2], [2, 1]]",
        "[pieces.n]\nleaps_exact = [[1,2],[2,1],[2,-1],[1,-2],[-1,-2],[-2,-1],[-2,1],[-1,2]]",
        "promote_to = \"nbrq\"",
    ] {
        assert_eq!(rules(same).fingerprint(), chess, "{same}");
    }
    for other in [
        "board = \"8x7\"",
        "pawn_rank = 3",
        "pawn = \"berolina\"",
        "pawn_backward_capture = true",
        "pawn_first_capture = false",
        "pawn_guard = \"aura\"",
        "double_step = \"none\"",
        "en_passant = false",
        "promotion_rank = 7",
        "promote_to = \"q\"",
        "stalemate = \"wins\"",
        "goal = \"lose-all\"",
        "capture_compulsory = true",
        "bare_king = \"loses\"",
        "relay = \"knight\"",
        "pair_bishop = \"hop\"",
        "pair_rook = \"slide\"",
        "pair_knight = \"add\"",
        "pair_knight = \"instead\"",
        "[pieces.n]\nleaps = [[1, 3]]",
        "[pieces.x]\nleaps = [[1, 3]]",
    ] {
        assert_ne!(rules(other).fingerprint(), chess, "{other}");
    }
    let hop = rules("pair_bishop = \"hop\"").fingerprint();
    for other in [
        "pair_line = \"whole\"",
        "pair_partner = \"blocks\"",
        "pair_capture = false",
    ] {
        assert_ne!(
            rules(&format!("pair_bishop = \"hop\"\n{other}")).fingerprint(),
            hop,
            "{other}"
        );
    }
    // Without a double step there is nothing to take en passant.
    assert_eq!(
        rules("double_step = \"none\"").fingerprint(),
        rules("double_step = \"none\"\nen_passant = false").fingerprint()
    );
}
