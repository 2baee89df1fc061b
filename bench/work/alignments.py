"""Pairs or triples to align: engines that do it, in whole or in part, and what is compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial, reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bench.measure import Check, both, compare
from bench.programs import Scores
from bench.work.base import Case, Entry, Run, Setup, estimated, facts_of
from glsw.batch import Batch
from glsw.paths import Ends, Paths

Outcome: TypeAlias = "Scores | Ends | Paths"
Cells: TypeAlias = npt.NDArray[np.int32]
Right: TypeAlias = "tuple[str, npt.NDArray[Any], Cells]"
"""Who judges, which pairs or triples, and the score and end of each, shape (N, k + 1)."""


class Work(ABC):
    """A batch to align, which ``make`` returns when it is needed; ``fields`` are of its rows."""

    scores: Scores | None = None  # of all, by a fast program

    def __init__(
        self, setup: Setup, scoring: Any, make: Callable[[], Batch], fields: Mapping[str, Any]
    ) -> None:
        self.setup, self.scoring, self._make, self.fields = setup, scoring, make, fields
        self.first: tuple[str, Cells] | None = None
        """The engine whose result was the first that was right, and its scores and ends."""

    @cached_property
    def batch(self) -> Batch:
        return self._make()

    def case(self, entry: Entry, task: str, ties: str | None = None, **fields: Any) -> Case:
        """Return the case of an engine; ``ties`` are those of `Engine.ends`, if they are chosen."""
        start = partial(self._start, entry, task, {"ties": ties} if ties else {})
        return entry.case(self.setup.device, start, task=task, **{**self.fields, **fields})

    def _start(self, entry: Entry, task: str, words: Mapping[str, Any], seconds: float) -> Run:
        engine, batch = entry.made(self.scoring, self.setup.device), self.batch
        run = partial(self.call, engine, task, **words)
        check = once(partial(self.check, entry.label, words.get("ties", "conventional")))
        facts = facts_of(engine)
        return Run(
            *(partial(run, batch), check, batch.cells, estimated(run, batch)),
            facts=lambda: {**facts(), "note": facts()["note"] or self._note()},
        )

    def call(self, engine: Any, task: str, batch: Batch, **words: Any) -> Any:
        """Do what is timed."""
        return getattr(engine, task)(batch, **words)

    def _note(self) -> str | None:
        if self.first is None or len(self.batch) > 1:
            return None
        score, *ends = self.first[1][0].tolist()
        return f"score {score}, ends {', '.join(map(str, ends))}"

    # judges

    @abstractmethod
    def right(self, name: str) -> Right | None:
        """Return what is right, for an engine of this name; None for a batch that is too large."""

    @abstractmethod
    def path_scores(self, paths: Paths) -> list[int]:
        """Return what each alignment scores, letter by letter and gap by gap; -1 if it is none."""

    def check_paths(self, paths: Paths, right: Right) -> Check | None:
        """Compare alignments with the conventional ones; None where these are not known."""
        return None

    def check(self, name: str, ties: str, found: Outcome) -> Check:
        """Judge what an engine of this name found with these ties."""
        ends = found.ends if isinstance(found, Paths) else found
        cells = cells_of(ends) if isinstance(ends, Ends) else ends[:, None]
        of_first = self.first or ("the first run", cells)
        right = self.right(name) or (of_first[0], np.arange(len(cells)), of_first[1])
        judge, chosen, expected = right
        checks: list[Check | None] = []
        if self.scores is not None:
            checks.append(compare(cells[:, 0], self.scores, "parasail"))
        if self.first is not None and len(cells) > 1:
            checks.append(compare(cells[:, 0], self.first[1][:, 0], self.first[0]))
        if isinstance(ends, Ends) and ties == "conventional":
            checks.append(compare(cells[chosen], expected, judge))
        elif self.scores is None:
            checks.append(compare(cells[chosen, 0], expected[:, 0], judge))
        if isinstance(found, Paths):
            again = self.path_scores(found)
            checks.append(compare(again, cells[:, 0], "scores of the alignments"))
            if ties == "conventional" and checks[-1] and checks[-1].passed:
                checks.append(self.check_paths(found, right))
        check = reduce(both, filter(None, checks))
        if check.passed and self.first is None:
            self.first = name, cells
        return check


def cells_of(ends: Ends) -> Cells:
    """Return the score and the end of each pair or triple, shape (N, k + 1)."""
    return np.concatenate([ends.score[:, None], ends.end], axis=1).astype(np.int32)


def once(judge: Callable[[Any], Check]) -> Callable[[Any], Check]:
    """Return a check that judges in full only what differs from the last result that was right."""
    right: list[Any] = []

    def check(found: Any) -> Check:
        held = arrays(found)
        if right and all(map(np.array_equal, held, right[0])):
            checked: Check = right[1]
            return checked
        checked = judge(found)
        if checked.passed:
            right[:] = held, checked
        return checked

    return check


def arrays(outcome: Outcome) -> Iterable[npt.NDArray[Any]]:
    """Return all that a result holds."""
    if isinstance(outcome, Paths):
        return *arrays(outcome.ends), outcome.runs, outcome.offsets
    return (outcome.score, outcome.end) if isinstance(outcome, Ends) else (outcome,)
