"""What rankings look like before any model: how complete, mean ranks, who is ranked above whom."""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import NOT_LISTED, Item, Unranked
from tierwise._util.wording import counted, plain_number
from tierwise.data.describe_pairs import PairsDescription, describe_pairs
from tierwise.data.description import BaseDescription
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.data.showing import answer_in_words
from tierwise.files.notes import ReadingNotes


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
        What "not listed" means; None where every ranking is complete.
    n_listing
        For each item, the number of rankings that list it.
    mean_ranks
        For each item, its mean rank among the rankings that list it; NaN if none does. Tied items
        share the mean of the ranks they take up.
    pairwise
        ``pairwise[a, b]`` is the share of rankings that put item ``a`` above item ``b`` among those
        that put one above the other: ties say nothing, and an item not listed is below those listed
        or unknown, as ``unranked`` says. NaN on the diagonal and where no ranking says anything.
    first_answers
        The first two answers in words.
    reading
        How the file or data frame was understood that the rankings were read from; else None.
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
        """Say in a few words how many rankings there are, of how many items."""
        return f"{counted(self.n_rankings, 'ranking')} of {counted(len(self.items), 'item')}"

    def sentences(self) -> list[str]:
        """Say in words how many rankings differ, are complete and hold ties."""
        told = [_about_distinct(self), _about_completeness(self), _about_ties(self)]
        return [sentence for sentence in told if sentence]

    def best_first(self) -> list[int]:
        """Return the positions of the items in ``items``, best mean rank first."""
        return [int(item) for item in np.argsort(self.mean_ranks, kind="stable")]

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


@overload
def describe(data: Rankings | RankingScan) -> Description: ...
@overload
def describe(data: Preferences) -> PairsDescription: ...
def describe(data: Rankings | RankingScan | Preferences) -> Description | PairsDescription:
    """Summarise rankings: how complete they are, mean ranks, pairwise proportions.

    Parameters
    ----------
    data
        Rankings, complete or not, with or without ties, in memory or in files; or pairwise answers.

    Returns
    -------
    Description or PairsDescription
        The latter for pairwise answers: who was compared with whom how often, who was preferred,
        and what the answers contradict or leave out.

    Examples
    --------
    >>> description = describe(Rankings.from_orderings([["a", "b", "c"], ["a", "c", "b"]]))
    >>> description.mean_ranks
    (1.0, 2.5, 2.5)
    >>> description.pairwise[0].tolist()
    [nan, 1.0, 1.0]
    """
    answers = check_data(data, "describe", Rankings, Preferences)
    if isinstance(answers, Preferences):
        return describe_pairs(answers)
    return _describe_rankings(answers)


def _describe_rankings(rankings: Rankings) -> Description:
    patterns, weights = rankings.patterns, rankings.pattern_weights
    listed = patterns != NOT_LISTED
    wins = _wins(rankings)
    with np.errstate(invalid="ignore"):
        pairwise = wins / (wins + wins.T)
        # The rank of an item is the middle of the places that its tie takes up, counted from 1.
        tied = _group_sizes(rankings)
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


def _wins(rankings: Rankings) -> NDArray[np.float64]:
    """Return the weight of rankings that put one item (row) above another (column).

    As `tierwise.data.counts.pair_counts`, but without waiting for the compiler, which takes longer.
    """
    n_items = len(rankings.items)
    listed = rankings.patterns != NOT_LISTED
    # Below all that are listed is one more place; all items there are level with each other.
    places = np.where(listed, rankings.patterns, n_items)
    weights = rankings.pattern_weights.astype(np.float64)
    wins = np.empty((n_items, n_items))
    for item in range(n_items):
        above = places[:, [item]] < places
        if rankings.unranked == "anywhere":
            above &= listed
        wins[item] = weights @ above
    return wins


def _group_sizes(rankings: Rankings) -> NDArray[np.int64]:
    """Return how many items share the place of each item."""
    n_patterns, n_items = rankings.patterns.shape
    rows = np.arange(n_patterns)[:, None]
    occupied = np.zeros((n_patterns, n_items + 1), dtype=np.int64)
    np.add.at(occupied, (rows, rankings.patterns), 1)  # not listed, -1, is the last column
    sizes: NDArray[np.int64] = occupied[rows, rankings.patterns]
    return sizes


def _about_distinct(description: Description) -> str:
    if description.n_rankings == 1:
        return ""
    verb = "is" if description.n_distinct == 1 else "are"
    return f"{description.n_distinct:,} of them {verb} distinct."


def _about_completeness(description: Description) -> str:
    if description.unranked is None:
        return f"{'It' if description.n_rankings == 1 else 'Every ranking'} lists every item."
    meaning = {"below": "below all that are listed", "anywhere": "of unknown rank"}
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
