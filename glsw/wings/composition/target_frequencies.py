"""Target frequencies of a matrix in the context of other compositions (Yu and Altschul 2005).

Y.-K. Yu and S. F. Altschul 2005, "The construction of amino acid substitution matrices for the
comparison of proteins with non-standard compositions", Bioinformatics 21; Y.-K. Yu, J. C. Wootton
and S. F. Altschul 2003, "The compositional adjustment of amino acid substitution matrices", PNAS
100.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]

_TOLERANCE = 1e-8  # Euclidean norm of what is too much, as NCBI has it
_MAX_STEPS = 90  # and halvings of steps
_LEAST_PART = 2.0**-12  # of a step


def target_frequencies(
    joint: _Floats, rows: _Floats, columns: _Floats, relative_entropy: float
) -> tuple[_Floats, _Floats, npt.NDArray[np.bool_]]:
    """Return the joint frequencies nearest to given ones that have other marginals.

    Of all frequencies x with sums of rows r and sums of columns c, and with the relative entropy
    ``sum x ln(x / (r c))``, they are those with the least ``sum x ln(x / joint)``. Where that is
    stationary, ``x = exp(u_i + v_j) (joint / (p_i p_j))^t``. Rows give u; Newton's method finds v
    and t. It starts where they were if all were linear around r = c = p, and once more at t = 1
    and v = ln c if that does not lead to a solution with a positive t.

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
    frequencies, log_ratios : ndarray of float64, shape (N, A, A)
        x and ``ln(x / (r c))``.
    converged : ndarray of bool, shape (N,)
        Whether the constraints hold.

    Examples
    --------
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> marginals = np.array([[[0.6, 0.4]], [[0.5, 0.5]]])
    >>> found, log_ratios, converged = target_frequencies(joint, *marginals, 0.1)
    >>> converged.tolist(), found.sum(axis=2).round(6).tolist(), found.sum(axis=1).round(6).tolist()
    ([True], [[0.6, 0.4]], [[0.5, 0.5]])
    >>> round(float(np.sum(found * log_ratios)), 6)
    0.1
    """
    background = joint.sum(axis=1)
    problem = _Problem(np.log(joint / np.outer(background, background)), relative_entropy)
    work = _Work.of(rows, columns)
    best = _start(problem, background, rows, columns)  # t, and v but for that of the first letter
    least = _solve(problem, work, best)
    failed = np.flatnonzero(least > _TOLERANCE)
    if len(failed):
        again = _Work.of(rows[failed], columns[failed])
        start = np.log(again.columns / again.columns[:, :1])
        start[:, 0] = 1
        least[failed], best[failed] = _solve(problem, again, start), start
    problem.excess(best, work)
    return work.x, work.log_ratios, least <= _TOLERANCE


def _solve(problem: _Problem, work: _Work, best: _Floats) -> _Floats:
    """Improve t and v as far as possible; return the norms of what is too much, shape (N,)."""
    count = len(best)
    step, part, least = np.zeros_like(best), np.ones(count), np.full(count, np.inf)
    todo: npt.NDArray[np.int64] = np.arange(count)
    for _ in range(_MAX_STEPS):
        some = work.of_pairs(todo)
        tried = best[todo] - part[todo, np.newaxis] * step[todo]
        with np.errstate(all="ignore"):  # a step too far, which is halved
            excess = problem.excess(tried, some)
            norms = np.where(tried[:, 0] > 0, np.linalg.norm(excess, axis=1), np.inf)
        better = norms < least[todo]
        best[todo[better]], least[todo[better]] = tried[better], norms[better]
        part[todo] = np.where(better, 1.0, part[todo] / 2)
        moves = better & (norms > _TOLERANCE)
        if moves.any():
            moving = some if moves.all() else _Work(*(each[moves] for each in some))
            step[todo[moves]] = _solved(problem.derivatives(moving), excess[moves])
        todo = todo[(least[todo] > _TOLERANCE) & (part[todo] > _LEAST_PART)]
        if not len(todo):
            break
    return least


class _Work(NamedTuple):
    """Marginals, shape (N, A), and arrays of shape (N, A, A), which are filled in.

    They are kept from step to step: threads that take memory wait for one another.
    """

    rows: _Floats
    columns: _Floats
    x: _Floats
    given: _Floats  # x, given its row
    log_ratios: _Floats  # ln(x / (r c))
    terms: _Floats  # x ln(x / (r c)), later others
    equations: _Floats

    @classmethod
    def of(cls, rows: _Floats, columns: _Floats) -> _Work:
        return cls(rows, columns, *np.empty((5, *rows.shape, rows.shape[1])))

    def of_pairs(self, which: npt.NDArray[np.int64]) -> _Work:
        """Return the marginals of some pairs, with room for them."""
        first = (each[: len(which)] for each in self[2:])
        return _Work(self.rows[which], self.columns[which], *first)


class _Problem(NamedTuple):
    """The given ``ln(joint / (p_i p_j))``, shape (A, A), and the relative entropy wanted."""

    log_ratios: _Floats
    relative_entropy: float

    def excess(self, at: _Floats, work: _Work) -> _Floats:
        """Return what the relative entropy and all columns but the first have too much.

        Shape (N, A), as ``at`` has, which is t and v but for that of the first letter. The first
        column follows from the rest, so that any v is one for it.
        """
        rows, columns, x, given, log_ratios, terms, _ = work
        np.multiply(self.log_ratios, at[:, :1, np.newaxis], out=log_ratios)
        log_ratios[:, :, 1:] += at[:, np.newaxis, 1:]
        np.exp(log_ratios, out=given)
        sums = _across(given)[:, :, np.newaxis]
        given /= sums
        log_ratios -= np.log(sums)
        log_ratios -= np.log(columns)[:, np.newaxis]
        np.multiply(given, rows[:, :, np.newaxis], out=x)
        np.multiply(x, log_ratios, out=terms)
        found = _down(rows, given) - columns
        found[:, 0] = _across(terms).sum(axis=1) - self.relative_entropy
        return found

    def derivatives(self, work: _Work) -> _Floats:
        """Return those of `excess` by t and v, shape (N, A, A), after it; terms are lost."""
        rows, _, x, given, log_ratios, terms, equations = work
        n = np.arange(x.shape[1])
        np.matmul(x.transpose(0, 2, 1), given, out=equations)
        np.negative(equations, out=equations)
        equations[:, n, n] += _down(rows, given)
        entropy = _across(terms)
        equations[:, 0] = terms.sum(axis=1) - _down(entropy, given)
        np.multiply(x, self.log_ratios, out=terms)
        means = _across(terms) / rows
        equations[:, :, 0] = terms.sum(axis=1) - _down(means, x)
        terms *= log_ratios
        equations[:, 0, 0] = _across(terms).sum(axis=1) - (means * entropy).sum(axis=1)
        return equations


def _start(problem: _Problem, background: _Floats, rows: _Floats, columns: _Floats) -> _Floats:
    """Return t and v by a step from the marginals of ``joint``, with the curve of ln c."""
    work = _Work.of(*(2 * [background[np.newaxis]]))
    known = np.append(1.0, np.log(background[1:] / background[0]))[np.newaxis]
    excess = problem.excess(known, work)
    by_row = work.given[0].copy()
    by_row[:, 0] = (work.given * work.log_ratios)[0].sum(axis=1)
    excess = excess + (rows - background) @ by_row
    excess[:, 1:] -= (columns - background)[:, 1:]
    found: _Floats = known - np.linalg.solve(problem.derivatives(work)[0], excess.T).T
    curve = np.log(columns / background) - columns / background
    found[:, 1:] += curve[:, 1:] - curve[:, :1]
    return found


def _across(x: _Floats) -> _Floats:
    """Return the sums of rows, shape (N, A)."""
    found: _Floats = x @ np.ones(x.shape[2])
    return found


def _down(weights: _Floats, x: _Floats) -> _Floats:
    """Return the sums of columns of rows with weights, shape (N, A)."""
    found: _Floats = np.matmul(weights[:, np.newaxis], x)[:, 0]
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
