"""Orderings in groups, the order within each group being unknown: sums over all completions.

Places are walked block by block. At the end of a block at most one group straddles it, and all that
later blocks need to know is how many of its items of each label are still to come: that is the
state, numbered as digits of a mixed radix number. In a block lie what the state left of the group
before, groups that lie in it as a whole, and a choice from the group that straddles its end. Which
items of earlier blocks are misplaced against those of the block depends on the state only, so each
choice costs a sum over its labels.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.choices import first_choice, next_choice
from tierwise._kernels.compiling import compiled
from tierwise._kernels.interleaving import Setting

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


@compiled
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


@compiled
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


@compiled
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
