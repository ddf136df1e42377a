//! The chess family as the index, the solver and the prober see it.

use super::{BACK, Generator, Step};
use crate::bits::Bits;
use crate::chess::board::{Board, NO_SQUARE};
use crate::chess::game::Position;
use crate::game::{LaneRules, NO_KEY, Placement, Rulebook, key_of};
use crate::material::Army;
use crate::piece::{Colour, Ending, Kind, Outcome, Side};

impl Placement for Board {
    type Set = u64;

    #[inline(always)]
    fn pieces(&self, side: Side, kind: Kind) -> u64 {
        Board::side(self, side) & self.of(kind)
    }

    #[inline(always)]
    fn add(&mut self, side: Side, kind: Kind, squares: u64) {
        self.put_all(kind, side, squares);
    }

    #[inline(always)]
    fn take(&mut self, square: u8) {
        self.remove(square);
    }

    #[inline(always)]
    fn kind_at(&self, square: u8) -> Kind {
        Board::kind_at(self, square)
    }

    #[inline(always)]
    fn side(&self, side: Side) -> u64 {
        Board::side(self, side)
    }

    #[inline(always)]
    fn key(&self) -> u128 {
        let count = |set: u64| {
            set.squares().fold(0u64, |key, square| {
                key + (1 << (4 * Board::kind_at(self, square).index()))
            })
        };
        if self.own.count_ones().max(self.opponent.count_ones()) > 15 {
            return self.long_key();
        }
        u128::from(count(self.own)) | u128::from(count(self.opponent)) << 64
    }
}

impl Board {
    /// The key where counts may not fit four bits.
    fn long_key(&self) -> u128 {
        let mut key = 0;
        for side in [Side::Own, Side::Opponent] {
            for kind in self.kinds().iter() {
                let count = self.pieces(side, kind).count_ones();
                if count > 15 {
                    return NO_KEY;
                }
                key |= key_of(side, kind, count as u8);
            }
        }
        key
    }
}

const ROYAL: u8 = b'K';

impl Generator {
    /// Squares near own partners of a kind: there a piece of the kind has
    /// other moves than its own.
    #[inline(always)]
    fn lent_zone(&self, others: &Board, kind: Kind) -> u64 {
        if !self.lends || !self.lendable.has(kind) {
            return 0;
        }
        self.lent_zone_now(others, kind)
    }

    fn lent_zone_now(&self, others: &Board, kind: Kind) -> u64 {
        let own = |kind| (others.own & others.of(kind)).squares();
        let mut zone = 0;
        if self.relay || kind == Kind::KNIGHT && self.pair_knight != super::PairKnight::None {
            zone = own(Kind::KNIGHT).fold(zone, |zone, square| zone | self.knight[usize::from(square)]);
        }
        if kind == Kind::BISHOP && self.pair_bishop || kind == Kind::ROOK && self.pair_rook {
            zone = own(kind).fold(zone, |zone, square| zone | self.adjacent[usize::from(square)]);
        }
        zone
    }

    /// Squares of a zone from which an own piece of the kind has a lent or own
    /// move to one of the targets; `capture` tells which moves count.
    fn lent_from(&self, others: &Board, kind: Kind, zone: u64, targets: u64, capture: bool) -> u64 {
        zone.squares()
            .filter(|&from| {
                let mut board = *others;
                board.put(kind, Side::Own, from);
                let (quiet, captures) = self.lent_moves(&board, Side::Own, kind, from);
                (if capture { captures } else { quiet }) & targets != 0
            })
            .fold(0, |set, from| set | u64::bit(from))
    }

    /// Empty squares on which a piece ends every attack of the own side on a
    /// square, as far as lines tell: there may be fewer.
    fn shields(&self, board: &Board, target: u8, empty: u64) -> u64 {
        let guarded = self.guarded(board, Side::Own);
        let lent = self.lent(board, Side::Own);
        let occupied = board.occupied();
        let bit = u64::bit(target);
        let mut shields = empty;
        for square in board.own.squares() {
            let kind = board.kind_at(square);
            let at = usize::from(square);
            if kind == Kind::PAWN {
                if self.pawn_attacks(Side::Own, guarded, square) & bit != 0 {
                    return 0;
                }
                continue;
            }
            if lent && self.lendable.has(kind) {
                // Lent moves go along lines of their own.
                continue;
            }
            let motion = &self.motions[Side::Own as usize];
            if motion.reach[kind.index()][at] & bit == 0 {
                continue;
            }
            if motion.leaps[kind.index()][at] & bit != 0 {
                return 0;
            }
            for &ray in &motion.slides[kind.index()] {
                let ray = &self.rays[usize::from(ray)];
                if ray.reach(square, occupied) & bit != 0 {
                    shields &= ray.squares[at] & !ray.squares[usize::from(target)] & !bit;
                }
            }
        }
        shields
    }

    /// Captures until `visit` returns false, en passant included.
    #[inline]
    fn each_capture(&self, board: &Board, mut visit: impl FnMut(&Board) -> bool) -> bool {
        if self.finished(board).is_some() {
            return true;
        }
        let guarded = self.guarded(board, Side::Own);
        let lent = self.lent(board, Side::Own);
        let occupied = board.occupied();
        let mut watch = None;
        for from in board.own.squares() {
            let kind = board.kind_at(from);
            let reach = if kind == Kind::PAWN {
                self.pawn_attacks(Side::Own, guarded, from)
            } else if lent && self.lendable.has(kind) {
                self.lent_moves(board, Side::Own, kind, from).1
            } else {
                self.motion(Side::Own as usize, kind, from, occupied)
            };
            let prey = reach & board.opponent;
            if prey == 0 {
                continue;
            }
            // Most placements have no capture, so this waits for the first.
            let watch = watch.get_or_insert_with(|| self.watch(board));
            let tried = watch.suspects.has(from);
            for to in (prey & watch.open(from)).squares() {
                let step = Step::capture(kind, from, to);
                if tried && self.leaves_check(board, &step) {
                    continue;
                }
                let mut take = |step: Step| visit(&self.after(board, &step));
                let goes_on = if kind == Kind::PAWN {
                    self.each_promotion(step, take)
                } else {
                    take(step)
                };
                if !goes_on {
                    return false;
                }
            }
        }
        self.each_en_passant(board, |step| visit(&self.after(board, &step)))
    }

    /// Whether a pawn's move is a simple step, see [`LaneRules`].
    #[inline(always)]
    fn is_simple(&self, board: &Board, step: &Step) -> bool {
        !self.guard && !step.is_capture() && !self.promotion_zone.has(step.to) && !self.gives_right(board, step)
    }

    /// Whether a double step can be answered by a pawn that takes en passant.
    #[inline(always)]
    fn gives_right(&self, board: &Board, step: &Step) -> bool {
        let pawns = || self.turned_set(board.opponent & board.of(Kind::PAWN));
        let taking = || self.en_passant_from[usize::from(self.turned_square(step.from + 8))];
        self.en_passant && step.to == step.from + 16 && taking() & pawns() != 0
    }

    /// Kinds that pawns can become, on whatever file.
    fn promoted_letters(&self) -> Vec<u8> {
        let letters = self
            .letters
            .iter()
            .filter(|(kind, _)| self.promotions.iter().flatten().any(|to| to == kind));
        letters.map(|(_, letter)| *letter).collect()
    }
}

impl Rulebook for Generator {
    type Set = u64;
    type Placement = Board;
    type Position = Position;
    type Lanes = Self;

    #[inline(always)]
    fn squares(&self) -> u64 {
        self.squares
    }

    fn standing_squares(&self, side: Side) -> u64 {
        match side {
            Side::Own => self.pawn_squares,
            Side::Opponent => self.turned_set(self.pawn_squares),
        }
    }

    fn rank(&self, square: u8) -> u8 {
        square / 8
    }

    fn ranks(&self) -> u8 {
        self.ranks
    }

    fn kinds(&self) -> &[(Kind, u8)] {
        &self.letters
    }

    fn symmetries(&self, own: &Army, opponent: &Army) -> Vec<Vec<u8>> {
        let kinds = self
            .letters
            .iter()
            .filter(|(_, letter)| own.count(*letter) + opponent.count(*letter) > 0);
        let kinds = kinds.map(|(kind, _)| *kind).collect();
        let on_board = |square: u8| self.squares.has(square);
        Generator::symmetries(self, kinds)
            .iter()
            .map(|symmetry| {
                let image = |square: u8| symmetry.image(square, self.files, self.ranks);
                (0..64)
                    .map(|square| if on_board(square) { image(square) } else { square })
                    .collect()
            })
            .collect()
    }

    #[inline(always)]
    fn turned_set(&self, set: u64) -> u64 {
        set.swap_bytes() >> (u32::from(8 - self.ranks) * 8)
    }

    #[inline(always)]
    fn turned(&self, board: &Board) -> Board {
        Generator::turned(self, board)
    }

    fn view(&self, position: &Position) -> Board {
        Generator::view(self, position)
    }

    fn position(&self, board: &Board, turn: Colour) -> Position {
        Position {
            board: match turn {
                Colour::White => *board,
                Colour::Black => Generator::turned(self, board),
            },
            turn,
            halfmove: 0,
            fullmove: 1,
        }
    }

    fn is_placement(&self, board: &Board) -> bool {
        let pawns = board.of(Kind::PAWN);
        let kings = board.of(Kind::KING);
        let right_kings =
            !self.royal || (board.own & kings).count_ones() == 1 && (board.opponent & kings).count_ones() == 1;
        board.own & board.opponent == 0
            && board.occupied() & !self.squares == 0
            && board.own & pawns & !self.pawn_squares == 0
            && board.opponent & pawns & !self.standing_squares(Side::Opponent) == 0
            && right_kings
            && !self.opponent_in_check(board)
    }

    fn has_gaps(&self) -> bool {
        self.royal
    }

    #[inline(always)]
    fn finished(&self, board: &Board) -> Option<Outcome> {
        Generator::finished(self, board)
    }

    fn blocked(&self, board: &Board) -> Ending {
        Generator::blocked(self, board)
    }

    fn has_mate(&self) -> bool {
        self.royal
    }

    fn fifty_moves(&self) -> bool {
        self.fifty_moves
    }

    #[inline(always)]
    fn forced(&self) -> bool {
        self.compulsory
    }

    fn has_capture(&self, board: &Board) -> bool {
        !self.each_capture(board, |_| false)
    }

    #[inline]
    fn captures(&self, board: &Board, visit: impl FnMut(&Board) -> bool) -> bool {
        self.each_capture(board, visit)
    }

    fn standing_moves(&self, board: &Board, mut visit: impl FnMut(&Board) -> bool) -> bool {
        let mut steps = Vec::new();
        self.conversions(board, &mut steps);
        let mut quiet = steps.iter().filter(|step| !step.is_capture());
        quiet.all(|step| visit(&self.after(board, step)))
    }

    fn has_quiet(&self, board: &Board) -> bool {
        let mut steps = Vec::new();
        self.legal(board, &mut steps);
        steps.iter().any(|step| !step.is_conversion())
    }

    #[inline(always)]
    fn without_right(&self, board: &Board) -> Option<Board> {
        (board.en_passant != NO_SQUARE).then(|| {
            let mut without = *board;
            without.en_passant = NO_SQUARE;
            without
        })
    }

    fn right_moves(&self, board: &Board, mut visit: impl FnMut(&Board)) {
        self.each_en_passant(board, |step| {
            visit(&self.after(board, &step));
            true
        });
    }

    fn moves_instead(&self, board: &Board, mut visit: impl FnMut(&Board, bool)) -> bool {
        if !self.guard || board.en_passant == NO_SQUARE {
            return false;
        }
        // Beside its king a pawn could step on the passed square, too.
        let from = self.en_passant_from[usize::from(board.en_passant & 63)] & board.own & board.of(Kind::PAWN);
        let mut steps = Vec::new();
        self.legal(board, &mut steps);
        if from & self.guarded(board, Side::Own) == 0 || !steps.iter().any(Step::is_en_passant) {
            return false;
        }
        for step in &steps {
            visit(&self.after(board, step), step.is_conversion());
        }
        true
    }

    fn has_move(&self, board: &Board) -> bool {
        let mut steps = Vec::new();
        self.legal(board, &mut steps);
        !steps.is_empty()
    }

    #[inline]
    fn spread(&self, kind: Kind, targets: u64, empty: u64, others: impl Fn() -> Board) -> u64 {
        let (_, once, repeated) = &self.back[kind.index()];
        let mut from = 0;
        if targets != 0 {
            for shift in once {
                from |= shift.once(targets);
            }
            from &= empty;
            for shift in repeated {
                from |= shift.repeated(targets, empty);
            }
        }
        if !self.lends || !self.lendable.has(kind) {
            return from;
        }
        let others = others();
        let zone = self.lent_zone(&others, kind) & empty;
        from & !zone | self.lent_from(&others, kind, zone, targets, false)
    }

    fn sideways(&self) -> bool {
        false
    }

    fn side_steps(&self, _: u64, _: impl FnMut(u8, u8, Option<u8>)) {}

    fn lanes(&self) -> Option<&Self> {
        Some(self)
    }

    fn no_table(&self, own: &Army, opponent: &Army) -> Option<&'static str> {
        for army in [own, opponent] {
            let known: u8 = self.letters.iter().map(|(_, letter)| army.count(*letter)).sum();
            if known != army.pieces() {
                return Some("the game has no such piece");
            }
            if self.royal && army.count(ROYAL) != 1 {
                return Some("each side has one king");
            }
            if self.bare_king && army.pieces() == 1 {
                return Some("a bare king ends the game");
            }
        }
        None
    }

    fn armies(&self, pieces: u8) -> Vec<Army> {
        let (first, rest) = match (self.royal, pieces) {
            (true, 0) => return Vec::new(),
            (true, _) => (Army::EMPTY.with(ROYAL, 1), pieces - 1),
            (false, _) => (Army::EMPTY, pieces),
        };
        let mut armies = vec![(first, rest)];
        for (_, letter) in &self.letters {
            if self.royal && *letter == ROYAL {
                continue;
            }
            armies = armies
                .into_iter()
                .flat_map(|(army, left)| (0..=left).map(move |count| (army.with(*letter, count), left - count)))
                .collect();
        }
        armies.retain(|(_, left)| *left == 0);
        armies.into_iter().map(|(army, _)| army).collect()
    }

    fn next_armies(&self, own: &Army, opponent: &Army) -> Vec<(Army, Army)> {
        let pawn = self.standing_letter();
        let mut after = vec![*own];
        if own.count(pawn) > 0 {
            after.extend(
                self.promoted_letters()
                    .iter()
                    .map(|letter| own.without(pawn, 1).with(*letter, 1)),
            );
        }
        let mut left = vec![*opponent];
        let taken = opponent.iter().filter(|(letter, _)| !(self.royal && *letter == ROYAL));
        left.extend(taken.map(|(letter, _)| opponent.without(letter, 1)));
        let mut next = Vec::new();
        for own_after in &after {
            for opponent_left in &left {
                if opponent_left.pieces() > 0 && (own_after, opponent_left) != (own, opponent) {
                    next.push((*own_after, *opponent_left));
                }
            }
        }
        next
    }
}

impl LaneRules<Self> for Generator {
    fn royal(&self) -> Option<Kind> {
        self.royal.then_some(Kind::KING)
    }

    #[inline]
    fn exposed(&self, others: &Board, empty: u64) -> u64 {
        self.attacked(others, Side::Opponent) & empty
    }

    fn unplaced(&self, others: &Board, empty: u64) -> u64 {
        let king = (others.opponent & others.of(Kind::KING)).lowest();
        let bit = u64::bit(king & 63);
        let occupied = others.occupied();
        // By the king himself, or by a pawn that he guards.
        let mut squares = self.motion(BACK, Kind::KING, king, occupied) & empty;
        if self.guard {
            for pawn in (others.own & others.of(Kind::PAWN)).squares() {
                if self.pawn_captures[Side::Own as usize][1][usize::from(pawn)] & bit != 0 {
                    squares |= self.adjacent[usize::from(pawn)] & empty;
                }
            }
        }
        if !self.attacks_any(others, Side::Own, bit) {
            return squares;
        }
        // By other pieces, unless he stands between.
        let mut shields = 0;
        for square in (self.shields(others, king, empty) & !squares).squares() {
            let mut board = *others;
            board.put(Kind::KING, Side::Own, square);
            if !self.attacks_any(&board, Side::Own, bit) {
                shields |= u64::bit(square);
            }
        }
        empty & !shields
    }

    fn is_exposed(&self, board: &Board) -> bool {
        self.in_check(board)
    }

    #[inline]
    fn takes_from(&self, kind: Kind, others: &Board, target: u8, empty: u64) -> u64 {
        let from = self.motion(BACK, kind, target, others.occupied()) & empty;
        let zone = self.lent_zone(others, kind) & empty;
        if zone == 0 {
            return from;
        }
        from & !zone | self.lent_from(others, kind, zone, u64::bit(target), true)
    }

    fn simple_steps(&self, board: &Board, mut visit: impl FnMut(u8, u8, u64)) -> bool {
        if self.guard {
            // Where the king stands decides how pawns step.
            return true;
        }
        let mut others = false;
        self.each_pawn_step(board, u64::MAX, NO_SQUARE, |step| {
            if self.is_simple(board, &step) {
                let middle = (step.from + step.to) / 2;
                let doubles = step.to / 8 > step.from / 8 + 1;
                let through = if doubles { u64::bit(middle) } else { 0 };
                visit(step.from, step.to, through | u64::bit(step.to));
            } else {
                others = true;
            }
        });
        others
    }

    fn has_lines(&self, board: &Board) -> bool {
        let slides = &self.motions[Side::Opponent as usize].slides;
        let mut pieces = board.opponent.squares();
        self.royal && (self.lends || pieces.any(|square| !slides[Board::kind_at(board, square).index()].is_empty()))
    }

    #[inline]
    fn standing_tries(&self, board: &Board, mut visit: impl FnMut(&Board, bool)) {
        // Without lines to open and without a check to end every move is legal.
        let careful = self.royal && (self.guard || self.has_lines(board) || self.in_check(board));
        self.each_pawn_step(board, u64::MAX, NO_SQUARE, |step| {
            if !self.is_simple(board, &step) && (!careful || !self.leaves_check(board, &step)) {
                self.each_promotion(step, |step| {
                    visit(&self.after(board, &step), step.is_capture());
                    true
                });
            }
        });
    }
}
