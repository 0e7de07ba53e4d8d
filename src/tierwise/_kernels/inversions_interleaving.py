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

from tierwise._compiling.kernel import compiled, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# The exponential of minus this is 0.
_LARGEST_EXPONENT = 750.0


class Setting(NamedTuple):
    """What does not depend on the answer: labels, number of tiers, theta per inversion."""

    labels: _Integers
    n_tiers: int
    theta: float
    log_factorials: _Floats


class _Answer(NamedTuple):
    """One answer: what it lists, and the states of its free items, written down once.

    Attributes
    ----------
    listed
        Labels of the listed items.
    free
        Free items of each label.
    kinds
        The labels that free items have.
    strides
        What one more free item of each kind adds to the number of a state.
    left
        ``[state, kind]``: free items of each kind that are left.
    better_free
        ``[state, kind]``: free items of better kinds that are left; the last column is of all.
    better_kinds
        ``[label]``: how many kinds are better than a label.
    better_listed
        ``[met, label]``: listed items of better labels to come when so many were met.
    """

    listed: _Integers
    free: _Integers
    kinds: _Integers
    strides: _Integers
    left: _Integers
    better_free: _Integers
    better_kinds: _Integers
    better_listed: _Integers


class _Ways(NamedTuple):
    """All ways on, ``[number of listed items met, state]``.

    The fewest inversions; then sums over ways of their weights without these, and of weights times
    inversions beyond these and their squares.
    """

    least: _Integers
    sums: _Floats
    firsts: _Floats
    seconds: _Floats


@compiled_part
def _read_answer(setting: Setting, sequence: _Integers, n_listed: int) -> _Answer:
    n_tiers = setting.n_tiers
    listed = np.empty(n_listed, dtype=np.int64)
    better_listed = np.zeros((n_listed + 1, n_tiers), dtype=np.int64)
    for position in range(n_listed - 1, -1, -1):
        listed[position] = setting.labels[sequence[position]]
        for label in range(n_tiers):
            better = label > listed[position]
            better_listed[position, label] = better_listed[position + 1, label] + better
    free = np.zeros(n_tiers, dtype=np.int64)
    for position in range(n_listed, sequence.shape[0]):
        free[setting.labels[sequence[position]]] += 1
    better_kinds = np.zeros(n_tiers, dtype=np.int64)
    n_kinds = 0
    for label in range(n_tiers):
        better_kinds[label] = n_kinds
        n_kinds += free[label] > 0
    kinds, strides = np.empty(n_kinds, dtype=np.int64), np.empty(n_kinds, dtype=np.int64)
    n_states, kind = 1, n_kinds
    for label in range(n_tiers - 1, -1, -1):
        if free[label] > 0:
            kind -= 1
            kinds[kind], strides[kind] = label, n_states
            n_states *= free[label] + 1
    left = np.zeros((n_states, n_kinds), dtype=np.int64)
    better_free = np.zeros((n_states, n_kinds + 1), dtype=np.int64)
    for state in range(1, n_states):
        for kind in range(n_kinds):
            left[state, kind] = state // strides[kind] % (free[kinds[kind]] + 1)
            better_free[state, kind + 1] = better_free[state, kind] + left[state, kind]
    return _Answer(listed, free, kinds, strides, left, better_free, better_kinds, better_listed)


@compiled_part
def _inversions_of_next(answer: _Answer, met: int, state: int, choice: int) -> int:
    """Items of better labels that are still to come when an item is put next.

    A kind of free items, or -1 for the listed item; -1 is returned where there is none.
    """
    if choice < 0:
        if met == answer.listed.shape[0]:
            return -1
        label = answer.listed[met]
        free = answer.better_free[state, answer.better_kinds[label]]
    elif answer.left[state, choice] == 0:
        return -1
    else:
        label = answer.kinds[choice]
        free = answer.better_free[state, choice]
    number: int = answer.better_listed[met, label] + free
    return number


@compiled_part
def _sum_ways(answer: _Answer, powers: _Floats) -> _Ways:
    """Sum over all ways on from every state, from the last one to the first."""
    n_listed, (n_states, n_kinds) = answer.listed.shape[0], answer.left.shape
    last = powers.shape[0] - 1
    least = _fewest_inversions(answer)
    sums = np.zeros((n_listed + 1, n_states))
    firsts, seconds = np.zeros_like(sums), np.zeros_like(sums)
    sums[n_listed, 0] = 1.0
    for met in range(n_listed, -1, -1):
        for state in range(met == n_listed, n_states):
            fewest = least[met, state]
            # The listed item that is next, and then a free item of each kind.
            total = first = second = 0.0
            for choice in range(-1, n_kinds):
                units = _inversions_of_next(answer, met, state, choice)
                if units >= 0:
                    then, there = met + 1, state
                    if choice >= 0:
                        then, there = met, state - answer.strides[choice]
                    beyond = units + least[then, there] - fewest
                    power = powers[min(beyond, last)]
                    weight, onward = sums[then, there], firsts[then, there]
                    total += power * weight
                    first += power * (beyond * weight + onward)
                    onward = beyond * (beyond * weight + 2.0 * onward) + seconds[then, there]
                    second += power * onward
            sums[met, state] = total
            firsts[met, state] = first
            seconds[met, state] = second
    return _Ways(least, sums, firsts, seconds)


@compiled_part
def _powers(setting: Setting) -> _Floats:
    """Weigh all numbers of inversions, up to the most there are or until weights vanish."""
    most = setting.labels.shape[0] ** 2
    if setting.theta * most > _LARGEST_EXPONENT:
        most = int(_LARGEST_EXPONENT / setting.theta) + 1
    powers: _Floats = np.exp(-setting.theta * np.arange(most + 1))
    return powers


@compiled
def value_answers_by_inversions(
    setting: Setting, sequences: _Integers, n_listed: _Integers
) -> _Floats:
    """Log weight, mean and variance of the inversions of all completions of each answer."""
    powers = _powers(setting)
    results = np.empty((sequences.shape[0], 3))
    for row in range(sequences.shape[0]):
        answer = _read_answer(setting, sequences[row], n_listed[row])
        ways = _sum_ways(answer, powers)
        first = answer.left.shape[0] - 1
        total, least = ways.sums[0, first], ways.least[0, first]
        results[row, 0] = np.log(total) - setting.theta * least + _log_orders(setting, answer)
        mean = ways.firsts[0, first] / total
        results[row, 1] = least + mean
        results[row, 2] = max(ways.seconds[0, first] / total - mean * mean, 0.0)
    return results


@compiled_part
def _log_orders(setting: Setting, answer: _Answer) -> float:
    """Log number of orders of free items that stand for each other: those of the same label."""
    total = 0.0
    for number in answer.free:
        total += setting.log_factorials[number]
    return total


@compiled_part
def _fewest_inversions(answer: _Answer) -> _Integers:
    """Fewest inversions on the way from each state, ``[number of listed items met, state]``."""
    n_listed, (n_states, n_kinds) = answer.listed.shape[0], answer.left.shape
    least = np.zeros((n_listed + 1, n_states), dtype=np.int64)
    for met in range(n_listed, -1, -1):
        for state in range(met == n_listed, n_states):
            fewest = np.int64(1) << 60
            for choice in range(-1, n_kinds):
                units = _inversions_of_next(answer, met, state, choice)
                if units >= 0:
                    then, there = met + 1, state
                    if choice >= 0:
                        then, there = met, state - answer.strides[choice]
                    fewest = min(fewest, units + least[then, there])
            least[met, state] = fewest
    return least


@compiled
def count_ways_by_inversions(
    setting: Setting, sequences: _Integers, n_listed: _Integers
) -> tuple[_Integers, _Floats, _Floats]:
    """Count completions of each answer by their inversions, for all thetas.

    Returned are the fewest inversions of each answer, ``ways[answer, n]``, the ways with so many
    more, and the log number of completions that each way stands for.
    """
    n_items, n_rows = setting.labels.shape[0], sequences.shape[0]
    fewest, log_orders = np.empty(n_rows, np.int64), np.empty(n_rows)
    ways = np.zeros((n_rows, n_items * (n_items - 1) // 2 + 1))
    for row in range(n_rows):
        answer = _read_answer(setting, sequences[row], n_listed[row])
        fewest[row] = _count_ways(answer, ways[row])
        log_orders[row] = _log_orders(setting, answer)
    return fewest, ways, log_orders


@compiled_part
def _count_ways(answer: _Answer, ways: _Floats) -> int:
    """Count all ways by inversions beyond the fewest, which are returned."""
    n_listed, (n_states, n_kinds) = answer.listed.shape[0], answer.left.shape
    # Of the states where as many were met, or one more: ways on, and their fewest and most.
    onward = np.empty((2, n_states, ways.shape[0]))
    fewest, most = np.zeros((2, 2, n_states), dtype=np.int64)
    onward[n_listed % 2, 0, 0] = 1.0
    for met in range(n_listed, -1, -1):
        layer = met % 2
        for state in range(met == n_listed, n_states):
            here, low, high = onward[layer, state], ways.shape[0], 0
            for number in range(ways.shape[0]):
                here[number] = 0.0
            for choice in range(-1, n_kinds):
                units = _inversions_of_next(answer, met, state, choice)
                if units < 0:
                    continue
                beside, there = layer, state
                if choice < 0:
                    beside = 1 - layer
                else:
                    there -= answer.strides[choice]
                source = onward[beside, there]
                first, last = units + fewest[beside, there], units + most[beside, there]
                for number in range(first, last + 1):
                    here[number] += source[number - units]
                low, high = min(low, first), max(high, last)
            fewest[layer, state], most[layer, state] = low, high
    least: int = fewest[0, n_states - 1]
    for number in range(least, most[0, n_states - 1] + 1):
        ways[number - least] = onward[0, n_states - 1, number]
    return least


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
    n_states, n_kinds = answer.left.shape
    ways, last = _sum_ways(answer, powers), powers.shape[0] - 1
    expected = _Expected(
        np.zeros((n_listed, n_tiers)),
        np.zeros((n_tiers, n_listed + 1)),
        np.zeros((n_tiers, n_tiers)),
    )
    reached = np.zeros((n_listed + 1, n_states))
    reached[0, n_states - 1] = 1.0
    for met in range(n_listed + 1):
        for state in range(n_states - 1, -1, -1):
            here = reached[met, state]
            if here == 0.0 or (met == n_listed and state == 0):
                continue
            scale = here / ways.sums[met, state]
            fewest = ways.least[met, state]
            for choice in range(-1, n_kinds):
                units = _inversions_of_next(answer, met, state, choice)
                if units < 0:
                    continue
                then, there = met + 1, state
                if choice >= 0:
                    then, there = met, state - answer.strides[choice]
                share = scale * ways.sums[then, there]
                share *= powers[min(units + ways.least[then, there] - fewest, last)]
                reached[then, there] += share
                if choice < 0:
                    for kind in range(n_kinds):
                        label = answer.kinds[kind]
                        expected.listed_free[met, label] += share * answer.left[state, kind]
                else:
                    chosen = answer.kinds[choice]
                    expected.free_met[chosen, met] += share
                    for kind in range(n_kinds):
                        label = answer.kinds[kind]
                        expected.free_free[chosen, label] += share * answer.left[state, kind]
                    expected.free_free[chosen, chosen] -= share
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
