//! Standard output: buffered, and with every error noticed.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::OnceLock;

use serde::Serialize;

use crate::failure::Failure;
use crate::words;

static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Sets the name that begins what [`complain`] says; the first to be set is kept.
pub(crate) fn name_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// The name of the program that runs.
pub(crate) fn program() -> &'static str {
    PROGRAM.get().copied().unwrap_or("petrov")
}

/// Says something on standard error, on one line that begins with the program's name. If it cannot be written
/// there, nobody reads it, and that is no reason to end otherwise.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}: {}", program(), words::one_line(text));
}

/// Standard output. What is written stays in a buffer until
/// [`Output::flush`], so that a short answer that fails half-way prints nothing.
pub struct Output(BufWriter<Stdout>);

/// Room for one answer of ordinary length.
const BUFFER: usize = 1 << 16;

impl Output {
    /// With nothing in its buffer yet.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "there is one standard output, so none is made by default"
    )]
    pub fn new() -> Self {
        Self(BufWriter::with_capacity(BUFFER, io::stdout()))
    }

    /// Writes a JSON document on a line of its own.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.0, document)?;
        self.0.write_all(b"\n")?;
        Ok(())
    }

    /// Writes what is still in the buffer, if the command has given an answer. Returns what has become of the command:
    /// `outcome`, unless its answer cannot be written. That nobody reads the answer is no failure.
    ///
    /// # Errors
    /// Why the command has failed, or that its answer cannot be written.
    pub fn end(&mut self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        // A negative answer has to reach the reader as well, and stays one when nobody reads on.
        if matches!(outcome, Ok(()) | Err(Failure::Negative)) {
            match self.flush().map_err(Failure::from) {
                Ok(()) | Err(Failure::Unread) => {}
                Err(failure) => return Err(failure),
            }
        }
        match outcome {
            Err(Failure::Unread) => Ok(()),
            outcome => outcome,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
