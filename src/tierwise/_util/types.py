"""Types that describe answers, which every package shares."""

from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Item: TypeAlias = Hashable
"""An item, by its own name."""

Places: TypeAlias = NDArray[np.int32]
"""The place of each item (column) in each answer (row), from 0; `NOT_LISTED` where it has none."""

Codes: TypeAlias = NDArray[np.int32]
"""Which of some labels each cell has; -1 is none."""

Weights: TypeAlias = NDArray[Any]
"""How often each answer counts: int64 where all weights are whole numbers, float64 otherwise."""

Unranked: TypeAlias = Literal["below", "anywhere"]
"""What it means that an answer does not list an item."""

Ties: TypeAlias = Literal["error", "allow"]
"""Whether equal ranks in an answer are an error."""

Cycles: TypeAlias = Literal["error", "keep"]
"""Whether comparisons that contradict each other are an error, or kept as possible mistakes."""

RowNamer: TypeAlias = Callable[[int], str]
"""Names a row for messages, by its number from 0."""

NOT_LISTED = -1


def numbered_row(row: int) -> str:
    """Name a row by its number, counted from 1.

    Examples
    --------
    >>> numbered_row(0)
    'row 1'
    """
    return f"row {row + 1}"
