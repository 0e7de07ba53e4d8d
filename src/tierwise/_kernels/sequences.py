"""Label sequences: the tiers of the items of an ordering, place by place.

An ordering meets the tiers only through its sequence, ``sequences[row, place]``.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


@compiled
def sequence_units(
    sequences: npt.NDArray[np.int64],
    block_sizes: npt.NDArray[np.int64],
    misplaced: int,
    tied: int,
    placing: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Distance of each row from the tiers, in units."""
    n_rows = sequences.shape[0]
    n_blocks, n_tiers = placing.shape
    units = np.zeros(n_rows, dtype=np.int64)
    at_least = np.empty(n_tiers + 1, dtype=np.int64)
    for row in range(n_rows):
        # Items of the blocks before this one, by label: those of at least each label.
        at_least[:] = 0
        pairs, ties = 0, 0
        placed = 0
        start = 0
        for block in range(n_blocks):
            end = start + block_sizes[block]
            for place in range(start, end):
                label = sequences[row, place]
                placed += placing[block, label]
                pairs += at_least[label + 1]
                ties += at_least[label] - at_least[label + 1]
            if misplaced != 0:
                for place in range(start, end):
                    for label in range(sequences[row, place] + 1):
                        at_least[label] += 1
            start = end
        units[row] = misplaced * pairs + tied * ties + placed
    return units


@compiled
def shuffle_within_blocks(
    sequences: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], rng: np.random.Generator
) -> None:
    """Put the labels within each block of each row into a random order, in place."""
    for row in range(sequences.shape[0]):
        start = 0
        for block in range(sizes.shape[0]):
            for left in range(sizes[block], 1, -1):
                chosen = start + int(rng.random() * left)
                last = start + left - 1
                held = sequences[row, last]
                sequences[row, last] = sequences[row, chosen]
                sequences[row, chosen] = held
            start += sizes[block]


@compiled
def deal_items(
    sequences: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    items_by_label: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Orderings with the given labels, the items of each label in random order.

    ``items_by_label`` lists the items of the first label, then those of the second, and so on.
    """
    orderings = np.empty_like(sequences)
    n_tiers = sizes.shape[0]
    hand = items_by_label.copy()
    left = np.empty(n_tiers, dtype=np.int64)
    starts = np.empty(n_tiers, dtype=np.int64)
    start = 0
    for label in range(n_tiers):
        starts[label] = start
        start += sizes[label]
    for row in range(sequences.shape[0]):
        left[:] = sizes
        for place in range(sequences.shape[1]):
            label = sequences[row, place]
            chosen = starts[label]
            last = starts[label] + left[label] - 1
            if left[label] > 1:
                chosen += int(rng.random() * left[label])
            item = hand[chosen]
            hand[chosen] = hand[last]
            hand[last] = item
            left[label] -= 1
            orderings[row, place] = item
    return orderings
