"""What answers are measured by, and what the parameters of a model were fitted to.

Whatever a model was fitted to cannot differ between the answers and the model, so it is no evidence
for or against it. For Mallows models that is the distance from the tiers, or each part of it that
has a theta; for models with worths the scores, the derivatives of the log probability of an
ordering in the log worths of the tiers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.checking.result import spread_of_distances, spread_of_log_probabilities
from tierwise.data.counts import blocks_are_known
from tierwise.distances import get_distance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.rankings import Rankings
    from tierwise.model.clustered_luce import ClusteredLuce
    from tierwise.model.clustered_mallows import ClusteredMallows

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances from the tiers.

    Attributes
    ----------
    model
        The model.
    labels
        Tier of each item, counted from 0.
    places
        Orderings from the model: ``places[row, item]``, counted from 0.
    """

    model: ClusteredMallows
    labels: Integers
    places: Integers

    spread_statement = staticmethod(spread_of_distances)

    @cached_property
    def sequences(self) -> Integers:
        """The tiers of the items of each ordering, place by place."""
        return self.labels[np.argsort(self.places, axis=1)]

    @cached_property
    def values(self) -> Floats:
        """Distance of each ordering."""
        return self._between(self.sequences)

    @cached_property
    def fitted(self) -> Floats:
        """What thetas were fitted to: the distance of each ordering, or its parts, by column."""
        blocks = get_distance(self.model.distance).block_of_place(self.model.tiers.sizes)
        return self.model.partition.part_distances(blocks[self.places], self.labels)

    def sequences_of(self, rankings: Rankings) -> Integers | None:
        """Return the tiers of the items of each distinct answer, place by place.

        Items that are not listed stand behind, in any order: that is all the same if they lie in
        one block. None if the answers leave open which items lie in which block.
        """
        if not blocks_are_known(rankings, self.model.tiers.sizes):
            return None
        last = np.where(rankings.patterns == NOT_LISTED, len(self.labels), rankings.patterns)
        return self.labels[np.argsort(last, axis=1, kind="stable")]

    def of_answers(self, rankings: Rankings) -> Floats | None:
        """Return the distance of each distinct answer; None if the answers leave it open."""
        given = self.sequences_of(rankings)
        return None if given is None else self._between(given)

    def _between(self, sequences: Integers) -> Floats:
        distance = get_distance(self.model.distance)
        return np.asarray(distance.between(sequences, self.model.tiers.sizes), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LogProbabilities:
    """Log probabilities under a model with worths; the attributes are those of `Distances`."""

    model: ClusteredLuce
    labels: Integers
    places: Integers

    spread_statement = staticmethod(spread_of_log_probabilities)

    @cached_property
    def values(self) -> Floats:
        """Log probability of each ordering."""
        return self._of_places(self.places)

    @cached_property
    def fitted(self) -> Floats:
        """Scores of each ordering: derivatives in the log worths of tiers, by column.

        The item in a place adds 1, less its share of the worths in this race and all before it.
        """
        worths, rests = self._stages(self.places)
        by_place = 1.0 - worths * np.cumsum(1.0 / rests, axis=1)
        by_item = np.take_along_axis(by_place, self.places, axis=1)
        return np.asarray(by_item @ np.eye(len(self.model.worths))[self.labels])

    def _stages(self, places: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the worth of the item in each place, and the sum of those not placed before."""
        worths = np.array(self.model.worths)[self.labels[np.argsort(places, axis=1)]]
        return worths, np.cumsum(worths[:, ::-1], axis=1)[:, ::-1]

    def of_answers(self, rankings: Rankings) -> Floats | None:
        """Return the log probability of each distinct answer; None if they are incomplete."""
        return self._of_places(rankings.patterns) if rankings.is_complete else None

    def _of_places(self, places: NDArray[Any]) -> Floats:
        worths, rests = self._stages(places)
        return np.asarray((np.log(worths) - np.log(rests)).sum(axis=1))
