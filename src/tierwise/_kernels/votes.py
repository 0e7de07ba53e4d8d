"""Pairwise answers that may be mistaken, against complete orderings.

Where items are few, all orderings are enumerated; else orderings are drawn.

Each unordered pair of items has a bit. An ordering is the bits of the pairs whose second item it
puts first; an assessor has the bits of the pairs whose second item was preferred more often, and of
the pairs compared: ``compared[row, layer]`` has those whose surplus of answers has a binary digit.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.augmentation import Model, starts_of_blocks, units_of_crossing
from tierwise._kernels.compiling import compiled, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled_part
def _count_bits(bits: int) -> int:
    """Count the bits that are set, of at most 62."""
    number = 0
    while bits != 0:
        bits &= bits - 1
        number += 1
    return number


@compiled_part
def _count_mistakes(against: int, compared: _Integers) -> int:
    """Count the answers, in layers, that an ordering goes against."""
    number = 0
    for layer in range(compared.shape[0]):
        number += _count_bits(against & compared[layer]) << layer
    return number


@compiled
def tabulate_mistakes(
    orderings: _Integers,
    units: _Integers,
    compared: _Integers,
    reversed_pairs: _Integers,
    table: _Floats,
) -> None:
    """Count in ``table[row, units, mistakes]`` the orderings at each distance, by mistakes."""
    for row in range(compared.shape[0]):
        for ordering in range(orderings.shape[0]):
            against = orderings[ordering] ^ reversed_pairs[row]
            mistakes = _count_mistakes(against, compared[row])
            table[row, units[ordering], mistakes] += 1.0


@compiled
def weigh_orderings(
    orderings: _Integers,
    compared: _Integers,
    reversed_pairs: _Integers,
    weights: _Floats,
) -> _Floats:
    """Sum over rows the weight that each ordering has, ``weights[row, mistakes]``."""
    sums = np.zeros(orderings.shape[0])
    for row in range(compared.shape[0]):
        for ordering in range(orderings.shape[0]):
            against = orderings[ordering] ^ reversed_pairs[row]
            mistakes = _count_mistakes(against, compared[row])
            sums[ordering] += weights[row, mistakes]
    return sums


@compiled
def redraw_orderings(
    places: npt.NDArray[np.int32],
    surplus: npt.NDArray[np.int32],
    which: _Integers,
    model: Model,
    penalty: float,
    rng: np.random.Generator,
) -> None:
    """Take out every item of every row once, and put it back anywhere at random; in place.

    ``surplus[which[row], a, b]`` says how many more answers put a above b than b above a, and
    ``penalty`` is the log odds of a right answer against a mistaken one. Within a block of places
    the distance is the same, so that it changes only where blocks end.
    """
    n_items = model.labels.shape[0]
    starts = starts_of_blocks(model)
    others = np.empty(n_items, dtype=np.int64)
    energies = np.empty(n_items)
    for row in range(places.shape[0]):
        current = places[row]
        for item in range(n_items):
            others[current[item]] = item
        for item in range(n_items):
            label = model.labels[item]
            votes = surplus[which[row], item]
            for place in range(current[item], n_items - 1):
                others[place] = others[place + 1]
            energy = 0.0
            least = 0.0
            energies[0] = 0.0
            for place in range(1, n_items):
                energy += penalty * votes[others[place - 1]]
                block = model.block_of_place[place]
                if starts[block] == place:
                    start, end = starts[block - 1], starts[block + 1]
                    units = units_of_crossing(others, place - 1, label, start, end, model)
                    energy += model.theta * units
                energies[place] = energy
                least = min(least, energy)
            chosen = _draw(energies, least, rng)
            for place in range(n_items - 1, chosen, -1):
                others[place] = others[place - 1]
            others[chosen] = item
            for place in range(n_items):
                current[others[place]] = place


@compiled
def _draw(energies: _Floats, least: float, rng: np.random.Generator) -> int:
    """Draw a place with probabilities by the energies, which become weights."""
    total = 0.0
    before, weight = np.nan, 0.0
    for place in range(energies.shape[0]):
        # Few answers of an assessor leave many neighbouring places equally likely.
        if energies[place] != before:
            before = energies[place]
            weight = np.exp(least - before)
        energies[place] = weight
        total += weight
    remainder = rng.random() * total
    # Where rounding leaves a remainder after the last place, the last possible one stands.
    chosen = 0
    for place in range(energies.shape[0]):
        if energies[place] > 0.0:
            chosen = place
            remainder -= energies[place]
        if remainder < 0.0:
            break
    return chosen


@compiled
def votes_against(places: npt.NDArray[np.int32], votes: _Integers, which: _Integers) -> _Integers:
    """Count the votes of each row that its ordering goes against."""
    numbers = np.zeros(places.shape[0], dtype=np.int64)
    for row in range(places.shape[0]):
        for first in range(places.shape[1]):
            for second in range(places.shape[1]):
                if places[row, first] > places[row, second]:
                    numbers[row] += votes[which[row], first, second]
    return numbers
