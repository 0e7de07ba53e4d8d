"""Worths of tiers, and effects of draws and of the first place, given meetings of two items.

Given the tiers, worths are moved one by one (Metropolis), and all at once by a draw from the normal
distribution at the end of a step of Newton's method (Qi and Minka 2002): where answers are many,
that is all but independent of where it began. Their common scale, on which no answer depends, is
drawn again. Effects are moved by steps of Metropolis given worths alone.

References
----------
Y. Qi and T. P. Minka (2002). Hessian-based Markov chain Monte-Carlo algorithms. First Cape Cod
Workshop on Monte Carlo Methods.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled_part
from tierwise._kernels.luce_chain import in_order

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Best size of a step of Metropolis in one dimension, in standard deviations.
_STEP = 2.4
# Steps of effects in each sweep: they cost next to nothing, and one alone does not move far.
_STEPS_OF_EFFECTS = 8


class Meeting(NamedTuple):
    """What is known of the meetings; see `luce_meetings.run_sweeps_of_meetings`."""

    met: _Floats
    met_as_second: _Floats
    arrivals: _Floats
    totals: _Floats
    effects: _Floats
    shape: float
    log_priors: _Floats
    has_position: bool
    held: bool


class Stand(NamedTuple):
    """Where the chain stands.

    Attributes
    ----------
    labels
        Tier of each item, counted from 0, in any order.
    sizes, worths, logs
        Number of items, worth and log worth of each tier.
    first, second
        ``first[item, tier]``: how often an item met the items of a tier; where the first place
        plays a part, how often it was shown first. ``second``: how often it was not.
    table, turned
        ``table[tier, own]``: log of the sum of the weights of all outcomes where an item of the
        tier ``own`` meets one of ``tier``, being shown first. ``turned`` is its transpose.
    """

    labels: _Integers
    sizes: _Floats
    worths: _Floats
    logs: _Floats
    first: _Floats
    second: _Floats
    table: _Floats
    turned: _Floats


@compiled_part
def log_total(own: float, other: float, effects: _Floats) -> float:
    """Log of the sum of the weights of all outcomes, the item with the first worth shown first."""
    total = effects[0] * own + other
    if effects[1] > 0.0:
        total += effects[1] * np.sqrt(own * other)
    return float(np.log(total))


@compiled_part
def shares(own: float, other: float, effects: _Floats) -> tuple[float, float]:
    """First and second derivative of the log total in the log worth of the item shown first."""
    root = effects[1] * np.sqrt(own * other) if effects[1] > 0.0 else 0.0
    total = effects[0] * own + other + root
    share = (effects[0] * own + 0.5 * root) / total
    return share, (effects[0] * own + 0.25 * root) / total - share * share


@compiled_part
def set_worth(tier: int, log_worth: float, count: int, given: Meeting, stand: Stand) -> None:
    """Give a tier a worth, and write what depends on it into the tables."""
    own = np.exp(log_worth)
    stand.logs[tier], stand.worths[tier] = log_worth, own
    for other in range(count):
        total = log_total(own, stand.worths[other], given.effects)
        stand.table[other, tier] = stand.turned[tier, other] = total
        if given.has_position:
            total = log_total(stand.worths[other], own, given.effects)
        stand.table[tier, other] = stand.turned[other, tier] = total


@compiled_part
def add_up(count: int, given: Meeting, stand: Stand, met: _Floats, powers: _Floats) -> None:
    """Add up the meetings of tiers, the first one shown first, and the powers of their worths."""
    for tier in range(count):
        powers[tier] = 0.0
        for other in range(count):
            met[tier, other] = 0.0
    # Without a first place each meeting is counted by both of its items.
    counted = 1.0 if given.has_position else 0.5
    for item in range(len(stand.labels)):
        own = stand.labels[item]
        powers[own] += given.arrivals[item]
        for tier in range(count):
            met[own, tier] += counted * stand.first[item, tier]
    for tier in range(count):
        # Of meetings within a tier its worth says nothing.
        powers[tier] += given.shape - met[tier, tier]


@compiled_part
def walk_worths(
    count: int,
    given: Meeting,
    stand: Stand,
    met: _Floats,
    powers: _Floats,
    rng: np.random.Generator,
) -> None:
    """Move the worth of each tier by a step of Metropolis; where sizes are held, in its place."""
    for tier in range(count):
        others = 0.0
        for other in range(count):
            if other != tier:
                others += met[tier, other] + met[other, tier]
        tried = stand.logs[tier]
        tried += _STEP * rng.standard_normal() / np.sqrt(given.shape + 0.25 * others)
        if given.held and tier > 0 and tried >= stand.logs[tier - 1]:
            continue
        if given.held and tier < count - 1 and tried <= stand.logs[tier + 1]:
            continue
        own = np.exp(tried)
        gain = powers[tier] * (tried - stand.logs[tier]) - own + stand.worths[tier]
        for other in range(count):
            if other == tier:
                continue
            if met[tier, other] > 0.0:
                total = log_total(own, stand.worths[other], given.effects)
                gain -= met[tier, other] * (total - stand.table[other, tier])
            if met[other, tier] > 0.0:
                total = log_total(stand.worths[other], own, given.effects)
                gain -= met[other, tier] * (total - stand.table[tier, other])
        if np.log(1.0 - rng.random()) < gain:
            set_worth(tier, tried, count, given, stand)


@compiled_part
def _derivatives(
    point: _Floats,
    count: int,
    given: Meeting,
    met: _Floats,
    powers: _Floats,
    slopes: _Floats,
    precision: _Floats,
) -> float:
    """Log density of log worths, given tiers; its slopes and minus its second derivatives."""
    value = 0.0
    for tier in range(count):
        for other in range(tier):
            precision[tier, other] = 0.0
        worth = np.exp(point[tier])
        value += powers[tier] * point[tier] - worth
        slopes[tier] = powers[tier] - worth
        precision[tier, tier] = worth
    for tier in range(count):
        for other in range(count):
            times = met[tier, other]
            if other == tier or times == 0.0:
                continue
            own, its = np.exp(point[tier]), np.exp(point[other])
            value -= times * log_total(own, its, given.effects)
            share, change = shares(own, its, given.effects)
            slopes[tier] -= times * share
            slopes[other] -= times * (1.0 - share)
            precision[tier, tier] += times * change
            precision[other, other] += times * change
            precision[max(tier, other), min(tier, other)] -= times * change
    return value


@compiled_part
def _decompose(matrix: _Floats, count: int, column: _Floats) -> bool:
    """Put the lower triangular root of a matrix in its place; false if it is not definite."""
    for step in range(count):
        if not matrix[step, step] > 0.0:
            return False
        root = np.sqrt(matrix[step, step])
        matrix[step, step] = root
        for row in range(step + 1, count):
            matrix[row, step] /= root
            column[row] = matrix[row, step]
        for row in range(step + 1, count):
            factor = column[row]
            for place in range(step + 1, row + 1):
                matrix[row, place] -= factor * column[place]
    return True


@compiled_part
def _solve(root: _Floats, count: int, vector: _Floats) -> None:
    """Solve a system with a lower triangular root, in place."""
    for row in range(count):
        left = vector[row]
        for place in range(row):
            left -= root[row, place] * vector[place]
        vector[row] = left / root[row, row]


@compiled_part
def _solve_transposed(root: _Floats, count: int, vector: _Floats) -> None:
    """Solve a system with the transpose of a lower triangular root, in place."""
    for row in range(count - 1, -1, -1):
        vector[row] /= root[row, row]
        for place in range(row):
            vector[place] -= root[row, place] * vector[row]


@compiled_part
def _log_normal(away: _Floats, root: _Floats, count: int) -> float:
    """Log density of a normal variable so far from its mean, given the root of its precision."""
    value = 0.0
    for row in range(count):
        # Entry of the transposed root times the vector.
        part = 0.0
        for place in range(row, count):
            part += root[place, row] * away[place]
        value += np.log(root[row, row]) - 0.5 * part * part
    return value


@compiled_part
def draw_worths(
    count: int,
    given: Meeting,
    stand: Stand,
    met: _Floats,
    powers: _Floats,
    vectors: _Floats,
    matrices: _Floats,
    rng: np.random.Generator,
) -> None:
    """Move all worths by a draw from the normal distribution that one step of Newton ends in.

    Where sizes are held, worths that are not in order have no probability.
    """
    tried, slopes, step, column = vectors[0], vectors[1], vectors[2], vectors[3]
    root, back = matrices[0], matrices[1]
    value = _derivatives(stand.logs, count, given, met, powers, slopes, root)
    if not _decompose(root, count, column):
        return
    _solve(root, count, slopes)
    # The step of Newton and the noise have the same transposed root in front.
    for tier in range(count):
        step[tier] = slopes[tier] + rng.standard_normal()
    _solve_transposed(root, count, slopes)
    _solve_transposed(root, count, step)
    for tier in range(count):
        tried[tier] = stand.logs[tier] + step[tier]
        step[tier] -= slopes[tier]
    if given.held and not in_order(tried, count):
        return
    log_there = _log_normal(step, root, count)
    new = _derivatives(tried, count, given, met, powers, slopes, back)
    if not np.isfinite(new) or not _decompose(back, count, column):
        return
    _solve(back, count, slopes)
    _solve_transposed(back, count, slopes)
    for tier in range(count):
        step[tier] = stand.logs[tier] - tried[tier] - slopes[tier]
    log_back = _log_normal(step, back, count)
    if np.log(1.0 - rng.random()) < new - value + log_back - log_there:
        for tier in range(count):
            stand.logs[tier] = tried[tier]


@compiled_part
def rescale(count: int, given: Meeting, stand: Stand, rng: np.random.Generator) -> None:
    """Draw the common scale of worths, and write down what depends on worths."""
    total = 0.0
    for tier in range(count):
        total += np.exp(stand.logs[tier])
    shift = np.log(rng.standard_gamma(given.shape * count) / total)
    for tier in range(count):
        stand.logs[tier] += shift
        stand.worths[tier] = np.exp(stand.logs[tier])
    for tier in range(count):
        for other in range(count):
            total = log_total(stand.worths[tier], stand.worths[other], given.effects)
            stand.table[other, tier] = stand.turned[tier, other] = total


class Effects(NamedTuple):
    """Factors of the first place and of draws, 1 and 0 where they play no part, and their priors.

    Attributes
    ----------
    factors
        The factors, which change.
    shapes, middles, successes
        Of both effects: shape of the prior, 0 where the effect is held; the factor in the middle of
        the prior; how often that happened of which it raises the chance.
    steps
        Lower triangular root of the covariance of the steps of log effects.
    """

    factors: _Floats
    shapes: _Floats
    middles: _Floats
    successes: _Floats
    steps: _Floats


@compiled_part
def _log_density_of_effects(
    logs: _Floats, tried: _Floats, effects: Effects, worths: _Floats, met: _Floats, count: int
) -> float:
    """Log of likelihood times prior of log effects, given worths, up to a constant.

    ``tried`` is room for the factors.
    """
    value = 0.0
    tried[0], tried[1] = np.exp(logs[0]), 0.0
    for effect in range(2):
        if effects.shapes[effect] > 0.0:
            tried[effect] = np.exp(logs[effect])
            above = logs[effect] - np.log(effects.middles[effect])
            value += effects.successes[effect] * logs[effect]
            value -= effects.shapes[effect] * (np.log1p(np.exp(-abs(above))) * 2.0 + abs(above))
    for one in range(count):
        for other in range(count):
            if met[one, other] > 0.0:
                value -= met[one, other] * log_total(worths[one], worths[other], tried)
    return value


@compiled_part
def move_effects(
    effects: Effects, worths: _Floats, met: _Floats, count: int, rng: np.random.Generator
) -> None:
    """Move effects given worths, no times being given: steps of Metropolis.

    Given the times they would be Gamma variables, but hardly move where each pair met seldom.
    """
    logs, tried, factors = np.zeros(2), np.zeros(2), np.zeros(2)
    steps = effects.steps
    for effect in range(2):
        if effects.shapes[effect] > 0.0:
            logs[effect] = np.log(effects.factors[effect])
    value = _log_density_of_effects(logs, factors, effects, worths, met, count)
    for _ in range(_STEPS_OF_EFFECTS):
        one, other = rng.standard_normal(), rng.standard_normal()
        tried[0] = logs[0] + steps[0, 0] * one
        tried[1] = logs[1] + steps[1, 0] * one + steps[1, 1] * other
        new = _log_density_of_effects(tried, factors, effects, worths, met, count)
        if np.log(1.0 - rng.random()) < new - value:
            logs[0], logs[1], value = tried[0], tried[1], new
    for effect in range(2):
        if effects.shapes[effect] > 0.0:
            effects.factors[effect] = np.exp(logs[effect])
