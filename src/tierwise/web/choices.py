"""The user's choices on the pages: how a file is read, and what is computed from it.

Both come from forms, so unknown values are refused. Both are also shown as the Python lines and the
command that give the same result.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tierwise._util.names import join_names
from tierwise.errors import (
    Advice,
    InputError,
    Remedy,
    TierwiseError,
    advise,
    listed,
    printable,
)

Fields = Mapping[str, str]
_TAB = "\t"  # between the old and the new name of an item, neither of which holds one
NOTHING = "nothing"  # the value if there is no code for missing answers

ROLES = {
    "auto": "as detected",
    "items": "an item: its cells are ranks or scores",
    "aside": "not part of the answers",
    "assessor": "whose answer it is",
    "weights": "how often the row counts",
    "item": "names of items, one row each",
    "rank": "ranks, one row for each item",
    "preferred": "the item that was preferred",
    "other": "the item that lost",
}
"""The roles of a column, in the words of the page."""

_READING = {
    "layout": ("orderings", "ranks", "long", "pairs"),
    "unranked": ("below", "anywhere"),
    "ties": ("allow",),
    "weights_are": ("counts", "survey"),
    "better": ("higher", "lower"),
    "items_in": ("rows", "columns"),
    "empty": ("skip",),
    "cycles": ("keep",),
    "broken": ("skip",),
    "repeats": ("error", "first"),
    "overvotes": ("skip",),
    "drawn": ("drop", "model"),
    "position": ("model",),
    "spellings": ("keep",),
}
_FREE = ("sheet", "encoding", "order", "weights", "item", "rank", "preferred", "other")
_LISTS = ("items", "assessor", "tasks", "lower", "missing", "rename")
_MOST_LETTERS = 100
_MOST_LETTERS_OF_LISTS = 10_000
_ITEMS_SHOWN = 8


@dataclass(frozen=True)
class Question:
    """A question that only the user can answer.

    Attributes
    ----------
    name
        The option that the answer sets.
    text
        The question.
    answers
        The possible answers, each with its wording.
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
                ("below", "They consider it worse than all the items that they did rank"),
                ("anywhere", "They had not seen it, or were not asked: its rank is unknown"),
            ),
        ),
        Question(
            "better",
            "The numbers look like scores, not like ranks. Which are better?",
            (
                ("higher", "Higher numbers are better"),
                ("lower", "Lower numbers are better"),
                ("ranks", "They are ranks, and equal ranks are ties"),
            ),
        ),
        Question(
            "items_in",
            "Where are the items to compare?",
            (
                ("rows", "Each row is an item, and each column of numbers a task"),
                ("columns", "Each column of numbers is an item, and each row a task or a person"),
            ),
        ),
        Question(
            "ties",
            "Some answers give several items the same rank. Is that intended?",
            (("allow", "Yes: to these people the items are equally good"),),
        ),
        Question(
            "weights_are",
            "What do the weights mean?",
            (
                ("counts", "How many people gave the answer in this row"),
                ("survey", "How much the person in this row counts: survey weights"),
            ),
        ),
        Question(
            "spellings",
            "Some names differ only in case, spaces or punctuation. Are these different items?",
            (("keep", "Yes: every name is a separate item"),),
        ),
        Question(
            "empty",
            "Some rows rank nothing. Leave them out?",
            (("skip", "Yes, leave them out"),),
        ),
        Question(
            "broken",
            "Some answers are not valid. Leave them out?",
            (("skip", "Yes, leave them out"),),
        ),
        Question(
            "cycles",
            "Some people contradict themselves. Can answers be mistaken?",
            (("keep", "Yes: keep all answers, any of which may be a mistake"),),
        ),
        Question(
            "layout",
            "How is the table laid out?",
            (
                ("orderings", "One row per answer, one column per place (first, second, ...)"),
                ("ranks", "One row per answer, one column per item, with ranks in the cells"),
                ("long", "One row for each item of each answer"),
                ("pairs", "One row for each comparison of two items"),
            ),
        ),
    )
}
"""Questions with a fixed list of answers."""

OF_BATTLES = {
    question.name: question
    for question in (
        Question(
            "drawn",
            "How should battles without a winner count?",
            (
                ("", "As half a win for each side"),
                ("drop", "Not at all: leave them out"),
                ("model", "As a separate outcome, which is more likely the closer the two are"),
            ),
        ),
        Question(
            "position",
            "Could being shown first be an advantage?",
            (
                ("", "No: it does not matter which of the two is shown first"),
                ("model", "Perhaps: estimate the advantage and correct for it"),
            ),
        ),
    )
}
"""Questions about battles; the first answer is the default."""

# Questions about columns and sheets, whose answers are what is in the file.
_ABOUT_THE_FILE = {
    "items": "Which columns are the items?",
    "missing": "Which values stand for a missing answer?",
    "sheet": "Which sheet holds the answers?",
    "order": "Are these grades, best first?",
    "rename": "Which names mean the same item?",
    "lower": "In which columns are lower numbers better?",
    "tasks": "Which columns hold scores?",
    "assessor": "Which column says whose answer it is?",
    "weights": "Which column says how often each row counts?",
    "item": "Which column names the items?",
    "rank": "Which column holds the ranks?",
    "preferred": "Which column names the item that was preferred?",
    "other": "Which column names the item that lost?",
}
# Answers that need no question before them, where they are one of several.
_AS_STATEMENTS = {
    "lower": "Lower numbers are better in {}",
    "tasks": "Higher numbers are better in all of {}",
    "rename": "These names mean the same: {}",
    "spellings": "Every name is a separate item",
}
_AS_RECOGNISED = ("", "As detected")
_ASK_AGAIN = ("", "Ask me again")
_NO_CODE = "None: these cells are answers"
# Where an answer says more than one thing: the question, and its answer.
_SEVERAL = (((("layout", "ranks"), ("ties", "allow")), ("better", "ranks")),)

WISHES = {
    "family": (
        "Which model",
        {
            "auto": "let the data decide",
            "mallows": "a distance from the tiers",
            "luce": "one worth per tier",
        },
    ),
    "distance": (
        "How to measure the distance from the tiers",
        {
            "auto": "let the data decide",
            "kendall": "Kendall: pairs in the wrong order, tiers being blocks of ranks",
            "inversions": "inversions: pairs of different tiers in the wrong order",
            "hamming": "Hamming: items outside the ranks of their tier",
            "footrule": "footrule: how many ranks items are away from their tier",
            "spearman": "Spearman: the same, squared",
        },
    ),
    "concentration": (
        "Do people agree equally everywhere?",
        {
            "": "let the data decide",
            "single": "yes, one measure of agreement for all",
            "tier": "more about some tiers than others (tastes)",
            "place": "more at some places than others (races)",
            "auto": "compare all of these",
        },
    ),
    "uncertainty": (
        "How to find out how certain the tiers are",
        {
            "auto": "draw from the posterior, if possible",
            "posterior": "draw from the posterior",
            "bootstrap": "resample the answers",
        },
    ),
}
"""The options of an analysis: for each its label, and the labels of its values."""


def parse_reading(fields: Fields) -> dict[str, Any]:
    """Return how to read a file, as plain values; refuse unknown ones.

    Examples
    --------
    >>> parse_reading({"unranked": "below", "role-2": "weights", "layout": ""})
    {'unranked': 'below', 'roles': {'2': 'weights'}}
    >>> parse_reading({"without-3": "on"})
    {'without': ['3']}
    >>> parse_reading({"answer": "ties:allow", "unranked": "below"})
    {'unranked': 'below', 'ties': 'allow'}
    """
    chosen: dict[str, Any] = {}
    given = {name: value for name, value in fields.items() if value and value != "auto"}
    # One of several questions was answered.
    name, mark, value = given.pop("answer", "").partition(":")
    given |= {name: value} if mark else {}
    if given.get("better") == "ranks":
        given |= {"layout": "ranks", "ties": "allow"}
        del given["better"]
    for name, known in _READING.items():
        if name in given:
            chosen[name] = _one_of(name, given[name], known)
    for name in _FREE:
        if name in given:
            chosen[name] = given[name][:_MOST_LETTERS]
    for name in _LISTS:
        if name in given:
            chosen[name] = given[name][:_MOST_LETTERS_OF_LISTS].splitlines()
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
    """Return choices as the fields of their form.

    Examples
    --------
    >>> fields_of({"unranked": "below", "roles": {"2": "weights"}, "without": ["3"]})
    {'unranked': 'below', 'role-2': 'weights', 'without-3': 'on'}
    """
    return {
        **{
            name: "\n".join(value) if isinstance(value, list) else value
            for name, value in chosen.items()
            if name not in ("roles", "without")
        },
        **{f"role-{column}": role for column, role in chosen.get("roles", {}).items()},
        **{f"without-{item}": "on" for item in chosen.get("without", ())},
    }


def columns_of_role(chosen: Mapping[str, Any], columns: tuple[str, ...], role: str) -> list[str]:
    """Return the columns to which the user gave a role."""
    return [
        columns[int(position)]
        for position, said in chosen.get("roles", {}).items()
        if said == role and int(position) < len(columns)
    ]


def reading_options(chosen: Mapping[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    """Return choices as arguments of `read`, except for columns and items that are left out.

    Parameters
    ----------
    chosen
        What `parse_reading` returned.
    columns
        The names of the columns of the table.
    """
    options = {name: value for name, value in chosen.items() if name not in ("roles", "without")}
    if "rename" in options:
        options["rename"] = dict(one.split(_TAB, 1) for one in options["rename"] if _TAB in one)
    for role in ("weights", "item", "rank", "preferred", "other"):
        named = columns_of_role(chosen, columns, role)
        if len(named) > 1:
            raise InputError(
                f"columns '{named[0]}' and '{named[1]}' have the same role ({ROLES[role]}): "
                "choose one of them"
            )
        options |= {role: named[0]} if named else {}
    for role in ("assessor", "items"):
        named = columns_of_role(chosen, columns, role)
        options |= {role: named} if named else {}
    return options


def parse_wishes(fields: Fields) -> dict[str, Any]:
    """Return what to compute, as plain arguments of `tierwise.report`.

    Examples
    --------
    >>> parse_wishes({"sizes": "1, 2,2", "groups": "2-4", "seed": "7", "title": " "})
    {'sizes': [1, 2, 2], 'groups': [2, 3, 4], 'rng': 7}
    """
    wishes: dict[str, Any] = {}
    given = {name: value.strip() for name, value in fields.items() if value.strip()}
    for name, (_, known) in WISHES.items():
        if name in given and given[name] != next(iter(known)):
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
            raise InputError("the number of groups must be 2 to 10, such as 3 or 2-4")
        wishes["groups"] = numbers
    by = [given[name][:_MOST_LETTERS] for name in given if re.fullmatch(r"by-\d{1,5}", name)]
    if by:
        wishes["by"] = by
    if "title" in given:
        wishes["title"] = given["title"][:_MOST_LETTERS]
    seed = given.get("seed", "1")
    if not re.fullmatch(r"\d{1,18}", seed):
        raise InputError(f"the seed must be a whole number, such as 1; got '{seed[:30]}'")
    wishes["rng"] = int(seed)
    return wishes


def in_python(
    file: str, reading: Mapping[str, Any], without: Iterable[str], wishes: Mapping[str, Any]
) -> str:
    """Return the lines of Python that write the same report."""
    left_out = list(without)
    return "\n".join(
        (
            "import tierwise as tw",
            "",
            f"answers = tw.read({', '.join([repr(file), *_arguments(reading)])})",
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
        option = "--seed" if name == "rng" else f"--{name.replace('_', '-')}"
        if name == "assessor":
            for one in value:
                words += [option, one]
        elif isinstance(value, dict):
            for old, new in value.items():
                words += [option, f"{old}={new}"]
        else:
            words += [option, join_names(value) if isinstance(value, list) else str(value)]
    for item in without:
        words += ["--without", item]
    return shlex.join([*words, "--out", "report.html"])


def on_page(error: TierwiseError) -> str:
    """Return the text of an error, without the part that the page asks as a question.

    Examples
    --------
    >>> from tierwise.errors import use
    >>> on_page(InputError("line 2 lists 2 of 3 items", [use("if ...", unranked="below")]))
    'line 2 lists 2 of 3 items'
    >>> on_page(InputError("there is one theta", [use(uncertainty="bootstrap")]))
    'there is one theta: use "resample the answers" for "How to find out how certain the tiers are"'
    """
    labels = {
        **_ABOUT_THE_FILE,
        **{name: question.text for name, question in QUESTIONS.items()},
        **{name: label for name, (label, _) in WISHES.items()},
    }
    problem = error.problem
    if error.argument in labels:
        problem = error.about_argument(f'your choice for "{labels[error.argument]}"')
    return printable(advise(problem, error.remedies, _wish_in_words))


def _wish_in_words(remedy: Remedy) -> str | None:
    """Write what can be chosen for an analysis in the words of its form; None for all else."""
    chosen = []
    for keyword, value in remedy.settings:
        label, words = WISHES.get(keyword, ("", {}))
        if remedy.function or not isinstance(value, str) or value not in words:
            return None
        chosen.append(f'"{words[value]}" for "{label}"')
    return listed(chosen) if chosen else None


def asked_by(remedies: Advice) -> list[Question]:
    r"""Return the questions that an error asks, with the answers that it offers.

    Examples
    --------
    >>> from tierwise.errors import use
    >>> for question in asked_by(["correct it", use(items=["tea", "milk"])]):
    ...     print(question.text, question.answers)
    Which columns are the items? (('tea\nmilk', 'tea and milk'),)
    """
    offered: dict[str, dict[str, str]] = {}
    for remedy in remedies:
        if isinstance(remedy, str) or remedy.function:
            continue
        several = [answer for settings, answer in _SEVERAL if settings == remedy.settings]
        if not several and len(remedy.settings) != 1:
            continue
        name, value = several[0] if several else remedy.settings[0]
        if name in QUESTIONS:
            known = dict(QUESTIONS[name].answers)
            if value in known:
                offered.setdefault(name, {})[value] = known[value]
        elif name in _ABOUT_THE_FILE and value and isinstance(value, str | list | tuple | dict):
            if isinstance(value, dict) != (name == "rename"):
                continue
            pairs = value.items() if isinstance(value, dict) else ()
            chosen = value if isinstance(value, str) else [str(one) for one in value]
            chosen = [_TAB.join(map(str, pair)) for pair in pairs] or chosen
            field = fields_of({name: chosen})[name]
            offered.setdefault(name, {})[field] = _NO_CODE if chosen == NOTHING else _shown(chosen)
    return [
        Question(
            name,
            QUESTIONS[name].text if name in QUESTIONS else _ABOUT_THE_FILE[name],
            tuple(answers.items()),
        )
        for name, answers in offered.items()
    ]


def as_one(questions: list[Question]) -> list[Question]:
    """Merge the questions of an error into one: answering one of them is enough.

    Examples
    --------
    >>> from tierwise.errors import use
    >>> for value, words in as_one(asked_by([use(ties="allow"), use(broken="skip")]))[0].answers:
    ...     print(value, "=", words)
    ties:allow = Some answers give several items the same rank. Is that intended? Yes: ...
    broken:skip = Some answers are not valid. Leave them out? Yes, leave them out
    """
    if len(questions) < 2:
        return questions
    answers = tuple(
        (
            f"{question.name}:{value}",
            _AS_STATEMENTS.get(question.name, f"{question.text} {{}}").format(words),
        )
        for question in questions
        for value, words in question.answers
    )
    return [Question("answer", "Which of these is right?", answers)]


def answered_by(reading: Mapping[str, Any]) -> list[Question]:
    """Return the questions that were already answered, so the answers can be changed."""
    # How answers lie in the table can be said further down, whether it was asked or not.
    known = [
        Question(name, question.text, (*question.answers, _ASK_AGAIN))
        for name, question in QUESTIONS.items()
        if name in reading and name != "layout"
    ]
    about = [
        Question(
            name,
            text,
            (
                (
                    fields_of(reading)[name],
                    _NO_CODE if reading[name] == [NOTHING] else _shown(reading[name]),
                ),
                _AS_RECOGNISED,
            ),
        )
        for name, text in _ABOUT_THE_FILE.items()
        if name in reading and name != "sheet"
    ]
    return known + about


def _shown(value: str | list[str]) -> str:
    if isinstance(value, str):
        return value
    if any(_TAB in one for one in value):
        return _shown_names(one.split(_TAB, 1) for one in value if _TAB in one)
    return _shortened(list(value))


def _shown_names(pairs: Iterable[list[str]]) -> str:
    """Write which names mean the same, all names of one item together.

    Examples
    --------
    >>> _shown_names([["gpt-4", "GPT-4"], ["x 1", "x-1"], ["gpt 4", "GPT-4"]])
    'gpt-4, gpt 4 and GPT-4; x 1 and x-1'
    """
    old_names: dict[str, list[str]] = {}
    for old, new in pairs:
        old_names.setdefault(new, []).append(old)
    joined = [listed([*old, new]) for new, old in old_names.items()]
    more = f"; and {len(joined) - _ITEMS_SHOWN} others" if len(joined) > _ITEMS_SHOWN else ""
    return "; ".join(joined[:_ITEMS_SHOWN]) + more


def _shortened(names: list[str]) -> str:
    if len(names) <= _ITEMS_SHOWN:
        return listed(names)
    return f"{', '.join(names[:_ITEMS_SHOWN])} and {len(names) - _ITEMS_SHOWN} others"


def _one_of(name: str, value: str, known: Iterable[str]) -> str:
    if value not in known:
        raise InputError(f"{name} cannot be '{value[:30]}': choose one of {', '.join(known)}")
    return value


def _whole_numbers(what: str, text: str) -> list[int]:
    words = [word for word in re.split(r"[\s,;]+", text) if word]
    if not words or not all(re.fullmatch(r"\d{1,4}", word) for word in words):
        raise InputError(
            f"{what} must be whole numbers separated by commas, such as 1,2,4; got '{text[:30]}'"
        )
    return [int(word) for word in words]


def _arguments(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items()]


def _following(options: Mapping[str, Any]) -> str:
    return "".join(f", {argument}" for argument in _arguments(options))
