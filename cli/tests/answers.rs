//! What the commands answer: the fields of their JSON documents, and words.

mod common;

use common::Place;
use serde_json::{Value, json};

const TRIANGLE: &str = "W:WKc3,Kd4:BKh4";

#[test]
fn games_and_rules() {
    let place = Place::empty();
    let games = place.json(&["games", "--json"]);
    let russian = games
        .as_array()
        .unwrap()
        .iter()
        .find(|game| game["name"] == "russian")
        .unwrap();
    assert_eq!(russian["family"], "draughts");
    assert_eq!(russian["board"], "8x8");
    assert_eq!(russian["squares"], 32);
    assert!(russian["description"].is_string());
    assert!(place.text(&["games"]).contains("italian"));

    let rules = place.json(&["rules", "russian", "--json"]);
    assert_eq!(rules["name"], "russian");
    assert_eq!(rules["fingerprint"].as_str().unwrap().len(), 32);
    assert_eq!(rules["axes"]["king_range"], "flying");
    assert_eq!(rules["axes"]["size"], "8x8");
    assert!(place.text(&["rules", "italian"]).contains("italian"));
}

#[test]
fn rule_files_add_games_that_share_tables() {
    let place = Place::with_tables("russian", "2", "wld");
    let toml = place.text(&["rules", "russian", "--toml"]);
    std::fs::write(place.path("mine.toml"), toml.replace("\"russian\"", "\"mine\"")).unwrap();
    let games = place.json(&["games", "--json", "--rules", "mine.toml"]);
    assert_eq!(games.as_array().unwrap().last().unwrap()["name"], "mine");
    let probe = place.json(&["--rules", "mine.toml", "probe", "mine", "W:WKa1:BKh8", "--json"]);
    assert_eq!(probe["value"], "loss");
}

/// Games whose rules differ in names and a reflection only.
#[test]
fn games_of_equal_rules_share_tables() {
    // The same position under the names of either game.
    let (pool, jamaican) = ("W:WK32,27:B1", "W:WK29,26:B4");
    for (built, fen, other, other_fen) in [
        ("pool", pool, "jamaican", jamaican),
        ("jamaican", jamaican, "pool", pool),
        ("spanish", "W:WK32,27:B28", "portuguese", "W:WK32,27:B28"),
        ("portuguese", "W:WK32,27:B28", "spanish", "W:WK32,27:B28"),
    ] {
        let place = Place::with_tables(built, "3", "wld,dtw");
        let before = place.files();
        let print = |game: &str| place.json(&["rules", game, "--json"])["fingerprint"].clone();
        assert_eq!(print(built), print(other));
        let figures = |game: &str| {
            let mut stats = place.json(&["stats", game, "3", "--json"]);
            for entry in stats.as_array_mut().unwrap() {
                for side in entry["sides"].as_array_mut().unwrap() {
                    // Has the game's own names.
                    side.as_object_mut().unwrap().remove("longest_win_fen");
                }
            }
            stats
        };
        assert_eq!(figures(built), figures(other));
        let [ours, theirs] = [(built, fen), (other, other_fen)].map(|(game, fen)| {
            let probe = place.json(&["probe", game, fen, "--json"]);
            let moves = probe["moves"].as_array().unwrap().iter();
            let distances: Vec<Value> = moves.map(|m| json!([m["value"], m["dtw"]])).collect();
            json!([probe["value"], probe["dtw"], distances])
        });
        assert_eq!(ours, theirs);
        assert_eq!(place.json(&["plan", other, "3", "--json"])["positions"], 0);
        let report = place.json(&["gen", other, "3", "--json"]);
        assert!(
            report["tables"]
                .as_array()
                .unwrap()
                .iter()
                .all(|table| table["built"] == false)
        );
        assert_eq!(place.files(), before);
    }
    let text = Place::empty().text(&["games"]);
    assert!(text.contains("\npool and jamaican share tables\n"), "{text}");
}

#[test]
fn perft() {
    let place = Place::empty();
    assert_eq!(
        place.json(&["perft", "russian", "5", "--json"]),
        json!({"nodes": [7, 49, 302, 1469, 7482]})
    );
    assert_eq!(
        place.json(&["perft", "russian", "1", TRIANGLE, "--json"]),
        json!({"nodes": [16]})
    );
    assert!(place.text(&["perft", "russian", "4"]).contains("1,469"));
}

#[test]
fn moves() {
    let place = Place::empty();
    // A chain over two pieces, given out of order.
    assert_eq!(
        place.json(&["moves", "russian", "W:Wc3:Bf6,d4", "--json"]),
        json!([{"move": "c3xg7", "from": "c3", "to": "g7", "captures": ["d4", "f6"], "fen": "B:Wg7:B"}])
    );
    // Numbered squares in ascending numbers: 14 before 23 though met later.
    let english = place.json(&["moves", "english", "W:W26:B23,15", "--json"]);
    assert_eq!(english[0]["captures"], json!(["15", "23"]));
    assert_eq!(place.json(&["moves", "russian", "W:Wc3:B", "--json"]), json!([]));
    assert!(place.text(&["moves", "russian", "W:Wc3:Bf6,d4"]).contains("B:Wg7:B"));
    assert!(place.text(&["moves", "russian", "B:Wc3:B"]).contains("no legal moves"));
}

#[test]
fn building() {
    let place = Place::empty();
    let plan = place.json(&["plan", "russian", "3", "--json"]);
    assert_eq!(plan["positions"], 199_520);
    assert_eq!(plan["slices"].as_array().unwrap().len(), 9);
    assert!(plan["memory_bytes"].is_u64() && plan["disk_bytes"].is_u64());
    assert!(place.files().is_empty());

    let first = place.json(&["gen", "russian", "3", "--threads", "1", "--json"]);
    assert_eq!(first["positions"], 199_520);
    for figure in ["solve_cpu_seconds", "write_cpu_seconds", "cpu_seconds", "wall_seconds"] {
        assert!(first[figure].is_f64(), "{figure}");
    }
    assert!(first["peak_memory_bytes"].is_u64());
    let tables = first["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 18);
    for table in tables {
        assert_eq!(table["built"], true);
        let path = place.path(table["path"].as_str().unwrap());
        assert_eq!(std::fs::metadata(path).unwrap().len(), table["bytes"].as_u64().unwrap());
    }
    let files = place.files();
    assert_eq!(files.len(), 18);

    let again = place.json(&["gen", "russian", "3", "--json"]);
    assert_eq!(again["positions"], 0);
    assert!(
        again["tables"]
            .as_array()
            .unwrap()
            .iter()
            .all(|table| table["built"] == false)
    );
    assert!(place.text(&["gen", "russian", "3"]).contains("nothing to build"));
    assert_eq!(place.json(&["plan", "russian", "3", "--json"])["positions"], 0);
    assert!(place.text(&["plan", "russian", "3"]).contains("nothing to build"));
    assert_eq!(place.files(), files);

    let output = place.run(&["gen", "russian", "KvKK", "--metric", "dtz", "-q"]);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    let summary = place.run(&["gen", "russian", "3", "--metric", "dtz"]);
    assert!(String::from_utf8_lossy(&summary.stdout).contains("built 7 tables"));
    assert!(String::from_utf8_lossy(&summary.stderr).contains("7 tables of dtz to build (2 there already)"));
}

/// Every slice of the independent figures up to three pieces.
#[test]
fn stats_equal_independent_figures() {
    let oracle = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracle/russian.json");
    let oracle: Value = serde_json::from_slice(&std::fs::read(oracle).unwrap()).unwrap();
    let place = Place::with_tables("russian", "3", "wld,dtw");
    let stats = place.json(&["stats", "russian", "3", "--json"]);
    assert_eq!(stats.as_array().unwrap().len(), 9);
    let mut compared = 0;
    for slice in oracle["slices"].as_array().unwrap() {
        let count = |key: &str| slice[key].as_u64().unwrap() as usize;
        let army = |kings: &str, men: &str| "K".repeat(count(kings)) + &"M".repeat(count(men));
        let material = format!("{}v{}", army("wk", "wm"), army("bk", "bm"));
        // Of two materials that differ in colours the other is in the list.
        let Some(found) = stats
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["material"] == material.as_str())
        else {
            continue;
        };
        for (number, (key, colour)) in [("w", "white"), ("b", "black")].into_iter().enumerate() {
            let (side, expected) = (&found["sides"][number], &slice[key]);
            assert_eq!(side["to_move"], colour);
            for (ours, theirs) in [
                ("positions", "positions"),
                ("wins", "win"),
                ("draws", "draw"),
                ("losses", "loss"),
                ("max_win", "max_win"),
                ("max_loss", "max_loss"),
            ] {
                assert_eq!(side[ours], expected[theirs], "{material} {key} {ours}");
            }
            let sum = |column: usize| -> u64 {
                let rows = side["histogram"].as_array().unwrap().iter();
                rows.map(|row| row[column].as_u64().unwrap()).sum()
            };
            assert_eq!(
                (json!(sum(1)), json!(sum(2))),
                (side["wins"].clone(), side["losses"].clone())
            );
            assert!(side.get("max_dtz").is_none());
            let fen = side["longest_win_fen"].as_str().unwrap();
            assert_eq!(fen.starts_with("W:"), colour == "white");
            let probe = place.json(&["probe", "russian", fen, "--json"]);
            assert_eq!((&probe["value"], &probe["dtw"]), (&json!("win"), &side["max_win"]));
            compared += 1;
        }
    }
    assert_eq!(compared, 18);
}

#[test]
fn stats_follow_the_tables_that_are_there() {
    let place = Place::with_tables("russian", "2", "wld,dtz");
    let stats = place.json(&["stats", "russian", "MvK", "--json"]);
    assert_eq!(stats[0]["material"], "KvM");
    let white = &stats[0]["sides"][0];
    for absent in ["max_win", "max_loss", "histogram", "longest_win_fen"] {
        assert!(white.get(absent).is_none(), "{absent}");
    }
    assert_eq!(white["max_dtz"], 2);
    place.fails(
        3,
        &["stats", "russian", "3"],
        &["russian/KKvK.wld", "missing", "petrov gen"],
    );

    let place = Place::with_tables("russian", "2", "dtw");
    let stats = place.json(&["stats", "russian", "KvM", "--json"]);
    assert_eq!(stats[0]["sides"][0]["wins"], 746);
    assert_eq!(stats[0]["sides"][0]["max_loss"], Value::Null);
    assert!(stats[0]["sides"][0].as_object().unwrap().contains_key("max_loss"));
    assert!(
        place
            .text(&["stats", "russian", "KvM"])
            .contains("longest win, white to move (7 plies): W:")
    );
}

#[test]
fn probing() {
    let place = Place::with_tables("russian", "3", "wld,dtw");
    let probe = place.json(&["probe", "russian", "B:WKc3,e1:BKb4", "--json"]);
    assert_eq!(
        probe,
        json!({"value": "loss", "dtw": 2, "moves": [{"move": "b4xd2", "value": "loss", "dtw": 2}]})
    );
    let draw = place.json(&["probe", "russian", "W:WKa1:BKa5", "--json"]);
    assert_eq!((&draw["value"], &draw["dtw"]), (&json!("draw"), &Value::Null));
    assert!(draw.as_object().unwrap().contains_key("dtw"));
    assert!(draw.get("dtz").is_none());

    let text = place.text(&["probe", "russian", "B:WKc3,e1:BKb4"]);
    assert!(text.contains(" 3 | .   W   .   .   |"), "{text}");
    assert!(text.contains("white wins in 1 move (2 plies)"), "{text}");
    assert!(text.contains("b4xd2  loses in 1 move (2 plies)"), "{text}");
    let over = place.json(&["probe", "russian", "B:WKc3:B", "--json"]);
    assert_eq!((&over["value"], &over["moves"]), (&json!("loss"), &json!([])));
    assert!(place.text(&["probe", "russian", "B:WKc3:B"]).contains("white has won"));

    // Without a table its keys are absent.
    let place = Place::with_tables("russian", "2", "wld,dtz");
    let probe = place.json(&["probe", "russian", "W:WKa1:BKh8", "--json"]);
    assert!(probe.get("dtw").is_none() && probe["dtz"].is_u64());
    assert!(probe["moves"][0].get("dtw").is_none() && probe["moves"][0]["dtz"].is_u64());
}

#[test]
fn lines() {
    let place = Place::with_tables("russian", "3", "wld,dtw");
    let stats = place.json(&["stats", "russian", "KKvM", "--json"]);
    let fen = stats[0]["sides"][0]["longest_win_fen"].as_str().unwrap();
    let line = place.json(&["line", "russian", fen, "--json"]);
    assert_eq!(line["result"], "win");
    assert_eq!(
        line["moves"].as_array().unwrap().len() as u64,
        stats[0]["sides"][0]["max_win"].as_u64().unwrap()
    );
    let probe = place.json(&["probe", "russian", fen, "--json"]);
    assert_eq!(line["moves"][0], probe["moves"][0]["move"]);
    let text = place.text(&["line", "russian", "B:WKc3,e1:BKb4"]);
    assert!(text.contains("  1.  ...    b4xd2"), "{text}");
    assert!(text.contains("white wins in 1 move (2 plies)"), "{text}");
    assert_eq!(
        place.json(&["line", "russian", "W:WKa1:BKa5", "--json"]),
        json!({"moves": [], "result": "draw"})
    );
    let place = Place::with_tables("russian", "2", "wld");
    place.fails(
        3,
        &["line", "russian", "W:WKa1:BKh8", "--json"],
        &["needs a table of distances"],
    );
}

#[test]
fn headers() {
    let place = Place::with_tables("russian", "2", "wld,dtw");
    let info = place.json(&["info", "tables/russian/KvM.dtw.petrov", "--json"]);
    assert_eq!(
        (&info["game"], &info["material"], &info["metric"]),
        (&json!("russian"), &json!("KvM"), &json!("dtw"))
    );
    assert_eq!(
        info["fingerprint"],
        place.json(&["rules", "russian", "--json"])["fingerprint"]
    );
    assert_eq!(info["sides"].as_array().unwrap().len(), 2);
    assert_eq!(info["sides"][0]["wins"], 746);
    assert!(
        place
            .text(&["info", "tables/russian/KvM.dtw.petrov"])
            .contains("black to move")
    );
}

#[test]
fn folders_of_tables() {
    let place = Place::with_tables("russian", "2", "wld");
    std::fs::rename(place.path("tables"), place.path("elsewhere")).unwrap();
    let probe = ["probe", "russian", "W:WKa1:BKh8"];
    place.fails(3, &probe, &["missing"]);
    assert!(
        place
            .run_with("PETROV_TABLES", "nothing:elsewhere", &probe)
            .status
            .success()
    );
    let option = [
        "probe",
        "russian",
        "W:WKa1:BKh8",
        "--tables",
        "nothing",
        "--tables",
        "elsewhere",
    ];
    assert!(place.run_with("PETROV_TABLES", "nothing", &option).status.success());
    // The option replaces the variable.
    let option = ["probe", "russian", "W:WKa1:BKh8", "--tables", "nothing"];
    assert_eq!(
        place.run_with("PETROV_TABLES", "elsewhere", &option).status.code(),
        Some(3)
    );
}

#[test]
fn benchmark() {
    let place = Place::with_tables("russian", "3", "wld");
    let command = [
        "bench",
        "probe",
        "--seconds",
        "0.05",
        "--threads",
        "1,2",
        "--unpack",
        "--json",
    ];
    let rows = place.json(&command);
    let rows = rows.as_array().unwrap();
    let mut expected = Vec::new();
    for positions in ["random", "games"] {
        for threads in [1, 2] {
            expected.extend(["cold", "warm", "unpacked"].map(|state| (positions, threads, state)));
        }
        expected.push((positions, 1, "disk"));
    }
    assert_eq!(rows.len(), expected.len());
    for (row, (positions, threads, state)) in rows.iter().zip(expected) {
        assert_eq!(
            (&row["game"], &row["pieces"], &row["metric"]),
            (&json!("russian"), &json!(3), &json!("wld"))
        );
        assert_eq!((&row["positions"], &row["state"]), (&json!(positions), &json!(state)));
        let warm = ["warm", "unpacked"].contains(&state);
        assert_eq!((&row["threads"], &row["warm"]), (&json!(threads), &json!(warm)));
        assert!(row["probes_per_second"].as_f64().unwrap() > 0.0);
        let times = ["p50_ns", "p90_ns", "p99_ns", "p999_ns"].map(|field| row[field].as_u64().unwrap());
        assert!(times.is_sorted() && times[0] > 0, "{times:?}");
        let hits = row["hit_rate"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&hits));
        assert!(!warm || hits == 1.0);
        assert_eq!(row["decoded"] == 0, hits == 1.0);
    }
    // What contracts name comes first: one thread, random positions, cold and warm.
    let few = place.json(&["bench", "probe", "--seconds", "0.01", "--random", "--json"]);
    assert_eq!((&few[0]["warm"], &few[1]["warm"]), (&json!(false), &json!(true)));
    assert!(few.as_array().unwrap().iter().all(|row| row["positions"] == "random"));
    place.fails(2, &["bench", "probe", "--threads", "1,0"], &["--threads"]);
    assert!(
        place
            .text(&["bench", "probe", "--seconds", "0.01", "--pieces", "2"])
            .contains("warm")
    );
}

#[test]
fn help_version_and_completions() {
    let place = Place::empty();
    for command in [
        "games",
        "rules",
        "perft",
        "moves",
        "plan",
        "gen",
        "stats",
        "probe",
        "line",
        "annotate",
        "info",
        "completions",
    ] {
        let help = place.text(&[command, "--help"]);
        let examples = help.split("Examples:").nth(1).unwrap_or_default();
        assert!(examples.matches(&format!("petrov {command}")).count() >= 2, "{command}");
    }
    assert!(place.text(&["bench", "probe", "--help"]).contains("Examples:"));
    let version = place.text(&["--version"]);
    assert!(
        version.contains(env!("CARGO_PKG_VERSION")) && version.contains("table format 1"),
        "{version}"
    );
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.text(&["completions", shell]).contains("petrov"));
    }
}
