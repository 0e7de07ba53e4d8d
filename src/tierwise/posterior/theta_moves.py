"""Moves of theta: inverse CDF, random-walk Metropolis, and the exchange algorithm.

`DrawTheta` draws theta from its conditional distribution by inverting the distribution function.
`WalkTheta` is a random walk in ``log theta``, for likelihoods that are costly at every theta.
`ExchangeTheta` needs no partition function: it compares the data with auxiliary rankings that are
drawn at the proposed theta (Murray, Ghahramani and MacKay, MCMC for doubly-intractable
distributions, UAI 2006). The scale of both walks is adapted during the warm-up, less and less
(Robbins and Monro 1951; Andrieu and Thoms, A tutorial on adaptive MCMC, Statistics and Computing
18, 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.checks import check_choice, check_count
from tierwise.errors import InputError, TooLargeError
from tierwise.partition.base import ExactPartition

if TYPE_CHECKING:
    from tierwise.partition.base import DistanceDistribution
    from tierwise.posterior.chain import State
    from tierwise.posterior.target import Observed, SizedTarget, Target

Auxiliary: TypeAlias = Literal["exact", "mcmc"]

# Share of proposals to be accepted: what a random walk in one dimension does best with (Roberts,
# Gelman and Gilks 1997).
_WANTED_ACCEPTANCE = 0.44


@dataclass(frozen=True)
class DrawTheta:
    """Draw theta from its exact conditional distribution given tiers, by inverting it."""

    target: Target

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Draw a theta that does not depend on the last one."""
        sized = self.target.at(state.sizes)
        theta = sized.theta.density(state.total).draw(rng)
        return state._replace(theta=theta, log_posterior=sized.log_posterior(state.total))


@dataclass(frozen=True)
class WalkTheta:
    """Random walk in log theta, by the likelihood of what was observed.

    Attributes
    ----------
    target
        The posterior.
    observed
        The likelihood of tiers and theta.
    warmup
        Number of iterations in which the scale of the proposal is adapted.
    n_steps
        Steps of an iteration: so many that theta forgets where it was about as fast as the tiers.
    """

    target: Target
    observed: Observed
    warmup: int
    n_steps: int = 1

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Make a few steps."""
        for _ in range(self.n_steps):
            state = self._step(state, rng)
        return state._replace(total=self.observed.distance(state.labels, state.theta))

    def _step(self, state: State, rng: np.random.Generator) -> State:
        """Accept a proposed theta, or keep the one there is."""
        proposed = _propose(state, rng)
        before, after = (self._log_density(state, theta) for theta in (state.theta, proposed))
        decided = _decide(state, proposed, after - before, self.warmup, rng)
        return decided._replace(log_posterior=after if decided.accepted_theta else before)

    def _log_density(self, state: State, theta: float) -> float:
        log_prior = float(self.target.prior_theta.log_density(np.array([theta]))[0])
        log_prior += self.target.log_prior_of_tiers(state.sizes)
        return self.observed.value(state.labels, theta) + log_prior


@dataclass(frozen=True)
class Exchange:
    """The exchange algorithm, as ``theta_update`` of `sample_posterior`.

    Parameters
    ----------
    auxiliary
        Where auxiliary rankings come from: "exact" draws from the model itself, or as in the paper
        the ends of Metropolis chains that start at the tiers ("mcmc"), which is approximate.
    steps
        Length of these chains.

    Examples
    --------
    >>> import tierwise as tw
    >>> posterior = tw.sample_posterior(
    ...     tw.load_political_goals(), (2, 2), theta_update=tw.Exchange(), thin=5, rng=1
    ... )
    >>> 0.5 < float(posterior.thetas.mean()) < 0.6
    True
    """

    auxiliary: Auxiliary = "exact"
    steps: int = 200

    def __post_init__(self) -> None:
        check_choice("auxiliary", self.auxiliary, get_args(Auxiliary))
        check_count("steps", self.steps)


@dataclass(frozen=True)
class ExchangeTheta:
    """Random walk in log theta, accepted by comparing the data with auxiliary rankings.

    Attributes
    ----------
    target
        The posterior.
    exchange
        Where auxiliary rankings come from.
    warmup
        Number of iterations in which the scale of the proposal is adapted.
    """

    target: Target
    exchange: Exchange
    warmup: int

    def __post_init__(self) -> None:
        if self.target.n_rankings != int(self.target.n_rankings):
            raise InputError(
                "the exchange algorithm draws as many auxiliary rankings as there are, so that the "
                'weights must sum to a whole number: use theta_update="exact"'
            )

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Accept a proposed theta, or keep the one there is."""
        sized = self.target.at(state.sizes)
        proposed = _propose(state, rng)
        auxiliary_total = self._auxiliary_total(sized, proposed, rng)
        before, after = self.target.prior_theta.log_density(np.array([state.theta, proposed]))
        log_ratio = float(after - before)
        log_ratio += (state.theta - proposed) * (state.total - auxiliary_total)
        return _decide(state, proposed, log_ratio, self.warmup, rng)

    def _auxiliary_total(self, sized: SizedTarget, theta: float, rng: np.random.Generator) -> float:
        """Total distance of as many rankings as there are, drawn around the same tiers."""
        n_rankings = int(self.target.n_rankings)
        if self.exchange.auxiliary == "mcmc":
            return _total_by_walking(sized, theta, n_rankings, self.exchange.steps, rng)
        distribution = _distribution(sized)
        if distribution is None:
            sequences = _exact_partition(sized).draw_sequences(theta, n_rankings, rng)
            return float(sized.partition.distance.between(sequences, sized.sizes).sum())
        # The rankings themselves do not matter, only how many lie at which distance.
        counts = rng.multinomial(n_rankings, distribution.probabilities(theta))
        return float(counts @ distribution.distances)


def _propose(state: State, rng: np.random.Generator) -> float:
    """Propose theta log-normally."""
    return state.theta * exp(exp(state.log_step) * rng.standard_normal())


def _decide(
    state: State, proposed: float, log_ratio: float, warmup: int, rng: np.random.Generator
) -> State:
    """Accept a proposed theta by the ratio of densities of theta, or keep the one there is."""
    # The proposal is symmetric in log theta, whose density is theta times that of theta.
    chance = exp(min(log_ratio + log(proposed / state.theta), 0.0))
    accepted = rng.random() < chance
    log_step = state.log_step
    if state.iteration < warmup:
        log_step += (chance - _WANTED_ACCEPTANCE) / sqrt(state.iteration + 1)
    return state._replace(
        theta=proposed if accepted else state.theta,
        log_step=log_step,
        accepted_theta=float(accepted),
    )


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
        'theta_update=Exchange(auxiliary="mcmc", steps=...), with many steps'
    )


def _total_by_walking(
    sized: SizedTarget, theta: float, n_rankings: int, steps: int, rng: np.random.Generator
) -> float:
    from tierwise._kernels.orderings import walk

    distance = sized.partition.distance
    rule = distance.rule(sized.sizes)
    sequences = np.tile(sized.problem.sorted_labels, (n_rankings, 1))
    units = np.zeros(n_rankings, dtype=np.int64)
    walk(
        sequences,
        np.array(distance.blocks(sized.sizes), dtype=np.int64),
        theta * rule.unit,
        rule.misplaced,
        rule.placing,
        steps,
        units,
        rng,
    )
    return float(units.sum()) * rule.unit
