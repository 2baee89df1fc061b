"""Nucleic acids: their letters and complements, and how they are told from proteins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from glsw import caller

NUCLEOTIDES = "ACGTURYSWKMBDHVN"
LETTERS_TO_TELL = 100_000
"""The letters of a side, from its first one, that `kind_of` counts."""
PERCENT_NUCLEOTIDES = 95
"""How many of them are nucleotides of IUPAC's code in nucleic acid."""
PERCENT_COMMON = 75
"""How many of them are A, C, G, T, U or N; of 59,933 proteins none has more than 70 %."""
FEWEST_LETTERS = 10
"""Fewer letters that look like nucleic acid may be those of a peptide."""
COMMON = b"ACGTUNacgtun"
_BOTH_CASES = NUCLEOTIDES + NUCLEOTIDES.lower()
_NUCLEOTIDES = _BOTH_CASES.encode("ascii")
_COMPLEMENTS = str.maketrans(_BOTH_CASES, "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")
_T_TO_U = str.maketrans("Tt", "Uu")


class Kind(NamedTuple):
    """Whether sequences are nucleic acid or protein.

    Parameters
    ----------
    nucleic : bool, optional
        None if nothing tells, because there is no letter, or there are codes.
    letters : int, optional
        How many letters told it; None if it is known without them, or there are codes.

    Examples
    --------
    >>> Kind(True, 9).sure, Kind(True, 10).sure, Kind(True).sure, Kind(False, 3).sure
    (False, True, True, True)
    """

    nucleic: bool | None = None
    letters: int | None = None

    @property
    def sure(self) -> bool:
        """Whether the decision is certain."""
        few = self.letters is not None and self.letters < FEWEST_LETTERS
        return self.nucleic is not None and not (self.nucleic and few)


class KindWarning(UserWarning):
    """Letters have decided whether nucleic acid or proteins are scored, or they contradict that."""


def kind_of(texts: Iterable[str | bytes | bytearray]) -> Kind:
    """Return whether sequences are nucleic acid, DNA or RNA, by their letters.

    They are if at least 95 % of the letters are nucleotides of IUPAC's code (ACGTURYSWKMBDHVN), and
    at least 75 % are A, C, G, T, U or N. Upper and lower case count alike. The first 100,000
    letters are counted, in the order of the sequences. Fewer than 10 such letters may also be a
    peptide: what they are compared with decides, see `judge`.

    Examples
    --------
    >>> kind_of(["acgu", "NNNN", "RYACGTACGTACGT"]), kind_of(["GATTACA", "MKV"]), kind_of([""])
    (Kind(nucleic=True, letters=22), Kind(nucleic=False, letters=10), Kind(nucleic=None, letters=0))
    >>> [kind_of(["A" * (100 - k) + "R" * k]).nucleic for k in (25, 26)]
    [True, False]
    """
    left, parts = LETTERS_TO_TELL, []
    for text in texts:
        data = text[:left]
        if isinstance(data, str):
            data = data.encode("ascii", "replace")
        parts.append(data)
        left -= len(data)
        if not left:
            break
    letters = b"".join(parts)
    counted = len(letters)
    if not counted:
        return Kind(None, 0)
    others = letters.translate(None, COMMON)
    common = counted - len(others)
    nucleotides = counted - len(others.translate(None, _NUCLEOTIDES))
    enough = 100 * nucleotides >= PERCENT_NUCLEOTIDES * counted
    return Kind(enough and 100 * common >= PERCENT_COMMON * counted, counted)


class Verdict(NamedTuple):
    """How sequences that are compared with each other are scored.

    Parameters
    ----------
    nucleic : bool, optional
        As nucleic acid or as proteins; None if nothing tells, or some have codes.
    short : tuple of str
        The names of those with so few letters that the others have decided.
    mixed : tuple of (str, str), optional
        The names of one of nucleic acid and of one of proteins, which no scoring takes.
    """

    nucleic: bool | None
    short: tuple[str, ...] = ()
    mixed: tuple[str, str] | None = None


def judge(kinds: Mapping[str, Kind]) -> Verdict:
    """Return how sequences of these kinds are scored with each other.

    Examples
    --------
    >>> judge({"q": Kind(True, 7), "t": Kind(True, 9)}).nucleic
    True
    >>> judge({"q": Kind(True, 7), "t": Kind(False, 99)})
    Verdict(nucleic=False, short=('q',), mixed=None)
    >>> judge({"q": Kind(False, 60), "t": Kind(True)}).mixed
    ('t', 'q')
    """
    if any(kind == Kind() for kind in kinds.values()):
        return Verdict(None)
    nucleic = [name for name, kind in kinds.items() if kind.nucleic]
    proteins = [name for name, kind in kinds.items() if kind.nucleic is False]
    sure = [name for name in nucleic if kinds[name].sure]
    if sure and proteins:
        return Verdict(None, mixed=(sure[0], proteins[0]))
    if proteins:
        return Verdict(False, tuple(nucleic))
    return Verdict(True if nucleic else None)


def warn(text: str) -> None:
    """Warn of the kind of sequences, at the line that called the package."""
    caller.warn(text, KindWarning)


def complement_of(letters: str) -> str:
    """Return the complement of nucleotides, IUPAC's ambiguous ones too; others as they are.

    >>> complement_of("ACGTURYnac-")
    'TGCAAYRntg-'
    """
    return letters.translate(_COMPLEMENTS)


def is_rna(letters: str) -> bool:
    """Return whether there is U, and no T.

    >>> is_rna("ACGu"), is_rna("ACGUT"), is_rna("ACG")
    (True, False, False)
    """
    return any(u in letters for u in "Uu") and not any(t in letters for t in "Tt")


def reversed_strand(letters: str, rna: bool) -> str:
    """Return the reverse complement, with U or with T; gaps stay gaps.

    >>> reversed_strand("AAC-Gn", False), reversed_strand("AAC-Gn", True)
    ('nC-GTT', 'nC-GUU')
    """
    turned = complement_of(letters)[::-1]
    return turned.translate(_T_TO_U) if rna else turned


def spell_nucleotides(letters: str) -> bool:
    """Return whether these are A, C, G, either T or U, and perhaps others of IUPAC."""
    characters = set(letters)
    return set("ACG") < characters <= set(NUCLEOTIDES) and len(characters & set("TU")) == 1


def nucleotide_aliases(letters: str | tuple[str, ...]) -> dict[str, str]:
    """Return the spellings of nucleotides or codons with U for T, or T for U."""
    characters = set("".join(letters))
    if not spell_nucleotides("".join(letters)):
        return {}
    present, missing = "TU" if "T" in characters else "UT"
    aliases: dict[str, str] = {}
    for letter in letters:
        spellings = [""]
        for c in letter:
            spellings = [s + x for s in spellings for x in (c + missing if c == present else c)]
        aliases.update({spelling: letter for spelling in spellings if spelling != letter})
    return aliases
