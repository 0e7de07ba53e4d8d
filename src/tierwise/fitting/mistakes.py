"""The best tiers, theta and mistake probability for pairwise answers that may be mistaken."""

from __future__ import annotations

from math import hypot, inf, isinf, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.objective import total_cost
from tierwise.answers.likelihood import Likelihood
from tierwise.answers.summed_votes import SummedVotes, can_be_summed
from tierwise.answers.votes import DrawnVotes, Votes, votes_of
from tierwise.fitting.em import climb, maximise
from tierwise.fitting.fit import Settings, Solution, make_partition
from tierwise.fitting.given_tiers import GivenTiers
from tierwise.fitting.mistake_profile import profile_of
from tierwise.fitting.saem import settle
from tierwise.fitting.solve import starts_of, unproved
from tierwise.partition.interpolated import for_many_thetas
from tierwise.theta.estimate import ThetaEstimate

if TYPE_CHECKING:
    from tierwise.data.preferences import Preferences
    from tierwise.distances.base import Distance
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers.sizes import Sizes

FIRST_MISTAKE_PROBABILITY = 0.1
# Tiers, and theta with the mistake probability, are found in turn; usually twice is enough.
MOST_ROUNDS = 20


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
        As for `tierwise.fitting.fit.solve_sizes`.
    """
    partition = for_many_thetas(make_partition(sizes, distance, settings, rng))
    votes = votes_of(preferences)
    solve = _solve_by_summing if can_be_summed(votes) else _solve_by_drawing
    return solve(votes, partition, settings, rng)


def _solve_by_summing(
    votes: Votes, partition: PartitionFunction, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Climb in tiers, and in theta and the mistake probability, in turn."""
    summed = SummedVotes(votes, partition.sizes, partition.distance, FIRST_MISTAKE_PROBABILITY)
    likelihood = Likelihood((summed,), partition)
    top = maximise(likelihood, starts_of(likelihood, settings.method, rng))
    for _ in range(MOST_ROUNDS):
        given = GivenTiers(summed, partition, top.labels)
        profile = profile_of(given, min(top.theta, given.largest_theta), settings.confidence)
        summed = summed.with_probability(profile.best())
        likelihood = Likelihood((summed,), partition)
        top = climb(likelihood, given.labels)
        if np.array_equal(top.labels, given.labels):
            break
    costs = likelihood.expected_costs(top.labels, top.theta)
    error = partition.log_value(min(top.theta, likelihood.largest_theta)).standard_error
    return Solution(
        consensus=unproved(
            top.labels,
            float(total_cost(top.labels, costs.linear, costs.pairs)),
            "expectation-maximisation",
        ),
        theta=_theta_with_error(
            given, top.theta, summed.mistake_probability, top.value, settings.confidence
        ),
        log_likelihood=top.value,
        log_likelihood_error=likelihood.n_rankings * error,
        partition_method=partition.method,
        mistake_probability=summed.mistake_probability,
        mistake_interval=profile.interval(settings.confidence),
    )


def _solve_by_drawing(
    votes: Votes, partition: PartitionFunction, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Let tiers, theta and the mistake probability settle, then see what else is as likely."""
    drawn = DrawnVotes(votes, partition.sizes, partition.distance, rng, FIRST_MISTAKE_PROBABILITY)
    labels, theta, converged = np.zeros(partition.n_items, dtype=np.int64), 0.0, True
    if len(partition.sizes) > 1:
        settled = settle((), drawn, partition, settings.method, rng)
        labels, theta, converged = settled.labels, settled.theta, settled.converged
    given = GivenTiers(drawn, partition, labels)
    profile = profile_of(given, min(theta, given.largest_theta), settings.confidence)
    drawn.mistake_probability = profile.best()
    theta = profile.theta_at(drawn.mistake_probability)
    finite = min(theta, given.largest_theta)
    costs = drawn.expected_costs(labels, finite)
    n_rankings = float(votes.weights.sum())
    log_weight = drawn.log_weight(labels, finite)
    log_partition = partition.log_value(finite)
    return Solution(
        consensus=unproved(
            labels,
            float(total_cost(labels, costs.linear, costs.pairs)),
            "stochastic expectation-maximisation",
        ),
        theta=_theta_with_error(
            given,
            theta,
            drawn.mistake_probability,
            float(log_weight) - n_rankings * float(log_partition),
            settings.confidence,
            converged=converged,
        ),
        log_likelihood=float(log_weight) - n_rankings * float(log_partition),
        log_likelihood_error=hypot(
            log_weight.standard_error, n_rankings * log_partition.standard_error
        ),
        partition_method=partition.method,
        mistake_probability=drawn.mistake_probability,
        mistake_interval=profile.interval(settings.confidence),
    )


def _theta_with_error(
    given: GivenTiers,
    theta: float,
    probability: float,
    value: float,
    confidence: float,
    *,
    converged: bool = True,
) -> ThetaEstimate:
    """Return theta with its standard error and interval, the mistake probability being unknown."""
    if len(given.partition.sizes) == 1:
        return ThetaEstimate(0.0, inf, (0.0, inf), "exact")
    error = nan if isinf(theta) else given.theta_error(probability, theta)
    low, high = given.theta_interval(theta, probability, value, confidence)
    interval = (min(low, theta), max(high, theta))
    return ThetaEstimate(theta, error, interval, "exact", converged=converged)
