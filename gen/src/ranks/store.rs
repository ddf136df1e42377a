//! Pages of values: each has a rank that is its home.
//!
//! Whoever solves positions puts their values into pages. A page that is
//! complete is compressed, never changes again, and is given to everyone who
//! asks; asking before that means waiting.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use petrov_probe::{Metric, Score};
use serde::{Deserialize, Serialize};

use super::post::{Kind, Post};
use crate::message;
use crate::values::{Elsewhere, Page};

/// A page of a run: which pass, which slice of the plan, which side, which
/// page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(super) struct PageName {
    pub(super) pass: u32,
    pub(super) slice: u32,
    pub(super) side: u8,
    pub(super) page: u64,
}

/// How a side's values are cut into pages. A page never has values of two
/// units, so that units can be solved one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pages {
    pub(super) only_outcomes: bool,
    /// Values in all.
    pub(super) len: u64,
    /// Values of a unit, or of all if one rank has them all.
    unit: u64,
    pages_per_unit: u64,
    /// The rank that is home to all pages, or none if they are spread.
    owner: Option<usize>,
    ranks: usize,
}

/// Values of a page, as a power of two.
const PAGE_BITS: u32 = 18;

impl Pages {
    pub(super) fn new(metric: Metric, len: u64, unit: u64, owner: Option<usize>, ranks: usize) -> Self {
        let unit = if owner.is_some() { len } else { unit }.max(1);
        Self {
            only_outcomes: metric == Metric::Wld,
            len,
            unit,
            pages_per_unit: unit.div_ceil(1 << PAGE_BITS),
            owner,
            ranks,
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.len / self.unit * self.pages_per_unit
    }

    /// The pages of a unit.
    pub(super) fn of_unit(&self, unit: u64) -> std::ops::Range<u64> {
        unit * self.pages_per_unit..(unit + 1) * self.pages_per_unit
    }

    /// The page of a value and its place there.
    #[inline(always)]
    fn find(&self, index: u64) -> (u64, usize) {
        // Often there is one unit only.
        let (unit, within) = if index < self.unit {
            (0, index)
        } else {
            (index / self.unit, index % self.unit)
        };
        (
            unit * self.pages_per_unit + (within >> PAGE_BITS),
            (within & ((1 << PAGE_BITS) - 1)) as usize,
        )
    }

    /// The values of a page.
    pub(super) fn range(&self, page: u64) -> std::ops::Range<u64> {
        let (unit, number) = (page / self.pages_per_unit, page % self.pages_per_unit);
        let start = unit * self.unit;
        start + (number << PAGE_BITS)..start + ((number + 1) << PAGE_BITS).min(self.unit)
    }

    pub(super) fn len_of(&self, page: u64) -> usize {
        let range = self.range(page);
        (range.end - range.start) as usize
    }

    /// The home of a page: units are spread by their number, and the pages of
    /// a large unit like its rows.
    pub(super) fn home(&self, page: u64) -> usize {
        if let Some(owner) = self.owner {
            return owner;
        }
        let ranks = self.ranks as u64;
        let (unit, number) = (page / self.pages_per_unit, page % self.pages_per_unit);
        ((self.home_of_unit(unit) as u64 + number * ranks / self.pages_per_unit) % ranks) as usize
    }

    /// The rank that is home to the first page of a unit.
    pub(super) fn home_of_unit(&self, unit: u64) -> usize {
        // Neighbouring units cost the same, but every n-th may be special.
        let mixed = unit.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        if self.len == self.unit {
            0
        } else {
            (mixed % self.ranks as u64) as usize
        }
    }
}

/// A complete page, compressed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sealed {
    pub(super) values: Arc<[u8]>,
    /// Whether values are free, as long as that is needed.
    pub(super) free: Arc<[u8]>,
}

/// The fastest level: what costs little and still is a fifth of the size.
const LEVEL: i32 = 1;

impl Sealed {
    pub(super) fn new(page: &Page) -> Self {
        let pack = |bytes: &[u8]| -> Arc<[u8]> {
            zstd::bulk::compress(bytes, LEVEL)
                .expect("compressing in memory")
                .into()
        };
        Self {
            values: pack(&page.values),
            free: pack(&page.free),
        }
    }

    /// The values, if these are bytes of a page of so many.
    fn open(bytes: &[u8], capacity: usize) -> Option<Vec<u8>> {
        let bytes = zstd::bulk::decompress(bytes, capacity).ok()?;
        (bytes.len() == capacity).then_some(bytes)
    }

    pub(super) fn page(&self, pages: &Pages, len: usize) -> Option<Page> {
        let mut page = Page::new(pages.only_outcomes, len);
        page.values = Self::open(&self.values, page.values.len())?;
        page.free = Self::open(&self.free, page.free.len())?;
        Some(page)
    }
}

/// A page at its home.
#[derive(Default)]
struct HomePage {
    /// Values not complete yet, and how many there are.
    open: Option<(Page, usize)>,
    sealed: Option<Sealed>,
    /// Ranks that have asked, and whether they want to know what is free.
    asked: Vec<(usize, bool)>,
}

/// So that threads rarely wait for each other.
const SHARDS: usize = 32;

/// The pages of a rank.
#[derive(Default)]
pub(super) struct Store {
    homes: [Mutex<HashMap<PageName, HomePage>>; SHARDS],
    /// Answers to what threads of this rank have asked for.
    answers: Mutex<HashMap<(PageName, bool), Vec<Sealed>>>,
    changed: Condvar,
}

#[derive(Serialize, Deserialize)]
struct Ask {
    name: PageName,
    with_free: bool,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    name: PageName,
    with_free: bool,
    page: Sealed,
}

/// Values for a page: from which place on, and how many.
#[derive(Serialize, Deserialize)]
struct Put {
    name: PageName,
    only_outcomes: bool,
    len: u64,
    from: u64,
    count: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Post {
    /// Answers a rank that asks for a page, now or when it is complete.
    pub(super) fn answer(&self, from: usize, message: &[u8]) -> Option<()> {
        let (ask, _) = message::decode::<Ask>(message).ok()?;
        let mut homes = self.store.shard(ask.name);
        let home = homes.entry(ask.name).or_default();
        match &home.sealed {
            Some(sealed) => self.give(from, ask.name, ask.with_free, sealed),
            None => home.asked.push((from, ask.with_free)),
        }
        Some(())
    }

    fn give(&self, to: usize, name: PageName, with_free: bool, sealed: &Sealed) {
        let free = if with_free { sealed.free.clone() } else { Arc::default() };
        let page = Sealed {
            values: sealed.values.clone(),
            free,
        };
        let answer = Answer { name, with_free, page };
        if to == self.rank {
            self.take_answer(answer);
        } else {
            self.send(to, Kind::Page, message::encode(&answer, &[]));
        }
    }

    /// Takes an answer that has arrived.
    pub(super) fn take_page(&self, message: &[u8]) -> Option<()> {
        let (answer, _) = message::decode::<Answer>(message).ok()?;
        self.take_answer(answer);
        Some(())
    }

    fn take_answer(&self, answer: Answer) {
        let mut answers = lock(&self.store.answers);
        answers
            .entry((answer.name, answer.with_free))
            .or_default()
            .push(answer.page);
        self.store.changed.notify_all();
    }

    /// A page, wherever it is. Waits until it is complete.
    pub(super) fn fetch(&self, pages: &Pages, name: PageName, with_free: bool) -> Sealed {
        let home = pages.home(name.page);
        if home == self.rank {
            let mut homes = self.store.shard(name);
            let home = homes.entry(name).or_default();
            if let Some(sealed) = &home.sealed {
                return sealed.clone();
            }
            home.asked.push((self.rank, with_free));
        } else {
            self.send(home, Kind::Ask, message::encode(&Ask { name, with_free }, &[]));
        }
        self.wait(|| {
            let mut answers = lock(&self.store.answers);
            loop {
                // Several threads may have asked, and each gets an answer.
                if let Some(pages) = answers.get_mut(&(name, with_free))
                    && let Some(page) = pages.pop()
                {
                    if pages.is_empty() {
                        answers.remove(&(name, with_free));
                    }
                    return page;
                }
                answers = self.store.changed.wait(answers).unwrap_or_else(PoisonError::into_inner);
            }
        })
    }

    /// Puts values into the pages they belong to.
    pub(super) fn put(&self, pages: &Pages, name: PageName, from: u64, values: &[(u16, bool)]) {
        let (mut from, mut rest) = (from, values);
        while !rest.is_empty() {
            let (page, at) = pages.find(from);
            let len = pages.len_of(page);
            let (here, left) = rest.split_at(rest.len().min(len - at));
            let name = PageName { page, ..name };
            let home = pages.home(page);
            if home == self.rank {
                self.put_here(name, pages.only_outcomes, len, at, here.iter().copied());
            } else {
                let mut packed = Page::new(pages.only_outcomes, here.len());
                here.iter()
                    .enumerate()
                    .for_each(|(n, (bits, free))| packed.set(n, *bits, *free));
                let put = Put {
                    name,
                    only_outcomes: pages.only_outcomes,
                    len: len as u64,
                    from: at as u64,
                    count: here.len() as u64,
                };
                self.send(home, Kind::Put, message::encode(&put, &[&packed.values, &packed.free]));
            }
            from += here.len() as u64;
            rest = left;
        }
    }

    /// Takes values that have arrived for a page.
    pub(super) fn take_put(&self, message: &[u8]) -> Option<()> {
        let (put, raw) = message::decode::<Put>(message).ok()?;
        let (from, count) = (put.from as usize, put.count as usize);
        let mut packed = Page::new(put.only_outcomes, count);
        let (values, free) = raw.split_at_checked(packed.values.len())?;
        packed.values.copy_from_slice(values);
        (free.len() == packed.free.len()).then(|| packed.free.copy_from_slice(free))?;
        let values = (0..count).map(|at| packed.get(at));
        self.put_here(put.name, put.only_outcomes, put.len as usize, from, values);
        Some(())
    }

    fn put_here(
        &self,
        name: PageName,
        only_outcomes: bool,
        len: usize,
        from: usize,
        values: impl ExactSizeIterator<Item = (u16, bool)>,
    ) {
        let mut homes = self.store.shard(name);
        let home = homes.entry(name).or_default();
        let (page, known) = home.open.get_or_insert_with(|| (Page::new(only_outcomes, len), 0));
        *known += values.len();
        for (at, (bits, free)) in (from..).zip(values) {
            page.set(at, bits, free);
        }
        if *known == len
            && let Some((page, _)) = home.open.take()
        {
            // Compressing takes a while, and others want their pages.
            drop(homes);
            self.seal(name, Sealed::new(&page));
        }
    }

    /// Gives a complete page to its home.
    pub(super) fn send_sealed(&self, home: usize, name: PageName, sealed: Sealed) {
        if home == self.rank {
            self.seal(name, sealed);
        } else {
            self.send(home, Kind::Seal, message::encode(&(name, sealed), &[]));
        }
    }

    pub(super) fn take_sealed(&self, message: &[u8]) -> Option<()> {
        let ((name, sealed), _) = message::decode::<(PageName, Sealed)>(message).ok()?;
        self.seal(name, sealed);
        Some(())
    }

    /// Keeps a complete page of which this rank is the home.
    pub(super) fn seal(&self, name: PageName, sealed: Sealed) {
        let asked = {
            let mut homes = self.store.shard(name);
            let home = homes.entry(name).or_default();
            home.sealed = Some(sealed.clone());
            home.open = None;
            std::mem::take(&mut home.asked)
        };
        for (to, with_free) in asked {
            self.give(to, name, with_free, &sealed);
        }
    }
}

impl Store {
    fn shard(&self, name: PageName) -> MutexGuard<'_, HashMap<PageName, HomePage>> {
        let mixed =
            (name.page ^ u64::from(name.slice) << 20 ^ u64::from(name.side) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        lock(&self.homes[(mixed >> 40) as usize % SHARDS])
    }

    /// Complete pages of which this rank is the home, if `choose` likes them.
    pub(super) fn sealed(&self, choose: impl Fn(PageName) -> bool) -> Vec<(PageName, Sealed)> {
        let mut all = Vec::new();
        for homes in &self.homes {
            let homes = lock(homes);
            let chosen = homes.iter().filter(|(name, _)| choose(**name));
            all.extend(chosen.filter_map(|(name, home)| Some((*name, home.sealed.clone()?))));
        }
        all
    }

    /// Forgets a slice.
    pub(super) fn forget(&self, pass: u32, slice: u32) {
        for homes in &self.homes {
            lock(homes).retain(|name, _| (name.pass, name.slice) != (pass, slice));
        }
    }
}

/// The values of a side, read page by page as they are asked for.
pub(super) struct Paged {
    post: Arc<Post>,
    pages: Pages,
    /// Its page is 0.
    name: PageName,
    read: Box<[OnceLock<Box<[u8]>>]>,
}

impl std::fmt::Debug for Paged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Paged")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Paged {
    pub(super) fn new(post: Arc<Post>, pages: Pages, name: PageName) -> Self {
        let read = (0..pages.count()).map(|_| OnceLock::new()).collect();
        Self {
            post,
            pages,
            name,
            read,
        }
    }
}

impl Elsewhere for Paged {
    fn score(&self, index: u64) -> Score {
        let (page, at) = self.pages.find(index);
        let values = self.read[page as usize].get_or_init(|| {
            let name = PageName { page, ..self.name };
            let sealed = self.post.fetch(&self.pages, name, false);
            let len = Page::new(self.pages.only_outcomes, self.pages.len_of(page))
                .values
                .len();
            let values = Sealed::open(&sealed.values, len);
            values.expect("pages are checked when they come from outside").into()
        });
        let bits = Page::bits_in(values, self.pages.only_outcomes, at);
        Score::from_bits(bits)
    }

    fn put(&self, from: u64, values: Vec<(u16, bool)>) {
        self.post.put(&self.pages, self.name, from, &values);
    }
}
