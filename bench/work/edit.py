"""Edit distances: each with each, arbitrary pairs, and parts of longer targets.

Engine `bit_parallel` from codes, the whole call of glsw from lists of texts, StringZilla (GPU or
one core), and edlib on one core, on as many pairs as they do in time. edlib judges a sample,
StringZilla all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import glsw
from bench import generated, programs
from bench.measure import Check, compare
from bench.work.base import Case, Run, Setup, Workload, facts_of
from glsw.batch import Batch
from glsw.engines.bit_parallel import BitParallel
from glsw.scoring.unit_costs import unit_costs
from glsw.sequences.encoded import Sequences
from glsw.sequences.items import code_alphabet

_SAMPLE_CELLS = 1e8  # that edlib judges, and is measured on
_LETTERS = np.frombuffer(b"ACGTBDEFHIKLMNPQRSVWXYZ", np.uint8)
Distances = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Work:
    """Queries and targets: each with each, or the first with the first and so on.

    Parameters
    ----------
    letters : int
        How many different ones.
    queries, targets : (int, int, int)
        How many, the smallest and the largest length.
    """

    name: str
    letters: int
    queries: tuple[int, int, int]
    targets: tuple[int, int, int]
    each: bool = True
    infix: bool = False


WORKS = (
    Work("each 1000", 4, (2000, 1000, 1000), (2000, 1000, 1000)),
    Work("proteins 1000", 20, (2000, 1000, 1000), (2000, 1000, 1000)),
    Work("each 100-600", 4, (3000, 100, 600), (3000, 100, 600)),
    Work("each 10-20", 20, (20_000, 10, 20), (20_000, 10, 20)),
    Work("pairs 300", 4, (1_000_000, 300, 300), (1_000_000, 300, 300), each=False),
    Work("pairs 1-5000", 4, (50_000, 1, 5000), (50_000, 1, 5000), each=False),
    Work("infix 1000", 4, (5000, 150, 150), (5000, 1000, 1000), infix=True),
    Work("infix 5000000", 4, (1000, 150, 150), (1, 5_000_000, 5_000_000), infix=True),
)


class _Data:
    """A work of a share of its cells."""

    def __init__(self, work: Work, setup: Setup, share: float) -> None:
        self.work, self.setup = work, setup
        part = share**0.5 if work.each else share
        count, low, high = work.targets
        few = count == 1  # one long target: then of a share of the length
        if few:
            self.target = (1, int(low * part) + 1, int(high * part) + 1)
        else:
            self.target = (max(1, int(count * part)), low, high)
        self.query = (max(1, int(work.queries[0] * part)), *work.queries[1:])
        self.all: Distances | None = None

    @cached_property
    def sides(self) -> tuple[Sequences, Sequences]:
        query, target = (
            generated.drawn(*shape, self.work.letters, seed)
            for seed, shape in ((1965, self.query), (1966, self.target))
        )
        return query, target

    @cached_property
    def texts(self) -> list[list[str]]:
        found = []
        for side in self.sides:
            text, bounds = _LETTERS[side.residues].tobytes().decode(), side.offsets.tolist()
            found.append([text[start:end] for start, end in pairwise(bounds)])
        return found

    @property
    def cells(self) -> int:
        m, n = (side.lengths for side in self.sides)
        return int(m.sum()) * int(n.sum()) if self.work.each else int(m @ n)

    @property
    def pairs(self) -> int:
        return self.query[0] * self.target[0] if self.work.each else self.query[0]

    @cached_property
    def sample(self) -> npt.NDArray[np.int64]:
        most = max(1, int(_SAMPLE_CELLS * self.pairs / self.cells))
        some = np.random.default_rng(7).integers(0, self.pairs, min(self.pairs, most))
        return some.astype(np.int64)

    def pair(self, k: int) -> tuple[str, str]:
        query, target = divmod(k, self.target[0]) if self.work.each else (k, k)
        return self.texts[0][query], self.texts[1][target]

    def by_edlib(self) -> Distances:
        import edlib

        mode = "HW" if self.work.infix else "NW"
        some = map(self.pair, self.sample.tolist())
        return np.array([edlib.align(*pair, mode=mode)["editDistance"] for pair in some])

    @cached_property
    def judged(self) -> Distances:
        return self.by_edlib()

    def check(self, found: Any, *, on_all: bool = False) -> Check:
        flat = np.asarray(found).reshape(-1).astype(np.int64)
        checked = compare(flat[self.sample], self.judged, "edlib")
        if checked.passed and self.all is None:
            self.all = flat
        if on_all and checked.passed and self.all is not None:
            return compare(flat, self.all, "bit_parallel")
        return checked


class Edit(Workload):
    """Edit distances of eight kinds of work."""

    name, weight, requires = "edit", 16, (4, 3)
    text = "edit distances: each with each, pairs, parts of longer targets"
    shares: ClassVar = {"tiny": 2**-16, "small": 2**-11, "medium": 2**-4, "large": 0.25}
    shares |= {"full": 1.0}
    words: ClassVar[Sequence[int]] = (8,)

    def cases(self) -> Iterator[Case]:
        share = self.setup.chosen(self.shares)
        works = WORKS if self.setup.size in ("large", "full") else WORKS[::2]
        for work in works:
            data = _Data(work, self.setup, share)
            sizes = [sum(side[1:]) // 2 for side in (data.query, data.target)]
            fields: dict[str, Any] = {"task": "distances", "sizes": sizes, "count": data.pairs}
            fields |= {"scoring": "edit distance", "options": work.name}
            ours = dict(device=self.device, metered=True, **fields)
            if self.setup.wants("bit_parallel"):
                yield Case("bit_parallel", partial(self._codes, data, None), **ours)
                if self.setup.size == "full":
                    for words in self.words:
                        name = f"bit_parallel, {words} words"
                        yield Case(name, partial(self._codes, data, words), **ours)
                yield Case("glsw from texts", partial(self._texts, data), **ours)
            if work.each and not work.infix and "StringZilla" in self.setup.rivals:
                _, on_gpu, version = programs.stringzilla_scope()
                name, start = programs.stringzilla_name(), partial(self._stringzilla, data)
                theirs: dict[str, Any] = {
                    "cores": None if on_gpu else 1,
                    "version": version,
                    "ours": False,
                }
                yield Case(name, start, **theirs, **fields)
            if "edlib" in self.setup.rivals:
                yield Case("edlib", partial(self._edlib, data), cores=1, ours=False, **fields)

    def _codes(self, data: _Data, words: int | None, seconds: float) -> Run:
        work = data.work
        scoring = unit_costs(code_alphabet(max(2, work.letters)), infix=work.infix)
        options: dict[str, Any] = {"words": words} if words else {}
        engine = BitParallel(scoring, self.device, **options)

        def run() -> Distances:
            if work.each:
                (scores,) = engine.scan(data.sides[0], [data.sides[1]])
                return -scores.astype(np.int64)
            return -engine.scores(Batch.pairwise(*data.sides)).astype(np.int64)

        return Run(run, data.check, data.cells, facts=facts_of(engine))

    def _texts(self, data: _Data, seconds: float) -> Run:
        call = glsw.edit_distance_matrix if data.work.each else glsw.edit_distance
        mode: Any = "infix" if data.work.infix else "global"
        run = partial(call, *data.texts, mode=mode, device=self.device)
        return Run(run, data.check, data.cells)

    def _stringzilla(self, data: _Data, seconds: float) -> Run:
        import stringzillas

        scope, _, _ = programs.stringzilla_scope()
        engine = stringzillas.LevenshteinDistances(capabilities=scope)
        sides = [programs.strings(texts) for texts in data.texts]
        run = lambda: np.asarray(engine(*sides, device=scope))  # noqa: E731
        return Run(run, partial(data.check, on_all=True), data.cells)

    def _edlib(self, data: _Data, seconds: float) -> Run:
        cells = sum(len(a) * len(b) for a, b in map(data.pair, data.sample.tolist()))
        check = partial(compare, expected=data.judged)
        share = cells / data.cells if cells < data.cells else None
        return Run(data.by_edlib, check, cells, part=share)


WORKLOADS = (Edit,)
