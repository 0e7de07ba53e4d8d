"""The distinct answers of a data set, each with the weight of all who gave it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import counting
from tierwise._util.types import NOT_LISTED, Item
from tierwise.answers.partial import orders_of_preferences
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.files.places import first_places, sizes_of_groups


@dataclass(frozen=True, eq=False)
class DistinctAnswers:
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

    @classmethod
    def of(cls, data: Rankings | Preferences) -> "DistinctAnswers":
        """Return the distinct answers of a data set."""
        if isinstance(data, Preferences):
            orders, pattern_of = orders_of_preferences(data)
            return cls(data, pattern_of, orders.weights)
        return cls(data, data.pattern_of, data.pattern_weights.astype(np.float64))

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
    def weights_of_rows(self) -> NDArray[Any]:
        """The weight of each answer as it was given: 1 for pairwise answers of an assessor."""
        if isinstance(self.data, Preferences):
            return np.ones(len(self.data), dtype=np.int64)
        return self.data.weights

    def reweighted(self, weights: NDArray[np.float64]) -> "DistinctAnswers":
        """Return the same answers with other weights, rankings without those that have none."""
        if isinstance(self.data, Preferences):
            return replace(self, weights=weights)
        kept = weights > 0
        patterns = self.data.patterns[kept]
        left = Rankings(self.items, patterns, weights[kept], unranked=self.data.unranked)
        return DistinctAnswers(left, left.pattern_of, weights[kept])

    @cached_property
    def _above(self) -> NDArray[np.bool_]:
        """Of pairwise answers, ``[answer, a, b]``: whether a is preferred to b."""
        assert isinstance(self.data, Preferences)
        first_of_each = np.unique(self.pattern_of, return_index=True)[1]
        return self.data.closure[first_of_each]

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """The mean rank of each item in each answer, counted from 0, as far as it tells.

        Items that an answer ties share their mean rank; those that may be anywhere are in the
        middle. In a pairwise answer, an item is half as many places below the middle as the items
        above it outnumber those below it.
        """
        if isinstance(self.data, Preferences):
            excess = self._above.sum(axis=1) - self._above.sum(axis=2)
            below_the_middle: NDArray[np.float64] = (self.n_items - 1 + excess) / 2
            return below_the_middle
        patterns = self.data.patterns
        known = first_places(patterns)
        ranks: NDArray[np.float64] = known + (sizes_of_groups(known) - 1) / 2
        if self.data.unranked == "anywhere":
            ranks[patterns == NOT_LISTED] = (self.n_items - 1) / 2
        return ranks

    def pair_counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count how often each item is above each other, with given weights of the answers."""
        if isinstance(self.data, Preferences):
            counted: NDArray[np.float64] = np.tensordot(weights, self._above, axes=1)
            return counted
        counts = np.zeros((self.n_items, self.n_items))
        patterns = self.data.patterns
        places = patterns if self.data.unranked == "anywhere" else first_places(patterns)
        counting.add_block_pair_counts(places, weights, counts)
        return counts


def fold_weights(
    answers: DistinctAnswers, n_folds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Divide the rankings at random into folds: ``weights[fold, answer]``.

    An answer that counts for several rankings is divided too; one whose weight is no whole number
    is not.
    """
    data = answers.data
    single, worth = answers.pattern_of, np.ones(len(answers.pattern_of))
    if isinstance(data, Rankings):
        if data.weights.dtype.kind == "i":
            single = np.repeat(np.arange(len(data.patterns)), data.pattern_weights)
            worth = np.ones(len(single))
        else:
            worth = data.weights
    fold = rng.permutation(np.arange(len(single)) % n_folds)
    weights = np.zeros((n_folds, len(answers.weights)))
    np.add.at(weights, (fold, single), worth)
    return weights
