"""Worths as they are shown: intervals, and strengths on the Elo scale."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.results import Result
from tierwise._util.types import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.luce.worths import Worths

ELO = 400.0 / log(10.0)
"""Points on the Elo scale per unit of log worth: 400 points are odds of ten to one."""


@dataclass(frozen=True, eq=False)
class WorthEstimate(Result):
    """The worth of a tier, and how sure it is.

    Attributes
    ----------
    value
        The most probable worth; the geometric mean over all items is 1.
    log_standard_error
        Standard error of its logarithm.
    interval
        Interval of the worth.
    """

    value: float
    log_standard_error: float
    interval: tuple[float, float]

    @property
    def strength(self) -> float:
        """The worth on the Elo scale, ``400 log10(worth)``."""
        return ELO * log(self.value)

    @property
    def strength_interval(self) -> tuple[float, float]:
        """The interval on the Elo scale."""
        low, high = self.interval
        return ELO * log(low), ELO * log(high)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        fields = {
            **vars(self),
            "strength": self.strength,
            "strength_interval": self.strength_interval,
        }
        return {name: plain(value) for name, value in fields.items()}


def estimate_worths(worths: Worths, level: float) -> tuple[WorthEstimate, ...]:
    """Give each tier its worth with a normal interval of its logarithm.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.races import races_of
    >>> from tierwise.luce.worths import best_worths
    >>> battles = tw.Battles.from_rows([("x", "y", "x")] * 8 + [("x", "y", "y")] * 2)
    >>> first, second = estimate_worths(best_worths(races_of(battles), np.array([0, 1])), 0.95)
    >>> round(first.value, 3), round(first.strength), round(second.strength)
    (1.732, 95, -95)
    """
    covariance = worths.covariance if worths.n_tiers > 1 else np.zeros((1, 1))
    return estimates_of_logs(worths.logs, np.bincount(worths.labels), covariance, level)


def estimates_of_logs(
    logs: NDArray[np.float64],
    sizes: NDArray[np.int64],
    covariance: NDArray[np.float64],
    level: float,
) -> tuple[WorthEstimate, ...]:
    """Give log worths of tiers, whatever their scale, a mean over items of 0, and intervals.

    Parameters
    ----------
    logs, sizes
        Log worths and sizes of the tiers.
    covariance
        Covariances of the log worths; NaN where there are none.
    level
        Level of the intervals.
    """
    shares = sizes / sizes.sum()
    centring = np.eye(len(logs)) - shares
    logs, covariance = logs - shares @ logs, centring @ covariance @ centring.T
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    reach = NormalDist().inv_cdf(0.5 + level / 2.0)
    return tuple(
        WorthEstimate(exp(value), error, (exp(value - reach * error), exp(value + reach * error)))
        for value, error in zip(logs.tolist(), errors.tolist(), strict=True)
    )
