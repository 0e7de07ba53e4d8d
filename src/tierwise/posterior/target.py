"""The target of a chain: the posterior of tiers and theta, by sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tierwise.answers.by_distance import MOST_UNITS
from tierwise.answers.curves import CurveOfAnswers
from tierwise.consensus.problem import Problem, make_problem
from tierwise.data.counts import MOST_ITEMS_FOR_JOINT_COUNTS, Counts
from tierwise.model.priors import SizesPrior, ThetaPrior, log_prior_of_sizes
from tierwise.partition.choose import partition_function
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers import Sizes, log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tierwise.answers.drawn import DrawnCompletions
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.answers.top import StrictWeakOrders
    from tierwise.distances import Costs
    from tierwise.partition.base import PartitionFunction

_KEPT_SIZES, _KEPT_VALUES = 2000, 100
# Numbers that are kept of tiers that a chain has met: 128 MB.
_MOST_NUMBERS = 2**24
# Where Monte Carlo has to stand in, the same sizes have the same partition function in every chain.
_SEED = 0


class Observed(Protocol):
    """The likelihood of tiers and theta given what was observed."""

    def value(self, labels: NDArray[np.int64], theta: float) -> float:
        """Log-likelihood."""

    def distance(self, labels: NDArray[np.int64], theta: float) -> float:
        """Total distance of the answers, on the average where they leave something open."""


def ties_in_closed_form(source: AnswerSource, sizes: Sizes | None) -> StrictWeakOrders | None:
    """Return answers that leave something open if a function of theta says all about that."""
    if sizes is None or max(sizes) > 1 or source.is_known(sizes):
        return None
    return source.strict_weak_orders


def depends_on_distance_only(source: AnswerSource, sizes: Sizes | None) -> bool:
    """Return whether tiers and theta are as probable as the total distance of the tiers says.

    So it is for complete rankings, for answers that leave no doubt about their blocks, and for all
    weak orders where each tier holds one item and the distance is Kendall's.
    """
    known = source.is_known(sizes or (1,) * len(source.items))
    return known or ties_in_closed_form(source, sizes) is not None


def summed_over(source: AnswerSource) -> dict[str, Any]:
    """Say that the completions of answers are summed over."""
    return {"completions": "summed over", "pairwise": source.pairwise}


class Target:
    """The posterior for tiers of any sizes; what belongs to sizes is made when first asked for.

    Parameters
    ----------
    source
        The answers.
    prior_theta, prior_sizes
        The priors.
    """

    def __init__(
        self, source: AnswerSource, prior_theta: ThetaPrior, prior_sizes: SizesPrior
    ) -> None:
        self.source = source
        self.prior_theta = prior_theta
        self.prior_sizes = prior_sizes
        self.n_items = len(source.items)
        self.n_rankings = float(source.n_rankings)
        self.partition = lru_cache(_KEPT_SIZES)(self._partition)
        self.theta = lru_cache(_KEPT_SIZES)(self._theta)
        self.theta_of_completed = lru_cache(_KEPT_SIZES)(self._theta_of_completed)
        self._is_completed = False
        self.likelihood = lru_cache(_KEPT_SIZES)(self._likelihood)
        self.log_likelihood = lru_cache(_KEPT_VALUES)(self._log_likelihood)
        self._use(self._costs)

    def _use(self, costs: Callable[[Sizes], Costs]) -> None:
        """Set where the costs of tiers come from."""
        self._costs_of = costs
        self.at = lru_cache(_KEPT_SIZES)(self._at)

    def given(self, costs: Callable[[Sizes], Costs]) -> Target:
        """Return the posterior given the costs of completed answers, which leave nothing open.

        What does not depend on the completions is shared.
        """
        other = object.__new__(Target)
        other.__dict__.update(self.__dict__)
        other._is_completed = True
        other.theta = self.theta_of_completed
        other._use(costs)
        return other

    @property
    def observed(self) -> Observed:
        """The likelihood of what was observed, summed over the completions of answers."""
        return SummedAnswers(self)

    def log_prior_of_tiers(self, sizes: Sizes) -> float:
        """Log prior probability, up to a constant, of each tier list with these sizes."""
        return log_prior_of_sizes(self.prior_sizes, sizes) - log_number_of_tiers(sizes)

    def _at(self, sizes: Sizes) -> SizedTarget:
        problem = make_problem(self._costs_of(sizes), sizes)
        return SizedTarget(self, problem, log_prior_of_sizes(self.prior_sizes, sizes))

    def _costs(self, sizes: Sizes) -> Costs:
        """Costs of all tiers of these sizes.

        Where the distance of answers is not all that matters, with all completions equally likely.
        """
        ties = self.ties(sizes)
        return self.likelihood(sizes).costs_at_random() if ties is None else ties.costs

    def _partition(self, sizes: Sizes) -> PartitionFunction:
        return partition_function(sizes, self.source.distance, rng=_SEED)

    def ties(self, sizes: Sizes) -> StrictWeakOrders | None:
        """Return answers that leave something open if a function of theta says all about that."""
        return None if self._is_completed else ties_in_closed_form(self.source, sizes)

    def _theta(self, sizes: Sizes) -> ThetaGivenDistance:
        ties = self.ties(sizes)
        if ties is None:
            return self.theta_of_completed(sizes)
        return ThetaGivenDistance(ties.log_partition, self.n_rankings, self.prior_theta)

    def _theta_of_completed(self, sizes: Sizes) -> ThetaGivenDistance:
        log_partition = LogPartition(self.partition(sizes))
        return ThetaGivenDistance(log_partition, self.n_rankings, self.prior_theta)

    def _likelihood(self, sizes: Sizes) -> Likelihood:
        return self.source.at(sizes, partition=self.partition(sizes))

    @cached_property
    def curve(self) -> Callable[[bytes], CurveOfAnswers]:
        """Curves of tiers, as many of which are kept as there is room for."""
        strict = (1,) * self.n_items
        n_units = min(self.source.distance.rule(strict).largest(strict) + 1, MOST_UNITS)
        n_numbers = max(len(self.source.weights), 1) * n_units
        return lru_cache(_MOST_NUMBERS // n_numbers + 1)(self._curve)

    def _curve(self, labels: bytes) -> CurveOfAnswers:
        """Return what answers say about theta, given the tier of each item, as an array's bytes.

        A chain comes back to the same tiers, with other thetas.
        """
        tiers = np.frombuffer(labels, dtype=np.int64)
        likelihood = self.likelihood(tuple(np.bincount(tiers).tolist()))
        return CurveOfAnswers.of(likelihood, tiers)

    def _log_likelihood(self, labels: bytes, theta: float) -> float:
        """Return the log-likelihood of tiers and theta, which moves ask for one after another."""
        return self.curve(labels).value(theta)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.prior_theta, self.prior_sizes)


@dataclass(frozen=True, eq=False)
class SizedTarget:
    """The posterior for tiers of given sizes.

    Attributes
    ----------
    target
        The posterior for tiers of any sizes.
    problem
        Costs of the tiers, laid out for kernels.
    log_prior_of_sizes
        Log prior probability of these sizes, up to a constant.
    """

    target: Target
    problem: Problem
    log_prior_of_sizes: float

    @cached_property
    def sizes(self) -> Sizes:
        """The sizes."""
        return self.problem.sizes

    @cached_property
    def sizes_array(self) -> NDArray[np.int64]:
        """The sizes as the kernels take them."""
        return self.problem.sizes_array

    @cached_property
    def partition(self) -> PartitionFunction:
        """The partition function."""
        return self.target.partition(self.sizes)

    @cached_property
    def theta(self) -> ThetaGivenDistance:
        """Theta given the total distance."""
        return self.target.theta(self.sizes)

    @cached_property
    def log_prior(self) -> float:
        """Log prior probability of each tier list with these sizes, up to a constant."""
        return self.log_prior_of_sizes - log_number_of_tiers(self.sizes)

    def log_posterior(self, total: float) -> float:
        """Log posterior probability, up to a constant, of tiers at a total distance."""
        return self.theta.log_integral(total) + self.log_prior

    def log_posteriors(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log posterior probabilities of tiers at many total distances."""
        return self.theta.log_integrals(totals) + self.log_prior

    def distances(
        self, totals: NDArray[np.float64], thetas: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Total distances of the answers, on the average where they leave something open."""
        ties = self.target.ties(self.sizes)
        return totals if ties is None else totals + ties.open_distances(thetas)


@dataclass(frozen=True, eq=False)
class SummedAnswers:
    """The likelihood of what was observed, summed over the completions of answers."""

    target: Target

    def value(self, labels: NDArray[np.int64], theta: float) -> float:
        """Log-likelihood."""
        return self.target.log_likelihood(labels.tobytes(), theta)

    def distance(self, labels: NDArray[np.int64], theta: float) -> float:
        """Total distance of the answers, on the average over their completions."""
        return self.target.curve(labels.tobytes()).sums(theta).mean


class CompletedCosts:
    """Costs of tiers of any sizes given the answers as they are completed at the moment.

    Parameters
    ----------
    drawn
        The completions.
    target
        The posterior, which knows items and distance.
    """

    def __init__(self, drawn: DrawnCompletions, target: Target) -> None:
        self._drawn = drawn
        self._items = target.source.items
        self._distance = target.source.distance

    def __call__(self, sizes: Sizes) -> Costs:
        """Return the costs of all tiers of these sizes."""
        if sizes == self._drawn.sizes:
            return self._drawn.costs()
        if self._counts is None:
            return self._drawn.resized(sizes).costs()
        blocks = self._distance.blocks(sizes)
        return self._distance.costs(self._counts.blocks(blocks), sizes)

    @cached_property
    def _counts(self) -> Counts | None:
        """Counts from which those of any sizes follow, where that is less work than counting."""
        places = self._drawn.places
        n_rows, n_items = places.shape
        if n_rows < n_items**2 or n_items > MOST_ITEMS_FOR_JOINT_COUNTS:
            return None
        return Counts.of_places(self._items, places, np.ones(n_rows, dtype=np.int64))
