"""The best tiers of all sizes, and sums over all tiers, by dynamic programming over subsets.

The value of a set is that of the best way (or the log of the sum over all ways) to make it the last
tiers: choose its best tier S, what remains is R, and the line between S and R adds a number. All
subsets of all sets are visited, ``3^n`` of them. The inversions of a line are a sum over the items
of S of what they pay for the whole set, less what they pay for S itself.

For complete rankings the value of a line depends on the sizes of S and R and on the number of
inversions only: it is kept when first computed. Where there are very many possible numbers, they
are kept at equidistant numbers, between which six of them are interpolated.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled_if_many, compiled_part, inlined
from tierwise._kernels.inversions_lines import LineObjective, line_value
from tierwise._kernels.theta import PriorTable

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# A term is left out of a sum where it is smaller than the largest by this logarithm.
_DEPTH = 40.0
# So near to an end, or to where theta becomes 0, lines are not interpolated.
_NODES_AT_ENDS = 14
# Factors of Lagrange's polynomials through six equidistant points.
_LAGRANGE = (-1.0 / 120.0, 1.0 / 24.0, -1.0 / 12.0, 1.0 / 12.0, -1.0 / 24.0, 1.0 / 120.0)


class SubsetProblem(NamedTuple):
    """All that the recursion needs."""

    n_items: int
    above: _Floats
    objective: LineObjective
    inner: _Floats
    """``[set]``: how often members are ranked above members, over all pairs."""
    tier_values: _Floats
    """``[set]``: what the set adds as a tier; at a fixed theta, without what members pay each other
    of what they pay for the whole set."""
    sizes: _Integers
    """``[set]``: number of members."""
    curves: _Floats
    """``[s, r]`` for complete rankings, ``[set]`` otherwise: curves that make up a line's."""
    memo: _Floats
    """Values of lines at equidistant numbers of inversions, 0 where not yet known."""
    memo_offsets: _Integers
    memo_steps: _Floats


def _steps(problem: SubsetProblem, n_choices: float, times: float) -> float:
    """Return how many steps Python takes for so many choices; at a fixed theta, so many times.

    Otherwise each choice takes an integral, and for weak orders a curve as well.
    """
    if problem.objective.has_given_theta:
        return times * n_choices
    return (400.0 if problem.curves.shape[0] > 1 else 1000.0) * n_choices


class Grading(NamedTuple):
    """Kinds of tiers that a sum is divided among, such as tiers of the same number."""

    numbers: _Integers
    """``[m]``: how many kinds of tiers ``m`` items can make; one, if there are none."""
    shifts: _Integers
    """``[m]``: by how much a further tier raises the number of the kind of tiers of ``m`` items."""


class _Choices(NamedTuple):
    """Room for all choices of a best tier from a set.

    An entry is the choice, and what remains is found as far from the last entry.
    """

    tiers: _Integers
    terms: _Floats
    """What each choice adds to the value of what remains."""
    curve: _Floats


@compiled_part
def _make_room(problem: SubsetProblem) -> _Choices:
    """Room for the choices from any set."""
    n_sets = 1 << problem.n_items
    curve = np.zeros(problem.objective.grid.factorials.shape[1:])
    return _Choices(np.zeros(n_sets, np.int64), np.zeros(n_sets), curve)


@compiled_part
def line_of_inversions(problem: SubsetProblem, size: int, n_worse: int, total: float) -> float:
    """Value of a line for complete rankings."""
    step, offset = problem.memo_steps[size, n_worse], problem.memo_offsets[size, n_worse]
    objective, curve = problem.objective, problem.curves[size, n_worse]
    place = total / step
    cell = int(place)
    first, n_nodes = cell, 1
    if step != 1.0 or place != cell:
        middle = objective.n_rankings * size * n_worse / (2.0 * step)
        near_kink = objective.precision is not None and abs(place - middle) < 5.0
        if cell < _NODES_AT_ENDS or cell > 2.0 * middle - 5.0 or near_kink:
            return line_value(objective, curve, total)
        first, n_nodes = cell - 2, 6
    value = 0.0
    for node in range(n_nodes):
        kept = problem.memo[offset + first + node]
        if kept == 0.0:
            kept = line_value(objective, curve, (first + node) * step)
            problem.memo[offset + first + node] = kept
        weight = 1.0
        if n_nodes > 1:
            weight = _LAGRANGE[node]
            for other in range(6):
                if other != node:
                    weight *= place - cell + 2.0 - other
        value += weight * kept
    return value


@inlined
def _list_choices(problem: SubsetProblem, whole: int, choices: _Choices) -> int:
    """Write all choices from a set, and what they pay to all of it; return their number."""
    tiers, terms = choices.tiers, choices.terms
    tiers[0], terms[0] = 0, 0.0
    count = 1
    for item in range(problem.n_items):
        if not (whole >> item) & 1:
            continue
        paid = 0.0
        for other in range(problem.n_items):
            if (whole >> other) & 1:
                paid += problem.above[other, item]
        for place in range(count):
            tiers[count + place] = tiers[place] | (1 << item)
            terms[count + place] = terms[place] + paid
        count *= 2
    return count


@compiled_part
def _value_lines(
    problem: SubsetProblem,
    prior: PriorTable | None,
    precision: float | None,
    whole: int,
    count: int,
    choices: _Choices,
) -> None:
    """Turn what choices pay into what they add: the value of the tier, and of the line below it."""
    tiers, terms, curve = choices
    inner, tier_values = problem.inner, problem.tier_values
    # An argument that is None is known when this is compiled: the rest is then left out.
    if prior is None and precision is None:
        theta = problem.objective.grid.thetas[0]
        for place in range(1, count):
            terms[place] = tier_values[tiers[place]] - theta * terms[place]
        return
    complete = problem.curves.shape[0] > 1
    for place in range(1, count):
        chosen = tiers[place]
        value = tier_values[chosen]
        if place < count - 1:
            rest = whole ^ chosen
            total = max(terms[place] - inner[chosen], 0.0)
            if complete:
                size, n_worse = problem.sizes[chosen], problem.sizes[rest]
                value += line_of_inversions(problem, size, n_worse, total)
            else:
                curves = problem.curves[0]
                for node in range(curve.shape[0]):
                    for order in range(curve.shape[1]):
                        curve[node, order] = (
                            curves[whole, node, order]
                            - curves[chosen, node, order]
                            - curves[rest, node, order]
                        )
                value += line_value(problem.objective, curve, total)
        terms[place] = value


@compiled_part
def _choose_from(problem: SubsetProblem, whole: int, choices: _Choices) -> int:
    """Fill in all choices of a best tier from a set; return how many there are."""
    count = _list_choices(problem, whole, choices)
    _value_lines(
        problem, problem.objective.prior, problem.objective.precision, whole, count, choices
    )
    return count


@compiled_if_many(lambda problem: _steps(problem, 3**problem.n_items, 50.0))
def best_values(problem: SubsetProblem) -> tuple[_Floats, _Floats]:
    """Value of the best and of the second best way to make each set the last tiers."""
    n_sets = 1 << problem.n_items
    first = np.full(n_sets, -np.inf)
    second = np.full(n_sets, -np.inf)
    first[0] = 0.0
    choices = _make_room(problem)
    tiers, terms = choices.tiers, choices.terms
    for whole in range(1, n_sets):
        count = _choose_from(problem, whole, choices)
        best, next_best = -np.inf, -np.inf
        for place in range(1, count):
            rest = tiers[count - 1 - place]
            value = terms[place] + first[rest]
            if value > next_best:
                if value > best:
                    # What was best is now at most second, as is the second way with this tier.
                    next_best = max(best, terms[place] + second[rest])
                    best = value
                else:
                    next_best = value
        first[whole], second[whole] = best, next_best
    return first, second


@compiled_if_many(lambda problem, whole: _steps(problem, 2 ** int(whole).bit_count(), 2.0))
def choices_from(problem: SubsetProblem, whole: int) -> tuple[_Integers, _Floats]:
    """All choices of a best tier from a set, and what each adds to the value of what remains.

    Read from the end, the choices are what remains.
    """
    choices = _make_room(problem)
    count = _choose_from(problem, whole, choices)
    choices.terms[0] = -np.inf
    return choices.tiers[:count], choices.terms[:count]


def _n_choices(problem: SubsetProblem, matters: npt.NDArray[np.bool_]) -> float:
    """Return how many choices there are from the sets that matter."""
    return float((2.0 ** problem.sizes[matters]).sum())


@compiled_if_many(
    lambda problem, grading, matters: _steps(problem, _n_choices(problem, matters), 3.0)
)
def sum_values(
    problem: SubsetProblem, grading: Grading, matters: npt.NDArray[np.bool_]
) -> tuple[_Floats, _Floats]:
    """Log of the sum over all ways to make each set the last tiers; of all items, shares by kind.

    Parts of the sum of a set are kept for each kind of tiers. Sets that do not matter are taken to
    be impossible.
    """
    n_sets = 1 << problem.n_items
    starts = np.zeros(n_sets + 1, np.int64)
    for code in range(n_sets):
        starts[code + 1] = starts[code] + grading.numbers[problem.sizes[code]]
    logs, shares = np.zeros(n_sets), np.zeros(starts[n_sets])
    shares[0] = 1.0
    choices = _make_room(problem)
    tiers, terms = choices.tiers, choices.terms
    for whole in range(1, n_sets):
        if not matters[whole]:
            logs[whole] = -np.inf
            continue
        count = _choose_from(problem, whole, choices)
        peak = -np.inf
        for place in range(1, count):
            terms[place] += logs[tiers[count - 1 - place]]
            peak = max(peak, terms[place])
        total = 0.0
        share = shares[starts[whole] : starts[whole + 1]]
        for place in range(1, count):
            depth = terms[place] - peak
            if depth > -_DEPTH:
                weight = np.exp(depth)
                total += weight
                rest = tiers[count - 1 - place]
                shift, start = grading.shifts[problem.sizes[rest]], starts[rest]
                for kind in range(starts[rest + 1] - start):
                    share[shift + kind] += weight * shares[start + kind]
        for kind in range(share.shape[0]):
            share[kind] /= total
        logs[whole] = peak + np.log(total)
    return logs, shares[starts[n_sets - 1] :].copy()
