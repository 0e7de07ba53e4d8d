"""Counting weak orders: pairs of items in different blocks, and the blocks that tie several items.

Answers come as the first place of each item's block, so that the places of a block are known from
its first place and its size.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled
def add_pairs(first: npt.NDArray[np.int32], weights: _Floats, above: _Floats) -> None:
    """Add to ``above[a, b]`` the weight of answers with a in an earlier block than b."""
    n_items = first.shape[1]
    for row in range(first.shape[0]):
        weight = weights[row]
        places = first[row]
        for item in range(n_items):
            place = places[item]
            counts = above[item]
            for other in range(n_items):
                counts[other] += weight * (place < places[other])


@compiled
def count_tied_blocks(first: npt.NDArray[np.int32]) -> tuple[int, int]:
    """Return the number of blocks with several items, and of the items in them."""
    n_items = first.shape[1]
    sizes = np.zeros(n_items, np.int64)
    n_blocks = 0
    n_members = 0
    for row in range(first.shape[0]):
        sizes[:] = 0
        for item in range(n_items):
            sizes[first[row, item]] += 1
        for place in range(n_items):
            if sizes[place] > 1:
                n_blocks += 1
                n_members += sizes[place]
    return n_blocks, n_members


@compiled
def list_tied_blocks(
    first: npt.NDArray[np.int32],
    weights: _Floats,
    words: npt.NDArray[np.uint64],
    block_weights: _Floats,
) -> None:
    """Write each block with several items as a set of bits, with the weight of its answer."""
    n_items = first.shape[1]
    sizes = np.zeros(n_items, np.int64)
    block_at = np.zeros(n_items, np.int64)
    block = 0
    for row in range(first.shape[0]):
        sizes[:] = 0
        for item in range(n_items):
            sizes[first[row, item]] += 1
        for place in range(n_items):
            if sizes[place] > 1:
                block_at[place] = block
                block_weights[block] = weights[row]
                block += 1
        for item in range(n_items):
            place = first[row, item]
            if sizes[place] > 1:
                words[block_at[place], item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@compiled
def members_of_words(
    words: npt.NDArray[np.uint64], n_items: int, offsets: _Integers, members: _Integers
) -> None:
    """Write sets of bits as lists of members, ascending, laid end to end."""
    for block in range(words.shape[0]):
        place = offsets[block]
        for item in range(n_items):
            if (words[block, item >> 6] >> np.uint64(item & 63)) & np.uint64(1):
                members[place] = item
                place += 1


@compiled
def words_of_members(offsets: _Integers, members: _Integers, words: npt.NDArray[np.uint64]) -> None:
    """Write lists of members as sets of bits."""
    for block in range(offsets.shape[0] - 1):
        for place in range(offsets[block], offsets[block + 1]):
            item = members[place]
            words[block, item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@compiled
def count_inversions_by_line(above: _Floats, labels: _Integers, n_tiers: int) -> _Floats:
    """Inversions of each line: ``b`` above ``a`` though ``a`` is of the line's better tier."""
    totals = np.zeros(n_tiers)
    for item in range(labels.shape[0]):
        for other in range(labels.shape[0]):
            if labels[item] < labels[other]:
                totals[labels[item]] += above[other, item]
    return totals


@compiled
def block_histograms(
    offsets: _Integers,
    members: _Integers,
    weights: _Floats,
    labels: _Integers,
    n_tiers: int,
    width: int,
) -> tuple[_Floats, _Floats]:
    """Weight of the tied blocks that meet a tier in ``k`` items, and a tier with all worse ones."""
    of_tier = np.zeros((n_tiers, width))
    of_tail = np.zeros((n_tiers + 1, width))
    tally = np.zeros(n_tiers, np.int64)
    for block in range(weights.shape[0]):
        tally[:] = 0
        for place in range(offsets[block], offsets[block + 1]):
            tally[labels[members[place]]] += 1
        running = 0
        for tier in range(n_tiers - 1, -1, -1):
            running += tally[tier]
            of_tier[tier, tally[tier]] += weights[block]
            of_tail[tier, running] += weights[block]
    return of_tier, of_tail
