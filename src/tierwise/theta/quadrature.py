"""Integrals over ``log theta`` by the trapezoidal rule, which for a bump converges very fast."""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

# What is smaller than the peak by this logarithm is left out.
NEGLIGIBLE = 32.0
# Where every second node gives the same to this accuracy, all nodes are good to its square.
_AGREEMENT_OF_STEPS = 1e-6


def log_integral(log_terms: Callable[[_Floats], _Floats], nodes: _Floats) -> float:
    """Log of an integral, given the log of what is integrated at any nodes.

    Parameters
    ----------
    log_terms
        Log of what is integrated.
    nodes
        Equidistant nodes, odd in number, that cover all that matters; more are put between them
        until that makes no difference.

    Examples
    --------
    >>> import numpy as np
    >>> bump = lambda nodes: -nodes * nodes / 2
    >>> round(log_integral(bump, np.linspace(-9, 9, 21)), 6)
    0.918939
    """
    step = float(nodes[1] - nodes[0])
    terms = log_terms(nodes)
    total = log_sum(terms) + log(step)
    # Every second node is the same rule with twice the step.
    while abs(log_sum(terms[::2]) + log(2 * step) - total) > _AGREEMENT_OF_STEPS:
        middles = (nodes[:-1] + nodes[1:]) / 2
        nodes, terms = _interleave(nodes, middles), _interleave(terms, log_terms(middles))
        step /= 2
        total = log_sum(terms) + log(step)
    return total


def covering_nodes(
    height: Callable[[float], float], mode: float, step: float, log_lift: float
) -> _Floats:
    """Equidistant nodes, odd in number, that cover a peak.

    Parameters
    ----------
    height
        Log of what makes the peak.
    mode, step
        Where it is, and the distance of the nodes.
    log_lift
        By how much the log of what is integrated may exceed the height on the left side.
    """
    floor = height(mode) - NEGLIGIBLE
    left = right = 1
    while height(mode - left * step) > floor - log_lift:
        left += 1
    while height(mode + right * step) > floor:
        right += 1
    right += (left + right) % 2
    return mode + step * np.arange(-left, right + 1, dtype=np.float64)


def log_sum(terms: _Floats) -> float:
    """Log of a sum, given the logs of its terms."""
    peak = float(terms.max())
    return peak + log(float(np.exp(terms - peak).sum()))


def _interleave(first: _Floats, second: _Floats) -> _Floats:
    """Put the second values between the first ones."""
    mixed = np.empty(len(first) + len(second))
    mixed[::2], mixed[1::2] = first, second
    return mixed
