"""What ``tierwise describe`` says of answers pair by pair."""

from typing import TYPE_CHECKING

import numpy as np

from tierwise.cli import printing
from tierwise.cli.describe import items_that_fit, matrix, percent, say_what_is_left_out, short
from tierwise.data.describe_pairs import count

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType
    from rich.table import Table

    from tierwise.data.describe_pairs import PairsDescription


def print_pairs(description: "PairsDescription", *, out: "Path | None", quiet: bool) -> None:
    """Print a description of pairwise answers as tables that fit the terminal."""
    items = description.items
    n_shown = items_that_fit(items, printing.width_of_output(out))
    shown = description.best_first()[:n_shown]
    following = " (what follows included)" if description.n_following else ""
    parts: list[RenderableType] = [
        printing.heading(
            f"{count(description.n_answers, 'answer')} about pairs of {len(items)} items, by "
            f"{count(description.n_assessors, 'assessor')}"
        ),
        *description.sentences(),
        printing.heading("How often an item is preferred, when it is compared"),
        _items(description),
        printing.heading(f"How often the row is preferred to the column, in percent{following}"),
        matrix(items, shown, lambda *pair: percent(description.pairwise[pair])),
        printing.heading("How often the two were compared"),
        matrix(items, shown, lambda *pair: _short_count(description.compared[pair])),
        printing.heading("Closest to even"),
        _closest_pairs(description),
    ]
    printing.print_result(parts, out)
    if not quiet:
        say_what_is_left_out(n_shown, len(items), "that are preferred most often")


def _short_count(number: int) -> str:
    """Write a number in three columns."""
    return f"{number}" if number < 1000 else f"{number // 1000}k"


def _items(description: "PairsDescription") -> "Table":
    table = printing.new_table()
    table.add_column("item")
    for name in ("preferred", "answers", "assessors"):
        table.add_column(name, justify="right")
    for item in description.best_first():
        share = description.shares_won[item]
        table.add_row(
            short(description.items[item]),
            "-" if np.isnan(share) else f"{share:.0%}",
            f"{description.compared[item].sum():,}",
            f"{description.n_comparing[item]:,}",
        )
    return table


def _closest_pairs(description: "PairsDescription") -> "Table":
    table = printing.new_table()
    for name in ("preferred", "other"):
        table.add_column(name)
    for name in ("share", "of"):
        table.add_column(name, justify="right")
    for pair in description.closest_pairs():
        first, second = (description.items.index(item) for item in (pair.above, pair.below))
        told = description.wins[first, second] + description.wins[second, first]
        table.add_row(short(pair.above), short(pair.below), f"{pair.share:.3f}", f"{told:,}")
    return table
