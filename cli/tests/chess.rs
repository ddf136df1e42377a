//! What the commands answer about chess games.

mod common;

use common::Place;
use serde_json::{Value, json};

/// White mates in six moves.
const QUEEN: &str = "8/8/8/8/8/2k5/8/K6Q w - - 0 1";
const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 20";

fn place() -> Place {
    Place::with_tables("chess", "KQvK", "wld,dtw,dtz")
}

#[test]
fn rule_files_read_back() {
    let place = Place::empty();
    let games = place.json(&["games", "--json"]);
    let chess = games
        .as_array()
        .unwrap()
        .iter()
        .find(|game| game["name"] == "chess")
        .unwrap();
    assert_eq!(
        (&chess["family"], &chess["board"], &chess["squares"]),
        (&json!("chess"), &json!("8x8"), &json!(64))
    );
    for game in ["chess", "e-chess", "chess-promote-by-file", "makruk"] {
        let toml = place.text(&["rules", game, "--toml"]);
        let toml = toml.replace(&format!("name = \"{game}\""), "name = \"mine\"");
        std::fs::write(place.path("mine.toml"), toml).unwrap();
        let [ours, theirs] = [game, "mine"].map(|game| place.json(&["--rules", "mine.toml", "rules", game, "--json"]));
        assert_eq!(
            (&ours["fingerprint"], &ours["axes"]),
            (&theirs["fingerprint"], &theirs["axes"])
        );
    }
    let axes = &place.json(&["rules", "chess", "--json"])["axes"];
    assert_eq!(
        (&axes["fifty_moves"], &axes["promote_to"]),
        (&json!("true"), &json!("q,r,b,n"))
    );
}

#[test]
fn perft() {
    let place = Place::empty();
    let count = |arguments: &[&str]| place.json(&[&["perft"], arguments, &["--json"]].concat())["nodes"].clone();
    assert_eq!(count(&["chess", "4"]), json!([20, 400, 8902, 197_281]));
    assert_eq!(count(&["giveaway", "3"]), json!([20, 400, 8067]));
    assert_eq!(count(&["chess", "2", CASTLING]), json!([26, 568]));
    std::fs::write(
        place.path("small.toml"),
        "name = \"small\"\nfamily = \"chess\"\nboard = \"5x5\"\n",
    )
    .unwrap();
    place.fails(
        2,
        &["--rules", "small.toml", "perft", "small", "2"],
        &["no start position"],
    );
}

#[test]
fn moves() {
    let place = Place::empty();
    // En passant takes a piece that is not on the square it goes to.
    let moves = place.json(&["moves", "chess", "4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 1", "--json"]);
    let taking: Vec<&Value> = moves
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["captures"] != json!([]))
        .collect();
    assert_eq!(
        taking,
        [
            &json!({"move": "f4e3", "from": "f4", "to": "e3", "captures": ["e4"], "fen": "4k3/8/8/8/8/4p3/8/4K3 w - - 0 2"})
        ]
    );
    let moves = place.json(&["moves", "chess", CASTLING, "--json"]);
    let moves = moves.as_array().unwrap();
    assert_eq!(moves.len(), 26);
    let castles = moves.iter().find(|m| m["move"] == "e1g1").unwrap();
    assert_eq!(castles["fen"], "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 4 20");
    let promotion = place.json(&["moves", "chess", "8/P7/8/8/8/2k5/8/K7 w - - 0 1", "--json"]);
    let texts: Vec<&str> = promotion
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|m| m["move"].as_str())
        .collect();
    for text in ["a7a8q", "a7a8r", "a7a8b", "a7a8n"] {
        assert!(texts.contains(&text), "{texts:?}");
    }
    let text = place.text(&["moves", "chess", CASTLING]);
    assert!(
        text.contains("\nO-O    e1g1         r3k2r/8/8/8/8/8/8/R4RK1 b kq - 4 20\n"),
        "{text}"
    );
    assert!(text.contains("\nRxa8+  a1a8  a8  "), "{text}");
    let mated = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1";
    assert_eq!(place.json(&["moves", "chess", mated, "--json"]), json!([]));
}

#[test]
fn counts() {
    let place = place();
    let stats = place.json(&["stats", "chess", "KvKQ", "--json"]);
    assert_eq!(stats.as_array().unwrap().len(), 1);
    assert_eq!(stats[0]["material"], "KQvK");
    let [white, black] = [0, 1].map(|side| &stats[0]["sides"][side]);
    for (side, key, figure) in [
        (white, "wins", json!(144_508)),
        (white, "draws", json!(0)),
        (white, "losses", json!(0)),
        (white, "mated", json!(0)),
        (white, "max_win", json!(19)),
        (white, "max_loss", Value::Null),
        (white, "max_dtz", json!(19)),
        (black, "wins", json!(0)),
        (black, "draws", json!(23_048)),
        (black, "losses", json!(200_896)),
        (black, "mated", json!(364)),
        (black, "max_loss", json!(20)),
    ] {
        assert_eq!(side[key], figure, "{key}");
    }
    assert_eq!(black["histogram"][0], json!([0, 0, 364]));
    let fen = white["longest_win_fen"].as_str().unwrap();
    let line = place.json(&["line", "chess", fen, "--json"]);
    assert_eq!(
        (line["moves"].as_array().unwrap().len(), &line["result"]),
        (19, &json!("win"))
    );
    // Two kings alone: one entry, both sides.
    let kings = place.json(&["stats", "chess", "KvK", "--json"]);
    assert_eq!(kings[0]["sides"][0]["draws"], 3612);
    assert_eq!(kings[0]["sides"][1]["draws"], 3612);
    assert!(place.text(&["stats", "chess", "KQvK"]).contains("mated"));
    // A game in which nobody is mated.
    let place = Place::with_tables("giveaway", "2", "wld");
    let stats = place.json(&["stats", "giveaway", "KvK", "--json"]);
    assert!(stats[0]["sides"][0].get("mated").is_none());
    // No draughts game has the figure.
    let place = Place::with_tables("russian", "2", "wld");
    assert!(
        place.json(&["stats", "russian", "KvK", "--json"])[0]["sides"][0]
            .get("mated")
            .is_none()
    );
}

#[test]
fn probing() {
    let place = place();
    let probe = place.json(&["probe", "chess", QUEEN, "--json"]);
    assert_eq!(
        (&probe["value"], &probe["value50"], &probe["dtw"], &probe["dtz"]),
        (&json!("win"), &json!("win"), &json!(11), &json!(11))
    );
    assert_eq!(
        probe["moves"][0],
        json!({"move": "h1d5", "value": "win", "value50": "win", "dtw": 11, "dtz": 11})
    );
    // Black's king can take an unguarded queen.
    let takes = place.json(&["probe", "chess", "8/8/8/8/8/2k5/3Q4/K7 b - - 0 1", "--json"]);
    assert_eq!(
        takes["moves"][0],
        json!({"move": "c3d2", "value": "draw", "value50": "draw", "dtw": null, "dtz": null})
    );
    let text = place.text(&["probe", "chess", QUEEN]);
    for words in [
        " 1 | K . . . . . . Q |\n",
        "\nWhite to move: 8/8/8/8/8/2k5/8/K6Q w - - 0 1\nwhite mates in 6 moves (11 plies)",
        "\nQd5   h1d5  mates in 6 moves (11 plies) ",
    ] {
        assert!(text.contains(words), "{text}");
    }
    // Eleven plies are too many on top of ninety.
    let late = QUEEN.replace(" 0 1", " 90 99");
    let probe = place.json(&["probe", "chess", &late, "--json"]);
    assert_eq!(
        (&probe["value"], &probe["value50"]),
        (&json!("win"), &json!("cursed-win"))
    );
    assert!(
        place
            .text(&["probe", "chess", &late])
            .contains("white mates in 6 moves (11 plies) but for the fifty-move rule")
    );
    let mated = place.json(&["probe", "chess", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "--json"]);
    assert_eq!(
        mated,
        json!({"value": "loss", "value50": "loss", "dtw": 0, "dtz": 0, "moves": []})
    );
    assert!(
        place
            .text(&["probe", "chess", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"])
            .contains("white has won")
    );

    // Without a table of dtz nothing is known about the fifty-move rule.
    let place = Place::with_tables("chess", "KQvK", "wld,dtw");
    let probe = place.json(&["probe", "chess", QUEEN, "--json"]);
    assert!(probe.get("value50").is_none() && probe["moves"][0].get("value50").is_none());
}

#[test]
fn lines() {
    let place = place();
    let line = place.json(&["line", "chess", QUEEN, "--json"]);
    assert_eq!((&line["moves"][0], &line["result"]), (&json!("h1d5"), &json!("win")));
    assert_eq!(line["moves"].as_array().unwrap().len(), 11);
    let text = place.text(&["line", "chess", QUEEN]);
    assert!(text.contains("\n  1.  Qd5    "), "{text}");
    assert!(
        text.contains("#\n\nwhite mates in 6 moves (11 plies)\nfinal position: "),
        "{text}"
    );
}

const GAMES: &str = r#"[Event "Study"]
[SetUp "1"]
[FEN "8/8/8/8/8/2k5/8/K6Q w - - 0 1"]

1. Qd5 Kc2 2. Qd2+? {careless} Kxd2 1/2-1/2

[Event "Neither this nor a castling right is in the tables"]

1. e4 e5 2. Nf3 *

[FEN "r3k3/8/8/8/8/8/8/4K3 b q - 0 1"]

1... O-O-O *
"#;

#[test]
fn annotating() {
    let place = place();
    std::fs::write(place.path("games.pgn"), GAMES).unwrap();
    let found = place.json(&["annotate", "chess", "games.pgn", "--json"]);
    let mistake = &found[0];
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(
        (&mistake["game"], &mistake["ply"], &mistake["move"]),
        (&json!(1), &json!(3), &json!("d5d2"))
    );
    assert_eq!((&mistake["before"], &mistake["after"]), (&json!("win"), &json!("draw")));
    let probe = place.json(&["probe", "chess", mistake["fen"].as_str().unwrap(), "--json"]);
    assert_eq!(mistake["better"], probe["moves"][0]["move"]);
    let text = place.text(&["annotate", "chess", "games.pgn"]);
    assert!(text.contains("2. Qd2+ $2 {mistake: draws; "), "{text}");
    assert!(text.contains(" mates in"), "{text}");
    let again = place.run_on(&text, &["annotate", "chess", "-"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), text);
    std::fs::write(place.path("bad.pgn"), "1. e4 e5 2. Ke3 *").unwrap();
    place.fails(
        2,
        &["annotate", "chess", "bad.pgn"],
        &["bad.pgn: line 1, column 13 (game 1)", "Ke3", "not legal"],
    );
}

#[test]
fn verifying_and_headers() {
    let place = place();
    let report = place.json(&["verify", "chess", "--json"]);
    assert_eq!(report["errors"], json!([]));
    assert_eq!(report["tables"].as_array().unwrap().len(), 6);
    let info = place.json(&["info", "tables/chess/KQvK.wld.petrov", "--json"]);
    assert_eq!((&info["family"], &info["material"]), (&json!("chess"), &json!("KQvK")));
    assert_eq!(
        info["free_entries"],
        json!({"captures": false, "up_to_capture": true, "gaps": true})
    );
    assert_eq!(info["sides"][1]["mated"], 364);
    let text = place.text(&["info", "tables/chess/KQvK.dtw.petrov"]);
    assert!(
        text.contains("free: those with the side not to move in check\n"),
        "{text}"
    );
}

#[test]
fn benchmark() {
    let place = Place::with_tables("chess", "2", "wld");
    let rows = place.json(&["bench", "probe", "--game", "chess", "--seconds", "0.02", "--json"]);
    assert_eq!((&rows[0]["game"], &rows[0]["pieces"]), (&json!("chess"), &json!(2)));
}

#[test]
fn bad_positions() {
    let place = Place::empty();
    let long = "x".repeat(5000);
    let long_rank = format!("{}/8/8/8/8/8/8/8 w - - 0 1", "1k".repeat(2000));
    let long_turn = format!("8/8/8/8/8/2k5/8/K6Q {long} - - 0 1");
    for (fen, words) in [
        ("", "found 0 fields"),
        ("8/8/8/8/8/2k5/8/K6Q w - - 0", "found 5 fields"),
        ("8/8/8/8/8/2k5/8/K6Q x - - 0 1", "side to move"),
        ("8/8/8/8/8/2k5/8/6Q w - - 0 1", "does not describe 8 squares"),
        ("8/8/8/8/2k5/8/K6Q w - - 0 1", "found 7 ranks"),
        ("8/8/8/8/8/2z5/8/K6Q w - - 0 1", "found 'z'"),
        ("8/8/8/8/8/8/8/K6Q w - - 0 1", "Black has 0 kings"),
        ("8/8/8/8/8/2k5/8/K6K w - - 0 1", "White has 2 kings"),
        ("P7/8/8/8/8/2k5/8/K6Q w - - 0 1", "pawn on a8"),
        ("8/8/8/8/8/2k5/8/K6p w - - 0 1", "pawn on h1"),
        ("8/8/8/8/8/2k5/8/K6Q w KQ - 0 1", "castling"),
        ("8/8/8/8/8/2k5/8/K6Q w - e3 0 1", "en passant"),
        ("8/8/8/8/4P3/2k5/8/K7 w - e3 0 1", "en passant"),
        ("8/8/8/8/8/2k5/8/K6Q w - - -1 1", "halfmove clock"),
        ("7k/8/8/8/8/8/8/K6Q w - - 0 1", "in check"),
        (&long, "position"),
        (&long_rank, "placement"),
        (&long_turn, "side to move"),
    ] {
        for command in ["probe", "moves", "line"] {
            place.fails(2, &[command, "chess", fen, "--json"], &["position", words]);
            let error = place.run(&[command, "chess", fen]).stderr;
            assert!(error.len() < 400, "{}", error.len());
        }
        place.fails(2, &["perft", "chess", "1", fen], &["position", words]);
    }
    // Castling rights are no part of tables, whether there are any or not.
    for command in ["probe", "line"] {
        place.fails(2, &[command, "chess", CASTLING], &["position", "castling rights"]);
    }
    let answer = place.run_on(&format!("{CASTLING}\n"), &["probe", "chess", "-", "--json"]);
    assert!(String::from_utf8_lossy(&answer.stdout).starts_with("{\"error\":\"castling"));
    for what in ["KQXvK", "QvK", "KQ", "1"] {
        place.fails(2, &["gen", "chess", what], &[]);
    }
}

/// What a first user stumbled over.
#[test]
fn once_broken() {
    let place = Place::empty();
    std::fs::write(
        place.path("nowhere.toml"),
        "name = \"nowhere\"\nfamily = \"chess\"\nstart = \"-\"\n",
    )
    .unwrap();
    let axes = &place.json(&["--rules", "nowhere.toml", "rules", "nowhere", "--json"])["axes"];
    assert_eq!(axes["start"], json!("-"));
    // Far more than can be counted, and two dividers.
    place.fails(2, &["plan", "chess", "KPPPPPPPPPvK"], &["more positions than can be"]);
    place.fails(2, &["plan", "chess", "KRvKRv"], &["not a material"]);
    // Folders that link to each other end, and distances alone have counts.
    place.text(&["gen", "chess", "KRvK", "--metric", "dtz", "-q"]);
    for (link, folder) in [("tables/one", "."), ("tables/two", "../tables")] {
        std::os::unix::fs::symlink(folder, place.path(link)).unwrap();
    }
    let stats = place.json(&["stats", "chess", "KRvK", "--json"]);
    assert_eq!(
        (&stats[0]["sides"][1]["losses"], &stats[0]["sides"][1]["mated"]),
        (&json!(201_700), &json!(216))
    );
}
