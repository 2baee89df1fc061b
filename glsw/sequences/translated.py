"""A DNA database translated in all reading frames, to be searched like one of proteins."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes
from glsw.sequences.alphabet import DNA
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences, offsets_of, ranges, sorted_by_length
from glsw.sequences.query import Context, InContext, QueryPreparation
from glsw.sequences.records import EncodedRecord
from glsw.sequences.seg import Seg
from glsw.sequences.translation import (
    FRAMES,
    codon_table,
    codons_at,
    frame_of,
    lower_case_codons,
)


class TranslatedDatabase(Database):
    """The reading frames of the sequences of a DNA database, in memory: two bytes per nucleotide.

    Frames are sequences of their own, in the order +1, +2, +3, -1, -2, -3 of each that is given.
    E-values are computed as by tblastn: with the number of sequences that are given, and a third of
    their nucleotides.

    Parameters
    ----------
    given : Database
        Of the DNA alphabet.
    preparation : QueryPreparation
        Genetic code, strands, the alphabet of the frames, and what is masked in them: lower case
        (codons with at least one such letter) and what SEG finds, but no stop codons.

    Raises
    ------
    ValueError
        If letters are not DNA, or lower case is to be masked and ``given`` is a file, which has
        upper case only.

    Examples
    --------
    >>> from glsw.sequences.alphabet import PROTEIN
    >>> from glsw.sequences.records import Record
    >>> dna = Database.of([Record("gene", "", "CATGAAAGTTTAACC")], DNA)
    >>> frames = TranslatedDatabase(dna, QueryPreparation(PROTEIN, genetic_code=1))
    >>> frames
    <TranslatedDatabase of 6 reading frames, 26 residues, of 1 sequences, 15 nucleotides>
    >>> [frames[k].letters for k in range(6)]
    ['HESLT', 'MKV*', '*KFN', 'G*TFM', 'VKLS', 'LNFH']
    >>> frames.shown(1).context
    Context(length=15, strand=1, frame=2, rna=False)
    """

    def __init__(self, given: Database, preparation: QueryPreparation) -> None:
        assert preparation.genetic_code is not None
        alphabet = preparation.alphabet
        if given.alphabet.letters != DNA.letters:
            raise ValueError(
                f"{given.path or 'the database'}: translated targets are DNA, its alphabet is "
                f"{given.alphabet.name}"
            )
        if preparation.lower_case_mask and given.path:
            raise ValueError(
                f"{given.path}: lower case of translated targets is masked in FASTA files only, an "
                "indexed database has none"
            )
        self._given = given
        self._frames = tuple(sign * frame for sign in preparation.signs for frame in FRAMES)
        letters = codon_table(preparation.genetic_code, alphabet)
        table = alphabet.encode(letters.tobytes().decode("ascii")).reshape(letters.shape)
        codons = codons_at(given.sequences.residues, table)
        lengths = given.lengths[given.rank][:, np.newaxis] - abs(np.array(self._frames)) + 1
        lengths = np.maximum(0, lengths).ravel() // 3
        order, rank = sorted_by_length(lengths)
        offsets = offsets_of(lengths[order])
        super().__init__(alphabet, len(order), int(offsets[-1]), None)

        def gathered(
            values: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        ) -> Codes:
            bounds = given.offsets.tolist()
            frames = [
                frame_of(values, frame, bounds[place], bounds[place + 1])
                for place in given.rank.tolist()
                for frame in self._frames
            ]
            return np.concatenate([np.empty(0, np.uint8), *(frames[k] for k in order.tolist())])

        self._unmasked = masked = gathered(codons)
        if preparation.masks:
            masked, hidden = masked.copy(), np.zeros(len(masked), bool)
            wildcard = alphabet.encode(alphabet.wildcard or "")
            if preparation.lower_case_mask:
                in_order = "".join(given[k].letters for k in given.order.tolist())
                hidden = gathered(lower_case_codons(in_order)).astype(bool)
            if preparation.seg:
                begin, end = Seg().segments(self._ascii(self._unmasked), offsets)
                hidden[ranges(begin, end - begin)] = True
            masked[hidden & (self._ascii(masked) != ord("*"))] = wildcard
        self.__dict__.update(order=order, rank=rank, offsets=offsets)
        self.__dict__.update(sequences=Sequences(masked, offsets))
        self.substituted = given.substituted

    @property
    def given(self) -> Database:
        """The database that was translated."""
        return self._given

    @property
    def frames(self) -> tuple[int, ...]:
        """The reading frames of each sequence that is given."""
        return self._frames

    @property
    def size(self) -> tuple[int, int]:
        """The sequences that are given, and a third of their nucleotides."""
        return len(self._given), self._given.residues // 3

    def __getitem__(self, number: int) -> EncodedRecord:
        """Return a reading frame as a protein; what is masked is in lower case."""
        return self.shown(range(len(self))[number]).record

    def shown(self, number: int) -> InContext:
        """Return a reading frame by its number, as results show it."""
        k, frame = divmod(number, len(self._frames))
        given, place = self._given[k], int(self.rank[number])
        start, end = self.offsets[place : place + 2].tolist()
        codes, searched = self._unmasked[start:end], self.codes(place)
        record = EncodedRecord(given.id, given.description, codes, self.alphabet)
        if (hidden := codes != searched).any():
            letters = self._ascii(codes)
            letters[hidden] |= 0x20
            record.restore(letters.tobytes().decode("ascii"))
        context = Context(
            len(given.codes), 1 if self._frames[frame] > 0 else -1, self._frames[frame]
        )
        return InContext(given, context, record)

    def _ascii(self, codes: Codes) -> Codes:
        return np.frombuffer("".join(self.alphabet.letters).encode("ascii"), np.uint8)[codes]

    def __repr__(self) -> str:
        return (
            f"<TranslatedDatabase of {len(self)} reading frames, {self.residues} residues, "
            f"of {len(self._given)} sequences, {self._given.residues} nucleotides>"
        )
