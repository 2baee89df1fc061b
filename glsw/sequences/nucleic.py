"""Nucleic acid: its letters, their complements, and how it is told from protein."""

from __future__ import annotations

from collections.abc import Iterable

NUCLEOTIDES = "ACGTURYSWKMBDHVN"
LETTERS_TO_TELL = 100_000
"""The letters of a file, from its first one, that `looks_nucleic` counts."""
PERCENT_TO_TELL = 95
"""How many of them are A, C, G, T, U or N in nucleic acid."""
_COMMON = b"ACGTUNacgtun"
_BOTH_CASES = NUCLEOTIDES + NUCLEOTIDES.lower()
_COMPLEMENTS = str.maketrans(_BOTH_CASES, "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")
_T_TO_U = str.maketrans("Tt", "Uu")


def looks_nucleic(texts: Iterable[str]) -> bool:
    """Return whether sequences look like DNA or RNA: 95 % of their letters are A, C, G, T, U or N.

    Upper and lower case count alike. The first 100,000 letters are counted, in the order of the
    sequences. Without any letter they are not nucleic acid.

    Examples
    --------
    >>> looks_nucleic(["acgu", "NNNN"]), looks_nucleic(["GATTACA", "MKV"]), looks_nucleic([""])
    (True, False, False)
    >>> looks_nucleic(["A" * 95 + "R" * 5]), looks_nucleic(["A" * 94 + "R" * 6])
    (True, False)
    """
    left, common = LETTERS_TO_TELL, 0
    for text in texts:
        data = text[:left].encode("ascii", "replace")
        common += len(data) - len(data.translate(None, _COMMON))
        left -= len(data)
        if not left:
            break
    counted = LETTERS_TO_TELL - left
    return counted > 0 and 100 * common >= PERCENT_TO_TELL * counted


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
