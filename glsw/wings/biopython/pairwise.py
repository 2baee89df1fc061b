"""Biopython's pairwise aligner on the engines: local, global and semi-global alignment."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import Bio.Align
import numpy as np
import numpy.typing as npt
from Bio.Align import PairwiseAligner as Biopython, PairwiseAlignments

from glsw.aligner import Aligner
from glsw.alignment.batch import Batch
from glsw.device.device import Device
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.items import Items, code_alphabet, code_pairs, codes_in, items_of
from glsw.wings.biopython.all_paths import MAX_CELLS, AllPaths, best_score
from glsw.wings.biopython.scoring import ALPHABETS, PairScoring, scoring_of, state_of

if TYPE_CHECKING:
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord

Letters: TypeAlias = (
    "str | bytes | Seq | MutableSeq | SeqRecord | npt.NDArray[np.integer] | array[int]"
)
"""A single sequence; in `PairwiseAligner.score` and `align` also a list of any objects."""
AnySequence: TypeAlias = "Letters | Sequence[Hashable]"
Order = Literal["conventional", "biopython"]


class PairwiseAligner(Biopython):
    """A `Bio.Align.PairwiseAligner` whose scores and alignments the engines compute.

    Instances are of Biopython's class too, and have its attributes, with the same names, defaults
    and meanings: mode, match_score and mismatch_score or substitution_matrix, wildcard, and gap
    scores by kind (insertion, deletion) and place (internal, left, right).

    Parameters
    ----------
    scoring : Bio.Align.PairwiseAligner or str, optional
        An aligner whose attributes to take, or one of Biopython's settings: ``"blastn"``,
        ``"megablast"``, ``"blastp"``.
    engine : str
        A name in `glsw.engines.ENGINES`. ``auto``, ``reference``, ``fragment``, ``diagonal`` and
        ``blocked`` have mode "global".
    device : int, str or Device, optional
        As for `glsw.Aligner`.
    memory : int, optional
        As for `glsw.Aligner`.
    order : {"conventional", "biopython"}
        The order of equally good alignments: that of Biopython, which depends on its algorithm, or
        the same with the one of `Aligner.align` first.
    **attributes
        Attributes to set, such as ``mode="local"``.

    Raises
    ------
    ValueError
        When it is used with unsupported settings: mode "fogsaa", gap scores given by functions or
        in mode "local" above 0, scores with more than four decimals. For empty sequences, items
        outside the substitution matrix, and more than 252 different items in both sequences of a
        pair. glsw never falls back to Biopython's implementation.
    TypeError
        When it is used with sequences that are not iterable.

    Notes
    -----
    Any thread may call any method, as with `glsw.Aligner`.

    Of all equally good alignments the first is the one that `Aligner.align` finds, on every device;
    the others, and their number, come from tables on the host when they are asked for. A local
    alignment ends where it first reaches its score, as in Biopython.
    No engine has gaps that cost more to extend than to open, or more at the right end than inside,
    nor gap scores above 0: these are computed on the host.
    Scores are computed exactly, in integers, and returned as float. Where gaps at the left end cost
    more than at the right, the score of Biopython 1.88 for linear gaps sometimes differs from that
    of its alignments (GAGT and TC with match 2, mismatch -3, gap_score -1 and right_gap_score 0:
    0.0 and -1.0); here `score` is that of the alignments.

    Examples
    --------
    >>> aligner = PairwiseAligner(engine="reference", match_score=2, mismatch_score=-1)
    >>> aligner.score("GAACT", "GAT")
    4.0
    >>> print(aligner.align("GAACT", "GAT")[0])  # the target is above
    target            0 GAACT 5
                      0 |-|-| 5
    query             0 G-A-T 3
    <BLANKLINE>
    >>> [each.coordinates.shape[1] - 1 for each in aligner.align("GAACT", "GAT")]  # their runs
    [5, 3]
    """

    def __init__(
        self,
        scoring: Bio.Align.PairwiseAligner | str | None = None,
        *,
        engine: str = "auto",
        device: int | str | Device | None = None,
        memory: int | None = None,
        order: Order = "conventional",
        **attributes: Any,
    ) -> None:
        if scoring is not None and not isinstance(scoring, str | Biopython):
            raise TypeError(
                f"scoring must be a Bio.Align.PairwiseAligner or the name of its settings, "
                f"not {type(scoring).__name__}"
            )
        if order not in get_args(Order):
            raise ValueError(f"order {order!r}: 'conventional' or 'biopython' expected")
        super().__init__(scoring if isinstance(scoring, str) else None)  # type: ignore[no-untyped-call]
        if isinstance(scoring, Biopython):
            self.__setstate__(state_of(scoring))  # type: ignore[no-untyped-call]
        for name, value in attributes.items():
            setattr(self, name, value)
        running = {"engine": engine, "device": device, "memory": memory, "order": order}
        object.__setattr__(self, "_running", running)
        object.__setattr__(self, "_aligners", lru_cache(maxsize=8)(self._made))

    def score(self, seqA: AnySequence, seqB: AnySequence, strand: str = "+") -> float:  # noqa: N803
        """Return the score of the best alignment of two sequences.

        Parameters
        ----------
        seqA, seqB : str, bytes, Seq, MutableSeq, SeqRecord, array of integers, or list
            The target and the query, by Biopython's names; neither may be empty. Letters and
            numbers of an array are compared by code point, the items of a list by equality.
        strand : {"+", "-"}
            With "-" the reverse complement of the query is aligned.
        """
        return float(self.score_many([seqA], [seqB], strand)[0])

    def score_many(
        self,
        targets: Letters | Iterable[AnySequence],
        queries: Letters | Iterable[AnySequence],
        strand: str = "+",
    ) -> npt.NDArray[np.float64]:
        """Return the scores of many pairs at once, shape (N,).

        Parameters
        ----------
        targets, queries : sequence, or iterable of sequences
            Equal numbers of both; a single sequence is aligned with each of the other side.
        strand : {"+", "-"}
        """
        scoring, aligner, batch = self._batch(*_paired(targets, queries), strand)
        if aligner is None:
            pairs = (batch.pair(p) for p in range(len(batch)))
            return np.array([best_score(*pair, scoring) for pair in pairs]) / scoring.scale
        with aligner.engine.turn:
            return aligner.engine.scores(batch) / scoring.scale

    def align(
        self,
        seqA: AnySequence,  # noqa: N803
        seqB: AnySequence,  # noqa: N803
        strand: str = "+",
    ) -> Bio.Align.PairwiseAlignments:
        """Return all best alignments of two sequences; parameters as in `score`.

        Returns
        -------
        Bio.Align.PairwiseAlignments
            All alignments of the best score, computed when they are asked for; none where no local
            alignment scores above 0. Its length raises OverflowError if it is beyond
            ``sys.maxsize``. For tables of more than 2**27 cells, such as of two sequences of
            11,600 letters, one alignment.

        Raises
        ------
        ValueError
            For tables of more cells if no engine computes the gap scores, see the class.
        """
        return next(self.align_many([seqA], [seqB], strand))

    def align_many(
        self,
        targets: Letters | Iterable[AnySequence],
        queries: Letters | Iterable[AnySequence],
        strand: str = "+",
    ) -> Iterator[Bio.Align.PairwiseAlignments]:
        """Yield the best alignments of many pairs at once, as `align` returns them.

        Parameters as in `score_many`.
        """
        targets, queries = _paired(targets, queries)
        scoring, aligner, batch = self._batch(targets, queries, strand)
        linear = self.algorithm in ("Needleman-Wunsch", "Smith-Waterman")
        traces: Iterator[tuple[int, npt.NDArray[np.int64] | None]]
        if aligner is None:
            if (cells := int(((batch.lengths + 1).prod(axis=1)).max(initial=0))) > MAX_CELLS:
                raise ValueError(
                    f"no engine has these gap scores, and a table of {cells} cells is too large "
                    f"for the host: at most {MAX_CELLS} expected"
                )
            pairs = (batch.pair(p) for p in range(len(batch)))
            traces = ((best_score(*pair, scoring), None) for pair in pairs)
        else:
            scores, runs = aligned(aligner.engine, batch, "conventional")
            traces = zip(scores.tolist(), map(runs.coordinates, range(len(runs))), strict=True)
        for p, (target, query, each) in enumerate(zip(targets, queries, traces, strict=True)):
            units, first = each
            if first is not None and scoring.end_gaps is None:
                first = _without_tail(first, *batch.pair(p), scoring)
            paths = AllPaths(
                *batch.pair(p),
                scoring,
                units,
                first=first,
                ahead=self._running["order"] == "conventional",
                linear=linear,
                turned=strand == "-",
            )
            yield PairwiseAlignments(target, query, units / scoring.scale, paths)  # type: ignore[no-untyped-call]

    def scoring_for(self, alphabet: Alphabet | None = None, strand: str = "+") -> Scoring:
        """Return the attributes as a `Scoring`, for `glsw.Aligner` and the engines.

        Parameters
        ----------
        alphabet : Alphabet, optional
            Of sequences scored by match and mismatch.
        strand : {"+", "-"}
            On the minus strand Biopython's left and right gap scores change places.

        Raises
        ------
        ValueError
            As in the class.
        """
        return scoring_of(self, alphabet, strand).scoring()

    def _batch(
        self, targets: list[Any], queries: list[Any], strand: str
    ) -> tuple[PairScoring, Aligner | None, Batch]:
        """Return the scoring, an aligner unless no engine computes it, and the pairs as codes."""
        if strand not in ("+", "-"):
            raise ValueError(f"strand {strand!r}: '+' or '-' expected")
        above = [items_of(each) for each in targets]
        below = [items_of(each) for each in queries]
        if strand == "-":
            below = [_complement(each) for each in below]
        state = state_of(self)
        matrix = state.pop("substitution_matrix", None)
        alphabet, wildcard = None, None
        if matrix is not None:
            letters = getattr(matrix, "alphabet", None)
            sides = [
                [codes_in(each, letters, len(matrix)) for each in side] for side in (below, above)
            ]
        elif alphabet := _alphabet_of(above + below):
            sides = [[alphabet.encode(str(each)) for each in side] for side in (below, above)]
        else:
            *sides, count = code_pairs(below, above, self.wildcard)
            alphabet, wildcard = code_alphabet(count), 0
        content = None if matrix is None else (str(letters), matrix.shape, matrix.tobytes())
        scoring, aligner = self._aligners(alphabet, strand, wildcard, content, *state.items())
        return scoring, aligner, Batch.pairwise(*sides)

    def _made(
        self, alphabet: Alphabet | None, strand: str, wildcard: int | None, *_: object
    ) -> tuple[PairScoring, Aligner | None]:
        scoring = scoring_of(self, alphabet, strand, wildcard)
        running = {name: value for name, value in self._running.items() if name != "order"}
        aligner = Aligner(scoring.scoring(), **running) if scoring.for_engines else None
        return scoring, aligner

    def __reduce__(self) -> Any:
        return _rebuilt, (self._running, state_of(self))


def _rebuilt(running: dict[str, Any], state: dict[str, Any]) -> PairwiseAligner:
    aligner = PairwiseAligner(**running)
    aligner.__setstate__(state)  # type: ignore[no-untyped-call]
    return aligner


def _paired(targets: Any, queries: Any) -> tuple[list[Any], list[Any]]:
    """Return as many targets as queries."""
    single = [_is_single(each) for each in (targets, queries)]
    above = [targets] if single[0] else list(targets)
    below = [queries] if single[1] else list(queries)
    if single[0]:
        above *= len(below)
    if single[1]:
        below *= len(above)
    if len(above) != len(below):
        raise ValueError(f"{len(above)} targets and {len(below)} queries: equal numbers expected")
    return above, below


def _is_single(source: object) -> bool:
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord

    if isinstance(source, np.ndarray):
        return source.ndim == 1
    return isinstance(source, str | bytes | bytearray | array | Seq | MutableSeq | SeqRecord)


def _alphabet_of(sequences: list[Items]) -> Alphabet | None:
    """Return the smallest alphabet that has all letters, if they are printable ASCII."""
    if not all(isinstance(each, str) for each in sequences):
        return None
    used = set().union(*sequences)
    return next((each for each in ALPHABETS if used <= set(each.letters)), None)


def _complement(items: Items) -> str:
    from Bio.Seq import reverse_complement

    if not isinstance(items, str) or not items.isascii():
        raise ValueError("strand '-': text of nucleotides expected, which have a complement")
    return str(reverse_complement(items))  # type: ignore[no-untyped-call]


def _without_tail(
    coordinates: npt.NDArray[np.int64],
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    scoring: PairScoring,
) -> npt.NDArray[np.int64]:
    """Return an alignment up to where it has its whole score for the first time."""
    steps: list[npt.NDArray[np.int64]] = []
    for (j, i), (columns, rows) in zip(coordinates.T[:-1], np.diff(coordinates).T, strict=True):
        if rows and columns:
            pairs = scoring.matrix[query[i : i + rows], target[j : j + columns]]
            steps.append(pairs.astype(np.int64))
        else:
            cost = scoring.insertion if rows else scoring.deletion
            steps.append(-np.diff(cost.of(np.arange(rows + columns + 1))))
    if not steps:
        return coordinates
    scores = np.cumsum(np.concatenate(steps))
    kept = int(scores.argmax()) + 1
    lengths = np.array([len(each) for each in steps])
    spare = np.maximum(np.cumsum(lengths) - kept, 0)
    runs = np.diff(coordinates)
    runs = np.sign(runs) * np.maximum(lengths - np.minimum(spare, lengths), 0)
    shorter = np.cumsum(np.concatenate([coordinates[:, :1], runs[:, runs.any(axis=0)]], 1), 1)
    return shorter
