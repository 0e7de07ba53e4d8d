"""Drawing completions of answers that list some items in order, all others being anywhere.

The sums over common beginnings of the listed labels say how probable each completion is. A draw
chooses how far free labels have come when the last listed one is placed, and goes back to the first
block and on to the last one from there.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.prefixes import (
    Sequences,
    Tables,
    block_weight,
    code_of,
    next_counts,
    prefix_of,
    visit,
)
from tierwise._kernels.recursion import first_choice, next_choice

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class Answers(NamedTuple):
    """Answers by the sequence of labels that they list, and how many completions to draw of each.

    Those of a sequence are ``answers[starts[sequence] : starts[sequence + 1]]``; a row of ``items``
    holds the listed items of an answer in order, then its free ones.
    """

    answers: _Integers
    starts: _Integers
    items: _Integers
    repeats: _Integers


@compiled
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


@compiled
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


@compiled
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


@compiled
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


@compiled
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
                drawn = np.searchsorted(totals[: number - 1], rng.random() * weights[row], "right")
                turn = codes[drawn]
                _draw_steps(tables, sequence, turn, values, free, listed_in, free_in, rng)
                items = answers.items[answer]
                _assign(blocks[firsts[answer] + repeat], items, labels, listed_in, free_in, rng)
    return blocks, weights
