"""The proof of engines of three sequences on a device, see `glsw.engines.proof`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Literal, TypeAlias

import numpy as np

from glsw.alignment.batch import Batch
from glsw.device.device import Device
from glsw.engines.base import Variant
from glsw.engines.proof import Proofs, ProofTask, Tested, first_right, proofs_of
from glsw.scoring.scoring import Scoring
from glsw.wings.three.engines.base import Engine3
from glsw.wings.three.engines.reference import Reference3
from glsw.wings.three.scoring import Scoring3

ProofTask3: TypeAlias = ProofTask | Literal["table"]
"""What an engine of three sequences proves: also its tables."""
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


def holds(proofs: Proofs, engine: Engine3, task: ProofTask3, *, surely: bool = True) -> bool:
    """Compute awkward triples by an engine, and compare with the reference.

    If ``surely``, work groups that wait for others must not have waited in vain.
    """
    polling = engine.polling
    return _right(proofs, engine, task) and (not surely or engine.polling == polling)


def _right(proofs: Proofs, engine: Engine3, task: ProofTask3) -> bool:
    scoring = engine.scoring
    triples = awkward_triples(scoring)
    before = awkward_triples(scoring, backwards=True)  # a device may go on with what it had
    reference = Reference3(scoring)
    if task == "masked":
        disjoint = proofs.expected(scoring, "disjoint", lambda: _disjoint(reference, triples))
        return bool(_disjoint(engine, triples) == disjoint)
    if task == "table":
        tables = proofs.expected(scoring, "tables", lambda: list(reference.tables(triples)))
        list(engine.tables(before))
        return all(map(np.array_equal, engine.tables(triples), tables))
    expected = proofs.expected(scoring, "paths", lambda: reference.paths(triples))
    if task != "alignment":
        engine.ends(before)
        found = engine.ends(triples)
        same = np.array_equal(found.score, expected.ends.score)
        return bool(same and np.array_equal(found.end, expected.ends.end))
    engine.paths(before)
    paths = engine.paths(triples)
    alike = (np.array_equal(paths.moves(t), expected.moves(t)) for t in range(len(triples)))
    return bool(np.array_equal(paths.ends.end, expected.ends.end) and all(alike))


def _disjoint(engine: Engine3, triples: Batch) -> list[tuple[int, int, list[int]]]:
    """Return the first alignments of a triple that share no cell: scores, and their moves."""
    some = triples.select(np.array([_DISJOINT]))
    found = islice(engine.disjoint(some), _MOST_DISJOINT)
    return [(t, int(each.ends.score[0]), each.moves(0).tolist()) for t, each in found]


def proved3(
    kind: type[Engine3],
    task: ProofTask3,
    device: Device,
    options: Mapping[str, Any],
    make: Callable[[Variant], Engine3],
) -> Engine3 | None:
    """Return an engine in the first variant that does a task right on a device, if one does.

    ``options`` go before those of variants, from which ``make`` makes the engine.
    """
    proofs = proofs_of(device)
    asked = "".join(f", {key} {options[key]}" for key in options if key != "memory")
    variants = [
        variant
        for variant in kind.variants_on(device.info)
        if all(options.get(key, value) == value for key, value in variant.options.items())
    ]

    def prove(variant: Variant) -> Engine3:
        made = make(variant)
        family = f"three sequences, {task}, {_family(made.scoring)}, {variant.name}{asked}"
        trial = partial(holds, proofs, made, task, surely="polling" not in options)
        proofs.require(made.name, family, trial)
        return made

    return first_right(device, variants, prove, "engine 'reference'")


def tested(device: Device) -> Iterator[Tested]:
    """Yield the tests of all engines of three sequences that a device can run."""
    from glsw.wings.three.engines import ENGINES3

    proofs = Proofs(device)
    sums = Scoring3.sum_of_pairs(Scoring.blast())
    scorings = {
        "three proteins": sums,
        "three words": Scoring3.identity(),
        "three proteins, global": sums.in_mode("global"),
    }
    for kind in ENGINES3.values():
        if kind.name == "auto" or not kind.capabilities.requires:
            continue
        for work, scoring in scorings.items():
            for variant in kind.variants_on(device.info):
                for task in _tasks(kind, scoring.local):
                    trial = partial(_made_holds, proofs, kind, variant, scoring, task)
                    yield proofs.tested(kind.name, variant.name, f"{work}: {task}", trial)


def _made_holds(
    proofs: Proofs, kind: type[Engine3], variant: Variant, scoring: Scoring3, task: ProofTask3
) -> bool:
    return holds(proofs, kind(scoring, proofs.device, **variant.options), task)


def _tasks(kind: type[Engine3], local: bool) -> tuple[ProofTask3, ...]:
    """Return the tasks to prove: scores are computed as ends are."""
    tasks: tuple[ProofTask3, ...] = kind.capabilities.tasks
    more: tuple[ProofTask3, ...] = ("masked",) if local and "alignment" in tasks else ()
    return (*(task for task in tasks if task != "score"), *more, "table")


def _family(scoring: Scoring3) -> str:
    gaps = "linear" if scoring.linear else "affine"
    more = f", two gaps {scoring.gap_gap}" if scoring.gap_gap else ""
    return f"{scoring.scheme}, {gaps}{more}, {scoring.mode}, {len(scoring.alphabet)} letters"
