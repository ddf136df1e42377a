//! `petrov annotate`: game files with the tables' verdicts.

mod common;

use common::{Place, failed};
use serde_json::{Value, json};

const GAMES: &str = r#"[Event "Study"]
[FEN "W:WKg5,Kc7:Bh2"]

1. g5-h6? {careless} h2-g1 2. c7-e5 1/2-1/2

[Event "The opening is not in the tables"]

1. c3-d4 d6-c5 2. b2-c3 *

[Event "Black errs, and the kings give a piece away"]
[FEN "B:WKa1,Kh6:BKg1"]

1... g1-b6 2. a1-c3 b6-a7 3. c3-b2 *
"#;

fn place() -> Place {
    let place = Place::with_tables("russian", "3", "wld,dtw");
    std::fs::write(place.path("games.pdn"), GAMES).unwrap();
    place
}

#[test]
fn mistakes_are_those_that_probing_shows() {
    let place = place();
    let found = place.json(&["annotate", "russian", "games.pdn", "--json"]);
    assert_eq!(
        found[0],
        json!({"game": 1, "ply": 1, "fen": "W:WKg5,Kc7:Bh2", "move": "g5-h6", "before": "win", "after": "draw",
            "better": "g5-e3"})
    );
    for mistake in found.as_array().unwrap() {
        assert_eq!(mistake.as_object().unwrap().len(), 7);
        let probe = place.json(&["probe", "russian", mistake["fen"].as_str().unwrap(), "--json"]);
        assert_eq!(
            (&mistake["before"], &mistake["better"]),
            (&probe["value"], &probe["moves"][0]["move"])
        );
        let moves = probe["moves"].as_array().unwrap();
        let played = moves.iter().find(|m| m["move"] == mistake["move"]).unwrap();
        assert_eq!(mistake["after"], played["value"]);
        assert_ne!(mistake["after"], mistake["before"]);
    }
    // No other move of the third game is one.
    let of_third: Vec<&Value> = found.as_array().unwrap().iter().filter(|m| m["game"] == 3).collect();
    let mut fen = "B:WKa1,Kh6:BKg1".to_owned();
    let mut expected = Vec::new();
    for (ply, text) in (1..).zip(["g1-b6", "a1-c3", "b6-a7", "c3-b2"]) {
        let probe = place.json(&["probe", "russian", &fen, "--json"]);
        let played = probe["moves"].as_array().unwrap().iter().find(|m| m["move"] == text);
        if played.unwrap()["value"] != probe["value"] {
            expected.push(json!(ply));
        }
        let moves = place.json(&["moves", "russian", &fen, "--json"]);
        let played = moves.as_array().unwrap().iter().find(|m| m["move"] == text).unwrap();
        fen = played["fen"].as_str().unwrap().to_owned();
    }
    assert_eq!(of_third.iter().map(|m| m["ply"].clone()).collect::<Vec<_>>(), expected);
}

#[test]
fn the_games_come_back_with_comments() {
    let place = place();
    let text = place.text(&["annotate", "russian", "games.pdn"]);
    assert!(
        text.starts_with(
            "[Event \"Study\"]\n[FEN \"W:WKg5,Kc7:Bh2\"]\n\n\
             1. g5-h6 $2 {mistake: draws; g5-e3 wins in 5 moves} {careless} 1... h2-g1\n2. c7-e5 1/2-1/2\n\n"
        ),
        "{text}"
    );
    assert!(text.contains("\n1. c3-d4 d6-c5 2. b2-c3 *\n"), "{text}");
    assert!(
        text.lines()
            .last()
            .unwrap()
            .starts_with("; 3 games, 10 moves: 7 known to the tables, "),
        "{text}"
    );
    // The answer is PDN, and says nothing twice.
    let again = place.run_on(&text, &["annotate", "russian", "-"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), text);
    let json = ["annotate", "russian", "-", "--json"];
    assert_eq!(place.run_on(GAMES, &json).stdout, place.run_on(&text, &json).stdout);
}

#[test]
fn tables_may_be_missing_but_not_damaged() {
    let place = Place::with_tables("russian", "2", "wld");
    std::fs::write(place.path("games.pdn"), GAMES).unwrap();
    assert_eq!(place.json(&["annotate", "russian", "games.pdn", "--json"]), json!([]));
    // Without distances.
    place.json(&["gen", "russian", "3", "--metric", "wld", "--json"]);
    let text = place.text(&["annotate", "russian", "games.pdn"]);
    assert!(text.contains(" draws; ") && text.contains(" wins}"), "{text}");
    std::fs::write(place.path("tables/russian/KKvM.wld.petrov"), "no table").unwrap();
    place.fails(3, &["annotate", "russian", "games.pdn", "--json"], &["KKvM.wld.petrov"]);
}

#[test]
fn bad_input() {
    let place = Place::empty();
    for (text, words) in [
        (
            "1. c3-d4 *\n\n1. c3-e5",
            &["games.pdn: line 3, column 4 (game 2)", "c3-e5", "not legal"][..],
        ),
        ("1. c3-d4 {", &["line 1, column 10", "not closed"]),
        ("[FEN \"W:Wa1\"]", &["line 1, column 6", "Black is missing"]),
        ("1. z1-d4", &["line 1, column 4", "unknown square"]),
        ("\0", &["line 1, column 1"]),
    ] {
        std::fs::write(place.path("games.pdn"), text).unwrap();
        for arguments in [
            &["annotate", "russian", "games.pdn"][..],
            &["annotate", "russian", "games.pdn", "--json"],
        ] {
            place.fails(2, arguments, words);
        }
        let from_input = ["annotate", "russian", "-", "--json"];
        failed(
            &place.run_on(text, &from_input),
            2,
            &from_input,
            &["standard input: line "],
        );
    }
    place.fails(2, &["annotate", "russian", "none.pdn"], &["none.pdn"]);
    place.fails(2, &["annotate", "rusian", "games.pdn"], &["did you mean russian"]);
    place.fails(2, &["annotate", "russian"], &[]);
    // Text of another encoding is read with a warning.
    std::fs::write(place.path("games.pdn"), b"{\xc4} 1. c3-d4 *").unwrap();
    let output = place.run(&["annotate", "russian", "games.pdn", "--json"]);
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), &b"[]\n"[..])
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("not UTF-8"));
}
