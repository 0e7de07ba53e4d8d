"""The probability of the answers given the tiers, theta being integrated out.

It is what the evidence averages over tiers, so it compares tiers of all sizes, under any distance,
without favouring those that a well chosen theta happens to suit. Several thetas are integrated out
one by one where the parts of the distance are independent. Elsewhere they are integrated out
together: by importance sampling in log theta, from a Student distribution around the mode.
"""

from __future__ import annotations

from math import inf, isfinite, isinf, log, pi
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import Estimate
from tierwise.answers.curves import CurveOfLines
from tierwise.partition.interpolated import LogPartition, ThetaSeries
from tierwise.theta.density import ThetaGivenDistance
from tierwise.theta.together import ThetasTogether

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import Labels
    from tierwise.answers.generalised import GeneralisedAnswers
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.model.priors import ThetaPrior
    from tierwise.theta.density import ThetaDensity
    from tierwise.theta.estimate import ThetaEstimate

_TOLERANCE = 1e-9


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
        value = theta_given_tiers(likelihood, labels, prior).log_integral
    at_best = likelihood.partition.log_value(min(theta.value, likelihood.largest_theta))
    error = likelihood.n_rankings * at_best.standard_error
    return Estimate(value, standard_error=error, method="quadrature")


def theta_given_tiers(likelihood: Likelihood, labels: Labels, prior: ThetaPrior) -> ThetaDensity:
    """Return the density of theta where completions are summed over at every theta.

    As theta grows the log-likelihood falls by the distance of the closest completions; what is left
    when that is taken out is smooth up to infinity.
    """
    largest = likelihood.largest_theta
    closest = likelihood.sums(labels, largest).mean

    def without_slope(thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        finite = np.minimum(thetas, largest)
        return likelihood.values_at(labels, finite) + closest * finite

    series = ThetaSeries(without_slope, 0.0, inf, tolerance=_TOLERANCE)
    given = ThetaGivenDistance(lambda thetas: -series(thetas), 1.0, prior)
    return given.density(closest)


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
    correction = laplace_correction(theta, prior)
    if isinf(theta.value):
        correction = _price_of_infinite_theta(likelihood, prior)
    return Estimate(
        float(value) + correction,
        standard_error=value.standard_error,
        method="Laplace's approximation",
    )


def _price_of_infinite_theta(likelihood: Likelihood, prior: ThetaPrior) -> float:
    """Return what a log-likelihood loses when theta, which is best if infinite, is integrated out.

    All answers have completions that agree with the tiers; others are left out at every theta.
    """
    given = ThetaGivenDistance(LogPartition(likelihood.partition), likelihood.n_rankings, prior)
    at_most = float(likelihood.partition.log_value(likelihood.largest_theta))
    return float(given.log_integral(0.0)) + likelihood.n_rankings * at_most


def log_integrated_thetas(
    answers: GeneralisedAnswers, labels: Labels, prior: ThetaPrior
) -> Estimate:
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
    >>> from tierwise.answers.likelihood import source_of
    >>> from tierwise.partition.choose import partition_function
    >>> rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 3)
    >>> partition = partition_function((1, 2), "inversions", concentration="tier")
    >>> answers = source_of(rankings, "inversions").with_thetas(partition)
    >>> log_integrated_thetas(answers, np.array([0, 1, 1]), tw.Gamma(2, 2))
    -3.28... (exact, quadrature)
    """
    curve = answers.curve(labels)
    if not isinstance(curve, CurveOfLines):
        return ThetasTogether(curve, prior).log_integral()
    n_items = answers.partition.n_items
    value = curve.log_orders
    for part, total in enumerate(curve.totals.tolist()):
        if not curve.says_nothing(part):
            value += _log_integral_of_part(total, curve.coefficients[part], n_items, prior)
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
