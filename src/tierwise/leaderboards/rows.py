"""Rows of leaderboards: what is known about each item."""

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
    """What is known about one item.

    Attributes
    ----------
    item
        The item.
    tier
        Its tier, 1 being the best.
    mean_rank
        Its rank on average.
    rank_low, rank_high
        Interval of its rank, from better to worse.
    tier_probabilities
        For each tier, the probability that the rank of the item is among those of the tier.
    best_k_probabilities
        Probability of being among the best ``k``, one for each ``k`` of the leaderboard.
    next_item
        The item in the next row; None in the last.
    better_than_next, tied_with_next
        Probability of being in a better tier than that, and of being tied with it or nearly:
        neither would be preferred by more than 55%. The first is given under the prior as it is,
        the second under one that does not favour few tiers (`Posterior.sameness_weights`), so both
        may be low: then the answers leave it open. A bootstrap says nothing of ties (None).
    upper_rank
        One more than the number of items that are surely better: its best rank.
    rank_set
        Lowest and highest rank, such that these sets hold for all items together at the level of
        the leaderboard; an interval holds for its own item.
    strength, strength_interval
        Mean strength on the Elo scale and its interval, where tiers have worths; else None.
    n_answers
        In how many battles, tasks or answers the item is; None where only counts are known.
    share_won
        How often it won, of the pairs with it that were decided; half of those that were drawn
        where these count. None if there are none.
    tied_with
        The items from which it does not surely differ, best first: they may be tied, or the
        answers leave it open.
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
    """Return in how many answers each item is, the share of pairs it won, and what answers are.

    Of items that have a rank, in pairs with all.
    """
    wins = np.asarray(data.pair_counts, dtype=np.float64)
    told = (wins.sum(axis=1) + wins.sum(axis=0))[ranked]
    won = [
        share if number else None
        for share, number in zip(
            wins.sum(axis=1)[ranked] / np.maximum(told, 1e-300), told, strict=True
        )
    ]
    shares = [None if share is None else float(share) for share in won]
    number = data.n_answers_of_items
    return None if number is None else number[ranked].tolist(), shares, data.unit
