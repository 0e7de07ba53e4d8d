"""Local search over ordered partitions: best cuts of an order, then moves of items and tiers.

Orders are improved by insertion, by Kemeny's criterion. Along a given order tiers are runs, and the
best runs are found by dynamic programming over cuts.

Then every move that makes the tiers better is taken, until none does: an item to any tier or to a
new one of its own, two items of neighbouring tiers exchanged, neighbouring tiers joined or
exchanged, and a tier cut in two along the order in which its own members are preferred to each
other.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.consensus import best_runs
from tierwise._kernels.inversions_lines import LineObjective
from tierwise._kernels.inversions_partition import (
    Partition,
    TiedBlocks,
    line_at,
    line_of_net,
    load,
    n_worse_than,
    put_in,
    take_out,
    tier_value,
    value_places,
)

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Places at which an order is cut, at most.
MOST_CUTS = 400
# Up to so many items, and items in tied blocks, every exchange is tried; beyond, only those that
# leave fewer inversions.
MOST_ITEMS_TO_EXCHANGE = 60
MOST_MEMBERS_TO_EXCHANGE = 20_000


@inlined
def _begin_run(
    blocks: TiedBlocks, item: int, meets: _Floats, whole: _Integers, in_run: _Integers
) -> None:
    """Count what tied blocks meet where an item goes before all later ones, in an empty run."""
    for block in range(in_run.shape[0]):
        in_run[block] = 0
    for entry in range(blocks.item_offsets[item], blocks.item_offsets[item + 1]):
        block = blocks.item_blocks[entry]
        meets[0, whole[block]] -= blocks.weights[block]
        whole[block] += 1
        meets[0, whole[block]] += blocks.weights[block]
    for number in range(meets.shape[1]):
        meets[1, number] = 0.0
        meets[2, number] = meets[0, number]


@inlined
def _lengthen_run(
    blocks: TiedBlocks, item: int, meets: _Floats, whole: _Integers, in_run: _Integers
) -> None:
    """Count an item in the run, and no longer in what follows it."""
    for entry in range(blocks.item_offsets[item], blocks.item_offsets[item + 1]):
        block = blocks.item_blocks[entry]
        weight, number = blocks.weights[block], in_run[block]
        meets[1, number] -= weight
        meets[1, number + 1] += weight
        meets[2, whole[block] - number] -= weight
        meets[2, whole[block] - number - 1] += weight
        in_run[block] += 1


@compiled
def load_best_cuts(objective: LineObjective, state: Partition, order: _Integers) -> None:
    """Make the best runs of an order the tiers.

    Orders of very many items are cut at every few places only: moves of items do the rest.
    """
    n_items = order.shape[0]
    step = 1 + (n_items - 1) // MOST_CUTS
    blocks = state.blocks
    has_blocks = blocks.weights.shape[0] > 0
    width = state.net.shape[0]
    # What each item pays for all that come after it.
    tails = np.zeros(n_items)
    for place in range(n_items):
        for later in range(place + 1, n_items):
            tails[place] += state.above[order[later], order[place]]
    # What the items of a run from the current first item up to each last one pay for each other.
    inside = np.zeros(n_items)
    n_runs = (n_items + step - 1) // step
    values = np.full((n_runs + 1, n_runs + 1), -np.inf)
    # Rows: everything from the first item on, the run, and what follows it.
    meets = np.zeros((3, width))
    whole = np.zeros(blocks.weights.shape[0], np.int64)
    in_run = np.zeros(blocks.weights.shape[0], np.int64)
    for first in range(n_items - 1, -1, -1):
        may_begin = first % step == 0
        if has_blocks:
            _begin_run(blocks, order[first], meets, whole, in_run)
        paid, added = 0.0, 0.0
        for last in range(first, n_items):
            item = order[last]
            paid += tails[last]
            added += state.below[order[first], item]
            inside[last] += added
            if not may_begin:
                continue
            if has_blocks:
                _lengthen_run(blocks, item, meets, whole, in_run)
            if (last + 1) % step != 0 and last + 1 < n_items:
                continue
            for number in range(2, width):
                state.net[number] = meets[0, number] - meets[1, number] - meets[2, number]
            size = last - first + 1
            total = paid - inside[last]
            value = line_of_net(objective, state, size, n_items - 1 - last, total)
            value += tier_value(objective, size, meets[1])
            values[first // step, (last + step) // step] = value
    runs = best_runs(values)
    labels = np.zeros(n_items, np.int64)
    for place in range(n_items):
        labels[order[place]] = runs[place // step]
    load(state, labels)


@compiled
def move_items(
    objective: LineObjective, state: Partition, sequence: _Integers, tolerance: float
) -> int:
    """Move each item in turn to where it is best; returns how many moved."""
    n_items = sequence.shape[0]
    places = np.zeros(2 * n_items + 1)
    n_moved = 0
    for item in sequence:
        position, was_alone = take_out(state, item)
        value_places(objective, state, item, places)
        current = 2 * position + (0 if was_alone else 1)
        best, choice = places[current] + tolerance, current
        for place in range(2 * state.n_tiers[0] + 1):
            if places[place] > best:
                best, choice = places[place], place
        n_moved += int(choice != current)
        put_in(state, item, choice)
    return n_moved


@inlined
def members_of(state: Partition, slot: int, members: _Integers) -> int:
    """List the items of a tier; returns their number."""
    count = 0
    for item in range(state.slot_of.shape[0]):
        if state.slot_of[item] == slot:
            members[count] = item
            count += 1
    return count


@inlined
def inversions_between(state: Partition, better: int, worse: int) -> float:
    """Inversions between two tiers, given by their slots, if the first is the better one."""
    total = 0.0
    for item in range(state.slot_of.shape[0]):
        if state.slot_of[item] == better:
            total += state.into[worse, item]
    return total


@inlined
def meets_of_neighbours(state: Partition) -> tuple[_Floats, _Floats]:
    """Tied blocks that meet two neighbouring tiers, and a tier with all but its next worse one."""
    blocks, tally = state.blocks, state.tally
    n_tiers = state.n_tiers[0]
    width = state.net.shape[0]
    joint = np.zeros((n_tiers, width))
    skipping = np.zeros((n_tiers, width))
    for block in range(blocks.weights.shape[0]):
        for position in range(n_tiers + 1):
            tally[position] = 0
        for place in range(blocks.offsets[block], blocks.offsets[block + 1]):
            tally[state.position_of[state.slot_of[blocks.members[place]]]] += 1
        below = 0
        for position in range(n_tiers - 2, -1, -1):
            joint[position, tally[position] + tally[position + 1]] += blocks.weights[block]
            skipping[position, tally[position] + below] += blocks.weights[block]
            below += tally[position + 1]
    return joint, skipping


@inlined
def join_tiers(state: Partition, position: int | np.int64) -> None:
    """Join the tier at a position with the next."""
    first, second = state.order[position], state.order[position + 1]
    source, target = second, first
    if state.sizes[first] < state.sizes[second]:
        source, target = first, second
    members = np.zeros(state.slot_of.shape[0], np.int64)
    for place in range(members_of(state, source, members)):
        take_out(state, members[place])
        put_in(state, members[place], 2 * state.position_of[target] + 1)


@inlined
def exchange_tiers(state: Partition, position: int | np.int64, skipping: _Floats) -> None:
    """Let the tier at a position and the next change places."""
    first, second = state.order[position], state.order[position + 1]
    state.totals[first] -= inversions_between(state, first, second)
    state.totals[second] += inversions_between(state, second, first)
    state.order[position], state.order[position + 1] = second, first
    state.position_of[first], state.position_of[second] = position + 1, position
    if state.blocks.weights.shape[0] > 0:
        for number in range(skipping.shape[1]):
            state.tail_meets[position + 1, number] = skipping[position, number]


@inlined
def _find_net_of_role(
    state: Partition, position: int, role: int, joint: _Floats, skipping: _Floats
) -> None:
    """Tied blocks of the line of two tiers joined (0), or of one where they are exchanged."""
    first, second = state.order[position], state.order[position + 1]
    for number in range(2, state.net.shape[0]):
        tail = state.tail_meets[position, number]
        beyond = state.tail_meets[position + 2, number]
        if role == 0:
            net = tail - joint[position, number] - beyond
        elif role == 1:
            net = tail - state.tier_meets[second, number] - skipping[position, number]
        else:
            net = skipping[position, number] - state.tier_meets[first, number] - beyond
        state.net[number] = net


@compiled
def try_neighbours(objective: LineObjective, state: Partition, tolerance: float) -> bool:
    """Join or exchange two neighbouring tiers if that is better."""
    joint, skipping = meets_of_neighbours(state)
    has_blocks = state.blocks.weights.shape[0] > 0
    # A plain -1 would have what is called with it compiled once more.
    chosen: int | np.int64 = np.int64(-1)
    best, joins = tolerance, False
    for position in range(state.n_tiers[0] - 1):
        first, second = state.order[position], state.order[position + 1]
        n_first, n_second = state.sizes[first], state.sizes[second]
        n_worse = n_worse_than(state, position + 1)
        forward = inversions_between(state, first, second)
        backward = inversions_between(state, second, first)
        now = line_at(objective, state, position) + line_at(objective, state, position + 1)
        joined = tier_value(objective, n_first + n_second, joint[position])
        exchanged = tier_value(objective, n_first, state.tier_meets[first if has_blocks else 0])
        exchanged += tier_value(objective, n_second, state.tier_meets[second if has_blocks else 0])
        # The two joined; the second before the first; the first after the second.
        for role in range(3):
            if has_blocks:
                _find_net_of_role(state, position, role, joint, skipping)
            size, below = n_first, n_worse
            total = state.totals[first] - forward
            if role == 0:
                size, total = n_first + n_second, total + state.totals[second]
            elif role == 1:
                size, below = n_second, n_first + n_worse
                total = state.totals[second] + backward
            value = line_of_net(objective, state, size, below, total)
            if role == 0:
                joined += value
            else:
                exchanged += value
        if joined - now > best:
            best, chosen, joins = joined - now, position, True
        if exchanged - now > best:
            best, chosen, joins = exchanged - now, position, False
    if chosen < 0:
        return False
    if joins:
        join_tiers(state, chosen)
    else:
        exchange_tiers(state, chosen, skipping)
    return True


@inlined
def split_tier(
    state: Partition, position: int | np.int64, members: _Integers, n_upper: int
) -> None:
    """Make the first of a tier's members a better tier of their own."""
    for place in range(n_upper):
        take_out(state, members[place])
        # The first is alone before the tier, the others join it there.
        put_in(state, members[place], 2 * position + min(place, 1))


@inlined
def sort_by_lead(state: Partition, slot: int, members: _Integers, count: int) -> None:
    """Sort a tier's members by how much they are preferred to each other, best first."""
    for place in range(1, count):
        item = members[place]
        lead = state.out_of[slot, item] - state.into[slot, item]
        free = place
        while free > 0:
            other = members[free - 1]
            if state.out_of[slot, other] - state.into[slot, other] >= lead:
                break
            members[free] = other
            free -= 1
        members[free] = item


@compiled
def try_splits(objective: LineObjective, state: Partition, tolerance: float) -> bool:
    """Cut tiers in two where that is better; returns whether one was."""
    n_items = state.slot_of.shape[0]
    members = np.zeros(n_items, np.int64)
    found = False
    # A Python int would trigger a second specialisation.
    position = np.int64(0)
    while position < state.n_tiers[0]:
        slot = state.order[position]
        if state.sizes[slot] > 1:
            count = members_of(state, slot, members)
            sort_by_lead(state, slot, members, count)
            n_upper = _best_cut(objective, state, position, members, count, tolerance)
            if n_upper > 0:
                split_tier(state, position, members, n_upper)
                found = True
                # The better part may be cut again.
                continue
        position += 1
    return found


@inlined
def _count_parts(
    state: Partition, position: int | np.int64, meets: _Floats, counts: _Integers
) -> None:
    """Count what tied blocks meet where all of a tier is still in the worse of two parts."""
    blocks, slot = state.blocks, state.order[position]
    for number in range(meets.shape[1]):
        meets[1, number] = state.tier_meets[slot, number]
        meets[2, number] = state.tail_meets[position, number]
    for block in range(blocks.weights.shape[0]):
        for place in range(blocks.offsets[block], blocks.offsets[block + 1]):
            there = state.position_of[state.slot_of[blocks.members[place]]]
            counts[1, block] += int(there == position)
            counts[2, block] += int(there >= position)


@inlined
def _count_upwards(blocks: TiedBlocks, item: int, meets: _Floats, counts: _Integers) -> None:
    """Count an item in the better of two parts, and no longer in the worse one."""
    for entry in range(blocks.item_offsets[item], blocks.item_offsets[item + 1]):
        block = blocks.item_blocks[entry]
        for part in range(3):
            number = counts[part, block]
            following = number + 1 if part == 0 else number - 1
            meets[part, number] -= blocks.weights[block]
            meets[part, following] += blocks.weights[block]
            counts[part, block] = following


@inlined
def _find_net_of_part(
    state: Partition, position: int | np.int64, part: int, meets: _Floats
) -> None:
    """Tied blocks of the line of the better (0) or the worse (1) part of a tier."""
    for number in range(2, state.net.shape[0]):
        if part == 0:
            net = state.tail_meets[position, number] - meets[0, number] - meets[2, number]
        else:
            net = meets[2, number] - meets[1, number] - state.tail_meets[position + 1, number]
        state.net[number] = net


@inlined
def _best_cut(
    objective: LineObjective,
    state: Partition,
    position: int | np.int64,
    ordered: _Integers,
    size: int,
    tolerance: float,
) -> int:
    """How many of a tier's members, best first, should be a better tier; 0 if none."""
    slot = state.order[position]
    blocks = state.blocks
    has_blocks = blocks.weights.shape[0] > 0
    n_worse = n_worse_than(state, position)
    width = state.net.shape[0]
    # Rows: the better part, the worse part, and the worse part with all that is below.
    meets = np.zeros((3, width))
    counts = np.zeros((3, blocks.weights.shape[0]), np.int64)
    if has_blocks:
        _count_parts(state, position, meets, counts)
    now = line_at(objective, state, position)
    total = state.totals[slot]
    between, upper_total = 0.0, 0.0
    best, n_upper = tolerance, 0
    for cut in range(1, size):
        item = ordered[cut - 1]
        for place in range(cut - 1):
            between -= state.above[item, ordered[place]]
        for place in range(cut, size):
            between += state.above[ordered[place], item]
        for worse in range(position + 1, state.n_tiers[0]):
            upper_total += state.into[state.order[worse], item]
        if has_blocks:
            _count_upwards(blocks, item, meets, counts)
        value = tier_value(objective, cut, meets[0]) + tier_value(objective, size - cut, meets[1])
        for part in range(2):
            if has_blocks:
                _find_net_of_part(state, position, part, meets)
            own, below, inversions = cut, size - cut + n_worse, between + upper_total
            if part == 1:
                own, below, inversions = size - cut, n_worse, total - upper_total
            value += line_of_net(objective, state, own, below, inversions)
        if value - now > best:
            best, n_upper = value - now, cut
    return n_upper


@compiled_part
def exchange_items(state: Partition, position: int, first: int, second: int) -> None:
    """Let an item of the tier at a position and one of the next change places."""
    if state.sizes[state.order[position]] > 1:
        take_out(state, first)
        put_in(state, first, 2 * position + 3)
        take_out(state, second)
        put_in(state, second, 2 * position + 1)
    else:
        take_out(state, second)
        put_in(state, second, 2 * position + 1)
        take_out(state, first)
        put_in(state, first, 2 * position + 3)


@compiled
def try_exchanges(objective: LineObjective, state: Partition, tolerance: float) -> bool:
    """Exchange items of neighbouring tiers where that is better; returns whether any was."""
    n_items = state.slot_of.shape[0]
    upper, lower = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    found = False
    every = n_items <= MOST_ITEMS_TO_EXCHANGE
    every = every and state.blocks.item_blocks.shape[0] <= MOST_MEMBERS_TO_EXCHANGE
    for position in range(state.n_tiers[0] - 1):
        slot, next_slot = state.order[position], state.order[position + 1]
        if state.sizes[slot] == 1 and state.sizes[next_slot] == 1:
            continue
        n_upper = members_of(state, slot, upper)
        n_lower = members_of(state, next_slot, lower)
        now = line_at(objective, state, position) + line_at(objective, state, position + 1)
        for place in range(n_upper):
            for other in range(n_lower):
                first, second = upper[place], lower[other]
                if not every and not _brings_nearer(state, slot, next_slot, first, second):
                    continue
                value = _value_of_exchange(objective, state, position, first, second, now)
                if value > now + tolerance:
                    exchange_items(state, position, first, second)
                    upper[place], lower[other] = second, first
                    now = value
                    found = True
    return found


@inlined
def _brings_nearer(state: Partition, slot: int, next_slot: int, first: int, second: int) -> bool:
    """Return whether there are fewer inversions after two items are exchanged."""
    change = state.out_of[slot, first] - state.out_of[slot, second]
    change += state.into[next_slot, second] - state.into[next_slot, first]
    change += state.above[first, second] + state.above[second, first]
    return bool(change < 0.0)


@inlined
def _value_of_exchange(
    objective: LineObjective, state: Partition, position: int, first: int, second: int, now: float
) -> float:
    """Value of two neighbouring lines if two items were exchanged."""
    slot, next_slot = state.order[position], state.order[position + 1]
    if state.blocks.weights.shape[0] > 0:
        exchange_items(state, position, first, second)
        value = line_at(objective, state, position) + line_at(objective, state, position + 1)
        exchange_items(state, position, second, first)
        return value
    change = state.out_of[slot, first] - state.out_of[slot, second]
    change += state.into[next_slot, second] - state.into[next_slot, first]
    change += state.above[first, second] + state.above[second, first]
    if objective.kind == 0:
        return float(now - objective.grid.thetas[0] * change)
    far = 0.0
    for worse in range(position + 2, state.n_tiers[0]):
        far += state.into[state.order[worse], first] - state.into[state.order[worse], second]
    n_worse = n_worse_than(state, position + 1)
    size, next_size = state.sizes[slot], state.sizes[next_slot]
    value = tier_value(objective, size, state.tier_meets[0])
    value += tier_value(objective, next_size, state.tier_meets[0])
    for part in range(2):
        own, below, inversions = size, next_size + n_worse, state.totals[slot] + change - far
        if part == 1:
            own, below, inversions = next_size, n_worse, state.totals[next_slot] + far
        value += line_of_net(objective, state, own, below, inversions)
    return value
