"""What a fit is asked for (`Settings`) and what it finds (`Solution`), without names of items."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice, check_level, check_number
from tierwise._util.types import Item
from tierwise.consensus.find import METHODS
from tierwise.consensus.problem import Consensus
from tierwise.distances import Distance
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import DEFAULT_BUDGET, partition_function
from tierwise.partition.choose import Method as PartitionMethod
from tierwise.theta.estimate import ThetaEstimate, ThetaMethod
from tierwise.tiers import Sizes, Tiers

LikelihoodKind: TypeAlias = Literal["exact", "pseudo"]


@dataclass(frozen=True)
class Settings:
    """How to fit: everything that `fit` takes besides data, sizes and distance.

    Where many sizes are compared, ``partition_seed`` makes the errors of their estimated partition
    functions go together, and ``partition_budget`` says how soon these are estimated.
    """

    method: str = "auto"
    theta_method: ThetaMethod = "exact"
    partition_method: PartitionMethod = "auto"
    likelihood: LikelihoodKind = "exact"
    time_limit: float = 60.0
    level: float = 0.95
    partition_seed: int | None = None
    partition_budget: float = DEFAULT_BUDGET

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
    """The best tiers and theta for given sizes, before they get their names back."""

    consensus: Consensus
    theta: ThetaEstimate
    log_likelihood: float
    log_likelihood_error: float
    partition_method: str
    log_completions: float = 0.0
    mistake_probability: float | None = None
    mistake_interval: tuple[float, float] | None = None


def unproved(labels: NDArray[np.int64], total: float, method: str) -> Consensus:
    """Return tiers of which nothing is proved."""
    return Consensus(labels=labels, total=total, method=method, optimal=False, bound=total)


def named_tiers(labels: NDArray[np.int64], items: tuple[Item, ...]) -> Tiers:
    """Give tiers counted from 0 the names of their items."""
    return Tiers.from_labels((labels + 1).tolist(), items)
