"""Sparse matrices of pairs as text, with one line per entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from glsw.words import in_a_line

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ENTRIES_TOGETHER = 2**16

DESCRIPTIONS = {
    "query": "name of the row",
    "target": "name of the column",
    "score`, `self`, `identity` or `evalue": "value of the pair, see `--distance`",
}
"""What the columns of the format "tsv" say; the third is named as the distance."""

Lines: TypeAlias = "Callable[[csr_array, str, Sequence[str], Sequence[str], bool], Iterator[str]]"
"""``lines(matrix, distance, rows, columns, once)``: the text, of the names of rows and columns;
``once`` if each entry stands for both orders of its pair."""


def tsv(
    matrix: csr_array, distance: str, rows: Sequence[str], columns: Sequence[str], once: bool
) -> Iterator[str]:
    r"""Yield a header, and the names of row and column and the value of each entry.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> "".join(tsv(csr_array([[0, 7], [0, 0]]), "score", ["a", "b"], ["c", "d e"], False))
    'query\ttarget\tscore\na\td e\t7\n'
    """
    rows, columns = list(map(in_a_line, rows)), list(map(in_a_line, columns))
    yield f"query\ttarget\t{distance}\n"
    show = str if matrix.dtype.kind == "i" else "{:.6g}".format
    for part in _entries(matrix):
        yield "".join(f"{rows[i]}\t{columns[j]}\t{show(value)}\n" for i, j, value in part)


def matrix_market(
    matrix: csr_array, distance: str, rows: Sequence[str], columns: Sequence[str], once: bool
) -> Iterator[str]:
    r"""Yield the coordinate form of Matrix Market, which counts rows and columns from 1.

    Where each pair is listed once, the matrix is "symmetric": its lower triangle is listed.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> found = csr_array([[0, 7], [0, 0]])
    >>> print("".join(matrix_market(found, "score", "ab", "ab", True)), end="")
    %%MatrixMarket matrix coordinate integer symmetric
    % score
    2 2 1
    2 1 7
    """
    field = "integer" if matrix.dtype.kind == "i" else "real"
    yield f"%%MatrixMarket matrix coordinate {field} {'symmetric' if once else 'general'}\n"
    yield f"% {distance}\n{matrix.shape[0]} {matrix.shape[1]} {matrix.nnz}\n"
    for part in _entries(matrix):
        if once:
            part = ((max(i, j), min(i, j), value) for i, j, value in part)
        yield "".join(f"{i + 1} {j + 1} {value!r}\n" for i, j, value in part)


SPARSE_FORMATS: dict[str, Lines] = {"tsv": tsv, "mtx": matrix_market}


def _entries(matrix: csr_array) -> Iterator[Iterator[tuple[int, int, Any]]]:
    """Yield groups of entries: row, column and value."""
    for start in range(0, matrix.nnz, _ENTRIES_TOGETHER):
        some = slice(start, start + _ENTRIES_TOGETHER)
        values, columns = matrix.data[some].tolist(), matrix.indices[some].tolist()
        at = np.arange(start, start + len(values))
        rows = np.searchsorted(matrix.indptr, at, "right") - 1
        yield zip(rows.tolist(), columns, values, strict=True)
