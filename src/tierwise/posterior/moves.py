"""Moves of a Markov chain: Metropolis over ordered partitions, and three ways to move theta.

Within given sizes items trade tiers. Between sizes an item is taken out and put anywhere, and tiers
are split and merged, which is corrected for the number of ways there and back (as in Green,
Reversible jump Markov chain Monte Carlo, Biometrika 82, 1995).

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
from functools import lru_cache
from math import exp, log, log1p, nan, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from tierwise._kernels.consensus import LogWeights, switch_labels
from tierwise._util.checks import check_choice, check_count
from tierwise.errors import InputError, TooLargeError, grouped, use
from tierwise.partition.base import ExactPartition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise.partition.base import DistanceDistribution
    from tierwise.posterior.chain import State
    from tierwise.posterior.target import Observed, SizedTarget, Target
    from tierwise.tiers import Sizes
Auxiliary: TypeAlias = Literal["exact", "mcmc"]
# Share of proposals to be accepted: what a random walk in one dimension does best with (Roberts,
# Gelman and Gilks 1997).
_WANTED_ACCEPTANCE = 0.44


@dataclass(frozen=True)
class SwitchTiers:
    """Let items trade tiers given theta: two of neighbouring tiers, any two, or any three."""

    target: Target
    n_steps: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Try a number of switches."""
        sized = self.target.at(state.sizes)
        labels = state.labels.copy()
        total, n_accepted = switch_labels(
            labels,
            sized.sizes_array,
            sized.problem.costs,
            LogWeights.at(state.theta),
            self.n_steps,
            rng,
        )
        return state._replace(labels=labels, total=total, accepted_tiers=n_accepted / self.n_steps)


@dataclass(frozen=True)
class SwitchObservedTiers:
    """Let items trade tiers given theta, by the likelihood of what was observed."""

    observed: Observed
    n_steps: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Try a number of switches."""
        labels = state.labels
        current = self.observed.value(labels, state.theta)
        n_accepted = 0
        for _ in range(self.n_steps):
            proposed = _switched(labels, rng)
            value = self.observed.value(proposed, state.theta)
            if rng.random() < exp(min(value - current, 0.0)):
                labels, current = proposed, value
                n_accepted += 1
        return state._replace(labels=labels, accepted_tiers=n_accepted / self.n_steps)


def _switched(labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Let two items of neighbouring tiers trade places, or any number of items."""
    proposed = labels.copy()
    if rng.random() < 0.5 and labels.max() > 0:
        upper = int(rng.integers(labels.max()))
        first = rng.choice(np.flatnonzero(labels == upper))
        second = rng.choice(np.flatnonzero(labels == upper + 1))
        switched = np.array([first, second])
    else:
        # Sometimes many at once: small steps do not leave a mode far from the best one.
        switched = rng.permutation(len(labels))[: int(rng.integers(2, max(len(labels), 2) + 1))]
    proposed[switched] = labels[np.roll(switched, 1)]
    return proposed


@dataclass(frozen=True)
class ChangeSizes:
    """Move items to other tiers, new ones included, split and merge; theta is integrated out.

    After this the theta of the state is not one that was drawn given its tiers: a draw of theta
    must follow before any move that is made given theta.
    """

    target: Target
    n_relocations: int
    n_splits_and_merges: int

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Try a number of relocations, splits and merges."""
        n_accepted = 0
        _, log_posterior = self._evaluate(state.labels, state.sizes, state.theta)
        state = state._replace(log_posterior=log_posterior)
        for _ in range(self.n_relocations):
            state, accepted = self._decide(
                state, relocate(state.labels, state.sizes, rng), 0.0, rng
            )
            n_accepted += accepted
        for _ in range(self.n_splits_and_merges):
            proposed, log_correction = split_or_merge(state.labels, state.sizes, rng)
            state, accepted = self._decide(state, proposed, log_correction, rng)
            n_accepted += accepted
        n_steps = self.n_relocations + self.n_splits_and_merges
        return state._replace(accepted_sizes=n_accepted / n_steps)

    def _evaluate(
        self, labels: NDArray[np.int64], sizes: Sizes, _theta: float
    ) -> tuple[float, float]:
        """Return total distance and log posterior of tiers, theta being integrated out."""
        sized = self.target.at(sizes)
        total = sized.problem.total(labels)
        return total, sized.log_posterior(total)

    def _decide(
        self,
        state: State,
        labels: NDArray[np.int64],
        log_correction: float,
        rng: np.random.Generator,
    ) -> tuple[State, bool]:
        """Accept proposed tiers, or keep those there are."""
        if labels is state.labels:
            return state, False
        sizes = tuple(np.bincount(labels).tolist())
        total, log_posterior = self._evaluate(labels, sizes, state.theta)
        log_ratio = log_posterior - state.log_posterior + log_correction
        if log_ratio < 0.0 and rng.random() >= exp(log_ratio):
            return state, False
        proposed = state._replace(
            labels=labels, sizes=sizes, total=total, log_posterior=log_posterior
        )
        return proposed, True


class ChangeObservedSizes(ChangeSizes):
    """Move items, split and merge tiers given theta, by the likelihood of what was observed."""

    def _evaluate(
        self, labels: NDArray[np.int64], sizes: Sizes, theta: float
    ) -> tuple[float, float]:
        """Return log posterior of tiers given theta; their distance is known on average only."""
        log_likelihood = self.target.observed.value(labels, theta)
        return nan, log_likelihood + self.target.log_prior_of_tiers(sizes)


def relocate(
    labels: NDArray[np.int64], sizes: Sizes, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Take one item out and put it into any tier, or into a new one anywhere between them.

    All places for the item are equally probable, whichever it came from: the move is symmetric.
    """
    item = int(rng.random() * len(labels))
    tier = int(labels[item])
    alone = sizes[tier] == 1
    n_others = len(sizes) - alone
    # Places 0, 2, 4, ... are gaps between the tiers of the others, places 1, 3, 5, ... those tiers.
    place = int(rng.random() * (2 * n_others + 1))
    wanted, new = place // 2, place % 2 == 0
    if wanted == tier and new == alone:
        return labels
    moved = labels - (labels > tier) if alone else labels.copy()
    if new:
        moved += moved >= wanted
    moved[item] = wanted
    return moved


def split_or_merge(
    labels: NDArray[np.int64], sizes: Sizes, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """Cut a tier in two at random or join two neighbours, and correct for the number of ways."""
    if rng.random() < 0.5:
        divisible = [tier for tier, size in enumerate(sizes) if size > 1]
        if not divisible:
            return labels, 0.0
        tier = divisible[int(rng.random() * len(divisible))]
        members = np.flatnonzero(labels == tier)
        lower = np.zeros(len(members), dtype=bool)
        while lower.all() or not lower.any():
            lower = rng.random(len(members)) < 0.5
        split = labels + (labels > tier)
        split[members[lower]] += 1
        return split, _log_ways_to_split(len(divisible), len(members)) - log(len(sizes))
    if len(sizes) == 1:
        return labels, 0.0
    upper = int(rng.random() * (len(sizes) - 1))
    merged = labels - (labels > upper)
    joined = (sizes[upper], sizes[upper + 1])
    n_divisible = sum(size > 1 for size in sizes) - sum(size > 1 for size in joined) + 1
    return merged, log(len(sizes) - 1) - _log_ways_to_split(n_divisible, sum(joined))


def _log_ways_to_split(n_divisible: int, size: int) -> float:
    """Log of the number of outcomes a split can have, when a tier of this size is chosen."""
    return log(n_divisible) + size * log(2.0) + log1p(-(2.0 ** (1 - size)))


def are_connected(listed: Sequence[Sizes]) -> bool:
    """Whether these moves lead from any of some sizes to any other, through those listed only.

    Examples
    --------
    >>> are_connected([(4,), (1, 3), (1, 1, 2)]), are_connected([(4,), (1, 1, 1, 1)])
    (True, False)
    """
    waiting = set(listed)
    reached = {waiting.pop()}
    while reached:
        # Joining and cutting undo each other: one of them is enough, looked at from both sides.
        near = {
            other
            for other in waiting
            for one in reached
            if other in _moved_or_joined(one) or one in _moved_or_joined(other)
        }
        waiting -= near
        reached = near
    return not waiting


@lru_cache
def _moved_or_joined(sizes: Sizes) -> frozenset[Sizes]:
    """Sizes after one item moved to another tier, old or new, or two neighbouring tiers joined."""
    found = {
        (*sizes[:upper], sizes[upper] + sizes[upper + 1], *sizes[upper + 2 :])
        for upper in range(len(sizes) - 1)
    }
    for tier, size in enumerate(sizes):
        others = sizes[:tier] + ((size - 1,) if size > 1 else ()) + sizes[tier + 1 :]
        for place in range(len(others) + 1):
            found.add((*others[:place], 1, *others[place:]))
        for place in range(len(others)):
            found.add((*others[:place], others[place] + 1, *others[place + 1 :]))
    return frozenset(found)


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
        Where auxiliary rankings come from: "exact" draws from the model, or, as in the paper, the
        final states of Metropolis chains that start at the tiers ("mcmc"), which is approximate.
    steps
        Length of these chains.

    Examples
    --------
    >>> import tierwise as tw
    >>> goals, sampler = tw.load_political_goals(), tw.Sampler(theta_update=tw.Exchange(), thin=5)
    >>> posterior = tw.sample_posterior(goals, (2, 2), sampler=sampler, draws=250, rng=1)
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
                "the exchange algorithm draws as many auxiliary rankings as there are "
                "rankings, so the weights must sum to a whole number",
                [use(sampler=grouped("Sampler", theta_update="exact"))],
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
    """Return the number of orderings at each distance, if that is affordable."""
    try:
        return sized.partition.distribution()
    except TooLargeError:
        return None


def _exact_partition(sized: SizedTarget) -> ExactPartition:
    """Return the partition function if it comes with exact draws."""
    if isinstance(sized.partition, ExactPartition):
        return sized.partition
    raise TooLargeError(
        f"exact auxiliary rankings for sizes {sized.sizes} are infeasible: let Exchange draw "
        "them with a chain of many steps"
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
