"""Dataclasses of `glsw.frozen` do what those of the standard library do."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest

from glsw import frozen


def _point(dataclass: Callable[..., Any]) -> Any:
    @dataclass(frozen=True)
    class Point:
        """A place."""

        x: int
        y: list[int] = dataclasses.field(default_factory=list, compare=False)
        z: int = dataclasses.field(default=3, repr=False)
        more: dict[str, int] = dataclasses.field(default_factory=dict, hash=False)
        half: float = dataclasses.field(init=False, default=0.5)

        def __post_init__(self) -> None:
            object.__setattr__(self, "half", self.x / 2)

        @cached_property
        def twice(self) -> int:
            return 2 * self.x

    return Point


def _named(dataclass: Callable[..., Any], **options: bool) -> Any:
    @dataclass(**options)
    class Named:
        name: str
        weight: float = 1.0

        def __repr__(self) -> str:
            return f"<{self.name}>"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and self.name == other.name

    return Named


def _both(make: Callable[..., Any], **options: bool) -> list[Any]:
    return [make(each, **options) for each in (frozen.dataclass, dataclasses.dataclass)]


def _outcome(action: Callable[..., object], *words: object) -> object:
    try:
        return action(*words)
    except (TypeError, AttributeError) as error:
        return type(error), str(error).partition(".<locals>.")[2] or str(error)


@pytest.mark.parametrize(
    "action",
    [
        lambda kind: repr(kind(1, [2], 4)).rpartition(".")[2],
        lambda kind: repr(kind(1)).partition("Point")[2],
        lambda kind: (kind(1) == kind(1, [2]), kind(1) == kind(2), kind(1) == kind(1, z=4)),
        lambda kind: (kind(1) != kind(1), kind(1) == 1, kind(1).__eq__(1)),
        lambda kind: (hash(kind(1)) == hash(kind(1, [2])), hash(kind(1)) == hash(kind(2))),
        lambda kind: len({kind(1), kind(1, more={"a": 1}), kind(2)}),
        lambda kind: setattr(kind(1), "x", 2),
        lambda kind: setattr(kind(1), "half", 2),
        lambda kind: setattr(kind(1), "other", 2),
        lambda kind: delattr(kind(1), "x"),
        lambda kind: (kind(3).half, kind(3).twice, dataclasses.replace(kind(3), x=4).half),
        lambda kind: dataclasses.astuple(copy.deepcopy(kind(3, [4]))),
        lambda kind: [each.name for each in dataclasses.fields(kind)],
        lambda kind: (kind.__match_args__, kind.__doc__, dataclasses.is_dataclass(kind)),
        lambda kind: kind(),
        lambda kind: kind(1, w=2),
    ],
)
def test_a_frozen_class_does_the_same(action: Callable[[Any], object]) -> None:
    found, expected = (_outcome(action, kind) for kind in _both(_point))
    assert found == expected


@pytest.mark.parametrize("options", [{}, {"eq": False}, {"frozen": True}, {"repr": False}])
def test_own_methods_stay(options: dict[str, bool]) -> None:
    for kind in _both(_named, **options):
        assert repr(kind("a")) == "<a>"
        assert kind("a") == kind("a", 2.0) != kind("b")
        assert ("frozen" in options) == (kind.__hash__ is not None)
        changed = kind("a")
        outcome = _outcome(setattr, changed, "name", "c")
        assert (outcome is None) == ("frozen" not in options)


@frozen.dataclass(frozen=True)
class _Kept:
    a: int
    b: str = "x"


def test_objects_are_pickled() -> None:
    found = pickle.loads(pickle.dumps(_Kept(1)))
    assert found == _Kept(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.a = 2
