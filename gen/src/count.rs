//! Counting the positions of a slice without solving it.

use petrov_games::{Bits, Game, Kind, LaneRules, Material, Placement, Rulebook, Side, with_rulebook};
use petrov_probe::{Digit, DigitOrder, MovingDigit, SliceIndex};
use rayon::prelude::*;

use crate::families::compiled_for_families;

compiled_for_families! {
    /// Positions of a material, both sides to move for unlike armies.
    pub(crate) fn positions(game, material: &Material) -> u64 = positions_of_game
}

fn positions_of_game<G: Game>(game: &G, material: &Material) -> u64 {
    with_rulebook!(game, rulebook => positions_of(&**rulebook, material))
}

fn positions_of<R: Rulebook>(rulebook: &R, material: &Material) -> u64 {
    let views = material.views().iter().map(|view| material.armies(*view));
    let of_view = |(own, opp)| {
        let index = SliceIndex::new(rulebook, &own, &opp, DigitOrder::SOLVING)?;
        Some(match rulebook.lanes().and_then(|lanes| Some((lanes, lanes.royal()?))) {
            Some((lanes, royal)) if rulebook.has_gaps() => by_lane(rulebook, lanes, royal, &index),
            _ if rulebook.has_gaps() => one_by_one(rulebook, &index),
            _ => index.unfolded(),
        })
    };
    views.filter_map(of_view).sum()
}

/// Looks at every placement but for the squares of the mover's royal piece,
/// which are told by one word.
fn by_lane<R: Rulebook>(rulebook: &R, lanes: &R::Lanes, royal: Kind, index: &SliceIndex<R::Set>) -> u64 {
    let [opp, own] = index.moving();
    let others: Vec<(Kind, u8)> = own.kinds().iter().copied().filter(|(kind, _)| *kind != royal).collect();
    let others = MovingDigit::new(&others);
    let squares = rulebook.squares();
    let of_opponent = |placement: &R::Placement| {
        let mut count = 0;
        let free = squares & !placement.occupied();
        others.each(placement, Side::Own, free, &mut |placement: &R::Placement| {
            let empty = squares & !placement.occupied();
            count += u64::from((empty & !lanes.unplaced(placement, empty)).count());
        });
        count
    };
    if index.has_standing() {
        let of_standing = |digit| {
            let mut count = 0;
            let placement: R::Placement = index.standing(digit);
            let free = squares & !placement.occupied();
            opp.each(&placement, Side::Opponent, free, &mut |placement: &R::Placement| {
                count += of_opponent(placement)
            });
            count * index.weight(digit)
        };
        return (0..index.range(Digit::Standing)).into_par_iter().map(of_standing).sum();
    }
    let of_row = |row| {
        let placed: R::Placement = index.place([0, row, 0]);
        let mut placement = placed;
        for (kind, _) in own.kinds() {
            placed
                .pieces(Side::Own, *kind)
                .squares()
                .for_each(|square| placement.take(square));
        }
        of_opponent(&placement) * index.weight(row)
    };
    (0..index.range(Digit::FirstMoving)).into_par_iter().map(of_row).sum()
}

fn one_by_one<R: Rulebook>(rulebook: &R, index: &SliceIndex<R::Set>) -> u64 {
    let weight = |entry| {
        let counts = rulebook.is_placement(&index.unrank(entry));
        if counts { index.weight(index.lead_of(entry)) } else { 0 }
    };
    (0..index.len()).into_par_iter().map(weight).sum()
}
