"""Biopython's pairwise aligner on the engines: local, global and semi-global alignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import starmap
from typing import Any, TypeAlias, overload

import Bio.Align
import numpy as np
import numpy.typing as npt
from Bio.Seq import MutableSeq, Seq, reverse_complement
from Bio.SeqRecord import SeqRecord

from glsw.align import Aligner
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.matrices import in_integer_units
from glsw.scoring.scoring import Scoring
from glsw.search.align_pairs import traced
from glsw.sequences.alphabet import Alphabet

Letters: TypeAlias = str | bytes | Seq | MutableSeq | SeqRecord
_ONE = str, bytes, bytearray, Seq, MutableSeq, SeqRecord

_PRINTABLE = "".join(chr(code) for code in range(33, 127))
_ALPHABETS = tuple(
    Alphabet(name, letters)
    for name, letters in (
        ("nucleotide", "ACGTN"),
        ("letter", "ABCDEFGHIJKLMNOPQRSTUVWXYZ*"),
        ("printable", _PRINTABLE),
    )
)
"""For scoring by match and mismatch: the first that has all letters is taken, case counts."""
_PLACES = ("internal", "left", "right")


class PairwiseAligner(Bio.Align.PairwiseAligner):
    """A `Bio.Align.PairwiseAligner` whose scores and alignments the engines compute.

    It has all attributes of Biopython's class, with the same names, defaults and meanings: mode,
    match_score and mismatch_score or substitution_matrix, wildcard, and gap scores by kind
    (insertion, deletion) and place (internal, left, right).

    Parameters
    ----------
    scoring : Bio.Align.PairwiseAligner or str, optional
        Take its attributes; or one of Biopython's settings: ``"blastn"``, ``"megablast"``,
        ``"blastp"``.
    engine : str
        A name in `glsw.engines.ENGINES`: ``auto``, ``reference``, ``fragment``, ``diagonal`` and
        ``blocked`` align from end to end.
    device : int, str or Device, optional
        As for `glsw.Aligner`.
    memory : int, optional
        As for `glsw.Aligner`.
    **attributes
        Set as attributes, ``mode="local"`` for instance.

    Raises
    ------
    ValueError
        When it is used, with one line on what cannot be done: mode "fogsaa", gap scores above 0 or
        given by functions, a gap that costs less to open than to extend, a gap at the right end
        that costs more than one inside, scores with more than four decimals, letters outside the
        substitution matrix or that are not printable ASCII. Nothing is left to Biopython's own
        code.
    TypeError
        Then too, for sequences that are not text, such as arrays of numbers and lists of codons.

    Notes
    -----
    Of several equally good alignments there is one, always the same, see `Aligner.align`; where
    Biopython returns all, `align` returns this one. A local alignment ends where it first reaches
    its score: Biopython has none that go on without gain. Every pair of sequences is aligned
    exactly, in whole numbers; scores are returned as float, as Biopython does. Where gaps at the
    left end cost other than at the right, Biopython 1.88's own code for linear gaps sometimes gives
    another score than its alignments have (GAGT and TC with match 2, mismatch -3, gap_score -1 and
    right_gap_score 0: 0.0, the alignments -1.0): here `score` is that of the alignments.

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

    def __init__(
        self,
        scoring: Bio.Align.PairwiseAligner | str | None = None,
        *,
        engine: str = "auto",
        device: int | str | Device | None = None,
        memory: int | None = None,
        **attributes: Any,
    ) -> None:
        if scoring is not None and not isinstance(scoring, str | Bio.Align.PairwiseAligner):
            raise TypeError(
                f"scoring must be a Bio.Align.PairwiseAligner or the name of its settings, "
                f"not {type(scoring).__name__}"
            )
        super().__init__(scoring if isinstance(scoring, str) else None)  # type: ignore[no-untyped-call]
        if isinstance(scoring, Bio.Align.PairwiseAligner):
            self.__setstate__(_state(scoring))  # type: ignore[no-untyped-call]
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
            As many of both; a single sequence meets each of the other side.
        strand : {"+", "-"}
        """
        aligner, batch = self._batch(*_paired(targets, queries), strand)
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
        """Yield what `align` returns for many pairs, which are aligned at once.

        Parameters as in `score_many`.
        """
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
            one = Bio.Align.Alignment([target, query], coordinates)  # type: ignore[no-untyped-call]
            one.score = score  # type: ignore[attr-defined]
            yield Alignments(score, (one,))

    def scoring_for(self, alphabet: Alphabet | None = None, strand: str = "+") -> Scoring:
        """Return what the attributes come to, for `glsw.Aligner` and the engines.

        Parameters
        ----------
        alphabet : Alphabet, optional
            Of sequences scored by match and mismatch.
        strand : {"+", "-"}
            On the minus strand left and right gap scores of Biopython's change places.

        Raises
        ------
        ValueError
            As in the class.
        """
        if self.mode not in ("local", "global"):
            raise ValueError(f"mode {self.mode!r}: 'local' or 'global' expected")
        _state(self)
        gaps = {
            (place, kind): (
                getattr(self, f"open_{place}_{kind}_score"),
                getattr(self, f"extend_{place}_{kind}_score"),
            )
            for place in (_PLACES if self.mode == "global" else _PLACES[:1])
            for kind in ("insertion", "deletion")
        }
        for (place, kind), scores in gaps.items():
            if max(scores) > 0:
                raise ValueError(f"{place} {kind} score {max(scores):g}: at most 0 expected")
        matrix, alphabet = self._matrix(alphabet or _ALPHABETS[-1])
        numbers = np.append(matrix.ravel(), list(gaps.values()))
        units, scale = in_integer_units(numbers, "scores of letters and gaps")
        costs = -units[matrix.size :].reshape(-1, 2)
        whole = dict(zip(gaps, starmap(GapCost, costs.tolist()), strict=True))
        insertion, deletion = whole["internal", "insertion"], whole["internal", "deletion"]
        ends = None
        if self.mode == "global":
            left, right = ("left", "right") if strand == "+" else ("right", "left")
            ends = EndGaps(
                whole[left, "insertion"],
                whole[left, "deletion"],
                whole[right, "insertion"],
                whole[right, "deletion"],
            )
        return Scoring(
            units[: matrix.size].reshape(matrix.shape),
            alphabet,
            *deletion,
            name="pairwise",
            scale=scale,
            insertion_open=insertion.open,
            insertion_extend=insertion.extend,
            end_gaps=ends,
        )

    def _matrix(self, alphabet: Alphabet) -> tuple[npt.NDArray[np.float64], Alphabet]:
        """Return the scores of a query letter (row) and a target letter, and the alphabet."""
        given = self.substitution_matrix
        if given is not None:
            letters = getattr(given, "alphabet", None)
            if not isinstance(letters, str):
                raise ValueError(
                    "substitution_matrix: a Bio.Align.substitution_matrices.Array over single "
                    "letters expected"
                )
            return np.array(given, np.float64).T, Alphabet("matrix", letters)
        matrix = np.full((len(alphabet), len(alphabet)), float(self.mismatch_score))
        np.fill_diagonal(matrix, float(self.match_score))
        if self.wildcard is not None and self.wildcard in alphabet.letters:
            at = alphabet.letters.index(self.wildcard)
            matrix[at], matrix[:, at] = 0, 0
        return matrix, alphabet

    def _batch(
        self, targets: list[Letters], queries: list[Letters], strand: str
    ) -> tuple[Aligner, Batch]:
        if strand not in ("+", "-"):
            raise ValueError(f"strand {strand!r}: '+' or '-' expected")
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
        """Return what an aligner is made of, and everything that it depends on."""
        state = _state(self)
        matrix = state.pop("substitution_matrix", None)
        used = set().union(*texts)
        if matrix is not None:
            _, alphabet = self._matrix(_ALPHABETS[-1])
            if strange := used - set(alphabet.letters):
                raise ValueError(
                    f"letter {min(strange)!r} is not in substitution_matrix ({alphabet.letters})"
                )
            return strand, None, alphabet.letters, matrix.tobytes(), *state.items()
        fitting = [each for each in _ALPHABETS if used <= set(each.letters)]
        if not fitting:
            strange = used - set(_PRINTABLE)
            raise ValueError(f"letter {min(strange)!r}: printable ASCII letters expected")
        return strand, fitting[0].name, None, None, *state.items()

    def _made(self, strand: str, alphabet: str | None, *_: object) -> Aligner:
        chosen = next((each for each in _ALPHABETS if each.name == alphabet), None)
        return Aligner(self.scoring_for(chosen, strand), **self._running)

    def __reduce__(self) -> Any:
        return _rebuilt, (self._running, _state(self))


class Alignments(Sequence[Bio.Align.Alignment]):
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


def _rebuilt(running: dict[str, Any], state: dict[str, Any]) -> PairwiseAligner:
    aligner = PairwiseAligner(**running)
    aligner.__setstate__(state)  # type: ignore[no-untyped-call]
    return aligner


def _state(aligner: Bio.Align.PairwiseAligner) -> dict[str, Any]:
    """Return all attributes of an aligner."""
    try:
        state: dict[str, Any] = aligner.__getstate__()  # type: ignore[no-untyped-call]
    except ValueError:
        raise ValueError("gap scores given by functions: numbers expected") from None
    return state


def _paired(
    targets: Letters | Iterable[Letters], queries: Letters | Iterable[Letters]
) -> tuple[list[Letters], list[Letters]]:
    """Return as many targets as queries."""
    above, below = ([each] if isinstance(each, _ONE) else list(each) for each in (targets, queries))
    if isinstance(targets, _ONE):
        above *= len(below)
    if isinstance(queries, _ONE):
        below *= len(above)
    if len(above) != len(below):
        raise ValueError(f"{len(above)} targets and {len(below)} queries: as many of both expected")
    return above, below


def _text(sequence: Letters, what: str) -> str:
    """Return the letters of a sequence, which has some."""
    letters = sequence.seq if isinstance(sequence, SeqRecord) else sequence
    if isinstance(letters, bytes | bytearray):
        letters = letters.decode("latin-1")
    if not isinstance(letters, str | Seq | MutableSeq):
        raise TypeError(
            f"{what} must be str, bytes, Seq, MutableSeq or SeqRecord, "
            f"not {type(sequence).__name__}"
        )
    text = str(letters)
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
