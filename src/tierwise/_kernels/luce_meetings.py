"""Sampling of tiers and worths given meetings of two items, whose likelihood is in closed form.

Where items only meet in pairs, all that a tier's worth or an item's move needs is how often the
item met each tier, so no latent times are drawn. A sweep has four kinds of moves; where sizes are
held, items of two tiers trade places instead of the first two, and worths stay in the order of the
tiers.

Each item in turn is drawn to any tier, given their worths, or to one of its own, whose worth is a
draw from an approximation of its distribution (Neal 2000, algorithm 8, with one auxiliary value
that is weighted by its importance). Tiers are cut and neighbours joined (reversible jump): a gap is
drawn, and each item goes above or below it with the probability that this has while the others stay
where they are. Worths are moved one by one (Metropolis), and all at once by a draw from the normal
distribution at the end of a step of Newton's method (Qi and Minka 2002): where answers are many,
that is all but independent of where it began. Their common scale, on which no answer depends, is
drawn again.

References
----------
R. M. Neal (2000). Markov chain sampling methods for Dirichlet process mixture models. Journal of
Computational and Graphical Statistics 9, 249-265.
P. J. Green (1995). Reversible jump Markov chain Monte Carlo computation and Bayesian model
determination. Biometrika 82, 711-732.
Y. Qi and T. P. Minka (2002). Hessian-based Markov chain Monte-Carlo algorithms. First Cape Cod
Workshop on Monte Carlo Methods.
"""

from math import lgamma, pi
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.luce_effects import move_effects
from tierwise._kernels.luce_given_sizes import draw_two, list_by_tier
from tierwise._kernels.luce_tiers import write_draw
from tierwise._kernels.ordered_partition import choose

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Degrees of freedom of the distribution of the worth of a tier that an item would have alone.
_FREEDOM = 5.0
# Mean gap of the parts of a tier that is cut, in standard errors of the log worth of its items.
_MEAN_GAP = 1.5
# How far a step of Newton's method may go in the log worth of an item.
_LONGEST_STEP = 2.0
# A tier is cut, or joined with another, about once for so many items.
_ITEMS_PER_CUT = 8
# Best size of a step of Metropolis in one dimension, in standard deviations.
_STEP = 2.4
# How often each worth is moved in a sweep where worths stay in order, which bars steps of them all.
_WALKS_IN_ORDER = 4


class Meeting(NamedTuple):
    """What is known of the meetings; see `run_sweeps_of_meetings`."""

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
def _log_total(own: float, other: float, effects: _Floats) -> float:
    """Log of the sum of the weights of all outcomes, the item with the first worth shown first."""
    total = effects[0] * own + other
    if effects[1] > 0.0:
        total += effects[1] * np.sqrt(own * other)
    return float(np.log(total))


@compiled_part
def _shares(own: float, other: float, effects: _Floats) -> tuple[float, float]:
    """First and second derivative of the log total in the log worth of the item shown first."""
    root = effects[1] * np.sqrt(own * other) if effects[1] > 0.0 else 0.0
    total = effects[0] * own + other + root
    share = (effects[0] * own + 0.5 * root) / total
    return share, (effects[0] * own + 0.25 * root) / total - share * share


@compiled_part
def _set_worth(tier: int, log_worth: float, count: int, given: Meeting, stand: Stand) -> None:
    """Give a tier a worth, and write what depends on it into the tables."""
    own = np.exp(log_worth)
    stand.logs[tier], stand.worths[tier] = log_worth, own
    for other in range(count):
        total = _log_total(own, stand.worths[other], given.effects)
        stand.table[other, tier] = stand.turned[tier, other] = total
        if given.has_position:
            total = _log_total(stand.worths[other], own, given.effects)
        stand.table[tier, other] = stand.turned[other, tier] = total


@compiled_part
def _move_meetings(item: int, before: int, after: int, given: Meeting, stand: Stand) -> None:
    """Tell all items that one of those they met is in another tier."""
    for other in range(len(stand.labels)):
        stand.first[other, before] -= given.met_as_second[item, other]
        stand.first[other, after] += given.met_as_second[item, other]
        if given.has_position:
            stand.second[other, before] -= given.met[item, other]
            stand.second[other, after] += given.met[item, other]


@compiled_part
def _close(tier: int, count: int, given: Meeting, stand: Stand) -> int:
    """Put the last tier in the place of one without items; return how many are left."""
    last = count - 1
    if tier != last:
        for item in range(len(stand.labels)):
            if stand.labels[item] == last:
                stand.labels[item] = tier
            stand.first[item, tier] = stand.first[item, last]
            if given.has_position:
                stand.second[item, tier] = stand.second[item, last]
        stand.sizes[tier] = stand.sizes[last]
        _set_worth(tier, stand.logs[last], last, given, stand)
    for item in range(len(stand.labels)):
        stand.first[item, last] = 0.0
        if given.has_position:
            stand.second[item, last] = 0.0
    stand.sizes[last] = 0.0
    return last


@compiled_part
def _approximate_worth(
    item: int, start: float, count: int, given: Meeting, stand: Stand
) -> tuple[float, float]:
    """About the mean and the standard deviation of the log worth of an item, given all others."""
    point, bend = start, 1.0
    for step in range(3):
        own = np.exp(point)
        slope, bend = given.arrivals[item] + given.shape - own, own
        for tier in range(count):
            met = stand.first[item, tier]
            if met > 0.0:
                share, change = _shares(own, stand.worths[tier], given.effects)
                slope -= met * share
                bend += met * change
            if given.has_position and stand.second[item, tier] > 0.0:
                share, change = _shares(stand.worths[tier], own, given.effects)
                slope -= stand.second[item, tier] * (1.0 - share)
                bend += stand.second[item, tier] * change
        if step < 2:
            point += min(max(slope / bend, -_LONGEST_STEP), _LONGEST_STEP)
    return point, 1.0 / np.sqrt(bend)


@compiled_part
def _log_density_of_item(
    item: int, log_worth: float, count: int, given: Meeting, stand: Stand
) -> float:
    """Log of likelihood times prior density of the log worth of an item in a tier of its own."""
    own = np.exp(log_worth)
    value = (given.arrivals[item] + given.shape) * log_worth - own - lgamma(given.shape)
    for tier in range(count):
        met = stand.first[item, tier]
        if met > 0.0:
            value -= met * _log_total(own, stand.worths[tier], given.effects)
        if given.has_position and stand.second[item, tier] > 0.0:
            met = stand.second[item, tier]
            value -= met * _log_total(stand.worths[tier], own, given.effects)
    return float(value)


@compiled_part
def _move_items(  # noqa: PLR0912 - items that are alone and those that are not in one loop
    count: int, given: Meeting, stand: Stand, logs: _Floats, rng: np.random.Generator
) -> int:
    """Draw the tier of each item given the worths of all tiers; return the number of tiers."""
    constant = lgamma(0.5 * (_FREEDOM + 1.0)) - lgamma(0.5 * _FREEDOM) - 0.5 * np.log(_FREEDOM * pi)
    for item in range(len(stand.labels)):
        own = stand.labels[item]
        alone = stand.sizes[own] < 1.5
        if alone and count == 1:
            continue
        for tier in range(count):
            logs[tier] = given.arrivals[item] * stand.logs[tier]
        for other in range(count):
            met = stand.first[item, other]
            if met > 0.0:
                for tier in range(count):
                    logs[tier] -= met * stand.table[other, tier]
            if given.has_position and stand.second[item, other] > 0.0:
                met = stand.second[item, other]
                for tier in range(count):
                    logs[tier] -= met * stand.turned[other, tier]
        # The approximation must be the same whether the item is alone or not.
        best = -1
        for tier in range(count):
            if not (alone and tier == own) and (best < 0 or logs[tier] > logs[best]):
                best = tier
        middle, scale = _approximate_worth(item, stand.logs[best], count, given, stand)
        n_others = count - 1 if alone else count
        for tier in range(count):
            size = stand.sizes[tier] + (0.0 if tier == own else 1.0)
            logs[tier] += given.log_priors[n_others] + np.log(size)
        if alone:
            place = own
            log_worth = stand.logs[own]
            away = (log_worth - middle) / scale
        else:
            place = count
            away = rng.standard_normal()
            away /= np.sqrt(rng.standard_gamma(0.5 * _FREEDOM) * 2.0 / _FREEDOM)
            log_worth = middle + scale * away
        log_proposal = constant - np.log(scale)
        log_proposal -= 0.5 * (_FREEDOM + 1.0) * np.log1p(away * away / _FREEDOM)
        logs[place] = given.log_priors[n_others + 1] - log_proposal
        logs[place] += _log_density_of_item(item, log_worth, count, given, stand)
        chosen = choose(logs, 0, n_others, rng.random())
        if chosen == own:
            continue
        if chosen == count:
            count += 1
            _set_worth(chosen, log_worth, count, given, stand)
        stand.labels[item] = chosen
        stand.sizes[own] -= 1.0
        stand.sizes[chosen] += 1.0
        _move_meetings(item, own, chosen, given, stand)
        if alone:
            count = _close(own, count, given, stand)
    return count


@compiled_part
def _gain_of_move(item: int, target: int, count: int, given: Meeting, stand: Stand) -> float:
    """Return what the log-likelihood gains if an item goes to another tier."""
    own = stand.labels[item]
    gain = given.arrivals[item] * (stand.logs[target] - stand.logs[own])
    for tier in range(count):
        gain -= stand.first[item, tier] * (stand.table[tier, target] - stand.table[tier, own])
        if given.has_position:
            change = stand.turned[tier, target] - stand.turned[tier, own]
            gain -= stand.second[item, tier] * change
    return float(gain)


@compiled_part
def _exchange_items(
    count: int,
    n_steps: int,
    given: Meeting,
    stand: Stand,
    members: _Integers,
    rng: np.random.Generator,
) -> None:
    """Let items of two tiers trade places, so that sizes stay: steps of Metropolis.

    Every other step is about neighbouring tiers.
    """
    if count < 2:
        return
    starts = list_by_tier(stand.labels, stand.sizes, count, members)
    for step in range(n_steps):
        place, swap = draw_two(starts, 1 - step % 2, rng)
        first, second = members[place], members[swap]
        one, other = stand.labels[first], stand.labels[second]
        if one == other:
            continue
        gain = _gain_of_move(first, other, count, given, stand)
        stand.labels[first] = other
        _move_meetings(first, one, other, given, stand)
        gain += _gain_of_move(second, one, count, given, stand)
        if np.log(1.0 - rng.random()) < gain:
            stand.labels[second] = one
            _move_meetings(second, other, one, given, stand)
            members[place], members[swap] = second, first
        else:
            stand.labels[first] = one
            _move_meetings(first, other, one, given, stand)


@compiled_part
def _in_order(logs: _Floats, count: int) -> bool:
    """Return whether log worths decrease from tier to tier."""
    n_falls = 0
    for tier in range(count - 1):
        n_falls += logs[tier] > logs[tier + 1]
    return n_falls == count - 1


@compiled_part
def _next_below(tier: int, count: int, stand: Stand) -> int:
    """Return the tier with the largest worth below that of a tier, -1 if there is none."""
    found = -1
    for other in range(count):
        if stand.worths[other] < stand.worths[tier] and (
            found < 0 or stand.worths[other] > stand.worths[found]
        ):
            found = other
    return found


@compiled_part
def _cut_or_join(  # noqa: PLR0911, PLR0912, PLR0915 - the way back is priced by the same lines
    count: int,
    given: Meeting,
    stand: Stand,
    members: _Integers,
    above: _Integers,
    changes: _Floats,
    rng: np.random.Generator,
) -> int:
    """Cut a tier in two, or join two neighbours; return the number of tiers.

    What is joined has the mean of both log worths, weighted by how often the items met others. Each
    item of a tier that is cut goes above or below with the probability of its answers half a gap
    above and below the tier, all others being where they were.
    """
    labels = stand.labels
    upper = int(count * rng.random())
    joins = rng.random() < 0.5
    lower = _next_below(upper, count, stand) if joins else upper
    if lower < 0:
        return count
    n_members, n_above, total, total_above = 0, 0, 0.0, 0.0
    for item in range(len(labels)):
        if labels[item] == upper or labels[item] == lower:
            members[n_members] = item
            above[n_members] = 1 if labels[item] == upper else 0
            n_above += above[n_members]
            total += given.totals[item]
            total_above += above[n_members] * given.totals[item]
            n_members += 1
    if n_members < 2:
        return count
    mean_gap = _MEAN_GAP * 2.0 / np.sqrt(total / n_members)
    if joins:
        gap = stand.logs[upper] - stand.logs[lower]
        middle = (
            total_above * stand.logs[upper] + (total - total_above) * stand.logs[lower]
        ) / total
    else:
        gap = -mean_gap * np.log(1.0 - rng.random())
        middle = stand.logs[upper]
    # How much more likely each meeting makes it that an item is above.
    high, low, whole = np.exp(middle + 0.5 * gap), np.exp(middle - 0.5 * gap), np.exp(middle)
    for tier in range(count):
        other = whole if tier in (upper, lower) else stand.worths[tier]
        changes[0, tier] = _log_total(high, other, given.effects)
        changes[0, tier] -= _log_total(low, other, given.effects)
        if given.has_position:
            changes[1, tier] = _log_total(other, high, given.effects)
            changes[1, tier] -= _log_total(other, low, given.effects)
    log_proposal = -np.log(mean_gap) - gap / mean_gap
    if not joins:
        n_above, total_above = 0, 0.0
    for place in range(n_members):
        item = members[place]
        gain = given.arrivals[item] * gap
        for tier in range(count):
            gain -= stand.first[item, tier] * changes[0, tier]
            if given.has_position:
                gain -= stand.second[item, tier] * changes[1, tier]
        log_above = -np.log1p(np.exp(-gain)) if gain > -30.0 else gain
        log_below = -np.log1p(np.exp(gain)) if gain < 30.0 else -gain
        if not joins:
            above[place] = 1 if np.log(1.0 - rng.random()) < log_above else 0
            n_above += above[place]
            total_above += above[place] * given.totals[item]
        log_proposal += log_above if above[place] == 1 else log_below
    if n_above in (0, n_members):
        return count
    share = total_above / total
    log_high, log_low = middle + (1.0 - share) * gap, middle - share * gap
    if not joins:
        for tier in range(count):
            if tier != upper and log_low < stand.logs[tier] < log_high:
                return count  # they would not be neighbours, so there is no way back
    # From one tier to two: what the answers gain.
    high, low = np.exp(log_high), np.exp(log_low)
    for tier in range(count):
        other = stand.worths[tier]
        changes[0, tier] = _log_total(high, other, given.effects) - _log_total(
            whole, other, given.effects
        )
        changes[1, tier] = _log_total(low, other, given.effects) - _log_total(
            whole, other, given.effects
        )
        if given.has_position:
            changes[2, tier] = _log_total(other, high, given.effects) - _log_total(
                other, whole, given.effects
            )
            changes[3, tier] = _log_total(other, low, given.effects) - _log_total(
                other, whole, given.effects
            )
    gain, inside_above, inside_below = 0.0, 0.0, 0.0
    from_above, from_below = 0.0, 0.0
    for place in range(n_members):
        item, row = members[place], 1 - above[place]
        gain += given.arrivals[item] * ((log_high if row == 0 else log_low) - middle)
        for tier in range(count):
            if tier in (upper, lower):
                continue
            gain -= stand.first[item, tier] * changes[row, tier]
            if given.has_position:
                gain -= stand.second[item, tier] * changes[2 + row, tier]
        inside = stand.first[item, upper]
        if lower != upper:
            inside += stand.first[item, lower]
        crossed = 0.0
        for other in range(n_members):
            if above[other] != above[place]:
                crossed += given.met[item, members[other]]
        if row == 0:
            from_above += crossed
            inside_above += inside - crossed
        else:
            from_below += crossed
            inside_below += inside - crossed
    # Without a first place each meeting was counted by both of its items.
    counted = 1.0 if given.has_position else 0.5
    gain -= counted * (inside_above * (log_high - middle) + inside_below * (log_low - middle))
    level = _log_total(whole, whole, given.effects)
    gain -= counted * from_above * (_log_total(high, low, given.effects) - level)
    gain -= counted * from_below * (_log_total(low, high, given.effects) - level)
    n_joined = count - 1 if joins else count
    gain += given.log_priors[n_joined + 1] - given.log_priors[n_joined]
    gain += lgamma(n_above + 1.0) + lgamma(n_members - n_above + 1.0) - lgamma(n_members + 1.0)
    gain += given.shape * (log_high + log_low - middle) - high - low + whole - lgamma(given.shape)
    gain += np.log(n_joined / (n_joined + 1.0)) - log_proposal
    if np.log(1.0 - rng.random()) >= (-gain if joins else gain):
        return count
    if joins:
        for item in range(len(labels)):
            stand.first[item, upper] += stand.first[item, lower]
            if given.has_position:
                stand.second[item, upper] += stand.second[item, lower]
        for place in range(n_members):
            labels[members[place]] = upper
        stand.sizes[upper] = n_members
        _set_worth(upper, middle, count, given, stand)
        return _close(lower, count, given, stand)
    for place in range(n_members):
        if above[place] == 0:
            labels[members[place]] = count
            _move_meetings(members[place], upper, count, given, stand)
    stand.sizes[upper], stand.sizes[count] = n_above, n_members - n_above
    _set_worth(upper, log_high, count, given, stand)
    _set_worth(count, log_low, count + 1, given, stand)
    return count + 1


@compiled_part
def _add_up(count: int, given: Meeting, stand: Stand, met: _Floats, powers: _Floats) -> None:
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
def _walk_worths(
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
                total = _log_total(own, stand.worths[other], given.effects)
                gain -= met[tier, other] * (total - stand.table[other, tier])
            if met[other, tier] > 0.0:
                total = _log_total(stand.worths[other], own, given.effects)
                gain -= met[other, tier] * (total - stand.table[tier, other])
        if np.log(1.0 - rng.random()) < gain:
            _set_worth(tier, tried, count, given, stand)


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
            value -= times * _log_total(own, its, given.effects)
            share, change = _shares(own, its, given.effects)
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
def _draw_worths(
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
    if given.held and not _in_order(tried, count):
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
def _rescale(count: int, given: Meeting, stand: Stand, rng: np.random.Generator) -> None:
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
            total = _log_total(stand.worths[tier], stand.worths[other], given.effects)
            stand.table[other, tier] = stand.turned[tier, other] = total


@compiled
def run_sweeps_of_meetings(
    met: _Floats,
    arrivals: _Floats,
    effects: _Floats,
    shapes: _Floats,
    middles: _Floats,
    successes: _Floats,
    steps: _Floats,
    labels: _Integers,
    worths: _Floats,
    shape: float,
    log_priors: _Floats,
    n_exchanges: int,
    sweeps_per_draw: int,
    label_draws: _Integers,
    log_worth_draws: _Floats,
    effect_draws: _Floats,
    rng: np.random.Generator,
) -> None:
    """Make sweeps, and write down tiers and log worths by item.

    Parameters
    ----------
    met
        ``met[a, b]``: how often ``a`` met ``b``, being shown first where that plays a part, which
        is where the first of ``shapes`` is not 0; else the table is symmetric.
    arrivals
        How often each item won, drawn meetings counting half.
    effects
        Factors of the first place and of draws; 1 and 0 where they play no part.
    shapes, middles, successes
        Of both effects: shape of the prior, 0 where the effect is held; the factor in the middle of
        the prior; how often that happened of which it raises the chance.
    steps
        Lower triangular root of the covariance of the steps of log effects.
    labels, worths
        Tier of each item, counted from 0, and worths of tiers: where the chain begins.
    shape, log_priors
        Shape of the Gamma prior of worths; by number of tiers, log prior of unordered tiers, but
        for the factorials of their sizes.
    n_exchanges
        Negative where tiers of all sizes are drawn; see `tierwise._kernels.luce_chain`.
    sweeps_per_draw
        Number of sweeps for each draw.
    label_draws, log_worth_draws
        Where draws are written; see `tierwise._kernels.luce_chain`.
    effect_draws
        Where draws of both effects are written.
    rng
        Randomness.
    """
    n_items = len(labels)
    room = n_items + 1
    has_position = shapes[0] > 0.0
    has_effects = has_position or shapes[1] > 0.0
    turned, totals = np.empty((n_items, n_items)), np.empty(n_items)
    for item in range(n_items):
        totals[item] = 1.0  # so that items that met nobody have a weight, too
        for other in range(n_items):
            turned[item, other] = met[other, item]
            totals[item] += met[item, other] + (met[other, item] if has_position else 0.0)
    given = Meeting(
        met,
        turned,
        arrivals,
        totals,
        effects,
        shape,
        log_priors,
        has_position,
        n_exchanges >= 0,
    )
    stand = Stand(
        labels,
        np.zeros(room),
        worths,
        np.zeros(room),
        np.zeros((n_items, room)),
        np.zeros((n_items if has_position else 0, room)),
        np.empty((room, room)),
        np.empty((room, room)),
    )
    count = labels[0] + 1
    for item in range(n_items):
        own = labels[item]
        stand.logs[own] = np.log(worths[own])
        count = max(count, own + 1)
        stand.sizes[own] += 1.0
        for other in range(n_items):
            stand.first[other, own] += turned[item, other]
            if has_position:
                stand.second[other, own] += met[item, other]
    between, powers, logs = np.empty((room, room)), np.empty(room), np.empty(room)
    vectors, matrices = np.empty((4, room)), np.empty((2, room, room))
    members, above = np.empty(n_items, dtype=np.int64), np.empty(n_items, dtype=np.int64)
    n_cuts = 1 + n_items // _ITEMS_PER_CUT
    _rescale(count, given, stand, rng)
    for number in range(len(label_draws) * sweeps_per_draw):
        if given.held:
            _exchange_items(count, n_exchanges, given, stand, members, rng)
        else:
            count = _move_items(count, given, stand, logs, rng)
            for _ in range(n_cuts):
                count = _cut_or_join(count, given, stand, members, above, vectors, rng)
        _add_up(count, given, stand, between, powers)
        if has_effects:
            move_effects(effects, shapes, middles, successes, steps, worths, between, count, rng)
            _rescale(count, given, stand, rng)
        for _ in range(_WALKS_IN_ORDER if given.held else 1):
            _walk_worths(count, given, stand, between, powers, rng)
        _draw_worths(count, given, stand, between, powers, vectors, matrices, rng)
        _rescale(count, given, stand, rng)
        if (number + 1) % sweeps_per_draw > 0:
            continue
        draw = number // sweeps_per_draw
        effect_draws[draw, 0], effect_draws[draw, 1] = effects[0], effects[1]
        write_draw(labels, worths, count, label_draws[draw], log_worth_draws[draw])
