"""The engines of a router: each made when it is first needed, in a variant that is right here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, TypeVar, cast

from glsw.alignment.batch import Batch
from glsw.arrays import Int32
from glsw.device.current import UnreliableError
from glsw.device.device import Device
from glsw.device.verdicts import RIGHT
from glsw.engines import ENGINES
from glsw.engines.base import Engine, Progress, Variant
from glsw.engines.cpu import Cpu, is_installed, takes
from glsw.engines.proof import (
    SIDES,
    ProofTask,
    Size,
    UnprovedError,
    family_of_task,
    proofs_of,
    scoring_of_trials,
    warn_of,
)
from glsw.engines.reference import Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

_SHARING = {"diagonal", "blocked"}  # their buffers
EngineT = TypeVar("EngineT", bound=Engine)
TaskT = TypeVar("TaskT")
FoundT = TypeVar("FoundT")


class Roster:
    """The engines of a router, by their types.

    Parameters
    ----------
    scoring : Scoring
    device : Device
    memory : int or None
        As of `Auto`, for each engine that takes it and has no options of its own.
    proves : bool
        Whether engines have to prove themselves on this device, see `glsw.engines.proof`.
    faulty : iterable of str
        Engines that are wrong on this device in all of their variants, and are not used.
    rest : callable
        See `Engine.rest`.
    """

    def __init__(
        self,
        scoring: Scoring,
        device: Device,
        memory: int | None,
        proves: bool,
        faulty: Iterable[str],
        rest: Callable[[Batch, Progress], Int32],
    ) -> None:
        self.options: dict[type[Engine], dict[str, Any]] = {}
        self.made: dict[type[Engine], Engine] = {}
        self.memory = {} if memory is None else {"memory": memory}
        self.proves, self.faulty = proves, set(faulty)
        self._scoring, self._device, self._rest = scoring, device, rest
        self._turns: dict[type[Engine], int] = {}  # which variant of each
        self._opened = device.opened
        self._proved: set[tuple[type[Engine], ProofTask, Size]] = set()

    def engine(self, kind: type[EngineT]) -> EngineT:
        """Return the one instance of an engine, made anew where the device was opened anew."""
        if self._opened != self._device.opened:
            self._opened = self._device.opened
            self.made.clear()
        if kind not in self.made:
            made = self.another(kind)
            for other in self.made.values():
                if {kind.name, other.name} == _SHARING:
                    made.share_buffers(other)  # type: ignore[attr-defined]
            self.made[kind] = made
        return cast("EngineT", self.made[kind])

    def another(self, kind: type[Engine]) -> Engine:
        """Return another instance of an engine."""
        made = self._like(kind, self._scoring)
        made.rest = self._rest
        if self.proves and kind.capabilities.requires:
            made.proofs = proofs_of(self._device)
        return made

    def options_of(self, kind: type[Engine]) -> dict[str, Any]:
        """Return the options of an engine, those of a variant not counted."""
        return self.options.get(kind, self.memory if kind.capabilities.memory else {})

    def _like(self, kind: type[Engine], scoring: Scoring) -> Engine:
        """Return an engine in the variant that is right on this device, as far as that is known."""
        options = self.options_of(kind) | self._variant(kind).options
        return kind(scoring, self._device, **options)

    def _variant(self, kind: type[Engine]) -> Variant:
        return kind.variants_on(self._device.info)[self._turns.get(kind, 0)]

    def usable(self, name: str) -> str:
        """Return the name of an engine, or if it is faulty of one of the processor."""
        if name not in self.faulty:
            return name
        return Cpu.name if is_installed() and takes(self._scoring) else Reference.name

    def prove(
        self, engine: Engine, task: ProofTask, pairs: Batch | tuple[Sequences, Sequences]
    ) -> None:
        """Have an engine prove that it does a task with such pairs, or each with each.

        Raises
        ------
        UnprovedError
            If it does not.
        """
        kind = type(engine)
        if engine.proofs is None or engine.proves_programs:
            return
        for size in Size.each_of(pairs):
            if (kind, task, size) not in self._proved:
                variant, trials = self._variant(kind), scoring_of_trials(self._scoring)
                fresh = partial(self._like, kind, trials)
                engine.proofs.require_task(engine, task, size, variant, fresh)
                self._proved.add((kind, task, size))

    def has_proved(self, engine: Engine, task: ProofTask, side: int) -> bool:
        """Tell whether an engine is known to do a task with queries of a size, with any target."""
        if engine.proofs is None:
            return False
        variant, sizes = self._variant(type(engine)), [Size(side, n) for n in SIDES]
        families = [family_of_task(self._scoring, task, size, variant) for size in sizes]
        found = {engine.proofs.verdict(engine.name, family) for family in families}
        return RIGHT in found and found <= {RIGHT, None}

    def replace(self, fault: UnprovedError | UnreliableError) -> None:
        """Go on with the next variant of an engine that is wrong here, or else without it.

        If it is the device that cannot be relied on, go on without its engines.
        """
        device = self._device
        if device.trouble:
            every = {name for name, each in ENGINES.items() if each.capabilities.requires}
            self.faulty |= every
            warn_of(device, fault, f"engine {self.usable(next(iter(every)))!r}")
            return
        assert isinstance(fault, UnprovedError)
        kind = ENGINES[fault.engine]
        turn = self._turns.get(kind, 0) + 1
        self._proved.clear()
        self.made.pop(kind, None)
        variants = kind.variants_on(device.info)
        if turn < len(variants):
            self._turns[kind] = turn
            warn_of(device, fault, f"the variant with {variants[turn].name}")
            return
        self.faulty.add(kind.name)
        warn_of(device, fault, "another engine")


def repeated(
    tasks: Iterable[TaskT],
    compute: Callable[[Iterator[TaskT]], Iterator[FoundT]],
    replace: Callable[[UnprovedError | UnreliableError], None],
) -> Iterator[FoundT]:
    """Yield what ``compute`` finds of each task; those that an engine does wrong, once more.

    ``replace`` is called before, with what is wrong.
    """
    remaining = iter(tasks)
    begun: deque[TaskT] = deque()

    def beginning(left: Iterator[TaskT]) -> Iterator[TaskT]:
        for task in left:
            begun.append(task)
            yield task

    while True:
        try:
            for found in compute(beginning(remaining)):
                begun.popleft()
                yield found
            return
        except (UnprovedError, UnreliableError) as fault:
            replace(fault)
            remaining = chain(list(begun), remaining)
            begun.clear()
