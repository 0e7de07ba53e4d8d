"""An ordered partition with maintained sums: items are taken out and put in at a cost of ``n``.

Tiers have slots that do not change while others come and go; ``order`` lists the slots from the
best tier to the worst. For each item and tier it is known how often the tier's members are ranked
above the item and below it, for each line its inversions, and for each tier, and each tier with all
worse ones, how many tied blocks it meets in so many items. With these, the value of every place
that an item can have, in a tier or as a tier of its own, costs a few lines per tier.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.inversions_lines import LineObjective, curve_of_sizes, line_value
from tierwise._kernels.ordered_partition import close_tier, open_tier

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class TiedBlocks(NamedTuple):
    """Blocks that tie several items, and which of them hold each item."""

    offsets: _Integers
    members: _Integers
    weights: _Floats
    item_offsets: _Integers
    item_blocks: _Integers


class Partition(NamedTuple):
    """Tiers and what is known about them."""

    above: _Floats
    """``[a, b]``: how often a is ranked above b."""
    below: _Floats
    """``[a, b]``: how often a is ranked below b."""
    blocks: TiedBlocks
    n_tiers: _Integers
    """One entry: the number of tiers."""
    slot_of: _Integers
    """Slot of each item's tier; -1 while it is taken out."""
    order: _Integers
    """Slots from the best tier to the worst; behind them, slots that are free."""
    position_of: _Integers
    """Where each slot stands in the order."""
    sizes: _Integers
    """Number of items, by slot."""
    into: _Floats
    """``[slot, a]``: how often members of the tier are ranked above a."""
    out_of: _Floats
    """``[slot, a]``: how often members of the tier are ranked below a."""
    totals: _Floats
    """Inversions of the line of each slot."""
    tier_meets: _Floats
    """``[slot, k]``: weight of tied blocks that meet the tier in k items, k from 2."""
    tail_meets: _Floats
    """``[position, k]``: the same for the tier there and all worse ones."""
    tier_change: _Floats
    """``[position, k]``: change of the tier's meetings if the item taken out were put there."""
    tail_change: _Floats
    """``[position, k]``: change of the tail's meetings if it were put there or below."""
    tally: _Integers
    passed: _Floats
    net: _Floats
    """Tied blocks of the line at hand."""
    curve: _Floats
    """The line at hand as a curve over theta."""


def make_partition(
    above: _Floats, blocks: TiedBlocks, width: int, objective: LineObjective
) -> Partition:
    """Room for tiers of the items; `load` fills it."""
    n_items = above.shape[0]
    # Without ties nothing is met, and nothing need be kept.
    rows = n_items + 2 if blocks.weights.shape[0] > 0 else 1
    return Partition(
        above,
        np.ascontiguousarray(above.T),
        blocks,
        np.zeros(1, np.int64),
        np.zeros(n_items, np.int64),
        np.zeros(n_items + 1, np.int64),
        np.zeros(n_items + 1, np.int64),
        np.zeros(n_items + 1, np.int64),
        np.zeros((n_items + 1, n_items)),
        np.zeros((n_items + 1, n_items)),
        np.zeros(n_items + 1),
        np.zeros((rows, width)),
        np.zeros((rows, width)),
        np.zeros((rows, width)),
        np.zeros((rows, width)),
        np.zeros(n_items + 2, np.int64),
        np.zeros(n_items + 2),
        np.zeros(width),
        np.zeros(objective.grid.factorials.shape[1:]),
    )


# Loops in place of array expressions, each of which takes a second to compile.


@compiled_part
def _add_row(
    target: _Floats, row: int | np.int64, source: _Floats, other: int | np.int64, sign: float
) -> None:
    for place in range(target.shape[1]):
        target[row, place] += sign * source[other, place]


@compiled_part
def _copy_row(target: _Floats, row: int, source: _Floats, other: int) -> None:
    for place in range(target.shape[1]):
        target[row, place] = source[other, place]


@compiled_part
def _clear_row(target: _Floats, row: int) -> None:
    for place in range(target.shape[1]):
        target[row, place] = 0.0


@compiled_part
def load(state: Partition, labels: _Integers) -> None:
    """Make these the tiers; labels count from 0 without gaps."""
    n_items = labels.shape[0]
    n_tiers = 0
    for item in range(n_items):
        n_tiers = max(n_tiers, labels[item] + 1)
    state.n_tiers[0] = n_tiers
    for slot in range(n_items + 1):
        state.order[slot] = slot
        state.position_of[slot] = slot
        state.sizes[slot] = 0
        state.totals[slot] = 0.0
        if slot < n_tiers:
            _clear_row(state.into, slot)
            _clear_row(state.out_of, slot)
    for item in range(n_items):
        slot = labels[item]
        state.slot_of[item] = slot
        state.sizes[slot] += 1
        _add_row(state.into, slot, state.above, item, 1.0)
        _add_row(state.out_of, slot, state.below, item, 1.0)
    for item in range(n_items):
        for worse in range(labels[item] + 1, n_tiers):
            state.totals[labels[item]] += state.into[worse, item]
    if state.blocks.weights.shape[0] > 0:
        _load_blocks(state)


@inlined
def _load_blocks(state: Partition) -> None:
    """Count what tied blocks have in common with tiers."""
    blocks, tally, n_tiers = state.blocks, state.tally, state.n_tiers[0]
    for row in range(state.tier_meets.shape[0]):
        _clear_row(state.tier_meets, row)
        _clear_row(state.tail_meets, row)
    for block in range(blocks.weights.shape[0]):
        for position in range(n_tiers):
            tally[position] = 0
        for place in range(blocks.offsets[block], blocks.offsets[block + 1]):
            tally[state.position_of[state.slot_of[blocks.members[place]]]] += 1
        running = 0
        for position in range(n_tiers - 1, -1, -1):
            running += tally[position]
            state.tier_meets[state.order[position], tally[position]] += blocks.weights[block]
            state.tail_meets[position, running] += blocks.weights[block]


def labels_of(state: Partition) -> _Integers:
    """Return the tier of each item, counted from 0."""
    return state.position_of[state.slot_of]


@compiled_part
def take_out(state: Partition, item: int) -> tuple[int, bool]:
    """Take an item out; returns the position of its tier and whether it was alone there."""
    slot = state.slot_of[item]
    position = state.position_of[slot]
    n_tiers = state.n_tiers[0]
    if state.blocks.weights.shape[0] > 0:
        _find_changes(state, item, n_tiers)
        _add_row(state.tier_meets, slot, state.tier_change, position, -1.0)
        for better in range(position + 1):
            _add_row(state.tail_meets, better, state.tail_change, better, -1.0)
    for better in range(position):
        other = state.order[better]
        state.totals[other] -= state.out_of[other, item]
    for worse in range(position + 1, n_tiers):
        state.totals[slot] -= state.into[state.order[worse], item]
    state.slot_of[item] = -1
    state.sizes[slot] -= 1
    if state.sizes[slot] > 0:
        _add_row(state.into, slot, state.above, item, -1.0)
        _add_row(state.out_of, slot, state.below, item, -1.0)
        return position, False
    close_tier(state.order, n_tiers, position)
    state.n_tiers[0] -= 1
    for later in range(position, n_tiers):
        state.position_of[state.order[later]] = later
    if state.blocks.weights.shape[0] > 0:
        _clear_row(state.tier_meets, slot)
        for later in range(position, n_tiers):
            _copy_row(state.tail_meets, later, state.tail_meets, later + 1)
            _copy_row(state.tier_change, later, state.tier_change, later + 1)
            _copy_row(state.tail_change, later, state.tail_change, later + 1)
    return position, True


@compiled_part
def _find_changes(state: Partition, item: int, n_tiers: int) -> None:
    """How an item, now left out, would change what tied blocks meet, wherever it were put."""
    blocks, tally = state.blocks, state.tally
    for position in range(n_tiers + 1):
        _clear_row(state.tier_change, position)
        _clear_row(state.tail_change, position)
    for entry in range(blocks.item_offsets[item], blocks.item_offsets[item + 1]):
        block = blocks.item_blocks[entry]
        weight = blocks.weights[block]
        for position in range(n_tiers):
            tally[position] = 0
        for place in range(blocks.offsets[block], blocks.offsets[block + 1]):
            member = blocks.members[place]
            if member != item:
                tally[state.position_of[state.slot_of[member]]] += 1
        running = 0
        for position in range(n_tiers - 1, -1, -1):
            # One item in common, or none, counts for nothing.
            number = tally[position]
            if number > 0:
                running += number
                state.tier_change[position, number] -= weight
                state.tier_change[position, number + 1] += weight
            if running > 0:
                state.tail_change[position, running] -= weight
                state.tail_change[position, running + 1] += weight


@compiled_part
def put_in(state: Partition, item: int, choice: int | np.int64) -> None:
    """Put in the item that was taken out, at one of its places."""
    position, alone = choice // 2, choice % 2 == 0
    n_tiers = state.n_tiers[0]
    has_blocks = state.blocks.weights.shape[0] > 0
    if alone:
        # A free slot may hold what was loaded there before.
        slot = open_tier(state.order, n_tiers, position)
        state.totals[slot] = 0.0
        _clear_row(state.into, slot)
        _clear_row(state.out_of, slot)
        state.n_tiers[0] += 1
        for later in range(position, n_tiers + 1):
            state.position_of[state.order[later]] = later
        if has_blocks:
            for later in range(n_tiers + 1, position, -1):
                _copy_row(state.tail_meets, later, state.tail_meets, later - 1)
            _add_row(state.tail_meets, position, state.tail_change, position, 1.0)
            _clear_row(state.tier_meets, slot)
        n_tiers += 1
    else:
        slot = state.order[position]
        if has_blocks:
            _add_row(state.tier_meets, slot, state.tier_change, position, 1.0)
            _add_row(state.tail_meets, position, state.tail_change, position, 1.0)
    if has_blocks:
        for better in range(position):
            _add_row(state.tail_meets, better, state.tail_change, better, 1.0)
    for better in range(position):
        other = state.order[better]
        state.totals[other] += state.out_of[other, item]
    for worse in range(position + 1, n_tiers):
        state.totals[slot] += state.into[state.order[worse], item]
    _add_row(state.into, slot, state.above, item, 1.0)
    _add_row(state.out_of, slot, state.below, item, 1.0)
    state.slot_of[item] = slot
    state.sizes[slot] += 1


@compiled_part
def line_of_net(
    objective: LineObjective,
    state: Partition,
    size: int,
    n_worse: int | np.int64,
    total: float,
) -> float:
    """Value of a line, whose tied blocks are in ``state.net`` where there are any."""
    if n_worse == 0:
        return 0.0
    table, curve = objective.grid.factorials, state.curve
    curve_of_sizes(objective, size, n_worse, curve)
    if state.blocks.weights.shape[0] > 0:
        for number in range(2, state.net.shape[0]):
            times = state.net[number]
            if times != 0.0:
                for node in range(curve.shape[0]):
                    for order in range(curve.shape[1]):
                        curve[node, order] += times * table[number, node, order]
    return line_value(objective, curve, max(total, 0.0))


@inlined
def tier_value(objective: LineObjective, size: int, meets: _Floats) -> float:
    """Value a tier whatever theta is, given what tied blocks it meets."""
    logs = objective.log_factorials
    value = objective.tier_constant + (objective.order_bonus - objective.n_rankings) * logs[size]
    for number in range(2, meets.shape[0]):
        value += meets[number] * logs[number]
    return float(value)


@inlined
def find_net(state: Partition, position: int | np.int64, in_tail: float, in_tier: float) -> None:
    """Tied blocks of the line at a position, with the item taken out in its tier or below."""
    slot = state.order[position]
    in_next = in_tail - in_tier
    for number in range(2, state.net.shape[0]):
        state.net[number] = (
            state.tail_meets[position, number]
            - state.tier_meets[slot, number]
            - state.tail_meets[position + 1, number]
        )
        if in_tail > 0.0:
            state.net[number] += (
                state.tail_change[position, number]
                - in_tier * state.tier_change[position, number]
                - in_next * state.tail_change[position + 1, number]
            )


@inlined
def n_worse_than(state: Partition, position: int | np.int64) -> int:
    """Count the items in tiers that are worse than the one at a position."""
    number = 0
    for worse in range(position + 1, state.n_tiers[0]):
        number += state.sizes[state.order[worse]]
    return number


@compiled_part
def line_at(objective: LineObjective, state: Partition, position: int | np.int64) -> float:
    """Value of the line and the tier at a position."""
    slot = state.order[position]
    n_worse = n_worse_than(state, position)
    # A Python int would trigger a second specialisation.
    row = np.int64(0)
    if state.blocks.weights.shape[0] > 0:
        row = slot
        find_net(state, position, 0.0, 0.0)
    value = line_of_net(objective, state, state.sizes[slot], n_worse, state.totals[slot])
    return value + tier_value(objective, state.sizes[slot], state.tier_meets[row])


@compiled
def load_and_value(objective: LineObjective, state: Partition, labels: _Integers) -> float:
    """Make these the tiers, and return their value."""
    load(state, labels)
    return value_of(objective, state)


@inlined
def value_of(objective: LineObjective, state: Partition) -> float:
    """Value of the tiers."""
    value = 0.0
    for position in range(state.n_tiers[0]):
        value += line_at(objective, state, position)
    return value


@inlined
def _find_net_of_role(state: Partition, position: int, role: int) -> None:
    """Tied blocks of a line with the item taken out in its tier, a worse or a better one.

    Where the role is 3, they are those of the line of the item alone before the tier.
    """
    if role < 3:
        find_net(state, position, 1.0 if role < 2 else 0.0, 1.0 if role == 0 else 0.0)
    else:
        for number in range(2, state.net.shape[0]):
            state.net[number] = state.tail_change[position, number]


@inlined
def _value_and_change(
    objective: LineObjective, state: Partition, position: int
) -> tuple[float, float]:
    """Value a tier whatever theta is, and what the item taken out would add to that."""
    logs, order_weight = objective.log_factorials, objective.order_bonus - objective.n_rankings
    slot = state.order[position]
    size = state.sizes[slot]
    own = objective.tier_constant + order_weight * logs[size]
    change = order_weight * (logs[size + 1] - logs[size])
    if state.blocks.weights.shape[0] > 0:
        for number in range(2, state.net.shape[0]):
            own += state.tier_meets[slot, number] * logs[number]
            change += state.tier_change[position, number] * logs[number]
    return own, change


@inlined
def value_places(objective: LineObjective, state: Partition, item: int, places: _Floats) -> None:
    """Value of the tiers with the item, which is taken out, in each place that it can have."""
    n_tiers = state.n_tiers[0]
    has_blocks = state.blocks.weights.shape[0] > 0
    n_worse = np.int64(0)
    into_worse = 0.0
    rest = 0.0
    # From the worst tier up: what lies below a place is not changed by the item.
    places[2 * n_tiers] = objective.tier_constant
    for position in range(n_tiers - 1, -1, -1):
        slot = state.order[position]
        size, total = state.sizes[slot], state.totals[slot]
        own, change = _value_and_change(objective, state, position)
        # The item in this tier, in a worse one, in a better one, and alone before this one.
        for role in range(4):
            own_size, own_worse, own_total = size, n_worse, total
            if has_blocks:
                _find_net_of_role(state, position, role)
            if role == 0:
                own_size, own_total = size + 1, total + into_worse
            elif role == 1:
                own_worse, own_total = n_worse + 1, total + state.out_of[slot, item]
            elif role == 3:
                own_size, own_worse = 1, n_worse + size
                own_total = into_worse + state.into[slot, item]
            value = line_of_net(objective, state, own_size, own_worse, own_total)
            if role == 0:
                places[2 * position + 1] = rest + own + change + value
            elif role == 1:
                state.passed[position] = own + value
            elif role == 2:
                rest += own + value
            else:
                places[2 * position] = rest + objective.tier_constant + value
        n_worse += size
        into_worse += state.into[slot, item]
    # From the best tier down: above a place the item is among what is worse.
    better = 0.0
    for position in range(n_tiers):
        places[2 * position] += better
        places[2 * position + 1] += better
        better += state.passed[position]
    places[2 * n_tiers] += better
