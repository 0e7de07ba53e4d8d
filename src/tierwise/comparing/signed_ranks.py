"""Bayesian signed ranks: whether one method is better than another by at least a margin.

Differences on data sets are draws of an unknown distribution with a Dirichlet process as its prior,
of strength one half, at a difference of 0. Given weights of the differences, the sum of two of them
lies above twice the margin, within it, or below, each with some probability. The result is, over
draws of the weights, how often each of the three is the most probable.

References
----------
A. Benavoli, G. Corani, F. Mangili, M. Zaffalon and F. Ruggeri (2014). A Bayesian Wilcoxon
signed-rank test based on the Dirichlet process. ICML 2014.
A. Benavoli, G. Corani, J. Demšar and M. Zaffalon (2017). Time for a change: a tutorial for
comparing multiple classifiers through Bayesian analysis. Journal of Machine Learning Research 18.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRENGTH = 0.5
"""Strength of the prior: the number of data sets without a difference."""
_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class SignedRanks(Result):
    """Probabilities that methods differ by at least a margin, pair by pair.

    Attributes
    ----------
    rope : float
        The margin, half the region of practical equivalence.
    better : numpy.ndarray
        Probability that each method (row) is better than each other (column) by at least it.
    equivalent : numpy.ndarray
        Probability that they are practically equivalent.
    n_draws : int
        Number of draws behind the probabilities.
    """

    rope: float
    better: NDArray[np.float64]
    equivalent: NDArray[np.float64]
    n_draws: int


def signed_ranks(
    scores: NDArray[np.float64], rope: float, rng: np.random.Generator, n_draws: int = _DRAWS
) -> SignedRanks:
    """Compare methods (columns) over data sets (rows) pair by pair; higher scores are better.

    Only data sets on which both methods have a score count; a pair without any is undecided.

    Parameters
    ----------
    scores
        The scores; NaN means missing.
    rope
        Differences of less than this do not matter.
    rng
        Generator.
    n_draws
        Number of draws.
    """
    n_sets, n_methods = scores.shape
    # Gamma variables give Dirichlet weights of any of the data sets; pairs may share them.
    gammas = np.vstack(
        [rng.gamma(STRENGTH, size=(1, n_draws)), rng.exponential(size=(n_sets, n_draws))]
    )
    better, equivalent = np.zeros((2, n_methods, n_methods))
    for one in range(n_methods):
        for other in range(one + 1, n_methods):
            apart = scores[:, one] - scores[:, other]
            known = ~np.isnan(apart)
            differences = np.concatenate([[0.0], apart[known]])
            weights = gammas[np.concatenate([[True], known])]
            above, below = shares_beyond(differences, weights, rope)
            within = weights.sum(axis=0) ** 2 - above - below
            most = np.maximum(np.maximum(above, below), within)
            better[one, other] = (above == most).mean()
            better[other, one] = ((below == most) & (above != most)).mean()
            equivalent[one, other] = 1.0 - better[one, other] - better[other, one]
    equivalent = np.maximum(equivalent, equivalent.T)
    np.fill_diagonal(equivalent, 1.0)
    return SignedRanks(rope, better, equivalent, n_draws)


def shares_beyond(
    differences: NDArray[np.float64], weights: NDArray[np.float64], rope: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of pairs of differences whose mean is above a margin, and below minus it.

    Parameters
    ----------
    differences
        The differences.
    weights
        Weight of each (row) in each draw (column).
    rope
        The margin, which neither counts as above nor as below.

    Examples
    --------
    >>> above, below = shares_beyond(np.array([1.0, -3.0]), np.array([[0.5], [0.5]]), 0.0)
    >>> above, below
    (array([0.25]), array([0.75]))
    """
    order = np.argsort(differences)
    ordered, mass = differences[order], weights[order]
    sums = np.vstack([np.zeros((1, mass.shape[1])), np.cumsum(mass, axis=0)])
    # For each difference, how many of the ordered ones are too small to go above with it.
    not_above = np.searchsorted(ordered, 2.0 * rope - ordered, side="right")
    below_with = np.searchsorted(ordered, -2.0 * rope - ordered, side="left")
    above = (mass * (sums[-1] - sums[not_above])).sum(axis=0)
    below = (mass * sums[below_with]).sum(axis=0)
    return above, below
