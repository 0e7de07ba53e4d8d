"""How well each mistake probability explains pairwise answers, with the theta that suits it best.

Only contradictions tell mistakes from differing opinions, so the likelihood may hardly change from
few mistakes and a low theta to many and a high one. The profile shows that: the log-likelihood as a
function of the mistake probability, theta being the best for each. Its derivative by the log odds
of a mistake is the expected number of mistakes less the number that this probability makes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isnan, pi
from typing import TYPE_CHECKING

import numpy as np

from tierwise.answers.likelihood import LARGEST_FINITE_THETA_OF_UNIT
from tierwise.answers.summed_votes import SummedVotes
from tierwise.answers.votes import LEAST_MISTAKE_PROBABILITY
from tierwise.fitting.given_tiers import GivenTiers, Point, drop_of, log_odds_of

if TYPE_CHECKING:
    from tierwise.answers.base import Floats

# Points at which the profile is computed, before it is refined where it is highest.
POINTS = 12
REFINEMENTS = 2
# The profile is followed until it is so much lower than at the ends of the interval.
BEYOND = 2.0
# Points closer than this share of the mistake probability say the same.
LEAST_STEP = 1e-4
# The profile between its points is evaluated at so many.
STEPS_BETWEEN = 2000


@dataclass(frozen=True)
class Profile:
    """Points by increasing mistake probability."""

    points: tuple[Point, ...]
    unit: float

    @property
    def _curve(self) -> tuple[Floats, Floats]:
        """Mistake probabilities from end to end, and the log-likelihood less its maximum."""
        from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

        probabilities = np.array([point.probability for point in self.points])
        log_odds = np.log(probabilities / (1 - probabilities))
        scores = np.array([point.score for point in self.points])
        between = np.linspace(log_odds[0], log_odds[-1], STEPS_BETWEEN)
        between = np.unique(np.concatenate((between, log_odds)))
        known = np.array([point.value for point in self.points])
        if isnan(known[0]):
            values = PchipInterpolator(log_odds, scores).antiderivative()(between)
        else:
            values = CubicHermiteSpline(log_odds, known, scores)(between)
        return 1 / (1 + np.exp(-between)), values - values.max()

    def best(self) -> float:
        """Return the mistake probability at which the likelihood is highest."""
        probabilities, values = self._curve
        return float(probabilities[values.argmax()])

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the mistake probabilities at which the likelihood is not much lower.

        An end of the profile at which it still is not is 0 or one half.
        """
        probabilities, values = self._curve
        inside = probabilities[values >= -drop_of(confidence)]
        low, high = float(inside[0]), float(inside[-1])
        return (
            0.0 if low == probabilities[0] else low,
            0.5 if high == probabilities[-1] else high,
        )

    def theta_at(self, probability: float) -> float:
        """Return the best theta for a mistake probability, infinite if it is as good as that."""
        theta = float(self._thetas(np.array([probability]))[0])
        return inf if theta * self.unit > LARGEST_FINITE_THETA_OF_UNIT else theta

    def _thetas(self, probabilities: Floats) -> Floats:
        """Best thetas between the points, going by a scale on which infinity is not far."""
        known = [point.probability for point in self.points]
        thetas = np.array([point.theta for point in self.points]) * self.unit
        scaled = np.interp(probabilities, known, thetas / (1 + thetas))
        between: Floats = scaled / (1 - scaled) / self.unit
        return between


def profile_of(answers: GivenTiers, theta: float, confidence: float) -> Profile:
    """Compute the profile from end to end, and more closely where it is highest.

    Parameters
    ----------
    answers
        The answers and the tiers.
    theta
        Best theta for the mistake probability that the answers have.
    confidence
        Level of the intervals that are wanted.
    """
    start = answers.point(answers.votes.mistake_probability, theta)
    # Equal steps on this scale are equally hard to tell.
    angles = (np.arange(POINTS) + 0.9) * pi / 4 / POINTS
    least = max(LEAST_MISTAKE_PROBABILITY, min(0.5 / answers.votes.n_votes, 1e-3))
    probabilities = [least, *(np.sin(angles) ** 2).tolist()]
    apart = LEAST_STEP * start.probability
    upwards = [p for p in probabilities if p > start.probability + apart]
    downwards = [p for p in reversed(probabilities) if p < start.probability - apart]
    points = [start]
    for side in (upwards, downwards):
        points += _followed(answers, start, side, confidence)
    profile = Profile(tuple(sorted(points)), answers.partition.rule.unit)
    for _ in range(REFINEMENTS if isinstance(answers.votes, SummedVotes) else 1):
        profile = _refined(profile, answers, confidence)
    return profile


def _followed(
    answers: GivenTiers, start: Point, probabilities: list[float], confidence: float
) -> list[Point]:
    """Follow the profile in one direction, until it is too low to matter."""
    points = [start]
    value = highest = 0.0
    for probability in probabilities:
        last = points[-1]
        # Neighbouring points have thetas, and orderings that were drawn, in common.
        following = answers.point(probability, last.theta)
        points.append(following)
        step = log_odds_of(probability) - log_odds_of(last.probability)
        value += step * (last.score + following.score) / 2
        highest = max(highest, value)
        if value < highest - drop_of(confidence) - BEYOND:
            break
    return points[1:]


def _refined(profile: Profile, answers: GivenTiers, confidence: float) -> Profile:
    """Add points at the maximum, at the ends of the interval, and halfway."""
    best, (low, high) = profile.best(), profile.interval(confidence)
    known = [point.probability for point in profile.points]
    wanted = {low, (low + best) / 2, best, (best + high) / 2, high}
    added = [
        answers.point(probability, min(profile.theta_at(probability), answers.largest_theta))
        for probability in sorted(wanted)
        if known[0] < probability < known[-1]
        and all(abs(probability - other) > LEAST_STEP * probability for other in known)
    ]
    return replace(profile, points=tuple(sorted([*profile.points, *added])))
