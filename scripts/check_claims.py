#!/usr/bin/env python3
"""Checks the answers of `petrov claims` in a second way.

    check_claims.py --petrov PROGRAM --tables DIR [--max-pieces N] [--id ID]...

The claims are written down here once more. Positions are placed by plain loops, and `petrov probe`
is asked for the value and the moves of each; what is too large for that is added up from the
counts in the headers of tables, as `petrov info` prints them. Nothing is read from gen/claims.
Two claims are left out: those that compare Russian and Brazilian draughts.

Exit status: 0 all agree, 1 some answer differs, 2 wrong usage, 3 the program failed.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROAD = "a1 b2 c3 d4 e5 f6 g7 h8".split()
NUMBERED_ROAD = "4 8 11 15 18 22 25 29".split()
DOUBLE_ROAD = "5 9 14 18 23 27 32 1 6 10 15 19 24 28".split()
DOUBLE_CORNERS = "1 5 28 32".split()


def own_moves(plies):
    return (plies + 1) // 2


class Program:
    def __init__(self, path, tables):
        self.path, self.tables = path, tables
        self.seen = {}

    def json(self, *arguments, statuses=(0,), stdin=None):
        command = [self.path, *arguments, "--tables", self.tables, "-q"]
        done = subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, check=False)
        if done.returncode not in statuses:
            raise RuntimeError(f"{' '.join(command)}: status {done.returncode}")
        return done.stdout.decode().splitlines()

    def positions(self, game, kings):
        """All positions of some kings a side: (turn, white, black, value, dtw, quiet)."""
        if (game, kings) in self.seen:
            return self.seen[game, kings]
        names = self.squares(game)
        fens = []
        for turn in "WB":
            for white in itertools.combinations(names, kings[0]):
                free = [name for name in names if name not in white]
                for black in itertools.combinations(free, kings[1]):
                    fens.append((turn, white, black))
        with tempfile.TemporaryFile("w+") as file:
            for turn, white, black in fens:
                listed = ["".join(",K" + name for name in side)[1:] for side in (white, black)]
                file.write(f"{turn}:W{listed[0]}:B{listed[1]}\n")
            file.flush()
            file.seek(0)
            lines = self.json("probe", game, "-", "--json", stdin=file)
        rows = []
        for (turn, white, black), line in zip(fens, lines, strict=True):
            answer = json.loads(line)
            quiet = not any("x" in move["move"] for move in answer["moves"])
            rows.append((turn, white, black, answer["value"], answer["dtw"], quiet))
        self.seen[game, kings] = rows
        return rows

    def squares(self, game):
        """Names of the playable squares, worked out from the axes of the rules."""
        axes = json.loads(self.json("rules", game, "--json")[0])["axes"]
        files, ranks = map(int, axes["size"].split("x"))
        parity = {"dark": 0, "mirror": 1}.get(axes["squares"])
        places = [
            (file, rank)
            for rank in range(ranks)
            for file in range(files)
            if parity is None or (file + rank) % 2 == parity
        ]
        if axes["names"] == "alg":
            letters = "abcdefghij" if files < 10 else "abcdefghiklm"
            return [f"{letters[file]}{rank + 1}" for file, rank in places]
        return [str(number + 1) for number in range(len(places))]

    def lines(self, game, material, metric):
        """Palette lines of a table: (turn, value, distance, count)."""
        paths = list(Path(self.tables).glob(f"*/{material}.{metric}.petrov"))
        fingerprint = json.loads(self.json("rules", game, "--json")[0])["fingerprint"]
        for path in paths:
            header = json.loads(self.json("info", str(path), "--json")[0])
            if header["fingerprint"] == fingerprint:
                sides = header["sides"]
                pairs = [("W", sides[0]), ("B", sides[-1])]
                return [
                    (turn, line["value"], line["distance"], line["positions"]) for turn, side in pairs for line in side["palette"]
                ]
        raise RuntimeError(f"no table of {game}/{material}.{metric}")

    def materials(self, game, what):
        plan = json.loads(self.json("plan", game, what, "--json")[0])
        return [slice["material"] for slice in plan["slices"]]


def winner(turn, value):
    if value in ("win", "cursed-win"):
        return turn
    return {"W": "B", "B": "W"}[turn] if value in ("loss", "blessed-loss") else None


def count(rows, asked, exception):
    """Positions, exceptions and the longest win among those asked about."""
    positions = exceptions = 0
    worst = None
    for row in rows:
        if asked(*row):
            positions += 1
            exceptions += exception(*row)
            if row[3] != "draw":
                worst = max(worst or 0, row[4])
    return positions, exceptions, worst


def won(turn, white, black, value, dtw, quiet):
    by = winner(turn, value)
    return by == "W" if len(white) > len(black) else by is not None


def quiet_position(turn, white, black, value, dtw, quiet):
    return quiet


def lone_moves(squares, on):
    return lambda turn, white, black, value, dtw, quiet: turn == "B" and quiet and (black[0] in squares) == on


def longer(moves):
    return lambda turn, white, black, value, dtw, quiet: own_moves(dtw) > moves


def decided(turn, white, black, value, dtw, quiet):
    return value != "draw"


def not_won(*row):
    return not won(*row)


def in_corner(turn, white, black, value, dtw, quiet):
    return white[0] in DOUBLE_CORNERS or black[0] in DOUBLE_CORNERS


def loses_in_corner(turn, white, black, value, dtw, quiet):
    by = winner(turn, value)
    return by == "W" and black[0] in DOUBLE_CORNERS or by == "B" and white[0] in DOUBLE_CORNERS


def road_and_won(*row):
    return won(*row) and row[2][0] in ROAD


BY_POSITION = {
    "ru-3v1-15": (["russian"], (3, 1), won, longer(15)),
    "ru-3v1-road": (["russian"], (3, 1), lone_moves(ROAD, True), decided),
    "ru-3v1-offroad": (["russian"], (3, 1), lone_moves(ROAD, False), not_won),
    "ru-3v1-road-5": (["russian"], (3, 1), road_and_won, longer(5)),
    "ru-king-v-king": (["russian"], (1, 1), quiet_position, decided),
    "pool-3v1-13": (["pool", "jamaican"], (3, 1), won, longer(13)),
    "sp80-3v1": (["spantsireti"], (3, 1), quiet_position, not_won),
    "stop-2v1": (["russian-stop", "argentinian", "german-dame"], (2, 1), quiet_position, not_won),
    "thai-2v1": (["thai"], (2, 1), quiet_position, not_won),
    "turkish-2v1": (["turkish"], (2, 1), quiet_position, not_won),
    "en-2v1": (["english"], (2, 1), quiet_position, not_won),
    "en-1v1-corner": (["english"], (1, 1), in_corner, loses_in_corner),
    "en-2v1-corner": (["english"], (2, 1), lambda *row: row[5] and row[2][0] in DOUBLE_CORNERS, not_won),
    "en-1v1-20": (["english"], (1, 1), won, longer(20)),
    "de-3v1-road": (["german-lasker"], (3, 1), lone_moves(NUMBERED_ROAD, True), decided),
    "de-3v1-double": (["german-lasker"], (3, 1), lone_moves(DOUBLE_ROAD, True), not_won),
    "ghana-2v2": (["ghanaian"], (2, 2), quiet_position, decided),
}

# Game, materials or the most pieces, metric, most plies; with `each`, a king on both sides and at
# least so many pieces.
BY_HEADER = {
    "ru-2k3-30": ("russian", 5, "dtw", 60, 4),
    "ru-kings-15": ("russian", 4, "dtz", 30, None),
    "int-3v1-16": ("international", ["KKKvK", "KKMvK", "KMMvK"], "dtw", 32, None),
    "int-2v1-5": ("international", ["KKvK", "KMvK"], "dtw", 10, None),
    "int-3v1-5": ("international", ["KKKvK"], "dtw", 10, None),
    "int-25": ("international", 4, "dtz", 50, None),
    "en-3v2-40": ("english", ["KKKvKK"], "dtw", 80, None),
    "chess-50": ("chess", 4, "dtz", 100, None),
    "chess-50-kbbkn": ("chess", ["KBBvKN"], "dtz", 100, None),
    "chess-bnk": ("chess", ["KBNvK"], "dtw", 66, None),
}


def by_header(program, game, what, metric, most, each):
    materials = what
    if isinstance(what, int):
        materials = program.materials(game, str(what))
    if each is not None:
        materials = [m for m in materials if len(m) - 1 >= each and all("K" in side for side in m.split("v"))]
    positions = exceptions = 0
    worst = None
    for material in materials:
        white, black = material.split("v")
        for turn, value, distance, number in program.lines(game, material, metric):
            by = winner(turn, value)
            if by is None or (len(white) > len(black) and by != "W"):
                continue
            positions += number
            exceptions += number if distance > most else 0
            worst = max(worst or 0, distance)
    return positions, exceptions, worst


def bare_knights(program):
    """All positions with the bare king to move but mates; a draw is right."""
    path = Path(program.tables) / "chess" / "KNNvK.dtw.petrov"
    side = json.loads(program.json("info", str(path), "--json")[0])["sides"][1]
    mated = sum(line["positions"] for line in side["palette"] if line["value"] == "loss" and line["distance"] == 0)
    lost = sum(line["positions"] for line in side["palette"] if line["value"] != "draw" and line["distance"] > 0)
    return sum(line["positions"] for line in side["palette"]) - mated, lost, None


def white_to_move(program, material):
    """All positions with White to move; a win is right."""
    lines = [line for line in program.lines("e-chess", material, "dtw") if line[0] == "W"]
    wins = [line for line in lines if line[1] == "win"]
    positions = sum(line[3] for line in lines)
    return positions, positions - sum(line[3] for line in wins), max(line[2] for line in wins)


def bishops(program):
    longest = [max(line[2] for line in program.lines(game, "KBBvK", "dtw")) for game in ("e-chess", "chess")]
    return 1, int(longest[0] >= longest[1]), longest[0]


def beside(program):
    """King and pawn side by side, White to move."""
    squares = [(file, rank) for rank in range(8) for file in range(8)]
    fens = []
    for king, pawn, black in itertools.permutations(squares, 3):
        if not 1 <= pawn[1] <= 6 or max(abs(king[0] - pawn[0]), abs(king[1] - pawn[1])) != 1:
            continue
        board = {king: "K", pawn: "P", black: "k"}
        ranks = ["".join(board.get((file, rank), "1") for file in range(8)) for rank in reversed(range(8))]
        text = "/".join(ranks)
        for empty in range(8, 1, -1):
            text = text.replace("1" * empty, str(empty))
        fens.append(f"{text} w - - 0 1\n")
    with tempfile.TemporaryFile("w+") as file:
        file.writelines(fens)
        file.flush()
        file.seek(0)
        lines = program.json("probe", "e-chess", "-", "--json", stdin=file)
    # What is no position is answered by an error.
    answers = [answer for answer in map(json.loads, lines) if "error" not in answer]
    wins = [answer for answer in answers if answer["value"] == "win"]
    return len(answers), len(answers) - len(wins), max(answer["dtw"] for answer in wins)


def verdict(positions, exceptions):
    if positions == 0:
        return "empty"
    if exceptions == 0:
        return "holds"
    return "holds-except" if 2 * exceptions < positions else "fails"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--petrov", default="petrov")
    parser.add_argument("--tables", required=True)
    parser.add_argument("--max-pieces", type=int, default=4)
    parser.add_argument("--id", action="append", default=[])
    options = parser.parse_args()
    program = Program(options.petrov, options.tables)
    wanted = [word for name in options.id for word in ("--id", name)]
    given = program.json("claims", "--json", "--max-pieces", str(options.max_pieces), *wanted, statuses=(0, 1))
    different = checked = 0
    for answer in json.loads(given[0]):
        name, games = answer["id"], answer["games"]
        if answer["verdict"] == "not-evaluated" or name.startswith("ru-brazil"):
            print(f"{name}: left out")
            continue
        if name in BY_POSITION:
            _, kings, asked, exception = BY_POSITION[name]
            assert games[0] in BY_POSITION[name][0], name
            expected = count(program.positions(games[0], kings), asked, exception)
        elif name in BY_HEADER:
            expected = by_header(program, *BY_HEADER[name])
        else:
            expected = {
                "chess-nnk": bare_knights,
                "echess-pawn": lambda program: white_to_move(program, "KPvK"),
                "echess-pawn-near": beside,
                "echess-bishops": bishops,
                "echess-nn": lambda program: white_to_move(program, "KNNvK"),
            }[name](program)
        said = answer["positions"], answer["exceptions"], answer["worst_plies"]
        right = said == expected and answer["verdict"] == verdict(*expected[:2])
        checked += 1
        different += not right
        print(f"{name} {games[0]}: {'agrees' if right else f'DIFFERS, expected {expected}, said {said}'}", flush=True)
    print(f"{checked} answers checked, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        print(f"check_claims.py: {error}", file=sys.stderr)
        sys.exit(3)
