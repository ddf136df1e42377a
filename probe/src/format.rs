//! The header of a table file, as laid down in `docs/format.md`.
//!
//! A header is read and checked once, into a [`Header`] all of whose numbers and
//! offsets are known to be possible; nothing has to be checked again afterwards.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

pub use crate::errors::FormatError;
use crate::pack::{Packing, Places};
use crate::score::{Metric, Score, Value, Value50};
use petrov_games::Colour;

/// The first bytes of every table file.
pub const MAGIC: [u8; 8] = *b"\x89PETROV\n";
/// The version of the format this crate reads and writes.
pub const VERSION: u16 = 1;
/// Packed bytes in a block unless the writer chooses otherwise.
pub const DEFAULT_BLOCK_BYTES: u32 = 1 << 16;
/// The largest block, in packed bytes. A reader never needs more memory for one.
pub const MAX_BLOCK_BYTES: u32 = 1 << 24;
/// Bytes of the checksum that ends a file: the first ones of a SHA-256.
pub const FILE_CHECKSUM_BYTES: usize = 16;

/// Magic, version and header length.
const PREFIX_BYTES: usize = 14;
const HEADER_CRC_BYTES: usize = 4;
const BLOCK_CRC_BYTES: usize = 4;
/// Longest game name and material, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Wins and losses at every distance, and the draw.
const MAX_PALETTE: usize = 2 * (Score::MAX_DISTANCE as usize + 1) + 1;

fn impossible<T>(field: &'static str, value: impl ToString, expected: impl Into<String>) -> Result<T, FormatError> {
    Err(FormatError::Impossible {
        field,
        value: value.to_string(),
        expected: expected.into(),
    })
}

/// The byte of a value in the file.
const fn value_byte(value: Value50) -> u8 {
    value as u8
}

const VALUES: [Value50; 5] = [
    Value50::Loss,
    Value50::BlessedLoss,
    Value50::Draw,
    Value50::CursedWin,
    Value50::Win,
];

fn value_of_byte(byte: u8) -> Result<Value50, FormatError> {
    match VALUES.get(usize::from(byte)) {
        Some(value) => Ok(*value),
        None => impossible("value", byte, "0 (loss) to 4 (win)"),
    }
}

/// Which entries may hold anything, so that a reader must not go by them alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FreeEntries {
    /// Entries whose mover has a capture: captures are compulsory, and they decide.
    pub captures: bool,
    /// Entries whose mover has a winning capture; those with a drawing one may hold a loss where the
    /// value is a draw. The value is the better of the entry's and the captures'.
    pub up_to_capture: bool,
    /// Entries of no position, as the side not to move would be in check.
    pub gaps: bool,
}

impl FreeEntries {
    const CAPTURES: u8 = 1;
    const UP_TO_CAPTURE: u8 = 2;
    const GAPS: u8 = 4;

    fn byte(self) -> u8 {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        flag(self.captures, Self::CAPTURES)
            | flag(self.up_to_capture, Self::UP_TO_CAPTURE)
            | flag(self.gaps, Self::GAPS)
    }

    fn of_byte(byte: u8) -> Result<Self, FormatError> {
        let free = Self {
            captures: byte & Self::CAPTURES != 0,
            up_to_capture: byte & Self::UP_TO_CAPTURE != 0,
            gaps: byte & Self::GAPS != 0,
        };
        if free.byte() != byte || free.captures && free.up_to_capture {
            return impossible("flags", byte, "1 or 2 for captures, and 4 for gaps");
        }
        Ok(free)
    }

    /// Whether an entry of this value may hold anything if the mover's captures lead to it.
    #[must_use]
    pub fn frees(self, score: Score) -> bool {
        self.captures || self.up_to_capture && score.is_win()
    }

    /// Whether any entry can be free.
    const fn any(self) -> bool {
        self.captures || self.up_to_capture || self.gaps
    }
}

/// One value that occurs in a side, with how often it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaletteEntry {
    /// For the side to move; cursed wins and blessed losses only where distances are those to the next
    /// conversion.
    pub value: Value50,
    /// In plies, at most [`Score::MAX_DISTANCE`]; 0 for draws and in tables of metric wld.
    pub distance: u16,
    /// Positions with this value and distance, no symmetry used, free entries included.
    pub count: u64,
}

impl PaletteEntry {
    /// Value and distance in one.
    #[must_use]
    pub fn score(&self) -> Score {
        let value = match self.value {
            Value50::Win | Value50::CursedWin => Value::Win,
            Value50::Draw => Value::Draw,
            Value50::Loss | Value50::BlessedLoss => Value::Loss,
        };
        let score = Score::new(value, self.distance);
        if matches!(self.value, Value50::CursedWin | Value50::BlessedLoss) {
            score.spoilt()
        } else {
            score
        }
    }
}

/// What a header says of one side to move, blocks apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideParts {
    /// Which colour moves.
    pub to_move: Colour,
    /// Order of the index digits (`docs/format.md`, section 4).
    pub order: u8,
    /// Entries, by the index.
    pub entries: u64,
    /// Entries in a row, where rows are padded to whole bytes; else 0.
    pub row: u32,
    /// Every value that occurs. The first [`SideParts::stored`] are the ones entries can hold.
    pub palette: Vec<PaletteEntry>,
    /// How many values of the palette occur among stored entries: codes are below this.
    pub stored: u32,
    /// The lowest index with the longest win; none if nothing is won.
    pub longest_win: Option<u64>,
    /// Positions in which the side to move is mated, no symmetry used; part of the losses. None where
    /// nobody can be.
    pub mated: Option<u64>,
}

/// What a header says, blocks apart: all that a writer knows before it compresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParts {
    /// The family of games, for example `draughts`.
    pub family: String,
    /// What is stored of each position.
    pub metric: Metric,
    /// Which entries may hold anything.
    pub free_entries: FreeEntries,
    /// Fingerprint of the rules the values hold under.
    pub fingerprint: [u8; 16],
    /// Name of the game the table was built for; other games may share the fingerprint.
    pub game: String,
    /// Material, for example `KKMvKM`.
    pub material: String,
    /// Packed bytes in every block but a side's last.
    pub block_bytes: u32,
    /// zstd dictionary of all blocks; empty for none.
    pub dictionary: Vec<u8>,
    /// One side if the other is its colour swap, else two.
    pub sides: Vec<SideParts>,
}

/// Where a block lies and what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First byte, from the start of the file.
    pub offset: u64,
    /// Bytes in the file. Equal to `packed_bytes` if the block is not compressed.
    pub stored_bytes: u32,
    /// Bytes after decompression.
    pub packed_bytes: u32,
    /// CRC-32 of the bytes in the file.
    pub crc: u32,
}

impl Block {
    /// True if the bytes in the file are the packed codes themselves.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        self.stored_bytes == self.packed_bytes
    }
}

/// A directory entry: what a writer says of a compressed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSum {
    /// Bytes in the file.
    pub stored_bytes: u32,
    /// CRC-32 of these bytes.
    pub crc: u32,
}

impl BlockSum {
    /// Describes a block by the bytes that are to be in the file.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        // No block is larger than MAX_BLOCK_BYTES; a longer one is refused by `Header::new`.
        let stored_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Self {
            stored_bytes,
            crc: crc32fast::hash(bytes),
        }
    }
}

/// A header whose every field has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    parts: HeaderParts,
    blocks: Vec<Vec<Block>>,
    header_bytes: u32,
    file_bytes: u64,
}

/// The checksum that ends a table file: of all that `content` gives, which is the file before it.
///
/// # Errors
/// Those of reading `content`.
pub fn file_checksum(mut content: impl Read) -> io::Result<[u8; FILE_CHECKSUM_BYTES]> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => hash.update(&buffer[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let mut sum = [0; FILE_CHECKSUM_BYTES];
    sum.copy_from_slice(&hash.finalize()[..FILE_CHECKSUM_BYTES]);
    Ok(sum)
}

impl SideParts {
    /// How this side's codes are packed.
    #[must_use]
    pub const fn packing(&self) -> Packing {
        Packing::new(self.stored)
    }

    /// Where entries stand among the codes that blocks hold. Rows that no checked header has count as
    /// not padded.
    #[must_use]
    pub const fn places(&self) -> Places {
        match Places::new(self.packing(), self.entries, self.row) {
            Some(places) => places,
            None => Places::unpadded(self.entries),
        }
    }

    /// How many positions have this value, whatever the distance; no symmetry used.
    #[must_use]
    pub fn count(&self, value: Value) -> u64 {
        // The sum of all counts was checked to fit.
        self.palette
            .iter()
            .filter(|p| p.score().value() == value)
            .map(|p| p.count)
            .fold(0, u64::saturating_add)
    }

    /// The longest distance, in plies, of this value; `None` if it does not occur.
    #[must_use]
    pub fn longest(&self, value: Value) -> Option<u16> {
        self.palette
            .iter()
            .filter(|p| p.score().value() == value && p.count > 0)
            .map(|p| p.distance)
            .max()
    }

    /// How many blocks this side has with blocks of `block_bytes`.
    #[must_use]
    pub const fn block_count(&self, block_bytes: u32) -> u64 {
        match self.packing().capacity(block_bytes) {
            0 => 0,
            capacity => self.places().count().div_ceil(capacity),
        }
    }

    fn check(&self, metric: Metric, free_entries: FreeEntries) -> Result<(), FormatError> {
        let count = self.palette.len();
        if count > MAX_PALETTE {
            return impossible("palette size", count, format!("at most {MAX_PALETTE}"));
        }
        if self.entries > 0 && count == 0 && !free_entries.gaps {
            return impossible("palette size", count, "at least 1, as there are entries");
        }
        if self.row > 0 && self.packing().per_byte() < 2 {
            return impossible("row length", self.row, "0, as no two codes share a byte");
        }
        if Places::new(self.packing(), self.entries, self.row).is_none() {
            let expected = format!("0, or a divisor of the {} entries", self.entries);
            return impossible("row length", self.row, expected);
        }
        if u64::from(self.stored) > count as u64 {
            return impossible(
                "count of stored values",
                self.stored,
                format!("at most the palette's {count}"),
            );
        }
        if self.stored == 0 && self.entries > 0 && !free_entries.any() {
            return impossible("count of stored values", 0, "at least 1, as no entry is free");
        }
        let mut total = 0u64;
        let mut seen = std::collections::HashSet::with_capacity(count);
        for entry in &self.palette {
            if entry.distance != 0 && (metric == Metric::Wld || entry.value == Value50::Draw) {
                return impossible("distance", entry.distance, "0 for a draw and in a wld table");
            }
            // Before it is made a score, which has no room for more.
            if entry.distance > Score::MAX_DISTANCE {
                return impossible("distance", entry.distance, format!("at most {}", Score::MAX_DISTANCE));
            }
            if entry.score().is_spoilt() && metric != Metric::Dtz {
                return impossible(
                    "value",
                    entry.value.name(),
                    "win, draw or loss in a table that is not dtz",
                );
            }
            if !seen.insert((entry.value, entry.distance)) {
                let value = format!("{} in {} twice", entry.value.name(), entry.distance);
                return impossible("palette", value, "each value once");
            }
            match total.checked_add(entry.count) {
                Some(sum) => total = sum,
                None => return impossible("count of positions", entry.count, "a sum below 2^64"),
            }
        }
        if let Some(mated) = self.mated.filter(|mated| *mated > self.count(Value::Loss)) {
            return impossible("count of mates", mated, "at most that of losses");
        }
        if let Some(index) = self.longest_win.filter(|&index| index >= self.entries) {
            return impossible("index of the longest win", index, format!("below {}", self.entries));
        }
        Ok(())
    }
}

impl HeaderParts {
    fn check(&self) -> Result<(), FormatError> {
        let printable = |s: &str| s.bytes().all(|b| b.is_ascii_graphic() && b != b'/');
        for (field, text) in [("family", &self.family), ("game", &self.game)] {
            if text.is_empty() || text.len() > MAX_NAME_BYTES || !printable(text) {
                return impossible(
                    field,
                    format!("{text:?}"),
                    "1 to 64 printable ASCII characters without / or space",
                );
            }
        }
        let letters = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_uppercase());
        let halves = self.material.split_once('v');
        if self.material.len() > MAX_NAME_BYTES || !halves.is_some_and(|(w, b)| letters(w) && letters(b)) {
            return impossible(
                "material",
                format!("{:?}", self.material),
                "capital letters, v, capital letters",
            );
        }
        if self.block_bytes < 2 || self.block_bytes > MAX_BLOCK_BYTES || !self.block_bytes.is_multiple_of(2) {
            return impossible(
                "block size",
                self.block_bytes,
                format!("an even number up to {MAX_BLOCK_BYTES}"),
            );
        }
        match self.sides.as_slice() {
            [_] => {}
            [first, second] if first.to_move != second.to_move => {}
            [_, _] => return impossible("side to move", "the same twice", "two different sides"),
            sides => return impossible("count of sides", sides.len(), "1 or 2"),
        }
        self.sides
            .iter()
            .try_for_each(|side| side.check(self.metric, self.free_entries))
    }

    /// Bytes of the directory's length field: enough for the longest block.
    const fn length_bytes(&self) -> usize {
        if self.block_bytes <= 1 << 16 { 2 } else { 4 }
    }

    /// Length in bytes the header will have. Known before any block is compressed, so that
    /// a writer can leave room for it.
    ///
    /// # Errors
    /// [`FormatError::Impossible`] if a field is impossible or the header longer than 4 GiB.
    pub fn header_bytes(&self) -> Result<u32, FormatError> {
        self.check()?;
        let each = (self.length_bytes() + BLOCK_CRC_BYTES) as u64;
        let fixed = (self.encode_fields(0).len() + HEADER_CRC_BYTES) as u64;
        let total = self.sides.iter().try_fold(fixed, |sum, side| {
            side.block_count(self.block_bytes)
                .checked_mul(each)
                .and_then(|bytes| sum.checked_add(bytes))
        });
        match total.and_then(|t| u32::try_from(t).ok()) {
            Some(total) => Ok(total),
            None => impossible("count of blocks", "so many", "a header below 4 GiB"),
        }
    }

    /// Everything before the directory.
    fn encode_fields(&self, header_bytes: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + self.dictionary.len());
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(header_bytes.to_le_bytes());
        out.extend(self.fingerprint);
        out.push(self.metric as u8);
        out.push(self.free_entries.byte());
        out.push(self.sides.len() as u8);
        for text in [&self.family, &self.game, &self.material] {
            out.push(text.len() as u8);
            out.extend(text.as_bytes());
        }
        put_varint(&mut out, self.block_bytes.into());
        for side in &self.sides {
            out.push(match side.to_move {
                Colour::White => 0,
                Colour::Black => 1,
            });
            out.push(side.order);
            put_varint(&mut out, side.entries);
            put_varint(&mut out, side.row.into());
            put_varint(&mut out, side.palette.len() as u64);
            put_varint(&mut out, side.stored.into());
            for entry in &side.palette {
                out.push(value_byte(entry.value));
                put_varint(&mut out, entry.distance.into());
                put_varint(&mut out, entry.count);
            }
            // An index is below `entries`, so one more still fits.
            put_varint(&mut out, side.longest_win.map_or(0, |index| index.saturating_add(1)));
            put_varint(&mut out, side.mated.map_or(0, |mated| mated.saturating_add(1)));
        }
        put_varint(&mut out, self.dictionary.len() as u64);
        out.extend(&self.dictionary);
        out
    }
}

impl Header {
    /// Puts a header together from its parts and the sums of each side's blocks.
    ///
    /// # Errors
    /// [`FormatError::Impossible`] names the field that no table can have.
    pub fn new(parts: HeaderParts, sums: &[Vec<BlockSum>]) -> Result<Self, FormatError> {
        let header_bytes = parts.header_bytes()?;
        if sums.len() != parts.sides.len() {
            return impossible("count of sides", sums.len(), parts.sides.len().to_string());
        }
        let mut offset = u64::from(header_bytes);
        let mut blocks = Vec::with_capacity(sums.len());
        for (side, sums) in parts.sides.iter().zip(sums) {
            let packing = side.packing();
            let capacity = packing.capacity(parts.block_bytes);
            if side.block_count(parts.block_bytes) != sums.len() as u64 {
                let expected = side.block_count(parts.block_bytes).to_string();
                return impossible("count of blocks", sums.len(), expected);
            }
            let mut left = side.places().count();
            let mut list = Vec::with_capacity(sums.len());
            for sum in sums {
                let here = left.min(capacity);
                left -= here;
                // At most block_bytes, which is a u32.
                let packed_bytes = packing.bytes(here) as u32;
                if sum.stored_bytes == 0 || sum.stored_bytes > packed_bytes {
                    return impossible("length of a block", sum.stored_bytes, format!("1 to {packed_bytes}"));
                }
                list.push(Block {
                    offset,
                    stored_bytes: sum.stored_bytes,
                    packed_bytes,
                    crc: sum.crc,
                });
                // Fewer than 2^32 blocks of less than 2^32 bytes: below 2^64.
                offset = offset.saturating_add(sum.stored_bytes.into());
            }
            blocks.push(list);
        }
        let file_bytes = offset.saturating_add(FILE_CHECKSUM_BYTES as u64);
        Ok(Self {
            parts,
            blocks,
            header_bytes,
            file_bytes,
        })
    }

    /// Reads the header at the start of `bytes`, which may be the whole file or any part from its start on.
    /// Whether the file has [`Header::file_bytes`] bytes is for the caller to check.
    ///
    /// # Errors
    /// See [`FormatError`]; [`FormatError::Truncated`] if `bytes` ends within the header.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let short = |need: usize| FormatError::Truncated {
            have: bytes.len() as u64,
            need: need as u64,
        };
        if !bytes.iter().zip(&MAGIC).all(|(a, b)| a == b) {
            return Err(FormatError::NotATable);
        }
        let Some(prefix) = bytes.first_chunk::<PREFIX_BYTES>() else {
            return Err(short(PREFIX_BYTES));
        };
        let [.., v0, v1, l0, l1, l2, l3] = *prefix;
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(FormatError::UnknownVersion { found: version });
        }
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let Some(header) = bytes.get(..length) else {
            return Err(short(length));
        };
        let Some((body, crc)) = header
            .split_last_chunk::<HEADER_CRC_BYTES>()
            .filter(|b| b.0.len() >= PREFIX_BYTES)
        else {
            return impossible(
                "header length",
                length,
                format!("at least {}", PREFIX_BYTES + HEADER_CRC_BYTES),
            );
        };
        if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
            return Err(FormatError::Checksum { part: "the header" });
        }
        let mut fields = Fields {
            rest: &body[PREFIX_BYTES..],
        };
        let parts = fields.parts()?;
        // Checked before the directory is read: it says how long the directory is.
        let expected = parts.header_bytes()?;
        if expected as usize != length {
            return impossible("header length", length, expected.to_string());
        }
        let mut sums = Vec::with_capacity(parts.sides.len());
        for side in &parts.sides {
            let count = side.block_count(parts.block_bytes);
            let list: Result<Vec<_>, _> = (0..count).map(|_| fields.block_sum(parts.length_bytes())).collect();
            sums.push(list?);
        }
        if !fields.rest.is_empty() {
            return impossible("header length", length, "no bytes after the last field");
        }
        Self::new(parts, &sums)
    }

    /// The bytes of the header, the form [`Header::parse`] reads.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.parts.encode_fields(self.header_bytes);
        for block in self.blocks.iter().flatten() {
            let length = block.stored_bytes.wrapping_sub(1).to_le_bytes();
            out.extend(&length[..self.parts.length_bytes()]);
            out.extend(block.crc.to_le_bytes());
        }
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }

    /// Everything but the blocks.
    #[must_use]
    pub fn parts(&self) -> &HeaderParts {
        &self.parts
    }

    /// The sides, one or two.
    #[must_use]
    pub fn sides(&self) -> &[SideParts] {
        &self.parts.sides
    }

    /// The blocks of one side; empty if there is no such side or it stores nothing.
    #[must_use]
    pub fn blocks(&self, side: usize) -> &[Block] {
        self.blocks.get(side).map_or(&[], Vec::as_slice)
    }

    /// Length of the header in bytes.
    #[must_use]
    pub fn header_bytes(&self) -> u32 {
        self.header_bytes
    }

    /// Length of the whole file in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }
}

/// Appends an unsigned number, seven bits a byte, least significant first (LEB128).
fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The fields not read yet.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn take(&mut self, field: &'static str, count: usize) -> Result<&'a [u8], FormatError> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => impossible(
                field,
                format!("{count} bytes"),
                format!("at most the header's {}", self.rest.len()),
            ),
        }
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], FormatError> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(field, N)?);
        Ok(bytes)
    }

    fn byte(&mut self, field: &'static str) -> Result<u8, FormatError> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    fn one_of<T: Copy, const N: usize>(&mut self, field: &'static str, all: [T; N]) -> Result<T, FormatError> {
        let byte = self.byte(field)?;
        match all.get(usize::from(byte)) {
            Some(&value) => Ok(value),
            None => impossible(field, byte, format!("below {N}")),
        }
    }

    fn varint(&mut self, field: &'static str) -> Result<u64, FormatError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(field)?;
            let bits = u64::from(byte & 0x7f);
            // One way to write a number, and none for what is too large.
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        impossible(field, "an overlong number", "the shortest form of a number below 2^64")
    }

    /// A number that must fit a narrower type.
    fn narrow<T: TryFrom<u64>>(&mut self, field: &'static str) -> Result<T, FormatError> {
        let number = self.varint(field)?;
        match T::try_from(number) {
            Ok(narrow) => Ok(narrow),
            Err(_) => impossible(field, number, format!("a number of {} bits", 8 * size_of::<T>())),
        }
    }

    fn text(&mut self, field: &'static str) -> Result<String, FormatError> {
        let length = self.byte(field)?;
        let bytes = self.take(field, length.into())?;
        // Not UTF-8 is not ASCII either: what stands in for it fails the check of the parts.
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn parts(&mut self) -> Result<HeaderParts, FormatError> {
        let fingerprint = self.array("fingerprint")?;
        let metric = self.one_of("metric", Metric::ALL)?;
        let free_entries = FreeEntries::of_byte(self.byte("flags")?)?;
        let sides = self.byte("count of sides")?;
        let family = self.text("family")?;
        let game = self.text("game")?;
        let material = self.text("material")?;
        let block_bytes = self.narrow("block size")?;
        let sides: Result<Vec<_>, _> = (0..sides).map(|_| self.side()).collect();
        let sides = sides?;
        let length = self.narrow("dictionary length")?;
        let dictionary = self.take("dictionary length", length)?.to_vec();
        Ok(HeaderParts {
            family,
            metric,
            free_entries,
            fingerprint,
            game,
            material,
            block_bytes,
            dictionary,
            sides,
        })
    }

    fn side(&mut self) -> Result<SideParts, FormatError> {
        let to_move = self.one_of("side to move", [Colour::White, Colour::Black])?;
        let order = self.byte("digit order")?;
        let entries = self.varint("count of entries")?;
        let row = self.narrow("row length")?;
        let size: usize = self.narrow("palette size")?;
        let stored = self.narrow("count of stored values")?;
        // Three bytes at least stand for each, so no length makes this reserve more than the file holds.
        if size > self.rest.len() / 3 {
            return impossible("palette size", size, format!("at most {}", self.rest.len() / 3));
        }
        let mut palette = Vec::with_capacity(size);
        for _ in 0..size {
            let value = value_of_byte(self.byte("value")?)?;
            let distance = self.narrow("distance")?;
            let count = self.varint("count of positions")?;
            palette.push(PaletteEntry { value, distance, count });
        }
        let longest_win = self.varint("index of the longest win")?.checked_sub(1);
        let mated = self.varint("count of mates")?.checked_sub(1);
        Ok(SideParts {
            to_move,
            order,
            entries,
            row,
            palette,
            stored,
            longest_win,
            mated,
        })
    }

    fn block_sum(&mut self, length_bytes: usize) -> Result<BlockSum, FormatError> {
        let mut length = [0; 4];
        length[..length_bytes].copy_from_slice(self.take("directory", length_bytes)?);
        let Some(stored_bytes) = u32::from_le_bytes(length).checked_add(1) else {
            return impossible("length of a block", "2^32", "at most the block size");
        };
        let crc = u32::from_le_bytes(self.array("directory")?);
        Ok(BlockSum { stored_bytes, crc })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn palette(list: &[(Value, u16, u64)]) -> Vec<PaletteEntry> {
        list.iter()
            .map(|&(value, distance, count)| PaletteEntry {
                value: Value50::new(value, false),
                distance,
                count,
            })
            .collect()
    }

    pub(crate) fn side(to_move: Colour, entries: u64, palette: Vec<PaletteEntry>) -> SideParts {
        let stored = palette.len() as u32;
        SideParts {
            to_move,
            order: 0,
            entries,
            row: 0,
            palette,
            stored,
            longest_win: None,
            mated: None,
        }
    }

    pub(crate) fn parts(metric: Metric, block_bytes: u32, sides: Vec<SideParts>) -> HeaderParts {
        HeaderParts {
            family: "draughts".into(),
            metric,
            free_entries: FreeEntries {
                captures: true,
                ..FreeEntries::default()
            },
            fingerprint: *b"0123456789abcdef",
            game: "russian".into(),
            material: "KKMvK".into(),
            block_bytes,
            dictionary: Vec::new(),
            sides,
        }
    }

    fn example() -> HeaderParts {
        let white = palette(&[
            (Value::Win, 0, 180_000),
            (Value::Draw, 0, 20_000),
            (Value::Loss, 0, 800),
        ]);
        let black = palette(&[(Value::Draw, 0, 20_000), (Value::Loss, 0, 180_800)]);
        let mut sides = vec![side(Colour::White, 200_800, white), side(Colour::Black, 200_800, black)];
        sides[0].longest_win = Some(0);
        sides[1].row = 251;
        parts(Metric::Wld, DEFAULT_BLOCK_BYTES, sides)
    }

    fn sums(parts: &HeaderParts) -> Vec<Vec<BlockSum>> {
        let count = |side: &SideParts| side.block_count(parts.block_bytes);
        parts
            .sides
            .iter()
            .map(|s| {
                (0..count(s))
                    .map(|i| BlockSum {
                        stored_bytes: 20,
                        crc: i as u32,
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn header_round_trips_and_is_small() {
        let mut all = vec![example(), example(), example(), example()];
        all[1].sides.pop();
        all[1].dictionary = vec![7; 1000];
        all[2].block_bytes = MAX_BLOCK_BYTES;
        all[2].metric = Metric::Dtw;
        all[2].sides[0].palette = (0..=4095)
            .map(|distance| PaletteEntry {
                value: Value50::Win,
                distance,
                count: 1,
            })
            .collect();
        all[2].sides[0].stored = 4096;
        all[3].block_bytes = 64;
        all[3].sides[1].entries = u64::MAX;
        all[3].sides[1].stored = 1;
        all[3].sides[1].row = 0;
        for parts in all {
            let header = Header::new(parts.clone(), &sums(&parts)).unwrap();
            let bytes = header.encode();
            assert_eq!(bytes.len() as u32, header.header_bytes());
            assert_eq!(Header::parse(&bytes).unwrap(), header);
        }
        let parts = example();
        let header = Header::new(parts.clone(), &sums(&parts)).unwrap();
        let overhead = header.file_bytes() - 40;
        assert!(overhead <= 170, "{overhead} bytes besides the blocks");
    }

    #[test]
    fn sums_and_longest() {
        let mut side = example().sides.remove(0);
        side.palette = palette(&[(Value::Win, 3, 5), (Value::Loss, 2, 1), (Value::Win, 7, 2)]);
        assert_eq!(side.count(Value::Win), 7);
        assert_eq!(side.longest(Value::Win), Some(7));
        assert_eq!(side.longest(Value::Draw), None);
    }

    #[test]
    fn damaged_headers_are_refused() {
        let parts = example();
        let bytes = Header::new(parts.clone(), &sums(&parts)).unwrap().encode();
        for length in 0..bytes.len() {
            assert!(
                matches!(Header::parse(&bytes[..length]), Err(FormatError::Truncated { .. })),
                "{length}"
            );
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut altered = bytes.clone();
                altered[at] ^= 1 << bit;
                assert!(Header::parse(&altered).is_err(), "byte {at}, bit {bit}");
            }
        }
        assert_eq!(Header::parse(b"\x7fELF"), Err(FormatError::NotATable));
    }

    /// A checksum does not stop someone who computes it anew: then the fields themselves must hold.
    #[test]
    fn altered_headers_with_right_checksums_never_panic() {
        let parts = example();
        let bytes = Header::new(parts.clone(), &sums(&parts)).unwrap().encode();
        let reseal = |body: &mut Vec<u8>| {
            let length = body.len() as u32 + 4;
            body[10..14].copy_from_slice(&length.to_le_bytes());
            let crc = crc32fast::hash(body);
            body.extend(crc.to_le_bytes());
        };
        let body = &bytes[..bytes.len() - 4];
        for at in 14..body.len() {
            for value in 0..=255 {
                let mut altered = body.to_vec();
                altered[at] = value;
                reseal(&mut altered);
                if let Ok(header) = Header::parse(&altered) {
                    assert_eq!(header.encode(), altered);
                }
            }
            let mut shortened = body[..at].to_vec();
            reseal(&mut shortened);
            assert!(Header::parse(&shortened).is_err());
            let mut runs = body.to_vec();
            runs[at..].iter_mut().take(10).for_each(|b| *b = 0xff);
            reseal(&mut runs);
            let _ = Header::parse(&runs).map(|h| h.encode());
        }
    }

    #[test]
    fn impossible_parts_name_the_field() {
        type Change = fn(&mut HeaderParts);
        let cases: [(&str, Change); 21] = [
            ("family", |p| p.family = String::new()),
            ("value", |p| p.sides[0].palette[0].value = Value50::CursedWin),
            ("value", |p| {
                (p.metric, p.sides[0].palette[0].value) = (Metric::Dtw, Value50::BlessedLoss);
            }),
            ("count of mates", |p| p.sides[0].mated = Some(801)),
            ("game", |p| p.game = "../x".into()),
            ("material", |p| p.material = "KK".into()),
            ("block size", |p| p.block_bytes = 3),
            ("block size", |p| p.block_bytes = MAX_BLOCK_BYTES + 2),
            ("count of sides", |p| p.sides.clear()),
            ("side to move", |p| p.sides[1].to_move = Colour::White),
            ("row length", |p| p.sides[0].row = 3),
            ("row length", |p| p.sides[0].row = u32::MAX),
            ("row length", |p| (p.sides[1].stored, p.metric) = (1, Metric::Wld)),
            ("row length", |p| {
                (p.sides[1].entries, p.sides[1].row) = (u64::MAX, 1);
            }),
            ("count of stored values", |p| p.sides[0].stored = 4),
            ("distance", |p| p.sides[0].palette[0].distance = 1),
            ("distance", |p| {
                (p.metric, p.sides[0].palette[0].distance) = (Metric::Dtw, 4096)
            }),
            ("distance", |p| {
                (p.metric, p.sides[0].palette[0].distance) = (Metric::Dtz, u16::MAX);
            }),
            ("palette", |p| p.sides[0].palette[0].value = Value50::Draw),
            ("count of positions", |p| p.sides[0].palette[0].count = u64::MAX),
            ("index of the longest win", |p| p.sides[0].longest_win = Some(200_800)),
        ];
        for (name, change) in cases {
            let mut parts = example();
            change(&mut parts);
            match parts.header_bytes() {
                Err(FormatError::Impossible { field, .. }) => assert_eq!(field, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
