//! What the solver asks backwards (where could a piece have come from, where
//! would a king be attacked) against what the generator says forwards.

mod chess_common;

use chess_common::Chance;
use petrov_games::chess::{Board, Game, Generator, Kind, NO_SQUARE, RuleFile, Side, Step};
use petrov_games::{AnyGame, Bits, Games, LaneRules, Placement, Rulebook};

/// Rules that reach what the built-in ones do not: one-way pieces, small
/// boards, whole lines, partners in the way, lent moves instead of own ones.
const USER_RULES: [&str; 4] = [
    r#"
pair_bishop = "hop"
pair_rook = "slide"
pair_line = "whole"
pair_partner = "blocks"
pair_knight = "instead"
promote_to = ["q", "x"]
[pieces.x]
leaps_exact = [[0, 2], [1, -1], [-2, 1]]
slides_exact = [[1, 2], [0, -1], [-1, 0]]
"#,
    r#"
board = "5x6"
start = "-"
double_step = "start"
pawn_guard = "aura"
pair_bishop = "hop"
pair_rook = "slide"
pair_partner = "blocks"
pair_knight = "instead"
relay = "knight"
[pieces.y]
leaps_exact = [[1, 1]]
slides_exact = [[-1, 1], [0, -2]]
"#,
    r#"
board = "6x5"
start = "-"
capture_compulsory = true
double_step = "start"
pawn_guard = "aura"
pawn_backward_capture = true
pair_knight = "add"
pair_capture = false
stalemate = "loses"
[pieces.n]
leaps = [[1, 3]]
slides_exact = [[1, 2]]
"#,
    r#"
pawn = "berolina"
pawn_rank = 1
promotion_rank = 6
bare_king = "loses"
pair_rook = "slide"
pair_line = "whole"
[pieces.k]
leaps = [[1, 0], [1, 2]]
[pieces.r]
slides = [[1, 0]]
leaps_exact = [[1, 1]]
"#,
];

fn user_game(name: &str, lines: &str) -> Game {
    let text = format!("name = \"{name}\"\nfamily = \"chess\"\n{lines}");
    Game::new(RuleFile::parse(&text).unwrap_or_else(|error| panic!("{error}: {lines}")))
}

/// The ten built-in games and the ones above.
fn games() -> Vec<Game> {
    let mut games: Vec<Game> = Games::built_in().iter().filter_map(AnyGame::chess).cloned().collect();
    assert_eq!(games.len(), 10);
    games.extend(
        (1..)
            .zip(USER_RULES)
            .map(|(n, lines)| user_game(&format!("user-{n}"), lines)),
    );
    games
}

fn letters(game: &Game, board: &Board) -> String {
    let mut rows = Vec::new();
    for rank in (0..game.rules().ranks).rev() {
        let squares = (0..game.rules().files).map(|file| rank * 8 + file);
        let letter = |square| {
            let letter = game.rules().letter(board.kind_at(square)).unwrap_or('?');
            if board.own.has(square) {
                letter.to_ascii_uppercase()
            } else if board.opponent.has(square) {
                letter
            } else {
                '.'
            }
        };
        rows.push(squares.map(letter).collect::<String>());
    }
    format!("{} {}", game.name(), rows.join("/"))
}

/// A random placement that counts and in which the game goes on whatever the
/// moves of one piece.
fn placement(game: &Game, chance: &mut Chance) -> Option<Board> {
    let generator = game.generator();
    let rules = game.rules();
    let mut board = Board::EMPTY;
    let squares: Vec<u8> = generator.squares().squares().collect();
    let mut put = |chance: &mut Chance, kind: Kind, side: Side| {
        let square = *chance.pick(&squares);
        let may = kind != Kind::PAWN || generator.standing_squares(side).has(square);
        let free = !board.occupied().has(square) && may;
        if free {
            board.put(kind, side, square);
        }
        free
    };
    let mut kinds: Vec<Kind> = rules.kinds().filter(|kind| *kind != Kind::PAWN).collect();
    let mut sides = vec![Side::Own, Side::Opponent];
    if generator.royal() {
        kinds.retain(|kind| *kind != Kind::KING);
        for side in sides.drain(..) {
            put(chance, Kind::KING, side).then_some(())?;
        }
        if rules.bare_king {
            sides = vec![Side::Own, Side::Opponent];
        }
    }
    // Few kinds at a time, so that pairs are common.
    let some: Vec<Kind> = (0..2).map(|_| *chance.pick(&kinds)).collect();
    let kings = if generator.royal() { 2 } else { 0 };
    let more = chance.below(7 - kings - sides.len());
    sides.extend((0..more).map(|_| if chance.below(5) < 3 { Side::Own } else { Side::Opponent }));
    for side in sides {
        let kind = if rules.has_pawns() && chance.one_in(4) {
            Kind::PAWN
        } else if chance.one_in(4) {
            *chance.pick(&kinds)
        } else {
            *chance.pick(&some)
        };
        put(chance, kind, side).then_some(())?;
    }
    generator.is_placement(&board).then_some(board)
}

fn placements(game: &Game, seed: u64, count: usize) -> Vec<Board> {
    let mut chance = Chance(seed);
    let mut found = Vec::new();
    // Some rules leave no room for a placement.
    for _ in 0..count * 50 {
        if found.len() == count {
            break;
        }
        found.extend(placement(game, &mut chance));
    }
    found
}

fn legal(generator: &Generator, board: &Board) -> Vec<Step> {
    let mut steps = Vec::new();
    generator.legal(board, &mut steps);
    steps
}

/// All moves of one piece while the others stand still: squares with a quiet
/// move to each square, and with a capture on it. `None` where the piece
/// cannot stand, and for quiet moves where a capture is compulsory.
struct Forward {
    placed: u64,
    unforced: u64,
    quiet: Vec<(u8, u64)>,
    captures: Vec<(u8, u64)>,
}

impl Forward {
    fn new(generator: &Generator, kind: Kind, others: &Board, empty: u64) -> Self {
        let (mut placed, mut unforced) = (0, 0);
        let (mut quiet, mut captures) = (vec![0; 64], vec![0; 64]);
        for from in empty.squares() {
            let mut board = *others;
            board.put(kind, Side::Own, from);
            if !generator.is_placement(&board) {
                continue;
            }
            placed |= u64::bit(from);
            let steps = legal(generator, &board);
            if !generator.forced() || !steps.iter().any(Step::is_capture) {
                unforced |= u64::bit(from);
            }
            for step in steps.iter().filter(|step| step.from == from) {
                let sets = if step.is_capture() { &mut captures } else { &mut quiet };
                sets[usize::from(step.to)] |= u64::bit(from);
            }
        }
        let listed = |sets: Vec<u64>| (0..64).zip(sets).collect();
        Self {
            placed,
            unforced,
            quiet: listed(quiet),
            captures: listed(captures),
        }
    }
}

fn check_piece(game: &Game, board: &Board, square: u8) {
    let generator = &**game.generator();
    let kind = board.kind_at(square);
    let mut others = *board;
    others.remove(square);
    let empty = generator.squares() & !others.occupied();
    let forward = Forward::new(generator, kind, &others, empty);
    let seen = || format!("{} piece on {square}", letters(game, board));
    let moved = |to: u8| {
        let mut after = others;
        after.remove(to);
        after.put(kind, Side::Own, to);
        after
    };

    let is_royal = generator.royal() && kind == Kind::KING;
    let attacked = |in_check: &dyn Fn(&Board) -> bool| {
        let squares = empty.squares().filter(|to| in_check(&moved(*to)));
        squares.fold(0, |set, to| set | u64::bit(to))
    };
    let exposed = if is_royal {
        let exposed = generator.exposed(&others, empty);
        assert_eq!(
            exposed,
            attacked(&|board| generator.in_check(board)),
            "{}: exposed",
            seen()
        );
        let unplaced = generator.unplaced(&others, empty);
        let expected = attacked(&|board| generator.opponent_in_check(board));
        assert_eq!(unplaced, expected, "{}: unplaced", seen());
        exposed
    } else {
        attacked(&|board| generator.is_exposed(board))
    };

    let mut together = (0, 0);
    for to in empty.squares() {
        let from = generator.spread(kind, u64::bit(to), empty, || others);
        assert_eq!(from & !empty, 0, "{}: spread", seen());
        // Where the solver asks for several targets it gets what each gives.
        if (to + square).is_multiple_of(3) {
            together = (together.0 | u64::bit(to), together.1 | from);
        }
        let legal = if exposed.has(to) { 0 } else { from };
        let (_, expected) = forward.quiet[usize::from(to)];
        assert_eq!(legal & forward.unforced, expected, "{}: quiet moves to {to}", seen());
    }
    let from = generator.spread(kind, together.0, empty, || others);
    assert_eq!(from, together.1, "{}: several targets", seen());
    assert_eq!(generator.spread(kind, 0, empty, || others), 0);

    let mut prey = others.opponent;
    if generator.royal() {
        prey &= !others.of(Kind::KING);
    }
    for target in prey.squares() {
        let from = generator.takes_from(kind, &others, target, empty);
        assert_eq!(from & !empty, 0, "{}: takes_from", seen());
        let legal = if generator.is_exposed(&moved(target)) { 0 } else { from };
        let (_, expected) = forward.captures[usize::from(target)];
        assert_eq!(legal & forward.placed, expected, "{}: captures on {target}", seen());
    }
}

/// Placements in an order that depends on nothing but themselves.
fn sorted(mut boards: Vec<Board>) -> Vec<String> {
    let mut texts: Vec<String> = boards.drain(..).map(|board| format!("{board:?}")).collect();
    texts.sort_unstable();
    texts
}

fn check_moves(game: &Game, board: &Board) {
    let generator = &**game.generator();
    let seen = || letters(game, board);
    let steps = legal(generator, board);
    let has_captures = steps.iter().any(Step::is_capture);
    let children = |wanted: &dyn Fn(&Step) -> bool| {
        let steps = steps.iter().filter(|step| wanted(step));
        sorted(steps.map(|step| generator.after(board, step)).collect())
    };
    let standing = |step: &Step| step.kind == Kind::PAWN && !step.is_capture();

    let mut visited = Vec::new();
    let to_the_end = generator.captures(board, |after| {
        visited.push(*after);
        true
    });
    assert!(to_the_end, "{}", seen());
    assert_eq!(sorted(visited), children(&Step::is_capture), "{}: captures", seen());
    assert_eq!(generator.captures(board, |_| false), !has_captures, "{}", seen());
    assert_eq!(generator.has_capture(board), has_captures, "{}", seen());
    assert_eq!(generator.has_move(board), !steps.is_empty(), "{}", seen());
    let has_quiet = steps.iter().any(|step| !step.is_conversion());
    assert_eq!(generator.has_quiet(board), has_quiet, "{}: has_quiet", seen());
    let unforced = !generator.forced() || !has_captures;
    if unforced {
        let mut visited = Vec::new();
        generator.standing_moves(board, |after| {
            visited.push(*after);
            true
        });
        assert_eq!(sorted(visited), children(&standing), "{}: standing moves", seen());
    }

    if board.en_passant == NO_SQUARE {
        let (mut captures, mut quiet) = (Vec::new(), Vec::new());
        generator.standing_tries(board, |after, takes| {
            if takes { &mut captures } else { &mut quiet }.push(*after);
        });
        // Simple steps are told on a board without the own moving pieces.
        let mut bare = *board;
        let moving = board.own & !board.of(Kind::PAWN);
        moving.squares().for_each(|square| bare.remove(square));
        let exposed = generator.is_exposed(board);
        generator.simple_steps(&bare, |from, to, through| {
            if through & moving != 0 || exposed && !generator.has_lines(board) {
                return;
            }
            let mut next = *board;
            next.remove(from);
            next.put(Kind::PAWN, Side::Own, to);
            if !generator.is_exposed(&next) {
                quiet.push(generator.turned(&next));
            }
        });
        let expected = children(&|step| step.kind == Kind::PAWN && step.is_capture());
        assert_eq!(sorted(captures), expected, "{}: pawns that take", seen());
        if unforced {
            assert_eq!(sorted(quiet), children(&standing), "{}: pawns that step", seen());
        }
        assert_eq!(generator.without_right(board), None);
    }

    assert_eq!(generator.turned(&generator.turned(board)), *board, "{}", seen());
    let (own, opponent) = generator.armies_of(board);
    assert_eq!(
        Some(board.key()),
        Rulebook::key(generator, &own, &opponent),
        "{}",
        seen()
    );
    let turned = generator.turned(board);
    assert_eq!(generator.armies_of(&turned), (opponent, own), "{}", seen());
}

/// Start, end, what moves, what it becomes, what is taken.
type Plain = (u8, u8, Kind, Kind, u8);

fn plain(steps: &[Step], image: impl Fn(u8) -> u8) -> Vec<Plain> {
    let mut plain: Vec<Plain> = steps
        .iter()
        .map(|step| {
            let taken = if step.is_capture() {
                image(step.taken)
            } else {
                NO_SQUARE
            };
            (image(step.from), image(step.to), step.kind, step.becomes, taken)
        })
        .collect();
    plain.sort_unstable();
    plain
}

fn check_symmetries(game: &Game, board: &Board) {
    let generator = &**game.generator();
    let (own, opponent) = generator.armies_of(board);
    let maps = Rulebook::symmetries(generator, &own, &opponent);
    assert!(!maps.is_empty() && maps.len() <= 8);
    assert!((0..64).all(|square| maps[0][usize::from(square)] == square));
    for map in &maps {
        let map: &[u8; 64] = map.as_slice().try_into().unwrap();
        let mapped = board.mapped(map);
        let image = |square: u8| map[usize::from(square)];
        let (expected, found) = (legal(generator, board), legal(generator, &mapped));
        let seen = || format!("{} as {}", letters(game, board), letters(game, &mapped));
        assert_eq!(plain(&found, |square| square), plain(&expected, image), "{}", seen());
        assert_eq!(
            generator.is_placement(&mapped),
            generator.is_placement(board),
            "{}",
            seen()
        );
        assert_eq!(generator.ending(&mapped), generator.ending(board), "{}", seen());
    }
}

fn check(game: &Game, board: &Board) {
    check_moves(game, board);
    check_symmetries(game, board);
    for square in (board.own & !board.of(Kind::PAWN)).squares() {
        check_piece(game, board, square);
    }
}

#[test]
fn backward_is_forward_turned_round() {
    for (n, game) in games().iter().enumerate() {
        let boards = placements(game, 77 + n as u64, 3000);
        assert_eq!(boards.len(), 3000, "{}", game.name());
        assert!(
            boards.iter().any(|board| board.occupied().count_ones() == 6),
            "{}",
            game.name()
        );
        let pawns = boards.iter().filter(|board| board.of(Kind::PAWN) != 0).count();
        assert!(pawns > 300, "{}: {pawns}", game.name());
        for board in &boards {
            check(game, board);
        }
    }
}

/// Whatever the axes are.
#[test]
fn backward_is_forward_turned_round_under_random_rules() {
    let mut chance = Chance(4711);
    let mut checked = 0;
    for n in 0..150 {
        let text = chance.rules();
        let game = Game::new(RuleFile::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}")));
        for board in placements(&game, 1000 + n, 100) {
            let result = std::panic::catch_unwind(|| check(&game, &board));
            assert!(result.is_ok(), "{text}");
            checked += 1;
        }
    }
    assert!(checked > 10_000, "{checked}");
}

/// The placement with a pawn of the opponent that has just stepped twice and
/// can be taken, as far as pawns go; a few pieces may leave no room for one.
fn with_right(game: &Game, board: &Board, chance: &mut Chance) -> Option<Board> {
    let generator = game.generator();
    let turned = generator.turned(board);
    // The opponent's pawns step from `pawn_rank` as it sees them.
    let start = (game.rules().pawn_rank - 1) * 8 + chance.below(usize::from(game.rules().files)) as u8;
    let mut stepped = turned;
    for square in [start, start + 8, start + 16] {
        if turned.occupied().has(square) {
            return None;
        }
    }
    stepped.put(Kind::PAWN, Side::Own, start + 16);
    let mut board = generator.turned(&stepped);
    board.en_passant = generator.turned_square(start + 8);
    let beside = generator.turned_square(start + 16);
    let places = [beside.checked_sub(1), beside.checked_add(1)];
    let from = *chance.pick(&places);
    let from = from.filter(|from| from / 8 == beside / 8 && generator.pawn_squares().has(*from))?;
    if board.occupied().has(from) {
        return None;
    }
    board.put(Kind::PAWN, Side::Own, from);
    generator.is_placement(&board).then_some(board)
}

#[test]
fn rights_to_take_en_passant() {
    let games = games();
    let games: Vec<&Game> = games.iter().filter(|game| game.rules().has_en_passant()).collect();
    assert!(games.len() >= 8);
    for (n, game) in games.into_iter().enumerate() {
        let generator = &**game.generator();
        let mut chance = Chance(5 + n as u64);
        let (mut rights, mut pinned) = (0, 0);
        for board in placements(game, 300 + n as u64, 6000) {
            let Some(board) = with_right(game, &board, &mut chance) else {
                continue;
            };
            let seen = || format!("{} passing {}", letters(game, &board), board.en_passant);
            check_moves(game, &board);
            check_symmetries(game, &board);
            let mut without = board;
            without.en_passant = NO_SQUARE;
            assert_eq!(generator.without_right(&board), Some(without), "{}", seen());
            assert_eq!(board.key(), without.key());

            let (steps, others) = (legal(generator, &board), legal(generator, &without));
            let by_right: Vec<&Step> = steps.iter().filter(|step| step.is_en_passant()).collect();
            let mut visited = Vec::new();
            generator.right_moves(&board, |after| visited.push(*after));
            let expected = by_right.iter().map(|step| generator.after(&board, step)).collect();
            assert_eq!(sorted(visited), sorted(expected), "{}: right moves", seen());
            assert!(others.iter().all(|step| !step.is_en_passant()), "{}", seen());

            // Nothing else changes, but that the capture may be compulsory and
            // that a pawn beside its king takes where it would step.
            let kept: Vec<Step> = steps.iter().filter(|step| !step.is_en_passant()).copied().collect();
            let mut expected = others;
            if !by_right.is_empty() {
                if generator.forced() {
                    expected.retain(Step::is_capture);
                }
                expected.retain(|step| {
                    let takes_instead = |right: &&Step| right.from == step.from && right.to == step.to;
                    !by_right.iter().any(takes_instead)
                });
                rights += 1;
            } else {
                pinned += 1;
            }
            // Tables hold the other moves only where the right takes none away.
            let mut visited = Vec::new();
            if generator.moves_instead(&board, |after, _| visited.push(*after)) {
                let all = steps.iter().map(|step| generator.after(&board, step)).collect();
                assert_eq!(sorted(visited), sorted(all), "{}: all moves", seen());
            } else {
                let taken_away = !generator.forced() && expected.len() < legal(generator, &without).len();
                assert!(visited.is_empty() && !taken_away, "{}", seen());
            }
            let same = |square| square;
            assert_eq!(plain(&kept, same), plain(&expected, same), "{}: other moves", seen());
        }
        assert!(rights > 200, "{}: {rights}", game.name());
        assert!(pinned > 0 || !generator.royal(), "{}: {pinned}", game.name());
    }
}
