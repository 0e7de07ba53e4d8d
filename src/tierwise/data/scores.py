"""read_scores: rankings from a table of scores, one ranking per task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from tierwise._util.checks import check_choice
from tierwise.data.rankings import Rankings
from tierwise.data.read import open_table_file
from tierwise.files.scores import Better, Decimal, long_scores, wide_scores
from tierwise.files.source import errors_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tierwise._util.types import Item
    from tierwise.files.source import Readable


def read_scores(
    path: Readable,
    better: Better,
    *,
    format: Literal["auto", "csv", "parquet", "jsonl", "xlsx"] = "auto",  # noqa: A002
    layout: Literal["wide", "long"] = "wide",
    items: str | Iterable[Item] | None = None,
    tolerance: float = 0.0,
    decimal: Decimal | None = None,
    task: str | None = None,
    item: str | None = None,
    score: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Rankings:
    r"""Read a table of scores as rankings: one for each task, or judge.

    Only the order within a task counts, so that tasks may have scales of their own.

    Parameters
    ----------
    path
        A file's name, or an open file.
    better
        Which scores are better: "higher" or "lower".
    format
        "csv", "parquet", "jsonl" or "xlsx"; "auto" tells it from the name or the first bytes.
    layout
        "wide" has one row per task and one column per item; "long" has one row per task and item.
    items
        For "wide": the columns that are items. Otherwise all columns of numbers are.
    tolerance
        Scores no further than this from the best of a group are tied with it.
    decimal
        Whether "," or "." stands before the decimals, where "1,234" leaves that open. The other one
        then separates thousands.
    task, item, score
        For "long": the columns, where their names do not tell.
    encoding, sheet
        As for `read_rankings`.

    Notes
    -----
    Equal scores are ties. An empty cell (or NA, or -) says that the item was not tried: it may be
    anywhere.

    Examples
    --------
    >>> from io import StringIO
    >>> table = StringIO("task,x,y,z\nsort,0.91,0.85,0.91\nsearch,0.40,0.45,\n")
    >>> read_scores(table, "higher")
    Rankings(2 rankings of 3 items, 1 incomplete: not listed = anywhere, 1 with ties)
    """
    check_choice("better", better, get_args(Better))
    check_choice("layout", layout, ("wide", "long"))
    check_choice("decimal", decimal, (*get_args(Decimal), None))
    source, table_file = open_table_file(path, format, encoding, sheet)
    with errors_name(source.name):
        table, names = table_file.read(), table_file.columns
        if layout == "long":
            known, scores = long_scores(
                names, table, (task, item, score), decimal, table_file.name_row
            )
        else:
            wanted = items.split(",") if isinstance(items, str) else items
            wanted = (
                None
                if wanted is None
                else [one.strip() if isinstance(one, str) else one for one in wanted]
            )
            known, scores = wide_scores(names, table, wanted, decimal, table_file.name_row)
        return Rankings.from_scores(scores, better, known, tolerance=tolerance)
