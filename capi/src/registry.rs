//! What programs in C hold: numbers of things that are kept here.
//!
//! A number names a place and how often the place was given away before, so that a number whose thing
//! was closed is told from that of a later one. Looking one up takes one lock, which nobody else holds.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use crate::status::{Fault, PetrovStatus};

const PAGES: usize = 256;
const PAGE: usize = 256;

/// Places that never move once they are there.
type Page<T> = Box<[Mutex<Place<T>>]>;

/// Things of one kind.
pub(crate) struct Registry<T> {
    /// Tells the numbers of this kind from those of others: below 128.
    kind: u32,
    pages: [OnceLock<Page<T>>; PAGES],
    free: Mutex<Free>,
}

struct Place<T> {
    /// How often it was given away, this time included.
    round: u32,
    thing: Option<T>,
}

struct Free {
    /// Places that were used at some time.
    used: usize,
    /// Those of them that are free.
    places: Vec<usize>,
}

/// The number is not that of an open thing.
const CLOSED: Fault = Fault::new(
    PetrovStatus::Closed,
    "this number names nothing that is open: it was closed, or never opened",
);
const BUSY: Fault = Fault::new(
    PetrovStatus::Busy,
    "another thread is using this handle: each thread needs one of its own",
);

/// Where the kind stands in a number: above the place, of which there are 65,536.
const KIND_BIT: u32 = 24;

impl<T> Registry<T> {
    pub(crate) const fn new(kind: u32) -> Self {
        Self {
            kind,
            pages: [const { OnceLock::new() }; PAGES],
            free: Mutex::new(Free {
                used: 0,
                places: Vec::new(),
            }),
        }
    }

    fn place_of(&self, id: u64) -> Option<usize> {
        let low = (id as u32).checked_sub(self.kind << KIND_BIT)?;
        (low as usize).checked_sub(1)
    }

    fn place(&self, place: usize) -> Option<&Mutex<Place<T>>> {
        self.pages.get(place / PAGE)?.get()?.get(place % PAGE)
    }

    /// Keeps a thing; gives its number, which is never 0.
    pub(crate) fn open(&self, thing: T) -> Result<u64, Fault> {
        let place = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            match free.places.pop() {
                Some(place) => place,
                None if free.used < PAGES * PAGE => {
                    free.used += 1;
                    free.used - 1
                }
                None => {
                    return Err(Fault::new(
                        PetrovStatus::TooMany,
                        "too many things are open; expected at most 65536",
                    ));
                }
            }
        };
        let empty = || {
            let places = std::iter::repeat_with(|| Mutex::new(Place { round: 0, thing: None }));
            places.take(PAGE).collect()
        };
        let page = self.pages[place / PAGE].get_or_init(empty);
        let mut found = page[place % PAGE].lock().unwrap_or_else(PoisonError::into_inner);
        found.round += 1;
        found.thing = Some(thing);
        Ok(u64::from(found.round) << 32 | u64::from(self.kind << KIND_BIT) | (place as u64 + 1))
    }

    fn open_place(&self, id: u64) -> Result<(&Mutex<Place<T>>, u32), Fault> {
        let place = self.place_of(id).and_then(|place| self.place(place));
        place.map(|place| (place, (id >> 32) as u32)).ok_or(CLOSED)
    }

    /// Does something with an open thing that only one thread may use.
    #[inline]
    pub(crate) fn with<R>(&self, id: u64, work: impl FnOnce(&mut T) -> Result<R, Fault>) -> Result<R, Fault> {
        let (place, round) = self.open_place(id)?;
        let mut found: MutexGuard<'_, Place<T>> = match place.try_lock() {
            Ok(found) => found,
            Err(TryLockError::WouldBlock) => return Err(BUSY),
            // Whatever went wrong in the middle of something may have left it in disorder.
            Err(TryLockError::Poisoned(_)) => return Err(CLOSED),
        };
        let open = found.round == round;
        match &mut found.thing {
            Some(thing) if open => work(thing),
            _ => Err(CLOSED),
        }
    }

    /// A copy of an open thing, which any thread may take.
    pub(crate) fn copy(&self, id: u64) -> Result<T, Fault>
    where
        T: Clone,
    {
        let (place, round) = self.open_place(id)?;
        let found = place.lock().unwrap_or_else(PoisonError::into_inner);
        let thing = found.thing.as_ref().filter(|_| found.round == round);
        thing.cloned().ok_or(CLOSED)
    }

    /// Closes a thing. One that is in use by another thread stays open.
    pub(crate) fn close(&self, id: u64) -> Result<(), Fault> {
        let (place, round) = self.open_place(id)?;
        let found = match place.try_lock() {
            Ok(found) => found,
            Err(TryLockError::WouldBlock) => return Err(BUSY),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        self.end(id, place, found, round)
    }

    /// Closes a thing of which others take no more than copies, once they have.
    pub(crate) fn close_shared(&self, id: u64) -> Result<(), Fault> {
        let (place, round) = self.open_place(id)?;
        let found = place.lock().unwrap_or_else(PoisonError::into_inner);
        self.end(id, place, found, round)
    }

    fn end(
        &self,
        id: u64,
        place: &Mutex<Place<T>>,
        mut found: MutexGuard<'_, Place<T>>,
        round: u32,
    ) -> Result<(), Fault> {
        if found.round != round || found.thing.is_none() {
            return Err(CLOSED);
        }
        let thing = found.thing.take();
        let worn_out = found.round == u32::MAX;
        drop(found);
        place.clear_poison();
        drop(thing);
        if let Some(place) = self.place_of(id).filter(|_| !worn_out) {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.places.push(place);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_number_never_names_a_later_thing() {
        static THINGS: Registry<String> = Registry::new(1);
        static OTHERS: Registry<String> = Registry::new(2);
        let first = THINGS.open("one".to_owned()).unwrap();
        assert_eq!(THINGS.copy(first).unwrap(), "one");
        THINGS.close(first).unwrap();
        let second = THINGS.open("two".to_owned()).unwrap();
        assert_ne!(first, second);
        assert_eq!(first as u32, second as u32, "the place was not used again");
        assert_eq!(THINGS.copy(first).unwrap_err().status, PetrovStatus::Closed);
        assert_eq!(THINGS.with(first, |_| Ok(())).unwrap_err().status, PetrovStatus::Closed);
        assert_eq!(THINGS.close(first).unwrap_err().status, PetrovStatus::Closed);
        assert_eq!(THINGS.with(second, |thing| Ok(thing.len())).unwrap(), 3);
        for wrong in [0, 1, u64::MAX, second + 1, second ^ 1 << 40] {
            assert_eq!(THINGS.copy(wrong).unwrap_err().status, PetrovStatus::Closed, "{wrong}");
        }
        assert_eq!(
            OTHERS.open("another".to_owned()).unwrap() as u32 & 0xff,
            second as u32 & 0xff
        );
        assert_eq!(
            OTHERS.copy(second).unwrap_err().status,
            PetrovStatus::Closed,
            "of another kind"
        );
        let busy = THINGS.with(second, |_| {
            std::thread::scope(|scope| scope.spawn(|| THINGS.with(second, |_| Ok(()))).join().unwrap())
        });
        assert_eq!(busy.unwrap_err().status, PetrovStatus::Busy);
        // Copies are taken in a moment, and closing waits for them.
        std::thread::scope(|scope| {
            for _ in 0..100 {
                let shared = OTHERS.open("shared".to_owned()).unwrap();
                let copying = scope.spawn(move || while OTHERS.copy(shared).is_ok() {});
                OTHERS.close_shared(shared).unwrap();
                copying.join().unwrap();
            }
        });
        let many: Vec<u64> = (0..1000).map(|n| THINGS.open(n.to_string()).unwrap()).collect();
        for (n, id) in many.iter().enumerate() {
            assert_eq!(THINGS.copy(*id).unwrap(), n.to_string());
        }
    }
}
