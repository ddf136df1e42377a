//! Looking something up by the pieces of a placement.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by the keys of placements (`petrov_games::Placement::key`).
pub type KeyMap<T> = HashMap<u128, T, BuildHasherDefault<KeyHasher>>;

/// Hashes keys of placements, of which there are few, by one multiplication.
#[derive(Clone, Copy, Default, Debug)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u128(u128::from(*byte) ^ u128::from(self.0));
        }
    }

    #[inline(always)]
    fn write_u128(&mut self, key: u128) {
        // Fibonacci hashing (Knuth, The Art of Computer Programming 6.4).
        let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(29);
        let product = u128::from(folded) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}
