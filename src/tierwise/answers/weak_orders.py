"""Weak orders under inversions, in closed form.

An answer is a sequence of groups, the order within each group being unknown. The probability of a
sequence of tied blocks is that of the inversions between the blocks, times a smaller partition
function for each block. No completions are listed or drawn, for any number of items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._kernels.inversions_lines import log_q_factorials, q_factorial_derivatives
from tierwise._kernels.inversions_weak_orders import (
    add_expected_precedence,
    log_weights_of_weak_orders,
    tally_weak_orders,
)
from tierwise.answers.base import (
    ExactCompletions,
    Floats,
    Labels,
    Sums,
    log_numbers_of_groups,
)
from tierwise.partition.gaussian import precedence_by_gap
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from tierwise._util.types import Places
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes


class _Tally(NamedTuple):
    """What the sums over answers need at any theta; see `tally_weak_orders`."""

    inversions: float
    log_orders: float
    coefficients: Floats


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
        super().__init__(sizes, distance, weights, log_numbers_of_groups(first))
        self._first = first
        self._sequences = np.argsort(first, axis=1, kind="stable").astype(np.int64)
        self._starts = np.take_along_axis(first, self._sequences, axis=1)
        self._log_factorials = log_factorials(first.shape[1])
        self._latest: tuple[bytes, _Tally] | None = None

    def _weigh(self) -> None:
        self._latest = None

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return float(self._sequences.size)

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        n_items, n_lines = len(labels), int(labels.max())
        tables = np.broadcast_to(log_q_factorials(theta, n_items), (n_lines, n_items + 1))
        thetas = np.full(n_lines, theta)
        return log_weights_of_weak_orders(self._first, labels, thetas, tables, self._log_factorials)

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        tally = self._tally(labels)
        logs, first, second = q_factorial_derivatives(theta, len(labels)) @ tally.coefficients
        return Sums(
            tally.log_orders + float(logs) - theta * tally.inversions,
            tally.inversions - float(first),
            max(float(second), 0.0),
        )

    def _tally(self, labels: Labels) -> _Tally:
        """Go through the answers once for all thetas of the same tiers."""
        known = labels.tobytes()
        if self._latest is None or self._latest[0] != known:
            coefficients = np.zeros(len(labels) + 1)
            inversions, log_orders = tally_weak_orders(
                self._sequences,
                self._starts,
                self.weights,
                labels,
                self._log_factorials,
                coefficients,
            )
            self._latest = known, _Tally(inversions, log_orders, coefficients)
        return self._latest[1]

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
