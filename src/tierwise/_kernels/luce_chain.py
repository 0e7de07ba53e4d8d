"""Gibbs sampling of tiers and worths under Luce's choice model (Caron and Doucet 2012).

Times of arrival are latent data (`luce`). Given these, an item that arrived ``c`` times and
was in the race for a time ``r`` has the likelihood ``w ** c * exp(-w r)``, so the worths of tiers,
Gamma variables, integrate out. Each item in turn goes to any tier or to one of its own (a product
partition model), and tiers are cut and joined (sequential allocation). Worths are then drawn again,
and their common scale, on which no answer depends.

Where sizes are held, tiers keep their places, with worths that decrease from the first to the last:
items of two tiers trade places, and each worth is drawn between those of its neighbours. Where the
tiers themselves are held, only worths move. Meetings of two items need no times (`luce_meetings`).
"""

from math import lgamma
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
from tierwise._kernels.luce import RaceAnswers, draw_running_times, make_block
from tierwise._kernels.ordered_partition import (
    choose,
    draw_two,
    label_last_as,
    list_by_tier,
    log_share,
)

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


# Arrivals of a tier are whole numbers as a rule; so many of their log gammas are remembered.
_MOST_REMEMBERED = 1_000_000


class LogGammas(NamedTuple):
    """Log gamma functions of which tiers are made, remembered."""

    shape: float
    """Shape of the Gamma prior of worths."""
    of_shape: float
    log_factorials: _Floats
    """By number of items."""
    of_arrivals: _Floats
    """By twice the number of arrivals, a draw being half of one: of that number plus the shape; not
    a number where it was not asked for."""


@compiled_part
def make_log_gammas(shape: float, n_items: int, n_arrivals: float) -> LogGammas:
    """Make room for the log gammas of tiers of so many items, with so many arrivals in all."""
    log_factorials = np.empty(n_items + 2)
    for number in range(n_items + 2):
        log_factorials[number] = lgamma(number + 1.0)
    n_remembered = int(min(2.0 * n_arrivals + 1.0, float(_MOST_REMEMBERED)))
    of_arrivals = np.empty(n_remembered)
    for number in range(n_remembered):
        of_arrivals[number] = np.nan
    return LogGammas(shape, lgamma(shape), log_factorials, of_arrivals)


@compiled_part
def tier_value(size: float, arrivals: float, time: float, gammas: LogGammas) -> float:
    """Log of what a tier contributes to the probability of tiers, given times."""
    place = int(2.0 * arrivals)
    if 0 <= place < len(gammas.of_arrivals) and place == 2.0 * arrivals:
        log_gamma = gammas.of_arrivals[place]
        if np.isnan(log_gamma):
            log_gamma = lgamma(gammas.shape + arrivals)
            gammas.of_arrivals[place] = log_gamma
    else:
        log_gamma = lgamma(gammas.shape + arrivals)
    return float(
        gammas.log_factorials[int(size)]
        + log_gamma
        - gammas.of_shape
        - (gammas.shape + arrivals) * np.log1p(time)
    )


class Given(NamedTuple):
    """What tiers are valued by: arrivals and times of items, and the prior."""

    arrivals: _Floats
    times: _Floats
    gammas: LogGammas
    log_priors: _Floats
    """By number of tiers, from 0."""


class Tiers(NamedTuple):
    """Tiers without an order, and sums over their items."""

    labels: _Integers
    """Tier of each item, counted from 0."""
    sizes: _Floats
    arrived: _Floats
    ran: _Floats


@compiled_part
def _value(tiers: Tiers, tier: int, given: Given) -> float:
    """Log of what a tier contributes, as it is."""
    return tier_value(tiers.sizes[tier], tiers.arrived[tier], tiers.ran[tier], given.gammas)


@compiled_part
def _count(tiers: Tiers, tier: int, size: float, arrived: float, ran: float) -> None:
    """Write the sums over the items of a tier."""
    tiers.sizes[tier], tiers.arrived[tier], tiers.ran[tier] = size, arrived, ran


@inlined
def _sum_by_tier(tiers: Tiers, given: Given) -> None:
    """Add up items, arrivals and times of each tier."""
    for tier in range(len(tiers.sizes)):
        _count(tiers, tier, 0.0, 0.0, 0.0)
    for item in range(len(tiers.labels)):
        tier = tiers.labels[item]
        tiers.sizes[tier] += 1.0
        tiers.arrived[tier] += given.arrivals[item]
        tiers.ran[tier] += given.times[item]


@compiled_part
def _close(tiers: Tiers, tier: int, count: int) -> int:
    """Put the last tier in the place of an empty one; return how many are left."""
    last = count - 1
    label_last_as(tier, last, tiers.labels)
    _count(tiers, tier, tiers.sizes[last], tiers.arrived[last], tiers.ran[last])
    _count(tiers, last, 0.0, 0.0, 0.0)
    return last


@compiled_part
def _move_items(
    tiers: Tiers, count: int, given: Given, room: _Floats, rng: np.random.Generator
) -> int:
    """Draw the tier of each item given all others (Gibbs); return the number of tiers."""
    logs, values, joined = room[0], room[1], room[2]
    for tier in range(count):
        values[tier] = _value(tiers, tier, given)
    for item in range(len(tiers.labels)):
        own, won, time = tiers.labels[item], given.arrivals[item], given.times[item]
        tiers.sizes[own] -= 1.0
        tiers.arrived[own] -= won
        tiers.ran[own] -= time
        tiers.labels[item] = -1
        if tiers.sizes[own] < 0.5:
            values[own] = values[count - 1]
            count = _close(tiers, own, count)
        else:
            values[own] = _value(tiers, own, given)
        for tier in range(count):
            joined[tier] = tier_value(
                tiers.sizes[tier] + 1.0,
                tiers.arrived[tier] + won,
                tiers.ran[tier] + time,
                given.gammas,
            )
            logs[tier] = given.log_priors[count] + joined[tier] - values[tier]
        joined[count] = tier_value(1.0, won, time, given.gammas)
        logs[count] = given.log_priors[count + 1] + joined[count]
        chosen = choose(logs, 0, count, rng.random())
        if chosen == count:
            count += 1
        tiers.labels[item] = chosen
        values[chosen] = joined[chosen]
        tiers.sizes[chosen] += 1.0
        tiers.arrived[chosen] += won
        tiers.ran[chosen] += time
    return count


@inlined
def _shuffled_members(
    labels: _Integers, first: int, second: int, members: _Integers, rng: np.random.Generator
) -> int:
    """Write the other items of the tiers of two in random order, and return their number."""
    one, other = labels[first], labels[second]
    n_members = 0
    for item in range(len(labels)):
        if item not in (first, second) and (labels[item] == one or labels[item] == other):
            members[n_members] = item
            n_members += 1
    for place in range(n_members - 1, 0, -1):
        swap = int((place + 1) * rng.random())
        members[place], members[swap] = members[swap], members[place]
    return n_members


@inlined
def _deal(
    first: int,
    second: int,
    members: _Integers,
    sides: _Integers,
    drawing: int,
    given: Given,
    sums: _Floats,
    rng: np.random.Generator,
) -> float:
    """Send members to the first (0) or second (1) of two parts, one after the other.

    Each goes to a part with the probability that this has given those placed so far; where nothing
    is drawn, sides are taken as they are. ``sums[side]`` becomes size, arrivals and time of a part.
    Returns the log probability of the sides.
    """
    arrivals, times, gammas = given.arrivals, given.times, given.gammas
    sums[0, 0], sums[0, 1], sums[0, 2] = 1.0, arrivals[first], times[first]
    sums[1, 0], sums[1, 1], sums[1, 2] = 1.0, arrivals[second], times[second]
    log_proposal = 0.0
    for place in range(len(members)):
        won, time = arrivals[members[place]], times[members[place]]
        apart = tier_value(sums[0, 0] + 1.0, sums[0, 1] + won, sums[0, 2] + time, gammas)
        apart -= tier_value(sums[0, 0], sums[0, 1], sums[0, 2], gammas)
        other = tier_value(sums[1, 0] + 1.0, sums[1, 1] + won, sums[1, 2] + time, gammas)
        other -= tier_value(sums[1, 0], sums[1, 1], sums[1, 2], gammas)
        apart -= other
        if drawing == 1:
            sides[place] = 0 if np.log(1.0 - rng.random()) < log_share(apart) else 1
        side = sides[place]
        log_proposal += log_share(apart if side == 0 else -apart)
        sums[side, 0] += 1.0
        sums[side, 1] += won
        sums[side, 2] += time
    return log_proposal


@compiled_part
def _cut_or_join(
    tiers: Tiers,
    count: int,
    given: Given,
    members: _Integers,
    sides: _Integers,
    sums: _Floats,
    rng: np.random.Generator,
) -> int:
    """Cut the tier of two items, or join their tiers: sequential allocation (Dahl 2003).

    Two items are drawn. If they are in one tier, each becomes the first of a part, and the other
    members, in random order, join one of the parts with the probability that this has given those
    placed so far. If they are in two tiers, these are joined, and the probability of cutting them
    as they are is found in the same way.
    """
    labels, log_priors = tiers.labels, given.log_priors
    n_items = len(labels)
    if n_items < 2:
        return count
    first = int(n_items * rng.random())
    second = int((n_items - 1) * rng.random())
    second += second >= first
    one, other = labels[first], labels[second]
    cutting = one == other
    n_members = _shuffled_members(labels, first, second, members, rng)
    for place in range(n_members):
        sides[place] = 0 if labels[members[place]] == one else 1
    dealt = members[:n_members]
    log_proposal = _deal(first, second, dealt, sides, 1 if cutting else 0, given, sums, rng)
    apart = tier_value(sums[0, 0], sums[0, 1], sums[0, 2], given.gammas)
    apart += tier_value(sums[1, 0], sums[1, 1], sums[1, 2], given.gammas)
    size, arrived, ran = sums[0, 0] + sums[1, 0], sums[0, 1] + sums[1, 1], sums[0, 2] + sums[1, 2]
    together = tier_value(size, arrived, ran, given.gammas)
    if cutting:
        gain = apart + log_priors[count + 1] - together - log_priors[count] - log_proposal
    else:
        gain = together + log_priors[count - 1] - apart - log_priors[count] + log_proposal
    if np.log(1.0 - rng.random()) >= gain:
        return count
    if cutting:
        for place in range(n_members):
            if sides[place] == 1:
                labels[members[place]] = count
        labels[second] = count
        _count(tiers, one, sums[0, 0], sums[0, 1], sums[0, 2])
        _count(tiers, count, sums[1, 0], sums[1, 1], sums[1, 2])
        return count + 1
    for item in range(n_items):
        if labels[item] == other:
            labels[item] = one
    _count(tiers, one, size, arrived, ran)
    return _close(tiers, other, count)


@compiled_part
def in_order(worths: _Floats, count: int) -> bool:
    """Return whether worths, or their logarithms, decrease from tier to tier."""
    n_falls = 0
    for tier in range(count - 1):
        n_falls += worths[tier] > worths[tier + 1]
    return n_falls == count - 1


@compiled_part
def _exchange_items(
    tiers: Tiers,
    worths: _Floats,
    count: int,
    given: Given,
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
    labels, sizes, arrived, ran = tiers
    gammas = given.gammas
    starts = list_by_tier(labels, sizes, count, members)
    for step in range(n_steps):
        place, swap = draw_two(starts, 1 if step % 4 < 2 else 0, rng)
        first, second = members[place], members[swap]
        one, other = labels[first], labels[second]
        if one == other:
            continue
        won = given.arrivals[second] - given.arrivals[first]
        time = given.times[second] - given.times[first]
        before_one, before_other = worths[one], worths[other]
        if step % 2 == 0:
            gain = won * np.log(before_one / before_other) - time * (before_one - before_other)
        else:
            gain = tier_value(sizes[one], arrived[one] + won, ran[one] + time, gammas)
            gain -= _value(tiers, one, given)
            gain += tier_value(sizes[other], arrived[other] - won, ran[other] - time, gammas)
            gain -= _value(tiers, other, given)
        if np.log(1.0 - rng.random()) >= gain:
            continue
        if step % 2 == 1:
            total = 1.0 + ran[one] + time
            worths[one] = rng.standard_gamma(gammas.shape + arrived[one] + won) / total
            total = 1.0 + ran[other] - time
            worths[other] = rng.standard_gamma(gammas.shape + arrived[other] - won) / total
            if not in_order(worths, count):
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
def _draw_worths(
    tiers: Tiers,
    worths: _Floats,
    count: int,
    shape: float,
    n_exchanges: int | None,
    rng: np.random.Generator,
) -> None:
    """Draw the worths of tiers, and then their common scale.

    Where sizes are held, each is drawn given its neighbours, between which it stays (Gibbs).
    """
    total = 0.0
    for tier in range(count):
        own_shape, rate = shape + tiers.arrived[tier], 1.0 + tiers.ran[tier]
        if n_exchanges is None:
            worths[tier] = rng.standard_gamma(own_shape) / rate
        else:
            low = np.log(worths[tier + 1]) if tier < count - 1 else -np.inf
            high = np.log(worths[tier - 1]) if tier > 0 else np.inf
            drawn = _draw_between(np.log(worths[tier]), low, high, own_shape, rate, rng)
            worths[tier] = np.exp(drawn)
        total += worths[tier]
    scale = rng.standard_gamma(shape * count) / total
    for tier in range(count):
        worths[tier] *= scale


@compiled_part
def write_draw(
    labels: _Integers,
    worths: _Floats,
    count: int,
    label_draw: _Integers,
    log_worth_draw: _Floats,
) -> None:
    """Write down the place of the tier of each item, and its log worth, the mean being 0."""
    mean = 0.0
    for item in range(len(labels)):
        log_worth_draw[item] = np.log(worths[labels[item]])
        mean += log_worth_draw[item] / len(labels)
    for item in range(len(labels)):
        log_worth_draw[item] -= mean
        better = 0
        for tier in range(count):
            better += worths[tier] > worths[labels[item]]
        label_draw[item] = better


@compiled
def run_sweeps(
    answers: RaceAnswers,
    arrivals: _Floats,
    labels: _Integers,
    worths: _Floats,
    shape: float,
    log_priors: _Floats,
    n_exchanges: int | None,
    sweeps_per_draw: int,
    label_draws: _Integers,
    log_worth_draws: _Floats,
    rng: np.random.Generator,
) -> None:
    """Make sweeps, and write down tiers and log worths by item.

    Parameters
    ----------
    answers
        The answers.
    arrivals
        How often each item arrived before another one.
    labels, worths
        Tier of each item, counted from 0, and worths of tiers: where the chain begins and ends.
        ``worths`` has room for one more tier than there are items.
    shape
        Shape of the Gamma prior of worths, whose rate is 1.
    log_priors
        By number of tiers, from 0: log prior of unordered tiers, but for the factorials of their
        sizes.
    n_exchanges
        None: tiers of all sizes are drawn. Else sizes are held, labels are in the order of worths,
        and so many exchanges of items are tried in each sweep; none if tiers are held. What is not
        done is not compiled.
    sweeps_per_draw
        Number of sweeps for each draw.
    label_draws, log_worth_draws
        Where draws are written, one row each: tier of each item, 0 being the best; log worth of
        each item, the mean over items being 0.
    rng
        Randomness.
    """
    n_items = len(labels)
    n_places = n_items + 1
    n_arrivals = 0.0
    for item in range(n_items):
        n_arrivals += arrivals[item]
    gammas = make_log_gammas(shape, n_items, n_arrivals)
    given = Given(arrivals, np.empty(n_items), gammas, log_priors)
    tiers = Tiers(labels, np.zeros(n_places), np.zeros(n_places), np.zeros(n_places))
    block, rests = make_block(n_places), np.empty(n_places)
    room, sums = np.empty((3, n_places)), np.empty((2, 3))
    members, sides = np.empty(n_items, dtype=np.int64), np.empty(n_items, dtype=np.int64)
    count = labels[0] + 1
    for item in range(n_items):
        count = max(count, labels[item] + 1)
    for number in range(len(label_draws) * sweeps_per_draw):
        draw_running_times(answers, labels, worths, block, rests, given.times, rng)
        _sum_by_tier(tiers, given)
        if n_exchanges is None:
            count = _move_items(tiers, count, given, room, rng)
            for _ in range(3):
                count = _cut_or_join(tiers, count, given, members, sides, sums, rng)
        else:
            _exchange_items(tiers, worths, count, given, n_exchanges, members, rng)
        _draw_worths(tiers, worths, count, shape, n_exchanges, rng)
        if (number + 1) % sweeps_per_draw > 0:
            continue
        draw = number // sweeps_per_draw
        write_draw(labels, worths, count, label_draws[draw], log_worth_draws[draw])
