"""Moves of ordered partitions, whatever they are valued by: tiers come and go, items find a place.

Tiers have slots, which stay while others come and go. ``order`` lists the slots of so many tiers,
from the best to the worst, and behind them those that are free. Without an item, so many tiers
leave it twice as many places and one: an even place ``2 p`` is a new tier before that at ``p``, an
odd one ``2 p + 1`` is the tier at ``p`` itself.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled_part
def open_tier(order: _Integers, n_tiers: int | np.int64, position: int | np.int64) -> int:
    """Put a new tier before that at a position of so many tiers; return its slot."""
    slot = order[n_tiers]
    for place in range(n_tiers, position, -1):
        order[place] = order[place - 1]
    order[position] = slot
    return int(slot)


@compiled_part
def close_tier(order: _Integers, n_tiers: int | np.int64, position: int | np.int64) -> None:
    """Take out the tier at a position of so many tiers; its slot is free."""
    slot = order[position]
    for place in range(position, n_tiers - 1):
        order[place] = order[place + 1]
    order[n_tiers - 1] = slot


@compiled_part
def choose(logs: _Floats, first: int, last: int, uniform: float) -> int:
    """Choose one of a range of numbers with probabilities proportional to exponentials.

    ``uniform`` is the share of all probabilities before a point in the chosen number. Logarithms of
    the range become probabilities, up to a factor.
    """
    top = logs[first]
    for number in range(first + 1, last + 1):
        top = max(top, logs[number])
    total, before, weight = 0.0, np.nan, 0.0
    for number in range(first, last + 1):
        # Places of one block are equally likely, and so are those about which nobody was asked.
        if logs[number] != before:
            before = logs[number]
            weight = np.exp(before - top)
        logs[number] = weight
        total += weight
    left = uniform * total
    # Where rounding leaves a remainder behind the last number, the last possible one stands.
    chosen = first
    for number in range(first, last + 1):
        if logs[number] > 0.0:
            chosen = number
            left -= logs[number]
        if left < 0.0:
            break
    return chosen


@compiled_part
def log_share(odds: float) -> float:
    """Log of the probability that has these log odds."""
    return float(-np.log1p(np.exp(-odds)) if odds >= -30.0 else odds)


@compiled_part
def label_last_as(tier: int, last: int, labels: _Integers) -> None:
    """Let the items of the last of some tiers without an order be those of an empty one."""
    if tier != last:
        for item in range(len(labels)):
            if labels[item] == last:
                labels[item] = tier


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
