"""Markov chain Monte Carlo over tiers, sizes and theta with the distance ``inversions``.

Items are drawn into tiers by Gibbs steps, tiers change by Metropolis steps, and theta by slice
sampling; with a theta per line the thetas are integrated out of all steps and drawn afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import inversions_chain as kernels
from tierwise._kernels.inversions_lines import LARGEST_GRID_THETA
from tierwise._kernels.inversions_partition import labels_of, load_and_value
from tierwise.inversions.evidence import draw_thetas
from tierwise.inversions.objective import (
    Concentration,
    TiersPriorName,
    fixed_objective,
    line_objective,
    prior_table,
    tiers_prior,
)
from tierwise.inversions.searching import make_state
from tierwise.inversions.thetas import check_labels, estimate_one_theta
from tierwise.model.priors import Gamma, ThetaPrior

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.data.counts import WeakOrderCounts

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

_PROPOSALS_PER_SWEEP = 4
_LEAST_START = 1e-3


@dataclass(frozen=True, eq=False)
class ChainDraws:
    """Draws of a Markov chain over tiers and thetas.

    Attributes
    ----------
    labels
        Tier of each item (column) in each draw (row), counted from 0.
    thetas
        One theta per draw; or, with a theta per line, one column per tier but the last, NaN where
        a draw has fewer tiers.
    log_posterior
        Log of prior times likelihood of each draw; with a theta per line, thetas are integrated
        out of it.
    """

    labels: _Integers
    thetas: _Floats
    log_posterior: _Floats


class TiersChain:
    """A chain over tiers of all sizes; every sweep is a step that keeps the posterior.

    Parameters
    ----------
    counts
        The data.
    labels
        Tiers to begin with: the tier of each item, counted from 0.
    concentration
        "single" for one theta, "tier" for one per tier.
    prior_theta, prior_sizes
        The priors, as for `sum_evidence`.
    theta
        One theta to begin with; that of greatest likelihood, within bounds, where none is given.
    """

    def __init__(
        self,
        counts: WeakOrderCounts,
        labels: NDArray[Any],
        concentration: Concentration,
        prior_theta: ThetaPrior | Callable[[Any], Any],
        prior_sizes: TiersPriorName,
        theta: float | None = None,
    ) -> None:
        begin = check_labels(labels, counts.n_items)
        self._prior = tiers_prior(prior_sizes, counts.n_items)
        self._single = concentration == "single"
        if self._single:
            if theta is None:
                likely = float(estimate_one_theta(counts, begin).value)
                theta = min(max(likely, _LEAST_START), LARGEST_GRID_THETA / 4)
            self._objective = fixed_objective(counts, theta, self._prior.tier_constant)
        else:
            self._objective = line_objective(counts, prior_theta, self._prior.tier_constant)
        self._prior_of_theta = prior_table(prior_theta, self._objective.grid)
        self._state = make_state(counts, self._objective)
        # Loads the compiler, which a search of few items does without.
        from tierwise._kernels.inversions_references import refer_to_objective, refer_to_partition

        self._by_reference = refer_to_objective(self._objective), refer_to_partition(self._state)
        load_and_value(*self._by_reference, begin)
        # Leads are sums over a tier of differences of counts; scaled to a few units.
        self._strength = 2.0 / np.sqrt(max(counts.n_rankings, 1.0) * counts.n_items)
        self._n_items = counts.n_items
        self._log_prior_theta = 0.0

    def sweep(self, rng: np.random.Generator) -> None:
        """Move all items, propose other tiers, and draw the one theta."""
        (objective, state), n_items = self._by_reference, self._n_items
        bonus = self._prior.single_tier_bonus
        kernels.draw_places(objective, state, bonus, rng.permutation(n_items), rng.random(n_items))
        kernels.exchange_at_random(objective, state, 1.0 - rng.random((n_items // 2 + 1, 4)))
        uniforms = 1.0 - rng.random((_PROPOSALS_PER_SWEEP, n_items + 3))
        kernels.change_tiers(objective, state, bonus, self._strength, uniforms * (1.0 - 1e-12))
        if self._single:
            self._log_prior_theta = kernels.draw_theta(objective, self._prior_of_theta, state, rng)

    def write_labels(self, labels: _Integers) -> None:
        """Write the tier of each item, counted from 0."""
        labels[:] = labels_of(self._state)

    @property
    def theta(self) -> float:
        """The one theta; NaN with a theta per line."""
        return float(self._objective.grid.thetas[0]) if self._single else nan

    @property
    def log_posterior(self) -> float:
        """Log of prior times likelihood; with a theta per line, thetas are integrated out."""
        value = load_and_value(*self._by_reference, labels_of(self._state))
        value += self._prior.constant
        if self._state.n_tiers[0] == 1:
            value += self._prior.single_tier_bonus
        return float(value + self._log_prior_theta)


def run_chain(
    counts: WeakOrderCounts,
    labels: NDArray[Any],
    n_draws: int,
    rng: np.random.Generator,
    concentration: Concentration = "single",
    *,
    prior_theta: ThetaPrior | Callable[[Any], Any] | None = None,
    prior_sizes: TiersPriorName = "uniform",
    theta: float | None = None,
    warmup: int = 0,
    thin: int = 1,
) -> ChainDraws:
    """Run a Markov chain over ordered partitions of any number of items.

    Parameters
    ----------
    counts
        The data.
    labels
        Tiers to begin with: the tier of each item, counted from 0.
    n_draws
        Number of draws that are kept.
    rng
        Randomness.
    concentration
        "single" for one theta, "tier" for one per tier.
    prior_theta
        Prior of theta, Gamma(2, 2) where none is given.
    prior_sizes
        "uniform" over all sizes, "penalised" or "sceptical".
    theta
        One theta to begin with; that of greatest likelihood where none is given.
    warmup, thin
        Sweeps before the first draw, and from one draw to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2]] * 30))
    >>> draws = run_chain(counts, np.zeros(3, int), 50, np.random.default_rng(1), warmup=20)
    >>> bool((draws.labels == [0, 1, 2]).all(axis=1).mean() > 0.9)
    True
    """
    prior = Gamma(2, 2) if prior_theta is None else prior_theta
    chain = TiersChain(counts, labels, concentration, prior, prior_sizes, theta)
    drawn = np.zeros((n_draws, counts.n_items), dtype=np.int64)
    thetas = np.zeros(n_draws)
    log_posterior = np.zeros(n_draws)
    for sweep in range(-warmup, n_draws * thin):
        chain.sweep(rng)
        if sweep >= 0 and sweep % thin == thin - 1:
            row = sweep // thin
            chain.write_labels(drawn[row])
            thetas[row], log_posterior[row] = chain.theta, chain.log_posterior
    if concentration == "tier":
        thetas = draw_thetas(counts, drawn, prior, concentration, rng)
    return ChainDraws(drawn, thetas, log_posterior)
