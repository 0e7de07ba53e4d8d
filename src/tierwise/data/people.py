"""Columns of what is known of people: numbers or categories, each row with its value, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_iterable
from tierwise._util.wording import counted, quoted
from tierwise.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tierwise.data.rankings import Rankings

_Integers = NDArray[np.int64]

MISSING = -1
# Numbers with more values than this are cut into groups of about equal size.
_MOST_NUMBERS_AS_GROUPS = 8
_N_PARTS = 4
_MOST_VALUES = 60


@dataclass(frozen=True, eq=False)
class Column:
    """A column, each row with the number of its value.

    Attributes
    ----------
    name
        What it is called.
    kind
        "numbers" have an order, "categories" have none.
    values
        The different values: numbers ascending, categories in alphabetical order.
    codes
        The number of the value in each row; ``MISSING`` where there is none.
    """

    name: str
    kind: Literal["numbers", "categories"]
    values: tuple[Any, ...]
    codes: _Integers

    @property
    def has_missing(self) -> bool:
        """Whether there are rows without a value."""
        return bool((self.codes == MISSING).any())

    def group_name(self, code: int) -> str:
        """Name the people with a value."""
        if code == MISSING:
            return f"{self.name} missing"
        value = self.values[code]
        is_text = isinstance(value, str) and not value[:1].isdecimal()
        return value if is_text else f"{self.name} {value}"

    def in_groups(self) -> Column:
        """Return the column with few values: numbers are cut so that parts are about equal."""
        if self.kind == "categories" or len(self.values) <= _MOST_NUMBERS_AS_GROUPS:
            return self
        numbers = np.array(self.values, dtype=np.float64)
        filled = numbers[self.codes[self.codes != MISSING]]
        shares = np.linspace(0, 1, _N_PARTS + 1)[1:-1]
        cuts = np.unique(np.quantile(filled, shares, method="inverted_cdf"))
        part = np.searchsorted(cuts, numbers, side="left")
        names = []
        for number in range(len(cuts) + 1):
            inside = numbers[part == number]
            if len(inside):
                names.append(
                    f"{inside[0]:g}" if len(inside) == 1 else f"{inside[0]:g} to {inside[-1]:g}"
                )
        _, part = np.unique(part, return_inverse=True)
        codes = np.where(self.codes == MISSING, MISSING, part[self.codes])
        return Column(self.name, "categories", tuple(names), codes)

    def check_groups(self) -> None:
        """Refuse a column that has no groups, or too many to compare."""
        if len(self.values) + self.has_missing < 2:
            raise InputError(
                f"column {quoted(self.name)} has the same value for everybody: there are no groups "
                "to compare"
            )
        if len(self.values) > _MOST_VALUES:
            raise InputError(
                f"column {quoted(self.name)} has {counted(len(self.values), 'different value')}, "
                f"more than the {_MOST_VALUES} that are compared: put values together, or name "
                "another column"
            )


def find_columns(
    rankings: Rankings, names: str | Iterable[str], taker: str, argument: str = "by"
) -> list[Column]:
    """Return columns of what is known of people, by name.

    Parameters
    ----------
    rankings
        The answers.
    names
        The name of a column, or several.
    taker, argument
        The function that asks, and which of its arguments names the columns, for messages.
    """
    given = [names] if isinstance(names, str) else list(check_iterable(argument, names, "names"))
    if not given:
        raise InputError(f"{taker} needs the name of a column: say {argument}=")
    if rankings.people is None:
        raise InputError(
            f"{taker} needs to know something of people, and the data hold rankings only: read a "
            "table that has more columns, or add some with Rankings.with_people"
        )
    for name in given:
        if name not in rankings.people.column_names:
            there = ", ".join(quoted(one) for one in rankings.people.column_names)
            raise InputError(
                f"there is no column {quoted(name)} for {argument}=: what is known is {there}"
            )
    if len(set(given)) < len(given):
        raise InputError(f"{argument}= names a column twice: name each once")
    return [_column(name, rankings.people.column(name)) for name in given]


def _column(name: str, column: Any) -> Column:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    cells = column.to_pylist()
    values = sorted({cell for cell in cells if cell is not None}, key=None if numeric else str)
    number_of = {value: number for number, value in enumerate(values)}
    codes = np.array([MISSING if one is None else number_of[one] for one in cells], dtype=np.int64)
    return Column(name, "numbers" if numeric else "categories", tuple(values), codes)
