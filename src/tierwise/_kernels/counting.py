"""Counts of the data: one pass over distinct answers, and again as EM weighs them again.

Answers pair by pair that may be mistaken are counted against all orderings. Each unordered pair of
items has a bit. An ordering is the bits of the pairs whose second item it puts first; an assessor
has the bits of the pairs whose second item was preferred more often, and of the pairs compared:
``compared[row, layer]`` has those whose surplus of answers has a binary digit.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tierwise._kernels.compiling import compiled, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
# int64 where all weights are whole numbers, float64 otherwise.
Numbers: TypeAlias = NDArray[Any]


@compiled_part
def count_bits(word: np.uint64) -> np.uint64:
    """Count the ones of a word, all of its bits at the same time."""
    ones, threes = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    nibbles, bytes_of_one = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    word = word - ((word >> np.uint64(1)) & ones)
    word = (word & threes) + ((word >> np.uint64(2)) & threes)
    word = (word + (word >> np.uint64(4))) & nibbles
    return (word * bytes_of_one) >> np.uint64(56)


@compiled_part
def count_up_to(ascending: _Floats, limit: float) -> int:
    """Count the values of a sorted array that are at most the limit.

    It is a search in halves. That of NumPy takes three quarters of a second to compile.
    """
    low, high = 0, ascending.shape[0]
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def add_place_counts(places: NDArray[np.int32], weights: Numbers, counts: Numbers) -> None:
    """Add to ``counts[item, place]`` the weight of answers that have the item in the place."""
    for row in range(places.shape[0]):
        for item in range(places.shape[1]):
            counts[item, places[row, item]] += weights[row]


@compiled
def add_joint_counts(places: NDArray[np.int32], weights: Numbers, counts: Numbers) -> None:
    """Add to ``counts[a, r, b, s]``, a < b, the weight of answers with a in place r and b in s."""
    n_items = places.shape[1]
    flat = counts.reshape(-1)
    # Unsigned, because an index that may be negative is checked at every step.
    n_cells = np.uint64(n_items * n_items)
    cells = np.empty(n_items, dtype=np.uint64)
    for row in range(places.shape[0]):
        weight = weights[row]
        for item in range(n_items):
            cells[item] = item * n_items + places[row, item]
        for first in range(n_items):
            start = cells[first] * n_cells
            for second in range(first + 1, n_items):
                flat[start + cells[second]] += weight


@compiled
def add_block_pair_counts(blocks: NDArray[np.int32], weights: Numbers, counts: Numbers) -> None:
    """Add to ``counts[a, b]`` the weight of answers in which a lies in an earlier block than b.

    A negative block is one that is not known: it is neither earlier nor later than any.
    """
    n_items = blocks.shape[1]
    for row in range(blocks.shape[0]):
        weight = weights[row]
        for first in range(n_items):
            block = blocks[row, first]
            if block < 0:
                continue
            # Adding up comparisons needs no branches, which could not be foreseen.
            for second in range(n_items):
                counts[first, second] += weight * (block < blocks[row, second])


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


@compiled
def add_strict_pairs(
    left: NDArray[np.bool_],
    weights: _Floats,
    in_order: _Integers,
    ahead: _Floats,
    precedence: _Floats,
) -> None:
    """Add to ``precedence[a, b]`` how often a is expected before b, among the items left.

    ``in_order`` lists the items as the strict consensus does, and ``ahead[gap]`` is the probability
    that of two items the better comes first, ``gap`` being 1 for neighbours among those left.
    """
    n_items = in_order.shape[0]
    kept = np.empty(n_items, dtype=np.int64)
    for row in range(left.shape[0]):
        n_left = 0
        for position in range(n_items):
            if left[row, in_order[position]]:
                kept[n_left] = in_order[position]
                n_left += 1
        for second in range(n_left):
            for first in range(second):
                share = weights[row] * ahead[second - first]
                precedence[kept[first], kept[second]] += share
                precedence[kept[second], kept[first]] += weights[row] - share
