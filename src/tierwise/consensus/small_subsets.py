"""Dynamic programming over sets of few items by array operations, which need no compiling.

It is the recursion of `tierwise._kernels.subsets`, all sets of a layer at once: sets of one size
are numbered in the combinatorial number system, so that a layer is a table with one row per set and
one column per choice of its last tier. Up to some hundred thousand cells that takes milliseconds,
where compiling takes seconds.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.consensus.problem import Problem

    _Integers = npt.NDArray[np.int64]
    _Floats = npt.NDArray[np.float64]

# Up to so many items, and ways to take a last tier away over all sets, the tables are small.
MOST_ITEMS = 20
MOST_TRANSITIONS = 60_000


class Choices(NamedTuple):
    """The ways to take a last tier away from each set of one size."""

    members: _Integers
    """``[set, position]``: the items of each set, ascending."""
    cells: _Integers
    """``[set, position]``: where the members stand in a flat table of sets and items."""
    is_member: _Floats
    """``[set, item]``: 1 for the items of the set, else 0."""
    is_last: _Floats
    """``[position, choice]``: 1 if the item at this position is in the last tier, else 0."""
    before: _Integers
    """``[set, choice]``: the number of the set that remains, among those of its size."""


@cache
def _sets(n_items: int, size: int) -> _Integers:
    """All sets of a size, one in each row, in the order of the combinatorial number system."""
    listed = sorted(combinations(range(n_items), size), key=lambda members: members[::-1])
    return np.array(listed, dtype=np.int64).reshape(len(listed), size)


@cache
def choices_of_last_tier(n_items: int, size: int, n_last: int) -> Choices:
    """Return the ways to take a last tier away from each set of a size."""
    members = _sets(n_items, size)
    n_remaining = size - n_last
    # In the order of the compiled recursion, so that both list the same optima first.
    last_is_chosen = n_last < n_remaining
    positions = _sets(size, min(n_last, n_remaining))
    is_chosen = np.zeros((positions.shape[0], size), dtype=np.bool_)
    np.put_along_axis(is_chosen, positions, values=True, axis=1)
    is_last = is_chosen if last_is_chosen else ~is_chosen
    kept = np.nonzero(~is_last)[1].reshape(positions.shape[0], n_remaining)
    ranks = np.array(
        [[comb(item, place + 1) for place in range(n_remaining)] for item in range(n_items)]
    ).reshape(n_items, n_remaining)
    before = np.zeros((members.shape[0], positions.shape[0]), dtype=np.int64)
    for place in range(n_remaining):
        before += ranks[members[:, kept[:, place]], place]
    is_member = np.zeros((members.shape[0], n_items))
    np.put_along_axis(is_member, members, 1.0, axis=1)
    cells = members + n_items * np.arange(members.shape[0])[:, None]
    return Choices(members, cells, is_member, np.ascontiguousarray(is_last.T, dtype=float), before)


def find_optima(problem: Problem, limit: int) -> tuple[float, float, _Integers]:
    """Return the least total, the number of optima, and the labels of up to ``limit``, by row.

    The number is exact up to ``2 ** 53``.
    """
    layers: list[tuple[Choices, _Floats]] = []
    least = np.zeros(1)
    size = 0
    for tier, n_last in enumerate(problem.sizes):
        size += n_last
        choices = choices_of_last_tier(problem.n_items, size, n_last)
        totals = least[choices.before] + _costs(problem, tier, choices)
        least = totals.min(axis=1)
        layers.append((choices, totals))
    n_optima, labels = _trace(problem, layers, limit)
    return float(least[0]), n_optima, labels


def _costs(problem: Problem, tier: int, choices: Choices) -> _Floats:
    """``[set, choice]``: what the last tier of each choice costs."""
    weights = np.zeros(choices.members.shape)
    if problem.pairs.size:
        weights = (choices.is_member @ problem.pairs_transposed).take(choices.cells)
    if problem.linear.size:
        weights = weights + problem.linear[choices.members, tier]
    costs: _Floats = weights @ choices.is_last
    return costs


def _trace(
    problem: Problem, layers: list[tuple[Choices, _Floats]], limit: int
) -> tuple[float, _Integers]:
    """Go back from the set of all items: the number of optima, and the labels of some, by row."""
    ways = {0: 1.0}
    traced = {0: [np.zeros(problem.n_items, dtype=np.int64)]}
    for tier in range(len(layers) - 1, -1, -1):
        choices, totals = layers[tier]
        ways_before: dict[int, float] = {}
        traced_before: dict[int, list[_Integers]] = {}
        n_listed = 0
        for one in sorted(ways):
            row = totals[one]
            (best,) = np.nonzero(row <= row.min() + problem.tolerance)
            for choice, before in zip(
                best.tolist(), choices.before[one, best].tolist(), strict=True
            ):
                ways_before[before] = ways_before.get(before, 0.0) + ways[one]
                # Every set on the way has a best choice, so the limit leaves no loose ends.
                for labels in traced.get(one, [])[: limit - n_listed]:
                    longer = labels.copy()
                    longer[choices.members[one, choices.is_last[:, choice] == 1.0]] = tier
                    traced_before.setdefault(before, []).append(longer)
                    n_listed += 1
        ways, traced = ways_before, traced_before
    return ways[0], np.array(traced[0])
