"""Output on stderr: messages and warnings, one line each, and a progress bar."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TextIO, TypeVar

from glsw.caller import stages_shown
from glsw.words import visible

FoundT = TypeVar("FoundT")


class Bar(Protocol):
    """The interface of a progress bar."""

    def update(self, n: float) -> Any:
        """Add to the work done."""

    def expect(self, n: float) -> None:
        """Add to the total; a negative number lowers it."""

    def clear(self) -> Any:
        """Remove the bar, so that other text can be written."""

    def close(self) -> Any:
        """Remove the bar for good."""


_SECONDS_BEFORE, _LONG = 2.0, 10.0
"""Seconds over which a rate is measured, and from which on the whole is said to take long."""


class _NoBar:
    """A bar that shows nothing, but says once how long a long work will take."""

    def __init__(self, total: float, unit: str, quiet: bool) -> None:
        self._total, self._unit, self._done = total, unit, 0.0
        self._first: tuple[float, float] | None = None  # when, and what was done then
        self._began, self._said = time.monotonic(), quiet

    def update(self, n: float) -> None:
        """Add to the work done; say once how long all will take, if it is long.

        The first part counts for no rate: programs are compiled before it.
        """
        self._done += n
        now = time.monotonic()
        self._first = when, before = self._first or (now, self._done)
        if self._said or now - when < _SECONDS_BEFORE or self._done <= before:
            return
        self._said = True
        left = (now - when) * (self._total - self._done) / (self._done - before)
        if (seconds := now - self._began + left) > _LONG:
            say(f"{self._total:,.0f} {self._unit}s will take about {seconds:.0f} s")

    def expect(self, n: float) -> None:
        """Add to the total."""
        self._total += n

    def clear(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def say(message: object) -> None:
    """Print a one-line message to stderr; if stderr is gone, the run continues."""
    line = f"glsw: {visible(' '.join(str(message).splitlines()))}"
    try:
        if "tqdm" in sys.modules:  # there may be a bar
            sys.modules["tqdm"].tqdm.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)
    except ValueError:
        pass  # it is closed


def gcups(rate: float) -> str:
    """Return cells per second as text.

    >>> gcups(1.2346e12), gcups(3.21987e9), gcups(7780)
    ('1,235 GCUPS', '3.22 GCUPS', 'under 0.001 GCUPS')
    """
    billions = rate / 1e9
    if billions < 0.001:
        return "under 0.001 GCUPS"
    return f"{billions:,.0f} GCUPS" if billions >= 100 else f"{billions:.3g} GCUPS"


def drop(stream: TextIO) -> None:
    """Discard what is in the buffer of a stream: Python flushes it at exit, which would fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def occupy_standard_streams() -> None:
    """Open descriptors 0 to 2 if they are closed: else the next file would receive messages."""
    while (nowhere := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(nowhere, True)
    os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", errors="backslashreplace", closefd=False)


@contextmanager
def progress_bar(hidden: bool, total: int | None, unit: str = "cell") -> Iterator[Bar]:
    """Yield a progress bar, or if stderr is no terminal, a line if it takes long; none if hidden.

    Before it stand the stage of the work, if that is not the one it counts, and the part done.
    """
    if hidden or not (sys.stderr and sys.stderr.isatty()):
        yield _NoBar(total or 0, unit, hidden)
        return
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        drawn, named = 0.0, ""

        def expect(self, n: float) -> None:
            self.total = (self.total or 0) + n

        @contextmanager
        def stage(self, name: str, total: int) -> Iterator[Callable[[int], None]]:
            before, done = self.desc, 0

            def progress(n: int) -> None:
                nonlocal done
                done += n
                self.set_description(f"{name} {100 * done // max(1, total)}%", refresh=False)
                if name != self.named or time.monotonic() - self.drawn >= self.mininterval:
                    self.refresh()
                    self.drawn, self.named = time.monotonic(), name

            progress(0)
            try:
                yield progress
            finally:
                self.set_description_str(before, refresh=False)

    shown = Bar(total=total, unit=unit, unit_scale=True, leave=False, dynamic_ncols=True)
    with shown as bar, stages_shown(bar.stage):
        yield bar


def tables(found: Iterable[FoundT], cells: int, most: int, bar: Bar) -> Iterator[FoundT]:
    """Yield alignments, and adjust the total of the bar to their tables of ``cells`` each.

    If there are fewer than ``most`` alignments, one more table is computed, which has none. The
    total has one table already. It grows to ``most`` tables, and in the end shrinks to those that
    were computed. If ``most`` is 0 (all alignments), it grows by one table after each alignment.
    """
    bar.expect(cells * (max(1, most) - 1))
    number = 0
    for each in found:
        yield each
        number += 1
        if not most:
            bar.expect(cells)
    if number + 1 < most:
        bar.expect(cells * (number + 1 - most))


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print warnings as one-line messages, each text once."""
    from glsw.device.device import SoftwareRendererWarning
    from glsw.sequences.nucleic import KindWarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if str(message) not in said:
            say(message)
        said.add(str(message))

    said: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.simplefilter("ignore", KindWarning)  # a command says it in its own words
        warnings.simplefilter("once", SoftwareRendererWarning)
        warnings.showwarning = show
        yield
