//! The index against placements that are enumerated without it.

use petrov_games::draughts::{Board, Generator, Pieces, RuleFile, Rules};
use petrov_games::{Army, Bits, Kind, Placement, Rulebook, Side, chess};
use petrov_probe::{Digit, DigitOrder, SliceIndex};
use proptest::prelude::*;

/// Rules on a board of some size; what matters for an index is only the board.
fn rules(size: &str, squares: &str) -> Rules {
    let text = include_str!("../../games/rules/russian.toml");
    let text = text
        .replace("size = \"8x8\"", &format!("size = \"{size}\""))
        .replace("squares = \"dark\"", &format!("squares = \"{squares}\""));
    RuleFile::parse(&text).unwrap().rules
}

fn draughts<B: Bits>(size: &str, squares: &str) -> Generator<B> {
    let rules = rules(size, squares);
    Generator::new(&rules, &Board::new(&rules))
}

fn chess_rules(text: &str) -> chess::Generator {
    chess::Generator::new(&chess::RuleFile::parse(text).unwrap().rules)
}

/// The pieces of both sides of every material of so many pieces.
fn armies<R: Rulebook>(rulebook: &R, pieces: u8) -> Vec<(Army, Army)> {
    let mut all = Vec::new();
    for own in 1..pieces {
        for one in rulebook.armies(own) {
            for other in rulebook.armies(pieces - own) {
                if rulebook.no_table(&one, &other).is_none() {
                    all.push((one, other));
                }
            }
        }
    }
    all
}

fn army(men: u8, kings: u8) -> Army {
    Army::EMPTY.with(b'M', men).with(b'K', kings)
}

fn orders() -> impl Iterator<Item = DigitOrder> {
    (0..DigitOrder::COUNT).map(|code| DigitOrder::from_code(code).unwrap())
}

/// All sets of `count` squares of `region`.
fn subsets<B: Bits>(region: B, count: u8, chosen: B, visit: &mut dyn FnMut(B)) {
    if count == 0 {
        return visit(chosen);
    }
    let mut rest = region;
    for square in region.squares() {
        rest = rest.without_lowest();
        subsets(rest, count - 1, chosen | B::bit(square), visit);
    }
}

/// Which side has how many pieces of a kind.
type Part = (Side, Kind, u8);

fn for_each_placement<R: Rulebook>(
    rulebook: &R,
    parts: &[Part],
    placed: R::Placement,
    visit: &mut dyn FnMut(&R::Placement),
) {
    let Some(((side, kind, count), rest)) = parts.split_first() else {
        return visit(&placed);
    };
    let squares = if *kind == Kind::STANDING {
        rulebook.standing_squares(*side)
    } else {
        rulebook.squares()
    };
    subsets(squares & !placed.occupied(), *count, R::Set::ZERO, &mut |set| {
        let mut placed = placed;
        placed.add(*side, *kind, set);
        for_each_placement(rulebook, rest, placed, visit);
    });
}

fn parts<R: Rulebook>(rulebook: &R, own: &Army, opp: &Army) -> Vec<Part> {
    let mut parts = Vec::new();
    for (side, army) in [(Side::Own, own), (Side::Opponent, opp)] {
        for (kind, letter) in rulebook.kinds() {
            parts.push((side, *kind, army.count(*letter)));
        }
    }
    parts
}

fn image<R: Rulebook>(rulebook: &R, placement: &R::Placement, map: &[u8]) -> R::Placement {
    let mut image = R::Placement::default();
    for side in [Side::Own, Side::Opponent] {
        for (kind, _) in rulebook.kinds() {
            let set = placement.pieces(side, *kind).squares();
            let moved = set.fold(R::Set::ZERO, |all, square| all | R::Set::bit(map[usize::from(square)]));
            image.add(side, *kind, moved);
        }
    }
    image
}

/// What the folded digit places.
fn lead<R: Rulebook>(rulebook: &R, placement: &R::Placement, order: DigitOrder) -> Vec<R::Set> {
    let standing = [Side::Own, Side::Opponent].map(|side| placement.pieces(side, Kind::STANDING));
    if standing.iter().any(|set| !set.is_empty()) {
        return standing.to_vec();
    }
    let side = if order.own_moving_first {
        Side::Own
    } else {
        Side::Opponent
    };
    let kinds = rulebook.kinds().iter();
    kinds.map(|(kind, _)| placement.pieces(side, *kind)).collect()
}

/// Every entry leads to a placement and back; every placement to the entry of
/// one of its images; and each entry stands for as many placements as its
/// weight says.
fn check<R: Rulebook>(rulebook: &R, own: &Army, opp: &Army, index: &SliceIndex<R::Set>) {
    let what = format!("{own} v {opp}, order {}", index.order().code());
    let symmetries = rulebook.symmetries(own, opp);
    let folded = index.len() != index.unfolded();
    assert_eq!(symmetries.len() > 1, folded, "{what}");
    assert_eq!(Some(index.unfolded()), SliceIndex::unfolded_len(rulebook, own, opp));
    let parts = parts(rulebook, own, opp);
    for entry in 0..index.len() {
        let placement: R::Placement = index.unrank(entry);
        assert_eq!(index.rank(&placement), entry, "{what}");
        assert_eq!(rulebook.armies_of(&placement), (*own, *opp), "{what}");
    }
    let (mut hits, mut placements) = (vec![0u64; index.len() as usize], 0);
    for_each_placement(rulebook, &parts, R::Placement::default(), &mut |placement| {
        placements += 1;
        let entry = index.rank(placement);
        assert!(entry < index.len(), "{what}: {placement:?}");
        hits[entry as usize] += 1;
        let stored: R::Placement = index.unrank(entry);
        if !folded {
            assert_eq!(stored, *placement, "{what}");
            return;
        }
        let images: Vec<_> = symmetries.iter().map(|map| image(rulebook, placement, map)).collect();
        assert!(images.contains(&stored), "{what}: {placement:?}");
        // Images share the entry, except those of a row that is its own image.
        let row = lead(rulebook, placement, index.order());
        let own_images = images
            .iter()
            .filter(|image| lead(rulebook, image, index.order()) == row);
        if own_images.count() == 1 {
            assert!(
                images.iter().all(|image| index.rank(image) == entry),
                "{what}: {placement:?}"
            );
        }
    });
    assert_eq!(placements, index.unfolded(), "{what}");
    let mut sum = 0;
    for (entry, hits) in hits.iter().enumerate() {
        let weight = index.weight(index.lead_of(entry as u64));
        assert_eq!(*hits, weight, "{what}, entry {entry}");
        sum += weight;
    }
    assert_eq!(sum, index.unfolded(), "{what}");
}

fn check_all<R: Rulebook>(rulebook: &R, pieces: u8, all_orders: bool) {
    for (own, opp) in armies(rulebook, pieces) {
        for order in orders().filter(|order| all_orders || *order == DigitOrder::SOLVING) {
            let index = SliceIndex::new(rulebook, &own, &opp, order).unwrap();
            check(rulebook, &own, &opp, &index);
            let other = SliceIndex::new(rulebook, &own, &opp, DigitOrder::SOLVING).unwrap();
            if order.own_standing_first && !order.own_moving_first {
                let again = other.with_significance(order.significance);
                assert_eq!(
                    again.rank(&index.unrank::<R::Placement>(index.len() - 1)),
                    index.len() - 1
                );
            }
        }
    }
}

/// Classes of standing pieces have the same representatives for both sides to
/// move and in every order: a unit that is solved for one is found by all.
fn check_representatives<R: Rulebook>(rulebook: &R, own: &Army, opp: &Army) {
    let solving = SliceIndex::new(rulebook, own, opp, DigitOrder::SOLVING).unwrap();
    for order in orders() {
        let stored = SliceIndex::new(rulebook, own, opp, order).unwrap();
        let other = SliceIndex::new(rulebook, opp, own, order).unwrap();
        for digit in 0..solving.range(Digit::Standing) {
            let pieces: R::Placement = solving.standing(digit);
            let (found, symmetry) = stored.standing_class(&pieces);
            assert_eq!((stored.standing::<R::Placement>(found), symmetry), (pieces, 0));
            let turned = rulebook.turned(&pieces);
            let (found, symmetry) = other.standing_class(&turned);
            assert_eq!(
                (other.standing::<R::Placement>(found), symmetry),
                (turned, 0),
                "{own} v {opp}"
            );
        }
    }
}

#[test]
fn representatives_are_shared() {
    let chess = chess_rules(include_str!("../../games/rules-chess/chess.toml"));
    let makruk = chess_rules(include_str!("../../games/rules-chess/makruk.toml"));
    let army = |letters: &str| letters.bytes().fold(Army::EMPTY, |army, letter| army.with(letter, 1));
    for (own, opp) in [("KP", "K"), ("KPP", "K"), ("KRP", "KP"), ("KPP", "KP"), ("KPPP", "KP")] {
        check_representatives(&chess, &army(own), &army(opp));
        check_representatives(&makruk, &army(own), &army(opp));
    }
    let turkish = draughts::<u64>("8x8", "all");
    for (own, opp) in [("KM", "K"), ("MM", "M"), ("KMM", "KM")] {
        check_representatives(&turkish, &army(own), &army(opp));
    }
}

#[test]
fn chess_pieces() {
    let chess = chess_rules(include_str!("../../games/rules-chess/chess.toml"));
    check_all(&chess, 2, true);
    check_all(&chess, 3, false);
    let makruk = chess_rules(include_str!("../../games/rules-chess/makruk.toml"));
    check_all(&makruk, 3, false);
    let giveaway = chess_rules(include_str!("../../games/rules-chess/giveaway.toml"));
    check_all(&giveaway, 2, true);
}

#[test]
fn small_chess_boards_in_every_order() {
    for board in ["4x4", "3x5"] {
        let rulebook = chess_rules(&format!(
            "name = \"small\"\nfamily = \"chess\"\nboard = \"{board}\"\ncastling = \"none\"\n"
        ));
        check_all(&rulebook, 3, true);
        check_all(&rulebook, 4, false);
    }
}

/// Symmetries as design and format say: how many, and in which order.
#[test]
fn symmetries() {
    for (size, squares, kings, men) in [
        ("8x8", "dark", 4, 1),
        ("10x8", "dark", 2, 1),
        ("10x10", "mirror", 4, 1),
        ("12x12", "dark", 4, 1),
        ("8x8", "all", 8, 2),
    ] {
        let rules = rules(size, squares);
        let board = Board::new(&rules);
        let maps = board.symmetries(&rules, false);
        assert_eq!(maps.len(), kings, "{size} {squares}");
        assert_eq!(board.symmetries(&rules, true).len(), men, "{size} {squares}");
        for (n, map) in maps.iter().enumerate() {
            assert!((0..board.bits()).all(|square| map[usize::from(square)] == square) == (n == 0));
            // A group: the inverse is among them.
            assert!(maps.iter().any(|back| {
                map.iter()
                    .enumerate()
                    .all(|(s, to)| usize::from(back[usize::from(*to)]) == s)
            }));
        }
    }
}

#[test]
fn digit_orders_have_codes() {
    for code in 0..DigitOrder::COUNT {
        assert_eq!(DigitOrder::from_code(code).unwrap().code(), code);
    }
    assert_eq!(DigitOrder::from_code(DigitOrder::COUNT), None);
    assert_eq!(DigitOrder::SOLVING.code(), 0);
}

#[test]
fn two_and_three_pieces_in_every_order() {
    check_all(&draughts::<u64>("8x8", "dark"), 2, true);
    check_all(&draughts::<u64>("8x8", "dark"), 3, true);
}

#[test]
fn four_pieces() {
    check_all(&draughts::<u64>("8x8", "dark"), 4, false);
}

#[test]
fn other_boards_in_every_order() {
    for size in ["8x8", "10x8", "10x10"] {
        check_all(&draughts::<u64>(size, "dark"), 2, true);
    }
    check_all(&draughts::<u64>("8x8", "all"), 2, true);
    check_all(&draughts::<u128>("10x10", "mirror"), 2, true);
    check_all(&draughts::<u128>("12x12", "dark"), 2, true);
    check_all(&draughts::<u128>("8x8", "all"), 2, true);
}

#[test]
fn other_boards_three_pieces() {
    check_all(&draughts::<u64>("10x8", "dark"), 3, false);
    check_all(&draughts::<u64>("10x10", "dark"), 3, false);
    check_all(&draughts::<u128>("12x12", "dark"), 3, false);
    check_all(&draughts::<u64>("8x8", "all"), 3, false);
}

/// Words of either width give the same numbers.
#[test]
fn widths_agree() {
    let (narrow, wide) = (draughts::<u64>("10x10", "dark"), draughts::<u128>("10x10", "dark"));
    for (own, opp) in armies(&narrow, 3) {
        for order in orders() {
            let narrow = SliceIndex::new(&narrow, &own, &opp, order).unwrap();
            let wide = SliceIndex::new(&wide, &own, &opp, order).unwrap();
            assert_eq!(narrow.len(), wide.len());
            for entry in (0..narrow.len()).step_by(997) {
                let (a, b): (Pieces<u64>, Pieces<u128>) = (narrow.unrank(entry), wide.unrank(entry));
                let widened = [a.own_men, a.own_kings, a.opp_men, a.opp_kings].map(u128::from);
                assert_eq!(widened, [b.own_men, b.own_kings, b.opp_men, b.opp_kings]);
            }
        }
    }
}

/// The first entries of the solving order differ in the mover's kings only.
#[test]
fn solving_order_is_units_then_rows() {
    let rulebook = draughts::<u64>("8x8", "dark");
    let index = SliceIndex::new(&rulebook, &army(1, 2), &army(1, 1), DigitOrder::SOLVING).unwrap();
    let row = index.scale(Digit::FirstMoving);
    assert_eq!(row, index.range(Digit::LastMoving));
    for entry in (0..index.len()).step_by(row as usize * 31) {
        let first: Pieces<u64> = index.unrank(entry);
        let last: Pieces<u64> = index.unrank(entry + row - 1);
        assert_eq!(
            (first.own_men, first.opp_men, first.opp_kings),
            (last.own_men, last.opp_men, last.opp_kings)
        );
    }
}

#[test]
fn impossible_slices_have_no_index() {
    let rulebook = draughts::<u64>("8x8", "dark");
    let index = |own, opp| SliceIndex::new(&rulebook, &own, &opp, DigitOrder::SOLVING);
    assert!(index(army(0, 20), army(0, 20)).is_none());
    assert!(index(army(24, 0), army(24, 0)).is_none());
    assert!(index(army(12, 12), army(0, 0)).is_some());
}

fn any_army() -> impl Strategy<Value = (u8, u8)> {
    (0u8..=4, 0u8..=4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Larger materials, too many for an exhaustive test.
    #[test]
    fn larger_materials(
        own in any_army(),
        opp in any_army(),
        code in 0..DigitOrder::COUNT,
        board in prop::sample::select(vec![("8x8", "dark"), ("10x8", "dark"), ("10x10", "dark"), ("12x12", "dark"), ("8x8", "all")]),
        picks in prop::collection::vec(any::<u64>(), 40),
    ) {
        let rulebook = draughts::<u128>(board.0, board.1);
        // Folding millions of placements in each case would take too long.
        let ((own_men, own_kings), (opp_men, opp_kings)) = (own, opp);
        prop_assume!(own_men + own_kings > 0 && opp_men + opp_kings > 0);
        let (men, most_kings) = (own_men + opp_men, own_kings.max(opp_kings));
        prop_assume!(men <= 4 && most_kings <= 4);
        let (own, opp) = (army(own_men, own_kings), army(opp_men, opp_kings));
        let symmetries = rulebook.symmetries(&own, &opp);
        prop_assume!(symmetries.len() == 1 || men <= 3 && (men > 0 || most_kings <= 3));
        let order = DigitOrder::from_code(code).unwrap();
        let Some(index) = SliceIndex::new(&rulebook, &own, &opp, order) else {
            return Err(TestCaseError::reject("too many placements"));
        };
        for pick in picks {
            let entry = pick % index.len();
            let pieces: Pieces<u128> = index.unrank(entry);
            prop_assert_eq!(index.rank(&pieces), entry);
            prop_assert!(rulebook.is_placement(&pieces));
            prop_assert_eq!(rulebook.armies_of(&pieces), (own, opp));
            for map in &symmetries {
                let image = image(&rulebook, &pieces, map);
                let back = index.unrank(index.rank(&image));
                prop_assert!(symmetries.iter().any(|map| self::image(&rulebook, &image, map) == back));
            }
        }
    }
}
