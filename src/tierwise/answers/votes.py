"""Pairwise answers that may be mistaken, at a given mistake probability.

Every assessor has a complete ordering in mind, drawn from the model. An answer goes against it with
the mistake probability, below one half, independently of all else. So answers need not agree with
each other, and each complete ordering is more or less likely instead of possible or not.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import exp, factorial, log, log1p
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tierwise._kernels.augmentation import reinsert_items
from tierwise._kernels.counting import add_block_pair_counts, add_place_counts
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.partial import PartialOrders
from tierwise.errors import InputError, use
from tierwise.files.places import collapse
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.data.preferences import Preferences
    from tierwise.distances import Costs, Distance
    from tierwise.model.priors import Beta
    from tierwise.tiers import Sizes

# Closer to 0 no answers can tell, and orderings without a mistake would be all that is left.
LEAST_MISTAKE_PROBABILITY = 1e-6
# Draws that moments are averaged over, of all assessors together; each gets so many.
DRAWS_OF_MOMENTS = 20_000
FEWEST_DRAWS, MOST_DRAWS = 16, 500
# Assessors beyond which a change of names in all their orderings is hardly ever accepted.
_MOST_ROWS_TO_RENAME = 200


def allowed(probability: float) -> float:
    """Keep a mistake probability above 0, where it could not leave, and below one half."""
    return min(max(probability, LEAST_MISTAKE_PROBABILITY), 0.5)


@dataclass(frozen=True, eq=False)
class Votes:
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

    @cached_property
    def orderings(self) -> Places:
        """Places of the items in all orderings, a row each."""
        n_items = self.said.shape[1]
        return np.array(list(permutations(range(n_items))), dtype=np.int32)

    @cached_property
    def sure_mistakes(self) -> npt.NDArray[np.int64]:
        """How many answers of each kind of assessor are mistaken in any ordering.

        Of two answers that contradict each other directly, one is.
        """
        back = self.said.transpose(0, 2, 1)
        mistakes: npt.NDArray[np.int64] = np.minimum(self.said, back).sum(axis=(1, 2)) // 2
        return mistakes

    @cached_property
    def mistakes(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """``[kind, ordering]``: how many other answers go against each of all orderings."""
        first, second = np.triu_indices(self.said.shape[1], k=1)
        later = (self.orderings[:, first] > self.orderings[:, second]).T.astype(np.float32)
        surplus = self.said[:, first, second] - self.said[:, second, first]
        of_none_later = np.maximum(-surplus, 0).sum(axis=1)
        most = int(np.abs(surplus).sum(axis=1).max())
        mistakes = np.empty((len(surplus), later.shape[1]), dtype=np.min_scalar_type(most))
        # A product of floats takes a tenth of the time of one of whole numbers, which these are.
        for rows in _rows_together(*mistakes.shape):
            products = surplus[rows].astype(np.float32) @ later
            mistakes[rows] = products + of_none_later[rows, None]
        return mistakes

    @cached_property
    def most_mistakes(self) -> int:
        """The largest of these numbers."""
        return int(self.mistakes.max())


def votes_of(preferences: Preferences) -> Votes:
    """Collect the answers of assessors who said the same."""
    if preferences.times is None:
        raise InputError(
            "these preferences do not allow mistakes", [use("when they are made", cycles="keep")]
        )
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
        self._said = votes.said[self._which].reshape(len(self._which), -1).astype(np.float64)
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
        # Log odds of a right answer against a mistaken one.
        self._penalty = log1p(-probability) - log(probability)
        # Where the energy does not count, all orderings are equally likely.
        log_orderings = log_factorials(sum(self.sizes))[-1]
        self.log_numbers = log_orderings + self._numbers * log1p(-probability)

    def sweep(self, labels: Labels, theta: float, share: float = 1.0) -> None:
        """Go once through all assessors and change the orderings they have in mind."""
        model, anywhere = self._model(labels, theta, share), np.empty((0, 0, 0), dtype=np.bool_)
        surplus, penalty = self._surplus, share * self._penalty
        reinsert_items(self.places, anywhere, surplus, penalty, self._which, model, self._rng)

    def energies(self, labels: Labels, theta: float) -> Floats:
        """Minus the log of the weight of each ordering, mistakes included."""
        return super().energies(labels, theta) + self._penalty * self.mistakes()

    def mistakes(self) -> Floats:
        """Count the answers of each completed row that are mistaken."""
        after = self.places[:, :, None] > self.places[:, None, :]
        numbers: Floats = np.vecdot(self._said, after.reshape(self._said.shape).astype(np.float64))
        return numbers

    def renamed(self, labels: Labels, rng: np.random.Generator) -> Labels:
        """Let two items trade names, in the tiers and in all completed answers, some times.

        That leaves all distances as they are, so only the number of mistakes decides. Where few
        answers say little, tiers and completions keep each other where they are, and this moves
        both.
        """
        n_rows, n_items = self.places.shape
        if n_rows > _MOST_ROWS_TO_RENAME:
            return labels
        mistakes = float(self.mistakes().sum())
        for _ in range(n_items):
            pair = rng.choice(n_items, size=2, replace=False)
            if labels[pair[0]] == labels[pair[1]]:
                continue
            self.places[:, pair] = self.places[:, pair[::-1]]
            proposed = float(self.mistakes().sum())
            if rng.random() < exp(min(self._penalty * (mistakes - proposed), 0.0)):
                labels, mistakes = labels.copy(), proposed
                labels[pair] = labels[pair[::-1]]
            else:
                self.places[:, pair] = self.places[:, pair[::-1]]
        return labels

    def draw_mistakes(self, prior: Beta, rng: np.random.Generator) -> Beta:
        """Draw the mistake probability given completions; return what it was drawn from."""
        given = prior.given(float(self.mistakes().sum()), self.n_votes)
        self.mistake_probability = given.draw(rng)
        return given

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


# Orderings times distinct answers, and orderings alone, that one evaluation may go through: some
# hundredths of a second, and 30 MB.
MOST_WORK = 20_000_000
MOST_ITEMS = 9
# Numbers that fit into the caches of a processor.
_NUMBERS_TOGETHER = 100_000


def can_be_summed(votes: Votes) -> bool:
    """Return whether all orderings can be gone through for the answers of each assessor."""
    n_rows, n_items, _ = votes.said.shape
    return bool(n_items <= MOST_ITEMS and n_rows * factorial(n_items) <= MOST_WORK)


def _rows_together(n_rows: int, width: int) -> Iterator[slice]:
    """Yield rows of so many numbers that are worked on at the same time."""
    together = max(1, _NUMBERS_TOGETHER // width)
    return (slice(start, start + together) for start in range(0, n_rows, together))


class SummedVotes(ExactCompletions):
    """Votes of few items: all orderings are enumerated.

    For given tiers it is counted once how many orderings there are at each distance, with each
    number of mistakes; whatever theta and the mistake probability are, that is all that is needed.

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
        self.n_votes = votes.in_all
        self._numbers = votes.numbers
        self._blocks = distance.block_of_place(sizes)[votes.orderings]
        self._mistakes = votes.mistakes
        self._always = votes.sure_mistakes
        self._most = votes.most_mistakes
        # Shared by copies with other mistake probabilities, as it does not depend on them.
        self._tabulated: dict[bytes, Floats] = {}

    def with_probability(self, mistake_probability: float) -> SummedVotes:
        """Return the same votes with another mistake probability."""
        other = copy(self)
        other.mistake_probability = mistake_probability
        return other

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return float(self._mistakes.size)

    @property
    def _log_odds(self) -> float:
        return log(self.mistake_probability) - log1p(-self.mistake_probability)

    def _units(self, labels: Labels) -> Labels:
        return self._units_of_blocks(self._blocks, labels)

    def _table(self, labels: Labels) -> Floats:
        """Count orderings by assessor, distance in units and mistakes; the last is remembered."""
        key = labels.tobytes()
        if key not in self._tabulated:
            units, n_numbers = self._units(labels), self._most + 1
            table = np.empty((len(self.weights), int(units.max()) + 1, n_numbers))
            for rows in _rows_together(*self._mistakes.shape):
                part = table[rows]
                starts = np.arange(len(part))[:, None] * part[0].size
                cells = starts + units * n_numbers + self._mistakes[rows]
                part[:] = np.bincount(cells.ravel(), minlength=part.size).reshape(part.shape)
            self._tabulated.clear()
            self._tabulated[key] = table
        return self._tabulated[key]

    def _expectations(self, labels: Labels, theta: float) -> tuple[Floats, Floats]:
        """Log weight of each assessor, and means of d, k, d * d, d * k and k * k.

        Here d is the distance and k the number of mistakes that depend on the ordering.
        """
        table = self._table(labels)
        _, n_distances, n_numbers = table.shape
        distances = np.repeat(np.arange(n_distances) * self.rule.unit, n_numbers)
        mistakes = np.tile(np.arange(n_numbers, dtype=np.float64), n_distances)
        weights = np.exp(mistakes * self._log_odds - theta * distances)
        ones = np.ones(len(weights))
        products = (distances**2, distances * mistakes, mistakes**2)
        columns = np.column_stack((ones, distances, mistakes, *products))
        sums = table.reshape(len(table), -1) @ (weights[:, None] * columns)
        chances = self._numbers * log1p(-self.mistake_probability) + self._always * self._log_odds
        return chances + np.log(sums[:, 0]), sums[:, 1:] / sums[:, :1]

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum over orderings of ``exp(-theta d)`` times the chance of the answers."""
        return self._expectations(labels, theta)[0]

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        logs, means = self._expectations(labels, theta)
        variances = np.maximum(means[:, 2] - means[:, 0] ** 2, 0.0)
        columns = np.column_stack((logs, means[:, 0], variances))
        return Sums(*(self.weights @ columns).tolist())

    def moments(
        self,
        labels: Labels,
        theta: float,
        *,
        effort: float = 1.0,  # noqa: ARG002
    ) -> Moments:
        """Moments of the distance and the number of mistakes, over all answers: exact at once."""
        _, means = self._expectations(labels, theta)
        distance, mistakes = means[:, 0], means[:, 1]
        columns = (
            distance,
            mistakes + self._always,
            np.maximum(means[:, 2] - distance**2, 0.0),
            means[:, 3] - distance * mistakes,
            np.maximum(means[:, 4] - mistakes**2, 0.0),
        )
        return Moments(*(self.weights @ np.column_stack(columns)).tolist())

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over orderings that assessors may have in mind."""
        logs, _ = self._expectations(labels, theta)
        right = log1p(-self.mistake_probability)
        mistakes = np.arange(self._most + 1) + self._always[:, None]
        log_chances = self._numbers[:, None] * right + mistakes * self._log_odds
        shares = self.weights[:, None] * np.exp(log_chances - logs[:, None])
        weights = np.zeros(len(self._blocks))
        for rows in _rows_together(*self._mistakes.shape):
            weights += np.take_along_axis(shares[rows], self._mistakes[rows], axis=1).sum(axis=0)
        weights *= np.exp(-theta * self.rule.unit * self._units(labels))
        membership, precedence = self._no_counts()
        add_place_counts(self._blocks, weights, membership)
        add_block_pair_counts(self._blocks, weights, precedence)
        return self._costs(membership, precedence)
