//! The perfect index: a bijection between `0..len` and the placements of one
//! slice with one side to move, seen by that side.
//!
//! Three digits name a placement. The first says where all standing pieces
//! are (men or pawns), the second where the moving pieces of one side are (all
//! others) among the squares that those leave free, the third where the other
//! side's moving pieces are among the squares still left. Each digit has the
//! same range whatever the others are, so they may be put in any order of
//! significance without holes. Sets of like pieces are numbered by the
//! combinatorial number system (D. H. Lehmer, "The machine tools of
//! combinatorics", 1964); where a side has several moving kinds, each is
//! placed on the squares that the kinds before it leave.
//!
//! Where board and rules have symmetries, the first digit (standing pieces, or
//! the first moving ones if there are none) is counted once for each class of
//! placements that a symmetry maps onto each other.

use petrov_games::Bits;
use std::sync::Arc;

use petrov_games::{Army, Kind, MAX_PIECES, Placement, Rulebook, Side};

const SIZES: usize = 129;
const COUNTS: usize = MAX_PIECES as usize + 1;

/// `BINOMIAL[k][n]`: ways to choose k of n, saturating.
static BINOMIAL: [[u64; SIZES]; COUNTS] = binomials();

const fn binomials() -> [[u64; SIZES]; COUNTS] {
    let mut table = [[0; SIZES]; COUNTS];
    let mut n = 0;
    while n < SIZES {
        table[0][n] = 1;
        let mut k = 1;
        while k < COUNTS {
            if n > 0 {
                let (a, b): (u64, u64) = (table[k][n - 1], table[k - 1][n - 1]);
                table[k][n] = a.saturating_add(b);
            }
            k += 1;
        }
        n += 1;
    }
    table
}

/// Ways to choose `k` of `n` squares, saturating at `u64::MAX`.
#[inline(always)]
#[must_use]
pub fn binomial(n: u32, k: u8) -> u64 {
    BINOMIAL[usize::from(k)][n as usize]
}

/// Number of a set among the sets of as many squares of `region`. `set` must
/// lie in `region`.
#[inline(always)]
#[must_use]
pub fn set_rank<B: Bits>(set: B, region: B) -> u64 {
    let mut rank = 0;
    let mut k = 0;
    for square in set.squares() {
        k += 1;
        rank += BINOMIAL[k][(region & B::below(square)).count() as usize];
    }
    rank
}

/// The inverse of [`set_rank`] for sets of `count` squares; `rank` must be
/// less than `binomial(region.count(), count)`.
#[must_use]
pub fn set_unrank<B: Bits>(mut rank: u64, count: u8, region: B) -> B {
    if count == 1 {
        return B::bit(region.nth(rank as u32));
    }
    let mut set = B::ZERO;
    let mut n = region.count() as usize;
    for k in (1..=usize::from(count)).rev() {
        n -= 1;
        while BINOMIAL[k][n] > rank {
            n -= 1;
        }
        rank -= BINOMIAL[k][n];
        set |= B::bit(region.nth(n as u32));
    }
    set
}

/// Order of the digits of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DigitOrder {
    /// The mover's standing pieces are placed before the opponent's.
    pub own_standing_first: bool,
    /// The mover's moving pieces are placed before the opponent's.
    pub own_moving_first: bool,
    /// The digits from the most to the least significant.
    pub significance: [Digit; 3],
}

/// One digit of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Digit {
    /// The standing pieces (men or pawns) of both sides.
    Standing,
    /// The moving pieces that are placed first.
    FirstMoving,
    /// The moving pieces that are placed last.
    LastMoving,
}

const SIGNIFICANCES: [[Digit; 3]; 6] = {
    use Digit::{FirstMoving, LastMoving, Standing};
    [
        [Standing, FirstMoving, LastMoving],
        [Standing, LastMoving, FirstMoving],
        [FirstMoving, Standing, LastMoving],
        [FirstMoving, LastMoving, Standing],
        [LastMoving, Standing, FirstMoving],
        [LastMoving, FirstMoving, Standing],
    ]
};

impl DigitOrder {
    /// The order used while solving: standing pieces, the opponent's moving
    /// ones, the mover's.
    pub const SOLVING: Self = Self {
        own_standing_first: true,
        own_moving_first: false,
        significance: SIGNIFICANCES[0],
    };

    /// Number of orders.
    pub const COUNT: u8 = 24;

    /// The order with a number below [`DigitOrder::COUNT`], as it stands in
    /// table headers.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        (code < Self::COUNT).then(|| Self {
            own_standing_first: code < 12,
            own_moving_first: code % 12 >= 6,
            significance: SIGNIFICANCES[usize::from(code % 6)],
        })
    }

    /// The inverse of [`DigitOrder::from_code`].
    #[must_use]
    pub fn code(self) -> u8 {
        let significance = SIGNIFICANCES.iter().position(|s| *s == self.significance).unwrap_or(0) as u8;
        u8::from(!self.own_standing_first) * 12 + u8::from(self.own_moving_first) * 6 + significance
    }
}

/// Classes of the first digit under the symmetries.
#[derive(Clone, Debug)]
struct Fold {
    /// For each value of the unfolded digit: class number times 8 plus the
    /// symmetry that leads to the class's representative.
    class: Box<[u32]>,
    /// For each class: the unfolded digit of its representative.
    representative: Box<[u32]>,
    /// For each class: how many values of the unfolded digit it stands for.
    size: Box<[u8]>,
    maps: Box<[[u8; 128]]>,
}

/// Numbers the placements of the standing pieces of two sides, which may stand
/// on different squares.
#[derive(Clone, Debug)]
struct StandingDigit<B> {
    first_count: u8,
    last_count: u8,
    /// Where pieces of the side placed first may stand but the other's may not.
    only_first: B,
    /// Where both sides' pieces may stand.
    both: B,
    /// Where the pieces placed last may stand.
    last: B,
    /// Start of the numbers with j pieces on `only_first`.
    offset: [u64; COUNTS],
    len: u64,
}

impl<B: Bits> StandingDigit<B> {
    /// Squares and number of pieces of the side placed first, and of the
    /// other. `None` if the numbers do not fit.
    fn new((first_squares, first_count): (B, u8), (last, last_count): (B, u8)) -> Option<Self> {
        let only_first = first_squares & !last;
        let both = first_squares & last;
        let mut offset = [0u64; COUNTS];
        let mut len = 0u64;
        for j in 0..=first_count {
            offset[usize::from(j)] = len;
            let ways = [
                binomial(only_first.count(), j),
                binomial(both.count(), first_count - j),
                binomial(last.count().saturating_sub(u32::from(first_count - j)), last_count),
            ];
            len = len.checked_add(product(&ways)?)?;
        }
        Some(Self {
            first_count,
            last_count,
            only_first,
            both,
            last,
            offset,
            len,
        })
    }

    #[inline(always)]
    fn rank(&self, first: B, last: B) -> u64 {
        let (edge, inner) = (first & self.only_first, first & self.both);
        let inner_count = inner.count();
        let edge_rank = set_rank(edge, self.only_first);
        let inner_rank = set_rank(inner, self.both);
        let last_rank = set_rank(last, self.last & !first);
        self.offset[edge.count() as usize]
            + (edge_rank * binomial(self.both.count(), inner_count as u8) + inner_rank)
                * binomial(self.last.count() - inner_count, self.last_count)
            + last_rank
    }

    fn unrank(&self, value: u64) -> (B, B) {
        let mut edge_count = self.first_count;
        while self.offset[usize::from(edge_count)] > value {
            edge_count -= 1;
        }
        let inner_count = self.first_count - edge_count;
        let rest = value - self.offset[usize::from(edge_count)];
        let last_ways = binomial(self.last.count().saturating_sub(inner_count.into()), self.last_count);
        let inner_ways = binomial(self.both.count(), inner_count);
        let (rest, last_rank) = (rest / last_ways, rest % last_ways);
        let (edge_rank, inner_rank) = (rest / inner_ways, rest % inner_ways);
        let first = set_unrank(edge_rank, edge_count, self.only_first) | set_unrank(inner_rank, inner_count, self.both);
        (first, set_unrank(last_rank, self.last_count, self.last & !first))
    }
}

/// Numbers the placements of one side's moving pieces on free squares, kind
/// after kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MovingDigit {
    kinds: [(Kind, u8); Kind::COUNT],
    len: u8,
    pieces: u8,
}

impl MovingDigit {
    /// The digit for kinds with their counts.
    #[must_use]
    pub fn new(kinds: &[(Kind, u8)]) -> Self {
        let mut digit = Self {
            kinds: [(Kind::KING, 0); Kind::COUNT],
            len: 0,
            pieces: 0,
        };
        for (slot, (kind, count)) in digit.kinds.iter_mut().zip(kinds) {
            *slot = (*kind, *count);
            digit.len += 1;
            digit.pieces = digit.pieces.saturating_add(*count);
        }
        digit
    }

    /// The kinds with their counts.
    #[inline(always)]
    #[must_use]
    pub fn kinds(&self) -> &[(Kind, u8)] {
        &self.kinds[..usize::from(self.len)]
    }

    /// All pieces.
    #[inline(always)]
    #[must_use]
    pub fn pieces(&self) -> u8 {
        self.pieces
    }

    /// Ways to place the pieces on so many squares, saturating; 0 if there is
    /// no room.
    #[must_use]
    pub fn ways(&self, squares: u32) -> u64 {
        let mut free = squares;
        let mut ways = 1u64;
        for (_, count) in self.kinds() {
            ways = ways.saturating_mul(binomial(free, *count));
            free = free.saturating_sub(u32::from(*count));
        }
        ways
    }

    /// The number of the placement of these pieces on `free` squares.
    #[inline(always)]
    #[must_use]
    pub fn rank<P: Placement>(&self, placement: &P, side: Side, mut free: P::Set) -> u64 {
        let mut value = 0;
        for (n, (kind, count)) in self.kinds().iter().enumerate() {
            let set = placement.pieces(side, *kind);
            if n > 0 {
                value *= binomial(free.count(), *count);
            }
            value += set_rank(set, free);
            free &= !set;
        }
        value
    }

    /// Visits all placements of the pieces on `free` squares, besides what is
    /// placed already, in the order of their numbers.
    pub fn each<P: Placement>(&self, placed: &P, side: Side, free: P::Set, visit: &mut impl FnMut(&P)) {
        each_of(self.kinds(), placed, side, free, visit);
    }

    /// Puts the pieces on the squares that a number below
    /// [`MovingDigit::ways`] of the free squares says.
    pub fn place<P: Placement>(&self, mut value: u64, placement: &mut P, side: Side, mut free: P::Set) {
        let mut squares = free.count() - u32::from(self.pieces);
        let mut digits = [0; Kind::COUNT];
        for (digit, (_, count)) in digits.iter_mut().zip(self.kinds()).rev() {
            squares += u32::from(*count);
            let ways = binomial(squares, *count);
            (value, *digit) = (value / ways, value % ways);
        }
        for (digit, (kind, count)) in digits.iter().zip(self.kinds()) {
            let set = set_unrank(*digit, *count, free);
            placement.add(side, *kind, set);
            free &= !set;
        }
    }
}

fn each_of<P: Placement>(kinds: &[(Kind, u8)], placed: &P, side: Side, free: P::Set, visit: &mut impl FnMut(&P)) {
    let Some(((kind, count), rest)) = kinds.split_first() else {
        visit(placed);
        return;
    };
    let mut with = |set: P::Set| {
        let mut placed = *placed;
        placed.add(side, *kind, set);
        if rest.is_empty() {
            visit(&placed);
        } else {
            each_of(rest, &placed, side, free & !set, visit);
        }
    };
    if *count == 1 {
        free.squares().for_each(|square| with(P::Set::bit(square)));
    } else {
        (0..binomial(free.count(), *count)).for_each(|value| with(set_unrank(value, *count, free)));
    }
}

/// The index of one slice with one side to move.
#[derive(Clone, Debug)]
pub struct SliceIndex<B> {
    order: DigitOrder,
    squares: B,
    standing: StandingDigit<B>,
    /// There are standing pieces.
    stands: bool,
    /// The moving pieces placed first, and those placed last.
    moving: [MovingDigit; 2],
    /// Unfolded ranges of the digits.
    ranges: [u64; 3],
    fold: Option<Arc<Fold>>,
    /// Significance of each digit.
    scale: [u64; 3],
    len: u64,
    unfolded: u64,
}

/// Largest range of a first digit for which symmetric classes are tabulated.
const MAX_FOLDED: u64 = 1 << 28;

impl<B: Bits> SliceIndex<B> {
    /// The index for the mover's and the opponent's army. `None` if there is
    /// no such placement on the board or if there are more than 2^63.
    #[must_use]
    pub fn new<R: Rulebook<Set = B>>(rulebook: &R, own: &Army, opp: &Army, order: DigitOrder) -> Option<Self> {
        let mut index = Self::unfolded_index(rulebook, own, opp, order)?;
        index.fold = index.folded(rulebook, own, opp).map(Arc::new);
        index.set_scales(index.folded_ranges());
        Some(index)
    }

    fn folded_ranges(&self) -> [u64; 3] {
        let mut ranges = self.ranges;
        if let Some(fold) = &self.fold {
            ranges[self.lead() as usize] = fold.representative.len() as u64;
        }
        ranges
    }

    /// The same index with its digits in another order of significance.
    #[must_use]
    pub fn with_significance(&self, significance: [Digit; 3]) -> Self {
        let mut index = self.clone();
        index.order.significance = significance;
        index.set_scales(index.folded_ranges());
        index
    }

    /// Number of placements on distinct squares, every one counted, whether
    /// it counts as a position or not; `None` as for [`SliceIndex::new`].
    #[must_use]
    pub fn unfolded_len<R: Rulebook<Set = B>>(rulebook: &R, own: &Army, opp: &Army) -> Option<u64> {
        Self::unfolded_index(rulebook, own, opp, DigitOrder::SOLVING).map(|index| index.unfolded)
    }

    fn unfolded_index<R: Rulebook<Set = B>>(rulebook: &R, own: &Army, opp: &Army, order: DigitOrder) -> Option<Self> {
        let squares = rulebook.squares();
        let standing = standing_digit(rulebook, own, opp, order.own_standing_first)?;
        let standing_pieces = u32::from(standing.first_count + standing.last_count);
        let free = squares.count().checked_sub(standing_pieces)?;
        let mut moving = [own, opp].map(|army| MovingDigit::new(&rulebook.moving(army)));
        if !order.own_moving_first {
            moving.swap(0, 1);
        }
        let left = free.checked_sub(u32::from(moving[0].pieces))?;
        let ranges = [standing.len, moving[0].ways(free), moving[1].ways(left)];
        let unfolded = product(&ranges).filter(|n| *n > 0 && *n < 1 << 63)?;
        let mut index = Self {
            order,
            squares,
            standing,
            stands: standing_pieces > 0,
            moving,
            ranges,
            fold: None,
            scale: [0; 3],
            len: 0,
            unfolded,
        };
        index.set_scales(ranges);
        Some(index)
    }

    fn set_scales(&mut self, ranges: [u64; 3]) {
        let mut scale = 1;
        for digit in self.order.significance.iter().rev() {
            self.scale[*digit as usize] = scale;
            scale *= ranges[*digit as usize];
        }
        self.len = scale;
    }

    /// The digit that symmetries fold.
    /// The digit that symmetries fold: of the standing pieces where there are some.
    #[must_use]
    pub fn lead(&self) -> Digit {
        if self.stands {
            Digit::Standing
        } else {
            Digit::FirstMoving
        }
    }

    fn folded<R: Rulebook<Set = B>>(&self, rulebook: &R, own: &Army, opp: &Army) -> Option<Fold> {
        let symmetries = rulebook.symmetries(own, opp);
        let range = self.ranges[self.lead() as usize];
        if symmetries.len() < 2 || range > MAX_FOLDED {
            return None;
        }
        let maps: Vec<[u8; 128]> = symmetries
            .iter()
            .map(|map| std::array::from_fn(|i| map.get(i).copied().unwrap_or(0)))
            .collect();
        // The symmetry that leads from the image under one to that under
        // another.
        let between = |from: usize, to: usize| -> Option<u32> {
            let leads = |map: &[u8; 128]| {
                let image = |map: &[u8; 128], square: u8| map[usize::from(square & 127)];
                self.squares
                    .squares()
                    .all(|square| image(map, image(&maps[from], square)) == image(&maps[to], square))
            };
            maps.iter().position(leads).map(|number| number as u32)
        };
        let mut ways = Vec::new();
        for from in 0..maps.len() {
            for to in 0..maps.len() {
                ways.push(between(from, to)?);
            }
        }
        // Standing pieces as White sees them, White's first: the same for
        // both sides to move and every order, so that slices and orders agree
        // on representatives.
        let white_moves = own >= opp;
        let (white, black) = if white_moves { (own, opp) } else { (opp, own) };
        let seen_by_white = standing_digit(rulebook, white, black, true)?;
        let standing_key = |placement: &R::Placement| {
            let placement = if white_moves {
                *placement
            } else {
                rulebook.turned(placement)
            };
            let pieces = |side| placement.pieces(side, Kind::STANDING);
            seen_by_white.rank(pieces(Side::Own), pieces(Side::Opponent))
        };
        let mut class = vec![u32::MAX; range as usize];
        let (mut representative, mut size) = (Vec::new(), Vec::new());
        for value in 0..range {
            if class[value as usize] != u32::MAX {
                continue;
            }
            // Numbers ascend, so the first of a class met is its least.
            let placement: R::Placement = self.lead_placement(value);
            let images: Vec<R::Placement> = maps.iter().map(|map| mapped(rulebook, &placement, map)).collect();
            let chosen = if self.stands {
                let keys = images.iter().map(standing_key);
                keys.enumerate().min_by_key(|(n, key)| (*key, *n)).map_or(0, |(n, _)| n)
            } else {
                0
            };
            let number = representative.len() as u32;
            let mut members = 0;
            for (n, image) in images.iter().enumerate() {
                let slot = &mut class[self.lead_value(image) as usize];
                if *slot == u32::MAX {
                    members += 1;
                    *slot = number << 3 | ways[n * maps.len() + chosen];
                }
            }
            representative.push(self.lead_value(&images[chosen]) as u32);
            size.push(members);
        }
        Some(Fold {
            class: class.into(),
            representative: representative.into(),
            size: size.into(),
            maps: maps.into(),
        })
    }

    /// The pieces that the first digit places.
    fn lead_placement<P: Placement<Set = B>>(&self, value: u64) -> P {
        let mut placement = P::default();
        if self.stands {
            self.place_standing(value, &mut placement);
        } else {
            let (first, _) = self.sides();
            self.moving[0].place(value, &mut placement, first, self.squares);
        }
        placement
    }

    #[inline(always)]
    fn lead_value<P: Placement<Set = B>>(&self, placement: &P) -> u64 {
        if self.stands {
            self.standing_value(placement)
        } else {
            self.moving[0].rank(placement, self.sides().0, self.squares)
        }
    }

    /// The sides whose moving pieces are placed first and last.
    #[inline(always)]
    fn sides(&self) -> (Side, Side) {
        if self.order.own_moving_first {
            (Side::Own, Side::Opponent)
        } else {
            (Side::Opponent, Side::Own)
        }
    }

    #[inline(always)]
    fn standing_value<P: Placement<Set = B>>(&self, placement: &P) -> u64 {
        let (own, opp) = (
            placement.pieces(Side::Own, Kind::STANDING),
            placement.pieces(Side::Opponent, Kind::STANDING),
        );
        if self.order.own_standing_first {
            self.standing.rank(own, opp)
        } else {
            self.standing.rank(opp, own)
        }
    }

    fn place_standing<P: Placement<Set = B>>(&self, value: u64, placement: &mut P) {
        let (first, last) = self.standing.unrank(value);
        let (own, opp) = if self.order.own_standing_first {
            (first, last)
        } else {
            (last, first)
        };
        placement.add(Side::Own, Kind::STANDING, own);
        placement.add(Side::Opponent, Kind::STANDING, opp);
    }

    /// Number of entries: placements, symmetric ones counted once.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Never true: an index has at least one placement.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of placements, every one counted.
    #[must_use]
    pub fn unfolded(&self) -> u64 {
        self.unfolded
    }

    /// Whether there are standing pieces.
    #[must_use]
    pub fn has_standing(&self) -> bool {
        self.stands
    }

    /// Order of the digits.
    #[must_use]
    pub fn order(&self) -> DigitOrder {
        self.order
    }

    /// The moving pieces placed first, and those placed last.
    #[must_use]
    pub fn moving(&self) -> [MovingDigit; 2] {
        self.moving
    }

    /// Range of each digit, the first one folded.
    #[must_use]
    pub fn range(&self, digit: Digit) -> u64 {
        match &self.fold {
            Some(fold) if digit == self.lead() => fold.representative.len() as u64,
            _ => self.ranges[digit as usize],
        }
    }

    /// Entries in a row: a run in which only the least significant digit of those with more than one value changes.
    #[must_use]
    pub fn row(&self) -> u64 {
        let ranges = self.order.significance.iter().rev().map(|digit| self.range(*digit));
        ranges.into_iter().find(|range| *range > 1).unwrap_or(1)
    }

    /// Entries between two values of a digit that follow each other.
    #[inline(always)]
    #[must_use]
    pub fn scale(&self, digit: Digit) -> u64 {
        self.scale[digit as usize]
    }

    /// The digits of a placement seen by the side to move, which must have
    /// the armies of this index.
    #[inline(always)]
    #[must_use]
    pub fn digits<P: Placement<Set = B>>(&self, placement: &P) -> [u64; 3] {
        let Some(fold) = &self.fold else {
            let standing = if self.stands { self.standing_value(placement) } else { 0 };
            return self.plain_digits(placement, standing);
        };
        let class = fold.class[self.lead_value(placement) as usize];
        let (number, symmetry) = (u64::from(class >> 3), (class & 7) as usize);
        let mut digits = if symmetry == 0 {
            self.plain_digits(placement, 0)
        } else {
            self.mapped_digits(placement, &fold.maps[symmetry])
        };
        digits[self.lead() as usize] = number;
        digits
    }

    /// The digits of moving pieces with that of the standing ones.
    #[inline(always)]
    fn plain_digits<P: Placement<Set = B>>(&self, placement: &P, standing: u64) -> [u64; 3] {
        let (first, last) = self.sides();
        let mut free = self.squares;
        if self.stands {
            free &= !(placement.pieces(Side::Own, Kind::STANDING) | placement.pieces(Side::Opponent, Kind::STANDING));
        }
        // A folded first digit is known already.
        let folded = self.fold.is_some() && !self.stands;
        let first_value = if folded {
            0
        } else {
            self.moving[0].rank(placement, first, free)
        };
        let left = free & !placement.side(first);
        [standing, first_value, self.moving[1].rank(placement, last, left)]
    }

    /// The same after a map of the squares.
    #[inline]
    fn mapped_digits<P: Placement<Set = B>>(&self, placement: &P, map: &[u8; 128]) -> [u64; 3] {
        let mut image = P::default();
        for (digit, side) in self.moving.iter().zip([self.sides().0, self.sides().1]) {
            for (kind, _) in digit.kinds() {
                image.add(side, *kind, mapped_set(placement.pieces(side, *kind), map));
            }
        }
        if self.stands {
            for side in [Side::Own, Side::Opponent] {
                let set = placement.pieces(side, Kind::STANDING);
                image.add(side, Kind::STANDING, mapped_set(set, map));
            }
        }
        self.plain_digits(&image, 0)
    }

    /// The index of a placement seen by the side to move, which must have the
    /// armies of this index.
    #[inline(always)]
    #[must_use]
    pub fn rank<P: Placement<Set = B>>(&self, placement: &P) -> u64 {
        let digits = self.digits(placement);
        digits[0] * self.scale[0] + digits[1] * self.scale[1] + digits[2] * self.scale[2]
    }

    /// The placement with an index below [`SliceIndex::len`].
    #[must_use]
    pub fn unrank<P: Placement<Set = B>>(&self, rank: u64) -> P {
        let mut rest = rank;
        let mut digits = [0; 3];
        for digit in self.order.significance {
            digits[digit as usize] = rest / self.scale[digit as usize];
            rest %= self.scale[digit as usize];
        }
        self.place(digits)
    }

    /// The placement with the given (folded) digits.
    #[must_use]
    pub fn place<P: Placement<Set = B>>(&self, mut digits: [u64; 3]) -> P {
        if let Some(fold) = &self.fold {
            let lead = self.lead() as usize;
            digits[lead] = u64::from(fold.representative[digits[lead] as usize]);
        }
        let mut placement = P::default();
        if self.stands {
            self.place_standing(digits[0], &mut placement);
        }
        let (first, last) = self.sides();
        let free = self.squares & !placement.occupied();
        self.moving[0].place(digits[1], &mut placement, first, free);
        let free = self.squares & !placement.occupied();
        self.moving[1].place(digits[2], &mut placement, last, free);
        placement
    }

    /// The standing pieces of a (folded) value of their digit.
    #[must_use]
    pub fn standing<P: Placement<Set = B>>(&self, digit: u64) -> P {
        let mut placement = P::default();
        if self.stands {
            let value = match &self.fold {
                Some(fold) => u64::from(fold.representative[digit as usize]),
                None => digit,
            };
            self.place_standing(value, &mut placement);
        }
        placement
    }

    /// The (folded) digit of standing pieces and the number of the symmetry
    /// that leads to the representative of their class.
    #[must_use]
    pub fn standing_class<P: Placement<Set = B>>(&self, placement: &P) -> (u64, u8) {
        if !self.stands {
            return (0, 0);
        }
        let value = self.standing_value(placement);
        self.fold.as_ref().map_or((value, 0), |fold| {
            let class = fold.class[value as usize];
            (u64::from(class >> 3), (class & 7) as u8)
        })
    }

    /// How many placements the entries with a (folded) first digit stand for.
    #[must_use]
    pub fn weight(&self, lead: u64) -> u64 {
        self.fold.as_ref().map_or(1, |fold| u64::from(fold.size[lead as usize]))
    }

    /// The folded first digit of an index, for [`SliceIndex::weight`].
    #[must_use]
    pub fn lead_of(&self, rank: u64) -> u64 {
        let lead = self.lead();
        rank / self.scale(lead) % self.range(lead)
    }
}

/// The digit of the standing pieces of two armies.
fn standing_digit<R: Rulebook>(rulebook: &R, own: &Army, opp: &Army, own_first: bool) -> Option<StandingDigit<R::Set>> {
    let own = (rulebook.standing_squares(Side::Own), rulebook.standing(own));
    let opp = (rulebook.standing_squares(Side::Opponent), rulebook.standing(opp));
    if own_first {
        StandingDigit::new(own, opp)
    } else {
        StandingDigit::new(opp, own)
    }
}

/// All factors multiplied; `None` if that does not fit.
fn product(factors: &[u64]) -> Option<u64> {
    if factors.contains(&0) {
        return Some(0);
    }
    factors
        .iter()
        .try_fold(1u64, |product, factor| product.checked_mul(*factor))
}

/// The set moved by a symmetry.
#[inline(always)]
fn mapped_set<B: Bits>(set: B, map: &[u8; 128]) -> B {
    set.squares()
        .fold(B::ZERO, |image, square| image | B::bit(map[usize::from(square & 127)]))
}

/// The pieces moved by a symmetry.
fn mapped<R: Rulebook>(rulebook: &R, placement: &R::Placement, map: &[u8; 128]) -> R::Placement {
    let mut image = R::Placement::default();
    for side in [Side::Own, Side::Opponent] {
        for (kind, _) in rulebook.kinds() {
            image.add(side, *kind, mapped_set(placement.pieces(side, *kind), map));
        }
    }
    image
}
