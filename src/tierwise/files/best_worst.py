"""Best and worst of items shown (MaxDiff), one row per choice set.

A row names the items shown, in columns of their own or in one cell, the best of them and the worst.
It says that the best comes before all others shown, and the worst after them. Of the others it says
nothing, nor of items that were not shown. So it is a ranking with ties and gaps: the best, then
what is tied between, then the worst.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import NOT_LISTED, Codes, Places, RowNamer
from tierwise.errors import InputError, counted, quoted, use
from tierwise.files.cells import ABSENT, check_cells, encode, numbers
from tierwise.files.options import Aside, ReadingNotes
from tierwise.files.places import EncodedRankings
from tierwise.files.table_file import TableFile

BEST = ("best", "most", "mostimportant", "mostpreferred", "mostappealing")
WORST = ("worst", "least", "leastimportant", "leastpreferred", "leastappealing")
_SHOWN_TOGETHER = ("shown", "items", "set", "options", "alternatives", "choiceset")
_SHOWN = re.compile(r"(?:shown|item|option|alternative|attribute|alt|product|position)0*(\d+)")
WEIGHTS = ("weight", "weights", "count")
# What stands between items in one cell; the first that occurs.
_SEPARATORS = ("|", ";", ",")
_ROWS_PER_PIECE = 1 << 16


@dataclass(frozen=True)
class BestWorstColumns:
    """The numbers of the columns; the items are in several columns, or in one cell."""

    shown: tuple[int, ...]
    best: int | None
    worst: int | None
    weight: int | None


def are_best_worst(names: Sequence[str]) -> bool:
    """Return whether there are columns for the best, for the worst, and for what was shown.

    Examples
    --------
    >>> are_best_worst(["id", "item 1", "item 2", "item 3", "Best", "Worst"])
    True
    >>> are_best_worst(["best", "worst", "age"])
    False
    """
    columns = _recognised(names)
    return bool(columns.shown) and columns.best is not None and columns.worst is not None


def plain_names(names: Sequence[str]) -> list[str]:
    """Names of columns without case, space and punctuation."""
    return [re.sub(r"[^a-z0-9]+", "", name.casefold()) for name in names]


def first_of(words: Sequence[str], plain: Sequence[str]) -> int | None:
    """Return the number of the column that has the first of some names that occurs."""
    return next((list(plain).index(word) for word in words if word in plain), None)


def column_named(name: str, names: Sequence[str]) -> int:
    """Return the number of a column, or say that there is none of this name."""
    if name not in names:
        listed = ", ".join(quoted(one) for one in names[:8])
        raise InputError(f"there is no column {quoted(name)}: the columns are {listed}")
    return list(names).index(name)


def _recognised(names: Sequence[str]) -> BestWorstColumns:
    """Tell which column is what by their names."""
    plain = plain_names(names)

    def known(words: Sequence[str]) -> int | None:
        return first_of(words, plain)

    numbered = [(int(match[1]), place) for place, match in _matches(plain)]
    together = known(_SHOWN_TOGETHER)
    shown = tuple(place for _, place in sorted(numbered))
    if len(shown) < 2:
        shown = () if together is None else (together,)
    return BestWorstColumns(shown, known(BEST), known(WORST), known(WEIGHTS))


def _matches(plain: Sequence[str]) -> list[tuple[int, re.Match[str]]]:
    found = ((place, _SHOWN.fullmatch(name)) for place, name in enumerate(plain))
    return [(place, match) for place, match in found if match is not None]


def encode_best_worst(
    table: TableFile,
    shown: Sequence[str] | None = None,
    best: str | None = None,
    worst: str | None = None,
    weights: str | None = None,
) -> EncodedRankings:
    """Read choice sets as rankings with ties and gaps; columns that are not named are recognised.

    Parameters
    ----------
    table
        The table.
    shown
        The columns of the items shown, or the one column that lists them.
    best, worst, weights
        The columns of the best item, of the worst, and of how often a row counts.
    """
    names = [str(name) for name in table.columns]
    columns = _columns(names, shown, best, worst, weights)
    pieces, weight_pieces = [], []
    number_of: dict[str, int] = {}
    start = 0
    for piece in table.batches(_ROWS_PER_PIECE):

        def name_row(row: int, start: int = start) -> str:
            return table.name_row(start + row)

        for column in (*columns.shown, columns.best, columns.worst, columns.weight):
            if column is not None:
                check_cells(names[column], piece.column(column))
        pieces.append(_places_of(piece, columns, number_of, name_row))
        if columns.weight is not None:
            weight_pieces.append(numbers(piece.column(columns.weight), "the weight", name_row))
        start += piece.num_rows
    if not number_of:
        raise InputError("there are no choice sets: add at least one row")
    n_items = len(number_of)
    places = np.concatenate(
        [
            np.pad(piece, ((0, 0), (0, n_items - piece.shape[1])), constant_values=NOT_LISTED)
            for piece in pieces
        ]
    )
    items = sorted(number_of)
    places = places[:, [number_of[item] for item in items]]
    return EncodedRankings(
        tuple(items),
        places,
        np.concatenate(weight_pieces) if weight_pieces else None,
        "anywhere",
        table.name_row,
        notes_about(
            names, [*columns.shown, columns.best, columns.worst], columns.weight, start
        ).about(table.form),
    )


def _columns(
    names: Sequence[str],
    shown: Sequence[str] | None,
    best: str | None,
    worst: str | None,
    weights: str | None,
) -> BestWorstColumns:
    """Take the columns that are named, and recognise the others."""

    def said(name: str) -> int:
        return column_named(name, names)

    known = _recognised(names)
    columns = BestWorstColumns(
        known.shown if shown is None else tuple(map(said, shown)),
        known.best if best is None else said(best),
        known.worst if worst is None else said(worst),
        known.weight if weights is None else said(weights),
    )
    if not columns.shown or (columns.best is None and columns.worst is None):
        what = "which items were shown" if not columns.shown else "which item was best or worst"
        raise InputError(
            f"no column says {what}",
            [use("to name the columns", shown=..., best=..., worst=...)],
        )
    return columns


def _places_of(
    piece: object, columns: BestWorstColumns, number_of: dict[str, int], name_row: RowNamer
) -> Places:
    """Return the place of each item in each row of a piece of a table; items may be new."""

    def cells(column: int) -> tuple[Codes, list[str]]:
        codes, labels = encode(piece.column(column))  # type: ignore[attr-defined]
        return codes, [str(label).strip() for label in labels]

    if len(columns.shown) == 1:
        rows, items = _listed_together(*cells(columns.shown[0]), number_of)
        n_rows = len(piece.column(columns.shown[0]))  # type: ignore[attr-defined]
    else:
        by_column = [cells(column) for column in columns.shown]
        n_rows = len(by_column[0][0])
        for _, labels in by_column:
            for label in labels:
                number_of.setdefault(label, len(number_of))
        found = _one_per_cell(by_column, number_of)
        rows, items = (np.concatenate(parts) for parts in zip(*found, strict=True))
    is_shown = shown_in(rows, items, n_rows, list(number_of), name_row)
    chosen = [
        _chosen(cells(column), what, is_shown, number_of, name_row)
        if column is not None
        else np.full(n_rows, ABSENT, dtype=np.int64)
        for column, what in ((columns.best, "best"), (columns.worst, "worst"))
    ]
    return chosen_places(is_shown, chosen, list(number_of), name_row)


def shown_in(
    rows: NDArray[np.int64],
    items: NDArray[np.int64],
    n_rows: int,
    names: Sequence[str],
    name_row: RowNamer,
) -> NDArray[np.bool_]:
    """Return which items were shown in each choice set, or say what cannot be right."""
    n_items = len(names)
    times = np.bincount(rows * n_items + items, minlength=n_rows * n_items).reshape(n_rows, n_items)
    if (times > 1).any():
        row, item = (int(place) for place in np.argwhere(times > 1)[0])
        raise InputError(
            f"{name_row(row)}: {quoted(names[item])} is shown twice: list each item once"
        )
    is_shown = times > 0
    counts = is_shown.sum(axis=1)
    if (counts < 2).any():
        row = int((counts < 2).argmax())
        raise InputError(
            f"{name_row(row)}: {counted(int(counts[row]), 'item')} shown: a choice needs at "
            "least two"
        )
    return is_shown


def chosen_places(
    is_shown: NDArray[np.bool_],
    chosen: Sequence[NDArray[np.int64]],
    names: Sequence[str],
    name_row: RowNamer,
) -> Places:
    """Return the place of each item in each choice set, or say what cannot be right.

    Parameters
    ----------
    is_shown
        Which items (columns) were shown in each choice set (rows).
    chosen
        The best and the worst item of each choice set, ``ABSENT`` where none was chosen.
    names
        Names of the items.
    name_row
        Names a choice set.
    """
    n_rows, counts = len(is_shown), is_shown.sum(axis=1)
    best, worst = chosen
    same = (best == worst) & (best != ABSENT)
    if same.any():
        row = int(same.argmax())
        raise InputError(
            f"{name_row(row)}: {quoted(names[best[row]])} is both the best and the worst"
        )
    every = np.arange(n_rows)
    places = np.where(is_shown, (best != ABSENT).astype(np.int64)[:, None], NOT_LISTED)
    has_best, has_worst = best != ABSENT, worst != ABSENT
    places[every[has_best], best[has_best]] = 0
    places[every[has_worst], worst[has_worst]] = counts[has_worst] - 1
    return np.asarray(places, dtype=np.int32)


def _listed_together(
    codes: Codes, labels: list[str], number_of: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and items where one cell lists what was shown."""
    sets = []
    for label in labels:
        separator = next((one for one in _SEPARATORS if one in label), ",")
        named = [part.strip() for part in label.split(separator) if part.strip()]
        sets.append(
            np.array([number_of.setdefault(one, len(number_of)) for one in named], dtype=np.int64)
        )
    filled = np.flatnonzero(codes != ABSENT)
    lengths = np.array([len(one) for one in sets], dtype=np.int64)
    if not len(filled):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    rows = np.repeat(filled, lengths[codes[filled]])
    return rows, np.concatenate([sets[code] for code in codes[filled].tolist()])


def _one_per_cell(
    columns: list[tuple[Codes, list[str]]], number_of: dict[str, int]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows and items, column by column, where each cell holds an item."""
    found = []
    for codes, labels in columns:
        numbers_of_labels = np.array([number_of[label] for label in labels], dtype=np.int64)
        rows = np.flatnonzero(codes != ABSENT)
        found.append((rows, numbers_of_labels[codes[rows]] if len(labels) else rows[:0]))
    return found


def _chosen(
    cells: tuple[Codes, list[str]],
    what: str,
    is_shown: NDArray[np.bool_],
    number_of: dict[str, int],
    name_row: RowNamer,
) -> NDArray[np.int64]:
    """Return the number of the item that was chosen in each row, ``ABSENT`` where none was."""
    codes, labels = cells
    filled = np.flatnonzero(codes != ABSENT)
    numbers_of_labels = np.array([number_of.get(label, ABSENT) for label in labels], dtype=np.int64)
    found = np.full(len(codes), ABSENT, dtype=np.int64)
    found[filled] = numbers_of_labels[codes[filled]] if len(labels) else ABSENT
    wrong = filled[(found[filled] == ABSENT) | ~is_shown[filled, np.maximum(found[filled], 0)]]
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{name_row(row)}: the {what} is {quoted(labels[codes[row]])}, which was not shown: "
            "write the name of one of the items shown"
        )
    return found


def notes_about(
    names: Sequence[str],
    columns: Sequence[int | None],
    weight: int | None,
    n_sets: int,
    layout: str = "best and worst",
) -> ReadingNotes:
    """Note which columns were read."""
    read = list(dict.fromkeys(one for one in columns if one is not None))
    used = {*read, weight}
    return ReadingNotes(
        layout=layout,
        columns=tuple(names[number] for number in read),
        weights="" if weight is None else names[weight],
        aside=tuple(
            Aside(name, "does not say what was chosen")
            for number, name in enumerate(names)
            if number not in used
        ),
        n_answers=n_sets,
    )


def choose_best_and_worst(places: Places, set_size: int, rng: np.random.Generator) -> Places:
    """Show a random set of items for each complete ranking; keep its best and its worst.

    Parameters
    ----------
    places
        The place of each item in each ranking.
    set_size
        How many items are shown.
    rng
        Generator.
    """
    n_rankings, n_items = places.shape
    shown = np.argsort(rng.random((n_rankings, n_items)), axis=1)[:, :set_size]
    ranked = np.take_along_axis(places, shown, axis=1)
    every = np.arange(n_rankings)
    chosen = np.full((n_rankings, n_items), NOT_LISTED, dtype=np.int32)
    chosen[every[:, None], shown] = 1
    chosen[every, shown[every, ranked.argmin(axis=1)]] = 0
    chosen[every, shown[every, ranked.argmax(axis=1)]] = set_size - 1
    return chosen
