"""Biopython's pairwise aligner on the engines: local, global and semi-global alignment."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import Bio.Align
import numpy as np
import numpy.typing as npt
from Bio.Align import PairwiseAligner as Biopython, PairwiseAlignments

from glsw.aligner import Aligner
from glsw.alignment.batch import Batch
from glsw.alignment.paths import Runs
from glsw.device.device import Device
from glsw.engines.cpu import is_small
from glsw.options import described
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.wings.biopython.first_path import FirstPaths, takes as has_first_path
from glsw.wings.biopython.scoring import ALPHABETS, PairScoring, scoring_of, state_of
from glsw.wings.edit.items import Items, code_alphabet, code_pairs, codes_in, items_of

if TYPE_CHECKING:
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord

Letters: TypeAlias = (
    "str | bytes | Seq | MutableSeq | SeqRecord | npt.NDArray[np.integer] | array[int]"
)
"""A single sequence; in `PairwiseAligner.score` and `align` also a list of any objects."""
AnySequence: TypeAlias = "Letters | Sequence[Hashable]"
Order = Literal["biopython", "conventional"]


MAX_CELLS = 2**27
"""The largest table of which Biopython lists all alignments; of larger ones there is one."""


class _Made(NamedTuple):
    """What the attributes of an aligner are made into; no aligner if no engine has the scoring."""

    scoring: PairScoring
    aligner: Aligner | None
    first_paths: FirstPaths | None


class _Paths:
    """The first path of a pair, then Biopython's others, for `PairwiseAlignments`."""

    def __init__(
        self, first: Callable[[], npt.NDArray[np.int64]], listed: Callable[[], Any] | None
    ) -> None:
        self._first, self._listed = first, listed and lru_cache(listed)
        self.reset()

    def __len__(self) -> int:
        return len(self._listed()) if self._listed else 1

    def __iter__(self) -> Iterator[npt.NDArray[np.int64]]:
        yield (first := self._first())
        for each in self._listed() if self._listed else ():
            if not np.array_equal(each.coordinates, first):
                yield each.coordinates

    def __next__(self) -> npt.NDArray[np.int64]:
        return next(self._left)

    def reset(self) -> None:
        """Begin again."""
        self._left = iter(self)


class PairwiseAligner(Biopython):
    """A `Bio.Align.PairwiseAligner` whose scores and alignments are computed by engines of glsw.

    It is a subclass of Biopython's class, with the same attributes, defaults and meanings: mode,
    match_score and mismatch_score or substitution_matrix, wildcard, and gap scores by kind
    (insertion, deletion) and place (internal, left, right).

    Parameters
    ----------
    scoring : Bio.Align.PairwiseAligner or str, optional
        An aligner whose attributes are copied, or one of Biopython's settings: ``"blastn"``,
        ``"megablast"``, ``"blastp"``.
    engine : str
        A name in `glsw.engines.ENGINES`. Mode "global" is supported by ``auto``, ``reference``,
        ``fragment``, ``diagonal`` and ``blocked``.
    device : int, str or Device, optional
        As for `glsw.Aligner`.
    memory : int, optional
        As for `glsw.Aligner`.
    order : {"biopython", "conventional"}
        Order of equally good alignments: "biopython" as in Biopython, where it follows from the
        algorithm; "conventional" the same, but first the alignment of `Aligner.align`. The first
        in Biopython's order is traced back on the host; the conventional one is computed on the
        device, which is faster for many pairs at once (`align_many`).
    **attributes
        Attributes to set, such as ``mode="local"``.

    Raises
    ------
    ValueError
        When it is used with unsupported settings: mode "fogsaa", gap scores given by functions or
        in mode "local" above 0, scores that are infinite or have more than four decimals. For
        empty sequences, items outside the substitution matrix, and more than 252 different items in
        both sequences of a pair.
    TypeError
        When it is used with sequences that are not iterable.

    Notes
    -----
    Any thread may call any method, as with `glsw.Aligner`.

    Alignments and their order are the same with every engine. The first one is computed by itself;
    Biopython lists the others, on demand. A local alignment ends where it first reaches its score,
    as in Biopython. Gaps that cost more to extend than to open are computed on the host. Biopython
    itself computes what no engine supports: gaps that cost more at the right end than inside, and
    gap scores above 0.
    Scores are computed exactly, in integers, and returned as float. If gaps at the left end cost
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
                      0 ||--| 5
    query             0 GA--T 3
    <BLANKLINE>
    >>> [each.coordinates.shape[1] - 1 for each in aligner.align("GAACT", "GAT")]  # their runs
    [3, 5]
    """

    def __init__(
        self,
        scoring: Bio.Align.PairwiseAligner | str | None = None,
        *,
        engine: str = "auto",
        device: int | str | Device | None = None,
        memory: int | None = None,
        order: Order = "biopython",
        **attributes: Any,
    ) -> None:
        if scoring is not None and not isinstance(scoring, str | Biopython):
            raise TypeError(
                f"scoring must be a Bio.Align.PairwiseAligner or the name of its settings, "
                f"not {type(scoring).__name__}"
            )
        if order not in get_args(Order):
            raise ValueError(f"order {order!r}: 'biopython' or 'conventional' expected")
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
        (scoring, aligner, on_host), batch = self._batch(*_paired(targets, queries), strand)
        if on_host and self._chooses_host(batch):
            units = on_host.score(*batch.pair(0))
            if units is not None:
                return np.array([units]) / scoring.scale
        if aligner is None:
            pairs = zip(*_paired(targets, queries), strict=True)
            return np.array([Biopython.score(self, *pair, strand) for pair in pairs])  # type: ignore[no-untyped-call]
        with aligner.engine.turn:
            return aligner.engine.scores(batch) / scoring.scale

    @described(score)
    def align(
        self,
        seqA: AnySequence,  # noqa: N803
        seqB: AnySequence,  # noqa: N803
        strand: str = "+",
    ) -> Bio.Align.PairwiseAlignments:
        """Return all best alignments of two sequences.

        Returns
        -------
        Bio.Align.PairwiseAlignments
            All alignments with the best score, computed on demand; none if no local alignment
            scores above 0. ``len()`` raises OverflowError beyond ``sys.maxsize``. Tables of more
            than 2**27 cells, such as of two sequences of 11,600 letters, give one alignment.
        """
        return next(self.align_many([seqA], [seqB], strand))

    @described(score_many)
    def align_many(
        self,
        targets: Letters | Iterable[AnySequence],
        queries: Letters | Iterable[AnySequence],
        strand: str = "+",
    ) -> Iterator[Bio.Align.PairwiseAlignments]:
        """Yield the best alignments of many pairs at once, as `align` returns them."""
        targets, queries = _paired(targets, queries)
        made, batch = self._batch(targets, queries, strand)
        pairs = zip(targets, queries, strict=True)
        theirs = [partial(Biopython.align, self, *pair, strand) for pair in pairs]
        if made.aligner is None:
            yield from (listed() for listed in theirs)
            return
        fits = (batch.lengths + 1).prod(axis=1) <= MAX_CELLS
        for p, (units, first) in enumerate(self._traces(made, batch, fits)):
            found = theirs[p]
            if first and (units > 0 or made.scoring.end_gaps):
                turned = len(batch.pair(p)[0]) if strand == "-" else None
                paths = _Paths(partial(_seen, first, turned), found if fits[p] else None)
                score = units / made.scoring.scale
                yield PairwiseAlignments(targets[p], queries[p], score, paths)  # type: ignore[no-untyped-call]
            else:
                yield found()

    def _traces(
        self, made: _Made, batch: Batch, fits: npt.NDArray[np.bool_]
    ) -> Iterator[tuple[int, Callable[[], npt.NDArray[np.int64]] | None]]:
        """Yield the score of each pair, and what returns its first path if that is not theirs."""
        scoring, aligner, first_paths = made
        assert aligner
        in_their_order = self._running["order"] == "biopython"
        if in_their_order and first_paths and self._chooses_host(batch):
            score, path = first_paths.of(*batch.pair(0))
            yield score, lambda: path
            return
        if in_their_order and fits.all():
            with aligner.engine.turn:
                scores, runs = aligner.engine.scores(batch), None
        else:
            scores, runs = aligned(aligner.engine, batch, "conventional")
            runs = runs.with_end_gaps(batch.lengths) if scoring.end_gaps else runs
        for p, units in enumerate(scores.tolist()):
            if runs and not (in_their_order and fits[p]):
                yield units, partial(_path_of, runs, p, batch, scoring)
            else:
                yield units, partial(first_paths.path, *batch.pair(p)) if first_paths else None

    def _chooses_host(self, batch: Batch) -> bool:
        """Tell whether the host computes a pair sooner than any device would begin."""
        return self._running["engine"] in ("auto", "cpu") and is_small(batch)

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

    def _batch(self, targets: list[Any], queries: list[Any], strand: str) -> tuple[_Made, Batch]:
        """Return what computes the pairs, and the pairs as codes."""
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
            encode = partial(codes_in, letters=letters, count=len(matrix))
            sides = [_coded(side, encode) for side in (below, above)]
        elif alphabet := _alphabet_of(above + below):
            sides = [_coded(side, alphabet.encode) for side in (below, above)]
        else:
            *coded, count = code_pairs(below, above, self.wildcard)
            sides = list(map(Sequences.of, coded))
            alphabet, wildcard = code_alphabet(count), 0
        content = None if matrix is None else (str(letters), matrix.shape, matrix.tobytes())
        made = self._aligners(alphabet, strand, wildcard, content, *state.items())
        return made, Batch.pairwise(*sides)

    def _made(
        self, alphabet: Alphabet | None, strand: str, wildcard: int | None, *_: object
    ) -> _Made:
        scoring = scoring_of(self, alphabet, strand, wildcard)
        running = {name: value for name, value in self._running.items() if name != "order"}
        aligner = Aligner(scoring.scoring(), **running) if scoring.for_engines else None
        linear = self.algorithm in ("Needleman-Wunsch", "Smith-Waterman")
        able = aligner is not None and has_first_path(scoring.end_gaps)
        paths = FirstPaths(aligner.scoring, linear) if able and aligner else None
        return _Made(scoring, aligner, paths)

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


def _coded(items: list[Items], encode: Callable[[Any], npt.NDArray[np.uint8]]) -> Sequences:
    """Return the codes of sequences, of text all at once."""
    if all(isinstance(each, str) for each in items):
        return Sequences(encode("".join(map(str, items))), offsets_of(list(map(len, items))))
    return Sequences.of(map(encode, items))


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


def _seen(path: Callable[[], npt.NDArray[np.int64]], turned: int | None) -> npt.NDArray[np.int64]:
    """Return a path whose coordinates of the query, if so many are turned, count from its end."""
    found = path()
    return found if turned is None else np.stack([found[0], turned - found[1]])


def _path_of(runs: Runs, p: int, batch: Batch, scoring: PairScoring) -> npt.NDArray[np.int64]:
    """Return the coordinates of an engine's alignment, as Biopython ends it."""
    path = runs.coordinates(p)
    return path if scoring.end_gaps else _without_tail(path, *batch.pair(p), scoring)


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
