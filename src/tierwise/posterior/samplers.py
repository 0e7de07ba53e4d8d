"""The options of `sample_posterior`, checked, and the choice of the sampler.

Where sizes are open, tiers move given theta, then tiers and sizes move with theta integrated out,
and then theta is drawn given both: a partially collapsed Gibbs sampler (van Dyk and Park, Partially
Collapsed Gibbs Samplers, Journal of the American Statistical Association 103, 2008). It is correct
in this order only: the move that integrates theta out leaves a theta behind that does not belong to
its tiers, so the draw of theta must be the next move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.checks import check_choice, check_count, check_group, check_number
from tierwise._util.provenance import digest
from tierwise.errors import InputError, drop, grouped, listed, use
from tierwise.fitting.solve import PseudoLikelihood
from tierwise.model.priors import (
    NAMED_PRIORS,
    Gamma,
    Priors,
    SizesPrior,
    as_theta_prior,
    check_priors,
    log_prior_of_sizes,
)
from tierwise.posterior.augmented import Augmented
from tierwise.posterior.chain import Cycle
from tierwise.posterior.collapsed import CollapsedWalk, tabulate_weights
from tierwise.posterior.exact import ExactPosterior
from tierwise.posterior.listed import ListedPosterior
from tierwise.posterior.moves import (
    ChangeObservedSizes,
    ChangeSizes,
    DrawTheta,
    Exchange,
    ExchangeTheta,
    SwitchObservedTiers,
    SwitchTiers,
    WalkTheta,
)
from tierwise.posterior.target import depends_on_distance_only, summed_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.posterior.chain import TierSampler
    from tierwise.posterior.target import Target
    from tierwise.tiers import Sizes

PosteriorMethod: TypeAlias = Literal["auto", "exact", "mcmc"]
ThetaUpdate: TypeAlias = Literal["auto", "exact", "integrated", "exchange"]
PosteriorLikelihood: TypeAlias = Literal["exact", "pseudo"]
CompletionsMethod: TypeAlias = Literal["auto", "reinsert", "refill"]
PosteriorConcentration: TypeAlias = Literal["single", "tier"]
Thin: TypeAlias = int | Literal["auto"]
"""Iterations from one draw to the next, or as many as it takes until the chains have settled."""

_LEAST_WARMUP = 500
# Draws that are held in memory, as they are and once more when they are put together.
_MOST_BYTES = 8 * 2**30
_BYTES_OF_A_DRAW = 2 * 8 * 8


@dataclass(frozen=True)
class Sampler:
    """Options of posterior sampling, if you do not want the default.

    Parameters
    ----------
    method
        "exact" draws independently, by summing over all tiers; "mcmc" runs Metropolis chains;
        "auto" is exact where feasible, which is most efficient: up to about 14 items. Incomplete
        answers are drawn exactly if tiers hold one item each, the distance is "kendall" or
        "inversions", and all items are ranked, tied, or below those listed; and if all tiers can be
        enumerated, up to about five items.
    theta_update
        How chains update theta: "exact" draws it from its conditional distribution, "integrated"
        moves tiers with theta integrated out, "exchange" is the paper's exchange algorithm, with
        options in `Exchange`. "auto" is "integrated" if sizes are given and ``method="auto"`` needs
        a chain, otherwise "exact".
    likelihood
        "pseudo" uses the paper's pseudo-likelihood instead of the likelihood.
    completions
        How to treat the complete orderings behind incomplete answers. "auto" sums over them if
        possible, and otherwise draws them by "reinsert", which takes out each item and puts it back
        in a possible place. "refill" draws them as in the paper, by proposing any of them.
    warmup
        Iterations of each chain before its first draw; half the draws, and at least 500, if None.
    thin
        Iterations between two draws. "auto" begins with 1 and doubles it until the chains have
        converged and the effective sample size is large enough.
    seconds
        For "auto": the approximate time limit for continuing the chains. A warning follows if they
        have not converged by then.

    Examples
    --------
    >>> import tierwise as tw
    >>> sampler = tw.Sampler(method="mcmc", thin=2)
    >>> chains = tw.sample_posterior(tw.load_political_goals(), (2, 2), sampler=sampler, rng=1)
    >>> chains.method
    'mcmc'
    """

    method: PosteriorMethod = "auto"
    theta_update: ThetaUpdate | Exchange = "auto"
    likelihood: PosteriorLikelihood = "exact"
    completions: CompletionsMethod = "auto"
    warmup: int | None = None
    thin: Thin = 1
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.thin, str) or self.thin != "auto":
            check_count("thin", self.thin)
        check_number("seconds", self.seconds)
        if self.warmup is not None:
            check_count("warmup", self.warmup, 0)
        check_choice("method", self.method, get_args(PosteriorMethod))
        if not isinstance(self.theta_update, Exchange):
            check_choice("theta_update", self.theta_update, get_args(ThetaUpdate))
        check_choice("likelihood", self.likelihood, get_args(PosteriorLikelihood))
        check_choice("completions", self.completions, get_args(CompletionsMethod))
        if self.method == "exact" and self.needs_chain:
            raise InputError(
                "exact draws come from the exact posterior of theta and tiers",
                [
                    drop("theta_update", "likelihood"),
                    use(sampler=grouped("Sampler", method="mcmc")),
                ],
            )

    @property
    def needs_chain(self) -> bool:
        """Whether something was requested that only a chain does."""
        return self.theta_update not in ("auto", "exact") or self.likelihood != "exact"

    @property
    def is_for_mallows(self) -> bool:
        """Whether something was requested that only Mallows models have."""
        return self.needs_chain or any(
            (self.theta_update != "auto", self.completions != "auto", self.method == "exact")
        )

    @property
    def exchange(self) -> Exchange | None:
        """The exchange algorithm, if it was requested."""
        if isinstance(self.theta_update, Exchange):
            return self.theta_update
        return Exchange() if self.theta_update == "exchange" else None

    def refuse_all_but(self, *names: str, function: str) -> None:
        """Refuse options that a function does not have."""
        others = [
            one.name
            for one in fields(self)
            if one.name not in names and getattr(self, one.name) != one.default
        ]
        if others:
            raise InputError(
                f"{function} does not support {listed(others)}, only {listed(names)}",
                [drop(*others)],
            )


DEFAULT_SAMPLER = Sampler()


def check_sampler(sampler: Sampler) -> Sampler:
    """Return a sampler, or say that this is none."""
    return check_group("sampler", sampler, Sampler, 'Sampler(method="mcmc")')


@dataclass(frozen=True)
class SamplingOptions:
    """The options of `sample_posterior`, without data, workers and progress."""

    sizes: Sizes | None
    distance: str
    chains: int
    draws: int
    sampler: Sampler
    priors: Priors
    concentration: PosteriorConcentration = "single"
    tiers: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("chains", "draws"):
            check_count(name, getattr(self, name))
        check_choice("concentration", self.concentration, get_args(PosteriorConcentration))
        sampler = check_sampler(self.sampler)
        check_priors(self.priors)
        if self.sizes is None and sampler.needs_chain and sampler.theta_update != "integrated":
            raise InputError(
                "the exchange algorithm and the pseudo-likelihood need given sizes",
                [use("to give them", sizes=...)],
            )

    @property
    def prior_sizes(self) -> SizesPrior:
        """The prior of sizes."""
        return self.priors.sizes_or("sceptical")

    @property
    def takes_all_sizes(self) -> bool:
        """Whether tiers of all sizes can be drawn at once, as far as options go.

        That takes open sizes, a named prior of them, and nothing that only other chains do.
        """
        prior = self.prior_sizes
        named = isinstance(prior, str) and prior in NAMED_PRIORS
        return self.sizes is None and named and not self.sampler.needs_chain

    @property
    def is_for_mallows(self) -> bool:
        """Whether something was requested that only Mallows models have."""
        return self.sampler.is_for_mallows or not isinstance(self.prior_sizes, str)

    @property
    def warmup_or_default(self) -> int:
        """Iterations before the first draw: half the draws where the user leaves it open."""
        warmup = self.sampler.warmup
        return max(_LEAST_WARMUP, self.draws // 2) if warmup is None else warmup

    @property
    def thin(self) -> int:
        """Iterations from one draw to the next, to begin with."""
        return 1 if self.sampler.thin == "auto" else self.sampler.thin

    def refuse_too_many_draws(self, n_items: int) -> None:
        """Raise if the draws are more than a computer's memory holds."""
        n_columns = n_items if self.concentration == "single" else 2 * n_items
        n_bytes = self.chains * self.draws * (_BYTES_OF_A_DRAW + 3 * 8 * n_columns)
        if n_bytes > _MOST_BYTES:
            raise InputError(
                f"{self.chains:,} chains of {self.draws:,} draws of {n_items:,} items take "
                f"{n_bytes / 2**30:,.0f} GiB of memory, and the limit is "
                f"{_MOST_BYTES / 2**30:.0f}: use fewer draws, or thin them more"
            )

    def settled(
        self, method: PosteriorMethod, theta_update: ThetaUpdate = "exact"
    ) -> SamplingOptions:
        """Return the options with a method and what follows from it; "auto" is an update."""
        sampler = self.sampler
        update = theta_update if sampler.theta_update == "auto" else sampler.theta_update
        # Independent draws need neither warm-up nor thinning.
        warmup, thin = (0, 1) if method == "exact" else (self.warmup_or_default, self.thin)
        settled = replace(sampler, method=method, theta_update=update, warmup=warmup, thin=thin)
        return replace(self, sampler=settled)

    def plain(self) -> dict[str, Any]:
        """Return the options as text and numbers, for people and files."""
        sampler, exchange = self.sampler, self.sampler.exchange
        plain = {name: getattr(self, name) for name in ("distance", "chains", "draws")}
        plain |= {name: getattr(sampler, name) for name in ("warmup", "thin", "likelihood")}
        plain["theta_update"] = "exchange" if exchange else sampler.theta_update
        if self.concentration != "single":
            plain["concentration"] = self.concentration
        plain["prior_theta"] = _name(self.priors.theta)
        plain["prior_sizes"] = _name(self.prior_sizes)
        if exchange is not None:
            plain["auxiliary"] = exchange.auxiliary
            plain["auxiliary_steps"] = exchange.steps
        return plain

    def identity(self, n_items: int) -> dict[str, Any]:
        """Return all that decides which draws are made, as plain values; priors by their values."""
        n_others = n_items - 1
        some_sizes = [(n_items,), (1,) * n_items, (1, n_others), (n_others, 1)]
        thetas = np.geomspace(1e-6, 1e3, 50)
        prior_sizes = self.prior_sizes
        return {
            "sizes": self.sizes,
            **({} if self.tiers is None else {"tiers": self.tiers}),
            "method": self.sampler.method,
            "completions": self.sampler.completions,
            "prior_mistakes": [self.priors.mistakes.mistakes, self.priors.mistakes.right],
            **self.plain(),
            "values of prior_theta": digest(as_theta_prior(self.priors.theta).log_density(thetas)),
            "values of prior_sizes": digest(
                tuple(log_prior_of_sizes(prior_sizes, one) for one in some_sizes if min(one) > 0),
                tuple(sorted(prior_sizes.items())) if isinstance(prior_sizes, Mapping) else None,
            ),
        }


def _name(prior: object) -> str:
    if isinstance(prior, str):
        return prior
    if isinstance(prior, Gamma):
        return f"Gamma({prior.shape:g}, {prior.rate:g})"
    return getattr(prior, "__name__", type(prior).__name__)


# Labels an iteration tries to switch, for each item: cheap beside the rest of an iteration.
SWITCHES_PER_ITEM = 3
_SPLITS_AND_MERGES = 4
# Where each step goes through all answers.
_SPLITS_AND_MERGES_OF_ANSWERS = 2
_STEPS_OF_THETA = 3


def make_sampler(options: SamplingOptions, target: Target) -> TierSampler:
    """Say what one iteration does.

    Parameters
    ----------
    options
        What was requested.
    target
        What to draw from.
    """
    by_distance = depends_on_distance_only(target.source, options.sizes)
    if by_distance and options.sampler.completions == "auto":
        return _by_distance(options, target)
    return _of_open_answers(options, target)


def _by_distance(options: SamplingOptions, target: Target) -> TierSampler:
    """Draw exactly where that was requested; else let tiers and theta move in turn."""
    sizes = options.sizes
    if options.sampler.method == "exact":
        return ExactPosterior.of(target, sizes)
    switch = SwitchTiers(target, SWITCHES_PER_ITEM * target.n_items)
    if sizes is None:
        change = ChangeSizes(target, target.n_items, _SPLITS_AND_MERGES)
        return Cycle((switch, change, DrawTheta(target)))
    if options.sampler.likelihood == "pseudo":
        return _of_pseudo_likelihood(options, target, sizes)
    if options.sampler.theta_update == "integrated":
        sized = target.at(sizes)
        return CollapsedWalk(sized, tabulate_weights(sized), switch.n_steps)
    if options.sampler.exchange is not None:
        return Cycle(
            (switch, ExchangeTheta(target, options.sampler.exchange, options.warmup_or_default))
        )
    return Cycle((switch, DrawTheta(target)))


def _of_open_answers(options: SamplingOptions, target: Target) -> TierSampler:
    """Sum over the completions of answers if that is possible, else draw them."""
    sizes = options.sizes
    if options.sampler.method == "exact":
        return ListedPosterior.of(target, sizes)
    if options.sampler.completions != "auto":
        return Augmented(target, sizes, options.sampler.completions, options.priors.mistakes)
    if not target.source.can_be_summed(sizes):
        return Augmented(target, sizes, "reinsert", options.priors.mistakes)
    switch = SwitchObservedTiers(target.observed, max(target.n_items // 2, 2))
    walk = WalkTheta(target, target.observed, options.warmup_or_default, _STEPS_OF_THETA)
    known = summed_over(target.source)
    if sizes is not None:
        return Cycle((switch, walk), known)
    change = ChangeObservedSizes(target, target.n_items, _SPLITS_AND_MERGES_OF_ANSWERS)
    return Cycle((switch, change, walk), known)


def _of_pseudo_likelihood(options: SamplingOptions, target: Target, sizes: Sizes) -> TierSampler:
    source = target.source
    pseudo = PseudoLikelihood(source.complete_orderings(), source.weights, sizes)
    observed = _PseudoAnswers(target, pseudo, sizes)
    switch = SwitchObservedTiers(observed, target.n_items)
    return Cycle((switch, WalkTheta(target, observed, options.warmup_or_default)))


@dataclass(frozen=True, eq=False)
class _PseudoAnswers:
    """The pseudo-likelihood instead of the likelihood."""

    target: Target
    pseudo: PseudoLikelihood
    sizes: Sizes

    def value(self, labels: NDArray[np.int64], theta: float) -> float:
        return self.pseudo.value(labels, theta)

    def distance(self, labels: NDArray[np.int64], theta: float) -> float:  # noqa: ARG002
        return self.target.at(self.sizes).problem.total(labels)
