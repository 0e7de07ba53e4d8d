"""Strict consensus, Kendall: the closed form of Mallows' phi model, and repeated insertion.

The distance is a sum of independent truncated geometric variables, one for each item: the number
of items before it that the next item passes under repeated insertion (Doignon, Pekec and
Regenwetter, The repeated insertion model for rankings, Psychometrika 69, 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import floor, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from tierwise.distances import get_distance
from tierwise.partition.base import (
    DistanceDistribution,
    ExactPartition,
    Moments,
    check_items_of_distribution,
    decay_by_units,
    from_exact_counts,
)
from tierwise.partition.gaussian import pair_probabilities, strict_moments

if TYPE_CHECKING:
    import numpy.typing as npt
    from numpy.typing import ArrayLike


# From one theta for which draws are kept to the next: a fraction of a standard deviation.
_RATIO = 1.15
_KEPT = 16


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
        unit = self.rule.unit
        return self._known(
            float(np.log(total).sum()),
            unit * float(mean.sum()),
            unit**2 * float((square - mean * mean).sum()),
        )

    def log_values(self, thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Log values at many thetas at once."""
        logs, _ = strict_moments(thetas * self.rule.unit, self.n_items)
        return logs[:, -1]

    def _decay(self, theta: float) -> npt.NDArray[np.float64]:
        return decay_by_units(theta, self.rule.unit, self.n_items - 1)

    def pair_probabilities(self, theta: ArrayLike) -> npt.NDArray[np.float64]:
        """Probability that one item (row) precedes another, as under inversions."""
        return pair_probabilities(self.sizes, self.check_theta(theta) * self.rule.unit)

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
        check_items_of_distribution(self.n_items)
        return self._distribution

    def _draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw orderings by repeated insertion."""
        from tierwise._kernels.orderings import draw_by_insertion

        sizes = np.ones(self.n_items, dtype=np.int64)
        return draw_by_insertion(sizes, float(theta * self.rule.unit), n_rows, rng)

    def _expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Probability of each item in each place, by following it through the insertions."""
        from tierwise._kernels.orderings import place_probabilities

        return place_probabilities(self._decay(theta))


@dataclass(frozen=True, eq=False)
class StrictDraws:
    """Orderings of a strict consensus.

    Attributes
    ----------
    theta
        Their concentration.
    sequences
        The item, counted from 0 in order of the consensus, at each place of each ordering.
    distances
        Distance of each ordering from the consensus.
    log_partition
        Log partition function of the strict model.
    """

    theta: float
    sequences: npt.NDArray[np.int16]
    distances: npt.NDArray[np.float64]
    log_partition: float


def nearby_theta(n_items: int, theta: float) -> float:
    """Return the nearest theta of a grid with one theta in every so many percent.

    Examples
    --------
    >>> round(nearby_theta(10, 0.3), 4), round(nearby_theta(10, 0.31), 4), nearby_theta(10, 0.0)
    (0.3129, 0.3129, 0.0)
    """
    if n_items == 1:
        # There is one ordering, whatever theta is.
        return 0.0
    # One standard deviation of the distance at theta 0 makes a difference of 1 there.
    first = sqrt(72.0 / (n_items * (n_items - 1) * (2 * n_items + 5)))
    if theta < first / 2:
        return 0.0
    return first * _RATIO ** floor(log(theta / first) / log(_RATIO) + 0.5)


@lru_cache(_KEPT)
def strict_draws(n_items: int, theta: float, n_rows: int, seed: int) -> StrictDraws:
    """Draw orderings from the strict model; the same seed gives the same ones.

    Examples
    --------
    >>> draws = strict_draws(4, 0.5, 1000, seed=1)
    >>> draws.sequences.shape
    (1000, 4)
    """
    strict = ClosedPartition((1,) * n_items, get_distance("kendall"))
    sequences = strict.draw_sequences(theta, n_rows, np.random.default_rng(seed))
    blocks = np.arange(n_items, dtype=np.int32)[None]
    units = strict.rule.units(blocks, sequences)
    distances = units.astype(np.float64) * float(strict.rule.unit)
    log_partition = float(strict.log_value(theta))
    # Many of them are kept, so they are kept small.
    return StrictDraws(theta, sequences.astype(np.int16), distances, log_partition)
