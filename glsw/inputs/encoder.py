"""Encodes sequences as passed by users for an aligner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from glsw.alignment.batch import Batch
from glsw.arrays import Codes, Int64
from glsw.cores import beside
from glsw.inputs.kinds import checked, warn_of_nucleic
from glsw.inputs.source import Many, One, Source
from glsw.options import HitOptions
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, Alphabet, UnknownLetterError, letters_of
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.file_names import are_errors
from glsw.sequences.lines import located
from glsw.sequences.named import NamedSequences, codes_of, put
from glsw.sequences.query import QueryPreparation, QuerySet, Strand
from glsw.sequences.records import PIECE, EncodedRecord, ProfileRecord, Record, Records
from glsw.sequences.seg import MASKED, Masked, Seg, check_seg
from glsw.sequences.translated import TranslatedDatabase

_KEPT = 8  # scorings
_SAMPLE = 2**10  # texts that tell the letters of all
_MOST_PAIRS, _MOST_PIECES = 2**17, 16  # that are encoded while those before are computed


class InputEncoder:
    """Encodes sequences, lists of them and files.

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

    def pair(self, query: Any, target: One) -> tuple[Batch, tuple[EncodedRecord, EncodedRecord]]:
        """Return the batch of one pair, and its records as alignments show them."""
        sides = self._checked(query=query, target=target)
        with self._counted(*sides) as found:
            queries = self._preparation.query_set([self.one(sides[0], "query")], found)
            records = Records.of([self.one(sides[1], "target")])
            targets = self._encoded(records, "target", found)
        batch = Batch.pairwise(queries.sequences, targets.sequences)
        return batch, (queries[0].record, targets.record(0))

    def triple(self, a: One, b: One, c: One) -> tuple[Batch, list[Record]]:
        """Return the batch of one triple, and its records."""
        sides = self._checked(a=a, b=b, c=c)
        records = [self.one(side, name) for side, name in zip(sides, "abc", strict=True)]
        with self._counted(*sides) as found:
            codes = codes_of(Records.of(records), self._alphabet, self._unknown, found)
            return Batch.of([codes]), records

    def batch(self, queries: Any, targets: Many | None) -> Batch:
        """Return the pairs of one query and each target, or of as many queries as targets."""
        source = Source.of(queries)
        batch = source.given
        if isinstance(batch, Batch) or targets is None:
            if targets is not None or not isinstance(batch, Batch) or batch.k != 2:
                raise TypeError("queries and targets, or a Batch of pairs alone, expected")
            batch.check_codes(self._alphabet)
            return batch
        sides = self._checked(query=source, target=targets)
        if pair := self._two_texts(*(side.given for side in sides)):
            return Batch.of_pair(*pair)
        with self._counted(*sides) as found:
            both = zip(sides, ("query", "target"), strict=True)
            first, second = (self._collection(*each, found).sequences for each in both)
        return (Batch.one_to_many if sides[0].single else Batch.pairwise)(first, second)

    def _two_texts(self, query: Any, target: Any) -> tuple[Sequences, Sequences] | None:
        """Return the codes of two texts without records; None if records have more to say."""
        texts = query, target
        plain = all(type(each) is str and each.isalpha() and each.isupper() for each in texts)
        if not plain or any(self._masks_any.values()):
            return None
        with suppress(ValueError):  # records name it
            found = Counter[str]()
            codes = [
                self._alphabet.encode(each, unknown=self._unknown, substituted=found)
                for each in texts
            ]
            self._alphabet.warn_of_substitutes(found)
            return Sequences.one(codes[0]), Sequences.one(codes[1])
        return None

    def collections(self, queries: Any, targets: Any) -> tuple[NamedSequences, NamedSequences]:
        """Return many queries and targets; without targets those of the queries."""
        first, second = self._checked(query=queries, target=targets)
        with self._counted(first, second) as found:
            named = self._collection(first, "query", found)
            alone = second.given is None
            if alone and self._masks_all_alike:
                return named, named
            return named, self._collection(first if alone else second, "target", found)

    def slices(self, queries: Any, targets: Any) -> list[slice]:
        """Return slices of two long lists of text that pair up, for `parts`; none of others.

        Each has about `PIECE` letters.
        """
        plain = self._alphabet.width == 1 and are_errors(self._alphabet, self._unknown)
        sides = [Source.of(side).given for side in (queries, targets)]
        many = [len(side) for side in sides if type(side) is list]
        if not plain or any(self._masks_any.values()) or len(many) < 2 or many[0] != many[1]:
            return []
        texts = [text for side in sides for text in side[:: 1 + many[0] // _SAMPLE]]
        if not {*map(type, texts)} <= {str, bytes}:
            return []
        count = max(1, min(_MOST_PAIRS, PIECE * len(texts) // max(1, sum(map(len, texts)))))
        every = [slice(at, min(at + count, many[0])) for at in range(0, many[0], count)]
        return every if len(every) >= 2 * _pieces_of_part(count) else []

    @contextmanager
    def parts(
        self, queries: Any, targets: Any, slices: Sequence[slice]
    ) -> Iterator[Iterator[Batch]]:
        """Give the pairs of some `slices`, several at a time; threads encode the next ones.

        They end before a text that is wrong, which `collections` names.
        """
        sides = self._checked(query=queries, target=targets)
        lists = ((sides[0].given[some], sides[1].given[some]) for some in slices)
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

    def _collection(self, source: Source, what: str, found: Counter[str]) -> NamedSequences:
        """Return sequences of one side, masked as the settings say, unless they are `Sequences`."""
        coded = isinstance(source.given, Sequences)
        if coded or not (self._masks_any[what] or isinstance(source.first, ProfileRecord)):
            alphabet = self._alphabet if coded else self._alphabets[what]
            return source.encoded(alphabet, what=what, unknown=self._unknown, substituted=found)
        records = source.records(what=what, alphabet=self._alphabet)
        return self._encoded(records, what, found)

    def _encoded(self, records: Records, what: str, found: Counter[str]) -> NamedSequences:
        """Return records of one side, masked as the settings say."""
        alphabet = self._alphabets[what]
        if what == "target":
            records = self._lowered(records)
            codes = codes_of(records, alphabet, self._unknown, found)
            return NamedSequences(codes, alphabet, records, what)
        queries = self._preparation.query_set(records, found)
        codes, letters = queries.sequences, "".join(queries.letters)
        if len(letters) == len(codes.residues) and letters.isascii():
            text = np.frombuffer(letters.encode("ascii"), np.uint8)
            records = Records(queries.given.titles, text, codes.offsets)
        else:
            records = Records.of(each.record for each in queries)
        return NamedSequences(codes, alphabet, records, what)

    def search(self, query: Any, database: Any, settings: HitOptions) -> tuple[QuerySet, Database]:
        """Return queries with their strands and frames, and the database that they search.

        The strands and the genetic codes are those of the settings.

        A query that is masked as a whole raises an error if it is the only one, or else has no
        contexts. The database is in memory unless it is indexed.
        """
        query = Source.of(query)
        if query.database is not None:
            raise ValueError(
                f"{query.database.path or 'the query'} is a database of makedb: the query comes "
                "first, then the database"
            )
        codes = ("query", settings["genetic_code"]), ("target", settings["target_genetic_code"])
        translated = [side for side, code in codes if code is not None]
        query, database = self._checked(translated, query=query, target=database)
        with self._counted(query, database) as found:
            strand, code = settings["strand"], settings["genetic_code"]
            preparation = QueryPreparation(self._alphabet, strand, code, *self._masks)
            records = query.records(what="query", alphabet=preparation.query_alphabet)
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
        self, source: Any, strand: Strand | None = None, genetic_code: int | None = None
    ) -> Database:
        """Return the targets of a search, encoded; those of a file if it is indexed.

        With a genetic code they are DNA, and their reading frames are searched.
        """
        source = Source.of(source)
        if genetic_code is not None:
            return self._translated(source, strand, genetic_code)
        if strand is not None:
            raise ValueError(f"target_strand {strand!r} requires target_genetic_code")
        found: Database | None = source.database
        if found is None:
            records = source.records(what="target", alphabet=self._alphabet)
            return Database.of(self._lowered(records), self._alphabets["target"], self._unknown)
        if self._seg_of_targets:
            raise ValueError(
                f"{found.path or 'the database'}: SEG masks an indexed database when it is built"
            )
        found.check(self._alphabets["target"])
        return found

    def _checked(self, translated: Sequence[str] = (), **sides: Any) -> list[Source]:
        """Return sources that are scored with each other; an error if they are of other kinds."""
        sources = {name: Source.of(side) for name, side in sides.items()}
        if self._looks:
            checked(self._given, self._aligner, sources, translated)
        return list(sources.values())

    def _translated(
        self, source: Source, strand: Strand | None, genetic_code: int
    ) -> TranslatedDatabase:
        preparation = QueryPreparation(
            self._alphabet,
            strand,
            genetic_code,
            lower_case_mask=bool(self.settings["lower_case_mask"]),
            seg=self._seg_of_targets,
        )
        found = source.database
        if found is None:
            records = source.records(what="target", alphabet=DNA)
            try:
                found = Database.of(records, DNA, self._unknown and DNA.wildcard)
            except UnknownLetterError as error:
                error.args = error.args[0], "targets to translate are DNA"
                raise
        return TranslatedDatabase(found, preparation)

    def one(self, source: Any, what: str) -> Record:
        """Return the one record of a single sequence or of a file."""
        return Source.of(source).one(what=what, alphabet=self._alphabet)

    def _lowered(self, targets: Records) -> Records:
        """Return targets with the segments that SEG masks in lower case."""
        if not self._seg_of_targets:
            return targets
        return Seg().lowered(targets, keep_lower=bool(self.settings["lower_case_mask"]))

    @contextmanager
    def _counted(self, *sources: Source) -> Iterator[Counter[str]]:
        """Give a counter of letters that count as others, and warn of them at the end.

        An error of a letter names the line, if one of the sources is its file.
        """
        found: Counter[str] = Counter()
        with located(*(source.given for source in sources)):
            yield found
        self._alphabet.warn_of_substitutes(found)


def _pieces_of_part(pairs: int) -> int:
    """Return how many slices of so many pairs are computed together."""
    return max(1, min(_MOST_PIECES, _MOST_PAIRS // pairs))


@lru_cache(_KEPT)
def _takes_nucleotides(scoring: Scoring) -> bool:
    """Return whether A, C, G and T are scored by match and mismatch."""
    if scoring.wide_queries:
        return False
    codes = scoring.alphabet.encode("ACGT")
    scores = scoring.matrix[np.ix_(codes, codes)]
    return bool((scores == np.where(np.eye(4), scores[0, 0], scores[0, 1])).all())


def codes_of_lists(
    lists: Iterable[tuple[Sequence[Any], Sequence[Any]]], alphabet: Alphabet, room: int
) -> Iterator[tuple[list[Sequences], Counter[str]]]:
    """Yield the codes of lists of text in pairs, and what counts as others.

    Lists that follow one another are encoded as one: as many as have up to ``room`` letters a side.
    Threads encode while this one joins the next lists. TypeError for a list that has other objects,
    or text of both kinds, ValueError for letters outside the alphabet: `codes_of` names them.
    """

    def texts() -> Iterator[tuple[int, bytes | memoryview, Int64, Codes]]:
        number, rooms, ends = 0, list[Codes](), list[int]()
        for sides in lists:
            letters = [
                _joined(some) if type(some[0]) is bytes else letters_of("".join(some))
                for some in sides
            ]
            ends = [end + len(text) for end, text in zip(ends, letters, strict=False)]
            if not ends or max(ends) > room:
                ends, number = [*map(len, letters)], number + 1
                rooms = [np.empty(max(end, room), alphabet.code_type) for end in ends]
            for some, text, codes, end in zip(sides, letters, rooms, ends, strict=True):
                yield number, text, np.fromiter(map(len, some), np.int64, len(some)), codes[:end]

    def encode(text: tuple[int, bytes | memoryview, Int64, Codes]) -> tuple[Any, ...]:
        number, letters, lengths, codes = text
        return number, lengths, codes, *put(letters, codes[len(codes) - len(letters) :], alphabet)

    for _, alike in groupby(beside(encode, texts()), itemgetter(0)):
        _, lengths, codes, substituted, highest = zip(*alike, strict=True)
        found = list[Sequences]()
        for side in (0, 1):
            found.append(Sequences(codes[side - 2], offsets_of(np.concatenate(lengths[side::2]))))
            found[side].__dict__["code_bound"] = max(highest[side::2])
        yield found, sum(substituted, Counter[str]())


def _joined(texts: Sequence[Any]) -> bytes:
    """Return bytes as one; TypeError if there is something else, which might be joined too."""
    if {*map(type, texts)} != {bytes}:
        raise TypeError("text of several types")
    return b"".join(texts)
