//! Writing of table files: blocks are filled, packed and compressed in parallel,
//! and the file appears under its name only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use petrov_probe::FormatError;
use petrov_probe::format::{BlockSum, Header, HeaderParts, file_checksum};
use petrov_probe::pack::{PackError, Packing};
use rayon::prelude::*;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// What a source gives instead of a code for a free entry.
pub const FREE: u16 = u16::MAX;

/// Blocks compressed, for each thread, before the results are written: enough that
/// threads rarely wait for each other, and no more than some MB of memory each.
const BLOCKS_PER_THREAD: usize = 64;

/// The codes of a table's entries, in the order in which they are stored.
pub trait CodeSource: Sync {
    /// Puts the codes of the entries `range` of side number `side` into `codes`, which has the
    /// range's length: an index into the palette below its `stored`, or [`FREE`].
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
                    let mut worker = workers.take();
                    let block = work.compress(&mut worker, start + at as u64);
                    workers.give(worker);
                    block
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

/// Bytes that some blocks of one side take when compressed at `level`: for choosing between ways to store it.
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
) -> Result<u64, WriteError> {
    let work = SideWork {
        path,
        parts,
        source,
        level,
        side,
        packing: parts.sides[side].packing(),
    };
    let mut worker = Worker::default();
    let mut bytes = 0;
    for block in blocks {
        bytes += work.compress(&mut worker, *block)?.bytes.len() as u64;
    }
    Ok(bytes)
}

/// Gives every free entry a code. What a block holds must depend on that block alone, so that tables
/// have the same bytes however the work is divided.
///
/// Where several codes share a byte, the free ones make it the byte that was most frequent so far, unless
/// repeating the last code gives one at least half as frequent. Else they repeat the last code, or
/// the first one that is not free before any was met: runs grow and no new one begins. 0 if all are free.
fn fill_free(codes: &mut [u16], packing: Packing) {
    let mut last = codes.iter().copied().find(|&code| code != FREE).unwrap_or(0);
    let limit = packing.codes();
    // Else packing refuses the code, whatever stands beside it.
    let sound = codes.iter().all(|&code| code == FREE || u32::from(code) < limit);
    let per_byte = packing.per_byte() as usize;
    if per_byte < 2 || !sound {
        for code in codes {
            if *code == FREE {
                *code = last;
            }
            last = *code;
        }
        return;
    }
    let mut bytes = Frequencies::new(limit, per_byte);
    for codes in codes.chunks_mut(per_byte) {
        // What the last byte of a block lacks is 0, and not free.
        let (mut fixed, mut free) = (0, 0);
        let (mut repeated, mut scale) = (0, 1);
        for (at, &code) in codes.iter().enumerate() {
            if code == FREE {
                free |= 15 << (4 * at);
            } else {
                last = code;
                fixed |= u32::from(code) << (4 * at);
            }
            repeated += u32::from(last) * scale;
            scale *= limit;
        }
        let digits = bytes.choose(fixed, free, repeated as u8);
        for (at, code) in codes.iter_mut().enumerate() {
            *code = (digits >> (4 * at) & 15) as u16;
            last = *code;
        }
    }
}

/// How often each packed byte occurred so far in a block.
struct Frequencies {
    /// The codes in each byte, four bits for each: where codes share a byte there are at most 16.
    digits: [u32; 256],
    counts: [u32; 256],
    /// The bytes that codes pack to, from the most to the least frequent.
    bytes: Vec<u8>,
    /// The place of each byte in that list.
    places: [u8; 256],
}

impl Frequencies {
    fn new(limit: u32, per_byte: usize) -> Self {
        let digits_of = |byte: u32| {
            let digit = |at| byte / limit.pow(at) % limit;
            (0..per_byte as u32).map(|at| digit(at) << (4 * at)).sum()
        };
        let top = limit.pow(per_byte as u32).min(256);
        Self {
            digits: std::array::from_fn(|byte| digits_of(byte as u32)),
            counts: [0; 256],
            bytes: (0..top).map(|byte| byte as u8).collect(),
            places: std::array::from_fn(|byte| byte as u8),
        }
    }

    /// Picks a byte with the codes `fixed` outside `free`, counts it and returns its codes.
    fn choose(&mut self, fixed: u32, free: u32, repeated: u8) -> u32 {
        let mut byte = repeated;
        if free != 0 {
            let enough = 2 * self.counts[usize::from(repeated)];
            let better = self
                .bytes
                .iter()
                .take_while(|&&other| self.counts[usize::from(other)] > enough)
                .find(|&&other| self.digits[usize::from(other)] & !free == fixed);
            byte = *better.unwrap_or(&repeated);
        }
        let count = &mut self.counts[usize::from(byte)];
        *count += 1;
        let count = *count;
        let mut place = usize::from(self.places[usize::from(byte)]);
        while place > 0 && self.counts[usize::from(self.bytes[place - 1])] < count {
            let other = self.bytes[place - 1];
            self.bytes[place] = other;
            self.places[usize::from(other)] = place as u8;
            place -= 1;
        }
        self.bytes[place] = byte;
        self.places[usize::from(byte)] = place as u8;
        self.digits[usize::from(byte)]
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
        let capacity = self.packing.capacity(self.parts.block_bytes);
        let first = block * capacity;
        let end = self.parts.sides[self.side].entries.min(first.saturating_add(capacity));
        let Worker {
            compressor,
            codes,
            packed,
        } = worker;
        codes.clear();
        // A source that leaves an entry out has left it free.
        codes.resize((end - first) as usize, FREE);
        self.source.codes(self.side, first..end, codes);
        fill_free(codes, self.packing);
        packed.clear();
        let path = || self.path.to_owned();
        self.packing.pack(codes, packed).map_err(|source| WriteError::Code {
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
            // One that came between creation and lock has removed it.
            if !temporary.exists() {
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
        self.file.flush().map_err(self.failed("write"))?;
        self.file.get_ref().sync_all().map_err(self.failed("sync"))?;
        fs::rename(&self.temporary, &self.path).map_err(self.failed("move the finished file into place"))?;
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
    }
}

/// Removes what killed runs left of one table. A file that another process is writing is locked and stays.
/// Best effort: a leftover that cannot be removed does no harm.
fn remove_leftovers(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
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
    use petrov_games::draughts::Colour;
    use petrov_probe::format::{Family, PaletteEntry, SideParts};
    use petrov_probe::{BlockCache, Metric, Table, Value};

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
                    let value = [Value::Win, Value::Draw, Value::Loss][usize::from(i)];
                    PaletteEntry {
                        value,
                        distance: 0,
                        count: 9,
                    }
                }
                _ => PaletteEntry {
                    value: Value::Win,
                    distance: i,
                    count: 9,
                },
            })
            .collect();
        let side = |to_move, entries| SideParts {
            to_move,
            order: 3,
            entries,
            palette: palette.clone(),
            stored: values.into(),
            longest_win: Some(0),
        };
        HeaderParts {
            family: Family::Draughts,
            metric,
            free_entries: true,
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

    #[test]
    fn free_entries_continue_runs() {
        for codes in [3, 300] {
            for (given, filled) in [
                (vec![FREE, FREE, 2, FREE, 0, FREE], vec![2, 2, 2, 2, 0, 0]),
                (vec![FREE; 13], vec![0; 13]),
                (vec![], vec![]),
            ] {
                let mut codes_of_block = given;
                fill_free(&mut codes_of_block, Packing::new(codes));
                assert_eq!(codes_of_block, filled);
            }
        }
    }

    #[test]
    fn free_entries_make_bytes_that_were_frequent() {
        let mut codes = [0, 1, 2, 1, 0].repeat(3);
        codes.extend([FREE, 1, FREE, FREE, FREE]);
        fill_free(&mut codes, Packing::new(3));
        assert_eq!(codes, [0, 1, 2, 1, 0].repeat(4));
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
                    let mut filled = given.clone();
                    fill_free(&mut filled, packing);
                    for (given, filled) in given.iter().zip(&filled) {
                        assert!(given == filled || *given == FREE && u32::from(*filled) < count);
                    }
                    let mut again = given.clone();
                    fill_free(&mut again, packing);
                    assert_eq!(again, filled);
                    fill_free(&mut again, packing);
                    assert_eq!(again, filled, "nothing was free any more");
                }
            }
        }
    }
}
