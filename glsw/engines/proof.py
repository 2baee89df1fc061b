"""Self-test of a device: its engines compute a small batch as `reference` does, or are replaced.

Compilers and drivers have faults, and a fault may only show in some programs. So before an engine
uses a family of programs for the first time on a device, it computes work with awkward lengths:
one residue, lengths beside the edges of tiles and strips, long gaps. Scores, ends and paths are
compared with `reference`, and the verdict is kept, see `glsw.device.verdicts`. An engine that is
wrong, fails or does not end raises `UnprovedError`: the router goes on with its next safer variant
(`AnyEngine.variants_on`), and then with another engine.
"""

from __future__ import annotations

import time
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import moderngl
import numpy as np
import numpy.typing as npt

from glsw import caller
from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import BestCells, Ends, Runs
from glsw.alignment.traceback import trace
from glsw.arrays import Int32, Int64, Intp
from glsw.device.current import DeviceError, DeviceMemoryError, UnreliableError
from glsw.device.device import Device, EndlessError
from glsw.device.shader import ShaderError
from glsw.device.verdicts import ENDLESS, RIGHT
from glsw.engines.reference import Reference, best_cells, both_padded, rows
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences, distinct, padded

if TYPE_CHECKING:
    from glsw.engines.base import Engine, Variant

FoundT = TypeVar("FoundT")
ProofTask: TypeAlias = Literal["score", "ends", "alignment", "masked"]
"""What an engine proves: its tasks, and alignments with masks."""
PATIENCE = 10.0
"""Seconds after which a program that computes a small batch is taken not to end, at most."""
_LEAST_PATIENCE, _SHARE = 1.5, 1e-2  # less than watchdogs have; of it, a tiny dispatch
_SOFTWARE_FACTOR = 30  # of the patience with software renderers: they may compile meanwhile
_LONGEST = 540  # residues of sequences, of which parts are used
_PLAIN = ((0, 1), (4, 2), (0, 3), (20, 7), (50, 8), (0, 9), (95, 15), (118, 17))
"""Short targets: where they begin in the first query, and how far they go."""
_WITH_GAPS = ((0, 64, -13), (3, 52, 12), (40, 65, -13), (195, 62, -13), (224, 50, 12))
"""The same with a long gap each: residues that are gone, or more than before."""
_GAPS = ((25, -13), (65, 12), (150, -13), (200, 12), (300, -13), (420, 12))
"""The same of the long target."""
_FLANK = 25  # residues on both sides of a gap that do not change: it is worth it
_REPEATED = 12  # residues, in pairs with several ends of the same score
_SHORT, _WIDE = 280, 1100  # of one more pair of the largest size: its target has several tiles
_BOUNDS = (128, 256)  # lengths up to which pairs are of a size
_USUAL_LENGTHS = (123, 251, 530)  # of the largest pair of a size
SIDES = range(len(_USUAL_LENGTHS))
"""Numbers of the bounds of a size."""
_FEW = 300  # rows from which there are only two pairs, which take the reference long enough
_MASKED = 2  # pairs of which the second alignment is computed too
_MOST_EXPECTED = 64  # results that are kept: one engine needs nine of a scoring
_SEED = 2006
UNSTEADY, RESET = "wrong results that do not repeat", "fails: it resets the device"
FAULTS = (
    moderngl.Error,
    DeviceError,
    ShaderError,
    ArithmeticError,
    AssertionError,
    LookupError,
    RuntimeError,
    TypeError,
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


class Tested(NamedTuple):
    """A test of a device, see `glsw.engines.device_check`."""

    engine: str
    variant: str
    work: str
    verdict: str  # `RIGHT`, or what is wrong
    seconds: float  # with the compilation of programs that are used for the first time


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
        Size(m=0, n=2)
        """
        return cls(bisect_left(_BOUNDS, m), bisect_left(_BOUNDS, n))

    @classmethod
    def each_of(cls, pairs: Batch | tuple[Sequences, Sequences]) -> list[Size]:
        """Return the sizes of the pairs of a batch, or of some sequences, each with each."""
        if not isinstance(pairs, Batch):
            sides = (distinct(sides_of(each.lengths)).tolist() for each in pairs)
            return [cls(*each) for each in product(*sides)]
        shortest, longest = (cls.of(*lengths) for lengths in pairs.extent.tolist())
        if shortest == longest:
            return [longest] * (len(pairs) > 0)
        numbers = sum((pairs.lengths > bound).astype(np.int64) for bound in _BOUNDS)
        found = np.flatnonzero(np.bincount(numbers @ np.array([len(SIDES), 1])))
        return [cls(*divmod(number, len(SIDES))) for number in found.tolist()]

    @property
    def lengths(self) -> tuple[int, int]:
        """Residues of the largest pair of the proof."""
        return _USUAL_LENGTHS[self.m], _USUAL_LENGTHS[self.n]


SIZES = SMALLEST, *_, LARGEST = [Size(k, k) for k in SIDES]
"""Sizes in which each engine uses all of its programs."""


def sides_of(lengths: Int64) -> Intp:
    """Return the numbers of the bounds of lengths, see `Size`."""
    return np.searchsorted(_BOUNDS, lengths)


class Work(NamedTuple):
    """Work of a scoring: two related queries, and what is compared with them."""

    queries: list[npt.NDArray[Any]]
    same: npt.NDArray[Any]  # a target: the first query
    long: npt.NDArray[Any]  # what it is after mutations
    targets: list[npt.NDArray[Any]]  # short ones, mutated parts of the first query


def work_for(scoring: Scoring, letters: int | None = None) -> Work:
    """Return the work for a scoring, of all letters or the first ones; always the same."""
    rng = np.random.default_rng(_SEED)
    count = min(letters or 2**16, scoring.matrix.shape[1])
    of_positions = scoring.wide_queries and not isinstance(scoring, TwoTrackScoring)
    usual = _usual_letters(scoring, count)
    rare = rng.random(_LONGEST) < 0.05
    first = np.where(rare, rng.integers(0, count, _LONGEST), rng.choice(usual, _LONGEST))
    changed = np.where(rng.random(_LONGEST) < 0.4, rng.choice(usual, _LONGEST), first)
    kind: Any = np.uint16 if scoring.wide_queries else np.uint8
    queries = [each.astype(kind) for each in (first, changed)]
    if of_positions:  # a letter of a query is a position
        positions = len(scoring.matrix)
        best = scoring.matrix.argmax(axis=1)
        queries = [(np.arange(_LONGEST) + start) % positions for start in (0, 3)]
        first, queries = best[queries[0]], [each.astype(kind) for each in queries]
    kind = np.uint8 if of_positions else kind

    def mutated(start: int, length: int, *gaps: tuple[int, int]) -> npt.NDArray[Any]:
        target, elsewhere = first[start : start + length].copy(), rng.random(length) < 0.2
        for at, _ in gaps:
            elsewhere[at - _FLANK : at + _FLANK + 13] = False
        target[elsewhere] = rng.integers(0, count, int(elsewhere.sum()))
        for at, more in reversed(gaps):
            if more < 0:
                target = np.delete(target, slice(at, at - more))
            else:
                target = np.insert(target, at, rng.integers(0, count, more))
        return target.astype(kind)

    short = [mutated(*place) for place in _PLAIN]
    short += [mutated(start, length, (_FLANK, more)) for start, length, more in _WITH_GAPS]
    return Work(queries, first.astype(kind), mutated(0, _LONGEST, *_GAPS), short)


@lru_cache(maxsize=8)
def scoring_of_trials(scoring: Scoring) -> Scoring:
    """Return a scoring like one, by which the work for it can be computed: perhaps itself.

    Where the positions of a query must follow each other, there are as many as queries are long.
    """
    if scoring.gaps is None or scoring.local:
        return scoring
    positions = np.arange(_LONGEST + 3) % len(scoring.matrix)
    return replace(  # type: ignore[call-arg]
        scoring, matrix=scoring.matrix[positions], gaps=scoring.gaps.at(positions)
    )


def _usual_letters(scoring: Scoring, count: int) -> Intp:
    """Return letters that score best with themselves: of some alphabets few do."""
    square = scoring.matrix[:count, :count]
    if scoring.wide_queries or len(square) < count:
        return np.arange(count)
    others = np.where(np.eye(count, dtype=bool), -(2**31), square)
    found = np.flatnonzero(square.diagonal() > others.max(axis=1))
    return found if len(found) else np.arange(count)


def best_of_prefixes(scoring: Scoring, work: Work, longest_query: int) -> Int64:
    """Return the best scores of prefixes of the queries, shape (2, longest + 1, targets).

    By the definition, see `glsw.engines.reference.rows`.
    """
    lengths, count = np.array([len(target) for target in work.targets]), len(work.targets)
    targets = padded(Sequences.of(work.targets), range(count), int(lengths.max()), 0)
    inside = np.arange(targets.shape[1] + 1) <= lengths[:, None]
    queries = np.repeat(np.stack(work.queries)[:, None, :longest_query], count, axis=1)
    both = np.broadcast_to(targets, (2, *targets.shape))
    if scoring.end_gaps:
        tables = [row.h for row in rows(queries, both, scoring)]
        return _end_to_end(scoring, queries[:, :1], tables, lengths)
    scores = [
        np.where(inside, row.aligned, 0).max(axis=-1).clip(0)
        for row in rows(queries, both, scoring)
    ]
    return np.maximum.accumulate(np.stack(scores, axis=1), axis=1)


def _end_to_end(
    scoring: Scoring,
    queries: npt.NDArray[np.integer],
    tables: list[Int64],
    lengths: Intp,
) -> Int64:
    """Return the same of global or semi-global scores, given the queries and H of each row."""
    m, codes = len(tables) - 1, queries.ravel()
    first = m * np.arange(len(queries))[:, None, None]
    last = np.stack([table[:, np.arange(len(lengths)), lengths] for table in tables], axis=1)
    columns = lengths[:, None] - np.arange(tables[0].shape[-1])
    found = np.empty_like(last)
    for i, table in enumerate(tables):
        ends = scoring.ends_of(codes, first, np.array(i))
        assert ends
        gaps = np.where(columns < 0, -(2**40), ends.behind(0, np.maximum(columns, 0)))
        found[:, i] = (table + gaps).max(axis=-1)
    for i in range(m + 1):
        prefixes = np.arange(i, m + 1)[:, None]
        ends = scoring.ends_of(codes, first, prefixes)
        assert ends
        rest = ends.behind(prefixes - i, 0)
        np.maximum(found[:, i:], last[:, i : i + 1] + rest, out=found[:, i:])
    return found


def awkward(scoring: Scoring, size: Size = SMALLEST, *, backwards: bool = False) -> Batch:
    """Return pairs of a size with awkward lengths; of the smallest one also tiny ones.

    Perhaps in the other order, and their letters too: scores may be the same, not where they are.
    """
    work = work_for(scoring)
    m, n = size.lengths
    lengths = [(m, n), (m, n // 2 + 5)]
    if m <= _FEW:
        lengths += [(m - 1, n // 2 + 9), (m // 2 + 9, n)]
    if size == SMALLEST:
        lengths += [(33, 31), (7, 65), (64, 8), (1, 1), (2, 0), (0, 4)]
    pairs = []
    for p, (rows_, columns) in enumerate(lengths):
        # Every other alignment ends where the longer sequence does, the rest where the shorter one.
        i, j = (max(0, columns - rows_), max(0, rows_ - columns)) if p % 2 else (p, 2 * p)
        pairs.append((work.queries[p // 2 % 2][i : i + rows_], work.long[j : j + columns]))
    repeated, follow = list(_repeated(work, m, n)), scoring.gaps and not scoring.local
    if follow:  # the positions of a query
        repeated = [(work.queries[0][: len(query)], target) for query, target in repeated]
    pairs += repeated
    if size == LARGEST:
        pairs.append((work.queries[0][:_SHORT], np.resize(work.long[::-1], _WIDE)[::-1]))
    orders = (1, 1)
    if backwards:
        pairs, orders = pairs[::-1], (1 if follow else -1, -1)
    both = (Sequences.of([pair[side][:: orders[side]] for pair in pairs]) for side in (0, 1))
    return Batch.pairwise(*both)


def _repeated(work: Work, m: int, n: int) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Yield pairs of m and n residues at most whose best score several ends have."""
    (a, c, _), (b, d, _) = (
        np.split(letters, (_REPEATED, length - _REPEATED))
        for letters, length in ((work.queries[0], m), (work.same, n))
    )
    yield np.concatenate([a, c[_REPEATED:], a]), b
    # A shorter query would need programs of another size.
    yield np.concatenate([a, c[::-1]]), np.concatenate([b, d[_REPEATED:], b])
    yield (
        np.concatenate([a[::-1], c[_REPEATED:], a]),
        np.concatenate([b, d[: _REPEATED - 1 : -1], b[::-1]]),
    )


def ends_by_reference(scoring: Scoring, batch: Batch) -> Ends:
    """Return the ends of pairs by the reference, computed in the same rows of tables."""
    m, n = batch.query_lengths, batch.target_lengths
    score, i, j = best_cells(*both_padded(batch), m, n, scoring)
    best = BestCells.of(*(np.asarray(x, np.int32) for x in (score + _offset(scoring, m, n), i, j)))
    return Reference(scoring).ends_of(batch, best)


def _offset(scoring: Scoring, m: npt.NDArray[Any], n: npt.NDArray[Any]) -> Int64:
    return np.asarray(scoring.score_offset(m, n), np.int64)


class Proofs:
    """What the engines of a device have proved, in this process and before."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._expected: dict[tuple[int, str], tuple[object, Any]] = {}

    def require(self, engine: str, family: str, trial: Callable[[], bool]) -> None:
        """Have an engine prove a family of programs, unless it has done so.

        Nothing is known where the device lacks memory for it.

        The family is what distinguishes them, such as their macros. The trial computes the work,
        and tells whether it is right.

        Raises
        ------
        UnprovedError
            It is wrong or fails or does not end, now or at an earlier time.
        """
        self._check(engine)
        verdicts = self.device.verdicts
        key = f"{engine}: {family}"
        verdict = self.verdict(engine, family)
        if verdict is None:
            again = verdicts.begin(key)
            try:
                verdict = self.tried(trial)
            except (DeviceMemoryError, MemoryError):  # for work that may be more than is asked
                verdicts.forget(key)
                return
            except BaseException:
                verdicts.forget(key)
                raise
            if verdict != ENDLESS and self.device.trouble:  # no verdict on the program
                verdicts.forget(key)
            elif verdict != ENDLESS or again:  # others may have kept the device busy
                verdicts.put(key, verdict)
        if verdict != RIGHT:
            raise UnprovedError(engine, verdict)

    def verdict(self, engine: str, family: str) -> str | None:
        """Return the verdict on a family of programs, None if there is none yet."""
        return self.device.verdicts.get(f"{engine}: {family}")

    def _check(self, engine: str) -> None:
        if self.device.trouble:
            raise UnprovedError(engine, self.device.trouble)

    def tried(self, trial: Callable[[], bool]) -> str:
        """Return the verdict of a trial, in which no wait takes longer than `PATIENCE`.

        A compiler's fault repeats. A device on which one does not repeat is not used any more.
        """
        device = self.device
        if device.trouble:
            return f"not tried: {device.trouble}"
        verdict, _ = self._outcome(trial)
        if verdict not in (RIGHT, RESET, ENDLESS):  # the first one has read more: of new programs
            first, second = (self._outcome(trial) for _ in range(2))
            if first != second or first[0] != verdict:
                verdict = device.trouble = UNSTEADY
        return verdict

    def _outcome(self, trial: Callable[[], bool]) -> tuple[str, int]:
        """Return the verdict of a trial, and a digest of all that it has read."""
        with self.device as device:
            reads = device.readback
        reads.digest = 0
        return self._verdict(trial), reads.digest

    def _verdict(self, trial: Callable[[], bool]) -> str:
        device = self.device
        before = device.patience
        device.patience = PATIENCE * (_SOFTWARE_FACTOR if device.info.software else 1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not device.info.software:
                    least = max(_LEAST_PATIENCE, self._latency() / _SHARE)
                    device.patience = min(PATIENCE, least)
                return RIGHT if trial() else "wrong results"
        except EndlessError:
            device.trouble = ENDLESS
            return ENDLESS
        except UnreliableError:
            return device.trouble
        except (DeviceMemoryError, MemoryError):
            raise
        except FAULTS as error:
            if device.closed:  # it has lost its context
                if not device.guilty:  # by the work of others
                    raise
                device.reopen()
                return RESET
            with device, device.checked("allocating 4 bytes"):  # any error may say that it is full
                device.ctx.buffer(reserve=4).release()
            return f"fails: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        finally:
            device.patience = before

    def _latency(self) -> float:
        """Return the seconds of a tiny dispatch: many if others keep the device busy."""
        with self.device as device:
            buffer = device.ctx.buffer(bytes(4))
            for _ in range(2):  # the first one compiles
                start = time.perf_counter()
                device.readback.read(buffer, 4)
            buffer.release()
        return time.perf_counter() - start

    def tested(self, engine: str, variant: str, work: str, trial: Callable[[], bool]) -> Tested:
        """Return the verdict of a trial of an engine, and how long it takes."""
        start = time.perf_counter()
        return Tested(engine, variant, work, self.tried(trial), time.perf_counter() - start)

    def require_task(
        self,
        engine: Engine,
        task: ProofTask,
        size: Size,
        variant: Variant,
        fresh: Callable[[], Engine],
    ) -> None:
        """Have an engine in a variant prove the programs of a task with scorings like its own.

        ``fresh`` makes another engine like it, so that its own buffers stay as they are, for the
        `scoring_of_trials`.
        """
        family = family_of_task(engine.scoring, task, size, variant)
        self.require(engine.name, family, lambda: self.holds(fresh(), task, size))

    def holds(self, engine: Engine, task: ProofTask, size: Size = SMALLEST) -> bool:
        """Compute awkward pairs by an engine, and compare with the reference."""
        scoring = engine.scoring
        batch = awkward(scoring, size)
        expected = self.expected(scoring, f"ends {size}", lambda: ends_by_reference(scoring, batch))
        before = awkward(scoring, size, backwards=True)  # a device may go on with what it had
        if task == "score":
            engine.scores(before)
            same = np.array_equal(engine.scores(batch), expected.score)
            return bool(same and engine.agrees(batch))
        if task == "ends":
            engine.ends(before)
            return _has_ends(engine.ends(batch), expected)
        paths = self.expected(
            scoring, f"paths {size}", lambda: list(traced(batch, scoring, expected.end))
        )
        if task == "masked":
            return self._holds_masked(engine, batch, size, paths[:_MASKED])
        engine.paths(before)
        return _has_paths(engine, batch, expected, paths)

    def _holds_masked(self, engine: Engine, batch: Batch, size: Size, found: list[Int64]) -> bool:
        """Tell whether an engine finds the next alignments that share no pair with those found."""
        scoring, some = engine.scoring, batch.select(np.arange(len(found)))
        pairs = zip(some.query_lengths.tolist(), found, strict=True)
        masked = some.masked(
            Mask.nothing(m).with_runs(Runs.of_coordinates([path])) for m, path in pairs
        )

        def expected() -> tuple[Ends, list[Int64]]:
            ends = Reference(scoring).ends(masked)
            return ends, list(traced(masked, scoring, ends.end))

        ends, paths = self.expected(scoring, f"masked {size}", expected)
        return _has_ends(engine.ends(masked), ends) and _has_paths(engine, masked, ends, paths)

    def expected(self, scoring: object, what: str, compute: Callable[[], Any]) -> Any:
        """Return what is expected of a scoring, computed once."""
        key = id(scoring), what
        if key not in self._expected:
            if len(self._expected) > _MOST_EXPECTED:
                self._expected.clear()
            self._expected[key] = scoring, compute()
        return self._expected[key][1]


def _has_ends(found: Ends, expected: Ends) -> bool:
    same = np.array_equal(found.score, expected.score)
    return bool(same and np.array_equal(found.end, expected.end))


def _has_paths(engine: Engine, batch: Batch, ends: Ends, traced: list[Int64]) -> bool:
    """Tell whether an engine finds these paths, or leaves that to the host."""
    paths = engine.paths(batch)
    if paths is None:
        return True
    alike = (np.array_equal(paths.coordinates(p), each) for p, each in enumerate(traced))
    return np.array_equal(paths.ends.end, ends.end) and all(alike)


def tasks_of(kind: type[Engine], scoring: Scoring) -> tuple[ProofTask, ...]:
    """Return what an engine proves before it is used by its name."""
    tasks: tuple[ProofTask, ...] = kind.capabilities.tasks
    return (*tasks, "masked") if kind.capabilities.masks and scoring.local else tasks


def traced(batch: Batch, scoring: Scoring, ends: Int32) -> Iterator[Int64]:
    """Yield the alignments of pairs by the host, as coordinates."""
    for p in range(len(batch)):
        yield trace(*batch.pair(p), scoring, *ends[p].tolist(), mask=batch.mask(p))[0].coordinates()


def family_of(scoring: Scoring) -> str:
    """Return what of a scoring its programs depend on.

    >>> family_of(Scoring.match_mismatch(2, -3, 5, 2))
    'match, affine, local, 15 letters'
    """
    kind = "match" if scoring.match_and_mismatch else "matrix"
    if isinstance(scoring, TwoTrackScoring):
        kind = f"two tracks of {len(scoring.first.matrix)} and {len(scoring.weighted)}"
    elif scoring.wide_queries:
        kind = "positions"
    gaps = "linear" if scoring.linear else "affine"
    if scoring.gaps:
        gaps = "gaps by position"
    elif scoring.separate:
        gaps = f"separate {gaps}"
    mode = "local" if scoring.local else "end to end"
    return f"{kind}, {gaps}, {mode}, {scoring.matrix.shape[1]} letters"


def family_of_task(scoring: Scoring, task: ProofTask, size: Size, variant: Variant) -> str:
    """Return what distinguishes the programs of a task."""
    m, n = size.lengths
    return f"{task}, {family_of(scoring)}, about {m} x {n}, {variant.name}"


def first_right(
    device: Device, variants: Sequence[Variant], prove: Callable[[Variant], FoundT], other: str
) -> FoundT | None:
    """Return what ``prove`` returns of the first variant that is right, if one is.

    It raises `UnprovedError` for those that are not; ``other`` is what is used if none is.
    """
    for number, variant in enumerate(variants):
        try:
            return prove(variant)
        except UnprovedError as fault:
            rest = variants[number + 1 :] if not device.trouble else ()
            if not variant.optional:
                warn_of(device, fault, f"the variant with {rest[0].name}" if rest else other)
            if not rest:
                break
    return None


def proofs_of(device: Device) -> Proofs:
    """Return the proofs of a device."""
    if device.proofs is None:
        device.proofs = Proofs(device)
    found = device.proofs
    assert isinstance(found, Proofs)
    return found


def warn_of(device: Device, fault: UnprovedError | UnreliableError, instead: str) -> None:
    """Warn that a device has a fault, and what is used instead."""
    told = str(fault).removeprefix(f"{device.info.name}: ")
    caller.warn(
        f"{device.info.name}: {told}; {instead} is used instead (please report what "
        "`glsw devices --test` prints)",
        DeviceFaultWarning,
    )
