"""What people choose on the pages: how a file is read, and what is computed from it.

Both come from forms, so nothing is taken that is not known; both also become the Python lines and
the command that give the same.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tierwise.errors import InputError

Fields = Mapping[str, str]

ROLES = {
    "auto": "as recognised",
    "items": "an item: its cells are ranks or scores",
    "aside": "no part of the answers",
    "assessor": "whose answer it is",
    "weights": "how often the row counts",
    "item": "names of items, one row each",
    "rank": "ranks, one row for each item",
    "preferred": "the item that was preferred",
    "other": "the item that it was preferred to",
}
"""What a column can be for, in the words of the page."""

_READING = {
    "layout": ("orderings", "ranks", "long", "pairs"),
    "unranked": ("below", "anywhere"),
    "ties": ("allow",),
    "scores": ("higher", "lower"),
    "empty": ("skip",),
    "cycles": ("keep",),
}
_FREE = ("sheet", "encoding")
_MOST_LETTERS = 100


@dataclass(frozen=True)
class Question:
    """A question that only people can answer.

    Attributes
    ----------
    name
        The option that the answer is for.
    text
        The question.
    answers
        What can be said, each with its words.
    """

    name: str
    text: str
    answers: tuple[tuple[str, str], ...]


QUESTIONS = {
    question.name: question
    for question in (
        Question(
            "unranked",
            "If someone did not rank an item, what does that mean?",
            (
                ("below", "They put it below all the items that they did rank"),
                ("anywhere", "They had not seen it or were not asked: it could be anywhere"),
            ),
        ),
        Question(
            "scores",
            "The numbers look like scores, not like ranks. Which are better?",
            (
                ("higher", "Higher numbers are better"),
                ("lower", "Lower numbers are better"),
                ("ranks", "They are ranks, and equal ranks are ties"),
            ),
        ),
        Question(
            "ties",
            "Some answers give several items the same rank. Is that meant?",
            (("allow", "Yes: these items are equally good to them"),),
        ),
        Question(
            "empty",
            "Some rows rank nothing. Shall they be left out?",
            (("skip", "Yes, leave them out"),),
        ),
        Question(
            "cycles",
            "Some people contradict themselves. May answers be mistaken?",
            (("keep", "Yes: keep all answers, any of which may be a mistake"),),
        ),
    )
}


def parse_reading(fields: Fields) -> dict[str, Any]:
    """Return how a file is to be read, as plain values; what is not known is refused.

    Examples
    --------
    >>> parse_reading({"unranked": "below", "role-2": "weights", "layout": ""})
    {'unranked': 'below', 'roles': {'2': 'weights'}}
    >>> parse_reading({"without-3": "on"})
    {'without': ['3']}
    """
    chosen: dict[str, Any] = {}
    given = {name: value for name, value in fields.items() if value and value != "auto"}
    if given.get("scores") == "ranks":
        given |= {"layout": "ranks", "ties": "allow"}
        del given["scores"]
    for name, known in _READING.items():
        if name in given:
            chosen[name] = _one_of(name, given[name], known)
    for name in _FREE:
        if name in given:
            chosen[name] = given[name][:_MOST_LETTERS]
    roles = {
        name.removeprefix("role-"): _one_of("the column's use", value, ROLES)
        for name, value in given.items()
        if re.fullmatch(r"role-\d{1,5}", name)
    }
    without = [
        name.removeprefix("without-") for name in given if re.fullmatch(r"without-\d{1,5}", name)
    ]
    return chosen | ({"roles": roles} if roles else {}) | ({"without": without} if without else {})


def fields_of(chosen: Mapping[str, Any]) -> dict[str, str]:
    """Return choices as the fields of the form on which they were made.

    Examples
    --------
    >>> fields_of({"unranked": "below", "roles": {"2": "weights"}, "without": ["3"]})
    {'unranked': 'below', 'role-2': 'weights', 'without-3': 'on'}
    """
    return {
        **{name: value for name, value in chosen.items() if name not in ("roles", "without")},
        **{f"role-{column}": role for column, role in chosen.get("roles", {}).items()},
        **{f"without-{item}": "on" for item in chosen.get("without", ())},
    }


def columns_of_role(chosen: Mapping[str, Any], columns: tuple[str, ...], role: str) -> list[str]:
    """Return the columns that are said to be for something."""
    return [
        columns[int(position)]
        for position, said in chosen.get("roles", {}).items()
        if said == role and int(position) < len(columns)
    ]


def reading_options(chosen: Mapping[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    """Return choices as `read_answers` takes them, but for columns and items that are left out.

    Parameters
    ----------
    chosen
        What `parse_reading` returned.
    columns
        What the columns of the table are called.
    """
    options = {name: value for name, value in chosen.items() if name not in ("roles", "without")}
    for role in ("weights", "item", "rank", "preferred", "other"):
        named = columns_of_role(chosen, columns, role)
        if len(named) > 1:
            raise InputError(
                f"columns '{named[0]}' and '{named[1]}' are both said to be for one thing "
                f"({ROLES[role]}): choose one of them"
            )
        options |= {role: named[0]} if named else {}
    for role in ("assessor", "items"):
        named = columns_of_role(chosen, columns, role)
        options |= {role: named} if named else {}
    return options


def parse_wishes(fields: Fields) -> dict[str, Any]:
    """Return what is to be computed, as plain values that `tierwise.report` takes.

    Examples
    --------
    >>> parse_wishes({"sizes": "1, 2,2", "groups": "2-4", "seed": "7", "title": " "})
    {'sizes': [1, 2, 2], 'groups': [2, 3, 4], 'rng': 7}
    """
    wishes: dict[str, Any] = {}
    given = {name: value.strip() for name, value in fields.items() if value.strip()}
    for name, known in {
        "distance": ("auto", "kendall", "inversions", "hamming", "footrule", "spearman"),
        "concentration": ("single", "tier", "place", "auto"),
        "uncertainty": ("bootstrap", "posterior"),
    }.items():
        if name in given and given[name] != known[0]:
            wishes[name] = _one_of(name, given[name], known)
    if "sizes" in given:
        wishes["sizes"] = _whole_numbers("sizes of tiers", given["sizes"])
    if "groups" in given:
        span = re.fullmatch(r"(\d{1,2})\s*-\s*(\d{1,2})", given["groups"])
        numbers = (
            list(range(int(span[1]), int(span[2]) + 1))
            if span
            else _whole_numbers("numbers of groups", given["groups"])
        )
        if not numbers or max(numbers) > 10:
            raise InputError("numbers of groups are 2 to 10, such as 3 or 2-4")
        wishes["groups"] = numbers
    if "title" in given:
        wishes["title"] = given["title"][:_MOST_LETTERS]
    seed = given.get("seed", "1")
    if not re.fullmatch(r"\d{1,18}", seed):
        raise InputError(f"the seed must be a whole number, such as 1; got '{seed[:30]}'")
    wishes["rng"] = int(seed)
    return wishes


def in_python(
    file: str,
    reading: Mapping[str, Any],
    without: Iterable[str],
    wishes: Mapping[str, Any],
    kind: str,
) -> str:
    """Return the lines of Python that write the same report."""
    left_out = list(without)
    read = "read_preferences" if kind == "pairs" else "read_rankings"
    passed = {name: value for name, value in reading.items() if name != "layout" or kind != "pairs"}
    return "\n".join(
        (
            "import tierwise as tw",
            "",
            f"answers = tw.{read}({', '.join([repr(file), *_arguments(passed)])})",
            *(
                [
                    f"left_out = {left_out!r}",
                    "answers = answers.restrict(i for i in answers.items if i not in left_out)",
                ]
                if left_out
                else []
            ),
            f'shown = tw.report(answers, "report.html"{_following(wishes)})',
            "print(shown.fit.tiers)",
        )
    )


def in_shell(
    file: str, reading: Mapping[str, Any], without: Iterable[str], wishes: Mapping[str, Any]
) -> str:
    """Return the command that writes the same report."""
    words = ["tierwise", "report", f"./{file}" if file.startswith("-") else file]
    for name, value in {**reading, **wishes}.items():
        option = "--seed" if name == "rng" else f"--{name}"
        if name == "assessor":
            for one in value:
                words += [option, one]
        else:
            words += [option, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    for item in without:
        words += ["--without", item]
    return shlex.join([*words, "--out", "report.html"])


def said_without_arguments(message: str) -> str:
    """Leave out of a message what it says to programmers: the page asks that as a question.

    Examples
    --------
    >>> said_without_arguments('line 2 lists 2 of 3 items: pass unranked="below" if ...')
    'line 2 lists 2 of 3 items'
    """
    return re.split(r"[:,;]?\s*(?:or\s+)?(?:pass|say|use)\s+(?:which\s+)?\w+=", message)[0]


def asked_by(message: str) -> list[str]:
    """Return the questions that a message asks.

    Examples
    --------
    >>> asked_by('say scores="higher" if 39 is best (or layout="ranks" and ties="allow")')
    ['scores']
    """
    asked = [name for name in QUESTIONS if f'{name}="' in message]
    return ["scores"] if "scores" in asked else asked


def _one_of(name: str, value: str, known: Iterable[str]) -> str:
    if value not in known:
        raise InputError(f"{name} cannot be '{value[:30]}': choose one of {', '.join(known)}")
    return value


def _whole_numbers(what: str, text: str) -> list[int]:
    words = [word for word in re.split(r"[\s,;]+", text) if word]
    if not words or not all(re.fullmatch(r"\d{1,4}", word) for word in words):
        raise InputError(f"{what} are whole numbers with commas, such as 1,2,4; got '{text[:30]}'")
    return [int(word) for word in words]


def _arguments(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items()]


def _following(options: Mapping[str, Any]) -> str:
    return "".join(f", {argument}" for argument in _arguments(options))
