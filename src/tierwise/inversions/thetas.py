"""Theta of given tiers by maximum likelihood, one for all or one per line, from weak orders."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, log, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise.errors import InputError
from tierwise.partition.gaussian import Thetas, log_factorial_table, thetas_of_lines
from tierwise.partition.gaussian_orders import sizes_of_labels

if TYPE_CHECKING:
    from tierwise.data.weak_orders import WeakOrderCounts

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


@dataclass(frozen=True)
class ThetaOfLine:
    """An estimate of theta, and how sure it is.

    Attributes
    ----------
    value
        The estimate; infinite where no ranking contradicts the tiers, 0 where rankings agree with
        them no more than by chance.
    standard_error
        From the observed information; NaN where theta is infinite, infinite where the rankings say
        nothing about it.
    interval
        Confidence interval, within 0 and infinity.
    log_likelihood
        The log-likelihood at the estimate, without what does not depend on theta.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    log_likelihood: float


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
    >>> from tierwise.data.weak_orders import WeakOrderCounts
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
    logs = log_factorial_table(counts.n_items)
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
    >>> from tierwise.data.weak_orders import WeakOrderCounts
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
    counts: WeakOrderCounts, labels: NDArray[Any], *, confidence: float = 0.95
) -> ThetaOfLine:
    """Estimate the one theta of given tiers by maximum likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.weak_orders import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 2, 1]]))
    >>> round(estimate_one_theta(counts, np.array([0, 1, 2])).value, 4)
    1.3556
    >>> estimate_one_theta(counts, np.array([0, 1, 1])).value
    inf
    """
    statistics = line_statistics(counts, labels)
    return _estimate(
        float(statistics.totals.sum()), statistics.coefficients.sum(axis=0), confidence
    )


def estimate_line_thetas(
    counts: WeakOrderCounts, labels: NDArray[Any], *, confidence: float = 0.95
) -> tuple[ThetaOfLine, ...]:
    """Estimate theta of each tier but the last by maximum likelihood; they are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.weak_orders import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 2, 1]]))
    >>> [line.value for line in estimate_line_thetas(counts, np.array([0, 1, 2]))]
    [inf, 0.0]
    """
    statistics = line_statistics(counts, labels)
    return tuple(
        _estimate(total, coefficients, confidence)
        for total, coefficients in zip(
            statistics.totals.tolist(), statistics.coefficients, strict=True
        )
    )


def _estimate(total: float, coefficients: _Floats, confidence: float) -> ThetaOfLine:
    from tierwise._kernels.inversions_lines import maximise_theta

    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, such as 0.95; got {confidence:g}")
    if total == 0.0 and not coefficients[2:].any():
        # One tier, or everything tied: the data say nothing about theta.
        return ThetaOfLine(0.0, inf, (0.0, inf), 0.0)
    value, height, information = maximise_theta(total, coefficients)
    if isinf(value):
        return ThetaOfLine(inf, nan, (_least_of_agreement(coefficients, confidence), inf), height)
    error = 1.0 / sqrt(information) if information > 0.0 else inf
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return ThetaOfLine(value, error, (max(0.0, value - reach), value + reach), height)


def _least_of_agreement(coefficients: _Floats, confidence: float) -> float:
    """Smallest theta at which no ranking contradicting the tiers is not too surprising."""
    from scipy.optimize import brentq

    from tierwise._kernels.inversions_lines import theta_derivatives

    def excess(theta: float) -> float:
        return theta_derivatives(0.0, coefficients, theta)[0] - log(1.0 - confidence)

    if excess(0.0) >= 0.0:
        return 0.0
    return float(brentq(excess, 0.0, 100.0, xtol=1e-10))
