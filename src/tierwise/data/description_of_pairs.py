"""What is said of pairwise answers and battles before any model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import Cycles, Item, plain_item, plain_number
from tierwise.data.description import BaseDescription
from tierwise.errors import counted
from tierwise.files.options import ReadingNotes

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
        The number of pairs that follow from answers of the same assessor; 0 if answers may be
        mistaken, because then nothing follows.
    cycles
        "keep" if answers may be mistaken.
    n_contradicting
        The number of assessors whose answers contradict each other.
    n_both_ways
        How often an assessor answered about the same pair both ways.
    compared
        ``compared[a, b]`` is the number of answers about items ``a`` and ``b``.
    wins
        ``wins[a, b]`` is how often ``a`` is preferred to ``b``, including what follows from other
        answers.
    n_comparing
        For each item, the number of assessors who compared it with another.
    parts
        The items that comparisons connect, directly or through others; the largest part first. The
        answers say nothing about items of different parts.
    pairwise
        How often the row is preferred to the column, among those who compared them; NaN if nobody
        did.
    reading
        How the file was read; None if the answers come from elsewhere.
    """

    items: tuple[Item, ...]
    n_assessors: int
    n_distinct: int
    n_answers: int
    n_following: int
    cycles: Cycles
    n_contradicting: int
    n_both_ways: int
    compared: NDArray[Any]
    wins: NDArray[Any]
    n_comparing: tuple[int, ...]
    parts: tuple[tuple[Item, ...], ...]
    pairwise: NDArray[np.float64]
    reading: ReadingNotes | None = None

    @property
    def shares_won(self) -> tuple[float, ...]:
        """For each item, the share of its comparisons that it wins; NaN if it has none."""
        compared: NDArray[Any] = (self.wins + self.wins.T).sum(axis=1)
        won = self.wins.sum(axis=1)
        return tuple(
            np.divide(won, compared, out=np.full(len(won), np.nan), where=compared > 0).tolist()
        )

    @property
    def never_compared(self) -> tuple[Item, ...]:
        """The items without any answer."""
        pairs = zip(self.items, self.n_comparing, strict=True)
        return tuple(item for item, number in pairs if number == 0)

    @property
    def times_compared(self) -> NDArray[Any]:
        """How often each pair was compared, one number per pair of items."""
        numbers: NDArray[Any] = self.compared[np.triu_indices(len(self.items), k=1)]
        return numbers

    def best_first(self) -> list[int]:
        """Return the positions of the items in ``items``, those preferred most often first."""
        return [int(item) for item in np.argsort(-np.array(self.shares_won), kind="stable")]

    def heading(self) -> str:
        """Return the number of answers, items and assessors in words."""
        return (
            f"{counted(self.n_answers, 'answer')} about pairs of "
            f"{counted(len(self.items), 'item')}, by {counted(self.n_assessors, 'assessor')}"
        )

    def sentences(self) -> list[str]:
        """Describe the answers in sentences: contradictions, and what they leave out."""
        sentences = [_about_assessors(self), _about_contradictions(self), _about_comparisons(self)]
        return [sentence for sentence in sentences if sentence]

    def columns(self) -> dict[str, list[Any]]:
        """Return how often each item is preferred and its number of answers, best first."""
        order, shares, n_compared = self.best_first(), self.shares_won, self.compared.sum(axis=1)
        return {
            "item": [plain_item(self.items[place]) for place in order],
            "share_preferred": [plain_number(shares[place]) for place in order],
            "answers": [int(n_compared[place]) for place in order],
            "assessors": [self.n_comparing[place] for place in order],
        }

    def _n_telling(self) -> NDArray[Any]:
        compared: NDArray[Any] = self.wins + self.wins.T
        return compared

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


@dataclass(frozen=True, eq=False, repr=False)
class BattlesDescription(PairsDescription):
    """A description of battles: who met whom, who won, and what remains unknown.

    ``n_assessors`` is the number of judges (0 if they are not known), ``n_comparing`` the number of
    battles of each item, and ``wins`` counts a drawn battle half to each side.

    Attributes
    ----------
    n_drawn
        The number of drawn battles.
    """

    n_drawn: float = 0.0

    @property
    def never_lost(self) -> tuple[Item, ...]:
        """Items that never lost or drew: how far above others they are is unknown."""
        return self._items_without(self.wins.sum(axis=0))

    @property
    def never_won(self) -> tuple[Item, ...]:
        """Items that never won or drew."""
        return self._items_without(self.wins.sum(axis=1))

    def _items_without(self, numbers: NDArray[Any]) -> tuple[Item, ...]:
        there = np.array(self.n_comparing) > 0
        return tuple(self.items[number] for number in np.flatnonzero((numbers == 0) & there))

    def heading(self) -> str:
        """Return the number of battles, items and judges in words."""
        text = f"{counted(self.n_answers, 'battle')} of {counted(len(self.items), 'item')}"
        return f"{text}, by {counted(self.n_assessors, 'judge')}" if self.n_assessors else text

    def sentences(self) -> list[str]:
        """Describe the battles in sentences, and what remains unknown."""
        sentences = [_about_comparisons(self)]
        if self.n_drawn:
            share = self.n_drawn / self.n_answers
            sentences.append(f"{counted(self.n_drawn, 'battle')} ({share:.0%}) ended in a draw.")
        for said, items in (("lost", self.never_lost), ("won", self.never_won)):
            if items:
                sentences.append(
                    f"Never {said}: {_names(items)}. How far they are from the others depends "
                    "on the prior."
                )
        return sentences

    def _fields(self) -> dict[str, Any]:
        return {
            **super()._fields(),
            "n_drawn": self.n_drawn,
            "never_lost": [plain_item(item) for item in self.never_lost],
            "never_won": [plain_item(item) for item in self.never_won],
        }


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
            f" {counted(description.n_following, 'more pair')} {verb} from their answers: a "
            "over b and b over c imply a over c."
        )
    return sentence.strip()


def _about_contradictions(description: PairsDescription) -> str:
    if description.cycles == "error":
        return "Nobody contradicts themselves."
    number = description.n_contradicting
    if number == 0:
        return "Any answer may be mistaken, but nobody contradicts themselves."
    share = number / description.n_assessors
    sentence = (
        f"Any answer may be mistaken: {counted(number, 'assessor')} ({share:.0%}) "
        f"{'contradicts' if number == 1 else 'contradict'} themselves"
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
            f" The items fall into {len(connected)} groups that were never compared with each "
            f"other: {named}."
        )
    elif len(some) < len(times) and not description.never_compared:
        sentence += " All items are connected, directly or through others."
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
