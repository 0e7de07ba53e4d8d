"""Complete orderings of races of which the answers tell only a part.

Given an answer that is a sequence of blocks, times of arrival are drawn as they are, block by
block; items that the answer does not hold arrive whenever they do. Given any other partial order,
each time is drawn in turn between those that must be before and after it (Gibbs sampling), and then
their common scale.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.luce import make_block
from tierwise._kernels.luce_times import add_arrivals

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


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
