"""The integral over theta of many size vectors of few items at the same time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise.model.priors import Gamma
from tierwise.theta.quadrature import (
    FIRST_GRID,
    FIRST_GRID_OF_ONE_PEAK,
    FOR_INTEGRALS,
    FOR_SMOOTH_INTEGRALS,
    close_in,
    is_covered,
    log_trapezoid,
)

if TYPE_CHECKING:
    from tierwise._kernels.every_size import SizeVectors
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# So many numbers are computed at a time: they stay in the cache of the processor.
_NUMBERS_AT_A_TIME = 8192
# Matrices are multiplied in parts of so many products: of more, OpenBLAS makes all cores wait for
# each other, which takes them longer than the products.
_MOST_PRODUCTS = 2**18


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
        values = np.empty((len(self._counts), len(thetas)))
        rows_at_a_time = max(1, _MOST_PRODUCTS // powers.size)
        for start in range(0, len(values), rows_at_a_time):
            rows = slice(start, start + rows_at_a_time)
            values[rows] = self._counts[rows] @ powers
        logs: _Floats = np.log(values) + self._log_orders[:, None]
        return logs

    def log_integrals(
        self, totals: _Floats, n_rankings: float, prior: ThetaPrior, *, quickly: bool = False
    ) -> tuple[_Floats, NDArray[np.bool_]]:
        """Log-likelihood of each size vector, averaged over theta, and whether it was resolved.

        Where it was not, the prior is an unusual one: it needs a wider grid, or is refused.
        Quickly, there are fewer points where the prior allows it: the last digits are others.
        """
        first, resolution = FIRST_GRID, FOR_INTEGRALS
        # A likelihood is concave in theta, so with a Gamma distribution there is one smooth peak.
        if quickly and isinstance(prior, Gamma):
            first, resolution = FIRST_GRID_OF_ONE_PEAK, FOR_SMOOTH_INTEGRALS
        thetas = np.exp(first)
        with np.errstate(over="ignore"):
            log_prior = prior.log_density(thetas) + first
        values = log_prior - n_rankings * self.log_values_at(thetas) - np.outer(totals, thetas)
        resolved = is_covered(values)
        results = np.full(len(totals), np.nan)
        rows_at_a_time = max(1, _NUMBERS_AT_A_TIME // resolution.fewest_points)
        of_resolved = np.flatnonzero(resolved)
        for start in range(0, len(of_resolved), rows_at_a_time):
            which = of_resolved[start : start + rows_at_a_time]
            grids = np.broadcast_to(first, (len(which), len(first)))
            log_density = partial(self._log_density, which, totals[which], n_rankings, prior)
            for rows, grid, found in close_in(log_density, grids, values[which], resolution):
                results[which[rows]] = log_trapezoid(found, grid[:, 1] - grid[:, 0])
        return results, resolved

    def _log_density(
        self,
        which: _Integers,
        totals: _Floats,
        n_rankings: float,
        prior: ThetaPrior,
        grid: _Floats,
        rows: _Integers,
    ) -> _Floats:
        """Log density of log theta, for some of these size vectors: ``[row, point]``."""
        thetas = np.exp(grid)
        log_prior = prior.log_density(thetas.ravel()).reshape(thetas.shape) + grid
        log_partitions = self.log_values(thetas, which[rows])
        density: _Floats = log_prior - n_rankings * log_partitions - totals[rows, None] * thetas
        return density
