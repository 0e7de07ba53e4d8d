"""Files in: CSV, Parquet, PrefLib and the sushi format; rankings, or answers pair by pair."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from tierwise._util.checks import check_choice, check_count
from tierwise._util.types import Cycles, Item, Ties, Unranked
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, counted, drop, quoted
from tierwise.files.options import Better, Columns, Layout, TableOptions
from tierwise.files.places import EncodedRankings
from tierwise.files.source import (
    FileFormat,
    Format,
    Readable,
    Source,
    check_format,
    errors_name,
    find_source,
    recognise_format,
)
from tierwise.files.table_file import EncodedPairs, TableFile, open_json_lines, open_parquet

_TABLES = ("csv", "parquet", "xlsx", "jsonl")

__all__ = ["read_answers", "read_preferences", "read_rankings", "scan_rankings"]


def read_rankings(
    path: Readable,
    *,
    format: Format = "auto",  # noqa: A002 - the word users look for
    layout: Layout = "auto",
    unranked: Unranked | None = None,
    ties: Ties = "error",
    items: Iterable[Item] | None = None,
    weights: str | None = None,
    assessor: Columns | None = None,
    item: str | None = None,
    rank: str | None = None,
    scores: Better | None = None,
    rename: Mapping[str, str] | None = None,
    empty: Literal["error", "skip"] = "error",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Rankings:
    r"""Read rankings from a file.

    Parameters
    ----------
    path
        A file's name, or an open file.
    format
        "csv", "parquet", "preflib" (.soc .soi .toc .toi) or "sushi" (the sushi preference sets).
        "auto" tells it from the end of the name, or else from how the file begins.
    layout
        How a CSV or Parquet table is laid out: "orderings" has one row per answer and one
        column per place, with items in the cells, best first; "ranks" has one row per answer
        and one column per item, with ranks in the cells; "long" has a row for each item of each
        answer, in columns for the assessor, the item and its rank. "auto" tells it from names and
        cells, and asks if in doubt.
    unranked
        What an item that an answer does not list means: "below" all that are listed, or
        "anywhere". Required if an answer is incomplete.
    ties
        "allow" accepts equal ranks in an answer as ties. (PrefLib files say themselves whether
        they hold ties; orderings in a table cannot.)
    items
        All items there are, where not all of them appear in the file, or in the order wanted. In a
        table of ranks they say which columns are the items, and the others are set aside. A pattern
        such as "Q1_*" means all columns that are called so.
    weights
        The column that says how often an answer counts; a column called weight, weights or count
        is recognised.
    assessor, item, rank
        The columns of the long layout; columns called assessor, respondent, person, voter, judge,
        name, id or the like; item, alternative, candidate or option; rank, place or position are
        recognised. Several columns may name the assessor together, as year and round name a race.
        Columns for the assessor may also stand in the other layouts, where they are passed over.
    scores
        What the cells of a table with one column per item mean if they are scores, not ranks:
        "higher" is better, or "lower" is. Equal scores are ties.
    rename
        Other names for items, by the names they have in the file.
    empty
        "skip" sets aside rows that list no item; else they are an error.
    encoding
        How the text of a CSV file is written in bytes, such as "latin-1"; recognised otherwise.
    sheet
        The sheet of an Excel file, by its name or its number from 1; the first otherwise.

    Notes
    -----
    A CSV file is UTF-8 text with a first line that names the columns. Cells are parted by commas,
    semicolons or tabs, may be quoted, and lose the space around them; blank lines are passed over.
    Item names from CSV are text. An empty cell is "not listed"; in ranks, so are NA and NaN, and
    DNF, DNS, DSQ and what else tables of races say. Only the order of ranks or places counts, so
    gaps between them do not matter, but no rank may exceed the number of items.

    Examples
    --------
    >>> from io import StringIO
    >>> read_rankings(StringIO("place 1,place 2,place 3\na,b,c\nb,a,c\n"))
    Rankings(2 rankings of 3 items, complete, 2 distinct)
    >>> ballots = StringIO("ann,bob,eve,weight\n1,,,10\n2,1,3,5\n")
    >>> read_rankings(ballots, unranked="below")
    Rankings(15 rankings of 3 items, 10 incomplete: not listed = below)
    """
    source, file_format = _open(path, format)
    options = TableOptions.make(
        items=items,
        layout=layout,
        unranked=unranked,
        ties=ties,
        weights=weights,
        assessor=assessor,
        item=item,
        rank=rank,
        scores=scores,
        rename=rename,
        empty=empty,
    )
    with errors_name(source.name):
        if file_format in _TABLES:
            table = _open_table(source, file_format, encoding, sheet)
            return Rankings.from_encoded(table.rankings(options))
        return _read_announced(source, file_format, options)


def read_preferences(
    path: Readable,
    *,
    format: Literal["auto", "csv", "parquet"] = "auto",  # noqa: A002 - the word users look for
    cycles: Cycles = "error",
    items: Iterable[Item] | None = None,
    assessor: Columns | None = None,
    preferred: str | None = None,
    other: str | None = None,
) -> Preferences:
    r"""Read pairwise answers from a file with a row for each comparison.

    Parameters
    ----------
    path
        A file's name, or an open file.
    format
        "csv" or "parquet"; "auto" tells it from the end of the name, or how the file begins.
    cycles
        "keep" accepts answers that contradict each other: any of them may be a mistake.
    items
        All items there are, where not all of them appear in the file, or in the order wanted.
    assessor
        The column, or columns, that say who compares; recognised as by `read_rankings`. If there
        is none, every row is all that somebody said.
    preferred, other
        The columns of the item that was preferred, and of the one that it was preferred to;
        columns called preferred, winner, better or chosen; other, loser, worse or rejected are
        recognised.

    Examples
    --------
    >>> from io import StringIO
    >>> read_preferences(StringIO("voter,winner,loser\nAnn,a,b\nAnn,b,c\nBob,c,a\n"))
    Preferences(2 assessors, 3 items, 4 ordered pairs of which 1 by transitivity)
    """
    check_choice("cycles", cycles, get_args(Cycles))
    source, file_format = _open(path, format)
    options = TableOptions.make(
        items=items, layout="pairs", assessor=assessor, preferred=preferred, other=other
    )
    with errors_name(source.name):
        if file_format not in _TABLES:
            raise InputError(f"the {file_format} format holds rankings: use read_rankings")
        pairs = _open_table(source, file_format).pairs(options)
        return Preferences.from_encoded(pairs, options.items, cycles)


def read_answers(
    path: Readable,
    *,
    format: Format = "auto",  # noqa: A002 - as for the others
    cycles: Cycles = "error",
    encoding: str | None = None,
    sheet: str | int | None = None,
    **options: Any,
) -> Rankings | Preferences:
    r"""Read rankings or pairwise answers, whichever a file holds.

    Parameters
    ----------
    path, format, cycles, encoding, sheet
        As for `read_rankings` and `read_preferences`.
    **options
        All other options of both; a layout may also be "pairs".

    Examples
    --------
    >>> from io import StringIO
    >>> read_answers(StringIO("winner,loser\na,b\nb,c\n"))
    Rankings(2 rankings of 3 items, 2 incomplete: not listed = anywhere)
    """
    source, file_format = _open(path, format)
    said = TableOptions.make(**{"items": None, "assessor": None, **options})
    with errors_name(source.name):
        if file_format not in _TABLES:
            return _read_announced(source, file_format, said)
        answers = _open_table(source, file_format, encoding, sheet).answers(said)
        if isinstance(answers, EncodedPairs):
            return Preferences.from_encoded(answers, said.items, cycles)
        return Rankings.from_encoded(answers)


def scan_rankings(
    path: Readable,
    *,
    chunk_rows: int = 65536,
    format: Format = "auto",  # noqa: A002 - the word users look for
    layout: Layout = "auto",
    unranked: Unranked | None = None,
    ties: Ties = "error",
    items: Iterable[Item] | None = None,
    weights: str | None = None,
    assessor: Columns | None = None,
) -> Iterator[Rankings]:
    r"""Read rankings chunk by chunk, in memory that does not grow with the file.

    All chunks have the same items in the same order. Orderings without ``items`` take two passes
    over the file, the first to find the items.

    Parameters
    ----------
    path
        The name of a CSV or Parquet file with one row per answer.
    chunk_rows
        The most rows in a chunk.
    format, layout, unranked, ties, items, weights, assessor
        As for `read_rankings`.

    Examples
    --------
    >>> from io import StringIO
    >>> file = StringIO("place 1,place 2\na,b\nb,a\na,b\n")
    >>> [len(chunk) for chunk in scan_rankings(file, chunk_rows=2)]
    [2, 1]
    """
    check_count("chunk_rows", chunk_rows)
    source, file_format = _open(path, format)
    options = TableOptions.make(
        items=items,
        layout=layout,
        unranked=unranked,
        ties=ties,
        weights=weights,
        assessor=assessor,
    )
    with errors_name(source.name):
        if file_format not in ("csv", "parquet"):
            raise InputError(f"the {file_format} format is read whole: use read_rankings")
        chunks = _open_table(source, file_format).scan(options, chunk_rows)
    return _named(chunks, source)


def leave_out(answers: Rankings | Preferences, without: Iterable[Item]) -> Rankings | Preferences:
    """Strike items from all answers, and say so among the notes of how they were read.

    Examples
    --------
    >>> rankings = Rankings.from_orderings([["tea", "milk", "coffee"], ["milk", "coffee", "tea"]])
    >>> leave_out(rankings, ["milk"]).to_orderings()
    [['tea', 'coffee'], ['coffee', 'tea']]
    """
    struck = list(dict.fromkeys(without))
    if not struck:
        return answers
    if isinstance(answers, Preferences):
        raise InputError(
            "items cannot be left out of comparisons of two items: delete their rows in the file"
        )
    for item in struck:
        if item not in answers.items:
            raise InputError(
                f"item {quoted(item)} cannot be left out, for there is no such item: name it as "
                f"one of {', '.join(quoted(known) for known in answers.items[:6])}"
                + (", ..." if len(answers.items) > 6 else "")
            )
    kept = [item for item in answers.items if item not in struck]
    if len(kept) < 2:
        raise InputError(
            f"with {counted(len(struck), 'item')} left out there is nothing to compare: leave out "
            "fewer"
        )
    rankings = answers.restrict(kept)
    if answers.reading is not None:
        said = f"Left out of every answer: {', '.join(quoted(item) for item in struck)}."
        rankings.reading = replace(answers.reading, remarks=(*answers.reading.remarks, said))
    return rankings


def _named(chunks: Iterator[EncodedRankings], source: Source) -> Iterator[Rankings]:
    with errors_name(source.name):
        yield from map(Rankings.from_encoded, chunks)


def _open(path: Readable, file_format: Format) -> tuple[Source, FileFormat]:
    check_format(file_format)
    source = find_source(path)
    return source, recognise_format(source) if file_format == "auto" else file_format


def _open_table(
    source: Source,
    file_format: FileFormat,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> TableFile:
    if sheet is not None and file_format != "xlsx":
        raise InputError(f"only Excel files have sheets, not a {file_format} file", [drop("sheet")])
    if file_format == "csv":
        from tierwise.files.exports import open_text_table

        return open_text_table(source, encoding)
    if encoding is not None:
        raise InputError(f"only text has an encoding, not a {file_format} file", [drop("encoding")])
    if file_format == "xlsx":
        from tierwise.files.exports import open_excel

        return open_excel(source, sheet)
    if file_format == "jsonl":
        return open_json_lines(source)
    return open_parquet(source)


def open_table_file(
    path: Readable,
    file_format: Format = "auto",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> tuple[Source, TableFile]:
    """Open a file that holds a table, or say that its format holds none."""
    source, known = _open(path, file_format)
    with errors_name(source.name):
        if known not in _TABLES:
            raise InputError(f"the {known} format holds rankings: use read_rankings")
        return source, _open_table(source, known, encoding, sheet)


def _read_announced(source: Source, file_format: FileFormat, options: TableOptions) -> Rankings:
    """Read a format that announces its items."""
    if file_format == "preflib":
        from tierwise.files.ballots import read_preflib

        encoded = read_preflib(source, options.unranked)
    elif file_format == "blt":
        from tierwise.files.ballots import read_blt

        encoded = read_blt(source, options.unranked)
    else:
        from tierwise.files.ballots import read_sushi

        encoded = read_sushi(source, options.unranked)
    rankings = Rankings.from_encoded(encoded)
    if options.items is None:
        return rankings
    if set(options.items) != set(rankings.items):
        different = min(str(item) for item in set(options.items) ^ set(rankings.items))
        raise InputError(
            f"the file announces its own items, which differ from those given (see "
            f"{quoted(different)})",
            [drop("items"), "restrict the rankings to them after reading"],
        )
    return rankings.restrict(options.items)
