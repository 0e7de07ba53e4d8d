"""Linear extensions: the complete orderings that agree with a partial order.

``relation[a, b]`` says that item a comes before item b; it is transitive and has no cycles.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Relation = npt.NDArray[np.bool_]


@compiled
def _count_predecessors(relation: _Relation) -> _Integers:
    """Count how many items must come before each."""
    waiting = np.zeros(relation.shape[0], dtype=np.int64)
    for item in range(relation.shape[0]):
        for other in range(relation.shape[0]):
            waiting[item] += int(relation[other, item])
    return waiting


@compiled
def list_extensions(relation: _Relation, number: int) -> npt.NDArray[np.int32]:
    """Places of all items, one row an extension; ``number`` says how many there are."""
    n_items = relation.shape[0]
    places = np.empty((number, n_items), dtype=np.int32)
    waiting = _count_predecessors(relation)
    current = np.full(n_items, -1, dtype=np.int64)
    place_of = np.full(n_items, -1, dtype=np.int32)
    found = 0
    place = 0
    while place >= 0:
        # Take back the item of this place, then try the next one that may stand there.
        item = current[place] + 1
        if current[place] >= 0:
            place_of[current[place]] = -1
            for other in range(n_items):
                waiting[other] += int(relation[current[place], other])
        while item < n_items and (place_of[item] >= 0 or waiting[item] > 0):
            item += 1
        if item == n_items:
            current[place] = -1
            place -= 1
            continue
        current[place] = item
        place_of[item] = place
        for other in range(n_items):
            waiting[other] -= int(relation[item, other])
        if place + 1 < n_items:
            place += 1
        else:
            places[found] = place_of
            found += 1
    return places


@compiled
def count_extensions(relation: _Relation) -> float:
    """Count the extensions by how many ways lead to each set of first items."""
    n_items = relation.shape[0]
    before = np.zeros(n_items, dtype=np.int64)
    for item in range(n_items):
        for other in range(n_items):
            if relation[other, item]:
                before[item] |= 1 << other
    ways = np.zeros(1 << n_items)
    ways[0] = 1.0
    for chosen in range(1 << n_items):
        if ways[chosen] == 0.0:
            continue
        for item in range(n_items):
            if not (chosen >> item) & 1 and (before[item] & ~chosen) == 0:
                ways[chosen | (1 << item)] += ways[chosen]
    return float(ways[-1])


@compiled
def draw_log_weights(relation: _Relation, draws: int, rng: np.random.Generator) -> _Floats:
    """Log weights whose exponentials average to the number of extensions.

    Each draw fills the places in turn with any item that may stand there; its weight is the product
    of the numbers of such items.
    """
    n_items = relation.shape[0]
    logs = np.zeros(draws)
    ready = np.empty(n_items, dtype=np.int64)
    start = _count_predecessors(relation)
    for draw in range(draws):
        waiting = start.copy()
        for _ in range(n_items):
            n_ready = 0
            for item in range(n_items):
                if waiting[item] == 0:
                    ready[n_ready] = item
                    n_ready += 1
            item = ready[int(rng.random() * n_ready)]
            waiting[item] = -1
            logs[draw] += np.log(n_ready)
            for other in range(n_items):
                waiting[other] -= int(relation[item, other])
    return logs


@compiled
def block_units(
    blocks: npt.NDArray[np.int32],
    labels: _Integers,
    misplaced: int,
    tied: int,
    placing: _Integers,
) -> _Integers:
    """Distance of each row from the tiers, in units, from the block of each item."""
    n_rows, n_items = blocks.shape
    units = np.zeros(n_rows, dtype=np.int64)
    table = np.empty(placing.shape, dtype=np.int64)
    for row in range(n_rows):
        table[:] = 0
        for item in range(n_items):
            table[blocks[row, item], labels[item]] += 1
        units[row] = table_units(table, misplaced, tied, placing)
    return units


@compiled
def table_units(table: _Integers, misplaced: int, tied: int, placing: _Integers) -> int:
    """Distance of an ordering with this contingency table, in units."""
    n_blocks, n_tiers = table.shape
    units = 0
    later = np.zeros(n_tiers, dtype=np.int64)
    for block in range(n_blocks - 1, -1, -1):
        reversed_ones = 0
        for label in range(n_tiers):
            of_pairs = misplaced * reversed_ones + tied * later[label]
            units += table[block, label] * (of_pairs + placing[block, label])
            reversed_ones += later[label]
        for label in range(n_tiers):
            later[label] += table[block, label]
    return units
