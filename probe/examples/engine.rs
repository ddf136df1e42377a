//! A small engine for Russian or English draughts that uses tables, and beats itself without tables.
//!
//! ```text
//! cargo run --release -p petrov-probe --example engine -- russian tables --games 300
//! ```
//!
//! It draws won positions of four pieces at random and plays each of them out, the winner once with tables and once
//! without; the loser never has any. Games end by the rules of draws: three times the same position, or so many
//! plies without a capture or a move of a man. Exit status 1 if the side with tables does not win all.

use std::collections::HashMap;

use petrov_games::draughts::{Game, Move, Position};
use petrov_games::{Colour, Games};
use petrov_probe::{CountRule, Handle, Metric, PieceLimit, ProbeError, Prober, Ranking, Tables, Value};

/// More than any material is worth.
const WON: i32 = 1_000_000;
/// Games that the rules of draws have not ended by then would show that they are not applied.
const LONGEST_GAME: u32 = 10_000;

/// What an engine probes with.
struct Endings {
    handle: Handle<Game>,
    limit: PieceLimit,
}

/// One engine: a search by alpha and beta, with tables or without.
struct Engine<'g> {
    game: &'g Game,
    depth: u32,
    endings: Option<Endings>,
    nodes: u64,
}

impl<'g> Engine<'g> {
    fn new(game: &'g Game, depth: u32, prober: Option<&Prober<Game>>) -> Self {
        let endings = prober.map(|prober| Endings {
            handle: prober.handle(),
            limit: prober.limit(Metric::Wld),
        });
        Self {
            game,
            depth,
            endings,
            nodes: 0,
        }
    }

    /// The move to play, after so many plies without a conversion.
    fn choose(&mut self, position: &Position, rule: u32, counted: u32) -> Result<Option<Move>, ProbeError> {
        if let Some(Endings { handle, .. }) = &self.endings {
            // At the root distances lead to the win; values alone would let it go round in circles.
            let rule = CountRule::Plies { limit: rule, counted };
            match handle.prober().best_moves(position, Ranking::Dtw, rule) {
                Ok(best) => return Ok(best.moves.first().map(|ranked| ranked.played)),
                // More pieces than the tables have: the search finds its way to them.
                Err(ProbeError::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let mut best = None;
        let mut alpha = -2 * WON;
        for played in self.game.legal_moves(position) {
            let after = self.game.after(position, &played);
            let score = -self.search(&after, self.depth - 1, -2 * WON, -alpha)?;
            if score > alpha {
                alpha = score;
                best = Some(played);
            }
        }
        Ok(best)
    }

    fn search(&mut self, position: &Position, depth: u32, mut alpha: i32, beta: i32) -> Result<i32, ProbeError> {
        self.nodes += 1;
        if let Some(Endings { handle, limit }) = &mut self.endings {
            let count = |colour| position.side(colour).count_ones();
            // The test that costs nothing first.
            if limit.admits(count(Colour::White), count(Colour::Black)) {
                match handle.value(position)? {
                    // Sooner is better: what is left of the depth tells when.
                    Some(Value::Win) => return Ok(WON / 2 + depth as i32),
                    Some(Value::Draw) => return Ok(0),
                    Some(Value::Loss) => return Ok(-WON / 2 - depth as i32),
                    None => {}
                }
            }
        }
        let legal = self.game.legal_moves(position);
        let Some(first) = legal.first() else {
            return Ok(-WON - depth as i32);
        };
        // Captures are compulsory: a position with one is not quiet.
        if depth == 0 && first.captured == 0 {
            return Ok(self.judge(position));
        }
        for played in &legal {
            let after = self.game.after(position, played);
            let score = -self.search(&after, depth.saturating_sub(1), -beta, -alpha)?;
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        Ok(alpha)
    }

    /// Material, and how far men have come, for the side to move.
    fn judge(&self, position: &Position) -> i32 {
        let board = self.game.board();
        let side = |colour: Colour| {
            let own = colour as usize;
            let mut rest = position.men[own];
            let mut sum = 300 * position.kings[own].count_ones() as i32;
            while rest != 0 {
                let (_, rank) = board.coordinates(rest.trailing_zeros() as u8);
                let steps = match colour {
                    Colour::White => rank,
                    Colour::Black => board.ranks() - 1 - rank,
                };
                sum += 100 + 5 * i32::from(steps);
                rest &= rest - 1;
            }
            sum
        };
        side(position.turn) - side(position.turn.other())
    }
}

/// Plays a game to its end; gives the winner.
fn play(
    game: &Game,
    start: &Position,
    mut engines: [&mut Engine<'_>; 2],
    rule: u32,
) -> Result<Option<Colour>, ProbeError> {
    let mut position = *start;
    let mut seen: HashMap<Position, u32> = HashMap::new();
    let mut counted = 0;
    for _ in 0..LONGEST_GAME {
        let times = seen.entry(position).or_default();
        *times += 1;
        if *times == 3 || counted == rule {
            return Ok(None);
        }
        let engine = &mut engines[position.turn as usize];
        let Some(played) = engine.choose(&position, rule, counted)? else {
            return Ok(Some(position.turn.other()));
        };
        if game.is_conversion(&played) {
            counted = 0;
            seen.clear();
        } else {
            counted += 1;
        }
        position = game.after(&position, &played);
    }
    Ok(None)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// Four pieces anywhere, both sides having one at least.
    fn position(&mut self, game: &Game) -> Position {
        let squares = game.squares_in_order();
        let mut position = Position {
            men: [0; 2],
            kings: [0; 2],
            turn: if self.below(2) == 0 {
                Colour::White
            } else {
                Colour::Black
            },
        };
        let white = 1 + self.below(3);
        for piece in 0..4 {
            let own = usize::from(piece >= white);
            let square = loop {
                let square = 1 << squares[self.below(squares.len() as u64) as usize];
                if position.occupied() & square == 0 {
                    break square;
                }
            };
            let last = game
                .board()
                .rank_set(if own == 0 { game.board().ranks() - 1 } else { 0 });
            if self.below(2) == 0 || square & last != 0 {
                position.kings[own] |= square;
            } else {
                position.men[own] |= square;
            }
        }
        position
    }
}

/// What a match came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Score {
    /// Positions played.
    pub(crate) games: u32,
    /// Of these, won by the winner with tables.
    pub(crate) with_tables: u32,
    /// Of these, won by the winner without tables.
    pub(crate) without_tables: u32,
}

/// Plies without a capture or a move of a man after which a game is drawn: fifteen moves of each side in Russian
/// draughts, forty in English.
pub(crate) fn draw_rule(game: &str) -> u32 {
    if game == "english" { 80 } else { 30 }
}

/// Plays won endings of four pieces that are drawn at random and have no capture to begin with, until `wanted` of them
/// are played.
pub(crate) fn play_endings(prober: &Prober<Game>, wanted: u32, depth: u32, seed: u64) -> Result<Score, ProbeError> {
    let game = prober.game();
    let rule = draw_rule(game.name());
    let mut random = Random(seed);
    let mut handle = prober.handle();
    let mut armed = Engine::new(game, depth, Some(prober));
    let mut bare = Engine::new(game, depth, None);
    let mut loser = Engine::new(game, depth, None);
    let mut score = Score::default();
    while score.games < wanted {
        let start = random.position(game);
        if game
            .legal_moves(&start)
            .first()
            .is_none_or(|played| played.captured != 0)
        {
            continue;
        }
        let winner = match handle.value(&start)? {
            Some(Value::Win) => start.turn,
            Some(Value::Loss) => start.turn.other(),
            _ => continue,
        };
        score.games += 1;
        for (engine, wins) in [
            (&mut armed, &mut score.with_tables),
            (&mut bare, &mut score.without_tables),
        ] {
            let engines = match winner {
                Colour::White => [engine, &mut loser],
                Colour::Black => [&mut loser, engine],
            };
            if play(game, &start, engines, rule)? == Some(winner) {
                *wins += 1;
            }
        }
    }
    Ok(score)
}

fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, otherwise: u64| -> Result<u64, Box<dyn std::error::Error>> {
        match arguments.iter().position(|argument| argument == name) {
            None => Ok(otherwise),
            Some(at) => {
                let value = arguments.get(at + 1).ok_or_else(|| format!("{name} needs a number"))?;
                Ok(value
                    .parse()
                    .map_err(|_| format!("{name} {value}: expected a number"))?)
            }
        }
    };
    let [name, folder, ..] = arguments.as_slice() else {
        return Err("usage: engine russian|english FOLDER [--games N] [--depth N] [--seed N]".into());
    };
    let tables = Tables::open(&[folder])?;
    let prober = tables.prober(Games::built_in().draughts(name)?)?;
    // All that it looks at, so that endings are found, and won within the rules.
    for metric in [Metric::Wld, Metric::Dtw, Metric::Dtz] {
        if !prober.limit(metric).admits(2, 2) {
            return Err(format!(
                "{folder} has no {metric} tables of four pieces; `petrov --tables {folder} gen {name} 4 --metric wld,dtw,dtz` builds them"
            )
            .into());
        }
    }
    let games = option("--games", 100)? as u32;
    let depth = option("--depth", 3)?.max(1) as u32;
    let score = play_endings(&prober, games, depth, option("--seed", 1)?)?;
    println!(
        "{name}: {} won endings of four pieces, depth {depth}; won with tables {}, without {}",
        score.games, score.with_tables, score.without_tables
    );
    Ok(score.with_tables == score.games)
}

// Dead where a test takes this file as a module.
#[allow(dead_code)]
fn main() -> std::process::ExitCode {
    match run() {
        Ok(true) => std::process::ExitCode::SUCCESS,
        Ok(false) => std::process::ExitCode::from(1),
        Err(error) => {
            eprintln!("engine: {error}");
            std::process::ExitCode::from(2)
        }
    }
}
