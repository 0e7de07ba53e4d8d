"""A file that holds a table, read whole or batch by batch; Parquet files and JSON lines."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, cast

import pyarrow as pa
import pyarrow.parquet as pq

from tierwise._util.resources import check_memory
from tierwise._util.types import Item, RowNamer
from tierwise.errors import InputError, Remark, counted, quoted, use
from tierwise.files.cast_votes import pass_over_words
from tierwise.files.cells import encode, numbers
from tierwise.files.layouts import Roles, assign_roles, columns_for_people
from tierwise.files.missing import leave_blank
from tierwise.files.options import ReadingNotes, TableOptions
from tierwise.files.places import EncodedRankings
from tierwise.files.source import Source, reader_of
from tierwise.files.spellings import refuse_spellings
from tierwise.files.tables import (
    in_order_of_appearance,
    new_items,
    notes_of,
    pairs_from_table,
    rankings_from_table,
)
from tierwise.files.whole_rankings import (
    Unfolded,
    holds_rankings,
    refuse_lists_as_items,
    unfold_rankings,
)
from tierwise.files.wide import SAMPLE_ROWS

Pairs: TypeAlias = list[tuple[Any, Item, Item]]
"""Comparisons as a file holds them: the assessor, the item preferred, the other."""
_PIECE_BYTES = 1 << 23
_DEEPEST = 100
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKET = re.compile(rb"[\[\]{}]")
BYTES_PER_CELL = 24
"""What a cell takes while a table is read whole: equal cells, which a file holds once, as well."""


@dataclass(frozen=True)
class EncodedPairs:
    """Comparisons as a file holds them, and how they were read."""

    rows: Pairs
    notes: ReadingNotes


@dataclass(frozen=True)
class TableFile:
    """A table, in a file or in memory.

    Attributes
    ----------
    columns
        The names of its columns.
    read
        Returns all of it as an arrow table.
    batches
        Yields it as arrow tables with a limited number of rows, one in memory at a time.
    name_row
        Names a row for messages, by its number from 0.
    form
        What is known of the file.
    empty
        "skip" to set aside rows that list no item, whatever the user says.
    passed_over
        Says which lines hold nothing; called when the table is read whole.
    """

    columns: tuple[Item, ...]
    read: Callable[[], Any]
    batches: Callable[[int], Iterator[Any]]
    name_row: RowNamer
    form: ReadingNotes
    empty: Literal["skip"] | None = None
    passed_over: Callable[[], tuple[str, ...]] = tuple

    def rankings(self, options: TableOptions) -> EncodedRankings:
        """Read all rankings."""
        found, roles = self._understood(options)
        return self._encode(found, roles)

    def _understood(self, options: TableOptions) -> tuple[Unfolded, Roles]:
        """Read the table, and tell what its columns are for."""
        cells, remarks = self._leave_blank(self.read(), options)
        found = unfold_rankings(self.columns, cells, options)
        roles = assign_roles(found.columns, found.table, found.options)
        if roles.layout == "orderings" and len(roles.cells) == 1 and options.layout == "auto":
            (only,) = roles.cells
            refuse_lists_as_items(found.columns[only], found.table.column(only))
        return found, replace(roles, remarks=(*found.remarks, *roles.remarks, *remarks))

    def _leave_blank(
        self, table: Any, options: TableOptions
    ) -> tuple[Any, tuple[Remark | str, ...]]:
        people = columns_for_people(self.columns, options)
        return leave_blank(table, options.missing, people, options.items or ())

    def _encode(self, found: Unfolded, roles: Roles) -> EncodedRankings:
        options = replace(found.options, empty=self.empty or found.options.empty)
        encoded = rankings_from_table(found.table, found.columns, roles, options, self.name_row)
        notes = encoded.notes
        if notes is not None and found.column:
            notes = replace(notes, layout="whole rankings", columns=(found.column,))
        return replace(encoded, notes=None if notes is None else self._about_file(notes))

    def _about_file(self, notes: ReadingNotes) -> ReadingNotes:
        """Add what is known of the file to how its columns were understood."""
        about = notes.about(self.form)
        return replace(about, remarks=(*about.remarks, *self.passed_over()))

    def notes(self, options: TableOptions) -> ReadingNotes:
        """Note how the first rows were read, without reading the rest."""
        return notes_of(self.columns, self.roles(options), options).about(self.form)

    def answers(self, options: TableOptions) -> EncodedRankings | EncodedPairs:
        """Read all answers, which may be rankings or pairs.

        Pairs are rankings of two items if each is all that somebody said.
        """
        found, roles = self._understood(options)
        if roles.layout != "pairs":
            return self._encode(found, roles)
        if roles.assessor:
            return self._encode_pairs(found.table, roles, options)
        places = (cast("int", roles.preferred), cast("int", roles.other))
        alone = replace(roles, layout="orderings", cells=places)
        anywhere = replace(options, unranked="anywhere")
        encoded = self._encode(replace(found, options=anywhere), alone)
        assert encoded.notes is not None
        return replace(encoded, notes=replace(encoded.notes, layout="pairs"))

    def pairs(self, options: TableOptions) -> EncodedPairs:
        """Read all pairs."""
        table = self.read()
        return self._encode_pairs(table, assign_roles(self.columns, table, options), options)

    def _encode_pairs(self, table: Any, roles: Roles, options: TableOptions) -> EncodedPairs:
        rows = pairs_from_table(table, roles, options, self.name_row)
        notes = replace(notes_of(self.columns, roles, options), n_answers=len(rows))
        return EncodedPairs(rows, self._about_file(notes))

    def scan(self, options: TableOptions, chunk_rows: int) -> Iterator[EncodedRankings]:
        """Read rankings in chunks that all have the same items in the same order."""
        roles = self.roles(options)
        if roles.layout == "orderings" and options.items is None:
            items = in_order_of_appearance(self.first_cells(options, roles, chunk_rows))
            if options.spellings == "ask":
                refuse_spellings(list(map(str, items)), "item", can_rename=False)
            options = replace(options, items=items)
        return self._scan(options, roles, chunk_rows)

    def _scan(
        self, options: TableOptions, roles: Roles, chunk_rows: int
    ) -> Iterator[EncodedRankings]:
        n_chunks = 0
        for chunk in self.chunks(options, roles, chunk_rows):
            n_chunks += 1
            yield chunk
        if n_chunks == 0:
            raise InputError("all weights are 0: at least one ranking must count")

    def roles(self, options: TableOptions) -> Roles:
        """Tell what the columns are for, in a table that has one row per answer."""
        import pyarrow as pa

        # As many rows as where the table is read whole, so that both see the same layout.
        sample: list[Any] = []
        for batch in self._batches(SAMPLE_ROWS, options):
            sample.append(batch)
            if sum(len(part) for part in sample) >= SAMPLE_ROWS:
                break
        if not sample:
            raise InputError("there are no rankings below the header: add at least one row")
        rows = pa.concat_tables(sample)
        if holds_rankings(self.columns, rows, options):
            raise InputError(
                "cells hold whole rankings, which cannot be read in chunks: read the whole file, "
                "or write one column per place"
            )
        roles = assign_roles(self.columns, rows, options)
        if roles.layout in ("long", "pairs"):
            raise InputError(
                f"in the layout {roles.layout} an answer takes several rows, so it cannot be "
                "read in chunks: read the whole file, or write one row per answer"
            )
        return roles

    def chunks(
        self, options: TableOptions, roles: Roles, chunk_rows: int
    ) -> Iterator[EncodedRankings]:
        """Read rankings in chunks; skip chunks in which nothing counts."""
        start = 0
        for batch in self._batches(chunk_rows, options):
            name_row = partial(self._name_row_of_batch, start)
            start += batch.num_rows
            if not _without_weight(batch, roles, name_row):
                yield rankings_from_table(batch, self.columns, roles, options, name_row)

    def _name_row_of_batch(self, start: int, row: int) -> str:
        return self.name_row(start + row)

    def _batches(self, most_rows: int, options: TableOptions) -> Iterator[Any]:
        for batch in self.batches(most_rows):
            yield self._leave_blank(batch, options)[0]

    def first_cells(self, options: TableOptions, roles: Roles, chunk_rows: int) -> dict[Item, int]:
        """Find all items of orderings, each with the number of the cell it is first seen in."""
        first_cell: dict[Item, int] = {}
        start = 0
        for cells in self._batches(chunk_rows, options):
            batch = cells
            if options.missing != ():
                batch, _ = pass_over_words(cells, roles.cells, options.overvotes, options.items)
            encoded = [encode(batch.column(cell)) for cell in roles.cells]
            for item, cell in new_items(encoded, first_cell.keys()).items():
                first_cell[item] = start * len(roles.cells) + cell
            start += batch.num_rows
        return first_cell


def _without_weight(batch: Any, roles: Roles, name_row: RowNamer) -> bool:
    """Return whether nothing in a batch counts."""
    if roles.weights is None:
        return False
    return not numbers(batch.column(roles.weights), "the weight", name_row).any()


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """Open a file for arrow, and say so if it turns out not to be what it should be."""
    try:
        with source.open() as stream:
            yield stream
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{source.name} cannot be read as Parquet ({reason})",
            ["download or write the file again", use("if it has another format", format=...)],
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
    """Open a Parquet file, or some of its row groups; only the schema is read."""
    with _opened(source) as stream:
        footer = pq.read_metadata(stream)
        schema, n_rows = footer.schema.to_arrow_schema(), footer.num_rows
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise InputError(f"column {quoted(twice[0])} occurs twice: give each column its own name")
    # Text that stays dictionary-encoded makes no Python object per cell.
    text = [field.name for field in schema if pa.types.is_string(field.type)]

    def read() -> Any:
        check_memory(
            BYTES_PER_CELL * n_rows * len(schema.names),
            f"the {n_rows:,} rows of {counted(len(schema.names), 'column')}",
            "write each distinct answer once, with a column of weights, or use Rankings.scan",
        )
        with _opened(source) as stream:
            return _sound(pq.read_table(stream, read_dictionary=text))

    def batches(most_rows: int) -> Iterator[Any]:
        with _opened(source) as stream:
            file = pq.ParquetFile(stream, read_dictionary=text)
            # Group by group, because arrow reads ahead if asked for all of them.
            for group in range(file.num_row_groups) if groups is None else groups:
                for batch in file.iter_batches(batch_size=most_rows, row_groups=[group]):
                    yield _sound(pa.Table.from_batches([batch]))

    def name_row(row: int) -> str:
        before = sum(rows_of_groups(source)[: groups.start]) if groups else 0
        return f"{source.name}, row {before + row + 1}"

    form = ReadingNotes(file=source.name, format="Parquet")
    return TableFile(tuple(schema.names), read, batches, name_row, form)


def _columns_of_lines(source: Source) -> tuple[str, ...]:
    """Return the columns that the first piece of a file of JSON lines has."""
    first = next(_tables(source), None)
    if first is None:
        raise InputError(f"{source.name} is empty: it must hold at least one object")
    return tuple(first.column_names)


def open_json_lines(source: Source) -> TableFile:
    """Open a file of JSON lines, or a JSON list of objects; the first chunk gives the columns."""
    if source.head(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        lines, form = _one_per_line(source), ReadingNotes(file=source.name, format="JSON")
        table = open_json_lines(lines)
        return replace(
            table,
            name_row=lambda row: f"{source.name}, object {row + 1}",
            form=replace(form, encoding="UTF-8"),
        )
    columns = _columns_of_lines(source)

    def tables() -> Iterator[Any]:
        for table in _tables(source):
            missing = [name for name in columns if name not in table.column_names]
            for name in missing:
                table = table.append_column(name, pa.nulls(table.num_rows))  # noqa: PLW2901
            yield table.select(columns)

    def read() -> Any:
        pieces = list(_tables(source))
        later = [name for piece in pieces for name in piece.column_names if name not in columns]
        if later:
            raise InputError(
                f"{source.name}: {quoted(later[0])} is missing in the first lines: give it a "
                "value or null in the first line"
            )
        try:
            return pa.concat_tables(tables(), promote_options="permissive")
        except pa.ArrowTypeError as error:
            raise InputError(
                f"{source.name}: a column holds text in some lines and numbers in others ({error})"
                ": use only one of them"
            ) from None

    def batches(most_rows: int) -> Iterator[Any]:
        for table in tables():
            for start in range(0, table.num_rows, most_rows):
                yield table.slice(start, most_rows)

    def name_row(row: int) -> str:
        filled = [number for number, line in enumerate(source.lines(), start=1) if line.strip()]
        return source.line(filled[row])

    form = ReadingNotes(file=source.name, format="JSON lines", encoding="UTF-8")
    return TableFile(columns, read, batches, name_row, form)


def _one_per_line(source: Source) -> Source:
    """Return a JSON list with one object per line."""
    import json

    with source.open() as stream:
        content: bytes = stream.read()
    check_memory(BYTES_PER_CELL * len(content), "the JSON list", "write one object per line")
    try:
        objects = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{source.name} begins like a JSON list and cannot be read as one ({error}): correct "
            "it, or write one object per line"
        ) from None
    strange = [at for at, one in enumerate(objects, start=1) if not isinstance(one, dict)]
    if strange:
        raise _no_object(f"{source.name}, object {strange[0]}")
    lines = "\n".join(json.dumps(one, ensure_ascii=False) for one in objects)
    return replace(source, path=None, content=lines.encode())


def _tables(source: Source) -> Iterator[Any]:
    """Read whole lines, some megabytes at a time."""
    n_lines = 0
    with source.open() as stream:
        rest = b""
        while piece := stream.read(_PIECE_BYTES):
            if len(piece) < _PIECE_BYTES:  # the end, of which the last line is no piece of its own
                rest += piece
                break
            whole, end, rest_of_piece = (rest + piece).rpartition(b"\n")
            rest = rest_of_piece if end else whole + rest_of_piece
            if end and whole.strip():
                yield _parse(whole.removeprefix(b"\xef\xbb\xbf"), source, n_lines)
            n_lines += whole.count(b"\n") + 1 if end else 0
        if rest.strip():
            yield _parse(rest.removeprefix(b"\xef\xbb\xbf"), source, n_lines)


def _parse(lines: bytes, source: Source, n_before: int) -> Any:
    from pyarrow import json as arrow_json

    _refuse_other_encodings(lines, source, n_before)
    _check_lines(lines, source, n_before)
    pieces = arrow_json.ReadOptions(block_size=len(lines) + 1)
    try:
        table = arrow_json.read_json(reader_of(lines), pieces)
        moments = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
        if not moments:
            return table
        # Texts that look like dates are texts, as everywhere else.
        texts = pa.schema([(name, pa.string()) for name in moments])
        return arrow_json.read_json(
            reader_of(lines), pieces, arrow_json.ParseOptions(explicit_schema=texts)
        ).select(table.column_names)
    except pa.ArrowInvalid as error:
        raise _explain(error, lines, source, n_before) from None


def _refuse_other_encodings(lines: bytes, source: Source, n_before: int) -> None:
    """Say which line is not UTF-8: arrow takes bytes as they are."""
    try:
        lines.decode("utf-8")
    except UnicodeDecodeError as error:
        number = lines.count(b"\n", 0, error.start)
        source.decode(lines.split(b"\n")[number], n_before + number + 1)


def _check_lines(lines: bytes, source: Source, n_before: int) -> None:
    """Refuse lists in lists without end, for which arrow has no room to remember where it is.

    Lines that begin and end as objects do cannot go on in the next one.
    """
    for number, line in enumerate(lines.split(b"\n"), start=n_before + 1):
        bare = line.strip()
        if bare and not (bare.startswith(b"{") and bare.endswith(b"}")):
            raise _no_object(source.line(number))
        if line.count(b"[") + line.count(b"{") <= _DEEPEST:
            continue
        depth = 0
        for mark in _BRACKET.findall(_STRING.sub(b"", line)):
            depth += 1 if mark in b"[{" else -1
            if depth > _DEEPEST:
                raise InputError(
                    f"{source.line(number)} nests lists and objects more than {_DEEPEST} deep: "
                    "remove them"
                )


def _explain(error: Exception, lines: bytes, source: Source, n_before: int) -> InputError:
    """Find the line that is not a JSON object."""
    import json

    for number, line in enumerate(lines.split(b"\n"), start=n_before + 1):
        if not line.strip():
            continue
        try:
            sound = isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            sound = False
        if not sound:
            return _no_object(source.line(number))
    return InputError(f"{source.name} cannot be read as JSON lines: {str(error).splitlines()[0]}")


def _no_object(where: str) -> InputError:
    return InputError(
        f"{where} is not a JSON object: every line must be one, as in "
        '{"model_a": "x", "model_b": "y", "winner": "model_a"}'
    )
