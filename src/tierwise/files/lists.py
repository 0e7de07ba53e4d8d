"""Cells that hold a whole ranking, ``tea;coffee;milk;``, as one column per place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import Item, numbered_row
from tierwise.errors import InputError
from tierwise.files.cells import can_be_encoded, encode, numbers, share_of_numbers
from tierwise.files.options import TableOptions
from tierwise.files.screening import are_strict_rankings, screen_ranks
from tierwise.files.titles import place_in_title
from tierwise.files.wide import SAMPLE_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

_MARKS = (";", "|", ">", ",")


def unfold_lists(
    columns: tuple[str, ...], table: "pa.Table", options: TableOptions
) -> tuple[tuple[str, ...], "pa.Table"]:
    """Give every place of a listed ranking its own column; other columns stay as they are.

    A column holds rankings if all its cells list the same items, in different orders, or only items
    that the user names. Where other columns hold ranks, lists are remarks.
    """
    plain = options.layout in ("auto", "orderings") and options.scores is None
    if not plain or options.item is not None or options.rank is not None:
        return columns, table
    if sum(1 for name in columns if place_in_title(name)) > 1:
        return columns, table
    unfolded: dict[str, Any] = {}
    for column, name in enumerate(columns):
        rankings = _rankings(table.column(column), options.items)
        if rankings is None:
            unfolded[name] = table.column(column)
            continue
        n_places = max(map(len, rankings))
        for place in range(n_places):
            cells = [ranking[place] if place < len(ranking) else None for ranking in rankings]
            unfolded[f"{name} [place {place + 1}]"] = cells
    if len(unfolded) == len(columns) or _hold_ranks(table):
        return columns, table
    import pyarrow as pa

    return tuple(unfolded), pa.table(unfolded)


def _rankings(
    column: "pa.ChunkedArray", items: Sequence[Item] | None
) -> list[tuple[str, ...]] | None:
    """Return what the cells of a column list; None if they are not all lists of the items."""
    if not can_be_encoded(column):
        return None
    codes, labels = encode(column)
    used = sorted({code for code in codes.tolist() if code >= 0})
    if not used or not all(isinstance(labels[code], str) for code in used):
        return None
    for mark in _MARKS:
        if mark not in labels[used[0]]:
            continue
        lists = {code: _split(labels[code], mark) for code in used}
        known = set(lists[used[0]]) if items is None else {str(item) for item in items}
        if all(part.replace(".", "").isdecimal() for part in known):
            continue
        if items is None and len(used) == 1 and len(codes) > 1:
            continue  # a remark that everybody makes
        if len(known) > 1 and all(_lists(found, known, items) for found in lists.values()):
            return [lists[code] if code >= 0 else () for code in codes.tolist()]
    return None


def _hold_ranks(table: "pa.Table") -> bool:
    """Tell whether some columns of a table are ranks."""
    sample = table.slice(0, SAMPLE_ROWS)
    columns = [column for column in sample.columns if can_be_encoded(column)]
    numeric = [column for column in columns if share_of_numbers([column]) == 1]
    if len(numeric) < 2:
        return False
    values = np.column_stack([numbers(column, "the rank", numbered_row) for column in numeric])
    names = [str(number) for number in range(len(numeric))]
    try:
        screened = screen_ranks(values, names, "error", said=False)
    except InputError:
        return False
    kept = values[:, screened.kept]
    return len(screened.kept) > 1 and are_strict_rankings(kept)


def _split(label: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in label.split(mark) if part.strip())


def _lists(found: tuple[str, ...], known: set[str], items: Sequence[Item] | None) -> bool:
    """Tell whether a list names items, each once, and all of them unless the user names them."""
    once = len(set(found)) == len(found)
    return once and (
        set(found) == known if items is None else len(found) > 0 and set(found) <= known
    )
