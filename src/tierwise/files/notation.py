"""A ranking written out: ``tea > milk = water``, best first, with = or ~ between tied items."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tierwise.errors import InputError, quoted
from tierwise.files.spellings import renamed

# Arrows are written, too: tea -> milk.
_BETTER = re.compile(r"-{0,3}>{1,3}|[≻→]")
_TIED = re.compile(r"[=~]")

Answer: TypeAlias = list[str | list[str]]
"""The items of an answer, best first; tied ones are a list."""


def is_ranking(line: str) -> bool:
    """Return whether there is > between the names of a line."""
    parts = _BETTER.split(line)
    return len(parts) > 1 and all(part.strip() for part in parts)


def names_in(answer: Answer) -> list[str]:
    """Return the items of an answer, tied or not."""
    return [name for entry in answer for name in (entry if isinstance(entry, list) else [entry])]


def with_new_names(answers: Sequence[Answer], rename: Mapping[str, str]) -> list[Answer]:
    """Call items as the user wants; names that become the same are one item."""
    names = list(dict.fromkeys(name for answer in answers for name in names_in(answer)))
    new_name = dict(zip(names, renamed(names, rename), strict=True))
    return [
        [
            [new_name[name] for name in entry] if isinstance(entry, list) else new_name[entry]
            for entry in answer
        ]
        for answer in answers
    ]


def parse_ranking(said: str, where: str) -> Answer:
    """Read items, best first, some of them tied."""
    answer: Answer = []
    for entry in _BETTER.split(said):
        tied = [name.strip() for name in _TIED.split(entry)]
        if not all(tied):
            raise InputError(
                f"{where}: an item is missing in {quoted(said)}: write the items best first, as in "
                "tea > milk = water"
            )
        answer.append(tied if len(tied) > 1 else tied[0])
    return answer
