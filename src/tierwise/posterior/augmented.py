"""Data augmentation: answers are completed at random, as in the paper.

Each answer is completed given tiers and theta, then tiers, sizes and theta move given all
completions, as they do for complete rankings; in turn (Tanner and Wong, The Calculation of
Posterior Distributions by Data Augmentation, Journal of the American Statistical Association 82,
1987). Tiers and sizes move with theta integrated out: a partially collapsed Gibbs sampler, see
`tierwise.posterior.samplers`.

Under inversions tiers of all sizes are drawn at once: for completed answers the likelihood is a
closed form in how often each item is before each other. Where the prior gives a single tier one
half, the chain stays with several tiers of many items, and how probable they are is found apart.
First by a bound: the probability of the data given all tiers is at least that given one of them and
one completion. Where that does not settle it, by bridge sampling between powers, as in
`tierwise.inversions.chain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isnan, lgamma, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.augmentation import OpenAnswers, Visited, iterate
from tierwise._kernels.comparisons import LARGEST_THETA, LEAST_THETA
from tierwise._kernels.inversions_partition import THETA, load, make_board
from tierwise._kernels.ordered_partition import ABOVE, BELOW, make_dealing, make_tiers
from tierwise._kernels.tied_blocks import no_ties
from tierwise.answers.dispatch import completions_of_assessors
from tierwise.inversions.chain import (
    DRAWS,
    POWERS,
    WARMUP,
    SingleTier,
    settled_by_bound,
    single_tier_by_powers,
)
from tierwise.inversions.objective import TiersPrior, tiers_prior
from tierwise.model.priors import Gamma, as_theta_prior
from tierwise.partition.choose import partition_function
from tierwise.partition.interpolated import LogPartition
from tierwise.posterior.chain import RECORDED, State
from tierwise.posterior.moves import ChangeSizes, DrawTheta, SwitchTiers
from tierwise.posterior.ordered_partitions import MOST_ITEMS_TO_JOIN, random_tiers
from tierwise.posterior.target import CompletedCosts
from tierwise.theta.density import ThetaGivenDistance, prior_table

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._kernels.theta import PriorTable
    from tierwise.answers.drawn import DrawnCompletions, Proposal
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.model.priors import Beta, ThetaPrior
    from tierwise.posterior.chain import Move, Trace
    from tierwise.posterior.samplers import SamplingOptions
    from tierwise.posterior.target import Target
    from tierwise.tiers import Sizes

# Labels that an iteration tries to switch, for each item: cheap beside drawing completions.
_SWITCHES_PER_ITEM = 3
_SPLITS_AND_MERGES = 2
_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_FIRST_THETA = 0.1
# The same data give the same answer.
_SEED = 0
# Sweeps in which tiers are looked for whose probability bounds that of a single tier.
_SWEEPS_FOR_BOUND = 150


@dataclass(frozen=True)
class Augmented:
    """Complete all answers at random, then move tiers, sizes and theta given that, in turn.

    Attributes
    ----------
    target
        The answers and priors.
    sizes
        Sizes of the tiers; None if they are unknown.
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
        """Run one iteration per entry, and record the draws where it is true."""
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
            or self.target.source.capabilities.may_be_mistaken
            or self.proposal != "reinsert"
            or not isinstance(theta, Gamma)
            or not drawn.only_pairs_of_places_cost
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
        """Return the facts that do not depend on draws."""
        return {
            "completions": f"drawn by {self.proposal}",
            "pairwise": self.target.source.pairwise,
        }

    def begin(self, state: State, rng: np.random.Generator) -> DrawnCompletions:
        """Return the completions of the state, or initial ones if it has none."""
        drawn = completions_of_assessors(self.target.source, state.sizes, self.proposal, rng)
        if state.completions is not None:
            # The state stays as it is until a whole part of the chain is done.
            drawn.put_back(state.completions, state.mistake_probability)
        return drawn

    def iterate(self, drawn: DrawnCompletions, state: State, rng: np.random.Generator) -> State:
        """Complete the answers again, and move everything else given them."""
        drawn.sweep(state.labels, state.theta)
        labels = drawn.renamed(state.labels, rng)
        drawn.draw_mistakes(self.prior_mistakes, rng)
        state = state._replace(labels=labels, mistake_probability=drawn.mistake_probability)
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


def can_draw(options: SamplingOptions) -> bool:
    """Whether answers are completed and tiers of all sizes drawn then, as far as options go."""
    return (
        options.takes_all_sizes
        and options.sampler.method != "exact"
        and options.concentration == "single"
        and options.sampler.completions in ("auto", "reinsert")
    )


@dataclass(frozen=True, eq=False)
class WalkOverCompletions:
    """A sampler that completes answers, and moves tiers of all sizes and theta given that.

    Attributes
    ----------
    source
        The answers.
    prior_theta, prior_tiers
        The priors.
    single_tier
        How probable a single tier is, where the chain stays with several.
    """

    source: AnswerSource
    prior_theta: ThetaPrior
    prior_tiers: TiersPrior
    single_tier: SingleTier | None = None

    @cached_property
    def _prior_table(self) -> PriorTable:
        return prior_table(self.prior_theta, within=(LEAST_THETA, LARGEST_THETA))

    def start(self, rng: np.random.Generator) -> State:
        """Return random tiers that ignore the data, so chains start far from each other."""
        labels = random_tiers(len(self.source.items), rng)
        return State(labels, tuple(np.bincount(labels).tolist()), np.nan, _FIRST_THETA)

    def completed(self, state: State, rng: np.random.Generator) -> DrawnCompletions:
        """Return the completions of the state, or initial ones if it has none."""
        strict = (1,) * len(self.source.items)
        drawn = completions_of_assessors(self.source, strict, "reinsert", rng)
        if state.completions is not None:
            drawn.put_back(state.completions, state.mistake_probability)
        return drawn

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Run one iteration per entry of ``kept``, and record the draws where it is true."""
        drawn = self.completed(state, rng)
        labels, numbers = self.run(drawn, state.labels, state.theta, len(kept), rng)
        last, theta = labels[-1].copy(), float(numbers[-1, 0])
        if self.single_tier is not None:
            replaced = rng.random(len(kept)) < self.single_tier.probability
            labels[replaced] = 0
            numbers[replaced, 0] = self._draws_of_prior(int(replaced.sum()), rng)
            numbers[replaced, 1] = 0.0
        # Given completions that change, the probability of tiers cannot be compared.
        trace.extend(labels[kept], theta=numbers[kept, 0], total=numbers[kept, 1])
        return state._replace(
            labels=last,
            sizes=tuple(np.bincount(last).tolist()),
            theta=theta,
            iteration=state.iteration + len(kept),
            completions=drawn.places,
        )

    def run(
        self,
        drawn: DrawnCompletions,
        labels: _Integers,
        theta: float,
        n_sweeps: int,
        rng: np.random.Generator,
        power: float = 1.0,
    ) -> tuple[_Integers, _Floats]:
        """Make sweeps, with a power of the likelihood.

        Returns the tiers, and theta with the number of inversions and the log-likelihood of the
        completed answers, one row per sweep.
        """
        from tierwise._kernels.counting import add_block_pair_counts
        from tierwise._kernels.inversions_chain import run_sweeps

        n_items, n_rankings = len(labels), len(drawn.places)
        tiers, ties = make_tiers(np.zeros((n_items, n_items))), no_ties(n_items)
        tier_values = self.prior_tiers.tier_values(n_items)
        board = make_board(tiers, ties, tier_values, power * n_rankings, theta=theta)
        weights, room = np.full(n_rankings, power), make_dealing(n_items)
        found = np.empty((n_sweeps, n_items), dtype=np.int64)
        numbers = np.empty((n_sweeps, 3))
        for sweep in range(n_sweeps):
            drawn.sweep(labels, float(board.numbers[THETA]), power)
            tiers.pairs[:] = 0.0
            add_block_pair_counts(drawn.places, weights, tiers.pairs[ABOVE])
            tiers.pairs[BELOW] = tiers.pairs[ABOVE].T
            load(tiers, ties, labels)
            run_sweeps(
                board,
                None,
                self._prior_table,
                self.prior_tiers.single_tier_bonus,
                room,
                found[sweep : sweep + 1],
                numbers[sweep : sweep + 1],
                rng,
            )
            labels = found[sweep]
        if power > 0.0:
            numbers[:, 1:] /= power
        return found, numbers

    def _draws_of_prior(self, number: int, rng: np.random.Generator) -> _Floats:
        """Draw thetas from their prior: a single tier says nothing about them."""
        given = ThetaGivenDistance(np.zeros_like, 1.0, self.prior_theta)
        return given.density(0.0).quantile(rng.random(number))

    def facts(self) -> dict[str, Any]:
        """Return the facts that do not depend on draws, as plain values."""
        facts = {"completions": "drawn by reinsert", "pairwise": self.source.pairwise}
        return facts | ({} if self.single_tier is None else self.single_tier.facts())


def sampler_of(options: SamplingOptions, source: AnswerSource) -> WalkOverCompletions:
    """Return the sampler."""
    n_items = len(source.items)
    prior_theta = as_theta_prior(options.priors.theta)
    walk = WalkOverCompletions(source, prior_theta, tiers_prior(options.prior_sizes, n_items))
    if options.prior_sizes != "sceptical" or n_items <= MOST_ITEMS_TO_JOIN:
        return walk
    prior = tiers_prior("several", n_items)._replace(single_tier_bonus=-1e300)
    several = WalkOverCompletions(source, prior_theta, prior)
    return WalkOverCompletions(source, prior_theta, prior, _weigh_single_tier(several))


def _weigh_single_tier(several: WalkOverCompletions) -> SingleTier:
    """Compare a single tier with several, which are penalised by their number."""
    rng = np.random.default_rng(_SEED)
    n_items = len(several.source.items)
    drawn = several.completed(several.start(rng), rng)
    n_rankings = len(drawn.places)
    # Of all completed answers together; a single tier makes all orderings equally probable.
    log_single = -n_rankings * lgamma(n_items + 1)
    labels, theta = random_tiers(n_items, rng), _FIRST_THETA
    found, _ = several.run(drawn, labels, theta, _SWEEPS_FOR_BOUND, rng)
    orders = several.source.partial_orders()
    bound = log_single + float(orders.weights @ orders.log_numbers)
    bound -= _log_joint(several, drawn, found[-1])
    if settled_by_bound(bound):
        return SingleTier(bound, 0.0, at_most=True)

    def draw(number: int) -> _Floats:
        nonlocal labels, theta
        power = float(POWERS[number])
        found, numbers = several.run(drawn, labels, theta, WARMUP + DRAWS, rng, power)
        labels, theta = found[-1], float(numbers[-1, 0])
        return numbers[WARMUP:, 2]

    def log_ratios(number: int, logs: _Floats) -> _Floats:
        return logs * float(POWERS[number + 1] - POWERS[number])

    return single_tier_by_powers(draw, log_ratios, log_single)


def _log_joint(walk: WalkOverCompletions, drawn: DrawnCompletions, labels: _Integers) -> float:
    """Log of prior times likelihood of tiers for the completions at hand, theta integrated out."""
    from tierwise._kernels.counting import add_block_pair_counts

    n_items, n_rankings = len(labels), len(drawn.places)
    above = np.zeros((n_items, n_items))
    add_block_pair_counts(drawn.places, np.ones(n_rankings), above)
    inversions = float((above.T * (labels[:, None] < labels[None, :])).sum())
    sizes = np.bincount(labels)
    log_partition = LogPartition(partition_function(sizes.tolist(), "inversions"))
    given = ThetaGivenDistance(log_partition, n_rankings, walk.prior_theta)
    return given.log_integral(inversions) + walk.prior_tiers.log_probability(sizes)
