"""Some items in order, all others anywhere, under inversions: item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.inversions_interleaving import (
    Setting,
    add_expected_precedence_of_chains,
    count_ways_by_inversions,
    value_answers_by_inversions,
)
from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_numbers_of_groups
from tierwise.answers.blockwise import in_groups, most_splits
from tierwise.answers.by_distance import MOST_NUMBERS, MOST_UNITS, CountedByDistance
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from tierwise._util.types import Places
    from tierwise.answers.base import GivenTiers
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes


def work_under_inversions(first: Places, sizes: Sizes) -> Floats:
    """Return how many numbers an evaluation of each answer goes through, at most."""
    n_free = (first == NOT_LISTED).sum(axis=1)
    n_met = first.shape[1] - n_free + 1
    work: Floats = most_splits(sizes)[n_free] * n_met * (len(sizes) + 1)
    return work


class InterleavedInversions(ExactCompletions):
    """Answers whose listed items have no ties, others being anywhere, under inversions.

    Parameters
    ----------
    first
        Place of each listed item among the listed; -1 for the others.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    seconds_of_a_number = 6e-9

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        super().__init__(sizes, distance, weights, log_numbers_of_groups(first))
        self._sequences, _ = in_groups(first)
        self._n_listed = (first != NOT_LISTED).sum(axis=1).astype(np.int64)
        # Likelihoods are evaluated thousands of times.
        self._log_factorials = log_factorials(first.shape[1])
        self._work = float(work_under_inversions(first, sizes).sum())
        n_items = first.shape[1]
        self._n_units = n_items * (n_items - 1) // 2 + 1
        n_states = most_splits(sizes)[(first == NOT_LISTED).sum(axis=1)].max(initial=0.0)
        self._n_counted = max(float(len(first)), 2.0 * float(n_states)) * self._n_units

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return self._work

    def _setting(self, labels: Labels, theta: float) -> Setting:
        theta_of_unit = theta * self.rule.unit
        return Setting(labels, len(self.sizes), theta_of_unit, self._log_factorials)

    def _values(self, labels: Labels, theta: float) -> Floats:
        """Log weight, mean and variance of the distance, of each answer."""
        setting, unit = self._setting(labels, theta), self.rule.unit
        values = value_answers_by_inversions(setting, self._sequences, self._n_listed)
        scaled: Floats = values * [1.0, unit, unit**2]
        return scaled

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return self._values(labels, theta)[:, 0]

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        return Sums(*(self.weights @ self._values(labels, theta)).tolist())

    def log_weights_at(self, labels: Labels, thetas: Floats) -> Floats:
        """Sum of the log weights of all answers at each of many thetas."""
        if self._n_counted > MOST_NUMBERS:
            return super().log_weights_at(labels, thetas)
        return self._counted(labels).log_weights_at(thetas)

    def given(self, labels: Labels) -> GivenTiers:
        """Return the answers given tiers, for many thetas."""
        narrow = self._n_units <= MOST_UNITS and self._n_counted <= MOST_NUMBERS
        return self._counted(labels) if narrow else super().given(labels)

    def _counted(self, labels: Labels) -> CountedByDistance:
        """Count completions by their inversions."""
        fewest, ways, log_orders = count_ways_by_inversions(
            self._setting(labels, 0.0), self._sequences, self._n_listed
        )
        constant = float(self.weights @ log_orders)
        return CountedByDistance.of(fewest, ways, constant, self.weights, self.rule.unit)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        membership, precedence = self._no_counts()
        setting = self._setting(labels, theta)
        add_expected_precedence_of_chains(
            setting, self._sequences, self._n_listed, self.weights, precedence
        )
        return self._costs(membership, precedence)
