//! The draughts family as the index, the solver and the prober see it.

use super::game::{Engine, Game};
use super::generate::{Generator, Pieces};
use super::notation::FenError;
use super::parse::RuleFile;
use super::pdn::{PdnError, PdnGame};
use super::position::{Colour, Move, Position};
use super::rules::{Goal, Rules, SquareKind};
use crate::bits::Bits;
use crate::fingerprint::Fingerprint;
use crate::game::{self, NO_KEY, NoLanes, OfFamily, Placement, Rulebook, key_of};
use crate::material::Army;
use crate::piece::{Ending, Kind, Outcome, Side};

const MAN: u8 = b'M';
const KING: u8 = b'K';

impl<B: Bits> Placement for Pieces<B> {
    type Set = B;

    #[inline(always)]
    fn pieces(&self, side: Side, kind: Kind) -> B {
        match (side, kind) {
            (Side::Own, Kind::STANDING) => self.own_men,
            (Side::Own, _) => self.own_kings,
            (Side::Opponent, Kind::STANDING) => self.opp_men,
            (Side::Opponent, _) => self.opp_kings,
        }
    }

    #[inline(always)]
    fn add(&mut self, side: Side, kind: Kind, squares: B) {
        let set = match (side, kind) {
            (Side::Own, Kind::STANDING) => &mut self.own_men,
            (Side::Own, _) => &mut self.own_kings,
            (Side::Opponent, Kind::STANDING) => &mut self.opp_men,
            (Side::Opponent, _) => &mut self.opp_kings,
        };
        *set |= squares;
    }

    fn take(&mut self, square: u8) {
        let rest = !B::bit(square);
        self.own_men &= rest;
        self.own_kings &= rest;
        self.opp_men &= rest;
        self.opp_kings &= rest;
    }

    fn kind_at(&self, square: u8) -> Kind {
        if (self.own_men | self.opp_men).has(square) {
            Kind::STANDING
        } else {
            Kind::KING
        }
    }

    #[inline(always)]
    fn side(&self, side: Side) -> B {
        match side {
            Side::Own => self.own(),
            Side::Opponent => self.opp(),
        }
    }

    #[inline(always)]
    fn key(&self) -> u128 {
        let counts = [self.own_men, self.own_kings, self.opp_men, self.opp_kings].map(|set| set.count() as u8);
        if counts.iter().any(|count| *count > 15) {
            return NO_KEY;
        }
        let [own_men, own_kings, opp_men, opp_kings] = counts;
        key_of(Side::Own, Kind::STANDING, own_men)
            | key_of(Side::Own, Kind::KING, own_kings)
            | key_of(Side::Opponent, Kind::STANDING, opp_men)
            | key_of(Side::Opponent, Kind::KING, opp_kings)
    }
}

fn outcome(won: bool) -> Outcome {
    if won { Outcome::Win } else { Outcome::Loss }
}

impl<B: Bits> Rulebook for Generator<B> {
    type Set = B;
    type Placement = Pieces<B>;
    type Position = Position;
    type Lanes = NoLanes;

    #[inline(always)]
    fn squares(&self) -> B {
        self.playable()
    }

    fn standing_squares(&self, side: Side) -> B {
        match side {
            Side::Own => self.playable() & !self.top(),
            Side::Opponent => self.playable() & !Generator::turned_set(self, self.top()),
        }
    }

    fn rank(&self, square: u8) -> u8 {
        self.rank_of(square)
    }

    fn ranks(&self) -> u8 {
        self.ranks
    }

    fn kinds(&self) -> &[(Kind, u8)] {
        &[(Kind::KING, KING), (Kind::STANDING, MAN)]
    }

    fn symmetries(&self, own: &Army, opponent: &Army) -> Vec<Vec<u8>> {
        let men = own.count(MAN) > 0 || opponent.count(MAN) > 0;
        self.symmetries[usize::from(men)].clone()
    }

    #[inline(always)]
    fn turned_set(&self, set: B) -> B {
        Generator::turned_set(self, set)
    }

    #[inline(always)]
    fn turned(&self, pieces: &Pieces<B>) -> Pieces<B> {
        Generator::turned(self, pieces)
    }

    fn view(&self, position: &Position) -> Pieces<B> {
        Generator::view(self, position)
    }

    fn position(&self, pieces: &Pieces<B>, turn: Colour) -> Position {
        Generator::position(self, pieces, turn)
    }

    fn is_placement(&self, pieces: &Pieces<B>) -> bool {
        Generator::is_placement(self, pieces)
    }

    fn has_gaps(&self) -> bool {
        false
    }

    #[inline(always)]
    fn finished(&self, pieces: &Pieces<B>) -> Option<Outcome> {
        Generator::finished(self, pieces).map(outcome)
    }

    fn blocked(&self, pieces: &Pieces<B>) -> Ending {
        let outcome = Rulebook::finished(self, pieces).unwrap_or(outcome(self.stuck_wins()));
        Ending { outcome, mated: false }
    }

    fn has_mate(&self) -> bool {
        false
    }

    fn fifty_moves(&self) -> bool {
        false
    }

    #[inline(always)]
    fn forced(&self) -> bool {
        Generator::forced(self)
    }

    #[inline(always)]
    fn has_capture(&self, pieces: &Pieces<B>) -> bool {
        Generator::has_capture(self, pieces)
    }

    #[inline(always)]
    fn captures(&self, pieces: &Pieces<B>, mut visit: impl FnMut(&Pieces<B>) -> bool) -> bool {
        let mut all = true;
        Generator::captures(self, pieces, |step| {
            all = visit(&Generator::turned(self, &self.after(pieces, step)));
            all
        });
        all
    }

    #[inline(always)]
    fn standing_moves(&self, pieces: &Pieces<B>, mut visit: impl FnMut(&Pieces<B>) -> bool) -> bool {
        if pieces.own_men.is_empty() {
            return true;
        }
        self.man_quiets(pieces, |step| {
            // Steps along the rank can be taken back.
            self.men_go_sideways() && self.same_rank(step) || visit(&Generator::turned(self, &self.after(pieces, step)))
        })
    }

    #[inline(always)]
    fn has_quiet(&self, pieces: &Pieces<B>) -> bool {
        let empty = self.playable() & !pieces.occupied();
        !self.king_spread(pieces.own_kings, empty).is_empty() || self.men_go_sideways() && self.has_side_step(pieces)
    }

    #[inline(always)]
    fn without_right(&self, _: &Pieces<B>) -> Option<Pieces<B>> {
        None
    }

    fn right_moves(&self, _: &Pieces<B>, _: impl FnMut(&Pieces<B>)) {}

    fn moves_instead(&self, _: &Pieces<B>, _: impl FnMut(&Pieces<B>, bool)) -> bool {
        false
    }

    fn has_move(&self, pieces: &Pieces<B>) -> bool {
        Generator::has_capture(self, pieces) || Generator::has_quiet(self, pieces)
    }

    #[inline(always)]
    fn spread(&self, _: Kind, targets: B, empty: B, _: impl Fn() -> Pieces<B>) -> B {
        // Kings move alike in both directions.
        self.king_spread(targets, empty)
    }

    fn sideways(&self) -> bool {
        self.men_go_sideways()
    }

    fn side_steps(&self, men: B, visit: impl FnMut(u8, u8, Option<u8>)) {
        Generator::side_steps(self, men, visit);
    }

    fn lanes(&self) -> Option<&NoLanes> {
        None
    }

    fn no_table(&self, own: &Army, opponent: &Army) -> Option<&'static str> {
        let known = |army: &Army| army.count(MAN) + army.count(KING) == army.pieces();
        if !known(own) || !known(opponent) {
            return Some("draughts have kings K and men M");
        }
        match self.goal {
            Goal::Breakthrough if own.count(KING) + opponent.count(KING) > 0 => {
                Some("a side with a king has won already")
            }
            Goal::Ghana if own.pieces() < 2 || opponent.pieces() < 2 => {
                Some("a side with a single piece has lost already")
            }
            _ => None,
        }
    }

    fn armies(&self, pieces: u8) -> Vec<Army> {
        (0..=pieces)
            .map(|men| Army::EMPTY.with(KING, pieces - men).with(MAN, men))
            .collect()
    }

    fn next_armies(&self, own: &Army, opponent: &Army) -> Vec<(Army, Army)> {
        let mut next = Vec::new();
        for promoted in 0..=own.count(MAN).min(1) {
            let after = own.without(MAN, promoted).with(KING, promoted);
            for men in 0..=opponent.count(MAN) {
                for kings in 0..=opponent.count(KING) {
                    let left = Army::EMPTY.with(KING, kings).with(MAN, men);
                    if left.pieces() > 0 && (promoted > 0 || left != *opponent) {
                        next.push((after, left));
                    }
                }
            }
        }
        next
    }
}

impl game::Game for Game {
    type Position = Position;
    type Move = Move;
    type FenError = FenError;
    type Rules = Rules;
    type Narrow = Generator<u64>;
    type Wide = Generator<u128>;

    fn of_family(&self) -> OfFamily<'_> {
        OfFamily::Draughts(self)
    }

    fn rule_file(&self) -> &RuleFile {
        self.rule_file()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint()
    }

    fn engine(&self) -> &Engine {
        self.engine()
    }

    fn only_mates_win(&self) -> bool {
        false
    }

    fn size(&self) -> (u8, u8) {
        (self.board().files(), self.board().ranks())
    }

    fn square_at(&self, file: u8, rank: u8) -> Option<u8> {
        // Mirrored boards are kept as their reflection, so what players see
        // has to be reflected back.
        match self.rules().squares {
            SquareKind::Mirror => self.board().square_at(self.board().files() - 1 - file, rank),
            SquareKind::Dark | SquareKind::All => self.board().square_at(file, rank),
        }
    }

    fn square_name(&self, square: u8) -> String {
        self.square_name(square)
    }

    fn letter_at(&self, position: &Position, square: u8) -> Option<char> {
        [
            (position.men[Colour::White as usize], 'w'),
            (position.kings[Colour::White as usize], 'W'),
            (position.men[Colour::Black as usize], 'b'),
            (position.kings[Colour::Black as usize], 'B'),
        ]
        .into_iter()
        .find(|(set, _)| set >> square & 1 == 1)
        .map(|(_, letter)| letter)
    }

    fn start(&self) -> Option<Position> {
        Some(self.start())
    }

    fn turn(&self, position: &Position) -> Colour {
        position.turn
    }

    fn clock(&self, _: &Position) -> u32 {
        0
    }

    fn parse_fen(&self, text: &str) -> Result<Position, FenError> {
        self.parse_fen(text)
    }

    fn not_in_tables(&self, _: &Position) -> Option<&'static str> {
        None
    }

    fn fen(&self, position: &Position) -> String {
        self.format_fen(position)
    }

    fn legal_moves(&self, position: &Position) -> Vec<Move> {
        self.legal_moves(position)
    }

    fn move_texts(&self, position: &Position, legal: &[Move]) -> Vec<String> {
        self.move_texts(position, legal)
    }

    fn screen_texts(&self, _: &Position, _: &[Move]) -> Option<Vec<String>> {
        None
    }

    fn ends(&self, played: &Move) -> [u8; 2] {
        [played.from, played.to]
    }

    fn captured(&self, played: &Move) -> Vec<u8> {
        let squares = self.squares_in_order().iter();
        squares
            .filter(|&&square| played.captured >> square & 1 == 1)
            .copied()
            .collect()
    }

    fn after(&self, position: &Position, played: &Move) -> Position {
        self.after(position, played)
    }

    fn is_conversion(&self, played: &Move) -> bool {
        self.is_conversion(played)
    }

    fn perft(&self, position: &Position, depth: u32) -> u64 {
        self.perft(position, depth)
    }

    fn read_games<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Result<PdnGame, PdnError>> {
        self.read_pdn(text)
    }

    fn write_game(&self, game: &PdnGame) -> String {
        self.write_pdn(game)
    }
}
