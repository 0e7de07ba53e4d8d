"""Lists of some items in order, all others anywhere: a recursion over common beginnings, and draws.

Only labels matter, so answers that list the same labels in the same order have the same sum. They
are enumerated in lexicographic order: what answers that begin alike have in common is kept.

A block takes the next few of the listed items and some free ones. Its weight follows from the
labels that it takes and those placed at its end, so it does not matter which labels an answer will
list later. ``values[depth, code]`` sums over all ways to place the first ``depth`` listed labels
and the free ones that a code stands for: their counts by label, in mixed radix. The three numbers
are the weight, and the weight times the units and their square.

The same sums say how probable each completion is, so that completions are drawn backward through
them. A draw chooses how far free labels have come when the last listed one is placed, and goes back
to the first block and on to the last one from there.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.counting import count_up_to
from tierwise._kernels.recursion import first_choice, next_choice

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class Tables(NamedTuple):
    """What depends on sizes, distance and theta alone.

    ``block_at[place]`` is the block that ends before a place, or -1. ``units[code, label]`` is what
    an item of a label costs in a block at the end of which the labels of a code are placed;
    ``tails[code]`` sums over all orders of the labels that are left, all of them free.
    """

    sizes: _Integers
    strides: _Integers
    block_at: _Integers
    units: _Integers
    weights: _Floats
    tails: _Floats
    factorials: _Floats


class Sequences(NamedTuple):
    """Distinct sequences of listed labels in lexicographic order, padded by -1.

    ``shared[row]`` says how many labels a row has in common with the row before, and
    ``limits[row, depth]`` how many free items of each label any row with the same first labels has.
    """

    labels: _Integers
    lengths: _Integers
    shared: _Integers
    limits: _Integers


@compiled
def make_tables(sizes: _Integers, misplaced: int, placing: _Integers, theta: float) -> Tables:
    """Make the tables for a theta per unit."""
    n_tiers = sizes.shape[0]
    n_items = sizes.sum()
    strides = np.empty(n_tiers, dtype=np.int64)
    n_codes = 1
    for label in range(n_tiers):
        strides[label] = n_codes
        n_codes *= sizes[label] + 1
    block_at = np.full(n_items + 1, -1, dtype=np.int64)
    block_at[np.cumsum(sizes)] = np.arange(n_tiers)
    factorials = np.ones(n_items + 1)
    factorials[1:] = np.cumprod(np.arange(1.0, n_items + 1.0))
    units = np.zeros((n_codes, n_tiers), dtype=np.int64)
    weights = np.ones((n_codes, n_tiers))
    tails = np.zeros((n_codes, 3))
    tables = Tables(sizes, strides, block_at, units, weights, tails, factorials)
    left = np.empty(n_tiers, dtype=np.int64)
    choice = np.empty(n_tiers, dtype=np.int64)
    tails[n_codes - 1, 0] = 1.0
    for code in range(n_codes - 1, -1, -1):
        for label in range(n_tiers):
            left[label] = sizes[label] - code // strides[label] % (sizes[label] + 1)
        placed = n_items - left.sum()
        block = block_at[placed]
        if block >= 0:
            behind = 0
            for label in range(n_tiers):
                behind += left[label]
                units[code, label] = misplaced * behind + placing[block, label]
                weights[code, label] = np.exp(-theta * units[code, label])
        if (placed == 0 or block >= 0) and placed < n_items:
            size = sizes[block + 1]
            first_choice(choice, left, size, n_tiers)
            more = True
            while more:
                end = code + code_of(tables, choice)
                weight, cost = block_weight(tables, end, choice)
                weight *= factorials[size]
                value, mean = tails[end, 0], tails[end, 1]
                tails[code, 0] += weight * value
                tails[code, 1] += weight * (mean + cost * value)
                tails[code, 2] += weight * (tails[end, 2] + cost * (2.0 * mean + cost * value))
                more = next_choice(choice, left)
    return tables


@compiled
def code_of(tables: Tables, counts: _Integers) -> int:
    """Return the code of counts by label."""
    code = 0
    for label in range(counts.shape[0]):
        code += counts[label] * tables.strides[label]
    return code


@compiled_part
def block_weight(tables: Tables, end: int, choice: _Integers) -> tuple[float, int]:
    """Weight and units of free labels in a block that ends with a code."""
    weight = 1.0
    units = 0
    for label in range(choice.shape[0]):
        taken = choice[label]
        if taken > 0:
            units += taken * tables.units[end, label]
            weight *= tables.weights[end, label] ** taken / tables.factorials[taken]
    return weight, units


@compiled_part
def _pull(
    tables: Tables,
    counts: _Integers,
    code: int,
    end: int,
    n_taken: int,
    values: _Floats,
    depth: int,
    choice: _Integers,
) -> tuple[float, float, float]:
    """Sum over all ways in which the last block takes so many of the free labels of a code."""
    weight = first = second = 0.0
    first_choice(choice, counts, n_taken, counts.shape[0])
    more = True
    while more:
        source = code - code_of(tables, choice)
        several, units = block_weight(tables, end, choice)
        value, mean = values[depth, source, 0], values[depth, source, 1]
        weight += several * value
        first += several * (mean + units * value)
        second += several * (values[depth, source, 2] + units * (2.0 * mean + units * value))
        more = next_choice(choice, counts)
    return weight, first, second


@compiled_part
def _pull_one(
    tables: Tables,
    labels: _Integers,
    counts: _Integers,
    code: int,
    end: int,
    values: _Floats,
    depth: int,
) -> tuple[float, float, float]:
    """Sum over all ways in which the last block takes one of the free labels of a code."""
    weight = first = second = 0.0
    for label in labels:
        if counts[label] > 0:
            source = code - tables.strides[label]
            one, units = tables.weights[end, label], tables.units[end, label]
            value, mean = values[depth, source, 0], values[depth, source, 1]
            weight += one * value
            first += one * (mean + units * value)
            second += one * (values[depth, source, 2] + units * (2.0 * mean + units * value))
    return weight, first, second


@compiled_part
def _advance(
    counts: _Integers, limits: _Integers, labels: _Integers, strides: _Integers
) -> tuple[int, int]:
    """Go to the next counts within limits; return the changes of code and number, 0 at the end."""
    code = number = 0
    for label in labels:
        if counts[label] < limits[label]:
            counts[label] += 1
            return code + strides[label], number + 1
        code -= counts[label] * strides[label]
        number -= counts[label]
        counts[label] = 0
    return 0, 0


@compiled_part
def _visit_node(
    tables: Tables,
    sequence: _Integers,
    depth: int,
    least: int,
    limits: _Integers,
    values: _Floats,
    ends: _Floats,
) -> None:
    """Sum over all ways to place the first labels of a sequence, for all counts of free labels.

    ``ends`` are those whose last block takes the last of the listed labels. The others are added
    where ``least`` is 0: they are needed where longer sequences begin in this way.
    """
    counts = np.zeros(limits.shape[0], dtype=np.int64)
    choice = np.empty(limits.shape[0], dtype=np.int64)
    labels = np.flatnonzero(limits)
    prefix = prefix_of(tables, sequence, depth)
    code = n_free = 0
    step = 1
    while step != 0:
        end = prefix + code
        total = 1.0 if depth + n_free == 0 else 0.0
        first = second = 0.0
        ends[code] = 0.0
        block = tables.block_at[depth + n_free]
        size = tables.sizes[block] if block >= 0 else -1
        weight = tables.factorials[max(size, 0)]
        cost = 0
        n_turns = min(size, depth) + 1
        for turn in range(1, n_turns + 1 - least):
            # What the block takes of the listed labels: one, two and so on, and at last none.
            taken = turn % n_turns
            if taken > 0:
                label = sequence[depth - taken]
                weight *= tables.weights[end, label] / taken
                cost += tables.units[end, label]
            else:
                weight, cost = tables.factorials[size], 0
            if size - taken > n_free:
                continue
            here = depth - taken
            if size == taken:
                value, mean = values[here, code, 0], values[here, code, 1]
                square = values[here, code, 2]
            elif size == taken + 1:
                value, mean, square = _pull_one(tables, labels, counts, code, end, values, here)
            else:
                value, mean, square = _pull(
                    tables, counts, code, end, size - taken, values, here, choice
                )
            mean += cost * value
            square += cost * (2.0 * mean - cost * value)
            total += weight * value
            first += weight * mean
            second += weight * square
            if taken > 0:
                ends[code, 0], ends[code, 1], ends[code, 2] = total, first, second
        values[depth, code, 0] = total
        values[depth, code, 1] = first
        values[depth, code, 2] = second
        step, more = _advance(counts, limits, labels, tables.strides)
        code += step
        n_free += more


@compiled_part
def next_counts(counts: _Integers, limits: _Integers) -> bool:
    """Go to the next counts within limits, the first label running fastest; False at the end."""
    for label in range(counts.shape[0]):
        if counts[label] < limits[label]:
            counts[label] += 1
            return True
        counts[label] = 0
    return False


@compiled_part
def prefix_of(tables: Tables, sequence: _Integers, depth: int) -> int:
    """Return the code of the first labels of a sequence."""
    prefix = 0
    for position in range(depth):
        prefix += tables.strides[sequence[position]]
    return prefix


@compiled_part
def visit(tables: Tables, sequences: Sequences, row: int, values: _Floats, ends: _Floats) -> None:
    """Bring the values up to date for a row, given those of the row before."""
    sequence, limits = sequences.labels[row], sequences.limits[row]
    first = 0 if row == 0 else sequences.shared[row] + 1
    length = sequences.lengths[row]
    goes_on = row + 1 < sequences.lengths.shape[0] and sequences.shared[row + 1] == length
    for depth in range(first, length + 1):
        least = 0 if depth < length or goes_on else 1
        _visit_node(tables, sequence, depth, least, limits[depth], values, ends)


@compiled_part
def _finish(
    tables: Tables, prefix: int, limits: _Integers, ends: _Floats
) -> tuple[float, float, float]:
    """Sum over all ways to go on with free labels from where the last listed label is placed."""
    weight = first = second = 0.0
    tails = tables.tails
    counts = np.zeros(limits.shape[0], dtype=np.int64)
    more = True
    while more:
        code = code_of(tables, counts)
        value, mean, end = ends[code, 0], ends[code, 1], prefix + code
        weight += value * tails[end, 0]
        first += mean * tails[end, 0] + value * tails[end, 1]
        second += ends[code, 2] * tails[end, 0]
        second += 2.0 * mean * tails[end, 1] + value * tails[end, 2]
        more = next_counts(counts, limits)
    return weight, first, second


@compiled
def value_sequences(tables: Tables, sequences: Sequences) -> _Floats:
    """Weight, and weight times units and their square, of all completions of each sequence.

    Free items of the same label are taken for the same.
    """
    n_rows, longest = sequences.labels.shape
    results = np.empty((n_rows, 3))
    values = np.zeros((longest + 1, tables.tails.shape[0], 3))
    ends = np.zeros((tables.tails.shape[0], 3))
    for row in range(n_rows):
        visit(tables, sequences, row, values, ends)
        length = sequences.lengths[row]
        prefix = prefix_of(tables, sequences.labels[row], length)
        results[row] = _finish(tables, prefix, sequences.limits[row, length], ends)
    return results


@compiled
def read_sequences(labels: _Integers, sizes: _Integers) -> Sequences:
    """Find what distinct sequences of labels, in lexicographic order, have in common."""
    n_rows, longest = labels.shape
    n_tiers = sizes.shape[0]
    lengths = np.zeros(n_rows, dtype=np.int64)
    shared = np.zeros(n_rows, dtype=np.int64)
    limits = np.empty((n_rows, longest + 1, n_tiers), dtype=np.int64)
    for row in range(n_rows - 1, -1, -1):
        free = sizes.copy()
        while lengths[row] < longest and labels[row, lengths[row]] >= 0:
            free[labels[row, lengths[row]]] -= 1
            lengths[row] += 1
        for depth in range(lengths[row] + 1):
            limits[row, depth] = free
            if row + 1 < n_rows and depth <= shared[row + 1]:
                limits[row, depth] = np.maximum(free, limits[row + 1, depth])
        while (
            row > 0
            and shared[row] < lengths[row]
            and labels[row, shared[row]] == labels[row - 1, shared[row]]
        ):
            shared[row] += 1
    return Sequences(labels, lengths, shared, limits)


class Answers(NamedTuple):
    """Answers by the sequence of labels that they list, and how many completions to draw of each.

    Those of a sequence are ``answers[starts[sequence] : starts[sequence + 1]]``; a row of ``items``
    holds the listed items of an answer in order, then its free ones.
    """

    answers: _Integers
    starts: _Integers
    items: _Integers
    repeats: _Integers


@compiled_part
def _add_shares(
    tables: Tables,
    prefix: int,
    limits: _Integers,
    ends: _Floats,
    codes: _Integers,
    totals: _Floats,
) -> int:
    """Sum up the weights of all free labels placed in the blocks up to the last listed label.

    Write down their codes and the sums so far, and return how many there are.
    """
    counts = np.zeros(limits.shape[0], dtype=np.int64)
    number = 0
    total = 0.0
    more = True
    while more:
        code = code_of(tables, counts)
        share = ends[code, 0] * tables.tails[prefix + code, 0]
        if share > 0.0:
            total += share
            codes[number] = code
            totals[number] = total
            number += 1
        more = next_counts(counts, limits)
    return number


@compiled_part
def _draw_last_block(
    tables: Tables,
    sequence: _Integers,
    depth: int,
    least: int,
    values: _Floats,
    counts: _Integers,
    choice: _Integers,
    chosen: _Integers,
    rng: np.random.Generator,
) -> int:
    """Draw what the last block took: the free labels ``chosen``, and how many of the listed ones.

    It took at least so many of these.
    """
    n_free = counts.sum()
    code = code_of(tables, counts)
    end = prefix_of(tables, sequence, depth) + code
    size = tables.sizes[tables.block_at[depth + n_free]]
    weight = 1.0
    total = 0.0
    n_listed = 0
    for taken in range(min(size, depth) + 1):
        if taken > 0:
            weight *= tables.weights[end, sequence[depth - taken]] / taken
        if taken < least or size - taken > n_free:
            continue
        first_choice(choice, counts, size - taken, counts.shape[0])
        more = True
        while more:
            several, _ = block_weight(tables, end, choice)
            share = weight * several * values[depth - taken, code - code_of(tables, choice), 0]
            total += share
            if rng.random() * total < share:
                chosen[:] = choice
                n_listed = taken
            more = next_choice(choice, counts)
    return n_listed


@compiled_part
def _draw_next_block(
    tables: Tables,
    code: int,
    size: int,
    left: _Integers,
    choice: _Integers,
    chosen: _Integers,
    rng: np.random.Generator,
) -> None:
    """Draw which of the free labels that are left the next block takes."""
    total = 0.0
    first_choice(choice, left, size, left.shape[0])
    more = True
    while more:
        end = code + code_of(tables, choice)
        several, _ = block_weight(tables, end, choice)
        share = several * tables.tails[end, 0]
        total += share
        if rng.random() * total < share:
            chosen[:] = choice
        more = next_choice(choice, left)


@compiled_part
def _assign(
    row: npt.NDArray[np.int32],
    items: _Integers,
    labels: _Integers,
    listed_in: _Integers,
    free_in: _Integers,
    rng: np.random.Generator,
) -> None:
    """Write down the block of each item; free items of a label take their places at random."""
    n_listed = listed_in.shape[0]
    for position in range(n_listed):
        row[items[position]] = listed_in[position]
    for position in range(n_listed, items.shape[0]):
        label = labels[items[position]]
        total = 0
        for block in range(free_in.shape[0]):
            total += free_in[block, label]
        which = int(rng.random() * total)
        block = 0
        while which >= free_in[block, label]:
            which -= free_in[block, label]
            block += 1
        free_in[block, label] -= 1
        row[items[position]] = block


@compiled_part
def _draw_steps(
    tables: Tables,
    sequence: _Integers,
    turn: int,
    values: _Floats,
    free: _Integers,
    listed_in: _Integers,
    free_in: _Integers,
    rng: np.random.Generator,
) -> None:
    """Draw the block of each listed label, and how many free labels each block takes.

    ``turn`` is the code of the free labels placed at the end of the last block with a listed one.
    """
    n_tiers = free.shape[0]
    choice = np.empty(n_tiers, dtype=np.int64)
    chosen = np.zeros(n_tiers, dtype=np.int64)
    counts = turn // tables.strides % (tables.sizes + 1)
    left = free - counts
    depth = listed_in.shape[0]
    code = prefix_of(tables, sequence, depth) + turn
    for block in range(tables.block_at[depth + counts.sum()] + 1, n_tiers):
        _draw_next_block(tables, code, tables.sizes[block], left, choice, chosen, rng)
        free_in[block] = chosen
        left -= chosen
        code += code_of(tables, chosen)
    least = 1
    for block in range(tables.block_at[depth + counts.sum()], -1, -1):
        n_listed = _draw_last_block(
            tables, sequence, depth, least, values, counts, choice, chosen, rng
        )
        free_in[block] = chosen
        counts -= chosen
        listed_in[depth - n_listed : depth] = block
        depth -= n_listed
        least = 0


@compiled
def draw_blocks(
    tables: Tables,
    sequences: Sequences,
    answers: Answers,
    labels: _Integers,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.int32], _Floats]:
    """Blocks of all items in completions of each answer, as probable as the model makes them.

    Also return the weight of all completions of each sequence; where it is too small for a number,
    what is drawn means nothing.
    """
    n_rows, longest = sequences.labels.shape
    n_tiers = tables.sizes.shape[0]
    n_codes = tables.tails.shape[0]
    blocks = np.zeros((answers.repeats.sum(), labels.shape[0]), dtype=np.int32)
    weights = np.zeros(n_rows)
    firsts = np.cumsum(answers.repeats) - answers.repeats
    values = np.zeros((longest + 1, n_codes, 3))
    ends = np.zeros((n_codes, 3))
    codes = np.empty(n_codes, dtype=np.int64)
    totals = np.empty(n_codes)
    free_in = np.empty((n_tiers, n_tiers), dtype=np.int64)
    for row in range(n_rows):
        visit(tables, sequences, row, values, ends)
        sequence, length = sequences.labels[row], sequences.lengths[row]
        free = sequences.limits[row, length]
        prefix = prefix_of(tables, sequence, length)
        number = _add_shares(tables, prefix, free, ends, codes, totals)
        if number == 0:
            continue
        weights[row] = totals[number - 1]
        listed_in = np.empty(length, dtype=np.int64)
        for answer in answers.answers[answers.starts[row] : answers.starts[row + 1]]:
            for repeat in range(answers.repeats[answer]):
                drawn = count_up_to(totals[: number - 1], rng.random() * weights[row])
                turn = codes[drawn]
                _draw_steps(tables, sequence, turn, values, free, listed_in, free_in, rng)
                items = answers.items[answer]
                _assign(blocks[firsts[answer] + repeat], items, labels, listed_in, free_in, rng)
    return blocks, weights
