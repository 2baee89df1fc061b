"""Parts of a work: those from which an engine's time is estimated, and those of other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bench.measure import compare, measure, second_run
from bench.programs import Competitor, Scores
from bench.work.base import Case, Run
from glsw.batch import Batch

PROBE = 2**20
"""Cells up to which nothing is too long."""

TRIAL = 1e7
"""Cells that are always done, from which the speed of another program is estimated."""


def portion(batch: Batch, cells: float) -> Any:
    """Return the indices of evenly spaced pairs, at least one, with about this number of cells."""
    step = max(1, -(-batch.cells // max(1, int(cells))))
    return np.arange(step // 2 if step < len(batch) else 0, len(batch), step)


def start_of(batch: Batch, cells: float) -> Batch:
    """Return the starts of the sequences of a pair or triple, of at most about so many cells."""
    if batch.cells <= cells:
        return batch
    length = max(1, int(cells ** (1 / batch.k)))
    return Batch.of([[sequence[:length] for sequence in batch[0]]])


def spread(count: int, some: int) -> list[int]:
    """Return ``some`` of ``count`` indices, evenly spaced from first to last; one: the middle."""
    if some == 1:
        return [count // 2]
    return sorted({round(k) for k in np.linspace(0, count - 1, min(some, count))})


def estimated(
    run: Callable[[Batch], object], batch: Batch, times: int = 1
) -> Callable[[float], float] | None:
    """Return what tells the seconds of a batch, run so many times; None for few cells."""
    if batch.cells * times <= PROBE:
        return None
    by_parts = _seconds_of_one if len(batch) == 1 else _seconds_of_many
    return lambda limit: times * by_parts(run, batch, limit / times)


def _seconds_of_many(run: Callable[[Batch], object], batch: Batch, limit: float) -> float:
    """Return about how many seconds a batch takes, from the time of some of its pairs.

    A small part cannot keep every engine busy, which then seems slower than it is. So larger ones
    are tried while the whole seems to exceed ``limit``, until a part takes more than an eighth of
    that.
    """
    cells = max(PROBE / 16, batch.cells / 4096)
    while True:
        part = batch.select(portion(batch, cells))
        seconds = second_run(partial(run, part))
        whole = seconds * batch.cells / max(1, part.cells)
        if part.cells >= batch.cells or whole <= limit or seconds > limit / 8:
            return whole
        cells *= 8


def _seconds_of_one(run: Callable[[Batch], object], batch: Batch, limit: float) -> float:
    """Return about how many seconds a pair or triple takes, from its first eighths and quarters."""
    most = float(2**batch.k)
    eighth = second_run(partial(run, start_of(batch, batch.cells / most**3)))
    if 8 * eighth > limit:
        return 8 * eighth
    quarter = second_run(partial(run, start_of(batch, batch.cells / most**2)))
    return quarter * min(most, max(2.0, quarter / eighth)) ** 2


# other programs


class Part(NamedTuple):
    """Pairs for another program, their scores, who found these, and the cells of the whole work."""

    batch: Batch
    scores: Scores
    judge: str
    whole: int


Cut: TypeAlias = Callable[[float], Part]
"""Returns a part with about this number of cells."""


def rival_cases(
    programs: Iterable[tuple[Competitor, int]], cut: Cut, rates: dict[str, float], **fields: Any
) -> Iterator[Case]:
    """Yield a case for each program and number of cores.

    A program does what it can do three times in its seconds, at least a trial. ``rates`` keeps what
    a program did on one core, which tells what all cores can do.
    """
    for program, cores in programs:
        start = partial(_rival, program, cores, cut, rates)
        name = program.name + (f" {program.function}" if program.shown else "")
        yield Case(name, start, cores=cores or None, ours=False, version=program.version, **fields)


def _rival(
    program: Competitor, cores: int, cut: Cut, rates: dict[str, float], seconds: float
) -> Run:
    def start(cells: float) -> Run:
        part, stack = cut(cells), ExitStack()
        scores = stack.enter_context(program.prepared(part.batch))
        check = partial(compare, expected=program.listed(part.scores), judge=part.judge)
        run = Run(scores, check, part.batch.cells, whole=part.whole)
        run.facts = lambda: {"note": None if program.shown else program.function}
        run.close = stack.close
        return run

    few, name = TRIAL * (cores or 100), f"{program.name} {program.function}"
    if name not in rates:  # a GPU is fast with much work only
        with closing(start(few)) as trial:
            found = measure(trial.run, trial.check, cells=trial.cells, budget=0.0)
        rates[name] = (found.rate or 1.0) / max(1, cores)
    return start(max(few, rates[name] * max(1, cores) * seconds / 3))
