"""Answers with ties and with items anywhere: summed over block by block.

An answer lists groups of items in order, the order within each group being unknown, and leaves the
others anywhere. The work for an answer grows with the ways to split by tiers its free items, and
its groups where a block ends within them, and not with the number of its completions.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.interleaving import Setting, add_expected_counts, value_answers
from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_numbers_of_groups
from tierwise.files.places import sizes_of_groups
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes

# States of one answer at the end of a block.
MOST_STATES = 100_000


def most_splits(sizes: Sizes) -> Floats:
    """Count in how many ways 0, 1, ..., n free items can be split by tiers, at most.

    That is for the free items that make them most: one more of a tier that has few multiplies the
    number most, so that every tier gets one, then every tier that has room a second one.

    Examples
    --------
    >>> most_splits((1, 2))
    array([1., 2., 4., 6.])
    """
    room = np.asarray(sizes)
    factors = [
        np.full(np.count_nonzero(room > held), (held + 2) / (held + 1))
        for held in range(int(room.max()))
    ]
    with np.errstate(over="ignore"):
        splits: Floats = np.cumprod(np.concatenate([[1.0], *factors]), dtype=np.float64).round()
    return splits


def have_ties(first: Places) -> npt.NDArray[np.bool_]:
    """Tell which answers have ties among the listed items."""
    ascending = np.sort(first, axis=1)
    tied = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != NOT_LISTED)
    ties: npt.NDArray[np.bool_] = tied.any(axis=1)
    return ties


def _in_groups(first: Places) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the items of each answer group by group, and where the group of each begins.

    Free items follow the listed ones, each as a group of its own.
    """
    n_items = first.shape[1]
    in_order = np.where(first == NOT_LISTED, n_items, first)
    sequences = np.argsort(in_order, axis=1, kind="stable").astype(np.int64)
    ordered = np.take_along_axis(first, sequences, axis=1)
    starts = np.where(ordered == NOT_LISTED, np.arange(n_items), ordered).astype(np.int64)
    return sequences, starts


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

    n_free = (first == NOT_LISTED).sum(axis=1)
    splits = most_splits(sizes)
    work: Floats = splits[n_free] * len(sizes) ** 2
    # Where there are both, any of the groups may straddle the end of any block.
    groups = _in_groups(first)[1].astype(np.int32)
    largest = sizes_of_groups(groups).max(axis=1)
    of_groups = np.minimum(comb(largest, largest // 2), splits[largest])
    tied = have_ties(first)
    work[tied] *= of_groups[tied] ** 2
    work[tied & (splits[n_free] * of_groups > MOST_STATES)] = inf
    weak = n_free == 0
    work[weak] = _work_of_weak_orders(first[weak], sizes)
    return work


def _work_of_weak_orders(first: Places, sizes: Sizes) -> Floats:
    """Return how many choices there are, where all items are in groups."""
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


class BlockwiseAnswers(ExactCompletions):
    """Answers that list groups of items in order, all other items being anywhere.

    Parameters
    ----------
    first
        First place of the group of each listed item among the listed; -1 for the others.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    seconds_of_a_number = 5e-8

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        n_items = first.shape[1]
        n_listed = (first != NOT_LISTED).sum(axis=1).astype(np.int64)
        self._sequences, starts = _in_groups(first)
        super().__init__(sizes, distance, weights, log_numbers_of_groups(first))
        self._first = first
        self._n_listed = n_listed
        # Likelihoods are evaluated thousands of times.
        self._sizes_as_array = np.array(sizes, dtype=np.int64)
        self._log_factorials = log_factorials(n_items)
        self._starts = np.full((len(first), n_items + 1), n_items, dtype=np.int64)
        self._starts[:, :-1] = starts
        self._work = float(work_of(first, sizes).sum())

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return self._work

    def _in_units(self, setting: Setting) -> Floats:
        """Log weight of each answer, mean and mean square of its distance in units."""
        return value_answers(setting, self._sequences, self._starts, self._n_listed)

    def _add_expected(self, setting: Setting, membership: Floats, precedence: Floats) -> None:
        """Add expected counts of items in blocks, and of items in earlier blocks than others."""
        add_expected_counts(
            setting,
            self._sequences,
            self._starts,
            self._n_listed,
            self.weights,
            membership,
            precedence,
        )

    def _setting(self, labels: Labels, theta: float) -> Setting:
        rule, logs = self.rule, self._log_factorials
        return Setting(
            labels, self._sizes_as_array, rule.misplaced, rule.placing, theta * rule.unit, logs
        )

    def _values(self, labels: Labels, theta: float) -> Floats:
        values = self._in_units(self._setting(labels, theta))
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
        self._add_expected(self._setting(labels, theta), membership, precedence)
        return self._costs(membership, precedence)
