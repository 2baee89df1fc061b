"""One long pair: the races of the papers, long pairs with pruning and alignment, kept rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, ClassVar

from bench import generated
from bench.work.base import Case, Entry, Workload, engines_for
from bench.work.pair_work import PairWork
from glsw.batch import Batch
from glsw.engines.gl import ROWS
from glsw.scoring.scoring import Scoring

SCANS = [
    Entry(f"scan {form}", "scan", {"form": form}) for form in ("fused", "blocks", "single-stage")
]
FUSED = (None, "fused")  # of which alignments are, also where scores have another form
MIB = 2**20


class Long(Workload):
    """One long pair of unrelated DNA: score and end, by all engines."""

    name, weight = "long", 12
    text = "one pair of DNA, {0:,} x {1:,}: score and end"
    lengths: ClassVar[Mapping[str, Any]] = {
        **{"tiny": [500], "small": [4096], "medium": [16_384], "large": [32_768]}
    }
    scorings: ClassVar = {"DNA 5/-4, gaps 11, 1": Scoring.match_mismatch(5, -4, 11, 1)}
    tasks: ClassVar = ["ends"]

    def entries(self) -> list[Entry]:
        return [*engines_for("long pairs", "scan"), *SCANS]

    def cases(self) -> Iterator[Case]:
        """Yield all engines for each scoring and length, and one core of parasail."""
        for name, scoring in self.scorings.items():
            for length in self.setup.chosen(self.lengths):
                fields = {"scoring": name, "sizes": (length, length), "count": 1}
                make = partial(generated.unrelated_pair, length)
                work = PairWork(self.setup, scoring, make, fields)
                for task, entry in product(self.tasks, self.entries()):
                    traces = "alignment" in entry.kind.capabilities.tasks
                    known = task == "ends" or (traces and entry.words.get("form") in FUSED)
                    if known and self.setup.wants(entry.engine):
                        yield work.case(entry, task)
                yield from work.rival_cases(1, ("plain", "simd"))


class Lin2015(Long):
    """Lin, Zhong and Lin 2015: the row scan of one pair of 200 to 10^6 letters; alignments."""

    name, weight, requires = "lin2015", 18, (4, 3)
    text = "one pair of DNA, {0:,} x {1:,}: score and end, and the alignment"
    tasks: ClassVar = ["ends", "paths"]
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
    """Long pairs with the engine blocked: score and ends, exact pruning, the whole alignment."""

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
        alphabet, paths = self.scoring.alphabet, map(self.setup.file, self.genomes)
        return Batch.pairwise(*(generated.from_file(path, alphabet) for path in paths))

    def _tasks(self, kind: str, sizes: tuple[int, int], make: Any) -> Iterator[Case]:
        fields = {"scoring": "DNA 1/-3, gaps 5, 2", "sizes": sizes, "count": 1}
        work = PairWork(self.setup, self.scoring, make, fields)
        for task, words, prune in (
            *(("ends", kind, False), ("ends", f"{kind}, pruned", True), ("paths", kind, True)),
        ):
            entry = Entry("blocked", "blocked", {"memory": 1024 * MIB, "prune": prune}, None, words)
            yield work.case(entry, task)


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
        for length in self.setup.chosen(self.lengths):
            fields = {"scoring": "DNA 5/-4, gaps 11, 1", "sizes": (length, length), "count": 1}
            work = PairWork(self.setup, self.scoring, partial(self._made, length), fields)
            for entry in self.entries(length):
                yield work.case(entry, "ends" if "only" in (entry.options or "") else "paths")

    def entries(self, length: int) -> Iterator[Entry]:
        """Yield ends only, c = 1, 2, 4 ... strips, all directions; then memories of `blocked`."""
        workgroup = 8 if self.setup.software else 64
        whole: dict[str, Any] = {"workgroup": workgroup, "memory": 2**60}
        yield Entry("diagonal", "diagonal", whole, None, "score and end only")
        strip, spacing = workgroup * ROWS, 1
        while spacing < -(-length // strip):
            words = {**whole, "spacing": spacing}
            yield Entry("diagonal", "diagonal", words, None, f"c = {spacing * strip} rows")
            spacing *= 2
        yield Entry("diagonal", "diagonal", {**whole, "spacing": 2**30}, None, "all directions")
        yield Entry("blocked", "blocked", {"memory": 1024 * MIB}, None, "score and end only")
        for size in (1, 4, 16, 64, 256, 1024):
            yield Entry("blocked", "blocked", {"memory": size * MIB}, None, f"at most {size} MiB")
            if size * MIB >= 8 * length**2:  # no kept rows from here on
                break

    def _made(self, length: int) -> Batch:
        sequences = generated.dna([length], length)
        return Batch.pairwise(sequences, generated.relatives(sequences, 4, length))


WORKLOADS = (Long, Lin2015, Scan2014, Megabase, Traceback)
