//! The bytes of a table file: mapped into memory, or read piece by piece.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

#[cfg(feature = "mmap")]
use memmap2::Mmap;

/// How the blocks of table files are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Backend {
    /// Through a memory map: the fewest copies, and no open file kept. A file that is cut short while it
    /// is mapped ends the program with a signal (SIGBUS), and so does a read error of the disk. The default
    /// with the feature `mmap`, without which there are no maps.
    #[cfg(feature = "mmap")]
    #[default]
    Mmap,
    /// By positioned reads: one system call and one copy for each block that the cache does not hold, and one
    /// open file for each table. Whatever happens to the file is an error of the probe that met it.
    #[cfg_attr(not(feature = "mmap"), default)]
    Pread,
}

impl Backend {
    /// All that this build has.
    #[cfg(feature = "mmap")]
    pub const ALL: [Self; 2] = [Self::Mmap, Self::Pread];
    /// All that this build has.
    #[cfg(not(feature = "mmap"))]
    pub const ALL: [Self; 1] = [Self::Pread];

    /// The name that `petrov --read` knows it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "mmap")]
            Self::Mmap => "mmap",
            Self::Pread => "pread",
        }
    }
}

/// An open file of a length that was fixed when it was opened.
pub(crate) enum Storage {
    #[cfg(feature = "mmap")]
    Map(Mmap),
    File {
        file: File,
        bytes: u64,
    },
    /// A file that is part of the program.
    Memory(&'static [u8]),
}

impl Storage {
    pub(crate) fn new(file: File, backend: Backend) -> io::Result<Self> {
        match backend {
            #[cfg(feature = "mmap")]
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
            #[cfg(feature = "mmap")]
            Self::Map(map) => map.len() as u64,
            Self::File { bytes, .. } => *bytes,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// So many bytes from `start` on, in `room` if they are not in memory; an error if the file has not got
    /// them (any more).
    pub(crate) fn bytes<'a>(&'a self, start: u64, count: usize, room: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        match self {
            #[cfg(feature = "mmap")]
            Self::Map(map) => part(map, start, count),
            Self::Memory(bytes) => part(bytes, start, count),
            Self::File { file, .. } => {
                room.resize(count, 0);
                fill(file, start, room)?;
                Ok(room)
            }
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
        match self {
            #[cfg(feature = "mmap")]
            Self::Map(map) => {
                let advice = if sequential {
                    memmap2::Advice::Sequential
                } else {
                    memmap2::Advice::Random
                };
                let _ = map.advise(advice);
            }
            Self::File { .. } | Self::Memory(_) => {
                let _ = sequential;
            }
        }
    }

    /// Tells the system that some bytes will be read soon, where it has a way to be told.
    pub(crate) fn will_need(&self, start: u64, count: usize) {
        match self {
            #[cfg(feature = "mmap")]
            Self::Map(map) => {
                // Advice only, and the map checks the range.
                let _ = map.advise_range(memmap2::Advice::WillNeed, start as usize, count);
            }
            Self::File { .. } | Self::Memory(_) => {
                let _ = (start, count);
            }
        }
    }
}

/// So many bytes of a file from `start` on.
pub(crate) fn read_at(file: &File, start: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    fill(file, start, &mut bytes)?;
    Ok(bytes)
}

fn fill(file: &File, start: u64, out: &mut [u8]) -> io::Result<()> {
    file.read_exact_at(out, start).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_short(),
        _ => error,
    })
}

fn part(bytes: &[u8], start: u64, count: usize) -> io::Result<&[u8]> {
    let start = usize::try_from(start).ok();
    let range = start.and_then(|start| Some(start..start.checked_add(count)?));
    range.and_then(|range| bytes.get(range)).ok_or_else(cut_short)
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
            #[cfg(feature = "mmap")]
            Storage::Map(map) => {
                out.copy_from_slice(part(map, self.at, count)?);
                count
            }
            Storage::Memory(bytes) => {
                out.copy_from_slice(part(bytes, self.at, count)?);
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
