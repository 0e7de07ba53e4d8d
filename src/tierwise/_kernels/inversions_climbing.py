"""Local search over ordered partitions: best cuts of an order, then moves of items and tiers.

Along a given order tiers are runs, and the best runs are found by dynamic programming over cuts.

Then every move that makes the tiers better is taken, until none does: an item to any tier or to a
new one of its own, two items of neighbouring tiers exchanged, neighbouring tiers joined or
exchanged, and a tier cut in two along the order in which its own members are preferred to each
other.
"""

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
from tierwise._kernels.consensus import best_runs
from tierwise._kernels.inversions_partition import (
    THETA,
    Board,
    exchange_tiers,
    gain_of_exchanging,
    gain_of_joining,
    join_tiers,
    load,
    move_item,
    put_at,
    value_neighbours,
    value_places,
    value_run,
    write_theta,
)
from tierwise._kernels.ordered_partition import (
    ABOVE,
    BELOW,
    N_TIERS,
    ORDER,
    SIZES,
    Tiers,
    cut_where_best,
    list_members,
    place_of,
)
from tierwise._kernels.tied_blocks import Ties, take_from_ties

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Places at which an order is cut, at most.
MOST_CUTS = 400
# Up to so many items, and items in tied blocks, every exchange is tried; beyond, only those that
# leave fewer inversions.
MOST_ITEMS_TO_EXCHANGE = 60
MOST_MEMBERS_TO_EXCHANGE = 20_000


@inlined
def _begin_run(ties: Ties, item: int, meets: _Floats, whole: _Integers, in_run: _Integers) -> None:
    """Count what tied blocks meet where an item goes before all later ones, in an empty run."""
    for block in range(in_run.shape[0]):
        in_run[block] = 0
    for entry in range(ties.item_offsets[item], ties.item_offsets[item + 1]):
        block = ties.item_blocks[entry]
        meets[0, whole[block]] -= ties.weights[block]
        whole[block] += 1
        meets[0, whole[block]] += ties.weights[block]
    for number in range(meets.shape[1]):
        meets[1, number] = 0.0
        meets[2, number] = meets[0, number]


@inlined
def _lengthen_run(
    ties: Ties, item: int, meets: _Floats, whole: _Integers, in_run: _Integers
) -> None:
    """Count an item in the run, and no longer in what follows it."""
    for entry in range(ties.item_offsets[item], ties.item_offsets[item + 1]):
        block = ties.item_blocks[entry]
        weight, number = ties.weights[block], in_run[block]
        meets[1, number] -= weight
        meets[1, number + 1] += weight
        meets[2, whole[block] - number] -= weight
        meets[2, whole[block] - number - 1] += weight
        in_run[block] += 1


@inlined
def _load_best_cuts(board: Board, order: _Integers) -> None:
    """Make the best runs of an order the tiers.

    Orders of very many items are cut at every few places only: moves of items do the rest. What is
    copied in, and not compiled as it stands, counts no references in its loops: without ties it
    takes a third of the time.
    """
    above, below = board.tiers.pairs[ABOVE], board.tiers.pairs[BELOW]
    ties = board.ties
    n_items = order.shape[0]
    step = 1 + (n_items - 1) // MOST_CUTS
    has_ties = len(ties.weights) > 0
    # What each item pays for all that come after it.
    tails = np.zeros(n_items)
    for place in range(n_items):
        for later in range(place + 1, n_items):
            tails[place] += above[order[later], order[place]]
    # What the items of a run from the current first item up to each last one pay for each other.
    inside = np.zeros(n_items)
    n_runs = (n_items + step - 1) // step
    values = np.full((n_runs + 1, n_runs + 1), -np.inf)
    # Rows: everything from the first item on, the run, and what follows it.
    meets = np.zeros((3, len(ties.whole)))
    whole = np.zeros(len(ties.weights), np.int64)
    in_run = np.zeros(len(ties.weights), np.int64)
    for first in range(n_items - 1, -1, -1):
        may_begin = first % step == 0
        if has_ties:
            _begin_run(ties, order[first], meets, whole, in_run)
        paid, added = 0.0, 0.0
        for last in range(first, n_items):
            item = order[last]
            paid += tails[last]
            added += below[order[first], item]
            inside[last] += added
            if not may_begin:
                continue
            if has_ties:
                _lengthen_run(ties, item, meets, whole, in_run)
            if (last + 1) % step != 0 and last + 1 < n_items:
                continue
            size, total = last - first + 1, paid - inside[last]
            value = value_run(board, size, n_items - 1 - last, total, meets)
            values[first // step, (last + step) // step] = value
    runs = best_runs(values)
    labels = np.zeros(n_items, np.int64)
    for place in range(n_items):
        labels[order[place]] = runs[place // step]
    load(board.tiers, ties, labels)


@compiled
def load_best_cuts(board: Board, order: _Integers, theta: float) -> None:
    """Make the best runs of an order at a theta the tiers; an infinite one if lines have theirs."""
    write_theta(board, theta)
    _load_best_cuts(board, order)


@inlined
def _move_items(board: Board, sequence: _Integers, tolerance: float) -> int:
    """Move each item in turn to where it is best; returns how many moved."""
    places = board.tiers.places
    values = np.zeros(2 * sequence.shape[0] + 1)
    # A Python int would trigger a second specialisation, here and below.
    n_moved, first = 0, np.int64(0)
    for item in sequence:
        n_places, here = place_of(places, item)
        if len(board.ties.weights) > 0:
            take_from_ties(board.ties, places, item)
        value_places(board, board.lines, item, first, n_places - 1, values)
        best, chosen = values[here] + tolerance, here
        for place in range(n_places):
            if values[place] > best:
                best, chosen = values[place], place
        n_moved += int(chosen != here)
        put_at(board, item, here, chosen)
    return n_moved


@inlined
def _try_neighbours(board: Board, tolerance: float) -> bool:
    """Join or exchange the two neighbouring tiers of which that is best, if it is better."""
    chosen: int | np.int64 = np.int64(-1)
    best, joins = tolerance, False
    for position in range(board.tiers.places[N_TIERS, 0] - 1):
        gain = gain_of_joining(board, position)
        if gain > best:
            best, chosen, joins = gain, position, True
        gain = gain_of_exchanging(board, board.lines, position)
        if gain > best:
            best, chosen, joins = gain, position, False
    if chosen >= 0:
        if joins:
            join_tiers(board, chosen)
        else:
            exchange_tiers(board, chosen)
    return bool(chosen >= 0)


@compiled_part
def _sort_by_lead(tiers: Tiers, position: int | np.int64, members: _Integers) -> int:
    """List a tier's members by how much they are preferred to each other, best first."""
    sums, slot = tiers.sums, tiers.places[ORDER, position]
    count = list_members(tiers.places, position, position, members)
    for place in range(1, count):
        item = members[place]
        lead = sums[BELOW, slot, item] - sums[ABOVE, slot, item]
        free = place
        while free > 0:
            other = members[free - 1]
            if sums[BELOW, slot, other] - sums[ABOVE, slot, other] >= lead:
                break
            members[free] = other
            free -= 1
        members[free] = item
    return count


@inlined
def _try_splits(board: Board, tolerance: float) -> bool:
    """Cut tiers in two where that is better; returns whether one was."""
    places = board.tiers.places
    members = np.zeros(places.shape[1], np.int64)
    found = False
    position = np.int64(0)
    while position < places[N_TIERS, 0]:
        gain = 0.0
        if places[SIZES, places[ORDER, position]] > 1:
            count = _sort_by_lead(board.tiers, position, members)
            gain = cut_where_best(
                move_item, gain_of_joining, board, places, position, members, count, tolerance
            )
        if gain > 0.0:
            # The better part may be cut again.
            found = True
        else:
            position += 1
    return found


@compiled_part
def _change_by_exchange(tiers: Tiers, slot: int, below: int, first: int, second: int) -> float:
    """Return how many more inversions there are if items of neighbouring tiers are exchanged."""
    sums, above = tiers.sums, tiers.pairs[ABOVE]
    change = sums[BELOW, slot, first] - sums[BELOW, slot, second]
    change += sums[ABOVE, below, second] - sums[ABOVE, below, first]
    return float(change + above[first, second] + above[second, first])


@inlined
def _try_exchanges(board: Board, every: int, tolerance: float) -> bool:
    """Exchange items of neighbouring tiers where that is better; returns whether any was.

    Unless every exchange is to be tried, only those are that leave fewer inversions.
    """
    places = board.tiers.places
    n_items = places.shape[1] - 1
    upper, lower = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    found = False
    for position in range(places[N_TIERS, 0] - 1):
        slot, below = places[ORDER, position], places[ORDER, position + 1]
        n_upper = list_members(places, position, position, upper)
        n_lower = list_members(places, position + 1, position + 1, lower)
        if n_upper + n_lower == 2:
            continue
        now = value_neighbours(board, position)
        for place in range(n_upper):
            for other in range(n_lower):
                first, second = upper[place], lower[other]
                if every == 0 and _change_by_exchange(board.tiers, slot, below, first, second) >= 0:
                    continue
                move_item(board, first, below)
                move_item(board, second, slot)
                value = value_neighbours(board, position)
                if value > now + tolerance:
                    upper[place], lower[other] = second, first
                    now = value
                    found = True
                else:
                    move_item(board, first, slot)
                    move_item(board, second, below)
    return found


@compiled
def improve(board: Board, sequence: _Integers, tolerance: float) -> bool:
    """Move items; where none moves, change tiers; where that is not better, exchange items.

    Returns whether the tiers are better.
    """
    improved = _move_items(board, sequence, tolerance) > 0
    if not improved:
        while _try_neighbours(board, tolerance):
            improved = True
        if _try_splits(board, tolerance):
            improved = True
    if not improved:
        # With one theta and without ties, what leaves more inversions is not better.
        every = 1 if len(board.ties.weights) > 0 or board.numbers[THETA] == np.inf else 0
        if len(sequence) > MOST_ITEMS_TO_EXCHANGE:
            every = 0
        if len(board.ties.item_blocks) > MOST_MEMBERS_TO_EXCHANGE:
            every = 0
        improved = _try_exchanges(board, every, tolerance)
    return improved
