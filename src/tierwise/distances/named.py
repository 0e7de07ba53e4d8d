"""The distances by name: Kendall, inversions, Hamming, footrule and Spearman.

References
----------
D. E. Critchlow (1985). Metric Methods for Analyzing Partially Ranked Data. Springer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.distances.base import Costs, Distance, Rule
from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.data.counts import BlockCounts
    from tierwise.tiers.sizes import Sizes


class Kendall(Distance):
    """The number of pairs in different blocks that are reversed or tied in the tiers.

    This is Critchlow's extension of the number of inversions; a pair that is tied in the tiers but
    lies in different blocks counts too.
    """

    name = "kendall"
    description = "pairs in different blocks that are reversed or tied in the tiers"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge 1 for each such pair."""
        nothing = np.zeros((len(sizes), len(sizes)), dtype=np.int64)
        return Rule(misplaced=1, placing=nothing, unit=1.0, tied=1)


class Inversions(Distance):
    """The number of pairs of different tiers that are ranked in the wrong order.

    Pairs within a tier cost nothing, and places are not cut into blocks: every place is a block of
    its own. The model is the strict Mallows model in which the items of each tier are then
    shuffled among the places that the tier has got, and its partition function is a product of
    Gaussian binomials.
    """

    name = "inversions"
    description = "pairs of different tiers in the wrong order"

    def blocks(self, sizes: Sizes) -> Sizes:
        """Every place is a block of its own."""
        return (1,) * sum(sizes)

    def rule(self, sizes: Sizes) -> Rule:
        """Charge 1 for a reversed pair, and nothing for one that is tied in the tiers."""
        nothing = np.zeros((sum(sizes), len(sizes)), dtype=np.int64)
        return Rule(misplaced=1, placing=nothing, unit=1.0, tied=0)

    def costs(self, counts: BlockCounts, sizes: Sizes) -> Costs:
        """Total distance of complete orderings from tiers of given sizes.

        Costs charge ``above[a, b]`` also where ``a`` and ``b`` are tied. Of every two items one is
        above the other, so each tied pair is charged the number of rankings, and how many pairs are
        tied follows from the sizes: that much is taken off again, an equal part for each item.
        """
        n_items = sum(sizes)
        n_tied = sum(size * (size - 1) // 2 for size in sizes)
        taken_off = float(counts.n_rankings) * n_tied / n_items
        return Costs(
            linear=np.full((n_items, len(sizes)), -taken_off),
            pairs=counts.precedence.astype(np.float64),
        )


class Hamming(Distance):
    """The number of items that lie outside the block of their tier."""

    name = "hamming"
    description = "items outside the block of their tier"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item 1 in any block but its own."""
        n_tiers = len(sizes)
        elsewhere = 1 - np.eye(n_tiers, dtype=np.int64)
        return Rule(misplaced=0, placing=elsewhere, unit=1.0, tied=0)


class Footrule(Distance):
    """The sum over items of the distance between mean places of their block and their tier."""

    name = "footrule"
    description = "sum over items of how far the mean places of block and tier lie apart"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item the distance between mean places, which are halves of whole numbers."""
        doubled = _mean_places(sizes)
        return Rule(misplaced=0, placing=np.abs(doubled[:, None] - doubled), unit=0.5, tied=0)


class Spearman(Distance):
    """The sum over items of the squared distance between mean places of block and tier."""

    name = "spearman"
    description = "sum over items of the squared distance between mean places of block and tier"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item the square of a half of a whole number."""
        doubled = _mean_places(sizes)
        return Rule(misplaced=0, placing=(doubled[:, None] - doubled) ** 2, unit=0.25, tied=0)


def _mean_places(sizes: Sizes) -> npt.NDArray[np.int64]:
    """Twice the mean place of each block, places counted from 0, which is a whole number."""
    ends = np.cumsum(np.array(sizes, dtype=np.int64))
    starts = ends - np.array(sizes, dtype=np.int64)
    return starts + ends - 1


# All that there are: a new distance is a class above and its name here.
_KNOWN: dict[str, Distance] = {
    kind.name: kind() for kind in (Footrule, Hamming, Inversions, Kendall, Spearman)
}


def distance_names() -> tuple[str, ...]:
    """Names of the distances there are.

    Examples
    --------
    >>> distance_names()
    ('footrule', 'hamming', 'inversions', 'kendall', 'spearman')
    """
    return tuple(sorted(_KNOWN))


def get_distance(distance: str | Distance) -> Distance:
    """Return the distance of this name; a distance is returned as it is.

    Examples
    --------
    >>> get_distance("kendall")
    <distance kendall: pairs in different blocks that are reversed or tied in the tiers>
    """
    if isinstance(distance, Distance):
        return distance
    if not isinstance(distance, str) or distance not in _KNOWN:
        raise InputError(
            f"there is no distance {distance!r}: use one of " + ", ".join(distance_names())
        )
    return _KNOWN[distance]
