"""Draws of complete orderings: repeated insertion, label sequences, Metropolis, pseudo-likelihood.

An ordering meets the tiers only through its label sequence: the tiers of its items, place by place,
``sequences[row, place]``. In a step of the Metropolis chain two random places trade their items, at
a cost that grows with the number of tiers.

Under the pseudo-likelihood places are filled from the first to the last, each by a choice of label.
Among the labels that have items left, the smallest weighs 1 and any other ``exp(-theta c)``, where
``c`` is its number of items left. The item is then any of the ``c``.
"""

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined

# Below so many items it takes less to count the bounds that a uniform number is above than to take
# its logarithm.
_MOST_BOUNDS = 64


@compiled_part
def order_of(keys: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Numbers of some keys from the least to the greatest, equal ones as they come.

    Insertion is enough for dozens of items, and compiled in a tenth of the time of `numpy.argsort`.
    """
    order = np.empty(keys.shape[0], np.int64)
    for number in range(keys.shape[0]):
        place = number
        while place > 0 and keys[order[place - 1]] > keys[number]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = number
    return order


@compiled_part
def _bounds_of_insertion(n_items: int, theta: float) -> npt.NDArray[np.float64]:
    """Entry ``[i, v]``: chance that item ``i`` passes at most ``v`` of the items before it."""
    n_rows = min(n_items, _MOST_BOUNDS)
    bounds = np.ones((n_rows, n_rows))
    for item in range(n_rows):
        for passed in range(item):
            if theta == 0.0:
                bounds[item, passed] = (passed + 1) / (item + 1)
            else:
                bounds[item, passed] = np.expm1(-theta * (passed + 1)) / np.expm1(
                    -theta * (item + 1)
                )
    return bounds


@compiled
def draw_by_insertion(
    sizes: npt.NDArray[np.int64], theta: float, n_rows: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw orderings of items numbered tier by tier: repeated insertion, then tiers are shuffled.

    The next item passes ``v`` of the items before it with probability proportional to
    ``exp(-theta v)``: a truncated geometric variable, drawn by inversion. Theta may be infinite.
    """
    n_items = sizes.sum()
    orderings = np.empty((n_rows, n_items), dtype=np.int64)
    names = np.empty(n_items, dtype=np.int64)
    bounds = _bounds_of_insertion(n_items, theta)
    for row in range(n_rows):
        ordering = orderings[row]
        for item in range(n_items):
            uniform = rng.random()
            if item < _MOST_BOUNDS:
                passed = 0
                for bound in range(item):
                    passed += uniform >= bounds[item, bound]
            elif theta == 0.0:
                passed = int(uniform * (item + 1))
            else:
                passed = int(np.log1p(uniform * np.expm1(-theta * (item + 1))) / -theta)
            place = item - min(passed, item)
            for later in range(item, place, -1):
                ordering[later] = ordering[later - 1]
            ordering[place] = item
        if sizes.shape[0] == n_items:
            continue
        begin = 0
        for size in sizes:
            for place in range(begin, begin + size):
                names[place] = place
            for place in range(begin + size - 1, begin, -1):
                other = begin + int(rng.random() * (place - begin + 1))
                names[place], names[other] = names[other], names[place]
            begin += size
        for place in range(n_items):
            ordering[place] = names[ordering[place]]
    return orderings


@compiled
def place_probabilities(decay: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Probability of each place for each item (column); ``decay[v]`` is ``exp(-theta v)``."""
    n_items = decay.shape[0]
    probabilities = np.zeros((n_items, n_items))
    for item in range(n_items):
        total = decay[: item + 1].sum()
        # Chances that the new item enters before a place, and behind it.
        behind = 0.0
        for place in range(item, -1, -1):
            enters = decay[item - place] / total
            before = decay[item - place + 1 : item + 1].sum() / total
            for other in range(item):
                stays = probabilities[place, other] * behind
                comes = probabilities[place - 1, other] * before if place > 0 else 0.0
                probabilities[place, other] = stays + comes
            probabilities[place, item] = enters
            behind += enters
    return probabilities


# What a pair is charged to: the whole distance, or a part of it.
WHOLE, EARLIER_BLOCK, BETTER_TIER = 0, 1, 2
# Counting a contingency table pays if it has so many times fewer cells than there are pairs.
_PAIRS_PER_CELL = 6


@compiled_part
def _compare_with_all(
    blocks: npt.NDArray[np.int32], labels: npt.NDArray[np.int32], item: int
) -> tuple[int, int]:
    """Count the items in later blocks that have a smaller label, and those with the same one."""
    block, label = blocks[item], labels[item]
    # Narrow numbers, so that many comparisons are made at once.
    n_reversed, n_tied = np.int32(0), np.int32(0)
    for other in range(blocks.shape[0]):
        later = block < blocks[other]
        n_reversed += np.int32(later & (labels[other] < label))
        n_tied += np.int32(later & (labels[other] == label))
    return int(n_reversed), int(n_tied)


@compiled
def distance_units(
    blocks: npt.NDArray[np.int32],
    labels: npt.NDArray[np.int64],
    misplaced: int,
    tied: int,
    placing: npt.NDArray[np.int64],
    charged: int,
    units: npt.NDArray[np.int64],
) -> None:
    """Add to ``units[row, part]`` the distance of each row from the tiers.

    Items are columns, in any order, of which the blocks and the labels are given. Where all rows
    have the same blocks, or the same labels, these may be given as a single row. Of several parts,
    a pair belongs to that of the earlier item's block, or of the better tier, which is that of the
    later item.
    """
    n_items = blocks.shape[1]
    block_step, label_step = int(blocks.shape[0] > 1), int(labels.shape[0] > 1)
    compared = misplaced != 0 or tied != 0
    few_cells = _PAIRS_PER_CELL * placing.size < n_items * n_items
    by_table = compared and charged == WHOLE and few_cells
    # Seen from the end, the later item comes first and the better tier is the larger label.
    sign = -1 if charged == BETTER_TIER else 1
    table = np.empty(placing.shape, dtype=np.int64)
    own_blocks = np.empty(n_items, dtype=np.int32)
    own_labels = np.empty(n_items, dtype=np.int32)
    for row in range(units.shape[0]):
        if by_table:
            table[:] = 0
            for item in range(n_items):
                table[blocks[block_step * row, item], labels[label_step * row, item]] += 1
            units[row, 0] += table_units(table, misplaced, tied, placing)
            continue
        for item in range(n_items):
            own_blocks[item] = sign * blocks[block_step * row, item]
            own_labels[item] = sign * labels[label_step * row, item]
        for item in range(n_items):
            block, label = sign * own_blocks[item], sign * own_labels[item]
            part = 0
            if charged != WHOLE:
                part = block if charged == EARLIER_BLOCK else label
            units[row, part] += placing[block, label]
            if compared:
                n_reversed, n_tied = _compare_with_all(own_blocks, own_labels, item)
                units[row, part] += misplaced * n_reversed + tied * n_tied


@compiled_part
def table_units(
    table: npt.NDArray[np.int64], misplaced: int, tied: int, placing: npt.NDArray[np.int64]
) -> int:
    """Distance of an ordering with this contingency table, in units."""
    n_blocks, n_tiers = table.shape
    units = 0
    later = np.zeros(n_tiers, dtype=np.int64)
    for block in range(n_blocks - 1, -1, -1):
        reversed_ones = 0
        for label in range(n_tiers):
            of_pairs = misplaced * reversed_ones + tied * later[label]
            units += table[block, label] * (of_pairs + placing[block, label])
            reversed_ones += later[label]
        for label in range(n_tiers):
            later[label] += table[block, label]
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
def draw_matchings(
    log_rooks: npt.NDArray[np.float64],
    log_ways: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.int64],
    forced: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Draw label sequences with ``forced[row]`` items forced into the blocks of their tiers.

    There are ``log_ways[tier, k]`` ways to force ``k`` items of a tier, and ``log_rooks[t, k]`` to
    force as many of the first ``t`` tiers, in logarithms.
    """
    n_tiers, n_items = sizes.shape[0], log_rooks.shape[1] - 1
    sequences = np.empty((forced.shape[0], n_items), dtype=np.int64)
    split = np.empty(n_tiers, dtype=np.int64)
    pool = np.empty(n_items, dtype=np.int64)
    for row in range(forced.shape[0]):
        left = forced[row]
        in_pool = 0
        for tier in range(n_tiers - 1, -1, -1):
            # Where rounding leaves a remainder after the last choice, the last possible one stands.
            remainder = rng.random()
            split[tier] = 0
            for chosen in range(min(left, sizes[tier]) + 1):
                weight = np.exp(
                    log_rooks[tier, left - chosen]
                    + log_ways[tier, chosen]
                    - log_rooks[tier + 1, left]
                )
                if weight > 0.0:
                    split[tier] = chosen
                    remainder -= weight
                if remainder < 0.0:
                    break
            left -= split[tier]
            for _ in range(sizes[tier] - split[tier]):
                pool[in_pool] = tier
                in_pool += 1
        place = 0
        for block in range(n_tiers):
            for position in range(sizes[block]):
                if position < split[block]:
                    sequences[row, place] = block
                else:
                    drawn = int(rng.random() * in_pool)
                    in_pool -= 1
                    sequences[row, place] = pool[drawn]
                    pool[drawn] = pool[in_pool]
                place += 1
    return sequences


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
    if n_tiers == sequences.shape[1]:
        for row in range(sequences.shape[0]):
            for place in range(n_tiers):
                orderings[row, place] = items_by_label[sequences[row, place]]
        return orderings
    hand = items_by_label.copy()
    left = np.empty(n_tiers, dtype=np.int64)
    starts = np.empty(n_tiers, dtype=np.int64)
    start = 0
    for label in range(n_tiers):
        starts[label] = start
        start += sizes[label]
    for row in range(sequences.shape[0]):
        for label in range(sizes.shape[0]):
            left[label] = sizes[label]
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


@compiled_part
def _smaller_labels(table: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """``smaller[label, block]``: number of items in a block whose label is smaller.

    It has one label more than there are, so that ``smaller[label + 1]`` counts "at most".
    """
    n_blocks, n_tiers = table.shape
    smaller = np.zeros((n_tiers + 1, n_blocks), dtype=np.int64)
    for label in range(n_tiers):
        for block in range(n_blocks):
            smaller[label + 1, block] = smaller[label, block] + table[block, label]
    return smaller


@inlined
def _swap_units(
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
    one row per chain, the sum of the distances over the steps, and the sum of their squares.
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
        smaller = _smaller_labels(table)
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
            change = _swap_units(smaller, front, first, back, second, misplaced, placing)
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


@compiled
def log_pseudo(
    sequences: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    decay: npt.NDArray[np.float64],
    theta: float,
) -> npt.NDArray[np.float64]:
    """Log pseudo-likelihood of orderings with these labels; ``decay[c]`` is ``exp(-theta c)``.

    Rows 1 and 2 are its derivatives in theta. At an infinite theta orderings that do not agree with
    the tiers have minus infinity.
    """
    rows = np.zeros((3, sequences.shape[0]))
    left = np.empty_like(sizes)
    for row in range(sequences.shape[0]):
        for label in range(sizes.shape[0]):
            left[label] = sizes[label]
        smallest = 0
        for place in range(sequences.shape[1]):
            while left[smallest] == 0:
                smallest += 1
            total, first, second = 1.0, 0.0, 0.0
            for label in range(smallest + 1, sizes.shape[0]):
                if left[label] > 0:
                    weight = decay[left[label]]
                    total += weight
                    first += left[label] * weight
                    second += left[label] * left[label] * weight
            label = sequences[row, place]
            if label != smallest:
                rows[0, row] -= theta * left[label]
                rows[1, row] -= left[label]
            mean = first / total
            rows[0, row] -= np.log(total * left[label])
            rows[1, row] += mean
            rows[2, row] -= second / total - mean * mean
            left[label] -= 1
    return rows


@compiled
def draw_pseudo(
    sizes: npt.NDArray[np.int64],
    decay: npt.NDArray[np.float64],
    n_rows: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Draw label sequences from the pseudo-likelihood."""
    sequences = np.empty((n_rows, sizes.sum()), dtype=np.int64)
    left = np.empty_like(sizes)
    for row in range(n_rows):
        for label in range(sizes.shape[0]):
            left[label] = sizes[label]
        smallest = 0
        for place in range(sequences.shape[1]):
            while left[smallest] == 0:
                smallest += 1
            total = 1.0
            for label in range(smallest + 1, sizes.shape[0]):
                if left[label] > 0:
                    total += decay[left[label]]
            # Where rounding leaves a remainder after the last choice, the last possible one stands.
            remainder = rng.random() * total - 1.0
            chosen = smallest
            for label in range(smallest + 1, sizes.shape[0]):
                if remainder < 0.0:
                    break
                if left[label] > 0:
                    chosen = label
                    remainder -= decay[left[label]]
            sequences[row, place] = chosen
            left[chosen] -= 1
    return sequences
