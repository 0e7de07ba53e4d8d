"""Tables to read, wherever they are: files of any format, open files, and data frames."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tierwise._util.types import numbered_row
from tierwise.errors import InputError, drop, instead, quoted
from tierwise.files.csv import in_utf8
from tierwise.files.lines import holds_lines
from tierwise.files.options import ReadingNotes
from tierwise.files.source import (
    FileFormat,
    Format,
    Readable,
    Source,
    check_format,
    errors_name,
    find_source,
    recognise_format,
)
from tierwise.files.table_file import TableFile, open_json_lines, open_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLES = ("csv", "parquet", "xlsx", "jsonl")

DataSource: TypeAlias = "Readable | Any"
"""The name of a file, an open file, or a data frame of any library that narwhals knows."""


class Opened(NamedTuple):
    """Something to read.

    Attributes
    ----------
    name
        What messages call it; empty for a data frame.
    table
        The table that it holds; None if it is a format that announces its items.
    source
        The file; None for a data frame.
    format
        The format of the file; None for a data frame.
    """

    name: str
    table: TableFile | None
    source: Source | None
    format: FileFormat | None

    def announced(self) -> tuple[Source, FileFormat]:
        """Return the file, and which of the formats that announce their items it has."""
        assert self.source is not None
        assert self.format is not None
        return self.source, self.format


def open_source(
    source: DataSource,
    file_format: Format = "auto",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Opened:
    """Open a file or a data frame, and find out its format."""
    check_format(file_format)
    if is_frame(source):
        said = {"format": file_format != "auto", "encoding": encoding, "sheet": sheet}
        for option, value in said.items():
            if value:
                raise InputError(f"a data frame has no {option}", [drop(option)])
        return Opened("", open_frame(source), None, None)
    if not isinstance(source, str | PathLike) and not hasattr(source, "read"):
        raise InputError(
            "source must be the name of a file, an open file, or a data frame of pandas, polars or "
            f"pyarrow; got {quoted(source)}"
        )
    found = find_source(source)
    known = recognise_format(found) if file_format == "auto" else file_format
    if file_format == "auto" and known == "csv" and holds_lines(found):
        known = "lines"
    if known == "lines":
        found = in_utf8(found, encoding)[0]
    with errors_name(found.name):
        table = _open_table(found, known, encoding, sheet) if known in _TABLES else None
    return Opened(found.name, table, found, known)


def open_table(
    source: DataSource,
    file_format: Format = "auto",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> tuple[str, TableFile]:
    """Open a table and name it for messages, or say that its format does not hold one."""
    opened = open_source(source, file_format, encoding, sheet)
    if opened.table is None:
        raise InputError(
            f"{opened.name}: the {opened.format} format holds rankings",
            [instead("read_rankings", command="fit")],
        )
    return opened.name, opened.table


def is_frame(source: object) -> bool:
    """Tell a data frame from a path and from an open file."""
    if isinstance(source, str | PathLike) or hasattr(type(source), "read"):
        return False
    return hasattr(type(source), "columns")


def open_frame(frame: Any) -> TableFile:
    """Make a table from a data frame, which is in memory."""
    from tierwise.data.frames import arrow_table

    names, unnamed = arrow_table(frame)
    table = unnamed.rename_columns([str(name) for name in names])

    def read() -> Any:
        return table

    def batches(most_rows: int) -> Iterator[Any]:
        for start in range(0, table.num_rows, most_rows):
            yield table.slice(start, most_rows)

    library = type(frame).__module__.partition(".")[0]
    form = ReadingNotes(format=f"a data frame of {library}")
    return TableFile(tuple(names), read, batches, numbered_row, form)


def _open_table(
    source: Source, file_format: FileFormat, encoding: str | None, sheet: str | int | None
) -> TableFile:
    if sheet is not None and file_format != "xlsx":
        raise InputError(
            f"only Excel files have sheets; this is a {file_format} file", [drop("sheet")]
        )
    if file_format == "csv":
        from tierwise.files.exports import open_text_table

        return open_text_table(source, encoding)
    if encoding is not None:
        raise InputError(
            f"only text files have an encoding; this is a {file_format} file", [drop("encoding")]
        )
    if file_format == "xlsx":
        from tierwise.files.exports import open_excel

        return open_excel(source, sheet)
    if file_format == "jsonl":
        return open_json_lines(source)
    return open_parquet(source)
