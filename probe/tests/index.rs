//! The index against placements that are enumerated without it.

use petrov_games::Bits;
use petrov_games::draughts::{Board, Pieces, RuleFile, Rules};
use petrov_probe::{Army, Digit, DigitOrder, Material, SliceIndex};
use proptest::prelude::*;

/// Rules on a board of some size; what matters for an index is only the board.
fn rules(size: &str, squares: &str) -> Rules {
    let text = include_str!("../../games/rules/russian.toml");
    let text = text
        .replace("size = \"8x8\"", &format!("size = \"{size}\""))
        .replace("squares = \"dark\"", &format!("squares = \"{squares}\""));
    RuleFile::parse(&text).unwrap().rules
}

fn armies(pieces: u8) -> impl Iterator<Item = (Army, Army)> {
    Material::with_pieces(pieces)
        .into_iter()
        .flat_map(|material| material.views().iter().map(move |view| material.armies(*view)))
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

fn for_each_placement<B: Bits>(board: &Board, own: Army, opp: Army, visit: &mut dyn FnMut(&Pieces<B>)) {
    let playable = B::narrow(board.playable());
    let top = B::narrow(board.rank_set(board.ranks() - 1));
    let bottom = B::narrow(board.rank_set(0));
    subsets(playable & !top, own.men, B::ZERO, &mut |own_men| {
        subsets(playable & !bottom & !own_men, opp.men, B::ZERO, &mut |opp_men| {
            let free = playable & !(own_men | opp_men);
            subsets(free, own.kings, B::ZERO, &mut |own_kings| {
                subsets(free & !own_kings, opp.kings, B::ZERO, &mut |opp_kings| {
                    visit(&Pieces {
                        own_men,
                        own_kings,
                        opp_men,
                        opp_kings,
                    });
                });
            });
        });
    });
}

fn image<B: Bits>(pieces: &Pieces<B>, map: &[u8]) -> Pieces<B> {
    let set = |set: B| {
        set.squares()
            .fold(B::ZERO, |all, square| all | B::bit(map[usize::from(square)]))
    };
    Pieces {
        own_men: set(pieces.own_men),
        own_kings: set(pieces.own_kings),
        opp_men: set(pieces.opp_men),
        opp_kings: set(pieces.opp_kings),
    }
}

/// What the folded digit places.
fn lead<B: Bits>(pieces: &Pieces<B>, order: DigitOrder) -> [B; 2] {
    if !(pieces.own_men | pieces.opp_men).is_empty() {
        [pieces.own_men, pieces.opp_men]
    } else if order.own_kings_first {
        [pieces.own_kings, B::ZERO]
    } else {
        [B::ZERO, pieces.opp_kings]
    }
}

/// Every entry leads to a placement and back; every placement to the entry of
/// one of its images; and each entry stands for as many placements as its
/// weight says.
fn check<B: Bits>(rules: &Rules, board: &Board, own: Army, opp: Army, index: &SliceIndex<B>) {
    let what = format!("{own} v {opp}, order {}", index.order().code());
    let symmetries = board.symmetries(rules, own.men + opp.men > 0);
    let folded = index.len() != index.unfolded();
    assert_eq!(
        Some(index.unfolded()),
        SliceIndex::<B>::unfolded_len(rules, board, own, opp)
    );
    for entry in 0..index.len() {
        assert_eq!(index.rank(&index.unrank(entry)), entry, "{what}");
    }
    let (mut hits, mut placements) = (vec![0u64; index.len() as usize], 0);
    for_each_placement::<B>(board, own, opp, &mut |pieces| {
        placements += 1;
        let entry = index.rank(pieces);
        assert!(entry < index.len(), "{what}: {pieces:?}");
        hits[entry as usize] += 1;
        let stored = index.unrank(entry);
        if !folded {
            assert_eq!(stored, *pieces, "{what}");
            return;
        }
        let maps = symmetries.iter().map(|map| image(pieces, map));
        assert!(maps.clone().any(|image| image == stored), "{what}: {pieces:?}");
        // Images share the entry, except those of a row that is its own image.
        let row = lead(pieces, index.order());
        let own_image = maps.clone().filter(|image| lead(image, index.order()) == row).count() > 1;
        if !own_image {
            assert!(
                maps.clone().all(|image| index.rank(&image) == entry),
                "{what}: {pieces:?}"
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

fn check_board<B: Bits>(size: &str, squares: &str, pieces: u8, all_orders: bool) {
    let rules = rules(size, squares);
    let board = Board::new(&rules);
    for (own, opp) in armies(pieces) {
        for order in orders().filter(|order| all_orders || *order == DigitOrder::SOLVING) {
            let index = SliceIndex::<B>::new(&rules, &board, own, opp, order).unwrap();
            let symmetric = board.symmetries(&rules, own.men + opp.men > 0).len() > 1;
            assert_eq!(symmetric, index.len() < index.unfolded());
            check(&rules, &board, own, opp, &index);
        }
        let solving = SliceIndex::<B>::for_solving(&rules, &board, own, opp).unwrap();
        assert_eq!(
            own.men + opp.men == 0 && symmetric_without_men(&rules, &board),
            solving.len() < solving.unfolded()
        );
        check(&rules, &board, own, opp, &solving);
    }
}

fn symmetric_without_men(rules: &Rules, board: &Board) -> bool {
    board.symmetries(rules, false).len() > 1
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
    check_board::<u64>("8x8", "dark", 2, true);
    check_board::<u64>("8x8", "dark", 3, true);
}

#[test]
fn four_pieces() {
    check_board::<u64>("8x8", "dark", 4, false);
}

#[test]
fn other_boards_in_every_order() {
    for size in ["8x8", "10x8", "10x10"] {
        check_board::<u64>(size, "dark", 2, true);
    }
    check_board::<u64>("8x8", "all", 2, true);
    check_board::<u128>("10x10", "mirror", 2, true);
    check_board::<u128>("12x12", "dark", 2, true);
    check_board::<u128>("8x8", "all", 2, true);
}

#[test]
fn other_boards_three_pieces() {
    check_board::<u64>("10x8", "dark", 3, false);
    check_board::<u64>("10x10", "dark", 3, false);
    check_board::<u128>("12x12", "dark", 3, false);
    check_board::<u64>("8x8", "all", 3, false);
}

/// Words of either width give the same numbers.
#[test]
fn widths_agree() {
    let rules = rules("10x10", "dark");
    let board = Board::new(&rules);
    for (own, opp) in armies(3) {
        for order in orders() {
            let narrow = SliceIndex::<u64>::new(&rules, &board, own, opp, order).unwrap();
            let wide = SliceIndex::<u128>::new(&rules, &board, own, opp, order).unwrap();
            assert_eq!(narrow.len(), wide.len());
            for entry in (0..narrow.len()).step_by(997) {
                let (a, b) = (narrow.unrank(entry), wide.unrank(entry));
                let widened = [a.own_men, a.own_kings, a.opp_men, a.opp_kings].map(u128::from);
                assert_eq!(widened, [b.own_men, b.own_kings, b.opp_men, b.opp_kings]);
            }
        }
    }
}

/// The first entries of the solving order differ in the mover's kings only.
#[test]
fn solving_order_is_units_then_rows() {
    let rules = rules("8x8", "dark");
    let board = Board::new(&rules);
    let army = |men, kings| Army { men, kings };
    let index = SliceIndex::<u64>::for_solving(&rules, &board, army(1, 2), army(1, 1)).unwrap();
    let row = index.scale(Digit::FirstKings);
    assert_eq!(row, index.range(Digit::LastKings));
    for entry in (0..index.len()).step_by(row as usize * 31) {
        let first = index.unrank(entry);
        let last = index.unrank(entry + row - 1);
        assert_eq!(
            (first.own_men, first.opp_men, first.opp_kings),
            (last.own_men, last.opp_men, last.opp_kings)
        );
    }
}

#[test]
fn impossible_slices_have_no_index() {
    let rules = rules("8x8", "dark");
    let board = Board::new(&rules);
    let army = |men, kings| Army { men, kings };
    let index = |own, opp| SliceIndex::<u64>::new(&rules, &board, own, opp, DigitOrder::SOLVING);
    assert!(index(army(0, 20), army(0, 20)).is_none());
    assert!(index(army(24, 0), army(24, 0)).is_none());
    assert!(index(army(12, 12), army(0, 0)).is_some());
}

fn any_army() -> impl Strategy<Value = Army> {
    (0u8..=4, 0u8..=4).prop_map(|(men, kings)| Army { men, kings })
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
        let rules = rules(board.0, board.1);
        let board = Board::new(&rules);
        // Folding millions of placements in each case would take too long.
        prop_assume!(own.pieces() > 0 && opp.pieces() > 0);
        prop_assume!(own.men + opp.men <= 4 && own.kings.max(opp.kings) <= 4);
        let symmetries = board.symmetries(&rules, own.men + opp.men > 0);
        prop_assume!(symmetries.len() == 1 || own.men + opp.men <= 3 && (own.men + opp.men > 0 || own.kings.max(opp.kings) <= 3));
        let order = DigitOrder::from_code(code).unwrap();
        let Some(index) = SliceIndex::<u128>::new(&rules, &board, own, opp, order) else {
            return Err(TestCaseError::reject("too many placements"));
        };
        for pick in picks {
            let entry = pick % index.len();
            let pieces = index.unrank(entry);
            prop_assert_eq!(index.rank(&pieces), entry);
            prop_assert_eq!(pieces.occupied().count(), u32::from(own.pieces() + opp.pieces()));
            prop_assert!((pieces.occupied() & !board.playable()).is_empty());
            prop_assert_eq!(pieces.own_men & board.rank_set(board.ranks() - 1), 0);
            prop_assert_eq!(pieces.opp_men & board.rank_set(0), 0);
            prop_assert_eq!(pieces.own_men.count(), u32::from(own.men));
            prop_assert_eq!(pieces.opp_kings.count(), u32::from(opp.kings));
            for map in &symmetries {
                let image = image(&pieces, map);
                let back = index.unrank(index.rank(&image));
                prop_assert!(symmetries.iter().any(|map| self::image(&image, map) == back));
            }
        }
    }
}
