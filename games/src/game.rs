//! What a family of games provides, so that its endings can be solved, stored
//! and looked up.
//!
//! A [`Game`] knows positions, moves and their texts. Its [`Rulebook`] knows
//! [`Placement`]s: pieces as the side to move sees them, in machine words. The
//! index, the solver and the prober work on these alone and do not know which
//! family they serve. [`LaneRules`] are optional and make solving quick.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::sync::Arc;

use crate::bits::Bits;
use crate::fingerprint::Fingerprint;
use crate::game_text::{GameRecord, GameTextError};
use crate::material::Army;
use crate::piece::{Colour, Ending, Kind, Outcome, Side};
use crate::rule_file::{Axes, RuleFile};
use crate::{chess, draughts};

/// Pieces of both sides as the side to move sees them: its men or pawns go
/// towards higher ranks. The default has no piece.
pub trait Placement: Copy + Default + Eq + Debug + Send + Sync + 'static {
    /// A set of squares.
    type Set: Bits;

    /// The squares of one kind of one side.
    fn pieces(&self, side: Side, kind: Kind) -> Self::Set;

    /// Puts pieces on empty squares.
    fn add(&mut self, side: Side, kind: Kind, squares: Self::Set);

    /// Takes the piece on a square off.
    fn take(&mut self, square: u8);

    /// The kind of the piece on an occupied square.
    fn kind_at(&self, square: u8) -> Kind;

    /// All squares of one side.
    fn side(&self, side: Side) -> Self::Set;

    /// All squares with a piece.
    #[inline(always)]
    fn occupied(&self) -> Self::Set {
        self.side(Side::Own) | self.side(Side::Opponent)
    }

    /// How many pieces of which kinds the sides have, in one number; see
    /// [`key_of`]. [`NO_KEY`] if there are more than 15 of a kind.
    fn key(&self) -> u128;
}

/// The key of placements with more than 15 like pieces of a side.
pub const NO_KEY: u128 = u128::MAX;

/// The number that tells how many pieces of a kind the sides have: four bits
/// for each kind, the opponent's above the mover's.
#[must_use]
#[inline(always)]
pub const fn key_of(side: Side, kind: Kind, count: u8) -> u128 {
    (count as u128) << (4 * kind.index() + 64 * side as usize)
}

/// The rules of one game on placements, all in the view of the side to move.
///
/// A *conversion* is a move that cannot be taken back: a capture or a move of
/// a piece of the standing kind (unless it keeps its rank, see
/// [`Rulebook::side_steps`]). All other moves are *quiet*.
pub trait Rulebook: Debug + Send + Sync + Sized + 'static {
    /// A set of squares.
    type Set: Bits;
    /// Pieces as the side to move sees them.
    type Placement: Placement<Set = Self::Set>;
    /// A position of the game.
    type Position: Copy;
    /// What makes solving quick, if there is such a thing.
    type Lanes: LaneRules<Self>;

    /// The playable squares. Neither side sees other ones.
    fn squares(&self) -> Self::Set;
    /// Squares on which pieces of the standing kind may stand.
    fn standing_squares(&self, side: Side) -> Self::Set;
    /// The rank of a square, from 0.
    fn rank(&self, square: u8) -> u8;
    /// Number of ranks.
    fn ranks(&self) -> u8;
    /// All kinds with their capital letters, in the order in which a material
    /// lists them.
    fn kinds(&self) -> &[(Kind, u8)];
    /// Maps of the squares that keep the rules for these armies, the identity
    /// first; at most eight.
    fn symmetries(&self, own: &Army, opponent: &Army) -> Vec<Vec<u8>>;

    /// A set as the other side sees it.
    fn turned_set(&self, set: Self::Set) -> Self::Set;
    /// The same pieces with the other side to move, as it sees them.
    fn turned(&self, placement: &Self::Placement) -> Self::Placement;
    /// The pieces of a position.
    fn view(&self, position: &Self::Position) -> Self::Placement;
    /// The position in which `turn` is to move and sees these pieces.
    fn position(&self, placement: &Self::Placement, turn: Colour) -> Self::Position;

    /// Whether this is a placement that counts: pieces on squares where they
    /// can stand, and the side not to move not in check.
    fn is_placement(&self, placement: &Self::Placement) -> bool;
    /// Whether some placements on distinct squares do not count. If not,
    /// nobody has to ask for each.
    fn has_gaps(&self) -> bool;
    /// The result, if the pieces alone decide the game whoever is to move.
    fn finished(&self, placement: &Self::Placement) -> Option<Outcome>;
    /// The result if the side to move cannot move.
    fn blocked(&self, placement: &Self::Placement) -> Ending;
    /// Whether a side can be mated, so that mates are counted.
    fn has_mate(&self) -> bool;
    /// Whether a win does not count that takes more than 100 plies without a
    /// conversion.
    fn fifty_moves(&self) -> bool;

    /// Whether captures, where there are any, are the only legal moves.
    fn forced(&self) -> bool;
    /// Whether the side to move has a capture.
    fn has_capture(&self, placement: &Self::Placement) -> bool;
    /// Visits what captures lead to, as the other side sees it, until `visit`
    /// returns false; gives whether it never did.
    fn captures(&self, placement: &Self::Placement, visit: impl FnMut(&Self::Placement) -> bool) -> bool;
    /// Visits what conversions that take nothing lead to, as the other side
    /// sees it, until `visit` returns false. Not called where a capture is
    /// forced.
    fn standing_moves(&self, placement: &Self::Placement, visit: impl FnMut(&Self::Placement) -> bool) -> bool;
    /// Whether there is a quiet move; captures and conversions do not count.
    fn has_quiet(&self, placement: &Self::Placement) -> bool;

    /// A right that tables do not hold, such as that to take en passant,
    /// and the placement without it.
    fn without_right(&self, placement: &Self::Placement) -> Option<Self::Placement>;
    /// Visits what the moves lead to that only the right allows.
    fn right_moves(&self, placement: &Self::Placement, visit: impl FnMut(&Self::Placement));
    /// Whether the right also takes moves away, so that the placement without
    /// it may be worth too much. Then visits what all legal moves lead to,
    /// with whether they are conversions.
    fn moves_instead(&self, placement: &Self::Placement, visit: impl FnMut(&Self::Placement, bool)) -> bool;
    /// Whether there is any legal move.
    fn has_move(&self, placement: &Self::Placement) -> bool;

    /// Squares among `empty` from which a piece of a kind other than the
    /// standing one can go to one of `targets` by a quiet move, if nothing
    /// but `others` is on the board besides.
    fn spread(
        &self,
        kind: Kind,
        targets: Self::Set,
        empty: Self::Set,
        others: impl Fn() -> Self::Placement,
    ) -> Self::Set;
    /// Whether pieces of the standing kind can also move along their rank by
    /// moves that can be taken back.
    fn sideways(&self) -> bool;
    /// Visits such moves of a set of pieces: start, target, and the square of
    /// an own piece that is leapt over.
    fn side_steps(&self, standing: Self::Set, visit: impl FnMut(u8, u8, Option<u8>));
    /// What makes solving quick; `None` where every placement is looked at
    /// by itself.
    fn lanes(&self) -> Option<&Self::Lanes>;

    /// Why there is no table of a material although there is room for its
    /// pieces: it is finished, or no material of this game.
    fn no_table(&self, own: &Army, opponent: &Army) -> Option<&'static str>;
    /// All armies of so many pieces that a side can have.
    fn armies(&self, pieces: u8) -> Vec<Army>;
    /// Armies to which a conversion of the first side can lead, for both
    /// sides in the same order; finished ones may be among them.
    fn next_armies(&self, own: &Army, opponent: &Army) -> Vec<(Army, Army)>;

    /// The letter of the standing kind.
    fn standing_letter(&self) -> u8 {
        let kinds = self.kinds();
        kinds
            .iter()
            .find(|(kind, _)| *kind == Kind::STANDING)
            .map_or(0, |(_, letter)| *letter)
    }

    /// Pieces of the standing kind of an army.
    fn standing(&self, army: &Army) -> u8 {
        army.count(self.standing_letter())
    }

    /// The kinds of an army other than the standing one, with their counts.
    fn moving(&self, army: &Army) -> Vec<(Kind, u8)> {
        let kinds = self.kinds().iter().filter(|(kind, _)| *kind != Kind::STANDING);
        kinds
            .map(|(kind, letter)| (*kind, army.count(*letter)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// The key of the placements of two armies. `None` if there are more than
    /// 15 of a kind or letters that the game does not have.
    fn key(&self, own: &Army, opponent: &Army) -> Option<u128> {
        let mut key = 0;
        for (side, army) in [(Side::Own, own), (Side::Opponent, opponent)] {
            let mut left = army.pieces();
            for (kind, letter) in self.kinds() {
                let count = army.count(*letter);
                if count > 15 {
                    return None;
                }
                key |= key_of(side, *kind, count);
                left -= count;
            }
            if left > 0 {
                return None;
            }
        }
        Some(key)
    }

    /// The armies of a placement: the mover's, and the opponent's.
    fn armies_of(&self, placement: &Self::Placement) -> (Army, Army) {
        let army = |side| {
            self.kinds().iter().fold(Army::EMPTY, |army, (kind, letter)| {
                army.with(*letter, placement.pieces(side, *kind).count() as u8)
            })
        };
        (army(Side::Own), army(Side::Opponent))
    }

    /// The result of any position: of the pieces alone, or because there is
    /// no move. `None` if the game goes on.
    fn ending(&self, placement: &Self::Placement) -> Option<Ending> {
        if let Some(outcome) = self.finished(placement) {
            return Some(Ending { outcome, mated: false });
        }
        (!self.has_move(placement)).then(|| self.blocked(placement))
    }
}

/// Rules in which a capture by a piece of a moving kind depends on where it
/// lands, not on where it comes from. Then all squares from which a piece
/// could come are worked off at once: see the solver.
pub trait LaneRules<R: Rulebook>: Sync {
    /// The kind that must not be left attacked; each side has one such piece.
    fn royal(&self) -> Option<Kind>;
    /// Squares among `empty` on which the own royal piece would be attacked.
    /// `others` are all pieces but this one.
    fn exposed(&self, others: &R::Placement, empty: R::Set) -> R::Set;
    /// Squares among `empty` on which the own royal piece must not stand while
    /// its side is to move, because the other's royal piece is attacked.
    fn unplaced(&self, others: &R::Placement, empty: R::Set) -> R::Set;
    /// Whether the mover's royal piece is attacked.
    fn is_exposed(&self, placement: &R::Placement) -> bool;
    /// Squares among `empty` from which a piece of a moving kind takes the
    /// opponent's on `target`. `others` are all pieces but this one.
    fn takes_from(&self, kind: Kind, others: &R::Placement, target: u8, empty: R::Set) -> R::Set;
    /// Visits the *simple* steps of standing pieces on a board without the
    /// mover's moving pieces: start, end, and the squares that these must leave
    /// empty. A simple step takes nothing, keeps the kind, gives no right, and
    /// depends on the moving pieces by nothing else. Gives whether there can be
    /// other moves of standing pieces.
    fn simple_steps(&self, board: &R::Placement, visit: impl FnMut(u8, u8, R::Set)) -> bool;
    /// Whether a step of a standing piece can open or close a line on which
    /// the mover's royal piece is attacked. If not, simple steps are legal where
    /// it is not attacked.
    fn has_lines(&self, board: &R::Placement) -> bool;
    /// Visits what legal moves of standing pieces other than simple steps lead
    /// to, as the other side sees it, with whether they capture; where captures
    /// are forced, quiet ones are visited, too.
    fn standing_tries(&self, placement: &R::Placement, visit: impl FnMut(&R::Placement, bool));
}

/// The lane rules of games that have none.
#[derive(Clone, Copy, Debug)]
pub enum NoLanes {}

impl<R: Rulebook> LaneRules<R> for NoLanes {
    fn royal(&self) -> Option<Kind> {
        match *self {}
    }
    fn exposed(&self, _: &R::Placement, _: R::Set) -> R::Set {
        match *self {}
    }
    fn unplaced(&self, _: &R::Placement, _: R::Set) -> R::Set {
        match *self {}
    }
    fn is_exposed(&self, _: &R::Placement) -> bool {
        match *self {}
    }
    fn takes_from(&self, _: Kind, _: &R::Placement, _: u8, _: R::Set) -> R::Set {
        match *self {}
    }
    fn simple_steps(&self, _: &R::Placement, _: impl FnMut(u8, u8, R::Set)) -> bool {
        match *self {}
    }
    fn has_lines(&self, _: &R::Placement) -> bool {
        match *self {}
    }
    fn standing_tries(&self, _: &R::Placement, _: impl FnMut(&R::Placement, bool)) {
        match *self {}
    }
}

/// The rulebook of a game, compiled for words that hold its board.
#[derive(Debug)]
pub enum Engine<N, W> {
    /// Boards of up to 64 bits.
    Narrow(Arc<N>),
    /// Larger boards.
    Wide(Arc<W>),
}

impl<N, W> Clone for Engine<N, W> {
    fn clone(&self) -> Self {
        match self {
            Self::Narrow(rulebook) => Self::Narrow(rulebook.clone()),
            Self::Wide(rulebook) => Self::Wide(rulebook.clone()),
        }
    }
}

/// Runs the same code with the rulebook of either width:
/// `with_rulebook!(game, rulebook => ...)`, where `rulebook` is an
/// `&Arc<impl Rulebook>`.
#[macro_export]
macro_rules! with_rulebook {
    ($game:expr, $rulebook:ident => $body:expr) => {
        match $crate::Game::engine($game) {
            $crate::Engine::Narrow($rulebook) => $body,
            $crate::Engine::Wide($rulebook) => $body,
        }
    };
}

/// One game of a family: its rules with everything derived from them.
pub trait Game: Clone + Debug + Send + Sync {
    /// Pieces, the side to move, and what else the rules ask for.
    type Position: Copy + Eq + Hash + Debug + Send + Sync;
    /// A legal move.
    type Move: Copy + Eq + Hash + Debug + Send + Sync;
    /// Why a text is no position.
    type FenError: Display + Debug + PartialEq;
    /// The rules as values of the family's axes.
    type Rules: Axes;
    /// The rulebook on boards of up to 64 bits.
    type Narrow: Rulebook<Position = Self::Position>;
    /// The rulebook on larger boards.
    type Wide: Rulebook<Position = Self::Position>;

    /// The name of the family, as in rule files.
    const FAMILY: &'static str = Self::Rules::FAMILY;

    /// The game by its family. What is generic and large can be compiled once
    /// for each, in one place, instead of wherever it is called.
    fn of_family(&self) -> OfFamily<'_>;

    /// The rule file.
    fn rule_file(&self) -> &RuleFile<Self::Rules>;
    /// The name by which it is asked for.
    fn name(&self) -> &str {
        &self.rule_file().name
    }
    /// The fingerprint of the rules.
    fn fingerprint(&self) -> Fingerprint;
    /// The rulebook.
    fn engine(&self) -> &Engine<Self::Narrow, Self::Wide>;

    /// Whether only mates win, so that a distance to a win is one to mate.
    fn only_mates_win(&self) -> bool;

    /// Files and ranks of the board.
    fn size(&self) -> (u8, u8);
    /// The square of a file and a rank as players see the board, White at the
    /// bottom; both count from 0.
    fn square_at(&self, file: u8, rank: u8) -> Option<u8>;
    /// The name of a square.
    fn square_name(&self, square: u8) -> String;
    /// The letter that stands for the piece on a square in a drawing.
    fn letter_at(&self, position: &Self::Position, square: u8) -> Option<char>;

    /// The position in which the game starts, if the rules have one.
    fn start(&self) -> Option<Self::Position>;
    /// The side to move.
    fn turn(&self, position: &Self::Position) -> Colour;
    /// Plies without a conversion that a position tells of.
    fn clock(&self, position: &Self::Position) -> u32;
    /// Reads a FEN.
    ///
    /// # Errors
    /// If the text is no position of this game.
    fn parse_fen(&self, text: &str) -> Result<Self::Position, Self::FenError>;
    /// Why a legal position is none that tables are made for, if it is so.
    fn not_in_tables(&self, position: &Self::Position) -> Option<&'static str>;
    /// The FEN of a position.
    fn fen(&self, position: &Self::Position) -> String;
    /// All legal moves, each once; none if the game is over.
    fn legal_moves(&self, position: &Self::Position) -> Vec<Self::Move>;
    /// The texts of all legal moves, as programs read them.
    fn move_texts(&self, position: &Self::Position, legal: &[Self::Move]) -> Vec<String>;
    /// The texts of some of the legal moves, as people read them, where these
    /// are others than [`move_texts`](Self::move_texts) has.
    fn screen_texts(&self, position: &Self::Position, played: &[Self::Move]) -> Option<Vec<String>>;
    /// The squares where a move starts and ends.
    fn ends(&self, played: &Self::Move) -> [u8; 2];
    /// Squares of the pieces that a move takes, in the order of their names.
    fn captured(&self, played: &Self::Move) -> Vec<u8>;
    /// The position after a legal move.
    fn after(&self, position: &Self::Position, played: &Self::Move) -> Self::Position;
    /// Whether a move cannot be taken back; see [`Rulebook`].
    fn is_conversion(&self, played: &Self::Move) -> bool;
    /// Number of distinct move sequences of `depth` plies.
    fn perft(&self, position: &Self::Position, depth: u32) -> u64;

    /// Reads the games of a text (PDN or PGN) one after the other; after an
    /// error there are no more.
    fn read_games<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = Result<RecordOf<Self>, GameTextError<Self::FenError>>>;
    /// Writes a game as [`read_games`](Self::read_games) reads it. Every move
    /// must be legal.
    fn write_game(&self, game: &RecordOf<Self>) -> String;
}

/// A game by its family.
#[derive(Clone, Copy, Debug)]
pub enum OfFamily<'a> {
    /// A draughts game.
    Draughts(&'a draughts::Game),
    /// A chess game.
    Chess(&'a chess::Game),
}

/// A game played from its start to its end.
pub type RecordOf<G> = GameRecord<<G as Game>::Position, <G as Game>::Move>;
