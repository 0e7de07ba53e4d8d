"""Gibbs sampling of tiers and worths under Luce's choice model (Caron and Doucet 2012).

Times of arrival are latent data. Given the order of an answer, the gaps between arrivals are
exponential, with the sum of the worths still in the race as their rate. Given the times, an item
that arrived ``c`` times and was in the race for a time ``r`` has the likelihood ``w ** c * exp(-w
r)``, so the worths of tiers, Gamma variables, integrate out, and each item in turn goes to any tier
or to one of its own (a product partition model). Tiers are also joined and cut along the order of
``c / r`` (split and merge). Worths are then drawn again, and their common scale, on which no answer
depends.

Where two items meet, one of them may be shown first, and they may draw: outcomes have the weights
``gamma w_a``, ``w_b`` and ``nu sqrt(w_a w_b)``. The latent time ``t`` of their meetings then leaves
``exp(-t nu sqrt(w_a w_b))``, in which worths do not separate. But ``exp(-2 c sqrt(a b))`` is
``sqrt(b c / pi)`` times the integral of ``r ** -1.5 * exp(-c (a r + b / r))``, so with ``c = t nu /
2`` and ``r`` as one more latent variable (inverse Gaussian, with mean ``sqrt(b / a)`` and shape ``2
c b``) they do: item ``a`` ran ``c r`` longer, item ``b`` ran ``c / r`` longer, and half an arrival
is added to ``b``. ``gamma`` and ``nu`` move by steps of Metropolis, given worths alone.

Where sizes are held, tiers keep their places, with worths that decrease from the first to the last:
items of two tiers trade places, and each worth is drawn between those of its neighbours. Where the
tiers themselves are held, only worths move.
"""

from math import lgamma

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.luce import (
    Block,
    gather_block,
    height_of_time,
    make_block,
    mode_of_time,
    write_rests,
)

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Where the tangents of the envelope touch, in standard deviations from the mode.
_TOUCH = 1.3
# Steps of effects in each sweep: they cost next to nothing, and one alone does not move far.
_STEPS_OF_EFFECTS = 8


@compiled_part
def draw_log_time(
    middle: float,
    top: float,
    curvature: float,
    rest: float,
    worths: _Floats,
    counts: _Floats,
    rng: np.random.Generator,
) -> float:
    """Draw from the integrand of a tied block, which is log-concave: rejection below tangents."""
    touch = _TOUCH / np.sqrt(-curvature)
    low_height, low_slope, _ = height_of_time(middle - touch, rest, worths, counts)
    high_height, high_slope, _ = height_of_time(middle + touch, rest, worths, counts)
    # Where the tangents reach the height of the mode; beyond that the envelope is exponential.
    low = middle - touch + (top - low_height) / low_slope
    high = middle + touch + (top - high_height) / high_slope
    low_mass, high_mass = 1.0 / low_slope, -1.0 / high_slope
    total = low_mass + (high - low) + high_mass
    while True:
        place = total * rng.random()
        if place < low_mass:
            wait = -np.log(1.0 - rng.random())
            log_time, envelope = low - wait / low_slope, -wait
        elif place < low_mass + high - low:
            log_time, envelope = low + place - low_mass, 0.0
        else:
            wait = -np.log(1.0 - rng.random())
            log_time, envelope = high - wait / high_slope, -wait
        height = height_of_time(log_time, rest, worths, counts)[0] - top
        if np.log(1.0 - rng.random()) <= height - envelope:
            return float(log_time)


@compiled_part
def draw_inverse_gaussian(mean: float, shape: float, rng: np.random.Generator) -> float:
    """Draw from an inverse Gaussian distribution (Michael, Schucany and Haas 1976)."""
    part = 0.5 * mean * rng.standard_normal() ** 2 / shape
    # The smaller root of a quadratic equation, without a difference of large numbers.
    small = mean / (1.0 + part + np.sqrt(part * (2.0 + part)))
    if rng.random() * (mean + small) <= mean:
        return float(small)
    return float(mean * mean / small)


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
def _move_effects(
    firsts: _Integers,
    seconds: _Integers,
    meetings: _Floats,
    effects: _Floats,
    shapes: _Floats,
    middles: _Floats,
    successes: _Floats,
    steps: _Floats,
    labels: _Integers,
    worths: _Floats,
    count: int,
    met: _Floats,
    rng: np.random.Generator,
) -> None:
    """Move effects given worths, no times being given: steps of Metropolis.

    Given the times they would be Gamma variables, but hardly move where each pair met seldom.
    """
    met[:count, :count] = 0.0
    for pair in range(len(firsts)):
        met[labels[firsts[pair]], labels[seconds[pair]]] += meetings[pair]
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


@compiled_part
def add_arrivals(
    order: _Integers,
    starts: _Integers,
    weight: float,
    labels: _Integers,
    worths: _Floats,
    block: Block,
    rests: _Floats,
    times: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw when each item arrived in as many races as an answer weighs, and add these times.

    To items of the last block, which need not arrive, the times are added at which all others had.

    Parameters
    ----------
    order, starts
        Items of all answers, and where the blocks of this one begin, and the last one ends.
    weight
        Of the answer; a whole number where it has ties.
    labels, worths
        Tier of each item, and worths of tiers.
    block, rests
        Room to work in.
    times
        What is added to.
    rng
        Randomness.
    """
    n_blocks, begin = len(starts) - 1, starts[0]
    write_rests(order, begin, starts[n_blocks], labels, worths, rests)
    clock = 0.0
    for number in range(n_blocks):
        first, last = starts[number], starts[number + 1]
        if number < n_blocks - 1 and last - first == 1:
            clock += rng.standard_gamma(weight) / rests[first - begin]
        for place in range(first, last):
            times[order[place]] += clock
        if number == n_blocks - 1 or last - first == 1:
            continue
        count = gather_block(order, first, last, labels, worths, block)
        own_worths, own_counts = block.worths[:count], block.counts[:count]
        rest = rests[last - begin]
        middle, top, curvature = mode_of_time(rest, own_worths, own_counts)
        for _ in range(int(weight)):
            limit = np.exp(draw_log_time(middle, top, curvature, rest, own_worths, own_counts, rng))
            latest = 0.0
            for place in range(first, last):
                worth = worths[labels[order[place]]]
                share = rng.random() * -np.expm1(-worth * limit)
                time = -np.log1p(-share) / worth
                times[order[place]] += time
                latest = max(latest, time)
            clock += latest


@compiled_part
def draw_running_times(
    order: _Integers,
    block_starts: _Integers,
    first_blocks: _Integers,
    weights: _Floats,
    firsts: _Integers,
    seconds: _Integers,
    meetings: _Floats,
    effects: _Floats,
    labels: _Integers,
    worths: _Floats,
    block: Block,
    rests: _Floats,
    times: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw how long each item was in the race, summed over all answers."""
    times[:] = 0.0
    for pair in range(len(firsts)):
        first, second = firsts[pair], seconds[pair]
        own, other = worths[labels[first]], worths[labels[second]]
        rate = effects[0] * own + other
        if effects[1] > 0.0:
            rate += effects[1] * np.sqrt(own * other)
        time = rng.standard_gamma(meetings[pair]) / rate
        times[first] += effects[0] * time
        times[second] += time
        if effects[1] > 0.0:
            ratio = draw_inverse_gaussian(np.sqrt(other / own), effects[1] * time * other, rng)
            times[first] += 0.5 * effects[1] * time * ratio
            times[second] += 0.5 * effects[1] * time / ratio
    for answer in range(len(weights)):
        first_block, end_block = first_blocks[answer], first_blocks[answer + 1]
        add_arrivals(
            order,
            block_starts[first_block : end_block + 1],
            weights[answer],
            labels,
            worths,
            block,
            rests,
            times,
            rng,
        )


@compiled_part
def tier_value(size: float, arrivals: float, time: float, shape: float) -> float:
    """Log of what a tier contributes to the probability of tiers, given times."""
    return float(
        lgamma(size + 1.0)
        + lgamma(shape + arrivals)
        - lgamma(shape)
        - (shape + arrivals) * np.log1p(time)
    )


@compiled_part
def _choose(logs: _Floats, count: int, rng: np.random.Generator) -> int:
    """Draw a number with a probability that is proportional to the exponential of its entry."""
    top = logs[0]
    for place in range(1, count):
        top = max(top, logs[place])
    total = 0.0
    for place in range(count):
        logs[place] = np.exp(logs[place] - top)
        total += logs[place]
    left = total * rng.random()
    for place in range(count):
        left -= logs[place]
        if left < 0.0:
            return place
    return count - 1


@compiled_part
def _close_tier(
    tier: int, count: int, labels: _Integers, sizes: _Floats, arrived: _Floats, ran: _Floats
) -> int:
    """Put the last tier in the place of an empty one; return how many are left."""
    last = count - 1
    if tier != last:
        for item in range(len(labels)):
            if labels[item] == last:
                labels[item] = tier
        sizes[tier], arrived[tier], ran[tier] = sizes[last], arrived[last], ran[last]
    sizes[last], arrived[last], ran[last] = 0.0, 0.0, 0.0
    return last


@compiled_part
def _move_items(
    labels: _Integers,
    count: int,
    sizes: _Floats,
    arrived: _Floats,
    ran: _Floats,
    arrivals: _Floats,
    times: _Floats,
    shape: float,
    log_priors: _Floats,
    logs: _Floats,
    values: _Floats,
    joined: _Floats,
    rng: np.random.Generator,
) -> int:
    """Draw the tier of each item given all others (Gibbs); return the number of tiers."""
    for tier in range(count):
        values[tier] = tier_value(sizes[tier], arrived[tier], ran[tier], shape)
    for item in range(len(labels)):
        own = labels[item]
        sizes[own] -= 1.0
        arrived[own] -= arrivals[item]
        ran[own] -= times[item]
        labels[item] = -1
        if sizes[own] < 0.5:
            values[own] = values[count - 1]
            count = _close_tier(own, count, labels, sizes, arrived, ran)
        else:
            values[own] = tier_value(sizes[own], arrived[own], ran[own], shape)
        won, time = arrivals[item], times[item]
        for tier in range(count):
            joined[tier] = tier_value(
                sizes[tier] + 1.0, arrived[tier] + won, ran[tier] + time, shape
            )
            logs[tier] = log_priors[count] + joined[tier] - values[tier]
        joined[count] = tier_value(1.0, won, time, shape)
        logs[count] = log_priors[count + 1] + joined[count]
        chosen = _choose(logs, count + 1, rng)
        if chosen == count:
            count += 1
        labels[item] = chosen
        values[chosen] = joined[chosen]
        sizes[chosen] += 1.0
        arrived[chosen] += won
        ran[chosen] += time
    return count


@compiled_part
def _cut_or_join(  # noqa: PLR0912 - the way back is priced by the same loop
    labels: _Integers,
    count: int,
    sizes: _Floats,
    arrived: _Floats,
    ran: _Floats,
    arrivals: _Floats,
    times: _Floats,
    shape: float,
    log_priors: _Floats,
    members: _Integers,
    sides: _Integers,
    rng: np.random.Generator,
) -> int:
    """Cut the tier of two items, or join their tiers: sequential allocation (Dahl 2003).

    Two items are drawn. If they are in one tier, each becomes the first of a part, and the other
    members, in random order, join one of the parts with the probability that this has given those
    placed so far. If they are in two tiers, these are joined, and the probability of cutting them
    as they are is found in the same way.
    """
    n_items = len(labels)
    if n_items < 2:
        return count
    first = int(n_items * rng.random())
    second = int((n_items - 1) * rng.random())
    second += second >= first
    one, other = labels[first], labels[second]
    joined = one == other
    n_members = 0
    for item in range(n_items):
        if item not in (first, second) and (labels[item] == one or labels[item] == other):
            members[n_members] = item
            n_members += 1
    for place in range(n_members - 1, 0, -1):
        swap = int((place + 1) * rng.random())
        members[place], members[swap] = members[swap], members[place]
    size_a, won_a, time_a = 1.0, arrivals[first], times[first]
    size_b, won_b, time_b = 1.0, arrivals[second], times[second]
    log_proposal = 0.0
    for place in range(n_members):
        item = members[place]
        won, time = arrivals[item], times[item]
        value_a = tier_value(size_a + 1.0, won_a + won, time_a + time, shape)
        value_a -= tier_value(size_a, won_a, time_a, shape)
        value_b = tier_value(size_b + 1.0, won_b + won, time_b + time, shape)
        value_b -= tier_value(size_b, won_b, time_b, shape)
        apart = value_a - value_b
        log_a = -np.log1p(np.exp(-apart)) if apart > -30.0 else apart
        log_b = -np.log1p(np.exp(apart)) if apart < 30.0 else -apart
        to_a = np.log(1.0 - rng.random()) < log_a if joined else labels[item] == one
        sides[place] = 1 if to_a else 0
        if to_a:
            log_proposal += log_a
            size_a, won_a, time_a = size_a + 1.0, won_a + won, time_a + time
        else:
            log_proposal += log_b
            size_b, won_b, time_b = size_b + 1.0, won_b + won, time_b + time
    apart_value = tier_value(size_a, won_a, time_a, shape)
    apart_value += tier_value(size_b, won_b, time_b, shape)
    together = tier_value(size_a + size_b, won_a + won_b, time_a + time_b, shape)
    if joined:
        gain = apart_value + log_priors[count + 1] - together - log_priors[count] - log_proposal
        if np.log(1.0 - rng.random()) >= gain:
            return count
        for place in range(n_members):
            if sides[place] == 0:
                labels[members[place]] = count
        labels[second] = count
        sizes[one], arrived[one], ran[one] = size_a, won_a, time_a
        sizes[count], arrived[count], ran[count] = size_b, won_b, time_b
        return count + 1
    gain = together + log_priors[count - 1] - apart_value - log_priors[count] + log_proposal
    if np.log(1.0 - rng.random()) >= gain:
        return count
    for item in range(n_items):
        if labels[item] == other:
            labels[item] = one
    sizes[one], arrived[one], ran[one] = size_a + size_b, won_a + won_b, time_a + time_b
    return _close_tier(other, count, labels, sizes, arrived, ran)


@compiled_part
def _exchange_items(  # noqa: PLR0912 - which items, given which worths, and whether they stay
    labels: _Integers,
    worths: _Floats,
    count: int,
    sizes: _Floats,
    arrived: _Floats,
    ran: _Floats,
    arrivals: _Floats,
    times: _Floats,
    shape: float,
    n_steps: int,
    members: _Integers,
    rng: np.random.Generator,
) -> None:
    """Let items of two tiers trade places, so that sizes stay: steps of Metropolis.

    In every other step the worths of both tiers are integrated out and drawn again, which moves far
    where they are surely in order; in the rest worths stay, which moves at all where tiers are
    hardly apart. Every other two steps are about neighbouring tiers.
    """
    if count < 2:
        return
    starts = np.zeros(count + 1, dtype=np.int64)
    for tier in range(count):
        starts[tier + 1] = starts[tier] + int(sizes[tier])
    ends = starts[:count].copy()
    for item in range(len(labels)):
        members[ends[labels[item]]] = item
        ends[labels[item]] += 1
    for step in range(n_steps):
        if step % 4 < 2:
            one = int((count - 1) * rng.random())
            other = one + 1
            place = starts[one] + int(sizes[one] * rng.random())
            swap = starts[other] + int(sizes[other] * rng.random())
        else:
            place, swap = int(len(labels) * rng.random()), int(len(labels) * rng.random())
            one, other = labels[members[place]], labels[members[swap]]
            if one == other:
                continue
        first, second = members[place], members[swap]
        won, time = arrivals[second] - arrivals[first], times[second] - times[first]
        before_one, before_other = worths[one], worths[other]
        if step % 2 == 0:
            gain = won * np.log(before_one / before_other) - time * (before_one - before_other)
        else:
            gain = tier_value(sizes[one], arrived[one] + won, ran[one] + time, shape)
            gain -= tier_value(sizes[one], arrived[one], ran[one], shape)
            gain += tier_value(sizes[other], arrived[other] - won, ran[other] - time, shape)
            gain -= tier_value(sizes[other], arrived[other], ran[other], shape)
        if np.log(1.0 - rng.random()) >= gain:
            continue
        if step % 2 == 1:
            total = 1.0 + ran[one] + time
            worths[one] = rng.standard_gamma(shape + arrived[one] + won) / total
            total = 1.0 + ran[other] - time
            worths[other] = rng.standard_gamma(shape + arrived[other] - won) / total
            in_order = True
            for tier in range(count - 1):
                in_order &= worths[tier] > worths[tier + 1]
            if not in_order:
                worths[one], worths[other] = before_one, before_other
                continue
        labels[first], labels[second] = other, one
        members[place], members[swap] = second, first
        arrived[one] += won
        arrived[other] -= won
        ran[one] += time
        ran[other] -= time


@compiled_part
def _draw_between(
    log_worth: float, low: float, high: float, shape: float, rate: float, rng: np.random.Generator
) -> float:
    """Draw the logarithm of a Gamma variable between two bounds.

    One draw without bounds may do; else a step of slice sampling is made (Neal 2003).
    """
    free = np.log(rng.standard_gamma(shape) / rate)
    if low < free < high:
        return float(free)
    level = shape * log_worth - rate * np.exp(log_worth) + np.log(1.0 - rng.random())
    width = 3.0 / np.sqrt(shape)
    left = log_worth - width * rng.random()
    right = left + width
    while left > low and shape * left - rate * np.exp(left) > level:
        left -= width
    while right < high and shape * right - rate * np.exp(right) > level:
        right += width
    left, right = max(left, low), min(right, high)
    while True:
        drawn = left + (right - left) * rng.random()
        if shape * drawn - rate * np.exp(drawn) >= level:
            return float(drawn)
        if drawn < log_worth:
            left = drawn
        else:
            right = drawn


@compiled_part
def _draw_worths_in_order(
    worths: _Floats,
    count: int,
    arrived: _Floats,
    ran: _Floats,
    shape: float,
    rng: np.random.Generator,
) -> None:
    """Draw each worth given its neighbours, between which it stays (Gibbs)."""
    for tier in range(count):
        low = np.log(worths[tier + 1]) if tier < count - 1 else -np.inf
        high = np.log(worths[tier - 1]) if tier > 0 else np.inf
        own = np.log(worths[tier])
        drawn = _draw_between(own, low, high, shape + arrived[tier], 1.0 + ran[tier], rng)
        worths[tier] = np.exp(drawn)


@compiled
def run_sweeps(  # noqa: PLR0912 - tiers of all sizes, of given sizes, and given tiers in one sweep
    order: _Integers,
    block_starts: _Integers,
    first_blocks: _Integers,
    weights: _Floats,
    firsts: _Integers,
    seconds: _Integers,
    meetings: _Floats,
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
    order, block_starts, first_blocks, weights
        Answers; see `tierwise._kernels.luce`. Weights of answers with ties are whole numbers.
    firsts, seconds, meetings
        Pairs of items, and how often they met; the first was shown first where that plays a part.
    arrivals
        How often each item arrived before another one; with half an arrival more for the second
        item of each pair where there are draws.
    effects
        Factors of the first place and of draws; 1 and 0 where they play no part.
    shapes, middles, successes
        Of both effects: shape of the prior, 0 where the effect is held; the factor in the middle of
        the prior; how often that happened of which it raises the chance.
    steps
        Lower triangular root of the covariance of the steps of log effects.
    labels, worths
        Tier of each item, counted from 0, and worths of tiers: where the chain begins and ends.
        ``worths`` has room for one more tier than there are items.
    shape
        Shape of the Gamma prior of worths, whose rate is 1.
    log_priors
        By number of tiers, from 0: log prior of unordered tiers, but for the factorials of their
        sizes.
    n_exchanges
        Negative: tiers of all sizes are drawn. Else sizes are held, labels are in the order of
        worths, and so many exchanges of items are tried in each sweep; none if tiers are held.
    sweeps_per_draw
        Number of sweeps for each draw.
    label_draws, log_worth_draws
        Where draws are written, one row each: tier of each item, 0 being the best; log worth of
        each item, the mean over items being 0.
    effect_draws
        Where draws of both effects are written.
    rng
        Randomness.
    """
    n_items = len(labels)
    room = n_items + 1
    sizes, arrived, ran = np.zeros(room), np.zeros(room), np.zeros(room)
    logs, times = np.empty(room), np.empty(n_items)
    values, joined = np.empty(room), np.empty(room)
    block, rests = make_block(room), np.empty(n_items + 1)
    has_effects = shapes.max() > 0.0
    met = np.empty((room, room)) if has_effects else np.empty((0, 0))
    members, sides = np.empty(n_items, dtype=np.int64), np.empty(n_items, dtype=np.int64)
    count = 0
    for item in range(n_items):
        count = max(count, labels[item] + 1)
    for number in range(len(label_draws) * sweeps_per_draw):
        if has_effects:
            _move_effects(
                firsts,
                seconds,
                meetings,
                effects,
                shapes,
                middles,
                successes,
                steps,
                labels,
                worths,
                count,
                met,
                rng,
            )
        draw_running_times(
            order,
            block_starts,
            first_blocks,
            weights,
            firsts,
            seconds,
            meetings,
            effects,
            labels,
            worths,
            block,
            rests,
            times,
            rng,
        )
        sizes[:] = 0.0
        arrived[:] = 0.0
        ran[:] = 0.0
        for item in range(n_items):
            sizes[labels[item]] += 1.0
            arrived[labels[item]] += arrivals[item]
            ran[labels[item]] += times[item]
        if n_exchanges < 0:
            count = _move_items(
                labels,
                count,
                sizes,
                arrived,
                ran,
                arrivals,
                times,
                shape,
                log_priors,
                logs,
                values,
                joined,
                rng,
            )
            for _ in range(3):
                count = _cut_or_join(
                    labels,
                    count,
                    sizes,
                    arrived,
                    ran,
                    arrivals,
                    times,
                    shape,
                    log_priors,
                    members,
                    sides,
                    rng,
                )
            for tier in range(count):
                worths[tier] = rng.standard_gamma(shape + arrived[tier]) / (1.0 + ran[tier])
        else:
            _exchange_items(
                labels,
                worths,
                count,
                sizes,
                arrived,
                ran,
                arrivals,
                times,
                shape,
                n_exchanges,
                members,
                rng,
            )
            _draw_worths_in_order(worths, count, arrived, ran, shape, rng)
        total = 0.0
        for tier in range(count):
            total += worths[tier]
        scale = rng.standard_gamma(shape * count) / total
        for tier in range(count):
            worths[tier] *= scale
        if (number + 1) % sweeps_per_draw > 0:
            continue
        draw = number // sweeps_per_draw
        effect_draws[draw] = effects
        mean = 0.0
        for item in range(n_items):
            log_worth_draws[draw, item] = np.log(worths[labels[item]])
            mean += log_worth_draws[draw, item] / n_items
        for item in range(n_items):
            log_worth_draws[draw, item] -= mean
            better = 0
            for tier in range(count):
                better += worths[tier] > worths[labels[item]]
            label_draws[draw, item] = better
