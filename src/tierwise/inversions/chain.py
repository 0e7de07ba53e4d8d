"""Markov chain Monte Carlo over tiers, sizes and theta under inversions; bridge sampling with it.

Items are drawn into tiers by Gibbs steps, tiers change by Metropolis steps, and theta by slice
sampling; with a theta per line the thetas are integrated out of all steps and drawn afterwards.

Under a prior that gives a single tier as much probability as all other tiers together, a chain that
moves items and tiers step by step hardly ever gets from many tiers to one, though that may be where
the posterior is. So the chain stays with several tiers, and how probable they are is found apart:
the likelihood is raised to powers from 0 to 1, and the sums over tiers of neighbouring powers are
compared by draws from both.

References
----------
C. H. Bennett (1976). Efficient estimation of free energy differences from Monte Carlo data. Journal
of Computational Physics 22, 245-268.

N. Friel and A. N. Pettitt (2008). Marginal likelihood estimation via power posteriors. Journal of
the Royal Statistical Society B 70, 589-607.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.comparisons import LARGEST_THETA, LEAST_THETA
from tierwise._kernels.inversions_chain import run_sweeps
from tierwise._kernels.inversions_lines import LARGEST_GRID_THETA
from tierwise._kernels.inversions_partition import load
from tierwise._kernels.ordered_partition import make_dealing
from tierwise.inversions.objective import (
    Concentration,
    TiersPriorName,
    line_objective,
    tiers_prior,
)
from tierwise.inversions.searching import board_of
from tierwise.theta.density import prior_table
from tierwise.theta.estimate import best_theta_of_lines
from tierwise.tiers import check_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise._kernels.theta import PriorTable
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

_LEAST_START = 1e-3
# Powers of the likelihood lie close together near 0, where it changes most.
POWERS = (np.arange(13) / 12) ** 4.0
WARMUP, DRAWS = 20, 60
# Log odds below which a single tier does not occur among any number of draws.
_SETTLED = -30.0


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
        self._table: PriorTable | None = None
        objective = None
        if concentration == "single":
            if theta is None:
                likely = best_theta_of_lines(counts, begin)
                theta = min(max(likely, _LEAST_START), LARGEST_GRID_THETA / 4)
            self._table = prior_table(prior_theta, within=(LEAST_THETA, LARGEST_THETA))
        else:
            theta = np.inf
            objective = line_objective(counts, prior_theta)
        tier_values = self._prior.tier_values(counts.n_items)
        self._board = board_of(counts, tier_values, objective, theta)
        self._room = make_dealing(counts.n_items)
        load(self._board.tiers, self._board.ties, begin)

    def run(self, n_sweeps: int, rng: np.random.Generator) -> tuple[_Integers, _Floats]:
        """Return tiers, counted from 0, one row per sweep, and thetas; NaN with one per line."""
        board, bonus, room = self._board, self._prior.single_tier_bonus, self._room
        labels = np.empty((n_sweeps, len(room.members)), np.int64)
        numbers = np.full((n_sweeps, 3), np.nan)
        run_sweeps(board, board.lines, self._table, bonus, room, labels, numbers, rng)
        return labels, numbers[:, 0]


@dataclass(frozen=True)
class SingleTier:
    """How probable a single tier is.

    Attributes
    ----------
    log_odds
        Log of the probability of the data given a single tier over that given several.
    error
        Standard error of the log odds, from going through the powers upward and downward.
    at_most
        Whether the log odds are a bound from above, which is as good where it is low.
    """

    log_odds: float
    error: float
    at_most: bool = False

    @property
    def probability(self) -> float:
        """Posterior probability, both being equally probable before."""
        return float(np.exp(-np.logaddexp(0.0, -self.log_odds)))

    def facts(self) -> dict[str, Any]:
        """Return the log odds as plain values."""
        return {
            "single_tier_log_odds": self.log_odds,
            "single_tier_log_odds_error": self.error,
            "single_tier_log_odds_at_most": self.at_most,
        }


def settled_by_bound(log_odds_at_most: float) -> bool:
    """Whether a single tier is so improbable that no draw would be one."""
    return log_odds_at_most < _SETTLED


def single_tier_by_powers(
    draw: Callable[[int], _Floats | _Integers],
    log_ratios: Callable[[int, Any], _Floats],
    log_single: float,
) -> SingleTier:
    """Compare a single tier with several by bridge sampling between powers of the likelihood.

    Parameters
    ----------
    draw
        Goes on with a chain, and returns its draws at one of `POWERS`, given by its number: as many
        as `DRAWS`, after `WARMUP` sweeps.
    log_ratios
        Log-likelihood at the next of the powers less that at the one given, of each draw.
    log_single
        Log-likelihood of a single tier.
    """
    estimates = []
    for upward in (True, False):
        order = range(len(POWERS)) if upward else reversed(range(len(POWERS)))
        drawn = {number: draw(number) for number in order}
        estimates.append(
            sum(
                bridge(log_ratios(number, drawn[number]), log_ratios(number, drawn[number + 1]))
                for number in range(len(POWERS) - 1)
            )
        )
    error = abs(estimates[0] - estimates[1]) / 2
    return SingleTier(log_single - float(np.mean(estimates)), error)


def bridge(below: _Floats, above: _Floats) -> float:
    """Log of the ratio of two sums, from log ratios of their terms at draws from both.

    Parameters
    ----------
    below, above
        Log of a term of the upper sum over that of the lower, at draws by the lower terms and at
        equally many draws by the upper.

    Examples
    --------
    >>> import numpy as np
    >>> terms = np.log(np.array([2.0, 4.0]))  # lower terms 1 and 1, upper terms 2 and 4
    >>> lower, upper = terms[[0, 1] * 3], terms[[0, 1, 1] * 2]
    >>> round(float(np.exp(bridge(lower, upper))), 4)  # (2 + 4) / (1 + 1)
    3.0
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    def excess(log_ratio: float) -> float:
        return float(expit(below - log_ratio).sum() - expit(log_ratio - above).sum())

    low = float(min(below.min(), above.min())) - 1.0
    high = float(max(below.max(), above.max())) + 1.0
    return float(brentq(excess, low, high, xtol=1e-10))
