"""Theta of given tiers by maximum likelihood, one for all or one per line, from weak orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise.errors import InputError
from tierwise.partition.gaussian import (
    Thetas,
    sizes_of_labels,
    thetas_of_lines,
)
from tierwise.theta.estimate import ThetaEstimate, estimate_of_line
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from tierwise.data.counts import WeakOrderCounts

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LineStatistics:
    """What the data say about the lines of given tiers.

    The log-likelihood of line ``l`` is ``coefficients[l] @ log [k]_q! - theta_l * totals[l]``.

    Attributes
    ----------
    totals
        Number of inversions of each line.
    coefficients
        How often each Gaussian factorial enters.
    log_orders
        What of the log-likelihood does not depend on theta.
    """

    totals: _Floats
    coefficients: _Floats
    log_orders: float


def check_labels(labels: NDArray[Any], n_items: int) -> _Integers:
    """Return the tier of each item as whole numbers, or say what is wrong with them."""
    given = np.asarray(labels)
    if given.shape != (n_items,):
        raise InputError(f"labels must say the tier of each of {n_items} items")
    checked = given.astype(np.int64)
    if checked.min() != 0 or (np.bincount(checked) == 0).any():
        raise InputError("labels must use every number from 0 (best) up to the last tier")
    return checked


def line_statistics(counts: WeakOrderCounts, labels: NDArray[Any]) -> LineStatistics:
    """Collect what the data say about the lines of given tiers.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [1, 0, 2]]))
    >>> line_statistics(counts, np.array([0, 1, 2])).totals
    array([1., 0.])
    """
    from tierwise._kernels import inversions_weak_orders as kernels

    checked = check_labels(labels, counts.n_items)
    sizes = sizes_of_labels(checked)
    n_tiers, width = len(sizes), counts.largest_block + 1
    totals = kernels.count_inversions_by_line(counts.above, checked, n_tiers)
    of_tier, of_tail = kernels.block_histograms(
        counts.block_offsets, counts.block_members, counts.block_weights, checked, n_tiers, width
    )
    logs = log_factorials(counts.n_items)
    coefficients = np.zeros((n_tiers - 1, counts.n_items + 1))
    n_worse = counts.n_items
    for line in range(n_tiers - 1):
        size, whole = sizes[line], n_worse
        n_worse -= size
        coefficients[line, :width] += of_tail[line] - of_tier[line] - of_tail[line + 1]
        coefficients[line, whole] -= counts.n_rankings
        coefficients[line, size] += counts.n_rankings
        coefficients[line, n_worse] += counts.n_rankings
    log_orders = float((of_tier @ logs[:width]).sum())
    log_orders -= counts.n_rankings * float(logs[list(sizes)].sum())
    return LineStatistics(totals[:-1].copy(), coefficients, log_orders)


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

    statistics = line_statistics(counts, labels)
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
    statistics = line_statistics(counts, labels)
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
    statistics = line_statistics(counts, labels)
    return tuple(
        estimate_of_line(total, coefficients, level)
        for total, coefficients in zip(
            statistics.totals.tolist(), statistics.coefficients, strict=True
        )
    )
