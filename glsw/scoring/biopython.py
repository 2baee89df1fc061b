"""The scoring that the attributes of a `Bio.Align.PairwiseAligner` describe."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.matrices import in_integer_units
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet

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


def scoring_of(
    aligner: Bio.Align.PairwiseAligner, alphabet: Alphabet | None = None, strand: str = "+"
) -> Scoring:
    """Return the scoring of an aligner; parameters and errors as `PairwiseAligner.scoring_for`."""
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
        if max(scores) > 0:
            raise ValueError(f"{place} {kind} score {max(scores):g}: at most 0 expected")
    matrix, alphabet = matrix_of(aligner, alphabet)
    numbers = np.append(matrix.ravel(), list(gaps.values()))
    units, scale = in_integer_units(numbers, "scores of letters and gaps")
    costs = -units[matrix.size :].reshape(-1, 2)
    whole = dict(zip(gaps, starmap(GapCost, costs.tolist()), strict=True))
    insertion, deletion = whole["internal", "insertion"], whole["internal", "deletion"]
    ends = None
    if aligner.mode == "global":
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


def matrix_of(
    aligner: Bio.Align.PairwiseAligner, alphabet: Alphabet | None = None
) -> tuple[npt.NDArray[np.float64], Alphabet]:
    """Return the scores of a query letter (row) and a target letter, and the alphabet."""
    given = aligner.substitution_matrix
    if given is not None:
        letters = getattr(given, "alphabet", None)
        if not isinstance(letters, str):
            raise ValueError(
                "substitution_matrix: a Bio.Align.substitution_matrices.Array over single "
                "letters expected"
            )
        return np.array(given, np.float64).T, Alphabet("matrix", letters)
    alphabet = alphabet or ALPHABETS[-1]
    matrix = np.full((len(alphabet), len(alphabet)), float(aligner.mismatch_score))
    np.fill_diagonal(matrix, float(aligner.match_score))
    if aligner.wildcard is not None and aligner.wildcard in alphabet.letters:
        at = alphabet.letters.index(aligner.wildcard)
        matrix[at], matrix[:, at] = 0, 0
    return matrix, alphabet


def state_of(aligner: Bio.Align.PairwiseAligner) -> dict[str, Any]:
    """Return all attributes of an aligner."""
    try:
        state: dict[str, Any] = aligner.__getstate__()  # type: ignore[no-untyped-call]
    except ValueError:
        raise ValueError("gap scores given by functions: numbers expected") from None
    return state
