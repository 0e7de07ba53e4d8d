"""Answers that a kernel goes through one by one, each as a sequence of items."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.interleaving import Setting
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_factorials

if TYPE_CHECKING:
    from tierwise.distances.base import Costs


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
