"""The likelihood of answers of any kind: one way from data to fit, search, posterior and mixture.

A complete answer is an answer with one completion. `source_of` looks once at what kind of data
there are; from then on, `AnswerSource.at` gives the `Likelihood` at any sizes, and nobody has to
ask again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import hypot, inf
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.counting import add_block_pair_counts
from tierwise._util.types import Estimate
from tierwise.answers.base import Completions, expected_costs_of
from tierwise.answers.dispatch import (
    MOST_COMPLETIONS,
    MOST_WORK,
    Part,
    answered_places,
    parts_of_orders,
    parts_of_places,
)
from tierwise.answers.drawn import STRETCHES, DrawnCompletions
from tierwise.answers.known import KnownAnswers, KnownRows
from tierwise.answers.partial import orders_of_places, orders_of_preferences
from tierwise.answers.top import StrictWeakOrders, strict_weak_orders
from tierwise.answers.votes import DrawnVotes, SummedVotes, votes_of
from tierwise.answers.votes import can_be_summed as votes_can_be_summed
from tierwise.data.counts import (
    MOST_ITEMS_FOR_JOINT_COUNTS,
    Counts,
    blocks_are_known,
    count_open_answers,
)
from tierwise.data.kinds import pair_counts
from tierwise.data.preferences import Preferences
from tierwise.distances.named import get_distance
from tierwise.errors import InputError, TooLargeError
from tierwise.partition.choose import partition_function

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Item, Places
    from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums
    from tierwise.answers.partial import PartialOrders
    from tierwise.answers.votes import Votes
    from tierwise.data.counts import Numbers
    from tierwise.data.rankings import Rankings
    from tierwise.distances.base import Costs, Distance
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers.sizes import Sizes

# At this theta, per unit of distance, a completion that is not the closest weighs nothing.
LARGEST_THETA_OF_UNIT = 46.0
# A maximum beyond this one cannot be told from an infinite theta: it would take a single deviation
# among tens of billions of rankings.
LARGEST_FINITE_THETA_OF_UNIT = 25.0
# From here on the slope may be lost in rounding: the log-likelihood is compared with that at
# infinity, up to so much an answer.
DOUBTFUL_THETA_OF_UNIT = 10.0
ROUNDING = 1e-10
# Where Monte Carlo has to stand in, the same sizes have the same partition function every time.
_SEED = 0
# Mistake probability to begin with, where answers may be mistaken.
FIRST_MISTAKE_PROBABILITY = 0.1


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood at given sizes, for any tiers and theta.

    Attributes
    ----------
    parts
        Collections of answers that are summed over, each in its own way.
    partition
        The partition function of the model.
    drawn
        Answers that have too many completions to be summed over, if there are any.
    rows
        Which of the distinct answers each part holds, in the order of the parts.
    """

    parts: tuple[ExactCompletions, ...]
    partition: PartitionFunction
    drawn: DrawnCompletions | None = None
    rows: tuple[npt.NDArray[np.int64], ...] = ()

    @property
    def sizes(self) -> Sizes:
        """Sizes of the tiers."""
        return self.partition.sizes

    @property
    def known(self) -> bool:
        """Whether all answers say which items lie in which block."""
        return self.drawn is None and all(isinstance(part, KnownAnswers) for part in self.parts)

    @property
    def all_parts(self) -> tuple[Completions, ...]:
        """The parts that are summed over and the one that is drawn."""
        return self.parts if self.drawn is None else (*self.parts, self.drawn)

    @cached_property
    def n_rankings(self) -> float:
        """Sum of the weights of all answers."""
        return sum(float(part.weights.sum()) for part in self.all_parts)

    @property
    def log_completions(self) -> float:
        """Sum over answers of the log number of orderings that agree with them."""
        return sum(float((part.weights * part.log_numbers).sum()) for part in self.all_parts)

    @property
    def seconds(self) -> float:
        """About how long a sum over all completions takes."""
        return sum(part.seconds for part in self.parts)

    @property
    def largest_theta(self) -> float:
        """A theta that is as good as infinite."""
        return LARGEST_THETA_OF_UNIT / self.partition.rule.unit

    def reweighted(self, weights: Floats) -> Likelihood:
        """Return the likelihood of the same distinct answers with other weights."""
        self._refuse_drawn()
        pairs = zip(self.parts, self.rows, strict=True)
        return replace(self, parts=tuple(part.reweighted(weights[rows]) for part, rows in pairs))

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each distinct answer."""
        self._refuse_drawn()
        theta = min(theta, self.largest_theta)
        logs = np.empty(sum(len(rows) for rows in self.rows))
        for part, rows in zip(self.parts, self.rows, strict=True):
            logs[rows] = part.log_weights(labels, theta)
        return logs

    def log_weight_changes(
        self, labels: Labels, theta: float, swaps: npt.NDArray[np.int64]
    ) -> Floats:
        """Growth of `log_weights` when two items trade their tiers: ``[swap, distinct answer]``."""
        (part, *others), finite = self.parts, min(theta, self.largest_theta)
        if isinstance(part, KnownAnswers) and not others:
            return np.array([-finite * part.distance_changes(labels, swap) for swap in swaps])
        before, after = self.log_weights(labels, theta), []
        for swap in swaps:
            swapped = labels.copy()
            swapped[swap] = labels[swap[::-1]]
            after.append(self.log_weights(swapped, theta))
        return np.array(after) - before

    def _refuse_drawn(self) -> None:
        if self.drawn is not None:
            raise TooLargeError(
                f"{len(self.drawn.weights)} of the answers have more than {MOST_COMPLETIONS:,} "
                "completions, too many to sum over: fit or sample the posterior, which draw "
                "completions, or restrict the rankings to fewer items"
            )

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers that are summed over."""
        return reduce(add, (part.sums(labels, theta) for part in self.parts))

    def value(self, labels: Labels, theta: float, *, stretches: int = STRETCHES) -> Estimate:
        """Log-likelihood, with its error where completions or the partition function are drawn.

        Parameters
        ----------
        labels, theta
            Tiers, counted from 0, and theta.
        stretches
            Stretches of draws where completions are drawn: more make the error smaller.
        """
        log_partition = self.partition.log_value(theta)
        theta = min(theta, self.largest_theta)
        summed = self.sums(labels, theta).log_weight if self.parts else 0.0
        error = self.n_rankings * log_partition.standard_error
        method = log_partition.method
        if self.drawn is not None:
            drawn = self.drawn.log_weight(labels, theta, stretches=stretches)
            summed, error = summed + float(drawn), hypot(error, drawn.standard_error)
            method = drawn.method
        value = summed - self.n_rankings * float(log_partition)
        return Estimate(value, standard_error=error, method=method)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        return expected_costs_of(self.all_parts, labels, min(theta, self.largest_theta))

    def costs_at_random(self) -> Costs:
        """Costs of all tiers with all completions equally likely: where to start.

        At a theta of 0 it does not matter for which tiers that is.
        """
        labels = np.repeat(np.arange(len(self.sizes), dtype=np.int64), self.sizes)
        return self.expected_costs(labels, 0.0)

    def information(self, labels: Labels, theta: float) -> float:
        """Information about theta: minus the second derivative of the log-likelihood."""
        information = self.n_rankings * float(self.partition.variance(theta))
        if self.parts:
            information -= self.sums(labels, theta).variance
        if self.drawn is not None:
            information -= self.drawn.variance(labels, theta)
        return information

    def best_theta(self, labels: Labels, start: float) -> float:
        """Climb in theta to a maximum of the log-likelihood, by Newton steps within a bracket.

        Infinite where the likelihood grows without end: all answers agree with the tiers. Answers
        whose completions are drawn have no part in this.
        """
        largest = self.largest_theta
        if float(self.partition.variance(0.0)) == 0.0:
            return 0.0
        low, high = 0.0, inf
        theta = min(max(start, 1e-3 / self.partition.rule.unit), largest)
        for _ in range(100):
            sums = self.sums(labels, theta)
            slope = self.n_rankings * float(self.partition.mean(theta)) - sums.mean
            curvature = sums.variance - self.n_rankings * float(self.partition.variance(theta))
            if slope > 0.0:
                low = theta
            else:
                high = theta
            if low == largest:
                break
            following = theta - slope / curvature if curvature < 0.0 else -inf
            if not low < following < high:
                following = min(2.0 * theta, largest) if high == inf else (low + high) / 2.0
            # The error of a Newton step is of the order of its square.
            settled = abs(following - theta) <= 1e-7 * theta
            theta = following
            if settled or theta < 1e-9 * largest:
                break
        if self._is_as_good_as_infinite(labels, theta):
            return inf
        return 0.0 if theta < 1e-9 * largest else theta

    def _is_as_good_as_infinite(self, labels: Labels, theta: float) -> bool:
        """Tell whether the log-likelihood is no lower where theta is infinite."""
        of_unit = theta * self.partition.rule.unit
        if not DOUBTFUL_THETA_OF_UNIT < of_unit <= LARGEST_FINITE_THETA_OF_UNIT:
            return of_unit > LARGEST_FINITE_THETA_OF_UNIT
        at_infinity = self.value(labels, self.largest_theta)
        return at_infinity >= self.value(labels, theta) - ROUNDING * self.n_rankings


class AnswerSource(ABC):
    """Answers of one kind, before any sizes are chosen; made by `source_of`.

    Attributes
    ----------
    data
        The data as they were given.
    items
        The items.
    distance
        The distance.
    n_rankings
        Number of rankings, the sum of their weights; of people, where they compared pairs.
    n_open
        Number of distinct answers that agree with several complete orderings.
    weights
        Weight of each distinct answer.
    pattern_of
        Which of the distinct answers each answer is, as given.
    pairwise
        Whether people compared pairs of items.
    votes
        The answers, if they may be mistaken.
    """

    data: Rankings | Counts | Preferences
    items: tuple[Item, ...]
    distance: Distance
    n_rankings: int | float
    n_open: int
    weights: Numbers
    pattern_of: npt.NDArray[np.int64]
    pairwise: bool = False
    votes: Votes | None = None

    def fingerprint(self) -> str:
        """Return a digest of all that the likelihood depends on in the data as they were given."""
        return self.data.fingerprint()

    @property
    @abstractmethod
    def pair_counts(self) -> Numbers:
        """How often each item is put above each other; what is tied or open does not count."""

    @abstractmethod
    def is_known(self, sizes: Sizes) -> bool:
        """Tell whether all answers say which items lie in which block of given sizes."""

    @property
    def strict_weak_orders(self) -> StrictWeakOrders | None:
        """The answers under tiers of one item each, if that is a closed form of the distance."""
        return None

    @abstractmethod
    def can_be_summed(self, sizes: Sizes | None) -> bool:
        """Tell whether all completions can be summed over, for given sizes or for all sizes.

        Not where answers may be mistaken: how often they are is not known.
        """

    @abstractmethod
    def partial_orders(self) -> PartialOrders:
        """Return the distinct answers as partial orders, whose completions can be drawn."""

    def at(
        self,
        sizes: Sizes,
        *,
        partition: PartitionFunction | None = None,
        rng: np.random.Generator | None = None,
        most_work: float = MOST_WORK,
    ) -> Likelihood:
        """Return the likelihood at given sizes.

        Parameters
        ----------
        sizes
            Sizes of the tiers, best tier first.
        partition
            The partition function of these sizes, if it is there already.
        rng
            Generator, for answers whose completions are drawn.
        most_work
            Numbers that an evaluation may go through to sum over answers with ties, or whose other
            items may be anywhere; beyond, their completions are listed or drawn.
        """
        if partition is None:
            partition = partition_function(sizes, self.distance, rng=_SEED)
        generator = np.random.default_rng(_SEED) if rng is None else rng
        parts = self._parts(sizes, generator, most_work)
        drawn = [part for part in parts if isinstance(part.completions, DrawnCompletions)]
        summed = [part for part in parts if not isinstance(part.completions, DrawnCompletions)]
        return Likelihood(
            tuple(part.completions for part in summed),  # type: ignore[misc]
            partition,
            drawn[0].completions if drawn else None,  # type: ignore[arg-type]
            tuple(part.rows for part in summed),
        )

    @abstractmethod
    def _parts(self, sizes: Sizes, rng: np.random.Generator, most_work: float) -> list[Part]:
        """Decide how the completions of each answer are treated, from sizes alone."""

    def costs(self, sizes: Sizes) -> Costs:
        """Return the costs of all tiers of given sizes, all completions being equally likely."""
        return self.at(sizes).costs_at_random()

    def complete_orderings(self) -> npt.NDArray[np.int64]:
        """Return ``orderings[answer, place]``, the items of complete rankings place by place."""
        raise InputError('likelihood="pseudo" needs complete rankings without ties')

    def counted(self) -> AnswerSource:
        """Return the same answers, counted once for all sizes where that is possible."""
        return self

    def reweighted(self, weights: Floats) -> AnswerSource:  # noqa: ARG002
        """Return the same distinct answers with other weights."""
        raise InputError("only rankings can be weighed anew: give rankings")

    def _hardest(self, sizes: Sizes | None) -> tuple[Sizes, ...]:
        """Return the sizes that make the most work.

        These are tiers of one item each, unless these have a closed form, and then a single pair
        among them.
        """
        n_items = len(self.items)
        one_pair = (2,) + (1,) * (n_items - 2) if n_items > 1 else (1,)
        return ((1,) * n_items, one_pair) if sizes is None else (sizes,)


class _RankingSource(AnswerSource):
    """Rankings, complete or not."""

    data: Rankings

    def __init__(self, data: Rankings, distance: Distance) -> None:
        self.data = data
        self.items = data.items
        self.distance = distance
        self.pattern_of = data.pattern_of
        self.n_rankings = data.n_rankings
        self.n_open = count_open_answers(data)
        self.weights = data.pattern_weights
        self._joint: Counts | None = None

    @cached_property
    def first(self) -> Places:
        """First place of each item's tied group; -1 where it may be anywhere."""
        return self.data.patterns if self.n_open == 0 else answered_places(self.data)

    @cached_property
    def _rows(self) -> KnownRows:
        return KnownRows(self.first, complete=self.n_open == 0)

    @cached_property
    def pair_counts(self) -> Numbers:
        counts: Numbers = np.zeros((len(self.items),) * 2, dtype=self.weights.dtype)
        add_block_pair_counts(self.first, self.weights, counts)
        return counts

    def is_known(self, sizes: Sizes) -> bool:
        return self.n_open == 0 or blocks_are_known(self.data, self.distance.blocks(sizes))

    @cached_property
    def strict_weak_orders(self) -> StrictWeakOrders | None:
        weights = self.weights.astype(np.float64)
        return strict_weak_orders(self.first, weights, self.pair_counts, self.distance)

    def can_be_summed(self, sizes: Sizes | None) -> bool:
        return all(self.at(vector).drawn is None for vector in self._hardest(sizes))

    @cached_property
    def _orders(self) -> PartialOrders:
        return orders_of_places(self.first, self.weights.astype(np.float64))

    def partial_orders(self) -> PartialOrders:
        return self._orders

    def complete_orderings(self) -> npt.NDArray[np.int64]:
        return self._rows.orderings if self.n_open == 0 else super().complete_orderings()

    def costs(self, sizes: Sizes) -> Costs:
        if self._joint is None:
            return super().costs(sizes)
        return self.distance.costs(self._joint.blocks(self.distance.blocks(sizes)), sizes)

    def counted(self) -> AnswerSource:
        if self.n_open > 0 or len(self.items) > MOST_ITEMS_FOR_JOINT_COUNTS:
            return self
        other = copy(self)
        other._joint = Counts.of_places(self.items, self._rows.places, self.weights)
        return other

    def reweighted(self, weights: Floats) -> AnswerSource:
        other = copy(self)
        other.weights = weights
        other.n_rankings = float(weights.sum())
        other._joint = None
        for name in ("pair_counts", "strict_weak_orders", "_orders"):
            other.__dict__.pop(name, None)
        return other

    def _parts(self, sizes: Sizes, rng: np.random.Generator, most_work: float) -> list[Part]:
        weights = self.weights.astype(np.float64)
        if not self.is_known(sizes):
            return parts_of_places(self.first, weights, sizes, self.distance, rng, most_work)
        known = KnownAnswers(self._rows, weights, sizes, self.distance, self._joint)
        return [Part(np.arange(len(weights)), known)]


class _CountSource(AnswerSource):
    """Counts of complete rankings, which do not tell one ranking from another."""

    data: Counts
    n_open = 0

    def __init__(self, data: Counts, distance: Distance) -> None:
        self.data = data
        self.items = data.items
        self.distance = distance
        self.n_rankings = data.n_rankings
        self.weights = np.array([data.n_rankings], dtype=np.float64)
        self.pattern_of = np.zeros(0, dtype=np.int64)

    @cached_property
    def pair_counts(self) -> Numbers:
        return pair_counts(self.data)

    def costs(self, sizes: Sizes) -> Costs:
        return self.distance.costs(self.data.blocks(self.distance.blocks(sizes)), sizes)

    def is_known(self, sizes: Sizes) -> bool:  # noqa: ARG002
        return True

    def can_be_summed(self, sizes: Sizes | None) -> bool:  # noqa: ARG002
        return True

    def partial_orders(self) -> PartialOrders:
        raise InputError("counts leave nothing to complete: give the rankings themselves")

    def _parts(
        self,
        sizes: Sizes,
        rng: np.random.Generator,  # noqa: ARG002
        most_work: float,  # noqa: ARG002
    ) -> list[Part]:
        known = KnownAnswers(None, self.weights, sizes, self.distance, self.data)
        return [Part(np.zeros(1, dtype=np.int64), known)]


class _PreferenceSource(AnswerSource):
    """Answers pair by pair, all of them right."""

    data: Preferences
    pairwise = True

    def __init__(self, data: Preferences, distance: Distance) -> None:
        self.data = data
        self.items = data.items
        self.distance = distance
        self.n_rankings = data.n_rankings
        self.n_open = count_open_answers(data)

    @cached_property
    def _orders_and_patterns(self) -> tuple[PartialOrders, npt.NDArray[np.int64]]:
        return orders_of_preferences(self.data)

    @property
    def weights(self) -> Numbers:  # type: ignore[override]
        return self._orders_and_patterns[0].weights

    @property
    def pattern_of(self) -> npt.NDArray[np.int64]:  # type: ignore[override]
        return self._orders_and_patterns[1]

    @cached_property
    def pair_counts(self) -> Numbers:
        return pair_counts(self.data)

    def is_known(self, sizes: Sizes) -> bool:  # noqa: ARG002
        return False

    def can_be_summed(self, sizes: Sizes | None) -> bool:
        return all(self.at(vector).drawn is None for vector in self._hardest(sizes))

    def partial_orders(self) -> PartialOrders:
        return self._orders_and_patterns[0]

    def _parts(
        self,
        sizes: Sizes,
        rng: np.random.Generator,
        most_work: float,  # noqa: ARG002
    ) -> list[Part]:
        orders = self.partial_orders()
        rows = np.arange(len(orders.weights))
        return parts_of_orders(orders, rows, sizes, self.distance, rng)


class _VoteSource(_PreferenceSource):
    """Answers pair by pair that may be mistaken."""

    @cached_property
    def votes(self) -> Votes:  # type: ignore[override]
        return votes_of(self.data)

    @property
    def weights(self) -> Numbers:  # type: ignore[override]
        return self.votes.weights

    @property
    def pattern_of(self) -> npt.NDArray[np.int64]:  # type: ignore[override]
        return self.votes.pattern_of

    def can_be_summed(self, sizes: Sizes | None) -> bool:  # noqa: ARG002
        return False

    def partial_orders(self) -> PartialOrders:
        raise InputError(
            "these preferences may be mistaken, so they do not say which orderings are possible: "
            'fit them, or make them with cycles="error"'
        )

    def _parts(
        self,
        sizes: Sizes,
        rng: np.random.Generator,
        most_work: float,  # noqa: ARG002
    ) -> list[Part]:
        votes, first = self.votes, FIRST_MISTAKE_PROBABILITY
        rows = np.arange(len(votes.weights))
        if votes_can_be_summed(votes):
            return [Part(rows, SummedVotes(votes, sizes, self.distance, first))]
        return [Part(rows, DrawnVotes(votes, sizes, self.distance, rng, first))]


def source_of(data: Rankings | Counts | Preferences, distance: str | Distance) -> AnswerSource:
    """Return what the likelihood needs of the data, whatever kind they are of.

    Parameters
    ----------
    data
        Rankings, complete or not, counts of complete ones, or preferences.
    distance
        Name of a distance, or a distance.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise import Rankings
    >>> ballots = Rankings.from_orderings([["a"], ["b", "a", "c"]], unranked="below")
    >>> source = source_of(ballots, "kendall")
    >>> source.is_known((1, 2)), source.is_known((2, 1))
    (True, False)
    >>> likelihood = source.at((2, 1))
    >>> likelihood.known, round(likelihood.value(np.array([0, 0, 1]), theta=1.0), 4)
    (False, -1.7385)
    """
    measure = get_distance(distance)
    if isinstance(data, Counts):
        return _CountSource(data, measure)
    if isinstance(data, Preferences):
        kind = _VoteSource if data.cycles == "keep" else _PreferenceSource
        return kind(data, measure)
    return _RankingSource(data, measure)
