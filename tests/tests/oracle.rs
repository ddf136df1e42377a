//! Tables of whole builds against the independent figures in `tests/oracle`.

use petrov_games::draughts::{Colour, Game, SquareSet};
use petrov_probe::{Army, Distance, Material, Metric, Prober, Tables, Value, material};
use petrov_tests::{Folder, army, game, repository};
use serde_json::{Value as Json, json};

const METRICS: [Metric; 3] = Metric::ALL;

struct Oracle {
    game: Game,
    json: Json,
    folder: Folder,
}

impl Oracle {
    fn new(name: &str) -> Self {
        let path = repository().join(format!("tests/oracle/{name}.json"));
        let json: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let game = game(name);
        let folder = Folder::with(&game, &json["max_pieces"].to_string(), &METRICS);
        // A few samples have more pieces.
        for sample in json["samples"].as_array().unwrap() {
            let position = game.parse_fen(sample["fen"].as_str().unwrap()).unwrap();
            if u64::from(material(&game, &position).pieces()) > json["max_pieces"].as_u64().unwrap() {
                folder.build(&game, &material(&game, &position).to_string(), &METRICS, 0);
            }
        }
        Self { game, json, folder }
    }

    fn squares(&self, names: &Json) -> SquareSet {
        let square = |name: &Json| self.game.square_by_name(name.as_str().unwrap()).unwrap();
        names
            .as_array()
            .unwrap()
            .iter()
            .fold(0, |set, name| set | 1 << square(name))
    }
}

/// Counts and longest distances of a slice with one side to move.
fn counts(tables: &Tables, own: Army, opp: Army, metric: Metric) -> Json {
    let wanted = Material::new(own, opp);
    let table = tables
        .iter()
        .find(|table| {
            let parts = table.header().parts();
            parts.metric == metric && parts.material == wanted.to_string()
        })
        .unwrap_or_else(|| panic!("no table {wanted}.{metric}"));
    let side = &table.header().parts().sides[usize::from(own != wanted.white())];
    let [win, draw, loss] = [Value::Win, Value::Draw, Value::Loss].map(|value| side.count(value));
    let mut counts = json!({ "positions": win + draw + loss, "win": win, "draw": draw, "loss": loss });
    if metric == Metric::Dtw {
        counts["max_win"] = json!(side.longest(Value::Win));
        counts["max_loss"] = json!(side.longest(Value::Loss));
    }
    counts
}

fn check_counts(oracle: &Oracle) -> Vec<String> {
    let tables = oracle.folder.tables();
    let mut bad = Vec::new();
    for slice in oracle.json["slices"].as_array().unwrap() {
        let count = |key: &str| slice[key].as_u64().unwrap() as u8;
        let white = army(count("wk"), count("wm"));
        let black = army(count("bk"), count("bm"));
        for (turn, own, opp) in [("w", white, black), ("b", black, white)] {
            let dtw = counts(&tables, own, opp, Metric::Dtw);
            if dtw != slice[turn] {
                bad.push(format!("{own} to move against {opp}: {dtw}, expected {}", slice[turn]));
            }
            for metric in [Metric::Wld, Metric::Dtz] {
                let other = counts(&tables, own, opp, metric);
                for key in ["win", "draw", "loss"] {
                    if other[key] != dtw[key] {
                        bad.push(format!("{own} against {opp}: {key} {} in {metric}", other[key]));
                    }
                }
            }
        }
    }
    bad
}

fn check_sample(oracle: &Oracle, prober: &Prober<Game>, sample: &Json) -> Vec<String> {
    let game = &oracle.game;
    let fen = sample["fen"].as_str().unwrap();
    let position = game.parse_fen(fen).unwrap();
    let root = prober.root(&position).unwrap_or_else(|error| panic!("{fen}: {error}"));
    let mut bad = Vec::new();
    if json!(root.value.name()) != sample["value"] || json!(root.dtw.plies()) != sample["dist"] {
        bad.push(format!("{} in {:?}, expected {sample}", root.value, root.dtw));
    }
    if prober.value(&position).unwrap() != root.value {
        bad.push("value() and root() differ".to_owned());
    }
    let mut expected: Vec<_> = sample["moves"].as_array().unwrap().iter().collect();
    for ranked in &root.moves {
        let found = expected.iter().position(|other| {
            let names = json!([other["from"], other["to"]]);
            oracle.squares(&names) == (1 << ranked.played.from | 1 << ranked.played.to)
                && (ranked.played.from == ranked.played.to
                    || game.square_name(ranked.played.from) == other["from"].as_str().unwrap())
                && oracle.squares(&other["captured"]) == ranked.played.captured
                && game.parse_fen(other["result"].as_str().unwrap()).unwrap() == ranked.after
        });
        match found {
            Some(number) => drop(expected.swap_remove(number)),
            None => bad.push(format!("{} is no move", ranked.text)),
        }
    }
    bad.extend(expected.iter().map(|missing| format!("the move {missing} is missing")));

    // Best first, and the best is worth what the position is.
    let worth = |value: Value, distance: Distance| match (value, distance) {
        (Value::Win, Distance::Plies(plies)) => 10_000 - i32::from(plies),
        (Value::Loss, Distance::Plies(plies)) => i32::from(plies) - 10_000,
        (Value::Draw, Distance::Never) => 0,
        other => panic!("{fen}: impossible {other:?}"),
    };
    let worths: Vec<i32> = root
        .moves
        .iter()
        .map(|ranked| worth(ranked.value, ranked.dtw))
        .collect();
    if !worths.is_sorted_by(|a, b| a >= b) {
        bad.push(format!("moves are not ranked: {worths:?}"));
    }
    if worths.first().is_some_and(|best| *best != worth(root.value, root.dtw)) {
        bad.push(format!("the best move is worth {}", worths[0]));
    }
    if root.moves.is_empty() && root.dtw != Distance::Plies(0) {
        bad.push("no moves, but not over".to_owned());
    }
    let kept = root.moves.iter().filter(|ranked| ranked.value == root.value);
    let distances = kept.filter_map(|ranked| ranked.dtz.plies());
    let best = match root.value {
        Value::Loss => distances.max(),
        Value::Win | Value::Draw => distances.min(),
    };
    if !root.moves.is_empty() && root.dtz.plies() != best {
        bad.push(format!("dtz {:?}, the best move's {best:?}", root.dtz));
    }

    // The line takes as long as the distance says and ends the game.
    let line = prober.line(&position).unwrap();
    if root.value == Value::Draw {
        assert!(line.is_empty(), "{fen}");
    } else {
        assert_eq!(line.len(), usize::from(root.dtw.plies().unwrap()), "{fen}");
        let end = line.last().map_or(position, |ranked| ranked.after);
        assert!(game.legal_moves(&end).is_empty(), "{fen}");
    }
    bad.into_iter().map(|what| format!("{fen}: {what}")).collect()
}

fn check(name: &str) {
    let oracle = Oracle::new(name);
    let mut bad = check_counts(&oracle);
    let tables = oracle.folder.tables();
    assert_eq!(tables.faults().count(), 0);
    let prober = tables.prober(&oracle.game).unwrap();
    let samples = oracle.json["samples"].as_array().unwrap();
    let turns: Vec<Colour> = samples
        .iter()
        .map(|sample| oracle.game.parse_fen(sample["fen"].as_str().unwrap()).unwrap().turn)
        .collect();
    assert!(turns.contains(&Colour::White) && turns.contains(&Colour::Black));
    for sample in samples {
        bad.extend(check_sample(&oracle, &prober, sample));
    }
    assert!(bad.is_empty(), "{name}:\n{}", bad.join("\n"));
}

#[test]
fn russian() {
    check("russian");
}

#[test]
fn english() {
    check("english");
}

#[test]
fn brazilian() {
    check("brazilian");
}

#[test]
fn italian() {
    check("italian");
}

#[test]
fn thai() {
    check("thai");
}

#[test]
fn turkish() {
    check("turkish");
}

#[test]
fn international() {
    check("international");
}

#[test]
fn frisian() {
    check("frisian");
}
