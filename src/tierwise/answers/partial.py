"""Partial orders: which items come before which; their linear extensions, counted and listed.

Extensions are counted by sets of items, or estimated by sequential importance sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.augmentation import (
    count_extensions,
    draw_log_weights,
    list_extensions,
)
from tierwise._kernels.counting import add_block_pair_counts, add_place_counts
from tierwise._util.checks import RandomSource, as_generator
from tierwise._util.types import NOT_LISTED, Estimate
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_numbers_of_groups
from tierwise.files.places import collapse
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.data.preferences import Preferences
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes

# Items that are compared with each other, directly or not, up to which extensions are counted by
# sets of items: a million numbers.
MOST_ITEMS_FOR_COUNTING = 20
DRAWS_FOR_COUNTING = 10_000


def log_number_of_extensions(relation: npt.NDArray[np.bool_], rng: RandomSource = 0) -> Estimate:
    """Log number of complete orderings that agree with a partial order.

    Parameters
    ----------
    relation
        ``relation[a, b]`` says that item a comes before item b; transitive, without cycles.
    rng
        Seed, for partial orders of so many items that the number is estimated.

    Examples
    --------
    >>> import numpy as np
    >>> relation = np.zeros((4, 4), dtype=bool)
    >>> relation[1, 0] = relation[2, 3] = True
    >>> round(np.exp(log_number_of_extensions(relation)))
    6
    """
    from scipy.sparse.csgraph import connected_components

    logs = log_factorials(len(relation))
    # Groups of items that have nothing to do with each other are interleaved at will.
    log_number, variance = float(logs[-1]), 0.0
    n_groups, group_of = connected_components(relation, directed=False)
    for group in range(n_groups):
        members = np.flatnonzero(group_of == group)
        log_number -= float(logs[len(members)])
        part = np.ascontiguousarray(relation[np.ix_(members, members)])
        if len(members) <= MOST_ITEMS_FOR_COUNTING:
            log_number += log(count_extensions(part))
        else:
            drawn = draw_log_weights(part, DRAWS_FOR_COUNTING, as_generator(rng))
            weights = np.exp(drawn - drawn.max())
            log_number += float(drawn.max()) + log(weights.mean())
            variance += float(weights.var() / weights.mean() ** 2) / len(weights)
    method = "sets of items" if variance == 0.0 else "sequential importance sampling"
    return Estimate(log_number, standard_error=variance**0.5, method=method)


class ListedCompletions(ExactCompletions):
    """Partial orders with so few completions that all of them are listed.

    Parameters
    ----------
    orders
        The answers.
    sizes, distance
        Of the model.
    """

    def __init__(self, orders: PartialOrders, sizes: Sizes, distance: Distance) -> None:
        super().__init__(sizes, distance, orders.weights, orders.log_numbers)
        block_of_place = distance.block_of_place(sizes)
        numbers = np.round(np.exp(orders.log_numbers)).astype(np.int64)
        listed = []
        for row, number in enumerate(numbers.tolist()):
            blocks = block_of_place[list_extensions(orders.relations[row], number)]
            distinct, which = collapse(blocks)
            listed.append((distinct, np.bincount(which), np.full(len(distinct), row)))
        self._blocks = np.concatenate([blocks for blocks, _, _ in listed])
        self._log_repeats = np.log(np.concatenate([repeats for _, repeats, _ in listed]))
        self._answer = np.concatenate([answer for _, _, answer in listed])
        self._starts = np.flatnonzero(np.diff(self._answer, prepend=-1))
        self._latest: tuple[Labels, Floats] | None = None

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return float(self._blocks.size)

    def _distances(self, labels: Labels) -> Floats:
        """Distance of each completion from the tiers; the latest are kept, for many thetas."""
        if self._latest is None or not np.array_equal(self._latest[0], labels):
            self._latest = (labels.copy(), self._compute_distances(labels))
        return self._latest[1]

    def _compute_distances(self, labels: Labels) -> Floats:
        units = self._units_of_blocks(self._blocks, labels)
        return units.astype(np.float64) * self.rule.unit

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return self._log_sums(self._log_repeats - theta * self._distances(labels))

    def _log_sums(self, logs: Floats) -> Floats:
        peaks = np.maximum.reduceat(logs, self._starts)
        return peaks + np.log(np.add.reduceat(np.exp(logs - peaks[self._answer]), self._starts))

    def _shares(self, distances: Floats, theta: float) -> Floats:
        """Probability of each completion, given the answer that it belongs to."""
        logs = self._log_repeats - theta * distances
        shares: Floats = np.exp(logs - self._log_sums(logs)[self._answer])
        return shares

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        distances = self._distances(labels)
        shares = self._shares(distances, theta)
        means = np.add.reduceat(shares * distances, self._starts)
        spread = shares * (distances - means[self._answer]) ** 2
        return Sums(
            float((self.weights * self.log_weights(labels, theta)).sum()),
            float((self.weights * means).sum()),
            float((self.weights * np.add.reduceat(spread, self._starts)).sum()),
        )

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        weights = self._shares(self._distances(labels), theta) * self.weights[self._answer]
        membership, precedence = self._no_counts()
        add_place_counts(self._blocks, weights, membership)
        add_block_pair_counts(self._blocks, weights, precedence)
        return self._costs(membership, precedence)


@dataclass(frozen=True, eq=False)
class PartialOrders:
    """Distinct partial orders with their weights.

    Attributes
    ----------
    relations
        ``relations[row, a, b]`` says that item a comes before item b; transitive.
    weights
        Weight of each.
    log_numbers
        Log number of complete orderings that agree with each.
    first
        For answers that are rankings, the first place of the tied group of each item, counted among
        the items listed; -1 if the item may be anywhere. None for pairwise preferences.
    """

    relations: npt.NDArray[np.bool_]
    weights: Floats
    log_numbers: Floats
    first: Places | None

    @cached_property
    def some_completions(self) -> Places:
        """The places of all items in a complete ordering that agrees with each."""
        # Whoever comes before another has fewer items before it.
        order = np.argsort(self.relations.sum(axis=1), axis=1, kind="stable")
        places = np.empty(order.shape, dtype=np.int32)
        np.put_along_axis(places, order, np.arange(order.shape[1], dtype=np.int32)[None], axis=1)
        return places

    def subset(self, rows: npt.NDArray[np.bool_]) -> PartialOrders:
        """Keep some of the answers."""
        first = None if self.first is None else self.first[rows]
        return PartialOrders(
            self.relations[rows], self.weights[rows], self.log_numbers[rows], first
        )


def orders_of_places(first: Places, weights: Floats) -> PartialOrders:
    """Return rankings as partial orders, given the first place of each item's tied group."""
    listed = first != NOT_LISTED
    before = first[:, :, None] < first[:, None, :]
    relations = before & listed[:, :, None] & listed[:, None, :]
    return PartialOrders(relations, weights, log_numbers_of_groups(first), first)


def orders_of_preferences(
    preferences: Preferences,
) -> tuple[PartialOrders, npt.NDArray[np.int64]]:
    """Return pairwise preferences as distinct partial orders, and the one of each assessor."""
    n_items = len(preferences.items)
    flat = preferences.closure.reshape(len(preferences), -1)
    distinct, which = collapse(flat)  # type: ignore[arg-type]
    relations = np.ascontiguousarray(distinct).view(np.bool_).reshape(-1, n_items, n_items)
    log_numbers = np.array([float(log_number_of_extensions(relation)) for relation in relations])
    weights = np.bincount(which).astype(np.float64)
    return PartialOrders(relations, weights, log_numbers, first=None), which
