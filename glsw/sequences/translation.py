"""Translates DNA into a protein alphabet, in all reading frames at once."""

from __future__ import annotations

import warnings
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.arrays import Bool, UInt8
from glsw.sequences.alphabet import DNA, Alphabet
from glsw.sequences.nucleic import complement_of

FRAMES = (1, 2, 3)

_PIECE = 2**22  # codons that are looked up at once
_COMPLEMENT = DNA.encode(complement_of(DNA.decode(range(len(DNA)))))
"""For each code of DNA that of the complement."""


def codons_at(codes: UInt8, table: UInt8) -> tuple[UInt8, UInt8]:
    """Translate the codon at each place of DNA, and the one of the other strand that lies there.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
        In the codes of DNA.
    table : ndarray of uint8, shape (letters, letters, letters)
        See `codon_table`.

    Returns
    -------
    two ndarrays of uint8, shape (max(0, n - 2),)
    """
    flat, letters = table.ravel(), table.shape[0]
    plus, minus = np.empty((2, max(0, len(codes) - 2)), np.uint8)
    for start in range(0, len(plus), _PIECE):
        some = codes[start : start + _PIECE + 2].astype(np.intp)
        plus[start : start + _PIECE] = flat[(some[:-2] * letters + some[1:-1]) * letters + some[2:]]
        some = _COMPLEMENT[some].astype(np.intp)
        minus[start : start + _PIECE] = flat[
            (some[2:] * letters + some[1:-1]) * letters + some[:-2]
        ]
    return plus, minus


def frame_of(
    values: tuple[npt.NDArray[Any], npt.NDArray[Any]], frame: int, start: int, end: int
) -> npt.NDArray[Any]:
    """Return a view of what the codons of a frame have, of the letters from ``start`` to ``end``.

    >>> both = np.arange(6), np.arange(6)  # of eight letters
    >>> [frame_of(both, frame, 0, 8).tolist() for frame in (1, 2, 3, -1, -2, -3)]
    [[0, 3], [1, 4], [2, 5], [5, 2], [4, 1], [3, 0]]
    """
    shift = abs(frame) - 1
    span = max(0, end - start - shift) // 3 * 3
    if frame > 0:
        return values[0][start + shift : start + shift + span : 3]
    first = end - shift - span
    return values[1][first : first + span : 3][::-1]


def lower_case_codons(letters: str) -> tuple[Bool, Bool]:
    """Return whether there is lower case in the codon at each place, on either strand.

    >>> lower_case_codons("ACgTTT")[0].tolist()
    [True, True, True, False]
    """
    lower = np.frombuffer(letters.encode("ascii", "replace"), np.uint8) >= ord("a")
    found = lower[:-2] | lower[1:-1] | lower[2:]
    return found, found


def genetic_codes() -> list[int]:
    """Return NCBI's numbers of the genetic codes that there are."""
    from Bio.Data import CodonTable

    return sorted(CodonTable.unambiguous_dna_by_id)


@lru_cache(maxsize=32, typed=True)
def codon_table(genetic_code: int, alphabet: Alphabet) -> UInt8:
    """Return the letter (ASCII) of an alphabet for each codon of codes of DNA, all of IUPAC.

    Codons that may mean several amino acids become what Biopython makes of them, mostly X.

    Raises
    ------
    TypeError, ValueError
        If the genetic code does not exist, or the alphabet is not one of proteins.
    """
    from Bio import BiopythonWarning
    from Bio.Seq import translate

    if isinstance(genetic_code, bool) or not isinstance(genetic_code, int):
        raise TypeError(f"genetic_code must be a number, not {type(genetic_code).__name__}")
    if genetic_code not in (known := genetic_codes()):
        raise ValueError(f"genetic code {genetic_code}: there are {', '.join(map(str, known))}")
    if not alphabet.amino_acids:
        raise ValueError(
            f"translation needs a protein scoring, not of the {alphabet.name} alphabet"
        )
    with warnings.catch_warnings():  # of codons that are stops and amino acids: these are taken
        warnings.simplefilter("ignore", BiopythonWarning)
        words = "".join("".join(codon) for codon in product(DNA.letters, repeat=3))
        letters: str = translate(words, table=genetic_code)  # type: ignore[no-untyped-call]
    for letter in sorted(set(letters) - set(alphabet.letters)):
        if alphabet.wildcard is None:
            raise ValueError(
                f"translation needs the letters * and X, the {alphabet.name} alphabet "
                f"({alphabet.letters}) lacks one"
            )
        letters = letters.replace(letter, alphabet.wildcard)
    codons = np.frombuffer(letters.encode("ascii"), np.uint8)
    return codons.reshape((len(DNA),) * 3)
