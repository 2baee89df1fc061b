"""Another program in several processes, which share the pairs."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from bench.generated import shares
from bench.programs import SHARES, Competitor, Scores
from glsw.batch import Batch


class Processes(Competitor):
    """A program in several processes, which take shares of the pairs one after the other.

    They are started, and all pairs are prepared in each, before the clock starts.

    Parameters
    ----------
    make : callable
        Makes the program in each process; it has to be picklable.
    cores : int
    """

    def __init__(self, make: Callable[[], Competitor], cores: int) -> None:
        self._make, self._cores = make, cores
        one = make()
        self.name, self.version, self.function = one.name, one.version, one.function

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            # Through a file: what goes through a pipe is written while each process starts.
            path = Path(folder, "pairs")
            path.write_bytes(pickle.dumps(batch.compact()))
            with ProcessPoolExecutor(
                self._cores,
                get_context("spawn"),
                initializer=_keep,
                initargs=(self._make, path),
            ) as pool:
                for started in [pool.submit(_kept_scores, range(0)) for _ in range(self._cores)]:
                    started.result()
                yield pool, shares(batch, SHARES * self._cores)

    def scores(self, prepared: Any) -> Scores:
        pool, parts = prepared
        return np.concatenate(list(pool.map(_kept_scores, parts)))


_kept: tuple[ExitStack, Competitor, Any]


def _keep(make: Callable[[], Competitor], path: Path) -> None:
    """Prepare in a process what it works on, the pairs in a file."""
    global _kept
    batch: Batch = pickle.loads(path.read_bytes())
    stack, competitor = ExitStack(), make()
    _kept = stack, competitor, stack.enter_context(competitor.prepared(batch))


def _kept_scores(pairs: range) -> Scores:
    _, competitor, prepared = _kept
    return competitor.scores(competitor.part(prepared, pairs))
