"""Describe data before any model: completeness, mean ranks, pairwise shares."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card
from tierwise._util.checks import check_count
from tierwise._util.results import Result
from tierwise._util.types import NOT_LISTED, Cycles, Item, Unranked, plain_item, plain_number
from tierwise.data.battles import Battles
from tierwise.data.connection import parts_of
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences, transitive_closure
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.data.showing import answer_in_words
from tierwise.errors import counted
from tierwise.files.options import ReadingNotes
from tierwise.files.places import first_places, sizes_of_groups

# Items that a sentence names; of more it says how many there are.
MOST_NAMED = 12


@dataclass(frozen=True)
class Pair:
    """Two items, and the share of answers that rank the first above the second.

    Attributes
    ----------
    above, below
        The items.
    share
        The share.
    """

    above: Item
    below: Item
    share: float


class BaseDescription(Result, ABC):
    """A summary of answers of any kind.

    Attributes
    ----------
    items : tuple
        The items.
    pairwise : numpy.ndarray
        ``pairwise[a, b]`` is the share of answers that put item ``a`` above item ``b``; NaN if
        there is none.
    """

    items: tuple[Item, ...]
    pairwise: NDArray[np.float64]

    def _card(self) -> Card:
        cells = [
            (str(pair.above), str(pair.below), f"{pair.share:.1%}") for pair in self.closest_pairs()
        ]
        return Card(
            self.heading(),
            table=(("closest to even", "", ""), cells),
            note=" ".join(self.sentences()),
        )

    @abstractmethod
    def columns(self) -> dict[str, list[Any]]:
        """Return a table of the items, best first."""

    @abstractmethod
    def heading(self) -> str:
        """Return the number of answers and items in words."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """Describe the answers in sentences, and what they leave out."""

    @abstractmethod
    def best_first(self) -> list[int]:
        """Return the positions of the items in ``items``, the best first."""

    @abstractmethod
    def _n_telling(self) -> NDArray[Any]:
        """Return how many answers are about each pair of items, to order pairs of equal share."""

    @abstractmethod
    def _fields(self) -> dict[str, Any]:
        """Return what only this kind of description has, as plain values."""

    def closest_pairs(self, count: int = 5) -> list[Pair]:
        """Return the pairs on which opinion is most evenly split, the closest first.

        Parameters
        ----------
        count
            The most pairs to return. Among equally close pairs, those with the most answers come
            first.

        Examples
        --------
        >>> from tierwise import describe, load_political_goals
        >>> [pair] = describe(load_political_goals()).closest_pairs(1)
        >>> pair.above, pair.below, round(pair.share, 2)
        ('prices', 'order', 0.53)
        """
        check_count("count", count, least=0)
        pairwise = self.pairwise
        first, second = np.triu_indices(len(self.items), k=1)
        distance = np.abs(pairwise[first, second] - 0.5)
        pairs = []
        for closest in np.lexsort((-self._n_telling()[first, second], distance))[:count].tolist():
            if np.isnan(distance[closest]):
                break
            above, below = int(first[closest]), int(second[closest])
            if pairwise[above, below] < 0.5:
                above, below = below, above
            share = float(pairwise[above, below])
            pairs.append(Pair(self.items[above], self.items[below], share))
        return pairs

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, as in JSON; None stands for NaN."""
        return {
            "items": [plain_item(item) for item in self.items],
            **self._fields(),
            "pairwise": [[plain_number(share) for share in row] for row in self.pairwise.tolist()],
            "closest_pairs": [
                {
                    "above": plain_item(pair.above),
                    "below": plain_item(pair.below),
                    "share": pair.share,
                }
                for pair in self.closest_pairs()
            ],
        }


@dataclass(frozen=True, eq=False)
class Description(BaseDescription):
    """A summary of rankings; `describe` makes it.

    Attributes
    ----------
    items
        The items.
    n_rankings
        The number of rankings, the sum of their weights.
    n_distinct
        The number of different answers.
    n_complete
        The number of rankings that list every item.
    n_with_ties
        The number of rankings with ties.
    mean_listed
        The mean number of items that a ranking lists.
    unranked
        What "not listed" means; None if every ranking is complete.
    n_listing
        For each item, the number of rankings that list it.
    mean_ranks
        For each item, its mean rank among the rankings that list it; NaN if none does. Tied items
        share the mean of the ranks they take up.
    pairwise
        ``pairwise[a, b]`` is the share of rankings that put item ``a`` above item ``b`` among those
        that order the two: ties do not count, and an item not listed is below the listed ones or
        unknown, as ``unranked`` says. NaN on the diagonal and if no ranking orders the two.
    first_answers
        The first two answers in words.
    reading
        How the file or data frame was read; None if the rankings come from elsewhere.
    """

    items: tuple[Item, ...]
    n_rankings: int | float
    n_distinct: int
    n_complete: int | float
    n_with_ties: int | float
    mean_listed: float
    unranked: Unranked | None
    n_listing: tuple[int | float, ...]
    mean_ranks: tuple[float, ...]
    pairwise: NDArray[np.float64]
    first_answers: tuple[str, ...] = ()
    reading: ReadingNotes | None = None

    def heading(self) -> str:
        """Return the number of rankings and items in words."""
        return f"{counted(self.n_rankings, 'ranking')} of {counted(len(self.items), 'item')}"

    def sentences(self) -> list[str]:
        """Say how many rankings are distinct, complete and tied."""
        sentences = [_about_distinct(self), _about_completeness(self), _about_ties(self)]
        return [sentence for sentence in sentences if sentence]

    def best_first(self) -> list[int]:
        """Return the positions of the items in ``items``, best mean rank first."""
        return [int(item) for item in np.argsort(self.mean_ranks, kind="stable")]

    def columns(self) -> dict[str, list[Any]]:
        """Return the mean rank of each item and how many rankings list it, best first."""
        order = self.best_first()
        return {
            "item": [plain_item(self.items[place]) for place in order],
            "mean_rank": [plain_number(self.mean_ranks[place]) for place in order],
            "listed_by": [self.n_listing[place] for place in order],
        }

    def _n_telling(self) -> NDArray[Any]:
        # Nearly all rankings tell about nearly all pairs.
        return np.zeros_like(self.pairwise)

    def _fields(self) -> dict[str, Any]:
        return {
            "n_rankings": self.n_rankings,
            "n_distinct": self.n_distinct,
            "n_complete": self.n_complete,
            "n_with_ties": self.n_with_ties,
            "mean_listed": self.mean_listed,
            "unranked": self.unranked,
            "n_listing": list(self.n_listing),
            "mean_ranks": [plain_number(rank) for rank in self.mean_ranks],
            "first_answers": list(self.first_answers),
            "reading": None if self.reading is None else self.reading.to_dict(),
        }


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


@overload
def describe(data: Battles) -> BattlesDescription: ...


@overload
def describe(data: Rankings | RankingScan) -> Description: ...


@overload
def describe(data: Preferences) -> PairsDescription: ...


def describe(
    data: Rankings | RankingScan | Preferences | Battles,
) -> Description | PairsDescription | BattlesDescription:
    """Summarise data: how complete answers are, mean ranks, pairwise shares.

    Parameters
    ----------
    data
        Rankings, complete or not, with or without ties, in memory or in files; or pairwise answers,
        or battles.

    Returns
    -------
    Description, PairsDescription or BattlesDescription
        The latter two are for pairwise answers and battles: how often items were compared and
        preferred, which groups of items never met, contradictions, and what the answers leave out.

    Examples
    --------
    >>> description = describe(Rankings.from_orderings([["a", "b", "c"], ["a", "c", "b"]]))
    >>> description.mean_ranks
    (1.0, 2.5, 2.5)
    >>> description.pairwise[0].tolist()
    [nan, 1.0, 1.0]
    """
    answers = check_data(data, "describe", Rankings, Preferences, Battles)
    return _describe(answers)


@singledispatch
def _describe(
    data: Rankings | Preferences | Battles,
) -> Description | PairsDescription | BattlesDescription:
    raise TypeError(f"{data.unit} are not described")


@_describe.register(Rankings)
def _describe_rankings(rankings: Rankings) -> Description:
    patterns, weights = rankings.patterns, rankings.pattern_weights
    listed = patterns != NOT_LISTED
    wins = rankings.pair_counts
    with np.errstate(invalid="ignore"):
        pairwise = wins / (wins + wins.T)
        # The rank of an item is the middle of the places that its tie takes up, counted from 1.
        tied = sizes_of_groups(first_places(patterns))
        ranks = np.where(listed, patterns + (tied + 1) / 2, 0.0)
        mean_ranks = weights @ ranks / (weights @ listed)
    return Description(
        items=rankings.items,
        n_rankings=rankings.n_rankings,
        n_distinct=len(patterns),
        n_complete=weights[listed.all(axis=1)].sum().item(),
        n_with_ties=weights[((tied > 1) & listed).any(axis=1)].sum().item(),
        mean_listed=float(weights @ listed.sum(axis=1) / rankings.n_rankings),
        unranked=rankings.unranked,
        n_listing=tuple((weights @ listed).tolist()),
        mean_ranks=tuple(mean_ranks.tolist()),
        pairwise=pairwise,
        first_answers=tuple(answer_in_words(rankings, row) for row in range(len(rankings))[:2]),
        reading=rankings.reading,
    )


def _about_distinct(description: Description) -> str:
    if description.n_rankings == 1:
        return ""
    verb = "is" if description.n_distinct == 1 else "are"
    return f"{description.n_distinct:,} of them {verb} distinct."


def _about_completeness(description: Description) -> str:
    if description.unranked is None:
        return f"{'It' if description.n_rankings == 1 else 'Every ranking'} lists every item."
    meaning = {"below": "below all listed items", "anywhere": "of unknown rank"}
    share = description.n_complete / description.n_rankings
    verb = "is" if description.n_complete == 1 else "are"
    return (
        f"{description.n_complete:,} ({share:.0%}) {verb} complete; on average a ranking lists "
        f"{description.mean_listed:.1f} items. Items not listed are "
        f"{meaning[description.unranked]}."
    )


def _about_ties(description: Description) -> str:
    if not description.n_with_ties:
        return ""
    share = description.n_with_ties / description.n_rankings
    verb = "holds" if description.n_with_ties == 1 else "hold"
    return f"{description.n_with_ties:,} ({share:.0%}) {verb} ties."


@_describe.register(Preferences)
def describe_pairs(preferences: Preferences) -> PairsDescription:
    """Summarise pairwise answers."""
    direct = preferences.direct
    said = direct if preferences.times is None else preferences.times
    answers = said.sum(axis=0, dtype=np.int64)
    following = preferences.closure if preferences.times is None else transitive_closure(direct)
    wins = answers if preferences.times is not None else preferences.closure.sum(axis=0)
    compared = wins + wins.T
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
        parts=parts_of(preferences),
        pairwise=np.divide(wins, compared, out=np.full(compared.shape, np.nan), where=compared > 0),
        reading=preferences.reading,
    )


@_describe.register(Battles)
def describe_battles(battles: Battles) -> BattlesDescription:
    """Summarise battles.

    Examples
    --------
    >>> rows = [("x", "y", "x"), ("x", "y", "tie"), ("z", "w", "z")]
    >>> found = describe_battles(Battles.from_rows(rows))
    >>> found.parts, found.never_lost, found.never_won
    ((('w', 'z'), ('x', 'y')), ('z',), ('w',))
    >>> found.sentences()[1]
    '1 battle (33%) ended in a draw.'
    """
    wins = battles.decided + battles.drawn / 2
    met = wins + wins.T
    n_battles = float(battles.decided.sum()) + battles.n_drawn
    return BattlesDescription(
        items=battles.items,
        n_assessors=battles.n_judges or 0,
        n_distinct=0,
        n_answers=_whole(n_battles),
        n_following=0,
        cycles="keep",
        n_contradicting=0,
        n_both_ways=0,
        compared=met,
        wins=wins,
        n_comparing=tuple(map(_whole, met.sum(axis=1).tolist())),
        parts=parts_of(battles),
        pairwise=np.divide(wins, met, out=np.full(met.shape, np.nan), where=met > 0),
        reading=battles.reading,
        n_drawn=_whole(battles.n_drawn),
    )


def _whole(number: float) -> Any:
    """Write a number without decimals if it has none."""
    return int(number) if number == int(number) else number


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
