"""What every way to compute the partition function offers: moments, distribution and draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isnan, lgamma, log
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from tierwise._util.checks import check_count
from tierwise._util.results import Result
from tierwise._util.types import Estimate
from tierwise.errors import InputError, TooLargeError

if TYPE_CHECKING:
    import numpy.typing as npt
    from numpy.typing import ArrayLike

    from tierwise.distances import Distance
    from tierwise.tiers import Sizes

Concentration: TypeAlias = Literal["single", "tier", "place"]
"""Whether there is one theta, one per tier or one per block of places."""

# Steps of the recursion for one theta: about a second, and some hundred megabytes.
DEFAULT_BUDGET = 2e8
# Numbers that are computed at the same time: 8 MB.
NUMBERS_AT_A_TIME = 1_000_000
# A distribution over 45,000 distances as whole numbers of up to 2,000 bits takes a few seconds.
MOST_ITEMS_FOR_DISTRIBUTION = 300


def check_theta(theta: Any, *, infinite: Literal["allowed", "refused"] = "allowed") -> float:
    """Return theta as a float, or say what is wrong with it."""
    try:
        value = float(theta)
    except (TypeError, ValueError):
        raise InputError(f"theta must be a number, 0 or more; got {theta!r}") from None
    if isnan(value) or value < 0 or (value == inf and infinite == "refused"):
        allowed = "0 or more" if infinite == "allowed" else "0 or more, and finite"
        raise InputError(f"theta must be {allowed}; got {theta!r}")
    return value


def check_items_of_distribution(n_items: int, most: int = MOST_ITEMS_FOR_DISTRIBUTION) -> None:
    """Refuse the distribution of the distance of so many items that it takes too long."""
    if n_items > most:
        raise TooLargeError(
            f"the distribution of the distance is limited to {most} items, but there are "
            f"{n_items}: use its mean and variance instead"
        )


def decay_by_units(theta: float, unit: float, largest: int) -> npt.NDArray[np.float64]:
    """Return ``exp(-theta d)`` for distances ``d`` of 0, 1, ..., ``largest`` units.

    Examples
    --------
    >>> decay_by_units(inf, 1.0, 2)
    array([1., 0., 0.])
    """
    units = np.arange(largest + 1)
    if theta == inf:
        return np.where(units == 0, 1.0, 0.0)
    decay: npt.NDArray[np.float64] = np.exp(-theta * unit * units)
    return decay


@dataclass(frozen=True, eq=False)
class DistanceDistribution(Result):
    """The number of orderings at each distance from tiers of given sizes.

    Attributes
    ----------
    distances
        The distances that occur, ascending.
    log_counts
        Log of the number of orderings at each distance.
    counts
        The numbers themselves, as exact Python integers; None if they are only known by their
        logarithms, which are then good to about 12 digits.

    Examples
    --------
    >>> from tierwise.partition.choose import partition_function
    >>> distribution = partition_function((2, 2), "hamming").distribution()
    >>> distribution.distances
    array([0., 2., 4.])
    >>> list(distribution.counts)
    [4, 16, 4]
    >>> distribution.probabilities(theta=1.0).round(3)
    array([0.641, 0.347, 0.012])
    """

    distances: npt.NDArray[np.float64]
    log_counts: npt.NDArray[np.float64]
    counts: npt.NDArray[Any] | None

    def probabilities(self, theta: float) -> npt.NDArray[np.float64]:
        """Probability of each distance under the model with this theta."""
        theta = check_theta(theta)
        if theta == np.inf:
            exponents = np.where(self.distances == 0.0, 0.0, -np.inf)
        else:
            exponents = self.log_counts - theta * self.distances
        weights = np.exp(exponents - exponents.max())
        probabilities: npt.NDArray[np.float64] = weights / weights.sum()
        return probabilities


def from_exact_counts(counts: list[int], unit: float) -> DistanceDistribution:
    """Make a distribution from whole numbers of orderings at 0, 1, 2, ... units."""
    occurring = [units for units, count in enumerate(counts) if count]
    exact = np.empty(len(occurring), dtype=object)
    exact[:] = [counts[units] for units in occurring]
    return DistanceDistribution(
        distances=unit * np.array(occurring, dtype=np.float64),
        log_counts=np.array([log(count) for count in exact]),
        counts=exact,
    )


@dataclass(frozen=True)
class Moments:
    """Log partition function, mean and variance of the distance, at one theta."""

    log_value: Estimate
    mean: Estimate
    variance: Estimate


@dataclass(frozen=True, eq=False)
class PartMoments:
    """Log partition function, and mean and covariance of the parts of the distance.

    Attributes
    ----------
    log_value
        Log of the sum of ``exp(-thetas @ parts)`` over all orderings.
    means
        Mean of each part: minus the gradient of the log value.
    covariances
        Covariances of the parts: the Hessian of the log value.
    """

    log_value: float
    means: npt.NDArray[np.float64]
    covariances: npt.NDArray[np.float64]


class PartitionFunction(ABC):
    """The partition function of given sizes and distance, for any theta, or thetas.

    Made by `tierwise.partition_function`. The work that does not depend on theta is done once. The
    distance has one part with one theta; or it is a sum of parts, each of which has a theta.

    Attributes
    ----------
    sizes
        Sizes of the tiers.
    distance
        The distance.
    concentration
        "single" for one theta; "tier" or "place" for one theta for each.
    method
        How it is computed.
    exact
        Whether there is no Monte Carlo error in it.
    """

    method: ClassVar[str]
    exact: ClassVar[bool] = False

    def __init__(
        self, sizes: Sizes, distance: Distance, concentration: Concentration = "single"
    ) -> None:
        self.sizes = sizes
        self.distance = distance
        self.concentration: Concentration = concentration
        self.rule = distance.rule(sizes).in_largest_units()
        self._latest: tuple[Any, Moments] | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return sum(self.sizes)

    @property
    def n_parts(self) -> int:
        """Number of parts, each of which has a theta."""
        return 1

    def check_theta(self, theta: ArrayLike) -> Any:
        """Return theta as a float, or as a tuple where there are several; or say what is wrong."""
        return check_theta(theta)

    def log_value(self, theta: ArrayLike) -> Estimate:
        """Log of the sum of ``exp(-theta d)`` over all orderings."""
        return self.moments(theta).log_value

    def mean(self, theta: ArrayLike) -> Estimate:
        """Mean of the distance."""
        return self.moments(theta).mean

    def variance(self, theta: ArrayLike) -> Estimate:
        """Variance of the distance."""
        return self.moments(theta).variance

    def moments(self, theta: ArrayLike) -> Moments:
        """Log value, mean and variance together; an infinite theta stands for the limit."""
        checked = self.check_theta(theta)
        if self._latest is None or self._latest[0] != checked:
            self._latest = (checked, self._limit() if checked == inf else self._moments(checked))
        return self._latest[1]

    def part_moments(self, theta: ArrayLike) -> PartMoments:
        """Log value, means of all parts and their covariances; one theta may be an array of one."""
        values = np.ravel(theta)
        found = self.moments(values[0] if len(values) == 1 else theta)
        return PartMoments(
            float(found.log_value), np.array([found.mean]), np.array([[found.variance]])
        )

    def pair_probabilities(self, theta: ArrayLike) -> npt.NDArray[np.float64] | None:
        """Probability that an item of one tier (row) precedes one of another, if it is known."""
        if self.check_theta(theta) != inf:
            return None
        n_tiers = len(self.sizes)
        return np.triu(np.ones((n_tiers, n_tiers)), 1) + np.eye(n_tiers) / 2.0

    def part_distances(
        self, blocks: npt.NDArray[np.int32], labels: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Distance of each row from tiers, by parts.

        Parameters
        ----------
        blocks
            ``blocks[row, item]`` is the block of each item, counted from 0.
        labels
            Tier of each item, counted from 0.
        """
        sequences = labels[np.argsort(blocks, axis=1, kind="stable")]
        return self.distance.between(sequences, self.sizes)[:, None]

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
            f"the distribution of the distance for sizes {self.sizes} is not available with the "
            f"method {self.method!r}: sample from the model instead, or raise the budget"
        )

    def nearest_sequences(self, n_rows: int) -> npt.NDArray[np.int64]:
        """Return what is drawn at an infinite theta: the labels in their order."""
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return np.tile(labels, (n_rows, 1))

    def nearest_table(self) -> npt.NDArray[np.float64]:
        """Return how many items of each label (column) each block holds at an infinite theta."""
        blocks = self.distance.blocks(self.sizes)
        table = np.zeros((len(blocks), len(self.sizes)))
        block_of_place = np.repeat(np.arange(len(blocks)), blocks)
        np.add.at(table, (block_of_place, self.nearest_sequences(1)[0]), 1.0)
        return table

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
        thetas = "" if self.concentration == "single" else f"a theta per {self.concentration}, "
        return (
            f"<partition function of sizes {self.sizes}, {self.distance.name} distance, {thetas}"
            f"by {self.method} ({accuracy})>"
        )


class ExactPartition(PartitionFunction):
    """A partition function without Monte Carlo error, which can also draw from the model."""

    exact = True

    def draw_sequences(
        self, theta: ArrayLike, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw orderings, as the labels, counted from 0, of the items place by place."""
        check_count("n_rows", n_rows)
        checked = self.check_theta(theta)
        if checked == inf:
            return self.nearest_sequences(n_rows)
        return self._draw_sequences(checked, n_rows, rng)

    def expected_table(self, theta: ArrayLike) -> npt.NDArray[np.float64]:
        """Return the expected number of items of each label (column) in each block (row)."""
        checked = self.check_theta(theta)
        return self.nearest_table() if checked == inf else self._expected_table(checked)

    @abstractmethod
    def _draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw orderings at a finite theta."""

    @abstractmethod
    def _expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Return the expected table at a finite theta."""

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
