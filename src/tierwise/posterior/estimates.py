"""Estimates from draws: tiers of least disagreement, bands, tiers to publish, agreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import best_runs
from tierwise._util.checks import check_level
from tierwise._util.results import Result
from tierwise.consensus.find import find_consensus
from tierwise.distances import Costs
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.tiers import Tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.tiers import Sizes

# Distinct draws that are tried as a start, the most frequent first.
_MOST_STARTS = 50
# Thetas, equally probable, at which the probabilities are computed.
_N_THETAS = 201
# Shares are sums of floats: what is this near to a bound is on it.
_ROUNDING = 1e-12


def share_above(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of the draws (rows) in which each item is in a better tier than each other."""
    counts = np.zeros((labels.shape[1],) * 2)
    for item in range(labels.shape[1]):
        counts[item] = (labels[:, item, None] < labels).sum(axis=0)
    return counts / len(labels)


def least_disagreement(
    labels: NDArray[np.int64], sizes: Sizes | None
) -> tuple[NDArray[np.int64], float]:
    """Find tiers with the least expected disagreement with draws, and that disagreement.

    Two tiers disagree on a pair of items by 1 if they order it in opposite ways, and by a half
    where only one of them ties it. With given sizes the answer is a consensus, found as any other;
    else it is a local optimum: moving any one item makes it no better.
    """
    above = share_above(labels)
    if sizes is not None:
        # Up to a constant, a pair of items of different tiers costs the share of draws with the
        # opposite order, less a half; a tied pair costs both.
        pairs = above - 0.5
        found = find_consensus(Costs(np.empty((0, 0)), pairs), sizes, rng=0).labels
        return found, expected_disagreement(found, above)
    distinct, counts = np.unique(labels, axis=0, return_counts=True)
    starts = distinct[np.argsort(-counts, kind="stable")[:_MOST_STARTS]]
    best = min(starts, key=lambda start: expected_disagreement(start, above))
    tied = 1.0 - above - above.T
    found = _descend(best, above.T + tied / 2, (1.0 - tied) / 2)
    return found, expected_disagreement(found, above)


def expected_disagreement(labels: NDArray[np.int64], above: NDArray[np.float64]) -> float:
    """Disagreement on all pairs of items with draws that order them so."""
    tied = 1.0 - above - above.T
    better = labels[:, None] < labels
    same = np.triu(labels[:, None] == labels, k=1)
    costs_of_order = above.T + tied / 2
    return float(costs_of_order[better].sum() + ((1.0 - tied) / 2)[same].sum())


def sure_tiers(above: NDArray[np.float64], certainty: float) -> NDArray[np.int64]:
    """Find tiers in which no two items are clearly different.

    Two items are clearly different if draws put one above the other with probability ``certainty``
    or more. Among tiers that separate such items, these have the smallest expected cost: separating
    a tied pair, or ordering a pair wrongly, costs ``certainty``, and tying a pair that differs
    costs ``1 - certainty``. They are the best cuts of the order of mean ranks (dynamic
    programming), then single items move until nothing improves.

    Parameters
    ----------
    above
        Probability that each item (row) is above each other (column), from `share_above`.
    certainty
        At least one half.

    Examples
    --------
    >>> import numpy as np
    >>> above = share_above(np.array([[1, 2, 3]] * 7 + [[1, 1, 2]] * 3))
    >>> sure_tiers(above, 0.5), sure_tiers(above, 0.9)
    (array([0, 1, 2]), array([0, 0, 1]))
    """
    better, same = certainty * (1.0 - above), (1.0 - certainty) * (above + above.T)
    np.fill_diagonal(better, 0.0)
    sure = surely_above(above, certainty)
    same[sure | sure.T] = np.inf
    # What an item gains by being better than others, one by one, adds up to its place.
    order = np.lexsort((np.arange(len(above)), (above.T - above).sum(axis=1)))
    return _descend(_best_cuts(order, better, same), better, same)


def surely_above(above: NDArray[np.float64], certainty: float) -> NDArray[np.bool_]:
    """Return for each pair of items whether the first is above the second with this certainty."""
    sure: NDArray[np.bool_] = above >= certainty - _ROUNDING
    return sure


def _best_cuts(
    order: NDArray[np.int64], better: NDArray[np.float64], same: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Cut an order into tiers of least cost."""
    n_items = len(order)
    # What it costs more to tie a pair than to part it as in the order, above the diagonal.
    excess = np.triu((same - better)[np.ix_(order, order)], k=1)
    gains = np.zeros((n_items + 1, n_items + 1))
    # All pairs of places from the first on, up to the last.
    gains[:-1, 1:] = -excess[::-1].cumsum(axis=0)[::-1].cumsum(axis=1)
    labels = np.empty(n_items, dtype=np.int64)
    labels[order] = best_runs(gains)
    return labels


def _descend(
    labels: NDArray[np.int64], better: NDArray[np.float64], same: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Move single items, into new tiers too, as long as that is an improvement.

    Parameters
    ----------
    labels
        Tiers to begin with.
    better, same
        What it costs that the row's item is in a better tier than the column's, and that both tie.
    """
    improved = True
    while improved:
        improved = False
        for item in range(len(labels)):
            moved, gain = _move(labels, item, better, same)
            if gain > 1e-12:
                labels, improved = moved, True
    return labels


def _move(
    labels: NDArray[np.int64],
    item: int,
    better: NDArray[np.float64],
    same: NDArray[np.float64],
) -> tuple[NDArray[np.int64], float]:
    """Put one item where it costs least, in a tier or between two; return by how much less."""
    others = np.arange(len(labels)) != item
    n_tiers = int(labels.max()) + 1

    def by_tier(costs: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.bincount(
            labels[others], costs[others], minlength=n_tiers
        ).astype(np.float64)
        return sums

    above_tier, below_tier = by_tier(better[item]), by_tier(better[:, item])
    # Between tiers: worse than all before, better than all after. Then in place of one of these.
    before = np.concatenate([[0.0], np.cumsum(below_tier)])
    after = np.concatenate([np.cumsum(above_tier[::-1])[::-1], [0.0]])
    costs = np.empty(2 * n_tiers + 1)
    costs[0::2] = before + after
    costs[1::2] = before[:-1] + after[1:] + by_tier(same[item])
    # Doubled labels leave even numbers for new tiers between and around those there are.
    place = int(costs.argmin())
    moved = 2 * labels + 1
    gain = float(costs[moved[item]] - costs[place])
    moved[item] = place
    return np.unique(moved, return_inverse=True)[1].astype(np.int64), gain


@dataclass(frozen=True, eq=False)
class RankTierBands(Result):
    """The probability that each place holds an item of each tier, with credible bands.

    Attributes
    ----------
    sizes
        Sizes of the tiers.
    level
        Probability that a value lies in its band.
    mean, low, high
        ``[place, tier]``, both counted from 0: posterior mean, and the ends of the band.
    """

    sizes: Sizes
    level: float
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def bands_of(
    sizes: Sizes, distance: str, thetas: NDArray[np.float64], level: float
) -> RankTierBands:
    """Compute the probabilities at quantiles of theta, and take quantiles of them."""
    check_level(level)
    tiers = Tiers.from_sizes(sizes, range(sum(sizes)))
    shares = (np.arange(_N_THETAS) + 0.5) / _N_THETAS
    values = np.stack(
        [
            ClusteredMallows(tiers, theta, distance).rank_tier_probabilities().probabilities
            for theta in np.quantile(thetas, shares).tolist()
        ]
    )
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], axis=0, method="hazen")
    return RankTierBands(sizes, level, values.mean(axis=0), low, high)


def theta_intervals(item_thetas: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Interval of theta of each item (column), draws without a theta being left out."""
    tail = (1.0 - level) / 2.0
    found = np.full((item_thetas.shape[1], 2), np.nan)
    for item, thetas in enumerate(item_thetas.T):
        known = thetas[~np.isnan(thetas)]
        if len(known):
            found[item] = np.quantile(known, [tail, 1.0 - tail])
    return found


def tiers_of_leaders(
    above: NDArray[np.float64], mean_ranks: NDArray[np.float64], certainty: float
) -> NDArray[np.int64]:
    """Return tiers in which no item is clearly different from the first of its tier, from 0.

    Parameters
    ----------
    above
        Probability that the row's item is in a better tier than the column's.
    mean_ranks
        Mean rank of each item, which sets the order of the items.
    certainty
        Two items are clearly different if one is better with this probability or more.

    Examples
    --------
    >>> above = np.array([[0, 0.7, 0.99], [0.1, 0, 0.8], [0, 0.1, 0]])
    >>> tiers_of_leaders(above, np.array([1.0, 2.0, 3.0]), 0.95)
    array([0, 0, 1])
    """
    order = np.argsort(mean_ranks, kind="stable").tolist()
    labels = np.zeros(len(order), dtype=np.int64)
    leader, tier = order[0], 0
    for item in order[1:]:
        if above[leader, item] >= certainty:
            leader, tier = item, tier + 1
        labels[item] = tier
    return labels
