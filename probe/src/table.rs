//! One table file.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zstd::zstd_safe::{self, DDict};

use crate::cache::{BlockCache, BlockSlots};
use crate::format::{Block, FILE_CHECKSUM_BYTES, FormatError, Header, PaletteEntry, file_checksum};
use crate::pack::{Code, PackError, Packing, Places};
use crate::reader::{Decoder, Passing, Reader};
use crate::score::Score;
use crate::storage::{Backend, Storage, read_at};

/// Why a table could not be opened or read. Each names the file.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be opened or mapped.
    #[error("{}: cannot be read: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no table, or a damaged one.
    #[error("{}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
    /// A block cannot be decoded.
    #[error("{}: side {side}, block {block}: {what}", path.display())]
    Block {
        /// The file.
        path: PathBuf,
        /// Number of the side.
        side: usize,
        /// Number of the block within the side.
        block: u64,
        /// What is wrong with it.
        what: BlockFault,
    },
    /// The table has no such side, entry or block.
    #[error("{}: side {side} has no {what} {number}", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// Number of the side asked for.
        side: usize,
        /// `entry` or `block`.
        what: &'static str,
        /// Number of the entry or block asked for.
        number: u64,
    },
}

/// What is wrong with a block.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// The file cannot be read there, for instance because it was cut short while it was open.
    #[error("cannot be read: {0}")]
    Read(String),
    /// The bytes in the file are not those written.
    #[error("the checksum differs: the file is damaged")]
    Checksum,
    /// zstd cannot decompress it.
    #[error("zstd: {0}")]
    Zstd(&'static str),
    /// It decompresses to the wrong length.
    #[error("{have} bytes after decompression where {need} are needed")]
    Length {
        /// Bytes it gives.
        have: usize,
        /// Bytes it should give.
        need: u32,
    },
    /// It holds a code without a value.
    #[error("{0}")]
    Code(PackError),
}

/// A table, open for reading by any number of threads.
///
/// The file must not be changed in place while it is open; replacing it by renaming another
/// over it is fine, and is how tables are written. Where that cannot be promised, [`Backend::Pread`]
/// makes an error of what is a signal with [`Backend::Mmap`].
pub struct Table {
    path: PathBuf,
    storage: Storage,
    header: Header,
    layouts: Vec<Layout>,
    slots: Arc<BlockSlots>,
    dictionary: Option<DDict<'static>>,
}

/// What a probe of one side needs, together in memory.
#[derive(Debug)]
struct Layout {
    places: Places,
    /// Places in a block.
    capacity: u64,
    packing: Packing,
    /// Number of this side's first block among the table's.
    first_slot: usize,
    /// One for every code, so that a code is checked by looking it up.
    scores: Vec<Score>,
}

impl Layout {
    fn block_places(&self, block: u64) -> Range<u64> {
        let start = block.saturating_mul(self.capacity);
        start..self.places.count().min(start.saturating_add(self.capacity))
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.path)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// Bytes read at first: more than most headers have.
const FIRST_READ: u64 = 4096;

impl Table {
    /// Opens a table with [`Backend::default`] and checks its header and length, not its blocks: each is
    /// checked when it is decoded. Decoded blocks are kept in `cache`.
    ///
    /// # Errors
    /// [`TableError::Open`] if the file cannot be read, [`TableError::Format`] if it is no whole table.
    pub fn open(path: impl AsRef<Path>, cache: &BlockCache) -> Result<Self, TableError> {
        Self::open_with(path, cache, Backend::default())
    }

    /// As [`Table::open`], with a choice of how the file is read.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn open_with(path: impl AsRef<Path>, cache: &BlockCache, backend: Backend) -> Result<Self, TableError> {
        let path = path.as_ref();
        let open_error = |source| TableError::Open {
            path: path.to_owned(),
            source,
        };
        let format_error = |source| TableError::Format {
            path: path.to_owned(),
            source,
        };
        // Looked at before it is opened: a pipe would wait for a writer.
        let meta = std::fs::metadata(path).map_err(open_error)?;
        if !meta.is_file() {
            return Err(open_error(std::io::Error::other("not a regular file")));
        }
        let file = File::open(path).map_err(open_error)?;
        let bytes = file.metadata().map_err(open_error)?.len();
        if bytes == 0 {
            // There is no empty map; this is what an empty file is.
            return Err(format_error(FormatError::Truncated { have: 0, need: 1 }));
        }
        // The header is read, not mapped, whatever the back end: it is needed at once and only once.
        let first = read_at(&file, 0, bytes.min(FIRST_READ) as usize).map_err(open_error)?;
        let header = match Header::parse(&first) {
            Err(FormatError::Truncated { need, .. }) if need > first.len() as u64 && need <= bytes => {
                let whole = read_at(&file, 0, need as usize).map_err(open_error)?;
                Header::parse(&whole)
            }
            Err(FormatError::Truncated { need, .. }) => Err(FormatError::Truncated { have: bytes, need }),
            parsed => parsed,
        }
        .map_err(format_error)?;
        let storage = Storage::new(file, backend).map_err(open_error)?;
        Self::of(path, header, storage, cache)
    }

    /// A table whose whole file is in memory, such as one that is part of the program. `path` names it in
    /// errors and need not exist.
    ///
    /// # Errors
    /// [`TableError::Format`] if the bytes are no whole table.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: &'static [u8], cache: &BlockCache) -> Result<Self, TableError> {
        let path = path.as_ref();
        let header = Header::parse(bytes).map_err(|source| TableError::Format {
            path: path.to_owned(),
            source,
        })?;
        Self::of(path, header, Storage::Memory(bytes), cache)
    }

    /// A table of a header that was read from its storage.
    fn of(path: &Path, header: Header, storage: Storage, cache: &BlockCache) -> Result<Self, TableError> {
        let format_error = |source| TableError::Format {
            path: path.to_owned(),
            source,
        };
        let (have, need) = (storage.len(), header.file_bytes());
        if have < need {
            return Err(format_error(FormatError::Truncated { have, need }));
        }
        if have > need {
            let (value, expected) = (have.to_string(), need.to_string());
            return Err(format_error(FormatError::Impossible {
                field: "file length",
                value,
                expected,
            }));
        }

        let parts = header.parts();
        let mut first_slot = 0;
        let mut table_bytes = 0;
        let layouts = (parts.sides.iter().enumerate())
            .map(|(number, side)| {
                let packing = side.packing();
                let usable = (side.stored as usize).max(1);
                let layout = Layout {
                    places: side.places(),
                    capacity: packing.capacity(parts.block_bytes).max(1),
                    packing,
                    first_slot,
                    scores: side.palette.iter().take(usable).map(PaletteEntry::score).collect(),
                };
                first_slot += header.blocks(number).len();
                table_bytes += packing.bytes(side.places().count());
                layout
            })
            .collect();
        let slots = cache.slots(first_slot, table_bytes);
        let dictionary = match parts.dictionary.as_slice() {
            [] => None,
            // zstd takes anything as raw content, but not a trained dictionary with damaged tables.
            bytes => Some(DDict::try_create(bytes).ok_or_else(|| {
                format_error(FormatError::Impossible {
                    field: "dictionary",
                    value: format!("{} bytes", bytes.len()),
                    expected: "a zstd dictionary".into(),
                })
            })?),
        };
        Ok(Self {
            path: path.to_owned(),
            storage,
            header,
            layouts,
            slots,
            dictionary,
        })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[doc(hidden)]
    /// The checked header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the whole file and compares it with the checksum at its end.
    ///
    /// # Errors
    /// [`TableError::Format`] with [`FormatError::Checksum`] if it differs, [`TableError::Open`] if the file cannot
    /// be read.
    pub fn verify_checksum(&self) -> Result<(), TableError> {
        self.storage.advise(true);
        // A checked header knows of at least so many bytes.
        let end = self.storage.len() - FILE_CHECKSUM_BYTES as u64;
        let sums = file_checksum(self.storage.reader(end))
            .and_then(|sum| Ok(*self.storage.bytes(end, FILE_CHECKSUM_BYTES, &mut Vec::new())? == sum));
        self.storage.advise(false);
        match sums {
            Ok(true) => Ok(()),
            Ok(false) => Err(TableError::Format {
                path: self.path.clone(),
                source: FormatError::Checksum { part: "the file" },
            }),
            Err(source) => Err(TableError::Open {
                path: self.path.clone(),
                source,
            }),
        }
    }

    #[doc(hidden)]
    /// Tells the system that the file will be read from front to back, as by [`Table::read_codes`] block
    /// after block; it then reads ahead. Tables are opened for random reads.
    pub fn advise_sequential(&self) {
        self.storage.advise(true);
    }

    #[doc(hidden)]
    /// The code of an entry: which of the first values of the palette it holds.
    /// Meaningless for a free entry.
    ///
    /// # Errors
    /// [`TableError::Absent`] if there is no such entry, [`TableError::Block`] if its block is damaged.
    #[inline]
    pub fn code(&self, side: usize, index: u64) -> Result<u16, TableError> {
        self.find(side, index, &mut Passing).map(|(code, _)| code)
    }

    #[doc(hidden)]
    /// The value and distance (in plies) of an entry. Meaningless for a free entry.
    ///
    /// # Errors
    /// [`TableError::Absent`] if there is no such entry, [`TableError::Block`] if its block is damaged.
    #[inline]
    pub fn entry(&self, side: usize, index: u64) -> Result<Score, TableError> {
        self.find(side, index, &mut Passing).map(|(_, score)| score)
    }

    #[inline]
    fn find<D: Reader>(&self, side: usize, index: u64, reader: &mut D) -> Result<(u16, Score), TableError> {
        let Some(layout) = self.layouts.get(side).filter(|l| index < l.places.entries()) else {
            return Err(self.absent(side, "entry", index));
        };
        let place = layout.places.of(index);
        let block = place / layout.capacity;
        let code = if layout.packing.stores() {
            // Below the capacity of a block, hence far below 2^32.
            let position = (place - block * layout.capacity) as usize;
            let slot = layout.first_slot + block as usize;
            let length = || self.packed_bytes(side, block);
            let decode = |decoder: &mut Decoder, out: &mut [u8]| self.decode_into(side, block, decoder, out);
            let read = self.slots.read(slot, reader, length, decode, |packed| {
                layout.packing.get(packed, position)
            });
            match read?.flatten() {
                Some(code) => code,
                None => return Err(self.absent(side, "entry", index)),
            }
        } else {
            0
        };
        match layout.scores.get(usize::from(code)) {
            Some(&score) => Ok((code, score)),
            None => {
                let fault = PackError::Code {
                    code: code.into(),
                    limit: layout.scores.len() as u32,
                };
                Err(self.fault(side, block, BlockFault::Code(fault)))
            }
        }
    }

    /// As [`Table::entry`], by a reader with memory of its own.
    #[inline]
    pub(crate) fn entry_by<D: Reader>(&self, side: usize, index: u64, reader: &mut D) -> Result<Score, TableError> {
        self.find(side, index, reader).map(|(_, score)| score)
    }

    /// Decodes every block that the cache does not hold and keeps all for good, as long as the cache and
    /// `room` have room. Takes the bytes that these blocks fill from `room`; false if there was not enough.
    pub(crate) fn keep_blocks<D: Reader>(&self, room: &mut u64, reader: &mut D) -> Result<bool, TableError> {
        for (side, layout) in self.layouts.iter().enumerate() {
            for block in 0..self.header.blocks(side).len() as u64 {
                let length = self.packed_bytes(side, block);
                if length as u64 > *room {
                    return Ok(false);
                }
                let decode = |decoder: &mut Decoder, out: &mut [u8]| self.decode_into(side, block, decoder, out);
                let slot = layout.first_slot + block as usize;
                match self.slots.keep(slot, reader, length, decode)? {
                    Some(bytes) => *room = room.saturating_sub(bytes),
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Tells the system that the block of an entry will be read soon, unless the cache holds it.
    pub(crate) fn prefetch(&self, side: usize, index: u64) {
        let Some(layout) = self.layouts.get(side).filter(|l| index < l.places.entries()) else {
            return;
        };
        let block = layout.places.of(index) / layout.capacity;
        let found = self.header.blocks(side).get(block as usize);
        if let Some(place) = found.filter(|_| !self.slots.holds(layout.first_slot + block as usize)) {
            self.storage.will_need(place.offset, place.stored_bytes as usize);
        }
    }

    /// Bytes of a decoded block; 0 if there is no such block.
    fn packed_bytes(&self, side: usize, block: u64) -> usize {
        let found = self.header.blocks(side).get(block as usize);
        found.map_or(0, |place| place.packed_bytes as usize)
    }

    #[doc(hidden)]
    /// What each code of `side` stands for, by the code; empty if there is no such side.
    #[must_use]
    pub fn scores(&self, side: usize) -> &[Score] {
        self.layouts.get(side).map_or(&[], |layout| &layout.scores)
    }

    #[doc(hidden)]
    /// Decodes one block, past the cache: its packed codes ([`Packing`]).
    ///
    /// # Errors
    /// [`TableError::Absent`] if there is no such block, [`TableError::Block`] if it is damaged.
    pub fn read_block(&self, side: usize, block: u64) -> Result<Vec<u8>, TableError> {
        let mut packed = vec![0; self.packed_bytes(side, block)];
        Passing.with_decoder(|decoder| self.decode_into(side, block, decoder, &mut packed))?;
        Ok(packed)
    }

    /// Decodes a block into memory of its packed length.
    fn decode_into(&self, side: usize, block: u64, decoder: &mut Decoder, out: &mut [u8]) -> Result<(), TableError> {
        let found = usize::try_from(block)
            .ok()
            .and_then(|block| self.header.blocks(side).get(block));
        let Some(place) = found else {
            return Err(self.absent(side, "block", block));
        };
        self.decode(place, decoder, out)
            .map_err(|what| self.fault(side, block, what))
    }

    fn decode(&self, block: &Block, decoder: &mut Decoder, out: &mut [u8]) -> Result<(), BlockFault> {
        let Decoder { context, stored, .. } = decoder;
        // The header was checked against the length of the file, so these bytes were there once.
        let stored = self.storage.bytes(block.offset, block.stored_bytes as usize, stored);
        let stored = stored.map_err(|error| BlockFault::Read(error.to_string()))?;
        if crc32fast::hash(stored) != block.crc {
            return Err(BlockFault::Checksum);
        }
        if block.is_raw() {
            out.copy_from_slice(stored);
            return Ok(());
        }
        let need = out.len();
        let outcome = match &self.dictionary {
            Some(dictionary) => context.decompress_using_ddict(out, stored, dictionary),
            None => context.decompress(out, stored),
        };
        match outcome {
            Ok(have) if have == need => Ok(()),
            Ok(have) => Err(BlockFault::Length {
                have,
                need: block.packed_bytes,
            }),
            Err(code) => Err(BlockFault::Zstd(zstd_safe::get_error_name(code))),
        }
    }

    #[doc(hidden)]
    /// The entries whose codes block `block` of `side` holds; for a side that stores nothing there are no
    /// blocks, and every code is 0.
    ///
    /// # Errors
    /// [`TableError::Absent`] if there is no such block.
    pub fn block_entries(&self, side: usize, block: u64) -> Result<Range<u64>, TableError> {
        match self.layouts.get(side) {
            Some(layout) if block < self.header.blocks(side).len() as u64 => {
                let places = layout.block_places(block);
                Ok(layout.places.entries_before(places.start)..layout.places.entries_before(places.end))
            }
            _ => Err(self.absent(side, "block", block)),
        }
    }

    #[doc(hidden)]
    /// Decodes the codes of one block's entries, past the cache, into `out`, which is made as long as they are.
    ///
    /// # Errors
    /// [`TableError::Absent`] if there is no such block, [`TableError::Block`] if it is damaged or holds
    /// codes `T` has no room for.
    pub fn read_codes<T: Code>(&self, side: usize, block: u64, out: &mut Vec<T>) -> Result<(), TableError> {
        let packed = self.read_block(side, block)?;
        let Some(layout) = self.layouts.get(side) else {
            return Err(self.absent(side, "block", block));
        };
        let places = layout.block_places(block);
        out.clear();
        // At most eight for each byte just decoded.
        out.resize((places.end - places.start) as usize, T::default());
        let unpacked = layout.packing.unpack(&packed, out);
        unpacked.map_err(|fault| self.fault(side, block, BlockFault::Code(fault)))?;
        let (mut from, mut to) = (0, 0);
        layout.places.for_each_row(places, |entries, padding| {
            out.copy_within(from..from + entries, to);
            to += entries;
            from += entries + padding;
        });
        out.truncate(to);
        Ok(())
    }

    #[cold]
    fn absent(&self, side: usize, what: &'static str, number: u64) -> TableError {
        TableError::Absent {
            path: self.path.clone(),
            side,
            what,
            number,
        }
    }

    #[cold]
    fn fault(&self, side: usize, block: u64, what: BlockFault) -> TableError {
        TableError::Block {
            path: self.path.clone(),
            side,
            block,
            what,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::tests::{palette, parts, side};
    use crate::format::{BlockSum, HeaderParts};
    use crate::score::{Metric, Value};
    use petrov_games::draughts::Colour;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A file in the temporary folder that goes with the value.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(bytes: &[u8]) -> Self {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("petrov-table-{}-{number}", std::process::id()));
            std::fs::write(&path, bytes).unwrap();
            Self(path)
        }

        fn open(&self) -> Result<Table, TableError> {
            Table::open(&self.0, &BlockCache::default())
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn seal(header: &[u8], blocks: &[Vec<u8>]) -> Vec<u8> {
        let mut file = header.to_vec();
        blocks.iter().for_each(|b| file.extend(b));
        let sum = file_checksum(&file[..]).unwrap();
        file.extend(sum);
        file
    }

    fn file(parts: &HeaderParts, code: impl Fn(usize, u64) -> u16) -> Vec<u8> {
        let mut blocks = Vec::new();
        let mut sums = Vec::new();
        for (number, side) in parts.sides.iter().enumerate() {
            let capacity = side.packing().capacity(parts.block_bytes);
            let mut list = Vec::new();
            let mut codes = vec![
                0;
                if capacity > 0 {
                    side.places().count() as usize
                } else {
                    0
                }
            ];
            if capacity > 0 {
                (0..side.entries).for_each(|entry| codes[side.places().of(entry) as usize] = code(number, entry));
            }
            for codes in codes.chunks(capacity.max(1) as usize) {
                let mut packed = Vec::new();
                side.packing().pack(codes, &mut packed).unwrap();
                let squeezed = zstd::bulk::Compressor::with_dictionary(19, &parts.dictionary).unwrap();
                let squeezed = { squeezed }.compress(&packed).unwrap();
                let bytes = if squeezed.len() < packed.len() {
                    squeezed
                } else {
                    packed
                };
                list.push(BlockSum::of(&bytes));
                blocks.push(bytes);
            }
            sums.push(list);
        }
        seal(&Header::new(parts.clone(), &sums).unwrap().encode(), &blocks)
    }

    fn scrambled(index: u64, limit: u64) -> u16 {
        (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u16 % limit as u16
    }

    fn example() -> HeaderParts {
        let list = palette(&[(Value::Win, 0, 700), (Value::Draw, 0, 200), (Value::Loss, 0, 100)]);
        let mut sides = vec![side(Colour::White, 1000, list.clone()), side(Colour::Black, 900, list)];
        sides[1].row = 12;
        parts(Metric::Wld, 64, sides)
    }

    /// White compresses, Black does not, so both kinds of block occur.
    fn example_code(side: usize, index: u64) -> u16 {
        if side == 0 {
            (index / 400) as u16
        } else {
            scrambled(index, 3)
        }
    }

    #[test]
    fn entries_read_back() {
        let parts = example();
        let scratch = Scratch::new(&file(&parts, example_code));
        let table = scratch.open().unwrap();
        table.verify_checksum().unwrap();
        assert!(table.header().blocks(1).iter().any(Block::is_raw));
        assert!(!table.header().blocks(0)[0].is_raw());
        for (number, side) in parts.sides.iter().enumerate() {
            for index in 0..side.entries {
                let code = example_code(number, index);
                let score = side.palette[usize::from(code)].score();
                assert_eq!(table.code(number, index).unwrap(), code);
                assert_eq!(table.entry(number, index).unwrap(), score);
            }
            assert!(matches!(
                table.entry(number, side.entries),
                Err(TableError::Absent { .. })
            ));
            let mut all = Vec::<u8>::new();
            for block in 0..table.header().blocks(number).len() as u64 {
                let mut codes = Vec::<u8>::new();
                assert_eq!(table.block_entries(number, block).unwrap().start, all.len() as u64);
                table.read_codes(number, block, &mut codes).unwrap();
                all.extend(codes);
            }
            assert_eq!(all.len() as u64, side.entries);
            assert!(
                all.iter()
                    .zip(0..)
                    .all(|(&code, i)| u16::from(code) == example_code(number, i))
            );
        }
        assert!(matches!(table.entry(2, 0), Err(TableError::Absent { .. })));
        assert!(matches!(table.read_block(0, 99), Err(TableError::Absent { .. })));
    }

    #[test]
    fn wide_constant_and_dictionary_tables_read_back() {
        let many: Vec<_> = (0..700).map(|d| (Value::Win, d, 3)).collect();
        let one = palette(&[(Value::Loss, 8, 5), (Value::Win, 9, 1)]);
        let mut parts = parts(
            Metric::Dtw,
            512,
            vec![side(Colour::White, 2100, palette(&many)), side(Colour::Black, 50, one)],
        );
        parts.sides[1].stored = 1;
        let code = |side, index: u64| if side == 0 { (index / 3) as u16 } else { 0 };
        for dictionary in [
            Vec::new(),
            (0..2000u32).flat_map(|i| ((i / 3) as u16).to_le_bytes()).collect(),
        ] {
            parts.dictionary = dictionary;
            let scratch = Scratch::new(&file(&parts, code));
            let table = scratch.open().unwrap();
            for index in 0..2100 {
                assert_eq!(table.entry(0, index).unwrap(), Score::win((index / 3) as u16));
            }
            assert_eq!(table.entry(1, 49).unwrap(), Score::loss(8));
            assert!(table.header().blocks(1).is_empty());
            assert!(table.read_codes(0, 0, &mut Vec::<u8>::new()).is_err());
        }
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = file(&example(), example_code);
        for length in 0..bytes.len() {
            let scratch = Scratch::new(&bytes[..length]);
            let error = scratch.open().unwrap_err();
            let truncated = matches!(
                error,
                TableError::Format {
                    source: FormatError::Truncated { .. },
                    ..
                }
            );
            assert!(truncated, "{length} bytes: {error}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Scratch::new(&longer).open().is_err());
    }

    #[test]
    fn every_altered_byte_is_found() {
        let parts = example();
        let bytes = file(&parts, example_code);
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x40;
            let scratch = Scratch::new(&altered);
            let Ok(table) = scratch.open() else { continue };
            assert!(table.verify_checksum().is_err(), "byte {at}");
            for (number, side) in parts.sides.iter().enumerate() {
                for index in 0..side.entries {
                    if let Ok(code) = table.code(number, index) {
                        assert_eq!(code, example_code(number, index), "byte {at}");
                    }
                }
            }
        }
    }

    /// Blocks with right checksums and wrong contents: a hostile file, not a damaged one.
    #[test]
    fn hostile_blocks_are_errors() {
        let mut one_side = example();
        one_side.sides.pop();
        one_side.sides[0].entries = 300;
        let squeeze = |bytes: &[u8]| zstd::bulk::compress(bytes, 19).unwrap();
        for bytes in [
            squeeze(&[0; 61]),
            squeeze(&[0; 59]),
            vec![0; 59],
            vec![243; 60],
            squeeze(&[255; 60]),
        ] {
            let header = Header::new(one_side.clone(), &[vec![BlockSum::of(&bytes)]]).unwrap();
            let scratch = Scratch::new(&seal(&header.encode(), &[bytes]));
            let table = scratch.open().unwrap();
            table.verify_checksum().unwrap();
            assert!(matches!(table.entry(0, 7), Err(TableError::Block { .. })));
            assert!(matches!(
                table.read_codes(0, 0, &mut Vec::<u16>::new()),
                Err(TableError::Block { .. })
            ));
        }
    }

    #[test]
    fn a_damaged_dictionary_is_an_error() {
        let mut parts = example();
        let bytes = file(&parts, example_code);
        let sums = |header: &Header| {
            let sum = |b: &Block| BlockSum {
                stored_bytes: b.stored_bytes,
                crc: b.crc,
            };
            (0..2)
                .map(|side| header.blocks(side).iter().map(sum).collect())
                .collect::<Vec<_>>()
        };
        let header = Header::parse(&bytes).unwrap();
        parts.dictionary = [&[0x37, 0xa4, 0x30, 0xec][..], &[0xff; 40]].concat();
        let blocks = bytes[header.header_bytes() as usize..bytes.len() - FILE_CHECKSUM_BYTES].to_vec();
        let header = Header::new(parts, &sums(&header)).unwrap();
        let scratch = Scratch::new(&seal(&header.encode(), &[blocks]));
        assert!(
            scratch
                .open()
                .unwrap_err()
                .to_string()
                .contains("impossible dictionary")
        );
    }

    #[test]
    fn threads_read_the_same() {
        let parts = example();
        let scratch = Scratch::new(&file(&parts, example_code));
        for budget in [0, 100, 200, 1 << 20] {
            let cache = BlockCache::new(budget);
            let table = Table::open(&scratch.0, &cache).unwrap();
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (table, cache) = (&table, &cache);
                    scope.spawn(move || {
                        for i in 0..10_000 {
                            let index = u64::from(scrambled(i + thread * 77_777, 900));
                            let side = (i % 2) as usize;
                            assert_eq!(table.code(side, index).unwrap(), example_code(side, index));
                            assert!(cache.stats().bytes <= budget);
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        assert!(matches!(
            Table::open(std::env::temp_dir(), &BlockCache::default()),
            Err(TableError::Open { .. })
        ));
        let missing = std::env::temp_dir().join("petrov-no-such-table");
        assert!(matches!(
            Table::open(missing, &BlockCache::default()),
            Err(TableError::Open { .. })
        ));
    }
}
