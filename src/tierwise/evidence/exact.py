"""Evidence by summing over all tiers: a recursion over sets of items, and an integral over theta.

``p(data | sizes)`` is the integral over theta of its prior times the mean probability of the data
over all tiers of these sizes. The sum over tiers is exact, by dynamic programming over sets of
items (as Held and Karp 1962, with sums in the place of minima); its logarithm is smooth, so a few
thetas say what it is at all others. The integral is taken in ``log theta`` by the trapezoidal rule,
which for such a bump converges exponentially fast (Trefethen and Weideman, SIAM Review 56, 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.subsets import least_costs, weigh_tiers
from tierwise.consensus.problem import make_problem
from tierwise.consensus.subsets import subset_work
from tierwise.errors import TooLargeError
from tierwise.partition.interpolated import LogPartition, ThetaSeries
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.likelihood import Likelihood
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
            f"the evidence of sizes {sizes} is a sum over tiers that takes {transitions:.2g} "
            f"steps, and more than {MOST_TRANSITIONS:.2g} are too many: evidence is for up to "
            'about 19 items; use criterion="likelihood", or fewer items'
        )
