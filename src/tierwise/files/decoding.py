"""How the text of a file is written in bytes: UTF-8, UTF-16 or Latin-1, recognised or said."""

import codecs
import re
from dataclasses import replace

from tierwise._util.wording import quoted
from tierwise.errors import InputError
from tierwise.files.source import Source

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What Windows writes as Latin-1 has typographic marks where Latin-1 has control characters.
_LATIN = "cp1252"
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_SHOWN = {"utf-8": "UTF-8", "utf-16": "UTF-16", _LATIN: "Latin-1 (Windows-1252)"}


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
    try:
        text = content.decode(known)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{source.line(line)} is not {known} text: say with encoding= how the file is written, "
            "or save it as UTF-8"
        ) from None
    return replace(source, path=None, content=text.removeprefix("\ufeff").encode()), _SHOWN.get(
        known, known
    )


def _check(encoding: str) -> str:
    try:
        known = codecs.lookup(encoding).name
        "".encode(known)
    except LookupError:
        raise InputError(
            f"encoding {quoted(encoding)} is not known: say utf-8, utf-16 or latin-1"
        ) from None
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
    """Tell whether bytes beyond ASCII are letters in words, and none of them is UTF-8."""
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
