"""Printing that several commands share: tables for people, JSON for programs."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tierwise.errors import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

    from tierwise._util.tasks import Progress

# Wide enough for tables and narrow enough for a page, where there is no terminal to ask.
_WIDTH_OF_FILES = 100


def width_of_output(out: Path | None) -> int:
    """Return how many columns there are to print in."""
    if out is not None:
        return _WIDTH_OF_FILES
    return shutil.get_terminal_size((_WIDTH_OF_FILES, 24)).columns


def heading(text: str) -> "Text":
    """Make a line that stands out, with a blank one before it."""
    from rich.text import Text

    return Text(text, style="bold")


def new_table() -> "Table":
    """Start a table in the style of all tables."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def print_result(parts: "list[RenderableType]", out: Path | None) -> None:
    """Print text and tables, to the terminal or to a file."""
    if out is None:
        _print(parts, sys.stdout, width_of_output(out))
        return
    from tierwise._util.resources import whole_file

    with whole_file(out) as partial, partial.open("w", encoding="utf-8") as file:
        _print(parts, file, width_of_output(out))


def _print(parts: "list[RenderableType]", file: IO[str], width: int) -> None:
    from rich.console import Console
    from rich.text import Text

    # Without markup, for an item may be called [b].
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False)
    for number, part in enumerate(parts):
        if number > 0 and isinstance(part, Text):
            console.print()
        console.print(_Printable(part))


@dataclass(frozen=True)
class _Printable:
    """Text or a table, with characters escaped that a terminal would obey."""

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
    """Escape what a terminal would obey, but for ends of lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


def print_json(result: dict[str, Any], out: Path | None) -> None:
    """Print a result as JSON, to standard output or to a file."""
    from tierwise._util.tables import as_json, write_bytes

    if out is None:
        sys.stdout.write(as_json(result))
    else:
        write_bytes(as_json(result).encode(), out)


def progress(*, quiet: bool) -> "Progress":
    """Say how long work shows how far it is: a bar on a terminal, unless that is not wanted."""
    return "off" if quiet else "auto"


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal that something is being done whose end cannot be foreseen."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def note(text: str) -> None:
    """Tell people something on stderr."""
    import typer

    typer.echo(printable(text), err=True)
