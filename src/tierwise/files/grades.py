"""Grades: words that have an order, such as S, A, B or "strongly agree", as numbers."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tierwise._util.names import split_names
from tierwise.errors import InputError, quoted
from tierwise.files.cells import can_be_encoded, encode

if TYPE_CHECKING:
    import pyarrow as pa

# Columns that say whose answer it is.
_OF_PEOPLE = frozenset(
    ("assessor", "respondent", "participant", "subject", "person", "user", "voter", "judge")
) | {"rater", "name", "id", "row"}

LETTERS = ("S", "A", "B", "C", "D", "E", "F")
"""The letters of tier lists, best first."""

_WITH_SIGNS = tuple(f"{letter}{sign}" for letter in "SABCDEF" for sign in ("++", "+", "", "-"))
# Words that are known to have an order, best first.
_KNOWN: tuple[tuple[str, ...], ...] = (
    _WITH_SIGNS,
    (
        *("strongly agree", "agree", "somewhat agree", "slightly agree"),
        *("neutral", "neither agree nor disagree", "undecided"),
        *("slightly disagree", "somewhat disagree", "disagree", "strongly disagree"),
    ),
    (
        *("stimme voll und ganz zu", "stimme voll zu", "stimme zu", "stimme eher zu"),
        *("teils/teils", "teils, teils", "neutral", "weder noch"),
        *("stimme eher nicht zu", "stimme nicht zu", "stimme überhaupt nicht zu"),
    ),
    (
        *("tout à fait d'accord", "d'accord", "plutôt d'accord", "ni d'accord ni pas d'accord"),
        *("plutôt pas d'accord", "pas d'accord", "pas du tout d'accord"),
    ),
    (
        *("sehr zufrieden", "zufrieden", "eher zufrieden", "teils/teils"),
        *("eher unzufrieden", "unzufrieden", "sehr unzufrieden"),
    ),
    (
        *("trifft voll und ganz zu", "trifft voll zu", "trifft zu", "trifft eher zu"),
        *("teils/teils", "trifft eher nicht zu", "trifft nicht zu", "trifft überhaupt nicht zu"),
    ),
    (
        *("très satisfait", "satisfait", "plutôt satisfait", "neutre"),
        *("plutôt insatisfait", "insatisfait", "très insatisfait"),
    ),
    (
        *("totalmente de acuerdo", "de acuerdo", "ni de acuerdo ni en desacuerdo"),
        *("en desacuerdo", "totalmente en desacuerdo"),
    ),
    ("excellent", "very good", "good", "fair", "average", "poor", "very poor", "terrible"),
    ("sehr gut", "gut", "befriedigend", "ausreichend", "mangelhaft", "ungenügend"),
    (
        *("very satisfied", "satisfied", "neutral", "neither satisfied nor dissatisfied"),
        *("dissatisfied", "very dissatisfied"),
    ),
    ("very important", "important", "somewhat important", "slightly important", "not important"),
    ("always", "often", "sometimes", "rarely", "never"),
    ("love", "like", "neutral", "dislike", "hate"),
)
# Words of one place in an order.
_SAME = ({"neutral", "neither agree nor disagree", "undecided", "teils/teils", "teils, teils"},)
_STARS = re.compile(
    r"([★⭐*]{1,10})[☆]{0,9}|(\d(?:[.,]5)?)\s*(?:stars?|sterne?|★|⭐)", re.IGNORECASE
)


def check_order(order: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Return an order of words, best first, as people give it; None if there is none.

    Examples
    --------
    >>> check_order("S, A,B")
    ('S', 'A', 'B')
    """
    if order is None:
        return None
    words = split_names(order) if isinstance(order, str) else [str(word) for word in order]
    found = tuple(" ".join(word.split()) for word in words)
    folded = [word.casefold() for word in found]
    if len(found) < 2 or not all(found) or len(set(folded)) < len(folded):
        raise InputError(
            "order must list the grades once each, best first, such as S,A,B,C,D; got "
            f"{quoted(order)}"
        )
    return found


def grades_in(table: "pa.Table") -> tuple[list[str], tuple[str, ...]]:
    """Return the columns that hold grades, and their grades, best first; nothing if there are none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> grades_in(pa.table({"who": ["Ann", "Bob"], "tea": ["S", "B"], "milk": ["A", "A"]}))
    (['tea', 'milk'], ('S', 'A', 'B'))
    """
    words = {
        name: _words(table.column(at))
        for at, name in enumerate(table.column_names)
        if name.strip().casefold() not in _OF_PEOPLE
    }
    for known in (*_KNOWN, None):
        of_column = {
            name: found
            for name, found in words.items()
            if found and all(_value(word, known) is not None for word in found)
        }
        used = {word for found in of_column.values() for word in found}
        if len(of_column) > 1 and len({_value(word, known) for word in used}) > 1:
            best_first = sorted(used, key=lambda word: _value(word, known) or 0.0, reverse=True)
            return list(of_column), tuple(best_first)
    return [], ()


def as_numbers(table: "pa.Table", order: Sequence[str]) -> tuple["pa.Table", list[str]]:
    """Return a table with numbers in place of grades, higher being better, and which columns it is.

    Parameters
    ----------
    table
        The table.
    order
        The grades, best first.
    """
    import pyarrow as pa

    value_of = {word.casefold(): len(order) - place for place, word in enumerate(order)}
    for same in _SAME:
        level = max((value_of[word] for word in same if word in value_of), default=None)
        if level is not None:
            value_of |= {word: level for word in same if word in value_of}
    graded, strange = [], {}
    for at, name in enumerate(table.column_names):
        if name.strip().casefold() in _OF_PEOPLE:
            continue
        words = _words(table.column(at))
        known = [word for word in words if word.casefold() in value_of]
        if known and len(known) == len(words):
            codes, labels = encode(table.column(at))
            values = [
                None if code < 0 else value_of.get(_folded(labels[code])) for code in codes.tolist()
            ]
            table = table.set_column(at, name, pa.array(values, pa.float64()))
            graded.append(name)
        elif 2 * len(known) > len(words):
            strange[name] = next(word for word in words if word.casefold() not in value_of)
    if strange:
        name, word = next(iter(strange.items()))
        raise InputError(
            f"column {quoted(name)} holds {quoted(word)}, which is not one of the grades: name "
            "all grades, best first"
        )
    if not graded:
        raise InputError(f"no column holds only the grades {', '.join(map(quoted, order))}")
    return table, graded


def _words(column: "pa.ChunkedArray") -> list[str]:
    """Return the different texts of a column; none if it holds something else."""
    if not can_be_encoded(column):
        return []
    codes, labels = encode(column)
    used = [labels[code] for code in sorted(set(codes.tolist())) if code >= 0]
    texts = [" ".join(str(one).split()) for one in used]
    return [text for text in texts if text]


def _folded(label: object) -> str:
    return " ".join(str(label).split()).casefold()


def _value(word: str, known: Sequence[str] | None) -> float | None:
    """Return how good a grade is, in an order or in stars; None if it is not of that order."""
    if known is None:
        stars = _STARS.fullmatch(word.strip())
        if stars is None:
            return None
        return float(len(stars[1])) if stars[1] else float(stars[2].replace(",", "."))
    # Letters are grades in upper case only: a and b are names.
    said = word if known is _WITH_SIGNS else word.casefold()
    return float(len(known) - known.index(said)) if said in known else None
