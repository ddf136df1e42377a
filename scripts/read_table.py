#!/usr/bin/env python3
"""Reads a Petrov table file, following docs/format.md and nothing else.

    read_table.py FILE --header             the header as one JSON document
    read_table.py FILE --entries SIDE       for each entry number on standard input: number, value,
                                            distance in plies, separated by tabs
    read_table.py FILE --entries SIDE --all the same for every entry, in order
    read_table.py FILE --probe BOARD        for each position on standard input: side, entry number,
                                            value, distance

SIDE is 0 or 1. BOARD is files x ranks and the playable squares, as 8x8-dark, 10x10-mirror or 8x8-all: tables
do not repeat the rules. A position is written W:WKa1,b2:BKh8: the side to move, White's pieces, Black's
pieces, K before a king's square. Squares are a file's letter (a to m without j) and a rank's number,
whatever the game itself calls them. Moves are not generated, so free entries are printed as they are. All checksums are verified first. Free entries say nothing (docs/format.md, section 1).
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
FAMILIES = ["draughts", "chess"]
METRICS = ["wld", "dtw", "dtz"]
VALUES = {0: "loss", 2: "draw", 4: "win"}
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


def read_side(fields):
    side = {
        "to_move": fields.one_of("side to move", ["white", "black"]),
        "digit_order": fields.number(1),
        "entries": fields.varint(),
        "row": fields.varint(),
    }
    size = fields.varint()
    side["stored"] = fields.varint()
    require(side["stored"] <= size <= 16385, "impossible palette size")
    require(size > 0 or side["entries"] == 0, "empty palette")
    if side["row"] > 0:
        require(side["stored"] > 1 and codes_per_byte(side["stored"]) > 1, "padded rows of codes that share no byte")
        require(side["row"] < 1 << 32 and side["entries"] % side["row"] == 0, "impossible row length")
        require(place(side, side["entries"]) < 1 << 64, "impossible row length")
    side["palette"] = []
    for _ in range(size):
        value = fields.number(1)
        require(value in VALUES, f"unknown value: {value}")
        line = {"value": VALUES[value], "distance": fields.varint(), "count": fields.varint()}
        require(line["distance"] <= 8191, f"impossible distance: {line['distance']}")
        side["palette"].append(line)
    longest = fields.varint()
    require(longest <= side["entries"], "the longest win is no entry")
    side["longest_win"] = longest - 1 if longest else None
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
    header["family"] = fields.one_of("family", FAMILIES)
    header["metric"] = fields.one_of("metric", METRICS)
    header["free_entries"] = fields.one_of("flags", [False, True])
    sides = fields.number(1)
    require(sides in (1, 2), f"{sides} sides")
    header["game"] = fields.text()
    header["material"] = fields.text()
    header["block_bytes"] = fields.varint()
    require(2 <= header["block_bytes"] <= 1 << 24 and header["block_bytes"] % 2 == 0, "impossible block size")
    header["sides"] = [read_side(fields) for _ in range(sides)]
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


# --- Index (section 4) -------------------------------------------------------

LETTERS = "abcdefghiklm"
SIGNIFICANCE = ["MFL", "MLF", "FML", "FLM", "LMF", "LFM"]
MOST_FOLDED = 1 << 28


class Board:
    """Playable squares and their numbers."""

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
        self.playable = sorted(self.place)
        self.end = self.playable[-1] + 1

    def numbered(self, file, rank):
        if self.kind == "all":
            return rank * self.files + file
        return rank // 2 * (self.files + 1) + rank % 2 * (self.files // 2 + 1) + file // 2

    def named(self, name):
        """The number of the square with this name."""
        if not re.fullmatch(r"[a-z]\d{1,2}", name) or name[0] not in LETTERS:
            raise ValueError(f"{name!r} is no square")
        file, rank = LETTERS.index(name[0]), int(name[1:]) - 1
        if self.kind == "mirror":
            file = self.files - 1 - file
        if (file, rank) not in self.number:
            raise ValueError(f"{name!r} is no square of this board")
        return self.number[file, rank]

    def rank(self, rank):
        return [number for number in self.playable if self.place[number][1] == rank]

    def symmetries(self, men):
        """Maps from number to number that keep the playable squares, in order."""
        maps = []
        for turn in range(8):
            flip_files, flip_ranks, swap = turn & 1, turn & 2, turn & 4
            if (men and turn > 1) or (swap and self.files != self.ranks):
                continue
            images = {}
            for number, (file, rank) in self.place.items():
                file = self.files - 1 - file if flip_files else file
                rank = self.ranks - 1 - rank if flip_ranks else rank
                images[number] = self.number.get((rank, file) if swap else (file, rank))
            if None not in images.values():
                maps.append(images)
        return maps


def set_rank(squares, region):
    """The number of a set among those of as many squares of the region."""
    region = sorted(region)
    return sum(comb(region.index(square), i) for i, square in enumerate(sorted(squares), 1))


def set_unrank(number, count, region):
    region = sorted(region)
    squares = []
    for i in range(count, 0, -1):
        below = max(b for b in range(len(region)) if comb(b, i) <= number)
        number -= comb(below, i)
        squares.append(region[below])
    return squares


class SideIndex:
    """The index of one side; a placement is {"own": (men, kings), "opp": (men, kings)}."""

    def __init__(self, board, counts, order):
        require(order < 24, f"no digit order {order}")
        self.board = board
        self.counts = counts
        self.first_men, self.last_men = ("own", "opp") if order < 12 else ("opp", "own")
        self.first_kings, self.last_kings = ("opp", "own") if order % 12 < 6 else ("own", "opp")
        self.significance = SIGNIFICANCE[order % 6]

        bottom, top = board.rank(0), board.rank(board.ranks - 1)
        self.edge, opposite = (bottom, top) if order < 12 else (top, bottom)
        self.inner = [square for square in board.playable if square not in bottom + top]
        self.last = self.inner + opposite
        p = counts[self.first_men][0]
        self.offsets = [0]
        for e in range(p + 1):
            ways = comb(len(self.edge), e) * comb(len(self.inner), p - e) * self.last_ways(p - e)
            self.offsets.append(self.offsets[-1] + ways)

        men = counts["own"][0] + counts["opp"][0]
        first, last = counts[self.first_kings][1], counts[self.last_kings][1]
        free = len(board.playable) - men
        self.ranges = {"M": self.offsets[-1], "F": comb(free, first), "L": comb(free - first, last)}
        self.lead = "M" if men else "F"
        self.fold(board.symmetries(men > 0))
        self.entries = self.ranges["M"] * self.ranges["F"] * self.ranges["L"]

    def last_ways(self, on_inner):
        return comb(max(len(self.last) - on_inner, 0), self.counts[self.last_men][0])

    def fold(self, symmetries):
        """Numbers the classes of the leading digit's values."""
        self.classes = None
        if len(symmetries) == 1 or self.ranges[self.lead] > MOST_FOLDED:
            return
        self.classes = {}
        count = 0
        for value in range(self.ranges[self.lead]):
            if value in self.classes:
                continue
            pieces = self.lead_pieces(value)
            for images in symmetries:
                back = {image: number for number, image in images.items()}
                self.classes.setdefault(self.digit(self.lead, moved(pieces, images)), (count, back))
            count += 1
        self.ranges[self.lead] = count

    def lead_pieces(self, value):
        """The pieces that the leading digit places."""
        pieces = {"own": ([], []), "opp": ([], [])}
        if self.lead == "F":
            count = self.counts[self.first_kings][1]
            pieces[self.first_kings] = ([], set_unrank(value, count, self.board.playable))
            return pieces
        p, q = self.counts[self.first_men][0], self.counts[self.last_men][0]
        e = max(e for e in range(p + 1) if self.offsets[e] <= value)
        rest, last = divmod(value - self.offsets[e], self.last_ways(p - e))
        edge, inner = divmod(rest, comb(len(self.inner), p - e))
        first_men = set_unrank(edge, e, self.edge) + set_unrank(inner, p - e, self.inner)
        pieces[self.first_men] = (first_men, [])
        pieces[self.last_men] = (set_unrank(last, q, set(self.last) - set(first_men)), [])
        return pieces

    def digit(self, name, pieces):
        """A digit before folding."""
        if name == "M":
            return self.men_digit(pieces[self.first_men][0], pieces[self.last_men][0])
        free = set(self.board.playable) - set(pieces["own"][0]) - set(pieces["opp"][0])
        if name == "L":
            return set_rank(pieces[self.last_kings][1], free - set(pieces[self.first_kings][1]))
        return set_rank(pieces[self.first_kings][1], free)

    def men_digit(self, first, last):
        on_edge = [square for square in first if square in self.edge]
        on_inner = [square for square in first if square not in self.edge]
        number = set_rank(on_edge, self.edge) * comb(len(self.inner), len(on_inner)) + set_rank(on_inner, self.inner)
        number = number * self.last_ways(len(on_inner)) + set_rank(last, set(self.last) - set(first))
        return self.offsets[len(on_edge)] + number

    def index(self, pieces):
        """The number of a placement seen by the side to move."""
        digits = {}
        if self.classes is not None:
            digits[self.lead], back = self.classes[self.digit(self.lead, pieces)]
            pieces = moved(pieces, back)
        index = 0
        for name in self.significance:
            digit = digits[name] if name in digits else self.digit(name, pieces)
            index = index * self.ranges[name] + digit
        return index


def moved(pieces, images):
    """The pieces with every square replaced by its image."""
    return {side: tuple([images[square] for square in kind] for kind in kinds) for side, kinds in pieces.items()}


def read_position(board, text):
    """Whether Black moves, and the pieces in the mover's view."""
    match = re.fullmatch(r"([WB]):W([^:]*):B([^:]*)", text)
    if not match:
        raise ValueError(f"{text!r} is no position; expected one such as W:WKa1,b2:BKh8")
    sides = []
    for squares in match[2], match[3]:
        men, kings = [], []
        for square in filter(None, squares.split(",")):
            (kings if square[0] == "K" else men).append(board.named(square.removeprefix("K")))
        sides.append((men, kings))
    everything = [square for kinds in sides for kind in kinds for square in kind]
    promoted = set(sides[0][0]) & set(board.rank(board.ranks - 1)) | set(sides[1][0]) & set(board.rank(0))
    if len(set(everything)) < len(everything) or promoted:
        raise ValueError(f"{text!r}: pieces overlap, or men stand on their promotion row")
    if match[1] == "W":
        return {"own": sides[0], "opp": sides[1]}
    turned = {square: board.end - 1 - square for square in board.playable}
    return moved({"own": sides[1], "opp": sides[0]}, turned)


class Probe:
    """Looks positions up in one draughts table."""

    def __init__(self, table, board):
        self.table = table
        self.board = Board(board)
        white, black = table.header["material"].split("v")
        armies = [(army.count("M"), army.count("K")) for army in (white, black)]
        self.indices = []
        for side in table.header["sides"]:
            own, opp = armies if side["to_move"] == "white" else reversed(armies)
            index = SideIndex(self.board, {"own": own, "opp": opp}, side["digit_order"])
            require(index.entries == side["entries"], "the table is not one of this board")
            self.indices.append(index)

    def look_up(self, text):
        """Side, entry number, value and distance of a position."""
        pieces = read_position(self.board, text)
        counts = {side: (len(men), len(kings)) for side, (men, kings) in pieces.items()}
        for side, index in enumerate(self.indices):
            if index.counts == counts:
                number = index.index(pieces)
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
