"""What a size vector costs to evaluate, told from its sizes alone."""

from typing import Literal, TypeAlias

from tierwise.consensus import subset_work
from tierwise.distances import Distance
from tierwise.partition import DEFAULT_BUDGET, choose_method, recursion
from tierwise.sizes import Sizes

Depth: TypeAlias = Literal["agreement", "likelihood", "evidence"]
"""How much is computed for a size vector; each includes what comes before it."""

DEPTHS: tuple[Depth, ...] = ("agreement", "likelihood", "evidence")

# In a search many size vectors are fitted: beyond this much work each, annealing takes over.
_MOST_SUBSET_STEPS = 1e8

# Seconds, as measured; only their proportions and order of magnitude matter.
_EVERY_EVALUATION = 1e-3
_SUBSET_STEP = 3e-9
_ANNEALING = 0.1
_RECURSION_CELL = 7e-9
_RECURSION_STEP = 6e-9
_THETAS_TRIED = 10
_PATH_SAMPLING = 1.0
_OPEN_ANSWER = 6e-8
_EVIDENCE_TRANSITION = 1.5e-7


def consensus_method(sizes: Sizes, distance: Distance) -> str:
    """Name the method that finds the best tiers of these sizes in a search.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> consensus_method((2, 2), get_distance("kendall"))
    'subsets'
    >>> consensus_method((10,) * 10, get_distance("kendall"))
    'annealing'
    """
    if distance.rule(sizes).additive:
        return "assignment"
    return "subsets" if subset_work(sizes).steps <= _MOST_SUBSET_STEPS else "annealing"


def seconds_of(sizes: Sizes, distance: Distance, depth: Depth, open_answers: int = 0) -> float:
    """Estimate how long the evaluation of a size vector takes.

    Answers that agree with several complete orderings have to be gone through again and again.
    """
    work = subset_work(sizes)
    seconds = _EVERY_EVALUATION + open_answers * sum(sizes) ** 2 * _OPEN_ANSWER
    if work.steps <= _MOST_SUBSET_STEPS:
        seconds += work.steps * _SUBSET_STEP
    else:
        seconds += _ANNEALING
    if depth == "agreement":
        return seconds
    seconds += _seconds_of_theta(sizes, distance)
    if depth == "evidence":
        seconds += work.transitions * _EVIDENCE_TRANSITION
    return seconds


def _seconds_of_theta(sizes: Sizes, distance: Distance) -> float:
    method = choose_method(sizes, distance, DEFAULT_BUDGET)
    if method == "path":
        return _PATH_SAMPLING
    if method != "recursion":
        return 0.0
    cells = recursion.n_states(sizes) * (distance.rule(sizes).largest(sizes) + 1)
    if cells <= recursion.WIDEST_TABLE:
        return cells * _RECURSION_CELL
    return _THETAS_TRIED * recursion.steps(sizes) * _RECURSION_STEP
