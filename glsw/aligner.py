"""The class `Aligner`, which aligns pairs and searches databases with one scoring and engine."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from glsw.alignment.alignment import Alignment
from glsw.alignment.batch import Batch
from glsw.alignment.hits import SearchResult
from glsw.alignment.paths import Ends
from glsw.alignment.table import PairAlignments
from glsw.engines.base import Engine, Progress, Ties, check_ties
from glsw.engines.spec import EngineSpec
from glsw.inputs.encoder import InputEncoder
from glsw.inputs.kinds import usual
from glsw.inputs.source import Many, One, Queries, Single, Source
from glsw.options import COUNT, HitOptions, SearchOptions, complete, described, listing
from glsw.pairs.align_pairs import aligned, disjoint, own_scores
from glsw.run.pool import Devices, PoolUser
from glsw.scoring.gaps import Mode
from glsw.scoring.positional import PositionalQuery
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import check_one_track
from glsw.search.limits import ONE_ALIGNMENT, limits_for
from glsw.search.search import PreparedSearch
from glsw.search.stages import stage_of
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.named import NamedSequences
from glsw.sequences.records import Record
from glsw.sequences.seg import Masked
from glsw.words import suggesting

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from scipy.sparse import csr_array
    from typing_extensions import Self, Unpack

    from glsw.pairs.distances import Distance
    from glsw.pairs.many_pairs import Index

Scores: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.float64]
"""In units of the matrix: float64 where it or the gap costs have decimals."""
_MASKS = "lower_case_mask", "mask_low_complexity", "seg"


class BestHits(NamedTuple):
    """Pairs of sequences that are each other's best hit.

    Parameters
    ----------
    a, b : ndarray of int64, shape (N,)
        Indices of the sequences, sorted by ``a``.
    value : ndarray, shape (N,)
        See `glsw.neighbors`.
    """

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    value: npt.NDArray[Any]


class Aligner(PoolUser):
    """A scoring, an engine and a device, ready to align.

    Parameters
    ----------
    scoring : Scoring, optional
        Substitution matrix and gap costs. The default is ``Scoring.blast()``, BLOSUM62 with
        BLAST's gap costs 11/1, with which nucleic acid is an error in each method; `glsw.score`
        and the other functions then use ``Scoring.nucleotide()``, see ``docs/INPUTS.md``.
    mode : {"local", "global", "semiglobal"}, optional
        "local", the default: the alignment begins and ends anywhere in both sequences. "global":
        it contains all letters of both. "semiglobal": the same, with free end gaps in both
        sequences. For other end gaps pass a ``scoring`` that defines them and no mode, see
        `Scoring.in_mode`.
    engine : str
        A name in `glsw.engines.ENGINES`; ``"auto"`` selects an engine for every pair. Without a
        GPU, and if neither ``device`` nor ``memory`` is given, it uses ``"cpu"`` for searches and
        pairs if pyopal is installed; with a GPU, for single pairs of up to a million cells.
    device : int, str, Device, or list of int or str, optional
        Number of the device or part of its name, see `glsw.devices`; the first one unless given.
        Searches run on all devices of a list, with one process per device; everything else runs
        on the first. ``"all"`` means all devices except software renderers, ``"auto"`` the one
        whose index equals the local rank of this process, see `glsw.rank`.
    ties : {"conventional", "any"}
        Tie-breaking rule for the end cell of an alignment, see `Engine.ends`.
    unknown : str, optional
        Replacement for letters outside the alphabet, which are otherwise an error.
    memory : int, optional
        Maximum bytes of device memory for a part of a database or a chunk of pairs, for engines
        that store more than borders; 1 GiB or more unless given. Larger inputs are divided.
    lower_case_mask : bool
        Whether lower-case letters of queries and targets score like the wildcard, X or N:
        alignments show them, but never begin or end with them. A `Database` has to be masked when
        it is built.
    mask_low_complexity : bool
        Whether low-complexity regions of queries are masked in the same way, see
        `glsw.sequences.query.low_complexity`; alignments show them in lower case.
    seg : {"no", "query", "target", "both"}
        Which proteins have their low-complexity segments masked, by SEG with blastp's parameters
        (`glsw.sequences.seg`); "query" is blastp's ``-seg yes``. A `Database` has to be masked
        when it is built.
    threads : int, optional
        Threads of engine ``"cpu"``, including when ``"auto"`` selects it; all cores of this
        process unless given.

    Raises
    ------
    DeviceError
        If there is no such device, or none that the engine can use.
    ValueError
        If there is no such engine or mode, the engine cannot align in this mode, ``unknown`` is
        not a letter of the alphabet, or letters are to be masked and the alphabet has no wildcard.

    Warns
    -----
    RuntimeWarning
        Once per method, if letters are replaced by others, see `Alphabet.substitutes`: how many.

    Notes
    -----
    A ``str`` is a sequence and a `pathlib.Path` a file; a file name as ``str`` is an error.
    Sequences may also be `Seq`, `SeqRecord`, `Record` or arrays of codes, shape (length,).

    Any thread may call any method, even at the same time: threads take turns on a device. Processes
    forked from one that has used OpenGL cannot use a device; start them by "spawn".

    The processes of several devices start with the aligner and end with `close`, or at the end of
    a ``with`` block. They import the main module again: a script that uses several devices needs
    ``if __name__ == "__main__":`` around its statements.

    Examples
    --------
    >>> from glsw import Aligner, Scoring
    >>> aligner = Aligner(Scoring.match_mismatch(2, -1, 1, 1), engine="reference")
    >>> aligner.score("ATCTCGTATGAT", "GTCTATCAC")
    10
    >>> aligner.score("ACGT", ["ACGT", "AGT", "CCC"])
    array([8, 5, 2], dtype=int32)
    >>> Aligner(aligner.scoring, mode="semiglobal", engine="reference").align("CGTA", "ACGT").cigar
    '3='
    """

    @suggesting
    def __init__(
        self,
        scoring: Scoring | None = None,
        *,
        mode: Mode | None = None,
        engine: str = "auto",
        device: Devices = None,
        ties: Ties = "conventional",
        unknown: str | None = None,
        memory: int | None = None,
        lower_case_mask: bool = False,
        mask_low_complexity: bool = False,
        seg: Masked = "no",
        threads: int | None = None,
    ) -> None:
        if scoring is not None and not isinstance(scoring, Scoring):
            raise TypeError(
                f"scoring must be a Scoring, such as glsw.Scoring.blast('BLOSUM62', 11, 1), not "
                f"{type(scoring).__name__}"
            )
        check_ties(ties)
        self.scoring = _in_mode(scoring or usual(nucleic=False), mode)
        self.ties = ties
        self.unknown = unknown
        self._inputs = InputEncoder(
            self.scoring.alphabet, unknown, lower_case_mask, mask_low_complexity, seg, scoring
        )
        super().__init__(EngineSpec(engine, self.scoring, None, memory, threads), device)
        self.engine: Engine = self._pool.engine
        self._other: tuple[list[PositionalQuery], Self, Source] | None = None
        self._options = {
            **{"scoring": scoring, "mode": mode, "engine": engine, "device": device, "ties": ties},
            **{"memory": memory, "threads": threads, **self._inputs.settings},
        }

    def __repr__(self) -> str:
        scoring, mode = self.scoring, self._options["mode"]
        gaps = "/".join(str(scoring.display(x)) for x in scoring.deletion)
        mode = "local" if scoring.local else mode or "end gaps"
        engine = f"engine {self._options['engine']} on {self.where}"
        return f"<Aligner {scoring.name}, gaps {gaps}, {mode}, {engine}>"

    @classmethod
    def for_queries(cls, queries: Queries, **options: Any) -> tuple[Self, Any]:
        """Return an aligner with these options, and the queries, profiles as their records.

        For profiles, the aligner uses their scores and gap costs, and the mode of the options.
        """
        source = Source.of(queries)
        if (profiles := source.profiles) is None:
            return cls(**options), source
        masks = {name: options[name] for name in _MASKS if name in options}
        scoring, records = profiles[0].by_position(profiles, **masks)
        given = options.get("scoring")
        if given is not None and given.end_gaps is not None:
            scoring = scoring.with_ends_of(given)
        made = cls(**options | {"scoring": scoring})
        return made, Source(records if source.listed else records[0])

    def close(self) -> None:
        """End the processes of several devices; safe to repeat, and not needed for one device."""
        self._close_other()
        super().close()

    # A str is also an iterable of str: the overloads overlap.
    @overload
    def score(self, queries: Single | PositionalQuery, targets: Single) -> int | float: ...  # type: ignore[overload-overlap]
    @overload
    def score(self, queries: Queries, targets: Many) -> Scores: ...
    @overload
    def score(self, queries: Batch) -> Scores: ...
    def score(self, queries: Queries | Batch, targets: Many | None = None) -> int | float | Scores:
        """Return the best score of each pair.

        Parameters
        ----------
        queries, targets : sequence, path or list of sequences
            One query and N targets are N pairs; N queries and N targets are N pairs as well, the
            first with the first, and so on. Queries may be `glsw.Profile`, one or a list. Instead
            of both, a `Batch` of N pairs.

        Returns
        -------
        int, or ndarray of int32, shape (N,)
            In units of the matrix; float or float64 if the matrix or the gap costs have decimals. A
            number for two single sequences.

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
        aligner, given = self._for(queries)
        batch = aligner._inputs.batch(given, targets)
        with aligner.engine.turn:
            scores = aligner.engine.scores(batch)
        if given.single and Source.of(targets).single:
            return aligner.scoring.display(int(scores[0]))
        return aligner.scoring.in_matrix_units(scores)

    @described(score)
    def ends(self, queries: Queries | Batch, targets: Many | None = None) -> Ends:
        """Return the best score of each pair and where its alignment ends.

        Parameters, units and errors as in `score`; a pair of single sequences gives arrays of
        shape (1,).
        """
        aligner, given = self._for(queries)
        batch = aligner._inputs.batch(given, targets)
        with aligner.engine.turn:
            found = aligner.engine.ends(batch, ties=self.ties)
        return replace(found, score=aligner.scoring.in_matrix_units(found.score))

    def score_pairs(
        self,
        queries: Many,
        targets: Many | None = None,
        *,
        pairs: Index | None = None,
        scores: Iterable[npt.ArrayLike] | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Scores:
        """Return the score of each of many pairs.

        Parameters
        ----------
        queries, targets : path, list of sequences, Sequences, or array
            Without ``pairs``, the first query is paired with the first target, and so on; a single
            sequence is paired with all of the other side. Without targets, ``pairs`` refer to the
            queries. Text is a list of str, bytes or ``Seq``, a column of pandas, an array of dtype
            ``S`` or ``U``, or Arrow's strings; codes are `Sequences`, an array of uint8, shape
            (N, length), or Arrow's lists of uint8.
        pairs : array of int, shape (N, 2), or two of shape (N,), optional
            The query and the target of each pair, counted from 0.
        scores : list of N arrays of integers or floats, shapes (m, n), optional
            For each pair the score of each letter of the query (row) with each of the target, in
            place of the matrix: of embeddings, or a predictor. Its numbers are in units of the
            matrix, and gap costs come from the scoring. Floats are rounded to four decimals, so
            that the score of an alignment is wrong by at most 0.00005 per aligned pair. The host
            computes, or the executor.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.
        executor : concurrent.futures.Executor, optional
            Computes chunks of pairs, as in `search`.

        Returns
        -------
        ndarray of int32, shape (N,)
            In units of the matrix: float64 if it or the gap costs have decimals.

        Raises
        ------
        TypeError
            If ``pairs`` are not integers, or missing where they are needed.
        ValueError
            For letters or codes outside the alphabet, lists that do not pair up, and numbers of
            sequences that do not exist; if ``scores`` are not as many as pairs, have another shape,
            more than 32,767 rows or columns, are not finite or beyond 1,000,000, or could add up to
            more than 32 bits hold.

        Notes
        -----
        Pairs are computed in chunks, so that the memory of a device bounds neither their number nor
        their lengths. With several devices each computes a part of them.

        Examples
        --------
        >>> from glsw import Aligner
        >>> aligner = Aligner(engine="reference")
        >>> aligner.score_pairs(["HEAGAWGHEE", "HEAE"], ["PAWHEAE", "HEAGE"])
        array([17, 17], dtype=int32)
        >>> aligner.score_pairs(["HEAGAWGHEE", "PAWHEAE", "HEAE"], pairs=[[0, 1], [2, 1]])
        array([17, 22], dtype=int32)
        >>> aligner.score_pairs(["HE"], ["EH", "H"], scores=[[[0.5, 2], [3, 0]], [[1], [-1]]])
        array([3., 1.])
        """
        from glsw.pairs.many_pairs import score_pairs, score_parts

        sides = Source.of(queries), Source.of(targets)
        plain = pairs is None and scores is None and executor is None
        if plain and (slices := self._inputs.slices(*sides)):
            parts = self._inputs.parts(*sides, slices)
            with self._pool.running(progress) as run, parts as some:
                if not run.workers and len(found := score_parts(run, some)) == slices[-1].stop:
                    return self.scoring.in_matrix_units(found)
        _, batch = self._many(*sides, pairs)
        own = None if scores is None else own_scores(scores, self.scoring, batch.lengths)
        with self._pool.running(progress, executor) as run:
            found = score_pairs(run, batch, own)
        return (own or self).scoring.in_matrix_units(found)

    def score_matrix(
        self,
        queries: Queries,
        targets: Many | None = None,
        *,
        out: npt.NDArray[Any] | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Scores:
        """Return the score of every query with every target.

        Parameters
        ----------
        queries, targets : path, list or array of sequences
            As for `score_pairs`, and queries may be `glsw.Profile`. Without targets, the queries
            are compared with each other, each pair once if the scoring does not depend on the order
            of a pair.
        out : ndarray, shape (queries, targets), optional
            Where to put the result, such as a memory map: of int32 or wider, of floats if the
            matrix or the gap costs have decimals. Unless it is of int32, memory is needed for a
            tile of 2**25 scores too.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.
        executor : concurrent.futures.Executor, optional
            Computes blocks of the matrix, as in `search`.

        Returns
        -------
        ndarray of int32, shape (queries, targets)
            In units of the matrix: float64 if it or the gap costs have decimals.

        Raises
        ------
        ValueError
            As in `score`; for an ``out`` of another shape or of another kind of numbers.

        Examples
        --------
        >>> from glsw import Aligner
        >>> Aligner(engine="reference").score_matrix(["HEAGAWGHEE", "PAWHEAE", "HEAE"])
        array([[62, 17, 17],
               [17, 44, 22],
               [17, 22, 22]], dtype=int32)
        """
        from glsw.pairs.all_pairs import score_matrix

        aligner, given = self._for(queries)
        if targets is None and aligner is not self:
            raise ValueError("profiles are compared with targets, not with each other")
        sides = aligner._sides(given, targets)
        with aligner._pool.running(progress, executor) as run:
            return score_matrix(run, *sides, out=out)

    def align(self, query: One | PositionalQuery, target: One) -> Alignment:
        """Return the best alignment of two sequences as given: for DNA only this strand.

        Among equally good alignments it is always the same one: it ends where `ties` says; the
        traceback prefers an aligned pair to a gap in the target, that to a gap in the query, and
        closing a gap to extending it.

        Parameters
        ----------
        query, target : sequence or path
            A path names a file of one sequence.

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
        aligner, given = self._for(query)
        batch, records = aligner._inputs.pair(given, target)
        (score,), runs = aligned(aligner.engine, batch, self.ties)
        return Alignment(int(score), *records, runs, aligner.scoring.shown)

    @described(score_pairs)
    def align_pairs(
        self,
        queries: Many,
        targets: Many | None = None,
        *,
        pairs: Index | None = None,
        scores: Iterable[npt.ArrayLike] | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> PairAlignments:
        """Return the best alignment of each of many pairs, as arrays.

        Parameters and errors as of `score_pairs`; each alignment is the one that `align` returns.

        Examples
        --------
        >>> from glsw import Aligner
        >>> found = Aligner(engine="reference").align_pairs(["HEAGAWGHEE"], ["PAWHEAE", "HEAGE"])
        >>> found.score.tolist(), found.identities.tolist(), found.cigars()
        ([17, 23], [3, 4], ['2=3X1=', '4='])
        >>> found.alignment(1).shape
        (2, 4)
        """
        from glsw.pairs.many_pairs import align_pairs

        check_one_track(self.scoring, "align_pairs")
        sides, batch = self._many(Source.of(queries), Source.of(targets), pairs)
        own = None if scores is None else own_scores(scores, self.scoring, batch.lengths)
        with self._pool.running(progress, executor, self.ties) as run:
            found = align_pairs(run, batch, own)
        return PairAlignments((own or self).scoring, *sides, batch.index, *found)

    def alignments(
        self,
        query: One | PositionalQuery,
        target: One,
        *,
        max_alignments: int | None = None,
        min_score: float | None = None,
        scores: npt.ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Alignment]:
        """Return all alignments of two sequences that share no aligned pair of residues.

        The sequences are aligned as given: for DNA only this strand (`search` uses both).

        The first is the result of `align`, the second the best that shares no aligned pair with the
        first, the third the best that shares none with these two, and so on (Waterman and Eggert
        1987). Ties are broken as in `align`.

        Parameters
        ----------
        query, target : sequence or path
        max_alignments : int or None
            Maximum number, None for all. If anything is aligned, there is one in mode "global",
            and in "semiglobal" unless both ends of a sequence are free.
        min_score : int or float, optional
            Minimum score of an alignment. In mode "local" 1 unless given, and never 0 or less; nor
            is that of further ones in mode "semiglobal".
        scores : array of integers or floats, shape (m, n), optional
            The score of each letter of the query (row) with each of the target, as for
            `score_pairs`; the host computes.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.

        Returns
        -------
        iterator of Alignment
            In descending order of scores. Each alignment is computed on demand, in about the time
            of the first; if the engine does not support masks, the host computes all but the first.

        Raises
        ------
        ValueError
            For letters outside the alphabet; if ``max_alignments`` is less than 1, or more than 1
            where there is one; for ``scores`` as in `score_pairs`, and with a profile.

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
        >>> scores = [[-1, 2.5, -1, -1], [-1, -1, 1.5, 0], [0, -1, -1, 3]]
        >>> [found] = aligner.alignments("GAT", "CCGA", scores=scores)
        >>> found.score, found.query_start, found.target_start, found.cigar
        (7.0, 0, 1, '3X')
        """
        max_alignments = checked_most(max_alignments)
        if not self.scoring.several and max_alignments not in (None, 1):
            raise ValueError(f"max_alignments {max_alignments}: 1 expected, {ONE_ALIGNMENT}")
        aligner, given = self._for(query)
        batch, records = aligner._inputs.pair(given, target)
        scoring = aligner.scoring
        if scores is None and min_score is None and self.scoring.local:
            min_score = 1
        with aligner._pool.running(progress, ties=self.ties) as run:
            if scores is not None:
                own = own_scores([scores], scoring, batch.lengths)
                scoring, ((engine, batch),) = own.scoring, own.engines()
                run = replace(run, engine=engine)
            run.engine.check(batch)
            found = disjoint(run, batch, records, scoring, min_score)
            return run.iterate([each] for each in islice(found, max_alignments))

    def neighbors(
        self,
        sequences: Many,
        other: Many | None = None,
        *,
        cutoff: float,
        k: int | None = None,
        distance: Distance = "score",
        min_score: float | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> csr_array:
        """Return all pairs of sequences within a cutoff, as a sparse matrix.

        Results and errors as for `glsw.neighbors`. Of a list of devices all compute.

        Parameters
        ----------
        sequences : path, list or array of sequences
            The rows of the matrix, given as for `score_pairs`.
        other : path, list or array of sequences, optional
            The columns; by default the sequences themselves. Each pair is then computed once if the
            scoring does not depend on the order of a pair.
        cutoff : float
            Minimum score or identity, or maximum self difference or E-value.
        k : int, optional
            Keep the k best pairs of each row; among equal values, those with the lowest columns.
            Without ``other`` the sequence itself does not count.
        distance : {"score", "self", "identity", "evalue"}
            The value of a pair. ``"score"``: its best score. ``"self"``: the lower of the two
            self-scores minus the score, scirpy's distance. ``"identity"``: identical columns of the
            best alignment divided by all columns, 0 to 1. ``"evalue"``: E-value of a search with
            the sequence of the row in a database of all columns, by the published constants of the
            scoring.
        min_score : float, optional
            Minimum score of a pair, in addition to the cutoff; for identities, only pairs that
            reach it are aligned. For local identities the default is 1.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.
        executor : concurrent.futures.Executor, optional
            Computes parts of the table of all pairs, as in `search`.

        Examples
        --------
        >>> from glsw import Aligner
        >>> aligner = Aligner(engine="reference")
        >>> aligner.neighbors(["HEAGAWGHEE", "PAWHEAE", "HEAE"], cutoff=20).toarray()
        array([[62,  0,  0],
               [ 0, 44, 22],
               [ 0, 22, 22]], dtype=int32)
        """
        return self._near(sequences, other, cutoff, k, distance, min_score, progress, executor)

    @described(neighbors)
    def reciprocal_best_hits(
        self,
        a: Many,
        b: Many,
        *,
        cutoff: float = 1,
        distance: Distance = "score",
        min_score: float | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> BestHits:
        """Return the pairs of sequences that are each other's best hit.

        Results and errors as for `glsw.reciprocal_best_hits`.

        Parameters
        ----------
        a, b : path, list or array of sequences
            For example the proteins of two species, given as for `score_pairs`.
        cutoff, distance, min_score
            Which pairs can be hits, and their values: as for `neighbors`. The E-value of a pair, in
            both directions, is that of a search with the sequence of ``a`` in a database of all
            of ``b``.

        Examples
        --------
        >>> from glsw import Aligner
        >>> found = Aligner(engine="reference").reciprocal_best_hits(["HEAG", "PAWH"], ["PAW"])
        >>> found.a.tolist(), found.b.tolist(), found.value.tolist()
        ([1], [0], [22])
        """
        found = self._near(
            a, b, cutoff, 1, distance, min_score, progress, executor, reciprocal=True
        )
        rows = np.flatnonzero(np.diff(found.indptr))
        return BestHits(rows, found.indices.astype(np.int64), found.data)

    @described(neighbors)
    def clusters(
        self,
        sequences: Many,
        *,
        cutoff: float,
        distance: Distance = "score",
        min_score: float | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return the number of the cluster of each sequence, by single linkage at a cutoff.

        Results and errors as for `glsw.clusters`.

        Parameters
        ----------
        sequences : path, list or array of sequences
            Given as for `score_pairs`.

        Examples
        --------
        >>> from glsw import Aligner
        >>> Aligner(engine="reference").clusters(["HEAG", "PAWH", "HEAA"], cutoff=17)
        array([0, 1, 0])
        """
        from glsw.pairs.near_pairs import scipy_sparse

        sparse = scipy_sparse()
        found = self._near(sequences, None, cutoff, None, distance, min_score, progress, executor)
        found.data = np.ones(found.nnz, np.int8)  # distances of 0 are edges too
        _, labels = sparse.csgraph.connected_components(found, connection="weak")
        _, first, label = np.unique(labels, return_index=True, return_inverse=True)
        numbers: npt.NDArray[np.int64] = np.argsort(np.argsort(first))[label]
        return numbers

    @overload
    def search(  # type: ignore[overload-overlap]
        self,
        query: Single | PositionalQuery,
        database: Many | Database,
        **options: Unpack[SearchOptions],
    ) -> SearchResult: ...
    @overload
    def search(
        self, query: Queries, database: Many | Database, **options: Unpack[SearchOptions]
    ) -> Iterator[SearchResult]: ...
    @listing(SearchOptions, HitOptions)
    def search(
        self, query: Queries, database: Many | Database, **options: Unpack[SearchOptions]
    ) -> SearchResult | Iterator[SearchResult]:
        """Rank the sequences of a database by their best alignment with a query.

        Results, errors and warnings as for `glsw.search`.

        Parameters
        ----------
        query : sequence, path or list of sequences
            Or a `glsw.Profile`, or a list of them, with their own scores and gap costs.
        database : Database, path or list of sequences
            A path may lead to a database written by `glsw.makedb`.
        **options
            Of `glsw.options.SearchOptions`.

        Examples
        --------
        >>> from glsw import Aligner, Record
        >>> database = [Record("far", "", "PPPPPP"), Record("near", "", "PAWHEAE")]
        >>> for hit in Aligner(engine="reference").search("HEAGAWGHEE", database, composition=0):
        ...     print(hit.target.id, hit.score, f"{hit.bits:.1f} {hit.evalue:.2f}")
        near 17 11.2 0.14
        """
        settings = complete("Aligner.search", SearchOptions, options)
        progress, executor, skip = map(settings.pop, ("progress", "executor", "skip"))
        aligner, given = self._for(query)
        prepared = aligner.prepare(given, database, **settings)
        if not 0 <= skip <= (0 if given.single else len(prepared.queries.given)):
            raise ValueError(f"skip {skip}: not more than the queries of a list expected")
        prepared = replace(prepared, queries=prepared.queries.part(slice(skip, None)))
        with aligner._pool.running(progress, executor, self.ties) as run:
            found = prepared.results(prepared.scans(run))
            return next(found)[0] if given.single else run.iterate(found)

    @listing(HitOptions, search)
    def prepare(
        self, query: Queries, database: Many | Database, **options: Unpack[HitOptions]
    ) -> PreparedSearch:
        """Prepare a search without starting it, for shards; options and errors as for `search`."""
        aligner, source = self._for(query)
        if aligner is not self:
            return aligner.prepare(source, database, **options)
        settings: Any = complete("Aligner.prepare", HitOptions, options)
        limits, stage = limits_for(self.scoring, **settings), stage_of(self.scoring, settings)
        queries, targets = self._inputs.search(source, database, settings)
        limits = limits._replace(strict=len(queries.given) == 1)
        given = {**settings, **self._inputs.settings, "ties": self.ties}
        return PreparedSearch(self._pool, queries, targets, limits, self.ties, given, stage)

    def one(self, query: One) -> Record:
        """Return the record of one sequence, or of a file with one sequence."""
        return self._inputs.one(query, "query")

    def database(self, source: Many | Database) -> Database:
        """Encode targets as a database, which several searches of this aligner can use."""
        return self._inputs.database(source)

    def _for(self, queries: Any) -> tuple[Self, Any]:
        """Return the aligner that computes queries, and these, see `for_queries`."""
        source = Source.of(queries)
        if (profiles := source.profiles) is None:
            return self, source
        if self._other is None or list(map(id, self._other[0])) != list(map(id, profiles)):
            self._close_other()
            self._other = profiles, *self.for_queries(profiles, **self._options)
        _, aligner, records = self._other
        return aligner, records if source.listed else Source(records.first)

    def _close_other(self) -> None:
        if self._other:
            self._other[1].close()

    def _sides(self, queries: Many, targets: Many | None) -> tuple[Sequences, Sequences | None]:
        """Return the codes of one or two collections."""
        first, second = self._inputs.collections(queries, targets)
        return first.sequences, None if targets is None else second.sequences

    def _many(
        self, queries: Source, targets: Source, pairs: Index | None
    ) -> tuple[tuple[NamedSequences, NamedSequences], Batch]:
        from glsw.pairs.many_pairs import index_of

        sides = self._inputs.collections(queries, targets)
        if targets.given is None and pairs is None:
            raise TypeError("targets, or pairs of the queries, expected")
        both = sides[0].sequences, sides[1].sequences
        return sides, Batch(both, index_of(pairs, *map(len, both)))

    def _near(
        self,
        sequences: Many,
        other: Many | None,
        cutoff: float,
        k: int | None,
        distance: Distance,
        min_score: float | None,
        progress: Progress | None,
        executor: Executor | None,
        *,
        reciprocal: bool = False,
    ) -> csr_array:
        from glsw.pairs.distances import rule_of
        from glsw.pairs.near_pairs import near_pairs, scipy_sparse

        check_one_track(self.scoring, "a matrix of neighbors")
        scipy_sparse()  # an error before anything is computed
        COUNT.check("k", k)
        first, columns = self._inputs.collections(sequences, other)
        second = None if other is None else columns
        with self._pool.running(progress, executor, self.ties) as run:
            rule = rule_of(self.engine, first, second, distance, cutoff, min_score)
            sides = first.sequences, None if second is None else second.sequences
            return near_pairs(run, *sides, rule, k=k, reciprocal=reciprocal)


def checked_most(max_alignments: int | None) -> int | None:
    """Return a number of alignments as `itertools.islice` takes it; ValueError if it is none."""
    if max_alignments is None:
        return None
    if max_alignments < 1 or max_alignments != int(max_alignments):
        raise ValueError(f"max_alignments {max_alignments}: at least 1, or None for all, expected")
    return min(int(max_alignments), sys.maxsize)


def _in_mode(scoring: Scoring, mode: Mode | None) -> Scoring:
    """Return a scoring for a mode, which is its own if it has end gaps."""
    if mode is None:
        return scoring
    if not scoring.local:
        raise ValueError(f"mode {mode!r} and a scoring with end gaps cannot be combined")
    return scoring.in_mode(mode)
