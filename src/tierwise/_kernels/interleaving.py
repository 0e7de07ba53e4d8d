"""Answers that list some items in order, all others being anywhere among them.

Blocks are filled from best to worst with the next few of the listed items and some of the free
ones. At the end of a block a state is how many free items of each label are left; how many of the
listed items are placed follows from it. A row of ``sequences`` holds the listed items of an answer
in order, then its free ones.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
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
    """One answer: its listed items, and how many items of each label are where.

    ``later[p, label]`` counts listed items from the p-th on whose label is at most ``label``.
    """

    listed: _Integers
    free: _Integers
    strides: _Integers
    later: _Integers
    n_states: int


@compiled
def _read_answer(setting: Setting, sequence: _Integers, n_listed: int) -> _Answer:
    n_tiers = setting.sizes.shape[0]
    free = np.zeros(n_tiers, dtype=np.int64)
    for position in range(n_listed, sequence.shape[0]):
        free[setting.labels[sequence[position]]] += 1
    strides = np.empty(n_tiers, dtype=np.int64)
    n_states = 1
    for label in range(n_tiers - 1, -1, -1):
        strides[label] = n_states
        n_states *= free[label] + 1
    later = np.zeros((n_listed + 1, n_tiers), dtype=np.int64)
    for position in range(n_listed - 1, -1, -1):
        own = setting.labels[sequence[position]]
        for label in range(n_tiers):
            later[position, label] = later[position + 1, label] + int(own <= label)
    return _Answer(sequence[:n_listed], free, strides, later, n_states)


@compiled_part
def _write_left(answer: _Answer, state: int, left: _Integers) -> int:
    """Write down how many free items of each label a state has left; return how many in all."""
    total = 0
    for label in range(left.shape[0]):
        left[label] = state // answer.strides[label] % (answer.free[label] + 1)
        total += left[label]
    return total


@compiled
def _step(
    setting: Setting,
    answer: _Answer,
    block: int,
    left: _Integers,
    choice: _Integers,
    start: int,
    end: int,
) -> tuple[int, float, int]:
    """Units, log number of ways and change of state, if a block takes a choice of free items.

    It also takes the listed items from ``start`` to before ``end``.
    """
    n_tiers = left.shape[0]
    logs = setting.log_factorials
    size = setting.sizes[block]
    units = 0
    change = 0
    behind = 0
    log_ways = logs[size] - logs[end - start]
    # All items behind the block, by label: at most this one.
    for label in range(n_tiers):
        taken = choice[label]
        kept = left[label] - taken
        behind += kept
        cost = setting.misplaced * (behind + answer.later[end, label])
        units += taken * (cost + setting.placing[block, label])
        for position in range(start, end):
            if setting.labels[answer.listed[position]] == label:
                units += cost + setting.placing[block, label]
        log_ways += logs[left[label]] - logs[taken] - logs[kept]
        change += taken * answer.strides[label]
    return units, log_ways, change


@compiled_part
def _value_answer(setting: Setting, answer: _Answer) -> _Floats:
    """``values[block, state]``: log weight, mean and mean square of the units of all ways on."""
    n_tiers = setting.sizes.shape[0]
    n_listed = answer.listed.shape[0]
    n_free = answer.free.sum()
    values = np.full((n_tiers + 1, answer.n_states, 3), -np.inf)
    values[n_tiers, 0] = 0.0
    left = np.empty(n_tiers, dtype=np.int64)
    choice = np.empty(n_tiers, dtype=np.int64)
    place = setting.sizes.sum()
    for block in range(n_tiers - 1, -1, -1):
        size = setting.sizes[block]
        place -= size
        for state in range(answer.n_states):
            n_left = _write_left(answer, state, left)
            start = place - (n_free - n_left)
            if not 0 <= start <= n_listed:
                continue
            peak = -np.inf
            total = first = second = 0.0
            for taken in range(max(0, size - (n_listed - start)), min(size, n_left) + 1):
                first_choice(choice, left, taken, n_tiers)
                more = True
                while more:
                    end = start + size - taken
                    units, log_ways, change = _step(
                        setting, answer, block, left, choice, start, end
                    )
                    onward = values[block + 1, state - change]
                    log_weight = log_ways - setting.theta * units + onward[0]
                    if log_weight > -np.inf:
                        if log_weight > peak:
                            shrink = np.exp(peak - log_weight)
                            total *= shrink
                            first *= shrink
                            second *= shrink
                            peak = log_weight
                        weight = np.exp(log_weight - peak)
                        total += weight
                        first += weight * (units + onward[1])
                        second += weight * (units * (units + 2.0 * onward[1]) + onward[2])
                    more = next_choice(choice, left)
            if total > 0.0:
                values[block, state, 0] = peak + np.log(total)
                values[block, state, 1] = first / total
                values[block, state, 2] = second / total
    return values


@compiled
def value_answers(setting: Setting, sequences: _Integers, n_listed: _Integers) -> _Floats:
    """Log weight, mean and mean square of the units of all completions of each answer."""
    results = np.empty((sequences.shape[0], 3))
    for row in range(sequences.shape[0]):
        answer = _read_answer(setting, sequences[row], n_listed[row])
        results[row] = _value_answer(setting, answer)[0, answer.n_states - 1]
    return results


class _Expected(NamedTuple):
    """Expectations of one answer, by position among the listed items and label of free ones.

    ``listed_free[p, label]`` is the number of free items of a label in later blocks than a listed
    item, ``free_listed`` the other way round, ``free_free`` the number of pairs of labels.
    ``listed_in`` and ``free_in`` are numbers in blocks.
    """

    listed_listed: _Floats
    listed_free: _Floats
    free_listed: _Floats
    free_free: _Floats
    listed_in: _Floats
    free_in: _Floats


@compiled_part
def _add_step(
    expected: _Expected,
    share: float,
    block: int,
    left: _Integers,
    choice: _Integers,
    start: int,
    end: int,
) -> None:
    """Count what a block takes, and that it lies before all that is left."""
    n_tiers = left.shape[0]
    n_listed = expected.listed_in.shape[0]
    for position in range(start, end):
        expected.listed_in[position, block] += share
        for other in range(end, n_listed):
            expected.listed_listed[position, other] += share
        for label in range(n_tiers):
            expected.listed_free[position, label] += share * (left[label] - choice[label])
    for label in range(n_tiers):
        if choice[label] > 0:
            weight = share * choice[label]
            expected.free_in[label, block] += weight
            for other in range(end, n_listed):
                expected.free_listed[label, other] += weight
            for other in range(n_tiers):
                expected.free_free[label, other] += weight * (left[other] - choice[other])


@compiled_part
def _expect_answer(setting: Setting, answer: _Answer) -> _Expected:
    """Push probabilities from the first block to the last, and count on the way."""
    n_tiers = setting.sizes.shape[0]
    n_listed = answer.listed.shape[0]
    n_free = answer.free.sum()
    expected = _Expected(
        np.zeros((n_listed, n_listed)),
        np.zeros((n_listed, n_tiers)),
        np.zeros((n_tiers, n_listed)),
        np.zeros((n_tiers, n_tiers)),
        np.zeros((n_listed, n_tiers)),
        np.zeros((n_tiers, n_tiers)),
    )
    values = _value_answer(setting, answer)
    reached = np.zeros(answer.n_states)
    reached[answer.n_states - 1] = 1.0
    left = np.empty(n_tiers, dtype=np.int64)
    choice = np.empty(n_tiers, dtype=np.int64)
    place = 0
    for block in range(n_tiers):
        size = setting.sizes[block]
        following = np.zeros(answer.n_states)
        for state in range(answer.n_states):
            if reached[state] == 0.0:
                continue
            n_left = _write_left(answer, state, left)
            start = place - (n_free - n_left)
            for taken in range(max(0, size - (n_listed - start)), min(size, n_left) + 1):
                first_choice(choice, left, taken, n_tiers)
                more = True
                while more:
                    end = start + size - taken
                    units, log_ways, change = _step(
                        setting, answer, block, left, choice, start, end
                    )
                    target = state - change
                    log_share = log_ways - setting.theta * units + values[block + 1, target, 0]
                    share = reached[state] * np.exp(log_share - values[block, state, 0])
                    if share > 0.0:
                        following[target] += share
                        _add_step(expected, share, block, left, choice, start, end)
                    more = next_choice(choice, left)
        reached = following
        place += size
    return expected


@compiled
def add_expected_counts(
    setting: Setting,
    sequences: _Integers,
    n_listed: _Integers,
    weights: _Floats,
    membership: _Floats,
    precedence: _Floats,
) -> None:
    """Add to both how often items are expected in blocks, and in earlier blocks than others."""
    for row in range(sequences.shape[0]):
        sequence, number, weight = sequences[row], n_listed[row], weights[row]
        answer = _read_answer(setting, sequence, number)
        expected = _expect_answer(setting, answer)
        for first in range(sequence.shape[0]):
            item, label = sequence[first], setting.labels[sequence[first]]
            for block in range(setting.sizes.shape[0]):
                if first < number:
                    share = expected.listed_in[first, block]
                else:
                    share = expected.free_in[label, block] / answer.free[label]
                membership[item, block] += weight * share
            for second in range(sequence.shape[0]):
                if first == second:
                    continue
                other, lower = sequence[second], setting.labels[sequence[second]]
                if first < number and second < number:
                    share = expected.listed_listed[first, second]
                elif first < number:
                    share = expected.listed_free[first, lower] / answer.free[lower]
                elif second < number:
                    share = expected.free_listed[label, second] / answer.free[label]
                else:
                    n_pairs = answer.free[label] * (answer.free[lower] - int(label == lower))
                    share = expected.free_free[label, lower] / n_pairs
                precedence[item, other] += weight * share
