"""How an uploaded file is read and described, and what has to be asked about it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from functools import singledispatch
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tierwise.data.battles import Battles
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, Remark, TierwiseError, counted
from tierwise.web.bombs import refuse_bombs
from tierwise.web.choices import (
    OF_BATTLES,
    Question,
    as_one,
    asked_by,
    columns_of_role,
    on_page,
    parse_reading,
    reading_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.data.kinds import Answers
    from tierwise.files.options import ReadingNotes
    from tierwise.files.table_file import TableFile


_PREVIEW_ROWS = 5
_OF_SCORES = ("items_in", "tasks", "lower", "rename", "spellings")
_NOT_OF_TABLES = ("cycles", "encoding", "sheet")  # options of files, not of their tables
_LONGEST_CELL = 60
# So many groups of people are compared, and so many columns of what is known of them are offered.
_MOST_GROUPS = 12
_MOST_COLUMNS = 20
# Smaller files are read in so many ways to see what else has to be asked.
_MOST_BYTES_READ_AHEAD = 1 << 21
_MOST_READ_AHEAD = 6


class _Upload(BytesIO):
    """The bytes of a file, under the name that people know it by."""

    def __init__(self, task: dict[str, Any]) -> None:
        super().__init__(Path(task["upload"]).read_bytes())
        self.name = task["name"]


def understand(task: dict[str, Any], _tell: Callable[..., None]) -> dict[str, Any]:
    """Return how a file is read, or what is wrong with it, and what to ask the user."""
    seen: dict[str, Any] = {
        "columns": [],
        "people": [],
        "sheets": [],
        "layout": "",
        "problem": "",
        "asks": [],
        "aside": [],
    }
    try:
        refuse_bombs(task)
        read = read_upload(task, _look_at_table(task, seen))
    except TierwiseError as error:
        asked = _asked_ahead(task, as_one(asked_by(error.remedies)))
        return seen | told(error) | {"asks": [asdict(question) for question in asked]}
    return {
        **seen,
        **_described(read.answers),
        "options": read.options,
        # Those left out are known by their numbers in this list.
        "all_items": [str(item) for item in read.all_items],
        "without": [str(item) for item in read.without],
    }


def told(error: TierwiseError) -> dict[str, Any]:
    """Return what is wrong, and what is asked about it, as plain values."""
    return {
        "problem": on_page(error),
        "asks": [asdict(question) for question in asked_by(error.remedies)],
    }


def _asked_ahead(task: dict[str, Any], asked: list[Question]) -> list[Question]:
    """Add the questions that come next whatever is answered: they are asked on the same page."""
    readings, found = [task["reading"]], list(asked)
    if Path(task["upload"]).stat().st_size > _MOST_BYTES_READ_AHEAD:
        return found
    while found:
        readings = [
            {**reading, **parse_reading({found[-1].name: value})}
            for reading in readings
            for value, _ in found[-1].answers
        ]
        if len(readings) > _MOST_READ_AHEAD:
            break
        later = [_first_asked({**task, "reading": reading}) for reading in readings]
        new = later[0]
        # What is asked again was not answered by this.
        if new is None or any(one != new for one in later) or new.name in {q.name for q in found}:
            break
        found.append(new)
    return found


def _first_asked(task: dict[str, Any]) -> Question | None:
    """Return the question that a file raises if it is read in some way; None if not just one."""
    try:
        read_upload(task, table_of(task, {}))
    except TierwiseError as error:
        asked = asked_by(error.remedies)
        return asked[0] if len(asked) == 1 else None
    return None


def _look_at_table(task: dict[str, Any], seen: dict[str, Any]) -> TableFile | None:
    """Note the columns of a table with their first cells, and the sheets of an Excel file."""
    table = table_of(task, seen)
    if table is None:
        return None
    first = next(iter(table.batches(_PREVIEW_ROWS)), None)
    rows = [] if first is None else first.slice(0, _PREVIEW_ROWS).to_pylist()
    seen["columns"] = [
        {"name": name, "cells": [_short(row.get(name)) for row in rows]} for name in table.columns
    ]
    return table


def table_of(task: dict[str, Any], seen: dict[str, Any]) -> TableFile | None:
    """Open the table that a file holds; None for formats that are no tables."""
    from tierwise.files.excel import sheet_names
    from tierwise.files.exports import open_excel, open_text_table
    from tierwise.files.lines import holds_lines
    from tierwise.files.source import find_source, recognise_format
    from tierwise.files.table_file import open_parquet

    source, chosen = find_source(_Upload(task)), task["reading"]
    kind = recognise_format(source)
    if kind == "csv" and holds_lines(source):
        return None
    if kind == "csv":
        return open_text_table(source, chosen.get("encoding"))
    if kind == "xlsx":
        table = open_excel(source, chosen.get("sheet"))
        seen["sheets"] = sheet_names(source)
        return table
    return open_parquet(source) if kind == "parquet" else None


def _short(cell: object) -> str:
    text = "" if cell is None else " ".join(str(cell).split())
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


@dataclass(frozen=True)
class _Read:
    """Answers, the options they were read with, all items of the file, and those left out."""

    answers: Answers
    options: dict[str, Any]
    all_items: tuple[Any, ...]
    without: list[Any]


def read_upload(task: dict[str, Any], table: TableFile | None) -> _Read:
    """Read answers as people said, within the limits."""
    from tierwise.data.read import leave_out, read

    columns = () if table is None else tuple(map(str, table.columns))
    options = reading_options(task["reading"], columns)
    aside = columns_of_role(task["reading"], columns, "aside")
    if table is not None and aside and "items" not in options:
        try:
            options |= _without_columns(table, aside, options)
            aside = []
        except InputError:
            # Without a column of ranks the others have gaps: its item is struck from the answers.
            if not set(aside) <= set(read(_Upload(task), **options).items):
                raise
    answers = read(_Upload(task), **options)
    all_items, numbers = answers.items, task["reading"].get("without", ())
    without = [
        item for number, item in enumerate(all_items) if str(number) in numbers or item in aside
    ]
    answers = leave_out(answers, without)
    # What weights are is asked before anything is computed.
    check_data(answers, "analysis", Rankings, Preferences, Battles, weights="effective")
    n_rows, n_items = answers.n_given, len(answers.items)
    if n_rows > task["limits"]["rows"] or n_items > task["limits"]["items"]:
        raise InputError(
            f"{task['name']} holds {counted(n_rows, 'answer')} about {counted(n_items, 'item')}, "
            f"and this server accepts at most {task['limits']['rows']:,} and "
            f"{task['limits']['items']:,}: leave some out, or use tierwise on the command "
            "line"
        )
    if n_items < 2:
        raise InputError(f"{task['name']} is about a single item: there is nothing to compare")
    return _Read(answers, options, all_items, without)


def _without_columns(table: TableFile, aside: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """Return the option that sets columns aside: which of the others are items, or tasks."""
    from tierwise.data.scores import has_items_in_rows, scores_of
    from tierwise.files.options import TableOptions

    said = options.get("items_in")
    if said == "rows" or (said is None and "better" in options and has_items_in_rows(table)):
        how = {name: options[name] for name in _OF_SCORES if name in options}
        notes = scores_of(table, options.get("better", "higher"), **how).reading
        assert notes is not None
        return {"tasks": [column for column in notes.columns if column not in aside]}
    kept = tuple(column for column in table.columns if column not in aside)
    narrow = replace(table, columns=kept, read=lambda: table.read().select(list(kept)))
    others = {name: value for name, value in options.items() if name not in _NOT_OF_TABLES}
    notes = narrow.rankings(TableOptions.make(**{"items": None, "assessor": None, **others})).notes
    if notes is None or notes.layout not in ("ranks", "scores"):
        raise InputError(
            "only columns of ranks or scores can be left out here: delete the column in the "
            "file and upload it again"
        )
    return {"items": list(notes.columns)}


def _described(answers: Answers) -> dict[str, Any]:
    """Say what was read."""
    return {
        "items": [str(item) for item in answers.items],
        "kind": answers.kind,
        "first": [],
        "incomplete": False,
        "aside": [],
        **_described_by_kind(answers),
    }


@singledispatch
def _described_by_kind(answers: Answers) -> dict[str, Any]:
    """Say what was read of answers of each kind."""
    raise TypeError(f"no page describes {answers.unit}")


@_described_by_kind.register(Rankings)
def _described_rankings(rankings: Rankings) -> dict[str, Any]:
    from tierwise.data.describe import describe

    description = describe(rankings)
    notes = description.reading
    return {
        "sentences": description.sentences(),
        "heading": description.heading(),
        "first": list(description.first_answers),
        "read_as": [] if notes is None else notes.sentences(_plain),
        "layout": "" if notes is None else notes.layout,
        "incomplete": description.unranked is not None,
        "aside": [] if notes is None else [one.column for one in notes.aside],
        "asks": [] if notes is None else _asked_by_notes(notes),
        "people": _can_be_compared(rankings),
    }


@_described_by_kind.register(Battles)
def _described_battles(battles: Battles) -> dict[str, Any]:
    from tierwise.data.describe import describe

    return {
        "sentences": describe(battles).sentences(),
        "heading": battles.in_words(),
        "read_as": [] if battles.reading is None else battles.reading.sentences(_plain),
        "layout": "battles",
        "asks": _asked_about_battles(battles),
    }


@_described_by_kind.register(Preferences)
def _described_pairs(preferences: Preferences) -> dict[str, Any]:
    from tierwise.data.describe import describe

    description = describe(preferences)
    return {
        "sentences": description.sentences(),
        "heading": f"{counted(description.n_answers, 'answer')} about pairs of "
        f"{counted(len(preferences.items), 'item')}, by "
        f"{counted(description.n_assessors, 'person', 'people')}",
        "read_as": ["Layout: pairs, one row per comparison of two items."],
        "layout": "pairs",
    }


def _asked_about_battles(battles: Battles) -> list[dict[str, Any]]:
    """Return what can be said about draws, if there are any, and about who was shown first."""
    asked = []
    if battles.n_drawn:
        asked.append(asdict(OF_BATTLES["drawn"]))
    if battles.shown is not None:
        asked.append(asdict(OF_BATTLES["position"]))
    return asked


def _can_be_compared(rankings: Rankings) -> list[str]:
    """Return columns about people that may divide them: not names, which everybody has alone."""
    if rankings.people is None:
        return []
    found = []
    for name in rankings.people.column_names:
        cells = rankings.people.column(name).to_pylist()
        n_distinct = len(set(cells) - {None})
        is_text = any(isinstance(cell, str) and not _is_number(cell) for cell in cells)
        if n_distinct > 1 and (n_distinct <= _MOST_GROUPS or not is_text):
            found.append(str(name))
    return found[:_MOST_COLUMNS]


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"\s*-?\d+(?:[.,]\d+)?\s*", cell))


def _asked_by_notes(notes: ReadingNotes) -> list[dict[str, Any]]:
    """Return what is asked about columns that seem to hold weights."""
    remedies = [
        one for remark in notes.remarks if isinstance(remark, Remark) for one in remark.remedies
    ]
    asked = [question for question in asked_by(remedies) if question.name == "weights"]
    return [
        {**asdict(question), "answers": (*question.answers, ("", "None: every answer counts once"))}
        for question in asked
    ]


def _plain(remark: Remark) -> str:
    """Leave out what can be done: the page has forms for that."""
    return remark.problem
