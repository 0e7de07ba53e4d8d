"""Cost model of a search: what a size vector costs to evaluate, told from its sizes alone."""

from typing import Literal, TypeAlias

from tierwise.answers.likelihood import AnswerSource
from tierwise.consensus.subsets import subset_work
from tierwise.distances.base import Distance
from tierwise.partition import recursion
from tierwise.partition.choose import choose_method
from tierwise.tiers.sizes import Sizes

Depth: TypeAlias = Literal["agreement", "likelihood", "posterior", "evidence"]
"""How much is computed for a size vector; each includes what comes before it."""

DEPTHS: tuple[Depth, ...] = ("agreement", "likelihood", "posterior", "evidence")

# In a search many size vectors are fitted: beyond this much work each, annealing takes over.
_MOST_SUBSET_STEPS = 1e8

# And beyond so many steps a theta, some hundredths of a second, partition functions are estimated.
SEARCH_BUDGET = 1e7

# Seconds, as measured; only their proportions and order of magnitude matter.
_EVERY_EVALUATION = 1e-3
_SUBSET_STEP = 3e-9
_ANNEALING = 0.1
_RECURSION_CELL = 7e-9
_RECURSION_STEP = 6e-9
_THETAS_TRIED = 10
_ESTIMATE = 3.0
_EVIDENCE_TRANSITION = 1.5e-7
_EVALUATIONS_OF_A_FIT = 250
_DRAWN_FIT = 3.0
_DRAWN_PLACE = 1e-4


def consensus_method(sizes: Sizes, distance: Distance) -> str:
    """Name the method that finds the best tiers of these sizes in a search.

    Examples
    --------
    >>> from tierwise.distances.named import get_distance
    >>> consensus_method((2, 2), get_distance("kendall"))
    'subsets'
    >>> consensus_method((10,) * 10, get_distance("kendall"))
    'annealing'
    """
    if distance.rule(sizes).additive:
        return "assignment"
    return "subsets" if subset_work(sizes).steps <= _MOST_SUBSET_STEPS else "annealing"


def seconds_of(sizes: Sizes, distance: Distance, depth: Depth) -> float:
    """Estimate how long the evaluation of a size vector takes, for answers that leave nothing open.

    Examples
    --------
    >>> from tierwise.distances.named import get_distance
    >>> seconds_of((2, 2), get_distance("kendall"), "likelihood") < 0.01
    True
    """
    work = subset_work(sizes)
    seconds = _EVERY_EVALUATION
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


def seconds_of_answers(source: AnswerSource, sizes: Sizes, depth: Depth) -> float:
    """Estimate how long the evaluation of a size vector takes, for answers that leave much open."""
    if source.votes is not None:
        return _DRAWN_FIT
    likelihood = source.at(sizes)
    seconds = _EVALUATIONS_OF_A_FIT * likelihood.seconds
    if likelihood.drawn is not None:
        seconds += _DRAWN_FIT + likelihood.drawn.places.size * _DRAWN_PLACE
    return seconds if depth != "evidence" else 3.0 * seconds


def _seconds_of_theta(sizes: Sizes, distance: Distance) -> float:
    method = choose_method(sizes, distance, SEARCH_BUDGET)
    if method in {"anchored", "path"}:
        return _ESTIMATE
    if method != "recursion":
        return 0.0
    cells = recursion.n_states(sizes) * (distance.rule(sizes).largest(sizes) + 1)
    if cells <= recursion.WIDEST_TABLE:
        return cells * _RECURSION_CELL
    return _THETAS_TRIED * recursion.steps(sizes) * _RECURSION_STEP
