"""Pairwise answers that may be mistaken, at a given mistake probability.

Every assessor has a complete ordering in mind, drawn from the model. An answer goes against it with
the mistake probability, below one half, independently of all else. So answers need not agree with
each other, and each complete ordering is more or less likely instead of possible or not.
"""

from __future__ import annotations

from copy import copy
from itertools import permutations
from math import log, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._encoding import collapse
from tierwise._kernels.augmentation import Model, votes_against
from tierwise._kernels.counting import add_block_pair_counts, add_place_counts
from tierwise._kernels.extensions import block_units
from tierwise.incomplete.augmentation import DrawnCompletions
from tierwise.incomplete.base import ExactCompletions, Floats, Labels, Sums, log_factorials
from tierwise.incomplete.partial import PartialOrders

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances import Costs, Distance
    from tierwise.preferences import Preferences
    from tierwise.sizes import Sizes


class Votes(NamedTuple):
    """Pairwise answers of distinct kinds of assessors.

    Attributes
    ----------
    said
        ``said[row, a, b]`` is 1 if item a was put above item b.
    weights
        Number of assessors of each kind.
    """

    said: npt.NDArray[np.int64]
    weights: Floats

    @property
    def numbers(self) -> Floats:
        """Number of answers of each kind of assessor."""
        numbers: Floats = self.said.sum(axis=(1, 2)).astype(np.float64)
        return numbers

    @property
    def in_all(self) -> float:
        """Number of answers of all assessors."""
        return float((self.weights * self.numbers).sum())


def votes_of(preferences: Preferences) -> Votes:
    """Collect the answers of assessors who said the same."""
    n_items = len(preferences.items)
    distinct, which = collapse(preferences.closure.reshape(len(preferences), -1).astype(np.int32))
    said = distinct.astype(np.int64).reshape(-1, n_items, n_items)
    return Votes(said, np.bincount(which).astype(np.float64))


class SummedVotes(ExactCompletions):
    """Votes of few items: all orderings are gone through.

    Parameters
    ----------
    votes
        The answers.
    sizes, distance
        Of the model.
    mistake_probability
        Probability that an answer is mistaken.
    """

    def __init__(
        self, votes: Votes, sizes: Sizes, distance: Distance, mistake_probability: float
    ) -> None:
        n_items = sum(sizes)
        numbers = np.full(len(votes.weights), log_factorials(n_items)[-1])
        super().__init__(sizes, distance, votes.weights, log_numbers=numbers)
        self.mistake_probability = mistake_probability
        self._numbers = votes.numbers[:, None]
        places = np.array(list(permutations(range(n_items))), dtype=np.int32)
        self._blocks = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[places]
        behind = (places[:, :, None] > places[:, None, :]).reshape(len(places), -1)
        said = votes.said.reshape(len(votes.said), -1)
        self._against: Floats = said.astype(np.float64) @ behind.T.astype(np.float64)

    def with_probability(self, mistake_probability: float) -> SummedVotes:
        """Return the same votes with another mistake probability."""
        other = copy(self)
        other.mistake_probability = mistake_probability
        return other

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return float(self._against.size)

    def _distances(self, labels: Labels) -> Floats:
        units = block_units(self._blocks, labels, self.rule.misplaced, self.rule.placing)
        return units.astype(np.float64) * self.rule.unit

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum over orderings of ``exp(-theta d)`` times the chance of the answers."""
        logs = self._log_terms(labels, theta)
        peaks = logs.max(axis=1)
        sums: Floats = peaks + np.log(np.exp(logs - peaks[:, None]).sum(axis=1))
        return sums

    def _log_terms(self, labels: Labels, theta: float) -> Floats:
        """Log weight of each ordering, for the answers of each kind of assessor."""
        right, wrong = log1p(-self.mistake_probability), log(self.mistake_probability)
        log_chances = self._numbers * right + self._against * (wrong - right)
        terms: Floats = log_chances - theta * self._distances(labels)
        return terms

    def _shares(self, labels: Labels, theta: float) -> Floats:
        """Probability of each ordering, given the answers of each kind of assessor."""
        logs = self._log_terms(labels, theta)
        shares: Floats = np.exp(logs - self.log_weights(labels, theta)[:, None])
        return shares

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        distances = self._distances(labels)
        shares = self._shares(labels, theta)
        means = (shares * distances).sum(axis=1)
        variances = (shares * (distances - means[:, None]) ** 2).sum(axis=1)
        return Sums(
            float((self.weights * self.log_weights(labels, theta)).sum()),
            float((self.weights * means).sum()),
            float((self.weights * variances).sum()),
        )

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over orderings that assessors may have in mind."""
        membership, precedence = self._no_counts()
        weights = (self.weights[:, None] * self._shares(labels, theta)).sum(axis=0)
        add_place_counts(self._blocks, weights, membership)
        add_block_pair_counts(self._blocks, weights, precedence)
        return self._costs(membership, precedence)

    def expected_mistakes(self, labels: Labels, theta: float) -> float:
        """Return the expected number of mistaken answers."""
        mistaken = (self._shares(labels, theta) * self._against).sum(axis=1)
        return float((self.weights * mistaken).sum())


class DrawnVotes(DrawnCompletions):
    """Votes of many items: the ordering that each assessor has in mind is drawn."""

    def __init__(
        self,
        votes: Votes,
        sizes: Sizes,
        distance: Distance,
        rng: np.random.Generator,
        mistake_probability: float,
    ) -> None:
        n_items = sum(sizes)
        orders = PartialOrders(
            relations=np.zeros((len(votes.weights), n_items, n_items), dtype=np.bool_),
            weights=votes.weights,
            # Where the energy does not count, all orderings are equally likely.
            log_numbers=log_factorials(n_items)[-1] + votes.numbers * log1p(-mistake_probability),
            first=None,
        )
        super().__init__(orders, sizes, distance, rng)
        self._votes = votes.said
        self._penalty = log1p(-mistake_probability) - log(mistake_probability)

    def _model(self, labels: Labels, theta: float, share: float) -> Model:
        return super()._model(labels, theta, share)._replace(penalty=share * self._penalty)

    def energies(self, labels: Labels, theta: float) -> Floats:
        """Minus the log of the weight of each ordering, mistakes included."""
        return super().energies(labels, theta) + self._penalty * self._mistakes()

    def _mistakes(self) -> Floats:
        return votes_against(self.places, self._votes, self._which).astype(np.float64)

    def expected_mistakes(self, labels: Labels, theta: float) -> float:
        """Return the average number of mistaken answers over many sweeps."""
        means, _ = self._average(self._mistakes, lambda: self.sweep(labels, theta))
        return float((self.weights * means.mean(axis=0)).sum())
