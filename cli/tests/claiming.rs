//! `petrov claims` as a user sees it.

mod common;

use common::{Place, failed};
use serde_json::Value;

/// What `claims` answers with this exit status.
fn answers(place: &Place, status: i32, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["claims", "--json", "-q"], arguments].concat();
    let output = place.run(&arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn fields_and_exit_status() {
    let place = Place::empty();
    let found = answers(&place, 0, &["--id", "en-1v1-corner", "--id", "en-3v2-40"]);
    assert_eq!(found.len(), 2);
    let keys: Vec<&str> = found[0].as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "id",
        "games",
        "verdict",
        "positions",
        "exceptions",
        "worst_fen",
        "worst_plies",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(found[0]["id"], "en-1v1-corner");
    assert_eq!(found[0]["games"], serde_json::json!(["english"]));
    assert_eq!(found[0]["verdict"], "holds");
    // Four corners for one king and 31 squares for the other, minus the pairs of
    // corners counted twice, both kings and both sides to move.
    assert_eq!(found[0]["positions"], (2 * 4 * 31 - 4 * 3) * 2);
    // Five pieces are more than the default.
    assert_eq!(found[1]["verdict"], "not-evaluated");
    assert_eq!(
        (&found[1]["worst_fen"], &found[1]["positions"]),
        (&Value::Null, &Value::from(0))
    );

    let found = answers(&place, 1, &["english", "--id", "en-2v1"]);
    assert_eq!(found[0]["verdict"], "holds-except");
    // The position is one of that length.
    let fen = found[0]["worst_fen"].as_str().unwrap();
    let probed = place.json(&["probe", "english", fen, "--json"]);
    assert_eq!(probed["dtw"], found[0]["worst_plies"]);
    // One entry for each game, and games that share tables build them once.
    let found = answers(&place, 0, &["--id", "pool-3v1-13"]);
    let games: Vec<&Value> = found.iter().map(|answer| &answer["games"][0]).collect();
    assert_eq!(games, ["pool", "jamaican"]);
    assert!(place.path("tables/pool").exists() && !place.path("tables/jamaican").exists());
    // A comparison names both games, asked from either side.
    let found = answers(&place, 0, &["brazilian", "--id", "ru-brazil-2v2"]);
    assert_eq!(found[0]["games"], serde_json::json!(["russian", "brazilian"]));
    assert_eq!(found[0]["positions"], 2 * 215_760);
    let found = answers(&place, 0, &["e-chess", "--id", "echess-bishops"]);
    assert_eq!(
        (&found[0]["positions"], &found[0]["exceptions"]),
        (&Value::from(1), &Value::from(0))
    );
}

#[test]
fn the_answer_is_always_the_same() {
    let place = Place::empty();
    let run = |threads: &str| {
        let output = place.run(&["claims", "russian", "--id", "ru-3v1-road", "--threads", threads]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = run("1");
    assert_eq!(first, run("2"));
    assert!(first.contains("holds-except"), "{first}");
    // The longest win is shown with a line of so many plies, which ends the game.
    let line = first
        .lines()
        .find(|line| line.trim_start().starts_with("1... "))
        .unwrap();
    let plies = line.split_whitespace().filter(|word| !word.ends_with('.')).count();
    assert!(first.contains(&format!("({plies} plies)")), "{first}");
}

#[test]
fn the_table_counts_moves() {
    let place = Place::empty();
    let text = OWN
        .replace("\"pocket\"", "\"russian\"")
        .replace("id = \"russian\"", "id = \"conversion\"")
        .replace("[\"KvK\"]", "[\"KKvK\"]")
        .replace("quiet = true", "won = true")
        .replace("value = \"drawn\"", "dtz = { own_moves = 15 }");
    let to_end = text.replace("\"conversion\"", "\"end\"").replace("dtz =", "dtw =");
    std::fs::write(place.path("own.toml"), text + &to_end).unwrap();
    let output = place.text(&["claims", "--file", "own.toml", "-q"]);
    let mut lines = output.lines();
    assert!(lines.next().unwrap().trim_end().ends_with("longest, moves"), "{output}");
    let found = answers(&place, 0, &["--file", "own.toml"]);
    for (row, (answer, star)) in lines.zip(found.iter().zip(["*", ""])) {
        let moves = answer["worst_plies"].as_u64().unwrap().div_ceil(2);
        assert!(row.trim_end().ends_with(&format!(" {moves}{star}")), "{output}");
    }
    assert_eq!(
        output
            .lines()
            .filter(|line| line.starts_with("* moves to the next conversion"))
            .count(),
        1
    );
}

#[test]
fn exceptions_are_listed() {
    let place = Place::empty();
    let found = answers(&place, 1, &["--id", "ru-king-v-king", "--exceptions", "list.txt"]);
    let list = std::fs::read_to_string(place.path("list.txt")).unwrap();
    let fens: Vec<&str> = list.lines().collect();
    assert_eq!(fens.len() as u64, found[0]["exceptions"].as_u64().unwrap());
    let mut distinct = fens.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), fens.len());
    // Each is what the claim denies: a win without a capture at once.
    for fen in fens {
        let probed = place.json(&["probe", "russian", fen, "--json"]);
        assert_ne!(probed["value"], "draw", "{fen}");
        let moves = probed["moves"].as_array().unwrap();
        assert!(
            moves
                .iter()
                .all(|played| !played["move"].as_str().unwrap().contains('x')),
            "{fen}"
        );
    }
    // Several answers are told apart.
    answers(
        &place,
        1,
        &["--id", "thai-2v1", "--id", "en-2v1", "--exceptions", "list.txt"],
    );
    let list = std::fs::read_to_string(place.path("list.txt")).unwrap();
    let heads: Vec<&str> = list.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(heads, ["# thai-2v1 thai", "# en-2v1 english"]);
    assert_eq!(list.lines().count(), 2 + 56 + 100);
    place.fails(
        3,
        &["claims", "--id", "ru-king-v-king", "--exceptions", "nowhere/list.txt"],
        &["nowhere/list.txt"],
    );
}

const OWN: &str = r#"
[[claim]]
id = "pocket"
games = ["pocket"]
statement = "King against king is drawn on 36 squares."
materials = ["KvK"]
positions = { quiet = true }
says = { value = "drawn" }
"#;

#[test]
fn claims_of_ones_own() {
    let place = Place::empty();
    let rules = place.text(&["rules", "russian", "--toml"]);
    let rules = rules
        .replace("\"russian\"", "\"pocket\"")
        .replace("\"8x8\"", "\"6x6\"")
        .replace("rows = 3", "rows = 2");
    std::fs::write(place.path("pocket.toml"), rules).unwrap();
    std::fs::write(place.path("own.toml"), OWN).unwrap();
    let found = answers(&place, 1, &["--rules", "pocket.toml", "--file", "own.toml"]);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["id"], &found[0]["games"][0]),
        (&Value::from("pocket"), &Value::from("pocket"))
    );
    place.fails(
        2,
        &["claims", "--file", "own.toml"],
        &["own.toml", "line 4, column 10", "`games`", "unknown game \"pocket\""],
    );
}

#[test]
fn the_example_of_the_page_is_a_claim_file() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/claims.md")).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::empty();
    std::fs::write(place.path("mine.toml"), example).unwrap();
    let found = answers(&place, 1, &["--file", "mine.toml"]);
    assert_eq!(found[0]["id"], "my-road");
    // It is the built-in claim under another name.
    let known = answers(&place, 1, &["--id", "ru-3v1-road"]);
    for key in ["verdict", "positions", "exceptions", "worst_fen", "worst_plies"] {
        assert_eq!(found[0][key], known[0][key], "{key}");
    }
}

#[test]
fn wrong_files() {
    let place = Place::empty();
    let good = "[[claim]]\nid = \"a\"\ngames = [\"russian\"]\nstatement = \"\"\nmaterials = [\"KKvK\"]\n\
                positions = { to_move = \"weak\" }\nsays = { value = \"drawn\" }\n";
    for (from, to, words) in [
        ("[[claim]]", "[[claims]]", &["line 1", "claims", "`claim`"][..]),
        ("id = \"a\"\n", "", &["line 1", "missing field `id`"]),
        ("id = \"a\"", "id = \"a b\"", &["line 2, column 6", "`id`", "letters"]),
        ("id = \"a\"", "id = 7", &["line 2", "`id`", "expected a string"]),
        ("[\"russian\"]", "[]", &["line 3", "`games`", "at least one"]),
        (
            "[\"russian\"]",
            "[\"rusian\"]",
            &["line 3", "`games`", "did you mean russian"],
        ),
        ("[\"russian\"]", "[\"russian\", \"russian\"]", &["line 3", "twice"]),
        (
            "statement",
            "statment",
            &["line 4", "unknown field `statment`", "`statement`"],
        ),
        ("[\"KKvK\"]", "[\"KKvX\"]", &["line 5", "`materials`", "KKvX"]),
        ("[\"KKvK\"]", "[\"KKv\"]", &["line 5", "`materials`", "expected"]),
        ("[\"KKvK\"]", "[]", &["line 5", "`materials`", "at least one"]),
        ("[\"KKvK\"]", "[\"KKvK\", \"KvKK\"]", &["line 5", "twice"]),
        (
            "[\"KKvK\"]",
            "[\"KvK\"]",
            &["line 6", "KvK", "numbers are equal; expected `white` or `black`\n"],
        ),
        (
            "[\"KKvK\"]",
            "[\"KKKKKKvKKKKKKK\"]",
            &["line 5", "`materials`", "13 pieces", "at most 12"],
        ),
        (
            "value = \"drawn\"",
            "dtw = { plies = 3 }, counts = \"to-the-end\"",
            &["line 7", "`says`", "`counts` belongs into the braces of `dtw`"],
        ),
        (
            "value = \"drawn\"",
            "value = \"drawn\", dtz = { plies = 3 }",
            &["line 7", "only one of value, "],
        ),
        ("value = \"drawn\"", "", &["line 7", "one of the keys value, "]),
        ("materials = [\"KKvK\"]\n", "", &["line 2", "`materials` is missing"]),
        (
            "materials = [\"KKvK\"]",
            "pieces = { from = 4, to = 3 }",
            &["line 5", "`pieces`", "from 2 to 12"],
        ),
        (
            "materials = [\"KKvK\"]",
            "pieces = { from = 2, to = 3 }",
            &["line 6", "`strong` and `weak`"],
        ),
        (
            "materials = [\"KKvK\"]",
            "materials = [\"KKvK\"]\npieces = { from = 2, to = 3 }",
            &["line 5", "not both"],
        ),
        (
            "\"weak\"",
            "\"feeble\"",
            &["line 6", "unknown variant `feeble`", "`weak`"],
        ),
        (
            "\"weak\"",
            "\"either\"",
            &["line 6", "`to_move`", "`either`", "`white`, `black`"],
        ),
        (
            "to_move = \"weak\"",
            "quiet = \"yes\"",
            &["line 6", "`quiet`", "expected a boolean"],
        ),
        (
            "to_move = \"weak\"",
            "quite = true",
            &["line 6", "unknown field `quite`", "`quiet`"],
        ),
        (
            "to_move = \"weak\"",
            "on = [{ side = \"weak\", piece = \"Q\", squares = [\"a1\"] }]",
            &["line 6", "`piece`", "`Q`", "K, M"],
        ),
        (
            "to_move = \"weak\"",
            "on = [{ side = \"weak\", piece = \"K\", squares = [\"a2\"] }]",
            &[
                "line 6",
                "`squares`",
                "`a2`",
                "main-road, double-road, double-corner, corner, edge\n",
            ],
        ),
        (
            "to_move = \"weak\"",
            "on = [{ side = \"weak\", piece = \"K\", squares = [\"main-raod\"] }]",
            &["line 6", "`main-raod`", "one of main-road"],
        ),
        (
            "to_move = \"weak\"",
            "on = [{ side = \"weak\", piece = \"K\", squares = [\"dark\"] }]",
            &["line 6", "russian has no dark"],
        ),
        (
            "to_move = \"weak\"",
            "adjacent = { side = \"strong\", pieces = [\"K\", \"K\", \"Z\"] }",
            &["line 6", "`pieces`", "found 3 pieces", "expected two"],
        ),
        (
            "to_move = \"weak\"",
            "adjacent = { side = \"strong\", pieces = [\"K\"] }",
            &["line 6", "`pieces`", "found 1 pieces", "expected two"],
        ),
        // Lists in the place of tables.
        (
            "{ to_move = \"weak\" }",
            "[\"weak\", true]",
            &["line 6", "`positions`", "table of keys"],
        ),
        (
            "{ to_move = \"weak\" }",
            "{ on = [[\"weak\", \"K\", [\"a1\"]]] }",
            &["line 6", "`on`", "table of keys"],
        ),
        (
            "{ value = \"drawn\" }",
            "{ dtw = [15] }",
            &["line 7", "`dtw`", "table of keys"],
        ),
        (
            "materials = [\"KKvK\"]",
            "pieces = [3, 3]",
            &["line 5", "`pieces`", "table of keys"],
        ),
        (
            "value = \"drawn\"",
            "value = \"even\"",
            &["line 7", "`even`", "`drawn`"],
        ),
        (
            "value = \"drawn\"",
            "worth = \"drawn\"",
            &["line 7", "`worth`", "`value`"],
        ),
        (
            "value = \"drawn\"",
            "dtw = { plies = 3, own_moves = 2 }",
            &["line 7", "`dtw`", "one of them"],
        ),
        (
            "value = \"drawn\"",
            "dtz = {}",
            &["line 7", "`dtz`", "`own_moves` or `plies`"],
        ),
        (
            "value = \"drawn\"",
            "dtw = { plies = -1 }",
            &["line 7", "`plies`", "-1"],
        ),
        (
            "value = \"drawn\"",
            "same = [\"value\"]",
            &["line 3", "`games`", "two games"],
        ),
        ("value = \"drawn\"", "same = []", &["line 7", "`same`"]),
        (
            "statement = \"\"",
            "statement = \"a\\u001B[2Jb\"",
            &["line 4, column 13", "`statement`", "control character U+001B"],
        ),
        (
            "statement",
            "title = \"\\u0007\"\nstatement",
            &["line 4", "`title`", "control character U+0007"],
        ),
        (
            "statement",
            "source = \"\\u009B\"\nstatement",
            &["line 4", "`source`", "control character U+009B"],
        ),
        ("says", "says = 1\nsays", &["line 8", "duplicate key"]),
        ("id = \"a\"", "id = \"a", &["line 2"]),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{to}");
        std::fs::write(place.path("bad.toml"), text).unwrap();
        let arguments = ["claims", "--file", "bad.toml"];
        failed(
            &place.run(&arguments),
            2,
            &[to],
            &[&["claim file bad.toml: "], words].concat(),
        );
    }
    std::fs::write(place.path("twice.toml"), format!("{good}{good}")).unwrap();
    place.fails(
        2,
        &["claims", "--file", "twice.toml"],
        &["line 9", "`id`", "a claim `a` before"],
    );
    std::fs::write(
        place.path("case.toml"),
        format!("{good}{}", good.replace("\"a\"", "\"A\"")),
    )
    .unwrap();
    place.fails(
        2,
        &["claims", "--file", "case.toml"],
        &["line 9", "a claim `a` before", "differs in more than case"],
    );
    std::fs::write(place.path("good.toml"), good).unwrap();
    place.fails(
        2,
        &["claims", "--file", "good.toml", "--file", "good.toml"],
        &["line 2", "`id`"],
    );
    place.fails(2, &["claims", "--file", "none.toml"], &["none.toml", "cannot be read"]);
    std::fs::write(place.path("binary.toml"), [0xff, 0xfe]).unwrap();
    place.fails(2, &["claims", "--file", "binary.toml"], &["binary.toml"]);
    let other_boards = good
        .replace("[\"russian\"]", "[\"russian\", \"international\"]")
        .replace("value = \"drawn\"", "same = [\"dtw\"]");
    std::fs::write(place.path("boards.toml"), other_boards).unwrap();
    place.fails(2, &["claims", "--file", "boards.toml"], &["line 3", "one size"]);
    assert!(
        !place.path("tables").exists(),
        "nothing was built for files that are wrong"
    );
}

#[test]
fn text_of_a_file_stays_text_on_the_page() {
    let place = Place::empty();
    let text = OWN.replace("[\"pocket\"]", "[\"russian\"]").replace(
        "statement = \"",
        "title = \"# one | two <b> [x](y)\"\nsource = \"a\\n\\n# b\"\nstatement = \"#",
    );
    std::fs::write(place.path("own.toml"), text).unwrap();
    let output = place.run(&["claims", "-q", "--file", "own.toml", "--document", "made"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let page = std::fs::read_to_string(place.path("made/draw-rules.md")).unwrap();
    let title = "\\# one \\| two &lt;b> \\[x\\](y)";
    assert!(page.contains(&format!("</a>{title}\n")), "{page}");
    assert!(
        page.contains(&format!("| russian | [{title}](#pocket-russian) |")),
        "{page}"
    );
    assert!(page.contains("**The statement.** \\#King against king"), "{page}");
    assert!(page.contains("*(a # b)*"), "{page}");
}

#[test]
fn files_of_others_are_kept() {
    let place = Place::empty();
    let text = OWN.replace("[\"pocket\"]", "[\"russian\"]");
    std::fs::write(place.path("own.toml"), &text).unwrap();
    let arguments = ["claims", "--file", "own.toml", "--exceptions", "./own.toml"];
    place.fails(2, &arguments, &["--exceptions would write over", "own.toml"]);
    assert_eq!(std::fs::read_to_string(place.path("own.toml")).unwrap(), text);

    std::fs::create_dir(place.path("made")).unwrap();
    let page = place.path("made/draw-rules.md");
    std::fs::write(&page, "# My own\n").unwrap();
    let arguments = ["claims", "-q", "--file", "own.toml", "--document", "made"];
    place.fails(
        2,
        &arguments,
        &["draw-rules.md: was not written by `petrov claims --document`"],
    );
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "# My own\n");
    assert!(!place.path("tables").exists());
    // Its own page is replaced.
    std::fs::remove_file(&page).unwrap();
    for _ in 0..2 {
        assert_eq!(place.run(&arguments).status.code(), Some(1));
    }
}

#[test]
fn too_little_memory() {
    let place = Place::empty();
    place.fails(
        3,
        &["claims", "-q", "--id", "en-2v1", "--memory", "1K"],
        &["of memory needed", "allow more with --memory"],
    );
}

#[test]
fn wrong_usage() {
    let place = Place::empty();
    place.fails(2, &["claims", "rusian"], &["unknown game", "did you mean russian"]);
    place.fails(
        2,
        &["claims", "--id", "ru-3v1-16"],
        &["unknown claim", "did you mean ru-3v1-15"],
    );
    place.fails(
        2,
        &["claims", "--id", "x"],
        &["unknown claim", "known ones are ru-3v1-15"],
    );
    // A known game of which no claim is asked is no error, with or without names.
    for arguments in [&["italian"][..], &["english", "--id", "ru-3v1-15"]] {
        assert!(answers(&place, 0, arguments).is_empty());
        let output = place.run(&[&["claims"], arguments].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains(&format!("no such claim is about {}", arguments[0])),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    place.fails(2, &["claims", "italian", "--id", "x"], &["unknown claim"]);
    for arguments in [
        &["claims", "--max-pieces", "1"][..],
        &["claims", "--max-pieces", "x"],
        &["claims", "--threads", "0"],
        &["claims", "--memory", "much"],
        &["claims", "--json", "--document", "x"],
    ] {
        place.fails(2, arguments, &[]);
    }
}
