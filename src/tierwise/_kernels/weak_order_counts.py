"""Orderings in groups, the order within each group being unknown: expected counts.

A walk back over the states of `tierwise._kernels.weak_orders` gives each choice its probability.
Items of a group that have the same label stand for each other, so numbers of items by label, and of
pairs of them, are all that is added up.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.choices import first_choice, next_choice
from tierwise._kernels.compiling import compiled
from tierwise._kernels.interleaving import Setting
from tierwise._kernels.weak_orders import Answer, enter_block, read_answer, walk_forward, weigh

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


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
    parted
        ``parted[block, a, b]``: pairs of an item taken, with label a, and one of the same group
        that comes later, with label b.
    """

    left: _Floats
    taken: _Floats
    together: _Floats
    parted: _Floats


@compiled
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
            expected.parted[block, label, other] += share * taken * later
            expected.together[block, other, label] += share * beside[other] * taken


@compiled
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


@compiled
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
            precedence[item, other] += weight * expected.parted[block, label, other_label] / pairs


@compiled
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


@compiled
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
