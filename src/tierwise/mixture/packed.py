"""Distances of complete answers from tiers by counting bits, one for each pair of items."""

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.mixture import charge_pairs, count_pairs, pack_pairs
from tierwise._util.types import Places
from tierwise.distances import Distance
from tierwise.tiers import Sizes

# A word has room for so many pairs of items.
_MOST_PAIRS = 64


def applies(sizes: Sizes, distance: Distance) -> bool:
    """Tell whether a distance only counts pairs, of so few items that they fit into a word.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> applies((2, 2), get_distance("kendall")), applies((2, 2), get_distance("hamming"))
    (True, False)
    """
    rule, n_items = distance.rule(sizes), sum(sizes)
    return (
        n_items * (n_items - 1) // 2 <= _MOST_PAIRS
        and rule.misplaced == 1
        and rule.tied in (0, 1)
        and not rule.placing.any()
    )


class PackedAnswers:
    """Complete answers as bits: which of two items is in an earlier block of given sizes.

    Parameters
    ----------
    places
        ``[answer, item]``: the place of each item, counted from 0.
    sizes, distance
        Sizes of the tiers, and the distance, as `applies` wants it.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> places = np.array([[0, 1, 2], [2, 1, 0]], dtype=np.int32)
    >>> PackedAnswers(places, (1, 2), get_distance("kendall")).distances(np.array([0, 1, 1]))
    array([0., 2.])
    """

    def __init__(self, places: Places, sizes: Sizes, distance: Distance) -> None:
        self._rule = distance.rule(sizes)
        self._packed = pack_pairs(distance.block_of_place(sizes)[places])

    def distances(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distance of each answer from tiers, counted from 0."""
        charged = charge_pairs(labels, self._rule.misplaced, self._rule.tied)
        counts = count_pairs(self._packed, charged)
        return counts.astype(np.float64) * self._rule.unit
