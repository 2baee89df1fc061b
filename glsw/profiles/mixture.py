"""Scores by position from a Dirichlet mixture, made as soft as HMMER3 makes its models."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from glsw.profiles.alignment import different_rows, position_scores, rescaled
from glsw.profiles.letters import Letters, letters_of

Model = Literal["blast", "mixture"]
"""Whether the scores of a profile are made as PSI-BLAST's, or of a Dirichlet mixture."""

_ORDER = "ACDEFGHIKLMNPQRSTVWY"
_SHARES_OF_COMPONENTS = """
0.178091 0.056591 0.0960191 0.0781233 0.0834977 0.0904123 0.114468 0.0682132 0.234585
"""
_PARAMETERS_OF_COMPONENTS = """
0.270671 0.039848 0.017576 0.016415 0.014268 0.131916 0.012391 0.022599 0.020358 0.030727
0.015315 0.048298 0.053803 0.020662 0.023612 0.216147 0.147226 0.065438 0.003758 0.009621
0.021465 0.010300 0.011741 0.010883 0.385651 0.016416 0.076196 0.035329 0.013921 0.093517
0.022034 0.028593 0.013086 0.023011 0.018866 0.029156 0.018153 0.036100 0.071770 0.419641
0.561459 0.045448 0.438366 0.764167 0.087364 0.259114 0.214940 0.145928 0.762204 0.247320
0.118662 0.441564 0.174822 0.530840 0.465529 0.583402 0.445586 0.227050 0.029510 0.121090
0.070143 0.011140 0.019479 0.094657 0.013162 0.048038 0.077000 0.032939 0.576639 0.072293
0.028240 0.080372 0.037661 0.185037 0.506783 0.073732 0.071587 0.042532 0.011254 0.028723
0.041103 0.014794 0.005610 0.010216 0.153602 0.007797 0.007175 0.299635 0.010849 0.999446
0.210189 0.006127 0.013021 0.019798 0.014509 0.012049 0.035799 0.180085 0.012744 0.026466
0.115607 0.037381 0.012414 0.018179 0.051778 0.017255 0.004911 0.796882 0.017074 0.285858
0.075811 0.014548 0.015092 0.011382 0.012696 0.027535 0.088333 0.944340 0.004373 0.016741
0.093461 0.004737 0.387252 0.347841 0.010822 0.105877 0.049776 0.014963 0.094276 0.027761
0.010040 0.187869 0.050018 0.110039 0.038668 0.119471 0.065802 0.025430 0.003215 0.018742
0.452171 0.114613 0.062460 0.115702 0.284246 0.140204 0.100358 0.550230 0.143995 0.700649
0.276580 0.118569 0.097470 0.126673 0.143634 0.278983 0.358482 0.661750 0.061533 0.199373
0.005193 0.004039 0.006722 0.006121 0.003468 0.016931 0.003647 0.002184 0.005019 0.005990
0.001473 0.004158 0.009055 0.003630 0.006583 0.003172 0.003690 0.002967 0.002772 0.002686
"""
_SHARES = np.array(_SHARES_OF_COMPONENTS.split(), np.float64)
_PARAMETERS = np.array(_PARAMETERS_OF_COMPONENTS.split(), np.float64).reshape(9, 20)
"""The nine components trained on the Blocks database (Sjolander et al. 1996, as in HMMER3): their
shares, and their parameters of each amino acid."""

_ENTROPY, _LEAST_BITS = 0.59, 45.0  # per position; of a whole profile
_LEAST_FACTOR, _STEPS = 0.02, 20

_Int8 = npt.NDArray[np.int8]
_Float = npt.NDArray[np.float64]


def scores_of(model: str) -> Callable[[_Int8, Letters, str], npt.NDArray[np.int32]]:
    """Return what makes the scores of a model; ValueError if there is no such choice."""
    if model not in get_args(Model):
        raise ValueError(f"model {model!r}: {' or '.join(map(repr, get_args(Model)))} expected")
    return mixture_scores if model == "mixture" else position_scores


def mixture_scores(codes: _Int8, made: Letters, letters: str) -> npt.NDArray[np.int32]:
    """Return the scores of amino acids at each position, shape (m, 20).

    Rows at least 94 % identical to one before are dropped, and the others weighted over all columns
    by position (Henikoff and Henikoff 1994, J. Mol. Biol. 243:574), per residue. With N rows a
    column has counts of amino acids that add up to N times the weight of the rows with one there.
    Frequencies Q are the posterior mean of these counts under a Dirichlet mixture (Sjolander et al.
    1996, "Dirichlet mixtures", CABIOS 12:327). If the mean relative entropy of the columns is above
    0.59 bits, or above 45 bits less log2(m (m + 1) / 2) for all of them, all counts are multiplied
    by one factor that makes it so: few relatives that are much alike tell little of distant ones
    (Karplus, Barrett and Hughey 1998, Bioinformatics 14:846; numbers of HMMER3, Eddy 2011, PLoS
    Comput. Biol. 7:e1002195). The score is ln(Q / P) / lambda, rescaled as in
    `glsw.profiles.alignment.position_scores`, whose parameters are those here.

    Raises
    ------
    ValueError
        If the letters are no amino acids.
    """
    scoring = made.scoring
    if not scoring.alphabet.amino_acids:
        raise ValueError(f"a mixture profile is of amino acids, not of {scoring.alphabet.name}")
    own = scoring.alphabet.encode(letters, unknown=scoring.alphabet.wildcard)
    plain: npt.NDArray[np.int32] = scoring.matrix[np.ix_(own, made.codes)]
    kept = codes[different_rows(codes)]
    if len(kept) == 1:  # nothing was observed
        return plain
    counts = _counts(kept, len(made.codes))
    some = counts.any(axis=1)
    parameters = _PARAMETERS[:, letters_of(scoring.alphabet, _ORDER)]
    length = len(own)
    target = max(_ENTROPY, (_LEAST_BITS - math.log2(length * (length + 1) / 2)) / length)

    def entropy(factor: float) -> float:
        found = posterior(factor * counts[some], parameters)
        return float((found * np.log2(found / made.frequencies)).sum(axis=1).mean())

    low, high = _LEAST_FACTOR, 1.0
    if entropy(high) > target:
        for _ in range(_STEPS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if entropy(middle) > target else (middle, high)
    units = plain.astype(np.float64)
    units[some] = made.in_units(posterior(high * counts[some], parameters) / made.frequencies)
    return rescaled(units, made)


def posterior(counts: _Float, parameters: _Float) -> _Float:
    """Return the mean frequencies of letters given their counts, shape (m, 20), of columns.

    ``parameters``, shape (9, 20), are those of the components of the mixture.

    >>> posterior(np.zeros((1, 20)), _PARAMETERS).argmax().tolist()  # L, without any count
    9
    """
    totals = counts.sum(axis=1)
    sums = parameters.sum(axis=1)[:, np.newaxis]
    each = counts + parameters[:, np.newaxis]
    some = counts > 0
    gained = np.zeros(each.shape)
    before = np.broadcast_to(parameters[:, np.newaxis], each.shape)[:, some]
    gained[:, some] = _log_gamma(each[:, some]) - _log_gamma(before)
    chances = gained.sum(axis=2) + _log_gamma(sums) - _log_gamma(sums + totals)
    chances += np.log(_SHARES / _SHARES.sum())[:, np.newaxis]
    weights = np.exp(chances - chances.max(axis=0))
    weights /= weights.sum(axis=0)
    found: _Float = np.einsum("kc,kcl->cl", weights / (sums + totals), each)
    return found


def _counts(kept: _Int8, letters: int) -> _Float:
    """Return the weighted counts of letters in columns, shape (m, L).

    >>> _counts(np.array([[0, 1], [0, 2]], np.int8), 3).tolist()
    [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    known = kept >= 0
    of_letters = np.stack([(kept == k).sum(axis=0) for k in range(letters)], axis=1)
    there = np.maximum(1, (of_letters > 0).sum(axis=1))
    own = of_letters[np.arange(kept.shape[1]), np.maximum(kept, 0)]
    weights = np.where(known, 1 / (there * np.maximum(1, own)), 0).sum(axis=1)
    weights /= np.maximum(1, known.sum(axis=1))
    weights *= len(kept) / weights.sum()
    return np.stack([weights @ (kept == k) for k in range(letters)], axis=1)


def _log_gamma(numbers: _Float) -> _Float:
    found = np.frompyfunc(math.lgamma, 1, 1)(numbers)
    return np.asarray(found, np.float64)
