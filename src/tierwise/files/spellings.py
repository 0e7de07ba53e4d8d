"""Names of items: those that differ only in case, spaces and punctuation, and new ones."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from tierwise.errors import InputError, instead, quoted, some_of, use

Spellings: TypeAlias = Literal["ask", "keep"]
"""Whether names that differ only in case, spaces and punctuation raise a question, or are kept."""


def refuse_spellings(
    names: Sequence[str],
    what: str,
    first_seen: Sequence[Callable[[], str]] = (),
    *,
    can_rename: bool = True,
) -> None:
    """Ask whether names that differ only in case, spaces and punctuation mean the same item.

    Parameters
    ----------
    names
        All names, each once.
    what
        What one of them is called.
    first_seen
        For each name where it is first written, if its line is known.
    can_rename
        Whether the function that was called can rename items.
    """
    known: dict[str, int] = {}
    alike = []
    for number, name in enumerate(names):
        other = known.setdefault(spelling(name), number)
        if other != number:
            alike.append((other, number))
    if not alike:
        return

    def seen(number: int) -> str:
        return quoted(names[number]) + (f" ({first_seen[number]()})" if first_seen else "")

    pairs = [f"{seen(two)} and {seen(one)}" for one, two in alike]
    are_one = f"they are the same {what}" if len(alike) == 1 else f"each pair is the same {what}"
    same = f"if {are_one}"
    rename = {names[two]: names[one] for one, two in alike}
    raise InputError(
        f"names differ only in case, spaces or punctuation: {'; '.join(pairs)}",
        [
            use(same, rename=rename)
            if can_rename
            else instead("read_rankings", same, rename=rename),
            use("if they are not", spellings="keep"),
        ],
    )


def renamed(items: Sequence[Any], rename: Mapping[str, str]) -> list[Any]:
    """Call items as the user wants; several may get the same name."""
    known = {str(item) for item in items}
    for old in rename:
        if old not in known:
            raise InputError(
                f"{quoted(old)} is not an item, so it cannot be renamed: the items are "
                f"{some_of([str(item) for item in items])}"
            )
    return [rename.get(str(item), item) for item in items]


def spelling(name: str) -> str:
    """Return a name without what people write now so, now so.

    Examples
    --------
    >>> spelling("Claude-3.5 Sonnet"), spelling("claude 3-5 sonnet"), spelling("command-r+")
    ('claude35sonnet', 'claude35sonnet', 'commandr+')
    >>> spelling("1.5"), spelling("15")
    ('1.5', '15')
    """
    if not any(mark.isalpha() for mark in name):
        return name  # in numbers, marks say what they are worth
    return "".join(mark for mark in name.casefold() if mark.isalnum() or mark in "+#*")
