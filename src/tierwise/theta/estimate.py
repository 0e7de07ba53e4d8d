"""Maximum likelihood of theta: the root of the likelihood equation, with its Wald interval.

``E_theta[d]`` falls with theta, and the maximum is where it is the mean distance of the data; the
root is found by Newton's method within a bracket. The interval is theirs who know the information
about theta (Wald 1943); where all rankings agree with the tiers theta is infinite, and the interval
begins where that would be too surprising.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, isinf, log, nan, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from tierwise._util.checks import RandomSource, as_generator, check_level
from tierwise.distances.base import Distance
from tierwise.errors import InputError
from tierwise.partition.base import PartitionFunction
from tierwise.tiers.sizes import Sizes

ThetaMethod: TypeAlias = Literal["exact", "monte-carlo"]

# At this theta, per unit of distance, orderings that are not the closest weigh nothing.
_LARGEST_THETA_OF_UNIT = 1e3


@dataclass(frozen=True)
class ThetaEstimate:
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
    from tierwise.tiers.ordered_partition import Tiers

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
