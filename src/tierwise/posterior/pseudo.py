"""Moves under the paper's pseudo-likelihood, which needs no partition function."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.pseudo import log_pseudo
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError
from tierwise.partition.theta import decay_by_units
from tierwise.posterior.exchange import adapted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.counts import Counts
    from tierwise.data.preferences import Preferences
    from tierwise.posterior.state import State
    from tierwise.posterior.target import Target


@dataclass(frozen=True)
class PseudoLikelihood:
    """Log pseudo-likelihood of rankings, which must be complete."""

    rankings: Rankings

    @classmethod
    def of(cls, data: Rankings | Counts | Preferences) -> PseudoLikelihood:
        """Take the rankings, if they are complete."""
        if isinstance(data, Rankings) and data.is_complete:
            return cls(data)
        raise InputError('likelihood="pseudo" needs complete rankings without ties, not counts')

    @cached_property
    def _orderings(self) -> NDArray[np.int64]:
        return np.argsort(self.rankings.patterns, axis=1)

    def __call__(self, labels: NDArray[np.int64], theta: float) -> float:
        """Sum over the rankings."""
        sizes = np.bincount(labels)
        decay = decay_by_units(theta, 1.0, int(sizes.max()))
        values = log_pseudo(labels[self._orderings], sizes, decay, theta)
        return float(self.rankings.pattern_weights @ values)


@dataclass(frozen=True)
class PseudoSwitchTiers:
    """Let some items, two at least, pass their tiers round among them, given theta."""

    target: Target
    likelihood: PseudoLikelihood
    n_steps: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Try a number of switches."""
        labels = state.labels
        current = self.likelihood(labels, state.theta)
        n_accepted = 0
        for _ in range(self.n_steps):
            # Sometimes many at once: small steps do not leave the mode of the opposite order.
            n_switched = int(rng.integers(2, max(len(labels), 2) + 1))
            switched = rng.permutation(len(labels))[:n_switched]
            proposed = labels.copy()
            proposed[switched] = labels[np.roll(switched, 1)]
            value = self.likelihood(proposed, state.theta)
            if rng.random() < exp(min(value - current, 0.0)):
                labels, current = proposed, value
                n_accepted += 1
        total = self.target.at(state.sizes).problem.total(labels)
        return state._replace(labels=labels, total=total, accepted_tiers=n_accepted / self.n_steps)


@dataclass(frozen=True)
class PseudoTheta:
    """Propose theta log-normally, the scale being adapted during the warm-up."""

    target: Target
    likelihood: PseudoLikelihood
    warmup: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Accept a proposed theta, or keep the one there is."""
        proposed = state.theta * exp(exp(state.log_step) * rng.standard_normal())
        before, after = (
            self.likelihood(state.labels, theta) + self._log_prior(theta)
            for theta in (state.theta, proposed)
        )
        chance = exp(min(after - before + log(proposed / state.theta), 0.0))
        accepted = rng.random() < chance
        return state._replace(
            theta=proposed if accepted else state.theta,
            log_posterior=after if accepted else before,
            log_step=adapted(state, chance, self.warmup),
            accepted_theta=float(accepted),
        )

    def _log_prior(self, theta: float) -> float:
        return float(self.target.prior_theta.log_density(np.array([theta]))[0])
