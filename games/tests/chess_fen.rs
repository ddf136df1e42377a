//! FENs of the chess family: what is refused, and that nothing else happens.

mod chess_common;

use chess_common::{Chance, Reference};
use petrov_games::chess::Game;
use petrov_games::{AnyGame, Games};

fn named(name: &str) -> Game {
    Games::built_in().chess(name).unwrap().clone()
}

#[test]
fn refused() {
    let cases = [
        ("chess", "", "found 0 fields"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w -", "found 3 fields"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w - - 0", "found 5 fields"),
        ("chess", "8/8/8/8/8/8/K1k5 w - - 0 1", "found 7 ranks"),
        ("chess", "8/8/8/8/8/8/8/K1k6 w - - 0 1", "rank 1"),
        ("chess", "8/8/8/8/8/8/8/K1k4 w - - 0 1", "rank 1"),
        ("chess", "44/8/8/8/8/8/8/K1k5 w - - 0 1", "rank 8"),
        ("chess", "9/8/8/8/8/8/8/K1k5 w - - 0 1", "found '9'"),
        ("chess", "x7/8/8/8/8/8/8/K1k5 w - - 0 1", "found 'x'"),
        ("chess", "é7/8/8/8/8/8/8/K1k5 w - - 0 1", "found 'é'"),
        ("chess", "8/8/8/8/8/8/8/K1k5 W - - 0 1", "side to move"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w - - -1 1", "halfmove clock"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w - - 0 0", "move number"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w - - 0 99999999999999", "move number"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w - - +1 1", "halfmove clock"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w KK - 0 1", "castling"),
        ("chess", "8/8/8/8/8/8/8/K1k5 w K - 0 1", "right `K`"),
        ("chess", "r3k2r/8/8/8/8/8/8/R3K2R w kqKQ - 0 1", "castling"),
        ("giveaway", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "no castling"),
        ("chess", "8/8/8/8/8/8/8/KKk5 w - - 0 1", "White has 2 kings"),
        ("chess", "8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings"),
        ("chess", "P7/8/8/8/8/8/8/K1k5 w - - 0 1", "White has a pawn on a8"),
        ("chess", "8/8/8/8/8/8/8/K1k4p w - - 0 1", "Black has a pawn on h1"),
        ("makruk", "8/8/8/8/8/8/P7/2K1k3 w - - 0 1", "White has a pawn on a2"),
        ("makruk", "8/p7/8/8/8/8/8/2K1k3 w - - 0 1", "Black has a pawn on a7"),
        ("chess", "8/8/8/8/8/8/8/Kk6 w - - 0 1", "Black is in check"),
        ("chess", "8/8/8/8/8/8/8/K1k4r b - - 0 1", ""),
        ("chess", "8/8/8/8/8/8/2k5/K6r b - - 0 1", "White is in check"),
        ("e-chess", "4k3/4P3/4K3/8/8/8/8/8 w - - 0 1", "Black is in check"),
        ("giveaway", "8/8/8/8/8/8/8/8 w - - 0 1", "empty"),
        ("chess", "8/8/8/3pP3/8/8/8/K1k5 w - e6 0 1", "e6 is not behind a pawn"),
        ("chess", "8/8/8/3pP3/8/8/8/K1k5 b - d6 0 1", "d6 is not behind a pawn"),
        ("chess", "8/3n4/8/3pP3/8/8/8/K1k5 w - d6 0 1", "d6 is not behind a pawn"),
        ("chess", "8/8/3n4/3pP3/8/8/8/K1k5 w - d6 0 1", "d6 is not behind a pawn"),
        ("chess", "8/8/8/3pP3/8/8/8/K1k5 w - d5 0 1", "d5 is not behind a pawn"),
        ("chess", "8/8/8/3pP3/8/8/8/K1k5 w - d8 0 1", "d8 is not behind a pawn"),
        ("chess", "8/8/8/3pP3/8/8/8/K1k5 w - d9 0 1", "found \"d9\""),
        ("chess", "8/8/8/3pP3/8/8/8/K1k5 w - é 0 1", "found \"é\""),
        ("shatranj", "8/8/8/3pP3/8/8/8/K1k5 w - d6 0 1", "no en passant"),
    ];
    for (name, fen, expected) in cases {
        let game = named(name);
        match game.parse_fen(fen) {
            Ok(_) => assert_eq!(expected, "", "{name} {fen}"),
            Err(error) => {
                let message = error.to_string();
                assert!(
                    !expected.is_empty() && message.contains(expected) && !message.contains('\n'),
                    "{name} {fen}: {message}"
                );
            }
        }
    }
}

#[test]
fn four_fields() {
    let chess = named("chess");
    let position = chess.parse_fen("8/8/8/8/8/8/8/K1k5 w - -").unwrap();
    assert_eq!(chess.fen(&position), "8/8/8/8/8/8/8/K1k5 w - - 0 1");
}

/// Damaged FENs give an error or a position that can be played on.
#[test]
fn damaged() {
    let mut chance = Chance(0x5eed_0005);
    let letters: Vec<char> = "KQRBNPkqrbnp12345678/ -wbaedh36xé0".chars().collect();
    for game in Games::built_in().iter().filter_map(AnyGame::chess) {
        let reference = Reference { rules: game.rules() };
        let mut read = 0;
        for _ in 0..3000 {
            let pieces = chance.below(10);
            let plain = chance.position(game.rules(), pieces);
            let mut fen: Vec<char> = format!("{} 3 7", reference.fen(&plain)).chars().collect();
            for _ in 0..chance.below(3) {
                let at = chance.below(fen.len());
                let letter = *chance.pick(&letters);
                match chance.below(3) {
                    0 => fen[at] = letter,
                    1 => fen.insert(at, letter),
                    _ => drop(fen.remove(at)),
                }
            }
            let fen: String = fen.into_iter().collect();
            if let Ok(position) = game.parse_fen(&fen) {
                read += 1;
                let again = game.fen(&position);
                assert_eq!(game.fen(&game.parse_fen(&again).unwrap()), again);
                let legal = game.legal_moves(&position);
                for played in &legal {
                    let next = game.after(&position, played);
                    game.parse_fen(&game.fen(&next)).unwrap();
                }
            }
        }
        assert!(read > 500, "{}", game.name());
    }
}

#[test]
fn counters_stay_what_a_fen_can_have() {
    let chess = named("chess");
    let position = chess.parse_fen("4k3/8/8/8/8/8/8/4K2R b - - 1000000 1000000").unwrap();
    for played in chess.legal_moves(&position) {
        let fen = chess.fen(&chess.after(&position, &played));
        assert!(chess.parse_fen(&fen).is_ok(), "{fen}");
    }
}
