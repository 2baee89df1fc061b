"""Calls parasail's C library by ctypes; importing its Python module would take 50 ms.

A function is called by its name in the library, without ``parasail_``.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_FILES = {"darwin": "libparasail.dylib", "win32": "parasail.dll"}
_READ = 0x100  # PyBUF_READ
_IntPointer = ctypes.POINTER(ctypes.c_int)


class _Result(ctypes.Structure):
    """The beginning of ``parasail_result_t``."""

    _fields_ = (
        ("score", ctypes.c_int),
        ("end_query", ctypes.c_int),
        ("end_target", ctypes.c_int),
    )


class _Matrix(ctypes.Structure):
    """The beginning of ``parasail_matrix_t``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("matrix", _IntPointer),
        ("mapper", _IntPointer),
        ("size", ctypes.c_int),
        ("max", ctypes.c_int),
        ("min", ctypes.c_int),
        ("user_matrix", _IntPointer),
    )


class Best(NamedTuple):
    """The best score of a pair, and the rows and columns of both up to a cell that has it."""

    score: int
    i: int
    j: int


class Matrix:
    """Scores of letters as the library has them.

    Parameters
    ----------
    letters : bytes
    scores : ndarray of int, shape (letters, letters)
        Of letters of the first sequence with those of the second.
    """

    def __init__(self, letters: bytes, scores: npt.NDArray[np.integer]) -> None:
        library, highest, lowest = _library(), int(scores.max()), int(scores.min())
        self._free = library.parasail_matrix_free
        self.pointer = library.parasail_matrix_create_case_sensitive(letters, highest, lowest)
        made = self.pointer[0]
        values = np.zeros((made.size, made.size), np.intc)  # its rows are of the second sequence
        values[: len(letters), : len(letters)] = scores.T
        ctypes.memmove(made.user_matrix, values.ctypes.data, values.nbytes)

    def __del__(self) -> None:
        if pointer := getattr(self, "pointer", None):
            self._free(pointer)


def best(name: str, query: bytes, target: bytes, costs: tuple[int, int], matrix: Matrix) -> Best:
    """Return the best score of a pair, by a function such as ``sw_scan_32``."""
    library = _library()
    pointer = _function(name)(query, len(query), target, len(target), *costs, matrix.pointer)
    result = pointer[0]
    found = Best(result.score, result.end_query + 1, result.end_target + 1)
    library.parasail_result_free(pointer)
    return found


def best_of_own(
    name: str,
    pairs: Iterable[tuple[bytes, bytes]],
    costs: tuple[int, int],
    letters: bytes,
    matrices: npt.NDArray[np.integer],
) -> list[int]:
    """Return the best score of each pair, given the scores of its letters, shape (N, A, A)."""
    matrix = Matrix(letters, matrices[0])
    of, function, pointer = matrix.pointer[0], _function(name), matrix.pointer
    of.max, of.min = int(matrices.max()), int(matrices.min())
    rows = np.ctypeslib.as_array(of.user_matrix, (of.size, of.size))[: len(letters), : len(letters)]
    # Each release of Python's lock is a wait among threads: there is one for each pair.
    free, scores = _freed_with_the_lock(), list[int]()
    for own, (query, target) in zip(matrices.transpose(0, 2, 1), pairs, strict=True):
        rows[:] = own
        result = function(query, len(query), target, len(target), *costs, pointer)
        scores.append(result.contents.score)
        free(result)
    return scores


@contextmanager
def table(
    name: str, query: bytes, target: bytes, costs: tuple[int, int], matrix: Matrix
) -> Iterator[npt.NDArray[np.int32]]:
    """Return the table of H for a ``with`` block, by ``sw_table_scan_32``.

    Functions by diagonals, such as ``sw_table_diag_32``, have wrong best scores beside it now and
    then, and take a `Matrix` with the scores of letters of the second sequence first.
    """
    library, m, n = _library(), len(query), len(target)
    pointer = _function(name)(query, m, target, n, *costs, matrix.pointer)
    try:
        address = library.parasail_result_get_score_table(pointer)
        cells = np.frombuffer(_memory_at()(address, 4 * m * n, _READ), np.int32)
        yield cells.reshape(m, n)
    finally:
        library.parasail_result_free(pointer)


def is_installed() -> bool:
    """Return whether the library is installed."""
    return importlib.util.find_spec("parasail") is not None


@cache
def version() -> str:
    """Return the version of the library, as that of the installed package."""
    folder = _folder()
    if found := sorted(folder.parent.glob("parasail-*.dist-info")):
        return found[-1].name.removesuffix(".dist-info").partition("-")[2]
    from importlib.metadata import version as version_of

    return version_of("parasail")


def _folder() -> Path:
    spec = importlib.util.find_spec("parasail")
    assert spec
    assert spec.origin
    return Path(spec.origin).parent


@cache
def _library() -> ctypes.CDLL:
    path = _folder() / _FILES.get(sys.platform, "libparasail.so")
    if path.exists():
        library = ctypes.CDLL(str(path))
    else:  # its module knows other places
        from parasail import bindings_v2

        library = ctypes.CDLL(bindings_v2._lib._name)
    library.parasail_matrix_create_case_sensitive.argtypes = (ctypes.c_char_p, *[ctypes.c_int] * 2)
    library.parasail_matrix_create_case_sensitive.restype = ctypes.POINTER(_Matrix)
    library.parasail_result_get_score_table.restype = ctypes.c_void_p
    for name, kind in (("matrix", _Matrix), ("result", _Result)):
        getattr(library, f"parasail_{name}_free").argtypes = [ctypes.POINTER(kind)]
        getattr(library, f"parasail_{name}_free").restype = None
    return library


@cache
def _freed_with_the_lock() -> Callable[[Any], None]:
    """Return what frees a result without a release of Python's lock."""
    function = ctypes.PyDLL(None, handle=_library()._handle).parasail_result_free
    function.argtypes, function.restype = [ctypes.POINTER(_Result)], None
    found: Callable[[Any], None] = function
    return found


@cache
def _memory_at() -> Callable[[int, int, int], memoryview]:
    """Return what makes a buffer of an address and its bytes."""
    function = ctypes.pythonapi.PyMemoryView_FromMemory
    function.argtypes = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int
    function.restype = ctypes.py_object
    found: Callable[[int, int, int], memoryview] = function
    return found


@cache
def _function(name: str) -> Callable[..., Any]:
    function = getattr(_library(), f"parasail_{name}")
    text = ctypes.c_char_p, ctypes.c_int
    function.argtypes = *text, *text, ctypes.c_int, ctypes.c_int, ctypes.POINTER(_Matrix)
    function.restype = ctypes.POINTER(_Result)
    found: Callable[..., Any] = function
    return found
