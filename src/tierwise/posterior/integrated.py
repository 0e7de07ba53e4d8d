"""Chains over tiers of given sizes with theta integrated out, which is drawn afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.chains import walk_over_tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.posterior.chain import Trace
    from tierwise.posterior.state import State
    from tierwise.posterior.target import SizedTarget
    from tierwise.posterior.weights import WeightTable


@dataclass(frozen=True)
class IntegratedWalk:
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
    weights: WeightTable = field(repr=False)
    n_steps: int

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make an iteration for each entry of ``kept``, and record those that are to be kept."""
        sized, weights = self.sized, self.weights
        labels, totals, n_accepted = walk_over_tiers(
            state.labels,
            sized.sizes_array,
            sized.problem.linear,
            sized.problem.pairs,
            sized.problem.pairs_transposed,
            weights.knots,
            weights.values,
            weights.slopes,
            self.n_steps,
            len(kept),
            rng,
        )
        thetas, log_posteriors = self._draw_thetas(totals, rng)
        trace.extend(
            labels[kept],
            total=totals[kept],
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

    def _draw_thetas(
        self, totals: NDArray[np.float64], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw theta for each total distance, and return the log posterior of its tiers too."""
        thetas, log_posteriors = rng.random(len(totals)), np.empty(len(totals))
        for total in np.unique(totals).tolist():
            rows = totals == total
            density = self.sized.theta.density(total)
            thetas[rows] = density.quantile(thetas[rows])
            log_posteriors[rows] = self.sized.log_posterior(total)
        return thetas, log_posteriors
