"""Pairs: many short ones, one long one, their alignments, and layouts of engines; three papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, ClassVar

import numpy as np

from bench import generated
from bench.work.alignments import PairWork
from bench.work.base import Case, Entry, Workload, engines_for
from glsw.batch import Batch
from glsw.engines.gl import ROWS
from glsw.scoring.scoring import Scoring

LENGTH = 512
MIB = 2**20
PAPERS = Scoring.match_mismatch(1, -1, 2, 2)
OTHERS = Scoring.match_mismatch(2, -3, 7, 2), Scoring.named("BLOSUM62", 12, 1)
SCANS = [
    Entry(f"scan {form}", "scan", {"form": form}) for form in ("fused", "blocks", "single-stage")
]
FUSED = (None, "fused")  # of which alignments are, also where scores have another form


def made(scoring: Scoring, count: int, length: int, *, related: bool = False) -> Batch:
    """Return pairs of one length: unrelated sequences, or relatives with long alignments."""
    dna = scoring.alphabet.name == "DNA"
    some = generated.dna if dna else generated.proteins
    queries = some([length] * count, LENGTH)
    if related:
        return Batch.pairwise(queries, generated.relatives(queries, 4 if dna else 20))
    return Batch.pairwise(queries, some([length] * count, LENGTH + 1))


class Pairs(Workload):
    """Short pairs of unrelated DNA: scores and ends, by all engines."""

    name, weight = "pairs", 12
    text = "{count:,} pairs of DNA, {0:,} x {1:,}: scores and ends"
    counts: ClassVar = {"tiny": 2, "small": 100, "medium": 1000, "large": 4096}

    def cases(self) -> Iterator[Case]:
        count = self.setup.chosen(self.counts)
        make, sizes = partial(made, PAPERS, count, LENGTH), (LENGTH, LENGTH)
        work = PairWork(self.setup, PAPERS, make, sizes=sizes, count=count)
        for entry in engines_for("pairs"):
            if self.setup.wants(entry.engine):
                yield work.case(entry, "ends")
        yield from work.rival_cases(self.setup.cores)


class Aymone2022(Workload):
    """Aymone 2022, Table 1: pairs of 512 x 512 with traceback on the device; other scorings."""

    name, weight, requires = "aymone2022", 14, (4, 3)
    text = "{count:,} pairs, {0:,} x {1:,}: alignments, by two tie rules"
    counts: ClassVar = {"tiny": 4, "small": 40, "medium": 1000}
    lengths: ClassVar = {"tiny": 128, "small": 256, "medium": 512}
    tasks: ClassVar = (
        *(("paths", "any"), ("paths", "conventional"), ("ends", "conventional"), ("scores", None)),
    )

    def cases(self) -> Iterator[Case]:
        """Yield the tasks with each scoring, and parasail with and without traceback."""
        count, length = self.setup.chosen(self.counts), self.setup.chosen(self.lengths)
        kinds = [(PAPERS, False), (PAPERS, True)]
        if self.setup.size in ("large", "full"):
            kinds += [(scoring, False) for scoring in OTHERS]
        for scoring, related in kinds:
            make = partial(made, scoring, count, length, related=related)
            work = PairWork(self.setup, scoring, make, sizes=(length, length), count=count)
            work.fields["scoring"] += ", relatives" * related
            for task, ties in self.tasks:
                options = f"ties: {ties}" if ties else None
                yield work.case(Entry("diagonal"), task, ties, options=options)
            yield from work.rival_cases(1, ("trace", "simd"))


class FragmentTiles(Workload):
    """The engine fragment: cells per texel, bits of borders, texels of a quad."""

    name, weight = "fragment-tiles", 0
    text = "a full quad of proteins of {0:,}, by tile and texels"
    bits: ClassVar = {8: 16, 4: 32, 1: 32}
    exponents: ClassVar = {"tiny": [8], "small": [14, 16], "large": [14, 16, 17, 18, 19, 20]}

    def cases(self) -> Iterator[Case]:
        for gaps in ((12, 1), (8, 8)):
            for task in ("scores", "ends"):
                for tile, bits in self.bits.items():
                    for exponent in self.setup.chosen(self.exponents):
                        yield self._case(gaps, task, tile, bits, 2**exponent)

    def _case(self, gaps: tuple[int, int], task: str, tile: int, bits: int, texels: int) -> Case:
        length = 361 if self.setup.size != "tiny" else 32
        pairs = min(texels // -(-length // tile), self.device.info.limits["max_texture_size"])
        options = f"tile {tile}, {bits} bits, {texels} texels"
        entry = Entry("fragment", words={"tile": tile, "texels": texels}, options=options)

        def make() -> Batch:
            if not pairs:
                raise ValueError("the quad is too small for a pair")
            targets = generated.proteins(np.full(pairs, length))
            return Batch.one_to_many(generated.queries([length])[0], targets)

        scoring, sizes = Scoring.named("BLOSUM62", *gaps), (length, length)
        work = PairWork(self.setup, scoring, make, sizes=sizes, count=pairs)
        return work.case(entry, task)


# one long pair


class Long(Workload):
    """One long pair of unrelated DNA: score and end, by all engines."""

    name, weight = "long", 12
    text = "one pair of DNA, {0:,} x {1:,}: score and end"
    lengths: ClassVar[Mapping[str, Any]] = {
        **{"tiny": [500], "small": [4096], "medium": [16_384], "large": [32_768]}
    }
    scorings: ClassVar = [Scoring.match_mismatch(5, -4, 11, 1)]
    tasks: ClassVar = ["ends"]

    def entries(self) -> list[Entry]:
        return [*engines_for("long pairs", "scan"), *SCANS]

    def cases(self) -> Iterator[Case]:
        """Yield all engines for each scoring and length, and one core of parasail."""
        for scoring, length in product(self.scorings, self.setup.chosen(self.lengths)):
            make = partial(generated.unrelated_pair, length)
            work = PairWork(self.setup, scoring, make, sizes=(length, length), count=1)
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
        return [*SCANS, Entry("blocked"), Entry("diagonal")]


class Scan2014(Long):
    """The 2014 paper, figures 8 and 9: anti-diagonals against scans of 512 to 8000 letters."""

    name, weight, requires = "scan2014", 14, (4, 3)
    lengths: ClassVar = {
        "tiny": [128],
        "small": [512, 2048],
        "medium": [512, 8000],
        "full": [512, 1024, 2048, 4096, 8000],
    }
    scorings: ClassVar = [Scoring.match_mismatch(5, -3, 8, extend) for extend in (8, 1)]
    """Of the paper's figure 3; a constant gap costs 8 at every position."""

    def entries(self) -> list[Entry]:
        return [Entry("wavefront"), Entry("blocked"), *SCANS]


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
        work = PairWork(self.setup, self.scoring, make, sizes=sizes, count=1)
        pruned = f"{kind}, pruned"
        for task, options, prune in (
            *(("ends", kind, False), ("ends", pruned, True), ("paths", kind, True)),
        ):
            words = {"memory": 1024 * MIB, "prune": prune}
            yield work.case(Entry("blocked", words=words, options=options), task)


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
            make = partial(self._made, length)
            work = PairWork(self.setup, self.scoring, make, sizes=(length, length), count=1)
            for entry in self.entries(length):
                yield work.case(entry, "ends" if "only" in (entry.options or "") else "paths")

    def entries(self, length: int) -> Iterator[Entry]:
        """Yield ends only, c = 1, 2, 4 ... strips, all directions; then memories of `blocked`."""
        workgroup, only = 8 if self.setup.software else 64, "score and end only"
        strips = -(-length // (strip := workgroup * ROWS))
        spacings = [2**k for k in range(strips.bit_length()) if 2**k < strips]
        kept: dict[str, dict[str, int]] = {only: {}}
        kept |= {f"c = {each * strip} rows": {"spacing": each} for each in spacings}
        for options, words in (kept | {"all directions": {"spacing": 2**30}}).items():
            words |= {"workgroup": workgroup, "memory": 2**60}
            yield Entry("diagonal", words=words, options=options)
        yield Entry("blocked", words={"memory": 1024 * MIB}, options=only)
        for size in (1, 4, 16, 64, 256, 1024):
            yield Entry("blocked", words={"memory": size * MIB}, options=f"at most {size} MiB")
            if size * MIB >= 8 * length**2:  # no kept rows from here on
                break

    def _made(self, length: int) -> Batch:
        sequences = generated.dna([length], length)
        return Batch.pairwise(sequences, generated.relatives(sequences, 4, length))
