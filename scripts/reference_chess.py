#!/usr/bin/env python3
"""Petrov's chess tables compared with Syzygy's and Gaviota's.

    .venv/bin/python scripts/reference_chess.py --tables DIR [--positions N]
    .venv/bin/python scripts/reference_chess.py --suicide --tables DIR
    .venv/bin/python scripts/reference_chess.py --self-test

Draws random legal positions, a material as likely as any other that the Syzygy
folder holds, asks one `petrov probe chess - --json` and python-chess about each,
and compares

  value     with the sign of Syzygy's WDL, value50 with its five values
  dtz       with Syzygy's DTZ
  dtw       with Gaviota's DTM, where there is a Gaviota table (three pieces)
  moves     with python-chess's legal moves

The positions of the package's own tests that are small enough are asked too;
endgame-dm-4.epd and endgame-dm-5.epd bring distances to mate for more pieces.

`petrov gen chess 4 --metric wld,dtw,dtz` builds what the default needs. With
--suicide it is `petrov gen suicide 3 --metric wld,dtw,dtz --rules
tests/rules/suicide.toml`, and there are no tables to compare with, only the
answers to some thousand positions that python-chess tests its own reader with.

`scripts/setup --tests` unpacks python-chess's source package, which brings the
tables, into .venv/chess. It is free software under the GPL: this script uses
it in its own process, and nothing of it enters Petrov's programs or tables.

Exit status: 0 everything agrees, 1 it does not, 2 wrong usage, 3 something
could not be asked.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / ".venv/chess"
SUICIDE_RULES = ROOT / "tests/rules/suicide.toml"

FIVE_VALUES = {-2: "loss", -1: "blessed loss", 0: "draw", 1: "cursed win", 2: "win"}
METRICS = ("wld", "dtw", "dtz")
SHOWN = 20
MISSING = "run `scripts/setup --tests`, or name the unpacked source package with --data"


class Failed(Exception):
    """Petrov or the reference could not be asked."""


def sign(number):
    return (number > 0) - (number < 0)


# --- What the references say -------------------------------------------------


class Expected:
    """What an independent source says about a position; None where it does not."""

    def __init__(self, fen, legal):
        self.fen = fen
        self.legal = {move.uci() for move in legal}
        # -2 for a loss to 2 for a win, for the side to move.
        self.wdl = None
        # Fewest and most plies to the next zeroing move.
        self.dtz = None
        # Plies to mate, and a bound of them.
        self.dtm = None
        self.longest = None
        # Moves that keep the value.
        self.keeps = ()


def dtz_range(wdl, dtz, finished, rounded):
    """The plies to the next zeroing move that a Syzygy DTZ can stand for.

    The two conventions differ in four ways, and in no other.

    * A finished game is 1 there and 0 here.
    * A table whose entries would not change a five-valued result by it stores
      moves instead of plies, so that n stands for n or n + 1. Tables that hold
      a win or loss of exactly 100 plies store plies. `rounded` tells whether
      any entry was of the first kind that this answer was derived from, and
      minimax over such entries keeps the bounds.
    * A cursed win or blessed loss is always stored so.
    * There, a zeroing move that leads to a cursed win counts 100 plies more than
      one that leads to a win (which takes more than 100 plies, else the root
      would not be cursed), so that the shorter way to the lesser phase is not
      taken. Here both are zeroing moves that keep the five-valued result. So
      each line is worth 0 to 100 plies less here, and so is the game.
    """
    if wdl == 0:
        return None
    if finished:
        return 0, 0
    least = most = abs(dtz)
    if abs(wdl) == 1:
        return max(1, least - 100), most + 1
    return least, most + int(rounded)


class Syzygy:
    """Syzygy and Gaviota tables, read by python-chess."""

    def __init__(self, folders, gaviota):
        import chess
        import chess.gaviota
        import chess.syzygy

        reference = self

        class Tablebase(chess.syzygy.Tablebase):
            """Notes when a DTZ entry was read that counts moves, not plies."""

            def probe_dtz_table(self, board, wdl):
                distance, found = super().probe_dtz_table(board, wdl)
                if found >= 0 and not reference.counts_plies(board, wdl):
                    reference.rounded = True
                return distance, found

        self.chess = chess
        self.missing = chess.syzygy.MissingTableError
        self.plies_flag = chess.syzygy.PA_FLAGS
        self.key = chess.syzygy.calc_key
        self.rounded = False
        self.tables = Tablebase(max_fds=None)
        for folder in folders:
            self.tables.add_directory(str(folder))
        self.gaviota = chess.gaviota.open_tablebase(str(gaviota))

    def materials(self, pieces):
        """Names like KQvKR of up to so many pieces that have both a WDL and a DTZ table."""
        stems = [
            {pathlib.Path(table.path).stem for table in tables.values()}
            for tables in (self.tables.wdl, self.tables.dtz)
        ]
        return sorted(name for name in stems[0] & stems[1] if len(name) - 1 <= pieces)

    def counts_plies(self, board, wdl):
        """Whether the DTZ entry of a position, just read, counts plies."""
        if abs(wdl) == 1:
            return False
        key = self.key(board)
        table = self.tables.dtz[key]
        if not table.has_pawns:
            flags = table.flags
        else:
            # As the reader does: the file of the leading pawn, whose colour the
            # table names first, chooses one of up to four parts.
            turned = board.turn == self.chess.BLACK if table.symmetric else key != table.key
            white = (table.files[0].pieces[0] >> 3 == 0) != turned
            pawns = self.chess.scan_forward(board.pieces_mask(self.chess.PAWN, white))
            flags = table.flags[table.pawn_file([square ^ (0x38 if turned else 0) for square in pawns])]
        return bool(flags & self.plies_flag[wdl + 2])

    def expected(self, board):
        answer = Expected(board.fen(en_passant="fen"), board.legal_moves)
        answer.wdl = self.tables.probe_wdl(board)
        self.rounded = False
        dtz = self.tables.probe_dtz(board)
        if sign(dtz) != sign(answer.wdl):
            raise Failed(f"{answer.fen}: Syzygy's WDL {answer.wdl} and DTZ {dtz} contradict each other")
        answer.dtz = dtz_range(answer.wdl, dtz, not answer.legal, self.rounded)
        if self.chess.popcount(board.occupied) == 3:
            answer.dtm = abs(self.gaviota.probe_dtm(board)) if answer.wdl != 0 else None
        return answer


# --- Positions ---------------------------------------------------------------


def random_board(chess, material, source):
    """A legal position of the material, of either colour and side to move.

    Legal means what a table holds: kings apart, the side not to move not in
    check, whether a game can lead there or not. If both sides have pawns,
    every second position is one with an en passant capture that can be played.
    """
    sides = material.split("v")
    if source.random() < 0.5:
        sides.reverse()
    en_passant = all("P" in side for side in sides) and source.random() < 0.5
    while True:
        board = chess.Board.empty()
        board.turn = source.random() < 0.5
        left = [list(side) for side in sides]
        taken = []
        if en_passant:
            # The pawn that has just stepped twice and the one that may take it.
            pairs = [(file, file + step) for file in range(8) for step in (-1, 1) if file + step in range(8)]
            file, beside = source.choice(pairs)
            rank, passed, origin = (4, 5, 6) if board.turn else (3, 2, 1)
            for colour, on in ((not board.turn, file), (board.turn, beside)):
                left[0 if colour else 1].remove("P")
                board.set_piece_at(chess.square(on, rank), chess.Piece(chess.PAWN, colour))
            board.ep_square = chess.square(file, passed)
            empty = [chess.square(file, row) for row in (passed, origin)]
            taken = [chess.square(file, rank), chess.square(beside, rank), *empty]
        for colour, letters in ((chess.WHITE, left[0]), (chess.BLACK, left[1])):
            for letter in letters:
                square = source.randrange(8, 56) if letter == "P" else source.randrange(64)
                taken.append(square)
                board.set_piece_at(square, chess.Piece.from_symbol(letter if colour else letter.lower()))
        # Drawn anew as a whole, so that every placement is equally likely.
        if len(set(taken)) < len(taken) or board.was_into_check():
            continue
        if en_passant and not board.has_legal_en_passant():
            continue
        return board


def lines(path):
    """Lines of an EPD file that hold a position."""
    try:
        text = path.read_text()
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}; {MISSING}") from error
    return [line for line in text.splitlines() if "/" in line.split(" ")[0]]


def count_pieces(epd):
    return sum(letter.isalpha() for letter in epd.split(" ")[0])


def chess_cases(arguments):
    """Random positions and those of the package's tests, with what must come out."""
    import chess

    folders = [arguments.data / "data/syzygy/regular", *arguments.syzygy]
    for folder in folders:
        if not folder.is_dir():
            raise Failed(f"{folder}: no such folder; {MISSING}")
    reference = Syzygy(folders, arguments.data / "data/gaviota")
    materials = reference.materials(arguments.pieces)
    if not materials:
        raise Failed(f"no Syzygy tables of up to {arguments.pieces} pieces")
    by_size = collections.Counter(len(name) - 1 for name in materials)
    print(
        "Syzygy materials:",
        ", ".join(f"{count} of {pieces} pieces" for pieces, count in sorted(by_size.items())),
        file=sys.stderr,
    )
    source = random.Random(arguments.seed)
    for _ in range(arguments.positions):
        yield reference.expected(random_board(chess, source.choice(materials), source))
    for name in ("endgame.epd", "endgame-dm-4.epd", "endgame-dm-5.epd"):
        for epd in lines(arguments.data / "data" / name):
            if count_pieces(epd) > arguments.pieces:
                continue
            board, operations = chess.Board.from_epd(epd)
            try:
                answer = reference.expected(board)
            except reference.missing:
                continue
            if operations.get("dm"):
                moves = operations["dm"]
                answer.dtm = 2 * moves - 1 if moves > 0 else -2 * moves
            yield answer


def suicide_cases(arguments):
    """The positions of the package's tests of suicide chess.

    suicide-stats.epd   WDL and DTZ of the longest endings of each material, as
                        the generator of the Syzygy tables reported them. Exact
                        plies, so that the package's test lets its own answers,
                        which come from rounded tables, be off by one.
    suicide-dtz.epd     WDL and DTZ as probed.
    suicide-dtm.epd     Moves in which another solver found a win (an upper bound
                        of the distance, and so of any DTZ), and one good move.
    """
    import chess.variant

    for name in ("suicide-stats.epd", "suicide-dtz.epd", "suicide-dtm.epd"):
        for epd in lines(arguments.data / "data" / name):
            if count_pieces(epd) > arguments.pieces:
                continue
            board, operations = chess.variant.SuicideBoard.from_epd(epd)
            answer = Expected(board.fen(en_passant="fen"), board.legal_moves)
            if "max_dtm" in operations:
                answer.wdl = 2 * sign(operations["max_dtm"])
                answer.longest = 2 * abs(operations["max_dtm"])
                answer.keeps = tuple(move.uci() for move in operations["bm"])
            else:
                answer.wdl = operations["wdl"]
                answer.dtz = dtz_range(answer.wdl, operations["dtz"], not answer.legal, name == "suicide-dtz.epd")
            yield answer


# --- Petrov ------------------------------------------------------------------


def petrov(arguments, game, fens):
    """Petrov's answers to the positions, one process for all of them."""
    command = [str(arguments.program), "probe", game, "-", "--json"]
    for folder in arguments.tables:
        command += ["--tables", str(folder)]
    if game == "suicide":
        command += ["--rules", str(arguments.rules)]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        raise Failed(f"{arguments.program}: {error.strerror}") from error

    def write():
        try:
            with process.stdin as stdin:
                stdin.writelines(fen + "\n" for fen in fens)
        except BrokenPipeError:
            # The program ended early; its exit status says why.
            pass

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    answered = 0
    for line in process.stdout:
        answered += 1
        yield json.loads(line)
    writer.join()
    if process.wait() != 0:
        raise Failed(f"{' '.join(command)}: exit status {process.returncode}")
    if answered != len(fens):
        raise Failed(f"{' '.join(command)}: {answered} answers to {len(fens)} positions")


def perfect(case):
    """The answer Petrov would give if it agreed."""
    value = FIVE_VALUES[2 * sign(case.wdl)]
    dtz = case.dtz[0] if case.dtz else None
    dtw = case.dtm if case.dtm is not None or case.wdl == 0 else case.longest
    moves = [{"move": move, "value": value} for move in sorted(case.legal)]
    return {"value": value, "value50": FIVE_VALUES[case.wdl], "dtw": dtw, "dtz": dtz, "moves": moves}


# --- Comparing ---------------------------------------------------------------


class Comparison:
    """Counts of what was compared, and the faults."""

    def __init__(self, metrics):
        self.metrics = metrics
        self.positions = 0
        self.compared = collections.Counter()
        self.ranges = 0
        self.faults = []

    def judge(self, case, answer):
        """Compares one answer. Returns whether it is in order."""
        self.positions += 1
        found = list(self.differences(case, answer))
        self.faults.extend(f"{case.fen}: {difference}" for difference in found)
        return not found

    def differences(self, case, answer):
        if "error" in answer:
            yield f"petrov refuses it: {answer['error']}"
            return

        def differs(what, expected, found):
            self.compared[what] += 1
            if expected != found:
                yield f"{what} is {found}, expected {expected}"

        yield from differs("moves", sorted(case.legal), sorted(move["move"] for move in answer["moves"]))
        yield from differs("value", FIVE_VALUES[2 * sign(case.wdl)], answer["value"])
        for move in answer["moves"]:
            if move["move"] in case.keeps:
                yield from differs("value of a good move", answer["value"], move["value"])
        if "dtz" in self.metrics:
            if "value50" not in answer or "dtz" not in answer:
                yield "no dtz table was found"
            else:
                found = re.sub("[-_]", " ", answer["value50"])
                # A bound of the distance to the end says nothing of the fifty moves.
                if case.longest is None:
                    yield from differs("value50", FIVE_VALUES[case.wdl], found)
                yield from self.in_range(case, answer["dtz"])
        if "dtw" in self.metrics:
            if "dtw" not in answer:
                yield "no dtw table was found"
            elif case.wdl == 0:
                yield from differs("dtw", None, answer["dtw"])
            elif case.dtm is not None:
                yield from differs("dtw", case.dtm, answer["dtw"])
            elif case.longest is not None:
                self.compared["bound of dtw"] += 1
                if answer["dtw"] is None or answer["dtw"] > case.longest:
                    yield f"dtw is {answer['dtw']}, expected at most {case.longest}"

    def in_range(self, case, dtz):
        if case.wdl != 0 and case.dtz is None:
            return
        self.compared["dtz"] += 1
        if case.wdl == 0:
            # A finished draw has no distance, or has been reached in 0 plies.
            if dtz is not None and not (dtz == 0 and not case.legal):
                yield f"dtz is {dtz} in a draw"
            return
        least, most = case.dtz
        self.ranges += least != most
        if dtz is None or not least <= dtz <= most:
            expected = str(least) if least == most else f"{least} to {most}"
            yield f"dtz is {dtz}, expected {expected}"

    def summary(self):
        counts = ", ".join(f"{count:,} {what}" for what, count in self.compared.items())
        return (
            f"{self.positions:,} positions; compared: {counts} ({self.ranges:,} dtz within a range); "
            f"{len(self.faults):,} mismatches"
        )


def spoil(answer, what):
    """Plants a wrong answer. Returns None where there is nothing to spoil."""
    answer = json.loads(json.dumps(answer))
    if what == "value":
        answer["value"] = "draw" if answer["value"] != "draw" else "win"
    elif what == "value50":
        answer["value50"] = {"win": "cursed win", "loss": "blessed loss"}.get(answer["value50"], "win")
    elif what == "moves":
        if not answer["moves"]:
            return None
        answer["moves"].pop()
    elif what == "error":
        return {"error": "planted"}
    else:
        metric, change = what
        if answer.get(metric) is None:
            return None
        answer[metric] += change
    return answer


SPOILT = ("value", "value50", "moves", "error", ("dtz", -1), ("dtz", 2), ("dtw", -1), ("dtw", 1))


def self_test(cases, answers, metrics):
    """Whether every kind of wrong answer is found, and no right one is called wrong.

    Returns the kinds that were not, with what happened.
    """
    comparison = Comparison(metrics)
    planted, found = collections.Counter(), collections.Counter()
    pairs = list(zip(cases, answers))
    for case, answer in pairs:
        comparison.judge(case, answer)
    for what in SPOILT:
        for case, answer in pairs:
            # Where nothing or only a range is known, a change may rightly pass.
            if what[0] == "dtw" and case.dtm is None:
                continue
            if what == "value50" and case.longest is not None:
                continue
            if what[0] == "dtz" and (case.dtz is None or case.dtz[0] <= answer["dtz"] + what[1] <= case.dtz[1]):
                continue
            spoilt = spoil(answer, what)
            if spoilt is not None:
                planted[what] += 1
                found[what] += not Comparison(metrics).judge(case, spoilt)
    wrong = [
        f"{count} errors planted in {what}, {found[what]} found"
        for what, count in planted.items()
        if found[what] != count
    ]
    # Of the length of suicide chess only bounds are known.
    exact = any(case.dtm for case, _ in pairs)
    wrong += [
        f"no error in {what} could be planted"
        for what in SPOILT
        if not planted[what] and (exact or what[0] != "dtw")
    ]
    wrong += comparison.faults
    print(
        f"self-test: {sum(planted.values()):,} errors planted in {len(pairs):,} answers, "
        f"{sum(found.values()):,} found; {len(comparison.faults):,} right answers called wrong"
    )
    return wrong


# --- Command line ------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/petrov", help="petrov")
    parser.add_argument(
        "--tables", type=pathlib.Path, action="append", default=[], help="folder of Petrov's tables; may be repeated"
    )
    parser.add_argument("--positions", type=int, default=2000, help="random positions (default: 2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pieces", type=int, help="most pieces (default: 4, with --suicide 3)")
    parser.add_argument(
        "--metrics", default="wld,dtw,dtz", help="the metrics that tables were built of (default: %(default)s)"
    )
    parser.add_argument(
        "--data", type=pathlib.Path, default=PACKAGE, help="python-chess's source package (default: .venv/chess)"
    )
    parser.add_argument(
        "--syzygy", type=pathlib.Path, action="append", default=[], help="folder with more Syzygy tables"
    )
    parser.add_argument("--suicide", action="store_true", help="suicide chess instead, from files of the package")
    parser.add_argument("--rules", type=pathlib.Path, default=SUICIDE_RULES, help="rule file of suicide chess")
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="plant wrong answers, all of which must be found: in Petrov's with --tables, else in the references' own",
    )
    arguments = parser.parse_args()
    arguments.metrics = arguments.metrics.split(",")
    if not set(arguments.metrics) <= set(METRICS):
        parser.error(f"--metrics takes some of {','.join(METRICS)}")
    if arguments.positions < 0:
        parser.error("--positions must not be negative")
    if arguments.pieces is None:
        arguments.pieces = 3 if arguments.suicide else 4

    try:
        sys.path.insert(0, str(arguments.data))
        try:
            import chess
        except ImportError:
            raise Failed(f"no python-chess in {arguments.data}; {MISSING}") from None

        if arguments.suicide:
            game, cases = "suicide", list(suicide_cases(arguments))
        else:
            game, cases = "chess", list(chess_cases(arguments))
        if arguments.self_test and not arguments.tables:
            answers = [perfect(case) for case in cases]
        else:
            answers = petrov(arguments, game, [case.fen for case in cases])
        if arguments.self_test:
            wrong = self_test(cases, answers, arguments.metrics)
        else:
            comparison = Comparison(arguments.metrics)
            for case, answer in zip(cases, answers):
                comparison.judge(case, answer)
            wrong = comparison.faults
            print(f"{game}: {comparison.summary()}")
    except (Failed, json.JSONDecodeError, KeyError) as error:
        reason = f"no field {error} in an answer" if isinstance(error, KeyError) else error
        print(f"reference_chess: {reason}", file=sys.stderr)
        sys.exit(3)
    for line in wrong[:SHOWN]:
        print(f"  {line}")
    if len(wrong) > SHOWN:
        print(f"  ... and {len(wrong) - SHOWN} more")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
