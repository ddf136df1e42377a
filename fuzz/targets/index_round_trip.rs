//! Index numbers: from any number of any small slice of any game in any digit order to its placement and back.
#![no_main]

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use libfuzzer_sys::fuzz_target;
use petrov_fuzz::game_of;
use petrov_games::{Army, Game, Rulebook, with_game, with_rulebook};
use petrov_probe::{DigitOrder, SliceIndex};

/// An index of one slice: its length, and there and back.
struct RoundTrip {
    entries: u64,
    trip: Box<dyn Fn(u64) -> Trip + Send + Sync>,
}

struct Trip {
    /// The number that the placement of a number has.
    back: u64,
    /// The placement of that number has the same one.
    settled: bool,
    /// The entries of both stand for as many placements.
    same_weight: bool,
}

type Key = (String, Vec<u8>, Vec<u8>, u8);

/// Every slice asked for so far. At most three pieces: a few thousand small ones.
static SLICES: LazyLock<Mutex<HashMap<Key, Option<&'static RoundTrip>>>> = LazyLock::new(Mutex::default);

fn round_trip<R: Rulebook>(rulebook: &R, own: &Army, opponent: &Army, order: DigitOrder) -> Option<RoundTrip>
where
    SliceIndex<R::Set>: Send + Sync + 'static,
{
    let index = SliceIndex::new(rulebook, own, opponent, order)?;
    let entries = index.len();
    let trip = move |entry| {
        let back = index.rank(&index.unrank::<R::Placement>(entry));
        Trip {
            back,
            settled: back < entries && index.rank(&index.unrank::<R::Placement>(back)) == back,
            same_weight: index.weight(index.lead_of(entry)) == index.weight(index.lead_of(back)),
        }
    };
    Some(RoundTrip {
        entries,
        trip: Box::new(trip),
    })
}

fn slice<G: Game>(game: &G, choice: [u8; 4]) -> Option<&'static RoundTrip> {
    with_rulebook!(game, rulebook => {
        let [own_pieces, own, opponent, order] = choice;
        let own_pieces = 1 + own_pieces % 2;
        let pick = |pieces: u8, choice: u8| -> Option<Army> {
            let armies = rulebook.armies(pieces);
            armies.get(usize::from(choice) % armies.len().max(1)).copied()
        };
        let (own, opponent) = (pick(own_pieces, own)?, pick(3 - own_pieces, opponent)?);
        let letters = |army: &Army| format!("{army:?}").into_bytes();
        let key = (game.name().to_owned(), letters(&own), letters(&opponent), order % 24);
        let mut slices = SLICES.lock().expect("no target panics while it holds the lock");
        *slices.entry(key).or_insert_with(|| {
            // Kept as long as the process.
            let round_trip = round_trip(&**rulebook, &own, &opponent, DigitOrder::from_code(order % 24)?)?;
            Some(Box::leak(Box::new(round_trip)))
        })
    })
}

fuzz_target!(|bytes: &[u8]| {
    let [family, game, own_pieces, own, opponent, order, number @ ..] = bytes else {
        return;
    };
    let game = game_of(if family % 2 == 0 { "draughts" } else { "chess" }, *game);
    let choice = [*own_pieces, *own, *opponent, *order];
    let found = with_game!(game, game => slice(game, choice));
    let Some(slice) = found.filter(|slice| slice.entries > 0) else {
        return;
    };
    for number in number.chunks_exact(4) {
        let number = u32::from_le_bytes([number[0], number[1], number[2], number[3]]);
        let entry = u64::from(number) % slice.entries;
        let trip = (slice.trip)(entry);
        // Another number only if a symmetry keeps the folded pieces where they are, and then it is settled.
        assert!(
            trip.back < slice.entries && trip.settled && trip.same_weight,
            "{}: entry {entry}",
            game.name()
        );
    }
});
