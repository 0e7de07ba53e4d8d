"""Worths and effects as they are shown: intervals, strengths on the Elo scale, shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, lgamma, log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.results import Result
from tierwise._util.types import plain
from tierwise.luce.worths import best_worths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.meetings import EffectName
    from tierwise.answers.races import Races
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


@dataclass(frozen=True, eq=False)
class EffectEstimate(Result):
    """What battles depend on beside worths, and how sure that is.

    Attributes
    ----------
    name
        "position": the advantage of being shown first. "draws": how often battles are drawn.
    value
        The factor: that of the first item's worth, or Davidson's nu.
    log_standard_error
        Standard error of its logarithm.
    interval
        Interval of the factor.
    share
        What it says of battles between equals: the share of the decided ones that is won by the
        item shown first, or the share that is drawn.
    share_interval
        Interval of that share.
    log_evidence_gain
        By how much the log evidence, given the tiers, is larger than without the effect. Without
        "position" it does not matter who is shown first; without "draws" all battles are drawn
        with the same probability.
    """

    name: EffectName
    value: float
    log_standard_error: float
    interval: tuple[float, float]
    share: float
    share_interval: tuple[float, float]
    log_evidence_gain: float

    def sentence(self) -> str:
        """Say what the effect is, and whether the battles speak for it."""
        low, high = self.share_interval
        share = f"{self.share:.1%} ({low:.1%} to {high:.1%})"
        gain = f"{abs(self.log_evidence_gain):,.1f}"
        ahead = self.log_evidence_gain >= 0
        if self.name == "position":
            said = f"The item shown first wins {share} of decided battles between equals"
            verdict = "for" if ahead else "against"
            return f"{said}; the log evidence {verdict} such an advantage is {gain}."
        said = f"Between equals, {share} of battles are drawn; between others, fewer"
        verdict = "better" if ahead else "worse"
        return (
            f"{said}. This is {gain} {verdict} in log evidence than the same probability of a "
            "draw in all battles."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return {name: plain(value) for name, value in vars(self).items()}


def estimate_effects(races: Races, worths: Worths, level: float) -> tuple[EffectEstimate, ...]:
    """Give each effect its factor, what that says of equals, and the evidence for it.

    Parameters
    ----------
    races, worths
        The answers, and the worths found for the tiers.
    level
        Level of the intervals.
    """
    names = races.meetings.effects
    factors = dict(zip(names, np.exp(worths.effects).tolist(), strict=True))
    if not names:
        return ()
    errors = np.sqrt(np.diag(worths.joint_covariance)[worths.n_tiers :]).tolist()
    reach = NormalDist().inv_cdf(0.5 + level / 2.0)
    found = []
    for name, error in zip(names, errors, strict=True):
        value, step = factors[name], exp(reach * error)
        others = 1.0 if name == "position" else 1.0 + factors.get("position", 1.0)

        def share(factor: float, others: float = others) -> float:
            return factor / (factor + others)

        found.append(
            EffectEstimate(
                name,
                value,
                error,
                (value / step, value * step),
                share(value),
                (share(value / step), share(value * step)),
                worths.log_evidence - _log_evidence_without(races, worths, name),
            )
        )
    return tuple(found)


def _log_evidence_without(races: Races, worths: Worths, effect: EffectName) -> float:
    """Log evidence of the same tiers and outcomes, an effect being left out.

    Without Davidson's model battles are drawn with one probability, which is uniform a priori, and
    worths decide those that are not.
    """
    meetings = races.meetings
    others = replace(races, meetings=meetings.without(effect))
    evidence = best_worths(others, worths.labels, worths.logs, worths.shape).log_evidence
    if effect == "draws":
        n_drawn, n_met = float(meetings.draws.sum()), float(meetings.met.sum())
        evidence += lgamma(n_drawn + 1) + lgamma(n_met - n_drawn + 1) - lgamma(n_met + 2)
    return evidence


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
        Covariances of the log worths; NaN if there are none.
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
