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

from tierwise._kernels.mixture import AnswerBits, Groups, Record, run_sweeps
from tierwise._kernels.theta import ThetaPoints
from tierwise.answers.base import KnownAnswers
from tierwise.answers.dispatch import answered_places
from tierwise.data.rankings import Rankings
from tierwise.distances import Distance
from tierwise.fitting.every_size import costs_anywhere
from tierwise.mixture.em import e_step
from tierwise.mixture.groups import Component, DistinctRankings, GroupFitter, pack_bits
from tierwise.model.priors import Gamma, ThetaPrior
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance, prior_table, theta_points
from tierwise.tiers import Sizes

# Swaps of two items that are tried in a sweep, times the number of items.
_SWAPS_PER_ITEM = 10
# After so many sweeps a chain can be interrupted.
_SWEEPS_AT_ONCE = 100
# Logarithms of thetas that a kernel draws from: so many that even the prior of theta, which is all
# that a group without members has, ends between them.
_LOG_THETAS = (-24.0, 5.0)


def answer_bits(data: Rankings, sizes: Sizes, distance: Distance) -> AnswerBits:
    """Say in bits what distinct answers, which leave no doubt about blocks, say about blocks.

    Distances from tiers are sums over bits, and weighted answers are counted 64 at a time. Where
    one of every pair of items is always above the other, a bit says both.

    Parameters
    ----------
    data
        The rankings.
    sizes, distance
        Of the model.
    """
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
    return AnswerBits(
        n_items=n_items,
        n_answers=n_answers,
        columns=pack_bits(np.concatenate(parts, axis=1).T),
        # Kernels are compiled for each layout of an array.
        first=np.ascontiguousarray(first),
        second=np.ascontiguousarray(second),
        decided=decided,
        misplaced=rule.misplaced,
        tied=rule.tied,
        placing=placing,
        anywhere=costs_anywhere(sizes, distance),
        unit=rule.unit,
    )


def points_of_group(log_partition: LogPartition, prior: ThetaPrior) -> ThetaPoints:
    """Tabulate what a kernel draws theta from; nothing where its density may have several peaks."""
    if not isinstance(prior, Gamma):
        nothing = np.empty(0)
        return ThetaPoints(prior_table(prior), nothing, nothing, nothing)
    # The likelihood is log-concave in theta, so that there is one peak.
    return theta_points(log_partition, prior, _LOG_THETAS)


@dataclass(frozen=True, eq=False)
class MixtureTarget:
    """The posterior that is sampled.

    Attributes
    ----------
    answers, distance
        The data, with whole weights, and the distance.
    prior_theta
        Prior of every theta.
    prior_shares
        Parameter of the Dirichlet prior of the shares.
    """

    answers: DistinctRankings
    distance: Distance
    prior_theta: ThetaPrior
    prior_shares: float

    @cached_property
    def fitter(self) -> GroupFitter:
        """What computes probabilities and costs of groups."""
        return GroupFitter(self.answers, self.distance)

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How many people gave each answer."""
        return self.answers.weights.astype(np.int64)

    def units(self, component: Component) -> NDArray[np.int64]:
        """Distance of each distinct answer from the tiers of a group, in units."""
        (known,) = self.fitter.likelihood(component.sizes).parts
        assert isinstance(known, KnownAnswers)  # answers leave no doubt about blocks
        unit = self.distance.rule(component.sizes).unit
        return np.rint(known.distances(component.labels) / unit).astype(np.int64)

    @cached_property
    def log_completions(self) -> float:
        """Sum over answers of the log number of orderings that agree with them."""
        single_tier = (self.answers.n_items,)
        return self.fitter.likelihood(single_tier).log_completions


@dataclass(frozen=True, eq=False)
class Trace:
    """The draws of a chain, one per row, groups relabelled to those it started from.

    Attributes
    ----------
    shares
        ``[draw, group]``.
    parameters
        "theta": ``[draw, group]``; or "log_worth": ``[draw, group, item]``, whose mean over items
        is 0.
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
    parameters: dict[str, NDArray[np.float64]]
    labels: NDArray[np.int64]
    log_likelihood: NDArray[np.float64]
    memberships: NDArray[np.float64]
    n_switches: int


class Chain:
    """A chain of Gibbs sweeps.

    Parameters
    ----------
    target
        What is sampled.
    components, shares
        The groups that it starts from, and their shares.

    Attributes
    ----------
    groups
        Where it is.
    """

    def __init__(
        self,
        target: MixtureTarget,
        components: tuple[Component, ...],
        shares: NDArray[np.float64],
    ) -> None:
        data = target.answers.data
        self._target = target
        self._sizes = [component.sizes for component in components]
        # A group that is a single tier stays as it is.
        several = list(dict.fromkeys(sizes for sizes in self._sizes if len(sizes) > 1))
        self._table_of_group = np.array(
            [several.index(sizes) if len(sizes) > 1 else -1 for sizes in self._sizes]
        )
        self._log_partitions = [
            LogPartition(target.fitter.partition(sizes)) for sizes in several or self._sizes[:1]
        ]
        tables = [answer_bits(data, sizes, target.distance) for sizes in several or self._sizes[:1]]
        points = [points_of_group(one, target.prior_theta) for one in self._log_partitions]
        # Kernels are compiled for each number of tables: as good as any is the next power of two.
        n_spare = (1 << (len(tables) - 1).bit_length()) - len(tables)
        self._tables = (*tables, *tables[:1] * n_spare)
        self._points = (*points, *points[:1] * n_spare)
        self._pivot = np.ascontiguousarray(e_step(target.fitter, components, shares)[0])
        units = np.zeros((len(target.weights), len(components)), dtype=np.int64)
        for group, table in enumerate(self._table_of_group.tolist()):
            if table >= 0:
                units[:, group] = target.units(components[group])
        self.groups = Groups(
            labels=np.array([component.labels for component in components]),
            thetas=np.array([component.theta for component in components]),
            log_partitions=np.array([component.log_partition for component in components]),
            shares=shares.copy(),
            units=units,
        )

    def run(self, warmup: int, draws: int, rng: np.random.Generator) -> Trace:
        """Make sweeps, and relabel the draws to the groups that the chain started from."""
        (n_answers, n_groups), target = self._pivot.shape, self._target
        record = Record(
            shares=np.empty((draws, n_groups)),
            thetas=np.empty((draws, n_groups)),
            labels=np.empty((draws, *self.groups.labels.shape), dtype=np.int64),
            log_likelihood=np.empty(draws),
            common=np.empty((draws, n_groups, n_groups)),
            orders=np.empty((draws, n_groups), dtype=np.int64),
            memberships=np.zeros((n_answers, n_groups)),
        )
        order, draw = np.arange(n_groups), -warmup
        while draw < draws:
            draw, probabilities, numbers, totals = run_sweeps(
                self._tables,
                self._points,
                self._table_of_group,
                target.weights,
                self._pivot,
                target.prior_shares,
                _SWAPS_PER_ITEM * target.answers.n_items,
                self.groups,
                order,
                record,
                draw,
                min(draw + _SWEEPS_AT_ONCE, draws),
                rng,
            )
            if draw > 0 and record.orders[draw - 1, 0] < 0:
                order = matching_groups(record.common[draw - 1], self._sizes)
                record.orders[draw - 1] = order
                record.memberships[:] += probabilities[:, order]
            for group in np.flatnonzero(np.isnan(self.groups.thetas)).tolist():
                self._draw_theta(group, float(numbers[group]), float(totals[group]), rng)
        before = np.vstack([np.arange(n_groups), record.orders[:-1]])
        return Trace(
            np.take_along_axis(record.shares, record.orders, axis=1),
            {"theta": np.take_along_axis(record.thetas, record.orders, axis=1)},
            np.take_along_axis(record.labels, record.orders[:, :, None], axis=1),
            record.log_likelihood + target.log_completions,
            record.memberships / draws,
            int((record.orders != before).any(axis=1).sum()),
        )

    def _draw_theta(
        self, group: int, number: float, total: float, rng: np.random.Generator
    ) -> None:
        """Draw theta of a group where the kernel cannot."""
        log_partition = self._log_partitions[self._table_of_group[group]]
        given = ThetaGivenDistance(log_partition, number, self._target.prior_theta)
        theta = given.density(total).draw(rng)
        self.groups.thetas[group] = theta
        self.groups.log_partitions[group] = log_partition(np.array([theta]))[0]


def run_chain(
    target: MixtureTarget,
    components: tuple[Component, ...],
    first_shares: NDArray[np.float64],
    warmup: int,
    draws: int,
    seed: np.random.SeedSequence,
) -> Trace:
    """Run a chain that starts at given groups, and relabel its draws."""
    chain = Chain(target, components, first_shares)
    return chain.run(warmup, draws, np.random.default_rng(seed))


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
