//! The solver against a second algorithm: plain forward sweeps over all
//! positions until nothing changes. It shares move generation with the solver
//! and nothing else: no index, no predecessors, no units, no symmetry.

use std::collections::HashMap;

use petrov_games::Bits;
use petrov_games::draughts::{Colour, Engine, Game, Generator, Goal, ManMove, Pieces};
use petrov_probe::{Army, Material, Metric, Value, View};
use petrov_tests::{FOUR_GAMES, Folder, all_games, armies, army, for_each_placement, game};

/// Piece by piece: two bits of kind, seven of square; at most four pieces.
fn key<B: Bits>(pieces: &Pieces<B>) -> u64 {
    let sets = [pieces.own_men, pieces.own_kings, pieces.opp_men, pieces.opp_kings];
    let mut key = 1;
    for (kind, set) in sets.into_iter().enumerate() {
        for square in set.squares() {
            key = key << 9 | (kind as u64) << 7 | u64::from(square);
        }
    }
    key
}

/// One legal move: where it leads, and whether it cannot be taken back.
#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    zeroing: bool,
}

/// Stands for a position that is over by its pieces alone.
const WON_BY_MOVER: u32 = u32::MAX;
const LOST_BY_MOVER: u32 = u32::MAX - 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Result {
    value: Value,
    dtw: u16,
    dtz: Option<u16>,
}

/// All positions of some materials as seen by the side to move.
struct Sweeper<B> {
    positions: Vec<Pieces<B>>,
    /// Legal moves of position n: from start n to start n + 1.
    starts: Vec<usize>,
    edges: Vec<Edge>,
    results: Vec<Option<Result>>,
}

impl<B: Bits> Sweeper<B> {
    fn new(game: &Game, generator: &Generator<B>, pairs: &[(Army, Army)]) -> Self {
        let mut positions = Vec::new();
        for (own, opp) in pairs {
            for_each_placement(game.board(), *own, *opp, Colour::White, &mut |position| {
                positions.push(generator.view(position));
            });
        }
        let numbers: HashMap<u64, u32> = positions.iter().map(key).zip(0..).collect();
        assert_eq!(numbers.len(), positions.len());
        let (mut starts, mut edges, mut steps) = (vec![0], Vec::new(), Vec::new());
        for pieces in &positions {
            generator.legal(pieces, &mut steps);
            for step in &steps {
                let child = generator.turned(&generator.after(pieces, step));
                let to = match generator.finished(&child) {
                    Some(true) => WON_BY_MOVER,
                    Some(false) => LOST_BY_MOVER,
                    None => numbers[&key(&child)],
                };
                let played = generator.to_move(step, Colour::White);
                edges.push(Edge {
                    to,
                    zeroing: game.is_conversion(&played),
                });
            }
            starts.push(edges.len());
        }
        let mut sweeper = Self {
            results: vec![None; positions.len()],
            positions,
            starts,
            edges,
        };
        let stuck = match game.rules().goal {
            Goal::Misere => Value::Win,
            Goal::Normal | Goal::Breakthrough | Goal::Ghana => Value::Loss,
        };
        sweeper.find_values(stuck);
        sweeper.find_dtz();
        sweeper
    }

    fn moves(&self, n: usize) -> &[Edge] {
        &self.edges[self.starts[n]..self.starts[n + 1]]
    }

    fn child(&self, edge: Edge) -> Option<Result> {
        let over = |value| {
            Some(Result {
                value,
                dtw: 0,
                dtz: Some(0),
            })
        };
        match edge.to {
            WON_BY_MOVER => over(Value::Win),
            LOST_BY_MOVER => over(Value::Loss),
            to => self.results[to as usize],
        }
    }

    /// In sweep d all positions decided in d plies are found.
    fn find_values(&mut self, stuck: Value) {
        let mut open: Vec<usize> = Vec::new();
        for n in 0..self.positions.len() {
            if self.moves(n).is_empty() {
                self.results[n] = Some(Result {
                    value: stuck,
                    dtw: 0,
                    dtz: Some(0),
                });
            } else {
                open.push(n);
            }
        }
        // Every distance but 0 follows from one shorter by a ply, so a sweep
        // that decides nothing is the last.
        let mut plies = 0;
        loop {
            plies += 1;
            let decided: Vec<(usize, Value)> = open
                .iter()
                .filter_map(|n| {
                    let children = self.moves(*n).iter().map(|edge| self.child(*edge));
                    let (mut all_won, mut longest) = (true, 0);
                    for child in children {
                        match child {
                            Some(child) if child.value == Value::Loss => {
                                if child.dtw + 1 == plies {
                                    return Some((*n, Value::Win));
                                }
                                all_won = false;
                            }
                            Some(child) => longest = longest.max(child.dtw + 1),
                            None => all_won = false,
                        }
                    }
                    (all_won && longest == plies).then_some((*n, Value::Loss))
                })
                .collect();
            if decided.is_empty() {
                return;
            }
            for (n, value) in decided {
                self.results[n] = Some(Result {
                    value,
                    dtw: plies,
                    dtz: None,
                });
            }
            open.retain(|n| self.results[*n].is_none());
        }
    }

    /// The same for the distance to the next conversion; values are known.
    fn find_dtz(&mut self) {
        let mut open: Vec<usize> = (0..self.positions.len())
            .filter(|n| self.results[*n].is_some_and(|result| result.dtz.is_none()))
            .collect();
        let mut plies = 0;
        while !open.is_empty() {
            plies += 1;
            let found: Vec<usize> = open
                .iter()
                .copied()
                .filter(|n| {
                    let value = self.results[*n].map(|result| result.value);
                    let distance = |edge: &Edge| {
                        let child = self.child(*edge)?;
                        if edge.zeroing {
                            Some(1)
                        } else {
                            child.dtz.map(|dtz| dtz + 1)
                        }
                    };
                    let mut moves = self.moves(*n).iter();
                    if value == Some(Value::Win) {
                        let keeps = |edge: &&Edge| self.child(**edge).is_some_and(|child| child.value == Value::Loss);
                        moves.filter(keeps).any(|edge| distance(edge) == Some(plies))
                    } else {
                        moves.all(|edge| distance(edge).is_some_and(|distance| distance <= plies))
                    }
                })
                .collect();
            for n in found {
                if let Some(result) = &mut self.results[n] {
                    result.dtz = Some(plies);
                }
            }
            open.retain(|n| self.results[*n].is_some_and(|result| result.dtz.is_none()));
            assert!(plies < 10_000, "a decided position without a conversion");
        }
    }

    /// Compares with the tables, position by position, either colour to move.
    fn compare(&self, game: &Game, generator: &Generator<B>, folder: &Folder) -> Vec<String> {
        let tables = folder.tables();
        let prober = tables.prober(game).unwrap();
        let mut errors = Vec::new();
        for (n, pieces) in self.positions.iter().enumerate() {
            let turn = [Colour::White, Colour::Black][n % 5 / 4];
            let position = generator.position(pieces, turn);
            for metric in Metric::ALL {
                let expected = match (self.results[n], metric) {
                    (None, _) => (Value::Draw, 0),
                    (Some(result), Metric::Wld) => (result.value, 0),
                    (Some(result), Metric::Dtw) => (result.value, result.dtw),
                    (Some(result), Metric::Dtz) => (result.value, result.dtz.unwrap()),
                };
                let score = prober.score(&position, metric).unwrap();
                if (score.value(), score.distance()) != expected && errors.len() < 20 {
                    let fen = game.format_fen(&position);
                    errors.push(format!(
                        "{}: {fen} {metric}: {score:?}, expected {expected:?}",
                        game.name()
                    ));
                }
            }
        }
        errors
    }
}

/// Ordered pairs of armies of the materials that the game has tables of.
fn closure(game: &Game, pieces: u8) -> Vec<(Army, Army)> {
    let allowed = |(own, opp): &(Army, Army)| match game.rules().goal {
        Goal::Normal | Goal::Misere => true,
        Goal::Breakthrough => own.count(b'K') + opp.count(b'K') == 0,
        Goal::Ghana => own.pieces() >= 2 && opp.pieces() >= 2,
    };
    (2..=pieces).flat_map(armies).filter(allowed).collect()
}

fn compare(game: &Game, what: &str, pairs: &[(Army, Army)]) -> Vec<String> {
    let folder = Folder::with(game, what, &Metric::ALL);
    match game.engine() {
        Engine::Narrow(generator) => Sweeper::new(game, generator, pairs).compare(game, generator, &folder),
        Engine::Wide(generator) => Sweeper::new(game, generator, pairs).compare(game, generator, &folder),
    }
}

fn up_to(game: &Game, pieces: u8) -> Vec<String> {
    compare(game, &pieces.to_string(), &closure(game, pieces))
}

fn check(games: &[Game], errors: impl Fn(&Game) -> Vec<String>) {
    let errors: Vec<String> = games.iter().flat_map(errors).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// The other rule files, each set of rules once.
fn others(wanted: impl Fn(&Game) -> bool) -> Vec<Game> {
    let mut seen: Vec<_> = FOUR_GAMES.iter().map(|name| game(name).fingerprint()).collect();
    let mut games = Vec::new();
    for game in all_games() {
        if !seen.contains(&game.fingerprint()) {
            seen.push(game.fingerprint());
            if wanted(&game) {
                games.push(game);
            }
        }
    }
    games
}

fn is_small(game: &Game) -> bool {
    game.board().squares() <= 32
}

fn is_special(game: &Game) -> bool {
    matches!(game.rules().goal, Goal::Breakthrough | Goal::Ghana)
}

#[test]
fn russian_and_english_three_pieces() {
    check(&[game("russian"), game("english")], |game| up_to(game, 3));
}

#[test]
fn brazilian_and_italian_three_pieces() {
    check(&[game("brazilian"), game("italian")], |game| up_to(game, 3));
}

#[test]
fn other_small_boards_three_pieces() {
    let games = others(is_small);
    assert!(games.len() >= 8, "{} games", games.len());
    check(&games, |game| up_to(game, 3));
}

#[test]
fn large_boards_two_pieces() {
    let games = others(|game| !is_small(game) && !is_special(game));
    assert!(games.len() >= 6, "{} games", games.len());
    check(&games, |game| up_to(game, 2));
}

/// Men that move sideways, too, so that units are more than fixed men.
#[test]
fn sideways_men_three_pieces() {
    let game = game("turkish");
    assert_ne!(game.rules().man_move, ManMove::DiagonalForward);
    let sides = [army(0, 1), army(1, 0), army(0, 2), army(1, 1), army(2, 0)];
    let small = sides.iter().flat_map(|own| sides.map(|opp| (*own, opp)));
    // All that MMvM can turn into; larger armies of the second side cannot arise.
    let pairs: Vec<_> = small.filter(|(own, opp)| own.pieces() + opp.pieces() <= 3).collect();
    check(&[game], |game| compare(game, "MMvM", &pairs));
}

/// Games that end by the pieces alone, with their smallest tables.
#[test]
fn other_goals() {
    let games = others(is_special);
    assert_eq!(games.len(), 2);
    check(&games, |game| match game.rules().goal {
        Goal::Ghana => {
            let material: Material = "KKvKK".parse().unwrap();
            compare(game, "KKvKK", &[material.armies(View::White)])
        }
        Goal::Normal | Goal::Misere | Goal::Breakthrough => up_to(game, 2),
    });
}
