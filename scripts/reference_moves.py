#!/usr/bin/env python3
"""Legal moves by another draughts library, to compare with Petrov's.

    .venv/bin/python scripts/reference_moves.py --library NAME < POSITIONS

Each line of the input is `GAME<TAB>FEN`, GAME being the library's own name of
a game (see --list) and FEN a position with that game's usual square names. Each
is answered with one line, a JSON list of the legal moves:

    [{"from": "c3", "to": "e5", "captured": ["d4"]}, ...]

A move that can be played by several routes may be listed several times.

`scripts/setup --tests` installs the libraries. Both are called `draughts` when
imported, so each has its own folder in .venv, named like the library.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import types

FOLDER = pathlib.Path(__file__).resolve().parent.parent / ".venv"

# A library's name of a game, and whether that game's squares have letters.
PYDRAUGHTS = {
    "standard": False,
    "antidraughts": False,
    "breakthrough": False,
    "frisian": False,
    "frysk!": False,
    "russian": True,
    "brazilian": True,
    "english": False,
    "italian": False,
    "turkish": True,
}
PY_DRAUGHTS = {
    "standard": False,
    "antidraughts": False,
    "breakthrough": False,
    "frisian": False,
    "frysk": False,
    "russian": True,
    "brazilian": True,
    "american": False,
}


def lettered(file, rank):
    return "abcdefgh"[file] + str(rank)


def pydraughts():
    """Its numbers of squares with letters run from a1."""
    from draughts import Board

    def name(game, number):
        if not PYDRAUGHTS[game]:
            return str(number)
        if game == "turkish":
            return lettered((number - 1) % 8, (number - 1) // 8 + 1)
        row, column = divmod(number - 1, 4)
        return lettered(2 * column + row % 2, row + 1)

    def moves(game, fen):
        for move in Board(game, fen).legal_moves():
            steps = move.steps_move
            yield name(game, steps[0]), name(game, steps[-1]), [name(game, square) for square in move.captures]

    return moves


def py_draughts():
    """Its squares are numbered from 0 at the top left, whatever their names."""
    # The package itself imports a web server and engines, with all that these
    # need. The boards do not, so they are imported past it.
    package = types.ModuleType("draughts")
    package.__path__ = list(importlib.util.find_spec("draughts").submodule_search_locations)
    sys.modules["draughts"] = package
    from loguru import logger

    logger.remove()
    boards = {game: importlib.import_module(f"draughts.boards.{game}").Board for game in PY_DRAUGHTS}

    def name(game, square):
        if not PY_DRAUGHTS[game]:
            return str(square + 1)
        row, column = divmod(square, 4)
        return lettered(2 * column + (row + 1) % 2, 8 - row)

    def moves(game, fen):
        for move in boards[game].from_fen(fen).legal_moves:
            squares = move.square_list
            yield name(game, squares[0]), name(game, squares[-1]), [name(game, square) for square in move.captured_list]

    return moves


LIBRARIES = {"pydraughts": (PYDRAUGHTS, pydraughts), "py-draughts": (PY_DRAUGHTS, py_draughts)}


def main():
    parser = argparse.ArgumentParser(description="Legal moves by another draughts library.")
    parser.add_argument("--library", required=True, choices=LIBRARIES)
    parser.add_argument("--list", action="store_true", help="list the library's games instead")
    arguments = parser.parse_args()
    games, load = LIBRARIES[arguments.library]
    if arguments.list:
        print("\n".join(games))
        return
    sys.path.insert(0, str(FOLDER / arguments.library))
    if importlib.util.find_spec("draughts") is None:
        sys.exit(f"{arguments.library} is not installed: run `scripts/setup --tests` first")
    moves = load()
    for line in sys.stdin:
        game, fen = line.rstrip("\n").split("\t")
        if game not in games:
            sys.exit(f"{arguments.library} has no game {game}")
        answer = [{"from": start, "to": end, "captured": captured} for start, end, captured in moves(game, fen)]
        print(json.dumps(answer, separators=(",", ":")))


if __name__ == "__main__":
    main()
