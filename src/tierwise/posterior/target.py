"""What a chain draws from: everything that depends on data and priors, by sizes."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise.consensus.problem import Problem, make_problem
from tierwise.data.counts import MOST_ITEMS_FOR_JOINT_COUNTS, BlockCounts, Counts, block_counts
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.distances.base import Costs, Distance
from tierwise.model.priors import SizesPrior, ThetaPrior, log_prior_of_sizes
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import partition_function
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers.sizes import Sizes, log_number_of_tiers

KEPT_SIZES = 2000
# Where Monte Carlo has to stand in, the same sizes have the same partition function in every chain.
_SEED = 0


@dataclass(frozen=True, eq=False)
class SizedModel:
    """What sizes, distance and prior say about theta, whatever the tiers.

    Attributes
    ----------
    sizes, distance
        Of the model.
    n_rankings
        Number of rankings.
    prior_theta
        Prior of theta.
    """

    sizes: Sizes
    distance: Distance
    n_rankings: float
    prior_theta: ThetaPrior

    @cached_property
    def partition(self) -> PartitionFunction:
        """The partition function."""
        return partition_function(self.sizes, self.distance, rng=_SEED)

    @cached_property
    def theta(self) -> ThetaGivenDistance:
        """Theta given the total distance."""
        return ThetaGivenDistance(LogPartition(self.partition), self.n_rankings, self.prior_theta)


@dataclass(frozen=True, eq=False)
class SizedTarget:
    """The posterior for tiers of given sizes.

    Attributes
    ----------
    problem
        Costs of the tiers, laid out for kernels.
    model
        What does not depend on the tiers.
    log_prior_of_sizes
        Log prior probability of these sizes, up to a constant.
    log_completions
        Log of the number of orderings that agree with the answers, summed over answers.
    """

    problem: Problem
    model: SizedModel
    log_prior_of_sizes: float
    log_completions: float = 0.0

    @property
    def log_prior(self) -> float:
        """Log prior probability of each tiers of these sizes, up to a constant."""
        return self.log_prior_of_sizes - log_number_of_tiers(self.sizes)

    @property
    def sizes(self) -> Sizes:
        """The sizes."""
        return self.problem.sizes

    @cached_property
    def sizes_array(self) -> NDArray[np.int64]:
        """The sizes as the kernels take them."""
        return self.problem.sizes_array

    @property
    def distance(self) -> Distance:
        """The distance."""
        return self.model.distance

    @property
    def n_rankings(self) -> float:
        """Number of rankings."""
        return self.model.n_rankings

    @property
    def partition(self) -> PartitionFunction:
        """The partition function."""
        return self.model.partition

    @property
    def theta(self) -> ThetaGivenDistance:
        """Theta given the total distance."""
        return self.model.theta

    def log_posterior(self, total: float) -> float:
        """Log posterior probability, up to a constant, of tiers at a total distance."""
        return self.theta.log_integral(total) + self.log_prior


class Target:
    """The posterior for tiers of any sizes; what belongs to sizes is made when first asked for.

    Parameters
    ----------
    data
        The rankings, or counts of them; block counts where only their sizes are asked for.
    distance
        The distance.
    prior_theta, prior_sizes
        The priors.
    """

    def __init__(
        self,
        data: Rankings | Counts | BlockCounts | Preferences,
        distance: Distance,
        prior_theta: ThetaPrior,
        prior_sizes: SizesPrior,
    ) -> None:
        self.data = data
        self.distance = distance
        self.prior_theta = prior_theta
        self.prior_sizes = prior_sizes
        self.at = lru_cache(KEPT_SIZES)(self._at)
        self.model = lru_cache(KEPT_SIZES)(self._model)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.data.items)

    def _at(self, sizes: Sizes) -> SizedTarget:
        costs, log_completions = self._costs(sizes)
        log_prior = log_prior_of_sizes(self.prior_sizes, sizes)
        return SizedTarget(
            make_problem(costs, sizes), self.model(sizes), log_prior, log_completions
        )

    def _costs(self, sizes: Sizes) -> tuple[Costs, float]:
        """Costs of all tiers of these sizes, and the log number of completions of the answers."""
        data = self.data
        if isinstance(data, Preferences):
            raise TypeError("preferences do not determine blocks")
        blocks = data if isinstance(data, BlockCounts) else block_counts(data, sizes)
        return self.distance.costs(blocks), blocks.log_completions

    def _model(self, sizes: Sizes) -> SizedModel:
        return SizedModel(sizes, self.distance, float(self.data.n_rankings), self.prior_theta)

    def log_prior_of_tiers(self, sizes: Sizes) -> float:
        """Log prior probability, up to a constant, of each tiers of these sizes."""
        return log_prior_of_sizes(self.prior_sizes, sizes) - log_number_of_tiers(sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.data, self.distance, self.prior_theta, self.prior_sizes)


def count_once(data: Rankings | Counts) -> Rankings | Counts:
    """Return joint counts, from which the block counts of any sizes come fast, where they fit."""
    if isinstance(data, Counts) or len(data.items) > MOST_ITEMS_FOR_JOINT_COUNTS:
        return data
    return Counts.of(data)
