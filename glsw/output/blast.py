"""Common parts of BLAST's formats: orientation of pairs, and numbers as BLAST prints them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from glsw.alignment.hits import Hsp
from glsw.alignment.text import NumberedRow
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.nucleic import is_rna, reversed_strand


@dataclass(frozen=True)
class BlastHsp:
    """A high-scoring pair in the orientation that BLAST shows.

    What was translated from the minus strand descends. A query that was not translated always
    ascends, and its target descends.

    Parameters
    ----------
    query, target : NumberedRow
    between : str
        As in `Alignment.rows`.
    """

    query: NumberedRow
    target: NumberedRow
    between: str

    @classmethod
    def of(cls, hsp: Hsp) -> BlastHsp:
        """Turn a pair round as needed."""
        found, context, width = hsp.alignment, hsp.context, hsp.alignment.scoring.alphabet.width
        query, between, target = found.rows()
        (q, q_last), (t, t_last) = hsp.query_place, hsp.target_place
        if context.strand > 0 or context.frame:
            return cls(
                NumberedRow(query, q, context.step, width),
                NumberedRow(target, t, hsp.of_target.step, width),
                between,
            )
        return cls(
            NumberedRow(reversed_strand(query, context.rna), q_last, 1, width),
            NumberedRow(reversed_strand(target, is_rna(found.target.letters)), t_last, -1, width),
            between[::-1],
        )

    def midline(self, alphabet: Alphabet) -> str:
        """Return the row between: ``|`` for equal nucleotides, else letters, ``+`` for positives.

        Examples
        --------
        >>> from glsw import DNA, PROTEIN
        >>> shown = BlastHsp(NumberedRow("MKV-L", 1), NumberedRow("MRVWC", 1), "|:| .")
        >>> shown.midline(PROTEIN), shown.midline(DNA)
        ('M+V  ', '| |  ')
        """
        if is_nucleic(alphabet):
            return "".join("|" if mark == "|" else " " for mark in self.between)
        marks = {":": "+", ".": " "}
        return "".join(
            letter if mark == "|" else marks.get(mark, mark)
            for letter, mark in zip(self.query.text, self.between, strict=True)
        )

    def pairs(self) -> Iterable[tuple[str, str, bool]]:
        """Yield the letters of each column, and whether they are equal."""
        width = self.query.width
        for k in range(0, len(self.between), width):
            equal = self.between[k] == "|"
            yield self.query.text[k : k + width], self.target.text[k : k + width], equal


def is_nucleic(alphabet: Alphabet) -> bool:
    """Return whether the letters are nucleotides, or codons.

    >>> from glsw import DNA, PROTEIN
    >>> is_nucleic(DNA), is_nucleic(PROTEIN)
    (True, False)
    """
    return alphabet.nucleotides or alphabet.width > 1


def percent(part: int, whole: int) -> int:
    """Return a rounded percentage, 100 only if nothing is missing.

    >>> percent(2, 3), percent(199, 200), percent(200, 200)
    (67, 99, 100)
    """
    return 100 if part == whole else min(99, int(0.5 + 100 * part / whole))


def evalue_text(evalue: float, *, digits: int = 0) -> str:
    """Return an E-value as BLAST prints it, with ``digits`` decimals where it is small.

    >>> [evalue_text(e) for e in (1e-200, 2.34e-20, 0.0234, 0.234, 2.34, 23.4)]
    ['0.0', '2e-20', '0.023', '0.23', '2.3', '23']
    >>> evalue_text(2.34e-20, digits=2)
    '2.34e-20'
    """
    if evalue < 0.0009:
        return "0.0" if evalue < 1e-180 else f"{evalue:.{digits}e}"
    form = "%.3f" if evalue < 0.1 else "%.2f" if evalue < 1 else "%.1f" if evalue < 10 else "%.0f"
    return form % evalue


def bits_text(bits: float) -> str:
    """Return a score in bits as BLAST prints it, without the decimals from 100 on.

    >>> bits_text(99.84), bits_text(286.9), bits_text(123456.7)
    ('99.8', '286', '1.235e+05')
    """
    if bits > 99999:
        return f"{bits:.3e}"
    return str(int(bits)) if bits > 99.9 else f"{bits:.1f}"
