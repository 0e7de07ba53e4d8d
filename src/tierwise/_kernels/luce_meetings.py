"""Sampling of tiers and worths given meetings of two items, whose likelihood is in closed form.

Where items only meet in pairs, all that a tier's worth or an item's move needs is how often the
item met each tier, so no latent times are drawn. A sweep has four kinds of moves; where sizes are
held, items of two tiers trade places instead of the first two, and worths stay in the order of the
tiers.

Each item in turn is drawn to any tier, given their worths, or to one of its own, whose worth is a
draw from an approximation of its distribution (Neal 2000, algorithm 8, with one auxiliary value
that is weighted by its importance). Tiers are cut and neighbours joined (reversible jump): a gap is
drawn, and each item goes above or below it with the probability that this has while the others stay
where they are. Worths, their common scale and effects are moved by `luce_worths`.

References
----------
R. M. Neal (2000). Markov chain sampling methods for Dirichlet process mixture models. Journal of
Computational and Graphical Statistics 9, 249-265.
P. J. Green (1995). Reversible jump Markov chain Monte Carlo computation and Bayesian model
determination. Biometrika 82, 711-732.
"""

from math import lgamma, pi
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
from tierwise._kernels.luce_chain import write_draw
from tierwise._kernels.luce_worths import (
    Effects,
    Meeting,
    Stand,
    TierMeetings,
    add_up,
    draw_worths,
    log_total,
    move_effects,
    rescale,
    set_worth,
    walk_worths,
)
from tierwise._kernels.ordered_partition import (
    choose,
    draw_two,
    label_last_as,
    list_by_tier,
    log_share,
)

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
# How often each worth is moved in a sweep where worths stay in order, which bars steps of them all.
_WALKS_IN_ORDER = 4


@compiled_part
def _move_meetings(item: int, before: int, after: int, given: Meeting, stand: Stand) -> None:
    """Tell all items that one of those they met is in another tier."""
    for other in range(len(stand.labels)):
        for side in range(given.n_sides):
            times = given.between[item, given.n_sides * other + side]
            stand.met[other, given.n_sides * before + side] -= times
            stand.met[other, given.n_sides * after + side] += times


@compiled_part
def _close(tier: int, count: int, given: Meeting, stand: Stand) -> int:
    """Put the last tier in the place of one without items; return how many are left."""
    last = count - 1
    label_last_as(tier, last, stand.labels)
    for item in range(len(stand.labels)):
        for side in range(given.n_sides):
            column = given.n_sides * last + side
            stand.met[item, given.n_sides * tier + side] = stand.met[item, column]
            stand.met[item, column] = 0.0
    stand.sizes[tier] = stand.sizes[last]
    stand.sizes[last] = 0.0
    if tier != last:
        set_worth(tier, stand.logs[last], last, given, stand)
    return last


@inlined
def _approximate_worth(
    item: int, start: float, count: int, given: Meeting, stand: Stand
) -> tuple[float, float]:
    """About the mean and the standard deviation of the log worth of an item, given all others."""
    point, bend = start, 1.0
    first, draw = given.effects[0], given.effects[1]
    for step in range(3):
        own = np.exp(point)
        slope, bend = given.arrivals[item] + given.shape - own, own
        for tier in range(count):
            for side in range(given.n_sides):
                met = stand.met[item, given.n_sides * tier + side]
                if met == 0.0:
                    continue
                winning, losing = own, stand.worths[tier]
                root = draw * np.sqrt(winning * losing) if draw > 0.0 else 0.0
                if side == 0:
                    winning *= first
                else:
                    losing *= first
                total = winning + losing + root
                share = (winning + 0.5 * root) / total
                slope -= met * share
                bend += met * ((winning + 0.25 * root) / total - share * share)
        if step < 2:
            point += min(max(slope / bend, -_LONGEST_STEP), _LONGEST_STEP)
    return point, 1.0 / np.sqrt(bend)


@inlined
def _log_density_of_item(
    item: int, log_worth: float, count: int, given: Meeting, stand: Stand
) -> float:
    """Log of likelihood times prior density of the log worth of an item in a tier of its own."""
    own = np.exp(log_worth)
    value = (given.arrivals[item] + given.shape) * log_worth - own - lgamma(given.shape)
    for tier in range(count):
        for side in range(given.n_sides):
            met = stand.met[item, given.n_sides * tier + side]
            if met > 0.0:
                value -= met * log_total(own, stand.worths[tier], side, given.effects)
    return float(value)


@inlined
def _write_logs(item: int, count: int, given: Meeting, stand: Stand, logs: _Floats) -> None:
    """Write the log-likelihood of the answers about an item in each tier, given all worths."""
    for tier in range(count):
        logs[tier] = given.arrivals[item] * stand.logs[tier]
    for column in range(given.n_sides * count):
        met = stand.met[item, column]
        if met > 0.0:
            for tier in range(count):
                logs[tier] -= met * stand.table[column, tier]


@inlined
def _best_of_others(logs: _Floats, count: int, left_out: int) -> int:
    """Return the tier of the largest log, but for one, which may be none."""
    best = -1
    for tier in range(count):
        if tier != left_out and (best < 0 or logs[tier] > logs[best]):
            best = tier
    return best


@compiled_part
def _move_items(
    count: int, given: Meeting, stand: Stand, logs: _Floats, rng: np.random.Generator
) -> int:
    """Draw the tier of each item given the worths of all tiers; return the number of tiers."""
    constant = lgamma(0.5 * (_FREEDOM + 1.0)) - lgamma(0.5 * _FREEDOM) - 0.5 * np.log(_FREEDOM * pi)
    for item in range(len(stand.labels)):
        own = stand.labels[item]
        alone = stand.sizes[own] < 1.5
        if alone and count == 1:
            continue
        _write_logs(item, count, given, stand, logs)
        # The approximation must be the same whether the item is alone or not.
        best = _best_of_others(logs, count, own if alone else -1)
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
            set_worth(chosen, log_worth, count, given, stand)
        stand.labels[item] = chosen
        stand.sizes[own] -= 1.0
        stand.sizes[chosen] += 1.0
        _move_meetings(item, own, chosen, given, stand)
        if alone:
            count = _close(own, count, given, stand)
    return count


@inlined
def _gain_of_move(item: int, target: int, count: int, given: Meeting, stand: Stand) -> float:
    """Return what the log-likelihood gains if an item goes to another tier."""
    own = stand.labels[item]
    gain = given.arrivals[item] * (stand.logs[target] - stand.logs[own])
    for column in range(given.n_sides * count):
        change = stand.table[column, target] - stand.table[column, own]
        gain -= stand.met[item, column] * change
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


@inlined
def _next_below(tier: int, count: int, stand: Stand) -> int:
    """Return the tier with the largest worth below that of a tier, -1 if there is none."""
    found = -1
    for other in range(count):
        if stand.worths[other] < stand.worths[tier] and (
            found < 0 or stand.worths[other] > stand.worths[found]
        ):
            found = other
    return found


class _Parts(NamedTuple):
    """A tier that is cut, or two that are joined, and room to work in.

    Attributes
    ----------
    n_tiers
        Number of all tiers.
    upper, lower
        The two tiers; the same one where it is cut.
    n_members
        Number of their items.
    members, above
        The items, and whether each is above the gap, 1 or 0.
    changes
        ``[part, n_sides * tier + side]``: changes of log totals.
    """

    n_tiers: int
    upper: int
    lower: int
    n_members: int
    members: _Integers
    above: _Integers
    changes: _Floats


@inlined
def _list_members(
    upper: int, lower: int, labels: _Integers, members: _Integers, above: _Integers
) -> int:
    """List the items of two tiers, and which are in the upper one; return their number."""
    n_members = 0
    for item in range(len(labels)):
        if labels[item] == upper or labels[item] == lower:
            members[n_members] = item
            above[n_members] = 1 if labels[item] == upper else 0
            n_members += 1
    return n_members


@compiled_part
def _sum_above(parts: _Parts, given: Meeting) -> tuple[int, float, float]:
    """Count the members that are above, and how often they, and all members, met others."""
    n_above, total_above, total = 0, 0.0, 0.0
    for place in range(parts.n_members):
        met = given.totals[parts.members[place]]
        n_above += parts.above[place]
        total += met
        total_above += parts.above[place] * met
    return n_above, total_above, total


@compiled_part
def _write_changes(
    row: int, worth: float, old: float, whole: float, parts: _Parts, given: Meeting, stand: Stand
) -> None:
    """Write by how much log totals change for an item of another worth, by the tier it meets.

    Its own tiers are worth ``whole``.
    """
    for tier in range(parts.n_tiers):
        other = whole if tier in (parts.upper, parts.lower) else stand.worths[tier]
        for side in range(given.n_sides):
            change = log_total(worth, other, side, given.effects)
            change -= log_total(old, other, side, given.effects)
            parts.changes[row, given.n_sides * tier + side] = change


@inlined
def _deal(
    middle: float,
    gap: float,
    drawing: int,
    parts: _Parts,
    given: Meeting,
    stand: Stand,
    rng: np.random.Generator,
) -> float:
    """Send each member above or below a gap; return the log probability of the sides.

    Where nothing is drawn, sides are taken as they are.
    """
    high, low = np.exp(middle + 0.5 * gap), np.exp(middle - 0.5 * gap)
    _write_changes(0, high, low, np.exp(middle), parts, given, stand)
    log_sides = 0.0
    for place in range(parts.n_members):
        item = parts.members[place]
        # How much more likely its meetings make it that the item is above.
        gain = given.arrivals[item] * gap
        for column in range(given.n_sides * parts.n_tiers):
            gain -= stand.met[item, column] * parts.changes[0, column]
        if drawing == 1:
            parts.above[place] = 1 if np.log(1.0 - rng.random()) < log_share(gain) else 0
        log_sides += log_share(gain if parts.above[place] == 1 else -gain)
    return log_sides


@inlined
def _gain_of_answers(
    log_high: float,
    middle: float,
    log_low: float,
    parts: _Parts,
    given: Meeting,
    stand: Stand,
) -> float:
    """Return what the log-likelihood gains where a tier in the middle is cut into two."""
    upper, lower, members, above = parts.upper, parts.lower, parts.members, parts.above
    high, whole, low = np.exp(log_high), np.exp(middle), np.exp(log_low)
    for part in range(2):
        _write_changes(part, high if part == 0 else low, whole, whole, parts, given, stand)
    gain = 0.0
    # By part, 0 being above: meetings of its members with each other, and with the other part.
    inside, crossed = np.zeros(2), np.zeros(2)
    for place in range(parts.n_members):
        item, row = members[place], 1 - above[place]
        gain += given.arrivals[item] * ((log_high if row == 0 else log_low) - middle)
        for tier in range(parts.n_tiers):
            if tier in (upper, lower):
                continue
            for column in range(given.n_sides * tier, given.n_sides * (tier + 1)):
                gain -= stand.met[item, column] * parts.changes[row, column]
        met = stand.met[item, given.n_sides * upper]
        if lower != upper:
            met += stand.met[item, given.n_sides * lower]
        met_others = 0.0
        for other in range(parts.n_members):
            if above[other] != above[place]:
                met_others += given.between[item, given.n_sides * (members[other] + 1) - 1]
        crossed[row] += met_others
        inside[row] += met - met_others
    # Without a first place each meeting was counted by both of its items.
    counted = 0.5 * given.n_sides
    gain -= counted * (inside[0] * (log_high - middle) + inside[1] * (log_low - middle))
    level = log_total(whole, whole, 0, given.effects)
    for side in range(2):
        change = log_total(high, low, side, given.effects) - level
        gain -= counted * crossed[side] * change
    return float(gain)


@inlined
def _has_between(low: float, high: float, left_out: int, count: int, stand: Stand) -> bool:
    """Return whether a tier has a log worth between two."""
    found = False
    for tier in range(count):
        found = found or (tier != left_out and low < stand.logs[tier] < high)
    return found


@inlined
def _join(middle: float, parts: _Parts, given: Meeting, stand: Stand) -> int:
    """Join the two tiers, with a log worth; return the number of tiers."""
    count, upper, lower = parts.n_tiers, parts.upper, parts.lower
    for item in range(len(stand.labels)):
        for side in range(given.n_sides):
            times = stand.met[item, given.n_sides * lower + side]
            stand.met[item, given.n_sides * upper + side] += times
    for place in range(parts.n_members):
        stand.labels[parts.members[place]] = upper
    stand.sizes[upper] = parts.n_members
    set_worth(upper, middle, count, given, stand)
    return _close(lower, count, given, stand)


@inlined
def _cut(log_high: float, log_low: float, parts: _Parts, given: Meeting, stand: Stand) -> int:
    """Put the members that are not above into a new tier; return the number of tiers."""
    count, n_below = parts.n_tiers, 0
    for place in range(parts.n_members):
        if parts.above[place] == 0:
            n_below += 1
            stand.labels[parts.members[place]] = count
            _move_meetings(parts.members[place], parts.upper, count, given, stand)
    stand.sizes[parts.upper], stand.sizes[count] = parts.n_members - n_below, n_below
    set_worth(parts.upper, log_high, count, given, stand)
    set_worth(count, log_low, count + 1, given, stand)
    return count + 1


@compiled_part
def _cut_or_join(
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
    upper = int(count * rng.random())
    joins = rng.random() < 0.5
    lower = _next_below(upper, count, stand) if joins else upper
    n_members = _list_members(upper, lower, stand.labels, members, above) if lower >= 0 else 0
    if n_members < 2:
        return count
    parts = _Parts(count, upper, lower, n_members, members, above, changes)
    _, total_above, total = _sum_above(parts, given)
    mean_gap = _MEAN_GAP * 2.0 / np.sqrt(total / n_members)
    if joins:
        gap, middle = stand.logs[upper] - stand.logs[lower], total_above * stand.logs[upper]
        middle = (middle + (total - total_above) * stand.logs[lower]) / total
    else:
        gap, middle = -mean_gap * np.log(1.0 - rng.random()), stand.logs[upper]
    log_proposal = -np.log(mean_gap) - gap / mean_gap
    log_proposal += _deal(middle, gap, 0 if joins else 1, parts, given, stand, rng)
    n_above, total_above, total = _sum_above(parts, given)
    share = total_above / total
    log_high, log_low = middle + (1.0 - share) * gap, middle - share * gap
    # Where others lie between the parts, these are not neighbours, so there is no way back.
    apart = not joins and _has_between(log_low, log_high, upper, count, stand)
    if n_above in (0, n_members) or apart:
        return count
    # From one tier to two, whichever way it is.
    gain = _gain_of_answers(log_high, middle, log_low, parts, given, stand)
    n_joined = count - 1 if joins else count
    gain += given.log_priors[n_joined + 1] - given.log_priors[n_joined]
    gain += lgamma(n_above + 1.0) + lgamma(n_members - n_above + 1.0) - lgamma(n_members + 1.0)
    gain += given.shape * (log_high + log_low - middle) - lgamma(given.shape)
    gain -= np.exp(log_high) + np.exp(log_low) - np.exp(middle)
    gain += np.log(n_joined / (n_joined + 1.0)) - log_proposal
    if np.log(1.0 - rng.random()) >= (-gain if joins else gain):
        return count
    if joins:
        return _join(middle, parts, given, stand)
    return _cut(log_high, log_low, parts, given, stand)


@compiled
def run_sweeps_of_meetings(
    between: _Floats,
    arrivals: _Floats,
    totals: _Floats,
    effects: Effects,
    labels: _Integers,
    worths: _Floats,
    shape: float,
    log_priors: _Floats,
    n_exchanges: int | None,
    sweeps_per_draw: int,
    label_draws: _Integers,
    log_worth_draws: _Floats,
    effect_draws: _Floats | None,
    rng: np.random.Generator,
) -> None:
    """Make sweeps, and write down tiers and log worths by item.

    Parameters
    ----------
    between
        ``[item, other]``: how often two items met. Where the first place plays a part, which is
        where its effect has a prior, ``[item, 2 * other + side]``: how often they met, the other
        item being shown first (0) or second (1).
    arrivals
        How often each item won, drawn meetings counting half.
    totals
        How often each item met others, and once more, so that those that met nobody count.
    effects
        Effects of the first place and of draws.
    labels, worths
        Tier of each item, counted from 0, and worths of tiers: where the chain begins.
    shape, log_priors
        Shape of the Gamma prior of worths; by number of tiers, log prior of unordered tiers, but
        for the factorials of their sizes.
    n_exchanges
        None where tiers of all sizes are drawn; see `tierwise._kernels.luce_chain`.
    sweeps_per_draw
        Number of sweeps for each draw.
    label_draws, log_worth_draws
        Where draws are written; see `tierwise._kernels.luce_chain`.
    effect_draws
        Where draws of both effects are written; None where both are held.
    rng
        Randomness.
    """
    n_items = len(labels)
    room = n_items + 1
    n_sides = between.shape[1] // n_items
    given = Meeting(
        n_sides,
        between,
        arrivals,
        totals,
        effects.factors,
        shape,
        log_priors,
        n_exchanges is not None,
    )
    stand = Stand(
        labels,
        np.zeros(room),
        worths,
        np.zeros(room),
        np.zeros((n_items, n_sides * room)),
        np.empty((n_sides * room, room)),
    )
    count = labels[0] + 1
    for item in range(n_items):
        own = labels[item]
        stand.logs[own] = np.log(worths[own])
        count = max(count, own + 1)
        stand.sizes[own] += 1.0
        for other in range(n_items):
            for side in range(n_sides):
                times = between[item, n_sides * other + side]
                stand.met[other, n_sides * own + side] += times
    logs, vectors = np.empty(room), np.empty((2, n_sides * room))
    members, above = np.empty(n_items, dtype=np.int64), np.empty(n_items, dtype=np.int64)
    rows = np.empty(2, dtype=np.int64)
    rows[0], rows[1] = -1, -1  # effects are held where worths are moved
    n_cuts = 1 + n_items // _ITEMS_PER_CUT
    rescale(count, given, stand, rng)
    for number in range(len(label_draws) * sweeps_per_draw):
        if n_exchanges is None:
            count = _move_items(count, given, stand, logs, rng)
            for _ in range(n_cuts):
                count = _cut_or_join(count, given, stand, members, above, vectors, rng)
        else:
            _exchange_items(count, n_exchanges, given, stand, members, rng)
        of_tiers, won = add_up(count, given, stand)
        meetings = TierMeetings(of_tiers, won, effects.factors, rows, effects.successes)
        if effect_draws is not None:
            move_effects(effects, worths, meetings.met, count, rng)
            rescale(count, given, stand, rng)
        for _ in range(_WALKS_IN_ORDER if given.held else 1):
            walk_worths(count, given, stand, meetings, rng)
        draw_worths(count, given, stand, meetings, rng)
        rescale(count, given, stand, rng)
        if (number + 1) % sweeps_per_draw > 0:
            continue
        draw = number // sweeps_per_draw
        if effect_draws is not None:
            effect_draws[draw, 0], effect_draws[draw, 1] = effects.factors[0], effects.factors[1]
        write_draw(labels, worths, count, label_draws[draw], log_worth_draws[draw])
