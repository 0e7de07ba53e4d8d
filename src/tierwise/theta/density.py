"""Theta given the total distance: its density on a grid that resolves all that matters."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.quantiles import grid_quantiles
from tierwise.errors import InputError
from tierwise.model.priors import ThetaPrior
from tierwise.theta.log_partition import LogPartition

_Floats = NDArray[np.float64]

# The grid is in log theta, in which a density that is finite at 0 has no edge there.
_LEAST, _MOST = log(1e-13), log(1e4)
_COARSE_POINTS = 1000
_FEWEST_POINTS, _MOST_POINTS = 400, 8000
# Where the log density is this far below its peak, nothing is left.
_DEPTH = 37.0
# The peak, up to this depth, is to have so many points.
_DEPTH_OF_PEAK, _POINTS_OF_PEAK = 1.0, 60
# A density that falls to 0 from this height within one step jumps there.
_JUMP = 1e-9
_MOST_ROUNDS = 40
_KEPT_DENSITIES = 512
_KEPT_INTEGRALS = 50_000


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
        padded = np.concatenate([[0.0], self.heights, [0.0]])
        left, right = padded[1:-2], padded[2:-1]
        straight = (left + right) / 2.0
        cubic = (26.0 * straight - padded[:-3] - padded[3:]) / 24.0
        # Cubics through four points, or a straight line beside a jump of the prior. Where it jumps
        # to impossible thetas the cell is left out.
        cells = np.where(np.abs(cubic - straight) < 0.5 * straight, cubic, straight)
        cells[(np.minimum(left, right) == 0.0) & (straight > _JUMP)] = 0.0
        return np.concatenate([[0.0], np.cumsum(cells)])

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
    >>> from tierwise.partition.choose import partition_function
    >>> from tierwise.model.priors import Gamma
    >>> log_psi = LogPartition(partition_function((1, 1, 1)))
    >>> given = ThetaGivenDistance(log_psi, n_rankings=100, prior=Gamma(2, 2))
    >>> round(given.density(100.0).mean, 4)
    0.5711
    """

    def __init__(self, log_partition: LogPartition, n_rankings: float, prior: ThetaPrior) -> None:
        self._log_partition = log_partition
        self._n_rankings = float(n_rankings)
        self._prior = prior
        self._coarse = np.linspace(_LEAST, _MOST, _COARSE_POINTS)
        self._coarse_thetas = np.exp(self._coarse)
        self._coarse_values = self._log_weights(self._coarse)
        self.density: Callable[[float], ThetaDensity] = lru_cache(_KEPT_DENSITIES)(self._density)
        self.log_integral: Callable[[float], float] = lru_cache(_KEPT_INTEGRALS)(self._log_integral)

    def _log_weights(self, log_thetas: _Floats) -> _Floats:
        """Log density of ``log theta``, up to a constant, were the total distance 0."""
        thetas = np.exp(log_thetas)
        log_likelihood = -self._n_rankings * self._log_partition(thetas)
        weights: _Floats = log_likelihood + self._prior.log_density(thetas) + log_thetas
        return weights

    def log_density(self, theta: float, total: float) -> float:
        """Log density of ``log theta``, at a theta, given the total distance."""
        log_weight = float(self._log_weights(np.array([log(theta)]))[0])
        return log_weight - total * theta - self.log_integral(total)

    def _log_integral(self, total: float) -> float:
        return self.density(total).log_integral

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
        grid, values = self._resolve(total, _DEPTH + log_lift)
        if log_weight is not None:
            values = values + log_weight(np.exp(grid))
        peak = float(values.max())
        heights = np.exp(values - peak)
        step = float(grid[1] - grid[0])
        return ThetaDensity(grid, heights, peak + log(float(heights.sum()) * step))

    def _resolve(self, total: float, left_depth: float) -> tuple[_Floats, _Floats]:
        """Close in on what matters until its peak is resolved."""
        grid, thetas, values = self._coarse, self._coarse_thetas, self._coarse_values
        values = values - total * thetas
        for _ in range(_MOST_ROUNDS):
            peak = int(values.argmax())
            top = float(values[peak])
            if not np.isfinite(top):
                raise InputError("no theta is possible under prior_theta and these rankings")
            n_peak = int((values > top - _DEPTH_OF_PEAK).sum())
            if grid is not self._coarse and n_peak >= 0.8 * _POINTS_OF_PEAK:
                break
            first = int((values[: peak + 1] > top - left_depth).argmax())
            last = len(values) - 1 - int((values[::-1] > top - _DEPTH).argmax())
            low, high = max(first - 1, 0), min(last + 1, len(grid) - 1)
            if high == len(grid) - 1 and grid is self._coarse:
                raise InputError(
                    "the posterior of theta does not fall off as theta grows: prior_theta must be "
                    "a density that does, such as Gamma(2, 2)"
                )
            wanted = _POINTS_OF_PEAK * (high - low) // n_peak
            n_points = min(max(wanted, _FEWEST_POINTS), _MOST_POINTS)
            grid = np.linspace(grid[low], grid[high], n_points)
            values = self._log_weights(grid) - total * np.exp(grid)
        return grid, values

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._log_partition, self._n_rankings, self._prior)
