"""Inversions, any sizes: a product of Gaussian binomials, one for each tier but the last."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tierwise.partition.base import ExactPartition, Moments
from tierwise.partition.gaussian import distance_distribution, line_moments
from tierwise.partition.gaussian_orders import draw_orderings, rank_tier_probabilities

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances.base import Distance
    from tierwise.partition.base import DistanceDistribution
    from tierwise.tiers.sizes import Sizes


class LinesPartition(ExactPartition):
    """Partition function of the distance inversions, any number of items."""

    method = "lines"

    def _moments(self, theta: float) -> Moments:
        lines = line_moments(self.sizes, theta)
        log_value = float(self._limit().log_value) + float(lines.log_binomials.sum())
        return self._known(log_value, float(lines.means.sum()), float(lines.variances.sum()))

    @cached_property
    def _labels(self) -> npt.NDArray[np.int64]:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def _distribution(self) -> DistanceDistribution:
        return distance_distribution(self.sizes)

    def distribution(self) -> DistanceDistribution:
        """Return the number of orderings at each distance."""
        return self._distribution

    def draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw orderings by repeated insertion; a shuffle of each tier changes no label."""
        return self._labels[draw_orderings(self._labels, theta, n_rows, rng)]

    def expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Probability of each tier in each place."""
        return rank_tier_probabilities(self.sizes, theta)


def applies(sizes: Sizes, distance: Distance) -> bool:
    """Whether pairs of different tiers are all that the distance charges, wherever they lie."""
    rule = distance.rule(sizes)
    reversed_pairs_only = rule.misplaced > 0 and rule.tied == 0 and not rule.placing.any()
    return reversed_pairs_only and max(distance.blocks(sizes)) == 1
