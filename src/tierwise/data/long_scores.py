"""Scores in tables with one row per item and task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.data.score_cells import Failures, read_numbers
from tierwise.data.score_table import (
    ITEMS,
    OF_SPORTS,
    TASKS,
    Repeats,
    ScoreTable,
    numbers_repeats,
)
from tierwise.errors import InputError, instead, listed, quoted, use
from tierwise.files.cells import (
    ABSENT,
    Decimal,
    check_cells,
    encode,
)
from tierwise.files.layouts import NAMES_OF_PLACES
from tierwise.files.options import Aside
from tierwise.files.spellings import renamed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tierwise._util.types import Item, RowNamer


_SCORES = ("score", "value", "result", "accuracy", "points", "rating", "ratings", "stars")
# What may stand beside each other, of which the user chooses.
_METRICS = ("accuracy", "f1", "auc", "resolved", "solved", "passed", "correct")
# Of those who race, the time is the score.
_TIMES = ("time", "seconds", "runtime")
_OF_RACES = frozenset({*OF_SPORTS, "solver"})
# Where people rate things, what each of them rates is compared, as on a task.
_PEOPLE = (
    *("user", "respondent", "participant", "subject", "person", "reviewer", "rater", "customer"),
    *("reader", "viewer", "listener"),
)
_RATED = (
    *("movie", "film", "book", "song", "track", "album", "artist", "game", "anime", "joke"),
    *("product", "restaurant", "business", "hotel", "recipe", "dish", "beer", "wine"),
)
_OF_TASKS = (*TASKS, *_PEOPLE)
# A name may be that of a person.
_OF_ITEMS = sorted((*ITEMS, *_RATED), key="name".__eq__)


def are_long_scores(
    names: Sequence[Item], said: tuple[str | None, str | None, str | None] = (None, None, None)
) -> bool:
    """Return whether there are columns for task, item and score, and none for ranks.

    Examples
    --------
    >>> are_long_scores(["task", "model", "score"]), are_long_scores(["task", "x", "y"])
    (True, False)
    >>> are_long_scores(["userId", "movieId", "rating", "timestamp"])
    True
    """
    called = {_without_id(name) for name in names}
    if called & set(NAMES_OF_PLACES):
        return False
    repeats = {name for name in called if numbers_repeats(name)}
    return all(
        column is not None or called & set(words)
        for column, words in zip(
            said, ((*_OF_TASKS, *repeats), _OF_ITEMS, _words_of_scores(called)), strict=True
        )
    )


def _words_of_scores(called: Collection[str]) -> tuple[str, ...]:
    """Return what a column of scores may be called beside columns called so."""
    times = _TIMES if not _OF_RACES.isdisjoint(called) else ()
    return (*_SCORES, *(one for one in _METRICS if one not in _SCORES), *times)


def _without_id(name: Item) -> str:
    """Return what a column is of: ``user`` if it is called ``userId`` or ``user_id``."""
    called = str(name).strip().casefold()
    return re.sub(r"[\s_-]*id$", "", called) or called


def long_scores(
    names: Sequence[Item],
    table: Any,
    roles: tuple[int, int, int],
    decimal: Decimal | None,
    name_row: RowNamer,
    repeats: Repeats = "keep",
    rename: Mapping[str, str] | None = None,
    failures: Failures = "refuse",
) -> ScoreTable:
    """Read a table with one row per task and item.

    Parameters
    ----------
    names, table, decimal, name_row, repeats, rename, failures
        As for a table with one column per item.
    roles
        The columns of task, item and score.
    """
    task, item, score = roles
    task_codes, task_labels = encode(check_cells(names[task], table.column(task)))
    item_codes, item_labels = encode(check_cells(names[item], table.column(item)))
    for codes, what in ((task_codes, "task"), (item_codes, "item")):
        if (codes == ABSENT).any():
            row = int((codes == ABSENT).argmax())
            raise InputError(f"{name_row(row)}: the {what} is missing: fill in the cell")
    values, unit = read_numbers(table.column(score), names[score], decimal, name_row, failures)
    called = renamed(item_labels, rename or {})
    item_labels = list(dict.fromkeys(called))
    item_codes = np.array([item_labels.index(name) for name in called])[item_codes]
    cells = task_codes.astype(np.int64) * len(item_labels) + item_codes
    _, first, counts = np.unique(cells, return_index=True, return_counts=True)
    remarks: tuple[str, ...] = ()
    if (counts > 1).any():
        cell = cells[first[int((counts > 1).argmax())]]
        row = int(np.flatnonzero(cells == cell)[1])
        if repeats == "keep":
            raise InputError(
                f"{name_row(row)}: {quoted(item_labels[item_codes[row]])} has a second score on "
                f"{quoted(task_labels[task_codes[row]])}",
                [
                    "keep one of them",
                    instead("compare", "for the mean of seeds or folds", command="compare"),
                ],
            )
        most = int(counts.max())
        remarks = (f"Items have up to {most:,} scores on a task: their mean is used.",)
    known = ~np.isnan(values)
    size = len(task_labels) * len(item_labels)
    sums = np.bincount(cells[known], weights=values[known], minlength=size)
    times = np.bincount(cells[known], minlength=size)
    scores = np.where(times > 0, sums / np.maximum(times, 1), np.nan)
    return ScoreTable(
        items=tuple(item_labels),
        scores=scores.reshape(len(task_labels), len(item_labels)),
        tasks=tuple(map(str, task_labels)),
        items_in="columns",
        columns=tuple(str(names[role]) for role in roles),
        aside=tuple(
            Aside(str(name), "is not among the scores")
            for number, name in enumerate(names)
            if number not in roles
        ),
        remarks=remarks,
        units=frozenset({unit} if unit else ()),
    )


def long_roles(
    names: Sequence[Item], said: tuple[str | None, str | None, str | None]
) -> tuple[int, int, int]:
    """Find the columns of task, item and score; the user may have named some."""
    task, item, score = said
    # Folds of one data set are what methods were compared on where no column names data sets.
    repeats = [_without_id(name) for name in names if numbers_repeats(name)]
    called = [_without_id(name) for name in names]
    metrics = [str(name) for name, one in zip(names, called, strict=True) if one in _METRICS]
    if score is None and len(metrics) > 1 and called.count("score") != 1:
        raise InputError(
            f"columns {listed(list(map(quoted, metrics)), 'and')} may each hold the scores",
            [use("to name one", score=metrics[0])],
        )
    return (
        _column(names, task, (*_OF_TASKS, *repeats), "task"),
        _column(names, item, _OF_ITEMS, "item"),
        _column(names, score, _words_of_scores(called), "score"),
    )


def _column(names: Sequence[Item], said: str | None, words: Sequence[str], what: str) -> int:
    if said is not None:
        if said not in names:
            raise InputError(f"there is no column {quoted(said)} for the {what}")
        return list(names).index(said)
    called = [_without_id(name) for name in names]
    for word in words:
        if word in called:
            return called.index(word)
    raise InputError(f"no column of the {what} was found", [use("to name it", **{what: ...})])
