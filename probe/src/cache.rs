//! A cache of decoded blocks, shared by tables and bounded in bytes.
//!
//! A hit must stay cheap on many threads at once. Blocks of small tables, which every
//! search through captures ends in, are therefore never evicted and read without any
//! write to shared memory. The others sit behind one lock each, and the queue that
//! decides on eviction (second chance) is touched only on a miss.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, TryLockError, Weak};

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
    /// would cost more than the hit: they are the caller's own count of probes less this.
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
    queue: Mutex<VecDeque<(Weak<BlockSlots>, usize)>>,
}

/// The places for one table's decoded blocks.
#[derive(Debug)]
pub(crate) struct BlockSlots {
    slots: Box<[Slot]>,
    small: bool,
    shared: Arc<Shared>,
}

/// One cache line each, so that threads at neighbouring blocks do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot {
    kept: OnceLock<Box<[u8]>>,
    evictable: RwLock<Option<Box<[u8]>>>,
    /// Read since the queue last came by.
    recent: AtomicBool,
}

impl Default for BlockCache {
    fn default() -> Self {
        Self::new(DEFAULT_CACHE_BYTES)
    }
}

impl BlockCache {
    /// A cache of at most `budget` bytes of decoded blocks. With 0 every probe decodes its block.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                budget,
                bytes: AtomicU64::new(0),
                kept: AtomicU64::new(0),
                misses: AtomicU64::new(0),
                evictions: AtomicU64::new(0),
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
            small: table_bytes <= SMALL_TABLE_BYTES.max(self.shared.budget / SMALL_TABLE_PART),
            shared: Arc::clone(&self.shared),
        })
    }
}

impl BlockSlots {
    /// Calls `read` with the bytes of a block, which `decode` gives if the cache does not hold them.
    /// `None` if there is no such block.
    ///
    /// # Errors
    /// Those of `decode`; nothing is then cached.
    #[inline]
    pub(crate) fn read<R, E>(
        self: &Arc<Self>,
        block: usize,
        decode: impl FnOnce() -> Result<Box<[u8]>, E>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, E> {
        let Some(slot) = self.slots.get(block) else {
            return Ok(None);
        };
        if let Some(bytes) = slot.kept.get() {
            return Ok(Some(read(bytes)));
        }
        {
            // A poisoned lock still guards whole blocks: they are put in at one stroke.
            let held = slot.evictable.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(bytes) = &*held {
                if !slot.recent.load(Relaxed) {
                    slot.recent.store(true, Relaxed);
                }
                return Ok(Some(read(bytes)));
            }
        }
        self.miss(block, slot, decode, read).map(Some)
    }

    #[cold]
    fn miss<R, E>(
        self: &Arc<Self>,
        block: usize,
        slot: &Slot,
        decode: impl FnOnce() -> Result<Box<[u8]>, E>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, E> {
        // Held while decoding: threads that want the same block wait for it instead of decoding it too.
        let mut place = slot.evictable.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = slot.kept.get().or(place.as_ref()) {
            return Ok(read(bytes));
        }
        self.shared.misses.fetch_add(1, Relaxed);
        let bytes = decode()?;
        let result = read(&bytes);
        let length = bytes.len() as u64;
        if self.small && self.shared.reserve(length, None) {
            // Cannot be set yet: it is set under the lock held here and was empty.
            let _ = slot.kept.set(bytes);
        } else if self.shared.reserve(length, Some((Arc::downgrade(self), block))) {
            slot.recent.store(false, Relaxed);
            *place = Some(bytes);
        }
        Ok(result)
    }
}

impl Shared {
    /// Makes room for `length` bytes and counts them. With a `place` the block may be evicted
    /// later and is put in the queue, else it is kept. False if there can be no room.
    ///
    /// The caller holds the lock of the new block's slot, so other slots are only tried here:
    /// one that is locked is in use and stays.
    fn reserve(&self, length: u64, place: Option<(Weak<BlockSlots>, usize)>) -> bool {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = self.kept.load(Relaxed).saturating_add(length);
        if length > self.budget || (place.is_none() && kept > self.budget / 2) {
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
            }
        }
        self.bytes.fetch_add(length, Relaxed);
        match place {
            Some(place) => queue.push_back(place),
            None => self.kept.store(kept, Relaxed),
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

    fn block(fill: u8, length: usize) -> Result<Box<[u8]>, ()> {
        Ok(vec![fill; length].into())
    }

    fn first(slots: &Arc<BlockSlots>, at: usize, length: usize) -> u8 {
        slots.read(at, || block(at as u8, length), |b| b[0]).unwrap().unwrap()
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
        assert_eq!(slots.read(0, || Err(7), |b| b[0]), Err(7));
        assert_eq!(slots.read(1, || Err(7), |b| b[0]), Ok(None));
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
                    for _ in 0..20_000 {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        let (table, at) = ((state >> 33) % 3, (state >> 40) % 40);
                        assert_eq!(u64::from(first(&tables[table as usize], at as usize, 1000)), at);
                        assert!(cache.stats().bytes <= 8_000);
                    }
                });
            }
        });
        drop(tables);
        assert_eq!(cache.stats().bytes, 0);
    }
}
