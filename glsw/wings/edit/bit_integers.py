"""Edit distances on the host, without compute shaders: columns as Python integers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from glsw.arrays import Codes, Int32
from glsw.engines.base import Progress, ignore

_SHORT = 2**9  # letters of a query, up to which a loop over them is quicker


def edit_distances(
    pairs: Iterable[tuple[Codes, Codes]], infix: bool, *, progress: Progress | None = None
) -> Int32:
    """Return the edit distance of each pair, and the target letters before its end.

    An integer has the differences of a whole column (Myers 1999; Hyyrö 2003).

    If ``infix``, the ends of targets are free, and the first end counts. Progress is as in
    `Engine.scores`; the shape is (N, 2).

    Examples
    --------
    >>> query, target = np.array([1, 2, 3], np.uint8), np.array([0, 1, 3, 0], np.uint8)
    >>> edit_distances([(query, target)], infix=True).tolist()
    [[1, 3]]
    """
    report = progress or ignore
    found = []
    for query, target in pairs:
        found.append(_of_pair(query, target, infix))
        report(len(query) * len(target))
    return np.array(found, np.int32).reshape(-1, 2)


def _of_pair(query: Codes, target: Codes, infix: bool) -> tuple[int, int]:
    m, n = len(query), len(target)
    if not m:
        return (0, 0) if infix else (n, n)
    matches = [0] * 256
    if m <= _SHORT:
        for k, code in enumerate(query.tolist()):
            matches[code] |= 1 << k
    else:
        for code in np.unique(query).tolist():
            bits = np.packbits(query == code, bitorder="little")
            matches[code] = int.from_bytes(bits.tobytes(), "little")
    everywhere, last, above = (1 << m) - 1, m - 1, int(not infix)
    plus, minus, distance = everywhere, 0, m
    least, end = m, 0
    for j, code in enumerate(target.tolist(), start=1):
        equal = matches[code]
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        up = (minus | ~(horizontal | plus)) & everywhere
        down = plus & horizontal
        distance += (up >> last) - (down >> last & 1)
        if distance < least:
            least, end = distance, j
        up, down = up << 1 | above, down << 1
        plus = (down | ~(vertical | up)) & everywhere
        minus = up & vertical & everywhere
    return (least, end) if infix else (distance, n)
