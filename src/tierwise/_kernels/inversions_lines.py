"""Gaussian factorials and lines of tiers: theta by Newton's method or by the trapezoidal rule.

With ``q = exp(-theta)``, ``[k]_q!`` is the product of ``1 + q + ... + q^(i-1)`` for ``i`` up to
``k``. Each factor is the normaliser of a truncated geometric variable, so its derivatives are minus
the mean and the variance of that variable: sums of positive terms, in which nothing cancels,
however small theta is.

A line is what lies between a tier and all worse tiers. Its log-likelihood is
``curve(theta) - theta * total``, where ``total`` is the number of inversions and the curve a sum of
logarithms of Gaussian factorials. It is concave for complete rankings, but need not be where there
are ties: a scan of thetas finds where Newton's method begins.

For searches the logarithms are kept on a grid as values with two derivatives, between which they
are polynomials of degree five. The grid is equidistant in ``x`` with ``theta = sinh(x) / scale``:
even near 0, geometric beyond. The singularities that are nearest in the complex plane are then at
the distance pi / 2, so that polynomials over steps of 0.05 are good to eleven digits.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part, inlined
from tierwise._kernels.theta import (
    PriorTable,
    grid_quantiles,
    integral_up_to,
    log_prior,
    top_of_curve,
)

_Floats = npt.NDArray[np.float64]

GRID_STEP = 0.05
# At this theta a wrong order of two neighbours has the probability 4e-18.
LARGEST_GRID_THETA = 40.0


class FactorialGrid(NamedTuple):
    """Logarithms of Gaussian factorials on a grid of thetas."""

    step: float
    """Distance of the nodes in ``x``."""
    scale: float
    """``theta = sinh(x) / scale``."""
    thetas: _Floats
    """Theta at each node; the first is 0."""
    factorials: _Floats
    """``[k, node]``: value, first and second derivative of ``log [k]_q!``, in steps of the grid."""


@compiled_if_many(lambda theta, largest: 2.0 * largest)
def log_q_factorials(theta: float, largest: int) -> _Floats:
    """Logarithms of ``[k]_q!`` for ``k`` from 0 to ``largest``; theta may be 0 or infinite."""
    logs = np.zeros(largest + 1)
    if theta == np.inf:
        return logs
    for number in range(2, largest + 1):
        factor = float(number)
        if theta > 0.0:
            factor = np.expm1(-theta * number) / np.expm1(-theta)
        logs[number] = logs[number - 1] + np.log(factor)
    return logs


@compiled_if_many(lambda theta, largest: 4.0 * largest)
def q_factorial_derivatives(theta: float, largest: int) -> _Floats:
    """Row 0: ``log [k]_q!`` for all ``k``; rows 1 and 2: its derivatives in theta."""
    rows = np.zeros((3, largest + 1))
    if theta == np.inf:
        return rows
    total, first, second = 1.0, 0.0, 0.0
    for number in range(2, largest + 1):
        passed = number - 1.0
        weight = np.exp(-theta * passed)
        total += weight
        first += weight * passed
        second += weight * passed * passed
        mean = first / total
        rows[0, number] = rows[0, number - 1] + np.log(total)
        rows[1, number] = rows[1, number - 1] - mean
        rows[2, number] = rows[2, number - 1] + (second / total - mean * mean)
    return rows


@compiled_if_many(lambda largest, step, scale, n_nodes: 6.0 * largest * n_nodes)
def fill_grid(largest: int, step: float, scale: float, n_nodes: int) -> _Floats:
    """Values and derivatives, in steps of the grid, of ``log [k]_q!`` at all nodes."""
    table = np.zeros((largest + 1, n_nodes, 3))
    for node in range(n_nodes):
        theta = np.sinh(node * step) / scale
        rows = q_factorial_derivatives(theta, largest)
        slope = np.cosh(node * step) / scale
        for number in range(largest + 1):
            table[number, node, 0] = rows[0, number]
            table[number, node, 1] = step * slope * rows[1, number]
            table[number, node, 2] = (
                step * step * (slope * slope * rows[2, number] + theta * rows[1, number])
            )
    return table


def make_factorial_grid(largest: int) -> FactorialGrid:
    """Tabulate the logarithms of Gaussian factorials up to ``largest`` for all thetas."""
    scale = float(max(largest, 1))
    n_nodes = int(np.ceil(np.arcsinh(LARGEST_GRID_THETA * scale) / GRID_STEP)) + 2
    thetas = np.sinh(GRID_STEP * np.arange(n_nodes)) / scale
    return FactorialGrid(GRID_STEP, scale, thetas, fill_grid(largest, GRID_STEP, scale, n_nodes))


def make_single_theta_grid(theta: float, largest: int) -> FactorialGrid:
    """Return a grid with one node: the logarithms at one theta and nothing else."""
    values = log_q_factorials(float(theta), largest)
    return FactorialGrid(GRID_STEP, 1.0, np.array([float(theta)]), values.reshape(-1, 1, 1))


_SCANNED = 64
_LEAST, _MOST = 1e-5, 40.0
# The top of a likelihood is found to this share of theta, that of a line to this share of a cell.
_PRECISION, PRECISION_OF_LINES = 1e-13, 1e-10


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


class _ThetaLikelihood(NamedTuple):
    """What the likelihood of one theta depends on, as in `theta_derivatives`."""

    total: float
    coefficients: _Floats


@inlined
def _slope_and_bend(likelihood: _ThetaLikelihood, theta: float) -> tuple[float, float]:
    _, first, second = theta_derivatives(likelihood.total, likelihood.coefficients, theta)
    return first, second


@compiled_if_many(lambda total, coefficients: 300.0 * len(coefficients))
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
    likelihood = _ThetaLikelihood(total, coefficients)
    start = thetas[node]
    theta = top_of_curve(_slope_and_bend, likelihood, start, low, high, _PRECISION * start)
    value, _, second = theta_derivatives(total, coefficients, theta)
    return theta, value, -second


# What is smaller than the peak by this logarithm is left out of an integral.
_DEPTH = 32.0
# Steps of the trapezoidal rule in log theta: in standard deviations, and at most.
_STEP_IN_DEVIATIONS, _LARGEST_STEP = 0.5, 0.125
_FINER_FOR_DRAWS = 5.0
_MOST_NODES = 20_000
_MOST_HALVINGS = 800


class LineObjective(NamedTuple):
    """How tiers are valued: a sum over lines and tiers.

    What is None is known when kernels are compiled, and what it would need is left out: where both
    are, theta is given.
    """

    prior: PriorTable | None
    """What the thetas of lines are integrated over."""
    precision: float | None
    """How exactly the best theta of each line is found, in steps of the grid."""
    grid: FactorialGrid
    """Of all thetas; where theta is given, of that one only."""
    n_rankings: float
    log_factorials: _Floats
    tier_constant: float
    """What each tier adds, whatever its size."""

    @property
    def has_given_theta(self) -> bool:
        """Whether theta is given."""
        return self.prior is None and self.precision is None


@inlined
def _quintic(curve: _Floats, cell: int) -> tuple[float, float, float]:
    """Coefficients, from the cube on, of the quintic through the nodes on both sides of a cell."""
    rise = curve[cell + 1, 0] - curve[cell, 0]
    slope, next_slope = curve[cell, 1], curve[cell + 1, 1]
    bend, next_bend = curve[cell, 2], curve[cell + 1, 2]
    third = 10.0 * rise - 6.0 * slope - 4.0 * next_slope - 1.5 * bend + 0.5 * next_bend
    fourth = -15.0 * rise + 8.0 * slope + 7.0 * next_slope + 1.5 * bend - next_bend
    fifth = 6.0 * rise - 3.0 * (slope + next_slope) - 0.5 * (bend - next_bend)
    return third, fourth, fifth


@compiled_part
def curve_at(grid: FactorialGrid, curve: _Floats, theta: float) -> float:
    """Value of a curve at any theta, from the nodes on both sides."""
    place = np.arcsinh(theta * grid.scale) / grid.step
    cell = int(min(place, curve.shape[0] - 2.0))
    part = min(place - cell, 1.0)
    slope, bend = curve[cell, 1], curve[cell, 2]
    third, fourth, fifth = _quintic(curve, cell)
    higher = third + part * (fourth + part * fifth)
    return float(curve[cell, 0] + part * (slope + part * (0.5 * bend + part * higher)))


class _Cell(NamedTuple):
    """A line between two nodes: the coefficients of its quintic, and what inversions cost."""

    slope: float
    bend: float
    third: float
    fourth: float
    fifth: float
    start: float
    step: float
    cost: float


@inlined
def _cell_derivatives(cell: _Cell, part: float) -> tuple[float, float]:
    """Return the derivatives of a line where a part of a cell is passed, in steps."""
    x = cell.start + part * cell.step
    first = cell.slope + part * (
        cell.bend + part * (3.0 * cell.third + part * (4.0 * cell.fourth + part * 5.0 * cell.fifth))
    )
    second = cell.bend + part * (
        6.0 * cell.third + part * (12.0 * cell.fourth + part * 20.0 * cell.fifth)
    )
    return first - cell.cost * np.cosh(x), second - cell.cost * cell.step * np.sinh(x)


@compiled_part
def maximise_line(
    grid: FactorialGrid, precision: float, curve: _Floats, total: float
) -> tuple[float, float]:
    """Largest value of a line over theta, and that theta, which may be 0 or infinite."""
    best, node = -np.inf, 0
    for other in range(curve.shape[0]):
        value = curve[other, 0] - grid.thetas[other] * total
        if value > best:
            best, node = value, other
    if total <= 0.0 and best <= 0.0:
        # The curve ends in 0, and all rankings agree with the line.
        return 0.0, np.inf
    if node == curve.shape[0] - 1:
        return best, grid.thetas[node]
    if node == 0 and curve[0, 1] - total * grid.step / grid.scale <= 0.0:
        return best, 0.0
    cell = node
    here = curve[node, 1] - total * grid.step * np.cosh(node * grid.step) / grid.scale
    if here < 0.0:
        cell = node - 1
    third, fourth, fifth = _quintic(curve, cell)
    between = _Cell(
        curve[cell, 1],
        curve[cell, 2],
        third,
        fourth,
        fifth,
        cell * grid.step,
        grid.step,
        total * grid.step / grid.scale,
    )
    part = top_of_curve(_cell_derivatives, between, 0.5, 0.0, 1.0, precision)
    theta = np.sinh((cell + part) * grid.step) / grid.scale
    value = curve_at(grid, curve, theta) - theta * total
    if value < best:
        return best, grid.thetas[node]
    return value, theta


@compiled_part
def _height(
    grid: FactorialGrid, prior: PriorTable, curve: _Floats, total: float, log_theta: float
) -> float:
    """Log of what is integrated over log theta."""
    theta = np.exp(log_theta)
    return float(curve_at(grid, curve, theta) - theta * total + log_prior(prior, log_theta, theta))


@compiled_part
def _enclose_peak(
    grid: FactorialGrid,
    prior: PriorTable,
    curve: _Floats,
    total: float,
    points: _Floats,
    heights: _Floats,
) -> None:
    """Write three points around the peak of what is integrated over log theta, and heights."""
    best, node = -np.inf, 1
    for other in range(1, curve.shape[0]):
        value = curve[other, 0] - grid.thetas[other] * total + prior.at_nodes[other]
        if value > best:
            best, node = value, other
    # Three points that enclose the peak once the middle one is the highest.
    points[1] = np.log(grid.thetas[node])
    points[0] = np.log(grid.thetas[node - 1]) if node > 1 else points[1] - 1.0
    points[2] = np.log(grid.thetas[min(node + 1, curve.shape[0] - 1)])
    for place in range(3):
        heights[place] = _height(grid, prior, curve, total, points[place])
    for _ in range(_MOST_HALVINGS):
        falling = heights[0] > heights[1]
        drop = heights[1] - min(heights[0], heights[2])
        if not falling and (drop < 0.5 or points[2] - points[0] < 1e-9):
            break
        # Below the first node, go down; else halve the larger part.
        upper = points[2] - points[1] > points[1] - points[0]
        trial = (points[1] + points[2 if upper else 0]) / 2.0
        if falling:
            trial = points[0] - 1.0
        height = _height(grid, prior, curve, total, trial)
        if falling:
            points[2], heights[2] = points[1], heights[1]
            points[1], heights[1] = points[0], heights[0]
            points[0], heights[0] = trial, height
        elif height > heights[1]:
            end = 0 if upper else 2
            points[end], heights[end] = points[1], heights[1]
            points[1], heights[1] = trial, height
        else:
            end = 2 if upper else 0
            points[end], heights[end] = trial, height


@compiled_part
def _find_peak(
    grid: FactorialGrid, prior: PriorTable, curve: _Floats, total: float
) -> tuple[float, float, float]:
    """Log theta near the peak of what is integrated, its height, and a good step."""
    points, heights = np.empty(3), np.empty(3)
    _enclose_peak(grid, prior, curve, total, points, heights)
    step = _LARGEST_STEP
    for end in range(0, 3, 2):
        reach, drop = abs(points[1] - points[end]), heights[1] - heights[end]
        if reach > 0.0 and drop > 1e-6:
            step = min(step, _STEP_IN_DEVIATIONS * reach / np.sqrt(2.0 * drop))
    # The drop to one side may be that of a slope: measure the bend at the distance of a step.
    for _ in range(8):
        drop = heights[1]
        for side in range(2):
            point = points[1] + step * (2.0 * side - 1.0)
            drop -= _height(grid, prior, curve, total, point) / 2.0
        if drop < 0.4 * _STEP_IN_DEVIATIONS * _STEP_IN_DEVIATIONS and step < _LARGEST_STEP:
            step = min(step * 1.6, _LARGEST_STEP)
        elif drop > 0.7 * _STEP_IN_DEVIATIONS * _STEP_IN_DEVIATIONS:
            step /= 1.6
        else:
            break
    return points[1], heights[1], step


@compiled_if_many(lambda *_: 500.0)
def integrate_line(grid: FactorialGrid, prior: PriorTable, curve: _Floats, total: float) -> float:
    """Log of the integral of a line's likelihood over the prior of theta."""
    middle, peak, step = _find_peak(grid, prior, curve, total)
    sum_of_terms = 1.0
    for side in range(2):
        signed_step = step * (2.0 * side - 1.0)
        for number in range(1, _MOST_NODES):
            height = _height(grid, prior, curve, total, middle + number * signed_step) - peak
            if height < -_DEPTH:
                break
            sum_of_terms += np.exp(height)
    return float(peak + np.log(sum_of_terms * step))


@compiled_part
def theta_density(
    grid: FactorialGrid, prior: PriorTable, curve: _Floats, total: float
) -> tuple[_Floats, _Floats]:
    """Equidistant points of log theta that cover its posterior, and relative densities there."""
    middle, peak, step = _find_peak(grid, prior, curve, total)
    step /= _FINER_FOR_DRAWS
    ends = np.zeros(2, np.int64)
    for side in range(2):
        sign = 2.0 * side - 1.0
        number = 1
        while (
            number < _MOST_NODES
            and _height(grid, prior, curve, total, middle + sign * number * step) - peak > -_DEPTH
        ):
            number += 1
        ends[side] = number
    count = ends[0] + ends[1] + 1
    points = np.empty(count)
    heights = np.empty(count)
    for place in range(count):
        points[place] = middle + (place - ends[0]) * step
        heights[place] = np.exp(_height(grid, prior, curve, total, points[place]) - peak)
    return points, heights


@compiled_if_many(lambda grid, prior, curve, total, shares: 5000.0 + 10.0 * len(shares))
def theta_quantiles(
    grid: FactorialGrid, prior: PriorTable, curve: _Floats, total: float, shares: _Floats
) -> _Floats:
    """Thetas below which shares of their posterior lie: draws, where the shares are uniform."""
    points, heights = theta_density(grid, prior, curve, total)
    thetas = grid_quantiles(points, heights, integral_up_to(heights), shares)
    for place in range(thetas.shape[0]):
        thetas[place] = np.exp(thetas[place])
    return thetas


@inlined
def line_value(objective: LineObjective, curve: _Floats, total: float) -> float:
    """Value of a line: at the given theta, at its best theta, or integrated over theta."""
    return _value_at(objective.grid, objective.prior, objective.precision, curve, total)


@compiled_part
def _value_at(
    grid: FactorialGrid,
    prior: PriorTable | None,
    precision: float | None,
    curve: _Floats,
    total: float,
) -> float:
    # Only where an argument itself is None is the rest left out.
    if prior is not None:
        return integrate_line(grid, prior, curve, total)
    if precision is not None:
        return maximise_line(grid, precision, curve, total)[0]
    return float(curve[0, 0] - grid.thetas[0] * total)


@compiled_part
def curve_of_sizes(
    objective: LineObjective,
    size: int | np.int64,
    n_worse: int | np.int64,
    curve: _Floats,
) -> None:
    """Curve of a line for complete rankings, which depends on sizes only."""
    table = objective.grid.factorials
    weight = objective.n_rankings
    for node in range(curve.shape[0]):
        for order in range(curve.shape[1]):
            curve[node, order] = weight * (
                table[size, node, order]
                + table[n_worse, node, order]
                - table[size + n_worse, node, order]
            )
