//! Chess tables against figures from elsewhere, against each other, and
//! against a search one ply forward.

use petrov_games::chess::{Board, Game, Generator, Kind, Move, NO_SQUARE, Position, RuleFile, Side};
use petrov_games::{AnyGame, Bits, Colour, Games, Outcome, Rulebook};
use petrov_gen::{Depth, Verdict, VerifyReport, materials};
use petrov_probe::format::SideParts;
use petrov_probe::{
    Army, DigitOrder, Distance, Material, Metric, Prober, Score, SliceIndex, Table, Tables, Value, Value50,
};
use petrov_tests::{Folder, Random, repository};
use serde_json::{Value as Json, json};

fn named(name: &str) -> Game {
    Games::built_in().chess(name).expect("a built-in game").clone()
}

/// A game of its own by the axes in which it is not chess.
fn with(name: &str, lines: &str) -> Game {
    let text = format!("name = \"{name}\"\nfamily = \"chess\"\n{lines}");
    Game::new(RuleFile::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn built(game: &Game, requests: &[&str], metrics: &[Metric], threads: usize) -> Folder {
    let folder = Folder::default();
    for what in requests {
        folder.build(game, what, metrics, threads);
    }
    folder
}

fn table<'t>(tables: &'t Tables, material: &str, metric: Metric) -> &'t Table {
    let material: Material = material.parse().unwrap();
    let found = tables.iter().find(|table| {
        let parts = table.header().parts();
        parts.metric == metric && parts.material == material.to_string()
    });
    found.unwrap_or_else(|| panic!("no table {material}.{metric}"))
}

fn army(letters: &str) -> Army {
    letters.bytes().fold(Army::EMPTY, |army, letter| army.with(letter, 1))
}

/// The side of a table in which the first army of `text` moves, and the other.
fn sides<'t>(tables: &'t Tables, text: &str, metric: Metric) -> [&'t SideParts; 2] {
    let (first, second) = text.split_once('v').unwrap();
    let [first, second]: [Army; 2] = [first, second].map(army);
    let sides = &table(tables, text, metric).header().parts().sides;
    let material = Material::new(first, second);
    let number = |own: Army| usize::from(own != material.white()).min(sides.len() - 1);
    [&sides[number(first)], &sides[number(second)]]
}

/// Plies of the longest win and loss of the first army, and of the second.
fn longest(tables: &Tables, text: &str, metric: Metric) -> [u16; 4] {
    let [first, second] = sides(tables, text, metric);
    let plies = |side: &SideParts, value| side.longest(value).unwrap_or(0);
    [
        plies(first, Value::Win),
        plies(first, Value::Loss),
        plies(second, Value::Win),
        plies(second, Value::Loss),
    ]
}

fn check(game: &Game, what: Option<&str>, folder: &Folder, depth: Depth) -> VerifyReport {
    let what = what.map(|what| what.parse().unwrap());
    folder.verify(game, what, depth)
}

fn assert_sound(game: &Game, what: Option<&str>, folder: &Folder) {
    let report = check(game, what, folder, Depth::Every);
    assert!(!report.tables.is_empty());
    assert!(
        report.findings.is_empty(),
        "{}: {:?}",
        game.name(),
        report.findings.first()
    );
    for table in &report.tables {
        assert_eq!(
            table.verdict,
            Verdict::Proved,
            "{}: {}",
            game.name(),
            table.file.display()
        );
    }
}

/// What the moves of a position say that it is worth.
fn forward(prober: &Prober<Game>, position: &Position, metric: Metric) -> Score {
    let game = prober.game();
    let worth = game.legal_moves(position).into_iter().map(|played| {
        let score = prober.score(&game.after(position, &played), metric).unwrap();
        let score = score.before_move(metric, played.is_conversion());
        if metric == Metric::Dtz && game.rules().fifty_moves {
            score.within_fifty_moves()
        } else {
            score
        }
    });
    worth.max_by_key(|score| score.preference()).unwrap_or_else(|| {
        let value = match game.ending(position).unwrap().outcome {
            Outcome::Win => Value::Win,
            Outcome::Draw => Value::Draw,
            Outcome::Loss => Value::Loss,
        };
        Score::new(value, 0)
    })
}

/// All tables of chess up to four pieces are built once for all that looks at
/// them.
#[test]
fn chess_up_to_four_pieces() {
    let chess = named("chess");
    let folder = built(&chess, &["4"], &Metric::ALL, 2);
    let tables = folder.tables();
    assert_eq!(tables.faults().count(), 0);
    counts_agree_with_the_oracle(&tables);
    longest_wins_are_the_published_ones(&tables);
    en_passant_in_chess(&chess, &tables);
    pawns_one_ply_forward(&chess, &tables);
    without_pairs_and_pawns_e_chess_is_chess(&tables);
}

/// `tests/oracle/chess.json` comes from other tables. Its `max_dtz` is the
/// longest distance to a conversion of any win or loss.
fn counts_agree_with_the_oracle(tables: &Tables) {
    let text = std::fs::read_to_string(repository().join("tests/oracle/chess.json")).unwrap();
    let oracle: Json = serde_json::from_str(&text).unwrap();
    let oracle = oracle.as_object().unwrap();
    assert_eq!(oracle.len(), 14);
    let mut bad = Vec::new();
    for (material, expected) in oracle {
        for metric in Metric::ALL {
            for (side, turn) in sides(tables, material, metric).into_iter().zip(["white", "black"]) {
                let found = json!({
                    "wins": side.count(Value::Win),
                    "draws": side.count(Value::Draw),
                    "losses": side.count(Value::Loss),
                    "mated": side.mated,
                });
                let expected = &expected[format!("{turn}_to_move")];
                if found != *expected {
                    bad.push(format!("{material}.{metric}, {turn}: {found}, expected {expected}"));
                }
            }
        }
        let most = longest(tables, material, Metric::Dtz).into_iter().max();
        if json!(most) != expected["max_dtz"] {
            bad.push(format!("{material}: dtz {most:?}, expected {}", expected["max_dtz"]));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Moves to mate as in Nalimov's tables and, since 1977, Thompson's; most of
/// them are also in Wikipedia's "Pawnless chess endgames" and "Endgame
/// tablebase". A win in n moves takes 2n - 1 plies; who is lost in n moves
/// may still move 2n plies.
fn longest_wins_are_the_published_ones(tables: &Tables) {
    for (material, moves) in [
        ("KQvK", 10),
        ("KRvK", 16),
        ("KPvK", 28),
        ("KBNvK", 33),
        ("KBBvK", 19),
        ("KQvKR", 35),
        ("KQvKN", 21),
        ("KQvKB", 17),
        ("KRvKB", 29),
        ("KRvKN", 40),
        ("KQvKP", 28),
        ("KRvKP", 26),
        // The same material, won by the pawn.
        ("KPvKR", 43),
        ("KQvKQ", 13),
        ("KRvKR", 19),
        ("KPvKP", 33),
        ("KNNvK", 1),
    ] {
        let [win, ..] = longest(tables, material, Metric::Dtw);
        assert_eq!(win, 2 * moves - 1, "{material}");
        // No move of a bare king leads elsewhere, so the longest loss is a ply
        // from the longest win.
        if material.ends_with("vK") && !material.contains('P') {
            let [win, _, _, loss] = longest(tables, material, Metric::Dtw);
            assert!(loss == win + 1 || loss == win - 1, "{material}: {win}, {loss}");
        }
    }
    // Moves to mate or to a capture, as Thompson's tables have them.
    for (material, moves) in [("KRvKB", 18), ("KRvKN", 27), ("KQvKR", 31)] {
        let [win, _, _, loss] = longest(tables, material, Metric::Dtz);
        assert_eq!(win.max(loss).div_ceil(2), moves, "{material}: {win}, {loss}");
    }
    for material in ["KvK", "KBvK", "KNvK"] {
        assert_eq!(longest(tables, material, Metric::Dtw), [0; 4], "{material}");
    }
}

/// All positions of one pawn each, the opponent's having just passed.
fn passed_pawns(generator: &Generator, visit: &mut dyn FnMut(&Board)) {
    let passed_rank = generator.ranks() - 3;
    for file in 0..generator.files() {
        let passed = passed_rank * 8 + file;
        let beside = [file.checked_sub(1), file.checked_add(1)].into_iter().flatten();
        for own in beside.filter(|file| *file < generator.files()) {
            let mut board = Board::EMPTY;
            board.put(Kind::PAWN, Side::Opponent, passed - 8);
            board.put(Kind::PAWN, Side::Own, (passed_rank - 1) * 8 + own);
            board.en_passant = passed;
            let empty = generator.squares() & !board.occupied() & !u64::bit(passed) & !u64::bit(passed + 8);
            for king in empty.squares() {
                for other in empty.squares().filter(|other| *other != king) {
                    let mut board = board;
                    board.put(Kind::KING, Side::Own, king);
                    board.put(Kind::KING, Side::Opponent, other);
                    if generator.is_placement(&board) {
                        visit(&board);
                    }
                }
            }
        }
    }
}

/// What became of positions with a right to take en passant.
#[derive(Default)]
struct Passed {
    only: u64,
    better: u64,
    worse: u64,
    illegal: u64,
    bad: Vec<String>,
}

impl Passed {
    fn look(&mut self, prober: &Prober<Game>, board: &Board, turn: Colour) {
        let game = prober.game();
        let position = game.generator().position(board, turn);
        let legal = game.legal_moves(&position);
        let by_right = legal
            .iter()
            .filter(|played| played.captured.is_some_and(|taken| taken != played.to));
        let by_right = by_right.count();
        self.only += u64::from(by_right == legal.len() && by_right > 0);
        self.illegal += u64::from(by_right == 0);
        let without = game.generator().without_right(board).unwrap();
        for metric in Metric::ALL {
            let found = prober.score(&position, metric).unwrap();
            let expected = forward(prober, &position, metric);
            if found != expected {
                let fen = game.fen(&position);
                self.bad.push(format!(
                    "{} {fen} {metric}: {found:?}, expected {expected:?}",
                    game.name()
                ));
            }
            if metric == Metric::Wld {
                let without = prober
                    .score(&game.generator().position(&without, turn), metric)
                    .unwrap();
                self.better += u64::from(found.preference() > without.preference());
                self.worse += u64::from(found.preference() < without.preference());
            }
        }
    }

    fn assert_none_bad(&self) {
        let some = &self.bad[..self.bad.len().min(10)];
        assert!(
            some.is_empty(),
            "{} scores such as\n{}",
            self.bad.len(),
            some.join("\n")
        );
    }
}

/// Every position of KPvKP with a right, either colour.
fn en_passant_in_chess(chess: &Game, tables: &Tables) {
    let prober = tables.prober(chess).unwrap();
    let mut passed = Passed::default();
    let mut turn = Colour::White;
    passed_pawns(chess.generator(), &mut |board| {
        passed.look(&prober, board, turn);
        turn = turn.other();
    });
    passed.assert_none_bad();
    assert!(passed.better > 1000, "{}", passed.better);
    // Two kings and two pawns leave no other piece without a move.
    assert_eq!(passed.only, 0);
    // Without the right this would be another position of the table.
    let position = chess.parse_fen("8/8/8/8/kpP5/8/K7/8 b - c3 0 1").unwrap();
    assert_eq!(
        prober.score(&position, Metric::Dtw).unwrap(),
        forward(&prober, &position, Metric::Dtw)
    );
}

/// KPvKP without a right, where double steps give one: the share of its
/// positions that there is time for.
fn pawns_one_ply_forward(chess: &Game, tables: &Tables) {
    let prober = tables.prober(chess).unwrap();
    let generator = &**chess.generator();
    let army = army("KP");
    let index = SliceIndex::new(generator, &army, &army, DigitOrder::SOLVING).unwrap();
    let mut rights = 0;
    for entry in (0..index.len()).step_by(11) {
        let board = index.unrank(entry);
        if !generator.is_placement(&board) {
            continue;
        }
        let turn = [Colour::White, Colour::Black][usize::from(entry % 2 == 1)];
        let position = generator.position(&board, turn);
        let moves = chess.legal_moves(&position);
        let passes = |played: &Move| chess.after(&position, played).board.en_passant != NO_SQUARE;
        rights += u64::from(moves.iter().any(passes));
        for metric in [Metric::Dtw, Metric::Dtz] {
            let (found, expected) = (
                prober.score(&position, metric).unwrap(),
                forward(&prober, &position, metric),
            );
            assert_eq!(found, expected, "{} {metric}", chess.fen(&position));
        }
    }
    assert!(rights > 1000, "{rights}");
}

/// Where a pawn beside its king may also step without taking, the right takes
/// that step away.
#[test]
fn en_passant_beside_the_king() {
    for (n, board) in ["5x5", "5x6", "4x7"].into_iter().enumerate() {
        let lines = format!(
            "board = \"{board}\"\nstart = \"-\"\npromote_to = [\"q\", \"n\"]\ndouble_step = \"start\"\npawn_guard = \"aura\"\n"
        );
        let game = with(&format!("aura-{n}"), &lines);
        let folder = built(&game, &["KPvKP"], &Metric::ALL, 2);
        let tables = folder.tables();
        let prober = tables.prober(&game).unwrap();
        let mut passed = Passed::default();
        passed_pawns(game.generator(), &mut |board| {
            passed.look(&prober, board, Colour::Black)
        });
        passed.assert_none_bad();
        assert!(passed.better > 0);
        assert_sound(&game, Some("KPvKP"), &folder);
    }
}

/// A pin takes five pieces, so the board is small.
#[test]
fn en_passant_and_pins() {
    let lines = "board = \"5x5\"\nstart = \"-\"\npromote_to = [\"r\"]\ndouble_step = \"start\"\n";
    let game = with("five", lines);
    let folder = built(&game, &["KRPvKP"], &Metric::ALL, 2);
    let tables = folder.tables();
    let prober = tables.prober(&game).unwrap();
    let generator = game.generator();
    let mut passed = Passed::default();
    passed_pawns(generator, &mut |board| {
        let empty = generator.squares() & !board.occupied() & !u64::bit(board.en_passant);
        for rook in empty.squares() {
            for side in [Side::Own, Side::Opponent] {
                let mut board = *board;
                board.put(Kind::ROOK, side, rook);
                if rook != board.en_passant + 8 && generator.is_placement(&board) {
                    passed.look(&prober, &board, Colour::White);
                }
            }
        }
    });
    passed.assert_none_bad();
    assert!(passed.illegal > 100, "{}", passed.illegal);
    assert!(passed.better > 100 && passed.only > 0);
    // Both pawns leave the rank between king and rook.
    let position = game.parse_fen("4k/5/5/KPp1r/5 w - - 0 1").unwrap();
    let pinned = game.parse_fen("4k/5/5/KPp1r/5 w - c3 0 1").unwrap();
    for metric in Metric::ALL {
        let [plain, pinned] = [position, pinned].map(|position| prober.score(&position, metric).unwrap());
        assert_eq!(plain, pinned);
    }
}

/// A table but for the rules that it names.
fn contents(table: &Table) -> (petrov_probe::format::HeaderParts, Vec<Vec<u8>>) {
    let mut parts = table.header().parts().clone();
    parts.fingerprint = [0; 16];
    parts.game.clear();
    let blocks = (0..parts.sides.len()).flat_map(|side| {
        let blocks = table.header().blocks(side).len() as u64;
        (0..blocks).map(move |block| {
            let mut bytes = table.read_block(side, block).unwrap();
            // Compressed bytes, too, by length and checksum.
            let stored = table.header().blocks(side)[block as usize];
            bytes.extend(stored.stored_bytes.to_le_bytes());
            bytes.extend(stored.crc.to_le_bytes());
            bytes
        })
    });
    let blocks = blocks.collect();
    (parts, blocks)
}

/// In e-chess only pawns and pairs of like rooks, bishops or knights move in
/// other ways than in chess.
fn without_pairs_and_pawns_e_chess_is_chess(of_chess: &Tables) {
    let (chess, e_chess) = (named("chess"), named("e-chess"));
    let has_pair = |army: Army| [b'R', b'B', b'N'].iter().any(|letter| army.count(*letter) > 1);
    let mut equal: Vec<Material> = materials(&e_chess, "4".parse().unwrap()).unwrap();
    equal.retain(|material| {
        let armies = [material.white(), material.black()];
        armies.iter().all(|army| army.count(b'P') == 0 && !has_pair(*army))
    });
    assert_eq!(equal.len(), 1 + 4 + (10 - 3) + 10);
    let folder = Folder::default();
    for material in &equal {
        folder.build(&e_chess, &material.to_string(), &Metric::ALL, 2);
    }
    for material in ["KBBvK", "KRRvK", "KNNvK", "KPvK"] {
        folder.build(&e_chess, material, &Metric::ALL, 2);
    }
    let of_e_chess = folder.tables();
    for metric in Metric::ALL {
        for material in &equal {
            let [one, other] = [of_chess, &of_e_chess].map(|tables| table(tables, &material.to_string(), metric));
            assert!(contents(one) == contents(other), "{material}.{metric}");
        }
        for material in ["KBBvK", "KRRvK", "KNNvK", "KPvK"] {
            let [one, other] = [of_chess, &of_e_chess].map(|tables| table(tables, material, metric));
            assert!(contents(one) != contents(other), "{material}.{metric}");
        }
    }
    // Stalemate in chess; beside its king the pawn also attacks straight ahead.
    let fen = "4k3/4P3/4K3/8/8/8/8/8 b - - 0 1";
    let (in_chess, in_e_chess) = (of_chess.prober(&chess).unwrap(), of_e_chess.prober(&e_chess).unwrap());
    for metric in Metric::ALL {
        let score = in_chess.score(&chess.parse_fen(fen).unwrap(), metric).unwrap();
        assert_eq!(score, Score::DRAW);
        let score = in_e_chess.score(&e_chess.parse_fen(fen).unwrap(), metric).unwrap();
        assert_eq!(score, Score::loss(0));
    }
    let position = e_chess.parse_fen(fen).unwrap();
    assert!(e_chess.ending(&position).unwrap().mated);
    assert_eq!(in_e_chess.root(&position).unwrap().dtw, Distance::Plies(0));
}

/// The On-Line Encyclopedia of Integer Sequences, A225556: most moves to mate
/// with bishop and knight on a board of n x n squares, n from 3 on.
#[test]
fn bishop_and_knight_on_small_boards() {
    for (size, moves) in (3..=8).zip([7, 14, 13, 22, 21, 33]) {
        let lines = format!(
            "board = \"{size}x{size}\"\nstart = \"-\"\ncastling = \"none\"\ndouble_step = \"none\"\nen_passant = false\n"
        );
        let game = with(&format!("square-{size}"), &lines);
        let folder = built(&game, &["KBNvK"], &[Metric::Dtw], 2);
        let tables = folder.tables();
        let [win, loss, other_win, other_loss] = longest(&tables, "KBNvK", Metric::Dtw);
        assert_eq!(
            win.max(other_loss).div_ceil(2),
            moves,
            "{size}x{size}: {win}, {other_loss}"
        );
        assert_eq!((loss, other_win), (0, 0));
    }
}

/// Pieces slow enough for the fifty-move rule to matter with four men.
const SLOW: &str = "
start = \"-\"
castling = \"none\"
promote_to = [\"n\"]
[pieces.b]
leaps = [[1, 0]]
[pieces.n]
leaps = [[3, 1]]
";

/// Placements of an army against a bare king, either side to move.
fn slow_position(game: &Game, random: &mut Random, letters: &str) -> Position {
    let generator = game.generator();
    loop {
        let mut board = Board::EMPTY;
        let pieces = letters
            .chars()
            .map(|letter| (letter, Side::Own))
            .chain([('k', Side::Opponent)]);
        let mut fits = true;
        for (letter, side) in pieces {
            let square = random.below(64) as u8;
            fits &= !board.occupied().has(square);
            if fits {
                board.put(game.rules().kind(letter).unwrap(), side, square);
            }
        }
        let turn = [Colour::White, Colour::Black][random.below(2) as usize];
        let board = if random.below(2) == 0 {
            board
        } else {
            generator.turned(&board)
        };
        if fits && generator.is_placement(&board) {
            return generator.position(&board, turn);
        }
    }
}

#[test]
fn fifty_moves() {
    let game = with("slow", SLOW);
    let folder = built(&game, &["KBNvK", "KBPvK"], &Metric::ALL, 2);
    let report = check(&game, None, &folder, Depth::Every);
    assert!(report.findings.is_empty(), "{:?}", report.findings.first());
    let distances = report.tables.iter().filter(|table| table.metric != Metric::Wld);
    assert!(distances.clone().count() > 4);
    assert!(distances.clone().all(|table| table.verdict == Verdict::Proved));
    let tables = folder.tables();
    let spoilt = |material: &str, metric: Metric| {
        let sides = sides(&tables, material, metric);
        let of_side = |side: &SideParts| {
            let spoilt = side.palette.iter().filter(|entry| entry.score().is_spoilt());
            spoilt.map(|entry| entry.count).sum::<u64>()
        };
        sides.map(of_side)
    };
    for material in ["KBNvK", "KBPvK"] {
        let [cursed, blessed] = spoilt(material, Metric::Dtz);
        assert!(cursed > 0 && blessed > 0, "{material}: {cursed}, {blessed}");
        for metric in [Metric::Wld, Metric::Dtw] {
            assert_eq!(spoilt(material, metric), [0, 0], "{material}.{metric}");
        }
    }

    // Without the rule nothing is spoilt.
    let free = with("slow-and-free", &format!("fifty_moves = false\n{SLOW}"));
    let of_free = built(&free, &["KBNvK"], &[Metric::Dtz], 2);
    assert_sound(&free, None, &of_free);
    let of_free = of_free.tables();
    assert_eq!(longest(&of_free, "KBNvK", Metric::Dtz), [153, 0, 0, 154]);
    for side in sides(&of_free, "KBNvK", Metric::Dtz) {
        assert!(side.palette.iter().all(|entry| !entry.score().is_spoilt()));
    }
    roots_under_fifty_moves(&game, &tables, &free, &of_free);
}

fn roots_under_fifty_moves(game: &Game, tables: &Tables, free: &Game, of_free: &Tables) {
    let (prober, free_prober) = (tables.prober(game).unwrap(), of_free.prober(free).unwrap());
    let mut random = Random::new(50);
    let mut seen = [0; 5];
    let any = slow_position(free, &mut random, "KBN");
    assert_eq!(free_prober.root(&any).unwrap().value50, None);
    let (mut at_once, mut too_late, mut crossed) = (0, 0, 0);
    let mut positions: Vec<Position> = (0..4000)
        .map(|n| slow_position(game, &mut random, ["KBN", "KBP"][n % 2]))
        .filter(|position| game.parse_fen(&game.fen(position)).is_ok())
        .collect();
    // Mates are rare, so some lines are followed to theirs.
    let wins = positions.iter().filter(|position| {
        let score = prober.score(position, Metric::Dtz).unwrap();
        score.is_win() && !score.is_spoilt()
    });
    let before_mates = wins.take(20).filter_map(|position| {
        let line = prober.line(position).unwrap();
        let before = line.len().checked_sub(2)?;
        Some(line[before].after)
    });
    let before_mates: Vec<Position> = before_mates.collect();
    positions.extend(before_mates);
    for mut position in positions {
        let has_pawn = position.board.of(Kind::PAWN) != 0;
        let score = prober.score(&position, Metric::Dtz).unwrap();
        if !has_pawn {
            let plain = free_prober.score(&position, Metric::Dtz).unwrap();
            assert_eq!(score.value(), plain.value());
            crossed += u64::from(score.is_spoilt() && plain.distance() > 100);
        }
        assert_eq!(
            score,
            forward(&prober, &position, Metric::Dtz),
            "{}",
            game.fen(&position)
        );
        for clock in [0, 50, 99, 100] {
            position.halfmove = clock;
            let fen = game.fen(&position);
            let root = prober.root(&position).unwrap();
            // Three-valued whatever the rule says.
            assert_eq!(root.value, score.value(), "{fen}");
            assert_eq!(root.value, prober.value(&position).unwrap(), "{fen}");
            let mates = root
                .moves
                .iter()
                .filter(|ranked| game.ending(&ranked.after).is_some_and(|ending| ending.mated));
            let mates = mates.count() > 0;
            let in_time = clock + u32::from(score.distance()) <= 100;
            let counts = !score.is_spoilt()
                && match score.value() {
                    Value::Win => in_time || mates,
                    Value::Draw => true,
                    Value::Loss => in_time || root.moves.is_empty(),
                };
            let expected = Value50::new(score.value(), !counts);
            assert_eq!(root.value50, Some(expected), "{fen}: {score:?}");
            at_once += u64::from(mates && clock == 100 && expected == Value50::Win);
            too_late += u64::from(!score.is_spoilt() && !counts);
            seen[expected as usize] += 1;
            if let Some(best) = root.moves.first() {
                assert_eq!(best.value50, root.value50, "{fen}");
                let most = root.moves.iter().map(|ranked| ranked.value50).max();
                assert_eq!(most, Some(root.value50), "{fen}");
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    assert!(
        at_once > 0 && too_late > 0 && crossed > 0,
        "{at_once} {too_late} {crossed}"
    );
}

/// Every position of three pieces of all built-in games, looked at one ply
/// forward.
#[test]
fn all_games_verify() {
    let games = Games::built_in();
    let games: Vec<&Game> = games.iter().filter_map(AnyGame::chess).collect();
    assert_eq!(games.len(), 10);
    for game in games {
        let requests: &[&str] = match game.name() {
            // A bare king ends the game, so the smallest tables have four.
            "shatranj" => &["KQvKQ"],
            // Two armies of any pieces: too many materials of three.
            "giveaway" => &["2", "KNvP", "RPvB", "PPvN"],
            _ => &["3"],
        };
        let folder = built(game, requests, &Metric::ALL, 2);
        assert_sound(game, None, &folder);
    }
}

/// More of shatranj; all positions would take too long.
#[test]
fn bare_kings_verify() {
    let shatranj = named("shatranj");
    let folder = built(&shatranj, &["KRvKN", "KPvKP"], &Metric::ALL, 2);
    let report = check(&shatranj, None, &folder, Depth::Sample(40_000));
    assert!(report.findings.is_empty(), "{:?}", report.findings.first());
    assert_eq!(report.tables.len(), 4 * Metric::ALL.len());
}

/// Every position with pawns that step twice, take in passing and promote to
/// any piece; on this board there are few enough.
#[test]
fn pawns_verify() {
    let lines = "board = \"5x5\"\nstart = \"-\"\ndouble_step = \"start\"\n";
    let game = with("five-by-five", lines);
    let folder = built(&game, &["KPvKP"], &Metric::ALL, 2);
    assert_sound(&game, Some("KPvKP"), &folder);
}

/// Pieces of chess, and pawns on a board on which they do not take minutes.
#[test]
fn threads_make_no_difference() {
    let lines = "board = \"6x6\"\nstart = \"-\"\ndouble_step = \"start\"\npromote_to = [\"q\", \"n\"]\n";
    let metrics = [Metric::Wld, Metric::Dtz];
    for (game, requests) in [
        (named("chess"), ["KRvKN", "KBNvK"].as_slice()),
        (with("six-by-six", lines), &["KPvKP"]),
    ] {
        let one = built(&game, requests, &metrics, 1).files();
        for threads in [2, 4] {
            let other = built(&game, requests, &metrics, threads).files();
            assert_eq!(other.len(), one.len());
            for ((name, bytes), (other_name, other_bytes)) in one.iter().zip(&other) {
                assert_eq!(name, other_name);
                assert!(bytes == other_bytes, "{} with {threads} threads", name.display());
            }
        }
    }
}

/// Tables that are read back, of one metric or another, lead to the same ones
/// as if everything had been solved at once.
#[test]
fn what_is_there_makes_no_difference() {
    let lines = "board = \"4x5\"\nstart = \"-\"\ndouble_step = \"start\"\npromote_to = [\"q\", \"n\"]\n";
    for game in [
        with("four-by-five", lines),
        with(
            "four-by-five-giveaway",
            &format!("{lines}goal = \"lose-all\"\ncapture_compulsory = true\nstalemate = \"wins\"\n"),
        ),
    ] {
        let what = if game.rules().goal == petrov_games::chess::Goal::Mate {
            "KRPvKP"
        } else {
            "RPvP"
        };
        let at_once = built(&game, &[what], &Metric::ALL, 2);
        let expected = at_once.files();
        let same = |folder: &Folder, how: &str| {
            let files = folder.files();
            assert_eq!(files.len(), expected.len(), "{how}");
            for ((name, bytes), (other_name, other_bytes)) in expected.iter().zip(&files) {
                assert_eq!(name, other_name, "{how}");
                assert!(bytes == other_bytes, "{}: {how}", name.display());
            }
        };
        // Fewer pieces first, metric by metric.
        let in_turn = Folder::default();
        for metric in Metric::ALL {
            in_turn.build(&game, "3", &[metric], 2);
            in_turn.build(&game, what, &[metric], 2);
        }
        for (name, _) in in_turn.files() {
            if !expected.iter().any(|(other, _)| *other == name) {
                std::fs::remove_file(in_turn.path().join(&name)).unwrap();
            }
        }
        same(&in_turn, "in turn");
        for metric in Metric::ALL {
            for (name, _) in at_once.files() {
                if name.to_string_lossy().contains(metric.name()) {
                    std::fs::remove_file(at_once.path().join(&name)).unwrap();
                }
            }
            at_once.build(&game, what, &Metric::ALL, 2);
            same(&at_once, metric.name());
        }
    }
}
