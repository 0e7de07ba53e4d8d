"""Exact consensus for additive distances: an assignment problem."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tierwise.consensus.problem import MAX_ALTERNATIVES, Consensus
from tierwise.consensus.subsets import count_and_list, fits
from tierwise.errors import InputError, use

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.consensus.problem import Problem

# Counting all optima by the subset recursion is worth about a hundredth of a second.
_COUNTING_STEPS = 3e6


def solve_by_assignment(problem: Problem) -> Consensus:
    """Assign items to places, each place costing what its tier costs.

    Whether other tiers are as good is always decided; how many are is counted for few items only.

    Parameters
    ----------
    problem
        Costs without a pairs part, and sizes.
    """
    if problem.pairs.size:
        raise InputError(
            "the assignment method needs an additive distance, such as hamming",
            [use("for Kendall", method=one) for one in ("subsets", "milp", "annealing")],
        )
    n_optima: int | None
    if fits(problem.sizes, _COUNTING_STEPS):
        n_optima, (labels, *alternatives) = count_and_list(problem)
    else:
        labels = assigned_labels(problem)
        alternatives = _equally_good(problem, labels)
        n_optima = None if alternatives else 1
    total = problem.total(labels)
    return Consensus(
        labels=labels,
        total=total,
        method="assignment",
        optimal=True,
        bound=total,
        alternatives=tuple(alternatives[:MAX_ALTERNATIVES]),
        n_optima=n_optima,
    )


def assigned_labels(problem: Problem) -> npt.NDArray[np.int64]:
    """Return the best labels for an additive distance (Hungarian method)."""
    from scipy.optimize import linear_sum_assignment

    tier_of_place = problem.sorted_labels
    _, places = linear_sum_assignment(problem.linear[:, tier_of_place])
    labels: npt.NDArray[np.int64] = tier_of_place[places]
    return labels


def _equally_good(problem: Problem, labels: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Other optimal labels, one for each item that can change tiers at no cost, up to a limit.

    Moving an item is made up for by a chain of moves back to the tier it left. In the graph of
    tiers, whose arcs carry the cheapest move from tier to tier, an optimum has no cycle of negative
    length, and another optimum is a cycle of length zero: one among the arcs that are tight for
    the potentials given by the shortest paths.
    """
    from scipy.sparse.csgraph import connected_components

    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(problem.sizes)[:-1]])
    own = problem.linear[np.arange(len(labels)), labels]
    moves = problem.linear - own[:, None]
    lengths = np.minimum.reduceat(moves[order], starts, axis=0)
    potentials = _potentials(lengths, problem.tolerance)
    slack = problem.tolerance * len(problem.sizes)
    tight = lengths + potentials[:, None] - potentials[None, :] <= slack
    np.fill_diagonal(tight, False)  # noqa: FBT003
    free = moves + potentials[labels][:, None] - potentials[None, :] <= slack
    free[np.arange(len(labels)), labels] = False

    # A move can be made up for where a tight way leads back.
    _, component = connected_components(tight, connection="strong")
    free &= component[labels][:, None] == component[None, :]
    found: list[npt.NDArray[np.int64]] = []
    for item, target in np.argwhere(free):
        path = _tight_path(tight, int(target), int(labels[item]))
        other = labels.copy()
        other[item] = target
        for source, destination in pairwise(path):
            movers = np.flatnonzero((labels == source) & free[:, destination])
            other[movers[0]] = destination
        is_new = not any(np.array_equal(other, known) for known in found)
        if is_new and problem.total(other) <= problem.total(labels) + problem.tolerance:
            found.append(other)
        if len(found) == MAX_ALTERNATIVES:
            break
    return found


def _potentials(lengths: npt.NDArray[np.float64], tolerance: float) -> npt.NDArray[np.float64]:
    """Length of the shortest path to each tier from anywhere (Bellman and Ford)."""
    potentials = np.zeros(len(lengths))
    for _ in range(len(lengths)):
        shorter = (potentials[:, None] + lengths).min(axis=0)
        if (shorter >= potentials - tolerance).all():
            break
        potentials = np.minimum(potentials, shorter)
    return potentials


def _tight_path(tight: npt.NDArray[np.bool_], start: int, end: int) -> list[int]:
    """Tiers on a way from start to end along tight arcs, with the fewest moves."""
    arrived_from = {start: start}
    queue = [start]
    for tier in queue:
        if end in arrived_from:
            break
        for neighbour in np.flatnonzero(tight[tier]).tolist():
            if neighbour not in arrived_from:
                arrived_from[neighbour] = tier
                queue.append(neighbour)
    path = [end]
    while path[-1] != start:
        path.append(arrived_from[path[-1]])
    return path[::-1]
