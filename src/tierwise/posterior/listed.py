"""Independent draws where answers leave something open: all tiers of few items, one by one.

The completions of answers are summed over at every theta, so tiers and theta are as probable as
more than a total distance says, and no recursion sums over tiers. Four items have 75 tiers and five
541: each gets its density of theta, whose integral is the posterior probability of the tiers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.errors import InputError
from tierwise.evidence.given_tiers import theta_given_tiers
from tierwise.posterior.target import summed_over
from tierwise.tiers import compositions, log_number_of_tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.posterior.chain import State, Trace
    from tierwise.posterior.target import Target
    from tierwise.theta.density import ThetaDensity
    from tierwise.tiers import Sizes

    _Floats = NDArray[np.float64]
    _Integers = NDArray[np.int64]

# About how many thetas are looked at for each tiers, how long that takes whatever the answers, and
# for how long altogether: a chain takes longer.
_THETAS_OF_TIERS = 60
_SECONDS_OF_TIERS = 5e-3
_MOST_SECONDS = 5.0
_MOST_ITEMS = 6


@dataclass(frozen=True, eq=False)
class ListedPosterior:
    """The exact posterior: one entry for each of all tiers that are possible.

    Attributes
    ----------
    target
        The answers and priors.
    labels
        Tier of each item, counted from 0, one row for each entry.
    densities
        Density of theta given the tiers.
    log_weights
        Log posterior probability of the tiers, up to a constant.
    """

    target: Target
    labels: _Integers
    densities: tuple[ThetaDensity, ...]
    log_weights: _Floats

    @classmethod
    def of(cls, target: Target, sizes: Sizes | None) -> ListedPosterior:
        """List all tiers of given sizes, or all tiers."""
        vectors = compositions(target.n_items) if sizes is None else [sizes]
        rows, densities, log_weights = [], [], []
        for vector in vectors:
            log_prior = target.log_prior_of_tiers(vector)
            if not np.isfinite(log_prior):
                continue
            likelihood = target.likelihood(vector)
            for labels in tiers_of_sizes(vector):
                density = theta_given_tiers(likelihood, labels, target.prior_theta)
                rows.append(labels)
                densities.append(density)
                log_weights.append(density.log_integral + log_prior)
        if not rows:
            raise InputError("prior_sizes is -inf for all sizes: use a prior that allows some")
        return cls(target, np.array(rows), tuple(densities), np.array(log_weights))

    @cached_property
    def probabilities(self) -> _Floats:
        """Posterior probability of each of the tiers."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(weights / weights.sum())

    def facts(self) -> dict[str, Any]:
        """Return what is known exactly, as plain values."""
        by_sizes: dict[Sizes, float] = {}
        for labels, share in zip(self.labels, self.probabilities.tolist(), strict=True):
            sizes: Sizes = tuple(np.bincount(labels).tolist())
            by_sizes[sizes] = by_sizes.get(sizes, 0.0) + share
        priors = [
            self.target.log_prior_of_tiers(sizes) + log_number_of_tiers(sizes) for sizes in by_sizes
        ]
        evidence = float(np.logaddexp.reduce(self.log_weights) - np.logaddexp.reduce(priors))
        known = {**summed_over(self.target.source), "log_evidence": evidence}
        if len(by_sizes) == 1:
            return known
        ranked = sorted(by_sizes.items(), key=lambda pair: -pair[1])
        probable = [[list(sizes), share] for sizes, share in ranked if share > 0.0]
        return {**known, "sizes_probabilities": probable}

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Draw tiers and theta for each entry of ``kept``, whatever the state was before."""
        entries = rng.choice(len(self.labels), size=len(kept), p=self.probabilities)
        thetas, totals = rng.random(len(kept)), np.empty(len(kept))
        observed = self.target.observed
        for entry in np.unique(entries).tolist():
            rows = np.flatnonzero(entries == entry)
            thetas[rows] = self.densities[entry].quantile(thetas[rows])
            labels = self.labels[entry]
            totals[rows] = [observed.distance(labels, theta) for theta in thetas[rows].tolist()]
        labels, logs = self.labels[entries], self.log_weights[entries]
        trace.extend(labels[kept], total=totals[kept], theta=thetas[kept], log_posterior=logs[kept])
        return state._replace(
            labels=labels[-1],
            sizes=tuple(np.bincount(labels[-1]).tolist()),
            total=float(totals[-1]),
            theta=float(thetas[-1]),
            log_posterior=float(logs[-1]),
            iteration=state.iteration + len(kept),
        )


def tiers_of_sizes(sizes: Sizes) -> list[_Integers]:
    """List all tiers of given sizes, as the tier of each item.

    Examples
    --------
    >>> [labels.tolist() for labels in tiers_of_sizes((1, 2))]
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    labels = np.repeat(np.arange(len(sizes)), sizes).tolist()
    return [np.array(one, dtype=np.int64) for one in sorted(set(permutations(labels)))]


def is_affordable(target: Target, sizes: Sizes | None) -> bool:
    """Whether all tiers can be listed in seconds, the completions of answers being summed over."""
    if target.n_items > _MOST_ITEMS or not target.source.can_be_summed(sizes):
        return False
    vectors = list(compositions(target.n_items)) if sizes is None else [sizes]
    seconds = 0.0
    for vector in vectors:
        each = _SECONDS_OF_TIERS + _THETAS_OF_TIERS * target.likelihood(vector).seconds
        seconds += exp(log_number_of_tiers(vector)) * each
        if seconds > _MOST_SECONDS:
            return False
    return True
