"""How many orderings lie at each distance from the tiers."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.partition.theta import check_theta

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class DistanceDistribution:
    """The number of orderings at each distance from tiers of given sizes.

    Attributes
    ----------
    distances
        The distances that occur, ascending.
    log_counts
        Log of the number of orderings at each distance.
    counts
        The numbers themselves, as exact Python integers; None where they are only known by their
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
        theta = check_theta(theta, infinite="allowed")
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
