"""Many size vectors of few items evaluated together: dynamic programming over sets, by arrays.

It is what `tierwise.searching.evaluate` does for one size vector after another, with an axis for
the size vectors: the recursion over sets of items (as in `tierwise.consensus.subsets`), the
root of the likelihood equation, and the integral over theta by the trapezoidal rule in log theta
(Trefethen and Weideman, SIAM Review 56, 2014). For ten items all 512 size vectors then take a
tenth of a second, and nothing has to be compiled for it.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tierwise.consensus.subsets import choices_of_last_tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise.consensus.problem import Problem
    from tierwise.model.priors import ThetaPrior
    from tierwise.partition.base import PartitionFunction

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Beyond, the tables of all sets and choices of a last tier are large.
MOST_ITEMS = 10
# Points of log theta that are looked at first, and those of an integral.
_FIRST_GRID = np.linspace(np.log(1e-13), np.log(1e4), 1000)
_POINTS = 400
# Where the log density is this far below its peak, nothing is left; below the grid there may be so
# much.
_DEPTH, _DEPTH_BELOW = 37.0, 23.0
# The rule is exact to rounding once the peak, down to a depth of 1, has so many points.
_DEPTH_OF_PEAK, _POINTS_OF_PEAK = 1.0, 8
_MOST_ROUNDS = 40
_NEWTON_STEPS = 200


class Closest(NamedTuple):
    """The closest tiers of each size vector."""

    labels: _Integers
    """``[size vector, item]``: the tier of each item, counted from 0."""
    unique: NDArray[np.bool_]
    """Whether no other tiers of these sizes are as close."""


def closest_tiers(problems: Sequence[Problem]) -> Closest:
    """Find the closest tiers of several size vectors of the same items.

    Parameters
    ----------
    problems
        Costs and sizes, of the same items and the same distance.

    Examples
    --------
    >>> from tierwise.consensus.problem import make_problem
    >>> from tierwise.distances import Costs
    >>> prefers = np.array([[0.0, 3.0, 4.0], [1.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    >>> costs = Costs(linear=np.empty((0, 0)), pairs=prefers)
    >>> found = closest_tiers([make_problem(costs, (1, 2)), make_problem(costs, (1, 1, 1))])
    >>> found.labels.tolist(), found.unique.tolist()
    ([[0, 1, 1], [0, 1, 2]], [True, True])
    """
    n_items = problems[0].n_items
    tolerances = np.array([problem.tolerance for problem in problems])
    pairs = np.array([problem.pairs_transposed for problem in problems])
    least = {0: np.zeros((len(problems), 1))}
    chosen: dict[tuple[int, int], tuple[_Integers, NDArray[np.bool_]]] = {}
    last_tiers = _last_tiers(problems)
    for (end, n_last), (rows, tiers) in last_tiers.items():
        choices = choices_of_last_tier(n_items, end, n_last)
        weights = np.zeros((len(rows), *choices.members.shape))
        if pairs.size:
            against = choices.is_member @ pairs[rows]
            weights = against.reshape(len(rows), -1)[:, choices.cells]
        if problems[0].linear.size:
            linear = np.array(
                [problems[row].linear[:, tier] for row, tier in zip(rows, tiers, strict=True)]
            )
            weights = weights + linear[:, choices.members]
        totals = weights @ choices.is_last
        totals += least[end - n_last][rows][:, choices.before]
        best = totals.argmin(axis=2)
        lowest = np.take_along_axis(totals, best[:, :, None], axis=2)
        close = totals <= lowest + tolerances[rows, None, None]
        chosen[end, n_last] = best, close.sum(axis=2) == 1
        here = least.setdefault(end, np.zeros((len(problems), len(choices.members))))
        here[rows] = lowest[:, :, 0]
    labels = np.zeros((len(problems), n_items), dtype=np.int64)
    unique = np.ones(len(problems), dtype=np.bool_)
    state = np.zeros(len(problems), dtype=np.int64)
    for (end, n_last), (rows, tiers) in reversed(last_tiers.items()):
        choices = choices_of_last_tier(n_items, end, n_last)
        best, is_only = chosen[end, n_last]
        sets, local = state[rows], np.arange(len(rows))
        choice = best[local, sets]
        unique[rows] &= is_only[local, sets]
        of_tier = choices.is_last.T[choice] == 1.0
        items = choices.members[sets][of_tier].reshape(len(rows), n_last)
        labels[rows[:, None], items] = tiers[:, None]
        state[rows] = choices.before[sets, choice]
    return Closest(labels, unique)


def _last_tiers(
    problems: Sequence[Problem],
) -> dict[tuple[int, int], tuple[_Integers, _Integers]]:
    """Which size vectors have a tier of a size that ends after so many items, and which tier."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row, problem in enumerate(problems):
        ends = accumulate(problem.sizes)
        for tier, (end, size) in enumerate(zip(ends, problem.sizes, strict=True)):
            found.setdefault((end, size), []).append((row, tier))
    by_end = sorted(found.items())
    return {key: tuple(np.array(rows).T) for key, rows in by_end}


def agreements(pair_counts: NDArray[Any], labels: _Integers) -> _Floats:
    """Share of pairs of different tiers that the rankings order as each of the tiers do.

    Examples
    --------
    >>> agreements(np.array([[0, 3], [1, 0]]), np.array([[0, 1], [1, 0], [0, 0]]))
    array([0.75, 0.25,  nan])
    """
    better = labels[:, :, None] < labels[:, None, :]
    agreeing = np.einsum("kab,ab->k", better, pair_counts)
    with np.errstate(invalid="ignore"):
        shares: _Floats = agreeing / (agreeing + np.einsum("kab,ba->k", better, pair_counts))
    return shares


class Distributions:
    """How many orderings have each distance, for several size vectors.

    Parameters
    ----------
    partitions
        Of the size vectors, all with the same distance, which has whole numbers as values.

    Examples
    --------
    >>> from tierwise.partition.choose import partition_function
    >>> both = Distributions([partition_function((1, 1, 1)), partition_function((1, 2))])
    >>> both.best_thetas(np.array([1.0, 1.0])).round(4)
    array([0.5706, 0.3466])
    """

    def __init__(self, partitions: Sequence[PartitionFunction]) -> None:
        known = [partition.distribution() for partition in partitions]
        self._log_orders = np.array([one.log_counts[0] for one in known])
        self._distances = np.arange(max(one.distances[-1] for one in known) + 1)
        # Relative to the number of orderings at distance 0, so that sums are not below 1.
        self._counts = np.zeros((len(known), len(self._distances)))
        for row, one in zip(self._counts, known, strict=True):
            row[one.distances.astype(np.int64)] = np.exp(one.log_counts - one.log_counts[0])

    def log_values(self, thetas: _Floats, rows: _Integers) -> _Floats:
        """Log partition function of some size vectors at thetas of their own: ``[row, point]``."""
        decay = np.exp(-thetas)
        values = np.zeros_like(decay)
        for counts in self._counts[rows].T[::-1]:
            values *= decay
            values += counts[:, None]
        logs: _Floats = np.log(values) + self._log_orders[rows, None]
        return logs

    def log_values_at(self, thetas: _Floats) -> _Floats:
        """Log partition function of all size vectors at the same thetas: ``[row, point]``."""
        powers = np.exp(-np.outer(self._distances, thetas))
        logs: _Floats = np.log(self._counts @ powers) + self._log_orders[:, None]
        return logs

    def mean_and_variance(self, thetas: _Floats) -> tuple[_Floats, _Floats]:
        """Mean and variance of the distance, of each size vector at its theta."""
        weights = self._counts * np.exp(-np.outer(thetas, self._distances))
        totals = weights.sum(axis=1)
        means = weights @ self._distances / totals
        apart = self._distances - means[:, None]
        return means, (weights * apart**2).sum(axis=1) / totals

    def best_thetas(self, mean_distances: _Floats) -> _Floats:
        """Solve the likelihood equation of each size vector, by Newton steps within a bracket.

        Theta is infinite where the mean distance is 0, and 0 where it is no less than by chance.
        """
        means, variances = self.mean_and_variance(np.zeros_like(mean_distances))
        spread = variances > 0.0
        result = np.where(spread & (mean_distances <= 0.0), np.inf, 0.0)
        open_rows = spread & (mean_distances > 0.0) & (mean_distances < means)
        low, high = np.zeros_like(means), np.full_like(means, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            thetas = np.where(open_rows, (means - mean_distances) / variances, 1.0)
            for _ in range(_NEWTON_STEPS):
                means, variances = self.mean_and_variance(thetas)
                excess = means - mean_distances
                low = np.where(excess > 0, thetas, low)
                high = np.where(excess > 0, high, thetas)
                step = np.where(variances > 0, excess / variances, np.inf)
                following = thetas + step
                inside = (low < following) & (following <= high)
                doubled = np.where(np.isinf(high), 2 * thetas, (low + high) / 2)
                settled = np.where(
                    inside,
                    np.abs(step) <= 1e-8 * thetas,
                    np.abs(doubled - thetas) <= 1e-13 * thetas,
                )
                following = np.where(inside, following, doubled)
                done = open_rows & settled
                result[done] = following[done]
                open_rows &= ~settled
                if not open_rows.any():
                    break
                thetas = np.where(open_rows, following, 1.0)
        result[open_rows] = thetas[open_rows]
        return result

    def log_likelihoods(self, thetas: _Floats, totals: _Floats, n_rankings: float) -> _Floats:
        """Log-likelihood of each size vector at its theta, with a total distance of the data."""
        rows = np.arange(len(thetas))
        logs = self.log_values(thetas[:, None], rows)[:, 0]
        away = np.where(np.isinf(thetas), 0.0, thetas) * totals
        values: _Floats = -n_rankings * logs - away
        return values

    def log_integrals(
        self, totals: _Floats, n_rankings: float, prior: ThetaPrior
    ) -> tuple[_Floats, NDArray[np.bool_]]:
        """Log-likelihood of each size vector, averaged over theta, and whether it was resolved.

        Where it was not, the prior is an unusual one: it needs a wider grid, or is refused.
        """
        rows = np.arange(len(totals))
        thetas = np.exp(_FIRST_GRID)
        with np.errstate(over="ignore"):
            log_prior = prior.log_density(thetas)
        weights = -n_rankings * self.log_values_at(thetas) - np.outer(totals, thetas)
        values = weights + (log_prior + _FIRST_GRID)
        peaks = values.max(axis=1)
        resolved = (
            np.isfinite(peaks)
            & (values[:, 0] <= peaks - _DEPTH_BELOW)
            & (values[:, -2:] <= peaks[:, None] - _DEPTH).all(axis=1)
        )
        results = np.full(len(rows), np.nan)
        rows = rows[resolved]
        grid, values = np.broadcast_to(_FIRST_GRID, (len(rows), len(_FIRST_GRID))), values[resolved]
        for _ in range(_MOST_ROUNDS):
            grid = _closer_grid(grid, values)
            thetas = np.exp(grid)
            log_prior = prior.log_density(thetas.ravel()).reshape(thetas.shape)
            values = (
                -n_rankings * self.log_values(thetas, rows)
                - totals[rows, None] * thetas
                + log_prior
                + grid
            )
            peaks = values.max(axis=1)
            fine = (values > peaks[:, None] - _DEPTH_OF_PEAK).sum(axis=1) >= _POINTS_OF_PEAK
            sums = np.exp(values[fine] - peaks[fine, None]).sum(axis=1)
            steps = grid[fine, 1] - grid[fine, 0]
            results[rows[fine]] = peaks[fine] + np.log(sums * steps)
            grid, values, rows = grid[~fine], values[~fine], rows[~fine]
            if len(rows) == 0:
                break
        resolved[rows] = False
        return results, resolved


def _closer_grid(grid: _Floats, values: _Floats) -> _Floats:
    """Points of what is within a depth of the peak: ``[row, point]``."""
    rows = np.arange(len(values))
    deep = values > values.max(axis=1, keepdims=True) - _DEPTH
    n_points = values.shape[1]
    low = np.maximum(deep.argmax(axis=1) - 1, 0)
    high = np.minimum(n_points - deep[:, ::-1].argmax(axis=1), n_points - 1)
    closer: _Floats = np.linspace(grid[rows, low], grid[rows, high], _POINTS, axis=1)
    return closer
