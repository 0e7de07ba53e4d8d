"""Moves by the likelihood of what was observed, completions of answers being summed over."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.posterior.exchange import adapted
from tierwise.posterior.sizes_moves import ChangeSizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.posterior.open_target import OpenTarget
    from tierwise.posterior.state import State
    from tierwise.tiers.sizes import Sizes

_STEPS_OF_THETA = 3


@dataclass(frozen=True)
class SwitchOpenTiers:
    """Let items trade tiers, given theta, by the likelihood summed over all completions."""

    target: OpenTarget
    n_steps: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Try a number of switches."""
        likelihood = self.target.likelihood(state.sizes)
        labels = state.labels
        current = likelihood.value(labels, state.theta)
        n_accepted = 0
        for _ in range(self.n_steps):
            proposed = _switched(labels, rng)
            value = likelihood.value(proposed, state.theta)
            if rng.random() < exp(min(value - current, 0.0)):
                labels, current = proposed, value
                n_accepted += 1
        return state._replace(labels=labels, accepted_tiers=n_accepted / self.n_steps)


def _switched(labels: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Let two items of neighbouring tiers trade places, or any number of items."""
    proposed = labels.copy()
    if rng.random() < 0.5 and labels.max() > 0:
        upper = int(rng.integers(labels.max()))
        first = rng.choice(np.flatnonzero(labels == upper))
        second = rng.choice(np.flatnonzero(labels == upper + 1))
        switched = np.array([first, second])
    else:
        # Sometimes many at once: small steps do not leave a mode far from the best one.
        switched = rng.permutation(len(labels))[: int(rng.integers(2, len(labels) + 1))]
    proposed[switched] = labels[np.roll(switched, 1)]
    return proposed


class ChangeOpenSizes(ChangeSizes):
    """Move items, split and merge tiers, given theta, by the likelihood of what was observed."""

    target: OpenTarget

    def _evaluate(
        self, labels: npt.NDArray[np.int64], sizes: Sizes, theta: float
    ) -> tuple[float, float]:
        """Return log posterior of tiers given theta; their distance is known on average only."""
        log_likelihood = self.target.likelihood(sizes).value(labels, theta)
        return nan, log_likelihood + self.target.log_prior_of_tiers(sizes)


@dataclass(frozen=True)
class WalkTheta:
    """Propose theta log-normally, the scale being adapted during the warm-up."""

    target: OpenTarget
    warmup: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Make a few steps, so that theta forgets where it was about as fast as the tiers."""
        for _ in range(_STEPS_OF_THETA):
            state = self._step(state, rng)
        likelihood = self.target.likelihood(state.sizes)
        return state._replace(total=likelihood.sums(state.labels, state.theta).mean)

    def _step(self, state: State, rng: np.random.Generator) -> State:
        """Accept a proposed theta, or keep the one there is."""
        proposed = state.theta * exp(exp(state.log_step) * rng.standard_normal())
        before, after = (self._log_density(state, theta) for theta in (state.theta, proposed))
        chance = exp(min(after - before + log(proposed / state.theta), 0.0))
        accepted = rng.random() < chance
        return state._replace(
            theta=proposed if accepted else state.theta,
            log_posterior=after if accepted else before,
            log_step=adapted(state, chance, self.warmup),
            accepted_theta=float(accepted),
        )

    def _log_density(self, state: State, theta: float) -> float:
        log_prior = float(self.target.prior_theta.log_density(np.array([theta]))[0])
        log_prior += self.target.log_prior_of_tiers(state.sizes)
        return self.target.likelihood(state.sizes).value(state.labels, theta) + log_prior
