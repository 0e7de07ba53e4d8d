"""The best tiers for given sizes: one function, several methods, and what is proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tierwise.consensus.annealing import Annealing, solve_by_annealing
from tierwise.consensus.assignment import solve_by_assignment
from tierwise.consensus.problem import Problem, make_problem
from tierwise.consensus.result import Consensus
from tierwise.consensus.subsets import best_labels, fits, solve_by_subsets, subset_work
from tierwise.errors import InputError

if TYPE_CHECKING:
    from tierwise._util.random import RandomSource
    from tierwise.distances.base import Costs
    from tierwise.tiers.sizes import Sizes

__all__ = [
    "METHODS",
    "Annealing",
    "Consensus",
    "Problem",
    "best_labels",
    "find_consensus",
    "make_problem",
    "subset_work",
]

METHODS = ("auto", "assignment", "subsets", "milp", "annealing")

# Beyond this many items a round of the linear program takes too long to be tried unasked.
_MOST_ITEMS_FOR_PROOF = 80


def find_consensus(
    costs: Costs,
    sizes: Sizes,
    *,
    method: str = "auto",
    rng: RandomSource = None,
    time_limit: float = 60.0,
    max_steps: float = 2e9,
    annealing: Annealing | None = None,
) -> Consensus:
    """Find the tiers of given sizes that are closest to the data.

    Parameters
    ----------
    costs
        What the data make of each item in each tier, and of each pair of items.
    sizes
        Number of items in each tier, best tier first.
    method
        "assignment" (exact, additive distances only), "subsets" (exact, to about 25 items, counts
        all optima), "milp" (a proof or a bound, to 200 items) or "annealing" (any number of items,
        no proof). "auto" takes an exact method where that is affordable.
    rng
        Seed or generator, for annealing.
    time_limit
        Seconds that "milp" may take.
    max_steps
        Work that "subsets" may take, at about 3e8 steps a second; see `subset_work`.
    annealing
        How to anneal, for "annealing" and for the candidate that "milp" starts from.

    Returns
    -------
    Consensus
        The tiers, which method found them, and whether they are proved to be the best.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.distances.base import Costs
    >>> prefers = np.array([[0.0, 3.0, 4.0], [1.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    >>> found = find_consensus(Costs(linear=np.empty((0, 0)), pairs=prefers), (1, 2))
    >>> found.labels, found.total, found.method, found.n_optima
    (array([0, 1, 1]), 5.0, 'subsets', 1)
    """
    if method not in METHODS:
        known = ", ".join(f'"{name}"' for name in METHODS)
        raise InputError(f"unknown consensus method {method!r}: choose one of {known}")
    if not time_limit > 0.0:
        raise InputError(f"time_limit must be a positive number of seconds; got {time_limit}")
    problem = make_problem(costs, sizes)
    annealing = annealing or Annealing()
    if method == "auto":
        method = _choose(problem, max_steps)
    if method == "assignment":
        return solve_by_assignment(problem)
    if method == "subsets":
        return solve_by_subsets(problem, max_steps=max_steps)
    if method == "annealing":
        return solve_by_annealing(problem, annealing, rng=rng)
    from tierwise.consensus.milp import solve_by_milp

    return solve_by_milp(problem, annealing, time_limit=time_limit, rng=rng)


def _choose(problem: Problem, max_steps: float) -> str:
    """Name the most exact method that is affordable."""
    if not problem.pairs.size:
        return "assignment"
    if fits(problem.sizes, max_steps):
        return "subsets"
    return "milp" if problem.n_items <= _MOST_ITEMS_FOR_PROOF else "annealing"
