"""Completing incomplete answers at random, as probable as the model makes each completion.

An answer is completed as an ordering: ``places[row, item]`` and its inverse. Item by item, an item
is taken out and put back anywhere between the last item that must come before it and the first that
must come after, with the probability of each place given the order of the others. Only the items at
the edges of the blocks that it passes change their block, so that a move takes little work.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.extensions import table_units

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.int32]


@compiled
def _exchange(
    table: _Integers, block: int, falling: int, rising: int, misplaced: int, placing: _Integers
) -> int:
    """Let an item of a block and one of the next trade places; return the change in units.

    ``falling`` and ``rising`` are their labels; the table is brought up to date.
    """
    if falling == rising:
        return 0
    upper, lower = table[block], table[block + 1]
    upper[falling] -= 1
    lower[rising] -= 1
    change = placing[block + 1, falling] - placing[block, falling]
    change += placing[block, rising] - placing[block + 1, rising]
    if misplaced != 0:
        pairs = 1 if rising > falling else -1
        for label in range(table.shape[0]):
            pairs += upper[label] * (int(label >= falling) - int(label >= rising))
            pairs += lower[label] * (int(label <= rising) - int(label <= falling))
        change += misplaced * pairs
    upper[rising] += 1
    lower[falling] += 1
    return int(change)


@compiled
def _tabulate(
    places: _Places, row: int, labels: _Integers, block_of_place: _Integers, table: _Integers
) -> None:
    """Write down the contingency table of an ordering."""
    table[:] = 0
    for item in range(labels.shape[0]):
        table[block_of_place[places[row, item]], labels[item]] += 1


@compiled
def _bounds(relation: npt.NDArray[np.bool_], places: _Places, item: int) -> tuple[int, int]:
    """First and last place that the partial order leaves to an item, the others keeping theirs."""
    low, high = 0, places.shape[0] - 1
    for other in range(places.shape[0]):
        if relation[other, item]:
            low = max(low, places[other] + 1)
        elif relation[item, other]:
            high = min(high, places[other] - 1)
    return low, high


@compiled
def _reach(
    table: _Integers,
    ordering: _Integers,
    labels: _Integers,
    item: int,
    home: int,
    end: int,
    starts: _Integers,
    misplaced: int,
    placing: _Integers,
    changes: _Integers,
) -> None:
    """Carry an item from its home block towards an end block, and the table with it.

    ``changes[block]`` is written for each block on the way: what it costs to get there.
    """
    label = labels[item]
    for block in range(home, end):
        edge = labels[ordering[starts[block + 1]]]
        step = _exchange(table, block, label, edge, misplaced, placing)
        changes[block + 1] = changes[block] + step
    for block in range(home, end, -1):
        edge = labels[ordering[starts[block] - 1]]
        step = _exchange(table, block - 1, edge, label, misplaced, placing)
        changes[block - 1] = changes[block] + step


@compiled
def _return(
    table: _Integers,
    ordering: _Integers,
    labels: _Integers,
    item: int,
    home: int,
    end: int,
    starts: _Integers,
    misplaced: int,
    placing: _Integers,
) -> None:
    """Undo what `_reach` did to the table."""
    label = labels[item]
    for block in range(end - 1, home - 1, -1):
        edge = labels[ordering[starts[block + 1]]]
        _exchange(table, block, edge, label, misplaced, placing)
    for block in range(end + 1, home + 1):
        edge = labels[ordering[starts[block] - 1]]
        _exchange(table, block - 1, label, edge, misplaced, placing)


@compiled
def _shift(places: _Places, ordering: _Integers, source: int, target: int) -> None:
    """Move the item of one place to another; those between close the gap."""
    item = ordering[source]
    step = 1 if target > source else -1
    for place in range(source, target, step):
        ordering[place] = ordering[place + step]
        places[ordering[place]] = place
    ordering[target] = item
    places[item] = target


@compiled
def reinsert_items(
    places: _Places,
    relations: npt.NDArray[np.bool_],
    which: _Integers,
    labels: _Integers,
    sizes: _Integers,
    theta: float,
    misplaced: int,
    placing: _Integers,
    rng: np.random.Generator,
) -> None:
    """Take out every item of every row once, and put it back at random; in place.

    ``relations[which[row]]`` is the partial order of a row.
    """
    n_items = labels.shape[0]
    n_tiers = sizes.shape[0]
    starts = np.zeros(n_tiers + 1, dtype=np.int64)
    block_of_place = np.empty(n_items, dtype=np.int64)
    for block in range(n_tiers):
        starts[block + 1] = starts[block] + sizes[block]
        block_of_place[starts[block] : starts[block + 1]] = block
    table = np.empty((n_tiers, n_tiers), dtype=np.int64)
    ordering = np.empty(n_items, dtype=np.int64)
    changes = np.empty(n_tiers, dtype=np.int64)
    for row in range(places.shape[0]):
        relation = relations[which[row]]
        _tabulate(places, row, labels, block_of_place, table)
        for item in range(n_items):
            ordering[places[row, item]] = item
        for item in range(n_items):
            low, high = _bounds(relation, places[row], item)
            if low == high:
                continue
            place = places[row, item]
            home, best, worst = block_of_place[place], block_of_place[low], block_of_place[high]
            changes[home] = 0
            arguments = (starts, misplaced, placing)
            _reach(table, ordering, labels, item, home, best, *arguments, changes)
            _return(table, ordering, labels, item, home, best, *arguments)
            _reach(table, ordering, labels, item, home, worst, *arguments, changes)
            _return(table, ordering, labels, item, home, worst, *arguments)
            least = changes[best : worst + 1].min()
            total = 0.0
            for block in range(best, worst + 1):
                room = min(high + 1, starts[block + 1]) - max(low, starts[block])
                total += room * np.exp(-theta * (changes[block] - least))
            remainder = rng.random() * total
            target = place
            for block in range(best, worst + 1):
                first = max(low, starts[block])
                room = min(high + 1, starts[block + 1]) - first
                weight = np.exp(-theta * (changes[block] - least))
                if weight > 0.0:
                    target = first + min(int(remainder / weight), room - 1)
                    remainder -= room * weight
                if remainder < 0.0:
                    break
            # `changes` is not needed any more: going there brings the table up to date.
            _reach(table, ordering, labels, item, home, block_of_place[target], *arguments, changes)
            _shift(places[row], ordering, place, target)


@compiled
def refill_places(
    places: _Places,
    first: npt.NDArray[np.int32],
    which: _Integers,
    labels: _Integers,
    sizes: _Integers,
    theta: float,
    misplaced: int,
    placing: _Integers,
    rng: np.random.Generator,
) -> None:
    """Propose for every row any of its completions, all being equally likely; in place.

    ``first[which[row]]`` is the first place of each item's tied group among the listed items, or -1
    for items that may be anywhere. The paper's proposal.
    """
    n_items = labels.shape[0]
    n_tiers = sizes.shape[0]
    block_of_place = np.repeat(np.arange(n_tiers), sizes)
    table = np.empty((n_tiers, n_tiers), dtype=np.int64)
    proposal = np.empty((1, n_items), dtype=np.int32)
    keys = np.empty(n_items)
    for row in range(places.shape[0]):
        answer = first[which[row]]
        n_free = 0
        for item in range(n_items):
            # Listed items by their group, in random order within; free ones before all of them.
            keys[item] = answer[item] + rng.random()
            n_free += int(answer[item] < 0)
        sequence = np.argsort(keys)
        free, listed = 0, n_free
        for place in range(n_items):
            if rng.random() * (n_items - place) < n_free - free:
                proposal[0, sequence[free]] = place
                free += 1
            else:
                proposal[0, sequence[listed]] = place
                listed += 1
        _tabulate(places, row, labels, block_of_place, table)
        units = table_units(table, misplaced, placing)
        _tabulate(proposal, 0, labels, block_of_place, table)
        change = table_units(table, misplaced, placing) - units
        if change <= 0 or rng.random() < np.exp(-theta * change):
            places[row] = proposal[0]
