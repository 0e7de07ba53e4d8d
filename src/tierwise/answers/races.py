"""Answers as races: their likelihood under Luce's choice model, for answers of every kind.

An item of worth ``w`` arrives after an exponential time of rate ``w``, and an answer is the order
of arrival of the items it holds. So complete answers and top lists are products over the places
listed; in answers with gaps only the listed items race, and those that are missing do not matter;
tied items are a block that arrives before the rest (one integral in one dimension); a comparison is
a race of two, and all comparisons together are counts of meetings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.luce import (
    RaceAnswers,
    TierRaces,
    derivatives_of_races,
    log_probabilities,
)
from tierwise._kernels.luce_worths import (
    TierChoices,
    TierMeetings,
    derivatives_of_choices,
    derivatives_of_meetings,
)
from tierwise._util.types import NOT_LISTED
from tierwise.answers.choice_sets import choice_sets_of
from tierwise.answers.meetings import Meetings, meetings_of_battles
from tierwise.data.battles import Battles
from tierwise.data.kinds import check_data, refuse_too_many_answers
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise._util.types import Item, Places
    from tierwise.answers.choice_sets import ChoiceSets, CountedChoices
    from tierwise.data.scan import RankingScan

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Races:
    """What answers say about worths.

    Attributes
    ----------
    items
        The items.
    order, block_starts, first_blocks
        The items of all distinct answers, best first; see `tierwise._kernels.luce`.
    weights
        Weight of each distinct answer.
    meetings
        How two items did against each other, where all answers are races of two.
    n_rankings
        Number of rankings, of people who compared pairs, or of battles.
    likelihood
        "exact", or "composite" where several comparisons of one person are taken as independent.
    choice_sets
        The sets that the items of distinct answers are chosen from, where many answers share few.
    """

    items: tuple[Item, ...]
    order: Integers
    block_starts: Integers
    first_blocks: Integers
    weights: Floats
    meetings: Meetings
    n_rankings: float
    likelihood: str
    choice_sets: ChoiceSets | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_answers(self) -> int:
        """Number of distinct answers, comparisons apart."""
        return len(self.weights)

    @property
    def n_effects(self) -> int:
        """Number of parameters beside worths, which meetings may have."""
        return len(self.meetings.effects)

    @cached_property
    def n_steps(self) -> float:
        """About how many steps it takes to compute the derivatives of all answers once."""
        lengths = np.diff(self.block_starts[self.first_blocks]).astype(np.float64)
        return float((lengths**2).sum())

    def reweighted(self, weights: Floats, meetings: Meetings | None = None) -> Races:
        """Return the same distinct answers with other weights, and other meetings."""
        return replace(
            self,
            weights=weights.astype(np.float64),
            meetings=self.meetings if meetings is None else meetings,
            n_rankings=float(weights.sum())
            + (0.0 if meetings is None else float(meetings.met.sum())),
        )

    def restricted(self, kept: NDArray[np.bool_]) -> Races:
        """Return some of the distinct answers."""
        n_blocks = np.diff(self.first_blocks)
        blocks = np.repeat(kept, n_blocks)
        sizes = np.diff(self.block_starts)
        return replace(
            self,
            order=self.order[np.repeat(blocks, sizes)],
            block_starts=np.concatenate(([0], np.cumsum(sizes[blocks]))),
            first_blocks=np.concatenate(([0], np.cumsum(n_blocks[kept]))),
            weights=self.weights[kept],
            n_rankings=float(self.weights[kept].sum()),
            choice_sets=None,
        )

    @cached_property
    def _choices(self) -> CountedChoices | None:
        """How often each set was chosen from, where answers share sets."""
        return None if self.choice_sets is None else self.choice_sets.count(self.weights)

    @cached_property
    def answers(self) -> RaceAnswers:
        """Distinct answers as kernels take them."""
        return RaceAnswers(self.order, self.block_starts, self.first_blocks, self.weights)

    def log_probabilities(self, labels: Integers, log_worths: Floats) -> Floats:
        """Log probability of each distinct answer, given the tier of each item, counted from 0."""
        if self.choice_sets is not None:
            return self.choice_sets.log_probabilities(labels, log_worths)
        logs = np.empty(self.n_answers)
        log_probabilities(TierRaces(self.answers, labels), log_worths, logs)
        return logs

    def parts(self, point: Floats) -> tuple[Floats, Floats]:
        """Split a point into log worths of tiers and log effects, which come last."""
        n_tiers = len(point) - self.n_effects
        return point[:n_tiers], point[n_tiers:]

    def value(self, labels: Integers, point: Floats) -> float:
        """Log-likelihood of tiers with given log worths, followed by log effects if any."""
        log_worths, effects = self.parts(point)
        if self._choices is not None:
            return self._choices.value(labels, log_worths)
        if self.n_answers:
            return float(self.weights @ self.log_probabilities(labels, log_worths))
        return self.meetings.of_tiers(labels, len(log_worths)).value(log_worths, effects)

    def by_tier(self, labels: Integers, n_tiers: int) -> TierRaces | TierChoices | TierMeetings:
        """Return what kernels take derivatives of: races, choices from sets, or meetings."""
        if self._choices is not None:
            return self._choices.of_tiers(labels, n_tiers)
        if self.n_answers:
            return TierRaces(self.answers, labels)
        return self.meetings.by_tier(labels, n_tiers)

    def derivatives(self, labels: Integers, point: Floats) -> tuple[float, Floats, Floats]:
        """Log-likelihood, its gradient and Hessian in log worths of tiers, and then log effects.

        Parameters
        ----------
        labels, point
            Tier of each item, counted from 0, and the log worths and log effects.
        """
        gradient, hessian = np.zeros(len(point)), np.zeros((len(point), len(point)))
        answers = self.by_tier(labels, len(point) - self.n_effects)
        if isinstance(answers, TierMeetings):
            value = derivatives_of_meetings(answers, point, gradient, hessian)
        elif isinstance(answers, TierChoices):
            value = derivatives_of_choices(answers, point, gradient, hessian)
        else:
            value = derivatives_of_races(answers, point, gradient, hessian)
        return value, gradient, hessian

    @cached_property
    def arrivals(self) -> Floats:
        """How often each item arrived before another one: its wins, and places but the last."""
        counts = self.meetings.arrivals.copy()
        if self.n_answers:
            n_blocks = np.diff(self.first_blocks)
            answer_of_block = np.repeat(np.arange(self.n_answers), n_blocks)
            sizes = np.diff(self.block_starts)
            is_last = np.zeros(len(sizes), dtype=bool)
            is_last[self.first_blocks[1:] - 1] = True
            weights = np.where(is_last, 0.0, self.weights[answer_of_block])
            np.add.at(counts, self.order, np.repeat(weights, sizes))
        return np.asarray(counts)


def races_of(data: Rankings | RankingScan | Preferences | Battles) -> Races:
    """Take answers of any kind as races.

    Examples
    --------
    >>> import tierwise as tw
    >>> races = races_of(tw.load_political_goals())
    >>> races.n_items, races.n_answers, races.likelihood
    (4, 24, 'exact')
    """
    known = check_data(data, "a model with worths", Rankings, Preferences, Battles)
    refuse_too_many_answers(known)
    if isinstance(known, Rankings):
        order, starts, first_blocks = blocks_of_places(
            known.patterns, rest_is_below=known.unranked == "below"
        )
        n_items = len(known.items)
        return Races(
            known.items,
            order,
            starts,
            first_blocks,
            known.pattern_weights.astype(np.float64),
            Meetings(np.zeros((n_items, n_items))),
            float(known.n_rankings),
            "exact",
            choice_sets_of(n_items, order, starts, first_blocks),
        )
    if isinstance(known, Battles):
        meetings, n_rankings = meetings_of_battles(known), known.n_rankings
        likelihood = "composite" if known.composite else "independent"
    else:
        times = known.direct if known.times is None else known.times
        meetings = Meetings(times.sum(axis=0).astype(np.float64))
        n_rankings = float(known.n_rankings)
        likelihood = "composite" if times.sum() > len(known.assessors) else "exact"
    none = np.zeros(0, dtype=np.int64)
    zero = np.zeros(1, dtype=np.int64)
    return Races(known.items, none, zero, zero, np.zeros(0), meetings, n_rankings, likelihood)


def log_probabilities_of(
    data: Rankings | Preferences, labels: Integers, log_worths: Floats
) -> Floats:
    """Return the log probability of each ranking, or of all that an assessor said.

    Parameters
    ----------
    data
        The answers.
    labels, log_worths
        The tier of each item, counted from 0, and the log worth of each tier.
    """
    if isinstance(data, Rankings):
        return races_of(data).log_probabilities(labels, log_worths)[data.pattern_of]
    times = data.direct if data.times is None else data.times
    logs = log_worths[labels]
    lost = np.logaddexp(0.0, logs[None, :] - logs[:, None])
    per_assessor: Floats = -(times * lost).sum(axis=(1, 2))
    return per_assessor


def blocks_of_places(places: Places, *, rest_is_below: bool) -> tuple[Integers, Integers, Integers]:
    """Write answers, given as the place of each item, as sequences of blocks.

    Parameters
    ----------
    places
        ``places[answer, item]``; tied items share a place, -1 is not listed.
    rest_is_below
        Whether items that are not listed come below all others; else they play no part.

    Examples
    --------
    >>> import numpy as np
    >>> places = np.array([[1, 0, -1], [0, 0, 2]])
    >>> order, starts, first = blocks_of_places(places, rest_is_below=False)
    >>> order.tolist(), starts.tolist(), first.tolist()
    ([1, 0, 0, 1, 2], [0, 1, 2, 4, 5], [0, 2, 4])
    """
    n_items = places.shape[1]
    keys = places.astype(np.int64)
    keys[keys == NOT_LISTED] = n_items
    sorted_items = np.argsort(keys, axis=1, kind="stable")
    sorted_keys = np.take_along_axis(keys, sorted_items, axis=1)
    kept = np.ones(keys.shape, dtype=bool) if rest_is_below else sorted_keys < n_items
    begins = np.ones(keys.shape, dtype=bool)
    begins[:, 1:] = sorted_keys[:, 1:] != sorted_keys[:, :-1]
    begins &= kept
    order = np.ascontiguousarray(sorted_items[kept])
    starts = np.append(np.flatnonzero(begins[kept]), len(order))
    first_blocks = np.concatenate(([0], np.cumsum(begins.sum(axis=1))))
    return order, starts.astype(np.int64), first_blocks.astype(np.int64)
