"""Weak orders: sums over all completions, forward, and expected counts, backward.

Orderings come in groups, the order within each group being unknown. Places are walked block by
block. At the end of a block at most one group straddles it, and all that later blocks need to know
is how many of its items of each label are still to come: that is the state, numbered as digits of a
mixed radix number. In a block lie what the state left of the group before, groups that lie in it as
a whole, and a choice from the group that straddles its end. Which items of earlier blocks are
misplaced against those of the block depends on the state only, so each choice costs a sum over its
labels.

For expected counts, a walk back over the states gives each choice its probability. Items of a group
that have the same label stand for each other, so numbers of items by label, and of pairs of them,
are all that is added up.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.interleaving import Setting
from tierwise._kernels.recursion import first_choice, next_choice

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class Answer(NamedTuple):
    """One answer, by labels.

    Attributes
    ----------
    sequence
        The items, group by group.
    starts
        Where the group of each place begins; one more, the number of items, at the end.
    before
        ``before[place, label]``: items of each label at earlier places of the sequence.
    bounds
        Where each block begins, and where the last one ends.
    straddling
        Where the group begins that straddles the end of each block; -1 if none does. The first
        entry is for the beginning of the first block.
    ends
        Where that group ends.
    limits
        ``limits[boundary, label]``: how many items of the straddling group have each label.
    strides
        What one more item of a label adds to the number of a state.
    offsets
        Where the states of each boundary begin, and where the last ones end.
    """

    sequence: _Integers
    starts: _Integers
    before: _Integers
    bounds: _Integers
    straddling: _Integers
    ends: _Integers
    limits: _Integers
    strides: _Integers
    offsets: _Integers


@compiled_part
def read_answer(setting: Setting, sequence: _Integers, starts: _Integers) -> Answer:
    """Lay out an answer."""
    n_items, n_tiers = setting.labels.shape[0], setting.sizes.shape[0]
    before = np.zeros((n_items + 1, n_tiers), dtype=np.int64)
    for place in range(n_items):
        before[place + 1] = before[place]
        before[place + 1, setting.labels[sequence[place]]] += 1
    bounds = np.zeros(n_tiers + 1, dtype=np.int64)
    straddling = np.full(n_tiers + 1, -1, dtype=np.int64)
    ends = np.full(n_tiers + 1, -1, dtype=np.int64)
    limits = np.zeros((n_tiers + 1, n_tiers), dtype=np.int64)
    strides = np.zeros((n_tiers + 1, n_tiers), dtype=np.int64)
    offsets = np.zeros(n_tiers + 2, dtype=np.int64)
    for boundary in range(n_tiers + 1):
        if boundary > 0:
            bounds[boundary] = bounds[boundary - 1] + setting.sizes[boundary - 1]
        place = bounds[boundary]
        if 0 < place < n_items and starts[place] < place:
            straddling[boundary] = starts[place]
            end = place
            while starts[end] == starts[place]:
                end += 1
            ends[boundary] = end
            limits[boundary] = before[end] - before[starts[place]]
        stride = 1
        for label in range(n_tiers - 1, -1, -1):
            strides[boundary, label] = stride
            stride *= limits[boundary, label] + 1
        offsets[boundary + 1] = offsets[boundary] + stride
    return Answer(sequence, starts, before, bounds, straddling, ends, limits, strides, offsets)


@compiled_part
def enter_block(
    setting: Setting,
    answer: Answer,
    block: int,
    code: int,
    left: _Integers,
    rates: _Integers,
    available: _Integers,
) -> tuple[int, int]:
    """Say what a state means for the block that begins.

    Fills what is left of the group before, what an item of each label costs in the block, and of
    what the group at the end of the block can choose; returns how many it must, and what all other
    items of the block cost.
    """
    n_tiers = setting.sizes.shape[0]
    top, bottom = answer.bounds[block], answer.bounds[block + 1]
    rest = code
    for label in range(n_tiers):
        left[label] = rest // answer.strides[block, label]
        rest -= left[label] * answer.strides[block, label]
    # What lies in earlier blocks: everything up to the end of the group, but for what is left.
    end = top if answer.straddling[block] < 0 else answer.ends[block]
    at_least = 0
    for label in range(n_tiers - 1, -1, -1):
        at_least += answer.before[end, label] - left[label]
        rates[label] = setting.misplaced * at_least + setting.placing[block, label]
    start = answer.straddling[block + 1]
    if 0 <= start < top:
        # One group all through the block.
        available[:] = left
        return bottom - top, 0
    units = 0
    last = bottom if start < 0 else start
    for label in range(n_tiers):
        inside = left[label] + answer.before[last, label] - answer.before[end, label]
        units += inside * rates[label]
    available[:] = answer.limits[block + 1]
    return bottom - last, units


@compiled
def weigh(
    setting: Setting,
    answer: Answer,
    block: int,
    choice: _Integers,
    rates: _Integers,
    available: _Integers,
) -> tuple[float, int, int]:
    """Log number of ways to make a choice, what it costs, and the state it leads to."""
    logs = setting.log_factorials
    log_ways = 0.0
    units = 0
    code = 0
    for label in range(choice.shape[0]):
        taken = choice[label]
        kept = available[label] - taken
        code += kept * answer.strides[block + 1, label]
        if taken > 0:
            units += taken * rates[label]
            log_ways += logs[available[label]] - logs[taken] - logs[kept]
    return log_ways, units, code


@compiled_part
def walk_forward(setting: Setting, answer: Answer, sums: _Floats, peaks: _Floats) -> None:
    """Weights of all states, as sums relative to the exponential of a peak.

    ``sums[state]`` holds the weight, and weight times units and their square.
    """
    n_tiers = setting.sizes.shape[0]
    left, rates, available, choice = np.zeros((4, n_tiers), dtype=np.int64)
    peaks[:] = -np.inf
    sums[:] = 0.0
    peaks[0] = 0.0
    sums[0, 0] = 1.0
    for block in range(n_tiers):
        first = answer.offsets[block]
        for code in range(answer.offsets[block + 1] - first):
            weight = sums[first + code, 0]
            if weight == 0.0:
                continue
            mean = sums[first + code, 1] / weight
            square = sums[first + code, 2] / weight
            log_weight = peaks[first + code] + np.log(weight)
            number, known = enter_block(setting, answer, block, code, left, rates, available)
            first_choice(choice, available, number, n_tiers)
            while True:
                log_ways, units, following = weigh(setting, answer, block, choice, rates, available)
                units += known
                target = answer.offsets[block + 1] + following
                log_term = log_weight + log_ways - setting.theta * units
                if log_term > peaks[target]:
                    sums[target] *= np.exp(peaks[target] - log_term)
                    peaks[target] = log_term
                term = np.exp(log_term - peaks[target])
                sums[target, 0] += term
                sums[target, 1] += term * (mean + units)
                sums[target, 2] += term * (square + units * (2.0 * mean + units))
                if not next_choice(choice, available):
                    break


@compiled
def _log_orders(setting: Setting, answer: Answer) -> float:
    """Log number of orders of the places that a group has in a block, for all groups and blocks."""
    log_orders = 0.0
    place = 0
    n_items = setting.labels.shape[0]
    for block in range(setting.sizes.shape[0]):
        while place < answer.bounds[block + 1]:
            following = place + 1
            while (
                following < min(answer.bounds[block + 1], n_items)
                and answer.starts[following] == answer.starts[place]
            ):
                following += 1
            log_orders += setting.log_factorials[following - place]
            place = following
    return log_orders


@compiled
def value_weak_orders(setting: Setting, sequences: _Integers, starts: _Integers) -> _Floats:
    """Log weight of all completions of each answer, mean and mean square of their units.

    ``sequences[row]`` are the items group by group, ``starts[row, place]`` where the group of the
    place begins; it has one place more, so that no group goes on after the last.
    """
    values = np.empty((sequences.shape[0], 3))
    for row in range(sequences.shape[0]):
        answer = read_answer(setting, sequences[row], starts[row])
        n_states = answer.offsets[-1]
        sums, peaks = np.empty((n_states, 3)), np.empty(n_states)
        walk_forward(setting, answer, sums, peaks)
        weight = sums[n_states - 1, 0]
        values[row, 0] = peaks[n_states - 1] + np.log(weight) + _log_orders(setting, answer)
        values[row, 1] = sums[n_states - 1, 1] / weight
        values[row, 2] = sums[n_states - 1, 2] / weight
    return values


class Expectations(NamedTuple):
    """Expected numbers of items, block by block, of one answer.

    Attributes
    ----------
    left
        ``left[block, label]``: items of the group that goes on from the block before.
    taken
        ``taken[block, label]``: items of the group that straddles the end of the block.
    together
        ``together[block, a, b]``: pairs of an item left, with label a, and one taken, with label b.
    split
        ``split[block, a, b]``: pairs of an item taken, with label a, and one of the same group
        that comes later, with label b.
    """

    left: _Floats
    taken: _Floats
    together: _Floats
    split: _Floats


@compiled_part
def _add_choice(
    expected: Expectations,
    block: int,
    choice: _Integers,
    available: _Integers,
    beside: _Integers,
    share: float,
) -> None:
    """Add a choice, of which there is a share, from what was available, beside what was left."""
    for label in range(choice.shape[0]):
        taken = choice[label]
        if taken == 0:
            continue
        expected.taken[block, label] += share * taken
        for other in range(choice.shape[0]):
            later = available[other] - choice[other]
            expected.split[block, label, other] += share * taken * later
            expected.together[block, other, label] += share * beside[other] * taken


@compiled_part
def _walk_back(
    setting: Setting, answer: Answer, sums: _Floats, peaks: _Floats, expected: Expectations
) -> None:
    """Add up expectations over all choices, given the weights of all states."""
    n_tiers = setting.sizes.shape[0]
    left, rates, available, choice, nothing = np.zeros((5, n_tiers), dtype=np.int64)
    n_states = answer.offsets[-1]
    log_total = peaks[n_states - 1] + np.log(sums[n_states - 1, 0])
    onward = np.full(n_states, -np.inf)
    onward[n_states - 1] = 0.0
    for block in range(n_tiers - 1, -1, -1):
        first = answer.offsets[block]
        for code in range(answer.offsets[block + 1] - first):
            weight = sums[first + code, 0]
            if weight == 0.0:
                continue
            log_weight = peaks[first + code] + np.log(weight)
            number, known = enter_block(setting, answer, block, code, left, rates, available)
            through = 0 <= answer.straddling[block + 1] < answer.bounds[block]
            first_choice(choice, available, number, n_tiers)
            share_of_state = 0.0
            while True:
                log_ways, units, following = weigh(setting, answer, block, choice, rates, available)
                target = answer.offsets[block + 1] + following
                log_factor = log_ways - setting.theta * (units + known) + onward[target]
                share = np.exp(log_weight + log_factor - log_total)
                share_of_state += share
                if share > 0.0:
                    beside = left if not through else nothing
                    _add_choice(expected, block, choice, available, beside, share)
                if not next_choice(choice, available):
                    break
            if not through:
                for label in range(n_tiers):
                    expected.left[block, label] += share_of_state * left[label]
            # What is to come weighs as much as its share says.
            if share_of_state > 0.0:
                onward[first + code] = np.log(share_of_state) + log_total - log_weight


@compiled_part
def _add_within(
    setting: Setting,
    answer: Answer,
    expected: Expectations,
    block: int,
    weight: float,
    membership: _Floats,
    precedence: _Floats,
) -> None:
    """Add what happens to the group that straddles the end of a block."""
    start, end = answer.straddling[block + 1], answer.ends[block + 1]
    if start < 0:
        return
    limits = answer.limits[block + 1]
    for place in range(start, end):
        item = answer.sequence[place]
        label = setting.labels[item]
        membership[item, block] += weight * expected.taken[block, label] / limits[label]
        for other_place in range(start, end):
            if other_place == place:
                continue
            other = answer.sequence[other_place]
            other_label = setting.labels[other]
            pairs = limits[label] * (limits[other_label] - int(label == other_label))
            precedence[item, other] += weight * expected.split[block, label, other_label] / pairs


@compiled_part
def _share_in_block(
    setting: Setting, answer: Answer, expected: Expectations, block: int, place: int
) -> float:
    """Probability that the item at a place of the sequence lies in a block."""
    label = setting.labels[answer.sequence[place]]
    if answer.straddling[block] == answer.starts[place]:
        return float(expected.left[block, label] / answer.limits[block, label])
    if answer.straddling[block + 1] == answer.starts[place]:
        return float(expected.taken[block, label] / answer.limits[block + 1, label])
    return 1.0


@compiled_part
def _add_across(
    setting: Setting,
    answer: Answer,
    expected: Expectations,
    block: int,
    weight: float,
    membership: _Floats,
    precedence: _Floats,
) -> None:
    """Add whole groups and what goes on from the block before; take away pairs in one block.

    Items of an earlier group come before those of a later one, unless both lie in the same block.
    """
    top, bottom = answer.bounds[block], answer.bounds[block + 1]
    if 0 <= answer.straddling[block + 1] < top:
        return
    first = top if answer.straddling[block] < 0 else answer.straddling[block]
    last = bottom if answer.straddling[block + 1] < 0 else answer.ends[block + 1]
    for place in range(first, last):
        item = answer.sequence[place]
        label = setting.labels[item]
        share = _share_in_block(setting, answer, expected, block, place)
        if answer.straddling[block + 1] != answer.starts[place]:
            membership[item, block] += weight * share
        for other_place in range(place + 1, last):
            if answer.starts[other_place] == answer.starts[place]:
                continue
            other = answer.sequence[other_place]
            other_label = setting.labels[other]
            goes_on = answer.straddling[block] == answer.starts[place]
            straddles = answer.straddling[block + 1] == answer.starts[other_place]
            if goes_on and straddles:
                pairs = answer.limits[block, label] * answer.limits[block + 1, other_label]
                both = expected.together[block, label, other_label] / pairs
            else:
                both = share * _share_in_block(setting, answer, expected, block, other_place)
            precedence[item, other] -= weight * both


@compiled
def add_expected_counts(
    setting: Setting,
    sequences: _Integers,
    starts: _Integers,
    weights: _Floats,
    membership: _Floats,
    precedence: _Floats,
) -> None:
    """Add the expected counts of items in blocks, and of items in an earlier block than others."""
    n_items, n_tiers = setting.labels.shape[0], setting.sizes.shape[0]
    for row in range(sequences.shape[0]):
        answer = read_answer(setting, sequences[row], starts[row])
        n_states = answer.offsets[-1]
        sums, peaks = np.empty((n_states, 3)), np.empty(n_states)
        walk_forward(setting, answer, sums, peaks)
        expected = Expectations(
            np.zeros((n_tiers, n_tiers)),
            np.zeros((n_tiers, n_tiers)),
            np.zeros((n_tiers, n_tiers, n_tiers)),
            np.zeros((n_tiers, n_tiers, n_tiers)),
        )
        _walk_back(setting, answer, sums, peaks, expected)
        for place in range(n_items):
            for other_place in range(place + 1, n_items):
                if starts[row, other_place] != starts[row, place]:
                    first, second = sequences[row, place], sequences[row, other_place]
                    precedence[first, second] += weights[row]
        for block in range(n_tiers):
            arguments = (block, weights[row], membership, precedence)
            _add_within(setting, answer, expected, *arguments)
            _add_across(setting, answer, expected, *arguments)
