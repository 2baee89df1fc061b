"""Collections: all pairs as a matrix, near pairs only, and many arbitrary pairs, by `Aligner`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from bench import generated, rivals
from bench.measure import Check, both, compare, second_run
from bench.programs import ParasailPairs, Scores
from bench.work.base import Case, Run, Setup, Workload, rival_cases
from bench.work.judges import path_score
from bench.work.search_base import BLOSUM
from bench.work.search_real import find_data
from glsw.align import Aligner
from glsw.all_pairs import score_matrix
from glsw.batch import Batch
from glsw.engines import Auto
from glsw.engines.lanes.engine import Lanes
from glsw.sequences.encoded import Sequences

SAMPLE = 3e7
"""Cells that are judged."""


def drawn(count: int, low: int, high: int, letters: int, seed: int = 1) -> Sequences:
    """Return random sequences of lengths in a range."""
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(random.integers(low, high + 1, count))])
    return Sequences(random.integers(0, letters, int(offsets[-1]), np.uint8), offsets)


class _Kind:
    """Sequences of one kind, each with each or in pairs, and who judges them."""

    def __init__(self, setup: Setup, text: str, count: int, low: int, high: int) -> None:
        self.setup, self.text, self.count, self.low, self.high = setup, text, count, low, high
        self.mean = (low + high) // 2

    @cached_property
    def queries(self) -> Sequences:
        return drawn(self.count, self.low, self.high, 20)

    @cached_property
    def targets(self) -> Sequences:
        return drawn(self.count, self.low, self.high, 20, 2)

    def sample(self, pairs: int, symmetric: bool, seed: int = 9) -> Any:
        most = max(1, int(SAMPLE / self.mean**2))
        random = np.random.default_rng(seed)
        if pairs == self.count:  # the first with the first, and so on
            some = random.integers(0, pairs, min(pairs, most))
            return np.stack([some, some])
        return random.integers(0, self.count, (2, min(pairs, most)))


def judged(queries: Sequences, targets: Sequences, chosen: Any) -> tuple[Batch, Scores]:
    """Return chosen pairs and their scores by parasail."""
    batch = Batch.indexed(queries, targets, *chosen.astype(np.int32))
    if not ParasailPairs.available(BLOSUM):
        raise ValueError("not judged: parasail is needed")
    return batch, ParasailPairs(BLOSUM).scores_of(batch)


class AllPairs(Workload):
    """Score matrices: proteins each with each, once per pair, and of two collections."""

    name, weight, requires = "all-pairs", 10, (4, 3)
    text = "score matrix of {count:,} proteins, each with each"
    counts: ClassVar = {"tiny": 4, "small": 100, "medium": 1000, "large": 3000}

    def cases(self) -> Iterator[Case]:
        """Yield proteins of 300, CDR3s, and E. coli's if there is a folder of data."""
        count = self.setup.chosen(self.counts)
        kinds = [_Kind(self.setup, "proteins", count, 300, 300)]
        kinds.append(_Kind(self.setup, "CDR3", 3 * count, 10, 20))
        if self.setup.data and self.setup.size in ("large", "full"):
            kinds.append(_Proteome(self.setup, "E. coli", 4403, 307, 307))
        for kind in kinds:
            fields: dict[str, Any] = {"scoring": "BLOSUM62, gaps 12, 1", "count": kind.count}
            fields["sizes"] = (kind.mean, kind.mean)
            for symmetric in (True, False):
                start = partial(self._start, kind, symmetric)
                words = f"{kind.text}, {'each pair once' if symmetric else 'two collections'}"
                yield Case(
                    *("score_matrix", start),
                    options=words,
                    device=self.device,
                    metered=True,
                    **fields,
                )
            if "StringZilla" in self.setup.rivals:
                start = partial(self._stringzilla, kind)
                words, program = f"{kind.text}, two collections", self._name()
                version = rivals.stringzilla_scope()[2]
                yield Case(*(program, start), ours=False, version=version, options=words, **fields)

    def _name(self) -> str:
        return "StringZilla GPU" if rivals.stringzilla_scope()[1] else "StringZilla"

    def _start(self, kind: _Kind, symmetric: bool, seconds: float) -> Run:
        queries = kind.queries
        targets = None if symmetric else kind.targets
        engine = Auto(BLOSUM, self.device)
        chosen = kind.sample(len(queries) ** 2, symmetric)
        _, expected = judged(queries, queries if symmetric else kind.targets, chosen)
        lengths = queries.lengths
        cells = int(lengths.sum()) * int((queries if symmetric else kind.targets).lengths.sum())
        if symmetric:  # of n sequences, n (n + 1) / 2 pairs
            cells = (cells + int((lengths**2).sum())) // 2

        def check(found: Any) -> Check:
            checked = compare(found[tuple(chosen)], expected, "parasail")
            if symmetric and not np.array_equal(found, found.T):
                return Check("parasail", 1, 1, "the matrix is not symmetric")
            return checked

        def estimate(limit: float) -> float:
            part = queries.part(slice(max(1, len(queries) // 8)))
            return 64 * second_run(partial(score_matrix, engine, part))

        whole = estimate if cells > 1e9 and self.setup.software else None
        facts: Callable[[], dict[str, Any]] = lambda: {  # noqa: E731
            "note": engine.label,
            "memory": engine.memory_used or None,
        }
        return Run(
            partial(score_matrix, engine, queries, targets), check, cells, whole, facts=facts
        )

    def _stringzilla(self, kind: _Kind, seconds: float) -> Run:
        program, decode = rivals.StringZilla(BLOSUM), BLOSUM.alphabet.decode
        count = kind.count if rivals.stringzilla_scope()[1] else max(2, kind.count // 4)
        part = slice(count)
        queries, targets = kind.queries.part(part), kind.targets.part(part)
        sides = [rivals.strings([decode(each) for each in side]) for side in (queries, targets)]
        random = np.random.default_rng(9)
        chosen = random.integers(0, count, (2, min(count**2, int(SAMPLE / kind.mean**2) + 1)))
        _, expected = judged(queries, targets, chosen)
        cells = int(queries.lengths.sum()) * int(targets.lengths.sum())

        def check(found: Any) -> Check:
            return compare(found[tuple(chosen)], expected, "parasail")

        share = (count / kind.count) ** 2
        return Run(partial(program.matrix, *sides), check, cells, part=share if share < 1 else None)


class _Proteome(_Kind):
    """The proteins of E. coli."""

    @cached_property
    def queries(self) -> Sequences:
        return generated.from_file(find_data(self.setup.data, "ecoli_K12_sprot_4403.fasta.gz"))

    @property
    def targets(self) -> Sequences:
        return self.queries


class ManyPairs(Workload):
    """Many arbitrary pairs: `score_pairs` and `align_pairs`."""

    name, weight, requires = "many-pairs", 10, (4, 3)
    text = "{count:,} arbitrary pairs of proteins: scores, alignments"
    counts: ClassVar = {"tiny": 8, "small": 500, "medium": 20_000, "large": 200_000}
    counts |= {"full": 1_000_000}

    def cases(self) -> Iterator[Case]:
        """Yield scores and alignments of proteins, of mixed lengths and of CDR3s."""
        count = self.setup.chosen(self.counts)
        for text, share, low, high in (
            *(("300", 1.0, 300, 300), ("100-600", 0.5, 100, 600)),
            ("10-20", 2.0, 10, 20),
        ):
            kind = _Kind(self.setup, f"lengths {text}", max(2, int(share * count)), low, high)
            fields: dict[str, Any] = {"scoring": "BLOSUM62, gaps 12, 1", "count": kind.count}
            fields |= {"sizes": (kind.mean, kind.mean), "options": kind.text}
            for task, name in (("scores", "score_pairs"), ("paths", "align_pairs")):
                start = partial(self._start, kind, name)
                yield Case(name, start, task=task, device=self.device, metered=True, **fields)
            if text != "300":
                continue
            found = rivals.aligning(self.setup.rivals, BLOSUM, self.setup.cores)
            known: dict[float, tuple[Batch, Scores]] = {}
            yield from rival_cases(
                found,
                partial(self._cut, kind, known),
                lambda kind=kind: int(kind.queries.lengths @ kind.targets.lengths),  # type: ignore[misc]
                lambda: "parasail",
                {},
                **fields,
            )

    def _cut(self, kind: _Kind, known: dict[Any, Any], cells: float) -> tuple[Batch, Scores]:
        count = min(kind.count, max(1, int(min(cells, 3e9) / kind.mean**2)))
        if count not in known:
            batch = Batch.pairwise(kind.queries, kind.targets).select(slice(0, count)).compact()
            engine = Auto(BLOSUM, self.device)
            known[count] = batch, engine.scores(batch)
        found: tuple[Batch, Scores] = known[count]
        return found

    def _start(self, kind: _Kind, name: str, seconds: float) -> Run:
        aligner = Aligner(BLOSUM, device=self.device.info.index)
        queries, targets = kind.queries, kind.targets
        chosen = kind.sample(kind.count, False)
        _, expected = judged(queries, targets, chosen)

        def check(found: Any) -> Check:
            if name == "score_pairs":
                return compare(found[chosen[0]], expected, "parasail")
            checked = compare(found.score[chosen[0]], expected, "parasail")
            few = chosen[0][:100].tolist()
            paths = (found.alignment(k).coordinates for k in few)
            again = [
                path_score(BLOSUM, queries[k], targets[k], path)
                for k, path in zip(few, paths, strict=True)
            ]
            return both(checked, compare(again, expected[:100], "scores of the alignments"))

        run = partial(getattr(aligner, name), queries, targets)
        cells = int(queries.lengths @ targets.lengths)
        return Run(run, check, cells, facts=lambda: {"note": aligner.engine.label})


class Near(Workload):
    """Near pairs of all: `neighbors` as a sparse matrix, reciprocal best hits, clusters."""

    name, weight, requires = "neighbors", 6, (4, 3)
    text = "near pairs of all pairs of {count:,} proteins"
    counts: ClassVar = {"tiny": 6, "small": 100, "medium": 1000, "large": 3000}
    cutoff = 60

    def cases(self) -> Iterator[Case]:
        """Yield neighbours, reciprocal best hits and clusters, of proteins with relatives."""
        count = self.setup.chosen(self.counts)
        fields: dict[str, Any] = {"scoring": "BLOSUM62, gaps 12, 1", "sizes": (200, 200)}
        for name in ("neighbors", "reciprocal_best_hits", "clusters"):
            start = partial(self._start, name)
            yield Case(name, start, task="near", count=count, device=self.device, **fields)

    @cached_property
    def sequences(self) -> Sequences:
        half = generated.proteins([200] * (self.setup.chosen(self.counts) // 2))
        both_halves = [*half, *generated.relatives(half, 20)]
        return Sequences.of(both_halves)

    @cached_property
    def scores(self) -> Any:
        engine, few = Lanes(BLOSUM, self.device), self.sequences
        found = score_matrix(engine, few)
        chosen = np.random.default_rng(9).integers(0, len(few), (2, 500))
        _, expected = judged(few, few, chosen)
        checked = compare(found[tuple(chosen)], expected, "parasail")
        if not checked.passed:
            raise ValueError(f"not judged: {checked.first}")
        return found

    def _start(self, name: str, seconds: float) -> Run:
        aligner = Aligner(BLOSUM, device=self.device.info.index)
        some, half = self.sequences, len(self.sequences) // 2
        sides = (
            [some]
            if name != "reciprocal_best_hits"
            else [some.part(slice(half)), some.part(slice(half, None))]
        )
        run = partial(getattr(aligner, name), *sides, cutoff=self.cutoff)
        scores = self.scores

        def check(found: Any) -> Check:
            if name == "neighbors":
                wanted = np.where(scores >= self.cutoff, scores, 0)
                return compare(found.toarray(), wanted, "all scores")
            if name == "clusters":
                near = np.argwhere(scores >= self.cutoff)
                return compare(found[near[:, 0]], found[near[:, 1]], "all scores")
            block = scores[:half, half:]
            return compare(found.value, block[found.a, found.b], "all scores")

        n = len(some)
        pairs = half * (n - half) if len(sides) == 2 else n * (n + 1) // 2
        return Run(run, check, pairs * 200**2)


WORKLOADS = (AllPairs, ManyPairs, Near)
