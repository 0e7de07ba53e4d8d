"""Write rankings to files that `read_rankings` reads back."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from unicodedata import category

import numpy as np

from tierwise._util.checks import check_choice, check_path
from tierwise._util.resources import whole_file
from tierwise._util.types import NOT_LISTED
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, quoted, use
from tierwise.files.source import format_of_suffix

if TYPE_CHECKING:
    from os import PathLike

    from tierwise.data.scan import RankingScan

WrittenFormat: TypeAlias = Literal["auto", "csv", "parquet", "preflib"]
WrittenLayout: TypeAlias = Literal["orderings", "ranks", "long"]

_UNWRITABLE = ("Cc", "Cs")  # control characters, and halves of characters that UTF-8 cannot hold


def write_rankings(
    data: Rankings | RankingScan,
    path: str | PathLike[str],
    *,
    format: WrittenFormat = "auto",  # noqa: A002 - the word users look for
    layout: WrittenLayout = "orderings",
) -> None:
    """Write rankings to a file. A failure leaves no partial file.

    Parameters
    ----------
    data
        The rankings. Weights are written if any of them is not 1.
    path
        The file; an existing file is replaced.
    format
        "csv", "parquet" or "preflib". "auto" uses the extension.
    layout
        How a CSV or Parquet table is laid out: "orderings" (one column per place; no ties),
        "ranks" (one column per item) or "long" (columns assessor, item and rank).

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from tierwise import read_rankings
    >>> rankings = Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[3, 1])
    >>> with TemporaryDirectory() as folder:
    ...     write_rankings(rankings, folder + "/answers.csv")
    ...     read_rankings(folder + "/answers.csv") == rankings
    True
    """
    rankings = check_data(data, "write_rankings", Rankings)
    check_choice("format", format, get_args(WrittenFormat))
    check_choice("layout", layout, get_args(WrittenLayout))
    check_path(path)
    chosen = format_of_suffix(str(path)) if format == "auto" else format
    if chosen not in get_args(WrittenFormat):
        raise InputError(
            f"{Path(path).name} has no extension that names a format",
            [
                "end it in .csv, .parquet, .soc, .soi, .toc or .toi",
                *(use(format=known) for known in ("csv", "parquet", "preflib")),
            ],
        )
    names = _names(rankings)
    empty = (rankings.patterns == NOT_LISTED).all(axis=1)
    if empty.any():
        row = int(np.argmax(empty[rankings.pattern_of]))
        raise InputError(
            f"row {row + 1} lists no item, which a file cannot represent: leave it out"
        )
    with whole_file(path) as partial:
        if chosen == "preflib":
            _write_preflib(rankings, names, partial, Path(path).name)
            return
        columns = _columns(rankings, names, layout)
        if chosen == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table(columns), partial)
        else:
            with partial.open("w", encoding="utf-8", newline="") as file:
                _write_csv(columns, file)


def write_csv(rankings: Rankings, file: IO[str], layout: WrittenLayout = "orderings") -> None:
    """Write rankings as CSV to an open file, such as standard output.

    Examples
    --------
    >>> import sys
    >>> write_csv(Rankings.from_orderings([["a", "b"]]), sys.stdout)
    place 1,place 2
    a,b
    """
    _write_csv(_columns(rankings, _names(rankings), layout), file)


def _names(rankings: Rankings) -> list[Any]:
    """Return the items as a file can hold them: whole numbers, or text that survives reading."""
    if all(type(item) is int for item in rankings.items):
        return list(rankings.items)
    names = [str(item) for item in rankings.items]
    for name in names:
        if not name or name != name.strip() or any(category(mark) in _UNWRITABLE for mark in name):
            raise InputError(
                f"item {quoted(name)} cannot be written to a file, because names must not be "
                "empty, begin or end with a space, or contain control characters such as "
                "line breaks: rename it"
            )
    if len(set(names)) != len(names):
        raise InputError("two items have the same name once written as text: rename one")
    return names


def _columns(rankings: Rankings, names: list[Any], layout: WrittenLayout) -> dict[str, list[Any]]:
    """Lay rankings out as the columns of a table; None is an empty cell."""
    weights = rankings.weights.tolist()
    places = rankings.patterns[rankings.pattern_of]
    columns: dict[str, list[Any]]
    if layout == "long":
        row_of, item_of = np.nonzero(places != NOT_LISTED)
        columns = {
            "assessor": (row_of + 1).tolist(),
            "item": [names[item] for item in item_of.tolist()],
            "rank": (places[row_of, item_of] + 1).tolist(),
        }
        weights = rankings.weights[row_of].tolist()
    elif layout == "ranks":
        columns = {
            str(name): [place + 1 if place != NOT_LISTED else None for place in column.tolist()]
            for name, column in zip(names, places.T, strict=True)
        }
    else:
        columns = _columns_of_places(rankings, names)
    if (rankings.weights != 1).any():
        if "weight" in columns:
            raise InputError(
                'an item is named "weight", like the column of weights: rename the item'
            )
        columns["weight"] = weights
    return columns


def _columns_of_places(rankings: Rankings, names: list[Any]) -> dict[str, list[Any]]:
    if rankings.has_ties:
        raise InputError(
            "a table of orderings cannot hold ties", [use(layout="ranks"), use(layout="long")]
        )
    n_items = len(names)
    item_at = np.full((len(rankings.patterns), n_items + 1), n_items)
    rows = np.arange(len(item_at))[:, None]
    # Items that are not listed have the place -1, a column that is cut off again.
    item_at[rows, rankings.patterns] = np.arange(n_items)
    cells = np.array([*names, None], dtype=object)[item_at[rankings.pattern_of, :n_items]]
    longest = int((rankings.patterns != NOT_LISTED).sum(axis=1).max())
    return {f"place {place + 1}": cells[:, place].tolist() for place in range(longest)}


def _write_csv(columns: dict[str, list[Any]], file: IO[str]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def _write_preflib(rankings: Rankings, names: list[Any], path: Path, file_name: str) -> None:
    if rankings.weights.dtype.kind != "i":
        raise InputError(
            "PrefLib counts voters in whole numbers, but some weights are not whole: use CSV"
        )
    kind = ("t" if rankings.has_ties else "s") + "o" + ("c" if rankings.unranked is None else "i")
    number_of = {item: number for number, item in enumerate(rankings.items, start=1)}
    header = [
        f"FILE NAME: {file_name}",
        f"DATA TYPE: {kind}",
        f"NUMBER ALTERNATIVES: {len(names)}",
        f"NUMBER VOTERS: {rankings.n_rankings}",
        f"NUMBER UNIQUE ORDERS: {len(rankings.patterns)}",
        *(f"ALTERNATIVE NAME {number}: {name}" for number, name in enumerate(names, start=1)),
    ]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"# {line}\n" for line in header)
        for weight, row in zip(rankings.weights.tolist(), rankings.to_orderings(), strict=True):
            order = ",".join(
                "{" + ",".join(str(number_of[item]) for item in entry) + "}"
                if isinstance(entry, list)
                else str(number_of[entry])
                for entry in row
            )
            file.write(f"{weight}: {order}\n")
