"""Gibbs sampling in a mixture: who belongs where, and tiers and theta of groups given that."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.consensus import anneal, total_cost
from tierwise._kernels.theta import ThetaPoints, draw_theta, log_partition_at

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Below this a sum of exponentials may have lost some of them.
_LEAST_TOTAL = 1e-250
# Products of factors above the one are taken as long as they stay above the other.
_LEAST_FACTOR, _LEAST_PRODUCT = 1e-100, 1e-150


class AnswerRows(NamedTuple):
    """What distinct answers say about blocks, one row of zeros and ones for each."""

    n_items: int
    rows: npt.NDArray[np.uint8]
    """``[answer, cell]``: first a cell for each listed pair, then one for each item and block."""
    first: _Integers
    """First item of each pair: a cell says that it is in an earlier block than the second."""
    second: _Integers
    decided: bool
    """Whether the second item is in an earlier block wherever the first is not."""
    misplaced: int
    """Units that a reversed pair costs; 0 where there are no pairs."""
    tied: int
    """Units that a pair costs that is tied in the tiers."""
    placing: _Integers
    """``[block, tier]``: units that an item of a tier costs in a block, or empty."""
    anywhere: _Floats
    """``[item, tier]``: what a ranking costs wherever items are, or empty."""
    unit: float
    """The distance that a unit is."""


@compiled
def units_of_answers(answers: AnswerRows, labels: _Integers) -> _Integers:
    """Distance of each answer from tiers, in units."""
    n_pairs, n_items = answers.first.shape[0], labels.shape[0]
    costs = np.zeros(answers.rows.shape[1], np.int64)
    always = 0
    for pair in range(n_pairs):
        upper, lower = labels[answers.first[pair]], labels[answers.second[pair]]
        if lower == upper:
            costs[pair] = answers.tied
        elif lower < upper:
            costs[pair] = answers.misplaced
        if answers.decided:
            otherwise = answers.tied if lower == upper else answers.misplaced * (upper < lower)
            costs[pair] -= otherwise
            always += otherwise
    n_blocks = answers.placing.shape[0]
    for item in range(n_items if n_blocks > 0 else 0):
        for block in range(n_blocks):
            costs[n_pairs + item * n_blocks + block] = answers.placing[block, labels[item]]
    units = np.full(answers.rows.shape[0], always)
    for row in range(answers.rows.shape[0]):
        for cell in range(answers.rows.shape[1]):
            units[row] += answers.rows[row, cell] * costs[cell]
    return units


@compiled
def add_rows(
    rows: npt.NDArray[np.uint8], members: _Integers, groups: _Integers, sums: npt.NDArray[Any]
) -> None:
    """Add to ``sums[place, cell]`` each row as often as the group of this place has members."""
    chosen = np.empty(rows.shape[0], np.int64)
    for place in range(groups.shape[0]):
        # Whose answers these are is listed first, without branches, which could not be foreseen.
        n_chosen = 0
        for row in range(rows.shape[0]):
            chosen[n_chosen] = row
            n_chosen += members[row, groups[place]] > 0
        for row in chosen[:n_chosen]:
            number = sums.dtype.type(members[row, groups[place]])
            for cell in range(rows.shape[1]):
                sums[place, cell] += number * rows[row, cell]


@compiled
def costs_of_groups(
    answers: AnswerRows,
    members: _Integers,
    numbers: _Integers,
    groups: _Integers,
    sums: npt.NDArray[Any],
) -> tuple[_Floats, _Floats]:
    """Costs of all tiers for some columns of members, as in `tierwise.distances.Costs`.

    ``sums[place, cell]`` is room for counts, all zeros. Returned are ``[place, item, tier]`` and
    ``[place, a, b]``, either of which may be empty.
    """
    add_rows(answers.rows, members, groups, sums)
    n_pairs = answers.first.shape[0]
    n_items, n_ordered = answers.n_items, answers.n_items if n_pairs > 0 else 0
    n_placed, n_tiers = answers.anywhere.shape
    pairs = np.zeros((groups.shape[0], n_ordered, n_ordered))
    linear = np.zeros((groups.shape[0], n_placed, n_tiers))
    cost = answers.misplaced * answers.unit
    for place in range(groups.shape[0]):
        number = numbers[groups[place]]
        for pair in range(n_pairs):
            first, second = answers.first[pair], answers.second[pair]
            pairs[place, first, second] = cost * sums[place, pair]
            if answers.decided:
                pairs[place, second, first] = cost * (number - sums[place, pair])
        linear[place] = number * answers.anywhere
        n_blocks = answers.placing.shape[0]
        for item in range(n_items if n_blocks > 0 else 0):
            for block in range(n_blocks):
                count = sums[place, n_pairs + item * n_blocks + block] * answers.unit
                for tier in range(n_tiers):
                    linear[place, item, tier] += count * answers.placing[block, tier]
    return linear, pairs


@compiled
def pack_pairs(blocks: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """Set a bit for each pair of items in different blocks.

    Entry ``[0, row]`` has a bit where the first of two items is in the earlier block,
    ``[1, row]`` where the second is; `charge_pairs` numbers the pairs alike.
    """
    packed = np.zeros((2, blocks.shape[0]), np.uint64)
    for row in range(blocks.shape[0]):
        bit = np.uint64(1)
        for second in range(blocks.shape[1]):
            for first in range(second):
                if blocks[row, first] < blocks[row, second]:
                    packed[0, row] |= bit
                elif blocks[row, second] < blocks[row, first]:
                    packed[1, row] |= bit
                bit <<= np.uint64(1)
    return packed


@compiled
def charge_pairs(labels: _Integers, misplaced: int, tied: int) -> npt.NDArray[np.uint64]:
    """Set a bit for each pair that costs a unit: if the first is earlier, and if the second is."""
    charged = np.zeros(2, np.uint64)
    bit = np.uint64(1)
    for second in range(labels.shape[0]):
        for first in range(second):
            if (tied if labels[first] == labels[second] else misplaced) > 0:
                if labels[first] >= labels[second]:
                    charged[0] |= bit
                if labels[second] >= labels[first]:
                    charged[1] |= bit
            bit <<= np.uint64(1)
    return charged


@compiled
def count_pairs(
    packed: npt.NDArray[np.uint64], charged: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Count the pairs of each row that cost a unit, all bits of a word at the same time."""
    ones, threes = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    nibbles, bytes_of_one = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    counts = np.zeros(packed.shape[1], np.int64)
    for side in range(2):
        for row in range(packed.shape[1]):
            word = packed[side, row] & charged[side]
            word = word - ((word >> np.uint64(1)) & ones)
            word = (word & threes) + ((word >> np.uint64(2)) & threes)
            word = (word + (word >> np.uint64(4))) & nibbles
            counts[row] += np.int64((word * bytes_of_one) >> np.uint64(56))
    return counts


@compiled
def _weigh_groups(
    units: _Integers, decays: _Floats, log_factors: _Floats, weights: _Floats
) -> tuple[float, float]:
    """Fill in the weight of each group for an answer; return the log of its unit, and the sum."""
    peak = -np.inf
    for group in range(units.shape[0]):
        weights[group] = log_factors[group] - decays[group] * units[group]
        peak = max(peak, weights[group])
    total = 0.0
    for group in range(units.shape[0]):
        weights[group] = np.exp(weights[group] - peak)
        total += weights[group]
    return peak, total


@compiled
def draw_members(  # noqa: PLR0912 - one pass over the answers, without calls that copy
    units: _Integers,
    decays: _Floats,
    log_factors: _Floats,
    weights: _Integers,
    most_weight: int,
    pivot: _Floats,
    rng: np.random.Generator,
) -> tuple[_Floats, _Integers, _Integers, _Floats, float]:
    """Draw the group of everybody who gave an answer, from its exact probabilities.

    Parameters
    ----------
    units
        ``[answer, group]``: distance of each distinct answer from the tiers of each group, in
        units.
    decays, log_factors
        Of each group: theta times the unit, and the log of its share over its partition function.
    weights
        How many people gave each answer.
    most_weight
        Answers that more people gave are left to the caller.
    pivot
        ``[answer, group]``: memberships in other groups, which may be none.
    rng
        Generator.

    Returns
    -------
    tuple
        ``[answer, group]``: the probability of each group, and how many are drawn to be in it;
        how many those are in all answers; ``[group of the pivot, group]``: how many members they
        have in common; and the log-likelihood of all answers.
    """
    n_answers, n_groups = units.shape
    probabilities = np.empty((n_answers, n_groups))
    members = np.zeros((n_answers, n_groups), np.int64)
    numbers = np.zeros(n_groups, np.int64)
    common = np.zeros((pivot.shape[1], n_groups))
    log_likelihood = 0.0
    highest = log_factors.max()
    # Where answers are more than distances, each exponential is computed once.
    n_units = units.max() + 1
    n_kept = n_units if n_units < n_answers else 0
    kept = np.empty((n_units if n_kept > 0 else 0, n_groups))
    for distance in range(n_kept):
        for group in range(n_groups):
            kept[distance, group] = np.exp(log_factors[group] - highest - decays[group] * distance)
    # One logarithm of a product stands for those of many sums.
    product = 1.0
    for answer in range(n_answers):
        total = 0.0
        peak = highest
        if n_kept > 0:
            for group in range(n_groups):
                share = kept[np.uint64(units[answer, group]), group]
                probabilities[answer, group] = share
                total += share
        if total < _LEAST_TOTAL:
            peak, total = _weigh_groups(units[answer], decays, log_factors, probabilities[answer])
        weight = weights[answer]
        log_likelihood += weight * peak
        if weight == 1 and total > _LEAST_FACTOR:
            product *= total
            if product < _LEAST_PRODUCT or product > 1.0 / _LEAST_PRODUCT:
                log_likelihood += np.log(product)
                product = 1.0
        else:
            log_likelihood += weight * np.log(total)
        scale = 1.0 / total
        for group in range(n_groups):
            probabilities[answer, group] *= scale
        if weight > most_weight:
            continue
        for _ in range(weight):
            # Adding up comparisons needs no branches, which could not be foreseen.
            cumulative = 0.0
            chosen = 0
            uniform = rng.random()
            for group in range(n_groups - 1):
                cumulative += probabilities[answer, group]
                chosen += uniform >= cumulative
            members[answer, chosen] += 1
            numbers[chosen] += 1
            for other in range(pivot.shape[1]):
                common[other, chosen] += pivot[answer, other]
    return probabilities, members, numbers, common, log_likelihood + np.log(product)


@compiled
def draw_groups(
    answers: AnswerRows,
    points: ThetaPoints,
    members: _Integers,
    numbers: _Integers,
    groups: _Integers,
    labels: _Integers,
    thetas: _Floats,
    n_steps: int,
    sums: npt.NDArray[Any],
    rng: np.random.Generator,
) -> tuple[_Floats, _Floats]:
    """Draw the tiers of groups by Metropolis swaps, then their thetas, given their members.

    Parameters
    ----------
    answers, points
        Answers for the sizes of these groups, and what theta is drawn from; there may be no points.
    members, numbers
        ``[answer, group]``: who belongs where, and how many they are.
    groups
        Which groups have these sizes.
    labels, thetas
        Their tiers, one row each, and thetas; both change in place. Not a number stands for a theta
        that cannot be drawn from the points.
    n_steps
        Number of swaps that are tried.
    sums
        Room for counts, all zeros.
    rng
        Generator.

    Returns
    -------
    tuple
        Total distance and log partition function of each of the groups.
    """
    totals, log_partitions = np.empty(groups.shape[0]), np.full(groups.shape[0], np.nan)
    linear, pairs = costs_of_groups(answers, members, numbers, groups, sums)
    for place in range(groups.shape[0]):
        own, of_pairs = labels[place].copy(), pairs[place]
        transposed = np.ascontiguousarray(of_pairs.T)
        temperatures = np.full(n_steps, thetas[place])
        anneal(own, linear[place], of_pairs, transposed, temperatures, 2, rng)
        totals[place] = total_cost(own, linear[place], of_pairs)
        labels[place] = own
        number = float(numbers[groups[place]])
        drawn = np.nan
        if points.thetas.shape[0] > 0:
            drawn = draw_theta(points, number, totals[place], thetas[place], rng.random())
        thetas[place] = drawn
        if not np.isnan(drawn):
            log_partitions[place] = log_partition_at(points, drawn)
    return totals, log_partitions
