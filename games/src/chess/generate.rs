//! Move generation.
//!
//! Everything here is seen by the side to move: its pawns go up the board, so
//! one generator serves both colours ([`Generator::turned`] changes the view).

mod rulebook;

use super::board::{Board, CastlingRight, Kind, Kinds, NO_SQUARE, Side, Symmetry, flipped};
use super::rays::{self, Ray};
use super::rules::{Goal, PairKnight, PairLine, Pawn, Promotion, Rules, Stalemate};
use crate::bits::Bits;
pub use crate::piece::{Ending, Outcome};

/// A move as the generator sees it, with squares in the mover's view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// Start square.
    pub from: u8,
    /// End square.
    pub to: u8,
    /// The piece that moves.
    pub kind: Kind,
    /// What it is afterwards: another kind if it promotes.
    pub becomes: Kind,
    /// Square of the piece taken, or [`NO_SQUARE`]. Not `to` if taken en
    /// passant.
    pub taken: u8,
    /// The king castles; its rook moves too.
    pub castles: bool,
}

impl Step {
    fn quiet(kind: Kind, from: u8, to: u8) -> Self {
        Self {
            from,
            to,
            kind,
            becomes: kind,
            taken: NO_SQUARE,
            castles: false,
        }
    }

    fn capture(kind: Kind, from: u8, to: u8) -> Self {
        Self {
            taken: to,
            ..Self::quiet(kind, from, to)
        }
    }

    /// Whether a piece is taken.
    #[must_use]
    #[inline(always)]
    pub fn is_capture(&self) -> bool {
        self.taken != NO_SQUARE
    }

    /// Whether a pawn is taken in passing.
    #[must_use]
    pub fn is_en_passant(&self) -> bool {
        self.is_capture() && self.taken != self.to
    }

    /// Whether the move cannot be taken back: a capture or any pawn move.
    #[must_use]
    #[inline(always)]
    pub fn is_conversion(&self) -> bool {
        self.is_capture() || self.kind == Kind::PAWN
    }
}

/// Squares that leaps reach from each square, by kind.
type Leaps = Box<[[u64; 64]; Kind::COUNT]>;

/// Leaps and slides of all kinds in one view.
#[derive(Clone, Debug)]
struct Motion {
    leaps: Leaps,
    /// Leaps, and slides on an empty board.
    reach: Leaps,
    /// Indices into the generator's rays.
    slides: [Vec<u8>; Kind::COUNT],
}

/// A step of all squares of a set at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    /// Bits up, or bits down, for one step, two and four.
    up: [u32; 3],
    down: [u32; 3],
    /// Squares on which a step can end without having left the board at the
    /// side.
    ends: u64,
    /// The same for two steps and four: nothing where they are too far.
    far: [u64; 2],
}

impl Shift {
    fn new((dx, dy): (i8, i8)) -> Self {
        let file = 0x0101_0101_0101_0101u64;
        let ends = (0..8i8)
            .filter(|to| (0..8).contains(&(to - dx)))
            .fold(0, |set, to| set | file << to);
        let by = i32::from(dx) + 8 * i32::from(dy);
        let bits = [1, 2, 4].map(|times| by.unsigned_abs() * times);
        let near = |bits: u32| if bits < 64 { bits } else { 0 };
        Self {
            up: bits.map(|bits| if by > 0 { near(bits) } else { 0 }),
            down: bits.map(|bits| if by < 0 { near(bits) } else { 0 }),
            ends,
            far: [bits[1], bits[2]].map(|bits| if bits < 64 { ends } else { 0 }),
        }
    }

    #[inline(always)]
    fn times(&self, set: u64, n: usize) -> u64 {
        set << self.up[n] >> self.down[n]
    }

    /// One step.
    #[inline(always)]
    pub(super) fn once(&self, set: u64) -> u64 {
        self.times(set, 0) & self.ends
    }

    /// Steps as long as they end on `empty` squares, by doubling (Kogge and
    /// Stone 1973).
    #[inline(always)]
    pub(super) fn repeated(&self, set: u64, empty: u64) -> u64 {
        let mut way = empty & self.ends;
        let mut reached = self.times(set, 0) & way;
        reached |= self.times(reached, 0) & way;
        way &= self.times(way, 0);
        reached |= self.times(reached, 1) & way & self.far[0];
        way &= self.times(way, 1);
        reached | self.times(reached, 2) & way & self.far[1]
    }
}

/// Views in which motions are tabled besides those of the two sides: the
/// squares from which a piece of the side to move comes.
const BACK: usize = 2;

/// Directions of the compass; the opposite one is four further.
const COMPASS: [(i8, i8); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// Squares from which each right's castling starts, in the order of the
/// bits: king, rook, the king's way, its end, the rook's end.
const CASTLINGS: [(CastlingRight, u8, u8, u8, u8, u8); 2] = [
    (CastlingRight::OwnShort, 4, 7, 5, 6, 5),
    (CastlingRight::OwnLong, 4, 0, 3, 2, 3),
];

/// Move generator of one rule set.
#[derive(Clone, Debug)]
pub struct Generator {
    files: u8,
    ranks: u8,
    squares: u64,
    kinds: Kinds,
    motions: [Motion; 3],
    rays: Vec<Ray>,
    /// Rays of the eight directions in the order of `COMPASS`.
    compass: Box<[Ray; 8]>,
    /// The eight adjacent squares.
    adjacent: Box<[u64; 64]>,
    /// The squares a knight's move away, whatever letter n does.
    knight: Box<[u64; 64]>,
    /// Squares that pawns capture on: by side, whether guarded, and square.
    pawn_captures: Box<[[[u64; 64]; 2]; 2]>,
    /// Squares of single steps of own pawns: whether guarded, and square.
    pawn_steps: Box<[[u64; 64]; 2]>,
    /// Steps that make up double ones; 0 where there is none.
    double_steps: Vec<i8>,
    /// Start squares of double steps.
    double_from: u64,
    /// Own pawns that can take a pawn that passed a square.
    en_passant_from: Box<[u64; 64]>,
    promotion_zone: u64,
    /// What a pawn becomes, by arrival file.
    promotions: [Vec<Kind>; 8],
    pawn_squares: u64,
    /// Castling rights that stay when a move starts or ends on a square.
    rights_kept: Box<[u8; 64]>,
    symmetries: Vec<(Symmetry, Kinds)>,
    royal: bool,
    guard: bool,
    en_passant: bool,
    compulsory: bool,
    bare_king: bool,
    fifty_moves: bool,
    /// Letters of the kinds in capitals.
    letters: Vec<(Kind, u8)>,
    /// For each kind the steps from a square it reaches back to where it comes
    /// from: once, and repeated.
    back: Vec<(Kind, Vec<Shift>, Vec<Shift>)>,
    stalemate: Stalemate,
    relay: bool,
    pair_bishop: bool,
    pair_rook: bool,
    pair_knight: PairKnight,
    whole_line: bool,
    partner_passes: bool,
    pair_capture: bool,
    /// Some axis lends pieces moves, so that positions must be looked at.
    lends: bool,
    /// Kinds that can be lent moves.
    lendable: Kinds,
}

/// What keeps moves from being legal in one position.
struct Watch {
    /// The royal king, or [`NO_SQUARE`].
    king: u8,
    checked: bool,
    /// Squares on which other pieces than the king end a check.
    shield: u64,
    /// Squares that the king cannot enter.
    danger: u64,
    /// Own pieces whose every move has to be tried.
    suspects: u64,
}

impl Watch {
    /// Nothing does.
    const FREE: Self = Self {
        king: NO_SQUARE,
        checked: false,
        shield: u64::MAX,
        danger: 0,
        suspects: 0,
    };

    /// Squares that may be entered from a square, as far as is known without
    /// a trial.
    #[inline(always)]
    fn open(&self, from: u8) -> u64 {
        if from == self.king { !self.danger } else { self.shield }
    }
}

impl Generator {
    /// The generator of a rule set.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        let (files, ranks) = (rules.files, rules.ranks);
        let squares = (0..64)
            .filter(|square| square % 8 < files && square / 8 < ranks)
            .fold(0, |set, square| set | 1u64 << square);
        let mut rays = Vec::new();
        let motions = [(1, 1), (1, -1), (-1, -1)].map(|signs| motion(rules, signs, &mut rays));
        let steps_to = |steps: &[(i8, i8)]| Box::new(rays::leaps(steps, files, ranks));
        let from_rank = |rank: u8| u64::MAX.checked_shl(u32::from(rank) * 8).unwrap_or(0) & squares;
        let start_rank = rank_of(rules.pawn_rank - 1) & squares;
        let promotion_zone = from_rank(rules.promotion_rank - 1);
        let pawn_squares = from_rank(rules.pawn_rank - 1) & !promotion_zone;
        let ahead: &[(i8, i8)] = &[(-1, 1), (0, 1), (1, 1)];
        let straight: &[(i8, i8)] = &[(0, 1)];
        let diagonal: &[(i8, i8)] = &[(-1, 1), (1, 1)];
        let (step, take) = match rules.pawn {
            Pawn::Orthodox => (straight, diagonal),
            Pawn::Berolina => (diagonal, straight),
        };
        let back: &[(i8, i8)] = if rules.pawn_backward_capture {
            &[(-1, -1), (1, -1)]
        } else {
            &[]
        };
        let mut captures = [take, ahead].map(|forward| {
            let (mut table, behind) = (*steps_to(forward), steps_to(back));
            for (square, set) in table.iter_mut().enumerate() {
                *set |= behind[square] & from_rank(rules.pawn_rank - 1);
                if !rules.pawn_first_capture && start_rank.has(square as u8) {
                    *set = 0;
                }
            }
            table
        });
        let own_captures = captures;
        for table in &mut captures {
            *table = flipped_table(table, ranks);
        }
        let mut en_passant_from = *steps_to(&[(-1, -1), (1, -1)]);
        if !rules.pawn_first_capture {
            en_passant_from.iter_mut().for_each(|set| *set &= !start_rank);
        }
        let promotions = std::array::from_fn(|file| {
            let letters: &[char] = match &rules.promote_to {
                Promotion::Any(letters) => letters,
                Promotion::ByFile(letters) => letters.get(file).map_or(&[], std::slice::from_ref),
            };
            letters.iter().filter_map(|letter| rules.kind(*letter)).collect()
        });
        let mut rights_kept = Box::new([15; 64]);
        for (square, lost) in [(0, 2), (4, 3), (7, 1), (56, 8), (60, 12), (63, 4)] {
            rights_kept[square] = 15 - lost;
        }
        let line_pairs = rules.pair_bishop || rules.pair_rook;
        Self {
            files,
            ranks,
            squares,
            kinds: rules.kinds().collect(),
            motions,
            rays,
            compass: Box::new(COMPASS.map(|step| Ray::new(step, files, ranks))),
            adjacent: steps_to(&COMPASS),
            knight: steps_to(&rays::all_eight((2, 1))),
            pawn_captures: Box::new([own_captures, captures]),
            pawn_steps: Box::new([*steps_to(step), *steps_to(if rules.pawn_guard { ahead } else { step })]),
            double_steps: step.iter().map(|(dx, dy)| dx + 8 * dy).collect(),
            double_from: if rules.has_double_step() { start_rank } else { 0 },
            en_passant_from: Box::new(en_passant_from),
            promotion_zone,
            promotions,
            pawn_squares,
            rights_kept,
            symmetries: Symmetry::all()
                .filter(|symmetry| files == ranks || !symmetry.swaps_axes())
                .map(|symmetry| (symmetry, kept_kinds(rules, symmetry)))
                .collect(),
            royal: rules.goal == Goal::Mate,
            guard: rules.pawn_guard,
            en_passant: rules.has_en_passant(),
            compulsory: rules.capture_compulsory,
            bare_king: rules.bare_king && rules.goal == Goal::Mate,
            fifty_moves: rules.fifty_moves,
            letters: rules
                .kinds()
                .filter(|kind| *kind != Kind::PAWN || rules.has_pawns())
                .filter_map(|kind| Some((kind, rules.letter(kind)?.to_ascii_uppercase() as u8)))
                .collect(),
            back: back_shifts(rules),
            stalemate: rules.stalemate,
            relay: rules.relay,
            pair_bishop: rules.pair_bishop,
            pair_rook: rules.pair_rook,
            pair_knight: rules.pair_knight,
            whole_line: rules.pair_line == PairLine::Whole,
            partner_passes: rules.pair_partner_passes,
            pair_capture: rules.pair_capture,
            lendable: rules
                .kinds()
                .filter(|kind| match *kind {
                    Kind::KING | Kind::PAWN => false,
                    Kind::BISHOP => rules.relay || rules.pair_bishop,
                    Kind::ROOK => rules.relay || rules.pair_rook,
                    Kind::KNIGHT => rules.relay || rules.pair_knight != PairKnight::None,
                    _ => rules.relay,
                })
                .collect(),
            lends: rules.relay || line_pairs || rules.pair_knight != PairKnight::None,
        }
    }

    /// Files of the board.
    #[must_use]
    pub fn files(&self) -> u8 {
        self.files
    }

    /// Ranks of the board.
    #[must_use]
    pub fn ranks(&self) -> u8 {
        self.ranks
    }

    /// All squares of the board.
    #[must_use]
    pub fn squares(&self) -> u64 {
        self.squares
    }

    /// All kinds of the rules.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// Squares on which own pawns stand.
    #[must_use]
    pub fn pawn_squares(&self) -> u64 {
        self.pawn_squares
    }

    /// Kinds that own pawns become on a file.
    #[must_use]
    pub fn promotions(&self, file: u8) -> &[Kind] {
        self.promotions.get(usize::from(file)).map_or(&[], Vec::as_slice)
    }

    /// Whether each side has one king that must not be left attacked.
    #[must_use]
    pub fn royal(&self) -> bool {
        self.royal
    }

    /// Whether a double step can be answered by taking en passant.
    #[must_use]
    pub fn has_en_passant(&self) -> bool {
        self.en_passant
    }

    /// Whether some pieces have moves that depend on their neighbours, so
    /// that [`attacks`](Self::attacks) alone does not tell where they go.
    #[must_use]
    pub fn lends_moves(&self) -> bool {
        self.lends
    }

    /// The symmetries of the board that keep the rules for placements of
    /// these kinds, the identity first. With pawns, the kinds they can become
    /// count too.
    #[must_use]
    pub fn symmetries(&self, kinds: Kinds) -> Vec<Symmetry> {
        let all = if kinds.has(Kind::PAWN) {
            kinds.iter().chain(self.promotions.iter().flatten().copied()).collect()
        } else {
            kinds
        };
        let keeps = |kept: &Kinds| all.iter().all(|kind| kept.has(kind));
        self.symmetries
            .iter()
            .filter(|(_, kept)| keeps(kept))
            .map(|(symmetry, _)| *symmetry)
            .collect()
    }

    /// The same placement as the other side sees it.
    #[must_use]
    #[inline(always)]
    pub fn turned(&self, board: &Board) -> Board {
        board.turned(self.ranks)
    }

    /// A square as the other side sees it.
    #[must_use]
    pub fn turned_square(&self, square: u8) -> u8 {
        flipped(square, self.ranks)
    }

    /// Squares that a piece other than a pawn attacks by its own moves,
    /// whoever stands there.
    #[must_use]
    #[inline(always)]
    pub fn attacks(&self, side: Side, kind: Kind, square: u8, occupied: u64) -> u64 {
        self.motion(side as usize, kind, square, occupied)
    }

    /// Squares from which an own piece other than a pawn attacks `square` by
    /// its own moves.
    #[must_use]
    #[inline(always)]
    pub fn attacks_back(&self, kind: Kind, square: u8, occupied: u64) -> u64 {
        self.motion(BACK, kind, square, occupied)
    }

    #[inline(always)]
    fn motion(&self, view: usize, kind: Kind, square: u8, occupied: u64) -> u64 {
        let motion = &self.motions[view];
        let mut set = motion.leaps[kind.index()][usize::from(square & 63)];
        for &ray in &motion.slides[kind.index()] {
            set |= self.rays[usize::from(ray)].reach(square, occupied);
        }
        set
    }

    /// Squares of a side on which its pawns are guarded by a king.
    #[inline(always)]
    fn guarded(&self, board: &Board, side: Side) -> u64 {
        if !self.guard {
            return 0;
        }
        let kings = board.side(side) & board.of(Kind::KING);
        kings
            .squares()
            .fold(0, |set, king| set | self.adjacent[usize::from(king)])
    }

    #[inline(always)]
    fn pawn_attacks(&self, side: Side, guarded: u64, square: u8) -> u64 {
        let guarded = usize::from(guarded.has(square));
        self.pawn_captures[side as usize][guarded][usize::from(square)]
    }

    /// Whether a piece of the side has lent moves on this board.
    #[inline(always)]
    fn lent(&self, board: &Board, side: Side) -> bool {
        self.lends && self.lent_now(board, side)
    }

    fn lent_now(&self, board: &Board, side: Side) -> bool {
        let count = |kind| (board.side(side) & board.of(kind)).count_ones();
        self.relay && count(Kind::KNIGHT) > 0
            || self.pair_knight != PairKnight::None && count(Kind::KNIGHT) > 1
            || self.pair_bishop && count(Kind::BISHOP) > 1
            || self.pair_rook && count(Kind::ROOK) > 1
    }

    /// Squares that a piece other than a pawn reaches with lent moves taken
    /// into account: where it could go if they were empty, and where it could
    /// capture.
    fn lent_moves(&self, board: &Board, side: Side, kind: Kind, square: u8) -> (u64, u64) {
        let occupied = board.occupied();
        let friends = board.side(side);
        let at = usize::from(square & 63);
        let own = self.motion(side as usize, kind, square, occupied);
        let (mut quiet, mut capture) = (own, own);
        if kind == Kind::KNIGHT && self.pair_knight != PairKnight::None {
            let partners = self.knight[at] & friends & board.of(Kind::KNIGHT);
            if partners != 0 {
                let partner_moves = partners.squares().fold(0, |set, partner| {
                    set | self.motion(side as usize, kind, partner, occupied)
                });
                let borrowed = partner_moves & !u64::bit(square);
                if self.pair_knight == PairKnight::Instead {
                    (quiet, capture) = (0, 0);
                }
                quiet |= borrowed;
                if self.pair_capture {
                    capture |= borrowed;
                }
            }
        }
        if self.relay && kind != Kind::KING && self.knight[at] & friends & board.of(Kind::KNIGHT) != 0 {
            quiet |= self.knight[at];
            capture |= self.knight[at];
        }
        let hops = kind == Kind::BISHOP && self.pair_bishop;
        if hops || kind == Kind::ROOK && self.pair_rook {
            let partners = self.adjacent[at] & friends & board.of(kind);
            // Bishops pair along ranks and files, the even directions.
            for direction in (usize::from(!hops)..8).step_by(2) {
                let forward = &self.compass[direction];
                let backward = &self.compass[(direction + 4) % 8];
                let partner = partners & forward.reach(square, u64::MAX);
                if partner == 0 {
                    continue;
                }
                if self.whole_line {
                    let line = forward.squares[at] | backward.squares[at];
                    if line & occupied != partner {
                        continue;
                    }
                }
                let mut targets = backward.reach(square, occupied);
                if self.partner_passes {
                    targets |= forward.reach(square, occupied & !partner) & !partner;
                }
                if hops {
                    targets &= same_colour(square);
                }
                quiet |= targets;
                if self.pair_capture && !self.whole_line {
                    capture |= targets;
                }
            }
        }
        (quiet, capture)
    }

    /// All squares that a side attacks: where it could capture if an enemy
    /// stood there.
    #[must_use]
    pub fn attacked(&self, board: &Board, side: Side) -> u64 {
        let guarded = self.guarded(board, side);
        let lent = self.lent(board, side);
        let occupied = board.occupied();
        board.side(side).squares().fold(0, |set, square| {
            let kind = board.kind_at(square);
            set | if kind == Kind::PAWN {
                self.pawn_attacks(side, guarded, square)
            } else if lent && self.lendable.has(kind) {
                self.lent_moves(board, side, kind, square).1
            } else {
                self.motion(side as usize, kind, square, occupied)
            }
        })
    }

    /// Whether a side attacks any of the `targets`.
    #[must_use]
    pub fn attacks_any(&self, board: &Board, side: Side, targets: u64) -> bool {
        let guarded = self.guarded(board, side);
        let lent = self.lent(board, side);
        let occupied = board.occupied();
        board.side(side).squares().any(|square| {
            let kind = board.kind_at(square);
            if kind == Kind::PAWN {
                return self.pawn_attacks(side, guarded, square) & targets != 0;
            }
            if lent && self.lendable.has(kind) {
                return self.lent_moves(board, side, kind, square).1 & targets != 0;
            }
            // Most pieces do not even point there.
            let reach = self.motions[side as usize].reach[kind.index()][usize::from(square)];
            reach & targets != 0 && self.motion(side as usize, kind, square, occupied) & targets != 0
        })
    }

    /// Whether the side to move is in check. Never where no king is royal.
    #[must_use]
    pub fn in_check(&self, board: &Board) -> bool {
        self.royal && self.attacks_any(board, Side::Opponent, board.own & board.of(Kind::KING))
    }

    /// Whether the side not to move is in check, so that the position cannot
    /// be.
    #[must_use]
    pub fn opponent_in_check(&self, board: &Board) -> bool {
        self.royal && self.attacks_any(board, Side::Own, board.opponent & board.of(Kind::KING))
    }

    /// The result if the pieces alone decide the game: a side has none
    /// (lose-all) or nothing but its king (bare king).
    #[must_use]
    #[inline]
    pub fn finished(&self, board: &Board) -> Option<Outcome> {
        if !self.royal {
            // Both sides empty cannot be; the side to move would have won.
            return match (board.own, board.opponent) {
                (0, _) => Some(Outcome::Win),
                (_, 0) => Some(Outcome::Loss),
                _ => None,
            };
        }
        if !self.bare_king {
            return None;
        }
        match (board.own.count_ones(), board.opponent.count_ones()) {
            (1, 1) => Some(Outcome::Draw),
            (_, 1) => Some(Outcome::Win),
            (1, 2) if self.takes_last(board) => Some(Outcome::Draw),
            (1, _) => Some(Outcome::Loss),
            _ => None,
        }
    }

    /// Whether the bare king to move can take the other side's only piece.
    fn takes_last(&self, board: &Board) -> bool {
        let last = board.opponent & !board.of(Kind::KING);
        board.own.squares().any(|king| {
            let hits = self.motion(Side::Own as usize, Kind::KING, king, board.occupied()) & last;
            hits.squares()
                .any(|to| !self.leaves_check(board, &Step::capture(Kind::KING, king, to)))
        })
    }

    /// How a game ended in which the side to move has no legal move.
    #[must_use]
    pub fn blocked(&self, board: &Board) -> Ending {
        if let Some(outcome) = self.finished(board) {
            return Ending { outcome, mated: false };
        }
        if self.in_check(board) {
            return Ending {
                outcome: Outcome::Loss,
                mated: true,
            };
        }
        let outcome = match self.stalemate {
            Stalemate::Draw => Outcome::Draw,
            Stalemate::Loses => Outcome::Loss,
            Stalemate::Wins => Outcome::Win,
            Stalemate::FewerWins => match board.own.count_ones().cmp(&board.opponent.count_ones()) {
                std::cmp::Ordering::Less => Outcome::Win,
                std::cmp::Ordering::Equal => Outcome::Draw,
                std::cmp::Ordering::Greater => Outcome::Loss,
            },
        };
        Ending { outcome, mated: false }
    }

    /// All legal moves, each once; none if the game is over. Clears `steps`
    /// first.
    pub fn legal(&self, board: &Board, steps: &mut Vec<Step>) {
        self.generate(board, u64::MAX, steps);
    }

    /// The legal moves that cannot be taken back: captures and pawn moves.
    /// Clears `steps` first.
    pub fn conversions(&self, board: &Board, steps: &mut Vec<Step>) {
        self.generate(board, 0, steps);
    }

    /// Legal moves; of the pieces' moves that take nothing only those to the
    /// `quiet` squares.
    #[inline(always)]
    fn generate(&self, board: &Board, quiet: u64, steps: &mut Vec<Step>) {
        steps.clear();
        if self.finished(board).is_some() {
            return;
        }
        let watch = self.watch(board);
        let mut passed = board.en_passant;
        if self.guard && passed != NO_SQUARE {
            // Beside its king a pawn may also step there without taking, but
            // not where the right exists, that is, where some pawn may take.
            self.en_passant_moves(board, steps);
            if steps.is_empty() {
                passed = NO_SQUARE;
            }
            steps.clear();
        }
        self.pawn_moves(board, &watch, passed, steps);
        self.piece_moves(board, &watch, quiet, steps);
        if board.castling & 3 != 0 && !watch.checked && quiet != 0 {
            self.castlings(board, steps);
        }
        if self.compulsory && steps.iter().any(Step::is_capture) {
            steps.retain(Step::is_capture);
        }
    }

    fn pawn_moves(&self, board: &Board, watch: &Watch, passed: u8, steps: &mut Vec<Step>) {
        self.each_pawn_step(board, watch.shield, passed, |step| {
            if !watch.suspects.has(step.from) || !self.leaves_check(board, &step) {
                self.each_promotion(step, |step| {
                    steps.push(step);
                    true
                });
            }
        });
        if passed != NO_SQUARE {
            self.en_passant_moves(board, steps);
        }
    }

    /// Visits steps and captures of own pawns to `open` squares, whatever
    /// becomes of the king and of the pawn; en passant is not among them, nor
    /// steps to a `passed` square where it is possible.
    #[inline(always)]
    fn each_pawn_step(&self, board: &Board, open: u64, passed: u8, mut visit: impl FnMut(Step)) {
        let pawns = board.own & board.of(Kind::PAWN);
        if pawns == 0 {
            return;
        }
        let guarded = self.guarded(board, Side::Own);
        let empty = self.squares & !board.occupied();
        for from in pawns.squares() {
            let at = usize::from(from);
            let mut quiet = self.pawn_steps[usize::from(guarded.has(from))][at] & empty;
            if passed != NO_SQUARE && self.en_passant_from[usize::from(passed)].has(from) {
                quiet &= !u64::bit(passed);
            }
            for to in (quiet & open).squares() {
                visit(Step::quiet(Kind::PAWN, from, to));
            }
            if self.double_from.has(from) {
                for &offset in &self.double_steps {
                    // Steps of the first file's pawns to the left leave the
                    // board, which the table of single steps knows.
                    let middle = from.wrapping_add_signed(offset);
                    let to = middle.wrapping_add_signed(offset);
                    let onward = |from: u8, to: u8| {
                        self.pawn_steps[0][usize::from(from & 63)].has(to & 63) && empty.has(to & 63)
                    };
                    if onward(from, middle) && onward(middle, to) && open.has(to) {
                        visit(Step::quiet(Kind::PAWN, from, to));
                    }
                }
            }
            for to in (self.pawn_attacks(Side::Own, guarded, from) & board.opponent & open).squares() {
                visit(Step::capture(Kind::PAWN, from, to));
            }
        }
    }

    /// Visits a pawn's move with all that the pawn can become by it, until
    /// `visit` returns false; gives whether it never did.
    #[inline(always)]
    fn each_promotion(&self, step: Step, mut visit: impl FnMut(Step) -> bool) -> bool {
        if self.promotion_zone.has(step.to) {
            let mut promotions = self.promotions[usize::from(step.to & 7)].iter();
            promotions.all(|&becomes| visit(Step { becomes, ..step }))
        } else {
            visit(step)
        }
    }

    /// Visits legal captures en passant in the same way. They take two pieces
    /// off a line at once, so always on trial.
    fn each_en_passant(&self, board: &Board, mut visit: impl FnMut(Step) -> bool) -> bool {
        let passed = board.en_passant;
        if passed == NO_SQUARE {
            return true;
        }
        let from = self.en_passant_from[usize::from(passed & 63)] & board.own & board.of(Kind::PAWN);
        from.squares().all(|from| {
            let step = Step {
                taken: passed - 8,
                ..Step::quiet(Kind::PAWN, from, passed)
            };
            self.leaves_check(board, &step) || self.each_promotion(step, &mut visit)
        })
    }

    fn en_passant_moves(&self, board: &Board, steps: &mut Vec<Step>) {
        self.each_en_passant(board, |step| {
            steps.push(step);
            true
        });
    }

    fn piece_moves(&self, board: &Board, watch: &Watch, quiet_to: u64, steps: &mut Vec<Step>) {
        let occupied = board.occupied();
        let lent = self.lent(board, Side::Own);
        for from in (board.own & !board.of(Kind::PAWN)).squares() {
            let kind = board.kind_at(from);
            let (quiet, capture) = if lent && self.lendable.has(kind) {
                self.lent_moves(board, Side::Own, kind, from)
            } else {
                let reach = self.motion(Side::Own as usize, kind, from, occupied);
                (reach, reach)
            };
            let open = watch.open(from);
            let first = steps.len();
            steps.extend(
                (capture & board.opponent & open)
                    .squares()
                    .map(|to| Step::capture(kind, from, to)),
            );
            steps.extend(
                (quiet & !occupied & open & quiet_to)
                    .squares()
                    .map(|to| Step::quiet(kind, from, to)),
            );
            if watch.suspects.has(from) {
                let mut kept = first;
                for at in first..steps.len() {
                    if !self.leaves_check(board, &steps[at]) {
                        steps.swap(kept, at);
                        kept += 1;
                    }
                }
                steps.truncate(kept);
            }
        }
    }

    /// Castlings of a king that is not in check.
    fn castlings(&self, board: &Board, steps: &mut Vec<Step>) {
        for (right, king, rook, way, end, _) in CASTLINGS {
            if board.castling & right as u8 == 0 {
                continue;
            }
            let between = u64::below(king.max(rook)) & !u64::below(king.min(rook) + 1);
            if between & board.occupied() == 0 && !self.leaves_check(board, &Step::quiet(Kind::KING, king, way)) {
                let step = Step {
                    castles: true,
                    ..Step::quiet(Kind::KING, king, end)
                };
                if !self.leaves_check(board, &step) {
                    steps.push(step);
                }
            }
        }
    }

    fn watch(&self, board: &Board) -> Watch {
        if !self.royal {
            return Watch::FREE;
        }
        let kings = board.own & board.of(Kind::KING);
        let king = kings.lowest();
        let occupied = board.occupied();
        if self.lent(board, Side::Opponent) {
            // Lent attacks come and go with pieces that are not on the line.
            return Watch {
                king,
                checked: self.attacks_any(board, Side::Opponent, kings),
                suspects: u64::MAX,
                ..Watch::FREE
            };
        }
        let mut watch = Watch { king, ..Watch::FREE };
        let guarded = self.guarded(board, Side::Opponent);
        let motion = &self.motions[Side::Opponent as usize];
        // Behind the king nothing is safe from what looks through him.
        let without_king = occupied & !kings;
        for square in board.opponent.squares() {
            let kind = board.kind_at(square);
            let at = usize::from(square);
            if kind == Kind::PAWN {
                let attacks = self.pawn_attacks(Side::Opponent, guarded, square);
                watch.danger |= attacks;
                if attacks & kings != 0 {
                    watch.shield &= u64::bit(square);
                }
                continue;
            }
            watch.danger |= self.motion(Side::Opponent as usize, kind, square, without_king);
            if motion.reach[kind.index()][at] & kings == 0 {
                continue;
            }
            if motion.leaps[kind.index()][at] & kings != 0 {
                watch.shield &= u64::bit(square);
            }
            for &ray in &motion.slides[kind.index()] {
                let ray = &self.rays[usize::from(ray)];
                if ray.squares[at] & kings != 0 {
                    let line = ray.squares[at] & !ray.squares[usize::from(king & 63)] & !kings;
                    let between = line & occupied;
                    if between == 0 {
                        watch.shield &= line | u64::bit(square);
                    } else if between & (between - 1) == 0 {
                        watch.suspects |= between & board.own;
                    }
                }
            }
        }
        watch.checked = watch.danger & kings != 0;
        watch
    }

    /// Whether the own king is attacked after a move.
    fn leaves_check(&self, board: &Board, step: &Step) -> bool {
        if !self.royal {
            return false;
        }
        let next = self.moved(board, step);
        self.attacks_any(&next, Side::Opponent, next.own & next.of(Kind::KING))
    }

    /// The board after a move, still as the mover sees it, without regard to
    /// rights.
    #[inline(always)]
    fn moved(&self, board: &Board, step: &Step) -> Board {
        let mut next = *board;
        next.remove(step.from);
        if step.is_capture() {
            next.remove(step.taken);
        }
        next.put(step.becomes, Side::Own, step.to);
        if step.castles {
            for (_, _, rook, _, end, rook_end) in CASTLINGS {
                if end == step.to {
                    next.remove(rook);
                    next.put(Kind::ROOK, Side::Own, rook_end);
                }
            }
        }
        next
    }

    /// The position after a legal move, as the other side sees it.
    #[must_use]
    #[inline]
    pub fn after(&self, board: &Board, step: &Step) -> Board {
        let mut next = self.moved(board, step);
        next.en_passant = NO_SQUARE;
        next.castling &= self.rights_kept[usize::from(step.from & 63)] & self.rights_kept[usize::from(step.to & 63)];
        let doubles = step.kind == Kind::PAWN && step.to == step.from + 16;
        let mut next = self.turned(&next);
        if doubles && self.en_passant {
            let passed = self.turned_square(step.from + 8);
            if self.en_passant_from[usize::from(passed)] & next.own & next.of(Kind::PAWN) != 0 {
                next.en_passant = passed;
            }
        }
        next
    }

    /// Squares from which the own piece other than a pawn on `square` can have
    /// come by a move that took nothing: exactly those from which
    /// [`legal`](Self::legal) would let it go there, but for check and for
    /// compulsory captures.
    #[must_use]
    pub fn origins(&self, board: &Board, square: u8) -> u64 {
        let kind = board.kind_at(square);
        let occupied = board.occupied();
        if !self.lent(board, Side::Own) || !self.lendable.has(kind) {
            return self.motion(BACK, kind, square, occupied & !u64::bit(square)) & !occupied;
        }
        let mut from = *board;
        from.remove(square);
        let empty = self.squares & !occupied;
        let own = self.motions[BACK].reach[kind.index()][usize::from(square & 63)];
        let lines = self
            .compass
            .iter()
            .fold(0, |set, ray| set | ray.squares[usize::from(square & 63)]);
        let candidates = if kind == Kind::KNIGHT {
            empty
        } else {
            own | lines | self.knight[usize::from(square & 63)]
        };
        (candidates & empty)
            .squares()
            .filter(|&origin| {
                let mut before = from;
                before.put(kind, Side::Own, origin);
                self.lent_moves(&before, Side::Own, kind, origin).0.has(square)
            })
            .fold(0, |set, origin| set | u64::bit(origin))
    }

    /// Number of distinct move sequences of `depth` plies. `spare` keeps
    /// lists between calls.
    pub fn perft(&self, board: &Board, depth: u32, spare: &mut Vec<Vec<Step>>) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut steps = spare.pop().unwrap_or_default();
        self.legal(board, &mut steps);
        let nodes = if depth == 1 {
            steps.len() as u64
        } else {
            steps
                .iter()
                .map(|step| self.perft(&self.after(board, step), depth - 1, spare))
                .sum()
        };
        spare.push(steps);
        nodes
    }
}

/// Squares of one rank, from 0.
fn rank_of(rank: u8) -> u64 {
    0xff << (u32::from(rank) * 8)
}

/// Squares at even distance along ranks and files.
fn same_colour(square: u8) -> u64 {
    const DARK: u64 = 0xaa55_aa55_aa55_aa55;
    if DARK.has(square) { DARK } else { !DARK }
}

/// A table of squares by square as the other side sees it.
fn flipped_table(table: &[u64; 64], ranks: u8) -> [u64; 64] {
    let spare = u32::from(8 - ranks) * 8;
    let mut out = [0; 64];
    for (square, set) in table.iter().enumerate() {
        let image = flipped(square as u8, 8);
        // On lower boards the images lie below the board's last rank.
        if let Some(image) = image.checked_sub(8 * (8 - ranks)) {
            out[usize::from(image)] = set.swap_bytes() >> spare;
        }
    }
    out
}

/// The steps back of all kinds but the pawn.
fn back_shifts(rules: &Rules) -> Vec<(Kind, Vec<Shift>, Vec<Shift>)> {
    let shifts = |steps: Vec<(i8, i8)>| -> Vec<Shift> { steps.iter().map(|(dx, dy)| Shift::new((-dx, -dy))).collect() };
    let pieces = rules.pieces.iter().enumerate();
    pieces
        .map(|(index, piece)| {
            let moves = &piece.moves;
            (
                Kind::new(index as u8),
                shifts(moves.all_leaps()),
                shifts(moves.all_slides()),
            )
        })
        .collect()
}

/// The tables of all pieces with steps multiplied by the signs.
fn motion(rules: &Rules, (sx, sy): (i8, i8), rays: &mut Vec<Ray>) -> Motion {
    let empty = || Box::new([[0; 64]; Kind::COUNT]);
    let (mut leaps, mut reach) = (empty(), empty());
    let mut slides: [Vec<u8>; Kind::COUNT] = std::array::from_fn(|_| Vec::new());
    for (index, piece) in rules.pieces.iter().enumerate() {
        let turned =
            |steps: Vec<(i8, i8)>| -> Vec<(i8, i8)> { steps.iter().map(|(dx, dy)| (dx * sx, dy * sy)).collect() };
        leaps[index] = rays::leaps(&turned(piece.moves.all_leaps()), rules.files, rules.ranks);
        reach[index] = leaps[index];
        for step in turned(piece.moves.all_slides()) {
            let known = rays.iter().position(|ray| ray.step == step);
            let ray = known.unwrap_or_else(|| {
                rays.push(Ray::new(step, rules.files, rules.ranks));
                rays.len() - 1
            });
            // There are 15 * 15 - 1 steps at most.
            slides[index].push(ray as u8);
            for (square, set) in reach[index].iter_mut().enumerate() {
                *set |= rays[ray].squares[square];
            }
        }
    }
    Motion { leaps, reach, slides }
}

/// The kinds whose moves, of both sides, a symmetry keeps.
fn kept_kinds(rules: &Rules, symmetry: Symmetry) -> Kinds {
    let keeps = |steps: &[(i8, i8)], flip: i8| {
        steps.iter().all(|(dx, dy)| {
            let (dx, dy) = symmetry.turn((*dx, dy * flip));
            steps.contains(&(dx, dy * flip))
        })
    };
    let kept = rules.pieces.iter().enumerate().filter(|(_, piece)| {
        let (leaps, slides) = (piece.moves.all_leaps(), piece.moves.all_slides());
        [1, -1].iter().all(|&flip| keeps(&leaps, flip) && keeps(&slides, flip))
    });
    let kinds: Kinds = kept.map(|(index, _)| Kind::new(index as u8)).collect();
    let same_letters = match &rules.promote_to {
        Promotion::Any(_) => true,
        Promotion::ByFile(letters) => letters.iter().eq(letters.iter().rev()),
    };
    let keeps_pawns = symmetry == Symmetry::IDENTITY || symmetry == Symmetry::MIRROR && same_letters;
    if keeps_pawns { kinds.with(Kind::PAWN) } else { kinds }
}
