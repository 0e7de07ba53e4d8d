"""Any distance, any sizes that are not too many: dynamic programming over the items left.

Draws are made by forward filtering and backward sampling (as in Carter and Kohn, On Gibbs sampling
for state space models, Biometrika 81, 1994).

Where it is narrow enough, the recursion is run once for all distances at the same time, which
answers every theta; else it is run for each theta, and carries the first two moments along.
"""

from __future__ import annotations

from functools import cached_property
from math import factorial, log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.errors import TooLargeError, use
from tierwise.partition.base import (
    DistanceDistribution,
    ExactPartition,
    Moments,
    decay_by_units,
    from_exact_counts,
)
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._kernels.recursion import States, Steps
    from tierwise.distances import Distance
    from tierwise.tiers import Sizes

# Distances times states up to which all distances are done at the same time: 32 MB.
WIDEST_TABLE = 4_000_000
# The same when the distribution itself is requested: 1.3 GB, enough for Kendall and any 20 items.
WIDEST_DISTRIBUTION = 160_000_000
# Binomial coefficients of more items could overflow a float in the same pass.
LARGEST_TIER_IN_TABLE = 1000
# Numbers of ways are floats: beyond this logarithm they could overflow.
LARGEST_LOG_WAYS = 690.0
# States are numbered by 32 bits, and items left counted by 16.
MOST_STATES = 2**31 - 1
MOST_ITEMS = 2**15 - 1


def n_states(sizes: Sizes) -> int:
    """Count the states of the recursion: how many of each label may be left."""
    return prod(size + 1 for size in sizes)


def steps(sizes: Sizes) -> int:
    """Count the additions that the recursion makes for one theta, some nanoseconds each."""
    return n_states(sizes) * (len(sizes) + sum(sizes) // 2 + 1)


def is_affordable(sizes: Sizes, budget: float) -> bool:
    """Whether the recursion stays within the budget of steps, and within the range of numbers."""
    return (
        steps(sizes) <= budget
        and log_number_of_tiers(sizes) <= LARGEST_LOG_WAYS
        and n_states(sizes) <= MOST_STATES
        and sum(sizes) <= MOST_ITEMS
    )


class RecursionPartition(ExactPartition):
    """Partition function of any distance by the recursion over items left."""

    method = "recursion"

    def __init__(self, sizes: Sizes, distance: Distance) -> None:
        super().__init__(sizes, distance)
        self._width = self.rule.largest(sizes) + 1
        self._log_orders = sum(log(factorial(size)) for size in sizes)

    @cached_property
    def _states(self) -> States:
        from tierwise._kernels.recursion import lay_out_states

        return lay_out_states(np.array(self.sizes, dtype=np.int64), n_states(self.sizes))

    def _is_narrow(self, widest: int) -> bool:
        """Whether all distances can be done at the same time in a table of this size."""
        in_range = max(self.sizes) <= LARGEST_TIER_IN_TABLE
        return in_range and n_states(self.sizes) * self._width <= widest

    @property
    def knows_all_thetas(self) -> bool:
        """Whether the recursion is run once for all thetas, and not for each."""
        return self._is_narrow(WIDEST_TABLE)

    @cached_property
    def _ways(self) -> npt.NDArray[np.float64]:
        """Number of ways to reach each distance, items within a block not being ordered."""
        return self._count_ways(np.float64)

    def _count_ways(self, kind: type[np.float64 | np.int64]) -> npt.NDArray[Any]:
        from tierwise._kernels.recursion import ways_by_distance

        rule = self.rule
        ways: npt.NDArray[Any] = np.zeros((n_states(self.sizes), self._width), dtype=kind)
        binomials = _pascal(max(self.sizes), kind)
        degrees = np.full(len(ways), -1, dtype=np.int64)
        ways_by_distance(self._states, rule.misplaced, rule.placing, binomials, ways, degrees)
        everything: npt.NDArray[Any] = ways[0].copy()
        return everything

    @cached_property
    def _by_distance(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Distances that occur, and the log number of orderings at each."""
        occurring = np.flatnonzero(self._ways)
        distances = occurring.astype(np.float64) * self.rule.unit
        return distances, np.log(self._ways[occurring]) + self._log_orders

    def log_values(self, thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Log values at many thetas."""
        if not self.knows_all_thetas:
            return super().log_values(thetas)
        return self._log_values_from_counts(*self._by_distance, thetas)

    def _moments(self, theta: float) -> Moments:
        if self._is_narrow(WIDEST_TABLE):
            return self._from_counts(*self._by_distance, theta)
        from tierwise._kernels.recursion import weight_and_moments

        weight, first, second = weight_and_moments(self._steps(theta)).tolist()
        unit = self.rule.unit
        mean = first / weight
        variance = second / weight - mean * mean
        return self._known(log(weight) + self._log_orders, unit * mean, unit**2 * variance)

    def _decay(self, theta: float) -> npt.NDArray[np.float64]:
        largest_rate = self.rule.misplaced * self.n_items + int(self.rule.placing.max())
        return decay_by_units(theta, self.rule.unit, largest_rate)

    def distribution(self) -> DistanceDistribution:
        """Return the number of orderings at each distance.

        The numbers are exact for up to 20 items, and beyond as long as they allow it.
        """
        if not self._is_narrow(WIDEST_DISTRIBUTION):
            return super().distribution()
        log_ways = log_number_of_tiers(self.sizes)
        if log_ways < 53 * log(2) - 1e-6:
            ways = [int(number) for number in self._ways.tolist()]
        elif self.n_items <= 20:
            ways = self._count_ways(np.int64).tolist()
        else:
            return DistanceDistribution(*self._by_distance, counts=None)
        orders = prod(factorial(size) for size in self.sizes)
        return from_exact_counts([number * orders for number in ways], self.rule.unit)

    def _steps(self, theta: float) -> Steps:
        """Return what steps cost; the whole distance is one part, with one theta."""
        from tierwise._kernels.recursion import Steps

        one_part = np.zeros((len(self.sizes), len(self.sizes)), dtype=np.int64)
        rule, decay = self.rule, self._decay(theta)[None, :]
        return Steps(self._states, rule.misplaced, rule.placing, one_part, decay)

    def _draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Filter forward, draw the table backward, and order the labels in each block at random."""
        from tierwise._kernels.orderings import shuffle_within_blocks
        from tierwise._kernels.recursion import draw_sequences, filter_weights

        steps = self._steps(theta)
        sequences = draw_sequences(steps, filter_weights(steps), n_rows, rng)
        shuffle_within_blocks(sequences, self._states.sizes, rng)
        return sequences

    def _expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Return the expected table by a pass forward and one back."""
        from tierwise._kernels.recursion import expected_table, filter_weights

        steps = self._steps(theta)
        return expected_table(steps, filter_weights(steps))


def excess(sizes: Sizes, budget: float) -> TooLargeError | None:
    """Return why the recursion is beyond the budget, if it is."""
    if is_affordable(sizes, budget):
        return None
    return TooLargeError(
        f"the recursion for sizes {sizes} needs {steps(sizes):.2g} steps on "
        f"{n_states(sizes):.2g} states; the budget is {budget:.2g} steps",
        [
            "raise the budget",
            use("for an estimate with its standard error", method="path"),
        ],
    )


def _pascal(largest: int, kind: type[np.float64 | np.int64]) -> npt.NDArray[Any]:
    """Binomial coefficients ``[n, k]`` up to ``largest``."""
    binomials = np.zeros((largest + 1, largest + 1), dtype=kind)
    binomials[:, 0] = 1
    for number in range(1, largest + 1):
        binomials[number, 1:] = binomials[number - 1, 1:] + binomials[number - 1, :-1]
    return binomials
