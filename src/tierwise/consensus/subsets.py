"""Exact consensus for any costs: dynamic programming over sets of items."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import comb
from typing import TYPE_CHECKING

from tierwise._kernels.subsets import find_optima, least_costs
from tierwise.consensus.problem import MAX_ALTERNATIVES, Consensus
from tierwise.errors import TooLargeError, use

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tierwise.consensus.problem import Problem
    from tierwise.tiers import Sizes

    _Integers = npt.NDArray[np.int64]

# Entering a set takes as long as following this many transitions out of it.
_TRANSITIONS_PER_SET = 25
_LARGEST_EXACT_COUNT = 2.0**53
_LARGEST_MEMORY = 2 * 1024**3


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
            f"{_LARGEST_MEMORY / 1024**3:.2g} GiB allowed",
            [use(method="milp"), use(method="annealing"), use("to allow more", max_steps=...)],
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
