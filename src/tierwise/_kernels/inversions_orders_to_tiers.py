"""Orders and their best cuts: Kemeny's criterion by insertion, and dynamic programming over cuts.

Along a given order tiers are runs, and the best runs are found by going through all of them from
the last item to the first: the best value of what begins at an item is the best, over the runs that
begin there, of the run's own value and the best value of what follows.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.inversions_lines import LineObjective
from tierwise._kernels.inversions_partition import Partition, line_of_net, tier_value

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled
def improve_order(above: _Floats, order: _Integers, most_sweeps: int) -> None:
    """Insert items where they contradict fewest rankings, in place, until none moves."""
    n_items = order.shape[0]
    for _ in range(most_sweeps):
        moved = False
        for item in range(n_items):
            here = 0
            while order[here] != item:
                here += 1
            best, target, change = -1e-9, here, 0.0
            for place in range(here - 1, -1, -1):
                other = order[place]
                change += above[other, item] - above[item, other]
                if change < best:
                    best, target = change, place
            change = 0.0
            for place in range(here + 1, n_items):
                other = order[place]
                change += above[item, other] - above[other, item]
                if change < best:
                    best, target = change, place
            if target != here:
                moved = True
                step = 1 if target > here else -1
                for place in range(here, target, step):
                    order[place] = order[place + step]
                order[target] = item
        if not moved:
            break


@compiled
def best_cuts(  # noqa: PLR0912 - all runs, with and without ties, in one pass
    objective: LineObjective, state: Partition, order: _Integers
) -> _Integers:
    """Labels of the best tiers that are runs of an order; ``state`` is room to work in."""
    n_items = order.shape[0]
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
    values = np.full(n_items + 1, -np.inf)
    ends = np.zeros(n_items + 1, np.int64)
    values[n_items] = 0.0
    # Rows: everything from the first item on, the run, and what follows it.
    meets = np.zeros((3, width))
    whole = np.zeros(blocks.weights.shape[0], np.int64)
    in_run = np.zeros(blocks.weights.shape[0], np.int64)
    for first in range(n_items - 1, -1, -1):
        if has_blocks:
            for block in range(in_run.shape[0]):
                in_run[block] = 0
            item = order[first]
            for entry in range(blocks.item_offsets[item], blocks.item_offsets[item + 1]):
                block = blocks.item_blocks[entry]
                meets[0, whole[block]] -= blocks.weights[block]
                whole[block] += 1
                meets[0, whole[block]] += blocks.weights[block]
            for number in range(width):
                meets[1, number] = 0.0
                meets[2, number] = meets[0, number]
        paid, added = 0.0, 0.0
        for last in range(first, n_items):
            item = order[last]
            paid += tails[last]
            added += state.below[order[first], item]
            inside[last] += added
            if has_blocks:
                for entry in range(blocks.item_offsets[item], blocks.item_offsets[item + 1]):
                    block = blocks.item_blocks[entry]
                    weight, number = blocks.weights[block], in_run[block]
                    meets[1, number] -= weight
                    meets[1, number + 1] += weight
                    meets[2, whole[block] - number] -= weight
                    meets[2, whole[block] - number - 1] += weight
                    in_run[block] += 1
                for number in range(2, width):
                    state.net[number] = meets[0, number] - meets[1, number] - meets[2, number]
            size = last - first + 1
            total = paid - inside[last]
            value = line_of_net(objective, state, size, n_items - 1 - last, total)
            value += tier_value(objective, size, meets, 1) + values[last + 1]
            if value > values[first]:
                values[first], ends[first] = value, last + 1
    labels = np.zeros(n_items, np.int64)
    first, tier = 0, 0
    while first < n_items:
        for place in range(first, ends[first]):
            labels[order[place]] = tier
        first = ends[first]
        tier += 1
    return labels
