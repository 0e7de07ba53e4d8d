"""Weak orders under inversions: ties and lists of the best items, summed over in closed form.

The probability of a sequence of tied blocks is that of the inversions between the blocks, times a
smaller partition function for each block. No completions are listed or drawn, for any number of
items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.inversions_expected import add_expected_precedence, weigh_weak_orders
from tierwise._kernels.inversions_factorials import q_factorial_derivatives
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_factorials
from tierwise.data.encoding import sizes_of_groups
from tierwise.partition.gaussian_orders import precedence_by_gap

if TYPE_CHECKING:
    from tierwise._util.types import Places
    from tierwise.distances.base import Costs, Distance
    from tierwise.tiers.sizes import Sizes


class InvertedWeakOrders(ExactCompletions):
    """Answers that put all items into groups, and the groups in order, under inversions.

    Parameters
    ----------
    first
        First place of the group of each item.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        group_sizes = sizes_of_groups(first)
        logs = log_factorials(first.shape[1])
        shares = logs[group_sizes] / group_sizes
        super().__init__(sizes, distance, weights, log_numbers=shares.sum(axis=1))
        self._sequences = np.argsort(first, axis=1, kind="stable").astype(np.int64)
        self._starts = np.take_along_axis(first, self._sequences, axis=1)
        self._log_factorials = logs

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return float(self._sequences.size)

    def _values(self, labels: Labels, theta: float) -> Floats:
        n_rows, n_items = self._sequences.shape
        values = np.empty((n_rows, 3))
        factorials = np.ascontiguousarray(q_factorial_derivatives(theta, n_items).T)
        weigh_weak_orders(
            self._sequences,
            self._starts,
            labels,
            theta,
            factorials,
            self._log_factorials,
            values,
        )
        return values

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return np.ascontiguousarray(self._values(labels, theta)[:, 0])

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        return Sums(*(self.weights @ self._values(labels, theta)).tolist())

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        n_items = len(labels)
        precedence = np.zeros((n_items, n_items))
        once = np.concatenate([[0.0], np.cumsum(precedence_by_gap(theta, n_items))])
        twice = np.concatenate([[0.0], np.cumsum(once)])
        add_expected_precedence(
            self._sequences, self._starts, self.weights, labels, twice, precedence
        )
        membership = np.zeros((n_items, n_items))
        return self._costs(membership, precedence)
