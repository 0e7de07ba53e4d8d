"""Moves for given sizes: items trade tiers, and theta is drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.chains import switch_labels

if TYPE_CHECKING:
    from tierwise.posterior.state import State
    from tierwise.posterior.target import Target


@dataclass(frozen=True)
class SwitchTiers:
    """Let items trade tiers, given theta: two of neighbouring tiers, any two, or any three."""

    target: Target
    n_steps: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Try a number of switches."""
        sized = self.target.at(state.sizes)
        labels = state.labels.copy()
        nothing = np.zeros(1)
        total, n_accepted = switch_labels(
            labels,
            sized.sizes_array,
            sized.problem.linear,
            sized.problem.pairs,
            sized.problem.pairs_transposed,
            nothing,
            nothing,
            np.array([-state.theta]),
            self.n_steps,
            rng,
        )
        return state._replace(labels=labels, total=total, accepted_tiers=n_accepted / self.n_steps)


@dataclass(frozen=True)
class DrawTheta:
    """Draw theta from its exact conditional distribution, by inverting it."""

    target: Target

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Draw a theta that does not depend on the last one."""
        sized = self.target.at(state.sizes)
        theta = sized.theta.density(state.total).draw(rng)
        return state._replace(theta=theta, log_posterior=sized.log_posterior(state.total))
