//! The bytes of a table file: mapped into memory, or read piece by piece.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use memmap2::Mmap;

/// How the blocks of table files are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Backend {
    /// Through a memory map: the fewest copies, and no open file kept. A file that is cut short while it
    /// is mapped ends the program with a signal (SIGBUS), and so does a read error of the disk.
    #[default]
    Mmap,
    /// By positioned reads: one system call and one copy for each block that the cache does not hold, and one
    /// open file for each table. Whatever happens to the file is an error of the probe that met it.
    Pread,
}

impl Backend {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Mmap, Self::Pread];

    /// The name that `petrov --read` knows it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mmap => "mmap",
            Self::Pread => "pread",
        }
    }
}

/// An open file of a length that was fixed when it was opened.
pub(crate) enum Storage {
    Map(Mmap),
    File { file: File, bytes: u64 },
}

impl Storage {
    pub(crate) fn new(file: File, backend: Backend) -> io::Result<Self> {
        match backend {
            Backend::Mmap => {
                // SAFETY: the map is read-only, and tables are never written in place: a writer renames a
                // finished file over the old one, whose contents the map keeps. A file that some other
                // program changes all the same could make reads fault or bytes change after their checksum
                // was computed; the documentation of `Table` forbids it, and no decoded length, offset or
                // index is taken from the map without a check of the very value used.
                let map = unsafe { Mmap::map(&file) }?;
                // Advice only: a system that does not take it reads a little more.
                let _ = map.advise(memmap2::Advice::Random);
                Ok(Self::Map(map))
            }
            Backend::Pread => {
                let bytes = file.metadata()?.len();
                Ok(Self::File { file, bytes })
            }
        }
    }

    /// Length of the file when it was opened.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Map(map) => map.len() as u64,
            Self::File { bytes, .. } => *bytes,
        }
    }

    /// So many bytes from `start` on; an error if the file has not got them (any more).
    pub(crate) fn bytes(&self, start: u64, count: usize) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Map(map) => {
                let start = usize::try_from(start).ok();
                let range = start.and_then(|start| Some(start..start.checked_add(count)?));
                let found = range.and_then(|range| map.get(range));
                found.map(Cow::Borrowed).ok_or_else(cut_short)
            }
            Self::File { file, .. } => read_at(file, start, count).map(Cow::Owned),
        }
    }

    /// Reads from the first byte up to `end`.
    pub(crate) fn reader(&self, end: u64) -> impl Read + '_ {
        Reader {
            storage: self,
            at: 0,
            end,
        }
    }

    /// Tells the system whether reads will go from front to back or anywhere.
    pub(crate) fn advise(&self, sequential: bool) {
        if let Self::Map(map) = self {
            let advice = if sequential {
                memmap2::Advice::Sequential
            } else {
                memmap2::Advice::Random
            };
            let _ = map.advise(advice);
        }
    }
}

/// So many bytes of a file from `start` on.
pub(crate) fn read_at(file: &File, start: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    file.read_exact_at(&mut bytes, start)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => cut_short(),
            _ => error,
        })?;
    Ok(bytes)
}

fn cut_short() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file has become shorter since it was opened",
    )
}

struct Reader<'a> {
    storage: &'a Storage,
    at: u64,
    end: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // At most the length of `out`.
        let count = (self.end - self.at).min(out.len() as u64) as usize;
        let out = &mut out[..count];
        let count = match self.storage {
            Storage::Map(_) => {
                out.copy_from_slice(&self.storage.bytes(self.at, count)?);
                count
            }
            Storage::File { file, .. } => match file.read_at(out, self.at)? {
                0 if count > 0 => return Err(cut_short()),
                some => some,
            },
        };
        self.at += count as u64;
        Ok(count)
    }
}
