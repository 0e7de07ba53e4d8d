"""What users say about a table: its layout, its columns, and what its cells mean."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from tierwise._util.checks import check_choice
from tierwise._util.types import Item, Ties, Unranked
from tierwise.files.places import check_items

TableLayout: TypeAlias = Literal["orderings", "ranks", "long", "pairs"]
Layout: TypeAlias = Literal["auto", "orderings", "ranks", "long"]
Columns: TypeAlias = str | Iterable[str]
Scores: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What the user says about a table; None is "not said"."""

    layout: TableLayout | Literal["auto"] = "auto"
    unranked: Unranked | None = None
    ties: Ties = "error"
    items: tuple[Item, ...] | None = None
    weights: str | None = None
    assessor: tuple[str, ...] | None = None
    item: str | None = None
    rank: str | None = None
    preferred: str | None = None
    other: str | None = None
    pattern: str | None = None
    scores: Scores | None = None
    empty: Literal["error", "skip"] = "error"
    rename: tuple[tuple[str, str], ...] = ()

    @classmethod
    def make(
        cls, *, items: Iterable[Item] | None, assessor: Columns | None, **others: Any
    ) -> "TableOptions":
        """Take options as users give them."""
        check_choice("layout", others.get("layout", "auto"), ("auto", *get_args(TableLayout)))
        check_choice("unranked", others.get("unranked"), (*get_args(Unranked), None))
        check_choice("ties", others.get("ties", "error"), get_args(Ties))
        check_choice("scores", others.get("scores"), (*get_args(Scores), None))
        check_choice("empty", others.get("empty", "error"), ("error", "skip"))
        others["rename"] = tuple(dict(others.get("rename") or {}).items())
        if isinstance(items, str) and "*" in items:
            items, others["pattern"] = None, items
        elif isinstance(items, str) and "," in items:
            items = [item.strip() for item in items.split(",")]
        if isinstance(assessor, str):
            assessor = (assessor,)
        return cls(
            items=None if items is None else check_items(items),
            assessor=None if assessor is None else tuple(assessor),
            **others,
        )
