"""Collections: all pairs as a matrix, near pairs, many arbitrary pairs, and edit distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import glsw
from bench import generated, programs, rivals
from bench.measure import Check, both, compare, second_run
from bench.programs import judge
from bench.work.alignments import PairWork, path_score
from bench.work.base import Case, Part, Run, Start, Workload, facts_of, named, rival_cases
from bench.work.search_base import BLOSUM
from glsw import Aligner, Batch, Scoring, Sequences
from glsw.engines import Auto
from glsw.engines.lanes.engine import Lanes
from glsw.engines.tiles import ScanTile
from glsw.pairs.all_pairs import score_matrix
from glsw.run.pool import Runner
from glsw.scoring.gaps import MODES, Mode
from glsw.wings.edit.bit_parallel import BitParallel
from glsw.wings.edit.items import code_alphabet
from glsw.wings.edit.unit_costs import unit_costs

CDR3 = Scoring.named("BLOSUM62", 11, 11).in_mode("global")  # of scirpy
SAMPLE, PAIRS = 3e7, 10_000  # cells that are judged, in so many pairs at most
Shape: TypeAlias = tuple[int, int, int]  # how many sequences, the smallest and the largest length


@dataclass
class Sides:
    """Random queries and targets: each with each, or the first with the first and so on."""

    name: str
    letters: int  # how many different ones
    queries: Shape
    targets: Shape
    each: bool = True
    seed: int = 1
    made: Callable[[], tuple[Sequences, Sequences]] | None = None  # others

    @cached_property
    def sides(self) -> tuple[Sequences, Sequences]:
        if self.made is not None:
            return self.made()
        queries = generated.drawn(*self.queries, self.letters, seed=self.seed)
        return queries, generated.drawn(*self.targets, self.letters, seed=self.seed + 1)

    @property
    def pairs(self) -> int:
        return self.queries[0] * self.targets[0] if self.each else self.queries[0]

    @property
    def cells(self) -> int:
        m, n = (side.lengths for side in self.sides)
        return int(m.sum()) * int(n.sum()) if self.each else int(m @ n)

    def fields(self, scoring: str, count: int, options: str) -> dict[str, Any]:
        """Return the fields of rows; the sizes are the mean lengths."""
        sizes = sum(self.queries[1:]) // 2, sum(self.targets[1:]) // 2
        return {"scoring": scoring, "sizes": sizes, "count": count, "options": options}

    def sample(self, cells: float) -> npt.NDArray[np.int32]:
        """Return random pairs of about this number of cells: indices of both sides, (2, K).

        They are `PAIRS` at most: other programs take microseconds for each, however short.
        """
        most = max(1, min(PAIRS, int(cells * self.pairs / self.cells)))
        index = np.random.default_rng(7).integers(0, self.pairs, min(self.pairs, most), np.int32)
        return np.array(divmod(index, self.targets[0]) if self.each else (index, index))

    def chosen(self, found: Any, cells: float) -> Any:
        """Return what was found of the pairs of `sample`."""
        index = self.sample(cells)
        return np.asarray(found)[tuple(index) if self.each else index[0]]

    def judged(self, scoring: Scoring = BLOSUM) -> Callable[[Any], Check]:
        """Return what judges scores, parasail those of a sample."""
        name, expected = judge(scoring, Batch.indexed(*self.sides, *self.sample(SAMPLE)))
        return lambda found: compare(self.chosen(found, SAMPLE), expected, name)


def proteins(name: str, count: int, low: int, high: int, *, each: bool = True) -> Sides:
    return Sides(name, 20, (count, low, high), (count, low, high), each)


def stringzilla(start: Start, **fields: Any) -> Case:
    """Return the case of StringZilla, on the GPU or one core."""
    _, on_gpu, version = programs.stringzilla_scope()
    fields |= {"version": version, "ours": False, "cores": None if on_gpu else 1}
    return Case(programs.stringzilla_name(), start, **fields)


class Arbitrary(PairWork):
    """Pairs of which other programs get parts; the engine `auto` judges these."""

    def cut(self, cells: float) -> Part:
        if self.first is None:
            scores = Auto(self.scoring, self.setup.device).scores(self.batch)
            self.first = "auto", scores[:, None]
        return super().cut(cells)


class AllPairs(Workload, called="all-pairs"):
    """Score matrices: proteins each with each, once per pair, and of two collections; not local."""

    def cases(self) -> Iterator[Case]:
        count, modes = self.chosen("count"), MODES
        kinds = [proteins("proteins", count, 300, 300), proteins("CDR3", 3 * count, 10, 20)]
        works = [(kind, mode) for mode, kind in product(modes, kinds)]
        if self.setup.data and self.setup.size in ("large", "full"):
            real = replace(proteins("E. coli", 4403, 307, 307), made=self._proteome)
            works.append((real, "local"))
        long = proteins("proteins of 1,000", max(2, count // 2), 1000, 1000)
        works += [(long, mode) for mode in modes if mode != "local"]
        for kind, mode in works:
            scoring, ways = BLOSUM.in_mode(mode), {"each pair once": True, "two collections": False}
            for text, symmetric in [*ways.items()][0 if scoring.local else 1 :]:
                options = f"{kind.name}, {text}" + ("" if scoring.local else f", {mode}")
                fields = kind.fields(named(scoring), kind.queries[0], options)
                start = partial(self._start, scoring, kind, symmetric)
                yield Case("score_matrix", start, device=self.device, metered=True, **fields)
            if "StringZilla" in self.setup.rivals and mode != "semiglobal":
                yield stringzilla(partial(self._stringzilla, scoring, kind), **fields)
            if mode == "semiglobal":  # which StringZilla does not have
                found = rivals.aligning(self.setup.rivals, scoring, self.setup.cores)
                yield from rival_cases(found, partial(self._cut, scoring, kind), {}, **fields)

    def _proteome(self) -> tuple[Sequences, Sequences]:
        found = generated.from_file(self.setup.file("ecoli_K12_sprot_4403.fasta.gz"))
        return found, found

    def _start(self, scoring: Scoring, kind: Sides, symmetric: bool, seconds: float) -> Run:
        engine, (queries, targets) = Auto(scoring, self.device), kind.sides
        cells = kind.cells
        if symmetric:  # of n sequences, n (n + 1) / 2 pairs
            cells = int(queries.lengths.sum() ** 2 + (queries.lengths**2).sum()) // 2
            kind = replace(kind, made=lambda: (queries, queries))
        judged = kind.judged(scoring)

        def check(found: Any) -> Check:
            if symmetric and not np.array_equal(found, found.T):
                return Check("parasail", 1, 1, "the matrix is not symmetric")
            return judged(found)

        def estimate(limit: float) -> float:
            part = queries.part(slice(max(1, len(queries) // 8)))
            return 64 * second_run(partial(score_matrix, Runner(engine), part))

        run = partial(score_matrix, Runner(engine), queries, None if symmetric else targets)
        long = cells > 1e9 and self.setup.software
        facts = lambda: {**facts_of(engine)(), "note": engine.label}  # noqa: E731
        return Run(run, check, cells, estimate if long else None, facts=facts)

    def _cut(self, scoring: Scoring, kind: Sides, cells: float) -> Part:
        batch = Batch.indexed(*kind.sides, *kind.sample(cells))
        return Part(batch, Auto(scoring, self.device).scores(batch), "auto", kind.cells)

    def _stringzilla(self, scoring: Scoring, kind: Sides, seconds: float) -> Run:
        program, texts = programs.StringZilla(scoring), partial(programs.texts, scoring.alphabet)
        whole, on_gpu = kind.queries[0], programs.stringzilla_scope()[1]
        full = on_gpu and self.setup.size == "full"
        count = whole if full else max(2, whole // (2 if on_gpu else 4))
        queries, targets = (side.part(slice(count)) for side in kind.sides)
        shape = count, *kind.queries[1:]
        some = replace(kind, queries=shape, targets=shape, made=lambda: (queries, targets))
        sides = [programs.strings(texts(side)) for side in some.sides]
        check, run = some.judged(scoring), partial(program.matrix, *sides)
        return Run(run, check, some.cells, whole=kind.cells)


class ManyPairs(Workload, called="many-pairs"):
    """Many arbitrary pairs: `score_pairs`, of lists of `str` too, and `align_pairs`."""

    def cases(self) -> Iterator[Case]:
        count = self.chosen("count")
        for low, high, share in ((300, 300, 1.0), (100, 600, 0.5), (10, 20, 2.0)):
            text = "lengths 300" if low == high else f"lengths {low}-{high}"
            kind = proteins(text, max(2, int(share * count)), low, high, each=False)
            fields = kind.fields(named(BLOSUM), kind.queries[0], text)
            for task, name in (("scores", "score_pairs"), ("paths", "align_pairs")):
                start = partial(self._start, kind, name)
                yield Case(name, start, task, device=self.device, metered=True, **fields)
            if low == high:
                for mode in MODES[:2]:
                    start = partial(self._start, kind, "score_pairs", texts=True, mode=mode)
                    words = fields | {"scoring": named(BLOSUM.in_mode(mode))}
                    words["options"] += f", {mode}" * (mode != "local")
                    yield Case("score_pairs from texts", start, device=self.device, **words)
                make = partial(lambda kind: Batch.pairwise(*kind.sides), kind)
                work = Arbitrary(self.setup, BLOSUM, make, **fields)
                yield from work.rival_cases(self.setup.cores)

    def _start(
        self, kind: Sides, name: str, seconds: float, texts: bool = False, mode: Mode = "local"
    ) -> Run:
        scoring = BLOSUM.in_mode(mode)
        aligner, judged = Aligner(scoring, device=self.device.info.index), kind.judged(scoring)
        sides: Sequence[Any] = kind.sides
        if texts:
            sides = [programs.texts(BLOSUM.alphabet, side) for side in kind.sides]
        few = kind.sample(SAMPLE)[0][:100].tolist()

        def check(found: Any) -> Check:
            if name == "score_pairs":
                return judged(found)
            pairs = [[side[k] for side in kind.sides] for k in few]
            paths = [found.alignment(k).coordinates for k in few]
            again = list(map(partial(path_score, BLOSUM), pairs, paths))
            scores = compare(again, found.score[few], "scores of the alignments")
            return both(judged(found.score), scores)

        run = partial(getattr(aligner, name), *sides)
        return Run(run, check, kind.cells, facts=lambda: {"note": aligner.engine.label})


class Near(Workload, called="neighbors"):
    """Near pairs of all: `neighbors` as a sparse matrix, reciprocal best hits, clusters."""

    cutoff = 60

    def cases(self) -> Iterator[Case]:
        fields: dict[str, Any] = {"scoring": named(BLOSUM), "sizes": (200, 200)}
        fields |= {"count": self.chosen("count"), "device": self.device}
        for name in ("neighbors", "reciprocal_best_hits", "clusters"):
            yield Case(name, partial(self._start, name), task="near", **fields)
        count = (5 if self.setup.software else 33) * self.chosen("count")
        fields |= {"scoring": named(CDR3), "sizes": (15, 15), "count": count}
        start = partial(self._cdr3, count)
        yield Case("neighbors", start, task="near", options="CDR3, self", **fields)

    def _cdr3(self, count: int, seconds: float) -> Run:
        """Return the run of scirpy's distances: `self`, global, each letter of a gap the same."""
        half = generated.drawn(count // 2, 10, 20, 20, seed=5)
        some = Sequences.concatenated([half, generated.relatives(half, 20)])
        aligner = Aligner(CDR3, device=self.device.info.index)

        def check(found: Any) -> Check:
            random, entries = np.random.default_rng(9), found.tocoo()
            near = random.integers(0, found.nnz, 1000)
            pairs = random.integers(0, len(some), (2, 1000), np.int32)
            i, j = np.hstack([pairs, [entries.row[near], entries.col[near]]]).astype(np.int32)
            three = (judge(CDR3, Batch.indexed(some, some, *both))[1] for both in ((i, i), (j, j)))
            distance = np.minimum(*three) - judge(CDR3, Batch.indexed(some, some, i, j))[1]
            found = found.copy()
            found.data += 1  # else 0 is no entry
            return compare(found[i, j], np.where(distance <= 10, distance + 1, 0), "parasail")

        run = partial(aligner.neighbors, some, cutoff=10, distance="self")
        return Run(run, check, len(some.residues) ** 2 // 2)

    @cached_property
    def sequences(self) -> Sequences:
        half = generated.proteins([200] * (self.chosen("count") // 2))
        return Sequences.of([*half, *generated.relatives(half, 20)])

    @cached_property
    def scores(self) -> Any:
        """All scores, of which parasail judged some."""
        found = score_matrix(Runner(Lanes(BLOSUM, self.device)), self.sequences)
        chosen = np.random.default_rng(9).integers(0, len(found), (2, 500), np.int32)
        pairs = Batch.indexed(self.sequences, self.sequences, *chosen)
        checked = compare(found[tuple(chosen)], judge(BLOSUM, pairs)[1])
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


_SAMPLE_CELLS = 1e8  # that edlib judges, and is measured on
_LETTERS = np.frombuffer(b"ACGTBDEFHIKLMNPQRSVWXYZ", np.uint8)


@dataclass
class Work(Sides):
    """Texts of which edlib and StringZilla judge the distances."""

    seed: int = 1965
    infix: bool = False
    known: npt.NDArray[np.int32] | None = None  # all distances, once a sample of them was right

    def part(self, share: float) -> Work:
        """Return a work of a share of the cells: of the length, if there is one long target."""
        share = share**0.5 if self.each else share
        count, low, high = self.targets
        targets = max(1, int(count * share)), low, high
        if count == 1:
            targets = 1, int(low * share) + 1, int(high * share) + 1
        queries = (max(1, int(self.queries[0] * share)), *self.queries[1:])
        return replace(self, queries=queries, targets=targets)

    @cached_property
    def texts(self) -> list[list[str]]:
        return [[_LETTERS[codes].tobytes().decode() for codes in side] for side in self.sides]

    @cached_property
    def sampled(self) -> list[tuple[str, str]]:
        """The pairs that edlib gets."""
        queries, targets = self.texts
        index = self.sample(_SAMPLE_CELLS).tolist()
        return [(queries[q], targets[t]) for q, t in zip(*index, strict=True)]

    def by_edlib(self) -> npt.NDArray[np.int64]:
        import edlib

        mode = "HW" if self.infix else "NW"
        return np.array([edlib.align(*pair, mode=mode)["editDistance"] for pair in self.sampled])

    @cached_property
    def expected(self) -> npt.NDArray[np.int64]:
        return self.by_edlib()

    def check(self, found: Any, *, on_all: bool = False) -> Check:
        checked = compare(self.chosen(found, _SAMPLE_CELLS), self.expected, "edlib")
        if not checked.passed:
            return checked
        flat = np.asarray(found).reshape(-1)
        self.known = flat.astype(np.int32) if self.known is None else self.known
        return compare(flat, self.known, "bit_parallel") if on_all else checked


class Edit(Workload, called="edit"):
    """Edit distances of nine kinds of work."""

    works: Sequence[Mapping[str, Any]]

    def cases(self) -> Iterator[Case]:
        for words in self.works if self.setup.size == "full" else self.works[::2]:
            work = Work(**words).part(1 / self.chosen("parts"))
            fields = {"task": "distances", **work.fields("edit distance", work.pairs, work.name)}
            ours = {"device": self.device, "metered": True, **fields}
            if self.setup.wants("bit_parallel"):
                yield Case("bit_parallel", partial(self._codes, work), **ours)
                if self.setup.size == "full":
                    start = partial(self._codes, work, words=8)
                    yield Case("bit_parallel, 8 words", start, **ours)
                yield Case("glsw from texts", partial(self._texts, work), **ours)
            if work.each and not work.infix and "StringZilla" in self.setup.rivals:
                yield stringzilla(partial(self._stringzilla, work), **fields)
            if "edlib" in self.setup.rivals:
                yield Case("edlib", partial(self._edlib, work), ours=False, cores=1, **fields)

    def _codes(self, work: Work, seconds: float, **options: Any) -> Run:
        scoring = unit_costs(code_alphabet(max(2, work.letters)), infix=work.infix)
        engine, (queries, targets) = BitParallel(scoring, self.device, **options), work.sides

        def run() -> Any:
            if work.each:
                (scores,) = engine.answers([ScanTile(queries, targets)])
            else:
                scores = engine.scores(Batch.pairwise(queries, targets))
            return np.negative(scores, out=scores)

        return Run(run, work.check, work.cells, facts=facts_of(engine))

    def _texts(self, work: Work, seconds: float) -> Run:
        call = glsw.edit_distance_matrix if work.each else glsw.edit_distance
        mode: Any = "infix" if work.infix else "global"
        run = partial(call, *work.texts, mode=mode, device=self.device)
        return Run(run, work.check, work.cells)

    def _stringzilla(self, work: Work, seconds: float) -> Run:
        import stringzillas

        scope, _, _ = programs.stringzilla_scope()
        engine = stringzillas.LevenshteinDistances(capabilities=scope)
        sides = [programs.strings(texts) for texts in work.texts]
        run = lambda: np.asarray(engine(*sides, device=scope))  # noqa: E731
        return Run(run, partial(work.check, on_all=True), work.cells)

    def _edlib(self, work: Work, seconds: float) -> Run:
        cells = sum(len(query) * len(target) for query, target in work.sampled)
        check = partial(compare, expected=work.expected)
        return Run(work.by_edlib, check, cells, whole=work.cells)
