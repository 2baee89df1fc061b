"""The public verbs score, align(ments) and search: encode, ask an engine, trace back."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch, Mask, Sequences
from glsw.device import Device, open_device
from glsw.engines import ENGINES, Engine
from glsw.engines.base import Progress, Ties, check_ties
from glsw.result import Alignment, Ends, Hit, SearchResult
from glsw.scoring import Scoring
from glsw.sequences import Record, Single, Source, as_records, is_single
from glsw.traceback import best_end, coordinates_of_runs, trace


class Aligner:
    """A scoring, an engine and a device, ready to align.

    Parameters
    ----------
    scoring : Scoring, optional
        BLOSUM62 with gaps of 12 for the first position and 1 for each further one (what BLAST
        calls 11/1) unless given.
    engine : str
        A name in `glsw.ENGINES`; ``"auto"`` chooses for every pair, see `glsw.engines.Auto`.
    device : int, str or Device, optional
        Number of the device or part of its name, see `glsw.devices`; the first one unless given.
    ties : {"conventional", "any"}
        Which of several equally good cells an alignment ends in: see `Engine.ends`.
    unknown : str, optional
        The letter of the alphabet to take for letters outside it, which are an error otherwise.

    memory : int, optional
        Bytes of device memory that a chunk of pairs may take, sequences apart, with engines that
        keep more than borders; 1 GiB unless given. A pair that needs more is done in parts.

    Raises
    ------
    DeviceError
        If there is no such device, or none that the engine can use.
    ValueError
        If there is no such engine, or ``unknown`` is not a letter of the alphabet.

    Notes
    -----
    A ``str`` is always letters and a `pathlib.Path` always a file. Sequences may also be `Seq`,
    `SeqRecord`, `Record` or arrays of codes, shape (length,).

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
        device: int | str | Device | None = None,
        ties: Ties = "conventional",
        unknown: str | None = None,
        memory: int | None = None,
    ) -> None:
        self.scoring = Scoring.blast() if scoring is None else scoring
        if not isinstance(self.scoring, Scoring):
            raise TypeError(f"scoring must be a Scoring, not {type(scoring).__name__}")
        check_ties(ties)
        if unknown is not None:
            self.scoring.alphabet.encode("", unknown=unknown)
        self.ties = ties
        self.unknown = unknown
        self.engine = _engine(engine, self.scoring, device, memory)

    # A str is also an iterable of str: the overloads overlap.
    @overload
    def score(self, queries: Single, targets: Single) -> int | float: ...  # type: ignore[overload-overlap]
    @overload
    def score(self, queries: Source, targets: Source) -> npt.NDArray[Any]: ...
    def score(self, queries: Source, targets: Source) -> int | float | npt.NDArray[Any]:
        """Return best local scores.

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
        return next(self._traced(batch, [records]))

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
        database: Source,
        *,
        top: int | None = 10,
        min_score: float = 1,
        progress: Progress | None = None,
    ) -> SearchResult: ...
    @overload
    def search(
        self,
        query: Source,
        database: Source,
        *,
        top: int | None = 10,
        min_score: float = 1,
        progress: Progress | None = None,
    ) -> Iterator[SearchResult]: ...
    def search(
        self,
        query: Source,
        database: Source,
        *,
        top: int | None = 10,
        min_score: float = 1,
        progress: Progress | None = None,
    ) -> SearchResult | Iterator[SearchResult]:
        """Rank the sequences of a database by their best local alignment with a query.

        Parameters
        ----------
        query : sequence, path or list of sequences
        database : path or list of sequences
        top : int or None
            Hits to keep, None for all.
        min_score : int or float
            Least score of a hit.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.

        Returns
        -------
        SearchResult or iterator of SearchResult
            One result for a single query; for a file or a list of queries one after the other,
            each computed when it is asked for. Equal scores stand in the order of the database.

        Raises
        ------
        OSError, ValueError
            If a file cannot be read, or a sequence has letters outside the alphabet.

        Examples
        --------
        >>> from glsw import Aligner, Record
        >>> database = [Record("far", "", "PPPPPP"), Record("near", "", "PAWHEAE")]
        >>> print(Aligner(engine="reference").search("HEAGAWGHEE", database))
        query query: 1 of 2 sequences
        1. near: score 17, identity 50.0%, query 5-10, target 2-7
        """
        if top is not None and top < 1:
            raise ValueError(f"top {top}: at least 1 hit, or None for all, expected")
        alphabet = self.scoring.alphabet
        queries = as_records(query, what="query", alphabet=alphabet)
        records = as_records(database, what="target", alphabet=alphabet)
        codes = [self._encode(each) for each in queries]
        targets = Sequences.of(map(self._encode, records))
        batches = [Batch.one_to_many(code, targets) for code in codes]
        for batch in batches:
            self.engine.check(batch)
        results = (
            self._search(each, batch, records, top, min_score, progress)
            for each, batch in zip(queries, batches, strict=True)
        )
        return next(results) if is_single(query) else results

    def _search(
        self,
        query: Record,
        batch: Batch,
        records: list[Record],
        top: int | None,
        min_score: float,
        progress: Progress | None,
    ) -> SearchResult:
        start = time.perf_counter()
        scores = self.engine.scores(batch, progress=progress)
        kept = np.flatnonzero(scores >= max(1, min_score * self.scoring.scale))
        kept = kept[np.argsort(-scores[kept].astype(np.int64), kind="stable")][:top]
        pairs = [(query, records[k]) for k in kept]
        hits = tuple(
            Hit(rank, alignment.target, alignment.score, alignment)
            for rank, alignment in enumerate(self._traced(batch.select(kept), pairs), start=1)
        )
        return SearchResult(
            query=query,
            hits=hits,
            cells=batch.cells,
            seconds=time.perf_counter() - start,
            engine=self.engine.label,
            device=self.engine.where,
            sequences=len(records),
            residues=len(batch.targets.residues),
            memory=self.engine.memory_used,
        )

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
            alignment = next(self._traced(batch, [records], progress))
            if alignment.score <= 0 or alignment.score < min_score:
                return
            yield alignment
            mask = mask.with_alignment(alignment.coordinates)
            batch = batch.masked([mask])

    def _traced(
        self,
        batch: Batch,
        records: list[tuple[Record, Record]],
        progress: Progress | None = None,
    ) -> Iterator[Alignment]:
        """Yield the best alignment of each pair."""
        paths = None
        if batch.masks is not None and not self.engine.masks:
            ends = self._ends_on_host(batch, progress)
        elif paths := self.engine.paths(batch, ties=self.ties, progress=progress):
            ends = paths.ends
        else:
            ends = self.engine.ends(batch, ties=self.ties, progress=progress)
        for p, (query, target) in enumerate(records):
            end = int(ends.query_end[p]), int(ends.target_end[p])
            if paths:
                coordinates = coordinates_of_runs(paths[p], *end)
            else:
                coordinates, _ = trace(*batch.pair(p), self.scoring, *end, mask=batch.mask(p))
            yield Alignment(
                self.scoring.display(int(ends.score[p])),
                query,
                target,
                coordinates,
                self.scoring,
                self.unknown,
            )

    def _ends_on_host(self, batch: Batch, progress: Progress | None) -> Ends:
        found = np.empty((len(batch), 3), np.int32)
        for p in range(len(batch)):
            query, target = batch.pair(p)
            found[p] = best_end(query, target, self.scoring, batch.mask(p))
            if progress:
                progress(len(query) * len(target))
        return Ends(*found.T)

    def _pair(
        self, query: Single | os.PathLike[str], target: Single | os.PathLike[str]
    ) -> tuple[Batch, tuple[Record, Record]]:
        """Encode one pair."""
        records = _one(query, "query", self.scoring), _one(target, "target", self.scoring)
        return Batch.pairwise(*([self._encode(record)] for record in records)), records

    def _batch(self, queries: Source, targets: Source) -> tuple[Batch, bool]:
        """Encode; tell also whether both are single sequences."""
        alphabet = self.scoring.alphabet
        sides = [
            [self._encode(record) for record in as_records(source, what=what, alphabet=alphabet)]
            for source, what in ((queries, "query"), (targets, "target"))
        ]
        if is_single(queries):
            return Batch.one_to_many(sides[0][0], sides[1]), is_single(targets)
        return Batch.pairwise(*sides), False

    def _encode(self, record: Record) -> npt.NDArray[np.uint8]:
        return self.scoring.alphabet.encode(record.letters, name=record.id, unknown=self.unknown)


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
def search(query: Single, database: Source, **options: Any) -> SearchResult: ...
@overload
def search(query: Source, database: Source, **options: Any) -> Iterator[SearchResult]: ...
def search(
    query: Source,
    database: Source,
    *,
    top: int | None = 10,
    min_score: float = 1,
    progress: Progress | None = None,
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
        query, database, top=top, min_score=min_score, progress=progress
    )


def _engine(
    name: str, scoring: Scoring, device: int | str | Device | None, memory: int | None
) -> Engine:
    if name not in ENGINES:
        raise ValueError(f"unknown engine {name!r}; there are {', '.join(ENGINES)}")
    kind = ENGINES[name]
    options = {} if memory is None else {"memory": memory}
    if options and "memory" not in inspect.signature(kind).parameters:
        raise ValueError(f"engine {name!r} takes no memory limit")
    if memory is not None and memory < 2**20:
        raise ValueError(f"memory {memory}: at least 1 MiB expected")
    if kind.requires is None:
        if device is not None:
            raise ValueError(f"engine {name!r} runs on the CPU and takes no device")
        return kind(scoring)
    if not isinstance(device, Device):
        device = open_device(device, require=kind.requires)
    return kind(scoring, device, **options)


def _one(source: Source, what: str, scoring: Scoring) -> Record:
    """Return the one record of a single sequence or of a file."""
    if not isinstance(source, os.PathLike) and not is_single(source):
        raise TypeError(f"{what} must be one sequence, not {type(source).__name__}")
    records = as_records(source, what=what, alphabet=scoring.alphabet)
    if len(records) != 1:
        raise ValueError(f"{source}: one {what} expected, {len(records)} found")
    return records[0]
