"""Collapsed Metropolis: tiers of given sizes with theta integrated out, which is drawn afterwards.

The posterior of tiers is then a function of their total distance only, which is tabulated, so that
many iterations are made in one go (Liu, The Collapsed Gibbs Sampler in Bayesian Computations,
Journal of the American Statistical Association 89, 1994).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._kernels.consensus import LogWeights, log_weight, walk_over_tiers
from tierwise.posterior.target import summed_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.consensus.problem import Problem
    from tierwise.posterior.chain import State, Trace
    from tierwise.posterior.target import SizedTarget
    from tierwise.theta.density import ThetaGivenDistance

# Largest error of the logarithm half way between two knots, as found; a quarter of it elsewhere.
TOLERANCE = 1e-9
_FIRST_KNOTS = 9


@dataclass(frozen=True)
class CollapsedWalk:
    """Let items trade tiers with theta integrated out; many iterations in one go.

    Attributes
    ----------
    sized
        The posterior for the given sizes.
    weights
        The posterior of tiers by total distance.
    n_steps
        Switches of labels tried in an iteration.
    """

    sized: SizedTarget
    weights: LogWeights = field(repr=False)
    n_steps: int

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Run one iteration per entry of ``kept``, and record the draws where it is true."""
        sized, weights = self.sized, self.weights
        labels, totals, n_accepted = walk_over_tiers(
            state.labels,
            sized.sizes_array,
            sized.problem.costs,
            weights,
            self.n_steps,
            len(kept),
            rng,
        )
        thetas, log_posteriors = self._draw_thetas(totals, rng)
        trace.extend(
            labels[kept],
            total=sized.distances(totals[kept], thetas[kept]),
            theta=thetas[kept],
            log_posterior=log_posteriors[kept],
            accepted_tiers=n_accepted[kept] / self.n_steps,
        )
        return state._replace(
            labels=labels[-1],
            total=float(totals[-1]),
            theta=float(thetas[-1]),
            iteration=state.iteration + len(kept),
        )

    def facts(self) -> dict[str, Any]:
        """Return what is known without looking at draws."""
        source = self.sized.target.source
        return {} if source.is_known(self.sized.sizes) else summed_over(source)

    def _draw_thetas(
        self, totals: NDArray[np.float64], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw theta for each total distance, and return the log posterior of its tiers too."""
        thetas = rng.random(len(totals))
        for total in np.unique(totals).tolist():
            rows = totals == total
            thetas[rows] = self.sized.theta.density(total).quantile(thetas[rows])
        return thetas, self.sized.log_posteriors(totals)


def tabulate_weights(sized: SizedTarget) -> LogWeights:
    """Tabulate the log weight of every total distance that tiers of these sizes can have.

    Intervals are halved until a cubic hits the exact value in their middle.
    """
    low, high = possible_totals(sized.problem)
    knots = np.linspace(low, max(high, low + 1.0), _FIRST_KNOTS)
    exact = {total: _evaluate(sized.theta, total) for total in knots.tolist()}
    unsure = list(zip(knots[:-1].tolist(), knots[1:].tolist(), strict=True))
    while unsure:
        halves = []
        for left, right in unsure:
            middle = (left + right) / 2
            exact[middle] = _evaluate(sized.theta, middle)
            cubic = _table({left: exact[left], right: exact[right]})
            rounding = 4e-16 * abs(exact[middle][0])
            if abs(log_weight(middle, cubic) - exact[middle][0]) > TOLERANCE + rounding:
                halves += [(left, middle), (middle, right)]
        unsure = halves
    return _table(exact)


def possible_totals(problem: Problem) -> tuple[float, float]:
    """Bounds of the total distance that hold for all tiers."""
    low = high = 0.0
    if problem.linear.size:
        low += float(problem.linear.min(axis=1).sum())
        high += float(problem.linear.max(axis=1).sum())
    if problem.pairs.size:
        # Of two items one pays for being below the other, or both pay for being tied.
        low += float(np.minimum(problem.pairs, problem.pairs_transposed).sum()) / 2
        high += float(problem.pairs.sum())
    return low, high


def _evaluate(theta: ThetaGivenDistance, total: float) -> tuple[float, float]:
    """Log weight and its slope, which is minus the mean of theta."""
    density = theta.density(total)
    return density.log_integral, -density.mean


def _table(exact: dict[float, tuple[float, float]]) -> LogWeights:
    knots = sorted(exact)
    values, slopes = zip(*(exact[total] for total in knots), strict=True)
    return LogWeights(np.array(knots), np.array(values), np.array(slopes))
