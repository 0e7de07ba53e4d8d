"""Chains for answers that leave open which items lie in which block.

Where completions can be summed over, tiers, theta and sizes, if these are not given, move on the
likelihood of what was observed. Where there are too many, sizes must be given: each answer is
completed at random, tiers and theta move given that, and the answers are completed anew: the
paper's data augmentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, log, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.chains import switch_labels
from tierwise.consensus import make_problem
from tierwise.errors import InputError
from tierwise.incomplete.answers import answered_places, answers_of
from tierwise.incomplete.augmentation import DrawnCompletions
from tierwise.incomplete.base import expected_costs_of
from tierwise.incomplete.likelihood import Likelihood
from tierwise.incomplete.partial import PartialOrders, orders_of_places, orders_of_preferences
from tierwise.partition import partition_function
from tierwise.posterior.chain import Moves
from tierwise.posterior.exchange import adapted
from tierwise.posterior.sizes_moves import ChangeSizes
from tierwise.posterior.target import KEPT_SIZES, SizedTarget, Target
from tierwise.preferences import Preferences

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances import Distance
    from tierwise.incomplete.answers import Answers
    from tierwise.posterior.chain import Sampler, Trace
    from tierwise.posterior.state import State
    from tierwise.priors import SizesPrior, ThetaPrior
    from tierwise.rankings import Rankings
    from tierwise.sizes import Sizes

_SEED = 0
# Labels an iteration tries to switch given the completions, for each item: cheap beside these.
_SWITCHES_PER_ITEM = 3
_STEPS_OF_THETA = 3
_SPLITS_AND_MERGES = 2


class OpenTarget(Target):
    """The posterior given answers that leave their blocks open."""

    def __init__(
        self,
        data: Rankings | Preferences,
        distance: Distance,
        prior_theta: ThetaPrior,
        prior_sizes: SizesPrior,
    ) -> None:
        super().__init__(data, distance, prior_theta, prior_sizes)
        self.said = data
        self.likelihood = lru_cache(KEPT_SIZES)(self._likelihood)

    def answers(self, sizes: Sizes) -> Answers:
        """Return the answers, with how they are summed over."""
        return answers_of(self.said, sizes, self.distance, np.random.default_rng(_SEED))

    def _likelihood(self, sizes: Sizes) -> Likelihood:
        """Return the likelihood of what was observed, summed over completions."""
        answers = self.answers(sizes)
        if answers.drawn is not None:
            raise InputError(
                f"for sizes {sizes} these answers have too many completions to sum over: give "
                "sizes (search finds them), for which completions can be drawn"
            )
        return Likelihood(answers.exact, partition_function(sizes, self.distance, rng=_SEED))

    def _at(self, sizes: Sizes) -> SizedTarget:
        """Target with all completions equally likely: for the start of chains, and for theta."""
        labels = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        parts = [part.completions for part in self.answers(sizes).parts]
        return SizedTarget(
            problem=make_problem(expected_costs_of(parts, labels, 0.0), sizes),
            distance=self.distance,
            n_rankings=float(self.data.n_rankings),
            prior_theta=self.prior_theta,
            log_prior=self.log_prior_of_tiers(sizes),
        )


def open_sampler(target: OpenTarget, sizes: Sizes | None, warmup: int) -> Sampler:
    """Say what one iteration does: sum over completions where that is possible, else draw them.

    Parameters
    ----------
    target
        What to draw from.
    sizes
        Sizes of the tiers; None where they are unknown.
    warmup
        Iterations during which theta's proposal is adapted, where completions are summed over.
    """
    switch = SwitchOpenTiers(target, max(target.n_items // 2, 2))
    if sizes is None:
        change = ChangeOpenSizes(target, target.n_items, _SPLITS_AND_MERGES)
        return Moves((switch, change, WalkTheta(target, warmup)))
    if target.answers(sizes).drawn is not None:
        return Augmentation(target, sizes)
    return Moves((switch, WalkTheta(target, warmup)))


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


class Augmentation:
    """Complete all answers at random, then move tiers and theta given that, in turn.

    A run cannot be resumed from a checkpoint: the completions are not kept.
    """

    def __init__(self, target: OpenTarget, sizes: Sizes) -> None:
        self._target = target
        self._sizes = sizes
        self._n_switches = _SWITCHES_PER_ITEM * target.n_items
        self._drawn: DrawnCompletions | None = None
        _refuse_fractions(target.said)

    def __call__(
        self, state: State, kept: npt.NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make an iteration for each entry, and record the draws where it is true."""
        if self._drawn is None or state.iteration == 0:
            self._drawn = DrawnCompletions(
                _orders_of(self._target.said),
                self._sizes,
                self._target.distance,
                rng,
                each="assessor",
            )
        for keep in kept.tolist():
            state = self._iterate(self._drawn, state, rng)
            if keep:
                trace.record(state)
        return state

    def _iterate(self, drawn: DrawnCompletions, state: State, rng: np.random.Generator) -> State:
        drawn.sweep(state.labels, state.theta)
        problem = make_problem(drawn.costs(), self._sizes)
        labels = state.labels.copy()
        nothing = np.zeros(1)
        total, n_accepted = switch_labels(
            labels,
            problem.sizes_array,
            problem.linear,
            problem.pairs,
            problem.pairs_transposed,
            nothing,
            nothing,
            np.array([-state.theta]),
            self._n_switches,
            rng,
        )
        sized = self._target.at(self._sizes)
        return state._replace(
            labels=labels,
            total=total,
            theta=sized.theta.density(total).draw(rng),
            log_posterior=sized.log_posterior(total),
            accepted_tiers=n_accepted / self._n_switches,
            iteration=state.iteration + 1,
        )


def _orders_of(data: Rankings | Preferences) -> PartialOrders:
    if isinstance(data, Preferences):
        return orders_of_preferences(data)[0]
    return orders_of_places(answered_places(data), data.pattern_weights.astype(np.float64))


def _refuse_fractions(data: Rankings | Preferences) -> None:
    if not isinstance(data, Preferences) and data.pattern_weights.dtype != np.int64:
        raise InputError(
            "these answers have too many completions to sum over, and fractional weights, so that "
            "there are no assessors to complete them for: use whole weights"
        )
