"""The scoring that the attributes of a `Bio.Align.PairwiseAligner` describe."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.matrices import in_integer_units
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.wings.edit.items import code_alphabet

if TYPE_CHECKING:
    import Bio.Align

ALPHABETS = tuple(
    Alphabet(name, letters)
    for name, letters in (
        ("nucleotide", "ACGTN"),
        ("letter", "ABCDEFGHIJKLMNOPQRSTUVWXYZ*"),
        ("printable", "".join(map(chr, range(33, 127)))),
    )
)
"""For scoring by match and mismatch: the first that has all letters is taken, case counts."""
_PLACES = ("internal", "left", "right")


class PairScoring(NamedTuple):
    """The scoring of an aligner's attributes, in integer units.

    Gaps may cost more to extend than to open, or more at the right end than inside, which no engine
    computes; see `Scoring` for the fields.
    """

    matrix: npt.NDArray[np.int32]
    alphabet: Alphabet
    insertion: GapCost
    deletion: GapCost
    end_gaps: EndGaps | None
    scale: int

    @property
    def for_engines(self) -> bool:
        """Whether engines compute this scoring."""
        insertion, deletion, ends = self.insertion, self.deletion, self.end_gaps
        sides = [] if ends is None else [(ends.right_insertion, insertion)]
        sides += [] if ends is None else [(ends.right_deletion, deletion)]
        return (
            all(cost.open >= cost.extend >= 0 for cost in (insertion, deletion))
            and all(min(cost) >= 0 for cost in ends or ())
            and all(a <= b for right, inside in sides for a, b in zip(right, inside, strict=True))
        )

    def scoring(self) -> Scoring:
        """Return it for engines; ValueError if they do not compute it."""
        return Scoring(
            self.matrix,
            self.alphabet,
            *self.deletion,
            name="pairwise",
            scale=self.scale,
            insertion_open=self.insertion.open,
            insertion_extend=self.insertion.extend,
            end_gaps=self.end_gaps,
        )


def scoring_of(
    aligner: Bio.Align.PairwiseAligner,
    alphabet: Alphabet | None = None,
    strand: str = "+",
    wildcard: int | None = None,
) -> PairScoring:
    """Return the scoring of an aligner, also what no engine computes.

    Parameters and errors as `PairwiseAligner.scoring_for` and `matrix_of`.
    """
    if aligner.mode not in ("local", "global"):
        raise ValueError(f"mode {aligner.mode!r}: 'local' or 'global' expected")
    state_of(aligner)
    gaps = {
        (place, kind): (
            getattr(aligner, f"open_{place}_{kind}_score"),
            getattr(aligner, f"extend_{place}_{kind}_score"),
        )
        for place in (_PLACES if aligner.mode == "global" else _PLACES[:1])
        for kind in ("insertion", "deletion")
    }
    for (place, kind), scores in gaps.items():
        if aligner.mode == "local" and max(scores) > 0:
            raise ValueError(
                f"{place} {kind} score {max(scores):g}: at most 0 expected in mode 'local'"
            )
    matrix, alphabet = matrix_of(aligner, alphabet, wildcard)
    numbers = np.append(matrix.ravel(), list(gaps.values()))
    units, scale = in_integer_units(numbers, "scores of letters and gaps")
    costs = -units[matrix.size :].reshape(-1, 2)
    whole = dict(zip(gaps, starmap(GapCost, costs.tolist()), strict=True))
    ends = None
    if aligner.mode == "global":
        left, right = ("left", "right") if strand == "+" else ("right", "left")
        kinds = "insertion", "deletion"
        ends = EndGaps(*(whole[place, kind] for place in (left, right) for kind in kinds))
    return PairScoring(
        units[: matrix.size].reshape(matrix.shape),
        alphabet,
        whole["internal", "insertion"],
        whole["internal", "deletion"],
        ends,
        scale,
    )


def matrix_of(
    aligner: Bio.Align.PairwiseAligner,
    alphabet: Alphabet | None = None,
    wildcard: int | None = None,
) -> tuple[npt.NDArray[np.float64], Alphabet]:
    """Return the scores of a query letter (row) and a target letter, and the alphabet.

    Of sequences scored by match and mismatch the alphabet and the code of the wildcard may be
    given; else it is a letter of the alphabet.
    """
    given = aligner.substitution_matrix
    if given is not None:
        letters = getattr(given, "alphabet", None)
        known = Alphabet("matrix", letters) if is_plain(letters) else code_alphabet(len(given))
        return np.array(given, np.float64).T, known
    alphabet = alphabet or ALPHABETS[-1]
    matrix = np.full((len(alphabet), len(alphabet)), float(aligner.mismatch_score))
    np.fill_diagonal(matrix, float(aligner.match_score))
    if wildcard is None and aligner.wildcard is not None and aligner.wildcard in alphabet.letters:
        wildcard = alphabet.letters.index(aligner.wildcard)
    if wildcard is not None:
        matrix[wildcard], matrix[:, wildcard] = 0, 0
    return matrix, alphabet


def is_plain(letters: object) -> TypeGuard[str]:
    """Return whether the letters of a matrix are those of an `Alphabet`, a byte each."""
    return isinstance(letters, str) and all("!" <= letter <= "~" for letter in letters)


def state_of(aligner: Bio.Align.PairwiseAligner) -> dict[str, Any]:
    """Return all attributes of an aligner."""
    try:
        state: dict[str, Any] = aligner.__getstate__()  # type: ignore[no-untyped-call]
    except ValueError:
        raise ValueError("gap scores given by functions: numbers expected") from None
    return state
