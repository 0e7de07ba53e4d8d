"""What descriptions of rankings and of pairwise answers have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_count
from tierwise._util.types import Item
from tierwise._util.wording import plain_item, plain_number


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


class BaseDescription(ABC):
    """A summary of answers of any kind.

    Attributes
    ----------
    items : tuple
        The items.
    pairwise : numpy.ndarray
        ``pairwise[a, b]`` is the share of answers that put item ``a`` above item ``b``; NaN where
        none tells.
    """

    items: tuple[Item, ...]
    pairwise: NDArray[np.float64]

    @abstractmethod
    def heading(self) -> str:
        """Say in a few words how many answers there are, about how many items."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """Say in words what the answers are, and what they leave out."""

    @abstractmethod
    def best_first(self) -> list[int]:
        """Return the positions of the items in ``items``, the best first."""

    @abstractmethod
    def _n_telling(self) -> NDArray[Any]:
        """Return how many answers tell about each two items, to order pairs of the same share."""

    @abstractmethod
    def _fields(self) -> dict[str, Any]:
        """Return what only this kind of description has, as plain values."""

    def closest_pairs(self, count: int = 5) -> list[Pair]:
        """Return the pairs on which opinion is most evenly split, the closest first.

        Parameters
        ----------
        count
            The most pairs to return. Of pairs that are equally close, those about which most
            answers tell come first.

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
