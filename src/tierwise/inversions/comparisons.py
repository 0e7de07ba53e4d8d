"""Independent comparisons of pairs under tiers: win probabilities and log-likelihood.

Where every comparison is made by somebody else, the answers are independent, and all that is needed
of them is how often each item has won against each other one. Several comparisons by one judge are
dependent under the model; then this is a composite likelihood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.errors import InputError
from tierwise.inversions.probabilities import pair_probabilities, sizes_of_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def win_probabilities(sizes: Sequence[int], theta: float) -> NDArray[np.float64]:
    """Probability that an item of one tier (row) beats one of another (column).

    Examples
    --------
    >>> win_probabilities((1, 1), 1.0).round(4)
    array([[0.5   , 0.7311],
           [0.2689, 0.5   ]])
    """
    return pair_probabilities(sizes, float(theta))


def log_likelihood_of_wins(wins: NDArray[Any], labels: NDArray[Any], theta: float) -> float:
    """Log-likelihood of independent comparisons.

    Parameters
    ----------
    wins
        ``wins[a, b]`` is how often ``a`` was preferred to ``b``; a drawn comparison counts half to
        each side.
    labels
        Tier of each item, counted from 0.
    theta
        The one theta.

    Examples
    --------
    >>> import numpy as np
    >>> wins = np.array([[0, 3], [1, 0]])
    >>> round(log_likelihood_of_wins(wins, np.array([0, 1]), 1.0), 4)
    -2.253
    """
    counts = np.asarray(wins, dtype=np.float64)
    places = np.asarray(labels, dtype=np.int64)
    if counts.shape != (len(places), len(places)):
        raise InputError(f"wins must be a square table of {len(places)} items")
    probabilities = win_probabilities(sizes_of_labels(places), theta)
    chances = probabilities[places[:, None], places[None, :]]
    played = (counts > 0.0) & ~np.eye(len(places), dtype=bool)
    with np.errstate(divide="ignore"):
        return float((counts[played] * np.log(chances[played])).sum())
