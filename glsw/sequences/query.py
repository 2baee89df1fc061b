"""Preparation of queries: their strands or reading frames, with masked letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from glsw.sequences.alphabet import DNA, Alphabet, UnknownLetterError
from glsw.sequences.nucleic import is_rna, reversed_strand
from glsw.sequences.records import Codes, EncodedRecord, ProfileRecord, Record
from glsw.sequences.seg import Seg, check_seg
from glsw.sequences.translation import (
    FRAMES,
    codon_table,
    codons_at,
    frame_of,
    lower_case_codons,
)

Strand = Literal["both", "plus", "minus"]
STRANDS: tuple[Strand, ...] = get_args(Strand)

_SHORTEST_DUST = 4  # letters that the library asks for


class MaskedError(ValueError):
    """A query has no residue that is not masked."""


@dataclass(frozen=True)
class Context:
    """How what was searched was made of the query as given; or of the target, if it is translated.

    Parameters
    ----------
    length : int
        Letters of the sequence as given.
    strand : {1, -1}
        -1 for the reverse complement.
    frame : int
        0 if it was not translated; 1, 2, 3 for the frames of the plus strand, which begin
        at its first, second and third letter, -1, -2, -3 for those of the minus strand.
    rna : bool
        Whether the sequence as given has U and no T, and so its reverse complement.

    Examples
    --------
    >>> Context(100).place(0, 10), Context(100, -1).place(0, 10)
    ((1, 10), (100, 91))
    >>> Context(100, 1, frame=2).place(0, 10), Context(100, -1, frame=-1).place(0, 10)
    ((2, 31), (100, 71))
    """

    length: int
    strand: int = 1
    frame: int = 0
    rna: bool = field(default=False, compare=False)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last letter of the sequence as given, counted from 1.

        ``start`` and ``end`` are half-open, counted from 0 in what was searched; on the minus
        strand the first letter stands behind the last.
        """
        if self.frame:
            shift = abs(self.frame) - 1
            start, end = shift + 3 * start, shift + 3 * end
        if self.strand < 0:
            return self.length - start, self.length - end + 1
        return start + 1, end

    @property
    def step(self) -> int:
        """Difference of the places of neighbouring residues: 1 or -1, translated 3 or -3."""
        return self.strand * (3 if self.frame else 1)


class InContext(NamedTuple):
    """A sequence as given, and a context of it as alignments show it."""

    given: Record
    context: Context
    record: EncodedRecord


class PreparedQuery(NamedTuple):
    """A context of a query, its letters and their codes.

    Parameters
    ----------
    context : Context
    record : EncodedRecord
        Named as the query; letters that are masked are in lower case.
    codes : ndarray of uint8, shape (letters,)
        Masked letters have the code of the wildcard. Of a profile its positions, uint16.
    """

    context: Context
    record: EncodedRecord
    codes: npt.NDArray[Any]


@dataclass(frozen=True)
class QueryPreparation:
    """How queries become the sequences that are searched: strands, translation, masks.

    Parameters
    ----------
    alphabet : Alphabet
        That of the scoring.
    strand : {"both", "plus", "minus"}, optional
        Which strands of DNA; both, unless given, if that is what the alphabet is for.
    genetic_code : int, optional
        NCBI's number of the code by which DNA is translated into the letters of the alphabet, in
        three frames of each strand.
    lower_case_mask : bool
        Whether lower-case letters become the wildcard.
    mask_low_complexity : bool
        Whether stretches of low complexity do, see `low_complexity`.
    seg : bool
        Whether segments of low complexity of proteins do, see `glsw.sequences.seg`.
    unknown : str, optional
        The letter of the alphabet to take for letters outside it, which are an error otherwise.

    Raises
    ------
    ValueError
        If the alphabet has no strands, translation or mask, or the code does not exist.

    Examples
    --------
    >>> preparation = QueryPreparation(DNA)
    >>> for each in preparation.contexts(Record("q", "", "AACGN")):
    ...     print(each.context.strand, each.record.letters, each.codes)
    1 AACGN [ 0  0  1  2 14]
    -1 NCGTT [14  1  2  3  3]
    """

    alphabet: Alphabet
    strand: Strand | None = None
    genetic_code: int | None = None
    lower_case_mask: bool = False
    mask_low_complexity: bool = False
    unknown: str | None = None
    seg: bool = False

    def __post_init__(self) -> None:
        if self.strand not in (*STRANDS, None):
            raise ValueError(f"strand {self.strand!r}: {', '.join(STRANDS)} expected")
        if self.genetic_code is not None:
            codon_table(self.genetic_code, self.alphabet)
        elif self.strand in ("both", "minus") and not self.alphabet.nucleotides:
            raise ValueError(
                f"strand {self.strand!r}: the {self.alphabet.name} alphabet has no complements, "
                "only DNA has two strands"
            )
        check_seg(self.alphabet, self.seg)
        if self.masks:
            self.alphabet.lower_case_masked()
        if self.mask_low_complexity:
            low_complexity("", self.alphabet)

    @property
    def masks(self) -> bool:
        """Whether any letters are to be masked."""
        return self.lower_case_mask or self.mask_low_complexity or self.seg

    @property
    def query_alphabet(self) -> Alphabet:
        """The alphabet of queries as given."""
        return self.alphabet if self.genetic_code is None else DNA

    @property
    def signs(self) -> tuple[int, ...]:
        """The strands, 1 and -1."""
        two = self.genetic_code is not None or self.alphabet.nucleotides
        strand = self.strand or ("both" if two else "plus")
        return {"both": (1, -1), "plus": (1,), "minus": (-1,)}[strand]

    @property
    def count(self) -> int:
        """Contexts of a query."""
        return len(self.signs) * (1 if self.genetic_code is None else len(FRAMES))

    def residues(self, length: int) -> int:
        """Return the residues of all contexts of a query of this length.

        >>> from glsw.sequences.alphabet import PROTEIN
        >>> QueryPreparation(DNA).residues(100)
        200
        >>> QueryPreparation(PROTEIN, genetic_code=1).residues(100)
        196
        """
        each = [length] if self.genetic_code is None else [(length - k) // 3 for k in range(3)]
        return len(self.signs) * sum(max(0, n) for n in each)

    def contexts(
        self, record: Record, substituted: Counter[str] | None = None
    ) -> list[PreparedQuery]:
        """Return the contexts of a query: plus, minus; of translated ones +1, +2, +3, -1, -2, -3.

        Codons that may mean several amino acids become what Biopython makes of them, mostly X;
        letters after the last whole codon are dropped. ``substituted`` counts letters of the query
        as for `Alphabet.encode`.

        Raises
        ------
        ValueError
            For letters outside the alphabet, and, `MaskedError`, if all of them are masked, naming
            the query.
        """
        if isinstance(record, ProfileRecord):
            return self._of_profile(record)
        if self.genetic_code is None:
            self._encode(record.letters, record.id, substituted)
        of_letters = self._strands if self.genetic_code is None else self._frames
        made = []
        for context, letters in of_letters(record):
            named = Record(record.id, record.description, letters)
            encoded = EncodedRecord.of(named, self.alphabet, self.unknown)
            as_shown = encoded.alphabet is self.alphabet and not self._masked
            codes = encoded.codes if as_shown else self._encode(letters, record.id)
            made.append(PreparedQuery(context, encoded, codes))
        if self._masked:
            letter = self.alphabet.wildcard
            wildcard = self.alphabet.encode(letter or "")
            residues = sum(len(each.codes) for each in made)
            if residues and all((each.codes == wildcard).all() for each in made):
                length = len(record.letters) // self.query_alphabet.width
                raise MaskedError(f"query {record.id}: all {length} residues are masked")
        return made

    def _of_profile(self, record: ProfileRecord) -> list[PreparedQuery]:
        """Return the strands of a profile, which has its masks already."""
        if self.genetic_code is not None:
            raise ValueError(f"{record.id}: a profile is not translated")
        rna = self.alphabet.nucleotides and is_rna(record.letters)
        made = []
        for sign in self.signs:
            shown: EncodedRecord = record
            if sign < 0:
                turned = Record(record.id, record.description, reversed_strand(record.letters, rna))
                shown = EncodedRecord.of(turned, record.alphabet, record.alphabet.wildcard)
            context = Context(len(record.codes), sign, rna=rna)
            made.append(PreparedQuery(context, shown, record.positions[sign]))
        return made

    def _strands(self, record: Record) -> Iterator[tuple[Context, str]]:
        letters = self.soft_masked(record.letters)
        rna = self.alphabet.nucleotides and is_rna(letters)
        for sign in self.signs:
            context = Context(len(letters) // self.alphabet.width, sign, rna=rna)
            yield context, letters if sign > 0 else reversed_strand(letters, rna)

    def _frames(self, record: Record) -> Iterator[tuple[Context, str]]:
        assert self.genetic_code is not None
        table = codon_table(self.genetic_code, self.alphabet)
        unknown = None if self.unknown is None else DNA.wildcard
        try:
            codes = DNA.encode(record.letters, name=record.id, unknown=unknown)
        except UnknownLetterError as error:
            error.args = error.args[0], "a query to translate is DNA"
            raise
        codons, lower = codons_at(codes, table), None
        if self.lower_case_mask:
            lower = lower_case_codons(record.letters)
        for sign in self.signs:
            for frame in FRAMES:
                letters = frame_of(codons, sign * frame, 0, len(codes))
                if lower is not None:
                    letters = letters | frame_of(lower, sign * frame, 0, len(codes)) * np.uint8(32)
                text = letters.tobytes().decode("ascii")
                yield Context(len(codes), sign, sign * frame), self.soft_masked(text)

    def soft_masked(self, letters: str) -> str:
        """Return letters with those of low complexity in lower case, if they are to be masked."""
        if self.seg:
            given = [Record("", "", letters)]
            letters = Seg().lowered(given, keep_lower=self.lower_case_mask)[0].letters
        if not self.mask_low_complexity:
            return letters
        stretches = low_complexity(letters, self.alphabet)
        if not self.lower_case_mask and not self.seg:
            letters = letters.upper()
        pieces, at = [], 0
        for start, end in stretches:
            pieces += [letters[at:start], letters[start:end].lower()]
            at = end
        return "".join([*pieces, letters[at:]])

    def _encode(self, letters: str, name: str, substituted: Counter[str] | None = None) -> Codes:
        alphabet = self._masked or self.alphabet
        return alphabet.encode(letters, name=name, unknown=self.unknown, substituted=substituted)

    @cached_property
    def _masked(self) -> Alphabet | None:
        """The alphabet in which masked letters are the wildcard, if any are to be masked."""
        return self.alphabet.lower_case_masked() if self.masks else None


def low_complexity(letters: str, alphabet: Alphabet) -> tuple[tuple[int, int], ...]:
    """Return the stretches of low complexity, half-open and counted from 0.

    For DNA they are those of DUST, as in blastn (Morgulis et al. 2006, "A fast and symmetric DUST
    implementation", Journal of Computational Biology 13), for proteins those of tantan (Frith
    2011, "A new repeat-masking method", Nucleic Acids Research 39), by the library pydustmasker.

    Raises
    ------
    ValueError
        If the alphabet is neither, or the library is not installed.
    """
    if not alphabet.nucleotides and not alphabet.amino_acids:
        raise ValueError(
            f"low complexity is known of DNA and proteins, not of the {alphabet.name} alphabet"
        )
    try:
        from pydustmasker import DustMasker, TantanMasker
    except ImportError:
        raise ValueError(
            "masking low complexity needs pydustmasker 3 or newer: pip install 'glsw[mask]'"
        ) from None
    if alphabet.nucleotides:
        enough = len(letters) >= _SHORTEST_DUST
        return DustMasker(letters.upper().replace("U", "T")).intervals if enough else ()
    return TantanMasker(letters.upper(), protein=True).intervals if letters else ()
