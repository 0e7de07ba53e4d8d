"""Rankings from tables of scores, one ranking per task.

A table has one column per item, one row per item, or one row per item and task. Only the order of
scores within a task counts, so tasks may have different scales.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice
from tierwise._util.names import join_names
from tierwise.data.frames import with_named_rows
from tierwise.data.long_scores import are_long_scores, long_roles, long_scores
from tierwise.data.rankings import Rankings
from tierwise.data.score_cells import (
    Failures,
    as_list,
    failures_in,
    grid_of,
    hold_more_than_numbers,
    read_numbers,
    ways_of_writing,
)
from tierwise.data.score_table import (
    ITEMS,
    TASKS,
    Grid,
    ItemsIn,
    Repeats,
    ScoreTable,
    averaged,
    is_aside,
    is_beside_scores,
    is_property,
    joined,
    numbers_repeats,
    with_tasks,
)
from tierwise.data.tables import is_frame, open_table
from tierwise.errors import InputError, Remedy, instead, quoted, some_of, use
from tierwise.files.battle_columns import (
    are_battles,
    battles_without_winner,
    have_columns_of_battles,
)
from tierwise.files.cells import (
    Decimal,
)
from tierwise.files.grades import as_numbers, check_order, grades_in
from tierwise.files.layouts import NAMES_OF_ROLES, like_weights
from tierwise.files.missing import Missing, leave_blank, refuse_codes, said_missing
from tierwise.files.options import Better, ReadingNotes
from tierwise.files.screening import are_rankings
from tierwise.files.source import errors_name
from tierwise.files.spellings import Spellings, refuse_spellings
from tierwise.files.wide import SAMPLE_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tierwise._util.types import Item, Unranked
    from tierwise.data.tables import DataSource
    from tierwise.files.source import Format
    from tierwise.files.table_file import TableFile

_Floats = NDArray[np.float64]

# Columns of numbers that are seldom items.
_NO_ITEMS = frozenset(
    {"average", "avg", "mean", "median", "total", "sum", "rank", "id", "#", "n", "age", "alter"}
)
_SHOWN = 3

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
    unranked: Unranked | None = None,
    decimal: Decimal | None = None,
    missing: Missing | None = None,
    task: str | None = None,
    item: str | None = None,
    score: str | None = None,
    items_in: ItemsIn = "auto",
    tasks: str | Iterable[str] | None = None,
    lower: str | Iterable[str] | None = None,
    repeats: Repeats = "keep",
    order: str | Iterable[str] | None = None,
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Rankings:
    r"""Read a table of scores as rankings, one for each task (or judge).

    Only the order within a task counts, so tasks may have different scales.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    better
        Which scores are better: "higher" or "lower".
    format
        "csv", "parquet", "jsonl" or "xlsx"; "auto" detects it from the extension or the first
        bytes.
    layout
        "wide" has one row per task and one column per item, or the reverse; "long" has one row per
        task and item. "auto" means long if there are columns for task, item and score.
    items
        For "wide": the items to read. By default, all columns of numbers if items are in columns.
    tolerance
        Scores within this distance of the best of a group are tied with it.
    unranked
        Whether an item without a score on a task ranks "below" all others, or its rank is unknown
        ("anywhere"), which is the default. Cells such as DNF and TO need it.
    decimal
        The decimal separator, "," or ".", if "1,234" is ambiguous. The other one then separates
        thousands.
    missing
        Codes for missing scores, as in `read_rankings`.
    task, item, score
        The columns of tasks and items, and for "long" that of scores, if their titles do not make
        this clear.
    items_in
        For "wide": whether items are in "rows", as models are on most leaderboards, or in
        "columns". "auto" detects this, and raises an error if in doubt.
    tasks
        For "wide": the tasks to read. By default, other properties of items (parameters, latency,
        price, dates) and averages are set aside.
    lower
        Tasks in which lower is better, if higher is better in the others.
    repeats
        "mean" averages several scores of an item on a task, such as those of seeds or folds. With
        "keep", each row of a table with items in columns is a separate ranking, and other tables
        must not have a second score.
    order
        The grades in the cells instead of numbers, best first, such as "S,A,B,C,D". Words with a
        known order need no ``order``.
    rename
        New names for items, by their names in the table. Items that get the same name are merged;
        if both have a score on a task, ``repeats`` says what to do.
    spellings
        Names that differ only in case, spaces or punctuation, such as "claude-3.5" and
        "claude-3-5", raise an error that lists them; "keep" reads them as different items.
    encoding, sheet
        As in `read_rankings`.

    Notes
    -----
    Equal scores are ties. An empty cell (or NA, or -) means that the item was not tried, unless
    ``unranked`` says otherwise. Of cells such as "0.91 ± 0.02", "88.7*" or "12 ms" the number
    counts, times such as "1:02:33" are seconds, and "pass" and "fail" are 1 and 0; a note says so.

    Examples
    --------
    >>> from io import StringIO
    >>> table = StringIO("task,x,y,z\nsort,0.91,0.85,0.91\nsearch,0.40,0.45,\n")
    >>> read_scores(table, "higher")
    Rankings(2 rankings of 3 items, 1 incomplete: not listed = anywhere, 1 with ties)
    >>> table = StringIO("model,sort,search,params (B)\nx,0.91,0.40,7\ny,0.85,0.45,70\n")
    >>> print(read_scores(table, "higher").reading)
    Format: CSV, text in UTF-8, comma-separated.
    Layout: scores, one row per item and one column per task, turned into rankings with ties.
    2 columns read: 'sort', 'search'.
    Column 'params (B)' holds a property of the items, not scores: it was set aside.
    """
    name, table = open_scores(source, format, encoding, sheet)
    with errors_name(name):
        return graded_scores_of(
            table,
            better,
            order,
            layout=layout,
            items=items,
            tolerance=tolerance,
            unranked=unranked,
            decimal=decimal,
            missing=missing,
            task=task,
            item=item,
            score=score,
            items_in=items_in,
            tasks=tasks,
            lower=lower,
            repeats=repeats,
            rename=rename,
            spellings=spellings,
        )


def graded_scores_of(
    table: TableFile, better: Better, order: str | Iterable[str] | None = None, **said: Any
) -> Rankings:
    """Read the scores of a table as rankings; words that have an order are scores, too."""
    table, better = grades_as_scores(table, better, order, said)
    return scores_of(table, better, **said)


def grades_as_scores(
    table: TableFile, better: Better, order: str | Iterable[str] | None, said: dict[str, Any]
) -> tuple[TableFile, Better]:
    """Return a table with numbers in place of grades, and which are better.

    Its columns of grades become the items, unless the user names items.
    """
    graded = with_grades(table, order, said_missing(said.get("missing")), said.get("items"))
    if graded is None:
        return table, better
    table, columns = graded
    is_open = said.get("items") is None and said.get("tasks") is None
    wide = said.get("layout") != "long" and said.get("items_in") != "rows"
    if is_open and wide and not has_items_in_rows(table):
        said["items"] = columns
    return table, "higher"


def grades_question(table: TableFile) -> InputError | None:
    """Ask whether the cells of a table are grades; None if they do not look so."""
    columns, grades = grades_in(leave_blank(table.read(), None)[0])
    if len(columns) < 2:
        return None
    return InputError(
        _look_like_grades(columns, grades),
        [use("if these are grades, best first", order=join_names(grades))],
    )


def _look_like_grades(columns: Sequence[str], grades: Sequence[str]) -> str:
    shown = ", ".join(map(quoted, grades[:8])) + (", ..." if len(grades) > 8 else "")
    return f"columns {', '.join(map(quoted, columns[:4]))} hold what look like grades ({shown})"


def with_grades(
    table: TableFile,
    order: str | Iterable[str] | None,
    missing: tuple[str, ...] | None,
    items: str | Iterable[Item] | None = None,
) -> tuple[TableFile, list[str]] | None:
    """Return a table with numbers in place of grades, higher being better, and its columns of them.

    None if it holds no grades.

    Parameters
    ----------
    table
        The table.
    order
        The grades, best first; if None, words that are known to have an order.
    missing
        Codes for missing answers.
    items
        The items that the user names, if any.
    """
    said = check_order(order)
    cells, blank = leave_blank(table.read(), missing)
    best_first: Sequence[str] = said or ()
    if said is None:
        named = as_list(items) or []
        named = [name for name in cells.column_names if name in named]
        found, best_first = grades_in(cells.select(named) if named else cells)
        grid = grid_of(table.columns, cells, table.name_row)
        scored = [str(name) for name in map(table.columns.__getitem__, grid.numeric)]
        scored = [one for one in scored if one.casefold() not in _NO_ITEMS and not is_property(one)]
        if best_first and not named and len(scored) > 1:
            numbers = ", ".join(map(quoted, scored[:4]))
            raise InputError(
                f"{_look_like_grades(found, best_first)}, and {numbers} hold numbers",
                [
                    use("if the grades are meant, best first", order=join_names(best_first)),
                    use("if the numbers are meant", items=scored),
                ],
            )
    if not best_first:
        return None
    numbered, columns = as_numbers(cells, best_first)
    remark = f"Grades, best first: {', '.join(best_first)}."
    graded = replace(
        table,
        read=lambda: numbered,
        batches=lambda most_rows: iter(
            [numbered.slice(at, most_rows) for at in range(0, numbered.num_rows, most_rows)]
        ),
        form=replace(table.form, remarks=(*table.form.remarks, *blank, remark)),
    )
    return graded, columns


def open_scores(
    source: DataSource,
    file_format: Format = "auto",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> tuple[str, TableFile]:
    """Open a table of scores; the index of a data frame may say what its rows are."""
    frame = with_named_rows(source, ITEMS, TASKS[0]) if is_frame(source) else source
    return open_table(frame, file_format, encoding, sheet)


def scores_of(
    table: TableFile,
    better: Better,
    tolerance: float = 0.0,
    unranked: Unranked | None = None,
    **said: Any,
) -> Rankings:
    """Read the scores of a table as rankings, with notes of how it was understood."""
    failures: Failures = "ask" if unranked is None else "empty"
    found, notes = score_table_of(table, better, failures=failures, **said)
    return rankings_of(found, notes, better, tolerance, unranked or "anywhere")


def rankings_of(
    found: ScoreTable,
    notes: ReadingNotes,
    better: Better,
    tolerance: float = 0.0,
    unranked: Unranked = "anywhere",
) -> Rankings:
    """Rank the items on each task by their scores."""
    rankings = Rankings.from_scores(
        found.scores, better, found.items, tolerance=tolerance, unranked=unranked
    )
    rankings.reading = replace(notes, n_answers=len(rankings))
    return rankings


def score_table_of(
    table: TableFile,
    better: Better,
    *,
    layout: ScoresLayout = "auto",
    items: str | Iterable[Item] | None = None,
    decimal: Decimal | None = None,
    missing: Missing | None = None,
    task: str | None = None,
    item: str | None = None,
    score: str | None = None,
    items_in: ItemsIn = "auto",
    tasks: str | Iterable[str] | None = None,
    lower: str | Iterable[str] | None = None,
    repeats: Repeats = "keep",
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
    failures: Failures = "refuse",
) -> tuple[ScoreTable, ReadingNotes]:
    """Read the scores of a table, and say how it was understood; see `read_scores`."""
    check_choice("better", better, get_args(Better))
    check_choice("layout", layout, get_args(ScoresLayout))
    check_choice("decimal", decimal, (*get_args(Decimal), None))
    check_choice("items_in", items_in, get_args(ItemsIn))
    check_choice("repeats", repeats, get_args(Repeats))
    check_choice("spellings", spellings, get_args(Spellings))
    said, codes = (task, item, score), said_missing(missing)
    names = table.columns
    cells, remarks = leave_blank(table.read(), codes, _columns_of_names(names, said))
    if layout == "auto" and items is None and said == (None,) * 3:
        _refuse_other_kinds(table)
    if layout == "long" or (layout == "auto" and items is None and are_long_scores(names, said)):
        found = long_scores(
            names,
            cells,
            long_roles(names, said),
            decimal,
            table.name_row,
            repeats,
            rename,
            failures,
        )
        if spellings == "ask":
            refuse_spellings(list(map(str, found.items)), "item")
        kind = "long scores"
    else:
        grid = grid_of(names, cells, table.name_row)
        if layout == "auto" and items is None and items_in == "auto":
            grid.refuse_scores_below_each_other()
        found = _wide_scores(
            grid,
            better,
            items_in,
            as_list(items),
            (task, item),
            as_list(tasks),
            as_list(lower) or [],
            lambda column, called: read_numbers(column, called, decimal, table.name_row, failures),
            repeats,
            lambda found: joined(found, rename or {}, spellings, repeats),
        )
        kind = "scores" if found.items_in == "columns" else "scores by item"
    if codes is None:
        refuse_codes(found.scores, found.items, ranks=False)
    titles = list(map(str, names))
    read = [cells.column(titles.index(column)) for column in found.columns]
    ways: dict[str, str] = {}
    for column in read:
        ways = {**ways_of_writing(column, decimal), **ways}
    failed = failures_in(read, decimal) if failures == "empty" else ()
    notes = ReadingNotes(
        layout=kind,
        columns=found.columns,
        aside=found.aside,
        remarks=(*found.remarks, *ways.values(), *failed, *remarks),
        n_answers=len(found.scores),
    )
    return found, notes.about(table.form)


def has_items_in_rows(table: TableFile) -> bool:
    """Return whether a table of scores clearly has one row per item and one column per task."""
    grid = _first_rows(table)
    return grid is not None and len(grid.numeric) > 0 and grid.side() == "rows"


def tasks_question(table: TableFile) -> InputError | None:
    """Ask which scores are better where each row is clearly an item; otherwise None.

    Other properties of items, such as their latency, raise no question.
    """
    grid = _first_rows(table)
    named = None if grid is None else grid.names_of_rows()
    if grid is None or named is None or grid.side() != "rows":
        return None
    tasks = [name for name in (str(grid.names[one]) for one in grid.numeric) if not is_aside(name)]
    if not tasks:
        return None
    items, shown = some_of(grid.labels(named)), some_of(tasks)
    return InputError(
        f"each row is an item ({items}), and {shown} hold numbers that look like scores, not ranks",
        _either_way(),
    )


def are_scores_of_tasks(table: TableFile) -> bool:
    """Return whether a table has items on one side and tasks on the other, not people; or ask."""
    grid = _first_rows(table)
    if grid is None or len(grid.numeric) < 2:
        return False
    grid.refuse_scores_below_each_other()
    if grid.may_have_items_in_rows():
        raise grid.doubt()
    return grid.has_tasks()


def hold_more_than_ranks(table: TableFile) -> bool:
    """Return whether cells hold scores that no ranking has, such as 0.91 ± 0.02, or TO."""
    grid = _first_rows(table)
    if grid is None or len(grid.numeric) < 2:
        return False
    columns = [grid.table.column(one) for one in grid.numeric]
    return any(map(hold_more_than_numbers, columns)) or bool(failures_in(columns, None))


def scores_question(table: TableFile) -> InputError | None:
    """Ask which scores are better where cells hold more than a number; None if none does."""
    grid = _first_rows(table)
    if grid is None or len(grid.numeric) < 2:
        return None
    written = [
        str(grid.names[one])
        for one in grid.numeric
        if hold_more_than_numbers(grid.table.column(one)) and not is_aside(grid.names[one])
    ]
    if 2 * len(written) < len(grid.numeric):
        return None
    first = grid.labels(list(map(str, grid.names)).index(written[0]))
    cell = next((one for one in first if one), "")
    return InputError(
        f"columns {some_of(written)} hold cells such as {quoted(cell)}, which look like scores",
        _either_way(),
    )


def _either_way() -> list[Remedy]:
    return [
        use("if higher scores are better", better="higher"),
        use("if lower scores are better", better="lower"),
    ]


def undecided_battles(table: TableFile) -> InputError | None:
    """Ask who won where two columns name the models of battles; None if there are no such."""
    asked = battles_without_winner(table.columns)
    grid = None if asked is None else _first_rows(table)
    return asked if grid is not None and grid.names_items_in_cells() else None


def not_battles(table: TableFile) -> InputError | None:
    """Make the error for a table that was taken for battles, if it clearly holds something else."""
    grid, said = _first_rows(table), "this does not look like battles but like"
    if grid is None:
        return None
    numeric = [grid.table.column(one) for one in grid.numeric]
    ranked = len(numeric) > 1 and are_rankings(
        np.column_stack([read_numbers(one, "", ".", table.name_row)[0] for one in numeric])
    )
    if are_long_scores(table.columns) or (len(numeric) > 1 and not ranked):
        named = ", ".join(quoted(table.columns[one]) for one in grid.numeric[:_SHOWN])
        return InputError(
            f"{said} scores (see {named})",
            [
                instead(
                    "read_scores", "if higher is better", command="leaderboard", better="higher"
                ),
                instead("read_scores", "if lower is better", command="leaderboard", better="lower"),
                use("if these are battles", first=..., second=..., winner=...),
            ],
        )
    if ranked or grid.names_items_in_cells():
        return InputError(
            f"{said} rankings",
            [
                instead("read_rankings", command="fit"),
                use("if these are battles", first=..., second=..., winner=...),
            ],
        )
    return None


def _refuse_other_kinds(table: TableFile) -> None:
    """Refuse a table that clearly holds battles, or items in its cells, and no scores."""
    grid = _first_rows(table)
    none = grid is None or len(grid.numeric) < 2
    if are_battles(table.columns) or (none and have_columns_of_battles(table.columns)):
        raise InputError(
            "the columns look like battles, not scores",
            [
                instead(
                    "read_battles", "without saying which scores are better", command="leaderboard"
                )
            ],
        )
    if grid is not None and none and grid.names_items_in_cells():
        raise InputError(
            "this does not look like scores but like rankings",
            [instead("read_rankings", command="leaderboard")],
        )


def _first_rows(table: TableFile) -> Grid | None:
    """Return the first rows of a table; None if it has none."""
    first = next(iter(table.batches(SAMPLE_ROWS)), None)
    if first is None or first.num_rows == 0:
        return None
    return grid_of(table.columns, first.slice(0, SAMPLE_ROWS), table.name_row)


def _columns_of_names(
    names: Sequence[Item], said: tuple[str | None, str | None, str | None]
) -> frozenset[int]:
    """Return the columns that name tasks and items."""
    known = {*TASKS, *ITEMS, *(name for name in said[:2] if name is not None)}
    return frozenset(
        place for place, name in enumerate(names) if {str(name), str(name).casefold()} & known
    )


def _wide_scores(
    grid: Grid,
    better: Better,
    items_in: ItemsIn,
    items: Sequence[Any] | None,
    said: tuple[str | None, str | None],
    tasks: Sequence[str] | None,
    lower: Sequence[str],
    numbers: Callable[[Any, Any], tuple[_Floats, str | None]],
    repeats: Repeats,
    join: Callable[[ScoreTable], ScoreTable],
) -> ScoreTable:
    """Read a table with one column per item, or one row per item.

    Parameters
    ----------
    grid
        The table.
    better, items_in, items, tasks, lower, repeats
        What the user says; see `read_scores`.
    said
        The columns that name tasks and items, as far as the user names them.
    numbers
        Reads a column.
    join
        Gives items the names that the user wants.
    """
    task, item = said
    side = items_in if items_in != "auto" else None
    if side is None and (items is not None or task is not None):
        side = "columns"
    elif side is None:
        side = "rows" if item is not None else grid.side()
    if side is None and len(grid.numeric) > 0:
        raise grid.doubt()
    if side == "rows":
        named = grid.names_of_rows(item)
        if named is None:
            raise InputError(
                "no column names the items, one per row", [use("to name the column", item=...)]
            )
        found = grid.with_items_in_rows(named, numbers, repeats, (*(tasks or ()), *lower))
        if items is not None:
            found = _restricted(found, [str(one) for one in items])
    else:
        found = grid.with_items_in_columns(_item_columns(grid, items), numbers)
    found = join(with_tasks(found, better, tasks, lower))
    return averaged(found) if repeats == "mean" else found


def _restricted(found: ScoreTable, items: list[str]) -> ScoreTable:
    """Keep some of the items that are in rows."""
    for item in items:
        if item not in found.items:
            raise InputError(
                f"there is no item {quoted(item)} in the rows: the items are "
                f"{', '.join(quoted(one) for one in found.items)}"
            )
    chosen = [found.items.index(item) for item in items]
    return replace(found, items=tuple(items), scores=found.scores[:, chosen])


def _item_columns(grid: Grid, items: Sequence[Any] | None) -> list[int]:
    """Return the columns that are items: those that the user names, or all columns of numbers."""
    names = grid.names
    if items is not None:
        missing = [item for item in items if item not in names]
        if missing:
            raise InputError(
                f"there is no column {quoted(missing[0])}: the columns are "
                f"{', '.join(quoted(name) for name in names)}"
            )
        kept = [list(names).index(item) for item in items]
    else:
        titles = [names[one] for one in grid.numeric]
        kept = [
            one
            for one in grid.numeric
            if not numbers_repeats(names[one])
            and not is_beside_scores(names[one], titles)
            and not grid.numbers_rows(one)
        ]
        no_items = {*_NO_ITEMS, *NAMES_OF_ROLES["weights"]}
        weights = [str(name).strip() for name in like_weights(grid.table, kept)]
        doubtful = [
            names[place]
            for place in kept
            if str(names[place]).casefold() in no_items or str(names[place]).strip() in weights
        ]
        others = [str(names[one]) for one in kept if names[one] not in doubtful]
        if doubtful and len(kept) > 1:
            raise InputError(
                f"column {quoted(doubtful[0])} may not be an item",
                [
                    *([use("if it is not", items=others)] if len(others) > 1 else []),
                    use("if it is", items=[str(names[one]) for one in kept]),
                ],
            )
    if len(kept) < 2:
        raise InputError(
            "fewer than two columns of numbers were found, but a table of scores has one row "
            "per task and one column per item",
            [
                use("if it has one row per item and one column per task", items_in="rows"),
                use("if it has one row per task and item", task=..., item=..., score=...),
            ],
        )
    return kept
