"""Tiers of all sizes where answers leave something open, under inversions: structural EM.

With sizes given, EM completes the answers on the average and takes the tiers closest to that
(`fitting/em.py`). Under inversions the same averages say what tiers of all sizes are worth, so a
round may change the sizes, too: EM over models, of which theta is a parameter (Friedman 1998). No
round lowers the likelihood less the price of the tiers. Averages over completions are slow to give
way: where a round does not help, tiers that a single move leads to are tried on the likelihood
itself, those that the averages favour most first.

References
----------
N. Friedman (1998). The Bayesian structural EM algorithm. Uncertainty in Artificial Intelligence 14,
129-138.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise.answers.dispatch import MOST_WORK as MOST_WORK_ONE_BY_ONE
from tierwise.consensus.problem import Consensus
from tierwise.data.counts import WeakOrderCounts
from tierwise.inversions.best import find_best_tiers
from tierwise.inversions.objective import tier_constant_of
from tierwise.inversions.searching import search_tiers, starting_orders
from tierwise.searching.size_space import neighbouring_tiers
from tierwise.theta.estimate import best_theta_and_value
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.answers.source import AnswerSource
    from tierwise.inversions.objective import SizesPriorName
    from tierwise.tiers import Sizes

_Labels: TypeAlias = NDArray[np.int64]
_Counts: TypeAlias = NDArray[np.float64]
_Maximise: TypeAlias = Callable[[WeakOrderCounts, float, _Labels], _Labels]
_Move: TypeAlias = Callable[["Met", WeakOrderCounts, float], "Met"]

# Of so few items all tiers are gone through in each round; of more they are searched.
_MOST_ITEMS_TO_LIST = 12
_MOST_ROUNDS = 100
# Moves that are tried on the likelihood once no round improves it.
_MOST_MOVES = 25
_FIRST_THETA = 0.1
# A round that raises what is maximised by a smaller share of it has not raised it.
_LEAST_GAIN = 1e-11
# Pairs that nobody compared are taken to be even.
_ADDED_TO_PAIRS = 0.5
# More completions are summed over than where sizes are compared one by one: a search makes a
# hundredth of the sums.
MOST_WORK = 10 * MOST_WORK_ONE_BY_ONE
# A search takes about as long as so many sums over completions at the sizes that it begins with,
# and so many rounds.
_SUMS_OF_A_SEARCH, _ROUNDS_OF_A_SEARCH = 100, 15
_SECONDS_OF_A_CHOICE, _SECONDS_OF_LOCAL_SEARCH = 2e-7, 0.05


def seconds_of_search(source: AnswerSource, sizes: Sizes) -> float:
    """Estimate how long a search takes from such sizes; infinity if it cannot be made.

    Parameters
    ----------
    source
        The answers.
    sizes
        Sizes of tiers that are about as many as there are.
    """
    n_items = len(source.items)
    if source.capabilities.all_sizes != "completions":
        return inf
    # No sizes have more completions to go through.
    if not _likelihood(source, (1,) * n_items).exact:
        return inf
    seconds_of_round = _SECONDS_OF_LOCAL_SEARCH
    if n_items <= _MOST_ITEMS_TO_LIST:
        seconds_of_round = 3.0**n_items * _SECONDS_OF_A_CHOICE
    seconds_of_sum = _likelihood(source, sizes).seconds
    return _SUMS_OF_A_SEARCH * seconds_of_sum + _ROUNDS_OF_A_SEARCH * seconds_of_round


def _likelihood(source: AnswerSource, sizes: Sizes) -> Likelihood:
    return source.at(sizes, most_work=MOST_WORK)


@dataclass(frozen=True, eq=False)
class Met:
    """Tiers that a search came to.

    Attributes
    ----------
    labels
        The tiers, counted from 0.
    theta
        The theta of greatest likelihood.
    value
        Log-likelihood less the price of the tiers.
    """

    labels: _Labels
    theta: float
    value: float

    @property
    def sizes(self) -> Sizes:
        """Sizes of the tiers."""
        return _sizes(self.labels)


def _sizes(labels: _Labels) -> Sizes:
    return tuple(np.bincount(labels).tolist())


@dataclass(frozen=True, eq=False)
class StructuralSearch:
    """A search over tiers of all sizes.

    Attributes
    ----------
    source
        The answers, whose completions can be summed over.
    prior_sizes
        Price of tiers: "uniform" for the paper's criterion, "penalised" for 1 more per tier.
    rng
        Generator of perturbed orders to begin with.
    met
        All tiers that were valued, by their labels as bytes.
    """

    source: AnswerSource
    prior_sizes: SizesPriorName
    rng: np.random.Generator
    met: dict[bytes, Met] = field(default_factory=dict)

    def run(self) -> list[Met]:
        """Climb from two starts; return the tiers that were met, the best first."""
        for start in self._starts():
            self._climb(start, self._best_tiers, self._move)
        return sorted(self.met.values(), key=lambda one: -one.value)

    def single(self) -> Met:
        """Return the single tier."""
        return self.value_of(np.zeros(len(self.source.items), dtype=np.int64), 0.0)

    def strict(self) -> Met:
        """Climb over strict orders only, and return the best."""
        first = np.argsort(self._orders(self._even())[0])
        return self._climb(first, self._best_order, lambda here, *_: here)

    def consensus(self, met: Met, method: str) -> Consensus:
        """Return tiers with how far the answers are from them, on the average."""
        theta, labels = met.theta, met.labels
        total = _likelihood(self.source, met.sizes).total_distance(labels, theta)
        return Consensus(labels, total, method, optimal=len(met.sizes) == 1, bound=total)

    def _starts(self) -> Iterator[_Labels]:
        """Tiers closest to all completions alike, and to the shares in which pairs were compared.

        Completions pull to where nothing differs, shares of few comparisons apart.
        """
        alone = np.arange(len(self.source.items), dtype=np.int64)
        yield self._best_tiers(self._even(), _FIRST_THETA, alone)
        above = self.source.pair_counts.astype(np.float64) + _ADDED_TO_PAIRS
        shares = above / (above + above.T)
        yield self._best_tiers(self._counts(self._n_rankings * shares), _FIRST_THETA, alone)

    @property
    def _n_rankings(self) -> float:
        return float(self.source.n_rankings)

    def _even(self) -> WeakOrderCounts:
        """Count pairs with all completions equally likely."""
        return self._counts(
            _likelihood(self.source, (len(self.source.items),)).costs_at_random().pairs
        )

    def _counts(self, above: _Counts) -> WeakOrderCounts:
        """Take expected counts of pairs for those of complete rankings."""
        counts = above.copy()
        np.fill_diagonal(counts, 0.0)
        return WeakOrderCounts.without_ties(counts, self._n_rankings)

    def _price(self, sizes: Sizes) -> float:
        return log_number_of_tiers(sizes) - tier_constant_of(self.prior_sizes) * len(sizes)

    def value_of(self, labels: _Labels, theta: float) -> Met:
        """Find the best theta of tiers, beginning at one, and what is maximised there."""
        key = labels.tobytes()
        if key not in self.met:
            sizes = _sizes(labels)
            likelihood = _likelihood(self.source, sizes)
            best, value = best_theta_and_value(likelihood, labels, theta)
            if value is None:
                value = float(likelihood.value(labels, best))
            self.met[key] = Met(labels, best, value - self._price(sizes))
        return self.met[key]

    def _climb(self, labels: _Labels, maximise: _Maximise, move: _Move) -> Met:
        """Make rounds from given tiers until neither a round nor a move is better."""
        here = self.value_of(labels, _FIRST_THETA)
        for _ in range(_MOST_ROUNDS):
            likelihood = _likelihood(self.source, here.sizes)
            theta = min(here.theta, likelihood.largest_theta)
            counts = self._counts(likelihood.expected_costs(here.labels, theta).pairs)
            there = self.value_of(maximise(counts, theta, here.labels), theta)
            if not _is_better(there, here):
                there = move(here, counts, theta)
            if not _is_better(there, here):
                break
            here = there
        return here

    def _move(self, here: Met, counts: WeakOrderCounts, theta: float) -> Met:
        """Return the first tiers a move away that are better; those given if none are."""
        others = sorted(
            neighbouring_tiers(here.labels),
            key=lambda labels: self._value_of_counts(labels, counts, theta),
            reverse=True,
        )
        for labels in others[:_MOST_MOVES]:
            there = self.value_of(labels, theta)
            if _is_better(there, here):
                return there
        return here

    def _value_of_counts(self, labels: _Labels, counts: WeakOrderCounts, theta: float) -> float:
        """Value tiers as if the expected counts were those of complete rankings."""
        sizes = _sizes(labels)
        inversions = float((counts.above.T * (labels[:, None] < labels[None, :])).sum())
        log_partition = float(_likelihood(self.source, sizes).partition.log_value(theta))
        return -theta * inversions - self._n_rankings * log_partition - self._price(sizes)

    def _best_tiers(self, counts: WeakOrderCounts, theta: float, labels: _Labels) -> _Labels:
        """Return the best tiers of complete rankings with these counts."""
        if counts.n_items <= _MOST_ITEMS_TO_LIST:
            start = theta if theta > 0.0 else None
            best = find_best_tiers(
                counts, prior_sizes=self.prior_sizes, start=start, most_alternatives=0
            )
            return best.labels
        place = np.argsort(counts.borda_order())
        orders = np.lexsort((place, labels))[None, :]
        if len(np.unique(labels)) == counts.n_items:
            orders = self._orders(counts)
        found = search_tiers(counts, prior_sizes=self.prior_sizes, orders=orders, rng=self.rng)
        return found.labels

    def _best_order(self, counts: WeakOrderCounts, theta: float, labels: _Labels) -> _Labels:  # noqa: ARG002
        """Return the best order that insertion finds, as strict tiers."""
        return np.argsort(self._orders(counts)[-1])

    def _orders(self, counts: WeakOrderCounts) -> NDArray[np.int64]:
        """Orders to begin with: Borda's, and that improved by insertion."""
        return starting_orders(counts, 2, self.rng)


def _is_better(one: Met, other: Met) -> bool:
    return one.value > other.value + _LEAST_GAIN * abs(other.value)
