use proptest::prelude::*;

use super::*;
use crate::draughts::SquareSet;
use crate::draughts::parse::tests::{all_files, file};

fn game(name: &str) -> Game {
    Game::new(file(name))
}

#[test]
fn writing_is_canonical() {
    for (name, text, written) in [
        ("russian", "W:WKa1,b2:BKh8", "W:WKa1,b2:BKh8"),
        ("russian", "W:BKh8:Wb2,Ka1.", "W:WKa1,b2:BKh8"),
        ("russian", "  B : W c3 , Ka1 :\tB b6 ,a5 . \n", "B:WKa1,c3:Ba5,b6"),
        ("russian", "B:WKh8:B", "B:WKh8:B"),
        ("russian", "B:B:WKh8", "B:WKh8:B"),
        ("russian", "W:W:Bh8.", "W:W:Bh8"),
        ("international", "B:WK32,31:BK5,1,10", "B:W31,K32:B1,K5,10"),
        ("italian", "W:W31,30:B27,20", "W:W30,31:B20,27"),
        ("spanish", "W:W5,1:BK1,K32", ""),
        ("spanish", "W:W5,1:BK2,K32", "W:W1,5:BK2,K32"),
        ("spantsireti", "W:WKk8,Ka1:Bi7", "W:WKa1,Kk8:Bi7"),
        ("turkish", "W:WKa1:Ba4,d2,d5", "W:WKa1:Bd2,a4,d5"),
    ] {
        let game = game(name);
        match game.parse_fen(text) {
            Ok(position) => assert_eq!(game.format_fen(&position), written, "{name} {text}"),
            Err(error) => assert!(written.is_empty(), "{name} {text}: {error}"),
        }
    }
}

#[test]
fn errors_name_what_was_found_and_expected() {
    for (name, text, message) in [
        (
            "thai",
            " ",
            "the position is empty; expected a text such as `B:Wa1,c1,e1,g1,b2,d2,f2,h2:Ba7,c7,e7,g7,b8,d8,f8,h8`",
        ),
        (
            "russian",
            "X:Wa1:Bb2",
            "side to move \"X\"; expected `W` or `B` before the first `:`",
        ),
        (
            "russian",
            "w:Wa1:Bb2",
            "side to move \"w\"; expected `W` or `B` before the first `:`",
        ),
        (
            "russian",
            "Wa1:Bb2",
            "side to move \"Wa1\"; expected `W` or `B` before the first `:`",
        ),
        (
            "russian",
            "W:Wa1:wb2",
            "field \"wb2\"; expected `W` or `B` and a list of squares",
        ),
        (
            "russian",
            "W:Wa1:",
            "field \"\"; expected `W` or `B` and a list of squares",
        ),
        (
            "russian",
            "W",
            "the field of White is missing; expected `:W` and a list of squares, which may be empty",
        ),
        (
            "russian",
            "W:Wa1",
            "the field of Black is missing; expected `:B` and a list of squares, which may be empty",
        ),
        (
            "russian",
            "W:Wa1:Wc1",
            "two fields for White; expected one field `W...` and one field `B...`",
        ),
        ("russian", "W:Ba1:Ba3", "man on a1"),
        (
            "russian",
            "W:Bc3:Ba3",
            "two fields for Black; expected one field `W...` and one field `B...`",
        ),
        (
            "russian",
            "W:Wa1:Bb2:H0:F1",
            "\":H0:F1\" after the two lists of squares; expected the end of the position",
        ),
        (
            "russian",
            "W:Wa1:Bb2:",
            "\":\" after the two lists of squares; expected the end of the position",
        ),
        (
            "russian",
            "W:Wa1,:Bb2",
            "an empty entry in the list of White; expected a square between commas",
        ),
        (
            "russian",
            "W:Wa1:Bb2,,c3",
            "an empty entry in the list of Black; expected a square between commas",
        ),
        (
            "russian",
            "W:Wa2:Bb2",
            "unknown square \"a2\"; expected one of the 32 squares from a1 to h8, `K` before a king's",
        ),
        ("russian", "W:Wa1:Bkb2", "unknown square \"kb2\"; expected"),
        ("russian", "W:WKKa1:Bb2", "unknown square \"KKa1\"; expected"),
        ("russian", "W:Wa1 c3:Bb2", "unknown square \"a1 c3\"; expected"),
        ("russian", "W:Wa1:Bb2..", "unknown square \"b2.\"; expected"),
        (
            "english",
            "W:W21-23:B1",
            "unknown square \"21-23\"; expected one of the 32 squares from 1 to 32, `K` before a king's",
        ),
        ("english", "W:W33:B1", "unknown square \"33\"; expected"),
        ("english", "W:W0:B1", "unknown square \"0\"; expected"),
        ("english", "W:W032:B1", "unknown square \"032\"; expected"),
        (
            "russian",
            "W:Wa1,Ka1:Bb2",
            "square a1 is given twice; expected at most one piece on a square",
        ),
        (
            "russian",
            "W:Wa3:BKa3",
            "square a3 is given twice; expected at most one piece on a square",
        ),
        (
            "russian",
            "W:Wb8:Bb2",
            "White's man on b8, its promotion row; expected a king (`Kb8`) there",
        ),
        (
            "english",
            "W:W5:B29",
            "Black's man on 29, its promotion row; expected a king (`K29`) there",
        ),
        (
            "russian",
            "W:W:B",
            "neither side has a piece; expected at least one piece",
        ),
        (
            "ghanaian",
            "W:W:B",
            "neither side has a piece; expected at least one piece",
        ),
        (
            "ghanaian",
            "W:W31:B5",
            "both sides have at most one piece, which ends this game for either side; expected at most one side like that",
        ),
        (
            "breakthrough",
            "W:WK31:BK5",
            "both sides have a king, which ends this game for either side; expected at most one side like that",
        ),
        (
            "russian",
            "W:Wa1:Bb\u{ff12}",
            "character '\u{ff12}' at column 9; expected plain ASCII text on one line",
        ),
        (
            "russian",
            "W:Wa1:Bb2\0",
            "character '\\0' at column 10; expected plain ASCII text on one line",
        ),
    ] {
        let error = game(name).parse_fen(text).unwrap_err().to_string();
        assert!(error.contains(message), "{name} {text:?}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let long = format!("W:Wa1:Bb2{}", " ".repeat(5000));
    assert_eq!(
        game("russian").parse_fen(&long).unwrap_err().to_string(),
        "the position has 5009 characters; expected at most 1024"
    );
}

#[test]
fn the_fullest_board_is_short_enough() {
    let mut file = file("turkish");
    (file.rules.files, file.rules.ranks) = (12, 10);
    let game = Game::new(file);
    let all = game.board().playable();
    let half = all & ((1 << 60) - 1);
    let position = Position {
        men: [0, 0],
        kings: [half, all & !half],
        turn: Colour::White,
    };
    assert_eq!(game.parse_fen(&game.format_fen(&position)), Ok(position));
}

/// A move by square names; `taken` is a list of names.
fn mv(game: &Game, from: &str, to: &str, taken: &[&str], to_king: bool) -> Move {
    let square = |name: &str| game.square_by_name(name).unwrap();
    Move {
        from: square(from),
        to: square(to),
        captured: taken.iter().fold(0, |set: SquareSet, name| set | 1 << square(name)),
        by_man: true,
        to_king,
    }
}

#[test]
fn texts_of_moves() {
    let game = game("russian");
    let square = |name: &str| game.square_by_name(name).unwrap();
    // Two captures c1xa7, and one of another piece.
    let short = mv(&game, "c1", "a7", &["b6", "d2"], true);
    let long = mv(&game, "c1", "a7", &["b6", "d2", "d6", "g5", "g7"], true);
    let other = mv(&game, "h2", "a7", &["b6", "d6", "g3", "g5", "g7"], true);
    let legal = [short, long, other];
    let route = |m: &Move| -> Vec<u8> {
        if *m == short {
            vec![square("e3"), square("a7")]
        } else {
            ["h6", "f8", "c5", "a7"].map(square).to_vec()
        }
    };
    let texts = legal.map(|m| game.move_text(&m, &legal, route));
    assert_eq!(texts, ["c1xe3xa7", "c1xh6xf8xc5xa7", "h2xa7"]);
    assert_eq!(game.move_text(&short, &[short], |_| unreachable!()), "c1xa7");
    // Quiet moves.
    let quiet = mv(&game, "g7", "h8", &[], true);
    assert_eq!(game.move_text(&quiet, &[quiet, short], |_| unreachable!()), "g7-h8");
    // Only the kind differs, alone and beside a capture of other pieces.
    let man = mv(&game, "e5", "e1", &["d6", "f6"], false);
    let king = Move { to_king: true, ..man };
    let texts = [man, king].map(|m| game.move_text(&m, &[man, king], |_| unreachable!()));
    assert_eq!(texts, ["e5xe1", "e5xe1=K"]);
    let beside = mv(&game, "e5", "e1", &["d4", "f4"], true);
    let legal = [man, king, beside];
    let texts = legal.map(|m| {
        game.move_text(&m, &legal, |m| {
            vec![square(if *m == beside { "g3" } else { "c3" }), m.to]
        })
    });
    assert_eq!(texts, ["e5xc3xe1", "e5xc3xe1=K", "e5xg3xe1"]);
}

/// A position of some game with pieces on random squares.
fn position() -> impl Strategy<Value = (Game, Position)> {
    let games: Vec<Game> = all_files().into_iter().map(|(_, file)| Game::new(file)).collect();
    (
        0..games.len(),
        any::<[SquareSet; 4]>(),
        any::<[SquareSet; 2]>(),
        any::<bool>(),
    )
        .prop_filter_map("both sides finished", move |(index, [a, b, c, d], sparse, white)| {
            let game = games[index].clone();
            let board = game.board();
            let occupied = board.playable() & a & (sparse[0] | sparse[1]);
            let (top, bottom) = (board.rank_set(board.ranks() - 1), board.rank_set(0));
            let (whites, blacks) = (occupied & b, occupied & !b);
            let kings = [whites & (c & d | top), blacks & (c & d | bottom)];
            let turn = if white { Colour::White } else { Colour::Black };
            let position = Position {
                men: [whites & !kings[0], blacks & !kings[1]],
                kings,
                turn,
            };
            let playable = occupied != 0 && game.won(&position) != [true, true];
            playable.then_some((game, position))
        })
}

proptest! {
    #[test]
    fn positions_round_trip((game, position) in position()) {
        let text = game.format_fen(&position);
        prop_assert_eq!(game.parse_fen(&text), Ok(position));
        prop_assert_eq!(game.parse_fen(&format!(" {}. ", text.replace(',', " , "))), Ok(position));
        let [turn, white, black] = text.split(':').collect::<Vec<_>>().try_into().unwrap();
        prop_assert_eq!(game.parse_fen(&format!("{turn}:{black}:{white}")), Ok(position));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}", like in "[WBKa-k0-9:,. ]{0,40}") {
        for name in ["russian", "ghanaian"] {
            for text in [&text, &like] {
                let game = game(name);
                if let Ok(position) = game.parse_fen(text) {
                    prop_assert_eq!(game.parse_fen(&game.format_fen(&position)), Ok(position));
                }
            }
        }
    }
}
