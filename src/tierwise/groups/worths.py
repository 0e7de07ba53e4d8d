"""A group of people and the evidence of its answers, where tiers have worths.

Given tiers, worths are averaged over by Laplace's approximation; what that is off at the best tiers
is found by importance sampling. Of four items all tiers are summed over, of more those that a
search met: less than the sum over all, for all groups alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tierwise._util.types import Estimate
from tierwise.answers.races import races_of
from tierwise.groups.evidence import (
    MOST_ITEMS_TO_LIST,
    GroupAnswers,
    Method,
    all_tiers,
    answers_of,
    log_prior_of_tiers,
    log_sum,
)
from tierwise.luce.estimates import estimate_worths
from tierwise.luce.search import TierSearch, search_tiers
from tierwise.luce.worths import best_worths, log_evidence
from tierwise.tiers import Tiers, log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tierwise._util.types import Item
    from tierwise.answers.races import Integers, Races
    from tierwise.data.rankings import Rankings
    from tierwise.fitting.result import Family
    from tierwise.luce.search import Found
    from tierwise.luce.worths import Worths
    from tierwise.tiers import Sizes

_SEED = 0
_DRAWS = 1000
# So many of the tiers that a search met are looked at again, for worths that differ.
_CANDIDATES = 30


def _log_prior_of_sizes(sizes: Sizes) -> float:
    """Log prior probability of sizes, as `TierSearch` wants it."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return log_prior_of_tiers(labels) + log_number_of_tiers(sizes)


@dataclass(frozen=True, eq=False)
class WorthAnswers:
    """What a group of people said, and what it says about tiers with worths.

    Attributes
    ----------
    items
        The items.
    races
        The answers.
    """

    items: tuple[Item, ...]
    races: Races

    @property
    def method(self) -> Method:
        """Whether the evidence is summed over all tiers, or over those that a search met."""
        return "sum over all tiers" if self._few else "tiers that were visited"

    @property
    def _few(self) -> bool:
        return len(self.items) <= MOST_ITEMS_TO_LIST

    @cached_property
    def _found(self) -> list[Found]:
        return search_tiers(TierSearch(self.races, _log_prior_of_sizes))

    @cached_property
    def estimate(self) -> Estimate:
        """Log probability of the answers, with the error of importance sampling."""
        values = [one.score for one in self._found]
        if self._few:
            values = [self.log_joint(labels) for labels in all_tiers(len(self.items))]
        best = self._found[0].worths
        drawn = log_evidence(self.races, best, np.random.default_rng(_SEED), _DRAWS)
        value = log_sum(values) + float(drawn) - best.log_evidence
        return Estimate(value, standard_error=drawn.standard_error, method=self.method)

    @property
    def log_evidence(self) -> float:
        """Log probability of the answers."""
        return float(self.estimate)

    @property
    def labels(self) -> Integers:
        """The tier of each item, from 0, in the tiers that are most probable."""
        return self._found[0].labels

    @property
    def tiers(self) -> Tiers:
        """The most probable tiers."""
        return Tiers.from_labels(self.labels + 1, self.items)

    @property
    def theta(self) -> float:
        """There is none: NaN."""
        return float("nan")

    @cached_property
    def worths(self) -> tuple[float, ...]:
        """The most probable worths of these tiers, with a geometric mean over items of 1."""
        best: Worths = self._found[0].worths
        return tuple(estimate.value for estimate in estimate_worths(best, 0.95))

    @property
    def candidates(self) -> list[Integers]:
        """Tiers that may be those of everybody: all of few items, else the best that were met."""
        if self._few:
            return list(all_tiers(len(self.items)))
        return [one.labels for one in self._found[:_CANDIDATES]]

    def log_integrated(self, labels: Integers) -> float:
        """Log probability of the answers given tiers, with worths averaged over."""
        return best_worths(self.races, labels).log_evidence

    def log_joint(self, labels: Integers) -> float:
        """Log of the prior probability of tiers times the probability of the answers."""
        return log_prior_of_tiers(labels) + self.log_integrated(labels)

    def draw_labels(self, n_draws: int, rng: np.random.Generator) -> Integers:
        """Draw tiers from their posterior, as far as they are known, one row each."""
        if self._few:
            listed = all_tiers(len(self.items))
            logs = np.array([self.log_joint(labels) for labels in listed])
        else:
            listed = tuple(one.labels for one in self._found)
            logs = np.array([one.score for one in self._found])
        chances = np.exp(logs - logs.max())
        chosen = rng.choice(len(listed), size=n_draws, p=chances / chances.sum())
        return np.array(listed)[chosen]


AnyAnswers: TypeAlias = GroupAnswers | WorthAnswers
"""What people said, and what it says about tiers, with theta or with worths."""


def collector(
    rankings: Rankings, family: Family, *, most_items_to_sum: int
) -> Callable[[Integers], AnyAnswers]:
    """Return what collects the answers of some people, by their rows.

    Parameters
    ----------
    rankings
        The answers of everybody.
    family
        "mallows" or "luce".
    most_items_to_sum
        The largest number of items for which the evidence of Mallows models is summed over all
        tiers.
    """
    if family == "mallows":
        return lambda rows: answers_of(rankings, rows, most_items_to_sum=most_items_to_sum)
    races, weights = races_of(rankings), rankings.weights.astype(np.float64)

    def collect(rows: Integers) -> WorthAnswers:
        own = np.zeros(len(rankings.patterns))
        np.add.at(own, rankings.pattern_of[rows], weights[rows])
        return WorthAnswers(rankings.items, races.restricted(own > 0).reweighted(own[own > 0]))

    return collect


def how_evidence_was_found(method: str, family: Family) -> str:
    """Say over which tiers evidence was summed, and what was integrated out."""
    averaged = f"averaged over {'worths' if family == 'luce' else 'theta'}"
    if method == "sum over all tiers":
        return f"Evidence is summed over all tiers of all sizes, {averaged}."
    which = "summed over the tiers that a search visited"
    if method == "best tiers":
        which = "that of the best tiers found"
    return (
        f"Evidence is {which}, {averaged}, because there are too many items to sum over all tiers."
    )


def log_evidence_of_worths(together: WorthAnswers, groups: Sequence[WorthAnswers]) -> Estimate:
    """Log evidence of the same tiers for all groups, each with its own worths.

    Parameters
    ----------
    together
        The answers of everybody.
    groups
        The answers of each group.
    """
    candidates = {labels.tobytes(): labels for labels in together.candidates}
    candidates |= {group.labels.tobytes(): group.labels for group in groups}
    values = [
        log_prior_of_tiers(labels) + sum(group.log_integrated(labels) for group in groups)
        for labels in candidates.values()
    ]
    return Estimate(log_sum(values), method=together.method)
