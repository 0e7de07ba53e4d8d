"""Interpolation of the log partition function over theta, for callers who ask for many thetas.

Over all thetas, as an integral needs it, by a Chebyshev series (`LogPartition`); around one theta,
as a root needs it, by Hermite polynomials of degree five (`for_many_thetas`). The log partition
function is smooth, and mean and variance of the distance are its derivatives: so between two thetas
where all three are known there is a polynomial that has them at both ends, and with ends as close
to each other as here it is right to about ten digits. Where a value takes a second, a series would
take a minute, and two values next to a root take two seconds.

See Trefethen, Approximation Theory and Approximation Practice (2013).
"""

from __future__ import annotations

from functools import lru_cache
from math import floor, inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.theta import evaluate_series
from tierwise.partition.base import Moments, PartitionFunction
from tierwise.partition.recursion import RecursionPartition

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tierwise._util.types import Estimate

_MOST_NODES = 1024
_LAST_COEFFICIENTS = 6
# Estimated values are no smoother than their error, and more of them add nothing.
_DEGREE_OF_ESTIMATES = 64

# From one theta where the values are computed to the next.
_RATIO = 1.03
# Below so many standard deviations from 0, every theta is computed.
_FIRST = 0.05
_KEPT = 256


class ThetaSeries:
    """A smooth function of theta between two thetas, as a Chebyshev series.

    The series is in ``theta / (1 + theta)``, so that an infinite theta is a point like any other.

    Parameters
    ----------
    function
        Gives the values at many thetas, the largest first.
    low, high
        The least and the largest theta; the latter may be infinite.
    first_degree, last_degree
        The degree is doubled until the last coefficients are negligible, or it is large enough.
    tolerance
        What is negligible, relative to the largest coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> series = ThetaSeries(lambda thetas: np.exp(-thetas), 0.0, np.inf)
    >>> series(np.array([0.5, 2.0]))
    array([0.60653066, 0.13533528])
    """

    def __init__(
        self,
        function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        low: float,
        high: float,
        *,
        first_degree: int = 64,
        last_degree: int = _MOST_NODES,
        tolerance: float = 1e-15,
    ) -> None:
        self._low, self._high = 1.0 / (1.0 + high), 1.0 / (1.0 + low)
        degree = first_degree
        values = function(chebyshev_thetas(low, high, degree))
        while True:
            self._coefficients = _coefficients(values)
            size = np.abs(self._coefficients)
            settled = size[-_LAST_COEFFICIENTS:].max() <= tolerance * max(size.max(), 1e-300)
            if settled or degree >= last_degree:
                break
            # Every second node of twice the degree is known already.
            degree *= 2
            known, values = values, np.empty(degree + 1)
            values[::2] = known
            values[1::2] = function(chebyshev_thetas(low, high, degree)[1::2])

    def __call__(self, thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at many thetas."""
        share = (1.0 / (1.0 + thetas) - self._low) / (self._high - self._low)
        return evaluate_series(self._coefficients, 1.0 - 2.0 * np.clip(share, 0.0, 1.0))


def chebyshev_thetas(low: float, high: float, degree: int) -> NDArray[np.float64]:
    """Return the thetas at which a series of a degree is determined, the largest first.

    Examples
    --------
    >>> chebyshev_thetas(0.0, 3.0, 2)
    array([3. , 0.6, 0. ])
    """
    least, most = 1.0 / (1.0 + high), 1.0 / (1.0 + low)
    share = (1.0 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2.0
    shrunk = least + share * (most - least)
    thetas = np.full(degree + 1, np.inf)
    np.divide(1.0 - shrunk, shrunk, out=thetas, where=shrunk > 0.0)
    clipped: NDArray[np.float64] = np.clip(thetas, low, high)  # rounding could go beyond
    return clipped


def _coefficients(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients of the series that has these values at its Chebyshev points."""
    from scipy.fft import dct

    coefficients: NDArray[np.float64] = dct(values, type=1) / (len(values) - 1)
    coefficients[[0, -1]] /= 2.0
    return coefficients


class LogPartition:
    """Log partition function of given sizes and distance as a series.

    It is smooth for all thetas, so that the series is good to the rounding error of its values.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.partition.choose import partition_function
    >>> log_psi = LogPartition(partition_function((1, 1, 1, 2, 3, 2)))
    >>> log_psi(np.array([0.25]))
    array([10.44563934])
    """

    def __init__(self, partition: PartitionFunction) -> None:
        last_degree = _MOST_NODES if partition.exact else _DEGREE_OF_ESTIMATES
        self._series = ThetaSeries(partition.log_values, 0.0, inf, last_degree=last_degree)

    def __call__(self, thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at many thetas."""
        return self._series(thetas)


class InterpolatedPartition(PartitionFunction):
    """An exact partition function, computed at few thetas and interpolated between them.

    Parameters
    ----------
    partition
        The partition function.
    """

    exact = True

    def __init__(self, partition: PartitionFunction) -> None:
        super().__init__(partition.sizes, partition.distance)
        self.method = partition.method  # type: ignore[misc]
        self._partition = partition
        self._first = _FIRST / max(sqrt(float(partition.variance(0.0))), 1e-300)
        self._at_node = lru_cache(_KEPT)(self._compute)

    def _compute(self, number: int) -> Moments:
        return self._partition.moments(self._node(number))

    def _node(self, number: int) -> float:
        return self._first * _RATIO**number

    def log_values(self, thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log values at many thetas, which are too far from each other to be interpolated."""
        return self._partition.log_values(thetas)

    def _moments(self, theta: float) -> Moments:
        if theta < self._first:
            return self._partition.moments(theta)
        number = floor(log(theta / self._first) / log(_RATIO))
        # Rounding may have gone one node too far.
        number -= int(self._node(number) > theta)
        low, high = self._at_node(number), self._at_node(number + 1)
        start, end = self._node(number), self._node(number + 1)
        return self._known(*_hermite(low, high, end - start, (theta - start) / (end - start)))


def for_many_thetas(partition: PartitionFunction) -> PartitionFunction:
    """Return the partition function so that many thetas cost little more than a few.

    Examples
    --------
    >>> from tierwise.partition.choose import partition_function
    >>> psi = partition_function((1, 1, 1, 2, 3, 2))
    >>> for_many_thetas(psi) is psi
    True
    """
    slow = isinstance(partition, RecursionPartition) and not partition.knows_all_thetas
    return InterpolatedPartition(partition) if slow else partition


def _hermite(low: Moments, high: Moments, width: float, part: float) -> tuple[float, float, float]:
    """Log value, mean and variance at a part of the way between two thetas."""
    ends = (low, high)
    values = [_plain(one.log_value) for one in ends]
    slopes = [-width * _plain(one.mean) for one in ends]
    curves = [width**2 * _plain(one.variance) for one in ends]
    # Coefficients of the polynomial in the part of the way.
    rise = values[1] - values[0] - slopes[0] - curves[0] / 2
    turn = slopes[1] - slopes[0] - curves[0]
    bend = curves[1] - curves[0]
    third = 10 * rise - 4 * turn + bend / 2
    fourth = -15 * rise + 7 * turn - bend
    fifth = 6 * rise - 3 * turn + bend / 2
    coefficients = (values[0], slopes[0], curves[0] / 2, third, fourth, fifth)
    value = slope = curve = 0.0
    for coefficient in reversed(coefficients):
        curve = curve * part + 2 * slope
        slope = slope * part + value
        value = value * part + coefficient
    return value, -slope / width, max(curve / width**2, 0.0)


def _plain(number: Estimate) -> float:
    return float(number)
