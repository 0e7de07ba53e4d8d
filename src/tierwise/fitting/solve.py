"""The best tiers and theta for answers that leave open which items lie in which block."""

from __future__ import annotations

from dataclasses import replace
from math import hypot, inf, isinf, log, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.objective import total_cost
from tierwise._util.estimate import Estimate
from tierwise.answers.dispatch import answered_places, answers_of
from tierwise.answers.likelihood import Likelihood
from tierwise.answers.partial import orders_of_places, orders_of_preferences
from tierwise.consensus.result import Consensus
from tierwise.data.preferences import Preferences
from tierwise.errors import InputError
from tierwise.fitting.em import Maximum, maximise, starting_labels
from tierwise.fitting.fit import Settings, Solution, make_partition
from tierwise.fitting.saem import settle
from tierwise.partition.interpolated import for_many_thetas
from tierwise.theta.estimate import ThetaEstimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.answers.base import ExactCompletions, Labels
    from tierwise.answers.drawn import DrawnCompletions
    from tierwise.data.rankings import Rankings
    from tierwise.distances.base import Distance
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers.sizes import Sizes

# Steps for one theta beyond which the partition function is estimated: there are many thetas.
LEAST_BUDGET = 1e7
BUDGET_OF_AN_ANSWER = 1e6
# Besides the tiers closest to the answers, climbs start from random ones: as many as are cheap.
WORK_OF_RANDOM_STARTS = 200_000
MOST_RANDOM_STARTS = 5


def solve_incomplete(
    data: Rankings | Preferences,
    sizes: Sizes,
    distance: Distance,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    """Find the best tiers and theta for given sizes, averaging over all completions.

    Parameters
    ----------
    data
        Rankings or preferences that leave their blocks open.
    sizes, distance, settings, rng
        As for `tierwise.fitting.fit.solve_sizes`.
    """
    if settings.likelihood == "pseudo":
        raise InputError('likelihood="pseudo" needs complete rankings without ties')
    if settings.theta_method != "exact":
        raise InputError(
            'theta_method="monte-carlo" needs answers that leave no doubt about their blocks: '
            'use theta_method="exact"'
        )
    if isinstance(data, Preferences) and data.cycles == "keep":
        from tierwise.fitting.mistakes import solve_with_mistakes

        return solve_with_mistakes(data, sizes, distance, settings, rng)
    # The error of an estimate counts as often as there are answers: few of them can do with one.
    budget = max(BUDGET_OF_AN_ANSWER * float(data.n_rankings), LEAST_BUDGET)
    settings = replace(settings, partition_budget=min(budget, settings.partition_budget))
    partition = for_many_thetas(make_partition(sizes, distance, settings, rng))
    if len(sizes) == 1:
        return _no_tiers(data, partition)
    answers = answers_of(data, sizes, distance, rng)
    if answers.drawn is None:
        return _solve_exactly(answers.exact, partition, settings, rng)
    return _solve_by_drawing(answers.exact, answers.drawn, partition, settings, rng)


def _no_tiers(data: Rankings | Preferences, partition: PartitionFunction) -> Solution:
    """With one tier all orderings are equally probable: answers are by how many agree with them."""
    if isinstance(data, Preferences):
        orders, _ = orders_of_preferences(data)
    else:
        orders = orders_of_places(answered_places(data), data.pattern_weights.astype(np.float64))
    log_completions = float((orders.weights * orders.log_numbers).sum())
    log_partition = float(partition.log_value(0.0))
    labels = np.zeros(partition.n_items, dtype=np.int64)
    return Solution(
        consensus=Consensus(labels, 0.0, "one tier", optimal=True, bound=0.0, n_optima=1),
        theta=ThetaEstimate(0.0, inf, (0.0, inf), "exact"),
        log_likelihood=log_completions - data.n_rankings * log_partition,
        log_likelihood_error=0.0,
        partition_method=partition.method,
        log_completions=log_completions,
    )


def _solve_exactly(
    parts: tuple[ExactCompletions, ...],
    partition: PartitionFunction,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    likelihood = Likelihood(parts, partition)
    top = maximise(likelihood, starts_of(likelihood, settings.method, rng))
    costs = likelihood.expected_costs(top.labels, top.theta)
    total = float(total_cost(top.labels, costs.linear, costs.pairs))
    finite = min(top.theta, likelihood.largest_theta)
    error = partition.log_value(finite).standard_error
    return Solution(
        consensus=unproved(top.labels, total, "expectation-maximisation"),
        theta=theta_with_error(likelihood, top, settings.confidence),
        log_likelihood=top.value,
        log_likelihood_error=likelihood.n_rankings * error,
        partition_method=partition.method,
        log_completions=likelihood.log_completions,
    )


def starts_of(likelihood: Likelihood, method: str, rng: np.random.Generator) -> list[Labels]:
    """Tiers to climb from: those closest to the answers, and some at random."""
    start = starting_labels(likelihood, method, rng)
    work = sum(part.work for part in likelihood.parts)
    n_random = int(min(WORK_OF_RANDOM_STARTS // max(work, 1.0), MOST_RANDOM_STARTS))
    return [start, *(rng.permutation(start) for _ in range(n_random))]


def theta_with_error(likelihood: Likelihood, top: Maximum, confidence: float) -> ThetaEstimate:
    """Return theta with its standard error, by the information that the answers hold about it."""
    if isinf(top.theta):
        lower = _least_theta_of_agreement(
            lambda theta: likelihood.value(top.labels, theta),
            likelihood.largest_theta,
            confidence,
            tolerance=1e-6,
        )
        return ThetaEstimate(inf, nan, (lower, inf), "exact")
    information = likelihood.information(top.labels, top.theta)
    return theta_of_information(top.theta, information, confidence)


def _least_theta_of_agreement(
    value: Callable[[float], float], largest: float, confidence: float, tolerance: float
) -> float:
    """Smallest theta at which answers that all agree with the tiers are not too surprising.

    There their likelihood is one minus the confidence of what it is where theta is infinite.

    Parameters
    ----------
    value
        Log-likelihood for a theta.
    largest
        A theta that is as good as infinite.
    confidence
        Level of the interval.
    tolerance
        Share of theta that it may be off.
    """
    bound = value(largest) + log(1 - confidence)
    low, high = 0.0, largest
    if value(low) >= bound:
        return 0.0
    while high - low > tolerance * high:
        middle = (low + high) / 2
        if value(middle) < bound:
            low = middle
        else:
            high = middle
    return high


def theta_of_information(
    theta: float, information: float, confidence: float, *, converged: bool = True
) -> ThetaEstimate:
    """Return theta with the standard error that follows from an amount of information."""
    error = 1 / sqrt(information) if information > 0 else inf
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return ThetaEstimate(
        theta, error, (max(0.0, theta - reach), theta + reach), "exact", converged=converged
    )


def _solve_by_drawing(
    exact: tuple[ExactCompletions, ...],
    drawn: DrawnCompletions,
    partition: PartitionFunction,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    settled = settle(exact, drawn, partition, settings.method, rng)
    labels = settled.labels
    n_rankings = sum(float(part.weights.sum()) for part in (*exact, drawn))

    def value(theta: float) -> Estimate:
        """Estimate the log-likelihood."""
        known = sum(part.sums(labels, theta).log_weight for part in exact)
        log_weight, log_partition = drawn.log_weight(labels, theta), partition.log_value(theta)
        return Estimate(
            float(log_weight) + known - n_rankings * float(log_partition),
            standard_error=hypot(
                log_weight.standard_error, n_rankings * log_partition.standard_error
            ),
            method=log_weight.method,
        )

    largest = Likelihood((), partition).largest_theta
    if isinf(settled.theta):
        lower = _least_theta_of_agreement(value, largest, settings.confidence, tolerance=1e-2)
        estimate = ThetaEstimate(inf, nan, (lower, inf), "exact", converged=settled.converged)
    else:
        information = n_rankings * float(partition.variance(settled.theta))
        information -= sum(part.sums(labels, settled.theta).variance for part in exact)
        information -= drawn.variance(labels, settled.theta)
        estimate = theta_of_information(
            settled.theta, information, settings.confidence, converged=settled.converged
        )
    log_likelihood = value(min(settled.theta, largest))
    return Solution(
        consensus=unproved(labels, settled.total, "stochastic expectation-maximisation"),
        theta=estimate,
        log_likelihood=float(log_likelihood),
        log_likelihood_error=log_likelihood.standard_error,
        partition_method=partition.method,
        log_completions=sum(
            float((part.weights * part.log_numbers).sum()) for part in (*exact, drawn)
        ),
    )


def unproved(labels: Labels, total: float, method: str) -> Consensus:
    """Return tiers of which nothing is proved."""
    return Consensus(labels=labels, total=total, method=method, optimal=False, bound=total)
