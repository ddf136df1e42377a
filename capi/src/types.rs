//! The structs of the interface.

use std::ffi::c_char;

use crate::pointers::Sized32;

/// Tables of one game. Any thread may use it, any number at once. 0 in `id` is never an open one.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PetrovProber {
    /// Meaningless but for this library.
    pub id: u64,
}

/// What one thread probes with. 0 in `id` is never an open one.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PetrovHandle {
    /// Meaningless but for this library.
    pub id: u64,
}

/// What a table says of its positions.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PetrovMetric {
    /// Win, draw or loss.
    Wld = 0,
    /// Plies to the end of the game.
    Dtw = 1,
    /// Plies to the next conversion (a capture, or a move of a man or pawn) or the end of the game.
    Dtz = 2,
}

/// How far a probe goes.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PetrovMode {
    /// Captures are searched, so that every position of a material that is there has a value.
    Search = 0,
    /// One look-up: where captures decide the answer is `PETROV_STATUS_NEEDS_CAPTURE_SEARCH`. For nodes whose moves
    /// are searched anyway.
    Lookup = 1,
}

/// How tables are read.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PetrovRead {
    /// Through memory maps: the fastest. A file that is cut short meanwhile ends the program with a signal.
    Mmap = 0,
    /// By reads of the blocks: whatever happens to a file is an error of the probe that met it.
    Pread = 1,
}

/// A value for the side to move: what is lost, drawn, won. The values between are results that a rule of
/// counting moves makes draws; only `petrov_best_moves` gives them.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PetrovValue {
    /// The side to move loses.
    Loss = -2,
    /// It would lose but for the rule.
    BlessedLoss = -1,
    /// Neither side can win.
    Draw = 0,
    /// It would win but for the rule.
    CursedWin = 1,
    /// The side to move wins.
    Win = 2,
}

/// How a game's tables are opened. Fill it with zeros, set `size`, and then what should be otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovOptions {
    /// `sizeof(PetrovOptions)`.
    pub size: u32,
    /// A `PetrovRead`.
    pub read: i32,
    /// Folders of tables, separated by colons, searched with all that is below them. NULL: those of the environment
    /// variable `PETROV_TABLES`, else `tables` in the current folder; and the starter set, which is part of the library.
    pub folders: *const c_char,
    /// A file of rules of a game that is not built in (see docs/own-rules.md). NULL: none.
    pub rules: *const c_char,
    /// Most bytes of decoded blocks that are kept for all threads together. 0: 64 MiB.
    pub cache_bytes: u64,
}

/// A position of draughts. Bit n of a set is the square with number n + 1, or, in games whose squares have letters,
/// the n-th playable square from a1 on, rank by rank.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovDraughts {
    /// `sizeof(PetrovDraughts)`.
    pub size: u32,
    /// The side to move: 0 White, 1 Black.
    pub turn: i32,
    /// Men of White and of Black; of each the squares 1 to 64, and those from 65 on.
    pub men: [[u64; 2]; 2],
    /// Kings of White and of Black, likewise.
    pub kings: [[u64; 2]; 2],
}

/// A position of chess on 8x8. Bit 8 * rank + file of a set is a square, both from 0: a1 is bit 0, h1 bit 7. Games with other
/// pieces than these are asked about with FENs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovChess {
    /// `sizeof(PetrovChess)`.
    pub size: u32,
    /// The side to move: 0 White, 1 Black.
    pub turn: i32,
    /// All pieces of White.
    pub white: u64,
    /// All pieces of Black.
    pub black: u64,
    /// Kings of both sides.
    pub kings: u64,
    /// Queens of both sides.
    pub queens: u64,
    /// Rooks of both sides.
    pub rooks: u64,
    /// Bishops of both sides.
    pub bishops: u64,
    /// Knights of both sides.
    pub knights: u64,
    /// Pawns of both sides.
    pub pawns: u64,
    /// The square that a pawn has just passed by a double step; -1: none, or no pawn can take there.
    pub en_passant: i32,
    /// Not 0: a side may still castle. Such positions are in no table.
    pub castling: i32,
}

/// The numbers of pieces that tables have; see `petrov_limit_admits`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovLimit {
    /// `sizeof(PetrovLimit)`.
    pub size: u32,
    /// Most pieces of both sides together; 0 if there are no tables.
    pub together: u32,
    /// Most pieces of one side.
    pub of_a_side: u32,
}

/// What came of `petrov_warm` or `petrov_unpack`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovFilled {
    /// `sizeof(PetrovFilled)`.
    pub size: u32,
    /// Tables (or, unpacked, sides to move of tables) that were asked for.
    pub asked: u32,
    /// Those of them that are now in memory as a whole.
    pub done: u32,
    /// Always 0.
    pub unused: u32,
    /// Bytes that these take, and with petrov_warm what fitted of the others.
    pub bytes: u64,
}

/// A rule that makes a draw of a game without conversions for too long.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovCount {
    /// `sizeof(PetrovCount)`.
    pub size: u32,
    /// Most plies from one conversion to the next, that one included, for a win to count; 30 for "fifteen moves of
    /// each side". 0: no rule, whatever the game says.
    pub limit: u32,
    /// Plies without a conversion so far.
    pub counted: u32,
}

/// A move that may be played.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovMove {
    /// The move as `petrov moves` writes it (chess: UCI), ended by a 0 byte.
    pub text: [c_char; 64],
    /// Plies to the end of the game from before the move; -1 if it is drawn or no table tells.
    pub dtw: i32,
    /// Plies to the next conversion from before the move; -1 if it is drawn or no table tells.
    pub dtz: i32,
}

/// What a handle and the cache of its prober have done.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PetrovStats {
    /// `sizeof(PetrovStats)`.
    pub size: u32,
    /// Always 0.
    pub unused: u32,
    /// Positions that this handle was asked for.
    pub probes: u64,
    /// Positions, those on the way included, in which captures decided.
    pub searches: u64,
    /// Entries that it read.
    pub lookups: u64,
    /// Blocks that it decoded; `1 - decoded / lookups` is its rate of hits.
    pub decoded: u64,
    /// Bytes of decoded blocks that the cache holds, for all threads.
    pub cache_bytes: u64,
    /// Most bytes that it may hold.
    pub cache_budget: u64,
    /// Blocks that it dropped to make room.
    pub cache_evictions: u64,
}

macro_rules! sized {
    ($($name:ident)*) => {
        $(
            // SAFETY: a `repr(C)` struct that begins with `size: u32`, of integers and pointers.
            unsafe impl Sized32 for $name {}
        )*
    };
}

sized! { PetrovOptions PetrovDraughts PetrovChess PetrovLimit PetrovFilled PetrovCount PetrovStats }
