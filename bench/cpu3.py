"""The CPU of Sudo et al. 2012: cpu3.c, built with ``cc -O3``, on one core, without sub-tables."""

import ctypes
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import machine
from glsw import Batch, Scoring3

NAME, COMPILER = "C code", ("cc", "-O3")  # and what a shared library needs
Int32 = npt.NDArray[np.int32]


class _Problem(ctypes.Structure):  # as in cpu3.c
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("a", "b", "c", "matrix")),
        *((name, ctypes.c_int32) for name in ("l", "m", "n", "letters", "identity")),
        *((name, ctypes.c_int32) for name in ("match", "mismatch", "matching")),
        *((name, ctypes.c_int32) for name in ("opens", "extends", "mixed")),
    ]


def refused() -> str | None:
    """Return why the code cannot be built here, None if it can."""
    return _built()[1]


def compiler() -> str:
    """Return what the compiler calls itself, for results."""
    told = machine.output(COMPILER[0], "--version")
    return ((told or "").splitlines() or ["unknown"])[0]


def best(scoring: Scoring3, triples: Batch, *, threads: int = 1) -> Int32:
    """Return score and i, j, k from 1 of each triple, shape (N, 4). Errors: see `refused`."""
    found = np.zeros((len(triples), 4), np.int32)
    each = map(triples.__getitem__, range(len(triples)))
    with ThreadPoolExecutor(threads) as pool:  # the library is called without Python's lock
        list(pool.map(partial(_fill, scoring), each, found))
    return found


def table(scoring: Scoring3, triples: Batch, *, out: Int32 | None = None) -> Int32:
    """Return H of the first triple, shape (l, m, n); linear gaps only.

    ``out`` is where to put it with its border, shape (l + 1, m + 1, n + 1): memory that was never
    written to costs more than the cells. Errors as `best`.
    """
    if not scoring.linear:
        raise ValueError(f"{scoring.name}: tables are those of linear gaps")
    out = np.empty(triples.lengths[0] + 1, np.int32) if out is None else out
    _fill(scoring, triples[0], None, out)
    return out[1:, 1:, 1:]


def _fill(scoring: Scoring3, triple: Any, cell: Int32 | None, cells: Int32 | None = None) -> None:
    """Write the best cell, or without a place for it fill the whole table ``cells``."""
    library, why = _built()
    if library is None:
        raise RuntimeError(why)
    words = [np.ascontiguousarray(word) for word in triple]
    matrix = np.ascontiguousarray(scoring.pairs.matrix)
    kinds = scoring.pairs.match_and_mismatch if scoring.scheme == "identity" else None
    numbers = *map(len, words), len(matrix), kinds is not None, *(kinds or (0, 0, 0))
    arrays = (each.ctypes.data for each in (*words, matrix))
    problem = ctypes.byref(_Problem(*arrays, *numbers, *scoring.costs))
    place = np.zeros(4, np.int32) if cell is None else cell
    if cells is None:
        plane = len(words[1]) + 1, len(words[2]) + 1
        cells = np.empty((2, *plane, *(() if scoring.linear else (8,))), np.int32)
    if scoring.linear:
        many = len(cells), cell is not None
        library.cpu3_linear(problem, cells.ctypes.data, *many, place.ctypes.data)
    else:
        library.cpu3_affine(problem, cells.ctypes.data, place.ctypes.data)


@cache
def _built() -> tuple[Any, str | None]:
    """Return the library, or None and why there is none."""
    with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
        made, source = Path(folder) / "cpu3.so", Path(__file__).with_name("cpu3.c")
        try:
            machine.run([*COMPILER, "-shared", "-fPIC", "-o", str(made), str(source)])
        except (OSError, RuntimeError) as error:
            return None, f"no C code: {error}"
        library = ctypes.CDLL(str(made))  # stays loaded when the file is gone
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    library.cpu3_linear.argtypes = [pointer, pointer, number, number, pointer]
    library.cpu3_affine.argtypes = [pointer, pointer, pointer]
    library.cpu3_linear.restype = library.cpu3_affine.restype = None
    return library, None
