"""Best and worst of items shown (MaxDiff), one row per item shown.

Rows that belong to one choice set have the same cells in the columns that name it, such as the
person and the number of the question. A mark says which item is the best, and another which is the
worst; or one column says "best" or "worst".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import RowNamer
from tierwise.errors import InputError, quoted
from tierwise.files.best_worst import (
    BEST,
    WEIGHTS,
    WORST,
    chosen_places,
    column_named,
    first_of,
    notes_about,
    plain_names,
    shown_in,
)
from tierwise.files.cells import ABSENT, check_cells, encode, numbers
from tierwise.files.places import EncodedRankings
from tierwise.files.table_file import TableFile

_ITEM = ("item", "alternative", "attribute", "option", "product", "alt")
_SET = ("choiceset", "set", "setid", "task", "question", "screen", "block", "trial", "version")
_PEOPLE = ("respondent", "respondentid", "respid", "person", "participant", "subject", "user", "id")
_BOTH = ("bestworst", "bw", "bestorworst")
_NEITHER = ("", "0", "false", "no", "n", "none", "neither", "-")
_MARKS = ("1", "true", "yes", "y", "x")
_OF_BEST = (*_MARKS, *BEST, "b", "+1")
_OF_WORST = ("worst", "w", "-1", *WORST)


@dataclass(frozen=True)
class LongColumns:
    """The numbers of the columns; best and worst are the same where one column says both."""

    choice_set: tuple[int, ...]
    item: int
    best: int | None
    worst: int | None
    weight: int | None


def recognised_long(
    names: Sequence[str],
    item: str | None = None,
    choice_set: Sequence[str] | None = None,
    best: str | None = None,
    worst: str | None = None,
    weights: str | None = None,
) -> LongColumns | None:
    """Tell which column is what; None if there is not one row per item shown.

    Examples
    --------
    >>> recognised_long(["respondent", "set", "item", "best", "worst"])
    LongColumns(choice_set=(0, 1), item=2, best=3, worst=4, weight=None)
    >>> recognised_long(["item1", "item2", "item3", "best", "worst"])
    """
    plain = plain_names(names)
    own_item = first_of(_ITEM, plain) if item is None else column_named(item, names)
    sets: tuple[int, ...] = ()
    if choice_set is not None:
        sets = tuple(column_named(name, names) for name in choice_set)
    elif (of_set := first_of(_SET, plain)) is not None:
        of_people = first_of(_PEOPLE, plain)
        sets = (of_set,) if of_people is None else (of_people, of_set)
    if own_item is None or not sets:
        return None
    both = first_of(_BOTH, plain)
    own_best = first_of(BEST, plain) if best is None else column_named(best, names)
    own_worst = first_of(WORST, plain) if worst is None else column_named(worst, names)
    if own_best is None and own_worst is None:
        own_best = own_worst = both
    if own_best is None and own_worst is None:
        return None
    if best is None and worst is None and (own_best is None or own_worst is None):
        return None
    weight = first_of(WEIGHTS, plain) if weights is None else column_named(weights, names)
    return LongColumns(sets, own_item, own_best, own_worst, weight)


def encode_long_best_worst(table: TableFile, columns: LongColumns) -> EncodedRankings:
    """Read choice sets of one row per item as rankings with ties and gaps.

    Parameters
    ----------
    table
        The table.
    columns
        Which column is what.
    """
    names = [str(name) for name in table.columns]
    read = table.read()
    used = (columns.item, columns.best, columns.worst, columns.weight, *columns.choice_set)
    for column in used:
        if column is not None:
            check_cells(names[column], read.column(column))
    set_of_row, first_rows = _sets_of(read, columns, names, table.name_row)
    codes, labels = encode(read.column(columns.item))
    if (codes == ABSENT).any():
        row = int((codes == ABSENT).argmax())
        raise InputError(f"{table.name_row(row)}: the cell of the item is empty: write its name")
    stripped = [str(label).strip() for label in labels]
    items = sorted(set(stripped))
    item_of_row = np.array([items.index(name) for name in stripped], dtype=np.int64)[codes]

    def name_set(number: int) -> str:
        return table.name_row(int(first_rows[number]))

    chosen = [
        _marked(read, column, words, what, set_of_row, item_of_row, len(first_rows), table.name_row)
        for column, words, what in (
            (columns.best, _words(columns, _OF_BEST, _OF_WORST), "best"),
            (columns.worst, _words(columns, _OF_WORST, _OF_BEST), "worst"),
        )
    ]
    is_shown = shown_in(set_of_row, item_of_row, len(first_rows), items, name_set)
    places = chosen_places(is_shown, chosen, items, name_set)
    return EncodedRankings(
        tuple(items),
        places,
        _weights(read, columns, set_of_row, first_rows, table.name_row),
        "anywhere",
        name_set,
        notes_about(
            names,
            [*columns.choice_set, columns.item, columns.best, columns.worst],
            columns.weight,
            len(first_rows),
            "best and worst, long",
        ).about(table.form),
    )


def _words(
    columns: LongColumns, own: Sequence[str], other: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return what marks an item, and what does not; with a column each, any mark will do."""
    if columns.best == columns.worst:
        return own, (*other, *_NEITHER)
    return (*own, *_MARKS), _NEITHER


def _sets_of(
    table: Any, columns: LongColumns, names: Sequence[str], name_row: RowNamer
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of the choice set of each row, in order of appearance; their first rows."""
    keys = []
    for column in columns.choice_set:
        codes, _ = encode(table.column(column))
        if (codes == ABSENT).any():
            row = int((codes == ABSENT).argmax())
            raise InputError(
                f"{name_row(row)}: the cell of {quoted(names[column])} is empty, so it is not "
                "known which choice set the row belongs to"
            )
        keys.append(codes)
    if not len(keys[0]):
        raise InputError("there are no choice sets: add at least two rows")
    _, firsts, numbers_of_rows = np.unique(
        np.column_stack(keys), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(firsts)
    return np.argsort(order)[numbers_of_rows.ravel()], firsts[order]


def _marked(
    table: Any,
    column: int | None,
    words: tuple[Sequence[str], Sequence[str]],
    what: str,
    set_of_row: NDArray[np.int64],
    item_of_row: NDArray[np.int64],
    n_sets: int,
    name_row: RowNamer,
) -> NDArray[np.int64]:
    """Return the item that is marked in each choice set, ``ABSENT`` where none is."""
    found = np.full(n_sets, ABSENT, dtype=np.int64)
    if column is None:
        return found
    codes, labels = encode(table.column(column))
    plain = [re.sub(r"[\s_]+", "", str(label).casefold()) for label in labels]
    marks, others = words
    is_mark = np.array([one in marks for one in plain], dtype=np.bool_)
    known = np.array([one in marks or one in others for one in plain], dtype=np.bool_)
    filled = np.flatnonzero(codes != ABSENT)
    unknown = filled[~known[codes[filled]]]
    if len(unknown):
        row = int(unknown[0])
        raise InputError(
            f"{name_row(row)}: {quoted(labels[codes[row]])} does not say whether the item is the "
            f"{what}: write 1 for the item that was chosen, and 0 or nothing for the others"
        )
    rows = filled[is_mark[codes[filled]]]
    sets = set_of_row[rows]
    again = np.ones(len(rows), dtype=np.bool_)
    again[np.unique(sets, return_index=True)[1]] = False
    if again.any():
        row = int(rows[again.argmax()])
        raise InputError(f"{name_row(row)}: the choice set has a {what} item already")
    found[sets] = item_of_row[rows]
    return found


def _weights(
    table: Any,
    columns: LongColumns,
    set_of_row: NDArray[np.int64],
    first_rows: NDArray[np.int64],
    name_row: RowNamer,
) -> NDArray[np.float64] | None:
    """Return the weight of each choice set, which all of its rows have."""
    if columns.weight is None:
        return None
    by_row = numbers(table.column(columns.weight), "the weight", name_row)
    by_set = by_row[first_rows]
    other = by_row != by_set[set_of_row]
    if other.any():
        raise InputError(
            f"{name_row(int(other.argmax()))}: the weight is not that of the other rows of the "
            "choice set"
        )
    return by_set
