"""Theta of greatest likelihood by safeguarded Newton steps.

The log-likelihood is ``sum_k coefficients[k] log [k]_q! - theta * total``. It is concave for
complete rankings, but need not be where there are ties: a scan of thetas finds where to begin.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.inversions_factorials import q_factorial_derivatives

_Floats = npt.NDArray[np.float64]

_SCANNED = 64
_LEAST, _MOST = 1e-5, 40.0
_NEWTON_STEPS = 200


@compiled
def theta_derivatives(
    total: float, coefficients: _Floats, theta: float
) -> tuple[float, float, float]:
    """Log-likelihood at a theta and its two derivatives."""
    if theta == np.inf:
        return (0.0 if total == 0.0 else -np.inf), 0.0, 0.0
    rows = q_factorial_derivatives(theta, coefficients.shape[0] - 1)
    value, first, second = -theta * total, -total, 0.0
    for number in range(2, coefficients.shape[0]):
        value += coefficients[number] * rows[0, number]
        first += coefficients[number] * rows[1, number]
        second += coefficients[number] * rows[2, number]
    return value, first, second


@compiled
def maximise_theta(total: float, coefficients: _Floats) -> tuple[float, float, float]:
    """Theta of greatest likelihood, that log-likelihood, and the observed information there."""
    scale = float(max(coefficients.shape[0] - 1, 1))
    thetas = np.zeros(_SCANNED + 1)
    for node in range(_SCANNED):
        share = node / (_SCANNED - 1.0)
        thetas[node + 1] = _LEAST / scale * (_MOST * scale / _LEAST) ** share
    best, node = -np.inf, 0
    for other in range(thetas.shape[0]):
        value = theta_derivatives(total, coefficients, thetas[other])[0]
        if value > best:
            best, node = value, other
    if total == 0.0 and best <= 0.0:
        return np.inf, 0.0, 0.0
    low = thetas[max(node - 1, 0)]
    high = thetas[min(node + 1, thetas.shape[0] - 1)]
    _, first, second = theta_derivatives(total, coefficients, 0.0)
    if node <= 1 and first <= 0.0:
        return 0.0, theta_derivatives(total, coefficients, 0.0)[0], -second
    theta = thetas[node]
    for _ in range(_NEWTON_STEPS):
        value, first, second = theta_derivatives(total, coefficients, theta)
        if first > 0.0:
            low = theta
        else:
            high = theta
        following = theta - first / second if second < 0.0 else -1.0
        if not low <= following <= high:
            following = (low + high) / 2.0
        if abs(following - theta) <= 1e-13 * theta:
            break
        theta = following
    value, _, second = theta_derivatives(total, coefficients, theta)
    return theta, value, -second
