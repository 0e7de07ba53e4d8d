"""The probability of the answers given the tiers, theta being integrated out.

It is what the evidence averages over tiers, so it compares tiers of all sizes, under any distance,
without favouring those that a well chosen theta happens to suit.
"""

from __future__ import annotations

from math import inf, isfinite, log, pi
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import Estimate
from tierwise.partition.interpolated import LogPartition, ThetaSeries
from tierwise.theta.density import ThetaGivenDistance

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import Labels
    from tierwise.answers.likelihood import Likelihood
    from tierwise.model.priors import ThetaPrior
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
    if likelihood.drawn is not None:
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
