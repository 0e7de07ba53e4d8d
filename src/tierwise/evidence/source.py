"""Temporary: what the likelihood needs of the data, until it comes from answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tierwise.answers.base import expected_costs_of
from tierwise.answers.dispatch import answered_places, answers_of
from tierwise.answers.likelihood import Likelihood
from tierwise.answers.partial import orders_of_places, orders_of_preferences
from tierwise.answers.votes import votes_of
from tierwise.data.counts import (
    MOST_ITEMS_FOR_JOINT_COUNTS,
    Counts,
    block_counts,
    blocks_are_known,
    count_open_answers,
)
from tierwise.data.preferences import Preferences
from tierwise.partition.choose import partition_function


@dataclass(frozen=True)
class Known:
    costs: object
    log_completions: float
    partition: object
    known = True
    n_rankings: float = 0.0
    drawn = None

    def costs_at_random(self):
        return self.costs


class Open(Likelihood):
    known = False

    def costs_at_random(self):
        sizes = self.partition.sizes
        labels = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        return expected_costs_of(self.everything, labels, 0.0)

    @property
    def seconds(self):
        return sum(part.seconds for part in self.parts)


class Source:
    def __init__(self, data, distance):
        self.data = data
        self.distance = distance
        self.items = data.items
        self.n_rankings = data.n_rankings
        self.pairwise = isinstance(data, Preferences)

    @cached_property
    def votes(self):
        data = self.data
        return votes_of(data) if isinstance(data, Preferences) and data.cycles == "keep" else None

    def is_known(self, sizes):
        data = self.data
        if isinstance(data, Preferences):
            return False
        return (
            isinstance(data, Counts)
            or count_open_answers(data) == 0
            or blocks_are_known(data, sizes)
        )

    def counted(self):
        data = self.data
        if (
            isinstance(data, Counts | Preferences)
            or count_open_answers(data)
            or len(data.items) > MOST_ITEMS_FOR_JOINT_COUNTS
        ):
            return self
        return Source(Counts.of(data), self.distance)

    def at(self, sizes, *, partition=None, rng=None):
        partition = partition or partition_function(sizes, self.distance, rng=0)
        if self.is_known(sizes):
            blocks = block_counts(self.data, sizes)
            return Known(
                self.distance.costs(blocks),
                blocks.log_completions,
                partition,
                float(blocks.n_rankings),
            )
        if self.votes is not None:
            from tierwise.answers.votes import DrawnVotes

            rng = rng or np.random.default_rng(0)
            drawn = DrawnVotes(self.votes, sizes, self.distance, rng, 0.1)
            made = Open((), partition)
            object.__setattr__(made, "everything", [drawn])
            object.__setattr__(made, "drawn", drawn)
            return made
        answers = answers_of(self.data, sizes, self.distance, rng or np.random.default_rng(0))
        made = Open(answers.exact, partition)
        object.__setattr__(made, "everything", [part.completions for part in answers.parts])
        object.__setattr__(made, "drawn", answers.drawn)
        return made

    def can_be_summed(self, sizes):
        if self.votes is not None:
            return False
        n_items = len(self.items)
        hardest = ((1,) * n_items, (2,) + (1,) * (n_items - 2))
        return all(self.at(vector).drawn is None for vector in ([sizes] if sizes else hardest))

    @property
    def weights(self):
        return self.partial_orders().weights

    def partial_orders(self):
        if isinstance(self.data, Preferences):
            return orders_of_preferences(self.data)[0]
        weights = self.data.pattern_weights.astype(np.float64)
        return orders_of_places(answered_places(self.data), weights)

    def complete_orderings(self):
        from tierwise.errors import InputError

        if isinstance(self.data, Counts | Preferences) or not self.data.is_complete:
            raise InputError('likelihood="pseudo" needs complete rankings without ties')
        return np.argsort(self.data.patterns, axis=1)


def source_of(data, distance):
    from tierwise.distances.named import get_distance

    return Source(data, get_distance(distance))
