"""Tied blocks of weak orders, and how many members of each are in each tier.

Rows are sets of items: tiers by their slots, the two sides of a deal, two sets taken as one, and,
where each line has a theta, each tier with all worse ones. Where items are in many blocks, as those
that pass or fail tasks are, blocks are bits: what an item adds to a row is then counted for 64
blocks at a time, by how many members the row holds.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled_part
from tierwise._kernels.counting import count_bits
from tierwise._kernels.ordered_partition import N_TIERS, ORDER, POSITION_OF, SIZES, SLOT_OF

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Tallies = npt.NDArray[np.uint32]
_Words = npt.NDArray[np.uint64]

# Blocks are bits where an item is in so many of them, on the average, for each word that they take,
# and where this does not take too much memory.
_LEAST_BLOCKS_OF_A_WORD = 8
_MOST_BYTES = 100_000_000
# Rows behind those of tiers, of which there is one more than items.
SIDES, BOTH, TAILS = 1, 3, 4


class Ties(NamedTuple):
    """Tied blocks, and how many members of each are in each row."""

    weights: _Floats
    item_offsets: _Integers
    """Where the blocks of each item begin."""
    item_blocks: _Integers
    whole: _Floats
    """Weight of the blocks by the number of their members."""
    counted: _Integers
    """Number of items in each row."""
    held: _Tallies
    """``[row, block]``: members in the row, where blocks are not bits."""
    bits: _Words
    """``[item, word]``: the blocks that hold an item, as bits; no words where they are not."""
    word_weights: _Floats
    """Weight of all blocks of a word."""
    reached: _Words
    """``[row, number, word]``: the blocks that have so many members in the row, or more."""
    meets: _Floats
    """``[row, k]``: weight of the blocks with k members in the row, k from 2; no columns if there
    are no tails."""


def make_ties(
    offsets: _Integers,
    members: _Integers,
    weights: _Floats,
    item_offsets: _Integers,
    item_blocks: _Integers,
    *,
    tails: bool,
) -> Ties:
    """Room for how many members of each block are in each tier, and in each with worse ones."""
    n_blocks, n_items = len(weights), len(item_offsets) - 1
    n_rows = n_items + TAILS + (n_items + 1 if tails else 0)
    block_sizes = np.diff(offsets)
    largest = int(block_sizes.max(initial=1))
    # Blocks of the same weight share words.
    values, which = np.unique(weights, return_inverse=True)
    words_of_value = -(-np.bincount(which, minlength=len(values)) // 64)
    n_words = int(words_of_value.sum())
    dense = len(item_blocks) >= _LEAST_BLOCKS_OF_A_WORD * n_words * n_items > 0
    if not dense or 8 * n_rows * (largest + 2) * n_words > _MOST_BYTES:
        n_words = 0
    bits = np.zeros((n_items, n_words), np.uint64)
    if n_words:
        by_value = np.argsort(which, kind="stable")
        first = np.cumsum(words_of_value) - words_of_value
        number = np.arange(n_blocks) - np.searchsorted(which[by_value], which[by_value])
        place = np.empty(n_blocks, np.int64)
        place[by_value] = 64 * first[which[by_value]] + number
        block_of_member = np.repeat(np.arange(n_blocks), block_sizes)
        own = np.uint64(1) << (place % 64).astype(np.uint64)
        np.bitwise_or.at(bits, (members, (place // 64)[block_of_member]), own[block_of_member])
    reached = np.zeros((n_rows, largest + 2, n_words), np.uint64)
    reached[:, 0] = ~np.uint64(0)
    return Ties(
        weights,
        item_offsets,
        item_blocks,
        np.bincount(block_sizes, weights, minlength=largest + 1).astype(np.float64),
        np.zeros(n_rows, np.int64),
        np.zeros((n_rows, 0 if n_words else n_blocks), np.uint32),
        bits,
        np.repeat(values, words_of_value) if n_words else np.zeros(0),
        reached,
        np.zeros((n_rows, largest + 1 if tails else 0)),
    )


def no_ties(n_items: int) -> Ties:
    """Return what complete rankings have in place of tied blocks."""
    none = np.zeros(0, np.int64)
    offsets = np.zeros(n_items + 1, np.int64)
    return make_ties(offsets[:1], none, np.zeros(0), offsets, none, tails=False)


@compiled_part
def load_ties(ties: Ties, places: _Integers) -> None:
    """Count the members of all blocks by tier, and by tier with all worse ones."""
    for row in range(len(ties.counted)):
        clear_row(ties, row)
    n_items = places.shape[1] - 1
    for item in range(n_items):
        slot = places[SLOT_OF, item]
        count_item(ties, item, slot)
        if ties.meets.shape[1] > 0:
            for position in range(places[POSITION_OF, slot] + 1):
                count_item(ties, item, n_items + TAILS + places[ORDER, position])


@compiled_part
def levels_of(ties: Ties, row: int | np.int64) -> int:
    """Return how many members of a block a row can hold, of those that blocks have."""
    return int(min(ties.counted[row], ties.reached.shape[1] - 2))


@compiled_part
def clear_row(ties: Ties, row: int | np.int64) -> None:
    """Leave a row without items."""
    for number in range(1, levels_of(ties, row) + 1):
        for word in range(ties.bits.shape[1]):
            ties.reached[row, number, word] = 0
    for block in range(ties.held.shape[1]):
        ties.held[row, block] = 0
    for number in range(ties.meets.shape[1]):
        ties.meets[row, number] = 0.0
    ties.counted[row] = 0


@compiled_part
def copy_row(ties: Ties, source: int | np.int64, target: int | np.int64) -> None:
    """Give a row the items of another."""
    clear_row(ties, target)
    ties.counted[target] = ties.counted[source]
    for number in range(1, levels_of(ties, source) + 1):
        for word in range(ties.bits.shape[1]):
            ties.reached[target, number, word] = ties.reached[source, number, word]
    for block in range(ties.held.shape[1]):
        ties.held[target, block] = ties.held[source, block]
    for number in range(ties.meets.shape[1]):
        ties.meets[target, number] = ties.meets[source, number]


@compiled_part
def join_rows(
    ties: Ties, row: int | np.int64, other: int | np.int64, target: int | np.int64
) -> None:
    """Give a row the items of two others, which have none in common."""
    clear_row(ties, target)
    ties.counted[target] = ties.counted[row] + ties.counted[other]
    for number in range(1, levels_of(ties, target) + 1):
        least = max(0, number - levels_of(ties, other))
        for part in range(least, min(number, levels_of(ties, row)) + 1):
            for word in range(ties.bits.shape[1]):
                ties.reached[target, number, word] |= (
                    ties.reached[row, part, word] & ties.reached[other, number - part, word]
                )
    for block in range(ties.held.shape[1]):
        ties.held[target, block] = ties.held[row, block] + ties.held[other, block]
    if ties.meets.shape[1] > 0:
        add_meets(ties, target, 1.0, ties.meets[target])


@compiled_part
def count_item(ties: Ties, item: int, row: int | np.int64) -> None:
    """Count an item in a row."""
    if ties.meets.shape[1] > 0:
        add_change(ties, item, row, 1.0, ties.meets[row])
    ties.counted[row] += 1
    if ties.bits.shape[1] > 0:
        for number in range(levels_of(ties, row), 0, -1):
            for word in range(ties.bits.shape[1]):
                ties.reached[row, number, word] |= (
                    ties.reached[row, number - 1, word] & ties.bits[item, word]
                )
        return
    for entry in range(ties.item_offsets[item], ties.item_offsets[item + 1]):
        ties.held[row, ties.item_blocks[entry]] += np.uint32(1)


@compiled_part
def discount_item(ties: Ties, item: int, row: int | np.int64) -> None:
    """No longer count an item in a row."""
    if ties.bits.shape[1] > 0:
        for number in range(1, levels_of(ties, row) + 1):
            for word in range(ties.bits.shape[1]):
                ties.reached[row, number, word] &= (
                    ~ties.bits[item, word] | ties.reached[row, number + 1, word]
                )
    else:
        for entry in range(ties.item_offsets[item], ties.item_offsets[item + 1]):
            ties.held[row, ties.item_blocks[entry]] -= np.uint32(1)
    ties.counted[row] -= 1
    if ties.meets.shape[1] > 0:
        add_change(ties, item, row, -1.0, ties.meets[row])


@compiled_part
def take_from_ties(ties: Ties, places: _Integers, item: int) -> None:
    """No longer count an item in its tier, and in the tails that it is in."""
    slot, tails = places[SLOT_OF, item], places.shape[1] - 1 + TAILS
    discount_item(ties, item, slot)
    if ties.meets.shape[1] > 0:
        for position in range(places[POSITION_OF, slot] + 1):
            # The tail of an empty tier is not known.
            if places[SIZES, places[ORDER, position]] > 0:
                discount_item(ties, item, tails + places[ORDER, position])


@compiled_part
def put_in_ties(ties: Ties, places: _Integers, item: int, slot: int | np.int64) -> None:
    """Count an item, which was taken out, in a tier, and in the tails that it is in then."""
    tails, own = places.shape[1] - 1 + TAILS, places[POSITION_OF, slot]
    count_item(ties, item, slot)
    if ties.meets.shape[1] > 0:
        if places[SIZES, slot] == 0:
            if own + 1 < places[N_TIERS, 0]:
                copy_row(ties, tails + places[ORDER, own + 1], tails + slot)
            else:
                clear_row(ties, tails + slot)
        for position in range(own + 1):
            count_item(ties, item, tails + places[ORDER, position])


@compiled_part
def _weight_in_common(ties: Ties, item: int, row: int | np.int64, number: int) -> float:
    """Return the weight of an item's blocks that have so many members in a row, or more."""
    weight = 0.0
    for word in range(ties.bits.shape[1]):
        shared = count_bits(ties.bits[item, word] & ties.reached[row, number, word])
        weight += ties.word_weights[word] * np.int64(shared)
    return weight


@compiled_part
def add_change(ties: Ties, item: int, row: int | np.int64, sign: float, meets: _Floats) -> None:
    """Add what an item changes of the weights of blocks by members in a row that it is not in."""
    if ties.bits.shape[1] > 0:
        for number in range(1, levels_of(ties, row) + 1):
            common = sign * _weight_in_common(ties, item, row, number)
            if common == 0.0:
                break
            meets[number - 1] += common
            meets[number] -= 2.0 * common
            meets[number + 1] += common
        return
    for entry in range(ties.item_offsets[item], ties.item_offsets[item + 1]):
        block = ties.item_blocks[entry]
        number = ties.held[row, block]
        if number > 0:
            meets[number] -= sign * ties.weights[block]
            meets[number + 1] += sign * ties.weights[block]


@compiled_part
def rise(ties: Ties, item: int, row: int | np.int64, rises: _Floats) -> float:
    """Return what an item adds to the blocks of a row that it is not in.

    ``rises[k]`` is what a member more than k adds.
    """
    if ties.bits.shape[1] > 0:
        value = 0.0
        for number in range(1, levels_of(ties, row) + 1):
            common = _weight_in_common(ties, item, row, number)
            if common == 0.0:
                break
            value += common * (rises[number] - rises[number - 1])
        return value
    begin, beyond = ties.item_offsets[item], ties.item_offsets[item + 1]
    blocks, weights, held = ties.item_blocks, ties.weights, ties.held[row]
    # Two sums, of which neither waits for the other.
    even, odd = 0.0, 0.0
    for entry in range(begin, beyond - 1, 2):
        even += weights[blocks[entry]] * rises[held[blocks[entry]]]
        odd += weights[blocks[entry + 1]] * rises[held[blocks[entry + 1]]]
    if (beyond - begin) % 2 == 1:
        even += weights[blocks[beyond - 1]] * rises[held[blocks[beyond - 1]]]
    return even + odd


@compiled_part
def add_meets(ties: Ties, row: int | np.int64, sign: float, meets: _Floats) -> None:
    """Add the weights of blocks by their number of members in a row, from one member on."""
    more = 0.0
    for number in range(levels_of(ties, row) if ties.bits.shape[1] > 0 else 0, 0, -1):
        weight = 0.0
        for word in range(ties.bits.shape[1]):
            bits = count_bits(ties.reached[row, number, word])
            weight += ties.word_weights[word] * np.int64(bits)
        meets[number] += sign * (weight - more)
        more = weight
    for block in range(ties.held.shape[1]):
        meets[ties.held[row, block]] += sign * ties.weights[block]


@compiled_part
def value_of_blocks(ties: Ties, row: int | np.int64, values: _Floats, room: _Floats) -> float:
    """Return what blocks add for a row, where ``values[k]`` is what k members add."""
    levels, value = min(levels_of(ties, row), len(ties.whole) - 1), 0.0
    if ties.meets.shape[1] > 0:
        for number in range(2, levels + 1):
            value += ties.meets[row, number] * values[number]
        return value
    for number in range(levels + 1):
        room[number] = 0.0
    add_meets(ties, row, 1.0, room)
    for number in range(2, levels + 1):
        value += room[number] * values[number]
    return value
