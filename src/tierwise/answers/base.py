"""Completions: the complete orderings behind answers, and answers that have but one.

`Completions` is what every way to sum over them, or to draw them, offers.

`KnownAnswers` say which items lie in which block: each has one completion, as far as it counts.
Complete rankings are such answers for any sizes. Others are for some: a list of the best ten, if
the last tier holds all other items. All orderings that agree with such an answer have the same
blocks, so the same distance, and expected costs are those of the answers as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.consensus import total_cost
from tierwise._kernels.counting import add_block_pair_counts, add_place_counts
from tierwise._util.types import NOT_LISTED
from tierwise.data.counts import BlockCounts
from tierwise.distances import Costs, Distance
from tierwise.errors import InputError
from tierwise.files.places import sizes_of_groups
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.data.counts import Counts
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

    def __add__(self, other: Sums) -> Sums:
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
        return self.rule.units(blocks, labels[None])


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

    def log_weights_at(self, labels: Labels, thetas: Floats) -> Floats:
        """Sum of the log weights of all answers at each of many thetas."""
        return np.array([self.sums(labels, theta).log_weight for theta in thetas.tolist()])

    def given(self, labels: Labels) -> GivenTiers:
        """Return the answers given tiers, for many thetas."""
        return SummedAtEachTheta(self, labels)

    def reweighted(self, weights: Floats) -> Self:
        """Return the same answers with other weights."""
        other = copy(self)
        other.weights = weights
        other._weigh()
        return other

    def _weigh(self) -> None:
        """Bring up to date what else depends on the weights, if anything does."""


class GivenTiers(Protocol):
    """Answers given tiers, as they depend on theta."""

    def sums(self, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""

    def log_weights_at(self, thetas: Floats) -> Floats:
        """Sum of the log weights of all answers at each of many thetas."""


@dataclass(frozen=True, eq=False)
class SummedAtEachTheta:
    """Answers whose completions are summed over at each theta."""

    answers: ExactCompletions
    labels: Labels

    def sums(self, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        return self.answers.sums(self.labels, theta)

    def log_weights_at(self, thetas: Floats) -> Floats:
        """Sum of the log weights of all answers at each of many thetas."""
        return self.answers.log_weights_at(self.labels, thetas)


def expected_costs_of(parts: Iterable[Completions], labels: Labels, theta: float) -> Costs:
    """Return the expected costs of several collections of answers together."""
    return reduce(add_costs, (part.expected_costs(labels, theta) for part in parts))


def add_costs(one: Costs, other: Costs) -> Costs:
    """Return the costs of two collections of answers together."""
    return Costs(linear=one.linear + other.linear, pairs=one.pairs + other.pairs)


def log_numbers_of_groups(first: Places) -> Floats:
    """Log number of complete orderings that agree with each answer.

    Parameters
    ----------
    first
        First place of the group of each listed item among the listed ones, one row per answer; -1
        for items that may be anywhere.
    """
    n_items = first.shape[1]
    logs = log_factorials(n_items)
    listed = first != NOT_LISTED
    # Where an item may be anywhere, no group begins at the last place.
    group_sizes = sizes_of_groups(np.where(listed, first, n_items - 1))
    # Every member of a group of k items brings its share of log k!.
    shares = np.where(listed, logs[group_sizes] / group_sizes, 0.0)
    numbers: Floats = shares.sum(axis=1) + logs[n_items] - logs[listed.sum(axis=1)]
    return numbers


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Distinct answers, and what of them is the same for all sizes.

    Attributes
    ----------
    first
        First place of the tied group of each item.
    complete
        Whether no answer has ties.
    """

    first: Places
    complete: bool = False

    @cached_property
    def orderings(self) -> npt.NDArray[np.int64]:
        """``orderings[answer, place]``: the item in a place, ties broken in any way."""
        if not self.complete:
            return np.argsort(self.first, axis=1, kind="stable")
        # Places without ties are a permutation, which is inverted without sorting.
        orderings = np.empty(self.first.shape, dtype=np.int64)
        items = np.arange(self.first.shape[1])[None, :]
        np.put_along_axis(orderings, self.first.astype(np.int64), items, axis=1)
        return orderings

    @cached_property
    def places(self) -> Places:
        """``places[answer, item]``, ties broken in the same way."""
        if self.complete:
            return self.first
        places = np.empty(self.first.shape, dtype=np.int32)
        in_order = np.arange(self.first.shape[1], dtype=np.int32)[None, :]
        np.put_along_axis(places, self.orderings, in_order, axis=1)
        return places

    @cached_property
    def log_numbers(self) -> Floats:
        """Log number of complete orderings that agree with each answer."""
        if self.complete:
            return np.zeros(len(self.first))
        return log_numbers_of_groups(self.first)


class KnownAnswers(ExactCompletions):
    """Answers that leave no doubt about blocks, or counts of complete rankings.

    Parameters
    ----------
    rows
        The answers; None if only counts of them are known.
    weights
        Weight of each answer; the number of rankings where only counts are known.
    sizes, distance
        Of the model.
    joint
        Counts from which those of any sizes follow, if there are some.
    """

    def __init__(
        self,
        rows: KnownRows | None,
        weights: Floats,
        sizes: Sizes,
        distance: Distance,
        joint: Counts | None = None,
    ) -> None:
        log_numbers = np.zeros(len(weights)) if rows is None else rows.log_numbers
        super().__init__(sizes, distance, weights, log_numbers)
        self._rows = rows
        self._joint = joint

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through: next to none, as all is counted once."""
        return float(sum(self.sizes) ** 2)

    @cached_property
    def costs(self) -> Costs:
        """Costs of all tiers."""
        if self._joint is not None:
            counts = self._joint.blocks(self.distance.blocks(self.sizes))
            return self.distance.costs(counts, self.sizes)
        membership, precedence = self._no_counts()
        blocks = self._blocks
        add_place_counts(blocks, self.weights, membership)
        add_block_pair_counts(blocks, self.weights, precedence)
        return self._costs(membership, precedence)

    @cached_property
    def _blocks(self) -> Places:
        """``_blocks[answer, item]``, which other weights leave as they are."""
        return self.distance.block_of_place(self.sizes)[self._each().first]

    @cached_property
    def _log_completions(self) -> float:
        return float(self.weights @ self.log_numbers)

    def _each(self) -> KnownRows:
        if self._rows is None:
            raise InputError(
                "counts do not distinguish single rankings: pass the rankings themselves"
            )
        return self._rows

    def reweighted(self, weights: Floats) -> KnownAnswers:
        """Return the same answers with other weights."""
        self._blocks  # noqa: B018 - found once, and shared with the other
        other = super().reweighted(weights)
        other._joint = None
        for name in ("costs", "_log_completions"):
            other.__dict__.pop(name, None)
        return other

    def distances(self, labels: Labels) -> Floats:
        """Distance of each answer from tiers."""
        units = self._units_of_blocks(self._blocks, labels)
        return units.astype(np.float64) * self.rule.unit

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return self.log_numbers - theta * self.distances(labels)

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        total = total_cost(labels, self.costs.linear, self.costs.pairs)
        return Sums(self._log_completions - theta * total, total, 0.0)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:  # noqa: ARG002
        """Costs of all tiers, whatever the model."""
        return self.costs
