"""The public verbs score, align(ments) and search: encode, ask an engine, trace back."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from itertools import islice
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from glsw import all_pairs
from glsw.batch import Batch
from glsw.engines.base import Engine, Progress, Ties, check_ties
from glsw.engines.spec import EngineChoice
from glsw.mask import Mask
from glsw.paths import Ends
from glsw.results import Alignment, SearchResult
from glsw.scoring.scoring import Scoring
from glsw.search.align_pairs import traced
from glsw.search.assemble import Query, search_results
from glsw.search.limits import Limits, limits_for
from glsw.search.parallel_scan import scan_database
from glsw.search.pool import Devices, EnginePool
from glsw.search.scan import ScanResult, check_longest
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.encoded import Sequences
from glsw.sequences.query import MaskedError, PreparedQuery, QueryPreparation, Strand
from glsw.sequences.records import Record, Single, Source, as_records, is_single
from glsw.statistics import Method

Targets: TypeAlias = Source | Database
_AT_ONCE = (
    16  # contexts of queries whose hits are aligned together where several devices have searched
)


class Aligner:
    """A scoring, an engine and a device, ready to align.

    Parameters
    ----------
    scoring : Scoring, optional
        BLOSUM62 with gaps of 12 for the first position and 1 for each further one (what BLAST
        calls 11/1) unless given.
    engine : str
        A name in `glsw.engines.ENGINES`; ``"auto"`` chooses for every pair.
    device : int, str, Device, or list of int or str, optional
        Number of the device or part of its name, see `glsw.devices`; the first one unless given.
        Searches run on all devices of a list, each with a process of its own, all else runs on
        the first; ``"all"`` is every one that is no software renderer, if there are such.
    ties : {"conventional", "any"}
        Which of several equally good cells an alignment ends in: see `Engine.ends`.
    unknown : str, optional
        The letter of the alphabet to take for letters outside it, which are an error otherwise.
    memory : int, optional
        Bytes of device memory that a part of a database, or a chunk of pairs, may take, with
        engines that keep more than borders; 1 GiB or more unless given. What needs more is done
        in parts.
    lower_case_mask : bool
        Whether lower-case letters, of queries and targets, score like the wildcard, X
        or N: alignments show them, but never begin or end with them. A `Database` has to be
        masked when it is made.
    mask_low_complexity : bool
        Whether stretches of low complexity of queries do, see
        `glsw.sequences.query.low_complexity`; alignments show these letters in lower case.

    Raises
    ------
    DeviceError
        If there is no such device, or none that the engine can use.
    ValueError
        If there is no such engine, ``unknown`` is not a letter of the alphabet, or letters are to
        be masked for which the alphabet has no X or N.

    Notes
    -----
    A ``str`` is always letters and a `pathlib.Path` always a file. Sequences may also be `Seq`,
    `SeqRecord`, `Record` or arrays of codes, shape (length,).

    The processes of several devices start with the aligner and end with `close`, or at the end of
    a ``with`` block. They import the main module anew: what a script does with several devices has
    to stand below ``if __name__ == "__main__":``.

    Examples
    --------
    >>> from glsw import Aligner, Scoring
    >>> aligner = Aligner(Scoring.match_mismatch(2, -1, 1, 1), engine="reference")
    >>> aligner.score("ATCTCGTATGAT", "GTCTATCAC")
    10
    >>> aligner.score("ACGT", ["ACGT", "AGT", "CCC"])
    array([8, 5, 2])
    """

    def __init__(
        self,
        scoring: Scoring | None = None,
        *,
        engine: str = "auto",
        device: Devices = None,
        ties: Ties = "conventional",
        unknown: str | None = None,
        memory: int | None = None,
        lower_case_mask: bool = False,
        mask_low_complexity: bool = False,
    ) -> None:
        self.scoring = Scoring.blast() if scoring is None else scoring
        if not isinstance(self.scoring, Scoring):
            raise TypeError(f"scoring must be a Scoring, not {type(scoring).__name__}")
        check_ties(ties)
        if unknown is not None:
            self.scoring.alphabet.encode("", unknown=unknown)
        self.ties = ties
        self.unknown = unknown
        alphabet = self.scoring.alphabet
        self._masks = lower_case_mask, mask_low_complexity, unknown
        self._preparation = QueryPreparation(alphabet, "plus", None, *self._masks)
        self._alphabet = alphabet.lower_case_masked() if lower_case_mask else alphabet
        self._pool = EnginePool(EngineChoice(engine, self.scoring, None, memory), device)
        self.engine: Engine = self._pool.engine

    def close(self) -> None:
        """End the processes of several devices; safe to repeat, and not needed for one device."""
        self._pool.close()

    def __enter__(self) -> Aligner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # A str is also an iterable of str: the overloads overlap.
    @overload
    def score(self, queries: Single, targets: Single) -> int | float: ...  # type: ignore[overload-overlap]
    @overload
    def score(self, queries: Source, targets: Source) -> npt.NDArray[Any]: ...
    def score(self, queries: Source, targets: Source) -> int | float | npt.NDArray[Any]:
        """Return best scores: local ones, or from end to end with such a scoring.

        Parameters
        ----------
        queries, targets : sequence, path or list of sequences
            One query meets each target; as many queries as targets meet in pairs.

        Returns
        -------
        int, or ndarray of int, shape (N,)
            A number for two single sequences; float with a decimal matrix.

        Raises
        ------
        ValueError
            For letters outside the alphabet, and lists that do not pair up.

        Examples
        --------
        >>> from glsw import Aligner
        >>> Aligner(engine="reference").score("HEAGAWGHEE", "PAWHEAE")
        17
        """
        batch, single = self._batch(queries, targets)
        scores = self.engine.scores(batch)
        if single:
            return self.scoring.display(int(scores[0]))
        return scores.astype(int) if self.scoring.scale == 1 else scores / self.scoring.scale

    def ends(self, queries: Source, targets: Source) -> Ends:
        """Return the best local score of each pair and where its alignment ends.

        Parameters and errors as in `score`; a pair of single sequences gives arrays of one.
        """
        return self.engine.ends(self._batch(queries, targets)[0], ties=self.ties)

    def score_matrix(
        self, queries: Source, targets: Source | None = None, *, progress: Progress | None = None
    ) -> npt.NDArray[Any]:
        """Return the score of every query with every target.

        Parameters
        ----------
        queries, targets : path or list of sequences
            Without targets, each query meets each query; where the order of a pair does not
            matter to the scoring, it is computed once.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.

        Returns
        -------
        ndarray of int32, shape (queries, targets)
            Of float with a decimal matrix.

        Raises
        ------
        ValueError
            As in `score`.

        Examples
        --------
        >>> from glsw import Aligner
        >>> Aligner(engine="reference").score_matrix(["HEAGAWGHEE", "PAWHEAE", "HEAE"])
        array([[62, 17, 17],
               [17, 44, 22],
               [17, 22, 22]], dtype=int32)
        """
        sides = [self._sequences(queries, "query")]
        if targets is not None:
            sides.append(self._sequences(targets, "target"))
        scores = all_pairs.score_matrix(self.engine, *sides, progress=progress)
        return scores if self.scoring.scale == 1 else scores / self.scoring.scale

    def _sequences(self, source: Source, what: str) -> Sequences:
        records = as_records(source, what=what, alphabet=self.scoring.alphabet)
        return Sequences.of(map(self._encode, records))

    def align(
        self, query: Single | os.PathLike[str], target: Single | os.PathLike[str]
    ) -> Alignment:
        """Return the best local alignment of two sequences.

        Of several equally good ones it is always the same: it ends where `ties` says, and on the
        way back prefers an aligned pair to a gap in the target to a gap in the query, and closing
        a gap to extending it.

        Raises
        ------
        ValueError
            For letters outside the alphabet.

        Examples
        --------
        >>> from glsw import Aligner, Scoring
        >>> aligner = Aligner(Scoring.match_mismatch(2, -1, 1, 1), engine="reference")
        >>> print(aligner.align("ATCTCGTATGAT", "GTCTATCAC"))
        query  query
        target target
        score 10, identities 6/8 (75.0%), gaps 1/8 (12.5%)
        <BLANKLINE>
        query   4 TCGTATGA 11
                  || |||.|
        target  2 TC-TATCA 8
        """
        batch, records = self._pair(query, target)
        return next(traced(self.engine, batch, [records], self.ties, self.unknown))

    def alignments(
        self,
        query: Single | os.PathLike[str],
        target: Single | os.PathLike[str],
        *,
        max_alignments: int | None = None,
        min_score: float = 1,
        progress: Progress | None = None,
    ) -> Iterator[Alignment]:
        """Return all local alignments of two sequences that share no aligned pair of residues.

        First comes that of `align`, then the best of those that align no two residues which it
        aligns, then the best that has no pair of these two, and so on (Waterman and Eggert 1987).
        Of several equally good ones it is always the same, chosen as in `align`.

        Parameters
        ----------
        query, target : sequence or path
        max_alignments : int or None
            How many at most, None for all.
        min_score : int or float
            Least score of an alignment; those that score 0 or less never count.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.

        Returns
        -------
        iterator of Alignment
            Scores do not increase. Each alignment is computed when it is asked for, and takes
            about as long as the first; engines that take no masks leave those after the first to
            the host.

        Raises
        ------
        ValueError
            For letters outside the alphabet, and if ``max_alignments`` is less than 1.

        Examples
        --------
        >>> from glsw import Aligner, Scoring
        >>> aligner = Aligner(Scoring.match_mismatch(2, -3, 5, 2), engine="reference")
        >>> for found in aligner.alignments("GGATCCATCC", "ATCC", min_score=4):
        ...     print(found.score, found.query_start, found.query_end, found.cigar)
        8 6 10 4=
        8 2 6 4=
        >>> [found.score for found in aligner.alignments("GGATCCATC", "ATCC", max_alignments=3)]
        [8, 6, 2]
        """
        if max_alignments is not None and max_alignments < 1:
            raise ValueError(
                f"max_alignments {max_alignments}: at least 1, or None for all, expected"
            )
        batch, records = self._pair(query, target)
        self.engine.check(batch)
        return islice(self._disjoint(batch, records, min_score, progress), max_alignments)

    @overload
    def search(  # type: ignore[overload-overlap]
        self,
        query: Single,
        database: Targets,
        *,
        top: int | None = 10,
        min_score: float = 1,
        evalue: float | None = None,
        max_hsps: int | None = 1,
        strand: Strand | None = None,
        genetic_code: int | None = None,
        statistics: Method = "auto",
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> SearchResult: ...
    @overload
    def search(
        self,
        query: Source,
        database: Targets,
        *,
        top: int | None = 10,
        min_score: float = 1,
        evalue: float | None = None,
        max_hsps: int | None = 1,
        strand: Strand | None = None,
        genetic_code: int | None = None,
        statistics: Method = "auto",
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Iterator[SearchResult]: ...
    def search(
        self,
        query: Source,
        database: Targets,
        *,
        top: int | None = 10,
        min_score: float = 1,
        evalue: float | None = None,
        max_hsps: int | None = 1,
        strand: Strand | None = None,
        genetic_code: int | None = None,
        statistics: Method = "auto",
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> SearchResult | Iterator[SearchResult]:
        """Rank the sequences of a database by their best local alignment with a query.

        DNA is searched with both strands of a query, or if ``genetic_code`` is given, proteins with
        the translations of a DNA query in the frames +1, +2, +3, -1, -2, -3: the best alignment of
        any of these counts, the first one if several are equal.

        Parameters
        ----------
        query : sequence, path or list of sequences
        database : Database, path or list of sequences
            A path may be that of a file of `glsw.makedb`.
        top : int or None
            Hits to keep, the best by score, None for all.
        min_score : int or float
            Least score of a hit, and of its further alignments.
        evalue : float, optional
            Largest E-value of these: of all sequences that have it, or less, the best ``top`` by
            score are kept. E-values are those of one strand or frame, as in BLAST.
        max_hsps : int or None
            Alignments of a hit at most, None for all: the best one, then the best of those that
            share no aligned pair of residues with the ones before, as in `alignments`. They may
            be of any strand or frame. All end with E-value 10 unless ``evalue``, or a
            ``min_score`` of more than 1, says otherwise.
        strand : {"both", "plus", "minus"}, optional
            Which strands of the query; both, unless given, of DNA, plus of all else.
        genetic_code : int, optional
            NCBI's number of the code to translate queries by, 1 for the standard one; the scoring
            is one of proteins.
        statistics : {"auto", "karlin-altschul", "fit", "none"}
            Where bits and E-values come from, see `glsw.statistics.for_search`.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.
        executor : concurrent.futures.Executor, optional
            What computes the scores of parts of the database, each with the engine and device of
            this aligner. Engines on a device need processes, started by "spawn"; for several
            devices give them to the aligner instead.

        Returns
        -------
        SearchResult or iterator of SearchResult
            One result for a single query; for a file or a list of queries one after the other,
            computed when it is asked for, or with others of its kind if the database is searched
            in several parts. Equal scores stand in the order of the database.

        Raises
        ------
        OSError, TypeError, ValueError
            If a file cannot be read, a sequence has letters outside the alphabet, all letters of
            the only query are masked, the database has another alphabet or is not masked, there is
            no such genetic code, or there are no statistics for E-values that are asked for.
        DeviceError
            If a part of the database has failed on two devices.

        Warns
        -----
        RuntimeWarning
            If a device fails, or its process dies: another one repeats its part. If one of several
            queries is masked as a whole, or has too few scores for the E-values that are asked
            for: it has no hits.

        Examples
        --------
        >>> from glsw import Aligner, Record
        >>> database = [Record("far", "", "PPPPPP"), Record("near", "", "PAWHEAE")]
        >>> for hit in Aligner(engine="reference").search("HEAGAWGHEE", database):
        ...     print(hit.target.id, hit.score, f"{hit.bits:.1f} {hit.evalue:.2f}")
        near 17 11.2 0.14

        The complement of a gene for the second one:

        >>> gene = "TTCTGCTTCATGCCACGCCGG"
        >>> aligner = Aligner(engine="reference")
        >>> (hit,) = aligner.search(gene, database, top=1, genetic_code=1)
        >>> hit.score, hit.context.frame, hit.hsps[0].query_place, hit.alignment.query.letters
        (44, -1, (21, 1), 'PAWHEAE')
        """
        limits = limits_for(self.scoring, top, min_score, evalue, max_hsps, statistics)
        preparation = QueryPreparation(self.scoring.alphabet, strand, genetic_code, *self._masks)
        records = as_records(query, what="query", alphabet=preparation.letters)
        limits = limits._replace(strict=len(records) == 1)
        asked = [_asked(record, preparation, limits) for record in records]
        queries = Sequences.of([context.codes for each in asked for context in each.contexts])
        targets = self._database(database)
        check_longest(self.engine, queries, targets)
        ranking = limits.scanned(self.scoring, queries, targets)
        found = scan_database(self._pool, queries, targets, ranking, progress, executor)
        results = self._results(asked, found, targets, limits)
        return next(results) if is_single(query) else results

    def _results(
        self, asked: list[Query], found: Iterator[ScanResult], database: Database, limits: Limits
    ) -> Iterator[SearchResult]:
        """Yield the results of queries, as many at a time as are answered together."""
        contexts = _AT_ONCE if self._pool.several else self.engine.queries_at_once
        at_once = max(1, contexts // max([1, *(len(each.contexts) for each in asked)]))
        answered = ((query, list(islice(found, len(query.contexts)))) for query in asked)
        while some := list(islice(answered, at_once)):
            yield from search_results(self.engine, some, database, limits, self.ties, self.unknown)

    def _database(self, source: Targets) -> Database:
        """Return a database with the codes of this scoring, in memory unless it is indexed."""
        alphabet = self.scoring.alphabet
        if isinstance(source, os.PathLike) and is_database(source):
            source = Database.open(source)
        if not isinstance(source, Database):
            records = as_records(source, what="target", alphabet=alphabet)
            return Database.of(records, self._alphabet, self.unknown)
        source.check(self._alphabet)
        return source

    def _disjoint(
        self,
        batch: Batch,
        records: tuple[Record, Record],
        min_score: float,
        progress: Progress | None,
    ) -> Iterator[Alignment]:
        """Yield the best alignment of one pair, forbid what it aligns, and begin again."""
        mask = Mask.nothing(len(batch.pair(0)[0]))
        while True:
            found = traced(self.engine, batch, [records], self.ties, self.unknown, progress)
            alignment = next(found)
            if alignment.score <= 0 or alignment.score < min_score:
                return
            yield alignment
            mask = mask.with_alignment(alignment.coordinates)
            batch = batch.masked([mask])

    def _pair(
        self, query: Single | os.PathLike[str], target: Single | os.PathLike[str]
    ) -> tuple[Batch, tuple[Record, Record]]:
        """Encode one pair."""
        prepared = self._read(_one(query, "query", self.scoring))
        record = _one(target, "target", self.scoring)
        batch = Batch.pairwise([prepared.codes], [self._encode(record)])
        return batch, (prepared.record, record)

    def _batch(self, queries: Source, targets: Source) -> tuple[Batch, bool]:
        """Encode; tell also whether both are single sequences."""
        asked, compared = (
            as_records(source, what=what, alphabet=self.scoring.alphabet)
            for source, what in ((queries, "query"), (targets, "target"))
        )
        sides = (
            [self._read(each).codes for each in asked],
            [self._encode(each) for each in compared],
        )
        if is_single(queries):
            return Batch.one_to_many(sides[0][0], sides[1]), is_single(targets)
        return Batch.pairwise(*sides), False

    def _read(self, record: Record) -> PreparedQuery:
        """Return a query, encoded."""
        return self._preparation.contexts(record)[0]

    def _encode(self, record: Record) -> npt.NDArray[np.uint8]:
        """Return the codes of a target."""
        return self._alphabet.encode(record.letters, name=record.id, unknown=self.unknown)


@overload
def score(queries: Single, targets: Single, **options: Any) -> int | float: ...
@overload
def score(queries: Source, targets: Source, **options: Any) -> npt.NDArray[Any]: ...
def score(
    queries: Source, targets: Source, *, scoring: Scoring | None = None, **options: Any
) -> int | float | npt.NDArray[Any]:
    """Return best local scores: `Aligner.score` of an `Aligner` with these options.

    Examples
    --------
    >>> import glsw
    >>> glsw.score("ACGT", ["ACGT", "AGT"], scoring=glsw.Scoring.match_mismatch(2, -1, 1, 1))
    array([8, 5])
    """
    return Aligner(scoring, **options).score(queries, targets)


def score_matrix(
    queries: Source,
    targets: Source | None = None,
    *,
    scoring: Scoring | None = None,
    **options: Any,
) -> npt.NDArray[Any]:
    """Return the score of each query with each target: `Aligner.score_matrix`.

    Examples
    --------
    >>> import glsw
    >>> glsw.score_matrix(["ACGT", "AGT"], scoring=glsw.Scoring.match_mismatch(2, -1, 1, 1))
    array([[8, 5],
           [5, 6]], dtype=int32)
    """
    return Aligner(scoring, **options).score_matrix(queries, targets)


def align(
    query: Single, target: Single, *, scoring: Scoring | None = None, **options: Any
) -> Alignment:
    """Return the best local alignment: `Aligner.align` of an `Aligner` with these options.

    Examples
    --------
    >>> import glsw
    >>> glsw.align("HEAGAWGHEE", "PAWHEAE").cigar
    '2=3X1='
    """
    return Aligner(scoring, **options).align(query, target)


def alignments(
    query: Single,
    target: Single,
    *,
    max_alignments: int | None = None,
    min_score: float = 1,
    scoring: Scoring | None = None,
    **options: Any,
) -> Iterator[Alignment]:
    """Return alignments that share no aligned pair: `Aligner.alignments` with these options.

    Examples
    --------
    >>> from glsw.align import alignments
    >>> for found in alignments("HEAGAWGHEE", "PAWHEAE", max_alignments=3):
    ...     print(found.score, found.cigar)
    17 2=3X1=
    17 3=
    13 2=
    """
    return Aligner(scoring, **options).alignments(
        query, target, max_alignments=max_alignments, min_score=min_score
    )


@overload
def search(query: Single, database: Targets, **options: Any) -> SearchResult: ...
@overload
def search(query: Source, database: Targets, **options: Any) -> Iterator[SearchResult]: ...
def search(
    query: Source,
    database: Targets,
    *,
    top: int | None = 10,
    min_score: float = 1,
    evalue: float | None = None,
    max_hsps: int | None = 1,
    strand: Strand | None = None,
    genetic_code: int | None = None,
    statistics: Method = "auto",
    progress: Progress | None = None,
    executor: Executor | None = None,
    scoring: Scoring | None = None,
    **options: Any,
) -> SearchResult | Iterator[SearchResult]:
    """Rank a database: `Aligner.search` of an `Aligner` with these options.

    Examples
    --------
    >>> import glsw
    >>> result = glsw.search("HEAGAWGHEE", ["PPPPPP", "PAWHEAE"])
    >>> [(hit.rank, hit.target.id, hit.score) for hit in result]
    [(1, 'target 2', 17)]
    """
    return Aligner(scoring, **options).search(
        query,
        database,
        top=top,
        min_score=min_score,
        evalue=evalue,
        max_hsps=max_hsps,
        strand=strand,
        genetic_code=genetic_code,
        statistics=statistics,
        progress=progress,
        executor=executor,
    )


def _asked(record: Record, preparation: QueryPreparation, limits: Limits) -> Query:
    """Return a query with its contexts, without any if it is one of several and all masked."""
    try:
        return Query(record, preparation.contexts(record))
    except MaskedError as error:
        if limits.strict:
            raise
        warnings.warn(f"{error}; it has no hits", RuntimeWarning, stacklevel=3)
        return Query(record, [])


def _one(source: Source, what: str, scoring: Scoring) -> Record:
    """Return the one record of a single sequence or of a file."""
    if not isinstance(source, os.PathLike) and not is_single(source):
        raise TypeError(f"{what} must be one sequence, not {type(source).__name__}")
    records = as_records(source, what=what, alphabet=scoring.alphabet)
    if len(records) != 1:
        raise ValueError(f"{source}: one {what} expected, {len(records)} found")
    return records[0]
