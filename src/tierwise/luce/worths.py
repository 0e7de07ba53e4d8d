"""Worths of given tiers: posterior mode by Newton's method, intervals, evidence.

Worths are independent Gamma variables a priori, in the order of the tiers. Only their ratios
matter, so the common scale is integrated out: shares of the total are Dirichlet. In log worths that
sum to 0 the log posterior is concave, so Newton's method finds its only mode, whatever the answers;
where an item never lost, the likelihood alone would send its worth to infinity. Effects of draws
and of the first place (`tierwise.luce.effects`) are further unknowns of the same kind.

The evidence is Laplace's approximation, or importance sampling around the mode among worths in
order, which says its error.

References
----------
F. Caron and A. Doucet (2012). Efficient Bayesian inference for generalized Bradley-Terry models.
Journal of Computational and Graphical Statistics 21, 174-196.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import lgamma, log, pi
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.luce_worths import (
    TierChoices,
    TierMeetings,
    WorthPrior,
    climb_by_choices,
    climb_by_meetings,
    climb_by_races,
)
from tierwise._util.types import Estimate
from tierwise.luce.effects import PRIORS, log_constant_of_effects, log_prior_of_effects

if TYPE_CHECKING:
    from tierwise.answers.races import Floats, Integers, Races

SHAPE = 1.0
"""Shape of the Gamma prior of each worth."""
# A step whose expected gain is this small changes nothing that is shown.
_LEAST_GAIN = 1e-10
# Eigenvalues below this share of the largest are rounding.
_LEAST_SHARE = 1e-12
# Degrees of freedom of the distribution that importance sampling draws from.
_FREEDOM = 8.0
_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class Worths:
    """The worths of given tiers that are most probable, and how sure they are.

    Attributes
    ----------
    labels
        Tier of each item, counted from 0.
    logs
        Log worths of the tiers, which sum to 0.
    log_likelihood
        Log probability of the answers with these worths.
    log_density
        Log of likelihood times prior density, the scale being integrated out; the prior takes
        worths to be in order.
    precision
        Its negative second derivatives, in log worths and then log effects; 0 in the direction of
        the common scale.
    shape
        Shape of the Gamma prior.
    effects
        Logarithms of the effects beside worths, if there are any; see `tierwise.luce.effects`.
    """

    labels: Integers
    logs: Floats
    log_likelihood: float
    log_density: float
    precision: Floats
    shape: float = SHAPE
    effects: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def n_tiers(self) -> int:
        """Number of tiers."""
        return len(self.logs)

    @property
    def freedom(self) -> int:
        """Number of unknowns: ratios of worths, and effects."""
        return self.n_tiers - 1 + len(self.effects)

    @property
    def point(self) -> Floats:
        """Log worths, followed by log effects."""
        return np.concatenate((self.logs, self.effects))

    @cached_property
    def _regular(self) -> tuple[Floats, float]:
        """The precision with something in the direction of the common scale, and how much."""
        return _with_scale(self.precision, self.n_tiers)

    @cached_property
    def _root(self) -> Floats:
        """Upper triangular root of the precision with something in the direction of the scale."""
        return lower_root(self._regular[0]).T

    @cached_property
    def _inverse_root(self) -> Floats:
        from scipy.linalg.lapack import dtrtri

        # Not dpotri, which is less work but has all cores wait for each other, however small the
        # matrix is.
        return np.asarray(dtrtri(self._root)[0])

    @cached_property
    def joint_covariance(self) -> Floats:
        """Covariance of log worths (which sum to 0) and log effects in Laplace's approximation."""
        full = self._inverse_root @ self._inverse_root.T
        full[: self.n_tiers] -= full[: self.n_tiers].mean(axis=0)
        full[:, : self.n_tiers] -= full[:, : self.n_tiers].mean(axis=1)[:, None]
        return np.asarray(full)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the log worths (which sum to 0) in Laplace's approximation."""
        return self.joint_covariance[: self.n_tiers, : self.n_tiers]

    @cached_property
    def log_determinant(self) -> float:
        """Log of the product of the eigenvalues of the precision, without that of the scale, 0."""
        return 2.0 * float(np.log(self._root.diagonal()).sum()) - log(self._regular[1])

    @cached_property
    def variances_of_gaps(self) -> Floats:
        """Variances of the differences between neighbours, which the common scale leaves alone."""
        differences = self._inverse_root[: self.n_tiers - 1] - self._inverse_root[1 : self.n_tiers]
        return np.asarray((differences**2).sum(axis=1))

    @cached_property
    def log_order_probability(self) -> float:
        """About the log probability that worths are in order: neighbour by neighbour."""
        from scipy.special import log_ndtr

        if self.n_tiers == 1:
            return 0.0
        gaps = self.logs[:-1] - self.logs[1:]
        return float(log_ndtr(gaps / np.sqrt(self.variances_of_gaps)).sum())

    @property
    def log_evidence(self) -> float:
        """Log probability of the answers given the tiers, by Laplace's approximation."""
        if self.freedom == 0:
            return self.log_likelihood
        laplace = self.log_density + 0.5 * (self.freedom * log(2.0 * pi) - self.log_determinant)
        return laplace + self.log_order_probability

    def draw(self, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw log worths in decreasing order, and log effects, around the mode.

        Gaps between neighbours are drawn one after the other, each given those before it: a t
        distribution cut off at 0. Draws without regard to the order would seldom be in order where
        tiers are many or hardly apart. Effects follow, which are not cut off.

        Returns
        -------
        tuple
            Draws as `point`, one row each, and their log densities.
        """
        from scipy.special import gammaln, stdtr, stdtrit

        n_tiers = self.n_tiers
        n_gaps = n_tiers - 1
        to_gaps = np.eye(self.freedom, self.freedom + 1, k=1)
        to_gaps[:n_gaps, :n_tiers] = -np.diff(np.eye(n_tiers), axis=0)
        gaps = to_gaps @ self.point
        root = lower_root(to_gaps @ self.joint_covariance @ to_gaps.T)
        steps = np.empty((n_draws, self.freedom))
        constant = gammaln(0.5 * (_FREEDOM + 1.0)) - gammaln(0.5 * _FREEDOM)
        constant -= 0.5 * log(_FREEDOM * pi)
        # Log worths that sum to 0 move by less than their gaps do, all in all: the root of n_tiers.
        logs = np.full(n_draws, 0.5 * log(n_tiers) - float(np.log(np.diag(root)).sum()))
        for gap, scale in enumerate(np.diag(root)):
            middle = gaps[gap] + steps[:, :gap] @ root[gap, :gap]
            positive = stdtr(_FREEDOM, middle / scale) if gap < n_gaps else np.ones(n_draws)
            drawn = -stdtrit(_FREEDOM, positive * (1.0 - rng.random(n_draws)))
            logs += constant - 0.5 * (_FREEDOM + 1.0) * np.log1p(drawn**2 / _FREEDOM)
            logs -= np.log(positive)
            steps[:, gap] = drawn
        values = gaps + steps @ root.T
        below = np.cumsum(values[:, :n_gaps], axis=1)
        draws = np.column_stack((np.zeros(n_draws), -below))
        draws -= draws.mean(axis=1)[:, None]
        return np.column_stack((draws, values[:, n_gaps:])), logs


def lower_root(matrix: Floats) -> Floats:
    """Lower triangular root of a positive definite matrix.

    Where answers count very often, rounding may leave it indefinite in directions about which they
    say next to nothing: eigenvalues are then raised to a small share of the largest.

    Examples
    --------
    >>> lower_root(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    >>> bool(np.isfinite(lower_root(np.array([[1.0, 2.0], [2.0, 1.0]]))).all())
    True
    """
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        raised = np.maximum(values, _LEAST_SHARE * float(np.abs(values).max()))
        upper = np.linalg.qr((vectors * np.sqrt(raised)).T)[1]
        return np.asarray((upper * np.sign(np.diag(upper))[:, None]).T, dtype=np.float64)


def _with_scale(precision: Floats, n_tiers: int) -> tuple[Floats, float]:
    """Make a precision without a scale regular; return it and its eigenvalue in that direction."""
    trace = float(np.trace(precision[:n_tiers, :n_tiers]))
    scale = (trace if trace > 1e-300 else 1.0) / n_tiers
    regular = precision.copy()
    regular[:n_tiers, :n_tiers] += scale / n_tiers
    return regular, scale


def decreasing(logs: Floats) -> Floats:
    """Return the nearest log worths that do not increase: neighbours that do are averaged.

    Examples
    --------
    >>> decreasing(np.array([3.0, 1.0, 2.0]))
    array([3. , 1.5, 1.5])
    """
    if (logs[:-1] >= logs[1:]).all():
        return logs
    runs = [[value] for value in logs.tolist()]
    means = logs.tolist()
    at = 0
    while at < len(runs) - 1:
        if means[at] >= means[at + 1]:
            at += 1
            continue
        runs[at : at + 2] = [runs[at] + runs[at + 1]]
        means[at : at + 2] = [sum(runs[at]) / len(runs[at])]
        # The average is higher than before: it may be above the one before it now.
        at = max(at - 1, 0)
    return np.repeat(means, [len(run) for run in runs])


def log_prior_constant(n_tiers: int, shape: float = SHAPE) -> float:
    """Log of what the density of ordered shares of worth has in front, in log worths."""
    constant = lgamma(n_tiers + 1) + 0.5 * log(n_tiers)
    return constant + lgamma(n_tiers * shape) - n_tiers * lgamma(shape)


def log_prior_density(log_worths: Floats, shape: float = SHAPE) -> Floats:
    """Log prior density of log worths that sum to 0, whatever their order; one row per draw."""
    from scipy.special import logsumexp

    n_tiers = log_worths.shape[-1]
    total: Floats = logsumexp(log_worths, axis=-1)
    return np.asarray(log_prior_constant(n_tiers, shape) - n_tiers * shape * total)


def best_worths(
    races: Races,
    labels: Integers,
    start: Floats | None = None,
    shape: float = SHAPE,
    *,
    least_gain: float = _LEAST_GAIN,
) -> Worths:
    """Find the most probable worths of tiers.

    Parameters
    ----------
    races
        The answers.
    labels
        Tier of each item, counted from 0; the worths found need not be in this order.
    start
        Log worths to begin with, followed by log effects if these are known.
    shape
        Shape of the Gamma prior of each worth.
    least_gain
        The search ends when a step is expected to raise the log density by less than this.

    Examples
    --------
    >>> import numpy as np
    >>> import tierwise as tw
    >>> from tierwise.answers.races import races_of
    >>> battles = tw.Battles.from_rows([("x", "y", "x")] * 8 + [("x", "y", "y")] * 2)
    >>> np.exp(best_worths(races_of(battles), np.array([0, 1])).logs).round(3)
    array([1.732, 0.577])
    """
    n_tiers, names = int(labels.max()) + 1, races.meetings.effects
    if n_tiers == 1 and not names:
        value = races.value(labels, np.zeros(1))
        return Worths(labels, np.zeros(1), value, value, np.zeros((1, 1)), shape)
    point = np.zeros(n_tiers + len(names))
    if start is not None:
        point[: len(start)] = start
    priors = [PRIORS[name] for name in names]
    prior = WorthPrior(
        shape,
        np.array([one.shape for one in priors], dtype=np.float64),
        np.array([log(one.middle) for one in priors], dtype=np.float64),
    )
    answers = races.by_tier(labels, n_tiers)
    if isinstance(answers, TierMeetings):
        found = climb_by_meetings(answers, prior, point, least_gain)
    elif isinstance(answers, TierChoices):
        found = climb_by_choices(answers, prior, point, least_gain)
    else:
        found = climb_by_races(answers, prior, point, least_gain)
    value, likelihood, hessian = found
    value += log_prior_constant(n_tiers, shape) + log_constant_of_effects(names)
    logs, effects = races.parts(point)
    return Worths(labels, logs, likelihood, value, -hessian, shape, effects)


def log_evidence(
    races: Races, worths: Worths, rng: np.random.Generator, n_draws: int = _DRAWS
) -> Estimate:
    """Log probability of the answers given tiers, worths averaged over: importance sampling.

    Parameters
    ----------
    races, worths
        The answers, and the worths found for the tiers.
    rng
        Generator.
    n_draws
        Number of draws.
    """
    if worths.freedom == 0:
        return Estimate(worths.log_likelihood, method="closed form")
    draws, log_densities = worths.draw(n_draws, rng)
    likelihoods = np.array([races.value(worths.labels, point) for point in draws])
    logs = likelihoods + log_prior_density(draws[:, : worths.n_tiers], worths.shape) - log_densities
    if len(worths.effects):
        logs += log_prior_of_effects(races.meetings.effects, draws[:, worths.n_tiers :])
    top = float(logs.max())
    weights = np.exp(logs - top)
    mean = float(weights.mean())
    error = float(weights.std(ddof=1)) / (mean * n_draws**0.5)
    return Estimate(top + log(mean), standard_error=error, method="importance sampling")
