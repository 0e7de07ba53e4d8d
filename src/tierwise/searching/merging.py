"""The start of a search: the paper's merging of items with nearly even preferences."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.checks import check_number
from tierwise._util.results import Result
from tierwise._util.types import Item, plain_item
from tierwise.data.kinds import Data, check_data
from tierwise.errors import InputError, counted
from tierwise.tiers import Sizes

Group = tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class MergingStep(Result):
    """Two groups of items that are merged, and what the groups looked like before.

    Attributes
    ----------
    first, second
        The two groups.
    share
        How often the items of the first are ranked above those of the second.
    groups
        All groups before the merge.
    items
        The items in the order of ``wins``.
    wins
        ``wins[a, b]``: how often item a is ranked above item b. All steps share it, because one
        matrix per step would take memory that grows with the cube of the number of items.
    """

    first: Group
    second: Group
    share: float
    groups: tuple[Group, ...]
    items: tuple[Item, ...]
    wins: NDArray[np.float64]

    @property
    def proportions(self) -> NDArray[np.float64]:
        """How often items of each group are ranked above those of each other; NaN if unknown."""
        position = {item: number for number, item in enumerate(self.items)}
        order = [position[item] for group in self.groups for item in group]
        starts = np.cumsum([0, *(len(group) for group in self.groups[:-1])])
        by_row = np.add.reduceat(self.wins[np.ix_(order, order)], starts, axis=0)
        return _proportions(np.add.reduceat(by_row, starts, axis=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the merge as plain values, as in JSON."""
        return {
            "first": [plain_item(item) for item in self.first],
            "second": [plain_item(item) for item in self.second],
            "share": self.share,
        }


@dataclass(frozen=True, eq=False)
class Merging(Result):
    """Items merged into groups while opinion between two groups is nearly even.

    Attributes
    ----------
    tolerance
        Groups are merged if the share of one above the other is closer than this to a half.
    steps
        The merges, in the order they were made.
    groups
        The groups at the end, the most preferred first.
    proportions
        How often items of each group are ranked above those of each other.
    """

    tolerance: float
    steps: tuple[MergingStep, ...]
    groups: tuple[Group, ...]
    proportions: NDArray[np.float64]

    @property
    def sizes(self) -> Sizes:
        """Sizes of the groups in order of preference."""
        return tuple(len(group) for group in self.groups)

    @property
    def sizes_by_size(self) -> Sizes:
        """Sizes of the groups, the smallest first: the paper's choice."""
        return tuple(sorted(self.sizes))

    def _card(self) -> Card:
        title = f"Near-even pairs merged in {counted(len(self.steps), 'step')}"
        facts = [("tolerance", f"{self.tolerance:.3g}")]
        return Card(title, facts, [Section(rows_of(self.groups))])

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the matrices as plain values, as in JSON."""
        return {
            "tolerance": self.tolerance,
            "steps": [step.to_dict() for step in self.steps],
            "groups": [[plain_item(item) for item in group] for group in self.groups],
            "sizes": list(self.sizes),
        }


def merge_even_pairs(data: Data, tolerance: float | None = None) -> Merging:
    """Merge the two items or groups with the most even preferences, until none are nearly even.

    Parameters
    ----------
    data
        The rankings, or counts of them.
    tolerance
        Two groups may be merged if the share of rankings with one above the other is closer than
        this to a half. The default is ``sqrt(0.5 / q)`` for ``q`` rankings, at most 0.5.

    Examples
    --------
    >>> from tierwise.data.datasets import load_political_goals
    >>> merging = merge_even_pairs(load_political_goals(), tolerance=0.1)
    >>> merging.groups, merging.sizes
    ((('order', 'prices'), ('say', 'speech')), (2, 2))
    >>> [(step.first, step.second, round(step.share, 3)) for step in merging.steps]
    [(('order',), ('prices',), 0.468), (('say',), ('speech',), 0.561)]
    """
    known = check_data(data, "merge_even_pairs", weights="effective")
    if tolerance is None:
        tolerance = sqrt(0.5 / known.n_rankings) if known.n_rankings > 2 else 0.5
    if not 0 <= check_number("tolerance", tolerance) <= 0.5:
        raise InputError(f"tolerance must lie between 0 and 0.5; got {tolerance:g}")
    wins = known.pair_counts.astype(np.float64)
    groups: dict[int, Group] = {row: (item,) for row, item in enumerate(known.items)}
    pairs = _EvenPairs(wins)
    steps: list[MergingStep] = []
    while True:
        first, second, share = pairs.closest()
        if not abs(share - 0.5) < tolerance:
            break
        before = tuple(groups.values())
        steps.append(MergingStep(groups[first], groups[second], share, before, known.items, wins))
        groups[first] += groups.pop(second)
        pairs.merge(first, second)
    above = pairs.above[np.ix_(list(groups), list(groups))]
    order = _order_of_preference(above)
    merged = tuple(groups.values())
    return Merging(
        tolerance,
        tuple(steps),
        tuple(merged[group] for group in order),
        _proportions(above)[np.ix_(order, order)],
    )


class _EvenPairs:
    """How even pairs of groups are, with the closest pair of each row, kept up to date.

    A merge changes one row and one column, so that it costs a few rows and not the whole matrix.
    A group keeps the number of its first item; the second of two that are merged is left empty.
    """

    def __init__(self, wins: NDArray[np.float64]) -> None:
        self.above = wins.copy()
        # Both halves say the same but for rounding: only the upper one is asked.
        uneven = np.abs(_proportions(wins) - 0.5)
        self._uneven = np.where(np.triu(~np.isnan(uneven), 1), uneven, np.inf)
        self._column = self._uneven.argmin(axis=1)
        self._least = self._uneven.min(axis=1)

    def closest(self) -> tuple[int, int, float]:
        """Return the two groups closest to even, in ascending order, and the share of the first."""
        first = int(self._least.argmin())
        second = int(self._column[first])
        won, lost = self.above[first, second], self.above[second, first]
        return first, second, float(won / (won + lost)) if won + lost > 0 else np.nan

    def merge(self, first: int, second: int) -> None:
        """Add the second group to the first."""
        above = self.above
        above[first] += above[second]
        above[:, first] += above[:, second]
        above[first, first] = 0.0
        above[second], above[:, second] = 0.0, 0.0
        won, lost = above[first], above[:, first]
        met = won + lost
        shares = np.divide(won, met, out=np.full_like(won, np.inf), where=met > 0)
        shares[:first] = np.divide(
            lost[:first], met[:first], out=shares[:first], where=met[:first] > 0
        )
        uneven = np.abs(shares - 0.5)
        self._uneven[second], self._uneven[:, second] = np.inf, np.inf
        self._uneven[first, first + 1 :] = uneven[first + 1 :]
        self._uneven[:first, first] = uneven[:first]
        # Rows above the first whose closest column is now the first are known without a look.
        closer = uneven[:first] <= self._least[:first]
        closer &= (uneven[:first] < self._least[:first]) | (self._column[:first] >= first)
        lost_theirs = (self._column[: second + 1] == first) | (self._column[: second + 1] == second)
        lost_theirs[:first] &= ~closer
        lost_theirs[[first, second]] = True
        self._column[:first][closer] = first
        self._least[:first][closer] = uneven[:first][closer]
        for row in np.flatnonzero(lost_theirs).tolist():
            # An empty row keeps its own number, at which there is no pair.
            self._column[row] = row + int(self._uneven[row, row:].argmin())
            self._least[row] = self._uneven[row, self._column[row]]


def _proportions(above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of comparisons that the row wins; NaN if there are none."""
    compared = above + above.T
    np.fill_diagonal(compared, 0.0)
    return np.divide(above, compared, out=np.full_like(above, np.nan), where=compared > 0)


def _order_of_preference(above: NDArray[np.float64]) -> list[int]:
    """Order groups by the share of comparisons with items of other groups that they win."""
    won, lost = above.sum(axis=1), above.sum(axis=0)
    share = np.divide(won, won + lost, out=np.full(len(won), 0.5), where=won + lost > 0)
    order: list[int] = np.argsort(-share, kind="stable").tolist()
    return order
