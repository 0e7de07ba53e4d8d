"""Evidence by summing over tiers: over all by dynamic programming, or over those that matter.

``p(data | sizes)`` is the integral over theta of its prior times the mean probability of the data
over all tiers of these sizes. The sum over tiers is exact, by dynamic programming over sets of
items (as Held and Karp 1962, with sums instead of minima); its logarithm is smooth, so a few
thetas say what it is at all others. The integral is taken in ``log theta`` by the trapezoidal rule,
which for such a bump converges exponentially fast (Trefethen and Weideman, SIAM Review 56, 2014).

For answers that leave something open no recursion sums over tiers, because the probability of an
answer is itself a sum over its completions. But where the data say much, few tiers have any weight:
a best-first search goes from the best ones to their neighbours, as long as these have a share worth
mentioning. Theta is integrated over in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.subsets import least_costs, weigh_tiers
from tierwise.consensus.problem import make_problem
from tierwise.consensus.subsets import subset_work
from tierwise.errors import TooLargeError, use
from tierwise.fitting.em import neighbouring_swaps
from tierwise.partition.interpolated import LogPartition, ThetaSeries, chebyshev_thetas
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from tierwise.answers.base import Labels
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.consensus.problem import Problem
    from tierwise.model.priors import ThetaPrior
    from tierwise.theta.density import ThetaDensity

# Transitions of the recursion over sets: some seconds for a few dozen thetas.
MOST_TRANSITIONS = 50_000_000
# Thetas at which all tiers are summed, at first; what lies between is interpolated.
NODES = 32
_TOLERANCE = 1e-11
# What tiers at a larger excess distance add is below the rounding error.
_NEGLIGIBLE = 40.0
Floats: TypeAlias = NDArray[np.float64]
# Tiers that are less probable than the best by this logarithm have no neighbours that matter.
_DEPTH = 20.0
# Tiers that are even less probable are not worth integrating over theta.
_NOTHING = 45.0
# Seconds that a size vector may take, about.
_SECONDS = 3.0
_FEWEST_TIERS = 25
# Degrees of the sum over tiers as a series in theta.
_FIRST_DEGREE, _LAST_DEGREE = 16, 128
_TOLERANCE_OF_LIKELY = 1e-9


@dataclass(frozen=True, eq=False)
class SumOverTiers:
    """Theta with all tiers of given sizes summed over.

    Attributes
    ----------
    theta
        Density of theta.
    log_evidence
        Log probability of the rankings given the sizes; tiers of these sizes are equally probable
        beforehand.
    least
        Least costs of all sets of items, from which tiers can be drawn.
    """

    theta: ThetaDensity
    log_evidence: float
    least: NDArray[np.float64]


def sum_over_tiers(
    problem: Problem, given: ThetaGivenDistance, log_completions: float = 0.0
) -> SumOverTiers:
    """Sum over all tiers of given sizes, and integrate over theta.

    Parameters
    ----------
    problem
        Costs of the tiers.
    given
        The posterior of theta given the total distance.
    log_completions
        Log of the number of orderings that agree with the answers, summed over answers.
    """
    sizes = problem.sizes_array
    least = least_costs(problem.linear, problem.pairs_transposed, sizes)
    log_tiers = log_number_of_tiers(problem.sizes)

    def log_sum(thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log of the sum over tiers, relative to the best: between 0 and log of their number."""
        largest_excess = (_NEGLIGIBLE + log_tiers) / float(thetas.min())
        weights = weigh_tiers(
            problem.linear, problem.pairs_transposed, sizes, least, thetas, largest_excess
        )
        log_weights: NDArray[np.float64] = np.log(weights)
        return log_weights

    def interpolated(thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = float(thetas[0]), float(thetas[-1])
        series = ThetaSeries(log_sum, low, high, first_degree=NODES, tolerance=_TOLERANCE)
        return series(thetas)

    theta = given.weighed_density(float(least[-1]), log_tiers, interpolated)
    return SumOverTiers(theta, theta.log_integral - log_tiers + log_completions, least)


def log_share_of_tiers(problem: Problem, labels: NDArray[np.int64], theta: float) -> float:
    """Log probability of tiers given theta, among all tiers of the same sizes."""
    sizes = problem.sizes_array
    least = least_costs(problem.linear, problem.pairs_transposed, sizes)
    largest_excess = (_NEGLIGIBLE + log_number_of_tiers(problem.sizes)) / theta
    weights = weigh_tiers(
        problem.linear,
        problem.pairs_transposed,
        sizes,
        least,
        np.array([theta]),
        largest_excess,
    )
    excess = problem.total(labels) - float(least[-1])
    return -theta * excess - float(np.log(weights[0]))


def log_evidence(likelihood: Likelihood, prior: ThetaPrior) -> float:
    """Log probability of answers whose blocks are known, given the sizes of the tiers only.

    Parameters
    ----------
    likelihood
        Of the answers, at given sizes.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.

    Examples
    --------
    >>> from tierwise import Gamma, Rankings
    >>> from tierwise.answers.likelihood import source_of
    >>> rankings = Rankings.from_orderings([["a", "b", "c"]] * 3)
    >>> likelihood = source_of(rankings, "kendall").at((1, 2))
    >>> round(log_evidence(likelihood, Gamma(2, 2)), 6)
    -3.967295
    """
    partition = likelihood.partition
    refuse_too_many_tiers(partition.sizes)
    given = ThetaGivenDistance(LogPartition(partition), likelihood.n_rankings, prior)
    problem = make_problem(likelihood.costs_at_random(), partition.sizes)
    return sum_over_tiers(problem, given, likelihood.log_completions).log_evidence


def refuse_too_many_tiers(sizes: tuple[int, ...]) -> None:
    """Raise if the sum over all tiers of these sizes is beyond reach."""
    transitions = subset_work(sizes).transitions
    if transitions > MOST_TRANSITIONS:
        raise TooLargeError(
            f"the evidence of sizes {sizes} takes {transitions:.2g} steps, and the limit is "
            f"{MOST_TRANSITIONS:.2g}: evidence works for up to about 19 items",
            [use(criterion="likelihood"), "use fewer items"],
        )


def sum_over_likely_tiers(likelihood: Likelihood, prior: ThetaPrior, best: Labels) -> float | None:
    """Log probability of answers given the sizes of the tiers only; None if too many tiers matter.

    Parameters
    ----------
    likelihood
        Of the answers, at given sizes.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.
    best
        The most probable tiers.
    """
    known = _LogLikelihoods(likelihood)
    largest = likelihood.largest_theta
    # As theta grows the log-likelihood falls by the distance of the closest completions; what is
    # left when that is taken out is smooth up to infinity.
    closest = likelihood.sums(best, largest).mean

    def without_slope(thetas: Floats) -> Floats:
        finite = np.minimum(thetas, largest)
        return known.of(best, finite) + closest * finite

    of_best = ThetaSeries(without_slope, 0.0, inf, tolerance=_TOLERANCE_OF_LIKELY)
    given = ThetaGivenDistance(lambda thetas: -of_best(thetas), 1.0, prior)
    log_tiers = log_number_of_tiers(likelihood.partition.sizes)
    low, high = given.range(closest, log_tiers)
    thetas = chebyshev_thetas(low, high, _FIRST_DEGREE)
    n_affordable = _SECONDS / likelihood.seconds / len(thetas)
    most = max(int(n_affordable), _FEWEST_TIERS)
    likely = _likely_tiers(known, best, thetas, prior.log_density(thetas) + np.log(thetas), most)
    if likely is None:
        return None

    def log_sum(thetas: Floats) -> Floats:
        """Log of the sum over tiers, relative to the best ones."""
        logs = np.array([known.of(labels, thetas) for labels in likely])
        relative: Floats = np.logaddexp.reduce(logs - logs[0], axis=0)
        return relative

    series = ThetaSeries(
        log_sum,
        low,
        high,
        first_degree=_FIRST_DEGREE,
        last_degree=_LAST_DEGREE,
        tolerance=_TOLERANCE_OF_LIKELY,
    )
    return given.weighed_density(closest, log_tiers, series).log_integral - log_tiers


class _LogLikelihoods:
    """The log-likelihood of any tiers at any thetas; what was computed is kept."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._likelihood = likelihood
        self._known: dict[tuple[bytes, float], float] = {}

    def of(self, labels: Labels, thetas: Floats) -> Floats:
        """Return it for some tiers at many thetas."""
        return np.array([self._at(labels, theta) for theta in thetas.tolist()])

    def _at(self, labels: Labels, theta: float) -> float:
        key = (labels.tobytes(), theta)
        if key not in self._known:
            self._known[key] = self._likelihood.value(labels, theta)
        return self._known[key]


def _likely_tiers(
    known: _LogLikelihoods, best: Labels, thetas: Floats, log_prior: Floats, most: int
) -> list[Labels] | None:
    """Go from tiers to their neighbours as long as these matter; None if there are too many."""
    likely = [best]
    seen = {best.tobytes()}
    heights = known.of(best, thetas) + log_prior
    mode = int(heights.argmax())
    top = of_best = float(heights[mode])
    waiting = [(-top, 0, best)]
    while waiting:
        below, _, labels = heappop(waiting)
        top = max(top, -below)
        if -below < top - _DEPTH:
            break
        for neighbour in neighbouring_swaps(labels):
            if neighbour.tobytes() in seen:
                continue
            if len(likely) == most:
                return None
            seen.add(neighbour.tobytes())
            at_mode = float(known.of(neighbour, thetas[[mode]])[0] + log_prior[mode])
            if at_mode < of_best - _NOTHING:
                continue
            height = float((known.of(neighbour, thetas) + log_prior).max())
            heappush(waiting, (-height, len(seen), neighbour))
            likely.append(neighbour)
    return likely
