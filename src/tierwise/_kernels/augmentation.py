"""Completing incomplete answers at random, as probable as the model makes each completion.

An answer is completed as an ordering, ``places[row, item]``. Item by item, an item is taken out and
put back anywhere between the last item that must come before it and the first that must come after,
with the probability of each place given the order of the others.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.extensions import table_units

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.int32]


# Beyond this energy a weight is no longer a number.
MOST_ENERGY = 740.0


class Model(NamedTuple):
    """Tiers by label of item, blocks by place, the distance in units, and theta per unit."""

    labels: _Integers
    block_of_place: _Integers
    misplaced: int
    tied: int
    placing: _Integers
    theta: float


@compiled
def exchange(
    table: _Integers, block: int, falling: int, rising: int, misplaced: int, placing: _Integers
) -> int:
    """Let an item of a block and one of the next trade places; return the change in units.

    ``falling`` and ``rising`` are their labels; the table is brought up to date. Tied pairs cost as
    much as reversed ones, or else every block is one place, so that no tied pair is concerned.
    """
    if falling == rising:
        return 0
    upper, lower = table[block], table[block + 1]
    upper[falling] -= 1
    lower[rising] -= 1
    change = placing[block + 1, falling] - placing[block, falling]
    change += placing[block, rising] - placing[block + 1, rising]
    if misplaced != 0:
        low, high = min(falling, rising), max(falling, rising)
        pairs = 1
        for label in range(low, high):
            pairs += upper[label] + lower[label + 1]
        change += misplaced * (pairs if rising > falling else -pairs)
    upper[rising] += 1
    lower[falling] += 1
    return int(change)


@compiled
def tabulate(places: _Places, row: int, model: Model, table: _Integers) -> None:
    """Write down the contingency table of an ordering."""
    table[:] = 0
    for item in range(model.labels.shape[0]):
        table[model.block_of_place[places[row, item]], model.labels[item]] += 1


@compiled
def _bounds(relation: npt.NDArray[np.bool_], places: _Places, item: int) -> tuple[int, int]:
    """First and last place that the partial order leaves to an item, the others keeping theirs."""
    low, high = 0, places.shape[0] - 1
    for other in range(relation.shape[0]):
        if relation[other, item]:
            low = max(low, places[other] + 1)
        elif relation[item, other]:
            high = min(high, places[other] - 1)
    return low, high


@compiled
def _cross(others: _Integers, place: int, label: int, start: int, end: int, model: Model) -> int:
    """Change in units, if an item of a label leaves the last place of a block for the next one.

    The others are in order, without the item: the one that stood behind it takes its place. The two
    blocks reach from ``start`` to before ``end``.
    """
    rising = model.labels[others[place]]
    if rising == label:
        return 0
    block = model.block_of_place[place]
    change = model.placing[block + 1, label] - model.placing[block, label]
    change += model.placing[block, rising] - model.placing[block + 1, rising]
    if model.misplaced != 0:
        low, high = min(label, rising), max(label, rising)
        pairs = 1
        for position in range(start, place):
            pairs += int(low <= model.labels[others[position]] < high)
        for position in range(place + 1, end - 1):
            pairs += int(low < model.labels[others[position]] <= high)
        change += model.misplaced * (pairs if rising > label else -pairs)
    return int(change)


@compiled
def _draw_place(
    units: _Integers, low: int, high: int, weights: _Floats, rng: np.random.Generator
) -> int:
    """Draw a place, from low to high, with probabilities by its units.

    ``weights[number]`` is the weight of so many units; that of more is nothing.
    """
    least = units[low : high + 1].min()
    largest = weights.shape[0] - 1
    total = 0.0
    for place in range(low, high + 1):
        total += weights[min(units[place] - least, largest)]
    remainder = rng.random() * total
    # Where rounding leaves a remainder after the last place, the last possible one stands.
    chosen = low
    for place in range(low, high + 1):
        weight = weights[min(units[place] - least, largest)]
        if weight > 0.0:
            chosen = place
            remainder -= weight
        if remainder < 0.0:
            break
    return chosen


@compiled
def _tabulate_weights(model: Model) -> _Floats:
    """Weights of all numbers of units that places of an item can differ by, up to nothing."""
    n_items, n_blocks = model.labels.shape[0], model.placing.shape[0]
    largest = model.misplaced * n_items * n_items
    if model.placing.size > 0:
        # Each item changes its block by one, but for the one that is moved.
        largest += (n_items + n_blocks) * (model.placing.max() - model.placing.min())
    if model.theta > 0.0:
        largest = min(largest, int(MOST_ENERGY / model.theta) + 1)
    weights = np.exp(-model.theta * np.arange(largest + 1))
    if model.theta * largest > MOST_ENERGY:
        weights[largest] = 0.0
    return weights


@compiled
def reinsert_items(
    places: _Places,
    relations: npt.NDArray[np.bool_],
    which: _Integers,
    model: Model,
    rng: np.random.Generator,
) -> None:
    """Take out every item of every row once, and put it back at random; in place.

    ``relations[which[row]]`` is the partial order that a row must keep to.
    """
    n_items = model.labels.shape[0]
    n_blocks = model.placing.shape[0]
    starts = np.full(n_blocks + 1, n_items, dtype=np.int64)
    for place in range(n_items - 1, -1, -1):
        starts[model.block_of_place[place]] = place
    others = np.empty(n_items, dtype=np.int64)
    units = np.empty(n_items, dtype=np.int64)
    weights = _tabulate_weights(model)
    for row in range(places.shape[0]):
        relation, current = relations[which[row]], places[row]
        for item in range(n_items):
            others[current[item]] = item
        for item in range(n_items):
            low, high = _bounds(relation, current, item)
            if low == high:
                continue
            for place in range(current[item], n_items - 1):
                others[place] = others[place + 1]
            units[low] = 0
            for place in range(low, high):
                units[place + 1] = units[place]
                block = model.block_of_place[place]
                if place + 1 == starts[block + 1]:
                    start, end = starts[block], starts[block + 2]
                    change = _cross(others, place, model.labels[item], start, end, model)
                    units[place + 1] += change
            chosen = _draw_place(units, low, high, weights, rng)
            for place in range(n_items - 1, chosen, -1):
                others[place] = others[place - 1]
            others[chosen] = item
            for place in range(min(chosen, current[item]), max(chosen, current[item]) + 1):
                current[others[place]] = place


@compiled
def refill_places(
    places: _Places,
    first: npt.NDArray[np.int32],
    which: _Integers,
    model: Model,
    rng: np.random.Generator,
) -> None:
    """Propose for every row any of its completions, all being equally likely; in place.

    ``first[which[row]]`` is the first place of each item's tied group among the listed items, or -1
    for items that may be anywhere. The paper's proposal.
    """
    n_items = model.labels.shape[0]
    table = np.empty(model.placing.shape, dtype=np.int64)
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
        tabulate(places, row, model, table)
        units = table_units(table, model.misplaced, model.tied, model.placing)
        tabulate(proposal, 0, model, table)
        change = table_units(table, model.misplaced, model.tied, model.placing) - units
        if change <= 0 or rng.random() < np.exp(-model.theta * change):
            places[row] = proposal[0]
