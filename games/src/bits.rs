//! Sets of squares as machine words.

use std::fmt::Debug;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr};

/// A word with one bit per square: `u64` for boards that fit, `u128` for the
/// others. The generator and the solver are compiled once for each.
pub trait Bits:
    Copy
    + Eq
    + Ord
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Bits in the word.
    const WIDTH: u32;
    /// No square.
    const ZERO: Self;

    /// The set of one square.
    fn bit(index: u8) -> Self;
    /// Number of squares.
    fn count(self) -> u32;
    /// Lowest square; `WIDTH` (as `u8`) if the set is empty.
    fn lowest(self) -> u8;
    /// Highest square; the set must not be empty.
    fn highest(self) -> u8;
    /// The set without its lowest square (empty stays empty).
    fn without_lowest(self) -> Self;
    /// The set turned end for end: bit `i` becomes bit `WIDTH - 1 - i`.
    fn reversed(self) -> Self;
    /// All squares below `index`.
    fn below(index: u8) -> Self;
    /// The square with `number` squares of the set below it; there must be one.
    fn nth(self, number: u32) -> u8;
    /// Takes the low bits of a `u128`.
    fn narrow(set: u128) -> Self;
    /// Widens to a `u128`.
    fn widen(self) -> u128;

    /// True if there is no square in the set.
    #[inline(always)]
    fn is_empty(self) -> bool {
        self == Self::ZERO
    }
    /// True if the square is in the set.
    #[inline(always)]
    fn has(self, index: u8) -> bool {
        !(self & Self::bit(index)).is_empty()
    }
    /// The squares in ascending order.
    #[inline(always)]
    fn squares(self) -> Squares<Self> {
        Squares(self)
    }
}

/// Iterator over the squares of a set, ascending.
#[derive(Clone, Copy, Debug)]
pub struct Squares<B>(B);

impl<B: Bits> Iterator for Squares<B> {
    type Item = u8;
    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        if self.0.is_empty() {
            return None;
        }
        let square = self.0.lowest();
        self.0 = self.0.without_lowest();
        Some(square)
    }
}

/// The bit of a word with `number` set bits below it.
#[inline(always)]
fn nth_bit(word: u64, mut number: u32) -> u8 {
    let mut start = 0;
    let mut rest = word;
    for width in [32, 16, 8, 4, 2, 1] {
        let low = (rest & ((1 << width) - 1)).count_ones();
        if number >= low {
            number -= low;
            rest >>= width;
            start += width;
        }
    }
    start as u8
}

macro_rules! bits {
    ($word:ty) => {
        impl Bits for $word {
            const WIDTH: u32 = <$word>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn bit(index: u8) -> Self {
                1 << index
            }
            #[inline(always)]
            fn count(self) -> u32 {
                self.count_ones()
            }
            #[inline(always)]
            fn lowest(self) -> u8 {
                self.trailing_zeros() as u8
            }
            #[inline(always)]
            fn highest(self) -> u8 {
                (<$word>::BITS - 1).wrapping_sub(self.leading_zeros()) as u8
            }
            #[inline(always)]
            fn without_lowest(self) -> Self {
                self & self.wrapping_sub(1)
            }
            #[inline(always)]
            fn reversed(self) -> Self {
                self.reverse_bits()
            }
            #[inline(always)]
            fn below(index: u8) -> Self {
                (1 << index) - 1
            }
            #[inline(always)]
            fn nth(self, number: u32) -> u8 {
                let low = self as u64;
                if <$word>::BITS == 64 || number < low.count_ones() {
                    nth_bit(low, number)
                } else {
                    64 + nth_bit(((self as u128) >> 64) as u64, number - low.count_ones())
                }
            }
            #[inline(always)]
            fn narrow(set: u128) -> Self {
                set as $word
            }
            #[inline(always)]
            fn widen(self) -> u128 {
                self as u128
            }
        }
    };
}
bits!(u64);
bits!(u128);
