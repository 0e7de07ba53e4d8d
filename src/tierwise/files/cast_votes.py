"""Cast-vote records: words that stand on ballots instead of candidates, and repeated names.

Cities publish every ballot of a ranked-choice election, with words for what is not a vote. A rank
that was skipped is ignored, an overvote (two candidates at one rank) ends the ballot, and a
candidate who is named twice counts once, where first named: so most cities count them.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tierwise._util.types import Codes, Item
from tierwise.errors import Remark, counted, listed, quoted, use
from tierwise.files.cells import ABSENT, encode
from tierwise.files.missing import NOTHING

if TYPE_CHECKING:
    import pyarrow as pa

Overvotes: TypeAlias = Literal["end", "skip"]
"""Whether an overvote ends the ballot, or is skipped."""
Repeats: TypeAlias = Literal["error", "first"]
"""Whether an item that is named twice is an error, or counts where it is first named."""

_PASSED_OVER = frozenset(
    {
        *("skipped", "skip", "undervote", "undervoted", "blank", "exhausted", "no vote"),
        *("write in", "writein", "write ins", "uwi", "undeclared write in", "undeclared write ins"),
    }
)
_OVERVOTES = frozenset({"overvote", "overvoted", "over vote"})
_MARKS = re.compile(r"[\s_()\[\]-]+")


def pass_over_words(
    table: "pa.Table", cells: Sequence[int], overvotes: Overvotes, items: Sequence[Item] | None
) -> tuple["pa.Table", tuple[Remark, ...]]:
    """Empty the cells of ballots that name no candidate, and remark how many ballots have some.

    Parameters
    ----------
    table
        The table.
    cells
        The columns of the places, best first.
    overvotes
        What an overvote does.
    items
        What the user calls items: these are none of the words.
    """
    encoded = [encode(table.column(cell)) for cell in cells]
    named = {str(item) for item in items or ()}
    kinds = [np.array([_kind(label, named) for label in labels] + [0]) for _, labels in encoded]
    if not any(kind.any() for kind in kinds):
        return table, ()
    ended, skipped, over = (np.zeros(table.num_rows, dtype=bool) for _ in range(3))
    words: set[str] = set()
    columns = dict(enumerate(table.columns))
    for cell, (codes, labels), kind_of in zip(cells, encoded, kinds, strict=True):
        kind = kind_of[codes]
        words |= {str(labels[code]) for code in np.unique(codes[kind == 1]).tolist()}
        skipped |= kind == 1
        over |= kind == 2
        columns[cell] = _column(np.where(ended | (kind > 0), np.int32(ABSENT), codes), labels)
        if overvotes == "end":
            ended |= kind == 2
    if not (skipped.any() or over.any()):
        return table, ()
    import pyarrow as pa

    emptied = pa.table([columns[at] for at in range(table.num_columns)], names=table.column_names)
    return emptied, _remarks(words, int(skipped.sum()), int(over.sum()), overvotes)


def _remarks(
    words: set[str], n_skipped: int, n_over: int, overvotes: Overvotes
) -> tuple[Remark, ...]:
    remarks = []
    if n_skipped:
        shown = listed([quoted(word) for word in sorted(words)[:3]], "or")
        remarks.append(
            Remark(
                f"{counted(n_skipped, 'ballot')} {'holds' if n_skipped == 1 else 'hold'} {shown}, "
                "which is skipped",
                (use("if that is a candidate", missing=NOTHING),),
            )
        )
    if n_over:
        what = "ends the ballot" if overvotes == "end" else "is skipped"
        other: Overvotes = "skip" if overvotes == "end" else "end"
        remarks.append(
            Remark(
                f"{counted(n_over, 'ballot')} {'holds' if n_over == 1 else 'hold'} an overvote, "
                f"which {what}",
                (use("to skip it" if other == "skip" else "to end there", overvotes=other),),
            )
        )
    return tuple(remarks)


def _kind(label: Any, named: set[str]) -> int:
    """Distinguish a candidate (0), a word that is skipped (1) and an overvote (2)."""
    if not isinstance(label, str) or label in named:
        return 0
    word = _MARKS.sub(" ", label.casefold()).strip()
    return 1 if word in _PASSED_OVER else 2 if word in _OVERVOTES else 0


def _column(codes: Codes, labels: list[Any]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes == ABSENT), pa.array(labels))


def first_mentions(items_by_place: Sequence[Codes]) -> tuple[list[Codes], int]:
    """Empty the places where an item is named again; also return how many rows have some."""
    kept: list[Codes] = []
    repeated = np.zeros(len(items_by_place[0]), dtype=bool)
    for item_of in items_by_place:
        again = np.zeros(len(item_of), dtype=bool)
        for earlier in kept:
            again |= (earlier == item_of) & (item_of != ABSENT)
        kept.append(np.where(again, np.int32(ABSENT), item_of))
        repeated |= again
    return kept, int(repeated.sum())
