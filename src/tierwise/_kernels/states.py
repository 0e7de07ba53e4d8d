"""States of the recursion: how many items of each label are still to be placed.

A state is a vector of counts ``c``, numbered as digits of a mixed radix number, the first label
being the most significant. Its layer is the sum of its counts.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


class States(NamedTuple):
    """The states of given sizes.

    Attributes
    ----------
    sizes
        The sizes of the tiers.
    strides
        What one more item of a label adds to the number of a state.
    order
        The states by layer, from the empty one to the full one.
    starts
        ``order[starts[t]:starts[t + 1]]`` is layer ``t``.
    left
        ``left[state, label]`` is the number of items left that have a smaller label.
    """

    sizes: npt.NDArray[np.int64]
    strides: npt.NDArray[np.int64]
    order: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    left: npt.NDArray[np.int16]


@compiled
def lay_out_states(sizes: npt.NDArray[np.int64], n_states: int) -> States:
    """Lay out the states of these sizes; there are ``n_states`` of them."""
    n_tiers = sizes.shape[0]
    strides = np.empty(n_tiers, dtype=np.int64)
    stride = 1
    for label in range(n_tiers - 1, -1, -1):
        strides[label] = stride
        stride *= sizes[label] + 1
    left = np.empty((n_states, n_tiers + 1), dtype=np.int16)
    starts = np.zeros(sizes.sum() + 2, dtype=np.int64)
    counts = np.zeros(n_tiers, dtype=np.int64)
    for state in range(n_states):
        total = 0
        for label in range(n_tiers):
            left[state, label] = total
            total += counts[label]
        left[state, n_tiers] = total
        starts[total + 1] += 1
        label = n_tiers - 1
        while label >= 0 and counts[label] == sizes[label]:
            counts[label] = 0
            label -= 1
        if label >= 0:
            counts[label] += 1
    for layer in range(1, starts.shape[0]):
        starts[layer] += starts[layer - 1]
    order = np.empty(n_states, dtype=np.int32)
    filled = starts.copy()
    for state in range(n_states):
        layer = left[state, n_tiers]
        order[filled[layer]] = state
        filled[layer] += 1
    return States(sizes, strides, order, starts, left)
