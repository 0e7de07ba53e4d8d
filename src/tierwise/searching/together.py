"""The integral over theta of many size vectors of few items at the same time.

It is the trapezoidal rule in log theta (Trefethen and Weideman, SIAM Review 56, 2014), with an axis
for the size vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tierwise._kernels.every_size import SizeVectors
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Points of log theta that are looked at first, and those of an integral.
_FIRST_GRID = np.linspace(np.log(1e-13), np.log(1e4), 1000)
_POINTS = 400
# Where the log density is this far below its peak, nothing is left; below the grid there may be so
# much.
_DEPTH, _DEPTH_BELOW = 37.0, 23.0
# The rule is exact to rounding once the peak, down to a depth of 1, has so many points.
_DEPTH_OF_PEAK, _POINTS_OF_PEAK = 1.0, 8
_MOST_ROUNDS = 40


class Distributions:
    """How many orderings have each distance, for several size vectors.

    Parameters
    ----------
    vectors
        All size vectors of some items.
    rows
        Which of them.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> from tierwise.fitting.every_size import every_size
    >>> from tierwise.model.priors import Gamma
    >>> every = every_size(3, get_distance("kendall"))
    >>> one = Distributions(every.vectors, np.array([every.sizes.index((1, 2))]))
    >>> values, resolved = one.log_integrals(np.array([4.0]), 9.0, Gamma(2.0, 2.0))
    >>> values.round(4), resolved
    (array([-13.0486]), array([ True]))
    """

    def __init__(self, vectors: SizeVectors, rows: _Integers) -> None:
        self._log_orders = vectors.log_orders[rows]
        # Relative to the number of orderings at distance 0, so that sums are not below 1.
        self._counts = vectors.shares[rows]
        self._distances = vectors.unit * np.arange(self._counts.shape[1])
        self._unit = vectors.unit

    def log_values(self, thetas: _Floats, rows: _Integers) -> _Floats:
        """Log partition function of some size vectors at thetas of their own: ``[row, point]``."""
        decay = np.exp(-thetas * self._unit)
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
