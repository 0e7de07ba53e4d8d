"""Where a search begins: the paper's merging of items that are preferred to each other evenly."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_number
from tierwise._util.types import Item
from tierwise.data.battles import Battles
from tierwise.data.counts import Counts
from tierwise.data.kinds import check_data, pair_counts
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.errors import InputError
from tierwise.fitting.result import plain_item
from tierwise.tiers.sizes import Sizes

Group = tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class MergingStep:
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
class Merging:
    """Items merged into groups as long as two groups are near even.

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

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the matrices as plain values, as in JSON."""
        return {
            "tolerance": self.tolerance,
            "steps": [step.to_dict() for step in self.steps],
            "groups": [[plain_item(item) for item in group] for group in self.groups],
            "sizes": list(self.sizes),
        }


def merge_even_pairs(
    data: Rankings | RankingScan | Counts | Preferences | Battles, tolerance: float | None = None
) -> Merging:
    """Merge the two items, or groups, that are closest to even, as long as there are any.

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
    known = check_data(data, "merge_even_pairs", Rankings, Counts, Preferences, Battles)
    if tolerance is None:
        tolerance = min(sqrt(0.5 / known.n_rankings), 0.5)
    if not 0 <= check_number("tolerance", tolerance) <= 0.5:
        raise InputError(f"tolerance must lie between 0 and 0.5; got {tolerance:g}")
    groups: list[Group] = [(item,) for item in known.items]
    counts = pair_counts(known)
    above = wins = counts.astype(np.float64)
    steps: list[MergingStep] = []
    while True:
        proportions = _proportions(above)
        first, second = _most_even(proportions)
        if not abs(proportions[first, second] - 0.5) < tolerance:
            break
        steps.append(
            MergingStep(
                groups[first],
                groups[second],
                float(proportions[first, second]),
                tuple(groups),
                known.items,
                wins,
            )
        )
        groups[first] += groups.pop(second)
        above = _merged(above, first, second)
    order = _order_of_preference(above)
    return Merging(
        tolerance,
        tuple(steps),
        tuple(groups[group] for group in order),
        proportions[np.ix_(order, order)],
    )


def _proportions(above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of comparisons that the row wins; NaN where there are none."""
    compared = above + above.T
    np.fill_diagonal(compared, 0.0)
    return np.divide(above, compared, out=np.full_like(above, np.nan), where=compared > 0)


def _most_even(proportions: NDArray[np.float64]) -> tuple[int, int]:
    """Return the two groups, in ascending order, whose proportion is closest to a half."""
    distances = np.abs(proportions - 0.5)
    distances[np.isnan(distances)] = np.inf
    # Both halves say the same but for rounding: only the upper one is asked.
    distances[np.tril_indices(len(distances))] = np.inf
    first, second = divmod(int(np.argmin(distances)), len(distances))
    return first, second


def _merged(above: NDArray[np.float64], first: int, second: int) -> NDArray[np.float64]:
    """Add the row and column of the second group to those of the first."""
    merged = above.copy()
    merged[first] += merged[second]
    merged[:, first] += merged[:, second]
    merged[first, first] = 0.0
    return np.delete(np.delete(merged, second, axis=0), second, axis=1)


def _order_of_preference(above: NDArray[np.float64]) -> list[int]:
    """Order groups by the share of comparisons with items of other groups that they win."""
    won, lost = above.sum(axis=1), above.sum(axis=0)
    share = np.divide(won, won + lost, out=np.full(len(won), 0.5), where=won + lost > 0)
    order: list[int] = np.argsort(-share, kind="stable").tolist()
    return order
