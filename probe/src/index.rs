//! The perfect index: a bijection between `0..len` and the placements of one
//! slice with one side to move, seen by that side.
//!
//! Three digits name a placement. The first says where all men stand, the
//! second where the kings of one side stand among the squares that the men
//! leave free, the third where the other side's kings stand among those still
//! left. Each digit has the same range whatever the others are, so they may be
//! put in any order of significance without holes. Sets of like pieces are
//! numbered by the combinatorial number system (D. H. Lehmer, "The machine
//! tools of combinatorics", 1964).
//!
//! Where board and rules have symmetries, the first digit (men, or the first
//! kings if there are none) is counted once for each class of placements that
//! a symmetry maps onto each other.

use petrov_games::Bits;
use petrov_games::draughts::{Board, Pieces, Rules};

use crate::material::{Army, MAX_PIECES};

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
    let mut squares = [0u8; 128];
    let mut size = 0;
    for square in region.squares() {
        squares[size] = square;
        size += 1;
    }
    let mut set = B::ZERO;
    let mut n = size;
    for k in (1..=usize::from(count)).rev() {
        n -= 1;
        while BINOMIAL[k][n] > rank {
            n -= 1;
        }
        rank -= BINOMIAL[k][n];
        set |= B::bit(squares[n]);
    }
    set
}

/// Order of the digits of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DigitOrder {
    /// The mover's men are placed before the opponent's.
    pub own_men_first: bool,
    /// The mover's kings are placed before the opponent's.
    pub own_kings_first: bool,
    /// The digits from the most to the least significant.
    pub significance: [Digit; 3],
}

/// One digit of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Digit {
    /// The men of both sides.
    Men,
    /// The kings that are placed first.
    FirstKings,
    /// The kings that are placed last.
    LastKings,
}

const SIGNIFICANCES: [[Digit; 3]; 6] = {
    use Digit::{FirstKings, LastKings, Men};
    [
        [Men, FirstKings, LastKings],
        [Men, LastKings, FirstKings],
        [FirstKings, Men, LastKings],
        [FirstKings, LastKings, Men],
        [LastKings, Men, FirstKings],
        [LastKings, FirstKings, Men],
    ]
};

impl DigitOrder {
    /// The order used while solving: men, the opponent's kings, the mover's.
    pub const SOLVING: Self = Self {
        own_men_first: true,
        own_kings_first: false,
        significance: SIGNIFICANCES[0],
    };

    /// Number of orders.
    pub const COUNT: u8 = 24;

    /// The order with a number below [`DigitOrder::COUNT`], as it stands in
    /// table headers.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        (code < Self::COUNT).then(|| Self {
            own_men_first: code < 12,
            own_kings_first: code % 12 >= 6,
            significance: SIGNIFICANCES[usize::from(code % 6)],
        })
    }

    /// The inverse of [`DigitOrder::from_code`].
    #[must_use]
    pub fn code(self) -> u8 {
        let significance = SIGNIFICANCES.iter().position(|s| *s == self.significance).unwrap_or(0) as u8;
        u8::from(!self.own_men_first) * 12 + u8::from(self.own_kings_first) * 6 + significance
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

/// The index of one slice with one side to move.
#[derive(Clone, Debug)]
pub struct SliceIndex<B> {
    own: Army,
    opp: Army,
    order: DigitOrder,
    playable: B,
    /// Where men of the side placed first may stand but the other's may not.
    men_only_first: B,
    /// Where both sides' men may stand.
    men_both: B,
    /// Where the men placed last may stand.
    men_last: B,
    /// Start of the numbers with j men on `men_only_first`.
    men_offset: [u64; COUNTS],
    /// Unfolded ranges of the digits.
    ranges: [u64; 3],
    fold: Option<Fold>,
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
    pub fn new(rules: &Rules, board: &Board, own: Army, opp: Army, order: DigitOrder) -> Option<Self> {
        Self::with_symmetries(rules, board, own, opp, order, true)
    }

    /// The index in which the solver works: men are never folded, because
    /// units with the same men in the two views must keep their squares.
    #[must_use]
    pub fn for_solving(rules: &Rules, board: &Board, own: Army, opp: Army) -> Option<Self> {
        Self::with_symmetries(rules, board, own, opp, DigitOrder::SOLVING, own.men + opp.men == 0)
    }

    /// Number of placements, every one counted; `None` as for
    /// [`SliceIndex::new`].
    #[must_use]
    pub fn unfolded_len(rules: &Rules, board: &Board, own: Army, opp: Army) -> Option<u64> {
        Self::with_symmetries(rules, board, own, opp, DigitOrder::SOLVING, false).map(|index| index.unfolded)
    }

    fn with_symmetries(
        rules: &Rules,
        board: &Board,
        own: Army,
        opp: Army,
        order: DigitOrder,
        fold: bool,
    ) -> Option<Self> {
        let playable = B::narrow(board.playable());
        let top = B::narrow(board.rank_set(board.ranks() - 1));
        let bottom = B::narrow(board.rank_set(0));
        let (first_men, last_men, men_only_first, men_last) = if order.own_men_first {
            (own.men, opp.men, bottom, playable & !bottom)
        } else {
            (opp.men, own.men, top, playable & !top)
        };
        let men_both = playable & !top & !bottom;
        let mut men_offset = [0u64; COUNTS];
        let mut men = 0u64;
        for j in 0..=first_men {
            men_offset[usize::from(j)] = men;
            let ways = [
                binomial(men_only_first.count(), j),
                binomial(men_both.count(), first_men - j),
                binomial(men_last.count().saturating_sub(u32::from(first_men - j)), last_men),
            ];
            men = men.checked_add(product(&ways)?)?;
        }
        let free = board.squares().checked_sub(u32::from(own.men + opp.men))?;
        let (first_kings, last_kings) = if order.own_kings_first {
            (own.kings, opp.kings)
        } else {
            (opp.kings, own.kings)
        };
        let left = free.checked_sub(u32::from(first_kings))?;
        let ranges = [men, binomial(free, first_kings), binomial(left, last_kings)];
        let unfolded = product(&ranges).filter(|n| *n > 0 && *n < 1 << 63)?;
        let mut index = Self {
            own,
            opp,
            order,
            playable,
            men_only_first,
            men_both,
            men_last,
            men_offset,
            ranges,
            fold: None,
            scale: [0; 3],
            len: 0,
            unfolded,
        };
        if fold {
            index.fold = index.folded(&board.symmetries(rules, own.men + opp.men > 0));
        }
        let mut ranges = ranges;
        if let Some(fold) = &index.fold {
            ranges[index.lead() as usize] = fold.representative.len() as u64;
        }
        let mut scale = 1;
        for digit in order.significance.iter().rev() {
            index.scale[*digit as usize] = scale;
            scale *= ranges[*digit as usize];
        }
        index.len = scale;
        Some(index)
    }

    /// The digit that symmetries fold.
    fn lead(&self) -> Digit {
        if self.own.men + self.opp.men > 0 {
            Digit::Men
        } else {
            Digit::FirstKings
        }
    }

    fn folded(&self, symmetries: &[Vec<u8>]) -> Option<Fold> {
        let lead = self.lead() as usize;
        let range = self.ranges[lead];
        if symmetries.len() < 2 || range > MAX_FOLDED {
            return None;
        }
        let maps: Vec<[u8; 128]> = symmetries
            .iter()
            .map(|map| std::array::from_fn(|i| map.get(i).copied().unwrap_or(0)))
            .collect();
        let mut class = vec![u32::MAX; range as usize];
        let (mut representative, mut size) = (Vec::new(), Vec::new());
        for value in 0..range {
            if class[value as usize] != u32::MAX {
                continue;
            }
            // Numbers ascend, so the first of a class met is its least.
            let pieces = self.lead_pieces(value);
            let number = representative.len() as u32;
            let mut images = 0;
            for map in &maps {
                let image = self.lead_value(&mapped(&pieces, map)) as usize;
                if class[image] == u32::MAX {
                    images += 1;
                    // The inverse map leads back to the representative.
                    let back = maps.iter().position(|back| {
                        self.playable
                            .squares()
                            .all(|i| back[usize::from(map[usize::from(i)])] == i)
                    })?;
                    class[image] = number << 3 | back as u32;
                }
            }
            representative.push(value as u32);
            size.push(images);
        }
        Some(Fold {
            class: class.into(),
            representative: representative.into(),
            size: size.into(),
            maps: maps.into(),
        })
    }

    /// The pieces that the first digit places.
    fn lead_pieces(&self, value: u64) -> Pieces<B> {
        let mut pieces = Pieces::default();
        if self.lead() == Digit::Men {
            self.place_men(value, &mut pieces);
        } else {
            let kings = set_unrank(value, self.first_kings(), self.playable);
            *self.first_kings_of(&mut pieces) = kings;
        }
        pieces
    }

    fn lead_value(&self, pieces: &Pieces<B>) -> u64 {
        if self.lead() == Digit::Men {
            self.men_digit(pieces)
        } else {
            set_rank(self.kings_in_order(pieces).0, self.playable)
        }
    }

    fn first_kings(&self) -> u8 {
        if self.order.own_kings_first {
            self.own.kings
        } else {
            self.opp.kings
        }
    }

    fn first_kings_of<'a>(&self, pieces: &'a mut Pieces<B>) -> &'a mut B {
        if self.order.own_kings_first {
            &mut pieces.own_kings
        } else {
            &mut pieces.opp_kings
        }
    }

    #[inline(always)]
    fn kings_in_order(&self, pieces: &Pieces<B>) -> (B, B) {
        if self.order.own_kings_first {
            (pieces.own_kings, pieces.opp_kings)
        } else {
            (pieces.opp_kings, pieces.own_kings)
        }
    }

    #[inline(always)]
    fn men_digit(&self, pieces: &Pieces<B>) -> u64 {
        let (first, last, last_count) = if self.order.own_men_first {
            (pieces.own_men, pieces.opp_men, self.opp.men)
        } else {
            (pieces.opp_men, pieces.own_men, self.own.men)
        };
        let (edge, inner) = (first & self.men_only_first, first & self.men_both);
        let inner_count = inner.count();
        let edge_rank = set_rank(edge, self.men_only_first);
        let inner_rank = set_rank(inner, self.men_both);
        let last_rank = set_rank(last, self.men_last & !first);
        self.men_offset[edge.count() as usize]
            + (edge_rank * binomial(self.men_both.count(), inner_count as u8) + inner_rank)
                * binomial(self.men_last.count() - inner_count, last_count)
            + last_rank
    }

    fn place_men(&self, value: u64, pieces: &mut Pieces<B>) {
        let (first_count, last_count) = if self.order.own_men_first {
            (self.own.men, self.opp.men)
        } else {
            (self.opp.men, self.own.men)
        };
        let mut edge_count = first_count;
        while self.men_offset[usize::from(edge_count)] > value {
            edge_count -= 1;
        }
        let inner_count = first_count - edge_count;
        let rest = value - self.men_offset[usize::from(edge_count)];
        let last_ways = binomial(self.men_last.count().saturating_sub(inner_count.into()), last_count);
        let inner_ways = binomial(self.men_both.count(), inner_count);
        let (rest, last_rank) = (rest / last_ways, rest % last_ways);
        let (edge_rank, inner_rank) = (rest / inner_ways, rest % inner_ways);
        let first =
            set_unrank(edge_rank, edge_count, self.men_only_first) | set_unrank(inner_rank, inner_count, self.men_both);
        let last = set_unrank(last_rank, last_count, self.men_last & !first);
        (pieces.own_men, pieces.opp_men) = if self.order.own_men_first {
            (first, last)
        } else {
            (last, first)
        };
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

    /// Order of the digits.
    #[must_use]
    pub fn order(&self) -> DigitOrder {
        self.order
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
    pub fn digits(&self, pieces: &Pieces<B>) -> [u64; 3] {
        let Some(fold) = &self.fold else {
            return self.unfolded_digits(pieces);
        };
        let class = fold.class[self.lead_value(pieces) as usize];
        let symmetry = (class & 7) as usize;
        if self.lead() == Digit::FirstKings {
            // Kings alone: nothing but the last digit is left to count.
            let (mut first, mut last) = self.kings_in_order(pieces);
            if symmetry != 0 {
                let map = &fold.maps[symmetry];
                (first, last) = (mapped_set(first, map), mapped_set(last, map));
            }
            return [0, u64::from(class >> 3), set_rank(last, self.playable & !first)];
        }
        let mut digits = if symmetry == 0 {
            self.unfolded_digits(pieces)
        } else {
            self.unfolded_digits(&mapped(pieces, &fold.maps[symmetry]))
        };
        digits[self.lead() as usize] = u64::from(class >> 3);
        digits
    }

    #[inline(always)]
    fn unfolded_digits(&self, pieces: &Pieces<B>) -> [u64; 3] {
        let men = pieces.own_men | pieces.opp_men;
        let men_digit = if men.is_empty() { 0 } else { self.men_digit(pieces) };
        let (first, last) = self.kings_in_order(pieces);
        let free = self.playable & !men;
        [men_digit, set_rank(first, free), set_rank(last, free & !first)]
    }

    /// The index of a placement seen by the side to move, which must have the
    /// armies of this index.
    #[inline(always)]
    #[must_use]
    pub fn rank(&self, pieces: &Pieces<B>) -> u64 {
        let digits = self.digits(pieces);
        digits[0] * self.scale[0] + digits[1] * self.scale[1] + digits[2] * self.scale[2]
    }

    /// The placement with an index below [`SliceIndex::len`].
    #[must_use]
    pub fn unrank(&self, rank: u64) -> Pieces<B> {
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
    pub fn place(&self, mut digits: [u64; 3]) -> Pieces<B> {
        if let Some(fold) = &self.fold {
            let lead = self.lead() as usize;
            digits[lead] = u64::from(fold.representative[digits[lead] as usize]);
        }
        let mut pieces = Pieces::default();
        if self.own.men + self.opp.men > 0 {
            self.place_men(digits[0], &mut pieces);
        }
        let free = self.playable & !(pieces.own_men | pieces.opp_men);
        let (first_count, last_count) = if self.order.own_kings_first {
            (self.own.kings, self.opp.kings)
        } else {
            (self.opp.kings, self.own.kings)
        };
        let first = set_unrank(digits[1], first_count, free);
        let last = set_unrank(digits[2], last_count, free & !first);
        (pieces.own_kings, pieces.opp_kings) = if self.order.own_kings_first {
            (first, last)
        } else {
            (last, first)
        };
        pieces
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
fn mapped<B: Bits>(pieces: &Pieces<B>, map: &[u8; 128]) -> Pieces<B> {
    Pieces {
        own_men: mapped_set(pieces.own_men, map),
        own_kings: mapped_set(pieces.own_kings, map),
        opp_men: mapped_set(pieces.opp_men, map),
        opp_kings: mapped_set(pieces.opp_kings, map),
    }
}
