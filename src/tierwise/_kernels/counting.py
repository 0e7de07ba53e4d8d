"""Counts of the data: one pass over distinct answers, and again as EM weighs them again."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part

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


@compiled_if_many(lambda places, *_: 0.4 * places.size)
def add_place_counts(places: NDArray[np.int32], weights: Numbers, counts: Numbers) -> None:
    """Add to ``counts[item, place]`` the weight of answers that have the item in the place."""
    for row in range(places.shape[0]):
        for item in range(places.shape[1]):
            counts[item, places[row, item]] += weights[row]


@compiled_if_many(lambda places, *_: 0.3 * places.size * places.shape[1])
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


@compiled_if_many(lambda blocks, *_: 0.35 * blocks.size * blocks.shape[1])
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
