"""Columns about people, such as region and age: numbers or categories.

Columns are kept as in the file and cleaned on demand: cells without information become missing, and
a column whose other cells are all numbers becomes numeric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_iterable
from tierwise.errors import InputError, counted, instead, quoted, use
from tierwise.files.cells import ABSENT, encode, read_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from tierwise.data.rankings import Rankings

_Integers = NDArray[np.int64]

MISSING = -1
# Numbers with more values than this are cut into groups of about equal size.
_MOST_NUMBERS_AS_GROUPS = 8
_N_PARTS = 4
_MOST_VALUES = 60
# How spreadsheets and R write that a cell has no value.
_UNSAID = ("", "na", "n/a", "nan", "null")


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
        The number of the value in each row; ``MISSING`` if there is none.
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
        """Return the column with few values: numbers are cut into about equal parts."""
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
                f"column {quoted(self.name)} has the same value for everybody: choose a column "
                "that divides people into groups"
            )
        if len(self.values) > _MOST_VALUES:
            raise InputError(
                f"column {quoted(self.name)} has {counted(len(self.values), 'different value')}, "
                f"more than the limit of {_MOST_VALUES}: combine values, or choose another column"
            )


def find_columns(
    rankings: Rankings, names: str | Iterable[str], taker: str, argument: str = "by"
) -> list[Column]:
    """Return columns about people, by name.

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
        raise InputError(
            f"{taker} needs the name of a column", [use("to name it", **{argument: ...})]
        )
    if rankings.people is None:
        raise InputError(
            "the data hold only rankings, and no columns about people",
            [
                "read a table with more columns",
                instead("Rankings.with_people", "to add columns"),
            ],
        )
    for name in given:
        if name not in rankings.people.column_names:
            there = ", ".join(quoted(one) for one in rankings.people.column_names)
            raise InputError(
                f"there is no column {quoted(name)} for {argument}: the columns about people "
                f"are {there}"
            )
    if len(set(given)) < len(given):
        raise InputError(
            f"{argument} names column {quoted(max(given, key=given.count))} twice: name each once"
        )
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


def tidy_people(table: pa.Table | None) -> pa.Table | None:
    """Make missing what says nothing, and numbers what are numbers; empty columns are left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> tidy_people(pa.table({"age": ["34", "NA"], "zip": ["01067", "10115"]})).to_pydict()
    {'age': [34, None], 'zip': ['01067', '10115']}
    """
    if table is None:
        return None
    import pyarrow as pa

    tidy = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        made = _tidy_column(column)
        if made.null_count < len(made):
            tidy[name] = made
    return pa.table(tidy) if tidy else None


def _tidy_column(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(column.cast(kind)), None, column.cast(kind))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    codes, labels = encode(column)
    said: list[Any] = [
        None if label is None or label.strip().casefold() in _UNSAID else label for label in labels
    ]
    numbers = [None if label is None else _as_number(label) for label in said]
    if all(number is not None for number, label in zip(numbers, said, strict=True) if label):
        said = numbers
        if all(number is None or float(number).is_integer() for number in numbers):
            said = [None if number is None else int(number) for number in numbers]
    values = pa.array([*said, None])
    return values.take(pa.array(np.where(codes == ABSENT, len(said), codes)))


def _as_number(label: str) -> float | None:
    """Read a cell as a number; a code such as 007 is none."""
    text = label.strip()
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdecimal():
        return None
    number = read_number(text)
    return None if number is None or abs(number) >= 2**53 else number


def join_people(parts: Sequence[tuple[pa.Table | None, int]]) -> pa.Table | None:
    """Put tables below each other, each with its number of rows; what a part lacks is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> join_people([(pa.table({"age": [34]}), 1), (None, 1)]).to_pydict()
    {'age': [34, None]}
    """
    import pyarrow as pa

    names = list(dict.fromkeys(name for part, _ in parts if part for name in part.column_names))
    if not names:
        return None
    joined = {}
    for name in names:
        columns = [
            part.column(name).combine_chunks()
            if part is not None and name in part.column_names
            else pa.nulls(n_rows)
            for part, n_rows in parts
        ]
        kinds = {column.type for column in columns if not pa.types.is_null(column.type)}
        if len(kinds) == 1:
            kind = kinds.pop()
        elif all(pa.types.is_integer(one) or pa.types.is_floating(one) for one in kinds):
            kind = pa.float64()
        else:
            kind = pa.string()
        joined[name] = pa.chunked_array([column.cast(kind) for column in columns])
    return pa.table(joined)
