//! What must be true of the moves of every game.

mod common;

use std::collections::BTreeSet;

use common::{Chance, all_games, game_of, random_position, random_rules, squares_of, too_rich};
use petrov_games::Bits;
use petrov_games::draughts::{Colour, Engine, Game, Generator, Move, Position, Step};

/// All games and some made-up ones, with positions that have not too many
/// captures to look at.
fn positions(seed: u64, made_up: usize, each: usize, mut check: impl FnMut(&Game, &Position, &mut Chance)) {
    let mut chance = Chance(seed);
    let drawn: Vec<Game> = (0..made_up).map(|_| game_of(&random_rules(&mut chance))).collect();
    for game in all_games().iter().chain(&drawn) {
        let each = if game.name() == "made-up" { 8 } else { each };
        for _ in 0..each {
            let position = random_position(&mut chance, game);
            if !too_rich(game, &position) {
                check(game, &position, &mut chance);
            }
        }
    }
}

/// Moves in an order of their own.
fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort_by_key(|mv| (mv.from, mv.to, mv.captured, mv.by_man, mv.to_king));
    moves
}

fn map_set(set: u128, map: impl Fn(u8) -> u8) -> u128 {
    squares_of(set).fold(0, |mapped, square| mapped | 1 << map(square))
}

fn map_moves(moves: &[Move], map: impl Fn(u8) -> u8) -> Vec<Move> {
    sorted(
        moves
            .iter()
            .map(|mv| Move {
                from: map(mv.from),
                to: map(mv.to),
                captured: map_set(mv.captured, &map),
                ..*mv
            })
            .collect(),
    )
}

fn map_position(position: &Position, map: impl Fn(u8) -> u8) -> Position {
    Position {
        men: position.men.map(|set| map_set(set, &map)),
        kings: position.kings.map(|set| map_set(set, &map)),
        turn: position.turn,
    }
}

/// The square with both file and rank counted from the other end.
fn opposite(game: &Game, square: u8) -> u8 {
    let board = game.board();
    let (file, rank) = board.coordinates(square);
    board
        .square_at(board.files() - 1 - file, board.ranks() - 1 - rank)
        .unwrap()
}

#[test]
fn half_turn_swaps_the_colours() {
    positions(1, 300, 200, |game, position, _| {
        let turned = map_position(position, |square| opposite(game, square));
        let swapped = Position {
            men: [turned.men[1], turned.men[0]],
            kings: [turned.kings[1], turned.kings[0]],
            turn: position.turn.other(),
        };
        let expected = map_moves(&game.legal_moves(position), |square| opposite(game, square));
        assert_eq!(
            sorted(game.legal_moves(&swapped)),
            expected,
            "{}",
            game.format_fen(position)
        );
        for set in position.men {
            assert_eq!(
                game.board().half_turn(set),
                map_set(set, |square| opposite(game, square))
            );
        }
    });
}

#[test]
fn number_of_symmetries() {
    for (name, kings, men) in [
        ("russian", 4, 1),
        ("italian", 4, 1),
        ("canadian", 4, 1),
        ("spantsireti", 2, 1),
        ("turkish", 8, 2),
    ] {
        let game = common::game(name);
        for (with_men, number) in [(false, kings), (true, men)] {
            let maps = game.board().symmetries(game.rules(), with_men);
            assert_eq!(maps.len(), number, "{name}");
            assert!(maps[0].iter().enumerate().all(|(i, &square)| i == usize::from(square)));
            let distinct: BTreeSet<&Vec<u8>> = maps.iter().collect();
            assert_eq!(distinct.len(), number, "{name}");
        }
    }
}

#[test]
fn symmetries_map_moves() {
    let mut mapped = 0;
    positions(2, 600, 200, |game, position, chance| {
        // Without men as often as with.
        let mut position = *position;
        if chance.once_in(2) {
            for colour in 0..2 {
                position.kings[colour] |= position.men[colour];
                position.men[colour] = 0;
            }
        }
        if too_rich(game, &position) {
            return;
        }
        let with_men = position.men != [0; 2];
        let legal = game.legal_moves(&position);
        for map in &game.board().symmetries(game.rules(), with_men)[1..] {
            let map = |square: u8| map[usize::from(square)];
            let image = map_position(&position, map);
            assert_eq!(
                sorted(game.legal_moves(&image)),
                map_moves(&legal, map),
                "{} {}",
                game.name(),
                game.format_fen(&position)
            );
            mapped += 1;
        }
    });
    assert!(mapped > 5000, "{mapped}");
}

/// The parts of the generator must agree with one another.
fn check_parts<B: Bits>(game: &Game, generator: &Generator<B>, position: &Position) {
    let about = || format!("{} {}", game.format_fen(position), game.rule_file().to_toml());
    let pieces = generator.view(position);
    assert_eq!(generator.position(&pieces, position.turn), *position);
    let turned = generator.turned(&pieces);
    assert_eq!(generator.turned(&turned), pieces);
    let passed = Position {
        turn: position.turn.other(),
        ..*position
    };
    assert_eq!(generator.position(&turned, passed.turn), passed);
    assert!(generator.is_placement(&pieces) && generator.is_placement(&turned));
    let winner = generator
        .finished(&pieces)
        .map(|won| if won { position.turn } else { position.turn.other() });
    assert_eq!(winner, game.finished(position));

    let has_capture = generator.has_capture(&pieces);
    let mut captures: Vec<Step<B>> = Vec::new();
    let any = generator.captures(&pieces, |step| {
        if !captures.contains(step) {
            captures.push(*step);
        }
        true
    });
    assert_eq!(any, has_capture, "{}", about());
    assert_eq!(captures.is_empty(), !has_capture, "{}", about());
    // One look is enough to know whether there is one.
    let mut seen = 0;
    let stopped = generator.captures(&pieces, |_| {
        seen += 1;
        false
    });
    assert_eq!((stopped, seen), (has_capture, usize::from(has_capture)), "{}", about());

    let (mut quiets, mut man_quiets) = (Vec::new(), Vec::new());
    generator.quiets(&pieces, |step| {
        quiets.push(*step);
        true
    });
    assert!(generator.man_quiets(&pieces, |step| {
        man_quiets.push(*step);
        true
    }));
    assert_eq!(generator.has_quiet(&pieces), !quiets.is_empty(), "{}", about());
    assert_eq!(generator.has_man_quiet(&pieces), !man_quiets.is_empty(), "{}", about());
    let by_men: Vec<Step<B>> = quiets.iter().filter(|step| step.by_man).copied().collect();
    assert_eq!(by_men, man_quiets, "{}", about());
    if !quiets.is_empty() {
        let mut seen = 0;
        generator.quiets(&pieces, |_| {
            seen += 1;
            false
        });
        assert_eq!(seen, 1, "{}", about());
    }

    let mut legal = Vec::new();
    generator.legal(&pieces, &mut legal);
    let mut expected = captures;
    if !(has_capture && generator.forced()) {
        expected.extend(&quiets);
    }
    assert_eq!(legal, expected, "{}", about());
    for step in &legal {
        let mv = generator.to_move(step, position.turn);
        assert_eq!(generator.to_step(&mv, position.turn), *step);
    }

    // Kings can go back where they came from.
    let occupied = pieces.occupied();
    let empty = generator.playable() & !occupied;
    let mut union = B::ZERO;
    for from in pieces.own_kings.squares() {
        let reach = generator.king_reach(from, occupied);
        union |= reach;
        let without = occupied & !B::bit(from);
        for to in reach.squares() {
            assert!(generator.king_reach(to, without | B::bit(to)).has(from), "{}", about());
        }
        assert_eq!(
            reach,
            quiets
                .iter()
                .filter(|step| step.from == from && !step.by_man)
                .fold(B::ZERO, |set, step| set | B::bit(step.to)),
            "{}",
            about()
        );
    }
    assert_eq!(generator.king_spread(pieces.own_kings, empty), union, "{}", about());
    // From empty squares too.
    let places = empty & !generator.top();
    let union = places
        .squares()
        .fold(B::ZERO, |set, from| set | generator.king_reach(from, occupied));
    assert_eq!(generator.king_spread(places, empty), union, "{}", about());
}

#[test]
fn parts_of_the_generator_agree() {
    positions(3, 1500, 300, |game, position, _| match game.engine() {
        Engine::Narrow(generator) => check_parts(game, generator, position),
        Engine::Wide(generator) => check_parts(game, generator, position),
    });
}

/// The same moves with words wider than needed.
#[test]
fn both_widths_agree() {
    positions(4, 300, 100, |game, position, _| {
        let wide: Generator<u128> = Generator::new(game.rules(), game.board());
        let mut steps = Vec::new();
        wide.legal(&wide.view(position), &mut steps);
        let moves: Vec<Move> = steps.iter().map(|step| wide.to_move(step, position.turn)).collect();
        assert_eq!(moves, game.legal_moves(position));
    });
}

/// A man never goes back; no piece of the mover is lost and all taken ones go.
#[test]
fn pieces_after_a_move() {
    positions(5, 300, 200, |game, position, _| {
        let (own, other) = (position.turn as usize, position.turn.other() as usize);
        for mv in game.legal_moves(position) {
            let after = game.after(position, &mv);
            assert_eq!(mv.captured & !position.side(position.turn.other()), 0);
            assert_eq!(after.men[other], position.men[other] & !mv.captured);
            assert_eq!(after.kings[other], position.kings[other] & !mv.captured);
            let count = |set: u128| set.count_ones();
            let promotes = u32::from(mv.by_man && mv.to_king);
            assert_eq!(count(after.men[own]) + promotes, count(position.men[own]));
            assert_eq!(count(after.kings[own]), count(position.kings[own]) + promotes);
            let last_rank = [game.board().ranks() - 1, 0][own];
            assert_eq!(after.men[own] & game.board().rank_set(last_rank), 0);
            let rank = |square| game.board().coordinates(square).1;
            if mv.by_man && mv.captured == 0 {
                let forward = match position.turn {
                    Colour::White => rank(mv.to) >= rank(mv.from),
                    Colour::Black => rank(mv.to) <= rank(mv.from),
                };
                assert!(forward);
            }
        }
    });
}

/// Quiet predecessors are the exact inverse of quiet moves: every quiet move
/// is found from where it leads, and everything found is a legal quiet move.
fn check_predecessors<B: Bits>(generator: &Generator<B>, position: &Position) -> (usize, usize) {
    let mut legal = Vec::new();
    let mover = generator.view(position);
    generator.legal(&mover, &mut legal);
    let (mut forward, mut backward) = (0, 0);
    for step in legal.iter().filter(|step| step.captured == B::ZERO) {
        let after = generator.after(&mover, step);
        let mut found = 0;
        generator.quiet_predecessors(&after, |before, unmade| {
            found += usize::from(before == &mover && unmade == step);
        });
        assert_eq!(found, 1, "{position:?} {step:?}");
        forward += 1;
    }
    // The side that is not to move has just moved.
    let moved = generator.turned(&mover);
    let mut before_this = Vec::new();
    generator.quiet_predecessors(&moved, |before, step| before_this.push((*before, *step)));
    for (before, step) in before_this {
        assert!(generator.is_placement(&before), "{position:?} {step:?}");
        generator.legal(&before, &mut legal);
        assert!(legal.contains(&step), "{position:?} {step:?}");
        assert_eq!(generator.after(&before, &step), moved);
        backward += 1;
    }
    (forward, backward)
}

#[test]
fn quiet_predecessors_are_the_inverse_of_quiet_moves() {
    let (mut forward, mut backward) = (0, 0);
    positions(0x9e37_79b9, 150, 400, |game, position, _| {
        let counts = match game.engine() {
            Engine::Narrow(generator) => check_predecessors(generator, position),
            Engine::Wide(generator) => check_predecessors(generator, position),
        };
        forward += counts.0;
        backward += counts.1;
    });
    assert!(forward > 10_000 && backward > 10_000, "{forward} {backward}");
}
