"""What a pair of letters and a gap are worth: matrices, match and mismatch, gap costs."""

from __future__ import annotations

import difflib
import math
import os
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from Bio.Align import substitution_matrices
from Bio.Data.IUPACData import ambiguous_dna_values

from glsw.scoring.gaps import FREE, EndGaps, GapCost
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet, custom

LARGEST = 1_000_000  # of a matrix entry or gap cost, in integer units
_DECIMALS = 4
_INT32 = 2**31 - 1
_BASES = [ambiguous_dna_values[letter] for letter in DNA.letters]


@dataclass(frozen=True, eq=False)
class Scoring:
    """A substitution matrix and the cost of gaps, in integers.

    A gap of k positions costs ``gap_open + (k - 1) * gap_extend``, as in Biopython, parasail and
    EMBOSS; BLAST's words are converted by :meth:`blast`. Equal costs are the linear gap model.

    Parameters
    ----------
    matrix : ndarray of int32, shape (A, A), read-only
        Score of a pair of letters: row of the query's letter, column of the target's.
    alphabet : Alphabet
        The A letters.
    gap_open, gap_extend : int
        Costs (positive numbers) of the first and of each further position of a gap.
    name : str
        What results call it.
    scale : int
        Integer units in one unit of the matrix as published: a power of ten, 1 for a
        matrix of integers. A score is shown divided by it.
    insertion_open, insertion_extend : int, optional
        The same for query letters opposite a gap in the target, where these cost something else
        than target letters opposite a gap in the query.
    ends : EndGaps, optional
        Align the sequences from end to end, with these costs of gaps at their ends, instead of
        locally; see :meth:`to_ends` and :meth:`semi_global`.

    Examples
    --------
    >>> scoring = Scoring.blast("BLOSUM62", 11, 1)
    >>> scoring.gap_open, scoring.gap_extend, scoring.linear
    (12, 1, False)
    >>> w = scoring.alphabet.letters.index("W")
    >>> int(scoring.matrix[w, w])
    11
    >>> gonnet = Scoring.named("GONNET1992", gap_open=10, gap_extend=0.5)
    >>> gonnet.scale, gonnet.gap_open, gonnet.gap_extend, gonnet.display(1234)
    (10, 100, 5, 123.4)
    """

    matrix: npt.NDArray[np.int32]
    alphabet: Alphabet
    gap_open: int
    gap_extend: int
    name: str
    scale: int = 1
    insertion_open: int | None = None
    insertion_extend: int | None = None
    ends: EndGaps | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.alphabet, Alphabet):
            raise TypeError(f"alphabet must be an Alphabet, got {type(self.alphabet).__name__}")
        letters = len(self.alphabet)
        if not isinstance(self.matrix, np.ndarray) or self.matrix.dtype.kind not in "iu":
            kind = getattr(self.matrix, "dtype", type(self.matrix).__name__)
            raise TypeError(f"matrix must be an array of integers, got {kind}")
        if self.matrix.shape != (letters, letters):
            raise ValueError(
                f"matrix has shape {self.matrix.shape}, the {self.alphabet.name} alphabet "
                f"needs ({letters}, {letters})"
            )
        largest = max(int(self.matrix.max()), -int(self.matrix.min()))
        if largest > LARGEST:
            raise ValueError(f"matrix entry of size {largest} is more than {LARGEST}")
        for word in ("gap_open", "gap_extend", "scale"):
            number = _number(word, getattr(self, word))
            if number != int(number):
                raise ValueError(f"{word} must be a whole number, got {number}")
            object.__setattr__(self, word, int(number))
        if self.scale not in [10**k for k in range(_DECIMALS + 1)]:
            raise ValueError(
                f"scale must be a power of ten up to {10**_DECIMALS}, got {self.scale}"
            )
        _check_gaps(self.gap_open, self.gap_extend, self.scale)
        if self.insertion_open is not None and self.insertion_extend is not None:
            _check_gaps(self.insertion_open, self.insertion_extend, self.scale, "insertion")
        elif self.insertion_open is not None or self.insertion_extend is not None:
            raise ValueError("insertion_open and insertion_extend are given together")
        if self.ends is not None:
            _check_ends(self.ends, self.insertion, self.deletion, self.scale)
        matrix = np.array(self.matrix, dtype=np.int32, order="C")
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def named(cls, name: str = "BLOSUM62", gap_open: float = 12, gap_extend: float = 1) -> Scoring:
        """Return a matrix of Biopython's, by name in upper or lower case.

        Raises
        ------
        ValueError
            If there is no such matrix, naming the nearest; if a gap cost is absurd.

        Examples
        --------
        >>> Scoring.named("nuc.4.4", 10, 10).linear
        True
        >>> Scoring.named("BLOSUM26")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: unknown matrix 'BLOSUM26', did you mean BLOSUM62? There are BENNER22, ...
        """
        name = _matrix_name(name)
        matrix, alphabet = _published(name)
        return cls._scaled(matrix, alphabet, gap_open, gap_extend, name)

    @classmethod
    def blast(cls, name: str = "BLOSUM62", gapopen: float = 11, gapextend: float = 1) -> Scoring:
        """Return a named matrix with gap costs in the words of BLAST, FASTA and SWIPE.

        There a gap of k positions costs ``gapopen + k * gapextend``: the first position of
        "11/1" costs 12.
        """
        existence, extension = _cost("gapopen", gapopen), _cost("gapextend", gapextend)
        return cls.named(name, round(existence + extension, 2 * _DECIMALS), extension)

    @classmethod
    def match_mismatch(
        cls,
        match: float,
        mismatch: float,
        gap_open: float,
        gap_extend: float,
        *,
        alphabet: Alphabet = DNA,
    ) -> Scoring:
        """Return a scoring that only asks whether two letters are equal.

        Parameters
        ----------
        match, mismatch : float
            Scores of equal and of different letters; ``mismatch`` is usually negative.
            An ambiguous letter of the alphabet, such as N, never matches.

        Raises
        ------
        ValueError
            If ``match`` is not positive or not more than ``mismatch``; if a gap cost is absurd.

        Examples
        --------
        >>> scoring = Scoring.match_mismatch(2, -3, 5, 2)
        >>> scoring.matrix[:3, :3].tolist()
        [[2, -3, -3], [-3, 2, -3], [-3, -3, 2]]
        """
        same, other = _number("match", match), _number("mismatch", mismatch)
        if same <= other:
            raise ValueError(f"match {match} must be more than mismatch {mismatch}")
        if same <= 0:
            raise ValueError(f"match {match} must be more than 0, or nothing aligns")
        if not isinstance(alphabet, Alphabet):
            raise TypeError(f"alphabet must be an Alphabet, got {type(alphabet).__name__}")
        matrix = np.full((len(alphabet), len(alphabet)), other)
        for k, letter in enumerate(alphabet.letters):
            if letter not in alphabet.ambiguous:
                matrix[k, k] = same
        name = f"match {match} mismatch {mismatch}"
        return cls._scaled(matrix, alphabet, gap_open, gap_extend, name)

    @classmethod
    def nucleotide(
        cls, match: int = 2, mismatch: int = -3, gapopen: float = 5, gapextend: float = 2
    ) -> Scoring:
        """Return what blastn scores DNA with, in its words and with its numbers.

        Letters that stand for several bases score what blastn gives them
        (``BlastScoreBlkNuclMatrixCreate`` in NCBI's ``blast_stat.c``): with no base in common a
        mismatch; else the mean of one match and d - 1 mismatches, rounded half away from 0, where
        d is how many bases the letter of the two that stands for more of them has. N never scores
        above 0.

        Parameters
        ----------
        match, mismatch : int
            Scores of equal and of different bases: blastn's reward and penalty.
        gapopen, gapextend : float
            A gap of k positions costs ``gapopen + k * gapextend``.

        Raises
        ------
        ValueError
            As :meth:`match_mismatch`; if match or mismatch is not a whole number.

        Examples
        --------
        >>> scoring = Scoring.nucleotide()
        >>> scoring.name, scoring.gap_open, scoring.gap_extend
        ('DNA 2/-3', 7, 2)
        >>> a, r, n = map(scoring.alphabet.letters.index, "ARN")
        >>> scoring.matrix[[a, a, r, n], [a, r, r, n]].tolist()
        [2, -1, -1, -2]
        """
        for word, value in (("match", match), ("mismatch", mismatch)):
            if not _number(word, value).is_integer():
                raise ValueError(f"{word} {value}: a whole number expected, as blastn has it")
        plain = cls.match_mismatch(match, mismatch, 0, 0).matrix[0]
        bases = np.array([[base in values for base in "ACGT"] for values in _BASES])
        common = (bases[:, None] & bases).any(axis=2)
        several = np.maximum.outer(bases.sum(axis=1), bases.sum(axis=1))
        mean = ((several - 1) * int(plain[1]) + int(plain[0])) / several
        matrix = np.where(common, np.trunc(mean + np.copysign(0.5, mean)), plain[1])
        matrix[-1] = matrix[:, -1] = np.minimum(matrix[-1], 0)
        costs = _cost("gapopen", gapopen), _cost("gapextend", gapextend)
        opening = round(sum(costs), 2 * _DECIMALS)
        return cls._scaled(matrix, DNA, opening, costs[1], f"DNA {match:g}/{mismatch:g}")

    @classmethod
    def from_array(
        cls,
        matrix: npt.ArrayLike,
        letters: str | tuple[str, ...],
        gap_open: float,
        gap_extend: float,
        *,
        name: str = "array",
    ) -> Scoring:
        """Return a scoring from a matrix of shape (A, A) over these A letters.

        Rows are letters of the query, columns letters of the target; decimals, up to four of
        them, are scaled to integers.

        Examples
        --------
        >>> Scoring.from_array([[1.5, -1], [0, 2]], "ab", 3, 1).matrix.tolist()
        [[15, -10], [0, 20]]
        """
        if not isinstance(letters, str | tuple | list):
            raise TypeError(f"letters must be str or a tuple of str, got {type(letters).__name__}")
        alphabet = _alphabet(letters if isinstance(letters, str) else tuple(letters), name)
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
        if array.dtype.kind == "f":
            array = array.astype(str)  # the shortest decimal: 0.1 also where it is a float32
        return cls._scaled(array.astype(np.float64), alphabet, gap_open, gap_extend, name)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], gap_open: float, gap_extend: float) -> Scoring:
        """Return a scoring from a file in NCBI's matrix format, as Biopython has it too.

        Lines that begin with ``#`` are comments; then a line of letters, and for each letter a
        line with it and its scores.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If it is not such a matrix, naming file and line.
        """
        matrix, letters = _parse(Path(path))
        return cls.from_array(matrix, letters, gap_open, gap_extend, name=Path(path).name)

    @classmethod
    def _scaled(
        cls,
        matrix: npt.NDArray[np.float64],
        alphabet: Alphabet,
        gap_open: float,
        gap_extend: float,
        name: str,
    ) -> Scoring:
        """Multiply everything by the smallest power of ten that leaves integers."""
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            entry = f"{alphabet.letters[row]} to {alphabet.letters[column]}"
            raise ValueError(f"matrix {name} has {matrix[row, column]} for {entry}")
        opening, extension = _cost("gap_open", gap_open), _cost("gap_extend", gap_extend)
        numbers = np.append(matrix.ravel(), [opening, extension])
        if np.abs(matrix).max() > LARGEST:
            raise ValueError(
                f"matrix {name} has an entry of size {np.abs(matrix).max():g}, more than {LARGEST}"
            )
        for scale in [10**k for k in range(_DECIMALS + 1)]:
            whole = np.rint(numbers * scale)
            if np.allclose(whole, numbers * scale, rtol=0, atol=1e-9):
                break
        else:
            at = int(np.argmax(~np.isclose(whole, numbers * scale, rtol=0, atol=1e-9)))
            raise ValueError(
                f"{numbers[at]} in {name} or its gap costs has more than {_DECIMALS} decimals"
            )
        units = int(whole[-2]), int(whole[-1])
        _check_gaps(*units, scale)
        largest = int(np.abs(whole[:-2]).max())
        if largest > LARGEST:
            raise ValueError(
                f"matrix {name} has an entry of size {largest / scale:g}, "
                f"more than {LARGEST} in units of {1 / scale:g}"
            )
        return cls(whole[:-2].reshape(matrix.shape).astype(np.int32), alphabet, *units, name, scale)

    @cached_property
    def match_and_mismatch(self) -> tuple[int, int, int] | None:
        """Match, mismatch and how many letters match themselves, or None for other matrices.

        The letters that do, the unambiguous ones, are the first of the alphabet.

        Examples
        --------
        >>> Scoring.match_mismatch(2, -1, 1, 1).match_and_mismatch
        (2, -1, 4)
        >>> Scoring.blast("BLOSUM62").match_and_mismatch is None
        True
        """
        letters = len(self.matrix)
        match = int(self.matrix[0, 0])
        mismatch = int(self.matrix[0, -1]) if letters > 1 else match
        matching = int((self.matrix.diagonal() == match).sum())
        expected = np.full_like(self.matrix, mismatch)
        expected[range(matching), range(matching)] = match
        return (match, mismatch, matching) if np.array_equal(self.matrix, expected) else None

    def to_ends(self, ends: EndGaps | None = None) -> Scoring:
        """Return this scoring for alignments from end to end, by default all gaps alike: global.

        Raises
        ------
        ValueError
            If a gap at the right end costs more than one inside.

        Examples
        --------
        >>> scoring = Scoring.match_mismatch(2, -1, 2, 1)
        >>> scoring.local, scoring.to_ends().local
        (True, False)
        """
        inside = EndGaps(self.insertion, self.deletion, self.insertion, self.deletion)
        return replace(self, ends=inside if ends is None else ends)

    def semi_global(self, *, query: bool = True, target: bool = True) -> Scoring:
        """Return this scoring for alignments from end to end with free gaps at the ends.

        Parameters
        ----------
        query, target : bool
            Whether ends of the query may stay opposite gaps at no cost, and ends of the target.
        """
        insertion = FREE if query else self.insertion
        deletion = FREE if target else self.deletion
        return self.to_ends(EndGaps(insertion, deletion, insertion, deletion))

    @property
    def local(self) -> bool:
        """Whether alignments may begin and end anywhere."""
        return self.ends is None

    @property
    def deletion(self) -> GapCost:
        """What target letters opposite a gap in the query cost."""
        return GapCost(self.gap_open, self.gap_extend)

    @property
    def insertion(self) -> GapCost:
        """What query letters opposite a gap in the target cost."""
        if self.insertion_open is None or self.insertion_extend is None:
            return self.deletion
        return GapCost(self.insertion_open, self.insertion_extend)

    @property
    def separate(self) -> bool:
        """Whether insertions and deletions cost something else."""
        return self.insertion != self.deletion

    @property
    def symmetric(self) -> bool:
        """Whether a pair scores the same when query and target change places."""
        turned = self.ends and self.ends.turned()
        equal = np.array_equal(self.matrix, self.matrix.T)
        return equal and not self.separate and turned == self.ends

    @property
    def linear(self) -> bool:
        """Whether every position of a gap costs the same, up to the kind of gap."""
        return all(cost.open == cost.extend for cost in (self.insertion, self.deletion))

    @cached_property
    def origin_terms(self) -> tuple[int, int, int]:
        """What `origin` is made of: a constant, and a summand each row and each column."""
        if self.ends is None:
            return 0, 0, 0
        rows = self.ends.left_insertion, self.insertion
        columns = self.ends.left_deletion, self.deletion
        constant = 1 + sum(cost.open for cost in (*rows, *columns, *rows[1:], *columns[1:]))
        return constant, sum(cost.extend for cost in rows), sum(cost.extend for cost in columns)

    def origin(self, m: npt.ArrayLike, n: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return what engines add to every cell of tables of m rows and n columns.

        From end to end scores may be negative, but never below gaps alone. With this much more H,
        E and F of every path are positive, so that the recurrence of local alignment, whose 0
        then never counts, holds for them too. It is 0 for local alignments.
        """
        constant, row, column = self.origin_terms
        return constant + np.asarray(m, np.int64) * row + np.asarray(n, np.int64) * column

    @property
    def maximum(self) -> int:
        """The largest entry of the matrix."""
        return int(self.matrix.max())

    @property
    def minimum(self) -> int:
        """The smallest entry of the matrix."""
        return int(self.matrix.min())

    def bound(self, m: int, n: int) -> int:
        """Return the highest score that sequences of lengths m and n could reach.

        >>> Scoring.named("BLOSUM62").bound(100, 250)
        1100
        """
        return max(0, self.maximum) * min(int(m), int(n))

    def check(self, m: int, n: int) -> None:
        """Raise ValueError if sequences of lengths m and n could reach a score beyond int32."""
        if self.bound(m, n) > _INT32:
            raise ValueError(
                f"lengths {m} and {n} could score {self.bound(m, n)} with {self.name}, "
                f"more than {_INT32} (the largest entry is {self.maximum})"
            )
        if (lowest := int(self.origin(m, n))) + self.bound(m, n) > _INT32:
            raise ValueError(
                f"lengths {m} and {n} could score {1 - lowest} from end to end with {self.name}, "
                "too far below 0 for 32 bits"
            )

    def display(self, score: int) -> int | float:
        """Return a score of integer units in units of the matrix as published."""
        return int(score) if self.scale == 1 else int(score) / self.scale


def matrix_names() -> list[str]:
    """Return the names that :meth:`Scoring.named` knows.

    >>> [name for name in matrix_names() if name.startswith("PAM")]
    ['PAM250', 'PAM30', 'PAM70']
    """
    return list(substitution_matrices.load())  # type: ignore[no-untyped-call]


def _matrix_name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a matrix is given by name (str), got {type(name).__name__}")
    names = {known.upper(): known for known in matrix_names()}
    if name.upper() not in names:
        nearest = difflib.get_close_matches(name.upper(), names, n=1, cutoff=0.0)[0]
        raise ValueError(
            f"unknown matrix {name!r}, did you mean {names[nearest]}? "
            f"There are {', '.join(names.values())}"
        )
    return names[name.upper()]


@cache
def _published(name: str) -> tuple[npt.NDArray[np.float64], Alphabet]:
    array = substitution_matrices.load(name)  # type: ignore[no-untyped-call]
    return np.array(array, dtype=np.float64), _alphabet(array.alphabet, name)


def _alphabet(letters: str | tuple[str, ...], name: str) -> Alphabet:
    return PROTEIN if letters == PROTEIN.letters else custom(letters, name)


def _parse(path: Path) -> tuple[list[list[float]], tuple[str, ...]]:
    """Return the rows and letters of a matrix file."""
    try:
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


def _number(word: str, value: object) -> float:
    """Return a finite number as float."""
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        raise TypeError(f"{word} must be a number, got {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"{word} must be finite, got {value}")
    return float(str(value)) if isinstance(value, np.floating) else float(value)


def _cost(word: str, value: object) -> float:
    """Return a gap cost between 0 and LARGEST as float."""
    cost = _number(word, value)
    if not 0 <= cost <= LARGEST:
        hint = "; costs are positive numbers" if cost < 0 else ""
        raise ValueError(f"{word} must be between 0 and {LARGEST}, got {value}{hint}")
    return cost


def _check_ends(ends: EndGaps, insertion: GapCost, deletion: GapCost, scale: int) -> None:
    """Check costs of gaps at the ends, in integer units."""
    if not isinstance(ends, EndGaps):
        raise TypeError(f"ends must be EndGaps, got {type(ends).__name__}")
    for name, cost in zip(ends._fields, ends, strict=True):
        for number in cost:
            if not 0 <= number <= LARGEST:
                raise ValueError(
                    f"{name} must cost between 0 and {LARGEST / scale:g}, got {number / scale:g}"
                )
    for name, inside in (("insertion", insertion), ("deletion", deletion)):
        cost = getattr(ends, f"right_{name}")
        if cost.open > inside.open or cost.extend > inside.extend:
            raise ValueError(
                f"right_{name} costs {cost.open / scale:g} and {cost.extend / scale:g}: "
                f"not more than inside expected ({inside.open / scale:g}, "
                f"{inside.extend / scale:g})"
            )


def _check_gaps(gap_open: int, gap_extend: int, scale: int, kind: str = "gap") -> None:
    """Check costs in integer units."""
    for word, cost in ((f"{kind}_open", gap_open), (f"{kind}_extend", gap_extend)):
        if not 0 <= cost <= LARGEST:
            raise ValueError(
                f"{word} must be between 0 and {LARGEST / scale:g}, got {cost / scale:g}"
            )
    if gap_open < gap_extend:
        raise ValueError(
            f"{kind}_open {gap_open / scale:g} must not be less than "
            f"{kind}_extend {gap_extend / scale:g}"
        )
