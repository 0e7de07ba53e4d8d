"""Races: orderings under Luce's choice model, their derivatives in log worths, and latent times.

An answer is a sequence of blocks of items, best first; items of one block are tied, and the last
block costs nothing. Items that an answer does not hold play no part. Blocks of all answers follow
one another in three arrays: ``order`` holds the items, ``block_starts`` where each block begins
(and where the last one ends), ``first_blocks`` the first block of each answer (and the number of
all blocks).

A tied block comes before a rest of total worth ``W`` with the probability ``P(all arrive before
T)``, where ``T`` is exponential with rate ``W`` and an item of worth ``w`` arrives by ``t`` with
probability ``1 - exp(-w t)``. In ``s = log t`` the integrand is log-concave and analytic, so the
trapezoidal rule around its mode converges geometrically.

Times of arrival are latent data (Caron and Doucet 2012). Given the order of an answer, the gaps
between arrivals are exponential, with the sum of the worths still in the race as their rate. Given
an answer that is a sequence of blocks, times are drawn block by block; items that the answer does
not hold arrive whenever they do. Given any other partial order, each time is drawn in turn between
those that must be before and after it (Gibbs sampling), and then their common scale.

References
----------
F. Caron and A. Doucet (2012). Efficient Bayesian inference for generalized Bradley-Terry models.
Journal of Computational and Graphical Statistics 21, 174-196.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Step of the trapezoidal rule in standard deviations of the integrand, and how far it may fall.
_STEP, _LARGEST_DROP = 0.3, 36.0
_MOST_NODES = 1200
_MOST_ROUNDS = 60
# So many tiers are added up side by side in the time that a single item takes.
_TIERS_AT_ONCE = 4
# Where the tangents of the envelope touch, in standard deviations from the mode.
_TOUCH = 1.3


@compiled_part
def height_of_time(
    log_time: float, rest: float, worths: _Floats, counts: _Floats
) -> tuple[float, float, float]:
    """Log integrand of a tied block at the logarithm of a time, and its first two derivatives."""
    time = np.exp(log_time)
    height = np.log(rest) + log_time - rest * time
    slope = 1.0 - rest * time
    curvature = -rest * time
    for place in range(len(worths)):
        elapsed = worths[place] * time
        arrived = -np.expm1(-elapsed)
        height += counts[place] * np.log(arrived)
        share = share_of_arrived(elapsed, arrived)
        slope += counts[place] * share
        curvature += counts[place] * share * (1.0 - elapsed - share)
    return height, slope, curvature


@compiled_part
def share_of_arrived(elapsed: float, arrived: float) -> float:
    """Return ``x / (exp(x) - 1)``, given ``1 - exp(-x)``, which has been computed already."""
    return elapsed * (1.0 - arrived) / arrived


@compiled_part
def _arrivals_at(
    log_time: float, rest: float, worths: _Floats, counts: _Floats, arrived: _Floats
) -> float:
    """Log integrand at the logarithm of a time; write how probably each tier has arrived."""
    time = np.exp(log_time)
    height = float(np.log(rest) + log_time - rest * time)
    for place in range(len(worths)):
        arrived[place] = -np.expm1(-worths[place] * time)
        height += counts[place] * np.log(arrived[place])
    return height


@compiled_part
def mode_of_time(rest: float, worths: _Floats, counts: _Floats) -> tuple[float, float, float]:
    """Where the log integrand of a tied block is largest, its value, and its curvature there."""
    largest, smallest = rest, rest
    for worth in worths:
        largest = max(largest, worth)
        smallest = min(smallest, worth)
    total = 1.0
    for count in counts:
        total += count
    # The slope is positive where all waits are short, and negative where the rest has arrived.
    low = -np.log(largest) - 3.0
    high = np.log(total + 1.0) - np.log(rest) + 1.0
    while height_of_time(low, rest, worths, counts)[1] < 0.0:
        low -= 3.0
    while height_of_time(high, rest, worths, counts)[1] > 0.0:
        high += 3.0
    point = 0.5 * (low + high)
    for _ in range(_MOST_ROUNDS):
        height, slope, curvature = height_of_time(point, rest, worths, counts)
        if slope > 0.0:
            low = point
        else:
            high = point
        step = -slope / curvature
        if abs(step) < 1e-6:
            break
        point = point + step
        if not low < point < high:
            point = 0.5 * (low + high)
    height, _, curvature = height_of_time(point, rest, worths, counts)
    return point, height, curvature


@compiled_part
def tied_block(
    rest: float,
    worths: _Floats,
    counts: _Floats,
    nodes: _Floats,
    weights: _Floats,
    arrived: _Floats,
) -> tuple[float, int]:
    """Log probability that a tied block comes before a rest; times and their weights.

    ``weights`` sum to 1: they are the distribution of the time at which the rest begins to arrive,
    given that the block came first. ``arrived[node, tier]`` is the probability that an item of a
    tier has arrived by then.
    """
    middle, top, curvature = mode_of_time(rest, worths, counts)
    # The last of b items of worth 1 arrives at log(b), give or take 1: in the logarithm of the time
    # that is a sharp edge, which may be far from the mode.
    n_items = 0.0
    for count in counts:
        n_items += count
    step = _STEP / max(np.sqrt(-curvature), 0.5 * np.log(n_items))
    n_nodes = 0
    total = 0.0
    for side in (1.0, -1.0):
        number = 0 if side > 0.0 else 1
        while n_nodes < _MOST_NODES:
            log_time = middle + side * number * step
            height = _arrivals_at(log_time, rest, worths, counts, arrived[n_nodes]) - top
            if height < -_LARGEST_DROP:
                break
            nodes[n_nodes] = np.exp(log_time)
            weights[n_nodes] = np.exp(height)
            total += weights[n_nodes]
            n_nodes += 1
            number += 1
    for node in range(n_nodes):
        weights[node] /= total
    return top + np.log(total * step), n_nodes


class RaceAnswers(NamedTuple):
    """Answers as they follow one another, and the weight of each."""

    order: _Integers
    block_starts: _Integers
    first_blocks: _Integers
    weights: _Floats


class TierRaces(NamedTuple):
    """Answers, and the tier of each item, counted from 0."""

    answers: RaceAnswers
    labels: _Integers


class Block(NamedTuple):
    """The tiers of a block, in the order in which they are met; there is room for all tiers."""

    slot_of: _Integers
    """Where each tier stands in the block; -1 between blocks."""
    labels: _Integers
    worths: _Floats
    counts: _Floats
    """How many items of the block each tier holds."""


@compiled_part
def make_block(n_tiers: int) -> Block:
    """Make room for the tiers of a block."""
    slot_of, labels = np.empty(n_tiers, dtype=np.int64), np.empty(n_tiers, dtype=np.int64)
    for tier in range(n_tiers):
        slot_of[tier] = -1
    return Block(slot_of, labels, np.empty(n_tiers), np.empty(n_tiers))


@compiled_part
def gather_block(
    order: _Integers, first: int, last: int, labels: _Integers, worths: _Floats, block: Block
) -> int:
    """Collect the tiers of a block with how many of its items each holds; return how many tiers."""
    count = 0
    for place in range(first, last):
        label = labels[order[place]]
        if block.slot_of[label] < 0:
            block.slot_of[label] = count
            block.labels[count] = label
            block.worths[count] = worths[label]
            block.counts[count] = 0.0
            count += 1
        block.counts[block.slot_of[label]] += 1.0
    for slot in range(count):
        block.slot_of[block.labels[slot]] = -1
    return count


@compiled_part
def write_rests(
    order: _Integers, begin: int, end: int, labels: _Integers, worths: _Floats, rests: _Floats
) -> None:
    """Write the sum of the worths from each place of an answer on.

    They are summed from the end, because differences of sums would lose the worths of weak items.
    """
    rests[end - begin] = 0.0
    for place in range(end - 1, begin - 1, -1):
        rests[place - begin] = rests[place - begin + 1] + worths[labels[order[place]]]


@compiled_if_many(lambda races, *_: 5.0 * len(races.answers.order))
def log_probabilities(races: TierRaces, log_worths: _Floats, logs: _Floats) -> None:
    """Write the log probability of each answer, given the log worths of tiers."""
    order, block_starts, first_blocks, _ = races.answers
    labels = races.labels
    worths = np.exp(log_worths)
    n_tiers = len(worths)
    own_tiers = make_block(n_tiers)
    nodes, weights = np.empty(_MOST_NODES), np.empty(_MOST_NODES)
    arrived = np.empty((_MOST_NODES, n_tiers))
    for answer in range(len(logs)):
        value, rest = 0.0, 0.0
        # From the last block to the first, so the rest is a running sum.
        for block in range(first_blocks[answer + 1] - 1, first_blocks[answer] - 1, -1):
            first, last = block_starts[block], block_starts[block + 1]
            own = 0.0
            for place in range(first, last):
                own += worths[labels[order[place]]]
            if rest > 0.0 and last - first == 1:
                value += log_worths[labels[order[first]]] - np.log(own + rest)
            elif rest > 0.0 and last - first == 2:
                one, other = labels[order[first]], labels[order[first + 1]]
                value += log_worths[one] + log_worths[other]
                value += _tied_pair(rest, worths[one], worths[other])
            elif rest > 0.0:
                count = gather_block(order, first, last, labels, worths, own_tiers)
                value += tied_block(
                    rest,
                    own_tiers.worths[:count],
                    own_tiers.counts[:count],
                    nodes,
                    weights,
                    arrived[:, :count],
                )[0]
            rest += own
        logs[answer] = value


@compiled_part
def _tied_pair(rest: float, one: float, other: float) -> float:
    """Log probability that two tied items come before a rest, without the logs of their worths.

    That is the sum over both orders of the two.
    """
    both, first, second = rest + one + other, rest + one, rest + other
    return float(np.log(first + second) - np.log(both) - np.log(first) - np.log(second))


@compiled_part
def _add_tied_pair(
    weight: float,
    rest: float,
    labels: _Integers,
    worths: _Floats,
    gradient: _Floats,
    hessian: _Floats,
    with_rest: _Floats,
) -> tuple[float, float, float]:
    """Add what two tied items say of their tiers, as `_add_tied_block` does, in closed form."""
    last = len(labels) - 1  # 0 if they are of the same tier
    one, other = worths[0], worths[last]
    both, first, second, sums = (
        rest + one + other,
        rest + one,
        rest + other,
        2.0 * rest + one + other,
    )
    value = np.log(one) + np.log(other) + _tied_pair(rest, one, other)
    for slot, own, own_rest in ((0, one, first), (last, other, second)):
        label = labels[slot]
        slope = own * (1.0 / sums - 1.0 / both - 1.0 / own_rest)
        gradient[label] += weight * (1.0 + slope)
        squares = 1.0 / both**2 + 1.0 / own_rest**2
        hessian[label, label] += weight * (slope + own**2 * (squares - 1.0 / sums**2))
        with_rest[slot] += weight * own * (squares - 2.0 / sums**2)
    term = weight * one * other * (1.0 / both**2 - 1.0 / sums**2)
    hessian[labels[0], labels[last]] += term
    hessian[labels[last], labels[0]] += term
    slope = 1.0 / both + 1.0 / first + 1.0 / second - 2.0 / sums
    bend = 1.0 / both**2 + 1.0 / first**2 + 1.0 / second**2 - 4.0 / sums**2
    return weight * value, weight * slope, weight * bend


@compiled_part
def _add_tied_block(
    weight: float,
    rest: float,
    labels: _Integers,
    worths: _Floats,
    counts: _Floats,
    gradient: _Floats,
    hessian: _Floats,
    with_rest: _Floats,
    nodes: _Floats,
    weights: _Floats,
    shares: _Floats,
    means: _Floats,
    arrived: _Floats,
) -> tuple[float, float, float]:
    """Add what a tied block says of its own tiers; return what it says of the rest.

    Parameters
    ----------
    weight
        Weight of the answer.
    rest
        Sum of the worths of what comes after the block.
    labels, worths, counts
        The tiers of the block, their worths, and how many of its items each holds.
    gradient, hessian
        Derivatives by tier, which are added to.
    with_rest
        By tier of the block: what its pairs with an item of the rest add to the Hessian, per worth
        of that item.
    nodes, weights, shares, means, arrived
        Room to work in.

    Returns
    -------
    tuple
        Log probability of the block, and what it adds to the slope and the bend of the rest.
    """
    if counts.sum() == 2.0:
        return _add_tied_pair(weight, rest, labels, worths, gradient, hessian, with_rest)
    log_probability, n_nodes = tied_block(rest, worths, counts, nodes, weights, arrived)
    time, square = 0.0, 0.0
    for node in range(n_nodes):
        time += weights[node] * nodes[node]
        square += weights[node] * nodes[node] ** 2
    for slot in range(len(labels)):
        mean, crossed, second_mean = 0.0, 0.0, 0.0
        for node in range(n_nodes):
            elapsed = worths[slot] * nodes[node]
            share = share_of_arrived(elapsed, arrived[node, slot])
            shares[slot, node] = share
            mean += weights[node] * share
            crossed += weights[node] * share * nodes[node]
            second_mean += weights[node] * share * (1.0 - elapsed - share)
        means[slot] = mean
        label = labels[slot]
        gradient[label] += weight * counts[slot] * mean
        hessian[label, label] += weight * counts[slot] * second_mean
        with_rest[slot] -= weight * counts[slot] * (crossed - mean * time)
    for slot in range(len(labels)):
        for other in range(slot + 1):
            crossed = 0.0
            for node in range(n_nodes):
                crossed += weights[node] * shares[slot, node] * shares[other, node]
            term = weight * counts[slot] * counts[other] * (crossed - means[slot] * means[other])
            hessian[labels[slot], labels[other]] += term
            if other < slot:
                hessian[labels[other], labels[slot]] += term
    slope = weight * (time - 1.0 / rest)
    bend = weight * (square - time**2 - 1.0 / rest**2)
    return weight * log_probability, slope, bend


@compiled_part
def _add_by_tier(
    weight: float, items: _Integers, labels: _Integers, left: _Floats, row: _Floats
) -> None:
    """Add a weight for each item to the row of tiers; ``left`` counts the items of each tier."""
    if _TIERS_AT_ONCE * len(items) < len(left):
        for item in items:
            row[labels[item]] += weight
    else:
        for tier in range(len(left)):
            row[tier] += weight * left[tier]


@compiled_if_many(lambda races, *_: 6.0 * len(races.answers.order))
def derivatives_of_races(
    races: TierRaces, log_worths: _Floats, gradient: _Floats, hessian: _Floats
) -> float:
    """Return the log-likelihood; add its gradient and Hessian in the log worths of tiers.

    ``slope`` and ``bend`` are running sums of what each stage says of all items still in the race.
    Pairs of a block and the items after it are added up by tier.
    """
    order, block_starts, first_blocks, answer_weights = races.answers
    labels = races.labels
    worths = np.exp(log_worths)
    n_tiers = len(worths)
    own_tiers = make_block(n_tiers)
    nodes, weights = np.empty(_MOST_NODES), np.empty(_MOST_NODES)
    shares, arrived = np.empty((n_tiers, _MOST_NODES)), np.empty((_MOST_NODES, n_tiers))
    means, with_rest = np.empty(n_tiers), np.empty(n_tiers)
    rests = np.empty(len(labels) + 1)
    left, before = np.zeros(n_tiers), np.zeros((n_tiers, n_tiers))
    value = 0.0
    for answer in range(len(answer_weights)):
        weight = answer_weights[answer]
        first_block, end_block = first_blocks[answer], first_blocks[answer + 1]
        begin, end = block_starts[first_block], block_starts[end_block]
        write_rests(order, begin, end, labels, worths, rests)
        for place in range(begin, end):
            left[labels[order[place]]] += 1.0
        slope, bend = 0.0, 0.0
        for block in range(first_block, end_block):
            first, last = block_starts[block], block_starts[block + 1]
            is_last = block == end_block - 1
            count = gather_block(order, first, last, labels, worths, own_tiers)
            block_labels, block_worths, block_counts = own_tiers[1:]
            is_single = last - first == 1
            if is_single and not is_last:
                rest = rests[first - begin]
                value += weight * (log_worths[block_labels[0]] - np.log(rest))
                gradient[block_labels[0]] += weight
                slope += weight / rest
                bend += weight / rest**2
            for slot in range(count):
                label, own = block_labels[slot], block_counts[slot] * block_worths[slot]
                gradient[label] -= own * slope
                hessian[label, label] -= own * slope
                for other in range(count):
                    pair = own * block_counts[other] * block_worths[other]
                    hessian[label, block_labels[other]] += pair * bend
                with_rest[slot] = own * bend
            if not is_single and not is_last:
                added = _add_tied_block(
                    weight,
                    rests[last - begin],
                    block_labels[:count],
                    block_worths[:count],
                    block_counts[:count],
                    gradient,
                    hessian,
                    with_rest,
                    nodes,
                    weights,
                    shares,
                    means,
                    arrived[:, :count],
                )
                value += added[0]
                slope += added[1]
                bend += added[2]
            for slot in range(count):
                left[block_labels[slot]] -= block_counts[slot]
            for slot in range(count):
                row = before[block_labels[slot]]
                _add_by_tier(with_rest[slot], order[last:end], labels, left, row)
    for tier in range(n_tiers):
        for other in range(n_tiers):
            term = worths[other] * before[tier, other]
            hessian[tier, other] += term
            hessian[other, tier] += term
    return value


@compiled_part
def draw_log_time(
    middle: float,
    top: float,
    curvature: float,
    rest: float,
    worths: _Floats,
    counts: _Floats,
    rng: np.random.Generator,
) -> float:
    """Draw from the integrand of a tied block, which is log-concave: rejection below tangents."""
    touch = _TOUCH / np.sqrt(-curvature)
    low_height, low_slope, _ = height_of_time(middle - touch, rest, worths, counts)
    high_height, high_slope, _ = height_of_time(middle + touch, rest, worths, counts)
    # Where the tangents reach the height of the mode; beyond that the envelope is exponential.
    low = middle - touch + (top - low_height) / low_slope
    high = middle + touch + (top - high_height) / high_slope
    low_mass, high_mass = 1.0 / low_slope, -1.0 / high_slope
    total = low_mass + (high - low) + high_mass
    while True:
        place = total * rng.random()
        if place < low_mass:
            wait = -np.log(1.0 - rng.random())
            log_time, envelope = low - wait / low_slope, -wait
        elif place < low_mass + high - low:
            log_time, envelope = low + place - low_mass, 0.0
        else:
            wait = -np.log(1.0 - rng.random())
            log_time, envelope = high - wait / high_slope, -wait
        height = height_of_time(log_time, rest, worths, counts)[0] - top
        if np.log(1.0 - rng.random()) <= height - envelope:
            return float(log_time)


@compiled_part
def add_arrivals(
    order: _Integers,
    starts: _Integers,
    weight: float,
    labels: _Integers,
    worths: _Floats,
    block: Block,
    rests: _Floats,
    times: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw when each item arrived in as many races as an answer weighs, and add these times.

    To items of the last block, which need not arrive, the times are added at which all others had.

    Parameters
    ----------
    order, starts
        Items of all answers, and where the blocks of this one begin, and the last one ends.
    weight
        Of the answer; a whole number where it has ties.
    labels, worths
        Tier of each item, and worths of tiers.
    block, rests
        Room to work in.
    times
        What is added to.
    rng
        Randomness.
    """
    n_blocks, begin = len(starts) - 1, starts[0]
    write_rests(order, begin, starts[n_blocks], labels, worths, rests)
    clock = 0.0
    for number in range(n_blocks):
        first, last = starts[number], starts[number + 1]
        if number < n_blocks - 1 and last - first == 1:
            clock += rng.standard_gamma(weight) / rests[first - begin]
        for place in range(first, last):
            times[order[place]] += clock
        if number == n_blocks - 1 or last - first == 1:
            continue
        count = gather_block(order, first, last, labels, worths, block)
        own_worths, own_counts = block.worths[:count], block.counts[:count]
        rest = rests[last - begin]
        middle, top, curvature = mode_of_time(rest, own_worths, own_counts)
        for _ in range(int(weight)):
            limit = np.exp(draw_log_time(middle, top, curvature, rest, own_worths, own_counts, rng))
            latest = 0.0
            for place in range(first, last):
                worth = worths[labels[order[place]]]
                share = rng.random() * -np.expm1(-worth * limit)
                time = -np.log1p(-share) / worth
                times[order[place]] += time
                latest = max(latest, time)
            clock += latest


@compiled_part
def draw_running_times(
    answers: RaceAnswers,
    labels: _Integers,
    worths: _Floats,
    block: Block,
    rests: _Floats,
    times: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw how long each item was in the race, summed over all answers."""
    times[:] = 0.0
    for answer in range(len(answers.weights)):
        first_block, end_block = answers.first_blocks[answer], answers.first_blocks[answer + 1]
        starts = answers.block_starts[first_block : end_block + 1]
        weight = answers.weights[answer]
        add_arrivals(answers.order, starts, weight, labels, worths, block, rests, times, rng)


@compiled
def complete_blocks(
    order: _Integers,
    block_starts: _Integers,
    first_blocks: _Integers,
    worths: _Floats,
    places: npt.NDArray[np.int32],
    rng: np.random.Generator,
) -> None:
    """Write the place of each item in a completion of each answer, drawn given worths of items."""
    n_items = len(worths)
    labels, block = np.arange(n_items), make_block(n_items)
    times, rests = np.empty(n_items), np.empty(n_items + 1)
    for answer in range(len(places)):
        starts = block_starts[first_blocks[answer] : first_blocks[answer + 1] + 1]
        for item in range(n_items):
            times[item] = rng.standard_exponential() / worths[item]
        for place in range(starts[0], starts[len(starts) - 2]):
            times[order[place]] = 0.0
        add_arrivals(order, starts, 1.0, labels, worths, block, rests, times, rng)
        sequence = np.argsort(times)
        for place in range(n_items):
            places[answer, sequence[place]] = place


@compiled
def move_times(
    relations: npt.NDArray[np.bool_], worths: _Floats, times: _Floats, rng: np.random.Generator
) -> None:
    """Draw the time of each item given all others, row by row, and then their scale; in place.

    ``relations[row, a, b]`` says that a arrives before b.
    """
    n_items = len(worths)
    for row in range(len(times)):
        total = 0.0
        for item in range(n_items):
            low, high = 0.0, np.inf
            for other in range(n_items):
                if relations[row, other, item]:
                    low = max(low, times[row, other])
                elif relations[row, item, other]:
                    high = min(high, times[row, other])
            share = rng.random() * -np.expm1(-worths[item] * (high - low))
            times[row, item] = low - np.log1p(-share) / worths[item]
            total += worths[item] * times[row, item]
        scale = rng.standard_gamma(float(n_items)) / total
        for item in range(n_items):
            times[row, item] *= scale
