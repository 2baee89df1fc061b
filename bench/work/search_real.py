"""Real sequences of the folder of data: the standard search, and all scores equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import generated
from bench.measure import Measurement, compare
from bench.work.base import (
    Case,
    Entry,
    Told,
    Workload,
)
from bench.work.search import Uniform
from bench.work.search_base import BLOSUM, Database
from glsw.engines.cpu import Cpu
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.encoded import Sequences


class SearchFile(Uniform):
    """The standard queries against the Swiss-Prot of the folder of data."""

    name, weight = "search-file", 0
    text = "20 standard queries against {count:,} entries of Swiss-Prot: scores"

    def bases(self) -> Iterator[Database]:
        yield FromFiles(self.setup, BLOSUM, generated.STANDARD, 52_608, None, 1e7)

    def more(self, base: Database) -> Iterator[Case]:
        yield from self.rival_cases(base, [3])


class FromFiles(Database):
    """Sequences of the folder of data."""

    @cached_property
    def queries(self) -> Sequences:
        found = generated.from_file(find_data(self.setup.data, "standard20.fasta"))
        return found.select(np.argsort(found.lengths, kind="stable"))

    @cached_property
    def targets(self) -> Sequences:
        self.planted = np.empty(0, np.intp)
        name = "swissprot_2014_01_subset.fasta.gz"
        found = generated.from_file(find_data(self.setup.data, name))
        return found.select(np.argsort(-found.lengths, kind="stable"))


def find_data(folder: Path | None, name: str) -> Path:
    """Return a file of the folder of data, at any depth; raise ValueError without."""
    for path in sorted(folder.rglob(name)) if folder else ():
        return path
    raise ValueError(f"{name} is not in the folder of data (--data)")


class Exact(Workload):
    """All scores of many queries with a real database equal those of a SIMD library; no times."""

    name, weight, requires = "exact", 0, (4, 3)
    text = "all scores of real queries with a real database, compared with pyopal's"

    def cases(self) -> Iterator[Case]:
        matrix = np.full((24, 24), -150)
        np.fill_diagonal(matrix, 200)
        scorings = {
            "BLOSUM62, gaps 12, 1": BLOSUM,
            "protein 200/-150, gaps 300, 20": Scoring.from_array(matrix, PROTEIN.letters, 300, 20),
            "DNA 2/-3, gaps 7, 2": Scoring.match_mismatch(2, -3, 7, 2),
        }
        numbers = ("f16", "int32") if self.device.info.half else ("int32", "f32")
        for number in numbers:
            for name, scoring in scorings.items():
                start = partial(self._start, scoring, number)
                yield Case(f"lanes {number}", start, scoring=name, number=number, grace=600.0)
            start = partial(self._start, BLOSUM, number, titin=True)
            titin = Case(f"lanes {number}", start, scoring="BLOSUM62, gaps 12, 1", number=number)
            titin = replace(titin, grace=600.0)
            yield replace(titin, options="titin with itself")

    def _start(self, scoring: Scoring, number: Any, seconds: float, *, titin: bool = False) -> Told:
        queries, targets = self._sequences(scoring, titin)
        engine = Entry("lanes", "lanes", number=number).made(scoring, self.device)
        (found,), cpu = engine.scan(queries, [targets]), Cpu(scoring)
        (expected,) = cpu.scan(queries, [targets])
        check = compare(found.ravel(), expected.ravel(), cpu.where)
        high = int((expected >= 2048).sum())
        note = f"{len(queries)} x {len(targets)}; {high} from 2048 on, highest {expected.max()}"
        return Told(Measurement(check, 0), {"note": note})

    def _sequences(self, scoring: Scoring, titin: bool) -> tuple[Sequences, Sequences]:
        data = self.setup.data
        if titin:
            (whole,) = generated.from_file(find_data(data, "titin_hum.aa"))
            targets = [whole, whole[:32768], whole[100:30000], whole[::-1].copy()]
            return Sequences.of(targets[:1]), Sequences.of(targets)
        base = FromFiles(self.setup, scoring, generated.STANDARD, 52_608, None)
        if scoring is BLOSUM:
            return base.queries, base.targets
        part = generated.from_file(find_data(data, "swissprot_2014_01_subset.fasta.gz"))
        part = part.part(slice(2000))
        if len(scoring.alphabet) < 10:
            part = Sequences(part.residues % 4, part.offsets)
        return part.part(slice(3)), part


WORKLOADS = (SearchFile, Exact)
