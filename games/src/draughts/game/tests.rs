use std::path::Path;

use super::*;
use crate::draughts::parse::tests::{all_files, file};

fn game(name: &str) -> Game {
    Game::new(file(name))
}

/// The square of a name must be at the file and rank as White sees them, from 1.
fn check_names(name: &str, size: u32, squares: &[(&str, u8, u8)]) {
    let game = game(name);
    assert_eq!(game.board().squares(), size);
    for &(text, file, rank) in squares {
        let square = game
            .square_by_name(text)
            .unwrap_or_else(|| panic!("{name}: no square {text}"));
        let (f, r) = game.board().coordinates(square);
        let seen = if game.rules().squares == crate::draughts::SquareKind::Mirror {
            game.board().files() - f
        } else {
            f + 1
        };
        assert_eq!((seen, r + 1), (file, rank), "{name} {text}");
    }
}

#[test]
fn names_of_squares() {
    check_names("russian", 32, &[("a1", 1, 1), ("h8", 8, 8), ("c3", 3, 3), ("b8", 2, 8)]);
    let top = [("1", 2, 8), ("4", 8, 8), ("5", 1, 7), ("29", 1, 1), ("32", 7, 1)];
    check_names("english", 32, &top);
    check_names("pool", 32, &top);
    check_names(
        "international",
        50,
        &[("1", 2, 10), ("5", 10, 10), ("6", 1, 9), ("46", 1, 1), ("50", 9, 1)],
    );
    check_names("canadian", 72, &[("1", 2, 12), ("67", 1, 1), ("72", 11, 1)]);
    check_names(
        "italian",
        32,
        &[("1", 1, 8), ("4", 7, 8), ("5", 2, 7), ("29", 2, 1), ("32", 8, 1)],
    );
    check_names(
        "spanish",
        32,
        &[("1", 8, 1), ("2", 6, 1), ("4", 2, 1), ("5", 7, 2), ("32", 1, 8)],
    );
    check_names(
        "spantsireti",
        40,
        &[("a1", 1, 1), ("i1", 9, 1), ("k2", 10, 2), ("k8", 10, 8)],
    );
    check_names("turkish", 64, &[("a1", 1, 1), ("b1", 2, 1), ("h8", 8, 8)]);
    check_names("myanmar", 32, &[("h1", 8, 1), ("a8", 1, 8), ("b1", 2, 1)]);
    check_names("ghanaian", 50, &[("1", 1, 10), ("50", 10, 1)]);
    let spantsireti = game("spantsireti");
    for name in ["j1", "j2", "A1", "b1", "a9", "01", "", "a", "a1 "] {
        assert_eq!(spantsireti.square_by_name(name), None, "{name}");
    }
    assert_eq!(game("english").square_by_name("01"), None);
}

#[test]
fn names_and_squares_are_inverse() {
    for (_, file) in all_files() {
        let game = Game::new(file);
        for square in 0..=u8::MAX {
            let name = game.square_name(square);
            let playable = square < 128 && game.board().playable() >> square & 1 == 1;
            assert_eq!(
                game.square_by_name(&name),
                playable.then_some(square),
                "{} {square}",
                game.name()
            );
        }
    }
}

#[test]
fn start_positions_are_those_of_the_oracles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracle");
    let mut checked = 0;
    for (_, file) in all_files() {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{}.json", file.name))) else {
            continue;
        };
        let fen = text
            .split("\"start\":\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .unwrap();
        let game = Game::new(file);
        assert_eq!(game.parse_fen(fen).unwrap(), game.start(), "{}", game.name());
        checked += 1;
    }
    assert!(checked >= 8, "only {checked} oracles");
}

#[test]
fn numbers_of_men_at_the_start() {
    for (name, men) in [
        ("thai", 8),
        ("russian", 12),
        ("spantsireti", 15),
        ("international", 20),
        ("canadian", 30),
        ("turkish", 16),
    ] {
        let start = game(name).start();
        assert_eq!(start.men.map(u128::count_ones), [men, men], "{name}");
        assert_eq!(start.kings, [0, 0]);
    }
}

#[test]
fn finished_positions() {
    for (name, fen, winner) in [
        ("russian", "W:WKa1:B", Some(Colour::White)),
        ("russian", "B:WKa1:B", Some(Colour::White)),
        ("russian", "B:W:Bb2", Some(Colour::Black)),
        ("russian", "W:Wa1:Bb2", None),
        ("russian-giveaway", "W:WKa1:B", Some(Colour::Black)),
        ("russian-giveaway", "W:W:BKa1", Some(Colour::White)),
        ("breakthrough", "W:WK1,31:B5", Some(Colour::White)),
        ("breakthrough", "B:W31:BK5", Some(Colour::Black)),
        ("breakthrough", "B:W:BK5", Some(Colour::Black)),
        ("breakthrough", "B:W31:B5", None),
        ("ghanaian", "W:W31,32:B5", Some(Colour::White)),
        ("ghanaian", "W:WK31:B5,6", Some(Colour::Black)),
        ("ghanaian", "W:W31,32:B5,6", None),
    ] {
        let game = game(name);
        assert_eq!(game.finished(&game.parse_fen(fen).unwrap()), winner, "{name} {fen}");
    }
}
