"""Tables of scores: whether items are in rows or in columns, and which of the others are scores.

Leaderboards mostly have models as rows and tasks as columns, among them columns that are not
scores: parameters, latency, price. Results of experiments, and surveys, have items as columns.
The orientation of a table follows from the names of its rows ("model", "task") and from its
columns: a size or a price is a property of a model. If neither decides, or they disagree, the user
must say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise.errors import InputError, Remark, instead, quoted, some_of, use
from tierwise.files.cells import ABSENT, can_be_encoded, check_cells, encode
from tierwise.files.layouts import NAMES_OF_ROLES
from tierwise.files.options import Aside
from tierwise.files.spellings import refuse_spellings, renamed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from tierwise._util.types import Item, RowNamer
    from tierwise.files.options import Better
    from tierwise.files.spellings import Spellings

Side: TypeAlias = Literal["rows", "columns"]
Repeats: TypeAlias = Literal["keep", "mean"]
"""Whether several scores of an item on a task are kept separate, or averaged."""
ItemsIn: TypeAlias = Literal["auto", "rows", "columns"]
"""Where the items of a table of scores are."""

_Floats = NDArray[np.float64]
_Numbers: TypeAlias = "Callable[[Any, Any], tuple[_Floats, str | None]]"

# Who takes part in races and matches.
OF_SPORTS = (
    *("driver", "rider", "athlete", "swimmer", "runner", "skater", "golfer", "skier", "horse"),
    *("boat", "crew", "competitor", "contestant"),
)
ITEMS = (
    *("item", "model", "system", "method", "name", "player"),
    *("estimator", "classifier", "algorithm", "learner", "solver", *OF_SPORTS),
)
TASKS = (
    *("task", "dataset", "data set", "data_set", "benchmark", "judge", "assessor", "prompt"),
    *("question", "instance", "race", "stage", "heat", "tournament", "meet", "regatta"),
)
# What numbers runs of the same thing, and the words that may stand beside it.
_REPEATS = frozenset(
    {"seed", "fold", "run", "repeat", "repetition", "replicate", "split", "trial", "cv"}
)
_BESIDE_REPEATS = frozenset({"random", "outer", "inner", "id", "no", "nr", "number", "index"})
# What rows are called that are items, and what rows are called that are not.
_OF_ITEMS = frozenset(
    {*ITEMS, "models", "modell", "modelo", "modèle", "llm", "algorithm", "team", "product"}
) - {"name"}
_OF_TASKS = frozenset(
    {"task", "dataset", "benchmark", "prompt", "question", "metric", "criterion", "instance"}
    | {"query", "workload", "function", "request", "stage", "heat", "meet", "tournament"}
    | {"datensatz", "aufgabe"}
)
_OF_PEOPLE = frozenset(
    {"judge", "assessor", "respondent", "participant", "person", "user", "voter", "rater"}
)
_NAMES_OF_ROWS = _OF_ITEMS | _OF_TASKS | _OF_PEOPLE
_BENCHMARKS = frozenset(
    {"mmlu", "gsm8k", "hellaswag", "truthfulqa", "humaneval", "winogrande", "bbh", "gpqa", "ifeval"}
    | {"mbpp", "boolq", "piqa", "triviaqa", "musr", "aime", "imagenet", "superglue", "squad"}
)
# Properties of items that are not scores. A title is one of these if it has no other words.
_PROPERTIES = frozenset(
    {"params", "param", "parameters", "parameter", "size", "latency", "runtime", "time", "seconds"}
    | {"speed", "throughput", "ttft", "price", "cost", "costs", "usd", "date", "released"}
    | {"release", "year", "updated", "cutoff", "context", "tokens", "memory", "vram", "ram", "gpu"}
    | {"energy", "flops", "votes", "downloads", "likes", "hub", "license", "link", "url"}
    | {"kosten", "preis", "datum", "jahr", "lizenz", "größe", "parameteranzahl", "coût", "prix"}
    | {"costo", "coste", "precio", "fecha", "$", "€"}
)
_CURRENCY = re.compile(r"[(\[][^)\]]*([$€£¥]|\busd\b|\beur\b)", re.IGNORECASE)
# Of a mean, how far it varies.
_SPREADS = frozenset(
    {"std", "stdev", "stddev", "sd", "stderr", "se", "sem", "var", "variance", "ci", "iqr", "±"}
)
_MEANS = frozenset({"mean", "avg", "average", "median"})
# What data sets have, and methods have not.
_OF_DATA = frozenset(
    {"instances", "samples", "features", "classes", "attributes", "examples", "rows", "dims"}
    | {"observations", "dimensions", "variables"}
)
# What tables of standings count.
_STANDINGS = frozenset({"pld", "pts", "gp", "mp", "gd", "gf", "ga", "pct", "played", "points"})

_SUMMARIES = frozenset(
    {"average", "avg", "mean", "median", "overall", "total", "sum", "rank", "position", "pos", "id"}
    | {"no", "n", "#", "index"}
    | _SPREADS
)
_QUALIFIERS = frozenset(
    {"model", "of", "per", "in", "the", "max", "min", "input", "output", "inference", "training"}
    | {"million", "1m", "1k", "m", "k", "b", "gb", "mb", "ms", "s", "sec", "length", "window"}
    | {"knowledge", "active", "number"}
)
# Of these, less is usually better.
_LOWER = frozenset(
    {"error", "errors", "perplexity", "ppl", "wer", "cer", "loss", "mae", "mse", "rmse", "fid"}
)
_HIGHER = frozenset({"pts", "points", "wins", "accuracy", "acc", "f1", "auc", "bleu", "psnr"})
# What titles say where less is better, and where more is.
_DOWNWARD = ("↓", "⬇", "⇓", "\\downarrow")
_UPWARD = ("↑", "⬆", "⇑", "\\uparrow")
# What the first column of a survey is called.
_OF_RESPONSES = frozenset(
    {*NAMES_OF_ROLES["assessor"], "email", "mail", "timestamp", "time", "date", "start", "response"}
    | {"student", "reviewer", "case", "code", "teilnehmer", "nr", "no", "zeitstempel"}
)
_OF_MOMENTS = frozenset(
    {"time", "timestamp", "date", "start", "started", "end", "ended", "kickoff", "created", "et"}
)
# The unit of times by the clock, 1:02:33 or 2:33.5; where there are some, numbers are seconds.
CLOCK = ":"
_UNITS_OF_TIME = frozenset(
    {CLOCK, "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins"}
    | {"minute", "minutes", "h", "hr", "hrs", "hour", "hours"}
)
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}")


@dataclass(frozen=True)
class ScoreTable:
    """Scores of items on tasks.

    Attributes
    ----------
    items
        The items.
    scores
        One row per task and one column per item; NaN if an item was not tried.
    tasks
        What the tasks are called; empty if they have no names.
    items_in
        Where the items were.
    columns
        The columns that hold scores, as the table calls them.
    aside, remarks
        The columns that are not scores, each with the reason, and other remarks.
    units
        The units that scores have: percent signs, ms, times by the clock and the like.
    """

    items: tuple[Any, ...]
    scores: _Floats
    tasks: tuple[str, ...]
    items_in: Side
    columns: tuple[str, ...]
    aside: tuple[Aside, ...] = ()
    remarks: tuple[Remark | str, ...] = ()
    units: frozenset[str] = frozenset()

    def lower_is_likely(self) -> bool:
        """Return whether scores are times, or items are called as errors are."""
        times = bool(self.units) and self.units <= _UNITS_OF_TIME
        return times or all(_seems_lower(str(item)) for item in self.items)


def words_of(title: object) -> frozenset[str]:
    """Return the words of a title, without what stands in brackets.

    Examples
    --------
    >>> sorted(words_of("Release Date (UTC)"))
    ['date', 'release']
    """
    return frozenset(re.findall(r"[^\W_]+|[#$€±]", re.sub(r"\(.*?\)", "", str(title).casefold())))


def is_property(title: object) -> bool:
    """Return whether a title names something that items have, and that is not a score.

    Examples
    --------
    >>> is_property("Params (B)"), is_property("Date understanding"), is_property("Input (€)")
    (True, False, True)
    """
    if _CURRENCY.search(str(title)):
        return True
    words = words_of(title)
    return bool(words & _PROPERTIES) and words <= _PROPERTIES | _QUALIFIERS | _SUMMARIES


def numbers_repeats(title: object) -> bool:
    """Return whether a title is that of a column which numbers runs of the same thing.

    Examples
    --------
    >>> numbers_repeats("seed"), numbers_repeats("cv_fold"), numbers_repeats("train run time")
    (True, True, False)
    """
    words = words_of(title)
    return bool(words & _REPEATS) and words <= _REPEATS | _BESIDE_REPEATS


def is_beside_scores(title: object, others: Iterable[object]) -> bool:
    """Return whether a column says how far another one varies, or what a data set is like.

    Parameters
    ----------
    title
        The title of the column.
    others
        The titles of all columns of numbers.

    Examples
    --------
    >>> titles = ["#instances", "RF_mean", "RF_std", "SVM", "SVM ±"]
    >>> [title for title in titles if is_beside_scores(title, titles)]
    ['#instances', 'RF_std', 'SVM ±']
    """
    words = words_of(title)
    if words & _OF_DATA and words <= _OF_DATA | {"#", "n", "num", "no", "number", "of"}:
        return True
    if not words & _SPREADS:
        return False
    return any(
        words - _SPREADS == words_of(other) - _MEANS and not words_of(other) & _SPREADS
        for other in others
    )


def is_moment(title: object) -> bool:
    """Return whether a title is that of a column which says when something was.

    Examples
    --------
    >>> is_moment("Start time"), is_moment("1500m")
    (True, False)
    """
    words = words_of(title)
    return bool(words & _OF_MOMENTS) and words <= _OF_MOMENTS | _QUALIFIERS


def _is_summary(title: object) -> bool:
    words = words_of(title)
    return bool(words & _SUMMARIES) and words <= _SUMMARIES | _QUALIFIERS


def counts_rows(title: object) -> bool:
    """Return whether a title is that of a column which numbers rows or sums them up.

    Examples
    --------
    >>> counts_rows("task_id"), counts_rows("total"), counts_rows("tasks solved")
    (True, True, False)
    """
    return "id" in words_of(title) or _is_summary(title)


def is_aside(title: object) -> bool:
    """Return whether a title names something that is set aside: a property, or a summary."""
    return is_property(title) or _is_summary(title)


def is_numeric(column: Any, number: Callable[[Any], bool], empty: Callable[[Any], bool]) -> bool:
    """Return whether most of what stands in a column are numbers."""
    if not can_be_encoded(column):
        return False
    codes, labels = encode(column)
    filled = [label for label in labels if not empty(label)]
    if not filled or not len(codes):
        return False
    return 2 * sum(map(number, filled)) >= len(filled)


@dataclass(frozen=True)
class Grid:
    """A table of scores before it is known which way round it is.

    Attributes
    ----------
    names, table, name_row
        The columns, the cells, and how rows are named.
    numeric
        The columns of numbers.
    """

    names: Sequence[Item]
    table: Any
    name_row: RowNamer
    numeric: tuple[int, ...]

    def names_of_rows(self, said: str | None = None) -> int | None:
        """Find the column that says what the rows are, if there is one."""
        if said is not None:
            return self._position(said)
        texts = [
            column
            for column in range(len(self.names))
            if column not in self.numeric and can_be_encoded(self.table.column(column))
        ]
        named = [one for one in texts if words_of(self.names[one]) & _NAMES_OF_ROWS]
        distinct = [one for one in texts if self._are_distinct(one)]
        # Of a driver and a team, the one that is another in every row.
        return next(iter([one for one in named if one in distinct] + named + distinct), None)

    def _are_distinct(self, column: int) -> bool:
        codes, _ = encode(self.table.column(column))
        return bool((codes != ABSENT).all()) and len(np.unique(codes)) == len(codes)

    def _position(self, name: str) -> int:
        titles = [str(one) for one in self.names]
        if name not in titles:
            raise InputError(
                f"there is no column {quoted(name)}: the columns are "
                f"{', '.join(quoted(title) for title in titles)}"
            )
        return titles.index(name)

    def labels(self, column: int) -> list[str]:
        """Return what is in the cells of a column."""
        codes, labels = encode(check_cells(self.names[column], self.table.column(column)))
        return ["" if code == ABSENT else str(labels[code]).strip() for code in codes.tolist()]

    def numbers_rows(self, column: int) -> bool:
        """Return whether a column is called as numbers of rows are, and holds 0, 1, 2, ..."""
        if not counts_rows(self.names[column]):
            return False
        cells = self.labels(column)
        return any(cells == list(map(str, range(first, first + len(cells)))) for first in (0, 1))

    def names_items_in_cells(self) -> bool:
        """Return whether neighbouring columns of text hold the same words, as places do."""
        texts = [one for one in range(len(self.names)) if one not in self.numeric]
        known = [one for one in texts if can_be_encoded(self.table.column(one))]
        words = [set(self.labels(one)) - {""} for one in known]
        return any(one & other for one, other in pairwise(words))

    def refuse_scores_below_each_other(self) -> None:
        """Ask for the column of scores if each row is a score of an item on a task."""
        texts = [one for one in range(len(self.names)) if one not in self.numeric]
        known = [one for one in texts if can_be_encoded(self.table.column(one))]
        items, tasks = (
            [one for one in known if words_of(self.names[one]) & words]
            for words in (_OF_ITEMS, _OF_TASKS)
        )
        if not items or not tasks or self._are_distinct(items[0]) or self._are_distinct(tasks[0]):
            return
        item, task = self.names[items[0]], self.names[tasks[0]]
        scores = [str(self.names[one]) for one in self.numeric]
        raise InputError(
            f"each row seems to hold the scores of one {quoted(item)} on one {quoted(task)}, and "
            "no column is called score",
            [
                use("to name the column of scores", task=str(task), item=str(item), score=one)
                for one in scores[-1:]
            ],
        )

    def side(self) -> Side | None:
        """Tell where the items are; None if nothing tells, or different things."""
        named = self.names_of_rows()
        if named is None:
            return "columns"  # rows without names are not items
        header = words_of(self.names[named])
        across, down = [self.names[one] for one in self.numeric], self.labels(named)
        found: set[Side] = set()
        if header & _OF_ITEMS or any(map(_is_of_tasks, across)):
            found.add("rows")
        names_tasks = header & (_OF_TASKS | _OF_PEOPLE) or header >= {"data", "set"}
        if names_tasks or any(map(_is_of_tasks, down)):
            found.add("columns")
        return found.pop() if len(found) == 1 else None

    def may_have_items_in_rows(self) -> bool:
        """Return whether rows may be items or people: their names come first, and say neither."""
        if self.side() is not None or self.names_of_rows() != 0:
            return False
        title = str(self.names[0]).strip().casefold()
        people = title.endswith("id") or bool(words_of(title) & _OF_RESPONSES)
        return not people and not any(map(_DATE.match, self.labels(0)))

    def has_tasks(self) -> bool:
        """Return whether items are clearly on one side and tasks, not people, on the other."""
        side, named = self.side(), self.names_of_rows()
        if side == "rows":
            return True
        if side is None or named is None:
            return False
        return bool(words_of(self.names[named]) & _OF_TASKS) or any(
            map(_is_of_tasks, self.labels(named))
        )

    def doubt(self) -> InputError:
        """Make the error for a table that may have items in rows or in columns."""
        named = self.names_of_rows()
        rows = [] if named is None else self.labels(named)
        columns = [str(self.names[one]) for one in self.numeric]
        return InputError(
            f"the items may be in rows ({some_of(rows)}) or in columns ({some_of(columns)})",
            [
                use("if each row is an item", items_in="rows"),
                use("if each column of numbers is an item", items_in="columns"),
            ],
        )

    def with_items_in_rows(
        self,
        named: int,
        numbers: _Numbers,
        repeats: Repeats = "keep",
        wanted: Collection[str] = (),
    ) -> ScoreTable:
        """Read a table with one row per item and one column per task.

        Columns that are set aside by their titles may hold anything, unless they are wanted.
        """
        items = self.labels(named)
        first_row: dict[str, int] = {}
        for row, item in enumerate(items):
            if not item:
                raise InputError(f"{self.name_row(row)}: the item has no name: fill in the cell")
            if repeats == "keep" and item in first_row:
                raise InputError(
                    f"{self.name_row(row)}: item {quoted(item)} has a second row (the first is "
                    f"{self.name_row(first_row[item])})",
                    [
                        "keep one of them",
                        instead("compare", "for the mean of seeds or folds", command="compare"),
                    ],
                )
            first_row.setdefault(item, row)
        columns = [one for one in self.numeric if one != named]
        read: list[tuple[_Floats, str | None]] = []
        for one in columns:
            title = str(self.names[one])
            try:
                read.append(numbers(self.table.column(one), self.names[one]))
            except InputError:
                if not is_aside(title) or title.strip() in wanted:
                    raise
                read.append((np.full(len(items), np.nan), None))
        scores = [values for values, _ in read]
        other = [one for one in range(len(self.names)) if one not in (named, *columns)]
        return ScoreTable(
            tuple(items),
            np.vstack(scores) if scores else np.empty((0, len(items))),
            tuple(str(self.names[one]).strip() for one in columns),
            "rows",
            tuple(str(self.names[one]) for one in columns),
            tuple(Aside(str(self.names[one]), "holds text, not scores") for one in other),
            units=frozenset(unit for _, unit in read if unit),
        )

    def with_items_in_columns(self, columns: Sequence[int], numbers: _Numbers) -> ScoreTable:
        """Read a table with one row per task and one column per item."""
        read = [numbers(self.table.column(one), self.names[one]) for one in columns]
        units = {
            unit: self.names[column]
            for column, (_, unit) in zip(columns, read, strict=True)
            if unit is not None
        }
        if set(units) == {"", "%"}:
            raise InputError(
                f"column {quoted(units['%'])} has percent signs, and column {quoted(units[''])} "
                "has none: write all scores in the same way",
                [use("to name the columns that are items", items=...)],
            )
        if len(units) > 1 and set(units) != {"", CLOCK}:
            first, second, *_ = units.values()
            raise InputError(
                f"the scores of {quoted(first)} and {quoted(second)} have different units: write "
                "all of them in one unit"
            )
        named = self.names_of_rows()
        tasks = () if named is None or named in columns else tuple(self.labels(named))
        other = [one for one in range(len(self.names)) if one not in (named, *columns)]
        return ScoreTable(
            tuple(self.names[one] for one in columns),
            np.column_stack([values for values, _ in read]),
            tasks,
            "columns",
            tuple(str(self.names[one]) for one in columns),
            tuple(Aside(str(self.names[one]), "is not among the scores") for one in other),
            units=frozenset(filter(None, units)),
        )


def joined(
    found: ScoreTable, rename: Mapping[str, str], spellings: Spellings, repeats: Repeats
) -> ScoreTable:
    """Give items other names; those that get the same name are one.

    Parameters
    ----------
    found
        The table.
    rename
        The new names.
    spellings
        Whether names that differ only in case, spaces and punctuation raise a question.
    repeats
        Whether several scores of an item on a task are averaged.
    """
    called = renamed(found.items, rename)
    kept = list(dict.fromkeys(called))
    if spellings == "ask":
        refuse_spellings([str(item) for item in kept], "item")
    named = replace(found, items=tuple(called))
    # Means are taken of all rows at once.
    if len(kept) == len(called) or (repeats == "mean" and found.items_in == "rows"):
        return named
    number_of = {item: number for number, item in enumerate(kept)}
    of_item = np.array([number_of[item] for item in called])
    times = np.zeros((len(kept), len(found.scores)))
    np.add.at(times, of_item, ~np.isnan(found.scores.T))
    twice = np.argwhere(times > 1)
    if len(twice) > 0 and repeats == "keep":
        item, task = twice[0]
        where = quoted(found.tasks[task]) if found.tasks else f"task {task + 1}"
        raise InputError(
            f"{quoted(kept[item])} has a second score on {where}, under another name",
            [
                "keep one of them",
                instead("compare", "for the mean of both", command="compare"),
            ],
        )
    items, scores = _means(called, found.scores.T)
    return replace(named, items=items, scores=scores.T)


def averaged(found: ScoreTable) -> ScoreTable:
    """Average repeated scores of an item on a task, such as those of seeds or folds.

    Gaps are left out of means. Tasks without names are all different.
    """
    if found.items_in == "rows":
        items, scores = _means(found.items, found.scores.T)
        merged = replace(found, items=items, scores=scores.T)
        n_rows, n_kept, what = len(found.items), len(items), "item"
    elif found.tasks:
        tasks, scores = _means(found.tasks, found.scores)
        merged = replace(found, tasks=tasks, scores=scores)
        n_rows, n_kept, what = len(found.tasks), len(tasks), "task"
    else:
        return found
    if n_rows == n_kept:
        return found
    said = f"{n_rows:,} rows repeat {n_kept:,} {what}s: each {what} gets the mean of its rows."
    return replace(merged, remarks=(*found.remarks, said))


def _means(names: Sequence[Any], rows: _Floats) -> tuple[tuple[Any, ...], _Floats]:
    """Return the distinct names in their order, each with the mean of its rows, NaN left out."""
    kept = tuple(dict.fromkeys(names))
    number_of = {name: number for number, name in enumerate(kept)}
    of_row = np.array([number_of[name] for name in names])
    sums, counts = np.zeros((2, len(kept), rows.shape[1]))
    known = ~np.isnan(rows)
    np.add.at(sums, of_row, np.where(known, rows, 0.0))
    np.add.at(counts, of_row, known)
    return kept, np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)


def _is_of_tasks(title: object) -> bool:
    """Return whether a title is that of a task: a benchmark, or another property of an item."""
    return is_property(title) or bool(words_of(title) & _BENCHMARKS)


def with_tasks(
    found: ScoreTable, better: Better, tasks: Sequence[str] | None, lower: Sequence[str]
) -> ScoreTable:
    """Leave out what is not a task, and negate scores that are better when lower.

    Parameters
    ----------
    found
        The table.
    better
        Which scores are better in general.
    tasks
        The tasks that are wanted; None if all are that look like scores.
    lower
        The tasks in which lower scores are better.
    """
    words = [title.strip().casefold() for title in found.tasks]
    if {"w", "l"} <= set(words) and _STANDINGS & set(words) and tasks is None:
        raise InputError(
            "the columns count matches that were won and lost, so these are standings, not scores",
            [
                "read the results of the matches, one row per match",
                use("to name the columns that are scores", tasks=...),
            ],
        )
    for name in (*(tasks or ()), *lower):
        if name not in found.tasks:
            raise InputError(
                f"there is no task {quoted(name)}: the tasks are "
                f"{', '.join(quoted(task) for task in found.tasks) or 'not named'}"
            )
    kept, aside, remarks = [], [*found.aside], [*found.remarks]
    for number, task in enumerate(found.tasks or [""] * len(found.scores)):
        why = _why_not(task, found.scores[number])
        wanted = task in (*tasks, *lower) if tasks is not None else task in lower or not why
        if wanted:
            kept.append(number)
        elif found.items_in == "rows":
            aside.append(Aside(task, why or "is not among the tasks given"))
        else:
            remarks.append(
                f"Row {quoted(task)} {why or 'is not among the tasks'}: it was set aside."
            )
    names = tuple(found.tasks[number] for number in kept) if found.tasks else ()
    suspects = [name for name in names if name not in lower and _seems_lower(name)]
    if suspects and tasks is None and better == "higher":
        raise InputError(
            f"lower numbers may be better in {quoted(suspects[0])}",
            [
                use("if they are", lower=[*lower, *suspects]),
                use("if higher numbers are better there too", tasks=list(names)),
            ],
        )
    upward = [name for name in names if _seems_higher(name)]
    if upward and better == "lower" and tasks is None:
        downward = [name for name in names if name not in upward]
        raise InputError(
            f"higher numbers may be better in {quoted(upward[0])}",
            [
                use("if they are", better="higher", **({"lower": downward} if downward else {})),
                *([use("to leave it out", tasks=downward)] if downward else []),
                use("if lower numbers are better there too", tasks=list(names)),
            ],
        )
    scores = found.scores[kept]
    if better == "higher":
        scores[[number for number, name in enumerate(names) if name in lower]] *= -1
    return replace(
        found,
        scores=scores,
        tasks=names,
        columns=tuple(found.columns[one] for one in kept)
        if found.items_in == "rows"
        else found.columns,
        aside=tuple(aside),
        remarks=tuple(remarks),
    )


def _seems_higher(task: str) -> bool:
    """Return whether a title says that higher scores are better, in words or by an arrow.

    Examples
    --------
    >>> _seems_higher("Pts"), _seems_higher("PSNR ↑"), _seems_higher("Monza")
    (True, True, False)
    """
    return bool(words_of(task) & _HIGHER) or any(arrow in task for arrow in _UPWARD)


def _seems_lower(task: str) -> bool:
    """Return whether a title says that lower scores are better, in words or by an arrow.

    Examples
    --------
    >>> _seems_lower("Perplexity"), _seems_lower("Toxicity ↓"), _seems_lower("MMLU ↑")
    (True, True, False)
    """
    return bool(words_of(task) & _LOWER) or any(arrow in task for arrow in _DOWNWARD)


def _why_not(task: str, scores: _Floats) -> str:
    """Say why a task does not seem to be one; nothing if it does."""
    if is_property(task):
        return "holds a property of the items, not scores"
    if _is_summary(task):
        return "is a summary or a count, not a task"
    if numbers_repeats(task) and bool((scores == np.round(scores)).all()):
        return "counts repetitions and is not a task"
    return "" if np.isfinite(scores).any() or not task else "is empty"
