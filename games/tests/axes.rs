//! Every axis has an effect, and void axes have none.

mod common;

use common::{Chance, changed, game, game_of, random_position, rule_file, too_rich};
use petrov_games::draughts::{
    Colour, Game, Goal, KingDirections, KingLand, ManCapture, ManMove, NameStyle, Priority, PromoCapture, Removal,
    Rules, SquareKind,
};

/// Positions tried before two rule sets count as equal.
const TRIES: usize = 8000;

/// Positions tried where a difference, which may be rare, must be found.
const MOST_TRIES: usize = 400_000;

/// Whether some position has other legal moves, or another winner, under the
/// rules of the second game. Both must be played on the same squares.
fn differ(one: &Game, other: &Game, tries: usize) -> bool {
    assert_eq!(one.board().playable(), other.board().playable());
    let mut chance = Chance(11);
    (0..tries).any(|_| {
        let position = random_position(&mut chance, one);
        if too_rich(one, &position) || too_rich(other, &position) {
            return false;
        }
        let set = |game: &Game| {
            let mut moves = game.legal_moves(&position);
            moves.sort_by_key(|mv| (mv.from, mv.to, mv.captured, mv.to_king));
            moves
        };
        set(one) != set(other)
    })
}

/// Changes of one axis with an effect on the moves: the game, the axis, and
/// the new value.
fn effective() -> Vec<(&'static str, &'static str, Rules)> {
    let mut changes = Vec::new();
    let mut add = |name: &'static str, axis: &'static str, change: &dyn Fn(&mut Rules)| {
        changes.push((name, axis, changed(name, change)));
    };
    for to in [
        ManMove::StraightForwardSide,
        ManMove::StraightForwardSideDiagonalForward,
    ] {
        add("russian", "man_move", &|rules| rules.man_move = to);
    }
    add("turkish", "man_move", &|rules| {
        rules.man_move = ManMove::DiagonalForward
    });
    add("turkish", "man_move", &|rules| {
        rules.man_move = ManMove::StraightForwardSideDiagonalForward;
    });
    add("russian", "man_leap_own", &|rules| rules.man_leap_own = true);
    add("ossetian", "man_leap_own", &|rules| rules.man_leap_own = false);
    for to in [
        ManCapture::DiagonalForward,
        ManCapture::AllEight,
        ManCapture::StraightForwardSide,
        ManCapture::StraightAll,
    ] {
        add("international", "man_capture", &|rules| rules.man_capture = to);
    }
    for to in [
        ManCapture::DiagonalForward,
        ManCapture::DiagonalAll,
        ManCapture::AllEight,
        ManCapture::StraightAll,
    ] {
        add("turkish", "man_capture", &|rules| rules.man_capture = to);
    }
    for name in ["russian", "english", "turkish"] {
        add(name, "man_takes_king", &|rules| rules.man_takes_king = false);
    }
    add("italian", "man_takes_king", &|rules| rules.man_takes_king = true);
    add("english", "king_range", &|rules| rules.king_flying = true);
    for name in ["russian", "turkish", "frisian"] {
        add(name, "king_range", &|rules| rules.king_flying = false);
    }
    for to in [KingDirections::Straight, KingDirections::AllEight] {
        add("russian", "king_move", &|rules| rules.king_move = to);
        add("russian", "king_capture", &|rules| rules.king_capture = to);
        add("english", "king_move", &|rules| rules.king_move = to);
        add("english", "king_capture", &|rules| rules.king_capture = to);
    }
    for to in [KingDirections::Diagonal, KingDirections::AllEight] {
        add("turkish", "king_move", &|rules| rules.king_move = to);
        add("turkish", "king_capture", &|rules| rules.king_capture = to);
    }
    for to in [KingLand::Adjacent, KingLand::AdjacentIfLastIsKing] {
        for name in ["russian", "international", "frisian", "turkish"] {
            add(name, "king_land", &|rules| rules.king_land = to);
        }
    }
    for name in ["russian", "pool", "czech", "ossetian", "ghanaian"] {
        add(name, "king_must_extend", &|rules| rules.king_must_extend = false);
    }
    for name in ["russian", "english", "turkish", "frisian"] {
        add(name, "forced", &|rules| rules.forced = false);
    }
    let priorities = [
        Priority::Free,
        Priority::Count,
        Priority::CountKings,
        Priority::CountKingsWithKing,
        Priority::Italian,
        Priority::Frisian,
        Priority::KingFirst,
    ];
    for from in [
        "russian",
        "international",
        "spanish",
        "old-french",
        "italian",
        "frisian",
        "czech",
    ] {
        for to in priorities {
            if to != rule_file(from).rules.priority {
                add(from, "priority", &|rules| rules.priority = to);
            }
        }
    }
    for name in ["russian", "international", "frisian", "german-dame"] {
        add(name, "removal", &|rules| {
            rules.removal = Removal::AtOnce;
            rules.u_turn = true;
        });
        add(name, "removal", &|rules| {
            rules.removal = Removal::AtOnce;
            rules.u_turn = false;
        });
    }
    for name in ["turkish", "thai", "ossetian"] {
        add(name, "removal", &|rules| rules.removal = Removal::After);
    }
    for name in ["turkish", "armenian", "thai", "ossetian"] {
        add(name, "u_turn", &|rules| rules.u_turn = !rules.u_turn);
    }
    for (name, to) in [
        ("russian", PromoCapture::Stop),
        ("russian", PromoCapture::Pass),
        ("pool", PromoCapture::Stop),
        ("pool", PromoCapture::Continue),
        ("english", PromoCapture::Continue),
        ("turkish", PromoCapture::Stop),
        ("turkish", PromoCapture::Continue),
        ("ossetian", PromoCapture::Stop),
    ] {
        add(name, "promo_capture", &|rules| rules.promo_capture = to);
    }
    changes
}

#[test]
fn every_axis_has_an_effect() {
    let mut axes = std::collections::BTreeSet::new();
    for (name, axis, rules) in effective() {
        assert!(
            differ(&game(name), &game_of(&rules), MOST_TRIES),
            "{axis} makes no difference to {name}: {rules:?}"
        );
        axes.insert(axis);
    }
    // The others: size, squares, names, first, rows and goal, below.
    let all: Vec<&str> = rule_file("ossetian")
        .rules
        .axes()
        .iter()
        .map(|(axis, _)| *axis)
        .collect();
    let others: Vec<&&str> = all.iter().filter(|axis| !axes.contains(**axis)).collect();
    assert_eq!(others, [&"size", &"squares", &"names", &"first", &"rows", &"goal"]);
}

#[test]
fn size_and_squares() {
    let squares = |change: &dyn Fn(&mut Rules)| game_of(&changed("russian", change)).board().squares();
    assert_eq!(squares(&|_| {}), 32);
    assert_eq!(squares(&|rules| rules.files = 10), 40);
    assert_eq!(squares(&|rules| rules.ranks = 10), 40);
    assert_eq!(squares(&|rules| rules.squares = SquareKind::All), 64);
    let mirrored = game_of(&changed("russian", |rules| rules.squares = SquareKind::Mirror));
    // Names alone: the squares, the moves and so the tables are the same.
    assert!(!differ(&game("russian"), &mirrored, TRIES));
    assert!(mirrored.square_by_name("a1").is_none() && mirrored.square_by_name("h1").is_some());
    assert_eq!(mirrored.fingerprint(), game("russian").fingerprint());
}

#[test]
fn names_first_and_rows() {
    let russian = game("russian");
    let named = game_of(&changed("russian", |rules| rules.names = NameStyle::NumberTop));
    let first = game_of(&changed("russian", |rules| rules.white_first = false));
    let rows = game_of(&changed("russian", |rules| rules.rows = (2, 3)));
    assert_eq!(named.square_name(0), "29");
    assert_eq!(first.start().turn, Colour::Black);
    assert_eq!(rows.start().men.map(u128::count_ones), [8, 8]);
    for other in [named, first, rows] {
        assert!(!differ(&russian, &other, TRIES));
    }
}

/// The goal changes no move of a game that goes on.
#[test]
fn goal() {
    let normal = game("international");
    let misere = game("international-giveaway");
    assert!(!differ(&normal, &misere, TRIES));
    let over = normal.parse_fen("W:WK1:B").unwrap();
    assert_eq!(normal.finished(&over), Some(Colour::White));
    assert_eq!(misere.finished(&over), Some(Colour::Black));
    for goal in [Goal::Breakthrough, Goal::Ghana] {
        let other = game_of(&changed("international", |rules| rules.goal = goal));
        assert!(differ(&normal, &other, TRIES), "{goal:?}");
    }
}

/// Changes without effect, as the axis is void for the value of another.
#[test]
fn void_axes() {
    let none = |name: &str, change: &dyn Fn(&mut Rules)| {
        let rules = changed(name, change);
        let other = game_of(&rules);
        assert_ne!(rules, rule_file(name).rules, "{name}: nothing has changed");
        assert!(!differ(&game(name), &other, TRIES), "{name}: {rules:?}");
        other.fingerprint() == game(name).fingerprint()
    };
    let mut same = true;
    // Landing squares of short kings.
    for name in ["english", "italian", "old-french"] {
        for land in [KingLand::Adjacent, KingLand::AdjacentIfLastIsKing] {
            same &= none(name, &|rules| rules.king_land = land);
        }
        same &= none(name, &|rules| rules.king_must_extend = true);
    }
    // A majority rule takes care of it, and so does a single landing square.
    for name in ["brazilian", "killer", "spanish", "frisian", "turkish", "thai"] {
        same &= none(name, &|rules| rules.king_must_extend = true);
    }
    // Turns are impossible where captured pieces stay.
    for name in ["russian", "frisian", "international", "english"] {
        same &= none(name, &|rules| rules.u_turn = true);
    }
    assert!(same, "a void axis is part of a fingerprint");
    // Not void, but the same by the geometry: no forward jump from the last row.
    for name in ["english", "spanish", "czech", "malaysian"] {
        none(name, &|rules| rules.promo_capture = PromoCapture::Pass);
    }
}
