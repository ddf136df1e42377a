use proptest::prelude::*;

use super::*;
use crate::chess::{MoveTextError, RuleFile};
use crate::game_text::tests::{self, any_plan, carry_out, comment};
use crate::game_text::{DEEPEST, GameResult, LONGEST_GAME_TEXT, Remark};
use crate::{AnyGame, Games};

fn game(name: &str) -> Game {
    Games::built_in().chess(name).unwrap().clone()
}

fn chess() -> Game {
    game("chess")
}

/// A game of the rules of these lines.
fn game_of(lines: &str) -> Game {
    Game::new(RuleFile::parse(&format!("name = \"x\"\nfamily = \"chess\"\n{lines}")).unwrap())
}

fn small() -> Game {
    game_of("board = \"5x4\"")
}

fn read(game: &Game, text: &str) -> Vec<PgnGame> {
    tests::all(game.read_pgn(text))
}

fn one(game: &Game, text: &str) -> PgnGame {
    tests::only(game.read_pgn(text))
}

fn error(game: &Game, text: &str) -> String {
    tests::error(game.read_pgn(text))
}

/// The moves alone, in UCI.
fn moves(game: &Game, text: &str) -> String {
    let texts: Vec<String> = one(game, text)
        .moves
        .iter()
        .map(|step| game.uci(&step.played))
        .collect();
    texts.join(" ")
}

const FILE: &str = r#"[Event "A \"small\" match \ C:\\x"]
[White "Ж"]
[Result "1-0"]

{[%clk 0:10:00] from the
start} 1. e4! $10 e5 (1... c5 {a (good) move} 2. Nf3 (2. c3) d6) (!?)
% not part of it
2. Nf3 Nc6 ; the usual }
3.Bb5 a6 4. Bxc6 dxc6?? 5. O-O 1-0

[Event "second"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/7p/8/R3K3 b Q - 3 40"]
40... Kd7 $140 41. O-O-O+ *
e4 e5 1/2-1/2
"#;

#[test]
fn a_file_with_everything() {
    let chess = chess();
    let games = read(&chess, FILE);
    assert_eq!(games.len(), 3);
    let first = &games[0];
    assert_eq!(first.tags[0].1, r#"A "small" match \ C:\x"#);
    assert_eq!(first.tags[1], ("White".to_owned(), "Ж".to_owned()));
    assert_eq!(first.opening, [comment("[%clk 0:10:00] from the start")]);
    assert_eq!(first.moves.len(), 9);
    assert_eq!(first.moves[0].remarks, [Remark::Nag(1), Remark::Nag(10)]);
    assert_eq!(
        first.moves[1].remarks,
        [
            Remark::Variation("1... c5 {a (good) move} 2. Nf3 (2. c3) d6".to_owned()),
            Remark::Nag(5)
        ]
    );
    assert_eq!(first.moves[3].remarks, [comment("the usual )")]);
    assert_eq!(first.moves[7].remarks, [Remark::Nag(4)]);
    assert!(first.moves[8].played.castles);
    assert_eq!(first.result, GameResult::WhiteWins);
    assert_eq!(chess.fen(&games[1].start), "4k3/8/8/8/8/7p/8/R3K3 b Q - 3 40");
    assert_eq!(games[1].result, GameResult::Unknown);
    assert_eq!((games[2].moves.len(), games[2].result), (2, GameResult::Draw));

    let written: Vec<String> = games.iter().map(|game| chess.write_pgn(game)).collect();
    assert_eq!(
        written[1],
        "[Event \"second\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/7p/8/R3K3 b Q - 3 40\"]\n\n40... Kd7 $140 41. O-O-O+ *\n"
    );
    assert_eq!(written[2], "1. e4 e5 1/2-1/2\n");
    assert_eq!(read(&chess, &written.join("\n")), games);
}

#[test]
fn forms_of_moves_and_numbers() {
    let chess = chess();
    let played = "e2e4 d7d5 e4d5 g8f6 b1c3 f6d5 g1e2";
    for text in [
        "1. e4 d5 2. exd5 Nf6 3. Nc3 Nxd5 4. Nge2",
        "\u{feff}1.e4 1...d5 2.exd5 2... Nf6 3.Nc3 ... Nxd5 4.Nge2 *",
        "1 e4 d5 2 exd5 Nf6 3 . Nc3 Nxd5 4 Ng1e2 *",
        "e4 d5 ed5 Nf6 Nc3 Nd5 Nge2+!?",
        "1. e2e4 d7d5 2. e4d5 g8f6 3. b1c3 f6d5 4. g1e2",
        "e2e4 d5 e4xd5 g8f6 Nb1c3 f6d5 g1e2",
    ] {
        assert_eq!(moves(&chess, text), played, "{text}");
    }
    // UCI where SAN would name a pawn.
    let castling = "[FEN \"r3k2r/6P1/8/8/8/8/8/R3K2R w KQkq - 0 1\"] ";
    assert_eq!(moves(&chess, &format!("{castling} e1g1 e8c8 g7g8n")), "e1g1 e8c8 g7g8n");
    assert_eq!(moves(&chess, &format!("{castling} 0-0 0-0-0 g8=N")), "e1g1 e8c8 g7g8n");
    assert_eq!(moves(&chess, &format!("{castling} gxh8Q+ Ke7")), "g7h8q e8e7");
}

#[test]
fn the_start_is_told_by_tags() {
    let chess = chess();
    let fen = "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1";
    let usual = chess.start().unwrap();
    let starts = |tags: &str| one(&chess, &format!("{tags} *")).start;
    let start = chess.parse_fen(fen).unwrap();
    assert_eq!(starts(&format!("[FEN \"{fen}\"]")), start);
    assert_eq!(starts(&format!("[FEN \"{fen}\"][SetUp \"1\"]")), start);
    assert_eq!(starts("[SetUp \"0\"]"), usual);
    let usual_fen = chess.fen(&usual);
    assert_eq!(starts(&format!("[SetUp \"0\"][FEN \"{usual_fen}\"]")), usual);
    let contradicts = |value: &str| {
        format!("(game 1): the tag `SetUp` is \"{value}\"; expected \"1\" with a tag `FEN` and \"0\" without one")
    };
    for (text, message) in [
        (
            "[Event \"x\"]\n[SetUp \"1\"] e4".to_owned(),
            format!("line 2, column 8 {}", contradicts("1")),
        ),
        (
            format!("[FEN \"{fen}\"]\n[SetUp \"0\"] *"),
            format!("line 2, column 8 {}", contradicts("0")),
        ),
    ] {
        assert_eq!(error(&chess, &text), message);
    }
    // Rules without a start have none but that of the tag.
    let small = small();
    let expected = "start position; expected a tag `FEN`, as these rules have no start of their own";
    for text in [
        "[Event \"x\"]\n\n1. Kb1 *",
        "[Event \"x\"]\n\n   *",
        "[Event \"x\"]\n\n   ",
    ] {
        let message = format!("line 3, column 4 (game 1): the game has no {expected}");
        assert_eq!(error(&small, text), message, "{text:?}");
    }
    assert_eq!(moves(&small, "[FEN \"4k/5/5/K4 w - - 0 1\"] Kb1 *"), "a1b1");

    // What a writer must say of the start.
    let mut record = one(&chess, "*");
    record.start = start;
    assert_eq!(
        chess.write_pgn(&record),
        format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n*\n")
    );
    record.tags = vec![("SetUp".to_owned(), "0".to_owned())];
    assert_eq!(
        chess.write_pgn(&record),
        format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n*\n")
    );
    record.tags = vec![("FEN".to_owned(), usual_fen)];
    assert_eq!(chess.write_pgn(&record), format!("[FEN \"{fen}\"]\n\n*\n"));
    // Four fields are as good as six, and stay.
    record.tags = vec![("FEN".to_owned(), "4k3/8/8/8/8/8/8/R3K3 w Q -".to_owned())];
    assert_eq!(chess.write_pgn(&record), "[FEN \"4k3/8/8/8/8/8/8/R3K3 w Q -\"]\n\n*\n");
    record.start = usual;
    record.tags = vec![("SetUp".to_owned(), "1".to_owned())];
    assert_eq!(chess.write_pgn(&record), "[SetUp \"0\"]\n\n*\n");
}

#[test]
fn other_rules() {
    let makruk = game("makruk");
    let text = "1. d4 d5 2. Md2 Mxh7 *";
    assert!(error(&makruk, text).contains("\"Md2\" is neither"));
    let game_text = "[Event \"makruk\"]\n\n1. d4 e5 2. dxe5 dxe5 3. Bd2 *\n";
    assert_eq!(makruk.write_pgn(&one(&makruk, game_text)), game_text);
    let promotes = "[FEN \"4k3/8/8/P7/8/8/8/4K3 w - - 0 1\"] 1. a6=Q";
    assert_eq!(moves(&makruk, promotes), "a5a6q");
    assert!(error(&makruk, &promotes.replace('Q', "R")).contains("expected one of"));

    let giveaway = game("giveaway");
    let kings = "[FEN \"8/3P3p/8/8/8/5k2/8/K3K3 w - - 0 1\"]";
    let text = format!("{kings} 1. d8=K Kg2 2. Kee2 Kh1 3. Kd7 *");
    assert_eq!(moves(&giveaway, &text), "d7d8k f3g2 e1e2 g2h1 d8d7");
    let written = giveaway.write_pgn(&one(&giveaway, &text));
    assert_eq!(read(&giveaway, &written), [one(&giveaway, &text)]);
    // Captures are compulsory.
    assert!(error(&giveaway, "1. e3 b5 2. Nc3").ends_with("; expected Bxb5"));

    // A piece with the letter of a mark, and one with that of a file.
    let letters = game_of("board = \"4x4\"\n[pieces.x]\nleaps = [[1, 2]]\n[pieces.a]\nleaps = [[0, 1]]");
    let text = "[FEN \"k3/1p2/3a/KX1A w - - 0 1\"]\n\n1. Xxd2 Ka3 2. Xxb3 Kxb3 3. Ac1 *\n";
    assert_eq!(letters.write_pgn(&one(&letters, text)), text);
    assert_eq!(moves(&letters, text), "b1d2 a4a3 d2b3 a3b3 d1c1");
}

#[test]
fn errors_have_line_and_column() {
    let chess = chess();
    for (text, message) in [
        (
            "1. e4 e5\n2.\tKe3",
            "line 2, column 4 (game 1): \"Ke3\" is not legal in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2; expected one of ",
        ),
        (
            "*\n\n  1. e5",
            "line 3, column 6 (game 2): \"e5\" is not legal in rnbqkbnr/",
        ),
        ("1. e2e5", "line 1, column 4 (game 1): \"e2e5\" is not legal"),
        ("1. e1c1", "line 1, column 4 (game 1): \"e1c1\" is not legal"),
        ("1. e7e8q", "line 1, column 4 (game 1): \"e7e8q\" is not legal"),
        ("1. O-O", "line 1, column 4 (game 1): \"O-O\" is not legal"),
        (
            "1. f3 e5 2. g4 Qh4# 3. a3",
            "line 1, column 24 (game 1): \"a3\" is not legal in rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3; the game is over there",
        ),
        (
            "[FEN \"4k3/8/8/8/8/8/8/RK5R w - - 0 1\"] Rad1",
            "line 1, column 40 (game 1): \"Rad1\" is not legal",
        ),
        (
            "[FEN \"4k3/8/8/8/8/8/K7/R6R w - - 0 1\"] Rd1 *",
            "line 1, column 40 (game 1): \"Rd1\" may be any of Rad1, Rhd1 in 4k3/8/8/8/8/8/K7/R6R w - - 0 1; expected fuller SAN, as in `Nbd2`",
        ),
        // Moves that pass, and what is none.
        ("1. --", "line 1, column 4 (game 1): \"--\" is neither a move nor"),
        ("1. Z0", "line 1, column 4 (game 1): \"Z0\" is neither"),
        ("1. 0000", "line 1, column 4 (game 1): \"0000\" is neither"),
        ("1. null", "line 1, column 4 (game 1): \"null\" is neither"),
        ("1. @@@@", "line 1, column 4 (game 1): \"@@@@\" is neither"),
        ("1. <e4>", "line 1, column 4 (game 1): \"<e4>\" is neither"),
        ("1. e4\0", "line 1, column 4 (game 1): \"e4\\0\" is neither"),
        ("Ж", "line 1, column 1 (game 1): \"Ж\" is neither a move nor"),
        ("1. éé", "line 1, column 4 (game 1): \"éé\" is neither"),
        ("1. e2éé", "line 1, column 4 (game 1): \"e2éé\" is neither"),
        ("1. e9", "line 1, column 4 (game 1): \"e9\" is neither"),
        ("1. e7e8z", "line 1, column 4 (game 1): \"e7e8z\" is neither"),
        (
            "1. e4 {never\nclosed",
            "line 1, column 7 (game 1): this comment is not closed; expected `}`",
        ),
        (
            "1. e4 (e5 (",
            "line 1, column 7 (game 1): this variation is not closed; expected `)`",
        ),
        ("1. e4 )", "line 1, column 7 (game 1): \")\" is neither"),
        ("1. e4 $999", "line 1, column 7 (game 1): \"$999\" is neither"),
        ("1. e4 ([x])", "line 1, column 8 (game 1): \"[\" is neither"),
        ("[Event x]", "line 1, column 8 (game 1): 'x' in a tag; expected a value"),
        (
            "[FEN \"8/8 w - - 0 1\"]",
            "line 1, column 6 (game 1): start position: placement: found 2 ranks, expected 8",
        ),
        (
            "[FEN \"4k3/8/8/8/8/8/8/4K3 w - -\"][FEN \"4k3/8/8/8/8/8/8/4K3 w - -\"]",
            "line 1, column 34 (game 1): a second tag `FEN`",
        ),
    ] {
        let found = error(&chess, text);
        assert!(found.starts_with(message), "{text:?}:\n{found}\n{message}");
    }
    assert!(read(&chess, "").is_empty());
    assert!(read(&chess, " {nothing} ; but comments\n% and more").is_empty());
}

#[test]
fn limits() {
    let chess = chess();
    let pieces = "[FEN \"k7/8/8/8/8/8/8/K7 w - - 0 1000000\"]";
    let long = format!("{pieces}{}", "Ka2 Ka7 Ka1 Ka8 ".repeat(2500));
    let read = one(&chess, &long);
    assert_eq!(one(&chess, &chess.write_pgn(&read)), read);
    assert!(error(&chess, &format!("{long} Ka2")).contains("10000 moves"));
    assert!(error(&chess, &"[A \"b\"]".repeat(300)).contains("at most 256"));
    assert!(error(&chess, &"(".repeat(1 << 20)).contains("nested too deeply"));
    assert!(error(&chess, &"Nf".repeat(1 << 20)).len() < 200);
    assert!(error(&chess, &"-".repeat(1 << 20)).len() < 200);
    assert!(error(&chess, &" ".repeat(LONGEST_GAME_TEXT + 1)).contains("expected at most"));
    assert_eq!(
        one(&chess, &("(".repeat(DEEPEST) + &")".repeat(DEEPEST))).opening.len(),
        1
    );
}

#[test]
fn long_lines_are_wrapped_and_black_may_begin() {
    let chess = chess();
    let text = "[Site \"x\"]\n\n1. e4 e5 {a} 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 *\n";
    assert_eq!(
        chess.write_pgn(&one(&chess, text)),
        "[Site \"x\"]\n\n1. e4 e5 {a} 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6\n8. c3 *\n"
    );
    let text = "[FEN \"4k3/8/8/8/8/8/8/R3K3 b Q - 9 17\"]\n\n17... Kd7 {b} 18. O-O-O+ Ke7 (x) 19. Re1+ Kd7 0-1\n";
    let black = one(&chess, text);
    assert_eq!(chess.write_pgn(&black), text);
    assert_eq!(
        chess.parse_san(&black.start, "Ke9"),
        Err(MoveTextError::Unknown { text: "Ke9".to_owned() })
    );
}

/// All built-in games, and some that are unlike them.
fn any_rules() -> impl Strategy<Value = Game> {
    let mut games: Vec<Game> = Games::built_in().iter().filter_map(AnyGame::chess).cloned().collect();
    games.push(game_of(
        "start = \"4k3/pppppppp/8/2xx4/2XX4/8/PPPPPPPP/R3K2R w KQ - 7 33\"\npromote_to = [\"x\", \"a\"]\n\
         [pieces.x]\nleaps = [[1, 2]]\nslides = [[0, 1]]\n[pieces.a]\nleaps = [[1, 1]]\n[pieces.k]\nleaps = [[0, 2], [1, 1]]",
    ));
    prop::sample::select(games)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn games_read_back_as_written(game in any_rules(), plan in any_plan(), skipped in 0..40_usize) {
        // A start in the middle of a game, half of the time.
        let mut start = game.start().unwrap();
        for choice in 0..skipped.saturating_sub(20) {
            let legal = game.legal_moves(&start);
            let Some(played) = legal.get(choice * 7 % legal.len().max(1)) else { break };
            start = game.after(&start, played);
        }
        let written = carry_out(&game, start, plan);
        let text = game.write_pgn(&written);
        let mut twice = read(&game, &format!("{text}\n{text}"));
        let mut again = twice.pop().unwrap();
        prop_assert_eq!(&again, &twice.pop().unwrap());
        // Added where they are needed.
        if written.start != game.start().unwrap() {
            prop_assert_eq!(again.tags.pop().unwrap().0, "FEN");
            prop_assert_eq!(again.tags.pop().unwrap(), ("SetUp".to_owned(), "1".to_owned()));
        }
        prop_assert_eq!(&again, &written);
        prop_assert!(text.lines().all(|line| line.starts_with('[') || line.chars().count() <= 102));
    }

    #[test]
    fn uci_is_read_too(game in any_rules(), plan in any_plan()) {
        let start = game.start().unwrap();
        let written = carry_out(&game, start, plan);
        let texts: Vec<String> = written.moves.iter().map(|step| game.uci(&step.played)).collect();
        match game.read_pgn(&texts.join(" ")).next() {
            None => prop_assert!(texts.is_empty()),
            Some(Ok(again)) => {
                let same = again.moves.iter().zip(&written.moves).all(|(again, step)| again.played == step.played);
                prop_assert!(same && again.moves.len() == written.moves.len());
            }
            // Where a king may castle or step to the same square.
            Some(Err(error)) => prop_assert!(error.to_string().contains("may be any of K"), "{}", error),
        }
    }

    #[test]
    fn no_text_is_too_strange(
        text in r#"([\[\](){};%$!?."*\\ \nx0-9a-hKQRBNO=+#:-]|FEN|SetUp|"1"|e4|Nf3|e7e5|O-O|1-0|é){0,60}"#
    ) {
        for game in [chess(), game("giveaway"), small()] {
            for read in game.read_pgn(&text) {
                match read {
                    Ok(read) => prop_assert_eq!(one(&game, &game.write_pgn(&read)), read),
                    Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
                }
            }
        }
    }

    #[test]
    fn no_character_is_too_strange(text in any::<String>()) {
        for read in chess().read_pgn(&text) {
            if let Err(error) = read {
                prop_assert_eq!(error.to_string().lines().count(), 1);
            }
        }
    }
}
