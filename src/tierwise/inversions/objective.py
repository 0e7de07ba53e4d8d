"""What tiers are valued by: criterion or posterior weight, with one theta or one per line.

Every objective is a sum over lines and tiers, which is what makes the searches and sums of this
package exact or cheap.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, inf, lgamma, log, log1p
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tierwise._kernels.inversions_factorials import (
    FactorialGrid,
    make_factorial_grid,
    make_single_theta_grid,
)
from tierwise._kernels.inversions_lines import (
    FIXED,
    INTEGRATED,
    MAXIMISED,
    LineObjective,
    ThetaPriorTable,
)
from tierwise.errors import InputError
from tierwise.model.priors import Gamma, ThetaPrior, as_theta_prior
from tierwise.partition.gaussian import log_factorial_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.data.weak_orders import WeakOrderCounts

Concentration: TypeAlias = Literal["single", "line"]
"""One theta, or one for each tier but the last."""
SizesPriorName: TypeAlias = Literal["uniform", "penalised"]
TiersPriorName: TypeAlias = Literal["uniform", "penalised", "sceptical", "several"]

# A prior given as a function is tabulated at these points of log theta.
_TABLE_START, _TABLE_STEP, _TABLE_POINTS = log(1e-12), 0.005, 7000


@lru_cache(maxsize=8)
def factorial_grid(n_items: int) -> FactorialGrid:
    """Logarithms of Gaussian factorials for so many items; made once."""
    return make_factorial_grid(n_items)


def log_normaliser_of_sizes(prior_sizes: SizesPriorName, n_items: int) -> float:
    """Log of the sum over all sizes of what the prior gives them before it is normalised.

    Examples
    --------
    >>> round(log_normaliser_of_sizes("uniform", 3), 4)  # log 4
    1.3863
    """
    if prior_sizes == "uniform":
        return (n_items - 1) * log(2.0)
    if prior_sizes == "penalised":
        return (n_items - 1) * log1p(np.exp(-1.0)) - 1.0
    raise InputError(f'prior_sizes must be "uniform" or "penalised"; got {prior_sizes!r}')


def log_prior_constant(prior_sizes: SizesPriorName, n_items: int) -> float:
    """Return what the priors of sizes and of tiers given sizes add to every objective."""
    return -log_normaliser_of_sizes(prior_sizes, n_items) - lgamma(n_items + 1)


def prior_table(prior: ThetaPrior | Callable[[Any], Any], grid: FactorialGrid) -> ThetaPriorTable:
    """Write a prior of theta as what compiled code understands."""
    made = as_theta_prior(prior)
    with np.errstate(divide="ignore"):
        logs = np.log(grid.thetas)
    if isinstance(made, Gamma):
        constant = made.shape * log(made.rate) - lgamma(made.shape)
        at_nodes = constant + made.shape * logs - made.rate * grid.thetas
        return ThetaPriorTable(
            float(made.shape), float(made.rate), constant, 0.0, 1.0, np.zeros(0), at_nodes
        )
    points = _TABLE_START + _TABLE_STEP * np.arange(_TABLE_POINTS)
    extra = np.asarray(made.log_density(np.exp(points)), dtype=np.float64)
    at_nodes = np.full(len(logs), -np.inf)
    later = grid.thetas > 0.0
    at_nodes[later] = np.interp(logs[later], points, extra) + logs[later]
    return ThetaPriorTable(1.0, 0.0, 0.0, _TABLE_START, _TABLE_STEP, extra, at_nodes)


def fixed_objective(
    counts: WeakOrderCounts, theta: float, tier_constant: float = 0.0
) -> LineObjective:
    """Value tiers at one given theta."""
    grid = make_single_theta_grid(theta, counts.n_items)
    unused = ThetaPriorTable(1.0, 0.0, 0.0, 0.0, 1.0, np.zeros(0), np.zeros(1))
    return LineObjective(
        FIXED,
        grid,
        unused,
        counts.n_rankings,
        log_factorial_table(counts.n_items),
        float(tier_constant),
        1.0,
    )


def line_objective(
    counts: WeakOrderCounts,
    prior: ThetaPrior | Callable[[Any], Any] | None,
    tier_constant: float = 0.0,
) -> LineObjective:
    """Value tiers with a theta per line, maximised, or integrated where there is a prior."""
    grid = factorial_grid(counts.n_items)
    table = prior_table(Gamma(2, 2) if prior is None else prior, grid)
    return LineObjective(
        MAXIMISED if prior is None else INTEGRATED,
        grid,
        table,
        counts.n_rankings,
        log_factorial_table(counts.n_items),
        float(tier_constant),
        1.0,
    )


def tier_constant_of(prior_sizes: SizesPriorName) -> float:
    """Return what each further tier adds to the log prior of sizes."""
    log_normaliser_of_sizes(prior_sizes, 2)
    return -1.0 if prior_sizes == "penalised" else 0.0


class TiersPrior(NamedTuple):
    """Log prior probability of tiers, as a sum over tiers but for the single tier."""

    tier_constant: float
    """What each tier adds, besides the log of the number of orders of its items."""
    single_tier_bonus: float
    """What is added where there is only one tier."""
    constant: float
    """What is added whatever the tiers."""


def tiers_prior(prior_sizes: TiersPriorName, n_items: int) -> TiersPrior:
    """Return the prior of tiers that are equally probable given their sizes.

    "sceptical" is "penalised" with so much more for the single tier that it has one half;
    "several" is "penalised" without the single tier.

    Examples
    --------
    >>> import numpy as np
    >>> prior = tiers_prior("sceptical", 2)  # one tier; either order of two
    >>> single = np.log(2) + prior.tier_constant + prior.single_tier_bonus + prior.constant
    >>> strict = 2 * prior.tier_constant + prior.constant
    >>> np.exp([single, strict]).round(4).tolist()
    [0.5, 0.25]
    """
    if prior_sizes in ("uniform", "penalised") or n_items == 1:
        name: SizesPriorName = "uniform" if prior_sizes == "uniform" else "penalised"
        return TiersPrior(tier_constant_of(name), 0.0, log_prior_constant(name, n_items))
    # Log of the sum over all sizes of several tiers of exp(1 - number of tiers).
    bonus = log(expm1((n_items - 1) * log1p(exp(-1.0))))
    constant = 1.0 - bonus - lgamma(n_items + 1)
    if prior_sizes == "several":
        return TiersPrior(-1.0, -inf, constant)
    return TiersPrior(-1.0, bonus, constant - log(2.0))
