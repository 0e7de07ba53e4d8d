"""Tiers of given sizes and their worths, given times of races.

Tiers keep their places, with worths that decrease from the first to the last: items of two tiers
trade places, and each worth is drawn between those of its neighbours.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled_part
from tierwise._kernels.luce_tiers import LogGammas, tier_value

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled_part
def list_by_tier(labels: _Integers, sizes: _Floats, count: int, members: _Integers) -> _Integers:
    """List items tier by tier; return where each tier begins, and where the last one ends."""
    starts = np.zeros(count + 1, dtype=np.int64)
    for tier in range(count):
        starts[tier + 1] = starts[tier] + int(sizes[tier])
    ends = starts[:count].copy()
    for item in range(len(labels)):
        members[ends[labels[item]]] = item
        ends[labels[item]] += 1
    return starts


@compiled_part
def draw_two(starts: _Integers, apart: int, rng: np.random.Generator) -> tuple[int, int]:
    """Draw two places of a list tier by tier: of tiers so far apart, or, given 0, any two."""
    count = len(starts) - 1
    if apart == 0:
        return int(starts[count] * rng.random()), int(starts[count] * rng.random())
    one = int((count - apart) * rng.random())
    place = starts[one] + int((starts[one + 1] - starts[one]) * rng.random())
    other = one + apart
    return place, starts[other] + int((starts[other + 1] - starts[other]) * rng.random())


@compiled_part
def exchange_items(
    labels: _Integers,
    worths: _Floats,
    count: int,
    sizes: _Floats,
    arrived: _Floats,
    ran: _Floats,
    arrivals: _Floats,
    times: _Floats,
    gammas: LogGammas,
    n_steps: int,
    members: _Integers,
    rng: np.random.Generator,
) -> None:
    """Let items of two tiers trade places, so that sizes stay: steps of Metropolis.

    In every other step the worths of both tiers are integrated out and drawn again, which moves far
    where they are surely in order; in the rest worths stay, which moves at all where tiers are
    hardly apart. Every other two steps are about neighbouring tiers.
    """
    if count < 2:
        return
    starts = list_by_tier(labels, sizes, count, members)
    for step in range(n_steps):
        place, swap = draw_two(starts, 1 if step % 4 < 2 else 0, rng)
        first, second = members[place], members[swap]
        one, other = labels[first], labels[second]
        if one == other:
            continue
        won, time = arrivals[second] - arrivals[first], times[second] - times[first]
        before_one, before_other = worths[one], worths[other]
        if step % 2 == 0:
            gain = won * np.log(before_one / before_other) - time * (before_one - before_other)
        else:
            gain = tier_value(sizes[one], arrived[one] + won, ran[one] + time, gammas)
            gain -= tier_value(sizes[one], arrived[one], ran[one], gammas)
            gain += tier_value(sizes[other], arrived[other] - won, ran[other] - time, gammas)
            gain -= tier_value(sizes[other], arrived[other], ran[other], gammas)
        if np.log(1.0 - rng.random()) >= gain:
            continue
        if step % 2 == 1:
            total = 1.0 + ran[one] + time
            worths[one] = rng.standard_gamma(gammas.shape + arrived[one] + won) / total
            total = 1.0 + ran[other] - time
            worths[other] = rng.standard_gamma(gammas.shape + arrived[other] - won) / total
            in_order = True
            for tier in range(count - 1):
                in_order &= worths[tier] > worths[tier + 1]
            if not in_order:
                worths[one], worths[other] = before_one, before_other
                continue
        labels[first], labels[second] = other, one
        members[place], members[swap] = second, first
        arrived[one] += won
        arrived[other] -= won
        ran[one] += time
        ran[other] -= time


@compiled_part
def _draw_between(
    log_worth: float, low: float, high: float, shape: float, rate: float, rng: np.random.Generator
) -> float:
    """Draw the logarithm of a Gamma variable between two bounds.

    One draw without bounds may do; else a step of slice sampling is made (Neal 2003).
    """
    free = np.log(rng.standard_gamma(shape) / rate)
    if low < free < high:
        return float(free)
    level = shape * log_worth - rate * np.exp(log_worth) + np.log(1.0 - rng.random())
    width = 3.0 / np.sqrt(shape)
    left = log_worth - width * rng.random()
    right = left + width
    while left > low and shape * left - rate * np.exp(left) > level:
        left -= width
    while right < high and shape * right - rate * np.exp(right) > level:
        right += width
    left, right = max(left, low), min(right, high)
    while True:
        drawn = left + (right - left) * rng.random()
        if shape * drawn - rate * np.exp(drawn) >= level:
            return float(drawn)
        if drawn < log_worth:
            left = drawn
        else:
            right = drawn


@compiled_part
def draw_worths_in_order(
    worths: _Floats,
    count: int,
    arrived: _Floats,
    ran: _Floats,
    shape: float,
    rng: np.random.Generator,
) -> None:
    """Draw each worth given its neighbours, between which it stays (Gibbs)."""
    for tier in range(count):
        low = np.log(worths[tier + 1]) if tier < count - 1 else -np.inf
        high = np.log(worths[tier - 1]) if tier > 0 else np.inf
        own = np.log(worths[tier])
        drawn = _draw_between(own, low, high, shape + arrived[tier], 1.0 + ran[tier], rng)
        worths[tier] = np.exp(drawn)
