#!/usr/bin/env python3
"""Reads a Petrov table file, following docs/format.md and nothing else.

    read_table.py FILE --header             the header as one JSON document
    read_table.py FILE --entries SIDE       for each entry number on standard input: number, value,
                                            distance in plies, separated by tabs
    read_table.py FILE --entries SIDE --all the same for every entry, in order

SIDE is 0 or 1. All checksums are verified first. Free entries say nothing (docs/format.md, section 1).
Needs the package `zstandard`. Exit status: 0 done, 2 wrong usage or input, 3 missing or damaged table.
"""

import argparse
import hashlib
import json
import sys
import zlib

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
    """Entries in a block of so many packed bytes."""
    k = codes_per_byte(stored)
    return packed_bytes * k if k else packed_bytes // 2


def packed_length(stored, entries):
    k = codes_per_byte(stored)
    return -(-entries // k) if k else 2 * entries


def read_side(fields):
    side = {
        "to_move": fields.one_of("side to move", ["white", "black"]),
        "digit_order": fields.number(1),
        "entries": fields.varint(),
    }
    size = fields.varint()
    side["stored"] = fields.varint()
    require(side["stored"] <= size <= 16385, "impossible palette size")
    require(size > 0 or side["entries"] == 0, "empty palette")
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
        for first in range(0, side["entries"], in_block):
            packed = packed_length(side["stored"], min(in_block, side["entries"] - first))
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
            place = self.header["sides"][side]["blocks"][block]
            stored = self.content[place["offset"] : place["offset"] + place["stored_bytes"]]
            require(zlib.crc32(stored) == place["crc32"], f"side {side}, block {block}: the checksum differs")
            packed = stored
            if place["stored_bytes"] < place["packed_bytes"]:
                packed = self.decompress(stored, place["packed_bytes"])
            require(len(packed) == place["packed_bytes"], f"side {side}, block {block}: wrong length")
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
        block, position = divmod(index, capacity(stored, self.header["block_bytes"]))
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
