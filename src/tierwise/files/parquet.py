"""Tables in Parquet files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tierwise._util.wording import quoted
from tierwise.errors import InputError
from tierwise.files.notes import ReadingNotes
from tierwise.files.source import Source
from tierwise.files.table_file import TableFile


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """Open a file for arrow, and say so if it turns out not to be what it should be."""
    try:
        with source.open() as stream:
            yield stream
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{source.name} cannot be read as Parquet ({reason}): fetch or write the file again, "
            "or say which format it has with format="
        ) from None


def _sound(table: Any) -> Any:
    """Make sure that what was read is what it says: arrow takes damaged pages at their word."""
    table.validate(full=True)
    return table


def rows_of_groups(source: Source) -> list[int]:
    """Return how many rows each row group of a Parquet file has."""
    with _opened(source) as stream:
        metadata = pq.read_metadata(stream)
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def open_parquet(source: Source, groups: range | None = None) -> TableFile:
    """Open a Parquet file, or some of its row groups, of which only the schema is read."""
    with _opened(source) as stream:
        schema = pq.read_schema(stream)
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise InputError(f"column {quoted(twice[0])} is there twice: give each its own name")
    # Text that stays dictionary-encoded makes no Python object per cell.
    text = [field.name for field in schema if pa.types.is_string(field.type)]

    def read() -> Any:
        with _opened(source) as stream:
            return _sound(pq.read_table(stream, read_dictionary=text))

    def batches(most_rows: int) -> Iterator[Any]:
        with _opened(source) as stream:
            file = pq.ParquetFile(stream, read_dictionary=text)
            # Group by group, because arrow reads ahead if it is asked for all of them.
            for group in range(file.num_row_groups) if groups is None else groups:
                for batch in file.iter_batches(batch_size=most_rows, row_groups=[group]):
                    yield _sound(pa.Table.from_batches([batch]))

    def name_row(row: int) -> str:
        before = sum(rows_of_groups(source)[: groups.start]) if groups else 0
        return f"{source.name}, row {before + row + 1}"

    form = ReadingNotes(file=source.name, format="Parquet")
    return TableFile(tuple(schema.names), read, batches, name_row, form)
