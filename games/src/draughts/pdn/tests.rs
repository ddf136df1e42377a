use proptest::prelude::*;

use super::*;
use crate::draughts::parse::tests::{all_files, file};
use crate::game_text::tests::{self, any_plan, carry_out, comment};
use crate::game_text::{DEEPEST, GameResult, LONGEST_GAME_TEXT, Remark};

fn game(name: &str) -> Game {
    Game::new(file(name))
}

fn read(game: &Game, text: &str) -> Vec<PdnGame> {
    tests::all(game.read_pdn(text))
}

fn one(game: &Game, text: &str) -> PdnGame {
    tests::only(game.read_pdn(text))
}

fn error(game: &Game, text: &str) -> String {
    tests::error(game.read_pdn(text))
}

/// The moves alone.
fn moves(game: &Game, text: &str) -> Vec<String> {
    let read = one(game, text);
    let mut at = read.start;
    let mut texts = Vec::new();
    for step in &read.moves {
        let legal = game.legal_moves(&at);
        let number = legal.iter().position(|m| *m == step.played).unwrap();
        texts.push(game.move_texts(&at, &legal)[number].clone());
        at = game.after(&at, &step.played);
    }
    texts
}

const FILE: &str = r#"; before everything
[Event "A \"small\" match \ C:\\x"]
[White "Ж"]
[GameType "25,W,8,8,A0,0"]

{An opening} 1. c3-d4! $10 d6-c5 (1... b6-c5 {a (good) move} 2. d4:b6 (2. x) a7:c5) (!) 2. b2-c3
2...f6-g5 ; to the end }
3.  c3-b4 ... g5-h4 4. b4xd6
1-0
[Event "second"]
% not part of it
[FEN "B:WKa1:Bb6,Kh8"]
b6-c5 $140 *
1. c3-b4 0-2
"#;

#[test]
fn a_file_with_everything() {
    let russian = game("russian");
    let games = read(&russian, FILE);
    assert_eq!(games.len(), 3);
    let first = &games[0];
    assert_eq!(first.tags[0].1, r#"A "small" match \ C:\x"#);
    assert_eq!(first.tags[1], ("White".to_owned(), "Ж".to_owned()));
    assert_eq!(first.opening, [comment("before everything"), comment("An opening")]);
    assert_eq!(first.moves.len(), 7);
    assert_eq!(first.moves[0].remarks, [Remark::Nag(1), Remark::Nag(10)]);
    assert_eq!(
        first.moves[1].remarks,
        [
            Remark::Variation("1... b6-c5 {a (good) move} 2. d4:b6 (2. x) a7:c5".to_owned()),
            Remark::Nag(1)
        ]
    );
    assert_eq!(first.moves[3].remarks, [comment("to the end )")]);
    assert_eq!(first.result, GameResult::WhiteWins);
    assert_eq!(russian.format_fen(&games[1].start), "B:WKa1:Bb6,Kh8");
    assert_eq!(games[1].result, GameResult::Unknown);
    assert_eq!((games[2].moves.len(), games[2].result), (1, GameResult::BlackWinsTwo));

    let written: Vec<String> = games.iter().map(|game| russian.write_pdn(game)).collect();
    assert_eq!(
        written[1],
        "[Event \"second\"]\n[FEN \"B:WKa1:Bb6,Kh8\"]\n\n1... b6-c5 $140 *\n"
    );
    assert_eq!(read(&russian, &written.join("\n")), games);
}

#[test]
fn names_of_squares_and_separators() {
    let russian = game("russian");
    let played = ["c3-d4", "d6-c5", "b2-c3", "f6-g5", "c3-b4", "g5-h4", "b4xd6"];
    for text in [
        "1. c3-d4 d6-c5 2. b2-c3 f6-g5 3. c3-b4 g5-h4 4. b4xd6",
        "c3-d4 d6-c5 b2-c3 f6-g5 c3-b4 g5-h4 b4:d6",
        "\u{feff}1.c3-d4 1...d6-c5 2.b2-c3 2...f6-g5 3.c3-b4 3...g5-h4 4.b4Xd6 *",
        // Numbers from the top left corner.
        "1. 22-18 10-14 2. 25-22 11-16 3. 22-17 16-20 4. 17x10",
    ] {
        assert_eq!(moves(&russian, text), played, "{text}");
    }
    assert_eq!(
        moves(&game("english"), "1. f6-g5 c3-d4 2. 09-13"),
        ["11-16", "22-18", "9-13"]
    );
    assert_eq!(moves(&game("spanish"), "1. b3-a4 24-20"), ["12-16", "24-20"]);
}

#[test]
fn captures_told_by_squares_in_between() {
    let russian = game("russian");
    let at = |moves: &str| format!("[FEN \"W:WKc1,h2:Bb6,c3,d2,d6,g3,g5,g7,h4\"] {moves} *");
    let position = russian.parse_fen("W:WKc1,h2:Bb6,c3,d2,d6,g3,g5,g7,h4").unwrap();
    let legal = russian.legal_moves(&position);
    let taken = |text: &str| one(&russian, &at(text)).moves[0].played.captured.count_ones();
    // By its own text, by captured squares, by landing squares.
    for (played, text) in legal.iter().zip(russian.move_texts(&position, &legal)) {
        assert_eq!(one(&russian, &at(&text)).moves[0].played, *played, "{text}");
    }
    assert_eq!(taken("c1xa5"), 3);
    assert_eq!(taken("h2xa7"), 5);
    assert_eq!(taken("c1xg5xa7"), 5);
    assert_eq!(taken("c1:g7:a7"), 5);
    assert_eq!(
        error(&russian, &at("c1xa7")).split("; ").last(),
        Some("expected the squares on which the piece lands, written out")
    );
    // The pieces that both take, or in an order that none has.
    assert!(error(&russian, &at("c1xb6xa7")).contains("may be any of"));
    assert!(error(&russian, &at("c1xh8xa7")).contains("is not legal"));
}

#[test]
fn errors_have_line_and_column() {
    let russian = game("russian");
    for (text, message) in [
        (
            "1. c3-d4 d6-c5\n2.\tz9-a1",
            "line 2, column 4 (game 1): unknown square \"z9\" in the move \"z9-a1\"; expected one of the 32 squares from a1 to h8",
        ),
        (
            "1. c3-e5",
            "line 1, column 4 (game 1): \"c3-e5\" is not legal in W:Wa1,c1,e1,g1,b2,d2,f2,h2,a3,c3,e3,g3:Bb6,d6,f6,h6,a7,c7,e7,g7,b8,d8,f8,h8; expected one of ",
        ),
        ("*\n\n  1. c3xd4", "line 3, column 6 (game 2): \"c3xd4\" is not legal"),
        (
            "[FEN \"W:Wg7:BKa5\"] 1. g7-f6",
            "line 1, column 23 (game 1): \"g7-f6\" is not legal in W:Wg7:BKa5; expected one of g7-",
        ),
        (
            "[FEN \"B:Wg7:B\"] 1. g7-h8",
            "line 1, column 20 (game 1): \"g7-h8\" is not legal in B:Wg7:B; the game is over there",
        ),
        ("ж", "line 1, column 1 (game 1): \"ж\" is neither a move nor"),
        (
            "1. c3-d4 {never\nclosed",
            "line 1, column 10 (game 1): this comment is not closed; expected `}`",
        ),
        (
            "1. c3-d4 (d6-c5 (",
            "line 1, column 10 (game 1): this variation is not closed; expected `)`",
        ),
        ("1. c3-d4 ) ", "line 1, column 10 (game 1): \")\" is neither"),
        ("1. c3-d4 }", "line 1, column 10 (game 1): \"}\" is neither"),
        ("1. c3-d4 ]", "line 1, column 10 (game 1): \"]\" is neither"),
        ("1. c3-d4 $999", "line 1, column 10 (game 1): \"$999\" is neither"),
        ("1. c3-d4 $", "line 1, column 10 (game 1): \"$\" is neither"),
        ("1. c3-d4 !?!?", "line 1, column 10 (game 1): \"!?!?\" is neither"),
        ("1. . c3-d4", "line 1, column 4 (game 1): \".\" is neither"),
        ("12", "line 1, column 1 (game 1): \"12\" is neither"),
        ("1. c3", "line 1, column 4 (game 1): \"c3\" is neither"),
        ("1. c3-d4-e5", "line 1, column 4 (game 1): \"c3-d4-e5\" is neither"),
        ("1. c3x", "line 1, column 4 (game 1): \"c3x\" is neither"),
        ("1. c3-d4 ([x])", "line 1, column 11 (game 1): \"[\" is neither"),
        (
            "[]",
            "line 1, column 2 (game 1): ']' in a tag; expected a name of letters",
        ),
        (
            "[Event x]",
            "line 1, column 8 (game 1): 'x' in a tag; expected a value in double quotes",
        ),
        (
            "[Event \"x\ny\"]",
            "line 1, column 10 (game 1): the end of the line in a tag; expected `\"`",
        ),
        (
            "[Event \"x",
            "line 1, column 10 (game 1): the end of the text in a tag; expected `\"`",
        ),
        (
            "[Event \"x\" y]",
            "line 1, column 12 (game 1): 'y' in a tag; expected `]`",
        ),
        ("[FEN \"W:Wa1:Ba1\"]", "line 1, column 6 (game 1): start position: "),
        (
            "[FEN \"W:WKa1:BKh8\"][FEN \"W:WKa1:BKh8\"]",
            "line 1, column 20 (game 1): a second tag `FEN`; expected one start position",
        ),
    ] {
        let found = error(&russian, text);
        assert!(found.starts_with(message), "{text:?}:\n{found}\n{message}");
    }
    assert!(read(&russian, "").is_empty());
    assert!(read(&russian, " {nothing} ; but comments").is_empty());
}

#[test]
fn limits() {
    let russian = game("russian");
    let kings = "[FEN \"W:WKa1:BKg1\"]";
    assert!(error(&russian, &format!("{kings}{}", "a1-b2 g1-h2 b2-a1 h2-g1 ".repeat(5000))).contains("10000 moves"));
    assert!(error(&russian, &"[A \"b\"]".repeat(300)).contains("at most 256"));
    assert!(error(&russian, &"(".repeat(1 << 20)).contains("nested too deeply"));
    assert!(error(&russian, &"x1-".repeat(1 << 20)).contains("neither a move"));
    assert!(error(&russian, &"a1x".repeat(1 << 20)).len() < 200);
    assert!(error(&russian, &" ".repeat(LONGEST_GAME_TEXT + 1)).contains("expected at most"));
    let mut deep = "(".repeat(DEEPEST);
    deep.push_str(&")".repeat(DEEPEST));
    assert_eq!(one(&russian, &deep).opening.len(), 1);
}

#[test]
fn long_lines_are_wrapped_and_black_may_begin() {
    let english = game("english");
    let text =
        "[Site \"x\"]\n\n1. 11-15 23-19 {a} 2. 8-11 22-17 3. 11-16 24-20 4. 16x23 27x11 5. 7x16 20x11 6. 3-7 *\n";
    let read = one(&english, text);
    assert_eq!(
        english.write_pdn(&read),
        "[Site \"x\"]\n\n1. 11-15 23-19 {a} 2. 8-11 22-17 3. 11-16 24-20 4. 16x23 27x11 5. 7x16 20x11\n6. 3-7 *\n"
    );
    let white = one(&english, "[FEN \"W:WK1:BK32\"] 1. 1-6 32-28 2. 6-1");
    assert!(english.write_pdn(&white).ends_with("\n1... 1-6 2. 32-28 6-1 *\n"));
}

/// A game of random moves with random remarks, from the start or kings alone.
fn any_game(game: Game) -> impl Strategy<Value = (String, PdnGame)> {
    (any_plan(), any::<bool>()).prop_map(move |(plan, kings_only)| {
        let mut start = game.start();
        // Kings make long captures with many routes.
        let kings = Position {
            men: [0; 2],
            kings: start.men,
            ..start
        };
        if kings_only && game.won(&kings) == [false; 2] {
            start = kings;
        }
        (game.name().to_owned(), carry_out(&game, start, plan))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn games_read_back_as_written(
        (name, written) in prop::sample::select(all_files()).prop_flat_map(|(_, file)| any_game(Game::new(file)))
    ) {
        let game = game(&name);
        let text = game.write_pdn(&written);
        let mut twice = read(&game, &format!("{text}\n{text}"));
        let mut again = twice.pop().unwrap();
        prop_assert_eq!(&again, &twice.pop().unwrap());
        // Added where it is needed.
        if written.start != game.start() {
            prop_assert_eq!(again.tags.pop().unwrap().0, "FEN");
        }
        prop_assert_eq!(&again, &written);
        prop_assert!(text.lines().all(|line| line.starts_with('[') || line.chars().count() <= 102));
    }

    #[test]
    fn no_text_is_too_strange(text in r#"([\[\](){};%$!?."*\\ \nx0-9a-h:-]|FEN|c3-d4|1-0|é){0,60}"#) {
        for name in ["russian", "english"] {
            let game = game(name);
            for read in game.read_pdn(&text) {
                match read {
                    Ok(read) => {
                        let again = one(&game, &game.write_pdn(&read));
                        prop_assert_eq!(again, read);
                    }
                    Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
                }
            }
        }
    }
}
