"""The scores of pairs of letters and the costs of gaps: `Scoring`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from glsw.scoring import matrices
from glsw.scoring.gaps import (
    FREE,
    EndGaps,
    FreeEnds,
    GapCost,
    Mode,
    PositionalEndGaps,
    PositionalGaps,
    check_gap,
    checked_cost,
    from_blast,
)
from glsw.scoring.matrices import MAX_DECIMALS
from glsw.sequences.alphabet import DNA, Alphabet
from glsw.sequences.encoded import Sequences

_INT32 = 2**31 - 1
_in_modes: WeakKeyDictionary[Scoring, dict[EndGaps | None, Scoring]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Scoring:
    """A substitution matrix and the cost of gaps, in integers.

    A gap of k positions costs ``gap_open + (k - 1) * gap_extend``, as in Biopython, parasail and
    EMBOSS; `blast` takes BLAST's costs. Equal costs are the linear gap model.

    Parameters
    ----------
    matrix : ndarray of int32, shape (A, A), read-only
        Score of a pair of letters: row of the query's letter, column of the target's.
    alphabet : Alphabet
        The A letters.
    gap_open, gap_extend : int
        Costs (positive numbers) of the first and of each further position of a gap.
    name : str
        Name shown in results.
    scale : int
        Integer units per unit of the published matrix: a power of ten, 1 for an integer matrix.
        Reported scores are divided by it.
    insertion_open, insertion_extend : int, optional
        Costs of insertions (query letters opposite a gap in the target), if they differ from
        deletions.
    end_gaps : EndGaps, optional
        End gap costs for global and semi-global alignment; None for local alignment. `in_mode`
        sets the usual ones.

    Examples
    --------
    >>> scoring = Scoring.blast("BLOSUM62", 11, 1)
    >>> scoring.gap_open, scoring.gap_extend, scoring.linear
    (12, 1, False)
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
    end_gaps: EndGaps | None = None
    wide_queries: ClassVar[bool] = False  # whether codes of queries are rows, of 16 bits

    def __post_init__(self) -> None:
        matrix = matrices.checked_matrix(self.matrix, self.alphabet, self.wide_queries)
        object.__setattr__(self, "matrix", matrix)
        for word in ("gap_open", "gap_extend", "scale"):
            number = matrices.checked_number(word, getattr(self, word))
            if number != int(number):
                raise ValueError(f"{word} must be a whole number, got {number}")
            object.__setattr__(self, word, int(number))
        if self.scale not in [10**k for k in range(MAX_DECIMALS + 1)]:
            raise ValueError(f"scale must be a power of ten to {10**MAX_DECIMALS}: {self.scale}")
        if (self.insertion_open is None) != (self.insertion_extend is None):
            raise ValueError("give both insertion_open and insertion_extend, or neither")
        check_gap(self.deletion, self.scale)
        check_gap(self.insertion, self.scale, "insertion")
        if self.end_gaps is not None:
            if not isinstance(self.end_gaps, EndGaps):
                raise TypeError(f"end_gaps must be EndGaps, got {type(self.end_gaps).__name__}")
            self.end_gaps.check(*self.largest_costs, self.scale)

    def __repr__(self) -> str:
        costs = dict.fromkeys((self.deletion, self.insertion))
        gaps = ", ".join("/".join(str(self.display(x)) for x in each) for each in costs)
        mode = "local" if self.local else "end gaps"
        return f"<{type(self).__name__} {self.name}, gaps {gaps}, {mode}>"

    @classmethod
    def named(cls, name: str = "BLOSUM62", gap_open: float = 12, gap_extend: float = 1) -> Scoring:
        """Return a scoring with a published matrix, by name in upper or lower case.

        All matrices of Biopython are available, and those of the package scoring_matrices if it is
        installed, as with ``glsw[cpu]``: VTML80, PFASUM60, PAM50 and more.

        Parameters
        ----------
        name : str
            Name of the matrix.
        gap_open, gap_extend : float
            Costs, positive numbers, of the first and of each further position of a gap, in units of
            the matrix.

        Raises
        ------
        ValueError
            For an unknown matrix, with the nearest name; for a gap cost out of range.

        Examples
        --------
        >>> Scoring.named("BLOSUM26")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: unknown matrix 'BLOSUM26', did you mean BLOSUM62? There are BENNER22, ...
        """
        name, matrix, alphabet = matrices.published(name)
        return cls._scaled(matrix, alphabet, gap_open, gap_extend, name)

    @classmethod
    def blast(
        cls,
        name: str = "BLOSUM62",
        existence: float | None = None,
        extension: float | None = None,
        **others: NoReturn,
    ) -> Scoring:
        """Return a scoring with a named matrix and gap costs in BLAST's convention.

        X, including masked letters, scores -1 against every letter but ``*``, as in BLAST. FASTA
        and SWIPE use the same convention for gap costs. `named` keeps the X scores of the matrix.

        Parameters
        ----------
        name : str
            Name of the matrix, see `named`. BLOSUM80 is in thirds of a bit; BLAST's is not.
        existence, extension : float, optional
            A gap of k positions costs ``existence + k * extension``: 11 and 1, BLAST's "11/1", are
            ``gap_open=12, gap_extend=1``. The defaults are BLAST's for the matrix: 11/1 for
            BLOSUM62, 14/2 for BLOSUM45 and PAM250, 13/2 for BLOSUM50, 10/1 for BLOSUM90 and PAM70,
            9/1 for PAM30; 15/2 for BLOSUM80 in thirds of a bit; 11/1 for matrices that BLAST does
            not have.

        Raises
        ------
        TypeError, ValueError
            As `named`; for other names of gap costs, such as ``gapopen``.

        Examples
        --------
        >>> blast, named = Scoring.blast(), Scoring.named("BLOSUM62")
        >>> x, *letters = blast.alphabet.encode("XAWX*")
        >>> blast.matrix[x, letters].tolist(), named.matrix[x, letters].tolist()
        ([-1, -1, -1, -4], [0, -2, -1, -4])
        """
        name, matrix, alphabet = matrices.published(name)
        usual = matrices.costs_of_blast(name)
        existence = usual[0] if existence is None else existence
        extension = usual[1] if extension is None else extension
        costs = from_blast(existence, extension, others)
        return cls._scaled(matrices.with_x_of_blast(matrix, alphabet), alphabet, *costs, name)

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
        """Return a scoring with one score for equal letters and one for different letters.

        Parameters
        ----------
        match, mismatch : float
            Scores of equal and of different letters; ``mismatch`` is usually negative.
            An ambiguous letter of the alphabet, such as N, never matches.
        gap_open, gap_extend : float
            Costs, positive numbers, of the first and of each further position of a gap, in units of
            the matrix.
        alphabet : Alphabet
            The letters; DNA by default.

        Raises
        ------
        ValueError
            If ``match`` is not positive or not more than ``mismatch``; for a gap cost out of range.

        Examples
        --------
        >>> scoring = Scoring.match_mismatch(2, -3, 5, 2)
        >>> scoring.matrix[:3, :3].tolist()
        [[2, -3, -3], [-3, 2, -3], [-3, -3, 2]]
        """
        matrix = matrices.match_matrix(match, mismatch, alphabet)
        name = f"match {match} mismatch {mismatch}"
        return cls._scaled(matrix, alphabet, gap_open, gap_extend, name)

    @classmethod
    def nucleotide(
        cls,
        match: int = 2,
        mismatch: int = -3,
        existence: float = 5,
        extension: float = 2,
        **others: NoReturn,
    ) -> Scoring:
        """Return the scoring of blastn for DNA, including ambiguity codes.

        Ambiguity codes score as in blastn, see
        `glsw.scoring.matrices.blastn_matrix`.

        Parameters
        ----------
        match, mismatch : int
            Scores of equal and of different bases: blastn's reward and penalty.
        existence, extension : float
            A gap of k positions costs ``existence + k * extension``: 5 and 2 are
            ``gap_open=7, gap_extend=2``.

        Raises
        ------
        TypeError, ValueError
            As `match_mismatch`; for other names of gap costs, such as ``gapopen``; if match
            or mismatch is not a whole number.

        Examples
        --------
        >>> scoring = Scoring.nucleotide()
        >>> scoring.name, scoring.gap_open, scoring.gap_extend
        ('DNA 2/-3', 7, 2)
        >>> a, r, n = map(scoring.alphabet.letters.index, "ARN")
        >>> scoring.matrix[[a, a, r, n], [a, r, r, n]].tolist()
        [2, -1, -1, -2]
        """
        matrix = matrices.blastn_matrix(match, mismatch)
        costs, name = from_blast(existence, extension, others), f"DNA {match:g}/{mismatch:g}"
        return cls._scaled(matrix, DNA, *costs, name)

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

        Parameters
        ----------
        matrix : array_like, shape (A, A)
            Scores: rows are letters of the query, columns letters of the target. Up to four
            decimals are scaled to integers.
        letters : str or tuple of str
            The A letters, in the order of rows and columns.
        gap_open, gap_extend : float
            Costs, positive numbers, of the first and of each further position of a gap, in units of
            the matrix.
        name : str
            Name shown in results.

        Examples
        --------
        >>> Scoring.from_array([[1.5, -1], [0, 2]], "ab", 3, 1).matrix.tolist()
        [[15, -10], [0, 20]]
        """
        array, alphabet = matrices.matrix_of_array(matrix, letters, name)
        return cls._scaled(array, alphabet, gap_open, gap_extend, name)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], gap_open: float, gap_extend: float) -> Scoring:
        """Return a scoring from a file in NCBI's matrix format, which Biopython also reads.

        Lines that begin with ``#`` are comments; then a line of letters, and for each letter a line
        with the letter and its scores.

        Parameters
        ----------
        path : str or path
        gap_open, gap_extend : float
            Costs, positive numbers, of the first and of each further position of a gap, in units of
            the matrix.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If the file has another format, naming file and line.
        """
        matrix, letters = matrices.read_matrix(Path(path))
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
        """Return a scoring in integer units."""
        costs = checked_cost("gap_open", gap_open), checked_cost("gap_extend", gap_extend)
        numbers = np.append(matrix.ravel(), costs)
        units, scale = matrices.in_integer_units(numbers, f"{name} with its gap costs")
        opening, extension = units[-2:].tolist()
        return cls(units[:-2].reshape(matrix.shape), alphabet, opening, extension, name, scale)

    @cached_property
    def match_and_mismatch(self) -> tuple[int, int, int] | None:
        """Match, mismatch and the number of letters that match themselves; None for other matrices.

        The letters that do, the unambiguous ones, are the first of the alphabet.

        >>> Scoring.match_mismatch(2, -1, 1, 1).match_and_mismatch
        (2, -1, 4)
        >>> Scoring.blast("BLOSUM62").match_and_mismatch is None
        True
        """
        match, mismatch = int(self.matrix[0, 0]), int(self.matrix[0, -1])
        matching = int((self.matrix.diagonal() == match).sum())
        expected = np.full_like(self.matrix, mismatch)
        expected[range(matching), range(matching)] = match
        alike = np.array_equal(self.matrix, expected) and not self.wide_queries
        return (match, mismatch, matching) if alike else None

    def in_mode(self, mode: Mode, *, free: FreeEnds = "both") -> Scoring:
        """Return this scoring for local, global or semi-global alignment.

        Parameters
        ----------
        mode : {"local", "global", "semiglobal"}
            "local": the alignment begins and ends anywhere. "global": it contains all letters of
            both sequences, and gaps at the ends cost the same as others. "semiglobal": likewise,
            but gaps at the ends are free.
        free : {"both", "query", "target"}
            The sequences with free ends in semi-global alignment: letters at both ends of these
            may stay opposite gaps at no cost. With "target" the whole query is aligned with a part
            of the target.

        Notes
        -----
        For other costs use ``dataclasses.replace(scoring, end_gaps=EndGaps(...))`` with
        `glsw.scoring.gaps.EndGaps`.

        >>> Scoring.blast().in_mode("semiglobal", free="target").end_gaps.left_deletion
        GapCost(open=0, extend=0)
        """
        made = _in_modes.setdefault(self, {})
        ends = EndGaps.for_mode(mode, *self.largest_costs, free)
        if ends not in made:
            made[ends] = replace(self, end_gaps=ends)
        return made[ends]

    @property
    def local(self) -> bool:
        """Whether alignments may begin and end anywhere."""
        return self.end_gaps is None

    @property
    def several(self) -> bool:
        """Whether a pair can have further alignments: if one need not contain all of both.

        Semi-global ones need not where both ends of a sequence are free.
        """
        ends = self.end_gaps
        return not ends or FREE in (
            max(ends.left_insertion, ends.right_insertion),
            max(ends.left_deletion, ends.right_deletion),
        )

    @property
    def deletion(self) -> GapCost:
        """The cost of target letters opposite a gap in the query."""
        return GapCost(self.gap_open, self.gap_extend)

    @property
    def insertion(self) -> GapCost:
        """The cost of query letters opposite a gap in the target."""
        if self.insertion_open is None or self.insertion_extend is None:
            return self.deletion
        return GapCost(self.insertion_open, self.insertion_extend)

    @property
    def largest_costs(self) -> tuple[GapCost, GapCost]:
        """The costs of insertions and of deletions, or what those of no position exceed."""
        return self.insertion, self.deletion

    def ends_of(
        self,
        queries: npt.NDArray[np.integer],
        first: int | npt.NDArray[np.integer] = 0,
        lengths: int | npt.NDArray[np.integer] | None = None,
    ) -> EndGaps | PositionalEndGaps | None:
        """Return the end gaps of queries, None for local alignment.

        They differ between queries only with gap costs by position.

        Parameters
        ----------
        queries : ndarray of uint8 or uint16, shape (total,)
            The codes of a query, or of several, one after the other.
        first, lengths : int or ndarray of int64
            Where each of several begins, and how many codes it has.
        """
        return self.end_gaps

    def check_positions(self, queries: Sequences) -> None:
        """Raise ValueError if the codes of a query are positions that cannot be those of one."""

    @property
    def separate(self) -> bool:
        """Whether insertions and deletions have different costs."""
        return self.insertion != self.deletion

    @property
    def symmetric(self) -> bool:
        """Whether a pair scores the same if query and target are swapped."""
        turned = self.end_gaps and self.end_gaps.turned()
        equal = np.array_equal(self.matrix, self.matrix.T) and not self.wide_queries
        return equal and not self.separate and turned == self.end_gaps

    @property
    def linear(self) -> bool:
        """Whether every position of a gap costs the same, in insertions and in deletions."""
        return all(cost.open == cost.extend for cost in (self.insertion, self.deletion))

    @cached_property
    def score_offset_terms(self) -> tuple[int, int, int]:
        """The terms of `score_offset`: a constant, one per row and one per column."""
        if self.end_gaps is None:
            return 0, 0, 0
        return self.end_gaps.score_offset_terms(*self.largest_costs)

    def score_offset(
        self, m: int | npt.NDArray[np.int64], n: int | npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the number that engines add to every cell of tables of m rows and n columns.

        Scores of global and semi-global alignments may be negative, but never below those of gaps
        alone. With this number added, H, E and F of every path are positive, so the recurrence of
        local alignment holds for them too, as its 0 never applies. It is 0 for local alignment.
        """
        constant, row, column = self.score_offset_terms
        if isinstance(m, int) and isinstance(n, int):  # quicker
            return np.array(constant + m * row + n * column)
        return constant + np.asarray(m, np.int64) * row + np.asarray(n, np.int64) * column

    @property
    def gaps(self) -> PositionalGaps | None:
        """Gap costs by position; None if all positions have the same."""
        return None

    @property
    def letters(self) -> Scoring:
        """The scoring of letters that a scoring of positions is based on; otherwise itself."""
        return self

    @property
    def shown(self) -> Scoring:
        """The scoring whose letters results show: with two tracks, that of the first."""
        return self

    @cached_property
    def maximum(self) -> int:
        """The largest entry of the matrix."""
        return int(self.matrix.max())

    @cached_property
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
        if (lowest := int(self.score_offset(m, n))) + self.bound(m, n) > _INT32:
            raise ValueError(
                f"lengths {m} and {n} could score {1 - lowest} in global alignment with "
                f"{self.name}, too far below 0 for 32 bits"
            )

    def display(self, score: int) -> int | float:
        """Return a score of integer units in units of the matrix as published."""
        return int(score) if self.scale == 1 else int(score) / self.scale

    def in_matrix_units(
        self, scores: npt.NDArray[Any]
    ) -> npt.NDArray[np.int32] | npt.NDArray[np.float64]:
        """Return scores of integer units in units of the matrix as published.

        They stay int32 if the matrix and the gap costs are integers; otherwise they are float64.

        >>> Scoring.named("GONNET1992", 10, 0.5).in_matrix_units(np.array([192], np.int32))
        array([19.2])
        """
        return scores if self.scale == 1 else scores / self.scale


def mode_among(modes: Mapping[str, tuple[Any, ...]], scoring: Scoring) -> str:
    """Return the name of the mode of a scoring, "" if it is none of these.

    ``modes`` has the mode of each name, and whose ends are free, as `Scoring.in_mode` takes them.
    """
    costs = scoring.insertion, scoring.deletion
    found = ((name, EndGaps.for_mode(mode, *costs, *free)) for name, (mode, *free) in modes.items())
    return next((name for name, ends in found if ends == scoring.end_gaps), "")
