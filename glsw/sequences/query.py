"""Preparation of queries: strands or reading frames, and masking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from glsw import caller
from glsw.arrays import Bool, Codes, Int8, Int64
from glsw.sequences.alphabet import DNA, Alphabet, UnknownLetterError
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.named import codes_of
from glsw.sequences.nucleic import is_rna, reversed_strand
from glsw.sequences.records import EncodedRecord, Listed, ProfileRecord, Record, Records
from glsw.sequences.seg import Seg, check_seg
from glsw.sequences.translation import (
    FRAMES,
    codon_table,
    codons_at,
    frame_of,
    lower_case_codons,
)
from glsw.words import visible

Strand = Literal["both", "plus", "minus"]
STRANDS: tuple[Strand, ...] = get_args(Strand)

_SHORTEST_DUST = 4  # letters that the library asks for


class MaskedError(ValueError):
    """All residues of a query are masked."""


@dataclass(frozen=True)
class Context:
    """Strand and reading frame of a query as searched, or of a translated target.

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


class Shown(Protocol):
    """Sequences in context by number, each perhaps made when it is first asked for."""

    def __getitem__(self, number: int, /) -> InContext:
        """Return a sequence as alignments show it."""


@dataclass(frozen=True, eq=False)
class QuerySet:
    """The contexts of queries that are searched, one query after the other.

    Parameters
    ----------
    given : Records
        The queries as results show them.
    offsets : ndarray of int64, shape (queries + 1,)
        The contexts of query ``q`` are those from ``offsets[q]`` to ``offsets[q + 1]``; it has none
        if all its residues are masked.
    sequences : Sequences
        The codes of the contexts; masked letters have that of the wildcard. Of profiles their
        positions, uint16.
    shown : Sequences
        The codes that alignments show: those of the letters.
    letters : sequence of str
        Of each context; letters that are masked are in lower case.
    alphabet : Alphabet
        That of the letters.
    strand, frame, length, rna : ndarray, shape (contexts,)
        See `Context`.

    Examples
    --------
    >>> records = Record("q", "", "AACGN"), Record("r", "", "AC")
    >>> queries = QueryPreparation(DNA).query_set(records)
    >>> len(queries.given), len(queries), queries[1].record.letters, queries[1].context.strand
    (2, 4, 'NCGTT', -1)
    >>> queries.owner.tolist(), queries.sequences[1].tolist()
    ([0, 0, 1, 1], [14, 1, 2, 3, 3])
    >>> queries.part(slice(1, 2)).letters
    ['AC', 'GT']
    """

    given: Records
    offsets: Int64
    sequences: Sequences
    shown: Sequences
    letters: Sequence[str]
    alphabet: Alphabet
    strand: Int8
    frame: Int8
    length: Int64
    rna: Bool

    def __len__(self) -> int:
        return len(self.sequences)

    def __getitem__(self, context: int) -> InContext:
        """Return a context as alignments show it."""
        return self._in_context[int(context)]

    def __iter__(self) -> Iterator[InContext]:
        return (self[k] for k in range(len(self)))

    @cached_property
    def _in_context(self) -> Mapping[int, InContext]:
        return _InContext(self)

    @cached_property
    def owner(self) -> Int64:
        """The query of each context, shape (contexts,)."""
        return np.repeat(np.arange(len(self.given)), np.diff(self.offsets))

    @cached_property
    def residues(self) -> Int64:
        """Residues of all contexts of each query, shape (queries,)."""
        return np.diff(self.sequences.offsets[self.offsets])

    def lengths_of(self, query: int) -> Int64:
        """Return the residues of each context of a query."""
        return self.sequences.lengths[self.offsets[query] : self.offsets[query + 1]]

    def part(self, queries: slice) -> QuerySet:
        """Return the contexts of a slice of the queries, of step 1; codes are not copied."""
        start, stop, _ = queries.indices(len(self.given))
        some = slice(*self.offsets[[start, stop]].tolist())
        return QuerySet(
            self.given[start:stop],
            self.offsets[start : stop + 1] - self.offsets[start],
            self.sequences.part(some),
            self.shown.part(some),
            self.letters[some],
            self.alphabet,
            self.strand[some],
            self.frame[some],
            self.length[some],
            self.rna[some],
        )


class _InContext(dict[int, InContext]):
    """The contexts of queries as alignments show them, each made when it is first asked for."""

    def __init__(self, queries: QuerySet) -> None:
        self._queries = queries

    def __missing__(self, k: int) -> InContext:
        of = self._queries
        given = of.given[int(of.owner[k])]
        context = Context(
            int(of.length[k]), int(of.strand[k]), int(of.frame[k]), rna=bool(of.rna[k])
        )
        title = given.id, given.description
        record = EncodedRecord(*title, of.shown[k], of.alphabet, of.letters[k])
        found = self[k] = InContext(given, context, record)
        return found


class _Made(NamedTuple):
    """The contexts of queries: how many each query has, and of each what `QuerySet` has."""

    counts: list[int]
    contexts: list[Context]
    letters: list[str]
    shown: Sequences
    codes: Sequences


@dataclass(frozen=True)
class QueryPreparation:
    """How queries are prepared for a search: strands, translation, masking.

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
    >>> preparation.query_set([Record("q", "", "AACGN")]).letters
    ['AACGN', 'NCGTT']
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

    def query_set(
        self,
        records: Iterable[Record],
        substituted: Counter[str] | None = None,
        *,
        lenient: bool = False,
    ) -> QuerySet:
        """Return the contexts of queries: first those of the plus strand.

        The first has the letters as given, translated ones are +1, +2, +3, -1, -2, -3. Codons that
        may mean several amino acids become what Biopython makes of them, mostly X; letters after
        the last whole codon are dropped.

        Parameters
        ----------
        records : iterable of Record
        substituted : Counter of str, optional
            Counts letters of the queries as for `Alphabet.encode`.
        lenient : bool
            Whether a query whose letters are all masked has no contexts, with a warning, unless it
            is the only one.

        Raises
        ------
        ValueError
            For letters outside the alphabet, and, `MaskedError`, if all of them are masked, naming
            the query.
        """
        given, alphabet = Records.of(records), self.alphabet.shown
        if len(given) and isinstance(first := given[0], ProfileRecord):
            alphabet, made = first.alphabet, self._of_profiles(given)
        else:
            made = self._of_letters(given, substituted)
            if self._masked:
                made = self._without_masked(given, made, lenient=lenient)
        if self.alphabet.shown is not self.alphabet:
            given = Records.of(Record(one.id, one.description, one.letters[::2]) for one in given)
        return QuerySet(
            given,
            offsets_of(made.counts),
            made.codes,
            made.shown,
            made.letters,
            alphabet,
            np.array([each.strand for each in made.contexts], np.int8),
            np.array([each.frame for each in made.contexts], np.int8),
            np.array([each.length for each in made.contexts], np.int64),
            np.array([each.rna for each in made.contexts], bool),
        )

    def _of_letters(self, given: Records, substituted: Counter[str] | None) -> _Made:
        """Return the contexts of queries; letters are encoded once if none is masked.

        Letters that will be masked or turned are encoded as they are given before, for errors.
        """
        if self.genetic_code is not None:
            substituted = None
        elif self.mask_low_complexity or self.seg or self.signs == (-1,):
            self._encoded(given, [each.letters for each in given], substituted)
            substituted = None
        contexts, letters = (self._strands if self.genetic_code is None else self._frames)(given)
        codes = shown = self._encoded(given, letters, substituted)
        alphabet = self._masked or self.alphabet
        if self._masked or alphabet.shown is not alphabet:
            both = [*map(alphabet.as_shown, codes, letters)]
            shown, letters = Sequences.of(each for each, _ in both), [each for _, each in both]
        return _Made([self.count] * len(given), contexts, letters, shown, codes)

    def _without_masked(self, given: Records, made: _Made, *, lenient: bool) -> _Made:
        """Return contexts without those of queries of which all letters are masked."""
        wildcard = self.alphabet.encode(self.alphabet.wildcard or "")
        bounds = made.codes.offsets[:: self.count]
        free = offsets_of(made.codes.residues != wildcard)[bounds]
        masked = (bounds[1:] > bounds[:-1]) & (free[1:] == free[:-1])
        for query in np.flatnonzero(masked).tolist():
            length = len(given[query].letters) // self.query_alphabet.width
            text = f"query {given[query].id}: all {length} residues are masked"
            if not lenient or len(given) == 1:
                raise MaskedError(text)
            caller.warn(f"{text}; it has no hits", RuntimeWarning)
        if not masked.any():
            return made
        kept = np.flatnonzero(np.repeat(~masked, self.count))
        return _Made(
            np.where(masked, 0, made.counts).tolist(),
            [made.contexts[k] for k in kept],
            [made.letters[k] for k in kept],
            made.shown.select(kept),
            made.codes.select(kept),
        )

    def _of_profiles(self, given: Records) -> _Made:
        """Return the strands of profiles, which have their masks already."""
        contexts, texts, shown, positions = list[Context](), list[str](), list[Codes](), list[Any]()
        for record in given:
            assert isinstance(record, ProfileRecord)
            if self.genetic_code is not None:
                raise ValueError(f"{visible(record.id)}: a profile is not translated")
            rna = self.alphabet.nucleotides and is_rna(record.letters)
            for sign in self.signs:
                letters, codes = record.letters, record.codes
                if sign < 0:
                    letters = reversed_strand(letters, rna)
                    codes = record.alphabet.encode(letters, unknown=record.alphabet.wildcard)
                contexts.append(Context(len(record.codes), sign, rna=rna))
                texts.append(letters)
                shown.append(codes)
                positions.append(record.positions[sign])
        both = Sequences.of(shown), Sequences.of(positions)
        return _Made([self.count] * len(given), contexts, texts, *both)

    def _strands(self, given: Records) -> tuple[list[Context], list[str]]:
        contexts, texts = list[Context](), list[str]()
        for letters in self.soft_masked([each.letters for each in given]):
            rna = self.alphabet.nucleotides and is_rna(letters)
            for sign in self.signs:
                contexts.append(Context(len(letters) // self.alphabet.width, sign, rna=rna))
                texts.append(letters if sign > 0 else reversed_strand(letters, rna))
        return contexts, texts

    def _frames(self, given: Records) -> tuple[list[Context], list[str]]:
        assert self.genetic_code is not None
        table = codon_table(self.genetic_code, self.alphabet)
        unknown = None if self.unknown is None else DNA.wildcard
        contexts, texts = list[Context](), list[str]()
        for record in given:
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
                        some = frame_of(lower, sign * frame, 0, len(codes))
                        letters = letters | some * np.uint8(32)
                    contexts.append(Context(len(codes), sign, sign * frame))
                    texts.append(letters.tobytes().decode("ascii"))
        return contexts, self.soft_masked(texts)

    def soft_masked(self, texts: list[str]) -> list[str]:
        """Return letters with those of low complexity in lower case, if they are to be masked."""
        if self.seg:
            given = [Record("", "", letters) for letters in texts]
            found = Seg().lowered(given, keep_lower=self.lower_case_mask)
            texts = [each.letters for each in found]
        if not self.mask_low_complexity:
            return texts
        masked = []
        for letters in texts:
            stretches, pieces, at = low_complexity(letters, self.alphabet), list[str](), 0
            if not self.lower_case_mask and not self.seg:
                letters = letters.upper()
            for start, end in stretches:
                pieces += [letters[at:start], letters[start:end].lower()]
                at = end
            masked.append("".join([*pieces, letters[at:]]))
        return masked

    def _encoded(
        self,
        given: Records,
        texts: list[str],
        substituted: Counter[str] | None = None,
    ) -> Sequences:
        """Return the codes of texts, of which each query has equally many; errors name it."""

        def read(k: int, text: str) -> Record:
            return Record(given[k * len(given) // len(texts)].id, "", text)

        alphabet = self._masked or self.alphabet
        return codes_of(Listed(texts, "", read), alphabet, self.unknown, substituted)

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
            f"low complexity is defined for DNA and proteins, not for the {alphabet.name} alphabet"
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
