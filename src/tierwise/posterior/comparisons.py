"""Posterior of tiers of all sizes given battles: Metropolis over ordered partitions.

Chains begin with tiers that were merged from battles drawn anew, so that they begin apart, and end
together if they mix. Where judges decide several battles each, the posterior is composite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.errors import InputError
from tierwise.inversions.comparisons import ComparisonsChain, merged_runs
from tierwise.inversions.objective import ThetaTable, tiers_prior
from tierwise.model.priors import as_theta_prior
from tierwise.posterior.chain import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.likelihood import AnswerSource
    from tierwise.posterior.chain import Trace
    from tierwise.posterior.samplers import SamplingOptions


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
        """Tiers merged from battles that are drawn anew (Bayesian bootstrap of pairs)."""
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


def applies(source: AnswerSource) -> bool:
    """Whether each comparison is an answer of its own."""
    return source.wins is not None


def sampler_of(options: SamplingOptions, source: AnswerSource) -> WalkOverComparisons:
    """Return what makes the draws, or say what cannot be had."""
    if options.sizes is not None:
        raise InputError(
            "for battles, tiers of all sizes are drawn: leave out sizes, or use fit and bootstrap"
        )
    if options.method == "exact" or options.needs_chain or options.concentration != "single":
        raise InputError(
            "for battles there is one theta and a chain over tiers of all sizes: leave method, "
            "theta_update, likelihood and concentration as they are"
        )
    assert source.wins is not None
    chain = ComparisonsChain(
        source.wins,
        ThetaTable.of(as_theta_prior(options.prior_theta)),
        tiers_prior(options.prior_sizes, len(source.items)),
    )
    return WalkOverComparisons(chain, source.likelihood)
