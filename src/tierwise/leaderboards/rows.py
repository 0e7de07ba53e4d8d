"""Rows of leaderboards, one per item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.results import Result
from tierwise.model.ranks import (
    added_up,
    rank_intervals,
    rank_shares,
    shares_of_tiers,
    simultaneous_ranks,
)
from tierwise.posterior.estimates import surely_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.data.kinds import KnownData
    from tierwise.tiers import Tiers


@dataclass(frozen=True, eq=False)
class LeaderboardRow(Result):
    """The row of one item.

    Attributes
    ----------
    item
        The item.
    tier
        Its tier, 1 being the best.
    mean_rank
        Its mean rank.
    rank_low, rank_high
        The interval of its rank, from better to worse.
    tier_probabilities
        For each tier, the probability that the rank of the item is among those of the tier.
    best_k_probabilities
        Probability of being among the best ``k``, one for each ``k`` of the leaderboard.
    next_item
        The item in the next row; None in the last.
    better_than_next, tied_with_next
        Probability of being in a better tier than the next item, and of being tied or nearly tied
        with it (neither would be preferred by more than 55%). The first uses the prior, the second
        a prior that does not favour few tiers (`Posterior.sameness_weights`), so both may be low:
        then the answers do not decide. None for a bootstrap, which does not estimate ties.
    upper_rank
        Its best rank: one more than the number of clearly better items.
    rank_set
        Lowest and highest rank that hold for all items simultaneously at the level of the
        leaderboard; an interval holds only for its own item.
    strength, strength_interval
        Mean strength on the Elo scale and its interval, if tiers have worths; otherwise None.
    n_answers
        The number of battles, tasks or answers with the item; None if only counts are known.
    share_won
        The share of its decided pairs that it won, plus half of the drawn ones if these count. None
        if there are none.
    tied_with
        The items that are not clearly different from it, best first: they may be tied, or the
        answers do not decide.
    """

    item: Item
    tier: int
    mean_rank: float
    rank_low: int
    rank_high: int
    tier_probabilities: tuple[float, ...]
    best_k_probabilities: tuple[float, ...]
    next_item: Item | None
    better_than_next: float | None
    tied_with_next: float | None
    upper_rank: int
    rank_set: tuple[int, int]
    strength: float | None = None
    strength_interval: tuple[float, float] | None = None
    n_answers: float | None = None
    share_won: float | None = None
    tied_with: tuple[Item, ...] = ()


def make_rows(
    items: tuple[Item, ...],
    tiers: Tiers,
    labels: NDArray[np.int64],
    above: NDArray[np.float64],
    near: NDArray[np.float64] | None,
    numbers: tuple[int, ...],
    level: float,
    certainty: float,
    strengths: NDArray[np.float64] | None,
) -> tuple[LeaderboardRow, ...]:
    """Make the row of each item, by tier and by mean rank, from draws of tiers."""
    shares = rank_shares(labels)
    sure, sets = surely_above(above, certainty), simultaneous_ranks(labels, level)
    intervals = rank_intervals(shares, level)
    means = shares @ np.arange(1, len(items) + 1)
    own = tiers.label_array(items)
    by_tier = shares_of_tiers(labels, tiers.sizes)
    best = added_up(np.cumsum(shares, axis=1)[:, np.array(numbers) - 1])
    order = np.lexsort((means, own)).tolist()
    rows = []
    for place, number in enumerate(order):
        following = order[place + 1] if place + 1 < len(order) else None
        better, tied = None, None
        if following is not None:
            better = float(above[number, following])
            tied = None if near is None else float(near[number, following])
        strength, interval = None, None
        if strengths is not None:
            strength, low, high = strengths[number].tolist()
            interval = (low, high)
        rows.append(
            LeaderboardRow(
                item=items[number],
                tier=int(own[number]) + 1,
                mean_rank=float(means[number]),
                rank_low=int(intervals[number, 0]),
                rank_high=int(intervals[number, 1]),
                tier_probabilities=tuple(by_tier[number].tolist()),
                best_k_probabilities=tuple(best[number].tolist()),
                next_item=None if following is None else items[following],
                better_than_next=better,
                tied_with_next=tied,
                upper_rank=1 + int(sure[:, number].sum()),
                rank_set=(int(sets[number, 0]), int(sets[number, 1])),
                strength=strength,
                strength_interval=interval,
            )
        )
    return tuple(rows)


def answers_of_items(
    data: KnownData, ranked: NDArray[np.bool_]
) -> tuple[list[float] | None, list[float | None], str]:
    """Return the number of answers of each ranked item, the share of pairs it won, and the unit."""
    wins = np.asarray(data.pair_counts, dtype=np.float64)
    compared = (wins.sum(axis=1) + wins.sum(axis=0))[ranked]
    won = [
        share if number else None
        for share, number in zip(
            wins.sum(axis=1)[ranked] / np.maximum(compared, 1e-300), compared, strict=True
        )
    ]
    shares = [None if share is None else float(share) for share in won]
    number = data.n_answers_of_items
    return None if number is None else number[ranked].tolist(), shares, data.unit
