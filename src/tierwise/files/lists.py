"""Cells that hold a whole ranking, ``tea;coffee;milk;``, as one column per place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tierwise._util.types import Item
from tierwise.files.cells import encode
from tierwise.files.options import TableOptions
from tierwise.files.titles import place_in_title

if TYPE_CHECKING:
    import pyarrow as pa

_MARKS = (";", "|", ">", ",")


def unfold_lists(
    columns: tuple[str, ...], table: "pa.Table", options: TableOptions
) -> tuple[tuple[str, ...], "pa.Table"]:
    """Give every place of a listed ranking its own column; other columns stay as they are.

    A column holds rankings if all its cells list the same items, in whatever order, or only items
    that the user names.
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
    if len(unfolded) == len(columns):
        return columns, table
    import pyarrow as pa

    return tuple(unfolded), pa.table(unfolded)


def _rankings(
    column: "pa.ChunkedArray", items: Sequence[Item] | None
) -> list[tuple[str, ...]] | None:
    """Return what the cells of a column list; None if they are not all lists of the items."""
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
        if len(known) > 1 and all(_lists(found, known, items) for found in lists.values()):
            return [lists[code] if code >= 0 else () for code in codes.tolist()]
    return None


def _split(label: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in label.split(mark) if part.strip())


def _lists(found: tuple[str, ...], known: set[str], items: Sequence[Item] | None) -> bool:
    """Tell whether a list names items, each once, and all of them unless the user names them."""
    once = len(set(found)) == len(found)
    return once and (
        set(found) == known if items is None else len(found) > 0 and set(found) <= known
    )
