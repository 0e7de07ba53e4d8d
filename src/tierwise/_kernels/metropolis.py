"""Metropolis over orderings: two random places trade their items, at a cost of O(L) steps."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


@compiled
def smaller_labels(table: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """``smaller[label, block]``: number of items in a block whose label is smaller.

    It has one label more than there are, so that ``smaller[label + 1]`` counts "at most".
    """
    n_blocks, n_tiers = table.shape
    smaller = np.zeros((n_tiers + 1, n_blocks), dtype=np.int64)
    for label in range(n_tiers):
        for block in range(n_blocks):
            smaller[label + 1, block] = smaller[label, block] + table[block, label]
    return smaller


@compiled
def swap_units(
    smaller: npt.NDArray[np.int64],
    first_block: int,
    first_label: int,
    second_block: int,
    second_label: int,
    misplaced: int,
    placing: npt.NDArray[np.int64],
) -> int:
    """Change of the distance, in units, when an item trades places with another.

    Tied pairs cost as much as reversed ones, or else every block is one place, and then the swap
    leaves the number of tied pairs in different blocks as it is.
    """
    if first_block == second_block or first_label == second_label:
        return 0
    if first_block < second_block:
        front, falling, back, rising = first_block, first_label, second_block, second_label
    else:
        front, falling, back, rising = second_block, second_label, first_block, first_label
    units: int = placing[front, rising] - placing[front, falling]
    units += placing[back, falling] - placing[back, rising]
    if misplaced != 0:
        # Items that stay in the front block get another item behind them, those that stay in the
        # back block another before them. The -1 takes out the two that move and adds their pair.
        pairs = smaller[rising, front] - smaller[falling, front] - 1
        pairs += smaller[rising + 1, back] - smaller[falling + 1, back]
        # Items of the blocks between get both.
        for block in range(front + 1, back):
            pairs += smaller[rising, block] - smaller[falling, block]
            pairs += smaller[rising + 1, block] - smaller[falling + 1, block]
        units += misplaced * pairs
    return units


@compiled
def walk(
    sequences: npt.NDArray[np.int64],
    block_sizes: npt.NDArray[np.int64],
    theta: float,
    misplaced: int,
    placing: npt.NDArray[np.int64],
    steps: int,
    units: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Advance one chain a row by random transpositions, in place.

    ``units`` holds the distance of each row and is kept up to date; ``theta`` is per unit. Returns,
    a row a chain, the sum of the distances over the steps, and the sum of their squares.
    """
    n_chains, n_items = sequences.shape
    n_blocks, n_tiers = placing.shape
    block_of = np.empty(n_items, dtype=np.int64)
    place = 0
    for block in range(n_blocks):
        for _ in range(block_sizes[block]):
            block_of[place] = block
            place += 1
    sums = np.zeros((n_chains, 2))
    table = np.empty((n_blocks, n_tiers), dtype=np.int64)
    for chain in range(n_chains):
        labels = sequences[chain]
        table[:] = 0
        for place in range(n_items):
            table[block_of[place], labels[place]] += 1
        smaller = smaller_labels(table)
        current = units[chain]
        total = 0.0
        squares = 0.0
        for _ in range(steps):
            # The two may be the same place: else a chain that accepts everything would alternate
            # between even and odd orderings for ever.
            here = int(rng.random() * n_items)
            there = int(rng.random() * n_items)
            first, second = labels[here], labels[there]
            front, back = block_of[here], block_of[there]
            change = swap_units(smaller, front, first, back, second, misplaced, placing)
            if change <= 0 or rng.random() < np.exp(-theta * change):
                labels[here] = second
                labels[there] = first
                current += change
                if front != back:
                    for label in range(first + 1, second + 1):
                        smaller[label, front] -= 1
                        smaller[label, back] += 1
                    for label in range(second + 1, first + 1):
                        smaller[label, front] += 1
                        smaller[label, back] -= 1
            total += current
            squares += float(current) * float(current)
        units[chain] = current
        sums[chain, 0] = total
        sums[chain, 1] = squares
    return sums
