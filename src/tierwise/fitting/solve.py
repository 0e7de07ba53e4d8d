"""Maximum likelihood at given sizes: one function for answers of every kind.

=====================================  =========================================================
what the answers leave open            how the best tiers and theta are found
=====================================  =========================================================
nothing but the order within blocks    the closest tiers, with a proof, then the root for theta
few completions, or summable ones      EM, in ``em.py``
too many completions to sum over       SAEM, in ``em.py``
whether they are mistaken              either of these with a profile, in ``mistakes.py``
all but who won, for battles           exchanges of items, in ``inversions/comparisons.py``
=====================================  =========================================================

The paper's pseudo-likelihood is in ``pseudo.py``.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.consensus.find import find_consensus
from tierwise.consensus.problem import Consensus
from tierwise.errors import InputError
from tierwise.fitting.em import maximise, settle, starts_of
from tierwise.fitting.mistakes import solve_with_mistakes
from tierwise.fitting.pseudo import solve_pseudo
from tierwise.fitting.solution import Settings, Solution, unproved
from tierwise.inversions.comparisons import best_tiers_of_sizes
from tierwise.partition.interpolated import for_many_thetas
from tierwise.theta.estimate import (
    ThetaEstimate,
    estimate_theta,
    iterate_theta,
    least_theta_of_agreement,
    theta_of_information,
)

if TYPE_CHECKING:
    from tierwise.answers.base import Labels
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers import Sizes

# Steps for one theta beyond which the partition function is estimated: there are many thetas.
LEAST_BUDGET = 1e7
BUDGET_OF_AN_ANSWER = 1e6


def solve(
    source: AnswerSource, sizes: Sizes, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Find the best tiers and theta for given sizes, whatever the answers leave open.

    Parameters
    ----------
    source
        The answers, from `tierwise.answers.likelihood.source_of`.
    sizes
        Sizes of the tiers.
    settings
        How to fit.
    rng
        Generator, for what is drawn.
    """
    if settings.likelihood == "pseudo":
        return solve_pseudo(source, sizes, settings, rng)
    if source.is_known(sizes):
        partition = settings.partition(sizes, source.distance, rng)
        return solve_known(source.at(sizes, partition=partition), settings, rng)
    if settings.theta_method != "exact":
        raise InputError(
            'theta_method="monte-carlo" needs answers that leave no doubt about their blocks: '
            'use theta_method="exact"'
        )
    if source.wins is not None:
        labels = best_tiers_of_sizes(source.wins, sizes, rng)
        return solution_at(source, unproved_at(source, labels, "exchanges"), settings)
    return _solve_open(source, sizes, settings, rng)


def _solve_open(
    source: AnswerSource, sizes: Sizes, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Find the best tiers and theta for answers that leave much open."""
    if source.votes is None:
        # The error of an estimate counts as often as there are answers: few can do with one.
        budget = max(BUDGET_OF_AN_ANSWER * float(source.n_rankings), LEAST_BUDGET)
        settings = replace(settings, partition_budget=min(budget, settings.partition_budget))
    partition = for_many_thetas(settings.partition(sizes, source.distance, rng))
    if source.votes is None and len(sizes) == 1:
        return _no_tiers(source, partition)
    likelihood = source.at(sizes, partition=partition, rng=rng)
    if source.votes is not None:
        return solve_with_mistakes(likelihood, settings, rng)
    if likelihood.drawn is None:
        return _solve_by_summing(likelihood, settings, rng)
    return _solve_by_drawing(likelihood, settings, rng)


def solve_known(likelihood: Likelihood, settings: Settings, rng: np.random.Generator) -> Solution:
    """Find the closest tiers and then theta, for answers that leave no doubt about their blocks.

    Parameters
    ----------
    likelihood
        Of the answers, at given sizes.
    settings, rng
        As for `solve`.
    """
    consensus = find_consensus(
        likelihood.costs_at_random(),
        likelihood.sizes,
        method=settings.method,
        rng=rng,
        time_limit=settings.time_limit,
    )
    partition, n_rankings = likelihood.partition, likelihood.n_rankings
    mean_distance = consensus.total / n_rankings
    level = settings.level
    if settings.theta_method == "exact":
        theta = estimate_theta(partition, mean_distance, n_rankings, level=level)
    else:
        theta = iterate_theta(partition, mean_distance, n_rankings, level=level, rng=rng)
    return _solution(likelihood, consensus, theta)


def solution_at(source: AnswerSource, consensus: Consensus, settings: Settings) -> Solution:
    """Fit theta to tiers that are known already, for answers that can be summed over.

    Parameters
    ----------
    source
        The answers.
    consensus
        The tiers.
    settings
        How to fit.
    """
    labels = consensus.labels
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    rng = np.random.default_rng(0)
    likelihood = source.at(sizes, partition=settings.partition(sizes, source.distance, rng))
    if len(sizes) == 1:
        return _solution(likelihood, consensus, ThetaEstimate(0.0, inf, (0.0, inf), "exact"))
    theta = likelihood.best_theta(labels, start=0.1)
    return _solution(
        likelihood, consensus, _theta_with_error(likelihood, labels, theta, settings.level)
    )


def unproved_at(source: AnswerSource, labels: Labels, method: str) -> Consensus:
    """Return tiers of battles that were found somehow; a single tier cannot but be the best.

    Parameters
    ----------
    source
        The battles.
    labels
        The tiers, counted from 0.
    method
        How they were found.
    """
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    found = unproved(labels, source.at(sizes).total_distance(labels, 0.0), method)
    return replace(found, optimal=len(sizes) == 1)


def _no_tiers(source: AnswerSource, partition: PartitionFunction) -> Solution:
    """With one tier all orderings are equally probable: all that counts is how many agree."""
    orders = source.partial_orders()
    log_completions = float((orders.weights * orders.log_numbers).sum())
    log_partition = float(partition.log_value(0.0))
    labels = np.zeros(partition.n_items, dtype=np.int64)
    return Solution(
        consensus=Consensus(labels, 0.0, "one tier", optimal=True, bound=0.0, n_optima=1),
        theta=ThetaEstimate(0.0, inf, (0.0, inf), "exact"),
        log_likelihood=log_completions - source.n_rankings * log_partition,
        log_likelihood_error=0.0,
        partition_method=partition.method,
        log_completions=log_completions,
    )


def _solve_by_summing(
    likelihood: Likelihood, settings: Settings, rng: np.random.Generator
) -> Solution:
    top = maximise(likelihood, starts_of(likelihood, settings.method, rng))
    total = likelihood.total_distance(top.labels, top.theta)
    consensus = unproved(top.labels, total, "expectation-maximisation")
    theta = _theta_with_error(likelihood, top.labels, top.theta, settings.level)
    return _solution(likelihood, consensus, theta)


def _solve_by_drawing(
    likelihood: Likelihood, settings: Settings, rng: np.random.Generator
) -> Solution:
    settled = settle(likelihood, settings.method, rng)
    consensus = unproved(settled.labels, settled.total, "stochastic expectation-maximisation")
    theta = _theta_with_error(likelihood, settled.labels, settled.theta, settings.level)
    return _solution(likelihood, consensus, replace(theta, converged=settled.converged))


def _solution(likelihood: Likelihood, consensus: Consensus, theta: ThetaEstimate) -> Solution:
    value = likelihood.value(consensus.labels, theta.value)
    return Solution(
        consensus=consensus,
        theta=theta,
        log_likelihood=float(value),
        log_likelihood_error=value.standard_error,
        partition_method=likelihood.method,
        log_completions=likelihood.log_completions,
    )


def _theta_with_error(
    likelihood: Likelihood, labels: Labels, theta: float, level: float
) -> ThetaEstimate:
    """Return theta with its standard error, by the information that the answers hold about it."""
    if isinf(theta):
        least = least_theta_of_agreement(
            lambda theta: likelihood.value(labels, theta),
            likelihood.largest_theta,
            level,
            likelihood.tolerance,
        )
        return ThetaEstimate(inf, nan, (least, inf), "exact")
    return theta_of_information(theta, likelihood.information(labels, theta), level)
