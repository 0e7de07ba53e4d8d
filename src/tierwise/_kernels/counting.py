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
    for row in range(places.shape[0]):
        weight = weights[row]
        for first in range(n_items):
            start = (first * n_items + places[row, first]) * n_items
            for second in range(first + 1, n_items):
                flat[(start + second) * n_items + places[row, second]] += weight


@compiled
def add_block_pair_counts(blocks: NDArray[np.int32], weights: Numbers, counts: Numbers) -> None:
    """Add to ``counts[a, b]`` the weight of answers in which a lies in an earlier block than b."""
    n_items = blocks.shape[1]
    for row in range(blocks.shape[0]):
        weight = weights[row]
        for first in range(n_items):
            for second in range(n_items):
                if blocks[row, first] < blocks[row, second]:
                    counts[first, second] += weight
