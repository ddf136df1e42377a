//! One game: its rules with everything derived from them.

use std::sync::Arc;

use super::board::{Board, Kind, NO_SQUARE, flipped};
use super::fen::{self, FenError};
use super::generate::{Ending, Generator, Step};
use super::parse::RuleFile;
use super::pgn::{PgnError, PgnGame};
use super::rules::{Goal, Rules, Stalemate};
use crate::bits::Bits;
use crate::fingerprint::Fingerprint;
use crate::game::{self, Engine, OfFamily};
use crate::piece::Colour;

/// A position with its counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    /// The pieces as White sees them: White's are the own ones, whoever is to
    /// move.
    pub board: Board,
    /// The side to move.
    pub turn: Colour,
    /// Plies since the last capture or pawn move.
    pub halfmove: u32,
    /// Number of the next move, from 1.
    pub fullmove: u32,
}

/// A legal move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// Start square.
    pub from: u8,
    /// End square.
    pub to: u8,
    /// The piece that moves.
    pub kind: Kind,
    /// What it is afterwards: another kind if it promotes.
    pub becomes: Kind,
    /// Square of the piece taken.
    pub captured: Option<u8>,
    /// The king castles.
    pub castles: bool,
}

impl Move {
    /// Whether the move cannot be taken back: a capture or any pawn move.
    #[must_use]
    pub fn is_conversion(&self) -> bool {
        self.captured.is_some() || self.kind == Kind::PAWN
    }

    /// What a pawn becomes by this move.
    #[must_use]
    pub fn promotion(&self) -> Option<Kind> {
        (self.becomes != self.kind).then_some(self.becomes)
    }
}

impl Generator {
    /// The board as the side to move sees it.
    #[must_use]
    pub fn view(&self, position: &Position) -> Board {
        match position.turn {
            Colour::White => position.board,
            Colour::Black => self.turned(&position.board),
        }
    }

    /// A move of the side as it looks on the board.
    #[must_use]
    pub fn to_move(&self, step: &Step, turn: Colour) -> Move {
        let square = |square| match turn {
            Colour::White => square,
            Colour::Black => flipped(square, self.ranks()),
        };
        Move {
            from: square(step.from),
            to: square(step.to),
            kind: step.kind,
            becomes: step.becomes,
            captured: step.is_capture().then(|| square(step.taken)),
            castles: step.castles,
        }
    }

    /// A move as the side sees it.
    #[must_use]
    pub fn to_step(&self, played: &Move, turn: Colour) -> Step {
        let square = |square| match turn {
            Colour::White => square,
            Colour::Black => flipped(square, self.ranks()),
        };
        Step {
            from: square(played.from),
            to: square(played.to),
            kind: played.kind,
            becomes: played.becomes,
            taken: played.captured.map_or(NO_SQUARE, square),
            castles: played.castles,
        }
    }
}

/// A chess game: a rule file and its move generator.
#[derive(Clone, Debug)]
pub struct Game {
    file: RuleFile,
    fingerprint: Fingerprint,
    engine: Engine<Generator, Generator>,
}

impl Game {
    /// The game of a rule file.
    #[must_use]
    pub fn new(file: RuleFile) -> Self {
        Self {
            fingerprint: file.rules.fingerprint(),
            engine: Engine::Narrow(Arc::new(Generator::new(&file.rules))),
            file,
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

    /// The fingerprint of the rules.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The move generator.
    #[must_use]
    pub fn generator(&self) -> &Arc<Generator> {
        match &self.engine {
            Engine::Narrow(generator) | Engine::Wide(generator) => generator,
        }
    }

    /// The position in which the game starts, if the rules have one.
    #[must_use]
    pub fn start(&self) -> Option<Position> {
        self.parse_fen(self.rules().start.as_deref()?).ok()
    }

    /// Reads a FEN of four or six fields; counters left out are 0 and 1.
    ///
    /// # Errors
    ///
    /// The first [`FenError`] found.
    pub fn parse_fen(&self, text: &str) -> Result<Position, FenError> {
        fen::parse(self.rules(), self.generator(), text)
    }

    /// The FEN of a position, with six fields; the en passant square only
    /// where a legal move takes en passant.
    #[must_use]
    pub fn fen(&self, position: &Position) -> String {
        fen::text(self.rules(), self.generator(), position)
    }

    /// The name of a square, such as `e4`.
    #[must_use]
    pub fn square_name(&self, square: u8) -> String {
        fen::square_name(square)
    }

    /// The square of a name.
    #[must_use]
    pub fn square_by_name(&self, name: &str) -> Option<u8> {
        fen::square_by_name(self.rules(), name)
    }

    /// The piece on a square.
    #[must_use]
    pub fn piece_at(&self, position: &Position, square: u8) -> Option<(Colour, Kind)> {
        let board = &position.board;
        let colour = if square >= NO_SQUARE {
            return None;
        } else if board.own.has(square) {
            Colour::White
        } else if board.opponent.has(square) {
            Colour::Black
        } else {
            return None;
        };
        Some((colour, board.kind_at(square)))
    }

    /// All legal moves, each once; none if the game is over.
    #[must_use]
    pub fn legal_moves(&self, position: &Position) -> Vec<Move> {
        let mut steps = Vec::new();
        self.generator().legal(&self.generator().view(position), &mut steps);
        steps
            .iter()
            .map(|step| self.generator().to_move(step, position.turn))
            .collect()
    }

    /// The position after a legal move, its counters updated.
    #[must_use]
    pub fn after(&self, position: &Position, played: &Move) -> Position {
        let generator = self.generator();
        let step = generator.to_step(played, position.turn);
        let next = generator.after(&generator.view(position), &step);
        let turn = position.turn.other();
        Position {
            board: match turn {
                Colour::White => next,
                Colour::Black => generator.turned(&next),
            },
            turn,
            halfmove: if step.is_conversion() {
                0
            } else {
                counted(position.halfmove)
            },
            fullmove: if turn == Colour::White {
                counted(position.fullmove)
            } else {
                position.fullmove
            },
        }
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub fn in_check(&self, position: &Position) -> bool {
        self.generator().in_check(&self.generator().view(position))
    }

    /// How the game ended, if it has: by what is on the board, or because the
    /// side to move cannot.
    #[must_use]
    pub fn ending(&self, position: &Position) -> Option<Ending> {
        self.legal_moves(position)
            .is_empty()
            .then(|| self.generator().blocked(&self.generator().view(position)))
    }

    /// Number of distinct move sequences of `depth` plies.
    #[must_use]
    pub fn perft(&self, position: &Position, depth: u32) -> u64 {
        self.generator()
            .perft(&self.generator().view(position), depth, &mut Vec::new())
    }
}

impl game::Game for Game {
    type Position = Position;
    type Move = Move;
    type FenError = FenError;
    type Rules = Rules;
    type Narrow = Generator;
    type Wide = Generator;

    fn of_family(&self) -> OfFamily<'_> {
        OfFamily::Chess(self)
    }

    fn rule_file(&self) -> &RuleFile {
        self.rule_file()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint()
    }

    fn engine(&self) -> &Engine<Generator, Generator> {
        &self.engine
    }

    fn only_mates_win(&self) -> bool {
        let rules = self.rules();
        let stalemate_wins = match rules.stalemate {
            Stalemate::Draw => false,
            Stalemate::Loses | Stalemate::Wins | Stalemate::FewerWins => true,
        };
        rules.goal == Goal::Mate && !stalemate_wins && !rules.bare_king
    }

    fn size(&self) -> (u8, u8) {
        (self.rules().files, self.rules().ranks)
    }

    fn square_at(&self, file: u8, rank: u8) -> Option<u8> {
        let (files, ranks) = self.size();
        (file < files && rank < ranks).then_some(rank * 8 + file)
    }

    fn square_name(&self, square: u8) -> String {
        self.square_name(square)
    }

    fn letter_at(&self, position: &Position, square: u8) -> Option<char> {
        let (colour, kind) = self.piece_at(position, square)?;
        let letter = self.rules().letter(kind)?;
        Some(match colour {
            Colour::White => letter.to_ascii_uppercase(),
            Colour::Black => letter,
        })
    }

    fn start(&self) -> Option<Position> {
        self.start()
    }

    fn turn(&self, position: &Position) -> Colour {
        position.turn
    }

    fn clock(&self, position: &Position) -> u32 {
        position.halfmove
    }

    fn parse_fen(&self, text: &str) -> Result<Position, FenError> {
        self.parse_fen(text)
    }

    fn not_in_tables(&self, position: &Position) -> Option<&'static str> {
        (position.board.castling != 0)
            .then_some("castling: tables hold positions without castling rights, expected `-`")
    }

    fn fen(&self, position: &Position) -> String {
        self.fen(position)
    }

    fn legal_moves(&self, position: &Position) -> Vec<Move> {
        self.legal_moves(position)
    }

    fn move_texts(&self, _: &Position, legal: &[Move]) -> Vec<String> {
        legal.iter().map(|played| self.uci(played)).collect()
    }

    fn screen_texts(&self, position: &Position, played: &[Move]) -> Option<Vec<String>> {
        let legal = self.legal_moves(position);
        Some(played.iter().map(|played| self.san(position, played, &legal)).collect())
    }

    fn ends(&self, played: &Move) -> [u8; 2] {
        [played.from, played.to]
    }

    fn captured(&self, played: &Move) -> Vec<u8> {
        played.captured.into_iter().collect()
    }

    fn after(&self, position: &Position, played: &Move) -> Position {
        self.after(position, played)
    }

    fn is_conversion(&self, played: &Move) -> bool {
        played.is_conversion()
    }

    fn perft(&self, position: &Position, depth: u32) -> u64 {
        self.perft(position, depth)
    }

    fn read_games<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Result<PgnGame, PgnError>> {
        self.read_pgn(text)
    }

    fn write_game(&self, game: &PgnGame) -> String {
        self.write_pgn(game)
    }
}

/// A counter of a FEN after one more. It stays at the largest that a FEN can
/// have, so that what is written can be read again.
fn counted(counter: u32) -> u32 {
    counter.saturating_add(1).min(fen::LARGEST_COUNTER)
}
