"""Latent times of races, given worths and what answers tell of the order of arrival.

Given the order of an answer, the gaps between arrivals are exponential, with the sum of the worths
still in the race as their rate. Given an answer that is a sequence of blocks, times are drawn block
by block; items that the answer does not hold arrive whenever they do. Given any other partial
order, each time is drawn in turn between those that must be before and after it (Gibbs sampling),
and then their common scale.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.luce import (
    Block,
    RaceAnswers,
    gather_block,
    height_of_time,
    make_block,
    mode_of_time,
    write_rests,
)

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Where the tangents of the envelope touch, in standard deviations from the mode.
_TOUCH = 1.3


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
