"""Gaussian factorials: logarithms of ``[k]_q!`` and their derivatives in theta.

With ``q = exp(-theta)``, ``[k]_q!`` is the product of ``1 + q + ... + q^(i-1)`` for ``i`` up to
``k``. Each factor is the normaliser of a truncated geometric variable, so its derivatives are minus
the mean and the variance of that variable: sums of positive terms, in which nothing cancels,
however small theta is.

For searches the logarithms are kept on a grid as values with two derivatives, between which they
are polynomials of degree five. The grid is equidistant in ``x`` with ``theta = sinh(x) / scale``:
even near 0, geometric beyond. The singularities that are nearest in the complex plane are then at
the distance pi / 2, so that polynomials over steps of 0.05 are good to eleven digits.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

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


@compiled
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


@compiled
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


@compiled
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
