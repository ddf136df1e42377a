//! Numbers of move sequences that others have published or that follow from
//! the rule sets' definitions.

use petrov_games::Games;
use petrov_games::chess::Game;

fn game(name: &str) -> Game {
    Games::built_in().chess(name).unwrap().clone()
}

fn check(game: &Game, fen: &str, nodes: &[u64]) {
    let position = game.parse_fen(fen).unwrap();
    assert_eq!(game.fen(&position), fen);
    for (depth, &expected) in (1..).zip(nodes) {
        assert_eq!(
            game.perft(&position, depth),
            expected,
            "{} {fen} depth {depth}",
            game.name()
        );
    }
}

#[test]
fn start_positions() {
    let cases: [(&str, &[u64]); 10] = [
        ("chess", &[20, 400, 8902, 197_281, 4_865_609]),
        // Nothing in which these differ from chess is within reach so soon.
        ("e-chess", &[]),
        ("chess-pawns-capture-back", &[20, 400, 8902]),
        ("chess-no-first-capture", &[]),
        ("chess-promote-by-file", &[20, 400, 8902, 197_281]),
        ("berolina", &[]),
        ("knight-relay", &[]),
        ("giveaway", &[20, 400, 8067]),
        ("shatranj", &[16, 256, 4176]),
        ("makruk", &[23, 529, 12_012]),
    ];
    for (name, nodes) in cases {
        let game = game(name);
        let start = game.fen(&game.start().unwrap());
        check(&game, &start, nodes);
    }
}

/// The positions of the chess programming wiki's page on perft results.
#[test]
fn well_known_positions() {
    let chess = game("chess");
    let cases: [(&str, &[u64]); 6] = [
        (
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            &[48, 2039, 97_862, 4_085_603],
        ),
        (
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            &[14, 191, 2812, 43_238, 674_624],
        ),
        (
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            &[6, 264, 9467, 422_333],
        ),
        (
            "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
            &[6, 264, 9467, 422_333],
        ),
        (
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
            &[44, 1486, 62_379, 2_103_487],
        ),
        (
            "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
            &[46, 2079, 89_890, 3_894_594],
        ),
    ];
    for (fen, nodes) in cases {
        check(&chess, fen, nodes);
    }
}
