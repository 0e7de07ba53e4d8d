"""Gibbs sampling and split-merge over ordered partitions and one theta, given weak orders.

For the distance inversions, all that is needed of complete rankings is how often each item is
before each other. Tied blocks add a sum over tiers: with one theta, what lines say of a block
telescopes, and only how many of its members each tier holds is left. Items are drawn into tiers
from their conditional distribution; tiers are cut, joined and dealt again with sequential
allocation (Dahl 2005), and theta is drawn by slice sampling (Neal 2003). Where each line has a
theta, `tierwise._kernels.inversions_chain` draws.

References
----------
D. B. Dahl (2005). Sequentially-allocated merge-split sampler for conjugate and nonconjugate
Dirichlet process mixture models. Technical report, Texas A&M University.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.counting import count_bits
from tierwise._kernels.ordered_partition import choose, close_tier, open_tier
from tierwise._kernels.theta import ACCEPTED, SLICE_WIDTH, PriorTable, log_prior, next_point

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Tallies = npt.NDArray[np.uint32]
_Words = npt.NDArray[np.uint64]

# With ties it takes long to value a place: most sweeps draw among so many that lie around an item.
_WINDOW = 13
_SHARE_OF_WINDOWS = 0.95
# Blocks are bits where an item is in so many of them, on the average, for each word that they take,
# and where this does not take too much memory.
_LEAST_BLOCKS_OF_A_WORD = 8
_MOST_BYTES = 100_000_000
# Rows of the room to work in.
_VALUES, _FACTORIALS, _COSTS_ABOVE, _COSTS_BELOW, _SIZES, _ORDERS = 0, 1, 2, 3, 4, 5
# What a block adds by how many of its members a tier holds, and by how much one more raises that.
_HELD, _RISES = 6, 7
N_ROWS = 8
# Slots behind those of tiers: the two sides of a deal, and two tiers taken as one.
_SIDES, _BOTH = 1, 3


class Ties(NamedTuple):
    """Tied blocks, and how many members of each are in each tier.

    Where items are in many blocks, as those that pass or fail tasks are, blocks are bits: what an
    item adds to a tier is then counted for 64 blocks at a time, by how many members the tier holds.
    """

    offsets: _Integers
    """Where the members of each block begin, and where the last ones end."""
    members: _Integers
    weights: _Floats
    item_offsets: _Integers
    """Where the blocks of each item begin."""
    item_blocks: _Integers
    slots: _Integers
    """Slot of each tier, and behind them those that are free; three more are to work in."""
    counted: _Integers
    """Number of items in each slot."""
    held: _Tallies
    """``[slot, block]``: members in the tier that has the slot, where blocks are not bits."""
    bits: _Words
    """``[item, word]``: the blocks that hold an item, as bits; no words where they are not."""
    word_weights: _Floats
    """Weight of all blocks of a word."""
    reached: _Words
    """``[slot, number, word]``: the blocks that have so many members in the tier, or more."""


def make_ties(
    offsets: _Integers,
    members: _Integers,
    weights: _Floats,
    item_offsets: _Integers,
    item_blocks: _Integers,
) -> Ties:
    """Room for how many members of each block are in each tier."""
    n_blocks, n_items = len(weights), len(item_offsets) - 1
    n_slots, largest = n_items + 4, int(np.diff(offsets).max(initial=0))
    # Blocks of the same weight share words.
    values, which = np.unique(weights, return_inverse=True)
    words_of_value = -(-np.bincount(which, minlength=len(values)) // 64)
    n_words = int(words_of_value.sum())
    dense = len(item_blocks) >= _LEAST_BLOCKS_OF_A_WORD * n_words * n_items > 0
    if not dense or 8 * n_slots * (largest + 2) * n_words > _MOST_BYTES:
        n_words = 0
    bits = np.zeros((n_items, n_words), np.uint64)
    if n_words:
        by_value = np.argsort(which, kind="stable")
        first = np.cumsum(words_of_value) - words_of_value
        number = np.arange(n_blocks) - np.searchsorted(which[by_value], which[by_value])
        place = np.empty(n_blocks, np.int64)
        place[by_value] = 64 * first[which[by_value]] + number
        block_of_member = np.repeat(np.arange(n_blocks), np.diff(offsets))
        own = np.uint64(1) << (place % 64).astype(np.uint64)
        np.bitwise_or.at(bits, (members, (place // 64)[block_of_member]), own[block_of_member])
    reached = np.zeros((n_slots, largest + 2, n_words), np.uint64)
    reached[:, 0] = ~np.uint64(0)
    return Ties(
        offsets,
        members,
        weights,
        item_offsets,
        item_blocks,
        np.zeros(n_items + 1, np.int64),
        np.zeros(n_slots, np.int64),
        np.zeros((n_slots, 0 if n_words else n_blocks), np.uint32),
        bits,
        np.repeat(values, words_of_value) if n_words else np.zeros(0),
        reached,
    )


def no_ties(n_items: int) -> Ties:
    """Return what complete rankings have in place of tied blocks."""
    none = np.zeros(0, np.int64)
    return make_ties(
        np.zeros(1, np.int64), none, np.zeros(0), np.zeros(n_items + 1, np.int64), none
    )


@compiled
def sweep_tiers(
    above: _Floats,
    labels: _Integers,
    theta: float,
    n_rankings: float,
    ties: Ties,
    tier_values: _Floats,
    single_bonus: float,
    prior: PriorTable,
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
    ties
        Tied blocks, if there are any as `load_ties` left them.
    tier_values, single_bonus
        What a tier of each size adds to the log prior, and what a single one adds besides.
    prior
        Prior of theta.
    room
        Room to work in: `N_ROWS` rows, and two numbers more than twice the number of items.
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
    windowed = 0
    if len(ties.weights) > 0:
        for size in range(n_items + 1):
            room[_HELD, size] = room[_ORDERS, size] - room[_FACTORIALS, size]
        for size in range(n_items):
            room[_RISES, size] = room[_HELD, size + 1] - room[_HELD, size]
        windowed = 1 if rng.random() < _SHARE_OF_WINDOWS else 0
    for item in range(n_items):
        _draw_place(above, labels, item, theta, ties, windowed, single_bonus, room, rng)
    for _ in range(4 + n_items // 8):
        _cut_join_or_deal(above, labels, theta, ties, single_bonus, room, members, sides, rng)
    return _draw_theta(above, labels, theta, n_rankings, ties, prior, room, rng)


@compiled
def run_sweeps(
    above: _Floats,
    labels: _Integers,
    theta: float,
    n_rankings: float,
    ties: Ties,
    tier_values: _Floats,
    single_bonus: float,
    prior: PriorTable,
    room: _Floats,
    label_draws: _Integers,
    numbers: _Floats,
    rng: np.random.Generator,
) -> None:
    """Make a sweep for each row of ``label_draws``, and write down what it comes to.

    As for `sweep_tiers`; ``numbers`` has a row for each sweep: theta, inversions, log-likelihood.
    """
    if len(ties.weights) > 0:
        load_ties(ties, labels)
    for sweep in range(len(label_draws)):
        theta, inversions, log_likelihood = sweep_tiers(
            above,
            labels,
            theta,
            n_rankings,
            ties,
            tier_values,
            single_bonus,
            prior,
            room,
            rng,
        )
        for item in range(len(labels)):
            label_draws[sweep, item] = labels[item]
        numbers[sweep, 0] = theta
        numbers[sweep, 1] = inversions
        numbers[sweep, 2] = log_likelihood


@compiled_part
def load_ties(ties: Ties, labels: _Integers) -> None:
    """Count the members of all blocks by tier, whose slots are their own numbers."""
    for slot in range(len(ties.counted)):
        _clear_slot(ties, slot)
    for tier in range(len(ties.slots)):
        ties.slots[tier] = tier
    for item in range(len(labels)):
        _count_item(ties, item, labels[item])


@compiled_part
def _levels(ties: Ties, slot: int | np.int64) -> int:
    """Return how many members of a block a slot can hold, of those that blocks have."""
    return int(min(ties.counted[slot], ties.reached.shape[1] - 2))


@compiled_part
def _clear_slot(ties: Ties, slot: int | np.int64) -> None:
    """Leave a slot without items."""
    for number in range(1, _levels(ties, slot) + 1):
        for word in range(ties.bits.shape[1]):
            ties.reached[slot, number, word] = 0
    for block in range(ties.held.shape[1]):
        ties.held[slot, block] = 0
    ties.counted[slot] = 0


@compiled_part
def _copy_slot(ties: Ties, source: int | np.int64, target: int | np.int64) -> None:
    """Give a slot the items of another."""
    _clear_slot(ties, target)
    ties.counted[target] = ties.counted[source]
    for number in range(1, _levels(ties, source) + 1):
        for word in range(ties.bits.shape[1]):
            ties.reached[target, number, word] = ties.reached[source, number, word]
    for block in range(ties.held.shape[1]):
        ties.held[target, block] = ties.held[source, block]


@compiled_part
def _join_slots(
    ties: Ties, slot: int | np.int64, other: int | np.int64, target: int | np.int64
) -> None:
    """Give a slot the items of two others."""
    _clear_slot(ties, target)
    ties.counted[target] = ties.counted[slot] + ties.counted[other]
    for number in range(1, _levels(ties, target) + 1):
        least = max(0, number - _levels(ties, other))
        for part in range(least, min(number, _levels(ties, slot)) + 1):
            for word in range(ties.bits.shape[1]):
                ties.reached[target, number, word] |= (
                    ties.reached[slot, part, word] & ties.reached[other, number - part, word]
                )
    for block in range(ties.held.shape[1]):
        ties.held[target, block] = ties.held[slot, block] + ties.held[other, block]


@compiled_part
def _count_item(ties: Ties, item: int, slot: int | np.int64) -> None:
    """Count an item in a slot."""
    ties.counted[slot] += 1
    if ties.bits.shape[1] > 0:
        for number in range(_levels(ties, slot), 0, -1):
            for word in range(ties.bits.shape[1]):
                ties.reached[slot, number, word] |= (
                    ties.reached[slot, number - 1, word] & ties.bits[item, word]
                )
        return
    for entry in range(ties.item_offsets[item], ties.item_offsets[item + 1]):
        ties.held[slot, ties.item_blocks[entry]] += np.uint32(1)


@compiled_part
def _discount_item(ties: Ties, item: int, slot: int | np.int64) -> None:
    """No longer count an item in a slot."""
    if ties.bits.shape[1] > 0:
        for number in range(1, _levels(ties, slot) + 1):
            for word in range(ties.bits.shape[1]):
                ties.reached[slot, number, word] &= (
                    ~ties.bits[item, word] | ties.reached[slot, number + 1, word]
                )
        ties.counted[slot] -= 1
        return
    ties.counted[slot] -= 1
    for entry in range(ties.item_offsets[item], ties.item_offsets[item + 1]):
        ties.held[slot, ties.item_blocks[entry]] -= np.uint32(1)


@compiled_part
def _rise(ties: Ties, item: int, slot: int | np.int64, room: _Floats) -> float:
    """Return what an item adds to the blocks of a slot that it is not in."""
    rises = room[_RISES]
    if ties.bits.shape[1] > 0:
        rise = 0.0
        for number in range(1, _levels(ties, slot) + 1):
            common = 0.0
            for word in range(ties.bits.shape[1]):
                shared = count_bits(ties.bits[item, word] & ties.reached[slot, number, word])
                common += ties.word_weights[word] * np.int64(shared)
            if common == 0.0:
                break
            rise += common * (rises[number] - rises[number - 1])
        return rise
    begin, beyond = ties.item_offsets[item], ties.item_offsets[item + 1]
    blocks, weights, held = ties.item_blocks, ties.weights, ties.held[slot]
    # Two sums, of which neither waits for the other.
    even, odd = 0.0, 0.0
    for entry in range(begin, beyond - 1, 2):
        even += weights[blocks[entry]] * rises[held[blocks[entry]]]
        odd += weights[blocks[entry + 1]] * rises[held[blocks[entry + 1]]]
    if (beyond - begin) % 2 == 1:
        even += weights[blocks[beyond - 1]] * rises[held[blocks[beyond - 1]]]
    return even + odd


@compiled_part
def _weight_reached(ties: Ties, slot: int | np.int64, number: int) -> float:
    """Return the weight of the blocks that have so many members in a slot, or more."""
    weight = 0.0
    for word in range(ties.bits.shape[1]):
        weight += ties.word_weights[word] * np.int64(count_bits(ties.reached[slot, number, word]))
    return weight


@compiled_part
def _value_of_blocks(ties: Ties, slot: int | np.int64, room: _Floats) -> float:
    """Return what blocks add for the tier that has a slot."""
    value = 0.0
    if ties.bits.shape[1] > 0:
        for number in range(1, _levels(ties, slot) + 1):
            value += _weight_reached(ties, slot, number) * room[_RISES, number - 1]
        return value
    for block in range(len(ties.weights)):
        value += ties.weights[block] * room[_HELD, ties.held[slot, block]]
    return value


@compiled_part
def _write_factorials(theta: float, n_items: int, room: _Floats) -> None:
    """Write the logarithms of all Gaussian factorials."""
    room[_FACTORIALS, 0] = 0.0
    one = np.expm1(-theta)
    for size in range(1, n_items + 1):
        ratio = np.expm1(-theta * size) / one
        room[_FACTORIALS, size] = room[_FACTORIALS, size - 1] + np.log(ratio)


@compiled_part
def _take_out(labels: _Integers, item: int, ties: Ties) -> tuple[int, int]:
    """Take an item out of its tier; return how many tiers are left, and the place it had."""
    old, n_tiers, alone = labels[item], 0, 1
    for other in range(len(labels)):
        n_tiers = max(n_tiers, labels[other] + 1)
        if other != item and labels[other] == old:
            alone = 0
    if len(ties.weights) > 0:
        _discount_item(ties, item, ties.slots[old])
        if alone == 1:
            close_tier(ties.slots, n_tiers, old)
    if alone == 1:
        for other in range(len(labels)):
            if labels[other] > old:
                labels[other] -= 1
    return int(n_tiers - alone), int(2 * old + 1 - alone)


@compiled_part
def _put_in(labels: _Integers, item: int, place: int, n_tiers: int, ties: Ties) -> None:
    """Put an item that was taken out into one of its places."""
    tier = place // 2
    if place % 2 == 0:
        for other in range(len(labels)):
            if labels[other] >= tier:
                labels[other] += 1
    labels[item] = tier
    if len(ties.weights) > 0:
        if place % 2 == 0:
            open_tier(ties.slots, n_tiers, tier)
        _count_item(ties, item, ties.slots[tier])


@compiled_part
def _value_places(
    above: _Floats,
    labels: _Integers,
    item: int,
    n_tiers: int,
    theta: float,
    single_bonus: float,
    room: _Floats,
) -> _Floats:
    """Value all places of an item that was taken out, but for what tied blocks add."""
    n_items = len(labels)
    for tier in range(n_tiers):
        room[_COSTS_ABOVE, tier] = room[_COSTS_BELOW, tier] = room[_SIZES, tier] = 0.0
    cost = 0.0
    for other in range(n_items):
        if other == item:
            continue
        tier = labels[other]
        room[_COSTS_ABOVE, tier] += above[other, item]
        room[_COSTS_BELOW, tier] += above[item, other]
        room[_SIZES, tier] += 1.0
        cost += above[other, item]
    places = np.empty(2 * n_tiers + 1)
    places[0] = room[_VALUES, 1] - theta * cost
    for tier in range(n_tiers):
        size = int(room[_SIZES, tier])
        cost -= room[_COSTS_ABOVE, tier]
        value = room[_VALUES, size + 1] - room[_VALUES, size] - theta * cost
        if size + 1 == n_items:
            value += single_bonus
        places[2 * tier + 1] = value
        cost += room[_COSTS_BELOW, tier]
        places[2 * tier + 2] = room[_VALUES, 1] - theta * cost
    return places


@compiled_part
def _draw_place(
    above: _Floats,
    labels: _Integers,
    item: int,
    theta: float,
    ties: Ties,
    windowed: int,
    single_bonus: float,
    room: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw the tier of an item given those of all others: one of theirs, or a new one anywhere.

    Where ``windowed`` is 1, among places around its own. A window that lies anywhere around that of
    the item lies as probably around any other place in it.
    """
    n_tiers, here = _take_out(labels, item, ties)
    first, last = 0, 2 * n_tiers
    if windowed == 1:
        first = here - int(_WINDOW * rng.random())
        last = min(first + _WINDOW - 1, last)
        first = max(first, 0)
    places = _value_places(above, labels, item, n_tiers, theta, single_bonus, room)
    if len(ties.weights) > 0:
        for tier in range(first // 2, (last + 1) // 2):
            places[2 * tier + 1] += _rise(ties, item, ties.slots[tier], room)
    _put_in(labels, item, choose(places, first, last, rng.random()), n_tiers, ties)


@compiled_part
def _deal(
    above: _Floats,
    members: _Integers,
    sides: _Integers,
    n_members: int,
    drawing: int,
    theta: float,
    ties: Ties,
    room: _Floats,
    rng: np.random.Generator,
) -> tuple[float, float, int]:
    """Send members up (0) or down (1), one after the other, each given those before.

    Where nothing is drawn, sides are taken as they are. Returns the log probability of the sides,
    what two such tiers are worth, and how many are up.
    """
    log_share, value = 0.0, 0.0
    n_up, n_down = 0, 0
    has_ties = len(ties.weights) > 0
    side = len(above) + _SIDES
    if has_ties:
        _clear_slot(ties, side)
        _clear_slot(ties, side + 1)
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
        if has_ties:
            up += _rise(ties, item, side, room)
            down += _rise(ties, item, side + 1, room)
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
        if has_ties:
            _count_item(ties, item, side + sides[number])
    return log_share, value, n_up


@compiled_part
def _cut_join_or_deal(
    above: _Floats,
    labels: _Integers,
    theta: float,
    ties: Ties,
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
    n_members = _shuffle_members(labels, tier, tier if cutting else tier + 1, members, rng)
    gain, ratio = 0.0, 0.0
    whole = room[_VALUES, n_members]
    if len(ties.weights) > 0 and kind < 2:
        slot = ties.slots[tier]
        if joining:
            _join_slots(ties, slot, ties.slots[tier + 1], n_items + _BOTH)
            slot = n_items + _BOTH
        whole += _value_of_blocks(ties, slot, room)
    if cutting:
        gain -= whole
    else:
        for number in range(n_members):
            sides[number] = labels[members[number]] - tier
        log_share, value, _ = _deal(above, members, sides, n_members, 0, theta, ties, room, rng)
        gain -= value
        ratio += log_share
    if joining:
        gain += whole
    else:
        log_share, value, n_up = _deal(above, members, sides, n_members, 1, theta, ties, room, rng)
        if n_up * (n_members - n_up) == 0:
            return
        gain += value
        ratio -= log_share
    if n_members == n_items and kind < 2:
        gain += single_bonus if joining else -single_bonus
    if np.log(1.0 - rng.random()) >= gain + ratio:
        return
    if len(ties.weights) > 0:
        _count_dealt(ties, tier, n_tiers, kind)
    _label_dealt(labels, tier, kind, members, sides, n_members)


@compiled_part
def _shuffle_members(
    labels: _Integers, tier: int, last: int, members: _Integers, rng: np.random.Generator
) -> int:
    """Write the items of a range of tiers in random order; return how many there are."""
    n_members = 0
    for item in range(len(labels)):
        if tier <= labels[item] <= last:
            place = int((n_members + 1) * rng.random())
            members[n_members] = members[place]
            members[place] = item
            n_members += 1
    return n_members


@compiled_part
def _label_dealt(
    labels: _Integers, tier: int, kind: int, members: _Integers, sides: _Integers, n_members: int
) -> None:
    """Write the tiers of items after a tier was cut (0), joined to the next (1) or dealt."""
    if kind < 2:
        for item in range(len(labels)):
            if labels[item] > tier:
                labels[item] += -1 if kind == 1 else 1
    if kind != 1:
        for number in range(n_members):
            labels[members[number]] = tier + sides[number]


@compiled_part
def _count_dealt(ties: Ties, tier: int, n_tiers: int, kind: int) -> None:
    """Count the members of blocks in a tier that was cut (0), joined to the next (1) or dealt."""
    if kind == 0:
        open_tier(ties.slots, n_tiers, tier + 1)
    slot, other, beyond = ties.slots[tier], ties.slots[tier + 1], len(ties.slots) - 1
    if kind == 1:
        _copy_slot(ties, beyond + _BOTH, slot)
        _clear_slot(ties, other)
        close_tier(ties.slots, n_tiers, tier + 1)
    else:
        _copy_slot(ties, beyond + _SIDES, slot)
        _copy_slot(ties, beyond + _SIDES + 1, other)


@inlined
def _orders_of_blocks(n_tiers: int, ties: Ties, room: _Floats) -> float:
    """Return the log number of orders of what tiers hold of tied blocks.

    Written is how often blocks hold so many items as a whole, less how often tiers hold so many of
    them.
    """
    apart, orders = room[_HELD], 0.0
    apart[:] = 0.0
    for block in range(len(ties.weights)):
        apart[ties.offsets[block + 1] - ties.offsets[block]] += ties.weights[block]
    for tier in range(n_tiers if ties.bits.shape[1] > 0 else 0):
        slot = ties.slots[tier]
        more = 0.0
        for number in range(_levels(ties, slot), 0, -1):
            weight = _weight_reached(ties, slot, number)
            apart[number] -= weight - more
            orders += (weight - more) * room[_ORDERS, number]
            more = weight
    for block in range(ties.held.shape[1]):
        for tier in range(n_tiers):
            held = ties.held[ties.slots[tier], block]
            apart[held] -= ties.weights[block]
            orders += ties.weights[block] * room[_ORDERS, held]
    return orders


@compiled_part
def _draw_theta(
    above: _Floats,
    labels: _Integers,
    theta: float,
    n_rankings: float,
    ties: Ties,
    prior: PriorTable,
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
    n_tiers = labels.max() + 1
    for tier in range(n_tiers):
        orders += room[_ORDERS, int(room[_SIZES, tier])]
    orders_of_blocks = _orders_of_blocks(n_tiers, ties, room)
    here = np.log(theta)
    low = here - SLICE_WIDTH * rng.random()
    high = low + SLICE_WIDTH
    stage, at, height, log_likelihood = 0, here, np.inf, 0.0
    while stage != ACCEPTED:
        value = log_prior(prior, at, np.exp(at))
        if value > -np.inf:
            _write_factorials(np.exp(at), n_items, room)
            shuffles = -room[_FACTORIALS, n_items]
            for tier in range(n_tiers):
                shuffles += room[_FACTORIALS, int(room[_SIZES, tier])]
            log_likelihood = n_rankings * (shuffles - orders) - np.exp(at) * inversions
            if len(ties.weights) > 0:
                log_likelihood += orders_of_blocks
                for size in range(2, n_items + 1):
                    log_likelihood += room[_HELD, size] * room[_FACTORIALS, size]
            value += log_likelihood
        stage, at, height, low, high = next_point(stage, here, at, value, height, low, high, rng)
    return float(np.exp(at)), inversions, log_likelihood
