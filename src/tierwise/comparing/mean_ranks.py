"""Mean ranks over data sets with gaps, and their bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.comparing.friedman import ranks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REPLICATES = 1000


def stretched_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank methods (columns) on each data set (row), from 1 to the number of methods.

    If some have no score, the ranks of the others are stretched, so the worst of three counts like
    the worst of ten. A single method has no rank.

    Examples
    --------
    >>> stretched_ranks(np.array([[3.0, 2.0, 1.0], [3.0, np.nan, 1.0], [1.0, np.nan, np.nan]]))
    array([[ 1.,  2.,  3.],
           [ 1., nan,  3.],
           [nan, nan, nan]])
    """
    ranks, n_methods = ranks_of(scores), scores.shape[1]
    n_known = (~np.isnan(scores)).sum(axis=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = (n_methods - 1) / (n_known - 1)
        return np.where(n_known > 1, 1.0 + (ranks - 1.0) * stretch, np.nan)


def mean_ranks(
    scores: NDArray[np.float64], level: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean rank of each method, and the ends of its interval, ``[method, 3]``.

    Data sets are resampled with replacement. Higher scores are better.

    Parameters
    ----------
    scores
        One row per data set and one column per method; NaN is a gap.
    level
        Level of the intervals.
    rng
        Generator.
    """
    ranks = stretched_ranks(scores)
    known = ~np.isnan(ranks)
    ranks = np.where(known, ranks, 0.0)
    n_sets = len(ranks)
    times = rng.multinomial(n_sets, np.full(n_sets, 1.0 / n_sets), size=_REPLICATES)
    middle = (1.0 + scores.shape[1]) / 2.0
    counts = times @ known
    # A method that no data set of a replicate has may be anywhere: it is in the middle.
    means = np.where(counts > 0, times @ ranks / np.maximum(counts, 1), middle)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail], axis=0)
    own = ranks.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.column_stack([np.where(known.any(axis=0), own, middle), low, high])
