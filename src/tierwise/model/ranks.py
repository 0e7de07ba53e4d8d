"""Ranks of items in draws of tiers: how probable each is, intervals, and the tiers they are among.

A draw gives an item the ranks that its tier occupies, in any order within the tier with the same
probability. Taking the middle of these ranks instead would call the rank of an item certain where
all items are tied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tierwise.tiers import Sizes

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Shares are sums of floats: what is this near to a bound is on it.
_ROUNDING = 1e-12
# No share of fewer than a billion draws is this near to 1.
_NEARLY_CERTAIN = 1e-9


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
    n_draws, n_items = labels.shape
    first, last = rank_spans(labels).transpose(2, 0, 1)
    share = 1.0 / (last - first + 1)
    # By how much the probability changes from one rank to the next: all draws added up at once.
    rows = (n_items + 1) * np.arange(n_items)
    size = n_items * (n_items + 1)
    changes = np.bincount((rows + first - 1).ravel(), share.ravel(), size)
    changes -= np.bincount((rows + last).ravel(), share.ravel(), size)
    steps = changes.reshape(n_items, n_items + 1)[:, :-1]
    shares: _Floats = np.cumsum(steps, axis=1).clip(0.0) / n_draws
    return shares


def tiers_among(labels: _Integers, chosen: NDArray[np.bool_]) -> _Integers:
    """Return the tiers that draws put some of the items in, counted from 1 among these.

    Parameters
    ----------
    labels
        Tier of each item (column) in each draw (row), counted from 1.
    chosen
        Which items.

    Examples
    --------
    >>> import numpy as np
    >>> tiers_among(np.array([[1, 2, 3, 2], [1, 3, 2, 2]]), np.array([False, True, True, True]))
    array([[1, 2, 1],
           [2, 1, 1]])
    """
    if chosen.all():
        return labels
    some = labels[:, chosen]
    numbers = np.arange(1, int(labels.max()) + 1)
    there = np.stack([(some == number).any(axis=1) for number in numbers], axis=1)
    return np.take_along_axis(np.cumsum(there, axis=1), some - 1, axis=1).astype(np.int64)


def shares_of_tiers(labels: _Integers, sizes: Sizes) -> _Floats:
    """Probability that the rank of each item (row) is among those of each tier (column).

    Where all draws have tiers of these sizes, that is the probability of the tier; it makes sense
    for draws of tiers of any sizes, too.

    Parameters
    ----------
    labels
        Tier of each item (column) in each draw (row).
    sizes
        Sizes of the tiers in question, best first.

    Examples
    --------
    >>> import numpy as np
    >>> shares_of_tiers(np.array([[1, 2, 2], [1, 1, 2]]), (1, 2))
    array([[0.75, 0.25],
           [0.25, 0.75],
           [0.  , 1.  ]])
    """
    starts = np.cumsum((0, *sizes[:-1]))
    return added_up(np.add.reduceat(rank_shares(labels), starts, axis=1))


def added_up(shares: _Floats) -> _Floats:
    """Return sums of shares between 0 and 1; what is certain adds up to 1 but for rounding."""
    return np.where(shares > 1.0 - _NEARLY_CERTAIN, 1.0, shares.clip(0.0))


def rank_intervals(shares: _Floats, level: float) -> _Integers:
    """Lowest and highest rank of each item, with at most half of the rest beyond either."""
    cumulative = np.cumsum(shares, axis=1)
    tail = (1.0 - level) / 2.0
    low = (cumulative > tail + _ROUNDING).argmax(axis=1)
    high = (cumulative >= 1.0 - tail - _ROUNDING).argmax(axis=1)
    return np.stack([low, high], axis=1).astype(np.int64) + 1


def rank_spans(labels: _Integers) -> _Integers:
    """First and last rank that each item's tier takes up in each draw, ``[draw, item, end]``.

    Examples
    --------
    >>> import numpy as np
    >>> rank_spans(np.array([[1, 2, 2]])).tolist()
    [[[1, 1], [2, 3], [2, 3]]]
    """
    n_draws = len(labels)
    _, compact = np.unique(labels, return_inverse=True)
    compact = compact.reshape(labels.shape)
    n_labels = int(compact.max()) + 1
    # How many items each draw has in each tier, all draws counted at once.
    cells = compact + n_labels * np.arange(n_draws)[:, None]
    sizes = np.bincount(cells.ravel(), minlength=n_draws * n_labels).reshape(n_draws, n_labels)
    ends = np.cumsum(sizes, axis=1)
    last = np.take_along_axis(ends, compact, axis=1)
    first = last - np.take_along_axis(sizes, compact, axis=1) + 1
    return np.stack([first, last], axis=2).astype(np.int64)


def simultaneous_ranks(labels: _Integers, level: float) -> _Integers:
    """Lowest and highest rank of each item, for all items together.

    In at least a share ``level`` of the draws, every item has all ranks of its tier in its set. The
    draws that are left out are those in which some item is furthest out in its own tails.

    Parameters
    ----------
    labels
        Tier of each item (column) in each draw (row).
    level
        Share of the draws in which all sets hold.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.array([[1, 2, 3]] * 19 + [[3, 2, 1]])
    >>> simultaneous_ranks(draws, 0.95).tolist()
    [[1, 1], [2, 2], [3, 3]]
    """
    spans = rank_spans(labels)
    n_draws, n_items = labels.shape
    # Share of the draws that reach at least as far out, for the end of each item that is worst.
    depth = np.full(n_draws, np.inf)
    for item in range(n_items):
        for end, sign in ((0, 1), (1, -1)):
            values = sign * spans[:, item, end]
            ordered = np.sort(values)
            depth = np.minimum(depth, np.searchsorted(ordered, values, side="right"))
    n_kept = int(np.ceil(level * n_draws - _ROUNDING * n_draws))
    bound = np.sort(depth)[::-1][n_kept - 1]
    kept = spans[depth >= bound]
    return np.stack([kept[:, :, 0].min(axis=0), kept[:, :, 1].max(axis=0)], axis=1)


def cut_shares(labels: _Integers) -> _Floats:
    """Share of the draws in which a tier ends at each place but the last.

    Examples
    --------
    >>> import numpy as np
    >>> cut_shares(np.array([[1, 2, 2], [1, 1, 2]]))
    array([0.5, 0.5])
    """
    ends = rank_spans(labels)[:, :, 1]
    places = np.arange(1, labels.shape[1])
    found: _Floats = np.stack([(ends == place).any(axis=1) for place in places]).mean(axis=1)
    return found
