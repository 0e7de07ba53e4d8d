"""Names that differ only in case, spaces and punctuation, which may mean one item."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from tierwise.errors import InputError, quoted, use

Spellings: TypeAlias = Literal["ask", "keep"]
"""Whether names that differ only in case, spaces and punctuation raise a question, or are kept."""


def refuse_spellings(
    names: Sequence[str], what: str, first_seen: Sequence[Callable[[], str]] = ()
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
    """
    known: dict[str, int] = {}
    alike = []
    for number, name in enumerate(names):
        other = known.setdefault(_spelling(name), number)
        if other != number:
            alike.append((other, number))
    if not alike:
        return

    def seen(number: int) -> str:
        return quoted(names[number]) + (f" ({first_seen[number]()})" if first_seen else "")

    pairs = [f"{seen(two)} and {seen(one)}" for one, two in alike]
    are_one = f"they are the same {what}" if len(alike) == 1 else f"each pair is the same {what}"
    raise InputError(
        f"names differ only in case, spaces or punctuation: {'; '.join(pairs)}",
        [
            use(f"if {are_one}", rename={names[two]: names[one] for one, two in alike}),
            use("if they are not", spellings="keep"),
        ],
    )


def _spelling(name: str) -> str:
    """Return a name without what people write now so, now so.

    Examples
    --------
    >>> _spelling("Claude-3.5 Sonnet"), _spelling("claude 3-5 sonnet"), _spelling("command-r+")
    ('claude35sonnet', 'claude35sonnet', 'commandr+')
    """
    return "".join(mark for mark in name.casefold() if mark.isalnum() or mark in "+#*") or name
