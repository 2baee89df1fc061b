"""Substitution matrices: Biopython's by name, files in NCBI's format, blastn's for DNA."""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from Bio.Data.IUPACData import ambiguous_dna_values

from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet, custom
from glsw.sequences.lines import naming
from glsw.words import ParameterError, Range, numbered

MAX_UNITS = 1_000_000
"""The largest matrix entry or gap cost, in integer units."""
SCORES, COSTS = Range(-MAX_UNITS, MAX_UNITS), Range(0, MAX_UNITS)
"""The scores of letters and the costs of gaps that there can be; some may be less with decimals."""
MAX_DECIMALS = 4
"""The most decimals of a matrix entry or gap cost."""
_COSTS_OF_BLAST = {
    "BLOSUM45": (14, 2),
    "BLOSUM50": (13, 2),
    "BLOSUM80": (15, 2),  # in thirds of a bit: 10/1 is for NCBI's matrix in half bits
    "BLOSUM90": (10, 1),
    "PAM30": (9, 1),
    "PAM70": (10, 1),
    "PAM250": (14, 2),
}
_ALIKE = 0.6  # from which share of letters difflib calls words alike
_ROUNDING = 1e-12  # what is nearer to 0 is a rounding error
_BASES = [ambiguous_dna_values[letter] for letter in DNA.letters]


def matrix_names() -> list[str]:
    """Return the names that `Scoring.named` knows.

    >>> [name for name in matrix_names() if name.startswith("PAM")]
    ['PAM250', 'PAM30', 'PAM70']
    """
    return list(_names())


@cache
def _names() -> list[str]:
    return sorted(path.name for path in _folder().iterdir() if path.name.isupper())


def published(name: str) -> tuple[str, npt.NDArray[np.float64], Alphabet]:
    """Return the name, the scores and the alphabet of a matrix of Biopython or scoring_matrices.

    The latter is a package that comes with pyopal (``glsw[cpu]``) and has VTML, PFASUM, and more of
    BLOSUM and PAM. A matrix that both have is Biopython's.
    """
    if not isinstance(name, str):
        raise TypeError(f"a matrix is given by name (str), got {type(name).__name__}")
    names = _known(name)
    if name.upper() not in names:
        known, more = ", ".join(matrix_names()), len(names) - len(matrix_names())
        raise ValueError(
            f"unknown matrix {name!r}{_suggestion(name, names)} There are {known}"
            + f", and {more} of scoring_matrices" * bool(more)
        )
    return names[name.upper()], *_read(names[name.upper()])


def costs_of_blast(name: str) -> tuple[float, float]:
    """Return the default gap costs for a matrix, existence and extension: those of BLAST if known.

    >>> costs_of_blast("PAM30"), costs_of_blast("BLOSUM62"), costs_of_blast("GONNET1992")
    ((9, 1), (11, 1), (11, 1))
    """
    return _COSTS_OF_BLAST.get(name.upper(), (11, 1))


def is_published(name: str) -> bool:
    """Return whether there is a matrix of this name, in upper or lower case, see `published`."""
    return name.upper() in _known(name)


def _known(name: str) -> dict[str, str]:
    """Return matrix names by the same in upper case: only Biopython's if it has this one."""
    own = {each.upper(): each for each in _names()}
    if name.upper() in own or not find_spec("scoring_matrices"):
        return own
    more = sorted(_others().BUILTIN_MATRICES)
    return own | {each.upper(): each for each in more if each.upper() not in own}


def _suggestion(name: str, names: dict[str, str]) -> str:
    """Return the end of a sentence: the name most like another one, if any is, as difflib says.

    It is like it by all letters, and then by the first ones.
    """
    from difflib import SequenceMatcher

    like = SequenceMatcher(b=name.upper())

    def alike(known: str) -> tuple[float, int]:
        like.set_seq1(known)
        begin = takewhile(bool, map(eq, known, name.upper()))
        return like.ratio(), sum(begin)

    nearest = max(names, key=alike)
    return f", did you mean {names[nearest]}?" if alike(nearest)[0] >= _ALIKE else "."


def _others() -> Any:
    """Return the class of the matrices of scoring_matrices, which takes long to import."""
    from scoring_matrices import ScoringMatrix

    return ScoringMatrix


@cache
def _read(name: str) -> tuple[npt.NDArray[np.float64], Alphabet]:
    if name in matrix_names():
        rows, letters = read_matrix(_folder() / name)
        return np.array(rows), alphabet_of(letters, name)
    other = _others().from_name(name)
    scores = np.array([list(other[k]) for k in range(len(other))])  # numbers of 32 bits
    return np.round(scores, MAX_DECIMALS), alphabet_of(tuple(other.alphabet), name)


def with_x_of_blast(matrix: npt.NDArray[np.float64], alphabet: Alphabet) -> npt.NDArray[np.float64]:
    """Return a matrix in which X scores -1 against every letter but ``*``, as in NCBI's programs.

    A matrix without X, or of other letters than amino acids, stays as it is.
    """
    if not alphabet.amino_acids or "X" not in alphabet.letters:
        return matrix
    x = alphabet.letters.index("X")
    others = [k for k, letter in enumerate(alphabet.letters) if letter != "*"]
    made = matrix.copy()
    made[x, others] = made[others, x] = -1
    return made


def alphabet_of(letters: str | tuple[str, ...], name: str) -> Alphabet:
    """Return `PROTEIN` if these are its letters, else an alphabet of them."""
    if all(len(letter) == 1 for letter in letters):
        letters = "".join(letters)
    return PROTEIN if letters == PROTEIN.letters else custom(letters, name)


def read_matrix(path: Path) -> tuple[list[list[float]], tuple[str, ...]]:
    """Return the rows and letters of a file in NCBI's format."""
    try:
        with naming(path):
            text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a matrix: it is not text") from None
    lines = [
        (number, line.split())
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    if not lines:
        raise ValueError(f"{path}: no matrix in it")
    (_, letters), *rows = lines
    if len(rows) != len(letters):
        raise ValueError(f"{path}: {len(letters)} letters need as many rows, there are {len(rows)}")
    matrix = []
    for letter, (number, words) in zip(letters, rows, strict=True):
        if words[0] != letter or len(words) != len(letters) + 1:
            raise ValueError(
                f"{path}:{number}: expected {letter} and {len(letters)} scores, "
                f"got {words[0]} and {len(words) - 1}"
            )
        try:
            matrix.append([float(word) for word in words[1:]])
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
    return matrix, tuple(letters)


def checked_matrix(
    matrix: object, alphabet: Alphabet, positional: bool = False
) -> npt.NDArray[np.int32]:
    """Return a matrix of integers that fits an alphabet, of any rows if positional, read-only."""
    _check_alphabet(alphabet)
    if not isinstance(matrix, np.ndarray) or matrix.dtype.kind not in "iu":
        kind = getattr(matrix, "dtype", type(matrix).__name__)
        raise TypeError(f"matrix must be an array of integers, got {kind}")
    rows = len(matrix) if positional and matrix.size else len(alphabet)
    if matrix.shape != (rows, len(alphabet)):
        raise ValueError(
            f"matrix has shape {matrix.shape}, the {alphabet.name} alphabet "
            f"needs ({rows}, {len(alphabet)})"
        )
    largest = max(int(matrix.max()), -int(matrix.min()))
    if largest > MAX_UNITS:
        raise ValueError(f"matrix entry of size {largest} is more than {MAX_UNITS}")
    checked = np.array(matrix, dtype=np.int32, order="C")
    checked.setflags(write=False)
    return checked


def matrix_of_array(
    matrix: npt.ArrayLike, letters: str | tuple[str, ...], name: str
) -> tuple[npt.NDArray[np.float64], Alphabet]:
    """Return a matrix of numbers, shape (A, A), and the alphabet of its letters."""
    if not isinstance(letters, str | tuple | list):
        raise TypeError(f"letters must be str or a tuple of str, got {type(letters).__name__}")
    alphabet = alphabet_of(letters if isinstance(letters, str) else tuple(letters), name)
    try:
        array = np.asarray(matrix)
    except ValueError:
        raise ValueError(f"matrix {name} has rows of different lengths") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"matrix {name} must hold numbers, got {array.dtype}")
    if array.shape != (len(alphabet), len(alphabet)):
        raise ValueError(
            f"matrix {name} has shape {array.shape}, its {len(alphabet)} letters "
            f"need ({len(alphabet)}, {len(alphabet)})"
        )
    if len(wrong := np.argwhere(~np.isfinite(array))):
        row, column = wrong[0]
        entry = f"{alphabet.letters[row]} to {alphabet.letters[column]}"
        raise ValueError(f"matrix {name} has {array[row, column]} for {entry}")
    if array.dtype.kind == "f":
        array = array.astype(str)  # the shortest decimal: 0.1 also where it is a float32
    return array.astype(np.float64), alphabet


def match_matrix(match: float, mismatch: float, alphabet: Alphabet) -> npt.NDArray[np.float64]:
    """Return the scores of equal and of different letters; ambiguous letters never match."""
    same, other = checked_number("match", match), checked_number("mismatch", mismatch)
    if same <= other:
        raise ValueError(f"match {match} must be more than mismatch {mismatch}")
    if same <= 0:
        raise ValueError(f"match {match} must be more than 0, or nothing aligns")
    _check_alphabet(alphabet)
    matrix = np.full((len(alphabet), len(alphabet)), other)
    for k, letter in enumerate(alphabet.letters):
        if letter not in alphabet.ambiguous:
            matrix[k, k] = same
    return matrix


def blastn_matrix(match: int, mismatch: int) -> npt.NDArray[np.float64]:
    """Return blastn's scores of all pairs of letters of `DNA`, ambiguous ones included.

    As ``BlastScoreBlkNuclMatrixCreate`` in NCBI's ``blast_stat.c``: with no base in common a
    mismatch; else the mean of one match and d - 1 mismatches, rounded half away from 0, where d is
    the number of bases of the more ambiguous of the two letters. N never scores above 0.
    """
    for word, value in (("match", match), ("mismatch", mismatch)):
        if not checked_number(word, value).is_integer():
            raise ValueError(f"{word} {value}: a whole number expected, as in blastn")
    match_matrix(match, mismatch, DNA)  # raises errors
    bases = np.array([[base in values for base in "ACGT"] for values in _BASES])
    common = (bases[:, None] & bases).any(axis=2)
    several = np.maximum.outer(bases.sum(axis=1), bases.sum(axis=1))
    mean = ((several - 1) * int(mismatch) + int(match)) / several
    matrix: npt.NDArray[np.float64] = np.where(
        common, np.trunc(mean + np.copysign(0.5, mean)), mismatch
    )
    matrix[-1] = matrix[:, -1] = np.minimum(matrix[-1], 0)
    return matrix


def _check_alphabet(alphabet: object) -> None:
    if not isinstance(alphabet, Alphabet):
        kind = type(alphabet).__name__
        raise TypeError(f"alphabet must be an Alphabet, got {kind}; Alphabet('name', 'abc') is one")


def checked_number(name: str, value: object) -> float:
    """Return a finite number as float."""
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    if not math.isfinite(value):
        raise ParameterError(name, f"must be finite, got {value}")
    return float(str(value)) if isinstance(value, np.floating) else float(value)


def in_integer_units(
    numbers: npt.NDArray[np.float64], what: str
) -> tuple[npt.NDArray[np.int32], int]:
    """Return numbers multiplied by the smallest power of ten that makes all whole, and that power.

    Parameters
    ----------
    numbers : ndarray of float64
    what : str
        What they are, for errors.

    Raises
    ------
    ValueError
        If one is not finite, has more than `MAX_DECIMALS` decimals, or is beyond `MAX_UNITS`.

    Examples
    --------
    >>> in_integer_units(np.array([1, 0.25]), "scores")
    (array([100,  25], dtype=int32), 100)
    """
    if not (finite := np.isfinite(numbers)).all():
        raise ValueError(f"{what}: finite numbers expected, got {numbers[~finite][0]}")
    for decimals in range(MAX_DECIMALS + 1):
        scale = 10**decimals
        scaled = numbers * scale
        whole = np.rint(scaled)
        exact = np.isclose(whole, scaled, rtol=0, atol=1e-9)
        exact &= (whole != 0) | (np.abs(numbers) < _ROUNDING)
        if exact.all():
            break
    else:
        raise ValueError(
            f"{what}: {numbers[~exact][0]:.15g} has more than {MAX_DECIMALS} decimals, round it"
        )
    if np.abs(whole).max() > MAX_UNITS:
        kind = f"numbers with {numbered(decimals, 'decimal')}" if decimals else "whole numbers"
        raise ValueError(
            f"{what}: {numbers[np.abs(whole).argmax()]:.15g} is beyond {MAX_UNITS / scale:.15g}, "
            f"the limit of {kind}"
        )
    return whole.astype(np.int32), scale


def _folder() -> Path:
    """Return where Biopython has its matrices: to import Bio.Align takes longer than a search."""
    spec = find_spec("Bio")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0], "Align", "substitution_matrices", "data")
