"""Posterior of tiers of all sizes given battles: Metropolis over ordered partitions.

Chains begin with tiers that were merged from battles drawn anew, so that they begin apart, and end
together if they mix. Where judges decide several battles each, the posterior is composite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.errors import InputError
from tierwise.inversions.comparisons import (
    ComparisonsChain,
    ThetaTable,
    TiersPriorNumbers,
    merged_runs,
)
from tierwise.model.priors import as_theta_prior
from tierwise.posterior.chain import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.battles import Battles
    from tierwise.posterior.chain import Trace
    from tierwise.posterior.samplers import SamplingOptions


@dataclass(frozen=True, eq=False)
class WalkOverBattles:
    """A sampler that runs a chain over ordered partitions, given wins.

    Attributes
    ----------
    data
        The battles.
    chain
        The chain over their tiers.
    """

    data: Battles
    chain: ComparisonsChain

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
        return {
            "pairwise": True,
            "likelihood": "composite" if self.data.composite else "independent",
        }


def sampler_of_battles(options: SamplingOptions, data: Battles) -> WalkOverBattles:
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
    wins = data.wins
    return WalkOverBattles(
        data,
        ComparisonsChain(
            wins,
            ThetaTable.of(as_theta_prior(options.prior_theta)),
            TiersPriorNumbers.of(options.prior_sizes, len(wins)),
        ),
    )
