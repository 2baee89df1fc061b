"""Progress of work that stands for other work: of windows that overlap, for the targets cut."""

from __future__ import annotations

from collections import deque

from glsw.engines.base import Progress


class Proportion:
    """Report cells in proportion to the work that computes them, and exactly all in the end.

    Parameters
    ----------
    progress : callable
        Called with the number of cells finished since the last call.

    Examples
    --------
    >>> finished = []
    >>> heard = Proportion(finished.append)
    >>> heard.expect(24, 15)
    >>> heard.expect(10, 10)
    >>> for done in (10, 20, 4):
    ...     heard(done)
    >>> finished
    [6, 15, 4]
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._expected: deque[tuple[int, int]] = deque()

    def expect(self, work: int, cells: int) -> None:
        """Expect so much work, which stands for these cells, after all that was expected before."""
        self._expected.append((work, cells))

    def __call__(self, done: int) -> None:
        """Take note of work that is done."""
        finished = 0
        while done and self._expected:
            work, cells = self._expected.popleft()
            part = min(done, work)
            share = cells * part // max(1, work)
            if part < work:
                self._expected.appendleft((work - part, cells - share))
            finished += share
            done -= part
        self._progress(finished)
