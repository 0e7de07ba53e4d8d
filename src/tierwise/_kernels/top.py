"""Lists of the best items: the recursion from the state that they leave, and back to single items.

A state is how many items of each label are still to be placed, as in `tierwise._kernels.recursion`.
Blocks are filled from any state to the end. A block can be filled with given numbers of items of
each label in as many ways as there are such sets of items; the order of places within a block is
left to the caller. All is in logarithms, so that no theta is too large.

An opening is where the listed items end: a row (state of the items left, state of the items listed
in the block, the block, its free places).

From label counts back to items: a role is 0 for an item of an earlier block, 1 for one listed in
the open block and 2 for one whose place is not known. Items of one label that are left in an answer
are alike.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.recursion import States, first_choice, next_choice

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


@compiled_part
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


# What expectations are of: pairs of labels by the order of their blocks, or labels in blocks.
OF_PAIRS = 0
OF_PLACES = 1


class Weighing(NamedTuple):
    """What the recursion needs: the states, the distance in units, and theta per unit."""

    states: States
    misplaced: int
    placing: _Integers
    log_binomials: _Floats
    theta: float


class _Block(NamedTuple):
    """A block to be filled, with room to work: all arrays have an entry a label.

    ``counts`` are the items left, ``listed`` those that lie in the block already, ``choice`` those
    that are taken next.
    """

    counts: _Integers
    listed: _Integers
    choice: _Integers


@compiled_part
def _empty_block(n_tiers: int) -> _Block:
    return _Block(
        np.zeros(n_tiers, dtype=np.int64),
        np.zeros(n_tiers, dtype=np.int64),
        np.zeros(n_tiers, dtype=np.int64),
    )


@compiled_part
def _write_counts(state: int, left: npt.NDArray[np.int16], counts: _Integers) -> None:
    """Write down how many items of each label a state has."""
    for label in range(counts.shape[0]):
        counts[label] = left[state, label + 1] - left[state, label]


@compiled
def _step(weighing: Weighing, block: int, content: _Block) -> tuple[int, float, int]:
    """Return what the choice costs in units, its log number of ways, and its change of state.

    What listed items cost against items of later blocks is part of it, what they cost by themselves
    is not.
    """
    units = 0
    behind = 0
    log_ways = 0.0
    change = 0
    for label in range(content.counts.shape[0]):
        taken = content.choice[label]
        behind += content.counts[label] - taken
        units += weighing.misplaced * behind * (content.listed[label] + taken)
        units += weighing.placing[block, label] * taken
        log_ways += weighing.log_binomials[content.counts[label], taken]
        change += taken * weighing.states.strides[label]
    return units, log_ways, change


@compiled_part
def _value(
    weighing: Weighing, values: _Floats, state: int, block: int, free: int, content: _Block
) -> tuple[float, float, float]:
    """Log weight, mean and mean square of the units, of all ways to go on from within a block."""
    peak = -np.inf
    total = first = second = 0.0
    first_choice(content.choice, content.counts, free, content.counts.shape[0])
    more = True
    while more:
        units, log_ways, change = _step(weighing, block, content)
        onward = values[state - change]
        log_weight = log_ways - weighing.theta * units + onward[0]
        if log_weight > peak:
            shrink = np.exp(peak - log_weight)
            total *= shrink
            first *= shrink
            second *= shrink
            peak = log_weight
        weight = np.exp(log_weight - peak)
        total += weight
        first += weight * (units + onward[1])
        second += weight * (units * (units + 2.0 * onward[1]) + onward[2])
        more = next_choice(content.choice, content.counts)
    return peak + np.log(total), first / total, second / total


@compiled
def value_states(weighing: Weighing) -> _Floats:
    """``values[state]``: log weight, mean and mean square of the units of all ways to the end.

    Only states between blocks have values.
    """
    sizes, _, order, starts, left = weighing.states
    n_tiers = sizes.shape[0]
    values = np.zeros((order.shape[0], 3))
    content = _empty_block(n_tiers)
    layer = 0
    for block in range(n_tiers - 1, -1, -1):
        layer += sizes[block]
        for position in range(starts[layer], starts[layer + 1]):
            state = order[position]
            _write_counts(state, left, content.counts)
            value = _value(weighing, values, state, block, sizes[block], content)
            values[state, 0], values[state, 1], values[state, 2] = value
    return values


@compiled
def value_openings(weighing: Weighing, values: _Floats, openings: _Integers) -> _Floats:
    """Log weight, mean and mean square of the units, of all ways to go on from each opening."""
    sizes, left = weighing.states.sizes, weighing.states.left
    results = np.empty((openings.shape[0], 3))
    content = _empty_block(sizes.shape[0])
    for row in range(openings.shape[0]):
        state, listed, block, free = openings[row]
        if free == sizes[block]:
            results[row] = values[state]
            continue
        _write_counts(state, left, content.counts)
        _write_counts(listed, left, content.listed)
        value = _value(weighing, values, state, block, free, content)
        results[row, 0], results[row, 1], results[row, 2] = value
    return results


@compiled_part
def _expect(
    weighing: Weighing,
    values: _Floats,
    tables: _Floats,
    log_total: float,
    state: int,
    block: int,
    free: int,
    content: _Block,
    of: int,
    table: _Floats,
    taken: _Floats,
) -> None:
    """Fill ``table`` and ``taken`` with expectations over all ways to go on from within a block."""
    counts, _, choice = content
    n_tiers = counts.shape[0]
    table[:] = 0.0
    taken[:] = 0.0
    first_choice(choice, counts, free, n_tiers)
    more = True
    while more:
        units, log_ways, change = _step(weighing, block, content)
        target = state - change
        weight = np.exp(log_ways - weighing.theta * units + values[target, 0] - log_total)
        for label in range(n_tiers):
            taken[label] += weight * choice[label]
            for other in range(n_tiers):
                table[label, other] += weight * tables[target, label, other]
                if of == OF_PAIRS:
                    # What is taken now lies before all that is left.
                    table[label, other] += weight * choice[label] * (counts[other] - choice[other])
        more = next_choice(choice, counts)
    if of == OF_PLACES:
        for label in range(n_tiers):
            table[block, label] += taken[label]


@compiled
def expect_states(weighing: Weighing, values: _Floats, of: int) -> _Floats:
    """``tables[state]``: expectations over all ways from a state between blocks to the end.

    ``OF_PAIRS``: entry ``[j, k]`` is the number of pairs of an item of label j in an earlier block
    than an item of label k. ``OF_PLACES``: the number of items of label k in block j.
    """
    sizes, _, order, starts, left = weighing.states
    n_tiers = sizes.shape[0]
    tables = np.zeros((order.shape[0], n_tiers, n_tiers))
    taken = np.empty(n_tiers)
    content = _empty_block(n_tiers)
    layer = 0
    for block in range(n_tiers - 1, -1, -1):
        layer += sizes[block]
        for position in range(starts[layer], starts[layer + 1]):
            state = order[position]
            _write_counts(state, left, content.counts)
            _expect(
                weighing,
                values,
                tables,
                values[state, 0],
                state,
                block,
                sizes[block],
                content,
                of,
                tables[state],
                taken,
            )
    return tables


@compiled
def expect_openings(
    weighing: Weighing,
    values: _Floats,
    tables: _Floats,
    openings: _Integers,
    log_totals: _Floats,
    of: int,
) -> tuple[_Floats, _Floats]:
    """Return expectations from each opening, and how many items of each label its block takes."""
    sizes, left = weighing.states.sizes, weighing.states.left
    n_tiers = sizes.shape[0]
    results = np.empty((openings.shape[0], n_tiers, n_tiers))
    taken = np.empty((openings.shape[0], n_tiers))
    content = _empty_block(n_tiers)
    for row in range(openings.shape[0]):
        state, listed, block, free = openings[row]
        _write_counts(state, left, content.counts)
        _write_counts(listed, left, content.listed)
        _expect(
            weighing,
            values,
            tables,
            log_totals[row],
            state,
            block,
            free,
            content,
            of,
            results[row],
            taken[row],
        )
    return results, taken
