"""Numbers that tell a model that fits from one that does not."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.checking.expected import Orderings
    from tierwise.tiers.sizes import Sizes

_REPLICATES = 200
_MOST_ROWS_OF_A_REPLICATE = 1000


def crossings(sequences: NDArray[np.int64], sizes: Sizes) -> NDArray[np.float64]:
    """Count the items that cross each line between tiers, from above to below.

    Parameters
    ----------
    sequences
        ``sequences[row, place]`` is the tier, counted from 0, of the item in a place.
    sizes
        Sizes of the tiers.
    """
    counts = [
        (sequences[:, :end] > tier).sum(axis=1)
        for tier, end in enumerate(np.cumsum(sizes)[:-1].tolist())
    ]
    if not counts:
        return np.zeros((len(sequences), 0))
    return np.column_stack(counts).astype(np.float64)


@dataclass(frozen=True)
class Moments:
    """Means and covariances of some numbers of an ordering, and what the distance tells of them."""

    means: NDArray[np.float64]
    covariances: NDArray[np.float64]


def moments_given_distance(
    values: NDArray[np.float64], distances: NDArray[np.float64], weights: NDArray[np.float64]
) -> Moments:
    """Return means, and covariances of what the distance does not explain.

    Theta is fitted so that the mean distance is what it should be. What varies with the distance
    therefore cannot deviate, and only the rest may count as evidence against the model.
    """
    means = weights @ values
    centred = values - means
    deviations = distances - weights @ distances
    variance = float(weights @ deviations**2)
    if variance > 0:
        slopes = (weights * deviations) @ centred / variance
        centred = centred - np.outer(deviations, slopes)
    return Moments(means, (weights[:, None] * centred).T @ centred)


def chi_square_score(
    deviations: NDArray[np.float64], covariances: NDArray[np.float64]
) -> tuple[float, int]:
    """Return how far deviations are from 0 in view of their covariances, and in how many ways."""
    if not len(deviations):
        return 0.0, 0
    values, vectors = np.linalg.eigh(covariances)
    varying = values > 1e-9 * max(float(values[-1]), 1e-300)
    parts = vectors[:, varying].T @ deviations
    return float((parts**2 / values[varying]).sum()), int(varying.sum())


def standard_score(chi_square: float, freedom: int) -> float:
    """Turn a chi-square value into a standard normal score (Wilson and Hilferty)."""
    if freedom == 0:
        return 0.0
    spread = 2.0 / (9.0 * freedom)
    return float(((chi_square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


def tail(score: float) -> float:
    """Return the probability of a standard normal score at least as large."""
    return NormalDist().cdf(-score)


def excess_direction(
    places: NDArray[Any], weights: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the largest variance of ranks beyond the expected one, and its direction.

    Parameters
    ----------
    places
        ``places[row, item]``.
    weights
        Weights that sum to 1.
    expected
        The covariances of the places that the model expects.
    """
    values, vectors = np.linalg.eigh(place_covariances(places, weights) - expected)
    return float(values[-1]), vectors[:, -1]


def place_covariances(places: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the covariances of the places of the items."""
    centred = places - weights @ places
    covariances: NDArray[np.float64] = (weights[:, None] * centred).T @ centred
    return covariances


def score_of_excess(
    excess: float,
    orderings: Orderings,
    expected: NDArray[np.float64],
    n_rankings: float,
    rng: np.random.Generator,
) -> float:
    """Return how unusual an excess of variance is, in standard deviations, if the model holds."""
    n_rows = max(2, round(min(n_rankings, _MOST_ROWS_OF_A_REPLICATE)))
    even = np.full(n_rows, 1.0 / n_rows)
    replicates = np.empty(_REPLICATES)
    for number in range(_REPLICATES):
        rows = rng.choice(len(orderings.places), size=n_rows, p=orderings.weights)
        replicates[number], _ = excess_direction(orderings.places[rows], even, expected)
    # The largest eigenvalue of noise shrinks with the square root of the number of rankings.
    shrink = (n_rows / n_rankings) ** 0.5
    spread = float(replicates.std(ddof=1))
    return float((excess - shrink * replicates.mean()) / (shrink * spread)) if spread > 0 else 0.0
