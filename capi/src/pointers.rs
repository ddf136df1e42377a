//! All that touches memory of the calling program.

use std::ffi::{CStr, c_char};

use crate::status::{Fault, PetrovStatus};

const NULL: Fault = Fault::new(PetrovStatus::Null, "a pointer is NULL that must not be");
const SIZE: Fault = Fault::new(
    PetrovStatus::Size,
    "the field `size` is not the size of this header's struct",
);

/// A struct of the interface, which begins with its size in bytes (`u32`) and of which any bytes
/// are a value.
///
/// # Safety
/// The type is `repr(C)`, its first field is a `u32`, and all fields are integers, arrays of integers, or
/// pointers.
pub(crate) unsafe trait Sized32: Copy {}

/// The size that a struct in C says it has.
fn check_size<T: Sized32>(place: *const T) -> Result<(), Fault> {
    if place.is_null() {
        return Err(NULL);
    }
    // SAFETY: not null; the caller of the C function promises that it points to a struct of this interface,
    // each of which begins with a `u32`, whatever the version of the header. It need not be aligned.
    let size = unsafe { place.cast::<u32>().read_unaligned() };
    if size as usize == size_of::<T>() {
        Ok(())
    } else {
        Err(SIZE)
    }
}

/// Reads a struct.
pub(crate) fn read<T: Sized32>(place: *const T) -> Result<T, Fault> {
    check_size(place)?;
    // SAFETY: not null, and its own size says that all of it is there; any bytes are a value of the type.
    Ok(unsafe { place.read_unaligned() })
}

/// Reads a struct if there is one.
pub(crate) fn read_if_any<T: Sized32>(place: *const T) -> Result<Option<T>, Fault> {
    if place.is_null() {
        Ok(None)
    } else {
        read(place).map(Some)
    }
}

/// Whether a struct that may be written over has the right size, if there is one: asked before any work is done.
pub(crate) fn sized_if_any<T: Sized32>(place: *mut T) -> Result<(), Fault> {
    if place.is_null() { Ok(()) } else { check_size(place) }
}

/// Writes a struct over one of the right size.
pub(crate) fn write_sized<T: Sized32>(place: *mut T, value: T) -> Result<(), Fault> {
    check_size(place)?;
    write(place, value)
}

/// Whether there is a place to write to: asked before any work is done.
pub(crate) fn writable<T>(place: *mut T) -> Result<(), Fault> {
    if place.is_null() { Err(NULL) } else { Ok(()) }
}

/// Writes a value.
pub(crate) fn write<T: Copy>(place: *mut T, value: T) -> Result<(), Fault> {
    writable(place)?;
    // SAFETY: not null; the caller of the C function promises that a value of this type may be written there.
    // What was there is plain bytes, so nothing is dropped.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Writes the first values of a list to an array of at most `room`.
pub(crate) fn write_all<T: Copy>(place: *mut T, room: usize, values: &[T]) -> Result<(), Fault> {
    for (n, value) in values.iter().take(room).enumerate() {
        writable(place)?;
        write(place.wrapping_add(n), *value)?;
    }
    Ok(())
}

/// Reads a text that ends with a 0 byte.
pub(crate) fn text<'a>(place: *const c_char) -> Result<&'a str, Fault> {
    if place.is_null() {
        return Err(NULL);
    }
    // SAFETY: not null; the caller of the C function promises that a 0 byte ends the text and that it does not
    // change during the call, which is as long as the reference is used.
    let text = unsafe { CStr::from_ptr(place) };
    let utf8 = text.to_str();
    utf8.map_err(|_| Fault::new(PetrovStatus::Argument, "a text is not UTF-8"))
}

/// Reads a text if there is one.
pub(crate) fn text_if_any<'a>(place: *const c_char) -> Result<Option<&'a str>, Fault> {
    if place.is_null() {
        Ok(None)
    } else {
        text(place).map(Some)
    }
}

/// Writes as much of a text as there is room for, and a 0 byte.
pub(crate) fn write_text(place: *mut c_char, room: usize, text: &str) -> Result<(), Fault> {
    let Some(most) = room.checked_sub(1) else {
        return Ok(());
    };
    let bytes = text.as_bytes();
    let kept = &bytes[..bytes.len().min(most)];
    let letters: Vec<c_char> = kept.iter().chain(&[0]).map(|byte| *byte as c_char).collect();
    write_all(place, room, &letters)
}
