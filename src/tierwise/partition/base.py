"""What every way to compute the partition function offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, lgamma
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tierwise._util.estimate import Estimate
from tierwise.errors import TooLargeError
from tierwise.partition.theta import check_theta

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances.base import Distance
    from tierwise.partition.distribution import DistanceDistribution
    from tierwise.tiers.sizes import Sizes


# Numbers that are computed at the same time: 8 MB.
NUMBERS_AT_A_TIME = 1_000_000


@dataclass(frozen=True)
class Moments:
    """Log partition function, mean and variance of the distance, at one theta."""

    log_value: Estimate
    mean: Estimate
    variance: Estimate


class PartitionFunction(ABC):
    """The partition function of given sizes and distance, for any theta.

    Made by `tierwise.partition_function`. The work that does not depend on theta is done once.

    Attributes
    ----------
    sizes
        Sizes of the tiers.
    distance
        The distance.
    method
        How it is computed.
    exact
        Whether there is no Monte Carlo error in it.
    """

    method: ClassVar[str]
    exact: ClassVar[bool] = False

    def __init__(self, sizes: Sizes, distance: Distance) -> None:
        self.sizes = sizes
        self.distance = distance
        self.rule = distance.rule(sizes).in_largest_units()
        self._latest: tuple[float, Moments] | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return sum(self.sizes)

    def log_value(self, theta: float) -> Estimate:
        """Log of the sum of ``exp(-theta d)`` over all orderings."""
        return self.moments(theta).log_value

    def mean(self, theta: float) -> Estimate:
        """Mean of the distance."""
        return self.moments(theta).mean

    def variance(self, theta: float) -> Estimate:
        """Variance of the distance."""
        return self.moments(theta).variance

    def moments(self, theta: float) -> Moments:
        """Log value, mean and variance together; an infinite theta stands for the limit."""
        theta = check_theta(theta, infinite="allowed")
        if self._latest is None or self._latest[0] != theta:
            self._latest = (theta, self._limit() if theta == inf else self._moments(theta))
        return self._latest[1]

    def log_values(self, thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Log values at many thetas, without their standard errors.

        Examples
        --------
        >>> from tierwise.partition.choose import partition_function
        >>> partition_function((1, 2)).log_values(np.array([0.0, np.inf])).round(4)
        array([1.7918, 0.6931])
        """
        # From the smallest theta upwards, which is how estimates are made.
        values = np.empty(len(thetas))
        for place in np.argsort(thetas, kind="stable").tolist():
            values[place] = self.log_value(float(thetas[place]))
        return values

    @abstractmethod
    def _moments(self, theta: float) -> Moments:
        """Log value, mean and variance at a finite theta."""

    def distribution(self) -> DistanceDistribution:
        """Return the number of orderings at each distance."""
        raise TooLargeError(
            f"the distribution of the distance for sizes {self.sizes} is beyond the method "
            f"{self.method!r}: sample from the model instead, or raise the budget"
        )

    def _limit(self) -> Moments:
        """At an infinite theta only distance 0 is left: the tiers, each in any order."""
        log_value = sum(lgamma(size + 1) for size in self.sizes)
        return self._known(log_value, 0.0, 0.0)

    def _known(self, log_value: float, mean: float, variance: float) -> Moments:
        """Moments without Monte Carlo error."""
        return Moments(
            Estimate(log_value, method=self.method),
            Estimate(mean, method=self.method),
            Estimate(variance, method=self.method),
        )

    def __repr__(self) -> str:
        accuracy = "exact" if self.exact else "estimated"
        return (
            f"<partition function of sizes {self.sizes}, {self.distance.name} distance, "
            f"by {self.method} ({accuracy})>"
        )


class ExactPartition(PartitionFunction):
    """A partition function without Monte Carlo error, which can also draw from the model."""

    exact = True

    @abstractmethod
    def draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw orderings, as the labels, counted from 0, of the items place by place."""

    @abstractmethod
    def expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Return the expected number of items of each label (column) in each block (row)."""

    def _log_values_from_counts(
        self,
        distances: npt.NDArray[np.float64],
        log_counts: npt.NDArray[np.float64],
        thetas: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        """Log values at many thetas from the number of orderings at each distance."""
        values = np.empty(len(thetas))
        rows_at_a_time = max(1, NUMBERS_AT_A_TIME // len(distances))
        for start in range(0, len(thetas), rows_at_a_time):
            rows = slice(start, start + rows_at_a_time)
            finite = np.where(np.isinf(thetas[rows]), 0.0, thetas[rows])
            exponents = log_counts - np.outer(finite, distances)
            peaks = exponents.max(axis=1)
            values[rows] = peaks + np.log(np.exp(exponents - peaks[:, None]).sum(axis=1))
        values[np.isinf(thetas)] = float(self._limit().log_value)
        return values

    def _from_counts(
        self,
        distances: npt.NDArray[np.float64],
        log_counts: npt.NDArray[np.float64],
        theta: float,
    ) -> Moments:
        """Moments from the number of orderings at each distance."""
        exponents = log_counts - theta * distances
        peak = float(exponents.max())
        weights = np.exp(exponents - peak)
        total = float(weights.sum())
        mean = float(weights @ distances) / total
        variance = float(weights @ (distances - mean) ** 2) / total
        return self._known(peak + float(np.log(total)), mean, variance)
