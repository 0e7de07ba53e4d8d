"""Estimates from draws: the tiers of least expected disagreement, and bands of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.checks import check_level
from tierwise.consensus.find import find_consensus
from tierwise.distances.base import Costs
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.tiers.ordered_partition import Tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.tiers.sizes import Sizes

# Distinct draws that are tried as a start, the most frequent first.
_MOST_STARTS = 50
# Thetas, equally probable, at which the probabilities are computed.
_N_THETAS = 201


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

    Two tiers disagree on a pair of items by 1 where they order it in opposite ways, and by a half
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
    return _descend(best, above)


def expected_disagreement(labels: NDArray[np.int64], above: NDArray[np.float64]) -> float:
    """Disagreement on all pairs of items with draws that order them so."""
    tied = 1.0 - above - above.T
    better = labels[:, None] < labels
    same = np.triu(labels[:, None] == labels, k=1)
    costs_of_order = above.T + tied / 2
    return float(costs_of_order[better].sum() + ((1.0 - tied) / 2)[same].sum())


def _descend(
    labels: NDArray[np.int64], above: NDArray[np.float64]
) -> tuple[NDArray[np.int64], float]:
    """Move single items, into new tiers too, as long as that is an improvement."""
    least = expected_disagreement(labels, above)
    improved = True
    while improved:
        improved = False
        for item in range(len(labels)):
            for candidate in _with_item_elsewhere(labels, item):
                disagreement = expected_disagreement(candidate, above)
                if disagreement < least - 1e-12:
                    labels, least, improved = candidate, disagreement, True
    return labels, least


def _with_item_elsewhere(labels: NDArray[np.int64], item: int) -> list[NDArray[np.int64]]:
    """All tiers that differ in where one item is."""
    # Doubled labels leave odd numbers for new tiers between and around those there are.
    doubled = 2 * labels + 1
    candidates = []
    for place in range(2 * (int(labels.max()) + 1) + 1):
        moved = doubled.copy()
        moved[item] = place
        candidates.append(np.unique(moved, return_inverse=True)[1].astype(np.int64))
    return candidates


@dataclass(frozen=True, eq=False)
class RankTierBands:
    """How likely each place is to hold an item of each tier, with credible bands.

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
