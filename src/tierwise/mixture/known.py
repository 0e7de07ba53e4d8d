"""Answers that say which items lie in which block: their distance from tiers is known."""

from functools import cached_property

import numpy as np

from tierwise._kernels import counting
from tierwise._kernels.groups import precedence_of_orderings, units_of_orderings
from tierwise._kernels.objective import total_cost
from tierwise._util.types import Places
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_factorials
from tierwise.data.encoding import sizes_of_groups
from tierwise.distances.base import Costs, Distance
from tierwise.tiers.sizes import Sizes


class KnownBlocks(ExactCompletions):
    """Answers whose completions all have the same blocks, and so the same distance."""

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        n_items = sum(sizes)
        group_sizes = sizes_of_groups(first)
        # Each member of a tied group carries its share of the log number of orders of the group.
        shares = log_factorials(n_items) / np.maximum(np.arange(n_items + 1), 1)
        super().__init__(sizes, distance, weights, shares[group_sizes].sum(axis=1))
        block_of_place = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._blocks = block_of_place[first]
        self._orderings = np.argsort(first, axis=1, kind="stable")
        # For each place, the first place after its block.
        self._ends = np.repeat(np.cumsum(np.array(sizes, dtype=np.int64)), sizes)
        self._placing_by_place = np.repeat(self.rule.placing, sizes, axis=0)

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return float(self._orderings.size * self._orderings.shape[1] / 2)

    def distances(self, labels: Labels) -> Floats:
        """Distance of each answer from tiers."""
        units = units_of_orderings(
            self._orderings, labels, self._ends, self.rule.misplaced, self._placing_by_place
        )
        return units.astype(np.float64) * self.rule.unit

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return self.log_numbers - theta * self.distances(labels)

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        total = float(total_cost(labels, self._known_costs.linear, self._known_costs.pairs))
        return Sums(float(self.weights @ self.log_numbers) - theta * total, total, 0.0)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:  # noqa: ARG002
        """Costs of all tiers, whatever the model."""
        return self._known_costs

    def _weigh(self) -> None:
        self.__dict__.pop("_known_costs", None)

    @cached_property
    def _known_costs(self) -> Costs:
        membership, _ = self._no_counts()
        counting.add_place_counts(self._blocks, self.weights, membership)
        precedence = precedence_of_orderings(self._orderings, self._ends, self.weights)
        return self._costs(membership, precedence)
