"""Distinct answers that belong to groups in part, and one group fitted to them: the M step of EM.

Answers count with the probability that they belong to the group. The tiers are those of least
expected distance, over the completions of each answer under the group as it was; theta then solves
the likelihood equation. Neither makes the answers of the group less probable. For complete rankings
this is the M step of Murphy and Martin (2003), for incomplete ones that of Busse, Orbanz and
Buhmann (2007).

References
----------
Murphy, T. B. and Martin, D. (2003). Mixtures of distance-based models for ranking data.
Computational Statistics & Data Analysis 41, 645-655.

Busse, L. M., Orbanz, P. and Buhmann, J. M. (2007). Cluster analysis of heterogeneous rank data.
Proceedings of the 24th International Conference on Machine Learning, 113-120.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import counting
from tierwise._kernels.every_size import fit_size_vector
from tierwise._kernels.mixture import count_charged
from tierwise._util.types import NOT_LISTED, Item, Places
from tierwise.answers.given_sizes import DOUBTFUL_THETA_OF_UNIT, Likelihood
from tierwise.answers.likelihood import source_of
from tierwise.answers.partial import orders_of_preferences
from tierwise.consensus.find import closer_labels
from tierwise.consensus.problem import Problem, make_problem
from tierwise.data.counts import Counts
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.distances import Distance
from tierwise.errors import TooLargeError
from tierwise.files.places import first_places, sizes_of_groups
from tierwise.fitting.every_size import MOST_ITEMS, OrdersByDistance, every_size
from tierwise.partition.base import PartitionFunction
from tierwise.searching.strategies import hill_climb
from tierwise.theta.estimate import best_theta
from tierwise.tiers import Sizes, log_number_of_tiers, neighbours

# A word has room for so many pairs of items.
_MOST_PAIRS = 64
# Steps of the subset recursion that one update of a group's tiers may take: a hundredth of a
# second. Beyond, items trade tiers as long as that helps.
_MOST_STEPS_OF_AN_UPDATE = 3_000_000
# Rounds of completing the answers on the average when a group is fitted from nothing.
_FIRST_ROUNDS = 3
# Fits of neighbouring sizes that are compared with the best by the likelihood of all groups.
RIVALS = 5
_RIVALS_OF_ALL_SIZES = 16
# Answers are kept as bits for so many size vectors; they take memory.
_MOST_PACKED = 64
# Step of the difference quotients that give moments of the distance.
_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class DistinctAnswers(ABC):
    """Distinct answers, each with a weight.

    Attributes
    ----------
    data
        The data that they come from, for what depends on the sizes of tiers.
    pattern_of
        Which of the distinct answers each answer is.
    weights
        The weight of each distinct answer.
    """

    data: Rankings | Preferences
    pattern_of: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def items(self) -> tuple[Item, ...]:
        """The items."""
        return self.data.items

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_rankings(self) -> float:
        """Number of rankings, the sum of the weights."""
        return float(self.weights.sum())

    @property
    def people(self) -> Any:
        """What is known of those who answered."""
        return None

    @property
    @abstractmethod
    def weights_of_rows(self) -> NDArray[Any]:
        """The weight of each answer as it was given."""

    @abstractmethod
    def one_by_one(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the pattern and weight of each answer, divided as far as it counts for many."""

    @abstractmethod
    def reweighted(self, weights: NDArray[np.float64]) -> "DistinctAnswers":
        """Return the same answers with other weights."""

    @cached_property
    @abstractmethod
    def ranks(self) -> NDArray[np.float64]:
        """The mean rank of each item in each answer, counted from 0, as far as it tells."""

    @abstractmethod
    def pair_counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count how often each item is above each other, with given weights of the answers."""


@dataclass(frozen=True, eq=False)
class DistinctRankings(DistinctAnswers):
    """Distinct rankings, complete or not."""

    data: Rankings

    @property
    def people(self) -> Any:
        """What is known of those who ranked."""
        return self.data.people

    @property
    def weights_of_rows(self) -> NDArray[Any]:
        """The weight of each ranking as it was given."""
        return self.data.weights

    def one_by_one(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return one row for each ranking; one whose weight is no whole number is not divided."""
        if self.data.weights.dtype.kind != "i":
            return self.pattern_of, self.data.weights
        single = np.repeat(np.arange(len(self.data.patterns)), self.data.pattern_weights)
        return single, np.ones(len(single))

    def reweighted(self, weights: NDArray[np.float64]) -> "DistinctRankings":
        """Return the rankings with other weights, without those that have none."""
        kept = weights > 0
        patterns = self.data.patterns[kept]
        # Shares of answers, which are not to be scaled again.
        left = Rankings(
            self.items,
            patterns,
            weights[kept],
            unranked=self.data.unranked,
            weights_are="counts",
        )
        return DistinctRankings(left, left.pattern_of, weights[kept])

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """The mean rank of each item in each ranking, counted from 0, as far as it tells.

        Items that a ranking ties share their mean rank; those that may be anywhere are in the
        middle.
        """
        patterns = self.data.patterns
        known = first_places(patterns)
        ranks: NDArray[np.float64] = known + (sizes_of_groups(known) - 1) / 2
        if self.data.unranked == "anywhere":
            ranks[patterns == NOT_LISTED] = (self.n_items - 1) / 2
        return ranks

    def pair_counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count how often each item is above each other, with given weights of the rankings."""
        counts = np.zeros((self.n_items, self.n_items))
        patterns = self.data.patterns
        places = patterns if self.data.unranked == "anywhere" else first_places(patterns)
        counting.add_block_pair_counts(places, weights, counts)
        return counts


@dataclass(frozen=True, eq=False)
class DistinctPreferences(DistinctAnswers):
    """Distinct sets of pairwise answers, one for each assessor."""

    data: Preferences

    @property
    def weights_of_rows(self) -> NDArray[Any]:
        """One for each assessor."""
        return np.ones(len(self.data), dtype=np.int64)

    def one_by_one(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return one row for each assessor."""
        return self.pattern_of, np.ones(len(self.pattern_of))

    def reweighted(self, weights: NDArray[np.float64]) -> "DistinctPreferences":
        """Return the same answers with other weights."""
        return replace(self, weights=weights)

    @cached_property
    def _above(self) -> NDArray[np.bool_]:
        """``[answer, a, b]``: whether a is preferred to b."""
        first_of_each = np.unique(self.pattern_of, return_index=True)[1]
        return self.data.closure[first_of_each]

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """The mean rank of each item in each answer, counted from 0, as far as it tells.

        An item is half as many places below the middle as the items above it outnumber those below
        it.
        """
        excess = self._above.sum(axis=1) - self._above.sum(axis=2)
        below_the_middle: NDArray[np.float64] = (self.n_items - 1 + excess) / 2
        return below_the_middle

    def pair_counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count how often each item is preferred to each other, with given weights of answers."""
        counted: NDArray[np.float64] = np.tensordot(weights, self._above, axes=1)
        return counted


@singledispatch
def distinct_answers(data: Rankings | Preferences) -> DistinctAnswers:
    """Return the distinct answers of a data set."""
    raise TypeError(f"there are no mixtures of {data.unit}")


@distinct_answers.register(Preferences)
def _distinct_preferences(data: Preferences) -> DistinctPreferences:
    orders, pattern_of = orders_of_preferences(data)
    return DistinctPreferences(data, pattern_of, orders.weights)


@distinct_answers.register(Rankings)
def distinct_rankings(data: Rankings) -> DistinctRankings:
    """Return the distinct rankings of a data set."""
    return DistinctRankings(data, data.pattern_of, data.pattern_weights.astype(np.float64))


def fold_weights(
    answers: DistinctAnswers, n_folds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Divide the rankings at random into folds: ``weights[fold, answer]``.

    An answer that counts for several rankings is divided too; one whose weight is no whole number
    is not.
    """
    single, worth = answers.one_by_one()
    fold = rng.permutation(np.arange(len(single)) % n_folds)
    weights = np.zeros((n_folds, len(answers.weights)))
    np.add.at(weights, (fold, single), worth)
    return weights


@dataclass(frozen=True, eq=False)
class Component:
    """Tiers of a group, with theta or worths.

    Attributes
    ----------
    sizes, labels, theta
        The tiers, counted from 0, their sizes, and the concentration around them.
    log_partition
        Log of the partition function at theta.
    log_worths
        Log worth of each tier; then theta is NaN.
    """

    sizes: Sizes
    labels: NDArray[np.int64]
    theta: float
    log_partition: float
    log_worths: NDArray[np.float64] | None = None


Components: TypeAlias = tuple[tuple[Component, ...], NDArray[np.float64]]
"""Groups and their shares."""
SearchOfSizes: TypeAlias = Callable[
    [NDArray[np.float64], Component], tuple[Component, list[Component]]
]
"""Finds better sizes of a group, given the weights of its answers; see `Fitter.search`."""


class Fitter(ABC):
    """What EM needs to know of the models of groups.

    Attributes
    ----------
    answers
        The answers.
    """

    answers: DistinctAnswers

    @abstractmethod
    def log_probabilities(self, component: Component) -> NDArray[np.float64]:
        """Log probability of each answer in a group."""

    @abstractmethod
    def penalty(self, component: Component) -> float:
        """Return what the criterion of EM takes from the log-likelihood for a group."""

    @abstractmethod
    def n_parameters(self, component: Component) -> int:
        """Count the parameters of a group, its tiers and share apart."""

    @abstractmethod
    def error_of_log_likelihood(self, component: Component, weight: float) -> float:
        """Return the standard error of the log-likelihood of so many answers of a group."""

    @abstractmethod
    def fit(
        self, weights: NDArray[np.float64], sizes: Sizes, current: Component | None
    ) -> tuple[Component, float]:
        """Fit a group of given sizes, no worse than the current one; return its value as well."""

    @abstractmethod
    def search(
        self, weights: NDArray[np.float64], component: Component
    ) -> tuple[Component, list[Component]]:
        """Search better sizes; return the best group, and others that come close to it."""

    @property
    def searches(self) -> tuple[SearchOfSizes, ...]:
        """Ways to search better sizes; each is tried where those before it find none."""
        return (self.search,)

    @abstractmethod
    def best_swap(
        self, memberships: NDArray[np.float64], component: Component
    ) -> tuple[Component, float]:
        """Swap two items of neighbouring tiers; return the group and what the mixture gains."""

    @abstractmethod
    def altered(self, component: Component, *, resize: bool) -> list[Component]:
        """List groups that are a little different; in their sizes, too, if that is allowed."""

    def extrapolated(
        self,
        first: Components,  # noqa: ARG002
        second: Components,  # noqa: ARG002
        third: Components,  # noqa: ARG002
    ) -> Components | None:
        """Return where steps of EM that led from group to group would lead; None if that is open.

        Parameters
        ----------
        first, second, third
            Groups and shares, with a step of EM between them.
        """
        return None

    @abstractmethod
    def scores(self, component: Component) -> NDArray[np.float64]:
        """Return derivatives of each answer's log probability in the parameters, by column."""

    @abstractmethod
    def bends(self, component: Component, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum, with weights of the answers, second derivatives over probabilities."""


def moved_items(component: Component) -> list[Component]:
    """List the tiers of the same sizes in which an item was taken out and put back elsewhere.

    Swaps of two items are not among them.
    """
    labels, places = component.labels, np.sort(component.labels)
    in_order = np.argsort(labels, kind="stable")
    found: dict[bytes, NDArray[np.int64]] = {}
    for place, item in enumerate(in_order.tolist()):
        others = np.delete(in_order, place)
        for goal in range(len(labels)):
            moved = np.empty_like(labels)
            moved[np.insert(others, goal, item)] = places
            if (moved != labels).sum() > 2:
                found[moved.tobytes()] = moved
    return [replace(component, labels=moved) for moved in found.values()]


def pairs_fit_a_word(sizes: Sizes, distance: Distance) -> bool:
    """Return whether a distance only counts pairs, of so few items that they fit into a word.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> [pairs_fit_a_word((2, 2), get_distance(name)) for name in ("kendall", "hamming")]
    [True, False]
    """
    rule, n_items = distance.rule(sizes), sum(sizes)
    return (
        n_items * (n_items - 1) // 2 <= _MOST_PAIRS
        and rule.misplaced == 1
        and rule.tied in (0, 1)
        and not rule.placing.any()
    )


def pack_bits(cells: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Write each row of cells as bits, 64 to a word, the first in the lowest bit.

    Examples
    --------
    >>> pack_bits(np.array([[True, True, False], [False, False, True]])).tolist()
    [[3], [4]]
    """
    packed = np.packbits(cells, axis=1, bitorder="little")
    words = np.zeros((len(cells), -(-cells.shape[1] // 64)), dtype="<u8")
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words.astype(np.uint64, copy=False)


class PackedAnswers:
    """Complete answers as bits: which of two items is in an earlier block of given sizes.

    Parameters
    ----------
    places
        ``[answer, item]``: the place of each item, counted from 0.
    sizes, distance
        Sizes of the tiers, and the distance, as `pairs_fit_a_word` wants it.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> places = np.array([[0, 1, 2], [2, 1, 0]], dtype=np.int32)
    >>> PackedAnswers(places, (1, 2), get_distance("kendall")).distances(np.array([0, 1, 1]))
    array([0., 2.])
    """

    def __init__(self, places: Places, sizes: Sizes, distance: Distance) -> None:
        self._rule = distance.rule(sizes)
        first, second = np.triu_indices(sum(sizes), k=1)
        self._ones, self._others = np.array([[first, second], [second, first]])
        self._packed = self._pack(distance.block_of_place(sizes)[places], np.less)

    def _pack(self, labels: NDArray[np.integer], compare: np.ufunc) -> NDArray[np.uint64]:
        """Return, for each row, the pairs whose first item compares so, and whose second does."""
        # At most eleven items: narrow numbers take little room.
        narrow = labels.astype(np.int8)
        pairs = compare(narrow[:, self._ones], narrow[:, self._others])
        # All pairs of a row fit a word.
        return pack_bits(pairs.reshape(-1, pairs.shape[-1])).reshape(-1, 2)

    def distances(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distance of each answer from tiers, counted from 0."""
        compare = np.greater_equal if self._rule.tied else np.greater
        counts = count_charged(self._packed, self._pack(labels[None], compare)[0])
        return counts.astype(np.float64) * self._rule.unit


class GroupFitter(Fitter):
    """Fits groups to weighted answers; remembers what it computed for sizes it has met.

    Parameters
    ----------
    answers
        The answers.
    distance
        The distance.
    """

    def __init__(self, answers: DistinctAnswers, distance: Distance) -> None:
        self.answers = answers
        self.distance = distance
        self._source = source_of(answers.data, distance)
        self._likelihoods: dict[Sizes, Likelihood] = {}
        self._packed_answers: dict[Sizes, PackedAnswers | None] = {}
        self._orders: dict[Sizes, OrdersByDistance] = {}

    def likelihood(self, sizes: Sizes) -> Likelihood:
        """Return the likelihood of the answers for given sizes."""
        if sizes not in self._likelihoods:
            likelihood = self._source.at(sizes)
            if not likelihood.exact:
                raise TooLargeError(
                    f"some answers are too incomplete for sizes {sizes}: restrict the rankings "
                    "to fewer items, or give sizes with fewer tiers"
                )
            self._likelihoods[sizes] = likelihood
        return self._likelihoods[sizes]

    def partition(self, sizes: Sizes) -> PartitionFunction:
        """Return the partition function of given sizes."""
        return self.likelihood(sizes).partition

    def component(self, sizes: Sizes, labels: NDArray[np.int64], theta: float) -> Component:
        """Return a group with given tiers and theta."""
        likelihood = self.likelihood(sizes)
        finite = min(theta, likelihood.largest_theta)
        return Component(sizes, labels, theta, float(likelihood.partition.log_value(finite)))

    def log_probabilities(self, component: Component) -> NDArray[np.float64]:
        """Log probability of each answer in a group."""
        return self._log_weights(component, component.theta) - component.log_partition

    def _log_weights(self, component: Component, theta: float) -> NDArray[np.float64]:
        sizes, labels = component.sizes, component.labels
        packed, likelihood = self._packed(sizes), self.likelihood(sizes)
        if packed is None:
            return likelihood.log_weights(labels, theta)
        return -min(theta, likelihood.largest_theta) * packed.distances(labels)

    def _packed(self, sizes: Sizes) -> PackedAnswers | None:
        """Return the answers as bits, where they are complete and the distance counts pairs."""
        if sizes not in self._packed_answers:
            if len(self._packed_answers) >= _MOST_PACKED:
                self._packed_answers.clear()
            self._packed_answers[sizes] = None
            if self._source.capabilities.complete and pairs_fit_a_word(sizes, self.distance):
                places = self._source.complete_places()
                self._packed_answers[sizes] = PackedAnswers(places, sizes, self.distance)
        return self._packed_answers[sizes]

    def penalty(self, component: Component) -> float:
        """Log number of tiers of the group's sizes."""
        return log_number_of_tiers(component.sizes)

    def n_parameters(self, component: Component) -> int:
        """Count theta, unless there is a single tier."""
        return int(len(component.sizes) > 1)

    def error_of_log_likelihood(self, component: Component, weight: float) -> float:
        """Return what the error of the partition function makes of it."""
        log_value = self.partition(component.sizes).log_value(component.theta)
        return weight * log_value.standard_error

    def altered(self, component: Component, *, resize: bool) -> list[Component]:
        """List groups with an item elsewhere, and with neighbouring tiers that traded places."""
        swapped = swapped_tiers(self, component) if resize else []
        return moved_items(component) + swapped

    def scores(self, component: Component) -> NDArray[np.float64]:
        """Return the derivative of the log probability of each answer in theta."""
        mean = float(self.partition(component.sizes).moments(component.theta).mean)
        return (mean - self.distance_moments(component)[0])[:, None]

    def bends(self, component: Component, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum second derivatives over probabilities.

        That is (E d - m)^2 + v - Var d, where m and v are mean and variance of the distance given
        the answer.
        """
        moments = self.partition(component.sizes).moments(component.theta)
        means, variances = self.distance_moments(component)
        excess = float(moments.mean) - means
        return np.array([own @ (excess**2 + variances - float(moments.variance))])

    def distance_moments(
        self, component: Component
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the distance over completions: derivatives of the log weights."""
        step = min(_STEP, component.theta / 2) or _STEP
        theta = max(component.theta, step)
        before, here, after = (
            self._log_weights(component, point) for point in (theta - step, theta, theta + step)
        )
        return (before - after) / (2 * step), (before - 2 * here + after) / step**2

    def costs(self, weights: NDArray[np.float64], component: Component) -> Problem:
        """Return the expected distance of weighted answers from tiers of the group's sizes."""
        likelihood = self.likelihood(component.sizes).reweighted(weights)
        costs = likelihood.expected_costs(component.labels, component.theta)
        return make_problem(costs, component.sizes)

    def fit(
        self, weights: NDArray[np.float64], sizes: Sizes, current: Component | None
    ) -> tuple[Component, float]:
        """Fit a group of given sizes: no worse than the current one, where there is one.

        Returned are the group, and its answers' log-likelihood less the log number of tiers.
        """
        likelihood = self.likelihood(sizes).reweighted(weights)
        # At a theta of 0 all completions are equally probable, whatever the tiers.
        labels = np.repeat(np.arange(len(sizes)), sizes) if current is None else current.labels
        theta = 0.0 if current is None else current.theta
        if self._is_quick(sizes):
            fitted = self._fit_quickly(weights, likelihood, labels)
            if fitted is not None:
                return fitted
        at_hand = None if current is None else labels
        one_round = current is not None or likelihood.known
        for _ in range(1 if one_round else _FIRST_ROUNDS):
            problem = make_problem(likelihood.expected_costs(labels, theta), sizes)
            at_hand = closer_labels(problem, at_hand, most_steps=_MOST_STEPS_OF_AN_UPDATE)
            labels, theta = at_hand, best_theta(likelihood, at_hand, start=theta)
        found = self.component(sizes, labels, theta)
        return found, float(likelihood.value(labels, theta)) - log_number_of_tiers(sizes)

    def _is_quick(self, sizes: Sizes) -> bool:
        """Whether one kernel can find the best tiers of these sizes, and theta."""
        few = self.answers.n_items <= MOST_ITEMS
        return self._source.capabilities.complete and few and len(sizes) > 1

    def _fit_quickly(
        self, weights: NDArray[np.float64], likelihood: Likelihood, labels: NDArray[np.int64]
    ) -> tuple[Component, float] | None:
        """Fit a group of few items to complete answers; None if theta may be infinite."""
        sizes, unit = likelihood.sizes, likelihood.partition.rule.unit
        if sizes not in self._orders:
            self._orders[sizes] = OrdersByDistance.of(likelihood.partition, unit)
        orders, costs = self._orders[sizes], likelihood.expected_costs(labels, 0.0)
        n_rankings = float(weights.sum())
        labels, theta, total, log_sum = fit_size_vector(
            costs.linear,
            costs.pairs,
            np.array(sizes, dtype=np.int64),
            labels,
            orders.shares,
            unit,
            n_rankings,
        )
        if theta * unit > DOUBTFUL_THETA_OF_UNIT:
            return None
        log_partition = orders.log_orders + log_sum
        value = -n_rankings * log_partition - theta * total - log_number_of_tiers(sizes)
        return Component(sizes, labels, theta, log_partition), value

    def search(
        self, weights: NDArray[np.float64], component: Component
    ) -> tuple[Component, list[Component]]:
        """Fit a group again, and go to neighbouring sizes as long as that is better.

        Few items have so few sizes that all of them are compared.

        Returned are the best group, and the fits of other sizes that come closest to it.
        """
        if self._source.capabilities.complete and self.answers.n_items <= MOST_ITEMS:
            ranked_fits = self._search_all_sizes(weights)
            return ranked_fits[0], ranked_fits[1:]
        known = {component.sizes: self.fit(weights, component.sizes, component)}

        def value(sizes: Sizes) -> float:
            if sizes not in known:
                known[sizes] = self.fit(weights, sizes, None)
            return known[sizes][1]

        def best_of(candidates: list[Sizes]) -> tuple[Sizes, float]:
            best = max(candidates, key=value)
            return best, value(best)

        *_, best = hill_climb(component.sizes, [neighbours], best_of)
        ranked = sorted(neighbours(best), key=value, reverse=True)
        return known[best][0], [known[sizes][0] for sizes in ranked[:RIVALS]]

    def _search_all_sizes(self, weights: NDArray[np.float64]) -> list[Component]:
        """Return the fits of the sizes that suit a group best, the best first."""
        items = self.answers.items
        counts = Counts.of_places(items, self._source.complete_places(), weights)
        every = every_size(len(items), self.distance)
        best = every.best(counts, _RIVALS_OF_ALL_SIZES + 1)
        fits = zip(best.rows.tolist(), best.labels, best.thetas.tolist(), strict=True)
        return [self.component(every.sizes[row], labels, theta) for row, labels, theta in fits]

    def best_swap(
        self, memberships: NDArray[np.float64], component: Component
    ) -> tuple[Component, float]:
        """Swap the two items of neighbouring tiers for which a mixture's log-likelihood gains most.

        An answer that becomes more probable in the group by a factor of ``f`` becomes more probable
        in the mixture by one of ``1 + m (f - 1)``, where ``m`` is the probability that it belongs
        to the group. Returned are the group after the swap, and the gain, which may be negative.
        """
        labels = component.labels
        swaps = np.argwhere(labels[:, None] + 1 == labels)
        if not len(swaps) or np.isinf(component.theta):
            return component, 0.0
        changes = self._changes_by_swaps(component, swaps)
        # An answer that is this group's alone may become impossible.
        with np.errstate(divide="ignore"):
            gains = np.log1p(memberships * np.expm1(changes)) @ self.answers.weights
        best = int(gains.argmax())
        swapped = labels.copy()
        swapped[swaps[best]] = labels[swaps[best, ::-1]]
        return replace(component, labels=swapped), float(gains[best])

    def _changes_by_swaps(
        self, component: Component, swaps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Growth of the log weights when two items trade their tiers: ``[swap, answer]``."""
        labels, theta = component.labels, component.theta
        before, after = self._log_weights(component, theta), []
        for swap in swaps:
            swapped = labels.copy()
            swapped[swap] = labels[swap[::-1]]
            after.append(self._log_weights(replace(component, labels=swapped), theta))
        return np.array(after) - before


def swapped_tiers(fitter: GroupFitter, component: Component) -> list[Component]:
    """List the tiers in which two neighbouring ones that differ in size have traded places."""
    found, sizes = [], component.sizes
    for tier in range(len(sizes) - 1):
        if sizes[tier] != sizes[tier + 1]:
            order = np.arange(len(sizes))
            order[[tier, tier + 1]] = tier + 1, tier
            labels = order[component.labels]
            swapped = tuple(np.bincount(labels).tolist())
            found.append(fitter.component(swapped, labels, component.theta))
    return found
