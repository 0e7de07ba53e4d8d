"""Metropolis chains over tiers of fixed sizes.

The target is a function of the total distance only, given by its logarithm: a cubic between knots,
and a straight line beyond them. With a single knot it is the straight line of a given theta.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.objective import swap_change, total_cost

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Shares of the proposals: neighbouring tiers trade an item, or three items pass their labels round.
# The others let any two items trade labels.
_LOCAL = 0.5
_ROUND = 0.1


@compiled
def log_weight(total: float, knots: _Floats, values: _Floats, slopes: _Floats) -> float:
    """Log of the target at a total distance."""
    last = knots.shape[0] - 1
    if total <= knots[0]:
        value: float = values[0] + slopes[0] * (total - knots[0])
    elif total >= knots[last]:
        value = values[last] + slopes[last] * (total - knots[last])
    else:
        right = np.searchsorted(knots, total)
        left = right - 1
        width = knots[right] - knots[left]
        part = (total - knots[left]) / width
        rest = 1.0 - part
        value = rest * rest * ((1.0 + 2.0 * part) * values[left] + part * width * slopes[left])
        value += part * part * ((1.0 + 2.0 * rest) * values[right] - rest * width * slopes[right])
    return value


@compiled
def _choose_places(ends: _Integers, chosen: _Integers, rng: np.random.Generator) -> int:
    """Choose places of a listing tier by tier whose items are to pass their labels round.

    ``ends`` says where each tier ends in the listing, after a 0.
    """
    n_tiers = ends.shape[0] - 1
    n_items = ends[n_tiers]
    kind = rng.random()
    if kind < _LOCAL:
        upper = int(rng.random() * (n_tiers - 1))
        for position in range(2):
            start, end = ends[upper + position], ends[upper + position + 1]
            chosen[position] = start + int(rng.random() * (end - start))
        return 2
    n_chosen = 3 if kind < _LOCAL + _ROUND and n_items > 2 else 2
    for position in range(n_chosen):
        fresh = False
        while not fresh:
            chosen[position] = int(rng.random() * n_items)
            fresh = True
            for earlier in range(position):
                fresh = fresh and chosen[earlier] != chosen[position]
    return n_chosen


@compiled
def switch_labels(
    labels: _Integers,
    sizes: _Integers,
    linear: _Floats,
    pairs: _Floats,
    pairs_transposed: _Floats,
    knots: _Floats,
    values: _Floats,
    slopes: _Floats,
    n_steps: int,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Make Metropolis steps on labels, in place; return the total distance and how many moved."""
    total = total_cost(labels, linear, pairs)
    n_accepted = 0
    if sizes.shape[0] == 1:
        return total, n_accepted
    # Items listed tier by tier: which tier a place belongs to never changes.
    listing = np.argsort(labels, kind="mergesort")
    ends = np.zeros(sizes.shape[0] + 1, dtype=np.int64)
    for tier in range(sizes.shape[0]):
        ends[tier + 1] = ends[tier] + sizes[tier]
    chosen = np.empty(3, dtype=np.int64)
    height = log_weight(total, knots, values, slopes)
    for _ in range(n_steps):
        n_chosen = _choose_places(ends, chosen, rng)
        change = 0.0
        for step in range(n_chosen - 1):
            here, there = chosen[step], chosen[step + 1]
            first, second = listing[here], listing[there]
            change += swap_change(labels, linear, pairs, pairs_transposed, first, second)
            labels[first], labels[second] = labels[second], labels[first]
            listing[here], listing[there] = second, first
        proposed = log_weight(total + change, knots, values, slopes)
        if proposed >= height or rng.random() < np.exp(proposed - height):
            total += change
            height = proposed
            n_accepted += 1
            continue
        for step in range(n_chosen - 2, -1, -1):
            here, there = chosen[step], chosen[step + 1]
            first, second = listing[here], listing[there]
            labels[first], labels[second] = labels[second], labels[first]
            listing[here], listing[there] = second, first
    return total, n_accepted


@compiled
def walk_over_tiers(
    labels: _Integers,
    sizes: _Integers,
    linear: _Floats,
    pairs: _Floats,
    pairs_transposed: _Floats,
    knots: _Floats,
    values: _Floats,
    slopes: _Floats,
    n_steps: int,
    n_rows: int,
    rng: np.random.Generator,
) -> tuple[_Integers, _Floats, _Integers]:
    """Make Metropolis steps, ``n_steps`` a row, and write down where each row ends.

    Returns labels, total distances, and how many of the steps moved.
    """
    visited = np.empty((n_rows, labels.shape[0]), dtype=np.int64)
    totals = np.empty(n_rows)
    n_accepted = np.empty(n_rows, dtype=np.int64)
    current = labels.copy()
    for row in range(n_rows):
        totals[row], n_accepted[row] = switch_labels(
            current,
            sizes,
            linear,
            pairs,
            pairs_transposed,
            knots,
            values,
            slopes,
            n_steps,
            rng,
        )
        visited[row] = current
    return visited, totals, n_accepted
