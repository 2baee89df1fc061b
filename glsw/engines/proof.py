"""A device proves itself: its engines compute a small batch as `reference` does, or are replaced.

Compilers and drivers have faults, and a fault may only show in some programs. So before an engine
uses a family of programs for the first time on a device, it computes work with awkward lengths:
one residue, lengths beside the edges of tiles and strips, long gaps. Scores, ends and paths are
compared with `reference`, and the verdict is kept, see `glsw.device.verdicts`. An engine that is
wrong, fails or does not end raises `UnprovedError`: the router goes on with its next safer variant
(`AnyEngine.variants`), and then with another engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.current import DeviceError, DeviceMemoryError
from glsw.device.device import Device, EndlessError
from glsw.device.shader import ShaderError
from glsw.device.verdicts import ENDLESS, RIGHT
from glsw.engines.reference import Reference, rows
from glsw.scoring.positional import gaps_by_position
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences
from glsw.traceback import trace

if TYPE_CHECKING:
    from glsw.engines.base import AnyEngine, Engine, Variant

ProofTask = Literal["score", "ends", "alignment"]
PATIENCE = 10.0
"""Seconds after which a program that computes a small batch does not end."""
_LONGEST = 300  # residues of the longest query
_NO_GAP, _DELETED, _INSERTED = 0, -13, 12
_TARGETS = (
    *((0, 1, _NO_GAP), (4, 2, _NO_GAP), (0, 3, _NO_GAP), (20, 7, _NO_GAP), (50, 8, _NO_GAP)),
    *((0, 9, _NO_GAP), (95, 15, _NO_GAP), (118, 17, _NO_GAP), (0, 64, _DELETED)),
    *((3, 52, _INSERTED), (40, 65, _DELETED), (195, 62, _DELETED), (224, 50, _INSERTED)),
)
"""Targets: where they begin in the first query, how far they go, residues gone or more there."""
_FLANK = 25  # residues before a gap, and as many behind it, that do not change: it is worth it
_PAIRS = (
    *((263, 11), (257, 12), (129, 10), (64, 8), (65, 9), (33, 3), (31, 9), (9, 5), (1, 0), (5, 2)),
    *((0, 4), (110, 10), (140, 7), (17, 8)),
)
"""Pairs by the length of the query and the number of the target."""
_SHORT, _LONG = 40, 1100  # of one pair more: its target has several tiles
_TRACED = (0, 1, 2, 3, 4, 6, 7)  # of these, by their alignments
_SEED = 2006
_FAULTS = (
    moderngl.Error,
    DeviceError,
    ShaderError,
    ArithmeticError,
    AssertionError,
    IndexError,
    MemoryError,
    ValueError,
)
"""What a device that computes wrong numbers, or does not compile, may bring about."""


class UnprovedError(Exception):
    """An engine is wrong, fails or does not end on this device.

    Parameters
    ----------
    engine : str
    verdict : str
        What is wrong.
    """

    def __init__(self, engine: str, verdict: str) -> None:
        super().__init__(f"engine {engine!r}: {verdict}")
        self.engine, self.verdict = engine, verdict


class DeviceFaultWarning(RuntimeWarning):
    """A device computes wrong numbers or fails, and something else is used instead."""


class Work(NamedTuple):
    """Two related queries and some targets, mutated parts of them, of a scoring."""

    queries: list[npt.NDArray[Any]]
    targets: list[npt.NDArray[Any]]


def work_for(scoring: Scoring, letters: int | None = None) -> Work:
    """Return the work for a scoring, of all letters or the first ones; always the same."""
    rng = np.random.default_rng(_SEED)
    count = min(letters or 2**16, scoring.matrix.shape[1])
    of_positions = scoring.positional and not isinstance(scoring, TwoTrackScoring)
    first = rng.integers(0, count, _LONGEST)
    changed = np.where(rng.random(_LONGEST) < 0.4, rng.integers(0, count, _LONGEST), first)
    kind: Any = np.uint16 if scoring.positional else np.uint8
    queries = [each.astype(kind) for each in (first, changed)]
    if of_positions:  # a letter of a query is a position
        positions = len(scoring.matrix)
        best = scoring.matrix.argmax(axis=1)
        queries = [(np.arange(_LONGEST) + start) % positions for start in (0, 3)]
        first, queries = best[queries[0]], [each.astype(kind) for each in queries]
    targets = []
    for start, length, more in _TARGETS:
        target = first[start : start + length].copy()
        changed = rng.random(length) < 0.2
        if more:
            changed[: 2 * _FLANK] = False
        target[changed] = rng.integers(0, count, int(changed.sum()))
        if more < 0:
            target = np.delete(target, slice(_FLANK, _FLANK - more))
        if more > 0:
            target = np.insert(target, _FLANK, rng.integers(0, count, more))
        targets.append(target.astype(kind if not of_positions else np.uint8))
    return Work(queries, targets)


def best_of_prefixes(scoring: Scoring, work: Work) -> npt.NDArray[np.int64]:
    """Return the best local scores of all prefixes of the queries, shape (2, length + 1, targets).

    By the definition, see `glsw.engines.reference.rows`.
    """
    count, longest = len(work.targets), max(map(len, work.targets))
    targets = np.zeros((count, longest), work.targets[0].dtype)
    for row, target in zip(targets, work.targets, strict=True):
        row[: len(target)] = target
    lengths = np.array([len(target) for target in work.targets])
    inside = np.arange(longest + 1) <= lengths[:, None]
    queries = np.repeat(np.stack(work.queries)[:, None], count, axis=1)
    both = np.broadcast_to(targets, (2, *targets.shape))
    scores = [
        np.where(inside, row.aligned, 0).max(axis=-1).clip(0)
        for row in rows(queries, both, scoring)
    ]
    return np.maximum.accumulate(np.stack(scores, axis=1), axis=1)


def awkward(scoring: Scoring, *, backwards: bool = False) -> Batch:
    """Return pairs of awkward lengths, perhaps with their letters in the other order."""
    work, order = work_for(scoring), -1 if backwards else 1
    queries = [work.queries[p % 2][:m][::order] for p, (m, _) in enumerate(_PAIRS)]
    targets = [work.targets[target][::order] for _, target in _PAIRS]
    long = np.resize(np.concatenate(work.targets), _LONG)
    queries.append(work.queries[0][:_SHORT])
    targets.append(long[::order])
    return Batch.pairwise(Sequences.of(queries), Sequences.of(targets))


class Proofs:
    """What the engines of a device have proved, in this process and before.

    Parameters
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._expected: dict[tuple[int, str], tuple[object, Any]] = {}

    def require(self, engine: AnyEngine, family: str, trial: Callable[[], bool]) -> None:
        """Have an engine prove a family of programs, unless it has done so.

        Parameters
        ----------
        engine : Engine or Engine3
        family : str
            What distinguishes the programs, such as their macros.
        trial : callable
            Computes the work, and tells whether it is right.

        Raises
        ------
        UnprovedError
            It is wrong or fails or does not end, now or at an earlier time.
        """
        verdicts = self.device.verdicts
        key = f"{engine.name}: {family}"
        verdict = verdicts.get(key)
        if verdict is None:
            verdicts.begin(key)
            try:
                verdict = self.tried(trial)
            except BaseException:
                verdicts.forget(key)
                raise
            verdicts.put(key, verdict)
        if verdict != RIGHT:
            raise UnprovedError(engine.name, verdict)

    def tried(self, trial: Callable[[], bool]) -> str:
        """Return the verdict of a trial."""
        if self.device.endless:
            return ENDLESS
        try:
            with _bounded(self.device), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return RIGHT if trial() else "wrong results"
        except EndlessError:
            self.device.endless = True
            return ENDLESS
        except DeviceMemoryError:
            raise
        except _FAULTS as error:
            return f"fails: {str(error).splitlines()[0] if str(error) else type(error).__name__}"

    def require_task(
        self, engine: Engine, task: ProofTask, variant: Variant, fresh: Callable[[], Engine]
    ) -> None:
        """Have an engine in a variant prove the programs of a task with scorings like its own.

        ``fresh`` makes another engine like it, so that its own buffers stay as they are.
        """
        family = f"{task}, {family_of(engine.scoring)}, {variant.name}"
        self.require(engine, family, lambda: self.holds(fresh(), task))

    def holds(self, engine: Engine, task: ProofTask) -> bool:
        """Compute awkward pairs by an engine, and compare with the reference."""
        scoring, of_scores = engine.scoring, task == "score"
        batch, before = awkward(scoring), awkward(scoring, backwards=True)
        expected = self.expected(scoring, "ends", lambda: Reference(scoring).ends(batch))
        if task != "alignment":
            # Other letters come first: a device may go on with what it had before.
            compute: Callable[[Batch], Any] = engine.scores if of_scores else engine.ends
            compute(before)
            found = compute(batch)
            if of_scores:
                return bool(np.array_equal(found, expected.score))
            same = np.array_equal(found.score, expected.score)
            return bool(same and np.array_equal(found.end, expected.end))
        chosen = np.array(_TRACED)
        some, ends = batch.select(chosen), expected.end[chosen]
        engine.paths(before.select(chosen))
        paths = engine.paths(some)
        if paths is None:  # the host traces back
            return True
        traced = self.expected(scoring, "paths", lambda: list(_traced(some, scoring, ends)))
        alike = [np.array_equal(paths.coordinates(p), each) for p, each in enumerate(traced)]
        return np.array_equal(paths.ends.end, ends) and all(alike)

    def expected(self, scoring: object, what: str, compute: Callable[[], Any]) -> Any:
        """Return what is expected of a scoring, computed once."""
        key = id(scoring), what
        if key not in self._expected:
            if len(self._expected) > 8:
                self._expected.clear()
            self._expected[key] = scoring, compute()
        return self._expected[key][1]


def _traced(
    batch: Batch, scoring: Scoring, ends: npt.NDArray[np.int32]
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the alignments of pairs by the host, as coordinates."""
    for p, end in enumerate(ends.tolist()):
        yield trace(*batch.pair(p), scoring, *end)[0]


@contextmanager
def _bounded(device: Device) -> Iterator[None]:
    """In this block the device is waited for no longer than `PATIENCE`."""
    before, device.patience = device.patience, PATIENCE
    try:
        yield
    finally:
        device.patience = before


def family_of(scoring: Scoring) -> str:
    """Return what of a scoring its programs depend on.

    >>> family_of(Scoring.match_mismatch(2, -3, 5, 2))
    'match, affine, local, 15 letters'
    """
    kind = "match" if scoring.match_and_mismatch else "matrix"
    if isinstance(scoring, TwoTrackScoring):
        kind = f"two tracks of {len(scoring.first.matrix)} and {len(scoring.weighted)}"
    elif scoring.positional:
        kind = "positions"
    gaps = "linear" if scoring.linear else "affine"
    if gaps_by_position(scoring):
        gaps = "gaps by position"
    elif scoring.separate:
        gaps = f"separate {gaps}"
    mode = "local" if scoring.local else "end to end"
    return f"{kind}, {gaps}, {mode}, {scoring.matrix.shape[1]} letters"


def proofs_of(device: Device) -> Proofs:
    """Return the proofs of a device."""
    if device.proofs is None:
        device.proofs = Proofs(device)
    found = device.proofs
    assert isinstance(found, Proofs)
    return found


def warn_of(device: Device, fault: UnprovedError, instead: str) -> None:
    """Warn that a device has a fault, and what is used instead."""
    warnings.warn(
        f"{device.info.name}: {fault}; {instead} is used instead (please report what "
        "`glsw devices --test` prints)",
        DeviceFaultWarning,
        stacklevel=3,
    )
