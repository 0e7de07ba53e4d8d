"""Errors that say what is wrong, where, and what to do; and helpers for the words of messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp
from typing import Any, Literal, Self, TypeAlias
from unicodedata import category

# How many names of many a message shows.
_SHOWN = 3
# What a terminal obeys instead of showing it, what breaks a line, and what UTF-8 cannot hold.
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
# Marks that reorder the text around them.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Remedy:
    """A remedy for a problem, as data, which each interface words in its own way.

    Python shows keywords, the shell shows options, and the web page asks a question.

    Attributes
    ----------
    settings
        Keywords with their values. The user fills in an Ellipsis; None means to leave the keyword
        out.
    means
        When it applies, or its purpose: a clause such as "if ties are intended".
    function
        The function that takes the keywords, if it is not the one that was called.
    command
        The command of the shell that does the same as the function.
    """

    settings: tuple[tuple[str, Any], ...]
    means: str = ""
    function: str = ""
    command: str = ""

    @property
    def verb(self) -> str:
        """The verb for the keywords."""
        dropped = bool(self.settings) and all(value is None for _, value in self.settings)
        return "leave out" if dropped else "use"


Advice: TypeAlias = "Sequence[Remedy | str]"
"""Remedies: settings, and acts that are the same everywhere, such as "correct the row"."""


def use(means: str = "", /, **settings: Any) -> Remedy:
    """Make a remedy that sets keywords.

    Examples
    --------
    >>> print(InputError("items 1 and 2 are tied", [use("if that is meant", ties="allow")]))
    items 1 and 2 are tied: use ties="allow" if that is meant
    """
    return Remedy(tuple(settings.items()), means)


@dataclass(frozen=True)
class Group:
    """Options that are given together, as an object such as ``Sampler(method="mcmc")``.

    Attributes
    ----------
    name
        The class of the object.
    settings
        Its fields and their values.
    """

    name: str
    settings: tuple[tuple[str, Any], ...]


def grouped(name: str, /, **settings: Any) -> Group:
    """Make the value of a keyword that takes a group of options; the shell has them one by one.

    Examples
    --------
    >>> print(InputError("a chain is needed", [use(sampler=grouped("Sampler", method="mcmc"))]))
    a chain is needed: use sampler=Sampler(method="mcmc")
    """
    return Group(name, tuple(settings.items()))


def drop(*keywords: str, means: str = "") -> Remedy:
    """Make a remedy that leaves keywords out.

    Examples
    --------
    >>> print(InputError("only Excel files have sheets", [drop("sheet")]))
    only Excel files have sheets: leave out sheet
    """
    return Remedy(tuple((keyword, None) for keyword in keywords), means)


def instead(function: str, means: str = "", /, *, command: str = "", **settings: Any) -> Remedy:
    """Make a remedy that calls another function, or another command of the shell.

    Examples
    --------
    >>> print(InputError("these are battles", [instead("read_battles", command="leaderboard")]))
    these are battles: use read_battles
    """
    return Remedy(tuple(settings.items()), means, function, command)


def advise(problem: str, remedies: Advice, wording: Callable[[Remedy], str | None]) -> str:
    """Write a problem and its remedies.

    Parameters
    ----------
    problem
        What is wrong.
    remedies
        What can be done.
    wording
        How keywords and values are written; None if they cannot be given here.
    """
    written = [
        ("", "", remedy) if isinstance(remedy, str) else (remedy.verb, remedy.means, words)
        for remedy in remedies
        if (words := "" if isinstance(remedy, str) else wording(remedy)) is not None
    ]
    acts, before = [], ""
    for (verb, means), alike in groupby(written, key=lambda one: one[:2]):
        words = (" or " if verb else ", or ").join(one[2] for one in alike)
        acts.append(" ".join(filter(None, ("" if verb == before else verb, words, means))))
        before = verb
    return f"{problem}: {', or '.join(acts)}" if acts else problem


def in_python(remedy: Remedy) -> str:
    """Write the settings of a remedy as keywords.

    Examples
    --------
    >>> in_python(use(first=..., items=["tea", "milk"], rename={"Q1": "tea"}))
    'first=..., items=["tea", "milk"] and rename={"Q1": "tea"}'
    >>> in_python(instead("read_scores", better="higher"))
    'read_scores(..., better="higher")'
    """
    written = [
        keyword if value is None else f"{keyword}={_as_code(value)}"
        for keyword, value in remedy.settings
    ]
    if not remedy.function:
        return listed(written)
    return f"{remedy.function}({', '.join(['...', *written])})" if written else remedy.function


def _as_code(value: Any) -> str:
    if value is ...:
        return "..."
    if isinstance(value, Group):
        fields = (f"{name}={_as_code(setting)}" for name, setting in value.settings)
        return f"{value.name}({', '.join(fields)})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_as_code, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_as_code(old)}: {_as_code(new)}' for old, new in value.items())}}}"
    return f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)


def listed(words: Sequence[object], conjunction: str = "and") -> str:
    """List words, or items, as sentences do.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    *first, last = map(str, words)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


class TierwiseError(Exception):
    """Base of every error that tierwise raises on purpose.

    Parameters
    ----------
    problem
        What is wrong, and where, in words that are the same in Python, in the shell and on a page.
    remedies
        The remedies.
    argument
        The keyword that the problem begins with, if it is about one; the shell names its option.
    where
        Where it is wrong, such as "survey.csv: ".
    """

    def __init__(
        self, problem: str, remedies: Advice = (), *, argument: str = "", where: str = ""
    ) -> None:
        self.remedies = tuple(remedies)
        self.argument = argument
        self.where = where
        self._problem = problem
        super().__init__(self.problem)

    @property
    def problem(self) -> str:
        """What is wrong, and where."""
        return self.about_argument(self.argument)

    def about_argument(self, name: str) -> str:
        """Return the problem and where it is, with another name for its keyword."""
        return f"{self.where}{name} {self._problem}" if name else f"{self.where}{self._problem}"

    def __str__(self) -> str:
        """Return the message; control characters of what it quotes are escaped."""
        return printable(advise(self.problem, self.remedies, in_python))

    def within(self, where: str) -> Self:
        """Return the same error, saying where it is."""
        return type(self)(
            self._problem, self.remedies, argument=self.argument, where=where + self.where
        )

    def also(self, *remedies: Remedy) -> Self:
        """Return the same error with further remedies."""
        return type(self)(
            self._problem, (*self.remedies, *remedies), argument=self.argument, where=self.where
        )


class InputError(TierwiseError, ValueError):
    """Wrong input: a file, a row, or an argument that cannot be used.

    Examples
    --------
    >>> import tierwise as tw
    >>> tw.Tiers([["a"], ["a", "b"]])
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: item 'a' is in tier 1 and again in tier 2: list each item once
    """

    rows: Sequence[int] = ()
    """The invalid rows of a table, counted from 0, if other rows may be valid."""

    def about(self, rows: Sequence[int]) -> Self:
        """Say which rows are concerned."""
        self.rows = rows
        return self


class TooLargeError(TierwiseError):
    """The request is too large for the chosen method; the message names one that works."""


@dataclass(frozen=True)
class Remark:
    """A note about a result, with remedies if it is not what the user wants.

    Attributes
    ----------
    problem
        The note.
    remedies
        The remedies.
    """

    problem: str
    remedies: tuple[Remedy | str, ...] = ()

    def __str__(self) -> str:
        """Return the remark with its remedies as keywords."""
        return printable(advise(self.problem, self.remedies, in_python))


class TierwiseWarning(UserWarning):
    """A result that is correct but needs careful reading."""


def printable(text: str) -> str:
    r"""Escape control characters.

    Examples
    --------
    >>> print(printable("\x1b[31mred"))
    \x1b[31mred
    """
    if text.isprintable():
        return text
    return "".join(_escaped(mark) if is_unprintable(mark) else mark for mark in text)


def is_unprintable(mark: str) -> bool:
    """Return whether a character is a control character."""
    return category(mark) in _UNPRINTABLE or mark in _REORDERING


def _escaped(mark: str) -> str:
    return mark.encode("unicode_escape").decode("ascii")


def counted(number: float, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun in singular or plural.

    Parameters
    ----------
    number
        How many there are.
    noun
        The noun in singular.
    plural
        The noun in plural; with an s if not given.

    Examples
    --------
    >>> counted(1, "ranking"), counted(2262, "ranking"), counted(2, "match", "matches")
    ('1 ranking', '2,262 rankings', '2 matches')
    >>> counted(250.30000000000004, "answer"), counted(3.0, "answer"), counted(0.05, "answer")
    ('250.3 answers', '3 answers', '0.05 answers')
    """
    return f"{number_in_words(number)} {noun if number == 1 else plural or noun + 's'}"


def number_in_words(number: float) -> str:
    """Write a number that may have a fraction because of weights.

    Examples
    --------
    >>> number_in_words(20_000), number_in_words(250.30000000000004)
    ('20,000', '250.3')
    """
    if isinstance(number, int) or not isinstance(number, float):
        return f"{number:,}"
    if number.is_integer():
        return f"{number:,.0f}"
    return f"{number:,.1f}" if abs(number) >= 10 else f"{number:.3g}"


def quoted(value: Any, longest: int = 60) -> str:
    r"""Quote a text, with control characters escaped and the middle cut out if it is long.

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


def share_in_words(share: float, decimals: int | None = None) -> str:
    """Write a probability estimated from draws; it is never rounded to certainty.

    Parameters
    ----------
    share
        The probability.
    decimals
        The number of decimals; a percentage if None.

    Examples
    --------
    >>> share_in_words(0.9996), share_in_words(1.0), share_in_words(0.002), share_in_words(0.62)
    ('> 99%', '100%', '< 1%', '62%')
    >>> share_in_words(0.995), share_in_words(0.9996, 3), share_in_words(1.0, 3)
    ('> 99%', '> 0.999', '1.000')
    """
    if decimals is None:
        if 0.0 < share <= 0.005:
            return "< 1%"
        return "> 99%" if 0.995 <= share < 1.0 else f"{share:.0%}"
    written, least = f"{share:.{decimals}f}", 10.0**-decimals
    if float(written) == 0.0 and share > 0.0:
        return f"< {least:.{decimals}f}"
    return f"> {1.0 - least:.{decimals}f}" if float(written) == 1.0 and share < 1.0 else written


def odds_in_words(log_odds: float, style: Literal["words", "digits"] = "words") -> str:
    """Write odds given by their logarithm; in digits only for tables.

    Examples
    --------
    >>> odds_in_words(0.55), odds_in_words(5.75), odds_in_words(20.4)
    ('1.7 to 1', '314 to 1', 'more than a million to 1')
    >>> odds_in_words(20.4, "digits")
    '> 10^6 to 1'
    """
    if log_odds > 13.8:
        return "more than a million to 1" if style == "words" else "> 10^6 to 1"
    odds = exp(log_odds)
    return f"{odds:.1f} to 1" if odds < 10.0 else f"{odds:,.0f} to 1"


BEHIND_IS = "log evidence plus log prior"


def behind_in_words(behind: float) -> str:
    """Say how far something is behind or ahead in log evidence plus log prior, and the odds.

    Every *behind* in the output is measured and written this way.

    Examples
    --------
    >>> behind_in_words(0.55), behind_in_words(20.4), behind_in_words(-1.2)
    ('0.6 behind (1.7 to 1)', '20.4 behind (more than a million to 1)', '1.2 ahead (3.3 to 1)')
    """
    side = "ahead" if behind < 0.0 else "behind"
    return f"{abs(behind):,.1f} {side} ({odds_in_words(abs(behind))})"


def percent(level: float) -> str:
    """Write the level of an interval.

    Examples
    --------
    >>> percent(0.95), percent(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:.10g}%"


def has_control_characters(text: str) -> bool:
    r"""Return whether a name contains control characters.

    Examples
    --------
    >>> has_control_characters("fatty tuna"), has_control_characters("tuna\0")
    (False, True)
    """
    return not text.isprintable() and any(is_unprintable(mark) for mark in text)


def some_of(names: Sequence[str]) -> str:
    """Quote the first names of several.

    Examples
    --------
    >>> some_of(["a", "b"]), some_of(["a", "b", "c", "d"])
    ("'a', 'b'", "'a', 'b', 'c', ...")
    """
    return ", ".join(quoted(name) for name in names[:_SHOWN]) + (
        ", ..." if len(names) > _SHOWN else ""
    )
