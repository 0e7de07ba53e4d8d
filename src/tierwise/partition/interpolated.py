"""A partition function that is costly at each theta, for callers who ask for many.

Its logarithm is smooth, and mean and variance of the distance are its derivatives. So between two
thetas where all three are known there is a polynomial of degree five that has them at both ends;
with ends as close to each other as here it is right to about ten digits.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor, log, sqrt
from typing import TYPE_CHECKING

from tierwise.partition.base import Moments, PartitionFunction
from tierwise.partition.recursion import RecursionPartition

if TYPE_CHECKING:
    from tierwise._util.estimate import Estimate

# From one theta where the values are computed to the next.
_RATIO = 1.03
# Below so many standard deviations from 0, every theta is computed.
_FIRST = 0.05
_KEPT = 256


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
