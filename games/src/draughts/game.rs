//! One game: its rules with everything derived from them.

use std::sync::Arc;

use super::board::Board;
use super::generate::{Generator, Step};
use super::names::SquareNames;
use super::parse::RuleFile;
use super::position::{Colour, Move, Position};
use super::rules::{Goal, Rules};
use crate::fingerprint::Fingerprint;

/// The move generator of a game, compiled for words that hold its board.
pub type Engine = crate::game::Engine<Generator<u64>, Generator<u128>>;

/// Runs the same code with the generator of either width.
macro_rules! with_generator {
    ($game:expr, $generator:ident => $body:expr) => {
        match &$game.engine {
            Engine::Narrow($generator) => $body,
            Engine::Wide($generator) => $body,
        }
    };
}

/// A draughts game: a rule file, its board, and the names of its squares.
#[derive(Clone, Debug)]
pub struct Game {
    file: RuleFile,
    board: Board,
    names: SquareNames,
    fingerprint: Fingerprint,
    engine: Engine,
}

impl Game {
    /// The game of a rule file.
    #[must_use]
    pub fn new(file: RuleFile) -> Self {
        let board = Board::new(&file.rules);
        let names = SquareNames::new(&file.rules, &board);
        let fingerprint = file.rules.fingerprint();
        let engine = if board.bits() <= 64 {
            Engine::Narrow(Arc::new(Generator::new(&file.rules, &board)))
        } else {
            Engine::Wide(Arc::new(Generator::new(&file.rules, &board)))
        };
        Self {
            file,
            board,
            names,
            fingerprint,
            engine,
        }
    }

    /// The name by which it is asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// One line about the game; may be empty.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.file.description
    }

    /// Where the rules come from; may be empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.file.source
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.file.rules
    }

    /// The rule file, which can be written as TOML.
    #[must_use]
    pub fn rule_file(&self) -> &RuleFile {
        &self.file
    }

    /// The board.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The fingerprint of the rules.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The position in which the game starts.
    #[must_use]
    pub fn start(&self) -> Position {
        let rules = self.rules();
        let mut men = [0; 2];
        for row in rules.rows.0..=rules.rows.1 {
            men[Colour::White as usize] |= self.board.rank_set(row - 1);
            men[Colour::Black as usize] |= self.board.rank_set(rules.ranks - row);
        }
        Position {
            men,
            kings: [0; 2],
            turn: if rules.white_first {
                Colour::White
            } else {
                Colour::Black
            },
        }
    }

    /// The move generator.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// All legal moves, each once; none if the game is over.
    #[must_use]
    pub fn legal_moves(&self, position: &Position) -> Vec<Move> {
        with_generator!(self, generator => {
            let mut steps = Vec::new();
            generator.legal(&generator.view(position), &mut steps);
            steps.iter().map(|step| generator.to_move(step, position.turn)).collect()
        })
    }

    /// The position after a legal move.
    #[must_use]
    pub fn after(&self, position: &Position, played: &Move) -> Position {
        with_generator!(self, generator => {
            let pieces = generator.after(&generator.view(position), &generator.to_step(played, position.turn));
            generator.position(&generator.turned(&pieces), position.turn.other())
        })
    }

    /// Landing squares of one route of a legal capture, the end square last.
    #[must_use]
    pub fn route(&self, position: &Position, played: &Move) -> Vec<u8> {
        with_generator!(self, generator => {
            let route = generator.route(&generator.view(position), &generator.to_step(played, position.turn));
            let turned = |square: &u8| if position.turn == Colour::White { *square } else { self.board.bits() - 1 - square };
            route.iter().map(turned).collect()
        })
    }

    /// Visits the landing squares of every legal route of a legal capture, the
    /// end square last, until `visit` returns false.
    pub(crate) fn each_route(&self, position: &Position, played: &Move, mut visit: impl FnMut(&[u8]) -> bool) {
        with_generator!(self, generator => {
            let step = generator.to_step(played, position.turn);
            generator.each_route(&generator.view(position), &step, |route| {
                let turned = |square: &u8| if position.turn == Colour::White { *square } else { self.board.bits() - 1 - square };
                visit(&route.iter().map(turned).collect::<Vec<_>>())
            });
        });
    }

    /// The texts of all legal moves, in the order of
    /// [`legal_moves`](Self::legal_moves).
    #[must_use]
    pub fn move_texts(&self, position: &Position, legal: &[Move]) -> Vec<String> {
        legal
            .iter()
            .map(|played| self.move_text(played, legal, |capture| self.route(position, capture)))
            .collect()
    }

    /// Number of distinct move sequences of `depth` plies.
    #[must_use]
    pub fn perft(&self, position: &Position, depth: u32) -> u64 {
        with_generator!(self, generator => generator.perft(&generator.view(position), depth, &mut Vec::<Vec<Step<_>>>::new()))
    }

    /// Whether a move cannot be taken back: a capture, a promotion or a man's
    /// move to another rank.
    #[must_use]
    pub fn is_conversion(&self, played: &Move) -> bool {
        let rank = |square| self.board.coordinates(square).1;
        played.captured != 0 || played.by_man && (played.to_king || rank(played.from) != rank(played.to))
    }

    /// The name of a square; empty if there is no such square.
    #[must_use]
    pub fn square_name(&self, square: u8) -> String {
        self.names.name(square).to_owned()
    }

    /// The square of a name, exactly as [`square_name`](Self::square_name)
    /// writes it.
    #[must_use]
    pub fn square_by_name(&self, name: &str) -> Option<u8> {
        self.names.square(name)
    }

    /// The playable squares in the order of their names: by number, or rank by
    /// rank from a1.
    #[must_use]
    pub fn squares_in_order(&self) -> &[u8] {
        self.names.order()
    }

    pub(crate) fn names(&self) -> &SquareNames {
        &self.names
    }

    /// The winner, if the pieces alone decide the game whoever is to move: a
    /// side is empty, has made a king (breakthrough) or is down to one piece
    /// (Ghanaian). Positions that are over because the mover is blocked are
    /// not among them.
    ///
    /// `None` also if both sides would have won, which no game comes to and
    /// [`parse_fen`](Self::parse_fen) refuses.
    #[must_use]
    pub fn finished(&self, position: &Position) -> Option<Colour> {
        match self.won(position) {
            [true, false] => Some(Colour::White),
            [false, true] => Some(Colour::Black),
            _ => None,
        }
    }

    /// Whether the pieces alone make White, and Black, the winner.
    pub(crate) fn won(&self, position: &Position) -> [bool; 2] {
        [Colour::White, Colour::Black].map(|colour| {
            let (own, other) = (position.side(colour), position.side(colour.other()));
            match self.rules().goal {
                Goal::Normal => other == 0,
                Goal::Misere => own == 0,
                Goal::Breakthrough => other == 0 || position.kings[colour as usize] != 0,
                Goal::Ghana => other.count_ones() <= 1,
            }
        })
    }
}

#[cfg(test)]
mod tests;
