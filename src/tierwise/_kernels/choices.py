"""Choices of a number of items among labels: how many of each label, within limits."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Integers = npt.NDArray[np.int64]


@compiled
def first_choice(choice: _Integers, limits: _Integers, number: int, end: int) -> None:
    """Take a number of items, of the labels before ``end``, the first as far as they go."""
    for label in range(end):
        choice[label] = min(number, limits[label])
        number -= choice[label]


@compiled
def next_choice(choice: _Integers, limits: _Integers) -> bool:
    """Go to the next choice of as many items; False after the last."""
    taken = 0
    for label in range(limits.shape[0] - 1):
        taken += choice[label]
        if taken > 0 and choice[label + 1] < limits[label + 1]:
            choice[label + 1] += 1
            first_choice(choice, limits, taken - 1, label + 1)
            return True
    return False
