"""Dataclasses whose methods are shared, not compiled for each class.

The standard library compiles up to six methods of a class, which takes 0.4 ms: those of 70 classes
were a third of the time in which a command imported glsw. Here it compiles ``__init__`` alone.
Classes that the documentation shows, which reads how they are made, or of which there are millions
are made by `dataclasses.dataclass`: a frozen object takes 0.1 us longer per field here.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(kind=None, /, *, frozen=False, eq=True, **options):
        """Make a class a dataclass, as `dataclasses.dataclass` does.

        >>> @dataclass(frozen=True)
        ... class Pair:
        ...     first: int
        ...     second: int = 2
        >>> Pair(1), Pair(1) == Pair(1, 2), hash(Pair(1)) == hash(Pair(1, 3))
        (Pair(first=1, second=2), True, False)
        >>> Pair(1).first = 4
        Traceback (most recent call last):
            ...
        dataclasses.FrozenInstanceError: cannot assign to field 'first'
        """

        def made(kind):
            methods = {"__repr__": _shown} if options.pop("repr", True) else {}
            if frozen:
                methods |= {"__setattr__": _set, "__delattr__": _delete}
            dataclasses.dataclass(eq=False, repr=False, **options)(kind)
            if eq:
                methods |= _comparing(kind) | ({} if frozen else {"__hash__": None})
            for name, method in methods.items():
                if kind.__dict__.get(name) is None:  # as __hash__ is where there is an __eq__
                    setattr(kind, name, method)
            return kind

        return made(kind) if kind else made


def _comparing(kind: Any) -> dict[str, Any]:
    """Return the methods that compare objects, and hash them, by their fields."""
    compared = [each for each in dataclasses.fields(kind) if each.compare]
    values = attrgetter(*(each.name for each in compared))
    to_hash = attrgetter(*(each.name for each in compared if each.hash is not False))

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(to_hash(self))

    return {"__eq__": equal, "__hash__": hashed}


def _set(self: Any, name: str, value: object) -> None:
    if name in self.__dict__ or name not in self.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


@recursive_repr()
def _shown(self: Any) -> str:
    names = [each.name for each in dataclasses.fields(self) if each.repr]
    values = (f"{name}={getattr(self, name)!r}" for name in names)
    return f"{type(self).__qualname__}({', '.join(values)})"
