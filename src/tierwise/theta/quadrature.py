"""The integral over theta: the trapezoidal rule in ``log theta``.

A density of theta is a bump in ``log theta``, for which the rule converges exponentially fast
(Trefethen and Weideman, SIAM Review 56, 2014). What differs is how the points are found. Where a
density is cheap, grids close in on all that matters, for several densities at the same time. Where
each value takes long, few points are placed around the peak.
"""

from collections.abc import Callable, Iterator
from math import inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# In log theta a density that is finite at 0 has no edge there.
FIRST_GRID = np.linspace(log(1e-13), log(1e4), 1000)
# So many points do where a density is known to have a single peak.
FIRST_GRID_OF_ONE_PEAK = np.linspace(log(1e-13), log(1e4), 125)
# Where the log density is this far below its peak, nothing is left.
DEPTH = 37.0
# Below the grid there may be this much, as a logarithm, relative to the peak.
_DEPTH_BELOW = 23.0
_MOST_POINTS = 8000
# What belongs to the peak is above this depth.
_DEPTH_OF_PEAK = 1.0
_MOST_ROUNDS = 40

# Few points: where they end, how far they are apart, and where the search for the peak begins.
_DEPTH_OF_FEW = 30.0
_STEP_IN_DEVIATIONS, _LARGEST_STEP = 0.6, 0.35
_FIRST_THETAS = (0.02, 0.25, 2.0)
# Where every second node gives the same to this accuracy, all nodes are good to its square.
_AGREEMENT = 1e-5
_MOST_NODES = 2000


class Resolution(NamedTuple):
    """How finely a density is resolved."""

    points_of_peak: int
    """How many points its peak is to have."""
    fewest_points: int
    """How many points it is to have in all."""


# The rule is exact to rounding with a few points. Priors that are not smooth want more of them in
# all, and draws more at the peak.
FOR_SMOOTH_INTEGRALS, FOR_INTEGRALS = Resolution(10, 128), Resolution(10, 400)
FOR_DRAWS = Resolution(60, 400)


def log_trapezoid(values: Floats, steps: Any) -> Floats:
    """Return logs of integrals, from log densities at equidistant points along the last axis.

    Examples
    --------
    >>> points = np.linspace(-9, 9, 30)
    >>> log_trapezoid(-(points**2) / 2, points[1] - points[0]) - np.log(2 * np.pi) / 2 < 1e-14
    np.True_
    """
    peaks = values.max(axis=-1)
    sums = np.exp(values - peaks[..., None]).sum(axis=-1)
    logs: Floats = peaks + np.log(sums * steps)
    return logs


def falls_off(values: Floats) -> NDArray[np.bool_]:
    """Return whether nothing is left at the upper end of a grid, row by row."""
    fallen: NDArray[np.bool_] = (
        values[..., -2:] <= values.max(axis=-1, keepdims=True) - DEPTH
    ).all(axis=-1)
    return fallen


def is_covered(values: Floats, log_lift: float = 0.0) -> NDArray[np.bool_]:
    """Return whether a grid holds all that matters, row by row."""
    peaks = values.max(axis=-1)
    covered: NDArray[np.bool_] = (
        np.isfinite(peaks) & (values[..., 0] <= peaks - _DEPTH_BELOW - log_lift) & falls_off(values)
    )
    return covered


def close_in(
    log_density: Callable[[Floats, NDArray[np.int64]], Floats],
    grid: Floats,
    values: Floats,
    resolution: Resolution,
    log_lift: float = 0.0,
) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
    """Close in on what matters of several densities, until their peaks are resolved.

    Parameters
    ----------
    log_density
        Log densities at points of log theta, ``[row, point]``, for some of the densities.
    grid, values
        Points that hold all that matters, and the log densities there: ``[row, point]``.
    resolution
        How many points each density is to have.
    log_lift
        By how much more than so far the log density may be raised at its lower end.

    Yields
    ------
    tuple
        Which densities are resolved, their points, and their log densities there.
    """
    rows = np.arange(len(values))
    for last in range(_MOST_ROUNDS, 0, -1):
        if len(rows) == 0:
            return
        grid = _closer_grid(grid, values, resolution, log_lift)
        values = log_density(grid, rows)
        fine = (_points_of_peak(values) >= 0.8 * resolution.points_of_peak) | (last == 1)
        if fine.any():
            yield rows[fine], grid[fine], values[fine]
        rows, grid, values = rows[~fine], grid[~fine], values[~fine]


def _points_of_peak(values: Floats) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = (values > values.max(axis=-1, keepdims=True) - _DEPTH_OF_PEAK).sum(
        axis=-1
    )
    return counts


def _closer_grid(grid: Floats, values: Floats, resolution: Resolution, log_lift: float) -> Floats:
    """Return grids of what is within a depth of the peak, fine enough for the peak."""
    rows, n_points = np.arange(len(values)), values.shape[1]
    below_peak = values.max(axis=1, keepdims=True) - values
    first = (below_peak < DEPTH + log_lift).argmax(axis=1)
    last = n_points - 1 - (below_peak < DEPTH)[:, ::-1].argmax(axis=1)
    low, high = np.maximum(first - 1, 0), np.minimum(last + 1, n_points - 1)
    wanted = int((resolution.points_of_peak * (high - low) // _points_of_peak(values)).max())
    number = min(max(wanted, resolution.fewest_points), _MOST_POINTS)
    closer: Floats = np.linspace(grid[rows, low], grid[rows, high], number, axis=1)
    return closer


def few_nodes(height: Callable[[float], float]) -> tuple[list[float], float]:
    """Place few equidistant points of log theta that resolve a density, and return their distance.

    Parameters
    ----------
    height
        The log density of log theta, which has one peak; it is requested several times at the same
        point.
    """
    middle, width = _find_peak(height)
    step = min(_STEP_IN_DEVIATIONS * width, _LARGEST_STEP)
    while True:
        nodes = _nodes_around(height, middle, step)
        values = np.array([height(node) for node in nodes])
        total = log_trapezoid(values, step)
        coarse = [log_trapezoid(values[start::2], 2.0 * step) for start in (0, 1)]
        agree = max(abs(float(part - total)) for part in coarse) < _AGREEMENT
        if agree or len(nodes) > _MOST_NODES:
            return nodes, step
        step /= 2.0


def _find_peak(height: Callable[[float], float]) -> tuple[float, float]:
    """Log theta near the peak, and how wide the peak is."""
    low, middle, high = map(log, _FIRST_THETAS)
    while height(low) > height(middle) and low > -60.0:
        low, middle, high = low - 2.0, low, middle
    while height(high) > height(middle) and high < 6.0:
        low, middle, high = middle, high, high + 1.0
    while height(middle) - min(height(low), height(high)) > 0.6:
        trial = (low + middle) / 2.0 if middle - low > high - middle else (middle + high) / 2.0
        if trial in (low, middle, high):
            break
        if height(trial) > height(middle):
            low, high = (low, middle) if trial < middle else (middle, high)
            middle = trial
        elif trial < middle:
            low = trial
        else:
            high = trial
    drops = [
        (reach, height(middle) - height(end))
        for reach, end in ((middle - low, low), (high - middle, high))
    ]
    widths = [reach / sqrt(2.0 * drop) for reach, drop in drops if drop > 1e-9]
    return middle, min([*widths, inf])


def _nodes_around(height: Callable[[float], float], middle: float, step: float) -> list[float]:
    """Equidistant nodes that cover the peak."""
    nodes = [middle]
    top = height(middle)
    for sign in (-1.0, 1.0):
        for number in range(1, _MOST_NODES + 1):
            node = middle + sign * number * step
            nodes.append(node)
            top = max(top, height(node))
            if height(node) < top - _DEPTH_OF_FEW:
                break
    return sorted(nodes)
