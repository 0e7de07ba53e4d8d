"""Markov chain Monte Carlo over tiers, sizes and theta with the distance ``inversions``.

Items are drawn into tiers by Gibbs steps, tiers change by Metropolis steps, and theta by slice
sampling; with a theta per line the thetas are integrated out of all steps and drawn afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import inversions_chain as kernels
from tierwise._kernels.inversions_factorials import LARGEST_GRID_THETA
from tierwise._kernels.inversions_partition import load, value_of, write_labels
from tierwise.inversions.evidence import lines_of_tiers
from tierwise.inversions.objective import (
    Concentration,
    SizesPriorName,
    fixed_objective,
    line_objective,
    log_prior_constant,
    prior_table,
    tier_constant_of,
)
from tierwise.inversions.searching import make_state
from tierwise.inversions.thetas import check_labels, estimate_one_theta
from tierwise.model.priors import Gamma, ThetaPrior

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.data.weak_orders import WeakOrderCounts

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

_SLICE_WIDTH = 0.3
_PROPOSALS_PER_SWEEP = 4


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


def run_chain(
    counts: WeakOrderCounts,
    labels: NDArray[Any],
    n_draws: int,
    rng: np.random.Generator,
    concentration: Concentration = "single",
    *,
    prior_theta: ThetaPrior | Callable[[Any], Any] | None = None,
    prior_sizes: SizesPriorName = "uniform",
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
        "single" for one theta, "line" for one per tier.
    prior_theta
        Prior of theta, Gamma(2, 2) where none is given.
    prior_sizes
        "uniform" over all sizes or "penalised".
    theta
        One theta to begin with; that of greatest likelihood where none is given.
    warmup, thin
        Sweeps before the first draw, and from one draw to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.weak_orders import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2]] * 30))
    >>> draws = run_chain(counts, np.zeros(3, int), 50, np.random.default_rng(1), warmup=20)
    >>> bool((draws.labels == [0, 1, 2]).all(axis=1).mean() > 0.9)
    True
    """
    prior = Gamma(2, 2) if prior_theta is None else prior_theta
    current = check_labels(labels, counts.n_items)
    constant = log_prior_constant(prior_sizes, counts.n_items)
    single = concentration == "single"
    if single:
        begin = estimate_one_theta(counts, current).value if theta is None else theta
        begin = min(max(float(begin), 1e-3), LARGEST_GRID_THETA / 4)
        objective = fixed_objective(counts, begin, tier_constant_of(prior_sizes))
        objective = objective._replace(prior=prior_table(prior, objective.grid))
    else:
        objective = line_objective(counts, prior, tier_constant_of(prior_sizes))
    state = make_state(counts, objective)
    load(state, current)
    n_items = counts.n_items
    drawn = np.zeros((n_draws, n_items), dtype=np.int64)
    thetas = np.zeros(n_draws)
    log_posterior = np.zeros(n_draws)
    mean_weight = max(counts.n_rankings, 1.0)
    for sweep in range(-warmup, n_draws * thin):
        kernels.draw_places(objective, state, rng.permutation(n_items), rng.random(n_items))
        kernels.exchange_at_random(objective, state, 1.0 - rng.random((n_items // 2 + 1, 4)))
        # Leads are sums over a tier of differences of counts; scaled to a few units.
        strength = 2.0 / np.sqrt(mean_weight * n_items)
        uniforms = 1.0 - rng.random((_PROPOSALS_PER_SWEEP, n_items + 3))
        kernels.change_tiers(objective, state, strength, uniforms * (1.0 - 1e-12))
        log_prior_theta = 0.0
        if single:
            log_prior_theta = kernels.draw_theta(objective, state, _SLICE_WIDTH, rng)
        if sweep >= 0 and sweep % thin == thin - 1:
            row = sweep // thin
            write_labels(state, drawn[row])
            thetas[row] = objective.grid.thetas[0]
            log_posterior[row] = value_of(objective, state) + constant + log_prior_theta
    if single:
        return ChainDraws(drawn, thetas, log_posterior)
    return ChainDraws(drawn, _line_thetas(counts, drawn, prior, rng), log_posterior)


def _line_thetas(
    counts: WeakOrderCounts,
    labels: _Integers,
    prior: ThetaPrior | Callable[[Any], Any],
    rng: np.random.Generator,
) -> _Floats:
    """Draw theta of each line given tiers."""
    distinct, which = np.unique(labels, axis=0, return_inverse=True)
    thetas = np.full((len(labels), max(int(labels.max()), 1)), np.nan)
    by_tiers = which.ravel()
    for number, row in enumerate(distinct):
        lines = lines_of_tiers(counts, row, prior)
        for draw in np.flatnonzero(by_tiers == number).tolist():
            found = lines.line_thetas(rng.random(counts.n_items))
            thetas[draw, : len(found)] = found
    return thetas
