"""The class `Aligner3`: a scoring, an engine and a device that align three sequences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, overload

import numpy as np
import numpy.typing as npt

from glsw.aligner import Scores, checked_most
from glsw.alignment.batch import Batch
from glsw.alignment.paths import Ends, Paths
from glsw.engines.base import Progress
from glsw.inputs.encoder import InputEncoder
from glsw.inputs.kinds import chosen
from glsw.inputs.source import One
from glsw.options import described, listing
from glsw.run.pool import Devices, PoolUser, task_count
from glsw.scoring.gaps import Mode
from glsw.wings.three.engines import Engine3, Spec3
from glsw.wings.three.results import Alignment3, alignments_of
from glsw.wings.three.scoring import Scoring3
from glsw.words import suggesting

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import Bio.Align
    from typing_extensions import Unpack


_Verb: TypeAlias = Literal["scores", "ends", "paths"]
_Codes: TypeAlias = npt.NDArray[np.uint8]


class Aligner3(PoolUser):
    """A scoring, an engine and a device, ready to align three sequences.

    The table has a cell for each choice of a residue from each sequence; a cell follows from the
    seven before it (Sudo et al. 2012, equation 2, figures 5 and 7). See
    `glsw.wings.three.engines.Engine3` for tie-breaking.

    Parameters
    ----------
    scoring : Scoring3, optional
        The default is the sum of pairs with BLOSUM62 and BLAST's gap costs 11/1, with which
        nucleic acid is an error in each method; `glsw.align3` then uses the sum of pairs with
        ``Scoring.nucleotide()``.
    mode : {"local", "global", "semiglobal"}, optional
        By default the mode of the scoring, which is local unless set, see `Scoring3.in_mode`.
    engine : str
        A name in `glsw.wings.three.engines.ENGINES3`.
    device : int, str, Device, or list of int or str, optional
        Number of the device or part of its name, see `glsw.devices`; the first one unless given.
        With a list, or ``"all"``, `scores`, `ends` and `paths` divide their triples among these
        devices, with one process per device; everything else runs on the first.
    unknown : str, optional
        Replacement for letters outside the alphabet, which are otherwise an error.
    memory : int, optional
        Maximum bytes of device memory for the parts of tables that an engine stores.
    polling : bool, optional
        Whether all parts of a table are computed at once, waiting for one another. This is faster,
        and requires that every work group that has started makes progress. By default True with
        NVIDIA's driver, and with AMD's once it has passed its self-test. If a part waits in vain, a
        warning follows, and the table is computed part by part.

    Raises
    ------
    DeviceError
        If there is no such device, or none that the engine can use.
    ValueError
        If there is no such engine or mode, ``unknown`` is not a letter of the alphabet, or
        ``polling`` is set for an engine without a device.

    Notes
    -----
    A ``str`` is letters and a `pathlib.Path` a file of one sequence. Sequences may also be
    `Seq`, `SeqRecord`, `Record` or arrays of codes, shape (length,).

    Any thread may call any method, and forked processes may not, as with `glsw.Aligner`.

    The processes of several devices start with the aligner and end with `close`, or at the end of
    a ``with`` block. They import the main module again: a script that uses several devices needs
    ``if __name__ == "__main__":`` around its statements.

    References
    ----------
    S. Sudo, M. Yoshimi, M. Miki and T. Hiroyasu (2012), a performance evaluation of the
    three-dimensional Smith-Waterman method with multiple GPUs (in Japanese).

    Examples
    --------
    >>> from glsw.wings.three.aligner import Aligner3
    >>> from glsw.wings.three.scoring import Scoring3
    >>> aligner = Aligner3(Scoring3.identity(2, -1, 1), engine="reference")
    >>> aligner.score("TTACGTACG", "ACGACG", "GGACGTTACG")
    10
    >>> print(aligner.align("TTACGTACG", "ACGACG", "GGACGTTACG"))
    a                 2 ACG-TACG  9
    b                 0 ACG--ACG  6
    c                 2 ACGTTACG 10
    <BLANKLINE>
    """

    @suggesting
    def __init__(
        self,
        scoring: Scoring3 | None = None,
        *,
        mode: Mode | None = None,
        engine: str = "subtable",
        device: Devices = None,
        unknown: str | None = None,
        memory: int | None = None,
        polling: bool | None = None,
    ) -> None:
        self.scoring = Scoring3.sum_of_pairs() if scoring is None else scoring
        if not isinstance(self.scoring, Scoring3):
            raise TypeError(f"scoring must be a Scoring3, not {type(scoring).__name__}")
        if mode is not None:
            self.scoring = self.scoring.in_mode(mode)
        self.unknown = unknown
        self._inputs = InputEncoder(
            *(self.scoring.alphabet, unknown, False, False),
            given=None if scoring is None else scoring.pairs,
            aligner="glsw.Aligner3(glsw.Scoring3.sum_of_pairs({}))",
        )
        super().__init__(Spec3(engine, self.scoring, memory=memory, polling=polling), device)
        self.engine: Engine3 = self._pool.engine

    def __repr__(self) -> str:
        scoring, engine = self.scoring, f"engine {self._pool.spec.name} on {self.where}"
        gaps = "/".join(str(scoring.pairs.display(x)) for x in scoring.pairs.deletion)
        about = f"{scoring.scheme} of {scoring.pairs.name}, gaps {gaps}, {scoring.mode}"
        return f"<Aligner3 {about}, {engine}>"

    def scores(
        self,
        triples: Batch,
        *,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Scores:
        """Return the best score of each triple of a batch.

        Parameters
        ----------
        triples : Batch
            N triples of codes of the scoring's alphabet, also empty ones: two sequences and an
            empty one are aligned as columns with a gap in the third.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.
        executor : concurrent.futures.Executor, optional
            Computes parts of the batch, each with the engine and device of this aligner. Engines
            on a device need processes, started by "spawn"; for several devices give them to the
            aligner instead.

        Returns
        -------
        ndarray of int32, shape (N,)
            In units of the matrix: of float64 if it or the gap costs have decimals.

        Raises
        ------
        ValueError
            If there are other codes, or a score could be 2^23 or more.
        DeviceError
            If a triple does not fit the memory, or a part has failed on two devices.

        Warns
        -----
        RuntimeWarning
            If a device fails, or its process dies: another one repeats its part.

        Notes
        -----
        Several devices, and executors, take parts with about the same number of cells, the next
        one as soon as they are free. The results do not depend on that.

        Examples
        --------
        >>> from glsw.wings.three.aligner import Aligner3
        >>> from glsw.wings.three.scoring import Scoring3
        >>> from glsw.alignment.batch import Batch
        >>> aligner = Aligner3(Scoring3.identity(), engine="reference")
        >>> words = ["ACGTT", "ACGT", "CCGTT", "TTTTT"]
        >>> codes = map(aligner.scoring.alphabet.encode, words)
        >>> aligner.scores(Batch.combinations(codes, 3)).tolist()
        [3, 1, 2, 1]
        """
        parts = self._parts("scores", triples, progress, executor)
        return self._shown(np.concatenate([scores for _, scores in parts]))

    @described(scores)
    def ends(
        self,
        triples: Batch,
        *,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Ends:
        """Return the best score of each triple and where its alignment ends.

        Parameters, units, errors and warnings as in `scores`.
        """
        parts = self._parts("ends", triples, progress, executor)
        ends = Ends.merged(triples.index.shape, parts)
        return replace(ends, score=self._shown(ends.score))

    @described(scores)
    def paths(
        self,
        triples: Batch,
        *,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Paths:
        """Return the best alignment of each triple, column by column.

        Parameters, units, errors and warnings as in `scores`.
        """
        parts = self._parts("paths", triples, progress, executor)
        paths = Paths.merged(triples.index.shape, parts)
        return replace(paths, ends=replace(paths.ends, score=self._shown(paths.ends.score)))

    @overload
    def score(self, a: One, b: One, c: One, *, table: Literal[False] = False) -> int | float: ...
    @overload
    def score(
        self, a: One, b: One, c: One, *, table: Literal[True]
    ) -> tuple[int | float, Scores]: ...
    def score(
        self, a: One, b: One, c: One, *, table: bool = False
    ) -> int | float | tuple[int | float, Scores]:
        """Return the best score of three sequences; float with a decimal matrix.

        Parameters
        ----------
        a, b, c : sequence or path
            See `Aligner3`.
        table : bool
            Whether to return the whole table with the score, see `table`.

        Raises
        ------
        OSError, TypeError, ValueError
            If a file cannot be read or has not exactly one sequence; for letters outside the
            alphabet, and as `scores`.

        Examples
        --------
        >>> from glsw.wings.three.aligner import Aligner3
        >>> Aligner3(engine="reference").score("HEAGAWGHEE", "PAWHEAE", "GAWHEE")
        65
        """
        triples, _ = self._inputs.triple(a, b, c)
        with self.engine.turn:
            best = self.scoring.display(int(self.engine.scores(triples)[0]))
            return (best, self._shown(next(self.engine.tables(triples)))) if table else best

    @described(score)
    def table(self, a: One, b: One, c: One) -> Scores:
        """Return the whole table of three sequences, as in figure 5 of Sudo et al. (2012).

        Parameters and errors as in `score`.

        Returns
        -------
        ndarray of int32, shape (l, m, n)
            Entry (i, j, k) is the best score of an alignment that ends at the residues i, j and k,
            counted from 0; its last column contains one, two or all of them (equation 2). In mode
            "local" it is 0 where no alignment scores more. Units as in `scores`.

        Examples
        --------
        >>> from glsw.wings.three.aligner import Aligner3
        >>> from glsw.wings.three.scoring import Scoring3
        >>> Aligner3(Scoring3.identity(), engine="reference").table("ACA", "AC", "CAC").tolist()
        [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 2]], [[0, 1, 0], [0, 0, 1]]]
        """
        triples, _ = self._inputs.triple(a, b, c)
        with self.engine.turn:
            return self._shown(next(self.engine.tables(triples)))

    @described(score)
    def align(self, a: One, b: One, c: One) -> Bio.Align.Alignment:
        """Return the best alignment of three sequences.

        Among equally good alignments it is always the same one, see `Engine3`.

        Parameters and errors as in `score`.

        Returns
        -------
        Bio.Align.Alignment
            Three rows in the order of the arguments; ``sequences`` are `SeqRecord` of the whole
            sequences. ``score`` is in units of the matrix; ``column_annotations`` contain the
            `marks` of the columns, which ``format("clustal")`` writes. A local alignment with
            score 0 has no columns.

        Examples
        --------
        >>> from glsw.wings.three.aligner import Aligner3
        >>> alignment = Aligner3(engine="reference").align("HEAGAWGHEE", "PAWHEAE", "GAWHEE")
        >>> alignment.score, alignment.shape
        (65, (3, 7))
        >>> alignment.coordinates.tolist()
        [[3, 6, 7, 10], [0, 3, 3, 6], [0, 3, 3, 6]]
        >>> print(alignment.format("clustal").rstrip())
        a                                   GAWGHEE
        b                                   PAW-HEA
        c                                   GAW-HEE
                                            .** **.
        """
        triples, records = self._inputs.triple(a, b, c)
        with self.engine.turn:
            paths = self.engine.paths(triples)
        return Alignment3.of(paths, triples, records, self.scoring).biopython()

    def alignments(
        self,
        a: One,
        b: One,
        c: One,
        *,
        max_alignments: int | None = None,
        min_score: float | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Bio.Align.Alignment]:
        """Return alignments of three sequences that share no column at the same positions.

        The first is the result of `align`, the second the best that shares no column of two or
        three residues, ending at the same positions of all three sequences, with the first, the
        third the best that shares none with these two, and so on (after Waterman and Eggert 1987).
        Two of them may align the same pair of residues, next to different positions of the third
        sequence.

        Parameters
        ----------
        a, b, c : sequence or path
        max_alignments : int or None
            Maximum number, None for all. In mode "global" or "semiglobal" there is one.
        min_score : int or float, optional
            Minimum score of an alignment. In mode "local" 1 unless given, and never 0 or less.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.

        Returns
        -------
        iterator of Bio.Align.Alignment
            As from `align`, in descending order of scores. Each is computed on demand, in about
            the time of the first.

        Raises
        ------
        OSError, TypeError, ValueError
            As `score`, at once; and if ``max_alignments`` is less than 1, or more than 1 in mode
            "global" or "semiglobal".

        Examples
        --------
        >>> from glsw.wings.three.aligner import Aligner3
        >>> from glsw.wings.three.scoring import Scoring3
        >>> aligner = Aligner3(Scoring3.identity(2, -3, 5), engine="reference")
        >>> for found in aligner.alignments("GGATCCATCC", "ATCC", "CATCC", min_score=4):
        ...     print(found.score, found.coordinates[:, 0], found.coordinates[:, -1])
        8 [2 0 1] [6 4 5]
        8 [6 0 1] [10  4  5]
        """
        limits = max_alignments, min_score, progress
        return map(Alignment3.biopython, disjoint(self, (a, b, c), *limits))

    def _shown(self, scores: npt.NDArray[Any]) -> Scores:
        return self.scoring.pairs.in_matrix_units(scores)

    def _parts(
        self, verb: _Verb, triples: Batch, progress: Progress | None, executor: Executor | None
    ) -> list[tuple[slice, Any]]:
        """Return what an engine answers, in one part or several, each with its triples."""
        if not isinstance(triples, Batch):
            raise TypeError(f"triples must be a Batch, not {type(triples).__name__}")
        triples.check_codes(self.scoring.alphabet)
        with self._pool.running(progress, executor) as run:
            slices = triples.parts(task_count(run.workers)) if run.workers else []
            if len(slices) < 2:
                return [(slice(None), getattr(run.engine, verb)(triples, progress=progress))]
            run.engine.check(triples)
            shares = [triples.select(each) for each in slices]
            tasks = [methodcaller(verb, share.compact()) for share in shares]
            cells = [share.cells for share in shares]
            parts: list[tuple[slice, Any]] = [(chosen, None) for chosen in slices]
            for k, found in run.results(tasks, cells, "triples"):
                parts[k] = slices[k], found
                run.report(cells[k])
        return parts


def disjoint(
    aligner: Aligner3,
    sequences: tuple[One, One, One],
    max_alignments: int | None,
    min_score: float | None,
    progress: Progress | None,
) -> Iterator[Alignment3]:
    """Return as data what `Aligner3.alignments` returns as objects of Biopython."""
    max_alignments = checked_most(max_alignments)
    if not aligner.scoring.local and max_alignments not in (None, 1):
        raise ValueError(
            f"max_alignments {max_alignments}: there is one global or semi-global alignment "
            "of three sequences"
        )
    triples, records = aligner._inputs.triple(*sequences)
    with aligner._pool.running(progress) as run:
        run.engine.check(triples)
        found = alignments_of(run.engine, triples, records, min_score, progress)
        return run.iterate([each] for each in islice(found, max_alignments))


__all__ = ["Aligner3", "align3", "alignments3", "score3"]


class Aligner3Options(TypedDict, total=False):
    """The options of `Aligner3`, which describes them."""

    scoring: Scoring3 | None
    mode: Mode | None
    engine: str
    device: Devices
    unknown: str | None
    memory: int | None
    polling: bool | None


@overload
def score3(
    a: One,
    b: One,
    c: One,
    *,
    table: Literal[False] = False,
    **options: Unpack[Aligner3Options],
) -> int | float: ...
@overload
def score3(
    a: One,
    b: One,
    c: One,
    *,
    table: Literal[True],
    **options: Unpack[Aligner3Options],
) -> tuple[int | float, Scores]: ...
def score3(
    a: One,
    b: One,
    c: One,
    *,
    table: bool = False,
    **options: Unpack[Aligner3Options],
) -> int | float | tuple[int | float, Scores]:
    """Return the best score: `Aligner3.score` of an `Aligner3` with these options.

    Examples
    --------
    >>> from glsw.wings.three.aligner import score3
    >>> score3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", engine="reference")
    65
    >>> score, table = score3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", table=True, engine="reference")
    >>> table.shape, int(table[9, 5, 5])
    ((10, 7, 6), 65)

    Least costs are highest scores: here of DNA, transitions 2, transversions 5, gaps 5.

    >>> from glsw import Scoring
    >>> matrix = [[0, -5, -2, -5], [-5, 0, -5, -2], [-2, -5, 0, -5], [-5, -2, -5, 0]]
    >>> costs = Scoring3.sum_of_pairs(Scoring.from_array(matrix, "ACGT", 5, 5))
    >>> -score3("ACGT", "AGT", "ACT", scoring=costs, mode="global", engine="reference")
    20
    """
    given, (a, b, c) = chosen(options, Scoring3.sum_of_pairs, a=a, b=b, c=c)
    with Aligner3(**given) as aligner:
        return aligner.score(a, b, c, table=True) if table else aligner.score(a, b, c)


@listing(Aligner3, Aligner3.align, Aligner3.score)
def align3(a: One, b: One, c: One, **options: Unpack[Aligner3Options]) -> Bio.Align.Alignment:
    """Return the best alignment: `Aligner3.align` of an `Aligner3` with these options.

    Examples
    --------
    >>> from glsw import align3
    >>> alignment = align3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", engine="reference")
    >>> list(alignment)
    ['GAWGHEE', 'PAW-HEA', 'GAW-HEE']
    >>> for row in align3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", mode="global", engine="reference"):
    ...     print(row)
    HEAGAWGHE-E
    ---PAW-HEAE
    ---GAW-HE-E
    """
    given, (a, b, c) = chosen(options, Scoring3.sum_of_pairs, a=a, b=b, c=c)
    with Aligner3(**given) as aligner:
        return aligner.align(a, b, c)


def alignments3(
    a: One,
    b: One,
    c: One,
    *,
    max_alignments: int | None = None,
    min_score: float | None = None,
    progress: Progress | None = None,
    **options: Unpack[Aligner3Options],
) -> Iterator[Bio.Align.Alignment]:
    """Return alignments without a column in one place: `Aligner3.alignments` with these options.

    Examples
    --------
    >>> from glsw.wings.three.aligner import alignments3
    >>> words = "HEAGAWGHEE", "PAWHEAE", "GAWHEE"
    >>> for found in alignments3(*words, max_alignments=3, engine="reference"):
    ...     print(found.score, *found)
    65 GAWGHEE PAW-HEA GAW-HEE
    41 HEA HEA HEE
    34 GHEE AWHE AWHE
    """
    given, (a, b, c) = chosen(options, Scoring3.sum_of_pairs, a=a, b=b, c=c)
    with Aligner3(**given) as aligner:
        return aligner.alignments(
            a, b, c, max_alignments=max_alignments, min_score=min_score, progress=progress
        )
