"""Posterior of tiers of all sizes at once, for weak orders under inversions, and for battles.

The likelihood of weak orders is a product over tiers and over pairs of tiers, whatever their sizes.
So the recursion over subsets of subsets sums over all tiers of all sizes, and drawing backward
through it gives independent draws, for few items. For more, a chain over ordered partitions moves
items and tiers. With a theta per tier both integrate the thetas out, and draw them given the tiers.
A single tier is weighed against several tiers of many items by bridge sampling between powers of
the likelihood, see `tierwise.inversions.chain`; a power of the likelihood is that of counts that
are scaled.

For battles, chains begin with tiers that were merged from battles drawn again, so that they begin
apart, and end together if they mix. Where judges decide several battles each, the posterior is
composite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from tierwise.errors import InputError, TooLargeError, drop, grouped, instead, use
from tierwise.inversions.chain import (
    DRAWS,
    POWERS,
    WARMUP,
    SingleTier,
    TiersChain,
    settled_by_bound,
    single_tier_by_powers,
)
from tierwise.inversions.comparisons import ComparisonsChain, merged_runs
from tierwise.inversions.evidence import (
    Evidence,
    draw_thetas,
    integrate_tiers,
    lines_of_tiers,
    sum_evidence,
)
from tierwise.inversions.objective import (
    Concentration,
    TiersPriorName,
    line_objective,
    tiers_prior,
)
from tierwise.model.priors import ThetaPrior, allows_every_theta, as_theta_prior
from tierwise.posterior.chain import State

if TYPE_CHECKING:
    from tierwise._kernels.inversions_lines import LineObjective
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.posterior.chain import TierSampler, Trace
    from tierwise.posterior.samplers import SamplingOptions

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

_TRIED_FOR_BOUND = 5
# The same data give the same answer.
_SEED = 0
# Exact draws of so many items take some seconds; with a theta per tier, ties make them slow.
_AFFORDABLE_ITEMS, _AFFORDABLE_ITEMS_WITH_TIES = 14, 11
_MOST_ITEMS = 16
# Probabilities of all sizes are summed, too, for so many items.
_MOST_ITEMS_FOR_SIZES = 10
# A chain joins all of so few items to a single tier, and leaves it, often enough.
MOST_ITEMS_TO_JOIN = 12


def weigh_single_tier(
    counts: WeakOrderCounts, concentration: Concentration, prior_theta: ThetaPrior
) -> SingleTier:
    """Compare a single tier with several, which are penalised by their number.

    Parameters
    ----------
    counts
        The data.
    concentration
        "single" for one theta, "tier" for one per tier.
    prior_theta
        Prior of theta.
    """
    rng = np.random.default_rng(_SEED)
    labels = np.arange(counts.n_items)
    # All tiers together are at least as probable as some that a short chain comes to.
    several = TiersPosterior(counts, concentration, prior_theta, "several")
    no_tiers = np.zeros(counts.n_items, dtype=np.int64)
    single = lines_of_tiers(counts, no_tiers, several.objective)
    log_single = single.log_likelihood(concentration)
    drawn = _draw(counts, labels, concentration, prior_theta, rng)
    bound = log_single - float(several.values(drawn[-_TRIED_FOR_BOUND:])[1].max())
    if settled_by_bound(bound):
        return SingleTier(bound, 0.0, at_most=True)
    scaled = [_scaled(counts, power) for power in POWERS.tolist()]
    objectives = [line_objective(one, prior_theta) for one in scaled]

    def draw(number: int) -> _Integers:
        nonlocal labels
        draws = _draw(scaled[number], labels, concentration, prior_theta, rng)
        labels = draws[-1]
        return draws

    def log_ratios(number: int, draws: _Integers) -> _Floats:
        below, above = (
            integrate_tiers(scaled[power], draws, objectives[power], concentration)[1]
            for power in (number, number + 1)
        )
        return above - below

    return single_tier_by_powers(draw, log_ratios, log_single)


def _scaled(counts: WeakOrderCounts, power: float) -> WeakOrderCounts:
    return replace(
        counts,
        n_rankings=counts.n_rankings * power,
        above=counts.above * power,
        block_weights=counts.block_weights * power,
    )


def _draw(
    counts: WeakOrderCounts,
    labels: _Integers,
    concentration: Concentration,
    prior_theta: ThetaPrior,
    rng: np.random.Generator,
) -> _Integers:
    """Draw several tiers, beginning with given ones."""
    chain = TiersChain(counts, labels, concentration, prior_theta, "several")
    return chain.run(WARMUP + DRAWS, rng)[0][WARMUP:]


def random_tiers(n_items: int, rng: np.random.Generator) -> _Integers:
    """Draw several tiers, whatever the rankings."""
    cuts = rng.random(n_items) < 0.5
    cuts[0] = False
    cuts[rng.integers(1, n_items)] = True  # a chain over several tiers cannot begin with one
    return np.cumsum(cuts)[rng.permutation(n_items)].astype(np.int64)


@dataclass(frozen=True, eq=False)
class TiersPosterior:
    """What is drawn from: the data and the priors.

    Attributes
    ----------
    counts
        The data.
    concentration
        "single" for one theta, "tier" for one per tier but the last.
    prior_theta, prior_sizes
        The priors.
    """

    counts: WeakOrderCounts
    concentration: Concentration
    prior_theta: ThetaPrior
    prior_sizes: TiersPriorName

    @cached_property
    def objective(self) -> LineObjective:
        """What lines are valued by: the prior of theta on its grid."""
        return line_objective(self.counts, self.prior_theta)

    @property
    def n_lines(self) -> int | None:
        """Number of thetas that are kept for each draw; None for one."""
        return None if self.concentration == "single" else max(self.counts.n_items - 1, 1)

    def start(self, rng: np.random.Generator) -> State:
        """Return random tiers that ignore the data, so chains start far from each other."""
        labels = random_tiers(self.counts.n_items, rng)
        return State(labels, tuple(np.bincount(labels).tolist()), np.nan, np.nan)

    def record(
        self, trace: Trace, labels: _Integers, thetas: _Floats | None, rng: np.random.Generator
    ) -> None:
        """Write down draws of tiers, with their total distance and log posterior probability.

        Thetas that are not given are drawn.
        """
        if not len(labels):
            return
        if thetas is None:
            thetas = draw_thetas(self.counts, labels, self.prior_theta, self.concentration, rng)
        if self.n_lines is not None:
            padding = np.full((len(labels), self.n_lines - thetas.shape[1]), np.nan)
            thetas = np.hstack([thetas, padding])
        totals, logs = self.values(labels)
        trace.extend(labels, theta=thetas, total=totals, log_posterior=logs)

    def values(self, labels: _Integers) -> tuple[_Floats, _Floats]:
        """Total distance and log posterior probability, up to a constant, of tiers, by row."""
        totals, logs = integrate_tiers(self.counts, labels, self.objective, self.concentration)
        prior = tiers_prior(self.prior_sizes, self.counts.n_items)
        return totals, logs + prior.log_probabilities(labels)


@dataclass(frozen=True, eq=False)
class IndependentTiers:
    """A sampler of independent draws from the sums over all tiers."""

    posterior: TiersPosterior
    evidence: Evidence

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Draw as often as ``kept`` says, whatever the state is."""
        draws = self.evidence.draw(int(kept.sum()), rng)
        self.posterior.record(trace, draws.labels, draws.thetas, rng)
        return state._replace(iteration=state.iteration + len(kept))

    def facts(self) -> dict[str, Any]:
        """Return what is known exactly, as plain values."""
        evidence = self.evidence
        facts: dict[str, Any] = {
            "log_evidence": evidence.log_evidence,
            "n_tiers_probabilities": evidence.number_of_tiers[1:].tolist(),
        }
        if self.posterior.counts.n_items <= _MOST_ITEMS_FOR_SIZES:
            facts["sizes_probabilities"] = [
                [list(sizes), share] for sizes, share in evidence.sizes_probabilities().items()
            ]
        return facts


@dataclass(frozen=True, eq=False)
class WalkOverTiers:
    """A sampler that runs a chain over ordered partitions.

    Attributes
    ----------
    posterior
        What is drawn from.
    single_tier
        How probable a single tier is, where the prior gives it one half: the chain stays with
        several tiers then, and draws are replaced by the single tier with this probability.
    """

    posterior: TiersPosterior
    single_tier: SingleTier | None = None

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make a sweep for each entry of ``kept``, and record the draws where it is true."""
        posterior = self.posterior
        single = posterior.concentration == "single"
        chain = TiersChain(
            posterior.counts,
            state.labels,
            posterior.concentration,
            posterior.prior_theta,
            posterior.prior_sizes if self.single_tier is None else "several",
            None if np.isnan(state.theta) else state.theta,
        )
        labels, thetas = chain.run(len(kept), rng)
        last, theta = labels[-1].copy(), float(thetas[-1])
        if self.single_tier is not None:
            replaced = rng.random(len(kept)) < self.single_tier.probability
            labels[replaced] = 0
            if single and replaced.any():
                thetas[replaced] = draw_thetas(
                    posterior.counts, labels[replaced], posterior.prior_theta, "single", rng
                )
        posterior.record(trace, labels[kept], thetas[kept] if single else None, rng)
        return state._replace(
            labels=last,
            sizes=tuple(np.bincount(last).tolist()),
            theta=theta,
            iteration=state.iteration + len(kept),
        )

    def facts(self) -> dict[str, Any]:
        """Return what is known without looking at draws, as plain values."""
        return {} if self.single_tier is None else self.single_tier.facts()


def can_draw(options: SamplingOptions) -> bool:
    """Whether weak orders leave tiers of all sizes to be drawn at once, as far as options go.

    In addition to what all such draws need, the prior must allow every theta.
    """
    return (
        options.takes_all_sizes
        and options.sampler.completions == "auto"
        and allows_every_theta(as_theta_prior(options.priors.theta))
    )


def refuse_several_thetas() -> NoReturn:
    """Say what a theta per tier takes."""
    raise InputError(
        "one theta per tier needs tiers of all sizes, the distance inversions, a named prior "
        "of sizes, a prior that allows every theta, and answers that are complete, tied, "
        "or rank items not listed below",
        [
            use(distance="inversions"),
            drop("sizes", "theta_update", "likelihood", "completions"),
            use(concentration="single"),
        ],
    )


def posterior_of(options: SamplingOptions, source: AnswerSource) -> TiersPosterior:
    """Collect data and priors."""
    assert isinstance(options.prior_sizes, str)
    return TiersPosterior(
        source.weak_orders,
        "single" if options.concentration == "single" else "tier",
        as_theta_prior(options.priors.theta),
        cast("TiersPriorName", options.prior_sizes),
    )


def settle_method(options: SamplingOptions, posterior: TiersPosterior) -> SamplingOptions:
    """Choose exact draws where they take seconds, and refuse them where they take too long."""
    n_items = posterior.counts.n_items
    if options.sampler.method == "exact":
        if n_items > _MOST_ITEMS:
            raise TooLargeError(
                f"exact draws sum over all tiers of up to {_MOST_ITEMS} items, not {n_items}",
                [use(sampler=grouped("Sampler", method="mcmc"))],
            )
        return options.settled("exact")
    slow = posterior.concentration == "tier" and posterior.counts.n_blocks > 0
    affordable = _AFFORDABLE_ITEMS_WITH_TIES if slow else _AFFORDABLE_ITEMS
    if options.sampler.method == "auto" and n_items <= affordable:
        return options.settled("exact")
    return options.settled("mcmc")


def sampler_of(options: SamplingOptions, posterior: TiersPosterior) -> TierSampler:
    """Return what makes the draws."""
    if options.sampler.method == "mcmc":
        single_tier = None
        many = posterior.counts.n_items > MOST_ITEMS_TO_JOIN
        if posterior.prior_sizes == "sceptical" and many:
            single_tier = weigh_single_tier(
                posterior.counts, posterior.concentration, posterior.prior_theta
            )
        return WalkOverTiers(posterior, single_tier)
    evidence = sum_evidence(
        posterior.counts,
        posterior.concentration,
        prior_theta=posterior.prior_theta,
        prior_sizes=posterior.prior_sizes,
    )
    return IndependentTiers(posterior, evidence)


@dataclass(frozen=True, eq=False)
class WalkOverComparisons:
    """A sampler that runs a chain over ordered partitions, given wins.

    Attributes
    ----------
    chain
        The chain over their tiers.
    likelihood
        "independent", or "composite" where judges decide several battles each.
    """

    chain: ComparisonsChain
    likelihood: str

    def start(self, rng: np.random.Generator) -> State:
        """Tiers merged from battles that are drawn again (Bayesian bootstrap of pairs)."""
        wins = self.chain.wins
        weights = rng.gamma(np.maximum(wins, 1e-12))
        labels = merged_runs(weights * (wins > 0), self.chain.prior_tiers)
        sizes = tuple(np.bincount(labels).tolist())
        return State(labels, sizes, np.nan, self.chain.theta_to_begin(labels))

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make a sweep for each entry of ``kept``, and record the draws where it is true."""
        labels, numbers = self.chain.run(state.labels, state.theta, len(kept), rng)
        thetas, totals, logs = numbers[kept].T
        trace.extend(labels[kept], theta=thetas, total=totals, log_posterior=logs)
        return state._replace(
            labels=labels[-1].copy(),
            sizes=tuple(np.bincount(labels[-1]).tolist()),
            theta=float(numbers[-1, 0]),
            iteration=state.iteration + len(kept),
        )

    def facts(self) -> dict[str, Any]:
        """Return what is known without looking at draws, as plain values."""
        return {"pairwise": True, "likelihood": self.likelihood}


def sampler_of_battles(options: SamplingOptions, source: AnswerSource) -> WalkOverComparisons:
    """Return the sampler, or raise an error for options that it does not support."""
    if options.sizes is not None:
        raise InputError(
            "for battles, tiers of all sizes are sampled",
            [drop("sizes"), instead("fit", "and bootstrap")],
        )
    if (
        options.sampler.method == "exact"
        or options.sampler.needs_chain
        or options.concentration != "single"
    ):
        raise InputError(
            "battles have one theta and a chain over tiers of all sizes",
            [drop("method", "theta_update", "likelihood", "concentration")],
        )
    chain = ComparisonsChain(
        source.wins,
        as_theta_prior(options.priors.theta),
        tiers_prior(options.prior_sizes, len(source.items)),
    )
    return WalkOverComparisons(chain, source.likelihood)
