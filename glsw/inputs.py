"""Sequences as users give them, encoded for an aligner."""

from __future__ import annotations

import os
import warnings
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.search.selection import Query
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.encoded import Sequences
from glsw.sequences.query import MaskedError, QueryPreparation, Strand
from glsw.sequences.records import EncodedRecord, Record, Single, Source, as_records, is_single

OneSequence: TypeAlias = "Single | os.PathLike[str]"
"""A sequence, or the path of a file of one sequence."""
Targets: TypeAlias = "Source | Database"


class InputEncoder:
    """What turns sequences, lists of them and files into codes.

    Parameters
    ----------
    alphabet : Alphabet
    unknown : str, optional
        The letter to take for letters outside the alphabet.
    lower_case_mask, mask_low_complexity : bool
        As for `glsw.Aligner`.
    """

    def __init__(
        self,
        alphabet: Alphabet,
        unknown: str | None,
        lower_case_mask: bool,
        mask_low_complexity: bool,
    ) -> None:
        if unknown is not None:
            alphabet.encode("", unknown=unknown)  # raises an error if it is no letter
        self._alphabet = alphabet
        self._unknown = unknown
        self._masks = lower_case_mask, mask_low_complexity, unknown
        self._preparation = QueryPreparation(alphabet, "plus", None, *self._masks)
        self._masked_alphabet = alphabet.lower_case_masked() if lower_case_mask else alphabet

    def pair(
        self, query: OneSequence, target: OneSequence
    ) -> tuple[Batch, tuple[EncodedRecord, EncodedRecord]]:
        """Return the batch of one pair, and its records as alignments show them."""
        prepared = self._preparation.contexts(self._one(query, "query"))[0]
        record = self._one(target, "target")
        batch = Batch.pairwise([prepared.codes], [self._encode(record)])
        return batch, (prepared.record, EncodedRecord.of(record, self._alphabet, self._unknown))

    def triple(self, a: OneSequence, b: OneSequence, c: OneSequence) -> tuple[Batch, list[Record]]:
        """Return the batch of one triple, and its records."""
        records = [self._one(each, name) for each, name in ((a, "a"), (b, "b"), (c, "c"))]
        return Batch.of([map(self._encode, records)]), records

    def batch(self, queries: Source | Batch, targets: Source | None) -> Batch:
        """Return the pairs of one query and each target, or of as many queries as targets."""
        if isinstance(queries, Batch) or targets is None:
            if targets is not None or not isinstance(queries, Batch) or queries.k != 2:
                raise TypeError("queries and targets, or a Batch of pairs alone, expected")
            queries.check_codes(self._alphabet)
            return queries
        query_codes = [
            self._preparation.contexts(record)[0].codes
            for record in self._records(queries, "query")
        ]
        target_codes = map(self._encode, self._records(targets, "target"))
        if is_single(queries):
            return Batch.one_to_many(query_codes[0], target_codes)
        return Batch.pairwise(query_codes, target_codes)

    def sequences(self, source: Source, what: str) -> Sequences:
        """Return the codes of a file or a list of sequences."""
        return Sequences.of(map(self._encode, self._records(source, what)))

    def queries(
        self, source: Source, strand: Strand | None, genetic_code: int | None
    ) -> list[Query]:
        """Return queries with their strands and frames.

        One that is masked as a whole raises an error if it is the only one, or else has none.
        """
        preparation = QueryPreparation(self._alphabet, strand, genetic_code, *self._masks)
        records = as_records(source, what="query", alphabet=preparation.query_alphabet)
        queries = []
        for record in records:
            try:
                queries.append(Query(record, preparation.contexts(record)))
            except MaskedError as error:
                if len(records) == 1:
                    raise
                warnings.warn(f"{error}; it has no hits", RuntimeWarning, stacklevel=3)
                queries.append(Query(record, []))
        return queries

    def database(self, source: Targets) -> Database:
        """Return a database with the codes of this alphabet, in memory unless it is indexed."""
        if isinstance(source, os.PathLike) and is_database(source):
            source = Database.open(source)
        if not isinstance(source, Database):
            records = self._records(source, "target")
            return Database.of(records, self._masked_alphabet, self._unknown)
        source.check(self._masked_alphabet)
        return source

    def _records(self, source: Source, what: str) -> list[Record]:
        return as_records(source, what=what, alphabet=self._alphabet)

    def _one(self, source: OneSequence, what: str) -> Record:
        """Return the one record of a single sequence or of a file."""
        if not isinstance(source, os.PathLike) and not is_single(source):
            raise TypeError(f"{what} must be one sequence, not {type(source).__name__}")
        records = self._records(source, what)
        if len(records) != 1:
            raise ValueError(f"{source}: one sequence expected, {len(records)} found")
        return records[0]

    def _encode(self, target: Record) -> npt.NDArray[np.uint8]:
        return self._masked_alphabet.encode(target.letters, name=target.id, unknown=self._unknown)
