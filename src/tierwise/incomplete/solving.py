"""The best tiers and theta for answers that leave open which items lie in which block."""

from __future__ import annotations

from math import hypot, inf, isinf, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.objective import total_cost
from tierwise.consensus import Consensus
from tierwise.errors import InputError
from tierwise.fitting import Settings, Solution
from tierwise.incomplete.answers import answered_places, answers_of
from tierwise.incomplete.expectation import Maximum, maximise, starting_labels
from tierwise.incomplete.likelihood import Likelihood
from tierwise.incomplete.partial import orders_of_places, orders_of_preferences
from tierwise.incomplete.stochastic import settle
from tierwise.partition import partition_function
from tierwise.preferences import Preferences
from tierwise.theta import ThetaEstimate

if TYPE_CHECKING:
    from tierwise.distances import Distance
    from tierwise.incomplete.augmentation import DrawnCompletions
    from tierwise.incomplete.base import ExactCompletions, Labels
    from tierwise.partition import PartitionFunction
    from tierwise.rankings import Rankings
    from tierwise.sizes import Sizes

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
        As for `tierwise.fitting.solve_sizes`.
    """
    if settings.likelihood == "pseudo":
        raise InputError('likelihood="pseudo" needs complete rankings without ties')
    if settings.theta_method != "exact":
        raise InputError(
            'theta_method="monte-carlo" needs answers that leave no doubt about their blocks: '
            'use theta_method="exact"'
        )
    if isinstance(data, Preferences) and data.cycles == "keep":
        from tierwise.incomplete.mistakes import solve_with_mistakes

        return solve_with_mistakes(data, sizes, distance, settings, rng)
    partition = partition_function(sizes, distance, method=settings.partition_method, rng=rng)
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
        return ThetaEstimate(inf, nan, (0.0, inf), "exact")
    information = likelihood.information(top.labels, top.theta)
    return theta_of_information(top.theta, information, confidence)


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
    theta = min(settled.theta, Likelihood((), partition).largest_theta)
    log_weight = drawn.log_weight(settled.labels, theta)
    known = [part.sums(settled.labels, theta) for part in exact]
    n_rankings = sum(float(part.weights.sum()) for part in (*exact, drawn))
    log_partition = partition.log_value(theta)
    information = n_rankings * float(partition.variance(theta))
    information -= sum(sums.variance for sums in known)
    information -= drawn.variance(settled.labels, theta)
    return Solution(
        consensus=unproved(settled.labels, settled.total, "stochastic expectation-maximisation"),
        theta=theta_of_information(
            settled.theta, information, settings.confidence, converged=settled.converged
        ),
        log_likelihood=(
            float(log_weight)
            + sum(sums.log_weight for sums in known)
            - n_rankings * float(log_partition)
        ),
        log_likelihood_error=hypot(
            log_weight.standard_error, n_rankings * log_partition.standard_error
        ),
        partition_method=partition.method,
        log_completions=sum(
            float((part.weights * part.log_numbers).sum()) for part in (*exact, drawn)
        ),
    )


def unproved(labels: Labels, total: float, method: str) -> Consensus:
    """Return tiers of which nothing is proved."""
    return Consensus(labels=labels, total=total, method=method, optimal=False, bound=total)
