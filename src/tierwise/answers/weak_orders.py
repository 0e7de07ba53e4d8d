"""Weak orders: ties summed over by dynamic programming; under inversions, in closed form.

An answer is a sequence of groups, the order within each group being unknown. The work for an answer
grows with the ways to split its groups by tiers where a block ends within them, and not with the
number of its completions.

Under inversions, the probability of a sequence of tied blocks is that of the inversions between the
blocks, times a smaller partition function for each block. No completions are listed or drawn, for
any number of items.
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
from tierwise._kernels.weak_orders import add_expected_counts, value_weak_orders
from tierwise.answers.base import (
    ExactCompletions,
    Floats,
    Labels,
    Sums,
    log_factorials,
    log_numbers_of_groups,
)
from tierwise.answers.interleaved import SequencedAnswers, most_splits
from tierwise.files.places import sizes_of_groups
from tierwise.partition.gaussian import precedence_by_gap

if TYPE_CHECKING:
    from tierwise._kernels.interleaving import Setting
    from tierwise._util.types import Places
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes

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
    from scipy.special import comb

    n_items = first.shape[1]
    splits = most_splits(sizes)
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


class WeakOrders(SequencedAnswers):
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

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        n_items = first.shape[1]
        super().__init__(sizes, distance, weights, log_numbers_of_groups(first))
        self._sequences = np.argsort(first, axis=1, kind="stable").astype(np.int64)
        self._starts = np.full((len(first), n_items + 1), n_items, dtype=np.int64)
        self._starts[:, :-1] = np.take_along_axis(first, self._sequences, axis=1)
        self._work = float(work_of(first, sizes).sum())

    def _in_units(self, setting: Setting) -> Floats:
        return value_weak_orders(setting, self._sequences, self._starts)

    def _add_expected(self, setting: Setting, membership: Floats, precedence: Floats) -> None:
        add_expected_counts(
            setting, self._sequences, self._starts, self.weights, membership, precedence
        )


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
