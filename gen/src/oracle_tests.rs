//! Counts and longest distances against independent figures.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use petrov_games::Bits;
use petrov_games::draughts::{Game, Games, Generator};
use petrov_probe::{Army, Material, Metric, View};
use serde_json::Value as Json;

use crate::slice::SliceSolver;
use crate::solved::Solved;
use crate::summary::Summary;

fn solve<B: Bits>(game: &Game, pieces: u8, metric: Metric) -> Solved<B> {
    let generator = Arc::new(Generator::<B>::new(game.rules(), game.board()));
    let mut solved = Solved::new(generator.clone());
    let mut solver = SliceSolver::new(game.rules(), game.board(), generator);
    for pieces in 2..=pieces {
        for material in Material::with_pieces(pieces) {
            solver.solve(material, metric, &mut solved, &AtomicU64::new(0));
        }
    }
    solved
}

fn check(name: &str) {
    let text = std::fs::read_to_string(format!("{}/../tests/oracle/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let oracle: Json = serde_json::from_str(&text).unwrap();
    let rules = std::fs::read_to_string(format!("{}/../games/rules/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let game = &Game::new(petrov_games::draughts::RuleFile::parse(&rules).unwrap());
    let pieces = oracle["max_pieces"].as_u64().unwrap() as u8;
    let dtw = solve::<u64>(game, pieces, Metric::Dtw);
    let wld = solve::<u64>(game, pieces, Metric::Wld);
    let mut bad = Vec::new();
    for slice in oracle["slices"].as_array().unwrap() {
        let count = |key: &str| slice[key].as_u64().unwrap() as u8;
        let white = Army {
            men: count("wm"),
            kings: count("wk"),
        };
        let black = Army {
            men: count("bm"),
            kings: count("bk"),
        };
        for (side, (own, opp)) in [("w", (white, black)), ("b", (black, white))] {
            let expected = &slice[side];
            let summary = Summary::of(dtw.get(own, opp).unwrap());
            let (wins, max_win) = summary.total(|score| score.is_win());
            let (losses, max_loss) = summary.total(|score| score.is_loss());
            let (draws, _) = summary.total(|score| score.is_draw());
            let quick = Summary::of(wld.get(own, opp).unwrap());
            let wld = [
                quick.total(|s| s.is_win()).0,
                quick.total(|s| s.is_draw()).0,
                quick.total(|s| s.is_loss()).0,
            ];
            let got = serde_json::json!({"positions": wins + draws + losses, "win": wins, "draw": draws,
                "loss": losses, "max_win": max_win, "max_loss": max_loss});
            if got != *expected || wld != [wins, draws, losses] {
                bad.push(format!("{own}v{opp} {got} {expected} {wld:?}"));
            }
        }
    }
    assert!(bad.is_empty(), "{name}: {}", bad.join("\n"));
    let _ = View::White;
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

/// Times one solve: `BENCH=english,KKKvKKK cargo test --release -p petrov-gen timing -- --nocapture`.
#[test]
fn timing() {
    let Ok(what) = std::env::var("BENCH") else { return };
    let (name, what) = what.split_once(',').unwrap();
    let games = Games::built_in();
    let game = games.get(name).unwrap();
    let generator = Arc::new(Generator::<u64>::new(game.rules(), game.board()));
    let mut solved = Solved::new(generator.clone());
    let mut solver = SliceSolver::new(game.rules(), game.board(), generator);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let materials: Vec<Material> = match what.parse::<u8>() {
        Ok(pieces) => (2..=pieces).flat_map(Material::with_pieces).collect(),
        Err(_) => {
            let top: Material = what.parse().unwrap();
            (2..=top.pieces())
                .flat_map(Material::with_pieces)
                .filter(|m| {
                    m.men() == 0
                        && m.white().kings <= top.white().kings
                        && m.black().kings <= top.black().kings.max(top.white().kings)
                })
                .collect()
        }
    };
    let start = std::time::Instant::now();
    let mut last = 0.0;
    let mut total = 0;
    let mut by_pieces = 0.0;
    let mut n = 2;
    pool.install(|| {
        for material in materials {
            if material.pieces() != n {
                println!("== {n} pieces {by_pieces:.2}s");
                by_pieces = 0.0;
                n = material.pieces();
            }
            solver.solve(material, Metric::Wld, &mut solved, &AtomicU64::new(0));
            let positions: u64 = material
                .views()
                .iter()
                .map(|v| {
                    let (a, b) = material.armies(*v);
                    solved.get(a, b).unwrap().index.unfolded()
                })
                .sum();
            let now = start.elapsed().as_secs_f64();
            total += positions;
            by_pieces += now - last;
            if now - last > 0.05 {
                println!(
                    "{material} {positions} {:.3}s {:.1} M/s",
                    now - last,
                    positions as f64 / (now - last) / 1e6
                );
            }
            last = now;
        }
    });
    println!(
        "== {n} pieces {by_pieces:.2}s; total {total} {last:.2}s {:.1} M/s",
        total as f64 / last / 1e6
    );
}
