"""Strict consensus, Kendall: the closed form.

The distance is a sum of independent truncated geometric variables, one an item: the number of
items before it that the next item passes under repeated insertion.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import TooLargeError
from tierwise.partition.base import ExactPartition, Moments
from tierwise.partition.distribution import DistanceDistribution, from_exact_counts
from tierwise.partition.theta import decay_by_units

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances.base import Distance
    from tierwise.tiers.sizes import Sizes

# The exact counts of 300 items are 45,000 integers of up to 2,000 bits, and take a few seconds.
MOST_ITEMS_FOR_DISTRIBUTION = 300


class ClosedPartition(ExactPartition):
    """Partition function of the strict Kendall model, any number of items."""

    method = "closed"

    def _moments(self, theta: float) -> Moments:
        # Sums over 0, ..., v for every v at once. All terms are positive: nothing cancels.
        passed = np.arange(self.n_items, dtype=np.float64)
        decay = self._decay(theta)
        total = np.cumsum(decay)
        mean = np.cumsum(decay * passed) / total
        square = np.cumsum(decay * passed * passed) / total
        return self._known(
            float(np.log(total).sum()), float(mean.sum()), float((square - mean * mean).sum())
        )

    def _decay(self, theta: float) -> npt.NDArray[np.float64]:
        return decay_by_units(theta, self.rule.unit, self.n_items - 1)

    @cached_property
    def _distribution(self) -> DistanceDistribution:
        counts = np.ones(1, dtype=object)
        for item in range(1, self.n_items):
            # Multiply by 1 + x + ... + x^item: running sums over item + 1 neighbours.
            running = np.cumsum(np.concatenate([counts, np.zeros(item, dtype=object)]))
            counts = running.copy()
            counts[item + 1 :] -= running[: -item - 1]
        return from_exact_counts(counts.tolist(), self.rule.unit)

    def distribution(self) -> DistanceDistribution:
        """Return the number of orderings at each distance, the Mahonian numbers."""
        if self.n_items > MOST_ITEMS_FOR_DISTRIBUTION:
            raise TooLargeError(
                f"the distribution of the distance is for at most {MOST_ITEMS_FOR_DISTRIBUTION} "
                f"items, not {self.n_items}: its mean and variance are known for any number"
            )
        return self._distribution

    def draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw orderings by repeated insertion."""
        from tierwise._kernels.insertion import draw_by_insertion

        return draw_by_insertion(self.n_items, float(theta * self.rule.unit), n_rows, rng)

    def expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Probability of each item in each place, by following it through the insertions."""
        from tierwise._kernels.insertion import place_probabilities

        return place_probabilities(self._decay(theta))


def applies(sizes: Sizes, distance: Distance) -> bool:
    """Whether these are a strict consensus and the Kendall distance."""
    if max(sizes) > 1:
        return False
    rule = distance.rule(sizes)
    return rule.misplaced > 0 and not rule.placing.any()
