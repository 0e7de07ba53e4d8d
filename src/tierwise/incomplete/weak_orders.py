"""Answers in groups, the order within each group being unknown: summed over exactly.

The work for an answer grows with the ways to split its groups by tiers where a block ends within
them, and not with the number of its completions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import comb

from tierwise._kernels.interleaving import Setting
from tierwise._kernels.weak_orders import add_expected_counts, value_weak_orders
from tierwise.counts import sizes_of_groups
from tierwise.incomplete.base import ExactCompletions, Floats, Labels, Sums, log_factorials
from tierwise.incomplete.interleaved import most_splits

if TYPE_CHECKING:
    from tierwise._encoding import Places
    from tierwise.distances import Costs, Distance
    from tierwise.sizes import Sizes

# States of one answer at the end of a block.
MOST_STATES = 100_000


def work_of(first: Places, sizes: Sizes) -> Floats:
    """Return how many choices an evaluation of each answer goes through, at most.

    Infinite where an answer has too many states.

    Examples
    --------
    >>> import numpy as np
    >>> work_of(np.array([[0, 0, 0], [0, 1, 2]], dtype=np.int32), (1, 2))
    array([6., 2.])
    """
    n_items = first.shape[1]
    splits = np.array([float(most_splits(sizes, number)) for number in range(n_items + 1)])
    order = np.argsort(first, axis=1, kind="stable")
    starts = np.take_along_axis(first, order, axis=1).astype(np.int64)
    ends = starts + np.take_along_axis(sizes_of_groups(first), order, axis=1)
    work = np.zeros(len(first))
    states = np.ones(len(first))
    bottom = 0
    for size in sizes:
        top, bottom = bottom, bottom + size
        place = min(bottom, n_items - 1)
        straddles = (starts[:, place] < bottom) & (bottom < n_items)
        start, end = starts[:, place], ends[:, place]
        # From what is left of a group that began before the block, or from a whole group.
        available = np.where(straddles, end - np.maximum(start, top), 0)
        taken = np.where(straddles, bottom - np.maximum(start, top), 0)
        work += states * np.minimum(comb(available, taken), splits[available])
        number = np.where(straddles, end - start, 0)
        states = np.minimum(comb(number, np.where(straddles, end - bottom, 0)), splits[number])
        work[splits[number] > MOST_STATES] = np.inf
    return work


class WeakOrders(ExactCompletions):
    """Answers that put all items into groups, and the groups in order.

    Parameters
    ----------
    first
        First place of the group of each item.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    seconds_of_a_number = 5e-8

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        n_items = first.shape[1]
        group_sizes = sizes_of_groups(first)
        logs = log_factorials(n_items)
        super().__init__(
            sizes, distance, weights, log_numbers=(logs[group_sizes] / group_sizes).sum(axis=1)
        )
        self._sequences = np.argsort(first, axis=1, kind="stable").astype(np.int64)
        self._starts = np.full((len(first), n_items + 1), n_items, dtype=np.int64)
        self._starts[:, :-1] = np.take_along_axis(first, self._sequences, axis=1)
        self._work = float(work_of(first, sizes).sum())

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return self._work

    def _setting(self, labels: Labels, theta: float) -> Setting:
        sizes = np.array(self.sizes, dtype=np.int64)
        rule = self.rule
        logs = log_factorials(len(labels))
        return Setting(labels, sizes, rule.misplaced, rule.placing, theta * rule.unit, logs)

    def _values(self, labels: Labels, theta: float) -> Floats:
        values = value_weak_orders(self._setting(labels, theta), self._sequences, self._starts)
        scaled: Floats = values * [1.0, self.rule.unit, self.rule.unit**2]
        return scaled

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return self._values(labels, theta)[:, 0]

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        values = self._values(labels, theta)
        values[:, 2] = np.maximum(values[:, 2] - values[:, 1] ** 2, 0.0)
        return Sums(*(self.weights[:, None] * values).sum(axis=0).tolist())

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        membership, precedence = self._no_counts()
        setting = self._setting(labels, theta)
        add_expected_counts(
            setting, self._sequences, self._starts, self.weights, membership, precedence
        )
        return self._costs(membership, precedence)
