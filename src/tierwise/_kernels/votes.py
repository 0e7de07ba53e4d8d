"""Pairwise answers that may be mistaken, against complete orderings, all of which are enumerated.

Each unordered pair of items has a bit. An ordering is the bits of the pairs whose second item it
puts first; an assessor has the bits of the pairs whose second item was preferred more often, and of
the pairs compared: ``compared[row, layer]`` has those whose surplus of answers has a binary digit.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.counting import count_bits

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled_part
def _count_mistakes(against: int, compared: _Integers) -> int:
    """Count the answers, in layers, that an ordering goes against."""
    number: int | np.int64 = 0
    for layer in range(compared.shape[0]):
        number += np.int64(count_bits(np.uint64(against & compared[layer]))) << layer
    return int(number)


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
def votes_against(places: npt.NDArray[np.int32], votes: _Integers, which: _Integers) -> _Integers:
    """Count the votes of each row that its ordering goes against."""
    numbers = np.zeros(places.shape[0], dtype=np.int64)
    for row in range(places.shape[0]):
        for first in range(places.shape[1]):
            for second in range(places.shape[1]):
                if places[row, first] > places[row, second]:
                    numbers[row] += votes[which[row], first, second]
    return numbers
