"""Database search: scores of proteins (or DNA) with many targets, by engines and other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from bench import generated, rivals
from bench.work.base import (
    Case,
    Entry,
    Start,
    engines_for,
    numbers_of,
    spread,
)
from bench.work.search_base import BLOSUM, Database, Searching
from bench.work.search_files import Files
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences


class Search(Searching):
    """One protein against a database: all engines."""

    name, weight = "search", 14
    text = "a protein of 375 against {count:,} with Swiss-Prot's lengths: scores"
    counts: ClassVar = {"tiny": 3, "small": 1000, "medium": 20_000, "large": 200_000}

    def cases(self) -> Iterator[Case]:
        base = Database(self.setup, BLOSUM, [375], self.setup.chosen(self.counts), None)
        entries = [*numbers_of(self.device), *engines_for("search", "lanes")]
        yield from self.engine_cases(base, entries, [[0]])
        yield from self.rival_cases(base, [0], slow=True)
        yield from base.cases_of_cudasw4([[0]], scoring=self.scoring_name)


class Uniform(Searching):
    """20 queries against equal targets: the peak."""

    name, weight, requires = "search-uniform", 14, (4, 3)
    text = "standard queries of 144 to 5478 against {count:,} equal proteins: scores"
    counts: ClassVar = {"tiny": 8, "small": 100, "medium": 10_000, "large": 200_000}
    counts |= {"full": 1_000_000}
    lengths: ClassVar = {"tiny": [512], "full": [128, 256, 512, 1024, 2048]}
    queries: ClassVar = {"tiny": 2, "small": 3, "full": 20}

    def bases(self) -> Iterator[Database]:
        for length in self.setup.chosen(self.lengths):
            count = self.setup.chosen(self.counts)
            yield Database(self.setup, BLOSUM, self.of_queries(), count, length, 1e7)

    def of_queries(self) -> Sequence[int]:
        """Return the lengths of the queries: the shorter ones where the device is slow."""
        return generated.STANDARD[: self.setup.chosen({"tiny": 2, "small": 11, "medium": 20})]

    def cases(self) -> Iterator[Case]:
        """Yield single queries and all together, by each number type and CUDASW++4.0."""
        for base in self.bases():
            count = len(base.lengths)
            some = [[q] for q in spread(count, self.setup.chosen(self.queries))]
            groups = [*some, list(range(count))]
            yield from self.engine_cases(base, numbers_of(self.device), groups)
            yield from base.cases_of_cudasw4(groups, scoring=self.scoring_name)
            yield from self.more(base)

    def more(self, base: Database) -> Iterator[Case]:
        if base.length == 512 and self.setup.size != "tiny":
            for case in self.rival_cases(base, [spread(len(base.lengths), 1)[0]]):
                if case.program.startswith("StringZilla"):
                    yield case


class Swissprot(Uniform):
    """20 queries against a database of Swiss-Prot's lengths; whole commands; several devices."""

    name, weight = "search-swissprot", 18
    text = "standard queries of 144 to 5478 against {count:,} with Swiss-Prot's lengths: scores"
    counts: ClassVar = {"tiny": 8, "small": 100, "medium": 10_000, "large": 100_000}
    entries: ClassVar = {"full": [50_000, 500_000]}

    def bases(self) -> Iterator[Database]:
        counts = [self.setup.chosen(self.counts)]
        if self.setup.size == "full":
            counts = self.entries["full"]
        for count in counts:
            yield Database(self.setup, BLOSUM, self.of_queries(), count, None, 1e7)

    def more(self, base: Database) -> Iterator[Case]:
        last = self.setup.size != "full" or base.count == self.entries["full"][-1]
        if not last:
            return
        some = 3 if self.setup.size == "full" else 1
        yield from self.rival_cases(base, spread(len(base.lengths), some))
        everything = list(range(len(base.lengths)))
        fields = {"task": "command", "scoring": self.scoring_name, **base.fields(everything)}
        fields["grace"] = 300.0
        files = Files(base)
        if self.setup.wants("lanes"):
            yield Case("glsw search", files.ours, **fields)
        if "CUDASW++4.0" in self.setup.rivals:
            for kind in rivals.Cudasw4.kinds:
                start: Start = partial(files.cudasw4, kind)
                yield Case(f"CUDASW++4.0 {kind}", start, ours=False, **fields)
        if len(self.setup.devices) > 1:
            for some_devices in (self.setup.devices[:1], self.setup.devices):
                names = ",".join(map(str, some_devices))
                start = partial(files.on_devices, some_devices)
                words = fields | {"task": "devices", "options": f"devices {names}"}
                yield Case("glsw search", start, **words)


class Liu2006(Searching):
    """Liu et al. 2006, Table 1: eight queries against a protein database, engine fragment."""

    name, weight = "liu2006", 14
    text = "queries of 63 to 4095 against {count:,} with Swiss-Prot's lengths: scores"
    lengths = (63, 127, 255, 361, 511, 1023, 2047, 4095)
    counts: ClassVar = {"tiny": 2, "small": 40, "medium": 2000, "large": 20_000}
    queries: ClassVar = {"tiny": 2, "small": 4, "full": 8}

    def cases(self) -> Iterator[Case]:
        base = Database(self.setup, BLOSUM, self.lengths, self.setup.chosen(self.counts), None, 3e7)
        some = spread(8, 8)[1::2] if self.setup.size != "full" else range(8)
        if self.setup.size == "tiny":
            some = [0, 1]
        entries = [Entry("fragment", "fragment")]
        if self.setup.engines and not self.setup.wants("fragment"):
            entries = [Entry(name, name) for name in self.setup.engines]
        yield from self.engine_cases(base, entries, [[q] for q in some])
        for case in self.rival_cases(base, some):
            if case.program in ("parasail", "ssearch36") and case.cores == 1:
                yield case


class Nucleotides(Searching):
    """DNA by match and mismatch: queries against sequences of 1000."""

    name, weight, requires = "nucleotides", 6, (4, 3)
    text = "a DNA query against {count:,} sequences of 1000, by match and mismatch: scores"
    scoring, scoring_name = Scoring.match_mismatch(2, -3, 7, 2), "DNA 2/-3, gaps 7, 2"
    counts: ClassVar = {"tiny": 4, "small": 400, "medium": 20_000, "large": 200_000}
    lengths: ClassVar = {"tiny": [150], "small": [150, 1500], "full": [150, 500, 1500, 5000]}

    def cases(self) -> Iterator[Case]:
        count = self.setup.chosen(self.counts)
        base = Genes(self.setup, self.scoring, self.setup.chosen(self.lengths), count, 1000, 1e7)
        entries = [*numbers_of(self.device), Entry("cpu", "cpu")]
        yield from self.engine_cases(base, entries, [[q] for q in range(len(base.lengths))])
        yield from self.rival_cases(base, [spread(len(base.lengths), 1)[0]])


class Genes(Database):
    """DNA queries and targets."""

    @cached_property
    def queries(self) -> Sequences:
        return generated.dna(self.lengths)

    @cached_property
    def targets(self) -> Sequences:
        self.planted = np.empty(0, np.intp)
        return generated.dna(np.full(self.count, self.length), 7)


WORKLOADS = (Search, Uniform, Swissprot, Liu2006, Nucleotides)
