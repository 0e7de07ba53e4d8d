"""What draws of tiers say about single items: their ranks, and how far people agree about them.

A draw gives an item the ranks that its tier takes up, in any order within the tier with the same
probability. Taking the middle of these ranks instead would call the rank of an item certain where
all items are tied.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Shares are sums of floats: what is this near to a bound is on it.
_ROUNDING = 1e-12
# People are divided about items whose theta may be less than this share of the strongest.
_WEAK = 0.2


def rank_shares(labels: _Integers) -> _Floats:
    """Probability of each item (row) to have each rank (column), from draws of tiers.

    Parameters
    ----------
    labels
        Tier of each item (column) in each draw (row).

    Examples
    --------
    >>> import numpy as np
    >>> rank_shares(np.array([[1, 2, 2]]))
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0.5],
           [0. , 0.5, 0.5]])
    """
    n_items = labels.shape[1]
    items = np.arange(n_items)
    # By how much the probability changes from one rank to the next.
    changes = np.zeros((n_items, n_items + 1))
    for row, times in zip(*np.unique(labels, axis=0, return_counts=True), strict=True):
        sizes = np.bincount(row)
        ends = np.cumsum(sizes)
        share = times / sizes[row]
        changes[items, ends[row] - sizes[row]] += share
        changes[items, ends[row]] -= share
    shares: _Floats = np.cumsum(changes[:, :-1], axis=1).clip(0.0) / len(labels)
    return shares


def rank_intervals(shares: _Floats, level: float) -> _Integers:
    """Lowest and highest rank of each item, with at most half of the rest beyond either."""
    cumulative = np.cumsum(shares, axis=1)
    tail = (1.0 - level) / 2.0
    low = (cumulative > tail + _ROUNDING).argmax(axis=1)
    high = (cumulative >= 1.0 - tail - _ROUNDING).argmax(axis=1)
    return np.stack([low, high], axis=1).astype(np.int64) + 1


def theta_intervals(item_thetas: _Floats, level: float) -> _Floats:
    """Interval of theta of each item (column), draws without a theta being left out."""
    tail = (1.0 - level) / 2.0
    found = np.full((item_thetas.shape[1], 2), np.nan)
    for item, thetas in enumerate(item_thetas.T):
        known = thetas[~np.isnan(thetas)]
        if len(known):
            found[item] = np.quantile(known, [tail, 1.0 - tail])
    return found


def are_divided(thetas: _Floats, item_thetas: _Floats, level: float) -> NDArray[np.bool_]:
    """Tell of each item whether its theta may be near 0 beside the strongest.

    Parameters
    ----------
    thetas
        Theta of each line (column) in each draw (row); NaN where there is no such line.
    item_thetas
        Theta of the tier of each item (column) in each draw; NaN in the last tier.
    level
        Of the interval of theta.
    """
    strongest = np.where(np.isnan(thetas), 0.0, thetas).max(axis=1)
    low = theta_intervals(item_thetas, level)[:, 0]
    often = np.isnan(item_thetas).mean(axis=0) < 0.5
    weak: NDArray[np.bool_] = often & (low < _WEAK * float(np.median(strongest)))
    return weak
