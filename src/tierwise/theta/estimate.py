"""Maximum likelihood of theta, one or several: Newton's method, with Wald intervals.

One theta: ``E_theta[d]`` falls with theta, and the maximum is where it is the mean distance of the
data; the root of this likelihood equation is found by Newton's method within a bracket. Several
thetas: where the parts of the distance are independent every theta is found by itself. Elsewhere
all are found together, by Newton steps that are halved until the log-likelihood grows and that stop
at 0; the gradient needs the expected parts, the Hessian their covariance.

Intervals come from the (inverse of the) information about theta (Wald 1943). Where all rankings
agree with the tiers, or a part of the distance is 0 in all of them, theta is infinite, and the
interval begins where that would be too surprising.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isinf, log, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import RandomSource, as_generator, check_level
from tierwise._util.results import Result
from tierwise.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tierwise.answers.parted import PartStatistics
    from tierwise.distances import Distance
    from tierwise.partition.base import PartitionFunction
    from tierwise.partition.parts import PartedPartition
    from tierwise.tiers import Sizes

ThetaMethod: TypeAlias = Literal["exact", "monte-carlo"]

# At this theta, per unit of distance, orderings that are not the closest weigh nothing.
_LARGEST_THETA_OF_UNIT = 1e3
_Floats = NDArray[np.float64]
# A theta as good as infinite, and the largest that can be told from it; as in the likelihood.
_LARGEST, _LARGEST_FINITE = 46.0, 25.0
_NEWTON_STEPS = 200
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class ThetaEstimate(Result):
    """An estimate of theta, and how sure it is.

    Attributes
    ----------
    value
        The estimate. Infinite when every ranking agrees with the tiers, 0 when the rankings agree
        no more than by chance.
    standard_error
        From the Fisher information, ``1 / sqrt(q Var[d])``; NaN where theta is infinite.
    interval
        Confidence interval, within 0 and infinity.
    method
        "exact", or "monte-carlo" for the paper's iteration.
    converged
        Whether the iteration settled within its rounds; always so for the exact root.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    method: ThetaMethod
    converged: bool = True


def estimate_theta(
    partition: PartitionFunction,
    mean_distance: float,
    n_rankings: float,
    *,
    level: float = 0.95,
) -> ThetaEstimate:
    """Solve ``E_theta[d] = mean distance``, the likelihood equation.

    Parameters
    ----------
    partition
        The partition function of the sizes and distance at hand.
    mean_distance
        Mean distance of the rankings from the tiers.
    n_rankings
        Number of rankings, for the standard error.
    level
        Level of the interval.

    Examples
    --------
    >>> from tierwise.partition.choose import partition_function
    >>> estimate = estimate_theta(partition_function((1, 1, 1)), mean_distance=1.0, n_rankings=100)
    >>> round(estimate.value, 4), round(estimate.standard_error, 4)
    (0.5706, 0.1118)
    """
    check_level(level)
    if partition.variance(0.0) == 0.0:
        # One tier: every ranking has distance 0, and theta says nothing.
        return ThetaEstimate(0.0, inf, (0.0, inf), "exact")
    if mean_distance <= 0.0:
        lower = _least_theta_where_all_agree(partition, n_rankings, level)
        return ThetaEstimate(inf, nan, (lower, inf), "exact")
    value = _root(partition, mean_distance)
    return theta_of_information(value, n_rankings * partition.variance(value), level)


def iterate_theta(
    partition: PartitionFunction,
    mean_distance: float,
    n_rankings: float,
    *,
    level: float = 0.95,
    tolerance: float = 0.001,
    rounds: int = 100,
    start: float = 0.1,
    rng: RandomSource = None,
) -> ThetaEstimate:
    """Match moments by simulation, as in the paper.

    Each round draws ``1 / tolerance`` rankings by the Metropolis sampler and multiplies theta by
    simulated over observed mean distance. The iteration stops when theta moves by less than the
    tolerance, or after a number of rounds.

    Parameters
    ----------
    partition
        Names sizes and distance; only its variance is used, for the standard error.
    mean_distance, n_rankings, level
        As for `estimate_theta`.
    tolerance
        The paper's epsilon.
    rounds
        The most rounds to make; ``converged`` is False if they were not enough.
    start
        Theta to begin with.
    rng
        Seed or generator.
    """
    check_level(level)
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie between 0 and 1; got {tolerance:g}")
    if rounds < 1:
        raise InputError(f"rounds must be at least 1; got {rounds}")
    if mean_distance <= 0.0 or partition.variance(0.0) == 0.0:
        return estimate_theta(partition, mean_distance, n_rankings, level=level)
    generator = as_generator(rng)
    theta, converged = start, False
    for _ in range(rounds):
        simulated = simulated_mean_distance(
            partition.sizes, partition.distance, theta, ceil(1 / tolerance), generator
        )
        following = theta * simulated / mean_distance
        # A theta that collapses to 0 hardly moves either, but its distances are not those observed.
        error = sqrt(partition.variance(theta) * tolerance)
        matched = abs(simulated - mean_distance) < 5 * error
        converged = matched and abs(following - theta) < tolerance
        theta = following
        if converged:
            break
    information = n_rankings * partition.variance(theta)
    return theta_of_information(theta, information, level, "monte-carlo", converged=converged)


def theta_of_information(
    theta: float,
    information: float,
    level: float,
    method: ThetaMethod = "exact",
    *,
    converged: bool = True,
) -> ThetaEstimate:
    """Return an estimate of theta with its Wald interval.

    Parameters
    ----------
    theta
        The estimate, finite.
    information
        Minus the second derivative of the log-likelihood there; none if it is not positive.
    level
        Level of the interval.
    method, converged
        As for `ThetaEstimate`.

    Examples
    --------
    >>> estimate = theta_of_information(0.5, information=100.0, level=0.95)
    >>> estimate.standard_error, [round(bound, 3) for bound in estimate.interval]
    (0.1, [0.304, 0.696])
    """
    standard_error = 1 / sqrt(information) if information > 0 else inf
    reach = NormalDist().inv_cdf((1 + level) / 2) * standard_error
    interval = (max(0.0, theta - reach), theta + reach)
    return ThetaEstimate(theta, standard_error, interval, method, converged)


def least_theta_of_agreement(
    value: Callable[[float], float], largest: float, level: float, tolerance: float = 1e-10
) -> float:
    """Return the smallest theta at which answers that all agree with the tiers do not surprise.

    There their likelihood is one minus the level of what it is where theta is infinite.

    Parameters
    ----------
    value
        Log-likelihood at a theta, which grows with theta.
    largest
        A theta that is as good as infinite.
    level
        Level of the interval that begins there.
    tolerance
        Error of the theta, relative to it.

    Examples
    --------
    >>> from math import exp
    >>> theta = least_theta_of_agreement(lambda theta: -exp(-theta), 50.0, level=0.5)
    >>> round(theta, 6) == round(-log(log(2)), 6)
    True
    """
    low, high = 0.0, largest
    bound = value(high) + log(1 - level)
    if value(low) >= bound:
        return 0.0
    while high - low > tolerance * high:
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) < bound else (low, middle)
    return high


def simulated_mean_distance(
    sizes: Sizes, distance: Distance, theta: float, draws: int, rng: np.random.Generator
) -> float:
    """Mean distance of rankings drawn by the Metropolis sampler."""
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.tiers import Tiers

    model = ClusteredMallows(Tiers.from_sizes(sizes, range(sum(sizes))), theta, distance)
    return float(model.distances(model.sample(draws, rng, method="mcmc")).mean())


def _root(partition: PartitionFunction, mean_distance: float) -> float:
    """Find theta by Newton steps kept inside a bracket: the mean distance falls with theta."""
    if mean_distance >= partition.mean(0.0):
        return 0.0
    low, high = 0.0, inf
    theta = (partition.mean(0.0) - mean_distance) / partition.variance(0.0)
    for _ in range(200):
        excess = partition.mean(theta) - mean_distance
        if excess > 0:
            low = theta
        else:
            high = theta
        variance = partition.variance(theta)
        step = excess / variance if variance > 0 else inf
        following = theta + step
        if low < following <= high:
            # Newton steps square the error: after one this small there is none left to speak of.
            if abs(step) <= 1e-8 * theta:
                return following
        else:
            following = 2 * theta if isinf(high) else (low + high) / 2
            if abs(following - theta) <= 1e-13 * theta:
                return following
        theta = following
    return theta


def _least_theta_where_all_agree(
    partition: PartitionFunction, n_rankings: float, level: float
) -> float:
    """Return the least theta that goes with rankings that all have distance 0."""

    def log_likelihood(theta: float) -> float:
        return -n_rankings * partition.log_value(theta)

    return least_theta_of_agreement(
        log_likelihood, _LARGEST_THETA_OF_UNIT / partition.rule.unit, level
    )


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
