"""A single tier against several tiers of many items, by bridge sampling between powers.

Under a prior that gives a single tier as much probability as all other tiers together, a chain that
moves items and tiers step by step hardly ever gets from many tiers to one, though that may be where
the posterior is. So the chain stays with several tiers, and how probable they are is found apart:
the likelihood is raised to powers from 0 to 1 (Friel and Pettitt, Marginal likelihood estimation
via power posteriors, Journal of the Royal Statistical Society B 70, 2008), and the sums over tiers
of neighbouring powers are compared by draws from both (Bennett, Efficient estimation of free energy
differences from Monte Carlo data, Journal of Computational Physics 22, 1976). A power of the
likelihood is that of counts that are scaled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise.inversions.chain import TiersChain
from tierwise.inversions.evidence import lines_of_tiers

if TYPE_CHECKING:
    from tierwise.data.weak_orders import WeakOrderCounts
    from tierwise.inversions.objective import Concentration
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Powers lie close together near 0, where the likelihood changes most.
_N_POWERS, _EXPONENT = 12, 4.0
_WARMUP, _DRAWS = 20, 60
# The same data give the same answer.
_SEED = 0


@dataclass(frozen=True)
class SingleTier:
    """How probable a single tier is.

    Attributes
    ----------
    log_odds
        Log of the probability of the data given a single tier over that given several.
    error
        Standard error of the log odds, from going through the powers upward and downward.
    """

    log_odds: float
    error: float

    @property
    def probability(self) -> float:
        """Posterior probability, both being equally probable before."""
        return float(np.exp(-np.logaddexp(0.0, -self.log_odds)))


def weigh_single_tier(
    counts: WeakOrderCounts, concentration: Concentration, prior_theta: ThetaPrior
) -> SingleTier:
    """Compare a single tier with several, which are penalised by their number.

    Parameters
    ----------
    counts
        The data.
    concentration
        "single" for one theta, "tier" for one per tier.
    prior_theta
        Prior of theta.
    """
    rng = np.random.default_rng(_SEED)
    powers = (np.arange(_N_POWERS + 1) / _N_POWERS) ** _EXPONENT
    scaled = [_scaled(counts, power) for power in powers.tolist()]

    def likelihoods(draws: _Integers, places: list[int]) -> _Floats:
        distinct, which = np.unique(draws, axis=0, return_inverse=True)
        values = [
            [
                lines_of_tiers(scaled[place], row, prior_theta).log_likelihood(concentration)
                for row in distinct
            ]
            for place in places
        ]
        found: _Floats = np.array(values)[:, which.ravel()]
        return found

    labels = np.arange(counts.n_items)
    estimates = []
    for upward in (True, False):
        order = range(_N_POWERS + 1) if upward else range(_N_POWERS, -1, -1)
        drawn: dict[int, _Integers] = {}
        for place in order:
            drawn[place] = _draw(scaled[place], labels, concentration, prior_theta, rng)
            labels = drawn[place][-1]
        total = 0.0
        for place in range(_N_POWERS):
            pair = [place, place + 1]
            below, above = (np.diff(likelihoods(drawn[one], pair), axis=0)[0] for one in pair)
            total += bridge(below, above)
        estimates.append(total)
    single = lines_of_tiers(counts, np.zeros(counts.n_items, dtype=np.int64), prior_theta)
    log_single = single.log_likelihood(concentration)
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


def _scaled(counts: WeakOrderCounts, power: float) -> WeakOrderCounts:
    return replace(
        counts,
        n_rankings=counts.n_rankings * power,
        above=counts.above * power,
        block_weights=counts.block_weights * power,
    )


def _draw(
    counts: WeakOrderCounts,
    labels: _Integers,
    concentration: Concentration,
    prior_theta: ThetaPrior,
    rng: np.random.Generator,
) -> _Integers:
    """Draw several tiers, beginning with given ones."""
    chain = TiersChain(counts, labels, concentration, prior_theta, "several")
    draws = np.zeros((_DRAWS, counts.n_items), dtype=np.int64)
    for sweep in range(-_WARMUP, _DRAWS):
        chain.sweep(rng)
        if sweep >= 0:
            chain.write_labels(draws[sweep])
    return draws
