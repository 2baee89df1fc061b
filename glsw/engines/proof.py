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
from bisect import bisect_left
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
from glsw.engines.reference import Reference, best_cells, rows
from glsw.paths import BestCells, Ends
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
_LONGEST = 540  # residues of sequences, of which parts are used
_LENGTHS = 1, 2, 3, 7, 8, 9, 15, 17, 24, 31, 33, 40  # of short targets
_BOUNDS = (128, 256, 512)  # lengths up to which pairs are of a size
_USUAL_LENGTHS = (97, 193, 389, 530)  # of the largest pair of a size
_FEW = 300  # rows from which there are only two pairs, which take the reference long enough
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


class Size(NamedTuple):
    """Which programs a pair needs: engines choose these by lengths, about as these bounds do.

    Parameters
    ----------
    m, n : int
        The numbers of the bounds of the query and of the target.
    """

    m: int
    n: int

    @classmethod
    def of(cls, m: int, n: int) -> Size:
        """Return the size of pairs with at most so many residues.

        >>> Size.of(128, 2000)
        Size(m=0, n=3)
        """
        return cls(bisect_left(_BOUNDS, m), bisect_left(_BOUNDS, n))

    @property
    def lengths(self) -> tuple[int, int]:
        """Residues of the largest pair of the proof."""
        return _USUAL_LENGTHS[self.m], _USUAL_LENGTHS[self.n]


SMALLEST, LARGEST = Size.of(1, 1), Size.of(2**20, 2**20)


class Work(NamedTuple):
    """Two related queries, a long target and short ones, mutated parts of them, of a scoring."""

    queries: list[npt.NDArray[Any]]
    long: npt.NDArray[Any]
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
    kind = np.uint8 if of_positions else kind

    def mutated(start: int, length: int) -> npt.NDArray[Any]:
        target = first[start : start + length].copy()
        if length > 20:  # a gap of 13, and a letter more
            target = np.insert(np.delete(first[start : start + length + 12], slice(9, 22)), 4, 0)
        elsewhere = rng.random(len(target)) < 0.2
        target[elsewhere] = rng.integers(0, count, int(elsewhere.sum()))
        return target.astype(kind)

    short = [mutated(20 * k, length) for k, length in enumerate(_LENGTHS)]
    return Work(queries, mutated(0, _LONGEST), short)


def best_of_prefixes(scoring: Scoring, work: Work, longest_query: int) -> npt.NDArray[np.int64]:
    """Return the best local scores of prefixes of the queries, shape (2, longest + 1, targets).

    By the definition, see `glsw.engines.reference.rows`.
    """
    targets, count = _padded(work.targets), len(work.targets)
    lengths = np.array([len(target) for target in work.targets])
    inside = np.arange(targets.shape[1] + 1) <= lengths[:, None]
    queries = np.repeat(np.stack(work.queries)[:, None, :longest_query], count, axis=1)
    both = np.broadcast_to(targets, (2, *targets.shape))
    scores = [
        np.where(inside, row.aligned, 0).max(axis=-1).clip(0)
        for row in rows(queries, both, scoring)
    ]
    return np.maximum.accumulate(np.stack(scores, axis=1), axis=1)


def awkward(scoring: Scoring, size: Size = SMALLEST) -> Batch:
    """Return pairs of a size with awkward lengths; of the smallest one also tiny ones."""
    work = work_for(scoring)
    m, n = size.lengths
    lengths = [(m, n), (m // 2 + 3, n // 2 + 5)]
    if m <= _FEW:
        lengths += [(m - 1, n // 2 + 9), (m // 2 + 9, n)]
    if size == SMALLEST:
        lengths += [(33, 31), (7, 65), (64, 8), (1, 1), (2, 0), (0, 4)]
    queries = [work.queries[p % 2][p : p + m] for p, (m, _) in enumerate(lengths)]
    targets = [work.long[2 * p : 2 * p + n] for p, (_, n) in enumerate(lengths)]
    return Batch.pairwise(Sequences.of(queries), Sequences.of(targets))


def ends_by_reference(scoring: Scoring, batch: Batch) -> Ends:
    """Return the ends of pairs by the reference, computed in the same rows of tables."""
    m, n = batch.query_lengths, batch.target_lengths
    queries, targets = (
        _padded([batch.pair(p)[side] for p in range(len(batch))]) for side in (0, 1)
    )
    score, i, j = best_cells(queries, targets, m, n, scoring)
    best = BestCells.of(*(np.asarray(x, np.int32) for x in (score + _offset(scoring, m, n), i, j)))
    return Reference(scoring).ends_of(batch, best)


def _padded(sequences: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return sequences as rows, zeros behind them."""
    rows = np.zeros((len(sequences), max(map(len, sequences))), sequences[0].dtype)
    for row, letters in zip(rows, sequences, strict=True):
        row[: len(letters)] = letters
    return rows


def _offset(scoring: Scoring, m: npt.NDArray[Any], n: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.asarray(scoring.score_offset(m, n), np.int64)


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
        self,
        engine: Engine,
        task: ProofTask,
        size: Size,
        variant: Variant,
        fresh: Callable[[], Engine],
    ) -> None:
        """Have an engine in a variant prove the programs of a task with scorings like its own.

        ``fresh`` makes another engine like it, so that its own buffers stay as they are.
        """
        m, n = size.lengths
        family = f"{task}, {family_of(engine.scoring)}, about {m} x {n}, {variant.name}"
        self.require(engine, family, lambda: self.holds(fresh(), task, size))

    def holds(self, engine: Engine, task: ProofTask, size: Size = SMALLEST) -> bool:
        """Compute awkward pairs by an engine, and compare with the reference."""
        scoring = engine.scoring
        batch = awkward(scoring, size)
        expected = self.expected(scoring, f"ends {size}", lambda: ends_by_reference(scoring, batch))
        if task == "score":
            return bool(np.array_equal(engine.scores(batch), expected.score))
        if task == "ends":
            found = engine.ends(batch)
            same = np.array_equal(found.score, expected.score)
            return bool(same and np.array_equal(found.end, expected.end))
        paths = engine.paths(batch)
        if paths is None:  # the host traces back
            return True
        some = [p for p in range(len(batch)) if p != 1]
        traced = self.expected(
            scoring, f"paths {size}", lambda: list(_traced(batch, some, scoring, expected.end))
        )
        alike = (
            np.array_equal(paths.coordinates(p), each) for p, each in zip(some, traced, strict=True)
        )
        return np.array_equal(paths.ends.end, expected.end) and all(alike)

    def expected(self, scoring: object, what: str, compute: Callable[[], Any]) -> Any:
        """Return what is expected of a scoring, computed once."""
        key = id(scoring), what
        if key not in self._expected:
            if len(self._expected) > 8:
                self._expected.clear()
            self._expected[key] = scoring, compute()
        return self._expected[key][1]


def _traced(
    batch: Batch, some: list[int], scoring: Scoring, ends: npt.NDArray[np.int32]
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the alignments of some pairs by the host, as coordinates."""
    for p in some:
        yield trace(*batch.pair(p), scoring, *ends[p].tolist())[0]


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
