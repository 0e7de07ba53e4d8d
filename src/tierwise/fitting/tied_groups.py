"""Places within tied groups, in closed form: for inversions, and answers that leave only ties open.

Where reversed pairs are all that a distance charges, tied groups of an answer are ordered
independently of each other, each as if its items were all there are: what their order costs
together with other groups is the same whatever it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.answers.races import blocks_of_places
from tierwise.partition.gaussian import rank_tier_probabilities

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.answers.base import Floats, Labels


class TiedGroups:
    """The tied groups of answers; every item of every answer is in one.

    Parameters
    ----------
    first
        ``first[answer, item]``: the first place of the item's tied group.

    Examples
    --------
    >>> groups = TiedGroups(np.array([[0, 1, 1]], dtype=np.int32))
    >>> places = np.zeros((1, 3, 3))
    >>> groups.add_places(np.array([0, 0, 1]), np.array([1.0]), 1.0, places)
    >>> places.round(4)
    array([[[1.    , 0.    , 0.    ],
            [0.    , 0.7311, 0.2689],
            [0.    , 0.2689, 0.7311]]])
    """

    def __init__(self, first: Places) -> None:
        self.n_answers, self.n_items = first.shape
        self._items, starts, _ = blocks_of_places(first, rest_is_below=False)
        self._sizes = np.diff(starts)
        # All items of all answers, in order: group, answer, and first place of the group.
        self._group = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self._answer = np.repeat(np.arange(self.n_answers), self.n_items)
        self._first = np.repeat(starts[:-1], self._sizes) - self._answer * self.n_items

    def compositions(self, labels: Labels) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return how many items of each tier are in a group: each case once, and that of groups."""
        n_tiers = int(labels.max()) + 1
        cells = self._group * n_tiers + labels[self._items]
        counts = np.bincount(cells, minlength=len(self._sizes) * n_tiers)
        cases, which = np.unique(counts.reshape(-1, n_tiers), axis=0, return_inverse=True)
        return cases, which.ravel()

    def add_places(self, labels: Labels, thetas: Floats, share: float, places: Floats) -> None:
        """Add the probabilities of places under a model.

        Parameters
        ----------
        labels, thetas
            Tier of each item, and theta of each tier; that of the last one is not used.
        share
            What the probabilities are multiplied by.
        places
            ``places[answer, item, place]``.
        """
        cases, which = self.compositions(labels)
        case_of_item = which[self._group]
        order = np.argsort(case_of_item, kind="stable")
        ends = np.cumsum(np.bincount(case_of_item, minlength=len(cases)))
        for sizes, rows in zip(cases, np.split(order, ends[:-1]), strict=True):
            tiers = np.flatnonzero(sizes)
            table = rank_tier_probabilities(sizes[tiers].tolist(), thetas[tiers[:-1]])
            of_tier = np.zeros((len(sizes), len(table)))
            of_tier[tiers] = share * (table / sizes[tiers]).T
            items = self._items[rows]
            columns = self._first[rows, None] + np.arange(len(table))
            places[self._answer[rows, None], items[:, None], columns] += of_tier[labels[items]]
