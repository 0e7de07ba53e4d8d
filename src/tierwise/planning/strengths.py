"""Strengths of items without ties: about normal, given the answers.

There is one strength for each item, on the scale of log worths (Laplace's approximation of Luce's
model). Strengths leave open what draws of tiers seem to exclude, because no draw has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise.answers.races import races_of
from tierwise.luce.worths import best_worths

if TYPE_CHECKING:
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

    def draw(self, number: int, rng: np.random.Generator) -> Floats:
        """Draw strengths, one row each.

        The root of the covariance is the symmetric one, which is the same on all machines, while
        eigenvectors of equal eigenvalues are whatever the linear algebra library makes of them.
        """
        values, vectors = np.linalg.eigh(self.covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return np.asarray(self.means + rng.standard_normal((number, len(values))) @ root)


def strengths_of(data: Rankings | Preferences | Battles) -> Strengths:
    """Find the strengths that answers of any kind are about.

    Examples
    --------
    >>> import tierwise as tw
    >>> battles = tw.Battles.from_rows([("x", "y", "x")] * 8 + [("x", "y", "y")] * 2)
    >>> found = strengths_of(battles)
    >>> found.means.round(2)
    array([ 0.55, -0.55])
    >>> found.covariance.round(3)  # 12 comparisons, won with 3 of 4: 0.444 for the difference
    array([[ 0.111, -0.111],
           [-0.111,  0.111]])
    """
    races = races_of(data)
    worths = best_worths(races, np.arange(races.n_items))
    return Strengths(worths.logs, worths.covariance)
