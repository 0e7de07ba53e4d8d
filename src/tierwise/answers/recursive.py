"""Answers that list the best items, any distance: summed over by the recursion over items left.

What is not known depends on the tiers only through an opening: how many items of each tier are
left, how many are listed in the block where the list ends, and how many places that block has free.
Answers with the same opening share one sum.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.recursion import lay_out_states
from tierwise._kernels.top import (
    OF_PAIRS,
    OF_PLACES,
    Weighing,
    add_expected_pairs,
    add_expected_places,
    expect_openings,
    expect_states,
    states_of_roles,
    value_openings,
    value_states,
)
from tierwise.answers.base import Floats, Labels, log_factorials
from tierwise.answers.top import TopAnswers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._kernels.recursion import States
    from tierwise._util.types import Places
    from tierwise.distances.base import Distance
    from tierwise.tiers.sizes import Sizes

# Most numbers that the expectations of all states may take: 160 MB.
MOST_EXPECTATIONS = 20_000_000
# Most additions that the expectations may take: about a second.
MOST_STEPS = 300_000_000


def is_affordable(sizes: Sizes) -> bool:
    """Whether the recursion from all states stays within time and memory."""
    n_states, n_tiers = prod(size + 1 for size in sizes), len(sizes)
    if n_states * n_tiers**2 > MOST_EXPECTATIONS:
        return False
    return count_steps(sizes) * n_tiers**2 <= MOST_STEPS


def count_steps(sizes: Sizes) -> int:
    """Count the ways to fill one block from one state, over all blocks and states.

    Examples
    --------
    >>> count_steps((1, 1))
    4
    """
    total, before = 0, sum(sizes)
    for taken in sizes:
        # Polynomials in two variables: items of the labels so far that are taken, and left after.
        ways = np.zeros((taken + 1, before - taken + 1))
        ways[0, 0] = 1.0
        for size in sizes:
            longer = np.zeros_like(ways)
            for now in range(min(size, taken) + 1):
                for later in range(min(size - now, before - taken) + 1):
                    longer[now:, later:] += ways[: taken + 1 - now, : before - taken + 1 - later]
            ways = longer
        total += int(ways[-1, -1])
        before -= taken
    return total


class RecursiveTopAnswers(TopAnswers):
    """Answers that list the best items, for any distance and sizes that are not too many."""

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        super().__init__(first, weights, sizes, distance)
        self._latest: tuple[Weighing, Floats] | None = None

    @cached_property
    def _states(self) -> States:
        n_states = prod(size + 1 for size in self.sizes)
        return lay_out_states(np.array(self.sizes, dtype=np.int64), n_states)

    def _values(self, theta: float) -> tuple[Weighing, Floats]:
        """Return what the recursion needs, and the values of its states; the latest are kept."""
        if self._latest is None or self._latest[0].theta != theta * self.rule.unit:
            weighing = self._weighing(theta)
            self._latest = (weighing, value_states(weighing))
        return self._latest

    def _weighing(self, theta: float) -> Weighing:
        logs = log_factorials(max(self.sizes))
        numbers = np.arange(len(logs))
        log_binomials = logs[:, None] - logs[None, :] - logs[np.abs(numbers[:, None] - numbers)]
        rule = self.rule
        return Weighing(
            self._states, rule.misplaced, rule.placing, log_binomials, theta * rule.unit
        )

    def _openings(self, labels: Labels) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the distinct openings for given tiers, and the one of each row of roles."""
        left, listed = states_of_roles(self._roles, labels, self._states.strides)
        keys = left * len(self._states.order) + listed
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        openings = np.column_stack([left, listed, self._block_and_free])[first]
        return np.ascontiguousarray(openings), which

    def _open_values(self, labels: Labels, theta: float) -> Floats:
        """Log weight, mean and mean square of the distance, of what each row of roles leaves."""
        openings, which = self._openings(labels)
        values = value_openings(*self._values(theta), openings)
        return (values * [1.0, self.rule.unit, self.rule.unit**2])[which]

    def _add_open(
        self, labels: Labels, theta: float, membership: Floats, precedence: Floats
    ) -> None:
        """Add the expected counts of what the answers leave open."""
        openings, which = self._openings(labels)
        weighing, values = self._values(theta)
        totals = value_openings(weighing, values, openings)[:, 0].copy()
        rows = (self._roles, self._role_weights, labels, which)

        def expectations(of: int) -> tuple[Floats, Floats]:
            tables = expect_states(weighing, values, of)
            return expect_openings(weighing, values, tables, openings, totals, of)

        if not self.rule.additive:
            pairs, taken = expectations(OF_PAIRS)
            add_expected_pairs(*rows, pairs, taken, precedence)
        if self.rule.additive or self.rule.placing.any():
            places, _ = expectations(OF_PLACES)
            add_expected_places(*rows, places, membership)
