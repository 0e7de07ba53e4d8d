"""Interpolation: Chebyshev series by Clenshaw's recurrence, and quantiles on a grid."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_NEWTON_STEPS = 4


@compiled
def evaluate_series(
    coefficients: npt.NDArray[np.float64], points: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Values of a Chebyshev series at points between -1 and 1, by Clenshaw's recurrence."""
    current = np.zeros(points.shape[0])
    following = np.zeros(points.shape[0])
    for degree in range(coefficients.shape[0] - 1, 0, -1):
        coefficient = coefficients[degree]
        for point in range(points.shape[0]):
            value = 2.0 * points[point] * current[point] - following[point] + coefficient
            following[point] = current[point]
            current[point] = value
    values: npt.NDArray[np.float64] = coefficients[0] + points * current - following
    return values


@compiled
def grid_quantiles(
    points: npt.NDArray[np.float64],
    heights: npt.NDArray[np.float64],
    cumulative: npt.NDArray[np.float64],
    shares: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Points below which given shares lie.

    ``cumulative`` is the integral up to each point, in steps of the grid. Between two points the
    density is the parabola that meets both heights and the integral between them.
    """
    quantiles = np.empty(shares.shape[0])
    for row in range(shares.shape[0]):
        wanted = shares[row] * cumulative[-1]
        cell = np.searchsorted(cumulative, wanted, side="right") - 1
        cell = min(max(cell, 0), points.shape[0] - 2)
        while cell > 0 and cumulative[cell + 1] == cumulative[cell]:
            cell -= 1
        left, right = heights[cell], heights[cell + 1]
        whole = cumulative[cell + 1] - cumulative[cell]
        rest = min(max(wanted - cumulative[cell], 0.0), whole)
        bend = whole - (left + right) / 2.0
        part = rest / whole if whole > 0.0 else 0.0
        for _ in range(_NEWTON_STEPS):
            height = left + (right - left) * part + 6.0 * bend * part * (1.0 - part)
            below = left * part + (right - left) * part * part / 2.0
            below += bend * part * part * (3.0 - 2.0 * part)
            if height > 0.0:
                part = min(max(part + (rest - below) / height, 0.0), 1.0)
        quantiles[row] = points[cell] + part * (points[cell + 1] - points[cell])
    return quantiles
