"""Target frequencies of a matrix in the context of other compositions (Yu and Altschul 2005).

Y.-K. Yu and S. F. Altschul 2005, "The construction of amino acid substitution matrices for the
comparison of proteins with non-standard compositions", Bioinformatics 21; Y.-K. Yu, J. C. Wootton
and S. F. Altschul 2003, "The compositional adjustment of amino acid substitution matrices", PNAS
100.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]

_TOLERANCE, _ENOUGH = 1e-11, 1e-8  # Euclidean norm of what is missing; NCBI has 1e-8
_MAX_STEPS = 90  # and halvings of steps
_LEAST_PART = 2.0**-12  # of a step


def target_frequencies(
    joint: _Floats, rows: _Floats, columns: _Floats, relative_entropy: float
) -> tuple[_Floats, npt.NDArray[np.bool_]]:
    """Return the joint frequencies nearest to given ones that have other marginals.

    Of all frequencies x with sums of rows r and sums of columns c, and with the relative entropy
    ``sum x ln(x / (r c))``, they are those with the least ``sum x ln(x / joint)``. Where that is
    stationary, ``x = exp(u_i + v_j) (joint / (p_i p_j))^t``. Rows give u; Newton's method finds v
    and t.

    Parameters
    ----------
    joint : ndarray of float64, shape (A, A)
        Frequencies of aligned pairs, symmetric, all positive; p are their marginals.
    rows, columns : ndarray of float64, shape (N, A)
        Marginals r and c of N problems, all positive.
    relative_entropy : float
        In nats per aligned pair.

    Returns
    -------
    frequencies : ndarray of float64, shape (N, A, A)
    converged : ndarray of bool, shape (N,)
        Whether the constraints hold.

    Examples
    --------
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> found, converged = target_frequencies(joint, *np.array([[[0.6, 0.4]], [[0.5, 0.5]]]), 0.1)
    >>> converged.tolist(), found.sum(axis=2).round(6).tolist(), found.sum(axis=1).round(6).tolist()
    ([True], [[0.6, 0.4]], [[0.5, 0.5]])
    >>> ratio = found[0] / np.outer([0.6, 0.4], [0.5, 0.5])
    >>> round(float(np.sum(found[0] * np.log(ratio))), 6)
    0.1
    """
    background = joint.sum(axis=1)
    log_ratios = np.log(joint / np.outer(background, background))
    count, one = len(rows), np.ones(len(joint))
    found, converged = np.empty((count, *joint.shape)), np.zeros(count, bool)
    at: _Floats = np.concatenate([np.log(columns), np.ones((count, 1))], axis=1)  # v and t
    step: _Floats = np.zeros_like(at)
    part, least = np.ones(count), np.full(count, np.inf)
    todo: npt.NDArray[np.int64] = np.arange(count)
    for _ in range(_MAX_STEPS):
        tried = at - part[:, np.newaxis] * step
        with np.errstate(all="ignore"):  # a step too far, which is halved
            given, gains = _at(tried, columns[todo], log_ratios)
            x = given * rows[todo][:, :, np.newaxis]
            missing = np.empty_like(tried)
            missing[:, :-1] = one @ x - columns[todo]
            missing[:, -1] = (x * gains) @ one @ one - relative_entropy
            norms = np.linalg.norm(missing, axis=1)
        better = norms < least
        at[better], least[better] = tried[better], norms[better]
        part = np.where(better, 1.0, part / 2)
        found[todo[better]] = x[better]
        converged[todo] = least <= _ENOUGH
        moved = better & (least > _TOLERANCE)
        step[moved] = _step(x[moved], given[moved], gains[moved], log_ratios, missing[moved])
        left = (least > _TOLERANCE) & (part > _LEAST_PART)
        if not left.any():
            break
        todo, at, step = todo[left], at[left], step[left]
        part, least = part[left], least[left]
    return found, converged


def _at(at: _Floats, columns: _Floats, log_ratios: _Floats) -> tuple[_Floats, _Floats]:
    """Return frequencies given their row, and ``ln(x / (r c))``, shapes (N, A, A)."""
    gains = at[:, -1, np.newaxis, np.newaxis] * log_ratios
    gains += at[:, np.newaxis, :-1]
    given = np.exp(gains)
    sums = given @ np.ones(len(log_ratios))
    given /= sums[:, :, np.newaxis]
    gains -= np.log(sums)[:, :, np.newaxis]
    gains -= np.log(columns)[:, np.newaxis]
    return given, gains


def _step(
    x: _Floats, given: _Floats, gains: _Floats, log_ratios: _Floats, missing: _Floats
) -> _Floats:
    """Return Newton's step of v and t, given what columns and the relative entropy have too much.

    v of the first letter stays: its column follows from the rest.
    """
    (count, letters, _), one = x.shape, np.ones(len(log_ratios))
    n = np.arange(letters - 1)
    by_t = x * (log_ratios - np.einsum("nij,ij->ni", given, log_ratios)[:, :, np.newaxis])
    by_v = x * (gains - ((given * gains) @ one)[:, :, np.newaxis])
    equations = np.empty((count, letters, letters))
    equations[:, :-1, :-1] = -np.matmul(x.transpose(0, 2, 1), given)[:, 1:, 1:]
    equations[:, n, n] += (one @ x)[:, 1:]
    equations[:, :-1, -1] = (one @ by_t)[:, 1:]
    equations[:, -1, :-1] = (one @ by_v)[:, 1:]
    equations[:, -1, -1] = (by_t * gains) @ one @ one
    found = np.zeros_like(missing)
    found[:, 1:] = _solved(equations, missing[:, 1:])
    return found


def _solved(equations: _Floats, right: _Floats) -> _Floats:
    """Return the solutions of systems of equations, NaN where there is none."""
    try:
        return np.asarray(np.linalg.solve(equations, right[:, :, np.newaxis])[:, :, 0], np.float64)
    except np.linalg.LinAlgError:
        if len(equations) == 1:
            return np.full_like(right, np.nan)
        each = zip(equations[:, np.newaxis], right[:, np.newaxis], strict=True)
        return np.concatenate([_solved(*some) for some in each])
