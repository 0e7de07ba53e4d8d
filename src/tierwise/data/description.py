"""What is said of rankings before any model, and what all descriptions have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card
from tierwise._util.checks import check_count
from tierwise._util.results import Result
from tierwise._util.types import Item, Unranked, plain_item, plain_number
from tierwise.errors import counted
from tierwise.files.options import ReadingNotes


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
