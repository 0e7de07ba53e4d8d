"""Effects of draws and of the first place, moved by steps of Metropolis given worths alone."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Steps of effects in each sweep: they cost next to nothing, and one alone does not move far.
_STEPS_OF_EFFECTS = 8


@compiled_part
def _log_density_of_effects(
    logs: _Floats,
    shapes: _Floats,
    middles: _Floats,
    successes: _Floats,
    worths: _Floats,
    met: _Floats,
    count: int,
) -> float:
    """Log of likelihood times prior of log effects, given worths, up to a constant."""
    value = 0.0
    for effect in range(2):
        if shapes[effect] > 0.0:
            above = logs[effect] - np.log(middles[effect])
            value += successes[effect] * logs[effect]
            value -= shapes[effect] * (np.log1p(np.exp(-abs(above))) * 2.0 + abs(above))
    first = np.exp(logs[0])
    drawn = np.exp(logs[1]) if shapes[1] > 0.0 else 0.0
    for one in range(count):
        for other in range(count):
            if met[one, other] > 0.0:
                total = first * worths[one] + worths[other]
                total += drawn * np.sqrt(worths[one] * worths[other])
                value -= met[one, other] * np.log(total)
    return value


@compiled_part
def move_effects(
    effects: _Floats,
    shapes: _Floats,
    middles: _Floats,
    successes: _Floats,
    steps: _Floats,
    worths: _Floats,
    met: _Floats,
    count: int,
    rng: np.random.Generator,
) -> None:
    """Move effects given worths, no times being given: steps of Metropolis.

    Given the times they would be Gamma variables, but hardly move where each pair met seldom.
    """
    logs, tried = np.zeros(2), np.zeros(2)
    for effect in range(2):
        if shapes[effect] > 0.0:
            logs[effect] = np.log(effects[effect])
    value = _log_density_of_effects(logs, shapes, middles, successes, worths, met, count)
    for _ in range(_STEPS_OF_EFFECTS):
        one, other = rng.standard_normal(), rng.standard_normal()
        tried[0] = logs[0] + steps[0, 0] * one
        tried[1] = logs[1] + steps[1, 0] * one + steps[1, 1] * other
        new = _log_density_of_effects(tried, shapes, middles, successes, worths, met, count)
        if np.log(1.0 - rng.random()) < new - value:
            logs[0], logs[1], value = tried[0], tried[1], new
    for effect in range(2):
        if shapes[effect] > 0.0:
            effects[effect] = np.exp(logs[effect])
