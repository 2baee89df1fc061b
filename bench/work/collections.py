"""Collections: all pairs as a matrix, near pairs only, and many arbitrary pairs, by `Aligner`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from bench import generated, programs
from bench.measure import Check, both, compare, second_run
from bench.programs import ParasailPairs, Scores
from bench.work.alignments import PairWork, path_score
from bench.work.base import Case, Run, Workload, facts_of, named
from bench.work.search_base import BLOSUM
from glsw.align import Aligner
from glsw.all_pairs import score_matrix
from glsw.batch import Batch
from glsw.engines import Auto
from glsw.engines.lanes.engine import Lanes
from glsw.sequences.encoded import Sequences

SAMPLE = 3e7
"""Cells that are judged."""


@dataclass
class Kind:
    """Random proteins, or the queries and targets of ``made``: each with each, or in pairs."""

    text: str
    count: int
    low: int
    high: int
    made: Callable[[], tuple[Sequences, Sequences]] | None = None

    @property
    def mean(self) -> int:
        return (self.low + self.high) // 2

    @property
    def fields(self) -> dict[str, Any]:
        return {"scoring": named(BLOSUM), "count": self.count, "sizes": (self.mean, self.mean)}

    @cached_property
    def sides(self) -> tuple[Sequences, Sequences]:
        if self.made is not None:
            return self.made()
        lengths = self.count, self.low, self.high
        return generated.drawn(*lengths, 20, seed=1), generated.drawn(*lengths, 20, seed=2)

    def pairs(self) -> Batch:
        return Batch.pairwise(*self.sides)

    def sample(self, each: bool) -> Any:
        """Return random indices of both sides, of the pairs that are judged."""
        pairs = self.count**2 if each else self.count
        shape = 2 if each else 1, min(pairs, max(1, int(SAMPLE / self.mean**2)))
        return np.broadcast_to(
            np.random.default_rng(9).integers(0, self.count, shape), (2, shape[1])
        )


class Arbitrary(PairWork):
    """Pairs of which other programs get parts; the engine `auto` judges these."""

    def cut(self, cells: float) -> tuple[Batch, Scores]:
        if self.first is None:
            scores = Auto(self.scoring, self.setup.device).scores(self.batch)
            self.first = "auto", scores[:, None]
        return super().cut(cells)


def judged(queries: Sequences, targets: Sequences, chosen: Any) -> Scores:
    """Return the scores of chosen pairs by parasail."""
    if not ParasailPairs.available(BLOSUM):
        raise ValueError("not judged: parasail is needed")
    return ParasailPairs(BLOSUM).scores_of(
        Batch.indexed(queries, targets, *chosen.astype(np.int32))
    )


class AllPairs(Workload):
    """Score matrices: proteins each with each, once per pair, and of two collections."""

    name, weight, requires = "all-pairs", 10, (4, 3)
    text = "score matrix of {count:,} proteins, each with each"
    counts: ClassVar = {"tiny": 4, "small": 100, "medium": 1000, "large": 3000}

    def cases(self) -> Iterator[Case]:
        """Yield proteins of 300, CDR3s, and E. coli's if there is a folder of data."""
        count = self.setup.chosen(self.counts)
        kinds = [Kind("proteins", count, 300, 300)]
        kinds.append(Kind("CDR3", 3 * count, 10, 20))
        if self.setup.data and self.setup.size in ("large", "full"):
            kinds.append(Kind("E. coli", 4403, 307, 307, self._proteome))
        for kind in kinds:
            two, once = f"{kind.text}, two collections", f"{kind.text}, each pair once"
            ours = {"device": self.device, "metered": True, **kind.fields}
            yield Case("score_matrix", partial(self._start, kind, True), options=once, **ours)
            yield Case("score_matrix", partial(self._start, kind, False), options=two, **ours)
            if "StringZilla" in self.setup.rivals:
                words = {"ours": False, "version": programs.stringzilla_scope()[2], **kind.fields}
                start = partial(self._stringzilla, kind)
                yield Case(programs.stringzilla_name(), start, options=two, **words)

    def _proteome(self) -> tuple[Sequences, Sequences]:
        found = generated.from_file(self.setup.file("ecoli_K12_sprot_4403.fasta.gz"))
        return found, found

    def _start(self, kind: Kind, symmetric: bool, seconds: float) -> Run:
        queries, targets = kind.sides
        targets = queries if symmetric else targets
        engine, chosen = Auto(BLOSUM, self.device), kind.sample(each=True)
        expected = judged(queries, targets, chosen)
        cells = int(queries.lengths.sum()) * int(targets.lengths.sum())
        if symmetric:  # of n sequences, n (n + 1) / 2 pairs
            cells = (cells + int((queries.lengths**2).sum())) // 2

        def check(found: Any) -> Check:
            if symmetric and not np.array_equal(found, found.T):
                return Check("parasail", 1, 1, "the matrix is not symmetric")
            return compare(found[tuple(chosen)], expected, "parasail")

        def estimate(limit: float) -> float:
            part = queries.part(slice(max(1, len(queries) // 8)))
            return 64 * second_run(partial(score_matrix, engine, part))

        run = partial(score_matrix, engine, queries, None if symmetric else targets)
        long = cells > 1e9 and self.setup.software
        facts = lambda: {**facts_of(engine)(), "note": engine.label}  # noqa: E731
        return Run(run, check, cells, estimate if long else None, facts=facts)

    def _stringzilla(self, kind: Kind, seconds: float) -> Run:
        program, decode = programs.StringZilla(BLOSUM), BLOSUM.alphabet.decode
        on_gpu = programs.stringzilla_scope()[1]
        count = kind.count if on_gpu else max(2, kind.count // 4)
        queries, targets = (side.part(slice(count)) for side in kind.sides)
        sides = [programs.strings([decode(each) for each in side]) for side in (queries, targets)]
        chosen = kind.sample(each=True) % count
        expected = judged(queries, targets, chosen)
        cells = int(queries.lengths.sum()) * int(targets.lengths.sum())
        check = lambda found: compare(found[tuple(chosen)], expected, "parasail")  # noqa: E731
        part = (count / kind.count) ** 2 if count < kind.count else None
        return Run(partial(program.matrix, *sides), check, cells, part=part)


class ManyPairs(Workload):
    """Many arbitrary pairs: `score_pairs` and `align_pairs`."""

    name, weight, requires = "many-pairs", 10, (4, 3)
    text = "{count:,} arbitrary pairs of proteins: scores, alignments"
    counts: ClassVar = {"tiny": 8, "small": 500, "medium": 20_000, "large": 200_000}
    counts |= {"full": 1_000_000}

    def cases(self) -> Iterator[Case]:
        """Yield scores and alignments of proteins, of mixed lengths and of CDR3s."""
        count = self.setup.chosen(self.counts)
        for low, high, share in ((300, 300, 1.0), (100, 600, 0.5), (10, 20, 2.0)):
            text = "lengths 300" if low == high else f"lengths {low}-{high}"
            kind = Kind(text, max(2, int(share * count)), low, high)
            for task, name in (("scores", "score_pairs"), ("paths", "align_pairs")):
                words = {"device": self.device, "metered": True, "options": text, **kind.fields}
                yield Case(name, partial(self._start, kind, name), task, **words)
            if low == high:
                work = Arbitrary(self.setup, BLOSUM, kind.pairs, options=text, **kind.fields)
                yield from work.rival_cases(self.setup.cores)

    def _start(self, kind: Kind, name: str, seconds: float) -> Run:
        aligner, chosen = Aligner(BLOSUM, device=self.device.info.index), kind.sample(each=False)
        expected = judged(*kind.sides, chosen)

        def check(found: Any) -> Check:
            scores = found if name == "score_pairs" else found.score
            checked = compare(scores[chosen[0]], expected, "parasail")
            if name == "score_pairs":
                return checked
            queries, targets = kind.sides
            again = [
                path_score(BLOSUM, queries[k], targets[k], found.alignment(k).coordinates)
                for k in chosen[0][:100].tolist()
            ]
            return both(checked, compare(again, expected[:100], "scores of the alignments"))

        run = partial(getattr(aligner, name), *kind.sides)
        return Run(run, check, kind.pairs().cells, facts=lambda: {"note": aligner.engine.label})


class Near(Workload):
    """Near pairs of all: `neighbors` as a sparse matrix, reciprocal best hits, clusters."""

    name, weight, requires = "neighbors", 6, (4, 3)
    text = "near pairs of all pairs of {count:,} proteins"
    counts: ClassVar = {"tiny": 6, "small": 100, "medium": 1000, "large": 3000}
    cutoff = 60

    def cases(self) -> Iterator[Case]:
        """Yield neighbours, reciprocal best hits and clusters, of proteins with relatives."""
        fields: dict[str, Any] = {"scoring": named(BLOSUM), "sizes": (200, 200)}
        fields |= {"count": self.setup.chosen(self.counts), "device": self.device}
        for name in ("neighbors", "reciprocal_best_hits", "clusters"):
            yield Case(name, partial(self._start, name), task="near", **fields)

    @cached_property
    def sequences(self) -> Sequences:
        half = generated.proteins([200] * (self.setup.chosen(self.counts) // 2))
        return Sequences.of([*half, *generated.relatives(half, 20)])

    @cached_property
    def scores(self) -> Any:
        """All scores, of which parasail judged some."""
        found = score_matrix(Lanes(BLOSUM, self.device), self.sequences)
        chosen = np.random.default_rng(9).integers(0, len(found), (2, 500))
        expected = judged(self.sequences, self.sequences, chosen)
        checked = compare(found[tuple(chosen)], expected, "parasail")
        if not checked.passed:
            raise ValueError(f"not judged: {checked.first}")
        return found

    def _start(self, name: str, seconds: float) -> Run:
        aligner = Aligner(BLOSUM, device=self.device.info.index)
        some, scores, n = self.sequences, self.scores, len(self.sequences)
        near = np.argwhere(scores >= self.cutoff).T

        def check(found: Any) -> Check:
            if name == "neighbors":
                wanted = np.where(scores >= self.cutoff, scores, 0)
                return compare(found.toarray(), wanted, "all scores")
            if name == "clusters":
                return compare(found[near[0]], found[near[1]], "all scores")
            return compare(found.value, scores[: n // 2, n // 2 :][found.a, found.b], "all scores")

        sides, pairs = [some], n * (n + 1) // 2
        if name == "reciprocal_best_hits":
            sides = [some.part(slice(n // 2)), some.part(slice(n // 2, None))]
            pairs = (n // 2) * (n - n // 2)
        run = partial(getattr(aligner, name), *sides, cutoff=self.cutoff)
        return Run(run, check, pairs * 200**2)


WORKLOADS = (AllPairs, ManyPairs, Near)
