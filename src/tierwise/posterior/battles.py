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
    log_factorials,
    log_likelihood_at_best,
    merged_runs,
    strengths,
    tier_wins,
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
    wins
        Their table of wins.
    leads
        By how much each item tends to the upper part of a tier that is cut.
    prior_theta, prior_tiers
        The priors.
    """

    data: Battles
    wins: NDArray[np.float64]
    leads: NDArray[np.float64]
    prior_theta: ThetaTable
    prior_tiers: TiersPriorNumbers

    def start(self, rng: np.random.Generator) -> State:
        """Tiers merged from battles that are drawn anew (Bayesian bootstrap of pairs)."""
        weights = rng.gamma(np.maximum(self.wins, 1e-12))
        labels = merged_runs(weights * (self.wins > 0), self.prior_tiers.tier_constant)
        return State(labels, tuple(np.bincount(labels).tolist()), np.nan, np.nan)

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make a sweep for each entry of ``kept``, and record the draws where it is true."""
        chain = ComparisonsChain(
            self.wins,
            state.labels,
            self.leads,
            self.prior_theta,
            self.prior_tiers,
            None if np.isnan(state.theta) else state.theta,
        )
        labels = np.zeros((len(kept), len(self.wins)), dtype=np.int64)
        thetas = np.empty(len(kept))
        for sweep in range(len(kept)):
            chain.sweep(rng)
            chain.write_labels(labels[sweep])
            thetas[sweep] = chain.theta
        drawn = labels[kept]
        if len(drawn):
            totals, logs = np.array(
                [self._values(*one) for one in zip(drawn, thetas[kept], strict=True)]
            ).T
            trace.extend(drawn, theta=thetas[kept], total=totals, log_posterior=logs)
        return state._replace(
            labels=labels[-1].copy(),
            sizes=tuple(np.bincount(labels[-1]).tolist()),
            theta=float(thetas[-1]),
            iteration=state.iteration + len(kept),
        )

    def _values(self, labels: NDArray[np.int64], theta: float) -> tuple[float, float]:
        """Battles lost by the better tier, and log posterior of tiers and theta."""
        between, sizes = tier_wins(self.wins, labels)
        logs = log_factorials(len(labels))
        table = self.prior_theta
        place = (np.log(theta) - table.first) / table.step
        log_prior = float(np.interp(place, np.arange(len(table.log_density)), table.log_density))
        value = log_likelihood_at_best(self.wins, labels, theta) + log_prior
        lost = float(np.tril(between, k=-1).sum())
        return lost, value + self.prior_tiers.log_probability(sizes, logs)

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
        wins,
        strengths(wins)[1].clip(-30.0, 30.0),
        ThetaTable.of(as_theta_prior(options.prior_theta)),
        TiersPriorNumbers.of(options.prior_sizes, len(wins)),
    )
