"""Weighing answers anew: what EM does over and over with the same orderings.

``ends[place]`` is the first place after the block of a place.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Integers = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


@compiled
def precedence_of_orderings(orderings: _Integers, ends: _Integers, weights: _Floats) -> _Floats:
    """Entry ``[a, b]``: total weight of the orderings with a in an earlier block than b."""
    n_rows, n_items = orderings.shape
    counts = np.zeros((n_items, n_items))
    for row in range(n_rows):
        weight = weights[row]
        for place in range(n_items):
            above = orderings[row, place]
            for later in range(ends[place], n_items):
                counts[above, orderings[row, later]] += weight
    return counts


@compiled
def units_of_orderings(
    orderings: _Integers,
    labels: _Integers,
    ends: _Integers,
    misplaced: int,
    tied: int,
    placing_by_place: _Integers,
) -> _Integers:
    """Distance of each ordering from tiers, in units.

    ``placing_by_place[place, label]`` is what an item of a tier costs in a place. All pairs of
    places are compared, which takes no more than counting them does.
    """
    n_rows, n_items = orderings.shape
    units = np.zeros(n_rows, dtype=np.int64)
    sequence = np.empty(n_items, dtype=np.int64)
    for row in range(n_rows):
        placed = 0
        for place in range(n_items):
            label = labels[orderings[row, place]]
            sequence[place] = label
            placed += placing_by_place[place, label]
        pairs, ties = 0, 0
        if misplaced != 0:
            for place in range(n_items):
                label = sequence[place]
                for later in range(ends[place], n_items):
                    pairs += sequence[later] < label
                    ties += sequence[later] == label
        units[row] = misplaced * pairs + tied * ties + placed
    return units


@compiled
def gains_of_swaps(
    blocks: npt.NDArray[np.int32],
    labels: _Integers,
    swaps: _Integers,
    misplaced: int,
    placing: _Integers,
    theta: float,
    memberships: _Floats,
    weights: _Floats,
) -> _Floats:
    """How much a mixture's log-likelihood gains when two items of a group trade their tiers.

    Each of ``swaps`` is an item and one of the next worse tier; ``theta`` is per unit of distance.
    An answer whose distance grows by ``c`` units becomes more probable by a factor of
    ``1 + m (exp(-theta c) - 1)``, where ``m`` is the probability that it belongs to the group.
    """
    n_rows, n_items = blocks.shape
    gains = np.zeros(swaps.shape[0])
    for number in range(swaps.shape[0]):
        falling, rising = swaps[number]
        upper, lower = labels[falling], labels[rising]
        for row in range(n_rows):
            old, new = blocks[row, falling], blocks[row, rising]
            change = placing[old, lower] - placing[old, upper]
            change += placing[new, upper] - placing[new, lower]
            if misplaced != 0:
                pairs = np.int64(old < new) - np.int64(new < old)
                for other in range(n_items):
                    if other in (falling, rising):
                        continue
                    block = blocks[row, other]
                    if labels[other] == upper:
                        pairs += np.int64(block < new) - np.int64(block < old)
                    elif labels[other] == lower:
                        pairs += np.int64(old < block) - np.int64(new < block)
                change += misplaced * pairs
            if change != 0:
                factor = np.expm1(-theta * change)
                gains[number] += weights[row] * np.log1p(memberships[row] * factor)
    return gains
