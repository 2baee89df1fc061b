"""Sequences as users give them, encoded for an aligner."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import numpy as np

from glsw.alignment.batch import Batch
from glsw.options import HitOptions
from glsw.scoring.kinds import checked, warn_of_nucleic
from glsw.scoring.positional import PositionalQuery
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, Alphabet, UnknownLetterError
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.encoded import Sequences
from glsw.sequences.lines import located
from glsw.sequences.named import (
    Many,
    NamedSequences,
    NotTextError,
    One,
    are_errors,
    as_records,
    codes_of,
    codes_of_lists,
    collect,
    is_single,
    records_or_codes,
    texts_or_records,
)
from glsw.sequences.query import QueryPreparation, QuerySet, Strand
from glsw.sequences.records import PIECE, EncodedRecord, ProfileRecord, Record, Records
from glsw.sequences.seg import MASKED, Masked, Seg, check_seg
from glsw.sequences.translated import TranslatedDatabase

_SAMPLE = 2**10  # texts that tell the letters of all
_MOST_PAIRS, _MOST_PIECES = 2**17, 16  # that are encoded while those before are computed

Queries: TypeAlias = "Many | PositionalQuery | Sequence[PositionalQuery]"


class InputEncoder:
    """What turns sequences, lists of them and files into codes.

    Parameters
    ----------
    alphabet : Alphabet
    unknown : str, optional
        The letter to take for letters outside the alphabet.
    lower_case_mask, mask_low_complexity : bool
        As for `glsw.Aligner`, and ``seg`` too.
    given : Scoring, optional
        The scoring of two sequences, if it was given, not assumed.
    aligner : str
        What makes the aligner, with a place for a scoring of two sequences, for errors.

    Warns
    -----
    RuntimeWarning
        By each method that encodes, once: how many letters count as others, see
        `Alphabet.substitutes`.
    """

    def __init__(
        self,
        alphabet: Alphabet,
        unknown: str | None,
        lower_case_mask: bool,
        mask_low_complexity: bool,
        seg: Masked = "no",
        given: Scoring | None = None,
        aligner: str = "glsw.Aligner({})",
    ) -> None:
        if seg not in MASKED:
            raise ValueError(f"seg {seg!r}: {', '.join(MASKED)} expected")
        check_seg(alphabet, seg != "no")
        if unknown is not None:
            alphabet.encode("", unknown=unknown)  # raises an error if it is no letter
        self._alphabet = alphabet
        self._unknown = unknown
        self._given, self._aligner = None if given is None else given.name, aligner
        self._looks = alphabet.amino_acids and not (given and _takes_nucleotides(given))
        self.settings = {
            "unknown": unknown,
            "lower_case_mask": lower_case_mask,
            "mask_low_complexity": mask_low_complexity,
            "seg": seg,
        }
        self._masks = lower_case_mask, mask_low_complexity, unknown, seg in ("query", "both")
        self._seg_of_targets = seg in ("target", "both")
        self._masks_all_alike = not mask_low_complexity and seg in ("no", "both")
        masks_targets = lower_case_mask or self._seg_of_targets
        self._masks_any = {"query": any(self._masks[:2]) or self._masks[3], "target": masks_targets}
        self._preparation = QueryPreparation(alphabet, "plus", None, *self._masks)
        self._alphabets = {
            side: alphabet.lower_case_masked() if masked else alphabet
            for side, masked in self._masks_any.items()
        }

    def pair(self, query: One, target: One) -> tuple[Batch, tuple[EncodedRecord, EncodedRecord]]:
        """Return the batch of one pair, and its records as alignments show them."""
        query, target = self._checked(query=query, target=target)
        with self._counted(query, target) as found:
            queries = self._preparation.query_set([self.one(query, "query")], found)
            records = Records.of([self.one(target, "target")])
            targets = self._encoded(records, target, "target", found)
            batch = Batch.pairwise(queries.sequences, targets.sequences)
        return batch, (queries[0].record, targets.record(0))

    def triple(self, a: One, b: One, c: One) -> tuple[Batch, list[Record]]:
        """Return the batch of one triple, and its records."""
        a, b, c = self._checked(a=a, b=b, c=c)
        records = [self.one(each, name) for each, name in ((a, "a"), (b, "b"), (c, "c"))]
        with self._counted(a, b, c) as found:
            codes = codes_of(Records.of(records), self._alphabet, self._unknown, found)
            return Batch.of([codes]), records

    def batch(self, queries: Many | Batch, targets: Many | None) -> Batch:
        """Return the pairs of one query and each target, or of as many queries as targets."""
        if isinstance(queries, Batch) or targets is None:
            if targets is not None or not isinstance(queries, Batch) or queries.k != 2:
                raise TypeError("queries and targets, or a Batch of pairs alone, expected")
            queries.check_codes(self._alphabet)
            return queries
        sides = self._checked(query=queries, target=targets)
        with self._counted(*sides) as found:
            if pair := self._two_texts(found, *sides):
                return Batch.one_to_many(*pair)
            first, second = (
                self._collection(side, what, found).sequences
                for side, what in zip(sides, ("query", "target"), strict=True)
            )
        if is_single(queries):
            return Batch.one_to_many(first, second)
        return Batch.pairwise(first, second)

    def _two_texts(
        self, found: Counter[str], query: Any, target: Any
    ) -> tuple[Sequences, Sequences] | None:
        """Return the codes of two texts without records; None if records have more to say."""
        texts = query, target
        plain = all(type(each) is str and each.isalpha() and each.isupper() for each in texts)
        if not plain or any(self._masks_any.values()):
            return None
        with suppress(ValueError):  # records name it
            first, second = (
                self._alphabet.encode(each, unknown=self._unknown, substituted=found)
                for each in texts
            )
            return Sequences.of([first]), Sequences.of([second])
        return None

    def collections(
        self, queries: Many, targets: Many | None
    ) -> tuple[NamedSequences, NamedSequences]:
        """Return many queries and targets; without targets those of the queries."""
        queries, targets = self._checked(query=queries, target=targets)
        with self._counted(queries, targets) as found:
            first = self._collection(queries, "query", found)
            if targets is None and self._masks_all_alike:
                return first, first
            second = queries if targets is None else targets
            return first, self._collection(second, "target", found)

    def slices(self, queries: Many, targets: Many | None) -> list[slice]:
        """Return slices of two long lists of text that pair up, for `parts`; none of others."""
        plain = self._alphabet.width == 1 and are_errors(self._alphabet, self._unknown)
        if not plain or any(self._masks_any.values()):
            return []
        return _slices_of(queries, targets)

    @contextmanager
    def parts(
        self, queries: Many, targets: Many | None, slices: Sequence[slice]
    ) -> Iterator[Iterator[Batch]]:
        """Give the pairs of some `slices`, several at a time; threads encode the next ones.

        They end before a text that is wrong, which `collections` names.
        """
        sides: list[Any] = self._checked(query=queries, target=targets)
        lists = ((sides[0][some], sides[1][some]) for some in slices)
        room = _pieces_of_part(slices[0].stop) * PIECE

        def made() -> Iterator[Batch]:
            try:
                for part, substituted in codes_of_lists(lists, self._alphabet, room):
                    found.update(substituted)
                    yield Batch.pairwise(*part)
            except (TypeError, ValueError):
                found.clear()

        with self._counted(*sides) as found:
            yield made()

    def _collection(self, source: Many, what: str, found: Counter[str]) -> NamedSequences:
        """Return sequences of one side, masked as the settings say, unless they are `Sequences`."""
        try:
            given = records_or_codes(source, self._alphabet, what=what)
            return self._encoded(given, source, what, found)
        except NotTextError:
            return self._encoded(self._records(source, what), source, what, found)

    def _encoded(
        self, given: Records | Sequences, source: Many, what: str, found: Counter[str]
    ) -> NamedSequences:
        if isinstance(given, Sequences):
            named = collect(given, self._alphabet, what=what)
            if given is source or not self._masks_any[what]:
                return named
            given = Records.of(named.record(k) for k in range(len(named)))
        alphabet = self._alphabets[what]
        if what == "target":
            given = self._lowered(given)
            codes = codes_of(given, alphabet, self._unknown, found)
        elif self._masks_any[what] or (len(given) and isinstance(given[0], ProfileRecord)):
            queries = self._preparation.query_set(given, found)
            codes, letters = queries.sequences, "".join(queries.letters)
            if len(letters) == len(codes.residues) and letters.isascii():
                text = np.frombuffer(letters.encode("ascii"), np.uint8)
                given = Records(queries.given.titles, text, codes.offsets)
            else:
                given = Records.of(each.record for each in queries)
        else:
            codes = codes_of(given, alphabet, self._unknown, found)
        return NamedSequences(codes, alphabet, given, what)

    def search(
        self, query: Many, database: Many | Database, settings: HitOptions
    ) -> tuple[QuerySet, Database]:
        """Return queries with their strands and frames, and the database that they search.

        The strands and the genetic codes are those of the settings.

        A query that is masked as a whole raises an error if it is the only one, or else has no
        contexts. The database is in memory unless it is indexed.
        """
        if isinstance(query, Database) or (isinstance(query, os.PathLike) and is_database(query)):
            name = query.path if isinstance(query, Database) else os.fspath(query)
            raise ValueError(
                f"{name or 'the query'} is a database of makedb: the query comes first, then the "
                "database"
            )
        codes = ("query", settings["genetic_code"]), ("target", settings["target_genetic_code"])
        translated = [side for side, code in codes if code is not None]
        query, database = self._checked(translated, query=query, target=database)
        with self._counted(query, database) as found:
            strand, code = settings["strand"], settings["genetic_code"]
            preparation = QueryPreparation(self._alphabet, strand, code, *self._masks)
            records = as_records(query, what="query", alphabet=preparation.query_alphabet)
            queries = preparation.query_set(records, found, lenient=True)
            targets = self.database(
                database, settings["target_strand"], settings["target_genetic_code"]
            )
            found.update(targets.substituted)
        if self._looks and self._alphabet.width == 1:
            sides = ("query", queries.given), ("target", targets.given.records)
            for what, given in sides:
                if what not in translated and isinstance(given, Records):
                    warn_of_nucleic(given, what)
        return queries, targets

    def database(
        self, source: Many | Database, strand: Strand | None = None, genetic_code: int | None = None
    ) -> Database:
        """Return the targets of a search, encoded; those of a file if it is indexed.

        With a genetic code they are DNA, and their reading frames are searched.
        """
        if genetic_code is not None:
            return self._translated(source, strand, genetic_code)
        if strand is not None:
            raise ValueError(f"target_strand {strand!r} requires target_genetic_code")
        found = _opened(source, self._alphabet)
        if not isinstance(found, Database):
            return Database.of(self._lowered(found), self._alphabets["target"], self._unknown)
        if self._seg_of_targets:
            raise ValueError(
                f"{found.path or 'the database'}: SEG masks an indexed database when it is built"
            )
        found.check(self._alphabets["target"])
        return found

    def _checked(self, translated: Sequence[str] = (), **sides: Any) -> list[Any]:
        """Return sources that are scored with each other; an error if they are of other kinds."""
        if not self._looks:
            return list(sides.values())
        return checked(self._given, self._aligner, translated=translated, **sides)

    def _translated(
        self, source: Many | Database, strand: Strand | None, genetic_code: int
    ) -> TranslatedDatabase:
        preparation = QueryPreparation(
            self._alphabet,
            strand,
            genetic_code,
            lower_case_mask=bool(self.settings["lower_case_mask"]),
            seg=self._seg_of_targets,
        )
        found = _opened(source, DNA)
        if not isinstance(found, Database):
            try:
                found = Database.of(found, DNA, self._unknown and DNA.wildcard)
            except UnknownLetterError as error:
                error.args = error.args[0], "targets to translate are DNA"
                raise
        return TranslatedDatabase(found, preparation)

    def _records(self, source: Many, what: str) -> Records:
        return as_records(source, what=what, alphabet=self._alphabet)

    def one(self, source: One, what: str) -> Record:
        """Return the one record of a single sequence or of a file."""
        if not isinstance(source, os.PathLike | Records) and not is_single(source):
            raise TypeError(f"{what} must be one sequence, not {type(source).__name__}")
        records = self._records(source, what)
        if len(records) != 1:
            named = os.fspath(source) if isinstance(source, os.PathLike) else what
            raise ValueError(f"{named}: one sequence expected, {len(records)} found")
        return records[0]

    def _lowered(self, targets: Records) -> Records:
        """Return targets with the segments that SEG masks in lower case."""
        if not self._seg_of_targets:
            return targets
        return Seg().lowered(targets, keep_lower=bool(self.settings["lower_case_mask"]))

    @contextmanager
    def _counted(self, *sources: object) -> Iterator[Counter[str]]:
        """Give a counter of letters that count as others, and warn of them at the end.

        An error of a letter names the line, if one of the sources is its file.
        """
        found: Counter[str] = Counter()
        with located(*sources):
            yield found
        self._alphabet.warn_of_substitutes(found)


def _slices_of(*sides: Any) -> list[slice]:
    """Return slices of lists of text that pair up, of about `PIECE` letters; none of others."""
    if not all(type(side) is list and len(side) == len(sides[0]) for side in sides):
        return []
    texts = [text for side in sides for text in side[:: 1 + len(side) // _SAMPLE]]
    if not {*map(type, texts)} <= {str, bytes}:
        return []
    many = len(sides[0])
    count = max(1, min(_MOST_PAIRS, PIECE * len(texts) // max(1, sum(map(len, texts)))))
    every = [slice(first, min(first + count, many)) for first in range(0, many, count)]
    return every if len(every) >= 2 * _pieces_of_part(count) else []


def _pieces_of_part(pairs: int) -> int:
    """Return how many slices of so many pairs are computed together."""
    return max(1, min(_MOST_PIECES, _MOST_PAIRS // pairs))


def _takes_nucleotides(scoring: Scoring) -> bool:
    """Return whether A, C, G and T are scored by match and mismatch."""
    if scoring.wide_queries:
        return False
    codes = scoring.alphabet.encode("ACGT")
    scores = scoring.matrix[np.ix_(codes, codes)]
    return bool((scores == np.where(np.eye(4), scores[0, 0], scores[0, 1])).all())


def _opened(source: Many | Database, alphabet: Alphabet) -> Records | Database:
    """Return the targets of a search, read but not encoded; those of a file if it is indexed."""
    if isinstance(source, os.PathLike) and is_database(source):
        return Database.open(source)
    if isinstance(source, Database):
        return source
    return texts_or_records(source, alphabet, what="target")
