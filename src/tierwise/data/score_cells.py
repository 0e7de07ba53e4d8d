"""Cells of tables of scores as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.names import split_names
from tierwise.data.score_table import (
    Grid,
    is_numeric,
)
from tierwise.errors import InputError, quoted, use
from tierwise.files.cells import (
    Decimal,
    check_cells,
    encode,
    first_rows,
    read_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tierwise._util.types import Item, RowNamer


_Floats = NDArray[np.float64]

_EMPTY = frozenset({"", "-", "na", "nan", "n/a", "none", "null"})


def grid_of(names: Sequence[Item], table: Any, name_row: RowNamer) -> Grid:
    """Return a table with the columns that hold numbers marked."""
    numeric = (
        column
        for column in range(len(names))
        if is_numeric(table.column(column), _may_be_number, _is_empty)
    )
    return Grid(names, table, name_row, tuple(numeric))


def _may_be_number(label: str) -> bool:
    return any(_parsed(label, decimal)[0] is not None for decimal in (None, *get_args(Decimal)))


def as_list(names: str | Iterable[Any] | None) -> list[Any] | None:
    """Return names as people give them: a list, or one text with commas."""
    parts = split_names(names) if isinstance(names, str) else names
    if parts is None:
        return None
    return [one.strip() if isinstance(one, str) else one for one in parts]


def _is_empty(label: Any) -> bool:
    if isinstance(label, float) and np.isnan(label):
        return True
    return label is None or (isinstance(label, str) and label.strip().casefold() in _EMPTY)


def read_numbers(
    column: Any, name: Any, decimal: Decimal | None, name_row: RowNamer
) -> tuple[_Floats, bool | None]:
    """Return a column as numbers, and whether they have percent signs; None if it is empty."""
    codes, labels = encode(check_cells(name, column))
    values = np.full(len(labels) + 1, np.nan)
    signs: set[bool] = set()
    rows = first_rows(codes, len(labels))
    for code, label in enumerate(labels):
        if _is_empty(label) or rows[code] >= len(codes):
            continue
        try:
            values[code], percent = _number(label, decimal)
        except InputError as error:
            raise error.within(
                f"{name_row(int(rows[code]))}: the score of {quoted(name)} "
            ) from None
        signs.add(percent)
    if len(signs) > 1:
        raise InputError(
            f"column {quoted(name)} has scores with and without a percent sign: write all "
            "scores in the same way"
        )
    return values[codes], next(iter(signs), None)


def _number(label: Any, decimal: Decimal | None) -> tuple[float, bool]:
    if isinstance(label, bool) or not isinstance(label, str | int | float):
        raise InputError(f"is {quoted(label)}, which is not a number: correct the cell")
    if not isinstance(label, str):
        if not np.isfinite(label):
            raise InputError(f"is {label}: scores must be finite")
        return float(label), False
    number, percent = _parsed(label, decimal)
    if number is not None:
        return number, percent
    if decimal is None and _parsed(label, ".")[0] is not None:
        raise InputError(
            f"is {quoted(label)}, which may have a decimal comma or a thousands separator",
            [
                use("if the comma is the decimal separator", decimal=","),
                use("if the point is", decimal="."),
            ],
        )
    raise InputError(f"is {quoted(label)}, which is not a number: correct the cell, or empty it")


def _parsed(label: str, decimal: Decimal | None) -> tuple[float | None, bool]:
    """Return the number in a cell, if there is one, and whether it has a percent sign."""
    text = label.strip()
    return read_number(text.removesuffix("%"), decimal), text.endswith("%")
