"""What titles of columns say: a place, or an item after the question that was asked about it."""

import re
from collections.abc import Sequence

from tierwise._util.types import Item

_WORD = r"place|rank|position|choice|preference|pref"
_PLACE = re.compile(rf"(?:{_WORD})?[ _.#-]*(\d+)")
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
_ORDINAL = re.compile(
    r"(?:(\d{1,4})\s*(?:st|nd|rd|th)|(" + "|".join(_ORDINALS) + rf"))(?:[ _-]*(?:{_WORD}))?"
)
# A question in front of the item or place it is asked about: "Rank these [tea]",
# "Rank these - tea" or "Q1_tea".
_QUESTIONS = (
    re.compile(r"(?P<question>.*\S)\s*\[(?P<about>[^\[\]]+)\]"),
    re.compile(r"(?P<question>.*?\S) [-\u2013\u2014] (?P<about>.*\S)"),
    re.compile(r"(?P<question>Q\d+(?:\.\d+)?)_(?P<about>.+)"),
)


def are_numbered_places(columns: Sequence[Item]) -> bool:
    """Tell whether columns are called 1, 2, ... or place 1, place 2, ... or the like."""
    places = [_PLACE.fullmatch(str(column).strip().casefold()) for column in columns]
    numbers = [place[1].lstrip("0") for place in places if place]
    # Compared as text, for there may be more digits than a number can have.
    return numbers == [str(number) for number in range(1, len(columns) + 1)]


def place_in_title(title: str) -> str | None:
    """Return the number of the place that a title names; None if it names none.

    Examples
    --------
    >>> place_in_title("2nd choice"), place_in_title("Rank these [place 3]"), place_in_title("tea")
    ('2', '3', None)
    """
    asked = split_question(title)
    for text in (title, asked[1]) if asked else (title,):
        number = ordinal(text)
        if number is not None:
            return str(number)
        place = _PLACE.fullmatch(text.strip().casefold())
        if place:
            return place[1].lstrip("0")
    return None


def ordinal(text: str) -> int | None:
    """Read "1st", "first choice" and the like; None if the text is something else.

    Examples
    --------
    >>> ordinal("1st"), ordinal("Second choice"), ordinal("1"), ordinal("best")
    (1, 2, None, None)
    """
    found = _ORDINAL.fullmatch(text.strip().casefold())
    if found is None:
        return None
    return int(found[1]) if found[1] else _ORDINALS.index(found[2]) + 1


def split_question(title: str) -> tuple[str, str] | None:
    """Part a title into the question and what it is asked about; None if it has no such parts.

    Examples
    --------
    >>> split_question("Please rank the drinks - tea"), split_question("Drinks [tea]")
    (('Please rank the drinks', 'tea'), ('Drinks', 'tea'))
    """
    for pattern in _QUESTIONS:
        found = pattern.fullmatch(title.strip())
        if found:
            return found["question"].strip(), found["about"].strip()
    return None


def questions(titles: Sequence[str]) -> dict[str, list[int]]:
    """Return the questions that several columns are about, with the positions of these columns."""
    of_question: dict[str, list[int]] = {}
    for position, title in enumerate(titles):
        parts = split_question(title)
        if parts is not None:
            of_question.setdefault(parts[0], []).append(position)
    return {asked: columns for asked, columns in of_question.items() if len(columns) > 1}


def without_question(titles: Sequence[Item]) -> tuple[str, tuple[str, ...]] | None:
    """Return the question that all titles begin with, and what is left of them.

    None if there is none, or if what is left would not name the items: numbers, or one name twice.
    """
    parts = [split_question(str(title)) for title in titles]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or len({asked for asked, _ in found}) != 1:
        return None
    names = tuple(name for _, name in found)
    if len(set(names)) < len(names) or all(name.isdecimal() for name in names):
        return None
    return found[0][0], names
