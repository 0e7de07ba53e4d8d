"""Along theta: Chebyshev series, quantiles of a density on a grid, and slice sampling.

Series are evaluated by Clenshaw's recurrence. Slice sampling, with stepping out and shrinking, is
written as one step, to be called in a loop with the density of the point that it asks for: a
density that is called in five places is compiled five times.

References
----------
R. M. Neal (2003). Slice sampling. Annals of Statistics 31, 705-767.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, inlined_part

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


_Floats = npt.NDArray[np.float64]

SLICE_WIDTH = 0.3
# What the density is wanted for: where the chain is, the two ends, points between them.
_HERE, _LOW, _HIGH, _BETWEEN, ACCEPTED = 0, 1, 2, 3, 4


@inlined_part
def next_point(
    stage: int,
    here: float,
    at: float,
    value: float,
    height: float,
    low: float,
    high: float,
    rng: np.random.Generator,
) -> tuple[int, float, float, float, float]:
    """Take the log density at a point, and say where it is wanted next.

    Parameters
    ----------
    stage
        0 to begin with, and then what was returned.
    here
        Where the chain is.
    at, value
        The point that was asked for, ``here`` to begin with, and the log density there.
    height, low, high
        Log height and ends of the slice, as they were returned; the ends to begin with lie
        `SLICE_WIDTH` apart, at random around ``here``.
    rng
        Randomness.

    Returns
    -------
    tuple
        The stage, which is `ACCEPTED` where the point is the draw, the next point, and the height
        and the ends of the slice.
    """
    if stage == _HERE:
        return _LOW, low, value + np.log(1.0 - rng.random()), low, high
    if stage == _LOW:
        if value > height:
            low -= SLICE_WIDTH
            return _LOW, low, height, low, high
        return _HIGH, high, height, low, high
    if stage == _HIGH and value > height:
        high += SLICE_WIDTH
        return _HIGH, high, height, low, high
    if stage == _BETWEEN:
        if value > height:
            return ACCEPTED, at, height, low, high
        if at < here:
            low = at
        else:
            high = at
    return _BETWEEN, low + (high - low) * rng.random(), height, low, high


@inlined_part
def interpolated(table: _Floats, first: float, step: float, point: float) -> float:
    """Value of a log density that is tabled on an even grid; minus infinity outside of it."""
    place = (point - first) / step
    if place < 0.0 or place >= len(table) - 1:
        return -np.inf
    left = int(place)
    share = place - left
    return float((1.0 - share) * table[left] + share * table[left + 1])
