"""What runs in a small call of glsw: how many modules, functions and calls, for `house`.

python docs/traced.py CALL CHECKOUT             # prints the fields of Counted
python docs/traced.py CALL CHECKOUT --stations  # prints the rooms that the call walks through
"""

from __future__ import annotations

import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple, cast

ENGINES = "engines", "device", "trust"
"""Rooms that are not of the outer half."""
COMPUTES = "answers scores table best ends paths tables disjoint"
"""Methods of an engine that compute; those of other names say what it can do."""
SEQUENCES = {
    **{"a": "HEAGAWGHEE", "b": "PAWHEAE", "c": "GAWGHEPAW"},
    **{"read": "GATTACAGATTACCA", "gene": "GATTACCAGGATTA", "other": "TTGATACAGATCCA"},
}
"""What is compared. Commands read files of these names, and ``bc`` with two of them."""
SAM = "search, max_hsps=2, sam"
LANES = "search by lanes"
"""The only call that needs a device."""
CALLS = {
    "search": "glsw.search(a, [b, c], engine='reference')",
    LANES: "glsw.search(a, [b, c], engine='lanes')",
    "glsw search": "run('search --format tsv', 'a', 'bc')",
    SAM: """
scoring = glsw.Scoring.nucleotide()
found = glsw.search(read, [gene, other], max_hsps=2, scoring=scoring, engine='reference')
glsw.write(found, to, 'sam')
""",
    "align": "found = glsw.align(a, b, engine='reference'); str(found); found.cigar",
    "score_pairs": "glsw.score_pairs([a, b], [b, c], engine='reference')",
    "score_matrix": "glsw.score_matrix([a, b, c], [c, b, a], engine='reference')",
    "neighbors": "glsw.neighbors([a, b, c], cutoff=0.5, distance='identity', engine='reference')",
    "glsw align3": "run('align3 --format clustal', 'a', 'b', 'c')",
}
"""Small calls, see `traced`."""


class Counted(NamedTuple):
    """What ran in a call.

    Parameters
    ----------
    outer, engines : int
        Modules of the outer half with a function that ran, and of `ENGINES`.
    functions, calls : int
        Going on with a generator is a call. Threads that wait make the calls of a command, but
        not its functions, differ by a few from run to run.
    before : int
        Functions that began before an engine computed: a method of a name in `COMPUTES`.
    after : int
        Functions that began after the last of these calls and before the first CIGAR was made,
        by a function ``cigar`` or ``cigars``; 0 if none was.
    """

    outer: int
    engines: int
    functions: int
    calls: int
    before: int
    after: int


class _Depths(threading.local):
    """How many frames of a thread are bodies of modules, and methods that compute."""

    importing = 0
    computing = 0


class Recorder:
    """The functions of glsw that run while it is the profile function of all threads.

    Comprehensions are none, and what runs while a module is imported is left out.
    """

    def __init__(self, package: Path) -> None:
        self.package, self.depths = f"{package}{os.sep}", _Depths()
        self.calls, self.functions = 0, set[tuple[str, int]]()
        self.before: int | None = None
        """How many functions had run when an engine was called."""
        self.after = set[tuple[str, int]]()
        """Those called since the last call of an engine, up to the first CIGAR."""
        self.cigar = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note that a function begins or ends."""
        code, depths = frame.f_code, self.depths
        step = {"call": 1, "return": -1}.get(event)
        if step is None or not code.co_filename.startswith(self.package):
            return
        if code.co_name == "<module>":
            depths.importing += step
        if depths.importing or not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a class
            return
        if code.co_name.startswith("<") and code.co_name != "<lambda>":
            return
        rooms = Path(code.co_filename[len(self.package) :]).parts  # a wing has its own engines
        method = "self" in code.co_varnames[:1]
        computes = "engines" in rooms and method and code.co_name in COMPUTES.split()
        function = code.co_filename, code.co_firstlineno
        if computes and event == "call" and self.before is None:
            self.before = len(self.functions)
        ends = computes and not code.co_flags & inspect.CO_GENERATOR  # one may end at any time
        depths.computing += step * ends
        if event == "call":
            self.calls += 1
            self.functions.add(function)
        if self.cigar or depths.computing:
            return
        if event == "call":
            self.after.add(function)
        elif ends:
            self.after.clear()
        self.cigar = event == "return" and code.co_name in ("cigar", "cigars")

    def counted(self) -> Counted:
        """Return the numbers of modules, functions and calls."""
        modules = {Path(name[len(self.package) :]) for name, _ in self.functions}
        engines = sum(bool({*ENGINES} & {*module.parts}) for module in modules)
        after = len(self.after) if self.cigar else 0
        sizes = len(modules) - engines, engines, len(self.functions), self.calls
        return Counted(*sizes, self.before or 0, after)


class Stations(Recorder):
    """The same, and the rooms that the first thread walks through, each with its functions."""

    SHARE = 0.02
    """Of all calls, which a function and what it calls make at least, or it is no station."""

    def __init__(self, package: Path) -> None:
        super().__init__(package)
        self._open: list[int] = []
        self._every: list[tuple[str, str, int, int]] = []  # room, function, first and last call
        self._frames: list[FrameType] = []
        self._thread = threading.get_ident()

    def __call__(self, frame: FrameType, event: str, given: object) -> None:
        """Note that a function begins or ends."""
        before = self.calls
        super().__call__(frame, event, given)
        if threading.get_ident() != self._thread:
            return
        if self.calls > before:
            room = Path(frame.f_code.co_filename[len(self.package) :]).parts[0]
            self._open.append(len(self._every))
            self._every.append((room, frame.f_code.co_name, before, before))
            self._frames.append(frame)
        elif event == "return" and self._open and self._frames[-1] is frame:
            self._frames.pop()
            at = self._open.pop()
            self._every[at] = (*self._every[at][:3], self.calls)

    def __iter__(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each stay in a room, and the functions that make it."""
        stays: list[tuple[str, list[str]]] = []
        for room, function, first, last in self._every:
            if last - first >= self.SHARE * self.calls:
                if not stays or stays[-1][0] != room:
                    stays.append((room, []))
                stays[-1][1].append(function)
        yield from stays


def traced(name: str, checkout: Path, kind: type[Recorder] = Recorder) -> Recorder:
    """Return what `Recorder` counts of one of `CALLS`, the first in this process.

    It runs functions of the checkout, all but one with the engine ``reference``, so that the
    numbers are the same on all machines.
    """
    sys.path[0] = str(checkout)
    import glsw
    from glsw.cli import main

    def run(words: str, *files: str) -> None:
        options = "--engine", "reference", "--no-progress"
        if status := main([*words.split(), *options, *files]):
            raise SystemExit(status)

    recorder = kind(checkout / "glsw")
    code = compile(CALLS[name], name, "exec")
    with tempfile.TemporaryDirectory() as folder:
        for names in ("a", "b", "c", "bc"):
            fasta = "".join(f">{name}\n{SEQUENCES[name]}\n" for name in names)
            Path(folder, names).write_text(fasta, encoding="utf-8")
        os.chdir(folder)
        threading.setprofile(recorder)
        sys.setprofile(recorder)
        try:
            exec(code, {"glsw": glsw, "run": run, "to": io.StringIO(), **SEQUENCES})
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            os.chdir(checkout)  # a folder in use cannot be removed on Windows
    return recorder


def in_process(name: str, checkout: Path) -> Counted:
    """Return what `traced` counts in a process of its own."""
    words = [sys.executable, __file__, name, str(checkout)]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{name} in {checkout}: {done.stderr}")
    return Counted(*json.loads(done.stdout.splitlines()[-1]))


def main(words: list[str]) -> int:
    """Print what one call runs, after what it prints."""
    name, checkout, *options = words
    folder = Path(checkout).resolve()
    if not options:
        print(f"\n{json.dumps(traced(name, folder).counted())}")
        return 0
    stays = [*cast("Stations", traced(name, folder, Stations))]
    for number, (room, functions) in enumerate(stays, 1):
        print(f"{number:3} {room.removesuffix('.py'):12} {', '.join(functions)}")
    rooms = {room for room, _ in stays}
    print(f"{len(stays)} stays in {len(rooms)} rooms, {len(stays) - len(rooms)} returns")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
