"""``tierwise describe``: what the rankings look like before any model."""

from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from tierwise._util.columns import shortened_names
from tierwise.cli import options, printing, reading
from tierwise.cli.remedies import Shell
from tierwise.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import RenderableType
    from rich.table import Table as RichTable

    from tierwise._util.types import Item
    from tierwise.data.description import BaseDescription, Description
    from tierwise.data.description_of_pairs import PairsDescription
    from tierwise.files.options import ReadingNotes

_LONGEST_NAME = 24
_GAP = 2  # columns between two cells of a table


@partial(reading.reads_file, says_what_was_set_aside=False)
def describe(
    answers: reading.Answers,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Describe answers: how complete they are, mean ranks, how often each item beats another."""
    from tierwise._util.results import card_of
    from tierwise._util.tables import Table
    from tierwise.data.describe import describe as summarise
    from tierwise.data.description import Description

    description = summarise(answers)
    result = printing.Given(
        description.to_dict,
        lambda width: (
            _rankings_in_words(description, width)
            if isinstance(description, Description)
            else _pairs_in_words(description, width)
        ),
        [card_of(description)],
        lambda: Table.of(description.columns()),
    )
    printing.give(result, out, json=json, quiet=quiet)
    if out is None and not (quiet or json):
        _say_what_is_left_out(description)


def _rankings_in_words(description: "Description", width: int) -> "list[RenderableType]":
    """Describe rankings as tables that fit the terminal."""
    n_shown = _items_that_fit(description.items, width)
    shown = description.best_first()[:n_shown]
    return [
        *_understood(description.reading, description.first_answers),
        printing.heading(description.heading()),
        *description.sentences(),
        printing.heading("Mean ranks (1 is best)"),
        _mean_ranks(description),
        printing.heading("How often the row is ranked above the column, in percent"),
        _matrix(description.items, shown, lambda *pair: _percent(description.pairwise[pair])),
        printing.heading("Closest to even"),
        _closest_pairs(description),
    ]


def _understood(
    reading: "ReadingNotes | None", first_answers: "tuple[str, ...]" = ()
) -> "list[RenderableType]":
    """Say first how the file was read."""
    if reading is None:
        return []
    return [
        printing.heading(f"How {reading.file or 'the file'} was read"),
        *reading.sentences(Shell().says),
        *([f"{counted(reading.n_answers, 'row')} read as answers."] if reading.n_answers else []),
        *first_answers,
    ]


def _pairs_in_words(description: "PairsDescription", width: int) -> "list[RenderableType]":
    """Describe pairwise answers as tables that fit the terminal."""
    items = description.items
    shown = description.best_first()[: _items_that_fit(items, width)]
    following = " (including what follows from other answers)" if description.n_following else ""
    return [
        *_understood(description.reading),
        printing.heading(description.heading()),
        *description.sentences(),
        printing.heading("How often an item is preferred in its comparisons"),
        _shares_won(description),
        printing.heading(f"How often the row is preferred to the column, in percent{following}"),
        _matrix(items, shown, lambda *pair: _percent(description.pairwise[pair])),
        printing.heading("How often the two were compared"),
        _matrix(items, shown, lambda *pair: _short_number(description.compared[pair])),
        printing.heading("Closest to even"),
        _closest_comparisons(description),
    ]


def _short_number(number: int) -> str:
    """Write a number in three columns."""
    return f"{number:.4g}" if number < 1000 else f"{number // 1000}k"


def _shares_won(description: "PairsDescription") -> "RichTable":
    from tierwise.data.description_of_pairs import BattlesDescription

    table = printing.new_table()
    table.add_column("item")
    of_battles = isinstance(description, BattlesDescription)
    counts = ("won", "battles") if of_battles else ("preferred", "answers", "assessors")
    for name in counts:
        table.add_column(name, justify="right")
    names = _shown(description.items)
    for item in description.best_first():
        share = description.shares_won[item]
        table.add_row(
            names[description.items[item]],
            "-" if isnan(share) else f"{share:.0%}",
            f"{description.compared[item].sum():,.10g}",
            *([] if of_battles else [f"{description.n_comparing[item]:,}"]),
        )
    return table


def _closest_comparisons(description: "PairsDescription") -> "RichTable":
    table = printing.new_table()
    for name in ("preferred", "other"):
        table.add_column(name)
    for name in ("share", "of"):
        table.add_column(name, justify="right")
    names = _shown(description.items)
    for pair in description.closest_pairs():
        first, second = (description.items.index(item) for item in (pair.above, pair.below))
        compared = description.wins[first, second] + description.wins[second, first]
        shares = (f"{pair.share:.3f}", f"{compared:,.10g}")
        table.add_row(names[pair.above], names[pair.below], *shares)
    return table


def _say_what_is_left_out(description: "BaseDescription") -> None:
    """Add a note if not all items fit."""
    from tierwise.data.description import Description

    n_items = len(description.items)
    n_shown = _items_that_fit(description.items, printing.width_of_output())
    if n_shown < n_items:
        by_rank = isinstance(description, Description)
        which = "with the best mean ranks" if by_rank else "that are preferred most often"
        printing.note(
            f"The matrix has room for {n_shown} of {n_items} items: those {which}. Use a wider "
            "terminal or --json to see all."
        )


def _mean_ranks(description: "Description") -> "RichTable":
    table = printing.new_table()
    table.add_column("item")
    table.add_column("mean rank", justify="right")
    if description.unranked is not None:
        table.add_column("listed by", justify="right")
    names = _shown(description.items)
    for item in description.best_first():
        rank, listing = description.mean_ranks[item], description.n_listing[item]
        row = [names[description.items[item]], f"{rank:.2f}" if listing else "-"]
        if description.unranked is not None:
            row.append(f"{listing:,}")
        table.add_row(*row)
    return table


def _items_that_fit(items: "tuple[Item, ...]", width: int) -> int:
    """Return how many items a matrix can show in a number of columns."""
    from rich.cells import cell_len

    name = max(map(cell_len, _shown(items).values()))
    number = len(str(len(items)))
    left_for_cells = width - (number + _GAP) - (name + _GAP)
    return max(2, min(len(items), left_for_cells // (len("100") + _GAP)))


def _matrix(
    items: "tuple[Item, ...]", shown: list[int], cell: "Callable[[int, int], str]"
) -> "RichTable":
    """Show a matrix with a row and a column for each item."""
    table = printing.new_table()
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for number in range(1, len(shown) + 1):
        table.add_column(str(number), justify="right", min_width=3, no_wrap=True)
    names = _shown(items)
    for number, item in enumerate(shown, start=1):
        cells = ["·" if item == other else cell(item, other) for other in shown]
        table.add_row(str(number), names[items[item]], *cells)
    return table


def _closest_pairs(description: "Description") -> "RichTable":
    table = printing.new_table()
    table.add_column("ranked above")
    table.add_column("ranked below")
    table.add_column("share", justify="right")
    names = _shown(description.items)
    for pair in description.closest_pairs():
        table.add_row(names[pair.above], names[pair.below], f"{pair.share:.3f}")
    return table


def _percent(share: float) -> str:
    """Write a share in percent, without the sign."""
    return "-" if isnan(share) else f"{100 * share:.0f}"


def _shown(items: "Iterable[Item]") -> "dict[Item, str]":
    """Return names short enough for a table; different names stay different when cut."""
    known = list(items)
    return dict(zip(known, shortened_names(list(map(str, known)), _LONGEST_NAME), strict=True))
