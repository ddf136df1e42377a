//! Debian's libfathom, through the program of `fathom.c`, which takes its own
//! time.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::positions::Positions;
use crate::{Failure, Library};

pub(crate) struct Fathom {
    program: Child,
    questions: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
    positions: usize,
}

impl Fathom {
    pub(crate) fn new(program: &Path, syzygy: &Path, positions: &Positions) -> Result<Self, Failure> {
        let mut program = Command::new(program)
            .arg(syzygy)
            .stdin(Stdio::piped())
            // tb_init reports nothing, the answers are all there is.
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let pipes = (program.stdin.take(), program.stdout.take());
        let (Some(questions), Some(answers)) = pipes else {
            return Err("the program has no pipes".into());
        };
        let mut fathom = Self {
            program,
            questions: BufWriter::new(questions),
            answers: BufReader::new(answers),
            positions: positions.all.len(),
        };
        writeln!(fathom.questions, "{}", fathom.positions)?;
        for position in positions.bitboards() {
            write!(fathom.questions, "{:x} {:x}", position.white, position.black)?;
            for set in position.kinds {
                write!(fathom.questions, " {set:x}")?;
            }
            writeln!(fathom.questions, " {}", u8::from(position.white_to_move))?;
        }
        Ok(fathom)
    }
}

impl Drop for Fathom {
    fn drop(&mut self) {
        // It waits for the next question. A failure here changes no figure.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Library for Fathom {
    fn name(&self) -> &'static str {
        "libfathom"
    }

    fn pass(&mut self) -> Result<(Duration, Vec<i8>), Failure> {
        writeln!(self.questions, "pass")?;
        self.questions.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let (time, digits) = line.trim_end().split_once(' ').ok_or("libfathom's program ended")?;
        let value = |digit| match digit {
            b'0' | b'1' => Ok(-1),
            b'2' => Ok(0),
            b'3' | b'4' => Ok(1),
            _ => Err("libfathom has no table of a position"),
        };
        let values: Vec<i8> = digits.bytes().map(value).collect::<Result<_, _>>()?;
        if values.len() != self.positions {
            return Err(format!("libfathom's program answered {} positions", values.len()).into());
        }
        Ok((Duration::from_nanos(time.parse()?), values))
    }
}
