"""``tierwise describe``: what the rankings look like before any model."""

from math import isnan
from typing import TYPE_CHECKING

from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import RenderableType
    from rich.table import Table

    from tierwise._util.types import Item
    from tierwise.data.describe import Description

_LONGEST_NAME = 24
_GAP = 2  # columns between two cells of a table


@reading.reads_file
def describe(
    answers: reading.Answers,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Describe answers: how complete they are, mean ranks, who is ranked above whom."""
    from tierwise.data.describe import Description
    from tierwise.data.describe import describe as summarise

    description = summarise(answers)
    if json:
        printing.print_json(description.to_dict(), out)
    elif isinstance(description, Description):
        print_description(description, out=out, quiet=quiet)
    else:
        from tierwise.cli.describe_pairs import print_pairs

        print_pairs(description, out=out, quiet=quiet)


def print_description(description: "Description", *, out: "Path | None", quiet: bool) -> None:
    """Print a description as tables that fit the terminal."""
    n_shown = items_that_fit(description.items, printing.width_of_output(out))
    shown = description.by_mean_rank()[:n_shown]
    parts: list[RenderableType] = [
        *_overview(description),
        printing.heading("Mean ranks (1 is best)"),
        _mean_ranks(description),
        printing.heading("How often the row is ranked above the column, in percent"),
        matrix(description.items, shown, lambda *pair: percent(description.pairwise[pair])),
        printing.heading("Closest to even"),
        _closest_pairs(description),
    ]
    printing.print_result(parts, out)
    if not quiet:
        say_what_is_left_out(n_shown, len(description.items), "with the best mean ranks")


def say_what_is_left_out(n_shown: int, n_items: int, which: str) -> None:
    """Tell people if not all items fit."""
    if n_shown < n_items:
        printing.note(
            f"The matrix shows the {n_shown} of {n_items} items {which}, which is what fits; a "
            "wider terminal or --json shows all."
        )


def _overview(description: "Description") -> "list[RenderableType]":
    """Say in a few lines what the data are."""
    total = description.n_rankings
    lines: list[RenderableType] = [
        printing.heading(f"{total:,} rankings of {len(description.items)} items"),
        f"{description.n_distinct:,} of them are distinct.",
    ]
    if description.unranked is None:
        lines.append("Every ranking lists every item.")
    else:
        meaning = {"below": "below all that are listed", "anywhere": "of unknown rank"}
        lines.append(
            f"{description.n_complete:,} ({description.n_complete / total:.0%}) are complete; "
            f"on average a ranking lists {description.mean_listed:.1f} items. "
            f"Items not listed are {meaning[description.unranked]}."
        )
    if description.n_with_ties:
        share = description.n_with_ties / total
        lines.append(f"{description.n_with_ties:,} ({share:.0%}) hold ties.")
    return lines


def _mean_ranks(description: "Description") -> "Table":
    table = printing.new_table()
    table.add_column("item")
    table.add_column("mean rank", justify="right")
    if description.unranked is not None:
        table.add_column("listed by", justify="right")
    for item in description.by_mean_rank():
        rank, listing = description.mean_ranks[item], description.n_listing[item]
        row = [short(description.items[item]), f"{rank:.2f}" if listing else "-"]
        if description.unranked is not None:
            row.append(f"{listing:,}")
        table.add_row(*row)
    return table


def items_that_fit(items: "tuple[Item, ...]", width: int) -> int:
    """Return how many items a matrix can show in a number of columns."""
    from rich.cells import cell_len

    name = max(cell_len(short(item)) for item in items)
    number = len(str(len(items)))
    left_for_cells = width - (number + _GAP) - (name + _GAP)
    return max(2, min(len(items), left_for_cells // (len("100") + _GAP)))


def matrix(
    items: "tuple[Item, ...]", shown: list[int], cell: "Callable[[int, int], str]"
) -> "Table":
    """Show what there is to say of each item (row) and each other (column)."""
    table = printing.new_table()
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for number in range(1, len(shown) + 1):
        table.add_column(str(number), justify="right", min_width=3, no_wrap=True)
    for number, item in enumerate(shown, start=1):
        cells = ["·" if item == other else cell(item, other) for other in shown]
        table.add_row(str(number), short(items[item]), *cells)
    return table


def _closest_pairs(description: "Description") -> "Table":
    table = printing.new_table()
    table.add_column("ranked above")
    table.add_column("ranked below")
    table.add_column("share", justify="right")
    for pair in description.closest_pairs():
        table.add_row(short(pair.above), short(pair.below), f"{pair.share:.3f}")
    return table


def percent(share: float) -> str:
    """Write a share in percent, without the sign."""
    return "-" if isnan(share) else f"{100 * share:.0f}"


def short(item: "Item") -> str:
    """Write the name of an item so that it fits a table."""
    name = str(item)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
