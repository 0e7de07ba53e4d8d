"""How rankings lie in a table: which layout it has, and what each column is for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tierwise._columns import share_of_numbers
from tierwise._encoding import Ties
from tierwise.errors import InputError
from tierwise.rankings import Unranked
from tierwise.tiers import Item

if TYPE_CHECKING:
    import pyarrow as pa

TableLayout: TypeAlias = Literal["orderings", "ranks", "long"]
Layout: TypeAlias = Literal["auto", "orderings", "ranks", "long"]

# What a column is for is recognised by these names, in upper or lower case.
NAMES_OF_ROLES = {
    "weights": ("weight", "weights", "count"),
    "assessor": ("assessor", "respondent", "voter", "judge", "id"),
    "item": ("item", "alternative", "candidate"),
    "rank": ("rank", "place", "position"),
}
SAMPLE_ROWS = 1000
_PLACE = re.compile(r"(?:place|rank|position|choice|preference|pref)?[ _.#-]*(\d+)")


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What the user says about a table; None is "not said"."""

    layout: Layout = "auto"
    unranked: Unranked | None = None
    ties: Ties = "error"
    items: tuple[Item, ...] | None = None
    weights: str | None = None
    assessor: str | None = None
    item: str | None = None
    rank: str | None = None


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The layout of a table and the numbers of its columns, by what they are for.

    ``cells`` are the columns that hold items (orderings) or ranks (ranks).
    """

    layout: TableLayout
    cells: tuple[int, ...] = ()
    weights: int | None = None
    assessor: int | None = None
    item: int | None = None
    rank: int | None = None


def assign_roles(columns: Sequence[Item], table: "pa.Table", options: TableOptions) -> Roles:
    """Decide what each column is for, from what the user says, the names, and the first rows."""
    if options.layout not in get_args(Layout):
        known = ", ".join(repr(layout) for layout in get_args(Layout))
        raise InputError(f"there is no layout {options.layout!r}: choose one of {known}")
    layout = options.layout
    if layout in ("auto", "long"):
        roles = {role: _find(role, columns, options) for role in NAMES_OF_ROLES}
        missing = [role for role in ("assessor", "item", "rank") if roles[role] is None]
        if not missing:
            weights, assessor, item, rank = roles.values()
            return Roles(layout="long", weights=weights, assessor=assessor, item=item, rank=rank)
        if layout == "long":
            raise InputError(
                f"the long layout needs a column for the {missing[0]}: call it {missing[0]!r}, or "
                f"say which column it is with {missing[0]}="
            )
    # Elsewhere a column may be an item, even one called "count".
    items = frozenset(str(item) for item in options.items or ())
    weights = _find("weights", columns, options, items)
    assessor = _find("assessor", columns, options, items)
    cells = tuple(column for column in range(len(columns)) if column not in (weights, assessor))
    if layout == "auto":
        layout = _recognise(
            [columns[cell] for cell in cells], table.slice(0, SAMPLE_ROWS).select(list(cells))
        )
    return Roles(layout=layout, cells=cells, weights=weights, assessor=assessor)


def _find(
    role: str,
    columns: Sequence[Item],
    options: TableOptions,
    items: frozenset[str] = frozenset(),
) -> int | None:
    """Find the column for a role: the one the user names, or one with a name for it."""
    names = [str(column).strip() for column in columns]
    said = getattr(options, role)
    if said is not None:
        if said not in names:
            raise InputError(
                f"there is no column {said!r} for {role}: the columns are "
                + ", ".join(repr(name) for name in names)
            )
        return names.index(said)
    found = [
        number
        for number, name in enumerate(names)
        if name.casefold() in NAMES_OF_ROLES[role] and name not in items
    ]
    if len(found) > 1:
        raise InputError(
            f"columns {names[found[0]]!r} and {names[found[1]]!r} may both be for {role}: "
            f"say which with {role}="
        )
    return found[0] if found else None


def _recognise(columns: Sequence[Item], sample: "pa.Table") -> TableLayout:
    """Tell orderings, a column a place, from ranks, a column an item."""
    if share_of_numbers(sample) < 0.5:
        return "orderings"
    if all(str(column).strip().isdecimal() for column in columns):
        raise InputError(
            "columns and cells are all numbers, so the table may hold orderings or ranks: "
            'say layout="orderings" (a column a place) or layout="ranks" (a column an item)'
        )
    return "orderings" if are_numbered_places(columns) else "ranks"


def are_numbered_places(columns: Sequence[Item]) -> bool:
    """Tell whether columns are called 1, 2, ... or place 1, place 2, ... or the like."""
    places = [_PLACE.fullmatch(str(column).strip().casefold()) for column in columns]
    return [int(place[1]) for place in places if place] == list(range(1, len(columns) + 1))
