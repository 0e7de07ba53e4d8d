"""Theta given the total distance: its density by quadrature, and draws by the inverse CDF.

The density is taken on equidistant points of ``log theta`` that resolve all that matters
(`quadrature.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, exp, inf, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.theta import PriorTable, ThetaPoints, grid_quantiles, integral_up_to
from tierwise.errors import InputError
from tierwise.model.priors import Gamma, ThetaPrior, as_theta_prior
from tierwise.theta.quadrature import (
    FIRST_GRID,
    FOR_DRAWS,
    close_in,
    falls_off,
    is_covered,
    log_trapezoid,
)

_Floats = NDArray[np.float64]

# Under a prior that hardly says anything theta may be larger than on the first grid, if all
# rankings agree; under one that is infinite at 0 it may be smaller.
_LEAST_EVER, _MOST_EVER = log(1e-300), log(1e30)
_KEPT_DENSITIES = 512
# Numbers that are computed at the same time: 8 MB.
_NUMBERS_AT_A_TIME = 1_000_000
_KEPT_INTEGRALS = 50_000
# Logs of theta at which the partition function is kept for kernels, and how far they are apart.
_LOG_THETAS = (-7.0, 3.0)
_STEP = 2.5e-4
# A prior given as a function is tabulated at these points of log theta.
_TABLE_START, _TABLE_STEP, _TABLE_POINTS = log(1e-12), 0.005, 7000


@dataclass(frozen=True, eq=False)
class ThetaDensity:
    """A density of theta on equidistant points of ``log theta``.

    Attributes
    ----------
    log_thetas
        The points.
    heights
        The density of ``log theta`` there, relative to its peak.
    log_integral
        Log of the integral of what was not normalised.
    """

    log_thetas: _Floats
    heights: _Floats
    log_integral: float

    @cached_property
    def mean(self) -> float:
        """Mean of theta."""
        return float(self.heights @ np.exp(self.log_thetas) / self.heights.sum())

    @cached_property
    def _cumulative(self) -> _Floats:
        """Integral up to each point, in steps of the grid."""
        return integral_up_to(self.heights)

    def quantile(self, shares: _Floats) -> _Floats:
        """Theta below which these shares of the distribution lie."""
        thetas: _Floats = np.exp(
            grid_quantiles(self.log_thetas, self.heights, self._cumulative, shares)
        )
        return thetas

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a theta."""
        return exp(
            grid_quantiles(self.log_thetas, self.heights, self._cumulative, rng.random(1))[0]
        )


class ThetaGivenDistance:
    """The posterior of theta for tiers of given sizes, which depends on the total distance only.

    Parameters
    ----------
    log_partition
        Log partition function of the sizes.
    n_rankings
        Number of rankings.
    prior
        Prior of theta.

    Examples
    --------
    >>> from tierwise.model.priors import Gamma
    >>> from tierwise.partition.choose import partition_function
    >>> from tierwise.partition.interpolated import LogPartition
    >>> log_psi = LogPartition(partition_function((1, 1, 1)))
    >>> given = ThetaGivenDistance(log_psi, n_rankings=100, prior=Gamma(2, 2))
    >>> round(given.density(100.0).mean, 4)
    0.5711
    """

    def __init__(
        self, log_partition: Callable[[_Floats], _Floats], n_rankings: float, prior: ThetaPrior
    ) -> None:
        self._log_partition = log_partition
        self._n_rankings = float(n_rankings)
        self._prior = prior
        self.density: Callable[[float], ThetaDensity] = lru_cache(_KEPT_DENSITIES)(self._density)
        self.log_integral: Callable[[float], float] = lru_cache(_KEPT_INTEGRALS)(self._log_integral)

    @cached_property
    def points(self) -> ThetaPoints:
        """What kernels draw theta from."""
        return theta_points(self._log_partition, self._prior)

    def _log_weights(self, log_thetas: _Floats) -> _Floats:
        """Log density of ``log theta``, up to a constant, were the total distance 0."""
        thetas = np.exp(log_thetas)
        log_likelihood = -self._n_rankings * self._log_partition(thetas)
        # Far out a prior may be zero because its logarithm overflows.
        with np.errstate(over="ignore"):
            log_prior = self._prior.log_density(thetas)
        weights: _Floats = log_likelihood + log_prior + log_thetas
        return weights

    @cached_property
    def _coarse(self) -> tuple[_Floats, _Floats, _Floats]:
        """Points that are looked at first, their thetas, and the log density at distance 0."""
        return self._laid_out(FIRST_GRID)

    @cached_property
    def _widest(self) -> tuple[_Floats, _Floats, _Floats]:
        """The same for all thetas that are ever looked at."""
        step = float(FIRST_GRID[1] - FIRST_GRID[0])
        return self._laid_out(np.arange(_LEAST_EVER, _MOST_EVER, step))

    def _laid_out(self, grid: _Floats) -> tuple[_Floats, _Floats, _Floats]:
        return grid, np.exp(grid), self._log_weights(grid)

    def log_density(self, theta: float, total: float) -> float:
        """Log density of ``log theta``, at a theta, given the total distance."""
        log_weight = float(self._log_weights(np.array([log(theta)]))[0])
        return log_weight - total * theta - self.log_integral(total)

    def _log_integral(self, total: float) -> float:
        return self.density(total).log_integral

    def log_integrals(self, totals: _Floats) -> _Floats:
        """Log integrals at many total distances, on one grid that resolves all of them."""
        different, which = np.unique(totals, return_inverse=True)
        ends = [self._resolve(total, 0.0)[0] for total in (different[0], different[-1])]
        low, high = min(float(grid[0]) for grid in ends), max(float(grid[-1]) for grid in ends)
        step = min(float(grid[1] - grid[0]) for grid in ends)
        grid = np.linspace(low, high, ceil((high - low) / step) + 1)
        weights, thetas = self._log_weights(grid), np.exp(grid)
        integrals = np.empty(len(different))
        rows_at_a_time = max(1, _NUMBERS_AT_A_TIME // len(grid))
        for start in range(0, len(different), rows_at_a_time):
            rows = slice(start, start + rows_at_a_time)
            values = weights - different[rows, None] * thetas
            integrals[rows] = log_trapezoid(values, grid[1] - grid[0])
        all_integrals: _Floats = integrals[which.ravel()]
        return all_integrals

    def _density(self, total: float) -> ThetaDensity:
        return self.weighed_density(total, 0.0, None)

    def weighed_density(
        self, total: float, log_lift: float, log_weight: Callable[[_Floats], _Floats] | None
    ) -> ThetaDensity:
        """Density of theta when many tiers take part, the best of them at a total distance.

        Parameters
        ----------
        total
            The total distance of the best tiers.
        log_lift
            By how much the others can raise the log density, the more the smaller theta is.
        log_weight
            By how much they do, at each theta.
        """
        grid, values = self._resolve(total, log_lift)
        if log_weight is not None:
            values = values + log_weight(np.exp(grid))
        log_integral = float(log_trapezoid(values, grid[1] - grid[0]))
        return ThetaDensity(grid, np.exp(values - values.max()), log_integral)

    def range(self, total: float, log_lift: float) -> tuple[float, float]:
        """Return the least and the largest theta that matter; see `weighed_density`."""
        grid, _ = self._resolve(total, log_lift)
        return exp(float(grid[0])), exp(float(grid[-1]))

    def _resolve(self, total: float, log_lift: float) -> tuple[_Floats, _Floats]:
        """Close in on what matters until its peak is resolved."""

        def log_density(grid: _Floats, _: NDArray[np.int64]) -> _Floats:
            values: _Floats = self._log_weights(grid[0]) - total * np.exp(grid[0])
            return values[None]

        grid, values = (first[None] for first in self._first_grid(total, log_lift))
        ((_, grid, values),) = close_in(log_density, grid, values, FOR_DRAWS, log_lift)
        return grid[0], values[0]

    def _first_grid(self, total: float, log_lift: float) -> tuple[_Floats, _Floats]:
        """Return a grid that holds all that matters, and the log density there."""
        grid, thetas, weights = self._coarse
        values = weights - total * thetas
        if not is_covered(values, log_lift):
            grid, thetas, weights = self._widest
            values = weights - total * thetas
        if not np.isfinite(values.max()):
            raise InputError(
                "no theta is possible under the prior and these rankings: use a "
                "prior that allows more"
            )
        if not falls_off(values):
            raise InputError(
                "the posterior of theta does not decrease as theta grows: use a prior that "
                "does, such as Gamma(2, 2)"
            )
        return grid, values

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._log_partition, self._n_rankings, self._prior)


def theta_points(
    log_partition: Callable[[_Floats], _Floats],
    prior: ThetaPrior,
    log_range: tuple[float, float] = _LOG_THETAS,
) -> ThetaPoints:
    """Lay out what kernels draw theta from: the log partition function and the prior, by theta.

    Parameters
    ----------
    log_partition
        Log partition function of the sizes.
    prior
        Prior of theta.
    log_range
        Logarithms of the least and the largest theta.
    """
    log_thetas = np.arange(*log_range, _STEP)
    thetas = np.exp(log_thetas)
    table = prior_table(prior, nodes=thetas)
    return ThetaPoints(table, log_thetas, thetas, log_partition(thetas))


def prior_table(
    prior: ThetaPrior | Callable[[Any], Any],
    *,
    within: tuple[float, float] = (0.0, inf),
    nodes: _Floats | None = None,
) -> PriorTable:
    """Write a prior of theta as what compiled code understands.

    Parameters
    ----------
    prior
        The prior.
    within
        The least and the largest theta that are possible.
    nodes
        Thetas at which the density is wanted often.
    """
    made = as_theta_prior(prior)
    nodes = np.empty(0) if nodes is None else nodes
    with np.errstate(divide="ignore"):
        lowest, highest = np.log(within).tolist()
        logs = np.log(nodes)
    if isinstance(made, Gamma):
        constant = made.shape * log(made.rate) - lgamma(made.shape)
        at_nodes = constant + made.shape * logs - made.rate * nodes
        gamma = float(made.shape), float(made.rate), constant
        return PriorTable(*gamma, lowest, highest, 0.0, 1.0, np.empty(0), at_nodes)
    points = _TABLE_START + _TABLE_STEP * np.arange(_TABLE_POINTS)
    extra = np.asarray(made.log_density(np.exp(points)), dtype=np.float64)
    at_nodes = np.full(len(logs), -inf)
    later = nodes > 0.0
    with np.errstate(over="ignore"):
        at_nodes[later] = np.asarray(made.log_density(nodes[later])) + logs[later]
    return PriorTable(1.0, 0.0, 0.0, lowest, highest, _TABLE_START, _TABLE_STEP, extra, at_nodes)
