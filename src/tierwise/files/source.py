"""Where a file's bytes come from (a path, an open file, standard input), and in which format."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePath
from typing import IO, Any, Literal, TypeAlias, get_args

import pyarrow as pa

from tierwise._util.checks import check_choice, check_path
from tierwise.errors import InputError, TierwiseError, use

Readable: TypeAlias = "str | PathLike[str] | IO[bytes] | IO[str]"
FileFormat: TypeAlias = Literal[
    "csv", "parquet", "xlsx", "jsonl", "preflib", "blt", "sushi", "lines"
]
Format: TypeAlias = Literal[
    "auto", "csv", "parquet", "xlsx", "jsonl", "preflib", "blt", "sushi", "lines"
]

_OF_SUFFIX: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".blt": "blt",
    ".soc": "preflib",
    ".soi": "preflib",
    ".toc": "preflib",
    ".toi": "preflib",
    ".order": "sushi",
}
_OF_BEGINNING: dict[bytes, FileFormat] = {
    b"PAR1": "parquet",
    b"PK\x03\x04": "xlsx",
    b"\xd0\xcf\x11\xe0": "xlsx",  # .xls, or protected by a password: its reader says so
    b'{"': "jsonl",
}
# Files that people give by mistake: how they begin, what they are, and what to do.
_SAVE = "open it in its program and save the table as CSV or .xlsx"
_NOT_TABLES = {
    b"%PDF": ("a PDF document", "give the table that it was made from, as CSV or .xlsx"),
    b"\x89PNG": ("a picture", "give the table that it shows, as CSV or .xlsx"),
    b"\xff\xd8\xff": ("a picture", "give the table that it shows, as CSV or .xlsx"),
    b"GIF8": ("a picture", "give the table that it shows, as CSV or .xlsx"),
    b"{\\rtf": ("a text document", _SAVE),
    b"<!doctype html": ("a web page", "copy its table into a spreadsheet, and save that as CSV"),
    b"<html": ("a web page", "copy its table into a spreadsheet, and save that as CSV"),
    b"\x1f\x8b": ("compressed with gzip", "unpack it"),
    b"BZh": ("compressed with bzip2", "unpack it"),
    b"\xfd7zXZ": ("compressed with xz", "unpack it"),
    b"(\xb5/\xfd": ("compressed with Zstandard", "unpack it"),
    b"7z\xbc\xaf": ("an archive of files", "unpack it"),
    b"Rar!": ("an archive of files", "unpack it"),
    b"$FL": ("an SPSS file", _SAVE),
    b"<stata_dta>": ("a Stata file", _SAVE),
    b"SQLite format": ("a database", "export the table as CSV"),
}


def reader_of(content: bytes) -> Any:
    """Return what arrow reads bytes from: a copy in its own memory.

    Its threads may let go of the memory after the program has ended. For memory of Python's they
    would need Python to do so, and abort the process where there is none any more.
    """
    copied = pa.allocate_buffer(len(content))
    memoryview(copied).cast("B")[:] = content
    return pa.BufferReader(copied)


@dataclass(frozen=True)
class Source:
    """Something to read, with the name by which messages call it.

    Attributes
    ----------
    name
        The file's name, for messages.
    path
        Where it lies; None if it was an open file.
    content
        The bytes of an open file; None if there is a path.
    """

    name: str
    path: Path | None
    content: bytes | None = None

    def open(self) -> Any:
        """Open for arrow, from the start."""
        if self.path is None:
            return reader_of(self.content or b"")
        return pa.OSFile(str(self.path))

    def head(self, n_bytes: int = 65536) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            first: bytes = stream.read(n_bytes)
        return first

    def lines(self) -> list[bytes]:
        """Return the lines, without their ends and without a byte-order mark."""
        with self.open() as stream:
            content: bytes = stream.read()
        return content.removeprefix(b"\xef\xbb\xbf").splitlines()

    def text_lines(self) -> list[str]:
        """Return the lines as text, or say which is not UTF-8."""
        return [self.decode(line, number) for number, line in enumerate(self.lines(), start=1)]

    def decode(self, line: bytes, number: int) -> str:
        """Turn the bytes of a line into text."""
        is_text = format_of_suffix(self.name) in (None, "csv")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.line(number)} is not UTF-8 text (byte {line[error.start]:#04x} at column "
                f"{error.start + 1})",
                [
                    "save the file as UTF-8",
                    *([use("if you know its encoding", encoding=...)] if is_text else []),
                ],
            ) from None

    def line(self, number: int) -> str:
        """Name a line, counted from 1."""
        return f"{self.name}, line {number}"


def find_source(readable: Readable) -> Source:
    """Find what to read, or say why it cannot be read."""
    if not isinstance(readable, str | PathLike) and hasattr(readable, "read"):
        content = readable.read()
        source = Source(
            name=str(getattr(readable, "name", "the file given")).replace(
                "<stdin>", "standard input"
            ),
            path=None,
            content=content.encode("utf-8") if isinstance(content, str) else content,
        )
    else:
        path = check_path(readable)
        source = Source(name=path.name, path=path)
        if path.is_dir():
            raise InputError(f"{path} is a folder: name a file inside it")
        if not path.exists():
            raise InputError(f"the file {path} does not exist: check the name and the folder")
    try:
        start = source.head()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{source.path} cannot be read ({reason}): check its permissions"
        ) from None
    if not start.strip():
        raise InputError(f"{source.name} is empty: it must hold at least one ranking")
    first = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:20].lower()
    for beginning, (what, remedy) in _NOT_TABLES.items():
        if first.startswith(beginning.lower()):
            raise InputError(f"{source.name} is {what}, not a table: {remedy}")
    return source


@contextmanager
def errors_name(file: str) -> Iterator[None]:
    """Make every message about the input name the file it is in."""
    try:
        yield
    except TierwiseError as error:
        if file in error.problem:
            raise
        raise error.within(f"{file}: ") from None


def check_format(file_format: str) -> None:
    """Refuse a format that does not exist."""
    check_choice("format", file_format, get_args(Format))


def format_of_suffix(name: str) -> FileFormat | None:
    """Tell the format from the end of a file's name, if it says anything."""
    return _OF_SUFFIX.get(PurePath(name).suffix.lower())


def recognise_format(source: Source) -> FileFormat:
    """Tell the format of a file; what looks like no other is CSV."""
    known = format_of_suffix(source.name)
    if known is not None:
        return known
    head = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    for beginning, file_format in _OF_BEGINNING.items():
        if head.startswith(beginning):
            return file_format
    if re.match(rb"\[\s*\{", head):
        return "jsonl"
    if head.startswith(b"#") and b"NUMBER ALTERNATIVES" in head:
        return "preflib"
    if re.match(rb"\d+ 1[ \t]*\r?\n0 \d+ ", head):
        return "sushi"
    return "csv"
