//! Claims against a second way to evaluate them: every placement is met by plain
//! loops, in no way that an index or a symmetry would know of, and conditions
//! are asked of legal moves and names of squares.

use petrov_games::draughts::{Colour, Game, Position};
use petrov_games::{Game as _, Games, chess};
use petrov_gen::Progress;
use petrov_gen::claims::{Answer, ClaimVerdict, Claims, Entry, Standing, best_line, own_moves};
use petrov_probe::{Material, Metric, Prober, Score, Tables};
use petrov_tests::{Folder, for_each_placement};

/// The answer to a claim for a game.
fn answer(claims: &Claims, games: &Games, id: &str, game: &str, folder: &Folder) -> Answer {
    let claim = claims.iter().find(|claim| claim.id == id).unwrap();
    let entries = Entry::of(claim, games).unwrap();
    let entry = entries
        .iter()
        .find(|entry| entry.games().any(|known| known.name() == game))
        .unwrap();
    entry.evaluate(&folder.tables(), 2, &Progress::default(), None).unwrap()
}

/// What is known of a position of a draughts game.
struct Seen<'a> {
    game: &'a Game,
    position: Position,
    score: Score,
    quiet: bool,
    /// White has more pieces, or numbers are equal.
    even: bool,
}

impl Seen<'_> {
    /// Whether White wins, or any side where numbers are equal.
    fn won(&self) -> bool {
        let winner = if self.score.is_win() {
            self.position.turn
        } else {
            self.position.turn.other()
        };
        !self.score.is_draw() && (self.even || winner == Colour::White)
    }

    fn moves(&self) -> u16 {
        own_moves(self.score.distance())
    }

    fn black_to_move(&self) -> bool {
        self.position.turn == Colour::Black
    }

    /// Whether a king of a colour stands on a square of these names.
    fn king_on(&self, colour: Colour, names: &[&str]) -> bool {
        let kings = self.position.kings[colour as usize];
        let mut squares = names.iter().map(|name| self.game.square_by_name(name).unwrap());
        squares.any(|square| kings >> square & 1 == 1)
    }
}

/// Positions, exceptions, and the longest win with the first FEN that has it.
#[derive(Default, PartialEq, Eq, Debug)]
struct Counted {
    positions: u64,
    exceptions: u64,
    worst: Option<(u16, String)>,
}

impl Counted {
    fn add(&mut self, exception: bool, score: Score, fen: impl FnOnce() -> String) {
        self.positions += 1;
        self.exceptions += u64::from(exception);
        let plies = score.distance();
        if score.is_draw() || self.worst.as_ref().is_some_and(|(most, _)| *most > plies) {
            return;
        }
        let fen = fen();
        match &self.worst {
            Some((most, first)) if *most == plies && *first <= fen => {}
            _ => self.worst = Some((plies, fen)),
        }
    }

    fn of(answer: &Answer) -> Self {
        Self {
            positions: answer.positions,
            exceptions: answer.exceptions,
            worst: answer.worst.as_ref().map(|worst| (worst.plies, worst.fen.clone())),
        }
    }
}

/// Visits each position of a material, both sides to move.
fn for_each_position(game: &Game, material: Material, mut visit: impl FnMut(&Position)) {
    for turn in [Colour::White, Colour::Black] {
        for_each_placement(game.board(), material.white(), material.black(), turn, &mut visit);
    }
}

/// Asks each position of some materials: `None` if it is not asked about, else
/// whether it is an exception.
fn count(game: &Game, tables: &Tables, materials: &[&str], ask: impl Fn(&Seen<'_>) -> Option<bool>) -> Counted {
    let prober = tables.prober(game).unwrap();
    let mut counted = Counted::default();
    for material in materials {
        let material: Material = material.parse().unwrap();
        for_each_position(game, material, |position| {
            let seen = Seen {
                game,
                position: *position,
                score: prober.score(position, Metric::Dtw).unwrap(),
                quiet: game.legal_moves(position).iter().all(|played| played.captured == 0),
                even: material.white().pieces() == material.black().pieces(),
            };
            if let Some(exception) = ask(&seen) {
                counted.add(exception, seen.score, || game.fen(position));
            }
        });
    }
    counted
}

const ROAD: [&str; 8] = ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"];
const NUMBERED_ROAD: [&str; 8] = ["29", "25", "22", "18", "15", "11", "8", "4"];
const DOUBLE_ROAD: [&str; 14] = [
    "5", "9", "14", "18", "23", "27", "32", "1", "6", "10", "15", "19", "24", "28",
];
const DOUBLE_CORNERS: [&str; 4] = ["1", "5", "28", "32"];

/// Only positions that meet a condition are asked about.
fn when(asked: bool, exception: bool) -> Option<bool> {
    asked.then_some(exception)
}

type Question = fn(&Seen<'_>) -> Option<bool>;

#[test]
fn draughts_claims_agree_with_plain_loops() {
    let games = Games::built_in();
    let claims = Claims::built_in(&games);
    let all_within = |moves: u16| move |seen: &Seen<'_>| when(seen.won(), seen.moves() > moves);
    let quiet_won: Question = |seen| when(seen.quiet, !seen.won());
    let lone = |seen: &Seen<'_>| seen.quiet && seen.black_to_move();
    let folder = Folder::default();
    let check = |id: &str, name: &str, materials: &[&str], ask: &dyn Fn(&Seen<'_>) -> Option<bool>| {
        let game = games.draughts(name).unwrap();
        for material in materials {
            folder.build(game, material, &[Metric::Dtw], 2);
        }
        let expected = count(game, &folder.tables(), materials, ask);
        let answer = answer(&claims, &games, id, name, &folder);
        assert_eq!(Counted::of(&answer), expected, "{id} {name}");
        assert_eq!(
            answer.verdict,
            ClaimVerdict::of(expected.positions, expected.exceptions),
            "{id} {name}"
        );
        assert_eq!(answer.games, [name], "{id}");
    };
    let ru = ["KKKvK"];
    check("ru-3v1-15", "russian", &ru, &all_within(15));
    check("ru-3v1-road", "russian", &ru, &|seen| {
        when(lone(seen) && seen.king_on(Colour::Black, &ROAD), !seen.score.is_draw())
    });
    check("ru-3v1-offroad", "russian", &ru, &|seen| {
        when(lone(seen) && !seen.king_on(Colour::Black, &ROAD), !seen.score.is_loss())
    });
    check("ru-3v1-road-5", "russian", &ru, &|seen| {
        when(seen.won() && seen.king_on(Colour::Black, &ROAD), seen.moves() > 5)
    });
    check("ru-king-v-king", "russian", &["KvK"], &|seen| {
        when(seen.quiet, !seen.score.is_draw())
    });
    check("pool-3v1-13", "jamaican", &ru, &all_within(13));
    check("int-2v1-5", "international", &["KKvK", "KMvK"], &all_within(5));
    check("int-3v1-5", "international", &ru, &all_within(5));
    check("sp80-3v1", "spantsireti", &ru, &quiet_won);
    for name in ["russian-stop", "argentinian", "german-dame"] {
        check("stop-2v1", name, &["KKvK"], &quiet_won);
    }
    check("thai-2v1", "thai", &["KKvK"], &quiet_won);
    check("turkish-2v1", "turkish", &["KKvK"], &quiet_won);
    check("en-2v1", "english", &["KKvK"], &quiet_won);
    check("en-1v1-corner", "english", &["KvK"], &|seen| {
        let stands = |colour| seen.king_on(colour, &DOUBLE_CORNERS);
        let loser = if seen.score.is_win() {
            seen.position.turn.other()
        } else {
            seen.position.turn
        };
        let loses = !seen.score.is_draw() && stands(loser);
        when(stands(Colour::White) || stands(Colour::Black), loses)
    });
    check("en-2v1-corner", "english", &["KKvK"], &|seen| {
        when(seen.quiet && seen.king_on(Colour::Black, &DOUBLE_CORNERS), !seen.won())
    });
    check("en-1v1-20", "english", &["KvK"], &all_within(20));
    check("de-3v1-road", "german-lasker", &ru, &|seen| {
        when(
            lone(seen) && seen.king_on(Colour::Black, &NUMBERED_ROAD),
            !seen.score.is_draw(),
        )
    });
    check("de-3v1-double", "german-lasker", &ru, &|seen| {
        when(lone(seen) && seen.king_on(Colour::Black, &DOUBLE_ROAD), !seen.won())
    });
    check("ghana-2v2", "ghanaian", &["KKvKK"], &|seen| {
        when(seen.quiet, !seen.score.is_draw())
    });
}

#[test]
fn comparisons_agree_with_plain_loops() {
    let games = Games::built_in();
    // Two games that agree, and two that do not: a king that stops right behind.
    let text = r#"
[[claim]]
id = "differ"
games = ["russian", "russian-stop"]
statement = "two games that are not alike"
materials = ["KvK", "KMvK", "KKvK"]
says = { same = ["value", "dtw"] }
[[claim]]
id = "values"
games = ["russian", "russian-stop"]
statement = "two games that are not alike"
materials = ["KvK", "KMvK", "KKvK"]
says = { same = ["value"] }
"#;
    let mut claims = Claims::built_in(&games);
    claims.add_text(text, "a test", &games).unwrap();
    let folder = Folder::default();
    let [russian, brazilian, stop] = ["russian", "brazilian", "russian-stop"].map(|name| games.draughts(name).unwrap());
    folder.build(russian, "KKKvK", &[Metric::Dtw], 2);
    folder.build(brazilian, "KKKvK", &[Metric::Dtw], 2);
    folder.build(russian, "KMvK", &[Metric::Dtw], 2);
    folder.build(stop, "KMvK", &[Metric::Dtw], 2);
    let tables = folder.tables();
    for (id, other, materials, values_only) in [
        ("ru-brazil-same", brazilian, &["KvK", "KKvK", "KKKvK"], false),
        ("differ", stop, &["KvK", "KMvK", "KKvK"], false),
        ("values", stop, &["KvK", "KMvK", "KKvK"], true),
    ] {
        let prober = tables.prober(other).unwrap();
        let expected = count(russian, &tables, materials, |seen| {
            let score = prober.score(&seen.position, Metric::Dtw).unwrap();
            let same = if values_only {
                score.value() == seen.score.value()
            } else {
                score == seen.score
            };
            Some(!same)
        });
        let answer = answer(&claims, &games, id, "russian", &folder);
        assert_eq!(Counted::of(&answer), expected, "{id}");
        assert_eq!(answer.games, ["russian", other.name()]);
        assert_eq!(answer.verdict == ClaimVerdict::Holds, id == "ru-brazil-same");
    }
}

/// All positions of White's pieces and a bare black king, as FENs that the game
/// takes.
fn chess_positions(game: &chess::Game, white: &[char], turn: char, visit: &mut dyn FnMut(&chess::Position, &[u8])) {
    fn place(
        game: &chess::Game,
        pieces: &[char],
        board: &mut [char; 64],
        squares: &mut Vec<u8>,
        turn: char,
        visit: &mut dyn FnMut(&chess::Position, &[u8]),
    ) {
        let Some((piece, rest)) = pieces.split_first() else {
            let mut ranks: Vec<String> = (0..8)
                .rev()
                .map(|rank| (0..8).map(|file| board[rank * 8 + file]).collect::<String>())
                .collect();
            for rank in &mut ranks {
                for empty in (2..=8).rev() {
                    *rank = rank.replace(&"1".repeat(empty), &empty.to_string());
                }
            }
            if let Ok(position) = game.parse_fen(&format!("{} {turn} - - 0 1", ranks.join("/"))) {
                visit(&position, squares);
            }
            return;
        };
        for square in 0..64u8 {
            let place_of = usize::from(square);
            if board[place_of] == '1' && (*piece != 'P' || (8..56).contains(&square)) {
                board[place_of] = *piece;
                squares.push(square);
                place(game, rest, board, squares, turn, visit);
                squares.pop();
                board[place_of] = '1';
            }
        }
    }
    let pieces: Vec<char> = white.iter().copied().chain(['k']).collect();
    place(game, &pieces, &mut ['1'; 64], &mut Vec::new(), turn, visit);
}

#[test]
fn chess_claims_agree_with_plain_loops() {
    let games = Games::built_in();
    let claims = Claims::built_in(&games);
    let game = games.chess("e-chess").unwrap();
    let folder = Folder::with(game, "KPvK", &[Metric::Dtw]);
    let tables = folder.tables();
    let prober: Prober<chess::Game> = tables.prober(game).unwrap();
    let (mut all, mut near) = (Counted::default(), Counted::default());
    chess_positions(game, &['K', 'P'], 'w', &mut |position, squares| {
        let score = prober.score(position, Metric::Dtw).unwrap();
        all.add(!score.is_win(), score, || game.fen(position));
        let apart = |of: fn(u8) -> u8| of(squares[0]).abs_diff(of(squares[1]));
        if apart(|square| square % 8).max(apart(|square| square / 8)) == 1 {
            near.add(!score.is_win(), score, || game.fen(position));
        }
    });
    for (id, expected) in [("echess-pawn", all), ("echess-pawn-near", near)] {
        assert!(expected.positions > 10_000);
        assert_eq!(
            Counted::of(&answer(&claims, &games, id, "e-chess", &folder)),
            expected,
            "{id}"
        );
    }
}

#[test]
fn mated_positions_are_not_asked_about() {
    // A queen: 364 of the positions with the bare king to move are mates (the
    // published number of checkmates of KQvK).
    let games = Games::built_in();
    let mut claims = Claims::none();
    let claim = |id: &str, mated: bool| {
        format!(
            "[[claim]]\nid = \"{id}\"\ngames = [\"chess\"]\nstatement = \"\"\nmaterials = [\"KQvK\"]\n\
             positions = {{ to_move = \"weak\", mated = {mated} }}\nsays = {{ value = \"won\" }}\n"
        )
    };
    claims
        .add_text(&(claim("mates", true) + &claim("others", false)), "a test", &games)
        .unwrap();
    let game = games.chess("chess").unwrap();
    let folder = Folder::with(game, "KQvK", &[Metric::Dtw]);
    let mates = answer(&claims, &games, "mates", "chess", &folder);
    assert_eq!((mates.positions, mates.exceptions), (364, 0));
    assert_eq!(mates.worst.as_ref().map(|worst| worst.plies), Some(0));
    let others = answer(&claims, &games, "others", "chess", &folder);
    let header = folder
        .tables()
        .table(game, "KQvK".parse().unwrap(), Metric::Dtw)
        .unwrap()
        .header()
        .sides()[1]
        .clone();
    let positions: u64 = header.palette.iter().map(|entry| entry.count).sum();
    assert_eq!(others.positions, positions - 364);
    assert_eq!(others.exceptions, header.count(petrov_probe::Value::Draw));
}

const OWN: &str = r#"
[[claim]]
id = "false"
games = ["english"]
statement = "Two kings against one are always drawn."
materials = ["KKvK"]
positions = { to_move = "strong", on = [
    { side = "weak", piece = "K", squares = ["32"] },
    { side = "strong", piece = "K", squares = ["23"] },
    { side = "strong", piece = "K", squares = ["10"] },
] }
says = { value = "drawn" }

[[claim]]
id = "nothing"
games = ["english"]
statement = "A king that stands on the edge and does not."
materials = ["KvK"]
positions = { on = [{ side = "white", piece = "K", squares = ["edge"] }], off = [{ side = "either", piece = "K", squares = ["edge"] }] }
says = { value = "won" }

[[claim]]
id = "half"
games = ["english"]
statement = "Every win is over with the next move."
materials = ["KvK"]
positions = { won = true }
says = { dtw = { plies = 1, counts = "until-material-changes" } }
"#;

#[test]
fn false_and_empty_claims() {
    let games = Games::built_in();
    let mut claims = Claims::none();
    claims.add_text(OWN, "a test", &games).unwrap();
    let game = games.draughts("english").unwrap();
    let folder = Folder::with(game, "KKvK", &[Metric::Dtw]);

    // One position is asked about, and it is won: the claim fails with it.
    let claim = claims.iter().next().unwrap();
    let entry = Entry::of(claim, &games).unwrap()[0];
    let mut exceptions = Vec::new();
    let mut take = |fen: &str| {
        exceptions.push(fen.to_owned());
        Ok(())
    };
    let answer_false = entry
        .evaluate(&folder.tables(), 1, &Progress::default(), Some(&mut take))
        .unwrap();
    assert_eq!(answer_false.verdict, ClaimVerdict::Fails);
    assert_eq!((answer_false.positions, answer_false.exceptions), (1, 1));
    assert_eq!(exceptions, ["W:WK10,K23:BK32"]);
    let worst = answer_false.worst.unwrap();
    assert_eq!(worst.fen, "W:WK10,K23:BK32");
    let tables = folder.tables();
    let prober = tables.prober(game).unwrap();
    let position = game.parse_fen(&worst.fen).unwrap();
    assert_eq!(prober.score(&position, Metric::Dtw).unwrap(), Score::win(worst.plies));
    // Its line is a game of so many plies that ends with a blocked or beaten side.
    assert_eq!(worst.line.len(), usize::from(worst.plies));
    let last = game.parse_fen(&worst.line.last().unwrap().fen).unwrap();
    assert!(game.legal_moves(&last).is_empty());

    let empty = answer(&claims, &games, "nothing", "english", &folder);
    assert_eq!(
        (empty.verdict, empty.positions, empty.exceptions),
        (ClaimVerdict::Empty, 0, 0)
    );
    assert!(empty.worst.is_none());

    // Nothing but the result can change between two kings: all is decided.
    let half = answer(&claims, &games, "half", "english", &folder);
    let clock = half.clock.unwrap();
    assert_eq!(clock.standing, Standing::ByDistance);
    assert_eq!(
        (clock.won, clock.drawn, clock.undecided),
        (half.positions - half.exceptions, half.exceptions, 0)
    );
    assert!(half.exceptions > 0);
}

#[test]
fn headers_and_positions_say_the_same() {
    // The second claim of each pair asks for what is always so, but no header
    // tells: nobody is mated in draughts, and no knight stands where there is none.
    let games = Games::built_in();
    let claim = |id: &str, game: &str, materials: &str, more: &str| {
        format!(
            "[[claim]]\nid = \"{id}\"\ngames = [\"{game}\"]\nstatement = \"\"\n{materials}\n\
             positions = {{ won = true{more} }}\nsays = {{ dtz = {{ plies = 7 }} }}\n"
        )
    };
    for (name, what, materials, always) in [
        ("russian", &["4"][..], "pieces = { from = 2, to = 4 }", "mated = false"),
        (
            "turkish",
            &["KMvM"],
            "materials = [\"KMvM\", \"KvM\", \"MvM\"]",
            "mated = false",
        ),
        (
            "chess",
            &["KPvK", "KQvKQ"],
            "materials = [\"KPvK\", \"KQvK\", \"KQvKQ\"]",
            "off = [{ side = \"either\", piece = \"N\", squares = [\"edge\", \"c3\"] }]",
        ),
    ] {
        let mut claims = Claims::none();
        let both =
            claim("by-header", name, materials, "") + &claim("by-position", name, materials, &format!(", {always}"));
        claims.add_text(&both, "a test", &games).unwrap();
        let folder = Folder::default();
        petrov_games::with_game!(games.get(name).unwrap(), game => {
            for what in what {
                folder.build(game, what, &[Metric::Dtz, Metric::Dtw], 2);
            }
        });
        let [told, counted] = ["by-header", "by-position"].map(|id| answer(&claims, &games, id, name, &folder));
        assert_eq!(Counted::of(&told), Counted::of(&counted), "{name}");
        assert_eq!(told.clock, counted.clock, "{name}");
        assert!(
            told.exceptions > 0 && told.exceptions < told.positions,
            "{name}: {told:?}"
        );
    }
}

#[test]
fn verdicts_turn_at_one_half() {
    for (positions, exceptions, verdict) in [
        (0, 0, ClaimVerdict::Empty),
        (3, 0, ClaimVerdict::Holds),
        (3, 1, ClaimVerdict::HoldsExcept),
        (4, 2, ClaimVerdict::Fails),
        (5, 2, ClaimVerdict::HoldsExcept),
        (5, 3, ClaimVerdict::Fails),
        (1, 1, ClaimVerdict::Fails),
    ] {
        assert_eq!(
            ClaimVerdict::of(positions, exceptions),
            verdict,
            "{exceptions} of {positions}"
        );
    }
}

/// Which won positions a rule "drawn after so many plies without a conversion"
/// turns into draws, by playing the rule out: positions are multiplied by the
/// plies counted, and solved by plain sweeps.
fn rule_draws(game: &Game, tables: &Tables, material: &str, reached: &[&str], plies: u16) -> (u64, u64) {
    use std::collections::HashMap;
    let prober = tables.prober(game).unwrap();
    let mut known: HashMap<Position, Score> = HashMap::new();
    for name in reached.iter().chain([&material]) {
        let name: Material = name.parse().unwrap();
        for turn in [Colour::White, Colour::Black] {
            // Colours may be either way round after a capture.
            for (white, black) in [(name.white(), name.black()), (name.black(), name.white())] {
                for_each_placement(game.board(), white, black, turn, &mut |position| {
                    known.insert(*position, prober.score(position, Metric::Dtz).unwrap());
                });
            }
        }
    }
    // The moves of each position: whether it converts, and the number of the
    // position after it; none if the game is over.
    let positions: Vec<Position> = known.keys().copied().collect();
    let numbers: HashMap<Position, usize> = positions
        .iter()
        .enumerate()
        .map(|(n, position)| (*position, n))
        .collect();
    let moves: Vec<Vec<(bool, Option<usize>)>> = positions
        .iter()
        .map(|position| {
            let legal = game.legal_moves(position);
            let to = |played| {
                let after = game.after(position, played);
                // What is not among them is the end: a side is empty.
                (game.is_conversion(played), numbers.get(&after).copied())
            };
            legal.iter().map(to).collect()
        })
        .collect();
    let over: Vec<bool> = moves.iter().map(Vec::is_empty).collect();
    // With no ply left a game that goes on is drawn. A conversion starts the
    // count anew: sweep from "all drawn" until nothing changes.
    let nothing: Vec<i8> = over.iter().map(|over| -i8::from(*over)).collect();
    let mut fresh = nothing.clone();
    loop {
        let mut left = nothing.clone();
        for _ in 0..plies {
            let worth = |(converts, after): &(bool, Option<usize>)| match after {
                Some(after) if *converts => -fresh[*after],
                Some(after) => -left[*after],
                None => 1,
            };
            let next = moves
                .iter()
                .zip(&nothing)
                .map(|(moves, over)| moves.iter().map(worth).max().unwrap_or(*over));
            left = next.collect();
        }
        if left == fresh {
            break;
        }
        fresh = left;
    }
    let (mut won, mut drawn) = (0, 0);
    let material: Material = material.parse().unwrap();
    for_each_position(game, material, |position| {
        let turn = position.turn;
        let winner = if known[position].is_win() { turn } else { turn.other() };
        if !known[position].is_draw() && (material.is_even() || winner == Colour::White) {
            match fresh[numbers[position]] {
                0 => drawn += 1,
                _ => won += 1,
            }
        }
    });
    (won, drawn)
}

#[test]
fn rules_that_count_moves_are_judged_rightly() {
    let games = Games::built_in();
    let game = games.draughts("english").unwrap();
    let folder = Folder::with(game, "KMvK", &[Metric::Dtw, Metric::Dtz]);
    let tables = folder.tables();
    let longest = |material: &str| {
        let table = tables.table(game, material.parse().unwrap(), Metric::Dtz).unwrap();
        let palettes = table.header().sides().iter().flat_map(|side| &side.palette);
        palettes.map(|entry| entry.distance).max().unwrap()
    };
    let judge = |material: &str, plies: u16| {
        let text = format!(
            "[[claim]]\nid = \"rule\"\ngames = [\"english\"]\nstatement = \"\"\nmaterials = [\"{material}\"]\n\
             positions = {{ won = true }}\nsays = {{ dtz = {{ plies = {plies} }} }}\n"
        );
        let mut claims = Claims::none();
        claims.add_text(&text, "a test", &games).unwrap();
        let answer = answer(&claims, &games, "rule", "english", &folder);
        (answer.positions, answer.clock.unwrap())
    };
    // What kings alone convert to is the end of the game, or king against king,
    // which takes up to 11 plies; a man's moves are conversions themselves.
    for (material, reached, plies) in [
        ("KvK", &[][..], 3),
        ("KvK", &[], 6),
        ("KKvK", &["KvK"], 6),
        ("KKvK", &["KvK"], 12),
        ("KMvK", &["KvK", "MvK", "KKvK"], 6),
        ("KMvK", &["KvK", "MvK", "KKvK"], longest("KKvK").max(longest("KMvK"))),
    ] {
        let (positions, clock) = judge(material, plies);
        let (won, drawn) = rule_draws(game, &tables, material, reached, plies);
        assert_eq!(won + drawn, positions, "{material} {plies}");
        assert_eq!(
            clock.won + clock.drawn + clock.undecided,
            positions,
            "{material} {plies}"
        );
        assert!(
            clock.won <= won && clock.drawn <= drawn,
            "{material} {plies}: {clock:?}, {won} won, {drawn} drawn"
        );
        if clock.undecided == 0 {
            assert_eq!((clock.won, clock.drawn), (won, drawn), "{material} {plies}");
        }
        let expected = match (material, plies) {
            ("KMvK" | "KKvK", 6) => Standing::NecessaryOnly,
            _ => Standing::ByConversions,
        };
        assert_eq!(clock.standing, expected, "{material} {plies}");
        if expected == Standing::NecessaryOnly {
            // A win that ends within the count surely stays one.
            let sure = count(game, &tables, &[material], |seen| {
                when(seen.won(), seen.score.distance() > plies)
            });
            assert_eq!(clock.won, sure.positions - sure.exceptions, "{material} {plies}");
            assert!(clock.won > 0 && clock.undecided > 0, "{material} {plies}: {clock:?}");
        }
        assert_eq!(drawn > 0, plies < longest(material), "{material} {plies}");
    }
}

#[test]
fn lines_follow_one_metric() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let folder = Folder::with(game, "KMvK", &[Metric::Dtw, Metric::Dtz]);
    let tables = folder.tables();
    let prober = tables.prober(game).unwrap();
    let mut converted = 0;
    for_each_position(game, "KMvK".parse().unwrap(), |position| {
        let dtz = prober.score(position, Metric::Dtz).unwrap();
        // Every seventh will do.
        if (position.occupied() % 7) != 0 {
            return;
        }
        let line = best_line(&prober, position, Metric::Dtz).unwrap();
        assert_eq!(line.len(), usize::from(dtz.distance()));
        let dtw = prober.score(position, Metric::Dtw).unwrap();
        let to_the_end = best_line(&prober, position, Metric::Dtw).unwrap();
        assert_eq!(to_the_end.len(), usize::from(dtw.distance()));
        converted += u64::from(line.len() < to_the_end.len());
    });
    assert!(converted > 100, "{converted}");
}
