"""What pairwise answers look like before any model: who was compared with whom, and who won."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import Cycles, Item
from tierwise._util.wording import counted, plain_item, plain_number
from tierwise.data.description import BaseDescription
from tierwise.data.preferences import Preferences, transitive_closure
from tierwise.files.notes import ReadingNotes

# Items that a sentence names; of more it says how many there are.
MOST_NAMED = 12


@dataclass(frozen=True, eq=False)
class PairsDescription(BaseDescription):
    """A summary of pairwise answers; `describe` makes it.

    Attributes
    ----------
    items
        The items.
    n_assessors
        The number of people who answered.
    n_distinct
        The number of different sets of answers.
    n_answers
        The number of answers that were given. One that was given twice counts twice if answers may
        be mistaken.
    n_following
        The number of pairs that follow from answers of the same assessor; 0 if these may be
        mistaken, for then nothing follows.
    cycles
        "keep" where answers may be mistaken.
    n_contradicting
        The number of assessors whose answers contradict each other.
    n_both_ways
        How often an assessor answered about the same pair both ways.
    compared
        ``compared[a, b]`` is the number of answers about items ``a`` and ``b``.
    wins
        ``wins[a, b]`` is how often ``a`` is preferred to ``b``, what follows included.
    n_comparing
        For each item, the number of assessors who compared it with another.
    parts
        The items that comparisons connect, directly or through others; the largest part first. The
        answers say nothing about items of different parts.
    pairwise
        How often the row is preferred to the column, of all who tell; NaN where nobody does.
    reading
        How the file was understood that the answers were read from; else None.
    """

    items: tuple[Item, ...]
    n_assessors: int
    n_distinct: int
    n_answers: int
    n_following: int
    cycles: Cycles
    n_contradicting: int
    n_both_ways: int
    compared: NDArray[np.int64]
    wins: NDArray[np.int64]
    n_comparing: tuple[int, ...]
    parts: tuple[tuple[Item, ...], ...]
    pairwise: NDArray[np.float64]
    reading: ReadingNotes | None = None

    @property
    def shares_won(self) -> tuple[float, ...]:
        """For each item, how often it is preferred when it is compared; NaN if it never is."""
        told = (self.wins + self.wins.T).sum(axis=1)
        won = self.wins.sum(axis=1)
        return tuple(np.divide(won, told, out=np.full(len(won), np.nan), where=told > 0).tolist())

    @property
    def never_compared(self) -> tuple[Item, ...]:
        """The items about which there is no answer."""
        pairs = zip(self.items, self.n_comparing, strict=True)
        return tuple(item for item, number in pairs if number == 0)

    @property
    def times_compared(self) -> NDArray[np.int64]:
        """How often each pair was compared, one number per pair of items."""
        numbers: NDArray[np.int64] = self.compared[np.triu_indices(len(self.items), k=1)]
        return numbers

    def best_first(self) -> list[int]:
        """Return the positions of the items in ``items``, those preferred most often first."""
        return [int(item) for item in np.argsort(-np.array(self.shares_won), kind="stable")]

    def heading(self) -> str:
        """Say in a few words how many answers there are, about how many items and by how many."""
        return (
            f"{counted(self.n_answers, 'answer')} about pairs of "
            f"{counted(len(self.items), 'item')}, by {counted(self.n_assessors, 'assessor')}"
        )

    def sentences(self) -> list[str]:
        """Say in words what the answers are, contradict and leave out."""
        told = [_about_assessors(self), _about_contradictions(self), _about_comparisons(self)]
        return [sentence for sentence in told if sentence]

    def _n_telling(self) -> NDArray[Any]:
        return self.wins + self.wins.T

    def _fields(self) -> dict[str, Any]:
        return {
            "n_assessors": self.n_assessors,
            "n_distinct": self.n_distinct,
            "n_answers": self.n_answers,
            "n_following": self.n_following,
            "cycles": self.cycles,
            "n_contradicting": self.n_contradicting,
            "n_both_ways": self.n_both_ways,
            "compared": self.compared.tolist(),
            "wins": self.wins.tolist(),
            "shares_won": [plain_number(share) for share in self.shares_won],
            "n_comparing": list(self.n_comparing),
            "parts": [[plain_item(item) for item in part] for part in self.parts],
            "never_compared": [plain_item(item) for item in self.never_compared],
            "reading": None if self.reading is None else self.reading.to_dict(),
        }


def describe_pairs(preferences: Preferences) -> PairsDescription:
    """Summarise pairwise answers."""
    direct = preferences.direct
    said = direct if preferences.times is None else preferences.times
    answers = said.sum(axis=0, dtype=np.int64)
    following = preferences.closure if preferences.times is None else transitive_closure(direct)
    wins = answers if preferences.times is not None else preferences.closure.sum(axis=0)
    told = wins + wins.T
    return PairsDescription(
        items=preferences.items,
        n_assessors=len(preferences),
        n_distinct=len(np.unique(said.reshape(len(said), -1), axis=0)),
        n_answers=int(answers.sum()),
        n_following=int(preferences.closure.sum() - direct.sum()),
        cycles=preferences.cycles,
        n_contradicting=int(np.diagonal(following, axis1=1, axis2=2).any(axis=1).sum()),
        n_both_ways=int((direct & direct.transpose(0, 2, 1)).sum()) // 2,
        compared=answers + answers.T,
        wins=wins,
        n_comparing=tuple((direct.any(axis=2) | direct.any(axis=1)).sum(axis=0).tolist()),
        parts=_parts(preferences.items, answers + answers.T > 0),
        pairwise=np.divide(wins, told, out=np.full(told.shape, np.nan), where=told > 0),
        reading=preferences.reading,
    )


def _parts(items: tuple[Item, ...], compared: NDArray[np.bool_]) -> tuple[tuple[Item, ...], ...]:
    """Return the items that comparisons connect, the largest part first."""
    connected = transitive_closure((compared | np.eye(len(items), dtype=np.bool_))[None])[0]
    rows = dict.fromkeys(map(tuple, connected.tolist()))
    parts = [tuple(item for item, inside in zip(items, row, strict=True) if inside) for row in rows]
    return tuple(sorted(parts, key=len, reverse=True))


def _about_assessors(description: PairsDescription) -> str:
    number, of_all = description.n_distinct, description.n_assessors
    sentence = f"The {of_all:,} assessors gave {number:,} different sets of answers."
    if of_all == 1:
        sentence = ""
    elif number == 1:
        sentence = "All assessors gave the same answers."
    elif number == of_all:
        sentence = "No two assessors gave the same answers."
    if description.n_following:
        verb = "follows" if description.n_following == 1 else "follow"
        sentence += (
            f" {counted(description.n_following, 'more pair')} {verb} from their answers, as a "
            "over c follows from a over b and b over c."
        )
    return sentence.strip()


def _about_contradictions(description: PairsDescription) -> str:
    if description.cycles == "error":
        return "Nobody contradicts themself."
    number = description.n_contradicting
    if number == 0:
        return "Any answer may be mistaken, but nobody contradicts themself."
    share = number / description.n_assessors
    sentence = (
        f"Any answer may be mistaken: {counted(number, 'assessor')} ({share:.0%}) "
        f"{'contradicts themself' if number == 1 else 'contradict themselves'}"
    )
    if description.n_both_ways:
        sentence += (
            f", {_times(description.n_both_ways)} by answering about the same pair both ways"
        )
    return f"{sentence}."


def _about_comparisons(description: PairsDescription) -> str:
    times = description.times_compared
    some = times[times > 0]
    low, middle, high = int(some.min()), float(np.median(some)), int(some.max())
    how_often = (
        f"each {_times(low)}"
        if low == high
        else (f"between {low:,} and {high:,} times, {middle:,.4g} in the median")
    )
    if len(times) == 1:
        return f"The only pair of items was compared {_times(low)}."
    which = "All" if len(some) == len(times) else f"{len(some):,} of the"
    sentence = f"{which} {len(times):,} pairs of items were compared, {how_often}."
    connected = [part for part in description.parts if len(part) > 1]
    if len(connected) > 1:
        named = "; ".join(_names(part) for part in connected)
        sentence += (
            f" The comparisons fall into {len(connected)} parts, between which the answers say "
            f"nothing: {named}."
        )
    elif len(some) < len(times) and not description.never_compared:
        sentence += " They connect all items, directly or through others."
    if description.never_compared:
        sentence += f" Never compared: {_names(description.never_compared)}."
    return sentence


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _names(items: tuple[Item, ...]) -> str:
    """Name items, if they are many the first of them."""
    if len(items) <= MOST_NAMED:
        return ", ".join(str(item) for item in items)
    first = ", ".join(str(item) for item in items[:MOST_NAMED])
    return f"{first} and {counted(len(items) - MOST_NAMED, 'other')}"
