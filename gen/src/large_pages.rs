//! Large arrays on large pages.
//!
//! Solving reads and writes all over arrays of hundreds of megabytes. With
//! pages of 4 kB nearly each access then waits for the page table; Linux gives
//! 2 MB pages to those who ask for them.

use std::ptr::without_provenance_mut;

use rustix::mm::{Advice, madvise};
use zerocopy::FromZeros;

/// Size of a large page; also the size from which on it is worth asking.
const LARGE_PAGE: usize = 2 << 20;

/// Empties a list and gives it room for exactly `len` items.
pub(crate) fn make_room<T>(list: &mut Vec<T>, len: usize) {
    list.clear();
    if list.capacity() < len {
        // What is no longer needed goes before there is more.
        *list = Vec::new();
        list.reserve_exact(len);
        ask(list.spare_capacity_mut());
    }
}

/// So many zeros, which take no memory before they are written to.
///
/// # Panics
/// If there is no memory for them.
pub(crate) fn zeros<T: FromZeros>(len: usize) -> Box<[T]> {
    let mut zeros = <[T]>::new_box_zeroed_with_elems(len).expect("memory");
    ask(&mut zeros);
    zeros
}

/// Asks for large pages behind memory that nothing has been written to. It may
/// be in vain, which changes nothing but the speed.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn ask<T>(room: &mut [T]) {
    let start = room.as_ptr().addr().next_multiple_of(LARGE_PAGE);
    let end = room.as_ptr().addr() + size_of_val(room);
    let Some(len) = end.checked_sub(start).filter(|len| *len >= LARGE_PAGE) else {
        return;
    };
    // SAFETY: the range lies inside memory that nobody else has, and this
    // advice changes how memory is mapped, never what is in it.
    let advised = unsafe { madvise(without_provenance_mut(start), len, Advice::LinuxHugepage) };
    // A kernel without large pages refuses.
    let _ = advised;
}
