"""From label counts to items: what an open answer leaves to each item, and what is expected of it.

A role is 0 for an item of an earlier block, 1 for one listed in the open block and 2 for one whose
place is not known. Items of one label that are left in an answer are alike.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Roles = npt.NDArray[np.int32]

EARLIER, LISTED, LEFT = 0, 1, 2


@compiled
def states_of_roles(
    roles: _Roles, labels: _Integers, strides: _Integers
) -> tuple[_Integers, _Integers]:
    """States of the items left and of the items listed in the open block, for each row."""
    left = np.zeros(roles.shape[0], dtype=np.int64)
    listed = np.zeros(roles.shape[0], dtype=np.int64)
    for row in range(roles.shape[0]):
        for item in range(roles.shape[1]):
            if roles[row, item] == LEFT:
                left[row] += strides[labels[item]]
            elif roles[row, item] == LISTED:
                listed[row] += strides[labels[item]]
    return left, listed


@compiled
def _count_left(roles: _Roles, row: int, labels: _Integers, counts: _Integers) -> None:
    """Count the items left in a row by label."""
    counts[:] = 0
    for item in range(labels.shape[0]):
        if roles[row, item] == LEFT:
            counts[labels[item]] += 1


@compiled
def add_expected_pairs(
    roles: _Roles,
    weights: _Floats,
    labels: _Integers,
    which: _Integers,
    tables: _Floats,
    taken: _Floats,
    precedence: _Floats,
) -> None:
    """Add to ``precedence[a, b]`` how often a is expected in an earlier block than b.

    Only pairs that the answers leave open are counted. ``which`` is the opening of each row, by
    which ``tables`` of pairs of labels and the numbers ``taken`` into the open block are found.
    """
    n_items = labels.shape[0]
    counts = np.empty(tables.shape[1], dtype=np.int64)
    for row in range(roles.shape[0]):
        opening = which[row]
        _count_left(roles, row, labels, counts)
        for second in range(n_items):
            if roles[row, second] != LEFT:
                continue
            lower = labels[second]
            later = weights[row] * (1.0 - taken[opening, lower] / counts[lower])
            for first in range(n_items):
                if roles[row, first] == LISTED:
                    precedence[first, second] += later
                elif roles[row, first] == LEFT and first != second:
                    upper = labels[first]
                    n_pairs = counts[upper] * (counts[lower] - int(upper == lower))
                    share = tables[opening, upper, lower] / n_pairs
                    precedence[first, second] += weights[row] * share


@compiled
def add_expected_places(
    roles: _Roles,
    weights: _Floats,
    labels: _Integers,
    which: _Integers,
    tables: _Floats,
    membership: _Floats,
) -> None:
    """Add to ``membership[a, l]`` how often an item is expected in a block, where that is open."""
    counts = np.empty(tables.shape[1], dtype=np.int64)
    for row in range(roles.shape[0]):
        _count_left(roles, row, labels, counts)
        for item in range(labels.shape[0]):
            if roles[row, item] == LEFT:
                label = labels[item]
                for block in range(tables.shape[1]):
                    share = tables[which[row], block, label] / counts[label]
                    membership[item, block] += weights[row] * share


@compiled
def known_units(
    blocks: npt.NDArray[np.int32],
    left: npt.NDArray[np.bool_],
    labels: _Integers,
    misplaced: int,
    placing: _Integers,
) -> _Floats:
    """Part of each row's distance, in units, that does not depend on where items left will lie.

    ``blocks`` holds for items left the first block that they may lie in.
    """
    n_rows, n_items = blocks.shape
    units = np.zeros(n_rows)
    for row in range(n_rows):
        for first in range(n_items):
            if left[row, first]:
                continue
            units[row] += placing[blocks[row, first], labels[first]]
            if misplaced == 0:
                continue
            for second in range(n_items):
                if blocks[row, first] < blocks[row, second] and labels[first] >= labels[second]:
                    units[row] += misplaced
    return units


@compiled
def add_strict_pairs(
    roles: _Roles,
    weights: _Floats,
    in_order: _Integers,
    ahead: _Floats,
    precedence: _Floats,
) -> None:
    """Add to ``precedence[a, b]`` how often a is expected before b, among the items left.

    ``in_order`` lists the items as the strict consensus does, and ``ahead[gap]`` is the probability
    that of two items the better comes first, ``gap`` being 1 for neighbours among those left.
    """
    n_items = in_order.shape[0]
    kept = np.empty(n_items, dtype=np.int64)
    for row in range(roles.shape[0]):
        n_left = 0
        for position in range(n_items):
            if roles[row, in_order[position]] == LEFT:
                kept[n_left] = in_order[position]
                n_left += 1
        for second in range(n_left):
            for first in range(second):
                share = weights[row] * ahead[second - first]
                precedence[kept[first], kept[second]] += share
                precedence[kept[second], kept[first]] += weights[row] - share
