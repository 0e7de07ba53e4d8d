"""Exact consensus for any costs: dynamic programming over sets of items.

Of few items all sets of one size are treated at once, by array operations: they are numbered in the
combinatorial number system, so that a layer is a table with one row per set and one column per
choice of its last tier. Up to some hundred thousand cells that takes milliseconds, where compiling
`tierwise._kernels.subsets` takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._kernels.subsets import find_optima, least_costs
from tierwise.consensus.problem import MAX_ALTERNATIVES, Consensus
from tierwise.errors import TooLargeError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.consensus.problem import Problem
    from tierwise.tiers import Sizes

    _Integers = npt.NDArray[np.int64]
    _Floats = npt.NDArray[np.float64]

# Entering a set takes as long as following this many transitions out of it.
_TRANSITIONS_PER_SET = 25
_LARGEST_EXACT_COUNT = 2.0**53
_LARGEST_MEMORY = 2 * 1024**3
# Up to so many items, and ways to take a last tier away over all sets, the tables are small.
_MOST_ITEMS_IN_TABLES = 20
_MOST_TRANSITIONS_IN_TABLES = 60_000


@dataclass(frozen=True)
class SubsetWork:
    """What the recursion over sets takes for given sizes.

    Attributes
    ----------
    sets
        Number of sets that are visited.
    transitions
        Number of ways, over all sets, to take away the last tier.
    memory
        Bytes held at the same time.
    """

    sets: int
    transitions: int
    memory: int

    @property
    def steps(self) -> int:
        """A measure of the time: about 3e8 of these are done in a second."""
        return self.transitions + _TRANSITIONS_PER_SET * self.sets


def subset_work(sizes: Sizes) -> SubsetWork:
    """Say what the recursion would take, without allocating anything.

    Examples
    --------
    >>> subset_work((1, 1, 1, 2, 3, 2, 15)).transitions
    211469985
    """
    n_items = sum(sizes)
    layers = [comb(n_items, size) for size in (0, *accumulate(sizes))]
    transitions = sum(
        comb(n_items, size) * comb(size, tier)
        for size, tier in zip(accumulate(sizes), sizes, strict=True)
    )
    # The least cost of every set, and the number of ways through the sets of two layers.
    return SubsetWork(sum(layers), transitions, 8 * (sum(layers) + 2 * max(layers)))


def fits(sizes: Sizes, max_steps: float) -> bool:
    """Whether the recursion stays within a number of steps and within memory."""
    work = subset_work(sizes)
    return work.steps <= max_steps and work.memory <= _LARGEST_MEMORY


def is_small(problem: Problem) -> bool:
    """Whether arrays are as quick as compiled code."""
    return (
        problem.n_items <= _MOST_ITEMS_IN_TABLES
        and subset_work(problem.sizes).transitions <= _MOST_TRANSITIONS_IN_TABLES
    )


def best_labels(problem: Problem) -> tuple[_Integers, float]:
    """One optimum and its total, for searches over many size vectors."""
    total, _, labels = _find_optima(problem)
    return labels[0], total


def count_and_list(problem: Problem) -> tuple[int | None, list[_Integers]]:
    """How many optima there are, unless beyond counting, and the labels of some of them."""
    _, n_optima, labels = _find_optima(problem)
    return int(n_optima) if n_optima <= _LARGEST_EXACT_COUNT else None, list(labels)


def _find_optima(problem: Problem) -> tuple[float, float, _Integers]:
    """Least total, the number of optima, and the labels of some of them."""
    if is_small(problem):
        return find_optima_by_tables(problem, MAX_ALTERNATIVES + 1)
    return find_optima_compiled(problem)


def find_optima_compiled(problem: Problem) -> tuple[float, float, _Integers]:
    """Least total, number of optima, and some of them, for any number of items: compiled."""
    arguments = (problem.linear, problem.pairs_transposed, problem.sizes_array)
    values = least_costs(*arguments)
    n_optima, labels = find_optima(*arguments, values, problem.tolerance, MAX_ALTERNATIVES + 1)
    return float(values[-1]), n_optima, labels


def solve_by_subsets(problem: Problem, *, max_steps: float) -> Consensus:
    """Find the best tiers, count how many are as good, and list some of them.

    Parameters
    ----------
    problem
        Costs and sizes.
    max_steps
        Refuse beyond this much work; see `subset_work`.
    """
    if not fits(problem.sizes, max_steps):
        work = subset_work(problem.sizes)
        raise TooLargeError(
            f"the subset recursion for sizes {problem.sizes} takes {work.steps:.2g} steps and "
            f"{work.memory / 1024**3:.2g} GiB, more than the {max_steps:.2g} steps and "
            f"{_LARGEST_MEMORY / 1024**3:.2g} GiB allowed: "
            'use method="milp" or method="annealing", or raise max_steps'
        )
    n_optima, (labels, *alternatives) = count_and_list(problem)
    total = problem.total(labels)
    return Consensus(
        labels=labels,
        total=total,
        method="subsets",
        optimal=True,
        bound=total,
        alternatives=tuple(alternatives),
        n_optima=n_optima,
    )


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


def find_optima_by_tables(problem: Problem, limit: int) -> tuple[float, float, _Integers]:
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
