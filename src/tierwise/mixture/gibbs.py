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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.mixture import (
    AnswerRows,
    costs_of_groups,
    draw_groups,
    draw_members,
    units_of_answers,
)
from tierwise._kernels.theta import ThetaPoints, draw_thetas
from tierwise.answers.dispatch import answered_places
from tierwise.data.rankings import Rankings
from tierwise.distances import Distance
from tierwise.mixture.em import e_step
from tierwise.mixture.every_size import costs_anywhere
from tierwise.mixture.groups import Component, DistinctAnswers, GroupFitter
from tierwise.model.priors import Gamma, ThetaPrior
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers import Sizes

# Swaps of two items that are tried in a sweep, times the number of items.
_SWAPS_PER_ITEM = 10
# Below this all counts are short integers.
_MOST_SHORT = 2.0**31
# Logarithms of thetas that a kernel draws from: so many that even the prior of theta, which is all
# that a group without members has, ends between them.
_LOG_THETAS, _STEP = (-24.0, 5.0), 2.5e-4
# Answers that more people gave are divided among groups all together.
_MOST_ONE_BY_ONE = 32


@dataclass(frozen=True, eq=False)
class State:
    """Where a chain is.

    Attributes
    ----------
    components
        Tiers and theta of each group.
    shares
        Share of each group.
    units
        ``[answer, group]``: distance of each distinct answer from the tiers of each group, in units
        of the distance.
    """

    components: tuple[Component, ...]
    shares: NDArray[np.float64]
    units: NDArray[np.int64]


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
    common
        ``[group of the pivot, group]``: how many members they have in common.
    """

    memberships: NDArray[np.float64]
    members: NDArray[np.int64]
    log_likelihood: float
    common: NDArray[np.float64]


class CostsOfGroups(NamedTuple):
    """Costs of all tiers of given sizes, as in `tierwise.distances.Costs`, for each group."""

    linear: NDArray[np.float64]
    """``[group, item, tier]``, or empty."""
    pairs: NDArray[np.float64]
    """``[group, a, b]``, or empty."""


class AnswerTable:
    """What distinct answers say about blocks of given sizes, one row of zeros and ones for each.

    Distances from tiers and counts of weighted answers are products of it with a vector. Where one
    of every two items is always above the other, a row says it once.

    Parameters
    ----------
    data
        The rankings, which leave no doubt about blocks.
    sizes, distance
        Of the model.
    """

    def __init__(self, data: Rankings, sizes: Sizes, distance: Distance) -> None:
        rule = distance.rule(sizes)
        blocks = distance.block_of_place(sizes)[answered_places(data)]
        (n_answers, n_items), n_blocks = blocks.shape, len(distance.blocks(sizes))
        decided = data.is_complete and n_blocks == n_items
        chosen = np.ones((n_items, n_items), dtype=np.bool_)
        chosen = np.triu(chosen, k=1) if decided else chosen
        first, second = np.nonzero(chosen & (not rule.additive))
        parts = [blocks[:, first] < blocks[:, second]]
        placing = rule.placing if rule.placing.any() else np.empty((0, 0), dtype=np.int64)
        if placing.size:
            parts.append((blocks[:, :, None] == np.arange(n_blocks)).reshape(n_answers, -1))
        self.rows = AnswerRows(
            n_items=n_items,
            rows=np.ascontiguousarray(np.concatenate(parts, axis=1), dtype=np.uint8),
            first=first,
            second=second,
            decided=decided,
            misplaced=rule.misplaced,
            tied=rule.tied,
            placing=placing,
            anywhere=costs_anywhere(sizes, distance),
            unit=rule.unit,
        )
        # Shorter numbers are added faster.
        self._numbers = np.int32 if data.pattern_weights.sum() < _MOST_SHORT else np.int64

    def units(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Distance of each answer from tiers, in units."""
        return units_of_answers(self.rows, labels)

    def room(self, n_groups: int) -> NDArray[Any]:
        """Return room for the counts of groups, as kernels take it."""
        return np.zeros((n_groups, self.rows.rows.shape[1]), dtype=self._numbers)

    def costs(
        self, members: NDArray[np.int64], numbers: NDArray[np.int64], groups: list[int]
    ) -> CostsOfGroups:
        """Costs of all tiers of these sizes, for some columns of members and of their number."""
        room = self.room(len(groups))
        return CostsOfGroups(*costs_of_groups(self.rows, members, numbers, np.array(groups), room))


@dataclass(frozen=True, eq=False)
class ThetaTable:
    """Theta of groups of given sizes: what does not depend on their answers, computed once.

    Attributes
    ----------
    log_partition
        Log of the partition function.
    prior
        Prior of theta.
    """

    log_partition: LogPartition
    prior: ThetaPrior

    @cached_property
    def points(self) -> ThetaPoints:
        """What a kernel draws theta from; nothing where the density may have several peaks."""
        if not isinstance(self.prior, Gamma):
            nothing = np.empty(0)
            return ThetaPoints(nothing, nothing, nothing, nothing)
        # The likelihood is log-concave in theta, so that there is one peak.
        log_thetas = np.arange(*_LOG_THETAS, _STEP)
        thetas = np.exp(log_thetas)
        log_weights = self.prior.log_density(thetas) + log_thetas
        return ThetaPoints(log_thetas, thetas, log_weights, self.log_partition(thetas))

    def draw(
        self,
        numbers: NDArray[np.float64],
        totals: NDArray[np.float64],
        starts: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Draw theta of each group given the number of its rankings and their total distance."""
        thetas: NDArray[np.float64] = np.full(len(numbers), np.nan)
        if isinstance(self.prior, Gamma):
            thetas = draw_thetas(self.points, numbers, totals, starts, rng.random(len(numbers)))
        for place in np.flatnonzero(np.isnan(thetas)).tolist():
            thetas[place] = self.draw_slowly(float(numbers[place]), float(totals[place]), rng)
        return thetas

    def draw_slowly(self, number: float, total: float, rng: np.random.Generator) -> float:
        """Draw theta of a group where the kernel cannot."""
        given = ThetaGivenDistance(self.log_partition, number, self.prior)
        return given.density(total).draw(rng)


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
    def _kept(self) -> dict[Sizes, tuple[AnswerTable, ThetaTable]]:
        return {}

    def tables(self, sizes: Sizes) -> tuple[AnswerTable, ThetaTable]:
        """Return the answers, and what is known of theta, at given sizes."""
        if sizes not in self._kept:
            data = self.answers.data
            assert isinstance(data, Rankings)
            log_partition = LogPartition(self.fitter.partition(sizes))
            self._kept[sizes] = (
                AnswerTable(data, sizes, self.distance),
                ThetaTable(log_partition, self.prior_theta),
            )
        return self._kept[sizes]

    @cached_property
    def _units(self) -> dict[Sizes, float]:
        return {}

    def unit(self, sizes: Sizes) -> float:
        """Return the distance that a unit is, at given sizes."""
        if sizes not in self._units:
            self._units[sizes] = self.distance.rule(sizes).unit
        return self._units[sizes]

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How many people gave each answer."""
        return self.answers.weights.astype(np.int64)

    @cached_property
    def given_by_many(self) -> NDArray[np.int64]:
        """Which answers were given by so many people that these are divided all together."""
        return np.flatnonzero(self.weights > _MOST_ONE_BY_ONE)

    @cached_property
    def log_completions(self) -> float:
        """Sum over answers of the log number of orderings that agree with them."""
        single_tier = (self.answers.n_items,)
        return self.fitter.likelihood(single_tier).log_completions

    def start(self, components: tuple[Component, ...], shares: NDArray[np.float64]) -> State:
        """Return where a chain begins."""
        units = np.zeros((len(self.weights), len(components)), dtype=np.int64)
        for group, component in enumerate(components):
            if len(component.sizes) > 1:
                units[:, group] = self.tables(component.sizes)[0].units(component.labels)
        return State(components, shares, units)


def sweep(
    target: MixtureTarget,
    state: State,
    rng: np.random.Generator,
    pivot: NDArray[np.float64] | None = None,
) -> tuple[State, Info]:
    """Draw memberships, shares, tiers and thetas once each.

    Parameters
    ----------
    target
        What is sampled.
    state
        Where the chain is.
    rng
        Generator.
    pivot
        ``[answer, group]``: memberships that the members drawn are compared with.
    """
    components, weights = state.components, target.weights
    decays = [one.theta * target.unit(one.sizes) for one in components]
    with np.errstate(divide="ignore"):
        log_factors = np.log(state.shares) - [one.log_partition for one in components]
    if pivot is None:
        pivot = np.empty((len(weights), 0))
    many = target.given_by_many
    memberships, members, numbers, common, log_likelihood = draw_members(
        state.units, np.array(decays), log_factors, weights, _MOST_ONE_BY_ONE, pivot, rng
    )
    if len(many):
        members[many] = rng.multinomial(weights[many], memberships[many])
        numbers += members[many].sum(axis=0)
        common += pivot[many].T @ members[many]
    shares = rng.dirichlet(target.concentration + numbers)
    following, units = _draw_groups(target, state, members, numbers, rng)
    info = Info(memberships, members, log_likelihood + target.log_completions, common)
    return State(following, shares, units), info


def _draw_groups(
    target: MixtureTarget,
    state: State,
    members: NDArray[np.int64],
    numbers: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[tuple[Component, ...], NDArray[np.int64]]:
    """Draw the tiers of each group by swaps, then its theta, given who belongs to it."""
    components, units = list(state.components), state.units
    for sizes in dict.fromkeys(component.sizes for component in components):
        if len(sizes) == 1:
            continue
        table, theta_table = target.tables(sizes)
        groups = [place for place, one in enumerate(components) if one.sizes == sizes]
        before = np.array([components[group].labels for group in groups])
        labels = before.copy()
        thetas = np.array([components[group].theta for group in groups])
        totals, log_partitions = draw_groups(
            table.rows,
            theta_table.points,
            members,
            numbers,
            np.array(groups),
            labels,
            thetas,
            _SWAPS_PER_ITEM * labels.shape[1],
            table.room(len(groups)),
            rng,
        )
        open_places = np.flatnonzero(np.isnan(thetas))
        for place in open_places.tolist():
            number = float(numbers[groups[place]])
            thetas[place] = theta_table.draw_slowly(number, float(totals[place]), rng)
            log_partitions[place] = theta_table.log_partition(thetas[[place]])[0]
        moved = (labels != before).any(axis=1).tolist()
        if any(moved) and units is state.units:
            units = units.copy()
        for place, group in enumerate(groups):
            if moved[place]:
                units[:, group] = table.units(labels[place])
            theta, log_partition = float(thetas[place]), float(log_partitions[place])
            components[group] = Component(sizes, labels[place], theta, log_partition)
    return tuple(components), units


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
    target: MixtureTarget,
    components: tuple[Component, ...],
    first_shares: NDArray[np.float64],
    warmup: int,
    draws: int,
    seed: np.random.SeedSequence,
) -> Trace:
    """Run a chain that starts at given groups, and relabel its draws."""
    rng = np.random.default_rng(seed)
    pivot, _ = e_step(target.fitter, components, first_shares)
    n_groups = len(first_shares)
    shares, thetas = np.empty((draws, n_groups)), np.empty((draws, n_groups))
    labels = np.empty((draws, n_groups, target.answers.n_items), dtype=np.int64)
    log_likelihood, memberships = np.empty(draws), np.zeros_like(pivot)
    in_place = np.arange(n_groups)
    order, n_switches = in_place, 0
    state = target.start(components, first_shares)
    for draw in range(-warmup, draws):
        following, info = sweep(target, state, rng, pivot)
        if draw >= 0:
            sizes = [component.sizes for component in state.components]
            before, order = order, matching_groups(info.common, sizes)
            n_switches += bool((order != before).any())
            shares[draw] = state.shares[order]
            thetas[draw] = [state.components[group].theta for group in order]
            labels[draw] = [state.components[group].labels for group in order]
            log_likelihood[draw] = info.log_likelihood
            stay = (order == in_place).all()
            memberships += info.memberships if stay else info.memberships[:, order]
        state = following
    return Trace(shares, thetas, labels, log_likelihood, memberships / draws, n_switches)


def matching_groups(common: NDArray[np.float64], sizes: list[Sizes]) -> NDArray[np.int64]:
    """Return which group has most members in common with each group of the pivot.

    Only groups of the same sizes can stand for each other.

    Parameters
    ----------
    common
        ``[group of the pivot, group]``: how many members they have in common.
    sizes
        Sizes of the tiers of each group.
    """
    if (common.argmax(axis=1) == np.arange(len(common))).all():
        return np.arange(len(common))
    from scipy.optimize import linear_sum_assignment

    alike = np.array([[one == other for other in sizes] for one in sizes])
    _, order = linear_sum_assignment(np.where(alike, common, -1.0 - common.sum()), maximize=True)
    matched: NDArray[np.int64] = order
    return matched
