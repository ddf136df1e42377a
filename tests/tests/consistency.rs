//! Every position of small tables against its legal moves: values and
//! distances must be what the best move makes them. Positions are probed one
//! by one as a program would, so captures, colour swap and symmetry take part.

use petrov_games::draughts::{Board, Colour, Game, Goal, Position};
use petrov_probe::{Army, Metric, Prober, Value};
use petrov_tests::{FOUR_GAMES, Folder, Random, armies, for_each_placement, game, swapped};

struct Checker<'t> {
    game: &'t Game,
    prober: Prober<Game>,
    positions: u64,
    errors: Vec<String>,
}

impl<'t> Checker<'t> {
    fn score(&self, position: &Position, metric: Metric) -> (Value, u16) {
        let score = self.prober.score(position, metric);
        let score = score.unwrap_or_else(|error| panic!("{}: {error}", self.game.format_fen(position)));
        (score.value(), score.distance())
    }

    fn check(&mut self, position: &Position) {
        self.positions += 1;
        let legal = self.game.legal_moves(position);
        let after: Vec<_> = legal.iter().map(|played| self.game.after(position, played)).collect();
        let zeroing: Vec<_> = legal.iter().map(|played| self.game.is_conversion(played)).collect();
        for metric in Metric::ALL {
            let (mut wins, mut losses, mut draws) = (Vec::new(), Vec::new(), 0);
            for (child, zeroing) in after.iter().zip(&zeroing) {
                let (value, distance) = self.score(child, metric);
                let distance = match metric {
                    Metric::Wld => 0,
                    Metric::Dtz if *zeroing => 1,
                    Metric::Dtw | Metric::Dtz => distance + 1,
                };
                match value {
                    Value::Loss => wins.push(distance),
                    Value::Draw => draws += 1,
                    Value::Win => losses.push(distance),
                }
            }
            let expected = if legal.is_empty() {
                match self.game.rules().goal {
                    Goal::Misere => (Value::Win, 0),
                    Goal::Normal | Goal::Breakthrough | Goal::Ghana => (Value::Loss, 0),
                }
            } else if let Some(distance) = wins.iter().min() {
                (Value::Win, *distance)
            } else if draws > 0 {
                (Value::Draw, 0)
            } else {
                (Value::Loss, losses.into_iter().max().unwrap_or(0))
            };
            let found = self.score(position, metric);
            if found != expected && self.errors.len() < 50 {
                let fen = self.game.format_fen(position);
                self.errors
                    .push(format!("{fen} {metric}: {found:?}, its moves make it {expected:?}"));
            }
        }
        let [wld, dtw, dtz] = Metric::ALL.map(|metric| self.score(position, metric).0);
        if [wld, wld] != [dtw, dtz] && self.errors.len() < 50 {
            let fen = self.game.format_fen(position);
            self.errors.push(format!("{fen}: wld {wld}, dtw {dtw}, dtz {dtz}"));
        }
    }

    fn finish(self) -> u64 {
        assert!(
            self.errors.is_empty(),
            "{}:\n{}",
            self.game.name(),
            self.errors.join("\n")
        );
        self.positions
    }
}

fn with_checker(game: &Game, pieces: &str, run: impl FnOnce(&mut Checker<'_>, &Board)) -> u64 {
    let folder = Folder::with(game, pieces, &Metric::ALL);
    let tables = folder.tables();
    let prober = tables.prober(game).unwrap();
    let mut checker = Checker {
        game,
        prober,
        positions: 0,
        errors: Vec::new(),
    };
    run(&mut checker, game.board());
    checker.finish()
}

fn every_position(name: &str) {
    let game = game(name);
    let positions = with_checker(&game, "3", |checker, board| {
        for pieces in 2..=3 {
            for (white, black) in armies(pieces) {
                let mut number = 0u64;
                for_each_placement(board, white, black, Colour::White, &mut |position| {
                    checker.check(position);
                    // The other colour's turn is the same table entry, seen the other way round.
                    number += 1;
                    if number.is_multiple_of(16) {
                        checker.check(&swapped(board, position));
                    }
                });
            }
        }
    });
    assert!(positions > 190_000, "{positions}");
}

#[test]
fn russian() {
    every_position(FOUR_GAMES[0]);
}

#[test]
fn english() {
    every_position(FOUR_GAMES[1]);
}

#[test]
fn brazilian() {
    every_position(FOUR_GAMES[2]);
}

#[test]
fn italian() {
    every_position(FOUR_GAMES[3]);
}

#[test]
fn russian_four_pieces() {
    let mut random = Random::new(4);
    with_checker(&game("russian"), "4", |checker, board| {
        let pairs: Vec<(Army, Army)> = armies(4);
        for n in 0..20_000 {
            let (white, black) = pairs[n % pairs.len()];
            checker.check(&random.position(board, white, black));
        }
    });
}
