"""Completing incomplete answers at random, as probable as the model makes each completion.

An answer is completed as an ordering, ``places[row, item]``. Item by item, an item is taken out and
put back anywhere between the last item that must come before it and the first that must come after,
with the probability of each place given the order of the others. Where answers may be mistaken,
nothing must come before anything, but each vote that is gone against makes an ordering less likely.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.extensions import table_units

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.int32]
_Votes = npt.NDArray[np.int64]


class Model(NamedTuple):
    """Tiers by label of item, blocks by place, the distance in units, and theta per unit.

    ``penalty`` is the log odds of a right answer against a mistaken one.
    """

    labels: _Integers
    block_of_place: _Integers
    misplaced: int
    placing: _Integers
    theta: float
    penalty: float


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
def _tabulate(places: _Places, row: int, model: Model, table: _Integers) -> None:
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
def _walk(
    places: _Places,
    ordering: _Integers,
    table: _Integers,
    place: int,
    target: int,
    model: Model,
    votes: _Votes,
    energies: _Floats,
) -> None:
    """Move an item place by place; ``energies[place]`` is what it costs to get to each place.

    The energy is theta times the distance, plus the penalty of each vote that is gone against.
    """
    item = ordering[place]
    label = model.labels[item]
    step = 1 if target > place else -1
    for here in range(place, target, step):
        there = here + step
        other = ordering[there]
        upper, lower = min(here, there), max(here, there)
        change = 0.0
        if model.block_of_place[upper] != model.block_of_place[lower]:
            edge = model.labels[other]
            falling, rising = (label, edge) if step == 1 else (edge, label)
            units = _exchange(
                table,
                model.block_of_place[upper],
                falling,
                rising,
                model.misplaced,
                model.placing,
            )
            change += model.theta * units
        if votes.shape[0] > 0:
            # Going down, the item is now behind the other.
            against = votes[item, other] - votes[other, item]
            change += model.penalty * (against if step == 1 else -against)
        energies[there] = energies[here] + change
        ordering[here] = other
        places[other] = here
        ordering[there] = item
        places[item] = there


@compiled
def _draw_place(energies: _Floats, low: int, high: int, rng: np.random.Generator) -> int:
    """Draw a place, from low to high, with probabilities by the energies."""
    least = energies[low : high + 1].min()
    total = 0.0
    for place in range(low, high + 1):
        total += np.exp(least - energies[place])
    remainder = rng.random() * total
    # Where rounding leaves a remainder after the last place, the last possible one stands.
    chosen = low
    for place in range(low, high + 1):
        weight = np.exp(least - energies[place])
        if weight > 0.0:
            chosen = place
            remainder -= weight
        if remainder < 0.0:
            break
    return chosen


@compiled
def reinsert_items(
    places: _Places,
    relations: npt.NDArray[np.bool_],
    votes: _Votes,
    which: _Integers,
    model: Model,
    rng: np.random.Generator,
) -> None:
    """Take out every item of every row once, and put it back at random; in place.

    ``relations[which[row]]`` is the partial order that a row must keep to, and
    ``votes[which[row]][a, b]`` how often the answer put a above b, if it may be mistaken; else it
    has shape (rows, 0, 0).
    """
    n_items = model.labels.shape[0]
    n_tiers = model.placing.shape[0]
    table = np.empty((n_tiers, n_tiers), dtype=np.int64)
    ordering = np.empty(n_items, dtype=np.int64)
    energies = np.empty(n_items)
    for row in range(places.shape[0]):
        answer = which[row]
        current = places[row]
        _tabulate(places, row, model, table)
        for item in range(n_items):
            ordering[current[item]] = item
        for item in range(n_items):
            low, high = _bounds(relations[answer], current, item)
            if low == high:
                continue
            arguments = (model, votes[answer], energies)
            energies[current[item]] = 0.0
            _walk(current, ordering, table, current[item], low, *arguments)
            _walk(current, ordering, table, low, high, *arguments)
            chosen = _draw_place(energies, low, high, rng)
            _walk(current, ordering, table, high, chosen, *arguments)


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
    n_tiers = model.placing.shape[0]
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
        _tabulate(places, row, model, table)
        units = table_units(table, model.misplaced, model.placing)
        _tabulate(proposal, 0, model, table)
        change = table_units(table, model.misplaced, model.placing) - units
        if change <= 0 or rng.random() < np.exp(-model.theta * change):
            places[row] = proposal[0]


@compiled
def votes_against(places: _Places, votes: _Votes, which: _Integers) -> _Integers:
    """Count the votes of each row that its ordering goes against."""
    numbers = np.zeros(places.shape[0], dtype=np.int64)
    for row in range(places.shape[0]):
        for first in range(places.shape[1]):
            for second in range(places.shape[1]):
                if places[row, first] > places[row, second]:
                    numbers[row] += votes[which[row], first, second]
    return numbers
