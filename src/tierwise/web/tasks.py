"""The tasks of child processes: read a file, analyse it, judge a tier list, write an example.

``python -m tierwise.web.tasks`` takes one line of JSON on standard input and reports progress in
lines of JSON on standard output. It ends with the server, because its standard input then closes. A
file that crashes its reader or fills the memory ends a child, not the server.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import warnings
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

from tierwise._util.resources import VARIABLE
from tierwise.data.battles import Battles
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, Remark, TierwiseError, TierwiseWarning, counted
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
from tierwise.web.own_tiers import judged

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.data.read import Answers
    from tierwise.files.options import ReadingNotes
    from tierwise.files.table_file import TableFile
    from tierwise.reporting.analysis import Analysis
    from tierwise.reporting.report import LeaderboardReport
    from tierwise.reporting.tables import ShownTier

_PREVIEW_ROWS = 5
_OF_SCORES = ("items_in", "tasks", "lower", "rename", "spellings")
_NOT_OF_TABLES = ("cycles", "encoding", "sheet")  # options of files, not of their tables
_LONGEST_CELL = 60
# So many groups of people are compared, and so many columns of what is known of them are offered.
_MOST_GROUPS = 12
_MOST_COLUMNS = 20
_SECONDS_BETWEEN_NEWS = 0.2
# Smaller files are read in so many ways to see what else has to be asked.
_MOST_BYTES_READ_AHEAD = 1 << 21
_MOST_READ_AHEAD = 6
# With so many items a fit takes seconds, and people who wait want to see tiers.
_MANY_ITEMS = 100
_FEW_REPLICATES = 10

EXAMPLES = {
    "goals": "What should a country aim for? 2,262 people put four goals in order (M. Croon, 1989)",
    "election": "An election: 5,738 ballots that rank five candidates (P. Diaconis, 1988)",
    "races": "Formula 1: the finishers of the 40 races of 2015 and 2016 (f1db project, CC BY 4.0)",
}
"""The examples of the package, with their descriptions on the page."""


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
        read = _read(task, _look_at_table(task, seen))
    except TierwiseError as error:
        asked = _asked_ahead(task, as_one(asked_by(error.remedies)))
        return seen | _told(error) | {"asks": [asdict(question) for question in asked]}
    return {
        **seen,
        **_described(read.answers),
        "options": read.options,
        # Those left out are known by their numbers in this list.
        "all_items": [str(item) for item in read.all_items],
        "without": [str(item) for item in read.without],
    }


def _told(error: TierwiseError) -> dict[str, Any]:
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
        _read(task, _table(task, {}))
    except TierwiseError as error:
        asked = asked_by(error.remedies)
        return asked[0] if len(asked) == 1 else None
    return None


def _look_at_table(task: dict[str, Any], seen: dict[str, Any]) -> TableFile | None:
    """Note the columns of a table with their first cells, and the sheets of an Excel file."""
    table = _table(task, seen)
    if table is None:
        return None
    first = next(iter(table.batches(_PREVIEW_ROWS)), None)
    rows = [] if first is None else first.slice(0, _PREVIEW_ROWS).to_pylist()
    seen["columns"] = [
        {"name": name, "cells": [_short(row.get(name)) for row in rows]} for name in table.columns
    ]
    return table


def _table(task: dict[str, Any], seen: dict[str, Any]) -> TableFile | None:
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


def _read(task: dict[str, Any], table: TableFile | None) -> _Read:
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
    if isinstance(answers, Rankings):
        # What weights are is asked before anything is computed.
        answers.with_effective_weights()
    n_rows, n_items = _n_rows(answers), len(answers.items)
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


def _n_rows(answers: Answers) -> int:
    """Return how many answers there are, or battles."""
    if isinstance(answers, Battles):
        return int(answers.decided.sum() + answers.n_drawn)
    return len(answers)


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
    from tierwise.data.describe import Description, describe

    description = describe(answers)
    common: dict[str, Any] = {
        "items": [str(item) for item in answers.items],
        "sentences": description.sentences(),
    }
    if isinstance(description, Description):
        notes = description.reading
        return {
            **common,
            "kind": "rankings",
            "heading": description.heading(),
            "first": list(description.first_answers),
            "read_as": [] if notes is None else notes.sentences(_plain),
            "layout": "" if notes is None else notes.layout,
            "incomplete": description.unranked is not None,
            "aside": [] if notes is None else [one.column for one in notes.aside],
            "asks": [] if notes is None else _asked_by_notes(notes),
            "people": _can_be_compared(answers),
        }
    if isinstance(answers, Battles):
        return {
            **common,
            "kind": "battles",
            "heading": answers.in_words(),
            "first": [],
            "read_as": [] if answers.reading is None else answers.reading.sentences(_plain),
            "layout": "battles",
            "incomplete": False,
            "aside": [],
            "asks": _asked_about_battles(answers),
        }
    return {
        **common,
        "kind": "pairs",
        "heading": f"{counted(description.n_answers, 'answer')} about pairs of "
        f"{counted(len(answers.items), 'item')}, by "
        f"{counted(description.n_assessors, 'person', 'people')}",
        "first": [],
        "read_as": ["Layout: pairs, one row per comparison of two items."],
        "layout": "pairs",
        "incomplete": False,
        "aside": [],
    }


def _asked_about_battles(battles: Battles) -> list[dict[str, Any]]:
    """Return what can be said about draws, if there are any, and about who was shown first."""
    asked = []
    if battles.n_drawn:
        asked.append(asdict(OF_BATTLES["drawn"]))
    if battles.shown is not None:
        asked.append(asdict(OF_BATTLES["position"]))
    return asked


def _can_be_compared(answers: Answers) -> list[str]:
    """Return columns about people that may divide them: not names, which everybody has alone."""
    from tierwise.data.rankings import Rankings

    if not isinstance(answers, Rankings) or answers.people is None:
        return []
    found = []
    for name in answers.people.column_names:
        cells = answers.people.column(name).to_pylist()
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


def analyse_file(task: dict[str, Any], tell: Callable[..., None]) -> dict[str, Any]:
    """Read a file, find its tiers, and write the page and all that can be downloaded."""
    from tierwise.data.rankings import Rankings
    from tierwise.reporting.report import report

    refuse_bombs(task)
    tell("Reading the file", 0, 0)
    read = _read(task, _table(task, {}))
    answers = read.answers
    wishes, folder = {**task["wishes"]}, Path(task["folder"])
    is_board = isinstance(answers, Battles)
    many = len(answers.items) > _MANY_ITEMS and not is_board
    if many and wishes.get("uncertainty") != "posterior":
        wishes["replicates"] = _FEW_REPLICATES
    tell("Finding the tiers", 0, 0)
    with warnings.catch_warnings(record=True) as cautions:
        warnings.simplefilter("always")
        analysis = report(answers, folder / "report.html", progress=tell, **wishes)
    _write_downloads(analysis, folder)
    return {
        **_shown(analysis, answers),
        "options": read.options,
        "without": [str(item) for item in read.without],
        "wishes": wishes,
        "kind": "battles"
        if is_board
        else ("rankings" if isinstance(answers, Rankings) else "pairs"),
        "policy": _policy_of((folder / "report.html").read_text(encoding="utf-8")),
        "cautions": sorted({str(one.message) for one in cautions if _is_ours(one)}),
    }


def _is_ours(caution: warnings.WarningMessage) -> bool:
    return issubclass(caution.category, TierwiseWarning)


def _policy_of(page: str) -> str:
    """Return the policy that a report asks for, which names the one script that may run."""
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return "default-src 'none'; style-src 'unsafe-inline'" if found is None else found[1]


def _tier_list(analysis: Analysis | LeaderboardReport) -> list[ShownTier]:
    """Return the tiers as they are shown, with how sure they are if that is known."""
    from tierwise.reporting import tables
    from tierwise.reporting.report import LeaderboardReport

    if isinstance(analysis, LeaderboardReport):
        return tables.tier_list(analysis.board.tiers)
    return tables.tier_list(analysis.fit, tables.probabilities_by_item(analysis))


def _said(analysis: Analysis | LeaderboardReport, answers: Answers) -> dict[str, Any]:
    """Return the title of a result and its sentences."""
    from tierwise.plots.tiers import of_how_many
    from tierwise.reporting import wording
    from tierwise.reporting.report import LeaderboardReport, default_title, title_of_leaderboard

    if isinstance(analysis, LeaderboardReport):
        return {
            "title": title_of_leaderboard(analysis.board, answers.reading),
            "opening": analysis.board.note().splitlines(),
            "seconds": analysis.board.provenance.seconds,
        }
    return {
        "title": default_title(analysis),
        "opening": wording.opening(analysis),
        "of_how_many": of_how_many(analysis.sampled),
        "seconds": analysis.provenance.seconds,
    }


def _shown(analysis: Analysis | LeaderboardReport, answers: Answers) -> dict[str, Any]:
    """Return what the page of the result shows beside the report."""
    fit, rows, forecast = analysis.fit, _tier_list(analysis), analysis.forecast
    agreed = fit.agreed_tiers
    ranked = [number for number, item in enumerate(answers.items) if item in agreed.items]
    position = {answers.items[number]: place for place, number in enumerate(ranked)}
    return {
        **_said(analysis, answers),
        "about_enough": "" if forecast is None else forecast.sentence(),
        "verdict": "" if analysis.check is None else analysis.check.verdict_in_words(),
        "tiers": [
            {
                "sign": row.sign,
                "divided": row.divided,
                "colour": row.colour,
                "ink": row.ink,
                "items": [{"name": item.name, "sure": item.sure} for item in row.members],
            }
            for row in rows
        ],
        # Positions, for items need not be texts. What people are divided about has no place.
        "ranked": ranked,
        "items": [str(answers.items[number]) for number in ranked],
        "found": [[position[item] for item in tier] for tier in agreed],
        "family": fit.family,
        "distance": fit.distance,
        "concentration": fit.concentration,
    }


def _write_downloads(analysis: Analysis | LeaderboardReport, folder: Path) -> None:
    """Write the other files for download."""
    import csv

    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from tierwise.plots.tiers import tier_list
    from tierwise.reporting.report import LeaderboardReport

    if isinstance(analysis, LeaderboardReport):
        numbers = analysis.board.to_dict()
        tier_list(analysis.board)
    else:
        numbers = analysis.to_dict()
        tier_list(analysis.fit, analysis.sampled)
    text = json.dumps(numbers, indent=2, ensure_ascii=False, default=str)
    (folder / "result.json").write_text(text, encoding="utf-8")
    for kind in ("png", "svg"):
        plt.savefig(folder / f"tiers.{kind}", dpi=200, bbox_inches="tight")
    plt.close()
    rows = _tier_list(analysis)
    with (folder / "tiers.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["tier", "item", "probability"])
        for row in rows:
            sign = "divided" if row.divided else row.sign
            writer.writerows(
                [sign, _as_text(item.name), "" if item.sure is None else f"{item.sure:.4f}"]
                for item in row.members
            )


def _as_text(name: str) -> str:
    """Keep spreadsheets from taking a name for a formula."""
    return f"'{name}" if name[:1] in "=+-@\t\r" else name


def judge_own(task: dict[str, Any], _tell: Callable[..., None]) -> dict[str, Any]:
    """Compare the user's own tiers with those found, under the chosen model."""
    return judged(_read(task, _table(task, {})).answers, task)


def write_example(task: dict[str, Any], _tell: Callable[..., None]) -> dict[str, Any]:
    """Write an example in the form of a typical file."""
    from tierwise.data.datasets import load_apa1980, load_f1, load_political_goals
    from tierwise.data.write import write_csv

    load = {"goals": load_political_goals, "election": load_apa1980, "races": load_f1}
    with Path(task["upload"]).open("w", encoding="utf-8", newline="") as file:
        write_csv(load[task["example"]](), file)
    return {}


_TASKS = {
    "understand": understand,
    "analyse": analyse_file,
    "judge": judge_own,
    "example": write_example,
}


def _limit_memory(n_bytes: int) -> None:
    """Let this process take no more memory than that, where the system can see to it."""
    # What is decided from sizes beforehand is to stay clear of that.
    os.environ.setdefault(VARIABLE, str(n_bytes // 2))
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _end_with_server() -> None:
    """End this process when its standard input ends, which it does when the server ends."""
    # Not through sys.stdin, whose lock would be in the way when this process ends by itself.
    while os.read(0, 4096):
        pass
    os._exit(1)


class _News:
    """Tells the server how far the work is, a few times a second at most."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream, self._last, self._step = stream, 0.0, ""

    def __call__(self, step: str, done: int, total: int) -> None:
        now = monotonic()
        if step == self._step and done < total and now - self._last < _SECONDS_BETWEEN_NEWS:
            return
        self._last, self._step = now, step
        self.write({"step": step, "done": done, "total": total})

    def write(self, message: dict[str, Any]) -> None:
        """Write a line."""
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


def main() -> None:
    """Run the task on standard input."""
    # Whatever libraries print must not end up among the lines for the server.
    news = _News(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    task = json.loads(sys.stdin.buffer.readline())
    _limit_memory(task["limits"]["memory_bytes"])
    threading.Thread(target=_end_with_server, daemon=True).start()
    try:
        news.write({"result": _TASKS[task["do"]](task, news)})
    except TierwiseError as error:
        news.write(_told(error))
    except MemoryError:
        news.write({"problem": "There is not enough memory for this: use fewer items or answers."})


if __name__ == "__main__":
    main()
