"""The engines of ``auto``: each created when needed, in a variant that passed its self-test."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar, cast

from glsw.alignment.batch import Batch
from glsw.arrays import Int32
from glsw.device.current import UnreliableError
from glsw.device.device import Device
from glsw.engines import ENGINES
from glsw.engines.base import Engine, Progress
from glsw.engines.cpu import Cpu, is_installed, takes
from glsw.engines.reference import Reference
from glsw.scoring.scoring import Scoring
from glsw.trust.proofs import UnprovedError, warn_of

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
        Whether engines have to prove themselves on this device, see `glsw.trust`.
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
        """Return another one, in the variant that is right on this device, as far as is known."""
        variant = kind.variants_on(self._device.info)[self._turns.get(kind, 0)]
        make = kind.proving if self.proves and kind.capabilities.requires else kind
        made = make(self._scoring, self._device, **self.options_of(kind) | variant.options)
        made.rest = self._rest
        return made

    def options_of(self, kind: type[Engine]) -> dict[str, Any]:
        """Return the options of an engine, those of a variant not counted."""
        return self.options.get(kind, self.memory if kind.capabilities.memory else {})

    def usable(self, name: str) -> str:
        """Return the name of an engine, or of one on the CPU if it is faulty."""
        if name not in self.faulty:
            return name
        return Cpu.name if is_installed() and takes(self._scoring) else Reference.name

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
