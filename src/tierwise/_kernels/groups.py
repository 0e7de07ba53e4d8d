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
