#!/usr/bin/env python3
"""Reads a Petrov table file, following docs/format.md and nothing else.

    read_table.py FILE --header             the header as one JSON document
    read_table.py FILE --entries SIDE       for each entry number on standard input: number, value,
                                            distance in plies, separated by tabs
    read_table.py FILE --entries SIDE --all the same for every entry, in order
    read_table.py FILE --probe BOARD        for each position on standard input: side, entry number,
                                            value, distance

SIDE is 0 or 1. Tables do not repeat the rules, so BOARD says what the index needs of them:

    draughts    files x ranks and the playable squares, as 8x8-dark, 10x10-mirror or 8x8-all
    chess       the rule file, as games/rules-chess/chess.toml

A draughts position is written W:WKa1,b2:BKh8: the side to move, White's pieces, Black's pieces, K before a
king's square. Squares are a file's letter (a to m without j) and a rank's number, whatever the game itself
calls them. A chess position is a FEN, of which the first two fields count; tables hold neither castling
rights nor that to take en passant.

Moves are not generated, so free entries (docs/format.md, section 1) are printed as they are, and so are
those in which the side not to move is in check. All checksums are verified first.
Needs the package `zstandard`. Exit status: 0 done, 2 wrong usage or input, 3 missing or damaged table.
"""

import argparse
import hashlib
import json
import re
import sys
import zlib
from math import comb

MAGIC = b"\x89PETROV\n"
VERSION = 1
METRICS = ["wld", "dtw", "dtz"]
VALUES = ["loss", "blessed-loss", "draw", "cursed-win", "win"]
CAPTURES, UP_TO_CAPTURE, GAPS = 1, 2, 4
MOST_DISTANCE = 4095
MOST_LINES = 2 * (MOST_DISTANCE + 1) + 1
FILE_CHECKSUM_BYTES = 16


class TableError(Exception):
    """The file is no table, or damaged."""


def require(condition, message):
    if not condition:
        raise TableError(message)


# --- Header (section 2) ------------------------------------------------------


class Fields:
    """Reads one field after another."""

    def __init__(self, content):
        self.content = content
        self.at = 0

    def take(self, count):
        require(self.at + count <= len(self.content), "a field runs past the end of the header")
        self.at += count
        return self.content[self.at - count : self.at]

    def number(self, count):
        return int.from_bytes(self.take(count), "little")

    def varint(self):
        number = shift = 0
        while True:
            byte = self.number(1)
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        require(number < 1 << 64 and (byte or shift == 7), "impossible number")
        return number

    def text(self):
        try:
            return self.take(self.number(1)).decode("ascii")
        except UnicodeDecodeError:
            raise TableError("a name is not ASCII") from None

    def one_of(self, what, names):
        number = self.number(1)
        require(number < len(names), f"unknown {what}: {number}")
        return names[number]


def codes_per_byte(stored):
    """The largest k with stored^k <= 256; two-byte codes count as 0."""
    return max((k for k in range(1, 9) if stored**k <= 256), default=0)


def capacity(stored, packed_bytes):
    """Codes in a block of so many packed bytes."""
    k = codes_per_byte(stored)
    return packed_bytes * k if k else packed_bytes // 2


def packed_length(stored, places):
    k = codes_per_byte(stored)
    return -(-places // k) if k else 2 * places


def place(side, entry):
    """Where an entry, or their end, stands among the codes of its side."""
    k, row = codes_per_byte(side["stored"]), side["row"]
    if row == 0:
        return entry
    return entry // row * (-(-row // k) * k) + entry % row


def read_line(fields, metric):
    """A line of a palette."""
    value = fields.one_of("value", VALUES)
    distance = fields.varint()
    require(distance <= MOST_DISTANCE, f"impossible distance: {distance}")
    require(distance == 0 or metric != "wld" and value != "draw", f"impossible distance: {distance}")
    require(metric == "dtz" or value in ("loss", "draw", "win"), f"impossible value: {value}")
    return {"value": value, "distance": distance, "count": fields.varint()}


def read_side(fields, metric, free):
    side = {
        "to_move": fields.one_of("side to move", ["white", "black"]),
        "digit_order": fields.number(1),
        "entries": fields.varint(),
        "row": fields.varint(),
    }
    size = fields.varint()
    side["stored"] = fields.varint()
    require(side["stored"] <= size <= MOST_LINES, "impossible palette size")
    require(size > 0 or side["entries"] == 0 or free["gaps"], "empty palette")
    require(side["stored"] > 0 or side["entries"] == 0 or any(free.values()), "no value is stored")
    if side["row"] > 0:
        require(side["stored"] > 1 and codes_per_byte(side["stored"]) > 1, "padded rows of codes that share no byte")
        require(side["row"] < 1 << 32 and side["entries"] % side["row"] == 0, "impossible row length")
        require(place(side, side["entries"]) < 1 << 64, "impossible row length")
    side["palette"] = [read_line(fields, metric) for _ in range(size)]
    lines = {(line["value"], line["distance"]) for line in side["palette"]}
    require(len(lines) == size, "a line of the palette occurs twice")
    require(sum(line["count"] for line in side["palette"]) < 1 << 64, "impossible count of positions")
    longest, mated = fields.varint(), fields.varint()
    require(longest <= side["entries"], "the longest win is no entry")
    lost = sum(line["count"] for line in side["palette"] if line["value"].endswith("loss"))
    require(mated <= lost + 1, "more mates than losses")
    side["longest_win"] = longest - 1 if longest else None
    side["mated"] = mated - 1 if mated else None
    return side


def read_directory(fields, header, offset):
    """Adds to each side its blocks; returns where the last one ends."""
    width = 2 if header["block_bytes"] <= 65536 else 4
    for side in header["sides"]:
        side["blocks"] = []
        if side["stored"] <= 1:
            continue
        in_block = capacity(side["stored"], header["block_bytes"])
        end = place(side, side["entries"])
        for first in range(0, end, in_block):
            packed = packed_length(side["stored"], min(in_block, end - first))
            stored = fields.number(width) + 1
            require(stored <= packed, "a block is longer than its codes")
            block = {"offset": offset, "stored_bytes": stored, "packed_bytes": packed, "crc32": fields.number(4)}
            side["blocks"].append(block)
            offset += stored
    return offset


def read_flags(fields):
    flags = fields.number(1)
    require(flags <= 7 and flags & 3 < 3, f"unknown flags: {flags}")
    return {
        "captures": flags & CAPTURES > 0,
        "up_to_capture": flags & UP_TO_CAPTURE > 0,
        "gaps": flags & GAPS > 0,
    }


def read_header(content):
    """The header as a dictionary, and the zstd dictionary's bytes."""
    require(content[:8] == MAGIC, "not a Petrov table")
    require(len(content) >= 14, "truncated")
    version = int.from_bytes(content[8:10], "little")
    require(version == VERSION, f"format version {version}, expected {VERSION}")
    length = int.from_bytes(content[10:14], "little")
    require(18 <= length <= len(content), "truncated, or the header's length is wrong")
    crc = int.from_bytes(content[length - 4 : length], "little")
    require(zlib.crc32(content[: length - 4]) == crc, "the header's checksum differs")

    fields = Fields(content[: length - 4])
    fields.take(14)
    header = {"version": version, "header_bytes": length, "fingerprint": fields.take(16).hex()}
    header["metric"] = fields.one_of("metric", METRICS)
    header["free_entries"] = read_flags(fields)
    sides = fields.number(1)
    require(sides in (1, 2), f"{sides} sides")
    header["family"] = fields.text()
    header["game"] = fields.text()
    header["material"] = fields.text()
    require(re.fullmatch("[A-Z]+v[A-Z]+", header["material"]), "impossible material")
    header["block_bytes"] = fields.varint()
    require(2 <= header["block_bytes"] <= 1 << 24 and header["block_bytes"] % 2 == 0, "impossible block size")
    header["sides"] = [read_side(fields, header["metric"], header["free_entries"]) for _ in range(sides)]
    require(sides == 1 or header["sides"][0]["to_move"] != header["sides"][1]["to_move"], "two sides are the same")
    header["dictionary_bytes"] = fields.varint()
    dictionary = fields.take(header["dictionary_bytes"])
    end = read_directory(fields, header, length)
    require(fields.at == length - 4, "the header is longer than its fields")
    header["file_bytes"] = end + FILE_CHECKSUM_BYTES
    require(len(content) == header["file_bytes"], f"{len(content)} bytes, expected {header['file_bytes']}")
    return header, dictionary


# --- Blocks (section 3) ------------------------------------------------------


class Table:
    """A table whose file checksum has been verified."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.content = file.read()
        self.header, dictionary = read_header(self.content)
        end = len(self.content) - FILE_CHECKSUM_BYTES
        digest = hashlib.sha256(self.content[:end]).digest()
        require(digest[:FILE_CHECKSUM_BYTES] == self.content[end:], "the file's checksum differs")
        self.dictionary = dictionary
        self.decompressor = None
        self.decoded = {}

    def packed(self, side, block):
        """The packed codes of a block."""
        if (side, block) not in self.decoded:
            about = self.header["sides"][side]["blocks"][block]
            stored = self.content[about["offset"] : about["offset"] + about["stored_bytes"]]
            require(zlib.crc32(stored) == about["crc32"], f"side {side}, block {block}: the checksum differs")
            packed = stored
            if about["stored_bytes"] < about["packed_bytes"]:
                packed = self.decompress(stored, about["packed_bytes"])
            require(len(packed) == about["packed_bytes"], f"side {side}, block {block}: wrong length")
            self.decoded[side, block] = packed
        return self.decoded[side, block]

    def decompress(self, frame, length):
        import zstandard  # Reading headers alone needs no package.

        try:
            if self.decompressor is None:
                shared = zstandard.ZstdCompressionDict(self.dictionary) if self.dictionary else None
                self.decompressor = zstandard.ZstdDecompressor(dict_data=shared)
            return self.decompressor.decompress(frame, max_output_size=length)
        except zstandard.ZstdError as error:
            raise TableError(f"zstd: {error}") from None

    def code(self, side, index):
        about = self.header["sides"][side]
        stored = about["stored"]
        if stored <= 1:
            return 0
        block, position = divmod(place(about, index), capacity(stored, self.header["block_bytes"]))
        packed = self.packed(side, block)
        k = codes_per_byte(stored)
        if k == 0:
            return int.from_bytes(packed[2 * position : 2 * position + 2], "little")
        require(packed[position // k] < stored**k, f"side {side}, entry {index}: impossible byte")
        return packed[position // k] // stored ** (position % k) % stored

    def entry(self, side, index):
        """Value and distance of an entry; meaningless for a free one."""
        about = self.header["sides"][side]
        code = self.code(side, index)
        require(code < max(about["stored"], 1), f"side {side}, entry {index}: impossible code")
        return about["palette"][code]["value"], about["palette"][code]["distance"]


# --- Boards (section 4) ------------------------------------------------------
#
# A set of squares is a number whose bit n stands for square n. A placement is {"own": {letter: set},
# "opponent": {letter: set}} in the view of the side to move.

DRAUGHTS_FILES = "abcdefghiklm"


def bits(squares):
    return sum(1 << square for square in squares)


def squares_of(squares):
    while squares:
        lowest = squares & -squares
        yield lowest.bit_length() - 1
        squares ^= lowest


def moved_set(squares, images):
    return bits(images[square] for square in squares_of(squares))


def moved(placement, images):
    """The pieces with every square replaced by its image."""
    return {
        side: {letter: moved_set(squares, images) for letter, squares in pieces.items()}
        for side, pieces in placement.items()
    }


class Draughts:
    """A board with some squares playable."""

    standing = "M"
    moving = "K"

    def __init__(self, text):
        match = re.fullmatch(r"(\d+)x(\d+)-(dark|mirror|all)", text)
        if not match:
            raise ValueError(f"{text!r} is no board; expected one such as 8x8-dark")
        self.files, self.ranks, self.kind = int(match[1]), int(match[2]), match[3]
        # Number of each playable (file, rank), those of mirror boards reflected.
        self.number = {
            (file, rank): self.numbered(file, rank)
            for rank in range(self.ranks)
            for file in range(self.files)
            if self.kind == "all" or (file + rank) % 2 == 0
        }
        self.place = {number: place for place, number in self.number.items()}
        self.squares = bits(self.place)
        end = self.squares.bit_length()
        self.turned = {square: end - 1 - square for square in self.place}
        top = bits(number for (_, rank), number in self.number.items() if rank == self.ranks - 1)
        own = self.squares & ~top
        self.standing_squares = {"own": own, "opponent": moved_set(own, self.turned)}

    def numbered(self, file, rank):
        if self.kind == "all":
            return rank * self.files + file
        return rank // 2 * (self.files + 1) + rank % 2 * (self.files // 2 + 1) + file // 2

    def named(self, name):
        """The number of the square with this name."""
        if not re.fullmatch(r"[a-z]\d{1,2}", name) or name[0] not in DRAUGHTS_FILES:
            raise ValueError(f"{name!r} is no square")
        file, rank = DRAUGHTS_FILES.index(name[0]), int(name[1:]) - 1
        if self.kind == "mirror":
            file = self.files - 1 - file
        if (file, rank) not in self.number:
            raise ValueError(f"{name!r} is no square of this board")
        return self.number[file, rank]

    def symmetries(self, letters):
        """Maps from number to number that keep the playable squares, in order."""
        maps = []
        for turn in range(8):
            flip_files, flip_ranks, swap = turn & 1, turn & 2, turn & 4
            if ("M" in letters and turn > 1) or (swap and self.files != self.ranks):
                continue
            images = {}
            for number, (file, rank) in self.place.items():
                file = self.files - 1 - file if flip_files else file
                rank = self.ranks - 1 - rank if flip_ranks else rank
                images[number] = self.number.get((rank, file) if swap else (file, rank))
            if None not in images.values():
                maps.append(images)
        return maps

    def read(self, text):
        """Whether Black moves, and White's and Black's squares by letter."""
        match = re.fullmatch(r"([WB]):W([^:]*):B([^:]*)", text)
        if not match:
            raise ValueError(f"{text!r} is no position; expected one such as W:WKa1,b2:BKh8")
        armies = []
        for listed in match[2], match[3]:
            army = {"K": [], "M": []}
            for square in filter(None, listed.split(",")):
                army["K" if square[0] == "K" else "M"].append(self.named(square.removeprefix("K")))
            armies.append(army)
        return match[1] == "B", *armies


# The moves of chess's own pieces, and what else a rule file leaves out.
CHESS_PIECES = {
    "k": {"leaps": [[1, 0], [1, 1]]},
    "q": {"slides": [[1, 0], [1, 1]]},
    "r": {"slides": [[1, 0]]},
    "b": {"slides": [[1, 1]]},
    "n": {"leaps": [[2, 1]]},
}


def turned_step(turn, dx, dy):
    """The image of a step or square, counted from the middle, under a symmetry."""
    if turn & 4:
        dx, dy = dy, dx
    return (-dx if turn & 1 else dx), (-dy if turn & 2 else dy)


class Chess:
    """The axes of a rule file that the index depends on."""

    standing = "P"

    def __init__(self, path):
        import tomllib  # Draughts need no rule file.

        try:
            with open(path, "rb") as file:
                rules = tomllib.load(file)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise ValueError(f"{path}: {error}") from None
        if rules.get("family") != "chess":
            raise ValueError(f"{path}: no rule file of the family chess")
        self.files, self.ranks = map(int, rules.get("board", "8x8").split("x"))
        given = rules.get("pieces", {})
        more = sorted(letter for letter in given if letter not in CHESS_PIECES)
        self.moving = "".join([*CHESS_PIECES, *more]).upper()
        self.steps = {
            letter.upper(): [self.all_steps(moves, kind) for kind in ("leaps", "slides")]
            for letter, moves in {**CHESS_PIECES, **given}.items()
        }
        promotion = rules.get("promote_to", ["q", "r", "b", "n"])
        # A table of the rule file names the piece for each file of the board.
        by_file = [promotion[file] for file in sorted(promotion)] if isinstance(promotion, dict) else []
        self.mirrored_promotion = by_file == by_file[::-1]
        self.promoted = {letter.upper() for letter in (by_file or promotion)}
        self.squares = bits(rank * 8 + file for rank in range(self.ranks) for file in range(self.files))
        self.turned = {square: self.image(2, square) for square in squares_of(self.squares)}
        first, last = rules.get("pawn_rank", 2) - 1, rules.get("promotion_rank", self.ranks) - 2
        own = bits(square for square in squares_of(self.squares) if first <= square // 8 <= last)
        self.standing_squares = {"own": own, "opponent": moved_set(own, self.turned)}

    @staticmethod
    def all_steps(moves, kind):
        """All leaps or slides of a piece, White's."""
        steps = {turned_step(turn, *step) for step in moves.get(kind, []) for turn in range(8)}
        return steps | {tuple(step) for step in moves.get(kind + "_exact", [])}

    def image(self, turn, square):
        rank, file = divmod(square, 8)
        if turn & 4:
            file, rank = rank, file
        file = self.files - 1 - file if turn & 1 else file
        rank = self.ranks - 1 - rank if turn & 2 else rank
        return rank * 8 + file

    def keeps(self, turn, letter):
        """Whether a symmetry keeps the moves of a piece, of both colours."""
        if letter == "P":
            return turn == 0 or turn == 1 and self.mirrored_promotion
        for white in self.steps[letter]:
            for steps in white, {(dx, -dy) for dx, dy in white}:
                if {turned_step(turn, *step) for step in steps} != steps:
                    return False
        return True

    def symmetries(self, letters):
        """Maps from square to square that keep the rules for these pieces, in order."""
        letters = letters | self.promoted if "P" in letters else letters
        return [
            {square: self.image(turn, square) for square in squares_of(self.squares)}
            for turn in range(8)
            if (turn < 4 or self.files == self.ranks) and all(self.keeps(turn, letter) for letter in letters)
        ]

    def read(self, text):
        """Whether Black moves, and White's and Black's squares by letter."""
        fields = text.split()
        rows = fields[0].split("/") if fields else []
        if len(rows) != self.ranks or len(fields) < 2 or fields[1] not in ("w", "b"):
            raise ValueError(f"{text!r} is no FEN of this board")
        if len(fields) > 2 and fields[2] != "-":
            raise ValueError(f"{text!r}: tables hold no castling rights")
        armies = [{letter: [] for letter in self.moving + self.standing} for _ in range(2)]
        for rank, row in zip(reversed(range(self.ranks)), rows, strict=True):
            file = 0
            for letter in row:
                if letter in "12345678":
                    file += int(letter)
                    continue
                army = armies[letter.islower()]
                if letter.upper() not in army:
                    raise ValueError(f"{text!r}: {letter!r} is no piece")
                army[letter.upper()].append(rank * 8 + file)
                file += 1
            if file != self.files:
                raise ValueError(f"{text!r}: a rank does not fill the board")
        return fields[1] == "b", *armies


BOARDS = {"draughts": Draughts, "chess": Chess}


# --- Index (section 4) -------------------------------------------------------

SIGNIFICANCE = ["SFL", "SLF", "FSL", "FLS", "LSF", "LFS"]
MOST_FOLDED = 1 << 28


def set_rank(squares, region):
    """The number of a set among those of as many squares of the region."""
    number = 0
    for i, square in enumerate(squares_of(squares), 1):
        number += comb((region & (1 << square) - 1).bit_count(), i)
    return number


def set_unrank(number, count, region):
    region = list(squares_of(region))
    squares = 0
    for i in range(count, 0, -1):
        below = max(b for b in range(len(region)) if comb(b, i) <= number)
        number -= comb(below, i)
        squares |= 1 << region[below]
    return squares


class StandingDigit:
    """Numbers the standing pieces of two sides, those of `first` placed first."""

    def __init__(self, board, counts, first):
        self.letter = board.standing
        self.first, self.last = first, "opponent" if first == "own" else "own"
        self.first_count, self.last_count = counts[self.first][self.letter], counts[self.last][self.letter]
        first_squares, self.last_squares = (board.standing_squares[side] for side in (self.first, self.last))
        self.only_first, self.both = first_squares & ~self.last_squares, first_squares & self.last_squares
        self.offsets = [0]
        for e in range(self.first_count + 1):
            on_both = self.first_count - e
            ways = comb(self.only_first.bit_count(), e) * comb(self.both.bit_count(), on_both)
            self.offsets.append(self.offsets[-1] + ways * self.last_ways(on_both))
        self.range = self.offsets[-1]

    def last_ways(self, on_both):
        return comb(max(self.last_squares.bit_count() - on_both, 0), self.last_count)

    def number(self, placement):
        first, last = placement[self.first][self.letter], placement[self.last][self.letter]
        on_edge, on_both = first & self.only_first, first & self.both
        e, inner = on_edge.bit_count(), on_both.bit_count()
        number = set_rank(on_edge, self.only_first) * comb(self.both.bit_count(), inner) + set_rank(on_both, self.both)
        return self.offsets[e] + number * self.last_ways(inner) + set_rank(last, self.last_squares & ~first)

    def place(self, number, placement):
        e = max(e for e in range(self.first_count + 1) if self.offsets[e] <= number)
        inner = self.first_count - e
        rest, last = divmod(number - self.offsets[e], self.last_ways(inner))
        edge, both = divmod(rest, comb(self.both.bit_count(), inner))
        first = set_unrank(edge, e, self.only_first) | set_unrank(both, inner, self.both)
        placement[self.first][self.letter] = first
        placement[self.last][self.letter] = set_unrank(last, self.last_count, self.last_squares & ~first)


class MovingDigit:
    """Numbers one side's other pieces on free squares, kind after kind."""

    def __init__(self, board, counts, side, free):
        self.side = side
        self.kinds = [(letter, counts[side][letter]) for letter in board.moving if counts[side][letter]]
        self.pieces = sum(count for _, count in self.kinds)
        self.range = 1
        for _, count in self.kinds:
            self.range *= comb(max(free, 0), count)
            free -= count

    def number(self, placement, free):
        number = 0
        for letter, count in self.kinds:
            squares = placement[self.side][letter]
            number = number * comb(free.bit_count(), count) + set_rank(squares, free)
            free &= ~squares
        return number

    def place(self, number, placement, free):
        left = free.bit_count() - self.pieces
        digits = []
        for _, count in reversed(self.kinds):
            left += count
            number, digit = divmod(number, comb(left, count))
            digits.append(digit)
        for (letter, count), digit in zip(self.kinds, reversed(digits), strict=True):
            placement[self.side][letter] = set_unrank(digit, count, free)
            free &= ~placement[self.side][letter]


class SideIndex:
    """The index of one side to move."""

    def __init__(self, board, counts, order, to_move):
        require(order < 24, f"no digit order {order}")
        self.board = board
        self.counts = counts
        self.to_move = to_move
        self.significance = SIGNIFICANCE[order % 6]
        self.standing = StandingDigit(board, counts, "own" if order < 12 else "opponent")
        self.stands = self.standing.first_count + self.standing.last_count > 0
        free = board.squares.bit_count() - self.standing.first_count - self.standing.last_count
        first, last = ("opponent", "own") if order % 12 < 6 else ("own", "opponent")
        self.first_moving = MovingDigit(board, counts, first, free)
        self.last_moving = MovingDigit(board, counts, last, free - self.first_moving.pieces)
        self.ranges = {"S": self.standing.range, "F": self.first_moving.range, "L": self.last_moving.range}
        self.lead = "S" if self.stands else "F"
        self.fold()
        self.entries = self.ranges["S"] * self.ranges["F"] * self.ranges["L"]

    def fold(self):
        """Numbers the classes of the leading digit's values."""
        self.classes = None
        pieces = {letter for army in self.counts.values() for letter, count in army.items() if count}
        symmetries = self.board.symmetries(pieces)
        if len(symmetries) == 1 or self.ranges[self.lead] > MOST_FOLDED:
            return
        backs = [{image: square for square, image in images.items()} for images in symmetries]
        mover, other = self.counts["own"], self.counts["opponent"]
        white, black = (mover, other) if self.to_move == "white" else (other, mover)
        seen_by_white = StandingDigit(self.board, {"own": white, "opponent": black}, "own")
        self.classes = {}
        count = 0
        for value in range(self.ranges[self.lead]):
            if value in self.classes:
                continue
            placement = self.lead_placement(value)
            images = [moved(placement, symmetry) for symmetry in symmetries]
            chosen = min(range(len(images)), key=lambda n: self.key(seen_by_white, images[n])) if self.stands else 0
            for image, back in zip(images, backs, strict=True):
                number = self.digit(self.lead, image)
                if number not in self.classes:
                    self.classes[number] = count, back, symmetries[chosen]
            count += 1
        self.ranges[self.lead] = count

    def key(self, seen_by_white, placement):
        """The number of standing pieces as White sees them."""
        return seen_by_white.number(placement if self.to_move == "white" else turned(self.board, placement))

    def lead_placement(self, value):
        """The pieces that the leading digit places."""
        placement = {side: dict.fromkeys(counts, 0) for side, counts in self.counts.items()}
        if self.stands:
            self.standing.place(value, placement)
        else:
            self.first_moving.place(value, placement, self.board.squares)
        return placement

    def digit(self, name, placement):
        """A digit before folding."""
        if name == "S":
            return self.standing.number(placement)
        free = self.board.squares
        for side in placement.values():
            free &= ~side[self.board.standing]
        if name == "F":
            return self.first_moving.number(placement, free)
        for letter, squares in placement[self.first_moving.side].items():
            if letter != self.board.standing:
                free &= ~squares
        return self.last_moving.number(placement, free)

    def index(self, placement):
        """The number of a placement seen by the side to move."""
        digits = {}
        if self.classes is not None:
            digits[self.lead], back, forth = self.classes[self.digit(self.lead, placement)]
            placement = moved(moved(placement, back), forth)
        index = 0
        for name in self.significance:
            digit = digits[name] if name in digits else self.digit(name, placement)
            index = index * self.ranges[name] + digit
        return index


def turned(board, placement):
    """The placement as the other side sees it, its own pieces own."""
    turned = moved(placement, board.turned)
    return {"own": turned["opponent"], "opponent": turned["own"]}


def read_position(board, text):
    """The pieces in the mover's view."""
    black_moves, white, black = board.read(text)
    occupied = [square for army in (white, black) for squares in army.values() for square in squares]
    placement = {
        side: {letter: bits(set(squares)) for letter, squares in army.items()}
        for side, army in (("own", white), ("opponent", black))
    }
    astray = any(placement[side][board.standing] & ~board.standing_squares[side] for side in placement)
    if len(set(occupied)) < len(occupied) or astray:
        raise ValueError(f"{text!r}: pieces overlap, or men or pawns stand where they cannot")
    return turned(board, placement) if black_moves else placement


class Probe:
    """Looks positions up in one table."""

    def __init__(self, table, board):
        self.table = table
        family = table.header["family"]
        if family not in BOARDS:
            raise ValueError(f"no index of the family {family!r} is known")
        self.board = BOARDS[family](board)
        letters = self.board.moving + self.board.standing
        armies = [{letter: army.count(letter) for letter in letters} for army in table.header["material"].split("v")]
        require(
            table.header["material"] == "v".join("".join(n * c for n, c in army.items()) for army in armies),
            "the table is not one of these pieces",
        )
        self.indices = []
        for side in table.header["sides"]:
            own, opponent = armies if side["to_move"] == "white" else reversed(armies)
            counts = {"own": own, "opponent": opponent}
            index = SideIndex(self.board, counts, side["digit_order"], side["to_move"])
            require(index.entries == side["entries"], "the table is not one of this board")
            self.indices.append(index)

    def look_up(self, text):
        """Side, entry number, value and distance of a position."""
        placement = read_position(self.board, text)
        counts = {
            side: {letter: squares.bit_count() for letter, squares in pieces.items()}
            for side, pieces in placement.items()
        }
        for side, index in enumerate(self.indices):
            if index.counts == counts:
                number = index.index(placement)
                return side, number, *self.table.entry(side, number)
        raise ValueError(f"{text!r} is not of the table's material, {self.table.header['material']}")


# --- Command line ------------------------------------------------------------


def wanted(arguments, entries):
    if arguments.all:
        yield from range(entries)
        return
    for line in sys.stdin:
        text = line.strip()
        if not (text.isascii() and text.isdigit() and int(text) < entries):
            raise ValueError(f"{text!r} is no entry number below {entries}")
        yield int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--header", action="store_true")
    what.add_argument("--entries", metavar="SIDE", type=int, choices=[0, 1])
    what.add_argument("--probe", metavar="BOARD")
    parser.add_argument("--all", action="store_true", help="every entry instead of those on standard input")
    arguments = parser.parse_args()
    try:
        table = Table(arguments.file)
        for side, about in enumerate(table.header["sides"]):
            for block in range(len(about["blocks"])):
                table.packed(side, block)
        if arguments.header:
            print(json.dumps(table.header, indent=2))
            return 0
        if arguments.probe:
            probe = Probe(table, arguments.probe)
            for line in sys.stdin:
                print(*probe.look_up(line.strip()), sep="\t")
            return 0
        side = arguments.entries
        if side >= len(table.header["sides"]):
            raise ValueError(f"no side {side}: the table has one side")
        for index in wanted(arguments, table.header["sides"][side]["entries"]):
            value, distance = table.entry(side, index)
            print(index, value, distance, sep="\t")
    except ValueError as error:
        print(f"read_table.py: {error}", file=sys.stderr)
        return 2
    except (OSError, TableError) as error:
        print(f"read_table.py: {arguments.file}: {error}", file=sys.stderr)
        return 3
    except ImportError as error:
        print(f"read_table.py: {error}: install the package zstandard", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
