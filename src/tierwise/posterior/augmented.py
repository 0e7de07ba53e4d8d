"""Data augmentation: answers are completed at random, as in the paper.

Each answer is completed given tiers and theta, then tiers, sizes and theta move given all
completions, as they do for complete rankings; in turn (Tanner and Wong, The Calculation of
Posterior Distributions by Data Augmentation, Journal of the American Statistical Association 82,
1987). Tiers and sizes move with theta integrated out: a partially collapsed Gibbs sampler, see
`tierwise.posterior.samplers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._kernels.augmented_chain import OpenAnswers, Visited, iterate
from tierwise.answers.augmentation import completions_of_assessors, rename_items
from tierwise.answers.votes import DrawnVotes
from tierwise.model.priors import Gamma
from tierwise.posterior.chain import RECORDED
from tierwise.posterior.moves import ChangeSizes, DrawTheta, SwitchTiers
from tierwise.posterior.target import CompletedCosts

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.drawn import DrawnCompletions, Proposal
    from tierwise.model.priors import Beta
    from tierwise.posterior.chain import Move, State, Trace
    from tierwise.posterior.target import Target
    from tierwise.tiers import Sizes

# Labels that an iteration tries to switch, for each item: cheap beside drawing completions.
_SWITCHES_PER_ITEM = 3
_SPLITS_AND_MERGES = 2


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

    target: Target
    sizes: Sizes | None
    proposal: Proposal
    prior_mistakes: Beta

    def __call__(
        self, state: State, kept: npt.NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make an iteration for each entry, and record the draws where it is true."""
        drawn = self.begin(state, rng)
        open_answers = self._open_answers(drawn)
        if open_answers is not None:
            return self._run_kernel(drawn, open_answers, state, kept, trace, rng)
        for keep in kept.tolist():
            drawn = drawn.resized(state.sizes)
            state = self.iterate(drawn, state, rng)
            if keep:
                trace.record(state)
        return state._replace(completions=drawn.places)

    def _open_answers(self, drawn: DrawnCompletions) -> OpenAnswers | None:
        """Return what the kernel that makes whole iterations takes, where it is for these answers.

        It is where every place is a block of its own and only pairs cost something, and where the
        density of theta has one peak.
        """
        rule, theta = drawn.rule, self.target.prior_theta
        if (
            self.sizes is None
            or isinstance(drawn, DrawnVotes)
            or self.proposal != "reinsert"
            or not isinstance(theta, Gamma)
            or rule.additive
            or rule.placing.any()
            or max(drawn.distance.blocks(self.sizes)) > 1
        ):
            return None
        return OpenAnswers(
            drawn.relations,
            drawn.which,
            np.array(self.sizes, dtype=np.int64),
            rule.misplaced * rule.unit,
            # The same for all completions: nothing, unless tied pairs cost less than reversed ones.
            np.empty((0, 0)) if rule.tied == rule.misplaced else drawn.costs().linear,
        )

    def _run_kernel(
        self,
        drawn: DrawnCompletions,
        answers: OpenAnswers,
        state: State,
        kept: npt.NDArray[np.bool_],
        trace: Trace,
        rng: np.random.Generator,
    ) -> State:
        """Make all iterations in a kernel; theta is drawn here where the kernel cannot."""
        n_items, n_switches = len(state.labels), _SWITCHES_PER_ITEM * len(state.labels)
        given_distance = self.target.theta_of_completed(state.sizes)
        labels, theta, n_done = state.labels.copy(), state.theta, 0
        while n_done < len(kept):
            room = len(kept) - n_done
            visited = Visited(
                np.empty((room, n_items), dtype=np.int64),
                np.empty(room),
                np.empty(room),
                np.empty(room, dtype=np.int64),
            )
            points = given_distance.points
            n_made = iterate(drawn.places, labels, theta, answers, points, n_switches, visited, rng)
            theta = float(visited.thetas[n_made - 1])
            if isnan(theta):
                theta = given_distance.density(float(visited.totals[n_made - 1])).draw(rng)
                visited.thetas[n_made - 1] = theta
            rows = np.flatnonzero(kept[n_done : n_done + n_made])
            state = state._replace(
                labels=visited.labels[n_made - 1],
                total=float(visited.totals[n_made - 1]),
                theta=theta,
                accepted_tiers=float(visited.accepted[n_made - 1]) / n_switches,
                log_posterior=nan,
                iteration=state.iteration + n_made,
            )
            numbers = {name: np.full(len(rows), getattr(state, name)) for name in RECORDED}
            numbers["total"], numbers["theta"] = visited.totals[rows], visited.thetas[rows]
            numbers["accepted_tiers"] = visited.accepted[rows] / n_switches
            trace.extend(visited.labels[rows], **numbers)
            n_done += n_made
        return state._replace(completions=drawn.places)

    def facts(self) -> dict[str, Any]:
        """Return what is known without looking at draws."""
        return {
            "completions": f"drawn by {self.proposal}",
            "pairwise": self.target.source.pairwise,
        }

    def begin(self, state: State, rng: np.random.Generator) -> DrawnCompletions:
        """Return completions as the state has them, or some where it has none."""
        drawn = completions_of_assessors(self.target.source, state.sizes, self.proposal, rng)
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
            state = state._replace(labels=rename_items(drawn, state.labels, rng))
            given = self.prior_mistakes.given(float(drawn.mistakes().sum()), drawn.n_votes)
            drawn.mistake_probability = given.draw(rng)
            state = state._replace(mistake_probability=drawn.mistake_probability)
        for move in self._moves(self.target.given(CompletedCosts(drawn, self.target))):
            state = move(state, rng)
        # Given completions that change, the probability of tiers cannot be compared.
        return state._replace(log_posterior=nan, iteration=state.iteration + 1)

    def _moves(self, completed: Target) -> tuple[Move, ...]:
        n_items = completed.n_items
        switch = SwitchTiers(completed, _SWITCHES_PER_ITEM * n_items)
        if self.sizes is not None:
            return switch, DrawTheta(completed)
        change = ChangeSizes(completed, n_items, _SPLITS_AND_MERGES)
        return switch, change, DrawTheta(completed)
