"""Tell the format of a file from its name, or else from how it begins."""

import re
from pathlib import PurePath
from typing import Literal, TypeAlias, get_args

from tierwise._util.checks import check_choice
from tierwise.files.source import Source

FileFormat: TypeAlias = Literal["csv", "parquet", "preflib", "sushi"]
Format: TypeAlias = Literal["auto", "csv", "parquet", "preflib", "sushi"]

_OF_SUFFIX: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".soc": "preflib",
    ".soi": "preflib",
    ".toc": "preflib",
    ".toi": "preflib",
    ".order": "sushi",
}


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
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"#") and b"NUMBER ALTERNATIVES" in head:
        return "preflib"
    if re.match(rb"\d+ 1[ \t]*\r?\n0 \d+ ", head):
        return "sushi"
    return "csv"
