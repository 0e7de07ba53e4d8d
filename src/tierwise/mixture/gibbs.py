"""Gibbs sampling: memberships, shares, tiers and thetas in turn, each given all others."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.annealing import anneal
from tierwise.consensus.problem import make_problem
from tierwise.distances.base import Distance
from tierwise.mixture.answers import Answers
from tierwise.mixture.components import CountingWorkshop
from tierwise.mixture.em import memberships_of
from tierwise.mixture.workshop import Component, Workshop
from tierwise.model.priors import ThetaPrior
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers.sizes import Sizes

# Swaps of two items that are tried a round, times the number of items.
_SWEEPS_OF_TIERS = 10


@dataclass(frozen=True, eq=False)
class Chain:
    """What a chain does.

    Attributes
    ----------
    answers, distance
        The data, with whole weights, and the distance.
    components, shares
        Where the chain starts.
    prior_theta
        Prior of every theta.
    concentration
        Parameter of the Dirichlet prior of the shares.
    warmup, draws
        Rounds that are thrown away, and rounds that are kept.
    """

    answers: Answers
    distance: Distance
    components: tuple[Component, ...]
    shares: NDArray[np.float64]
    prior_theta: ThetaPrior
    concentration: float
    warmup: int
    draws: int


@dataclass(frozen=True, eq=False)
class Trace:
    """The draws of a chain, one a row, groups relabelled to those it started from.

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


def run_chain(chain: Chain, seed: np.random.SeedSequence) -> Trace:
    """Run a chain and relabel its draws."""
    rng = np.random.default_rng(seed)
    workshop = CountingWorkshop(chain.answers, chain.distance)
    weights = chain.answers.weights.astype(np.int64)
    log_partitions = {
        component.sizes: LogPartition(workshop.partition(component.sizes))
        for component in chain.components
    }
    components, shares = chain.components, chain.shares
    pivot, _ = memberships_of(workshop, components, shares)
    n_groups, n_items = len(shares), chain.answers.n_items
    trace = Trace(
        shares=np.empty((chain.draws, n_groups)),
        thetas=np.empty((chain.draws, n_groups)),
        labels=np.empty((chain.draws, n_groups, n_items), dtype=np.int64),
        log_likelihood=np.empty(chain.draws),
        memberships=np.zeros_like(pivot),
        n_switches=0,
    )
    current, n_switches = np.arange(n_groups), 0
    for draw in range(-chain.warmup, chain.draws):
        probabilities, log_totals = memberships_of(workshop, components, shares)
        members = rng.multinomial(weights, probabilities)
        if draw >= 0:
            # The state before this round's update: memberships and likelihood belong to it.
            order = matching_groups(pivot, members, [each.sizes for each in components])
            n_switches += bool((order != current).any())
            current = order
            trace.shares[draw] = shares[order]
            trace.thetas[draw] = [components[group].theta for group in order]
            trace.labels[draw] = [components[group].labels for group in order]
            trace.log_likelihood[draw] = chain.answers.weights @ log_totals
            trace.memberships[:] += probabilities[:, order] / chain.draws
        shares = rng.dirichlet(chain.concentration + members.sum(axis=0))
        components = tuple(
            _update(chain, workshop, log_partitions, component, own.astype(np.float64), rng)
            for component, own in zip(components, np.ascontiguousarray(members.T), strict=True)
        )
    return replace(trace, n_switches=n_switches)


def _update(
    chain: Chain,
    workshop: Workshop,
    log_partitions: dict[Sizes, LogPartition],
    component: Component,
    own: NDArray[np.float64],
    rng: np.random.Generator,
) -> Component:
    """Draw a group's tiers by swaps, then its theta, given who belongs to it."""
    sizes = component.sizes
    if len(sizes) == 1:
        return component
    blocks = chain.answers.block_counts(own, sizes)
    problem = make_problem(chain.distance.costs(blocks, sizes), sizes)
    labels = component.labels.copy()
    steps = np.full(_SWEEPS_OF_TIERS * len(labels), component.theta)
    anneal(labels, problem.linear, problem.pairs, problem.pairs_transposed, steps, 2, rng)
    given = ThetaGivenDistance(log_partitions[sizes], blocks.n_rankings, chain.prior_theta)
    theta = given.density(problem.total(labels)).draw(rng)
    return Component(sizes, labels, theta, float(workshop.partition(sizes).log_value(theta)))


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
