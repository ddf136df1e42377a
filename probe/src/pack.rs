//! Packing of codes into bytes.
//!
//! A code is a number below `c`, the count of values that occur in one side of
//! a table. As many codes share a byte as fit: the largest `k` with `c^k <= 256`,
//! the first code being the least significant digit in base `c`.

use std::ops::Range;

pub use crate::errors::PackError;

/// An integer that holds a code: `u8` where at most 256 codes exist, else `u16`.
pub trait Code: Copy + Default + Send + Sync + private::Sealed {
    /// How many codes the type can tell apart.
    const LIMIT: u32;
    /// The code as this type; the caller knows that it fits.
    fn new(code: u16) -> Self;
    /// The code as a `u16`.
    fn get(self) -> u16;
}

mod private {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
}

impl Code for u8 {
    const LIMIT: u32 = 1 << 8;
    fn new(code: u16) -> Self {
        (code & 0xff) as Self
    }
    fn get(self) -> u16 {
        self.into()
    }
}

impl Code for u16 {
    const LIMIT: u32 = 1 << 16;
    fn new(code: u16) -> Self {
        code
    }
    fn get(self) -> u16 {
        self
    }
}

/// A digit no `c` below 256 has: what a byte that packs nothing reads as.
const NO_DIGIT: u8 = u8::MAX;

/// The five base-3 digits of every byte, padded to eight so that a row is found by a
/// shift. Win, draw and loss tables read through this one.
const TERNARY: [[u8; 8]; 256] = {
    let mut rows = [[NO_DIGIT; 8]; 256];
    let mut byte = 0;
    while byte < 243 {
        let mut rest = byte;
        let mut digit = 0;
        while digit < 5 {
            rows[byte][digit] = (rest % 3) as u8;
            rest /= 3;
            digit += 1;
        }
        byte += 1;
    }
    rows
};

/// How the codes of one side are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    codes: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// At most one code: nothing is stored.
    Nothing,
    Eight,
    Five,
    Four,
    Three,
    Two,
    One,
    /// Two bytes a code, little-endian.
    Wide,
}

impl Packing {
    /// The packing for `codes` different codes. More than 65,536 cannot be packed;
    /// [`Packing::pack`] then refuses nothing a `u16` can hold.
    #[must_use]
    pub const fn new(codes: u32) -> Self {
        let kind = match codes {
            0 | 1 => Kind::Nothing,
            2 => Kind::Eight,
            3 => Kind::Five,
            4 => Kind::Four,
            5 | 6 => Kind::Three,
            7..=16 => Kind::Two,
            17..=256 => Kind::One,
            _ => Kind::Wide,
        };
        Self { codes, kind }
    }

    /// How many different codes there are.
    #[must_use]
    pub const fn codes(self) -> u32 {
        self.codes
    }

    /// False if there is at most one code, so that no bytes are stored.
    #[must_use]
    pub const fn stores(self) -> bool {
        !matches!(self.kind, Kind::Nothing)
    }

    /// How many codes share a byte: 0 if nothing is stored, 1 also where a code takes two bytes.
    #[must_use]
    pub const fn per_byte(self) -> u32 {
        match self.kind {
            Kind::Nothing => 0,
            Kind::Eight => 8,
            Kind::Five => 5,
            Kind::Four => 4,
            Kind::Three => 3,
            Kind::Two => 2,
            Kind::One | Kind::Wide => 1,
        }
    }

    /// How many codes fit into `bytes` bytes; 0 if nothing is stored.
    #[must_use]
    pub const fn capacity(self, bytes: u32) -> u64 {
        match self.kind {
            Kind::Wide => bytes as u64 / 2,
            _ => bytes as u64 * self.per_byte() as u64,
        }
    }

    /// How many bytes `count` codes take. Saturates, which no count that fits into memory reaches.
    #[must_use]
    pub const fn bytes(self, count: u64) -> u64 {
        match self.kind {
            Kind::Nothing => 0,
            Kind::Wide => count.saturating_mul(2),
            _ => count.div_ceil(self.per_byte() as u64),
        }
    }

    /// The code at `position` of a packed block, or `None` outside the block. A byte that
    /// no codes pack to may give a code that is not below [`Packing::codes`].
    #[inline]
    #[must_use]
    pub fn get(self, packed: &[u8], position: usize) -> Option<u16> {
        // Every arm divides by a constant, which is what makes this cheap.
        let c = self.codes as u8;
        match self.kind {
            Kind::Nothing => Some(0),
            Kind::Five => packed
                .get(position / 5)
                .map(|&b| TERNARY[b as usize][position % 5].into()),
            Kind::Eight => packed.get(position / 8).map(|&b| (b >> (position % 8) & 1).into()),
            Kind::Four => packed
                .get(position / 4)
                .map(|&b| (b >> (2 * (position % 4)) & 3).into()),
            Kind::Three => packed.get(position / 3).map(|&b| {
                match position % 3 {
                    0 => b % c,
                    1 => b / c % c,
                    _ => b / (c * c),
                }
                .into()
            }),
            Kind::Two => packed
                .get(position / 2)
                .map(|&b| if position.is_multiple_of(2) { b % c } else { b / c }.into()),
            Kind::One => packed.get(position).map(|&b| b.into()),
            Kind::Wide => {
                let at = position.checked_mul(2)?;
                let pair = packed.get(at..at.checked_add(2)?)?;
                Some(u16::from_le_bytes([pair[0], pair[1]]))
            }
        }
    }

    /// Appends the packed form of `codes` to `out`; the last byte is filled up with zero digits.
    ///
    /// # Errors
    /// [`PackError::Code`] if a code is not below [`Packing::codes`]; `out` then holds part of the result.
    /// Where nothing is stored only code 0 is accepted.
    pub fn pack<T: Code>(self, codes: &[T], out: &mut Vec<u8>) -> Result<(), PackError> {
        let limit = self.codes.max(1);
        if let Some(code) = codes.iter().map(|c| u32::from(c.get())).find(|&c| c >= limit) {
            return Err(PackError::Code { code, limit });
        }
        let base = self.codes;
        match self.kind {
            Kind::Nothing => {}
            Kind::Wide => out.extend(codes.iter().flat_map(|c| c.get().to_le_bytes())),
            // Below c^k <= 256, so the digits of a byte never carry out of it.
            _ => out.extend(
                codes
                    .chunks(self.per_byte() as usize)
                    .map(|group| group.iter().rev().fold(0, |byte, c| byte * base + u32::from(c.get())) as u8),
            ),
        }
        Ok(())
    }

    /// Unpacks a whole block: `out.len()` codes from exactly the bytes they take.
    ///
    /// # Errors
    /// [`PackError::Length`] if `packed` is longer or shorter than `out` needs, [`PackError::Code`] if
    /// it holds what packing never produces or `T` is too narrow for these codes.
    pub fn unpack<T: Code>(self, packed: &[u8], out: &mut [T]) -> Result<(), PackError> {
        let need = self.bytes(out.len() as u64);
        if packed.len() as u64 != need {
            return Err(PackError::Length {
                have: packed.len(),
                need,
            });
        }
        if self.codes > T::LIMIT {
            return Err(PackError::Code {
                code: self.codes - 1,
                limit: T::LIMIT,
            });
        }
        match self.kind {
            Kind::Nothing => {
                out.fill(T::new(0));
                return Ok(());
            }
            Kind::Five => {
                for (group, &byte) in out.chunks_mut(5).zip(packed) {
                    let row = &TERNARY[byte as usize];
                    for (slot, &digit) in group.iter_mut().zip(row) {
                        *slot = T::new(digit.into());
                    }
                }
            }
            Kind::Eight => unpack_bytes::<T, 8>(packed, out, 2),
            Kind::Four => unpack_bytes::<T, 4>(packed, out, 4),
            Kind::Three => unpack_bytes::<T, 3>(packed, out, self.codes),
            Kind::Two => unpack_bytes::<T, 2>(packed, out, self.codes),
            Kind::One => unpack_bytes::<T, 1>(packed, out, 256),
            Kind::Wide => {
                for (slot, pair) in out.iter_mut().zip(packed.chunks_exact(2)) {
                    *slot = T::new(u16::from_le_bytes([pair[0], pair[1]]));
                }
            }
        }
        match out.iter().map(|c| u32::from(c.get())).find(|&c| c >= self.codes) {
            None => Ok(()),
            Some(code) => Err(PackError::Code {
                code,
                limit: self.codes,
            }),
        }
    }
}

/// Splits bytes into `K` digits each. The top digit takes what is left, so that a byte
/// too large for `K` digits shows as a digit that is too large.
fn unpack_bytes<T: Code, const K: usize>(packed: &[u8], out: &mut [T], base: u32) {
    for (group, &byte) in out.chunks_mut(K).zip(packed) {
        let mut rest = u32::from(byte);
        for (at, slot) in group.iter_mut().enumerate() {
            let digit = if at + 1 == K { rest } else { rest % base };
            *slot = T::new(digit as u16);
            rest /= base;
        }
    }
}

/// Where the entries of a side stand among the codes that its blocks hold.
///
/// Entries come in rows: runs in which only the least significant digit of the index changes. Rows that
/// are padded begin on a byte of their own, so that like rows are like bytes. What is between them is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    entries: u64,
    /// Entries in a row; 0 if rows are not padded.
    row: u32,
    /// Places that a row takes.
    padded: u64,
    count: u64,
}

impl Places {
    /// The places of entries in rows that are not padded.
    #[must_use]
    pub const fn unpadded(entries: u64) -> Self {
        Self {
            entries,
            row: 0,
            padded: 0,
            count: entries,
        }
    }

    /// The places of `entries` entries in padded rows of `row`, or one after the other if `row` is 0.
    /// `None` if the entries are no whole number of rows or the places are too many to count.
    #[must_use]
    pub const fn new(packing: Packing, entries: u64, row: u32) -> Option<Self> {
        if row == 0 {
            return Some(Self::unpadded(entries));
        }
        let mut padded = row as u64;
        if !entries.is_multiple_of(padded) {
            return None;
        }
        let rows = entries / padded;
        if packing.per_byte() > 1 {
            padded = padded.next_multiple_of(packing.per_byte() as u64);
        }
        match rows.checked_mul(padded) {
            Some(count) => Some(Self {
                entries,
                row,
                padded,
                count,
            }),
            None => None,
        }
    }

    /// How many entries there are.
    #[must_use]
    pub const fn entries(self) -> u64 {
        self.entries
    }

    /// How many places there are, those of padding included.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.count
    }

    /// The place of an entry below [`Places::entries`].
    #[inline(always)]
    #[must_use]
    pub const fn of(self, entry: u64) -> u64 {
        if self.row == 0 {
            return entry;
        }
        // Dividing 64 bits is slow on many processors.
        let number = if entry >> 32 == 0 {
            (entry as u32 / self.row) as u64
        } else {
            entry / self.row as u64
        };
        entry + number * (self.padded - self.row as u64)
    }

    /// How many entries stand before a place.
    #[must_use]
    pub const fn entries_before(self, place: u64) -> u64 {
        if self.row == 0 {
            return place;
        }
        let (within, row) = (place % self.padded, self.row as u64);
        place / self.padded * row + if within < row { within } else { row }
    }

    /// Splits places, from one that an entry has, into entries and padding: calls `visit` with how many
    /// entries follow and how many places of padding after them.
    pub fn for_each_row(self, places: Range<u64>, mut visit: impl FnMut(usize, usize)) {
        let mut left = places.end.saturating_sub(places.start);
        if self.row == 0 {
            visit(left as usize, 0);
            return;
        }
        let row = u64::from(self.row);
        let mut within = places.start % self.padded;
        while left > 0 {
            let entries = row.saturating_sub(within).min(left);
            let padding = (self.padded - within.max(row)).min(left - entries);
            visit(entries as usize, padding as usize);
            left -= entries + padding;
            within = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_back() {
        for (codes, row, padded) in [
            (3, 28, 30),
            (3, 3, 5),
            (2, 1, 8),
            (5, 3, 3),
            (300, 7, 7),
            (1, 7, 7),
            (3, 0, 0),
        ] {
            let packing = Packing::new(codes);
            let rows = 9;
            let entries = rows * u64::from(row.max(1));
            let places = Places::new(packing, entries, row).unwrap();
            assert_eq!(places.count(), rows * padded.max(1));
            let mut taken = Vec::new();
            for entry in 0..entries {
                let place = places.of(entry);
                assert_eq!(
                    place,
                    if row == 0 {
                        entry
                    } else {
                        entry / u64::from(row) * padded + entry % u64::from(row)
                    }
                );
                taken.push(place);
            }
            for place in 0..=places.count() {
                let before = taken.iter().filter(|&&other| other < place).count() as u64;
                assert_eq!(places.entries_before(place), before);
            }
            for start in taken.iter().copied() {
                for end in start..=places.count() {
                    let mut at = start;
                    places.for_each_row(start..end, |entries, padding| {
                        for _ in 0..entries {
                            assert!(taken.contains(&at));
                            at += 1;
                        }
                        for _ in 0..padding {
                            assert!(!taken.contains(&at));
                            at += 1;
                        }
                    });
                    assert_eq!(at, end);
                }
            }
        }
        let packing = Packing::new(3);
        assert_eq!(Places::new(packing, 29, 28), None);
        assert_eq!(Places::new(packing, u64::MAX, 1), None);
        let far = Places::new(packing, 28 << 50, 28).unwrap();
        assert_eq!(far.of((28 << 40) + 5), (30 << 40) + 5);
        let wide = Places::new(packing, u64::from(u32::MAX) * 3, u32::MAX).unwrap();
        assert_eq!(
            wide.of(u64::from(u32::MAX) + 1),
            u64::from(u32::MAX).next_multiple_of(5) + 1
        );
    }

    /// A small generator with a fixed seed: the tests see the same codes on every run.
    fn codes(count: usize, limit: u32, seed: u64) -> Vec<u16> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let step = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 32) % u64::from(limit.max(1))) as u16
        };
        std::iter::repeat_with(step).take(count).collect()
    }

    #[test]
    fn per_byte_follows_the_general_rule() {
        for c in 2..=256u128 {
            let k = (1..=8).rev().find(|&k| c.pow(k) <= 256);
            assert_eq!(Some(Packing::new(c as u32).per_byte()), k, "{c} codes");
        }
    }

    #[test]
    fn every_count_of_codes_round_trips() {
        for c in (0..=300).chain([1000, 32768, 65535, 65536]) {
            let packing = Packing::new(c);
            for count in (0..20).chain([1000]) {
                let mut given = codes(count, c, u64::from(c) + count as u64);
                if let (Some(last), true) = (given.last_mut(), c > 0) {
                    *last = (c - 1) as u16;
                }
                let mut packed = Vec::new();
                packing.pack(&given, &mut packed).unwrap();
                assert_eq!(packed.len() as u64, packing.bytes(count as u64));
                let mut wide = vec![0u16; count];
                packing.unpack(&packed, &mut wide).unwrap();
                assert_eq!(wide, given, "{c} codes");
                for (at, &code) in given.iter().enumerate() {
                    assert_eq!(packing.get(&packed, at), Some(code), "{c} codes, position {at}");
                }
                let mut narrow = vec![0u8; count];
                if c <= 256 {
                    packing.unpack(&packed, &mut narrow).unwrap();
                    assert!(narrow.iter().zip(&given).all(|(&a, &b)| u16::from(a) == b));
                } else {
                    assert!(packing.unpack(&packed, &mut narrow).is_err());
                }
            }
        }
    }

    #[test]
    fn first_entry_is_least_significant() {
        let mut out = Vec::new();
        Packing::new(3).pack(&[1u8, 2, 0, 0, 1, 2], &mut out).unwrap();
        assert_eq!(out, [1 + 2 * 3 + 81, 2]);
    }

    #[test]
    fn bytes_that_pack_nothing_are_refused() {
        for c in [3, 5, 7, 15, 200] {
            let packing = Packing::new(c);
            let mut out = vec![0u16; packing.per_byte() as usize];
            for byte in 0..=255u8 {
                let valid = u32::from(byte) < c.pow(packing.per_byte());
                assert_eq!(
                    packing.unpack(&[byte], &mut out).is_ok(),
                    valid,
                    "{c} codes, byte {byte}"
                );
                let found = (0..out.len()).any(|at| packing.get(&[byte], at).is_none_or(|d| u32::from(d) >= c));
                assert_eq!(!found, valid, "{c} codes, byte {byte}");
            }
        }
        assert!(Packing::new(3).unpack(&[0, 0], &mut [0u8; 5]).is_err());
        assert!(Packing::new(3).pack(&[3u8], &mut Vec::new()).is_err());
        assert_eq!(Packing::new(3).get(&[0], 5), None);
        assert_eq!(Packing::new(300).get(&[0], 0), None);
    }
}
