"""Setting up the recursion over subsets of subsets for a data set and an objective."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import inversions_subsets as kernels
from tierwise._kernels.inversions_lines import FIXED, LineObjective
from tierwise.errors import TooLargeError

if TYPE_CHECKING:
    from tierwise.data.weak_orders import WeakOrderCounts

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

MOST_ITEMS = 18
# With ties, every set has a curve of its own in memory.
_MOST_BYTES_OF_CURVES = 600 * 2**20
# Up to so many different lines are kept one by one. More are interpolated, in steps of a part of
# the spread of the number of inversions under the uniform distribution.
_MOST_LINES_KEPT = 6_000_000
_STEPS_IN_DEVIATION = 8.0


@dataclass(frozen=True, eq=False)
class SubsetTables:
    """What the data say about all subsets of the items, for every theta and objective."""

    counts: WeakOrderCounts

    def __post_init__(self) -> None:
        if self.counts.n_items > MOST_ITEMS:
            raise TooLargeError(
                f"all tiers of all sizes are gone through for up to {MOST_ITEMS} items, not "
                f"{self.counts.n_items}: use the local search or the chain"
            )

    @cached_property
    def inner(self) -> _Floats:
        """How often members of each set are ranked above members."""
        return kernels.inner_counts(self.counts.above)

    @cached_property
    def sizes(self) -> _Integers:
        """Number of members of each set."""
        return kernels.set_sizes(self.counts.n_items)

    @cached_property
    def meeting(self) -> _Floats:
        """Weight of the tied blocks that meet each set in so many items."""
        counts = self.counts
        return kernels.meeting_weights(
            counts.block_offsets,
            counts.block_members,
            counts.block_weights,
            counts.n_items,
            counts.largest_block + 1,
        )

    def tier_values(self, objective: LineObjective, extra: _Floats | None = None) -> _Floats:
        """Value each set as a tier; ``extra[k]`` is added for a tier of size ``k``."""
        logs = objective.log_factorials
        weight = objective.order_bonus - objective.n_rankings
        by_size = objective.tier_constant + weight * logs
        if extra is not None:
            by_size = by_size + extra
        values = by_size[self.sizes]
        if self.counts.n_blocks:
            values = values + self.meeting @ logs[: self.meeting.shape[1]]
        return values

    def at_theta(self, objective: LineObjective) -> kernels.SubsetProblem:
        """Set up the recursion at a fixed theta."""
        factorials = objective.grid.factorials[:, 0, 0]
        values = self.tier_values(objective, self.counts.n_rankings * factorials)
        if self.counts.n_blocks:
            values = values - self.meeting @ factorials[: self.meeting.shape[1]]
        return self.with_values(objective, values)

    def with_values(self, objective: LineObjective, values: _Floats) -> kernels.SubsetProblem:
        """Set up the recursion at a fixed theta, with given values of all tiers."""
        return kernels.SubsetProblem(
            self.counts.n_items,
            self.counts.above,
            objective,
            self.inner,
            values,
            self.sizes,
            np.zeros((1, 1, 1, 1)),
            np.zeros(1),
            np.zeros((1, 1), np.int64),
            np.ones((1, 1)),
        )

    def by_line(self, objective: LineObjective) -> kernels.SubsetProblem:
        """Set up the recursion with a theta per line."""
        counts = self.counts
        n_items = counts.n_items
        offsets = np.zeros((n_items + 1, n_items + 1), np.int64)
        steps = np.ones((n_items + 1, n_items + 1))
        n_kept = 1
        if counts.n_blocks:
            n_bytes = 2**n_items * objective.grid.factorials[0].size * 8
            if n_bytes > _MOST_BYTES_OF_CURVES:
                raise TooLargeError(
                    f"a theta per line for all tiers of {n_items} items with ties needs "
                    f"{n_bytes / 2**30:.1f} GB: use the local search or the chain"
                )
            curves = kernels.fill_curves_of_sets(objective, self.sizes, self.meeting)
        else:
            curves = kernels.fill_curves_of_sizes(objective, n_items)
            n_lines = counts.n_rankings * comb(n_items + 2, 4)
            keep_all = counts.has_whole_weights and n_lines <= _MOST_LINES_KEPT
            for size in range(1, n_items):
                for n_worse in range(1, n_items + 1 - size):
                    pairs = size * n_worse
                    spread = sqrt(counts.n_rankings * pairs * (size + n_worse + 1) / 12.0)
                    step = spread / _STEPS_IN_DEVIATION
                    whole = 1.0 if keep_all else max(float(np.floor(step)), 1.0)
                    steps[size, n_worse] = whole if counts.has_whole_weights else step
                    offsets[size, n_worse] = n_kept
                    n_kept += int(counts.n_rankings * pairs / steps[size, n_worse]) + 8
        return kernels.SubsetProblem(
            n_items,
            counts.above,
            objective,
            self.inner,
            self.tier_values(objective),
            self.sizes,
            curves,
            np.full(n_kept, np.nan),
            offsets,
            steps,
        )

    def problem(self, objective: LineObjective) -> kernels.SubsetProblem:
        """Set up the recursion for any objective."""
        return self.at_theta(objective) if objective.kind == FIXED else self.by_line(objective)

    def constant(self, objective: LineObjective) -> float:
        """Return what the recursion leaves out at a fixed theta: the curve of all items."""
        if objective.kind != FIXED:
            return 0.0
        factorials = objective.grid.factorials[:, 0, 0]
        blocks = np.diff(self.counts.block_offsets)
        ties = float(self.counts.block_weights @ factorials[blocks])
        return ties - self.counts.n_rankings * float(factorials[self.counts.n_items])
