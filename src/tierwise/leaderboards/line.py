"""The cut below the best k of a leaderboard: who is in, who is out, and who draws lots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.results import Result
from tierwise._util.types import plain_item
from tierwise.errors import InputError, counted, listed, share_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise._util.types import Item

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Line(Result):
    """Which items are or may be among the best k; `Leaderboard.line` makes it.

    Attributes
    ----------
    k : int
        Number of places.
    certainty : float
        A statement is certain if it has at least this probability.
    inside : tuple
        Items of the tiers above the line.
    lots : tuple
        Items of the tier that the line cuts through: they would have to draw lots. Empty if the
        line lies between two tiers.
    places : int
        How many of them get a place.
    outside : tuple
        Items of the tiers below the line.
    probabilities : tuple of float
        Probability of being among the best k, for each item in the order of the leaderboard; items
        that are tied across the line share its places.
    surely_inside, surely_outside : tuple
        Items that are, or are not, among the best k with at least the certainty.
    lots_probability : float
        Probability that a tier lies across the line, so lots must be drawn.
    """

    k: int
    certainty: float
    inside: tuple[Item, ...]
    lots: tuple[Item, ...]
    places: int
    outside: tuple[Item, ...]
    probabilities: tuple[float, ...]
    surely_inside: tuple[Item, ...]
    surely_outside: tuple[Item, ...]
    lots_probability: float

    def summary(self) -> str:
        """Return in words who is in, who is out, and who would draw lots."""
        sentences = []
        if self.inside:
            sentences.append(f"In: {listed(self.inside)}.")
        if self.lots:
            sentences.append(
                f"{listed(self.lots)} are tied and would draw lots for "
                f"{counted(self.places, 'place')}."
            )
        sentences.append(
            f"The probability that lots must be drawn is {share_in_words(self.lots_probability)}."
        )
        undecided = len(self.probabilities) - len(self.surely_inside) - len(self.surely_outside)
        sure = share_in_words(self.certainty)
        sentences.append(
            f"With at least {sure} probability, {len(self.surely_inside):,} of the best "
            f"{self.k:,} are in and {len(self.surely_outside):,} are out; {undecided:,} "
            "are undecided."
        )
        return " ".join(sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        named = ("inside", "lots", "outside", "surely_inside", "surely_outside")
        return {
            "k": self.k,
            "certainty": self.certainty,
            "places": self.places,
            "probabilities": list(self.probabilities),
            "lots_probability": self.lots_probability,
            **{name: [plain_item(one) for one in getattr(self, name)] for name in named},
        }


def line_of(
    k: int,
    items: Sequence[Item],
    tiers: Sequence[int],
    rank_probabilities: NDArray[np.float64],
    cut_probabilities: NDArray[np.float64],
    certainty: float,
) -> Line:
    """Draw the line below the best k.

    Parameters
    ----------
    k
        Number of places.
    items, tiers
        The items, best first, and their tiers.
    rank_probabilities, cut_probabilities
        As a leaderboard has them.
    certainty
        A statement is certain if it has at least this probability.
    """
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k < len(items):
        raise InputError(
            f"k must be at least 1 and less than the number of items, {len(items)}; got {k}"
        )
    labels = np.asarray(tiers)
    across = labels[k - 1] if labels[k - 1] == labels[k] else -1
    shares = np.minimum(rank_probabilities[:, :k].sum(axis=1), 1.0)

    def those(which: NDArray[np.bool_]) -> tuple[Item, ...]:
        return tuple(items[number] for number in np.flatnonzero(which).tolist())

    above = (np.arange(len(items)) < k) & (labels != across)
    return Line(
        k=k,
        certainty=certainty,
        inside=those(above),
        lots=those(labels == across),
        places=k - int(above.sum()),
        outside=those((np.arange(len(items)) >= k) & (labels != across)),
        probabilities=tuple(shares.tolist()),
        surely_inside=those(shares >= certainty - _ROUNDING),
        surely_outside=those(shares <= 1.0 - certainty + _ROUNDING),
        lots_probability=1.0 - float(cut_probabilities[k - 1]),
    )
