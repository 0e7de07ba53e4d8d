"""Maximum pseudo-likelihood, the paper's cheap approximation: coordinate ascent by swaps.

Piancastelli and Friel, Clustered Mallows Model.
"""

from itertools import combinations
from math import exp, inf, nan

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.consensus import total_cost
from tierwise._kernels.orderings import log_pseudo
from tierwise.answers.likelihood import AnswerSource
from tierwise.consensus.find import find_consensus
from tierwise.data.counts import Numbers
from tierwise.fitting.solution import Settings, Solution, unproved
from tierwise.theta.estimate import ThetaEstimate, theta_of_information
from tierwise.tiers import Sizes

MOST_THETA = 1e3


def solve_pseudo(
    source: AnswerSource, sizes: Sizes, settings: Settings, rng: np.random.Generator
) -> Solution:
    """Climb from a consensus to tiers and theta that no swap of two items improves.

    The pseudo-likelihood does not depend on the distance; the distance only gives the start.

    Parameters
    ----------
    source, sizes, settings, rng
        As for `tierwise.fitting.solve.solve`.
    """
    likelihood = PseudoLikelihood(source.complete_orderings(), source.weights, sizes)
    costs = source.at(sizes).costs_at_random()
    start = find_consensus(
        costs, sizes, method=settings.method, rng=rng, time_limit=settings.time_limit
    )
    labels = start.labels.copy()
    theta = likelihood.best_theta(labels)
    improved = True
    while improved:
        labels, improved = likelihood.climb(labels, theta)
        theta = likelihood.best_theta(labels)
    total = float(total_cost(labels, costs.linear, costs.pairs))
    return Solution(
        consensus=unproved(labels, total, "pseudo-likelihood ascent"),
        theta=likelihood.with_error(labels, theta, settings.level),
        log_likelihood=likelihood.value(labels, theta),
        log_likelihood_error=0.0,
        partition_method="none: pseudo-likelihood",
    )


class PseudoLikelihood:
    """The log pseudo-likelihood of rankings, for any labels and theta."""

    def __init__(self, orderings: NDArray[np.int64], weights: Numbers, sizes: Sizes) -> None:
        self.orderings = orderings
        self.weights = weights.astype(np.float64)
        self.sizes = np.array(sizes, dtype=np.int64)

    def value(self, labels: NDArray[np.int64], theta: float) -> float:
        """Return the log pseudo-likelihood."""
        largest = int(self.sizes.max())
        # At an infinite theta the chosen label is the smallest one left, and nothing else counts.
        decay = np.exp(-min(theta, MOST_THETA) * np.arange(largest + 1))
        values = log_pseudo(labels[self.orderings], self.sizes, decay, min(theta, MOST_THETA))
        return float(self.weights @ values)

    def best_theta(self, labels: NDArray[np.int64]) -> float:
        """Maximise over theta, in which the log pseudo-likelihood is concave."""
        from scipy.optimize import minimize_scalar

        sequences = labels[self.orderings][self.weights > 0]
        if (np.diff(sequences, axis=1) >= 0).all():
            return inf if len(self.sizes) > 1 else 0.0
        found = minimize_scalar(
            lambda log_theta: -self.value(labels, exp(log_theta)),
            bounds=(np.log(1e-9), np.log(MOST_THETA)),
            method="bounded",
            options={"xatol": 1e-10},
        )
        theta = exp(float(found.x))
        return 0.0 if self.value(labels, 0.0) >= self.value(labels, theta) else theta

    def climb(self, labels: NDArray[np.int64], theta: float) -> tuple[NDArray[np.int64], bool]:
        """Swap two items as long as that raises the value; tell whether any swap did."""
        best = self.value(labels, theta)
        improved_ever, improved = False, True
        while improved:
            improved = False
            for first, second in combinations(range(len(labels)), 2):
                if labels[first] == labels[second]:
                    continue
                swapped = labels.copy()
                swapped[first], swapped[second] = labels[second], labels[first]
                value = self.value(swapped, theta)
                if value > best + 1e-9 * abs(best):
                    labels, best, improved, improved_ever = swapped, value, True, True
        return labels, improved_ever

    def with_error(self, labels: NDArray[np.int64], theta: float, level: float) -> ThetaEstimate:
        """Add the standard error, from the curvature at the maximum."""
        if theta == inf:
            return ThetaEstimate(inf, nan, (0.0, inf), "exact")
        step = 1e-3 * max(theta, 0.01)
        middle = max(theta, step)
        curvature = (
            2 * self.value(labels, middle)
            - self.value(labels, middle - step)
            - self.value(labels, middle + step)
        ) / step**2
        return theta_of_information(theta, curvature, level)
