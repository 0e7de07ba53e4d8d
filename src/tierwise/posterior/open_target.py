"""The posterior given answers that leave open which items lie in which block."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tierwise.answers.base import expected_costs_of
from tierwise.answers.dispatch import answered_places, answers_of
from tierwise.answers.drawn import DrawnCompletions, Proposal
from tierwise.answers.likelihood import Likelihood
from tierwise.answers.partial import orders_of_places, orders_of_preferences
from tierwise.answers.votes import DrawnVotes, votes_of
from tierwise.data.counts import MOST_ITEMS_FOR_JOINT_COUNTS, Counts
from tierwise.data.preferences import Preferences
from tierwise.errors import InputError
from tierwise.posterior.target import KEPT_SIZES, Target

if TYPE_CHECKING:
    from tierwise.answers.dispatch import Answers
    from tierwise.answers.partial import PartialOrders
    from tierwise.answers.votes import Votes
    from tierwise.data.rankings import Rankings
    from tierwise.distances.base import Costs, Distance
    from tierwise.model.priors import SizesPrior, ThetaPrior
    from tierwise.tiers.sizes import Sizes

_SEED = 0
FIRST_MISTAKE_PROBABILITY = 0.1


class OpenTarget(Target):
    """The posterior given answers that leave their blocks open."""

    def __init__(
        self,
        data: Rankings | Preferences,
        distance: Distance,
        prior_theta: ThetaPrior,
        prior_sizes: SizesPrior,
    ) -> None:
        super().__init__(data, distance, prior_theta, prior_sizes)
        self.said = data
        self.likelihood = lru_cache(KEPT_SIZES)(self._likelihood)

    def can_be_summed(self, sizes: Sizes | None) -> bool:
        """Tell whether all completions can be summed over, for given sizes or for all sizes.

        No sizes make more work than tiers of one item each, unless these have a closed form, and
        then a single pair among them.
        """
        if self._votes is not None:
            return False
        n_items = self.n_items
        hardest = ((1,) * n_items, (2,) + (1,) * (n_items - 2))
        return all(self.answers(vector).drawn is None for vector in ([sizes] if sizes else hardest))

    def answers(self, sizes: Sizes) -> Answers:
        """Return the answers, with how they are summed over."""
        return answers_of(self.said, sizes, self.distance, np.random.default_rng(_SEED))

    def _likelihood(self, sizes: Sizes) -> Likelihood:
        """Return the likelihood of what was observed, summed over completions."""
        return Likelihood(self.answers(sizes).exact, self.model(sizes).partition)

    def _costs(self, sizes: Sizes) -> tuple[Costs, float]:
        """Costs with all completions equally likely: for the start of chains."""
        if self._votes is not None:
            return self.completed(sizes, "reinsert", np.random.default_rng(_SEED)).costs(), 0.0
        labels = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        parts = [part.completions for part in self.answers(sizes).parts]
        return expected_costs_of(parts, labels, 0.0), 0.0

    def completed(
        self, sizes: Sizes, proposal: Proposal, rng: np.random.Generator
    ) -> DrawnCompletions:
        """Complete the answer of each assessor in some way."""
        if self._votes is not None:
            if proposal == "refill":
                raise InputError(
                    'completions="refill" needs rankings: preferences pair by pair have no places '
                    'to refill; use completions="reinsert"'
                )
            return DrawnVotes(
                self._votes, sizes, self.distance, rng, FIRST_MISTAKE_PROBABILITY, each="assessor"
            )
        return DrawnCompletions(
            self._orders, sizes, self.distance, rng, proposal=proposal, each="assessor"
        )

    @cached_property
    def _votes(self) -> Votes | None:
        """Pairwise answers that may be mistaken, if these are such."""
        said = self.said
        return votes_of(said) if isinstance(said, Preferences) and said.cycles == "keep" else None

    @cached_property
    def _orders(self) -> PartialOrders:
        if isinstance(self.said, Preferences):
            return orders_of_preferences(self.said)[0]
        if self.said.pattern_weights.dtype != np.int64:
            raise InputError(
                "completions are drawn for each assessor, and fractional weights leave open how "
                "many there are: use whole weights"
            )
        weights = self.said.pattern_weights.astype(np.float64)
        return orders_of_places(answered_places(self.said), weights)


class CompletedTarget(Target):
    """The posterior given answers as they are completed at the moment.

    Parameters
    ----------
    answers
        The answers.
    drawn
        Their completions.
    """

    def __init__(self, answers: OpenTarget, drawn: DrawnCompletions) -> None:
        super().__init__(answers.data, answers.distance, answers.prior_theta, answers.prior_sizes)
        # What does not depend on completions is computed once.
        self.model = answers.model
        self._drawn = drawn

    @cached_property
    def _counts(self) -> Counts | None:
        """Counts from which those of any sizes follow, where that is less work than counting."""
        places = self._drawn.places
        n_rows, n_items = places.shape
        if n_rows < n_items**2 or n_items > MOST_ITEMS_FOR_JOINT_COUNTS:
            return None
        return Counts.of_places(self.data.items, places, np.ones(n_rows, dtype=np.int64))

    def _costs(self, sizes: Sizes) -> tuple[Costs, float]:
        if sizes == self._drawn.sizes:
            return self._drawn.costs(), 0.0
        if self._counts is None:
            return self._drawn.resized(sizes).costs(), 0.0
        return self.distance.costs(self._counts.blocks(sizes)), 0.0
