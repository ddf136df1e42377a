//! Writing of table files: blocks are filled, packed and compressed in parallel,
//! and the file appears under its name only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use petrov_probe::format::{BlockSum, Header, HeaderParts, file_checksum};
use petrov_probe::pack::{PackError, Packing};
use petrov_probe::{EXTENSION, FormatError};
use rayon::prelude::*;

use crate::clock::Meter;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// What a source gives instead of a code for a free entry.
pub const FREE: u16 = u16::MAX;

/// What a source gives for an entry that may hold either of two codes below 4:
/// the first is the one to hold if it makes no difference.
#[must_use]
pub fn one_of(code: u16, other: u16) -> u16 {
    debug_assert!(code < 4 && other < 4);
    ONE_OF | code << 8 | 1 << code | 1 << other
}

/// Above all codes: a set of codes as four bits, and one of it.
const ONE_OF: u16 = 0xe000;

fn is_one_of(code: u16) -> bool {
    code & 0xf000 == ONE_OF
}

/// Blocks compressed, for each thread, before the results are written: enough that
/// threads rarely wait for each other, and no more than some MB of memory each.
const BLOCKS_PER_THREAD: usize = 64;

/// The codes of a table's entries, in the order in which they are stored.
pub trait CodeSource: Sync {
    /// Puts the codes of the entries `range` of side number `side` into `codes`, which has the
    /// range's length: an index into the palette below its `stored`, [`FREE`] or, where at most four values are
    /// stored, [`one_of`] two.
    /// Called for each block from any thread, in any order.
    fn codes(&self, side: usize, range: Range<u64>, codes: &mut [u16]);
}

impl<F: Fn(usize, Range<u64>, &mut [u16]) + Sync> CodeSource for F {
    fn codes(&self, side: usize, range: Range<u64>, codes: &mut [u16]) {
        self(side, range, codes);
    }
}

/// The level of [`write_table`] unless there is reason for another. Decoding is as fast at any.
pub const DEFAULT_LEVEL: i32 = 19;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteReport {
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Length of its header in bytes.
    pub header_bytes: u32,
    /// How many blocks it has.
    pub blocks: u64,
    /// How many of them are stored without compression.
    pub raw_blocks: u64,
    /// Length of all blocks before compression, in bytes.
    pub packed_bytes: u64,
}

/// Why a table was not written. No part of it is left behind.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The header's parts cannot be written.
    #[error("{}: {source}", path.display())]
    Header {
        /// The table.
        path: PathBuf,
        /// What is wrong with them.
        source: FormatError,
    },
    /// The source gave a code that the palette has no place for.
    #[error("{}: side {side}, entries from {first}: {source}", path.display())]
    Code {
        /// The table.
        path: PathBuf,
        /// Number of the side.
        side: usize,
        /// First entry of the block.
        first: u64,
        /// The code.
        source: PackError,
    },
    /// zstd refused the level or the dictionary, or ran out of memory.
    #[error("{}: compression failed: {source}", path.display())]
    Compress {
        /// The table.
        path: PathBuf,
        /// What zstd said.
        source: io::Error,
    },
}

/// Writes a table to `path`, replacing what is there, and creates the folder if it is missing. Blocks are
/// compressed on the current rayon pool at zstd level `level`; block size and dictionary are those of `parts`.
/// The bytes depend on the arguments alone, not on the number of threads.
///
/// # Errors
/// See [`WriteError`]. A file that was at `path` before is then still there unharmed.
pub fn write_table(
    path: &Path,
    parts: &HeaderParts,
    source: &impl CodeSource,
    level: i32,
) -> Result<WriteReport, WriteError> {
    write_measured(path, parts, source, level, &Meter::default())
}

/// As [`write_table`], with a meter for the work of all threads.
pub(crate) fn write_measured(
    path: &Path,
    parts: &HeaderParts,
    source: &impl CodeSource,
    level: i32,
    meter: &Meter,
) -> Result<WriteReport, WriteError> {
    let header_error = |source| WriteError::Header {
        path: path.to_owned(),
        source,
    };
    let header_bytes = parts.header_bytes().map_err(header_error)?;
    let mut place = Place::create(path)?;
    place.skip(header_bytes.into())?;

    let mut sums = Vec::with_capacity(parts.sides.len());
    let workers = Workers::default();
    let mut report = WriteReport {
        bytes: 0,
        header_bytes,
        blocks: 0,
        raw_blocks: 0,
        packed_bytes: 0,
    };
    let batch = (BLOCKS_PER_THREAD * rayon::current_num_threads()) as u64;
    for (number, side) in parts.sides.iter().enumerate() {
        let work = SideWork {
            path,
            parts,
            source,
            level,
            side: number,
            packing: side.packing(),
        };
        let count = side.block_count(parts.block_bytes);
        let mut list = Vec::new();
        let mut start = 0;
        while start < count {
            let end = count.min(start.saturating_add(batch));
            let blocks: Vec<Compressed> = (0..(end - start) as usize)
                .into_par_iter()
                // One by one: some blocks take many times as long as others.
                .with_max_len(1)
                .map(|at| {
                    meter.measure(|| {
                        let mut worker = workers.take();
                        let block = work.compress(&mut worker, start + at as u64);
                        workers.give(worker);
                        block
                    })
                })
                .collect::<Result<_, _>>()?;
            for block in blocks {
                place.write(&block.bytes)?;
                report.blocks += 1;
                report.raw_blocks += u64::from(block.bytes.len() == block.packed_bytes);
                report.packed_bytes += block.packed_bytes as u64;
                list.push(BlockSum::of(&block.bytes));
            }
            start = end;
        }
        sums.push(list);
    }
    let header = Header::new(parts.clone(), &sums).map_err(header_error)?;
    place.finish(&header.encode())?;
    report.bytes = header.file_bytes();
    Ok(report)
}

/// What some blocks of one side take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tried {
    /// Bytes compressed.
    pub(crate) bytes: u64,
    /// Bytes before that.
    pub(crate) packed_bytes: u64,
}

/// Compresses some blocks of one side at `level`: for choosing between ways to store it.
///
/// # Errors
/// As [`write_table`].
pub(crate) fn compressed_bytes(
    path: &Path,
    parts: &HeaderParts,
    source: &impl CodeSource,
    side: usize,
    blocks: &[u64],
    level: i32,
) -> Result<Tried, WriteError> {
    let work = SideWork {
        path,
        parts,
        source,
        level,
        side,
        packing: parts.sides[side].packing(),
    };
    let mut worker = Worker::default();
    let mut tried = Tried::default();
    for block in blocks {
        let block = work.compress(&mut worker, *block)?;
        tried.bytes += block.bytes.len() as u64;
        tried.packed_bytes += block.packed_bytes as u64;
    }
    Ok(tried)
}

/// Packs the codes of a block, each free one as some other code. What a block holds must depend on that block
/// alone, so that tables have the same bytes however the work is divided.
///
/// Where several codes share a byte, the free ones make it the byte that was most frequent so far, unless
/// repeating the last code gives one at least half as frequent. Else they repeat the last code, or
/// the first one that is not free before any was met: runs grow and no new one begins. 0 if all are free.
fn pack_filled(codes: &mut [u16], packing: Packing, packed: &mut Vec<u8>) -> Result<(), PackError> {
    let limit = packing.codes();
    let sound = |code: u16| {
        let in_set = is_one_of(code) && limit <= 4 && u32::from(code & 15) < 1 << limit;
        code == FREE || u32::from(code) < limit || in_set
    };
    if packing.per_byte() > 1
        && let Some(&code) = codes.iter().find(|&&code| !sound(code))
    {
        let code = code.into();
        return Err(PackError::Code { code, limit });
    }
    match packing.per_byte() {
        8 => pack_shared::<8>(codes, limit, packed),
        5 => pack_shared::<5>(codes, limit, packed),
        4 => pack_shared::<4>(codes, limit, packed),
        3 => pack_shared::<3>(codes, limit, packed),
        2 => pack_shared::<2>(codes, limit, packed),
        _ => {
            let mut last = first_code(codes);
            for code in codes.iter_mut() {
                if *code == FREE {
                    *code = last;
                }
                last = *code;
            }
            packing.pack(codes, packed)?;
        }
    }
    Ok(())
}

fn first_code(codes: &[u16]) -> u16 {
    codes.iter().copied().find(|&code| code < ONE_OF).unwrap_or(0)
}

/// Packs codes below `limit`, of which `K` share a byte.
fn pack_shared<const K: usize>(codes: &[u16], limit: u32, packed: &mut Vec<u8>) {
    let mut last = first_code(codes);
    let mut bytes = Frequencies::new(limit, K);
    let mut pack = |codes: &[u16; K]| {
        // `allowed` has a bit for each code below 4 that each place may hold.
        let (mut fixed, mut free, mut allowed) = (0, 0, 0);
        let (mut repeated, mut scale) = (0, 1);
        for (at, &code) in codes.iter().enumerate() {
            if code == FREE {
                free |= 15 << (4 * at);
                allowed |= 15 << (4 * at);
            } else if is_one_of(code) {
                free |= 15 << (4 * at);
                allowed |= u32::from(code & 15) << (4 * at);
                if code >> last & 1 == 0 {
                    last = code >> 8 & 3;
                }
            } else {
                last = code;
                fixed |= u32::from(code) << (4 * at);
                allowed |= 1 << (4 * at + usize::from(code & 3));
            }
            repeated += u32::from(last) * scale;
            scale *= limit;
        }
        let fits = Fits { fixed, free, allowed };
        let (byte, digits) = bytes.choose(fits, repeated as u8);
        last = (digits >> (4 * (K - 1)) & 15) as u16;
        packed.push(byte);
    };
    let (groups, rest) = codes.as_chunks::<K>();
    groups.iter().for_each(&mut pack);
    if !rest.is_empty() {
        // What the last byte of a block lacks is 0, and not free.
        let mut group = [0; K];
        group[..rest.len()].copy_from_slice(rest);
        pack(&group);
    }
}

/// How often each packed byte occurred so far in a block.
struct Frequencies {
    /// At most four codes, so that sets of them are told apart.
    few: bool,
    /// The bytes that codes pack to, from the most to the least frequent.
    ranking: Vec<Frequency>,
    /// The place of each byte in the ranking.
    places: [u8; 256],
}

#[derive(Clone, Copy)]
struct Frequency {
    count: u32,
    /// The codes in the byte, four bits for each: where codes share a byte there are at most 16.
    digits: u32,
    /// Four bits for each code of which one is set, if there are few codes.
    bits: u32,
    byte: u8,
}

/// What the codes of a byte must be: given ones outside the free places, and if there are few codes one of a
/// set everywhere.
#[derive(Clone, Copy)]
struct Fits {
    fixed: u32,
    free: u32,
    allowed: u32,
}

impl Frequencies {
    fn new(limit: u32, per_byte: usize) -> Self {
        let digits_of = |byte: u32| {
            let digit = |at| byte / limit.pow(at) % limit;
            (0..per_byte as u32).map(|at| digit(at) << (4 * at)).sum()
        };
        let few = limit <= 4;
        let bits_of = |byte: u32| {
            let digit = |at| byte / limit.pow(at) % limit;
            (0..per_byte as u32).map(|at| 1 << (4 * at + digit(at))).sum()
        };
        let top = limit.pow(per_byte as u32).min(256);
        let ranking = (0..top).map(|byte| Frequency {
            count: 0,
            digits: digits_of(byte),
            bits: if few { bits_of(byte) } else { 0 },
            byte: byte as u8,
        });
        Self {
            few,
            ranking: ranking.collect(),
            places: std::array::from_fn(|byte| byte as u8),
        }
    }

    /// Picks a byte that fits, counts it and returns it with its codes. `repeated` must fit.
    fn choose(&mut self, fits: Fits, repeated: u8) -> (u8, u32) {
        let ranking = &mut self.ranking;
        let mut place = usize::from(self.places[usize::from(repeated)]);
        if fits.free != 0 {
            let few = self.few;
            let enough = 2 * ranking[place].count;
            let better = ranking[..place]
                .iter()
                .take_while(|other| other.count > enough)
                .position(|other| {
                    if few {
                        other.bits & !fits.allowed == 0
                    } else {
                        other.digits & !fits.free == fits.fixed
                    }
                });
            place = better.unwrap_or(place);
        }
        let mut chosen = ranking[place];
        chosen.count += 1;
        while place > 0 && ranking[place - 1].count < chosen.count {
            ranking[place] = ranking[place - 1];
            self.places[usize::from(ranking[place].byte)] = place as u8;
            place -= 1;
        }
        ranking[place] = chosen;
        self.places[usize::from(chosen.byte)] = place as u8;
        (chosen.byte, chosen.digits)
    }
}

struct SideWork<'a, S> {
    path: &'a Path,
    parts: &'a HeaderParts,
    source: &'a S,
    level: i32,
    side: usize,
    packing: Packing,
}

struct Compressed {
    bytes: Vec<u8>,
    packed_bytes: usize,
}

/// Workers not at work. As many get made as threads are in need of one at a time; there is
/// nothing else to tell them apart.
#[derive(Default)]
struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    fn take(&self) -> Worker {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default()
    }

    fn give(&self, worker: Worker) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
    }
}

/// What compressing a block needs and the next one can use again.
#[derive(Default)]
struct Worker {
    compressor: Option<Compressor<'static>>,
    codes: Vec<u16>,
    packed: Vec<u8>,
}

impl<S: CodeSource> SideWork<'_, S> {
    fn compress(&self, worker: &mut Worker, block: u64) -> Result<Compressed, WriteError> {
        let all = self.parts.sides[self.side].places();
        let capacity = self.packing.capacity(self.parts.block_bytes);
        let start = block * capacity;
        let places = start..all.count().min(start.saturating_add(capacity));
        let first = all.entries_before(places.start);
        let end = all.entries_before(places.end);
        let Worker {
            compressor,
            codes,
            packed,
        } = worker;
        codes.clear();
        // A source that leaves an entry out has left it free; padding is free too.
        codes.resize((places.end - places.start) as usize, FREE);
        // The entries go behind the room for padding, and from there each row to its place.
        let mut from = codes.len() - (end - first) as usize;
        self.source.codes(self.side, first..end, &mut codes[from..]);
        let mut to = 0;
        all.for_each_row(places, |entries, padding| {
            codes.copy_within(from..from + entries, to);
            to += entries;
            from += entries;
            codes[to..to + padding].fill(FREE);
            to += padding;
        });
        packed.clear();
        let path = || self.path.to_owned();
        pack_filled(codes, self.packing, packed).map_err(|source| WriteError::Code {
            path: path(),
            side: self.side,
            first,
            source,
        })?;
        let zstd_error = |source| WriteError::Compress { path: path(), source };
        let compressor = match compressor {
            Some(compressor) => compressor,
            None => compressor.insert(self.compressor().map_err(zstd_error)?),
        };
        let bytes = compressor.compress(packed).map_err(zstd_error)?;
        let packed_bytes = packed.len();
        let bytes = if bytes.len() < packed_bytes {
            bytes
        } else {
            packed.clone()
        };
        Ok(Compressed { bytes, packed_bytes })
    }

    fn compressor(&self) -> io::Result<Compressor<'static>> {
        let mut compressor = if self.parts.dictionary.is_empty() {
            Compressor::new(self.level)?
        } else {
            Compressor::with_dictionary(self.level, &self.parts.dictionary)?
        };
        // The table knows length, checksum and dictionary of each block already.
        for parameter in [
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ] {
            compressor.set_parameter(parameter)?;
        }
        Ok(compressor)
    }
}

/// Where this process is writing.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what this process has written of tables that are not finished, and keeps it from beginning or
/// finishing another one: threads that try wait for ever. For a process that is about to end; a killed one
/// leaves a file that the next build removes.
pub fn stop_writing() {
    let unfinished = unfinished();
    for temporary in &*unfinished {
        // A file that cannot be removed is a leftover like that of a killed process.
        let _ = fs::remove_file(temporary);
    }
    std::mem::forget(unfinished);
}

/// Writes a file that is no table, in the same way: a reader never sees a part
/// of it.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut place = Place::create(path)?;
    place.write(bytes)?;
    place.settle()
}

/// A file in the making, beside the one it will replace. Removed unless it is finished.
struct Place {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
    folder: PathBuf,
    finished: bool,
}

impl Place {
    fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |path: &Path, action, source| WriteError::Io {
            path: path.to_owned(),
            action,
            source,
        };
        let Some(name) = path.file_name() else {
            return Err(failed(path, "write a table", io::Error::other("not a file name")));
        };
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).map_err(|e| failed(folder, "create the folder", e))?;
        let prefix = format!(".{}.tmp-", name.to_string_lossy());
        remove_leftovers(folder, &prefix);
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = folder.join(format!("{prefix}{}-{number}", std::process::id()));
            let mut unfinished = unfinished();
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&temporary);
            let file = match opened {
                Ok(file) => file,
                // Another host's process of the same number, on a shared file system.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(failed(&temporary, "create the file", e)),
            };
            // The lock tells others that this is no leftover. Where there are no locks they cannot
            // take it either, and leave the file alone.
            let _ = file.lock();
            unfinished.push(temporary.clone());
            drop(unfinished);
            // One that came between creation and lock has removed it.
            if !temporary.exists() {
                forget(&temporary);
                continue;
            }
            let file = BufWriter::with_capacity(1 << 18, file);
            return Ok(Self {
                file,
                temporary,
                path: path.into(),
                folder: folder.into(),
                finished: false,
            });
        }
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> WriteError + use<> {
        let path = self.path.clone();
        move |source| WriteError::Io {
            path: path.clone(),
            action,
            source,
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<(), WriteError> {
        self.file
            .seek(SeekFrom::Start(bytes))
            .map(|_| ())
            .map_err(self.failed("write"))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.file.write_all(bytes).map_err(self.failed("write"))
    }

    /// Adds header and checksum and gives the file its name.
    fn finish(mut self, header: &[u8]) -> Result<(), WriteError> {
        self.skip(0)?;
        self.write(header)?;
        self.file.flush().map_err(self.failed("write"))?;
        // Read back, as the header came last and the checksum has it first.
        self.skip(0)?;
        let sum = file_checksum(self.file.get_ref()).map_err(self.failed("read back"))?;
        self.write(&sum)?;
        self.settle()
    }

    /// Gives the file its name.
    fn settle(mut self) -> Result<(), WriteError> {
        self.file.flush().map_err(self.failed("write"))?;
        self.file.get_ref().sync_all().map_err(self.failed("sync"))?;
        {
            let _unfinished = unfinished();
            fs::rename(&self.temporary, &self.path).map_err(self.failed("move the finished file into place"))?;
        }
        self.finished = true;
        // Makes the name as durable as the contents.
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(self.failed("sync the folder of"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.finished {
            // The error that led here is the one to report; a leftover goes with the next write.
            let _ = fs::remove_file(&self.temporary);
        }
        forget(&self.temporary);
    }
}

fn forget(temporary: &Path) {
    unfinished().retain(|path| path != temporary);
}

/// Removes what killed runs left of any table in a folder.
pub(crate) fn remove_all_leftovers(folder: &Path) {
    remove_named(folder, |name| {
        name.starts_with('.') && name.contains(&format!(".{EXTENSION}.tmp-"))
    });
}

/// Removes what killed runs left of one table.
fn remove_leftovers(folder: &Path, prefix: &str) {
    remove_named(folder, |name| name.starts_with(prefix));
}

/// Removes unfinished files with some names. A file that another process is writing is locked and stays.
/// Best effort: a leftover that cannot be removed does no harm.
fn remove_named(folder: &Path, is_one: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_one(&entry.file_name().to_string_lossy()) {
            let file = OpenOptions::new().write(true).open(entry.path());
            if file.is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petrov_games::Colour;
    use petrov_probe::format::{FreeEntries, PaletteEntry, SideParts};
    use petrov_probe::{BlockCache, Metric, Table, Value50};

    /// An empty folder that goes with the value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("petrov-write-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<_> = fs::read_dir(&self.0)
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn parts(metric: Metric, values: u16, entries: u64) -> HeaderParts {
        let palette: Vec<_> = (0..values)
            .map(|i| match metric {
                Metric::Wld => {
                    let value = [Value50::Win, Value50::Draw, Value50::Loss][usize::from(i)];
                    PaletteEntry {
                        value,
                        distance: 0,
                        count: 9,
                    }
                }
                _ => PaletteEntry {
                    value: Value50::Win,
                    distance: i,
                    count: 9,
                },
            })
            .collect();
        let side = |to_move, entries| SideParts {
            to_move,
            order: 3,
            entries,
            // Padded where that is possible.
            row: if values <= 16 && entries % 8 == 0 { 8 } else { 0 },
            palette: palette.clone(),
            stored: values.into(),
            longest_win: Some(0),
            mated: None,
        };
        HeaderParts {
            family: "draughts".into(),
            metric,
            free_entries: FreeEntries {
                captures: true,
                ..FreeEntries::default()
            },
            fingerprint: [7; 16],
            game: "russian".into(),
            material: "KKMvK".into(),
            block_bytes: 256,
            dictionary: Vec::new(),
            sides: vec![side(Colour::White, entries), side(Colour::Black, entries / 3)],
        }
    }

    fn code(index: u64, values: u16) -> u16 {
        let mixed = (index / 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50;
        if index.is_multiple_of(5) {
            FREE
        } else {
            mixed as u16 % values
        }
    }

    fn source(values: u16) -> impl CodeSource {
        move |_, range: Range<u64>, codes: &mut [u16]| {
            for (slot, index) in codes.iter_mut().zip(range) {
                *slot = code(index, values);
            }
        }
    }

    fn check(table: &Table, values: u16) {
        table.verify_checksum().unwrap();
        for (side, parts) in table.header().sides().iter().enumerate() {
            for index in 0..parts.entries {
                let stored = table.code(side, index).unwrap();
                assert!(code(index, values) == FREE || code(index, values) == stored);
            }
        }
    }

    #[test]
    fn bytes_do_not_depend_on_threads() {
        let folder = Folder::new("threads");
        for (metric, values) in [(Metric::Wld, 3), (Metric::Dtw, 40), (Metric::Dtw, 700)] {
            for dictionary in [Vec::new(), vec![1; 300]] {
                let parts = HeaderParts {
                    dictionary,
                    ..parts(metric, values, 250_000)
                };
                let write = |threads: usize| {
                    let path = folder.0.join(format!("{threads}.petrov"));
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let report = pool
                        .install(|| write_table(&path, &parts, &source(values), DEFAULT_LEVEL))
                        .unwrap();
                    let table = Table::open(&path, &BlockCache::default()).unwrap();
                    assert_eq!(table.header().parts(), &parts);
                    assert_eq!(
                        report.blocks,
                        (0..2).map(|s| table.header().blocks(s).len() as u64).sum::<u64>()
                    );
                    let bytes = fs::read(&path).unwrap();
                    assert_eq!(bytes.len() as u64, report.bytes);
                    check(&table, values);
                    bytes
                };
                let one = write(1);
                assert!([2, 3, 4].into_iter().all(|threads| write(threads) == one));
            }
        }
        assert_eq!(folder.names(), ["1.petrov", "2.petrov", "3.petrov", "4.petrov"]);
    }

    #[test]
    fn failures_leave_nothing_and_harm_nothing() {
        let folder = Folder::new("failures");
        let path = folder.0.join("KvK.wld.petrov");
        fs::write(&path, "old").unwrap();
        let mut parts = parts(Metric::Wld, 3, 50_000);
        let wrong = |_: usize, range: Range<u64>, codes: &mut [u16]| codes.fill(if range.start > 9000 { 3 } else { 1 });
        assert!(matches!(
            write_table(&path, &parts, &wrong, 1),
            Err(WriteError::Code { .. })
        ));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(folder.names(), ["KvK.wld.petrov"]);
        assert!(matches!(
            write_table(&path.join("x"), &parts, &source(3), 1),
            Err(WriteError::Io { .. })
        ));
        fs::create_dir(folder.0.join("d")).unwrap();
        let error = write_table(&folder.0.join("d"), &parts, &source(3), 1)
            .unwrap_err()
            .to_string();
        assert!(error.contains("move the finished file into place"), "{error}");
        assert_eq!(folder.names(), ["KvK.wld.petrov", "d"]);
        parts.material.clear();
        assert!(matches!(
            write_table(&path, &parts, &source(3), 1),
            Err(WriteError::Header { .. })
        ));
    }

    #[test]
    fn leftovers_go_but_files_being_written_stay() {
        let folder = Folder::new("leftovers");
        let path = folder.0.join("KvK.wld.petrov");
        fs::write(folder.0.join(".KvK.wld.petrov.tmp-1-0"), "killed").unwrap();
        fs::write(folder.0.join(".KKvK.wld.petrov.tmp-1-0"), "another table's").unwrap();
        let busy = Place::create(&path).unwrap();
        write_table(&path, &parts(Metric::Wld, 3, 1000), &source(3), 1).unwrap();
        let name = busy.temporary.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(
            folder.names(),
            [".KKvK.wld.petrov.tmp-1-0", name.as_str(), "KvK.wld.petrov"]
        );
    }

    fn filled(mut codes: Vec<u16>, packing: Packing) -> Vec<u16> {
        let mut packed = Vec::new();
        pack_filled(&mut codes, packing, &mut packed).unwrap();
        packing.unpack(&packed, &mut codes).unwrap();
        codes
    }

    #[test]
    fn free_entries_continue_runs() {
        for codes in [3, 300] {
            for (given, expected) in [
                (vec![FREE, FREE, 2, FREE, 0, FREE], vec![2, 2, 2, 2, 0, 0]),
                (vec![FREE; 13], vec![0; 13]),
                (vec![], vec![]),
            ] {
                assert_eq!(filled(given, Packing::new(codes)), expected);
            }
        }
    }

    #[test]
    fn free_entries_make_bytes_that_were_frequent() {
        let mut codes = [0, 1, 2, 1, 0].repeat(3);
        codes.extend([FREE, 1, FREE, FREE, FREE]);
        assert_eq!(filled(codes, Packing::new(3)), [0, 1, 2, 1, 0].repeat(4));
    }

    #[test]
    fn only_free_entries_are_filled_and_always_alike() {
        for count in [2, 3, 4, 5, 6, 7, 11, 16, 17, 256, 300] {
            let packing = Packing::new(count);
            for length in [1, 2, 7, 64, 10_001] {
                for share in [1, 2, 5] {
                    // `share` 1: all free. None are free below.
                    let given: Vec<u16> = (0..length)
                        .map(|i| {
                            let free = i % share == 0;
                            if free { FREE } else { code(i * 5 + 1, count as u16) }
                        })
                        .collect();
                    let once = filled(given.clone(), packing);
                    for (given, filled) in given.iter().zip(&once) {
                        assert!(given == filled || *given == FREE && u32::from(*filled) < count);
                    }
                    assert_eq!(filled(given, packing), once);
                    assert_eq!(filled(once.clone(), packing), once, "nothing was free any more");
                }
            }
        }
    }

    #[test]
    fn codes_too_large_are_refused() {
        for count in [2, 3, 16, 17, 300] {
            let mut codes = vec![FREE, 0, count as u16, FREE];
            let error = pack_filled(&mut codes, Packing::new(count), &mut Vec::new());
            assert_eq!(
                error,
                Err(PackError::Code {
                    code: count,
                    limit: count
                })
            );
        }
    }
}
