"""JSON lines: one object per line, whose keys are the columns of a table."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tierwise.errors import InputError
from tierwise.files.notes import ReadingNotes
from tierwise.files.source import Source
from tierwise.files.table_file import TableFile

_PIECE_BYTES = 1 << 23


def open_json_lines(source: Source) -> TableFile:
    """Open a file of JSON lines, of which the first piece tells the columns."""
    if source.head(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        raise InputError(
            f"{source.name} is one JSON list: write one object per line instead (in pandas, "
            'to_json(path, orient="records", lines=True))'
        )
    first = next(_tables(source), None)
    if first is None:
        raise InputError(f"{source.name} is empty: it must hold at least one object")
    columns: tuple[str, ...] = tuple(first.column_names)

    def tables() -> Iterator[Any]:
        for table in _tables(source):
            missing = [name for name in columns if name not in table.column_names]
            for name in missing:
                table = table.append_column(name, pa.nulls(table.num_rows))  # noqa: PLW2901
            yield table.select(columns)

    def read() -> Any:
        return pa.concat_tables(tables(), promote_options="permissive")

    def batches(most_rows: int) -> Iterator[Any]:
        for table in tables():
            for start in range(0, table.num_rows, most_rows):
                yield table.slice(start, most_rows)

    def name_row(row: int) -> str:
        filled = [number for number, line in enumerate(source.lines(), start=1) if line.strip()]
        return source.line(filled[row])

    form = ReadingNotes(file=source.name, format="JSON lines", encoding="UTF-8")
    return TableFile(columns, read, batches, name_row, form)


def _tables(source: Source) -> Iterator[Any]:
    """Read whole lines, some megabytes at a time."""
    n_lines = 0
    with source.open() as stream:
        rest = b""
        while piece := stream.read(_PIECE_BYTES):
            whole, end, rest_of_piece = (rest + piece).rpartition(b"\n")
            rest = rest_of_piece if end else whole + rest_of_piece
            if end and whole.strip():
                yield _parse(whole.removeprefix(b"\xef\xbb\xbf"), source, n_lines)
                n_lines += whole.count(b"\n") + 1
        if rest.strip():
            yield _parse(rest.removeprefix(b"\xef\xbb\xbf"), source, n_lines)


def _parse(lines: bytes, source: Source, n_before: int) -> Any:
    from pyarrow import json as arrow_json

    try:
        return arrow_json.read_json(
            pa.BufferReader(lines), arrow_json.ReadOptions(block_size=len(lines) + 1)
        )
    except pa.ArrowInvalid as error:
        raise _explain(error, lines, source, n_before) from None


def _explain(error: Exception, lines: bytes, source: Source, n_before: int) -> InputError:
    """Find the line that is no JSON object."""
    import json

    for number, line in enumerate(lines.split(b"\n"), start=n_before + 1):
        if not line.strip():
            continue
        try:
            sound = isinstance(json.loads(line), dict)
        except ValueError:
            sound = False
        if not sound:
            return InputError(
                f"{source.line(number)} is no JSON object: every line must be one, as in "
                '{"model_a": "x", "model_b": "y", "winner": "model_a"}'
            )
    return InputError(f"{source.name} cannot be read as JSON lines: {str(error).splitlines()[0]}")
