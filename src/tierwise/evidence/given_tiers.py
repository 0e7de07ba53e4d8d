"""The probability of the answers given the tiers, theta being integrated out.

It is what the evidence averages over tiers, so it compares tiers of all sizes, under any distance,
without favouring those that a well chosen theta happens to suit. Several thetas are integrated out
one by one where the parts of the distance are independent. Elsewhere they are integrated out
together: by importance sampling in log theta, from a Student distribution around the mode.
"""

from __future__ import annotations

from math import inf, isfinite, lgamma, log, pi
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import Estimate
from tierwise.partition.interpolated import LogPartition, ThetaSeries
from tierwise.theta.curve import Derivatives, climb
from tierwise.theta.density import ThetaGivenDistance

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import Labels
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.answers.parted import PartedAnswers, PartStatistics
    from tierwise.model.priors import ThetaPrior
    from tierwise.theta.estimate import ThetaEstimate

_TOLERANCE = 1e-9
# Of log theta: for derivatives of the prior, and for the way to the mode.
_STEP = 1e-3
_LONGEST_STEP = 1.0
_LEAST_LOG, _LARGEST_LOG = log(1e-9), log(46.0)
# A density that is flatter than this, or bends the wrong way, is taken to bend by so much.
_LEAST_BEND = 1e-3
# Points of importance sampling, and how heavy the tails are that they come from.
_POINTS = 512
_FREEDOM = 5


def log_integrated_likelihood(
    likelihood: Likelihood, labels: Labels, theta: ThetaEstimate, prior: ThetaPrior
) -> Estimate:
    """Log of the likelihood of tiers, averaged over the prior of theta.

    Exact where completions are summed over; where they are drawn, by Laplace's approximation at
    the estimate of theta.

    Parameters
    ----------
    likelihood
        Of the answers, at the sizes of the tiers.
    labels
        The tiers, counted from 0.
    theta
        Theta of greatest likelihood.
    prior
        The prior of theta.

    Examples
    --------
    >>> import numpy as np
    >>> import tierwise as tw
    >>> from tierwise.answers.likelihood import source_of
    >>> rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 3)
    >>> likelihood = source_of(rankings, "inversions").at((1, 2))
    >>> theta = tw.fit(rankings, (1, 2), "inversions").theta_estimate
    >>> log_integrated_likelihood(likelihood, np.array([0, 1, 1]), theta, tw.Gamma(2, 2))
    -3.28... (exact, quadrature)
    """
    if len(likelihood.sizes) == 1:
        return likelihood.value(labels, 0.0)
    if not likelihood.exact:
        return _laplace(likelihood, labels, theta, prior)
    if likelihood.known:
        given = ThetaGivenDistance(LogPartition(likelihood.partition), likelihood.n_rankings, prior)
        closest = likelihood.sums(labels, 0.0).mean
        value = given.log_integral(closest) + likelihood.log_completions
    else:
        value = _by_series(likelihood, labels, prior)
    at_best = likelihood.partition.log_value(min(theta.value, likelihood.largest_theta))
    error = likelihood.n_rankings * at_best.standard_error
    return Estimate(value, standard_error=error, method="quadrature")


def _by_series(likelihood: Likelihood, labels: Labels, prior: ThetaPrior) -> float:
    """Integrate over theta where completions are summed over anew at every theta.

    As theta grows the log-likelihood falls by the distance of the closest completions; what is left
    when that is taken out is smooth up to infinity.
    """
    largest = likelihood.largest_theta
    closest = likelihood.sums(labels, largest).mean

    def without_slope(thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        finite = np.minimum(thetas, largest)
        values = [float(likelihood.value(labels, one)) for one in finite.tolist()]
        return np.array(values) + closest * finite

    series = ThetaSeries(without_slope, 0.0, inf, tolerance=_TOLERANCE)
    given = ThetaGivenDistance(lambda thetas: -series(thetas), 1.0, prior)
    return given.log_integral(closest)


def laplace_correction(theta: ThetaEstimate, prior: ThetaPrior) -> float:
    """Return what Laplace's approximation adds to a log-likelihood when theta is integrated out.

    Nothing where theta is 0 or infinite, or where nothing is known of its error.
    """
    if not (isfinite(theta.value) and isfinite(theta.standard_error) and theta.value > 0.0):
        return 0.0
    density = float(prior.log_density(np.array([theta.value]))[0])
    return density + log(2.0 * pi) / 2.0 + log(theta.standard_error)


def _laplace(
    likelihood: Likelihood, labels: Labels, theta: ThetaEstimate, prior: ThetaPrior
) -> Estimate:
    """Laplace's approximation (Tierney and Kadane, JASA 81, 1986)."""
    value = likelihood.value(labels, min(theta.value, likelihood.largest_theta))
    return Estimate(
        float(value) + laplace_correction(theta, prior),
        standard_error=value.standard_error,
        method="Laplace's approximation",
    )


def log_integrated_parts(answers: PartedAnswers, labels: Labels, prior: ThetaPrior) -> Estimate:
    """Log of the likelihood of tiers with a theta for each part, averaged over the prior of each.

    Parameters
    ----------
    answers
        The answers, with a partition function that has a theta for each tier or place.
    labels
        The tiers, counted from 0.
    prior
        The prior of each theta; they are independent beforehand.

    Examples
    --------
    >>> import numpy as np
    >>> import tierwise as tw
    >>> from tierwise.answers.parted import parted_answers
    >>> from tierwise.partition.parts import parted_partition
    >>> rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 3)
    >>> answers = parted_answers(rankings, parted_partition((1, 2), "inversions", "tier"))
    >>> log_integrated_parts(answers, np.array([0, 1, 1]), tw.Gamma(2, 2))
    -3.28... (exact, quadrature)
    """
    statistics = answers.statistics(labels)
    if statistics.coefficients is None:
        return _ThetasTogether(answers, statistics, prior).log_integral()
    n_items = answers.partition.n_items
    value = statistics.log_orders
    for total, coefficients in zip(
        statistics.totals.tolist(), statistics.coefficients, strict=True
    ):
        if total > 0.0 or coefficients[2:].any():
            value += _log_integral_of_part(total, coefficients, n_items, prior)
    return Estimate(value, method="quadrature")


def _log_integral_of_part(
    total: float, coefficients: npt.NDArray[np.float64], n_items: int, prior: ThetaPrior
) -> float:
    """Integrate over the theta of an independent part."""
    from tierwise._kernels.inversions_lines import log_q_factorials

    def log_partition(thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        values = [coefficients @ log_q_factorials(theta, n_items) for theta in thetas.tolist()]
        return -np.array(values)

    return ThetaGivenDistance(log_partition, 1.0, prior).log_integral(total)


class _ThetasTogether:
    """Thetas of parts of the distance that are not independent, integrated out.

    In log theta the posterior has its mode inside, also where a theta of greatest likelihood is 0
    or infinite, and tails that a Student distribution covers. Its points are a Sobol sequence,
    which leaves less to chance, and the same every time.
    """

    def __init__(
        self, answers: PartedAnswers, statistics: PartStatistics, prior: ThetaPrior
    ) -> None:
        self._partition = answers.partition
        self._n_rankings = answers.n_rankings
        self._statistics = statistics
        self._prior = prior

    def _height(self, logs: npt.NDArray[np.float64]) -> Derivatives:
        """Log density of the answers and log theta, its gradient and its Hessian."""
        thetas = np.exp(logs)
        moments = self._partition.part_moments(thetas)
        totals = self._statistics.totals
        prior, slope, bend = self._prior_at(logs)
        value = self._statistics.log_orders - float(thetas @ totals)
        value += prior - self._n_rankings * moments.log_value
        pull = thetas * (self._n_rankings * moments.means - totals)
        information = self._n_rankings * np.outer(thetas, thetas) * moments.covariances
        return Derivatives(value, pull + slope, np.diag(pull + bend) - information)

    def _prior_at(
        self, logs: npt.NDArray[np.float64]
    ) -> tuple[float, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Log prior density of log theta, summed, with its first and second derivatives."""
        low, middle, high = (
            self._prior.log_density(np.exp(near)) + near
            for near in (logs - _STEP, logs, logs + _STEP)
        )
        slope = (high - low) / (2 * _STEP)
        return float(middle.sum()), slope, (high - 2 * middle + low) / _STEP**2

    def log_integral(self) -> Estimate:
        """Average density over that of the points drawn around the mode."""
        from scipy.special import ndtri
        from scipy.stats import chi2
        from scipy.stats.qmc import Sobol

        mode, bend = self._mode()
        root = _root_of_inverse(bend)
        uniform = Sobol(len(mode) + 1, rng=np.random.default_rng(0)).random(_POINTS)
        scales = np.sqrt(chi2.ppf(uniform[:, -1], _FREEDOM) / _FREEDOM)
        standard = ndtri(uniform[:, :-1]) / scales[:, None]
        points = standard @ root.T + mode
        logs = np.array([self._height(point).value for point in points])
        logs -= _log_student(standard) - np.log(np.diag(root)).sum()
        top = float(logs.max())
        weights = np.exp(logs - top)
        mean = float(weights.mean())
        error = float(weights.std(ddof=1)) / (mean * len(weights) ** 0.5)
        return Estimate(top + log(mean), standard_error=error, method="importance sampling")

    def _mode(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the mode, in log theta, and minus the Hessian there."""
        start = np.zeros(len(self._statistics.totals))
        mode, found = climb(
            self._height,
            start,
            low=_LEAST_LOG,
            high=_LARGEST_LOG,
            longest=_LONGEST_STEP,
            scale=1.0,
        )
        return mode, -found.hessian


def _root_of_inverse(bend: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the Cholesky factor of the inverse, also of what bends the wrong way somewhere.

    One theta may be known a million times as precisely as another, so each is scaled first.
    """
    scales = np.sqrt(np.maximum(np.abs(np.diag(bend)), _LEAST_BEND))
    eigenvalues, vectors = np.linalg.eigh(bend / np.outer(scales, scales))
    inverse = vectors / np.maximum(np.abs(eigenvalues), _LEAST_BEND) @ vectors.T
    root: npt.NDArray[np.float64] = np.linalg.cholesky(inverse) / scales[:, None]
    return root


def _log_student(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log density of the standard Student distribution in several dimensions."""
    n_dimensions = points.shape[1]
    half = (_FREEDOM + n_dimensions) / 2
    constant = lgamma(half) - lgamma(_FREEDOM / 2) - n_dimensions / 2 * log(_FREEDOM * pi)
    logs: npt.NDArray[np.float64] = constant - half * np.log1p((points**2).sum(axis=1) / _FREEDOM)
    return logs
