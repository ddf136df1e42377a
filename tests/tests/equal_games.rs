//! Games that have equal tables, all of them or those of some materials, and
//! games that one might think to.

use std::collections::BTreeMap;

use petrov_games::draughts::{Colour, Game};
use petrov_probe::{Metric, Value};
use petrov_tests::{Folder, all_games, armies, for_each_placement, game};

const METRICS: [Metric; 2] = [Metric::Wld, Metric::Dtw];

/// Wins, draws, losses and longest distances of both sides to move, by
/// metric, and how many positions have each value and distance.
type Figures = Vec<(Metric, Vec<([u64; 5], Counts)>)>;
type Counts = Vec<(Value, u16, u64)>;

/// Tables of single materials, each with what it depends on.
struct Built {
    name: String,
    figures: BTreeMap<String, Figures>,
}

impl Built {
    fn new(name: &str, requests: &[&str]) -> Self {
        let game = game(name);
        let folder = Folder::default();
        for what in requests {
            folder.build(&game, what, &METRICS, 1);
        }
        let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
        for table in folder.tables().iter() {
            let parts = table.header().parts();
            let sides = parts.sides.iter().map(|side| {
                let [win, draw, loss] = [Value::Win, Value::Draw, Value::Loss].map(|value| side.count(value));
                let longest = [Value::Win, Value::Loss].map(|value| side.longest(value).map_or(0, u64::from));
                let mut counts: Counts = side
                    .palette
                    .iter()
                    .map(|p| (p.score().value(), p.distance, p.count))
                    .collect();
                counts.retain(|(_, _, count)| *count > 0);
                counts.sort_unstable();
                ([win, draw, loss, longest[0], longest[1]], counts)
            });
            let entry = (parts.metric, sides.collect());
            figures.entry(parts.material.clone()).or_default().push(entry);
        }
        for of_material in figures.values_mut() {
            of_material.sort_by_key(|(metric, _)| *metric as usize);
            assert_eq!(of_material.len(), METRICS.len());
        }
        Self {
            name: name.to_owned(),
            figures,
        }
    }

    fn of(&self, material: &str) -> &Figures {
        &self.figures[material]
    }
}

/// All games have the same figures in each of the materials.
fn equal(games: &[&str], materials: &[&str]) -> Vec<Built> {
    let built: Vec<Built> = games.iter().map(|name| Built::new(name, materials)).collect();
    for other in &built[1..] {
        for material in materials {
            let names = format!("{} and {}: {material}", built[0].name, other.name);
            assert_eq!(built[0].of(material), other.of(material), "{names}");
        }
    }
    built
}

const KINGS_UP_TO_THREE: [&str; 2] = ["KvK", "KKvK"];
const KINGS_UP_TO_FOUR: [&str; 4] = ["KvK", "KKvK", "KKKvK", "KKvKK"];

/// Every pair of games with equal fingerprints: all slices, and every single
/// position, read from the tables of either.
#[test]
fn games_of_one_fingerprint_are_served_by_the_same_tables() {
    let games = all_games();
    let mut pairs = Vec::new();
    for (number, one) in games.iter().enumerate() {
        for other in &games[number + 1..] {
            if one.fingerprint() == other.fingerprint() {
                assert_eq!(
                    Built::new(one.name(), &["3"]).figures,
                    Built::new(other.name(), &["3"]).figures
                );
                same_positions(one, other);
                pairs.push((one.name().to_owned(), other.name().to_owned()));
            }
        }
    }
    let expected = [("jamaican", "pool"), ("portuguese", "spanish")];
    assert_eq!(pairs, expected.map(|(one, other)| (one.to_owned(), other.to_owned())));
}

/// Looks every position of up to three pieces up for both games, each in the
/// tables that the other built.
fn same_positions(one: &Game, other: &Game) {
    let (ours, theirs) = (Folder::with(one, "3", &METRICS), Folder::with(other, "3", &METRICS));
    let (ours, theirs) = (ours.tables(), theirs.tables());
    let (in_theirs, in_ours) = (theirs.prober(one).unwrap(), ours.prober(other).unwrap());
    for (white, black) in (2..=3).flat_map(armies) {
        for turn in [Colour::White, Colour::Black] {
            for_each_placement(one.board(), white, black, turn, &mut |position| {
                let [found, expected] =
                    [&in_theirs, &in_ours].map(|prober| prober.score(position, Metric::Dtw).unwrap());
                assert_eq!(found, expected, "{} {}", one.name(), one.format_fen(position));
            });
        }
    }
}

/// Without men neither their axes nor the priority rule matter, up to four
/// pieces.
#[test]
fn flying_kings_that_land_anywhere() {
    equal(
        &[
            "russian",
            "brazilian",
            "pool",
            "czech",
            "spanish",
            "german-lasker",
            "myanmar",
        ],
        &KINGS_UP_TO_FOUR,
    );
}

#[test]
fn flying_kings_that_land_right_behind() {
    let built = equal(&["german-dame", "russian-stop"], &KINGS_UP_TO_FOUR);
    let argentinian = Built::new("argentinian", &KINGS_UP_TO_FOUR);
    for material in ["KvK", "KKvK", "KKvKK"] {
        assert_eq!(built[0].of(material), argentinian.of(material), "{material}");
    }
    // The majority rule takes choices away from the single king. It changes
    // no value and no longest distance, but how long some positions take.
    assert_ne!(built[0].of("KKKvK"), argentinian.of("KKKvK"));
}

#[test]
fn short_kings() {
    equal(&["english", "italian", "old-french"], &["KvK", "KKvK", "KKvKK"]);
    let [english, italian, old_french] = ["english", "italian", "old-french"].map(|name| Built::new(name, &["KKKvK"]));
    assert_ne!(english.of("KKKvK"), italian.of("KKKvK"));
    assert_ne!(english.of("KKKvK"), old_french.of("KKKvK"));
}

#[test]
fn kings_on_144_squares() {
    equal(&["canadian", "malaysian"], &KINGS_UP_TO_THREE);
}

/// Removal at once opens lines as soon as there are two pieces to take.
#[test]
fn thai_is_not_german_dame() {
    let [thai, german] = ["thai", "german-dame"].map(|name| Built::new(name, &KINGS_UP_TO_THREE));
    assert_eq!(thai.of("KvK"), german.of("KvK"));
    assert_ne!(thai.of("KKvK"), german.of("KKvK"));
}

#[test]
fn killer_is_not_international() {
    let [killer, international] = ["killer", "international"].map(|name| Built::new(name, &KINGS_UP_TO_THREE));
    assert_ne!(killer.of("KKvK"), international.of("KKvK"));
}

/// The man that reaches the last row while it takes.
#[test]
fn russian_is_not_pool_with_men() {
    let [russian, pool] = ["russian", "pool"].map(|name| Built::new(name, &["3"]));
    assert_eq!(russian.of("KKvK"), pool.of("KKvK"));
    assert_ne!(russian.of("KKvM"), pool.of("KKvM"));
}
