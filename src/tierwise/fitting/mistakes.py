"""Pairwise answers that may be mistaken: EM, SAEM, and the profile likelihood.

Only contradictions distinguish mistakes from differing opinions, so the likelihood may hardly
change from few mistakes and a low theta to many and a high one. The profile of given tiers shows
that: the log-likelihood as a function of the mistake probability, theta being the best for each.
Its derivative by the log odds of a mistake is the expected number of mistakes less the number that
this probability makes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import singledispatch
from math import exp, inf, isinf, isnan, log, nan, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from tierwise._kernels.consensus import total_cost
from tierwise.answers.given_sizes import (
    LARGEST_FINITE_THETA_OF_UNIT,
    LARGEST_THETA_OF_UNIT,
    Likelihood,
)
from tierwise.answers.votes import LEAST_MISTAKE_PROBABILITY, DrawnVotes, SummedVotes
from tierwise.fitting.em import climb, maximise, maximum_at, settle, starts_of
from tierwise.theta.estimate import ThetaEstimate, best_theta

if TYPE_CHECKING:
    from tierwise._util.types import Estimate
    from tierwise.answers.base import Floats, Labels
    from tierwise.answers.votes import Moments
    from tierwise.partition.base import PartitionFunction

# Steps towards the best theta at each point, where orderings are drawn, and their share of draws.
STEPS, EFFORT_OF_A_STEP = 2, 0.25
# Work of an evaluation up to which the ends of the interval of theta are searched for.
MOST_WORK_FOR_ENDS = 5_000_000
MOST_NEWTON_STEPS = 30
# The likelihood is followed in steps that begin with a share of the standard error, and grow.
STEP_IN_ERRORS, GROWTH_OF_STEPS = 0.7, 1.3
LARGEST_ERROR = 0.7
# A theta per unit of distance that is as good as none.
LEAST_THETA_OF_UNIT = 1e-3
# Points at which the profile is computed, before it is refined where it is highest.
POINTS = 12
# The profile is followed until it is so much lower than at the ends of the interval.
BEYOND = 2.0
# Points closer than this share of the mistake probability say the same.
LEAST_STEP = 1e-4
# Tiers, and theta with the mistake probability, are found in turn; usually twice is enough.
MOST_ROUNDS = 20
# The profile between its points is evaluated at so many.
STEPS_BETWEEN = 2000


def log_odds_of(probability: float) -> float:
    """Return the log odds of a probability."""
    return log(probability / (1 - probability))


def drop_of(level: float) -> float:
    """By how much the log-likelihood is lower at the ends of an interval."""
    return NormalDist().inv_cdf((1 + level) / 2) ** 2 / 2


class Point(NamedTuple):
    """The best theta for a mistake probability, and what the likelihood looks like there.

    ``score`` is the derivative of the log-likelihood by the log odds of a mistake, ``value`` the
    log-likelihood itself; NaN where orderings are drawn.
    """

    probability: float
    theta: float
    score: float
    value: float = nan


@dataclass(frozen=True)
class GivenTiers(ABC):
    """Pairwise answers and given tiers; theta and the mistake probability are unknown.

    Attributes
    ----------
    votes
        The answers, summed over or drawn.
    partition
        The partition function of the model.
    labels
        The tiers.
    """

    # How often points are added to a profile where it is highest.
    refinements: ClassVar[int]

    votes: SummedVotes | DrawnVotes
    partition: PartitionFunction
    labels: Labels

    @property
    def _n_rankings(self) -> float:
        return float(self.votes.weights.sum())

    @property
    def largest_theta(self) -> float:
        """A theta that is as good as infinite."""
        return LARGEST_THETA_OF_UNIT / self.partition.rule.unit

    @abstractmethod
    def point(self, probability: float, theta: float) -> Point:
        """Find the best theta for a mistake probability, starting from one that is close."""

    def theta_error(self, probability: float, theta: float) -> float:
        """Return the standard error of theta, the mistake probability being unknown too.

        At an end of its range the mistake probability is taken as known. Infinite where the
        answers do not tell.
        """
        votes = self.votes.with_probability(probability)
        moments = votes.moments(self.labels, theta)
        complete = self._n_rankings * float(self.partition.variance(theta))
        information = complete - moments.distance_variance
        of_odds = votes.n_votes * probability * (1 - probability) - moments.mistakes_variance
        score = moments.mistakes - votes.n_votes * probability
        if score**2 <= abs(of_odds):
            information -= moments.covariance**2 / of_odds if of_odds > 0.0 else information
        return 1 / sqrt(information) if information > 0.0 else inf

    def theta_interval(
        self, theta: float, probability: float, value: float, level: float
    ) -> tuple[float, float]:
        """Return the thetas at which, with some mistake probability, all is not much less likely.

        Parameters
        ----------
        theta, probability
            Best theta and mistake probability.
        value
            Log-likelihood there.
        level
            Level of the interval.
        """
        del value
        middle, drop = self._middle(theta), drop_of(level)
        low, high = (self._end(middle, probability, drop, sign) for sign in (-1, 1))
        return low, high

    def _middle(self, theta: float) -> float:
        """Return a theta that is neither as good as none nor as good as infinite."""
        return max(min(theta, self.largest_theta), LEAST_THETA_OF_UNIT / self.partition.rule.unit)

    def _end(self, theta: float, probability: float, drop: float, sign: int) -> float:
        """Follow the likelihood to lower or higher thetas until it has dropped by so much."""
        unit = self.partition.rule.unit
        error = self.theta_error(probability, theta) / theta
        step = sign * STEP_IN_ERRORS * min(error, LARGEST_ERROR)
        value = slope = 0.0
        while True:
            following = theta * exp(step)
            if following * unit > LARGEST_FINITE_THETA_OF_UNIT:
                return inf
            if following * unit < LEAST_THETA_OF_UNIT:
                return 0.0
            before, (probability, slope_by_theta) = slope, self._slope(following, probability)
            # By the log of theta the likelihood is more like a parabola.
            slope = following * slope_by_theta
            change = step * (before + slope) / 2
            if value + change < -drop:
                return theta * exp(step * (value + drop) / -change)
            theta, value, step = following, value + change, step * GROWTH_OF_STEPS

    def _slope(self, theta: float, probability: float) -> tuple[float, float]:
        """Best mistake probability for a theta, and the slope of the likelihood by theta there."""
        log_odds = log_odds_of(probability)
        for effort in (*[EFFORT_OF_A_STEP] * STEPS, 1.0):
            votes = self.votes.with_probability(1 / (1 + exp(-log_odds)))
            moments = votes.moments(self.labels, theta, effort=effort)
            step = _newton_step(votes, moments)
            log_odds = _allowed_log_odds(log_odds + step)
        slope = self._n_rankings * float(self.partition.moments(theta).mean) - moments.distance
        moved = log_odds - log_odds_of(votes.mistake_probability)
        return 1 / (1 + exp(-log_odds)), slope - moments.covariance * moved


class SummedGivenTiers(GivenTiers):
    """Where all orderings that assessors may have in mind are summed over."""

    refinements = 2
    votes: SummedVotes

    def point(self, probability: float, theta: float) -> Point:
        """Find the best theta for a mistake probability, starting from one that is close."""
        votes = self.votes.with_probability(probability)
        likelihood = Likelihood((votes,), self.partition)
        best = min(best_theta(likelihood, self.labels, start=theta), self.largest_theta)
        mistakes = votes.moments(self.labels, best).mistakes
        score = mistakes - votes.n_votes * probability
        return Point(probability, best, score, likelihood.value(self.labels, best))

    def theta_interval(
        self, theta: float, probability: float, value: float, level: float
    ) -> tuple[float, float]:
        """Return the ends of the interval as roots, where an evaluation is not too much work."""
        if self.votes.work > MOST_WORK_FOR_ENDS:
            return super().theta_interval(theta, probability, value, level)
        from scipy.optimize import brentq

        middle, drop = self._middle(theta), drop_of(level)

        def surplus(theta: float) -> float:
            return self._value_at(theta, start=probability) - value + drop

        low, high = 0.0, inf
        if surplus(0.0) < 0.0:
            low = float(brentq(surplus, 0.0, middle, rtol=1e-3))
        if surplus(self.largest_theta) < 0.0:
            high = float(brentq(surplus, middle, self.largest_theta, rtol=1e-3))
        return low, high

    def _value_at(self, theta: float, start: float) -> float:
        """Log-likelihood at a theta, with the mistake probability that suits it best."""
        votes, log_odds = self.votes, log_odds_of(start)
        for _ in range(MOST_NEWTON_STEPS):
            votes = votes.with_probability(1 / (1 + exp(-log_odds)))
            step = _newton_step(votes, votes.moments(self.labels, theta))
            before, log_odds = log_odds, _allowed_log_odds(log_odds + step)
            if abs(log_odds - before) < 1e-3:
                break
        votes = votes.with_probability(1 / (1 + exp(-log_odds)))
        return Likelihood((votes,), self.partition).value(self.labels, theta)


class DrawnGivenTiers(GivenTiers):
    """Where the orderings that assessors may have in mind are drawn."""

    refinements = 1
    votes: DrawnVotes

    def point(self, probability: float, theta: float) -> Point:
        """Come closer to the best theta for a mistake probability, from one that is close."""
        votes = self.votes.with_probability(probability)
        for _ in range(STEPS if len(self.partition.sizes) > 1 else 0):
            theta = self._reached(votes, theta, EFFORT_OF_A_STEP).theta
        return self._reached(votes, theta)

    def _reached(self, votes: DrawnVotes, theta: float, effort: float = 1.0) -> Point:
        """Return the point that a step from a given theta leads to."""
        probability = votes.mistake_probability
        moments = votes.moments(self.labels, theta, effort=effort)
        score = moments.mistakes - votes.n_votes * probability
        of_all = self.partition.moments(theta)
        complete = self._n_rankings * float(of_all.variance)
        if complete == 0.0:
            return Point(probability, theta, score)
        information = complete - moments.distance_variance
        slope = self._n_rankings * float(of_all.mean) - moments.distance
        # Draws leave the information uncertain, so it is not trusted to be next to nothing.
        following = theta + slope / max(information, 0.1 * complete)
        following = min(max(following, theta / 2), 2 * theta + 0.1, self.largest_theta)
        score -= moments.covariance * (following - theta)
        return Point(probability, following, score)


def _newton_step(votes: SummedVotes | DrawnVotes, moments: Moments) -> float:
    """Return a step in the log odds towards the best mistake probability, of at most 1."""
    probability = votes.mistake_probability
    score = moments.mistakes - votes.n_votes * probability
    complete = votes.n_votes * probability * (1 - probability)
    # Draws leave the information uncertain, so it is not trusted to be next to nothing.
    information = max(complete - moments.mistakes_variance, 0.1 * complete)
    return min(max(score / information, -1.0), 1.0)


def _allowed_log_odds(log_odds: float) -> float:
    return min(max(log_odds, log_odds_of(LEAST_MISTAKE_PROBABILITY)), 0.0)


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

    def interval(self, level: float) -> tuple[float, float]:
        """Return the mistake probabilities at which the likelihood is not much lower.

        An end of the profile at which it still is not is 0 or one half.
        """
        probabilities, values = self._curve
        inside = probabilities[values >= -drop_of(level)]
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


def profile_of(answers: GivenTiers, theta: float, level: float) -> Profile:
    """Compute the profile from end to end, and more closely where it is highest.

    Parameters
    ----------
    answers
        The answers and the tiers.
    theta
        Best theta for the mistake probability that the answers have.
    level
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
        points += _followed(answers, start, side, level)
    profile = Profile(tuple(sorted(points)), answers.partition.rule.unit)
    for _ in range(answers.refinements):
        profile = _refined(profile, answers, level)
    return profile


def _followed(
    answers: GivenTiers, start: Point, probabilities: list[float], level: float
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
        if value < highest - drop_of(level) - BEYOND:
            break
    return points[1:]


def _refined(profile: Profile, answers: GivenTiers, level: float) -> Profile:
    """Add points at the maximum, at the ends of the interval, and halfway."""
    best, (low, high) = profile.best(), profile.interval(level)
    known = [point.probability for point in profile.points]
    wanted = {low, (low + best) / 2, best, (best + high) / 2, high}
    added = [
        answers.point(probability, min(profile.theta_at(probability), answers.largest_theta))
        for probability in sorted(wanted)
        if known[0] < probability < known[-1]
        and all(abs(probability - other) > LEAST_STEP * probability for other in known)
    ]
    return replace(profile, points=tuple(sorted([*profile.points, *added])))


@dataclass(frozen=True)
class FitWithMistakes:
    """The best tiers, theta and mistake probability, and what the likelihood is there.

    Attributes
    ----------
    labels, total
        The tiers, counted from 0, and the expected distance of all answers from them.
    theta
        With its standard error and interval, the mistake probability being unknown.
    value
        Log-likelihood.
    probability, interval
        Of a mistake.
    """

    labels: Labels
    total: float
    theta: ThetaEstimate
    value: Estimate
    probability: float
    interval: tuple[float, float]


def solve_with_mistakes(
    likelihood: Likelihood,
    method: str,
    level: float,
    rng: np.random.Generator,
    labels: Labels | None = None,
) -> FitWithMistakes:
    """Find the best tiers, theta and mistake probability for given sizes.

    Parameters
    ----------
    likelihood
        Of pairwise answers that may be mistaken, at given sizes.
    method
        How the closest tiers are found, as for `tierwise.consensus.find.find_consensus`.
    level
        Level of the intervals.
    rng
        Generator, for what is drawn.
    labels
        The tiers, if they are given.
    """
    (votes,) = likelihood.all_parts
    return _solve(votes, likelihood, method, level, rng, labels)


@singledispatch
def _solve(
    _votes: object,
    _likelihood: Likelihood,
    _method: str,
    _level: float,
    _rng: np.random.Generator,
    _labels: Labels | None,
) -> FitWithMistakes:
    """Find the best tiers, theta and mistake probability, by summing or by drawing."""
    raise TypeError("these answers are taken to be right")


@_solve.register(SummedVotes)
def _solve_by_summing(
    summed: SummedVotes,
    likelihood: Likelihood,
    method: str,
    level: float,
    rng: np.random.Generator,
    labels: Labels | None,
) -> FitWithMistakes:
    """Climb in tiers, and in theta and the mistake probability, in turn."""
    partition = likelihood.partition
    if labels is None:
        top = maximise(likelihood, starts_of(likelihood, method, rng))
    else:
        top = maximum_at(likelihood, labels)
    for _ in range(MOST_ROUNDS):
        given = SummedGivenTiers(summed, partition, top.labels)
        profile = profile_of(given, min(top.theta, given.largest_theta), level)
        summed = summed.with_probability(profile.best())
        likelihood = replace(likelihood, parts=(summed,))
        top = (climb if labels is None else maximum_at)(likelihood, given.labels)
        if np.array_equal(top.labels, given.labels):
            break
    return _found(likelihood, given, top.theta, summed.mistake_probability, profile, level)


@_solve.register(DrawnVotes)
def _solve_by_drawing(
    drawn: DrawnVotes,
    likelihood: Likelihood,
    method: str,
    level: float,
    rng: np.random.Generator,
    given_labels: Labels | None,
) -> FitWithMistakes:
    """Let tiers, theta and the mistake probability settle, then see what else is as likely."""
    partition = likelihood.partition
    labels, theta, converged = np.zeros(partition.n_items, dtype=np.int64), 0.0, True
    if len(partition.sizes) > 1:
        settled = settle(likelihood, method, rng, given_labels)
        labels, theta, converged = settled.labels, settled.theta, settled.converged
    given = DrawnGivenTiers(drawn, partition, labels)
    profile = profile_of(given, min(theta, given.largest_theta), level)
    drawn.mistake_probability = profile.best()
    theta = profile.theta_at(drawn.mistake_probability)
    found = _found(likelihood, given, theta, drawn.mistake_probability, profile, level)
    return replace(found, theta=replace(found.theta, converged=converged))


def _found(
    likelihood: Likelihood,
    given: GivenTiers,
    theta: float,
    probability: float,
    profile: Profile,
    level: float,
) -> FitWithMistakes:
    """Put together what was found."""
    labels = given.labels
    costs = likelihood.expected_costs(labels, theta)
    total = float(total_cost(labels, costs.linear, costs.pairs))
    value = likelihood.value(labels, theta)
    return FitWithMistakes(
        labels=labels,
        total=total,
        theta=_theta_with_error(given, theta, probability, float(value), level),
        value=value,
        probability=probability,
        interval=profile.interval(level),
    )


def _theta_with_error(
    given: GivenTiers, theta: float, probability: float, value: float, level: float
) -> ThetaEstimate:
    """Return theta with its standard error and interval, the mistake probability being unknown."""
    if len(given.partition.sizes) == 1:
        return ThetaEstimate(0.0, inf, (0.0, inf), "exact")
    error = nan if isinf(theta) else given.theta_error(probability, theta)
    low, high = given.theta_interval(theta, probability, value, level)
    return ThetaEstimate(theta, error, (min(low, theta), max(high, theta)), "exact")
