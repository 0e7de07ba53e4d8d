"""Answers with ties, with items anywhere or below: sums over all completions, and expected counts.

An answer lists groups of items in order, the order within each group being unknown; all other items
are free: anywhere among the listed ones, or below them. Blocks of places are filled from best to
worst. A block takes a choice of the free items and goes on with the listed ones: with what is left
of the group that the block before began, whole groups, and a choice from the group that straddles
its end. At the end of a block a state is how many listed items are left, how many items of each
label of a group that was begun, and how many free items of each label.

Listed items are numbered from the last one, so that a layer of states, those with so many listed
items left, depends only on how an answer ends. Answers with the same labels are walked over once,
and of those that end alike what they have in common is summed over once. Layer 0, where all that is
left is free, is the same for all of them.

Which items of earlier blocks are misplaced against those of a block depends on the state only, so
each choice costs a sum over its labels. The walk from the last layer to the first finds the weight
of all ways on from every state; the walk back pushes probabilities from the first state to layer 0
and counts on the way (forward-backward on a weighted automaton: Baum, Petrie, Soules and Weiss, A
maximization technique occurring in the statistical analysis of probabilistic functions of Markov
chains, Annals of Mathematical Statistics 41, 1970). Items of a group that have the same label stand
for each other, and so do free items of a label.

Weights are averages over completions, so none is above 1. Units are whole numbers: each state takes
about the fewest units on its ways out of its sum, so that none vanishes, whatever theta is.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
from tierwise._kernels.recursion import first_choice, next_choice

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class Answers(NamedTuple):
    """Answers as items, whatever their labels.

    Attributes
    ----------
    items
        The listed items of each answer, group by group, then its free ones; what follows is known.
    starts
        ``starts[answer, position]``: where the group of a listed item begins.
    n_listed, n_present
        How many items are listed, and how many are listed or free.
    below
        1 where free items are below the listed ones, 0 where they are anywhere.
    """

    items: _Integers
    starts: _Integers
    n_listed: _Integers
    n_present: _Integers
    below: _Integers


class Sequences(NamedTuple):
    """Distinct answers as labels, those that end alike one after the other.

    Attributes
    ----------
    labels
        ``labels[row, n]``: label of the listed item that is n-th from the last; the first column
        means nothing.
    tops
        ``tops[row, n]``: number of the first item of its group.
    lengths
        How many items are listed.
    free
        ``free[row, label]``: free items of each label.
    below
        As for answers.
    shared
        How many of the last listed items a row has in common with the row before, -1 if rows do not
        even have layer 0 in common.
    limits
        ``limits[row, n, label]``: the most free items of any row with the same last n items.
    """

    labels: _Integers
    tops: _Integers
    lengths: _Integers
    free: _Integers
    below: _Integers
    shared: _Integers
    limits: _Integers


class Setting(NamedTuple):
    """What does not depend on the answers.

    Attributes
    ----------
    sizes
        Sizes of the tiers.
    block_at
        ``block_at[place]``: the block that begins there, and its size; -1 and 0 where none does.
    misplaced, placing
        The distance, in units; pairs in different blocks that are tied in the tiers cost as much as
        reversed ones.
    theta
        Per unit.
    powers
        ``exp(-theta * units)``, as far as that is a number or there is room for it.
    binomials
        Binomial coefficients; empty where they would be too large for numbers.
    log_factorials
        Logarithms of factorials.
    """

    sizes: _Integers
    block_at: _Integers
    misplaced: int
    placing: _Integers
    theta: float
    powers: _Floats
    binomials: _Floats
    log_factorials: _Floats


@compiled
def order_by_label(
    answers: Answers,
    labels: _Integers,
    n_bits: int,
    ordered: _Integers,
    words: npt.NDArray[np.int64],
) -> None:
    """Order items by label where their order is open, and write answers as words that say all.

    ``ordered`` is given as the items. Answers that end alike have words that begin alike; a digit
    takes ``n_bits``.
    """
    n_digits = 63 // n_bits
    n_tiers = labels.max() + 1
    counts = np.zeros(n_tiers, dtype=np.int64)
    for row in range(ordered.shape[0]):
        items, n_listed = ordered[row], answers.n_listed[row]
        counts[:] = 0
        for position in range(answers.n_present[row]):
            item = items[position]
            begin = n_listed
            if position < n_listed:
                begin = answers.starts[row, position]
            else:
                counts[labels[item]] += 1
            slot = position
            while slot > begin and labels[items[slot - 1]] > labels[item]:
                items[slot] = items[slot - 1]
                slot -= 1
            items[slot] = item
        below = answers.below[row]
        for digit in range(1 + below * n_tiers + n_listed):
            if digit == 0:
                number = below
            elif digit <= below * n_tiers:
                number = counts[digit - 1]
            else:
                position = n_listed - 1 - (digit - 1 - below * n_tiers)
                begins = answers.starts[row, position] == position
                number = 1 + 2 * labels[items[position]] + int(begins)
            word = digit // n_digits
            words[row, word] |= number << n_bits * (n_digits - 1 - digit % n_digits)


@inlined
def _is_worth_sharing(free: _Integers, n_rows: int, most_codes: float) -> bool:
    """Tell whether rows together have few numbers of free items that may be left."""
    together, apart = 1.0, 0.0
    for row in range(n_rows):
        n_codes = 1.0
        for label in range(free.shape[1]):
            n_codes *= free[row, label] + 1
        apart += n_codes
    for label in range(free.shape[1]):
        most = 0
        for row in range(n_rows):
            most = max(most, free[row, label])
        together *= most + 1
    return together <= min(most_codes, apart / 4.0)


@compiled
def read_sequences(
    answers: Answers,
    ordered: _Integers,
    labels: _Integers,
    words: _Integers,
    order: _Integers,
    sequences: Sequences,
    which: _Integers,
    starts: _Integers,
    most_codes: float,
) -> tuple[int, bool]:
    """Write distinct answers as labels, and return how many there are, and whether they share.

    ``order`` sorts the words of answers. The answers of a row are those between two of its
    ``starts``, and ``which`` is the row of each answer. Of rows that end alike it is found how many
    of the last items they share; they share nothing where that would be more work.
    """
    own, tops, lengths, free, below, shared, _ = sequences
    n_rows = 0
    for index in range(order.shape[0]):
        answer = order[index]
        is_new = index == 0
        for word in range(words.shape[1]):
            is_new = is_new or words[answer, word] != words[order[index - 1], word]
        if is_new:
            row, n_listed = n_rows, answers.n_listed[answer]
            starts[row] = index
            lengths[row], below[row] = n_listed, answers.below[answer]
            for position in range(n_listed):
                own[row, n_listed - position] = labels[ordered[answer, position]]
                tops[row, n_listed - position] = n_listed - answers.starts[answer, position]
            for position in range(n_listed, answers.n_present[answer]):
                free[row, labels[ordered[answer, position]]] += 1
            number = 0
            if row > 0 and not below[row] and not below[row - 1]:
                while number < min(n_listed, lengths[row - 1]):
                    number += 1
                    begins = tops[row, number] == number
                    if own[row, number] != own[row - 1, number]:
                        break
                    if begins != (tops[row - 1, number] == number):
                        break
                    if begins:
                        shared[row] = number
            n_rows += 1
        which[answer] = n_rows - 1
    starts[n_rows] = order.shape[0]
    is_worth = _is_worth_sharing(free, n_rows, most_codes)
    for row in range(1 if is_worth else n_rows):
        shared[row] = -1
    return n_rows, is_worth


@compiled
def find_limits(sequences: Sequences) -> None:
    """Find the most free items of rows that end alike; given as those of each row."""
    shared, limits = sequences.shared, sequences.limits
    for row in range(limits.shape[0] - 2, -1, -1):
        for number in range(shared[row + 1] + 1):
            for label in range(limits.shape[2]):
                most = max(limits[row, number, label], limits[row + 1, number, label])
                limits[row, number, label] = most


class _Row(NamedTuple):
    """One distinct answer, with its layers.

    Attributes
    ----------
    labels, tops, below, free, limits
        As in `Sequences`.
    bottoms
        Number of the item after the last of the group of each item, 0 being the end.
    after
        ``after[n, label]``: items of each label among the last n.
    offsets
        Where the states of each layer begin.
    group_strides
        ``group_strides[top, label]``: what one more item left of a group adds to the code of a
        state.
    kinds
        The labels that free items have.
    strides
        What one more free item of a label adds to the code of a state.
    """

    length: int
    labels: _Integers
    tops: _Integers
    below: int
    free: _Integers
    limits: _Integers
    bottoms: _Integers
    after: _Integers
    offsets: _Integers
    group_strides: _Integers
    kinds: _Integers
    strides: _Integers
    n_codes: int


class _Room(NamedTuple):
    """Room for what is laid out of one row after the other: see `_Row`."""

    bottoms: _Integers
    after: _Integers
    offsets: _Integers
    group_strides: _Integers
    kinds: _Integers
    strides: _Integers
    family: _Integers


@compiled_part
def _make_room(sequences: Sequences) -> _Room:
    longest, n_tiers = sequences.labels.shape[1], sequences.free.shape[1]
    return _Room(
        np.zeros(longest, dtype=np.int64),
        np.zeros((longest, n_tiers), dtype=np.int64),
        np.zeros(longest + 1, dtype=np.int64),
        np.zeros((longest, n_tiers), dtype=np.int64),
        np.zeros(n_tiers, dtype=np.int64),
        np.zeros(n_tiers, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )


@compiled_part
def _lay_out(setting: Setting, sequences: Sequences, row: int, room: _Room) -> _Row:
    """Lay out a row, but for what it shares with the row before."""
    bottoms, after, offsets, group_strides, kinds, strides, family = room
    n_tiers, length = sequences.free.shape[1], sequences.lengths[row]
    tops, labels = sequences.tops[row], sequences.labels[row]
    if sequences.shared[row] < 0:
        n_kinds, n_codes = 0, 1
        for label in range(n_tiers):
            limit = sequences.limits[row, 0, label]
            strides[label] = n_codes
            n_codes *= limit + 1
            if limit > 0:
                kinds[n_kinds] = label
                n_kinds += 1
        family[0], family[1] = n_kinds, n_codes
        offsets[1] = n_codes
    n_kinds, n_codes = family[0], family[1]
    # Where free items are below, all of them are left as long as there are listed ones.
    width = 1 if sequences.below[row] == 1 else n_codes
    n_free, block_at = sequences.free[row].sum(), setting.block_at
    bottom = max(sequences.shared[row], 0)
    for number in range(bottom + 1, length + 1):
        for label in range(n_tiers):
            after[number, label] = after[number - 1, label]
        after[number, labels[number]] += 1
        bottoms[number] = bottom
        if tops[number] > number:
            continue
        n_states = width
        if number - bottom > 1:
            for label in range(n_tiers - 1, -1, -1):
                group_strides[number, label] = n_states
                n_states *= after[number, label] - after[bottom, label] + 1
        # Rows that end alike share states, and may have more free items.
        most_free = n_free
        if width > 1 and number < sequences.limits.shape[1]:
            most_free = sequences.limits[row, number].sum()
        for member in range(bottom + 1, number):
            # Within a group there are states only where a block may begin.
            place = block_at.shape[0] - 1 - member
            earliest = max(place - most_free, 0)
            begins = block_at[earliest, 0] >= 0
            for earlier in range(earliest + 1, place + 1 if width > 1 else 0):
                begins = begins or block_at[earlier, 0] >= 0
            offsets[member + 1] = offsets[member] + (n_states if begins else 0)
        offsets[number + 1] = offsets[number] + width
        bottom = number
    return _Row(
        length,
        labels,
        tops,
        sequences.below[row],
        sequences.free[row],
        sequences.limits[row],
        bottoms,
        after,
        offsets,
        group_strides,
        kinds[:n_kinds],
        strides,
        n_codes,
    )


@compiled_part
def _first_state(row: _Row) -> int:
    """Return the state in which nothing is placed yet."""
    state = row.offsets[row.length]
    for label in row.kinds if row.below == 0 or row.length == 0 else row.kinds[:0]:
        state += row.free[label] * row.strides[label]
    return int(state)


@inlined
def _times(ways: float, total: int, taken: int, setting: Setting) -> float:
    """Multiply ways, or their logarithm, by a binomial coefficient."""
    if setting.binomials.shape[0] > 0:
        ways *= setting.binomials[total, taken]
    else:
        logs = setting.log_factorials
        ways += logs[total] - logs[taken] - logs[total - taken]
    return ways


@inlined
def _over(ways: float, total: int, taken: int, setting: Setting) -> float:
    """Divide ways, or their logarithm, by a binomial coefficient."""
    if setting.binomials.shape[0] > 0:
        ways /= setting.binomials[total, taken]
    else:
        logs = setting.log_factorials
        ways -= logs[total] - logs[taken] - logs[total - taken]
    return ways


@inlined
def _power(units: float, setting: Setting) -> float:
    """Return what so many units multiply a weight with."""
    power: float = 0.0
    if 0 <= units < setting.powers.shape[0]:
        power = setting.powers[int(units)]
    else:
        power = np.exp(-setting.theta * units)
    return power


# Sums below this one are raised: what is taken out of them is more than the fewest units, then.
_SMALL = 1e-100


class _Tally(NamedTuple):
    """What is added up of the steps of a layer, by how many listed items they take.

    Blocks are distinguished only where it is asked in which of them items are.

    Attributes
    ----------
    total
        ``total[taken, block]``: probability.
    free
        ``free[taken, k]``: expected number of free items of a kind that are taken.
    behind
        ``behind[taken, k]``: of those that are left after the block.
    group
        ``group[taken, block, label]``: of items of the straddling group that are taken.
    behind_group, before_group
        ``[taken, k, label]``: pairs of an item of that group in an earlier block than a free item,
        and the other way round.
    shares
        Room for the probability of each listed item to be in the block.
    """

    total: _Floats
    free: _Floats
    behind: _Floats
    group: _Floats
    behind_group: _Floats
    before_group: _Floats
    shares: _Floats


class _Expected(NamedTuple):
    """Expectations of one row; pairs are of an item in an earlier block than the other.

    Attributes
    ----------
    places
        ``places[n, block]``: a listed item in a block.
    together
        ``together[n, m]``: two items of different groups in the same block.
    slots
        ``slots[top]``: where pairs within a group are added up.
    within
        ``within[slot, l, m]``: pairs of labels in a group.
    free_free
        ``free_free[k, j]``: pairs of free items of two kinds.
    listed_free
        ``listed_free[n, k]``: free items in later blocks than a listed item.
    free_listed
        ``free_listed[k, n]``: the other way round, but for what `free_from` says.
    free_from
        ``free_from[k, n]``: free items in earlier blocks than the last n items.
    free_in
        ``free_in[block, k]``: free items in a block.
    """

    places: _Floats
    together: _Floats
    slots: _Integers
    within: _Floats
    free_free: _Floats
    listed_free: _Floats
    free_listed: _Floats
    free_from: _Floats
    free_in: _Floats


class _Counting(NamedTuple):
    """What a walk forward counts.

    Attributes
    ----------
    reached
        The probability of each state; a number of ways where these are drawn.
    ends
        How many states of layer 0 are reached, and then which.
    tally, expected
        To be added to.
    is_drawn, rng
        Whether ways are drawn, and a generator.
    """

    reached: _Floats
    ends: _Integers
    tally: _Tally
    expected: _Expected
    is_drawn: bool
    rng: np.random.Generator


@compiled_part
def _make_counting(
    longest: int, n_tiers: int, n_blocks: int, largest: int
) -> tuple[_Tally, _Expected]:
    """Make room for what is counted."""
    tally = _Tally(
        np.zeros((largest + 1, n_blocks)),
        np.zeros((largest + 1, n_tiers)),
        np.zeros((largest + 1, n_tiers)),
        np.zeros((largest + 1, n_blocks, n_tiers)),
        np.zeros((largest + 1, n_tiers, n_tiers)),
        np.zeros((largest + 1, n_tiers, n_tiers)),
        np.zeros(longest),
    )
    expected = _Expected(
        np.zeros((longest, n_blocks)),
        np.zeros((longest, longest)),
        np.zeros(longest, dtype=np.int64),
        np.zeros((longest // 2 + 1, n_tiers, n_tiers)),
        np.zeros((n_tiers, n_tiers)),
        np.zeros((longest, n_tiers)),
        np.zeros((n_tiers, longest)),
        np.zeros((n_tiers, longest)),
        np.zeros((n_blocks, n_tiers)),
    )
    return tally, expected


@compiled_part
def _walk(  # noqa: PLR0912, PLR0915 - all steps, in either direction, in one place
    setting: Setting,
    row: _Row,
    values: _Floats,
    begin: int,
    counting: _Counting | None,
    by_units: _Floats | None,
) -> None:
    """Go through all steps from layers: backward to weigh them, forward to count.

    Backward, from the layer ``begin`` on, ``values[state]`` becomes the units that are taken out,
    the weight of all ways on without them, and sums of weights times units less these, and times
    their squares; or else, for all thetas, ``by_units[state, units]`` becomes the share of ways on
    that have so many. Forward, where there is something to count, probabilities are pushed on from
    state to state down to that layer.
    """
    forward = counting is not None
    if counting is not None:
        # A tuple in the innermost loop would have references to all its arrays counted.
        reached, ends, tally, expected, is_drawn, rng = counting
        totals, frees, behinds = tally.total, tally.free, tally.behind
        groups, behind_groups, before_groups = tally.group, tally.behind_group, tally.before_group
        free_free, free_in = expected.free_free, expected.free_in
        slots, within = expected.slots, expected.within
    sizes, block_at = setting.sizes, setting.block_at
    misplaced, placing = setting.misplaced, setting.placing
    large = setting.binomials.shape[0] == 0
    length, labels, tops, bottoms, after = row.length, row.labels, row.tops, row.bottoms, row.after
    offsets, kinds, strides, n_codes = row.offsets, row.kinds, row.strides, row.n_codes
    n_tiers, n_kinds, n_items = sizes.shape[0], kinds.shape[0], block_at.shape[0] - 1
    # By label: what is left of the free items, and of the group that the block before began; what
    # the group has that straddles the end of the block; what the block takes of it.
    free_left, group_left, available, taken, rates, gone = np.zeros((6, n_tiers), dtype=np.int64)
    # By kind: what is left of the free items, what the block takes, and the most that may be left.
    left, chosen, limit = np.zeros((3, n_kinds), dtype=np.int64)
    is_below = row.below == 1
    for turn in range(begin, length + 1):
        here = length + begin - turn if forward else turn
        rest = bottoms[here] if tops[here] > here else here
        full_only = is_below and here > 0
        for kind in range(n_kinds):
            limit[kind] = row.free[kinds[kind]]
            if not forward and here < row.limits.shape[0]:
                limit[kind] = row.limits[here, kinds[kind]]
        missing = here - rest
        group_left[:] = 0
        width = 1 if full_only else n_codes
        for base in range(offsets[here], offsets[here + 1], width):
            code, n_left = 0, 0
            for kind in range(n_kinds if missing == 0 else 0):
                left[kind] = limit[kind] if forward or full_only else 0
                free_left[kinds[kind]] = left[kind]
                n_left += left[kind]
                code += left[kind] * strides[kinds[kind]]
            at_least = 0
            for label in range(n_tiers - 1 if missing == 0 else -1, -1, -1):
                at_least += sizes[label] - group_left[label] - after[rest, label]
                gone[label] = at_least
            more_states, is_passed = missing == 0, False
            while more_states:
                block = block_at[n_items - here - n_left, 0]
                state = base if full_only else base + code
                probability = 0.0
                if counting is not None:
                    probability = reached[state]
                if block >= 0 and (probability > 0.0 or not forward):
                    size = block_at[n_items - here - n_left, 1]
                    n_free_left = 0
                    for label in range(n_tiers - 1, -1, -1):
                        n_free_left += free_left[label]
                        rates[label] = misplaced * (gone[label] - n_free_left)
                        rates[label] += placing[block, label]
                    if by_units is not None:
                        for number in range(by_units.shape[1]):
                            by_units[state, number] = 0.0
                    least = total = mean = square = 0.0
                    particles, certainty, column = int(probability), 1.0, 0
                    if counting is not None:
                        column = min(block, totals.shape[1] - 1)
                    fewest_free = max(0, size - here)
                    most_free = fewest_free if is_below else min(size, n_left)
                    alone = 0.0 if large else 1.0
                    if is_below:
                        alone = _over(alone, n_left, fewest_free, setting)
                    else:
                        alone = _over(alone, here + n_left, size, setting)
                    for n_free in range(fewest_free, most_free + 1):
                        n_listed, block_share = size - n_free, 0.0
                        end = here - n_listed
                        straddles, top = tops[end] > end, tops[end]
                        is_same_group = straddles and top > here
                        ways = alone
                        if not is_below:
                            ways = _times(ways, here, n_listed, setting)
                        listed_units = 0
                        head = here if is_same_group else top
                        if straddles:
                            ways = _over(ways, head - bottoms[end], head - end, setting)
                            for label in range(n_tiers):
                                available[label] = group_left[label]
                                if not is_same_group:
                                    available[label] = (
                                        after[top, label] - after[bottoms[end], label]
                                    )
                        if not is_same_group:
                            for number in range(rest, top if straddles else end, -1):
                                listed_units += rates[labels[number]]
                            for label in range(n_tiers if rest < here else 0):
                                listed_units += group_left[label] * rates[label]
                        single = 0
                        if n_free == 1:
                            while left[single] == 0:
                                single += 1
                            chosen[single] = 1
                        elif n_free > 1:
                            first_choice(chosen, left, n_free, n_kinds)
                        more_free = True
                        while more_free:
                            free_ways, free_units = ways, listed_units
                            free_target = code
                            if n_free == 1:
                                free_ways = _times(free_ways, left[single], 1, setting)
                                free_units += rates[kinds[single]]
                                free_target -= strides[kinds[single]]
                            elif n_free > 1:
                                for kind in range(n_kinds):
                                    number = chosen[kind]
                                    if number > 0:
                                        free_ways = _times(free_ways, left[kind], number, setting)
                                        free_units += number * rates[kinds[kind]]
                                        free_target -= number * strides[kinds[kind]]
                            free_target = offsets[end] + (
                                0 if full_only and end > 0 else free_target
                            )
                            if straddles:
                                first_choice(taken, available, head - end, n_tiers)
                            more = True
                            while more:
                                weight, units, target = free_ways, free_units, free_target
                                if straddles:
                                    for label in range(n_tiers):
                                        number = taken[label]
                                        behind = available[label] - number
                                        target += behind * row.group_strides[top, label]
                                        if number > 0:
                                            units += number * rates[label]
                                            weight = _times(
                                                weight, available[label], number, setting
                                            )
                                if large:
                                    weight = np.exp(weight)
                                if counting is not None:
                                    beyond = units + values[target, 0] - values[state, 0]
                                    share = weight * _power(beyond, setting)
                                    share *= values[target, 1] / values[state, 1]
                                    if is_drawn:
                                        number = 0
                                        for _ in range(particles):
                                            number += rng.random() * certainty < share
                                        particles -= number
                                        certainty -= share
                                        share = float(number)
                                    else:
                                        share *= probability
                                    if share > 0.0:
                                        if end == 0 and reached[target] == 0.0:
                                            ends[0] += 1
                                            ends[ends[0]] = target
                                        reached[target] += share
                                        block_share += share
                                        if n_free == 1:
                                            frees[n_listed, single] += share
                                            behinds[n_listed, single] -= share
                                            free_in[column, single] += share
                                            for kind in range(n_kinds):
                                                free_free[single, kind] += share * left[kind]
                                            free_free[single, single] -= share
                                        elif n_free > 1:
                                            for one in range(n_kinds):
                                                if chosen[one] > 0:
                                                    several = share * chosen[one]
                                                    frees[n_listed, one] += several
                                                    behinds[n_listed, one] -= several
                                                    free_in[column, one] += several
                                                    for kind in range(n_kinds):
                                                        free_free[one, kind] += several * (
                                                            left[kind] - chosen[kind]
                                                        )
                                        if straddles:
                                            slot = slots[top]
                                            for label in range(n_tiers):
                                                several = share * taken[label]
                                                behind = share * (available[label] - taken[label])
                                                groups[n_listed, column, label] += several
                                                for other in range(n_tiers if several > 0.0 else 0):
                                                    within[slot, label, other] += several * (
                                                        available[other] - taken[other]
                                                    )
                                                for kind in range(n_kinds):
                                                    behind_groups[n_listed, kind, label] += (
                                                        several * (left[kind] - chosen[kind])
                                                    )
                                                    before_groups[n_listed, kind, label] += (
                                                        behind * chosen[kind]
                                                    )
                                elif by_units is not None:
                                    # States that no answer reaches may have fewer than none.
                                    farthest = by_units.shape[1] - units if units >= 0 else 0
                                    for beyond in range(farthest):
                                        share = weight * by_units[target, beyond]
                                        by_units[state, units + beyond] += share
                                else:
                                    onward = units + values[target, 0]
                                    if total == 0.0:
                                        least = onward
                                    elif onward < least:
                                        apart = least - onward
                                        shrink = _power(apart, setting)
                                        square += apart * (2.0 * mean + apart * total)
                                        mean += apart * total
                                        total, mean = total * shrink, mean * shrink
                                        square *= shrink
                                        least = onward
                                    beyond = onward - least
                                    weight *= _power(beyond, setting)
                                    once, twice = values[target, 1], values[target, 2]
                                    total += weight * once
                                    once *= beyond
                                    mean += weight * (once + twice)
                                    once = beyond * (once + 2.0 * twice)
                                    square += weight * (once + values[target, 3])
                                more = straddles and next_choice(taken, available)
                            if n_free > 1:
                                more_free = next_choice(chosen, left)
                                for kind in range(0 if more_free else n_kinds):
                                    chosen[kind] = 0
                            else:
                                more_free = False
                                if n_free == 1:
                                    chosen[single] = 0
                                    single += 1
                                    while single < n_kinds and left[single] == 0:
                                        single += 1
                                    more_free = single < n_kinds
                                    if more_free:
                                        chosen[single] = 1
                        if counting is not None:
                            is_passed = is_passed or block_share > 0.0
                            totals[n_listed, column] += block_share
                            for kind in range(n_kinds):
                                behinds[n_listed, kind] += block_share * left[kind]
                    if counting is not None:
                        reached[state] = 0.0
                    elif by_units is None:
                        if total < _SMALL:
                            raised = np.floor(-np.log(total) / setting.theta)
                            square += raised * (raised * total - 2.0 * mean)
                            mean -= raised * total
                            grow = np.exp(setting.theta * raised)
                            total, mean, square = total * grow, mean * grow, square * grow
                            least += raised
                        values[state, 0], values[state, 1] = least, total
                        values[state, 2], values[state, 3] = mean, square
                # To the next of all numbers that may be left of the free items.
                more_states = False
                for kind in range(0 if full_only else n_kinds):
                    change = -left[kind] if not forward else limit[kind] - left[kind]
                    more_states = left[kind] > 0 if forward else left[kind] < limit[kind]
                    if more_states:
                        change = -1 if forward else 1
                    left[kind] += change
                    free_left[kinds[kind]] = left[kind]
                    n_left += change
                    code += change * strides[kinds[kind]]
                    if more_states:
                        break
            if counting is not None and is_passed:
                _add_layer(row, here, rest, group_left, left, tally, expected)
            # To the next of all numbers that may be left of the group.
            if base + width < offsets[here + 1]:
                top, label = tops[here], n_tiers - 1
                while group_left[label] == after[top, label] - after[rest, label]:
                    missing += group_left[label]
                    group_left[label] = 0
                    label -= 1
                group_left[label] += 1
                missing -= 1


@inlined
def _add_layer(  # noqa: PLR0912 - loops over items, blocks and kinds
    row: _Row,
    here: int,
    rest: int,
    group_left: _Integers,
    left: _Integers,
    tally: _Tally,
    expected: _Expected,
) -> None:
    """Count listed items that blocks take which begin where so many of them are left.

    ``rest`` of these belong to groups that were not begun, and ``group_left`` to one that was.
    """
    labels, tops, bottoms, after = row.labels, row.tops, row.bottoms, row.after
    totals, frees, behinds, groups, behind_groups, before_groups, shares = tally
    places, together = expected.places, expected.together
    listed_free, free_listed = expected.listed_free, expected.free_listed
    n_kinds, n_tiers, n_blocks = left.shape[0], group_left.shape[0], totals.shape[1]
    for n_listed in range(min(here + 1, totals.shape[0])):
        total = 0.0
        for block in range(n_blocks):
            total += totals[n_listed, block]
        if total == 0.0:
            continue
        end = here - n_listed
        straddles = tops[end] > end
        last = bottoms[end] if straddles else end
        for number in range(tops[here], last, -1):
            label, top = labels[number], tops[number]
            limit = after[top, label] - after[bottoms[number], label]
            is_open = straddles and top == tops[end]
            share = 0.0
            shares[number] = group_left[label] / limit if number > rest else 1.0
            for block in range(n_blocks):
                inside = shares[number] * totals[n_listed, block]
                if is_open:
                    inside = groups[n_listed, block, label] / limit
                places[number, block] += inside
                share += inside
            for earlier in range(tops[here], top, -1):
                together[earlier, number] += share * shares[earlier]
            for kind in range(n_kinds):
                behind = shares[number] * behinds[n_listed, kind]
                if is_open:
                    behind = behind_groups[n_listed, kind, label] / limit
                    before = before_groups[n_listed, kind, label] / limit
                    free_listed[kind, number] += before
                listed_free[number, kind] += behind
        for kind in range(n_kinds):
            expected.free_from[kind, last] += frees[n_listed, kind]
            frees[n_listed, kind] = behinds[n_listed, kind] = 0.0
        for block in range(n_blocks):
            totals[n_listed, block] = 0.0
        for label in range(n_tiers if straddles else 0):
            for block in range(n_blocks):
                groups[n_listed, block, label] = 0.0
            for kind in range(n_kinds):
                behind_groups[n_listed, kind, label] = 0.0
                before_groups[n_listed, kind, label] = 0.0


@compiled_part
def _make_values(setting: Setting, sequences: Sequences, room: _Room) -> _Floats:
    """Make room for the values of all states of any row."""
    most = 1
    for number in range(sequences.lengths.shape[0]):
        row = _lay_out(setting, sequences, number, room)
        most = max(most, row.offsets[row.length + 1])
    values = np.zeros((most, 4))
    values[0, 1] = 1.0
    return values


@compiled_part
def _known_units(setting: Setting, row: _Row) -> int:
    """Units of pairs with items that were placed before the row begins."""
    units = at_least = 0
    for label in range(setting.sizes.shape[0] - 1, -1, -1):
        present = row.free[label] + row.after[row.length, label]
        at_least += setting.sizes[label] - present
        units += setting.misplaced * at_least * present
    return units


@compiled
def value_sequences(setting: Setting, sequences: Sequences) -> _Floats:
    """Log of the average weight, mean and variance of the units of all completions of each row.

    Pairs with items that were placed before are not counted.
    """
    n_rows = sequences.lengths.shape[0]
    results = np.empty((n_rows, 3))
    room = _make_room(sequences)
    values = _make_values(setting, sequences, room)
    for number in range(n_rows):
        row = _lay_out(setting, sequences, number, room)
        _walk(setting, row, values, sequences.shared[number] + 1, None, None)
        least, total, mean, square = values[_first_state(row)]
        mean, square = mean / total, square / total
        least -= _known_units(setting, row)
        results[number, 0] = np.log(total) - setting.theta * least
        results[number, 1] = least + mean
        results[number, 2] = max(square - mean * mean, 0.0)
    return results


@compiled
def share_by_units(setting: Setting, sequences: Sequences, width: int) -> tuple[_Integers, _Floats]:
    """Fewest units of the completions of each row, and the share of those with so many more.

    ``width`` is beyond the largest number of units. Pairs with items that were placed before are
    not counted.
    """
    n_rows = sequences.lengths.shape[0]
    fewest, shares = np.zeros(n_rows, dtype=np.int64), np.zeros((n_rows, width))
    room = _make_room(sequences)
    values = _make_values(setting, sequences, room)
    ways = np.zeros((values.shape[0], width))
    ways[0, 0] = 1.0
    for number in range(n_rows):
        row = _lay_out(setting, sequences, number, room)
        _walk(setting, row, values, sequences.shared[number] + 1, None, ways)
        first, least = _first_state(row), 0
        while ways[first, least] == 0.0:
            least += 1
        fewest[number] = least - _known_units(setting, row)
        for units in range(least, width):
            shares[number, units - least] = ways[first, units]
    return fewest, shares


class Wanted(NamedTuple):
    """Which answers belong to which row, their weights, and what is counted of them.

    Attributes
    ----------
    answers, starts
        The answers of a row are ``answers[starts[row] : starts[row + 1]]``.
    items
        Of answers, ordered as in `order_by_label`.
    n_present
        How many items are listed or free.
    weights
        Of answers.
    n_drawn
        ``n_drawn[row]``: how many ways are drawn; 0 to sum over all of them.
    membership, precedence
        To be added to: how often items are in blocks, and in earlier blocks than others. Empty if
        not asked for.
    """

    answers: _Integers
    starts: _Integers
    items: _Integers
    n_present: _Integers
    weights: _Floats
    n_drawn: _Integers
    membership: _Floats
    precedence: _Floats


@compiled_part
def _expect_tails(  # noqa: PLR0912 - a loop over choices, with two things to count
    setting: Setting, row: _Row, values: _Floats, pairs: _Floats, places: _Floats
) -> None:
    """Fill expectations over all ways on from each state in which all that is left is free.

    ``pairs[state, k, j]`` are pairs of kinds, one in an earlier block than the other, and
    ``places[state, block, k]`` numbers of items in blocks. Either may be empty.
    """
    sizes, kinds, strides = setting.sizes, row.kinds, row.strides
    n_tiers, n_kinds, n_items = sizes.shape[0], kinds.shape[0], setting.block_at.shape[0] - 1
    large = setting.binomials.shape[0] == 0
    free_left, rates = np.zeros((2, n_tiers), dtype=np.int64)
    left, chosen = np.zeros((2, n_kinds), dtype=np.int64)
    n_left = 0
    for state in range(row.n_codes):
        block = setting.block_at[n_items - n_left, 0]
        size = setting.block_at[n_items - n_left, 1]
        if block >= 0:
            at_least = 0
            for label in range(n_tiers - 1, -1, -1):
                at_least += sizes[label] - free_left[label]
                rates[label] = setting.misplaced * at_least + setting.placing[block, label]
            alone = _over(0.0 if large else 1.0, n_left, size, setting)
            first_choice(chosen, left, size, n_kinds)
            more = True
            while more:
                share, units, target = alone, 0, state
                for kind in range(n_kinds):
                    number = chosen[kind]
                    if number > 0:
                        share = _times(share, left[kind], number, setting)
                        units += number * rates[kinds[kind]]
                        target -= number * strides[kinds[kind]]
                if large:
                    share = np.exp(share)
                share *= _power(units + values[target, 0] - values[state, 0], setting)
                share *= values[target, 1] / values[state, 1]
                for one in range(n_kinds if pairs.shape[0] > 0 else 0):
                    number = share * chosen[one]
                    for other in range(n_kinds):
                        # What is taken now lies before all that is left.
                        pairs[state, one, other] += share * pairs[target, one, other]
                        pairs[state, one, other] += number * (left[other] - chosen[other])
                if places.shape[0] > 0:
                    for later in range(block + 1, places.shape[1]):
                        for kind in range(n_kinds):
                            places[state, later, kind] += share * places[target, later, kind]
                    for kind in range(n_kinds):
                        places[state, block, kind] += share * chosen[kind]
                more = next_choice(chosen, left)
        kind = 0
        while kind < n_kinds and left[kind] == row.limits[0, kinds[kind]]:
            n_left -= left[kind]
            left[kind] = free_left[kinds[kind]] = 0
            kind += 1
        if kind < n_kinds:
            left[kind] += 1
            free_left[kinds[kind]] += 1
            n_left += 1


@inlined
def _add_tails(counting: _Counting, n_kinds: int, pairs: _Floats, places: _Floats) -> None:
    """Add expectations over all ways on from where nothing is listed any more."""
    reached, ends, expected = counting.reached, counting.ends, counting.expected
    for index in range(1, ends[0] + 1):
        state = ends[index]
        share = reached[state]
        reached[state] = 0.0
        for one in range(n_kinds if pairs.shape[0] > 0 else 0):
            for other in range(n_kinds):
                expected.free_free[one, other] += share * pairs[state, one, other]
        for block in range(places.shape[1]):
            for one in range(n_kinds):
                expected.free_in[block, one] += share * places[state, block, one]


@inlined
def _clear(row: _Row, expected: _Expected) -> None:
    """Begin with nothing counted."""
    expected.places[:] = 0.0
    expected.together[:] = 0.0
    expected.free_free[:] = 0.0
    expected.listed_free[:] = 0.0
    expected.free_listed[:] = 0.0
    expected.free_from[:] = 0.0
    expected.free_in[:] = 0.0
    slot = 0
    for number in range(1, row.length + 1):
        if row.tops[number] == number and number - row.bottoms[number] > 1:
            expected.slots[number] = slot
            expected.within[slot] = 0.0
            slot += 1


@inlined
def _write_pairs(
    row: _Row, expected: _Expected, n_ways: float, kind_of: _Integers, pairs: _Floats
) -> None:
    """Write how often a listed or free item is in an earlier block than another, by position."""
    length, labels, tops, bottoms, after = row.length, row.labels, row.tops, row.bottoms, row.after
    n_present = kind_of.shape[0]
    for first in range(length):
        number = length - first
        label, top, bottom = labels[number], tops[number], bottoms[number]
        for second in range(length):
            other = length - second
            pairs[first, second] = 0.0
            if other <= bottom:
                pairs[first, second] = n_ways - expected.together[number, other]
            elif other <= top and other != number:
                lower = labels[other]
                n_pairs = after[top, label] - after[bottom, label]
                n_pairs *= after[top, lower] - after[bottom, lower] - (label == lower)
                within = expected.within[expected.slots[top], label, lower]
                pairs[first, second] = within / n_pairs
    for first in range(length, n_present):
        kind = kind_of[first]
        n_alike = row.free[row.kinds[kind]]
        earlier = 0.0
        for second in range(length):
            number = length - second
            earlier += expected.free_from[kind, number]
            pairs[first, second] = (earlier + expected.free_listed[kind, number]) / n_alike
            pairs[second, first] = expected.listed_free[number, kind] / n_alike
        for second in range(length, n_present):
            other = kind_of[second]
            n_pairs = n_alike * (row.free[row.kinds[other]] - (kind == other))
            pairs[first, second] = 0.0
            if first != second:
                pairs[first, second] = expected.free_free[kind, other] / n_pairs


@inlined
def _add_row(
    row: _Row, expected: _Expected, wanted: Wanted, number: int, pairs: _Floats, n_ways: float
) -> None:
    """Add what is expected of a row to the items of its answers."""
    first_answer = wanted.answers[wanted.starts[number]]
    n_present = wanted.n_present[first_answer]
    kind_of = np.zeros(n_present, dtype=np.int64)
    position = row.length
    for kind in range(row.kinds.shape[0]):
        for _ in range(row.free[row.kinds[kind]]):
            kind_of[position] = kind
            position += 1
    of_pairs, of_places = wanted.precedence.shape[0] > 0, wanted.membership.shape[0] > 0
    if of_pairs:
        _write_pairs(row, expected, n_ways, kind_of, pairs)
    for index in range(wanted.starts[number], wanted.starts[number + 1]):
        answer = wanted.answers[index]
        items, weight = wanted.items[answer], wanted.weights[answer] / n_ways
        for first in range(n_present):
            item = items[first]
            if of_pairs:
                for second in range(n_present):
                    wanted.precedence[item, items[second]] += weight * pairs[first, second]
            if of_places:
                for block in range(wanted.membership.shape[1]):
                    if first < row.length:
                        share = expected.places[row.length - first, block]
                    else:
                        kind = kind_of[first]
                        share = expected.free_in[block, kind] / row.free[row.kinds[kind]]
                    wanted.membership[item, block] += weight * share


@compiled
def add_expected_counts(
    setting: Setting, sequences: Sequences, wanted: Wanted, rng: np.random.Generator
) -> None:
    """Add how often items are expected in blocks, and in earlier blocks than others."""
    n_rows, longest = sequences.labels.shape
    n_tiers, n_items = setting.sizes.shape[0], wanted.items.shape[1]
    n_blocks = max(wanted.membership.shape[1], 1)
    room = _make_room(sequences)
    values = _make_values(setting, sequences, room)
    pairs = np.zeros((n_items, n_items))
    tail_pairs = tail_places = np.zeros((0, 0, 0))
    largest = 0
    for place in range(setting.block_at.shape[0]):
        largest = max(largest, setting.block_at[place, 1])
    tally, expected = _make_counting(longest, n_tiers, n_blocks, largest)
    reached, ends = np.zeros(values.shape[0]), np.zeros(values.shape[0] + 1, dtype=np.int64)
    for number in range(n_rows):
        row = _lay_out(setting, sequences, number, room)
        begin = sequences.shared[number] + 1
        _walk(setting, row, values, begin, None, None)
        if begin == 0:
            n_kinds = row.kinds.shape[0]
            if wanted.precedence.shape[0] > 0:
                tail_pairs = np.zeros((row.n_codes, n_kinds, n_kinds))
            if wanted.membership.shape[0] > 0:
                tail_places = np.zeros((row.n_codes, n_blocks, n_kinds))
            _expect_tails(setting, row, values, tail_pairs, tail_places)
        _clear(row, expected)
        n_drawn = wanted.n_drawn[number]
        n_ways = float(max(n_drawn, 1))
        # Where nothing is listed, the first state is in layer 0.
        ends[0], ends[1] = row.length == 0, _first_state(row)
        reached[ends[1]] = n_ways
        counting = _Counting(reached, ends, tally, expected, n_drawn > 0, rng)
        _walk(setting, row, values, 1, counting, None)
        _add_tails(counting, row.kinds.shape[0], tail_pairs, tail_places)
        _add_row(row, expected, wanted, number, pairs, n_ways)
