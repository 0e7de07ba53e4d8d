"""Words and values of messages: numbers with their nouns, quoted text, and what JSON can hold."""

from collections.abc import Hashable
from math import isfinite
from numbers import Integral
from typing import Any

from tierwise.errors import is_unprintable, printable


def counted(number: float, noun: str, plural: str | None = None) -> str:
    """Write a number of things, the noun in singular or plural.

    Parameters
    ----------
    number
        How many there are.
    noun
        What one of them is called.
    plural
        What several are called; the noun with an s if not given.

    Examples
    --------
    >>> counted(1, "ranking"), counted(2262, "ranking"), counted(2, "match", "matches")
    ('1 ranking', '2,262 rankings', '2 matches')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def quoted(value: Any, longest: int = 60) -> str:
    r"""Quote what somebody wrote, control characters escaped and the middle cut out if it is long.

    Examples
    --------
    >>> quoted("a")
    "'a'"
    >>> print(quoted("\x1b[31mred"))
    '\x1b[31mred'
    >>> quoted("x" * 1000, longest=20)
    "'xxxxxxxx...xxxxxxx'"
    """
    text = printable(repr(value))
    if len(text) <= longest:
        return text
    kept = longest - len("...")
    return f"{text[: kept - kept // 2]}...{text[len(text) - kept // 2 :]}"


def percent(level: float) -> str:
    """Write the level of an interval.

    Examples
    --------
    >>> percent(0.95), percent(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:.10g}%"


def has_control_characters(text: str) -> bool:
    r"""Tell whether a name holds characters that a terminal or a file would obey.

    Examples
    --------
    >>> has_control_characters("fatty tuna"), has_control_characters("tuna\0")
    (False, True)
    """
    return not text.isprintable() and any(is_unprintable(mark) for mark in text)


def plain_item(item: Hashable) -> str | int:
    """Return an item as JSON can hold it: text and whole numbers as they are, the rest as text.

    Examples
    --------
    >>> plain_item("a"), plain_item(3), plain_item(2.5)
    ('a', 3, '2.5')
    """
    if isinstance(item, str):
        return str(item)
    return int(item) if isinstance(item, Integral) else str(item)


def plain_number(number: float) -> float | None:
    """Return a number as JSON can hold it: None stands for NaN and infinity.

    Examples
    --------
    >>> plain_number(0.5), plain_number(float("nan")), plain_number(float("inf"))
    (0.5, None, None)
    """
    return number if isfinite(number) else None
