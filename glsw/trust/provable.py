"""The self-test protocol: which kinds of programs there are, and what each must compute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from glsw.device.device import Device
from glsw.device.info import DeviceInfo
from glsw.trust.proofs import Proofs, UnprovedError, warn_of
from glsw.trust.verdicts import RIGHT

if TYPE_CHECKING:
    from typing_extensions import Self

ProvableT = TypeVar("ProvableT", bound="Provable")


class Variant(NamedTuple):
    """A variant of an engine: the usual one, or a safer one where that is wrong on a device."""

    name: str
    options: dict[str, Any]  # of the engine's constructor
    differs: Callable[[DeviceInfo], bool] = lambda info: True
    """Tells whether it differs from the one before it on a device, and may be right there."""
    optional: bool = False  # a faster variant that devices need not do right


USUAL = Variant("usual", {})


class Trial(NamedTuple):
    """A row of `glsw devices --test`."""

    work: str
    given: tuple[Any, ...]  # to the constructor, before the device
    task: Hashable
    """What `Provable.every` has kinds of programs for."""


class Provable(ABC):
    """What computes on a device, and proves each kind of its programs before it uses them.

    A kind is anything hashable: of an engine of two sequences a task and a size of pairs, of
    ``lanes`` a geometry. A class owes to trust:

    ========== ===================================================================
    `checks`   yields what the programs of a kind compute, and what is right
    `family`   names all that these programs depend on, such as features of a scoring
    `every`    the kinds of programs that do a task, for `devices --test`
    `trials`   the rows of that test
    `variants` safer ways to compute, in the order in which they are tried
    ========== ===================================================================

    and a call of `prove` with the kinds that its work needs, before that. `Engine` does all of
    this for engines of two sequences.
    """

    name: ClassVar[str]
    variants: ClassVar[tuple[Variant, ...]] = (USUAL,)
    proves: bool = False
    """Whether it has to prove what it computes; otherwise it is believed."""
    given: tuple[Any, ...]
    options: dict[str, Any]
    """What it was made with, by position and by name."""
    _proved: set[Hashable]

    def __new__(cls, *given: Any, **options: Any) -> Self:
        """Return one that knows what it was made with."""
        made = super().__new__(cls)
        made.given, made.options, made._proved = given, options, set()
        return made

    @classmethod
    def proving(cls, *given: Any, **options: Any) -> Self:
        """Return one that has to prove what it computes."""
        made = cls(*given, **options)
        made.proves = True
        return made

    def fresh(self) -> Self:
        """Return one like it that computes the checks, so that its own buffers stay as they are."""
        return type(self)(*self.given, **self.options)

    @classmethod
    def variants_on(cls, info: DeviceInfo) -> tuple[Variant, ...]:
        """Return the variants to try on a device."""
        return tuple(each for each in cls.variants if each.differs(info))

    @property
    def form(self) -> str:
        """The options on which its programs may depend."""
        given = (f"{key} {value}" for key, value in self.options.items() if key != "memory")
        return ", ".join(given) or USUAL.name

    @property
    @abstractmethod
    def device(self) -> Device:
        """Where it computes."""

    @classmethod
    @abstractmethod
    def trials(cls) -> Iterable[Trial]:
        """Return the rows of `glsw devices --test`."""

    def every(self, task: Any) -> Iterable[Hashable]:
        """Return the kinds of programs that do a task."""
        return [task]

    @abstractmethod
    def family(self, kind: Any) -> str:
        """Return what identifies the programs of a kind among others of this name, in one line."""

    @abstractmethod
    def checks(self, kind: Any) -> Iterator[tuple[Any, Any]]:
        """Yield what the programs of a kind compute, and what is right: numbers or arrays."""

    def holds(self, kind: Hashable) -> bool:
        """Tell whether the programs of a kind compute what is right."""
        return all(np.array_equal(*each) for each in self.fresh().checks(kind))

    def prove(self, kinds: Iterable[Hashable]) -> None:
        """Prove kinds of programs, unless they are proved; UnprovedError if one is wrong."""
        if self.proves:
            for kind in kinds:
                if kind not in self._proved:
                    trial = partial(self.holds, kind)
                    Proofs.of(self.device).require(self.name, self.family(kind), trial)
                    self._proved.add(kind)

    def verdict(self, kind: Hashable) -> str | None:
        """Return what is known of a kind of programs; of one that is believed, nothing."""
        if not self.proves:
            return None
        return Proofs.of(self.device).verdict(self.name, self.family(kind))

    def has_proved(self, kinds: Iterable[Hashable]) -> bool:
        """Tell whether one of some kinds is known to be right, and none to be wrong."""
        found = set(map(self.verdict, kinds))
        return RIGHT in found and found <= {RIGHT, None}


def first_right(
    kind: type[ProvableT],
    tasks: Iterable[Hashable],
    other: str,
    scoring: Any,
    device: Device,
    **options: Any,
) -> ProvableT | None:
    """Return an engine in the first variant that proves some tasks on a device, if one does.

    Variants that contradict the options are not tried; ``other`` is used if none is right.
    """
    able = [
        each
        for each in kind.variants_on(device.info)
        if all(options.get(key, value) == value for key, value in each.options.items())
    ]
    for number, variant in enumerate(able):
        made = kind.proving(scoring, device, **options | variant.options)
        try:
            for task in tasks:
                made.prove(made.every(task))
            return made
        except UnprovedError as fault:
            rest = able[number + 1 :] if not device.trouble else ()
            if not variant.optional:
                warn_of(device, fault, f"the variant with {rest[0].name}" if rest else other)
            if not rest:
                break
    return None
