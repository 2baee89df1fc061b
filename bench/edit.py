"""Edit distances: each with each, arbitrary pairs, and parts of longer targets.

    python -m bench.edit --output FILE.json

Engine `bit_parallel` from codes, and the whole call of glsw from lists of texts; StringZilla on the
GPU (`stringzillas-cuda`) or on one core (`stringzillas-cpus`), and edlib on one core, on as many
pairs as they do in time. edlib judges a sample, StringZilla all pairs. Exit status 1 if a distance
is wrong: it has no time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import edlib
import numpy as np
import numpy.typing as npt

import glsw
from bench import options
from bench.document import Results
from bench.measure import Check, Measurement, compare, measure, tell_wrong
from glsw.batch import Batch
from glsw.device.device import Device, open_device
from glsw.engines.bit_parallel import BitParallel
from glsw.scoring.unit_costs import unit_costs
from glsw.sequences.encoded import Sequences
from glsw.sequences.items import code_alphabet

_SAMPLE_CELLS = 3e8  # that edlib judges, and is measured on
_LETTERS = np.frombuffer(b"ACGTBDEFHIKLMNPQRSVWXYZ", np.uint8)

Distances = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Work:
    """Queries and targets: each with each, or the first with the first and so on.

    Parameters
    ----------
    letters : int
        How many different ones.
    queries, targets : (int, int, int)
        How many, the smallest and the largest length.
    """

    name: str
    letters: int
    queries: tuple[int, int, int]
    targets: tuple[int, int, int]
    each: bool = True
    infix: bool = False


WORKS = (
    Work("each 1000", 4, (2000, 1000, 1000), (2000, 1000, 1000)),
    Work("proteins 1000", 20, (2000, 1000, 1000), (2000, 1000, 1000)),
    Work("each 100-600", 4, (3000, 100, 600), (3000, 100, 600)),
    Work("each 10-20", 20, (20_000, 10, 20), (20_000, 10, 20)),
    Work("pairs 300", 4, (1_000_000, 300, 300), (1_000_000, 300, 300), each=False),
    Work("pairs 1-5000", 4, (50_000, 1, 5000), (50_000, 1, 5000), each=False),
    Work("infix 1000", 4, (5000, 150, 150), (5000, 1000, 1000), infix=True),
    Work("infix 5000000", 4, (1000, 150, 150), (1, 5_000_000, 5_000_000), infix=True),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a distance was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    share = arguments.share or (2**-9 if device.info.software else 1.0)
    settings = {"share": share, "budget": arguments.budget, "edlib": version("edlib")}
    results = Results("edit", device, settings, arguments)
    print(f"{device.info.name}; GCUPS by wall time, the share of the work is {share:g}")
    for work in WORKS:
        if work.name in arguments.works:
            for row in _Measured(work, share, device, arguments.budget, arguments.words).rows():
                results.keep(row)
    return tell_wrong((f"{each['program']}, {each['work']}", each["check"]) for each in results)


class _Measured:
    """A work of a share of its size, measured by all programs."""

    def __init__(
        self, work: Work, share: float, device: Device, budget: float, words: Sequence[int]
    ) -> None:
        self.work, self.device, self.budget, self.words = work, device, budget, words
        rng = np.random.default_rng(1965)
        part = share**0.5 if work.each else share
        self.queries = _drawn(rng, work, work.queries, part)
        few = work.targets[0] == 1  # one long target: then of a share of the length
        count, low, high = work.targets
        shorter = (count, int(low * part) + 1, int(high * part) + 1) if few else work.targets
        self.targets = _drawn(rng, work, shorter, 1.0 if few else part)
        self.texts = [_texts(side) for side in (self.queries, self.targets)]
        m, n = self.queries.lengths, self.targets.lengths
        self.cells = int(m.sum()) * int(n.sum()) if work.each else int(m @ n)
        self.pairs = len(m) * len(n) if work.each else len(m)
        most = max(1, int(_SAMPLE_CELLS * self.pairs / self.cells))
        self.sample = rng.integers(0, self.pairs, min(self.pairs, most))
        self.judged = self._by_edlib()
        self.all: Distances | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Measure the programs; return a row for each."""
        scoring = unit_costs(code_alphabet(max(2, self.work.letters)), infix=self.work.infix)
        engines = {"glsw, codes": BitParallel(scoring, self.device)}
        for words in self.words:  # of a strip
            name = f"glsw, codes, {words} words"
            engines[name] = BitParallel(scoring, self.device, words=words)
        call = glsw.edit_distance_matrix if self.work.each else glsw.edit_distance
        mode = "infix" if self.work.infix else "global"
        whole = partial(call, *self.texts, mode=mode, device=self.device)
        rows = [
            self._row(name, partial(self._of_codes, engine), memory=engine)
            for name, engine in engines.items()
        ]
        rows.append(self._row("glsw, texts", whole))
        if self.work.each and not self.work.infix and (found := _stringzilla(*self.texts)):
            rows.append(self._row(*found, on_all=True))
        used = sum(self._cells_of(self.sample))
        timed = measure(self._by_edlib, partial(compare, expected=self.judged), cells=used)
        rows.append(self._shown("edlib, one core", timed, len(self.sample)))
        return rows

    def _of_codes(self, engine: BitParallel) -> Distances:
        if self.work.each:
            (scores,) = engine.scan(self.queries, [self.targets])
            return -scores.astype(np.int64)
        return -engine.scores(Batch.pairwise(self.queries, self.targets)).astype(np.int64)

    def _row(
        self,
        program: str,
        run: Callable[[], Any],
        *,
        memory: BitParallel | None = None,
        on_all: bool = False,
    ) -> dict[str, Any]:
        def check(found: Any) -> Check:
            flat = np.asarray(found).reshape(-1).astype(np.int64)
            self.all = flat if self.all is None else self.all
            judged = compare(flat[self.sample], self.judged, "edlib")
            return (
                compare(flat, self.all, "bit_parallel") if on_all and not judged.wrong else judged
            )

        device = None if on_all else self.device
        timed = measure(run, check, cells=self.cells, device=device, budget=self.budget)
        row = self._shown(program, timed, self.pairs)
        return row | ({"memory": memory.memory_used} if memory else {})

    def _shown(self, program: str, timed: Measurement, pairs: int) -> dict[str, Any]:
        rate = "WRONG" if timed.gcups is None else f"{timed.gcups:,.1f}"
        clock = f", {timed.device.median:.4f} s by the device" if timed.device else ""
        print(f"{self.work.name:>26}  {program:<26} {rate} ({pairs:,} pairs{clock})", flush=True)
        return {"work": self.work.name, "program": program, "pairs": pairs, **timed.as_dict()}

    def _cells_of(self, pairs: npt.NDArray[np.int64]) -> list[int]:
        return [len(query) * len(target) for query, target in map(self._pair, pairs.tolist())]

    def _pair(self, k: int) -> tuple[str, str]:
        query, target = divmod(k, len(self.targets)) if self.work.each else (k, k)
        return self.texts[0][query], self.texts[1][target]

    def _by_edlib(self) -> Distances:
        mode = "HW" if self.work.infix else "NW"
        pairs = map(self._pair, self.sample.tolist())
        return np.array([edlib.align(*pair, mode=mode)["editDistance"] for pair in pairs])


def _drawn(
    rng: np.random.Generator, work: Work, shape: tuple[int, int, int], share: float
) -> Sequences:
    """Return random sequences of such a number and lengths."""
    count, low, high = shape
    lengths = rng.integers(low, high + 1, max(1, int(count * share)))
    codes = rng.integers(0, work.letters, int(lengths.sum()), np.uint8)
    return Sequences(codes, np.cumsum([0, *lengths.tolist()], dtype=np.int64))


def _texts(side: Sequences) -> list[str]:
    text, bounds = _LETTERS[side.residues].tobytes().decode(), side.offsets.tolist()
    return [text[start:end] for start, end in pairwise(bounds)]


def _stringzilla(
    queries: list[str], targets: list[str]
) -> tuple[str, Callable[[], Distances]] | None:
    """Return StringZilla's name and its call, on the GPU if it can; None if not installed."""
    try:
        import stringzilla
        import stringzillas
    except ImportError:
        return None
    on_gpu = "cuda" in stringzillas.__capabilities__
    scope = stringzillas.DeviceScope(**{"gpu_device": 0} if on_gpu else {"cpu_cores": 1})
    engine = stringzillas.LevenshteinDistances(capabilities=scope)
    sides = stringzilla.Strs(queries), stringzilla.Strs(targets)
    if on_gpu:
        sides = tuple(stringzillas.to_device(side) for side in sides)
    where = "GPU" if on_gpu else "one core"
    name = f"StringZilla {stringzillas.__version__}, {where}"
    return name, lambda: np.asarray(engine(*sides, device=scope))


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("edit", __doc__, 5.0, "for each measurement (default 5)")
    parser.add_choices("--works", [work.name for work in WORKS])
    parser.add_argument(
        "--words",
        type=options.counts,
        default=[],
        metavar="N,N,...",
        help="also with strips of at most this number of words, up to 16",
    )
    parser.add_argument("--share", type=float, help="of the cells (default 1, software 1/512)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
