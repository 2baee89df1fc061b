"""One long pair: the races of the papers, long pairs with pruning and alignment, kept rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from bench import generated, rivals
from bench.measure import Check, both, compare, second_run
from bench.programs import ParasailPairs, Scores
from bench.work.base import (
    PROBE,
    Case,
    Entry,
    Run,
    Start,
    Workload,
    cells_of,
    engines_for,
    facts_of,
    rival_cases,
)
from bench.work.judges import (
    BY_PARASAIL,
    BY_REFERENCE,
    expected_cell,
    path_score,
    path_scores,
    square,
)
from bench.work.search_real import find_data
from glsw.batch import Batch
from glsw.engines import Blocked, Diagonal, Engine
from glsw.engines.gl import ROWS
from glsw.paths import Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.records import as_records
from glsw.traceback import trace

SCANS = [
    Entry(f"scan {form}", "scan", {"form": form}) for form in ("fused", "blocks", "single-stage")
]


def growing(run: Any, batch: Batch) -> Any:
    """Return what tells the seconds of a pair from those of its first eighths and first quarters.

    With twice the letters it is between twice, where dispatches count, and four times.
    """
    if batch.cells <= PROBE:
        return None

    def estimate(limit: float) -> float:
        times: list[float] = []
        for part in (square(batch, batch.cells / some) for some in (64, 16)):
            times.append(second_run(partial(run, part)))
            if 8 * times[0] > limit:
                return 8 * times[0]
        return times[1] * min(4.0, max(2.0, times[1] / times[0])) ** 2

    return estimate


class _Pair:
    """A pair of one length with a scoring, and who judges it."""

    def __init__(self, work: Workload, scoring: Scoring, length: int) -> None:
        self.device, self.scoring, self.length = work.device, scoring, length
        self.first: Engine | None = None

    @cached_property
    def batch(self) -> Batch:
        return generated.unrelated_pair(self.length)

    @cached_property
    def expected(self) -> tuple[str, Any]:
        return expected_cell(self.scoring, self.batch, self.device)

    def start(self, entry: Entry, seconds: float) -> Run:
        engine, batch = entry.made(self.scoring, self.device), self.batch

        def run(some: Batch) -> Any:
            return cells_of(engine.ends(some))

        def check(found: Any) -> Check:
            judge, expected = self.expected
            checked = compare(found, expected, judge)
            self.first = engine if checked.passed and self.first is None else self.first
            return checked

        estimate = growing(run, batch)
        return Run(partial(run, batch), check, batch.cells, estimate, facts=facts_of(engine))

    def cut(self, cells: float) -> tuple[Batch, Scores]:
        part = square(self.batch, cells)
        if part is self.batch:
            return part, self.expected[1][:, 0]
        if part.cells <= BY_REFERENCE or self.first is None:
            return part, expected_cell(self.scoring, part, self.device)[1][:, 0]
        return part, self.first.scores(part)


class Long(Workload):
    """One long pair of unrelated DNA: score and end, by all engines."""

    name, weight = "long", 12
    text = "one pair of DNA, {0:,} x {1:,}: score and end"
    lengths: ClassVar[Mapping[str, Any]] = {
        **{"tiny": [500], "small": [4096], "medium": [16_384], "large": [32_768]},
    }
    scorings: ClassVar = {"DNA 5/-4, gaps 11, 1": Scoring.match_mismatch(5, -4, 11, 1)}

    def entries(self) -> list[Entry]:
        return [*engines_for("long pairs", "scan"), *SCANS]

    def cases(self) -> Iterator[Case]:
        """Yield all engines for each scoring and length, and one core of parasail."""
        for name, scoring in self.scorings.items():
            for length in self.setup.chosen(self.lengths):
                pair = _Pair(self, scoring, length)
                fields: dict[str, Any] = {"scoring": name, "sizes": (length, length), "count": 1}
                for entry in self.entries():
                    if self.setup.wants(entry.engine):
                        start = partial(pair.start, entry)
                        yield entry.case(self.device, start, task="ends", **fields)
                found = rivals.aligning(self.setup.rivals, scoring, 1, ("plain", "simd"))
                yield from rival_cases(
                    *(found, pair.cut, partial(int, length**2), partial(_judge, pair), {}),
                    **fields,
                )


def _judge(pair: _Pair) -> str:
    return pair.first.name if pair.first else pair.expected[0]


class Lin2015(Long):
    """Lin, Zhong and Lin 2015: the row scan of one pair of 200 to 10^6 letters."""

    name, weight, requires = "lin2015", 18, (4, 3)
    lengths: ClassVar = {
        "tiny": [200],
        "small": [200, 1000, 4000],
        "medium": [200, 1000, 10_000],
        "large": [200, 1000, 10_000, 100_000],
        "full": [200, 1000, 10_000, 100_000, 1_000_000],
    }

    def entries(self) -> list[Entry]:
        return [*SCANS, Entry("blocked", "blocked"), Entry("diagonal", "diagonal")]


class Scan2014(Long):
    """The 2014 paper, figures 8 and 9: anti-diagonals against scans of 512 to 8000 letters."""

    name, weight, requires = "scan2014", 14, (4, 3)
    lengths: ClassVar = {
        "tiny": [128],
        "small": [512, 2048],
        "medium": [512, 8000],
        "full": [512, 1024, 2048, 4096, 8000],
    }
    scorings: ClassVar = {
        "DNA 5/-3, gaps 8, 8": Scoring.match_mismatch(5, -3, 8, 8),
        "DNA 5/-3, gaps 8, 1": Scoring.match_mismatch(5, -3, 8, 1),
    }
    """Of the paper's figure 3; a constant gap costs 8 at every position."""

    def entries(self) -> list[Entry]:
        return [Entry("wavefront", "wavefront"), Entry("blocked", "blocked"), *SCANS]


class Megabase(Workload):
    """Long pairs with the engine blocked: score and ends, exact pruning, the whole alignment.

    Up to `BY_PARASAIL` cells parasail judges the score; beyond, runs with and without pruning judge
    each other, and the recomputed score of the alignment judges both.
    """

    name, weight, requires = "megabase", 12, (4, 3)
    text = "one pair of DNA, {0:,} x {1:,}: ends, pruned, and alignment"
    scoring = Scoring.match_mismatch(1, -3, 5, 2)
    lengths: ClassVar = {
        **{"tiny": [300], "small": [4000], "medium": [30_000], "large": [100_000]},
        "full": [100_000, 1_000_000],
    }
    genomes = ("ecoli_K12_MG1655_NC_000913.2.fna.gz", "ecoli_536_NC_008253.fna.gz")

    def cases(self) -> Iterator[Case]:
        """Yield the three tasks for unrelated and related pairs, and for two genomes."""
        for length in self.setup.chosen(self.lengths):
            for kind in ("dissimilar", "similar"):
                yield from self._tasks(kind, (length, length), partial(self._made, length, kind))
        if self.setup.data and self.setup.size == "full":
            sizes = (4_639_675, 4_938_920)
            yield from self._tasks("E. coli K12 x E. coli 536", sizes, self._files)

    def _made(self, length: int, kind: str) -> Batch:
        query = generated.dna([length])
        if kind == "similar":
            return Batch.pairwise(query, generated.relatives(query, 4))
        return Batch.pairwise(query, generated.dna([length], 7))

    def _files(self) -> Batch:
        encode, codes = self.scoring.alphabet.encode, []
        for name in self.genomes:
            (each,) = as_records(find_data(self.setup.data, name), what="sequence")
            codes.append(encode(each.letters, name=each.id))
        return Batch.pairwise(codes[:1], codes[1:])

    def _tasks(self, kind: str, sizes: tuple[int, int], make: Any) -> Iterator[Case]:
        judge = _SameCells(self.scoring, make)
        for task, options in (("ends", kind), ("ends", f"{kind}, pruned"), ("paths", kind)):
            prune = task == "paths" or options.endswith("pruned")
            entry = Entry("blocked", "blocked", {"memory": 2**30, "prune": prune}, None, options)
            fields = {"scoring": "DNA 1/-3, gaps 5, 2", "sizes": sizes, "count": 1}
            start: Start = partial(self._start, judge, entry, task)
            yield entry.case(self.device, start, task=task, **fields)

    def _start(self, judge: _SameCells, entry: Entry, task: str, seconds: float) -> Run:
        engine, batch = entry.made(self.scoring, self.device), judge.batch
        run = partial(getattr(engine, task), batch)
        estimate = growing(getattr(engine, task), batch)
        facts = lambda: {**facts_of(engine)(), "note": judge.note}  # noqa: E731
        return Run(run, judge, batch.cells, estimate, facts=facts)


class _SameCells:
    """Judges every result of a pair by the first one, and by parasail where that is quick."""

    def __init__(self, scoring: Scoring, make: Any) -> None:
        self.scoring, self._make = scoring, make
        self.expected: list[list[int]] = []

    @cached_property
    def batch(self) -> Batch:
        found: Batch = self._make()
        return found

    @cached_property
    def score(self) -> int | None:
        if self.batch.cells > BY_PARASAIL or not ParasailPairs.available(self.scoring):
            return None
        return int(ParasailPairs(self.scoring).scores_of(self.batch)[0])

    @property
    def note(self) -> str:
        return "score {}, ends {}, {}".format(*self.expected[0]) if self.expected else ""

    def __call__(self, found: Any) -> Check:
        ends = found.ends if isinstance(found, Paths) else found
        cells = cells_of(ends)
        self.expected = self.expected or cells.tolist()
        check = compare(cells, self.expected, "blocked, not pruned")
        if self.score is not None:
            check = both(check, compare(ends.score, [self.score], "parasail"))
        if isinstance(found, Paths):
            again = path_scores(self.scoring, self.batch, found)
            check = both(check, compare(again, ends.score, "path recomputed"))
        return check


class Traceback(Workload):
    """What alignments cost in time and memory: all directions, or kept rows and computing again.

    The report of Aymone 2022 (section VI.ii) leaves this open. The engine `diagonal` keeps a row of
    the table every c rows, `blocked` keeps rows and columns as a memory allows.
    """

    name, weight, requires = "traceback", 0, (4, 3)
    text = "one pair of related DNA, {0:,} x {1:,}: alignment, by what is kept"
    scoring = Scoring.match_mismatch(5, -4, 11, 1)
    lengths: ClassVar = {
        **{"tiny": [200], "small": [1000], "medium": [1000, 3000]},
        "large": [1000, 3000, 10_000, 30_000],
    }

    def cases(self) -> Iterator[Case]:
        """Yield ends only, c = 1, 2, 4 ... strips, all directions; then memories of `blocked`."""
        workgroup = 8 if self.setup.software else 64
        strip = workgroup * ROWS
        for length in self.setup.chosen(self.lengths):
            judge = _OnePath(self, length)
            whole: dict[str, Any] = {"workgroup": workgroup, "memory": 2**60}
            ways = [("diagonal", "score and end only", whole)]
            spacing = 1
            while spacing < -(-length // strip):
                words = {**whole, "spacing": spacing}
                ways.append(("diagonal", f"c = {spacing * strip} rows", words))
                spacing *= 2
            ways.append(("diagonal", "all directions", {**whole, "spacing": 2**30}))
            ways.append(("blocked", "score and end only", {"memory": 2**30}))
            for exponent in (20, 22, 24, 26, 28, 30):
                ways.append(
                    ("blocked", f"at most {2**exponent >> 20} MiB", {"memory": 2**exponent})
                )
                if 2**exponent >= 8 * length**2:  # no kept rows from here on
                    break
            for engine, options, words in ways:
                entry = Entry(engine, engine, words, None, options)
                task = "ends" if "only" in options else "paths"
                fields = {"scoring": "DNA 5/-4, gaps 11, 1", "sizes": (length, length), "count": 1}
                start: Start = partial(judge.start, entry, task)
                yield entry.case(self.device, start, task=task, **fields)


class _OnePath:
    """Judges alignments: score, the score recomputed from the path, and one path for all ways."""

    def __init__(self, work: Traceback, length: int) -> None:
        self.device, self.scoring, self._length = work.device, work.scoring, length
        self._first: Any = None

    @cached_property
    def batch(self) -> Batch:
        sequences = generated.dna([self._length], self._length)
        return Batch.pairwise(sequences, generated.relatives(sequences, 4, self._length))

    @cached_property
    def cell(self) -> tuple[str, Any]:
        """Who judges it, and its score and end; up to 10^7 cells its alignment too."""
        name, cell = expected_cell(self.scoring, self.batch, self.device)
        if self.batch.cells <= 1e7:
            name += ", traceback (alignment)"
            _, i, j = cell[0]
            self._first = trace(*self.batch.pair(0), self.scoring, int(i), int(j))[0]
        return name, cell

    def start(self, entry: Entry, task: str, seconds: float) -> Run:
        kind = {"diagonal": Diagonal, "blocked": Blocked}[entry.engine]
        if why := entry.refused(self.device):
            raise ValueError(why)
        engine: Any = kind(self.scoring, self.device, **entry.words)
        run, batch = getattr(engine, task), self.batch
        estimate = growing(run, batch)
        return Run(
            *(partial(run, batch), self._check, batch.cells, estimate), facts=facts_of(engine)
        )

    def _check(self, found: Any) -> Check:
        name, cell = self.cell
        if not isinstance(found, Paths):
            return compare(cells_of(found), cell, name)
        coordinates = found.coordinates(0)
        score = path_score(self.scoring, *self.batch.pair(0), coordinates)
        got = np.append(cells_of(found.ends), score)[None]
        check = compare(got, np.append(cell, cell[0, 0])[None], name)
        if not check.passed:
            return check
        self._first = coordinates if self._first is None else self._first
        if not np.array_equal(coordinates, self._first):
            return Check(check.judge, 1, 1, "pair 0: another alignment than before")
        return check


WORKLOADS = (Long, Lin2015, Scan2014, Megabase, Traceback)
