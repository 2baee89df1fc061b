"""Database search: scores of proteins (or DNA) with many targets, by engines and other programs."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from bench import generated
from bench.measure import Measurement, compare
from bench.work.base import Case, Entry, Workload, engines_for, lanes, named, spread
from bench.work.search_base import BLOSUM, WITH_CUDASW4, Database, Made
from glsw import PROTEIN, Scoring, Sequences
from glsw.engines.cpu import Cpu
from glsw.engines.tiles import ScanTile

ENTRIES = "swissprot_2014_01_subset.fasta.gz"


class Search(Workload, called="search"):
    """One protein against a database: all engines."""

    def cases(self) -> Iterator[Case]:
        words: dict[str, Any] = {"scoring": WITH_CUDASW4, "sample": 3e7}
        base = Database(self.setup, [375], self.chosen("count"), **words)
        yield from base.engine_cases([*self.numbers, *engines_for("search", "lanes")], [[0]])
        yield from base.rival_cases([0], slow=True)
        yield from base.cudasw4_cases([[0]])

    @property
    def numbers(self) -> list[Entry]:
        """The engine `lanes` in each of the number types that the device has."""
        return [lanes(number) for number in (["f16"] * self.device.info.half + ["int32"])]


class Uniform(Search, called="search-uniform"):
    """20 queries against equal targets, the shorter ones where the device is slow: the peak."""

    def cases(self) -> Iterator[Case]:
        """Yield ``queries`` of them alone, and all together."""
        standard = generated.STANDARD[: self.chosen("standard")]
        for size in product(self.chosen("count"), self.chosen("length")):
            base = Database(self.setup, standard, *size, WITH_CUDASW4)
            some = spread(len(base.lengths), self.chosen("queries"))
            groups = [*([q] for q in some), base.everything]
            yield from base.engine_cases(self.numbers, groups)
            yield from base.cudasw4_cases(groups)
            yield from self.more(base)

    def more(self, base: Database) -> Iterator[Case]:
        if base.length == 512 and self.setup.size != "tiny":
            yield from base.rival_cases(spread(len(base.lengths), 1), only="StringZilla")


class Swissprot(Uniform, called="search-swissprot"):
    """20 queries against a database of Swiss-Prot's lengths; whole commands; several devices."""

    def more(self, base: Database) -> Iterator[Case]:
        if base.count == self.chosen("count")[-1]:
            some = 3 if self.setup.size == "full" else 1
            yield from base.rival_cases(spread(len(base.lengths), some))
            yield from base.file_cases()


class Variants(Workload, called="variants"):
    """20 queries together, by the variants of engine lanes that devices of other vendors get."""

    def cases(self) -> Iterator[Case]:
        standard = generated.STANDARD[: self.chosen("standard")]
        base = Database(self.setup, standard, self.chosen("count"))
        entries = [
            Entry(f"lanes {number}{variant}", {"number": number, "subgroups": not variant})
            for number in ["f16"] * self.device.info.half + ["int32"]
            for variant in ("", ", no subgroups")
            if not variant or self.device.info.subgroup_size
        ]
        yield from base.engine_cases(entries, [base.everything])


class Liu2006(Workload, called="liu2006"):
    """Liu et al. 2006, Table 1: eight queries against a protein database, engine fragment."""

    lengths: Sequence[int]

    def cases(self) -> Iterator[Case]:
        base = Database(self.setup, self.lengths, self.chosen("count"), sample=3e7)
        some, engines = self.chosen("queries"), self.setup.engines
        entries = ["fragment"] if self.setup.wants("fragment") else engines or []
        yield from base.engine_cases(map(Entry, entries), [[q] for q in some])
        yield from base.rival_cases(some, cores=1, only=("parasail", "ssearch36"))


class Nucleotides(Search, called="nucleotides"):
    """DNA by match and mismatch: queries against sequences of 1000."""

    scoring = Scoring.match_mismatch(2, -3, 7, 2)

    def cases(self) -> Iterator[Case]:
        count, lengths = self.chosen("count"), self.chosen("length")

        def make() -> Made:
            return generated.dna(lengths), generated.dna([1000] * count, 7), []

        base = Database(self.setup, lengths, count, 1000, scoring=self.scoring, make=make)
        yield from base.engine_cases([*self.numbers, Entry("cpu")], [[q] for q in base.everything])
        yield from base.rival_cases(spread(len(lengths), 1))


class Exact(Workload, called="exact"):
    """All scores of many queries with a real database equal those of a SIMD library; no times."""

    def cases(self) -> Iterator[Case]:
        matrix = np.full((24, 24), -150)
        np.fill_diagonal(matrix, 200)
        large = Scoring.from_array(matrix, PROTEIN.letters, 300, 20)
        dna, blosum = Nucleotides.scoring, named(BLOSUM)
        works: tuple[tuple[str, Scoring, Any, str | None], ...] = (
            (blosum, BLOSUM, self._standard, None),
            ("protein 200/-150, gaps 300, 20", large, self._entries, None),
            (named(dna), dna, partial(self._entries, dna=True), None),
            (blosum, BLOSUM, self._long, "35,000 letters with themselves"),
        )
        for number in ("f16", "int32") if self.device.info.half else ("int32", "f32"):
            for name, scoring, sequences, options in works:
                start = partial(self._start, scoring, number, sequences)
                fields: dict[str, Any] = {"number": number, "options": options, "grace": 600.0}
                yield Case(f"lanes {number}", start, scoring=name, **fields)

    def _start(self, scoring: Scoring, number: str, sequences: Any, seconds: float) -> Measurement:
        queries, targets, *_ = sequences()
        engine, cpu = lanes(number).made(scoring, self.device), Cpu(scoring)
        (found,), (expected,) = (
            each.answers([ScanTile(queries, targets)]) for each in (engine, cpu)
        )
        check = compare(found.ravel(), expected.ravel(), cpu.where)
        high = int((expected >= 2048).sum())
        note = f"{len(queries)} x {len(targets)}; {high} from 2048 on, highest {expected.max()}"
        return Measurement(check, facts={"note": note})

    def _standard(self) -> Sequence[Sequences]:
        names = "standard20.fasta", ENTRIES
        queries, targets = (generated.from_file(self.setup.file(name)) for name in names)
        return queries, targets.select(np.argsort(-targets.lengths, kind="stable"))

    def _entries(self, *, dna: bool = False) -> Sequence[Sequences]:
        part = generated.from_file(self.setup.file(ENTRIES)).part(slice(2000))
        part = Sequences(part.residues % 4, part.offsets) if dna else part
        return part.part(slice(3)), part

    def _long(self) -> Sequence[Sequences]:
        """Return a protein as long as titin: its scores need more than 16 bits."""
        (whole,) = generated.proteins([35_000])
        targets = [whole, whole[:32768], whole[100:30000], whole[::-1].copy()]
        return Sequences.of(targets[:1]), Sequences.of(targets)
