"""Counting: what the model needs of the data, in one pass over the distinct answers."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.compiling import compiled

# int64 where all weights are whole numbers, float64 otherwise.
Numbers: TypeAlias = NDArray[Any]


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

    A negative block is one that is not known.
    """
    n_items = blocks.shape[1]
    for row in range(blocks.shape[0]):
        weight = weights[row]
        for first in range(n_items):
            for second in range(n_items):
                if 0 <= blocks[row, first] < blocks[row, second]:
                    counts[first, second] += weight


@compiled
def add_answer_places(
    places: NDArray[np.int32], weights: Numbers, answers: NDArray[np.int64], counts: Numbers
) -> None:
    """Add to ``counts[answer, item, place]`` the weight of rows that belong to the answer."""
    for row in range(places.shape[0]):
        for item in range(places.shape[1]):
            counts[answers[row], item, places[row, item]] += weights[row]
