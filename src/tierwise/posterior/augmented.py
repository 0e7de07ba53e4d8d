"""Chains that complete answers at random: the paper's data augmentation.

Each answer is completed given tiers and theta, then tiers, sizes and theta move given all
completions, as they do for complete rankings; in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, nan
from typing import TYPE_CHECKING

from tierwise.answers.votes import DrawnVotes
from tierwise.posterior.moves import DrawTheta, SwitchTiers
from tierwise.posterior.open_target import CompletedTarget
from tierwise.posterior.sizes_moves import ChangeSizes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tierwise.answers.drawn import DrawnCompletions, Proposal
    from tierwise.model.priors import Beta
    from tierwise.posterior.chain import Trace
    from tierwise.posterior.open_target import OpenTarget
    from tierwise.posterior.state import Move, State
    from tierwise.tiers.sizes import Sizes

# Labels that an iteration tries to switch, for each item: cheap beside drawing completions.
_SWITCHES_PER_ITEM = 3
_SPLITS_AND_MERGES = 2
# Assessors beyond which a change of names in all their orderings is hardly ever accepted.
_MOST_ROWS_TO_RENAME = 200


@dataclass(frozen=True)
class Augmented:
    """Complete all answers at random, then move tiers, sizes and theta given that, in turn.

    Attributes
    ----------
    target
        The answers and priors.
    sizes
        Sizes of the tiers; None where they are unknown.
    proposal
        How completions are drawn, as for `DrawnCompletions`.
    prior_mistakes
        Prior of the probability of a mistake, where answers may be mistaken.
    """

    target: OpenTarget
    sizes: Sizes | None
    proposal: Proposal
    prior_mistakes: Beta

    def __call__(
        self, state: State, kept: npt.NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make an iteration for each entry, and record the draws where it is true."""
        drawn = self.begin(state, rng)
        for keep in kept.tolist():
            drawn = drawn.resized(state.sizes)
            state = self.iterate(drawn, state, rng)
            if keep:
                trace.record(state)
        return state._replace(completions=drawn.places)

    def begin(self, state: State, rng: np.random.Generator) -> DrawnCompletions:
        """Return completions as the state has them, or some where it has none."""
        drawn = self.target.completed(state.sizes, self.proposal, rng)
        if state.completions is not None:
            # The state stays as it is until a whole part of the chain is done.
            drawn.places = state.completions.copy()
        if isinstance(drawn, DrawnVotes) and state.completions is not None:
            drawn.mistake_probability = state.mistake_probability
        return drawn

    def iterate(self, drawn: DrawnCompletions, state: State, rng: np.random.Generator) -> State:
        """Complete the answers anew, and move all else given that."""
        drawn.sweep(state.labels, state.theta)
        if isinstance(drawn, DrawnVotes):
            state = state._replace(labels=_rename(drawn, state.labels, rng))
            mistakes, answers = float(drawn.mistakes().sum()), drawn.n_votes
            drawn.mistake_probability = self.prior_mistakes.draw(mistakes, answers, rng)
            state = state._replace(mistake_probability=drawn.mistake_probability)
        for move in self._moves(CompletedTarget(self.target, drawn)):
            state = move(state, rng)
        # Given completions that change, the probability of tiers cannot be compared.
        return state._replace(log_posterior=nan, iteration=state.iteration + 1)

    def _moves(self, completed: CompletedTarget) -> tuple[Move, ...]:
        n_items = completed.n_items
        switch = SwitchTiers(completed, _SWITCHES_PER_ITEM * n_items)
        if self.sizes is not None:
            return switch, DrawTheta(completed)
        change = ChangeSizes(completed, n_items, _SPLITS_AND_MERGES)
        return switch, change, DrawTheta(completed)


def _rename(
    drawn: DrawnVotes, labels: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Let two items trade names, in the tiers and in what everybody has in mind, some times.

    That leaves all distances as they are, so only the number of mistakes decides. Where few answers
    say little, tiers and orderings in mind hold each other fast, and this moves both.
    """
    n_rows, n_items = drawn.places.shape
    if n_rows > _MOST_ROWS_TO_RENAME:
        return labels
    mistakes = float(drawn.mistakes().sum())
    for _ in range(n_items):
        pair = rng.choice(n_items, size=2, replace=False)
        if labels[pair[0]] == labels[pair[1]]:
            continue
        drawn.places[:, pair] = drawn.places[:, pair[::-1]]
        proposed = float(drawn.mistakes().sum())
        if rng.random() < exp(min(drawn.penalty * (mistakes - proposed), 0.0)):
            labels, mistakes = labels.copy(), proposed
            labels[pair] = labels[pair[::-1]]
        else:
            drawn.places[:, pair] = drawn.places[:, pair[::-1]]
    return labels
