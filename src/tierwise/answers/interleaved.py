"""Answers that list some items in order, all others being anywhere: summed over by a recursion.

The work for an answer grows with the ways to split its free items by tiers, and not with the
number of its completions.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.interleaving import Setting, add_expected_counts, value_answers
from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_factorials

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.distances.base import Costs, Distance
    from tierwise.tiers.sizes import Sizes


class SequencedAnswers(ExactCompletions):
    """Answers whose sums and expected counts come from kernels."""

    seconds_of_a_number = 5e-8
    _work: float

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return self._work

    @abstractmethod
    def _in_units(self, setting: Setting) -> Floats:
        """Log weight of each answer, mean and mean square of its distance in units."""

    @abstractmethod
    def _add_expected(self, setting: Setting, membership: Floats, precedence: Floats) -> None:
        """Add expected counts of items in blocks, and of items in earlier blocks than others."""

    def _setting(self, labels: Labels, theta: float) -> Setting:
        sizes = np.array(self.sizes, dtype=np.int64)
        rule = self.rule
        logs = log_factorials(len(labels))
        return Setting(labels, sizes, rule.misplaced, rule.placing, theta * rule.unit, logs)

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


def most_splits(sizes: Sizes, n_free: int) -> int:
    """Count in how many ways free items can be split by tiers, for tiers that make them most.

    Examples
    --------
    >>> most_splits((1, 2), 2)
    4
    """
    counts = [0] * len(sizes)
    for _ in range(n_free):
        # One more of a label that has few multiplies the number most.
        able = [label for label, size in enumerate(sizes) if counts[label] < size]
        counts[min(able, key=counts.__getitem__)] += 1
    return int(np.prod(np.array(counts, dtype=np.float64) + 1))


def work_of(first: Places, sizes: Sizes) -> Floats:
    """Return how many numbers an evaluation of each answer goes through, at most."""
    n_free = (first == NOT_LISTED).sum(axis=1)
    splits = np.array([most_splits(sizes, number) for number in range(first.shape[1] + 1)])
    work: Floats = splits[n_free].astype(np.float64) * len(sizes) ** 2
    return work


class InterleavedAnswers(SequencedAnswers):
    """Answers whose listed items have no ties, and whose other items may be anywhere.

    Parameters
    ----------
    first
        Place of each listed item among the listed; -1 for the others.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        n_items = first.shape[1]
        logs = log_factorials(n_items)
        n_listed = (first != NOT_LISTED).sum(axis=1)
        super().__init__(sizes, distance, weights, log_numbers=logs[-1] - logs[n_listed])
        self._first = first
        self._n_listed = n_listed.astype(np.int64)
        in_order = np.where(first == NOT_LISTED, n_items, first)
        self._sequences = np.argsort(in_order, axis=1, kind="stable").astype(np.int64)
        self._work = float(work_of(first, sizes).sum())

    def _in_units(self, setting: Setting) -> Floats:
        return value_answers(setting, self._sequences, self._n_listed)

    def _add_expected(self, setting: Setting, membership: Floats, precedence: Floats) -> None:
        add_expected_counts(
            setting, self._sequences, self._n_listed, self.weights, membership, precedence
        )


def have_ties(first: Places) -> npt.NDArray[np.bool_]:
    """Tell which answers have ties among the listed items."""
    ascending = np.sort(first, axis=1)
    tied = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != NOT_LISTED)
    ties: npt.NDArray[np.bool_] = tied.any(axis=1)
    return ties
