"""Which sampler does what was asked for: a file that only assembles.

Where sizes are open, tiers move given theta, then tiers and sizes move with theta integrated out,
and then theta is drawn given both: a partially collapsed Gibbs sampler (van Dyk and Park, Partially
Collapsed Gibbs Samplers, Journal of the American Statistical Association 103, 2008). It is correct
in this order only: the move that integrates theta out leaves a theta behind that does not belong to
its tiers, so the draw of theta must be the next move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tierwise.fitting.pseudo import PseudoLikelihood
from tierwise.posterior.augmented import Augmented
from tierwise.posterior.chain import Cycle
from tierwise.posterior.collapsed import CollapsedWalk, tabulate_weights
from tierwise.posterior.exact import ExactPosterior
from tierwise.posterior.theta_moves import DrawTheta, ExchangeTheta, WalkTheta
from tierwise.posterior.tiers_moves import (
    ChangeObservedSizes,
    ChangeSizes,
    SwitchObservedTiers,
    SwitchTiers,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierwise.posterior.chain import Sampler
    from tierwise.posterior.options import SamplingOptions
    from tierwise.posterior.target import Target
    from tierwise.tiers.sizes import Sizes

# Labels an iteration tries to switch, for each item: cheap beside the rest of an iteration.
SWITCHES_PER_ITEM = 3
_SPLITS_AND_MERGES = 4
# Where each step goes through all answers.
_SPLITS_AND_MERGES_OF_ANSWERS = 2
_STEPS_OF_THETA = 3


def make_sampler(options: SamplingOptions, target: Target) -> Sampler:
    """Say what one iteration does.

    Parameters
    ----------
    options
        What was asked for.
    target
        What to draw from.
    """
    if not target.source.is_known(options.sizes or (1,) * target.n_items):
        return _of_open_answers(options, target)
    return _of_known_answers(options, target)


def _of_known_answers(options: SamplingOptions, target: Target) -> Sampler:
    """Draw exactly where that was asked for; else let tiers and theta move in turn."""
    sizes = options.sizes
    if options.method == "exact":
        exact = ExactPosterior.of(target, sizes)
        return Cycle((exact,), exact.facts())
    switch = SwitchTiers(target, SWITCHES_PER_ITEM * target.n_items)
    if sizes is None:
        change = ChangeSizes(target, target.n_items, _SPLITS_AND_MERGES)
        return Cycle((switch, change, DrawTheta(target)))
    if options.likelihood == "pseudo":
        return _of_pseudo_likelihood(options, target, sizes)
    if options.theta_update == "integrated":
        sized = target.at(sizes)
        return CollapsedWalk(sized, tabulate_weights(sized), switch.n_steps)
    if options.exchange is not None:
        return Cycle((switch, ExchangeTheta(target, options.exchange, options.warmup_or_default)))
    return Cycle((switch, DrawTheta(target)))


def _of_open_answers(options: SamplingOptions, target: Target) -> Sampler:
    """Sum over the completions of answers where that is possible, else draw them."""
    sizes = options.sizes
    if options.completions != "auto":
        return Augmented(target, sizes, options.completions, options.prior_mistakes)
    if not target.source.can_be_summed(sizes):
        return Augmented(target, sizes, "reinsert", options.prior_mistakes)
    switch = SwitchObservedTiers(target.observed, max(target.n_items // 2, 2))
    walk = WalkTheta(target, target.observed, options.warmup_or_default, _STEPS_OF_THETA)
    known = {"completions": "summed over", "pairwise": target.source.pairwise}
    if sizes is not None:
        return Cycle((switch, walk), known)
    change = ChangeObservedSizes(target, target.n_items, _SPLITS_AND_MERGES_OF_ANSWERS)
    return Cycle((switch, change, walk), known)


def _of_pseudo_likelihood(options: SamplingOptions, target: Target, sizes: Sizes) -> Sampler:
    source = target.source
    pseudo = PseudoLikelihood(source.complete_orderings(), source.weights, sizes)
    observed = _PseudoAnswers(target, pseudo, sizes)
    switch = SwitchObservedTiers(observed, target.n_items)
    return Cycle((switch, WalkTheta(target, observed, options.warmup_or_default)))


@dataclass(frozen=True, eq=False)
class _PseudoAnswers:
    """The pseudo-likelihood in the place of the likelihood."""

    target: Target
    pseudo: PseudoLikelihood
    sizes: Sizes

    def value(self, labels: NDArray[np.int64], theta: float) -> float:
        return self.pseudo.value(labels, theta)

    def distance(self, labels: NDArray[np.int64], theta: float) -> float:  # noqa: ARG002
        return self.target.at(self.sizes).problem.total(labels)
