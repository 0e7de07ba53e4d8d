"""What a comparison would say about the order of items: normal strengths, and what is open of them.

Strengths, one for each item, are about normal given the answers (Laplace's approximation of Luce's
model). Two items are above or below; each of these orders expects some difference of their
strengths. A comparison observes the difference of the two items shown, and through the covariance
all others: the information about orders is, to first order, half the variance that it explains of
what the orders expect (the entropy of each order falls so much).

Draws of tiers (`tierwise.planning.orders`) know more, but where they all agree they say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tierwise.answers.races import races_of
from tierwise.luce.worths import best_worths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise.data.battles import Battles
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Strengths:
    """Strengths of items, on the scale of log worths.

    Attributes
    ----------
    means
        Most probable strengths.
    covariance
        Their covariance; strengths sum to 0.
    """

    means: Floats
    covariance: Floats

    @property
    def variances_of_differences(self) -> Floats:
        """Variance of the difference of each pair."""
        return _of_differences(self.covariance)

    def precision(self, one: int, other: int) -> float:
        """How precisely one comparison of two items observes their difference."""
        return float(self.precisions[one, other])

    @cached_property
    def precisions(self) -> Floats:
        """How precisely one comparison of each pair observes their difference: p (1 - p)."""
        chances = 1.0 / (1.0 + np.exp(self.means - self.means[:, None]))
        return np.asarray(chances * (1.0 - chances))

    def observe(self, items: Sequence[int], precision: float) -> Strengths:
        """Return the strengths as they would be known after a comparison, whoever wins."""
        one, other = items
        change = self.covariance[:, one] - self.covariance[:, other]
        share = precision / (1.0 + precision * (change[one] - change[other]))
        return replace(self, covariance=self.covariance - share * np.outer(change, change))


def strengths_of(data: Rankings | Preferences | Battles) -> Strengths:
    """Find the strengths that answers of any kind are about.

    Examples
    --------
    >>> import tierwise as tw
    >>> battles = tw.Battles.from_rows([("x", "y", "x")] * 8 + [("x", "y", "y")] * 2)
    >>> found = strengths_of(battles)
    >>> found.means.round(2)
    array([ 0.55, -0.55])
    >>> round(float(found.variances_of_differences[0, 1]), 3)  # 12 comparisons, won with 3 of 4
    0.444
    """
    races = races_of(data)
    n_items = races.n_items
    worths = best_worths(races, np.arange(n_items))
    # Effects beside worths are averaged over; without a scale the mean of strengths is 0.
    covariance = np.linalg.pinv(worths.precision, hermitian=True)[:n_items, :n_items]
    return Strengths(worths.logs, np.asarray(covariance, dtype=np.float64))


def openness(strengths: Strengths) -> Floats:
    """How much one unit of variance that is explained of each difference says about the order.

    Returns
    -------
    numpy.ndarray
        Variance of the difference that the order expects, over the squared variance of the
        difference.
    """
    from scipy.special import log_ndtr

    variances = strengths.variances_of_differences
    np.fill_diagonal(variances, 1.0)
    scores = (strengths.means[:, None] - strengths.means) / np.sqrt(variances)
    # Squared density over the probabilities of above and below: both Mills ratios, multiplied.
    logs = -(scores**2) - np.log(2.0 * np.pi) - log_ndtr(scores) - log_ndtr(-scores)
    weights = np.exp(logs) / variances
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights)


def gains_of_comparisons(strengths: Strengths, weights: Floats) -> Floats:
    """Information of one comparison of each pair of items about the orders of all, in bits."""
    spread = np.diag(weights.sum(axis=1)) - weights
    explained = _of_differences(strengths.covariance @ spread @ strengths.covariance)
    precisions = strengths.precisions
    shares = precisions / (1.0 + precisions * strengths.variances_of_differences)
    return np.asarray(0.5 / np.log(2.0) * shares * np.maximum(explained, 0.0))


def _of_differences(covariance: Floats) -> Floats:
    """Variance of the difference of each pair."""
    diagonal = np.diag(covariance)
    return np.asarray(diagonal[:, None] + diagonal - 2.0 * covariance)
