"""Tables with a row for each comparison of two items."""

from typing import Any

from tierwise.data.encoding import RowNamer
from tierwise.data.preferences import Cycles, Preferences
from tierwise.errors import InputError
from tierwise.files.layouts import Roles, TableOptions
from tierwise.files.tables import encode_assessors, encode_without_gaps


def preferences_from_table(
    table: Any, roles: Roles, options: TableOptions, cycles: Cycles, name_row: RowNamer
) -> Preferences:
    """Make preferences from a table whose columns have known roles.

    Without a column for the assessor, every row is all that somebody said.
    """
    if table.num_rows == 0:
        raise InputError("there are no answers below the header: add at least one row")
    if roles.weights is not None:
        raise InputError(
            "answers that an assessor gave pair by pair have no weights: leave the column "
            f"{table.column_names[roles.weights]!r} out"
        )
    preferred, labels = encode_without_gaps(table, roles.preferred, "preferred item", name_row)
    other, labels_of_other = encode_without_gaps(table, roles.other, "other item", name_row)
    winners = [labels[code] for code in preferred.tolist()]
    losers = [labels_of_other[code] for code in other.tolist()]
    for row, (winner, loser) in enumerate(zip(winners, losers, strict=True)):
        if winner == loser:
            raise InputError(
                f"{name_row(row)} compares item {winner!r} with itself: leave the row out"
            )
    assessors: list[Any] = list(range(1, table.num_rows + 1))
    if roles.assessor:
        codes, names = encode_assessors(table, roles.assessor, name_row)
        assessors = [names[code] for code in codes.tolist()]
    rows = zip(assessors, winners, losers, strict=True)
    return Preferences.from_pairs(rows, options.items, cycles=cycles)
