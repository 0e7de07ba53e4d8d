"""What kernels ask of theta: where a likelihood is highest, and draws.

The highest point is found by Newton's method, kept between bounds. Draws are made by the inverse of
the distribution function, and by slice sampling.

The distribution function is that of a density on a grid, or of one that is tabulated around its
peak, for a prior times ``exp(-theta total) / Psi(theta)^number``. Chebyshev series, which
interpolate ``log Psi``, are evaluated by Clenshaw's recurrence.

Slice sampling, with stepping out and shrinking, is written as one step, to be called in a loop with
the density of the point that it asks for: a density that is called in five places is compiled five
times.

References
----------
R. M. Neal (2003). Slice sampling. Annals of Statistics 31, 705-767.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part, inlined
from tierwise._kernels.counting import count_up_to

_Floats = npt.NDArray[np.float64]
_Curve = TypeVar("_Curve")

# Steps to the top of a curve, at most; halving alone would need fewer than a hundred.
_MOST_NEWTON_STEPS = 200
# Steps to a quantile between two points.
_NEWTON_STEPS = 4
# Where the log density is this far below its peak, nothing is left.
_DEPTH = 37.0
# Points between the ends of what is left: a few dozen for each standard deviation.
_FEWEST_POINTS, _WANTED_POINTS = 200, 400
# A density that falls to 0 from this height within one step jumps there.
_JUMP = 1e-9
# What the density is wanted for: where the chain is, the two ends, points between them.
_HERE, _LOW, _HIGH, _BETWEEN, ACCEPTED = 0, 1, 2, 3, 4
SLICE_WIDTH = 0.3


@inlined
def top_of_curve(
    derivatives: Callable[[_Curve, float], tuple[float, float]],
    curve: _Curve,
    start: float,
    low: float,
    high: float,
    tolerance: float,
) -> float:
    """Return where a curve is highest, by Newton steps that stay between bounds.

    A step that leaves them, or where the curve is not concave, goes to the middle instead, or to
    twice as much where there is no upper bound. Both functions are copied into the kernel that
    calls this.

    Parameters
    ----------
    derivatives
        ``derivatives(curve, at)`` returns the first two derivatives.
    curve
        What they depend on.
    start, low, high
        Where to begin, above 0, and the bounds; ``high`` may be infinite.
    tolerance
        A step that is not larger is the last.
    """
    at = start
    for _ in range(_MOST_NEWTON_STEPS):
        slope, bend = derivatives(curve, at)
        if slope > 0.0:
            low = at
        else:
            high = at
        following = at - slope / bend if bend < 0.0 else -1.0
        if not low <= following <= high:
            following = 2.0 * at if high == np.inf else (low + high) / 2.0
        settled = abs(following - at) <= tolerance
        at = following
        if settled:
            break
    return at


@compiled_if_many(lambda coefficients, points: coefficients.size * points.size)
def evaluate_series(coefficients: _Floats, points: _Floats) -> _Floats:
    """Values of a Chebyshev series at points between -1 and 1, by Clenshaw's recurrence."""
    current = np.zeros(points.shape[0])
    following = np.zeros(points.shape[0])
    for degree in range(coefficients.shape[0] - 1, 0, -1):
        coefficient = coefficients[degree]
        for point in range(points.shape[0]):
            value = 2.0 * points[point] * current[point] - following[point] + coefficient
            following[point] = current[point]
            current[point] = value
    values: _Floats = coefficients[0] + points * current - following
    return values


@compiled
def grid_quantiles(
    points: _Floats,
    heights: _Floats,
    cumulative: _Floats,
    shares: _Floats,
) -> _Floats:
    """Points below which given shares lie.

    ``cumulative`` is the integral up to each point, in steps of the grid. Between two points the
    density is the parabola that meets both heights and the integral between them.
    """
    quantiles = np.empty(shares.shape[0])
    for row in range(shares.shape[0]):
        wanted = shares[row] * cumulative[-1]
        cell = count_up_to(cumulative, wanted) - 1
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


@compiled
def integral_up_to(heights: _Floats) -> _Floats:
    """Integral of a density up to each of its points, which are equidistant, in steps.

    Between two points it is that of the cubic through them and their neighbours, or of a straight
    line beside a jump of the prior. Where it jumps to impossible thetas the cell is left out.
    """
    n_points = heights.shape[0]
    cumulative = np.zeros(n_points)
    for cell in range(n_points - 1):
        left, right = heights[cell], heights[cell + 1]
        before = heights[cell - 1] if cell > 0 else 0.0
        after = heights[cell + 2] if cell + 2 < n_points else 0.0
        straight = (left + right) / 2.0
        part = (26.0 * straight - before - after) / 24.0
        if abs(part - straight) >= 0.5 * straight:
            part = straight
        if straight > _JUMP and min(left, right) == 0.0:
            part = 0.0
        cumulative[cell + 1] = cumulative[cell] + part
    return cumulative


class PriorTable(NamedTuple):
    """Log density of theta: that of a Gamma distribution plus what a table says."""

    shape: float
    rate: float
    log_constant: float
    lowest: float
    """Log of the least theta that is possible."""
    highest: float
    """Log of the largest theta that is possible."""
    start: float
    """Log theta of the first entry of the table."""
    step: float
    extra: _Floats
    """The table, which is empty for a Gamma distribution."""
    at_nodes: _Floats
    """Log density of log theta at the nodes of a grid, where there is one; ``-inf`` at theta 0."""


@inlined
def log_prior(prior: PriorTable, log_theta: float, theta: float) -> float:
    """Log density of log theta, at a theta."""
    if log_theta < prior.lowest or log_theta > prior.highest:
        return -np.inf
    value = prior.log_constant + prior.shape * log_theta - prior.rate * theta
    if prior.extra.shape[0] > 0:
        place = (log_theta - prior.start) / prior.step
        cell = int(min(max(place, 0.0), prior.extra.shape[0] - 2.0))
        part = min(max(place - cell, 0.0), 1.0)
        left, right = prior.extra[cell], prior.extra[cell + 1]
        if left == -np.inf or right == -np.inf:
            return float(left if part < 0.5 else right)
        value += left + (right - left) * part
    return float(value)


class ThetaPoints(NamedTuple):
    """Thetas that are equidistant on the scale of their logarithm, and what is known there."""

    prior: PriorTable
    """The prior, with the points as nodes."""
    log_thetas: _Floats
    thetas: _Floats
    log_partition: _Floats
    """Log of the partition function."""


@compiled_part
def _height(
    points: ThetaPoints,
    number: float,
    total: float,
    at: int | np.int64,
) -> float:
    """Log density at a point."""
    # The prior is tabled at the points: to compute it takes a quarter of a Gibbs sweep.
    prior = points.prior.at_nodes[at]
    return float(prior - number * points.log_partition[at] - total * points.thetas[at])


@compiled_part
def _find_peak(
    points: ThetaPoints,
    number: float,
    total: float,
    at: int | np.int64,
) -> int | np.int64:
    """Climb to the point of the largest density, by steps that are halved."""
    peak = _height(points, number, total, at)
    step = 1024
    while step > 0:
        moved = False
        for candidate in (at - step, at + step):
            if 0 <= candidate < points.thetas.shape[0]:
                height = _height(points, number, total, candidate)
                if height > peak:
                    at, peak, moved = candidate, height, True
                    break
        if not moved:
            step //= 2
    return at


@compiled_part
def _find_end(
    points: ThetaPoints,
    number: float,
    total: float,
    at: int | np.int64,
    sign: int,
) -> int | np.int64:
    """Go from the peak to the first point where nothing is left; -1 where there is none."""
    least = _height(points, number, total, at) - _DEPTH
    furthest = np.int64(at if sign < 0 else points.thetas.shape[0] - 1 - at)
    if _height(points, number, total, at + sign * furthest) >= least:
        return -1
    low, high = np.int64(0), min(np.int64(1), furthest)
    while _height(points, number, total, at + sign * high) >= least:
        low, high = high, min(2 * high, furthest)
    while high - low > 1:
        middle = (low + high) // 2
        end = at + sign * middle
        if _height(points, number, total, end) < least:
            high = middle
        else:
            low = middle
    return at + sign * high


@compiled_part
def _tabulate_theta(
    points: ThetaPoints, number: float, total: float, start: float
) -> tuple[_Floats, _Floats, _Floats]:
    """Log thetas, heights of their density, and its integral up to each, in steps.

    All are empty where the points are too few, or end too soon.
    """
    nearest = min(np.searchsorted(points.thetas, start), points.thetas.shape[0] - 1)
    at = _find_peak(points, number, total, nearest)
    peak = _height(points, number, total, at)
    first = _find_end(points, number, total, at, -1)
    last = _find_end(points, number, total, at, 1)
    span = last - first
    if first < 0 or span < _FEWEST_POINTS:
        return np.empty(0), np.empty(0), np.empty(0)
    stride = max(span // _WANTED_POINTS, 1)
    n_points = span // stride + 1
    chosen, heights = np.empty(n_points), np.empty(n_points)
    for point in range(n_points):
        place = first + point * stride
        chosen[point] = points.log_thetas[place]
        heights[point] = np.exp(_height(points, number, total, place) - peak)
    return chosen, heights, integral_up_to(heights)


@compiled
def draw_theta(
    points: ThetaPoints,
    number: float,
    total: float,
    start: float,
    share: float,
) -> float:
    """Return the theta of a group below which a share of its distribution lies.

    The density of ``log theta`` must have one peak. Not a number is returned where the points are
    too few, or end too soon.

    Parameters
    ----------
    points
        Thetas, and what is known there.
    number, total
        Number of rankings of the group, and their total distance.
    start
        A theta that is not far from the peak.
    share
        The share, between 0 and 1.
    """
    chosen, heights, cumulative = _tabulate_theta(points, number, total, start)
    if chosen.shape[0] == 0:
        return np.nan
    return float(np.exp(grid_quantiles(chosen, heights, cumulative, np.array([share]))[0]))


@compiled
def reflect_theta(
    points: ThetaPoints, number: float, total: float, theta: float, share: float
) -> float:
    """Return the theta above which as much of its distribution lies as below the given one.

    That leaves the distribution as it is (Adler's overrelaxation). Where the given theta is beyond
    all that matters, the one is returned below which a share lies.
    """
    chosen, heights, cumulative = _tabulate_theta(points, number, total, theta)
    if chosen.shape[0] == 0:
        return np.nan
    place = np.log(theta)
    if chosen[0] < place < chosen[-1]:
        cell = np.searchsorted(chosen, place) - 1
        part = (place - chosen[cell]) / (chosen[cell + 1] - chosen[cell])
        left, right = heights[cell], heights[cell + 1]
        bend = cumulative[cell + 1] - cumulative[cell] - (left + right) / 2.0
        # The parabola between two points, as in `grid_quantiles`.
        below = left * part + (right - left) * part * part / 2.0
        below += bend * part * part * (3.0 - 2.0 * part)
        share = 1.0 - (cumulative[cell] + below) / cumulative[-1]
    return float(np.exp(grid_quantiles(chosen, heights, cumulative, np.array([share]))[0]))


@compiled_part
def log_partition_at(points: ThetaPoints, theta: float) -> float:
    """Log partition function between points, by the cubic through the four nearest."""
    step = points.log_thetas[1] - points.log_thetas[0]
    place = (np.log(theta) - points.log_thetas[0]) / step
    cell = min(max(int(place), 1), points.thetas.shape[0] - 3)
    part = place - cell
    values = points.log_partition
    below, here, above, beyond = values[cell - 1 : cell + 3]
    return float(
        -part * (part - 1.0) * (part - 2.0) / 6.0 * below
        + (part + 1.0) * (part - 1.0) * (part - 2.0) / 2.0 * here
        - (part + 1.0) * part * (part - 2.0) / 2.0 * above
        + (part + 1.0) * part * (part - 1.0) / 6.0 * beyond
    )


@inlined
def next_point(
    stage: int,
    here: float,
    at: float,
    value: float,
    height: float,
    low: float,
    high: float,
    width: float,
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
        ``width`` apart, at random around ``here``.
    width
        By how much an end is moved until it is out of the slice. It must not depend on the state.
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
            low -= width
            return _LOW, low, height, low, high
        return _HIGH, high, height, low, high
    if stage == _HIGH and value > height:
        high += width
        return _HIGH, high, height, low, high
    if stage == _BETWEEN:
        if value > height:
            return ACCEPTED, at, height, low, high
        if at < here:
            low = at
        else:
            high = at
    return _BETWEEN, low + (high - low) * rng.random(), height, low, high
