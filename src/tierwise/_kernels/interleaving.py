"""Answers with ties and with items anywhere: sums over all completions, and expected counts.

An answer lists groups of items in order, the order within each group being unknown; all other items
are free, that is, anywhere among the listed ones. Blocks of places are filled from best to worst. A
block takes a choice of the free items and goes on with the listed ones: with what is left of the
group that the block before began, whole groups, and a choice from the group that straddles its end.
At the end of a block a state is how many free items of each label are left, which says how many of
the listed items are placed, and how many items of each label are left of the straddling group.
Weak orders have no free items, and lists without ties no straddling groups.

Which items of earlier blocks are misplaced against those of a block depends on the state only, so
each choice costs a sum over its labels. The walk from the last block to the first finds the weight
of all ways on from every state; the walk back pushes probabilities from the first state to the last
and counts on the way (forward-backward on a weighted automaton: Baum, Petrie, Soules and Weiss, A
maximization technique occurring in the statistical analysis of probabilistic functions of Markov
chains, Annals of Mathematical Statistics 41, 1970). Items of a group that have the same label stand
for each other, and so do free items of a label.

A row of ``sequences`` holds the listed items of an answer, group by group, then its free ones;
``starts`` holds where the group of each listed item begins, and the number of listed items after
the last.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.recursion import first_choice, next_choice

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class Setting(NamedTuple):
    """What does not depend on the answer: labels, sizes, the distance in units, theta per unit."""

    labels: _Integers
    sizes: _Integers
    misplaced: int
    placing: _Integers
    theta: float
    log_factorials: _Floats


class _Answer(NamedTuple):
    """One answer, by labels.

    Attributes
    ----------
    sequence
        The listed items, group by group, then the free ones.
    starts, ends
        Where the group of each listed item begins and ends.
    before
        ``before[position, label]``: items of each label at earlier positions.
    log_orders
        Log number of orders of all groups before each group.
    free
        How many free items have each label.
    free_strides
        What one more free item of a label adds to the code of the free items left.
    group_strides
        ``group_strides[start, label]``: the same for the items left of a group.
    offsets
        Where the states of each boundary of blocks begin, for each code of the free items left.
    """

    sequence: _Integers
    starts: _Integers
    ends: _Integers
    before: _Integers
    log_orders: _Floats
    free: _Integers
    free_strides: _Integers
    group_strides: _Integers
    offsets: _Integers


@inlined
def _number_states(
    sizes: _Integers,
    starts: _Integers,
    free: _Integers,
    free_strides: _Integers,
    n_codes: int,
    n_states: _Integers,
) -> _Integers:
    """Return where the states of each boundary begin, for each code of the free items left."""
    n_tiers, n_listed, n_free = sizes.shape[0], starts.shape[0] - 1, free.sum()
    offsets = np.empty((n_tiers + 1) * n_codes + 1, dtype=np.int64)
    offsets[0] = 0
    for code in range(n_codes):
        left = 0
        if n_free > 0:
            for label in range(n_tiers):
                left += code // free_strides[label] % (free[label] + 1)
        # Where blocks begin among the listed items; states are counted here, and added up below.
        position = left - n_free
        for boundary in range(n_tiers + 1):
            number = 0
            if 0 <= position <= n_listed:
                number = n_states[starts[position]] if starts[position] < position else 1
            offsets[boundary * n_codes + code + 1] = number
            position += sizes[boundary] if boundary < n_tiers else 0
    for index in range(1, offsets.shape[0]):
        offsets[index] += offsets[index - 1]
    return offsets


@compiled_part
def _read_answer(setting: Setting, sequence: _Integers, starts: _Integers) -> _Answer:
    """Lay out an answer, and number its states."""
    labels, sizes, logs = setting.labels, setting.sizes, setting.log_factorials
    n_tiers, n_listed = sizes.shape[0], starts.shape[0] - 1
    ends = np.empty(n_listed + 1, dtype=np.int64)
    before = np.zeros((n_listed + 1, n_tiers), dtype=np.int64)
    log_orders = np.empty(n_listed + 1)
    group_strides = np.empty((n_listed + 1, n_tiers), dtype=np.int64)
    n_states = np.empty(n_listed + 1, dtype=np.int64)
    ends[n_listed] = n_listed
    log_orders[0] = 0.0
    start = 0
    for end in range(1, n_listed + 1):
        for label in range(n_tiers):
            before[end, label] = before[end - 1, label]
        before[end, labels[sequence[end - 1]]] += 1
        if starts[end] < end:
            continue
        log_orders[end] = log_orders[start] + logs[end - start]
        n_states[start] = 1
        for position in range(start, end):
            ends[position] = end
        if end - start > 1:
            for label in range(n_tiers - 1, -1, -1):
                group_strides[start, label] = n_states[start]
                n_states[start] *= before[end, label] - before[start, label] + 1
        start = end
    free = np.empty(n_tiers, dtype=np.int64)
    free_strides = np.empty(n_tiers, dtype=np.int64)
    n_codes = 1
    for label in range(n_tiers - 1, -1, -1):
        free[label] = sizes[label] - before[n_listed, label]
        free_strides[label] = n_codes
        n_codes *= free[label] + 1
    offsets = _number_states(sizes, starts, free, free_strides, n_codes, n_states)
    return _Answer(
        sequence, starts, ends, before, log_orders, free, free_strides, group_strides, offsets
    )


# Which way to walk.
_BACKWARD, _FORWARD = 0, 1


class _Expected(NamedTuple):
    """Expectations of one answer; pairs are of an item in an earlier block than the other.

    Attributes
    ----------
    within
        ``within[start, l, m]``: pairs of labels in a group.
    free_free
        ``free_free[l, m]``: pairs of free items of labels l and m.
    listed_free
        ``listed_free[position, l]``: free items of a label in later blocks than a listed item.
    free_listed
        ``free_listed[l, position]``: the other way round, but for what `free_from` says.
    free_from
        ``free_from[l, position]``: free items in earlier blocks than all from this position on.
    free_in
        ``free_in[l, block]``: free items of a label in a block.
    weight
        A single number: the weight of the answer.
    membership, precedence
        To be added to.
    """

    within: _Floats
    free_free: _Floats
    listed_free: _Floats
    free_listed: _Floats
    free_from: _Floats
    free_in: _Floats
    weight: _Floats
    membership: _Floats
    precedence: _Floats


class _Tally(NamedTuple):
    """What is added up of the steps that end at the same listed item, from one state.

    Attributes
    ----------
    total
        A single number: the probability of all.
    free, group
        Expected numbers, by label, of free items and of items of the straddling group.
    both
        ``both[l, m]``: expected pairs of a free item of label l and one of that group of label m.
    shares
        Room for the probability of each listed item to be in the block.
    """

    total: _Floats
    free: _Floats
    group: _Floats
    both: _Floats
    shares: _Floats


@compiled_part
def _walk(  # noqa: PLR0912, PLR0915 - all steps, in either direction, in one place
    setting: Setting,
    answer: _Answer,
    values: _Floats,
    reached: _Floats,
    tally: _Tally,
    expected: _Expected,
    direction: int,
) -> None:
    """Go through all steps of all blocks: backward to weigh them, then forward to count.

    Backward, ``values[state]`` becomes the log weight, mean and mean square of the units of all
    ways on. Forward, ``reached[state]`` becomes the probability of a state.
    """
    forward = direction == _FORWARD
    sizes, misplaced, placing = setting.sizes, setting.misplaced, setting.placing
    theta, logs = setting.theta, setting.log_factorials
    starts, ends, before, offsets = answer.starts, answer.ends, answer.before, answer.offsets
    free, free_strides, group_strides = answer.free, answer.free_strides, answer.group_strides
    n_tiers, n_listed, n_free_items = sizes.shape[0], starts.shape[0] - 1, free.sum()
    n_codes = (offsets.shape[0] - 1) // (n_tiers + 1)
    # By label: what is left of the free items, and of the group that the block before began; what
    # the group has that straddles the end of the block; what the block takes of both.
    free_left, group_left, available, free_taken, taken, rates = np.zeros(
        (6, n_tiers), dtype=np.int64
    )
    place = 0 if forward else sizes.sum()
    for turn in range(n_tiers):
        block = turn if forward else n_tiers - 1 - turn
        size = sizes[block]
        place -= 0 if forward else size
        n_left = 0
        for code in range(n_codes):
            first, last = offsets[block * n_codes + code], offsets[block * n_codes + code + 1]
            start = place - (n_free_items - n_left)
            rest = start
            if first < last:
                rest = ends[start] if starts[start] < start else start
                group_left[:] = 0
            missing = rest - start
            for state in range(first, last):
                if missing == 0 and (not forward or reached[state] > 0.0):
                    at_least = 0
                    for label in range(n_tiers - 1, -1, -1):
                        left = free_left[label] + group_left[label]
                        left += before[n_listed, label] - before[rest, label]
                        at_least += sizes[label] - left
                        rates[label] = misplaced * at_least + placing[block, label]
                    peak = -np.inf
                    total = mean = square = 0.0
                    for n_free in range(max(0, size - n_listed + start), min(size, n_left) + 1):
                        end = start + size - n_free
                        group, first_end = starts[end], ends[start]
                        straddles = group < end
                        # Orders of all places, but for those of listed groups among each other.
                        log_listed = logs[size] - logs[size - n_free]
                        if end <= first_end:
                            log_listed += logs[end - start]
                        else:
                            log_listed += logs[first_end - start] + logs[end - group]
                            log_listed += answer.log_orders[group] - answer.log_orders[first_end]
                        listed_units = 0
                        for label in range(n_tiers):
                            available[label] = group_left[label]
                            if start <= group:
                                listed = before[group, label] - before[rest, label]
                                listed_units += (group_left[label] + listed) * rates[label]
                                available[label] = before[ends[end], label] - before[group, label]
                        if n_free > 0:
                            first_choice(free_taken, free_left, n_free, n_tiers)
                        more_free = True
                        while more_free:
                            log_free, free_units, free_code = log_listed, listed_units, code
                            if n_free > 0:
                                for label in range(n_tiers):
                                    number = free_taken[label]
                                    left = free_left[label]
                                    log_free += logs[left] - logs[number] - logs[left - number]
                                    free_units += number * rates[label]
                                    free_code -= number * free_strides[label]
                            free_target = offsets[(block + 1) * n_codes + free_code]
                            if straddles:
                                first_choice(taken, available, end - max(group, start), n_tiers)
                            more = True
                            while more:
                                log_weight, units, target = log_free, free_units, free_target
                                if straddles:
                                    for label in range(n_tiers):
                                        number = taken[label]
                                        left = available[label] - number
                                        target += left * group_strides[group, label]
                                        if number > 0:
                                            units += number * rates[label]
                                            log_weight += logs[left + number]
                                            log_weight -= logs[number] + logs[left]
                                log_weight += values[target, 0] - theta * units
                                if forward:
                                    share = np.exp(log_weight - values[state, 0]) * reached[state]
                                    if share > 0.0:
                                        reached[target] += share
                                        tally.total[0] += share
                                        if n_free > 0:
                                            _add_taken(
                                                share,
                                                free_taken,
                                                free_left,
                                                tally.free,
                                                expected.free_free,
                                            )
                                        if straddles:
                                            _add_taken(
                                                share,
                                                taken,
                                                available,
                                                tally.group,
                                                expected.within[group],
                                            )
                                        if straddles and n_free > 0:
                                            for label in range(n_tiers):
                                                both = share * free_taken[label]
                                                for other in range(n_tiers):
                                                    tally.both[label, other] += both * taken[other]
                                else:
                                    if log_weight > peak:
                                        shrink = np.exp(peak - log_weight)
                                        total *= shrink
                                        mean *= shrink
                                        square *= shrink
                                        peak = log_weight
                                    weight = np.exp(log_weight - peak)
                                    onward = values[target, 1]
                                    total += weight
                                    mean += weight * (units + onward)
                                    onward = 2.0 * onward + units
                                    square += weight * (units * onward + values[target, 2])
                                more = straddles and next_choice(taken, available)
                            more_free = n_free > 0 and next_choice(free_taken, free_left)
                        if forward and tally.total[0] > 0.0:
                            bounds = (block, start, rest, end)
                            _add_block(
                                setting, answer, bounds, free_left, group_left, tally, expected
                            )
                    if not forward:
                        values[state, 0] = peak + np.log(total)
                        values[state, 1] = mean / total
                        values[state, 2] = square / total
                # To the next of all numbers that may be left of the group, and of the free items.
                if state + 1 < last:
                    label = n_tiers - 1
                    while group_left[label] == (before[rest, label] - before[starts[start], label]):
                        missing += group_left[label]
                        group_left[label] = 0
                        label -= 1
                    group_left[label] += 1
                    missing -= 1
            label = n_tiers - 1
            while label >= 0 and free_left[label] == free[label]:
                n_left -= free_left[label]
                free_left[label] = 0
                label -= 1
            if label >= 0:
                free_left[label] += 1
                n_left += 1
        place += size if forward else 0


@compiled_part
def _add_taken(
    share: float, taken: _Integers, available: _Integers, numbers: _Floats, pairs: _Floats
) -> None:
    """Count what is taken, by label, and that it comes before what is left."""
    for label in range(taken.shape[0]):
        if taken[label] > 0:
            number = share * taken[label]
            numbers[label] += number
            for other in range(taken.shape[0]):
                pairs[label, other] += number * (available[other] - taken[other])


@compiled_part
def _add_block(
    setting: Setting,
    answer: _Answer,
    bounds: tuple[int, int, int, int],
    free_left: _Integers,
    group_left: _Integers,
    tally: _Tally,
    expected: _Expected,
) -> None:
    """Count all steps of a block that end at the same listed item, from one state.

    ``bounds`` are the block, where it begins among the listed items, where the group ends within
    which it begins, and where the block ends. Listed items of different groups are in order, unless
    they share a block: such pairs are taken away.
    """
    block, start, rest, end = bounds
    starts, ends, before, sequence = answer.starts, answer.ends, answer.before, answer.sequence
    shares, weight = tally.shares, expected.weight[0]
    n_tiers, group, total = setting.sizes.shape[0], starts[end], tally.total[0]
    has_free = starts.shape[0] - 1 < sequence.shape[0]
    last = ends[end] if group < end else end
    for position in range(starts[start], last):
        item, begin = sequence[position], starts[position]
        label = setting.labels[item]
        limit = before[ends[position], label] - before[begin, label]
        straddles = group < end and begin == group
        shares[position] = 1.0
        if straddles:
            shares[position] = tally.group[label] / (total * limit)
        elif position < rest:
            shares[position] = group_left[label] / limit
        share = weight * total * shares[position]
        expected.membership[item, block] += share
        for earlier in range(starts[start], begin):
            expected.precedence[sequence[earlier], item] -= share * shares[earlier]
        for other in range(n_tiers if has_free else 0):
            if straddles:
                available = group_left[label] if group < start else limit
                both, free = tally.both[other, label], tally.free[other]
                after = free_left[other] * tally.group[label] - both
                expected.listed_free[position, other] += after / limit
                expected.free_listed[other, position] += (available * free - both) / limit
            else:
                after = total * free_left[other] - tally.free[other]
                expected.listed_free[position, other] += shares[position] * after
    tally.total[0] = 0.0
    for label in range(n_tiers):
        expected.free_from[label, last] += tally.free[label]
        expected.free_in[label, block] += tally.free[label]
        tally.free[label] = 0.0
        tally.group[label] = 0.0
        for other in range(n_tiers):
            tally.both[label, other] = 0.0


@compiled_part
def _room(n_items: int, n_tiers: int, counts: tuple[_Floats, _Floats]) -> tuple[_Tally, _Expected]:
    """Make room for what a walk counts."""
    tally = _Tally(
        np.zeros(1),
        np.zeros(n_tiers),
        np.zeros(n_tiers),
        np.zeros((n_tiers, n_tiers)),
        np.zeros(n_items + 1),
    )
    expected = _Expected(
        np.zeros((n_items + 1, n_tiers, n_tiers)),
        np.zeros((n_tiers, n_tiers)),
        np.zeros((n_items + 1, n_tiers)),
        np.zeros((n_tiers, n_items + 1)),
        np.zeros((n_tiers, n_items + 1)),
        np.zeros((n_tiers, n_tiers)),
        np.zeros(1),
        counts[0],
        counts[1],
    )
    return tally, expected


@compiled
def value_answers(
    setting: Setting, sequences: _Integers, starts: _Integers, n_listed: _Integers
) -> _Floats:
    """Log weight, mean and mean square of the units of all completions of each answer."""
    results = np.empty((sequences.shape[0], 3))
    nothing, nowhere = np.zeros((0, 0)), np.zeros(0)
    tally, expected = _room(0, 0, (nothing, nothing))
    for row in range(sequences.shape[0]):
        answer = _read_answer(setting, sequences[row], starts[row, : n_listed[row] + 1])
        values = np.zeros((answer.offsets[-1], 3))
        _walk(setting, answer, values, nowhere, tally, expected, _BACKWARD)
        results[row] = values[_first_state(setting, answer)]
    return results


@compiled_part
def _first_state(setting: Setting, answer: _Answer) -> int:
    """Return the state in which nothing is placed yet."""
    n_codes = (answer.offsets.shape[0] - 1) // (setting.sizes.shape[0] + 1)
    return int(answer.offsets[n_codes - 1])


@compiled_part
def _add_listed(setting: Setting, answer: _Answer, expected: _Expected) -> None:
    """Add pairs of listed items: in order, if in different groups, and those within a group."""
    weight, precedence = expected.weight[0], expected.precedence
    n_listed = answer.starts.shape[0] - 1
    for first in range(n_listed):
        item, label = answer.sequence[first], setting.labels[answer.sequence[first]]
        start, end = answer.starts[first], answer.ends[first]
        for second in range(start if end - start > 1 else end, end):
            if first == second:
                continue
            other = answer.sequence[second]
            lower = setting.labels[other]
            n_pairs = answer.before[end, label] - answer.before[start, label]
            n_pairs *= answer.before[end, lower] - answer.before[start, lower] - (label == lower)
            precedence[item, other] += weight * expected.within[start, label, lower] / n_pairs
        for second in range(end, n_listed):
            precedence[item, answer.sequence[second]] += weight


@compiled_part
def _add_free(setting: Setting, answer: _Answer, expected: _Expected) -> None:
    """Add free items in blocks, and pairs with free items."""
    membership, precedence = expected.membership, expected.precedence
    n_listed, n_items = answer.starts.shape[0] - 1, answer.sequence.shape[0]
    for first in range(n_listed, n_items):
        item, label = answer.sequence[first], setting.labels[answer.sequence[first]]
        share = expected.weight[0] / answer.free[label]
        for block in range(setting.sizes.shape[0]):
            membership[item, block] += share * expected.free_in[label, block]
        earlier = 0.0
        for position in range(n_listed):
            other = answer.sequence[position]
            earlier += expected.free_from[label, position]
            before = earlier + expected.free_listed[label, position]
            precedence[item, other] += share * before
            precedence[other, item] += share * expected.listed_free[position, label]
        for second in range(n_listed, n_items):
            lower = setting.labels[answer.sequence[second]]
            if first != second:
                n_others = answer.free[lower] - int(label == lower)
                pairs = expected.free_free[label, lower]
                precedence[item, answer.sequence[second]] += share * pairs / n_others


@compiled
def add_expected_counts(
    setting: Setting,
    sequences: _Integers,
    starts: _Integers,
    n_listed: _Integers,
    weights: _Floats,
    membership: _Floats,
    precedence: _Floats,
) -> None:
    """Add how often items are expected in blocks, and in earlier blocks than others."""
    n_items, n_tiers = sequences.shape[1], setting.sizes.shape[0]
    tally, expected = _room(n_items, n_tiers, (membership, precedence))
    for row in range(sequences.shape[0]):
        answer = _read_answer(setting, sequences[row], starts[row, : n_listed[row] + 1])
        values = np.zeros((answer.offsets[-1], 3))
        reached = np.zeros(answer.offsets[-1])
        _walk(setting, answer, values, reached, tally, expected, _BACKWARD)
        reached[_first_state(setting, answer)] = 1.0
        expected.within[:] = 0.0
        expected.free_free[:] = 0.0
        expected.listed_free[:] = 0.0
        expected.free_listed[:] = 0.0
        expected.free_from[:] = 0.0
        expected.free_in[:] = 0.0
        expected.weight[0] = weights[row]
        _walk(setting, answer, values, reached, tally, expected, _FORWARD)
        _add_listed(setting, answer, expected)
        if n_listed[row] < n_items:
            _add_free(setting, answer, expected)
