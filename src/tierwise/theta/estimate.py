"""Maximum likelihood of theta, one or several, with Wald intervals.

What the answers say is a curve over theta; `tierwise.theta.newton.climb` finds its top.
Where answers leave nothing open, the slope is the excess of the expected distance over that of the
data. Several thetas whose parts of the distance are independent are found one by one, in a kernel
that local searches call thousands of times; elsewhere all are found together.

Intervals come from the (inverse of the) information about theta (Wald 1943). Where all rankings
agree with the tiers, or a part of the distance is 0 in all of them, theta is infinite, and the
interval begins where that would be too surprising.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil, inf, isinf, log, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.comparisons import LARGEST_THETA
from tierwise._util.checks import RandomSource, as_generator, check_level
from tierwise._util.results import Result
from tierwise.answers.curves import CurveOfLines, CurveOfParts, HeldCurve
from tierwise.answers.given_sizes import (
    DOUBTFUL_THETA_OF_UNIT,
    LARGEST_FINITE_THETA_OF_UNIT,
    LARGEST_THETA_OF_UNIT,
    CurveOfWins,
    likely_theta,
)
from tierwise.errors import InputError
from tierwise.theta.newton import climb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tierwise.answers.base import Labels
    from tierwise.answers.curves import CurveOfThetas, ThetaCurve
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.distances import Distance
    from tierwise.partition.base import PartitionFunction
    from tierwise.theta.newton import Top
    from tierwise.tiers import Sizes

ThetaMethod: TypeAlias = Literal["exact", "monte-carlo"]

# At this theta, per unit of distance, orderings that are not the closest weigh nothing.
_LARGEST_THETA_OF_UNIT = 1e3
# Where the slope may be lost in rounding, log-likelihoods are equal up to so much an answer.
_ROUNDING = 1e-10
_FIRST_THETA = 0.1
_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ThetaEstimate(Result):
    """An estimate of theta and its uncertainty.

    Attributes
    ----------
    value
        The estimate. Infinite if every ranking agrees with the tiers, 0 if the rankings agree no
        more than by chance.
    standard_error
        From the Fisher information, ``1 / sqrt(q Var[d])``; NaN if theta is infinite.
    interval
        Confidence interval, within 0 and infinity.
    method
        "exact", or "monte-carlo" for the paper's iteration.
    converged
        Whether the iteration converged within its rounds; always true for the exact root.
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
        return NOTHING_KNOWN
    curve = CurveOfParts(partition, np.array([mean_distance * n_rankings]), 0.0, n_rankings)
    largest = _LARGEST_THETA_OF_UNIT / partition.rule.unit
    theta = inf
    if mean_distance > 0.0:
        start = (partition.mean(0.0) - mean_distance) / partition.variance(0.0)
        theta = float(top_of(curve, np.array([max(start, 0.0)]), largest).point[0])
    return with_interval(
        theta,
        lambda at: -n_rankings * partition.log_value(at),
        lambda: n_rankings * float(partition.variance(theta)),
        largest=largest,
        level=level,
    )


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
        As in `estimate_theta`.
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
        As in `ThetaEstimate`.

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


def top_of(curve: ThetaCurve, start: _Floats, largest: float) -> Top:
    """Return the top of a curve, thetas being between 0 and what is as good as infinite."""
    unit = largest / LARGEST_THETA_OF_UNIT
    return climb(
        curve.derivatives, start, low=0.0, high=largest, longest=unit, scale=1e-13 * largest
    )


def best_theta(likelihood: Likelihood, labels: Labels, start: float | None = None) -> float:
    """Return the theta at a maximum of the log-likelihood, given tiers.

    Infinite where the likelihood grows without end: all answers agree with the tiers. Answers whose
    completions are drawn have no part in this.

    Parameters
    ----------
    likelihood
        Of the answers.
    labels
        The tiers, counted from 0.
    start
        Where to begin; None leaves that to the likelihood.

    Examples
    --------
    >>> from tierwise import Battles
    >>> from tierwise.answers.likelihood import source_of
    >>> battles = Battles.from_rows([("x", "y", "x")] * 3 + [("x", "y", "y")])
    >>> likelihood = source_of(battles, "inversions").at((1, 1))
    >>> round(best_theta(likelihood, np.array([0, 1])), 4)  # log(3 / 1)
    1.0986
    """
    return best_theta_and_value(likelihood, labels, start)[0]


def best_theta_and_value(
    likelihood: Likelihood, labels: Labels, start: float | None = None
) -> tuple[float, float | None]:
    """Return the best theta as `best_theta` does, and the log-likelihood there if that is known.

    It is None where nothing was evaluated: at an infinite theta, or one taken as 0. Answers whose
    completions are drawn have no part in it, either.
    """
    if len(likelihood.sizes) == 1:
        return 0.0, None
    begin = likelihood.first_theta(labels) if start is None else start
    begin = max(begin, 1e-3 / likelihood.partition.rule.unit)
    largest = likelihood.largest_theta
    point, found = top_of(likelihood.curve(labels), np.array([begin]), largest)
    theta = float(point[0])
    of_unit = theta * likelihood.partition.rule.unit
    if of_unit > LARGEST_FINITE_THETA_OF_UNIT:
        return inf, None
    if of_unit > DOUBTFUL_THETA_OF_UNIT:
        # Here the slope may be lost in rounding.
        at_infinity = float(likelihood.value(labels, largest))
        if at_infinity >= found.value - _ROUNDING * likelihood.n_rankings:
            return inf, None
    is_zero = theta < 1e-9 * largest
    return 0.0 if is_zero else theta, None if is_zero and theta > 0.0 else found.value


def best_theta_of_lines(counts: WeakOrderCounts, labels: Labels) -> float:
    """Return the theta at which weak orders are most probable under inversions, given tiers."""
    return float(maximise_thetas(CurveOfLines.of(counts, labels).with_one_theta()).thetas[0])


def best_theta_of_wins(
    between: _Floats, sizes: NDArray[np.int64], start: float | None = None
) -> float:
    """Return the finite theta at which wins between several tiers are most probable.

    There may be more than one maximum: it is the one next to ``start``, or to the best of some.
    """
    begin = likely_theta(between, sizes) if start is None else start
    return float(top_of(CurveOfWins(between, sizes), np.array([begin]), LARGEST_THETA).point[0])


def with_interval(
    theta: float,
    value: Callable[[float], float],
    information: Callable[[], float],
    *,
    largest: float,
    level: float,
    tolerance: float = 1e-10,
) -> ThetaEstimate:
    """Return a theta of greatest likelihood with its interval, whether it is finite or not.

    Parameters
    ----------
    theta
        The estimate.
    value
        Log-likelihood at a theta; needed where the estimate is infinite.
    information
        The information about theta; needed where it is finite.
    largest
        A theta that is as good as infinite.
    level
        Level of the interval.
    tolerance
        Error of the lower end, relative to it, where theta is infinite.
    """
    if isinf(theta):
        least = least_theta_of_agreement(value, largest, level, tolerance)
        return ThetaEstimate(inf, nan, (least, inf), "exact")
    return theta_of_information(theta, information(), level)


NOTHING_KNOWN = ThetaEstimate(0.0, inf, (0.0, inf), "exact")
"""Of a single tier, or of answers that are all tied: theta says nothing."""


class BestThetas(NamedTuple):
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
    curve: CurveOfThetas,
    start: _Floats | None = None,
    known: dict[bytes, tuple[float, float]] | None = None,
) -> BestThetas:
    """Find the thetas that make the answers most probable.

    Parameters
    ----------
    curve
        What the answers say about the thetas of given tiers.
    start
        Thetas to begin with, where they are found together.
    known
        Thetas that were found one by one before, which is added to: of tiers that differ little,
        most parts are the same.
    """
    if isinstance(curve, CurveOfLines):
        return _one_by_one(curve, {} if known is None else known)
    return _together(curve, start)


def _one_by_one(curve: CurveOfLines, known: dict[bytes, tuple[float, float]]) -> BestThetas:
    from tierwise._kernels.inversions_lines import maximise_theta

    thetas, value = np.zeros(curve.n_thetas), curve.log_orders
    for part, total in enumerate(curve.totals.tolist()):
        if curve.says_nothing(part):
            continue
        coefficients = curve.coefficients[part]
        key = coefficients.tobytes() + curve.totals[part].tobytes()
        if key not in known:
            known[key] = maximise_theta(total, coefficients)[:2]
        thetas[part], height = known[key]
        value += height
    return BestThetas(thetas, value)


def _together(curve: CurveOfParts, start: _Floats | None) -> BestThetas:
    # Parts that are 0 in all answers have an infinite theta whatever the others are.
    free = curve.totals > 0.0
    thetas = np.where(free, _FIRST_THETA, inf)
    if not free.any():
        return BestThetas(thetas, curve.derivatives(thetas).value)
    if start is not None:
        usable = free & np.isfinite(start) & (start > 0.0)
        thetas[usable] = start[usable]
    top = top_of(HeldCurve(curve, free, thetas), thetas[free], LARGEST_THETA_OF_UNIT)
    thetas[free] = np.where(top.point > LARGEST_FINITE_THETA_OF_UNIT, inf, top.point)
    return BestThetas(thetas, top.derivatives.value)


def estimates_of_thetas(
    curve: CurveOfThetas, thetas: _Floats | None = None, level: float = 0.95
) -> tuple[ThetaEstimate, ...]:
    """Return each theta of greatest likelihood with standard error and interval.

    Parameters
    ----------
    curve
        What the answers say about the thetas of given tiers.
    thetas
        What `maximise_thetas` found, if it was asked.
    level
        Level of the intervals.

    Examples
    --------
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 2, 1]]))
    >>> curve = CurveOfLines.of(counts, np.array([0, 1, 2]))
    >>> [one.value for one in estimates_of_thetas(curve)]
    [inf, 0.0]
    >>> round(estimates_of_thetas(curve.with_one_theta())[0].value, 4)
    1.3556
    """
    check_level(level)
    if isinstance(curve, CurveOfLines):
        return tuple(_estimate_of_line(curve, part, level) for part in range(curve.n_thetas))
    return _estimates_together(
        curve, maximise_thetas(curve).thetas if thetas is None else thetas, level
    )


def _estimate_of_line(curve: CurveOfLines, part: int, level: float) -> ThetaEstimate:
    """Estimate the theta of an independent part of the distance."""
    from tierwise._kernels.inversions_lines import maximise_theta, theta_derivatives

    if curve.says_nothing(part):
        return NOTHING_KNOWN
    total, coefficients = float(curve.totals[part]), curve.coefficients[part]
    theta, _, information = maximise_theta(total, coefficients)
    return with_interval(
        theta,
        lambda at: theta_derivatives(total, coefficients, at)[0],
        lambda: information,
        largest=LARGEST_THETA_OF_UNIT,
        level=level,
    )


def _estimates_together(
    curve: CurveOfParts, thetas: _Floats, level: float
) -> tuple[ThetaEstimate, ...]:
    """Estimate thetas whose parts of the distance depend on each other."""
    known = np.isfinite(thetas)
    information = np.full(len(thetas), 0.0)
    if known.any():
        hessian = curve.derivatives(thetas).hessian
        inverse = np.linalg.pinv(-hessian[np.ix_(known, known)], hermitian=True)
        variances = np.diag(inverse)
        information[known] = np.divide(
            1.0, variances, out=np.full(len(variances), inf), where=variances > 0.0
        )

    def value(theta: float, part: int) -> float:
        at = thetas.copy()
        at[part] = theta
        return -curve.n_rankings * curve.partition.log_value(at)

    return tuple(
        with_interval(
            theta,
            partial(value, part=part),
            partial(float, information[part]),
            largest=LARGEST_THETA_OF_UNIT,
            level=level,
            tolerance=1e-8,
        )
        for part, theta in enumerate(thetas.tolist())
    )
