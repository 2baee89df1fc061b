"""Warnings at the line that called the package, and the stages of work for progress bars."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

Stages: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Shows a stage, given its name and how much there is to do, in a ``with`` block.

The block gets what to call with the work that was done since the last call.
"""

_PACKAGE = str(Path(__file__).parent) + os.sep
_said: set[str] = set()


def _unseen(name: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    return nullcontext(lambda _: None)


_stages: ContextVar[Stages] = ContextVar("stages", default=_unseen)


def warn(text: str, category: type[Warning], *, once: str = "") -> None:
    """Warn at the line that called the package.

    As Python has it, the same warning at the same line is shown once. With ``once``, which names
    what is warned of, it is once in this process.
    """
    if once in _said:
        return
    if once:
        _said.add(once)
    frame, level = sys._getframe(1), 2
    while frame.f_back and _is_ours(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _is_ours(path: str) -> bool:
    return path.startswith(_PACKAGE) or path == contextlib.__file__


def stage(name: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Return a block for a stage of work that is not counted in cells, see `Stages`.

    Without a name it is not shown.

    >>> with stage("alignment", 10) as done:
    ...     done(4)
    """
    return (_stages.get() if name else _unseen)(name, total)


@contextmanager
def stages_shown(show: Stages) -> Iterator[None]:
    """Have the stages in a block shown."""
    before = _stages.set(show)
    try:
        yield
    finally:
        _stages.reset(before)
