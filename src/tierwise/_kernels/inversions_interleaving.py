"""Answers that list some items in order, all others being anywhere among them, under inversions.

An ordering is read from its best item on. A state is how many of the listed items were met and how
many free items of each tier are left: to put an item next costs one inversion for each item of a
better tier that is still to come, whatever the order so far. So the work of an answer grows with
the ways to split its free items by tiers, and not with the number of its completions. The fewest
inversions on the way from each state are taken out of its sum, which therefore is at least 1.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.interleaving import Setting

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class _Answer(NamedTuple):
    """One answer: labels of its listed items, free items of each label, and how states are coded.

    ``later[p, label]`` counts listed items of a label from the p-th on.
    """

    listed: _Integers
    free: _Integers
    strides: _Integers
    later: _Integers
    n_states: int


class _Ways(NamedTuple):
    """All ways on, ``[number of listed items met, state]``.

    The fewest inversions; the sum of weights without these; mean and mean square of inversions.
    """

    least: _Integers
    sums: _Floats
    means: _Floats
    squares: _Floats


@compiled_part
def _read_answer(setting: Setting, sequence: _Integers, n_listed: int) -> _Answer:
    n_tiers = setting.sizes.shape[0]
    listed = np.empty(n_listed, dtype=np.int64)
    later = np.zeros((n_listed + 1, n_tiers), dtype=np.int64)
    for position in range(n_listed - 1, -1, -1):
        listed[position] = setting.labels[sequence[position]]
        for label in range(n_tiers):
            later[position, label] = later[position + 1, label]
        later[position, listed[position]] += 1
    free = np.zeros(n_tiers, dtype=np.int64)
    for position in range(n_listed, sequence.shape[0]):
        free[setting.labels[sequence[position]]] += 1
    strides = np.empty(n_tiers, dtype=np.int64)
    n_states = 1
    for label in range(n_tiers - 1, -1, -1):
        strides[label] = n_states
        n_states *= free[label] + 1
    return _Answer(listed, free, strides, later, n_states)


@compiled_part
def _read_state(answer: _Answer, met: int, state: int, left: _Integers, better: _Integers) -> None:
    """Write how many free items of each label are left, and how many of better ones to come."""
    number = 0
    for label in range(left.shape[0]):
        left[label] = state // answer.strides[label] % (answer.free[label] + 1)
        better[label] = number
        number += left[label] + answer.later[met, label]


@compiled_part
def _sum_ways(answer: _Answer, powers: _Floats) -> _Ways:
    """Sum over all ways on from every state, from the last one to the first."""
    n_listed, n_tiers = answer.listed.shape[0], answer.free.shape[0]
    least = np.zeros((n_listed + 1, answer.n_states), dtype=np.int64)
    sums = np.zeros((n_listed + 1, answer.n_states))
    means, squares = np.zeros_like(sums), np.zeros_like(sums)
    left = np.empty(n_tiers, dtype=np.int64)
    better = np.empty(n_tiers, dtype=np.int64)
    for met in range(n_listed, -1, -1):
        for state in range(answer.n_states):
            if met == n_listed and state == 0:
                sums[met, state] = 1.0
                continue
            _read_state(answer, met, state, left, better)
            fewest = np.int64(1) << 60
            # The listed item that is next, and then a free item of each label.
            for choice in range(-1, n_tiers):
                if choice < 0 and met < n_listed:
                    onward = better[answer.listed[met]] + least[met + 1, state]
                elif choice >= 0 and left[choice] > 0:
                    onward = better[choice] + least[met, state - answer.strides[choice]]
                else:
                    continue
                fewest = min(fewest, onward)
            total = first = second = 0.0
            for choice in range(-1, n_tiers):
                if choice < 0 and met < n_listed:
                    units, then, there = better[answer.listed[met]], met + 1, state
                elif choice >= 0 and left[choice] > 0:
                    units, then, there = better[choice], met, state - answer.strides[choice]
                else:
                    continue
                weight = powers[units + least[then, there] - fewest] * sums[then, there]
                mean = means[then, there]
                total += weight
                first += weight * (units + mean)
                second += weight * (units * (units + 2.0 * mean) + squares[then, there])
            least[met, state] = fewest
            sums[met, state] = total
            means[met, state] = first / total
            squares[met, state] = second / total
    return _Ways(least, sums, means, squares)


@compiled_part
def _powers(setting: Setting) -> _Floats:
    n_items = setting.labels.shape[0]
    powers: _Floats = np.exp(-setting.theta * np.arange(n_items * n_items + 1))
    return powers


@compiled
def value_answers_by_inversions(
    setting: Setting, sequences: _Integers, n_listed: _Integers
) -> _Floats:
    """Log weight, mean and mean square of the inversions of all completions of each answer."""
    powers = _powers(setting)
    results = np.empty((sequences.shape[0], 3))
    for row in range(sequences.shape[0]):
        answer = _read_answer(setting, sequences[row], n_listed[row])
        ways = _sum_ways(answer, powers)
        first = answer.n_states - 1
        log_weight = np.log(ways.sums[0, first]) - setting.theta * ways.least[0, first]
        # Free items of a label stand for each other.
        for number in answer.free:
            log_weight += setting.log_factorials[number]
        results[row, 0] = log_weight
        results[row, 1] = ways.means[0, first]
        results[row, 2] = ways.squares[0, first]
    return results


class _Expected(NamedTuple):
    """Expectations of one answer.

    ``listed_free[p, label]`` is the number of free items of a label after a listed item;
    ``free_met[label, p]`` how many are put where so many listed items were met; ``free_free`` the
    number of pairs of labels.
    """

    listed_free: _Floats
    free_met: _Floats
    free_free: _Floats


@compiled_part
def _expect_answer(answer: _Answer, powers: _Floats) -> _Expected:
    """Push probabilities from the first state to the last, and count on the way."""
    n_listed, n_tiers = answer.listed.shape[0], answer.free.shape[0]
    ways = _sum_ways(answer, powers)
    expected = _Expected(
        np.zeros((n_listed, n_tiers)),
        np.zeros((n_tiers, n_listed + 1)),
        np.zeros((n_tiers, n_tiers)),
    )
    reached = np.zeros((n_listed + 1, answer.n_states))
    reached[0, answer.n_states - 1] = 1.0
    left = np.empty(n_tiers, dtype=np.int64)
    better = np.empty(n_tiers, dtype=np.int64)
    for met in range(n_listed + 1):
        for state in range(answer.n_states - 1, -1, -1):
            here = reached[met, state]
            if here == 0.0 or (met == n_listed and state == 0):
                continue
            _read_state(answer, met, state, left, better)
            scale = here / ways.sums[met, state]
            fewest = ways.least[met, state]
            for choice in range(-1, n_tiers):
                if choice < 0 and met < n_listed:
                    units, then, there = better[answer.listed[met]], met + 1, state
                elif choice >= 0 and left[choice] > 0:
                    units, then, there = better[choice], met, state - answer.strides[choice]
                else:
                    continue
                share = scale * ways.sums[then, there]
                share *= powers[units + ways.least[then, there] - fewest]
                reached[then, there] += share
                if choice < 0:
                    for label in range(n_tiers):
                        expected.listed_free[met, label] += share * left[label]
                else:
                    expected.free_met[choice, met] += share
                    for label in range(n_tiers):
                        expected.free_free[choice, label] += share * left[label]
                    expected.free_free[choice, choice] -= share
    return expected


@compiled
def add_expected_precedence_of_chains(
    setting: Setting,
    sequences: _Integers,
    n_listed: _Integers,
    weights: _Floats,
    precedence: _Floats,
) -> None:
    """Add how often each item is expected before each other."""
    powers = _powers(setting)
    for row in range(sequences.shape[0]):
        sequence, number, weight = sequences[row], n_listed[row], weights[row]
        answer = _read_answer(setting, sequence, number)
        expected = _expect_answer(answer, powers)
        free_listed = np.empty((answer.free.shape[0], number))
        for label in range(answer.free.shape[0]):
            before = 0.0
            for position in range(number):
                before += expected.free_met[label, position]
                free_listed[label, position] = before
        for first in range(sequence.shape[0]):
            item, label = sequence[first], setting.labels[sequence[first]]
            for second in range(sequence.shape[0]):
                other, lower = sequence[second], setting.labels[sequence[second]]
                if first == second:
                    continue
                if first < number and second < number:
                    share = 1.0 if first < second else 0.0
                elif first < number:
                    share = expected.listed_free[first, lower] / answer.free[lower]
                elif second < number:
                    share = free_listed[label, second] / answer.free[label]
                else:
                    n_pairs = answer.free[label] * (answer.free[lower] - int(label == lower))
                    share = expected.free_free[label, lower] / n_pairs
                precedence[item, other] += weight * share
