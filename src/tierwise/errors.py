"""Errors that say what is wrong, where, and what to do about it; and the words of messages."""

from typing import Any
from unicodedata import category

# What a terminal obeys instead of showing it, what breaks a line, and what UTF-8 cannot hold.
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
# Marks that reorder the text around them.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class TierwiseError(Exception):
    """Base of every error that tierwise raises on purpose."""

    def __str__(self) -> str:
        """Return the message; control characters of what it quotes are escaped."""
        return printable(super().__str__())


class InputError(TierwiseError, ValueError):
    """Something that was given cannot be used: a file, a row, an argument.

    Examples
    --------
    >>> import tierwise as tw
    >>> tw.Tiers([["a"], ["a", "b"]])
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: item 'a' is in tier 1 and again in tier 2: list each item once
    """


class TooLargeError(TierwiseError):
    """What was asked for is beyond the chosen method; the message names one that can do it."""


class TierwiseWarning(UserWarning):
    """A result that is right but needs to be read with care."""


def printable(text: str) -> str:
    r"""Escape the characters that a terminal would obey instead of showing them.

    Examples
    --------
    >>> print(printable("\x1b[31mred"))
    \x1b[31mred
    """
    if text.isprintable():
        return text
    return "".join(_escaped(mark) if is_unprintable(mark) else mark for mark in text)


def is_unprintable(mark: str) -> bool:
    """Tell whether a character is one that a terminal or a file would obey."""
    return category(mark) in _UNPRINTABLE or mark in _REORDERING


def _escaped(mark: str) -> str:
    return mark.encode("unicode_escape").decode("ascii")


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
