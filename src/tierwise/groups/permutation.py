"""Permutation tests: how often shuffled values make groups that differ as much.

Evidence trusts the model, in which people differ from each other by chance only. Where they differ
in ways that nobody asked about, groups made at random differ more than the model expects. So what
evidence calls a difference is also compared with what dealing out the values again gives, as
conditional inference trees do (Hothorn, Hornik and Zeileis, J. Comput. Graph. Stat. 15, 2006).
Compared are the shares of people who rank one item above another, over all pairs of items; of many
items, their mean places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import NOT_LISTED
from tierwise.files.places import first_places

if TYPE_CHECKING:
    from tierwise.data.rankings import Rankings

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]

PERMUTATIONS = 199
LEVEL = 0.05
_MOST_ITEMS_IN_PAIRS = 25


@dataclass(frozen=True, eq=False)
class Statements:
    """What each answer says, as numbers whose means groups are compared by.

    Attributes
    ----------
    values
        One row per answer, times its weight: for each pair of items 1 if the first is above, -1 if
        it is below; or the place of each item.
    weights
        The weight of each answer.
    """

    values: _Floats
    weights: _Floats

    @classmethod
    def of(cls, rankings: Rankings) -> Statements:
        """Collect what answers say."""
        places = rankings.places.astype(np.float64)
        listed = places != NOT_LISTED
        if rankings.unranked != "anywhere":
            # An item that is not listed is below all that are.
            places, listed = first_places(rankings.places).astype(np.float64), listed | True
        weights = rankings.weights.astype(np.float64)
        if len(rankings.items) <= _MOST_ITEMS_IN_PAIRS:
            one, other = np.triu_indices(len(rankings.items), k=1)
            said = np.sign(places[:, other] - places[:, one]) * listed[:, one] * listed[:, other]
        else:
            # Items of unknown rank are in the middle.
            n_listed = np.maximum(listed.sum(axis=1, keepdims=True), 1)
            said = np.where(listed, places / n_listed, (n_listed - 1) / (2 * n_listed))
        return cls((said - said.mean(axis=0)) * weights[:, None], weights)

    def take(self, rows: _Integers) -> Statements:
        """Return those of some answers."""
        return Statements(self.values[rows], self.weights[rows])

    def totals(self, member: _Integers, n_groups: int) -> tuple[_Floats, _Floats]:
        """Sum what groups say (one row each), and their weights; a member of -1 is in no group."""
        # Sums of sorted rows, not a product of matrices: libraries for these use all processors.
        order = np.argsort(member, kind="stable")
        numbers = np.bincount(member + 1, minlength=n_groups + 1)
        starts = np.cumsum(numbers)[:-1][numbers[1:] > 0]
        totals = np.zeros((n_groups, self.values.shape[1]))
        if len(starts):
            totals[numbers[1:] > 0] = np.add.reduceat(self.values[order], starts, axis=0)
        inside = member >= 0
        sizes = np.bincount(member[inside], self.weights[inside], minlength=n_groups)
        return totals, sizes.astype(np.float64)


def difference(totals: _Floats, sizes: _Floats) -> float:
    """Tell how much groups differ: the sum of squares between them.

    Examples
    --------
    >>> difference(np.array([[4.0], [0.0]]), np.array([4.0, 4.0]))
    2.0
    """
    filled = sizes > 0
    means = totals[filled] / sizes[filled, None]
    centre = totals[filled].sum(axis=0) / sizes[filled].sum()
    return float((sizes[filled, None] * (means - centre) ** 2).sum())


def p_value_of_groups(
    statements: Statements,
    member: _Integers,
    n_groups: int,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> float:
    """Return how often shuffled groups differ as much, the observed ones counted in."""
    observed = difference(*statements.totals(member, n_groups))
    as_much = sum(
        difference(*statements.totals(rng.permutation(member), n_groups)) >= observed
        for _ in range(permutations)
    )
    return (1 + as_much) / (1 + permutations)
