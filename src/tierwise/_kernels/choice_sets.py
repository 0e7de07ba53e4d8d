"""Worths of tiers by Newton's method, from how often items were chosen from sets.

Mixtures find the worths of each group in every step of EM, thousands of times: what takes time
there is not the sums over sets, but to call a dozen functions for each.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

_MOST_ROUNDS = 100
# Far from the mode a whole step may overshoot: log worths change by no more than this.
_LONGEST_STEP = 5.0


@compiled_part
def _log_density(
    by_tier: _Floats,
    sets: _Floats,
    won: _Floats,
    logs: _Floats,
    shape: float,
    gradient: _Floats,
    precision: _Floats,
) -> tuple[float, float]:
    """Return log likelihood plus log prior, but for a constant, and the log-likelihood.

    Filled in are the gradient and the negative second derivatives of their sum.
    """
    n_tiers = len(logs)
    worths = np.empty(n_tiers)
    peak, total = logs.max(), 0.0
    likelihood = 0.0
    for tier in range(n_tiers):
        worths[tier] = np.exp(logs[tier])
        total += np.exp(logs[tier] - peak)
        likelihood += won[tier] * logs[tier]
        gradient[tier] = 0.0
        for other in range(n_tiers):
            precision[tier, other] = 0.0
    for number in range(len(sets)):
        whole = 0.0
        for tier in range(n_tiers):
            whole += by_tier[number, tier] * worths[tier]
        likelihood -= sets[number] * np.log(whole)
        rate = sets[number] / whole
        for tier in range(n_tiers):
            gradient[tier] += by_tier[number, tier] * rate
            own = by_tier[number, tier] * rate / whole
            for other in range(tier + 1):
                precision[tier, other] -= own * by_tier[number, other]
    weight = shape * n_tiers
    for tier in range(n_tiers):
        expected = gradient[tier] * worths[tier]
        share = np.exp(logs[tier] - peak) / total
        for other in range(tier + 1):
            other_share = np.exp(logs[other] - peak) / total
            bend = precision[tier, other] * worths[tier] * worths[other]
            bend -= weight * share * other_share
            precision[tier, other] = precision[other, tier] = bend
        precision[tier, tier] += expected + weight * share
        gradient[tier] = won[tier] - expected - weight * share + shape
    return likelihood - weight * (np.log(total) + peak), likelihood


@compiled_part
def _newton_step(precision: _Floats, gradient: _Floats, root: _Floats, step: _Floats) -> bool:
    """Solve for the step, made regular in the direction of the common scale; False if it fails."""
    n_tiers = len(gradient)
    scale = 0.0
    for tier in range(n_tiers):
        scale += precision[tier, tier] / n_tiers
    for row in range(n_tiers):
        for column in range(row + 1):
            value = precision[row, column] + scale / n_tiers
            for before in range(column):
                value -= root[row, before] * root[column, before]
            if row > column:
                root[row, column] = value / root[column, column]
            elif value > 0.0:
                root[row, row] = np.sqrt(value)
            else:
                return False
    for row in range(n_tiers):
        value = gradient[row]
        for before in range(row):
            value -= root[row, before] * step[before]
        step[row] = value / root[row, row]
    for row in range(n_tiers - 1, -1, -1):
        value = step[row]
        for after in range(row + 1, n_tiers):
            value -= root[after, row] * step[after]
        step[row] = value / root[row, row]
    return True


@compiled
def climb_to_worths(
    members: _Floats,
    sets: _Floats,
    items: _Floats,
    labels: _Integers,
    logs: _Floats,
    shape: float,
    least_gain: float,
    precision: _Floats,
) -> tuple[bool, float, float]:
    """Climb to the most probable log worths of tiers.

    Parameters
    ----------
    members
        ``[set, item]``: 1 where a set holds an item.
    sets, items
        How often each was chosen from, or chosen.
    labels
        Tier of each item, counted from 0.
    logs
        Log worths to begin with, which become those that are found, and sum to 0.
    shape
        Shape of the Gamma prior of each worth.
    least_gain
        It ends when a step is expected to gain less than this.
    precision
        Room for the negative second derivatives.

    Returns
    -------
    tuple
        Whether it was possible to compute every step; the log-likelihood plus the log prior but for
        a constant; the log-likelihood.
    """
    n_tiers, n_items = len(logs), len(labels)
    by_tier, won = np.zeros((len(sets), n_tiers)), np.zeros(n_tiers)
    for item in range(n_items):
        won[labels[item]] += items[item]
        for number in range(len(sets)):
            by_tier[number, labels[item]] += members[number, item]
    gradient, step, root = np.empty(n_tiers), np.empty(n_tiers), np.empty((n_tiers, n_tiers))
    tried = logs - logs.mean()
    for tier in range(n_tiers):
        logs[tier] = tried[tier]
    value, likelihood = _log_density(by_tier, sets, won, logs, shape, gradient, precision)
    for _ in range(_MOST_ROUNDS):
        if not _newton_step(precision, gradient, root, step):
            return False, value, likelihood
        gain, longest = 0.0, 0.0
        for tier in range(n_tiers):
            gain += gradient[tier] * step[tier]
            longest = max(longest, abs(step[tier]))
        if gain < least_gain:
            break
        share = min(1.0, _LONGEST_STEP / longest)
        for _ in range(_MOST_ROUNDS):
            mean = 0.0
            for tier in range(n_tiers):
                tried[tier] = logs[tier] + share * step[tier]
                mean += tried[tier] / n_tiers
            for tier in range(n_tiers):
                tried[tier] -= mean
            new, likelihood = _log_density(by_tier, sets, won, tried, shape, gradient, precision)
            if new >= value - 1e-12 * abs(value):
                break
            share *= 0.5
        value = new
        for tier in range(n_tiers):
            logs[tier] = tried[tier]
    return True, value, likelihood
