//! Standard output: buffered, and with every error noticed.

use std::io::{self, BufWriter, Stdout, Write};

use serde::Serialize;

use crate::failure::Failure;
use crate::words;

/// Says something on standard error, on one line. If it cannot be written
/// there, nobody reads it, and that is no reason to end otherwise.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "petrov: {}", words::one_line(text));
}

/// Standard output. What is written stays in a buffer until
/// [`Output::flush`], so that a short answer that fails half-way prints nothing.
pub(crate) struct Output(BufWriter<Stdout>);

/// Room for one answer of ordinary length.
const BUFFER: usize = 1 << 16;

impl Output {
    pub(crate) fn new() -> Self {
        Self(BufWriter::with_capacity(BUFFER, io::stdout()))
    }

    /// Writes a JSON document on a line of its own.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.0, document)?;
        self.0.write_all(b"\n")?;
        Ok(())
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
