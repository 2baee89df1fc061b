"""Engine ``cpu``: SIMD on the host by the library Opal, without OpenGL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from itertools import groupby
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Paths
from glsw.alignment.traceback import best_end
from glsw.arrays import Bool, Int32, Intp
from glsw.cores import check_threads, cores
from glsw.device.device import Device
from glsw.engines import cpu_pairs, opal
from glsw.engines.base import (
    ALL_MODES,
    Best,
    Capabilities,
    Engine,
    Pairs,
    Progress,
    Question,
    ScanHints,
    Ties,
    ignore,
)
from glsw.engines.cpu_lanes import CpuSizes, Job, LaneJobs
from glsw.engines.cpu_words import Words
from glsw.engines.reference import Reference
from glsw.engines.windows import LongTargets, cuts
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_PART = 2**26  # residues that the library takes a copy of
_FOR_ONE_THREAD = 2**20  # cells, which take less time than to start threads
_FEW = 12  # pairs of one query, below which lanes along the query are faster
_LARGEST_OF_8_BITS = 2**7 - 1


class Cpu(Engine):
    """Align one query with many targets at once, one target per SIMD lane, on all cores.

    Uses the library Opal (Korpar et al. 2015, "SW#db: GPU-accelerated exact sequence similarity
    database search", PLoS One 10), through pyopal. It starts with 8 bits and repeats pairs that
    overflow with 16 and 32, so all scores are exact.

    A pair that shares its query with few others leaves most lanes idle: one of 32 lanes reaches 0.4
    GCUPS. If installed, parasail scores such pairs, and semi-global ones with free ends of the
    query only, and computes the tables for conventional ends and alignments, see
    `glsw.engines.cpu_pairs`.

    What the libraries do not support is left to `rest`, or to NumPy with less than 0.2 GCUPS:
    alphabets of more than 26 letters, profiles, and pairs of more than 2**32 cells (so that these
    can be interrupted).

    Parameters
    ----------
    scoring : Scoring
    device : Device, optional
        Not used.
    threads : int, optional
        By default as many as this process has cores.
    limits : CpuSizes

    Raises
    ------
    DeviceError
        If pyopal is not installed.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> encode = scoring.alphabet.encode
    >>> batch = Batch.one_to_many(encode("ATCTCGTATGAT"), [encode("GTCTATCAC"), encode("TTTT")])
    >>> Cpu(scoring, threads=1).scores(batch)
    array([10,  4], dtype=int32)
    """

    name = "cpu"
    capabilities = Capabilities(
        tasks=("score", "ends", "alignment"),
        modes=ALL_MODES,
        masks=True,
        positional_gaps=True,
        workloads=("search",),
    )

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        threads: int | None = None,
        limits: CpuSizes = CpuSizes(),  # noqa: B008
    ) -> None:
        super().__init__(scoring)
        self._limits = limits
        check_threads(threads)
        self.threads = cores() if threads is None else threads
        self._opal = opal.Opal(scoring)
        self._able = opal.takes(scoring) and self._opal.algorithm != ""
        single = opal.takes(scoring) and cpu_pairs.takes(scoring)
        self._single = cpu_pairs.single_pairs(scoring, limits) if single else None
        self._words: WeakKeyDictionary[Sequences, Words] = WeakKeyDictionary()

    @property
    def where(self) -> str:
        """The processor, the number of threads, and the library."""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        single = f", parasail {self._single.version}" if self._single else ""
        return f"{processor()}, {threads}, pyopal {self._opal.version}{single}"

    @property
    def hints(self) -> ScanHints:
        """What suits scans: two seconds with two threads; the library copies its targets once."""
        return ScanHints(
            part=_PART,
            cells_at_once=2**34,
            keeps_targets=True,
            targets_at_once=self._limits.lanes * self.threads,
            targets_together=self._limits.lanes,  # of 8 bits
        )

    def answers(
        self, questions: Iterable[Question], *, progress: Progress | None = None
    ) -> Iterator[Any]:
        """Yield the answers, of several queries of a tile together if its targets are few.

        See `Engine.answers`.
        """
        for kind, some in groupby(questions, key=type):
            answers = super().answers if kind is Pairs else self._of_tiles
            yield from answers(some, progress=progress)

    def _of_tiles(self, tiles: Iterable[Any], *, progress: Progress | None) -> Iterator[Any]:
        begun: deque[_Begun] = deque()  # of which one is computed while another waits
        with self._pool() as pool:
            for tile in tiles:
                queries, part = tile.queries, tile.targets
                found = tile.room()
                some = max(1, self._limits.together // max(1, len(part)))
                for start in range(0, max(1, len(queries)), some):
                    rows = found[start : start + some]
                    index = np.indices(rows.shape, np.int32).reshape(2, -1).T
                    batch = Batch((queries.part(slice(start, start + some)), part), index)
                    self.check(batch)
                    last = start + some >= len(queries)
                    finish = self._begin(pool, batch, None)
                    answer = partial(tile.answer, found) if last else None
                    begun.append(_Begun(batch, finish, rows, answer))
                    if len(begun) > 1:
                        yield from self._ended(begun.popleft(), progress or ignore)
            while begun:
                yield from self._ended(begun.popleft(), progress or ignore)

    def _ended(self, some: _Begun, progress: Progress) -> Iterator[Any]:
        """Wait for queries that were begun; yield the answer to a tile that is done."""
        best = self.finished(some.batch, some.finish(progress), cells=False)
        some.rows[:] = best.score.reshape(some.rows.shape)
        if some.answer:
            yield some.answer()

    def best(self, asked: Pairs, progress: Progress) -> Best:
        """Return the best cell or the path of each pair; None if all pairs are too large."""
        able = asked.task != "alignment" or self._largest_table
        if able and self._cuts(asked.batch, bool(asked.ends)):
            return self.long_targets.best(asked, progress)
        return self._best(asked, progress)

    def _best(self, asked: Pairs, progress: Progress) -> Best:
        """Return the same by whole targets."""
        batch, ends = asked.batch, asked.ends
        if asked.task == "alignment":
            return self._paths(batch, progress)
        if self._single and not ends and is_small(batch) and self._fits(batch):
            progress(batch.cells)
            return self._single.alone(batch)
        with self._pool(batch) as pool:
            return self._begin(pool, batch, ends)(progress)

    @contextmanager
    def _pool(self, batch: Batch | None = None) -> Iterator[Executor]:
        """Return threads for a ``with`` block; what they have not begun at its end is left.

        Pairs so small that a thread costs more than they do are computed by the caller's.
        """
        if batch and int((batch.query_lengths * batch.target_lengths).sum()) <= _FOR_ONE_THREAD:
            yield _callers_thread()
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.threads) as pool:
            try:
                yield pool
            finally:
                pool.shutdown(cancel_futures=True)

    def _begin(
        self, pool: Executor, batch: Batch, ends: Ties | None
    ) -> Callable[[Progress], BestCells]:
        """Begin with the pairs of a batch; return what waits for their best cells."""
        cells = batch.query_lengths * batch.target_lengths
        conventional = ends is not None and (ends == "conventional" or not self.scoring.local)
        exact = batch.masks is not None or conventional
        fits = self._fits(batch)
        single = self._single if fits else None
        able = self._able and (fits or self.scoring.local)  # others wrap around in 32 bits
        left = cells > (self._largest_exact * bool(single) if exact else self._limits.long)
        left |= self._dense(batch) & (cells > self._largest_table)
        if not (able or single):
            left = cells > 0
        pairs = np.flatnonzero((cells > 0) & ~left)
        alone = pairs[: len(pairs) * (exact or not able)]
        several = len(batch.queries) > 1 or len(pairs) == 1
        if able and single and not (ends or exact) and several:
            sharing = np.bincount(batch.query_index[pairs], minlength=len(batch.queries))
            few = sharing[batch.query_index[pairs]] < _FEW
            alone = pairs[few | self._repeated(batch, pairs)]
        jobs: list[Job] = []
        if single and len(alone):
            jobs += single.begin(pool, batch, alone, self.threads, ends=bool(ends))
            pairs = np.setdiff1d(pairs, alone, assume_unique=True)
        if able and len(pairs):
            whole, first = batch.targets.origin or (batch.targets, 0)
            largest = min(_PART, self._limits.parts_of_whole * batch.targets.size)
            if not self._opal.keeps(whole) and whole.size > largest:
                whole, first = batch.targets, 0
            lanes = LaneJobs(self._opal, whole, first, batch, pairs, bool(ends), self._limits)
            jobs += lanes.begin(pool, self.threads)

        def finish(progress: Progress) -> BestCells:
            from concurrent.futures import as_completed

            found = BestCells.zeros(len(batch))
            self._put_rest(found, batch, np.flatnonzero(left), ends, progress)
            for job in as_completed(jobs) if len(jobs) > 1 else jobs:
                done, best = job.result()
                found.put(done, best)
                progress(int(cells[done].sum()))
            return found

        return finish

    def _dense(self, batch: Batch) -> Bool:
        """Tell which pairs have masks of so many pairs that rows of NumPy will be needed."""
        if batch.masks is None:
            return np.zeros(len(batch), bool)
        return batch.masks.counts > self._limits.sparse

    def _repeated(self, batch: Batch, pairs: Intp) -> Bool:
        """Tell which pairs Opal would probably repeat with 16 bits, one in all lanes."""
        queries, targets = batch.queries, batch.targets
        best = queries.longest * int(self.scoring.matrix.max())
        if len(targets) >= self._limits.few_targets or best <= _LARGEST_OF_8_BITS:
            return np.zeros(len(pairs), bool)
        words = self._words.get(targets) or self._words.setdefault(targets, Words(targets))
        return words.alike(queries)[batch.query_index[pairs], batch.target_index[pairs]]

    def _paths(self, batch: Batch, progress: Progress) -> Paths | None:
        """Return the best alignments, by whole targets; None if all are too large."""
        cells = batch.query_lengths * batch.target_lengths
        most = self._largest_exact
        if not self._traces(batch, 1) or (len(cells) and cells.min() > most):
            return None
        assert self._single
        pairs = np.flatnonzero((cells > 0) | np.full(len(batch), not self.scoring.local))
        with self._pool(batch) as pool:
            paths = self._single.paths(pool, batch, pairs, self.threads, progress)
        return Paths.merged(batch.index.shape, [(pairs, paths)])

    def traces(self, batch: Batch, *, soon: bool = False) -> bool:
        """Tell whether `_paths` finds the alignments of these pairs, none by rows of NumPy.

        If so soon, also where a whole table is needed, as for long relatives.
        """
        most = int((batch.query_lengths * batch.target_lengths).max(initial=0))
        within = not soon or most <= self._limits.table
        return within and self._traces(batch, most) and not self._dense(batch).any()

    def crops(self, batch: Batch) -> tuple[Batch, Int32]:
        """Return the part of each pair that has its local alignment, and where this begins, (N, 2).

        The alignment ends with the part. A pair whose part would be large, or is not found, stays
        whole. Pairs without masks that it `traces`.
        """
        assert self._single
        pairs = [batch.pair(p) for p in range(len(batch))]
        with self._pool(batch) as pool:
            regions = list(pool.map(self._single.region, pairs))
        first = np.array([region.first for region in regions], np.int32).reshape(-1, 2)
        end = np.array([region.end for region in regions], np.int32).reshape(-1, 2)
        sides = (
            [
                pair[k][start:stop]
                for pair, start, stop in zip(pairs, first[:, k], end[:, k], strict=True)
            ]
            for k in (0, 1)
        )
        return Batch.pairwise(*sides), first

    def _traces(self, batch: Batch, cells: int) -> bool:
        within = cells <= self._largest_exact
        return within and self._single is not None and self._fits(batch)

    def _fits(self, batch: Batch) -> bool:
        """Tell whether parasail's numbers suffice for all pairs."""
        return cpu_pairs.fits(self.scoring, sum(batch.extent[1].tolist()))

    @cached_property
    def long_targets(self) -> LongTargets:
        """What cuts the targets of short queries."""
        return LongTargets(self, self._best)

    def _cuts(self, batch: Batch, exact: bool) -> bool:
        """Tell whether windows replace targets: where no table, or nothing else, would do."""
        most = self._limits.windows if exact or batch.masks is not None else self._limits.long
        if prod(batch.extent[1].tolist()) <= most or not self._able:
            return False
        cells = int((batch.query_lengths * batch.target_lengths).max(initial=0))
        return cells > most and cuts(self, batch)

    @property
    def _largest_table(self) -> int:
        """Cells of a pair whose table is kept; 0 if a best cell may be in a gap, as with none."""
        able = self._able or not self.scoring.local
        return self._limits.table if self._single and able and self.scoring.gap_open else 0

    @property
    def _largest_exact(self) -> int:
        """Cells of a pair whose end is found, by its table or one that is a part of it."""
        local = self.scoring.local and self._largest_table
        return self._limits.passes if local else self._largest_table

    def _put_rest(
        self,
        found: BestCells,
        batch: Batch,
        pairs: Intp,
        ends: Ties | None,
        progress: Progress,
    ) -> None:
        """Put the best cells of pairs that the library does not compute, by `rest` or NumPy."""
        if not len(pairs):
            return
        some = batch.select(pairs)
        if self.rest and not ends and batch.masks is None:
            found.put(pairs, self.as_cells(some, self.rest(some, progress)))
            return
        if not self.scoring.local:
            asked = Pairs(some, "ends" if ends else "score", ends or "any")
            found.put(pairs, Reference(self.scoring).best(asked, progress))
            return
        for p in pairs:
            score, i, j = best_end(*batch.pair(int(p)), self.scoring, batch.mask(int(p)))
            found.put(np.array([p]), BestCells.of([score], [i], [j]))
            progress(int(batch.query_lengths[p] * batch.target_lengths[p]))


@cache
def _callers_thread() -> Executor:
    """Return what carries out each job when it is begun."""
    from concurrent.futures import Executor, Future

    class CallersThread(Executor):
        def submit(self, do: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
            job: Future[Any] = Future()
            job.set_result(do(*args, **options))
            return job

    return CallersThread()


class _Begun(NamedTuple):
    """Queries that are being computed."""

    batch: Batch
    finish: Callable[[Progress], BestCells]  # waits for their scores
    rows: Int32  # where these belong
    answer: Callable[[], Any] | None  # to the tile, if they are its last queries


def is_small(batch: Batch) -> bool:
    """Return whether a batch is one pair that takes less time than to ask who computes it best."""
    return len(batch) == 1 and batch.masks is None and 0 < batch.cells <= _FOR_ONE_THREAD


def computes_single(scoring: Scoring, pairs: int, queries: int) -> bool:
    """Return whether pairs of so many queries are computed one after the other."""
    few = (queries > 1 or pairs == 1) and pairs < _FEW * queries and cpu_pairs.is_installed()
    return few or not opal.algorithm_of(scoring)


is_installed = opal.is_installed


def takes(scoring: Scoring) -> bool:
    """Return whether the libraries can compute a scoring."""
    able = bool(opal.algorithm_of(scoring)) or cpu_pairs.takes(scoring)
    return Cpu.capabilities.takes(scoring) and opal.takes(scoring) and able


@cache
def processor() -> str:
    """Return the name of the processor."""
    import platform

    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "CPU"
