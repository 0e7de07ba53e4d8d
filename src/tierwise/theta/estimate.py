"""Theta: how concentrated opinion is, from the mean distance of the data."""

from dataclasses import dataclass
from math import ceil, exp, inf, isinf, lgamma, log, nan, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.random import RandomSource, as_generator
from tierwise.distances.base import Distance
from tierwise.errors import InputError
from tierwise.partition.base import PartitionFunction
from tierwise.tiers.sizes import Sizes

ThetaMethod: TypeAlias = Literal["exact", "monte-carlo"]


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
    confidence: float = 0.95,
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
    confidence
        Level of the interval.

    Examples
    --------
    >>> from tierwise.partition.choose import partition_function
    >>> estimate = estimate_theta(partition_function((1, 1, 1)), mean_distance=1.0, n_rankings=100)
    >>> round(estimate.value, 4), round(estimate.standard_error, 4)
    (0.5706, 0.1118)
    """
    check_confidence(confidence)
    if partition.variance(0.0) == 0.0:
        # One tier: every ranking has distance 0, and theta says nothing.
        return ThetaEstimate(0.0, inf, (0.0, inf), "exact")
    if mean_distance <= 0.0:
        lower = _least_theta_of_agreement(partition, n_rankings, confidence)
        return ThetaEstimate(inf, nan, (lower, inf), "exact")
    value = _root(partition, mean_distance)
    return _with_error(partition, value, n_rankings, confidence, "exact", converged=True)


def iterate_theta(
    partition: PartitionFunction,
    mean_distance: float,
    n_rankings: float,
    *,
    confidence: float = 0.95,
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
    mean_distance, n_rankings, confidence
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
    check_confidence(confidence)
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie between 0 and 1; got {tolerance:g}")
    if rounds < 1:
        raise InputError(f"rounds must be at least 1; got {rounds}")
    if mean_distance <= 0.0 or partition.variance(0.0) == 0.0:
        return estimate_theta(partition, mean_distance, n_rankings, confidence=confidence)
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
    return _with_error(partition, theta, n_rankings, confidence, "monte-carlo", converged=converged)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level that is none."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, such as 0.95; got {confidence:g}")


def check_theta_method(method: str) -> None:
    """Refuse an unknown way to find theta."""
    if method not in get_args(ThetaMethod):
        known = ", ".join(repr(name) for name in get_args(ThetaMethod))
        raise InputError(f"there is no theta method {method!r}: choose one of {known}")


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


def _with_error(
    partition: PartitionFunction,
    value: float,
    n_rankings: float,
    confidence: float,
    method: ThetaMethod,
    *,
    converged: bool,
) -> ThetaEstimate:
    information = n_rankings * partition.variance(value)
    standard_error = 1 / sqrt(information) if information > 0 else inf
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * standard_error
    interval = (max(0.0, value - reach), value + reach)
    return ThetaEstimate(value, standard_error, interval, method, converged)


def _least_theta_of_agreement(
    partition: PartitionFunction, n_rankings: float, confidence: float
) -> float:
    """Smallest theta at which all rankings agreeing with the tiers is not too surprising."""
    log_orderings = sum(lgamma(size + 1) for size in partition.sizes)
    bound = log(1 - confidence) / n_rankings

    def surprise(log_theta: float) -> float:
        return log_orderings - partition.log_value(exp(log_theta)) - bound

    low, high = log(1e-12), log(1e3)
    if surprise(low) >= 0:
        return 0.0
    from scipy.optimize import brentq

    return exp(float(brentq(surprise, low, high, xtol=1e-10)))
