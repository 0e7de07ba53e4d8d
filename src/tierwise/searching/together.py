"""The integral over theta of many size vectors of few items at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise.theta.quadrature import (
    FIRST_GRID,
    POINTS_FOR_INTEGRALS,
    close_in,
    is_covered,
    log_trapezoid,
)

if TYPE_CHECKING:
    from tierwise._kernels.every_size import SizeVectors
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


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
        thetas = np.exp(FIRST_GRID)
        with np.errstate(over="ignore"):
            log_prior = prior.log_density(thetas) + FIRST_GRID
        values = log_prior - n_rankings * self.log_values_at(thetas) - np.outer(totals, thetas)
        resolved = is_covered(values)
        which = np.flatnonzero(resolved)

        def log_density(grid: _Floats, rows: _Integers) -> _Floats:
            thetas = np.exp(grid)
            log_prior = prior.log_density(thetas.ravel()).reshape(thetas.shape) + grid
            log_partitions = self.log_values(thetas, which[rows])
            density: _Floats = (
                log_prior - n_rankings * log_partitions - totals[which[rows], None] * thetas
            )
            return density

        results = np.full(len(totals), np.nan)
        first = np.broadcast_to(FIRST_GRID, (len(which), len(FIRST_GRID)))
        for rows, grid, found in close_in(
            log_density, first, values[resolved], POINTS_FOR_INTEGRALS
        ):
            results[which[rows]] = log_trapezoid(found, grid[:, 1] - grid[:, 0])
        return results, resolved
