"""Cells that hold a whole ranking: ``tea;coffee;milk;`` as forms do, or ``tea > milk = water``.

Lists become one column per place. Where signs say that items are tied, or items are numbers, there
is one column per item instead, with ranks.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import Item, numbered_row
from tierwise.errors import InputError, Remark, counted, listed, quoted, use
from tierwise.files.cells import can_be_encoded, encode, numbers, place_in_title, share_of_numbers
from tierwise.files.notation import Answer, is_ranking, names_in, parse_ranking, with_new_names
from tierwise.files.options import TableOptions
from tierwise.files.screening import are_strict_rankings, screen_ranks
from tierwise.files.sentences import cut_at_commas
from tierwise.files.spellings import refuse_spellings
from tierwise.files.wide import SAMPLE_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

_MARKS = (";", "|", ",")
# What separates the cells of tables that other programs write; None is space of any length.
_OTHER_SEPARATORS = {None: "spaces", "|": "signs |", ":": "colons"}
_NUMBER = re.compile(r"\s*[\"']?[-+]?\d+([.,]\d+)?[\"']?\s*")
# Signs between items that are not read, because they may mean several things.
_OTHER_MARKS = ("/", "<", " - ", "\n")


@dataclass(frozen=True, kw_only=True)
class Unfolded:
    """A table in which no cell holds more than one item, and what to know to read it.

    ``column`` is the one whose rankings became columns of ranks; empty if there is none.
    """

    columns: tuple[Item, ...]
    table: "pa.Table"
    options: TableOptions
    column: str = ""
    remarks: tuple[Remark | str, ...] = ()


def unfold_rankings(
    columns: tuple[Item, ...], table: "pa.Table", options: TableOptions
) -> Unfolded:
    """Give every place of a ranking in a cell its own column; other columns do not change.

    A column holds rankings if there is > between the names in its cells, or if all its cells list
    the same items, in different orders, or only items that the user names. Where other columns hold
    ranks, lists are remarks.
    """
    unchanged = Unfolded(columns=columns, table=table, options=options)
    if not _may_hold_rankings(columns, options):
        return unchanged
    found: dict[int, list[Answer]] = {}
    for column, name in enumerate(columns):
        answers = _nested(table.column(column))
        if answers is None:
            answers = _written(table.column(column), str(name))
        if answers is None:
            answers = _listed(table.column(column), options.items)
        if answers is not None:
            _refuse_answer_as_name(str(name), answers)
            found[column] = answers
    if not found or _hold_ranks(table):
        return unchanged
    if not any(map(_needs_ranks, found.values())):
        return replace(unchanged, **_by_place(columns, table, found))
    if len(found) > 1:
        named = listed([quoted(columns[column]) for column in found])
        raise InputError(f"columns {named} both hold rankings: keep one of them in the file")
    return _by_item(unchanged, *found.popitem())


def holds_rankings(columns: tuple[Item, ...], table: "pa.Table", options: TableOptions) -> bool:
    """Return whether some cells hold whole rankings."""
    return unfold_rankings(columns, table, options).columns != columns


def refuse_lists_as_items(name: Item, column: "pa.ChunkedArray") -> None:
    """Refuse the only column of orderings if its cells seem to list several items each."""
    _refuse_other_separators(str(name), column)
    distinct = _distinct_texts(column, (*_MARKS, *_OTHER_MARKS))
    if distinct is None:
        return
    labels = distinct[1].values()
    for mark in (*_MARKS, *_OTHER_MARKS):
        lists = [[part.strip("[]()\"' ") for part in _split(label, mark)] for label in labels]
        parts = [part for found in lists if len(found) > 1 for part in set(found)]
        if len(set(parts)) < len(parts):
            shown = next(label for label in labels if mark in label)
            raise InputError(
                f"cells of column {quoted(name)} such as {quoted(shown)} seem to list several "
                "items",
                [
                    "write > between them, as in tea > milk",
                    use("to name the items, if commas or semicolons separate them", items=...),
                    use("if each cell is one item", layout="orderings"),
                ],
            )


def _refuse_other_separators(name: str, column: "pa.ChunkedArray") -> None:
    """Refuse a table whose cells are separated by spaces, or signs that do not separate cells."""
    labels = [str(label) for label in encode(column)[1]]
    for mark, called in _OTHER_SEPARATORS.items():
        n_columns = len(name.split(mark))
        rows = [label.split(mark) for label in labels]
        # R writes the names of rows, but no name above them.
        same = all(len(row) in (n_columns, n_columns + 1) for row in rows)
        if n_columns > 1 and same and all(_NUMBER.fullmatch(cell) for row in rows for cell in row):
            raise InputError(
                f"{called} seem to separate the columns: write commas, semicolons or tabs between "
                "the cells, in all lines"
            )


def _may_hold_rankings(columns: tuple[Item, ...], options: TableOptions) -> bool:
    plain = options.layout in ("auto", "orderings") and options.better is None
    if not plain or options.item is not None or options.rank is not None:
        return False
    return sum(1 for name in columns if place_in_title(str(name))) <= 1


def _needs_ranks(answers: Sequence[Answer]) -> bool:
    """Return whether rankings have ties, or numbers as items, which look like ranks in cells."""
    tied = any(isinstance(entry, list) for answer in answers for entry in answer)
    return tied or all(item.isdecimal() for answer in answers for item in names_in(answer))


def _by_place(
    columns: tuple[Item, ...], table: "pa.Table", found: dict[int, list[Answer]]
) -> dict[str, Any]:
    """Return the table with one column per place of each ranking."""
    import pyarrow as pa

    unfolded: dict[str, Any] = {}
    for column, name in enumerate(columns):
        if column not in found:
            unfolded[str(name)] = table.column(column)
            continue
        answers = found[column]
        for place in range(max(map(len, answers))):
            cells = [answer[place] if place < len(answer) else None for answer in answers]
            unfolded[f"{name} [place {place + 1}]"] = cells
    return {"columns": tuple(unfolded), "table": pa.table(unfolded)}


def _by_item(unchanged: Unfolded, column: int, answers: list[Answer]) -> Unfolded:
    """Return the table with one column of ranks per item, which has room for ties."""
    import pyarrow as pa

    options, name = unchanged.options, unchanged.columns[column]
    if options.rename:
        answers = with_new_names(answers, dict(options.rename))
    seen = list(dict.fromkeys(item for answer in answers for item in names_in(answer)))
    given = options.items_renamed
    if given is None and options.spellings == "ask":
        refuse_spellings(seen, "item")
    items = seen if given is None else [str(item) for item in given]
    for item in seen:
        if item not in items:
            raise InputError(
                f"{quoted(item)} in column {quoted(name)} is not one of the items that you named",
                [use("to name all of them", items=[*items, item])],
            )
    unfolded: dict[str, Any] = {
        str(other): unchanged.table.column(at)
        for at, other in enumerate(unchanged.columns)
        if at != column
    }
    both = [item for item in items if item in unfolded]
    if both:
        raise InputError(
            f"{quoted(both[0])} is an item in column {quoted(name)} and the name of another "
            "column: rename that column"
        )
    ranks = np.zeros((len(answers), len(items)), dtype=np.int64)
    number = {item: at for at, item in enumerate(items)}
    for row, answer in enumerate(answers):
        listed = 0
        for entry in answer:
            tied = entry if isinstance(entry, list) else [entry]
            for item in tied:
                if ranks[row, number[item]]:
                    raise InputError(
                        f"a cell of column {quoted(name)} names {quoted(item)} twice: name each "
                        "item once"
                    )
                ranks[row, number[item]] = listed + 1
            listed += len(tied)
    for at, item in enumerate(items):
        unfolded[item] = pa.array(ranks[:, at], mask=ranks[:, at] == 0)
    n_tied = sum(any(isinstance(entry, list) for entry in answer) for answer in answers)
    said = f"{counted(n_tied, 'answer')} {'holds' if n_tied == 1 else 'hold'} tied items."
    return Unfolded(
        columns=tuple(unfolded),
        table=pa.table(unfolded),
        options=replace(options, layout="ranks", items=tuple(items), ties="allow", rename=()),
        column=str(name),
        remarks=(said,) if n_tied else (),
    )


def _nested(column: "pa.ChunkedArray") -> list[Answer] | None:
    """Return the rankings in cells that are lists, as in JSON; lists in them are tied items."""
    import pyarrow as pa

    if not pa.types.is_list(column.type):
        return None
    inner = column.type.value_type
    tied = pa.types.is_list(inner)
    if not pa.types.is_string(inner.value_type if tied else inner):
        return None
    answers: list[Answer] = []
    for cell in column.to_pylist():
        entries = [entry for entry in cell or [] if entry]
        if tied:
            entries = [entry if len(entry) > 1 else entry[0] for entry in entries]
        answers.append(entries)
    return answers


def _written(column: "pa.ChunkedArray", name: str) -> list[Answer] | None:
    """Return the rankings in a column whose cells have > between names; None if they do not."""
    distinct = _distinct_texts(column, ">≻→")
    if distinct is None:
        return None
    codes, labels = distinct
    where = f"column {quoted(name)}"
    texts = {code: labels[code].strip() for code in labels}
    rankings = {code: text for code, text in texts.items() if is_ranking(text)}
    known = {item for text in rankings.values() for item in names_in(parse_ranking(text, where))}
    # A cell with a single name is a ballot that stops there.
    if not rankings or any(texts[code] not in known for code in texts.keys() - rankings.keys()):
        return None
    several = next((text for text in rankings.values() if ";" in text or "|" in text), None)
    if several is not None:
        raise InputError(
            f"a cell of column {quoted(name)} holds {quoted(several)}, which may be one ranking or "
            "several comparisons: write one ranking per cell, as in tea > milk = water"
        )
    answers: dict[int, Answer] = {
        code: parse_ranking(text, where) if code in rankings else [text]
        for code, text in texts.items()
    }
    return [answers[code] if code >= 0 else [] for code in codes]


def _listed(column: "pa.ChunkedArray", items: Sequence[Item] | None) -> list[Answer] | None:
    """Return what the cells of a column list; None if they are not all lists of the items."""
    distinct = _distinct_texts(column, _MARKS)
    if distinct is None:
        return None
    codes, labels = distinct
    first = next(iter(labels.values()))
    for mark in _MARKS:
        if mark not in first:
            continue
        lists = {code: _split(label, mark) for code, label in labels.items()}
        known = set(_split(first, mark)) if items is None else {str(item) for item in items}
        if all(part.replace(".", "").isdecimal() for part in known):
            continue
        if items is None and len(labels) == 1 and len(codes) > 1:
            continue  # a remark that everybody makes
        if len(known) > 1 and all(_lists(found, known, items) for found in lists.values()):
            name = cut_at_commas(lists.values()) if mark == "," and items is None else ""
            if name:
                raise InputError(
                    "the same two words follow each other in every answer, as in "
                    f"{quoted(name)}, so a comma may be part of a name",
                    [
                        "if it is, separate the items with semicolons",
                        use("if each is an item", items=sorted(known)),
                    ],
                )
            return [[*lists[code]] if code >= 0 else [] for code in codes]
    return None


def _distinct_texts(
    column: "pa.ChunkedArray", marks: Iterable[str]
) -> tuple[list[int], dict[int, str]] | None:
    """Return the code of each cell, and the texts by code; None if no text has one of the marks."""
    if not can_be_encoded(column):
        return None
    _, labels = encode(column.slice(0, SAMPLE_ROWS))
    if not any(isinstance(label, str) and any(map(label.count, marks)) for label in labels):
        return None
    codes, labels = encode(column)
    cells = codes.tolist()
    used = sorted({code for code in cells if code >= 0})
    if not used or not all(isinstance(labels[code], str) for code in used):
        return None
    return cells, {code: str(labels[code]) for code in used}


def _refuse_answer_as_name(name: str, answers: Sequence[Answer]) -> None:
    """Refuse a name of a column that is an answer: the first line is no header."""
    items = {item for answer in answers for item in names_in(answer)}
    if is_ranking(name) or any(set(_split(name, mark)) == items for mark in _MARKS):
        raise InputError(
            f"the column is named {quoted(name)}, which also occurs as an answer, so the "
            "first line seems to be an answer: add a line with the name of the "
            "column above it"
        )


def _hold_ranks(table: "pa.Table") -> bool:
    """Return whether some columns of a table are ranks."""
    sample = table.slice(0, SAMPLE_ROWS)
    columns = [column for column in sample.columns if can_be_encoded(column)]
    numeric = [column for column in columns if share_of_numbers([column]) == 1]
    if len(numeric) < 2:
        return False
    values = np.column_stack([numbers(column, "the rank", numbered_row) for column in numeric])
    names = [str(number) for number in range(len(numeric))]
    try:
        screened = screen_ranks(values, names, "error", said=False)
    except InputError:
        return False
    kept = values[:, screened.kept]
    return len(screened.kept) > 1 and are_strict_rankings(kept)


def _split(label: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in label.split(mark) if part.strip())


def _lists(found: tuple[str, ...], known: set[str], items: Sequence[Item] | None) -> bool:
    """Return whether a list names items, each once, and all of them unless the user names them."""
    once = len(set(found)) == len(found)
    return once and (
        set(found) == known if items is None else len(found) > 0 and set(found) <= known
    )
