"""EM and SAEM for pairwise answers that may be mistaken, with the probability of a mistake."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import total_cost
from tierwise.answers.votes import DrawnVotes, SummedVotes
from tierwise.fitting.em import climb, maximise, starts_of
from tierwise.fitting.mistake_profile import GivenTiers, Profile, profile_of
from tierwise.fitting.saem import settle
from tierwise.fitting.solution import Settings, Solution, unproved
from tierwise.theta.estimate import ThetaEstimate

if TYPE_CHECKING:
    from tierwise.answers.likelihood import Likelihood

# Tiers, and theta with the mistake probability, are found in turn; usually twice is enough.
MOST_ROUNDS = 20


def solve_with_mistakes(
    likelihood: Likelihood, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Find the best tiers, theta and mistake probability for given sizes.

    Parameters
    ----------
    likelihood
        Of pairwise answers that may be mistaken, at given sizes.
    settings, rng
        As for `tierwise.fitting.solve.solve`.
    """
    if isinstance(likelihood.drawn, DrawnVotes):
        return _solve_by_drawing(likelihood, likelihood.drawn, settings, rng)
    (summed,) = likelihood.parts
    if not isinstance(summed, SummedVotes):
        raise TypeError("these answers cannot be mistaken")
    return _solve_by_summing(likelihood, summed, settings, rng)


def _solve_by_summing(
    likelihood: Likelihood, summed: SummedVotes, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Climb in tiers, and in theta and the mistake probability, in turn."""
    partition = likelihood.partition
    top = maximise(likelihood, starts_of(likelihood, settings.method, rng))
    for _ in range(MOST_ROUNDS):
        given = GivenTiers(summed, partition, top.labels)
        profile = profile_of(given, min(top.theta, given.largest_theta), settings.level)
        summed = summed.with_probability(profile.best())
        likelihood = replace(likelihood, parts=(summed,))
        top = climb(likelihood, given.labels)
        if np.array_equal(top.labels, given.labels):
            break
    return _solution(
        likelihood, given, top.theta, summed.mistake_probability, profile, settings.level
    )


def _solve_by_drawing(
    likelihood: Likelihood, drawn: DrawnVotes, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Let tiers, theta and the mistake probability settle, then see what else is as likely."""
    partition = likelihood.partition
    labels, theta, converged = np.zeros(partition.n_items, dtype=np.int64), 0.0, True
    if len(partition.sizes) > 1:
        settled = settle(likelihood, settings.method, rng)
        labels, theta, converged = settled.labels, settled.theta, settled.converged
    given = GivenTiers(drawn, partition, labels)
    profile = profile_of(given, min(theta, given.largest_theta), settings.level)
    drawn.mistake_probability = profile.best()
    theta = profile.theta_at(drawn.mistake_probability)
    found = _solution(likelihood, given, theta, drawn.mistake_probability, profile, settings.level)
    return replace(found, theta=replace(found.theta, converged=converged))


def _solution(
    likelihood: Likelihood,
    given: GivenTiers,
    theta: float,
    probability: float,
    profile: Profile,
    level: float,
) -> Solution:
    """Put together what was found."""
    labels = given.labels
    costs = likelihood.expected_costs(labels, theta)
    total = float(total_cost(labels, costs.linear, costs.pairs))
    stochastic = "" if likelihood.drawn is None else "stochastic "
    value = likelihood.value(labels, theta)
    return Solution(
        consensus=unproved(labels, total, f"{stochastic}expectation-maximisation"),
        theta=_theta_with_error(given, theta, probability, float(value), level),
        log_likelihood=float(value),
        log_likelihood_error=value.standard_error,
        partition_method=likelihood.partition.method,
        mistake_probability=probability,
        mistake_interval=profile.interval(level),
    )


def _theta_with_error(
    given: GivenTiers, theta: float, probability: float, value: float, level: float
) -> ThetaEstimate:
    """Return theta with its standard error and interval, the mistake probability being unknown."""
    if len(given.partition.sizes) == 1:
        return ThetaEstimate(0.0, inf, (0.0, inf), "exact")
    error = nan if isinf(theta) else given.theta_error(probability, theta)
    low, high = given.theta_interval(theta, probability, value, level)
    return ThetaEstimate(theta, error, (min(low, theta), max(high, theta)), "exact")
