//! Petrov's endgame tables for programs in C and C++: the library behind `petrov.h`.
//!
//! Programs hold numbers, never pointers, of what is open here, so that one that was closed is an error and not
//! undefined behaviour. Nothing that panics gets past a call.

#![deny(missing_docs)]

mod game;
mod pointers;
mod registry;
mod status;
mod types;

use std::ffi::{c_char, c_int};
use std::path::{Path, PathBuf};

use petrov_games::Games;
use petrov_probe::{Backend, BlockCache, CountRule, DEFAULT_CACHE_BYTES, Distance, Filled, Metric, Ranking, Tables};

use game::{Asked, OpenHandle, Opened, value_number};
use registry::Registry;
use status::{Fault, call, with_last_error};

pub use status::PetrovStatus;
pub use types::{
    PetrovChess, PetrovCount, PetrovDraughts, PetrovFilled, PetrovHandle, PetrovLimit, PetrovMetric, PetrovMode,
    PetrovMove, PetrovOptions, PetrovProber, PetrovRead, PetrovStats, PetrovValue,
};

static PROBERS: Registry<Opened> = Registry::new(1);
static HANDLES: Registry<OpenHandle> = Registry::new(2);

fn argument(text: &'static str) -> Fault {
    Fault::new(PetrovStatus::Argument, text)
}

fn metric(number: c_int) -> Result<Metric, Fault> {
    match number {
        0 => Ok(Metric::Wld),
        1 => Ok(Metric::Dtw),
        2 => Ok(Metric::Dtz),
        _ => Err(argument("metric: expected a PetrovMetric")),
    }
}

fn pieces(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// The version of the library, such as "0.1.0".
///
/// Memory: the text is part of the library and lives as long as the program. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Writes the text of the last error of the calling thread to `buffer`: as much as `size` bytes hold, the last of them
/// 0. Returns the bytes of the whole text without the 0. A call that succeeds leaves the text as it is.
///
/// Memory: `buffer` is the caller's; it may be NULL if `size` is 0. Threads: each has a text of its own.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_last_error(buffer: *mut c_char, size: usize) -> usize {
    let mut length = 0;
    // Errors of this call have no text: it would replace the one that is asked for.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        with_last_error(|text| {
            length = text.len();
            let _ = pointers::write_text(buffer, size, text);
        });
    }));
    length
}

/// Opens the tables of a game (`petrov games` lists the names) and writes to `prober`. Files are opened and their
/// headers read, which takes some 20 microseconds a small table, and some milliseconds one of four pieces, whose symmetries
/// are worked out: 0.5 seconds and 41 MB for all three metrics of chess. Blocks are read when they are probed. Tables of
/// other games in the folders are opened, too: name FOLDER/GAME to open this one's alone. A folder that does not exist
/// holds no tables.
///
/// `options` may be NULL: the default folders, memory maps, 64 MiB of cache.
///
/// Memory: texts are copied; the prober and its cache are freed when it and all its handles are closed.
/// Threads: any, also at once. Errors: `NULL`, `SIZE`, `ARGUMENT` (game, rule file, options), `TABLE` (a folder cannot be
/// read, or too few file descriptors or memory maps), `TOO_MANY`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_open(
    game: *const c_char,
    options: *const PetrovOptions,
    prober: *mut PetrovProber,
) -> PetrovStatus {
    call(|| {
        pointers::writable(prober)?;
        let name = pointers::text(game)?;
        let options = pointers::read_if_any(options)?;
        let mut games = Games::built_in();
        let mut backend = Backend::default();
        let mut folders = None;
        let mut cache = DEFAULT_CACHE_BYTES;
        if let Some(options) = options {
            backend = match options.read {
                0 => Backend::Mmap,
                1 => Backend::Pread,
                _ => return Err(argument("field read: expected a PetrovRead")),
            };
            folders = pointers::text_if_any(options.folders)?;
            if let Some(file) = pointers::text_if_any(options.rules)? {
                games
                    .add_file(Path::new(file))
                    .map_err(|error| Fault::of(PetrovStatus::Argument, &error))?;
            }
            if options.cache_bytes > 0 {
                cache = options.cache_bytes;
            }
        }
        let game = games
            .get(name)
            .map_err(|error| Fault::of(PetrovStatus::Argument, &error))?;
        let cache = BlockCache::new(cache);
        let tables = match folders {
            None => Tables::open_default(cache, backend),
            Some(list) => {
                let folders: Vec<PathBuf> = std::env::split_paths(list)
                    .filter(|folder| !folder.as_os_str().is_empty())
                    .collect();
                Tables::open_with(&folders, cache, backend)
            }
        };
        let tables = tables.map_err(|error| Fault::of(PetrovStatus::Table, &error))?;
        let id = PROBERS.open(Opened::new(tables, game)?)?;
        pointers::write(prober, PetrovProber { id })?;
        Ok(PetrovStatus::Ok)
    })
}

/// Closes a prober. Handles that were opened of it go on.
///
/// Memory: freed with the last of its handles. Threads: any; other calls that are using it finish. Errors: `CLOSED`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_close(prober: PetrovProber) -> PetrovStatus {
    call(|| PROBERS.close_shared(prober.id).map(|()| PetrovStatus::Ok))
}

/// Opens a handle, with which one thread at a time probes, and writes to `handle`. Open one for each thread of a search
/// and keep it.
///
/// Memory: some 100 KB for decoding, from the first block that it decodes on, and up to 1 MiB of blocks that it holds
/// itself; freed by `petrov_handle_close`. Threads: any. Errors: `NULL`, `CLOSED`, `TOO_MANY`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_handle_open(prober: PetrovProber, handle: *mut PetrovHandle) -> PetrovStatus {
    call(|| {
        pointers::writable(handle)?;
        let id = HANDLES.open(PROBERS.copy(prober.id)?.handle())?;
        pointers::write(handle, PetrovHandle { id })?;
        Ok(PetrovStatus::Ok)
    })
}

/// Closes a handle.
///
/// Memory: freed. Threads: any; `BUSY`, and still open, if another thread is using it. Errors: `CLOSED`, `BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_handle_close(handle: PetrovHandle) -> PetrovStatus {
    call(|| HANDLES.close(handle.id).map(|()| PetrovStatus::Ok))
}

/// Writes to `limit` the numbers of pieces that tables of a metric (`PetrovMetric`) have. Ask once; in a search
/// `petrov_limit_admits` then says whether a probe is worth trying.
///
/// Memory: nothing is kept. Threads: any, also at once. Errors: `NULL`, `SIZE`, `CLOSED`, `ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_limit(prober: PetrovProber, metric: c_int, limit: *mut PetrovLimit) -> PetrovStatus {
    call(|| {
        let found = PROBERS.copy(prober.id)?.limit(self::metric(metric)?);
        // The smallest rectangle that the numbers lie in.
        let most = (0..=found.pieces()).rev().find(|side| found.admits(*side, 0));
        let limit_found = PetrovLimit {
            size: size_of::<PetrovLimit>() as u32,
            together: found.pieces(),
            of_a_side: most.unwrap_or(0),
        };
        pointers::write_sized(limit, limit_found)?;
        Ok(PetrovStatus::Ok)
    })
}

fn write_filled(place: *mut PetrovFilled, filled: Filled) -> Result<PetrovStatus, Fault> {
    if !place.is_null() {
        let filled = PetrovFilled {
            size: size_of::<PetrovFilled>() as u32,
            asked: filled.asked,
            done: filled.done,
            unused: 0,
            bytes: filled.bytes,
        };
        pointers::write_sized(place, filled)?;
    }
    Ok(PetrovStatus::Ok)
}

/// Decodes all blocks of the tables of a metric (`PetrovMetric`) of at most so many pieces, smallest first, and keeps
/// them for good, as far as `bytes` and the cache go: such blocks are read without locks. `filled`, which may
/// be NULL, gets what came of it.
///
/// Memory: up to `bytes` of the cache, until the prober and its handles are closed. Threads: any, also while others
/// probe. Errors: `SIZE`, `CLOSED`, `ARGUMENT`, `TABLE` (a damaged table, or a file that is another one than its name says);
/// after all others have been decoded.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_warm(
    prober: PetrovProber,
    metric: c_int,
    pieces: u32,
    bytes: u64,
    filled: *mut PetrovFilled,
) -> PetrovStatus {
    call(|| {
        pointers::sized_if_any(filled)?;
        let opened = PROBERS.copy(prober.id)?;
        write_filled(filled, opened.warm(self::metric(metric)?, self::pieces(pieces), bytes)?)
    })
}

/// Works out the value of every position of the wld tables of at most so many pieces, smallest first, as far as `bytes`
/// go, and holds them apart from the cache, a quarter of a byte each: a probe of one is then a single look-up that
/// never needs a search of captures. Takes about 0.2 seconds for a million positions. `filled` may be NULL.
///
/// Memory: up to `bytes`, until the prober and its handles are closed. Threads: any, also while others probe.
/// Errors: `SIZE`, `CLOSED`, `TABLE`; `NOT_IN_TABLE` with a text if a capture leads to a table that is
/// missing; after all others have been unpacked.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_unpack(
    prober: PetrovProber,
    pieces: u32,
    bytes: u64,
    filled: *mut PetrovFilled,
) -> PetrovStatus {
    call(|| {
        pointers::sized_if_any(filled)?;
        let opened = PROBERS.copy(prober.id)?;
        write_filled(filled, opened.unpack(self::pieces(pieces), bytes)?)
    })
}

/// A probe: the value, and the plies of a metric if they are asked for.
#[inline(always)]
fn probe(
    handle: PetrovHandle,
    asked: &Asked<'_>,
    metric: Metric,
    mode: c_int,
    value: *mut c_int,
    plies: Option<*mut c_int>,
) -> Result<PetrovStatus, Fault> {
    pointers::writable(value)?;
    if let Some(plies) = plies {
        pointers::writable(plies)?;
    }
    let mode = match mode {
        0 => PetrovMode::Search,
        1 => PetrovMode::Lookup,
        _ => return Err(argument("mode: expected a PetrovMode")),
    };
    match HANDLES.with(handle.id, |handle| handle.probe(asked, metric, mode))? {
        Ok(score) => {
            pointers::write(value, value_number(score.value()))?;
            if let Some(plies) = plies {
                let distance = if score.is_draw() { -1 } else { score.distance().into() };
                pointers::write(plies, distance)?;
            }
            Ok(PetrovStatus::Ok)
        }
        Err(status) => Ok(status),
    }
}

/// Writes the value of a position of draughts for the side to move to `value`: -2 loss, 0 draw, 2 win (`PetrovValue`).
/// `mode` is a `PetrovMode`. Nothing is written unless the answer is `OK`.
///
/// Memory: nothing is allocated, except for an error's text or while a block is decoded. Threads: one at a time for
/// each handle. Errors: `NULL`, `SIZE`, `CLOSED`, `BUSY`, `ARGUMENT`, `POSITION`, `TABLE`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_value_draughts(
    handle: PetrovHandle,
    position: *const PetrovDraughts,
    mode: c_int,
    value: *mut c_int,
) -> PetrovStatus {
    call(|| {
        let asked = Asked::Draughts(pointers::read(position)?);
        probe(handle, &asked, Metric::Wld, mode, value, None)
    })
}

/// Writes the value of a position of chess for the side to move to `value`, as `petrov_value_draughts`. The fifty-move
/// rule is not asked.
///
/// Memory: as `petrov_value_draughts`; a position with an en passant square allocates. Threads: one at a time for each
/// handle. Errors: as `petrov_value_draughts`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_value_chess(
    handle: PetrovHandle,
    position: *const PetrovChess,
    mode: c_int,
    value: *mut c_int,
) -> PetrovStatus {
    call(|| {
        let asked = Asked::Chess(pointers::read(position)?);
        probe(handle, &asked, Metric::Wld, mode, value, None)
    })
}

/// Writes the value of the position of a FEN for the side to move to `value`, as `petrov_value_draughts`. A FEN takes
/// about a microsecond to read.
///
/// Memory: the text is not kept; reading it may allocate. Threads: one at a time for each handle.
/// Errors: `NULL`, `CLOSED`, `BUSY`, `ARGUMENT`, `FEN`, `POSITION`, `TABLE`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_value_fen(
    handle: PetrovHandle,
    fen: *const c_char,
    mode: c_int,
    value: *mut c_int,
) -> PetrovStatus {
    call(|| {
        let asked = Asked::Fen(pointers::text(fen)?);
        probe(handle, &asked, Metric::Wld, mode, value, None)
    })
}

/// Writes the value of the position of a FEN to `value` and the plies that a metric (`PetrovMetric`) counts to `plies`:
/// -1 for a draw, 0 with `PETROV_METRIC_WLD`. Captures are searched.
///
/// Memory: as `petrov_value_fen`. Threads: one at a time for each handle. Errors: as `petrov_value_fen`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_distance_fen(
    handle: PetrovHandle,
    fen: *const c_char,
    metric: c_int,
    value: *mut c_int,
    plies: *mut c_int,
) -> PetrovStatus {
    call(|| {
        let asked = Asked::Fen(pointers::text(fen)?);
        probe(handle, &asked, self::metric(metric)?, 0, value, Some(plies))
    })
}

/// Writes to `moves` the moves that keep the result of the position of a FEN under a rule of counting, best first, at
/// most `room` of them; to `count` how many there are, which may be more; and to `result` the result under the rule
/// (`PetrovValue`). Playing the first of them every time wins what is won without such a rule, or under the fifty-move
/// rule of chess. Under any other rule it comes to the next conversion in time, and to one after which the next can be
/// in time if there is such a move; what is beyond that, tables of distances do not tell.
///
/// `ranking` is `PETROV_METRIC_DTW` (the shortest win) or `PETROV_METRIC_DTZ` (the shortest way to the next
/// conversion), and those tables are needed. `rule` NULL: the game's own, that is the fifty-move rule in chess with the
/// plies that the FEN tells of, which needs dtz tables (the starter set has none of chess). Any other rule needs dtz tables,
/// too. `move_size` is `sizeof(PetrovMove)`.
///
/// Memory: the text is not kept; `moves` is the caller's and may be NULL if `room` is 0. Threads: one at a time for
/// each handle. For the root: it takes some microseconds a move and allocates. Errors: `NULL`, `SIZE`, `CLOSED`, `BUSY`,
/// `ARGUMENT`, `FEN`, `POSITION`, `TABLE`; `NOT_IN_TABLE` with a text that names the table.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_best_moves(
    handle: PetrovHandle,
    fen: *const c_char,
    ranking: c_int,
    rule: *const PetrovCount,
    moves: *mut PetrovMove,
    move_size: usize,
    room: usize,
    count: *mut usize,
    result: *mut c_int,
) -> PetrovStatus {
    call(|| {
        pointers::writable(count)?;
        pointers::writable(result)?;
        if room > 0 {
            pointers::writable(moves)?;
        }
        if move_size != size_of::<PetrovMove>() {
            return Err(Fault::new(
                PetrovStatus::Size,
                "move_size is not the size of this header's PetrovMove",
            ));
        }
        let text = pointers::text(fen)?;
        let ranking = match metric(ranking)? {
            Metric::Dtw => Ranking::Dtw,
            Metric::Dtz => Ranking::Dtz,
            Metric::Wld => return Err(argument("ranking: expected PETROV_METRIC_DTW or PETROV_METRIC_DTZ")),
        };
        let rule = match pointers::read_if_any(rule)? {
            None => CountRule::Game,
            Some(PetrovCount { limit: 0, .. }) => CountRule::None,
            Some(PetrovCount { limit, counted, .. }) => CountRule::Plies { limit, counted },
        };
        let (value, listed) = HANDLES.with(handle.id, |handle| handle.best_moves(text, ranking, rule))?;
        let plies = |distance: Distance| distance.plies().map_or(-1, i32::from);
        let written: Vec<PetrovMove> = listed
            .iter()
            .take(room)
            .map(|(text, dtw, dtz)| {
                let mut letters = [0; 64];
                for (place, letter) in letters[..63].iter_mut().zip(text.bytes()) {
                    *place = letter as c_char;
                }
                PetrovMove {
                    text: letters,
                    dtw: plies(*dtw),
                    dtz: plies(*dtz),
                }
            })
            .collect();
        pointers::write_all(moves, room, &written)?;
        pointers::write(count, listed.len())?;
        pointers::write(result, value as c_int - petrov_probe::Value50::Draw as c_int)?;
        Ok(PetrovStatus::Ok)
    })
}

/// Tells the system that the blocks of the position of a FEN will be read soon. Returns at once. With
/// `PETROV_READ_PREAD` nothing happens.
///
/// Memory: the text is not kept. Threads: one at a time for each handle. Errors: `NULL`, `CLOSED`, `BUSY`, `ARGUMENT`, `FEN`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_prefetch_fen(handle: PetrovHandle, fen: *const c_char, metric: c_int) -> PetrovStatus {
    call(|| {
        let (text, metric) = (pointers::text(fen)?, self::metric(metric)?);
        HANDLES.with(handle.id, |handle| handle.prefetch(text, metric))?;
        Ok(PetrovStatus::Ok)
    })
}

/// Writes to `stats` what a handle, and the cache that it shares, have done.
///
/// Memory: nothing is kept. Threads: one at a time for each handle. Errors: `NULL`, `SIZE`, `CLOSED`, `BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn petrov_stats(handle: PetrovHandle, stats: *mut PetrovStats) -> PetrovStatus {
    call(|| {
        let (own, cache) = HANDLES.with(handle.id, |handle| Ok((handle.stats(), handle.tables.cache_stats())))?;
        let found = PetrovStats {
            size: size_of::<PetrovStats>() as u32,
            unused: 0,
            probes: own.probes,
            searches: own.searches,
            lookups: own.lookups,
            decoded: own.decoded,
            cache_bytes: cache.bytes,
            cache_budget: cache.budget,
            cache_evictions: cache.evictions,
        };
        pointers::write_sized(stats, found)?;
        Ok(PetrovStatus::Ok)
    })
}
