//! Legal moves against two draughts libraries for Python, which run as
//! separate processes through `scripts/reference_moves.py`.
//!
//! Every position must have exactly the library's moves (start, end and set of
//! captured squares), unless the difference is one that the table of cases
//! explains: then the rule that decides it is named there, a predicate tells
//! whether that rule, and no other, makes the difference, and the number of
//! positions so excused is bounded and printed.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use petrov_games::draughts::{Game, Goal, Position, RuleFile, SquareSet};
use petrov_tests::{Random, army, game, repository};
use serde_json::Value as Json;

/// Start, end, captured squares.
type Moves = BTreeSet<(u8, u8, SquareSet)>;

/// One game of one library.
struct Case {
    library: Library,
    /// What the library calls it.
    theirs: &'static str,
    /// The rules it should have.
    ours: Game,
    differences: Vec<Difference>,
}

/// A library, and how many positions its speed allows: placements, and
/// positions of random games.
#[derive(Clone, Copy)]
struct Library {
    name: &'static str,
    placements: usize,
    played: usize,
}

const PYDRAUGHTS: Library = Library {
    name: "pydraughts",
    placements: 1950,
    played: 50,
};
const PY_DRAUGHTS: Library = Library {
    name: "py-draughts",
    placements: 3000,
    played: 1000,
};

/// Why a library may answer otherwise.
struct Difference {
    /// The rule that decides, and what the library does.
    rule: &'static str,
    /// Whether exactly this makes the difference.
    decides: fn(&Question) -> bool,
    /// How many positions may be excused.
    at_most: usize,
}

/// A position answered in two ways.
struct Question<'a> {
    game: &'a Game,
    position: &'a Position,
    ours: &'a Moves,
    theirs: &'a Moves,
}

/// "captures are compulsory": py-draughts lets them be left out in English
/// draughts. Petrov has an axis for that, and with it must agree exactly.
const COMPULSORY: Difference = Difference {
    rule: "forced = true (WCDF: captures are compulsory); the library offers quiet moves as well",
    decides: |question| {
        static OPTIONAL: LazyLock<Game> = LazyLock::new(|| changed("english", "forced = true", "forced = false"));
        question.ours.iter().any(|(.., captured)| *captured != 0)
            && *question.theirs == moves(&OPTIONAL, question.position)
    },
    at_most: 1800,
};

/// "a king moves over empty squares": in Turkish draughts pydraughts lets it
/// end on any empty square of its file and rank, whatever stands between. It
/// does not when it captures.
const EMPTY_SQUARES: Difference = Difference {
    rule: "king_range = flying (any number of empty squares); the library's kings leap over pieces in quiet moves",
    decides: |question| {
        let Question {
            game,
            position,
            ours,
            theirs,
        } = question;
        let board = game.board();
        let mut leaping = (*ours).clone();
        for from in squares(position.kings[position.turn as usize]) {
            let (file, rank) = board.coordinates(from);
            for to in squares(board.playable() & !position.occupied()) {
                let there = board.coordinates(to);
                if file == there.0 || rank == there.1 {
                    leaping.insert((from, to, 0));
                }
            }
        }
        ours.iter().all(|(.., captured)| *captured == 0) && **theirs == leaping
    },
    at_most: 150,
};

/// "captures of the highest value, whatever their order": pydraughts adds 1 and
/// 1.501 as floating-point numbers in the order of the jumps, so that captures
/// of the same pieces may seem to be worth more or less.
const EQUAL_VALUES: Difference = Difference {
    rule: "priority = frisian (all captures of the highest value); the library's sums of 1 and 1.501 \
           depend on the order of the jumps",
    decides: |question| {
        let Question {
            position, ours, theirs, ..
        } = question;
        let kings = position.kings[position.turn.other() as usize];
        let inexact = ours.iter().any(|(.., captured)| {
            let taken = (captured & kings).count_ones();
            sums(taken, captured.count_ones() - taken, 0.0).len() > 1
        });
        inexact && !theirs.is_empty() && theirs.is_subset(ours)
    },
    at_most: 10,
};

/// "a king is worth just under two men": at 199 three kings are worth more than
/// five men, at 1.501, which pydraughts takes, less.
const VALUE_OF_A_KING: Difference = Difference {
    rule: "priority = frisian (a king is worth 199, a man 100); the library's king is worth 1.501",
    decides: |question| {
        let kings = question.position.kings[question.position.turn.other() as usize];
        let values = |moves: &Moves| -> BTreeSet<(u32, u32)> {
            let counts = moves.iter().map(|(.., captured)| {
                let taken = (captured & kings).count_ones();
                let men = captured.count_ones() - taken;
                (199 * taken + 100 * men, 1501 * taken + 1000 * men)
            });
            counts.collect()
        };
        let (ours, theirs) = (values(question.ours), values(question.theirs));
        !theirs.is_empty() && ours.iter().all(|a| theirs.iter().all(|b| a.0 > b.0 && a.1 < b.1))
    },
    at_most: 5,
};

/// "the king met earliest; compare the first captured king, then the second":
/// pydraughts compares the first only.
const SECOND_KING: Difference = Difference {
    rule: "priority = italian (ordinals of all captured kings); the library compares the first king's only",
    decides: |question| {
        let Question { ours, theirs, .. } = question;
        let ordinals: Vec<_> = theirs.iter().map(|played| earliest_kings(question, *played)).collect();
        let (Some(least), Some(most)) = (ordinals.iter().min(), ordinals.iter().max()) else {
            return false;
        };
        let best = theirs.iter().zip(&ordinals).filter(|(_, ordinals)| *ordinals == least);
        least.len() > 1 && least.len() == most.len() && least[0] == most[0] && best.map(|(played, _)| played).eq(*ours)
    },
    at_most: 10,
};

/// The least list of ordinals of captured kings among all orders in which a
/// short king can make a capture; empty if it cannot.
fn earliest_kings(question: &Question, (from, to, captured): (u8, u8, SquareSet)) -> Vec<u32> {
    fn jumps(question: &Question, at: u8, to: u8, left: SquareSet, taken: u32, met: &[u32], best: &mut Vec<u32>) {
        if left == 0 && at == to && (best.is_empty() || met < best.as_slice()) {
            *best = met.to_vec();
        }
        let board = question.game.board();
        let (file, rank) = board.coordinates(at);
        for (df, dr) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
            let square = |steps: i8| {
                let file = file.checked_add_signed(df * steps)?;
                board.square_at(file, rank.checked_add_signed(dr * steps)?)
            };
            let (Some(over), Some(behind)) = (square(1), square(2)) else {
                continue;
            };
            if left >> over & 1 == 1 {
                let kings = question.position.kings[0] | question.position.kings[1];
                let mut met = met.to_vec();
                if kings >> over & 1 == 1 {
                    met.push(taken);
                }
                jumps(question, behind, to, left & !(1 << over), taken + 1, &met, best);
            }
        }
    }
    let mut best = Vec::new();
    let own = question.position.kings[question.position.turn as usize];
    if own >> from & 1 == 1 {
        jumps(question, from, to, captured, 0, &[], &mut best);
    }
    best
}

/// Positions in which a rule decides that hardly ever does.
fn rare(rules: &str) -> &'static [&'static str] {
    match rules {
        // Three kings or five men, twice; two kings and three men in several
        // orders.
        "frisian" => &[
            "W:WK23,K31:B3,14,K28,30,K36,40,K41,44",
            "W:WK5:BK10,15,16,17,22,K41,43,K49",
            "W:W10,13,15,39,K40:B12,23,37,K44,K48",
        ],
        // King, man, king or king, king, man; king, king, man or king, man, king.
        "italian" => &["W:WK25:BK7,14,K21,K22,23,K26", "W:WK10,K12:B1,3,K13,K15,21,K22,24,25"],
        _ => &[],
    }
}

/// The bits of all sums of so many kings and men, in any order.
fn sums(kings: u32, men: u32, sum: f64) -> BTreeSet<u64> {
    if kings + men == 0 {
        return BTreeSet::from([sum.to_bits()]);
    }
    let mut all = BTreeSet::new();
    if kings > 0 {
        all.append(&mut sums(kings - 1, men, sum + 1.501));
    }
    if men > 0 {
        all.append(&mut sums(kings, men - 1, sum + 1.0));
    }
    all
}

fn squares(set: SquareSet) -> impl Iterator<Item = u8> {
    (0..128).filter(move |square| set >> square & 1 == 1)
}

/// The rules of a file with one line changed.
fn changed(name: &str, from: &str, to: &str) -> Game {
    let text = std::fs::read_to_string(repository().join(format!("games/rules/{name}.toml"))).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    Game::new(RuleFile::parse(&text.replace(from, to)).unwrap())
}

fn moves(game: &Game, position: &Position) -> Moves {
    let legal = game.legal_moves(position);
    legal
        .iter()
        .map(|played| (played.from, played.to, played.captured))
        .collect()
}

fn text(game: &Game, moves: &Moves) -> String {
    let name = |square: u8| game.square_name(square);
    let texts = moves.iter().map(|(from, to, captured)| {
        let taken = game
            .squares_in_order()
            .iter()
            .filter(|&square| captured >> square & 1 == 1);
        let taken: Vec<String> = taken.map(|&square| name(square)).collect();
        format!("{}x{} {{{}}}", name(*from), name(*to), taken.join(","))
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// Two to ten pieces, more often few, many of them kings where the game has tables with kings.
fn placement(game: &Game, random: &mut Random) -> Position {
    let kings = game.rules().goal != Goal::Breakthrough;
    let pieces = 2 + random.below(9).min(random.below(9));
    let white = 1 + random.below(pieces - 1);
    let percent = if kings {
        [0, 30, 60, 100][random.below(4) as usize]
    } else {
        0
    };
    let mut drawn = |pieces: u64| {
        let kings = (0..pieces).filter(|_| random.below(100) < percent).count() as u8;
        army(kings, pieces as u8 - kings)
    };
    let (white, black) = (drawn(white), drawn(pieces - white));
    random.position(game.board(), white, black)
}

/// Random placements. In every fourth one there is a capture of several pieces.
fn placements(game: &Game, count: usize, random: &mut Random) -> Vec<Position> {
    let mut positions = Vec::new();
    while positions.len() < count {
        let position = placement(game, random);
        if !positions.len().is_multiple_of(4) || most_captured(&moves(game, &position)) > 1 {
            positions.push(position);
        }
    }
    positions
}

fn most_captured(moves: &Moves) -> u32 {
    moves
        .iter()
        .map(|(.., captured)| captured.count_ones())
        .max()
        .unwrap_or(0)
}

/// Positions of random games, some of each.
fn played(game: &Game, count: usize, random: &mut Random) -> Vec<Position> {
    let mut positions = Vec::new();
    loop {
        let mut position = game.start();
        for _ in 0..150 {
            let legal = game.legal_moves(&position);
            if legal.is_empty() {
                break;
            }
            if random.below(20) == 0 {
                positions.push(position);
                if positions.len() == count {
                    return positions;
                }
            }
            position = game.after(&position, &legal[random.below(legal.len() as u64) as usize]);
        }
    }
}

/// What a library says, position by position.
fn ask(case: &Case, positions: &[Position]) -> Vec<Moves> {
    let (library, game) = (case.library.name, &case.ours);
    let python = repository().join(".venv/bin/python");
    assert!(
        python.exists() && repository().join(".venv").join(library).exists(),
        "{library} is missing from .venv: run `scripts/setup --tests` first"
    );
    let mut child = Command::new(python)
        .arg(repository().join("scripts/reference_moves.py"))
        .args(["--library", library])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = positions
        .iter()
        .map(|position| format!("{}\t{}\n", case.theirs, game.format_fen(position)));
    let lines: String = lines.collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{library} failed in {}: see above",
        case.theirs
    );
    writer.join().unwrap().unwrap();

    let square = |name: &Json| game.square_by_name(name.as_str().unwrap()).unwrap();
    let set = |names: &Json| {
        names
            .as_array()
            .unwrap()
            .iter()
            .fold(0, |set, name| set | 1 << square(name))
    };
    let answer = |line: &str| {
        let list: Vec<Json> = serde_json::from_str(line).unwrap();
        list.iter()
            .map(|played| (square(&played["from"]), square(&played["to"]), set(&played["captured"])))
            .collect()
    };
    String::from_utf8(output.stdout).unwrap().lines().map(answer).collect()
}

fn compare(case: &Case) {
    let (library, game) = (case.library.name, &case.ours);
    let mut random = Random::new(case.theirs.bytes().map(u64::from).sum());
    let mut positions = placements(game, case.library.placements, &mut random);
    positions.append(&mut played(game, case.library.played, &mut random));
    positions.extend(rare(game.name()).iter().map(|fen| game.parse_fen(fen).unwrap()));
    let answers = ask(case, &positions);
    assert_eq!(answers.len(), positions.len());

    let (mut captures, mut chains) = (0, 0);
    let mut excused = vec![0; case.differences.len()];
    let mut faults = Vec::new();
    for (position, theirs) in positions.iter().zip(&answers) {
        let ours = &moves(game, position);
        let most = most_captured(ours);
        captures += usize::from(most > 0);
        chains += usize::from(most > 1);
        if ours == theirs {
            continue;
        }
        let question = Question {
            game,
            position,
            ours,
            theirs,
        };
        let mut differences = case.differences.iter();
        if let Some(number) = differences.position(|difference| (difference.decides)(&question)) {
            excused[number] += 1;
        } else {
            faults.push(format!(
                "{}\n  only here: {}\n  only there: {}",
                game.format_fen(position),
                text(game, &(ours - theirs)),
                text(game, &(theirs - ours)),
            ));
        }
    }
    println!(
        "{library} {}: {} positions, {captures} with a capture, {chains} with one of several pieces",
        case.theirs,
        positions.len(),
    );
    for (difference, excused) in case.differences.iter().zip(excused) {
        println!("{library} {}: {excused} excused: {}", case.theirs, difference.rule);
        assert!(
            (1..=difference.at_most).contains(&excused),
            "{excused} positions are excused by {}",
            difference.rule
        );
    }
    assert!(
        faults.is_empty(),
        "{library} {} and {} differ in {} positions, such as\n{}",
        case.theirs,
        game.name(),
        faults.len(),
        faults[..faults.len().min(5)].join("\n")
    );
}

/// A test for each game of a library: its name there, the rules it should
/// have, and the differences that there are.
macro_rules! cases {
    ($library:expr; $($test:ident: $theirs:literal, $ours:expr $(, but $($difference:expr),+)?;)*) => {$(
        #[test]
        fn $test() {
            compare(&Case {
                library: $library,
                theirs: $theirs,
                ours: $ours,
                differences: vec![$($($difference),+)?],
            });
        }
    )*};
}

/// Frysk! is Frisian with one row of men a side.
fn frysk() -> Game {
    changed("frisian", "rows = 4", "rows = 1")
}

mod pydraughts {
    use super::*;

    cases! { PYDRAUGHTS;
        international: "standard", game("international");
        international_giveaway: "antidraughts", game("international-giveaway");
        breakthrough: "breakthrough", game("breakthrough");
        frisian: "frisian", game("frisian"), but EQUAL_VALUES, VALUE_OF_A_KING;
        frysk: "frysk!", super::frysk(), but EQUAL_VALUES, VALUE_OF_A_KING;
        russian: "russian", game("russian");
        brazilian: "brazilian", game("brazilian");
        english: "english", game("english");
        italian: "italian", game("italian"), but SECOND_KING;
        turkish: "turkish", game("turkish"), but EMPTY_SQUARES;
    }
}

mod py_draughts {
    use super::*;

    cases! { PY_DRAUGHTS;
        international: "standard", game("international");
        international_giveaway: "antidraughts", game("international-giveaway");
        breakthrough: "breakthrough", game("breakthrough");
        frisian: "frisian", game("frisian");
        frysk: "frysk", super::frysk();
        russian: "russian", game("russian");
        brazilian: "brazilian", game("brazilian");
        english: "american", game("english"), but COMPULSORY;
    }
}
