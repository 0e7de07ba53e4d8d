"""Worths of given tiers: Newton's method, and moves of a chain that are made of its steps.

Newton's method finds the most probable log worths; it takes the derivatives of the log-likelihood
as a function, one for each kind of answers: races (`luce`), choices from sets, and meetings of two
items, which may depend on effects of draws and of the first place.

In a chain given meetings, worths are moved one by one (Metropolis), and all at once by a draw from
the normal distribution at the end of a step of Newton's method (Qi and Minka 2002): where answers
are many, that is all but independent of where it began. Their common scale, on which no answer
depends, is drawn again. Effects are moved by steps of Metropolis given worths alone.

References
----------
Y. Qi and T. P. Minka (2002). Hessian-based Markov chain Monte-Carlo algorithms. First Cape Cod
Workshop on Monte Carlo Methods.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled_if_many, compiled_part, inlined
from tierwise._kernels.luce import TierRaces, derivatives_of_races
from tierwise._kernels.luce_chain import in_order

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Answers = TypeVar("_Answers")

_MOST_ROUNDS = 200
_LEAST_ROOT = 1e-300
# Far from the mode a whole step may overshoot: log worths change by no more than this.
_LONGEST_STEP = 5.0
# Rounding may leave a precision indefinite: so much of the largest entry is added to it,
# then ten times as much, and so on.
_LEAST_SHARE, _MOST_RIDGES = 1e-12, 14
# Best size of a step of Metropolis in one dimension, in standard deviations.
_STEP = 2.4
# Steps of effects in each sweep: they cost next to nothing, and one alone does not move far.
_STEPS_OF_EFFECTS = 8


class TierChoices(NamedTuple):
    """Choices from sets, added up by tier."""

    members: _Floats
    """``[set, tier]``: how many items of a tier a set holds."""
    sets: _Floats
    """How often each set was chosen from."""
    chosen: _Floats
    """How often an item of each tier was chosen."""


@compiled_if_many(lambda choices, *_: 0.3 * choices.members.size * choices.members.shape[1])
def derivatives_of_choices(
    choices: TierChoices, point: _Floats, gradient: _Floats, hessian: _Floats
) -> float:
    """Return the log-likelihood; add its gradient and Hessian in the log worths of tiers."""
    n_tiers = len(point)
    worths, rates, value = np.empty(n_tiers), np.zeros(n_tiers), 0.0
    bends = np.zeros((n_tiers, n_tiers))
    # Loops in place of array expressions, each of which takes some tenths of a second to compile.
    for tier in range(n_tiers):
        worths[tier] = np.exp(point[tier])
    for number in range(len(choices.sets)):
        total = 0.0
        for tier in range(n_tiers):
            total += choices.members[number, tier] * worths[tier]
        value -= choices.sets[number] * np.log(total)
        rate = choices.sets[number] / total
        for tier in range(n_tiers):
            own = choices.members[number, tier] * rate
            if own > 0.0:
                rates[tier] += own
                for other in range(tier + 1):
                    bends[tier, other] += own / total * choices.members[number, other]
    for tier in range(n_tiers):
        value += choices.chosen[tier] * point[tier]
        gradient[tier] += choices.chosen[tier] - rates[tier] * worths[tier]
        hessian[tier, tier] += bends[tier, tier] * worths[tier] ** 2 - rates[tier] * worths[tier]
        for other in range(tier):
            bend = bends[tier, other] * worths[tier] * worths[other]
            hessian[tier, other] += bend
            hessian[other, tier] += bend
    return value


@compiled_part
def _largest(point: _Floats, n_tiers: int) -> float:
    """Return the largest log worth."""
    largest = point[0]
    for tier in range(1, n_tiers):
        largest = max(largest, point[tier])
    return float(largest)


class TierMeetings(NamedTuple):
    """Meetings of two items, added up by tier, and the effects that they depend on."""

    met: _Floats
    """``[tier, other]``: how often they met, the first being shown first where that matters; where
    it does not, all meetings of two tiers may be in one of their cells, or in both."""
    won: _Floats
    """How often each tier won, drawn meetings counting half."""
    factors: _Floats
    """Factors of the first place and of draws: 1 and 0 where they play no part."""
    rows: _Integers
    """Where a point has the logarithm of each factor; -1 where it is held."""
    successes: _Floats
    """How often that happened of which each factor raises the chance."""


@compiled_if_many(lambda meetings, *_: 2.0 * meetings.met.size)
def derivatives_of_meetings(
    meetings: TierMeetings, point: _Floats, gradient: _Floats, hessian: _Floats
) -> float:
    """Return the log-likelihood; add its gradient and Hessian in log worths and log effects.

    Outcomes have log odds that are linear in the point (Davidson 1970), so the Hessian is minus the
    covariance of what an outcome adds to these.
    """
    n_tiers, value = len(meetings.won), 0.0
    first, draw = meetings.factors[0], meetings.factors[1]
    for tier in range(n_tiers):
        value += meetings.won[tier] * point[tier]
        gradient[tier] += meetings.won[tier]
    for effect in range(2):
        row = meetings.rows[effect]
        if row >= 0:
            value += meetings.successes[effect] * point[row]
            gradient[row] += meetings.successes[effect]
            if effect == 0:
                first = np.exp(point[row])
            else:
                draw = np.exp(point[row])
    peak, halves = _largest(point, n_tiers), np.empty(n_tiers)
    for tier in range(n_tiers):
        # Roots of worths: these are not 0 where worths would be.
        halves[tier] = max(np.exp(0.5 * (point[tier] - peak)), _LEAST_ROOT)
    for tier in range(n_tiers):
        for other in range(n_tiers):
            times = meetings.met[tier, other]
            if times == 0.0:
                continue
            # Worths are divided by the larger one.
            if halves[tier] >= halves[other]:
                root = halves[other] / halves[tier]
                own, its, larger = 1.0, root * root, point[tier]
            else:
                root = halves[tier] / halves[other]
                own, its, larger = root * root, 1.0, point[other]
            own *= first
            root *= draw
            total = own + its + root
            value -= times * (larger + np.log(total))
            own, its, root = own / total, its / total, root / total
            share = own + 0.5 * root
            gradient[tier] -= times * share
            gradient[other] -= times * (1.0 - share)
            change = times * (own * its + 0.25 * root * (own + its))
            hessian[tier, tier] -= change
            hessian[other, other] -= change
            hessian[tier, other] += change
            hessian[other, tier] += change
            if len(point) > n_tiers:
                chances = (times, own, root)
                _add_effects(tier, other, chances, meetings.rows, gradient, hessian)
    return value


@compiled_part
def _add_effects(
    tier: int,
    other: int,
    chances: tuple[float, float, float],
    rows: _Integers,
    gradient: _Floats,
    hessian: _Floats,
) -> None:
    """Add what so many meetings of two tiers, won and drawn with these chances, say of effects."""
    times, own, root = chances
    share = own + 0.5 * root
    for row, chance, with_worth in (
        (rows[0], own, own * (1.0 - share)),
        (rows[1], root, root * (0.5 - share)),
    ):
        if row >= 0:
            gradient[row] -= times * chance
            hessian[row, row] -= times * chance * (1.0 - chance)
            hessian[row, tier] -= times * with_worth
            hessian[tier, row] -= times * with_worth
            hessian[row, other] += times * with_worth
            hessian[other, row] += times * with_worth
    if rows[0] >= 0 and rows[1] >= 0:
        hessian[rows[0], rows[1]] += times * own * root
        hessian[rows[1], rows[0]] += times * own * root


class WorthPrior(NamedTuple):
    """Prior of worths, whose common scale is integrated out, and of effects."""

    shape: float
    """Shape of the Gamma prior of each worth."""
    effect_shapes: _Floats
    """Of the effects at the end of a point: both parameters of the Beta prior of what each says of
    two equal items."""
    log_middles: _Floats
    """Where these priors are symmetric."""


@compiled_part
def _add_prior(prior: WorthPrior, point: _Floats, gradient: _Floats, hessian: _Floats) -> float:
    """Return the log prior density, but for constants; add its gradient and Hessian."""
    n_tiers = len(point) - len(prior.effect_shapes)
    weight, peak, total = prior.shape * n_tiers, _largest(point, n_tiers), 0.0
    shares = np.empty(n_tiers)
    for tier in range(n_tiers):
        shares[tier] = np.exp(point[tier] - peak)
        total += shares[tier]
    value = -weight * (np.log(total) + peak)
    for tier in range(n_tiers):
        expected = weight * shares[tier] / total
        # Log worths sum to 0: the shape only centres the gradient.
        gradient[tier] += prior.shape - expected
        hessian[tier, tier] -= expected
        for other in range(n_tiers):
            hessian[tier, other] += expected * shares[other] / total
    for effect in range(len(prior.effect_shapes)):
        row, shape = n_tiers + effect, prior.effect_shapes[effect]
        above = point[row] - prior.log_middles[effect]
        share = 1.0 / (1.0 + np.exp(-above))
        value -= shape * (2.0 * np.log1p(np.exp(-abs(above))) + abs(above))
        gradient[row] += shape * (1.0 - 2.0 * share)
        hessian[row, row] -= 2.0 * shape * share * (1.0 - share)
    return float(value)


@compiled_part
def _take_root(matrix: _Floats) -> bool:
    """Put the upper triangular root of a matrix in its upper part; false if it is not definite.

    Cholesky's method, row by row: for matrices as small as these, LAPACK would have cores wait for
    each other.
    """
    n_rows = len(matrix)
    for row in range(n_rows):
        # Four rows at once halve the time, which goes into loading and storing.
        for above in range(0, row - 3, 4):
            one, two = matrix[above, row], matrix[above + 1, row]
            three, four = matrix[above + 2, row], matrix[above + 3, row]
            for place in range(row, n_rows):
                matrix[row, place] -= (
                    one * matrix[above, place]
                    + two * matrix[above + 1, place]
                    + three * matrix[above + 2, place]
                    + four * matrix[above + 3, place]
                )
        for above in range(row - row % 4, row):
            one = matrix[above, row]
            for place in range(row, n_rows):
                matrix[row, place] -= one * matrix[above, place]
        if not matrix[row, row] > 0.0:
            return False
        root = np.sqrt(matrix[row, row])
        for place in range(row, n_rows):
            matrix[row, place] /= root
    return True


@compiled_part
def _solve_transposed(root: _Floats, vector: _Floats) -> None:
    """Solve a system with the transpose of an upper triangular root, in place."""
    for row in range(len(vector)):
        vector[row] /= root[row, row]
        for place in range(row + 1, len(vector)):
            vector[place] -= root[row, place] * vector[row]


@compiled_part
def _solve(root: _Floats, vector: _Floats) -> None:
    """Solve a system with an upper triangular root, in place."""
    for row in range(len(vector) - 1, -1, -1):
        left = vector[row]
        for place in range(row + 1, len(vector)):
            left -= root[row, place] * vector[place]
        vector[row] = left / root[row, row]


@compiled_part
def _take_step(n_tiers: int, gradient: _Floats, hessian: _Floats, step: _Floats) -> float:
    """Write a step of Newton's method, and return twice what it is expected to gain."""
    n_rows = len(gradient)
    scale, largest = 0.0, 0.0
    for row in range(n_rows):
        scale -= hessian[row, row] / n_tiers if row < n_tiers else 0.0
        largest = max(largest, -hessian[row, row])
    # The direction of the common scale, about which nothing is known, is as stiff as the others.
    scale = scale if scale > 1e-300 else 1.0
    root, ridge, definite = np.empty((n_rows, n_rows)), 0.0, False
    for _ in range(_MOST_RIDGES):
        for row in range(n_rows):
            for column in range(n_rows):
                added = scale / n_tiers if row < n_tiers and column < n_tiers else 0.0
                root[row, column] = added - hessian[row, column]
            root[row, row] += ridge
        definite = _take_root(root)
        if definite:
            break
        ridge = max(10.0 * ridge, _LEAST_SHARE * largest)
    if not definite:
        return 0.0
    for row in range(n_rows):
        step[row] = gradient[row]
    _solve_transposed(root, step)
    gain, longest = 0.0, _LONGEST_STEP
    for row in range(n_rows):
        gain += step[row] ** 2
    _solve(root, step)
    for row in range(n_rows):
        longest = max(longest, abs(step[row]))
    for row in range(n_rows):
        step[row] *= _LONGEST_STEP / longest
    return gain


@inlined
def _climb(
    derivatives: Callable[[_Answers, _Floats, _Floats, _Floats], float],
    answers: _Answers,
    prior: WorthPrior,
    point: _Floats,
    least_gain: float,
) -> tuple[float, float, _Floats]:
    """Climb to the most probable log worths of tiers, and log effects, by Newton's method.

    Parameters
    ----------
    derivatives
        Returns the log-likelihood, and adds its derivatives.
    answers, prior
        What it depends on, and the prior.
    point
        Log worths to begin with, followed by log effects, which become those that are found; log
        worths then sum to 0.
    least_gain
        It ends when a step is expected to gain less than half of this.

    Returns
    -------
    tuple
        The log-likelihood plus the log prior but for constants; the log-likelihood; and the second
        derivatives of their sum.
    """
    n_rows, n_tiers = len(point), len(point) - len(prior.effect_shapes)
    step, tried = np.zeros(n_rows), np.empty(n_rows)
    hessian = np.zeros((n_rows, n_rows))
    value, likelihood = -np.inf, 0.0
    for _ in range(_MOST_ROUNDS):
        mean = 0.0
        for row in range(n_rows):
            tried[row] = point[row] + step[row]
            mean += tried[row] / n_tiers if row < n_tiers else 0.0
        for tier in range(n_tiers):
            tried[tier] -= mean
        gradient, hessian = np.zeros(n_rows), np.zeros((n_rows, n_rows))
        found = derivatives(answers, tried, gradient, hessian)
        new = found + _add_prior(prior, tried, gradient, hessian)
        if new >= value - 1e-12 * abs(value):
            value, likelihood = new, found
            for row in range(n_rows):
                point[row] = tried[row]
            if _take_step(n_tiers, gradient, hessian, step) < least_gain:
                break
        else:
            for row in range(n_rows):
                step[row] *= 0.5
    return value, likelihood, hessian


@compiled_if_many(lambda races, *_: 15.0 * len(races.answers.order))
def climb_by_races(
    races: TierRaces, prior: WorthPrior, point: _Floats, least_gain: float
) -> tuple[float, float, _Floats]:
    """Find the most probable worths given races."""
    return _climb(derivatives_of_races, races, prior, point, least_gain)


@compiled_if_many(lambda choices, *_: 0.75 * choices.members.size * choices.members.shape[1])
def climb_by_choices(
    choices: TierChoices, prior: WorthPrior, point: _Floats, least_gain: float
) -> tuple[float, float, _Floats]:
    """Find the most probable worths given choices from sets."""
    return _climb(derivatives_of_choices, choices, prior, point, least_gain)


@compiled_if_many(lambda meetings, *_: 20.0 * meetings.met.size)
def climb_by_meetings(
    meetings: TierMeetings, prior: WorthPrior, point: _Floats, least_gain: float
) -> tuple[float, float, _Floats]:
    """Find the most probable worths and effects given meetings."""
    return _climb(derivatives_of_meetings, meetings, prior, point, least_gain)


class Meeting(NamedTuple):
    """What is known of the meetings; see `luce_meetings.run_sweeps_of_meetings`.

    Attributes
    ----------
    n_sides
        2 where the first place plays a part, else 1: meetings of an item are counted by who was met
        and by side, 0 for those in which the item was shown first.
    between
        ``[item, n_sides * other + side]``: how often the other item met this one, on its side.
    arrivals
        How often each item won, drawn meetings counting half.
    totals
        How often each item met others, and once more.
    effects
        Factors of the first place and of draws.
    shape, log_priors
        Shape of the Gamma prior of worths; by number of tiers, log prior of unordered tiers.
    held
        Whether sizes are held.
    """

    n_sides: int
    between: _Floats
    arrivals: _Floats
    totals: _Floats
    effects: _Floats
    shape: float
    log_priors: _Floats
    held: bool


class Stand(NamedTuple):
    """Where the chain stands.

    Attributes
    ----------
    labels
        Tier of each item, counted from 0, in any order.
    sizes, worths, logs
        Number of items, worth and log worth of each tier.
    met
        ``[item, n_sides * tier + side]``: how often an item met the items of a tier.
    table
        ``[n_sides * tier + side, own]``: log of the sum of the weights of all outcomes where an
        item of the tier ``own`` meets one of a tier, on its side.
    """

    labels: _Integers
    sizes: _Floats
    worths: _Floats
    logs: _Floats
    met: _Floats
    table: _Floats


@compiled_part
def log_total(own: float, other: float, side: int, effects: _Floats) -> float:
    """Log of the sum of the weights of all outcomes; on side 0 the first worth is shown first."""
    total = effects[0] * own + other if side == 0 else effects[0] * other + own
    if effects[1] > 0.0:
        total += effects[1] * np.sqrt(own * other)
    return float(np.log(total))


@compiled_part
def set_worth(tier: int, log_worth: float, count: int, given: Meeting, stand: Stand) -> None:
    """Give a tier a worth, and write what depends on it into the table."""
    own = np.exp(log_worth)
    stand.logs[tier], stand.worths[tier] = log_worth, own
    for other in range(count):
        for side in range(given.n_sides):
            total = log_total(own, stand.worths[other], side, given.effects)
            stand.table[given.n_sides * other + side, tier] = total
            # What the one meets on a side, the other one meets on the other side.
            stand.table[given.n_sides * tier + given.n_sides - 1 - side, other] = total


@compiled_part
def add_up(count: int, given: Meeting, stand: Stand) -> tuple[_Floats, _Floats]:
    """Add up the meetings of tiers, as in `TierMeetings`, and how often each won."""
    met, won = np.zeros((count, count)), np.zeros(count)
    for item in range(len(stand.labels)):
        own = stand.labels[item]
        won[own] += given.arrivals[item]
        for tier in range(count):
            times = stand.met[item, given.n_sides * tier]
            # Without a first place each meeting was counted by both of its items.
            if given.n_sides == 2 or tier > own:
                met[own, tier] += times
            elif tier == own:
                met[own, tier] += 0.5 * times
    return met, won


@compiled_part
def walk_worths(
    count: int, given: Meeting, stand: Stand, meetings: TierMeetings, rng: np.random.Generator
) -> None:
    """Move the worth of each tier by a step of Metropolis; where sizes are held, in its place."""
    met = meetings.met
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
        # Of meetings within a tier its worth says nothing.
        power = meetings.won[tier] + given.shape - met[tier, tier]
        gain = power * (tried - stand.logs[tier]) - own + stand.worths[tier]
        for other in range(count):
            if other == tier:
                continue
            if met[tier, other] > 0.0:
                total = log_total(own, stand.worths[other], 0, given.effects)
                before = stand.table[given.n_sides * other, tier]
                gain -= met[tier, other] * (total - before)
            if met[other, tier] > 0.0:
                total = log_total(stand.worths[other], own, 0, given.effects)
                before = stand.table[given.n_sides * tier, other]
                gain -= met[other, tier] * (total - before)
        if np.log(1.0 - rng.random()) < gain:
            set_worth(tier, tried, count, given, stand)


@compiled_part
def _begin_step(
    point: _Floats, shape: float, meetings: TierMeetings, step: _Floats, root: _Floats
) -> tuple[float, bool]:
    """Write the root of the precision of log worths, and a step of Newton but for its last half.

    Returned are the log density, worths being Gamma variables a priori, and whether its precision
    is positive definite.
    """
    count = len(point)
    for tier in range(count):
        step[tier] = 0.0
        for other in range(count):
            root[tier, other] = 0.0
    value = derivatives_of_meetings(meetings, point, step, root)
    for tier in range(count):
        worth = np.exp(point[tier])
        value += shape * point[tier] - worth
        step[tier] += shape - worth
        for other in range(count):
            root[tier, other] = -root[tier, other]
        root[tier, tier] += worth
    definite = np.isfinite(value) and _take_root(root)
    if definite:
        _solve_transposed(root, step)
    return value, definite


@compiled_part
def _log_normal(away: _Floats, root: _Floats) -> float:
    """Log density of a normal variable so far from its mean, given the root of its precision."""
    value = 0.0
    for row in range(len(away)):
        part = 0.0
        for place in range(row, len(away)):
            part += root[row, place] * away[place]
        value += np.log(root[row, row]) - 0.5 * part * part
    return value


@compiled_part
def draw_worths(
    count: int, given: Meeting, stand: Stand, meetings: TierMeetings, rng: np.random.Generator
) -> None:
    """Move all worths by a draw from the normal distribution that one step of Newton ends in.

    Where sizes are held, worths that are not in order have no probability.
    """
    begin, tried, step, noise = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    root = np.empty((count, count))
    for tier in range(count):
        begin[tier] = stand.logs[tier]
    value, definite = _begin_step(begin, given.shape, meetings, step, root)
    if not definite:
        return
    for tier in range(count):
        noise[tier] = rng.standard_normal()
    _solve(root, noise)
    _solve(root, step)
    for tier in range(count):
        tried[tier] = begin[tier] + step[tier] + noise[tier]
    if given.held and not in_order(tried, count):
        return
    log_there = _log_normal(noise, root)
    new, definite = _begin_step(tried, given.shape, meetings, step, root)
    if not definite:
        return
    _solve(root, step)
    for tier in range(count):
        noise[tier] = begin[tier] - tried[tier] - step[tier]
    if np.log(1.0 - rng.random()) < new - value + _log_normal(noise, root) - log_there:
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
            total = log_total(stand.worths[tier], stand.worths[other], 0, given.effects)
            stand.table[given.n_sides * other, tier] = total
            stand.table[given.n_sides * tier + given.n_sides - 1, other] = total


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
                value -= met[one, other] * log_total(worths[one], worths[other], 0, tried)
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
