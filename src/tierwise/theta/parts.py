"""Maximum likelihood of several thetas: Newton's method on a concave log-likelihood.

Where the parts of the distance are independent every theta is found by itself. Elsewhere all are
found together, by Newton steps that are halved until the log-likelihood grows and that stop at 0;
the gradient needs the expected parts, the Hessian their covariance. A part that is 0 in all answers
has an infinite theta. Intervals are Wald's, from the inverse of the information about all thetas.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, log, nan
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise.theta.estimate import ThetaEstimate, least_theta_of_agreement, theta_of_information

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tierwise.answers.parted import PartStatistics
    from tierwise.partition.parts import PartedPartition

_Floats = NDArray[np.float64]

# A theta as good as infinite, and the largest that can be told from it; as in the likelihood.
_LARGEST, _LARGEST_FINITE = 46.0, 25.0
_NEWTON_STEPS = 200
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class PartedMaximum:
    """The thetas of greatest likelihood for given tiers, and that log-likelihood."""

    thetas: _Floats
    log_likelihood: float


def price_of_thetas(estimates: Iterable[ThetaEstimate], n_rankings: float) -> float:
    """Return what thetas beyond the first cost: half the log number of rankings each.

    Thetas about which the rankings say nothing at all are free.

    Examples
    --------
    >>> known = ThetaEstimate(0.5, 0.1, (0.3, 0.7), "exact")
    >>> price_of_thetas([known, known, known], 100.0) == log(100.0)
    True
    """
    n_thetas = sum(not isinf(one.standard_error) for one in estimates)
    return max(n_thetas - 1, 0) * log(max(n_rankings, 1.0)) / 2


def maximise_thetas(
    partition: PartedPartition,
    statistics: PartStatistics,
    n_rankings: float,
    start: _Floats | None = None,
    known: dict[bytes, tuple[float, float]] | None = None,
) -> PartedMaximum:
    """Find the theta of each part that makes the answers most probable.

    Parameters
    ----------
    partition
        The partition function.
    statistics
        What the answers say about each part, for given tiers.
    n_rankings
        Number of rankings.
    start
        Thetas to begin with, where they are found together.
    known
        Thetas that were found one by one before, which is added to: of tiers that differ little,
        most parts are the same.
    """
    if statistics.coefficients is not None:
        return _one_by_one(statistics, {} if known is None else known)
    return _together(partition, statistics, n_rankings, start)


def _one_by_one(
    statistics: PartStatistics, known: dict[bytes, tuple[float, float]]
) -> PartedMaximum:
    from tierwise._kernels.inversions_lines import maximise_theta

    assert statistics.coefficients is not None
    thetas, value = np.zeros(len(statistics.totals)), statistics.log_orders
    for part, total in enumerate(statistics.totals.tolist()):
        coefficients = statistics.coefficients[part]
        if total == 0.0 and not coefficients[2:].any():
            continue
        key = coefficients.tobytes() + statistics.totals[part].tobytes()
        if key not in known:
            known[key] = maximise_theta(total, coefficients)[:2]
        thetas[part], height = known[key]
        value += height
    return PartedMaximum(thetas, value)


def _together(
    partition: PartedPartition,
    statistics: PartStatistics,
    n_rankings: float,
    start: _Floats | None,
) -> PartedMaximum:
    totals = statistics.totals
    free = totals > 0.0
    thetas = np.where(free, 0.0, inf)
    begin = np.full(len(totals), 0.1) if start is None else start
    usable = np.isfinite(begin) & (begin > 0.0)
    thetas[free] = np.where(usable, begin, 0.1)[free]

    def height(at: _Floats) -> tuple[float, _Floats, _Floats]:
        moments = partition.part_moments(at)
        value = statistics.log_orders - float(at[free] @ totals[free])
        value -= n_rankings * moments.log_value
        return value, n_rankings * moments.means - totals, n_rankings * moments.covariances

    value, gradient, hessian = height(thetas)
    for _ in range(_NEWTON_STEPS):
        moving = free & ((thetas > 0.0) | (gradient > 0.0)) & (thetas < _LARGEST)
        if not moving.any():
            break
        rows = np.ix_(moving, moving)
        ridge = 1e-12 * np.trace(hessian[rows]) * np.eye(int(moving.sum()))
        step = np.zeros(len(thetas))
        step[moving] = np.linalg.solve(hessian[rows] + ridge + 1e-300, gradient[moving])
        scale = 1.0
        for _ in range(_HALVINGS):
            following = np.where(moving, np.clip(thetas + scale * step, 0.0, _LARGEST), thetas)
            reached, its_gradient, its_hessian = height(following)
            if reached >= value:
                break
            scale /= 2.0
        else:
            break
        moved = float(np.abs(following[moving] - thetas[moving]).max())
        thetas, value, gradient, hessian = following, reached, its_gradient, its_hessian
        if moved <= 1e-10 * max(1.0, float(thetas[moving].max())):
            break
    thetas = np.where(thetas > _LARGEST_FINITE, inf, thetas)
    return PartedMaximum(thetas, value)


def estimates_of_thetas(
    partition: PartedPartition,
    statistics: PartStatistics,
    n_rankings: float,
    thetas: _Floats,
    level: float,
) -> tuple[ThetaEstimate, ...]:
    """Return each theta with standard error and interval.

    Parameters
    ----------
    partition, statistics, n_rankings
        As for `maximise_thetas`.
    thetas
        What it found.
    level
        Level of the intervals.
    """
    if statistics.coefficients is not None:
        return tuple(
            _estimate_of_part(total, coefficients, theta, level)
            for total, coefficients, theta in zip(
                statistics.totals.tolist(), statistics.coefficients, thetas.tolist(), strict=True
            )
        )
    known = np.isfinite(thetas)
    errors = np.full(len(thetas), inf)
    if known.any():
        information = n_rankings * partition.part_moments(thetas).covariances
        inverse = np.linalg.pinv(information[np.ix_(known, known)], hermitian=True)
        errors[known] = np.sqrt(np.maximum(np.diag(inverse), 0.0))
    reach = NormalDist().inv_cdf((1 + level) / 2)
    found = []
    for part, theta in enumerate(thetas.tolist()):
        if isinf(theta):
            least = _least_of_agreement(partition, n_rankings, thetas, part, level)
            found.append(ThetaEstimate(inf, nan, (least, inf), "exact"))
        else:
            error = float(errors[part])
            interval = (max(0.0, theta - reach * error), theta + reach * error)
            found.append(ThetaEstimate(theta, error, interval, "exact"))
    return tuple(found)


def _least_of_agreement(
    partition: PartedPartition, n_rankings: float, thetas: _Floats, part: int, level: float
) -> float:
    """Return the least theta of a part that is 0 in all answers, given the other thetas."""

    def value(theta: float) -> float:
        at = thetas.copy()
        at[part] = theta
        return -n_rankings * partition.log_value(at)

    return least_theta_of_agreement(value, _LARGEST, level, 1e-8)


def _estimate_of_part(
    total: float, coefficients: _Floats, theta: float, level: float
) -> ThetaEstimate:
    from tierwise._kernels.inversions_lines import theta_derivatives

    if total == 0.0 and not coefficients[2:].any():
        # One item, or all tied: the data say nothing about this theta.
        return ThetaEstimate(0.0, inf, (0.0, inf), "exact")
    if isinf(theta):
        least = least_theta_of_agreement(
            lambda at: theta_derivatives(0.0, coefficients, at)[0], _LARGEST, level
        )
        return ThetaEstimate(inf, nan, (least, inf), "exact")
    return theta_of_information(theta, -theta_derivatives(total, coefficients, theta)[2], level)
