"""The likelihood at given sizes: a sum over the complete orderings behind the answers.

A complete answer is an answer with one completion, so that one class serves answers of every kind
whose completions are summed over or drawn. Battles are another, in ``comparisons.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import hypot, inf
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import total_cost
from tierwise._util.types import Estimate
from tierwise.answers.base import Completions, KnownAnswers, expected_costs_of
from tierwise.answers.dispatch import MOST_COMPLETIONS
from tierwise.answers.drawn import STRETCHES
from tierwise.errors import TooLargeError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums
    from tierwise.answers.drawn import DrawnCompletions
    from tierwise.distances import Costs
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers import Sizes

# At this theta, per unit of distance, a completion that is not the closest weighs nothing.
LARGEST_THETA_OF_UNIT = 46.0
# A maximum beyond this one cannot be told from an infinite theta: it would take a single deviation
# among tens of billions of rankings.
LARGEST_FINITE_THETA_OF_UNIT = 25.0
# From here on the slope may be lost in rounding: the log-likelihood is compared with that at
# infinity, up to so much an answer.
DOUBTFUL_THETA_OF_UNIT = 10.0
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood at given sizes, for any tiers and theta.

    Attributes
    ----------
    parts
        Collections of answers that are summed over, each in its own way.
    partition
        The partition function of the model.
    drawn
        Answers that have too many completions to be summed over, if there are any.
    rows
        Which of the distinct answers each part holds, in the order of the parts.
    """

    parts: tuple[ExactCompletions, ...]
    partition: PartitionFunction
    drawn: DrawnCompletions | None = None
    rows: tuple[npt.NDArray[np.int64], ...] = ()

    @property
    def sizes(self) -> Sizes:
        """Sizes of the tiers."""
        return self.partition.sizes

    @property
    def known(self) -> bool:
        """Whether all answers say which items lie in which block."""
        return self.drawn is None and all(isinstance(part, KnownAnswers) for part in self.parts)

    @property
    def method(self) -> str:
        """How the normalising constant is found."""
        return self.partition.method

    @property
    def all_parts(self) -> tuple[Completions, ...]:
        """The parts that are summed over and the one that is drawn."""
        return self.parts if self.drawn is None else (*self.parts, self.drawn)

    @cached_property
    def n_rankings(self) -> float:
        """Sum of the weights of all answers."""
        return sum(float(part.weights.sum()) for part in self.all_parts)

    @property
    def log_completions(self) -> float:
        """Sum over answers of the log number of orderings that agree with them."""
        return sum(float((part.weights * part.log_numbers).sum()) for part in self.all_parts)

    @property
    def seconds(self) -> float:
        """About how long a sum over all completions takes."""
        return sum(part.seconds for part in self.parts)

    @property
    def tolerance(self) -> float:
        """How close an end of an interval of theta is to be found, as a share of it."""
        return 1e-6 if self.drawn is None else 1e-2

    @property
    def largest_theta(self) -> float:
        """A theta that is as good as infinite."""
        return LARGEST_THETA_OF_UNIT / self.partition.rule.unit

    def reweighted(self, weights: Floats) -> Likelihood:
        """Return the likelihood of the same distinct answers with other weights."""
        self._refuse_drawn()
        pairs = zip(self.parts, self.rows, strict=True)
        return replace(self, parts=tuple(part.reweighted(weights[rows]) for part, rows in pairs))

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each distinct answer."""
        self._refuse_drawn()
        theta = min(theta, self.largest_theta)
        logs = np.empty(sum(len(rows) for rows in self.rows))
        for part, rows in zip(self.parts, self.rows, strict=True):
            logs[rows] = part.log_weights(labels, theta)
        return logs

    def log_weight_changes(
        self, labels: Labels, theta: float, swaps: npt.NDArray[np.int64]
    ) -> Floats:
        """Growth of `log_weights` when two items trade their tiers: ``[swap, distinct answer]``."""
        (part, *others), finite = self.parts, min(theta, self.largest_theta)
        if isinstance(part, KnownAnswers) and not others:
            return np.array([-finite * part.distance_changes(labels, swap) for swap in swaps])
        before, after = self.log_weights(labels, theta), []
        for swap in swaps:
            swapped = labels.copy()
            swapped[swap] = labels[swap[::-1]]
            after.append(self.log_weights(swapped, theta))
        return np.array(after) - before

    def _refuse_drawn(self) -> None:
        if self.drawn is not None:
            raise TooLargeError(
                f"{len(self.drawn.weights)} of the answers have more than {MOST_COMPLETIONS:,} "
                "completions, too many to sum over: fit or sample the posterior, which draw "
                "completions, or restrict the rankings to fewer items"
            )

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers that are summed over."""
        return reduce(add, (part.sums(labels, theta) for part in self.parts))

    def value(self, labels: Labels, theta: float, *, stretches: int = STRETCHES) -> Estimate:
        """Log-likelihood, with its error where completions or the partition function are drawn.

        Parameters
        ----------
        labels, theta
            Tiers, counted from 0, and theta.
        stretches
            Stretches of draws where completions are drawn: more make the error smaller.
        """
        log_partition = self.partition.log_value(theta)
        theta = min(theta, self.largest_theta)
        summed = self.sums(labels, theta).log_weight if self.parts else 0.0
        error = self.n_rankings * log_partition.standard_error
        method = log_partition.method
        if self.drawn is not None:
            drawn = self.drawn.log_weight(labels, theta, stretches=stretches)
            summed, error = summed + float(drawn), hypot(error, drawn.standard_error)
            method = drawn.method
        value = summed - self.n_rankings * float(log_partition)
        return Estimate(value, standard_error=error, method=method)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        return expected_costs_of(self.all_parts, labels, min(theta, self.largest_theta))

    def total_distance(self, labels: Labels, theta: float) -> float:
        """Distance of all answers from the tiers, on the average over their completions."""
        costs = self.expected_costs(labels, theta)
        return float(total_cost(labels, costs.linear, costs.pairs))

    def costs_at_random(self) -> Costs:
        """Costs of all tiers with all completions equally likely: where to start.

        At a theta of 0 it does not matter for which tiers that is.
        """
        labels = np.repeat(np.arange(len(self.sizes), dtype=np.int64), self.sizes)
        return self.expected_costs(labels, 0.0)

    def information(self, labels: Labels, theta: float) -> float:
        """Information about theta: minus the second derivative of the log-likelihood."""
        information = self.n_rankings * float(self.partition.variance(theta))
        if self.parts:
            information -= self.sums(labels, theta).variance
        if self.drawn is not None:
            information -= self.drawn.variance(labels, theta)
        return information

    def best_theta(self, labels: Labels, start: float) -> float:
        """Climb in theta to a maximum of the log-likelihood, by Newton steps within a bracket.

        Infinite where the likelihood grows without end: all answers agree with the tiers. Answers
        whose completions are drawn have no part in this.
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
