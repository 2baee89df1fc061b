"""Self-test of engines for three sequences: awkward triples, and the expected results."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from glsw.alignment.batch import Batch
from glsw.engines.awkward import alike
from glsw.scoring.scoring import Scoring
from glsw.wings.three.engines.base import Engine3
from glsw.wings.three.engines.reference import Reference3
from glsw.wings.three.scoring import Scoring3

_LENGTHS = (1, 1, 1), (0, 3, 4), (5, 9, 2), (9, 6, 12), (21, 9, 17), (9, 37, 35), (10, 34, 70)
_DISJOINT, _MOST_DISJOINT = 4, 3  # the triple of which so many alignments are computed
_SEED = 2012


def awkward_triples(scoring: Scoring3, *, backwards: bool = False) -> Batch:
    """Return related triples of awkward lengths, perhaps with their letters in the other order."""
    rng = np.random.default_rng(_SEED)
    letters = len(scoring.alphabet)
    common = rng.integers(0, letters, 80)
    triples = []
    for lengths in _LENGTHS:
        words = []
        for k, length in enumerate(lengths):
            word = common[2 * k : 2 * k + length].copy()
            changed = rng.random(length) < 0.3
            word[changed] = rng.integers(0, letters, int(changed.sum()))
            words.append(word.astype(np.uint8)[:: -1 if backwards else 1])
        triples.append(words)
    return Batch.of(triples)


def trial_scorings() -> dict[str, Scoring3]:
    """Return scorings whose programs differ, by what they are for."""
    sums = Scoring3.sum_of_pairs(Scoring.blast())
    return {
        "three proteins": sums,
        "three words": Scoring3.identity(),
        "three proteins, global": sums.in_mode("global"),
    }


def checks(engine: Engine3, task: str) -> Iterator[tuple[Any, Any]]:
    """Yield what an engine computes of awkward triples, and what the reference does."""
    scoring = engine.scoring
    triples = awkward_triples(scoring)
    before = awkward_triples(scoring, backwards=True)  # a device may go on with what it had
    right = _right(scoring, task)
    if task == "masked":
        yield _disjoint(engine, triples) == right, True
    elif task == "table":
        list(engine.tables(before))
        yield from zip(engine.tables(triples), right, strict=True)
    elif task == "ends":
        engine.ends(before)
        yield from alike(engine.ends(triples), right)
    else:
        engine.paths(before)
        paths = engine.paths(triples)
        yield paths.ends.end, right.ends.end
        yield from ((paths.moves(t), right.moves(t)) for t in range(len(triples)))


@lru_cache(maxsize=8)
def _right(scoring: Scoring3, task: str) -> Any:
    """Return what the reference computes of awkward triples."""
    triples, reference = awkward_triples(scoring), Reference3(scoring)
    if task == "masked":
        return _disjoint(reference, triples)
    if task == "table":
        return list(reference.tables(triples))
    paths = reference.paths(triples) if task == "alignment" else _right(scoring, "alignment")
    return paths if task == "alignment" else paths.ends


def _disjoint(engine: Engine3, triples: Batch) -> list[tuple[int, int, list[int]]]:
    """Return the first alignments of a triple that share no cell: scores, and their moves."""
    some = triples.select(np.array([_DISJOINT]))
    found = islice(engine.disjoint(some), _MOST_DISJOINT)
    return [(t, int(each.ends.score[0]), each.moves(0).tolist()) for t, each in found]
