"""The exchange algorithm: theta without the partition function, by auxiliary rankings."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from tierwise.errors import InputError, TooLargeError
from tierwise.partition.base import ExactPartition

if TYPE_CHECKING:
    from tierwise.partition.distribution import DistanceDistribution
    from tierwise.posterior.state import State
    from tierwise.posterior.target import SizedTarget, Target

Auxiliary: TypeAlias = Literal["exact", "mcmc"]

# What a random walk in one dimension does best with.
_WANTED_ACCEPTANCE = 0.44


@dataclass(frozen=True)
class ExchangeTheta:
    """Propose theta log-normally and accept it by comparing the data with auxiliary rankings.

    Attributes
    ----------
    target
        The posterior.
    auxiliary
        "exact" draws the auxiliary rankings from the model itself; "mcmc" takes them from
        Metropolis chains that start at the tiers, as the paper does, which is approximate.
    steps
        Length of these chains.
    warmup
        Number of iterations in which the scale of the proposal is adapted, less and less.
    """

    target: Target
    auxiliary: Auxiliary
    steps: int
    warmup: int

    def __post_init__(self) -> None:
        if self.target.data.n_rankings != int(self.target.data.n_rankings):
            raise InputError(
                "the exchange algorithm draws as many auxiliary rankings as there are, so that the "
                'weights must sum to a whole number: use theta_update="exact"'
            )

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Accept a proposed theta, or keep the one there is."""
        sized = self.target.at(state.sizes)
        proposed = state.theta * exp(exp(state.log_step) * rng.standard_normal())
        auxiliary_total = self._auxiliary_total(sized, proposed, rng)
        before, after = self.target.prior_theta.log_density(np.array([state.theta, proposed]))
        log_ratio = (
            float(after - before)
            + (state.theta - proposed) * (state.total - auxiliary_total)
            + log(proposed / state.theta)
        )
        chance = exp(min(log_ratio, 0.0))
        accepted = rng.random() < chance
        return state._replace(
            theta=proposed if accepted else state.theta,
            log_step=adapted(state, chance, self.warmup),
            accepted_theta=float(accepted),
        )

    def _auxiliary_total(self, sized: SizedTarget, theta: float, rng: np.random.Generator) -> float:
        """Total distance of as many rankings as there are, drawn around the same tiers."""
        n_rankings = int(sized.n_rankings)
        if self.auxiliary == "mcmc":
            return _total_by_walking(sized, theta, n_rankings, self.steps, rng)
        distribution = _distribution(sized)
        if distribution is None:
            sequences = _exact_partition(sized).draw_sequences(theta, n_rankings, rng)
            return float(sized.distance.between(sequences, sized.sizes).sum())
        # The rankings themselves do not matter, only how many lie at which distance.
        counts = rng.multinomial(n_rankings, distribution.probabilities(theta))
        return float(counts @ distribution.distances)


def adapted(state: State, chance: float, warmup: int) -> float:
    """Scale of the next proposal: larger if this one was accepted readily, the less the later."""
    if state.iteration >= warmup:
        return state.log_step
    return state.log_step + (chance - _WANTED_ACCEPTANCE) / sqrt(state.iteration + 1)


def _distribution(sized: SizedTarget) -> DistanceDistribution | None:
    """Return the number of orderings at each distance, where that is affordable."""
    try:
        return sized.partition.distribution()
    except TooLargeError:
        return None


def _exact_partition(sized: SizedTarget) -> ExactPartition:
    """Return the partition function if it comes with exact draws."""
    if isinstance(sized.partition, ExactPartition):
        return sized.partition
    raise TooLargeError(
        f"exact auxiliary rankings for sizes {sized.sizes} are beyond reach: use "
        'auxiliary="mcmc", with many auxiliary_steps'
    )


def _total_by_walking(
    sized: SizedTarget, theta: float, n_rankings: int, steps: int, rng: np.random.Generator
) -> float:
    from tierwise._kernels.metropolis import walk

    rule = sized.distance.rule(sized.sizes)
    sequences = np.tile(sized.problem.sorted_labels, (n_rankings, 1))
    units = np.zeros(n_rankings, dtype=np.int64)
    walk(
        sequences,
        sized.sizes_array,
        theta * rule.unit,
        rule.misplaced,
        rule.placing,
        steps,
        units,
        rng,
    )
    return float(units.sum()) * rule.unit
