//! The generator against the plain one on random positions, for every
//! built-in rule set and for random rules.

mod chess_common;

use std::collections::BTreeSet;

use chess_common::{Chance, Plain, Reference};
use petrov_games::chess::{Board, FenError, Game, Kind, NO_SQUARE, Outcome, Position, RuleFile, Side, Step, Symmetry};
use petrov_games::{AnyGame, Games};

/// Compares everything about one position; false if it cannot be.
fn compare(game: &Game, plain: &Plain) -> bool {
    let reference = Reference { rules: game.rules() };
    let fen = reference.fen(plain);
    let mut fields: Vec<String> = fen.split(' ').map(str::to_owned).collect();
    if let Some(passed) = plain.passed {
        fields[3] = chess_common::name(passed);
    }
    let parsed = game.parse_fen(&fields.join(" "));
    if reference.in_check(plain, !plain.white_moves) {
        assert!(
            matches!(parsed, Err(FenError::OpponentInCheck { .. })),
            "{fen}: {parsed:?}"
        );
        return false;
    }
    if plain.cells.is_empty() {
        assert_eq!(parsed, Err(FenError::Empty));
        return false;
    }
    let context = || format!("{} {}\n{}", fields.join(" "), game.name(), game.rule_file().to_toml());
    let position = parsed.unwrap_or_else(|error| panic!("{error}: {}", context()));
    assert_eq!(game.fen(&position), format!("{fen} 0 1"), "{}", context());
    assert_eq!(
        game.in_check(&position),
        reference.in_check(plain, plain.white_moves),
        "{}",
        context()
    );

    let legal = game.legal_moves(&position);
    let found: BTreeSet<(String, String)> = legal
        .iter()
        .map(|played| {
            let next = game.after(&position, played);
            let fen = game.fen(&next);
            (game.uci(played), fen.rsplitn(3, ' ').last().unwrap().to_owned())
        })
        .collect();
    let expected: BTreeSet<(String, String)> = reference
        .legal(plain)
        .iter()
        .map(|played| (played.uci.clone(), reference.fen(&played.after)))
        .collect();
    assert_eq!(found, expected, "{}", context());
    assert_eq!(found.len(), legal.len(), "a move twice: {}", context());
    let ending = game.ending(&position);
    assert_eq!(ending.is_some(), legal.is_empty());
    if let Some(ending) = ending {
        let result = match ending.outcome {
            Outcome::Loss => -1,
            Outcome::Draw => 0,
            Outcome::Win => 1,
        };
        assert_eq!(result, reference.blocked(plain), "{}", context());
    }
    // The slower checks look at a part of the positions.
    if position.board.occupied().is_multiple_of(3) {
        texts_read_back(game, &position);
        symmetries_keep(game, &position);
        origins_are_inverse(game, &position);
        conversions_are_a_part(game, &position);
    }
    true
}

fn texts_read_back(game: &Game, position: &Position) {
    let legal = game.legal_moves(position);
    for played in &legal {
        let fen = game.fen(position);
        assert_eq!(game.parse_uci(position, &game.uci(played)).unwrap(), *played, "{fen}");
        let san = game.san(position, played, &legal);
        assert_eq!(game.parse_san(position, &san).as_ref(), Ok(played), "{san} {fen}");
    }
}

/// Mirrored placements have as many moves, and so have flipped colours.
fn symmetries_keep(game: &Game, position: &Position) {
    let generator = game.generator();
    let board = generator.view(position);
    let moves = |board: &Board| {
        let mut steps = Vec::new();
        generator.legal(board, &mut steps);
        steps.len()
    };
    for symmetry in generator.symmetries(board.kinds()) {
        if board.kinds().has(Kind::PAWN) {
            assert!(symmetry == Symmetry::IDENTITY || symmetry == Symmetry::MIRROR);
        }
        let mut image = [0; 64];
        for square in 0..64u8 {
            if generator.squares() >> square & 1 == 1 {
                image[usize::from(square)] = symmetry.image(square, generator.files(), generator.ranks());
            }
        }
        assert_eq!(
            moves(&board.mapped(&image)),
            moves(&board),
            "{symmetry:?} {}",
            game.fen(position)
        );
    }
    assert_eq!(generator.turned(&generator.turned(&board)), board);
}

/// The moves that cannot be taken back are those of the whole list.
fn conversions_are_a_part(game: &Game, position: &Position) {
    let generator = game.generator();
    let board = generator.view(position);
    let (mut all, mut part) = (Vec::new(), Vec::new());
    generator.legal(&board, &mut all);
    generator.conversions(&board, &mut part);
    all.retain(Step::is_conversion);
    assert_eq!(all, part, "{}", game.fen(position));
}

/// A piece can have come from exactly the squares from which it can go.
fn origins_are_inverse(game: &Game, position: &Position) {
    let generator = game.generator();
    let board = generator.view(position);
    let mut steps = Vec::new();
    generator.legal(&board, &mut steps);
    for step in steps.iter().filter(|step| !step.is_conversion()) {
        let mut after = board;
        after.remove(step.from);
        after.put(step.kind, Side::Own, step.to);
        let origins = generator.origins(&after, step.to);
        assert!(origins >> step.from & 1 == 1, "{step:?} {}", game.fen(position));
    }
    // And the other way round, for the pieces as they stand.
    for square in (0..64).filter(|&square| board.own >> square & 1 == 1) {
        let kind = board.kind_at(square);
        if kind == Kind::PAWN {
            continue;
        }
        let origins = generator.origins(&board, square);
        for origin in (0..64).filter(|&origin| origins >> origin & 1 == 1) {
            let mut before = board;
            before.remove(square);
            before.put(kind, Side::Own, origin);
            before.en_passant = NO_SQUARE;
            if generator.finished(&before).is_some() || generator.in_check(&board) {
                continue;
            }
            generator.legal(&before, &mut steps);
            let forced = steps.iter().any(Step::is_capture) && game.rules().capture_compulsory;
            let can = steps.iter().any(|step| (step.from, step.to) == (origin, square));
            assert!(can || forced, "{origin} to {square}: {}", game.fen(position));
        }
    }
}

#[test]
fn built_in_rule_sets() {
    let mut chance = Chance(0x5eed_0001);
    for game in Games::built_in().iter().filter_map(AnyGame::chess) {
        let mut compared = 0u32;
        while compared < 1200 {
            let pieces = 1 + chance.below(14);
            compared += u32::from(compare(game, &chance.position(game.rules(), pieces)));
        }
    }
}

/// Long games rather than random placements: counters, castling's absence
/// and double steps come up as they do in play.
#[test]
fn played_games() {
    let mut chance = Chance(0x5eed_0002);
    for game in Games::built_in().iter().filter_map(AnyGame::chess) {
        let reference = Reference { rules: game.rules() };
        for _ in 0..8 {
            let mut plain = plain_start(game);
            for _ in 0..80 {
                assert!(compare(game, &plain));
                let moves = reference.legal(&plain);
                if moves.is_empty() {
                    break;
                }
                plain = chance.pick(&moves).after.clone();
            }
        }
    }
}

fn plain_start(game: &Game) -> Plain {
    let start = game.start().unwrap();
    let cells = (0..64).filter_map(|square| {
        let (colour, kind) = game.piece_at(&start, square)?;
        let letter = game.rules().letter(kind).unwrap();
        let white = colour == petrov_games::Colour::White;
        Some((((square % 8) as i8, (square / 8) as i8), (white, letter)))
    });
    Plain {
        cells: cells.collect(),
        white_moves: true,
        passed: None,
    }
}

#[test]
fn random_rules() {
    let mut chance = Chance(0x5eed_0003);
    let mut compared = 0;
    for _ in 0..300 {
        let text = chance.rules();
        let file = RuleFile::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(RuleFile::parse(&file.to_toml()).as_ref(), Ok(&file), "{text}");
        let game = Game::new(file);
        let squares = usize::from(game.rules().files) * usize::from(game.rules().ranks);
        for _ in 0..40 {
            let pieces = chance.below(squares.min(20) / 2) + 1;
            compared += u32::from(compare(&game, &chance.position(game.rules(), pieces)));
        }
    }
    assert!(compared > 3000, "{compared}");
}
