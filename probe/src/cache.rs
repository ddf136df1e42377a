//! A cache of decoded blocks, shared by tables and bounded in bytes.
//!
//! A hit must stay cheap on many threads at once. Blocks of small tables, which every
//! search through captures ends in, and blocks that were asked to be warm are never
//! evicted and read without any write to shared memory. The others sit behind one lock
//! each, and the queue that decides on eviction (second chance) is touched only on a miss.
//! A reader with memory of its own ([`Reader`]) passes even those locks by where it comes
//! back to a block, and takes the memory of blocks that are evicted for those it decodes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, TryLockError, Weak};

use crate::reader::{Decoder, Reader};

/// The byte budget of [`BlockCache::default`]: 64 MiB.
pub const DEFAULT_CACHE_BYTES: u64 = 64 << 20;

/// Tables of at most so many packed bytes, or of such a part of the budget if that is more, keep their blocks, as
/// long as such blocks fill no more than half of the budget.
const SMALL_TABLE_BYTES: u64 = 1 << 20;
const SMALL_TABLE_PART: u64 = 64;

/// A handle to a cache; clones share it.
#[derive(Clone, Debug)]
pub struct BlockCache {
    shared: Arc<Shared>,
}

/// What a cache holds and has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheStats {
    /// The most bytes of decoded blocks the cache may hold.
    pub budget: u64,
    /// Bytes of decoded blocks held now.
    pub bytes: u64,
    /// Blocks decoded so far because they were not held. Hits are not counted, as counting
    /// would cost more than the hit: they are the look-ups less this, of which a probe
    /// makes one or, for a position with captures, several.
    pub misses: u64,
    /// Blocks dropped so far to make room.
    pub evictions: u64,
}

#[derive(Debug)]
struct Shared {
    budget: u64,
    /// Grows only under the lock of `queue`.
    bytes: AtomicU64,
    /// The part of `bytes` that is never evicted.
    kept: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
    /// Numbers given to the blocks of all tables so far.
    numbers: AtomicU64,
    queue: Mutex<VecDeque<(Weak<BlockSlots>, usize)>>,
}

/// The places for one table's decoded blocks.
#[derive(Debug)]
pub(crate) struct BlockSlots {
    slots: Box<[Slot]>,
    /// The number of the first block, among all blocks of the cache.
    first: u64,
    small: bool,
    shared: Arc<Shared>,
}

/// One cache line each, so that threads at neighbouring blocks do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot {
    kept: OnceLock<Arc<[u8]>>,
    evictable: RwLock<Option<Arc<[u8]>>>,
    /// Read since the queue last came by.
    recent: AtomicBool,
}

/// How long a block that is put in stays.
enum Stay {
    /// For good, if all such blocks fill at most so many bytes.
    Kept(u64),
    /// Until it is evicted.
    Evictable(Weak<BlockSlots>, usize),
}

impl Default for BlockCache {
    fn default() -> Self {
        Self::new(DEFAULT_CACHE_BYTES)
    }
}

impl BlockCache {
    /// A cache of at most `budget` bytes of decoded blocks. With 0 it holds nothing: every probe that finds its block
    /// neither in its [`Handle`](crate::Handle) nor kept by [`Prober::warm`](crate::Prober::warm) decodes it.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                budget,
                bytes: AtomicU64::new(0),
                kept: AtomicU64::new(0),
                misses: AtomicU64::new(0),
                evictions: AtomicU64::new(0),
                numbers: AtomicU64::new(0),
                queue: Mutex::new(VecDeque::new()),
            }),
        }
    }

    /// What the cache holds and has done so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            budget: self.shared.budget,
            bytes: self.shared.bytes.load(Relaxed),
            misses: self.shared.misses.load(Relaxed),
            evictions: self.shared.evictions.load(Relaxed),
        }
    }

    /// Places for `count` blocks of one table, `table_bytes` long together when decoded.
    pub(crate) fn slots(&self, count: usize, table_bytes: u64) -> Arc<BlockSlots> {
        Arc::new(BlockSlots {
            slots: std::iter::repeat_with(Slot::default).take(count).collect(),
            first: self.shared.numbers.fetch_add(count as u64, Relaxed),
            small: table_bytes <= SMALL_TABLE_BYTES.max(self.shared.budget / SMALL_TABLE_PART),
            shared: Arc::clone(&self.shared),
        })
    }
}

impl BlockSlots {
    /// Calls `read` with the `length` bytes of a block, which `decode` writes if nobody holds them.
    /// `None` if there is no such block.
    ///
    /// # Errors
    /// Those of `decode`; nothing is then cached.
    #[inline]
    pub(crate) fn read<D: Reader, R, E>(
        self: &Arc<Self>,
        block: usize,
        reader: &mut D,
        length: impl FnOnce() -> usize,
        decode: impl FnOnce(&mut Decoder, &mut [u8]) -> Result<(), E>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, E> {
        let Some(slot) = self.slots.get(block) else {
            return Ok(None);
        };
        if let Some(bytes) = slot.kept.get() {
            return Ok(Some(read(bytes)));
        }
        let number = self.first + block as u64;
        if let Some(bytes) = reader.held(number) {
            return Ok(Some(read(bytes)));
        }
        {
            // A poisoned lock still guards whole blocks: they are put in at one stroke.
            let held = slot.evictable.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(bytes) = &*held {
                if !slot.recent.load(Relaxed) {
                    slot.recent.store(true, Relaxed);
                }
                reader.seen(number, bytes);
                return Ok(Some(read(bytes)));
            }
        }
        self.miss(block, slot, reader, length(), decode, read).map(Some)
    }

    #[cold]
    fn miss<D: Reader, R, E>(
        self: &Arc<Self>,
        block: usize,
        slot: &Slot,
        reader: &mut D,
        length: usize,
        decode: impl FnOnce(&mut Decoder, &mut [u8]) -> Result<(), E>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, E> {
        // Held while decoding: threads that want the same block wait for it instead of decoding it too.
        let mut place = slot.evictable.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = slot.kept.get().or(place.as_ref()) {
            return Ok(read(bytes));
        }
        self.shared.misses.fetch_add(1, Relaxed);
        reader.missed();
        let bytes = reader.with_decoder(|decoder| decoder.block(length, decode))?;
        let result = read(&bytes);
        let bytes_long = length as u64;
        if self.small
            && self
                .shared
                .reserve(bytes_long, Stay::Kept(self.shared.budget / 2), reader)
        {
            // Cannot be set yet: it is set under the lock held here and was empty.
            let _ = slot.kept.set(bytes);
        } else if self
            .shared
            .reserve(bytes_long, Stay::Evictable(Arc::downgrade(self), block), reader)
        {
            slot.recent.store(false, Relaxed);
            *place = Some(bytes);
        } else {
            reader.left_over(self.first + block as u64, bytes);
        }
        Ok(result)
    }

    /// Decodes a block unless it is held, and keeps it for good, as long as such blocks fill at most the
    /// whole budget. `None` if there is no room (or no such block), else the bytes that it now takes.
    ///
    /// # Errors
    /// Those of `decode`.
    pub(crate) fn keep<D: Reader, E>(
        &self,
        block: usize,
        reader: &mut D,
        length: usize,
        decode: impl FnOnce(&mut Decoder, &mut [u8]) -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        let Some(slot) = self.slots.get(block) else {
            return Ok(None);
        };
        let mut place = slot.evictable.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = slot.kept.get() {
            return Ok(Some(bytes.len() as u64));
        }
        let bytes = match place.take() {
            Some(bytes) => {
                // Counted again below, as bytes that are kept.
                self.shared.bytes.fetch_sub(bytes.len() as u64, Relaxed);
                bytes
            }
            None => {
                self.shared.misses.fetch_add(1, Relaxed);
                reader.with_decoder(|decoder| decoder.block(length, decode))?
            }
        };
        let length = bytes.len() as u64;
        if !self.shared.reserve(length, Stay::Kept(self.shared.budget), reader) {
            return Ok(None);
        }
        let _ = slot.kept.set(bytes);
        Ok(Some(length))
    }

    /// Whether a block is held by the cache.
    pub(crate) fn holds(&self, block: usize) -> bool {
        self.slots.get(block).is_some_and(|slot| {
            slot.kept.get().is_some() || slot.evictable.try_read().is_ok_and(|place| place.is_some())
        })
    }
}

impl Shared {
    /// Makes room for `length` bytes and counts them. False if there can be no room.
    ///
    /// The caller holds the lock of the new block's slot, so other slots are only tried here:
    /// one that is locked is in use and stays.
    fn reserve<D: Reader>(&self, length: u64, stay: Stay, reader: &mut D) -> bool {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = self.kept.load(Relaxed).saturating_add(length);
        let most_kept = match stay {
            Stay::Kept(most) => most,
            Stay::Evictable(..) => u64::MAX,
        };
        if length > self.budget || kept > most_kept {
            return false;
        }
        // Twice round gives every block its second chance and then takes it.
        let mut turns = 2 * queue.len();
        while self.bytes.load(Relaxed).saturating_add(length) > self.budget {
            let Some((slots, block)) = queue.pop_front().filter(|_| turns > 0) else {
                return false;
            };
            turns -= 1;
            // Blocks of a dropped table have been discounted with it.
            let Some(table) = slots.upgrade() else { continue };
            let Some(slot) = table.slots.get(block) else { continue };
            let mut held = match slot.evictable.try_write() {
                Ok(held) => held,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    queue.push_back((slots, block));
                    continue;
                }
            };
            if slot.recent.swap(false, Relaxed) {
                queue.push_back((slots, block));
            } else if let Some(bytes) = held.take() {
                self.bytes.fetch_sub(bytes.len() as u64, Relaxed);
                self.evictions.fetch_add(1, Relaxed);
                reader.evicted(bytes);
            }
        }
        self.bytes.fetch_add(length, Relaxed);
        match stay {
            Stay::Evictable(slots, block) => queue.push_back((slots, block)),
            Stay::Kept(_) => self.kept.store(kept, Relaxed),
        }
        true
    }
}

impl Drop for BlockSlots {
    /// Gives the bytes back. Takes no lock of the queue, as it may run under it.
    fn drop(&mut self) {
        for slot in &mut self.slots {
            let kept = slot.kept.get().map_or(0, |bytes| bytes.len() as u64);
            let held = slot.evictable.get_mut().unwrap_or_else(PoisonError::into_inner);
            let held = held.as_ref().map_or(0, |bytes| bytes.len() as u64);
            self.shared.kept.fetch_sub(kept, Relaxed);
            self.shared.bytes.fetch_sub(kept + held, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{Own, Passing};

    fn fill(at: usize) -> impl FnOnce(&mut Decoder, &mut [u8]) -> Result<(), ()> {
        move |_, out| {
            out.fill(at as u8);
            Ok(())
        }
    }

    fn first_by(slots: &Arc<BlockSlots>, at: usize, length: usize, reader: &mut impl Reader) -> u8 {
        let read = slots.read(at, reader, || length, fill(at), |b| b[0]);
        read.unwrap().unwrap()
    }

    fn first(slots: &Arc<BlockSlots>, at: usize, length: usize) -> u8 {
        first_by(slots, at, length, &mut Passing)
    }

    #[test]
    fn budget_holds_and_recent_blocks_stay() {
        let cache = BlockCache::new(10_000);
        let slots = cache.slots(100, u64::MAX);
        for round in 0..300 {
            assert_eq!(first(&slots, 0, 1000), 0);
            assert_eq!(first(&slots, round % 100, 1000), (round % 100) as u8);
            assert!(cache.stats().bytes <= 10_000);
        }
        let before = cache.stats();
        first(&slots, 0, 1000);
        assert_eq!(
            cache.stats().misses,
            before.misses,
            "the block read all the time was evicted"
        );
        assert!(before.evictions > 0);
        drop(slots);
        assert_eq!(cache.stats().bytes, 0);
    }

    #[test]
    fn small_tables_are_kept_within_half_the_budget() {
        let cache = BlockCache::new(10_000);
        let small = cache.slots(20, 20_000);
        let large = cache.slots(200, u64::MAX);
        (0..20).for_each(|at| assert_eq!(first(&small, at, 1000), at as u8));
        (0..200).for_each(|at| assert_eq!(first(&large, at, 1000), at as u8));
        assert!(cache.stats().bytes <= 10_000);
        let misses = cache.stats().misses;
        (0..5).for_each(|at| assert_eq!(first(&small, at, 1000), at as u8));
        assert_eq!(cache.stats().misses, misses, "kept blocks were evicted");
        (0..20).for_each(|at| assert_eq!(first(&small, at, 1000), at as u8));
        drop((small, large));
        assert_eq!(cache.stats().bytes, 0);
        assert_eq!(cache.shared.kept.load(Relaxed), 0);
    }

    #[test]
    fn nothing_fits_and_errors_are_not_cached() {
        let cache = BlockCache::new(0);
        let slots = cache.slots(1, 5);
        assert_eq!(first(&slots, 0, 5), 0);
        assert_eq!(first(&slots, 0, 5), 0);
        assert_eq!(
            cache.stats(),
            CacheStats {
                budget: 0,
                bytes: 0,
                misses: 2,
                evictions: 0
            }
        );
        let broken = |_: &mut Decoder, _: &mut [u8]| Err(7);
        assert_eq!(slots.read(0, &mut Passing, || 5, broken, |b| b[0]), Err(7));
        assert_eq!(slots.read(1, &mut Passing, || 5, broken, |b| b[0]), Ok(None));
    }

    #[test]
    fn threads_agree_and_keep_the_budget() {
        let cache = BlockCache::new(8_000);
        let tables: Vec<_> = (0..3)
            .map(|i| cache.slots(40, if i == 0 { 40_000 } else { u64::MAX }))
            .collect();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (cache, tables) = (&cache, &tables);
                scope.spawn(move || {
                    let mut state = thread + 1;
                    let mut own = Own::default();
                    for _ in 0..20_000 {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        let (table, at) = ((state >> 33) % 3, (state >> 40) % 40);
                        let table = &tables[table as usize];
                        let found = if thread % 2 == 0 {
                            first(table, at as usize, 1000)
                        } else {
                            first_by(table, at as usize, 1000, &mut own)
                        };
                        assert_eq!(u64::from(found), at);
                        assert!(cache.stats().bytes <= 8_000);
                    }
                });
            }
        });
        drop(tables);
        assert_eq!(cache.stats().bytes, 0);
    }

    #[test]
    fn warm_blocks_stay_and_fill_the_whole_budget() {
        let cache = BlockCache::new(10_000);
        let slots = cache.slots(100, u64::MAX);
        // Some are there already, and become kept ones.
        (0..5).for_each(|at| assert_eq!(first(&slots, at, 1000), at as u8));
        for at in 0..10 {
            assert_eq!(slots.keep(at, &mut Passing, 1000, fill(at)), Ok(Some(1000)));
        }
        assert_eq!(slots.keep(10, &mut Passing, 1000, fill(10)), Ok(None));
        assert_eq!(slots.keep(3, &mut Passing, 1000, fill(99)), Ok(Some(1000)));
        assert_eq!(cache.stats().bytes, 10_000);
        let misses = cache.stats().misses;
        (0..100).for_each(|at| assert_eq!(first(&slots, at, 1000), at as u8));
        assert_eq!(cache.stats().misses, misses + 90);
        (0..10).for_each(|at| assert!(slots.holds(at)));
        assert!(!slots.holds(10) && !slots.holds(100));
        drop(slots);
        assert_eq!(cache.stats().bytes, 0);
        assert_eq!(cache.shared.kept.load(Relaxed), 0);
    }

    #[test]
    fn a_reader_of_its_own_comes_back_without_the_cache() {
        let cache = BlockCache::new(0);
        let slots = cache.slots(100, u64::MAX);
        let mut own = Own::default();
        for _ in 0..10 {
            assert_eq!(first_by(&slots, 7, 1000, &mut own), 7);
        }
        assert_eq!(cache.stats().misses, 1);
        // Another table's block of the same place is another block.
        let other = cache.slots(100, u64::MAX);
        let read = other.read(7, &mut own, || 1000, fill(8), |b| b[0]);
        assert_eq!(read, Ok(Some(8)));
        assert_eq!(first_by(&slots, 7, 1000, &mut own), 7);
    }
}
