"""Friedman's test of mean ranks, and Nemenyi's critical difference.

References
----------
J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7, 1-30.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What is nearer to the critical difference than this is on it.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FriedmanTest(Result):
    """Results of the Friedman and Nemenyi tests; only complete data sets count.

    Attributes
    ----------
    mean_ranks : numpy.ndarray
        Mean rank of each method; ties share the mean of their ranks.
    n_data_sets : int
        Number of data sets without missing scores.
    statistic, p_value : float
        Friedman's chi-squared, and its p value.
    alpha : float
        Level of the critical difference.
    critical_difference : float
        Nemenyi's critical difference: mean ranks further apart differ significantly.
    p_values : numpy.ndarray
        Nemenyi's p value for each pair of methods.
    cliques : tuple of tuple of int
        The longest runs of methods, in the order of mean ranks, that do not differ; they may
        overlap. Methods are counted from 0.
    """

    mean_ranks: NDArray[np.float64]
    n_data_sets: int
    statistic: float
    p_value: float
    alpha: float
    critical_difference: float
    p_values: NDArray[np.float64]
    cliques: tuple[tuple[int, ...], ...]

    @property
    def differ(self) -> NDArray[np.bool_]:
        """Whether each method is significantly better than each other, ``[method, method]``."""
        gaps = self.mean_ranks - self.mean_ranks[:, None]
        return np.asarray(gaps > self.critical_difference + _ROUNDING)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; methods are counted from 0."""
        return {
            "mean_ranks": self.mean_ranks.tolist(),
            "data_sets": self.n_data_sets,
            "statistic": self.statistic,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "critical_difference": self.critical_difference,
            "cliques": [list(one) for one in self.cliques],
        }


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank methods (columns) on each data set (row), higher scores first; NaN stays NaN.

    Examples
    --------
    >>> ranks_of(np.array([[0.9, 0.5, 0.9], [0.1, np.nan, 0.2]]))
    array([[1.5, 3. , 1.5],
           [2. , nan, 1. ]])
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores, axis=1, nan_policy="omit"), dtype=np.float64)


def friedman_test(scores: NDArray[np.float64], alpha: float) -> FriedmanTest | None:
    """Test whether methods (columns) differ over data sets (rows), higher scores being better.

    None if there are fewer than three methods, or fewer than two complete data sets.

    Examples
    --------
    >>> found = friedman_test(np.array([[3.0, 2.0, 1.0]] * 4 + [[3.0, 1.0, 2.0]]), 0.05)
    >>> round(found.p_value, 4), found.cliques
    (0.015, ((0, 1), (1, 2)))
    """
    from scipy.stats import friedmanchisquare, studentized_range

    complete = scores[~np.isnan(scores).any(axis=1)]
    n_sets, n_methods = complete.shape
    if n_methods < 3 or n_sets < 2:
        return None
    means = ranks_of(complete).mean(axis=0)
    if np.ptp(complete, axis=1).any():
        statistic, p_value = friedmanchisquare(*complete.T)
    else:
        statistic, p_value = 0.0, 1.0  # all are tied everywhere: the test divides by 0
    error = np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets))
    bound = float(studentized_range.ppf(1.0 - alpha, n_methods, np.inf))
    apart = np.abs(means - means[:, None]) / error
    return FriedmanTest(
        mean_ranks=means,
        n_data_sets=n_sets,
        statistic=float(statistic),
        p_value=float(p_value),
        alpha=alpha,
        critical_difference=float(bound / np.sqrt(2.0) * error),
        p_values=np.asarray(studentized_range.sf(apart * np.sqrt(2.0), n_methods, np.inf)),
        cliques=_cliques(means, bound / np.sqrt(2.0) * float(error)),
    )


def _cliques(means: NDArray[np.float64], difference: float) -> tuple[tuple[int, ...], ...]:
    """Return the longest runs, in the order of mean ranks, that span no more than a difference."""
    order = np.argsort(means, kind="stable")
    ordered = means[order]
    ends = np.searchsorted(ordered, ordered + difference + _ROUNDING, side="right")
    runs, furthest = [], 0
    for start, end in enumerate(ends.tolist()):
        if end > furthest:
            runs.append(tuple(order[start:end].tolist()))
            furthest = end
    return tuple(runs)
