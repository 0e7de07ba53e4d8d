"""The best tiers for given sizes: one function, several methods, and what is proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import descend
from tierwise._util.checks import check_choice, check_number
from tierwise.consensus.annealing import Annealing, solve_by_annealing
from tierwise.consensus.assignment import assigned_labels, solve_by_assignment
from tierwise.consensus.problem import Consensus, Problem, make_problem
from tierwise.consensus.subsets import best_labels, fits, solve_by_subsets

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.checks import RandomSource
    from tierwise.distances import Costs
    from tierwise.tiers import Sizes

METHODS = ("auto", "assignment", "subsets", "milp", "annealing")

# Beyond this many items a round of the linear program takes too long to be tried unasked.
_MOST_ITEMS_FOR_PROOF = 80
# Work of the subset recursion up to which the closest tiers are found again in every round of an
# algorithm: some hundredths of a second. Beyond, items trade tiers as long as that helps.
MOST_STEPS_OF_A_ROUND = 10_000_000
# Tiers whose total is smaller by a smaller share are not closer.
_LEAST_GAIN = 1e-11


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
        no proof). "auto" uses an exact method if feasible.
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
    >>> from tierwise.distances import Costs
    >>> prefers = np.array([[0.0, 3.0, 4.0], [1.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    >>> found = find_consensus(Costs(linear=np.empty((0, 0)), pairs=prefers), (1, 2))
    >>> found.labels, found.total, found.method, found.n_optima
    (array([0, 1, 1]), 5.0, 'subsets', 1)
    """
    check_choice("method", method, METHODS)
    check_number("time_limit", time_limit, above=0.0)
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


def closer_labels(
    problem: Problem,
    labels: npt.NDArray[np.int64] | None = None,
    *,
    most_steps: float = MOST_STEPS_OF_A_ROUND,
) -> npt.NDArray[np.int64]:
    """Return the closest tiers that are cheap to find, or the given ones if none closer are.

    Nothing is proved about them. This is the step that EM, SAEM and mixtures take in every round.

    Parameters
    ----------
    problem
        Costs and sizes.
    labels
        Tiers at hand. They are returned, the same object, unless closer ones are found. Without
        any, descent begins with the items in order of their wins.
    most_steps
        Work that the recursion over sets of items may take; see `subset_work`.

    Examples
    --------
    >>> prefers = np.array([[0.0, 3.0, 4.0], [1.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    >>> from tierwise.distances import Costs
    >>> problem = make_problem(Costs(linear=np.empty((0, 0)), pairs=prefers), (1, 2))
    >>> closer_labels(problem, np.array([1, 1, 0]))
    array([0, 1, 1])
    """
    if len(problem.sizes) == 1:
        return problem.sorted_labels if labels is None else labels
    if not problem.pairs.size:
        found = assigned_labels(problem)
    elif fits(problem.sizes, most_steps):
        found, _ = best_labels(problem)
    else:
        found = _descended(problem, labels)
    if labels is None:
        return found
    before = problem.total(labels)
    least_gain = max(problem.tolerance, _LEAST_GAIN * abs(before))
    return found if problem.total(found) < before - least_gain else labels


def _descended(problem: Problem, labels: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    """Labels that no swap of two improves, near the given ones or near the order of wins."""
    if labels is None:
        wins = problem.pairs.sum(axis=1) - problem.pairs_transposed.sum(axis=1)
        closer = np.empty(problem.n_items, dtype=np.int64)
        closer[np.argsort(-wins, kind="stable")] = problem.sorted_labels
    else:
        closer = labels.copy()
    descend(closer, problem.costs, len(problem.sizes), problem.tolerance)
    return closer
