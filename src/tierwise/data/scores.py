"""Rankings from tables of scores, one ranking per task.

A table has one column per item, or one row per item and task. Only the order of scores within a
task counts, so tasks may have scales of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice
from tierwise.data.rankings import Rankings
from tierwise.data.tables import open_table
from tierwise.errors import InputError, quoted, use
from tierwise.files.cells import (
    ABSENT,
    Decimal,
    can_be_encoded,
    check_cells,
    encode,
    first_rows,
    read_number,
)
from tierwise.files.layouts import NAMES_OF_ROLES
from tierwise.files.options import Aside, Better, ReadingNotes
from tierwise.files.source import errors_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tierwise._util.types import Item, RowNamer
    from tierwise.data.tables import DataSource
    from tierwise.files.table_file import TableFile

_Floats = NDArray[np.float64]

_EMPTY = frozenset({"", "-", "na", "nan", "n/a", "none", "null"})
# Columns of numbers that are seldom items.
_NO_ITEMS = frozenset({"average", "avg", "mean", "median", "total", "sum", "rank", "id", "#", "n"})
_TASKS = ("task", "dataset", "benchmark", "judge", "assessor", "prompt", "question")
_ITEMS = ("item", "model", "system", "method", "name", "player")
_SCORES = ("score", "value", "result", "accuracy", "points")

ScoresLayout: TypeAlias = Literal["auto", "wide", "long"]
"""One row per task and one column per item, or one row per task and item."""


def read_scores(
    source: DataSource,
    better: Better,
    *,
    format: Literal["auto", "csv", "parquet", "jsonl", "xlsx"] = "auto",  # noqa: A002
    layout: ScoresLayout = "auto",
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
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    better
        Which scores are better: "higher" or "lower".
    format
        "csv", "parquet", "jsonl" or "xlsx"; "auto" tells it from the name or the first bytes.
    layout
        "wide" has one row per task and one column per item; "long" has one row per task and item.
        "auto" is long where there are columns for all three: task, item and score.
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
    name, table = open_table(source, format, encoding, sheet)
    with errors_name(name):
        return scores_of(
            table,
            better,
            layout=layout,
            items=items,
            tolerance=tolerance,
            decimal=decimal,
            task=task,
            item=item,
            score=score,
        )


def scores_of(
    table: TableFile,
    better: Better,
    *,
    layout: ScoresLayout = "auto",
    items: str | Iterable[Item] | None = None,
    tolerance: float = 0.0,
    decimal: Decimal | None = None,
    task: str | None = None,
    item: str | None = None,
    score: str | None = None,
) -> Rankings:
    """Read the scores of a table as rankings, with notes of how it was understood."""
    check_choice("better", better, get_args(Better))
    check_choice("layout", layout, get_args(ScoresLayout))
    check_choice("decimal", decimal, (*get_args(Decimal), None))
    names, cells = table.columns, table.read()
    said = (task, item, score)
    if layout == "long" or (layout == "auto" and items is None and are_long_scores(names, said)):
        roles = _long_roles(names, said)
        known, scores = long_scores(names, cells, roles, decimal, table.name_row)
        columns, how = [names[role] for role in roles], "long scores"
    else:
        wanted = items.split(",") if isinstance(items, str) else items
        wanted = (
            None
            if wanted is None
            else [one.strip() if isinstance(one, str) else one for one in wanted]
        )
        known, scores = wide_scores(names, cells, wanted, decimal, table.name_row)
        columns, how = list(known), "scores"
    rankings = Rankings.from_scores(scores, better, known, tolerance=tolerance)
    notes = ReadingNotes(
        layout=how,
        columns=tuple(map(str, columns)),
        aside=tuple(
            Aside(str(name), "is not among the scores") for name in names if name not in columns
        ),
        n_answers=len(rankings),
    )
    rankings.reading = notes.about(table.form)
    return rankings


def are_long_scores(
    names: Sequence[Item], said: tuple[str | None, str | None, str | None] = (None, None, None)
) -> bool:
    """Tell whether there are columns for task, item and score, and none for ranks.

    Examples
    --------
    >>> are_long_scores(["task", "model", "score"]), are_long_scores(["task", "x", "y"])
    (True, False)
    """
    lower = {str(name).strip().casefold() for name in names}
    if lower & set(NAMES_OF_ROLES["rank"]):
        return False
    return all(
        column is not None or lower & set(words)
        for column, words in zip(said, (_TASKS, _ITEMS, _SCORES), strict=True)
    )


def wide_scores(
    names: Sequence[Any],
    table: Any,
    items: Iterable[Any] | None,
    decimal: Decimal | None,
    name_row: RowNamer,
) -> tuple[tuple[Any, ...], _Floats]:
    """Return items and scores of a table with one column per item.

    Columns of text are set aside, unless they are named as items.
    """
    if items is None:
        kept = [place for place in range(len(names)) if _mostly_numbers(table.column(place))]
        doubtful = [names[place] for place in kept if str(names[place]).casefold() in _NO_ITEMS]
        if doubtful:
            raise InputError(
                f"column {quoted(doubtful[0])} may not be an item",
                [
                    use(
                        "if it is not",
                        items=[str(names[one]) for one in kept if names[one] not in doubtful],
                    ),
                    use("if it is", items=[str(names[one]) for one in kept]),
                ],
            )
    else:
        wanted = list(items)
        missing = [item for item in wanted if item not in names]
        if missing:
            raise InputError(
                f"there is no column {quoted(missing[0])}: the columns are "
                f"{', '.join(quoted(name) for name in names)}"
            )
        kept = [list(names).index(item) for item in wanted]
    if len(kept) < 2:
        raise InputError(
            "fewer than two columns of numbers were found, and a table of scores has one row per "
            "task and one column per item",
            [use("if it has one row per task and item", layout="long")],
        )
    columns = [_numbers(table.column(place), names[place], decimal, name_row) for place in kept]
    percent = [has_percent for _, has_percent in columns if has_percent is not None]
    if len(set(percent)) > 1:
        raise InputError(
            "some columns have percent signs and others have none: write all scores in one way"
        )
    return tuple(names[place] for place in kept), np.column_stack([one for one, _ in columns])


def long_scores(
    names: Sequence[Item],
    table: Any,
    roles: tuple[int, int, int],
    decimal: Decimal | None,
    name_row: RowNamer,
) -> tuple[tuple[Any, ...], _Floats]:
    """Return items and scores of a table with one row per task and item.

    Parameters
    ----------
    names, table, decimal, name_row
        As for `wide_scores`.
    roles
        The columns of task, item and score.
    """
    task, item, score = roles
    task_codes, task_labels = encode(check_cells(names[task], table.column(task)))
    item_codes, item_labels = encode(check_cells(names[item], table.column(item)))
    for codes, what in ((task_codes, "task"), (item_codes, "item")):
        if (codes == ABSENT).any():
            row = int((codes == ABSENT).argmax())
            raise InputError(f"{name_row(row)}: the {what} is missing: fill the cell")
    values, _ = _numbers(table.column(score), names[score], decimal, name_row)
    cells = task_codes.astype(np.int64) * len(item_labels) + item_codes
    _, first, counts = np.unique(cells, return_index=True, return_counts=True)
    if (counts > 1).any():
        cell = cells[first[int((counts > 1).argmax())]]
        row = int(np.flatnonzero(cells == cell)[1])
        raise InputError(
            f"{name_row(row)}: {quoted(item_labels[item_codes[row]])} has a second score on "
            f"{quoted(task_labels[task_codes[row]])}: keep one of them"
        )
    scores = np.full(len(task_labels) * len(item_labels), np.nan)
    scores[cells] = values
    return tuple(item_labels), scores.reshape(len(task_labels), len(item_labels))


def _long_roles(
    names: Sequence[Item], said: tuple[str | None, str | None, str | None]
) -> tuple[int, int, int]:
    """Find the columns of task, item and score, of which the user may name some."""
    task, item, score = said
    return (
        _column(names, task, _TASKS, "task"),
        _column(names, item, _ITEMS, "item"),
        _column(names, score, _SCORES, "score"),
    )


def _column(names: Sequence[Item], said: str | None, words: Sequence[str], what: str) -> int:
    lower = [str(name).casefold() for name in names]
    if said is not None:
        if said not in names:
            raise InputError(f"there is no column {quoted(said)} for the {what}")
        return list(names).index(said)
    for word in words:
        if word in lower:
            return lower.index(word)
    raise InputError(f"no column of the {what} was recognised", [use("to name it", **{what: ...})])


def _mostly_numbers(column: Any) -> bool:
    if not can_be_encoded(column):
        return False
    codes, labels = encode(column)
    filled = [label for label in labels if not _is_empty(label)]
    if not filled or not len(codes):
        return False
    numeric = [
        not isinstance(label, str)
        or any(_parsed(label, decimal)[0] is not None for decimal in (None, *get_args(Decimal)))
        for label in filled
    ]
    return 2 * sum(numeric) >= len(filled)


def _is_empty(label: Any) -> bool:
    if isinstance(label, float) and np.isnan(label):
        return True
    return label is None or (isinstance(label, str) and label.strip().casefold() in _EMPTY)


def _numbers(
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
            f"column {quoted(name)} has scores with and without a percent sign: write all of them "
            "in one way"
        )
    return values[codes], next(iter(signs), None)


def _number(label: Any, decimal: Decimal | None) -> tuple[float, bool]:
    if isinstance(label, bool) or not isinstance(label, str | int | float):
        raise InputError(f"is {quoted(label)}, which is not a number: correct the cell")
    if not isinstance(label, str):
        if not np.isfinite(label):
            raise InputError(f"is {label}: a score must be finite")
        return float(label), False
    number, percent = _parsed(label, decimal)
    if number is not None:
        return number, percent
    if decimal is None and _parsed(label, ".")[0] is not None:
        raise InputError(
            f"is {quoted(label)}, which may have a decimal comma or a thousands separator",
            [
                use("if the comma comes before the decimals", decimal=","),
                use("if the point does", decimal="."),
            ],
        )
    raise InputError(
        f"is {quoted(label)}, which is not a number: correct the cell, or leave it empty"
    )


def _parsed(label: str, decimal: Decimal | None) -> tuple[float | None, bool]:
    """Return the number in a cell, if there is one, and whether it has a percent sign."""
    text = label.strip()
    return read_number(text.removesuffix("%"), decimal), text.endswith("%")
