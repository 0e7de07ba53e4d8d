"""Read files and data frames: rankings, pairwise answers, battles or scores."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Literal, TypeAlias, get_args

from tierwise._util.checks import check_choice, check_count
from tierwise._util.types import Cycles, Item, Ties, Unranked, WeightsAre
from tierwise.data.battles import Battles
from tierwise.data.best_worst import best_worst_of_table, read_best_worst
from tierwise.data.kinds import Answers
from tierwise.data.long_scores import are_long_scores
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.read_battles import read_battles
from tierwise.data.scores import (
    are_scores_of_tasks,
    graded_scores_of,
    grades_question,
    has_items_in_rows,
    hold_more_than_ranks,
    read_scores,
    scores_of,
    scores_question,
    tasks_question,
    undecided_battles,
    with_grades,
)
from tierwise.data.tables import DataSource, Opened, open_source, open_table
from tierwise.errors import InputError, Remark, Remedy, counted, drop, instead, quoted, use
from tierwise.files.battle_columns import are_battles, can_be_battles
from tierwise.files.best_worst import are_best_worst
from tierwise.files.best_worst_long import recognised_long
from tierwise.files.cast_votes import Overvotes, Repeats
from tierwise.files.cells import place_in_title
from tierwise.files.layouts import NAMES_OF_ROLES
from tierwise.files.missing import Missing, said_missing
from tierwise.files.options import Better, Broken, Columns, Layout, TableLayout, TableOptions
from tierwise.files.places import EncodedRankings
from tierwise.files.source import Format, errors_name
from tierwise.files.spellings import Spellings, renamed
from tierwise.files.table_file import EncodedPairs, TableFile

__all__ = ["read", "read_preferences", "read_rankings", "scan_rankings"]

Purpose: TypeAlias = Literal["any", "leaderboard"]
"""The purpose of reading answers."""

# Options that name the kind of data that they are for.
_OF_BEST_WORST = frozenset({"shown", "best", "worst", "choice_set"})
_OF_BATTLES = frozenset({"first", "second", "winner", "loser", "points", "judge"})
_OF_LONG_SCORES = frozenset({"task", "score"})
_OF_COLUMNS = frozenset({"items", "tasks", "items_in", "item", "layout"})
_OF_WIDE_SCORES = frozenset({"tasks", "lower", "items_in"})
# What can be said of files that are not tables; ties and empty answers these announce themselves.
_OF_ANNOUNCED = frozenset(
    {"unranked", "broken", "items", "rename", "spellings", "ties", "empty", "repeats"}
)
# Who names these says what the rows are.
_NAMING_COLUMNS = frozenset({"items", "assessor", "item", "rank", "preferred", "other"})


def read(
    source: DataSource,
    *,
    better: Better | None = None,
    order: str | Iterable[str] | None = None,
    format: Format = "auto",  # noqa: A002 - the word users look for
    encoding: str | None = None,
    sheet: str | int | None = None,
    purpose: Purpose = "any",
    **options: Any,
) -> Answers:
    r"""Read a file or a data frame of any kind: rankings, pairs, battles or scores.

    The attribute ``reading`` of the result says what was detected.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    better
        Which scores are better, "higher" or "lower", if the table holds scores. Words with a known
        order, such as S, A, B or "strongly agree", count as scores too.
    order
        The grades that cells hold, best first, such as "S,A,B,C,D".
    format, encoding, sheet
        As in `read_rankings`.
    purpose
        "leaderboard" reads winners and losers as battles even if the table does not say who was
        shown first, and reads a missing score as "not tried".
    **options
        Further options of the reader for this kind of table: `read_rankings`,
        `read_preferences`, `read_battles` (two models and the winner in each row) or `read_scores`
        (one row per task and item), or `read_best_worst` (items shown, best and worst in each
        row). A layout may also be "pairs".

    Returns
    -------
    Rankings, Preferences or Battles
        Scores are returned as rankings, one per task. Pairs are too, if the table does not say who
        made several comparisons.

    Examples
    --------
    >>> from io import StringIO
    >>> read(StringIO("voter,winner,loser\nAnn,a,b\nAnn,b,c\nBob,c,a\n"))
    Preferences(2 assessors, 3 items, 4 ordered pairs, 1 by transitivity)
    >>> battles = read(StringIO("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"))
    >>> battles
    Battles(2 battles of 3 items, 1 drawn: half to each side)
    >>> print(battles.reading)
    Format: CSV, text in UTF-8, comma-separated.
    Layout: battles, one row per comparison of two models, with the winner.
    3 columns read: 'model_a', 'model_b', 'winner'.
    """
    check_choice("purpose", purpose, get_args(Purpose))
    opened = open_source(source, format, encoding, sheet)
    read_as = _read_for_board if purpose == "leaderboard" else _read_opened
    with errors_name(opened.name), _naming_other_sheets(opened):
        return read_as(opened, better, order, options)


@contextmanager
def _naming_other_sheets(opened: Opened) -> Iterator[None]:
    """Name the other sheets where one holds no table, and nothing else can be done."""
    try:
        yield
    except InputError as error:
        notes = opened.table.form.remarks if opened.table else ()
        sheets = [
            one
            for note in notes
            if isinstance(note, Remark)
            for one in note.remedies
            if isinstance(one, Remedy) and "sheet" in dict(one.settings)
        ]
        if error.remedies or not sheets:
            raise
        raise error.also(*sheets) from None


def _read_for_board(
    opened: Opened,
    better: Better | None,
    order: str | Iterable[str] | None,
    options: dict[str, Any],
) -> Answers:
    """Read what leaderboards are made of: battles or scores if a table can hold them."""
    table = opened.table
    scored = better is not None or order is not None or "lower" in options
    if table is None or not options.keys() <= _parameters(read_scores if scored else read_battles):
        return _read_opened(opened, better, order, options)
    if scored and not _says_weights(table):
        return graded_scores_of(table, better or "higher", order, **options)
    if not scored and can_be_battles(list(map(str, table.columns))):
        return Battles.from_table(table, **options)
    return _read_opened(opened, better, order, options)


def _says_weights(table: TableFile) -> bool:
    """Return whether a column says how often each row counts: scores of tasks have none."""
    return any(str(name).strip().casefold() in NAMES_OF_ROLES["weights"] for name in table.columns)


def _read_opened(
    opened: Opened,
    better: Better | None,
    order: str | Iterable[str] | None,
    options: dict[str, Any],
) -> Answers:
    """Read whatever a file holds."""
    layout = options.get("layout", "auto")
    check_choice("layout", layout, ("auto", *get_args(TableLayout)))
    table = opened.table
    if table is not None and (order is not None or better is not None):
        missing, items = said_missing(options.get("missing")), options.get("items")
        graded = with_grades(table, order, missing, items)
        if graded is not None:
            opened, better = opened._replace(table=graded[0]), "higher"
            if not _OF_COLUMNS & options.keys() and not has_items_in_rows(graded[0]):
                options["items"] = graded[1]
    elif order is not None:
        raise InputError("only tables can hold grades", [drop("order")])
    if opened.table is not None and layout == "auto":
        recognised = _read_by_columns(opened.table, better, options)
        if recognised is not None:
            return recognised
    options.pop("items_in", None)
    try:
        answers = _read_answers(opened, better, options)
    except InputError as error:
        undecided = None if table is None else undecided_battles(table)
        if undecided is not None and layout == "auto":
            raise undecided from error
        if table is not None and better is None and layout == "auto":
            asks_for_scores = any(
                isinstance(one, Remedy) and ("better", "higher") in one.settings
                for one in error.remedies
            )
            asked = tasks_question(table) if asks_for_scores else None
            asked = asked or scores_question(table) or grades_question(table)
            if asked is not None:
                raise asked from error
        raise
    if table is not None and better is None and layout == "auto" and "items" not in options:
        _refuse_grades_as_items(table, answers)
    return answers


def _refuse_grades_as_items(table: TableFile, answers: Rankings | Preferences) -> None:
    """Refuse grades that were taken for items, for each row happens to hold each of them once."""
    notes = answers.reading
    if notes is None or notes.layout != "orderings" or any(map(place_in_title, notes.columns)):
        return
    asked = grades_question(table)
    if asked is not None:
        one_by_one = use("if they are items, best first", layout="orderings")
        raise InputError(asked.problem, [*asked.remedies, one_by_one])


def _read_by_columns(
    table: TableFile, better: Better | None, options: dict[str, Any]
) -> Answers | None:
    """Read what the names of columns, or the options, say that a table holds; otherwise None."""
    columns = table.columns
    names = list(map(str, columns))
    if (
        _OF_BEST_WORST & options.keys()
        or are_best_worst(names)
        or recognised_long(names) is not None
    ):
        _check_options(options, read_best_worst, "best and worst")
        return best_worst_of_table(table, **options)
    if _OF_BATTLES & options.keys() or are_battles(columns):
        _check_options(options, read_battles, "battles")
        return Battles.from_table(table, **options)
    if _OF_LONG_SCORES & options.keys() or are_long_scores(columns):
        _check_options(options, read_scores, "scores")
        if better is None:
            named = ", ".join(quoted(name) for name in columns)
            raise InputError(
                f"the columns ({named}) look like scores, with one row per task and item",
                [
                    use("if higher scores are better", better="higher"),
                    use("if lower scores are better", better="lower"),
                ],
            )
        return scores_of(table, better, **{**options, "layout": "long"})
    if _are_scores_by_task(table, better, options):
        turned = use("if each column of numbers is an item", items_in="columns")
        _check_options(
            options, read_scores, "scores of items in rows on several tasks", otherwise=[turned]
        )
        return scores_of(table, better or "higher", **options)
    return None


def _are_scores_by_task(
    table: TableFile, better: Better | None, options: Mapping[str, Any]
) -> bool:
    """Return whether rows are items, or tasks are named: rankings have neither."""
    of_answers = options.keys() - _parameters(read_scores)
    if better is not None and not of_answers and hold_more_than_ranks(table):
        return True
    if options.get("items_in") == "columns":
        return bool({"tasks", "lower"} & options.keys())
    if _OF_WIDE_SCORES & options.keys():
        return True
    if better is None or _NAMING_COLUMNS & options.keys():
        return False
    return has_items_in_rows(table) if of_answers else are_scores_of_tasks(table)


def _read_answers(
    opened: Opened, better: Better | None, options: dict[str, Any]
) -> Rankings | Preferences:
    """Read rankings or pairwise answers, whichever a table holds; scores are ranked."""
    _check_options(options, read_rankings, "rankings", read_preferences)
    cycles = options.pop("cycles", "error")
    check_choice("cycles", cycles, get_args(Cycles))
    said = TableOptions.make(**{"items": None, "assessor": None, "better": better, **options})
    if opened.table is None:
        return _read_announced(opened, said)
    answers = opened.table.answers(said)
    if isinstance(answers, EncodedPairs):
        return Preferences.from_encoded(answers, said.items_renamed, cycles)
    return Rankings.from_encoded(answers)


def _check_options(
    options: Mapping[str, Any],
    reader: Callable[..., Any],
    kind: str,
    other: Callable[..., Any] | None = None,
    otherwise: Sequence[Remedy] = (),
) -> None:
    """Refuse options that the reader for this kind of data does not have."""
    known = _parameters(reader) | (set() if other is None else _parameters(other))
    for name in options:
        if name not in known:
            raise InputError(
                f"does not apply to {kind}, and this table is read as {kind}",
                [drop(name), *otherwise],
                argument=name,
            )


def _parameters(reader: Callable[..., Any]) -> set[str]:
    """Return the options of a reader."""
    _, *options = inspect.signature(reader).parameters
    return set(options)


def read_rankings(
    source: DataSource,
    *,
    format: Format = "auto",  # noqa: A002 - the word users look for
    layout: Layout = "auto",
    unranked: Unranked | None = None,
    ties: Ties = "error",
    items: Iterable[Item] | None = None,
    weights: str | None = None,
    weights_are: WeightsAre | None = None,
    assessor: Columns | None = None,
    item: str | None = None,
    rank: str | None = None,
    better: Better | None = None,
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
    empty: Literal["error", "skip"] = "error",
    missing: Missing | None = None,
    overvotes: Overvotes = "end",
    repeats: Repeats | None = None,
    broken: Broken = "error",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Rankings:
    r"""Read rankings from a file or a data frame.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    format
        "csv", "parquet", "xlsx" (Excel), "jsonl" (JSON lines), "preflib" (.soc .soi .toc .toi),
        "blt", "sushi" (the sushi preference sets) or "lines" (rankings written out). "auto" detects
        it from the extension or the first bytes.
    layout
        How a CSV or Parquet table is laid out: "orderings" has one row per answer and one
        column per place, with items in the cells, best first; "ranks" has one row per answer
        and one column per item, with ranks in the cells; "long" has one row for each item of each
        answer, with columns for the assessor, the item and its rank. "auto" detects the layout from
        names and cells, and raises an error if in doubt.
    unranked
        What it means if an answer does not list an item: it ranks "below" all listed items, or its
        rank is unknown ("anywhere"). Required if an answer is incomplete.
    ties
        "allow" accepts equal ranks in an answer as ties. (PrefLib files declare ties themselves;
        orderings in a table cannot have any.)
    items
        The complete list of items, if some do not appear in the file or you want another order. In
        a table of ranks these are the columns to read; the others are set aside. A pattern such as
        "Q1_*" means all columns with such names.
    weights
        The column that says how often an answer counts; a column named weight, weights or count is
        detected.
    weights_are
        "counts" if a weight says how often an answer was given, "survey" for survey weights; see
        `Rankings.with_weights_as`. Detected from the numbers if not given.
    assessor, item, rank
        The columns of the long layout. Names such as assessor, respondent, person, voter, judge,
        name or id; item, alternative, candidate or option; rank, place or position are detected.
        Several columns can name the assessor together, such as year and round for a race. In the
        other layouts, columns for the assessor are ignored.
    better
        For a table with one column per item whose cells are scores, not ranks: whether "higher" or
        "lower" is better. Equal scores are ties.
    rename
        New names for items, by their names in the file. Names in cells that become the same are
        one item.
    spellings
        If names in cells differ only in case, spaces or punctuation, "ask" raises an error that
        names them; "keep" makes each an item.
    empty
        "skip" sets aside rows that list no item; otherwise they are an error.
    missing
        Codes for a missing answer, one or several, such as 99 or "99,-1". "nothing" means that all
        cells are answers; among codes it means that words are. Otherwise words such as "don't know"
        are read as empty, and numbers that look like codes raise an error if you name no codes.
    overvotes
        If cells hold items, words of election ballots such as "skipped" and "undervote" are
        skipped, and "overvote" ends the ballot. With "skip", overvotes are skipped too.
    repeats
        "first" counts an item that an answer names twice where it is named first; "error" refuses
        it. The default is "first" for ballots with such words, otherwise "error".
    broken
        "skip" leaves out invalid answers: an item named twice, invalid ranks, or equal ranks if
        ties are an error. Otherwise they are an error.
    encoding
        The encoding of a CSV file, such as "latin-1"; detected if not given.
    sheet
        The sheet of an Excel file, by its name or its number from 1; by default the first.

    Notes
    -----
    A CSV file is UTF-8 text with a first line that names the columns. Commas, semicolons or tabs
    separate cells, which may be quoted; spaces around them are removed, and blank lines are
    skipped. Item names from CSV are text. An empty cell means "not listed". In tables of ranks, so
    do NA, NaN, and words of race results such as DNF, DNS and DSQ. Only the order of ranks or
    places counts, so gaps do not matter, but no rank may exceed the number of items.

    Examples
    --------
    >>> from io import StringIO
    >>> read_rankings(StringIO("place 1,place 2,place 3\na,b,c\nb,a,c\n"))
    Rankings(2 rankings of 3 items, complete, 2 distinct)
    >>> ballots = StringIO("ann,bob,eve,weight\n1,,,10\n2,1,3,5\n")
    >>> read_rankings(ballots, unranked="below")
    Rankings(15 rankings of 3 items, 10 incomplete: not listed = below)
    """
    opened = open_source(source, format, encoding, sheet)
    options = TableOptions.make(
        items=items,
        layout=layout,
        unranked=unranked,
        ties=ties,
        weights=weights,
        weights_are=weights_are,
        assessor=assessor,
        item=item,
        rank=rank,
        better=better,
        rename=rename,
        spellings=spellings,
        empty=empty,
        missing=missing,
        overvotes=overvotes,
        repeats=repeats,
        broken=broken,
    )
    with errors_name(opened.name), _naming_other_sheets(opened):
        free = items is None and item is None and assessor is None and layout == "auto"
        if better is not None and free and opened.table and has_items_in_rows(opened.table):
            raise InputError(
                "each row seems to be an item, and each column of numbers a task",
                [
                    instead("read_scores", "to read it that way", better=better),
                    use("to name the columns, if each of them is an item", items=...),
                ],
            )
        if opened.table is None:
            return _read_announced(opened, options)
        return Rankings.from_encoded(opened.table.rankings(options))


def read_preferences(
    source: DataSource,
    *,
    format: Literal["auto", "csv", "parquet"] = "auto",  # noqa: A002 - the word users look for
    cycles: Cycles = "error",
    items: Iterable[Item] | None = None,
    assessor: Columns | None = None,
    preferred: str | None = None,
    other: str | None = None,
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
) -> Preferences:
    r"""Read pairwise answers from a file or a data frame with one row per comparison.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    format
        "csv" or "parquet"; "auto" detects it from the extension or the first bytes.
    cycles
        "keep" accepts contradictory answers: any of them may be a mistake.
    items
        The complete list of items, if some do not appear in the file or you want another order.
    assessor
        The column or columns that say who compared; detected as in `read_rankings`. Without one,
        every row is a different person.
    preferred, other
        The columns of the preferred item and of the other item. Columns named preferred, winner,
        better or chosen; other, loser, worse or rejected are detected.
    rename, spellings
        As in `read_rankings`.

    Examples
    --------
    >>> from io import StringIO
    >>> read_preferences(StringIO("voter,winner,loser\nAnn,a,b\nAnn,b,c\nBob,c,a\n"))
    Preferences(2 assessors, 3 items, 4 ordered pairs, 1 by transitivity)
    """
    check_choice("cycles", cycles, get_args(Cycles))
    name, table = open_table(source, format)
    options = TableOptions.make(
        items=items,
        layout="pairs",
        assessor=assessor,
        preferred=preferred,
        other=other,
        rename=rename,
        spellings=spellings,
    )
    with errors_name(name):
        return Preferences.from_encoded(table.pairs(options), options.items_renamed, cycles)


def scan_rankings(
    source: DataSource,
    *,
    chunk_rows: int = 65536,
    format: Format = "auto",  # noqa: A002 - the word users look for
    layout: Layout = "auto",
    unranked: Unranked | None = None,
    ties: Ties = "error",
    items: Iterable[Item] | None = None,
    weights: str | None = None,
    weights_are: WeightsAre | None = None,
    assessor: Columns | None = None,
    missing: Missing | None = None,
    spellings: Spellings = "ask",
) -> Iterator[Rankings]:
    r"""Read rankings chunk by chunk, in memory that does not grow with the file.

    All chunks have the same items in the same order. Orderings without ``items`` take two passes
    over the file, the first to find the items.

    Parameters
    ----------
    source
        The name of a CSV or Parquet file with one row per answer.
    chunk_rows
        The most rows in a chunk.
    format, layout, unranked, ties, items, weights, weights_are, assessor, missing, spellings
        As in `read_rankings`.

    Examples
    --------
    >>> from io import StringIO
    >>> file = StringIO("place 1,place 2\na,b\nb,a\na,b\n")
    >>> [len(chunk) for chunk in scan_rankings(file, chunk_rows=2)]
    [2, 1]
    """
    check_count("chunk_rows", chunk_rows)
    opened = open_source(source, format)
    options = TableOptions.make(
        items=items,
        layout=layout,
        unranked=unranked,
        ties=ties,
        weights=weights,
        weights_are=weights_are,
        assessor=assessor,
        missing=missing,
        spellings=spellings,
    )
    with errors_name(opened.name):
        if opened.table is None or opened.format not in ("csv", "parquet"):
            what = "a data frame" if opened.format is None else f"the {opened.format} format"
            raise InputError(f"{what} cannot be read in chunks", [instead("read_rankings")])
        chunks = opened.table.scan(options, chunk_rows)
    return _named(chunks, opened.name)


def leave_out(answers: Answers, without: Iterable[Item]) -> Answers:
    """Remove items from all answers, and add that to the reading notes.

    Examples
    --------
    >>> rankings = Rankings.from_orderings([["tea", "milk", "coffee"], ["milk", "coffee", "tea"]])
    >>> leave_out(rankings, ["milk"]).to_orderings()
    [['tea', 'coffee'], ['coffee', 'tea']]
    """
    struck = list(dict.fromkeys(without))
    if not struck:
        return answers
    if not isinstance(answers, Rankings):
        raise InputError(
            "items cannot be left out of pairwise comparisons: delete their rows in the file"
        )
    for item in struck:
        if item not in answers.items:
            raise InputError(
                f"item {quoted(item)} cannot be left out because it does not exist: choose from "
                f"{', '.join(quoted(known) for known in answers.items[:6])}"
                + (", ..." if len(answers.items) > 6 else "")
            )
    kept = [item for item in answers.items if item not in struck]
    if len(kept) < 2:
        raise InputError(
            f"with {counted(len(struck), 'item')} left out there is nothing to compare: leave "
            "out fewer items"
        )
    rankings = answers.restrict(kept)
    if answers.reading is not None:
        said = f"Left out of every answer: {', '.join(quoted(item) for item in struck)}."
        rankings.reading = replace(answers.reading, remarks=(*answers.reading.remarks, said))
    return rankings


def _named(chunks: Iterator[EncodedRankings], name: str) -> Iterator[Rankings]:
    with errors_name(name):
        yield from map(Rankings.from_encoded, chunks)


def _read_announced(opened: Opened, options: TableOptions) -> Rankings:
    """Read a format that announces its items."""
    source, file_format = opened.announced()
    _refuse_options_of_tables(options)
    if file_format == "preflib":
        from tierwise.files.ballots import read_preflib

        encoded = read_preflib(source, options.unranked, options.broken)
    elif file_format == "blt":
        from tierwise.files.ballots import read_blt

        encoded = read_blt(source, options.unranked, options.broken)
    elif file_format == "lines":
        from tierwise.files.lines import read_lines

        encoded = read_lines(
            source, options.unranked, options.broken, options.rename, options.spellings
        )
    else:
        from tierwise.files.ballots import read_sushi

        encoded = read_sushi(source, options.unranked, options.broken)
    if file_format != "lines":  # there names that become the same are one item
        encoded = replace(encoded, items=tuple(renamed(encoded.items, dict(options.rename))))
    rankings = Rankings.from_encoded(encoded)
    items = options.items_renamed
    if items is None:
        return rankings
    if set(items) != set(rankings.items):
        different = min(str(item) for item in set(items) ^ set(rankings.items))
        raise InputError(
            f"the file announces its own items, which differ from those given (see "
            f"{quoted(different)})",
            [drop("items"), "restrict the rankings after reading"],
        )
    return rankings.restrict(items)


def _refuse_options_of_tables(options: TableOptions) -> None:
    """Refuse options that only tables have: the file would be read as if they were not given."""
    for option in fields(options):
        given = getattr(options, option.name)
        if given != option.default and option.name not in _OF_ANNOUNCED:
            name = "items" if option.name == "pattern" else option.name
            raise InputError(
                "does not apply to a file that is not a table", [drop(name)], argument=name
            )
