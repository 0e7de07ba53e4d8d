"""Slice sampling of the logarithm of theta, with stepping out and shrinking.

It is written as one step, to be called in a loop with the density of the point that it asks for: a
density that is called in five places is compiled five times.

References
----------
R. M. Neal (2003). Slice sampling. Annals of Statistics 31, 705-767.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import inlined_part

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
