"""The likelihood of answers of any kind: one way from data to fit, search, posterior and mixture.

A complete answer is an answer with one completion. `source_of` looks once at what kind of data
there are; from then on, `AnswerSource.at` gives the `Likelihood` at any sizes, and nobody has to
ask again.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.counting import add_block_pair_counts
from tierwise.answers.base import KnownAnswers, KnownRows, log_numbers_of_groups
from tierwise.answers.capabilities import AllSizes, Capabilities
from tierwise.answers.dispatch import (
    FIRST_MISTAKE_PROBABILITY,
    MOST_WORK,
    Part,
    answered_places,
    parts_of_orders,
    parts_of_places,
)
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.generalised import (
    answers_of_counts,
    answers_of_rankings,
    log_probabilities,
    obstacle_of_rankings,
)
from tierwise.answers.given_sizes import ComparisonLikelihood, Likelihood
from tierwise.answers.partial import orders_of_places, orders_of_preferences
from tierwise.answers.source import AnswerSource
from tierwise.answers.top import StrictWeakOrders, strict_weak_orders
from tierwise.answers.votes import DrawnVotes, SummedVotes, votes_of
from tierwise.answers.votes import can_be_summed as votes_can_be_summed
from tierwise.data.battles import Battles
from tierwise.data.counts import (
    MOST_ITEMS_FOR_JOINT_COUNTS,
    Counts,
    WeakOrderCounts,
    blocks_are_known,
    count_open_answers,
)
from tierwise.data.kinds import refuse_too_many_answers
from tierwise.data.preferences import Preferences
from tierwise.distances import get_distance
from tierwise.errors import InputError, drop, use
from tierwise.partition.choose import partition_function

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.answers.base import Floats, Labels
    from tierwise.answers.generalised import GeneralisedAnswers
    from tierwise.answers.partial import PartialOrders
    from tierwise.answers.votes import Votes
    from tierwise.data.counts import Numbers
    from tierwise.data.kinds import KnownData
    from tierwise.data.rankings import Rankings
    from tierwise.distances import Costs, Distance
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers import Sizes

__all__ = ["AnswerSource", "distance_for", "source_of"]

# Where Monte Carlo has to stand in, the same sizes have the same partition function every time.
_SEED = 0


class _CompletedSource(AnswerSource):
    """Answers whose completions are summed over, or drawn."""

    def at(
        self,
        sizes: Sizes,
        *,
        partition: PartitionFunction | None = None,
        rng: np.random.Generator | None = None,
        most_work: float = MOST_WORK,
    ) -> Likelihood:
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

    def _hardest(self, sizes: Sizes | None) -> tuple[Sizes, ...]:
        """Return the sizes that make the most work.

        These are tiers of one item each, unless these have a closed form, and then a single pair
        among them.
        """
        n_items = len(self.items)
        one_pair = (2,) + (1,) * (n_items - 2) if n_items > 1 else (1,)
        return ((1,) * n_items, one_pair) if sizes is None else (sizes,)


class _RankingSource(_CompletedSource):
    """Rankings, complete or not."""

    data: Rankings

    def __init__(self, data: Rankings, distance: Distance) -> None:
        self.data = data
        self.items = data.items
        self.distance = distance
        self.pattern_of = data.pattern_of
        self.n_rankings = data.n_rankings
        self._complete = count_open_answers(data) == 0
        self.weights = data.pattern_weights
        self._joint: Counts | None = None

    @cached_property
    def capabilities(self) -> Capabilities:
        gaps = self.data.unranked == "anywhere"
        all_sizes: AllSizes | None = None
        if self._all_pairs_cost_alike:
            if not gaps:
                all_sizes = "weak orders"
            elif not (self.weights % 1.0).any():
                all_sizes = "completions"
        return Capabilities(
            answers="rankings with gaps" if gaps else "rankings",
            engine="completions",
            complete=self._complete,
            all_sizes=all_sizes,
            evidence=True,
            single_answers=True,
        )

    @property
    def joint_counts(self) -> Counts | None:
        return self._joint

    @cached_property
    def first(self) -> Places:
        """First place of each item's tied group; -1 if it may be anywhere."""
        return self.data.patterns if self._complete else answered_places(self.data)

    @cached_property
    def _rows(self) -> KnownRows:
        return KnownRows(self.first, complete=self._complete)

    @cached_property
    def pair_counts(self) -> Numbers:
        counts: Numbers = np.zeros((len(self.items),) * 2, dtype=self.weights.dtype)
        add_block_pair_counts(self.first, self.weights, counts)
        return counts

    def is_known(self, sizes: Sizes) -> bool:
        return self._complete or blocks_are_known(self.data, self.distance.blocks(sizes))

    @cached_property
    def weak_orders(self) -> WeakOrderCounts:
        return WeakOrderCounts.from_patterns(self.data.patterns, self.weights)

    @cached_property
    def strict_weak_orders(self) -> StrictWeakOrders | None:
        weights = self.weights.astype(np.float64)
        return strict_weak_orders(self.first, weights, self.pair_counts, self.distance)

    def _obstacle_to(self, partition: PartitionFunction) -> InputError | None:
        return obstacle_of_rankings(self.data, partition)

    def _by_part(self, partition: PartitionFunction) -> GeneralisedAnswers:
        return answers_of_rankings(self.data, partition)

    def log_probabilities(
        self, partition: PartitionFunction, labels: Labels, thetas: Floats
    ) -> Floats:
        if obstacle := self._obstacle_to(partition):
            raise obstacle
        return log_probabilities(self.data, partition, labels, thetas)

    def can_be_summed(self, sizes: Sizes | None) -> bool:
        return all(self.at(vector).drawn is None for vector in self._hardest(sizes))

    @cached_property
    def _orders(self) -> PartialOrders:
        return orders_of_places(self.first, self.weights.astype(np.float64))

    def partial_orders(self) -> PartialOrders:
        return self._orders

    def log_completions(self) -> float:
        return float(self.weights @ log_numbers_of_groups(self.first))

    def complete_places(self) -> Places:
        return self.data.patterns if self._complete else super().complete_places()

    def complete_orderings(self) -> npt.NDArray[np.int64]:
        return self._rows.orderings if self._complete else super().complete_orderings()

    def costs(self, sizes: Sizes) -> Costs:
        if self._joint is None:
            return super().costs(sizes)
        return self.distance.costs(self._joint.blocks(self.distance.blocks(sizes)), sizes)

    def counted(self) -> AnswerSource:
        if not self._complete or len(self.items) > MOST_ITEMS_FOR_JOINT_COUNTS:
            return self
        other = copy(self)
        other._joint = Counts.of_places(self.items, self._rows.places, self.weights)
        return other

    def reweighted(self, weights: Floats) -> AnswerSource:
        other = copy(self)
        other.weights = weights
        other.n_rankings = float(weights.sum())
        other._joint = None
        for name in ("capabilities", "pair_counts", "weak_orders", "strict_weak_orders", "_orders"):
            other.__dict__.pop(name, None)
        return other

    def _parts(self, sizes: Sizes, rng: np.random.Generator, most_work: float) -> list[Part]:
        weights = self.weights.astype(np.float64)
        if not self.is_known(sizes):
            return parts_of_places(self.first, weights, sizes, self.distance, rng, most_work)
        known = KnownAnswers(self._rows, weights, sizes, self.distance, self._joint)
        return [Part(np.arange(len(weights)), known)]


class _CountSource(_CompletedSource):
    """Counts of complete rankings, which do not tell one ranking from another."""

    data: Counts

    def __init__(self, data: Counts, distance: Distance) -> None:
        self.data = data
        self.items = data.items
        self.distance = distance
        self.n_rankings = data.n_rankings
        self.weights = np.array([data.n_rankings], dtype=np.float64)
        self.pattern_of = np.zeros(0, dtype=np.int64)

    @property
    def joint_counts(self) -> Counts | None:
        return self.data

    @cached_property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            answers="counts of rankings",
            engine="completions",
            complete=True,
            all_sizes="weak orders" if self._all_pairs_cost_alike else None,
            evidence=True,
            single_answers=False,
        )

    @cached_property
    def weak_orders(self) -> WeakOrderCounts:
        return WeakOrderCounts.without_ties(self.pair_counts, float(self.n_rankings))

    def costs(self, sizes: Sizes) -> Costs:
        return self.distance.costs(self.data.blocks(self.distance.blocks(sizes)), sizes)

    def is_known(self, sizes: Sizes) -> bool:  # noqa: ARG002
        return True

    def _obstacle_to(self, partition: PartitionFunction) -> InputError | None:  # noqa: ARG002
        return None

    def _by_part(self, partition: PartitionFunction) -> GeneralisedAnswers:
        return answers_of_counts(self.data, partition)

    def can_be_summed(self, sizes: Sizes | None) -> bool:  # noqa: ARG002
        return True

    def partial_orders(self) -> PartialOrders:
        raise InputError("counts leave nothing to complete: pass the rankings themselves")

    def _parts(
        self,
        sizes: Sizes,
        rng: np.random.Generator,  # noqa: ARG002
        most_work: float,  # noqa: ARG002
    ) -> list[Part]:
        known = KnownAnswers(None, self.weights, sizes, self.distance, self.data)
        return [Part(np.zeros(1, dtype=np.int64), known)]


class _PreferenceSource(_CompletedSource):
    """Answers pair by pair, all of them right."""

    data: Preferences

    def __init__(self, data: Preferences, distance: Distance) -> None:
        self.data = data
        self.items = data.items
        self.distance = distance
        self.n_rankings = data.n_rankings

    @cached_property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            answers="pairwise answers",
            engine="completions",
            complete=False,
            all_sizes="completions" if self._all_pairs_cost_alike else None,
            evidence=True,
            single_answers=True,
        )

    @cached_property
    def _orders_and_patterns(self) -> tuple[PartialOrders, npt.NDArray[np.int64]]:
        return orders_of_preferences(self.data)

    @property
    def weights(self) -> Numbers:  # type: ignore[override]
        return self._orders_and_patterns[0].weights

    @property
    def pattern_of(self) -> npt.NDArray[np.int64]:  # type: ignore[override]
        return self._orders_and_patterns[1]

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
    def capabilities(self) -> Capabilities:
        return Capabilities(
            answers="pairwise answers that may be mistaken",
            engine="mistakes",
            complete=False,
            all_sizes=None,
            evidence=True,
            single_answers=True,
        )

    @cached_property
    def votes(self) -> Votes:
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
        self.capabilities.refuse_mistakes()
        return super().partial_orders()

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


class _BattleSource(AnswerSource):
    """Battles, each an answer of its own about two items."""

    data: Battles

    def __init__(self, data: Battles, distance: Distance) -> None:
        self.data = data
        self.items = data.items
        self.distance = distance
        self.n_rankings = data.n_rankings
        self.weights = data.wins[data.wins > 0.0]
        self.pattern_of = np.zeros(0, dtype=np.int64)

    @cached_property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            answers="battles",
            engine="comparisons",
            complete=False,
            all_sizes="comparisons",
            evidence=False,
            single_answers=False,
        )

    @cached_property
    def wins(self) -> Floats:
        return self.data.wins

    @property
    def resampled_wins(self) -> Callable[[np.random.Generator], Floats] | None:
        return self._draw_again if self.data.can_be_resampled else None

    def _draw_again(self, rng: np.random.Generator) -> Floats:
        return self.data.resampled(rng).wins

    @property
    def likelihood(self) -> str:
        return "composite" if self.data.composite else "independent"

    def is_known(self, sizes: Sizes) -> bool:  # noqa: ARG002
        return False

    def can_be_summed(self, sizes: Sizes | None) -> bool:  # noqa: ARG002
        return False

    def partial_orders(self) -> PartialOrders:
        raise InputError(
            "battles are only counts and cannot be completed: pass the answers of each judge "
            "as Preferences"
        )

    def at(
        self,
        sizes: Sizes,
        *,
        partition: PartitionFunction | None = None,
        rng: np.random.Generator | None = None,  # noqa: ARG002
        most_work: float = MOST_WORK,  # noqa: ARG002
    ) -> Likelihood:
        if partition is None:
            partition = partition_function(sizes, self.distance)
        return ComparisonLikelihood((), partition, wins=self.wins)


def distance_for(data: KnownData, distance: str | Distance | None) -> Distance:
    """Return the distance that is requested, or the one to take where none is.

    Parameters
    ----------
    data
        The data.
    distance
        Name of a distance, or a distance; None is "kendall", and "inversions" for battles, for
        which "auto" is the same.

    Examples
    --------
    >>> import tierwise as tw
    >>> distance_for(tw.load_political_goals(), None).name
    'kendall'
    >>> distance_for(tw.Battles.from_rows([("x", "y", "x")]), None).name
    'inversions'
    """
    only = data.only_distance
    if only is None:
        return get_distance("kendall" if distance is None else distance)
    if distance is None or (isinstance(distance, str) and distance == "auto"):
        return get_distance(only)
    wanted = get_distance(distance)
    if wanted.name != only:
        raise InputError(
            f"battles are fitted with the distance {only}, not {wanted.name}",
            [drop("distance"), "pass the answers of each judge as Preferences"],
        )
    return wanted


def source_of(data: KnownData, distance: str | Distance | None) -> AnswerSource:
    """Return what the likelihood needs of the data, whatever kind they are of.

    Parameters
    ----------
    data
        Rankings, complete or not, counts of complete ones, preferences, or battles.
    distance
        Name of a distance, or a distance, as for `distance_for`.

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
    refuse_too_many_answers(data)
    measure = distance_for(data, distance)
    if isinstance(data, Battles):
        if "mallows" not in data.families:
            raise InputError(
                "only models with worths estimate draws as a separate outcome and the first place",
                [use(family="luce"), use("for the battles", drawn="half", position="ignore")],
            )
        return _BattleSource(data, measure)
    if isinstance(data, Counts):
        return _CountSource(data, measure)
    if isinstance(data, Preferences):
        kind = _VoteSource if data.cycles == "keep" else _PreferenceSource
        return kind(data, measure)
    return _RankingSource(data, measure)
