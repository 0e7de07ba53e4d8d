"""What all results have in common: they are compared by value, and shown in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isnan
from typing import Any, cast

import numpy as np

from tierwise._util.cards import Card


class Result:
    """A frozen dataclass that is compared by value, arrays and NaN included.

    A subclass is decorated with ``@dataclass(frozen=True, eq=False)``: what `dataclass` would write
    cannot compare arrays, and calls no two results with a NaN equal.
    """

    def __eq__(self, other: object) -> bool:
        """Compare all fields; an array is equal to one of the same shape and numbers."""
        return same_values(self, other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        # Arrays have no hash, and NaN has another one in every copy.
        values = [getattr(self, one.name) for one in fields(cast("Any", self))]
        return hash((type(self), *(value for value in values if isinstance(value, str | int))))

    def _card(self) -> Card:
        """Return what a notebook shows; a result with tiers or a table shows more."""
        return Card(repr(self))

    def _repr_html_(self) -> str:
        """Show the result in a notebook."""
        return self._card().to_html()


def card_of(result: Result) -> Card:
    """Return what is shown of a result: a title, a few numbers, tiers, and what they mean."""
    return result._card()


def same_values(one: Any, other: Any) -> bool:
    """Return whether two values are equal, and all that they hold.

    Examples
    --------
    >>> same_values((1.0, np.array([1.0, np.nan])), (1.0, np.array([1.0, np.nan])))
    True
    >>> same_values({"theta": 1.0}, {"theta": 2.0})
    False
    """
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        floats = one.dtype.kind == other.dtype.kind == "f"
        return np.array_equal(one, other, equal_nan=floats)
    if type(one) is type(other) and (parts := _parts(one)) is not None:
        others = _parts(other) or []
        return len(parts) == len(others) and all(map(same_values, parts, others))
    if hasattr(one, "identical"):
        # The tree of draws.
        return bool(one.identical(other))
    if isinstance(one, float) and isinstance(other, float) and isnan(one):
        return isnan(other)
    return one is other or bool(one == other)


def _parts(value: Any) -> list[Any] | None:
    """Return what a value holds; None if it is compared as a whole."""
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return list(value)
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value) if field.compare]
    return None
