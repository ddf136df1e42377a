//! Positions with all their legal moves, one for each fine point of the rules.

mod common;

use common::{changed, expect_moves, game, game_of};
use petrov_games::draughts::{Game, ManCapture, Priority, PromoCapture, Removal};

/// The moves of a position as they are written.
fn texts(game: &Game, fen: &str) -> Vec<String> {
    let position = game.parse_fen(fen).unwrap();
    let mut texts = game.move_texts(&position, &game.legal_moves(&position));
    texts.sort();
    texts
}

#[test]
fn russian() {
    let game = game("russian");
    expect_moves(
        &game,
        "W:WKe1:Bb4,d2,e5,f2,g7",
        &["e1xa3 {b4,e5,f2}", "e1xa5 {b4,d2}", "e1xh8 {d2,e5,g7}"],
    );
    // It may not jump c3 twice, and crosses an empty square twice.
    expect_moves(&game, "W:WKe1,f2,h2:BKa7,b6,c3,d6,e5,e7", &["e1xd4 {b6,c3,e5,e7}"]);
    // The man promotes on the way.
    expect_moves(
        &game,
        "W:WKc1,h2:Bb6,c3,d2,d6,g3,g5,g7,h4",
        &[
            "c1xa5 {b6,d2,d6}",
            "c1xa7 {b6,d2}",
            "c1xa7 {b6,d2,d6,g5,g7}",
            "h2xa7=K {b6,d6,g3,g5,g7}",
        ],
    );
}

/// A piece already captured stays in the way.
#[test]
fn turkish_strike() {
    let fen = "B:Wc3,d4,e3,f2,f4:BKa5,d6,g7,h6";
    expect_moves(&game("russian"), fen, &["a5xe5 {c3,f2,f4}"]);
    let at_once = game_of(&changed("russian", |rules| {
        rules.removal = Removal::AtOnce;
        rules.u_turn = true;
    }));
    expect_moves(
        &at_once,
        fen,
        &["a5xa1 {c3,d4,f2,f4}", "a5xb2 {c3,d4,f2,f4}", "a5xc3 {c3,d4,f2,f4}"],
    );
}

#[test]
fn larger_boards() {
    expect_moves(
        &game("international"),
        "B:W22,23,32,33,37,43:BK40,9,19",
        &["40x28 {22,23,33,37,43}"],
    );
    // The last piece taken is a king: right behind it.
    expect_moves(&game("killer"), "W:WK46:BK28", &["46x23 {28}"]);
    expect_moves(
        &game("killer"),
        "W:WK46:B28",
        &["46x10 {28}", "46x14 {28}", "46x19 {28}", "46x23 {28}", "46x5 {28}"],
    );
}

#[test]
fn boards_of_all_squares() {
    let game = game("turkish");
    expect_moves(
        &game,
        "W:WKa1:Ba4,d2,d5",
        &["a1xe5 {a4,d5}", "a1xf5 {a4,d5}", "a1xg5 {a4,d5}", "a1xh5 {a4,d5}"],
    );
    // Sideways along the last row as a man, a king at the end.
    expect_moves(&game, "W:Wd6:Ba8,c8,d7", &["d6xb8=K {c8,d7}"]);
}

#[test]
fn right_behind_and_at_once() {
    expect_moves(&game("thai"), "W:WKa1:Bc3,d6,f6", &["a1xg7 {c3,f6}"]);
}

/// The start square is empty during the move.
#[test]
fn over_its_own_start() {
    // f4xd2xa5xc7xh2 crosses f4.
    let (russian, fen) = (game("russian"), "B:WKc3,Ke3,Kg3,b6:BKf4");
    expect_moves(&russian, fen, &["f4xh2 {b6,c3,e3,g3}", "f4xh2 {g3}"]);
    assert_eq!(texts(&russian, fen), ["f4xd2xa5xc7xh2", "f4xh2"]);
    // Once round, either way.
    let fen = "W:WKa5:BKf2,Kb4,b6,Kd6";
    expect_moves(&russian, fen, &["a5xa5 {b4,b6,d6,f2}"]);
    assert_eq!(texts(&russian, fen), ["a5xa5"]);
    // A man and a short king do it too.
    let pool = game("brazilian");
    expect_moves(&pool, "W:Wc3:Bb4,b6,d4,d6", &["c3xc3 {b4,b6,d4,d6}"]);
    let italian = game("italian");
    expect_moves(&italian, "W:WK11,K19:B13,K14,K21,K22", &["19x19 {13,14,21,22}"]);
}

#[test]
fn promotion_on_the_way() {
    let fen = "W:Wf6:Bc7,e7";
    let moves = |promotion, moves: &[&str]| {
        let rules = changed("russian", |rules| rules.promo_capture = promotion);
        expect_moves(&game_of(&rules), fen, moves);
    };
    moves(PromoCapture::Stop, &["f6xd8=K {e7}"]);
    moves(PromoCapture::Pass, &["f6xb6 {c7,e7}"]);
    moves(PromoCapture::Continue, &["f6xa5=K {c7,e7}", "f6xb6=K {c7,e7}"]);
    // The new king's first jump has its full range.
    let fen = "W:Wf6:Bb6,e7";
    let rules = changed("russian", |rules| rules.promo_capture = PromoCapture::Pass);
    expect_moves(&game_of(&rules), fen, &["f6xd8=K {e7}"]);
    expect_moves(&game("russian"), fen, &["f6xa5=K {b6,e7}"]);
    // Sideways along the last row, or not.
    let stop = changed("turkish", |rules| rules.promo_capture = PromoCapture::Stop);
    expect_moves(&game_of(&stop), "W:Wd6:Ba8,c8,d7", &["d6xd8=K {d7}"]);
}

/// A landing square with a further jump must be chosen.
#[test]
fn king_must_extend() {
    let fen = "W:WKa1:Bc3,g3";
    expect_moves(&game("russian"), fen, &["a1xh2 {c3,g3}"]);
    let free = changed("russian", |rules| rules.king_must_extend = false);
    expect_moves(
        &game_of(&free),
        fen,
        &["a1xd4 {c3}", "a1xf6 {c3}", "a1xg7 {c3}", "a1xh2 {c3,g3}", "a1xh8 {c3}"],
    );
    expect_moves(&game("russian-stop"), fen, &["a1xd4 {c3}"]);
}

/// A position whose moves under `italian` are those of `chosen`, and under a
/// coarser rule those of `among`.
fn italian(fen: &str, coarser: Priority, chosen: &[&str], among: &[&str]) {
    expect_moves(&game("italian"), fen, chosen);
    let rules = changed("italian", |rules| rules.priority = coarser);
    expect_moves(&game_of(&rules), fen, among);
}

/// Two men rather than a king taken by a king.
#[test]
fn italian_count() {
    italian(
        "W:WK4,25:BK5,K7,13,21",
        Priority::Free,
        &["25x9 {13,21}"],
        &["25x9 {13,21}", "4x11 {7}"],
    );
}

/// Equally many, none a king: by a king.
#[test]
fn italian_with_a_king() {
    italian(
        "W:WK10,19:B6,7,14,15,21",
        Priority::Count,
        &["10x12 {6,7}"],
        &["10x12 {6,7}", "19x3=K {15,7}"],
    );
}

/// Equally many, both by kings: two kings rather than one that is met earlier.
#[test]
fn italian_most_kings() {
    italian(
        "W:WK7,K13:B9,11,K18,19,K26",
        Priority::Count,
        &["7x30 {11,18,26}"],
        &["13x6 {11,18,19}", "7x30 {11,18,26}"],
    );
}

/// Equally many kings: the first is met earlier, or the first at the same jump
/// and the second earlier.
#[test]
fn italian_king_first() {
    italian(
        "W:WK11,K26:B14,K22",
        Priority::CountKingsWithKing,
        &["26x10 {14,22}"],
        &["11x27 {14,22}", "26x10 {14,22}"],
    );
    italian(
        "W:WK16,K29,K30,K32:BK9,11,K12,K19,K27",
        Priority::CountKingsWithKing,
        &["30x7 {11,19,27}"],
        &["16x23 {11,12,19}", "30x7 {11,19,27}"],
    );
}

/// Of two routes of one move the legal one is written.
#[test]
fn italian_route() {
    let game = game("italian");
    let position = game.parse_fen("W:WK11,K19:B13,K14,K21,K22").unwrap();
    let legal = game.legal_moves(&position);
    let route: Vec<String> = game
        .route(&position, &legal[0])
        .iter()
        .map(|&square| game.square_name(square))
        .collect();
    assert_eq!(route, ["26", "17", "10", "19"]);
}

/// A king is worth just under two men.
#[test]
fn frisian_values() {
    let counted = game_of(&changed("frisian", |rules| rules.priority = Priority::Count));
    let free = game_of(&changed("frisian", |rules| rules.priority = Priority::Free));
    let game = game("frisian");
    // Two kings rather than three men.
    let fen = "W:WK18:B11,13,K31,32,34,K41";
    expect_moves(&game, fen, &["18x47 {31,41}"]);
    expect_moves(&counted, fen, &["18x6 {11,13,34}"]);
    // A king and two men rather than two kings.
    let fen = "B:WK29,K39,40,47:BK48";
    expect_moves(&game, fen, &["48x46 {39,40,47}"]);
    assert!(common::legal_texts(&free, fen).contains("48x12 {29,39}"));
    // A king rather than a man, and one man by a king rather than by a man.
    expect_moves(&game, "W:W28:B23,K22", &["28x17 {22}"]);
    expect_moves(
        &game,
        "W:W33,K1:B29,11",
        &[
            "1x21 {11}",
            "1x31 {11}",
            "1x34 {29}",
            "1x40 {29}",
            "1x41 {11}",
            "1x45 {29}",
        ],
    );
    assert!(common::legal_texts(&free, "W:W33,K1:B29,11").contains("33x24 {29}"));
}

/// Straight jumps pass over the squares that are not played on.
#[test]
fn straight_jumps_on_dark_squares() {
    let game = game("frisian");
    // On 10x10, 46 is a1, 36 is a3, 26 is a5; 47 is c1, 48 is e1.
    expect_moves(&game, "W:W46:B36", &["46x26 {36}"]);
    expect_moves(&game, "W:W46:BK47", &["46x48 {47}"]);
    expect_moves(&game, "W:WK46:B26", &["46x16 {26}", "46x6 {26}"]);
}

/// Moves that share start and end are told apart by their routes.
#[test]
fn ambiguous_texts() {
    let game = game("russian");
    assert_eq!(
        texts(&game, "W:WKc1,h2:Bb6,c3,d2,d6,g3,g5,g7,h4"),
        ["c1xa5", "c1xe3xa7", "c1xe3xh6xf8xc5xa7", "h2xa7"]
    );
}

/// The same pieces taken on the way to the same square, by the last row and
/// not. That takes straight jumps: a man takes a piece on the last row but one
/// diagonally only to or from the last row.
#[test]
fn ambiguous_promotion() {
    let rules = changed("russian", |rules| rules.man_capture = ManCapture::AllEight);
    let game = game_of(&rules);
    let fen = "W:Wb2:Bc3,e3,g3,g5,d6";
    expect_moves(
        &game,
        fen,
        &[
            "b2xa7=K {c3,d6,e3,g3,g5}",
            "b2xb6 {c3,d6,e3,g3,g5}",
            "b2xb6=K {c3,d6,e3,g3,g5}",
            "b2xc5=K {c3,d6,e3,g3,g5}",
            "b2xd4=K {c3,d6,e3,g3,g5}",
        ],
    );
    assert_eq!(texts(&game, fen), ["b2xa7", "b2xb6", "b2xb6=K", "b2xc5", "b2xd4"]);
}
