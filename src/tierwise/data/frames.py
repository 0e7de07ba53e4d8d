"""Data frames in and out: pandas, polars, and whatever else narwhals knows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice
from tierwise._util.types import Item, item_coordinate, numbered_row
from tierwise.errors import InputError, quoted, use
from tierwise.files.cells import numbers

if TYPE_CHECKING:
    from xarray import DataArray

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Column: TypeAlias = "Iterable[Any] | NDArray[Any]"


def make_frame(columns: Mapping[str, Column], backend: Backend = "pandas") -> Any:
    """Make a data frame of the library that the user works with.

    Parameters
    ----------
    columns
        The columns by name.
    backend
        The library: "pandas", "polars" or "pyarrow".

    Examples
    --------
    >>> make_frame({"item": ["a", "b"], "tier": [1, 2]}, "pyarrow").to_pydict()
    {'item': ['a', 'b'], 'tier': [1, 2]}
    >>> make_frame({"item": ["a", 2]}, "pyarrow").to_pydict()
    {'item': ['a', '2']}
    """
    from importlib.util import find_spec

    import narwhals as nw

    check_choice("backend", backend, get_args(Backend))
    if find_spec(backend) is None:
        raise InputError(
            f"{backend} is not installed",
            ["install it", *(use(backend=name) for name in get_args(Backend) if name != backend)],
        )
    of_one_kind = {name: _of_one_kind(column) for name, column in columns.items()}
    return nw.from_dict(of_one_kind, backend=backend).to_native()


def _of_one_kind(column: Column) -> Column:
    """Return a column as all libraries can hold it: numbers of several kinds become floats.

    Names of several kinds become text.
    """
    if isinstance(column, np.ndarray):
        return column
    cells = list(column)
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) < 2:
        return cells
    if all(issubclass(kind, Real) for kind in kinds):
        return [None if cell is None else float(cell) for cell in cells]
    return [None if cell is None else str(cell) for cell in cells]


def table_of_items(
    items: Iterable[Item], values: NDArray[Any], column: str, labels: Any
) -> "DataArray":
    """Make a labelled table with one row per item.

    Examples
    --------
    >>> table_of_items(["a", "b"], np.eye(2), "tier", [1, 2]).sel(item="b", tier=2).item()
    1.0
    """
    from xarray import DataArray

    coordinates = {"item": item_coordinate(items), column: labels}
    return DataArray(values, dims=("item", column), coords=coordinates)


def numeric_columns(frame: Any) -> tuple[list[Item], NDArray[np.float64]]:
    """Return the names of a data frame's columns and its values, NaN if there is none.

    Examples
    --------
    >>> import pandas as pd
    >>> names, values = numeric_columns(pd.DataFrame({"a": [1, 2], "b": [2, None]}))
    >>> names, values.tolist()
    (['a', 'b'], [[1.0, 2.0], [2.0, nan]])
    """
    names, table = arrow_table(frame)
    values = [
        numbers(column, f"the value of {quoted(name)}", numbered_row)
        for name, column in zip(names, table.columns, strict=True)
    ]
    return names, np.column_stack(values) if values else np.empty((table.num_rows, 0))


def as_arrow(frame: Any) -> Any:
    """Turn a data frame of any kind into an arrow table.

    Examples
    --------
    >>> import pandas as pd
    >>> as_arrow(pd.DataFrame({"age": [34, None]})).to_pydict()
    {'age': [34.0, None]}
    """
    names, table = arrow_table(frame)
    return table.rename_columns([str(name) for name in names])


def with_named_rows(frame: Any, columns_are: Iterable[str], rows_are: str) -> Any:
    """Return a frame of pandas whose rows have names in its index with these as columns.

    Parameters
    ----------
    frame
        A data frame of any library; only those of pandas have an index.
    columns_are
        Names of the columns' own axis that say what the rows are, which may have no name.
    rows_are
        What the rows are called then.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [1], "y": [2]}, index=pd.Index(["iris"], name="data set"))
    >>> with_named_rows(frame, (), "").columns.tolist()
    ['data set', 'x', 'y']
    """
    index: Any = getattr(frame, "index", None)
    if not hasattr(frame, "reset_index") or not hasattr(index, "nlevels"):
        return frame
    if index.nlevels == 1 and (index.inferred_type != "string" or index.name in frame.columns):
        return frame
    if index.nlevels == 1 and index.name is None:
        named = str(frame.columns.name).casefold() in columns_are
        frame = frame.rename_axis(rows_are if named else "index")
    plain = frame.reset_index()
    plain.columns.name = None
    return plain


def arrow_table(frame: Any) -> tuple[list[Item], Any]:
    """Turn a data frame into an arrow table and its names, which need not be text."""
    import narwhals as nw
    import pyarrow as pa

    try:
        wrapped = nw.from_native(frame, eager_only=True)
        names = list(wrapped.columns)
    except nw.exceptions.DuplicateError:
        called = Counter(getattr(frame, "column_names", frame.columns)).most_common(1)[0][0]
        raise InputError(
            f"column {quoted(called)} occurs twice: give each column its own name"
        ) from None
    except TypeError:
        raise InputError(
            f"a {type(frame).__name__} is not a data frame in memory: use one of pandas, polars "
            "or pyarrow (collect a lazy frame first)"
        ) from None
    columns = []
    for name in names:
        try:
            columns.append(pa.chunked_array([wrapped.get_column(name).to_arrow()]))
        except (pa.ArrowException, TypeError, OverflowError):
            raise InputError(
                f"column {quoted(name)} mixes text and numbers: make all cells text or all numbers"
            ) from None
    labels = [str(position) for position in range(len(columns))]
    return names, pa.table(columns, names=labels)
