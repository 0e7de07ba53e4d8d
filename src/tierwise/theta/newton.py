"""Newton's method to the top of a curve over theta, or over several thetas.

One theta stays within a bracket that the sign of the slope tells: values, which may be estimates,
are not compared. With several, steps go uphill also where the curve bends the wrong way, they are
halved until the value grows, and they stop at the bounds.

References
----------
J. Nocedal and S. J. Wright (2006). Numerical Optimization, 2nd edition, sections 3.4 and 16.7.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.answers.base import Floats
    from tierwise.answers.curves import Derivatives

_MOST_STEPS = 200
_MOST_HALVINGS = 40
# The error of a Newton step is of the order of its square: after one as small as this, relative to
# where it leads, there is none left to speak of.
_LAST_STEP = 1e-7
# Brackets are halved until so little is left.
_LAST_HALVING = 1e-13
# Values that differ by less than this share of themselves are equal up to rounding.
_ROUNDING = 1e-14


class Top(NamedTuple):
    """Where a function is largest nearby, and its derivatives there, up to a last small step."""

    point: Floats
    derivatives: Derivatives


def climb(
    function: Callable[[Floats], Derivatives],
    start: Floats,
    *,
    low: float,
    high: float,
    longest: float,
    scale: float,
) -> Top:
    """Go uphill to where a function is largest nearby, by Newton steps within bounds.

    Parameters
    ----------
    function
        Value, gradient and Hessian at a point.
    start
        Where to begin.
    low, high
        Bounds of all coordinates.
    longest
        The longest step in any coordinate; a coordinate above this may double.
    scale
        Steps are small relative to the coordinates, or to this where they are smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.answers.curves import Derivatives
    >>> def parabola(at):
    ...     return Derivatives(-float((at - 2.0) @ (at - 2.0)), 4.0 - 2.0 * at, -2.0 * np.eye(2))
    >>> climb(parabola, np.zeros(2), low=0.0, high=1.5, longest=1.0, scale=1.0).point
    array([1.5, 1.5])
    """
    point = np.clip(start, low, high)
    here = function(point)
    if len(point) == 1:
        return _climb_one(function, Top(point, here), low, high, longest, scale)
    for _ in range(_MOST_STEPS):
        gradient = here.gradient
        moving = ~(((point <= low) & (gradient <= 0.0)) | ((point >= high) & (gradient >= 0.0)))
        if not moving.any():
            break
        step = np.zeros(len(point))
        step[moving] = _uphill(gradient[moving], here.hessian[np.ix_(moving, moving)])
        too_long = float((np.abs(step) / np.maximum(np.abs(point), longest)).max())
        step /= max(too_long, 1.0)
        is_last = bool((np.abs(step) <= _LAST_STEP * np.maximum(np.abs(point), scale)).all())
        following, reached = _go(function, point, step, here, low, high, checked=not is_last)
        if following is point:
            break
        point, here = following, reached
        if is_last:
            break
    return Top(point, here)


def _climb_one(
    function: Callable[[Floats], Derivatives],
    start: Top,
    low: float,
    high: float,
    longest: float,
    scale: float,
) -> Top:
    """Climb along one coordinate, between a point where the slope is positive and one beyond."""
    (at,), here = start.point.tolist(), start.derivatives
    below, above = low, inf
    bound_is_open = at > low
    for _ in range(_MOST_STEPS):
        slope, bend = float(here.gradient[0]), float(here.hessian[0, 0])
        if (slope <= 0.0 and at <= low) or (slope >= 0.0 and at >= high):
            break
        if slope > 0.0:
            below = at
        else:
            above = at
        newton = at - slope / bend if bend < 0.0 else -inf
        near = max(abs(at), scale)
        settled = abs(newton - at) <= _LAST_STEP * near
        following = newton
        if bend < 0.0 and newton <= low and bound_is_open:
            following, settled, bound_is_open = low, False, False
        elif not (settled or below < newton < above):
            doubled = at + max(abs(at), longest)
            following = doubled if above == inf else (below + above) / 2.0
            settled = abs(following - at) <= _LAST_HALVING * near
        at = min(max(following, low), high)
        at_bound = above < low + scale
        at = low if at_bound else at
        if settled and not at_bound:
            # So near, derivatives are the same.
            break
        here = function(np.array([at]))
        if at_bound:
            break
    return Top(np.array([at]), here)


def _uphill(gradient: Floats, hessian: Floats) -> Floats:
    """Newton step, but for directions in which the function bends upwards: these are turned."""
    eigenvalues, vectors = np.linalg.eigh(hessian)
    bends = np.abs(eigenvalues)
    bends = np.maximum(bends, 1e-12 * bends.max() + 1e-300)
    step: Floats = vectors @ ((vectors.T @ gradient) / bends)
    return step


def _go(
    function: Callable[[Floats], Derivatives],
    point: Floats,
    step: Floats,
    here: Derivatives,
    low: float,
    high: float,
    *,
    checked: bool,
) -> tuple[Floats, Derivatives]:
    """Take a step, or a part of it; the same point is returned where no part leads higher."""
    least = here.value - _ROUNDING * abs(here.value)
    for _ in range(_MOST_HALVINGS):
        following = np.clip(point + step, low, high)
        reached = function(following)
        if not checked or reached.value >= least:
            return following, reached
        step = step / 2.0
    return point, here
