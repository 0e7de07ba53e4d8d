"""The best tiers, theta and mistake probability for pairwise answers that may be mistaken."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING

from tierwise._kernels.objective import total_cost
from tierwise.fitting import Settings, Solution
from tierwise.incomplete.expectation import Maximum, climb, maximise
from tierwise.incomplete.likelihood import LARGEST_THETA_OF_UNIT, Likelihood
from tierwise.incomplete.solving import starts_of, theta_of_information, theta_with_error, unproved
from tierwise.incomplete.stochastic import settle
from tierwise.incomplete.votes import DrawnVotes, SummedVotes, Votes, votes_of
from tierwise.partition import partition_function

if TYPE_CHECKING:
    import numpy as np

    from tierwise.distances import Distance
    from tierwise.partition import PartitionFunction
    from tierwise.preferences import Preferences
    from tierwise.sizes import Sizes

# Up to this many items all orderings are gone through, beyond they are drawn.
MOST_ITEMS_FOR_ALL_ORDERINGS = 7
FIRST_MISTAKE_PROBABILITY = 0.1
LEAST_MISTAKE_PROBABILITY = 1e-9
MOST_ROUNDS = 30
MOST_STEPS = 1000
# Rounds end when the mistake probability moves by less than this, summed or drawn.
STILL_WHEN_SUMMED = 1e-7
STILL_WHEN_DRAWN = 2e-3


def solve_with_mistakes(
    preferences: Preferences,
    sizes: Sizes,
    distance: Distance,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    """Find the best tiers, theta and mistake probability for given sizes.

    Parameters
    ----------
    preferences
        Pairwise answers, which may contradict each other.
    sizes, distance, settings, rng
        As for `tierwise.fitting.solve_sizes`.
    """
    partition = partition_function(sizes, distance, method=settings.partition_method, rng=rng)
    votes = votes_of(preferences)
    summed = sum(sizes) <= MOST_ITEMS_FOR_ALL_ORDERINGS
    solve = _solve_by_summing if summed else _solve_by_drawing
    return solve(votes, partition, settings, rng)


def _solve_by_summing(
    votes: Votes, partition: PartitionFunction, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Climb in tiers and theta, and in the mistake probability, in turn."""
    summed = SummedVotes(votes, partition.sizes, partition.distance, FIRST_MISTAKE_PROBABILITY)
    likelihood = Likelihood((summed,), partition)
    top = maximise(likelihood, starts_of(likelihood, settings.method, rng))
    for _ in range(MOST_ROUNDS):
        before = summed.mistake_probability
        summed = _with_best_probability(summed, votes.in_all, top)
        likelihood = Likelihood((summed,), partition)
        top = climb(likelihood, top.labels)
        if abs(summed.mistake_probability - before) < STILL_WHEN_SUMMED:
            break
    costs = likelihood.expected_costs(top.labels, top.theta)
    total = float(total_cost(top.labels, costs.linear, costs.pairs))
    return Solution(
        consensus=unproved(top.labels, total, "expectation-maximisation"),
        theta=theta_with_error(likelihood, top, settings.confidence),
        log_likelihood=top.value,
        log_likelihood_error=0.0,
        partition_method=partition.method,
        mistake_probability=summed.mistake_probability,
    )


def _with_best_probability(summed: SummedVotes, n_votes: float, top: Maximum) -> SummedVotes:
    """Set the mistake probability to the expected share of mistakes until it stands still."""
    theta = min(top.theta, LARGEST_THETA_OF_UNIT / summed.rule.unit)
    for _ in range(MOST_STEPS):
        before = summed.mistake_probability
        mistakes = summed.expected_mistakes(top.labels, theta)
        summed = summed.with_probability(_allowed(mistakes / n_votes))
        if abs(summed.mistake_probability - before) < STILL_WHEN_SUMMED / 10:
            break
    return summed


def _allowed(probability: float) -> float:
    """Keep a mistake probability above 0, where it could not leave, and below one half."""
    return min(max(probability, LEAST_MISTAKE_PROBABILITY), 0.5)


def _solve_by_drawing(
    votes: Votes, partition: PartitionFunction, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Let tiers and theta settle, and set the mistake probability to what was drawn, in turn."""
    probability = FIRST_MISTAKE_PROBABILITY
    for _ in range(MOST_ROUNDS):
        drawn = DrawnVotes(votes, partition.sizes, partition.distance, rng, probability)
        settled = settle((), drawn, partition, settings.method, rng)
        theta = min(settled.theta, LARGEST_THETA_OF_UNIT / drawn.rule.unit)
        mistakes = drawn.expected_mistakes(settled.labels, theta)
        before, probability = probability, _allowed(mistakes / votes.in_all)
        if abs(probability - before) < STILL_WHEN_DRAWN:
            break
    n_rankings = float(votes.weights.sum())
    log_weight = drawn.log_weight(settled.labels, theta)
    log_partition = partition.log_value(theta)
    information = n_rankings * float(partition.variance(theta))
    information -= drawn.variance(settled.labels, theta)
    return Solution(
        consensus=unproved(settled.labels, settled.total, "stochastic expectation-maximisation"),
        theta=theta_of_information(
            settled.theta, information, settings.confidence, converged=settled.converged
        ),
        log_likelihood=float(log_weight) - n_rankings * float(log_partition),
        log_likelihood_error=hypot(
            log_weight.standard_error, n_rankings * log_partition.standard_error
        ),
        partition_method=partition.method,
        mistake_probability=probability,
    )
