"""Rankings in words and as a small table."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.cards import Card
from tierwise._util.types import NOT_LISTED
from tierwise.errors import counted, printable
from tierwise.files.places import with_ties

if TYPE_CHECKING:
    from tierwise.data.rankings import Rankings
    from tierwise.files.options import ReadingNotes

# Layouts of scores in which each answer is a task.
_OF_TASKS = ("scores by item", "long scores")
_ANSWERS_SHOWN = 5
_NAMES_SHOWN = 12


def in_words(rankings: "Rankings") -> str:
    """Say how many rankings there are, of how many items, and how complete they are."""
    incomplete = (rankings.patterns == NOT_LISTED).any(axis=1)
    tied = with_ties(rankings.patterns)
    remarks = []
    if incomplete.any():
        number = rankings.pattern_weights[incomplete].sum().item()
        remarks.append(f"{number:,} incomplete: not listed = {rankings.unranked}")
    if tied.any():
        remarks.append(f"{rankings.pattern_weights[tied].sum().item():,} with ties")
    if not remarks:
        remarks.append(f"complete, {len(rankings.patterns):,} distinct")
    number, n_items = rankings.n_rankings, len(rankings.items)
    return f"{counted(number, 'ranking')} of {n_items} items, " + ", ".join(remarks)


def as_read(rankings: "Rankings") -> str:
    """Say how many answers were read, in how many rows, about how many items."""
    many = rankings.n_rankings != len(rankings)
    rows = f" in {counted(len(rankings), 'row')}" if many else ""
    notes = rankings.reading
    noun = "task" if notes is not None and notes.layout in _OF_TASKS else "answer"
    about = f" about {counted(len(rankings.items), 'item')}"
    return counted(rankings.n_rankings, noun) + rows + about


def answer_in_words(rankings: "Rankings", row: int) -> str:
    """Say what an answer is: who is first, who comes then, and who is not listed.

    Examples
    --------
    >>> from tierwise import Rankings
    >>> rankings = Rankings.from_orderings([["tea", ["milk", "coffee"], "juice"], ["milk"]],
    ...                                    unranked="below")
    >>> answer_in_words(rankings, 0)
    'Answer 1: tea first, then milk and coffee (tied), juice.'
    >>> answer_in_words(rankings, 1)
    'Answer 2: milk first; tea, coffee, juice not listed.'
    >>> answer_in_words(Rankings.from_orderings([["Wiley, Maya", "Yang, Andrew", "Ng"]]), 0)
    'Answer 1: "Wiley, Maya" first, then "Yang, Andrew", Ng.'
    """
    places = rankings.places[row]
    groups: dict[int, list[str]] = {}
    for item in np.argsort(places, kind="stable").tolist():
        name = printable(str(rankings.items[item]))
        # A comma within a name must not look like one between names.
        shown = f'"{name}"' if "," in name else name
        groups.setdefault(int(places[item]), []).append(shown)
    absent = groups.pop(NOT_LISTED, [])
    words = [
        group[0] if len(group) == 1 else f"{', '.join(group[:-1])} and {group[-1]} (tied)"
        for group in groups.values()
    ]
    sentence = f"{words[0]} first" if words else "nothing"
    if len(words) > 1:
        sentence += f", then {_some(words[1:])}"
    if absent:
        sentence += f"; {_some(absent)} not listed"
    return f"Answer {row + 1}: {sentence}."


def _some(names: list[str]) -> str:
    """List names; of many, the first of them."""
    if len(names) <= _NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMES_SHOWN])} and {len(names) - _NAMES_SHOWN:,} more"


def in_html(rankings: "Rankings") -> str:
    """Show the first answers as a table, and how they were read."""
    first = rankings.subset(slice(0, _ANSWERS_SHOWN))
    rows = [
        (f"{weight:g}", _as_text(row))
        for weight, row in zip(first.weights.tolist(), first.to_orderings(), strict=True)
    ]
    rows += [("", "\N{HORIZONTAL ELLIPSIS}")] if len(rankings) > _ANSWERS_SHOWN else []
    return Card(
        in_words(rankings), table=(("weight", "best first"), rows), note=how_read(rankings.reading)
    ).to_html()


def how_read(notes: "ReadingNotes | None") -> str:
    """Say how a table was understood; nothing if there was none."""
    return "" if notes is None else " ".join(map(str, notes.sentences()))


def _as_text(row: list[Any]) -> str:
    return " > ".join(
        " ~ ".join(str(item) for item in entry) if isinstance(entry, list) else str(entry)
        for entry in row
    )
