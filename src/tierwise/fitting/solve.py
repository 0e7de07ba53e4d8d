"""Maximum likelihood at given sizes, for answers of every kind; the paper's pseudo-likelihood.

=====================================  =========================================================
what the answers leave open            how the best tiers and theta are found
=====================================  =========================================================
only the order within blocks    the closest tiers, with a proof, then the root for theta
few completions, or summable ones      EM, in ``em.py``
too many completions to sum over       SAEM, in ``em.py``
whether they are mistaken              either of these with a profile, in ``mistakes.py``
all but who won, for battles           exchanges of items, in ``inversions/comparisons.py``
nothing, but there are several thetas  coordinate ascent, in ``several_thetas.py``
=====================================  =========================================================

Maximum pseudo-likelihood, by coordinate ascent and swaps of items, is the cheap approximation of
Piancastelli and Friel, Clustered Mallows Model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from tierwise._kernels.consensus import total_cost
from tierwise._kernels.orderings import log_pseudo
from tierwise._util.checks import check_choice, check_level, check_number
from tierwise.answers.curves import Derivatives
from tierwise.answers.dispatch import MOST_WORK
from tierwise.consensus.find import METHODS, find_consensus
from tierwise.consensus.problem import Consensus
from tierwise.errors import InputError, drop, use
from tierwise.fitting.em import maximise, maximum_at, settle, starts_of
from tierwise.fitting.mistakes import solve_with_mistakes
from tierwise.inversions.comparisons import best_tiers_of_sizes
from tierwise.partition.base import decay_by_units
from tierwise.partition.choose import DEFAULT_BUDGET, partition_function
from tierwise.partition.choose import Method as PartitionMethod
from tierwise.partition.interpolated import for_many_thetas
from tierwise.theta.estimate import (
    NOTHING_KNOWN,
    ThetaEstimate,
    ThetaMethod,
    best_theta,
    estimate_theta,
    iterate_theta,
    top_of,
    with_interval,
)
from tierwise.tiers import Sizes, Tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.answers.base import Labels
    from tierwise.answers.capabilities import Engine
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.data.counts import Numbers
    from tierwise.distances import Distance
    from tierwise.partition.base import Concentration, PartitionFunction

LikelihoodKind: TypeAlias = Literal["exact", "pseudo"]
# Steps for one theta beyond which the partition function is estimated: there are many thetas.
LEAST_BUDGET = 1e7
BUDGET_OF_AN_ANSWER = 1e6
MOST_THETA = 1e3
_FIRST_THETA = 0.1
# How tiers were found that nobody looked for.
GIVEN = "given"


@dataclass(frozen=True)
class Settings:
    """How to fit: the other arguments of `fit`, without data, sizes and distance.

    Where many sizes are compared, ``partition_seed`` makes the errors of their estimated partition
    functions go together, and ``partition_budget`` says how soon these are estimated;
    ``most_work`` says how soon completions are drawn.
    """

    method: str = "auto"
    theta_method: ThetaMethod = "exact"
    partition_method: PartitionMethod = "auto"
    likelihood: LikelihoodKind = "exact"
    time_limit: float = 60.0
    level: float = 0.95
    partition_seed: int | None = None
    partition_budget: float = DEFAULT_BUDGET
    most_work: float = MOST_WORK

    def __post_init__(self) -> None:
        check_choice("theta_method", self.theta_method, get_args(ThetaMethod))
        check_level(self.level)
        check_choice("likelihood", self.likelihood, get_args(LikelihoodKind))
        check_choice("method", self.method, METHODS)
        check_choice("partition_method", self.partition_method, get_args(PartitionMethod))
        check_number("time_limit", self.time_limit, above=0.0)

    def partition(
        self, sizes: Sizes, distance: Distance, rng: np.random.Generator
    ) -> PartitionFunction:
        """Return the partition function that these settings ask for."""
        return partition_function(
            sizes,
            distance,
            method=self.partition_method,
            budget=self.partition_budget,
            rng=rng if self.partition_seed is None else self.partition_seed,
        )


@dataclass(frozen=True)
class Solution:
    """The best tiers and thetas for given sizes, before they get their names back."""

    consensus: Consensus
    thetas: tuple[ThetaEstimate, ...]
    log_likelihood: float
    log_likelihood_error: float
    partition_method: str
    log_completions: float = 0.0
    mistake_probability: float | None = None
    mistake_interval: tuple[float, float] | None = None
    likelihood: Likelihood | None = None
    """What was maximised, for those who go on with it at the same sizes."""
    concentration: Concentration = "single"

    @property
    def theta(self) -> ThetaEstimate:
        """The single theta."""
        (theta,) = self.thetas
        return theta


def unproved(labels: NDArray[np.int64], total: float, method: str) -> Consensus:
    """Return tiers without a proof."""
    return Consensus(labels=labels, total=total, method=method, optimal=False, bound=total)


def named_tiers(labels: NDArray[np.int64], items: tuple[Item, ...]) -> Tiers:
    """Give tiers counted from 0 the names of their items."""
    return Tiers.from_labels((labels + 1).tolist(), items)


def solve(
    source: AnswerSource,
    sizes: Sizes,
    settings: Settings,
    rng: np.random.Generator,
    labels: Labels | None = None,
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
    labels
        The tiers, counted from 0, if they are given: then only theta is sought.
    """
    if settings.likelihood == "pseudo":
        if labels is not None:
            raise InputError(
                "the pseudo-likelihood is not available for given tiers",
                [drop("likelihood")],
            )
        return solve_pseudo(source, sizes, settings, rng)
    if source.is_known(sizes):
        partition = settings.partition(sizes, source.distance, rng)
        return solve_known(source.at(sizes, partition=partition), settings, rng, labels)
    if settings.theta_method != "exact":
        raise InputError(
            "a Monte Carlo estimate of theta needs answers that determine their blocks",
            [use(theta_method="exact")],
        )
    return _ENGINES[source.capabilities.engine](source, sizes, settings, rng, labels)


def _solve_by_completions(
    source: AnswerSource,
    sizes: Sizes,
    settings: Settings,
    rng: np.random.Generator,
    labels: Labels | None,
) -> Solution:
    """Find the best tiers and theta for answers that leave places open."""
    # The error of an estimate counts as often as there are answers: few can do with one.
    budget = max(BUDGET_OF_AN_ANSWER * float(source.n_rankings), LEAST_BUDGET)
    settings = replace(settings, partition_budget=min(budget, settings.partition_budget))
    partition = for_many_thetas(settings.partition(sizes, source.distance, rng))
    if len(sizes) == 1:
        return _no_tiers(source, partition)
    likelihood = source.at(sizes, partition=partition, rng=rng, most_work=settings.most_work)
    find = _solve_by_summing if likelihood.exact else _solve_by_drawing
    return find(likelihood, settings, rng, labels)


def _solve_comparisons(
    source: AnswerSource,
    sizes: Sizes,
    settings: Settings,
    rng: np.random.Generator,
    labels: Labels | None,
) -> Solution:
    """Find good tiers of battles by exchanges of items."""
    if labels is not None:
        return solution_at(source, unproved_at(source, labels, GIVEN), settings)
    labels = best_tiers_of_sizes(source.wins, sizes, rng)
    return solution_at(source, unproved_at(source, labels, "exchanges"), settings)


def solve_known(
    likelihood: Likelihood,
    settings: Settings,
    rng: np.random.Generator,
    labels: Labels | None = None,
) -> Solution:
    """Find the closest tiers and then theta, for answers that leave no doubt about their blocks.

    Parameters
    ----------
    likelihood
        Of the answers, at given sizes.
    settings, rng, labels
        As in `solve`.
    """
    costs = likelihood.costs_at_random()
    if labels is None:
        consensus = find_consensus(
            costs,
            likelihood.sizes,
            method=settings.method,
            rng=rng,
            time_limit=settings.time_limit,
        )
    else:
        total = float(total_cost(labels, costs.linear, costs.pairs))
        consensus = unproved(labels, total, GIVEN)
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
    partition = settings.partition(sizes, source.distance, rng)
    likelihood = source.at(sizes, partition=partition, most_work=settings.most_work)
    if len(sizes) == 1:
        return _solution(likelihood, consensus, NOTHING_KNOWN)
    theta = best_theta(likelihood, labels)
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
    log_completions = source.log_completions()
    log_partition = float(partition.log_value(0.0))
    labels = np.zeros(partition.n_items, dtype=np.int64)
    return Solution(
        consensus=Consensus(labels, 0.0, "one tier", optimal=True, bound=0.0, n_optima=1),
        thetas=(NOTHING_KNOWN,),
        log_likelihood=log_completions - source.n_rankings * log_partition,
        log_likelihood_error=0.0,
        partition_method=partition.method,
        log_completions=log_completions,
    )


def _solve_by_summing(
    likelihood: Likelihood, settings: Settings, rng: np.random.Generator, labels: Labels | None
) -> Solution:
    if labels is None:
        top = maximise(likelihood, starts_of(likelihood, settings.method, rng))
    else:
        top = maximum_at(likelihood, labels)
    total = likelihood.total_distance(top.labels, top.theta)
    method = "expectation-maximisation" if labels is None else GIVEN
    consensus = unproved(top.labels, total, method)
    theta = _theta_with_error(likelihood, top.labels, top.theta, settings.level)
    return _solution(likelihood, consensus, theta)


def _solve_by_drawing(
    likelihood: Likelihood, settings: Settings, rng: np.random.Generator, labels: Labels | None
) -> Solution:
    settled = settle(likelihood, settings.method, rng, labels)
    method = "stochastic expectation-maximisation" if labels is None else GIVEN
    consensus = unproved(settled.labels, settled.total, method)
    theta = _theta_with_error(likelihood, settled.labels, settled.theta, settings.level)
    return _solution(likelihood, consensus, replace(theta, converged=settled.converged))


def _solve_with_mistakes(
    source: AnswerSource,
    sizes: Sizes,
    settings: Settings,
    rng: np.random.Generator,
    labels: Labels | None,
) -> Solution:
    """Find the best tiers, theta and probability of a mistake."""
    partition = for_many_thetas(settings.partition(sizes, source.distance, rng))
    likelihood = source.at(sizes, partition=partition, rng=rng)
    found = solve_with_mistakes(likelihood, settings.method, settings.level, rng, labels)
    stochastic = "" if likelihood.exact else "stochastic "
    method = f"{stochastic}expectation-maximisation" if labels is None else GIVEN
    return Solution(
        consensus=unproved(found.labels, found.total, method),
        thetas=(found.theta,),
        log_likelihood=float(found.value),
        log_likelihood_error=found.value.standard_error,
        partition_method=likelihood.method,
        mistake_probability=found.probability,
        mistake_interval=found.interval,
    )


# What fits answers that leave something open: a further engine is a further entry.
_ENGINES: dict[Engine, Callable[..., Solution]] = {
    "completions": _solve_by_completions,
    "mistakes": _solve_with_mistakes,
    "comparisons": _solve_comparisons,
}


def _solution(likelihood: Likelihood, consensus: Consensus, theta: ThetaEstimate) -> Solution:
    value = likelihood.value(consensus.labels, theta.value)
    return Solution(
        consensus=consensus,
        thetas=(theta,),
        log_likelihood=float(value),
        log_likelihood_error=value.standard_error,
        partition_method=likelihood.method,
        log_completions=likelihood.log_completions,
        likelihood=likelihood,
    )


def _theta_with_error(
    likelihood: Likelihood, labels: Labels, theta: float, level: float
) -> ThetaEstimate:
    """Return theta with its standard error, by the information that the answers hold about it."""
    return with_interval(
        theta,
        lambda at: likelihood.value(labels, at),
        lambda: likelihood.information(labels, theta),
        largest=likelihood.largest_theta,
        level=level,
        tolerance=likelihood.tolerance,
    )


def solve_pseudo(
    source: AnswerSource, sizes: Sizes, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Climb from a consensus to tiers and theta that no swap of two items improves.

    The pseudo-likelihood does not depend on the distance; the distance only gives the start.

    Parameters
    ----------
    source, sizes, settings, rng
        As in `tierwise.fitting.solve.solve`.
    """
    likelihood = PseudoLikelihood(source.complete_orderings(), source.weights, sizes)
    costs = source.at(sizes).costs_at_random()
    start = find_consensus(
        costs, sizes, method=settings.method, rng=rng, time_limit=settings.time_limit
    )
    labels = start.labels.copy()
    theta = likelihood.best_theta(labels)
    improved = True
    while improved:
        labels, improved = likelihood.climb(labels, theta)
        theta = likelihood.best_theta(labels)
    total = float(total_cost(labels, costs.linear, costs.pairs))
    return Solution(
        consensus=unproved(labels, total, "pseudo-likelihood ascent"),
        thetas=(likelihood.with_error(labels, theta, settings.level),),
        log_likelihood=likelihood.value(labels, theta),
        log_likelihood_error=0.0,
        partition_method="none: pseudo-likelihood",
    )


class PseudoLikelihood:
    """The log pseudo-likelihood of rankings, for any labels and theta."""

    def __init__(self, orderings: NDArray[np.int64], weights: Numbers, sizes: Sizes) -> None:
        self.orderings = orderings
        self.weights = weights.astype(np.float64)
        self.sizes = np.array(sizes, dtype=np.int64)

    def value(self, labels: NDArray[np.int64], theta: float) -> float:
        """Return the log pseudo-likelihood."""
        return self.derivatives(labels, theta).value

    def derivatives(self, labels: NDArray[np.int64], theta: float) -> Derivatives:
        """Log pseudo-likelihood, slope and curvature at a theta."""
        # At an infinite theta the chosen label is the smallest one left, and nothing else counts.
        finite = min(theta, MOST_THETA)
        decay = decay_by_units(finite, 1.0, int(self.sizes.max()))
        rows = log_pseudo(labels[self.orderings], self.sizes, decay, finite)
        value, slope, bend = (rows @ self.weights).tolist()
        return Derivatives(value, np.array([slope]), np.array([[bend]]))

    def best_theta(self, labels: NDArray[np.int64]) -> float:
        """Maximise over theta, in which the log pseudo-likelihood is concave."""
        sequences = labels[self.orderings][self.weights > 0]
        if (np.diff(sequences, axis=1) >= 0).all():
            return inf if len(self.sizes) > 1 else 0.0
        curve = PseudoCurve(self, labels)
        return float(top_of(curve, np.array([_FIRST_THETA]), MOST_THETA).point[0])

    def climb(self, labels: NDArray[np.int64], theta: float) -> tuple[NDArray[np.int64], bool]:
        """Swap two items as long as that raises the value; tell whether any swap did."""
        best = self.value(labels, theta)
        improved_ever, improved = False, True
        while improved:
            improved = False
            for first, second in combinations(range(len(labels)), 2):
                if labels[first] == labels[second]:
                    continue
                swapped = labels.copy()
                swapped[first], swapped[second] = labels[second], labels[first]
                value = self.value(swapped, theta)
                if value > best + 1e-9 * abs(best):
                    labels, best, improved, improved_ever = swapped, value, True, True
        return labels, improved_ever

    def with_error(self, labels: NDArray[np.int64], theta: float, level: float) -> ThetaEstimate:
        """Add standard error and interval."""
        return with_interval(
            theta,
            lambda at: self.value(labels, at),
            lambda: -float(self.derivatives(labels, theta).hessian[0, 0]),
            largest=MOST_THETA,
            level=level,
        )


@dataclass(frozen=True, eq=False)
class PseudoCurve:
    """The log pseudo-likelihood of given tiers over theta."""

    likelihood: PseudoLikelihood
    labels: NDArray[np.int64]
    n_thetas: ClassVar[int] = 1

    def derivatives(self, thetas: NDArray[np.float64]) -> Derivatives:
        """Value, slope and curvature."""
        return self.likelihood.derivatives(self.labels, float(thetas[0]))
