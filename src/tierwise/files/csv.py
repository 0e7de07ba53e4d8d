"""CSV files: a header, then one line per row, cells parted by commas, semicolons or tabs."""

import csv
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from tierwise._util.wording import has_control_characters, quoted
from tierwise.errors import InputError
from tierwise.files.notes import ReadingNotes
from tierwise.files.source import Source
from tierwise.files.table_file import TableFile

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_BLOCK_BYTES = 1 << 20


def open_csv(source: Source) -> TableFile:
    """Open a CSV file, of which the header is read and checked."""
    header, delimiter = _read_header(source)
    settings = {
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in header},
            null_values=[""],
            strings_can_be_null=True,
        ),
    }

    def read() -> Any:
        try:
            with source.open() as stream:
                return _tidy(arrow_csv.read_csv(stream, **settings), header, 0, source)
        except pa.ArrowInvalid as error:
            raise _explain(error, source, len(header), delimiter) from None

    def batches(most_rows: int) -> Iterator[Any]:
        blocks = arrow_csv.ReadOptions(block_size=_BLOCK_BYTES)
        start = 0
        try:
            with source.open() as stream:
                for block in arrow_csv.open_csv(stream, read_options=blocks, **settings):
                    table = _tidy(pa.Table.from_batches([block]), header, start, source)
                    start += table.num_rows
                    for first in range(0, table.num_rows, most_rows):
                        yield table.slice(first, most_rows)
        except pa.ArrowInvalid as error:
            raise _explain(error, source, len(header), delimiter) from None

    def name_row(row: int) -> str:
        return source.line(_line_of_row(source, row))

    columns = tuple(name.strip() for name in header)
    form = ReadingNotes(
        file=source.name, format="CSV", encoding="UTF-8", separator=_DELIMITERS[delimiter]
    )
    return TableFile(columns, read, batches, name_row, form)


def _read_header(source: Source) -> tuple[list[str], str]:
    """Return the column names, as they stand in the file, and the delimiter."""
    lines = source.head().removeprefix(b"\xef\xbb\xbf").splitlines()
    number, line = next(((i, line) for i, line in enumerate(lines, start=1) if line), (1, b""))
    text = source.decode(line, number)
    delimiter = max(_DELIMITERS, key=lambda mark: len(_cells(text, mark)))
    header = _cells(text, delimiter)
    seen: set[str] = set()
    for column, name in enumerate((name.strip() for name in header), start=1):
        if not name:
            raise InputError(
                f"{source.line(number)}: column {column} has no name: the first line must name "
                "every column (an item, a place, or what else it holds)"
            )
        if name in seen:
            raise InputError(
                f"{source.line(number)}: column {quoted(name)} is there twice: give each its own "
                "name"
            )
        if has_control_characters(name):
            raise InputError(
                f"{source.line(number)}: column {quoted(name)} holds a control character, which a "
                "terminal or a file would obey: take it out of the name"
            )
        seen.add(name)
    return header, delimiter


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _tidy(table: Any, header: list[str], first_row: int, source: Source) -> Any:
    """Strip space around cells, and refuse cells that run over the end of their line."""
    if _names(table, source) != header:
        raise InputError(
            f"{source.name}: a quote is opened in the first line and not closed: close it (a name "
            "cannot go on in the next line)"
        )
    columns = []
    for column in table.columns:
        chunks = []
        for chunk in column.chunks:
            broken = pc.match_substring_regex(chunk.dictionary, r"[\r\n]")
            if pc.any(broken).as_py():
                row = pc.index(pc.take(broken, chunk.indices), pa.scalar(value=True)).as_py()
                raise InputError(
                    f"{source.line(_line_of_row(source, first_row + row))}: a quote is opened and "
                    "not closed: close it (a cell cannot go on in the next line)"
                )
            labels = pc.utf8_trim_whitespace(chunk.dictionary)
            chunks.append(pa.DictionaryArray.from_arrays(chunk.indices, labels))
        columns.append(pa.chunked_array(chunks, type=column.type))
    return pa.table(columns, names=table.column_names)


def _names(table: Any, source: Source) -> list[str]:
    """Return the names of the columns, which go on over lines if a quote is not closed."""
    try:
        names: list[str] = table.column_names
    except UnicodeDecodeError:
        source.text_lines()
        raise
    return names


def _line_of_row(source: Source, row: int) -> int:
    """Return the line of a row, both as people count; blank lines are not rows."""
    filled = [number for number, line in enumerate(source.lines(), start=1) if line]
    return filled[row + 1]


def _explain(error: Exception, source: Source, n_columns: int, delimiter: str) -> InputError:
    """Find the line that made arrow give up on a file."""
    for number, line in enumerate(source.text_lines(), start=1):
        n_cells = len(_cells(line, delimiter))
        if line and n_cells != n_columns:
            return InputError(
                f"{source.line(number)} has {n_cells} cells, but the header has {n_columns} "
                "columns: give every line as many (an empty cell is one, too)"
            )
    return InputError(f"{source.name} cannot be read as CSV: {str(error).splitlines()[0]}")
