"""Tiers of all sizes given times of races: each item in turn, and tiers that are cut or joined.

An item that arrived ``c`` times and was in the race for a time ``r`` has the likelihood ``w ** c *
exp(-w r)``, so the worths of tiers, Gamma variables, integrate out, and each item in turn goes to
any tier or to one of its own (a product partition model). Tiers are also cut and joined (sequential
allocation).
"""

from math import lgamma
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled_part
from tierwise._kernels.ordered_partition import choose

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
    return LogGammas(shape, lgamma(shape), log_factorials, np.full(n_remembered, np.nan))


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
def move_items(
    labels: _Integers,
    count: int,
    sizes: _Floats,
    arrived: _Floats,
    ran: _Floats,
    arrivals: _Floats,
    times: _Floats,
    gammas: LogGammas,
    log_priors: _Floats,
    logs: _Floats,
    values: _Floats,
    joined: _Floats,
    rng: np.random.Generator,
) -> int:
    """Draw the tier of each item given all others (Gibbs); return the number of tiers."""
    for tier in range(count):
        values[tier] = tier_value(sizes[tier], arrived[tier], ran[tier], gammas)
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
            values[own] = tier_value(sizes[own], arrived[own], ran[own], gammas)
        won, time = arrivals[item], times[item]
        for tier in range(count):
            joined[tier] = tier_value(
                sizes[tier] + 1.0, arrived[tier] + won, ran[tier] + time, gammas
            )
            logs[tier] = log_priors[count] + joined[tier] - values[tier]
        joined[count] = tier_value(1.0, won, time, gammas)
        logs[count] = log_priors[count + 1] + joined[count]
        chosen = choose(logs, 0, count, rng.random())
        if chosen == count:
            count += 1
        labels[item] = chosen
        values[chosen] = joined[chosen]
        sizes[chosen] += 1.0
        arrived[chosen] += won
        ran[chosen] += time
    return count


@compiled_part
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


@compiled_part
def cut_or_join(
    labels: _Integers,
    count: int,
    sizes: _Floats,
    arrived: _Floats,
    ran: _Floats,
    arrivals: _Floats,
    times: _Floats,
    gammas: LogGammas,
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
    n_members = _shuffled_members(labels, first, second, members, rng)
    size_a, won_a, time_a = 1.0, arrivals[first], times[first]
    size_b, won_b, time_b = 1.0, arrivals[second], times[second]
    log_proposal = 0.0
    for place in range(n_members):
        item = members[place]
        won, time = arrivals[item], times[item]
        value_a = tier_value(size_a + 1.0, won_a + won, time_a + time, gammas)
        value_a -= tier_value(size_a, won_a, time_a, gammas)
        value_b = tier_value(size_b + 1.0, won_b + won, time_b + time, gammas)
        value_b -= tier_value(size_b, won_b, time_b, gammas)
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
    apart_value = tier_value(size_a, won_a, time_a, gammas)
    apart_value += tier_value(size_b, won_b, time_b, gammas)
    together = tier_value(size_a + size_b, won_a + won_b, time_a + time_b, gammas)
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
