"""EM: maximum likelihood from incomplete answers whose completions are summed over, then swaps.

Expectation and maximisation (Dempster, Laird and Rubin, Maximum Likelihood from Incomplete Data via
the EM Algorithm, Journal of the Royal Statistical Society B 39, 1977). A round completes the
answers on the average, under the tiers and theta at hand (expectation), and takes the tiers that
are closest to that; then theta is set to its best value. No round lowers the likelihood of what was
observed. At the end those swaps of two items that come closest to improving the averages are tried
on the likelihood itself: averages over completions are slow to give way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import total_cost
from tierwise.consensus.find import closer_labels, find_consensus
from tierwise.consensus.problem import make_problem
from tierwise.consensus.subsets import fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tierwise.answers.base import Labels
    from tierwise.answers.likelihood import Likelihood
    from tierwise.distances.base import Costs
    from tierwise.tiers.sizes import Sizes

# Work of the subset recursion up to which the tiers to start from are the closest ones; beyond,
# they are found by annealing.
MOST_WORK_FOR_A_START = 300_000_000
# Besides these, climbs start from random tiers: as many as are cheap.
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
    for start in starts:
        known = any(np.array_equal(start, top.labels) for top in tops)
        if not known:
            tops.append(climb(likelihood, start))
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


def climb(likelihood: Likelihood, labels: Labels) -> Maximum:
    """Climb from given tiers to a point that neither a round nor a swap improves."""
    theta = likelihood.best_theta(labels, start=0.0)
    value = float(likelihood.value(labels, theta))
    path = [value]
    for _ in range(MOST_ROUNDS):
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
    best_theta = likelihood.best_theta(labels, start=theta)
    raised = float(likelihood.value(labels, best_theta))
    return (labels, best_theta, raised) if raised > value + LEAST_GAIN * abs(value) else None


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
