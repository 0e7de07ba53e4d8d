"""From a table of any layout to the places of items, or to pairs."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_items
from tierwise._util.resources import check_memory
from tierwise._util.types import NOT_LISTED, Codes, Item, Places, RowNamer
from tierwise.errors import InputError, Remark, Remedy, counted, instead, listed, quoted, use
from tierwise.files.cast_votes import first_mentions, pass_over_words
from tierwise.files.cells import (
    ABSENT,
    are_not_ranked,
    are_numbered_places,
    can_be_encoded,
    encode,
    first_rows,
    numbers,
)
from tierwise.files.layouts import Roles
from tierwise.files.missing import refuse_codes_among_names
from tierwise.files.options import ReadingNotes, TableOptions
from tierwise.files.places import (
    BYTES_OF_RANK,
    EncodedRankings,
    are_ranks,
    bad_rank,
    check_memory_of_places,
    encode_ranks,
    places_of_ranks,
    ranks_of_scores,
    read_sound_rows,
    say_left_out,
    scatter,
    unknown_item,
)
from tierwise.files.sentences import are_pieces_of_sentences, sentence
from tierwise.files.spellings import refuse_spellings, renamed

if TYPE_CHECKING:
    import pyarrow as pa

# The names of three in a tuple, and what is made of them.
_BYTES_PER_PAIR = 400


def rankings_from_table(
    table: "pa.Table",
    columns: Sequence[Item],
    roles: Roles,
    options: TableOptions,
    name_row: RowNamer,
) -> EncodedRankings:
    """Make rankings from a table whose columns have known roles; broken answers may be left out."""

    def read(kept: NDArray[np.int64]) -> EncodedRankings:
        some = table if len(kept) == table.num_rows else table.take(kept)
        return _rankings_from_rows(
            some, columns, roles, options, lambda row: name_row(int(kept[row]))
        )

    encoded, _, remarks = read_sound_rows(read, table.num_rows, name_row, options.broken)
    if encoded.notes is None:
        return encoded
    notes = replace(encoded.notes, remarks=(*encoded.notes.remarks, *remarks))
    return replace(encoded, notes=notes)


def _rankings_from_rows(
    table: "pa.Table",
    columns: Sequence[Item],
    roles: Roles,
    options: TableOptions,
    name_row: RowNamer,
) -> EncodedRankings:
    if table.num_rows == 0:
        raise InputError("there are no rankings below the header: add at least one row")
    if roles.layout == "pairs":
        raise InputError(
            f"columns {quoted(columns[cast('int', roles.preferred)])} and "
            f"{quoted(columns[cast('int', roles.other)])} hold pairwise comparisons",
            [
                instead("read_preferences", "to read them"),
                use("if every row is a separate answer", layout="orderings"),
            ],
        )
    remarks = roles.remarks
    if roles.layout == "orderings" and options.missing != ():
        table, words = pass_over_words(table, roles.cells, options.overvotes, options.items)
        remarks += words
        if words:  # ballots as cities publish them, of which some are blank
            options = replace(options, empty="skip", repeats=options.repeats or "first")
    if options.empty == "skip" and roles.cells:
        table, name_row, skipped = _without_empty_rows(table, roles, name_row)
        remarks += skipped
    weights = None
    if roles.weights is not None:
        weights = _weights(table.column(roles.weights), name_row)
    answer_of = None
    remarks += _not_ranked(table, roles, options)
    if roles.layout == "long":
        items, places, answer_of, name_row = _read_long(table, roles, options, name_row)
        if weights is not None:
            weights = _one_weight_each(weights, answer_of, name_row)
    elif roles.layout == "ranks":
        items, places = _read_ranks(table, roles, options, name_row)
    else:
        items, places, repeated = _read_orderings(table, columns, roles, options, name_row)
        if are_pieces_of_sentences(items):
            raise sentence()
        if options.missing is None and options.items is None:
            refuse_codes_among_names(items)
        remarks += repeated
    notes = replace(notes_of(columns, roles, options), remarks=remarks, n_answers=len(places))
    people = columns_of_people(table, columns, roles, answer_of)
    return EncodedRankings(
        items, places, weights, options.unranked, name_row, notes, people, options.weights_are
    )


def notes_of(columns: Sequence[Item], roles: Roles, options: TableOptions) -> ReadingNotes:
    """Note how the columns of a table were understood."""
    cells = roles.cells
    if roles.preferred is not None and roles.other is not None:
        cells = (roles.preferred, roles.other)
    return ReadingNotes(
        layout="scores" if options.better else roles.layout,
        columns=tuple(str(columns[cell]) for cell in cells),
        weights="" if roles.weights is None else str(columns[roles.weights]),
        aside=roles.aside,
        remarks=roles.remarks,
    )


def _without_empty_rows(
    table: "pa.Table", roles: Roles, name_row: RowNamer
) -> tuple["pa.Table", RowNamer, tuple[str, ...]]:
    """Leave out rows that list no item, and say so."""
    listed = np.zeros(table.num_rows, dtype=bool)
    for cell in roles.cells:
        codes, labels = encode(table.column(cell))
        says = ~np.array([*are_not_ranked(labels), True], dtype=bool)
        listed |= says[codes]
    kept = np.flatnonzero(listed)
    if len(kept) == len(listed) or len(kept) == 0:
        return table, name_row, ()
    n_left_out = len(listed) - len(kept)
    remark = say_left_out(
        n_left_out,
        "lists no item" if n_left_out == 1 else "list no item",
        name_row(int(np.argmin(listed))),
    )
    return table.take(kept), lambda row: name_row(int(kept[row])), (remark,)


def _not_ranked(table: "pa.Table", roles: Roles, options: TableOptions) -> tuple[Remark, ...]:
    """Say which words stand for no rank, such as DNF, and how often."""
    if roles.layout == "orderings" or options.better is not None:
        return ()
    columns = roles.cells if roles.rank is None else (roles.rank,)
    said: Counter[str] = Counter()
    for column in columns:
        codes, labels = encode(table.column(column))
        for code, (label, no_rank) in enumerate(zip(labels, are_not_ranked(labels), strict=True)):
            if no_rank and str(label).strip():
                said[str(label).strip()] += int((codes == code).sum())
    n_cells = said.total()
    if not n_cells:
        return ()
    words = [quoted(word) for word, _ in said.most_common(3)]
    shown = listed(words, "or")
    verbs = ("says", "is") if n_cells == 1 else ("say", "are")
    return (
        Remark(f"{counted(n_cells, 'cell')} {verbs[0]} {shown} and {verbs[1]} read as no rank"),
    )


def _with_new_names(
    columns: Sequence[tuple[Codes, list[Any]]], options: TableOptions
) -> list[tuple[Codes, list[Any]]]:
    """Call items in cells as the user wants; names that become the same are one item.

    Parameters
    ----------
    columns
        Columns whose cells hold items: the number of a label in each cell, and the labels.
    options
        Which items have new names.
    """
    if not options.rename:
        return list(columns)
    found = [*(options.items or ()), *(label for _, labels in columns for label in labels)]
    new_name = dict(zip(found, renamed(found, dict(options.rename)), strict=True))
    return [(codes, [new_name[label] for label in labels]) for codes, labels in columns]


def pairs_from_table(
    table: "pa.Table", roles: Roles, options: TableOptions, name_row: RowNamer
) -> list[tuple[Any, Item, Item]]:
    """Return (assessor, preferred, other) for each row of a table whose columns have known roles.

    Without a column for the assessor, every row is all that somebody said.
    """
    if table.num_rows == 0:
        raise InputError("there are no answers below the header: add at least one row")
    if roles.weights is not None:
        raise InputError(
            "pairwise answers of assessors have no weights: delete the column "
            f"{quoted(table.column_names[roles.weights])}"
        )
    check_memory(
        _BYTES_PER_PAIR * table.num_rows,
        f"the answers of {counted(table.num_rows, 'row')}, pair by pair,",
        "use fewer answers, or count them with read_battles",
    )
    both = [
        encode_without_gaps(table, roles.preferred, "preferred item", name_row),
        encode_without_gaps(table, roles.other, "other item", name_row),
    ]
    both = _with_new_names(both, options)
    (preferred, labels), (other, labels_of_other) = both
    winners = [labels[code] for code in preferred.tolist()]
    losers = [labels_of_other[code] for code in other.tolist()]
    for row, (winner, loser) in enumerate(zip(winners, losers, strict=True)):
        if winner == loser:
            raise InputError(
                f"{name_row(row)} compares item {quoted(winner)} with itself: delete the row"
            )
    _items_given_or_found(options, both, name_row)
    assessors: list[Any] = list(range(1, table.num_rows + 1))
    if roles.assessor:
        codes, names = encode_assessors(table, roles.assessor, name_row)
        assessors = [names[code] for code in codes.tolist()]
    return list(zip(assessors, winners, losers, strict=True))


def new_items(
    columns: Sequence[tuple[Codes, list[Any]]], known: Set[Item] = frozenset()
) -> dict[Item, int]:
    """Find items in columns of places, each with the number of the cell it is first seen in."""
    first_cell: dict[Item, int] = {}
    for place, (codes, labels) in enumerate(columns):
        if known >= set(labels):
            continue
        for label, row in zip(labels, first_rows(codes, len(labels)).tolist(), strict=True):
            if row < len(codes):
                cell = row * len(columns) + place
                first_cell[label] = min(cell, first_cell.get(label, cell))
    return {item: cell for item, cell in first_cell.items() if item not in known}


def in_order_of_appearance(first_cell: dict[Item, int]) -> tuple[Item, ...]:
    """Return items as they are met, reading row by row."""
    return tuple(sorted(first_cell, key=first_cell.__getitem__))


def _items_given_or_found(
    options: TableOptions, encoded: Sequence[tuple[Codes, list[Any]]], name_row: RowNamer
) -> tuple[Item, ...]:
    """Return all items, and ask whether names that are nearly the same mean the same item."""
    if options.items_renamed is not None:
        return check_items(options.items_renamed)
    first_cell = new_items(encoded)

    def where(item: Item) -> str:
        return name_row(first_cell[item] // len(encoded))

    items = check_items(in_order_of_appearance(first_cell), where)
    if options.spellings == "ask":
        refuse_spellings(list(map(str, items)), "item", [partial(where, item) for item in items])
    return items


def _read_orderings(
    table: "pa.Table",
    columns: Sequence[Item],
    roles: Roles,
    options: TableOptions,
    name_row: RowNamer,
) -> tuple[tuple[Item, ...], Places, tuple[Remark, ...]]:
    encoded = _with_new_names([encode(table.column(cell)) for cell in roles.cells], options)
    items = _items_given_or_found(options, encoded, name_row)
    _refuse_items_as_names([str(columns[cell]) for cell in roles.cells], items)
    items_by_place = [_number_items(codes, labels, items, name_row) for codes, labels in encoded]
    check_memory_of_places(table.num_rows, len(items))
    places, n_listed = _places_in_order(items_by_place, len(items))
    remarks: tuple[Remark, ...] = ()
    if options.repeats == "first" and np.count_nonzero(places != NOT_LISTED) != n_listed.sum():
        items_by_place, n_repeated = first_mentions(items_by_place)
        places, n_listed = _places_in_order(items_by_place, len(items))
        remarks = (
            Remark(
                f"{counted(n_repeated, 'answer')} {'names' if n_repeated == 1 else 'name'} an "
                "item twice; it counts where it is named first",
                (use("to make this an error", repeats="error"),),
            ),
        )
    if not n_listed.all():
        row = int(np.argmin(n_listed))
        raise InputError(
            f"{name_row(row)} lists no item",
            ["delete the row", use("to leave out all such rows", empty="skip")],
        )
    if np.count_nonzero(places != NOT_LISTED) != n_listed.sum():
        item_at = np.stack(items_by_place, axis=1)
        row_of, place_of = np.nonzero(item_at != ABSENT)
        listed_items = item_at[row_of, place_of].astype(np.int64)
        scatter(row_of, listed_items, place_of.astype(np.int32), table.num_rows, items, name_row)
    return items, places, remarks


def _places_in_order(items_by_place: Sequence[Codes], n_items: int) -> tuple[Places, Codes]:
    """Return the place of each item, and how many each row lists."""
    n_rows = len(items_by_place[0])
    n_listed = np.zeros(n_rows, dtype=np.int32)
    places = np.full((n_rows, n_items), NOT_LISTED, dtype=np.int32)
    first_cell = np.arange(n_rows) * n_items
    cells = places.reshape(-1)
    for item_of in items_by_place:
        # Only the order counts, so an empty cell between two items leaves no gap.
        listed = slice(None) if item_of.min() > ABSENT else item_of != ABSENT
        cells[(first_cell + item_of)[listed]] = n_listed[listed]
        n_listed[listed] += 1
    return places, n_listed


def _refuse_items_as_names(names: Sequence[str], items: tuple[Item, ...]) -> None:
    """Refuse a table whose first line is an answer: it would be lost as a header."""
    if not are_numbered_places(names) and {str(item) for item in items}.issuperset(names):
        called = ", ".join(quoted(name) for name in names[:4])
        raise InputError(
            f"the columns are named {called}, which are also items, so the first line seems to "
            "be an answer: add a line with column names above it, such as place 1, place "
            "2"
        )


def _number_items(
    codes: Codes, labels: list[Any], items: tuple[Item, ...], name_row: RowNamer
) -> Codes:
    """Replace the codes of a column by the numbers of the items."""
    number_of = _item_numbers(items)
    number_of_code = np.array(
        [number_of.get(label, ABSENT) for label in [*labels, None]], dtype=np.int32
    )
    # An empty cell has the code -1, which wraps around to the last entry.
    item_of: Codes = np.take(number_of_code, codes, mode="wrap")
    if (number_of_code[:-1] == ABSENT).any():
        unknown = (item_of == ABSENT) & (codes != ABSENT)
        if unknown.any():
            row = int(np.argmax(unknown))
            raise unknown_item(labels[codes[row]], items, name_row(row))
    return item_of


def _item_numbers(items: tuple[Item, ...]) -> dict[Any, int]:
    """Return the numbers of items by name; a file of text finds item 7 under "7"."""
    by_text: dict[Any, int] = {str(item): number for number, item in enumerate(items)}
    return by_text | {item: number for number, item in enumerate(items)}


def _read_ranks(
    table: "pa.Table", roles: Roles, options: TableOptions, name_row: RowNamer
) -> tuple[tuple[Item, ...], Places]:
    names = roles.names
    items = check_items(names if options.items is None else options.items)
    number_of = _item_numbers(items)
    check_memory_of_places(table.num_rows, len(items), BYTES_OF_RANK)
    ranks = np.full((table.num_rows, len(items)), np.nan)
    for name, cell in zip(names, roles.cells, strict=True):
        if name not in number_of:
            raise unknown_item(name, items, "the columns")
        what = f"the {'score' if options.better else 'rank'} of item {quoted(name)}"
        ranks[:, number_of[name]] = numbers(table.column(cell), what, name_row, places=True)
    new_names = check_items(renamed(items, dict(options.rename)))
    if options.better is not None:
        return new_names, _places_of_scores(ranks, items, options, name_row)
    try:
        return new_names, encode_ranks(ranks, items, options.ties, name_row)
    except InputError as error:
        if not ((ranks == 0) | (ranks != np.floor(ranks)) & ~np.isnan(ranks)).any():
            raise
        lower = use("if they need not be ranks, and lower is better", better="lower")
        raise error.also(lower).about(error.rows) from None


def _places_of_scores(
    scores: NDArray[np.float64],
    items: tuple[Item, ...],
    options: TableOptions,
    name_row: RowNamer,
) -> Places:
    """Rank items by their scores; equal scores are ties."""
    filled = ~np.isnan(scores)
    if not np.isfinite(scores[filled]).all():
        row = int(np.argwhere(np.isinf(scores))[0][0])
        raise InputError(f"{name_row(row)}: a score is infinite: correct the cell")
    ranks = ranks_of_scores(scores, "higher" if options.better == "higher" else "lower")
    return places_of_ranks(ranks, items, "allow", name_row)


def _read_long(
    table: "pa.Table", roles: Roles, options: TableOptions, name_row: RowNamer
) -> tuple[tuple[Item, ...], Places, NDArray[np.int64], RowNamer]:
    """Read a table with a row for each item of each answer; also return the answer of each row."""
    assessors, assessor_names = encode_assessors(table, roles.assessor, name_row)
    cells_of_items = encode_without_gaps(table, roles.item, "item", name_row)
    ((codes, labels),) = _with_new_names([cells_of_items], options)
    items = _items_given_or_found(options, [(codes, labels)], name_row)
    item_of = _number_items(codes, labels, items, name_row)
    rank_of = numbers(table.column(roles.rank), "the rank", name_row, places=True)
    first, answer_of = np.unique(
        first_rows(assessors, len(assessor_names))[assessors], return_inverse=True
    )

    def name_answer(answer: int) -> str:
        row = int(first[answer])
        return f"{name_row(row)} (assessor {quoted(assessor_names[assessors[row]])})"

    _, first_of_cell = np.unique(answer_of * len(items) + item_of, return_index=True)
    if len(first_of_cell) != len(item_of):
        row = int(np.setdiff1d(np.arange(len(item_of)), first_of_cell)[0])
        raise InputError(
            f"{name_row(row)}: item {quoted(items[item_of[row]])} is listed twice by assessor "
            f"{quoted(assessor_names[assessors[row]])}",
            ["list each item once", *_further_assessors(table, roles, answer_of, item_of)],
        ).about(_rows_of_answers(answer_of, np.delete(np.arange(len(item_of)), first_of_cell)))
    valid = are_ranks(rank_of, len(items))
    if not valid.all():
        row = int(np.argmin(valid))
        rank, item = float(rank_of[row]), items[item_of[row]]
        raise bad_rank(rank, item, len(items), name_row(row)).about(
            _rows_of_answers(answer_of, np.flatnonzero(~valid))
        )
    check_memory_of_places(len(first), len(items), BYTES_OF_RANK)
    ranks = np.full((len(first), len(items)), np.nan)
    ranks[answer_of, item_of] = rank_of
    try:
        places = encode_ranks(ranks, items, options.ties, name_answer)
    except InputError as error:
        further = _further_assessors(
            table, roles, answer_of, np.unique(rank_of, return_inverse=True)[1]
        )
        rows = np.flatnonzero(np.isin(answer_of, error.rows)).tolist()
        raise error.also(*further).about(rows) from None
    return items, places, answer_of, name_answer


def _further_assessors(
    table: "pa.Table", roles: Roles, answer_of: NDArray[np.int64], item_of: NDArray[Any]
) -> list[Remedy]:
    """Name a column that separates answers with one item or rank twice, such as years of races."""
    used = {*roles.assessor, roles.item, roles.rank, roles.weights}
    for column in range(table.num_columns):
        if column in used or not can_be_encoded(table.column(column)):
            continue
        codes, labels = encode(table.column(column))
        if (codes == ABSENT).any() or 2 * len(labels) > len(codes):
            continue
        answers = np.unique(np.stack([answer_of, codes]), axis=1, return_inverse=True)[1].ravel()
        cells = np.stack([answers, item_of])
        if np.unique(cells, axis=1).shape[1] == cells.shape[1]:
            names = [table.column_names[one] for one in (*roles.assessor, column)]
            return [use(f"if {quoted(names[-1])} is part of whose answer it is", assessor=names)]
    return []


def _rows_of_answers(answer_of: NDArray[np.int64], some: NDArray[np.int64]) -> list[int]:
    """Return all rows of the answers that some rows belong to."""
    found: list[int] = np.flatnonzero(np.isin(answer_of, answer_of[some])).tolist()
    return found


def encode_assessors(
    table: "pa.Table", columns: tuple[int, ...], name_row: RowNamer
) -> tuple[Codes, list[Any]]:
    """Encode the columns that together say whose answer a row belongs to."""
    first, *others = (encode_without_gaps(table, one, "assessor", name_row) for one in columns)
    codes, labels = first
    for own_codes, own_labels in others:
        together = codes.astype(np.int64) * len(own_labels) + own_codes
        distinct, inverse = np.unique(together, return_inverse=True)
        pairs = zip(*np.divmod(distinct, len(own_labels)), strict=True)
        labels = [f"{labels[one]}, {own_labels[other]}" for one, other in pairs]
        codes = inverse.astype(np.int32)
    return codes, labels


def encode_without_gaps(
    table: "pa.Table", column: int | None, role: str, name_row: RowNamer
) -> tuple[Codes, list[Any]]:
    """Encode a column that must have a label in every row."""
    codes, labels = encode(table.column(column))
    if (codes == ABSENT).any():
        row = int(np.argmax(codes == ABSENT))
        raise InputError(f"{name_row(row)} has no {role}: fill in the cell or delete the row")
    return codes, labels


def _weights(column: "pa.ChunkedArray", name_row: RowNamer) -> NDArray[np.float64]:
    try:
        weights = numbers(column, "the weight", name_row)
    except InputError as error:
        raise error.about(()) from None  # an answer without a weight is not broken
    if np.isnan(weights).any():
        row = int(np.argmax(np.isnan(weights)))
        raise InputError(f"{name_row(row)} has no weight: fill in the cell (1 counts once)")
    return weights


def _one_weight_each(
    weights: NDArray[np.float64], answer_of: NDArray[np.int64], name_row: RowNamer
) -> NDArray[np.float64]:
    """Take the weight of each answer from its rows, which must agree."""
    _, first = np.unique(answer_of, return_index=True)
    differs = weights != weights[first][answer_of]
    if differs.any():
        answer = int(answer_of[np.argmax(differs)])
        raise InputError(f"{name_row(answer)} has different weights in its rows: make them equal")
    return weights[first]


def columns_of_people(
    table: "pa.Table",
    columns: Sequence[Item],
    roles: "Roles",
    answer_of: NDArray[np.int64] | None = None,
) -> "pa.Table | None":
    """Return the columns that hold neither answers nor weights, one row per answer.

    Parameters
    ----------
    table
        The table that was read.
    columns
        What its columns are called.
    roles
        What they are for.
    answer_of
        The answer that each row belongs to, if answers have several rows. Of such a table only
        columns are kept that say the same in all rows of an answer.
    """
    taken = {*roles.cells, roles.weights, roles.item, roles.rank}
    kept = {
        str(columns[number]).strip(): table.column(number)
        for number in range(len(columns))
        if number not in taken
    }
    if answer_of is not None:
        _, first = np.unique(answer_of, return_index=True)
        kept = {
            name: column.take(first)
            for name, column in kept.items()
            if _is_constant(column, first, answer_of)
        }
    if not kept:
        return None
    import pyarrow as pa

    return pa.table(kept)


def _is_constant(
    column: "pa.ChunkedArray", first: NDArray[np.int64], answer_of: NDArray[np.int64]
) -> bool:
    """Return whether a column says the same in all rows of each answer."""
    codes, _ = encode(column)
    return bool((codes == codes[first][answer_of]).all())
