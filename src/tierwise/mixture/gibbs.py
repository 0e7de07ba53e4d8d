"""Gibbs sampling of a mixture: memberships, shares, tiers and thetas in turn, given all others.

Memberships come from their exact probabilities, shares from a Dirichlet distribution, tiers by
Metropolis swaps of two items, thetas from their exact distribution given the tiers. Groups trade
places in a chain; each draw is relabelled to the groups that the chain started from, by the members
they have in common (the pivotal relabelling of Marin, Mengersen and Robert, 2005).

References
----------
Diebolt, J. and Robert, C. P. (1994). Estimation of finite mixture distributions through Bayesian
sampling. Journal of the Royal Statistical Society B 56, 363-375.

Marin, J.-M., Mengersen, K. and Robert, C. P. (2005). Bayesian modelling and inference on mixtures
of distributions. Handbook of Statistics 25, 459-507.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.consensus import anneal
from tierwise.distances.base import Distance
from tierwise.mixture.answers import DistinctAnswers
from tierwise.mixture.em import e_step
from tierwise.mixture.groups import Component, GroupFitter
from tierwise.model.priors import ThetaPrior
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers.sizes import Sizes

# Swaps of two items that are tried in a sweep, times the number of items.
_SWAPS_PER_ITEM = 10


@dataclass(frozen=True, eq=False)
class State:
    """Where a chain is.

    Attributes
    ----------
    components
        Tiers and theta of each group.
    shares
        Share of each group.
    """

    components: tuple[Component, ...]
    shares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Info:
    """What a sweep tells about the state that it began with.

    Attributes
    ----------
    memberships
        ``[answer, group]``: probability of each group for each distinct answer.
    members
        ``[answer, group]``: how many of those who gave an answer were drawn to be in a group.
    log_likelihood
        Log-likelihood of all answers, memberships summed out.
    """

    memberships: NDArray[np.float64]
    members: NDArray[np.int64]
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class MixtureTarget:
    """The posterior that is sampled.

    Attributes
    ----------
    answers, distance
        The data, with whole weights, and the distance.
    prior_theta
        Prior of every theta.
    concentration
        Parameter of the Dirichlet prior of the shares.
    """

    answers: DistinctAnswers
    distance: Distance
    prior_theta: ThetaPrior
    concentration: float

    @cached_property
    def fitter(self) -> GroupFitter:
        """What computes probabilities and costs of groups."""
        return GroupFitter(self.answers, self.distance)

    @cached_property
    def _log_partitions(self) -> dict[Sizes, LogPartition]:
        return {}

    def theta_given(self, sizes: Sizes, n_rankings: float) -> ThetaGivenDistance:
        """Return the distribution of theta given the distance of some rankings from the tiers."""
        if sizes not in self._log_partitions:
            self._log_partitions[sizes] = LogPartition(self.fitter.partition(sizes))
        return ThetaGivenDistance(self._log_partitions[sizes], n_rankings, self.prior_theta)


def sweep(target: MixtureTarget, state: State, rng: np.random.Generator) -> tuple[State, Info]:
    """Draw memberships, shares, tiers and thetas once each."""
    answers = target.answers
    memberships, log_totals = e_step(target.fitter, state.components, state.shares)
    members = rng.multinomial(answers.weights.astype(np.int64), memberships)
    shares = rng.dirichlet(target.concentration + members.sum(axis=0))
    components = tuple(
        _draw_group(target, component, own.astype(np.float64), rng)
        for component, own in zip(state.components, np.ascontiguousarray(members.T), strict=True)
    )
    info = Info(memberships, members, float(answers.weights @ log_totals))
    return State(components, shares), info


def _draw_group(
    target: MixtureTarget, component: Component, own: NDArray[np.float64], rng: np.random.Generator
) -> Component:
    """Draw a group's tiers by swaps, then its theta, given who belongs to it."""
    sizes = component.sizes
    if len(sizes) == 1:
        return component
    problem = target.fitter.costs(own, component)
    labels = component.labels.copy()
    steps = np.full(_SWAPS_PER_ITEM * len(labels), component.theta)
    anneal(labels, problem.linear, problem.pairs, problem.pairs_transposed, steps, 2, rng)
    given = target.theta_given(sizes, float(own.sum()))
    theta = given.density(problem.total(labels)).draw(rng)
    return target.fitter.component(sizes, labels, theta)


@dataclass(frozen=True, eq=False)
class Trace:
    """The draws of a chain, one per row, groups relabelled to those it started from.

    Attributes
    ----------
    shares, thetas
        ``[draw, group]``.
    labels
        ``[draw, group, item]``, counted from 0.
    log_likelihood
        Of all answers, memberships summed out.
    memberships
        Mean over draws of the probability of each group for each answer.
    n_switches
        How often the groups had to be relabelled.
    """

    shares: NDArray[np.float64]
    thetas: NDArray[np.float64]
    labels: NDArray[np.int64]
    log_likelihood: NDArray[np.float64]
    memberships: NDArray[np.float64]
    n_switches: int


def run_chain(
    target: MixtureTarget, start: State, warmup: int, draws: int, seed: np.random.SeedSequence
) -> Trace:
    """Run a chain and relabel its draws."""
    rng = np.random.default_rng(seed)
    pivot, _ = e_step(target.fitter, start.components, start.shares)
    n_groups = len(start.shares)
    shares, thetas = np.empty((draws, n_groups)), np.empty((draws, n_groups))
    labels = np.empty((draws, n_groups, target.answers.n_items), dtype=np.int64)
    log_likelihood, memberships = np.empty(draws), np.zeros_like(pivot)
    order, n_switches = np.arange(n_groups), 0
    state = start
    for draw in range(-warmup, draws):
        following, info = sweep(target, state, rng)
        if draw >= 0:
            sizes = [component.sizes for component in state.components]
            before, order = order, matching_groups(pivot, info.members, sizes)
            n_switches += bool((order != before).any())
            shares[draw] = state.shares[order]
            thetas[draw] = [state.components[group].theta for group in order]
            labels[draw] = [state.components[group].labels for group in order]
            log_likelihood[draw] = info.log_likelihood
            memberships += info.memberships[:, order] / draws
        state = following
    return Trace(shares, thetas, labels, log_likelihood, memberships, n_switches)


def matching_groups(
    pivot: NDArray[np.float64], members: NDArray[np.int64], sizes: list[Sizes]
) -> NDArray[np.int64]:
    """Return which group has most members in common with each group of the pivot.

    Only groups of the same sizes can stand for each other.
    """
    from scipy.optimize import linear_sum_assignment

    common = pivot.T @ members
    alike = np.array([[one == other for other in sizes] for one in sizes])
    _, order = linear_sum_assignment(np.where(alike, common, -1.0 - common.sum()), maximize=True)
    matched: NDArray[np.int64] = order
    return matched
