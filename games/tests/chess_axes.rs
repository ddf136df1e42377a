//! Every axis of the chess family by its edge cases, and that every axis
//! changes something.

mod chess_common;

use std::collections::BTreeSet;

use chess_common::Chance;
use petrov_games::Games;
use petrov_games::chess::{Game, Kind, Kinds, Outcome, RuleFile, Symmetry};

fn with(lines: &str) -> Game {
    let text = format!("name = \"test\"\nfamily = \"chess\"\n{lines}");
    Game::new(RuleFile::parse(&text).unwrap_or_else(|error| panic!("{error}: {lines}")))
}

fn named(name: &str) -> Game {
    Games::built_in().chess(name).unwrap().clone()
}

/// The legal moves in UCI notation that start on a square.
fn from(game: &Game, fen: &str, square: &str) -> Vec<String> {
    let position = game.parse_fen(fen).unwrap_or_else(|error| panic!("{error}: {fen}"));
    let moves: BTreeSet<String> = game
        .legal_moves(&position)
        .iter()
        .map(|played| game.uci(played))
        .collect();
    moves.into_iter().filter(|text| text.starts_with(square)).collect()
}

fn targets(game: &Game, fen: &str, square: &str) -> String {
    let moves = from(game, fen, square);
    let targets: Vec<&str> = moves.iter().map(|text| &text[2..]).collect();
    targets.join(" ")
}

/// The result for the side to move of a finished position.
fn ended(game: &Game, fen: &str) -> Option<(Outcome, bool)> {
    let position = game.parse_fen(fen).unwrap_or_else(|error| panic!("{error}: {fen}"));
    let ending = game.ending(&position)?;
    Some((ending.outcome, ending.mated))
}

#[test]
fn aura() {
    let (chess, aura) = (named("chess"), named("e-chess"));
    let fen = "4k3/4P3/4K3/8/8/8/8/8 b - - 0 1";
    assert_eq!(ended(&chess, fen), Some((Outcome::Draw, false)));
    assert_eq!(ended(&aura, fen), Some((Outcome::Loss, true)));
    // All three squares, both ways of moving; the double step stays straight.
    assert_eq!(targets(&aura, "7k/8/8/8/8/3p4/4P3/4K3 w - - 0 1", "e2"), "d3 e3 e4 f3");
    assert_eq!(targets(&aura, "7k/8/8/8/8/4p3/4P3/3K4 w - - 0 1", "e2"), "d3 e3 f3");
    assert_eq!(targets(&aura, "7k/8/8/8/4n3/8/4P3/3K4 w - - 0 1", "e2"), "d3 e3 f3");
    // A knight's move away is not beside.
    assert_eq!(targets(&aura, "7k/8/8/8/8/8/4P3/2K5 w - - 0 1", "e2"), "e3 e4");
    // A king's move gives check: the pawn then attacks straight ahead.
    let position = aura.parse_fen("8/4k3/4P3/8/4K3/8/8/8 w - - 0 1").unwrap();
    let legal = aura.legal_moves(&position);
    let played = aura.parse_uci(&position, "e4e5").unwrap();
    assert_eq!(aura.san(&position, &played, &legal), "Ke5+");
    // Any arrival promotes.
    assert_eq!(from(&aura, "7k/4P3/4K3/8/8/8/8/8 w - - 0 1", "e7").len(), 12);
}

#[test]
fn aura_and_en_passant() {
    let aura = named("e-chess");
    let fen = "7k/8/8/3pP3/4K3/8/8/8 w - d6 0 1";
    let position = aura.parse_fen(fen).unwrap();
    assert_eq!(aura.fen(&position), fen);
    let played = aura.parse_uci(&position, "e5d6").unwrap();
    assert_eq!(played.captured, aura.square_by_name("d5"));
    // The same step without the right takes nothing.
    let position = aura.parse_fen("7k/8/8/3pPK2/8/8/8/8 w - - 0 1").unwrap();
    assert_eq!(aura.parse_uci(&position, "e5d6").unwrap().captured, None);
    // Where no pawn may take there is no right, and the step is an ordinary
    // one: taking f5 would open the rank to the rook.
    let position = aura.parse_fen("7k/8/8/3KPp1r/8/8/8/8 w - f6 0 1").unwrap();
    assert_eq!(aura.fen(&position), "7k/8/8/3KPp1r/8/8/8/8 w - - 0 1");
    assert_eq!(aura.parse_uci(&position, "e5f6").unwrap().captured, None);
}

#[test]
fn backward_capture() {
    let game = named("chess-pawns-capture-back");
    assert_eq!(targets(&game, "k7/8/8/4P3/3r1b2/8/8/K7 w - - 0 1", "e5"), "d4 e6 f4");
    // Not behind its start rank; on it again it steps twice.
    assert_eq!(targets(&game, "k7/8/8/8/8/8/4P3/K2r4 w - - 0 1", "e2"), "");
    assert_eq!(targets(&game, "k7/8/8/8/8/8/4P3/1K1n4 w - - 0 1", "e2"), "e3 e4");
    assert_eq!(targets(&game, "k7/8/8/8/8/4P3/3n4/K7 w - - 0 1", "e3"), "d2 e4");
    // It attacks backward.
    let position = game.parse_fen("8/8/8/4P3/3k4/8/8/K7 b - - 0 1").unwrap();
    assert!(game.in_check(&position));
    // En passant only forward.
    assert_eq!(
        targets(&game, "k7/2P5/8/3p4/8/8/8/K7 w - d6 0 1", "c7"),
        "c8b c8n c8q c8r"
    );
    let both = with("pawn_backward_capture = true\npawn_first_capture = false");
    assert_eq!(targets(&both, "k7/8/8/8/8/3n4/4P3/K7 w - - 0 1", "e2"), "e3 e4");
    assert_eq!(targets(&both, "k7/8/8/8/8/4P3/3n4/K7 w - - 0 1", "e3"), "d2 e4");
}

#[test]
fn first_capture() {
    let game = named("chess-no-first-capture");
    assert_eq!(targets(&game, "k7/8/8/8/8/3n4/4P3/K7 w - - 0 1", "e2"), "e3 e4");
    assert_eq!(targets(&game, "k7/8/8/8/3n4/4P3/8/K7 w - - 0 1", "e3"), "d4 e4");
    // Nor does it attack.
    let position = game.parse_fen("8/8/8/8/8/3k4/4P3/K7 b - - 0 1").unwrap();
    assert!(!game.in_check(&position));
}

#[test]
fn berolina() {
    let game = named("berolina");
    assert_eq!(
        targets(&game, "k7/8/8/8/8/4n3/4P3/K7 w - - 0 1", "e2"),
        "c4 d3 e3 f3 g4"
    );
    assert_eq!(targets(&game, "k7/8/8/8/8/3n4/4P3/K7 w - - 0 1", "e2"), "f3 g4");
    assert_eq!(targets(&game, "7k/8/8/8/8/8/P6P/K7 w - - 0 1", "a2"), "b3 c4");
    assert_eq!(targets(&game, "k7/8/8/8/8/8/P6P/K7 w - - 0 1", "h2"), "f4 g3");
    let position = game.parse_fen("8/8/8/4k3/4P3/8/8/K7 b - - 0 1").unwrap();
    assert!(game.in_check(&position));
    assert!(game.parse_fen("k7/8/8/3pP3/8/8/8/K7 w - d6 0 1").is_err());
}

#[test]
fn double_step_and_en_passant() {
    let game = with("board = \"6x5\"\ndouble_step = \"start\"");
    // Both sides' pawns meet on their start ranks.
    assert_eq!(targets(&game, "k5/1p4/6/6/K5 b - - 0 1", "b4"), "b2 b3");
    let position = game.parse_fen("k5/1p4/6/2P3/K5 b - - 0 1").unwrap();
    let next = game.after(&position, &game.parse_uci(&position, "b4b2").unwrap());
    assert_eq!(game.fen(&next), "k5/6/6/1pP3/K5 w - b3 0 2");
    let chess = named("chess");
    // The right is printed only where it can be used: here the pawn is pinned.
    let position = chess.parse_fen("8/8/8/8/k2Pp2Q/8/8/K7 b - d3 0 1").unwrap();
    assert_eq!(chess.fen(&position), "8/8/8/8/k2Pp2Q/8/8/K7 b - - 0 1");
    assert!(
        with("en_passant = false")
            .parse_fen("8/8/8/8/k2Pp3/8/8/K7 b - d3 0 1")
            .is_err()
    );
    // Passing a rank where the other side promotes.
    let early = with("promotion_rank = 6");
    assert_eq!(
        targets(&early, "k7/8/8/3pP3/8/8/8/K7 w - d6 0 1", "e5"),
        "d6b d6n d6q d6r e6b e6n e6q e6r"
    );
}

#[test]
fn promotion() {
    let game = named("chess-promote-by-file");
    assert_eq!(targets(&game, "k2n4/4P3/8/8/8/8/8/K7 w - - 0 1", "e7"), "d8q e8q");
    assert_eq!(targets(&game, "8/8/8/8/k7/8/1p6/4K3 b - - 0 1", "b2"), "b1n");
    let makruk = named("makruk");
    assert_eq!(targets(&makruk, "k7/8/3n4/4P3/8/8/8/K7 w - - 0 1", "e5"), "d6q e6q");
    assert_eq!(targets(&makruk, "k7/8/8/8/3p4/8/8/K7 b - - 0 1", "d4"), "d3q");
    let knights = with("promote_to = \"n\"");
    assert_eq!(targets(&knights, "k7/4P3/8/8/8/8/8/K7 w - - 0 1", "e7"), "e8n");
}

#[test]
fn stalemates() {
    let fen = "7k/8/6Q1/8/8/8/8/K7 b - - 0 1";
    for (value, outcome) in [
        ("draw", Outcome::Draw),
        ("loses", Outcome::Loss),
        ("wins", Outcome::Win),
        ("fewer-wins", Outcome::Win),
    ] {
        let game = with(&format!("stalemate = \"{value}\""));
        assert_eq!(ended(&game, fen), Some((outcome, false)), "{value}");
    }
    let suicide = with("goal = \"lose-all\"\nstalemate = \"fewer-wins\"");
    assert_eq!(
        ended(&suicide, "8/8/8/p7/P7/8/8/8 w - - 0 1"),
        Some((Outcome::Draw, false))
    );
    assert_eq!(
        ended(&suicide, "8/8/8/p7/P7/8/8/n7 w - - 0 1"),
        Some((Outcome::Win, false))
    );
    assert_eq!(
        ended(&suicide, "8/8/p7/P7/p7/P7/8/n7 w - - 0 1"),
        Some((Outcome::Win, false))
    );
    assert_eq!(ended(&suicide, "8/8/8/p7/P7/p7/P7/n7 b - - 0 1"), None);
}

#[test]
fn lose_all() {
    let game = named("giveaway");
    // Captures are compulsory, kings may be taken and be made.
    assert_eq!(from(&game, "8/8/8/8/8/2k5/1p6/K6R w - - 0 1", ""), ["a1b2"]);
    assert_eq!(from(&game, "8/4P3/8/8/8/8/8/7k w - - 0 1", "e7").len(), 5);
    // En passant is a capture as others.
    assert_eq!(from(&game, "8/8/8/3pP3/8/8/8/N7 w - d6 0 1", ""), ["e5d6"]);
    // No piece or no move is a win; the last piece lost wins for its side.
    assert_eq!(ended(&game, "8/8/8/8/8/8/8/7k w - - 0 1"), Some((Outcome::Win, false)));
    assert_eq!(ended(&game, "8/8/8/8/8/8/8/7k b - - 0 1"), Some((Outcome::Loss, false)));
    assert_eq!(ended(&game, "8/8/8/p7/P7/8/8/8 w - - 0 1"), Some((Outcome::Win, false)));
    assert_eq!(ended(&game, "kk6/8/8/8/8/8/8/KK6 w - - 0 1"), None);
    assert!(game.parse_fen("8/8/8/8/8/8/8/8 w - - 0 1").is_err());
}

#[test]
fn bare_kings() {
    let game = named("shatranj");
    assert_eq!(
        ended(&game, "k7/8/8/8/8/8/8/K6R w - - 0 1"),
        Some((Outcome::Win, false))
    );
    assert_eq!(
        ended(&game, "k7/8/8/8/8/8/8/K6R b - - 0 1"),
        Some((Outcome::Loss, false))
    );
    assert_eq!(
        ended(&game, "k7/8/8/8/8/8/8/K7 b - - 0 1"),
        Some((Outcome::Draw, false))
    );
    // A legal capture that leaves two kings saves the game, others do not.
    assert_eq!(
        ended(&game, "k7/1R6/8/8/8/8/8/K7 b - - 0 1"),
        Some((Outcome::Draw, false))
    );
    assert_eq!(
        ended(&game, "k7/1R6/2K5/8/8/8/8/8 b - - 0 1"),
        Some((Outcome::Loss, false))
    );
    assert_eq!(
        ended(&game, "k7/1R6/8/8/8/8/8/K6N b - - 0 1"),
        Some((Outcome::Loss, false))
    );
    // Baring comes before mate.
    assert_eq!(
        ended(&game, "k7/1R6/1K6/8/8/8/8/R7 b - - 0 1"),
        Some((Outcome::Loss, false))
    );
}

#[test]
fn relay() {
    let game = named("knight-relay");
    // The pinned knight relays, to rook and bishop but not to king and pawn.
    let fen = "k7/8/8/r2N3K/8/4R3/8/8 w - - 0 1";
    assert!(from(&game, fen, "e3").contains(&"e3g2".to_owned()));
    assert_eq!(targets(&game, fen, "d5"), "");
    assert!(!from(&game, "k7/8/8/3N4/8/4K3/8/8 w - - 0 1", "e3").contains(&"e3g2".to_owned()));
    assert_eq!(targets(&game, "k7/8/8/3N4/8/4P3/8/K7 w - - 0 1", "e3"), "e4");
    // A relayed piece relays nothing: the queen on f1 has no knight near.
    let fen = "k7/8/8/3N4/8/4R3/8/K4Q2 w - - 0 1";
    assert!(!from(&game, fen, "f1").contains(&"f1g3".to_owned()));
    // It gives check.
    let position = game.parse_fen("8/8/8/3N4/8/4R3/6k1/K7 b - - 0 1").unwrap();
    assert!(game.in_check(&position));
}

#[test]
fn pairs_of_bishops() {
    let path = with("pair_bishop = \"hop\"");
    let line = |game: &Game, fen: &str, square: &str, file: char| {
        let moves = from(game, fen, square);
        let on_file: Vec<&str> = moves
            .iter()
            .map(|text| &text[2..])
            .filter(|to| to.starts_with(file))
            .collect();
        on_file.join(" ")
    };
    let fen = "8/k7/8/4B3/4B3/8/8/K7 w - - 0 1";
    assert_eq!(line(&path, fen, "e4", 'e'), "e2 e6 e8");
    assert_eq!(line(&path, fen, "e5", 'e'), "e1 e3 e7");
    // An enemy on an odd square is in the way, on an even one it is taken.
    assert_eq!(line(&path, "8/k3n3/8/4B3/4B3/8/8/K7 w - - 0 1", "e4", 'e'), "e2 e6");
    assert_eq!(line(&path, "8/k7/4n3/4B3/4B3/8/8/K7 w - - 0 1", "e4", 'e'), "e2 e6");
    // Only the partner is jumped over.
    assert_eq!(line(&path, "8/k7/4B3/4B3/4B3/8/8/K7 w - - 0 1", "e4", 'e'), "e2");
    let blocks = with("pair_bishop = \"hop\"\npair_partner = \"blocks\"");
    assert_eq!(line(&blocks, fen, "e4", 'e'), "e2");
    let whole = with("pair_bishop = \"hop\"\npair_line = \"whole\"");
    assert_eq!(line(&whole, fen, "e4", 'e'), "e2 e6 e8");
    assert_eq!(line(&whole, "8/k7/8/4B3/4B3/8/8/K3n3 w - - 0 1", "e4", 'e'), "");
    let quiet = with("pair_bishop = \"hop\"\npair_capture = false");
    assert_eq!(line(&quiet, "8/k7/4n3/4B3/4B3/8/8/K7 w - - 0 1", "e4", 'e'), "e2");
    // Pair squares are attacked where they may be taken on.
    for (game, check) in [(&path, true), (&blocks, false), (&whole, false), (&quiet, false)] {
        let position = game.parse_fen("4k3/8/8/4B3/4B3/8/8/K7 b - - 0 1").unwrap();
        assert_eq!(game.in_check(&position), check, "{}", game.rule_file().to_toml());
    }
    // Bishops that touch at a corner are no pair.
    assert_eq!(line(&path, "8/k7/8/5B2/4B3/8/8/K7 w - - 0 1", "e4", 'e'), "");
}

#[test]
fn pairs_of_rooks() {
    let game = with("pair_rook = \"slide\"");
    let fen = "k7/8/8/5R2/4R3/8/8/K7 w - - 0 1";
    let moves = from(&game, fen, "e4");
    for to in ["b1", "c2", "d3", "g6", "h7"] {
        assert!(moves.contains(&format!("e4{to}")), "{to}");
    }
    assert_eq!(moves.len(), 14 + 5);
    // Side by side they are no pair.
    assert_eq!(from(&game, "k7/8/8/8/4RR2/8/8/K7 w - - 0 1", "e4").len(), 11);
}

#[test]
fn pairs_of_knights() {
    let add = with("pair_knight = \"add\"");
    let instead = with("pair_knight = \"instead\"");
    let fen = "k7/8/8/5n2/8/4N3/2N5/K7 w - - 0 1";
    // c2 reaches a1 a3 b4 d4 e1 (and e3, its partner's square); e3 reaches
    // c4 d1 d5 f1 f5 g2 g4 (and c2).
    assert_eq!(targets(&add, fen, "c2"), "a3 b4 c4 d1 d4 d5 e1 f1 f5 g2 g4");
    assert_eq!(targets(&instead, fen, "c2"), "c4 d1 d5 f1 f5 g2 g4");
    assert_eq!(targets(&instead, fen, "e3"), "a3 b4 d4 e1");
    let quiet = with("pair_knight = \"add\"\npair_capture = false");
    assert_eq!(targets(&quiet, fen, "c2"), "a3 b4 c4 d1 d4 d5 e1 f1 g2 g4");
    // Alone it has its own moves.
    assert_eq!(
        targets(&instead, "k7/8/8/8/8/8/2N5/7K w - - 0 1", "c2"),
        "a1 a3 b4 d4 e1 e3"
    );
}

#[test]
fn pieces_of_the_user() {
    let game = with("[pieces.x]\nslides = [[1, 2]]\n[pieces.y]\nleaps_exact = [[1, 0], [0, 2]]");
    assert_eq!(
        targets(&game, "7k/8/8/8/8/8/8/XK6 w - - 0 1", "a1"),
        "b3 c2 c5 d7 e3 g4"
    );
    assert_eq!(targets(&game, "k7/8/8/8/3Y4/8/8/K7 w - - 0 1", "d4"), "d6 e4");
    assert_eq!(targets(&game, "k7/8/8/8/3y4/8/8/K7 b - - 0 1", "d4"), "d2 e4");
    let makruk = named("makruk");
    assert_eq!(
        targets(&makruk, "k7/8/8/8/3B4/8/8/K7 w - - 0 1", "d4"),
        "c3 c5 d5 e3 e5"
    );
    assert_eq!(
        targets(&makruk, "k7/8/8/8/3b4/8/8/K7 b - - 0 1", "d4"),
        "c3 c5 d3 e3 e5"
    );
    let shatranj = named("shatranj");
    assert_eq!(
        targets(&shatranj, "kr6/8/8/8/3B4/8/8/K7 w - - 0 1", "d4"),
        "b2 b6 f2 f6"
    );
}

#[test]
fn symmetries() {
    let count = |game: &Game, letters: &str| {
        let kinds: Kinds = letters
            .chars()
            .map(|letter| game.rules().kind(letter).unwrap())
            .collect();
        game.generator().symmetries(kinds).len()
    };
    assert_eq!(count(&named("chess"), "kqrbn"), 8);
    assert_eq!(count(&named("chess"), "kp"), 2);
    assert_eq!(count(&named("e-chess"), "kqrbn"), 8);
    assert_eq!(count(&named("chess-promote-by-file"), "kp"), 2);
    assert_eq!(count(&with("promote_to = \"rnbqqbnn\""), "kp"), 1);
    assert_eq!(count(&with("promote_to = \"rnbqqbnn\""), "kr"), 8);
    assert_eq!(count(&named("makruk"), "kb"), 2);
    assert_eq!(count(&named("makruk"), "kqrn"), 8);
    assert_eq!(count(&with("board = \"5x4\""), "kq"), 4);
    assert_eq!(count(&with("board = \"5x4\""), "kqp"), 2);
    let lame = with("promote_to = \"qx\"\n[pieces.x]\nleaps_exact = [[1, 0]]");
    // The flip of ranks keeps a step to the right, and so it does Black's.
    assert_eq!(count(&lame, "kx"), 2);
    // A pawn may become the piece that the mirror does not keep.
    assert_eq!(count(&lame, "kp"), 1);
    assert_eq!(count(&named("giveaway"), "kp"), 2);
    assert!(
        named("chess")
            .generator()
            .symmetries(Kinds::NONE.with(Kind::PAWN))
            .contains(&Symmetry::MIRROR)
    );
}

#[test]
fn san() {
    let chess = named("chess");
    let texts = |game: &Game, fen: &str| {
        let position = game.parse_fen(fen).unwrap();
        let legal = game.legal_moves(&position);
        legal
            .iter()
            .map(|played| game.san(&position, played, &legal))
            .collect::<BTreeSet<String>>()
    };
    let found = texts(&chess, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    for text in ["O-O", "O-O-O", "Rxa8+", "Rd1", "Kd1"] {
        assert!(found.contains(text), "{text}: {found:?}");
    }
    let found = texts(&chess, "8/8/1k6/8/4Q2Q/8/8/K6Q w - - 0 1");
    for text in ["Qh4e1", "Qee1", "Q1e1", "Qd4+"] {
        assert!(found.contains(text), "{text}: {found:?}");
    }
    assert!(texts(&chess, "k7/7R/1K6/8/8/8/8/8 w - - 0 1").contains("Rh8#"));
    assert!(texts(&chess, "1n5k/P7/8/8/8/8/8/K7 w - - 0 1").contains("axb8=Q+"));
    let position = chess.parse_fen("1n5k/P7/8/8/8/8/8/K7 w - - 0 1").unwrap();
    for text in ["axb8=Q+", "axb8Q", "ab8Q", "a7xb8=Q!?", "b8=Q"] {
        assert_eq!(chess.uci(&chess.parse_san(&position, text).unwrap()), "a7b8q", "{text}");
    }
    for text in ["", "x", "O-O", "Ke9", "a8", "a8=K", "axb8", "Zb8", "é", "=Q", "axxb8=Q"] {
        assert!(chess.parse_san(&position, text).is_err(), "{text}");
        assert!(chess.parse_uci(&position, text).is_err(), "{text}");
    }
    let two = chess.parse_fen("7k/8/8/8/8/8/8/KN1N4 w - - 0 1").unwrap();
    assert!(chess.parse_san(&two, "Nc3").unwrap_err().to_string().contains("b1c3"));
    // Pawns that change files without taking.
    assert!(texts(&named("berolina"), "7k/8/8/8/8/3P1P2/8/K7 w - - 0 1").contains("de4"));
}

#[test]
fn castling() {
    let chess = named("chess");
    let can = |fen: &str| {
        from(&chess, fen, "e1")
            .into_iter()
            .filter(|m| m == "e1g1" || m == "e1c1")
            .collect::<Vec<_>>()
    };
    assert_eq!(can("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"), ["e1c1", "e1g1"]);
    // Not out of check, through check or into it; the rook may be attacked.
    assert!(can("4k3/4r3/8/8/8/8/8/R3K2R w KQ - 0 1").is_empty());
    assert_eq!(can("4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1"), ["e1c1"]);
    assert_eq!(can("2r1k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"), ["e1g1"]);
    assert_eq!(can("1r2k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"), ["e1c1", "e1g1"]);
    // Under rules of pairs the way is attacked by pairs too.
    let hop = with("pair_bishop = \"hop\"");
    assert!(!from(&hop, "4k3/8/8/8/5b2/5b2/8/4K2R w K - 0 1", "e1").contains(&"e1g1".to_owned()));
    let position = chess.parse_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 5 9").unwrap();
    let after = |text: &str| chess.fen(&chess.after(&position, &chess.parse_uci(&position, text).unwrap()));
    assert_eq!(after("e1g1"), "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 6 9");
    assert_eq!(after("a1a8"), "R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 9");
}

/// For every axis two rule sets that differ in it alone, and a position that
/// they disagree about.
#[test]
fn every_axis_matters() {
    let hop = "pair_bishop = \"hop\"\npair_rook = \"slide\"";
    let cases: [(&str, String, String); 24] = [
        (
            "board",
            String::new(),
            "board = \"8x7\"\ndouble_step = \"start\"".to_owned(),
        ),
        ("pieces", String::new(), "[pieces.n]\nleaps = [[1, 3]]".to_owned()),
        ("pawn_rank", "pawn_rank = 2".to_owned(), "pawn_rank = 3".to_owned()),
        ("pawn", String::new(), "pawn = \"berolina\"".to_owned()),
        (
            "pawn_backward_capture",
            String::new(),
            "pawn_backward_capture = true".to_owned(),
        ),
        (
            "pawn_first_capture",
            String::new(),
            "pawn_first_capture = false".to_owned(),
        ),
        ("pawn_guard", String::new(), "pawn_guard = \"aura\"".to_owned()),
        ("double_step", String::new(), "double_step = \"none\"".to_owned()),
        ("en_passant", String::new(), "en_passant = false".to_owned()),
        ("promotion_rank", String::new(), "promotion_rank = 7".to_owned()),
        ("promote_to", String::new(), "promote_to = \"q\"".to_owned()),
        ("stalemate", String::new(), "stalemate = \"wins\"".to_owned()),
        (
            "goal",
            "castling = \"none\"".to_owned(),
            "goal = \"lose-all\"".to_owned(),
        ),
        (
            "capture_compulsory",
            String::new(),
            "capture_compulsory = true".to_owned(),
        ),
        ("bare_king", String::new(), "bare_king = \"loses\"".to_owned()),
        ("relay", String::new(), "relay = \"knight\"".to_owned()),
        ("pair_bishop", String::new(), "pair_bishop = \"hop\"".to_owned()),
        ("pair_rook", String::new(), "pair_rook = \"slide\"".to_owned()),
        ("pair_knight", String::new(), "pair_knight = \"add\"".to_owned()),
        (
            "pair_knight",
            "pair_knight = \"add\"".to_owned(),
            "pair_knight = \"instead\"".to_owned(),
        ),
        ("pair_line", hop.to_owned(), format!("{hop}\npair_line = \"whole\"")),
        (
            "pair_partner",
            hop.to_owned(),
            format!("{hop}\npair_partner = \"blocks\""),
        ),
        ("pair_capture", hop.to_owned(), format!("{hop}\npair_capture = false")),
        (
            "stalemate",
            "stalemate = \"wins\"".to_owned(),
            "stalemate = \"fewer-wins\"".to_owned(),
        ),
    ];
    let mut chance = Chance(0x5eed_0004);
    for (axis, a, b) in cases {
        let (a, b) = (with(&a), with(&b));
        assert_ne!(a.fingerprint(), b.fingerprint(), "{axis}");
        let disagree = (0..200_000).any(|_| {
            let pieces = 1 + chance.below(6);
            let plain = chance.position(b.rules(), pieces);
            let fen = chess_common::Reference { rules: b.rules() }.fen(&plain);
            let view = |game: &Game| {
                game.parse_fen(&fen).ok().map(|position| {
                    let legal = game.legal_moves(&position);
                    let moves: BTreeSet<String> = legal
                        .iter()
                        .map(|played| game.uci(played) + &game.fen(&game.after(&position, played)))
                        .collect();
                    (moves, game.ending(&position).map(|ending| ending.outcome))
                })
            };
            view(&a) != view(&b)
        });
        assert!(disagree, "{axis} changes nothing");
    }
}
