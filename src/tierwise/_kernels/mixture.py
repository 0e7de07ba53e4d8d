"""Gibbs sampling in a mixture: who belongs where, and tiers and theta of groups given that."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
from tierwise._kernels.consensus import TierCosts, anneal, total_cost
from tierwise._kernels.counting import count_bits
from tierwise._kernels.theta import ThetaPoints, draw_theta, log_partition_at

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Below this a sum of exponentials may have lost some of them.
_LEAST_TOTAL = 1e-250
# Products of factors above the one are taken as long as they stay above the other.
_LEAST_FACTOR, _LEAST_PRODUCT = 1e-100, 1e-150
# So many uniform variables are drawn one by one.
_FEW = 32


class AnswerBits(NamedTuple):
    """What distinct answers say about blocks, one bit for each answer and cell."""

    n_items: int
    n_answers: int
    columns: npt.NDArray[np.uint64]
    """``[cell, word]``: 64 answers to a word, the first in the lowest bit. First a cell for each
    listed pair, then one for each item and block."""
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


@compiled_part
def _cell_costs(answers: AnswerBits, labels: _Integers) -> tuple[_Integers, int]:
    """Units that a one costs in each cell, and units that every answer costs besides."""
    n_pairs, n_blocks = answers.first.shape[0], answers.placing.shape[0]
    costs = np.zeros(answers.columns.shape[0], np.int64)
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
    for item in range(labels.shape[0] if n_blocks > 0 else 0):
        for block in range(n_blocks):
            costs[n_pairs + item * n_blocks + block] = answers.placing[block, labels[item]]
    return costs, always


@compiled_part
def _add_units(
    answers: AnswerBits, costs: _Integers, always: int, units: _Integers, group: int
) -> None:
    """Add to a column of units what each answer costs in all cells."""
    for row in range(answers.n_answers if always != 0 else 0):
        units[row, group] += always
    for cell in range(costs.shape[0]):
        if costs[cell] == 0:
            continue
        for word in range(answers.columns.shape[1]):
            bits = answers.columns[cell, word]
            for row in range(64 * word, min(64 * word + 64, answers.n_answers)):
                units[row, group] += costs[cell] * np.int64(bits & np.uint64(1))
                bits >>= np.uint64(1)


@compiled
def move_units(
    answers: AnswerBits, before: _Integers, labels: _Integers, units: _Integers, group: int
) -> None:
    """Let a column of units, which are those of some tiers, become those of others.

    Only cells count whose cost changes: a single one where two items change places that are next to
    each other in a strict order.
    """
    costs, always = _cell_costs(answers, labels)
    old_costs, old_always = _cell_costs(answers, before)
    _add_units(answers, costs - old_costs, always - old_always, units, group)


@inlined
def _cell_counts(answers: AnswerBits, members: _Integers, group: int) -> _Integers:
    """Count the ones of each cell, as often as a group has members that gave the answer."""
    most = 0
    for row in range(answers.n_answers):
        most = max(most, members[row, group])
    counts = np.zeros(answers.columns.shape[0], np.int64)
    chosen = np.empty(answers.columns.shape[1], np.uint64)
    digit = 0
    # The numbers of members are written as binary digits: each digit chooses some of the answers.
    while most >> digit > 0:
        for word in range(chosen.shape[0]):
            bits = np.uint64(0)
            for bit in range(min(64, answers.n_answers - 64 * word)):
                one = (members[64 * word + bit, group] >> digit) & 1
                bits |= np.uint64(one) << np.uint64(bit)
            chosen[word] = bits
        for cell in range(counts.shape[0]):
            number = np.uint64(0)
            for word in range(chosen.shape[0]):
                number += count_bits(answers.columns[cell, word] & chosen[word])
            counts[cell] += np.int64(number) << digit
        digit += 1
    return counts


@compiled
def costs_of_group(
    answers: AnswerBits, members: _Integers, number: int, group: int
) -> tuple[_Floats, _Floats]:
    """Costs of all tiers for a column of members, as in `tierwise.distances.Costs`.

    Returned are ``[item, tier]`` and ``[a, b]``, either of which may be empty.
    """
    counts = _cell_counts(answers, members, group)
    n_pairs, n_blocks = answers.first.shape[0], answers.placing.shape[0]
    n_items, n_ordered = answers.n_items, answers.n_items if n_pairs > 0 else 0
    pairs = np.zeros((n_ordered, n_ordered))
    linear = number * answers.anywhere
    cost = answers.misplaced * answers.unit
    for pair in range(n_pairs):
        first, second = answers.first[pair], answers.second[pair]
        pairs[first, second] = cost * counts[pair]
        if answers.decided:
            pairs[second, first] = cost * (number - counts[pair])
    for item in range(n_items if n_blocks > 0 else 0):
        for block in range(n_blocks):
            count = counts[n_pairs + item * n_blocks + block] * answers.unit
            for tier in range(linear.shape[1]):
                linear[item, tier] += count * answers.placing[block, tier]
    return linear, pairs


@compiled
def count_charged(
    packed: npt.NDArray[np.uint64], charged: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Count the bits of each row that are charged, word by word."""
    counts = np.zeros(packed.shape[0], np.int64)
    for row in range(packed.shape[0]):
        for word in range(packed.shape[1]):
            counts[row] += np.int64(count_bits(packed[row, word] & charged[word]))
    return counts


@compiled_part
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
def draw_binomial(number: int, share: float, rng: np.random.Generator) -> int:
    """Draw how many of a number of uniform variables are below a share.

    The middle one of many has a beta distribution, and halves those that are open (Relles, 1972, A
    simple algorithm for generating binomial random variables when N is large).
    """
    below = 0
    while number > _FEW:
        middle = number // 2 + 1
        left = rng.standard_gamma(float(middle))
        value = left / (left + rng.standard_gamma(float(number + 1 - middle)))
        if value <= share:
            below += middle
            number -= middle
            share = (share - value) / (1.0 - value)
        else:
            number = middle - 1
            share /= value
    for _ in range(number):
        below += rng.random() < share
    return below


@inlined
def _weights_of_distances(
    units: _Integers, decays: _Floats, log_factors: _Floats, highest: float
) -> _Floats:
    """``[distance, group]``: weights, where answers are more than distances; else it is empty."""
    n_answers, n_groups = units.shape
    n_units = units.max() + 1
    kept = np.empty((n_units if n_units < n_answers else 0, n_groups))
    for distance in range(kept.shape[0]):
        for group in range(n_groups):
            kept[distance, group] = np.exp(log_factors[group] - highest - decays[group] * distance)
    return kept


@inlined
def _draw_one(probabilities: _Floats, answer: int, members: _Integers, uniform: float) -> None:
    """Draw the group of a single person."""
    n_groups = probabilities.shape[1]
    # Adding up comparisons needs no branches, which could not be foreseen.
    cumulative, chosen = 0.0, 0
    for group in range(n_groups - 1):
        members[answer, group] = 0
        cumulative += probabilities[answer, group]
        chosen += uniform >= cumulative
    members[answer, n_groups - 1] = 0
    members[answer, chosen] = 1


@inlined
def _draw_many(
    probabilities: _Floats, answer: int, weight: int, members: _Integers, rng: np.random.Generator
) -> None:
    """Draw how many of so many people are in each group."""
    n_groups = probabilities.shape[1]
    open_weight, open_share = weight, 1.0
    for group in range(n_groups):
        share = probabilities[answer, group]
        number = open_weight
        if group < n_groups - 1 and share < open_share:
            number = draw_binomial(open_weight, share / open_share, rng)
        members[answer, group] = number
        open_weight -= number
        open_share -= share


@inlined
def _count_members(
    members: _Integers, answer: int, pivot: _Floats, numbers: _Integers, common: _Floats
) -> None:
    """Count those who gave an answer in their groups, and in common with groups of the pivot."""
    for group in range(numbers.shape[0]):
        number = members[answer, group]
        if number > 0:
            numbers[group] += number
            for other in range(pivot.shape[1]):
                common[other, group] += number * pivot[answer, other]


@compiled
def draw_members(
    units: _Integers,
    decays: _Floats,
    log_factors: _Floats,
    weights: _Integers,
    pivot: _Floats,
    probabilities: _Floats,
    members: _Integers,
    rng: np.random.Generator,
) -> tuple[_Integers, _Floats, float]:
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
    pivot
        ``[answer, group]``: memberships in other groups, which may be none.
    probabilities, members
        ``[answer, group]``: room for the probability of each group, and for how many of those who
        gave an answer are drawn to be in it.
    rng
        Generator.

    Returns
    -------
    tuple
        How many people are in each group; ``[group of the pivot, group]``: how many members they
        have in common; and the log-likelihood of all answers.
    """
    n_answers, n_groups = units.shape
    numbers = np.zeros(n_groups, np.int64)
    common = np.zeros((pivot.shape[1], n_groups))
    log_likelihood = 0.0
    highest = log_factors.max()
    kept = _weights_of_distances(units, decays, log_factors, highest)
    # One logarithm of a product stands for those of many sums.
    product = 1.0
    for answer in range(n_answers):
        total = 0.0
        peak = highest
        if kept.shape[0] > 0:
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
        if weight == 1:
            _draw_one(probabilities, answer, members, rng.random())
        else:
            _draw_many(probabilities, answer, weight, members, rng)
        _count_members(members, answer, pivot, numbers, common)
    return numbers, common, log_likelihood + np.log(product)


class Groups(NamedTuple):
    """Where a chain is: all groups, one row each, which change in place."""

    labels: _Integers
    """``[group, item]``: tiers, counted from 0."""
    thetas: _Floats
    log_partitions: _Floats
    shares: _Floats
    units: _Integers
    """``[answer, group]``: distance of each distinct answer from the tiers of each group."""


class Record(NamedTuple):
    """What is written down of a chain, one row for each draw."""

    shares: _Floats
    """``[draw, group]``."""
    thetas: _Floats
    labels: _Integers
    """``[draw, group, item]``."""
    log_likelihood: _Floats
    """Of all answers, memberships summed out."""
    common: _Floats
    """``[draw, group of the pivot, group]``: how many members they have in common."""
    orders: _Integers
    """``[draw, group of the pivot]``: which group takes its place; -1 as long as that is open."""
    memberships: _Floats
    """``[answer, group of the pivot]``: sum over draws of the probability of the group there."""


@inlined
def _draw_group(
    answers: AnswerBits,
    points: ThetaPoints,
    members: _Integers,
    number: int,
    n_swaps: int,
    groups: Groups,
    group: int,
    rng: np.random.Generator,
) -> float:
    """Draw the tiers of a group by Metropolis swaps, then its theta; return their total distance.

    Not a number stands for a theta that cannot be drawn from the points, and its partition function
    is left as it is.
    """
    linear, pairs = costs_of_group(answers, members, number, group)
    labels, theta = groups.labels[group].copy(), groups.thetas[group]
    costs = TierCosts(linear, pairs, np.ascontiguousarray(pairs.T))
    anneal(labels, costs, np.full(n_swaps, theta), 2, rng)
    move_units(answers, groups.labels[group], labels, groups.units, group)
    for item in range(labels.shape[0]):
        groups.labels[group, item] = labels[item]
    total, drawn = total_cost(labels, linear, pairs), np.nan
    if points.thetas.shape[0] > 0:
        drawn = draw_theta(points, float(number), total, theta, rng.random())
    groups.thetas[group] = drawn
    if not np.isnan(drawn):
        groups.log_partitions[group] = log_partition_at(points, drawn)
    return total


@inlined
def _write_down(
    record: Record,
    number: int,
    groups: Groups,
    order: _Integers,
    log_likelihood: float,
    common: _Floats,
    probabilities: _Floats,
) -> bool:
    """Write down where a sweep begins; return whether groups are those of the pivot in order."""
    n_answers, n_groups = probabilities.shape
    record.log_likelihood[number] = log_likelihood
    matched = True
    for other in range(n_groups):
        matched = matched and np.argmax(common[other]) == order[other]
    for group in range(n_groups):
        record.shares[number, group] = groups.shares[group]
        record.thetas[number, group] = groups.thetas[group]
        record.orders[number, group] = order[group] if matched else -1
        for item in range(groups.labels.shape[1]):
            record.labels[number, group, item] = groups.labels[group, item]
        for other in range(n_groups):
            record.common[number, other, group] = common[other, group]
    for answer in range(n_answers if matched else 0):
        for other in range(n_groups):
            record.memberships[answer, other] += probabilities[answer, order[other]]
    return matched


@compiled
def run_sweeps(
    tables: tuple[AnswerBits, ...],
    points: tuple[ThetaPoints, ...],
    table_of_group: _Integers,
    weights: _Integers,
    pivot: _Floats,
    concentration: float,
    n_swaps: int,
    groups: Groups,
    order: _Integers,
    record: Record,
    first: int,
    last: int,
    rng: np.random.Generator,
) -> tuple[int, _Floats, _Integers, _Floats]:
    """Draw memberships, shares, tiers and thetas in turn, and write down where each sweep begins.

    Sweeps end early where the caller has to help: after one whose thetas cannot all be drawn from
    the points, and after one that has not, group by group, most members in common with the pivot in
    the order that is given. Its row of ``record.orders`` then says -1.

    Parameters
    ----------
    tables, points
        The answers for some sizes, and what theta is drawn from there; there may be no points.
    table_of_group
        Which of the tables belongs to each group; -1 for a group that is a single tier.
    weights
        How many people gave each answer.
    pivot
        ``[answer, group]``: memberships that the members drawn are compared with.
    concentration
        Parameter of the Dirichlet prior of the shares.
    n_swaps
        Number of swaps of two items that are tried in each group.
    groups
        Where the chain is, which changes.
    order
        Which group takes the place of each group of the pivot.
    record
        What is written down, except before draw 0.
    first, last
        Number of the first draw, negative for those that are thrown away, and of the one after the
        last.
    rng
        Generator.

    Returns
    -------
    tuple
        Number of the next draw; and of the last sweep ``[answer, group]`` the probability of each
        group, how many people are in each, and their total distance.
    """
    n_answers, n_groups = groups.units.shape
    probabilities = np.empty((n_answers, n_groups))
    members = np.empty((n_answers, n_groups), np.int64)
    decays, log_factors = np.empty(n_groups), np.empty(n_groups)
    gammas, totals = np.empty(n_groups), np.zeros(n_groups)
    numbers = np.zeros(n_groups, np.int64)
    for number in range(first, last):
        for group in range(n_groups):
            table = table_of_group[group]
            decays[group] = groups.thetas[group] * tables[table].unit if table >= 0 else 0.0
            log_factors[group] = np.log(groups.shares[group]) - groups.log_partitions[group]
        numbers, common, log_likelihood = draw_members(
            groups.units, decays, log_factors, weights, pivot, probabilities, members, rng
        )
        matched = True
        if number >= 0:
            matched = _write_down(
                record, number, groups, order, log_likelihood, common, probabilities
            )
        # Independent gammas over their sum have a Dirichlet distribution.
        for group in range(n_groups):
            gammas[group] = rng.standard_gamma(concentration + numbers[group])
        for group in range(n_groups):
            groups.shares[group] = gammas[group] / gammas.sum()
        drawn = True
        for group in range(n_groups):
            table = table_of_group[group]
            if table >= 0:
                size = numbers[group]
                totals[group] = _draw_group(
                    tables[table], points[table], members, size, n_swaps, groups, group, rng
                )
                drawn = drawn and not np.isnan(groups.thetas[group])
        if not (matched and drawn):
            return number + 1, probabilities, numbers, totals
    return last, probabilities, numbers, totals
