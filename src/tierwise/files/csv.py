"""CSV files: a header, then one line per row, cells separated by commas, semicolons or tabs.

How the text is written in bytes (UTF-8, UTF-16 or Latin-1) is recognised, or said.
"""

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from tierwise.errors import InputError, counted, has_control_characters, quoted, use
from tierwise.files.options import ReadingNotes, say_blank
from tierwise.files.source import Source
from tierwise.files.table_file import TableFile

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What Windows writes as Latin-1 has typographic marks where Latin-1 has control characters.
_LATIN = "cp1252"
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_SHOWN = {"utf-8": "UTF-8", "utf-16": "UTF-16", _LATIN: "Latin-1 (Windows-1252)"}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_BLOCK_BYTES = 1 << 20
# Encodings that Python has for names of hosts and for itself; no file is written in them.
_NOT_OF_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")
_BLANK = re.compile(rb"\A(?:\xef\xbb\xbf)?\r?\n|\n\r?\n|\r\r")


def in_utf8(source: Source, encoding: str | None) -> tuple[Source, str]:
    """Return a source whose bytes are UTF-8, and how the text was written before.

    Parameters
    ----------
    source
        The file.
    encoding
        What the user says of it; recognised by its first bytes if None.
    """
    known = _recognise(source.head()) if encoding is None else _check(encoding)
    if known == "utf-8":
        return source, _SHOWN[known]
    with source.open() as stream:
        content: bytes = stream.read()
    text = ""
    try:
        text = content.decode(known)
        written = text.removeprefix("\ufeff").encode()
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        before = text.count("\n", 0, start) if text else content.count(b"\n", 0, start)
        raise InputError(
            f"{source.line(before + 1)} is not {known} text",
            [use("to name its encoding", encoding=...), "save it as UTF-8"],
        ) from None
    return replace(source, path=None, content=written), _SHOWN.get(known, known)


def _check(encoding: str) -> str:
    try:
        known = codecs.lookup(encoding).name
        "".encode(known)
    except (LookupError, TypeError, ValueError):
        known = "undefined"
    if known in _NOT_OF_FILES:
        raise InputError(f"encoding {quoted(encoding)} is unknown: choose utf-8, utf-16 or latin-1")
    return _LATIN if known in ("iso8859-1", "latin-1") else known


def _recognise(head: bytes) -> str:
    """Tell how text is written from its first bytes; what is neither is left to be refused."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if _zeros(head[1::2]) > 0.4 and _zeros(head[::2]) < 0.1:
        return "utf-16-le"
    if _zeros(head[::2]) > 0.4 and _zeros(head[1::2]) < 0.1:
        return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return _LATIN if _is_latin(head) else "utf-8"
    return "utf-8"


def _zeros(content: bytes) -> float:
    return content.count(0) / len(content) if len(content) > 3 else 0.0


def _is_latin(head: bytes) -> bool:
    """Return whether bytes beyond ASCII are letters in words, and none of them is UTF-8."""
    text = head.decode(_LATIN, errors="replace")
    if "\ufffd" in text or _UTF8_LETTER.search(head):
        return False  # damaged UTF-8 has other letters that are whole
    beyond = [position for position, mark in enumerate(text) if ord(mark) > 127]
    letters = sum(text[position].isalpha() for position in beyond)
    inside = sum(
        text[position - 1 : position].isalpha() or text[position + 1 : position + 2].isalpha()
        for position in beyond
    )
    return 2 * letters >= len(beyond) and 2 * inside >= len(beyond)


def open_csv(source: Source) -> TableFile:
    """Open a CSV file, and read and check its header."""
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
        file=source.name, format="CSV", encoding="UTF-8", separator=DELIMITERS[delimiter]
    )
    return TableFile(
        columns, read, batches, name_row, form, passed_over=partial(_say_blank_lines, source)
    )


def _say_blank_lines(source: Source) -> tuple[str, ...]:
    """Say which lines above the last answer are blank."""
    with source.open() as stream:
        before = b""
        while block := stream.read(_BLOCK_BYTES):
            if _BLANK.search(before + block):
                break
            before = block[-3:]
        else:
            return ()
    lines = source.lines()
    while lines and not lines[-1]:
        lines.pop()
    return say_blank([number for number, line in enumerate(lines, start=1) if not line], "line")


def _read_header(source: Source) -> tuple[list[str], str]:
    """Return the column names, as they stand in the file, and the delimiter."""
    lines = source.head(_BLOCK_BYTES).removeprefix(b"\xef\xbb\xbf").splitlines()
    number, line = next(((i, line) for i, line in enumerate(lines, start=1) if line), (1, b""))
    text = source.decode(line, number)
    try:
        delimiter = max(DELIMITERS, key=lambda mark: len(_cells(text, mark)))
        header = _cells(text, delimiter)
    except csv.Error as error:
        raise refused(error, source.line(number)) from None
    seen: set[str] = set()
    for column, name in enumerate((name.strip() for name in header), start=1):
        if not name:
            raise InputError(
                f"{source.line(number)}: column {column} has no name: the first line must name "
                "every column (an item, a place, or something else)"
            )
        if name in seen:
            raise InputError(
                f"{source.line(number)}: column {quoted(name)} occurs twice: give each column "
                "its own name"
            )
        if has_control_characters(name):
            raise InputError(
                f"{source.line(number)}: column {quoted(name)} contains a control "
                "character: remove it from the name"
            )
        seen.add(name)
    return header, delimiter


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def refused(error: csv.Error, where: str) -> InputError:
    """Say why text cannot be divided into cells."""
    if "field limit" in str(error):
        return InputError(
            f"{where}: a cell holds more than {csv.field_size_limit():,} characters: shorten "
            "it, or delete its column"
        )
    return InputError(f"{where}: a quote is not closed: close it")


def _tidy(table: Any, header: list[str], first_row: int, source: Source) -> Any:
    """Strip space around cells, and refuse cells that run over the end of their line."""
    if _names(table, source) != header:
        raise InputError(
            f"{source.name}: a quote in the first line is not closed: close it (a name cannot "
            "continue on the next line)"
        )
    columns = []
    for column in table.columns:
        chunks = []
        for chunk in column.chunks:
            broken = pc.match_substring_regex(chunk.dictionary, r"[\r\n]")
            if pc.any(broken).as_py():
                row = pc.index(pc.take(broken, chunk.indices), pa.scalar(value=True)).as_py()
                raise InputError(
                    f"{source.line(_line_of_row(source, first_row + row))}: a quote is not "
                    "closed: close it (a cell cannot continue on the next line)"
                )
            labels = pc.utf8_trim_whitespace(chunk.dictionary)
            chunks.append(pa.DictionaryArray.from_arrays(chunk.indices, labels))
        columns.append(pa.chunked_array(chunks, type=column.type))
    tidy = pa.table(columns, names=table.column_names)
    _refuse_first_line_again(tidy, first_row, source)
    return tidy


def _refuse_first_line_again(table: Any, first_row: int, source: Source) -> None:
    """Refuse a row that is the same as the header, as where one file was put below another."""
    names = [name.strip() for name in table.column_names]
    # A single name may be that of an item, and numbers may be ranks of items called so.
    if len(names) < 2 or all(name.isdecimal() for name in names):
        return
    same = None
    for name, column in zip(names, table.columns, strict=True):
        # As a pattern: to make an array of a name would load pandas.
        pattern = f"^{re.escape(name)}$"
        found = [
            pc.take(pc.match_substring_regex(one.dictionary, pattern), one.indices)
            for one in column.chunks
        ]
        here = pa.chunked_array(found, type=pa.bool_())
        same = here if same is None else pc.and_kleene(same, here)
        if not pc.any(same, min_count=0).as_py():
            return
    line = _line_of_row(source, first_row + pc.index(same, pa.scalar(value=True)).as_py())
    raise InputError(
        f"{source.line(line)} is the same as the line with the column names",
        [
            f"delete line {line} if it repeats them",
            "add a line with column names, such as place 1, place 2, above the first line if both "
            "are answers",
        ],
    )


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
        if len(line) > _BLOCK_BYTES:
            return InputError(
                f"{source.line(number)} holds {len(line):,} characters, and the limit is "
                f"{_BLOCK_BYTES:,}: delete the column with the long text"
            )
        try:
            n_cells = len(_cells(line, delimiter))
        except csv.Error:
            continue  # arrow reads longer cells than these
        if line and n_cells != n_columns:
            return InputError(
                f"{source.line(number)} has {counted(n_cells, 'cell')}, but the header has "
                f"{n_columns} columns: give every line the same number of cells (empty cells count)"
            )
    return InputError(f"{source.name} cannot be read as CSV: {str(error).splitlines()[0]}")
