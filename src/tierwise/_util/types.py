"""Types that every package shares, a number that carries its error, and values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from math import isfinite
from numbers import Integral
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

WeightsAre: TypeAlias = Literal["counts", "survey"]
"""Whether a weight says how often an answer was given, or is a weight of a survey."""

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


class Estimate(float):
    """A number with its standard error and the method that gave it.

    It is a float and computes like one; what is computed from it is a plain float.

    Parameters
    ----------
    value
        The number.
    standard_error
        Standard deviation of the Monte Carlo error; 0 if the number is exact.
    method
        How it was found.

    Examples
    --------
    >>> Estimate(10.4, method="recursion")
    10.4 (exact, recursion)
    >>> noisy = Estimate(43.62, standard_error=0.03, method="path")
    >>> noisy
    43.62 +- 0.03 (path)
    >>> noisy.exact
    False
    >>> noisy + 1
    44.62
    """

    __slots__ = ("method", "standard_error")

    standard_error: float
    method: str

    def __new__(cls, value: float, *, standard_error: float = 0.0, method: str) -> Estimate:
        """Make a float and remember where it came from."""
        made = super().__new__(cls, value)
        made.standard_error = float(standard_error)
        made.method = method
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, float | str]]:
        """Say how to make it again, so that it can be copied and pickled."""
        return (float(self),), {"standard_error": self.standard_error, "method": self.method}

    @property
    def exact(self) -> bool:
        """Whether there is no Monte Carlo error in it."""
        return self.standard_error == 0.0

    def __repr__(self) -> str:
        if self.exact:
            return f"{float(self)!r} (exact, {self.method})"
        return f"{float(self):.10g} +- {self.standard_error:.2g} ({self.method})"


def python_item(item: Item) -> Item:
    """Return an item with numbers of NumPy as those of Python, which compare with anything.

    Compared with a tuple, a number of NumPy gives an array, which is neither true nor false.

    Examples
    --------
    >>> python_item(np.int64(70)), python_item(("a", 1))
    (70, ('a', 1))
    """
    return item.item() if isinstance(item, np.integer | np.float64 | np.bool_) else item


def plain_item(item: Item) -> str | int | float:
    """Return an item as JSON can hold it: text and numbers as they are, the rest as text.

    Examples
    --------
    >>> plain_item("a"), plain_item(3), plain_item(2.5)
    ('a', 3, 2.5)
    """
    if isinstance(item, Integral):
        return int(item)
    # Numbers of NumPy, too, become those of Python.
    return float(item) if isinstance(item, float) and isfinite(item) else str(item)


def item_coordinate(items: Iterable[Item]) -> NDArray[Any]:
    """Return plain names of items as one kind of value, as labelled tables and files hold them.

    Examples
    --------
    >>> item_coordinate([1, 2]).dtype.kind, item_coordinate([1, "a"]).tolist()
    ('i', ['1', 'a'])
    """
    names = [plain_item(item) for item in items]
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names], dtype=object)


def plain_number(number: float) -> float | None:
    """Return a number as JSON can hold it: None stands for NaN and infinity.

    Examples
    --------
    >>> plain_number(0.5), plain_number(float("nan")), plain_number(float("inf"))
    (0.5, None, None)
    """
    return number if isfinite(number) else None


def plain(value: Any) -> Any:
    """Return a value, and all that it holds, as JSON can hold it: None for NaN and infinity.

    Examples
    --------
    >>> plain({"theta": float("inf"), "sizes": (2, 3)})
    {'theta': None, 'sizes': [2, 3]}
    """
    if isinstance(value, dict):
        return {name: plain(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [plain(held) for held in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    return plain_number(value) if isinstance(value, float) else value
