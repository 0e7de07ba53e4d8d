"""Which columns of numbers are ranks: what counts is whether the rows are rankings, not the titles.

A row of ranks is recognisable: it holds 1, 2, ..., k, each once. A column that is none, such as
respondent numbers, ages or codes, breaks that in nearly every row, whatever its title says and in
whichever language. So the columns of items are those whose rows are rankings. Where no columns, or
different ones, have such rows, it is for the user to say which they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import Item, Ties
from tierwise.errors import InputError, Remark, Remedy, listed, quoted, use

# Of the rows, so many must be rankings: single slips are named by their line later.
_SHARE_OF_ROWS = 0.8
_MOST_SUBSETS = 3000
_MOST_LEFT_OUT = 4
_ROWS_TO_TRY = 20
# With so many rows it is no accident that they are rankings without some columns only.
_ROWS_FOR_CERTAINTY = 10
# The least rows in which numbers that all differ are serial numbers.
_LEAST_SERIAL = 3
_TOP_OF_SCALE = 10
# With so many rows an item that all rank last, while they disagree about others, is not an item.
_ROWS_OF_A_CODE = 20
_ROWS_OF_GRADES = 5

NO_RANKS = "holds numbers that cannot be ranks"
SERIAL = "holds a different number in every row, like respondent numbers"
BREAKS_RANKS = "holds numbers that are not ranks (without this column every row is a ranking)"
NO_SCORES = "holds numbers beyond the scale of the others"


@dataclass(frozen=True)
class Screened:
    """Columns by their positions: those of ranks, and the others each with the reason."""

    kept: tuple[int, ...]
    aside: tuple[tuple[int, str], ...] = ()


def screen_ranks(
    values: NDArray[np.float64], names: Sequence[Item], ties: Ties, *, said: bool
) -> Screened:
    """Tell the columns of ranks from other columns of numbers, or ask.

    Parameters
    ----------
    values
        The first rows of all columns of numbers; NaN if a cell is empty.
    names
        The names of the columns.
    ties
        Whether equal ranks are meant.
    said
        Whether the user says that the cells are ranks: then numbers with ties are not taken for
        scores.

    Returns
    -------
    Screened
        Without any column if the rows are no rankings, whichever columns are left out.
    """
    everything = tuple(range(values.shape[1]))
    values = values[~np.isnan(values).all(axis=1)]
    if len(everything) < 2 or len(values) == 0:
        return Screened(everything)
    possible = _possible(values)
    in_range = len(possible) == len(everything)
    dense, strict = _share(_are_dense(values)), _share(_are_strict(values))
    if len(values) == 1 or (in_range and dense == 1):
        return Screened(everything)
    ways = _ways_out(values, possible)
    # What is wrong in single rows is named by its line, where the ranks are read. But it is no
    # slip if another column may have made it, a tie that is allowed or a gap.
    suspicious = bool(ways) and (ties == "allow" or bool(np.isnan(values).any()))
    if in_range and dense >= 0.5 and not suspicious:
        return Screened(everything)
    screened = _set_aside(values, possible, ways, strict)
    if screened is not None:
        return screened
    filled = bool(ways) and not np.isnan(values[:, ways[0]]).any()
    accepted = in_range and strict >= _SHARE_OF_ROWS and not filled
    doubtful = bool(ways) and not (said and len(ways) > 1)
    if doubtful and not accepted and _fit(values[:, ways[0]], len(everything)):
        raise _doubt(names, ways[0], _without(everything, ways[0]))
    weak = _share(_are_weak(values)) >= _SHARE_OF_ROWS
    if not accepted and not said:
        if weak and _may_be_grades(values):
            raise scores_instead(values, names, everything)
        if not weak and strict < 0.5:
            refuse_scores(values, names)
            return Screened(everything if in_range else ())
    return Screened(everything)


def _set_aside(
    values: NDArray[np.float64],
    possible: tuple[int, ...],
    ways: list[tuple[int, ...]],
    strict: float,
) -> Screened | None:
    """Set columns aside, if there is one way to do so and no doubt about it."""
    if len(ways) != 1:
        return None
    aside = tuple((column, _reason(values, column, possible)) for column in ways[0])
    evident = all(why != BREAKS_RANKS for _, why in aside)
    certain = len(values) >= _ROWS_FOR_CERTAINTY and strict < _SHARE_OF_ROWS
    if not (evident or certain):
        return None
    return Screened(_without(range(values.shape[1]), ways[0]), aside)


def refuse_scores(values: NDArray[np.float64], names: Sequence[Item]) -> None:
    """Refuse numbers that are likely scores, unless most rows are ranks."""
    scored = screen_scores(values, names, strictly=False)
    if scored is None or len(values) < 2:
        return
    if are_rankings(values) and not _may_be_grades(values):
        return
    if _are_like_scores(values[:, scored.kept]):
        raise scores_instead(values, names, scored.kept)


def screen_scores(
    values: NDArray[np.float64], names: Sequence[Item], *, strictly: bool = True
) -> Screened | None:
    """Tell the columns of scores from other columns of numbers; None if there are too few.

    Parameters
    ----------
    values, names
        As in `screen_ranks`.
    strictly
        Whether to refuse columns that may not be scores.
    """
    columns = range(values.shape[1])
    serial = [column for column in columns if _is_serial_among_scores(values, column)]
    others = [column for column in columns if column not in serial]
    top = {column: float(np.nanmax(values[:, column], initial=0)) for column in others}
    short = [column for column in others if top[column] <= _TOP_OF_SCALE]
    kept = short if len(short) >= 2 else others
    if len(kept) < 2:
        return None
    aside = [(column, SERIAL) for column in serial]
    aside += [(column, NO_SCORES) for column in others if column not in kept]
    for column in kept if strictly else ():
        rising = _is_serial(values[:, column]) and len(values) > _LEAST_SERIAL
        rest = values[:, [other for other in kept if other != column]]
        total = len(values) > 1 and np.allclose(values[:, column], rest.sum(axis=1))
        if rising or total:
            why = (
                "is the sum of other columns"
                if total
                else "only rises or only falls from row to row"
            )
            raise _no_score(names, column, kept, why)
    most = max(top[column] for column in kept)
    low = [column for column in kept if top[column] < most / 2]
    if strictly and low:
        raise InputError(
            f"column {quoted(names[low[0]])} has no number above {top[low[0]]:g} while others "
            f"go up to {most:g}, so it may not be a score",
            _with_or_without(names, kept, low),
        )
    return Screened(tuple(kept), tuple(sorted(aside)))


def _no_score(names: Sequence[Item], column: int, kept: Sequence[int], why: str) -> InputError:
    return InputError(
        f"column {quoted(names[column])} {why}, so it may not be a score",
        _with_or_without(names, kept, [column]),
    )


def _is_serial_among_scores(values: NDArray[np.float64], column: int) -> bool:
    """Return whether a column counts rows one by one, or rises above all scores."""
    own, others = values[:, column], np.delete(values, column, axis=1)
    if not _is_serial(own):
        return False
    one_by_one = len(own) > _LEAST_SERIAL and bool((np.abs(np.diff(own)) == 1).all())
    return one_by_one or bool(np.nanmin(own) > np.nanmax(others, initial=0))


def _possible(values: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the columns whose numbers may be ranks among so many columns."""
    kept = list(range(values.shape[1]))
    while True:
        still = [column for column in kept if _may_be_ranks(values[:, column], len(kept))]
        if len(still) == len(kept):
            return tuple(kept)
        kept = still


def _may_be_ranks(column: NDArray[np.float64], n_items: int) -> bool:
    """Return whether most numbers of a column are whole and from 1 to the number of items."""
    fitting = _fitting(column, n_items)
    return bool(2 * fitting.sum() >= len(fitting))


def _fit(columns: NDArray[np.float64], n_items: int) -> bool:
    """Return whether all numbers are whole and from 1 to the number of items."""
    return bool(_fitting(columns.ravel(), n_items).all())


def _fitting(column: NDArray[np.float64], n_items: int) -> NDArray[np.bool_]:
    """Tell which numbers of a column are whole and from 1 to the number of items."""
    filled = column[~np.isnan(column)]
    fitting: NDArray[np.bool_] = (filled >= 1) & (filled <= n_items) & (filled == np.floor(filled))
    return fitting


def _ways_out(values: NDArray[np.float64], possible: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the fewest columns without which all rows are 1, 2, ..., k, in all ways there are.

    If there is more than one way, nothing tells which columns are not ranks.
    """
    everything = tuple(range(values.shape[1]))
    impossible = _without(everything, possible)
    first = values[:_ROWS_TO_TRY]
    tried = 0
    for n_more in range(_fewest(values[:, possible]), min(_MOST_LEFT_OUT, len(possible) - 2) + 1):
        found = []
        for more in combinations(possible, n_more):
            tried += 1
            if tried > _MOST_SUBSETS:
                return []
            kept = _without(possible, more)
            if len(kept) >= 2 and all(
                _are_convincing(rows, kept, more) for rows in (first, values)
            ):
                found.append(tuple(sorted((*impossible, *more))))
        if found:
            return [way for way in found if way]
    return []


def _fewest(values: NDArray[np.float64]) -> int:
    """Return how many columns must be left out, at least, for rows to hold no number twice."""
    ascending = np.sort(values, axis=1)
    repeats = (ascending[:, 1:] == ascending[:, :-1]).sum(axis=1)
    return int(np.quantile(repeats, 0.5)) if len(repeats) else 0


def _are_convincing(
    values: NDArray[np.float64], kept: tuple[int, ...], more: tuple[int, ...]
) -> bool:
    """Return whether rows are rankings without some columns that might be ranks themselves.

    All rows must be, unless they are many. If they are few, they must be complete too, or else the
    columns left out must be numbers of rows, or filled in every row while others answer, too.
    """
    dense = _are_dense(values[:, kept])
    if len(values) >= _ROWS_FOR_CERTAINTY:
        return _share(dense) >= 0.9
    complete = not np.isnan(values[:, kept]).any()
    answered = not np.isnan(values[:, kept]).all(axis=1).any()
    filled = answered and not np.isnan(values[:, more]).any()
    serial = all(_is_serial(values[:, column]) for column in more)
    return bool(dense.all()) and (complete or filled or serial)


def _are_strict(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which rows hold no number twice, and only whole ones from 1 to the number of columns."""
    ascending = np.sort(values, axis=1)
    repeats = (ascending[:, 1:] == ascending[:, :-1]).any(axis=1)
    with np.errstate(invalid="ignore"):
        fits = (values >= 1) & (values <= values.shape[1]) & (values == np.floor(values))
    result: NDArray[np.bool_] = ~repeats & (fits | np.isnan(values)).all(axis=1)
    return result


def _are_dense(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which rows hold 1, 2, ..., k, each once; rows without numbers do."""
    listed = (~np.isnan(values)).sum(axis=1)
    largest = np.nanmax(np.where(np.isnan(values), 0, values), axis=1)
    result: NDArray[np.bool_] = (_are_strict(values) & (largest == listed)) | (listed == 0)
    return result


def _are_weak(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which rows are ranks with ties, written as 1 1 2, as 1 1 3 or as 2 2 3."""
    dense, otherwise = _codings(values)
    return dense | otherwise


def _codings(values: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which rows are ranks with ties as 1 1 2, and which are ranks in another way."""
    ascending = np.sort(values, axis=1)  # NaN comes last
    listed = ~np.isnan(ascending)
    place = np.arange(1, values.shape[1] + 1)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    last = np.ones(values.shape, dtype=bool)
    last[:, :-1] = new[:, 1:]
    dense = np.cumsum(new, axis=1)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    final = np.flip(
        np.minimum.accumulate(np.flip(np.where(last, place, place[-1]), axis=1), axis=1), axis=1
    )
    rows = [((ascending == coded) | ~listed).all(axis=1) for coded in (dense, first, final)]
    return rows[0], rows[1] | rows[2] | _are_strict(values)


def _may_be_grades(values: NDArray[np.float64]) -> bool:
    """Return whether ranks with ties may as well be grades: few numbers, each for many items.

    Ranks such as 1 1 2 2 3 are then the same as scores on a short scale, best or worst first.
    """
    dense, otherwise = _codings(values)
    n_listed = (~np.isnan(values)).sum(axis=1)
    n_distinct = np.nanmax(np.where(np.isnan(values), 0, values), axis=1)
    crowded = dense & ~otherwise & (n_distinct <= 0.6 * n_listed)
    few = len(values) >= _ROWS_OF_GRADES and np.nanmax(values) <= _TOP_OF_SCALE
    return bool(few) and _share(crowded) >= 0.5


def _is_serial(column: NDArray[np.float64]) -> bool:
    """Return whether the numbers of a column all differ and rise or fall from row to row."""
    filled = column[~np.isnan(column)]
    with np.errstate(invalid="ignore"):  # a cell may be infinite
        steps = np.diff(filled)
    return len(filled) >= _LEAST_SERIAL and bool((steps > 0).all() or (steps < 0).all())


def _are_like_scores(values: NDArray[np.float64]) -> bool:
    """Return whether numbers repeat within most rows, or exceed the number of items."""
    ascending = np.sort(values, axis=1)
    repeats = (ascending[:, 1:] == ascending[:, :-1]).any(axis=1)
    return _share(repeats) >= 0.5 or bool(np.nanmax(values) > values.shape[1])


def _reason(values: NDArray[np.float64], column: int, possible: tuple[int, ...]) -> str:
    whole = values[:, column] == np.floor(values[:, column])
    if _is_serial(values[:, column]) and whole.all():
        return SERIAL
    return BREAKS_RANKS if column in possible else NO_RANKS


def _share(rows: NDArray[np.bool_]) -> float:
    return float(rows.mean()) if len(rows) else 0.0


def _without(columns: Sequence[int], left_out: Sequence[int]) -> tuple[int, ...]:
    return tuple(column for column in columns if column not in left_out)


def _named(names: Sequence[Item], columns: Sequence[int]) -> list[str]:
    return [str(names[column]) for column in columns]


def _with_or_without(
    names: Sequence[Item], columns: Sequence[int], doubtful: Sequence[int]
) -> list[Remedy]:
    """Say how to read a table with, or without, columns that may not be items."""
    which = "it is" if len(doubtful) == 1 else "they are"
    others = _without(columns, doubtful)
    return [
        *([use(f"if {which} not", items=_named(names, others))] if len(others) > 1 else []),
        use(f"if {which}", items=_named(names, sorted(columns))),
    ]


def _doubt(names: Sequence[Item], left_out: Sequence[int], kept: Sequence[int]) -> InputError:
    return InputError(
        f"without column {quoted(names[left_out[0]])} every row is a ranking, so this column "
        "may be an item with ties, or not an item",
        _with_or_without(names, (*kept, *left_out), left_out),
    )


def scores_instead(
    values: NDArray[np.float64], names: Sequence[Item], columns: Sequence[int]
) -> InputError:
    """Make the error for numbers that look like scores."""
    some = values[:, columns]
    low, high = np.nanmin(some), np.nanmax(some)
    shown = ", ".join(quoted(names[column]) for column in columns[:3])
    more = ", ..." if len(columns) > 3 else ""
    return InputError(
        f"columns {shown}{more} hold numbers from {low:g} to {high:g}, which look like scores, "
        "not ranks",
        [
            use(f"if {high:g} is best", better="higher"),
            use(f"if {low:g} is best", better="lower"),
            use("if they are ranks with ties", layout="ranks", ties="allow"),
        ],
    )


def doubts_about_ranks(
    values: NDArray[np.float64], names: Sequence[Item], *, said: bool
) -> tuple[Remark, ...]:
    """Say what ranks cannot tell: a code that everybody has may look like the last of all ranks.

    Among few answers an item may be last in all of them, so that is only a remark. Among many it is
    more likely a code, and asked about.

    Parameters
    ----------
    values
        The first rows of the columns that are read as ranks.
    names
        The names of the columns.
    said
        Whether the user says that the cells are ranks: then no question is raised.
    """
    values = values[~np.isnan(values).all(axis=1)]
    n_rows, n_columns = values.shape
    if n_columns < 2 or n_rows == 0:
        return ()
    if n_rows == 1:
        which = "both" if n_columns == 2 else f"all {n_columns}"
        return (
            Remark(
                "With a single answer, ranks cannot be distinguished from other numbers, so "
                f"{which} columns of numbers are read as items",
                (use("if some are not", items=...),),
            ),
        )
    last = _always_last(values)
    if not last:
        return ()
    found = listed([quoted(names[column]) for column in last])
    if n_rows >= _ROWS_OF_A_CODE and not said:
        raise InputError(
            f"column {found} holds the largest number in every row, so it may be a code, not an "
            "item",
            [
                use("if it is not an item", items=_named(names, _without(range(n_columns), last))),
                use("if all are items", layout="ranks"),
            ],
        )
    return (
        Remark(
            f"Column {found} is last in every row: it may be an item or a code",
            (use("if it is not an item", items=_named(names, _without(range(n_columns), last))),),
        ),
    )


def _always_last(values: NDArray[np.float64]) -> list[int]:
    """Return the columns that hold the largest numbers in every row, while others vary."""
    columns, found = np.arange(values.shape[1]), []
    while len(columns) > 2:
        left = values[:, columns]
        last = (left == np.nanmax(np.where(np.isnan(left), 0, left), axis=1)[:, None]).all(axis=0)
        rest = left[:, ~last]
        if last.sum() != 1 or len(np.unique(rest, axis=0)) == 1 or np.isnan(rest).all(1).any():
            break
        found.append(int(columns[last][0]))
        columns = columns[~last]
    return found


def are_rankings(values: NDArray[np.float64]) -> bool:
    """Return whether most rows are ranks, with or without ties."""
    return _share(_are_weak(values[~np.isnan(values).all(axis=1)])) >= _SHARE_OF_ROWS


def are_strict_rankings(values: NDArray[np.float64]) -> bool:
    """Return whether most rows are ranks without ties."""
    return _share(_are_strict(values[~np.isnan(values).all(axis=1)])) >= _SHARE_OF_ROWS


def are_turned_rankings(values: NDArray[np.float64]) -> bool:
    """Return whether all columns are ranks of the rows, and most rows are not ranks."""
    if min(values.shape) < 3 or np.isnan(values).any():
        return False
    return bool(_are_dense(values.T).all()) and _share(_are_strict(values)) < 0.5


def no_ranks(values: NDArray[np.float64], names: Sequence[Item]) -> InputError:
    """Make the error for columns of numbers that are neither ranks nor scores."""
    n_columns = values.shape[1]
    odd = _without(range(n_columns), _possible(values)) or range(n_columns)
    column = odd[0]
    return InputError(
        f"column {quoted(names[column])} holds numbers such as "
        f"{values[~np.isnan(values[:, column]), column][0]:g}, and the rows are not rankings of "
        f"{n_columns} items, with or without this column",
        [use("to name the columns that are items", items=...)],
    )
