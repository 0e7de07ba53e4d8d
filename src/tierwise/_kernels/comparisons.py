"""Independent comparisons under tiers: likelihood, greedy merging, local search, Metropolis.

An item of tier ``l`` loses against one of a worse tier ``m`` with probability the mean, over the
places ``i`` of tier ``l`` and ``j`` of tier ``m``, of ``f(j - i) - f(j - i + 1)``, where
``f(x) = x / (exp(theta x) - 1)``. The sum over ``j`` telescopes, and that over ``i`` is a
difference of sums of ``f``: a pair of tiers takes four entries of a table, whatever the sizes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

LOG_HALF = np.log(0.5)
LEAST_THETA, LARGEST_THETA = 1e-7, 50.0
# Below this theta ``f`` is near 1 / theta, which is taken off so that differences stay exact.
_SMALL_THETA = 0.05
_LEAST_PROBABILITY = 1e-300
_SCANNED, _REFINED = 48, 60
# How far, in tiers and the gaps between them, an item may move in one step.
_REACH = 4
_SLICE_WIDTH = 0.3
_MOST_SLICE_STEPS = 60


@compiled
def loss_sums(theta: float, n_items: int) -> _Floats:
    """Add up ``f`` over all gaps from ``k`` to one more than the number of items."""
    sums = np.zeros(n_items + 3)
    for gap in range(n_items + 1, -1, -1):
        product = theta * gap
        if theta >= _SMALL_THETA:
            value = 1.0 / theta if gap == 0 else gap / np.expm1(product)
        else:
            half = product / 2.0
            square = half * half
            if half < 0.05:
                curved = square / 3.0 - square**2 / 45.0 + 2.0 * square**3 / 945.0
            else:
                curved = half / np.tanh(half) - 1.0
            value = curved / theta - gap / 2.0
        sums[gap] = sums[gap + 1] + value
    return sums


@compiled_part
def loss_probability(sums: _Floats, better: int, worse: int, between: int) -> float:
    """Probability that an item of a tier loses against one of a worse tier.

    Parameters
    ----------
    sums
        From `loss_sums`.
    better, worse
        Sizes of the two tiers.
    between
        Number of items in tiers between them.
    """
    last = better + between
    near = sums[last - better + 1] - sums[last + 1]
    far = sums[last + worse - better + 1] - sums[last + worse + 1]
    return float(max((near - far) / (better * worse), _LEAST_PROBABILITY))


@compiled_part
def pair_value(
    sums: _Floats, wins: float, losses: float, better: int, worse: int, between: int
) -> float:
    """Log-likelihood of all comparisons of two tiers."""
    if wins + losses == 0.0:
        return 0.0
    loss = loss_probability(sums, better, worse, between)
    value = 0.0
    if wins > 0.0:
        value += wins * float(np.log1p(-loss))
    if losses > 0.0:
        value += losses * float(np.log(loss))
    return value


@compiled_part
def value_of_tiers(sums: _Floats, between: _Floats, sizes: _Integers, count: int) -> float:
    """Log-likelihood of wins between so many tiers (row against column), best tier first."""
    value = 0.0
    for tier in range(count):
        value += LOG_HALF * between[tier, tier]
        gap = 0
        for worse in range(tier + 1, count):
            value += pair_value(
                sums,
                between[tier, worse],
                between[worse, tier],
                sizes[tier],
                sizes[worse],
                gap,
            )
            gap += sizes[worse]
    return value


@compiled_part
def _value_at(log_theta: float, between: _Floats, sizes: _Integers, count: int) -> float:
    n_items = 0
    for tier in range(count):
        n_items += sizes[tier]
    return value_of_tiers(loss_sums(np.exp(log_theta), n_items), between, sizes, count)


@compiled
def values_at_thetas(thetas: _Floats, between: _Floats, sizes: _Integers) -> _Floats:
    """Log-likelihood at each of many thetas."""
    values = np.empty(len(thetas))
    for number in range(len(thetas)):
        values[number] = _value_at(np.log(thetas[number]), between, sizes, len(sizes))
    return values


@compiled
def best_theta(between: _Floats, sizes: _Integers, count: int) -> float:
    """Theta of greatest likelihood: a scan of log theta, refined by golden sections."""
    first, last = np.log(LEAST_THETA), np.log(LARGEST_THETA)
    step = (last - first) / (_SCANNED - 1)
    best, best_value = first, -np.inf
    for number in range(_SCANNED):
        value = _value_at(first + number * step, between, sizes, count)
        if value > best_value:
            best, best_value = first + number * step, value
    low, high = max(best - step, first), min(best + step, last)
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(_REFINED):
        if high - low < 1e-9:
            break
        inner, outer = high - ratio * (high - low), low + ratio * (high - low)
        # Two values a step cost less than a second way through the loop costs to compile.
        if _value_at(inner, between, sizes, count) >= _value_at(outer, between, sizes, count):
            high = outer
        else:
            low = inner
    return float(np.exp((low + high) / 2.0))


@compiled
def merge_runs(
    wins: _Floats, labels: _Integers, log_factorials: _Floats, tier_constant: float
) -> _Integers:
    """Join neighbouring tiers, whichever gains most, down to one; return the best on the way.

    Parameters
    ----------
    wins
        Of each item (row) against each other (column).
    labels
        Tiers to begin with, counted from 0.
    log_factorials
        Log of the number of orders of so many items.
    tier_constant
        What each tier adds to the log prior.
    """
    n_items = len(labels)
    current = labels.copy()
    sizes = np.zeros(n_items, dtype=np.int64)
    between = np.zeros((n_items, n_items))
    count = _add_up(wins, labels, between, sizes)
    theta = best_theta(between, sizes, count)
    sums = loss_sums(theta, n_items)
    best_value, best_labels = -np.inf, labels.copy()
    since = 0
    while True:
        value = value_of_tiers(sums, between, sizes, count)
        for tier in range(count):
            value += log_factorials[sizes[tier]] + tier_constant
        if value > best_value:
            best_value = value
            for item in range(n_items):
                best_labels[item] = current[item]
        if count == 1:
            return best_labels
        best_pair, best_gain = 0, -np.inf
        for first in range(count - 1):
            gain = _gain_of_joining(sums, between, sizes, count, first)
            gain += log_factorials[sizes[first] + sizes[first + 1]]
            gain -= log_factorials[sizes[first]] + log_factorials[sizes[first + 1]]
            if gain > best_gain:
                best_gain, best_pair = gain, first
        _join(between, sizes, count, best_pair)
        for item in range(n_items):
            if current[item] > best_pair:
                current[item] -= 1
        count -= 1
        since += 1
        if since * 20 >= count:
            theta = best_theta(between, sizes, count)
            sums = loss_sums(theta, n_items)
            since = 0


@compiled_part
def _add_up(wins: _Floats, labels: _Integers, between: _Floats, sizes: _Integers) -> int:
    """Add up wins and items by tiers; return the number of tiers."""
    count = 0
    for one in range(len(labels)):
        sizes[labels[one]] += 1
        count = max(count, labels[one] + 1)
        for other in range(len(labels)):
            between[labels[one], labels[other]] += wins[one, other]
    return count


@compiled_part
def _gain_of_joining(
    sums: _Floats, between: _Floats, sizes: _Integers, count: int, first: int
) -> float:
    """Return what the log-likelihood gains if a tier is joined with the next."""
    second = first + 1
    gain: float = LOG_HALF * (between[first, second] + between[second, first])
    gain -= pair_value(
        sums, between[first, second], between[second, first], sizes[first], sizes[second], 0
    )
    joined = sizes[first] + sizes[second]
    gap = 0
    for tier in range(first - 1, -1, -1):
        one, other = between[tier, first], between[tier, second]
        back_one, back_other = between[first, tier], between[second, tier]
        size = sizes[tier]
        gain += pair_value(sums, one + other, back_one + back_other, size, joined, gap)
        gain -= pair_value(sums, one, back_one, size, sizes[first], gap)
        gain -= pair_value(sums, other, back_other, size, sizes[second], gap + sizes[first])
        gap += size
    gap = 0
    for tier in range(second + 1, count):
        one, other = between[first, tier], between[second, tier]
        back_one, back_other = between[tier, first], between[tier, second]
        size = sizes[tier]
        gain += pair_value(sums, one + other, back_one + back_other, joined, size, gap)
        gain -= pair_value(sums, one, back_one, sizes[first], size, gap + sizes[second])
        gain -= pair_value(sums, other, back_other, sizes[second], size, gap)
        gap += size
    return gain


@compiled_part
def _join(between: _Floats, sizes: _Integers, count: int, first: int) -> None:
    """Join a tier with the next, and close the gap."""
    second = first + 1
    sizes[first] += sizes[second]
    for tier in range(count):
        between[first, tier] += between[second, tier]
    for tier in range(count):
        between[tier, first] += between[tier, second]
    for tier in range(second, count - 1):
        sizes[tier] = sizes[tier + 1]
        for other in range(count):
            between[tier, other] = between[tier + 1, other]
    for tier in range(second, count - 1):
        for other in range(count):
            between[other, tier] = between[other, tier + 1]


class Partition(NamedTuple):
    """An ordered partition with all that its likelihood needs.

    Tiers lie in slots, which do not change when tiers come and go; ``order`` lists the slots.
    """

    slot_of: _Integers
    """Slot of each item."""
    order: _Integers
    """Slot of each tier, best first; those behind the last tier are free."""
    sizes: _Integers
    """Number of items in each slot."""
    n_tiers: _Integers
    """Number of tiers, in an array of one."""
    won: _Floats
    """Wins of each item against the items of each slot."""
    lost: _Floats
    """Losses of each item against the items of each slot."""
    between: _Floats
    """Wins of the items of each slot against those of each other."""


@compiled
def make_partition(wins: _Floats, labels: _Integers) -> Partition:
    """Make the partition of given tiers, counted from 0."""
    n_items = len(labels)
    # One slot more than items: a tier may be made before another one is gone.
    n_slots = n_items + 1
    state = Partition(
        labels.copy(),
        np.arange(n_slots),
        np.zeros(n_slots, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros((n_items, n_slots)),
        np.zeros((n_items, n_slots)),
        np.zeros((n_slots, n_slots)),
    )
    for item in range(n_items):
        state.sizes[labels[item]] += 1
        state.n_tiers[0] = max(state.n_tiers[0], labels[item] + 1)
        for other in range(n_items):
            state.won[item, labels[other]] += wins[item, other]
            state.lost[item, labels[other]] += wins[other, item]
            state.between[labels[item], labels[other]] += wins[item, other]
    return state


@compiled
def write_labels(state: Partition, labels: _Integers) -> None:
    """Write the tier of each item, counted from 0."""
    place = np.zeros(len(state.order), dtype=np.int64)
    for tier in range(state.n_tiers[0]):
        place[state.order[tier]] = tier
    for item in range(len(labels)):
        labels[item] = place[state.slot_of[item]]


@compiled_part
def _move(state: Partition, wins: _Floats, item: int, target: int) -> None:
    """Move an item to a slot; both slots must be among the tiers, and may be or become empty."""
    source = state.slot_of[item]
    won, lost, between = state.won[item], state.lost[item], state.between
    for tier in range(state.n_tiers[0]):
        slot = state.order[tier]
        if slot != source and slot != target:  # noqa: PLR1714 - compiled
            between[source, slot] -= won[slot]
            between[target, slot] += won[slot]
            between[slot, source] -= lost[slot]
            between[slot, target] += lost[slot]
    between[source, source] -= won[source] + lost[source]
    between[target, target] += won[target] + lost[target]
    between[source, target] += lost[source] - won[target]
    between[target, source] += won[source] - lost[target]
    for other in range(len(state.slot_of)):
        state.won[other, source] -= wins[other, item]
        state.won[other, target] += wins[other, item]
        state.lost[other, source] -= wins[item, other]
        state.lost[other, target] += wins[item, other]
    state.sizes[source] -= 1
    state.sizes[target] += 1
    state.slot_of[item] = target


@compiled_part
def _open_tier(state: Partition, tier: int) -> int:
    """Put an empty tier before a tier; return its slot."""
    count = state.n_tiers[0]
    slot = state.order[count]
    for place in range(count, tier, -1):
        state.order[place] = state.order[place - 1]
    state.order[tier] = slot
    state.n_tiers[0] += 1
    return int(slot)


@compiled_part
def _close_tier(state: Partition, tier: int) -> None:
    """Take out an empty tier; its slot is free."""
    slot = state.order[tier]
    last = state.n_tiers[0] - 1
    for place in range(tier, last):
        state.order[place] = state.order[place + 1]
    state.order[last] = slot
    state.n_tiers[0] -= 1


@compiled_part
def _value_of_range(
    state: Partition, sums: _Floats, log_factorials: _Floats, first: int, last: int
) -> float:
    """Log-likelihood and log number of orders, of all pairs with a tier between two tiers."""
    count, order, sizes, between = state.n_tiers[0], state.order, state.sizes, state.between
    starts = np.zeros(count + 1, dtype=np.int64)
    for tier in range(count):
        starts[tier + 1] = starts[tier] + sizes[order[tier]]
    value = 0.0
    for tier in range(first, last + 1):
        slot = order[tier]
        if sizes[slot] == 0:
            continue
        value += LOG_HALF * between[slot, slot] + log_factorials[sizes[slot]]
        for better in range(first):
            other = order[better]
            if sizes[other] > 0:
                value += pair_value(
                    sums,
                    between[other, slot],
                    between[slot, other],
                    sizes[other],
                    sizes[slot],
                    starts[tier] - starts[better + 1],
                )
        for worse in range(tier + 1, count):
            other = order[worse]
            if sizes[other] > 0:
                value += pair_value(
                    sums,
                    between[slot, other],
                    between[other, slot],
                    sizes[slot],
                    sizes[other],
                    starts[worse] - starts[tier + 1],
                )
    return value


@compiled_part
def compact_tables(state: Partition) -> tuple[_Floats, _Integers]:
    """Return wins between tiers, and sizes, best tier first."""
    count = state.n_tiers[0]
    between, sizes = np.zeros((count, count)), np.zeros(count, dtype=np.int64)
    for tier in range(count):
        sizes[tier] = state.sizes[state.order[tier]]
        for other in range(count):
            between[tier, other] = state.between[state.order[tier], state.order[other]]
    return between, sizes


@compiled_part
def _tier_of(state: Partition, slot: int) -> int:
    for tier in range(state.n_tiers[0]):
        if state.order[tier] == slot:
            return tier
    return -1


@compiled_part
def _members(state: Partition, slot: int, ranking: _Integers, members: _Integers) -> int:
    """Write down the items of a slot in the order of a ranking; return how many there are."""
    count = 0
    for place in range(len(ranking)):
        if state.slot_of[ranking[place]] == slot:
            members[count] = ranking[place]
            count += 1
    return count


@compiled_part
def _gain_of_step(
    state: Partition,
    wins: _Floats,
    sums: _Floats,
    log_factorials: _Floats,
    tier_constant: float,
    single_bonus: float,
    item: int,
    step: int,
) -> tuple[float, int, int]:
    """Move an item by a number of places, gaps between tiers being places of new tiers.

    Returns what the log posterior gains, and slots to undo it with; minus infinity if there is no
    such place, and then nothing is changed. A tier that is left empty is not closed yet.
    """
    source = state.slot_of[item]
    tier = _tier_of(state, source)
    alone = state.sizes[source] == 1
    n_others = state.n_tiers[0] - (1 if alone else 0)
    # Without the item there are tiers at the odd places, and gaps at the even ones.
    place = 2 * tier if alone else 2 * tier + 1
    wanted = place + step
    if wanted < 0 or wanted > 2 * n_others:
        return -np.inf, -1, -1
    if wanted % 2 == 1:
        among_others = wanted // 2
        target_tier = among_others + (1 if alone and among_others >= tier else 0)
        target = state.order[target_tier]
        low, high = min(tier, target_tier), max(tier, target_tier)
        added = 0
    else:
        before = wanted // 2
        if alone and before >= tier:
            before += 1
        target = _open_tier(state, before)
        if before <= tier:
            low, high = before, tier + 1
        else:
            low, high = tier, before
        added = 1
    old = _value_of_range(state, sums, log_factorials, low, high)
    _move(state, wins, item, target)
    gain = _value_of_range(state, sums, log_factorials, low, high) - old
    change = added - (1 if alone else 0)
    gain += tier_constant * change
    was = state.n_tiers[0] - added
    gain += single_bonus * ((1 if was + change == 1 else 0) - (1 if was == 1 else 0))
    return gain, int(source), int(target)


@compiled_part
def _undo(state: Partition, wins: _Floats, item: int, source: int, target: int) -> None:
    """Move an item back, and close the tier that was made for it."""
    _move(state, wins, item, source)
    _close_if_empty(state, target)


@compiled_part
def _close_if_empty(state: Partition, slot: int) -> None:
    if state.sizes[slot] == 0:
        _close_tier(state, _tier_of(state, slot))


@compiled
def climb(
    state: Partition,
    wins: _Floats,
    theta: float,
    ranking: _Integers,
    log_factorials: _Floats,
    tier_constant: float,
    items: _Integers,
) -> float:
    """Move items, then join and split tiers, as long as that gains; return what was gained.

    Parameters
    ----------
    state
        The partition, which is changed.
    wins, theta, log_factorials, tier_constant
        What tiers are valued by.
    ranking
        The items, best first; where a tier is cut, it is cut in this order.
    items
        In which order items are moved.
    """
    sums = loss_sums(theta, len(items))
    total = 0.0
    for item in items:
        best_step, best_gain = 0, 1e-9
        for step in range(-2 * _REACH, 2 * _REACH + 1):
            if step == 0:
                continue
            gain, source, target = _gain_of_step(
                state, wins, sums, log_factorials, tier_constant, 0.0, item, step
            )
            if source < 0:
                continue
            _undo(state, wins, item, source, target)
            if gain > best_gain:
                best_gain, best_step = gain, step
        if best_step != 0:
            gain, source, target = _gain_of_step(
                state, wins, sums, log_factorials, tier_constant, 0.0, item, best_step
            )
            _close_if_empty(state, source)
            total += gain
    total += exchange_neighbours(state, wins, sums, log_factorials, items)
    total += _join_neighbours(state, wins, sums, log_factorials, tier_constant, ranking)
    total += _split_tiers(state, wins, sums, log_factorials, tier_constant, ranking)
    return total


@compiled
def exchange_neighbours(
    state: Partition, wins: _Floats, sums: _Floats, log_factorials: _Floats, items: _Integers
) -> float:
    """Let two items of neighbouring tiers change places wherever that gains."""
    total = 0.0
    for item in items:
        tier = _tier_of(state, state.slot_of[item])
        if tier + 1 >= state.n_tiers[0]:
            continue
        for other in items:
            here, there = state.slot_of[item], state.order[tier + 1]
            if state.slot_of[other] != there:
                continue
            old = _value_of_range(state, sums, log_factorials, tier, tier + 1)
            _move(state, wins, item, there)
            _move(state, wins, other, here)
            gain = _value_of_range(state, sums, log_factorials, tier, tier + 1) - old
            if gain > 1e-9:
                total += gain
                break
            _move(state, wins, other, there)
            _move(state, wins, item, here)
    return total


@compiled_part
def _join_neighbours(
    state: Partition,
    wins: _Floats,
    sums: _Floats,
    log_factorials: _Floats,
    tier_constant: float,
    ranking: _Integers,
) -> float:
    """Join neighbouring tiers where that gains."""
    total = 0.0
    tier = 0
    members = np.empty(len(ranking), dtype=np.int64)
    while tier + 1 < state.n_tiers[0]:
        upper, lower = state.order[tier], state.order[tier + 1]
        old = _value_of_range(state, sums, log_factorials, tier, tier + 1)
        count = _members(state, lower, ranking, members)
        for place in range(count):
            _move(state, wins, members[place], upper)
        gain = _value_of_range(state, sums, log_factorials, tier, tier + 1) - old - tier_constant
        if gain > 1e-9:
            _close_tier(state, tier + 1)
            total += gain
        else:
            for place in range(count):
                _move(state, wins, members[place], lower)
            tier += 1
    return total


@compiled_part
def _split_tiers(
    state: Partition,
    wins: _Floats,
    sums: _Floats,
    log_factorials: _Floats,
    tier_constant: float,
    ranking: _Integers,
) -> float:
    """Cut tiers, in the order of a ranking, where that gains most."""
    total = 0.0
    tier = 0
    members = np.empty(len(ranking), dtype=np.int64)
    while tier < state.n_tiers[0]:
        slot = state.order[tier]
        count = _members(state, slot, ranking, members)
        if count == 1:
            tier += 1
            continue
        upper = _open_tier(state, tier)
        old = _value_of_range(state, sums, log_factorials, tier, tier + 1)
        best_cut, best_gain = 0, 1e-9
        for cut in range(1, count):
            _move(state, wins, members[cut - 1], upper)
            gain = _value_of_range(state, sums, log_factorials, tier, tier + 1) - old
            gain += tier_constant
            if gain > best_gain:
                best_gain, best_cut = gain, cut
        for place in range(best_cut, count - 1):
            _move(state, wins, members[place], slot)
        if best_cut == 0:
            _close_tier(state, tier)
            tier += 1
        else:
            total += best_gain
            tier += 2
    return total


@compiled
def sweep(
    state: Partition,
    wins: _Floats,
    theta: float,
    leads: _Floats,
    log_factorials: _Floats,
    tier_constant: float,
    single_bonus: float,
    prior: _Floats,
    first_log_theta: float,
    log_theta_step: float,
    rng: np.random.Generator,
) -> float:
    """Make a sweep of Metropolis steps over items and tiers, draw theta, and return it.

    Parameters
    ----------
    state, wins, log_factorials
        The partition, which is changed, and what its likelihood is made of.
    theta
        The theta to begin with.
    leads
        How probably each item goes to the better part of a tier that is cut, as log odds.
    tier_constant, single_bonus
        What each tier adds to the log prior, and what a single one adds besides.
    prior, first_log_theta, log_theta_step
        Log density of log theta on a grid, and where the grid lies.
    rng
        Randomness.
    """
    n_items = len(state.slot_of)
    sums = loss_sums(theta, n_items)
    for _ in range(n_items):
        item = int(rng.integers(0, n_items))
        step = int(rng.integers(1, _REACH + 1))
        if rng.random() < 0.5:
            step = -step
        gain, source, target = _gain_of_step(
            state, wins, sums, log_factorials, tier_constant, single_bonus, item, step
        )
        if source < 0:
            continue
        if np.log(1.0 - rng.random()) < gain:
            _close_if_empty(state, source)
        else:
            _undo(state, wins, item, source, target)
    for _ in range(n_items // 2):
        _exchange_at_random(state, wins, sums, log_factorials, rng)
    for _ in range(4):
        _split_or_join(state, wins, sums, leads, log_factorials, tier_constant, single_bonus, rng)
    between, sizes = compact_tables(state)
    return _draw_theta(between, sizes, theta, prior, first_log_theta, log_theta_step, rng)


@compiled_part
def _exchange_at_random(
    state: Partition,
    wins: _Floats,
    sums: _Floats,
    log_factorials: _Floats,
    rng: np.random.Generator,
) -> None:
    """Let two items of different tiers change places, by a Metropolis step."""
    n_items = len(state.slot_of)
    item, other = int(rng.integers(0, n_items)), int(rng.integers(0, n_items))
    here, there = state.slot_of[item], state.slot_of[other]
    if here == there:
        return
    one, two = _tier_of(state, here), _tier_of(state, there)
    if abs(one - two) > _REACH:
        return
    low, high = min(one, two), max(one, two)
    old = _value_of_range(state, sums, log_factorials, low, high)
    _move(state, wins, item, there)
    _move(state, wins, other, here)
    gain = _value_of_range(state, sums, log_factorials, low, high) - old
    if np.log(1.0 - rng.random()) >= gain:
        _move(state, wins, other, there)
        _move(state, wins, item, here)


@compiled_part
def _log_share(odds: float) -> float:
    """Log of the probability that has these log odds."""
    return float(-np.log1p(np.exp(-odds)))


@compiled_part
def _split_or_join(
    state: Partition,
    wins: _Floats,
    sums: _Floats,
    leads: _Floats,
    log_factorials: _Floats,
    tier_constant: float,
    single_bonus: float,
    rng: np.random.Generator,
) -> None:
    """Cut a tier in two, or join two neighbours, by a Metropolis step.

    A cut sends each item up or down by how far its lead is above the mean of the tier. It is chosen
    among as many tiers as the joining back is among pairs of neighbours.
    """
    count, n_items = state.n_tiers[0], len(state.slot_of)
    cutting = rng.random() < 0.5
    if not cutting and count == 1:
        return
    tier = int(rng.integers(0, count if cutting else count - 1))
    # To join is to cut backwards: both begin or end with the upper of the two slots.
    lower = state.order[tier] if cutting else state.order[tier + 1]
    upper = _open_tier(state, tier) if cutting else state.order[tier]
    goes_up = np.zeros(n_items, dtype=np.int64)
    mean, n_members = 0.0, 0
    for item in range(n_items):
        if state.slot_of[item] == lower or state.slot_of[item] == upper:
            mean += leads[item]
            n_members += 1
    mean /= n_members
    proposed, n_up = 0.0, 0
    for item in range(n_items):
        if state.slot_of[item] == lower or state.slot_of[item] == upper:
            odds = leads[item] - mean
            if cutting:
                goes_up[item] = 1 if np.log(1.0 - rng.random()) < _log_share(odds) else 0
            else:
                goes_up[item] = 1 if state.slot_of[item] == upper else 0
            proposed += _log_share(odds if goes_up[item] == 1 else -odds)
            n_up += goes_up[item]
    if n_up * (n_members - n_up) == 0:
        _close_if_empty(state, upper)
        return
    target, back = (upper, lower) if cutting else (lower, upper)
    old = _value_of_range(state, sums, log_factorials, tier, tier + 1)
    _move_all(state, wins, goes_up, target)
    gain = _value_of_range(state, sums, log_factorials, tier, tier + 1) - old
    if cutting:
        gain += tier_constant - (single_bonus if count == 1 else 0.0) - proposed
    else:
        gain += proposed - tier_constant + (single_bonus if count == 2 else 0.0)
    if np.log(1.0 - rng.random()) >= gain:
        _move_all(state, wins, goes_up, back)
    _close_if_empty(state, upper)


@compiled_part
def _move_all(state: Partition, wins: _Floats, chosen: _Integers, target: int) -> None:
    for item in range(len(chosen)):
        if chosen[item] == 1:
            _move(state, wins, item, target)


@compiled_part
def _log_density(
    between: _Floats,
    sizes: _Integers,
    log_theta: float,
    prior: _Floats,
    first_log_theta: float,
    log_theta_step: float,
) -> float:
    """Log density of log theta given the tiers, up to a constant; the prior is interpolated."""
    place = (log_theta - first_log_theta) / log_theta_step
    if place < 0.0 or place >= len(prior) - 1:
        return -np.inf
    left = int(place)
    share = place - left
    value = float((1.0 - share) * prior[left] + share * prior[left + 1])
    if len(sizes) == 1:
        return value + float(LOG_HALF * between[0, 0])
    sums = loss_sums(np.exp(log_theta), int(sizes.sum()))
    return value + value_of_tiers(sums, between, sizes, len(sizes))


@compiled_part
def _draw_theta(
    between: _Floats,
    sizes: _Integers,
    theta: float,
    prior: _Floats,
    first_log_theta: float,
    log_theta_step: float,
    rng: np.random.Generator,
) -> float:
    """Draw theta given the tiers by slice sampling of its log (Neal 2003)."""
    here = np.log(theta)
    arguments = (prior, first_log_theta, log_theta_step)
    height = _log_density(between, sizes, here, *arguments) + np.log(1.0 - rng.random())
    low = here - _SLICE_WIDTH * rng.random()
    high = low + _SLICE_WIDTH
    for _ in range(_MOST_SLICE_STEPS):
        if _log_density(between, sizes, low, *arguments) <= height:
            break
        low -= _SLICE_WIDTH
    for _ in range(_MOST_SLICE_STEPS):
        if _log_density(between, sizes, high, *arguments) <= height:
            break
        high += _SLICE_WIDTH
    while True:
        proposed = low + (high - low) * rng.random()
        if _log_density(between, sizes, proposed, *arguments) > height:
            return float(np.exp(proposed))
        if proposed < here:
            low = proposed
        else:
            high = proposed
