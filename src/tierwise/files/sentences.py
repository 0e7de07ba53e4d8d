"""Rankings as sentences: ``Sushi first, then Pizza, then Tacos``, ``1. Sushi 2. Pizza``.

The text before "first", between two "then" and after a number is an item, whatever commas it
contains. But "then Yang, Andrew" may be one item or two: it is one if that name occurs before
"first", at different places, or in quotes; otherwise the user must say.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tierwise.errors import InputError, quoted

_FIRST_THEN = re.compile(
    r"(?P<first>\S.*?)\s+(?:(?:comes|is)\s+)?first\b\s*[,;]?\s*(?:and\s+)?then\s+(?P<rest>\S.*)",
    re.IGNORECASE,
)
_THEN = re.compile(r"\s*[,;]?\s*(?:\band\s+)?\bthen\s+", re.IGNORECASE)
_NUMBER = re.compile(r"(?:^|[\s,;])\s*(\d{1,3})[.)]\s+")
_IN_QUOTES = re.compile(r"[\"“„']([^\"“”„]+)[\"”“']")
# In so many different lists it is hardly an accident that two follow each other everywhere.
_LISTS_OF_A_CUT_NAME = 3
_SEVERAL = re.compile(r"[,;&/]|\band\b|\bor\b", re.IGNORECASE)


def is_sentence(text: str) -> bool:
    """Return whether a text says what is first and what comes then, or numbers items.

    Examples
    --------
    >>> is_sentence("Wiley, Maya first, then Yang, Andrew"), is_sentence("1. tea 2. milk")
    (True, True)
    >>> is_sentence("First, we met"), is_sentence("place 1,place 2")
    (False, False)
    """
    return len(_parts(text)) > 1


def are_pieces_of_sentences(names: Iterable[object]) -> bool:
    """Return whether names are sentences, or what is left of them if they are cut at commas.

    Examples
    --------
    >>> are_pieces_of_sentences(["Wiley", "Maya first", "then Yang", "Andrew"])
    True
    """
    texts = [name for name in names if isinstance(name, str)]
    ends = any(re.search(r"\S\s+first$", text, re.IGNORECASE) for text in texts)
    goes_on = any(re.match(r"(?:and\s+)?then\s+\S", text, re.IGNORECASE) for text in texts)
    return (ends and goes_on) or any(map(is_sentence, texts))


def sentence() -> InputError:
    """Make the error for sentences where a table should be."""
    return InputError(
        "the cells are sentences, in which it is not clear where an item ends: write one "
        "ranking per line with > between the items, as in Wiley, Maya > Yang, Andrew"
    )


def cut_at_commas(lists: Iterable[Sequence[str]]) -> str:
    """Return a name that may have been cut at its comma into two neighbours; else nothing.

    These then follow each other in every list, wherever they stand; or, if every name holds a
    comma, two by two.

    Examples
    --------
    >>> cut_at_commas([("Wiley", "Maya", "Yang", "Andrew"), ("Yang", "Andrew", "Wiley", "Maya")])
    'Wiley, Maya'
    >>> cut_at_commas([("tea", "milk", "beer", "wine"), ("milk", "tea", "beer", "wine")])
    ''
    """
    different = {tuple(one) for one in lists}
    if len(different) < 2 or any("," in name for one in different for name in one):
        return ""
    together = set.intersection(*({*pairwise(one)} for one in different))
    for first, second in sorted(together):
        moves = len({one.index(first) for one in different}) > 1
        if moves and len(different) >= _LISTS_OF_A_CUT_NAME:
            return f"{first}, {second}"
    if all(len(one) % 2 == 0 and len(one) > 2 for one in different):
        halves = {frozenset(zip(one[::2], one[1::2], strict=True)) for one in different}
        if len(halves) == 1:
            return ", ".join(min(halves.pop()))
    return ""


def reader_of(texts: Sequence[str]) -> Callable[[str, str], list[str | list[str]]]:
    """Return what reads a sentence, given where it stands, by the names that all of them hold."""
    places: dict[str, set[int]] = {}
    for parts in map(_parts, texts):
        for place, part in enumerate(parts):
            places.setdefault(_plain(part), set()).add(place)
    # What stands first, or the same now here, now there, is one item.
    known = {name for name, where in places.items() if 0 in where or len(where) > 1}

    def read(text: str, where: str) -> list[str | list[str]]:
        parts = _parts(text)
        numbered = _FIRST_THEN.fullmatch(_bare(text)) is None
        answer: list[str | list[str]] = []
        for place, part in enumerate(parts):
            name = _plain(part)
            whole = numbered or name in known or _IN_QUOTES.fullmatch(part)
            joins = re.search(r"\band\b|&", name) if place == 0 else _SEVERAL.search(name)
            if joins and (place == 0 or not whole) and not _IN_QUOTES.fullmatch(part):
                raise InputError(
                    f"{where}: {quoted(name)} may be one item or several: put > between items "
                    "and = between tied items, as in Wiley, Maya > Yang, "
                    "Andrew"
                )
            answer.append(name)
        return answer

    return read


def _bare(text: str) -> str:
    """Return a sentence without the quotes around it and the full stop at its end."""
    text = text.strip()
    whole = re.fullmatch(r"\"([^\"]+)\"", text)
    return (whole[1] if whole else text).strip().rstrip(".").rstrip()


def _parts(text: str) -> list[str]:
    """Return the items of a sentence; nothing if it is not one."""
    text = _bare(text)
    found = _FIRST_THEN.fullmatch(text)
    if found is not None:
        parts = [found["first"], *_THEN.split(found["rest"])]
    else:
        numbers = list(_NUMBER.finditer(text))
        if [int(one[1]) for one in numbers] != [*range(1, len(numbers) + 1)] or not numbers:
            return []
        if numbers[0].start() > 0:
            return []
        ends = [*(one.start() for one in numbers[1:]), len(text)]
        parts = [text[one.end() : end] for one, end in zip(numbers, ends, strict=True)]
    parts = [part.strip().strip(",;").strip() for part in parts]
    return parts if all(parts) else []


def _plain(part: str) -> str:
    whole = _IN_QUOTES.fullmatch(part)
    return whole[1].strip() if whole else part
