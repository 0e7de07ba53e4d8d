"""What every way to sum over the complete orderings behind incomplete answers offers."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.augmentation import block_units
from tierwise._util.types import Places
from tierwise.data.counts import BlockCounts
from tierwise.distances import Costs, Distance
from tierwise.files.places import sizes_of_groups
from tierwise.tiers import Sizes

Labels: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# What an evaluation takes however little there is to do.
SECONDS_OF_AN_EVALUATION = 1e-4


@dataclass(frozen=True)
class Sums:
    """Sums over answers, each times its weight, at given tiers and theta.

    Attributes
    ----------
    log_weight
        Of the log of the summed ``exp(-theta d)`` of its completions.
    mean, variance
        Of the mean and variance of the distance of its completions.
    """

    log_weight: float
    mean: float
    variance: float

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.log_weight + other.log_weight,
            self.mean + other.mean,
            self.variance + other.variance,
        )


class Completions(ABC):
    """Incomplete answers, each standing for all complete orderings that agree with it.

    Attributes
    ----------
    sizes, distance, rule
        Of the model.
    weights
        The weight of each answer.
    log_numbers
        The log number of complete orderings that agree with each answer.
    """

    def __init__(
        self, sizes: Sizes, distance: Distance, weights: Floats, log_numbers: Floats
    ) -> None:
        self.sizes = sizes
        self.distance = distance
        self.rule = distance.rule(sizes).in_largest_units()
        self.weights = weights
        self.log_numbers = log_numbers

    @abstractmethod
    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""

    def _no_counts(self) -> tuple[Floats, Floats]:
        """Return counts of items in blocks, and of items before items, to add to."""
        n_items = sum(self.sizes)
        n_blocks = len(self.distance.blocks(self.sizes))
        return np.zeros((n_items, n_blocks)), np.zeros((n_items, n_items))

    def _costs(self, membership: Floats, precedence: Floats) -> Costs:
        items = tuple(range(len(membership)))
        total = float(self.weights.sum())
        blocks = self.distance.blocks(self.sizes)
        counts = BlockCounts(items, blocks, membership, precedence, total)
        return self.distance.costs(counts, self.sizes)

    def _units_of_blocks(self, blocks: NDArray[np.int32], labels: Labels) -> NDArray[np.int64]:
        """Distance of each row from the tiers, in units, from the block of each item."""
        rule = self.rule
        return block_units(blocks, labels, rule.misplaced, rule.tied, rule.placing)


class ExactCompletions(Completions):
    """Incomplete answers whose completions can all be summed over."""

    seconds_of_a_number: ClassVar[float] = 5e-9

    @property
    def seconds(self) -> float:
        """About how long an evaluation takes."""
        return SECONDS_OF_AN_EVALUATION + self.seconds_of_a_number * self.work

    @property
    @abstractmethod
    def work(self) -> float:
        """How many numbers an evaluation goes through."""

    @abstractmethod
    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""

    @abstractmethod
    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""

    def reweighted(self, weights: Floats) -> Self:
        """Return the same answers with other weights."""
        other = copy(self)
        other.weights = weights
        other._weigh()
        return other

    def _weigh(self) -> None:
        """Bring up to date what else depends on the weights, if anything does."""


def expected_costs_of(parts: Iterable[Completions], labels: Labels, theta: float) -> Costs:
    """Return the expected costs of several collections of answers together."""
    return reduce(add_costs, (part.expected_costs(labels, theta) for part in parts))


def add_costs(one: Costs, other: Costs) -> Costs:
    """Return the costs of two collections of answers together."""
    return Costs(linear=one.linear + other.linear, pairs=one.pairs + other.pairs)


def log_numbers_of_groups(first: Places) -> Floats:
    """Log number of complete orderings that agree with each weak order.

    Parameters
    ----------
    first
        First place of the group of each item, one row per answer.
    """
    group_sizes = sizes_of_groups(first)
    # Every member of a group of k items brings its share of log k!.
    shares = log_factorials(first.shape[1])[group_sizes] / group_sizes
    logs: Floats = shares.sum(axis=1)
    return logs


def log_factorials(largest: int) -> Floats:
    """Log factorials of 0, 1, ..., ``largest``."""
    logs = np.zeros(largest + 1)
    np.cumsum(np.log(np.arange(1, largest + 1)), out=logs[1:])
    return logs
