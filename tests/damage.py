"""Files that are cut or have a flipped bit: which of them a reader takes for whole ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def cuts(data: bytes, count: int) -> Iterator[bytes]:
    """Yield beginnings of some bytes."""
    for size in random.Random(1).choices(range(len(data)), k=count):
        yield data[:size]


def flips(data: bytes, count: int) -> Iterator[bytes]:
    """Yield bytes with one other bit."""
    for bit in random.Random(2).choices(range(8 * len(data)), k=count):
        at = bit // 8
        yield data[:at] + bytes([data[at] ^ 1 << bit % 8]) + data[at + 1 :]


def accepted(path: Path, look: Callable[[Path], Any], damaged: Iterator[bytes]) -> list[Any]:
    """Return what a reader returns of a file with damaged contents, where it refuses none.

    A refusal is a ValueError of one line; the file is as before at the end.
    """
    data, found = path.read_bytes(), []
    for each in damaged:
        path.write_bytes(each)
        try:
            found.append(look(path))
        except ValueError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017
            assert str(path) in str(error)  # noqa: PT017
    path.write_bytes(data)
    return found
