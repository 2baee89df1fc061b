"""Pairs: many short ones, one long one, their alignments, and what these keep; three papers."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

from bench import generated
from bench.work.alignments import PairWork
from bench.work.base import Case, Entry, Workload, engines_for
from glsw import Batch, Scoring
from glsw.engines.gl import ROWS

LENGTH = 512
UNRELATED, RELATED = (LENGTH, LENGTH + 1), (LENGTH,)  # seeds of the sequences of pairs
MIB = 2**20
PAPERS = Scoring.match_mismatch(1, -1, 2, 2)
OTHERS = Scoring.match_mismatch(2, -3, 7, 2), Scoring.named("BLOSUM62", 12, 1)
SCANS = "scan fused", "scan blocks", "scan single-stage"


def made(scoring: Scoring, count: int, length: int, seeds: Sequence[int] = UNRELATED) -> Batch:
    """Return pairs of one length: unrelated sequences, or with a single seed relatives."""
    dna = scoring.alphabet.name == "DNA"
    some = generated.dna if dna else generated.proteins
    queries, *targets = (some([length] * count, seed) for seed in seeds)
    return Batch.pairwise(queries, *targets or [generated.relatives(queries, 4 if dna else 20)])


class Pairs(Workload, called="pairs"):
    """Short pairs of unrelated DNA: scores and ends, by all engines."""

    def cases(self) -> Iterator[Case]:
        count = self.chosen("count")
        make, sizes = partial(made, PAPERS, count, LENGTH), (LENGTH, LENGTH)
        work = PairWork(self.setup, PAPERS, make, sizes=sizes, count=count)
        for entry in engines_for("pairs"):
            if self.setup.wants(entry.engine):
                yield work.case(entry, "ends")
        yield from work.rival_cases(self.setup.cores)


class Aymone2022(Workload, called="aymone2022"):
    """Aymone 2022, Table 1: pairs of 512 x 512 with traceback on the device; other scorings."""

    tasks: Sequence[tuple[str, str]]  # with their ties

    def cases(self) -> Iterator[Case]:
        count, length = self.chosen("count"), self.chosen("length")
        others = OTHERS if self.setup.size == "full" else ()
        kinds = (PAPERS, UNRELATED), (PAPERS, RELATED), *((each, UNRELATED) for each in others)
        for scoring, seeds in kinds:
            make = partial(made, scoring, count, length, seeds)
            work = PairWork(self.setup, scoring, make, sizes=(length, length), count=count)
            work.fields["scoring"] += ", relatives" * (seeds == RELATED)
            for task, ties in self.tasks:
                chosen = ties if task == "ends" else None  # paths are always conventional
                yield work.case(Entry("diagonal"), task, chosen, options=f"ties: {ties}")
            yield work.case(Entry("diagonal"), "scores")
            yield from work.rival_cases(1, ("trace", "simd"))


class Long(Workload, called="long"):
    """One long pair of unrelated DNA: score and end, by all engines; so are those of two papers."""

    scorings: Sequence[tuple[int, int, int, int]]
    tasks: Sequence[str]
    engines: Sequence[str] = ()  # by default all for long pairs

    def cases(self) -> Iterator[Case]:
        every = [*(each.label for each in engines_for("long pairs", "scan")), *SCANS]
        for words, length in product(self.scorings, self.chosen("length")):
            make, scoring = partial(self._made, length), Scoring.match_mismatch(*words)
            work = PairWork(self.setup, scoring, make, sizes=(length, length), count=1)
            for task, label in product(self.tasks, self.engines or every):
                form = label.partition(" ")[2]
                entry = Entry(label, {"form": form} if form else {})
                traces = "alignment" in entry.kind.capabilities.tasks and form in ("", "fused")
                if (task == "ends" or traces) and self.setup.wants(entry.engine):
                    yield work.case(entry, task)
            yield from work.rival_cases(1, ("plain", "simd"))

    def _made(self, length: int) -> Batch:
        return Batch.of([[*generated.dna([length, length], length)]])


class Megabase(Workload, called="megabase"):
    """Long pairs with the engine blocked: score and ends, exact pruning, the whole alignment."""

    scoring = Scoring.match_mismatch(1, -3, 5, 2)
    genomes = ("ecoli_K12_MG1655_NC_000913.2.fna.gz", "ecoli_536_NC_008253.fna.gz")

    def cases(self) -> Iterator[Case]:
        works: list[tuple[str, Any, tuple[int, int]]] = []
        for length in self.chosen("length"):
            for kind, seeds in (("dissimilar", (2022, 7)), ("similar", (2022,))):
                make = partial(made, self.scoring, 1, length, seeds)
                works.append((kind, make, (length, length)))
        if self.setup.data and self.setup.size == "full":
            works.append(("E. coli K12 x E. coli 536", self._files, (4_639_675, 4_938_920)))
        for kind, make, sizes in works:
            work = PairWork(self.setup, self.scoring, make, sizes=sizes, count=1)
            for task, prune in (("ends", False), ("ends", True), ("paths", True)):
                options = f"{kind}, pruned" if task == "ends" and prune else kind
                words = {"memory": 1024 * MIB, "prune": prune}
                yield work.case(Entry("blocked", words, options), task)

    def _files(self) -> Batch:
        alphabet, paths = self.scoring.alphabet, map(self.setup.file, self.genomes)
        return Batch.pairwise(*(generated.from_file(path, alphabet) for path in paths))


class Traceback(Workload, called="traceback"):
    """What alignments cost in time and memory: all directions, or kept rows and computing again.

    The report of Aymone 2022 (section VI.ii) leaves this open. The engine `diagonal` keeps a row of
    the table every c rows, `blocked` keeps rows and columns as a memory allows.
    """

    scoring = Scoring.match_mismatch(5, -4, 11, 1)

    def cases(self) -> Iterator[Case]:
        for length in self.chosen("length"):
            make = partial(self._made, length)
            work = PairWork(self.setup, self.scoring, make, sizes=(length, length), count=1)
            for entry in self.entries(length):
                yield work.case(entry, "ends" if "only" in (entry.options or "") else "paths")

    def entries(self, length: int) -> Iterator[Entry]:
        """Yield ends only, c = 1, 2, 4 ... strips, all directions; then memories of `blocked`."""
        workgroup, only = 8 if self.setup.software else 64, "score and end only"
        words, strip = {"workgroup": workgroup, "memory": 2**60}, workgroup * ROWS
        yield Entry("diagonal", words, only)
        spacing = 1
        while spacing < -(-length // strip):
            yield Entry("diagonal", {**words, "spacing": spacing}, f"c = {spacing * strip} rows")
            spacing *= 2
        yield Entry("diagonal", {**words, "spacing": 2**30}, "all directions")
        yield Entry("blocked", {"memory": 1024 * MIB}, only)
        for size in (1, 4, 16, 64, 256, 1024):
            yield Entry("blocked", {"memory": size * MIB}, f"at most {size} MiB")
            if size * MIB >= 8 * length**2:  # no kept rows from here on
                break

    def _made(self, length: int) -> Batch:
        sequences = generated.dna([length], length)
        return Batch.pairwise(sequences, generated.relatives(sequences, 4, length))
