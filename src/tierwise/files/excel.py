"""Sheets of Excel files (.xlsx): measured first, then read with python-calamine.

Calamine makes room for every cell from the first to the last, so a cell in the last corner of a
sheet takes 512 GB, and a text that compresses well any amount. So the parts of the file that are
needed are unpacked and measured, and only what was measured is passed on.
"""

import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from lzma import LZMAError
from pathlib import PurePosixPath
from typing import Any
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile, ZipInfo

from tierwise._util.resources import check_memory
from tierwise.errors import InputError, quoted, use
from tierwise.files.source import Source

_BEGINNING = b"PK\x03\x04"
_WORKBOOK = "xl/workbook.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_STRINGS = "xl/sharedstrings.xml"
# The other parts that calamine reads.
_OF_ALL_SHEETS = (
    *("[content_types].xml", "_rels/.rels", _WORKBOOK, _RELATIONS, _STRINGS),
    "xl/styles.xml",
)
# Tags as calamine sees them: bytes as they are, prefixes apart.
_ROW = re.compile(rb"<(?:\w+:)?row(?=[\s/>])")
_NUMBERED_ROW = re.compile(rb"<(?:\w+:)?row\s(?:[^>]*?\s)?r\s*=\s*[\"'](\d{1,9})[\"']")
_CELL = re.compile(rb"<(?:\w+:)?c(?=[\s/>])")
_REFERENCE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]{1,7})(\d{1,9})[\"']")
_TEXT = re.compile(rb"<(?:\w+:)?si(?=[\s/>])")
_IS_SHARED = re.compile(rb"\st\s*=\s*[\"']s[\"']")
_SHARED = re.compile(_IS_SHARED.pattern + rb"[^<>]*><(?:\w+:)?v>(\d{1,9})<")
# In Excel, the text of a cell has at most 32,767 characters; fonts within it take room, too.
_LONGEST_CELL = 1 << 20
# What stands before the first cell of a sheet, widths of columns and the like, is shorter.
_BEGINNING_OF_SHEET = 1 << 16
# An empty cell is a value for calamine, then one in a list, then one in a tuple.
_BYTES_PER_CELL = 64
_BYTES_PER_CHARACTER = 4
# So many cells are read whatever they hold; beyond, one in so many must hold something.
_ALWAYS_READ = 1 << 20
_CELLS_PER_FILLED = 100

# What is raised where a packed file is damaged.
_DAMAGED: tuple[type[Exception], ...] = (
    *(BadZipFile, EOFError, LZMAError, OSError, RuntimeError, ValueError),
    *(expat.ExpatError, struct.error, zlib.error),
)


@dataclass(frozen=True)
class Sheet:
    """A sheet: its name, the names of all sheets, and the values of its cells from A1 on.

    ``unread`` are the other sheets that people see and that hold anything, if it was not said which
    to read.
    """

    name: str
    names: tuple[str, ...]
    rows: list[list[Any]]
    unread: tuple[str, ...] = ()


def read_sheet(source: Source, sheet: str | int | None = None) -> Sheet:
    """Read a sheet of an Excel file, by name or number from 1; the first visible one if None."""
    if find_spec("python_calamine") is None:
        raise InputError(
            f"{source.name} is an Excel file, which needs python-calamine: install it with "
            '"pip install tierwise[xlsx]", or save the sheet as CSV'
        )
    from python_calamine import CalamineError, CalamineWorkbook

    with _errors_say_so(source, CalamineError), source.open() as stream:
        with ZipFile(BytesIO(stream.read())) as packed:
            parts = _Parts(packed)
            parts.check_workbook(source.name)
            part_of = parts.sheets()
            visible = [one for one in part_of if one not in parts.hidden] or list(part_of)
            name = visible[0] if sheet is None and visible else _find_sheet(list(part_of), sheet)
            _measure_sheet(parts.content(part_of[name]), parts.content(_STRINGS), name)
            measured = parts.packed((*_OF_ALL_SHEETS, part_of[name]))
            others = [one for one in visible if one != name and parts.has_cells(part_of[one])]
        book = CalamineWorkbook.from_filelike(measured)
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    return Sheet(name, tuple(part_of), rows, tuple(others) if sheet is None else ())


def sheet_names(source: Source) -> list[str]:
    """Return the names of the sheets."""
    with (
        _errors_say_so(source),
        source.open() as stream,
        ZipFile(BytesIO(stream.read())) as packed,
    ):
        parts = _Parts(packed)
        parts.check_workbook(source.name)
        return list(parts.sheets())


@contextmanager
def _errors_say_so(source: Source, *more: type[Exception]) -> Iterator[None]:
    """Say that a file is not what it should be, whichever of many ways it shows."""
    if source.head(len(_BEGINNING)) != _BEGINNING:
        raise InputError(
            f"{source.name} is not an .xlsx file (it may be an older format, or protected by a "
            "password): open it and save it as .xlsx or CSV"
        )
    try:
        yield
    except InputError:
        raise
    except (*_DAMAGED, *more) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{source.name} cannot be read as an Excel file ({reason}): save it again as .xlsx or "
            "as CSV"
        ) from None


class _Parts:
    """The files that an Excel file is packed from, by their names in lower case."""

    def __init__(self, packed: ZipFile) -> None:
        self._packed = packed
        self._entries: dict[str, ZipInfo] = {}
        self.hidden: set[str] = set()
        for entry in packed.infolist():
            name = entry.filename.replace("\\", "/").lower()
            if name in self._entries:
                raise BadZipFile(f"{entry.filename} occurs twice")
            self._entries[name] = entry

    def check_workbook(self, name: str) -> None:
        """Refuse packed files of another kind: documents, archives, other spreadsheets."""
        if _WORKBOOK not in self._entries:
            raise InputError(
                f"{name} is not an Excel file, but another packed file (.zip, .ods, .docx, ...): "
                "unpack it, or open it and save the table as .xlsx or CSV"
            )

    def sheets(self) -> dict[str, str]:
        """Return the part that holds each sheet, by the sheet's name, in their order."""
        relations: dict[str, str] = {}
        found: dict[str, str] = {}

        def relation(tag: str, said: dict[str, str]) -> None:
            if _local(tag) == "Relationship":
                target = PurePosixPath("/xl", said.get("Target", "")).as_posix()
                relations[said.get("Id", "")] = target.removeprefix("/").lower()

        def sheet(tag: str, said: dict[str, str]) -> None:
            if _local(tag) == "sheet":
                own = {_local(name): value for name, value in said.items()}
                if own.get("name", "") in found:
                    raise BadZipFile(f"two sheets are called {quoted(own.get('name', ''))}")
                found[own.get("name", "")] = relations.get(own.get("id", ""), "")
                if own.get("state", "visible") != "visible":
                    self.hidden.add(own.get("name", ""))

        for part, start in ((_RELATIONS, relation), (_WORKBOOK, sheet)):
            parser = expat.ParserCreate()
            parser.StartElementHandler = start
            parser.Parse(self.content(part), True)  # noqa: FBT003 - it takes no keyword
        return found

    def content(self, part: str) -> bytes:
        """Return a part as it was unpacked; nothing if there is none."""
        if part not in self._entries:
            return b""
        entry = self._entries[part]
        check_memory(
            4 * entry.file_size,
            f"the contents of {quoted(entry.filename)}",
            "delete what is not an answer, or save the sheet as CSV",
        )
        return self._packed.read(entry)

    def has_cells(self, part: str) -> bool:
        """Return whether there is a cell near the beginning of the part of a sheet."""
        if part not in self._entries:
            return False
        with self._packed.open(self._entries[part]) as stream:
            return _CELL.search(stream.read(_BEGINNING_OF_SHEET)) is not None

    def packed(self, wanted: Iterable[str]) -> BytesIO:
        """Pack some parts again, as they were unpacked here."""
        again = BytesIO()
        with ZipFile(again, "w") as packed:
            for part in wanted:
                if part in self._entries:
                    name = self._entries[part].filename.replace("\\", "/")
                    packed.writestr(name, self.content(part))
        again.seek(0)
        return again


def _local(name: str) -> str:
    return name.rpartition(":")[2]


@dataclass(frozen=True)
class _Extent:
    """How much a sheet holds: its last row and column, and how many cells and characters."""

    last_row: int
    last_column: int
    n_filled: int
    n_characters: int


def _measure_sheet(sheet: bytes, strings: bytes, name: str) -> None:
    """Refuse a sheet that takes far more room than it holds, or more than there is."""
    extent = _extent(sheet, strings)
    n_cells = extent.last_row * extent.last_column
    if n_cells > max(_ALWAYS_READ, _CELLS_PER_FILLED * extent.n_filled):
        raise InputError(
            f"sheet {quoted(name)} has {extent.n_filled:,} cells in {extent.last_row:,} rows and "
            f"{extent.last_column:,} columns: delete the rows and columns beyond the table (one "
            "cell is far away), or save the sheet as CSV"
        )
    check_memory(
        _BYTES_PER_CELL * n_cells + _BYTES_PER_CHARACTER * extent.n_characters,
        f"the {extent.last_row:,} rows and {extent.last_column:,} columns of sheet {quoted(name)}",
        "delete what is not an answer, or save the sheet as CSV",
    )


def _extent(sheet: bytes, strings: bytes) -> _Extent:
    """Measure a sheet by its tags, without a loop over cells; never less than it takes."""
    cells, texts = _CELL.split(sheet), _TEXT.split(strings)
    for texts_of in (cells, texts):
        if max(map(len, texts_of)) > _LONGEST_CELL:
            raise InputError(
                f"a cell holds more than {_LONGEST_CELL:,} characters, which is more than Excel "
                "allows: delete it, or save the sheet as CSV"
            )
    references = _REFERENCE.findall(sheet)
    numbered = [int(number) for number in _NUMBERED_ROW.findall(sheet)]
    rows = _ROW.split(sheet)[1:]
    n_filled = len(cells) - 1
    last_column = max(
        (_number_of(letters) for letters in {one[0] for one in references}), default=0
    )
    if len(references) < n_filled:  # cells without a reference stand beside the one before
        last_column += max((len(_CELL.findall(row)) for row in rows), default=0)
    last_row = max(max(numbered, default=0), max((int(one[1]) for one in references), default=0))
    shared = Counter(map(int, _SHARED.findall(sheet)))
    lengths = [len(text) for text in texts[1:]]
    n_unknown = len(_IS_SHARED.findall(sheet)) - shared.total()
    n_characters = len(sheet) + n_unknown * max(lengths, default=0)
    n_characters += sum(times * lengths[at] for at, times in shared.items() if at < len(lengths))
    return _Extent(last_row + len(rows) - len(numbered), last_column, n_filled, n_characters)


def _number_of(letters: bytes) -> int:
    """Return the number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _find_sheet(names: list[str], sheet: str | int | None) -> str:
    """Return the name of the sheet that is wanted."""
    if isinstance(sheet, str) and sheet in names:
        return sheet
    text = str(sheet)
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    raise InputError(f"there is no sheet {quoted(sheet)}", [use(sheet=one) for one in names])
