"""Warnings point at the line that called the package, whichever module has a reason to warn."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent) + os.sep
_said: set[str] = set()


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
