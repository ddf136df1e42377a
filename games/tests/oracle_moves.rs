//! Legal moves of the oracles' sample positions.

mod common;

use std::collections::BTreeSet;

use common::{oracles, squares_of};
use petrov_games::draughts::Position;

/// From, to, the pieces taken, and the position after the move.
type Listed = (String, String, BTreeSet<String>, Position);

#[test]
fn sample_positions() {
    for (game, oracle) in oracles() {
        let samples = oracle.get("samples").list();
        assert_eq!(samples.len(), 40, "{}", game.name());
        let position = |text: &str| {
            game.parse_fen(text)
                .unwrap_or_else(|error| panic!("{} {text}: {error}", game.name()))
        };
        for sample in samples {
            let fen = sample.get("fen").text();
            let before = position(fen);
            assert_eq!(position(&game.format_fen(&before)), before, "{fen}");
            let entries = sample.get("moves").list();
            let expected: Vec<Listed> = entries
                .iter()
                .map(|entry| {
                    let captured = entry.get("captured").list();
                    (
                        entry.get("from").text().to_owned(),
                        entry.get("to").text().to_owned(),
                        captured.iter().map(|name| name.text().to_owned()).collect(),
                        position(entry.get("result").text()),
                    )
                })
                .collect();
            let mut found: Vec<Listed> = game
                .legal_moves(&before)
                .iter()
                .map(|mv| {
                    (
                        game.square_name(mv.from),
                        game.square_name(mv.to),
                        squares_of(mv.captured).map(|square| game.square_name(square)).collect(),
                        game.after(&before, mv),
                    )
                })
                .collect();
            let about = || format!("{} {fen}: {found:?} instead of {expected:?}", game.name());
            assert_eq!(found.len(), expected.len(), "{}", about());
            assert!(expected.iter().all(|listed| found.contains(listed)), "{}", about());
            found.dedup();
            assert_eq!(found.len(), expected.len(), "a move is there twice: {fen}");
        }
    }
}
