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
    total = 0.0
    for number in range(first, last + 1):
        logs[number] = np.exp(logs[number] - top)
        total += logs[number]
    left = uniform * total
    for number in range(first, last):
        left -= logs[number]
        if left < 0.0:
            return number
    return last
