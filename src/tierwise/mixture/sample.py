"""sample_mixture: Gibbs sampling of shares, memberships, tiers and thetas of groups.

Gibbs sampling of a mixture: memberships, shares, tiers and thetas in turn, given all others.

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

sample_mixture: the posterior of shares, tiers and thetas of groups, by Gibbs sampling.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.consensus import anneal
from tierwise._util.checks import RandomSource, check_count, check_number, spawn_seeds
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import Progress, run_tasks
from tierwise.data.counts import blocks_are_known
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.distances.base import Distance
from tierwise.distances.named import get_distance
from tierwise.errors import InputError, TierwiseWarning
from tierwise.mixture.draws import MixtureDraws, assemble
from tierwise.mixture.em import GroupSizes, e_step
from tierwise.mixture.fit import Noise, SizesOfGroups, fit_mixture, sizes_of_groups
from tierwise.mixture.groups import Component, DistinctAnswers, GroupFitter, distinct_answers
from tierwise.model.priors import Gamma, ThetaPrior, as_theta_prior
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


# A group in perfect agreement has an infinite theta by maximum likelihood; a chain starts here.
_LARGEST_START = 5.0


def sample_mixture(
    data: Rankings,
    n_groups: int,
    sizes: SizesOfGroups = "search",
    distance: str | Distance = "kendall",
    *,
    noise: Noise = "none",
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    prior_theta: ThetaPrior | Callable[[Any], Any] = Gamma(2.0, 2.0),  # noqa: B008 - frozen
    concentration: float = 1.0,
    starts: int = 20,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> MixtureDraws:
    """Draw shares, tiers, thetas and memberships of several groups from their posterior.

    A Gibbs sampler: who belongs where, then the shares, then each group's tiers (by Metropolis
    swaps) and theta (from its exact distribution given the tiers). Chains start at the groups that
    `fit_mixture` finds, and groups are named after those in every draw.

    Parameters
    ----------
    data
        The rankings, with whole weights. Incomplete answers must leave no doubt about which items
        lie in which tier-sized block of places.
    n_groups
        The number of groups.
    sizes
        As for `fit_mixture`; "search" keeps to the sizes that are found there.
    distance, noise, starts, workers, progress
        As for `fit_mixture`.
    chains, draws, warmup
        Number of chains, draws to keep from each, and draws to throw away before.
    prior_theta
        Prior of every theta: `Gamma`, or a function that gives the log density.
    concentration
        Parameter of the symmetric Dirichlet prior of the shares.
    rng
        Seed or generator.

    Returns
    -------
    MixtureDraws
        The draws. A `TierwiseWarning` says so, and what to do, where the chains have not settled
        or are too short.

    Examples
    --------
    >>> import tierwise as tw
    >>> one = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=3.0)
    >>> other = tw.ClusteredMallows(tw.Tiers([["c"], ["b", "a"]]), theta=3.0)
    >>> rankings = tw.Rankings.concat([one.sample(60, rng=1), other.sample(40, rng=2)])
    >>> drawn = sample_mixture(rankings, 2, sizes=(1, 2), draws=400, warmup=100, rng=1)
    >>> drawn.tiers(1)
    (Tiers('a > b ~ c'), 1.0)
    >>> drawn.problems
    ()
    """
    watch = Stopwatch()
    data = check_data(data, "sample_mixture", Rankings)
    chains = check_count("chains", chains)
    draws = check_count("draws", draws)
    warmup = check_count("warmup", warmup, least=0)
    concentration = check_number("concentration", concentration, above=0)
    if isinstance(n_groups, Iterable):
        raise InputError(f"n_groups must be one number; got {n_groups!r}: compare by fit_mixture")
    if data.weights.dtype.kind != "i":
        raise InputError("sampling memberships needs whole weights: each ranking is in one group")
    (wanted,) = sizes_of_groups(len(data.items), n_groups, sizes, noise).values()
    _refuse_open_answers(data, wanted)
    measure, prior = get_distance(distance), as_theta_prior(prior_theta)
    start_seed, chain_seed = spawn_seeds(rng, 2)
    start = fit_mixture(
        data,
        n_groups,
        sizes,
        measure,
        noise=noise,
        starts=starts,
        workers=workers,
        progress=progress,
        rng=start_seed,
    )
    target = MixtureTarget(distinct_answers(data), measure, prior, concentration)
    components = tuple(
        target.fitter.component(
            group.sizes, group.tiers.label_array(data.items), min(group.theta, _LARGEST_START)
        )
        for group in start.groups
    )
    first = State(components, start.shares)
    traces = run_tasks(
        run_chain,
        [(target, first, warmup, draws, seed) for seed in spawn_seeds(chain_seed, chains)],
        description="Sampling groups",
        workers=workers,
        progress=progress,
    )
    settings = {
        "distance": measure.name,
        "prior_theta": str(prior),
        "concentration": concentration,
        "warmup": warmup,
    }
    drawn = assemble(traces, start, settings, watch.provenance(rng))
    for problem in drawn.problems:
        warnings.warn(problem, TierwiseWarning, stacklevel=2)
    return drawn


def _refuse_open_answers(data: Rankings, wanted: tuple[GroupSizes, ...]) -> None:
    """Refuse answers that do not say which items lie in which block, for sizes that may occur."""
    for sizes in set(wanted):
        strict = (1,) * len(data.items)
        if not blocks_are_known(data, strict if sizes == "search" else sizes):
            raise InputError(
                "sampling needs answers that say which items lie in which tier-sized block: "
                "complete ones, or sizes whose last tier holds all items that any answer leaves out"
            )
