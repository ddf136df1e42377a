//! Why a command ends early, and the exit status of each reason.

use std::fmt;
use std::io;

use petrov_games::{AddGameError, UnknownGame};
use petrov_gen::claims::{ClaimError, EvaluateError};
use petrov_gen::{BuildError, LockError, PlanError, ReadingError, VerifyError, WhatError};
use petrov_probe::{OpenError, ProbeError, TableError};

use crate::output;

/// Exit status: the answer is negative.
pub const NEGATIVE: u8 = 1;
/// Exit status: wrong usage or input.
pub const USAGE: u8 = 2;
/// Exit status: something broke.
pub const BROKEN: u8 = 3;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage or input.
    Usage(String),
    /// Something broke: a table, a file, memory.
    Broken(String),
    /// The answer is negative; it has been given already.
    Negative,
    /// Nobody reads the output any more (`petrov ... | head`): no fault of
    /// anyone's, so nothing is said.
    Unread,
}

impl Failure {
    /// Says on standard error what is to be said of it; returns the exit status.
    pub fn say(&self) -> u8 {
        match self {
            Self::Usage(message) | Self::Broken(message) => output::complain(message),
            Self::Negative | Self::Unread => {}
        }
        self.status()
    }

    /// The exit status.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::Broken(_) => BROKEN,
            Self::Negative => NEGATIVE,
            Self::Unread => 0,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Broken(message) => f.write_str(message),
            Self::Negative => f.write_str("the answer is negative"),
            Self::Unread => f.write_str("standard output was closed"),
        }
    }
}

/// Errors of the user's input.
macro_rules! usage {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Usage(error.to_string())
            }
        }
    )*};
}

/// Errors of files and of the system.
macro_rules! broken {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Broken(error.to_string())
            }
        }
    )*};
}

usage!(UnknownGame, AddGameError, WhatError, ClaimError);
broken!(OpenError, ReadingError, TableError, BuildError, LockError);

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::NoTable { .. } => Self::Usage(error.to_string()),
            PlanError::Open(_) | PlanError::Foreign { .. } | PlanError::LeftAlone { .. } => {
                Self::Broken(error.to_string())
            }
        }
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::What(error) => error.into(),
            VerifyError::Reading(_) | VerifyError::Threads(_) => Self::Broken(error.to_string()),
        }
    }
}

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Self {
        match error {
            EvaluateError::Plan(error) => error.into(),
            EvaluateError::Foreign { .. } => Self::Usage(error.to_string()),
            EvaluateError::Probe(_) | EvaluateError::Write(_) | EvaluateError::Threads(_) => {
                Self::Broken(error.to_string())
            }
        }
    }
}

impl From<ProbeError> for Failure {
    fn from(error: ProbeError) -> Self {
        match error {
            ProbeError::NoPosition { .. } | ProbeError::NotInTables { .. } => Self::Usage(error.to_string()),
            ProbeError::Missing { .. }
            | ProbeError::Table(_)
            | ProbeError::Foreign { .. }
            | ProbeError::Header { .. }
            | ProbeError::Circle { .. }
            | ProbeError::NoDistances { .. } => Self::Broken(error.to_string()),
        }
    }
}

/// Only standard output is written to directly; files are the crates' business.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Unread
        } else {
            Self::Broken(format!("cannot write to standard output: {error}"))
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
