"""Printing that several commands share: tables for people, JSON for programs."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from pathlib import Path
from textwrap import fill
from typing import IO, TYPE_CHECKING, Any

from tierwise._compiling.kernel import working_time
from tierwise.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table as RichTable
    from rich.text import Text

    from tierwise._util.cards import Card
    from tierwise._util.tables import Table
    from tierwise._util.tasks import Progress

# Wide enough for tables and narrow enough for a page, where there is no terminal to ask.
_WIDTH_OF_FILES = 100


def width_of_output() -> int:
    """Return how many columns there are to print in."""
    return shutil.get_terminal_size((_WIDTH_OF_FILES, 24)).columns


def heading(text: str) -> "Text":
    """Make a bold heading with a blank line before it."""
    from rich.text import Text

    return Text(text, style="bold")


def new_table() -> "RichTable":
    """Start a table in the style of all tables."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


@dataclass(frozen=True)
class Given:
    """The result of a command, in each form that it can be written in.

    Attributes
    ----------
    values
        Everything, for JSON.
    text
        The text for a terminal of a given width.
    cards
        The first lines of a page and of Markdown.
    table
        The table of the result, for CSV, LaTeX and Excel.
    page
        The page of the result, if it has a special one.
    """

    values: "Callable[[], dict[str, Any]]"
    text: "Callable[[int], list[RenderableType]]"
    cards: "Sequence[Card]"
    table: "Callable[[], Table]"
    page: "Callable[[], str] | None" = None


def given(
    result: Any, *, text: "Callable[[int], list[RenderableType]] | None" = None, **more: Any
) -> Given:
    """Return the output of a command with one main result; other results are added to it."""
    from tierwise._util.results import card_of
    from tierwise._util.tables import Table

    return Given(
        lambda: {**result.to_dict(), **more},
        text or (lambda width: [result.summary(width)]),
        [card_of(result)],
        lambda: Table.of(result.to_frame(backend="pyarrow").to_pydict()),
    )


def give(result: Given, out: Path | None, *, json: bool, quiet: bool) -> None:
    """Print a result, or write it to a file in the format of its extension."""
    from tierwise._util.tables import TABLE_ENDINGS, check_ending, write_bytes

    if out is None:
        if json:
            print_json(result.values(), None)
        else:
            print_result(result.text(width_of_output()))
        return
    ending = ".json" if json else check_ending(out, TABLE_ENDINGS)
    if ending == ".json":
        print_json(result.values(), out)
    elif ending in (".csv", ".tex", ".xlsx"):
        result.table().write(out)
    else:
        write_bytes(_document(result, ending).encode(), out)
    said_where(out, quiet=quiet)


def said_where(path: Path, *, quiet: bool) -> None:
    """Print on stderr the name of a file that was written."""
    if not quiet:
        note(f"Wrote {path}.")


def _document(result: Given, ending: str) -> str:
    """Return a result as a page, as Markdown or as text."""
    from tierwise._util.tables import page

    if ending == ".html" and result.page is not None:
        return result.page()
    text = StringIO()
    _print(result.text(_WIDTH_OF_FILES), text, _WIDTH_OF_FILES)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    if ending == ".txt":
        return "\n".join([*lines, ""])
    if ending == ".md":
        cards = "\n\n".join(card.to_markdown() for card in result.cards)
        # Four spaces make a block that no name can end.
        return "\n".join([cards, "", *(f"    {line}".rstrip() for line in lines), ""])
    cards = "\n".join(card.to_html("all") for card in result.cards)
    return page(result.cards[0].title, f"{cards}\n<pre>{escape(chr(10).join(lines))}</pre>")


def print_result(parts: "list[RenderableType]") -> None:
    """Print text and tables to the terminal."""
    _print(parts, sys.stdout, width_of_output())


def _print(parts: "list[RenderableType]", file: IO[str], width: int) -> None:
    from rich.console import Console
    from rich.text import Text

    # Without markup, because an item may be called [b].
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False)
    for number, part in enumerate(parts):
        if number > 0 and isinstance(part, Text):
            console.print()
        console.print(_Printable(part))


@dataclass(frozen=True)
class _Printable:
    """Text or a table, with control characters escaped."""

    part: "RenderableType"

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[Segment]":
        from rich.segment import Segment

        # Names are escaped before lines are broken; what stands in tables and headings, after.
        part = _escaped(self.part) if isinstance(self.part, str) else self.part
        for segment in console.render(part, options):
            text = segment.text if segment.control else _escaped(segment.text)
            yield Segment(text, segment.style, segment.control)


def _escaped(text: str) -> str:
    """Escape control characters except line ends."""
    return "\n".join(printable(line) for line in text.split("\n"))


def print_json(result: dict[str, Any], out: Path | None) -> None:
    """Print a result as JSON, to standard output or to a file."""
    from tierwise._util.tables import as_json, write_bytes

    if out is None:
        sys.stdout.write(as_json(result))
    else:
        write_bytes(as_json(result).encode(), out)


def progress(*, quiet: bool) -> "Progress":
    """Choose how to show progress: a bar on a terminal, elsewhere a line now and then."""
    if quiet:
        return "off"
    return "auto" if sys.stderr.isatty() else LinesOfProgress()


class LinesOfProgress:
    """Shows progress one line at a time, for logs.

    Parameters
    ----------
    seconds
        The shortest time between two lines, and before the first.
    clock
        The clock, in seconds; by default one that stops while code is compiled.
    """

    def __init__(self, seconds: float = 10.0, clock: "Callable[[], float]" = working_time) -> None:
        self._seconds = seconds
        self._clock = clock
        self._said = clock()

    def __call__(self, description: str, done: int, total: int) -> None:
        """Print how many steps are done, if some are left and the last line is old enough."""
        # Nobody waits for work that is already done.
        if done < total and self._clock() - self._said >= self._seconds:
            self._said = self._clock()
            note(f"{description}: {done:,} of {total:,}")


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Show a spinner on a terminal while work of unknown length runs."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def note(text: str) -> None:
    """Print a note on stderr."""
    import typer

    typer.echo(fitted(printable(text)), err=True)


def fitted(text: str) -> str:
    """Wrap a note at the width of the terminal; elsewhere, keep it on one line for logs.

    Options and names are not broken, so they can be copied.
    """
    if not sys.stderr.isatty():
        return text
    return fill(text, width_of_output(), break_long_words=False, break_on_hyphens=False)


def save_figure(ax: "Axes", path: Path, *, quiet: bool) -> None:
    """Write a figure completely or not at all, and print its name."""
    from matplotlib import pyplot as plt

    from tierwise._util.resources import whole_file

    figure = ax.get_figure(root=True)
    assert figure is not None
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix.lower().removeprefix("."), dpi=200)
    plt.close(figure)
    said_where(path, quiet=quiet)
