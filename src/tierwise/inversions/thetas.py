"""Theta of given tiers by maximum likelihood, one for all or one per line, from weak orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise.answers.parted import LineStatistics, line_statistics
from tierwise.errors import InputError
from tierwise.partition.gaussian import (
    Thetas,
    sizes_of_labels,
    thetas_of_lines,
)
from tierwise.theta.estimate import ThetaEstimate, estimate_of_line

if TYPE_CHECKING:
    from tierwise.data.counts import WeakOrderCounts

_Integers = NDArray[np.int64]


def check_labels(labels: NDArray[Any], n_items: int) -> _Integers:
    """Return the tier of each item as whole numbers, or say what is wrong with them."""
    given = np.asarray(labels)
    if given.shape != (n_items,):
        raise InputError(f"labels must say the tier of each of {n_items} items")
    checked = given.astype(np.int64)
    if checked.min() != 0 or (np.bincount(checked) == 0).any():
        raise InputError("labels must use every number from 0 (best) up to the last tier")
    return checked


def _statistics(counts: WeakOrderCounts, labels: NDArray[Any]) -> LineStatistics:
    """Collect what the data say about the lines of given tiers."""
    return line_statistics(counts, check_labels(labels, counts.n_items))


def log_likelihood(counts: WeakOrderCounts, labels: NDArray[Any], theta: Thetas) -> float:
    """Log-likelihood of weak orders given tiers and theta.

    Parameters
    ----------
    counts
        The data.
    labels
        Tier of each item, counted from 0.
    theta
        One theta, or one for each tier but the last.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 1, 1]]))
    >>> round(log_likelihood(counts, np.array([0, 1, 1]), 1.0), 4)
    -1.5084
    """
    from tierwise._kernels.inversions_lines import theta_derivatives

    statistics = _statistics(counts, labels)
    thetas = thetas_of_lines(sizes_of_labels(np.asarray(labels)), theta)
    value = statistics.log_orders
    for total, coefficients, one in zip(
        statistics.totals.tolist(), statistics.coefficients, thetas.tolist(), strict=True
    ):
        value += theta_derivatives(total, coefficients, one)[0]
    return value


def estimate_one_theta(
    counts: WeakOrderCounts, labels: NDArray[Any], *, level: float = 0.95
) -> ThetaEstimate:
    """Estimate the one theta of given tiers by maximum likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 2, 1]]))
    >>> round(estimate_one_theta(counts, np.array([0, 1, 2])).value, 4)
    1.3556
    >>> estimate_one_theta(counts, np.array([0, 1, 1])).value
    inf
    """
    statistics = _statistics(counts, labels)
    return estimate_of_line(
        float(statistics.totals.sum()), statistics.coefficients.sum(axis=0), level
    )


def estimate_line_thetas(
    counts: WeakOrderCounts, labels: NDArray[Any], *, level: float = 0.95
) -> tuple[ThetaEstimate, ...]:
    """Estimate theta of each tier but the last by maximum likelihood; they are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 2, 1]]))
    >>> [line.value for line in estimate_line_thetas(counts, np.array([0, 1, 2]))]
    [inf, 0.0]
    """
    statistics = _statistics(counts, labels)
    return tuple(
        estimate_of_line(total, coefficients, level)
        for total, coefficients in zip(
            statistics.totals.tolist(), statistics.coefficients, strict=True
        )
    )
