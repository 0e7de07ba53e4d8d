"""Pairwise answers that may be mistaken, at a given mistake probability.

Every assessor has a complete ordering in mind, drawn from the model. An answer goes against it with
the mistake probability, below one half, independently of all else. So answers need not agree with
each other, and each complete ordering is more or less likely instead of possible or not.
"""

from __future__ import annotations

from math import log, log1p
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tierwise._kernels.votes import redraw_orderings, votes_against
from tierwise.answers.base import Floats, Labels, log_factorials
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.partial import PartialOrders
from tierwise.data.encoding import collapse
from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.data.preferences import Preferences
    from tierwise.distances.base import Distance
    from tierwise.tiers.sizes import Sizes

# Closer to 0 no answers can tell, and orderings without a mistake would be all that is left.
LEAST_MISTAKE_PROBABILITY = 1e-6
# Draws that moments are averaged over, of all assessors together; each gets so many.
DRAWS_OF_MOMENTS = 20_000
FEWEST_DRAWS, MOST_DRAWS = 16, 500


def allowed(probability: float) -> float:
    """Keep a mistake probability above 0, where it could not leave, and below one half."""
    return min(max(probability, LEAST_MISTAKE_PROBABILITY), 0.5)


class Votes(NamedTuple):
    """Pairwise answers of distinct kinds of assessors.

    Attributes
    ----------
    said
        ``said[row, a, b]`` is how often item a was put above item b.
    weights
        Number of assessors of each kind.
    pattern_of
        The kind of each assessor.
    """

    said: npt.NDArray[np.int64]
    weights: Floats
    pattern_of: npt.NDArray[np.int64]

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
    if preferences.times is None:
        raise InputError('these preferences are taken to be right: make them with cycles="keep"')
    n_items = len(preferences.items)
    distinct, which = collapse(preferences.times.reshape(len(preferences), -1))
    said = distinct.astype(np.int64).reshape(-1, n_items, n_items)
    return Votes(said, np.bincount(which).astype(np.float64), which)


class Moments(NamedTuple):
    """Sums over assessors of moments of two numbers, given what they said.

    The numbers are the distance of the ordering they have in mind, and of their mistakes.
    """

    distance: float
    mistakes: float
    distance_variance: float
    covariance: float
    mistakes_variance: float


class DrawnVotes(DrawnCompletions):
    """Votes of many items: the ordering that each assessor has in mind is drawn."""

    def __init__(
        self,
        votes: Votes,
        sizes: Sizes,
        distance: Distance,
        rng: np.random.Generator,
        mistake_probability: float,
        *,
        each: Literal["answer", "assessor"] = "answer",
    ) -> None:
        n_items = sum(sizes)
        orders = PartialOrders(
            relations=np.zeros((len(votes.weights), n_items, n_items), dtype=np.bool_),
            weights=votes.weights,
            log_numbers=np.full(len(votes.weights), log_factorials(n_items)[-1]),
            first=None,
        )
        super().__init__(orders, sizes, distance, rng, each=each)
        self._said = votes.said
        back = votes.said.transpose(0, 2, 1)
        self._surplus = np.ascontiguousarray(votes.said - back, dtype=np.int32)
        self._numbers = votes.numbers
        self.n_votes = votes.in_all
        self.mistake_probability = mistake_probability

    @property
    def mistake_probability(self) -> float:
        """Probability that an answer is mistaken."""
        return self._mistake_probability

    @mistake_probability.setter
    def mistake_probability(self, probability: float) -> None:
        self._mistake_probability = probability
        self._penalty = log1p(-probability) - log(probability)
        # Where the energy does not count, all orderings are equally likely.
        log_orderings = log_factorials(sum(self.sizes))[-1]
        self.log_numbers = log_orderings + self._numbers * log1p(-probability)

    @property
    def penalty(self) -> float:
        """Log odds of a right answer against a mistaken one."""
        return self._penalty

    def sweep(self, labels: Labels, theta: float, share: float = 1.0) -> None:
        """Go once through all assessors and change the orderings they have in mind."""
        model = self._model(labels, theta, share)
        penalty = share * self._penalty
        redraw_orderings(self.places, self._surplus, self._which, model, penalty, self._rng)

    def energies(self, labels: Labels, theta: float) -> Floats:
        """Minus the log of the weight of each ordering, mistakes included."""
        return super().energies(labels, theta) + self._penalty * self.mistakes()

    def mistakes(self) -> Floats:
        """Count the answers of each completed row that are mistaken."""
        return votes_against(self.places, self._said, self._which).astype(np.float64)

    def with_probability(self, mistake_probability: float) -> DrawnVotes:
        """Return the same votes, completed as they are, with another mistake probability."""
        other = self.resized(self.sizes)
        other.mistake_probability = mistake_probability
        return other

    def adapt(self, labels: Labels, theta: float, share: float) -> float:  # noqa: ARG002
        """Move the mistake probability towards the share of answers that are mistaken now."""
        before = self.mistake_probability
        mistaken = float((self._row_weights * self.mistakes()).sum()) / self.n_votes
        self.mistake_probability = allowed(before + share * (mistaken - before))
        return abs(self.mistake_probability - before)

    def moments(self, labels: Labels, theta: float, *, effort: float = 1.0) -> Moments:
        """Estimate the moments of the distance and the number of mistakes.

        Parameters
        ----------
        labels, theta
            Tiers and theta.
        effort
            Share of the usual number of draws to make.
        """
        n_rows = len(self.places)
        usual = float(np.clip(DRAWS_OF_MOMENTS / n_rows, FEWEST_DRAWS, MOST_DRAWS))
        half = int(effort * usual) // 2
        for _ in range(max(half // 4, 1)):
            self.sweep(labels, theta)
        halves = np.empty((2, half, 2, n_rows))
        for draws in halves:
            for draw in draws:
                self.sweep(labels, theta)
                draw[:] = self.distances(labels), self.mistakes()
        means = halves.mean(axis=(0, 1))
        # Draws of the first half and the second are far apart: half their squared difference has
        # the variance as its expectation, however slowly completions change.
        changes = halves[0] - halves[1]
        products = (changes**2).mean(axis=0) / 2, (changes[:, 0] * changes[:, 1]).mean(axis=0) / 2
        columns = (*means, products[0][0], products[1], products[0][1])
        return Moments(*(np.stack(columns) @ self._row_weights).tolist())
