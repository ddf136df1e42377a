//! Move generation.
//!
//! Everything here is seen by the side to move: its men go up the board, so
//! one generator serves both colours ([`Pieces::turned`] changes the view).

use smallvec::SmallVec;

use super::board::{Board, SquareSet, direction};
use super::position::{Colour, Move, Position};
use super::rules::{Goal, KingDirections, KingLand, ManCapture, ManMove, Priority, PromoCapture, Removal, Rules};
use crate::bits::Bits;

/// The pieces of a position as the side to move sees them: its own men move
/// towards higher ranks. For Black the board is turned by half a turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pieces<B> {
    /// Men of the side to move.
    pub own_men: B,
    /// Kings of the side to move.
    pub own_kings: B,
    /// Men of the other side.
    pub opp_men: B,
    /// Kings of the other side.
    pub opp_kings: B,
}

impl<B: Bits> Pieces<B> {
    /// All pieces of the side to move.
    #[inline(always)]
    pub fn own(&self) -> B {
        self.own_men | self.own_kings
    }

    /// All pieces of the other side.
    #[inline(always)]
    pub fn opp(&self) -> B {
        self.opp_men | self.opp_kings
    }

    /// All pieces.
    #[inline(always)]
    pub fn occupied(&self) -> B {
        self.own() | self.opp()
    }
}

/// A move as the generator sees it, with squares in the mover's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<B> {
    /// Start square.
    pub from: u8,
    /// End square.
    pub to: u8,
    /// Pieces taken.
    pub captured: B,
    /// A man moved.
    pub by_man: bool,
    /// The piece is a king after the move.
    pub to_king: bool,
}

/// A short list of directions.
#[derive(Clone, Copy, Debug)]
struct Directions {
    list: [u8; 8],
    len: usize,
}

impl Directions {
    fn new(directions: &[u8]) -> Self {
        let mut list = [0; 8];
        list[..directions.len()].copy_from_slice(directions);
        Self {
            list,
            len: directions.len(),
        }
    }

    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        self.list[..self.len].iter().copied()
    }
}

fn king_directions(axis: KingDirections) -> Directions {
    use direction::{EAST, NORTH, NORTH_EAST, NORTH_WEST, SOUTH, SOUTH_EAST, SOUTH_WEST, WEST};
    match axis {
        KingDirections::Diagonal => Directions::new(&[NORTH_EAST, SOUTH_WEST, NORTH_WEST, SOUTH_EAST]),
        KingDirections::Straight => Directions::new(&[NORTH, SOUTH, EAST, WEST]),
        KingDirections::AllEight => Directions::new(&[0, 1, 2, 3, 4, 5, 6, 7]),
    }
}

fn man_move_directions(axis: ManMove) -> Directions {
    use direction::{EAST, NORTH, NORTH_EAST, NORTH_WEST, WEST};
    match axis {
        ManMove::DiagonalForward => Directions::new(&[NORTH_EAST, NORTH_WEST]),
        ManMove::StraightForwardSide => Directions::new(&[NORTH, EAST, WEST]),
        ManMove::StraightForwardSideDiagonalForward => Directions::new(&[NORTH, EAST, WEST, NORTH_EAST, NORTH_WEST]),
    }
}

fn man_capture_directions(axis: ManCapture) -> Directions {
    use direction::{EAST, NORTH, NORTH_EAST, NORTH_WEST, SOUTH, SOUTH_EAST, SOUTH_WEST, WEST};
    match axis {
        ManCapture::DiagonalForward => Directions::new(&[NORTH_EAST, NORTH_WEST]),
        ManCapture::DiagonalAll => Directions::new(&[NORTH_EAST, SOUTH_WEST, NORTH_WEST, SOUTH_EAST]),
        ManCapture::AllEight => Directions::new(&[0, 1, 2, 3, 4, 5, 6, 7]),
        ManCapture::StraightForwardSide => Directions::new(&[NORTH, EAST, WEST]),
        ManCapture::StraightAll => Directions::new(&[NORTH, SOUTH, EAST, WEST]),
    }
}

/// No direction yet: the first jump of a chain.
const NO_DIRECTION: u8 = 8;

/// Move generator of one rule set on boards of one word size.
#[derive(Clone, Debug)]
pub struct Generator<B> {
    playable: B,
    bits: u8,
    /// The mover's promotion row.
    top: B,
    shift: [i8; 8],
    inner: [B; 8],
    /// Rank of each square.
    rank: [u8; 128],
    /// Squares from a square to the edge in each direction, without it.
    rays: Box<[[B; 128]; 8]>,
    man_quiet: Directions,
    man_jump: Directions,
    king_quiet: Directions,
    king_jump: Directions,
    flying: bool,
    leap_own: bool,
    man_takes_king: bool,
    land: KingLand,
    must_extend: bool,
    forced: bool,
    priority: Priority,
    at_once: bool,
    no_u_turn: bool,
    promo: PromoCapture,
    pub(super) goal: Goal,
    pub(super) ranks: u8,
    man_sideways: bool,
    /// Without men, and with men.
    pub(super) symmetries: [Vec<Vec<u8>>; 2],
}

/// A list that chains are collected in.
trait Steps<B> {
    fn clear(&mut self);
    fn contains(&self, step: &Step<B>) -> bool;
    fn push(&mut self, step: Step<B>);
}

impl<B: Bits> Steps<B> for Vec<Step<B>> {
    fn clear(&mut self) {
        self.clear();
    }
    fn contains(&self, step: &Step<B>) -> bool {
        self.as_slice().contains(step)
    }
    fn push(&mut self, step: Step<B>) {
        self.push(step);
    }
}

impl<B: Bits> Steps<B> for SmallVec<[Step<B>; 32]> {
    fn clear(&mut self) {
        self.clear();
    }
    fn contains(&self, step: &Step<B>) -> bool {
        self.as_slice().contains(step)
    }
    fn push(&mut self, step: Step<B>) {
        self.push(step);
    }
}

/// A chain under construction, with what `priority` compares.
#[derive(Clone, Copy)]
struct Chain<B> {
    step: Step<B>,
    /// Bit `127 - n` is set if the n-th piece jumped was a king.
    king_order: u128,
}

impl<B: Bits> Generator<B> {
    /// Prepares the tables for a rule set.
    ///
    /// `board` must be the board of `rules` and fit the word.
    #[must_use]
    pub fn new(rules: &Rules, board: &Board) -> Self {
        assert!(u32::from(board.bits()) <= B::WIDTH, "the board needs a wider word");
        let mut rays = Box::new([[B::ZERO; 128]; 8]);
        for d in 0..8u8 {
            for square in 0..board.bits() {
                let mut at = square;
                while let Some(next) = board.neighbour(at, d) {
                    rays[d as usize][square as usize] |= B::bit(next);
                    at = next;
                }
            }
        }
        Self {
            playable: B::narrow(board.playable()),
            bits: board.bits(),
            top: B::narrow(board.rank_set(board.ranks() - 1)),
            shift: std::array::from_fn(|d| board.shift(d as u8)),
            inner: std::array::from_fn(|d| B::narrow(board.inner(d as u8))),
            rank: std::array::from_fn(|square| board.coordinates(square as u8).1),
            rays,
            man_quiet: man_move_directions(rules.man_move),
            man_jump: man_capture_directions(rules.man_capture),
            king_quiet: king_directions(rules.king_move),
            king_jump: king_directions(rules.king_capture),
            flying: rules.king_flying,
            leap_own: rules.man_leap_own,
            man_takes_king: rules.man_takes_king,
            land: rules.king_land,
            must_extend: rules.king_must_extend,
            forced: rules.forced,
            priority: rules.priority,
            at_once: rules.removal == Removal::AtOnce,
            no_u_turn: rules.removal == Removal::AtOnce && !rules.u_turn,
            promo: rules.promo_capture,
            goal: rules.goal,
            ranks: board.ranks(),
            man_sideways: rules.man_move != ManMove::DiagonalForward,
            symmetries: [false, true].map(|men| board.symmetries(rules, men)),
        }
    }

    /// The playable squares.
    #[inline(always)]
    pub fn playable(&self) -> B {
        self.playable
    }

    /// The promotion row of the side to move.
    #[inline(always)]
    pub fn top(&self) -> B {
        self.top
    }

    /// Every square of the set moved one step; those at the edge are lost.
    #[inline(always)]
    fn step(&self, set: B, d: u8) -> B {
        let d = usize::from(d & 7);
        let shift = self.shift[d];
        let set = set & self.inner[d];
        if shift > 0 {
            set << shift as u32
        } else {
            set >> shift.unsigned_abs().into()
        }
    }

    /// First piece of `occupied` seen from a square, if any.
    #[inline(always)]
    fn first_blocker(&self, square: u8, d: u8, occupied: B) -> Option<u8> {
        let seen = self.ray(square, d) & occupied;
        if seen.is_empty() {
            return None;
        }
        // Even directions lead to higher square numbers.
        Some(if d & 1 == 0 { seen.lowest() } else { seen.highest() })
    }

    #[inline(always)]
    fn ray(&self, square: u8, d: u8) -> B {
        self.rays[usize::from(d & 7)][usize::from(square & 127)]
    }

    /// The set turned by half a turn: the other side's view of it.
    #[inline(always)]
    pub fn turned_set(&self, set: B) -> B {
        set.reversed() >> (B::WIDTH - u32::from(self.bits))
    }

    /// The same pieces with the other side to move, in its view.
    #[inline(always)]
    pub fn turned(&self, pieces: &Pieces<B>) -> Pieces<B> {
        Pieces {
            own_men: self.turned_set(pieces.opp_men),
            own_kings: self.turned_set(pieces.opp_kings),
            opp_men: self.turned_set(pieces.own_men),
            opp_kings: self.turned_set(pieces.own_kings),
        }
    }

    /// The pieces of a position in the mover's view.
    #[must_use]
    pub fn view(&self, position: &Position) -> Pieces<B> {
        let (own, opp) = (position.turn as usize, position.turn.other() as usize);
        let turn = |set: SquareSet| {
            let set = B::narrow(set);
            if position.turn == Colour::White {
                set
            } else {
                self.turned_set(set)
            }
        };
        Pieces {
            own_men: turn(position.men[own]),
            own_kings: turn(position.kings[own]),
            opp_men: turn(position.men[opp]),
            opp_kings: turn(position.kings[opp]),
        }
    }

    /// The position in which `turn` is to move and sees these pieces.
    #[must_use]
    pub fn position(&self, pieces: &Pieces<B>, turn: Colour) -> Position {
        let set = |set: B| {
            if turn == Colour::White {
                set.widen()
            } else {
                self.turned_set(set).widen()
            }
        };
        let (mut men, mut kings) = ([0; 2], [0; 2]);
        men[turn as usize] = set(pieces.own_men);
        kings[turn as usize] = set(pieces.own_kings);
        men[turn.other() as usize] = set(pieces.opp_men);
        kings[turn.other() as usize] = set(pieces.opp_kings);
        Position { men, kings, turn }
    }

    /// Whether pieces stand on distinct playable squares and no man on its own
    /// promotion row.
    #[must_use]
    pub fn is_placement(&self, pieces: &Pieces<B>) -> bool {
        let sets = [pieces.own_men, pieces.own_kings, pieces.opp_men, pieces.opp_kings];
        let all = pieces.occupied();
        let bottom = self.turned_set(self.top);
        sets.iter().map(|set| set.count()).sum::<u32>() == all.count()
            && (all & !self.playable).is_empty()
            && (pieces.own_men & self.top).is_empty()
            && (pieces.opp_men & bottom).is_empty()
    }

    /// Whether the game is over by the pieces alone, whoever is to move:
    /// `Some(true)` if the side to move has won.
    #[inline(always)]
    pub fn finished(&self, pieces: &Pieces<B>) -> Option<bool> {
        let (own, opp) = (pieces.own(), pieces.opp());
        let (own_out, opp_out) = match self.goal {
            Goal::Normal => (own.is_empty(), opp.is_empty()),
            Goal::Misere => (opp.is_empty(), own.is_empty()),
            Goal::Breakthrough => (
                own.is_empty() || !pieces.opp_kings.is_empty(),
                opp.is_empty() || !pieces.own_kings.is_empty(),
            ),
            Goal::Ghana => (own.count() <= 1, opp.count() <= 1),
        };
        if own_out || opp_out { Some(!own_out) } else { None }
    }

    /// Whether a side without a legal move has won (misere) rather than lost.
    #[inline(always)]
    pub fn stuck_wins(&self) -> bool {
        self.goal == Goal::Misere
    }

    /// Whether captures, where there are any, are the only legal moves.
    #[inline(always)]
    pub fn forced(&self) -> bool {
        self.forced
    }

    /// Whether the side to move has a capture.
    #[inline(always)]
    pub fn has_capture(&self, pieces: &Pieces<B>) -> bool {
        let occupied = pieces.occupied();
        let empty = self.playable & !occupied;
        let opp = pieces.opp();
        let prey = if self.man_takes_king { opp } else { pieces.opp_men };
        if !pieces.own_men.is_empty() {
            for d in self.man_jump.iter() {
                let met = self.step(pieces.own_men, d) & prey;
                if !(self.step(met, d) & empty).is_empty() {
                    return true;
                }
            }
        }
        if pieces.own_kings.is_empty() {
            return false;
        }
        for d in self.king_jump.iter() {
            if self.flying {
                // Enemies with an empty square behind them, then back along
                // empty squares to a king.
                let mut front = self.step(empty, d ^ 1) & opp;
                while !front.is_empty() {
                    front = self.step(front, d ^ 1);
                    if !(front & pieces.own_kings).is_empty() {
                        return true;
                    }
                    front &= empty;
                }
            } else {
                let met = self.step(pieces.own_kings, d) & opp;
                if !(self.step(met, d) & empty).is_empty() {
                    return true;
                }
            }
        }
        false
    }

    /// The pieces of the side to move that can capture, whatever `priority`
    /// says.
    #[inline(always)]
    fn capturers(&self, pieces: &Pieces<B>) -> B {
        let empty = self.playable & !pieces.occupied();
        let opp = pieces.opp();
        let prey = if self.man_takes_king { opp } else { pieces.opp_men };
        let mut capturers = B::ZERO;
        let before = |prey: B, d: u8| self.step(self.step(empty, d ^ 1) & prey, d ^ 1);
        if !pieces.own_men.is_empty() {
            for d in self.man_jump.iter() {
                capturers |= before(prey, d) & pieces.own_men;
            }
        }
        if !pieces.own_kings.is_empty() {
            for d in self.king_jump.iter() {
                let mut front = before(opp, d);
                capturers |= front & pieces.own_kings;
                while self.flying && !front.is_empty() {
                    front = self.step(front & empty, d ^ 1);
                    capturers |= front & pieces.own_kings;
                }
            }
        }
        capturers
    }

    /// Calls `visit` for each legal capture until it returns false. With
    /// `priority = free` the same move may be seen more than once, by
    /// different routes. Returns whether there is a capture.
    #[inline]
    pub fn captures(&self, pieces: &Pieces<B>, mut visit: impl FnMut(&Step<B>) -> bool) -> bool {
        if self.priority == Priority::Free {
            return self.chains(pieces, |chain| visit(&chain.step));
        }
        // Hardly a position has more best captures; it would cost an
        // allocation, nothing else.
        let mut best = SmallVec::<[Step<B>; 32]>::new();
        let any = self.best_chains(pieces, &mut best);
        for step in &best {
            if !visit(step) {
                break;
            }
        }
        any
    }

    /// Collects the chains that `priority` prefers, each once.
    fn best_chains(&self, pieces: &Pieces<B>, best: &mut impl Steps<B>) -> bool {
        let mut best_rank = 0;
        self.chains(pieces, |chain| {
            let rank = self.rank(pieces, chain);
            if rank > best_rank {
                best.clear();
                best_rank = rank;
            }
            if rank == best_rank && !best.contains(&chain.step) {
                best.push(chain.step);
            }
            true
        })
    }

    /// What `priority` maximises, as one number.
    fn rank(&self, pieces: &Pieces<B>, chain: &Chain<B>) -> u128 {
        let count = u128::from(chain.step.captured.count());
        let kings = u128::from((chain.step.captured & pieces.opp_kings).count());
        let by_king = u128::from(!chain.step.by_man);
        match self.priority {
            Priority::Free => 0,
            Priority::Count => count,
            Priority::CountKings => count << 8 | kings,
            Priority::CountKingsWithKing => count << 9 | kings << 1 | by_king,
            // Which kings are met first matters only between chains that meet
            // equally many; the order then compares like the bits read from
            // the first jump on. Chains have fewer than 100 jumps.
            Priority::Italian => count << 120 | by_king << 119 | kings << 112 | chain.king_order >> 16,
            Priority::Frisian => ((count - kings) * 100 + kings * 199) << 1 | by_king,
            Priority::KingFirst => by_king,
        }
    }

    /// Calls `visit` for each complete chain of every piece.
    fn chains(&self, pieces: &Pieces<B>, mut visit: impl FnMut(&Chain<B>) -> bool) -> bool {
        let mut walk = self.walk(pieces, (), |chain, ()| visit(chain));
        let mut any = false;
        let capturers = self.capturers(pieces);
        for (set, by_man) in [(pieces.own_men, true), (pieces.own_kings, false)] {
            for from in (set & capturers).squares() {
                any |= walk.start(pieces, from, by_man);
                if !walk.going {
                    return true;
                }
            }
        }
        any
    }

    fn walk<T: Trail<B>, V: FnMut(&Chain<B>, &T) -> bool>(
        &self,
        pieces: &Pieces<B>,
        trail: T,
        visit: V,
    ) -> Walk<'_, B, T, V> {
        Walk {
            generator: self,
            prey_of_men: if self.man_takes_king {
                pieces.opp()
            } else {
                pieces.opp_men
            },
            prey: pieces.opp(),
            opp_kings: pieces.opp_kings,
            occupied: B::ZERO,
            from: 0,
            by_man: false,
            going: true,
            trail,
            visit,
        }
    }

    /// Squares a king on `square` reaches by a quiet move.
    #[inline(always)]
    pub fn king_reach(&self, square: u8, occupied: B) -> B {
        let mut reach = B::ZERO;
        for d in self.king_quiet.iter() {
            if self.flying {
                let ray = self.ray(square, d);
                reach |= match self.first_blocker(square, d, occupied) {
                    Some(blocker) => ray & !self.ray(blocker, d) & !B::bit(blocker),
                    None => ray,
                };
            } else {
                reach |= self.step(B::bit(square), d) & !occupied;
            }
        }
        reach
    }

    /// Squares that a king could reach by one quiet move from some square of
    /// `from`, all at once; `empty` are the squares without a piece. Kings
    /// move alike in both directions, so this is also where it can have come
    /// from.
    #[inline(always)]
    pub fn king_spread(&self, from: B, empty: B) -> B {
        let mut reach = B::ZERO;
        for d in self.king_quiet.iter() {
            if self.flying {
                let mut front = self.step(from, d) & empty;
                while !front.is_empty() {
                    reach |= front;
                    front = self.step(front, d) & empty;
                }
            } else {
                reach |= self.step(from, d) & empty;
            }
        }
        reach
    }

    /// Calls `visit` for each quiet move until it returns false; whether they
    /// are legal (no compulsory capture) is the caller's to know.
    #[inline]
    pub fn quiets(&self, pieces: &Pieces<B>, mut visit: impl FnMut(&Step<B>) -> bool) {
        if !self.man_quiets(pieces, &mut visit) {
            return;
        }
        let occupied = pieces.occupied();
        for from in pieces.own_kings.squares() {
            for to in self.king_reach(from, occupied).squares() {
                let step = Step {
                    from,
                    to,
                    captured: B::ZERO,
                    by_man: false,
                    to_king: true,
                };
                if !visit(&step) {
                    return;
                }
            }
        }
    }

    /// Calls `visit` with each position from which a legal quiet move leads to
    /// this one, and that move. `pieces` are in the view of the side that has
    /// just moved, and so are the positions visited, in which it is to move.
    /// The exact inverse of the quiet moves of [`Generator::legal`].
    pub fn quiet_predecessors(&self, pieces: &Pieces<B>, mut visit: impl FnMut(&Pieces<B>, &Step<B>)) {
        let occupied = pieces.occupied();
        let empty = self.playable & !occupied;
        let mut offer = |before: Pieces<B>, step: Step<B>| {
            let legal = self.finished(&before).is_none() && !(self.forced && self.has_capture(&before));
            if legal {
                visit(&before, &step);
            }
        };
        for to in pieces.own_kings.squares() {
            for from in self.king_reach(to, occupied).squares() {
                let mut before = *pieces;
                before.own_kings = before.own_kings & !B::bit(to) | B::bit(from);
                let step = Step {
                    from,
                    to,
                    captured: B::ZERO,
                    by_man: false,
                    to_king: true,
                };
                offer(before, step);
            }
        }
        // A king on the last row may have been a man until this move, and a
        // man anywhere else was one.
        let arrived = pieces.own_men & !self.top | pieces.own_kings & self.top;
        for to in arrived.squares() {
            for d in self.man_quiet.iter() {
                let behind = self.step(B::bit(to), d ^ 1);
                let leapt_from = if self.leap_own && !(behind & pieces.own()).is_empty() {
                    self.step(behind, d ^ 1)
                } else {
                    B::ZERO
                };
                // No man stands on its own promotion row.
                for from in ((behind | leapt_from) & empty & !self.top).squares() {
                    let mut before = *pieces;
                    before.own_men = before.own_men & !B::bit(to) | B::bit(from);
                    before.own_kings &= !B::bit(to);
                    offer(before, self.man_step(from, to));
                }
            }
        }
    }

    /// As [`Generator::quiets`] for men alone; false if `visit` stopped it.
    #[inline]
    pub fn man_quiets(&self, pieces: &Pieces<B>, mut visit: impl FnMut(&Step<B>) -> bool) -> bool {
        let empty = self.playable & !pieces.occupied();
        let own = pieces.own();
        for d in self.man_quiet.iter() {
            let shift = self.shift[d as usize];
            for to in (self.step(pieces.own_men, d) & empty).squares() {
                let step = self.man_step(to.wrapping_add_signed(-shift), to);
                if !visit(&step) {
                    return false;
                }
            }
            if self.leap_own {
                let over = self.step(pieces.own_men, d) & own;
                for to in (self.step(over, d) & empty).squares() {
                    let step = self.man_step(to.wrapping_add_signed(-2 * shift), to);
                    if !visit(&step) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The rank of a square, from 0.
    #[inline(always)]
    pub fn rank_of(&self, square: u8) -> u8 {
        self.rank[usize::from(square & 127)]
    }

    /// Whether men also move along their rank.
    #[inline(always)]
    pub fn men_go_sideways(&self) -> bool {
        self.man_sideways
    }

    /// Whether a step leads along its rank.
    #[inline(always)]
    pub fn same_rank(&self, step: &Step<B>) -> bool {
        self.rank[usize::from(step.from & 127)] == self.rank[usize::from(step.to & 127)]
    }

    /// Whether a man of the side to move has a quiet move along its rank.
    pub fn has_side_step(&self, pieces: &Pieces<B>) -> bool {
        let occupied = pieces.occupied();
        let mut found = false;
        self.side_steps(pieces.own_men, |_, target, over| {
            found |= !occupied.has(target) && over.is_none_or(|square| pieces.own().has(square));
        });
        found
    }

    /// Quiet moves of men along their rank as far as the board and the men
    /// themselves go: calls `visit` with start square, end square (without a
    /// man, perhaps with another piece) and, for a leap, the square of the own
    /// piece that must be there. Each can be taken back by the same kind of
    /// move.
    pub fn side_steps(&self, men: B, mut visit: impl FnMut(u8, u8, Option<u8>)) {
        for d in self
            .man_quiet
            .iter()
            .filter(|d| matches!(*d, direction::EAST | direction::WEST))
        {
            for from in men.squares() {
                let next = self.step(B::bit(from), d);
                if next.is_empty() {
                    continue;
                }
                if (next & men).is_empty() {
                    visit(from, next.lowest(), None);
                }
                let behind = self.step(next, d) & !men;
                if self.leap_own && !behind.is_empty() {
                    visit(from, behind.lowest(), Some(next.lowest()));
                }
            }
        }
    }

    #[inline(always)]
    fn man_step(&self, from: u8, to: u8) -> Step<B> {
        Step {
            from,
            to,
            captured: B::ZERO,
            by_man: true,
            to_king: self.top.has(to),
        }
    }

    /// Whether the side to move has a quiet move.
    #[inline(always)]
    pub fn has_quiet(&self, pieces: &Pieces<B>) -> bool {
        let empty = self.playable & !pieces.occupied();
        self.king_quiet
            .iter()
            .any(|d| !(self.step(pieces.own_kings, d) & empty).is_empty())
            || self.has_man_quiet(pieces)
    }

    /// Whether the side to move has a quiet move of a man.
    #[inline(always)]
    pub fn has_man_quiet(&self, pieces: &Pieces<B>) -> bool {
        let empty = self.playable & !pieces.occupied();
        self.man_quiet.iter().any(|d| {
            let ahead = self.step(pieces.own_men, d);
            let leapt = if self.leap_own {
                self.step(ahead & pieces.own(), d)
            } else {
                B::ZERO
            };
            !((ahead | leapt) & empty).is_empty()
        })
    }

    /// All legal moves, each once, captures before quiet moves. `moves` is
    /// cleared first. A finished position has none.
    pub fn legal(&self, pieces: &Pieces<B>, moves: &mut Vec<Step<B>>) {
        moves.clear();
        if self.finished(pieces).is_some() {
            return;
        }
        let any = self.best_chains(pieces, moves);
        if any && self.forced {
            return;
        }
        self.quiets(pieces, |step| {
            moves.push(*step);
            true
        });
    }

    /// The pieces after a move, still in the view of the side that moved.
    #[inline(always)]
    pub fn after(&self, pieces: &Pieces<B>, step: &Step<B>) -> Pieces<B> {
        let (from, to) = (B::bit(step.from), B::bit(step.to));
        let mut next = *pieces;
        if step.by_man {
            next.own_men &= !from;
        } else {
            next.own_kings &= !from;
        }
        if step.to_king {
            next.own_kings |= to;
        } else {
            next.own_men |= to;
        }
        next.opp_men &= !step.captured;
        next.opp_kings &= !step.captured;
        next
    }

    /// Landing squares of one legal route of a capture, the end square last.
    /// `step` must be a legal capture of `pieces`.
    #[must_use]
    pub fn route(&self, pieces: &Pieces<B>, step: &Step<B>) -> Vec<u8> {
        let mut first = Vec::new();
        self.each_route(pieces, step, |route| {
            first.extend_from_slice(route);
            false
        });
        first
    }

    /// Visits the landing squares of every legal route of a capture, the end
    /// square last, until `visit` returns false. `step` must be a legal
    /// capture of `pieces`.
    pub(crate) fn each_route(&self, pieces: &Pieces<B>, step: &Step<B>, mut visit: impl FnMut(&[u8]) -> bool) {
        // Of several routes of one move only those that meet the kings first
        // may be legal.
        let mut best_order = 0;
        if self.priority == Priority::Italian {
            self.each_chain_of(pieces, step, |order, _| {
                best_order = best_order.max(order);
                true
            });
        }
        self.each_chain_of(pieces, step, |order, route| order < best_order || visit(route));
    }

    /// Visits when kings are met, and the landing squares, of every chain that
    /// makes a move.
    fn each_chain_of(&self, pieces: &Pieces<B>, step: &Step<B>, mut visit: impl FnMut(u128, &[u8]) -> bool) {
        let trail = Landings {
            wanted: step.captured,
            squares: Vec::new(),
        };
        let mut walk = self.walk(pieces, trail, |chain: &Chain<B>, trail: &Landings<B>| {
            chain.step != *step || visit(chain.king_order, &trail.squares)
        });
        walk.start(pieces, step.from, step.by_man);
    }

    /// The move as seen from White's side of the board.
    #[must_use]
    pub fn to_move(&self, step: &Step<B>, turn: Colour) -> Move {
        let square = |square: u8| match turn {
            Colour::White => square,
            Colour::Black => self.bits - 1 - square,
        };
        Move {
            from: square(step.from),
            to: square(step.to),
            captured: match turn {
                Colour::White => step.captured.widen(),
                Colour::Black => self.turned_set(step.captured).widen(),
            },
            by_man: step.by_man,
            to_king: step.to_king,
        }
    }

    /// The inverse of [`Generator::to_move`].
    #[must_use]
    pub fn to_step(&self, mv: &Move, turn: Colour) -> Step<B> {
        let square = |square: u8| match turn {
            Colour::White => square,
            Colour::Black => self.bits - 1 - square,
        };
        let captured = B::narrow(mv.captured);
        Step {
            from: square(mv.from),
            to: square(mv.to),
            captured: match turn {
                Colour::White => captured,
                Colour::Black => self.turned_set(captured),
            },
            by_man: mv.by_man,
            to_king: mv.to_king,
        }
    }

    /// Number of move sequences of `depth` plies; `buffers` holds one list of
    /// moves for each ply and is grown as needed.
    pub fn perft(&self, pieces: &Pieces<B>, depth: u32, buffers: &mut Vec<Vec<Step<B>>>) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut moves = buffers.pop().unwrap_or_default();
        self.legal(pieces, &mut moves);
        let nodes = if depth == 1 {
            moves.len() as u64
        } else {
            moves
                .iter()
                .map(|step| self.perft(&self.turned(&self.after(pieces, step)), depth - 1, buffers))
                .sum()
        };
        buffers.push(moves);
        nodes
    }
}

/// What a walk notes of its way.
trait Trail<B> {
    /// Whether chains that take this piece are looked for.
    fn wants(&self, victim: B) -> bool;
    /// The piece lands on a square.
    fn land(&mut self, square: u8);
    /// The last landing is taken back.
    fn back(&mut self);
}

/// Every chain is looked for and the way does not matter.
impl<B> Trail<B> for () {
    #[inline(always)]
    fn wants(&self, _: B) -> bool {
        true
    }
    #[inline(always)]
    fn land(&mut self, _: u8) {}
    #[inline(always)]
    fn back(&mut self) {}
}

/// The landing squares of chains that take none but the wanted pieces.
struct Landings<B> {
    wanted: B,
    squares: Vec<u8>,
}

impl<B: Bits> Trail<B> for Landings<B> {
    fn wants(&self, victim: B) -> bool {
        !(victim & self.wanted).is_empty()
    }
    fn land(&mut self, square: u8) {
        self.squares.push(square);
    }
    fn back(&mut self) {
        self.squares.pop();
    }
}

/// One piece's capture under way.
struct Walk<'a, B, T, V> {
    generator: &'a Generator<B>,
    prey_of_men: B,
    prey: B,
    opp_kings: B,
    /// All pieces but the one that moves.
    occupied: B,
    from: u8,
    by_man: bool,
    going: bool,
    trail: T,
    visit: V,
}

impl<B: Bits, T: Trail<B>, V: FnMut(&Chain<B>, &T) -> bool> Walk<'_, B, T, V> {
    /// Reports the complete chains of the piece on a square. Returns whether
    /// there is one.
    #[inline(always)]
    fn start(&mut self, pieces: &Pieces<B>, from: u8, by_man: bool) -> bool {
        self.occupied = pieces.occupied() & !B::bit(from);
        self.from = from;
        self.by_man = by_man;
        self.extend(from, !by_man, B::ZERO, NO_DIRECTION, 0, 0)
    }

    /// The pieces that stand in the way once `captured` have been jumped.
    #[inline(always)]
    fn blocking(&self, captured: B) -> B {
        if self.generator.at_once {
            self.occupied & !captured
        } else {
            self.occupied
        }
    }

    /// The enemy that a piece on `square` can jump in direction `d`, and all
    /// squares on which it could land by the rules of range alone.
    #[inline(always)]
    fn jump(&self, square: u8, king: bool, captured: B, d: u8) -> Option<(B, B)> {
        let generator = self.generator;
        let blocking = self.blocking(captured);
        let victim = if king && generator.flying {
            B::bit(generator.first_blocker(square, d, blocking)?)
        } else {
            generator.step(B::bit(square), d)
        };
        let prey = if king { self.prey } else { self.prey_of_men };
        let victim = victim & prey & !captured;
        let mut land = generator.step(victim, d) & !blocking;
        if land.is_empty() {
            return None;
        }
        if king && generator.flying && generator.land != KingLand::Adjacent {
            let first = land.lowest();
            let beyond = generator.ray(first, d);
            land |= match generator.first_blocker(first, d, blocking) {
                Some(blocker) => beyond & !generator.ray(blocker, d) & !B::bit(blocker),
                None => beyond,
            };
        }
        Some((victim, land))
    }

    #[inline(always)]
    fn directions(&self, king: bool) -> Directions {
        if king {
            self.generator.king_jump
        } else {
            self.generator.man_jump
        }
    }

    /// Plays every continuation from `square` and reports complete chains.
    /// Returns whether there is a further jump.
    fn extend(&mut self, square: u8, king: bool, captured: B, last: u8, king_order: u128, jumps: u32) -> bool {
        let generator = self.generator;
        let mut any = false;
        for d in self.directions(king).iter() {
            if generator.no_u_turn && last != NO_DIRECTION && d == last ^ 1 {
                continue;
            }
            let Some((victim, mut land)) = self.jump(square, king, captured, d) else {
                continue;
            };
            any = true;
            if !self.trail.wants(victim) {
                continue;
            }
            let taken = captured | victim;
            let is_king = !(victim & self.opp_kings).is_empty();
            let order = if is_king {
                king_order | 1 << (127 - jumps)
            } else {
                king_order
            };
            let mut ends = B::ZERO;
            let mut extended = false;
            if (self.prey & !taken).is_empty() {
                // Nothing is left to jump: the usual end in endings.
                ends = land;
                land = B::ZERO;
            }
            for to in land.squares() {
                let crowned = !king && generator.top.has(to);
                self.trail.land(to);
                let goes_on = match generator.promo {
                    PromoCapture::Stop if crowned => false,
                    PromoCapture::Continue if crowned => self.extend(to, true, taken, d, order, jumps + 1),
                    _ => self.extend(to, king, taken, d, order, jumps + 1),
                };
                self.trail.back();
                if !self.going {
                    return true;
                }
                extended |= goes_on;
                if !goes_on {
                    ends |= B::bit(to);
                }
            }
            if king && generator.flying {
                if extended && generator.must_extend {
                    continue;
                }
                if generator.land == KingLand::AdjacentIfLastIsKing && is_king {
                    ends &= generator.step(victim, d);
                }
            }
            for to in ends.squares() {
                let chain = Chain {
                    step: Step {
                        from: self.from,
                        to,
                        captured: taken,
                        by_man: self.by_man,
                        to_king: king || generator.top.has(to),
                    },
                    king_order: order,
                };
                self.trail.land(to);
                let going = (self.visit)(&chain, &self.trail);
                self.trail.back();
                if !going {
                    self.going = false;
                    return true;
                }
            }
        }
        any
    }
}
