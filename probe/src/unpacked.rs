//! Values that are looked up without decoding or searching.

use crate::score::{Score, Value};

/// What came of [`Prober::warm`](crate::Prober::warm) or [`Prober::unpack`](crate::Prober::unpack).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Filled {
    /// Tables (warm) or sides to move of tables (unpack) that were asked for.
    pub asked: u32,
    /// Those of them that are now in memory as a whole, within the bytes that were allowed.
    pub done: u32,
    /// Bytes that these take, and with warm what fitted of the others.
    pub bytes: u64,
}

/// One value for each entry of an index, captures and all: two bits, the value bits of a [`Score`], or 3
/// where the placement is no position.
#[derive(Debug)]
pub(crate) struct Unpacked {
    bytes: Box<[u8]>,
}

const NO_POSITION: u8 = 3;

impl Unpacked {
    /// Memory for so many entries.
    pub(crate) fn bytes_for(entries: u64) -> u64 {
        entries.div_ceil(4)
    }

    /// So many entries, none of them a position.
    pub(crate) fn new(entries: u64) -> Self {
        Self {
            bytes: vec![u8::MAX; Self::bytes_for(entries) as usize].into(),
        }
    }

    pub(crate) fn set(&mut self, entry: u64, value: Value) {
        let code = (Score::new(value, 0).to_bits() >> 14) as u8;
        let shift = entry % 4 * 2;
        if let Some(byte) = self.bytes.get_mut((entry / 4) as usize) {
            *byte = *byte & !(3 << shift) | code << shift;
        }
    }

    /// The value of an entry; `None` if it is no position.
    #[inline(always)]
    pub(crate) fn get(&self, entry: u64) -> Option<Score> {
        let byte = *self.bytes.get((entry / 4) as usize)?;
        let code = byte >> (entry % 4 * 2) & 3;
        (code != NO_POSITION).then(|| Score::from_bits(u16::from(code) << 14))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back() {
        let mut unpacked = Unpacked::new(11);
        assert!((0..11).all(|entry| unpacked.get(entry).is_none()));
        let value = |entry| [Value::Win, Value::Draw, Value::Loss][entry as usize % 3];
        for entry in (0..11).filter(|entry| entry % 5 != 4) {
            unpacked.set(entry, Value::Loss);
            unpacked.set(entry, value(entry));
        }
        for entry in 0..11 {
            let expected = (entry % 5 != 4).then(|| Score::new(value(entry), 0));
            assert_eq!(unpacked.get(entry), expected);
        }
        assert_eq!(unpacked.get(12), None);
    }
}
