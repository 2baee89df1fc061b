"""Biopython's pairwise aligner on the engines: local, global and semi-global alignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from glsw.align import Aligner
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.scoring.biopython import ALPHABETS, matrix_of, scoring_of, state_of
from glsw.scoring.scoring import Scoring
from glsw.search.align_pairs import traced
from glsw.sequences.alphabet import Alphabet

if TYPE_CHECKING:
    import Bio.Align
    from Bio.Align import PairwiseAligner as _Biopython
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord
else:  # Biopython's class joins when the first aligner is made: to import it takes long
    _Biopython = object

Letters: TypeAlias = "str | bytes | Seq | MutableSeq | SeqRecord"


class PairwiseAligner(_Biopython):
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
    **attributes
        Attributes to set, such as ``mode="local"``.

    Raises
    ------
    ValueError
        When it is used with unsupported settings: mode "fogsaa", gap scores above 0 or given by
        functions, a gap that costs less to open than to extend, a gap at the right end that costs
        more than one inside, scores with more than four decimals, letters outside the substitution
        matrix, or that are not printable ASCII. glsw never falls back to Biopython's
        implementation.
    TypeError
        When it is used with sequences that are not text, such as arrays of numbers and lists of
        codons.

    Notes
    -----
    Any thread may call any method, as with `glsw.Aligner`.

    Biopython returns all of several equally good alignments; `align` returns one, always the same,
    see `Aligner.align`. A local alignment ends where it first reaches its score, as in Biopython.
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
    """

    def __new__(cls, *_: Any, **__: Any) -> PairwiseAligner:
        """Return an aligner that is also one of Biopython's."""
        from Bio.Align import PairwiseAligner as Biopython

        kind: Any = cls
        aligner: PairwiseAligner = Biopython.__new__(_with_biopython(kind))
        return aligner

    def __init__(
        self,
        scoring: Bio.Align.PairwiseAligner | str | None = None,
        *,
        engine: str = "auto",
        device: int | str | Device | None = None,
        memory: int | None = None,
        **attributes: Any,
    ) -> None:
        from Bio.Align import PairwiseAligner as Biopython

        if scoring is not None and not isinstance(scoring, str | Biopython):
            raise TypeError(
                f"scoring must be a Bio.Align.PairwiseAligner or the name of its settings, "
                f"not {type(scoring).__name__}"
            )
        super().__init__(scoring if isinstance(scoring, str) else None)  # type: ignore[no-untyped-call]
        if isinstance(scoring, Biopython):
            self.__setstate__(state_of(scoring))  # type: ignore[no-untyped-call]
        for name, value in attributes.items():
            setattr(self, name, value)
        running = {"engine": engine, "device": device, "memory": memory}
        object.__setattr__(self, "_running", running)
        object.__setattr__(self, "_aligners", lru_cache(maxsize=8)(self._made))

    def score(self, target: Letters, query: Letters, strand: str = "+") -> float:
        """Return the score of the best alignment of two sequences.

        Parameters
        ----------
        target, query : str, bytes, Seq, MutableSeq or SeqRecord
            In this order, as in Biopython; neither may be empty.
        strand : {"+", "-"}
            With "-" the reverse complement of the query is aligned.
        """
        return float(self.score_many([target], [query], strand)[0])

    def score_many(
        self,
        targets: Letters | Iterable[Letters],
        queries: Letters | Iterable[Letters],
        strand: str = "+",
    ) -> npt.NDArray[np.float64]:
        """Return the scores of many pairs at once, shape (N,).

        Parameters
        ----------
        targets, queries : sequence, or iterable of sequences
            Equal numbers of both; a single sequence is aligned with each of the other side.
        strand : {"+", "-"}
        """
        aligner, batch = self._batch(*_paired(targets, queries), strand)
        with aligner.engine.turn:
            return aligner.engine.scores(batch) / aligner.scoring.scale

    def align(self, target: Letters, query: Letters, strand: str = "+") -> Alignments:
        """Return the best alignment of two sequences; parameters as in `score`.

        Returns
        -------
        Alignments
            A sequence of one `Bio.Align.Alignment`, or of none where no local alignment scores
            above 0.
        """
        return next(self.align_many([target], [query], strand))

    def align_many(
        self,
        targets: Letters | Iterable[Letters],
        queries: Letters | Iterable[Letters],
        strand: str = "+",
    ) -> Iterator[Alignments]:
        """Yield the best alignments of many pairs at once, as `align` returns them.

        Parameters as in `score_many`.
        """
        from Bio.Align import Alignment

        targets, queries = _paired(targets, queries)
        aligner, batch = self._batch(targets, queries, strand)
        found = traced(aligner.engine, batch, "conventional")
        for p, (target, query, each) in enumerate(zip(targets, queries, found, strict=True)):
            units, coordinates = each
            if self.mode == "local":
                coordinates = _without_tail(coordinates, *batch.pair(p), aligner.scoring)
            if strand == "-":
                coordinates = np.stack([coordinates[0], len(query) - coordinates[1]])
            score = float(aligner.scoring.display(units))
            if self.mode == "local" and score <= 0:
                yield Alignments(score, ())
                continue
            one = Alignment([target, query], coordinates)  # type: ignore[no-untyped-call]
            one.score = score  # type: ignore[attr-defined]
            yield Alignments(score, (one,))

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
        return scoring_of(self, alphabet, strand)

    def _batch(
        self, targets: list[Letters], queries: list[Letters], strand: str
    ) -> tuple[Aligner, Batch]:
        if strand not in ("+", "-"):
            raise ValueError(f"strand {strand!r}: '+' or '-' expected")
        from Bio.Seq import reverse_complement

        above = [_text(each, "target") for each in targets]
        below = [_text(each, "query") for each in queries]
        if strand == "-":
            below = [str(reverse_complement(each)) for each in below]  # type: ignore[no-untyped-call]
        aligner = self._aligners(*self._key(above + below, strand))
        encode = aligner.scoring.alphabet.encode
        batch = Batch.pairwise(
            [encode(each, name="query") for each in below],
            [encode(each, name="target") for each in above],
        )
        return aligner, batch

    def _key(self, texts: list[str], strand: str) -> tuple[Any, ...]:
        """Return the arguments of `_made`, and everything else that an aligner depends on."""
        state = state_of(self)
        matrix = state.pop("substitution_matrix", None)
        used = set().union(*texts)
        if matrix is not None:
            _, alphabet = matrix_of(self)
            if strange := used - set(alphabet.letters):
                raise ValueError(
                    f"letter {min(strange)!r} is not in substitution_matrix ({alphabet.letters})"
                )
            return strand, None, alphabet.letters, matrix.tobytes(), *state.items()
        fitting = [each for each in ALPHABETS if used <= set(each.letters)]
        if not fitting:
            strange = used - set(ALPHABETS[-1].letters)
            raise ValueError(f"letter {min(strange)!r}: printable ASCII letters expected")
        return strand, fitting[0].name, None, None, *state.items()

    def _made(self, strand: str, alphabet: str | None, *_: object) -> Aligner:
        chosen = next((each for each in ALPHABETS if each.name == alphabet), None)
        return Aligner(self.scoring_for(chosen, strand), **self._running)

    def __reduce__(self) -> Any:
        return _rebuilt, (self._running, state_of(self))


class Alignments(Sequence["Bio.Align.Alignment"]):
    """The alignments of a pair as `PairwiseAligner.align` returns them: one or none.

    Attributes
    ----------
    score : float
    """

    def __init__(self, score: float, alignments: tuple[Bio.Align.Alignment, ...]) -> None:
        self.score = score
        self._alignments = alignments

    def __len__(self) -> int:
        return len(self._alignments)

    @overload
    def __getitem__(self, index: int) -> Bio.Align.Alignment: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Bio.Align.Alignment]: ...
    def __getitem__(
        self, index: int | slice
    ) -> Bio.Align.Alignment | Sequence[Bio.Align.Alignment]:
        return self._alignments[index]

    def __repr__(self) -> str:
        word = "alignment" if len(self) == 1 else "alignments"
        return f"<Alignments ({len(self)} {word}; score={self.score:g})>"


@cache
def _with_biopython(cls: Any) -> Any:
    """Return a subclass that is also one of Biopython's aligner."""
    from Bio.Align import PairwiseAligner as Biopython

    if issubclass(cls, Biopython):
        return cls
    return type(cls.__name__, (cls, Biopython), {})


def _rebuilt(running: dict[str, Any], state: dict[str, Any]) -> PairwiseAligner:
    aligner = PairwiseAligner(**running)
    aligner.__setstate__(state)  # type: ignore[no-untyped-call]
    return aligner


def _paired(
    targets: Letters | Iterable[Letters], queries: Letters | Iterable[Letters]
) -> tuple[list[Letters], list[Letters]]:
    """Return as many targets as queries."""
    one = _sequence_types()
    above, below = ([each] if isinstance(each, one) else list(each) for each in (targets, queries))
    if isinstance(targets, one):
        above *= len(below)
    if isinstance(queries, one):
        below *= len(above)
    if len(above) != len(below):
        raise ValueError(f"{len(above)} targets and {len(below)} queries: equal numbers expected")
    return above, below


def _sequence_types() -> Any:
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord

    return str, bytes, bytearray, Seq, MutableSeq, SeqRecord


def _text(sequence: Letters, what: str) -> str:
    """Return the letters of a sequence; ValueError if it has none."""
    if not isinstance(sequence, _sequence_types()):
        raise TypeError(
            f"{what} must be str, bytes, Seq, MutableSeq or SeqRecord, "
            f"not {type(sequence).__name__}"
        )
    letters = getattr(sequence, "seq", sequence)  # of a SeqRecord
    text = letters.decode("latin-1") if isinstance(letters, bytes | bytearray) else str(letters)
    if not text:
        raise ValueError(f"{what} has no letters")
    return text


def _without_tail(
    coordinates: npt.NDArray[np.int64],
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    scoring: Scoring,
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
