"""Maximum likelihood where completions are drawn: stochastic approximation of the expectations.

Each round draws some completions under the tiers and theta at hand, blends what they cost into the
average of earlier rounds, and takes the closest tiers and the best theta for that. In the first
rounds nothing is kept of earlier ones, so that tiers and theta can find their region; then the
average settles. The number of rounds is limited.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.objective import total_cost
from tierwise.answers.base import add_costs, expected_costs_of
from tierwise.answers.likelihood import LARGEST_THETA_OF_UNIT
from tierwise.distances.base import Costs
from tierwise.fitting.em import closer_labels, first_labels, neighbouring_swaps
from tierwise.theta.estimate import estimate_theta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise.answers.base import Completions, ExactCompletions, Labels
    from tierwise.answers.drawn import DrawnCompletions
    from tierwise.partition.base import PartitionFunction

WANDERING_ROUNDS = 10
MOST_ROUNDS = 200
# Settled: the same tiers, and theta moving by less than this share, so many rounds in a row.
STILL_ROUNDS = 10
STILL_SHARE = 0.002
# Where answers times squared items are few, settled tiers are left again: so many times, in so many
# steps, the first of which count this share of the energy.
MOST_WORK_FOR_WANDERING = 200_000
WANDERINGS = 4
WANDERING_STEPS = 60
LOWEST_SHARE = 0.3
STRETCHES_TO_COMPARE = 3
# A swap is made if its gain is above zero by so many standard errors.
SURE_ERRORS = 3.0


@dataclass(frozen=True, eq=False)
class Settled:
    """Tiers and theta that the rounds settled on.

    Attributes
    ----------
    labels, theta
        The tiers, counted from 0, and theta.
    total
        The expected total distance.
    rounds
        Number of rounds made.
    converged
        Whether they settled before the rounds were used up.
    """

    labels: Labels
    theta: float
    total: float
    rounds: int
    converged: bool


def settle(
    exact: Sequence[ExactCompletions],
    drawn: DrawnCompletions,
    partition: PartitionFunction,
    method: str,
    rng: np.random.Generator,
) -> Settled:
    """Find tiers and theta that the answers, completed at random, settle on.

    Where they have settled, swaps of two items of neighbouring tiers are tried on an estimate of
    the likelihood itself, and the rounds go on from a better one.

    Parameters
    ----------
    exact, drawn
        The answers.
    partition
        The partition function of the model.
    method
        How to find the tiers to start from, as for `find_consensus`.
    rng
        Generator, for that.
    """
    rounds = _Rounds(exact, drawn, partition)
    labels = np.repeat(np.arange(len(partition.sizes), dtype=np.int64), partition.sizes)
    # At a theta of 0 all completions are equally likely, whatever the tiers.
    costs = rounds.draw(labels, 0.0)
    labels = first_labels(costs, partition.sizes, method, rng)
    settled = _settle_with_swaps(rounds, labels, rounds.best_theta(labels, costs))
    if drawn.places.size * len(labels) <= MOST_WORK_FOR_WANDERING:
        settled = _wander(rounds, settled)
    theta = inf if settled.theta == rounds.largest_theta else settled.theta
    return replace(settled, theta=theta)


def _settle_with_swaps(rounds: _Rounds, labels: Labels, theta: float) -> Settled:
    """Settle, and again from every swap that is sure to gain."""
    settled = rounds.settle_from(labels, theta)
    for _ in range(len(labels)):
        better = rounds.better_swap(settled)
        if better is None:
            break
        settled = rounds.settle_from(better, settled.theta)
    return settled


def _wander(rounds: _Rounds, settled: Settled) -> Settled:
    """Leave settled tiers some times, and return the best that were settled on."""
    best, most = settled, rounds.value(settled.labels, settled.theta)
    for _ in range(WANDERINGS):
        labels = rounds.wander_from(best.labels, best.theta)
        if np.array_equal(labels, best.labels):
            continue
        other = _settle_with_swaps(rounds, labels, best.theta)
        if np.array_equal(other.labels, best.labels):
            continue
        value = rounds.value(other.labels, other.theta)
        if value > most:
            best, most = other, value
    return best


class _Rounds:
    """Rounds of drawing and moving, for all answers together."""

    def __init__(
        self,
        exact: Sequence[ExactCompletions],
        drawn: DrawnCompletions,
        partition: PartitionFunction,
    ) -> None:
        self._exact = exact
        self._drawn = drawn
        self._parts: tuple[Completions, ...] = (*exact, drawn)
        self._partition = partition
        self._n_rankings = sum(float(part.weights.sum()) for part in self._parts)
        self.largest_theta = LARGEST_THETA_OF_UNIT / partition.rule.unit

    def draw(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, as drawn completions have them."""
        return expected_costs_of(self._parts, labels, theta)

    def best_theta(self, labels: Labels, costs: Costs) -> float:
        """Theta at which the mean distance is that of the costs."""
        estimate = estimate_theta(self._partition, self._mean(labels, costs), self._n_rankings)
        return min(estimate.value, self.largest_theta)

    def _mean(self, labels: Labels, costs: Costs) -> float:
        return float(total_cost(labels, costs.linear, costs.pairs)) / self._n_rankings

    def _next_theta(self, labels: Labels, costs: Costs, theta: float) -> float:
        """Make one Newton step towards the best theta: while costs change, more is not worth it."""
        mean = self._mean(labels, costs)
        variance = float(self._partition.variance(theta))
        if mean <= 0.0 or variance == 0.0 or theta == 0.0:
            return self.best_theta(labels, costs)
        following = theta + (float(self._partition.mean(theta)) - mean) / variance
        return min(max(following, theta / 2.0), 2.0 * theta, self.largest_theta)

    def settle_from(self, labels: Labels, theta: float) -> Settled:
        """Draw and move until tiers and theta stand still, or the rounds are used up."""
        costs = self.draw(labels, theta)
        still = 0
        for number in range(1, MOST_ROUNDS + 1):
            share = 1.0 / max(number - WANDERING_ROUNDS, 1)
            costs = _blend(costs, self.draw(labels, theta), share)
            learned = self._drawn.adapt(labels, theta, share)
            closer = closer_labels(costs, self._partition.sizes, labels)
            labels = labels if closer is None else closer
            before, theta = theta, self._next_theta(labels, costs, theta)
            moved = closer is not None or abs(theta - before) > STILL_SHARE * before
            moved = moved or learned > STILL_SHARE
            still = 0 if moved or number <= WANDERING_ROUNDS else still + 1
            if still == STILL_ROUNDS:
                break
        total = float(total_cost(labels, costs.linear, costs.pairs))
        return Settled(labels, theta, total, number, converged=still == STILL_ROUNDS)

    def wander_from(self, labels: Labels, theta: float) -> Labels:
        """Follow completions drawn at a theta that begins low and comes back, one at a time."""
        for share in np.linspace(LOWEST_SHARE, 1.0, WANDERING_STEPS).tolist():
            self._drawn.sweep(labels, theta, share)
            known = (part.expected_costs(labels, share * theta) for part in self._exact)
            costs = reduce(add_costs, known, self._drawn.costs())
            closer = closer_labels(costs, self._partition.sizes, labels)
            labels = labels if closer is None else closer
        return labels

    def value(self, labels: Labels, theta: float) -> float:
        """Estimate the log-likelihood."""
        known = sum(part.sums(labels, theta).log_weight for part in self._exact)
        log_partition = float(self._partition.log_value(theta))
        log_weight = float(self._drawn.log_weight(labels, theta, stretches=STRETCHES_TO_COMPARE))
        return log_weight + known - self._n_rankings * log_partition

    def better_swap(self, settled: Settled) -> Labels | None:
        """Return the tiers after the swap that gains most, if that is beyond doubt."""
        labels, theta = settled.labels, settled.theta
        swaps = list(neighbouring_swaps(labels))
        known = sum(part.sums(labels, theta).log_weight for part in self._exact)
        best, most = None, 0.0
        for swapped, gain in zip(swaps, self._drawn.gains(labels, theta, swaps), strict=True):
            sure = float(gain) - SURE_ERRORS * gain.standard_error
            if self._exact:
                sure += sum(part.sums(swapped, theta).log_weight for part in self._exact) - known
            if sure > most:
                best, most = swapped, sure
        return best


def _blend(old: Costs, new: Costs, share: float) -> Costs:
    """Average costs, the new ones having the given share."""
    return Costs(
        linear=old.linear + share * (new.linear - old.linear),
        pairs=old.pairs + share * (new.pairs - old.pairs),
    )
