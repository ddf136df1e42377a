/* Petrov's endgame tables for C and C++. docs/engines.md says how to begin.
 *
 * Made by scripts/c-header from capi/src: change it there.
 * License: MIT OR Apache-2.0.
 *
 * Every call returns a PetrovStatus: 0 done, above 0 no answer but no error, below 0 an error, of which
 * petrov_last_error has a text. Structs begin with their own size, which the caller sets; one of another version of
 * this header is an error. NULL, a closed prober or handle, or a text that is no FEN are errors, too, never
 * undefined behaviour. Pointers must point to what their types say, and texts must end with a 0 byte: that
 * no library can check. There is no state that one prober could share with another.
 *
 * If the system has no memory left the process ends (abort), as there is no way to go on: petrov_unpack and
 * petrov_warm take as much as they are allowed, and petrov_open some MB. With PETROV_READ_PREAD every table is an open
 * file, and petrov_open fails if there are more than the limit allows (ulimit -n). When all is closed, about half
 * a megabyte stays: the lists of probers and handles, and some memory of each thread that has asked for best moves.
 *
 * C99 or later, C++11 or later. */

#ifndef PETROV_H
#define PETROV_H

#include <stddef.h>
#include <stdint.h>

// What a call returns. Errors are below 0; `petrov_last_error` then has a text that says more.
enum PetrovStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done; all output is written.
  PETROV_STATUS_OK = 0,
  // No table has the position. Not an error: search on. Only petrov_best_moves and petrov_unpack keep a text.
  PETROV_STATUS_NOT_IN_TABLE = 1,
  // Captures decide, and no search of them was asked for. Not an error. No text is kept.
  PETROV_STATUS_NEEDS_CAPTURE_SEARCH = 2,
  // A pointer is NULL that must not be.
  PETROV_STATUS_NULL = -1,
  // The field `size` of a struct, or a size given, is not that of this header's struct.
  PETROV_STATUS_SIZE = -2,
  // The prober or handle was closed, or never opened.
  PETROV_STATUS_CLOSED = -3,
  // Another thread is using this handle.
  PETROV_STATUS_BUSY = -4,
  // Another argument is not what the call expects: an unknown game, a number out of range, text that is not
  // UTF-8, a position of the other family.
  PETROV_STATUS_ARGUMENT = -5,
  // The text is no FEN of this game.
  PETROV_STATUS_FEN = -6,
  // Pieces overlap or stand where they cannot, or the side not to move is in check.
  PETROV_STATUS_POSITION = -7,
  // A folder cannot be read, or a table is damaged or of other rules than its path says.
  PETROV_STATUS_TABLE = -8,
  // More than 65,536 probers or handles are open.
  PETROV_STATUS_TOO_MANY = -9,
  // Something broke inside the library; the handle that was in use is closed. Please report it.
  PETROV_STATUS_INTERNAL = -10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum PetrovStatus PetrovStatus;
#else
typedef int32_t PetrovStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a table says of its positions.
enum PetrovMetric
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Win, draw or loss.
  PETROV_METRIC_WLD = 0,
  // Plies to the end of the game.
  PETROV_METRIC_DTW = 1,
  // Plies to the next conversion (a capture, or a move of a man or pawn) or the end of the game.
  PETROV_METRIC_DTZ = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum PetrovMetric PetrovMetric;
#else
typedef int32_t PetrovMetric;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How far a probe goes.
enum PetrovMode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Captures are searched, so that every position of a material that is there has a value.
  PETROV_MODE_SEARCH = 0,
  // One look-up: where captures decide the answer is `PETROV_STATUS_NEEDS_CAPTURE_SEARCH`. For nodes whose moves
  // are searched anyway.
  PETROV_MODE_LOOKUP = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum PetrovMode PetrovMode;
#else
typedef int32_t PetrovMode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How tables are read.
enum PetrovRead
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Through memory maps: the fastest. A file that is cut short meanwhile ends the program with a signal.
  PETROV_READ_MMAP = 0,
  // By reads of the blocks: whatever happens to a file is an error of the probe that met it.
  PETROV_READ_PREAD = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum PetrovRead PetrovRead;
#else
typedef int32_t PetrovRead;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A value for the side to move: what is lost, drawn, won. The values between are results that a rule of
// counting moves makes draws; only `petrov_best_moves` gives them.
enum PetrovValue
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The side to move loses.
  PETROV_VALUE_LOSS = -2,
  // It would lose but for the rule.
  PETROV_VALUE_BLESSED_LOSS = -1,
  // Neither side can win.
  PETROV_VALUE_DRAW = 0,
  // It would win but for the rule.
  PETROV_VALUE_CURSED_WIN = 1,
  // The side to move wins.
  PETROV_VALUE_WIN = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum PetrovValue PetrovValue;
#else
typedef int32_t PetrovValue;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a game's tables are opened. Fill it with zeros, set `size`, and then what should be otherwise.
typedef struct PetrovOptions {
  // `sizeof(PetrovOptions)`.
  uint32_t size;
  // A `PetrovRead`.
  int32_t read;
  // Folders of tables, separated by colons, searched with all that is below them. NULL: those of the environment
  // variable `PETROV_TABLES`, else `tables` in the current folder; and the starter set, which is part of the library.
  const char *folders;
  // A file of rules of a game that is not built in (see docs/own-rules.md). NULL: none.
  const char *rules;
  // Most bytes of decoded blocks that are kept for all threads together. 0: 64 MiB.
  uint64_t cache_bytes;
} PetrovOptions;

// Tables of one game. Any thread may use it, any number at once. 0 in `id` is never an open one.
typedef struct PetrovProber {
  // Meaningless but for this library.
  uint64_t id;
} PetrovProber;

// What one thread probes with. 0 in `id` is never an open one.
typedef struct PetrovHandle {
  // Meaningless but for this library.
  uint64_t id;
} PetrovHandle;

// The numbers of pieces that tables have; see `petrov_limit_admits`.
typedef struct PetrovLimit {
  // `sizeof(PetrovLimit)`.
  uint32_t size;
  // Most pieces of both sides together; 0 if there are no tables.
  uint32_t together;
  // Most pieces of one side.
  uint32_t of_a_side;
} PetrovLimit;

// What came of `petrov_warm` or `petrov_unpack`.
typedef struct PetrovFilled {
  // `sizeof(PetrovFilled)`.
  uint32_t size;
  // Tables (or, unpacked, sides to move of tables) that were asked for.
  uint32_t asked;
  // Those of them that are now in memory as a whole.
  uint32_t done;
  // Always 0.
  uint32_t unused;
  // Bytes that these take, and with petrov_warm what fitted of the others.
  uint64_t bytes;
} PetrovFilled;

// A position of draughts. Bit n of a set is the square with number n + 1, or, in games whose squares have letters,
// the n-th playable square from a1 on, rank by rank.
typedef struct PetrovDraughts {
  // `sizeof(PetrovDraughts)`.
  uint32_t size;
  // The side to move: 0 White, 1 Black.
  int32_t turn;
  // Men of White and of Black; of each the squares 1 to 64, and those from 65 on.
  uint64_t men[2][2];
  // Kings of White and of Black, likewise.
  uint64_t kings[2][2];
} PetrovDraughts;

// A position of chess on 8x8. Bit 8 * rank + file of a set is a square, both from 0: a1 is bit 0, h1 bit 7. Games with other
// pieces than these are asked about with FENs.
typedef struct PetrovChess {
  // `sizeof(PetrovChess)`.
  uint32_t size;
  // The side to move: 0 White, 1 Black.
  int32_t turn;
  // All pieces of White.
  uint64_t white;
  // All pieces of Black.
  uint64_t black;
  // Kings of both sides.
  uint64_t kings;
  // Queens of both sides.
  uint64_t queens;
  // Rooks of both sides.
  uint64_t rooks;
  // Bishops of both sides.
  uint64_t bishops;
  // Knights of both sides.
  uint64_t knights;
  // Pawns of both sides.
  uint64_t pawns;
  // The square that a pawn has just passed by a double step; -1: none, or no pawn can take there.
  int32_t en_passant;
  // Not 0: a side may still castle. Such positions are in no table.
  int32_t castling;
} PetrovChess;

// A rule that makes a draw of a game without conversions for too long.
typedef struct PetrovCount {
  // `sizeof(PetrovCount)`.
  uint32_t size;
  // Most plies from one conversion to the next, that one included, for a win to count; 30 for "fifteen moves of
  // each side". 0: no rule, whatever the game says.
  uint32_t limit;
  // Plies without a conversion so far.
  uint32_t counted;
} PetrovCount;

// A move that may be played.
typedef struct PetrovMove {
  // The move as `petrov moves` writes it (chess: UCI), ended by a 0 byte.
  char text[64];
  // Plies to the end of the game from before the move; -1 if it is drawn or no table tells.
  int32_t dtw;
  // Plies to the next conversion from before the move; -1 if it is drawn or no table tells.
  int32_t dtz;
} PetrovMove;

// What a handle and the cache of its prober have done.
typedef struct PetrovStats {
  // `sizeof(PetrovStats)`.
  uint32_t size;
  // Always 0.
  uint32_t unused;
  // Positions that this handle was asked for.
  uint64_t probes;
  // Positions, those on the way included, in which captures decided.
  uint64_t searches;
  // Entries that it read.
  uint64_t lookups;
  // Blocks that it decoded; `1 - decoded / lookups` is its rate of hits.
  uint64_t decoded;
  // Bytes of decoded blocks that the cache holds, for all threads.
  uint64_t cache_bytes;
  // Most bytes that it may hold.
  uint64_t cache_budget;
  // Blocks that it dropped to make room.
  uint64_t cache_evictions;
} PetrovStats;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0".
//
// Memory: the text is part of the library and lives as long as the program. Threads: any.
const char *petrov_version(void);

// Writes the text of the last error of the calling thread to `buffer`: as much as `size` bytes hold, the last of them
// 0. Returns the bytes of the whole text without the 0. A call that succeeds leaves the text as it is.
//
// Memory: `buffer` is the caller's; it may be NULL if `size` is 0. Threads: each has a text of its own.
size_t petrov_last_error(char *buffer,
                         size_t size);

// Opens the tables of a game (`petrov games` lists the names) and writes to `prober`. Files are opened and their
// headers read, which takes some 20 microseconds a small table, and some milliseconds one of four pieces, whose symmetries
// are worked out: 0.5 seconds and 41 MB for all three metrics of chess. Blocks are read when they are probed. Tables of
// other games in the folders are opened, too: name FOLDER/GAME to open this one's alone. A folder that does not exist
// holds no tables.
//
// `options` may be NULL: the default folders, memory maps, 64 MiB of cache.
//
// Memory: texts are copied; the prober and its cache are freed when it and all its handles are closed.
// Threads: any, also at once. Errors: `NULL`, `SIZE`, `ARGUMENT` (game, rule file, options), `TABLE` (a folder cannot be
// read, or too few file descriptors or memory maps), `TOO_MANY`.
PetrovStatus petrov_open(const char *game,
                         const struct PetrovOptions *options,
                         struct PetrovProber *prober);

// Closes a prober. Handles that were opened of it go on.
//
// Memory: freed with the last of its handles. Threads: any; other calls that are using it finish. Errors: `CLOSED`.
PetrovStatus petrov_close(struct PetrovProber prober);

// Opens a handle, with which one thread at a time probes, and writes to `handle`. Open one for each thread of a search
// and keep it.
//
// Memory: some 100 KB for decoding, from the first block that it decodes on, and up to 1 MiB of blocks that it holds
// itself; freed by `petrov_handle_close`. Threads: any. Errors: `NULL`, `CLOSED`, `TOO_MANY`.
PetrovStatus petrov_handle_open(struct PetrovProber prober,
                                struct PetrovHandle *handle);

// Closes a handle.
//
// Memory: freed. Threads: any; `BUSY`, and still open, if another thread is using it. Errors: `CLOSED`, `BUSY`.
PetrovStatus petrov_handle_close(struct PetrovHandle handle);

// Writes to `limit` the numbers of pieces that tables of a metric (`PetrovMetric`) have. Ask once; in a search
// `petrov_limit_admits` then says whether a probe is worth trying.
//
// Memory: nothing is kept. Threads: any, also at once. Errors: `NULL`, `SIZE`, `CLOSED`, `ARGUMENT`.
PetrovStatus petrov_limit(struct PetrovProber prober,
                          int metric,
                          struct PetrovLimit *limit);

// Decodes all blocks of the tables of a metric (`PetrovMetric`) of at most so many pieces, smallest first, and keeps
// them for good, as far as `bytes` and the cache go: such blocks are read without locks. `filled`, which may
// be NULL, gets what came of it.
//
// Memory: up to `bytes` of the cache, until the prober and its handles are closed. Threads: any, also while others
// probe. Errors: `SIZE`, `CLOSED`, `ARGUMENT`, `TABLE` (a damaged table, or a file that is another one than its name says);
// after all others have been decoded.
PetrovStatus petrov_warm(struct PetrovProber prober,
                         int metric,
                         uint32_t pieces,
                         uint64_t bytes,
                         struct PetrovFilled *filled);

// Works out the value of every position of the wld tables of at most so many pieces, smallest first, as far as `bytes`
// go, and holds them apart from the cache, a quarter of a byte each: a probe of one is then a single look-up that
// never needs a search of captures. Takes about 0.2 seconds for a million positions. `filled` may be NULL.
//
// Memory: up to `bytes`, until the prober and its handles are closed. Threads: any, also while others probe.
// Errors: `SIZE`, `CLOSED`, `TABLE`; `NOT_IN_TABLE` with a text if a capture leads to a table that is
// missing; after all others have been unpacked.
PetrovStatus petrov_unpack(struct PetrovProber prober,
                           uint32_t pieces,
                           uint64_t bytes,
                           struct PetrovFilled *filled);

// Writes the value of a position of draughts for the side to move to `value`: -2 loss, 0 draw, 2 win (`PetrovValue`).
// `mode` is a `PetrovMode`. Nothing is written unless the answer is `OK`.
//
// Memory: nothing is allocated, except for an error's text or while a block is decoded. Threads: one at a time for
// each handle. Errors: `NULL`, `SIZE`, `CLOSED`, `BUSY`, `ARGUMENT`, `POSITION`, `TABLE`.
PetrovStatus petrov_value_draughts(struct PetrovHandle handle,
                                   const struct PetrovDraughts *position,
                                   int mode,
                                   int *value);

// Writes the value of a position of chess for the side to move to `value`, as `petrov_value_draughts`. The fifty-move
// rule is not asked.
//
// Memory: as `petrov_value_draughts`; a position with an en passant square allocates. Threads: one at a time for each
// handle. Errors: as `petrov_value_draughts`.
PetrovStatus petrov_value_chess(struct PetrovHandle handle,
                                const struct PetrovChess *position,
                                int mode,
                                int *value);

// Writes the value of the position of a FEN for the side to move to `value`, as `petrov_value_draughts`. A FEN takes
// about a microsecond to read.
//
// Memory: the text is not kept; reading it may allocate. Threads: one at a time for each handle.
// Errors: `NULL`, `CLOSED`, `BUSY`, `ARGUMENT`, `FEN`, `POSITION`, `TABLE`.
PetrovStatus petrov_value_fen(struct PetrovHandle handle,
                              const char *fen,
                              int mode,
                              int *value);

// Writes the value of the position of a FEN to `value` and the plies that a metric (`PetrovMetric`) counts to `plies`:
// -1 for a draw, 0 with `PETROV_METRIC_WLD`. Captures are searched.
//
// Memory: as `petrov_value_fen`. Threads: one at a time for each handle. Errors: as `petrov_value_fen`.
PetrovStatus petrov_distance_fen(struct PetrovHandle handle,
                                 const char *fen,
                                 int metric,
                                 int *value,
                                 int *plies);

// Writes to `moves` the moves that keep the result of the position of a FEN under a rule of counting, best first, at
// most `room` of them; to `count` how many there are, which may be more; and to `result` the result under the rule
// (`PetrovValue`). Playing the first of them every time wins what is won without such a rule, or under the fifty-move
// rule of chess. Under any other rule it comes to the next conversion in time, and to one after which the next can be
// in time if there is such a move; what is beyond that, tables of distances do not tell.
//
// `ranking` is `PETROV_METRIC_DTW` (the shortest win) or `PETROV_METRIC_DTZ` (the shortest way to the next
// conversion), and those tables are needed. `rule` NULL: the game's own, that is the fifty-move rule in chess with the
// plies that the FEN tells of, which needs dtz tables (the starter set has none of chess). Any other rule needs dtz tables,
// too. `move_size` is `sizeof(PetrovMove)`.
//
// Memory: the text is not kept; `moves` is the caller's and may be NULL if `room` is 0. Threads: one at a time for
// each handle. For the root: it takes some microseconds a move and allocates. Errors: `NULL`, `SIZE`, `CLOSED`, `BUSY`,
// `ARGUMENT`, `FEN`, `POSITION`, `TABLE`; `NOT_IN_TABLE` with a text that names the table.
PetrovStatus petrov_best_moves(struct PetrovHandle handle,
                               const char *fen,
                               int ranking,
                               const struct PetrovCount *rule,
                               struct PetrovMove *moves,
                               size_t move_size,
                               size_t room,
                               size_t *count,
                               int *result);

// Tells the system that the blocks of the position of a FEN will be read soon. Returns at once. With
// `PETROV_READ_PREAD` nothing happens.
//
// Memory: the text is not kept. Threads: one at a time for each handle. Errors: `NULL`, `CLOSED`, `BUSY`, `ARGUMENT`, `FEN`.
PetrovStatus petrov_prefetch_fen(struct PetrovHandle handle,
                                 const char *fen,
                                 int metric);

// Writes to `stats` what a handle, and the cache that it shares, have done.
//
// Memory: nothing is kept. Threads: one at a time for each handle. Errors: `NULL`, `SIZE`, `CLOSED`, `BUSY`.
PetrovStatus petrov_stats(struct PetrovHandle handle, struct PetrovStats *stats);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PETROV_H */

#ifdef __cplusplus
extern "C" {
#endif

/* Whether there are tables of so many pieces of White and of Black: to be asked before a probe. Few comparisons.
 * No for a NULL. A position that has more pieces is in no table, though a capture may lead from it into one.
 * Memory: none. Threads: any. */
static inline int petrov_limit_admits(const PetrovLimit *limit, uint32_t white, uint32_t black)
{
    return limit && (uint64_t)white + black <= limit->together && white <= limit->of_a_side && black <= limit->of_a_side;
}

#ifdef __cplusplus
}
#endif
