//! `scripts/read_table.py`, written from `docs/format.md`, against the Rust
//! reader.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use petrov_games::draughts::{Game, Position, RuleFile};
use petrov_games::{Army, Bits, Colour, Games, Kind, Placement, Rulebook, Side, chess, with_rulebook};
use petrov_gen::write_table;
use petrov_probe::format::{HeaderParts, PaletteEntry, SideParts};
use petrov_probe::{
    BlockCache, DigitOrder, Material, Metric, Score, SliceIndex, Table, Tables, Value50, View, free_entries, material,
};
use petrov_tests::{Folder, Random, game, repository};
use serde_json::{Value as Json, json};

/// The Python that has the package `zstandard`.
fn python() -> PathBuf {
    let own = repository().join(".venv/bin/python");
    let python = if own.exists() { own } else { PathBuf::from("python3") };
    let usable = Command::new(&python)
        .args(["-c", "import zstandard"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    assert!(
        usable,
        "{} cannot import zstandard: run `scripts/setup --tests` first",
        python.display()
    );
    python
}

/// What the script prints, given some lines.
fn read_table(file: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(python())
        .arg(repository().join("scripts/read_table.py"))
        .arg(file)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{} {arguments:?}", file.display());
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn value_name(score: Score) -> &'static str {
    Value50::new(score.value(), score.is_spoilt()).name()
}

fn entry_line(table: &Table, side: usize, entry: u64) -> String {
    let score = table.entry(side, entry).unwrap();
    format!("{entry}\t{}\t{}\n", value_name(score), score.distance())
}

/// The position with squares named by letter and number, as the script wants
/// them whatever the game calls them.
fn plain_fen(game: &Game, position: &Position, mirror: bool) -> String {
    let list = |colour: Colour| {
        let mut names = Vec::new();
        for (set, letter) in [(position.men, ""), (position.kings, "K")] {
            for square in set[colour as usize].squares() {
                let (file, rank) = game.board().coordinates(square);
                let file = if mirror { game.board().files() - 1 - file } else { file };
                names.push(format!(
                    "{letter}{}{}",
                    char::from(b"abcdefghiklm"[usize::from(file)]),
                    rank + 1
                ));
            }
        }
        names.join(",")
    };
    let turn = if position.turn == Colour::White { "W" } else { "B" };
    format!("{turn}:W{}:B{}", list(Colour::White), list(Colour::Black))
}

/// A random placement of two armies that counts as a position.
fn random_placement<R: Rulebook>(rulebook: &R, own: &Army, opp: &Army, random: &mut Random) -> R::Placement {
    loop {
        let mut placement = R::Placement::default();
        // Standing pieces, which are listed last, have the fewest squares.
        for (kind, letter) in rulebook.kinds().iter().rev() {
            for (side, army) in [(Side::Own, own), (Side::Opponent, opp)] {
                for _ in 0..army.count(*letter) {
                    let squares = match *kind {
                        Kind::STANDING => rulebook.standing_squares(side),
                        _ => rulebook.squares(),
                    };
                    let free = squares & !placement.occupied();
                    let square = free.nth(random.below(free.count().into()) as u32);
                    placement.add(side, *kind, R::Set::bit(square));
                }
            }
        }
        if rulebook.is_placement(&placement) {
            return placement;
        }
    }
}

fn check_header(table: &Table) {
    let parts = table.header().parts();
    let printed: Json = serde_json::from_str(&read_table(table.path(), &["--header"], "")).unwrap();
    let colour = |colour: Colour| if colour == Colour::White { "white" } else { "black" };
    let sides: Vec<Json> = (0..parts.sides.len())
        .map(|number| {
            let side = &parts.sides[number];
            let line = |line: &PaletteEntry| json!({ "value": line.value.name(), "distance": line.distance, "count": line.count });
            let blocks = table.header().blocks(number).iter();
            json!({
                "to_move": colour(side.to_move),
                "digit_order": side.order,
                "entries": side.entries,
                "row": side.row,
                "stored": side.stored,
                "palette": side.palette.iter().map(line).collect::<Vec<_>>(),
                "longest_win": side.longest_win,
                "mated": side.mated,
                "blocks": blocks.map(|block| json!({ "offset": block.offset, "stored_bytes": block.stored_bytes,
                    "packed_bytes": block.packed_bytes, "crc32": block.crc })).collect::<Vec<_>>(),
            })
        })
        .collect();
    assert_eq!(printed["sides"], json!(sides));
    assert_eq!(printed["metric"], parts.metric.name());
    assert_eq!(printed["material"], parts.material);
    assert_eq!(printed["game"], parts.game);
    assert_eq!(printed["family"], parts.family);
    let free = parts.free_entries;
    assert_eq!(
        printed["free_entries"],
        json!({ "captures": free.captures, "up_to_capture": free.up_to_capture, "gaps": free.gaps })
    );
    assert_eq!(printed["block_bytes"], parts.block_bytes);
    assert_eq!(printed["dictionary_bytes"], parts.dictionary.len());
    let fingerprint: String = parts.fingerprint.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    assert_eq!(printed["fingerprint"], fingerprint);
}

fn find<'t>(tables: &'t Tables, material: &str, metric: Metric) -> &'t Table {
    let wanted = |table: &&Table| {
        let parts = table.header().parts();
        parts.metric == metric && parts.material == material
    };
    tables.iter().find(wanted).unwrap()
}

/// Header, entries by number, and entries by position of tables as they are
/// built; with two sides and one, men and none.
#[test]
fn built_tables() {
    let game = game("russian");
    let folder = Folder::with(&game, "KKMvK", &[Metric::Wld, Metric::Dtw]);
    folder.build(&game, "KKvKK", &[Metric::Wld, Metric::Dtw], 0);
    let tables = folder.tables();
    let prober = tables.prober(&game).unwrap();
    let mut random = Random::new(7);
    for (name, metric) in [
        ("KKMvK", Metric::Wld),
        ("KKMvK", Metric::Dtw),
        ("KKvKK", Metric::Wld),
        ("KKvKK", Metric::Dtw),
        ("KKvK", Metric::Dtw),
    ] {
        let table = find(&tables, name, metric);
        check_header(table);
        for (side, parts) in table.header().parts().sides.iter().enumerate() {
            let entries: Vec<u64> = (0..3000).map(|_| random.below(parts.entries)).collect();
            let input: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
            let expected: String = entries.iter().map(|entry| entry_line(table, side, *entry)).collect();
            assert_eq!(
                read_table(table.path(), &["--entries", &side.to_string()], &input),
                expected
            );
        }

        // Positions in which the mover has a capture have free entries.
        let canonical: Material = name.parse().unwrap();
        let (mut input, mut expected) = (String::new(), Vec::new());
        while expected.len() < 3000 {
            let mut armies = (canonical.white(), canonical.black());
            if random.below(2) == 0 {
                armies = (armies.1, armies.0);
            }
            let position = random.position(game.board(), armies.0, armies.1);
            if game.legal_moves(&position).iter().any(|played| played.captured != 0) {
                continue;
            }
            let score = prober.score(&position, metric).unwrap();
            input += &plain_fen(&game, &position, false);
            input += "\n";
            expected.push((score.value().name().to_owned(), score.distance().to_string()));
        }
        let printed = read_table(table.path(), &["--probe", "8x8-dark"], &input);
        let mut lines = printed.lines();
        for (fen, (value, distance)) in input.lines().zip(&expected) {
            let fields: Vec<&str> = lines.next().unwrap().split('\t').collect();
            assert_eq!(
                fields[2..],
                [value.as_str(), distance.as_str()],
                "{fen} in {name}.{metric}"
            );
        }
    }
}

/// Every entry, in order, of a table.
#[test]
fn all_entries() {
    let game = game("brazilian");
    let folder = Folder::with(&game, "MMvK", &[Metric::Dtw]);
    let tables = folder.tables();
    let table = find(&tables, "MMvK", Metric::Dtw);
    for (side, parts) in table.header().parts().sides.iter().enumerate() {
        let printed = read_table(table.path(), &["--entries", &side.to_string(), "--all"], "");
        let expected: String = (0..parts.entries).map(|entry| entry_line(table, side, entry)).collect();
        assert!(printed == expected, "side {side}");
    }
}

/// Distances enough for codes of two bytes.
const DISTANCES: u16 = 300;

fn made_up(entry: u64, lines: usize) -> u16 {
    ((entry.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % lines as u64) as u16
}

/// A table whose entries tell which one was read.
fn write_made_up<G: petrov_games::Game, R: Rulebook>(
    path: &Path,
    game: &G,
    rulebook: &R,
    material: Material,
    orders: [u8; 2],
    lines: u16,
) -> Vec<SliceIndex<R::Set>> {
    let palette: Vec<PaletteEntry> = (0..lines)
        .map(|distance| PaletteEntry {
            value: if distance % 2 == 1 { Value50::Win } else { Value50::Loss },
            distance,
            count: 1,
        })
        .collect();
    let (mut indices, mut sides) = (Vec::new(), Vec::new());
    for (view, code) in material.views().iter().zip(orders) {
        let (own, opp) = material.armies(*view);
        let order = DigitOrder::from_code(code).unwrap();
        let index = SliceIndex::new(rulebook, &own, &opp, order).unwrap();
        sides.push(SideParts {
            to_move: if *view == View::White {
                Colour::White
            } else {
                Colour::Black
            },
            order: code,
            entries: index.len(),
            row: if lines <= 16 { index.row() as u32 } else { 0 },
            palette: palette.clone(),
            stored: lines.into(),
            longest_win: None,
            mated: rulebook.has_mate().then_some(1),
        });
        indices.push(index);
    }
    let parts = HeaderParts {
        family: G::FAMILY.to_owned(),
        metric: Metric::Dtw,
        free_entries: free_entries(rulebook, Metric::Dtw),
        fingerprint: game.fingerprint().bytes(),
        game: game.name().to_owned(),
        material: material.to_string(),
        block_bytes: 4096,
        dictionary: Vec::new(),
        sides,
    };
    let source = |_: usize, range: Range<u64>, codes: &mut [u16]| {
        for (code, entry) in codes.iter_mut().zip(range) {
            *code = made_up(entry, lines.into());
        }
    };
    write_table(path, &parts, &source, 1).unwrap();
    indices
}

/// How the reader takes a position.
type PositionText<'a, G> = &'a dyn Fn(&<G as petrov_games::Game>::Position) -> String;

/// `board` is what the script is told, `text` how it reads a position.
fn check_made_up<G: petrov_games::Game, R: Rulebook<Position = G::Position>>(
    game: &G,
    rulebook: &R,
    (board, text): (&str, PositionText<'_, G>),
    wanted: Material,
    orders: [u8; 2],
    random: &mut Random,
) {
    let folder = Folder::default();
    let path = folder.path().join("made-up.petrov");
    let lines = if orders[0].is_multiple_of(2) { DISTANCES } else { 5 };
    let indices = write_made_up(&path, game, rulebook, wanted, orders, lines);
    let table = Table::open(&path, &BlockCache::default()).unwrap();
    let (mut input, mut expected) = (String::new(), String::new());
    for _ in 0..400 {
        let (own, opp) = if random.below(2) == 0 {
            (wanted.white(), wanted.black())
        } else {
            (wanted.black(), wanted.white())
        };
        let placement = random_placement(rulebook, &own, &opp, random);
        let turn = [Colour::White, Colour::Black][random.below(2) as usize];
        let position = rulebook.position(&placement, turn);
        assert_eq!(material(game, &position), wanted);
        let side = usize::from(own != wanted.white());
        let entry = indices[side].rank(&placement);
        let score = table.entry(side, entry).unwrap();
        let line = made_up(entry, lines.into());
        assert_eq!(
            score,
            if line % 2 == 1 {
                Score::win(line)
            } else {
                Score::loss(line)
            }
        );
        input += &text(&position);
        input += "\n";
        expected += &format!("{side}\t{}", entry_line(&table, side, entry));
    }
    let printed = read_table(&path, &["--probe", board], &input);
    for ((fen, found), wanted) in input.lines().zip(printed.lines()).zip(expected.lines()) {
        assert_eq!(found, wanted, "{fen}, orders {orders:?} on {board}");
    }
    assert_eq!(printed.lines().count(), expected.lines().count());
}

/// Each pair of `steps` orders only once, but where there are 24 every order
/// for both sides.
fn each_orders(steps: usize, first: usize) -> impl Iterator<Item = [u8; 2]> {
    (0..steps).map(move |step| [0, 5].map(|shift| ((step * (24 / steps) + first) as u8 + shift) % 24))
}

fn check_board(size: &str, squares: &str, materials: &[&str]) {
    let text = std::fs::read_to_string(repository().join("games/rules/russian.toml")).unwrap();
    let text = text
        .replace("size = \"8x8\"", &format!("size = \"{size}\""))
        .replace("squares = \"dark\"", &format!("squares = \"{squares}\""));
    let game = Game::new(RuleFile::parse(&text).unwrap());
    let board = format!("{size}-{squares}");
    let text = |position: &Position| plain_fen(&game, position, squares == "mirror");
    let mut random = Random::new(11);
    for (n, name) in materials.iter().enumerate() {
        let material: Material = name.parse().unwrap();
        let steps = if size == "8x8" && squares == "dark" { 24 } else { 3 };
        for orders in each_orders(steps, n * 7) {
            with_rulebook!(&game, rulebook => {
                check_made_up(&game, &**rulebook, (&board, &text), material, orders, &mut random);
            });
        }
    }
}

/// Every digit order, folded and unfolded, with entries that tell one another
/// apart.
#[test]
fn index_in_every_digit_order() {
    check_board("8x8", "dark", &["KKvK", "KMvMM"]);
}

#[test]
fn index_of_other_boards() {
    check_board("10x8", "dark", &["KKvK", "KMvM"]);
    check_board("10x10", "mirror", &["KvK", "MMvKM"]);
    check_board("12x12", "dark", &["KKvK", "KMvM"]);
    check_board("8x8", "all", &["KKvK", "MMvK", "KMvM"]);
}

/// A built-in chess game with its rule file, as the script wants it.
fn chess_game(name: &str) -> (chess::Game, String) {
    let file = repository().join(format!("games/rules-chess/{name}.toml"));
    let game = Games::built_in().chess(name).unwrap().clone();
    (game, file.to_str().unwrap().to_owned())
}

/// The best value that a capture leads to.
fn best_capture(
    game: &chess::Game,
    position: &chess::Position,
    mut score: impl FnMut(&chess::Position) -> Score,
) -> Option<Score> {
    let legal = game.legal_moves(position);
    let captures = legal.iter().filter(|played| played.captured.is_some());
    captures
        .map(|played| score(&game.after(position, played)))
        .max_by_key(|score| score.preference())
}

/// Tables of all metrics as they are built: entries by number and by
/// position, with captures resolved as the format says.
fn check_chess(name: &str, build: &str, materials: &[&str]) {
    const METRICS: [Metric; 3] = Metric::ALL;
    let (game, rules) = chess_game(name);
    let folder = Folder::with(&game, build, &METRICS);
    let tables = folder.tables();
    let prober = tables.prober(&game).unwrap();
    let mut random = Random::new(13);
    for (material, metric) in materials.iter().flat_map(|name| METRICS.map(|metric| (*name, metric))) {
        let table = find(&tables, material, metric);
        check_header(table);
        let parts = table.header().parts();
        for (side, about) in parts.sides.iter().enumerate() {
            let entries: Vec<u64> = (0..1000).map(|_| random.below(about.entries)).collect();
            let input: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
            let expected: String = entries.iter().map(|entry| entry_line(table, side, *entry)).collect();
            let printed = read_table(table.path(), &["--entries", &side.to_string()], &input);
            assert_eq!(printed, expected);
        }

        let canonical: Material = material.parse().unwrap();
        let positions: Vec<chess::Position> = (0..1000)
            .map(|_| {
                let view = if random.below(2) == 0 { View::White } else { View::Black };
                let turn = [Colour::White, Colour::Black][random.below(2) as usize];
                let (own, opp) = canonical.armies(view);
                let rulebook = &**game.generator();
                rulebook.position(&random_placement(rulebook, &own, &opp, &mut random), turn)
            })
            .collect();
        let input: String = positions.iter().map(|position| game.fen(position) + "\n").collect();
        let printed = read_table(table.path(), &["--probe", &rules], &input);
        assert_eq!(printed.lines().count(), positions.len());
        for (position, line) in positions.iter().zip(printed.lines()) {
            let fields: Vec<&str> = line.split('\t').collect();
            let read = table
                .entry(fields[0].parse().unwrap(), fields[1].parse().unwrap())
                .unwrap();
            let fen = game.fen(position);
            assert_eq!(
                fields[2..],
                [value_name(read), &read.distance().to_string()],
                "{fen} in {material}.{metric}"
            );
            let capture = best_capture(&game, position, |after| {
                prober.score(after, metric).unwrap().before_move(metric, true)
            });
            let value = match capture {
                Some(capture) if parts.free_entries.captures => capture,
                Some(capture) if parts.free_entries.up_to_capture && capture.preference() > read.preference() => {
                    capture
                }
                _ => read,
            };
            assert_eq!(
                prober.score(position, metric).unwrap(),
                value,
                "{fen} in {material}.{metric}"
            );
        }
    }
}

#[test]
fn chess_tables() {
    check_chess("chess", "3", &["KvK", "KQvK", "KPvK", "KNvK"]);
    check_chess("chess-promote-by-file", "KPvK", &["KPvK"]);
}

/// Captures are compulsory, and nobody is in check.
#[test]
fn giveaway_tables() {
    check_chess("giveaway", "2", &["PvP", "NvP", "RvB"]);
}

/// Every digit order, folded and unfolded; pawns of both sides that stand on
/// the same ranks and on different ones; pieces that not all symmetries keep.
#[test]
fn index_of_chess() {
    for (name, material, steps) in [
        ("giveaway", "KPvP", 24),
        ("giveaway", "PPvP", 3),
        ("giveaway", "RNvN", 6),
        ("makruk", "KPvKP", 3),
        ("makruk", "KBvK", 4),
        ("chess", "KQvK", 4),
        ("chess", "KPvK", 4),
        ("chess-promote-by-file", "KPvK", 2),
    ] {
        let (game, rules) = chess_game(name);
        let text = |position: &chess::Position| game.fen(position);
        let mut random = Random::new(17);
        for orders in each_orders(steps, 2) {
            let material: Material = material.parse().unwrap();
            check_made_up(
                &game,
                &**game.generator(),
                (&rules, &text),
                material,
                orders,
                &mut random,
            );
        }
    }
}
