"""The total distance of data from tiers, and how it changes when two items trade tiers.

``linear`` is (items, tiers) and ``pairs`` is (items, items); either may be empty, of shape (0, 0).
``pairs_transposed`` is the transpose of ``pairs`` laid out row by row, so that both directions
of a comparison are read along a row.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


@compiled
def total_cost(
    labels: npt.NDArray[np.int64],
    linear: npt.NDArray[np.float64],
    pairs: npt.NDArray[np.float64],
) -> float:
    """Sum ``linear[a, z_a]`` over items and ``pairs[a, b] * [z_b <= z_a]`` over ordered pairs."""
    total = 0.0
    if linear.shape[0] > 0:
        for item in range(labels.shape[0]):
            total += linear[item, labels[item]]
    if pairs.shape[0] > 0:
        for item in range(labels.shape[0]):
            for other in range(labels.shape[0]):
                if other != item and labels[other] <= labels[item]:
                    total += pairs[item, other]
    return total


@compiled
def swap_change(
    labels: npt.NDArray[np.int64],
    linear: npt.NDArray[np.float64],
    pairs: npt.NDArray[np.float64],
    pairs_transposed: npt.NDArray[np.float64],
    first: int,
    second: int,
) -> float:
    """Change of the total distance when two items trade their labels, in O(items)."""
    if labels[first] == labels[second]:
        return 0.0
    if labels[first] < labels[second]:
        falling, rising = first, second
    else:
        falling, rising = second, first
    upper, lower = labels[falling], labels[rising]
    change = 0.0
    if linear.shape[0] > 0:
        change += linear[falling, lower] - linear[falling, upper]
        change += linear[rising, upper] - linear[rising, lower]
    if pairs.shape[0] > 0:
        for other in range(labels.shape[0]):
            label = labels[other]
            if other in (falling, rising) or label < upper or label > lower:
                continue
            if label > upper:
                change += pairs[falling, other] - pairs[rising, other]
            if label < lower:
                change += pairs_transposed[rising, other] - pairs_transposed[falling, other]
        change += pairs[falling, rising] - pairs[rising, falling]
    return change
