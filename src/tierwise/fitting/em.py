"""EM where completions are summed over, stochastic approximation EM where they are drawn.

EM is expectation and maximisation (Dempster, Laird and Rubin, Maximum Likelihood from Incomplete
Data via the EM Algorithm, Journal of the Royal Statistical Society B 39, 1977). A round completes
the answers on the average, under the tiers and theta at hand (expectation), and takes the tiers
that are closest to that; then theta is set to its best value. No round lowers the likelihood of
what was observed. At the end those swaps of two items that come closest to improving the averages
are tried on the likelihood itself: averages over completions are slow to give way.

SAEM is its stochastic approximation (Delyon, Lavielle and Moulines, Convergence of a Stochastic
Approximation Version of the EM Algorithm, Annals of Statistics 27, 1999). Each round draws some
completions under the tiers and theta at hand, blends what they cost into the average of earlier
rounds, and takes the closest tiers and the best theta for that. In the first rounds nothing is kept
of earlier ones, so that tiers and theta can find their region; then the average settles. The number
of rounds is limited.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import total_cost
from tierwise.answers.base import add_costs
from tierwise.consensus.find import closer_labels, find_consensus
from tierwise.consensus.problem import make_problem
from tierwise.consensus.subsets import fits
from tierwise.distances import Costs
from tierwise.theta.estimate import best_theta_and_value, estimate_theta

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tierwise.answers.base import Labels
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.tiers import Sizes

# Work of the subset recursion up to which the tiers to start from are the closest ones; beyond,
# they are found by annealing.
MOST_WORK_FOR_A_START = 300_000_000
# In addition, climbs start from random tiers: as many as are cheap.
WORK_OF_RANDOM_STARTS = 200_000
MOST_RANDOM_STARTS = 5
MOST_ROUNDS = 200
# Swaps that are tried on the likelihood once no round improves it.
MOST_SWAPS = 20
# A round that raises the log-likelihood by a smaller share of it has not raised it.
LEAST_GAIN = 1e-11


@dataclass(frozen=True, eq=False)
class Maximum:
    """Tiers and theta at which the log-likelihood is locally largest.

    Attributes
    ----------
    labels, theta
        The tiers, counted from 0, and theta.
    value
        The log-likelihood.
    path
        The log-likelihood after each round.
    """

    labels: Labels
    theta: float
    value: float
    path: tuple[float, ...]


def maximum_at(likelihood: Likelihood, labels: Labels) -> Maximum:
    """Return given tiers with the theta at which their log-likelihood is largest."""
    theta, value = _best_theta(likelihood, labels, 0.0)
    return Maximum(labels, theta, value, (value,))


def _best_theta(likelihood: Likelihood, labels: Labels, start: float) -> tuple[float, float]:
    """Return the best theta of tiers, and their log-likelihood there."""
    theta, value = best_theta_and_value(likelihood, labels, start)
    return theta, float(likelihood.value(labels, theta)) if value is None else value


def maximise(likelihood: Likelihood, starts: Iterable[Labels]) -> Maximum:
    """Climb from each of the starts and return the highest point.

    Parameters
    ----------
    likelihood
        Of the answers at given sizes.
    starts
        Tiers to start from.
    """
    tops: list[Maximum] = []
    met: dict[bytes, float] = {}
    for start in starts:
        known = any(np.array_equal(start, top.labels) for top in tops)
        if not known:
            tops.append(climb(likelihood, start, met))
    return max(tops, key=lambda top: top.value)


def starts_of(likelihood: Likelihood, method: str, rng: np.random.Generator) -> list[Labels]:
    """Tiers to climb from: those closest to the answers, and some at random."""
    start = starting_labels(likelihood, method, rng)
    work = sum(part.work for part in likelihood.parts)
    n_random = int(min(WORK_OF_RANDOM_STARTS // max(work, 1.0), MOST_RANDOM_STARTS))
    return [start, *(rng.permutation(start) for _ in range(n_random))]


def starting_labels(likelihood: Likelihood, method: str, rng: np.random.Generator) -> Labels:
    """Tiers that are closest to the answers if all their completions are equally likely."""
    return first_labels(likelihood.costs_at_random(), likelihood.sizes, method, rng)


def first_labels(costs: Costs, sizes: Sizes, method: str, rng: np.random.Generator) -> Labels:
    """Tiers that are closest by given costs, or nearly: a start needs no proof."""
    if method == "auto" and costs.pairs.size and not fits(sizes, MOST_WORK_FOR_A_START):
        method = "annealing"
    return find_consensus(costs, sizes, method=method, rng=rng).labels


def climb(likelihood: Likelihood, labels: Labels, met: dict[bytes, float] | None = None) -> Maximum:
    """Climb from given tiers to a point that neither a round nor a swap improves.

    Parameters
    ----------
    likelihood
        Of the answers at given sizes.
    labels
        Tiers to start from.
    met
        Log-likelihoods at tiers that earlier climbs passed, to which those of this one are added.
        A climb that comes no higher to such tiers ends there: it would go on to the same top.
    """
    met = {} if met is None else met
    start = maximum_at(likelihood, labels)
    if start.theta == 0.0 and met:
        # All completions are equally likely, so a round goes to where the first climb began.
        return start
    labels, theta, value = start.labels, start.theta, start.value
    path = [value]
    for _ in range(MOST_ROUNDS):
        if value <= met.get(labels.tobytes(), -inf) + LEAST_GAIN * abs(value):
            break
        met[labels.tobytes()] = value
        costs = likelihood.expected_costs(labels, theta)
        closer = closer_labels(make_problem(costs, likelihood.sizes), labels)
        better = None if closer is labels else _raised(likelihood, closer, theta, value)
        if better is None:
            swapped = _swap(likelihood, costs, labels, theta, value)
            better = None if swapped is None else _raised(likelihood, swapped, theta, value)
        if better is None:
            break
        labels, theta, value = better
        path.append(value)
    return Maximum(labels, theta, value, tuple(path))


def _raised(
    likelihood: Likelihood, labels: Labels, theta: float, value: float
) -> tuple[Labels, float, float] | None:
    """Return other tiers with their best theta and log-likelihood, if it is above a value."""
    best, raised = _best_theta(likelihood, labels, theta)
    return (labels, best, raised) if raised > value + LEAST_GAIN * abs(value) else None


def _swap(
    likelihood: Likelihood, costs: Costs, labels: Labels, theta: float, value: float
) -> Labels | None:
    """Return the tiers after the first swap that raises the log-likelihood, if one does."""
    swaps = sorted(
        neighbouring_swaps(labels),
        key=lambda swapped: float(total_cost(swapped, costs.linear, costs.pairs)),
    )
    for swapped in swaps[:MOST_SWAPS]:
        if likelihood.value(swapped, theta) > value + LEAST_GAIN * abs(value):
            return swapped
    return None


def neighbouring_swaps(labels: Labels) -> Iterator[Labels]:
    """Yield the labels after each swap of two items of neighbouring tiers."""
    for upper in range(int(labels.max())):
        for first in np.flatnonzero(labels == upper):
            for second in np.flatnonzero(labels == upper + 1):
                swapped = labels.copy()
                swapped[first], swapped[second] = upper + 1, upper
                yield swapped


BURN_IN_ROUNDS = 10
# Settled: the same tiers, and theta moving by less than this share, so many rounds in a row.
STILL_ROUNDS = 10
STILL_SHARE = 0.002
# Where answers times squared items are few, settled tiers are left again: so many times, in so many
# steps, the first of which count this share of the energy.
MOST_WORK_FOR_TEMPERING = 200_000
TEMPERED_RESTARTS = 4
TEMPERING_STEPS = 60
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
    likelihood: Likelihood, method: str, rng: np.random.Generator, labels: Labels | None = None
) -> Settled:
    """Find tiers and theta that the answers, completed at random, settle on.

    Where they have settled, swaps of two items of neighbouring tiers are tried on an estimate of
    the likelihood itself, and the rounds go on from a better one.

    Parameters
    ----------
    likelihood
        Of the answers at given sizes, some of which are drawn.
    method
        How to find the tiers to start from, as for `find_consensus`.
    rng
        Generator, for that.
    labels
        The tiers, if they are given: then only theta is sought.
    """
    rounds = _Rounds(likelihood, labels)
    costs = likelihood.costs_at_random()
    if labels is not None:
        settled = rounds.settle_from(labels, rounds.best_theta(labels, costs))
    else:
        first = first_labels(costs, likelihood.sizes, method, rng)
        settled = _settle_with_swaps(rounds, first, rounds.best_theta(first, costs))
        if rounds.drawn.places.size * len(first) <= MOST_WORK_FOR_TEMPERING:
            settled = _temper(rounds, settled)
    theta = inf if settled.theta == likelihood.largest_theta else settled.theta
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


def _temper(rounds: _Rounds, settled: Settled) -> Settled:
    """Leave settled tiers some times, and return the best that were settled on."""
    best, most = settled, rounds.value(settled)
    for _ in range(TEMPERED_RESTARTS):
        labels = rounds.temper_from(best.labels, best.theta)
        if np.array_equal(labels, best.labels):
            continue
        other = _settle_with_swaps(rounds, labels, best.theta)
        if np.array_equal(other.labels, best.labels):
            continue
        value = rounds.value(other)
        if value > most:
            best, most = other, value
    return best


class _Rounds:
    """Rounds of drawing and moving, for all answers together; given tiers stay as they are."""

    def __init__(self, likelihood: Likelihood, given: Labels | None = None) -> None:
        self.drawn = likelihood.part_to_draw()
        self._likelihood, self._given = likelihood, given
        self._partition = likelihood.partition

    def best_theta(self, labels: Labels, costs: Costs) -> float:
        """Theta at which the mean distance is that of the costs."""
        n_rankings = self._likelihood.n_rankings
        estimate = estimate_theta(self._partition, self._mean(labels, costs), n_rankings)
        return min(estimate.value, self._likelihood.largest_theta)

    def _mean(self, labels: Labels, costs: Costs) -> float:
        total = float(total_cost(labels, costs.linear, costs.pairs))
        return total / self._likelihood.n_rankings

    def _next_theta(self, labels: Labels, costs: Costs, theta: float) -> float:
        """Make one Newton step towards the best theta: while costs change, more is not worth it."""
        mean = self._mean(labels, costs)
        variance = float(self._partition.variance(theta))
        if mean <= 0.0 or variance == 0.0 or theta == 0.0:
            return self.best_theta(labels, costs)
        following = theta + (float(self._partition.mean(theta)) - mean) / variance
        return min(max(following, theta / 2.0), 2.0 * theta, self._likelihood.largest_theta)

    def _closer(self, costs: Costs, labels: Labels) -> Labels:
        if self._given is not None:
            return labels
        return closer_labels(make_problem(costs, self._likelihood.sizes), labels)

    def settle_from(self, labels: Labels, theta: float) -> Settled:
        """Draw and move until tiers and theta stand still, or the rounds are used up."""
        costs = self._draw_costs(labels, theta)
        still = 0
        for number in range(1, MOST_ROUNDS + 1):
            share = 1.0 / max(number - BURN_IN_ROUNDS, 1)
            costs = _blend(costs, self._draw_costs(labels, theta), share)
            learned = self.drawn.adapt(labels, theta, share)
            closer = self._closer(costs, labels)
            before, theta = theta, self._next_theta(closer, costs, theta)
            moved = closer is not labels or abs(theta - before) > STILL_SHARE * before
            moved = moved or learned > STILL_SHARE
            labels = closer
            still = 0 if moved or number <= BURN_IN_ROUNDS else still + 1
            if still == STILL_ROUNDS:
                break
        total = float(total_cost(labels, costs.linear, costs.pairs))
        return Settled(labels, theta, total, number, converged=still == STILL_ROUNDS)

    def temper_from(self, labels: Labels, theta: float) -> Labels:
        """Follow completions drawn at a theta that begins low and comes back, one at a time."""
        for share in np.linspace(LOWEST_SHARE, 1.0, TEMPERING_STEPS).tolist():
            self.drawn.sweep(labels, theta, share)
            costs = self._with_summed(self.drawn.costs(), labels, share * theta)
            labels = self._closer(costs, labels)
        return labels

    def _draw_costs(self, labels: Labels, theta: float) -> Costs:
        """Draw completions once more, and return what all answers cost on the average."""
        theta = min(theta, self._likelihood.largest_theta)
        return self._with_summed(self.drawn.draw_costs(labels, theta), labels, theta)

    def _with_summed(self, costs: Costs, labels: Labels, theta: float) -> Costs:
        """Add what the answers cost that are summed over."""
        parts = self._likelihood.parts
        return reduce(add_costs, (part.expected_costs(labels, theta) for part in parts), costs)

    def value(self, settled: Settled) -> float:
        """Estimate the log-likelihood."""
        labels, theta = settled.labels, settled.theta
        return self._likelihood.value(labels, theta, stretches=STRETCHES_TO_COMPARE)

    def better_swap(self, settled: Settled) -> Labels | None:
        """Return the tiers after the swap that gains most, if that is beyond doubt."""
        labels, theta = settled.labels, settled.theta
        swaps = list(neighbouring_swaps(labels))
        before = self._summed(labels, theta)
        best, most = None, 0.0
        for swapped, gain in zip(swaps, self.drawn.gains(labels, theta, swaps), strict=True):
            sure = float(gain) - SURE_ERRORS * gain.standard_error
            sure += self._summed(swapped, theta) - before
            if sure > most:
                best, most = swapped, sure
        return best

    def _summed(self, labels: Labels, theta: float) -> float:
        """Sum of the log weights of the answers that are summed over."""
        parts = self._likelihood.parts
        return sum(part.sums(labels, theta).log_weight for part in parts)


def _blend(old: Costs, new: Costs, share: float) -> Costs:
    """Average costs, the new ones having the given share."""
    return Costs(
        linear=old.linear + share * (new.linear - old.linear),
        pairs=old.pairs + share * (new.pairs - old.pairs),
    )
