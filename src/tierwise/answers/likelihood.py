"""The likelihood of incomplete answers at given sizes, for any tiers and theta."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import inf
from operator import add
from typing import TYPE_CHECKING

from tierwise.answers.base import expected_costs_of

if TYPE_CHECKING:
    from tierwise.answers.base import ExactCompletions, Labels, Sums
    from tierwise.distances.base import Costs
    from tierwise.partition.base import PartitionFunction

# At this theta, per unit of distance, a completion that is not the closest weighs nothing.
LARGEST_THETA_OF_UNIT = 46.0
# A maximum beyond this one cannot be told from an infinite theta: it would take a single deviation
# among tens of billions of rankings.
LARGEST_FINITE_THETA_OF_UNIT = 25.0
# From here on the slope may be lost in rounding: the log-likelihood is compared with that at
# infinity, up to so much an answer.
DOUBTFUL_THETA_OF_UNIT = 10.0
ROUNDING = 1e-10


@dataclass(frozen=True)
class Likelihood:
    """Answers in one or several collections, each summed over in its own way.

    Attributes
    ----------
    parts
        The collections.
    partition
        The partition function of the model.
    """

    parts: tuple[ExactCompletions, ...]
    partition: PartitionFunction

    @property
    def n_rankings(self) -> float:
        """Sum of the weights of all answers."""
        return sum(float(part.weights.sum()) for part in self.parts)

    @property
    def log_completions(self) -> float:
        """Sum over answers of the log number of orderings that agree with them."""
        return sum(float((part.weights * part.log_numbers).sum()) for part in self.parts)

    @property
    def largest_theta(self) -> float:
        """A theta that is as good as infinite."""
        return LARGEST_THETA_OF_UNIT / self.partition.rule.unit

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        return reduce(add, (part.sums(labels, theta) for part in self.parts))

    def value(self, labels: Labels, theta: float) -> float:
        """Log-likelihood."""
        theta = min(theta, self.largest_theta)
        log_partition = float(self.partition.log_value(theta))
        return self.sums(labels, theta).log_weight - self.n_rankings * log_partition

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        theta = min(theta, self.largest_theta)
        return expected_costs_of(self.parts, labels, theta)

    def information(self, labels: Labels, theta: float) -> float:
        """Information about theta: minus the second derivative of the log-likelihood."""
        of_the_model = self.n_rankings * float(self.partition.variance(theta))
        return of_the_model - self.sums(labels, theta).variance

    def best_theta(self, labels: Labels, start: float) -> float:
        """Climb in theta to a maximum of the log-likelihood, by Newton steps within a bracket.

        Infinite where the likelihood grows without end: all answers agree with the tiers.
        """
        largest = self.largest_theta
        if float(self.partition.variance(0.0)) == 0.0:
            return 0.0
        low, high = 0.0, inf
        theta = min(max(start, 1e-3 / self.partition.rule.unit), largest)
        for _ in range(100):
            sums = self.sums(labels, theta)
            slope = self.n_rankings * float(self.partition.mean(theta)) - sums.mean
            curvature = sums.variance - self.n_rankings * float(self.partition.variance(theta))
            if slope > 0.0:
                low = theta
            else:
                high = theta
            if low == largest:
                break
            following = theta - slope / curvature if curvature < 0.0 else -inf
            if not low < following < high:
                following = min(2.0 * theta, largest) if high == inf else (low + high) / 2.0
            # The error of a Newton step is of the order of its square.
            settled = abs(following - theta) <= 1e-7 * theta
            theta = following
            if settled or theta < 1e-9 * largest:
                break
        if self._is_as_good_as_infinite(labels, theta):
            return inf
        return 0.0 if theta < 1e-9 * largest else theta

    def _is_as_good_as_infinite(self, labels: Labels, theta: float) -> bool:
        """Tell whether the log-likelihood is no lower where theta is infinite."""
        of_unit = theta * self.partition.rule.unit
        if not DOUBTFUL_THETA_OF_UNIT < of_unit <= LARGEST_FINITE_THETA_OF_UNIT:
            return of_unit > LARGEST_FINITE_THETA_OF_UNIT
        at_infinity = self.value(labels, self.largest_theta)
        return at_infinity >= self.value(labels, theta) - ROUNDING * self.n_rankings
