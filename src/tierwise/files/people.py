"""What a table says of people besides their rankings: the columns that are no part of the answers.

They are kept as the file holds them, and made tidy when somebody asks: cells that say nothing are
missing, and columns in which all others are numbers are numbers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import Item
from tierwise.files.cells import ABSENT, encode

if TYPE_CHECKING:
    import pyarrow as pa

    from tierwise.files.layouts import Roles

# How spreadsheets and R write that a cell has no value.
_MISSING = ("", "na", "n/a", "nan", "null")


def columns_of_people(
    table: "pa.Table",
    columns: Sequence[Item],
    roles: "Roles",
    answer_of: NDArray[np.int64] | None = None,
) -> "pa.Table | None":
    """Return the columns that hold neither answers nor weights, one row per answer.

    Parameters
    ----------
    table
        The table that was read.
    columns
        What its columns are called.
    roles
        What they are for.
    answer_of
        The answer that each row belongs to, if answers have several rows. Of such a table only
        columns are kept that say the same in all rows of an answer.
    """
    taken = {*roles.cells, roles.weights, roles.item, roles.rank}
    kept = {
        str(columns[number]).strip(): table.column(number)
        for number in range(len(columns))
        if number not in taken
    }
    if answer_of is not None:
        _, first = np.unique(answer_of, return_index=True)
        kept = {
            name: column.take(first)
            for name, column in kept.items()
            if _is_constant(column, first, answer_of)
        }
    if not kept:
        return None
    import pyarrow as pa

    return pa.table(kept)


def _is_constant(
    column: "pa.ChunkedArray", first: NDArray[np.int64], answer_of: NDArray[np.int64]
) -> bool:
    """Tell whether a column says the same in all rows of each answer."""
    codes, _ = encode(column)
    return bool((codes == codes[first][answer_of]).all())


def tidy_people(table: "pa.Table | None") -> "pa.Table | None":
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


def _tidy_column(column: "pa.ChunkedArray") -> "pa.ChunkedArray | pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(column.cast(kind)), None, column.cast(kind))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    codes, labels = encode(column)
    said: list[Any] = [
        None if label is None or label.strip().casefold() in _MISSING else label for label in labels
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
    try:
        number = float(text.replace(",", ".") if text.count(",") == 1 else text)
    except ValueError:
        return None
    return number if np.isfinite(number) and abs(number) < 2**53 else None


def join_people(parts: "Sequence[tuple[pa.Table | None, int]]") -> "pa.Table | None":
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
