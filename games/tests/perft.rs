//! Numbers of move sequences from the start positions.

mod common;

use common::{game, oracles};

/// Published or independently computed numbers, from depth 1 on.
const KNOWN: [(&str, &[u64]); 10] = [
    ("english", &[7, 49, 302, 1469, 7361, 36768, 179_740, 845_931, 3_963_680]),
    (
        "russian",
        &[7, 49, 302, 1469, 7482, 37_986, 190_146, 929_899, 4_570_586],
    ),
    (
        "brazilian",
        &[7, 49, 302, 1469, 7473, 37_628, 187_302, 907_830, 4_431_766],
    ),
    ("pool", &[7, 49, 302, 1469, 7482, 37_986, 190_146, 929_896, 4_570_534]),
    (
        "italian",
        &[7, 49, 302, 1469, 7361, 36_473, 177_532, 828_783, 3_860_875],
    ),
    (
        "spanish",
        &[7, 49, 302, 1469, 7361, 36_473, 177_532, 828_783, 3_860_866],
    ),
    ("czech", &[7, 49, 302, 1469, 7361, 36_768, 179_740, 845_931, 3_963_671]),
    (
        "international",
        &[9, 81, 658, 4265, 27_117, 167_140, 1_049_442, 6_483_961],
    ),
    ("frisian", &[9, 81, 658, 3874, 21_265, 102_431, 540_126, 2_825_779]),
    ("canadian", &[11, 121, 1222, 10_053, 79_049, 584_100, 4_369_366]),
];

#[test]
fn known_numbers() {
    for (name, numbers) in KNOWN {
        let game = game(name);
        let start = game.start();
        for (depth, &number) in (1..).zip(numbers) {
            assert_eq!(game.perft(&start, depth), number, "{name} depth {depth}");
        }
        assert_eq!(game.perft(&start, 0), 1);
    }
}

#[test]
fn numbers_of_the_oracles() {
    for (game, oracle) in oracles() {
        assert_eq!(oracle.get("variant").text(), game.name());
        let start = game.start();
        assert_eq!(game.parse_fen(oracle.get("start").text()).as_ref(), Ok(&start));
        let numbers = oracle.get("perft").list();
        assert!(numbers.len() >= 5, "{}", game.name());
        for (depth, number) in (1..).zip(numbers) {
            assert_eq!(
                game.perft(&start, depth),
                number.integer(),
                "{} depth {depth}",
                game.name()
            );
        }
    }
}

/// Games that differ in names, the side that opens or the goal alone.
#[test]
fn equal_games() {
    for (one, other, depth) in [
        ("pool", "jamaican", 8),
        ("spanish", "portuguese", 8),
        ("russian", "russian-giveaway", 7),
        ("english", "english-giveaway", 8),
        ("international", "international-giveaway", 6),
    ] {
        let [one, other] = [one, other].map(game);
        let numbers = [&one, &other].map(|game| game.perft(&game.start(), depth));
        assert_eq!(numbers[0], numbers[1], "{} {}", one.name(), other.name());
    }
}
