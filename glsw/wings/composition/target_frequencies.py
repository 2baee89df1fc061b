"""Target frequencies of a matrix in the context of other compositions (Yu and Altschul 2005).

Y.-K. Yu and S. F. Altschul 2005, "The construction of amino acid substitution matrices for the
comparison of proteins with non-standard compositions", Bioinformatics 21; Y.-K. Yu, J. C. Wootton
and S. F. Altschul 2003, "The compositional adjustment of amino acid substitution matrices", PNAS
100.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glsw.cores import in_threads

_Floats = npt.NDArray[np.float64]

_TOLERANCE = 1e-11  # Euclidean norm of what is missing; NCBI has 1e-8
_MAX_STEPS = 60
_MAX_HALVINGS = 12
_PROBLEMS_TOGETHER = 2**6  # whose equations a cache holds


def target_frequencies(
    joint: _Floats, rows: _Floats, columns: _Floats, relative_entropy: float
) -> tuple[_Floats, npt.NDArray[np.bool_]]:
    """Return the joint frequencies nearest to given ones that have other marginals.

    Of all frequencies x with sums of rows r and sums of columns c, and with the relative entropy
    ``sum x ln(x / (r c))``, they are those with the least ``sum x ln(x / joint)``. Where that is
    stationary, ``x = exp(u_i + v_j) (joint / (p_i p_j))^t``. Newton's method finds u, v and t.

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
    if len(rows) > _PROBLEMS_TOGETHER:
        starts = range(0, len(rows), _PROBLEMS_TOGETHER)
        parts = [slice(start, start + _PROBLEMS_TOGETHER) for start in starts]
        found, converged = zip(
            *in_threads(
                lambda some: target_frequencies(joint, rows[some], columns[some], relative_entropy),
                parts,
            ),
            strict=True,
        )
        return np.concatenate(found), np.concatenate(converged)
    background = joint.sum(axis=1)
    problem = _Problem(np.log(joint / np.outer(background, background)), rows, columns)
    letters = len(joint)
    at = np.concatenate([np.log(rows), np.log(columns), np.ones((len(rows), 1))], axis=1)
    residuals = problem.residuals(at, relative_entropy)
    for _ in range(_MAX_STEPS):
        norms = np.linalg.norm(residuals, axis=1)
        todo = np.flatnonzero(~(norms <= _TOLERANCE))
        if not len(todo):
            break
        some = problem.part(todo)
        step = some.step(at[todo], residuals[todo], letters)
        moved = np.zeros(len(todo), bool)
        for halving in range(_MAX_HALVINGS):
            tried = at[todo] - step / 2**halving
            left = some.residuals(tried, relative_entropy)
            better = ~moved & (np.linalg.norm(left, axis=1) < norms[todo])
            at[todo[better]], residuals[todo[better]] = tried[better], left[better]
            moved |= better
            if moved.all():
                break
        if not moved.any():
            break
    converged = np.linalg.norm(residuals, axis=1) <= 1e-8
    return problem.frequencies(at), converged


class _Problem:
    """N problems with the same joint frequencies; unknowns are u, v and t, shape (N, 2 A + 1)."""

    def __init__(self, log_ratios: _Floats, rows: _Floats, columns: _Floats) -> None:
        self._log_ratios, self._rows, self._columns = log_ratios, rows, columns
        self._independent = np.log(rows)[:, :, np.newaxis] + np.log(columns)[:, np.newaxis, :]

    def part(self, chosen: npt.NDArray[np.intp]) -> _Problem:
        """Return some of the problems."""
        return _Problem(self._log_ratios, self._rows[chosen], self._columns[chosen])

    def _logarithms(self, at: _Floats) -> _Floats:
        letters = len(self._log_ratios)
        u, v, t = at[:, :letters, np.newaxis], at[:, np.newaxis, letters:-1], at[:, -1]
        found: _Floats = u + v + t[:, np.newaxis, np.newaxis] * self._log_ratios
        return np.minimum(found, 50.0)  # a step too far, which is halved

    def frequencies(self, at: _Floats) -> _Floats:
        """Return x, shape (N, A, A)."""
        return np.exp(self._logarithms(at))

    def residuals(self, at: _Floats, relative_entropy: float) -> _Floats:
        """Return what the sums of rows and columns, and the relative entropy, have too much."""
        logarithms = self._logarithms(at)
        x = np.exp(logarithms)
        entropy = np.sum(x * (logarithms - self._independent), axis=(1, 2)) - relative_entropy
        return np.concatenate(
            [
                x.sum(axis=2) - self._rows,
                x.sum(axis=1) - self._columns,
                entropy[:, np.newaxis],
            ],
            axis=1,
        )

    def step(self, at: _Floats, residuals: _Floats, letters: int) -> _Floats:
        """Return Newton's step; v of the first letter stays: its column follows from the rest."""
        logarithms = self._logarithms(at)
        x = np.exp(logarithms)
        slopes = x * (logarithms - self._independent + 1)
        by_t = x * self._log_ratios
        size, n = 2 * letters + 1, np.arange(letters)
        jacobian = np.zeros((len(x), size, size))
        jacobian[:, n, n] = x.sum(axis=2)
        jacobian[:, letters + n, letters + n] = x.sum(axis=1)
        jacobian[:, :letters, letters:-1] = x
        jacobian[:, letters:-1, :letters] = x.transpose(0, 2, 1)
        jacobian[:, :letters, -1] = by_t.sum(axis=2)
        jacobian[:, letters:-1, -1] = by_t.sum(axis=1)
        jacobian[:, -1, :letters] = slopes.sum(axis=2)
        jacobian[:, -1, letters:-1] = slopes.sum(axis=1)
        jacobian[:, -1, -1] = np.sum(slopes * self._log_ratios, axis=(1, 2))
        free = np.delete(np.arange(size), letters)
        found = np.zeros_like(residuals)
        found[:, free] = np.linalg.solve(
            jacobian[:, free[:, np.newaxis], free], residuals[:, free, np.newaxis]
        )[:, :, 0]
        return found
