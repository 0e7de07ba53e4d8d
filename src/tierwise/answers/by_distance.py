"""Answers given tiers, at any theta: completions counted by distance, where that is less work.

Distances are whole numbers of units, so one pass over the completions of answers counts how many
have each distance, and says all about theta. It takes as long as a few passes that sum over them at
one theta each, where distances are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tierwise.answers.base import Sums

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import Floats

# Distances up to which all are counted before a theta is sought: Kendall and 14 items.
MOST_UNITS = 100
# Numbers that are held to count them: 32 MB.
MOST_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class CountedByDistance:
    """Answers whose completions are counted by their distance.

    Attributes
    ----------
    ways
        ``ways[answer, n]``: completions that are ``n`` units farther from the tiers than the
        closest ones, up to a factor.
    weights
        The weight of each answer.
    constant
        What the factors add to the log weight of all answers.
    closest
        The distance of the closest completions, over all answers.
    unit
        The distance that a unit is.

    Examples
    --------
    >>> one = CountedByDistance(np.array([[1.0, 1.0]]), np.array([2.0]), 0.0, 3.0, 1.0)
    >>> one.sums(0.0)
    Sums(log_weight=1.3862943611198906, mean=4.0, variance=0.5)
    """

    ways: Floats
    weights: Floats
    constant: float
    closest: float
    unit: float

    @classmethod
    def of(
        cls,
        fewest: npt.NDArray[np.int64],
        ways: Floats,
        constant: float,
        weights: Floats,
        unit: float,
    ) -> CountedByDistance:
        """Put together what a kernel counts: the fewest units, and ways with so many more."""
        farthest = int(np.flatnonzero(ways.any(axis=0))[-1])
        return cls(
            np.ascontiguousarray(ways[:, : farthest + 1]),
            weights,
            constant,
            unit * float(weights @ fewest),
            unit,
        )

    def sums(self, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        moments = _moments(self.ways.shape[1])
        weighed = self.ways @ (np.exp(-theta * self.unit * moments[:, 1:2]) * moments)
        totals = weighed[:, 0]
        means = weighed[:, 1] / totals
        variances = np.maximum(weighed[:, 2] / totals - means * means, 0.0)
        log_weight = self.constant - theta * self.closest + float(self.weights @ np.log(totals))
        mean = self.closest + self.unit * float(self.weights @ means)
        return Sums(log_weight, mean, self.unit**2 * float(self.weights @ variances))

    def log_weights_at(self, thetas: Floats) -> Floats:
        """Sum of the log weights of all answers at each of many thetas."""
        units = self.unit * _moments(self.ways.shape[1])[:, 1]
        logs = np.log(self.ways @ np.exp(-np.outer(units, thetas)))
        summed: Floats = self.weights @ logs + self.constant - thetas * self.closest
        return summed


@cache
def _moments(width: int) -> Floats:
    """``[units, power]``: powers of 0, 1, 2, ... units."""
    return np.arange(width)[:, None] ** np.arange(3.0)
