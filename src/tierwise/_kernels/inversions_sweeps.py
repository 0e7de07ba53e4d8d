"""Gibbs sampling and split-merge over ordered partitions and theta, given complete rankings.

For the distance inversions, all that is needed of complete rankings is how often each item is
before each other. Items are drawn into tiers from their conditional distribution; tiers are cut,
joined and dealt again with sequential allocation (Dahl 2005), and theta is drawn by slice sampling
(Neal 2003). `tierwise._kernels.inversions_chain` draws from the same, with ties and several thetas;
without these, this takes a third of its time for eight items and a fifth for thirty.

References
----------
D. B. Dahl (2005). Sequentially-allocated merge-split sampler for conjugate and nonconjugate
Dirichlet process mixture models. Technical report, Texas A&M University.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.theta import ACCEPTED, SLICE_WIDTH, interpolated, next_point

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Rows of the room to work in.
_VALUES, _FACTORIALS, _COSTS_ABOVE, _COSTS_BELOW, _SIZES, _ORDERS = 0, 1, 2, 3, 4, 5
N_ROWS = 6


@compiled
def sweep_tiers(
    above: _Floats,
    labels: _Integers,
    theta: float,
    n_rankings: float,
    tier_values: _Floats,
    single_bonus: float,
    prior: _Floats,
    first_log_theta: float,
    log_theta_step: float,
    room: _Floats,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """Move all items and some tiers, and draw theta; return it, the inversions and log-likelihood.

    Parameters
    ----------
    above
        ``above[a, b]`` is how often ``a`` is before ``b``.
    labels
        Tier of each item, counted from 0, which are changed.
    theta, n_rankings
        The theta to begin with, and the number of rankings.
    tier_values, single_bonus
        What a tier of each size adds to the log prior, and what a single one adds besides.
    prior, first_log_theta, log_theta_step
        Log density of log theta on a grid, and where the grid lies.
    room
        Room to work in: six rows, and two numbers more than twice the number of items.
    rng
        Randomness.
    """
    n_items = len(labels)
    members = np.empty(n_items, np.int64)
    sides = np.empty(n_items, np.int64)
    room[_ORDERS, 0] = 0.0
    for size in range(1, n_items + 1):
        room[_ORDERS, size] = room[_ORDERS, size - 1] + np.log(size)
    _write_factorials(theta, n_items, room)
    room[_VALUES, 0] = 0.0
    for size in range(1, n_items + 1):
        shuffles = room[_FACTORIALS, size] - room[_ORDERS, size]
        room[_VALUES, size] = tier_values[size] + n_rankings * shuffles
    for item in range(n_items):
        _draw_place(above, labels, item, theta, single_bonus, room, rng)
    for _ in range(4 + n_items // 8):
        _cut_join_or_deal(above, labels, theta, single_bonus, room, members, sides, rng)
    return _draw_theta(
        above, labels, theta, n_rankings, prior, first_log_theta, log_theta_step, room, rng
    )


@compiled_part
def _write_factorials(theta: float, n_items: int, room: _Floats) -> None:
    """Write the logarithms of all Gaussian factorials."""
    room[_FACTORIALS, 0] = 0.0
    one = np.expm1(-theta)
    for size in range(1, n_items + 1):
        ratio = np.expm1(-theta * size) / one
        room[_FACTORIALS, size] = room[_FACTORIALS, size - 1] + np.log(ratio)


@compiled_part
def _draw_place(  # noqa: PLR0912 - all places of an item in one pass
    above: _Floats,
    labels: _Integers,
    item: int,
    theta: float,
    single_bonus: float,
    room: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw the tier of an item given those of all others: one of theirs, or a new one anywhere."""
    n_items = len(labels)
    old, n_tiers, alone = labels[item], 0, 1
    for other in range(n_items):
        n_tiers = max(n_tiers, labels[other] + 1)
        if other != item and labels[other] == old:
            alone = 0
    n_tiers -= alone
    for tier in range(n_tiers):
        room[_COSTS_ABOVE, tier] = room[_COSTS_BELOW, tier] = room[_SIZES, tier] = 0.0
    cost = 0.0
    for other in range(n_items):
        if other == item:
            continue
        if alone == 1 and labels[other] > old:
            labels[other] -= 1
        tier = labels[other]
        room[_COSTS_ABOVE, tier] += above[other, item]
        room[_COSTS_BELOW, tier] += above[item, other]
        room[_SIZES, tier] += 1.0
        cost += above[other, item]
    # Even places are new tiers, odd ones those that there are. Logs go where costs have been read.
    places = np.empty(2 * n_tiers + 1)
    places[0] = room[_VALUES, 1] - theta * cost
    top = places[0]
    for tier in range(n_tiers):
        size = int(room[_SIZES, tier])
        cost -= room[_COSTS_ABOVE, tier]
        value = room[_VALUES, size + 1] - room[_VALUES, size] - theta * cost
        if size + 1 == n_items:
            value += single_bonus
        places[2 * tier + 1] = value
        cost += room[_COSTS_BELOW, tier]
        places[2 * tier + 2] = room[_VALUES, 1] - theta * cost
        top = max(top, places[2 * tier + 1], places[2 * tier + 2])
    total = 0.0
    for place in range(len(places)):
        total += np.exp(places[place] - top)
        places[place] = total
    wanted = total * rng.random()
    place = 0
    while place < 2 * n_tiers and places[place] <= wanted:
        place += 1
    chosen = place // 2
    if place % 2 == 0:
        for other in range(n_items):
            if labels[other] >= chosen:
                labels[other] += 1
    labels[item] = chosen


@compiled_part
def _deal(
    above: _Floats,
    members: _Integers,
    sides: _Integers,
    n_members: int,
    drawing: int,
    theta: float,
    room: _Floats,
    rng: np.random.Generator,
) -> tuple[float, float, int]:
    """Send members up (0) or down (1), one after the other, each given those before.

    Where nothing is drawn, sides are taken as they are. Returns the log probability of the sides,
    what two such tiers are worth, and how many are up.
    """
    log_share, value = 0.0, 0.0
    n_up, n_down = 0, 0
    for number in range(n_members):
        item = members[number]
        cost_up, cost_down = 0.0, 0.0
        for before in range(number):
            other = members[before]
            if sides[before] == 1:
                cost_up += above[other, item]
            else:
                cost_down += above[item, other]
        up = room[_VALUES, n_up + 1] - room[_VALUES, n_up] - theta * cost_up
        down = room[_VALUES, n_down + 1] - room[_VALUES, n_down] - theta * cost_down
        if drawing == 1:
            sides[number] = 0 if rng.random() * (1.0 + np.exp(down - up)) < 1.0 else 1
        if sides[number] == 0:
            n_up += 1
            value += up
            log_share -= np.logaddexp(0.0, down - up)
        else:
            n_down += 1
            value += down
            log_share -= np.logaddexp(0.0, up - down)
    return log_share, value, n_up


@compiled_part
def _cut_join_or_deal(  # noqa: PLR0912 - three moves that are each other's way back
    above: _Floats,
    labels: _Integers,
    theta: float,
    single_bonus: float,
    room: _Floats,
    members: _Integers,
    sides: _Integers,
    rng: np.random.Generator,
) -> None:
    """Cut a tier in two, join two neighbours, or deal them again, by a Metropolis step.

    A tier to cut is chosen among as many as the joining back is among pairs of neighbours, and the
    order in which items are dealt is drawn in the same way there and back.
    """
    n_items = len(labels)
    n_tiers = labels.max() + 1
    kind = int(3 * rng.random())
    cutting, joining = kind == 0, kind == 1
    if not cutting and n_tiers == 1:
        return
    tier = int((n_tiers if cutting else n_tiers - 1) * rng.random())
    n_members = 0
    for item in range(n_items):
        if labels[item] == tier or (not cutting and labels[item] == tier + 1):
            # Shuffled while they are collected.
            place = int((n_members + 1) * rng.random())
            members[n_members] = members[place]
            members[place] = item
            n_members += 1
    gain, ratio = 0.0, 0.0
    if cutting:
        gain -= room[_VALUES, n_members]
    else:
        for number in range(n_members):
            sides[number] = labels[members[number]] - tier
        log_share, value, _ = _deal(above, members, sides, n_members, 0, theta, room, rng)
        gain -= value
        ratio += log_share
    if joining:
        gain += room[_VALUES, n_members]
    else:
        log_share, value, n_up = _deal(above, members, sides, n_members, 1, theta, room, rng)
        if n_up * (n_members - n_up) == 0:
            return
        gain += value
        ratio -= log_share
    if n_members == n_items and kind < 2:
        gain += single_bonus if joining else -single_bonus
    if np.log(1.0 - rng.random()) >= gain + ratio:
        return
    if kind < 2:
        for item in range(n_items):
            if labels[item] > tier:
                labels[item] += -1 if joining else 1
    if not joining:
        for number in range(n_members):
            labels[members[number]] = tier + sides[number]


@compiled_part
def _draw_theta(
    above: _Floats,
    labels: _Integers,
    theta: float,
    n_rankings: float,
    prior: _Floats,
    first_log_theta: float,
    log_theta_step: float,
    room: _Floats,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """Draw theta given the tiers; return it, the number of inversions, and the log-likelihood."""
    n_items = len(labels)
    inversions, orders = 0.0, 0.0
    for tier in range(n_items):
        room[_SIZES, tier] = 0.0
    for item in range(n_items):
        room[_SIZES, labels[item]] += 1.0
        for other in range(n_items):
            if labels[item] < labels[other]:
                inversions += above[other, item]
    for tier in range(labels.max() + 1):
        orders += room[_ORDERS, int(room[_SIZES, tier])]
    here = np.log(theta)
    low = here - SLICE_WIDTH * rng.random()
    high = low + SLICE_WIDTH
    stage, at, height, log_likelihood = 0, here, np.inf, 0.0
    while stage != ACCEPTED:
        value = interpolated(prior, first_log_theta, log_theta_step, at)
        if value > -np.inf:
            _write_factorials(np.exp(at), n_items, room)
            shuffles = -room[_FACTORIALS, n_items]
            for tier in range(labels.max() + 1):
                shuffles += room[_FACTORIALS, int(room[_SIZES, tier])]
            log_likelihood = n_rankings * (shuffles - orders) - np.exp(at) * inversions
            value += log_likelihood
        stage, at, height, low, high = next_point(stage, here, at, value, height, low, high, rng)
    return float(np.exp(at)), inversions, log_likelihood
