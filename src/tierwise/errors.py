"""Errors that say what is wrong, where, and what to do about it."""

from tierwise._util.wording import printable


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
