//! What calls return, and the text of the last error.

use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use petrov_probe::ProbeError;

/// What a call returns. Errors are below 0; `petrov_last_error` then has a text that says more.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PetrovStatus {
    /// Done; all output is written.
    Ok = 0,
    /// No table has the position. Not an error: search on. Only petrov_best_moves and petrov_unpack keep a text.
    NotInTable = 1,
    /// Captures decide, and no search of them was asked for. Not an error. No text is kept.
    NeedsCaptureSearch = 2,
    /// A pointer is NULL that must not be.
    Null = -1,
    /// The field `size` of a struct, or a size given, is not that of this header's struct.
    Size = -2,
    /// The prober or handle was closed, or never opened.
    Closed = -3,
    /// Another thread is using this handle.
    Busy = -4,
    /// Another argument is not what the call expects: an unknown game, a number out of range, text that is not
    /// UTF-8, a position of the other family.
    Argument = -5,
    /// The text is no FEN of this game.
    Fen = -6,
    /// Pieces overlap or stand where they cannot, or the side not to move is in check.
    Position = -7,
    /// A folder cannot be read, or a table is damaged or of other rules than its path says.
    Table = -8,
    /// More than 65,536 probers or handles are open.
    TooMany = -9,
    /// Something broke inside the library; the handle that was in use is closed. Please report it.
    Internal = -10,
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) status: PetrovStatus,
    text: Text,
}

#[derive(Debug)]
enum Text {
    Fixed(&'static str),
    Made(String),
}

impl Fault {
    pub(crate) const fn new(status: PetrovStatus, text: &'static str) -> Self {
        Self {
            status,
            text: Text::Fixed(text),
        }
    }

    pub(crate) fn of(status: PetrovStatus, error: &impl Display) -> Self {
        Self {
            status,
            text: Text::Made(error.to_string()),
        }
    }
}

impl From<ProbeError> for Fault {
    fn from(error: ProbeError) -> Self {
        let status = match &error {
            ProbeError::Missing { .. } | ProbeError::NotInTables { .. } | ProbeError::NoDistances { .. } => {
                PetrovStatus::NotInTable
            }
            ProbeError::NoPosition { .. } => PetrovStatus::Position,
            ProbeError::Table(_)
            | ProbeError::Foreign { .. }
            | ProbeError::Header { .. }
            | ProbeError::Circle { .. } => PetrovStatus::Table,
        };
        Self::of(status, &error)
    }
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The text of this thread's last error.
pub(crate) fn with_last_error<R>(read: impl FnOnce(&str) -> R) -> R {
    LAST.with_borrow(|text| read(text))
}

/// Runs a call: nothing that panics gets past it, and the text of an error is kept.
#[inline]
pub(crate) fn call(work: impl FnOnce() -> Result<PetrovStatus, Fault>) -> PetrovStatus {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(status)) => status,
        Ok(Err(fault)) => keep(fault),
        Err(_) => keep(Fault::new(
            PetrovStatus::Internal,
            "something broke inside the library; please report it",
        )),
    }
}

#[cold]
fn keep(fault: Fault) -> PetrovStatus {
    LAST.with_borrow_mut(|text| {
        text.clear();
        match &fault.text {
            Text::Fixed(fixed) => text.push_str(fixed),
            Text::Made(made) => text.push_str(made),
        }
    });
    fault.status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(call(|| panic!("on purpose")), PetrovStatus::Internal);
        with_last_error(|text| assert!(text.contains("broke"), "{text}"));
        assert_eq!(call(|| Ok(PetrovStatus::NotInTable)), PetrovStatus::NotInTable);
        let fault = || Fault::new(PetrovStatus::Null, "a text");
        assert_eq!(call(|| Err(fault())), PetrovStatus::Null);
        with_last_error(|text| assert_eq!(text, "a text"));
    }
}
