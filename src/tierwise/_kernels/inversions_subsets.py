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

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.counting import count_up_to
from tierwise._kernels.inversions_lines import (
    FIXED,
    MAXIMISED,
    LineObjective,
    curve_of_sizes,
    line_value,
)

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
    """``[set]``: what the set adds as a tier."""
    sizes: _Integers
    """``[set]``: number of members."""
    curves: _Floats
    """``[s, r]`` for complete rankings, ``[set]`` otherwise: curves that make up a line's."""
    memo: _Floats
    """Values of lines at equidistant numbers of inversions, 0 where not yet known."""
    memo_offsets: _Integers
    memo_steps: _Floats


@compiled
def inner_counts(above: _Floats) -> _Floats:
    """How often members of each set are ranked above members, over all pairs."""
    n_items = above.shape[0]
    inner = np.zeros(1 << n_items)
    for item in range(n_items):
        bit = 1 << item
        for rest in range(bit):
            total = inner[rest]
            for other in range(item):
                if (rest >> other) & 1:
                    total += above[item, other] + above[other, item]
            inner[rest | bit] = total
    return inner


@compiled
def set_sizes(n_items: int) -> _Integers:
    """Count the members of each set."""
    sizes = np.zeros(1 << n_items, np.int64)
    for item in range(n_items):
        bit = 1 << item
        for rest in range(bit):
            sizes[rest | bit] = sizes[rest] + 1
    return sizes


@compiled
def meeting_weights(
    offsets: _Integers, members: _Integers, weights: _Floats, n_items: int, width: int
) -> _Floats:
    """``[set, k]``: weight of the tied blocks that meet the set in ``k`` items.

    Item by item, the bit that says whether the block holds the item becomes the bit that says
    whether the set does: ``n^2 2^n`` steps, whatever the number of blocks.
    """
    table = np.zeros((1 << n_items, width))
    for block in range(weights.shape[0]):
        code = 0
        for place in range(offsets[block], offsets[block + 1]):
            code |= 1 << members[place]
        table[code, 0] += weights[block]
    for item in range(n_items):
        bit = 1 << item
        for code in range(1 << n_items):
            if code & bit:
                continue
            for number in range(width - 1, -1, -1):
                without, held = table[code, number], table[code | bit, number]
                met = table[code | bit, number - 1] if number > 0 else 0.0
                table[code, number] = without + held
                table[code | bit, number] = without + met
    return table


@compiled_part
def _memo_at(problem: SubsetProblem, size: int, n_worse: int, place: int) -> float:
    """Value of a line at a kept number of inversions."""
    entry = problem.memo_offsets[size, n_worse] + place
    value = problem.memo[entry]
    if value == 0.0:
        total = place * problem.memo_steps[size, n_worse]
        value = line_value(problem.objective, problem.curves[size, n_worse], total)
        problem.memo[entry] = value
    return float(value)


@compiled_part
def line_of_inversions(problem: SubsetProblem, size: int, n_worse: int, total: float) -> float:
    """Value of a line for complete rankings."""
    step = problem.memo_steps[size, n_worse]
    place = total / step
    cell = int(place)
    if step == 1.0 and place == cell:
        return _memo_at(problem, size, n_worse, cell)
    middle = problem.objective.n_rankings * size * n_worse / (2.0 * step)
    last = 2.0 * middle
    near_kink = problem.objective.kind == MAXIMISED and abs(place - middle) < 5.0
    if cell < _NODES_AT_ENDS or cell > last - 5.0 or near_kink:
        return line_value(problem.objective, problem.curves[size, n_worse], total)
    part = place - cell
    value = 0.0
    for node in range(6):
        weight = _LAGRANGE[node]
        for other in range(6):
            if other != node:
                weight *= part + 2.0 - other
        value += weight * _memo_at(problem, size, n_worse, cell + node - 2)
    return value


@compiled
def fill_curves_of_sizes(objective: LineObjective, n_items: int) -> _Floats:
    """Curves of the lines of all sizes, for complete rankings."""
    n_nodes, n_orders = objective.grid.factorials.shape[1:]
    curves = np.zeros((n_items + 1, n_items + 1, n_nodes, n_orders))
    for size in range(1, n_items + 1):
        for n_worse in range(1, n_items + 1 - size):
            curve_of_sizes(objective, size, n_worse, curves[size, n_worse])
    return curves


@compiled
def fill_curves_of_sets(objective: LineObjective, sizes: _Integers, meeting: _Floats) -> _Floats:
    """Write what each set adds to the curves of lines: tied blocks less all rankings."""
    table = objective.grid.factorials
    n_nodes, n_orders = table.shape[1:]
    curves = np.zeros((1, sizes.shape[0], n_nodes, n_orders))
    for code in range(sizes.shape[0]):
        curve = curves[0, code]
        curve -= objective.n_rankings * table[sizes[code]]
        for number in range(2, min(meeting.shape[1], sizes[code] + 1)):
            if meeting[code, number] != 0.0:
                curve += meeting[code, number] * table[number]
    return curves


@inlined
def _list_choices(
    problem: SubsetProblem, whole: int, factor: float, subsets: _Integers, terms: _Floats
) -> int:
    """Write all choices from a set, and what they pay to all of it; return their number."""
    subsets[0], terms[0] = 0, 0.0
    count = 1
    for item in range(problem.n_items):
        if not (whole >> item) & 1:
            continue
        paid = 0.0
        for other in range(problem.n_items):
            if (whole >> other) & 1:
                paid += problem.above[other, item]
        paid *= factor
        for place in range(count):
            subsets[count + place] = subsets[place] | (1 << item)
            terms[count + place] = terms[place] + paid
        count *= 2
    return count


@compiled_part
def fill_terms(
    problem: SubsetProblem, whole: int, subsets: _Integers, terms: _Floats, curve: _Floats
) -> int:
    """For each choice of a best tier from a set: the tier and what it adds. Returns their number.

    Entry ``t`` of ``subsets`` is the choice, and the last entry less ``t`` what remains.
    """
    objective = problem.objective
    fixed = objective.kind == FIXED
    factor = objective.grid.thetas[0] if fixed else 1.0
    count = _list_choices(problem, whole, factor, subsets, terms)
    inner, tier_values = problem.inner, problem.tier_values
    if fixed:
        for place in range(1, count):
            chosen = subsets[place]
            terms[place] = tier_values[chosen] + factor * inner[chosen] - terms[place]
        return count
    complete = problem.curves.shape[0] > 1
    for place in range(1, count):
        chosen = subsets[place]
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
                value += line_value(objective, curve, total)
        terms[place] = value
    return count


@compiled
def best_values(problem: SubsetProblem) -> tuple[_Floats, _Floats]:
    """Value of the best and of the second best way to make each set the last tiers."""
    n_sets = 1 << problem.n_items
    first = np.full(n_sets, -np.inf)
    second = np.full(n_sets, -np.inf)
    first[0] = 0.0
    subsets = np.zeros(n_sets, np.int64)
    terms = np.zeros(n_sets)
    curve = np.zeros(problem.objective.grid.factorials.shape[1:])
    for whole in range(1, n_sets):
        count = fill_terms(problem, whole, subsets, terms, curve)
        best, next_best = -np.inf, -np.inf
        for place in range(1, count):
            rest = subsets[count - 1 - place]
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


@compiled
def choices_near_best(
    problem: SubsetProblem, values: _Floats, whole: int, tolerance: float
) -> _Integers:
    """Best tiers to choose from a set that lead to the best value, up to a tolerance."""
    n_sets = 1 << problem.n_items
    subsets = np.zeros(n_sets, np.int64)
    terms = np.zeros(n_sets)
    curve = np.zeros(problem.objective.grid.factorials.shape[1:])
    count = fill_terms(problem, whole, subsets, terms, curve)
    best = -np.inf
    for place in range(1, count):
        terms[place] += values[subsets[count - 1 - place]]
        best = max(best, terms[place])
    found = np.zeros(count, np.int64)
    n_found = 0
    for place in range(1, count):
        if terms[place] >= best - tolerance:
            found[n_found] = subsets[place]
            n_found += 1
    return found[:n_found]


@compiled
def sum_values(problem: SubsetProblem) -> tuple[_Floats, _Floats]:
    """Log of the sum over all ways to make each set the last tiers, and shares by their number."""
    n_sets = 1 << problem.n_items
    logs = np.zeros(n_sets)
    shares = np.zeros((n_sets, problem.n_items + 1))
    shares[0, 0] = 1.0
    subsets = np.zeros(n_sets, np.int64)
    terms = np.zeros(n_sets)
    curve = np.zeros(problem.objective.grid.factorials.shape[1:])
    for whole in range(1, n_sets):
        count = fill_terms(problem, whole, subsets, terms, curve)
        peak = -np.inf
        for place in range(1, count):
            terms[place] += logs[subsets[count - 1 - place]]
            peak = max(peak, terms[place])
        total = 0.0
        n_members = problem.sizes[whole]
        share = shares[whole]
        for place in range(1, count):
            depth = terms[place] - peak
            if depth > -_DEPTH:
                weight = np.exp(depth)
                total += weight
                rest = subsets[count - 1 - place]
                for number in range(n_members):
                    share[number + 1] += weight * shares[rest, number]
        share /= total
        logs[whole] = peak + np.log(total)
    return logs, shares


@compiled
def draw_tiers(
    problem: SubsetProblem, logs: _Floats, n_draws: int, rng: np.random.Generator
) -> _Integers:
    """Draw tiers exactly and independently, best tier first, by what the sums say.

    What remains once a tier is chosen comes earlier among the sets: one pass over the sets, last to
    first, looks at each only once, however many draws come to it.
    """
    n_sets = 1 << problem.n_items
    labels = np.zeros((n_draws, problem.n_items), np.int64)
    tiers = np.zeros(n_draws, np.int64)
    # The draws that have come to each set, as a chained list.
    first, following = np.full(n_sets, -1), np.full(n_draws, -1)
    for number in range(n_draws):
        following[number] = first[n_sets - 1]
        first[n_sets - 1] = number
    subsets = np.zeros(n_sets, np.int64)
    terms = np.zeros(n_sets)
    curve = np.zeros(problem.objective.grid.factorials.shape[1:])
    for whole in range(n_sets - 1, 0, -1):
        if first[whole] < 0:
            continue
        count = fill_terms(problem, whole, subsets, terms, curve)
        running = 0.0
        for place in range(1, count):
            running += np.exp(terms[place] + logs[subsets[count - 1 - place]] - logs[whole])
            terms[place] = running
        draw = first[whole]
        while draw >= 0:
            found = 1 + count_up_to(terms[1:count], rng.random() * running)
            chosen = subsets[min(found, count - 1)]
            for item in range(problem.n_items):
                if (chosen >> item) & 1:
                    labels[draw, item] = tiers[draw]
            tiers[draw] += 1
            later, rest = following[draw], whole ^ chosen
            following[draw] = first[rest]
            first[rest] = draw
            draw = later
    return labels


@compiled
def shares_of_sizes(problem: SubsetProblem, logs: _Floats) -> _Floats:
    """Share of each size vector in the sum over all tiers.

    The code of sizes has bit ``m - 1`` set where ``m`` items come after the end of a tier: that of
    the tiers that remain is the same whatever comes before them.
    """
    n_sets = 1 << problem.n_items
    offsets = np.zeros(n_sets + 1, np.int64)
    for code in range(n_sets):
        offsets[code + 1] = offsets[code] + (1 << max(problem.sizes[code] - 1, 0))
    shares = np.zeros(offsets[n_sets])
    subsets = np.zeros(n_sets, np.int64)
    terms = np.zeros(n_sets)
    curve = np.zeros(problem.objective.grid.factorials.shape[1:])
    for whole in range(1, n_sets):
        count = fill_terms(problem, whole, subsets, terms, curve)
        start = offsets[whole]
        for place in range(1, count):
            rest = subsets[count - 1 - place]
            weight = np.exp(terms[place] + logs[rest] - logs[whole])
            if rest == 0:
                shares[start] += weight
                continue
            bit = 1 << (problem.sizes[rest] - 1)
            for code in range(bit):
                shares[start + bit + code] += weight * shares[offsets[rest] + code]
    return shares[offsets[n_sets - 1] :].copy()
