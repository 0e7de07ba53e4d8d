"""Several thetas integrated out together: importance sampling around the mode.

In log theta the posterior has its mode inside, also where a theta of greatest likelihood is 0 or
infinite, and tails that a Student distribution covers. Its points are a Sobol sequence, which
leaves less to chance, and the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import Estimate
from tierwise.answers.curves import Derivatives
from tierwise.theta.newton import climb

if TYPE_CHECKING:
    from tierwise.answers.base import Floats
    from tierwise.answers.curves import ThetaCurve
    from tierwise.model.priors import ThetaPrior

# Of log theta: for derivatives of the prior, and for the way to the mode.
_STEP = 1e-3
_LONGEST_STEP = 1.0
_LEAST_LOG, _LARGEST_LOG = log(1e-9), log(46.0)
# A density that is flatter than this, or bends the wrong way, is taken to bend by so much.
_LEAST_BEND = 1e-3
# Points of importance sampling, and how heavy the tails are that they come from.
_POINTS = 512
_FREEDOM = 5


@dataclass(frozen=True, eq=False)
class ThetasTogether:
    """The posterior of several thetas, each of which has the same prior.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.partition.choose import partition_function
    >>> from tierwise.answers.curves import CurveOfParts
    >>> partition = partition_function((2, 1, 1), concentration="place")
    >>> curve = CurveOfParts(partition, np.zeros(2), 0.0, n_rankings=3.0)
    >>> ThetasTogether(curve, tw.Gamma(2, 2)).log_integral()
    -4.047... +- 0.02 (importance sampling)
    """

    curve: ThetaCurve
    prior: ThetaPrior

    def density(self, logs: Floats) -> Derivatives:
        """Log density of log theta, up to a constant, its gradient and its Hessian."""
        thetas = np.exp(logs)
        value, gradient, hessian = self.curve.derivatives(thetas)
        low, middle, high = (
            self.prior.log_density(np.exp(near)) + near
            for near in (logs - _STEP, logs, logs + _STEP)
        )
        pull = thetas * gradient
        bend = (high - 2 * middle + low) / _STEP**2
        return Derivatives(
            value + float(middle.sum()),
            pull + (high - low) / (2 * _STEP),
            np.outer(thetas, thetas) * hessian + np.diag(pull + bend),
        )

    def log_integral(self) -> Estimate:
        """Average density over that of the points drawn around the mode."""
        from scipy.special import ndtri
        from scipy.stats import chi2
        from scipy.stats.qmc import Sobol

        mode, found = climb(
            self.density,
            np.zeros(self.curve.n_thetas),
            low=_LEAST_LOG,
            high=_LARGEST_LOG,
            longest=_LONGEST_STEP,
            scale=1.0,
        )
        root = _root_of_inverse(-found.hessian)
        uniform = Sobol(len(mode) + 1, rng=np.random.default_rng(0)).random(_POINTS)
        scales = np.sqrt(chi2.ppf(uniform[:, -1], _FREEDOM) / _FREEDOM)
        standard = ndtri(uniform[:, :-1]) / scales[:, None]
        points = standard @ root.T + mode
        logs = np.array([self.density(point).value for point in points])
        logs -= _log_student(standard) - np.log(np.diag(root)).sum()
        top = float(logs.max())
        weights = np.exp(logs - top)
        mean = float(weights.mean())
        error = float(weights.std(ddof=1)) / (mean * len(weights) ** 0.5)
        return Estimate(top + log(mean), standard_error=error, method="importance sampling")


def _root_of_inverse(bend: Floats) -> Floats:
    """Return the Cholesky factor of the inverse, also of what bends the wrong way somewhere.

    One theta may be known a million times as precisely as another, so each is scaled first.
    """
    scales = np.sqrt(np.maximum(np.abs(np.diag(bend)), _LEAST_BEND))
    eigenvalues, vectors = np.linalg.eigh(bend / np.outer(scales, scales))
    inverse = vectors / np.maximum(np.abs(eigenvalues), _LEAST_BEND) @ vectors.T
    root: Floats = np.linalg.cholesky(inverse) / scales[:, None]
    return root


def _log_student(points: Floats) -> Floats:
    """Log density of the standard Student distribution in several dimensions."""
    n_dimensions = points.shape[1]
    half = (_FREEDOM + n_dimensions) / 2
    constant = lgamma(half) - lgamma(_FREEDOM / 2) - n_dimensions / 2 * log(_FREEDOM * pi)
    logs: Floats = constant - half * np.log1p((points**2).sum(axis=1) / _FREEDOM)
    return logs
