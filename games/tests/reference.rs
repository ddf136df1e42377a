//! The crate's moves against those of a second generator.

mod common;

use common::reference::{Played, Reference};
use common::{Chance, all_games, game_of, grid, place, played, random_position, random_rules};
use petrov_games::draughts::{Colour, Game, Position};
use std::collections::BTreeSet;

/// What has been compared.
#[derive(Default, Debug)]
struct Tally {
    positions: u32,
    with_captures: u32,
    /// With a capture of three pieces or more.
    long: u32,
    /// Left out: more chains than the second generator can list in time.
    too_rich: u32,
}

/// Compares all legal moves of a position, what comes of them, and the routes
/// of the captures.
fn compare(game: &Game, position: &Position, tally: &mut Tally) {
    let rules = game.rules();
    let reference = Reference::new(rules);
    let white = position.turn == Colour::White;
    let before = grid(game, position);
    let Some(expected) = reference.legal(&before, white) else {
        tally.too_rich += 1;
        return;
    };
    let about = || format!("{} {}\n{:?}", game.name(), game.format_fen(position), rules.axes());
    let legal = game.legal_moves(position);
    let found: BTreeSet<Played> = legal.iter().map(|mv| played(game, mv)).collect();
    assert_eq!(found, expected, "{}", about());
    assert_eq!(found.len(), legal.len(), "a move is there twice: {}", about());
    for mv in &legal {
        let after = game.after(position, mv);
        assert_eq!(
            grid(game, &after),
            before.after(&played(game, mv)),
            "{mv:?} {}",
            about()
        );
        assert_eq!(after.turn, position.turn.other());
    }
    tally.positions += 1;
    if legal.iter().any(|mv| mv.captured != 0) {
        tally.with_captures += 1;
        tally.long += u32::from(legal.iter().any(|mv| mv.captured.count_ones() >= 3));
        let mut chains = reference.complete_chains(&before, white).unwrap();
        reference.choose(&mut chains);
        for mv in legal.iter().filter(|mv| mv.captured != 0) {
            let route: Vec<_> = game
                .route(position, mv)
                .iter()
                .map(|&square| place(game, square))
                .collect();
            let wanted = played(game, mv);
            let good = chains
                .iter()
                .any(|chain| chain.landings == route && chain.played() == wanted);
            assert!(good, "route {route:?} of {mv:?}: {}", about());
        }
        let texts = game.move_texts(position, &legal);
        let distinct: BTreeSet<&String> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len(), "{texts:?} {}", about());
    }
}

#[test]
fn every_game() {
    for (seed, game) in all_games().iter().enumerate() {
        let mut chance = Chance(seed as u64);
        let mut tally = Tally::default();
        for _ in 0..3000 {
            compare(game, &random_position(&mut chance, game), &mut tally);
        }
        println!("{} {tally:?}", game.name());
        assert!(tally.positions > 2800, "{} {tally:?}", game.name());
        assert!(tally.with_captures > 600, "{} {tally:?}", game.name());
        assert!(tally.long > 15, "{} {tally:?}", game.name());
    }
}

/// Here some routes of legal moves are not legal themselves: by where the king
/// lands last, or by the order of the pieces taken.
#[test]
fn routes() {
    for (name, fen) in [
        ("russian", "B:WKc3,Kg3,Kc5,Kg5,Kc7:BKb8,Kd8"),
        ("pool", "B:WK6,K14,K16,K22,K24:BK1,K2"),
        ("spantsireti", "B:WKa3,Kc3,e3,Kg3,e7,Kg7:BKb4,Kk8"),
        ("ossetian", "B:WKf2,Kb3,Kg4,Kf5,Kd7:BKb2"),
        ("italian", "W:WK11,K19:B13,K14,K21,K22"),
    ] {
        let game = common::game(name);
        compare(&game, &game.parse_fen(fen).unwrap(), &mut Tally::default());
    }
}

/// Positions as they arise in play.
#[test]
fn games_played_at_random() {
    for (seed, game) in all_games().iter().enumerate() {
        let mut chance = Chance(1000 + seed as u64);
        let mut tally = Tally::default();
        for _ in 0..6 {
            let mut position = game.start();
            for _ in 0..100 {
                compare(game, &position, &mut tally);
                let legal = game.legal_moves(&position);
                if legal.is_empty() {
                    break;
                }
                position = game.after(&position, &chance.pick(&legal));
            }
        }
        assert!(tally.positions > 100, "{} {tally:?}", game.name());
    }
}

#[test]
fn rules_drawn_at_random() {
    let mut chance = Chance(77);
    let mut tally = Tally::default();
    for _ in 0..4000 {
        let game = game_of(&random_rules(&mut chance));
        for _ in 0..12 {
            compare(&game, &random_position(&mut chance, &game), &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.positions > 40_000 && tally.long > 3000, "{tally:?}");
}

/// Names of squares, and positions as text, on boards of every size.
#[test]
fn names() {
    let mut chance = Chance(5);
    let drawn = (0..300).map(|_| game_of(&random_rules(&mut chance)));
    let games: Vec<Game> = all_games().into_iter().chain(drawn).collect();
    for game in &games {
        let reference = Reference::new(game.rules());
        let squares: Vec<u8> = common::squares_of(game.board().playable()).collect();
        assert_eq!(squares.len(), reference.places().len());
        for square in squares {
            let name = reference.name(place(game, square));
            assert_eq!(game.square_name(square), name, "{}", game.name());
            assert_eq!(game.square_by_name(&name), Some(square));
        }
        for _ in 0..10 {
            let position = random_position(&mut chance, game);
            let text = game.format_fen(&position);
            assert_eq!(game.parse_fen(&text).as_ref(), Ok(&position), "{text}");
        }
    }
}
