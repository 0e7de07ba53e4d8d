"""Chebyshev series."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


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
