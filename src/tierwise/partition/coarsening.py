"""Orderings that are weighed by ever coarser tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances.base import Distance
    from tierwise.tiers.sizes import Sizes


class Orderings:
    """Orderings as label sequences, for sizes that get coarser."""

    def __init__(self, sequences: npt.NDArray[np.int64], sizes: Sizes, distance: Distance) -> None:
        from tierwise._kernels.sequences import sequence_units

        self.sequences = sequences
        self.sizes = sizes
        self._distance = distance
        self._sizes_array = np.array(sizes, dtype=np.int64)
        self._rule = distance.rule(sizes).in_largest_units()
        self._units = sequence_units(
            sequences,
            self._sizes_array,
            self._rule.misplaced,
            self._rule.tied,
            self._rule.placing,
        )

    @property
    def distances(self) -> npt.NDArray[np.float64]:
        """Distance of each ordering from the tiers."""
        return self._units.astype(np.float64) * float(self._rule.unit)

    def within(self, boundaries: list[int]) -> Orderings:
        """Return the same orderings for fewer boundaries, given as the number of items before."""
        n_items = self.sequences.shape[1]
        edges = np.array([0, *sorted(boundaries), n_items])
        starts = np.cumsum((0, *self.sizes[:-1]))
        coarser = np.searchsorted(edges, starts, side="right") - 1
        return Orderings(coarser[self.sequences], tuple(np.diff(edges).tolist()), self._distance)

    def resample(self, weights: npt.NDArray[np.float64], rng: np.random.Generator) -> None:
        """Draw orderings by their weights, evenly spaced, a row of weights a batch."""
        n_batches, batch = weights.shape
        marks = (rng.random((n_batches, 1)) + np.arange(batch)) / batch
        cumulative = np.cumsum(weights, axis=1)
        cumulative /= cumulative[:, -1:]
        rows = np.concatenate(
            [
                np.minimum(np.searchsorted(cumulative[number], marks[number]), batch - 1)
                + number * batch
                for number in range(n_batches)
            ]
        )
        self.sequences = self.sequences[rows]
        self._units = self._units[rows]

    def move(self, theta: float, steps: int, rng: np.random.Generator) -> None:
        """Let places trade their items."""
        from tierwise._kernels.metropolis import walk

        rule = self._rule
        walk(
            self.sequences,
            self._sizes_array,
            theta * rule.unit,
            rule.misplaced,
            rule.placing,
            steps,
            self._units,
            rng,
        )
