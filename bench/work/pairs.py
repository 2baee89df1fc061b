"""Many short pairs: the engines', those of Aymone 2022, and the layouts of the engine fragment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bench import generated
from bench.work.base import Case, Entry, Workload, engines_for
from bench.work.pair_work import PairWork
from glsw.batch import Batch
from glsw.scoring.scoring import Scoring

LENGTH = 512
PAPERS = "DNA 1/-1, gaps 2, 2"
SCORINGS = {
    PAPERS: Scoring.match_mismatch(1, -1, 2, 2),
    "DNA 2/-3, gaps 7, 2": Scoring.match_mismatch(2, -3, 7, 2),
    "BLOSUM62, gaps 12, 1": Scoring.named("BLOSUM62", 12, 1),
}


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
        count, scoring = self.setup.chosen(self.counts), SCORINGS[PAPERS]
        fields = {"scoring": PAPERS, "sizes": (LENGTH, LENGTH), "count": count}
        work = PairWork(self.setup, scoring, partial(made, scoring, count, LENGTH), fields)
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
            kinds += [(name, False) for name in SCORINGS if name != PAPERS]
        for name, related in kinds:
            fields: dict[str, Any] = {"sizes": (length, length), "count": count}
            fields["scoring"] = name + ", relatives" * related
            make = partial(made, SCORINGS[name], count, length, related=related)
            work = PairWork(self.setup, SCORINGS[name], make, fields)
            for task, ties in self.tasks:
                options = f"ties: {ties}" if ties else None
                yield work.case(Entry("diagonal", "diagonal"), task, ties, options=options)
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
        entry = Entry("fragment", "fragment", {"tile": tile, "texels": texels}, None, options)
        fields: dict[str, Any] = {"sizes": (length, length), "count": pairs}
        fields["scoring"] = f"BLOSUM62, gaps {gaps[0]}, {gaps[1]}"

        def make() -> Batch:
            if not pairs:
                raise ValueError("the quad is too small for a pair")
            targets = generated.proteins(np.full(pairs, length))
            return Batch.one_to_many(generated.queries([length])[0], targets)

        work = PairWork(self.setup, Scoring.named("BLOSUM62", *gaps), make, fields)
        return work.case(entry, task)


WORKLOADS = (Pairs, Aymone2022, FragmentTiles)
