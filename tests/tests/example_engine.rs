//! The example engine wins every won ending with tables; `scripts/check-engine` plays many more.

#[path = "../../probe/examples/engine.rs"]
mod engine;

use petrov_probe::Metric;
use petrov_tests::{Folder, game};

fn check(name: &str) {
    let game = game(name);
    let folder = Folder::with(&game, "4", &Metric::ALL);
    let prober = folder.tables().prober(&game).unwrap();
    let score = engine::play_endings(&prober, 120, 2, 8).unwrap();
    assert_eq!(score.games, 120);
    assert_eq!(score.with_tables, score.games, "{name}: {score:?}");
    // Else the endings would be too easy to show anything.
    assert!(score.without_tables < score.games, "{name}: {score:?}");
}

#[test]
fn russian() {
    check("russian");
}

#[test]
fn english() {
    check("english");
}
