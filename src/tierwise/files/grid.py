"""Tables that are small enough for memory as rows of text: from CSV text, or from a sheet."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tierwise._util.wording import has_control_characters, quoted
from tierwise.errors import InputError
from tierwise.files.notes import ReadingNotes, say_blank
from tierwise.files.source import Source
from tierwise.files.table_file import TableFile


@dataclass(frozen=True)
class Record:
    """A row of cells, and the line it begins on."""

    line: int
    cells: tuple[str, ...]

    @property
    def n_filled(self) -> int:
        """The number of cells that are not empty."""
        return sum(1 for cell in self.cells if cell)


def records_of_text(text: str, delimiter: str) -> Iterator[Record]:
    """Read CSV text, in which quoted cells may go on over several lines; blank lines are left out.

    Raises
    ------
    csv.Error
        If a quote is opened and not closed.
    """
    return (record for record in _all_records(text, delimiter) if record.n_filled)


def _all_records(text: str, delimiter: str) -> Iterator[Record]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    line = 1
    for cells in reader:
        yield Record(line, tuple(" ".join(cell.split()) for cell in cells))
        line = reader.line_num + 1


def without_blank(records: Sequence[Record], unit: str) -> tuple[list[Record], tuple[str, ...]]:
    """Leave out records that hold nothing, and say so of those above the last that is filled."""
    filled = [record for record in records if record.n_filled]
    last = filled[-1].line if filled else 0
    blank = [record.line for record in records if not record.n_filled and record.line < last]
    return filled, say_blank(blank, unit)


def all_records_of_text(text: str, delimiter: str) -> tuple[list[Record], tuple[str, ...]]:
    """Read CSV text as `records_of_text` does, and say which lines are blank."""
    return without_blank(list(_all_records(text, delimiter)), "line")


def open_grid(
    header: Sequence[str],
    rows: Sequence[Record],
    source: Source,
    form: ReadingNotes,
    *,
    unit: str = "line",
) -> TableFile:
    """Make a table of records under a header.

    Parameters
    ----------
    header
        The names of the columns; one without a name is left out if it is empty.
    rows
        The records.
    source
        Where they come from.
    form
        What is known of the file.
    unit
        What messages call a record of the source.
    """
    import pyarrow as pa

    def where(row: int) -> str:
        return f"{source.name}, {unit} {rows[row].line}"

    width = len(header)
    for number, record in enumerate(rows):
        if any(record.cells[width:]):
            raise InputError(
                f"{where(number)} has {len(record.cells)} cells, but the header has {width} "
                "columns: give every line as many (an empty cell is one, too)"
            )
    columns: dict[str, list[str | None]] = {}
    for position, name in enumerate(header):
        cells = [row.cells[position] if position < len(row.cells) else "" for row in rows]
        if not name and not any(cells):
            continue
        _check_title(name, position, header, source)
        columns[name] = [cell or None for cell in cells]
    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})

    def read() -> Any:
        return table

    def batches(most_rows: int) -> Iterator[Any]:
        for first in range(0, table.num_rows, most_rows):
            yield table.slice(first, most_rows)

    return TableFile(tuple(columns), read, batches, where, form)


def _check_title(name: str, position: int, header: Sequence[str], source: Source) -> None:
    if not name:
        raise InputError(
            f"{source.name}: column {position + 1} has no name: the header must name every column "
            "(an item, a place, or what else it holds)"
        )
    if Counter(header)[name] > 1:
        raise InputError(
            f"{source.name}: column {quoted(name)} is there twice: give each its own name"
        )
    if has_control_characters(name):
        raise InputError(
            f"{source.name}: column {quoted(name)} holds a control character, which a terminal or "
            "a file would obey: take it out of the name"
        )
