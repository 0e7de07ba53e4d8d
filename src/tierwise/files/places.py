"""From orderings and ranks to tables of places: every row is checked."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice, check_items, check_iterable
from tierwise._util.resources import check_memory
from tierwise._util.types import (
    NOT_LISTED,
    Item,
    Places,
    RowNamer,
    Ties,
    Unranked,
    Weights,
    WeightsAre,
    numbered_row,
)
from tierwise.errors import InputError, counted, instead, quoted, use
from tierwise.files.cells import codes_of
from tierwise.files.options import Better, Broken, ReadingNotes

if TYPE_CHECKING:
    import pyarrow as pa

_Read = TypeVar("_Read")
_MOST_WHOLE_WEIGHT = 2.0**62
# A name, and its entry in a dictionary.
_BYTES_OF_ITEM = 200
# While ranks are sorted: the ranks, their order, the sorted ranks, places before and after.
BYTES_OF_RANK = 40


@dataclass(frozen=True, eq=False)
class EncodedRankings:
    """Rankings as a file holds them, for `tierwise.Rankings` to check and keep.

    Attributes
    ----------
    items
        The items.
    places
        The place of each item in each answer.
    weights
        How often each answer counts; once if None.
    unranked
        What "not listed" means, if given.
    name_row
        Names an answer for messages.
    notes
        How they were read, if they come from a table.
    people
        The other columns of the table, about people, one row per answer.
    weights_are
        What weights mean, if given.
    """

    items: tuple[Item, ...]
    places: Places
    weights: Weights | None = None
    unranked: Unranked | None = None
    name_row: RowNamer = numbered_row
    notes: ReadingNotes | None = None
    people: "pa.Table | None" = None
    weights_are: WeightsAre | None = None


def encode_orderings(
    rows: Iterable[Iterable[object]], items: Iterable[Item] | None, name_row: RowNamer
) -> tuple[tuple[Item, ...], Places]:
    """Turn orderings, best first, into the place of every item in every row.

    A list or set inside a row holds items that are tied there. Tied items share the first of
    the places they take up; an item that is not listed has the place ``NOT_LISTED``.
    """
    row_of: list[int] = []
    place_of: list[int] = []
    labels: list[Item] = []
    n_rows = 0
    for number, row in enumerate(check_iterable("rows", rows, "orderings")):
        n_rows += 1
        if isinstance(row, str) or not isinstance(row, Iterable):
            kind = "text" if isinstance(row, str) else type(row).__name__
            raise InputError(
                f"{name_row(number)} is the {kind} {quoted(row)}: a row must be a list of items"
            )
        place = 0
        for entry in row:
            group = entry if isinstance(entry, list | set) else (entry,)
            row_of.extend([number] * len(group))
            place_of.extend([place] * len(group))
            labels.extend(group)
            place += len(group)
        if place == 0:
            raise InputError(f"{name_row(number)} lists no item: delete the row")
    if n_rows == 0:
        raise InputError("there are no rankings: give at least one row")
    if items is None:
        try:
            named = dict.fromkeys(labels)
        except TypeError:
            _refuse_unhashable(labels, row_of, name_row)
            raise
        known = check_items(named, lambda item: name_row(row_of[labels.index(item)]))
    else:
        known = check_items(items)
    numbers = {item: number for number, item in enumerate(known)}
    try:
        item_of = [numbers[label] for label in labels]
    except (KeyError, TypeError):
        _refuse_unhashable(labels, row_of, name_row)
        where = next(entry for entry, label in enumerate(labels) if label not in numbers)
        raise unknown_item(labels[where], known, name_row(row_of[where])) from None
    check_memory_of_places(n_rows, len(known))
    return known, scatter(
        np.array(row_of, dtype=np.int64),
        np.array(item_of, dtype=np.int64),
        np.array(place_of, dtype=np.int32),
        n_rows,
        known,
        name_row,
    )


def _refuse_unhashable(labels: list[Item], row_of: list[int], name_row: RowNamer) -> None:
    for label, row in zip(labels, row_of, strict=True):
        if not isinstance(label, Hashable):
            raise InputError(
                f"{name_row(row)}: {quoted(label)} is a {type(label).__name__}, which cannot be "
                "the name of an item: use a text or a number"
            )


def check_memory_of_places(n_rows: int, n_items: int, bytes_of_cell: int = 8) -> None:
    """Refuse tables of places that are too large for memory, while they are still numbers.

    Parameters
    ----------
    n_rows, n_items
        How large the table is.
    bytes_of_cell
        What a cell takes while the table is made: by default a place and its copy.
    """
    check_memory(
        n_rows * n_items * bytes_of_cell + n_items * _BYTES_OF_ITEM,
        f"the places of {counted(n_items, 'item')} in {counted(n_rows, 'answer')}",
        "use fewer items or answers, or keep them in a CSV or Parquet file and use Rankings.scan",
    )


def unknown_item(item: object, items: Sequence[Item], where: str) -> InputError:
    """Make the error for an item that is not among those announced."""
    shown = ", ".join(quoted(known) for known in items[:6]) + (", ..." if len(items) > 6 else "")
    return InputError(
        f"{where}: item {quoted(item)} is not among the {len(items)} items ({shown}): correct "
        "the row, or add the item to the items"
    )


def unranked_missing(places: Places, items: Sequence[Item], name_row: RowNamer) -> InputError:
    """Name the first incomplete row, and ask what that means."""
    row = int(np.argmax((places == NOT_LISTED).any(axis=1)))
    absent = np.flatnonzero(places[row] == NOT_LISTED)
    listed = len(items) - len(absent)
    return InputError(
        f"{name_row(row)} lists {listed} of {len(items)} items "
        f"(not {quoted(items[int(absent[0])])}), and the data do not say what that means",
        [
            use(
                "if items not listed rank below all listed ones (ballots, finishers of a race)",
                unranked="below",
            ),
            use("if their rank is unknown (they were not shown)", unranked="anywhere"),
        ],
    )


def scatter(
    row_of: NDArray[np.int64],
    item_of: NDArray[np.int64],
    place_of: NDArray[np.int32],
    n_rows: int,
    items: Sequence[Item],
    name_row: RowNamer,
) -> Places:
    """Put entries (row, item, place) into a table of rows by items, each item once per row."""
    places = np.full((n_rows, len(items)), NOT_LISTED, dtype=np.int32)
    places[row_of, item_of] = place_of
    if np.count_nonzero(places != NOT_LISTED) != len(row_of):
        cells = row_of * len(items) + item_of
        _, first = np.unique(cells, return_index=True)
        again = np.setdiff1d(np.arange(len(cells)), first)
        item = quoted(items[int(item_of[again[0]])])
        raise InputError(
            f"{name_row(int(row_of[again[0]]))}: item {item} is listed twice",
            ["list each item once in a row"],
        ).about(np.unique(row_of[again]).tolist())
    return places


def read_sound_rows(
    read: Callable[[NDArray[np.int64]], _Read], n_rows: int, name_row: RowNamer, broken: Broken
) -> tuple[_Read, NDArray[np.int64], tuple[str, ...]]:
    """Read rows; if requested, leave out invalid ones.

    Parameters
    ----------
    read
        Reads the rows of these numbers.
    n_rows
        How many there are.
    name_row
        Names a row for messages.
    broken
        "skip" to leave out invalid rows.

    Returns
    -------
    what was read, the numbers of the rows that were, and a remark about the others
    """
    kept, first = np.arange(n_rows, dtype=np.int64), ""
    while True:
        try:
            found = read(kept)
            break
        except InputError as error:
            if not error.rows:
                raise
            if broken != "skip" or len(error.rows) == len(kept):
                leave_out = use("to leave out such answers", broken="skip")
                raise InputError(error.problem, [*error.remedies, leave_out]) from None
            first = first or name_row(int(kept[error.rows[0]]))
            kept = np.delete(kept, error.rows)
    n_broken = n_rows - len(kept)
    why = "is not valid" if n_broken == 1 else "are not valid"
    return found, kept, (say_left_out(n_broken, why, first),) if n_broken else ()


def say_left_out(n_rows: int, why: str, first: str) -> str:
    """Say how many rows are set aside, and which is the first."""
    return (
        f"{counted(n_rows, 'row')} {why} and {'is' if n_rows == 1 else 'are'} "
        f"set aside ({'' if n_rows == 1 else 'first '}{first.rpartition(', ')[2]})."
    )


def check_places(places: Any, n_items: int, name_row: RowNamer) -> Places:
    """Return the place of each item in each row, or say which row has places that cannot be.

    Examples
    --------
    >>> check_places([[0, 1, 1], [0, -1, 1]], 3, numbered_row).tolist()
    [[0, 1, 1], [0, -1, 1]]
    >>> check_places([[0, 0, 1]], 3, numbered_row)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: row 1 has the places [0, 0, 1]: places count from 0, tied ...
    """
    try:
        given = np.asarray(places)
    except ValueError:
        given = np.empty(0)
    if given.ndim != 2 or given.dtype.kind not in "iu" or given.shape[1] != n_items:
        raise InputError(
            f"places must be an array of whole numbers with {n_items} columns, one per item"
        )
    ordered = np.sort(given, axis=1)
    number = np.arange(n_items)
    if not (ordered == number).all():
        n_absent = np.count_nonzero(given == NOT_LISTED, axis=1)[:, None]
        possible = (ordered == NOT_LISTED) | (ordered == number - n_absent)
        possible[:, 1:] |= ordered[:, 1:] == ordered[:, :-1]
        if not possible.all():
            row = int(np.argmin(possible.all(axis=1)))
            raise InputError(
                f"{name_row(row)} has the places {given[row].tolist()}: places count from 0, "
                "tied items share the first of their places, and -1 means not listed",
                [instead("Rankings.from_ranks", "for ranks of any kind")],
            )
    return given.astype(np.int32, copy=False)


def encode_order_array(orderings: NDArray[np.integer[Any]], n_items: int) -> Places:
    """Return the places of complete orderings, given as positions of the items, best first."""
    orderings = np.asarray(orderings)
    if orderings.dtype.kind not in "iu":
        raise InputError(
            f"orderings must be whole numbers, the positions of items; got an array of "
            f"{orderings.dtype}"
        )
    if orderings.ndim != 2 or orderings.shape[1] != n_items:
        raise InputError(f"orderings must be an array with {n_items} columns, one per place")
    if orderings.size and (orderings.min() < 0 or orderings.max() >= n_items):
        raise InputError(f"orderings must hold the numbers from 0 to {n_items - 1}")
    places = np.full(orderings.shape, NOT_LISTED, dtype=np.int32)
    places[np.arange(len(orderings))[:, None], orderings] = np.arange(n_items, dtype=np.int32)
    if (places == NOT_LISTED).any():
        row = int(np.argmax((places == NOT_LISTED).any(axis=1)))
        raise InputError(f"row {row + 1} of the orderings lists an item twice")
    return places


def encode_ranks(
    ranks: NDArray[np.float64], items: Sequence[Item], ties: Ties, name_row: RowNamer
) -> Places:
    """Turn a table of ranks (1 is best, NaN is not ranked) into places counted from 0.

    Only the order of the ranks in a row counts, so 1, 3, 4 says the same as 1, 2, 3.
    """
    check_choice("ties", ties, get_args(Ties))
    check_memory_of_places(ranks.shape[0], ranks.shape[1], BYTES_OF_RANK)
    valid = are_ranks(ranks, len(items))
    if not valid.all():
        row, item = (int(position) for position in np.argwhere(~valid)[0])
        raise bad_rank(float(ranks[row, item]), items[item], len(items), name_row(row)).about(
            np.flatnonzero(~valid.all(axis=1)).tolist()
        )
    return places_of_ranks(ranks, items, ties, name_row)


def places_of_ranks(
    ranks: NDArray[np.float64], items: Sequence[Item], ties: Ties, name_row: RowNamer
) -> Places:
    """Turn numbers into places counted from 0; only their order in a row counts."""
    if _are_permutations(ranks):
        return (ranks - 1).astype(np.int32)
    order = np.argsort(ranks, axis=1, kind="stable")
    ascending = np.take_along_axis(ranks, order, axis=1)
    starts = np.ones(ranks.shape, dtype=bool)
    starts[:, 1:] = ascending[:, 1:] != ascending[:, :-1]  # NaN differs from everything
    if ties == "error" and not starts.all():
        row, column = (int(position) for position in np.argwhere(~starts)[0])
        first, second = (quoted(items[int(order[row, column - back])]) for back in (1, 0))
        raise InputError(
            f"{name_row(row)}: items {first} and {second} both have rank "
            f"{ascending[row, column]:g}",
            ["correct the row", use("if ties are intended", ties="allow")],
        ).about(np.flatnonzero(~starts.all(axis=1)).tolist())
    steps = np.where(starts, np.arange(ranks.shape[1], dtype=np.int32), np.int32(0))
    place_in_order = np.maximum.accumulate(steps, axis=1).astype(np.int32)
    place_in_order[np.isnan(ascending)] = NOT_LISTED
    places = np.empty(ranks.shape, dtype=np.int32)
    np.put_along_axis(places, order, place_in_order, axis=1)
    empty = (places == NOT_LISTED).all(axis=1)
    if empty.any():
        raise InputError(
            f"{name_row(int(np.argmax(empty)))} ranks no item",
            ["delete the row", use("to leave out all such rows", empty="skip")],
        )
    return places


def _are_permutations(ranks: NDArray[np.float64]) -> bool:
    """Return whether every row holds the ranks 1, ..., n, each once; such rows need no sorting."""
    n_items = ranks.shape[1]
    if n_items >= 63 or len(ranks) == 0 or not ranks.max() <= n_items:  # NaN is not <= either
        return False
    seen = np.zeros(len(ranks), dtype=np.int64)
    for column in ranks.T:
        seen |= np.left_shift(np.int64(1), column.astype(np.int64) - 1)
    return bool((seen == 2**n_items - 1).all())


def are_ranks(values: NDArray[np.float64], n_items: int) -> NDArray[np.bool_]:
    """Tell which numbers are ranks: from 1 to the number of items, or NaN for "not ranked"."""
    whole = (values >= 1) & (values <= n_items) & (values == np.floor(values))
    valid: NDArray[np.bool_] = whole | np.isnan(values)
    return valid


def bad_rank(rank: float, item: Item, n_items: int, where: str) -> InputError:
    """Make the error for a number that is not a rank."""
    return InputError(
        f"{where}: the rank of item {quoted(item)} is {rank:g}, but ranks are whole numbers "
        f"from 1 (best) to the number of items, here {n_items:,}",
        ["correct it", "leave it empty (NaN) if the item was not ranked"],
    )


def ranks_of_scores(
    scores: NDArray[np.float64], better: Better, tolerance: float = 0.0
) -> NDArray[np.float64]:
    """Rank the scores of each row, 1 being the best; NaN stays NaN.

    Scores are tied that are no further than the tolerance from the best of their group, from the
    best downward.

    Examples
    --------
    >>> import numpy as np
    >>> ranks_of_scores(np.array([[0.7, 0.9, np.nan, 0.89]]), "higher", tolerance=0.015)
    array([[ 2.,  1., nan,  1.]])
    """
    values = -scores if better == "higher" else scores
    order = np.argsort(values, axis=1, kind="stable")  # NaN comes last
    ascending = np.take_along_axis(values, order, axis=1)
    ranks = np.empty_like(ascending)
    leader, group = ascending[:, 0].copy(), np.ones(len(values))
    # A difference that is the tolerance but for rounding is within it.
    reach = tolerance * (1 + 1e-9) + 1e-12 * (tolerance > 0)
    for place in range(values.shape[1]):
        apart = ascending[:, place] - leader > reach
        leader[apart] = ascending[apart, place]
        group[apart] += 1
        ranks[:, place] = np.where(np.isnan(ascending[:, place]), np.nan, group)
    result = np.empty_like(ranks)
    np.put_along_axis(result, order, ranks, axis=1)
    return result


def encode_weights(
    weights: Iterable[float] | NDArray[np.generic] | None, n_rows: int, name_row: RowNamer
) -> Weights:
    """Check weights; whole numbers stay exact integers."""
    if weights is None:
        return np.ones(n_rows, dtype=np.int64)
    try:
        given = np.asarray(weights if isinstance(weights, np.ndarray) else list(weights))
        values = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("weights must be numbers, one per row") from None
    if values.shape != (n_rows,):
        raise InputError(f"{n_rows} rows need {n_rows} weights, one per row; got {values.shape}")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{name_row(row)} has weight {values[row]:g}: weights must be 0 or more")
    if not values.any():
        raise InputError("all weights are 0: at least one ranking must count")
    with np.errstate(over="ignore"):
        total = values.sum()
    if not np.isfinite(total):
        raise InputError("the sum of the weights is too large: divide all weights by a number")
    # Beyond that, sums of integers could overflow.
    if total < _MOST_WHOLE_WEIGHT and (values == np.floor(values)).all():
        return given.astype(np.int64)
    return values


def complete_the_last(places: Places) -> Places:
    """Give the one item that a row leaves out the last place: it can have no other."""
    absent = places == NOT_LISTED
    alone = absent.sum(axis=1) == 1
    if not alone.any():
        return places
    completed = places.copy()
    completed[absent & alone[:, None]] = places.shape[1] - 1
    return completed


def collapse(places: Places) -> tuple[Places, NDArray[np.int64]]:
    """Find the distinct rows, in order of first appearance, and which of them each row is."""
    import pyarrow as pa

    contiguous = np.ascontiguousarray(places)
    width = contiguous.shape[1] * contiguous.itemsize
    rows = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(contiguous), [None, pa.py_buffer(contiguous)]
    )
    encoded = rows.dictionary_encode()
    which = codes_of(encoded).astype(np.int64)
    first = np.full(len(encoded.dictionary), len(which), dtype=np.int64)
    np.minimum.at(first, which, np.arange(len(which)))
    return contiguous[first], which


def with_ties(places: Places) -> NDArray[np.bool_]:
    """Tell which rows have two items in one place."""
    n_listed = np.count_nonzero(places != NOT_LISTED, axis=1)
    # Without ties the places are 0, 1, ...; sharing the first of several lowers their sum.
    total = places.sum(axis=1) - NOT_LISTED * (places.shape[1] - n_listed)
    tied: NDArray[np.bool_] = total != n_listed * (n_listed - 1) // 2
    return tied


def first_places(patterns: Places) -> Places:
    """Put items that are not listed behind all that are, as one tied group."""
    n_listed = (patterns != NOT_LISTED).sum(axis=1, dtype=np.int32)[:, None]
    return np.where(patterns == NOT_LISTED, n_listed, patterns)


def sizes_of_groups(first: Places) -> NDArray[np.int64]:
    """Return the size of the tied group of each item, given the first place of the group."""
    n_rows, n_items = first.shape
    cells = first + np.arange(n_rows)[:, None] * n_items
    occupied = np.bincount(cells.ravel(), minlength=n_rows * n_items)
    group_sizes: NDArray[np.int64] = occupied[cells]
    return group_sizes
