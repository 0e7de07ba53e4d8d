"""Credible bands of rank-tier probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import InputError
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.tiers.ordered_partition import Tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.tiers.sizes import Sizes

# Thetas, equally probable, at which the probabilities are computed.
_N_THETAS = 201


@dataclass(frozen=True, eq=False)
class RankTierBands:
    """How likely each place is to hold an item of each tier, with credible bands.

    Attributes
    ----------
    sizes
        Sizes of the tiers.
    level
        Probability that a value lies in its band.
    mean, low, high
        ``[place, tier]``, both counted from 0: posterior mean, and the ends of the band.
    """

    sizes: Sizes
    level: float
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def bands_of(
    sizes: Sizes, distance: str, thetas: NDArray[np.float64], level: float
) -> RankTierBands:
    """Compute the probabilities at quantiles of theta, and take quantiles of them."""
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, such as 0.95; got {level!r}")
    tiers = Tiers.from_sizes(sizes, range(sum(sizes)))
    shares = (np.arange(_N_THETAS) + 0.5) / _N_THETAS
    values = np.stack(
        [
            ClusteredMallows(tiers, theta, distance).rank_tier_probabilities().probabilities
            for theta in np.quantile(thetas, shares).tolist()
        ]
    )
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], axis=0, method="hazen")
    return RankTierBands(sizes, level, values.mean(axis=0), low, high)
